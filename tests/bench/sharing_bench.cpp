// Whether operators on one host make each other slower: medians of back-to-back calls of SoftDemapper on
// 38,880 symbols of 256QAM from cf32 to int8, as JSON. Usage: sharing_bench

#include <fmt/core.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "bench/turns.hpp"
#include "common/signal.hpp"
#include "phy/demapper/demapper.hpp"
#include "phy/machine/host.hpp"

namespace {

using phy::bench::measure_and_print;

constexpr std::size_t symbols = 38880;
constexpr phy::Modulation modulation = phy::Modulation::qam256;

/// A demapper and its buffers.
class Operator {
public:
    explicit Operator(const phy::Host& host)
        : signal_(modulation, phy::SampleFormat::cf32, phy::apps::working_snr(modulation), symbols),
          llr_(symbols * bits_per_symbol(modulation)),
          demap_(host, {.modulation = modulation}) {}

    void operator()() { demap_(signal_.view(), signal_.noise_variance, llr_); }

private:
    phy::apps::Signal signal_;
    std::vector<std::int8_t> llr_;
    phy::SoftDemapper demap_;
};

std::function<void()> calls_of(Operator& one) {
    return [&one] { one(); };
}

/// Each time the other one.
std::function<void()> in_turn(Operator& one, Operator& other) {
    return [&one, &other, is_other = false]() mutable {
        (is_other ? other : one)();
        is_other = !is_other;
    };
}

}  // namespace

int main() {
    const phy::Host host({.threads = 2});
    const phy::Host one_thread;
    const phy::Host another_thread;
    Operator one(host);
    Operator other(host);
    Operator with_one_thread(one_thread);
    Operator other_with_one_thread(another_thread);
    phy::bench::print_context({{"threads", host.threads()}, {"backend", host.backend().name()}});
    measure_and_print("one host of 2 threads",
                      {{"alone", {calls_of(one)}},
                       {"two in turn from one thread", {in_turn(one, other)}},
                       {"two from two threads at a time", {calls_of(one), calls_of(other)}},
                       {"alone, host of 1 thread", {calls_of(with_one_thread)}},
                       {"two in turn from one thread, hosts of 1 thread",
                        {in_turn(with_one_thread, other_with_one_thread)}},
                       {"two from two threads at a time, hosts of 1 thread",
                        {calls_of(with_one_thread), calls_of(other_with_one_thread)}}});
    phy::bench::pin_all_threads();
    const phy::Host made_after({.threads = 2});
    Operator on_made_after(made_after);
    measure_and_print("pinned to one processor",
                      {{"1 thread", {calls_of(with_one_thread)}},
                       {"2 threads, host made before", {calls_of(one)}},
                       {"2 threads, host made after", {calls_of(on_made_after)}}},
                      true);
    fmt::print("}}\n");
}

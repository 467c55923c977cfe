#include <gtest/gtest.h>

#include <barrier>
#include <chrono>
#include <functional>
#include <optional>
#include <thread>

#include "demapper/mixed_calls.hpp"
#include "phy/machine/thread_pool.hpp"
#include "phy/mapper/mapper.hpp"
#include "support/fewer_cases.hpp"

/// What operators on one host share, its pool of threads, changes no byte.
namespace {

using phy::Host;
using phy::Modulation;
using phy::SampleFormat;
using phy::SoftBitFormat;
using phy_test::Bytes;
using phy_test::Input;

constexpr std::size_t symbol_count = 20'011;

/// Has the pool's threads awake for what follows: as many as would take part in this job.
void wake(const Host& host) {
    host.pool().for_each(static_cast<std::size_t>(4 * host.threads()), [](int, std::size_t) noexcept {
        const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(20);
        while (std::chrono::steady_clock::now() < end)
            std::this_thread::yield();
    });
}

/// An operator on a host with its arguments, which gives the bytes of a call.
struct Operator {
    const char* name;
    std::function<Bytes()> call;
};

Operator soft_demapper(const Host& host, const phy::DemapperConfig& config, const Input& input,
                       bool per_symbol, SoftBitFormat format) {
    auto demap = std::make_shared<phy::SoftDemapper>(host, config);
    return {"soft demapper", [=, &input] {
                phy::DemapCounters counters;
                Bytes bytes = phy_test::demapped(*demap, input, {per_symbol, 0.02F}, format, &counters);
                const auto counted = std::as_bytes(std::span(&counters, 1));
                bytes.insert(bytes.end(), counted.begin(), counted.end());
                return bytes;
            }};
}

Operator batch_demapper(const Host& host, const phy_test::BatchKind& kind,
                        const phy_test::RecordedCalls& recorded) {
    auto demap = std::make_shared<phy::BatchDemapper>(host, kind.config());
    return {"batch demapper", [=, &recorded] {
                phy_test::AlignedBytes memory(recorded.before());
                (*demap)(recorded.calls(memory.bytes()));
                return Bytes(memory.bytes().begin(), memory.bytes().end());
            }};
}

Operator mapper(const Host& host) {
    auto map = std::make_shared<phy::Mapper>(
        host, phy::Mapper::Config{.modulation = Modulation::qam256, .full_scale = 8192.0F});
    return {"mapper", [=] {
                std::vector<std::uint8_t> bits(symbol_count * 8);
                for (std::size_t n = 0; n < bits.size(); ++n)
                    bits[n] = static_cast<std::uint8_t>(n * n >> 3);
                Bytes bytes(symbol_count * sizeof(phy::ci16));
                (*map)(bits, {SampleFormat::ci16, bytes});
                return bytes;
            }};
}

/// One of everything that works on hosts.
class HostOperators : public testing::Test {
protected:
    [[nodiscard]] std::vector<Operator> all_on(const Host& host) const {
        const phy::DemapperConfig by_table = {.modulation = Modulation::qam64,
                                              .llr = {.method = phy::Method::log_map}};
        const phy::DemapperConfig by_formula = {.modulation = Modulation::qam64};
        return {soft_demapper(host, by_formula, input_, true, SoftBitFormat::int8),
                soft_demapper(host, by_table, input_, false, SoftBitFormat::float16),
                batch_demapper(host, kind_, recorded_), mapper(host)};
    }

    [[nodiscard]] std::vector<Bytes> expected() const {
        std::vector<Bytes> bytes;
        for (const Operator& of_all : all_on(phy_test::scalar_host()))
            bytes.push_back(of_all.call());
        return bytes;
    }

private:
    Input input_{SampleFormat::ci16, phy_test::awkward_symbols(Modulation::qam64, symbol_count)};
    phy_test::BatchKind kind_{phy::Method::max_log, phy::Evaluator::automatic};
    phy_test::RecordedCalls recorded_ = phy_test::MixedCalls(kind_).take(60, SoftBitFormat::int8);
};

TEST_F(HostOperators, GiveTheSameBytesForAnyNumberOfThreads) {
    const std::vector<Bytes> bytes = expected();
    for (int threads = 1; threads <= 16; ++threads) {
        const Host host = phy_test::host_of(phy::Backend::best(), threads);
        ASSERT_EQ(host.threads(), threads);
        const std::vector<Operator> operators = all_on(host);
        for (std::size_t n = 0; n < operators.size(); ++n) {
            ASSERT_TRUE(operators[n].call() == bytes[n])
                << operators[n].name << ", " << threads << " threads";
            wake(host);
            ASSERT_TRUE(operators[n].call() == bytes[n])
                << operators[n].name << ", " << threads << " threads that are awake";
        }
    }
}

TEST_F(HostOperators, GiveTheSameBytesFromSeveralThreadsAtATime) {
    const std::vector<Bytes> bytes = expected();
    for (const int threads : {1, 2, 4, 7}) {
        const Host host = phy_test::host_of(phy::Backend::best(), threads);
        const std::vector<Operator> operators = all_on(host);
        std::vector<int> wrong(operators.size());
        std::barrier start(static_cast<std::ptrdiff_t>(operators.size()));
        std::vector<std::jthread> callers;
        for (std::size_t n = 0; n < operators.size(); ++n) {
            callers.emplace_back([&, n] {
                start.arrive_and_wait();
                for (int call = 0; call < phy_test::fewer_times(40); ++call) {
                    if (call % 4 == 0) wake(host);
                    if (operators[n].call() != bytes[n]) ++wrong[n];
                }
            });
        }
        callers.clear();
        for (std::size_t n = 0; n < operators.size(); ++n)
            EXPECT_EQ(wrong[n], 0) << operators[n].name << ", a host of " << threads << " threads";
    }
}

TEST_F(HostOperators, MayBeMadeAndDestroyedWhileOthersWork) {
    const std::vector<Bytes> bytes = expected();
    std::optional<Host> host = phy_test::host_of(phy::Backend::best(), 3);
    const Operator working = all_on(*host).front();
    std::jthread maker([this, &bytes, other = *host] {
        for (int round = 0; round < phy_test::fewer_times(10); ++round) {
            const std::vector<Operator> operators = all_on(other);
            EXPECT_TRUE(operators.back().call() == bytes.back());
        }
    });
    host.reset();
    for (int call = 0; call < phy_test::fewer_times(40); ++call)
        ASSERT_TRUE(working.call() == bytes.front());
}

}  // namespace

#include <algorithm>
#include <barrier>
#include <cstring>
#include <new>
#include <thread>

#include <fmt/format.h>

#include "stream_bench/limit.hpp"

namespace phy::apps {
namespace {

constexpr std::size_t page = 4096;

/// Waking a thread takes longer than copying less than this.
constexpr std::size_t min_share = std::size_t{1} << 20U;

struct Free {
    void operator()(std::byte* memory) const { ::operator delete[](memory, std::align_val_t{page}); }
};

/// Uninitialised.
class Memory {
public:
    explicit Memory(std::size_t size)
        : bytes_(static_cast<std::byte*>(::operator new[](size, std::align_val_t{page}))), size_(size) {}

    [[nodiscard]] std::span<std::byte> get() const { return {bytes_.get(), size_}; }

private:
    std::unique_ptr<std::byte[], Free> bytes_;
    std::size_t size_;
};

/// What one thread copies. The shorter side is repeated from its beginning.
struct Share {
    std::span<const std::byte> from;
    std::span<std::byte> to;
    std::size_t bytes = 0;

    void copy() const {
        for (std::size_t done = 0; done < bytes;) {
            const std::size_t at_from = done % from.size();
            const std::size_t at_to = done % to.size();
            const std::size_t count = std::min({bytes - done, from.size() - at_from, to.size() - at_to});
            std::memcpy(to.data() + at_to, from.data() + at_from, count);
            done += count;
        }
    }
};

class HostLimit : public Limit {
public:
    HostLimit(std::size_t bytes_in, std::size_t bytes_out, std::size_t threads)
        : input_(bytes_in),
          output_(bytes_out),
          shares_(threads),
          begin_(static_cast<std::ptrdiff_t>(threads)),
          end_(static_cast<std::ptrdiff_t>(threads)) {
        try {
            for (std::size_t i = 1; i < threads; ++i)
                workers_.emplace_back([this, i](const std::stop_token& stop) { work(i, stop); });
        } catch (...) {
            stop_workers();
            throw;
        }
    }

    ~HostLimit() override { stop_workers(); }
    HostLimit(const HostLimit&) = delete;  // the workers refer to it
    HostLimit& operator=(const HostLimit&) = delete;

    std::span<std::byte> input() override { return input_.get(); }
    std::span<std::byte> output() override { return output_.get(); }

    void move(std::size_t bytes_in, std::size_t bytes_out) override {
        if (share_out(bytes_in, bytes_out) == 1) return shares_.front().copy();
        begin_.arrive_and_wait();
        shares_.front().copy();
        end_.arrive_and_wait();
    }

    [[nodiscard]] std::string description() const override {
        const std::string text = "a memcpy of the same bytes with ";
        if (shares_.size() == 1) return text + "1 thread";
        return text +
               fmt::format("at most {} threads, each with at least {} MiB", shares_.size(), min_share >> 20U);
    }

private:
    /// A memcpy reads as much as it writes, so it copies half of the bytes that are read and written. Returns
    /// the number of threads with a share.
    std::size_t share_out(std::size_t bytes_in, std::size_t bytes_out) {
        const std::span<const std::byte> from = input_.get().first(bytes_in);
        const std::span<std::byte> to = output_.get().first(bytes_out);
        const std::size_t enough = std::min(bytes_in, bytes_out) / min_share;
        const std::size_t several = std::clamp<std::size_t>(enough, 1, shares_.size());
        for (std::size_t i = 0; i < shares_.size(); ++i) {
            shares_[i] = {};
            if (i >= several) continue;
            shares_[i] = {share_of(from, i, several), share_of(to, i, several), 0};
            shares_[i].bytes = (shares_[i].from.size() + shares_[i].to.size()) / 2;
        }
        return several;
    }

    void work(std::size_t share, const std::stop_token& stop) {
        for (;;) {
            begin_.arrive_and_wait();
            if (stop.stop_requested()) return;
            shares_[share].copy();
            end_.arrive_and_wait();
        }
    }

    /// Opens the barrier, in place of the caller and of workers that could not be started.
    void stop_workers() {
        for (std::jthread& worker : workers_)
            worker.request_stop();
        static_cast<void>(begin_.arrive(static_cast<std::ptrdiff_t>(shares_.size() - workers_.size())));
    }

    Memory input_;
    Memory output_;
    std::vector<Share> shares_;
    std::barrier<> begin_;
    std::barrier<> end_;
    std::vector<std::jthread> workers_;
};

}  // namespace

std::unique_ptr<Limit> make_host_limit(std::size_t bytes_in, std::size_t bytes_out, int threads) {
    return std::make_unique<HostLimit>(bytes_in, bytes_out, static_cast<std::size_t>(threads));
}

}  // namespace phy::apps

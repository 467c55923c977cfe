#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "phy/pipeline/pipeline.hpp"
#include "pipeline/call_hooks.hpp"

namespace phy_test {

/// Checks a pipeline's contract on threads, buffer sets and order, and records its calls.
class CallRecorder : public CallObserver {
public:
    struct Event {
        Call call;
        std::uint64_t chunk;
        friend bool operator==(const Event&, const Event&) = default;
    };

    explicit CallRecorder(const phy::Pipeline& pipeline)
        : largest_(pipeline.chunk()), buffer_sets_(pipeline.buffer_sets()) {}

    void begin(Call call, const phy::Chunk& chunk) override {
        const std::lock_guard lock(mutex_);
        events_.push_back({call, chunk.index});
        threads_.insert(std::this_thread::get_id());
        expect(!is_over_, "called after the run", call, chunk);
        expect(++inside_[role_of(call)] == 1, "called by two threads at a time", call, chunk);
        max_inside_ = std::max(max_inside_, ++all_inside_);
        expect(chunk.items > 0 && chunk.items <= largest_, "number of items", call, chunk);
        if (chunk.buffer_set >= buffer_sets_.size()) {
            expect(false, "no such buffer set", call, chunk);
        } else if (call == Call::source_view) {
            enter(chunk);
        } else {
            const BufferSet& buffer_set = buffer_sets_[chunk.buffer_set];
            expect(buffer_set.chunk == chunk.index, "another chunk is in its buffer set", call, chunk);
            expect(buffer_set.done && may_follow(*buffer_set.done, call), "its step before is not done", call,
                   chunk);
        }
    }

    void end(Call call, const phy::Chunk& chunk) override {
        const std::lock_guard lock(mutex_);
        --inside_[role_of(call)];
        --all_inside_;
        if (chunk.buffer_set >= buffer_sets_.size()) return;
        buffer_sets_[chunk.buffer_set].done = call;
        if (call != Call::take) return;
        buffer_sets_[chunk.buffer_set].chunk.reset();
        ++taken_;
    }

    /// Call it when the run has returned.
    void end_run() {
        const std::lock_guard lock(mutex_);
        is_over_ = true;
    }

    [[nodiscard]] std::string mistake() const {
        const std::lock_guard lock(mutex_);
        return mistake_;
    }

    [[nodiscard]] std::vector<Event> events() const {
        const std::lock_guard lock(mutex_);
        return events_;
    }

    [[nodiscard]] std::set<std::thread::id> threads() const {
        const std::lock_guard lock(mutex_);
        return threads_;
    }

    /// Max number of simultaneous calls.
    [[nodiscard]] int max_inside() const {
        const std::lock_guard lock(mutex_);
        return max_inside_;
    }

    /// One past the last chunk of a kind of call; 0 without calls.
    [[nodiscard]] std::uint64_t end_of(Call call) const {
        std::uint64_t end = 0;
        for (const Event& event : events())
            end = event.call == call ? std::max(end, event.chunk + 1) : end;
        return end;
    }

private:
    struct BufferSet {
        std::optional<std::uint64_t> chunk;
        std::optional<Call> done;
    };

    /// Source, Sink::view, Stage and Sink::take may run at the same time.
    static std::size_t role_of(Call call) {
        return static_cast<std::size_t>(call == Call::source_view ? Call::fill : call);
    }

    static bool may_follow(Call done, Call call) {
        if (call == Call::sink_view) return done == Call::source_view || done == Call::fill;
        return static_cast<int>(call) == static_cast<int>(done) + 1;
    }

    void enter(const phy::Chunk& chunk) {
        BufferSet& buffer_set = buffer_sets_[chunk.buffer_set];
        expect(!buffer_set.chunk, "its buffer set is in use", Call::source_view, chunk);
        expect(chunk.index < taken_ + buffer_sets_.size(), "too far ahead of the sink", Call::source_view,
               chunk);
        buffer_set = {chunk.index, {}};
    }

    void expect(bool holds, const char* what, Call call, const phy::Chunk& chunk) {
        if (holds || !mistake_.empty()) return;
        mistake_ = std::string(name_of(call)) + ": " + what + ": chunk " + std::to_string(chunk.index) +
                   ", buffer set " + std::to_string(chunk.buffer_set);
    }

    std::size_t largest_;
    mutable std::mutex mutex_;
    std::vector<BufferSet> buffer_sets_;
    std::uint64_t taken_ = 0;
    std::array<int, all_calls.size()> inside_ = {};
    int all_inside_ = 0;
    int max_inside_ = 0;
    bool is_over_ = false;
    std::vector<Event> events_;
    std::set<std::thread::id> threads_;
    std::string mistake_;
};

}  // namespace phy_test

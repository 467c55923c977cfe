#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/interrupt.hpp"

namespace phy::apps {

/// Hands items from one thread to another, in order. It knows no limit: the ring that items come from is one.
template <typename Item>
class Channel {
public:
    void push(Item* item) {
        const std::lock_guard lock(mutex_);
        if (!closed_) items_.push_back(item);
        changed_.notify_one();
    }

    /// Waits for the next item; nullptr once the channel is closed and empty.
    Item* pop() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return closed_ || !items_.empty(); });
        if (items_.empty()) return nullptr;
        Item* const item = items_.front();
        items_.pop_front();
        return item;
    }

    /// Nothing more will come.
    void close() {
        const std::lock_guard lock(mutex_);
        closed_ = true;
        changed_.notify_one();
    }

    /// Nothing more will come, and what waits is forgotten.
    void abandon() {
        const std::lock_guard lock(mutex_);
        closed_ = true;
        items_.clear();
        changed_.notify_one();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Item*> items_;
    bool closed_ = false;
};

/// One step of the work on a chunk.
template <typename Chunk>
struct Stage {
    std::string name;

    /// Returns false, and the chunk goes no further, when the work has come to its end.
    std::function<bool(Chunk&)> work;
};

/// How long a stage worked, as opposed to waited for its neighbours.
struct StageTime {
    std::string name;
    double busy_seconds = 0.0;
};

/// Sends the chunks of a ring through the stages in order, round and round, until the first stage ends the
/// work. Each stage has a thread of its own, so the stages overlap, and memory is bounded by the ring. An
/// exception in any stage, Interrupted among them, stops all and reaches the caller.
template <typename Chunk>
class StagedRun {
public:
    StagedRun(std::span<Chunk> ring, std::vector<Stage<Chunk>> stages)
        : stages_(std::move(stages)), inputs_(stages_.size()), times_(stages_.size()) {
        for (Chunk& chunk : ring)
            inputs_.front().push(&chunk);
    }

    std::vector<StageTime> run() {
        {
            std::vector<std::jthread> threads;
            guarded([&] {
                for (std::size_t i = 0; i < stages_.size(); ++i)
                    threads.emplace_back([this, i] { guarded([&] { run_stage(i); }); });
            });
        }
        if (error_) std::rethrow_exception(error_);
        return times_;
    }

private:
    void run_stage(std::size_t index) {
        const Stage<Chunk>& stage = stages_[index];
        Channel<Chunk>& output = inputs_[(index + 1) % stages_.size()];
        times_[index].name = stage.name;
        while (Chunk* const chunk = inputs_[index].pop()) {
            throw_if_interrupted();
            const auto start = std::chrono::steady_clock::now();
            const bool more = stage.work(*chunk);
            const std::chrono::duration<double> busy = std::chrono::steady_clock::now() - start;
            times_[index].busy_seconds += busy.count();
            if (!more) break;
            output.push(chunk);
        }
        output.close();
    }

    /// Runs the function; the first exception of all is kept, and makes every stage end.
    template <typename Function>
    void guarded(Function function) {
        try {
            function();
        } catch (...) {
            const std::lock_guard lock(error_mutex_);
            if (!error_) error_ = std::current_exception();
            for (Channel<Chunk>& channel : inputs_)
                channel.abandon();
        }
    }

    std::vector<Stage<Chunk>> stages_;
    std::vector<Channel<Chunk>> inputs_;  ///< of stage i; the output of a stage is the next one's input
    std::vector<StageTime> times_;
    std::mutex error_mutex_;
    std::exception_ptr error_;
};

}  // namespace phy::apps

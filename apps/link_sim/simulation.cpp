#include "link_sim/simulation.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include "link_sim/trial.hpp"

namespace phy::apps {
namespace {

/// State that the threads of a point share.
class Point {
public:
    Point(const LinkConfig& config, const StopRule& rule) : config_(config), rule_(rule) {
        state_.sums.resize(config.receivers());
    }

    /// Simulates slots until the point is done or a stop is requested.
    void work(const std::stop_token& stop) noexcept {
        try {
            Trial trial(config_);
            while (!stop.stop_requested() && !is_done()) {
                const std::uint64_t slot = take_slot();
                std::vector<LinkSums> sums(config_.receivers());
                trial.run(slot, sums);
                count(slot, std::move(sums));
            }
        } catch (...) {
            const std::scoped_lock lock(mutex_);
            error_ = std::current_exception();
            changed_.notify_all();
        }
    }

    /// Returns the end result.
    PointState wait(const std::function<void(const PointState&)>& on_progress) {
        std::unique_lock lock(mutex_);
        while (!done_ && !error_) {
            changed_.wait_for(lock, std::chrono::milliseconds(50));
            const PointState now = state_;
            lock.unlock();
            on_progress(now);
            lock.lock();
        }
        if (error_) std::rethrow_exception(error_);
        return state_;
    }

private:
    bool is_done() {
        const std::scoped_lock lock(mutex_);
        return done_;
    }

    std::uint64_t take_slot() {
        const std::scoped_lock lock(mutex_);
        return next_++;
    }

    void count(std::uint64_t slot, std::vector<LinkSums> sums) {
        const std::scoped_lock lock(mutex_);
        early_.emplace(slot, std::move(sums));
        for (auto first = early_.begin(); !done_ && first != early_.end() && first->first == state_.slots;
             first = early_.erase(first)) {
            state_.add(first->second);
            done_ = state_.done(rule_) >= 1.0;
        }
        if (done_) changed_.notify_all();
    }

    const LinkConfig& config_;
    const StopRule& rule_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::uint64_t next_ = 0;
    std::map<std::uint64_t, std::vector<LinkSums>> early_;  ///< slots that wait for earlier ones
    PointState state_;
    bool done_ = false;
    std::exception_ptr error_;
};

double ratio(std::uint64_t count, std::uint64_t goal) {
    return static_cast<double>(count) / static_cast<double>(goal);
}

}  // namespace

void PointState::add(std::span<const LinkSums> of_slot) {
    for (std::size_t i = 0; i < sums.size(); ++i)
        sums[i] = join(sums[i], of_slot[i]);
    ++slots;
}

double PointState::done(const StopRule& rule) const {
    double errors = 1.0;
    double sent = 1.0;
    for (const LinkSums& each : sums) {
        const std::uint64_t bits = each.soft_bits.soft_bits + each.soft_bits.not_finite;
        errors = std::min(
            errors, ratio(rule.counts_blocks ? each.blocks.errors : each.soft_bits.bit_errors, rule.errors));
        sent = std::min(sent, ratio(rule.counts_blocks ? each.blocks.blocks : bits, rule.max_sent));
    }
    return std::min(std::max(errors, sent), ratio(slots, rule.min_slots));
}

PointState simulate(const LinkConfig& config, const StopRule& rule, int threads,
                    const std::function<void(const PointState&)>& on_progress) {
    Point point(config, rule);
    std::vector<std::jthread> workers;
    for (int i = 0; i < threads; ++i)
        workers.emplace_back([&point](const std::stop_token& stop) { point.work(stop); });
    return point.wait(on_progress);
}

}  // namespace phy::apps

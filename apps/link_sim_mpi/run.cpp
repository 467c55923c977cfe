#include "link_sim_mpi/run.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "common/interrupt.hpp"
#include "link_sim/run.hpp"
#include "link_sim/trial.hpp"
#include "link_sim_mpi/rounds.hpp"
#include "mpi/mpi_app.hpp"
#include "mpi/parts_folder.hpp"
#include "phy/core/error.hpp"

namespace phy::apps {
namespace {

/// Of a task, for each thread: the last of them leaves others without work for a slot.
constexpr std::uint64_t slots_per_thread = 16;

/// Rounds double until they take this long: then waiting for the last rank costs little.
constexpr std::chrono::seconds long_round{5};

/// Rank 0 receives at most so many sums of slots in a round: some 80 MB.
constexpr std::uint64_t max_sums = 1U << 18;

/// The threads of a rank, which simulate slots of one point at a time.
class Worker {
public:
    Worker(const std::vector<LinkConfig>& points, int threads)
        : points_(points), trials_(static_cast<std::size_t>(threads)) {}

    /// (slots, receivers). Calls answer() meanwhile.
    std::vector<LinkSums> simulate(const SlotBlock& block, const std::function<void()>& answer) {
        if (point_ != block.point) {
            for (std::optional<Trial>& trial : trials_)
                trial.reset();
            point_ = block.point;
        }
        const LinkConfig& config = points_[block.point];
        std::vector<LinkSums> sums(block.count * config.receivers());
        std::atomic<std::uint64_t> next = 0;
        const auto work = [&](std::optional<Trial>& trial) {
            if (!trial) trial.emplace(config);
            for (std::uint64_t slot = next++; slot < block.count; slot = next++) {
                trial->run(block.first + slot,
                           std::span(sums).subspan(slot * config.receivers(), config.receivers()));
                if (&trial == trials_.data()) answer();
            }
        };
        on_all_threads(work);
        return sums;
    }

private:
    /// This thread has the first trial.
    void on_all_threads(const std::function<void(std::optional<Trial>&)>& work) {
        std::mutex mutex;
        std::exception_ptr error;
        const auto guarded = [&](std::optional<Trial>& trial) {
            try {
                work(trial);
            } catch (...) {
                const std::scoped_lock lock(mutex);
                error = std::current_exception();
            }
        };
        {
            std::vector<std::jthread> threads;
            for (std::size_t i = 1; i < trials_.size(); ++i)
                threads.emplace_back(guarded, std::ref(trials_[i]));
            guarded(trials_.front());
        }
        if (error) std::rethrow_exception(error);
    }

    const std::vector<LinkConfig>& points_;
    std::vector<std::optional<Trial>> trials_;
    std::optional<std::uint64_t> point_;
};

PointState read_state(const PartsFolder& folder, std::uint64_t point) {
    const std::string text = folder.read_sums(point);
    PointState state;
    state.sums = sums_from(std::string_view(text).substr(sizeof state.slots));
    std::memcpy(&state.slots, text.data(), sizeof state.slots);
    return state;
}

void write_state(const PartsFolder& folder, std::uint64_t point, const PointState& state) {
    const std::string slots(reinterpret_cast<const char*>(&state.slots), sizeof state.slots);
    folder.write_sums(point, slots + bytes_of(state.sums), false);
}

/// Of each point, so far.
std::vector<PointState> states_in(const PartsFolder& folder, const std::vector<LinkConfig>& points) {
    std::vector<PointState> states(points.size());
    for (std::size_t i = 0; i < points.size(); ++i)
        states[i].sums.resize(points[i].receivers());
    for (const std::uint64_t point : folder.complete_parts())
        if (point < states.size()) states[point] = read_state(folder, point);
    return states;
}

/// What is done, and how large rounds are, on rank 0.
class Simulation {
public:
    /// folder: open.
    Simulation(const LinkSimMpiOptions& options, const PartsFolder& folder,
               const std::vector<LinkConfig>& points, bool quiet)
        : folder_(folder),
          rounds_(states_in(folder, points), stop_rule_of(options.link_sim)),
          progress_(points.size(), quiet),
          receivers_(points.front().receivers()) {
        for (const PointState& state : rounds_.states())
            slots_before_ += state.slots;
    }

    /// Tasks of the next round.
    std::vector<SlotBlock> next_round(int threads, int ranks) {
        throw_if_interrupted();
        const std::uint64_t of_all = static_cast<std::uint64_t>(threads) * slots_per_thread;
        if (slots_ == 0) slots_ = of_all;
        const auto now = std::chrono::steady_clock::now();
        if (now - start_ < long_round) slots_ *= 2;
        slots_ = std::min(slots_, std::max<std::uint64_t>(1, max_sums / receivers_));
        start_ = now;
        return cut(rounds_.next(slots_), of_all / static_cast<std::uint64_t>(ranks));
    }

    /// sums: of all tasks, in the order of tasks.
    void add(const std::vector<SlotBlock>& tasks, const std::vector<std::vector<LinkSums>>& sums) {
        for (std::size_t i = 0; i < tasks.size(); ++i)
            rounds_.add(tasks[i], sums[i]);
        double points = 0.0;
        std::uint64_t symbols = 0;
        for (std::uint64_t point = 0; point < rounds_.states().size(); ++point) {
            points += rounds_.done(point);
            symbols += symbols_of(rounds_.states()[point]);
        }
        progress_.show(symbols, points);
        for (std::size_t i = 0; i < tasks.size(); ++i)
            if (i + 1 == tasks.size() || tasks[i + 1].point != tasks[i].point)
                write_state(folder_, tasks[i].point, rounds_.states()[tasks[i].point]);
    }

    [[nodiscard]] const std::vector<PointState>& states() const { return rounds_.states(); }
    [[nodiscard]] std::uint64_t slots_before() const { return slots_before_; }

private:
    const PartsFolder& folder_;
    Rounds rounds_;
    PointsProgress progress_;
    std::uint64_t receivers_;
    std::uint64_t slots_ = 0;         ///< of a round
    std::uint64_t slots_before_ = 0;  ///< simulated by earlier runs
    std::chrono::steady_clock::time_point start_ = {};
};

/// Of all ranks, in the order of tasks. Each text: a number of a task and its sums, again and again.
std::vector<std::vector<LinkSums>> sums_of(const std::vector<std::string>& of_ranks,
                                           const std::vector<SlotBlock>& tasks, std::uint64_t receivers) {
    std::vector<std::vector<LinkSums>> sums(tasks.size());
    for (std::string_view bytes : of_ranks)
        while (!bytes.empty()) {
            std::uint64_t task = 0;
            std::memcpy(&task, bytes.data(), sizeof task);
            bytes.remove_prefix(sizeof task);
            const std::size_t size = tasks[task].count * receivers * sizeof(LinkSums);
            sums[task] = sums_from(bytes.substr(0, size));
            bytes.remove_prefix(size);
        }
    return sums;
}

int threads_of_all(MPI_Comm comm, int threads) {
    int all = 0;
    for (const std::string& of_rank : mpi::gather(comm, std::to_string(threads)))
        all += std::stoi(of_rank);
    return all;
}

/// Collective; of rank 0 the result counts.
LinkReport simulate_on_all_ranks(MPI_Comm comm, const LinkSimMpiOptions& options, PartsFolder& folder,
                                 bool quiet) {
    const auto start = std::chrono::steady_clock::now();
    const mpi::Place place = mpi::place_in(comm);
    LinkReport report;
    report.options = options.link_sim;
    report.ranks = place.ranks;
    const int threads = options.link_sim.threads == 0 ? own_processors(place) : options.link_sim.threads;
    report.threads = threads_of_all(comm, threads);
    std::optional<Simulation> simulation;
    mpi::from_first_rank(comm, [&] {
        report.points = points_of(options.link_sim);
        // Its errors, before all ranks have them.
        with_option_names(options.link_sim, [&] { static_cast<void>(Trial(report.points.front())); });
        folder.open(origin_of("link_sim " + options.command, {}));
        simulation.emplace(options, folder, report.points, quiet);
        return "";
    });
    if (place.rank != 0) report.points = points_of(options.link_sim);
    Worker worker(report.points, threads);
    while (true) {
        const std::vector<SlotBlock> tasks = parse_blocks(mpi::from_first_rank(
            comm, [&] { return to_text(simulation->next_round(report.threads, place.ranks)); }));
        if (tasks.empty()) break;
        std::string own;
        const auto failed =
            mpi::share_tasks(comm, tasks.size(), [&](std::uint64_t task, mpi::TaskCounter& counter) {
                throw_if_interrupted();
                const auto sums = worker.simulate(tasks[task], [&counter] { counter.answer(); });
                own.append(reinterpret_cast<const char*>(&task), sizeof task).append(bytes_of(sums));
            });
        const std::vector<std::string> all = mpi::gather(comm, own);
        mpi::from_first_rank(comm, [&] {
            throw_if_interrupted();
            if (!failed.empty()) {
                const SlotBlock& task = tasks[failed.front().task];
                throw Error(fmt::format("slots {}:{} at an SNR of {} dB: {}", task.first, task.count,
                                        report.points[task.point].snr_db, failed.front().error));
            }
            simulation->add(tasks, sums_of(all, tasks, report.points.front().receivers()));
            return "";
        });
    }
    if (simulation) {
        report.states = simulation->states();
        report.slots_before = simulation->slots_before();
    }
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return report;
}

}  // namespace

void run_on_all_ranks(MPI_Comm comm, const LinkSimMpiOptions& options, const CommonOptions& common) {
    std::optional<ReportOutput> output;
    mpi::from_first_rank(comm, [&] {
        output.emplace(options.link_sim, common);
        return "";
    });
    PartsFolder folder(options.parts, false);
    const LinkReport report = simulate_on_all_ranks(comm, options, folder, common.quiet);
    mpi::from_first_rank(comm, [&] {
        output->write(report);
        if (const std::error_code error = folder.remove())
            spdlog::warn("{}: cannot be removed: {}", options.parts, error.message());
        return "";
    });
}

}  // namespace phy::apps

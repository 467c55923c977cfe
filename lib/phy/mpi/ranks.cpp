#include "phy/mpi/ranks.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <iterator>
#include <sstream>
#include <utility>

#include "phy/core/error.hpp"

namespace phy::mpi {
namespace {

int rank_in(MPI_Comm comm) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    return rank;
}

int size_of(MPI_Comm comm) {
    int size = 0;
    MPI_Comm_size(comm, &size);
    return size;
}

/// Counts of MPI are of type int.
int count_of(const std::string& text) {
    if (!std::in_range<int>(text.size())) throw ArgumentError("a text of more than 2 GiB cannot be sent");
    return static_cast<int>(text.size());
}

/// From rank 0.
void broadcast(MPI_Comm comm, std::string& text) {
    int count = count_of(text);
    MPI_Bcast(&count, 1, MPI_INT, 0, comm);
    text.resize(static_cast<std::size_t>(count));
    MPI_Bcast(text.data(), count, MPI_CHAR, 0, comm);
}

std::string name_of_rank(MPI_Comm comm) {
    std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
    int length = 0;
    MPI_Get_processor_name(name.data(), &length);
    return "rank " + std::to_string(rank_in(comm)) + " on " +
           std::string(name.data(), static_cast<std::size_t>(length));
}

/// What a rank has to say of its tasks.
struct Outcome {
    std::uint64_t end = 0;  ///< behind the last task that it took
    std::vector<FailedTask> failed;
};

/// A line with the end, and lines of a task and its error.
std::string to_text(const Outcome& outcome) {
    std::string text = std::to_string(outcome.end) + "\n";
    for (const FailedTask& each : outcome.failed) {
        std::string error = each.error;
        std::ranges::replace(error, '\n', ' ');
        text += std::to_string(each.task) + " " + error + "\n";
    }
    return text;
}

Outcome parse_outcome(const std::string& text) {
    Outcome outcome;
    std::istringstream lines(text);
    std::string line;
    std::getline(lines, line);
    outcome.end = std::stoull(line);
    while (std::getline(lines, line)) {
        FailedTask task = {.task = std::stoull(line), .error = {}};
        if (const std::size_t space = line.find(' '); space != std::string::npos)
            task.error = line.substr(space + 1);
        outcome.failed.push_back(std::move(task));
    }
    return outcome;
}

Outcome do_tasks(MPI_Comm comm, std::uint64_t tasks,
                 const std::function<void(std::uint64_t, TaskCounter&)>& work) {
    Outcome outcome;
    TaskCounter counter(comm);
    int in_a_row = 0;
    while (in_a_row < max_failures_in_a_row) {
        const std::uint64_t task = counter.next();
        if (task >= tasks) break;
        outcome.end = task + 1;
        try {
            work(task, counter);
            in_a_row = 0;
        } catch (const std::exception& error) {
            outcome.failed.push_back({task, name_of_rank(comm) + ": " + error.what()});
            ++in_a_row;
        }
    }
    return outcome;
}

/// Of all ranks together, by number, with those that no rank began.
Outcome joined(const std::vector<std::string>& of_ranks, std::uint64_t tasks) {
    Outcome all;
    for (const std::string& text : of_ranks) {
        Outcome of_rank = parse_outcome(text);
        all.end = std::max(all.end, of_rank.end);
        std::ranges::move(of_rank.failed, std::back_inserter(all.failed));
    }
    std::ranges::sort(all.failed, {}, &FailedTask::task);
    for (std::uint64_t task = all.end; task < tasks; ++task)
        all.failed.push_back({.task = task, .error = {}});
    return all;
}

}  // namespace

Session::Session(int& argc, char**& argv) {
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    if (provided >= MPI_THREAD_SERIALIZED) return;
    MPI_Finalize();
    throw Error("this MPI has no MPI_THREAD_SERIALIZED");
}

Session::~Session() {
    MPI_Finalize();
}

Place place_in(MPI_Comm comm) {
    MPI_Comm local = MPI_COMM_NULL;
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &local);
    const Place place = {rank_in(comm), size_of(comm), rank_in(local), size_of(local)};
    MPI_Comm_free(&local);
    return place;
}

std::string from_first_rank(MPI_Comm comm, const std::function<std::string()>& make) {
    const bool is_first = rank_in(comm) == 0;
    std::string text;
    std::exception_ptr error;
    if (is_first) {
        try {
            text = make();
            text.insert(text.begin(), '+');
            static_cast<void>(count_of(text));
        } catch (const std::exception& thrown) {
            error = std::current_exception();
            text = std::string("-") + thrown.what();
        }
    }
    broadcast(comm, text);
    if (error) std::rethrow_exception(error);
    if (text.front() == '-') throw FirstRankError(text.substr(1));
    return text.substr(1);
}

std::vector<std::string> gather(MPI_Comm comm, const std::string& text) {
    const int own = count_of(text);
    const bool is_first = rank_in(comm) == 0;
    std::vector<int> counts(is_first ? static_cast<std::size_t>(size_of(comm)) : 0);
    MPI_Gather(&own, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, comm);
    std::vector<int> places(counts.size());
    int all = 0;
    for (std::size_t rank = 0; rank < counts.size(); ++rank) {
        places[rank] = all;
        all += counts[rank];
    }
    std::string together(static_cast<std::size_t>(all), '\0');
    MPI_Gatherv(text.data(), own, MPI_CHAR, together.data(), counts.data(), places.data(), MPI_CHAR, 0, comm);
    std::vector<std::string> texts;
    for (std::size_t rank = 0; rank < counts.size(); ++rank)
        texts.push_back(
            together.substr(static_cast<std::size_t>(places[rank]), static_cast<std::size_t>(counts[rank])));
    return texts;
}

TaskCounter::TaskCounter(MPI_Comm comm) : comm_(comm) {
    const MPI_Aint bytes = rank_in(comm) == 0 ? sizeof(std::uint64_t) : 0;
    MPI_Win_allocate(bytes, sizeof(std::uint64_t), MPI_INFO_NULL, comm, &count_, &window_);
    if (bytes > 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window_);
        *count_ = 0;
        MPI_Win_unlock(0, window_);
    }
    MPI_Barrier(comm);
}

TaskCounter::~TaskCounter() {
    MPI_Win_free(&window_);
}

std::uint64_t TaskCounter::next() {
    const std::uint64_t one = 1;
    std::uint64_t task = 0;
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window_);
    MPI_Fetch_and_op(&one, &task, MPI_UINT64_T, 0, 0, MPI_SUM, window_);
    MPI_Win_unlock(0, window_);
    return task;
}

void TaskCounter::answer() {
    int there = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &there, MPI_STATUS_IGNORE);
}

std::vector<FailedTask> share_tasks(MPI_Comm comm, std::uint64_t tasks,
                                    const std::function<void(std::uint64_t, TaskCounter&)>& work) {
    const std::vector<std::string> all = gather(comm, to_text(do_tasks(comm, tasks, work)));
    return parse_outcome(from_first_rank(comm, [&] { return to_text(joined(all, tasks)); })).failed;
}

}  // namespace phy::mpi

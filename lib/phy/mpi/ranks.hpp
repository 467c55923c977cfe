#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <mpi.h>

#include "phy/core/error.hpp"
#include "phy/core/export.hpp"

/// Work that the ranks of an MPI program share: tasks with numbers, of which each is done by one rank. Only
/// one thread of a rank may call these functions at a time, and MPI must be initialised with
/// MPI_THREAD_SERIALIZED at least. Errors of MPI end the program, unless the communicator has another
/// handler.
namespace phy::mpi {

/// MPI from construction to destruction of the only object, for programs that do not initialise it
/// themselves.
class PHY_EXPORT Session {
public:
    /// Throws Error if this MPI has no MPI_THREAD_SERIALIZED.
    Session(int& argc, char**& argv);
    ~Session();

    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
};

/// A rank among all, and among those of its machine.
struct PHY_EXPORT Place {
    int rank = 0;
    int ranks = 1;
    int local_rank = 0;
    int local_ranks = 1;
};

/// Collective.
[[nodiscard]] PHY_EXPORT Place place_in(MPI_Comm comm);

/// What rank 0 did for from_first_rank() failed; what() is its error.
class PHY_EXPORT FirstRankError : public Error {
public:
    using Error::Error;
};

/// Calls make() on rank 0 and returns its text on all ranks. If it throws, rank 0 gets that exception, and
/// the others get FirstRankError. Collective.
PHY_EXPORT std::string from_first_rank(MPI_Comm comm, const std::function<std::string()>& make);

/// The texts of all ranks, by rank, on rank 0; none on others. Collective.
PHY_EXPORT std::vector<std::string> gather(MPI_Comm comm, const std::string& text);

/// A task that was not done.
struct PHY_EXPORT FailedTask {
    std::uint64_t task = 0;
    std::string error;  ///< with the rank and its machine; empty: no rank began it
};

/// A rank that failed so often in a row begins no more tasks: it would take and lose those of others.
inline constexpr int max_failures_in_a_row = 8;

/// Takes tasks in order from a counter of rank 0.
class PHY_EXPORT TaskCounter {
public:
    /// Collective, as the destructor is.
    explicit TaskCounter(MPI_Comm comm);
    ~TaskCounter();

    TaskCounter(const TaskCounter&) = delete;
    TaskCounter& operator=(const TaskCounter&) = delete;

    /// 0, 1, 2 ... over all ranks.
    std::uint64_t next();

    /// To be called between pieces of work, at least by rank 0: over a network other ranks may wait for it.
    void answer();

private:
    MPI_Comm comm_;
    MPI_Win window_ = MPI_WIN_NULL;
    std::uint64_t* count_ = nullptr;
};

/// Calls work(task, counter) for tasks 0 to tasks - 1, each on one rank. An exception from work() fails that
/// task alone. Returns the tasks that were not done, by number, on all ranks. Collective.
PHY_EXPORT std::vector<FailedTask> share_tasks(
    MPI_Comm comm, std::uint64_t tasks,
    const std::function<void(std::uint64_t task, TaskCounter& counter)>& work);

}  // namespace phy::mpi

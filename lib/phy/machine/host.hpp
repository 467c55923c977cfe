#pragma once

#include <memory>
#include <optional>

#include "phy/core/backend.hpp"
#include "phy/core/export.hpp"

namespace phy {

class Host;

namespace detail {

class ThreadPool;

/// For tests and benchmarks: a host whose pool has exactly that many threads, at least 1, however few
/// processors there are. Throws as Host does for the backend and the threads that cannot be started.
Host host_of_exactly(int threads, std::optional<Backend> backend = {});

}  // namespace detail

/// The CPU as a place to run: an instruction set and the one thread pool that all operators on it share. A
/// handle: copies share both, and the pool's threads end with the last copy and the last operator on it.
///
/// Operators on one host may be called from several threads at a time. While the pool works for one of them,
/// the others work on their own thread alone, so nobody waits for anybody. Neither does a caller wait for a
/// thread of the pool that has not begun to help it. Threads that have had no work for a hundred microseconds
/// sleep; until then they yield their processor to whoever else can run on it. The results of operators do
/// not depend on any of this.
class PHY_EXPORT Host {
public:
    struct Config {
        /// How many threads share one call, the caller among them: at most as many as processors that this
        /// process may use, which are those that the calling thread's affinity and the CPU quota of its
        /// control groups allow. 0 stands for that many. From 0 to 1024.
        int threads = 1;

        /// Scalar or one of the CPU's; none stands for Backend::best(), which the environment variable
        /// PHY_BACKEND can change. It is read when a Host is made.
        std::optional<Backend> backend = {};
    };

    /// How many processors this process may use; see Config::threads.
    [[nodiscard]] static int processors();

    /// Host(Config{}).
    Host();

    /// Looks at the affinity and the quota once, and starts the threads. Throws ArgumentError for threads
    /// outside 0 to 1024, BackendError for a backend that does not run here or works on device memory, and
    /// Error if the threads cannot be started.
    explicit Host(const Config& config);

    /// Copies, as a move does too: what was moved from is still a host.
    Host(const Host&) = default;
    Host& operator=(const Host&) = default;
    ~Host() = default;

    /// The one that operators use, also where the configuration names none.
    [[nodiscard]] Backend backend() const;

    /// That really share one call: at least 1, and fewer than were asked for where there are fewer
    /// processors.
    [[nodiscard]] int threads() const;

    /// For operators.
    [[nodiscard]] detail::ThreadPool& pool() const;

private:
    friend Host detail::host_of_exactly(int threads, std::optional<Backend> backend);
    struct Impl;

    explicit Host(std::shared_ptr<Impl> impl);

    std::shared_ptr<Impl> impl_;
};

}  // namespace phy

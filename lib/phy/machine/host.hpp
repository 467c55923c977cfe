#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "phy/core/backend.hpp"
#include "phy/core/export.hpp"

namespace phy {

class Host;

namespace detail {

class ThreadPool;

/// For tests and benchmarks: a host whose pool has exactly this many threads (at least 1), even with fewer
/// processors. Throws as Host does for an unusable backend and for threads that cannot be started.
Host host_of_exactly(int threads, std::optional<Backend> backend = {});

}  // namespace detail

/// The CPU as a place to run: an instruction set and one thread pool that all operators on it share. A Host
/// is a handle: copies share both. The threads end with the last copy and the last operator on it.
///
/// Several threads may call operators on one host at the same time. While the pool works for one caller, the
/// other callers work alone on their own threads, so callers never wait for each other. A caller never waits
/// for a worker that has not started. Workers without work sleep after 100 microseconds; until then they
/// yield their processor to other threads. None of this changes the results of operators.
class PHY_EXPORT Host {
public:
    struct Config {
        /// Max threads per call, the caller included, from 0 to 1024. Never more than processors(). 0: all
        /// processors.
        int threads = 1;

        /// A scalar or cpu backend. None: Backend::best(), which reads the environment variable PHY_BACKEND
        /// when the Host is constructed.
        std::optional<Backend> backend = {};
    };

    /// Number of processors that this process may use, from 1 to 1024: those in the calling thread's
    /// affinity, limited by the CPU quota of the process's control groups (rounded up).
    [[nodiscard]] static int processors();

    /// Host(Config{}).
    Host();

    /// Reads affinity and quota once and starts the threads. Throws ArgumentError for a number of threads
    /// outside 0 to 1024, BackendError for a backend that does not run on this machine or needs device
    /// memory, and Error if the threads cannot be started.
    explicit Host(const Config& config);

    /// Moving copies too: a moved-from Host stays usable.
    Host(const Host&) = default;
    Host& operator=(const Host&) = default;
    ~Host() = default;

    /// The backend of the operators on this host, also if the configuration named none.
    [[nodiscard]] Backend backend() const;

    /// Number of threads that share one call. At least 1; less than configured if the process may use fewer
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

/// Bytes of memory that this process may use: the memory of the machine, or less if a control group (version
/// 1 or 2) limits it, as in a container.
[[nodiscard]] PHY_EXPORT std::uint64_t machine_memory();

}  // namespace phy

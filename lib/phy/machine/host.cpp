#include "phy/machine/host.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "phy/core/error.hpp"
#include "phy/machine/limits.hpp"
#include "phy/machine/share.hpp"
#include "phy/machine/thread_pool.hpp"

namespace phy {
namespace {

constexpr int max_threads = 1024;

int threads_of(const Host::Config& config) {
    if (config.threads < 0 || config.threads > max_threads) {
        throw ArgumentError("threads is " + std::to_string(config.threads) +
                            ": expected 0 (one per processor) to " + std::to_string(max_threads));
    }
    if (config.threads == 1) return 1;
    const int processors = Host::processors();
    return config.threads == 0 ? processors : std::min(config.threads, processors);
}

Backend usable(std::optional<Backend> wanted) {
    const Backend backend = wanted ? *wanted : Backend::best();
    if (backend.kind() == Backend::Kind::cuda) {
        throw BackendError("backend '" + backend.name() +
                           "' works on device memory: expected scalar or a CPU backend");
    }
    if (!backend.supported())
        throw BackendError("backend '" + backend.name() + "' does not run on this machine");
    return backend;
}

}  // namespace

struct PHY_HIDDEN Host::Impl {
    Impl(std::optional<Backend> wanted, int threads) : backend(usable(wanted)), pool(threads) {}

    Backend backend;
    detail::ThreadPool pool;
};

int Host::processors() {
    return std::min(detail::usable_processors(), max_threads);
}

Host::Host() : Host(Config{}) {}

Host::Host(const Config& config) : Host(std::make_shared<Impl>(config.backend, threads_of(config))) {}

Host::Host(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

Backend Host::backend() const {
    return impl_->backend;
}

int Host::threads() const {
    return impl_->pool.size();
}

detail::ThreadPool& Host::pool() const {
    return impl_->pool;
}

Host detail::host_of_exactly(int threads, std::optional<Backend> backend) {
    return Host(std::make_shared<Host::Impl>(backend, threads));
}

void detail::share_items(const Host& host, std::size_t items,
                         void (*work)(const void* job, int part, std::size_t item) noexcept,
                         const void* job) {
    host.pool().for_each(items, [=](int part, std::size_t item) noexcept { work(job, part, item); });
}

}  // namespace phy

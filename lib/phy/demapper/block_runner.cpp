#include "phy/demapper/block_runner.hpp"

#include <cstring>
#include <string>

#include "phy/core/error.hpp"
#include "phy/demapper/plan.hpp"

namespace phy::detail {

const Kernels& kernels_of(const Backend& backend) {
    if (backend.kind() == Backend::Kind::scalar) return scalar_kernels();
    const Kernels* kernels =
        backend.kind() == Backend::Kind::cpu ? simd_kernels(backend.instruction_set()) : nullptr;
    if (kernels == nullptr)
        throw BackendError("backend '" + backend.name() + "' does not run on this machine");
    return *kernels;
}

Stretch::Stretch(Modulation modulation, SymbolView symbols_of_it, std::uint64_t index_of_first)
    : symbols(symbols_of_it),
      first_symbol(index_of_first),
      grid(grid_of(modulation)),
      rotating(modulation == Modulation::pi2_bpsk) {}

BlockRunner::BlockRunner(float full_scale, int threads, const Backend& backend)
    : kernels_(&kernels_of(backend)),
      full_scale_(checked_full_scale(full_scale)),
      pool_(std::make_unique<ThreadPool>(checked_threads(threads))),
      workspaces_(static_cast<std::size_t>(pool_->size())) {}

Backend BlockRunner::backend() const {
    if (kernels_->instruction_set.empty()) return Backend::scalar();
    return Backend::parse("cpu[" + std::string(kernels_->instruction_set) + "]");
}

BlockRunner::Cut BlockRunner::cut_of(std::size_t symbols, std::size_t stretches) const {
    // A thread that is woken for less costs more than it brings.
    constexpr std::size_t smallest_share = 4096;
    const auto threads = static_cast<std::size_t>(pool_->size());
    const std::size_t share = std::max(smallest_share, multiple_from((symbols + threads - 1) / threads));
    const std::size_t parts = (symbols + share - 1) / share;
    if (parts == 1 || stretches == 1) return {parts, share};
    // A symbol of one stretch may take ten times as long as one of another.
    constexpr std::size_t items_of_part = 8;
    constexpr std::size_t smallest_item = 1024;
    return {parts, std::max(smallest_item, multiple_from(share / items_of_part))};
}

bool BlockRunner::must_widen(SymbolView symbols) {
    const bool aligned = reinterpret_cast<std::uintptr_t>(symbols.data()) % alignof(float) == 0;
    return symbols.format() != SampleFormat::cf32 || !aligned;
}

const float* BlockRunner::widen(SymbolView symbols, Workspace& workspace) const {
    if (!must_widen(symbols)) return reinterpret_cast<const float*>(symbols.data());
    const std::size_t count = 2 * symbols.size();
    const float unit = 1.0F / (full_scale_ > 0.0F ? full_scale_ : default_full_scale(symbols.format()));
    switch (symbols.format()) {
        case SampleFormat::cf32:
            std::memcpy(workspace.iq, symbols.data(), count * sizeof(float));
            break;
        case SampleFormat::cf16:
            kernels_->widen_f16(symbols.data(), workspace.iq, count);
            break;
        case SampleFormat::ci16:
            kernels_->widen_i16(symbols.data(), workspace.iq, count, unit);
            break;
        case SampleFormat::ci8:
            kernels_->widen_i8(symbols.data(), workspace.iq, count, unit);
            break;
    }
    return workspace.iq;
}

}  // namespace phy::detail

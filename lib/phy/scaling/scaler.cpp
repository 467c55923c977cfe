#include "phy/scaling/scaler.hpp"

#include <algorithm>

#include "phy/core/check_size.hpp"
#include "phy/machine/thread_pool.hpp"
#include "phy/scaling/host/kernels.hpp"
#include "phy/scaling/math/factor.hpp"
#include "phy/simd/arrays.hpp"

namespace phy {

SymbolScaler::SymbolScaler(const Host& host, const Config& config) : host_(host), config_(config) {
    detail::check_config(config);
}

void SymbolScaler::operator()(SymbolView symbols, std::span<cf32> scaled) const {
    detail::check_size("scaled", scaled.size(), symbols.size());
    const float factor = detail::scaling_factor(config_, symbols.format());
    const auto scale = detail::scaling_kernels(host_.backend()).scale;
    const auto widen =
        detail::array_kernels(host_.backend()).widen[static_cast<std::size_t>(symbols.format())];
    const bool widens = symbols.format() != SampleFormat::cf32;

    // Widened symbols stay in the nearest cache; the second number is what is worth handing to a thread.
    constexpr std::size_t block = 1024;
    constexpr std::size_t piece = 16 * block;
    const std::size_t pieces = (symbols.size() + piece - 1) / piece;
    host_.pool().for_each(pieces, [&](int, std::size_t index) noexcept {
        const std::size_t end = std::min(symbols.size(), (index + 1) * piece);
        for (std::size_t first = index * piece; first < end; first += block) {
            const std::size_t components = 2 * std::min(block, end - first);
            const std::byte* const stored = symbols.data() + first * size_of(symbols.format());
            cf32* const out = scaled.data() + first;
            if (!widens) {
                scale(stored, out, components, factor);
                continue;
            }
            alignas(64) float widened[2 * block + detail::padding];
            widen(stored, widened, components, 1.0F);
            scale(widened, out, components, factor);
        }
    });
}

}  // namespace phy

#pragma once

#include <span>

#include "phy/core/export.hpp"
#include "phy/core/view.hpp"
#include "phy/machine/host.hpp"

namespace phy {

/// Divides symbols by the amplitude of their constellation, so that its mean power is 1, and writes them in
/// binary32. A component becomes component x factor, with one rounding, where factor is the reciprocal of
/// gain, for integers of full_scale x gain, rounded to binary32. What is not finite, or becomes so, is the
/// NaN 0x7FC00000. Every backend and number of threads gives the same bytes.
///
/// The threads of the host share a call. Immutable, so one scaler may be used from many threads.
class PHY_EXPORT SymbolScaler {
public:
    struct Config {
        float gain = 1.0F;        ///< the amplitude: from 2^-40 to 2^40
        float full_scale = 0.0F;  ///< integer samples: the value of 1.0; 0 means 2^(bits-1)
        friend bool operator==(const Config&, const Config&) = default;
    };

    /// Throws ArgumentError if gain is out of its range, or if full_scale or its product with gain is not
    /// from 2^-126 to 2^126.
    SymbolScaler(const Host& host, const Config& config);

    /// scaled.size() must be symbols.size() (ArgumentError). Where symbols are cf32, both may be the same
    /// array. Allocates nothing.
    void operator()(SymbolView symbols, std::span<cf32> scaled) const;

    [[nodiscard]] const Host& host() const { return host_; }
    [[nodiscard]] const Config& config() const { return config_; }

private:
    Host host_;
    Config config_;
};

}  // namespace phy

#include "phy/core/check_enum.hpp"
#include "phy/core/check_size.hpp"
#include "phy/demapper/demapper.hpp"
#include "phy/demapper/host/block_runner.hpp"
#include "phy/demapper/math/plan.hpp"

namespace phy {

using detail::Block;
using detail::BlockRunner;
using detail::Formula;
using detail::Gain;
using detail::Output;
using detail::Stretch;
using detail::Workspace;

struct PHY_HIDDEN HardDemapper::Impl {
    Config config;
    BlockRunner runner;
};

HardDemapper::HardDemapper(const Host& host, const Config& config) {
    detail::check_config(config);
    impl_.reset(new Impl{config, BlockRunner(host, config)});
}

HardDemapper::~HardDemapper() = default;
HardDemapper::HardDemapper(HardDemapper&&) noexcept = default;
HardDemapper& HardDemapper::operator=(HardDemapper&&) noexcept = default;

void HardDemapper::operator()(SymbolView symbols, std::span<std::uint8_t> bits, std::uint64_t first_symbol) {
    const std::size_t qm = bits_per_symbol(impl_->config.modulation);
    detail::check_size("bits", bits.size(), symbols.size() * qm);
    detail::check_enum("sample format", symbols.format(), all_sample_formats.back());
    Stretch stretch(impl_->config.modulation, symbols, first_symbol);
    const auto demap =
        impl_->runner.kernels().demap_for(stretch.constellation, Output::hard, Formula::one_segment, false);
    impl_->runner.for_each_block(std::span(&stretch, 1),
                                 [&](Workspace&, const Stretch&, Block block, std::size_t first) {
                                     // Any gain is valid: only the sign matters.
                                     const Gain gain{1.0F, 1.0F};
                                     block.scale = &gain.scale;
                                     block.limit = &gain.limit;
                                     demap(block, bits.data() + first * qm);
                                 });
}

const Host& HardDemapper::host() const {
    return impl_->runner.host();
}

const HardDemapper::Config& HardDemapper::config() const {
    return impl_->config;
}

}  // namespace phy

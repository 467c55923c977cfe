#include "phy/scrambling/stage.hpp"

#include "phy/core/check_enum.hpp"
#include "phy/core/version.hpp"
#include "phy/scrambling/math/check.hpp"
#include "phy/scrambling/scrambler.hpp"
#include "phy/scrambling/stage_runners.hpp"

namespace phy {
namespace {

class DescrambleOnHost : public StageRunner {
public:
    DescrambleOnHost(const DescrambleStage::Config& config, const Host& host)
        : config_(config), descramble_(host) {}

    void run_on_host(const HostWork& work) override {
        const SoftBitView scrambled(config_.format, work.in[0]);
        const SoftBitSpan llr(config_.format, work.out[0]);
        detail::for_codewords(config_, work.chunk,
                              [&](std::uint64_t first, std::uint64_t count, std::uint64_t in_codeword) {
                                  descramble_(config_.c_init, scrambled.subspan(first, count),
                                              llr.subspan(first, count), in_codeword);
                              });
    }

private:
    DescrambleStage::Config config_;
    Descrambler descramble_;
};

}  // namespace

DescrambleStage::DescrambleStage(const Config& config) : config_(config) {
    detail::check_c_init(config.c_init);
    detail::check_enum("soft-bit format", config.format, all_soft_bit_formats.back());
    if (config.soft_bits_of_item == 0) throw ArgumentError("soft_bits_of_item 0: expected at least 1");
}

std::vector<Port> DescrambleStage::inputs() const {
    return {{.name = "llr", .bytes = config_.soft_bits_of_item * size_of(config_.format)}};
}

std::vector<Port> DescrambleStage::outputs() const {
    return {{.name = "descrambled", .bytes = config_.soft_bits_of_item * size_of(config_.format)}};
}

std::unique_ptr<StageRunner> DescrambleStage::on(const Place& place) {
    if constexpr (built_with_cuda) {
        if (place.is_cuda()) return detail::make_descramble_on_device(config_, place.device());
    }
    return std::make_unique<DescrambleOnHost>(config_, place.host());
}

}  // namespace phy

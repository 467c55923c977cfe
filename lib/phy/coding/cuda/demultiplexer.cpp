#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "phy/coding/cuda/launch.hpp"
#include "phy/coding/uci_checks.hpp"
#include "phy/coding/uci_demultiplexer.hpp"
#include "phy/cuda/buffer.hpp"

namespace phy::gpu {
namespace {

std::vector<std::int32_t> sources_of(const UciMap& map) {
    std::vector<std::int32_t> all;
    for (const UciPart part : all_uci_parts) {
        const std::vector<std::int32_t> sources = map.sources(part);
        all.insert(all.end(), sources.begin(), sources.end());
    }
    return all;
}

}  // namespace

struct PHY_HIDDEN UciDemultiplexer::Impl {
    Impl(const Device& on, const Config& config)
        : device(on), map(config), sources(detail::upload(device, sources_of(map))) {}

    Device device;
    UciMap map;
    DeviceBuffer<std::int32_t> sources;
};

UciDemultiplexer::UciDemultiplexer(const Device& device, const Config& config)
    : impl_(std::make_unique<Impl>(device, config)) {}

void UciDemultiplexer::operator()(SoftBitView llr, const UciSoftBits& parts, cudaStream_t stream) const {
    const UciMap& map = impl_->map;
    const std::size_t codewords = phy::detail::checked_codewords(map, llr, parts);
    if (codewords == 0) return;
    const std::size_t size = size_of(llr.format());
    detail::DemultiplexJob job = {.sources = impl_->sources.data(),
                                  .element = static_cast<std::uint32_t>(map.bits_per_element() * size),
                                  .codeword = static_cast<std::uint32_t>(map.coded_bits() * size),
                                  .llr = llr.data(),
                                  .codewords = codewords};
    std::size_t end = 0;
    for (const UciPart part : all_uci_parts) {
        const auto index = static_cast<std::size_t>(part);
        end += map.coded_bits(part) * size;
        job.ends[index] = static_cast<std::uint32_t>(end);
        job.parts[index] = phy::detail::by_part(parts)[index].data();
    }
    const CurrentDevice current(impl_->device);
    detail::launch(job, stream);
}

const UciMap& UciDemultiplexer::map() const {
    return impl_->map;
}

const Device& UciDemultiplexer::device() const {
    return impl_->device;
}

}  // namespace phy::gpu

#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "phy/core/format.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/cuda/stream.hpp"

namespace phy_test {

/// Device memory for the output of an operator, between floats that the operator must leave as they are.
class GuardedOutput {
public:
    /// All numbers are this until the operator writes them.
    static constexpr float filler = 7.0F;

    /// The output lies at a multiple of 256 bytes, or 4 bytes behind one if is_odd. The stream outlives it.
    GuardedOutput(const phy::gpu::Device& device, const phy::gpu::Stream& stream, std::size_t size,
                  bool is_odd)
        : stream_(stream),
          size_(size),
          before_(is_odd ? 1 : 0),
          floats_(2 * size + 3, filler),
          memory_(device, floats_.size()) {
        copy_async(memory_, floats_, stream_);
    }

    [[nodiscard]] phy::gpu::DeviceSpan<phy::cf32> span() {
        return phy::gpu::device_span(reinterpret_cast<phy::cf32*>(memory_.data() + before_), size_);
    }

    /// Waits for the stream, expects the floats around the output as they were, and returns the output.
    [[nodiscard]] std::vector<phy::cf32> read() {
        copy_async(floats_, memory_, stream_);
        stream_.synchronize();
        std::vector<phy::cf32> output;
        for (std::size_t i = before_; i < before_ + 2 * size_; i += 2)
            output.emplace_back(floats_[i], floats_[i + 1]);
        for (std::size_t i = 0; i < floats_.size(); ++i) {
            if (i >= before_ && i < before_ + 2 * size_) continue;
            EXPECT_EQ(floats_[i], filler) << "written outside of the output, at float " << i;
        }
        return output;
    }

private:
    const phy::gpu::Stream& stream_;
    std::size_t size_;
    std::size_t before_;  ///< floats
    std::vector<float> floats_;
    phy::gpu::DeviceBuffer<float> memory_;
};

}  // namespace phy_test

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "phy/cuda/buffer.hpp"
#include "phy/reduce/reduce_rows.hpp"
#include "reduce/reduce_cases.hpp"
#include "reduce/reduce_user_kernels.hpp"

namespace phy_test {

using phy::gpu::detail::RowTuning;

/// Very different tunings: blocks of one warp and of 16, units of one block and of 16, rows joined in several
/// rounds and at once, a single block on the GPU, and both ways to load.
inline const std::array<RowTuning, 5> row_tunings = {{
    {.threads = 256, .join_threads = 256, .level = 0, .wide = true, .max_blocks = UINT64_MAX},
    {.threads = 32, .join_threads = 32, .level = 0, .wide = false, .max_blocks = UINT64_MAX},
    {.threads = 512, .join_threads = 512, .level = 1, .wide = true, .max_blocks = 7},
    {.threads = 96, .join_threads = 64, .level = 2, .wide = false, .max_blocks = 1},
    {.threads = 128, .join_threads = 128, .level = 4, .wide = true, .max_blocks = 1000},
}};

template <class T>
std::vector<T> to_host(phy::gpu::DeviceSpan<const T> memory) {
    std::vector<T> copy(memory.size());
    const phy::gpu::Device device;
    const phy::gpu::Stream stream(device);
    phy::gpu::copy_async(copy, memory, stream);
    stream.synchronize();
    return copy;
}

/// A batch in device memory: `in` after a number of other elements, results between guards, and an unaligned
/// workspace.
template <class Op>
class BatchOnDevice {
public:
    using Element = typename Op::Element;
    using Result = typename Op::Result;

    BatchOnDevice(std::span<const Element> in, std::size_t rows, std::size_t shift = 0)
        : rows_(rows),
          stream_(device_),
          shift_(shift),
          size_(in.size()),
          in_(device_, shift + in.size()),
          out_(device_, (rows + 2) * sizeof(Result)),
          bytes_(phy::reduce_rows_workspace_bytes<Op>(rows, rows == 0 ? 0 : in.size() / rows)),
          workspace_(device_, bytes_ + 2 * guard) {
        const auto target = in_.span().subspan(shift, in.size());
        if (!in.empty()) phy::gpu::copy_async(target, in, stream_);
        stream_.synchronize();
    }

    void start(cudaStream_t stream, const Op& op = {}, const RowTuning* tuning = nullptr) {
        const phy::gpu::DeviceSpan<const Element> in = in_.span().subspan(shift_, size_);
        auto* const first = reinterpret_cast<Result*>(out_.data() + sizeof(Result));
        const auto out = phy::gpu::device_span(first, rows_);
        const auto workspace = workspace_.span().subspan(guard, bytes_);
        if constexpr (!phy::detail::is_built_in<Op>) {
            reduce_rows_of_user(device_, in, rows_, out, workspace, stream, op, tuning);
        } else if (tuning == nullptr) {
            phy::gpu::reduce_rows<Op>(device_, in, rows_, out, workspace, stream, op);
        } else {
            phy::gpu::detail::reduce_rows_tuned<Op>(device_, in, rows_, out, workspace, stream, op, tuning);
        }
    }

    /// Also checks the guards.
    std::vector<Result> results(const Op& op = {}, const RowTuning* tuning = nullptr) {
        clear();
        start(stream_, op, tuning);
        stream_.synchronize();
        return read();
    }

    void clear() {
        phy::gpu::fill_async(out_, untouched, stream_);
        phy::gpu::fill_async(workspace_, untouched, stream_);
        stream_.synchronize();
    }

    std::vector<Result> read() {
        const auto out = to_host<std::byte>(out_.span());
        const auto workspace = to_host<std::byte>(workspace_.span());
        expect_untouched(std::span(out).first(sizeof(Result)));
        expect_untouched(std::span(out).last(sizeof(Result)));
        expect_untouched(std::span(workspace).first(guard));
        expect_untouched(std::span(workspace).last(guard));
        std::vector<Result> results(rows_);
        if (rows_ != 0)
            std::memcpy(static_cast<void*>(results.data()), out.data() + sizeof(Result),
                        rows_ * sizeof(Result));
        return results;
    }

    const phy::gpu::Device& device() const { return device_; }
    phy::gpu::DeviceBuffer<Element>& in() { return in_; }

private:
    static constexpr std::size_t guard = 33;  ///< bytes before and after the workspace
    static constexpr int untouched = 0x5A;

    static void expect_untouched(std::span<const std::byte> memory) {
        EXPECT_TRUE(std::all_of(memory.begin(), memory.end(),
                                [](std::byte byte) { return byte == std::byte{untouched}; }));
    }

    phy::gpu::Device device_;
    std::size_t rows_;
    phy::gpu::Stream stream_;
    std::size_t shift_;
    std::size_t size_;
    phy::gpu::DeviceBuffer<Element> in_;
    phy::gpu::DeviceBuffer<std::byte> out_;
    std::size_t bytes_;
    phy::gpu::DeviceBuffer<std::byte> workspace_;
};

}  // namespace phy_test

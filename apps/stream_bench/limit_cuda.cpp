#include <algorithm>

#include <fmt/format.h>

#include "phy/cuda/buffer.hpp"
#include "stream_bench/limit.hpp"

namespace phy::apps {
namespace {

/// Larger ones are no faster.
constexpr std::size_t piece = std::size_t{16} << 20U;

gpu::PinnedBuffer<std::byte> allocate(const gpu::Device& device, std::size_t bytes) {
    const gpu::CurrentDevice current(device);
    try {
        return gpu::PinnedBuffer<std::byte>(bytes);
    } catch (const gpu::CudaError& error) {
        if (!error.out_of_memory()) throw;
        throw Error(fmt::format("cannot allocate {:.3g} GB of pinned memory: expected fewer --symbols",
                                static_cast<double>(bytes) / 1e9));
    }
}

/// One direction of the link to a device: the host's share of the bytes, and memory for a piece on the
/// device.
class Way {
public:
    explicit Way(const gpu::Device& device) : stream_(device), on_device_(device, piece) {
        const gpu::CurrentDevice current(device);
        gpu::fill_async(on_device_, 0x55, stream_);
        stream_.synchronize();
    }

    /// Sets the host memory whose pieces copy_in() and copy_out() number.
    void take(std::span<std::byte> on_host) { on_host_ = on_host; }
    [[nodiscard]] std::size_t pieces() const { return (on_host_.size() + piece - 1) / piece; }

    void copy_in(std::size_t number) {
        if (number < pieces()) gpu::copy_async(on_device(number), on_host(number), stream_);
    }
    void copy_out(std::size_t number) {
        if (number < pieces()) gpu::copy_async(on_host(number), on_device(number), stream_);
    }
    void wait() const { stream_.synchronize(); }

private:
    [[nodiscard]] std::span<std::byte> on_host(std::size_t number) const {
        const std::size_t first = number * piece;
        return on_host_.subspan(first, std::min(piece, on_host_.size() - first));
    }
    [[nodiscard]] gpu::DeviceSpan<std::byte> on_device(std::size_t number) {
        return on_device_.first(on_host(number).size());
    }

    gpu::Stream stream_;
    gpu::DeviceBuffer<std::byte> on_device_;
    std::span<std::byte> on_host_;
};

struct Link {
    explicit Link(const gpu::Device& device) : in(device), out(device) {}

    Way in;
    Way out;
};

class CudaLimit : public Limit {
public:
    CudaLimit(std::size_t bytes_in, std::size_t bytes_out, const std::vector<gpu::Device>& devices)
        : input_(allocate(devices.front(), bytes_in)), output_(allocate(devices.front(), bytes_out)) {
        for (const gpu::Device& device : devices)
            links_.emplace_back(device);
    }

    std::span<std::byte> input() override { return input_; }
    std::span<std::byte> output() override { return output_; }

    void move(std::size_t bytes_in, std::size_t bytes_out) override {
        std::size_t pieces = 0;
        for (std::size_t i = 0; i < links_.size(); ++i) {
            links_[i].in.take(share_of(input().first(bytes_in), i, links_.size()));
            links_[i].out.take(share_of(output().first(bytes_out), i, links_.size()));
            pieces = std::max({pieces, links_[i].in.pieces(), links_[i].out.pieces()});
        }
        for (std::size_t number = 0; number < pieces; ++number) {
            for (Link& link : links_) {
                link.in.copy_in(number);
                link.out.copy_out(number);
            }
        }
        for (const Link& link : links_) {
            link.in.wait();
            link.out.wait();
        }
    }

    [[nodiscard]] std::string description() const override {
        return fmt::format("copies of the same bytes in and out at once, in pieces of {} MiB, pinned{}",
                           piece >> 20U, links_.size() == 1 ? "" : ", split over the devices");
    }

private:
    gpu::PinnedBuffer<std::byte> input_;
    gpu::PinnedBuffer<std::byte> output_;
    std::vector<Link> links_;
};

}  // namespace

std::unique_ptr<Limit> make_cuda_limit(std::size_t bytes_in, std::size_t bytes_out,
                                       const std::vector<Place>& devices) {
    std::vector<gpu::Device> all;
    for (const Place& place : devices)
        all.emplace_back(place.device());
    return std::make_unique<CudaLimit>(bytes_in, bytes_out, all);
}

}  // namespace phy::apps

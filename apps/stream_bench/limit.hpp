#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "phy/pipeline/place.hpp"

namespace phy::apps {

/// Owns the memory of symbols and soft bits, and moves their bytes without computing: the limit of the speed.
class Limit {
public:
    virtual ~Limit() = default;

    [[nodiscard]] virtual std::span<std::byte> input() = 0;
    [[nodiscard]] virtual std::span<std::byte> output() = 0;

    /// Moves the bytes of a pipeline that reads bytes_in from the beginning of the input and writes bytes_out
    /// to the beginning of the output. Returns when done. The output is undefined afterwards.
    virtual void move(std::size_t bytes_in, std::size_t bytes_out) = 0;

    /// Describes move() for people: a phrase such as "a memcpy of as many bytes".
    [[nodiscard]] virtual std::string description() const = 0;
};

/// A memcpy by the given number of threads, at least 1.
std::unique_ptr<Limit> make_host_limit(std::size_t bytes_in, std::size_t bytes_out, int threads);

/// Copies between pinned memory and all devices, in both directions at once. Only in builds with CUDA. Throws
/// Error if there is not enough memory.
std::unique_ptr<Limit> make_cuda_limit(std::size_t bytes_in, std::size_t bytes_out,
                                       const std::vector<Place>& devices);

/// One of several shares of memory, in order, as equal as whole pages allow.
template <typename Byte>
std::span<Byte> share_of(std::span<Byte> all, std::size_t one, std::size_t several) {
    constexpr std::size_t page = 4096;
    const auto begin = [&](std::size_t share) {
        return share == several ? all.size() : all.size() / several * share / page * page;
    };
    return all.subspan(begin(one), begin(one + 1) - begin(one));
}

}  // namespace phy::apps

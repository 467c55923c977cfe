#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "phy/pipeline/place.hpp"

namespace phy::apps {

/// The memory of the symbols and the soft bits, and how fast their bytes can be moved if nothing is done to
/// them.
class Limit {
public:
    virtual ~Limit() = default;

    [[nodiscard]] virtual std::span<std::byte> input() = 0;
    [[nodiscard]] virtual std::span<std::byte> output() = 0;

    /// Moves what a pipeline does that reads so much from the beginning of the input and writes so much to
    /// the beginning of the output, which holds nothing of use afterwards; returns when all is done.
    virtual void move(std::size_t bytes_in, std::size_t bytes_out) = 0;

    /// What move() does, for people: a phrase such as "a memcpy of as many bytes".
    [[nodiscard]] virtual std::string description() const = 0;
};

/// A memcpy by that many threads, from 1 on.
std::unique_ptr<Limit> make_host_limit(std::size_t bytes_in, std::size_t bytes_out, int threads);

/// Copies to and from all devices, in both directions at once, from and to pinned memory. Only where phy was
/// built with CUDA. Throws Error if there is not enough memory.
std::unique_ptr<Limit> make_cuda_limit(std::size_t bytes_in, std::size_t bytes_out,
                                       const std::vector<Place>& devices);

}  // namespace phy::apps

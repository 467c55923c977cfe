#include "phy/reduce/average/math/sizes.hpp"

#include <cstdint>
#include <initializer_list>

namespace phy::detail {
namespace {

/// A quarter of what a pointer can span is left for alignment, and for the nodes of means, of which there is
/// less than one for each 2048 elements.
constexpr std::size_t max_bytes = PTRDIFF_MAX / 4 * 3;

std::size_t product(const AverageShape& shape, std::initializer_list<std::size_t> factors) {
    std::size_t product = 1;
    for (const std::size_t factor : factors) {
        if (__builtin_mul_overflow(product, factor, &product) || product > max_bytes)
            throw ArgumentError("average_matvec: N = " + std::to_string(shape.batches) + ", L = " +
                                std::to_string(shape.length) + ", M = " + std::to_string(shape.observations) +
                                " have arrays of more bytes than there are: expected fewer elements");
    }
    return product;
}

void check_positive(const char* name, std::size_t value) {
    if (value == 0)
        throw ArgumentError("average_matvec: " + std::string(name) + " is 0: expected at least 1");
}

}  // namespace

AverageSizes average_sizes(const AverageShape& shape, std::size_t bytes_of_element, std::size_t panel) {
    check_positive("length (L)", shape.length);
    check_positive("observations (M)", shape.observations);
    const std::size_t panels = shape.batches / panel + (shape.batches % panel != 0 ? 1 : 0);
    const auto elements = [&](std::initializer_list<std::size_t> factors) {
        return product(shape, factors) / bytes_of_element;
    };
    return {.in = elements({shape.length, shape.observations, bytes_of_element, shape.batches}),
            .matrix = elements({shape.length, shape.length, bytes_of_element}),
            .out = elements({shape.length, bytes_of_element, shape.batches}),
            .panels = elements({shape.length, panel, bytes_of_element, panels})};
}

}  // namespace phy::detail

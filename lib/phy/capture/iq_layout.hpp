#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "phy/capture/element_type.hpp"
#include "phy/capture/number.hpp"
#include "phy/core/view.hpp"

namespace phy::detail {

using Dimensions = std::vector<std::uint64_t>;

/// The layout of IQ in a dataset.
struct IqLayout {
    enum class Kind { compound, trailing, interleaved, real };

    Kind kind = Kind::compound;
    NumberType number;
    std::size_t elements_per_symbol = 1;  ///< 2 if I and Q are separate elements
    std::size_t symbol_bytes = 0;         ///< including the padding of a compound
    std::size_t offset_i = 0;
    std::size_t offset_q = 0;  ///< unused for real signals, whose Q is 0
};

/// The number type of I and Q.
NumberKind number_kind(SampleFormat format);

/// The layout of IQ in a dataset of this type and shape; empty if it is not IQ.
std::optional<IqLayout> recognise_iq(const ElementType& type, const Dimensions& dimensions, bool interleaved);

/// The layouts that recognise_iq() accepts, for messages.
std::string_view expected_iq(bool interleaved);

/// A phrase such as "float32 [100, 2]", "compound of float32 and int16 [100]", "text [1]".
std::string describe(const ElementType& type, const Dimensions& dimensions);

/// A phrase such as "compound of float16" or "float32, trailing dimension 2".
std::string describe(const IqLayout& layout);

/// The format in which CaptureReader delivers these numbers.
SampleFormat delivered_format(NumberKind kind);

/// True if the bytes in the file are delivered unchanged.
bool is_delivered_as_stored(const IqLayout& layout);

/// Converts bytes of the file to symbols of delivered_format(); full_scale divides int32.
void unpack(const IqLayout& layout, double full_scale, const std::byte* stored, SymbolSpan symbols);

}  // namespace phy::detail

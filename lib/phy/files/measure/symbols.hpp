#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "phy/capture/capture.hpp"
#include "phy/files/demodulate/symbol_sample.hpp"
#include "phy/files/measure.hpp"
#include "phy/files/measure_parts.hpp"

namespace phy::detail {

/// Opens a capture of any kind. Throws as measure_file() does.
CaptureReader open_to_measure(const std::filesystem::path& capture, const MeasureOptions& options);

/// Measures a capture of symbols, or a range of it, by parts.
class SymbolMeasuring {
public:
    /// range: what is measured; none: all. Throws as measure_file() does.
    SymbolMeasuring(CaptureReader reader, const MeasureOptions& options,
                    const std::optional<ItemRange>& range);

    /// Parts begin at multiples of it behind the begin of the range.
    [[nodiscard]] std::uint64_t unit() const;

    /// MeasuredPart::settings, once there is a gain.
    [[nodiscard]] std::string settings() const;

    // Either of them comes first.
    void find_gain();
    void set_gain(const MeasurePlan& plan);

    /// Sums a part of the range. Keeps symbols for the check if the part is all of the range.
    MeasuredPart sum(const ItemRange& part);

    /// Joins the parts of the whole range, in order.
    Measured finish(std::span<const MeasuredPart> parts);

    /// Without measurements until finish().
    [[nodiscard]] const Measured& result() const { return result_; }

private:
    [[nodiscard]] SymbolSample make_sample() const;
    void join_roots(std::span<const MeasuredPart> parts);
    void join_rows(std::span<const MeasuredPart> parts);
    void measure_whole();
    void warn_of_symbols();

    CaptureReader reader_;
    MeasureOptions options_;  ///< completed from the link
    Measured result_;
    bool finds_gain_ = false;
    std::optional<SymbolSample> sample_;  ///< none: finish() reads it
    SymbolSums sums_;
};

}  // namespace phy::detail

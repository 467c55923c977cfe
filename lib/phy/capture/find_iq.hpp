#pragma once

#include <memory>
#include <string>

#include "phy/capture/capture.hpp"
#include "phy/capture/input.hpp"
#include "phy/capture/iq_layout.hpp"

namespace phy::detail {

/// Where IQ is in a file.
struct IqPath {
    std::string i;       ///< path of both, or of I only
    std::string q = {};  ///< empty: one dataset has both

    /// As in CaptureOptions::dataset.
    [[nodiscard]] std::string text() const { return q.empty() ? i : i + "," + q; }
};

/// The datasets to read; see CaptureOptions::dataset. Throws a FileError that lists the candidates if there
/// is none or more than one.
IqPath find_iq(const InputFile& file, const CaptureOptions& options);

/// The dataset, or I and Q as one.
std::unique_ptr<InputDataset> open_iq(const InputFile& file, const IqPath& path);

/// The kind in the options, else by the last name of the path.
CaptureKind kind_of(const std::string& path, const CaptureOptions& options);

/// The layout of IQ in the dataset. Throws a FileError that says what the dataset is and what was expected.
IqLayout require_iq(const InputFile& file, const InputDataset& dataset, const CaptureOptions& options);

/// The path of another dataset in the same group.
std::string path_beside(const std::string& path, const std::string& name);

}  // namespace phy::detail

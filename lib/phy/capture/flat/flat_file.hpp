#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "phy/capture/flat/posix_file.hpp"
#include "phy/capture/input.hpp"

namespace phy::detail {

using Attributes = std::map<std::string, std::variant<double, std::string>, std::less<>>;

/// An array whose elements are stored plainly in a file.
struct FlatArray {
    /// Contiguous elements.
    struct Run {
        std::uint64_t first = 0;   ///< index of its first frame
        std::uint64_t offset = 0;  ///< its offset in the file, in bytes
    };

    std::string path;
    ElementType type;
    Dimensions dimensions;
    std::string storage;

    /// A frame has one element per channel, and frames are contiguous. Elements are counted channel by
    /// channel: several channels are the first of two dimensions.
    std::uint64_t channels = 1;
    std::vector<Run> runs;  ///< in the order of their frames, from frame 0 on
    Attributes attributes = {};
};

/// A file of such arrays, stored in one of `files`. name: for errors.
std::unique_ptr<InputFile> make_flat_file(std::string name, std::vector<std::filesystem::path> files,
                                          PosixFile bytes, std::vector<FlatArray> arrays);

/// The path of a file's only array: the default dataset of the kind in the options (by kind or dataset name),
/// else of `otherwise`.
std::string path_of_only_array(const CaptureOptions& options, CaptureKind otherwise);

/// The kind by the file's name.
CaptureKind kind_of_stem(const std::filesystem::path& path);

/// CaptureOptions::shape, or one dimension if it is empty. Throws FileError unless the shape has this many
/// elements.
Dimensions shape_or_flat(const CaptureOptions& options, std::uint64_t elements, const std::string& name);

}  // namespace phy::detail

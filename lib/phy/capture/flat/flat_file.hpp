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

/// An array whose elements lie in a file as they are.
struct FlatArray {
    /// Elements that lie one after the other.
    struct Run {
        std::uint64_t first = 0;   ///< index of its first frame
        std::uint64_t offset = 0;  ///< of that in the file
    };

    std::string path;
    ElementType type;
    Dimensions dimensions;
    std::string storage;

    /// Frames of an element of each channel lie one after the other, while elements are counted channel by
    /// channel: more than one are the first of two dimensions.
    std::uint64_t channels = 1;
    std::vector<Run> runs;  ///< in the order of their frames, the first from frame 0 on
    Attributes attributes = {};
};

/// A file of such arrays, whose bytes are those of one of `files`. `name` is what errors call it.
std::unique_ptr<InputFile> make_flat_file(std::string name, std::vector<std::filesystem::path> files,
                                          PosixFile bytes, std::vector<FlatArray> arrays);

/// What an array that is all of a file is called: as its kind is, which the options say, or the name of the
/// dataset that they name, else `otherwise`.
std::string path_of_only_array(const CaptureOptions& options, CaptureKind otherwise);

/// The kind that a file's name says.
CaptureKind kind_of_stem(const std::filesystem::path& path);

/// CaptureOptions::shape, of this many elements, or one dimension. Throws FileError if there are more or
/// fewer.
Dimensions shape_or_flat(const CaptureOptions& options, std::uint64_t elements, const std::string& name);

}  // namespace phy::detail

#include "phy/capture/flat/raw_input.hpp"

#include <string>
#include <utility>

#include "phy/capture/flat/flat_file.hpp"
#include "phy/capture/sample_type.hpp"
#include "phy/core/file_error.hpp"

namespace phy::detail {

std::unique_ptr<InputFile> open_raw(const std::filesystem::path& path, hdf5::PosixFile bytes,
                                    const CaptureOptions& options) {
    const std::string name = path.string();
    const ElementType type = parse_sample_type(options.raw).value();
    const std::uint64_t size = bytes.size();
    if (size % type.bytes != 0)
        throw file_error(name, "has " + std::to_string(size) + " bytes, which are no whole samples of " +
                                   options.raw + ": truncated file, or of another type");
    FlatArray array = {.path = path_of_only_array(options, kind_of_stem(path)),
                       .type = type,
                       .dimensions = shape_or_flat(options, size / type.bytes, name),
                       .storage = "raw",
                       .runs = {{}}};
    return make_flat_file(name, {path}, std::move(bytes), {std::move(array)});
}

}  // namespace phy::detail

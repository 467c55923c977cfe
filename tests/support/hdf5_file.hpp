#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace phy::test {

/// Writes HDF5 files that phy's own writer refuses to write. Throws std::runtime_error.
class Hdf5File {
public:
    /// Creates the file.
    explicit Hdf5File(const std::filesystem::path& file);
    ~Hdf5File();
    Hdf5File(const Hdf5File&) = delete;
    Hdf5File& operator=(const Hdf5File&) = delete;

    /// A float32 dataset of the given shape; values are 0.5 unless given.
    Hdf5File& reals(const std::string& name, const std::vector<std::uint64_t>& shape, float value = 0.5F);

    /// The same in chunks of that many rows, each with a checksum.
    Hdf5File& checked(const std::string& name, const std::vector<std::uint64_t>& shape, std::uint64_t rows,
                      float value);

    /// A float32 dataset of the given shape, whose values are the bytes of another file.
    Hdf5File& external(const std::string& name, const std::vector<std::uint64_t>& shape,
                       const std::string& file);

    /// A virtual float32 dataset of a dataset with the given shape.
    Hdf5File& virtual_of(const std::string& name, const std::vector<std::uint64_t>& shape,
                         const std::string& file, const std::string& dataset);

    Hdf5File& text(const std::string& name, const std::string& value);
    Hdf5File& group(const std::string& name);

    /// Attributes of the root group.
    Hdf5File& attribute(const std::string& name, double value);
    Hdf5File& attribute(const std::string& name, const std::string& value);

private:
    std::int64_t id_;
};

/// All names in a file. Members are those of compound types.
struct Hdf5Names {
    std::set<std::string> datasets;
    std::set<std::string> attributes;
    std::set<std::string> members;
};

Hdf5Names names_in(const std::filesystem::path& file);

/// The values of a dataset in the dataset's own type.
std::vector<std::byte> read_dataset(const std::filesystem::path& file, const std::string& dataset);

std::vector<std::uint64_t> read_dimensions(const std::filesystem::path& file, const std::string& dataset);

/// Where the file has the chunk with that row.
std::uint64_t place_of_chunk(const std::filesystem::path& file, const std::string& dataset,
                             std::uint64_t row);

/// A numeric attribute of a dataset; empty without it.
std::optional<double> read_number(const std::filesystem::path& file, const std::string& dataset,
                                  const std::string& attribute);

}  // namespace phy::test

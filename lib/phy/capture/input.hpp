#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "phy/capture/capture.hpp"
#include "phy/capture/element_type.hpp"
#include "phy/capture/iq_layout.hpp"

/// Files of captures, independent of format. Errors are FileError.
namespace phy::detail {

/// The elements of a dataset, numbered in row-major order, as bytes of the file.
class InputDataset {
public:
    InputDataset(const InputDataset&) = delete;
    InputDataset& operator=(const InputDataset&) = delete;
    virtual ~InputDataset() = default;

    /// The dataset's name for errors.
    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] const ElementType& type() const { return type_; }

    /// Empty for a scalar; one dimension of 0 if the dataset has no extent.
    [[nodiscard]] const Dimensions& dimensions() const { return dimensions_; }
    [[nodiscard]] std::uint64_t size() const { return size_; }

    /// A phrase such as "chunked, shuffle, gzip".
    [[nodiscard]] virtual std::string storage() const = 0;

    /// Throws if the elements are missing or cannot be unpacked.
    virtual void require_readable() const = 0;

    /// Reads elements first ... first + count - 1, which must be in the dataset.
    virtual void read(std::uint64_t first, std::uint64_t count, std::byte* elements) const = 0;

    /// Further files that hold its elements, beside those of the InputFile.
    [[nodiscard]] virtual std::vector<std::filesystem::path> other_files() const { return {}; }

    /// An attribute of the dataset, else of the file. Empty if it is missing; an error if it has another
    /// type.
    [[nodiscard]] virtual std::optional<double> number(const char* attribute) const = 0;
    [[nodiscard]] virtual std::optional<std::string> text(const char* attribute) const = 0;

protected:
    /// Throws if the dimensions overflow.
    InputDataset(std::string name, ElementType type, Dimensions dimensions);

private:
    std::string name_;
    ElementType type_;
    Dimensions dimensions_;
    std::uint64_t size_ = 0;
};

/// A file open for reading.
class InputFile {
public:
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;
    virtual ~InputFile() = default;

    /// The file's name for errors.
    [[nodiscard]] const std::string& name() const { return name_; }

    /// All files that it consists of.
    [[nodiscard]] const std::vector<std::filesystem::path>& files() const { return files_; }

    /// True if there is a dataset or a group at this absolute path, or only if there is a group.
    [[nodiscard]] virtual bool contains(const std::string& path) const = 0;
    [[nodiscard]] virtual bool is_group(const std::string& path) const = 0;

    /// The paths of all datasets, in alphabetical order.
    [[nodiscard]] virtual std::vector<std::string> datasets() const = 0;

    /// The file must outlive the dataset.
    [[nodiscard]] virtual std::unique_ptr<InputDataset> open(const std::string& path) const = 0;

protected:
    InputFile(std::string name, std::vector<std::filesystem::path> files)
        : name_(std::move(name)), files_(std::move(files)) {}

private:
    std::string name_;
    std::vector<std::filesystem::path> files_;
};

/// The FileError distinguishes a missing file, a directory, a git-LFS pointer, a file of another format, and
/// a damaged one.
std::unique_ptr<InputFile> open_input(const std::filesystem::path& path, const CaptureOptions& options);

}  // namespace phy::detail

#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>

namespace phy::detail {

/// A place in the table of files that remove_unfinished_outputs() unlinks.
class UnfinishedFile {
public:
    /// name is what errors call the file. Throws FileError if the path is too long or the table is full.
    UnfinishedFile(const std::filesystem::path& path, std::string_view name);
    ~UnfinishedFile();
    UnfinishedFile(const UnfinishedFile&) = delete;
    UnfinishedFile& operator=(const UnfinishedFile&) = delete;

private:
    std::size_t slot_ = 0;
};

}  // namespace phy::detail

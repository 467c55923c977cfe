#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace phy::apps {

/// Lines that results depend on, besides the command: the version, and the files as they are now.
std::string origin_of(const std::string& command, std::span<const std::filesystem::path> files);

/// A folder that holds what is done of a run: for each part a file of sums, and if it has rows a file of
/// rows, which is written before. It is the journal of a run: what is there need not be made again.
class PartsFolder {
public:
    /// has_rows: a part without a file of rows is not complete.
    PartsFolder(std::string folder, bool has_rows) : folder_(std::move(folder)), has_rows_(has_rows) {}

    /// Makes the folder if there is none. origin: what the parts depend on, on its first line the command. A
    /// folder of another origin that has no complete part is taken over. Throws FileError if it has parts of
    /// another origin, or is not a parts folder.
    void open(const std::string& origin) const;

    [[nodiscard]] std::string rows_file(std::uint64_t number) const { return file(number, ".h5"); }
    [[nodiscard]] std::string survey_file() const { return (folder_ / "survey.json").string(); }

    /// Numbers of the parts that are complete.
    [[nodiscard]] std::vector<std::uint64_t> complete_parts() const;

    /// Any bytes.
    void write_sums(std::uint64_t number, std::string_view sums, bool durable) const;

    /// Throws FileError if the part has none, or not as they were written.
    [[nodiscard]] std::string read_sums(std::uint64_t number) const;

    /// Returns what hindered it.
    [[nodiscard]] std::error_code remove() const;

private:
    [[nodiscard]] bool is_complete(std::uint64_t number) const;
    [[nodiscard]] std::string file(std::uint64_t number, std::string_view ending) const;

    std::filesystem::path folder_;
    bool has_rows_;
};

}  // namespace phy::apps

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "demod/demodulation.hpp"

namespace phy::apps {

/// Numbers of parts, which add up.
struct PartSums {
    std::uint64_t slots = 0;  ///< of samples and grids
    std::uint64_t slots_with_dmrs = 0;
    std::uint64_t soft_bits = 0;
    std::uint64_t saturated = 0;
    std::uint64_t bit_errors = 0;
    std::uint64_t compared_bits = 0;
    std::uint64_t transport_blocks = 0;
    std::uint64_t valid_transport_blocks = 0;
    std::vector<std::string> warnings;  ///< each text once

    void add(const PartSums& other);
};

/// Of a part that was made.
PartSums sums_of(const Demodulated& done);

/// The folder beside an output that holds its parts while they are made: for each a file of rows, and a file
/// with its sums, which comes last. It is the journal of a run: what is there need not be made again.
class PartsFolder {
public:
    explicit PartsFolder(const std::string& output) : folder_(output + ".parts") {}

    /// Makes the folder if there is none. command: what the parts depend on, on its first line for people. A
    /// folder of another command that has no complete part is taken over. Throws FileError if it has parts of
    /// another command, or is not a parts folder.
    void open(const std::string& command) const;

    [[nodiscard]] std::string rows_file(std::uint64_t first) const { return file(first, ".h5"); }
    [[nodiscard]] std::string survey_file() const { return (folder_ / "survey.json").string(); }

    /// First items of the parts that are complete.
    [[nodiscard]] std::vector<std::uint64_t> complete_parts() const;

    void write_sums(std::uint64_t first, const PartSums& sums, bool durable) const;
    [[nodiscard]] PartSums read_sums(std::uint64_t first) const;

    /// Returns what hindered it.
    [[nodiscard]] std::error_code remove() const;

private:
    [[nodiscard]] bool is_complete(std::uint64_t first) const;
    [[nodiscard]] std::string file(std::uint64_t first, std::string_view ending) const;

    std::filesystem::path folder_;
};

}  // namespace phy::apps

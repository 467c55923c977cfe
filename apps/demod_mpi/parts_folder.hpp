#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "demod/demodulation.hpp"

namespace phy::apps {

/// Numbers of parts, which add up.
struct PartSums {
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

    /// Makes the folder if there is none. command: arguments that the parts depend on. Throws FileError if
    /// the folder is one of another command, or none of parts.
    void open(const std::string& command) const;

    [[nodiscard]] std::string rows_file(std::uint64_t first) const { return file(first, ".h5"); }
    [[nodiscard]] std::string survey_file() const { return (folder_ / "survey.json").string(); }

    /// First items of the parts that are complete.
    [[nodiscard]] std::vector<std::uint64_t> complete_parts() const;

    void write_sums(std::uint64_t first, const PartSums& sums, bool durable) const;
    [[nodiscard]] PartSums read_sums(std::uint64_t first) const;

    void remove() const;

private:
    [[nodiscard]] std::string file(std::uint64_t first, std::string_view ending) const;

    std::filesystem::path folder_;
};

}  // namespace phy::apps

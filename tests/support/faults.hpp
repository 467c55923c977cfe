#pragma once

#include <string>

namespace phy::test {

/// Until the end of a block, calls of this process, or of programs that it starts with the module phy_faults
/// preloaded, fail as `faults` says. Its words, separated by spaces:
///
///     renameat2, link  the file system does not offer it
///     fsync            fails
///     blocks           the file system does not count its blocks
///     long_reads_hang  what reads the samples of a file, and no metadata, never returns
class Faults {
public:
    explicit Faults(const std::string& faults);
    ~Faults();
    Faults(const Faults&) = delete;
    Faults& operator=(const Faults&) = delete;
};

/// Names the file that logs calls which rename files or make them durable, one per line: "rename",
/// "synchronize file", "synchronize folder".
inline constexpr const char* fault_log_variable = "PHY_TEST_FAULT_LOG";
inline constexpr const char* faults_variable = "PHY_TEST_FAULTS";

}  // namespace phy::test

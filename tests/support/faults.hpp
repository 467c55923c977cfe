#pragma once

#include <string>

namespace phy::test {

/// The next calls of this process, or of programs that it starts with the module phy_faults preloaded, meet
/// these faults, until the end of a block. Words of `faults`, with spaces between:
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

/// The file to which calls that give files a name or make them durable are written, a line each: "rename",
/// "synchronize file", "synchronize folder".
inline constexpr const char* fault_log_variable = "PHY_TEST_FAULT_LOG";
inline constexpr const char* faults_variable = "PHY_TEST_FAULTS";

}  // namespace phy::test

#pragma once

#include <filesystem>
#include <fstream>

#include "phy/pipeline/pipeline.hpp"

namespace phy::apps {

/// A trace that appears under its name only when it is complete; before that, and if it never is, nothing is
/// left of it.
class TraceFile {
public:
    /// Throws FileError if it cannot be written, or is there already and overwrite is false.
    TraceFile(const std::filesystem::path& file, bool overwrite);
    ~TraceFile();
    TraceFile(const TraceFile&) = delete;
    TraceFile& operator=(const TraceFile&) = delete;

    /// Throws FileError if the disk is full.
    void write(const PipelineReport& report);

    void commit();

private:
    std::filesystem::path file_;
    std::filesystem::path temporary_;
    std::ofstream stream_;
};

}  // namespace phy::apps

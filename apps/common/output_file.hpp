#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace phy::apps {

/// A text that appears under its file's name only when it is complete; before that, and if it never is,
/// nothing is left of it.
class OutputFile {
public:
    /// Throws FileError, which calls the text `what` ("the trace"), if it cannot be written, or is there
    /// already and overwrite is false.
    OutputFile(const std::filesystem::path& file, bool overwrite, std::string what);
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    /// Throws FileError if the disk is full.
    void write(std::string_view text);

    void commit();

private:
    std::filesystem::path file_;
    std::filesystem::path temporary_;
    std::string what_;
    std::ofstream stream_;
};

}  // namespace phy::apps

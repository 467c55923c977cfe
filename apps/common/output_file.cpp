#include "common/output_file.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "common/app.hpp"
#include "phy/core/error.hpp"

namespace phy::apps {
namespace {

/// What a symbolic link points at, be it there or not.
std::filesystem::path resolved(const std::filesystem::path& file) {
    if (!std::filesystem::is_symlink(std::filesystem::symlink_status(file))) return file;
    return file.parent_path() / std::filesystem::read_symlink(file);
}

std::filesystem::path temporary_name(const std::filesystem::path& file) {
    return file.parent_path() / fmt::format(".{}.{}.part", file.filename().string(), getpid());
}

void require_regular_or_none(const std::filesystem::path& file) {
    if (std::filesystem::exists(file) && !std::filesystem::is_regular_file(file))
        throw FileError(fmt::format("{}: is not a regular file, expected the name of a file", file.string()));
}

/// Empty, and of nobody else.
bool create(const std::filesystem::path& file) {
    const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return descriptor >= 0 && ::close(descriptor) == 0;
}

}  // namespace

OutputFile::OutputFile(const std::filesystem::path& file, bool overwrite, std::string what)
    : file_(resolved(file)), temporary_(temporary_name(file_)), what_(std::move(what)) {
    require_regular_or_none(file_);
    require_force_if_exists(file_.string(), overwrite);
    if (create(temporary_)) stream_.open(temporary_);
    if (!stream_.is_open())
        throw FileError(fmt::format("{}: {} cannot be written: {}", file_.string(), what_,
                                    std::generic_category().message(errno)));
}

OutputFile::~OutputFile() {
    std::error_code ignored;
    std::filesystem::remove(temporary_, ignored);
}

void OutputFile::write(std::string_view text) {
    stream_ << text;
    stream_.close();
    if (!stream_) throw FileError(fmt::format("{}: {} cannot be written", file_.string(), what_));
}

void OutputFile::commit() {
    std::error_code error;
    std::filesystem::rename(temporary_, file_, error);
    if (error)
        throw FileError(fmt::format("{}: {} cannot be written: {}", file_.string(), what_, error.message()));
}

}  // namespace phy::apps

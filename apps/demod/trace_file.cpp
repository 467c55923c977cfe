#include "demod/trace_file.hpp"

#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include "common/app.hpp"
#include "phy/core/error.hpp"
#include "phy/pipeline/trace.hpp"

namespace phy::apps {
namespace {

std::filesystem::path temporary_name(const std::filesystem::path& file) {
    return file.parent_path() / fmt::format(".{}.{}.part", file.filename().string(), getpid());
}

}  // namespace

TraceFile::TraceFile(const std::filesystem::path& file, bool overwrite)
    : file_(file), temporary_(temporary_name(file)) {
    require_force_if_exists(file.string(), overwrite);
    stream_.open(temporary_, std::ios::trunc);
    if (!stream_)
        throw FileError(fmt::format("{}: the trace cannot be written: {}", file_.string(),
                                    std::generic_category().message(errno)));
}

TraceFile::~TraceFile() {
    std::error_code ignored;
    std::filesystem::remove(temporary_, ignored);
}

void TraceFile::write(const PipelineReport& report) {
    stream_ << trace_events(report);
    stream_.close();
    if (!stream_) throw FileError(fmt::format("{}: the trace cannot be written", file_.string()));
}

void TraceFile::commit() {
    std::error_code error;
    std::filesystem::rename(temporary_, file_, error);
    if (error)
        throw FileError(fmt::format("{}: the trace cannot be written: {}", file_.string(), error.message()));
}

}  // namespace phy::apps

#include "mpi/parts_folder.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include <fmt/format.h>

#include "common/number.hpp"
#include "phy/core/digest.hpp"
#include "phy/core/error.hpp"
#include "phy/core/version.hpp"
#include "phy/machine/atomic_file.hpp"

namespace phy::apps {
namespace {

constexpr std::string_view sums_ending = ".sums";
constexpr std::string_view command_file = "command";

std::string read_text(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    if (!in) throw FileError(fmt::format("{}: cannot be read", file.string()));
    return text;
}

void write_text(const std::filesystem::path& file, const std::string& text, bool durable) {
    AtomicFile out(file, {.overwrite = true, .durable = durable});
    out.append(text);
    out.commit();
}

/// True for a folder of nothing but unfinished files of AtomicFile: its run was killed at once.
bool is_unused(const std::filesystem::path& folder) {
    const std::filesystem::directory_iterator files(folder);
    return std::all_of(begin(files), end(files), [](const std::filesystem::directory_entry& file) {
        return file.path().filename().string().starts_with(".phy-");
    });
}

/// Behind the bytes: a line with their number and digest.
std::string trailer_of(std::string_view bytes) {
    return fmt::format("\n{} {:016x}\n", bytes.size(), digest_of(std::as_bytes(std::span(bytes))));
}

}  // namespace

std::string origin_of(const std::string& command, std::span<const std::filesystem::path> files) {
    std::string text = fmt::format("{}\nphy {}\n", command, version);
    for (const std::filesystem::path& file : files)
        text += fmt::format("{} {} {}\n", std::filesystem::absolute(file).string(),
                            std::filesystem::file_size(file),
                            std::filesystem::last_write_time(file).time_since_epoch().count());
    return text;
}

std::string PartsFolder::file(std::uint64_t number, std::string_view ending) const {
    return (folder_ / fmt::format("{:012}{}", number, ending)).string();
}

void PartsFolder::open(const std::string& origin) const {
    const std::filesystem::path file = folder_ / command_file;
    std::error_code ignored;
    if (std::filesystem::exists(file, ignored)) {
        const std::string before = read_text(file);
        if (before == origin) return;
        if (!complete_parts().empty())
            throw FileError(fmt::format(
                "{}: has parts of another command, or of a capture or link that has changed since: "
                "\"{}\". Give that command again, or remove the folder",
                folder_.string(), before.substr(0, before.find('\n'))));
        std::filesystem::remove(survey_file(), ignored);
        write_text(file, origin, true);
        return;
    }
    if (std::filesystem::exists(folder_, ignored) && !is_unused(folder_))
        throw FileError(fmt::format(
            "{}: exists, and is not a parts folder: remove it, or name another output", folder_.string()));
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    if (error) throw FileError(fmt::format("{}: cannot be created: {}", folder_.string(), error.message()));
    write_text(file, origin, true);
}

/// Without --durable a loss of power may leave empty files.
bool PartsFolder::is_complete(std::uint64_t number) const {
    std::error_code error;
    try {
        static_cast<void>(read_sums(number));
        return !has_rows_ || (std::filesystem::file_size(rows_file(number), error) > 0 && !error);
    } catch (const FileError&) {
        return false;
    }
}

std::vector<std::uint64_t> PartsFolder::complete_parts() const {
    std::vector<std::uint64_t> parts;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
        const std::filesystem::path& path = entry.path();
        if (path.extension() != sums_ending) continue;
        const auto number = parse_number<std::uint64_t>(path.stem().string());
        if (number && is_complete(*number)) parts.push_back(*number);
    }
    std::ranges::sort(parts);
    return parts;
}

void PartsFolder::write_sums(std::uint64_t number, std::string_view sums, bool durable) const {
    write_text(file(number, sums_ending), std::string(sums) + trailer_of(sums), durable);
}

std::string PartsFolder::read_sums(std::uint64_t number) const {
    const std::string name = file(number, sums_ending);
    std::string text = read_text(name);
    const std::size_t end = text.empty() ? std::string::npos : text.rfind('\n', text.size() - 2);
    const std::string_view sums = std::string_view(text).substr(0, std::min(end, text.size()));
    if (end == std::string::npos || text.substr(end) != trailer_of(sums))
        throw FileError(fmt::format("{}: is not as it was written", name));
    text.resize(end);
    return text;
}

std::error_code PartsFolder::remove() const {
    // The command comes last: without it the rest would be no folder of parts.
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder_, error))
        if (entry.path().filename() != command_file) std::filesystem::remove_all(entry.path(), error);
    std::filesystem::remove_all(folder_, error);
    return error;
}

}  // namespace phy::apps

#include "mpi/parts_folder.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/number.hpp"
#include "phy/core/digest.hpp"
#include "phy/core/error.hpp"
#include "phy/core/version.hpp"
#include "phy/machine/atomic_file.hpp"
#include "phy/mpi/ranks.hpp"

namespace phy::apps {
namespace {

constexpr std::string_view sums_ending = ".sums";
constexpr std::string_view rows_ending = ".h5";
constexpr std::string_view command_file = "command";
constexpr std::string_view lock_file = "lock";

/// Begins the file of the command.
constexpr std::string_view kind = "parts of ";

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

void create_folder(const std::filesystem::path& folder) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) throw FileError(fmt::format("{}: cannot be created: {}", folder.string(), error.message()));
}

bool is_unfinished(const std::filesystem::path& file) {
    return file.filename().string().starts_with(".phy-");
}

/// True for a folder that a run made which was killed at once.
bool is_unused(const std::filesystem::path& folder) {
    const std::filesystem::directory_iterator files(folder);
    return std::all_of(begin(files), end(files), [](const std::filesystem::directory_entry& file) {
        return is_unfinished(file.path()) || file.path().filename() == lock_file;
    });
}

/// True for files that a PartsFolder makes.
bool is_own(const std::filesystem::path& file) {
    const std::string name = file.filename().string();
    if (name == lock_file || name == "survey.json" || is_unfinished(file)) return true;
    const auto is_digit = [](char character) { return character >= '0' && character <= '9'; };
    return (file.extension() == sums_ending || file.extension() == rows_ending) &&
           std::ranges::all_of(file.stem().string(), is_digit);
}

/// Size and time.
std::string stamp_of(const std::filesystem::path& file) {
    return fmt::format("{} {}", std::filesystem::file_size(file),
                       std::filesystem::last_write_time(file).time_since_epoch().count());
}

/// True unless the file of an open descriptor has been removed.
bool is_there(int descriptor, const std::filesystem::path& file) {
    struct stat opened {};
    struct stat named {};
    return fstat(descriptor, &opened) == 0 && stat(file.c_str(), &named) == 0 &&
           opened.st_ino == named.st_ino;
}

}  // namespace

std::string origin_of(const std::string& command, std::span<const std::filesystem::path> files) {
    const char* const program = "/proc/self/exe";
    std::string text = fmt::format("{}{}\nphy {} {}\n", kind, command, version,
                                   std::filesystem::exists(program) ? stamp_of(program) : "");
    for (const std::filesystem::path& file : files)
        text += fmt::format("{} {}\n", std::filesystem::absolute(file).string(), stamp_of(file));
    return text;
}

PartsFolder::Lock::~Lock() {
    if (descriptor_ >= 0) close(descriptor_);
}

bool PartsFolder::Lock::try_to_take(const std::filesystem::path& file) {
    if (descriptor_ >= 0) close(descriptor_);
    descriptor_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor_ < 0) return true;  // Writing will fail too.
    if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) return errno != EWOULDBLOCK;
    return is_there(descriptor_, file);
}

void PartsFolder::Lock::take(const std::filesystem::path& file) {
    constexpr int most = 50;
    for (int tries = 0; !try_to_take(file); ++tries) {
        if (tries == most)
            throw FileError(fmt::format("{}: another run uses this folder: wait for it, or name another one",
                                        file.parent_path().string()));
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        create_folder(file.parent_path());
    }
}

void PartsFolder::use(const std::string& origin) {
    origin_ = digest_of(std::as_bytes(std::span(origin)));
}

/// Behind the bytes: a line with their number, and the digest of the origin and of them.
std::string PartsFolder::trailer_of(std::string_view sums) const {
    return fmt::format("\n{} {:016x}\n", sums.size(), digest_of(std::as_bytes(std::span(sums)), origin_));
}

std::string PartsFolder::file(std::uint64_t number, std::string_view ending) const {
    return (folder_ / fmt::format("{:012}{}", number, ending)).string();
}

void PartsFolder::open(const std::string& origin) {
    use(origin);
    const std::filesystem::path file = folder_ / command_file;
    std::error_code error;
    const bool has_command = std::filesystem::exists(file, error);
    if (has_command ? !read_text(file).starts_with(kind)
                    : std::filesystem::exists(folder_, error) && !is_unused(folder_))
        throw FileError(fmt::format("{}: exists, and is not a parts folder: remove it, or name another one",
                                    folder_.string()));
    create_folder(folder_);
    lock_.take(folder_ / lock_file);
    if (!std::filesystem::exists(file, error)) return write_text(file, origin, true);
    const std::string before = read_text(file);
    if (before == origin) return;
    PartsFolder of_other(folder_.string(), has_rows_);
    of_other.use(before);
    if (!of_other.complete_parts().empty())
        throw FileError(fmt::format(
            "{}: has {}\"{}\", which is another command, or its program, capture or link has changed since. "
            "Give that command again, or remove the folder",
            folder_.string(), kind, before.substr(kind.size(), before.find('\n') - kind.size())));
    std::filesystem::remove(survey_file(), error);
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
    std::vector<std::filesystem::path> files;
    for (std::filesystem::directory_iterator entry(folder_, error), end; !error && entry != end;
         entry.increment(error))
        if (is_own(entry->path())) files.push_back(entry->path());
    files.push_back(folder_ / command_file);
    for (const std::filesystem::path& file : files)
        if (!error) std::filesystem::remove(file, error);
    if (!error) std::filesystem::remove(folder_, error);
    return error;
}

void open_on_all_ranks(MPI_Comm comm, PartsFolder& folder, const std::function<std::string()>& origin) {
    folder.use(mpi::from_first_rank(comm, [&] {
        std::string text = origin();
        folder.open(text);
        return text;
    }));
}

}  // namespace phy::apps

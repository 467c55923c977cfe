#include "phy/machine/atomic_file.hpp"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <utility>

#include "phy/core/file_error.hpp"

namespace phy {
namespace {

namespace fs = std::filesystem;
using detail::file_error;
using detail::system_error_text;

/// Slots are never freed: a signal handler may read a path while its owner is destroyed.
struct Slot {
    enum class State { free, taken, listed };

    std::atomic<State> state = State::free;
    std::array<char, PATH_MAX> path{};
};
static_assert(std::atomic<Slot::State>::is_always_lock_free, "a signal handler must not wait");

std::array<Slot, 64> slots;

/// An entry in the table of files that remove_unfinished_outputs() deletes.
class UnfinishedFile {
public:
    /// name: how errors name the file. Throws FileError if the path is too long or the table is full.
    UnfinishedFile(const fs::path& path, std::string_view name);
    ~UnfinishedFile() { slots[slot_].state = Slot::State::free; }
    UnfinishedFile(const UnfinishedFile&) = delete;
    UnfinishedFile& operator=(const UnfinishedFile&) = delete;

private:
    std::size_t slot_ = 0;
};

UnfinishedFile::UnfinishedFile(const fs::path& path, std::string_view name) {
    if (path.native().size() >= PATH_MAX) throw file_error(name, "path too long");
    for (; slot_ < slots.size(); ++slot_) {
        Slot& slot = slots[slot_];
        auto expected = Slot::State::free;
        if (!slot.state.compare_exchange_strong(expected, Slot::State::taken)) continue;
        std::memcpy(slot.path.data(), path.c_str(), path.native().size() + 1);
        slot.state = Slot::State::listed;
        return;
    }
    throw file_error(name, "cannot be written: " + std::to_string(slots.size()) +
                               " other outputs are being written, which is the maximum");
}

class Descriptor {
public:
    explicit Descriptor(int number = -1) : number_(number) {}
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&&) = delete;

    [[nodiscard]] int number() const { return number_; }

private:
    int number_;
};

/// The target of a name. Follows symbolic links itself, because the last one may point to a missing file.
fs::path follow_links(fs::path file, const std::string& name) {
    constexpr int max_links = 40;  // the kernel's own limit
    for (int i = 0; i <= max_links; ++i) {
        struct stat status {};
        const bool is_there = ::lstat(file.c_str(), &status) == 0;
        if (!is_there && errno != ENOENT && errno != ENOTDIR)
            throw file_error(name, "cannot be created: " + system_error_text());
        if (!is_there || !S_ISLNK(status.st_mode)) return file;
        std::error_code error;
        const fs::path link = fs::read_symlink(file, error);
        if (error) throw file_error(name, "cannot be created: " + error.message());
        file = link.is_absolute() ? link : file.parent_path() / link;
    }
    throw file_error(name, "cannot be created: too many symbolic links");
}

/// The absolute path of a file, without symbolic links.
fs::path target_of(const fs::path& file, const std::string& name) {
    const fs::path end = follow_links(file, name);
    const fs::path last = end.filename();
    if (last.empty() || last == "." || last == "..")
        throw file_error(name, "is a directory, expected the name of a file");
    std::error_code error;
    const fs::path folder = fs::canonical(end.has_parent_path() ? end.parent_path() : ".", error);
    if (error || !fs::is_directory(folder)) throw file_error(name, "cannot be created: no such directory");
    return folder / last;
}

void require_replaceable(const fs::path& target, bool overwrite, const std::string& name) {
    struct stat status {};
    if (::lstat(target.c_str(), &status) != 0) {
        if (errno == ENOENT) return;
        throw file_error(name, "cannot be created: " + system_error_text());
    }
    if (S_ISDIR(status.st_mode)) throw file_error(name, "is a directory, expected the name of a file");
    if (!S_ISREG(status.st_mode))
        throw file_error(name, "is not a regular file, expected the name of a file");
    if (!overwrite) throw file_error(name, "exists and is not overwritten");
}

/// Short: the target's own name may already have the maximum length.
fs::path temporary_name() {
    std::random_device random;
    const std::uint64_t number = (std::uint64_t{random()} << 32) | random();
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), ".phy-%016llx.part", static_cast<unsigned long long>(number));
    return text.data();
}

Descriptor create(const fs::path& file, const std::string& name) {
    const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    if (descriptor < 0) throw file_error(name, "cannot be created: " + system_error_text());
    return Descriptor(descriptor);
}

Descriptor open_folder(const fs::path& folder, const std::string& name) {
    const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) throw file_error(name, "its folder cannot be opened: " + system_error_text());
    return Descriptor(descriptor);
}

bool is_not_offered(int error) {
    return error == EINVAL || error == ENOSYS || error == EPERM || error == EOPNOTSUPP;
}

/// Fails with EEXIST if the target exists.
bool rename_no_replace(const fs::path& from, const fs::path& to) {
#ifdef RENAME_NOREPLACE
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
    if (!is_not_offered(errno)) return false;
#endif
    if (::link(from.c_str(), to.c_str()) == 0) {
        ::unlink(from.c_str());
        return true;
    }
    if (!is_not_offered(errno)) return false;
    if (::access(to.c_str(), F_OK) == 0) {
        errno = EEXIST;
        return false;
    }
    return std::rename(from.c_str(), to.c_str()) == 0;
}

void synchronize(const Descriptor& file, const std::string& name, const char* what) {
    if (::fsync(file.number()) != 0)
        throw file_error(name, std::string(what) + " cannot be made durable: " + system_error_text());
}

}  // namespace

struct PHY_HIDDEN AtomicFile::Impl {
    Impl(const fs::path& file, const Config& wanted)
        : name(file.string()),
          target(target_of(file, name)),
          config(wanted),
          temporary(
              (require_replaceable(target, config.overwrite, name), target.parent_path() / temporary_name())),
          listed(temporary, name),
          folder(config.durable ? open_folder(target.parent_path(), name) : Descriptor()),
          bytes(create(temporary, name)) {}

    ~Impl() {
        if (!committed) ::unlink(temporary.c_str());
    }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    std::string name;
    fs::path target;
    Config config;
    fs::path temporary;
    UnfinishedFile listed;
    Descriptor folder;
    Descriptor bytes;
    bool committed = false;
};

AtomicFile::AtomicFile(const fs::path& file, const Config& config)
    : impl_(std::make_unique<Impl>(file, config)) {}

const std::string& AtomicFile::name() const {
    return impl_->name;
}

const fs::path& AtomicFile::path() const {
    return impl_->temporary;
}

void AtomicFile::append(std::string_view bytes) {
    const Impl& file = *impl_;
    while (!bytes.empty()) {
        const ssize_t done = ::write(file.bytes.number(), bytes.data(), bytes.size());
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) throw file_error(file.name, "cannot be written: " + system_error_text());
        bytes.remove_prefix(static_cast<std::size_t>(done));
    }
}

void AtomicFile::commit() {
    Impl& file = *impl_;
    if (file.committed) throw ArgumentError(file.name + ": is already committed");
    if (file.config.durable) synchronize(file.bytes, file.name, "it");
    file.committed = file.config.overwrite ? std::rename(file.temporary.c_str(), file.target.c_str()) == 0
                                           : rename_no_replace(file.temporary, file.target);
    if (!file.committed)
        throw file_error(file.name, errno == EEXIST ? "exists and is not overwritten"
                                                    : "cannot be given its name: " + system_error_text());
    if (file.config.durable) synchronize(file.folder, file.name, "its name");
}

bool is_same_file(const fs::path& one, const fs::path& other) {
    std::error_code not_there;
    if (fs::equivalent(one, other, not_there)) return true;
    try {
        return target_of(one, one.string()) == target_of(other, other.string());
    } catch (const FileError&) {
        return false;
    }
}

void remove_unfinished_outputs() noexcept {
    const int saved_errno = errno;
    for (const Slot& slot : slots) {
        if (slot.state == Slot::State::listed) ::unlink(slot.path.data());
    }
    errno = saved_errno;
}

}  // namespace phy

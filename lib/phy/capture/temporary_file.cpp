#include "phy/capture/temporary_file.hpp"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <random>

#include "phy/capture/capture.hpp"
#include "phy/capture/handle.hpp"

namespace phy::hdf5 {

namespace {

namespace fs = std::filesystem;

/// The characters stay in place for ever: a signal handler may read them while their owner goes.
struct Slot {
    enum class State { free, taken, listed };

    std::atomic<State> state = State::free;
    std::array<char, PATH_MAX> path{};
};
static_assert(std::atomic<Slot::State>::is_always_lock_free, "a signal handler must not wait");

std::array<Slot, 64> slots;

/// The file that a name stands for, independent of the working directory; a link is replaced where it points.
fs::path resolve_target(const fs::path& target) {
    std::error_code ignored;
    const fs::path resolved =
        fs::is_symlink(target, ignored) ? fs::weakly_canonical(target, ignored) : target;
    return fs::absolute(resolved.empty() ? target : resolved, ignored);
}

void require_replaceable(const fs::path& target, bool overwrite, const std::string& name) {
    std::error_code ignored;
    const fs::file_status status = fs::status(target, ignored);
    if (fs::is_directory(status)) throw file_error(name, "is a directory, expected the name of a file");
    if (fs::exists(status) && !fs::is_regular_file(status))
        throw file_error(name, "is not a regular file, expected the name of a file");
    if (fs::exists(status) && !overwrite) throw file_error(name, "exists and is not overwritten");
    if (!fs::is_directory(target.parent_path(), ignored))
        throw file_error(name, "cannot be created: no such directory");
}

/// The hidden name, if the target may be written.
fs::path new_name_beside(const fs::path& target, bool overwrite, const std::string& name) {
    require_replaceable(target, overwrite, name);
    // Leaves room for the rest within the 255 bytes that file systems give a name.
    constexpr std::size_t most = 200;
    std::random_device random;
    const std::string stem = target.filename().string().substr(0, most);
    const std::uint64_t nonce = (std::uint64_t{random()} << 32) | random();
    return target.parent_path() /
           ("." + stem + "." + std::to_string(::getpid()) + "-" + std::to_string(nonce) + ".part");
}

/// Not every file system has hard links; without them a file that appears just now would be replaced.
bool rename_without_links(const fs::path& from, const fs::path& to) {
    if (::access(to.c_str(), F_OK) == 0) {
        errno = EEXIST;
        return false;
    }
    return std::rename(from.c_str(), to.c_str()) == 0;
}

bool rename_no_replace(const fs::path& from, const fs::path& to) {
    if (::link(from.c_str(), to.c_str()) == 0) return ::unlink(from.c_str()) == 0;
    const bool has_links = errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS;
    return !has_links && rename_without_links(from, to);
}

}  // namespace

UnfinishedOutput::UnfinishedOutput(const fs::path& path, std::string_view name) : slot_(0) {
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
                               " other outputs are being written, which is the most");
}

UnfinishedOutput::~UnfinishedOutput() {
    slots[slot_].state = Slot::State::free;
}

TemporaryFile::TemporaryFile(const fs::path& target, bool overwrite)
    : name_(target.string()),
      target_(resolve_target(target)),
      path_(new_name_beside(target_, overwrite, name_)),
      overwrite_(overwrite),
      listed_(path_, name_),
      bytes_(path_, O_RDWR | O_CREAT | O_EXCL, 0666, name_) {}

TemporaryFile::~TemporaryFile() {
    // After publish() there is nothing of this name.
    ::unlink(path_.c_str());
}

void TemporaryFile::publish() {
    const bool done =
        overwrite_ ? std::rename(path_.c_str(), target_.c_str()) == 0 : rename_no_replace(path_, target_);
    if (done) return;
    throw file_error(name_, errno == EEXIST ? "exists and is not overwritten"
                                            : "cannot be given its name: " + system_error_text());
}

}  // namespace phy::hdf5

namespace phy {

void remove_unfinished_outputs() noexcept {
    using hdf5::Slot;
    const int saved_errno = errno;
    for (const Slot& slot : hdf5::slots) {
        if (slot.state == Slot::State::listed) ::unlink(slot.path.data());
    }
    errno = saved_errno;
}

}  // namespace phy

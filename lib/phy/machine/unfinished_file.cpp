#include "phy/machine/unfinished_file.hpp"

#include <limits.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>

#include "phy/core/file_error.hpp"
#include "phy/machine/atomic_file.hpp"

namespace phy {
namespace {

/// The characters stay in place for ever: a signal handler may read them while their owner goes.
struct Slot {
    enum class State { free, taken, listed };

    std::atomic<State> state = State::free;
    std::array<char, PATH_MAX> path{};
};
static_assert(std::atomic<Slot::State>::is_always_lock_free, "a signal handler must not wait");

std::array<Slot, 64> slots;

}  // namespace

namespace detail {

UnfinishedFile::UnfinishedFile(const std::filesystem::path& path, std::string_view name) {
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

UnfinishedFile::~UnfinishedFile() {
    slots[slot_].state = Slot::State::free;
}

}  // namespace detail

void remove_unfinished_outputs() noexcept {
    const int saved_errno = errno;
    for (const Slot& slot : slots) {
        if (slot.state == Slot::State::listed) ::unlink(slot.path.data());
    }
    errno = saved_errno;
}

}  // namespace phy

#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "phy/core/error.hpp"

namespace phy::detail {

/// A string as a template argument.
template <std::size_t size>
struct ClassName {
    constexpr ClassName(const char (&name)[size]) { std::copy_n(name, size, text); }

    char text[size] = {};
};

[[noreturn, gnu::cold, gnu::noinline]] inline void throw_moved_from(const char* name) {
    throw ArgumentError(std::string(name) + " was moved from: expected the one that it was moved to");
}

/// The implementation pointer of a movable class. The pointer inside is not shared: std::shared_ptr knows how
/// to delete a type that is incomplete elsewhere, so that the class needs no destructor and no move
/// operations of its own. Dereferencing after a move throws ArgumentError, which names the class. Moved-from
/// objects can be moved, assigned and destroyed.
template <class Inside, ClassName name>
class Owned {
public:
    Owned() = default;
    explicit Owned(Inside* inside) : inside_(inside) {}
    template <class Deleter>
    Owned(Inside* inside, Deleter deleter) : inside_(inside, std::move(deleter)) {}
    Owned(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}
    Owned(Owned&&) noexcept = default;
    Owned& operator=(Owned&&) noexcept = default;
    /// Not inlined: g++ 12 warns of uninitialised memory where std::optional destroys what it inlined.
    [[gnu::noinline]] ~Owned() {}  // NOLINT(modernize-use-equals-default)

    void reset(Inside* inside) { inside_.reset(inside); }

    [[nodiscard]] Inside* get() const {
        if (!inside_) [[unlikely]]
            throw_moved_from(name.text);
        return inside_.get();
    }
    Inside* operator->() const { return get(); }
    Inside& operator*() const { return *get(); }

private:
    std::shared_ptr<Inside> inside_;
};

}  // namespace phy::detail

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

/// Deletes what was complete where the pointer was made.
template <class Inside>
struct DeleteComplete {
    void (*function)(Inside*) = nullptr;

    void operator()(Inside* inside) const { function(inside); }
};

/// The implementation pointer of a movable class. It may point to an incomplete type, and a class that has it
/// needs no destructor and no move operations of its own. Dereferencing it after a move throws ArgumentError,
/// which names the class. Moved-from objects can be moved, assigned and destroyed.
template <class Inside, ClassName name, class Deleter = DeleteComplete<Inside>>
class Owned {
public:
    using Pointer = std::unique_ptr<Inside, Deleter>;

    Owned() = default;
    explicit Owned(Inside* inside) : inside_(inside, Deleter{[](Inside* complete) { delete complete; }}) {}
    Owned(std::unique_ptr<Inside> inside) : Owned(inside.release()) {}
    Owned(Pointer inside) : inside_(std::move(inside)) {}

    void reset(Inside* inside) { *this = Owned(inside); }

    [[nodiscard]] Inside* get() const {
        if (!inside_) [[unlikely]]
            throw_moved_from(name.text);
        return inside_.get();
    }
    Inside* operator->() const { return get(); }
    Inside& operator*() const { return *get(); }

private:
    Pointer inside_;
};

}  // namespace phy::detail

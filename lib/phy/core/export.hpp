#pragma once

#if __cplusplus < 202002L
// A missing file ends the compilation, where #error would go on to a thousand errors of C++20.
#include "phy needs C++20: compile with -std=c++20"
#endif

/// PHY_EXPORT marks the classes, functions and exceptions of the public headers. The libraries are compiled
/// with hidden visibility, so a shared library exports nothing else. Templates, inline functions and
/// enumerations do not need it. Names in phy::detail have it only if inline public code calls them.
#define PHY_EXPORT __attribute__((visibility("default")))

/// PHY_HIDDEN hides a part of an exported class: the definition of its Impl.
#define PHY_HIDDEN __attribute__((visibility("hidden")))

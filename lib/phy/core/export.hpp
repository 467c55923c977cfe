#pragma once

/// PHY_EXPORT marks the classes, functions and exceptions of the public headers. The libraries are compiled
/// with hidden visibility, so a shared library exports nothing else. Templates, inline functions and
/// enumerations do not need it. Names in phy::detail have it only if inline public code calls them.
#define PHY_EXPORT __attribute__((visibility("default")))

/// PHY_HIDDEN hides a part of an exported class: the definition of its Impl.
#define PHY_HIDDEN __attribute__((visibility("hidden")))

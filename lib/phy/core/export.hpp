#pragma once

/// PHY_EXPORT stands at every class, function and exception of phy's public headers that a program may name:
/// the libraries are compiled with hidden visibility, so that a shared one shows nothing else. Templates,
/// inline functions and enumerations need it not, and what is in phy::detail has it only where inline public
/// code calls it.
#define PHY_EXPORT __attribute__((visibility("default")))

/// PHY_HIDDEN takes it from a part of an exported class: the definition of its Impl.
#define PHY_HIDDEN __attribute__((visibility("hidden")))

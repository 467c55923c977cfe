#pragma once

#include <stdexcept>

#include "phy/core/export.hpp"

namespace phy {

/// Base of every exception that phy throws. what() is one line: the thing at fault, and the expected value.
class PHY_EXPORT Error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// An argument or a combination of arguments is invalid.
class PHY_EXPORT ArgumentError : public Error {
public:
    using Error::Error;
};

/// The requested backend or device is not built in or does not run on this machine.
class PHY_EXPORT BackendError : public Error {
public:
    using Error::Error;
};

/// A file is missing, damaged, of the wrong kind, or cannot be written.
class PHY_EXPORT FileError : public Error {
public:
    using Error::Error;
};

}  // namespace phy

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace phy::detail {

/// A value as Python writes it: what stands in the header of a .npy file.
struct PythonLiteral {
    enum class Kind { text, whole, boolean, none, list, tuple, dictionary };

    Kind kind = Kind::none;
    std::string text = {};                                            ///< of a string
    std::uint64_t whole = 0;                                          ///< not negative
    bool boolean = false;                                             ///< of True and False
    std::vector<PythonLiteral> items = {};                            ///< of a list or a tuple
    std::vector<std::pair<std::string, PythonLiteral>> entries = {};  ///< of a dictionary

    /// The value of a key of a dictionary; null without it.
    [[nodiscard]] const PythonLiteral* find(std::string_view key) const;
};

/// Strings have no escapes, keys are strings, numbers are whole. Empty for anything else.
std::optional<PythonLiteral> parse_python_literal(std::string_view text);

}  // namespace phy::detail

#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "phy/core/error.hpp"

namespace phy::apps {

/// The text of a survey's file. If there is none, make() makes the text, and it is written. Throws FileError
/// for a file that cannot be read or written.
std::string survey_of(const std::string& file, const std::function<std::string()>& make, bool durable);

/// Returns work(). Errors of a survey name its file.
template <typename Work>
auto with_survey_errors(const std::string& file, Work work) {
    try {
        return work();
    } catch (const ArgumentError& error) {
        const std::string_view text = error.what();
        if (!text.starts_with("survey: ")) throw;
        throw FileError(fmt::format("{}: {}; remove it or name another file", file, text.substr(8)));
    }
}

}  // namespace phy::apps

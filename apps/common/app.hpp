#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/program_options.hpp>

#include "common/interrupt.hpp"
#include "common/json.hpp"
#include "phy/core/error.hpp"

/// What all apps do alike: command line, exit status, errors, results.
namespace phy::apps {

namespace po = boost::program_options;

/// Options that every app has, besides --help, --version and --log-level.
struct CommonOptions {
    bool quiet = false;
    bool json = false;
};

/// The one argument of an app that is no option.
struct Operand {
    std::string name;
    std::string* value;
};

/// An app: what it says about itself, what it takes and what it does.
struct App {
    std::string name;
    std::string summary;
    std::optional<Operand> operand;
    po::options_description options{"Options"};

    /// Runs with the options in place and signals handled; an exception becomes the exit status.
    std::function<void(const CommonOptions&)> body;
};

/// What a command line says beside the options of the app, which have their values.
struct CommandLine {
    CommonOptions common;
    std::string log_level = "warning";
    std::string to_print;  ///< if not empty, help or the version, in place of all else
};

/// Throws ArgumentError and po::error, and what the app's own options throw.
CommandLine read_command_line(const App& app, int argc, const char* const* argv);

/// All of main(): reads the command line, runs the app and returns the exit status. An error is one line on
/// stderr. phy::ArgumentError counts as wrong usage.
int run_app(const App& app, int argc, const char* const* argv);

/// Prints the result on stdout: as JSON, or as text unless quiet. Throws FileError if stdout cannot take it.
void print_result(const CommonOptions& options, const Json& json, std::string_view text);

/// Throws FileError, which tells of --force, if the output is a file that must not be overwritten. The
/// writers check this too, but know nothing of the option.
void require_force_if_exists(const std::string& output, bool force);

/// Throws ArgumentError, "file: what", if both names lead to one file; an empty name leads to none.
void require_other_file(const std::string& file, const std::string& other, const char* what);

/// Reads all of text as a number.
template <typename T>
std::optional<T> parse_number(std::string_view text) {
    T value{};
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, value);
    return error == std::errc() && stopped == end ? std::optional(value) : std::nullopt;
}

/// The value of a numeric option. Unlike the bare type it takes no sign where there is none to take, and an
/// error says what was expected.
template <typename T>
struct Number {
    T value{};
};

/// Called by Boost.Program_options to parse a Number.
template <typename T>
void validate(boost::any& result, const std::vector<std::string>& texts, Number<T>* /*type*/,
              int /*unused*/) {
    po::validators::check_first_occurrence(result);
    const std::string& text = po::validators::get_single_string(texts);
    const std::optional<T> value = parse_number<T>(text);
    if (!value) {
        constexpr const char* kind = std::floating_point<T>      ? "number"
                                     : std::unsigned_integral<T> ? "whole number from 0 on"
                                                                 : "whole number";
        po::error_with_option_name error(std::string("%canonical_option%: expected a ") + kind +
                                         ", not '%value%'");
        error.set_substitute("value", text);
        throw error;
    }
    result = Number<T>{*value};
}

/// An option whose value is a number; target is a number or an optional one.
template <typename T, typename Target>
auto* number(Target& target, const char* value_name) {
    return po::value<Number<T>>()->value_name(value_name)->notifier([&target](Number<T> number) {
        target = number.value;
    });
}

/// What is between the commas of a list, be it nothing.
std::vector<std::string> split(const std::string& list);

/// An option whose value parse() turns into what target holds.
template <typename Target, typename Parse>
auto* parsed(Target& target, Parse parse, const char* value_name) {
    return po::value<std::string>()
        ->value_name(value_name)
        ->notifier([&target, parse](const std::string& text) { target = parse(text); });
}

/// What a number may be, and how that is said.
template <typename T>
struct Range {
    T least{};
    T most{};
    const char* expected = "";
};

inline constexpr Range<std::uint64_t> from_one_on = {1, std::numeric_limits<std::uint64_t>::max(),
                                                     "a whole number from 1 on"};

/// An option whose value is a number of a range; an error shows the number as it was typed.
template <typename T, typename Target>
auto* number_within(Target& target, const char* option, const char* value_name, const Range<T>& range) {
    const auto parse = [option, range](const std::string& text) {
        const std::optional<T> value = parse_number<T>(text);
        // So that NaN is outside.
        if (!value || !(*value >= range.least && *value <= range.most))
            throw ArgumentError(std::string(option) + " " + text + ": expected " + range.expected);
        return *value;
    };
    return parsed(target, parse, value_name);
}

/// The value of an option that is taken as it is, but for the empty one: a script whose variable is unset
/// means something else than the option's default.
struct Text {
    std::string value;
};

/// Called by Boost.Program_options to parse a Text.
void validate(boost::any& result, const std::vector<std::string>& texts, Text* type, int unused);

/// An option whose value is taken as it is.
inline auto* text(std::string& target, const char* value_name) {
    return po::value<Text>()->value_name(value_name)->notifier([&target](const Text& text) {
        target = text.value;
    });
}

/// An option without a value.
inline auto* flag(bool& target) {
    return po::bool_switch(&target);
}

}  // namespace phy::apps

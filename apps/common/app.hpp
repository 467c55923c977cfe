#pragma once

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
#include "common/number.hpp"
#include "phy/core/error.hpp"

/// Common parts of all apps: command line, exit status, errors, results.
namespace phy::apps {

namespace po = boost::program_options;

/// Options that every app has, besides --help, --version and --log-level.
struct CommonOptions {
    bool quiet = false;
    bool json = false;
};

/// The positional argument of an app, and further ones if it takes them.
struct Operand {
    std::string name;
    std::string* value;
    std::vector<std::string>* more = nullptr;
};

/// A command that a user may type, and what it is for.
struct Example {
    const char* command;
    const char* meaning;
};

/// An app: its description, its arguments and its work.
struct App {
    std::string name;
    std::string summary;
    std::vector<Example> examples;
    std::optional<Operand> operand;
    po::options_description options{"Options"};

    /// If an option sets this text, it is printed, the operand may be missing, and body is not called.
    const std::string* printed = nullptr;

    /// Called with options parsed and signals handled. An exception becomes the exit status.
    std::function<void(const CommonOptions&)> body;
};

/// The rest of a command line; the app's options are stored in their targets.
struct CommandLine {
    CommonOptions common;
    std::string log_level = "warning";
    std::string to_print;  ///< help, version or App::printed; if not empty, nothing else runs
};

/// Throws ArgumentError, po::error, and what the app's own options throw.
CommandLine read_command_line(const App& app, int argc, const char* const* argv);

/// All of main(): reads the command line, runs the app and returns the exit status. An error is one line on
/// stderr. phy::ArgumentError counts as usage error.
int run_app(const App& app, int argc, const char* const* argv);

/// Prints the result on stdout: as JSON, or as text unless quiet. Throws FileError if stdout cannot take it.
void print_result(const CommonOptions& options, const Json& json, std::string_view text);

/// Throws FileError, which mentions --force, if the output exists and must not be overwritten. The writers
/// check this too, but cannot name the option.
void require_force_if_exists(const std::string& output, bool force);

/// Throws ArgumentError, "file: what", if both names are the same file. An empty name is no file.
void require_other_file(const std::string& file, const std::string& other, const char* what);

/// The value of a numeric option. Unlike the bare type it takes no sign for unsigned numbers, and its errors
/// say what was expected.
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

/// An option whose value is a number. target: a number or an optional.
template <typename T, typename Target>
auto* number(Target& target, const char* value_name) {
    return po::value<Number<T>>()->value_name(value_name)->notifier([&target](Number<T> number) {
        target = number.value;
    });
}

/// The elements of a comma-separated list, which may be empty.
std::vector<std::string> split(const std::string& list);

/// An option whose value is converted by parse().
template <typename Target, typename Parse>
auto* parsed(Target& target, Parse parse, const char* value_name) {
    return po::value<std::string>()
        ->value_name(value_name)
        ->notifier([&target, parse](const std::string& text) { target = parse(text); });
}

/// A range of numbers and its description.
template <typename T>
struct Range {
    T least{};
    T most{};
    const char* expected = "";
};

inline constexpr Range<std::uint64_t> from_one_on = {1, std::numeric_limits<std::uint64_t>::max(),
                                                     "a whole number from 1 on"};

/// An option whose value is a number in a range. An error shows the number as typed.
template <typename T, typename Target>
auto* number_within(Target& target, const char* option, const char* value_name, const Range<T>& range) {
    const auto parse = [option, range](const std::string& text) {
        const std::optional<T> value = parse_number<T>(text);
        // Written so that NaN is outside.
        if (!value || !(*value >= range.least && *value <= range.most))
            throw ArgumentError(std::string(option) + " " + text + ": expected " + range.expected);
        return *value;
    };
    return parsed(target, parse, value_name);
}

/// The value of a text option. Empty text is an error: it is usually an unset variable in a script, not a
/// request for the default.
struct Text {
    std::string value;
};

/// Called by Boost.Program_options to parse a Text.
void validate(boost::any& result, const std::vector<std::string>& texts, Text* type, int unused);

/// An option whose value is text.
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

#include "common/app.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "common/help.hpp"
#include "phy/core/backend.hpp"
#include "phy/core/error.hpp"
#include "phy/core/similar_names.hpp"
#include "phy/core/version.hpp"
#include "phy/machine/atomic_file.hpp"

namespace phy::apps {
namespace {

// No guessing: taking --out for --output would break scripts when an option is added.
constexpr int command_line_style =
    po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;

/// Raised when a key of --json changes its meaning or its unit, or goes.
constexpr int schema_version = 1;

spdlog::level::level_enum parse_log_level(const std::string& name) {
    const auto level = spdlog::level::from_str(name);
    if (level == spdlog::level::off && name != "off")
        throw ArgumentError(fmt::format(
            "unknown log level '{}': expected trace, debug, info, warning, error, critical or off", name));
    return level;
}

/// If a standard stream is closed, a file that is opened later would get its number and receive what is
/// printed. This puts an unusable file there instead, so that printing still fails.
void fill_standard_descriptors() {
    for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (fcntl(descriptor, F_GETFD) >= 0) continue;
        const int filled = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
        // open() takes the lowest free number, and all numbers below are open.
        if (filled != descriptor) std::_Exit(exit_failed);
    }
}

void print_on_stdout(std::string_view text) {
    errno = 0;
    const bool complete = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    if (!complete || std::fflush(stdout) != 0)
        throw FileError(fmt::format("standard output cannot be written: {}", std::strerror(errno)));
}

/// Keeps an error on one line, whatever file names it contains.
std::string one_line(std::string text) {
    for (char& character : text) {
        if (static_cast<unsigned char>(character) < 0x20) character = '?';
    }
    return text;
}

/// Reports the current exception on stderr and returns its exit status.
int report_failure(const std::string& app) {
    const auto report = [&app](const std::string& message, ExitStatus status) {
        std::fputs((app + ": " + one_line(message) + "\n").c_str(), stderr);
        return status;
    };
    try {
        throw;
    } catch (const Interrupted& interrupted) {
        return report(interrupted.what(), exit_interrupted);
    } catch (const BackendError& error) {
        return report(error.what(), exit_no_backend);
    } catch (const ArgumentError& error) {
        return report(error.what(), exit_usage_error);
    } catch (const po::error& error) {
        return report(fmt::format("{}; --help lists the options", error.what()), exit_usage_error);
    } catch (const std::bad_alloc&) {
        return report("out of memory", exit_failed);
    } catch (const std::exception& error) {
        return report(error.what(), exit_failed);
    }
}

/// How an error about an unknown option goes on. typed: as Boost gives it, with a value if "=" is before one.
std::string advice_on(std::string typed, const po::options_description& options) {
    typed.resize(std::min(typed.find('='), typed.size()));
    typed.erase(0, typed.find_first_not_of('-'));
    std::vector<std::string_view> names;
    for (const auto& option : options.options())
        names.push_back(option->long_name());
    std::string meant;
    for (const std::string_view name : detail::similar_names(typed, names))
        meant += fmt::format("{}--{}", meant.empty() ? "" : " or ", name);
    const std::string help = "--help lists the options";
    return meant.empty() ? "; " + help : fmt::format(": did you mean {}? {}", meant, help);
}

/// A --help in another form, for programs that show or use it.
std::string help_as(const std::string& format, const App& app, const po::options_description& options) {
    if (format == "man") return manual_page(app, options);
    if (format == "bash") return bash_completion(app, options);
    throw ArgumentError(fmt::format("--help-as {}: expected man or bash", format));
}

void start_logging(const App& app, const std::string& level, bool quiet) {
    spdlog::set_default_logger(spdlog::stderr_color_mt(app.name));
    spdlog::set_pattern("%n: %^%l%$: %v");
    const auto chosen = parse_log_level(level);
    spdlog::set_level(quiet ? std::max(chosen, spdlog::level::err) : chosen);
}

void run(const App& app, const CommandLine& line) {
    if (!line.to_print.empty()) return print_on_stdout(line.to_print);
    Backend::check_variable();
    start_logging(app, line.log_level, line.common.quiet);
    handle_signals(app.name.c_str());
    app.body(line.common);
}

}  // namespace

CommandLine read_command_line(const App& app, int argc, const char* const* argv) {
    CommandLine line;
    po::options_description visible = app.options;
    visible.add_options()                                                                              //
        ("json", flag(line.common.json), "print the result as one JSON object instead of text")        //
        ("quiet", flag(line.common.quiet), "no progress, log or text report; errors and --json stay")  //
        ("log-level", text(line.log_level, "LEVEL"),
         "lowest level that is logged: trace, debug, info, warning (default), error, critical or off")  //
        ("version", "print the version")                                                                //
        ("help-as", po::value<Text>()->value_name("FORMAT"),
         "print this text as a manual page (man) or as a command that completes options (bash)")  //
        ("help,h", "print this text");

    po::options_description all = visible;
    // Cannot be typed as an option.
    constexpr const char* unexpected = "unexpected arguments";
    std::vector<std::string> extra;
    all.add_options()(unexpected, po::value(&extra));
    po::positional_options_description positional;
    if (app.operand) {
        all.add_options()(app.operand->name.c_str(), po::value<std::string>(app.operand->value));
        positional.add(app.operand->name.c_str(), 1);
    }
    positional.add(unexpected, -1);

    po::variables_map values;
    try {
        po::store(po::command_line_parser(argc, argv)
                      .options(all)
                      .positional(positional)
                      .style(command_line_style)
                      .run(),
                  values);
    } catch (const po::unknown_option& error) {
        throw ArgumentError(error.what() + advice_on(error.get_option_name(), visible));
    }
    if (values.count("help") != 0)
        line.to_print = help_text(app, visible);
    else if (values.count("help-as") != 0)
        line.to_print = help_as(values["help-as"].as<Text>().value, app, visible);
    else if (values.count("version") != 0)
        line.to_print = fmt::format("{} {}\n", app.name, version);
    if (!line.to_print.empty()) return line;
    po::notify(values);
    if (app.operand && app.operand->more) *app.operand->more = std::exchange(extra, {});
    if (!extra.empty())
        throw ArgumentError(fmt::format("unexpected argument '{}': expected {}; --help lists the options",
                                        extra.front(),
                                        app.operand ? "one " + app.operand->name : "options alone"));
    if (app.printed != nullptr) line.to_print = *app.printed;
    if (line.to_print.empty() && app.operand && app.operand->value->empty())
        throw ArgumentError(fmt::format("{} is missing; --help lists the options", app.operand->name));
    return line;
}

int run_app(const App& app, int argc, const char* const* argv) {
    fill_standard_descriptors();
    int status = exit_done;
    try {
        run(app, read_command_line(app, argc, argv));
    } catch (...) {
        status = report_failure(app.name);
    }
    end_of_work();
    return status;
}

std::vector<std::string> split(const std::string& list) {
    std::vector<std::string> parts(1);
    for (const char c : list) {
        if (c == ',') {
            parts.emplace_back();
        } else {
            parts.back() += c;
        }
    }
    return parts;
}

void require_force_if_exists(const std::string& output, bool force) {
    std::error_code not_there;
    if (!force && std::filesystem::is_regular_file(output, not_there))
        throw FileError(fmt::format("{}: exists and is not overwritten (--force overwrites it)", output));
}

void require_other_file(const std::string& file, const std::string& other, const char* what) {
    if (!file.empty() && !other.empty() && is_same_file(file, other))
        throw ArgumentError(fmt::format("{}: {}", file, what));
}

void validate(boost::any& result, const std::vector<std::string>& texts, Text* /*type*/, int /*unused*/) {
    po::validators::check_first_occurrence(result);
    const std::string& text = po::validators::get_single_string(texts, true);
    if (text.empty())
        throw po::error_with_option_name("%canonical_option%: expected a value that is not empty");
    result = Text{text};
}

void print_result(const CommonOptions& options, const Json& json, std::string_view text) {
    if (options.json) return print_on_stdout(json.with_first("schema_version", schema_version).text() + "\n");
    if (!options.quiet) print_on_stdout(text);
}

}  // namespace phy::apps

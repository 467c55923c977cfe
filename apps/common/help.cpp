#include "common/help.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "phy/core/version.hpp"

namespace phy::apps {
namespace {

constexpr const char* numbers =
    "Numbers may end with k, M, G or T (powers of 1000) or Ki, Mi, Gi or Ti (of 1024).\n"
    "Whole numbers may have an exponent: 1M, 1e6 and 1000000 are the same.";

constexpr std::array<std::pair<ExitStatus, const char*>, 5> statuses = {
    {{exit_done, "done"},
     {exit_failed, "failed while running"},
     {exit_usage_error, "usage error"},
     {exit_no_backend, "the backend or device that was asked for is unavailable"},
     {exit_interrupted, "interrupted"}}};

constexpr std::array<std::pair<const char*, const char*>, 1> variables = {
    {{"PHY_BACKEND", "backend that \"auto\" takes; default: CUDA, else the fastest of this CPU"}}};

std::string usage(const App& app) {
    return fmt::format("{}{}{} [options]", app.name, app.operand ? " " + app.operand->name : "",
                       app.operand && app.operand->more != nullptr ? "..." : "");
}

/// A summary's lines are those of a terminal; a page has its own.
std::string on_one_line(std::string text) {
    for (char& character : text)
        if (character == '\n') character = ' ';
    return text;
}

/// What the NAME section says after the dash, in lower case as in other pages.
std::string first_sentence(const std::string& text) {
    std::string line = on_one_line(text);
    line.resize(std::min(line.find_first_of(".:"), line.size()));
    line.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(line.front())));
    return line;
}

std::string roff(std::string_view text) {
    std::string escaped;
    for (const char character : text) {
        if (character == '\\') {
            escaped += "\\e";
        } else if (character == '-') {
            escaped += "\\-";
        } else {
            // A period or an apostrophe that begins a line would be a request.
            if (escaped.empty() && (character == '.' || character == '\'')) escaped += "\\&";
            escaped += character;
        }
    }
    return escaped;
}

std::string short_name_of(const po::option_description& option) {
    const std::string name = option.canonical_display_name(po::command_line_style::allow_dash_for_short);
    return name.starts_with('-') ? name : "";
}

std::string roff_option(const po::option_description& option) {
    const std::string short_name = short_name_of(option);
    std::string text = ".TP\n";
    if (!short_name.empty()) text += fmt::format("\\fB{}\\fR, ", roff(short_name));
    text += fmt::format("\\fB{}\\fR", roff("--" + option.long_name()));
    const std::string value = option.format_parameter();
    if (!value.empty()) text += fmt::format(" \\fI{}\\fR", roff(value));
    return text + "\n" + roff(option.description()) + "\n";
}

}  // namespace

std::string help_text(const App& app, const po::options_description& options) {
    std::ostringstream text;
    text << "usage: " << usage(app) << "\n\n" << app.summary << "\n\n" << options << "\n" << numbers << "\n";
    text << "\nExamples:\n";
    for (const Example& example : app.examples)
        text << "  " << example.command << "\n      " << example.meaning << "\n";
    text << "\nExit status:\n";
    for (const auto& [status, meaning] : statuses)
        text << fmt::format("  {:<4} {}\n", static_cast<int>(status), meaning);
    text << "\nEnvironment:\n";
    for (const auto& [name, meaning] : variables)
        text << fmt::format("  {}  {}\n", name, meaning);
    return text.str();
}

std::string manual_page(const App& app, const po::options_description& options) {
    std::string page = fmt::format(".TH {} 1 \"\" \"phy {}\"\n", roff(app.name), version);
    page += fmt::format(".SH NAME\n{} \\- {}\n", roff(app.name), roff(first_sentence(app.summary)));
    page += fmt::format(".SH SYNOPSIS\n{}\n", roff(usage(app)));
    page += fmt::format(".SH DESCRIPTION\n{}\n.PP\n{}\n", roff(on_one_line(app.summary)),
                        roff(on_one_line(numbers)));
    page += ".SH OPTIONS\n";
    for (const auto& option : options.options())
        page += roff_option(*option);
    page += ".SH EXAMPLES\n";
    for (const Example& example : app.examples)
        page += fmt::format(".PP\n{}:\n.PP\n.RS\n.nf\n{}\n.fi\n.RE\n", roff(example.meaning),
                            roff(example.command));
    page += ".SH EXIT STATUS\n";
    for (const auto& [status, meaning] : statuses)
        page += fmt::format(".TP\n{}\n{}\n", static_cast<int>(status), roff(meaning));
    page += ".SH ENVIRONMENT\n";
    for (const auto& [name, meaning] : variables)
        page += fmt::format(".TP\n{}\n{}\n", name, roff(meaning));
    return page;
}

std::string bash_completion(const App& app, const po::options_description& options) {
    std::string words;
    for (const auto& option : options.options()) {
        for (const std::string& name : {short_name_of(*option), "--" + option->long_name()})
            if (!name.empty()) words += (words.empty() ? "" : " ") + name;
    }
    return fmt::format("complete -o bashdefault -o default -W '{}' {}\n", words, app.name);
}

}  // namespace phy::apps

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "common/number.hpp"
#include "support/app_test.hpp"
#include "support/page.hpp"
#include "support/test_files.hpp"

namespace phy::test {
namespace {

using apps::parse_number;

std::vector<std::string> lines_of(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);)
        lines.push_back(line);
    return lines;
}

Arguments words_of(const std::string& line) {
    std::istringstream stream(line);
    return {std::istream_iterator<std::string>(stream), {}};
}

/// Without the escapes of a manual page.
std::string plain(const std::string& page) {
    return std::regex_replace(std::regex_replace(page, std::regex(R"(\\f[BIR]|\\&)"), ""),
                              std::regex(R"(\\-)"), "-");
}

std::set<std::string> options_in(const std::string& text) {
    const std::regex option("(^|[^a-zA-Z0-9-])(--[a-z][a-z-]*)");
    std::set<std::string> options;
    for (std::sregex_iterator each(text.begin(), text.end(), option), end; each != end; ++each)
        options.insert(each->str(2));
    return options;
}

/// The options of a table's first column, with the names of their values.
std::map<std::string, std::string> documented_values(const std::string& text) {
    std::map<std::string, std::string> values;
    for (const PageTable& table : tables_of(text)) {
        if (table.head.front() != "option") continue;
        for (const std::vector<std::string>& row : table.rows) {
            for (const std::string& code : code_of(row.front())) {
                const std::size_t end = std::min(code.find(' '), code.size());
                if (code.starts_with("--"))
                    values[code.substr(0, end)] = code.substr(std::min(end + 1, code.size()));
            }
        }
    }
    return values;
}

/// What docs/cli.md says of several programs.
std::string common_part() {
    const std::string page = read_page("cli.md");
    return page.substr(0, page.find("\n## demod_app\n"));
}

/// The first words of indented lines.
std::set<std::string> first_words(const std::string& text) {
    std::set<std::string> words;
    for (const std::string& line : lines_of(text))
        if (line.starts_with("  ")) words.insert(words_of(line).front());
    return words;
}

/// All pages for users.
std::vector<std::string> pages() {
    std::vector<std::string> names = {"../README.md"};
    for (const auto& file : std::filesystem::directory_iterator(docs_file("")))
        if (file.path().extension() == ".md") names.push_back(file.path().filename());
    return names;
}

class Help : public AppTest {
protected:
    struct Program {
        std::string name;
        std::string path;
    };

    static std::vector<Program> programs() {
        const std::filesystem::path folder = std::filesystem::path(demod_app).parent_path();
        std::vector<Program> all;
        for (const char* const name :
             {"demod_app", "demod_app_mpi", "phy_join", "measure_app", "measure_app_mpi", "capture_gen",
              "link_sim", "link_sim_mpi", "phy_info", "stream_bench", "slot_bench", "ladder"})
            if (std::filesystem::exists(folder / name)) all.push_back({name, folder / name});
        return all;
    }

    /// The options that completion offers.
    static std::set<std::string> options_of(const Program& program) {
        const std::string text = run({program.path, "--help-as", "bash"}).out;
        const std::size_t first = text.find('\'') + 1;
        const Arguments words = words_of(text.substr(first, text.rfind('\'') - first));
        return {words.begin(), words.end()};
    }

    /// What the manual page says of an option.
    struct Described {
        std::string value;
        std::string meaning;
    };

    static std::map<std::string, Described> described_options(const Program& program) {
        const std::string page = run({program.path, "--help-as", "man"}).out;
        const std::size_t first = page.find("\n.SH OPTIONS\n");
        std::map<std::string, Described> options;
        const std::vector<std::string> lines =
            lines_of(plain(page.substr(first, page.find("\n.SH EXAMPLES\n") - first)));
        for (std::size_t i = 0; i + 2 < lines.size(); ++i) {
            std::smatch option;
            const std::string& line = lines[i + 1];
            if (lines[i] == ".TP" && std::regex_match(line, option, std::regex(".*(--[a-z-]+) ?(.*)")))
                options[option[1]] = {option[2], lines[i + 2]};
        }
        return options;
    }

    /// Of docs/cli.md. phy_info and the benchmarks have one together.
    static std::string section_of_program(const Program& program) {
        const std::string page = read_page("cli.md");
        const std::string heading = "## " + program.name;
        if (program.name.ends_with("_mpi"))
            return section_of(page, heading.substr(0, heading.size() - 4)) + section_of(page, heading);
        const bool is_alone = page.find("\n" + heading + "\n") != std::string::npos;
        return section_of(page, is_alone ? heading : "## phy_info and benchmarks");
    }

    static std::vector<Arguments> examples_of(const Program& program) {
        std::vector<Arguments> examples;
        const std::regex command("  ((mpirun|srun) )?" + program.name + "( .*)?");
        for (const std::string& line : lines_of(run({program.path, "--help"}).out))
            if (std::regex_match(line, command)) examples.push_back(words_of(line));
        return examples;
    }
};

TEST_F(Help, HasTwoExamplesOfOptionsThatThereAre) {
    EXPECT_GE(programs().size(), 8U);
    for (const Program& program : programs()) {
        const std::set<std::string> options = options_of(program);
        EXPECT_TRUE(options.contains("--help-as")) << program.name;
        EXPECT_TRUE(options.contains("-h")) << program.name;
        for (const std::string& option : options)
            EXPECT_TRUE(option.starts_with('-')) << program.name << ": " << option;
        const std::vector<Arguments> examples = examples_of(program);
        EXPECT_GE(examples.size(), 2U) << program.name;
        for (const Arguments& example : examples)
            for (const std::string& word : example)
                EXPECT_TRUE(!word.starts_with('-') || options.contains(word)) << program.name << ": " << word;
    }
}

/// In this order, in one folder: the captures that one writes are those that the next reads.
TEST_F(Help, ExamplesRun) {
    std::filesystem::copy_file(data_file("pusch.json"), path("pusch.json"));
    std::size_t count = 0;
    for (const char* const name : {"capture_gen", "demod_app", "measure_app", "phy_info"}) {
        const std::vector<Program> all = programs();
        const auto program = std::ranges::find(all, std::string(name), &Program::name);
        ASSERT_NE(program, all.end());
        for (const Arguments& example : examples_of(*program)) {
            std::string command = "cd '" + path("") + "' && '" + program->path + "'";
            for (std::size_t i = 1; i < example.size(); ++i)
                command += " '" + example[i] + "'";
            const Outcome outcome = run({"sh", "-c", command});
            EXPECT_EQ(outcome.status, 0) << command << ": " << outcome.err;
            ++count;
        }
    }
    EXPECT_EQ(count, 8U);
}

TEST_F(Help, ManualPageHasEveryOption) {
    const std::set<std::string> requests = {".TH", ".SH", ".PP", ".TP", ".RS", ".RE", ".nf", ".fi"};
    for (const Program& program : programs()) {
        const std::string page = run({program.path, "--help-as", "man"}).out;
        EXPECT_TRUE(page.starts_with(".TH ")) << program.name;
        for (const char* const section :
             {"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "EXIT STATUS", "ENVIRONMENT"})
            EXPECT_NE(page.find(std::string(".SH ") + section + "\n"), std::string::npos) << section;
        for (std::string option : options_of(program)) {
            for (std::size_t at = 0; (at = option.find('-', at)) != std::string::npos; at += 2)
                option.insert(at, "\\");
            EXPECT_NE(page.find("\\fB" + option + "\\fR"), std::string::npos)
                << program.name << " " << option;
        }
        for (const std::string& line : lines_of(page))
            EXPECT_TRUE((!line.starts_with('.') && !line.starts_with('\'')) ||
                        requests.contains(line.substr(0, 3)))
                << program.name << ": " << line;
    }
}

TEST_F(Help, DocumentsNameEveryOption) {
    for (const Program& program : programs()) {
        const std::set<std::string> named = options_in(common_part() + section_of_program(program));
        for (const auto& [option, described] : described_options(program))
            EXPECT_TRUE(named.contains(option)) << program.name << " " << option;
    }
}

TEST_F(Help, DocumentsNameNoOtherOption) {
    std::set<std::string> all;
    std::set<std::string> names;
    for (const Program& program : programs()) {
        const std::set<std::string> options = options_of(program);
        all.insert(options.begin(), options.end());
        names.insert(program.name);
        const std::string section = section_of_program(program);
        if (section.find("ladder") != std::string::npos) continue;
        for (const std::string& option : options_in(section))
            EXPECT_TRUE(options.contains(option)) << "docs/cli.md: " << program.name << " " << option;
    }
    // A build without CUDA or MPI lacks a program.
    const bool has_all = names.contains("ladder") && names.contains("demod_app_mpi");
    const std::string page = read_page("cli.md");
    for (const std::string& option : options_in(has_all ? page : common_part()))
        EXPECT_TRUE(all.contains(option)) << "docs/cli.md: " << option;
}

TEST_F(Help, CommandsOfDocumentsHaveOptionsThatExist) {
    const std::regex command("(^|[ /`(])([a-z]+_[a-z]+|ladder) ([^`|;&#\n]*)");
    std::map<std::string, std::set<std::string>> options;
    for (const Program& program : programs())
        options[program.name] = options_of(program);
    std::size_t count = 0;
    for (const std::string& name : pages()) {
        const std::string page = std::regex_replace(read_page(name), std::regex("\\\\\n *"), "");
        for (std::sregex_iterator each(page.begin(), page.end(), command), end; each != end; ++each) {
            if (!options.contains(each->str(2))) continue;
            for (const std::string& option : options_in(each->str(3))) {
                EXPECT_TRUE(options[each->str(2)].contains(option)) << name << ": " << each->str();
                ++count;
            }
        }
    }
    EXPECT_GT(count, 100U);
}

/// What --help calls the value of an option is what the tables of docs/cli.md call it.
TEST_F(Help, DocumentsNameValuesAlike) {
    std::map<std::string, std::set<std::string>> of_all;
    for (const Program& program : programs()) {
        const auto described = described_options(program);
        for (const auto& [option, of_option] : described)
            of_all[option].insert(of_option.value);
        for (const auto& [option, value] : documented_values(section_of_program(program))) {
            if (described.contains(option)) {
                EXPECT_EQ(value, described.at(option).value) << program.name << " " << option;
            }
        }
    }
    for (const auto& [option, value] : documented_values(common_part()))
        EXPECT_TRUE(of_all[option].contains(value)) << option << " " << value;
}

TEST_F(Help, DocumentsNameEveryExitStatusAndVariable) {
    const std::string page = read_page("cli.md");
    std::set<std::string> documented;
    const PageTable statuses_of_page = tables_of(section_of(page, "## Exit statuses")).at(0);
    for (const std::vector<std::string>& row : statuses_of_page.rows)
        documented.insert(row.front());
    for (const Program& program : programs()) {
        const std::string help = run({program.path, "--help"}).out;
        const std::size_t statuses = help.find("\nExit status:\n");
        const std::size_t variables = help.find("\nEnvironment:\n");
        ASSERT_LT(statuses, variables);
        EXPECT_EQ(first_words(help.substr(statuses, variables - statuses)), documented) << program.name;
        for (const std::string& variable : first_words(help.substr(variables)))
            EXPECT_NE(page.find("`" + variable + "`"), std::string::npos) << variable;
    }
}

/// Behind what it is for, the text of an option begins alike in all programs; the plural counts as the
/// singular.
TEST_F(Help, OneOptionIsOneThing) {
    const std::regex scope(
        "^(symbols only|samples and grids( of two layers)?|int8|demap, streams|with --reference sent): ");
    std::map<std::string, std::map<std::string, std::string>> heads;
    for (const Program& program : programs()) {
        for (const auto& [option, of_option] : described_options(program)) {
            std::string head = std::regex_replace(of_option.meaning, scope, "");
            head.resize(std::min(head.find_first_of(",:;("), head.size()));
            head = std::regex_replace(head, std::regex("s\\b| $"), "");
            heads[option].try_emplace(head, program.name);
            EXPECT_EQ(heads[option].size(), 1U)
                << option << " of " << program.name << ": " << head << "; of "
                << heads[option].begin()->second << ": " << heads[option].begin()->first;
        }
    }
}

/// docs/glossary.md has the words to use.
TEST_F(Help, OneThingHasOneWord) {
    const std::vector<std::pair<std::string, std::string>> instead = {
        {"noise variance", "N0"},
        {"sample types?", "sample format"},
        {"workers?|cores?", "CPU threads"},
        {"center", "centre"},
        {"equalizer", "equaliser"},
        {"wrong (bits|blocks|transport blocks)", "bit errors, block errors"},
        {"bits that were sent|sent bits", "transmitted bits"},
        {"pilots?", "DM-RS"}};
    for (const Program& program : programs()) {
        const std::string help =
            std::regex_replace(run({program.path, "--help"}).out, std::regex("\\s+"), " ");
        for (const auto& [word, right] : instead) {
            std::smatch found;
            EXPECT_FALSE(std::regex_search(help, found, std::regex("[ (](" + word + ")[ ,.;:)]")))
                << program.name << ": '" << found.str() << "', expected " << right;
        }
    }
}

TEST_F(Help, BashCompletesOptions) {
    const Outcome outcome =
        run({"bash", "-c",
             "eval \"$('" + demod_app +
                 "' --help-as bash)\"; complete -p demod_app && "
                 "compgen -W \"$(complete -p demod_app | cut -d \"'\" -f 2)\" -- --modul"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_TRUE(outcome.out.ends_with("\n--modulation\n")) << outcome.out;
}

TEST_F(Help, OtherFormsAreErrors) {
    expect_failure({demod_app, "--help-as", "html"}, 2, {"--help-as html", "man or bash"});
}

TEST(NumberTest, SuffixesAndExponents) {
    EXPECT_EQ(parse_number<std::uint64_t>("1M"), 1'000'000U);
    EXPECT_EQ(parse_number<std::uint64_t>("1e6"), 1'000'000U);
    EXPECT_EQ(parse_number<std::uint64_t>("2.5k"), 2500U);
    EXPECT_EQ(parse_number<std::uint64_t>("64Ki"), 65536U);
    EXPECT_EQ(parse_number<std::uint64_t>("1.5Gi"), 3ULL << 29U);
    EXPECT_EQ(parse_number<std::uint64_t>("1200e-2"), 12U);
    EXPECT_EQ(parse_number<std::uint64_t>("18446744073709551615"), 18446744073709551615U);
    EXPECT_EQ(parse_number<std::uint64_t>("1e19"), 10'000'000'000'000'000'000U);
    EXPECT_EQ(parse_number<int>("-3k"), -3000);
    EXPECT_EQ(parse_number<double>("122.88M"), 122.88e6);
    EXPECT_EQ(parse_number<double>("-0.1k"), -0.1e3);
    EXPECT_EQ(parse_number<float>("4Ki"), 4096.0F);
    for (const char* const wrong :
         {"",    "k",     "M1",    "1m",      "1K",    "1ki",   "1kk",
          "1e",  "1e6e",  "0.5",   "1e-1",    "1.2.3", ".",     "-1",
          "+1",  " 1",    "1 M",   "0x10",    "1e20",  "20e18", "18446744073709551616",
          "1Zi", "1e999", "1e+-1", "100e+-2", "1e3k",  "1e3Ki"})
        EXPECT_EQ(parse_number<std::uint64_t>(wrong), std::nullopt) << wrong;
    for (const char* const wrong : {"", "k", "1e3k", "1K", "--1", "1..2M", "infM", "1e3Ki", "1e308Ti", "M"})
        EXPECT_EQ(parse_number<double>(wrong), std::nullopt) << wrong;
    EXPECT_EQ(parse_number<int>("3G"), std::nullopt);
    EXPECT_EQ(parse_number<std::uint8_t>("1k"), std::nullopt);
}

}  // namespace
}  // namespace phy::test

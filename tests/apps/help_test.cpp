#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "common/number.hpp"
#include "support/app_test.hpp"
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

class Help : public AppTest {
protected:
    struct Program {
        std::string name;
        std::string path;
    };

    static std::vector<Program> programs() {
        const std::filesystem::path folder = std::filesystem::path(demod_app).parent_path();
        std::vector<Program> all;
        for (const char* const name : {"demod_app", "measure_app", "capture_gen", "link_sim", "phy_info",
                                       "stream_bench", "slot_bench", "ladder"})
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

    static std::vector<Arguments> examples_of(const Program& program) {
        std::vector<Arguments> examples;
        for (const std::string& line : lines_of(run({program.path, "--help"}).out))
            if (line.starts_with("  " + program.name)) examples.push_back(words_of(line));
        return examples;
    }
};

TEST_F(Help, HasTwoExamplesOfOptionsThatThereAre) {
    EXPECT_GE(programs().size(), 7U);
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
    std::ifstream page(docs_file("cli.md"));
    ASSERT_TRUE(page) << "docs/cli.md is not there";
    const std::string text(std::istreambuf_iterator<char>(page), {});
    for (const Program& program : programs())
        for (const std::string& option : options_of(program))
            EXPECT_TRUE(std::regex_search(text, std::regex("`" + option + "[` |=\\[\\\\,]")))
                << program.name << " " << option;
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

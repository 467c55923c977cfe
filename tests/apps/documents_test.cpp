// docs/ names all that the programs write, and nothing that no program writes. The names come from what they
// print and from the files that they make.

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "phy/core/version.hpp"
#include "phy/cuda/device.hpp"
#include "support/app_test.hpp"
#include "support/hdf5_file.hpp"
#include "support/page.hpp"
#include "support/test_files.hpp"

namespace phy::test {
namespace {

using Names = std::set<std::string>;

/// A grant with transport blocks and UCI.
constexpr const char* coded_link = R"({
    "direction": "uplink",
    "carrier": {"subcarrier_spacing": 30000, "resource_blocks": 11, "cell_id": 42, "sample_rate": 7680000,
                "center_frequency": 3500010000, "first_sample": "auto"},
    "allocation": {"rnti": 17921, "modulation": "16qam", "layers": 2, "resource_blocks": [0, 11],
                   "dmrs": {"type": 1, "ports": [0, 1], "cdm_groups_without_data": 2, "symbols": [2, 11]}},
    "coding": {"code_rate": 0.4, "uci": {"ack_bits": 4, "csi1_bits": 5, "csi2_bits": 6}}})";

bool is_word(const std::string& text) {
    return std::regex_match(text, std::regex("[a-z0-9]*[a-z][a-z0-9_-]*"));
}

/// All keys, and all values that are words.
void add_names(const JsonValue& json, Names& keys, Names& words) {
    if (const auto* const array = std::get_if<JsonValue::Array>(&json.value)) {
        for (const JsonValue& element : *array)
            add_names(element, keys, words);
    } else if (const auto* const object = std::get_if<JsonValue::Object>(&json.value)) {
        for (const auto& [key, value] : *object) {
            keys.insert(key);
            add_names(value, keys, words);
        }
    } else if (const auto* const text = std::get_if<std::string>(&json.value)) {
        if (is_word(*text)) words.insert(*text);
    }
}

/// Reports of --json, in the words of docs/cli.md.
const Names benchmarks = {"stream_bench", "slot_bench", "ladder"};
const Names all_reports = {"symbols", "slots",    "measure",      "gen",        "sim",   "join",
                           "mpi",     "phy_info", "stream_bench", "slot_bench", "ladder"};

/// Those of a cell such as "sim, `ladder`", or all others if it begins with "all".
Names reports_of(const std::string& cell) {
    Names named;
    const std::regex word("[a-z_]+");
    for (std::sregex_iterator each(cell.begin(), cell.end(), word), end; each != end; ++each) {
        if (all_reports.contains(each->str())) named.insert(each->str());
        if (each->str() == "benchmarks") named.insert(benchmarks.begin(), benchmarks.end());
    }
    if (!cell.starts_with("all")) return named;
    Names others;
    std::ranges::set_difference(all_reports, named, std::inserter(others, others.end()));
    return others;
}

/// section: docs/cli.md on the keys that reports have.
void expect_same_keys(const std::string& section, const std::map<std::string, Names>& written) {
    const PageTable table = tables_of(section).at(0);
    const auto found_in = [&written](const std::string& report, const std::string& key) {
        return !written.contains(report) || written.at(report).contains(key);
    };
    std::map<std::string, Names> named;
    for (const std::vector<std::string>& row : table.rows) {
        const std::string& programs = row.at(2);
        // "sim (backend)" is not of all keys.
        const std::string of_all = std::regex_replace(programs, std::regex("[`a-z_]+ \\([^)]*\\)"), "");
        for (const std::string& key : code_of(row.at(0)))
            for (const std::string& report : reports_of(of_all))
                EXPECT_TRUE(found_in(report, key)) << "no " << report << " has the documented " << key;
        // What an object has is in its meaning.
        const std::string meaning =
            std::regex_search(row.at(3), std::regex("object|list of")) ? row.at(3) : "";
        for (const std::string& report : reports_of(programs))
            for (const std::string& key : code_of(row.at(0) + meaning))
                named[report].insert(key);
    }
    const std::vector<std::string> of_containers = code_of(section.substr(0, section.find("\n| key |")));
    for (const auto& [report, keys] : written)
        for (const std::string& key : keys)
            EXPECT_TRUE(named[report].contains(key) ||
                        std::ranges::find(of_containers, key) != of_containers.end())
                << "undocumented of " << report << ": " << key;
}

/// A build without CUDA has no ladder, and a machine without a device cannot run it.
bool has_device() {
    if constexpr (built_with_cuda) return !gpu::Device::all().empty();
    return false;
}

class Documents : public AppTest {
protected:
    Documents() { std::ofstream(path("coded.json")) << coded_link; }

    [[nodiscard]] static std::string app(const std::string& name) {
        return std::filesystem::path(demod_app).replace_filename(name);
    }

    /// Runs it with --json.
    static void add_report(Arguments command, Names& keys, Names& words) {
        command.emplace_back("--json");
        const Outcome outcome = run(command);
        ASSERT_EQ(outcome.status, 0) << outcome.err;
        const JsonValue report = parse_json(outcome.out);
        EXPECT_EQ(report["schema_version"].number(), 1.0);
        add_names(report, keys, words);
    }

    [[nodiscard]] std::string coded(const std::string& name, Arguments options) const {
        options.insert(options.end(), {"--link", path("coded.json")});
        return generate(name, options);
    }

    /// What files have, and a section of docs/files.md. Its prose may name what it has no table for.
    static void expect_same_names(const std::string& heading, const std::vector<std::string>& files) {
        std::map<std::string, Names> written;
        for (const std::string& file : files) {
            Hdf5Names names = names_in(file);
            written["dataset"].merge(names.datasets);
            written["attribute"].merge(names.attributes);
            written["member"].merge(names.members);
        }
        const std::string section = section_of(read_page("files.md"), heading);
        const std::vector<std::string> code = code_of(section);
        for (const auto& [kind, names] : written)
            for (const std::string& name : names)
                EXPECT_TRUE(std::ranges::any_of(
                    code, [&](const std::string& text) { return text == name || text == "/" + name; }))
                    << "undocumented " << kind << " " << name;
        for (const PageTable& table : tables_of(section)) {
            for (std::size_t i = 0; i < table.head.size(); ++i) {
                if (!written.contains(table.head[i])) continue;
                for (const std::vector<std::string>& row : table.rows)
                    for (const std::string& name : code_of(row.at(i)))
                        EXPECT_TRUE(
                            written[table.head[i]].contains(name.substr(name.starts_with('/') ? 1 : 0)))
                            << "no file has the documented " << table.head[i] << " " << name;
            }
        }
    }
};

TEST_F(Documents, NameEveryKeyOfReportsAndNoOther) {
    const std::string symbols = generate("c.h5", {"--modulation", "64qam", "--symbols", "1000"});
    const std::string samples = coded("a.h5", {"--from", "samples", "--slots", "40", "--gap", "80000,777"});
    const std::vector<std::string> parts = {path("0.h5"), path("1.h5")};
    demod({symbols, "--range", "0:300", "-o", parts.front()});
    demod({symbols, "--range", "300:700", "-o", parts.back()});
    std::vector<std::pair<std::string, Arguments>> commands = {
        {"symbols", {demod_app, symbols, "--gain", "auto", "--descramble", "1,2"}},
        {"slots", {demod_app, data_file("pusch_samples.h5"), "--diagnose"}},
        {"slots", {demod_app, samples}},
        {"measure", {measure_app, symbols, "--by", "100"}},
        {"gen", {capture_gen, path("b.h5"), "--modulation", "qpsk", "--symbols", "10"}},
        {"gen", {capture_gen, path("d.h5"), "--from", "grid", "--link", path("coded.json"), "--slots", "1"}},
        {"join", {app("phy_join"), parts.front(), parts.back(), "-o", path("joined.h5")}},
        {"sim", {app("link_sim"), "--mcs", "4", "--snr-db", "10", "--min-slots", "1", "--max-blocks", "1"}},
        {"phy_info", {phy_info}},
        {"stream_bench", {app("stream_bench"), "--symbols", "1000", "--rounds", "1"}},
        {"slot_bench", {app("slot_bench"), "--symbols", "1000", "--slots", "10"}}};
    if (std::filesystem::exists(app("demod_app_mpi")))
        commands.push_back({"mpi",
                            {"env", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                             app("demod_app_mpi"), samples, "-o", path("mpi.h5")}});
    if (has_device())
        for (const char* const ladder : {"demap", "streams", "reduce", "average"})
            commands.push_back(
                {"ladder", {app("ladder"), ladder, "--symbols", "1000", "--elements", "1000"}});
    std::map<std::string, Names> written;
    std::map<std::string, Names> words;
    for (const auto& [report, command] : commands)
        add_report(command, written[report], words[report]);
    const std::string page = read_page("cli.md");
    expect_same_keys(section_of(page, "## JSON"), written);

    // The steps of ladder have names that no page has.
    words.erase("ladder");
    const std::vector<std::string> code = code_of(page);
    for (const auto& [report, of_report] : words)
        for (const std::string& word : of_report)
            EXPECT_TRUE(std::ranges::find(code, word) != code.end())
                << "undocumented of " << report << ": " << word;
}

TEST_F(Documents, NameAllOfCapturesAndNoMore) {
    expect_same_names("## Captures that phy reads",
                      {generate("a.h5", {"--modulation", "qpsk", "--symbols", "10", "--type", "ci16"}),
                       generate("b.h5", {"--modulation", "qpsk", "--symbols", "10", "--per-symbol-noise"}),
                       coded("c.h5", {"--from", "samples", "--slots", "1"}),
                       coded("d.h5", {"--from", "grid", "--slots", "1"})});
}

TEST_F(Documents, NameAllOfSoftBitsAndNoMore) {
    const std::string symbols = generate("a.h5", {"--modulation", "qpsk", "--symbols", "10"});
    const std::string noises =
        generate("b.h5", {"--modulation", "qpsk", "--symbols", "10", "--per-symbol-noise"});
    const std::string samples = coded("c.h5", {"--from", "samples", "--slots", "2"});
    demod({symbols, "-o", path("d.h5"), "--descramble", "1,2"});
    demod({noises, "-o", path("e.h5"), "--hard"});
    demod({samples, "-o", path("f.h5"), "--write", "llr,symbols,channel,tb,uci"});
    demod({symbols, "-o", path("g.h5"), "--range", "2:3"});
    expect_same_names("## Soft bits that phy writes",
                      {path("d.h5"), path("e.h5"), path("f.h5"), path("g.h5")});
}

}  // namespace
}  // namespace phy::test

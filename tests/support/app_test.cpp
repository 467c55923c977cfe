#include "support/app_test.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "phy/core/backend.hpp"
#include "support/faults.hpp"
#include "support/hdf5_file.hpp"
#include "support/test_files.hpp"

namespace phy::test {
namespace {

std::filesystem::path make_directory() {
    std::string name = std::filesystem::temp_directory_path() / "phy-apps-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary directory");
    return name;
}

Arguments joined(Arguments first, const Arguments& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

/// An app where it was built, or in the folder PHY_APPS_DIR of an installation.
std::string app(const std::filesystem::path& built) {
    const char* const folder = std::getenv("PHY_APPS_DIR");
    return folder == nullptr ? built : folder / built.filename();
}

}  // namespace

const std::string AppTest::demod_app = app(DEMOD_APP);
const std::string AppTest::capture_gen = app(CAPTURE_GEN);
const std::string AppTest::phy_info = app(PHY_INFO);
const std::string AppTest::measure_app = app(MEASURE_APP);

AppTest::AppTest() : directory_(make_directory()) {
    setenv("PHY_BACKEND", Backend::best().name().c_str(), 1);
}

AppTest::~AppTest() {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
}

Arguments AppTest::with_faults(const std::string& faults, const std::string& log) {
    return {"LD_PRELOAD=" + path_of("PHY_FAULTS", PHY_FAULTS), std::string(faults_variable) + "=" + faults,
            std::string(fault_log_variable) + "=" + (log.empty() ? "/dev/null" : log),
            // The module is loaded before the sanitizer, if a program has one.
            "ASAN_OPTIONS=verify_asan_link_order=0"};
}

void AppTest::await_unfinished_output() const {
    using Clock = std::chrono::steady_clock;
    const auto deadline = Clock::now() + std::chrono::seconds(30);
    const auto is_unfinished = [](const std::string& name) { return name.ends_with(".part"); };
    while (std::ranges::none_of(files(), is_unfinished)) {
        ASSERT_LT(Clock::now(), deadline) << "no unfinished output was seen";
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

std::set<std::string> AppTest::files() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_))
        names.insert(entry.path().filename());
    return names;
}

std::string AppTest::generate(const std::string& name, const Arguments& options) const {
    const Outcome outcome = run(joined({capture_gen, path(name)}, options));
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    return path(name);
}

Outcome AppTest::demod(const Arguments& arguments, const Arguments& environment) {
    Outcome outcome = run(joined({demod_app}, arguments), environment);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return outcome;
}

JsonValue AppTest::demod_json(Arguments arguments, const Arguments& environment) {
    arguments.emplace_back("--json");
    return parse_json(demod(arguments, environment).out);
}

JsonValue AppTest::measure_json(Arguments arguments, const Arguments& environment) {
    arguments.insert(arguments.begin(), measure_app);
    arguments.emplace_back("--json");
    const Outcome outcome = run(arguments, environment);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return parse_json(outcome.out);
}

std::vector<std::byte> AppTest::soft_bits(const std::string& capture, const Arguments& options) const {
    const std::string output = path("soft_bits.h5");
    demod(joined({capture, "-o", output, "--force", "--quiet"}, options));
    return read_dataset(output, "/llr");
}

void AppTest::expect_failure(const Arguments& command, int status, const std::vector<std::string>& words,
                             const Arguments& environment) const {
    const auto before = files();
    const Outcome outcome = run(command, environment);
    EXPECT_EQ(outcome.status, status) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_TRUE(outcome.err.ends_with('\n'));
    for (const std::string& word : words)
        EXPECT_NE(outcome.err.find(word), std::string::npos) << "no '" << word << "' in: " << outcome.err;
    EXPECT_EQ(files(), before);
}

}  // namespace phy::test

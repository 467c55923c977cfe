#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/parse_json.hpp"
#include "support/subprocess.hpp"

namespace phy::test {

using Arguments = std::vector<std::string>;

/// Runs the apps in a temporary directory. PHY_BACKEND is Backend::best() unless a test sets another, so
/// "auto" does not depend on the presence of a GPU.
class AppTest : public ::testing::Test {
protected:
    AppTest();
    ~AppTest() override;

    static const std::string demod_app;
    static const std::string capture_gen;
    static const std::string phy_info;
    static const std::string measure_app;

    [[nodiscard]] std::string path(const std::string& name) const { return directory_ / name; }

    /// The environment of an app with these faults; see Faults. They are logged to the file.
    [[nodiscard]] static Arguments with_faults(const std::string& faults, const std::string& log = "");

    /// Waits until a started program has an unfinished output.
    void await_unfinished_output() const;

    /// The names of all files in the directory.
    [[nodiscard]] std::set<std::string> files() const;

    /// Writes a capture with capture_gen, which must succeed.
    std::string generate(const std::string& name, const Arguments& options) const;

    /// Runs demod_app, which must succeed.
    static Outcome demod(const Arguments& arguments, const Arguments& environment = {});

    /// The report of demod_app --json, which must succeed.
    static JsonValue demod_json(Arguments arguments, const Arguments& environment = {});

    /// The report of measure_app --json, which must succeed.
    static JsonValue measure_json(Arguments arguments, const Arguments& environment = {});

    /// The bytes of /llr that demod_app writes.
    [[nodiscard]] std::vector<std::byte> soft_bits(const std::string& capture,
                                                   const Arguments& options = {}) const;

    /// Runs a command that must fail with the given exit status, nothing on stdout, one line on stderr that
    /// has all words, and no file left behind.
    void expect_failure(const Arguments& command, int status, const std::vector<std::string>& words,
                        const Arguments& environment = {}) const;

private:
    std::filesystem::path directory_;
};

}  // namespace phy::test

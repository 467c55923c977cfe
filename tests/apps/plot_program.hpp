#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "support/app_test.hpp"

namespace phy::test {

/// Runs a plotting script. Skips tests if no Python has the modules it needs.
class PlotTest : public AppTest {
protected:
    /// An environment variable may name another script, such as an installed one.
    PlotTest(std::string modules, const char* variable, const char* script)
        : modules_(std::move(modules)),
          python_(find_python(modules_)),
          script_(std::getenv(variable) == nullptr ? script : std::getenv(variable)) {}

    void SetUp() override {
        if (!python_.empty()) return;
        const std::string reason = "no python3 with " + modules_ + " was found";
        const char* const required = std::getenv("PHY_REQUIRE_H5PY");
        if (required != nullptr && std::string(required) == "1") FAIL() << reason;
        GTEST_SKIP() << reason;
    }

    [[nodiscard]] Outcome run_script(Arguments arguments) const {
        arguments.insert(arguments.begin(), script_);
        return run_python(std::move(arguments));
    }

    /// With the modules of the script.
    [[nodiscard]] Outcome run_python(Arguments arguments) const {
        arguments.insert(arguments.begin(), {"/bin/sh", "-c", R"(exec "$0" "$@")", python_});
        return run(arguments, {"MPLCONFIGDIR=" + path("matplotlib"), "PYTHONDONTWRITEBYTECODE=1",
                               "PYTHONPATH=" + std::filesystem::path(script_).parent_path().string()});
    }

    void expect_png(const std::string& name) const {
        std::ifstream stream(path(name), std::ios::binary);
        const std::string bytes((std::istreambuf_iterator<char>(stream)), {});
        EXPECT_TRUE(bytes.starts_with("\x89PNG\r\n\x1a\n")) << name;
        EXPECT_GT(bytes.size(), 10'000U) << name;
    }

private:
    static std::string find_python(const std::string& modules) {
        for (std::string python : {"/usr/bin/python3", "python3"}) {
            if (run({"/bin/sh", "-c", python + " -c 'import " + modules + "'"}).status == 0) return python;
        }
        return "";
    }

    std::string modules_;
    std::string python_;
    std::string script_;
};

}  // namespace phy::test

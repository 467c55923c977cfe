#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "digests/section.hpp"
#include "support/app_test.hpp"

/// Complete files that the programs write. They contain phy's version and change with it.
namespace phy::test {
struct CaptureLine {
    std::string name;
    Arguments options;
};

struct SoftBitLine {
    std::string name;
    std::string capture;
    Arguments options;
};

// No gzip layout: its bytes depend on the version of zlib.
inline const std::vector<CaptureLine> capture_lines = {
    {"256qam", {"--modulation", "256qam", "--symbols", "20011", "--snr-db", "28"}},
    {"64qam-per-symbol",
     {"--modulation", "64qam", "--symbols", "9001", "--snr-db", "22", "--per-symbol-noise", "--type",
      "cf16"}},
    {"qpsk-ci16", {"--modulation", "qpsk", "--symbols", "5003", "--snr-db", "8", "--type", "ci16"}},
    {"pi2-bpsk-ci8",
     {"--modulation", "pi2-bpsk", "--symbols", "3001", "--snr-db", "4", "--type", "ci8", "--no-bits"}}};

inline const std::vector<SoftBitLine> soft_bit_lines = {
    {"256qam-default", "256qam", {}},
    {"256qam-logmap-float32", "256qam", {"--method", "logmap", "--llr", "float32", "--chunk", "5003"}},
    {"256qam-table", "256qam", {"--evaluator", "table", "--noise-variance", "0.01", "--llr-clip", "31"}},
    {"64qam-per-symbol-logmap", "64qam-per-symbol", {"--method", "logmap", "--chunk", "1001"}},
    {"qpsk-ci16-float16", "qpsk-ci16", {"--llr", "float16"}},
    {"pi2-bpsk-ci8-scaled", "pi2-bpsk-ci8", {"--llr-scale", "2.5", "--chunk", "77", "--streams", "3"}}};

class FileDigests : public AppTest {
protected:
    /// Runs a program in the folder, so that files contain relative names only.
    void run_here(const std::string& program, Arguments arguments) const {
        arguments.insert(arguments.begin(), {"env", "-C", path(""), std::filesystem::absolute(program)});
        arguments.insert(arguments.end(), {"--force", "--quiet"});
        const Outcome outcome = run(arguments);
        ASSERT_EQ(outcome.status, 0) << outcome.err;
    }

    [[nodiscard]] phy_test::Bytes contents(const std::string& name) const {
        std::ifstream stream(path(name), std::ios::binary);
        const std::string text((std::istreambuf_iterator<char>(stream)), {});
        EXPECT_FALSE(text.empty()) << name;
        const std::span bytes = std::as_bytes(std::span(text));
        return {bytes.begin(), bytes.end()};
    }

    void generate_all() const {
        for (const CaptureLine& line : capture_lines) {
            Arguments arguments = {line.name + ".h5", "--seed", "7"};
            arguments.insert(arguments.end(), line.options.begin(), line.options.end());
            run_here(capture_gen, arguments);
        }
    }

    void add_soft_bits(phy_test::Section& section, const Arguments& machine) const {
        for (const SoftBitLine& line : soft_bit_lines) {
            Arguments arguments = {line.capture + ".h5", "-o", "soft_bits.h5"};
            arguments.insert(arguments.end(), line.options.begin(), line.options.end());
            arguments.insert(arguments.end(), machine.begin(), machine.end());
            run_here(demod_app, arguments);
            section.add("file/soft-bits/" + line.name, contents("soft_bits.h5"), machine[1]);
        }
    }
};

}  // namespace phy::test

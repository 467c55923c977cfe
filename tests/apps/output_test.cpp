#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "support/app_test.hpp"
#include "support/hdf5_file.hpp"

namespace phy::test {
namespace {

class Output : public AppTest {
protected:
    const std::string capture_ =
        generate("c.h5", {"--modulation", "256qam", "--symbols", "50000", "--quiet", "--no-bits"});

    void write_text(const std::string& file, const std::string& text) const {
        std::ofstream(path(file)) << text;
    }

    [[nodiscard]] std::string text_of(const std::string& file) const {
        std::ifstream stream(path(file));
        return {std::istreambuf_iterator<char>(stream), {}};
    }

    /// The command with a limit on the size of the files that it writes, which is how a full disk looks.
    static Arguments with_file_size_limit(const Arguments& command) {
        Arguments limited = {"/bin/sh", "-c", R"(ulimit -f 64; exec "$0" "$@")"};
        limited.insert(limited.end(), command.begin(), command.end());
        return limited;
    }
};

TEST_F(Output, IsWhatWasAskedFor) {
    demod({capture_, "-o", path("out.h5")});
    EXPECT_EQ(files(), (std::set<std::string>{"c.h5", "out.h5"}));
    EXPECT_EQ(read_dataset(path("out.h5"), "/llr").size(), 400000U);
    demod({capture_, "--output", path("wide.h5"), "--llr", "float32"});
    EXPECT_EQ(read_dataset(path("wide.h5"), "/llr").size(), 1600000U);
}

TEST_F(Output, TellsWhatTheCaptureTellsOfTheRadio) {
    Hdf5File(path("radio.h5"))
        .reals("iq", {100, 2})
        .attribute("modulation", "qpsk")
        .attribute("noise_variance", 0.1)
        .attribute("sample_rate", 30.72e6)
        .attribute("center_frequency", 3.5e9);
    demod({path("radio.h5"), "-o", path("out.h5")});
    EXPECT_EQ(read_number(path("out.h5"), "/llr", "sample_rate"), 30.72e6);
    EXPECT_EQ(read_number(path("out.h5"), "/llr", "center_frequency"), 3.5e9);
    demod({capture_, "-o", path("silent.h5")});
    EXPECT_EQ(read_number(path("silent.h5"), "/llr", "sample_rate"), std::nullopt);
    EXPECT_EQ(read_number(path("silent.h5"), "/llr", "center_frequency"), std::nullopt);
}

TEST_F(Output, ExistingFileNeedsForce) {
    write_text("out.h5", "precious");
    expect_failure({demod_app, capture_, "-o", path("out.h5")}, 1,
                   {"out.h5", "exist", "(--force overwrites it)\n"});
    EXPECT_EQ(text_of("out.h5"), "precious");
    expect_failure({capture_gen, path("out.h5"), "--modulation", "qpsk", "--symbols", "10"}, 1,
                   {"out.h5", "exist", "(--force overwrites it)\n"});
    EXPECT_EQ(text_of("out.h5"), "precious");
    demod({capture_, "-o", path("out.h5"), "--force"});
    EXPECT_EQ(read_dataset(path("out.h5"), "/llr").size(), 400000U);
    generate("out.h5", {"--modulation", "qpsk", "--symbols", "10", "--force", "--quiet"});
    EXPECT_EQ(demod_json({path("out.h5")})["symbols"].number(), 10.0);
}

TEST_F(Output, MayNotBeTheCapture) {
    std::filesystem::create_symlink("c.h5", path("link.h5"));
    for (const std::string name : {"c.h5", "link.h5"})
        expect_failure({demod_app, capture_, "-o", path(name), "--force"}, 2, {name, "capture"});
    EXPECT_EQ(demod_json({capture_})["symbols"].number(), 50000.0);
}

TEST_F(Output, MayNotBeAFileThatTheCaptureNames) {
    const std::string samples(800, '\0');
    write_text("precious.bin", samples);
    write_text("c.sigmf-meta", R"({"global": {"core:datatype": "cf32_le", "core:dataset": "precious.bin"}})");
    Hdf5File(path("external.h5")).external("iq", {100, 2}, "precious.bin");
    Hdf5File(path("source.h5")).reals("half", {100, 2});
    Hdf5File(path("virtual.h5")).virtual_of("iq", {100, 2}, "source.h5", "half");
    Hdf5File(path("noise.h5")).reals("iq", {200, 2}).external("noise_variance", {200}, "precious.bin");
    const std::string source = text_of("source.h5");
    const std::vector<std::pair<std::string, std::string>> read = {{"c.sigmf-meta", "precious.bin"},
                                                                   {"c.sigmf-meta", "c.sigmf-meta"},
                                                                   {"external.h5", "precious.bin"},
                                                                   {"virtual.h5", "source.h5"},
                                                                   {"noise.h5", "precious.bin"}};
    for (const auto& [capture, file] : read) {
        for (const std::string option : {"-o", "--trace"}) {
            SCOPED_TRACE(capture + " " + option);
            Arguments command = {demod_app, path(capture),  option, path(file),
                                 "--force", "--modulation", "qpsk"};
            if (!capture.ends_with("meta")) command.emplace_back("--external-files");
            if (capture != "noise.h5") command.insert(command.end(), {"--noise-variance", "0.1"});
            if (capture.ends_with("meta")) command.insert(command.end(), {"--from", "symbols"});
            expect_failure(command, 2, {file, "overwrite the capture"});
            command.erase(std::ranges::find(command, "--force"));
            expect_failure(command, 2, {file, "overwrite the capture"});
        }
    }
    EXPECT_EQ(text_of("precious.bin"), samples);
    EXPECT_EQ(text_of("source.h5"), source);
    demod({path("external.h5"), "--external-files", "--modulation", "qpsk", "--noise-variance", "0.1", "-o",
           path("source.h5"), "--force"});
}

TEST_F(Output, CannotBeCreated) {
    std::filesystem::create_directory(path("folder"));
    for (const std::string target : {"missing/out.h5", "c.h5/out.h5", "folder"}) {
        SCOPED_TRACE(target);
        expect_failure({demod_app, capture_, "-o", path(target), "--force"}, 1, {target});
        expect_failure({capture_gen, path(target), "--modulation", "qpsk", "--symbols", "10", "--force"}, 1,
                       {target});
    }
    expect_failure({demod_app, capture_, "-o", "/proc/out.h5"}, 1, {"/proc/out.h5"});
}

TEST_F(Output, DiskFull) {
    write_text("out.h5", "precious");
    expect_failure(with_file_size_limit({demod_app, capture_, "-o", path("out.h5"), "--force"}), 1,
                   {"out.h5"});
    for (const std::string layout : {"compound", "gzip"})
        expect_failure(with_file_size_limit({capture_gen, path("out.h5"), "--modulation", "qpsk", "--symbols",
                                             "500000", "--layout", layout, "--force"}),
                       1, {"out.h5"});
    EXPECT_EQ(text_of("out.h5"), "precious");
}

}  // namespace
}  // namespace phy::test

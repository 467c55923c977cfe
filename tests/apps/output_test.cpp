#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "support/app_test.hpp"
#include "support/hdf5_file.hpp"
#include "support/test_files.hpp"

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

/// The array of a .npy file of version 1.0, whose header must have these parts.
std::string array_of(const std::string& file, const std::string& type, const std::string& shape) {
    EXPECT_EQ(file.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
    const std::size_t end = 10 + static_cast<unsigned char>(file.at(8)) +
                            256 * std::size_t{static_cast<unsigned char>(file.at(9))};
    EXPECT_EQ(end % 64, 0U);
    const std::string header = file.substr(10, end - 10);
    EXPECT_EQ(header.substr(0, header.find('}') + 1),
              "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + shape + "), }");
    EXPECT_EQ(header.find_first_not_of(' ', header.find('}') + 1), header.size() - 1);
    EXPECT_EQ(header.back(), '\n');
    return file.substr(end);
}

TEST_F(Output, IsAnArrayIfItsNameSaysSo) {
    const std::map<std::string, std::string> types = {
        {"int8", "|i1"}, {"float16", "<f2"}, {"float32", "<f4"}};
    for (const std::string name : {"256qam.h5", "pdsch_grid.h5", "pusch_samples.h5"}) {
        for (const auto& [format, type] : types) {
            SCOPED_TRACE(name + " as " + format);
            const auto write = [&, &chosen = format](const std::string& output) {
                demod({data_file(name), "-o", path(output), "--llr", chosen, "--force"});
                return text_of(output);
            };
            write("all.h5");
            const std::vector<std::byte> llr = read_dataset(path("all.h5"), "/llr");
            const std::string expected(reinterpret_cast<const char*>(llr.data()), llr.size());
            std::string shape;
            for (const std::uint64_t length : read_dimensions(path("all.h5"), "/llr"))
                shape += (shape.empty() ? "" : ", ") + std::to_string(length);
            EXPECT_TRUE(array_of(write("llr.npy"), type, shape) == expected);
            EXPECT_TRUE(write("llr.raw") == expected);
        }
    }
}

TEST_F(Output, HasOneArrayForItsShapeAndDecisionsToo) {
    Hdf5File(path("cube.h5"))
        .reals("iq", {3, 14, 5, 2})
        .attribute("modulation", "64qam")
        .attribute("noise_variance", 0.01);
    demod({path("cube.h5"), "-o", path("all.h5"), "--hard"});
    const std::vector<std::byte> bits = read_dataset(path("all.h5"), "/bits");
    const std::string expected(reinterpret_cast<const char*>(bits.data()), bits.size());
    demod({path("cube.h5"), "-o", path("bits.NPY"), "--hard", "--keep-shape", "--chunk", "17"});
    EXPECT_TRUE(array_of(text_of("bits.NPY"), "|u1", "3, 14, 5, 6") == expected);
    demod({path("cube.h5"), "-o", path("bits.raw"), "--hard"});
    EXPECT_TRUE(text_of("bits.raw") == expected);
}

TEST_F(Output, IsHdf5UnderAnyOtherName) {
    for (const std::string name : {"out", "out.hdf5", "out.bin", "out.npz", ".npy", "npy"}) {
        demod({capture_, "-o", path(name)});
        EXPECT_EQ(read_dataset(path(name), "/llr").size(), 400000U) << name;
    }
}

TEST_F(Output, RefusesWhatAnArrayHasNoRoomFor) {
    const std::string grid = data_file("pdsch_grid.h5");
    for (const std::string ending : {".npy", ".raw"}) {
        for (const std::string datasets : {"symbols", "channel", "llr,symbols"})
            expect_failure(
                {demod_app, grid, "-o", path("out" + ending), "--write", datasets}, 2,
                {"--write: ", "out" + ending + " takes soft bits alone", "such as " + path("out.h5")});
        demod({grid, "-o", path("llr" + ending), "--write", "llr"});
    }
    expect_failure(
        {demod_app, capture_, "-o", path("out.raw"), "--keep-shape"}, 2,
        {"--keep-shape: ", "out.raw has no dimensions", path("out.npy") + " or " + path("out.h5")});
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

TEST_F(Output, ArraysReplaceAFileWithForceAlone) {
    for (const std::string name : {"out.npy", "out.raw"}) {
        write_text(name, "precious");
        expect_failure({demod_app, capture_, "-o", path(name)}, 1,
                       {name, "exist", "(--force overwrites it)\n"});
        expect_failure(with_file_size_limit({demod_app, capture_, "-o", path(name), "--force"}), 1, {name});
        EXPECT_EQ(text_of(name), "precious");
        demod({capture_, "-o", path(name), "--force", "--durable"});
        EXPECT_GE(text_of(name).size(), 400000U);
    }
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

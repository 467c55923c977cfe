#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "support/app_test.hpp"
#include "support/hdf5_file.hpp"

namespace phy::test {
namespace {

class BadInput : public AppTest {
protected:
    /// demod_app on that file, with an output that must not appear.
    void expect_refused(const std::string& file, const std::vector<std::string>& words,
                        const Arguments& options = {}, int status = 1) const {
        Arguments command = {demod_app, path(file), "-o", path("out.h5")};
        command.insert(command.end(), options.begin(), options.end());
        std::vector<std::string> all_words = {"demod_app: ", file};
        all_words.insert(all_words.end(), words.begin(), words.end());
        expect_failure(command, status, all_words);
    }

    void write_bytes(const std::string& file, const std::string& bytes) const {
        std::ofstream(path(file), std::ios::binary) << bytes;
    }

    std::string new_name() { return std::to_string(++names_) + ".h5"; }

    /// Modulation and noise given, so that nothing but the dataset is at fault.
    const Arguments complete_ = {"--modulation", "qpsk", "--noise-variance", "0.1"};

private:
    int names_ = 0;
};

TEST_F(BadInput, NoSuchFile) {
    expect_refused("missing.h5", {"no such file"});
}

TEST_F(BadInput, NotHdf5) {
    write_bytes("text.h5", "I, Q\n0.7, 0.7\n");
    expect_refused("text.h5", {"HDF5"});
    write_bytes("empty.h5", "");
    expect_refused("empty.h5", {"HDF5"});
    std::filesystem::create_directory(path("folder.h5"));
    expect_refused("folder.h5", {});
}

TEST_F(BadInput, GitLfsPointer) {
    write_bytes("pointer.h5",
                "version https://git-lfs.github.com/spec/v1\noid sha256:0123456789abcdef\nsize 80\n");
    expect_refused("pointer.h5", {"LFS"});
}

TEST_F(BadInput, TruncatedFile) {
    for (const std::string layout : {"compound", "gzip"}) {
        SCOPED_TRACE(layout);
        const std::string capture = generate(
            layout + ".h5", {"--modulation", "16qam", "--symbols", "20000", "--layout", layout, "--quiet"});
        const auto size = std::filesystem::file_size(capture);
        for (const auto kept : {size - 1, size / 2, std::uintmax_t{1000}, std::uintmax_t{100}}) {
            std::filesystem::resize_file(capture, kept);
            expect_refused(layout + ".h5", {});
        }
    }
}

TEST_F(BadInput, DamagedFile) {
    const std::string capture = generate(
        "c.h5", {"--modulation", "16qam", "--symbols", "200000", "--layout", "gzip", "--no-bits", "--quiet"});
    std::fstream file(capture, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(std::filesystem::file_size(capture) / 2));
    file << std::string(256, '\xFF');
    file.close();
    expect_refused("c.h5", {"/iq"});
}

TEST_F(BadInput, NoSuchDataset) {
    generate("c.h5", {"--modulation", "qpsk", "--symbols", "10", "--quiet"});
    expect_refused("c.h5", {"/elsewhere"}, {"--dataset", "/elsewhere"});
}

TEST_F(BadInput, DatasetThatIsNotIq) {
    Hdf5File(path("text.h5")).text("iq", "hello");
    expect_refused("text.h5", {"/iq"}, complete_);
    Hdf5File(path("real.h5")).reals("iq", {100});
    expect_refused("real.h5", {"/iq", "I, Q, I, Q", "interleaved"}, complete_);
    Hdf5File(path("three.h5")).reals("iq", {100, 3});
    expect_refused("three.h5", {"/iq"}, complete_);
    Hdf5File(path("odd.h5")).reals("iq", {101});
    expect_refused("odd.h5", {"/iq"}, {"--modulation", "qpsk", "--noise-variance", "1", "--interleaved"});
    Hdf5File(path("group.h5")).group("iq");
    expect_refused("group.h5", {"/iq"},
                   {"--modulation", "qpsk", "--noise-variance", "1", "--dataset", "/iq"});
    Hdf5File(path("nothing.h5")).group("data");
    expect_refused("nothing.h5", {}, complete_);
}

TEST_F(BadInput, SeveralCandidates) {
    Hdf5File(path("two.h5")).reals("left", {100, 2}).reals("right", {100, 2});
    expect_refused("two.h5", {"/left", "/right"}, complete_);
}

TEST_F(BadInput, NoSamples) {
    Hdf5File(path("empty.h5")).reals("iq", {0, 2});
    expect_refused("empty.h5", {"/iq"}, complete_);
}

TEST_F(BadInput, Modulation) {
    Hdf5File(path("none.h5")).reals("iq", {100, 2}).attribute("noise_variance", 0.1);
    expect_refused("none.h5", {"modulation"});
    Hdf5File(path("unknown.h5"))
        .reals("iq", {100, 2})
        .attribute("noise_variance", 0.1)
        .attribute("modulation", "8psk");
    expect_refused("unknown.h5", {"8psk", "1024qam"});
}

TEST_F(BadInput, NoiseVarianceMissing) {
    Hdf5File(path("none.h5")).reals("iq", {100, 2}).attribute("modulation", "qpsk");
    expect_refused("none.h5", {"noise_variance", "--noise-variance"});
    expect_refused("none.h5", {"noise_variance", "--noise-variance"}, {"--noise-variance", "auto"});
}

TEST_F(BadInput, NoiseVarianceUnusable) {
    using Limits = std::numeric_limits<double>;
    for (const double value : {0.0, -1.0, Limits::quiet_NaN(), Limits::infinity(), 1e-60}) {
        const std::string file = new_name();
        Hdf5File(path(file))
            .reals("iq", {100, 2})
            .attribute("modulation", "qpsk")
            .attribute("noise_variance", value);
        expect_refused(file, {"noise_variance"});
    }
}

TEST_F(BadInput, NoiseOfAnotherLength) {
    for (const std::uint64_t length : {0U, 99U, 101U, 200U}) {
        const std::string file = new_name();
        Hdf5File(path(file))
            .reals("iq", {100, 2})
            .reals("noise_variance", {length})
            .attribute("modulation", "qpsk");
        expect_refused(file, {"noise_variance", "100"});
    }
}

TEST_F(BadInput, TruthThatIsNoBits) {
    Hdf5File(path("c.h5"))
        .reals("iq", {100, 2})
        .reals("bits", {99, 2})
        .attribute("modulation", "qpsk")
        .attribute("noise_variance", 0.1);
    expect_refused("c.h5", {"bits"});
}

TEST_F(BadInput, ChunkOfZeroOrBeyondMemory) {
    generate("c.h5", {"--modulation", "qpsk", "--symbols", "10", "--quiet"});
    const auto expect_chunk_refused = [this](const std::string& chunk) {
        expect_failure({demod_app, path("c.h5"), "-o", path("out.h5"), "--chunk", chunk}, 2,
                       {"--chunk " + chunk});
    };
    expect_chunk_refused("0");
    expect_chunk_refused("1000000000000");
    expect_chunk_refused("18446744073709551615");
}

TEST_F(BadInput, ChunkAndStreamsAreNotBlamedForOtherErrors) {
    generate("c.h5", {"--modulation", "qpsk", "--symbols", "10", "--quiet"});
    for (const std::string& app : {demod_app, measure_app}) {
        const Outcome outcome =
            run({app, path("c.h5"), "--full-scale", "5", "--chunk", "100", "--streams", "2"});
        EXPECT_EQ(outcome.status, 2);
        EXPECT_NE(outcome.err.find("full_scale"), std::string::npos) << outcome.err;
        EXPECT_EQ(outcome.err.find("--chunk"), std::string::npos) << outcome.err;
        EXPECT_EQ(outcome.err.find("--streams"), std::string::npos) << outcome.err;
    }
}

TEST_F(BadInput, PerSymbolNoiseThatIsUnusableIsCountedAndNoError) {
    Hdf5File(path("c.h5"))
        .reals("iq", {100, 2})
        .reals("noise_variance", {100}, -1.0F)
        .attribute("modulation", "qpsk");
    EXPECT_EQ(demod_json({path("c.h5")})["erasures"].number(), 100.0);
}

}  // namespace
}  // namespace phy::test

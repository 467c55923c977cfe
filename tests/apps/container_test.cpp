#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "phy/capture/capture.hpp"
#include "phy/core/check.hpp"
#include "support/app_test.hpp"
#include "support/subprocess.hpp"
#include "support/test_files.hpp"

/// The bytes of a capture give the same soft bits whatever file they are in.
namespace phy::test {
namespace {

class Containers : public AppTest {
protected:
    std::string write(const std::string& name, const std::string& bytes) const {
        std::ofstream(path(name), std::ios::binary)
            .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        return path(name);
    }
};

struct Sample {
    std::string bytes;
    CaptureDescription capture;
};

Sample read(const std::string& file) {
    CaptureReader reader(file);
    Sample sample = {{}, reader.description()};
    sample.bytes.resize(sample.capture.symbols * size_of(sample.capture.format));
    reader.read(0, {sample.capture.format, reinterpret_cast<std::byte*>(sample.bytes.data()),
                    sample.capture.symbols});
    return sample;
}

std::string list(const std::vector<std::uint64_t>& shape) {
    std::string text;
    for (const std::uint64_t length : shape)
        text += (text.empty() ? "" : ",") + std::to_string(length);
    return text;
}

std::string npy(const CaptureDescription& capture, const std::string& bytes) {
    const std::string type = capture.format == SampleFormat::cf32   ? "<f4"
                             : capture.format == SampleFormat::cf16 ? "<f2"
                             : capture.format == SampleFormat::ci16 ? "<i2"
                                                                    : "|i1";
    std::string header =
        "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + list(capture.shape) + ",2), }\n";
    const auto length = static_cast<unsigned>(header.size());
    const std::string head = {
        '\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, static_cast<char>(length), static_cast<char>(length >> 8U)};
    return head + header + bytes;
}

/// Samples of all channels in turn.
std::string interleaved(const CaptureDescription& capture, const std::string& bytes) {
    const std::size_t sample_bytes = size_of(capture.format);
    const std::size_t samples = capture.symbols / capture.antennas;
    std::string result;
    for (std::size_t n = 0; n < samples; ++n) {
        for (std::size_t antenna = 0; antenna < capture.antennas; ++antenna)
            result += bytes.substr((antenna * samples + n) * sample_bytes, sample_bytes);
    }
    return result;
}

/// Every attribute, and the shape where it is not that of channels.
std::string metadata(const CaptureDescription& capture) {
    std::string text = R"({"global": {"core:datatype": ")" + std::string(to_string(capture.format)) +
                       R"(", "core:version": "1.2.0")";
    const auto add = [&](const char* key, const std::string& value) {
        text += ", \"" + std::string(key) + "\": " + value;
    };
    if (capture.kind == CaptureKind::samples) {
        add("core:num_channels", std::to_string(capture.antennas));
    } else {
        add("phy:shape", "[" + list(capture.shape) + "]");
    }
    if (capture.modulation) add("phy:modulation", "\"" + std::string(to_string(*capture.modulation)) + "\"");
    if (capture.noise_variance) add("phy:noise_variance", detail::number_text(*capture.noise_variance));
    if (capture.full_scale) add("phy:full_scale", detail::number_text(*capture.full_scale));
    if (capture.sample_rate) add("core:sample_rate", detail::number_text(*capture.sample_rate));
    if (capture.link) add("phy:link", *capture.link);
    text += R"(}, "captures": [{"core:sample_start": 0)";
    if (capture.center_frequency) add("core:frequency", detail::number_text(*capture.center_frequency));
    return text + R"(}], "annotations": []})";
}

TEST_F(Containers, GiveTheSameSoftBits) {
    for (const char* const name : {"256qam.h5", "qpsk_ci16.h5", "pdsch_grid.h5", "pusch_samples.h5"}) {
        SCOPED_TRACE(name);
        const auto [bytes, capture] = read(data_file(name));
        const std::vector<std::byte> expected = soft_bits(data_file(name));
        ASSERT_FALSE(expected.empty());

        Arguments options = {"--from", std::string(to_string(capture.kind))};
        const auto add = [&](const char* option, const std::string& value) {
            options.insert(options.end(), {option, value});
        };
        write("recording.sigmf-data",
              capture.kind == CaptureKind::samples ? interleaved(capture, bytes) : bytes);
        EXPECT_EQ(soft_bits(write("recording.sigmf-meta", metadata(capture)), options), expected) << "SigMF";

        if (capture.modulation) add("--modulation", std::string(to_string(*capture.modulation)));
        if (capture.noise_variance) add("--noise-variance", detail::number_text(*capture.noise_variance));
        if (capture.full_scale) add("--full-scale", detail::number_text(*capture.full_scale));
        if (capture.link) add("--link", write("link.json", *capture.link));
        EXPECT_EQ(soft_bits(write("capture.npy", npy(capture, bytes)), options), expected) << ".npy";

        add("--raw", std::string(to_string(capture.format)));
        add("--shape", list(capture.shape));
        EXPECT_EQ(soft_bits(write("capture.bin", bytes), options), expected) << "raw";
    }
}

TEST_F(Containers, WrongOptionsAreWrongUsage) {
    const std::string file = write("capture.bin", std::string(8, '\0'));
    expect_failure({demod_app, file, "--raw", "i16"}, 2, {"raw i16", "ci16"});
    expect_failure({demod_app, file, "--raw", "ci16", "--shape", "2,x"}, 2, {"--shape 2,x"});
    expect_failure({demod_app, data_file("256qam.h5"), "--shape", "2"}, 2, {"shape", "raw files"});
    expect_failure({demod_app, file}, 1, {"is not an HDF5 file", "raw"});
}

}  // namespace
}  // namespace phy::test

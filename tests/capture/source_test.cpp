#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "capture/capture_files.hpp"
#include "phy/capture/capture.hpp"
#include "phy/core/error.hpp"
#include "phy/core/half.hpp"
#include "support/temporary_directory.hpp"

/// The same capture in files of each format gives the same samples.
namespace {

using phy_test::Components;
using phy_test::read_components;

constexpr unsigned seed = 14;

/// A type of samples by the names that the formats have for it.
struct Type {
    const char* name;   ///< SigMF's, without the byte order
    const char* numpy;  ///< of a component, without the byte order; empty: none
    phy::SampleFormat read_as;
};

constexpr Type types[] = {
    {"cf64", "f8", phy::SampleFormat::cf32}, {"cf32", "f4", phy::SampleFormat::cf32},
    {"cf16", "f2", phy::SampleFormat::cf16}, {"ci32", "i4", phy::SampleFormat::cf32},
    {"ci16", "i2", phy::SampleFormat::ci16}, {"ci8", "i1", phy::SampleFormat::ci8},
    {"cu32", "", phy::SampleFormat::cf32},   {"cu16", "", phy::SampleFormat::ci16},
    {"cu8", "", phy::SampleFormat::ci8},
};

template <typename Number>
std::string stored(Number number, bool is_big) {
    std::string bytes(sizeof(number), '\0');
    std::memcpy(bytes.data(), &number, sizeof(number));
    if (is_big != (std::endian::native == std::endian::big)) bytes.assign(bytes.rbegin(), bytes.rend());
    return bytes;
}

/// A component, from -128 to 127, as this type stores it.
std::string stored_as(const std::string& type, int value, bool is_big) {
    const std::string number = type.substr(1);
    const auto positive = static_cast<std::uint32_t>(value);
    if (number == "f64") return stored(static_cast<double>(value), is_big);
    if (number == "f32") return stored(static_cast<float>(value), is_big);
    if (number == "f16") return stored(phy::half(static_cast<float>(value)), is_big);
    if (number == "i32") return stored(static_cast<std::int32_t>(value), is_big);
    if (number == "i16") return stored(static_cast<std::int16_t>(value), is_big);
    if (number == "i8") return stored(static_cast<std::int8_t>(value), is_big);
    if (number == "u32") return stored(positive + 0x80000000U, is_big);
    if (number == "u16") return stored(static_cast<std::uint16_t>(positive + 0x8000U), is_big);
    return stored(static_cast<std::uint8_t>(positive + 0x80U), is_big);
}

std::string samples_as(const std::string& type, const Components& components, bool is_big) {
    std::string bytes;
    for (const int component : components)
        bytes += stored_as(type, component, is_big);
    return bytes;
}

/// A .npy file of the format's version, whose header ends in a multiple of 64 bytes.
std::string npy(const std::string& descr, const std::string& shape, const std::string& data, int version = 1,
                const char* fortran_order = "False") {
    std::string header =
        "{'descr': " + descr + ", 'fortran_order': " + fortran_order + ", 'shape': " + shape + ", }";
    const std::size_t before = version == 1 ? 10 : 12;
    header.resize((before + header.size() + 1 + 63) / 64 * 64 - before, ' ');
    header.back() = '\n';
    std::string length = stored(static_cast<std::uint32_t>(header.size()), false);
    if (version == 1) length.resize(2);
    return "\x93NUMPY" + std::string{static_cast<char>(version), '\0'} + length + header + data;
}

std::string dims(const std::vector<std::uint64_t>& shape) {
    std::string text = "(";
    for (const std::uint64_t length : shape)
        text += std::to_string(length) + ",";
    return text + ")";
}

class CaptureSources : public testing::Test {
protected:
    std::filesystem::path write(const std::string& name, const std::string& bytes) const {
        std::filesystem::path path = directory_ / name;
        std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        return path;
    }

    /// Metadata, and samples beside them.
    std::filesystem::path sigmf(const std::string& metadata, const std::string& samples) const {
        write("recording.sigmf-data", samples);
        return write("recording.sigmf-meta", metadata);
    }

    std::filesystem::path simple_sigmf(const std::string& type, const std::string& samples) const {
        return sigmf(R"({"global": {"core:datatype": ")" + type + R"(", "core:version": "1.0.0"}, )" +
                         R"("captures": [{"core:sample_start": 0}], "annotations": []})",
                     samples);
    }

    void expect_error(const std::filesystem::path& path, const std::vector<std::string>& parts,
                      const phy::CaptureOptions& options = {}) const {
        try {
            const phy::CaptureReader reader(path, options);
            ADD_FAILURE() << path << " was accepted";
        } catch (const phy::FileError& error) {
            const std::string line = error.what();
            EXPECT_NE(line.find(directory_.path().string()), std::string::npos) << line;
            EXPECT_EQ(line.find('\n'), std::string::npos) << line;
            for (const std::string& part : parts)
                EXPECT_NE(line.find(part), std::string::npos) << "'" << part << "' is not in: " << line;
        }
    }

    phy_test::TemporaryDirectory directory_;
    std::mt19937 random_{seed};
};

void expect_samples(const std::filesystem::path& path, phy::CaptureOptions options, const Type& type,
                    const std::vector<std::uint64_t>& shape, const Components& components) {
    SCOPED_TRACE(path.string() + ", seed " + std::to_string(seed));
    options.full_scale = 1.0;
    phy::CaptureReader reader(path, options);
    const phy::CaptureDescription& capture = reader.description();
    EXPECT_EQ(capture.format, type.read_as);
    EXPECT_EQ(capture.shape, shape);
    const std::uint64_t symbols = components.size() / 2;
    ASSERT_EQ(capture.symbols, symbols);
    EXPECT_EQ(read_components(reader, 0, symbols), phy_test::slice(components, 0, symbols));
    EXPECT_EQ(read_components(reader, symbols / 3, symbols / 2),
              phy_test::slice(components, symbols / 3, symbols / 2));
    EXPECT_EQ(read_components(reader, symbols, 0), std::vector<double>());
}

TEST_F(CaptureSources, EveryTypeInEveryContainerAndOfEveryKind) {
    const std::vector<std::pair<phy::CaptureKind, std::vector<std::uint64_t>>> shapes = {
        {phy::CaptureKind::symbols, {331}},
        {phy::CaptureKind::symbols, {1}},
        {phy::CaptureKind::grid, {2, 14, 12}},
        {phy::CaptureKind::samples, {3, 257}}};
    for (const Type& type : types) {
        for (const bool is_big : {false, true}) {
            for (const auto& [kind, shape] : shapes) {
                std::uint64_t symbols = 1;
                for (const std::uint64_t length : shape)
                    symbols *= length;
                const Components components = phy_test::random_components(symbols, random_);
                const std::string bytes = samples_as(type.name, components, is_big);
                const std::string name = type.name + std::string(is_big ? "_be" : "_le");
                const phy::CaptureOptions shaped = {.kind = kind, .shape = shape};

                phy::CaptureOptions raw = shaped;
                raw.raw = name;
                expect_samples(write("capture.bin", bytes), raw, type, shape, components);
                expect_samples(simple_sigmf(name, bytes), shaped, type, shape, components);
                if (*type.numpy == '\0') continue;
                const std::string component = (is_big ? "'>" : "'<") + std::string(type.numpy) + "'";
                std::vector<std::uint64_t> pairs = shape;
                pairs.push_back(2);
                expect_samples(write("pairs.npy", npy(component, dims(pairs), bytes)), {.kind = kind}, type,
                               shape, components);
                const std::string fields = "[('re', " + component + "), ('im', " + component + ")]";
                expect_samples(write("compound.npy", npy(fields, dims(shape), bytes, 2)), {.kind = kind},
                               type, shape, components);
            }
        }
    }
}

TEST_F(CaptureSources, NumPysOwnComplexTypes) {
    const Components components = phy_test::random_components(100, random_);
    for (const Type& type : types) {
        const std::string number = type.numpy;
        if (number != "f4" && number != "f8") continue;
        for (const bool is_big : {false, true}) {
            const std::string descr =
                std::string(is_big ? "'>" : "'<") + (number == "f4" ? "c8" : "c16") + "'";
            const std::string bytes = samples_as(type.name, components, is_big);
            for (const int version : {1, 2, 3})
                expect_samples(write("x.npy", npy(descr, "(100,)", bytes, version)), {}, type, {100},
                               components);
            // What has only one order is the same in either.
            expect_samples(write("x.npy", npy(descr, "(1, 100)", bytes, 1, "True")), {}, type, {1, 100},
                           components);
            expect_error(write("x.npy", npy(descr, "(2, 50)", bytes, 1, "True")),
                         {"Fortran order", "ascontiguousarray"});
        }
    }
}

TEST_F(CaptureSources, InterleavedNpyAndTheKindByTheFilesName) {
    const Components components = phy_test::random_components(20, random_);
    const Type& type = types[4];
    const std::string bytes = samples_as("ci16", components, false);
    expect_samples(write("flat.npy", npy("'<i2'", "(40,)", bytes)), {.interleaved = true}, type, {20},
                   components);
    expect_error(write("flat.npy", npy("'<i2'", "(40,)", bytes)), {"is not IQ but int16 [40]"});
    for (const auto& [name, kind] : {std::pair("samples.npy", phy::CaptureKind::samples),
                                     {"grid.npy", phy::CaptureKind::grid},
                                     {"other.npy", phy::CaptureKind::symbols}}) {
        const phy::CaptureReader reader(write(name, npy("'<i2'", "(5, 4, 2)", bytes)));
        EXPECT_EQ(reader.description().kind, kind);
        EXPECT_EQ(reader.description().dataset, phy::default_dataset(kind));
    }
    expect_samples(
        write("padded.npy", npy("[('r', '<i2'), ('', '|V3'), ('i', '<i2')]", "(1,)",
                                stored_as("ci16", 5, false) + "xyz" + stored_as("ci16", 6, false))),
        {}, type, {1}, {5, 6});
}

TEST_F(CaptureSources, RealSamplesHaveAQOfZero) {
    for (const Type& type : types) {
        for (const bool is_big : {false, true}) {
            Components components = phy_test::random_components(50, random_);
            std::string bytes;
            for (std::size_t i = 0; i < components.size(); i += 2) {
                bytes += stored_as(type.name, components[i], is_big);
                components[i + 1] = 0;
            }
            const std::string name = "r" + std::string(type.name).substr(1) + (is_big ? "_be" : "_le");
            expect_samples(simple_sigmf(name, bytes), {}, type, {50}, components);
            expect_samples(write("x.bin", bytes), {.raw = name}, type, {50}, components);
        }
    }
}

TEST_F(CaptureSources, ChannelsOfSigmfAreAntennas) {
    constexpr std::uint64_t channels = 3;
    // More than a block of what is read at once.
    constexpr std::uint64_t samples = 70'001;
    const Components components = phy_test::random_components(channels * samples, random_);
    Components interleaved;
    for (std::uint64_t n = 0; n < samples; ++n) {
        for (std::uint64_t c = 0; c < channels; ++c) {
            const auto from = components.begin() + static_cast<std::ptrdiff_t>(2 * (c * samples + n));
            interleaved.insert(interleaved.end(), from, from + 2);
        }
    }
    const auto path =
        sigmf(R"({"global": {"core:datatype": "cf32_le", "core:num_channels": 3}, "captures": []})",
              samples_as("cf32", interleaved, false));
    expect_samples(path, {}, types[1], {channels, samples}, components);
    const phy::CaptureReader reader(path);
    EXPECT_EQ(reader.description().antennas, channels);
    EXPECT_EQ(reader.description().kind, phy::CaptureKind::samples);
}

TEST_F(CaptureSources, CapturesOfSigmfAfterHeaders) {
    const Components components = phy_test::random_components(100, random_);
    const std::string bytes = samples_as("ci16", components, false);
    const std::string data = "head" + bytes.substr(0, 160) + "header" + bytes.substr(160) + "end";
    const auto metadata = [](const std::string& second) {
        return R"({"global": {"core:datatype": "ci16_le", "core:sample_rate": 1e6, "core:offset": 1000,
                   "core:trailing_bytes": 3},
                   "captures": [
            {"core:sample_start": 1000, "core:header_bytes": 4, "core:frequency": 3.5e9},
            {"core:sample_start": 1040, "core:header_bytes": 6, "core:frequency": )" +
               second + "}]}";
    };
    const auto same = sigmf(metadata("3500000000"), data);
    expect_samples(same, {}, types[4], {100}, components);
    const phy::CaptureReader whole(directory_ / "recording.sigmf-data");
    EXPECT_EQ(whole.description().sample_rate, 1e6);
    EXPECT_EQ(whole.description().center_frequency, 3.5e9);
    EXPECT_EQ(whole.description().dataset, "/samples");

    const auto other = sigmf(metadata("3600000000"), data);
    expect_error(other, {"several datasets", "/captures/0/samples", "/captures/1/samples"});
    const phy::CaptureOptions second = {.dataset = "/captures/1/samples"};
    expect_samples(other, second, types[4], {60}, Components(components.begin() + 80, components.end()));
    EXPECT_EQ(phy::CaptureReader(other, second).description().center_frequency, 3.6e9);
    EXPECT_EQ(phy::CaptureReader(other, {.dataset = "/captures/0/iq"}).description().kind,
              phy::CaptureKind::symbols);
}

TEST_F(CaptureSources, SigmfWithAGapIsSeveralDatasets) {
    const std::string bytes = samples_as("ci8", phy_test::random_components(10, random_), false);
    const auto with_indices = [&](const char* second) {
        return sigmf(R"({"global": {"core:datatype": "ci8"}, "captures": [)"
                     R"({"core:sample_start": 0, "core:global_index": 100}, )"
                     R"({"core:sample_start": 4, "core:global_index": )" +
                         std::string(second) + "}]}",
                     bytes);
    };
    EXPECT_EQ(phy::CaptureReader(with_indices("104")).description().symbols, 10U);
    expect_error(with_indices("105"), {"/captures/0/samples", "/captures/1/samples"});
    expect_error(with_indices("99"), {"/captures/0/samples"});
}

TEST_F(CaptureSources, AttributesOfSigmf) {
    const std::string bytes = samples_as("ci8", phy_test::random_components(10, random_), false);
    const auto with = [&](const std::string& global) {
        return sigmf(R"({"global": {"core:datatype": "ci8", )" + global + "}}", bytes);
    };
    const phy::CaptureOptions symbols = {.kind = phy::CaptureKind::symbols};
    const phy::CaptureReader of_symbols(
        with(R"("phy:modulation": "16QAM", "phy:noise_variance": 0.25, "phy:full_scale": 100)"), symbols);
    EXPECT_EQ(of_symbols.description().modulation, phy::Modulation::qam16);
    EXPECT_EQ(of_symbols.description().noise_variance, 0.25F);
    EXPECT_EQ(of_symbols.description().full_scale, 100.0);
    EXPECT_EQ(phy::CaptureReader(with(R"("phy:link": {"a": 1})")).description().link, R"({"a":1})");
    EXPECT_EQ(phy::CaptureReader(with(R"("phy:link": "text")")).description().link, "text");
    EXPECT_EQ(phy::CaptureReader(with(R"("phy:shape": [2, 5])"), symbols).description().shape,
              (std::vector<std::uint64_t>{2, 5}));
    expect_error(with(R"("phy:modulation": 16)"), {"attribute modulation", "one string"}, symbols);
    expect_error(with(R"("phy:noise_variance": "low")"), {"attribute noise_variance", "one number"}, symbols);
    expect_error(with(R"("phy:shape": [2, 6])"), {"10 samples", "[2, 6]"});
}

TEST_F(CaptureSources, OtherNamesOfTheSamplesOfSigmf) {
    const Components components = phy_test::random_components(10, random_);
    write("samples.bin", samples_as("ci8", components, false));
    const auto with = [&](const std::string& name) {
        return write("other.sigmf-meta",
                     R"({"global": {"core:datatype": "ci8", "core:dataset": ")" + name + R"("}})");
    };
    expect_samples(with("samples.bin"), {}, types[5], {10}, components);
    EXPECT_EQ(phy::CaptureReader(directory_ / "other.sigmf-meta").description().files,
              (std::vector{directory_ / "other.sigmf-meta", directory_ / "samples.bin"}));
    expect_error(with("../samples.bin"), {"core:dataset", "without folders"});
    expect_error(with("/etc/passwd"), {"core:dataset", "without folders"});
    expect_error(with(".."), {"core:dataset"});
    expect_error(with("none.bin"), {"none.bin", "no such file"});
}

TEST_F(CaptureSources, MetadataThatCannotBe) {
    const auto refused = [&](const std::string& metadata, const std::string& part) {
        expect_error(sigmf(metadata, std::string(12, 'x')), {part});
    };
    refused("", "not JSON");
    refused("{", "not JSON");
    refused(std::string("{}\0", 3), "byte 0");
    refused("[]", "expected a JSON object");
    refused("{}", "global: missing");
    refused(R"({"global": []})", "global: expected an object");
    refused(R"({"global": {}})", "core:datatype: missing");
    refused(R"({"global": {"core:datatype": 1}})", "core:datatype: expected");
    refused(R"({"global": {"core:datatype": "ci64_le"}})", "core:datatype: expected one of");
    refused(R"({"global": {"core:datatype": "cf32_me"}})", "core:datatype: expected one of");
    refused(R"({"global": {"core:datatype": "ci8", "core:num_channels": 0}})", "core:num_channels");
    refused(R"({"global": {"core:datatype": "ci8", "core:num_channels": 1.5}})", "core:num_channels");
    refused(R"({"global": {"core:datatype": "ci8", "core:num_channels": 5}})",
            "not a multiple of one sample");
    refused(R"({"global": {"core:datatype": "ci8", "core:trailing_bytes": -1}})", "core:trailing_bytes");
    refused(R"({"global": {"core:datatype": "ci8", "core:metadata_only": true}})", "core:metadata_only");
    refused(R"({"global": {"core:datatype": "ci64_le", "core:offset": 1e300}})", "core:datatype");
    const std::string type = R"({"global": {"core:datatype": "ci8"}, "captures": )";
    refused(type + "{}}", "captures");
    refused(type + "[1]}", "captures");
    refused(type + "[{}]}", "core:sample_start: missing");
    refused(type + R"([{"core:sample_start": 7}]})", "truncated");
    refused(type + R"([{"core:sample_start": 4}, {"core:sample_start": 3}]})", "order");
    refused(type + R"([{"core:sample_start": 0, "core:header_bytes": 13}]})", "not a multiple of one sample");
    refused(type + R"([{"core:sample_start": 0, "core:header_bytes": 4611686018427387904},
                       {"core:sample_start": 0, "core:header_bytes": 4611686018427387904}]})",
            "not a multiple of one sample");
    refused(type + std::string(40, '[') + std::string(40, ']') + "}", "nested too deep");
    refused(R"({"global": {"core:datatype": "ci8", "core:num_channels": 3, "phy:shape": [2]}})",
            "expected no shape");
    expect_error(sigmf(R"({"global": {"core:datatype": "ci8"}})", ""), {"no samples"});
    std::filesystem::remove(directory_ / "recording.sigmf-data");
    expect_error(directory_ / "recording.sigmf-meta", {"recording.sigmf-data", "no such file"});
}

TEST_F(CaptureSources, RawFilesThatCannotBe) {
    expect_error(write("x.bin", std::string(7, 'x')),
                 {"7 bytes", "not a multiple of one sample of ci16", "its first 4 bytes are whole samples"},
                 {.raw = "ci16"});
    expect_error(write("x.bin", ""), {"no samples"}, {.raw = "ci16"});
    const auto path = write("x.bin", std::string(8, 'x'));
    expect_error(path, {"2 samples", "[3]"}, {.raw = "ci16", .shape = {3}});
    expect_error(path, {"2 samples"}, {.raw = "ci16", .shape = {~std::uint64_t{0}, 2}});
    expect_error(path, {"a grid of"}, {.kind = phy::CaptureKind::grid, .raw = "ci16"});
    for (const char* const name : {"ci17", "i16", "x", "cf32_xe", "ci16le"})
        EXPECT_THROW(phy::CaptureReader(path, {.raw = name}), phy::ArgumentError) << name;
    const auto array = write("x.npy", npy("'<c8'", "(1,)", std::string(8, 'x')));
    EXPECT_THROW(phy::CaptureReader(array, {.shape = {1}}), phy::ArgumentError);
}

TEST_F(CaptureSources, NpyThatCannotBe) {
    const std::string good = npy("'<c8'", "(10,)", std::string(80, 'x'));
    const auto refused = [&](const std::string& bytes, const std::vector<std::string>& parts) {
        expect_error(write("x.npy", bytes), parts);
    };
    refused(good.substr(0, good.size() - 1), {"truncated"});
    for (std::size_t size = 8; size < 128; ++size)
        refused(good.substr(0, size), {"truncated"});
    refused(npy("'<c8'", "(10,)", "", 4), {"version 4"});
    refused(npy("'<c8'", "(18446744073709551615, 2)", "x"), {"truncated"});
    refused(npy("'<c8'", "(0,)", ""), {"no samples"});
    refused(npy("'|O'", "(1,)", "x"), {"unknown"});
    refused(npy("'<U3'", "(1,)", std::string(12, 'x')), {"is not IQ"});
    refused(npy("'|u1'", "(4, 2)", std::string(8, 'x')), {"is not IQ"});
    refused(npy("'<c32'", "(1,)", std::string(32, 'x')), {"is not IQ"});
    for (const char* const descr :
         {"'<c9'", "'<c10'", "'<c0'", "'<f1'", "'<f5'", "'<i3'", "'<i16'", "'<u12'"})
        refused(npy(descr, "(1, 2)", std::string(64, 'x')), {"damaged", descr, "no such size"});
    refused(npy("[('r', '<f4'), ('i', '<f5')]", "(1,)", std::string(9, 'x')), {"damaged", "'<f5'"});
    refused(npy("'<V0'", "(1,)", ""), {"no bytes"});
    for (const char* const shape :
         {"'x'", "1", "None", "True", "[1]", "('x',)", "(None,)", "(True,)", "((1,),)"})
        refused(npy("'<c8'", shape, std::string(8, 'x')), {"damaged", "shape", "tuple of whole numbers"});
    for (const char* const order : {"'no'", "0", "None", "()"})
        refused(npy("'<c8'", "(1,)", std::string(8, 'x'), 1, order), {"damaged", "fortran_order"});
    refused(npy("[('a', '<f4'), ('b', '<f4'), ('c', '<f4')]", "(1,)", std::string(12, 'x')),
            {"compound of 3 members"});
    refused(npy("[('a', [('b', '<f4')])]", "(1,)", std::string(12, 'x')), {"structure"});
    refused(npy("{}", "(1,)", "x"), {""});
    for (const char* const descr :
         {"'", "(", "[(", "[('a', '<f4'", "None", "((((((((((((", "'<c8\\'", "12345678901234567890123"})
        refused(npy(descr, "(1,)", std::string(8, 'x')), {""});
}

TEST_F(CaptureSources, WhatElseIsRecognised) {
    const auto recognised = [&](const std::string& head, const std::vector<std::string>& parts) {
        expect_error(write("capture.h5", head + std::string(600 - head.size(), '\1')), parts);
    };
    recognised("version https://git-lfs.github.com/spec/v1\n", {"git-LFS pointer", "git lfs pull"});
    recognised(std::string("RIFF\0\0\0\0WAVEfmt ", 16), {"WAV", "sox"});
    recognised("MATLAB 5.0 MAT-file, Platform", {"MATLAB", "-v7.3"});
    recognised("\x1F\x8B\x08", {"gzip", "gunzip"});
    recognised("BZh9", {"bunzip2"});
    recognised(std::string("\xFD"
                           "7zXZ\0",
                           6),
               {"unxz"});
    recognised("\x28\xB5\x2F\xFD", {"unzstd"});
    recognised("PK\x03\x04", {"ZIP", ".npz", "numpy.save"});
    recognised(std::string(257, 'a') + "ustar", {"tar"});
    recognised("\x0E\x03\x13\x01", {"h4toh5"});
    recognised("\xFF\xFF", {"is not an HDF5 file", "raw"});
    expect_error(write("x.csv", "1.0,2.0\n3.0,4.0\n"), {"text", "loadtxt"});
    expect_error(write("x.json", "{\"global\": {}}"), {".sigmf-meta"});
}

}  // namespace

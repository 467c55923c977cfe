#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "phy/core/error.hpp"
#include "phy/core/format.hpp"
#include "phy/core/modulation.hpp"

namespace {

std::string upper(std::string_view name) {
    std::string result;
    for (const char c : name)
        result += 'a' <= c && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    return result;
}

/// what() of the ArgumentError that a call throws, or "" if it throws none.
template <typename Call>
std::string argument_error(Call call) {
    try {
        call();
    } catch (const phy::ArgumentError& error) {
        return error.what();
    }
    return "";
}

template <typename Values, typename Parse>
void expect_round_trip(const Values& values, const std::vector<std::string>& names, Parse parse) {
    ASSERT_EQ(values.size(), names.size());
    for (std::size_t n = 0; n < values.size(); ++n) {
        EXPECT_EQ(to_string(values[n]), names[n]);
        EXPECT_EQ(parse(names[n]), values[n]);
        EXPECT_EQ(parse(upper(names[n])), values[n]);
    }
}

TEST(Names, RoundTrip) {
    expect_round_trip(phy::all_modulations,
                      {"pi2-bpsk", "bpsk", "qpsk", "16qam", "64qam", "256qam", "1024qam"},
                      phy::parse_modulation);
    expect_round_trip(phy::all_sample_formats, {"cf32", "cf16", "ci16", "ci8"}, phy::parse_sample_format);
    expect_round_trip(phy::all_soft_bit_formats, {"int8", "float16", "float32"}, phy::parse_soft_bit_format);
}

TEST(Names, AcceptMixedCase) {
    EXPECT_EQ(phy::parse_modulation("Pi2-Bpsk"), phy::Modulation::pi2_bpsk);
    EXPECT_EQ(phy::parse_soft_bit_format("Float16"), phy::SoftBitFormat::float16);
}

TEST(Names, UnknownNamesAreErrorsThatListTheKnown) {
    EXPECT_EQ(
        argument_error([] { phy::parse_modulation("8psk"); }),
        "unknown modulation '8psk': expected one of pi2-bpsk, bpsk, qpsk, 16qam, 64qam, 256qam, 1024qam");
    EXPECT_EQ(argument_error([] { phy::parse_sample_format("cf64"); }),
              "unknown sample format 'cf64': expected one of cf32, cf16, ci16, ci8");
    EXPECT_EQ(argument_error([] { phy::parse_soft_bit_format("int16"); }),
              "unknown soft-bit format 'int16': expected one of int8, float16, float32");
}

TEST(Names, NothingButTheWholeNameIsAccepted) {
    for (const char* name : {"", " bpsk", "bpsk ", "bps", "bpskx", "pi2_bpsk", "qam16", "16QAM\n"}) {
        EXPECT_THROW(phy::parse_modulation(name), phy::ArgumentError) << name;
    }
    EXPECT_THROW(phy::parse_modulation(std::string_view("bpsk\0", 5)), phy::ArgumentError);
}

TEST(Names, BitsOfASymbolAndBytesOfASample) {
    const std::vector<std::size_t> qm = {1, 1, 2, 4, 6, 8, 10};
    for (std::size_t n = 0; n < qm.size(); ++n) {
        EXPECT_EQ(phy::bits_per_symbol(phy::all_modulations[n]), qm[n]);
    }
    EXPECT_EQ(size_of(phy::SampleFormat::cf32), sizeof(phy::cf32));
    EXPECT_EQ(size_of(phy::SampleFormat::cf16), sizeof(phy::cf16));
    EXPECT_EQ(size_of(phy::SampleFormat::ci16), sizeof(phy::ci16));
    EXPECT_EQ(size_of(phy::SampleFormat::ci8), sizeof(phy::ci8));
    EXPECT_EQ(size_of(phy::SoftBitFormat::int8), sizeof(std::int8_t));
    EXPECT_EQ(size_of(phy::SoftBitFormat::float16), sizeof(phy::half));
    EXPECT_EQ(size_of(phy::SoftBitFormat::float32), sizeof(float));
    EXPECT_EQ(default_full_scale(phy::SampleFormat::ci16), 32768.0F);
    EXPECT_EQ(default_full_scale(phy::SampleFormat::ci8), 128.0F);
    EXPECT_EQ(default_full_scale(phy::SampleFormat::cf16), 1.0F);
    EXPECT_EQ(default_full_scale(phy::SampleFormat::cf32), 1.0F);
}

}  // namespace

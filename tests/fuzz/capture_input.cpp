#include "fuzz/capture_input.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace phy_fuzz {
namespace {

constexpr std::uint64_t max_symbols = 300;
constexpr std::uint64_t max_bits = std::uint64_t{1} << 16;

std::string choose_raw(Input& input) {
    constexpr std::array numbers = {"", "f32", "f64", "f16", "i32", "i16", "i8", "u32", "u16", "u8", "i64"};
    const auto which = input.take<std::uint8_t>();
    const std::string number = numbers[which % 16 % numbers.size()];
    if (number.empty()) return {};
    return ((which & 16U) != 0 ? "r" : "c") + number + ((which & 32U) != 0 ? "_be" : "");
}

std::vector<std::uint64_t> choose_shape(Input& input) {
    std::vector<std::uint64_t> shape(input.take<std::uint8_t>() % 4);
    for (std::uint64_t& length : shape) {
        length = input.take<std::uint8_t>();
        if (length == 255) length = input.take<std::uint64_t>();
    }
    return shape;
}

}  // namespace

phy::CaptureOptions choose_options(Input& input) {
    using Kind = std::optional<phy::CaptureKind>;
    using Number = std::optional<double>;
    using Text = std::optional<std::string>;
    static const std::array<std::string, 8> datasets = {
        "", "/iq", "/grid", "/samples", "/i,/q", "/group/iq", "/captures/0/samples", "/captures/1/iq"};
    static const std::array kinds = {Kind(), Kind(phy::CaptureKind::symbols), Kind(phy::CaptureKind::grid),
                                     Kind(phy::CaptureKind::samples)};
    static const std::array full_scales = {Number(),    Number(1.0), Number(32768.0),
                                           Number(0.0), Number(NAN), Number(0x1p-127)};
    static const std::array links = {Text(), Text(""), Text("{}")};

    phy::CaptureOptions options;
    const auto flags = input.take<std::uint8_t>();
    options.interleaved = (flags & 1U) != 0;
    options.external_files = (flags & 2U) != 0;
    options.ignores_noise_variance = (flags & 4U) != 0;
    if ((flags & 8U) != 0) options.noise_variance = 0.1F;
    if ((flags & 16U) != 0) options.modulation = phy::Modulation::qam16;
    options.dataset = input.choose(datasets);
    options.kind = input.choose(kinds);
    options.raw = choose_raw(input);
    options.full_scale = input.choose(full_scales);
    options.link = input.choose(links);
    options.shape = choose_shape(input);
    return options;
}

void read_some(phy::CaptureReader& reader) {
    const phy::CaptureDescription& capture = reader.description();
    const std::uint64_t count = std::min(max_symbols, capture.symbols);
    // As large as what is read, so that AddressSanitizer sees what is written behind it.
    std::vector<std::byte> symbols(count * phy::size_of(capture.format));
    std::vector<float> noise(count);
    std::vector<std::uint8_t> bits(
        count * capture.bits_per_symbol <= max_bits ? count * capture.bits_per_symbol : 0);
    for (const std::uint64_t first :
         {std::uint64_t{0}, (capture.symbols - count) / 2, capture.symbols - count}) {
        reader.read(first, {capture.format, symbols.data(), count});
        if (capture.has_noise_per_symbol) reader.read_noise(first, noise);
        if (!bits.empty()) reader.read_bits(first, bits);
    }
    if (capture.codewords && capture.codewords->bits <= max_bits) {
        std::vector<std::uint8_t> codeword(capture.codewords->bits);
        reader.read_codeword(capture.codewords->slots - 1, codeword);
    }
}

}  // namespace phy_fuzz

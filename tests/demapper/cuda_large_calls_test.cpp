#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "demapper/cuda_calls.hpp"
#include "demapper/large_calls.hpp"
#include "support/random_seed.hpp"

/// Calls over more symbols than 32-bit numbers of bytes or soft bits can count.
namespace {

using phy::SampleFormat;
using phy_test::Bytes;
using phy_test::LargeCall;

/// Element n of an endless random sequence, for any n at once.
std::uint64_t random_at(std::uint64_t seed, std::uint64_t n) {
    std::uint64_t x = (seed + n) * 0x9E3779B97F4A7C15U;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31);
}

template <typename T>
void append(std::byte*& to, T value) {
    std::memcpy(to, &value, sizeof(value));
    to += sizeof(value);
}

float component_of(std::uint32_t random) {
    return static_cast<float>(static_cast<std::int32_t>(random)) * 0x1.8p-31F;
}

/// Components from -1.5 to 1.5 in cf32, from -2 to 2 in cf16, and now and then any bits; integers: any bits.
void fill_symbols(SampleFormat format, std::uint64_t seed, std::size_t first, std::span<std::byte> symbols) {
    std::byte* to = symbols.data();
    for (std::size_t n = first; to != symbols.data() + symbols.size(); ++n) {
        const std::uint64_t random = random_at(seed, n);
        const bool any_bits = random % 251 == 0;
        const auto low = static_cast<std::uint32_t>(random);
        const auto high = static_cast<std::uint32_t>(random >> 32);
        if (format == SampleFormat::ci8) {
            append(to, static_cast<std::uint16_t>(high));
        } else if (format == SampleFormat::cf16 && !any_bits) {
            append(to, high & 0xBFFFBFFFU);
        } else if (format != SampleFormat::cf32) {
            append(to, high);
        } else if (any_bits) {
            append(to, random);
        } else {
            append(to, component_of(low));
            append(to, component_of(high));
        }
    }
}

/// From 2^-13 to 1, and now and then any bits.
void fill_noise(std::uint64_t seed, std::size_t first, std::span<float> noise) {
    for (std::size_t n = 0; n < noise.size(); ++n) {
        const auto random = static_cast<std::uint32_t>(random_at(~seed, first + n) >> 32);
        noise[n] = std::bit_cast<float>(random % 61 == 0 ? random : 0x39000000 + random % 0x06800000);
    }
}

/// The arrays of one call in device memory, and a piece of each in host memory.
class LargeCallMemory {
public:
    static constexpr std::size_t longest_piece = std::size_t{1} << 22;

    LargeCallMemory(const phy::gpu::Device& device, const LargeCall& call, std::uint64_t seed)
        : call_(call),
          seed_(seed),
          stream_(device),
          symbols_(device, call.symbols() * size_of(call.in)),
          noise_(device, call.noise.per_symbol ? call.symbols() : 0),
          soft_bits_(device, call.symbols() * call.symbol_bytes()),
          symbols_piece_(piece() * size_of(call.in)),
          noise_piece_(call.noise.per_symbol ? piece() : 0),
          soft_bits_piece_(piece() * call.symbol_bytes()) {}

    [[nodiscard]] std::size_t piece() const { return std::min(longest_piece, call_.symbols()); }

    void fill() {
        for (std::size_t first = 0; first < call_.symbols(); first += piece()) {
            generate(first);
            phy::gpu::copy_async(part(symbols_, first, size_of(call_.in)), symbols_piece_, stream_);
            if (call_.noise.per_symbol) phy::gpu::copy_async(part(noise_, first, 1), noise_piece_, stream_);
            stream_.synchronize();
        }
        phy::gpu::fill_async(soft_bits_, 0xA5, stream_);
    }

    void demap(const phy::gpu::SoftDemapper& demap) {
        demap({call_.in, symbols_}, call_.noise.of<phy::gpu::NoiseVariance>(noise_), {call_.out, soft_bits_},
              stream_, call_.first_symbol);
        stream_.synchronize();
    }

    void expect_equality(phy::SoftDemapper& host) {
        Bytes expected(soft_bits_piece_.size());
        for (std::size_t first = 0; first < call_.symbols(); first += piece()) {
            phy::gpu::copy_async(soft_bits_piece_, part(soft_bits_, first, call_.symbol_bytes()), stream_);
            generate(first);
            host({call_.in, symbols_piece_}, call_.noise.of(noise_piece_), {call_.out, expected},
                 call_.first_symbol + first);
            stream_.synchronize();
            ASSERT_EQ(std::memcmp(soft_bits_piece_.data(), expected.data(), expected.size()), 0)
                << "symbol " << first + first_difference(expected) / call_.symbol_bytes() << ", seed "
                << seed_;
        }
    }

private:
    template <typename T>
    [[nodiscard]] phy::gpu::DeviceSpan<T> part(phy::gpu::DeviceBuffer<T>& whole, std::size_t first,
                                               std::size_t each) const {
        return whole.subspan(first * each, piece() * each);
    }

    void generate(std::size_t first) {
        fill_symbols(call_.in, seed_, first, symbols_piece_);
        fill_noise(seed_, first, noise_piece_);
    }

    [[nodiscard]] std::size_t first_difference(const Bytes& expected) const {
        const auto actual = std::span<const std::byte>(soft_bits_piece_);
        return static_cast<std::size_t>(std::ranges::mismatch(actual, expected).in1 - actual.begin());
    }

    const LargeCall& call_;
    std::uint64_t seed_;
    phy::gpu::Stream stream_;
    phy::gpu::DeviceBuffer<std::byte> symbols_;
    phy::gpu::DeviceBuffer<float> noise_;
    phy::gpu::DeviceBuffer<std::byte> soft_bits_;
    phy::gpu::PinnedBuffer<std::byte> symbols_piece_;
    phy::gpu::PinnedBuffer<float> noise_piece_;
    phy::gpu::PinnedBuffer<std::byte> soft_bits_piece_;
};

class CudaLargeCalls : public testing::TestWithParam<LargeCall> {};

TEST_P(CudaLargeCalls, EqualTheCpu) {
    PHY_NEEDS_GPU();
    const LargeCall& call = GetParam();
    const phy::gpu::Device device;
    const std::size_t needed = call.symbols() * (size_of(call.in) + call.symbol_bytes() +
                                                 (call.noise.per_symbol ? sizeof(float) : 0));
    if (device.free_memory() < needed + (std::size_t{256} << 20)) {
        GTEST_SKIP() << "needs " << (needed >> 20) + 256 << " MiB of device memory, "
                     << (device.free_memory() >> 20) << " are free";
    }
    const std::uint64_t seed = phy_test::random_seed();
    SCOPED_TRACE("seed " + std::to_string(seed));
    phy::gpu::SoftDemapper demap(device, call.config);
    if (!call.noise.per_symbol) demap.prepare(call.noise.scalar, call.out);
    phy::SoftDemapper host(phy::Host({.threads = 0}), call.config);
    LargeCallMemory memory(device, call, seed);
    memory.fill();
    memory.demap(demap);
    memory.expect_equality(host);
}

INSTANTIATE_TEST_SUITE_P(, CudaLargeCalls, testing::ValuesIn(phy_test::large_calls),
                         [](const auto& call) { return std::string(call.param.name); });

}  // namespace

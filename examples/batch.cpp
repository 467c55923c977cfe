// Many allocations in one call: the users of a slot, each with its own modulation, noise and sample format.
//
// Called without arguments. Prints the bit error rate of each user. Exit status 1 if a user's soft bits
// differ from those of a demapper for that user alone, or if more than 2 % of its bits are wrong. On a GPU
// the call is the same with phy::gpu::BatchDemapper, phy::gpu::Allocation and a stream.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include <phy/phy.hpp>

/// A user: what it sent, what arrived, and room for its soft bits. Allocations refer to this memory.
struct User {
    phy::Modulation modulation;
    float snr_db;
    bool has_n0_per_symbol;
    bool is_integer;  // its symbols arrive as 16-bit integers

    std::vector<std::uint8_t> bits = {};
    std::vector<phy::cf32> symbols = {};
    std::vector<phy::ci16> integers = {};
    std::vector<float> n0 = {};
    std::vector<std::int8_t> llr = {};

    /// Both views are of one type: it carries the sample format.
    [[nodiscard]] phy::SymbolView view() const {
        return is_integer ? phy::SymbolView(integers) : phy::SymbolView(symbols);
    }
    [[nodiscard]] phy::NoiseVariance noise() const {
        return has_n0_per_symbol ? n0 : phy::NoiseVariance(n0[0]);
    }
};

/// In place of a transmitter and a channel.
void transmit(const phy::Host& host, User& user, std::size_t count, std::mt19937& random) {
    user.bits.resize(count * bits_per_symbol(user.modulation));
    for (auto& bit : user.bits)
        bit = random() % 2;
    user.symbols.resize(count);
    phy::Mapper(host, {.modulation = user.modulation})(user.bits, user.symbols);
    std::normal_distribution<float> normal;
    for (auto& symbol : user.symbols) {
        const float boost = user.has_n0_per_symbol && random() % 2 == 1 ? 2.0F : 1.0F;
        user.n0.push_back(boost * std::pow(10.0F, -user.snr_db / 10.0F));
        const float re = normal(random), im = normal(random);
        symbol += std::sqrt(user.n0.back() / 2.0F) * phy::cf32(re, im);
        if (user.is_integer)
            user.integers.push_back({static_cast<std::int16_t>(std::lround(8192.0F * symbol.real())),
                                     static_cast<std::int16_t>(std::lround(8192.0F * symbol.imag()))});
    }
    user.llr.resize(user.bits.size());
}

int main() {
    const phy::Host host({.threads = 0});
    std::mt19937 random(1);
    std::vector<User> users = {{phy::Modulation::qpsk, 8.0F, false, false},
                               {phy::Modulation::qam16, 15.0F, true, false},
                               {phy::Modulation::qam64, 22.0F, false, true},
                               {phy::Modulation::qam256, 28.0F, true, true},
                               {phy::Modulation::pi2_bpsk, 4.0F, false, false}};
    for (std::size_t i = 0; i < users.size(); ++i)
        transmit(host, users[i], 1200 * (i + 1), random);

    std::vector<phy::Allocation> allocations;
    for (User& user : users)
        allocations.push_back({user.modulation, user.view(), user.noise(), user.llr});
    const phy::FullScale full_scale = 8192.0F;  // the integer that stands for 1.0
    phy::BatchDemapper demap(host, {.full_scale = full_scale});
    demap(allocations);

    bool right = true;
    for (const User& user : users) {
        std::vector<std::int8_t> alone(user.llr.size());
        phy::SoftDemapper demap_one(host, {.modulation = user.modulation, .full_scale = full_scale});
        demap_one(user.view(), user.noise(), alone);
        std::size_t errors = 0;
        for (std::size_t i = 0; i < alone.size(); ++i)
            errors += (user.llr[i] < 0) != (user.bits[i] == 1) ? 1 : 0;
        const double rate = static_cast<double>(errors) / static_cast<double>(alone.size());
        std::printf("%-8s at %2.0f dB: %5zu soft bits, bit error rate %.4f\n",
                    to_string(user.modulation).data(), user.snr_db, alone.size(), rate);
        right = right && user.llr == alone && rate < 0.02;
    }
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}

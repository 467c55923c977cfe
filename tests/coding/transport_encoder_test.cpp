#include "phy/coding/transport_encoder.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "coding/coding_cases.hpp"
#include "support/fewer_cases.hpp"
#include "support/random_seed.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)

/// A line of sionna_codewords.inc.
struct Codeword {
    std::size_t size;
    double code_rate;
    std::size_t coded_bits;
    phy::Modulation modulation;
    int layers;
    std::uint32_t seed;
    std::vector<std::uint64_t> digests;  ///< by redundancy version
};

const std::vector<Codeword> sionna_codewords = {
#include "coding/sionna_codewords.inc"
};

/// FNV-1a.
std::uint64_t digest_of(const std::vector<std::uint8_t>& bits) {
    std::uint64_t digest = 0xCBF29CE484222325;
    for (const std::uint8_t bit : bits)
        digest = (digest ^ bit) * 0x100000001B3;
    return digest;
}

TEST(TransportEncoderTest, CodewordsAreThoseOfSionna) {
    for (const Codeword& codeword : sionna_codewords) {
        const phy::TransportBlockConfig config = {.size = codeword.size,
                                                  .code_rate = codeword.code_rate,
                                                  .coded_bits = codeword.coded_bits,
                                                  .modulation = codeword.modulation,
                                                  .layers = codeword.layers};
        phy::TransportEncoder encode(phy::Host({.threads = 2}), config);
        std::vector<std::uint8_t> bits(codeword.coded_bits);
        for (std::size_t version = 0; version < codeword.digests.size(); ++version) {
            encode(payload_of(codeword.size, codeword.seed), static_cast<int>(version), bits);
            EXPECT_EQ(digest_of(bits), codeword.digests[version]) << text_of(config) << ", " << version;
        }
    }
}

/// Both base graphs and all sets of lifting sizes are there.
TEST(TransportEncoderTest, TheCodewordsCoverTheCodes) {
    std::vector<int> sets(2 * 8);
    for (const Codeword& codeword : sionna_codewords) {
        const phy::CodeBlocks blocks = phy::code_blocks({.size = codeword.size,
                                                         .code_rate = codeword.code_rate,
                                                         .coded_bits = codeword.coded_bits,
                                                         .modulation = codeword.modulation,
                                                         .layers = codeword.layers});
        int factor = blocks.lifting_size;
        while (factor % 2 == 0)
            factor /= 2;
        const int set = factor == 1 ? 0 : factor / 2;  // of factors 2, 3, 5 ... 15
        ++sets[static_cast<std::size_t>(8 * static_cast<int>(blocks.graph) + set)];
    }
    for (const int count : sets)
        EXPECT_GT(count, 0);
}

/// TS 38.212 clause 5.4.2, word for word.
class RateMatchingTranscript {
public:
    explicit RateMatchingTranscript(const phy::TransportBlockConfig& config)
        : config_(config), blocks_(phy::code_blocks(config)) {}

    /// The bits d_0 to d_(N-1) of all code blocks; -1 for filler bits.
    [[nodiscard]] std::vector<std::vector<int>> ldpc_codewords(std::span<const std::uint8_t> payload) const {
        std::size_t filler = 0;
        for (std::size_t k = 0; k < length(); ++k)
            filler += is_filler(k) ? 1 : 0;
        phy::TransportBlockConfig all = config_;
        all.limited_buffer.reset();
        all.modulation = phy::Modulation::bpsk;
        all.layers = 1;
        all.coded_bits = blocks_.count * (length() - filler);
        std::vector<std::uint8_t> bits(all.coded_bits);
        phy::TransportEncoder(phy::Host(), all)(payload, 0, bits);
        std::vector<std::vector<int>> codewords(blocks_.count);
        auto bit = bits.begin();
        for (std::vector<int>& codeword : codewords)
            for (std::size_t k = 0; k < length(); ++k)
                codeword.push_back(is_filler(k) ? -1 : *bit++);
        return codewords;
    }

    /// Bits of the transport block's codeword.
    [[nodiscard]] std::vector<std::uint8_t> operator()(const std::vector<std::vector<int>>& codewords,
                                                       std::size_t version) const {
        std::vector<std::uint8_t> concatenated;
        for (std::size_t r = 0; r < blocks_.count; ++r) {
            const std::vector<std::uint8_t> block = interleaved(selected(codewords[r], bits_of(r), version));
            concatenated.insert(concatenated.end(), block.begin(), block.end());
        }
        return concatenated;
    }

private:
    [[nodiscard]] bool is_bg1() const { return blocks_.graph == phy::BaseGraph::bg1; }
    [[nodiscard]] std::size_t zc() const { return static_cast<std::size_t>(blocks_.lifting_size); }
    [[nodiscard]] std::size_t length() const { return (is_bg1() ? 66 : 50) * zc(); }
    [[nodiscard]] std::size_t qm() const { return phy::bits_per_symbol(config_.modulation); }
    [[nodiscard]] bool is_filler(std::size_t k) const {
        return k + 2 * zc() >= blocks_.bits && k + 2 * zc() < (is_bg1() ? 22 : 10) * zc();
    }

    [[nodiscard]] std::size_t bits_of(std::size_t r) const {
        const std::size_t unit = static_cast<std::size_t>(config_.layers) * qm();
        const std::size_t g = config_.coded_bits;
        const std::size_t count = blocks_.count;
        if (r + 1 <= count - g / unit % count) return unit * (g / (unit * count));
        return unit * ((g + unit * count - 1) / (unit * count));
    }

    [[nodiscard]] std::vector<std::uint8_t> selected(const std::vector<int>& d, std::size_t e_r,
                                                     std::size_t version) const {
        constexpr std::size_t of_bg1[] = {0, 17, 33, 56};
        constexpr std::size_t of_bg2[] = {0, 13, 25, 43};
        std::size_t n_cb = length();
        if (config_.limited_buffer) n_cb = std::min(n_cb, *config_.limited_buffer * 3 / (blocks_.count * 2));
        const std::size_t factor = is_bg1() ? of_bg1[version] : of_bg2[version];
        const std::size_t k0 = factor * n_cb / ((is_bg1() ? 66 : 50) * zc()) * zc();
        std::vector<std::uint8_t> e;
        for (std::size_t j = 0; e.size() < e_r; ++j)
            if (const int bit = d[(k0 + j) % n_cb]; bit >= 0) e.push_back(static_cast<std::uint8_t>(bit));
        return e;
    }

    [[nodiscard]] std::vector<std::uint8_t> interleaved(const std::vector<std::uint8_t>& e) const {
        std::vector<std::uint8_t> f(e.size());
        for (std::size_t j = 0; j < e.size() / qm(); ++j)
            for (std::size_t i = 0; i < qm(); ++i)
                f[i + j * qm()] = e[i * (e.size() / qm()) + j];
        return f;
    }

    phy::TransportBlockConfig config_;
    phy::CodeBlocks blocks_;
};

TEST(TransportEncoderTest, RateMatchingFollowsTheClause) {
    const unsigned seed = random_seed();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    int limited = 0;
    for (const std::uint64_t trial : fewer_indices(150)) {
        phy::TransportBlockConfig config = random_block(random);
        // Often a buffer that is hardly longer than its bits.
        if (trial % 2 == 0) config.limited_buffer = config.size + config.size * (random() % 100) / 100;
        phy::CodeBlocks blocks;
        try {
            blocks = phy::code_blocks(config);
        } catch (const phy::ArgumentError&) {
            continue;
        }
        const phy::TransportBlockConfig unlimited = {.size = config.size,
                                                     .code_rate = config.code_rate,
                                                     .coded_bits = config.coded_bits,
                                                     .modulation = config.modulation,
                                                     .layers = config.layers};
        limited += blocks.buffer_size < phy::code_blocks(unlimited).buffer_size ? 1 : 0;
        const std::vector<std::uint8_t> payload =
            payload_of(config.size, static_cast<std::uint32_t>(random()));
        const RateMatchingTranscript transcript(config);
        const std::vector<std::vector<int>> codewords = transcript.ldpc_codewords(payload);
        phy::TransportEncoder encode(phy::Host(), config);
        std::vector<std::uint8_t> bits(config.coded_bits);
        for (const int version : {0, 1, 2, 3}) {
            encode(payload, version, bits);
            ASSERT_TRUE(bits == transcript(codewords, static_cast<std::size_t>(version)))
                << text_of(config) << ", version " << version;
        }
    }
    EXPECT_GT(limited, 0);
}

}  // namespace

#include "phy/detector/detector.hpp"

#include <vector>

#include "phy/core/check_enum.hpp"
#include "phy/core/check_size.hpp"
#include "phy/demapper/demapper.hpp"
#include "phy/equalizer/host/block_equalizer.hpp"
#include "phy/machine/thread_pool.hpp"

namespace phy {

using detail::BlockEqualizer;
using detail::ElementRun;
using detail::EqualizedRow;
using detail::EqualizerWorkspace;

namespace {

constexpr std::size_t bits_of_word = 32;

/// Where a call's soft bits go.
struct Codewords {
    SoftBitSpan llr;  ///< of a slot
    std::span<const std::uint32_t> signs;
    std::size_t layers;
    std::size_t qm;
};

/// What one thread works with.
struct Part {
    Part(const BlockEqualizer& blocks, const Backend& backend, const DemapperConfig& config)
        : equalizer(blocks.plan()),
          demap(Host({.threads = 1, .backend = backend}), config),
          symbols(equalizer.row * static_cast<std::size_t>(blocks.plan().layers())),
          noise(symbols.size()),
          signs(symbols.size() * bits_per_symbol(config.modulation) / bits_of_word + 1) {}

    EqualizerWorkspace equalizer;
    SoftDemapper demap;
    std::vector<cf32> symbols;  ///< of a run
    std::vector<float> noise;
    std::vector<std::uint32_t> signs;
};

/// Takes what an equaliser makes of a run, and demaps it.
struct Demapping {
    Part& part;
    const Codewords& codewords;

    EqualizedRow operator()(const ElementRun& /*run*/) const {
        return {reinterpret_cast<float*>(part.symbols.data()), part.noise.data()};
    }

    void done(const ElementRun& run) const {
        const std::size_t first = run.first_element * codewords.layers;
        const std::size_t count = run.elements * codewords.layers;
        part.demap(std::span(part.symbols).first(count), std::span(part.noise).first(count),
                   codewords.llr.subspan(first * codewords.qm, count * codewords.qm), first, nullptr,
                   signs_of(first * codewords.qm, count * codewords.qm));
    }

private:
    /// Those of `count` soft bits from the first on, in whole words.
    [[nodiscard]] std::span<const std::uint32_t> signs_of(std::size_t first, std::size_t count) const {
        if (codewords.signs.empty()) return {};
        const std::size_t words = (count + bits_of_word - 1) / bits_of_word;
        const auto from = codewords.signs.subspan(first / bits_of_word);
        const std::size_t shift = first % bits_of_word;
        if (shift == 0) return from.first(words);
        for (std::size_t i = 0; i < words; ++i) {
            const std::uint32_t next = i + 1 < from.size() ? from[i + 1] : 0;
            part.signs[i] = from[i] >> shift | next << (bits_of_word - shift);
        }
        return std::span(part.signs).first(words);
    }
};

}  // namespace

struct PHY_HIDDEN SoftDetector::Impl {
    Host host;
    Config config;
    BlockEqualizer blocks;
    std::vector<Part> parts;  ///< by part of the pool

    Impl(const Host& on, const Config& of) : host(on), config(of), blocks(on, of.equalizer) {
        for (int i = 0; i < on.threads(); ++i)
            parts.emplace_back(blocks, on.backend(), of.demapper);
    }
};

SoftDetector::SoftDetector(const Host& host, const Config& config) : impl_(new Impl(host, config)) {}

SoftDetector::~SoftDetector() = default;
SoftDetector::SoftDetector(SoftDetector&&) noexcept = default;
SoftDetector& SoftDetector::operator=(SoftDetector&&) noexcept = default;

std::size_t SoftDetector::soft_bits_per_slot() const {
    return impl_->blocks.plan().symbols() * bits_per_symbol(impl_->config.demapper.modulation);
}

void SoftDetector::operator()(SymbolView grid, std::span<const float> channel,
                              std::span<const SlotEstimate> slots, SoftBitSpan llr,
                              std::span<const std::uint32_t> signs, std::span<const cf32> covariance) {
    const detail::EqualizerPlan& plan = impl_->blocks.plan();
    const std::size_t of_slot = soft_bits_per_slot();
    const std::size_t words = sign_words_per_slot();
    plan.check_inputs({grid.size(), channel.size(), slots.size(), covariance.size()}, grid.format());
    detail::check_enum("soft-bit format", llr.format(), all_soft_bit_formats.back());
    detail::check_size("llr", llr.size(), slots.size() * of_slot);
    if (!signs.empty()) detail::check_size("signs", signs.size(), slots.size() * words);
    if (covariance.empty()) detail::check_noise(slots);
    const BlockEqualizer::Call call = {grid, channel.data(), slots,
                                       covariance.empty() ? nullptr : covariance.data(),
                                       impl_->blocks.next_call()};
    const std::size_t blocks = impl_->blocks.blocks();
    impl_->host.pool().for_each(slots.size() * blocks, [&](int index, std::size_t item) noexcept {
        const std::size_t slot = item / blocks;
        const Codewords codewords = {
            llr.subspan(slot * of_slot, of_slot), signs.empty() ? signs : signs.subspan(slot * words, words),
            static_cast<std::size_t>(plan.layers()), bits_per_symbol(impl_->config.demapper.modulation)};
        Part& part = impl_->parts[static_cast<std::size_t>(index)];
        Demapping target = {part, codewords};
        impl_->blocks.run(part.equalizer, call, slot, item % blocks, target);
    });
}

const Host& SoftDetector::host() const {
    return impl_->host;
}

const SoftDetector::Config& SoftDetector::config() const {
    return impl_->config;
}

}  // namespace phy

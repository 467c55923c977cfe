#pragma once

#include <map>
#include <optional>
#include <tuple>

#include "demapper/recorded_calls.hpp"
#include "phy/core/error.hpp"

/// Batches like those of a slot: all kinds of allocations in any order.
namespace phy_test {

/// Properties that all allocations of a batch share.
struct BatchKind {
    phy::Method method;
    phy::Evaluator evaluator;
    int llr_clip = 127;

    [[nodiscard]] phy::BatchDemapperConfig config() const {
        return {.llr = {.method = method, .evaluator = evaluator, .clip = llr_clip}};
    }
};

inline std::string name_of(const BatchKind& kind) {
    return std::string(to_string(kind.method)) + "_" + std::string(to_string(kind.evaluator));
}

inline std::vector<BatchKind> all_batch_kinds() {
    std::vector<BatchKind> kinds;
    for (const phy::Method method : {phy::Method::max_log, phy::Method::log_map}) {
        for (const phy::Evaluator evaluator :
             {phy::Evaluator::automatic, phy::Evaluator::arithmetic, phy::Evaluator::table})
            kinds.push_back({method, evaluator});
    }
    return kinds;
}

/// N0 of scalar allocations; few values, as each may need a table.
inline constexpr float mixed_noise[] = {0.1F, 0.01F, 1e-6F};

/// Makes random batches. The expected bytes are those of single calls of the scalar backend.
class MixedCalls {
public:
    explicit MixedCalls(const BatchKind& kind) {
        for (const phy::Modulation modulation : phy::all_modulations) {
            scalar_.emplace_back(scalar_host(),
                                 phy::DemapperConfig{.modulation = modulation, .llr = kind.config().llr});
            const SymbolsWithNoise symbols = awkward_symbols(modulation, symbol_count);
            for (const phy::SampleFormat format : phy::all_sample_formats)
                inputs_.emplace_back(format, symbols);
        }
    }

    /// Makes the next batch, with one soft-bit format.
    RecordedCalls take(std::size_t count, phy::SoftBitFormat format) {
        RecordedCalls recorded;
        for (std::size_t n = 0; n < count; ++n)
            add_to(recorded, format);
        return recorded;
    }

private:
    static constexpr std::size_t symbol_count = 5000;
    static constexpr std::size_t longest = 3000;

    void add_to(RecordedCalls& recorded, phy::SoftBitFormat format) {
        const phy::Modulation modulation = phy::all_modulations[random_() % scalar_.size()];
        const phy::SampleFormat in = phy::all_sample_formats[random_() % phy::all_sample_formats.size()];
        const std::size_t n0 = random_() % 6;  // three of the values: one per symbol
        const std::size_t count = random_() % (random_() % 2 == 0 ? 10 : longest + 1);
        const std::size_t first = random_() % (symbol_count - longest);
        const Input& input = input_of(modulation, in);
        const Bytes& whole = whole_of(modulation, in, std::min(n0, std::size(mixed_noise)), format);
        const std::size_t symbol = bits_per_symbol(modulation) * size_of(format);
        recorded.add({.modulation = modulation,
                      .in = in,
                      .out = format,
                      .noise = kind_of(n0),
                      .first_symbol = first + 2 * std::uint64_t{random_()},
                      .in_offset = offset(),
                      .out_offset = offset()},
                     std::span(input.bytes()).subspan(first * size_of(in), count * size_of(in)),
                     std::span(input.noise()).subspan(first, count),
                     std::span(whole).subspan(first * symbol, count * symbol));
    }

    static NoiseKind kind_of(std::size_t n0) {
        return n0 < std::size(mixed_noise) ? NoiseKind{false, mixed_noise[n0]} : NoiseKind{true, 0.0F};
    }

    // Half of them aligned.
    std::size_t offset() { return random_() % 2 == 0 ? 0 : random_() % 64; }

    const Input& input_of(phy::Modulation modulation, phy::SampleFormat format) const {
        return inputs_[static_cast<std::size_t>(modulation) * phy::all_sample_formats.size() +
                       static_cast<std::size_t>(format)];
    }

    const Bytes& whole_of(phy::Modulation modulation, phy::SampleFormat in, std::size_t n0,
                          phy::SoftBitFormat format) {
        Bytes& whole = wholes_[{modulation, in, n0, format}];
        if (whole.empty()) {
            phy::SoftDemapper& scalar = scalar_[static_cast<std::size_t>(modulation)];
            whole = demapped(scalar, input_of(modulation, in), kind_of(n0), format);
        }
        return whole;
    }

    std::mt19937 random_{awkward_seed};
    std::vector<phy::SoftDemapper> scalar_;
    std::vector<Input> inputs_;
    std::map<std::tuple<phy::Modulation, phy::SampleFormat, std::size_t, phy::SoftBitFormat>, Bytes> wholes_;
};

/// A way to make an allocation of a batch of int8 soft bits invalid.
template <class Allocation>
struct Flaw {
    const char* name;
    void (*add_to)(Allocation&);
};

/// In host or device memory.
template <class Allocation>
std::vector<Flaw<Allocation>> all_flaws() {
    using Noise = decltype(Allocation::noise);
    using Span = decltype(Allocation::llr);
    return {
        {"too few soft bits", [](Allocation& a) { a.llr = a.llr.subspan(0, a.llr.size() - 1); }},
        {"too many soft bits", [](Allocation& a) { a.llr = a.llr.subspan(0, a.llr.size() + 1); }},
        {"no soft bits", [](Allocation& a) { a.llr = Span(); }},
        {"N0 of 0", [](Allocation& a) { a.noise = 0.0F; }},
        {"negative N0", [](Allocation& a) { a.noise = -1.0F; }},
        {"infinite N0", [](Allocation& a) { a.noise = HUGE_VALF; }},
        {"N0 that is no number", [](Allocation& a) { a.noise = std::nanf(""); }},
        {"N0 for no symbol", [](Allocation& a) { a.noise = typename Noise::Values(); }},
        {"another format",
         [](Allocation& a) {
             const auto twice = a.llr.subspan(0, 2 * a.llr.size()).bytes();
             a.llr = Span(phy::SoftBitFormat::float16, twice);
         }},
        {"a modulation that there is not",
         [](Allocation& a) { a.modulation = static_cast<phy::Modulation>(7); }},
    };
}

/// The index of a flaw in a batch; no other number in a message equals it.
inline constexpr std::size_t flawed_place = 137;

/// 200 allocations without a table, with int8 soft bits.
inline RecordedCalls plain_batch() {
    phy::SoftDemapper scalar(scalar_host(), {.modulation = phy::Modulation::qam16});
    const Input input(phy::SampleFormat::cf32, awkward_symbols(phy::Modulation::qam16, 20));
    std::vector<Window> windows;
    for (std::size_t n = 0; n < 200; ++n)
        windows.push_back({.first = n % 8, .count = 1 + n % 12});
    return recorded_calls(scalar, input, {false, 0.1F}, phy::SoftBitFormat::int8, windows);
}

/// The message of the ArgumentError that the call must throw.
template <typename Call>
std::optional<std::string> argument_error_of(Call call) {
    try {
        call();
    } catch (const phy::ArgumentError& error) {
        return error.what();
    }
    return std::nullopt;
}

}  // namespace phy_test

#include "capture_gen/options.hpp"

#include <vector>

#include <fmt/format.h>

#include "capture/options.hpp"
#include "transmission/air_options.hpp"

namespace phy::apps {
namespace {

constexpr std::uint64_t max_sample = 1ULL << 40U;

std::vector<DroppedSamples> parse_gaps(const std::string& text) {
    const std::vector<std::string> parts = split(text);
    std::vector<DroppedSamples> gaps;
    std::uint64_t end = 0;
    for (std::size_t i = 0; i + 1 < parts.size(); i += 2) {
        const auto first = parse_number<std::uint64_t>(parts[i]);
        const auto count = parse_number<std::uint64_t>(parts[i + 1]);
        if (!first || !count || *count == 0 || *first < end || *first > max_sample || *count > max_sample)
            break;
        gaps.push_back({.first = *first, .count = *count});
        end = *first + *count;
    }
    if (2 * gaps.size() != parts.size())
        throw ArgumentError(fmt::format(
            "--gap {}: expected pairs of whole numbers up to 2^40, the first dropped sample and how many, "
            "in order, such as 20000,777",
            text));
    return gaps;
}

UciBits parse_uci(const std::string& text) {
    UciBits bits;
    std::size_t part = 0;
    for (const char character : text) {
        if (character == ',' && part + 1 < bits.size()) {
            ++part;
            continue;
        }
        if (character != '0' && character != '1')
            throw ArgumentError(
                fmt::format("--uci {}: expected bits of HARQ-ACK, CSI part 1 and CSI part 2 with commas "
                            "between, such as 10,0110 or ,0110",
                            text));
        bits.at(part).push_back(character == '1' ? 1 : 0);
    }
    return bits;
}

auto* decibels(std::optional<double>& target, const char* option) {
    return number_within<double>(target, option, "DB", {-100.0, 100.0, "a number from -100 to 100"});
}

void add_common_options(CaptureGenOptions& options, po::options_description& list) {
    list.add_options()  //
        ("from", parsed(options.kind, parse_capture_kind, "KIND"),
         "kind of capture: symbols (default), or with --link samples or grid")  //
        // Within the range of N0 of the demapper, 2^-100 ... 2^40.
        ("snr-db",
         number_within<double>(options.snr_db, "--snr-db", "X", {-100.0, 300.0, "a number from -100 to 300"}),
         "SNR in dB, from -100 to 300, default 20: Es/N0 of symbols; in samples and a grid the power of all "
         "layers at one antenna over its noise, per resource element with data")                         //
        ("seed", number<std::uint64_t>(options.seed, "N"), "seed of bits, fading and noise, default 1")  //
        ("type", parsed(options.type, parse_sample_format, "TYPE"),
         "sample format: cf32 (default), cf16, ci16 or ci8")  //
        ("layout", parsed(options.layout, parse_capture_layout, "LAYOUT"),
         "storage layout: compound (default), trailing, interleaved, chunked or gzip")  //
        ("no-bits", flag(options.no_bits), "leave out the transmitted bits")            //
        ("force", flag(options.force), "overwrite existing files: OUT.h5")              //
        ("durable", flag(options.durable), "wait until written files survive a loss of power");
}

void add_symbol_options(CaptureGenOptions& options, po::options_description& list) {
    const auto parse_scramble = [](const std::string& text) { return parse_scrambling("--scramble", text); };
    po::options_description symbols("Options for symbols");
    symbols.add_options()  //
        ("modulation", parsed(options.modulation, parse_modulation, "M"),
         "modulation: pi2-bpsk, bpsk, qpsk, 16qam, 64qam, 256qam or 1024qam")  //
        ("symbols", number_within<std::uint64_t>(options.symbols, "--symbols", "N", from_one_on),
         "number of symbols, from 1")  //
        ("per-symbol-noise", flag(options.per_symbol_noise),
         "vary N0 from symbol to symbol by +-6 dB, and store it per symbol")  //
        ("scramble", parsed(options.scramble, parse_scramble, "n_RNTI,n_ID[,q]"),
         "identity of the scrambling; the bits are one codeword (TS 38.211 clauses 6.3.1.1, 7.3.1.1; q is 0 "
         "or 1, default 0); the capture holds the bits before scrambling");
    list.add(symbols);
}

void add_link_options(CaptureGenOptions& options, po::options_description& list) {
    po::options_description link("Options for samples and a grid");
    link.add_options()  //
        ("link", text(options.link, "FILE"),
         "JSON file with the link, as docs/link.md describes it; the capture gets it as an attribute")  //
        ("slots",
         number_within<std::uint64_t>(options.slots, "--slots", "N",
                                      {1, 1'000'000'000, "a whole number from 1 to 1000000000"}),
         "number of slots, from carrier.first_slot on; slots without the allocation hold noise alone");
    add_air_options(options, link);
    link.add_options()  //
        ("uci", parsed(options.uci, parse_uci, "ACK[,CSI1[,CSI2]]"),
         "bits of the link's UCI in all slots, such as 10,0110; parts without bits, and all by default: "
         "random ones")  //
        ("first-sample",
         number_within<std::uint64_t>(options.first_sample, "--first-sample", "N",
                                      {0, max_sample, "a whole number from 0 to 2^40"}),
         "samples of noise before the first slot if carrier.first_sample is \"auto\"; default 0")  //
        ("sample-rate",
         number_within<double>(options.sample_rate, "--sample-rate", "HZ",
                               {1.0, 1e12, "a number from 1 to 1e12"}),
         "sample rate if the link has no carrier.sample_rate")  //
        ("center-frequency",
         number_within<double>(options.center_frequency, "--center-frequency", "HZ",
                               {0.0, 1e12, "a number from 0 to 1e12"}),
         "centre frequency of the recording if the link has no carrier.center_frequency")  //
        ("clock-offset",
         number_within<double>(options.clock_offset_ppm, "--clock-offset", "PPM",
                               {-100.0, 100.0, "a number from -100 to 100"}),
         "how fast the recorder's clock is, of its samples and its oscillator, where the first slot begins; "
         "default 0")  //
        ("clock-drift",
         number_within<double>(options.clock_drift_ppm, "--clock-drift", "PPM",
                               {-1.0, 1.0, "a number from -1 to 1"}),
         "change of the clock's offset per second; default 0")  //
        ("line", decibels(options.line_db, "--line"),
         "power of a line at frequency 0 over that of the signal; default none")  //
        ("image", decibels(options.image_db, "--image"),
         "power of the mirror image over that of the signal, from IQ imbalance; default none")  //
        ("clip", decibels(options.clip_db, "--clip"),
         "largest I and Q over the rms of the signal; default none")  //
        ("gap", parsed(options.gaps, parse_gaps, "FIRST,COUNT[,...]"),
         "samples that the recorder has dropped, in order; several pairs: several gaps");
    list.add(link);
}

/// An option, and whether it was given.
struct Given {
    const char* name;
    bool given;
};

std::vector<Given> symbol_options(const CaptureGenOptions& options) {
    return {{"--modulation", options.modulation.has_value()},
            {"--symbols", options.symbols.has_value()},
            {"--per-symbol-noise", options.per_symbol_noise},
            {"--scramble", options.scramble.has_value()}};
}

std::vector<Given> link_options(const CaptureGenOptions& options) {
    return {{"--link", !options.link.empty()},
            {"--slots", options.slots.has_value()},
            {"--antennas", options.antennas.has_value()},
            {"--channel", options.channel.has_value()},
            {"--timing-offset", options.timing_offset_ns.has_value()},
            {"--frequency-offset", options.frequency_offset.has_value()},
            {"--uci", options.uci.has_value()}};
}

std::vector<Given> sample_options(const CaptureGenOptions& options) {
    return {{"--first-sample", options.first_sample.has_value()},
            {"--sample-rate", options.sample_rate.has_value()},
            {"--center-frequency", options.center_frequency.has_value()},
            {"--clock-offset", options.clock_offset_ppm.has_value()},
            {"--clock-drift", options.clock_drift_ppm.has_value()},
            {"--line", options.line_db.has_value()},
            {"--image", options.image_db.has_value()},
            {"--clip", options.clip_db.has_value()},
            {"--gap", options.gaps.has_value()}};
}

void require_none(const std::vector<Given>& options, const char* reason) {
    for (const Given& option : options)
        if (option.given) throw ArgumentError(fmt::format("{}: {}", option.name, reason));
}

void require(const char* name, bool given) {
    if (!given) throw ArgumentError(fmt::format("{} is missing; --help lists the options", name));
}

}  // namespace

void add_capture_gen_options(CaptureGenOptions& options, po::options_description& list) {
    add_common_options(options, list);
    add_symbol_options(options, list);
    add_link_options(options, list);
}

CaptureKind checked_kind(const CaptureGenOptions& options) {
    constexpr const char* needs_samples = "expected --from samples with it";
    if (!options.link.empty() && !options.kind)
        throw ArgumentError("--from is missing: expected samples or grid with --link");
    const CaptureKind kind = options.kind.value_or(CaptureKind::symbols);
    if (kind == CaptureKind::symbols) {
        require_none(link_options(options), "expected --from samples or --from grid with it");
        require_none(sample_options(options), needs_samples);
        require("--modulation", options.modulation.has_value());
        require("--symbols", options.symbols.has_value());
        return kind;
    }
    require_none(symbol_options(options), "is for symbols; the link says what is sent");
    if (kind == CaptureKind::grid) require_none(sample_options(options), needs_samples);
    require("--link", !options.link.empty());
    require("--slots", options.slots.has_value());
    return kind;
}

}  // namespace phy::apps

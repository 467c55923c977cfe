#include "link_sim/options.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "common/formats.hpp"
#include "transmission/air_options.hpp"

namespace phy::apps {
namespace {

float parse_scale(std::string_view text) {
    const std::optional<float> value = parse_number<float>(text);
    // So that NaN is outside.
    if (!value || !(*value >= 1.0F / 64.0F && *value <= 4096.0F))
        throw ArgumentError("expected numbers from 1/64 to 4096");
    return *value;
}

int parse_symbol(std::string_view text) {
    const std::optional<int> value = parse_number<int>(text);
    if (!value || *value < 0 || *value >= symbols_per_slot)
        throw ArgumentError("expected whole numbers from 0 to 13");
    return *value;
}

double parse_spacing(const std::string& text) {
    for (const double spacing : {15e3, 30e3, 60e3, 120e3}) {
        if (parse_number<double>(text) == spacing) return spacing;
    }
    throw ArgumentError(fmt::format("--subcarrier-spacing {}: expected 15000, 30000, 60000 or 120000", text));
}

Knowledge parse_known(const std::string& text) {
    Knowledge known;
    if (text == "none") return known;
    for (const std::string& word : split(text)) {
        if (word != "channel" && word != "noise")
            throw ArgumentError(
                fmt::format("--known {}: expected 'channel', 'noise', 'channel,noise' or 'none'", text));
        (word == "channel" ? known.channel : known.noise) = true;
    }
    return known;
}

/// None for "auto": Host chooses.
std::optional<Backend> parse_backend(const std::string& text) {
    if (text == "auto") return std::nullopt;
    if (text.starts_with("cuda"))
        throw ArgumentError(
            fmt::format("--backend {}: expected a backend of the CPU: link_sim runs on CPUs alone", text));
    return Backend::parse(text);
}

/// Throws ArgumentError for duplicates: they would be simulated twice.
template <typename T>
std::vector<T> each_once(const std::vector<T>& all, const std::vector<std::string>& texts,
                         std::string_view option) {
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (std::find(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(i), all[i]) !=
            all.begin() + static_cast<std::ptrdiff_t>(i))
            throw ArgumentError(fmt::format("{} {}: given twice, expected once", option, texts[i]));
    }
    return all;
}

/// An option that is a comma-separated list.
template <typename Target, typename Parse>
auto* listed(Target& target, const char* option, Parse parse, const char* value_name) {
    return parsed(
        target,
        [option, parse](const std::string& list) {
            return each_once(parse_list(option, list, parse), split(list), option);
        },
        value_name);
}

void add_receiver_options(LinkSimOptions& options, po::options_description& list) {
    list.add_options()  //
        ("method", listed(options.methods, "--method", parse_method, "METHOD[,METHOD...]"),
         "how likelihoods are combined: maxlog (default), logmap")  //
        ("llr", listed(options.formats, "--llr", parse_soft_bit_format, "FORMAT[,FORMAT...]"),
         "formats of the soft bits: int8, float16, float32 (default)")  //
        ("llr-scale", listed(options.scales, "--llr-scale", parse_scale, "X[,X...]"),
         "int8: steps per nat, default 6")  //
        ("known", po::value(&options.known)->composing()->value_name("WHAT"),
         "what the receiver knows and need not estimate: channel, noise, channel,noise or none; repeated: "
         "one receiver for each; default: channel,noise without fading, else none")  //
        ("delay-spread",
         number_within<double>(options.delay_spread_ns, "--delay-spread", "NS",
                               {0.0, 10'000.0, "a number from 0 to 10000"}),
         "longest delay spread that the channel estimator expects; default 0: up to 1.5 cyclic prefixes of "
         "delay")  //
        ("equalizer", parsed(options.equalizer, parse_equalizer, "EQUALIZER"),
         "method that separates layers: mmse (default) or zero-forcing");
}

void add_slot_options(LinkSimOptions& options, po::options_description& list) {
    add_air_options(options, list);
    list.add_options()  //
        ("layers", number_within<int>(options.layers, "--layers", "N", {1, 4, "a whole number from 1 to 4"}),
         "number of layers, default 1")  //
        ("resource-blocks",
         number_within<int>(options.resource_blocks, "--resource-blocks", "N",
                            {1, 275, "a whole number from 1 to 275"}),
         "resource blocks of the carrier, all allocated, default 52")  //
        ("subcarrier-spacing", parsed(options.subcarrier_spacing, parse_spacing, "HZ"),
         "subcarrier spacing: 15000, 30000 (default), 60000 or 120000")  //
        ("dmrs-type", number_within<int>(options.dmrs_type, "--dmrs-type", "N", {1, 2, "1 or 2"}),
         "DM-RS configuration type: 1 (default) or 2")  //
        ("dmrs-symbols", listed(options.dmrs_symbols, "--dmrs-symbols", parse_symbol, "N[,N...]"),
         "DM-RS symbols of the slot, default 2,11");
}

void add_run_options(LinkSimOptions& options, po::options_description& list) {
    list.add_options()  //
        ("errors", number_within<std::uint64_t>(options.errors, "--errors", "N", from_one_on),
         "number of wrong bits at every receiver that ends a point, default 1000")  //
        ("max-bits", number_within<std::uint64_t>(options.max_bits, "--max-bits", "N", from_one_on),
         "number of bits that ends a point whatever the errors, default 10000000")  //
        ("min-slots",
         number_within<std::uint64_t>(options.min_slots, "--min-slots", "N",
                                      {1, 1'000'000'000, "a whole number from 1 to 1000000000"}),
         "minimum number of slots of a point, default 1, with fading 200")                               //
        ("seed", number<std::uint64_t>(options.seed, "N"), "seed of bits, fading and noise, default 1")  //
        ("backend", parsed(options.backend, parse_backend, "BACKEND"),
         "backend: auto (default: PHY_BACKEND, else cpu), scalar, cpu, or the name of a CPU backend that "
         "phy_info lists; the result does not depend on it")  //
        ("threads",
         number_within<int>(options.threads, "--threads", "N", {0, 1024, "a whole number from 0 to 1024"}),
         "CPU threads (0, default: all processors); the result does not depend on it")               //
        ("csv", text(options.csv, "FILE"), "output file for the points, as comma-separated values")  //
        ("force", flag(options.force), "overwrite the file of --csv if it exists");
}

std::vector<Knowledge> known_of(const LinkSimOptions& options) {
    std::vector<Knowledge> all;
    for (const std::string& text : options.known)
        all.push_back(parse_known(text));
    const bool fades = options.channel.kind != ChannelKind::awgn;
    if (all.empty()) all.push_back({.channel = !fades, .noise = !fades});
    return each_once(all, options.known, "--known");
}

/// All formats with all methods; int8 also with all scales.
std::vector<SoftBitChoice> soft_bits_of(const LinkSimOptions& options) {
    const bool has_int8 = std::ranges::find(options.formats, SoftBitFormat::int8) != options.formats.end();
    if (!has_int8 && !options.scales.empty()) throw ArgumentError("--llr-scale: only with soft bits in int8");
    const std::vector<float> scales =
        options.scales.empty() ? std::vector{LlrConfig().scale} : options.scales;
    std::vector<SoftBitChoice> all;
    for (const Method method : options.methods) {
        for (const SoftBitFormat format : options.formats) {
            const bool scaled = format == SoftBitFormat::int8;
            for (const float scale : scaled ? scales : std::vector{LlrConfig().scale})
                all.push_back({method, format, scale});
        }
    }
    return all;
}

SlotAllocation allocation_of(const LinkSimOptions& options) {
    SlotAllocation allocation;
    allocation.carrier_resource_blocks = options.resource_blocks;
    allocation.resource_blocks = {{0, options.resource_blocks}};
    allocation.dmrs.type = options.dmrs_type;
    allocation.dmrs.symbols = options.dmrs_symbols;
    allocation.dmrs.ports.clear();
    for (int port = 0; port < options.layers; ++port)
        allocation.dmrs.ports.push_back(port);
    return allocation;
}

}  // namespace

void add_link_sim_options(LinkSimOptions& options, po::options_description& list) {
    list.add_options()  //
        ("modulation", listed(options.modulations, "--modulation", parse_modulation, "M[,M...]"),
         "modulations: pi2-bpsk, bpsk, qpsk, 16qam, 64qam, 256qam, 1024qam; default "
         "qpsk,16qam,64qam,256qam")  //
        ("snr-db", parsed(options.snr_db, parse_snr_range, "FIRST:STEP:LAST"),
         "range of SNRs in dB, or one: the power of all layers at one antenna over its noise; default "
         "0:2:30");
    add_slot_options(options, list);
    add_receiver_options(options, list);
    add_run_options(options, list);
}

std::vector<double> parse_snr_range(const std::string& text) {
    std::vector<double> numbers;
    for (std::size_t first = 0; first <= text.size();) {
        const std::size_t end = std::min(text.find(':', first), text.size());
        // NaN fails any range check.
        numbers.push_back(
            parse_number<double>(std::string_view(text).substr(first, end - first)).value_or(NAN));
        first = end + 1;
    }
    const bool is_range = numbers.size() == 3;
    const bool in_range = std::ranges::all_of(numbers, [](double x) { return x >= -100.0 && x <= 100.0; });
    const double count = is_range ? std::floor((numbers[2] - numbers[0]) / numbers[1] + 1e-6) + 1.0 : 1.0;
    if ((numbers.size() != 1 && !is_range) || !in_range ||
        (is_range && !(numbers[1] > 0.0 && count >= 1.0 && count <= 10'000.0)))
        throw ArgumentError(
            fmt::format("--snr-db {}: expected FIRST:STEP:LAST or one number, from -100 to 100, with a step "
                        "above 0 and at "
                        "most 10000 points",
                        text));
    std::vector<double> all;
    for (double i = 0.0; i < count; i += 1.0) {
        // Rounded to millionths, so that a point is the same in every range that has it.
        const double snr_db = numbers[0] + (is_range ? i * numbers[1] : 0.0);
        all.push_back(std::round(snr_db * 1e6) / 1e6);
    }
    return all;
}

std::vector<LinkConfig> points_of(const LinkSimOptions& options) {
    LinkConfig config;
    config.allocation = allocation_of(options);
    check(config.allocation);
    const int antennas = options.antennas.value_or(options.layers);
    if (antennas < options.layers)
        throw ArgumentError(fmt::format("--antennas {}: expected at least one for each of {} layers",
                                        antennas, options.layers));
    config.channel = {.model = options.channel,
                      .antennas = antennas,
                      .layers = options.layers,
                      .subcarriers = config.allocation.subcarriers(),
                      .subcarrier_spacing = options.subcarrier_spacing,
                      .timing_offset = options.timing_offset_ns * 1e-9,
                      .frequency_offset = options.frequency_offset};
    if (options.delay_spread_ns > 0.0) config.delay_spread = options.delay_spread_ns * 1e-9;
    config.equalization = options.equalizer;
    config.known = known_of(options);
    config.soft_bits = soft_bits_of(options);
    config.seed = options.seed;
    config.backend = options.backend;
    std::vector<LinkConfig> points;
    for (const Modulation modulation : options.modulations) {
        for (const double snr_db : options.snr_db.empty() ? parse_snr_range("0:2:30") : options.snr_db) {
            config.modulation = modulation;
            config.snr_db = snr_db;
            points.push_back(config);
        }
    }
    return points;
}

StopRule stop_rule_of(const LinkSimOptions& options) {
    const bool fades = options.channel.kind != ChannelKind::awgn;
    return {.errors = options.errors,
            .max_bits = options.max_bits,
            .min_slots = options.min_slots.value_or(fades ? 200 : 1)};
}

}  // namespace phy::apps

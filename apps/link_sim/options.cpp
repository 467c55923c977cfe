#include "link_sim/options.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "common/formats.hpp"
#include "transmission/air_options.hpp"

namespace phy::apps {
namespace {

constexpr int max_mcs = 31;
constexpr int max_iterations = 10;
constexpr double max_doppler = 10'000.0;

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

double parse_code_rate(std::string_view text) {
    const std::optional<double> value = parse_number<double>(text);
    // So that NaN is outside.
    if (!value || !(*value > 0.0 && *value <= 1.0)) throw ArgumentError("expected ratios above 0, at most 1");
    return *value;
}

int parse_mcs(std::string_view text) {
    const std::optional<int> value = parse_number<int>(text);
    if (!value || *value < 0 || *value > max_mcs) throw ArgumentError("expected whole numbers from 0 to 31");
    return *value;
}

std::string parse_mcs_table(const std::string& text) {
    if (!find_mcs(text, 0))
        throw ArgumentError(
            fmt::format("--mcs-table {}: expected qam64, qam256, qam64LowSE or qam1024", text));
    return text;
}

double parse_gain(std::string_view text) {
    const std::optional<double> value = parse_number<double>(text);
    // So that NaN is outside.
    if (!value || !(std::abs(*value) <= 100.0)) throw ArgumentError("expected numbers from -100 to 100");
    return *value;
}

int parse_iterations(std::string_view text) {
    const std::optional<int> value = parse_number<int>(text);
    if (!value || *value < 0 || *value > max_iterations)
        throw ArgumentError("expected whole numbers from 0 to 10");
    return *value;
}

bool parse_switch(std::string_view text) {
    if (text != "on" && text != "off") throw ArgumentError("expected off, on or both");
    return text == "on";
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

PtrsConfig parse_ptrs(const std::string& text) {
    std::vector<std::optional<int>> numbers;
    for (const std::string& word : split(text))
        numbers.push_back(parse_number<int>(word));
    if (numbers.size() != 2 || !numbers[0] || !numbers[1])
        throw ArgumentError(fmt::format("--ptrs {}: expected two numbers, as in 1,2", text));
    return {.time_density = *numbers[0], .frequency_density = *numbers[1]};
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

/// The same, of which elements may be alike.
template <typename Target, typename Parse>
auto* listed_with_repeats(Target& target, const char* option, Parse parse, const char* value_name) {
    return parsed(
        target, [option, parse](const std::string& list) { return parse_list(option, list, parse); },
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
        ("interference-rejection",
         listed(options.interference_rejection, "--interference-rejection", parse_switch, "off|on|off,on"),
         "interference rejection combining (IRC), with the covariance of noise and interference over "
         "antennas and band: off (default), on, or one receiver for each")  //
        ("joint-detection",
         listed(options.joint_detection, "--joint-detection", parse_switch, "off|on|off,on"),
         "detection of both layers together by maximum likelihood: off (default), on, or one receiver for "
         "each")  //
        ("iterations", listed(options.iterations, "--iterations", parse_iterations, "N[,N...]"),
         "max number of times that transport blocks whose CRC fails are detected and decoded again, with "
         "extrinsic LLRs of the decoder as priors: 0 (default) to 10, or one receiver for each; above 0 only "
         "with joint detection")  //
        ("phase-tracking", listed(options.phase_tracking, "--phase-tracking", parse_switch, "off|on|off,on"),
         "removal of the common phase error of each OFDM symbol: off (default), on, or one receiver for "
         "each")  //
        ("time-interpolation",
         listed(options.time, "--time-interpolation", parse_time_interpolation, "MODE[,MODE...]"),
         "interpolation of the channel between DM-RS symbols: average, linear (default), or wiener, which "
         "measures the Doppler shift in each slot")  //
        ("delay-spread",
         number_within<double>(options.delay_spread_ns, "--delay-spread", "NS",
                               {0.0, 10'000.0, "a number from 0 to 10000"}),
         "longest rms delay spread that is expected; default 0: up to 1.5 cyclic prefixes of delay")  //
        ("equalizer", parsed(options.equalizer, parse_equalizer, "EQUALIZER"),
         "equaliser, mmse (default) or zero-forcing");
}

void add_slot_options(LinkSimOptions& options, po::options_description& list) {
    add_air_options(options, list);
    list.add_options()  //
        ("doppler",
         number_within<double>(options.doppler, "--doppler", "HZ",
                               {0.0, max_doppler, "a number from 0 to 10000"}),
         "max Doppler shift of the channel: fading moves within a slot (Jakes' spectrum); default 0: "
         "constant in a slot")  //
        ("interference",
         number_within<double>(options.interference_db, "--interference", "DB",
                               {-100.0, 100.0, "a number from -100 to 100"}),
         "a layer of another cell, with fading and DM-RS of its own: its power over that of all layers, at "
         "an antenna")  //
        ("antenna-gains",
         listed_with_repeats(options.antenna_gains_db, "--antenna-gains", parse_gain, "DB,DB[,...]"),
         "gain of each antenna, for signal, interference and noise; default: all 0")  //
        ("phase-noise",
         number_within<double>(options.phase_noise, "--phase-noise", "DBC_HZ",
                               {-200.0, -40.0, "a number from -200 to -40"}),
         "phase noise of the receiver's oscillator 10 kHz from the carrier, in dBc/Hz; it falls by 20 dB per "
         "decade")  //
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
         "DM-RS symbols of the slot, default 2,11")  //
        ("ptrs", parsed(options.ptrs, parse_ptrs, "L,K"),
         "PT-RS in every L-th OFDM symbol (1, 2 or 4), in every K-th resource block (2 or 4); receivers with "
         "--phase-tracking on use them; default: none");
}

void add_coding_options(LinkSimOptions& options, po::options_description& list) {
    list.add_options()  //
        ("code-rate", listed(options.code_rates, "--code-rate", parse_code_rate, "R[,R...]"),
         "each slot carries a transport block of this code rate, above 0 and at most 1, with each of "
         "--modulation; adds block error rates")  //
        ("mcs", listed(options.mcs, "--mcs", parse_mcs, "N[,N...]"),
         "the same by indices of --mcs-table, which give modulations and code rates")  //
        ("mcs-table", parsed(options.mcs_table, parse_mcs_table, "TABLE"),
         "MCS table: qam64 (default), qam256, qam64LowSE or qam1024 (TS 38.214 tables 5.1.3.1-1 to -4)")  //
        ("decoder-iterations",
         number_within<int>(options.decoder_iterations, "--decoder-iterations", "N",
                            {1, 255, "a whole number from 1 to 255"}),
         "max iterations of the LDPC decoder per code block, default 20")  //
        ("block-errors",
         number_within<std::uint64_t>(options.block_errors, "--block-errors", "N", from_one_on),
         "block errors at every receiver that end a point, default 100")  //
        ("max-blocks", number_within<std::uint64_t>(options.max_blocks, "--max-blocks", "N", from_one_on),
         "transport blocks that end a point whatever the errors, default 1000");
}

void add_run_options(LinkSimOptions& options, po::options_description& list) {
    list.add_options()  //
        ("errors", number_within<std::uint64_t>(options.errors, "--errors", "N", from_one_on),
         "without transport blocks: bit errors at every receiver that end a point, default 1000")  //
        ("max-bits", number_within<std::uint64_t>(options.max_bits, "--max-bits", "N", from_one_on),
         "without transport blocks: bits that end a point whatever the errors, default 10000000")  //
        ("min-slots",
         number_within<std::uint64_t>(options.min_slots, "--min-slots", "N",
                                      {1, 1'000'000'000, "a whole number from 1 to 1000000000"}),
         "minimum number of slots of a point, default 1, with fading or phase noise 200")                //
        ("seed", number<std::uint64_t>(options.seed, "N"), "seed of bits, fading and noise, default 1")  //
        ("backend", parsed(options.backend, parse_backend, "BACKEND"),
         "backend: auto (default: PHY_BACKEND, else cpu), scalar, cpu, or the name of a CPU backend that "
         "phy_info lists; the result does not depend on it")  //
        ("threads",
         number_within<int>(options.threads, "--threads", "N", {0, 1024, "a whole number from 0 to 1024"}),
         "CPU threads (0, default: all processors); the result does not depend on it")               //
        ("csv", text(options.csv, "FILE"), "output file for the points, as comma-separated values")  //
        ("force", flag(options.force), "overwrite existing files: that of --csv");
}

std::vector<Knowledge> known_of(const LinkSimOptions& options) {
    std::vector<Knowledge> all;
    for (const std::string& text : options.known)
        all.push_back(parse_known(text));
    const bool fades = options.channel.kind != ChannelKind::awgn;
    if (all.empty()) all.push_back({.channel = !fades, .noise = !fades});
    return each_once(all, options.known, "--known");
}

std::vector<EqualizerChoice> equalizers_of(const LinkSimOptions& options) {
    std::vector<EqualizerChoice> all;
    for (const Knowledge& known : known_of(options)) {
        // A channel that is known needs no interpolation.
        const std::size_t times = known.channel ? 1 : options.time.size();
        for (const bool rejects : options.interference_rejection)
            for (const TimeInterpolation time : std::span(options.time).first(times))
                for (const bool tracks : options.phase_tracking)
                    for (const bool joint : options.joint_detection)
                        for (const int iterations : joint ? options.iterations : std::vector{0})
                            all.push_back({known, rejects, time, tracks, joint, iterations});
    }
    return all;
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

/// Throws ArgumentError for options of the other kind of simulation.
void check_coding(const LinkSimOptions& options) {
    const auto refuse = [](bool given, std::string_view option, std::string_view expected) {
        if (given) throw ArgumentError(fmt::format("{}: {}", option, expected));
    };
    const bool has_blocks = options.has_blocks();
    const std::string_view only_with = "only with --mcs or --code-rate";
    refuse(!has_blocks && options.decoder_iterations, "--decoder-iterations", only_with);
    refuse(!has_blocks && options.block_errors, "--block-errors", only_with);
    refuse(!has_blocks && options.max_blocks, "--max-blocks", only_with);
    refuse(options.mcs.empty() && options.mcs_table, "--mcs-table", "only with --mcs");
    refuse(has_blocks && options.errors, "--errors", "with transport blocks, expected --block-errors");
    refuse(has_blocks && options.max_bits, "--max-bits", "with transport blocks, expected --max-blocks");
    const std::string_view is_given = "not with --mcs, which gives it";
    refuse(!options.mcs.empty() && !options.modulations.empty(), "--modulation", is_given);
    refuse(!options.mcs.empty() && !options.code_rates.empty(), "--code-rate", is_given);
}

/// What points of one SNR differ in.
struct Sent {
    Modulation modulation;
    std::optional<BlockCoding> coding;
};

std::vector<Sent> sent_by(const LinkSimOptions& options) {
    const int iterations = options.decoder_iterations.value_or(TransportDecoderConfig().iterations);
    std::vector<Sent> all;
    for (const int index : options.mcs) {
        const std::optional<Mcs> mcs = find_mcs(options.table_of_mcs(), index);
        if (!mcs)
            throw ArgumentError(fmt::format("--mcs {}: expected an index that has a code rate in table {}",
                                            index, options.table_of_mcs()));
        all.push_back({mcs->modulation,
                       BlockCoding{.code_rate = mcs->code_rate, .mcs = index, .iterations = iterations}});
    }
    if (!all.empty()) return all;
    const std::vector<Modulation> modulations =
        options.modulations.empty()
            ? std::vector{Modulation::qpsk, Modulation::qam16, Modulation::qam64, Modulation::qam256}
            : options.modulations;
    for (const Modulation modulation : modulations) {
        if (options.code_rates.empty()) all.push_back({modulation, std::nullopt});
        for (const double code_rate : options.code_rates)
            all.push_back({modulation, BlockCoding{.code_rate = code_rate, .iterations = iterations}});
    }
    return all;
}

/// Throws ArgumentError for options that contradict the channel.
void check_fading(const LinkSimOptions& options) {
    const bool fades = options.channel.kind != ChannelKind::awgn;
    if (options.interference_db && !fades)
        throw ArgumentError(
            "--interference: expected a --channel that fades: without fading, the other cell "
            "would arrive like a layer of this one");
    if (options.doppler > 0.0 && !fades)
        throw ArgumentError(
            "--doppler: expected a --channel that fades; --frequency-offset shifts all of a signal");
}

/// Throws ArgumentError for options that do not fit this number of antennas.
void check_antennas(const LinkSimOptions& options, int antennas) {
    const auto gains = options.antenna_gains_db.size();
    if (gains > 0 && gains != static_cast<std::size_t>(antennas))
        throw ArgumentError(
            fmt::format("--antenna-gains: {} gains, expected one for each of {} antennas", gains, antennas));
}

/// Throws ArgumentError if not all receivers can detect layers together.
void check_joint_detection(const LinkSimOptions& options) {
    const bool iterates = options.iterations != std::vector{0};
    if (iterates && !options.has_blocks())
        throw ArgumentError("--iterations: only with --mcs or --code-rate");
    if (std::ranges::find(options.joint_detection, true) == options.joint_detection.end()) {
        if (iterates) throw ArgumentError("--iterations: only with --joint-detection on, of two layers");
        return;
    }
    if (options.layers != 2)
        throw ArgumentError(fmt::format("--joint-detection on with --layers {}: expected 2", options.layers));
    if (std::ranges::find(options.methods, Method::log_map) != options.methods.end())
        throw ArgumentError("--joint-detection on with --method logmap: expected maxlog");
    for (const Modulation modulation : options.modulations)
        if (bits_per_symbol(modulation) == 1)
            throw ArgumentError(
                fmt::format("--joint-detection on with --modulation {}: expected modulations from "
                            "QPSK on",
                            to_string(modulation)));
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
    allocation.ptrs = options.ptrs;
    return allocation;
}

}  // namespace

void add_link_sim_options(LinkSimOptions& options, po::options_description& list) {
    list.add_options()  //
        ("modulation", listed(options.modulations, "--modulation", parse_modulation, "M[,M...]"),
         "modulations: pi2-bpsk, bpsk, qpsk, 16qam, 64qam, 256qam, 1024qam; default "
         "qpsk,16qam,64qam,256qam")  //
        ("snr-db", parsed(options.snr_db, parse_snr_range, "FIRST:STEP:LAST|X"),
         "SNR in dB, a range or one value: the power of all layers at one antenna over its noise; default "
         "0:2:30");
    add_slot_options(options, list);
    add_receiver_options(options, list);
    add_coding_options(options, list);
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
    check_coding(options);
    LinkConfig config;
    config.allocation = allocation_of(options);
    check(config.allocation);
    const int antennas = options.antennas.value_or(options.layers);
    if (antennas < options.layers)
        throw ArgumentError(fmt::format("--antennas {}: expected at least one for each of {} layers",
                                        antennas, options.layers));
    check_antennas(options, antennas);
    check_fading(options);
    check_joint_detection(options);
    config.interference_db = options.interference_db;
    config.antenna_gains_db = options.antenna_gains_db;
    config.phase_noise = options.phase_noise;
    config.channel = {.model = options.channel,
                      .antennas = antennas,
                      .layers = options.layers,
                      .subcarriers = config.allocation.subcarriers(),
                      .subcarrier_spacing = options.subcarrier_spacing,
                      .timing_offset = options.timing_offset_ns * 1e-9,
                      .frequency_offset = options.frequency_offset,
                      .doppler = options.doppler};
    if (options.delay_spread_ns > 0.0) config.delay_spread = options.delay_spread_ns * 1e-9;
    config.equalization = options.equalizer;
    config.equalizers = equalizers_of(options);
    config.soft_bits = soft_bits_of(options);
    config.seed = options.seed;
    config.backend = options.backend;
    std::vector<LinkConfig> points;
    for (const Sent& sent : sent_by(options)) {
        config.modulation = sent.modulation;
        config.coding = sent.coding;
        for (const double snr_db : options.snr_db.empty() ? parse_snr_range("0:2:30") : options.snr_db) {
            config.snr_db = snr_db;
            points.push_back(config);
        }
    }
    return points;
}

StopRule stop_rule_of(const LinkSimOptions& options) {
    const bool has_blocks = options.has_blocks();
    return {
        .counts_blocks = has_blocks,
        .errors = has_blocks ? options.block_errors.value_or(100) : options.errors.value_or(1000),
        .max_sent = has_blocks ? options.max_blocks.value_or(1000) : options.max_bits.value_or(10'000'000),
        .min_slots =
            options.min_slots.value_or(slots_differ(options.channel.kind, options.phase_noise) ? 200 : 1)};
}

}  // namespace phy::apps

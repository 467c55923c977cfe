#include "demod/options.hpp"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "capture/options.hpp"
#include "common/formats.hpp"
#include "demod/example_link.hpp"

namespace phy::apps {
namespace {

void set_noise_variance(DemodOptions& options, const std::string& text) {
    options.symbols.estimate_noise = text == "estimate";
    if (text == "auto" || text == "estimate") return;
    options.files.capture.noise_variance = parse_number<float>(text);
    const std::optional<float>& value = options.files.capture.noise_variance;
    if (!value || !std::isfinite(*value) || *value <= 0.0F)
        throw ArgumentError(
            fmt::format("--noise-variance {}: expected a finite number above 0, 'auto' or 'estimate'", text));
}

void add_input_options(DemodOptions& options, po::options_description& list) {
    const auto noise_variance = [&options](const std::string& text) { set_noise_variance(options, text); };
    add_capture_options(options.files.capture, list);
    add_range_options(options.files.range, options.survey, list);
    list.add_options()  //
        ("gain", parsed(options.symbols.gain, parse_gain, "X|auto"),
         "amplitude of the constellation, by which symbols are divided; default 1; auto: measured first")  //
        ("noise-variance", po::value<std::string>()->value_name("X|auto|estimate")->notifier(noise_variance),
         "N0 of all symbols, after division by the gain; auto (default): from the capture, per symbol if it "
         "has that; estimate: measured first");
}

void add_output_options(DemodOptions& options, po::options_description& list) {
    const auto parse_descramble = [](const std::string& text) {
        return parse_scrambling("--descramble", text);
    };
    list.add_options()  //
        ("output,o", text(options.output, "FILE"),
         "output file for the soft bits: NAME.npy (NumPy array), NAME.raw (numbers without a header), else "
         "HDF5; default: none")                                                                         //
        ("force", flag(options.files.overwrite), "overwrite existing files: the output and the trace")  //
        ("durable", flag(options.files.durable), "wait until written files survive a loss of power")    //
        ("method", parsed(options.files.llr.method, parse_method, "METHOD"),
         "how likelihoods are combined: maxlog (default) or logmap")  //
        ("evaluator", parsed(options.files.llr.evaluator, parse_evaluator, "EVALUATOR"),
         "how soft bits are computed: auto (default), arithmetic or table")  //
        ("llr", parsed(options.llr, parse_soft_bit_format, "FORMAT"),
         "format of the soft bits: int8 (default; with --hard float16), float16 or float32")  //
        ("llr-scale",
         number_within<float>(options.llr_scale, "--llr-scale", "X",
                              {1.0F / 64, 4096.0F, "a number from 1/64 to 4096"}),
         "int8: steps per nat, default 6")  //
        ("llr-clip",
         number_within<int>(options.llr_clip, "--llr-clip", "N", {1, 127, "a whole number from 1 to 127"}),
         "int8: largest magnitude of a soft bit, default 127")  //
        ("hard", flag(options.symbols.hard),
         "symbols only: write hard decisions (dataset /bits, 0 or 1) instead of /llr")  //
        ("keep-shape", flag(options.symbols.keep_shape),
         "symbols only: output with the dimensions of the capture, then the bits of a symbol")  //
        ("count-errors", flag(options.symbols.count_all_errors),
         "symbols only: compare all transmitted bits; default: all of up to 2^20 symbols, else those of "
         "2^18 symbols spread over the capture")  //
        ("descramble", parsed(options.symbols.descramble, parse_descramble, "n_RNTI,n_ID[,q]"),
         "symbols only: identity of the scrambling, which is undone; the capture is one codeword (TS 38.211 "
         "clauses 6.3.1.1, 7.3.1.1; q is 0 or 1, default 0)");
}

void set_written(ReceiveOptions& how, const std::string& list) {
    how.writes_llr = false;
    for (const std::string& name : split(list)) {
        if (name == "llr")
            how.writes_llr = true;
        else if (name == "symbols")
            how.writes_symbols = true;
        else if (name == "channel")
            how.writes_channel = true;
        else if (name == "tb")
            how.writes_payload = true;
        else if (name == "uci")
            how.writes_uci = true;
        else
            throw ArgumentError(
                fmt::format("--write {}: expected llr, symbols, channel, tb and uci, or some of them", list));
    }
}

/// An option that is "on" or "off".
auto* switched(std::optional<bool>& target, const char* option) {
    return parsed(
        target,
        [option](const std::string& text) {
            if (text != "on" && text != "off")
                throw ArgumentError(fmt::format("{} {}: expected 'on' or 'off'", option, text));
            return text == "on";
        },
        "on|off");
}

/// Numbers and ranges such as 0-1007.
std::vector<std::uint32_t> parse_identities(const std::string& list) {
    constexpr std::uint32_t last_identity = 65535;
    std::vector<std::uint32_t> identities;
    for (const std::string& text : split(list)) {
        const std::size_t dash = text.find('-');
        const std::optional<std::uint32_t> first = parse_number<std::uint32_t>(text.substr(0, dash));
        const std::optional<std::uint32_t> last =
            dash == std::string::npos ? first : parse_number<std::uint32_t>(text.substr(dash + 1));
        if (!first || !last || *last > last_identity || *first > *last)
            throw ArgumentError(fmt::format(
                "--scrambling-ids {}: expected whole numbers from 0 to 65535, or ranges such as 0-1007, with "
                "commas between",
                list));
        for (std::uint32_t identity = *first; identity <= *last; ++identity)
            identities.push_back(identity);
    }
    return identities;
}

void add_link_options(DemodOptions& options, po::options_description& list) {
    const auto written = [&options](const std::string& names) {
        options.chooses_datasets = true;
        set_written(options.slots, names);
    };
    list.add_options()  //
        ("link", text(options.link, "FILE"),
         "JSON file with the link: carrier, allocation and DM-RS; default: the attribute of the capture; "
         "symbols need none")  //
        ("example-link", parsed(options.example, example_link, "CHANNEL"),
         "print a link with comments, of pusch or pdsch, and exit")  //
        ("write", po::value<std::string>()->value_name("LIST")->notifier(written),
         "samples and grids: datasets to write, separated by commas: llr (default), symbols, channel, tb "
         "(transport blocks), uci (bits and soft bits of UCI)")  //
        ("decode", flag(options.decode),
         "samples and grids: decode transport blocks, which needs a link with coding; default: if the link "
         "has it")                                                                                   //
        ("no-decode", flag(options.no_decode), "samples and grids: do not decode transport blocks")  //
        ("decoder-iterations",
         number_within<int>(options.decoder_iterations, "--decoder-iterations", "N",
                            {1, 255, "a whole number from 1 to 255"}),
         "max iterations of the LDPC decoder per code block, default 20")  //
        ("iterations",
         number_within<int>(options.iterations, "--iterations", "N", {0, 10, "a whole number from 0 to 10"}),
         "samples and grids of two layers: max number of times that transport blocks whose CRC fails are "
         "detected and decoded again, with extrinsic LLRs of the decoder as priors; slow; default 0")  //
        ("diagnose", flag(options.slots.diagnoses),
         "samples and grids: search for a link that fits better, by one change at a time")  //
        ("scrambling-ids", parsed(options.slots.diagnose.scrambling_ids, parse_identities, "LIST"),
         "DM-RS identities that --diagnose tries too, such as 7,42 or 0-1007");
}

void add_receiver_options(DemodOptions& options, po::options_description& list) {
    list.add_options()  //
        ("equalizer", parsed(options.slots.equalization, parse_equalizer, "EQUALIZER"),
         "samples and grids: equaliser, mmse (default) or zero-forcing")  //
        ("interference-rejection", switched(options.slots.interference_rejection, "--interference-rejection"),
         "samples and grids: interference rejection combining (IRC), with the covariance of noise and "
         "interference that is measured over antennas and band; default: on with 2 antennas or more, unless "
         "a slot has too few DM-RS to measure it or --noise-variance is given")  //
        ("joint-detection", switched(options.slots.joint_detection, "--joint-detection"),
         "samples and grids of two layers: detection of both layers together by maximum likelihood, which is "
         "slower but needs less SNR; default: on, but for --method logmap and --equalizer zero-forcing")  //
        ("phase-tracking", switched(options.slots.phase_tracking, "--phase-tracking"),
         "samples and grids: removal of the common phase error of each OFDM symbol; default: on")  //
        ("delay-spread",
         number_within<double>(options.delay_spread_ns, "--delay-spread", "NS",
                               {0.0, 10'000.0, "a number from 0 to 10000"}),
         "samples and grids: longest rms delay spread that is expected; default 0: up to 1.5 cyclic prefixes "
         "of delay")  //
        ("time-interpolation", parsed(options.slots.time, parse_time_interpolation, "MODE"),
         "samples and grids: interpolation of the channel between DM-RS symbols: average (one estimate per "
         "slot), linear or wiener (default)")  //
        ("doppler-spread",
         number_within<float>(options.doppler_spread_hz, "--doppler-spread", "HZ",
                              {0.0F, 10'000.0F, "a number from 0 to 10000"}),
         "max Doppler shift of the channel, for --time-interpolation wiener; default 0: measured in each "
         "slot");
}

}  // namespace

void add_demod_options(DemodOptions& options, po::options_description& list) {
    add_input_options(options, list);
    add_link_options(options, list);
    add_receiver_options(options, list);
    add_output_options(options, list);
    add_machine_options(options.machine, list);
    list.add_options()  //
        ("trace", text(options.trace, "FILE"),
         "output file for a timeline of all chunks (Trace Event format, for ui.perfetto.dev)");
}

}  // namespace phy::apps

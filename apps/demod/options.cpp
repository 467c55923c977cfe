#include "demod/options.hpp"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "capture/options.hpp"
#include "capture/scrambling.hpp"

namespace phy::apps {
namespace {

void set_noise_variance(DemodulateOptions& how, const std::string& text) {
    how.estimate_noise = text == "estimate";
    if (text == "auto" || text == "estimate") return;
    how.capture.noise_variance = parse_number<float>(text);
    const std::optional<float>& value = how.capture.noise_variance;
    if (!value || !std::isfinite(*value) || *value <= 0.0F)
        throw ArgumentError(
            fmt::format("--noise-variance {}: expected a finite number above 0, 'auto' or 'estimate'", text));
}

void add_input_options(DemodOptions& options, po::options_description& list) {
    const auto noise_variance = [&options](const std::string& text) {
        set_noise_variance(options.how, text);
    };
    add_capture_options(options.how.capture, list);
    list.add_options()  //
        ("gain", parsed(options.how.gain, parse_gain, "X|auto"),
         "amplitude of the constellation, by which symbols are divided; default 1; auto: measured first")  //
        ("noise-variance", po::value<std::string>()->value_name("X|auto|estimate")->notifier(noise_variance),
         "N0 of all symbols, after division by the gain; auto (default): from the capture, per symbol if it "
         "has that; estimate: measured first");
}

void add_output_options(DemodOptions& options, po::options_description& list) {
    const auto parse_descramble = [](const std::string& text) {
        return parse_scrambling("--descramble", text);
    };
    list.add_options()                                                                                     //
        ("output,o", text(options.output, "SOFTBITS.h5"), "output file for the soft bits; default: none")  //
        ("force", flag(options.how.overwrite), "overwrite the output and the trace if they exist")         //
        ("durable", flag(options.how.durable), "wait until the output survives a loss of power")           //
        ("method", parsed(options.how.demapper.method, parse_method, "METHOD"),
         "how likelihoods are combined: maxlog (default) or logmap")  //
        ("evaluator", parsed(options.how.demapper.evaluator, parse_evaluator, "EVALUATOR"),
         "how soft bits are computed: auto (default), arithmetic or table")  //
        ("llr", parsed(options.llr, parse_soft_bit_format, "FORMAT"),
         "format of the soft bits: int8 (default; with --hard float16), float16 or float32")  //
        ("llr-scale",
         number_within<float>(options.how.demapper.llr_scale, "--llr-scale", "X",
                              {1.0F / 64, 4096.0F, "a number from 1/64 to 4096"}),
         "int8: steps per nat, default 6")  //
        ("llr-clip",
         number_within<int>(options.how.demapper.llr_clip, "--llr-clip", "N",
                            {1, 127, "a whole number from 1 to 127"}),
         "int8: largest magnitude of a soft bit, default 127")  //
        ("hard", flag(options.how.hard),
         "symbols only: write hard decisions (dataset /bits, 0 or 1) instead of /llr")  //
        ("keep-shape", flag(options.how.keep_shape),
         "symbols only: output with the dimensions of the capture, then the bits of a symbol")  //
        ("count-errors", flag(options.how.count_all_errors),
         "compare all transmitted bits of the capture; default: all of up to 2^20 symbols, else those of "
         "2^18 symbols spread over the capture")  //
        ("descramble", parsed(options.how.descramble, parse_descramble, "n_RNTI,n_ID[,q]"),
         "identity of the scrambling to undo; the capture is one codeword (TS 38.211 clauses 6.3.1.1, "
         "7.3.1.1; q is 0 or 1, default 0)");
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
        else
            throw ArgumentError(
                fmt::format("--write {}: expected llr, symbols and channel, or some of them", list));
    }
}

std::vector<std::uint32_t> parse_identities(const std::string& list) {
    std::vector<std::uint32_t> identities;
    for (const std::string& text : split(list)) {
        const std::optional<std::uint32_t> value = parse_number<std::uint32_t>(text);
        if (!value || *value > 65535)
            throw ArgumentError(fmt::format(
                "--scrambling-ids {}: expected whole numbers from 0 to 65535, with commas between", list));
        identities.push_back(*value);
    }
    return identities;
}

void add_link_options(DemodOptions& options, po::options_description& list) {
    const auto written = [&options](const std::string& names) { set_written(options.receive, names); };
    list.add_options()  //
        ("link", text(options.link, "FILE"),
         "JSON file with the link: carrier, allocation and DM-RS; default: the attribute of the capture; "
         "symbols need none")  //
        ("write", po::value<std::string>()->value_name("LIST")->notifier(written),
         "samples and grids: datasets to write, separated by commas: llr (default), symbols, channel")  //
        ("diagnose", flag(options.receive.diagnoses),
         "samples and grids: search for the slot number, DM-RS and f0 that fit best, and compare them with "
         "the link")  //
        ("scrambling-ids", parsed(options.receive.diagnose.scrambling_ids, parse_identities, "N[,N...]"),
         "DM-RS identities that --diagnose tries too");
}

}  // namespace

void add_demod_options(DemodOptions& options, po::options_description& list) {
    add_input_options(options, list);
    add_link_options(options, list);
    add_output_options(options, list);
    add_machine_options(options.machine, list);
    list.add_options()  //
        ("trace", text(options.trace, "FILE"),
         "output file for a timeline of all chunks (Trace Event format, for ui.perfetto.dev)");
}

}  // namespace phy::apps

#include "demod/demodulation.hpp"

#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "capture/options.hpp"
#include "capture/survey.hpp"
#include "common/app.hpp"
#include "common/interrupt.hpp"
#include "phy/machine/atomic_file.hpp"
#include "phy/pipeline/pipeline.hpp"

namespace phy::apps {
namespace {

std::string percent(double ratio) {
    return fmt::format("{:.3g} %", 100.0 * ratio);
}

/// Suggests the full scale or gain that fits the power.
std::string power_advice(const Demodulation& done) {
    if (done.check.mean_power == 0.0) return "is the right dataset read?";
    if (done.measured) return "are all of them symbols of one constellation, and is --modulation right?";
    const std::string measures = "--gain auto measures their amplitude";
    if (!done.capture.is_integer || done.gain != 1.0F)
        return fmt::format("{}, --gain {:.4g} fixes it", measures,
                           double{done.gain} * done.check.amplitude());
    // int32 is read as floating point.
    const float of_format = default_full_scale(done.capture.format);
    const double full_scale = done.capture.full_scale.value_or(of_format == 1.0F ? 0x1p31F : of_format);
    return fmt::format("{}, --full-scale {:.4g} fixes it", measures, full_scale * done.check.amplitude());
}

std::string noise_advice(const DemodOptions& options) {
    if (!options.symbols.gain && options.symbols.estimate_noise) return "is --modulation right?";
    return "--gain auto --noise-variance estimate measures the amplitude and N0, if --modulation is right";
}

/// One line that names the mismatch of a capture and the option that fixes it; none without a mismatch.
std::optional<std::string> advice_of(const Demodulation& done, const DemodOptions& options) {
    const SymbolCheck& check = done.check;
    const std::string name = fmt::format("{}: {}", done.capture.file.string(), done.capture.dataset);
    switch (check.mismatch) {
        case SymbolMismatch::none:
        case SymbolMismatch::fault:
        case SymbolMismatch::modulation:
            break;  // demodulate_file() warns
        case SymbolMismatch::no_constellation:
            return fmt::format(
                "{}: the symbols are spread like noise and show no constellation: if they are samples in "
                "time, --from samples --link FILE receives them",
                name);
        case SymbolMismatch::power:
            return fmt::format("{}: the mean power of the symbols is {:.3g} ({:+.1f} dB), expected 1: {}",
                               name, check.mean_power, 10.0 * std::log10(check.mean_power),
                               power_advice(done));
        case SymbolMismatch::noise_variance:
            return fmt::format("{}: the EVM is {}, expected {} from N0: {}", name, percent(check.evm),
                               percent(check.expected_evm), noise_advice(options));
    }
    return std::nullopt;
}

void require_no_capture(const DemodOptions& options, const std::string& file) {
    require_other_file(options.output, file, "the output would overwrite the capture");
    require_other_file(options.trace, file, "the trace would overwrite the capture");
}

void require_different_files(const DemodOptions& options) {
    require_no_capture(options, options.capture);
    require_other_file(options.trace, options.output, "the trace would overwrite the output");
    require_other_file(options.output, options.link, "the output would overwrite the link");
    require_other_file(options.trace, options.link, "the trace would overwrite the link");
    require_other_file(options.output, options.survey, "the output would overwrite the survey");
    require_other_file(options.trace, options.survey, "the trace would overwrite the survey");
}

/// An output must not be one of the capture's files.
void check_outputs(const DemodOptions& options, const CaptureDescription& capture) {
    for (const std::filesystem::path& file : capture.files)
        require_no_capture(options, file.string());
    require_force_if_exists(options.output, options.files.overwrite);
    require_force_if_exists(options.trace, options.files.overwrite);
}

/// The options that supply what the capture lacks.
const char* options_for(DescriptionError::Lacks lacks, const DemodOptions& options) {
    const bool estimates_noise = options.symbols.estimate_noise;
    // Only a rate in the link would have made it samples.
    const bool may_be_samples =
        !options.link.empty() && !options.files.capture.raw.empty() && !options.files.capture.kind;
    switch (lacks) {
        case DescriptionError::Lacks::modulation:
            return "expected that, or --modulation M";
        case DescriptionError::Lacks::noise_variance:
            if (may_be_samples && !estimates_noise)
                return "samples need carrier.sample_rate in the link; symbols need --noise-variance X or "
                       "estimate";
            return estimates_noise ? "--noise-variance X gives one"
                                   : "--noise-variance X gives one, --noise-variance estimate measures it";
        case DescriptionError::Lacks::modulation_and_noise_variance:
            return "expected both, or --modulation M and --noise-variance X or estimate";
        case DescriptionError::Lacks::link:
            return "expected that, or --link FILE";
        case DescriptionError::Lacks::bits:
            break;
    }
    return "expected those";
}

/// Calls work; errors name the options that help.
template <typename Work>
auto with_option_errors(const DemodOptions& options, Work work) {
    try {
        return with_machine_errors(options.machine, work);
    } catch (const DescriptionError& error) {
        throw FileError(fmt::format("{}: {}", error.what(), options_for(error.lacks(), options)));
    }
}

/// Throws ArgumentError for options that the output's format has no place for.
void require_room_in_output(const DemodOptions& options) {
    const OutputFormat format = output_format(options.output);
    if (format == OutputFormat::hdf5) return;
    const auto renamed = [&](const char* ending) {
        return std::filesystem::path(options.output).replace_extension(ending).string();
    };
    const ReceiveOptions& slots = options.slots;
    if (slots.writes_symbols || slots.writes_channel || slots.writes_uci ||
        slots.writes_llr == slots.writes_payload)
        throw ArgumentError(fmt::format(
            "--write: {} takes soft bits alone, or tb alone; for more, symbols, channel or uci expected an "
            "HDF5 output, such as {}",
            options.output, renamed(".h5")));
    if (options.symbols.keep_shape && format == OutputFormat::raw)
        throw ArgumentError(fmt::format("--keep-shape: {} has no dimensions; expected {} or {}",
                                        options.output, renamed(".npy"), renamed(".h5")));
}

/// Throws ArgumentError for options that change nothing without others. format: of the soft bits.
void require_effect(const DemodOptions& options, SoftBitFormat format) {
    const auto require = [](bool has_effect, bool is_given, const char* option, const char* needed) {
        if (is_given && !has_effect) throw ArgumentError(fmt::format("{}: only with {}", option, needed));
    };
    const bool writes = !options.output.empty();
    require(writes, options.chooses_datasets, "--write", "--output");
    require(writes, options.symbols.keep_shape, "--keep-shape", "--output");
    require_room_in_output(options);
    require(writes || !options.trace.empty(), options.files.durable, "--durable", "--output or --trace");
    const bool is_int8 = format == SoftBitFormat::int8;
    require(!options.files.range, options.symbols.keep_shape, "--keep-shape", "all symbols, without --range");
    require(is_int8, options.llr_scale.has_value(), "--llr-scale", "soft bits in int8");
    require(is_int8, options.llr_clip.has_value(), "--llr-clip", "soft bits in int8");
}

void require_none_of(const char* kind, const std::vector<std::pair<bool, const char*>>& given) {
    for (const auto& [is_given, option] : given)
        if (is_given) throw ArgumentError(fmt::format("{}: not for a capture of {}", option, kind));
}

DemodulateOptions symbol_options(const DemodOptions& options, const SoftBitFileOptions& files) {
    require_none_of("symbols",
                    {{options.chooses_datasets, "--write"},
                     {!options.survey.empty() && !options.surveys_if_slots, "--survey"},
                     {options.decode, "--decode"},
                     {options.no_decode, "--no-decode"},
                     {options.decoder_iterations.has_value(), "--decoder-iterations"},
                     {options.iterations.has_value(), "--iterations"},
                     {options.slots.diagnoses, "--diagnose"},
                     {options.slots.equalization != Equalization::mmse, "--equalizer"},
                     {options.slots.interference_rejection.has_value(), "--interference-rejection"},
                     {options.slots.joint_detection.has_value(), "--joint-detection"},
                     {options.slots.phase_tracking.has_value(), "--phase-tracking"},
                     {options.delay_spread_ns != 0.0, "--delay-spread"},
                     {options.slots.time != TimeInterpolation::wiener, "--time-interpolation"},
                     {options.doppler_spread_hz != 0.0F, "--doppler-spread"},
                     {!options.slots.diagnose.scrambling_ids.empty(), "--scrambling-ids"}});
    DemodulateOptions how = options.symbols;
    if (files.link) require_none_of("symbols with a link", {{how.descramble.has_value(), "--descramble"}});
    static_cast<SoftBitFileOptions&>(how) = files;
    how.format = options.llr.value_or(how.hard ? SoftBitFormat::float16 : SoftBitFormat::int8);
    require_effect(options, how.format);
    return how;
}

/// The option that needs a decoder; empty: none was given.
std::string decoding_wish(const ReceiveOptions& how, const DemodOptions& options) {
    if (options.decode) return "--decode";
    if (how.writes_payload) return "--write tb";
    if (how.writes_uci) return "--write uci";
    if (options.iterations) return "--iterations";
    return options.decoder_iterations ? "--decoder-iterations" : "";
}

/// What a link can say of decoding.
struct Coding {
    bool is_known = false;
    bool has_uci = false;
};

/// All of it without a valid link, which is an error of its own.
Coding coding_of(const SoftBitFileOptions& files, const CaptureDescription& capture) {
    const auto of_link = [](const Link& link) {
        return Coding{link.coding.has_value(), link.coding && link.coding->uci};
    };
    if (files.link) return of_link(*files.link);
    try {
        if (capture.link) return of_link(parse_link(*capture.link));
    } catch (const ArgumentError&) {
    }
    return {true, true};
}

/// Throws ArgumentError for options that the link leaves without effect.
void set_decoding(ReceiveOptions& how, const DemodOptions& options, const Coding& coding) {
    const std::string wish = decoding_wish(how, options);
    if (options.no_decode && !wish.empty())
        throw ArgumentError(fmt::format("{}: not with --no-decode", wish));
    if (!wish.empty() && !coding.is_known)
        throw ArgumentError(
            fmt::format("{}: only with a link that has coding.code_rate, "
                        "coding.transport_block_size or allocation.mcs_index",
                        wish));
    if (how.writes_uci && !coding.has_uci)
        throw ArgumentError("--write uci: only with a link that has coding.uci");
    how.decodes = !options.no_decode;
    how.decoder_iterations = options.decoder_iterations.value_or(how.decoder_iterations);
    how.iterations = options.iterations.value_or(how.iterations);
}

ReceiveOptions slot_options(const DemodOptions& options, const SoftBitFileOptions& files,
                            const CaptureDescription& capture) {
    const DemodulateOptions& symbols = options.symbols;
    const char* const kind = capture.kind == CaptureKind::grid ? "a grid" : "samples";
    require_none_of(kind, {{symbols.gain != 1.0F, "--gain"},
                           {symbols.descramble.has_value(), "--descramble"},
                           {symbols.hard, "--hard"},
                           {symbols.keep_shape, "--keep-shape"},
                           {symbols.count_all_errors, "--count-errors"}});
    ReceiveOptions how = options.slots;
    if (!how.diagnoses && !how.diagnose.scrambling_ids.empty())
        throw ArgumentError("--scrambling-ids: only with --diagnose");
    if (options.doppler_spread_hz > 0.0F && how.time != TimeInterpolation::wiener)
        throw ArgumentError("--doppler-spread: only with --time-interpolation wiener");
    if (how.interference_rejection.value_or(false) && files.capture.noise_variance)
        throw ArgumentError("--noise-variance: not with --interference-rejection on, which measures it");
    static_cast<SoftBitFileOptions&>(how) = files;
    how.format = options.llr.value_or(SoftBitFormat::int8);
    require_effect(options, how.format);
    set_decoding(how, options, coding_of(files, capture));
    how.noise_variance = files.capture.noise_variance;
    if (options.delay_spread_ns > 0.0) how.delay_spread = static_cast<float>(1e-9 * options.delay_spread_ns);
    if (options.doppler_spread_hz > 0.0F) how.doppler_spread = options.doppler_spread_hz;
    return how;
}

/// Ignores attributes that options override.
CaptureDescription describe_capture(const DemodOptions& options, const SoftBitFileOptions& files) {
    CaptureOptions capture = files.capture;
    capture.ignores_noise_variance = options.symbols.estimate_noise;
    if (files.link) {
        capture.link.emplace();
        if (!capture.modulation) capture.modulation = files.link->modulation;
    }
    return CaptureReader(options.capture, capture).description();
}

/// A capture, and how it is processed.
class Opened {
public:
    Opened(const DemodOptions& options, bool quiet);

    [[nodiscard]] const SoftBitFileOptions& files() const { return files_; }
    [[nodiscard]] const CaptureDescription& capture() const { return capture_; }
    [[nodiscard]] bool has_symbols() const { return capture_.kind == CaptureKind::symbols; }

    // Throw ArgumentError for options that do not fit the kind of the capture. The rest is with progress,
    // which stops when interrupted.
    [[nodiscard]] DemodulateOptions of_symbols() { return on_machine(symbol_options(options_, files_)); }
    [[nodiscard]] ReceiveOptions of_slots() {
        ReceiveOptions how = on_machine(slot_options(options_, files_, capture_));
        const auto make = [&] { return survey_file(options_.capture, how).text; };
        if (!options_.survey.empty()) how.survey = survey_of(options_.survey, make, options_.files.durable);
        return how;
    }

private:
    /// Usage errors come before those of the machine.
    template <typename Options>
    Options on_machine(Options how) {
        set_machine(how, options_.machine, progress_);
        if (options_.each_chunk)
            how.progress = [shown = how.progress, each_chunk = options_.each_chunk](std::uint64_t done,
                                                                                    std::uint64_t all) {
                each_chunk();
                shown(done, all);
            };
        return how;
    }

    const DemodOptions& options_;
    SoftBitFileOptions files_;
    CaptureDescription capture_;
    Progress progress_;
};

SoftBitFileOptions file_options(const DemodOptions& options) {
    SoftBitFileOptions files = options.files;
    files.llr.scale = options.llr_scale.value_or(files.llr.scale);
    files.llr.clip = options.llr_clip.value_or(files.llr.clip);
    if (!options.link.empty()) files.link = read_link(options.link);
    choose_kind(files.capture, options.capture, files.link);
    files.capture.more_antennas.assign(options.more_captures.begin(), options.more_captures.end());
    return files;
}

Opened::Opened(const DemodOptions& options, bool quiet)
    : options_(options),
      files_(file_options(options)),
      capture_(with_option_errors(options, [&] { return describe_capture(options, files_); })),
      progress_(0, quiet, has_symbols() ? Progress::Unit::symbols : Progress::Unit::slots) {
    check_outputs(options, capture_);
}

/// With the trace.
Demodulated demodulate_visibly(const DemodOptions& options, Opened& opened,
                               std::optional<AtomicFile>& trace) {
    return with_option_errors(options, [&]() -> Demodulated {
        const auto traced = [&](auto how) {
            how.pipeline.trace = trace.has_value();
            how.before_commit = [&](const PipelineReport& report) {
                throw_if_interrupted();
                if (trace) trace->append(trace_events(report));
            };
            return how;
        };
        if (opened.has_symbols())
            return demodulate_file(options.capture, options.output, traced(opened.of_symbols()));
        return with_survey_errors(options.survey, [&]() -> Demodulated {
            return receive_file(options.capture, options.output, traced(opened.of_slots()));
        });
    });
}

}  // namespace

Demodulated demodulate(const DemodOptions& options, bool quiet) {
    require_different_files(options);
    Opened opened(options, quiet);
    std::optional<AtomicFile> trace;
    if (!options.trace.empty())
        trace.emplace(options.trace, AtomicFile::Config{.overwrite = options.files.overwrite,
                                                        .durable = options.files.durable});
    Demodulated done = demodulate_visibly(options, opened, trace);
    if (trace) trace->commit();
    if (auto* const symbols = std::get_if<Demodulation>(&done)) {
        if (const std::optional<std::string> advice = advice_of(*symbols, options))
            symbols->warnings.push_back(*advice);
    }
    return done;
}

std::vector<std::filesystem::path> input_files(const DemodOptions& options) {
    require_different_files(options);
    std::vector<std::filesystem::path> files = Opened(options, true).capture().files;
    if (!options.link.empty()) files.emplace_back(options.link);
    return files;
}

WholeCapture measure_whole(const DemodOptions& options, bool quiet) {
    require_different_files(options);
    Opened opened(options, quiet);
    return with_option_errors(options, [&]() -> WholeCapture {
        if (!opened.has_symbols())
            return with_survey_errors(options.survey, [&]() -> WholeCapture {
                return {.items = survey_file(options.capture, opened.of_slots()).slots};
            });
        DemodulateOptions how = opened.of_symbols();
        const bool measures = !how.gain || how.estimate_noise;
        if (!measures) return {.items = opened.capture().symbols, .gain = how.gain};
        how.range = ItemRange{0, 1};
        const Demodulation first = demodulate_file(options.capture, {}, how);
        WholeCapture whole = {
            .items = opened.capture().symbols, .gain = first.gain, .warnings = first.warnings};
        if (how.estimate_noise) whole.noise_variance = first.noise_variance;
        return whole;
    });
}

}  // namespace phy::apps

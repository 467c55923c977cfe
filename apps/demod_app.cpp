#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "common/app.hpp"
#include "common/choose_places.hpp"
#include "demod/demodulation.hpp"
#include "demod/report.hpp"

namespace {

using namespace phy::apps;

std::optional<float> parse_noise_variance(const std::string& text) {
    if (text == "auto") return std::nullopt;
    const std::optional<float> value = parse_number<float>(text);
    if (!value || !std::isfinite(*value) || *value <= 0.0F)
        throw phy::ArgumentError(
            fmt::format("--noise-variance {}: expected a finite number above 0, or 'auto'", text));
    return value;
}

void add_input_options(DemodOptions& options, po::options_description& list) {
    list.add_options()  //
        ("dataset", text(options.how.capture.dataset, "PATH"),
         "the IQ samples; default /iq, else the only dataset that looks like IQ")                       //
        ("interleaved", flag(options.how.capture.interleaved), "the dataset is flat: I, Q, I, Q, ...")  //
        ("full-scale",
         number_within<double>(options.how.capture.full_scale, "--full-scale", "X",
                               {0x1p-126, 0x1p126, "a number from 2^-126 to 2^126"}),
         "integer samples: the value of 1.0; default: the attribute, else 2^(bits-1)")  //
        ("modulation", parsed(options.how.capture.modulation, phy::parse_modulation, "M"),
         "pi2-bpsk, bpsk, qpsk, 16qam, 64qam, 256qam or 1024qam; default: the attribute")  //
        ("noise-variance", parsed(options.how.capture.noise_variance, parse_noise_variance, "X|auto"),
         "N0 for all symbols; default auto: the capture's, by symbol if it has that");
}

void add_output_options(DemodOptions& options, po::options_description& list) {
    list.add_options()                                                                                 //
        ("output,o", text(options.output, "SOFTBITS.h5"), "where the soft bits go; default: nowhere")  //
        ("force", flag(options.how.overwrite), "overwrite the output, and the trace, if they exist")   //
        ("method", parsed(options.how.demapper.method, phy::parse_method, "METHOD"),
         "maxlog (default) or logmap")  //
        ("evaluator", parsed(options.how.demapper.evaluator, phy::parse_evaluator, "EVALUATOR"),
         "auto (default), arithmetic or table")  //
        ("llr", parsed(options.how.format, phy::parse_soft_bit_format, "FORMAT"),
         "int8 (default), float16 or float32")  //
        ("llr-scale",
         number_within<float>(options.how.demapper.llr_scale, "--llr-scale", "X",
                              {1.0F / 64, 4096.0F, "a number from 1/64 to 4096"}),
         "int8: steps a nat, default 6")  //
        ("llr-clip",
         number_within<int>(options.how.demapper.llr_clip, "--llr-clip", "N",
                            {1, 127, "a whole number from 1 to 127"}),
         "int8: the largest soft bit, default 127");
}

void add_machine_options(DemodOptions& options, po::options_description& list) {
    list.add_options()                                                      //
        ("backend", text(options.backend, "BACKEND"), backend_option_text)  //
        ("threads",
         number_within<int>(options.threads, "--threads", "N", {0, 1024, "a whole number from 0 to 1024"}),
         "that demap on the CPU; 0: one a processor; default: two fewer, and at least 1")  //
        ("chunk",
         number_within<std::uint64_t>(
             options.chunk, "--chunk", "SYMBOLS",
             {1, std::numeric_limits<std::uint64_t>::max(), "a whole number of symbols from 1 on"}),
         "that go through as one; default: what is fast with the backend")  //
        ("device", parsed(options.device, parse_device, "N[,N...]|all"),
         "CUDA devices, which take chunks in turn: N means cuda[N]")  //
        ("streams",
         number_within<std::uint64_t>(options.streams, "--streams", "N",
                                      {1, 1024, "a whole number from 1 to 1024"}),
         "chunks in flight, for each device; default: what is fast with the backend")  //
        ("order", parsed(options.how.pipeline.order, phy::parse_issue_order, "ORDER"),
         "of a device's work: sequential (default), parallel or serial")  //
        ("trace", text(options.trace, "FILE"),
         "write a timeline of all chunks, for ui.perfetto.dev (Trace Event format)");
}

void run(const DemodOptions& options, const CommonOptions& common) {
    const phy::Demodulation done = demodulate(options, common.quiet);
    print_result(common, json_of(done), text_of(done));
}

}  // namespace

int main(int argc, char** argv) {
    DemodOptions options;
    App app;
    app.name = "demod_app";
    app.summary = "Turns the IQ samples of a capture into soft bits, and reports how fast and how well.";
    app.operand = Operand{"CAPTURE", &options.capture};
    add_input_options(options, app.options);
    add_output_options(options, app.options);
    add_machine_options(options, app.options);
    app.body = [&options](const CommonOptions& common) { run(options, common); };
    app.clean_up = phy::remove_unfinished_outputs;
    return run_app(app, argc, argv);
}

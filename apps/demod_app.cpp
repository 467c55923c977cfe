#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "common/app.hpp"
#include "common/choose_backend.hpp"
#include "common/chunk_demapper.hpp"
#include "common/demod_report.hpp"
#include "common/interrupt.hpp"
#include "common/progress.hpp"
#include "common/staged.hpp"
#include "phy/phy.hpp"

namespace {

using namespace phy::apps;

/// One a processor, less one each for reading and writing.
int default_threads() {
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()) - 2);
}

struct Options {
    std::string capture;
    phy::CaptureOptions reading;
    std::optional<phy::Modulation> modulation;
    std::optional<float> noise_variance;

    std::string output;
    bool force = false;
    phy::Method method = phy::Method::max_log;
    phy::Evaluator evaluator = phy::Evaluator::automatic;
    phy::SoftBitFormat format = phy::SoftBitFormat::int8;
    float llr_scale = 6.0F;
    int llr_clip = 127;

    std::string backend = "auto";
    int threads = default_threads();
    std::uint64_t chunk = 1U << 18U;
    std::string device;
    std::string streams;
    std::string order;
    std::string trace;
};

bool is_noise_variance(float value) {
    return std::isfinite(value) && value > 0.0F;
}

std::optional<float> parse_noise_variance(const std::string& text) {
    if (text == "auto") return std::nullopt;
    const std::optional<float> value = parse_number<float>(text);
    if (!value || !is_noise_variance(*value))
        throw phy::ArgumentError(
            fmt::format("--noise-variance {}: expected a finite number above 0, or 'auto'", text));
    return value;
}

/// Text, because there is no CUDA pipeline yet that would take several.
std::string parse_device(const std::string& text) {
    const bool one = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
    const bool several = text == "all" || (text.find_first_not_of("0123456789,") == std::string::npos &&
                                           text.find_first_of("0123456789") != std::string::npos);
    if (!one && !several)
        throw phy::ArgumentError(fmt::format(
            "--device {}: expected a number from 0 on, such numbers with commas, or 'all'", text));
    if (!one)
        throw phy::BackendError(
            fmt::format("--device {} needs the CUDA pipeline, which this build does not have", text));
    return text;
}

/// Text, because there is no CUDA pipeline yet that would take the number.
std::string parse_streams(const std::string& text) {
    const std::optional<int> value = parse_number<int>(text);
    if (!value || *value < 1)
        throw phy::ArgumentError(fmt::format("--streams {}: expected a whole number from 1 on", text));
    return text;
}

void reject_pipeline_options(const Options& options) {
    const std::array<std::pair<const char*, const std::string&>, 3> of_pipeline = {
        {{"--streams", options.streams}, {"--order", options.order}, {"--trace", options.trace}}};
    for (const auto& [name, value] : of_pipeline) {
        if (!value.empty())
            throw phy::BackendError(
                fmt::format("{} needs the CUDA pipeline, which this build does not have", name));
    }
}

/// What is to be done, settled from the options and what the capture says about itself.
struct Plan {
    phy::Modulation modulation = phy::Modulation::qpsk;
    std::optional<float> noise_variance;  ///< none: one a symbol
    bool with_truth = false;
    std::size_t soft_bits_per_symbol = 0;
    std::size_t chunk = 0;
};

/// A piece of the capture on its way through the stages.
struct Chunk {
    std::uint64_t first = 0;
    std::size_t symbols = 0;
    HostMemory samples;
    HostMemory noise;  ///< floats
    std::vector<std::uint8_t> truth;
    HostMemory soft_bits;
};

constexpr std::size_t chunks_in_flight = 4;

std::size_t chunk_bytes_per_symbol(const Plan& plan, const phy::CaptureDescription& capture,
                                   phy::SoftBitFormat format) {
    return size_of(capture.format) + (plan.noise_variance ? 0 : sizeof(float)) +
           (plan.with_truth ? plan.soft_bits_per_symbol : 0) + plan.soft_bits_per_symbol * size_of(format);
}

/// Refuses what the machine cannot hold before the capture is looked at closer: the same command line must
/// not depend on the length of the capture.
void check_chunk(std::uint64_t chunk, std::size_t bytes_per_symbol) {
    const double wanted =
        static_cast<double>(chunk) * static_cast<double>(bytes_per_symbol * chunks_in_flight);
    const double memory =
        static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
    if (wanted > memory / 2)
        throw phy::ArgumentError(fmt::format(
            "--chunk {}: would take {:.3g} GB of memory, more than half of this machine's {:.3g} GB", chunk,
            wanted / 1e9, memory / 1e9));
}

phy::Modulation choose_modulation(const Options& options, const phy::CaptureDescription& capture) {
    if (options.modulation) return *options.modulation;
    if (capture.modulation) return *capture.modulation;
    throw phy::FileError(fmt::format("{}: {} has no attribute modulation: give --modulation", options.capture,
                                     capture.dataset));
}

std::optional<float> choose_noise_variance(const Options& options, const phy::CaptureDescription& capture) {
    if (options.noise_variance) return options.noise_variance;
    if (capture.has_noise_per_symbol) return std::nullopt;
    if (!capture.noise_variance)
        throw phy::FileError(
            fmt::format("{}: {} has neither an attribute nor a dataset noise_variance: give --noise-variance",
                        options.capture, capture.dataset));
    if (!is_noise_variance(*capture.noise_variance))
        throw phy::FileError(fmt::format("{}: {} has the noise_variance {}, expected a finite number above 0",
                                         options.capture, capture.dataset, *capture.noise_variance));
    return capture.noise_variance;
}

Plan make_plan(const Options& options, const phy::CaptureDescription& capture) {
    Plan plan;
    plan.modulation = choose_modulation(options, capture);
    plan.noise_variance = choose_noise_variance(options, capture);
    plan.soft_bits_per_symbol = bits_per_symbol(plan.modulation);
    plan.with_truth = capture.has_bits && capture.bits_per_symbol == plan.soft_bits_per_symbol;
    if (capture.has_bits && !plan.with_truth)
        spdlog::warn("{}: dataset bits has {} a symbol and {} has {}: no bit error rate", options.capture,
                     capture.bits_per_symbol, to_string(plan.modulation), plan.soft_bits_per_symbol);
    check_chunk(options.chunk, chunk_bytes_per_symbol(plan, capture, options.format));
    plan.chunk = std::min(options.chunk, capture.symbols);
    return plan;
}

std::unique_ptr<ChunkDemapper> make_demapper(const Options& options, const Plan& plan,
                                             const phy::CaptureDescription& capture) {
    return make_chunk_demapper(
        {.demapper = {.modulation = plan.modulation,
                      .method = options.method,
                      .evaluator = options.evaluator,
                      .llr_scale = options.llr_scale,
                      .llr_clip = options.llr_clip,
                      .full_scale = static_cast<float>(capture.full_scale.value_or(0.0)),
                      .threads = options.threads,
                      .backend = choose_backend(options.backend, options.device)},
         .samples = capture.format,
         .soft_bits = options.format,
         .noise_variance = plan.noise_variance,
         .chunk = plan.chunk});
}

std::optional<phy::SoftBitWriter> make_writer(const Options& options, const Plan& plan,
                                              const phy::CaptureDescription& capture) {
    if (options.output.empty()) return std::nullopt;
    std::error_code not_there;
    if (std::filesystem::equivalent(options.output, options.capture, not_there))
        throw phy::ArgumentError(fmt::format("{}: the output would overwrite the capture", options.output));
    require_force_if_exists(options.output, options.force);
    return phy::SoftBitWriter(options.output, {.symbols = capture.symbols,
                                               .format = options.format,
                                               .modulation = plan.modulation,
                                               .llr_scale = options.llr_scale,
                                               .llr_clip = options.llr_clip,
                                               .noise_variance = plan.noise_variance,
                                               .method = std::string(to_string(options.method)),
                                               .source = options.capture + ":" + capture.dataset,
                                               .sample_rate = capture.sample_rate,
                                               .center_frequency = capture.center_frequency,
                                               .overwrite = options.force});
}

/// The hard decision; a soft bit of 0 counts as bit 0.
template <typename SoftBit>
bool is_one(SoftBit soft_bit) {
    return soft_bit < 0;
}

bool is_one(phy::half soft_bit) {
    constexpr std::uint16_t minus_zero = 0x8000U;
    return soft_bit.bits > minus_zero;
}

template <typename SoftBit>
std::uint64_t count_wrong(const std::byte* soft_bits, std::span<const std::uint8_t> truth) {
    const auto* const values = reinterpret_cast<const SoftBit*>(soft_bits);
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < truth.size(); ++i)
        wrong += is_one(values[i]) != (truth[i] != 0) ? 1U : 0U;
    return wrong;
}

std::uint64_t count_bit_errors(phy::SoftBitFormat format, const std::byte* soft_bits,
                               std::span<const std::uint8_t> truth) {
    switch (format) {
        case phy::SoftBitFormat::int8:
            return count_wrong<std::int8_t>(soft_bits, truth);
        case phy::SoftBitFormat::float16:
            return count_wrong<phy::half>(soft_bits, truth);
        case phy::SoftBitFormat::float32:
            return count_wrong<float>(soft_bits, truth);
    }
    return 0;
}

/// Read, demap, compare with the truth and write, overlapped over a small ring of chunks.
class Demodulation {
public:
    Demodulation(const Options& options, bool quiet)
        : options_(options),
          capture_(options.capture, options.reading),
          plan_(make_plan(options, capture_.description())),
          demap_(make_demapper(options, plan_, capture_.description())),
          progress_(capture_.description().symbols, quiet),
          ring_(chunks_in_flight) {
        for (Chunk& chunk : ring_) {
            const std::size_t soft_bits = plan_.chunk * plan_.soft_bits_per_symbol;
            chunk.samples = demap_->allocate(plan_.chunk * size_of(capture_.description().format));
            chunk.noise = demap_->allocate(plan_.noise_variance ? 0 : plan_.chunk * sizeof(float));
            chunk.truth.resize(plan_.with_truth ? soft_bits : 0);
            chunk.soft_bits = demap_->allocate(soft_bits * size_of(options.format));
        }
    }

    DemodReport run() {
        const auto start = std::chrono::steady_clock::now();
        writer_ = make_writer(options_, plan_, capture_.description());
        std::vector<StageTime> stages = StagedRun<Chunk>(ring_, list_stages()).run();
        throw_if_interrupted();
        if (writer_) writer_->commit();
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;

        const std::uint64_t symbols = capture_.description().symbols;
        return {.symbols = symbols,
                .soft_bits = symbols * plan_.soft_bits_per_symbol,
                .seconds = seconds.count(),
                .backend = demap_->backend().name(),
                .device = demap_->device(),
                .modulation = plan_.modulation,
                .noise_variance = plan_.noise_variance,
                .counters = demap_->counters(),
                .bit_errors = plan_.with_truth ? std::optional(bit_errors_) : std::nullopt,
                .stages = std::move(stages)};
    }

private:
    std::vector<Stage<Chunk>> list_stages() {
        std::vector<Stage<Chunk>> stages;
        stages.push_back({"read", [this](Chunk& chunk) { return read(chunk); }});
        stages.push_back({"demap", [this](Chunk& chunk) { return demap(chunk); }});
        if (plan_.with_truth) stages.push_back({"compare", [this](Chunk& chunk) { return compare(chunk); }});
        stages.push_back({"write", [this](Chunk& chunk) { return write(chunk); }});
        return stages;
    }

    bool read(Chunk& chunk) {
        const phy::CaptureDescription& capture = capture_.description();
        chunk.first = next_symbol_;
        chunk.symbols = std::min<std::uint64_t>(plan_.chunk, capture.symbols - next_symbol_);
        if (chunk.symbols == 0) return false;
        capture_.read(chunk.first, {capture.format, chunk.samples.get(), chunk.symbols});
        if (!plan_.noise_variance) capture_.read_noise(chunk.first, noise_of(chunk));
        if (plan_.with_truth)
            capture_.read_bits(chunk.first, std::span(chunk.truth).first(soft_bits_of(chunk)));
        next_symbol_ += chunk.symbols;
        return true;
    }

    bool demap(Chunk& chunk) {
        const phy::SymbolView symbols(capture_.description().format, chunk.samples.get(), chunk.symbols);
        const phy::SoftBitSpan soft_bits(options_.format, chunk.soft_bits.get(), soft_bits_of(chunk));
        const phy::NoiseVariance noise = plan_.noise_variance ? phy::NoiseVariance(*plan_.noise_variance)
                                                              : phy::NoiseVariance(noise_of(chunk));
        demap_->demap(symbols, noise, soft_bits, chunk.first);
        return true;
    }

    bool compare(Chunk& chunk) {
        const std::span truth = std::span<const std::uint8_t>(chunk.truth).first(soft_bits_of(chunk));
        bit_errors_ += count_bit_errors(options_.format, chunk.soft_bits.get(), truth);
        return true;
    }

    bool write(Chunk& chunk) {
        const std::size_t bytes = soft_bits_of(chunk) * size_of(options_.format);
        if (writer_) writer_->append(std::span(chunk.soft_bits.get(), bytes));
        progress_.advance(chunk.symbols);
        return true;
    }

    [[nodiscard]] static std::span<float> noise_of(const Chunk& chunk) {
        return {reinterpret_cast<float*>(chunk.noise.get()), chunk.symbols};
    }

    [[nodiscard]] std::size_t soft_bits_of(const Chunk& chunk) const {
        return chunk.symbols * plan_.soft_bits_per_symbol;
    }

    const Options& options_;
    phy::CaptureReader capture_;
    Plan plan_;
    std::unique_ptr<ChunkDemapper> demap_;
    std::optional<phy::SoftBitWriter> writer_;
    Progress progress_;
    std::vector<Chunk> ring_;

    std::uint64_t next_symbol_ = 0;  ///< of the read stage
    std::uint64_t bit_errors_ = 0;   ///< of the compare stage
};

void run(const Options& options, const CommonOptions& common) {
    reject_pipeline_options(options);
    DemodReport report;
    {
        Demodulation demodulation(options, common.quiet);
        report = demodulation.run();
    }
    print_result(common, report.json(), report.text());
}

void add_input_options(Options& options, po::options_description& list) {
    list.add_options()  //
        ("dataset", text(options.reading.dataset, "PATH"),
         "the IQ samples; default /iq, else the only dataset that looks like IQ")                   //
        ("interleaved", flag(options.reading.interleaved), "the dataset is flat: I, Q, I, Q, ...")  //
        ("full-scale",
         number_within<double>(options.reading.full_scale, "--full-scale", "X",
                               {0x1p-126, 0x1p126, "a number from 2^-126 to 2^126"}),
         "integer samples: the value of 1.0; default: the attribute, else 2^(bits-1)")  //
        ("modulation", parsed(options.modulation, phy::parse_modulation, "M"),
         "pi2-bpsk, bpsk, qpsk, 16qam, 64qam, 256qam or 1024qam; default: the attribute")  //
        ("noise-variance", parsed(options.noise_variance, parse_noise_variance, "X|auto"),
         "N0 for all symbols; default auto: the capture's, by symbol if it has that");
}

void add_output_options(Options& options, po::options_description& list) {
    list.add_options()                                                                                 //
        ("output,o", text(options.output, "SOFTBITS.h5"), "where the soft bits go; default: nowhere")  //
        ("force", flag(options.force), "overwrite the output if it exists")                            //
        ("method", parsed(options.method, phy::parse_method, "METHOD"), "maxlog (default) or logmap")  //
        ("evaluator", parsed(options.evaluator, phy::parse_evaluator, "EVALUATOR"),
         "auto (default), arithmetic or table")  //
        ("llr", parsed(options.format, phy::parse_soft_bit_format, "FORMAT"),
         "int8 (default), float16 or float32")  //
        ("llr-scale",
         number_within<float>(options.llr_scale, "--llr-scale", "X",
                              {1.0F / 64, 4096.0F, "a number from 1/64 to 4096"}),
         "int8: steps a nat, default 6")  //
        ("llr-clip",
         number_within<int>(options.llr_clip, "--llr-clip", "N", {1, 127, "a whole number from 1 to 127"}),
         "int8: the largest soft bit, default 127");
}

void add_machine_options(Options& options, po::options_description& list) {
    list.add_options()  //
        ("backend", text(options.backend, "BACKEND"),
         "auto (default: PHY_BACKEND, else CUDA, else cpu), scalar, cpu, cuda, or a name that phy_info "
         "lists")  //
        ("threads",
         number_within<int>(options.threads, "--threads", "N", {0, 1024, "a whole number from 0 to 1024"}),
         "that demap on the CPU; 0: one a processor; default: two fewer, and at least 1")  //
        ("chunk",
         number_within<std::uint64_t>(
             options.chunk, "--chunk", "SYMBOLS",
             {1, std::numeric_limits<std::uint64_t>::max(), "a whole number of symbols from 1 on"}),
         "worked on at once, default 262144")  //
        ("device", parsed(options.device, parse_device, "N[,N...]|all"),
         "CUDA device to use: N means cuda[N]")                                                  //
        ("streams", parsed(options.streams, parse_streams, "N"), "CUDA streams a device")        //
        ("order", text(options.order, "ORDER"), "of CUDA work: sequential, parallel or serial")  //
        ("trace", text(options.trace, "FILE"), "write a timeline of the CUDA work");
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    App app;
    app.name = "demod_app";
    app.summary = "Turns the IQ samples of a capture into soft bits, and reports how fast and how well.";
    app.operand = Operand{"CAPTURE", &options.capture};
    add_input_options(options, app.options);
    add_output_options(options, app.options);
    add_machine_options(options, app.options);
    app.body = [&options](const CommonOptions& common) { run(options, common); };
    return run_app(app, argc, argv);
}

#include "capture_gen/captures.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "capture_gen/scalar_host.hpp"
#include "capture_gen/stored_samples.hpp"
#include "common/interrupt.hpp"
#include "common/progress.hpp"
#include "common/random.hpp"

namespace phy::apps {
namespace {

/// The integer that stands for 1.0: 12 dB of headroom above the unit mean power.
std::optional<double> full_scale_of(SampleFormat type) {
    if (!is_integer(type)) return std::nullopt;
    return (largest_integer(type) + 1.0) / 4.0;
}

float noise_variance_of(double snr_db) {
    return static_cast<float>(std::pow(10.0, -snr_db / 10.0));
}

CaptureWriter::Config capture_config(const CaptureGenOptions& options) {
    return {.symbols = *options.symbols,
            .format = options.type,
            .layout = options.layout,
            .modulation = *options.modulation,
            .noise_variance =
                options.per_symbol_noise ? std::nullopt : std::optional(noise_variance_of(options.snr_db)),
            .full_scale = full_scale_of(options.type),
            .noise_per_symbol = options.per_symbol_noise,
            .bits = !options.no_bits,
            .overwrite = options.force,
            .durable = options.durable};
}

/// Symbols on their way from the generator to the file.
struct Piece {
    std::vector<std::uint8_t> bits;
    std::vector<std::uint8_t> scrambled;
    std::vector<float> noise;
    std::vector<cf32> samples;
};

/// Draws bits, scrambles them on request, maps them, and adds white Gaussian noise.
class Generator {
public:
    explicit Generator(const CaptureGenOptions& options)
        : scramble_(scalar_host()),
          mapper_(scalar_host(), {.modulation = *options.modulation}),
          noise_variance_(noise_variance_of(options.snr_db)),
          per_symbol_noise_(options.per_symbol_noise),
          bits_(options.seed, 0),
          level_(options.seed, 1),
          noise_(options.seed, 2) {
        if (options.scramble) c_init_ = options.scramble->c_init();
    }

    /// Makes the symbols from index first on of the capture.
    void generate(std::uint64_t first, std::size_t symbols, Piece& piece) const {
        const std::size_t qm = bits_per_symbol(mapper_.config().modulation);
        piece.bits.resize(symbols * qm);
        piece.noise.resize(symbols);
        piece.samples.resize(symbols);
        for (std::size_t i = 0; i < symbols; ++i) {
            std::uint64_t word = bits_.bits(first + i);
            for (std::size_t bit = 0; bit < qm; ++bit, word >>= 1)
                piece.bits[i * qm + bit] = word & 1U;
        }
        if (c_init_) {
            piece.scrambled.resize(piece.bits.size());
            scramble_(*c_init_, piece.bits, piece.scrambled, first * qm);
        }
        mapper_(c_init_ ? piece.scrambled : piece.bits, piece.samples, first);
        for (std::size_t i = 0; i < symbols; ++i) {
            piece.noise[i] = noise_variance_at(first + i);
            const auto noise = std::sqrt(static_cast<double>(piece.noise[i])) * noise_.gaussian(first + i);
            piece.samples[i] += cf32(noise);
        }
    }

private:
    /// If it varies: log-uniform within 6 dB of the nominal value.
    [[nodiscard]] float noise_variance_at(std::uint64_t symbol) const {
        if (!per_symbol_noise_) return noise_variance_;
        const double decibel = 12.0 * level_.uniform(symbol) - 6.0;
        return static_cast<float>(static_cast<double>(noise_variance_) * std::pow(10.0, decibel / 10.0));
    }

    Scrambler scramble_;
    std::optional<std::uint32_t> c_init_;  ///< none: bits are not scrambled
    Mapper mapper_;
    float noise_variance_;
    bool per_symbol_noise_;
    RandomSequence bits_;
    RandomSequence level_;
    RandomSequence noise_;
};

constexpr std::size_t chunk_symbols = 1U << 16U;
constexpr std::size_t chunks_in_flight = 3;

/// One piece per buffer set. Nothing passes through the pipeline's memory, so the stage has no ports.
using Pieces = std::array<Piece, chunks_in_flight>;

class Symbols : public Source {
public:
    explicit Symbols(std::uint64_t count) : count_(count) {}

    [[nodiscard]] std::uint64_t items() const override { return count_; }

    std::size_t fill(const Chunk& chunk, std::span<const std::span<std::byte>> /*arrays*/) override {
        throw_if_interrupted();
        return chunk.items;
    }

private:
    std::uint64_t count_;
};

class Generation : public Stage {
public:
    Generation(const CaptureGenOptions& options, Pieces& pieces) : generator_(options), pieces_(pieces) {}

    [[nodiscard]] std::string_view name() const override { return "generate"; }
    [[nodiscard]] std::vector<Port> inputs() const override { return {}; }
    [[nodiscard]] std::vector<Port> outputs() const override { return {}; }
    std::unique_ptr<StageRunner> on(const Place& /*place*/) override {
        return std::make_unique<Runner>(*this);
    }

private:
    class Runner : public StageRunner {
    public:
        explicit Runner(const Generation& stage) : stage_(stage) {}

        void run_on_host(const HostWork& work) override {
            const Chunk& chunk = work.chunk;
            stage_.generator_.generate(chunk.first, chunk.items, stage_.pieces_[chunk.buffer_set]);
        }

    private:
        const Generation& stage_;
    };

    Generator generator_;
    Pieces& pieces_;
};

class CaptureSink : public Sink {
public:
    CaptureSink(CaptureWriter& writer, const CaptureWriter::Config& config, const Pieces& pieces,
                Progress& progress)
        : writer_(writer),
          config_(config),
          pieces_(pieces),
          stored_(config.format, config.full_scale),
          progress_(progress) {}

    void take(const Chunk& chunk, std::span<const std::span<const std::byte>> /*arrays*/) override {
        throw_if_interrupted();
        const Piece& piece = pieces_[chunk.buffer_set];
        writer_.append(stored_(piece.samples));
        if (config_.noise_per_symbol) writer_.append_noise(piece.noise);
        if (config_.bits) writer_.append_bits(piece.bits);
        progress_.advance(chunk.items);
    }

private:
    CaptureWriter& writer_;
    const CaptureWriter::Config& config_;
    const Pieces& pieces_;
    StoredSamples stored_;
    Progress& progress_;
};

void write_capture(const CaptureGenOptions& options, const CaptureWriter::Config& config, bool quiet) {
    require_force_if_exists(options.output, options.force);
    CaptureWriter writer(options.output, config);
    Progress progress(config.symbols, quiet);
    Pieces pieces;
    Generation generation(options, pieces);
    Pipeline pipeline({scalar_host()}, generation, {.chunk = chunk_symbols, .buffer_sets = chunks_in_flight});
    Symbols symbols(config.symbols);
    CaptureSink sink(writer, config, pieces, progress);
    pipeline.run(symbols, sink);
    throw_if_interrupted();
    writer.commit();
}

}  // namespace

void capture_symbols(const CaptureGenOptions& options, const CommonOptions& common) {
    const CaptureWriter::Config config = capture_config(options);
    const auto start = std::chrono::steady_clock::now();
    write_capture(options, config, common.quiet);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;

    const std::string noise =
        config.noise_variance ? fmt::format("{}", *config.noise_variance) : "varying by symbol";
    const std::string text = fmt::format("{} symbols of {} as {}, {}, N0 {}, in {:.3g} s\n", config.symbols,
                                         to_string(config.modulation), to_string(config.format),
                                         to_string(config.layout), noise, seconds.count());
    std::optional<std::uint32_t> c_init;
    if (options.scramble) c_init = options.scramble->c_init();
    const Json json = Json::object({{"from", to_string(CaptureKind::symbols)},
                                    {"symbols", config.symbols},
                                    {"modulation", to_string(config.modulation)},
                                    {"type", to_string(config.format)},
                                    {"layout", to_string(config.layout)},
                                    {"snr_db", options.snr_db},
                                    {"seed", options.seed},
                                    {"noise_variance", config.noise_variance},
                                    {"full_scale", config.full_scale},
                                    {"has_bits", config.bits},
                                    {"c_init", c_init},
                                    {"seconds", seconds.count()}});
    print_result(common, json, text);
}

}  // namespace phy::apps

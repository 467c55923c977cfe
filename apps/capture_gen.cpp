#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "capture/scrambling.hpp"
#include "common/app.hpp"
#include "common/interrupt.hpp"
#include "common/progress.hpp"
#include "common/random.hpp"
#include "phy/capture/capture.hpp"
#include "phy/phy.hpp"

namespace {

using namespace phy::apps;

struct Options {
    std::string output;
    std::optional<phy::Modulation> modulation;
    std::optional<std::uint64_t> symbols;
    double snr_db = 20.0;
    std::uint64_t seed = 1;
    phy::SampleFormat type = phy::SampleFormat::cf32;
    phy::CaptureLayout layout = phy::CaptureLayout::compound;
    bool per_symbol_noise = false;
    bool no_bits = false;
    std::optional<phy::ScramblingIdentity> scramble;
    bool force = false;
};

/// The integer that stands for 1.0: 12 dB of headroom above the unit mean power. Floating point has no scale.
std::optional<double> full_scale_of(phy::SampleFormat type) {
    switch (type) {
        case phy::SampleFormat::ci16:
            return 8192.0;
        case phy::SampleFormat::ci8:
            return 32.0;
        default:
            return std::nullopt;
    }
}

float noise_variance_of(double snr_db) {
    return static_cast<float>(std::pow(10.0, -snr_db / 10.0));
}

phy::CaptureWriter::Config capture_config(const Options& options) {
    if (!options.modulation) throw phy::ArgumentError("--modulation is missing; --help lists the options");
    if (!options.symbols) throw phy::ArgumentError("--symbols is missing; --help lists the options");
    return {.symbols = *options.symbols,
            .format = options.type,
            .layout = options.layout,
            .modulation = *options.modulation,
            .noise_variance =
                options.per_symbol_noise ? std::nullopt : std::optional(noise_variance_of(options.snr_db)),
            .full_scale = full_scale_of(options.type),
            .noise_per_symbol = options.per_symbol_noise,
            .bits = !options.no_bits,
            .overwrite = options.force};
}

/// Which is there whatever PHY_BACKEND says.
phy::Host scalar_host() {
    return phy::Host({.backend = phy::Backend::scalar()});
}

/// Some symbols of the capture on their way from the generator to the file.
struct Piece {
    std::vector<std::uint8_t> bits;
    std::vector<std::uint8_t> scrambled;
    std::vector<float> noise;
    std::vector<phy::cf32> samples;
};

/// Draws bits, scrambles them where wanted, maps them, and adds white Gaussian noise.
class Generator {
public:
    explicit Generator(const Options& options)
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
            piece.samples[i] += phy::cf32(noise);
        }
    }

private:
    /// Log-uniform within 6 dB of the nominal one when it varies.
    [[nodiscard]] float noise_variance_at(std::uint64_t symbol) const {
        if (!per_symbol_noise_) return noise_variance_;
        const double decibel = 12.0 * level_.uniform(symbol) - 6.0;
        return static_cast<float>(static_cast<double>(noise_variance_) * std::pow(10.0, decibel / 10.0));
    }

    phy::Scrambler scramble_;
    std::optional<std::uint32_t> c_init_;  ///< none: the bits are not scrambled
    phy::Mapper mapper_;
    float noise_variance_;
    bool per_symbol_noise_;
    RandomSequence bits_;
    RandomSequence level_;
    RandomSequence noise_;
};

/// Rounds half to even and saturates.
template <typename Integer>
Integer to_integer(float value, double full_scale) {
    using Limits = std::numeric_limits<Integer>;
    const double scaled = std::nearbyint(static_cast<double>(value) * full_scale);
    return static_cast<Integer>(std::clamp<double>(scaled, Limits::min(), Limits::max()));
}

template <typename Stored, typename Convert>
void append_converted(phy::CaptureWriter& writer, std::span<const phy::cf32> samples, Convert convert) {
    std::vector<Stored> stored(samples.size());
    std::transform(samples.begin(), samples.end(), stored.begin(), [&convert](phy::cf32 sample) {
        return Stored{convert(sample.real()), convert(sample.imag())};
    });
    writer.append(stored);
}

void append_samples(phy::CaptureWriter& writer, phy::SampleFormat type, std::span<const phy::cf32> samples) {
    const double full_scale = full_scale_of(type).value_or(1.0);
    switch (type) {
        case phy::SampleFormat::cf32:
            return writer.append(samples);
        case phy::SampleFormat::cf16:
            return append_converted<phy::cf16>(writer, samples, [](float value) { return phy::half(value); });
        case phy::SampleFormat::ci16:
            return append_converted<phy::ci16>(
                writer, samples, [=](float value) { return to_integer<std::int16_t>(value, full_scale); });
        case phy::SampleFormat::ci8:
            return append_converted<phy::ci8>(
                writer, samples, [=](float value) { return to_integer<std::int8_t>(value, full_scale); });
    }
}

constexpr std::size_t chunk_symbols = 1U << 16U;
constexpr std::size_t chunks_in_flight = 3;

/// Pieces by lane: nothing goes through the pipeline's own memory, and so the stage has no ports.
using Pieces = std::array<Piece, chunks_in_flight>;

class Symbols : public phy::Source {
public:
    explicit Symbols(std::uint64_t count) : count_(count) {}

    [[nodiscard]] std::uint64_t items() const override { return count_; }

    std::size_t fill(const phy::Chunk& chunk, std::span<const std::span<std::byte>> /*arrays*/) override {
        throw_if_interrupted();
        return chunk.items;
    }

private:
    std::uint64_t count_;
};

class Generation : public phy::Stage {
public:
    Generation(const Options& options, Pieces& pieces) : generator_(options), pieces_(pieces) {}

    [[nodiscard]] std::string_view name() const override { return "generate"; }
    [[nodiscard]] std::vector<phy::Port> inputs() const override { return {}; }
    [[nodiscard]] std::vector<phy::Port> outputs() const override { return {}; }
    std::unique_ptr<phy::StageRunner> on(const phy::Place& /*place*/) override {
        return std::make_unique<Runner>(*this);
    }

private:
    class Runner : public phy::StageRunner {
    public:
        explicit Runner(const Generation& stage) : stage_(stage) {}

        void run_on_host(const phy::HostWork& work) override {
            const phy::Chunk& chunk = work.chunk;
            stage_.generator_.generate(chunk.first, chunk.items, stage_.pieces_[chunk.lane]);
        }

    private:
        const Generation& stage_;
    };

    Generator generator_;
    Pieces& pieces_;
};

class CaptureSink : public phy::Sink {
public:
    CaptureSink(phy::CaptureWriter& writer, const phy::CaptureWriter::Config& config, const Pieces& pieces,
                Progress& progress)
        : writer_(writer), config_(config), pieces_(pieces), progress_(progress) {}

    void take(const phy::Chunk& chunk, std::span<const std::span<const std::byte>> /*arrays*/) override {
        throw_if_interrupted();
        const Piece& piece = pieces_[chunk.lane];
        append_samples(writer_, config_.format, piece.samples);
        if (config_.noise_per_symbol) writer_.append_noise(piece.noise);
        if (config_.bits) writer_.append_bits(piece.bits);
        progress_.advance(chunk.items);
    }

private:
    phy::CaptureWriter& writer_;
    const phy::CaptureWriter::Config& config_;
    const Pieces& pieces_;
    Progress& progress_;
};

void write_capture(const Options& options, const phy::CaptureWriter::Config& config, bool quiet) {
    require_force_if_exists(options.output, options.force);
    phy::CaptureWriter writer(options.output, config);
    Progress progress(config.symbols, quiet);
    Pieces pieces;
    Generation generation(options, pieces);
    phy::Pipeline pipeline({scalar_host()}, generation, {.chunk = chunk_symbols, .lanes = chunks_in_flight});
    Symbols symbols(config.symbols);
    CaptureSink sink(writer, config, pieces, progress);
    pipeline.run(symbols, sink);
    throw_if_interrupted();
    writer.commit();
}

void run(const Options& options, const CommonOptions& common) {
    const phy::CaptureWriter::Config config = capture_config(options);
    const auto start = std::chrono::steady_clock::now();
    write_capture(options, config, common.quiet);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;

    const std::string noise =
        config.noise_variance ? fmt::format("{}", *config.noise_variance) : "varying by symbol";
    const std::string text =
        fmt::format("{} symbols of {} as {}, {}, noise variance {}, in {:.3g} s\n", config.symbols,
                    to_string(config.modulation), to_string(config.format), to_string(config.layout), noise,
                    seconds.count());
    std::optional<std::uint32_t> c_init;
    if (options.scramble) c_init = options.scramble->c_init();
    const Json json = Json::object({{"symbols", config.symbols},
                                    {"modulation", to_string(config.modulation)},
                                    {"type", to_string(config.format)},
                                    {"layout", to_string(config.layout)},
                                    {"snr_db", options.snr_db},
                                    {"seed", options.seed},
                                    {"noise_variance", config.noise_variance},
                                    {"full_scale", config.full_scale},
                                    {"bits", config.bits},
                                    {"c_init", c_init},
                                    {"seconds", seconds.count()}});
    print_result(common, json, text);
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    App app;
    app.name = "capture_gen";
    app.summary =
        "Writes a capture for demod_app: random bits, mapped, with white Gaussian noise. The same\n"
        "options give the same samples.";
    app.operand = Operand{"OUT.h5", &options.output};
    const auto parse_scramble = [](const std::string& text) { return parse_scrambling("--scramble", text); };
    app.options.add_options()  //
        ("modulation", parsed(options.modulation, phy::parse_modulation, "M"),
         "pi2-bpsk, bpsk, qpsk, 16qam, 64qam, 256qam or 1024qam")  //
        ("symbols",
         number_within<std::uint64_t>(
             options.symbols, "--symbols", "N",
             {1, std::numeric_limits<std::uint64_t>::max(), "a whole number from 1 on"}),
         "how many symbols, from 1 on")  //
        // Within the N0 that the demapper tells apart, 2^-100 ... 2^40.
        ("snr-db",
         number_within<double>(options.snr_db, "--snr-db", "X", {-100.0, 300.0, "a number from -100 to 300"}),
         "Es/N0 in decibel, from -100 to 300, default 20")                                  //
        ("seed", number<std::uint64_t>(options.seed, "N"), "of bits and noise, default 1")  //
        ("type", parsed(options.type, phy::parse_sample_format, "TYPE"),
         "cf32 (default), cf16, ci16 or ci8")  //
        ("layout", parsed(options.layout, phy::parse_capture_layout, "LAYOUT"),
         "compound (default), trailing, interleaved, chunked or gzip")  //
        ("per-symbol-noise", flag(options.per_symbol_noise),
         "vary the noise by symbol, +-6 dB, and store its variance for each")  //
        ("no-bits", flag(options.no_bits), "leave out the transmitted bits")   //
        ("scramble", parsed(options.scramble, parse_scramble, "n_RNTI,n_ID[,q]"),
         "scramble the bits as one codeword (TS 38.211 clauses 6.3.1.1, 7.3.1.1; q is 0 or 1, default 0); "
         "the transmitted bits of the capture are those before")  //
        ("force", flag(options.force), "overwrite OUT.h5 if it exists");
    app.body = [&options](const CommonOptions& common) { run(options, common); };
    app.clean_up = phy::remove_unfinished_outputs;
    return run_app(app, argc, argv);
}

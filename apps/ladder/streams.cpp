#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "ladder/ladder.hpp"
#include "phy/phy.hpp"

namespace phy::apps {
namespace {

constexpr std::size_t qm = bits_per_symbol(Modulation::qam256);

/// Neighbouring symbols on the host and on the device, and their stream.
struct Piece {
    std::size_t first;
    std::size_t symbols;
    std::size_t stream;
};

class Streams {
public:
    Streams(const gpu::Device& device, const LadderOptions& options)
        : device_(device),
          signal_(make_signal(options)),
          demap_(device, {.modulation = Modulation::qam256}),
          stage_(stage_config(Modulation::qam256, signal_, SoftBitFormat::int8)),
          pipeline_({device}, stage_, {.items = options.symbols}),
          input_(options.symbols * sizeof(cf32)),
          output_(options.symbols * qm),
          device_input_(device, input_.size()),
          device_output_(device, output_.size()),
          begin_(device, gpu::Event::Timing::off) {
        for (int i = 0; i < 4; ++i) {
            streams_.emplace_back(device);
            ends_.emplace_back(device, gpu::Event::Timing::off);
        }
        fill_repeating(input_, signal_.samples);
        expected_ = expect();
    }

    [[nodiscard]] std::size_t symbols() const { return output_.size() / qm; }

    /// Both directions at once, and nothing else.
    void copy(cudaStream_t stream) {
        fork(stream, 2);
        gpu::copy_async(device_input_, input_, streams_[0]);
        gpu::copy_async(output_, device_output_, streams_[1]);
        join(stream, 2);
    }

    void serial(cudaStream_t stream) {
        const Piece all{0, symbols(), 0};
        copy_in(all, stream);
        demap(all, stream);
        copy_out(all, stream);
    }

    /// Breadth first: one step of all pieces, then the next step.
    void parallel(cudaStream_t stream) {
        fork(stream, streams_.size());
        const std::vector<Piece> all = pieces(quarter());
        for (const Piece& piece : all)
            copy_in(piece, streams_[piece.stream]);
        for (const Piece& piece : all)
            demap(piece, streams_[piece.stream]);
        for (const Piece& piece : all)
            copy_out(piece, streams_[piece.stream]);
        join(stream, streams_.size());
    }

    /// Depth first: all steps of a piece, then the next piece.
    void sequential(cudaStream_t stream) { sequential(stream, quarter()); }
    void sequential(cudaStream_t stream, std::size_t symbols_of_piece) {
        fork(stream, streams_.size());
        for (const Piece& piece : pieces(symbols_of_piece)) {
            copy_in(piece, streams_[piece.stream]);
            demap(piece, streams_[piece.stream]);
            copy_out(piece, streams_[piece.stream]);
        }
        join(stream, streams_.size());
    }

    /// The pipeline has streams of its own.
    void pipeline(cudaStream_t stream) {
        begin_.record(stream);
        begin_.synchronize();
        MemorySource source(stage_.inputs(), {input_});
        MemorySink sink(stage_.outputs(), {output_});
        pipeline_.run(source, sink);
    }

    /// Throws unless the output equals the library's; overwrites everything but the input for the next step.
    void check(const Step& step) {
        if (!std::ranges::equal(output_, expected_))
            throw Error(fmt::format("step '{}': soft bits are not the library's", step.name));
        spoil();
    }

private:
    [[nodiscard]] std::vector<std::byte> expect() {
        const gpu::Stream stream(device_);
        serial(stream);
        stream.synchronize();
        std::vector<std::byte> expected(output_.begin(), output_.end());
        spoil();
        return expected;
    }

    void spoil() {
        constexpr int nonsense = 0x55;
        const gpu::Stream stream(device_);
        gpu::fill_async(device_input_, nonsense, stream);
        gpu::fill_async(device_output_, nonsense, stream);
        stream.synchronize();
        std::ranges::fill(output_, std::byte{nonsense});
    }

    /// A quarter of the symbols, rounded so that every piece is aligned.
    [[nodiscard]] std::size_t quarter() const {
        constexpr std::size_t unit = 64;
        return (symbols() / (4 * unit) + 1) * unit;
    }

    [[nodiscard]] std::vector<Piece> pieces(std::size_t symbols_of_piece) const {
        std::vector<Piece> all;
        for (std::size_t first = 0; first < symbols(); first += symbols_of_piece)
            all.push_back(
                {first, std::min(symbols_of_piece, symbols() - first), all.size() % streams_.size()});
        return all;
    }

    void copy_in(const Piece& piece, cudaStream_t stream) {
        gpu::copy_async(samples_of(device_input_.span(), piece), samples_of(std::span(input_), piece),
                        stream);
    }
    void demap(const Piece& piece, cudaStream_t stream) {
        demap_({SampleFormat::cf32, samples_of(device_input_.span(), piece)}, signal_.noise_variance,
               {SoftBitFormat::int8, soft_bits_of(device_output_.span(), piece)}, stream);
    }
    void copy_out(const Piece& piece, cudaStream_t stream) {
        gpu::copy_async(soft_bits_of(std::span(output_), piece), soft_bits_of(device_output_.span(), piece),
                        stream);
    }

    /// A piece of host or device memory.
    template <typename Bytes>
    static Bytes samples_of(Bytes all, const Piece& piece) {
        return all.subspan(piece.first * sizeof(cf32), piece.symbols * sizeof(cf32));
    }
    template <typename Bytes>
    static Bytes soft_bits_of(Bytes all, const Piece& piece) {
        return all.subspan(piece.first * qm, piece.symbols * qm);
    }

    /// Lets the first `count` streams start after the work on the stream, whose later work waits for them.
    void fork(cudaStream_t stream, std::size_t count) const {
        begin_.record(stream);
        for (std::size_t i = 0; i < count; ++i)
            begin_.delay(streams_[i]);
    }
    void join(cudaStream_t stream, std::size_t count) const {
        for (std::size_t i = 0; i < count; ++i) {
            ends_[i].record(streams_[i]);
            ends_[i].delay(stream);
        }
    }

    gpu::Device device_;
    Signal signal_;
    gpu::SoftDemapper demap_;
    SoftDemapStage stage_;
    Pipeline pipeline_;
    gpu::PinnedBuffer<std::byte> input_;
    gpu::PinnedBuffer<std::byte> output_;
    gpu::DeviceBuffer<std::byte> device_input_;
    gpu::DeviceBuffer<std::byte> device_output_;
    std::vector<gpu::Stream> streams_;
    gpu::Event begin_;
    std::vector<gpu::Event> ends_;
    std::vector<std::byte> expected_;
};

}  // namespace

Climb climb_streams(const gpu::Device& device, const LadderOptions& options) {
    constexpr std::size_t small_piece = 1 << 20;
    const gpu::CurrentDevice current(device);
    Streams streams(device, options);
    const std::vector<Step> steps = {
        {"serial", "copy in, demap, copy out, each of everything", 0,
         [&](cudaStream_t stream) { streams.serial(stream); }},
        {"parallel", "four pieces on four streams, breadth first", 0,
         [&](cudaStream_t stream) { streams.parallel(stream); }},
        {"sequential", "four pieces on four streams, depth first", 0,
         [&](cudaStream_t stream) { streams.sequential(stream); }},
        {"small pieces", "of 2^20 symbols on four streams, depth first", 0,
         [&](cudaStream_t stream) { streams.sequential(stream, small_piece); }},
        {"phy", "the library's pipeline: one stream per step, pieces by the length of the whole", 0,
         [&](cudaStream_t stream) { streams.pipeline(stream); }}};
    return climb(device, demap_task("256QAM, cf32 to int8, host memory to host memory", options),
                 {"copy", "both copies", [&](cudaStream_t stream) { streams.copy(stream); }}, steps,
                 [&](const Step& step) { streams.check(step); });
}

}  // namespace phy::apps

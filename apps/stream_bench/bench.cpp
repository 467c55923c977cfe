#include "stream_bench/bench.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "common/check_soft_bits.hpp"
#include "common/interrupt.hpp"
#include "common/median.hpp"
#include "common/signal.hpp"
#include "common/size_errors.hpp"

namespace phy::apps {
namespace {

/// Records the size of chunks, and checks for a requested stop while slow backends work.
class WatchfulSource : public MemorySource {
public:
    using MemorySource::MemorySource;

    [[nodiscard]] bool view(const Chunk& chunk, std::span<std::span<const std::byte>> arrays) override {
        throw_if_interrupted();
        largest_chunk_ = std::max(largest_chunk_, chunk.items);
        return MemorySource::view(chunk, arrays);
    }

    [[nodiscard]] std::size_t largest_chunk() const { return largest_chunk_; }

private:
    std::size_t largest_chunk_ = 0;
};

std::unique_ptr<Limit> make_limit(const StreamBench::Config& config, std::size_t bytes_in,
                                  std::size_t bytes_out) {
    if constexpr (built_with_cuda) {
        if (config.places.front().is_cuda()) return make_cuda_limit(bytes_in, bytes_out, config.places);
    }
    return make_host_limit(bytes_in, bytes_out, config.places.front().host().threads());
}

Pipeline make_pipeline(const StreamBench::Config& bench, const Combination& combination, IssueOrder order,
                       SoftDemapStage& stage) {
    const Pipeline::Config config = {.chunk = combination.chunk.value_or(0),
                                     .buffer_sets = combination.streams.value_or(0),
                                     .items = combination.symbols,
                                     .order = order};
    return with_size_errors({.chunk = combination.chunk, .streams = combination.streams},
                            [&] { return Pipeline(bench.places, stage, config); });
}

template <typename Work>
double seconds_of(const Work& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Times of work that runs in turns.
struct Times {
    std::vector<double> pipeline;
    std::vector<double> limit;
    std::vector<double> serial;
    std::vector<double> of_limit;
    std::vector<double> of_serial;

    void add(double of_pipeline, double of_the_limit, double of_the_serial) {
        pipeline.push_back(of_pipeline);
        limit.push_back(of_the_limit);
        serial.push_back(of_the_serial);
        of_limit.push_back(of_the_limit / of_pipeline);
        of_serial.push_back(of_the_serial / of_pipeline);
    }
};

}  // namespace

void StreamBench::try_pipelines(const Config& config, const std::vector<Combination>& all) {
    for (const Combination& each : all) {
        const Signal short_signal(config.modulation, each.formats.in, working_snr(config.modulation), 1);
        SoftDemapStage stage(stage_config(config.modulation, short_signal, each.formats.out));
        const Pipeline pipeline = make_pipeline(config, each, each.order, stage);
        const Pipeline serial = make_pipeline(config, each, IssueOrder::serial, stage);
    }
}

std::uint64_t StreamBench::work(const Config& config, const std::vector<Combination>& all) {
    std::uint64_t symbols = 0;
    for (const Combination& each : all)
        symbols += each.symbols;
    return symbols * (static_cast<std::uint64_t>(config.rounds) + 1);
}

StreamBench::StreamBench(const Config& config, const std::vector<Combination>& all) : config_(config) {
    std::size_t bytes_in = 0;
    std::size_t bytes_out = 0;
    for (const Combination& each : all) {
        const SymbolBytes symbol = symbol_bytes(config.modulation, each.formats);
        max_symbols_ = std::max(max_symbols_, each.symbols);
        bytes_in = std::max(bytes_in, each.symbols * symbol.in);
        bytes_out = std::max(bytes_out, each.symbols * symbol.out);
    }
    limit_ = make_limit(config_, bytes_in, bytes_out);
}

void StreamBench::use(const Formats& formats) {
    if (formats_ == formats) return;
    // No chunk has the length of a stretch, so a misplaced chunk shows.
    const std::size_t symbols = std::min<std::uint64_t>(max_symbols_, signal_stretch - 3);
    const Signal signal(config_.modulation, formats.in, working_snr(config_.modulation), symbols);
    fill_repeating(limit_->input().first(max_symbols_ * size_of(formats.in)), signal.samples);
    stage_.emplace(stage_config(config_.modulation, signal, formats.out));
    formats_ = formats;
}

StreamRow StreamBench::measure(const Combination& combination, Progress& progress) {
    use(combination.formats);
    const SymbolBytes symbol = symbol_bytes(config_.modulation, combination.formats);
    const std::size_t bytes_in = combination.symbols * symbol.in;
    const std::size_t bytes_out = combination.symbols * symbol.out;
    const std::span<std::byte> soft_bits = limit_->output().first(bytes_out);
    WatchfulSource source(stage_->inputs(), {limit_->input().first(bytes_in)});
    MemorySink sink(stage_->outputs(), {soft_bits});
    Pipeline pipeline = make_pipeline(config_, combination, combination.order, *stage_);
    Pipeline serial = make_pipeline(config_, combination, IssueOrder::serial, *stage_);

    spoil_soft_bits(*stage_, soft_bits);
    PipelineReport report = pipeline.run(source, sink);
    check_soft_bits(*stage_, limit_->input().first(bytes_in), soft_bits);
    const std::size_t largest_chunk = source.largest_chunk();

    Times times;
    for (int round = 0; round <= config_.rounds; ++round) {
        throw_if_interrupted();
        const double of_limit = seconds_of([&] { limit_->move(bytes_in, bytes_out); });
        const double of_pipeline = seconds_of([&] { report = pipeline.run(source, sink); });
        // Repeated, so that both pipelines start with caches and threads in the same state.
        limit_->move(bytes_in, bytes_out);
        const double of_serial = seconds_of([&] { serial.run(source, sink); });
        if (round > 0) times.add(of_pipeline, of_limit, of_serial);
        progress.advance(combination.symbols);
    }
    return {.combination = combination,
            .places = config_.places,
            .streams = pipeline.buffer_sets() / pipeline.places().size(),
            .chunks = report.chunks,
            .largest_chunk = largest_chunk,
            .bytes_in = bytes_in,
            .bytes_out = bytes_out,
            .seconds = quartiles(times.pipeline),
            .limit_seconds = median(times.limit),
            .serial_seconds = median(times.serial),
            .of_limit = median(times.of_limit),
            .of_serial = median(times.of_serial),
            .busy = std::move(report.busy)};
}

}  // namespace phy::apps

#include "phy/files/measure/pass.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "phy/capture/streams.hpp"
#include "phy/files/common.hpp"
#include "phy/mapper/mapper.hpp"
#include "phy/measure/stage.hpp"
#include "phy/scrambling/scrambler.hpp"
#include "phy/scrambling/signs.hpp"

namespace phy::detail {
namespace {

/// Symbols of a range, and the points that were sent if they are asked for.
class SentSource : public Source {
public:
    explicit SentSource(const SymbolPass& pass)
        : reader_(pass.reader), range_(pass.range), sample_(pass.sample), scramble_(fastest_host()) {
        if (pass.options.reference != SymbolReference::sent) return;
        const Modulation modulation = pass.how.meter.modulation;
        map_.emplace(scramble_.host(), Mapper::Config{.modulation = modulation});
        if (pass.options.scrambling) c_init_ = pass.options.scrambling->c_init();
        if (pass.options.codeword_symbols)
            codeword_ = *pass.options.codeword_symbols * bits_per_symbol(modulation);
    }

    [[nodiscard]] std::uint64_t items() const override { return range_.count; }

    std::size_t fill(const Chunk& chunk, std::span<const std::span<std::byte>> arrays) override {
        const std::uint64_t first = range_.first + chunk.first;
        if (map_) map_sent(first, chunk.items, {SampleFormat::cf32, arrays[1]});
        const SymbolSpan symbols(reader_.description().format, arrays[0]);
        reader_.read(first, symbols);
        if (sample_ != nullptr) sample_->add(first, symbols, {});
        return chunk.items;
    }

private:
    void map_sent(std::uint64_t first, std::size_t items, SymbolSpan sent) {
        const std::size_t qm = reader_.description().bits_per_symbol;
        bits_.resize(items * qm);
        reader_.read_bits(first, bits_);
        if (c_init_) {
            const auto scramble = [&](std::uint64_t begin, std::uint64_t count, std::uint64_t first_bit) {
                const auto part = std::span(bits_).subspan(begin, count);
                scramble_(*c_init_, part, part, first_bit);
            };
            for_codewords(first * qm, bits_.size(), codeword_, scramble);
        }
        (*map_)(bits_, sent, first);
    }

    CaptureReader& reader_;
    ItemRange range_;
    SymbolSample* sample_;
    Scrambler scramble_;
    std::optional<std::uint32_t> c_init_;    ///< none: not scrambled
    std::optional<std::uint64_t> codeword_;  ///< bits per codeword; none: one codeword
    std::optional<Mapper> map_;              ///< none: transmitted bits are not used
    std::vector<std::uint8_t> bits_;
};

/// Joins neighbouring sums to roots.
class Roots {
public:
    /// nodes: of the root that has this one.
    void add(const SymbolSums& sums, std::uint64_t nodes) {
        joiner_.add(sums);
        if (++nodes_ == nodes) end();
    }

    /// The last root may have fewer nodes.
    std::vector<SymbolSums> take() {
        if (nodes_ > 0) end();
        return std::move(roots_);
    }

    [[nodiscard]] bool is_at_begin() const { return nodes_ == 0; }

private:
    void end() {
        roots_.push_back(joiner_.root({}));
        joiner_ = SymbolJoiner();
        nodes_ = 0;
    }

    SymbolJoiner joiner_;
    std::uint64_t nodes_ = 0;
    std::vector<SymbolSums> roots_;
};

/// Joins sums to subtrees and to rows.
class JoiningSink : public Sink {
public:
    explicit JoiningSink(const SymbolPass& pass)
        : nodes_of_row_(pass.cut.row / pass.cut.node),
          node_(pass.first_node),
          end_(node_ + (pass.range.count - 1) / pass.cut.node + 1),
          progress_(pass.progress) {}

    void take(const Chunk& chunk, std::span<const std::span<const std::byte>> arrays) override {
        const auto* const sums = reinterpret_cast<const SymbolSums*>(arrays[0].data());
        for (std::size_t i = 0; i < arrays[0].size() / sizeof(SymbolSums); ++i)
            add(sums[i]);
        if (progress_) progress_(chunk.first + chunk.items);
    }

    std::vector<SymbolSums> take_roots() { return subtrees_.take(); }
    std::vector<SymbolSums> take_rows() { return rows_.take(); }

private:
    void add(const SymbolSums& sums) {
        if (subtrees_.is_at_begin()) nodes_of_subtree_ = subtree_at(node_, end_);
        subtrees_.add(sums, nodes_of_subtree_);
        ++node_;
        if (nodes_of_row_ > 0) rows_.add(sums, nodes_of_row_);
    }

    std::uint64_t nodes_of_row_;
    std::uint64_t nodes_of_subtree_ = 0;
    std::uint64_t node_;
    std::uint64_t end_;
    std::function<void(std::uint64_t)> progress_;
    Roots subtrees_;
    Roots rows_;
};

MeasureStage stage_of(const SymbolPass& pass) {
    return MeasureStage({.meter = pass.how.meter,
                         .input = pass.how.format,
                         .row = static_cast<std::size_t>(pass.cut.node),
                         .sent = pass.options.reference == SymbolReference::sent,
                         .first_symbol = pass.range.first});
}

Pipeline pipeline_of(const SymbolPass& pass, MeasureStage& stage) {
    Pipeline::Config config = pass.options.pipeline;
    config.items = pass.range.count;
    return Pipeline(pass.how.places, stage, config);
}

}  // namespace

void SymbolPass::require_room() const {
    MeasureStage stage = stage_of(*this);
    static_cast<void>(pipeline_of(*this, stage));
}

SymbolPass::Sums SymbolPass::run() const {
    MeasureStage stage = stage_of(*this);
    Pipeline pipeline = pipeline_of(*this, stage);
    SentSource source(*this);
    JoiningSink sink(*this);
    PipelineReport report = pipeline.run(source, sink, options.stop);
    return {.roots = sink.take_roots(), .rows = sink.take_rows(), .report = std::move(report)};
}

}  // namespace phy::detail

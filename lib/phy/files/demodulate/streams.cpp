#include "phy/files/demodulate/streams.hpp"

#include <utility>

namespace phy::detail {

std::size_t TruthfulSource::fill(const Chunk& chunk, std::span<const std::span<std::byte>> arrays) {
    if (!truth_.bits.empty()) read_truth(chunk);
    const std::size_t items = CaptureSource::fill(chunk, arrays);
    std::span<const float> noise;
    if (arrays.size() > 1)
        noise = {reinterpret_cast<const float*>(arrays[1].data()), arrays[1].size() / sizeof(float)};
    sample_.add(chunk.first, SymbolSpan(capture_.description().format, arrays[0]), noise);
    return items;
}

void TruthfulSource::read_truth(const Chunk& chunk) {
    const std::size_t qm = capture_.description().bits_per_symbol;
    std::vector<std::uint8_t>& bits = truth_.bits[chunk.buffer_set];
    bits.clear();
    truth_.symbols.visit({chunk.first, chunk.items}, [&](const SpreadBlocks::Range& range) {
        const std::size_t before = bits.size();
        bits.resize(before + range.items * qm);
        capture_.read_bits(range.first, std::span(bits).subspan(before));
    });
}

ComparingSink::ComparingSink(std::optional<SoftBitWriter>& writer, const Truth& truth, SoftBitFormat format,
                             std::size_t soft_bits_of_item, std::function<void(std::uint64_t)> progress)
    : writer_(writer),
      truth_(truth),
      format_(format),
      soft_bits_of_item_(soft_bits_of_item),
      progress_(std::move(progress)) {}

void ComparingSink::take(const Chunk& chunk, std::span<const std::span<const std::byte>> arrays) {
    if (!truth_.bits.empty()) compare(chunk, {format_, arrays[0]});
    if (writer_) writer_->append(arrays[0]);
    if (progress_) progress_(chunk.first + chunk.items);
}

void ComparingSink::compare(const Chunk& chunk, SoftBitView soft_bits) {
    std::span<const std::uint8_t> truth = truth_.bits[chunk.buffer_set];
    truth_.symbols.visit({chunk.first, chunk.items}, [&](const SpreadBlocks::Range& range) {
        const std::size_t count = range.items * soft_bits_of_item_;
        const std::size_t first = (range.first - chunk.first) * soft_bits_of_item_;
        bit_errors_ += measure_(soft_bits.subspan(first, count), truth.first(count)).bit_errors;
        compared_ += count;
        truth = truth.subspan(count);
    });
}

}  // namespace phy::detail

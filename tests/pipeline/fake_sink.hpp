#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "phy/pipeline/pipeline.hpp"
#include "pipeline/call_hooks.hpp"
#include "pipeline/mistake.hpp"
#include "pipeline/test_stream.hpp"

namespace phy_test {

/// Where a sink receives its bytes.
enum class SinkMode {
    view,               ///< at their final place
    take,               ///< in memory of the pipeline
    alternating,        ///< one chunk by view, the next by take
    buffer_set_memory,  ///< in the sink's own memory for each buffer set
};

class FakeSink : public phy::Sink {
public:
    FakeSink(const TestStream& stream, SinkMode mode, CallHooks hooks = {})
        : stream_(stream), mode_(mode), hooks_(std::move(hooks)) {
        for (std::size_t port = 0; port < stream.outputs().size(); ++port)
            output_.emplace_back(stream.expected(port).size() + margin, canary);
    }

    [[nodiscard]] bool view(const phy::Chunk& chunk, std::span<std::span<std::byte>> arrays) override {
        return hooks_.during(Call::sink_view, chunk, [&] {
            view_mistake_.expect(chunk.index == next_view_++, "not the next to be viewed", chunk);
            view_mistake_.expect(chunk.first + chunk.items <= stream_.items(), "too much", chunk);
            view_mistake_.expect(arrays.size() == output_.size(), "number of the sink's views", chunk);
            if (!view_mistake_.is_none()) return false;
            if (mode_ != SinkMode::buffer_set_memory && !is_viewed(chunk)) return false;
            for (std::size_t port = 0; port < arrays.size(); ++port)
                arrays[port] = mode_ == SinkMode::buffer_set_memory ? buffer_set_memory(chunk, port)
                                                                    : in_place(chunk, port);
            return true;
        });
    }

    void take(const phy::Chunk& chunk, std::span<const std::span<const std::byte>> arrays) override {
        hooks_.during(Call::take, chunk, [&] {
            mistake_.expect(chunk.index == chunks_++, "not the next to be taken", chunk);
            mistake_.expect(chunk.first == items_, "not where the one before ended", chunk);
            mistake_.expect(chunk.items > 0, "no items for the sink", chunk);
            mistake_.expect(arrays.size() == output_.size(), "number of the sink's arrays", chunk);
            mistake_.expect(items_ + chunk.items <= stream_.items(), "too much taken", chunk);
            for (std::size_t port = 0; mistake_.is_none() && port < arrays.size(); ++port)
                keep(chunk, port, arrays[port]);
            if (mistake_.is_none()) items_ += chunk.items;
        });
    }

    [[nodiscard]] std::uint64_t items() const { return items_; }
    [[nodiscard]] std::uint64_t chunks() const { return chunks_; }
    [[nodiscard]] std::string mistake() const {
        return mistake_.is_none() ? view_mistake_.text() : mistake_.text();
    }

    /// True if the taken bytes are right and nothing was written beyond the end.
    [[nodiscard]] bool has_right_bytes() const {
        for (std::size_t port = 0; port < output_.size(); ++port) {
            const Bytes& expected = stream_.expected(port);
            const std::span<const std::byte> output = output_[port];
            const std::size_t taken = taken_bytes(port);
            if (!std::ranges::equal(output.first(taken), std::span(expected).first(taken))) return false;
            const auto is_canary = [](std::byte byte) { return byte == canary; };
            if (!std::ranges::all_of(output.last(margin), is_canary)) return false;
        }
        return true;
    }

private:
    static constexpr std::size_t margin = 4096;
    static constexpr std::byte canary{0xEE};

    /// Only whole records have known content: those of the last block end with its chunk.
    [[nodiscard]] std::size_t taken_bytes(std::size_t port) const {
        const phy::Port& of = stream_.outputs()[port];
        return items_ == stream_.items() ? of.bytes_of(items_) : items_ / of.items * of.bytes;
    }

    [[nodiscard]] std::span<std::byte> in_place(const phy::Chunk& chunk, std::size_t port) {
        const phy::Port& of = stream_.outputs()[port];
        return std::span(output_[port]).subspan(chunk.first / of.items * of.bytes, of.bytes_of(chunk.items));
    }

    /// Called by two threads: for the viewed chunk and for the taken one.
    [[nodiscard]] bool is_viewed(const phy::Chunk& chunk) const {
        return mode_ == SinkMode::view || (mode_ == SinkMode::alternating && chunk.index % 2 == 0);
    }

    [[nodiscard]] std::span<std::byte> buffer_set_memory(const phy::Chunk& chunk, std::size_t port) {
        if (buffer_sets_.size() <= chunk.buffer_set) buffer_sets_.resize(chunk.buffer_set + 1);
        std::vector<Bytes>& buffer_set = buffer_sets_[chunk.buffer_set];
        buffer_set.resize(output_.size());
        buffer_set[port].assign(stream_.outputs()[port].bytes_of(chunk.items), canary);
        return buffer_set[port];
    }

    void keep(const phy::Chunk& chunk, std::size_t port, std::span<const std::byte> array) {
        const std::span<std::byte> place = in_place(chunk, port);
        mistake_.expect(array.size() == place.size(), "size of what the sink has", chunk);
        mistake_.expect(mode_ != SinkMode::take || is_aligned(array.data(), 64),
                        "alignment of what the sink has", chunk);
        if (!mistake_.is_none()) return;
        if (is_viewed(chunk)) {
            mistake_.expect(array.data() == place.data(), "not where the sink wanted it", chunk);
        } else {
            std::ranges::copy(array, place.begin());
        }
    }

    const TestStream& stream_;
    SinkMode mode_;
    CallHooks hooks_;
    std::vector<Bytes> output_;  ///< per port
    std::uint64_t items_ = 0;
    std::uint64_t chunks_ = 0;
    Mistake mistake_;

    std::uint64_t next_view_ = 0;
    std::vector<std::vector<Bytes>> buffer_sets_;
    Mistake view_mistake_;
};

}  // namespace phy_test

#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "phy/core/version.hpp"
#include "phy/pipeline/pipeline.hpp"
#include "pipeline/item.hpp"
#include "pipeline/scramble_cuda.hpp"
#include "pipeline/watch.hpp"

/// A stage, sources and sinks that notice when a pipeline does not keep its promises.
namespace phy_test {

using Bytes = std::vector<std::byte>;

/// Items, and what is to become of them.
class Stream {
public:
    explicit Stream(std::size_t items) : items_(items), input_(items * item_in), expected_(items * item_out) {
        std::mt19937 random(20240607);
        for (std::byte& byte : input_)
            byte = static_cast<std::byte>(random());
        for (std::size_t n = 0; n < items; ++n)
            put_item(n, &input_[n * item_in], &expected_[n * item_out]);
    }

    [[nodiscard]] std::size_t items() const { return items_; }
    [[nodiscard]] std::span<const std::byte> input() const { return input_; }
    [[nodiscard]] const Bytes& expected() const { return expected_; }

    [[nodiscard]] std::span<const std::byte> input(std::uint64_t first, std::size_t count) const {
        return input().subspan(first * item_in, count * item_in);
    }

private:
    std::size_t items_;
    Bytes input_;
    Bytes expected_;
};

/// The first thing that went wrong. Each thread that a pipeline calls has one of its own.
class Fault {
public:
    void expect(bool holds, const char* what, const phy::Chunk& chunk) {
        if (!holds && text_.empty()) text_ = std::string(what) + ": chunk " + std::to_string(chunk.index);
    }
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    std::string text_;
};

class FakeStage : public phy::Stage {
public:
    Watch watch;                           ///< of the next run
    std::function<void()> on_prepare;      ///< may throw
    std::vector<phy::Backend> prepared;    ///< in the order of the calls
    std::vector<phy::Backend> where = {};  ///< chunks were worked on, in the order of the calls

    [[nodiscard]] std::string_view name() const override { return "scramble"; }
    [[nodiscard]] std::size_t input_bytes(std::size_t items) const override { return items * item_in; }
    [[nodiscard]] std::size_t output_bytes(std::size_t items) const override { return items * item_out; }

    void prepare(const phy::Backend& backend) override {
        if (on_prepare) on_prepare();
        prepared.push_back(backend);
    }

    void run(const phy::Chunk& chunk, std::span<const std::byte> input, std::span<std::byte> output,
             const Place& place) override {
        watch.during(Call::work, chunk, [&] {
            fault_.expect(std::ranges::count(prepared, place.backend) > 0, "backend not prepared", chunk);
            fault_.expect(input.size() == input_bytes(chunk.items), "size of the stage's input", chunk);
            fault_.expect(output.size() == output_bytes(chunk.items), "size of the stage's output", chunk);
            where.push_back(place.backend);
            if (!fault_.text().empty()) return;
            scramble(chunk, input.data(), output.data(), place);
        });
    }

    [[nodiscard]] const std::string& fault() const { return fault_.text(); }

private:
    static void scramble(const phy::Chunk& chunk, const std::byte* input, std::byte* output,
                         const Place& place) {
        if constexpr (phy::built_with_cuda) {
            if (place.backend.kind() == phy::Backend::Kind::cuda)
                return scramble_on_device(chunk.first, chunk.items, input, output, place.stream);
        }
        for (std::size_t i = 0; i < chunk.items; ++i)
            put_item(chunk.first + i, input + i * item_in, output + i * item_out);
    }

    Fault fault_;
};

/// How a source hands over its items.
enum class Feed {
    view,         ///< where they lie
    fill,         ///< copied
    alternating,  ///< one chunk by view, the next by fill
    lane_memory,  ///< by view of memory that the source keeps for each lane
    endless,      ///< by fill, which says when it ends
    cut_off,      ///< by fill, which ends before items() have come
};

class FakeSource : public phy::Source {
public:
    FakeSource(const Stream& stream, Feed feed, Watch watch = {})
        : stream_(stream), feed_(feed), watch_(std::move(watch)) {}

    [[nodiscard]] std::uint64_t items() const override {
        if (feed_ == Feed::endless) return endless;
        return stream_.items() + (feed_ == Feed::cut_off ? 5000 : 0);
    }

    [[nodiscard]] std::span<const std::byte> view(const phy::Chunk& chunk) override {
        return watch_.during(Call::source_view, chunk, [&]() -> std::span<const std::byte> {
            fault_.expect(chunk.index == next_.index && chunk.first == next_.first, "not the next", chunk);
            fault_.expect(chunk.items > 0, "no items", chunk);
            next_.index = chunk.index + 1;
            next_.first = chunk.first + chunk.items;
            const bool viewed = feed_ == Feed::view || feed_ == Feed::lane_memory ||
                                (feed_ == Feed::alternating && chunk.index % 2 == 0);
            if (!viewed || !has_all_of(chunk)) return {};
            const std::span<const std::byte> items = stream_.input(chunk.first, chunk.items);
            return feed_ == Feed::lane_memory ? in_lane_memory(chunk, items) : items;
        });
    }

    std::size_t fill(const phy::Chunk& chunk, std::span<std::byte> input) override {
        return watch_.during(Call::fill, chunk, [&]() -> std::size_t {
            fault_.expect(input.size() == chunk.items * item_in, "size of what is to be filled", chunk);
            const std::uint64_t left =
                stream_.items() - std::min<std::uint64_t>(stream_.items(), chunk.first);
            const std::size_t items = std::min<std::uint64_t>(chunk.items, left);
            if (!fault_.text().empty()) return 0;
            std::ranges::copy(stream_.input(chunk.first, items), input.begin());
            return items;
        });
    }

    [[nodiscard]] const std::string& fault() const { return fault_.text(); }

private:
    [[nodiscard]] bool has_all_of(const phy::Chunk& chunk) {
        const bool has = chunk.first + chunk.items <= stream_.items();
        fault_.expect(has, "beyond the end", chunk);
        return has;
    }

    std::span<const std::byte> in_lane_memory(const phy::Chunk& chunk, std::span<const std::byte> items) {
        if (lanes_.size() <= chunk.lane) lanes_.resize(chunk.lane + 1);
        lanes_[chunk.lane].assign(items.begin(), items.end());
        return lanes_[chunk.lane];
    }

    const Stream& stream_;
    Feed feed_;
    Watch watch_;
    phy::Chunk next_;
    std::vector<Bytes> lanes_;
    Fault fault_;
};

/// Where a sink wants its bytes.
enum class Drain {
    view,         ///< in their place
    take,         ///< in memory of the pipeline
    alternating,  ///< of one chunk by view, of the next by take
    lane_memory,  ///< in memory that the sink keeps for each lane
};

class FakeSink : public phy::Sink {
public:
    FakeSink(const Stream& stream, Drain drain, Watch watch = {})
        : expected_(stream.expected()),
          drain_(drain),
          watch_(std::move(watch)),
          output_(expected_.size() + margin, canary) {}

    [[nodiscard]] std::span<std::byte> view(const phy::Chunk& chunk) override {
        return watch_.during(Call::sink_view, chunk, [&]() -> std::span<std::byte> {
            view_fault_.expect(chunk.index == next_view_++, "not the next to be viewed", chunk);
            view_fault_.expect((chunk.first + chunk.items) * item_out <= expected_.size(), "too much", chunk);
            return view_fault_.text().empty() ? place_of(chunk) : std::span<std::byte>();
        });
    }

    void take(const phy::Chunk& chunk, std::span<const std::byte> output) override {
        watch_.during(Call::take, chunk, [&] {
            fault_.expect(chunk.index == chunks_++, "not the next to be taken", chunk);
            fault_.expect(chunk.first == items_, "not where the one before ended", chunk);
            fault_.expect(chunk.items > 0, "no items for the sink", chunk);
            fault_.expect(output.size() == chunk.items * item_out, "size of what the sink has", chunk);
            fault_.expect((items_ + chunk.items) * item_out <= expected_.size(), "too much taken", chunk);
            if (!fault_.text().empty()) return;
            items_ += chunk.items;
            keep(chunk, output);
        });
    }

    [[nodiscard]] std::uint64_t items() const { return items_; }
    [[nodiscard]] std::uint64_t chunks() const { return chunks_; }
    [[nodiscard]] std::string fault() const {
        return fault_.text().empty() ? view_fault_.text() : fault_.text();
    }

    /// The bytes that were taken are right, and nobody wrote beyond the end.
    [[nodiscard]] bool has_right_bytes() const {
        const auto taken = static_cast<std::ptrdiff_t>(items_ * item_out);
        const auto end = output_.end() - static_cast<std::ptrdiff_t>(margin);
        return std::equal(output_.begin(), output_.begin() + taken, expected_.begin()) &&
               std::all_of(end, output_.end(), [](std::byte byte) { return byte == canary; });
    }

private:
    static constexpr std::size_t margin = 4096;
    static constexpr std::byte canary{0xEE};

    [[nodiscard]] std::span<std::byte> in_place(const phy::Chunk& chunk) {
        return std::span(output_).subspan(chunk.first * item_out, chunk.items * item_out);
    }

    /// Called by another thread than keep(), which therefore asks viewed() anew.
    [[nodiscard]] std::span<std::byte> place_of(const phy::Chunk& chunk) {
        if (drain_ == Drain::lane_memory) return lane_memory(chunk);
        return viewed(chunk) ? in_place(chunk) : std::span<std::byte>();
    }

    [[nodiscard]] bool viewed(const phy::Chunk& chunk) const {
        return drain_ == Drain::view || (drain_ == Drain::alternating && chunk.index % 2 == 0);
    }

    [[nodiscard]] std::span<std::byte> lane_memory(const phy::Chunk& chunk) {
        if (lanes_.size() <= chunk.lane) lanes_.resize(chunk.lane + 1);
        lanes_[chunk.lane].assign(chunk.items * item_out, canary);
        return lanes_[chunk.lane];
    }

    void keep(const phy::Chunk& chunk, std::span<const std::byte> output) {
        const std::span<std::byte> place = in_place(chunk);
        if (viewed(chunk)) {
            fault_.expect(output.data() == place.data(), "not where the sink wanted it", chunk);
        } else {
            std::ranges::copy(output, place.begin());
        }
    }

    const Bytes& expected_;
    Drain drain_;
    Watch watch_;
    Bytes output_;
    std::uint64_t items_ = 0;
    std::uint64_t chunks_ = 0;
    Fault fault_;

    std::uint64_t next_view_ = 0;
    std::vector<Bytes> lanes_;
    Fault view_fault_;
};

}  // namespace phy_test

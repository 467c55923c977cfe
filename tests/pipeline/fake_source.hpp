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

/// How a source delivers its items.
enum class SourceMode {
    view,               ///< in their own memory
    fill,               ///< copied
    alternating,        ///< one chunk by view, the next by fill
    buffer_set_memory,  ///< by view, in the source's own memory for each buffer set
    endless,            ///< by fill, which reports the end
    cut_off,            ///< by fill, which ends before items()
};

class FakeSource : public phy::Source {
public:
    using View = std::span<std::span<const std::byte>>;

    FakeSource(const TestStream& stream, SourceMode mode, CallHooks hooks = {})
        : stream_(stream), mode_(mode), hooks_(std::move(hooks)) {}

    [[nodiscard]] std::uint64_t items() const override {
        if (mode_ == SourceMode::endless) return endless;
        return stream_.items() + (mode_ == SourceMode::cut_off ? 5000 : 0);
    }

    [[nodiscard]] bool view(const phy::Chunk& chunk, View arrays) override {
        return hooks_.during(Call::source_view, chunk, [&] {
            mistake_.expect(chunk.index == next_.index && chunk.first == next_.first, "not the next", chunk);
            mistake_.expect(chunk.items > 0, "no items", chunk);
            mistake_.expect(arrays.size() == stream_.inputs().size(), "number of views", chunk);
            next_.index = chunk.index + 1;
            next_.first = chunk.first + chunk.items;
            const bool viewed = mode_ == SourceMode::view || mode_ == SourceMode::buffer_set_memory ||
                                (mode_ == SourceMode::alternating && chunk.index % 2 == 0);
            if (!viewed || !has_all_of(chunk) || !mistake_.is_none()) return false;
            for (std::size_t port = 0; port < arrays.size(); ++port)
                arrays[port] = stream_.input(port, chunk.first, chunk.items);
            if (mode_ == SourceMode::buffer_set_memory) copy_to_buffer_set(chunk, arrays);
            return true;
        });
    }

    std::size_t fill(const phy::Chunk& chunk, std::span<const std::span<std::byte>> arrays) override {
        return hooks_.during(Call::fill, chunk, [&]() -> std::size_t {
            mistake_.expect(arrays.size() == stream_.inputs().size(), "number of arrays to fill", chunk);
            const std::uint64_t left =
                stream_.items() - std::min<std::uint64_t>(stream_.items(), chunk.first);
            const std::size_t items = std::min<std::uint64_t>(chunk.items, left);
            for (std::size_t port = 0; mistake_.is_none() && port < arrays.size(); ++port) {
                const std::size_t room = stream_.inputs()[port].bytes_of(chunk.items);
                mistake_.expect(arrays[port].size() == room, "size of what is to be filled", chunk);
                mistake_.expect(is_aligned(arrays[port].data(), 64), "alignment of what is to be filled",
                                chunk);
                if (items != 0 && mistake_.is_none())
                    std::ranges::copy(stream_.input(port, chunk.first, items), arrays[port].begin());
            }
            return mistake_.is_none() ? items : 0;
        });
    }

    [[nodiscard]] const std::string& mistake() const { return mistake_.text(); }

private:
    [[nodiscard]] bool has_all_of(const phy::Chunk& chunk) {
        const bool has = chunk.first + chunk.items <= stream_.items();
        mistake_.expect(has, "beyond the end", chunk);
        return has;
    }

    void copy_to_buffer_set(const phy::Chunk& chunk, View arrays) {
        if (buffer_sets_.size() <= chunk.buffer_set) buffer_sets_.resize(chunk.buffer_set + 1);
        std::vector<Bytes>& buffer_set = buffer_sets_[chunk.buffer_set];
        buffer_set.resize(arrays.size());
        for (std::size_t port = 0; port < arrays.size(); ++port) {
            buffer_set[port].assign(arrays[port].begin(), arrays[port].end());
            arrays[port] = buffer_set[port];
        }
    }

    const TestStream& stream_;
    SourceMode mode_;
    CallHooks hooks_;
    phy::Chunk next_;
    std::vector<std::vector<Bytes>> buffer_sets_;
    Mistake mistake_;
};

}  // namespace phy_test

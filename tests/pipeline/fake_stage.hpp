#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "phy/core/version.hpp"
#include "phy/pipeline/stage.hpp"
#include "pipeline/call_hooks.hpp"
#include "pipeline/mistake.hpp"
#include "pipeline/scramble_cuda.hpp"

namespace phy_test {

/// The ports of a FakeStage.
struct StageShape {
    std::string name = "scramble";
    std::vector<phy::Port> inputs = {{"in", 3}};
    std::vector<phy::Port> outputs = {{"out", 5}};
    std::size_t granularity = 1;
    bool has_scratch = false;
    std::size_t more_scratch = 0;  ///< bytes that it requests and fills but does not need
};

/// For the default shape.
inline constexpr std::size_t item_in = 3;
inline constexpr std::size_t item_out = 5;

template <typename Byte>
ScrambleArray<Byte> scramble_array(Byte* data, const phy::Port& port) {
    return {data, port.bytes, port.items};
}

inline bool is_aligned(const std::byte* data, std::size_t alignment) {
    return reinterpret_cast<std::uintptr_t>(data) % alignment == 0;
}

/// Without scratch memory and arrays.
inline Scramble scramble_of(const StageShape& shape, const phy::Chunk& chunk) {
    Scramble scramble{};
    scramble.first = chunk.first;
    scramble.items = chunk.items;
    scramble.granularity = shape.granularity;
    scramble.seed = std::hash<std::string>()(shape.name);
    scramble.inputs = shape.inputs.size();
    scramble.outputs = shape.outputs.size();
    return scramble;
}

/// Scrambles, and checks the pipeline's contract with stages.
class FakeStage : public phy::Stage {
public:
    CallHooks hooks;                                       ///< of the next run
    std::function<void(const phy::Place&)> on_place;       ///< called in on(); may throw
    std::function<void(const std::string&)> on_start_end;  ///< gets entries of `starts_and_ends`; may throw
    std::vector<std::string> places;                       ///< of the calls of on()
    std::vector<std::string> where;                        ///< places that worked on the chunks, in order
    std::vector<std::string> starts_and_ends;              ///< "start", "start scalar", "end scalar", "end"

    explicit FakeStage(StageShape shape = {}) : shape_(std::move(shape)) {}

    [[nodiscard]] std::string_view name() const override { return shape_.name; }
    [[nodiscard]] std::vector<phy::Port> inputs() const override { return shape_.inputs; }
    [[nodiscard]] std::vector<phy::Port> outputs() const override { return shape_.outputs; }
    [[nodiscard]] std::size_t granularity() const override { return shape_.granularity; }
    [[nodiscard]] std::size_t scratch_bytes(std::size_t items) const override {
        return (shape_.has_scratch ? items * sizeof(std::uint64_t) : 0) + shape_.more_scratch;
    }

    std::unique_ptr<phy::StageRunner> on(const phy::Place& place) override;

    void start_run() override { note("start"); }
    void end_run() override { note("end"); }

    [[nodiscard]] const StageShape& shape() const { return shape_; }
    [[nodiscard]] const std::string& mistake() const { return mistake_.text(); }

private:
    class Runner;

    void note(const std::string& what) {
        starts_and_ends.push_back(what);
        if (on_start_end) on_start_end(what);
    }

    StageShape shape_;
    Mistake mistake_;
};

class FakeStage::Runner : public phy::StageRunner {
public:
    Runner(FakeStage& stage, const phy::Place& place)
        : stage_(stage), place_(place.name()), is_cuda_(place.is_cuda()) {}

    void start_run() override { stage_.note("start " + place_); }
    void end_run() override { stage_.note("end " + place_); }

    void run_on_host(const phy::HostWork& work) override {
        stage_.hooks.during(Call::work, work.chunk, [&] {
            expect(!is_cuda_, "run on the host", work.chunk);
            check(work, alignment_of_host);
            if (!stage_.mistake_.is_none()) return;
            const auto mark = static_cast<std::byte>(work.chunk.index + 1);
            std::ranges::fill(work.scratch, mark);
            run_scramble(scramble_of_work(work));
            const auto more = work.scratch.last(stage_.shape_.more_scratch);
            expect(std::ranges::count(more, mark) == std::ssize(more), "somebody wrote to scratch memory",
                   work.chunk);
        });
    }

    void run_on_device(const phy::DeviceWork& work) override {
        stage_.hooks.during(Call::work, work.chunk, [&] {
            expect(is_cuda_, "run on a device", work.chunk);
            check(work, alignment_of_device);
            if (!stage_.mistake_.is_none()) return;
            if constexpr (phy::built_with_cuda) run_scramble_on_device(scramble_of_work(work), work.stream);
        });
    }

private:
    static constexpr std::size_t alignment_of_host = 64;
    static constexpr std::size_t alignment_of_device = 256;

    void expect(bool holds, const char* what, const phy::Chunk& chunk) const {
        stage_.mistake_.expect(holds, what, chunk);
    }

    template <typename Work>
    void check(const Work& work, std::size_t alignment) const {
        const StageShape& shape = stage_.shape_;
        expect(work.chunk.first % shape.granularity == 0, "begins within a block", work.chunk);
        check_arrays(work.in, shape.inputs, work.chunk);
        check_arrays(work.out, shape.outputs, work.chunk);
        if (is_cuda_) {
            for (const auto& array : work.in)
                expect(is_aligned(array.data(), alignment), "alignment of an input", work.chunk);
            for (const auto& array : work.out)
                expect(is_aligned(array.data(), alignment), "alignment of an output", work.chunk);
        }
        expect(work.scratch.size() == stage_.scratch_bytes(work.chunk.items), "size of the scratch memory",
               work.chunk);
        expect(is_aligned(work.scratch.data(), alignment), "alignment of the scratch memory", work.chunk);
        stage_.where.push_back(place_);
    }

    template <typename Arrays>
    void check_arrays(const Arrays& arrays, const std::vector<phy::Port>& ports,
                      const phy::Chunk& chunk) const {
        expect(arrays.size() == ports.size(), "number of arrays", chunk);
        for (std::size_t i = 0; i < std::min(arrays.size(), ports.size()); ++i)
            expect(arrays[i].size() == ports[i].bytes_of(chunk.items), "size of the stage's array", chunk);
    }

    template <typename Work>
    [[nodiscard]] Scramble scramble_of_work(const Work& work) const {
        const StageShape& shape = stage_.shape_;
        Scramble scramble = scramble_of(shape, work.chunk);
        for (std::size_t i = 0; i < shape.inputs.size(); ++i)
            scramble.in[i] = scramble_array(work.in[i].data(), shape.inputs[i]);
        for (std::size_t i = 0; i < shape.outputs.size(); ++i)
            scramble.out[i] = scramble_array(work.out[i].data(), shape.outputs[i]);
        if (shape.has_scratch) scramble.scratch = reinterpret_cast<std::uint64_t*>(work.scratch.data());
        return scramble;
    }

    FakeStage& stage_;
    std::string place_;
    bool is_cuda_;
};

inline std::unique_ptr<phy::StageRunner> FakeStage::on(const phy::Place& place) {
    if (on_place) on_place(place);
    places.push_back(place.name());
    return std::make_unique<Runner>(*this, place);
}

}  // namespace phy_test

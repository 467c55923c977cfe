#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "phy/core/error.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/estimator/cuda/job.hpp"
#include "phy/estimator/cuda/tuning.hpp"
#include "phy/estimator/estimator.hpp"

namespace phy::gpu {
namespace {

using namespace detail;  // NOLINT(google-build-using-namespace)
using phy::detail::EstimatorFilter;
using phy::detail::EstimatorKind;
using phy::detail::EstimatorLayout;
using phy::detail::EstimatorPlan;
using phy::detail::EstimatorTileShape;
using phy::detail::FftPlan;

constexpr std::size_t max_slots_of_all = 65535;

/// Arrays that are copied to the device in one piece. The first pass counts, the second knows their
/// addresses.
class Blob {
public:
    explicit Blob(const std::byte* base = nullptr) : base_(reinterpret_cast<std::uintptr_t>(base)) {}

    template <typename T>
    const T* add(const std::vector<T>& values) {
        static_assert(std::is_trivially_copyable_v<T>);
        constexpr std::size_t alignment = 256;
        const std::size_t at = bytes_.size();
        bytes_.resize((at + values.size() * sizeof(T) + alignment - 1) / alignment * alignment);
        if (!values.empty()) std::memcpy(bytes_.data() + at, values.data(), values.size() * sizeof(T));
        return reinterpret_cast<const T*>(base_ + at);  // NOLINT(performance-no-int-to-ptr)
    }

    [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

private:
    std::uintptr_t base_;
    std::vector<std::byte> bytes_;
};

/// Transposes (rows, columns).
std::vector<double> transposed(const std::vector<double>& values, std::size_t columns) {
    std::vector<double> result(values.size());
    const std::size_t rows = columns == 0 ? 0 : values.size() / columns;
    for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t c = 0; c < columns; ++c)
            result[c * rows + r] = values[r * columns + c];
    return result;
}

/// (delays, columns) as threads take them: in turn those of even modes, then those of odd ones.
std::vector<double> columns_of_threads(const EstimatorKind& kind, int delays) {
    constexpr int of_parity = filter_row_threads / 2;
    std::vector<double> result;
    for (int delay = 0; delay < delays; ++delay) {
        for (int parity = 0; parity < 2; ++parity) {
            for (int first = 0; first < of_parity; ++first) {
                for (int i = first; i < phy::detail::estimator_max_part; i += of_parity) {
                    const int column = (parity == 0 ? 0 : kind.modes.column_part(0)) + i;
                    const bool is_there = i < kind.modes.counts[static_cast<std::size_t>(parity)];
                    const int at = delay * kind.modes.columns() + column;
                    result.push_back(is_there ? kind.columns[static_cast<std::size_t>(at)] : 0.0);
                }
            }
        }
    }
    return result;
}

DeviceKind add_kind(Blob& blob, const EstimatorKind& kind, int delays) {
    DeviceKind result = {.pilots = kind.pilots,
                         .modes = kind.modes,
                         .rows = kind.rows,
                         .shapes_count = static_cast<int>(kind.shapes.size()),
                         .rows_of_last_shape = kind.shapes.empty() ? 0 : kind.shapes.back().modes.modes(),
                         .project = blob.add(kind.project),
                         .keep = blob.add(kind.keep),
                         .columns = blob.add(columns_of_threads(kind, delays)),
                         .steering = blob.add(transposed(kind.steering, static_cast<std::size_t>(delays))),
                         .shapes = {}};
    int mix_at = 0;
    for (std::size_t i = 0; i < kind.shapes.size(); ++i) {
        const EstimatorTileShape& shape = kind.shapes[i];
        result.shapes[i] = {.positions = shape.positions,
                            .begin = shape.begin,
                            .modes = shape.modes,
                            .first_row = shape.first_row,
                            .half_width = shape.half_width,
                            .mix_at = mix_at,
                            .synthesize = blob.add(shape.synthesize),
                            .power = blob.add(shape.power)};
        mix_at += kind.modes.modes() * shape.modes.width();
    }
    return result;
}

DeviceFilter add_filter(Blob& blob, const EstimatorFilter& filter) {
    return {.window_blocks = filter.window_blocks,
            .tiles = filter.tiles,
            .delays = filter.delays,
            .likelihood_steps = filter.likelihood_steps,
            .floor = filter.floor,
            .deposits = blob.add(filter.deposits),
            .deposit_weights = blob.add(filter.deposit_weights),
            .kinds = {add_kind(blob, filter.of(false), filter.delays),
                      add_kind(blob, filter.of(true), filter.delays)}};
}

DeviceProfile add_profile(Blob& blob, const EstimatorPlan& plan) {
    const FftPlan fft(static_cast<std::size_t>(plan.profile.bins), phy::detail::FactorOrder::threads);
    DeviceProfile result{};
    static_cast<EstimatorProfileShape&>(result) = plan.profile;
    result.fft = fft.fft();
    result.fft.table = blob.add(std::vector<float>(fft.table().begin(), fft.table().end()));
    result.at = blob.add(plan.profile.at);
    result.taper = blob.add(plan.profile.taper);
    result.kernel = blob.add(plan.profile.kernel);
    result.over_reached = blob.add(plan.profile.over_reached);
    return result;
}

int doubles_of(const EstimatorFilter& filter, const DeviceKind& kind) {
    const int modes = kind.modes.modes();
    return doubles_of_columns(filter.delays, kind.rows_of_last_shape) +
           doubles_of_steering(filter.delays, modes + kind.rows) + 4 * filter.delays + filter_columns +
           (filter.likelihood_steps > 0 ? doubles_of_likelihood(filter.delays, modes) : 0);
}

EstimatorProgram make_program(Blob& blob, const EstimatorPlan& plan) {
    const EstimatorLayout& layout = plan.layout;
    EstimatorProgram program{};
    static_cast<EstimatorShape&>(program) = layout;
    std::copy(layout.groups.begin(), layout.groups.end(), program.groups.begin());
    std::copy(layout.dmrs_symbols.begin(), layout.dmrs_symbols.end(), program.dmrs_symbols.begin());
    std::copy(layout.streams.begin(), layout.streams.end(), program.streams.begin());
    program.constants = plan.constants;
    program.largest = plan.largest;
    program.rows_size = static_cast<std::size_t>(program.rows) * layout.row_floats();
    program.streams_size = static_cast<std::size_t>(program.stream_rows) * layout.row_floats();
    program.ranges = blob.add(layout.ranges);
    program.subcarrier_of = blob.add(layout.subcarrier_of);
    program.pilot_of = blob.add(layout.pilot_of);
    program.erased = blob.add(layout.erased);
    program.erased_count = static_cast<int>(layout.erased.size());
    program.subbands = plan.subbands;
    program.pilot_at = blob.add(plan.subbands.pilot_at);
    program.first_pilot = blob.add(plan.subbands.first_pilot);
    program.signs = blob.add(plan.subbands.signs);
    program.fills = blob.add(layout.fills);
    program.fills_count = static_cast<int>(layout.fills.size());
    std::vector<DeviceFilter> filters;
    for (const EstimatorFilter& filter : plan.filters) {
        filters.push_back(add_filter(blob, filter));
        for (const DeviceKind& kind : filters.back().kinds)
            program.filter_doubles =
                std::max(program.filter_doubles, phy::detail::round_up(doubles_of(filter, kind), 2));
        for (const bool joint : {false, true})
            for (int blocks = 0; const int parity : {0, 1}) {
                blocks += (filter.of(joint).modes.part(parity) + projection_modes - 1) / projection_modes;
                program.mode_blocks = std::max(program.mode_blocks, blocks);
            }
    }
    program.filters = blob.add(filters);
    program.shares = blob.add(plan.shares);
    program.jobs = blob.add(plan.jobs);
    program.facts = plan.facts;
    program.profile = add_profile(blob, plan);
    return program;
}

std::size_t checked_slots(std::size_t max_slots) {
    if (max_slots >= 1 && max_slots <= max_slots_of_all) return max_slots;
    throw ArgumentError("max_slots " + std::to_string(max_slots) + ": expected 1 to 65535");
}

}  // namespace

struct PHY_HIDDEN ChannelEstimator::Impl {
    Impl(const Device& on, const Config& config, std::size_t slots)
        : device(on),
          max_slots(checked_slots(slots)),
          shared_plan(phy::detail::estimator_plan(config)),
          plan(*shared_plan) {
        Blob counted;
        program = make_program(counted, plan);
        constants = DeviceBuffer<std::byte>(device, counted.bytes().size());
        Blob blob(constants.data());
        program = make_program(blob, plan);
        add_workspace();
        program_there = detail::upload(device, std::span(&program, 1));
        const CurrentDevice current(device);
        const Stream stream(device);
        copy_async(constants, blob.bytes(), stream);
        fill_async(workspace, 0, stream);
        fill_async(states, 0, stream);
        fill_async(arrivals, 0, stream);
        stream.synchronize();
        prepare_rows();
        prepare_profile();
        prepare_projection();
        prepare_noise();
        prepare_filter();
        prepare_covariance();
        prepare_synthesis();
    }

    /// The zeros after the pilots of rows and streams are never overwritten.
    void add_workspace() {
        const auto jobs = static_cast<std::size_t>(program.largest.jobs);
        const auto streams = static_cast<std::size_t>(program.streams_count);
        const std::size_t columns = static_cast<std::size_t>(program.columns[0] + program.columns[1]);
        const std::size_t antennas = static_cast<std::size_t>(program.antennas);
        const auto subbands = static_cast<std::size_t>(program.subbands.count);
        const std::size_t of_subband =
            2 * antennas * static_cast<std::size_t>(program.symbols * program.subbands.subcarriers);
        constexpr std::size_t shared_memory = 48 * 1024;  // which every device has
        const bool fits = of_subband * sizeof(float) <= shared_memory;
        const std::size_t sizes[] = {
            program.rows_size,
            static_cast<std::size_t>(program.rows) * row_sums_size,
            program.streams_size,
            program.largest.modes,
            jobs * columns * 2,
            jobs * streams * 2,
            static_cast<std::size_t>(program.profile.transforms) *
                static_cast<std::size_t>(program.profile.bins),
            static_cast<std::size_t>(program.profile.extent),
            2 * static_cast<std::size_t>(program.largest.filters) * program.largest.mix,
            2 * static_cast<std::size_t>(program.largest.filters),
            subbands * antennas * antennas * 2,
            fits ? 0 : subbands * of_subband};
        float** const arrays[] = {&program.rows_at,   &program.row_sums,    &program.streams_at,
                                  &program.modes_at,  &program.column_sums, &program.job_sums,
                                  &program.powers_at, &program.measured,    &program.mix,
                                  &program.errors,    &program.products,    &program.residuals};
        // Kernels move four floats at a time.
        constexpr std::size_t alignment = 64;
        const auto room = [&](std::size_t size) {
            return (size * max_slots + alignment - 1) / alignment * alignment;
        };
        std::size_t all = 0;
        for (const std::size_t size : sizes)
            all += room(size);
        workspace = DeviceBuffer<float>(device, all);
        states = DeviceBuffer<SlotState>(device, max_slots);
        program.states = states.data();
        arrivals = DeviceBuffer<unsigned>(device, max_slots);
        program.arrivals = arrivals.data();
        float* next = workspace.data();
        for (std::size_t i = 0; i < std::size(sizes); ++i) {
            *arrays[i] = next;
            next += room(sizes[i]);
        }
        if (fits) program.residuals = nullptr;
    }

    Device device;
    std::size_t max_slots;
    std::shared_ptr<const EstimatorPlan> shared_plan;
    const EstimatorPlan& plan;
    EstimatorProgram program{};
    DeviceBuffer<std::byte> constants;
    DeviceBuffer<float> workspace;
    DeviceBuffer<SlotState> states;
    DeviceBuffer<unsigned> arrivals;
    DeviceBuffer<EstimatorProgram> program_there;
};

ChannelEstimator::ChannelEstimator(const Device& device, const Config& config, std::size_t max_slots)
    : impl_(std::make_unique<Impl>(device, config, max_slots)) {}
int ChannelEstimator::estimates() const {
    return impl_->plan.layout.estimates;
}

std::size_t ChannelEstimator::channel_size() const {
    return impl_->plan.slot_sizes().channel;
}

std::span<const float> ChannelEstimator::time_weights() const {
    return impl_->plan.time.weights;
}

int ChannelEstimator::time_sets() const {
    return impl_->plan.time.count();
}

const Device& ChannelEstimator::device() const {
    return impl_->device;
}

const ChannelEstimator::Config& ChannelEstimator::config() const {
    return impl_->plan.config;
}

std::size_t ChannelEstimator::max_slots() const {
    return impl_->max_slots;
}

void ChannelEstimator::operator()(SymbolView grid, DeviceSpan<const cf32> pilots, DeviceSpan<float> channel,
                                  DeviceSpan<SlotEstimate> slots, cudaStream_t stream,
                                  DeviceSpan<cf32> covariance) const {
    impl_->plan.check_call({.grid = grid.size(),
                            .pilots = pilots.size(),
                            .channel = channel.size(),
                            .slots = slots.size(),
                            .covariance = covariance.size()});
    if (slots.size() > impl_->max_slots)
        throw ArgumentError("slots has " + std::to_string(slots.size()) + " elements: expected at most " +
                            std::to_string(impl_->max_slots) + ", the estimator's max_slots");
    if (slots.empty()) return;
    const CurrentDevice current(impl_->device);
    const EstimatorJob job = {.format = grid.format(),
                              .grid = grid.data(),
                              .unit = impl_->plan.unit_of(grid.format()),
                              .pilots = pilots.data(),
                              .channel = channel.data(),
                              .estimates = slots.data(),
                              .covariance = covariance.empty() ? nullptr : covariance.data(),
                              .matrices = impl_->plan.matrices(slots.size(), covariance.size()),
                              .slots = static_cast<unsigned>(slots.size())};
    const EstimatorProgram* const there = impl_->program_there.data();
    start_rows(impl_->program, job, stream);
    start_profile(impl_->program, job, stream);
    start_streams(impl_->program, job, stream);
    start_projection(impl_->program, there, job, stream);
    start_noise(impl_->program, job, stream);
    start_filter(impl_->program, job, stream);
    start_synthesis(impl_->program, job, stream);
    if (job.covariance != nullptr) start_covariance(impl_->program, job, stream);
}

}  // namespace phy::gpu

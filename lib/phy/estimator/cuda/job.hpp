#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "phy/cuda/stream.hpp"
#include "phy/estimator/math/filter.hpp"
#include "phy/estimator/math/plan.hpp"
#include "phy/estimator/slot_estimate.hpp"

/// The interface between the host side of the CUDA estimator and its kernels.
namespace phy::gpu::detail {

using phy::detail::EstimatorConstants;
using phy::detail::EstimatorDeposit;
using phy::detail::EstimatorFacts;
using phy::detail::EstimatorFill;
using phy::detail::EstimatorModes;
using phy::detail::EstimatorProfileShape;
using phy::detail::EstimatorRange;
using phy::detail::EstimatorShape;
using phy::detail::EstimatorSizes;
using phy::detail::EstimatorStream;
using phy::detail::EstimatorTile;
using phy::detail::EstimatorTileJob;
using phy::detail::EstimatorWindow;
using phy::detail::SlotState;

/// Sums of a row: its own, then its correlation with the same row of the next DM-RS.
constexpr int row_sums_size = phy::detail::estimator_row_sums + 2;

/// Columns of matrices that threads solve, and the threads that share a row of them: half have columns of
/// even modes, half those of odd ones.
constexpr int filter_columns = 2 * phy::detail::estimator_max_part;
constexpr int filter_row_threads = 4;

/// Doubles in shared memory of a block that makes the matrices M of a kind: see Room.
constexpr int doubles_of_columns(int delays, int rows_of_last_shape) {
    return filter_columns * (delays > rows_of_last_shape ? delays : rows_of_last_shape);
}
constexpr int doubles_of_steering(int delays, int rows) {
    return phy::detail::round_up(delays * rows, 2);
}
constexpr int doubles_of_likelihood(int delays, int modes) {
    return modes * (modes + 4 * delays);
}

/// EstimatorTileShape in device memory.
struct DeviceTileShape {
    int positions;
    int begin;
    EstimatorModes modes;
    int first_row;
    int half_width;
    int mix_at;  ///< of its part of M
    const float* synthesize;
    const double* power;
};

/// EstimatorKind in device memory.
struct DeviceKind {
    int pilots;
    EstimatorModes modes;
    int rows;
    int shapes_count;
    int rows_of_last_shape;
    const float* project;
    const float* keep;
    const double* columns;   ///< (delays, filter_columns): as threads take them
    const double* steering;  ///< (delays, modes + rows): transposed
    DeviceTileShape shapes[2];
};

/// EstimatorFilter in device memory.
struct DeviceFilter {
    int window_blocks;
    int tiles;
    int delays;
    int likelihood_steps;
    double floor;
    const EstimatorDeposit* deposits;
    const double* deposit_weights;
    DeviceKind kinds[2];  ///< single, joint
};

/// EstimatorProfile in device memory.
struct DeviceProfile : EstimatorProfileShape {
    phy::detail::Fft fft;
    const EstimatorWindow* at;
    const float* taper;
    const float* kernel;
    const float* over_reached;
};

/// The constant part of all calls.
struct EstimatorProgram : EstimatorShape {
    EstimatorSizes largest;
    std::array<int, 3> groups;
    std::array<int, phy::symbols_per_slot> dmrs_symbols;
    std::array<EstimatorStream, phy::detail::max_streams> streams;
    EstimatorConstants constants;
    const EstimatorRange* ranges;
    const std::int32_t* subcarrier_of;
    const std::int32_t* pilot_of;
    const int* erased;
    int erased_count;
    phy::detail::EstimatorSubbandShape subbands;
    const std::int32_t* pilot_at;  ///< by subcarrier: among the pilots of a symbol; -1: none
    const std::int32_t* first_pilot;
    const float* signs;
    const EstimatorFill* fills;
    int fills_count;
    const DeviceFilter* filters;
    const float* shares;
    const EstimatorTileJob* jobs;
    EstimatorFacts facts;
    DeviceProfile profile;
    int mode_blocks;     ///< of the projection, at most
    int filter_doubles;  ///< in the largest Room

    // The workspace. Sizes are elements per slot.
    float* rows_at;
    float* row_sums;  ///< (slots, rows, row_sums_size)
    float* streams_at;
    float* modes_at;
    float* column_sums;  ///< (slots, jobs, columns of both kinds, joint ones first, 2): energy, residual
    float* job_sums;     ///< (slots, jobs, streams, 2)
    float* powers_at;    ///< (slots, transforms, bins)
    float* measured;     ///< (slots, extent)
    float* mix;          ///< (slots, filters, kinds, largest mix)
    float* errors;       ///< (slots, filters, kinds)
    float* products;     ///< (slots, subbands, antennas, antennas, 2)
    float* residuals;    ///< (slots, subbands, antennas, parts, symbols, subcarriers); null: in shared memory
    SlotState* states;
    unsigned* arrivals;  ///< (slots): blocks that have finished; 0 between kernels
    std::size_t rows_size;
    std::size_t streams_size;
};

struct EstimatorJob {
    phy::SampleFormat format;
    const std::byte* grid;
    float unit;
    const phy::cf32* pilots;
    float* channel;
    phy::SlotEstimate* estimates;
    phy::cf32* covariance;  ///< (slots, matrices, antennas, antennas); null: not requested
    int matrices;           ///< 1, or one per subband
    unsigned slots;
};

/// The steps of an estimate, in order; each starts kernels on the current device. program is in device
/// memory; host is a copy of it, which a kernel may get as its argument.
void start_rows(const EstimatorProgram& host, const EstimatorJob& job, cudaStream_t stream);
void start_profile(const EstimatorProgram& host, const EstimatorJob& job, cudaStream_t stream);
void start_streams(const EstimatorProgram& host, const EstimatorJob& job, cudaStream_t stream);
void start_projection(const EstimatorProgram& host, const EstimatorProgram* program, const EstimatorJob& job,
                      cudaStream_t stream);
void start_noise(const EstimatorProgram& host, const EstimatorJob& job, cudaStream_t stream);
void start_filter(const EstimatorProgram& host, const EstimatorJob& job, cudaStream_t stream);
void start_synthesis(const EstimatorProgram& host, const EstimatorJob& job, cudaStream_t stream);
void start_covariance(const EstimatorProgram& host, const EstimatorJob& job, cudaStream_t stream);

/// Load the kernels' code, and allow them the shared memory that they need.
void prepare_rows();
void prepare_profile();
void prepare_projection();
void prepare_noise();
void prepare_filter();
void prepare_covariance();
void prepare_synthesis();

}  // namespace phy::gpu::detail

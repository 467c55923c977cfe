#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "phy/estimator/host/kernels.hpp"
#include "phy/estimator/math/plan.hpp"
#include "phy/estimator/slot_estimate.hpp"
#include "phy/machine/thread_pool.hpp"
#include "phy/ofdm/host/fft_kernels.hpp"
#include "phy/simd/aligned_vector.hpp"
#include "phy/simd/arrays.hpp"

namespace phy::detail {

/// The arrays of one slot.
struct EstimatorSlot {
    SampleFormat format;
    const std::byte* grid;
    float unit;  ///< factor for integer samples
    const cf32* pilots;
    float* channel;
    SlotEstimate* estimate;
    cf32* covariance;  ///< (matrices, antennas, antennas); null: not requested
    int matrices;      ///< 1, or one per subband
};

/// Estimates one slot at a time. If `pool` is given, its threads share the slot.
class SlotEstimator {
public:
    /// The plan and the kernels must outlive it.
    SlotEstimator(const EstimatorPlan& plan, const EstimatorKernels& kernels, const ArrayKernels& arrays,
                  const FftKernels& fft, int parts);

    void operator()(const EstimatorSlot& slot, ThreadPool* pool) noexcept;

private:
    /// Memory of one thread for a row or a tile.
    struct Scratch {
        AlignedVector<float> samples;
        AlignedVector<float> gathered;
        AlignedVector<float> columns;
        AlignedVector<float> mixed;
        AlignedVector<float> tile;
        AlignedVector<float> subcarriers;
        AlignedVector<float> placed;      ///< (parts, subcarriers of a subband): pilots
        AlignedVector<float> residuals;   ///< (antennas, parts, symbols, subcarriers of a subband)
        std::vector<double> matrix;       ///< (rows, columns of modes)
        std::vector<double> weighted;     ///< (2, rows, delays): by sum and by difference of powers
        std::vector<double> of_delays;    ///< (2 delays): powers, the earliest first
        std::vector<double> powers;       ///< (2, delays): sums and differences of these
        std::vector<double> modes;        ///< (columns of a kind, width), then (width, columns)
        std::vector<double> correlation;  ///< (width, width): of modes
        std::vector<double> paths;        ///< (2 delays, width)
        std::vector<double> products;     ///< as paths
        std::vector<double> known;        ///< (columns of modes): power of a tile that M explains
        bool is_spoiled = false;          ///< one of its rows spoils the slot
    };

    template <typename Job>
    void each(std::size_t items, const Job& job) {
        if (pool_ == nullptr) {
            for (std::size_t item = 0; item < items; ++item)
                job(scratch_.front(), item);
            return;
        }
        pool_->for_each(items, [&](int part, std::size_t item) noexcept {
            job(scratch_[static_cast<std::size_t>(part)], item);
        });
    }

    void gather_pilots(std::size_t symbol) noexcept;
    void estimate_row(Scratch& scratch, std::size_t row) noexcept;
    void correlate_dmrs(std::size_t row) noexcept;
    void join_sums() noexcept;
    void measure_profile() noexcept;
    void transform(std::size_t first) noexcept;
    void taper_row(std::size_t row) noexcept;
    void place_extent() noexcept;
    void deconvolve() noexcept;
    void measure_delays() noexcept;
    void rotate_ramps() noexcept;
    void form_stream(std::size_t row) noexcept;
    void fill_erased(float* row, int group, EstimatorFillWeights EstimatorFill::*weights) const noexcept;
    void combine_symbols(std::size_t row, int comb, std::size_t first, std::size_t count, SplitComplex ramp,
                         float* out) const noexcept;
    void project(Scratch& scratch, std::size_t job) noexcept;
    void project_kind(Scratch& scratch, const EstimatorTileJob& job, bool joint, float* modes) noexcept;
    void fold_column(const EstimatorTileJob& job, const EstimatorKind& kind, const float* row, int comb,
                     float* re, float* im) const noexcept;
    void residuals(const EstimatorKind& kind, bool joint, const float* columns, const float* projected,
                   std::size_t job) noexcept;
    void measure_noise() noexcept;
    void make_filter(Scratch& scratch, std::size_t filter, bool joint) noexcept;
    void set_powers(Scratch& scratch, const EstimatorFilter& filter) const noexcept;
    void add_powers(Scratch& scratch, const EstimatorFilter& filter, double floor) const noexcept;
    void correlate_modes(Scratch& scratch, std::size_t filter, bool joint) const noexcept;
    static void write_paths(const EstimatorFilter& filter, const EstimatorKind& kind, double* rows) noexcept;
    void raise_likelihood(Scratch& scratch, std::size_t filter, bool joint, double noise) noexcept;
    void weight_rows(Scratch& scratch, const EstimatorFilter& filter, const EstimatorKind& kind,
                     int rows) const noexcept;
    void multiply_rows(Scratch& scratch, const EstimatorFilter& filter, const EstimatorKind& kind,
                       const EstimatorModes& modes, int row) const noexcept;
    static void add_noise(Scratch& scratch, const EstimatorKind& kind, double noise) noexcept;
    void write_mix(const Scratch& scratch, const EstimatorKind& kind, bool joint, float* mix) const noexcept;
    void write_estimate() noexcept;
    void synthesize(Scratch& scratch, std::size_t job) noexcept;
    void synthesize_stream(Scratch& scratch, const EstimatorTileJob& job, int stream) noexcept;
    void write_column(Scratch& scratch, const EstimatorTileJob& job, const EstimatorStream& stream,
                      const EstimatorTileShape& shape, std::size_t column) noexcept;
    void correlate_residuals(Scratch& scratch, int subband) noexcept;
    void place_pilots(Scratch& scratch, int subband, std::size_t symbol) const noexcept;
    void write_residuals(Scratch& scratch, int subband, std::size_t symbol, std::size_t antenna,
                         int count) const noexcept;
    void write_covariance() noexcept;
    void write_port(const EstimatorTileJob& job, int layer, std::size_t column, SplitComplex h) noexcept;

    [[nodiscard]] SplitComplex ramp_of(int group, int comb) const;
    [[nodiscard]] float* row_of(AlignedVector<float>& rows, std::size_t row, int comb) const;
    [[nodiscard]] std::size_t index_of(std::size_t filter, bool joint) const {
        return 2 * filter + (joint ? 1 : 0);
    }

    const EstimatorPlan& plan_;
    const EstimatorKernels& kernels_;
    const ArrayKernels& arrays_;
    const FftKernels& fft_;
    FftWorkspace fft_work_;
    EstimatorSlot slot_ = {};
    ThreadPool* pool_ = nullptr;
    SlotState state_ = {};

    std::vector<Scratch> scratch_;
    AlignedVector<float> pilots_;      ///< (symbols, combs, parts, comb_stride)
    AlignedVector<float> rows_;        ///< least squares, in rows
    AlignedVector<float> row_sums_;    ///< (rows, estimator_row_sums)
    AlignedVector<float> cross_sums_;  ///< (rows, 2): with the same row of the next DM-RS
    AlignedVector<float> index_;       ///< (groups, combs, comb_stride), then (subcarriers): subcarriers
    AlignedVector<float> ramps_;       ///< (groups, combs, parts, comb_stride), then (parts, subcarriers)
    AlignedVector<float> streams_;     ///< stream rows
    AlignedVector<float> taper_;       ///< taper, then zeros
    AlignedVector<float> tapered_;     ///< (antennas, streams, combs, parts, comb_stride)
    AlignedVector<float> bins_;        ///< (bins, estimator_transform_lanes)
    AlignedVector<float> powers_;      ///< (bins): of the measured profile, then (3, bins) to place it
    AlignedVector<float> measured_;    ///< (extent)
    AlignedVector<float> guess_;       ///< (reach, extent, reach): the profile, zeros beside it
    AlignedVector<float> expected_;    ///< (extent)
    AlignedVector<float> ratios_;      ///< as guess_
    AlignedVector<float> modes_;
    AlignedVector<float> tile_sums_;  ///< (jobs, streams, 2): energy, residual
    AlignedVector<float> products_;   ///< (subbands, antennas, antennas, 2): of residuals
    AlignedVector<float> mix_;        ///< (filters, kinds, shapes, modes, modes of the tile): M
    AlignedVector<float> errors_;     ///< (filters, kinds)
};

}  // namespace phy::detail

#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "phy/estimator/host/kernels.hpp"
#include "phy/estimator/math/plan.hpp"
#include "phy/estimator/slot_estimate.hpp"
#include "phy/machine/thread_pool.hpp"
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
    cf32* covariance;  ///< null: not requested
};

/// Estimates one slot at a time. If `pool` is given, its threads share the slot.
class SlotEstimator {
public:
    /// The plan and the kernels must outlive it.
    SlotEstimator(const EstimatorPlan& plan, const EstimatorKernels& kernels, const ArrayKernels& arrays,
                  int parts);

    void operator()(const EstimatorSlot& slot, ThreadPool* pool) noexcept;

private:
    /// Memory of one thread for a row or a tile.
    struct Scratch {
        std::vector<float> samples;
        std::vector<float> gathered;
        std::vector<float> columns;
        std::vector<float> mixed;
        std::vector<float> tile;
        std::vector<float> subcarriers;
        bool is_spoiled = false;  ///< one of its rows spoils the slot
    };

    template <typename Job>
    void each(std::size_t items, const Job& job);

    void gather_pilots(std::size_t symbol) noexcept;
    void estimate_row(Scratch& scratch, std::size_t row) noexcept;
    void correlate_dmrs(std::size_t row) noexcept;
    void join_sums() noexcept;
    void rotate_ramps() noexcept;
    void form_stream(std::size_t row) noexcept;
    void project(Scratch& scratch, std::size_t job) noexcept;
    void project_kind(Scratch& scratch, const EstimatorTileJob& job, bool joint, float* modes) noexcept;
    void fold_column(const EstimatorTileJob& job, const EstimatorModes& modes, const float* row, int comb,
                     float* re, float* im) const noexcept;
    void residuals(const EstimatorModes& modes, bool joint, const float* columns, const float* projected,
                   std::size_t job) noexcept;
    void covariances(const EstimatorModes& modes, bool joint, const float* columns, const float* projected,
                     std::size_t job) noexcept;
    void measure_noise() noexcept;
    void set_gains() noexcept;
    void write_estimate() noexcept;
    void write_covariance() noexcept;
    void synthesize(Scratch& scratch, std::size_t job) noexcept;
    void synthesize_stream(Scratch& scratch, const EstimatorTileJob& job, int stream) noexcept;
    void write_port(Scratch& scratch, const EstimatorTileJob& job, int layer, const float* mixed) noexcept;

    [[nodiscard]] SplitComplex ramp_of(int group, int comb) const;
    [[nodiscard]] float* row_of(std::vector<float>& rows, std::size_t row, int comb) const;
    [[nodiscard]] const EstimatorTables& tables() const;
    [[nodiscard]] float* gains_of(std::size_t filter, std::size_t stream);

    const EstimatorPlan& plan_;
    const EstimatorKernels& kernels_;
    const ArrayKernels& arrays_;
    EstimatorSlot slot_ = {};
    ThreadPool* pool_ = nullptr;
    SlotState state_ = {};

    std::vector<Scratch> scratch_;
    std::vector<float> pilots_;      ///< (symbols, combs, parts, comb_stride)
    std::vector<float> rows_;        ///< least squares, in rows
    std::vector<float> row_sums_;    ///< (rows, estimator_row_sums)
    std::vector<float> cross_sums_;  ///< (rows, 2): with the same row of the next DM-RS
    std::vector<float> index_;       ///< (groups, combs, comb_stride), then (subcarriers): subcarriers
    std::vector<float> ramps_;       ///< (groups, combs, parts, comb_stride), then (parts, subcarriers)
    std::vector<float> streams_;     ///< stream rows
    std::vector<float> modes_;
    std::vector<float> tile_sums_;      ///< (jobs, streams, 2): energy, residual
    std::vector<float> tile_products_;  ///< (jobs, antennas, antennas, 2)
    std::vector<float> gains_;          ///< (filters, streams, largest width)
};

}  // namespace phy::detail

#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "phy/core/cuda.hpp"
#include "phy/demapper/batch.hpp"
#include "phy/demapper/demapper.hpp"

/// Soft demapping of symbols in device memory. The bytes are those of phy::SoftDemapper.
///
/// A call only starts kernels on the caller's stream: it returns at once, allocates nothing, does not wait,
/// and can be captured in a graph. Symbols, per-symbol noise, soft bits and counters are in memory that the
/// device can reach, and stay there until the work is done.
///
/// Any length and any alignment of symbols and soft bits will do. Where both lie at multiples of 16 bytes, as
/// every allocation does, memory is moved in 16-byte pieces; elsewhere a call can take several times as long.
namespace phy::gpu {

/// Symbols to soft bits on a device. See phy::SoftDemapper for conventions, accuracy and bad samples.
///
/// A call that evaluates by table (SoftDemapper::evaluator_for) needs the table in device memory: prepare()
/// puts it there, and everything that takes time or memory happens in it.
///
/// Calls may come from several threads and go to several streams at once, but for prepare() and
/// forget_tables(), which want to be alone.
class SoftDemapper {
public:
    struct Config {
        Modulation modulation = Modulation::qpsk;
        Method method = Method::max_log;
        Evaluator evaluator = Evaluator::automatic;
        float llr_scale = 6.0F;   ///< int8: least significant bits a nat, from 1/64 to 4096
        int llr_clip = 127;       ///< int8: soft bits are limited to +-llr_clip, from 1 to 127
        float full_scale = 0.0F;  ///< integer samples: the value of 1.0; 0 means 2^(bits-1)
    };

    /// Throws ArgumentError if a value is out of its range.
    SoftDemapper(const Device& device, const Config& config);
    ~SoftDemapper();
    SoftDemapper(SoftDemapper&&) noexcept;
    SoftDemapper& operator=(SoftDemapper&&) noexcept;

    /// Builds the table that calls with this scalar N0 and format need, and waits until it is on the device;
    /// returns at once where they need none or it is there. Throws ArgumentError for an N0 that is not finite
    /// and positive, CudaError if the device has no memory for it.
    void prepare(float noise_variance, SoftBitFormat format);

    /// Gives the memory of all tables back. Waits for the device; graphs that used them must not run again.
    void forget_tables();

    /// Demaps all symbols on the stream, which belongs to the device. Sizes, noise and first_symbol as
    /// in phy::SoftDemapper; ArgumentError too where a table was not prepared. counters, in device memory, is
    /// added to when the work runs; it costs next to nothing.
    void operator()(SymbolView symbols, NoiseVariance noise, SoftBitSpan llr, cudaStream_t stream,
                    std::uint64_t first_symbol = 0, DemapCounters* counters = nullptr) const;

    /// The evaluator that a call with this noise and output format uses: arithmetic or table.
    [[nodiscard]] Evaluator evaluator_for(NoiseVariance noise, SoftBitFormat format) const;

    [[nodiscard]] const Device& device() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Many allocations, such as the users of a slot, in one launch (of up to 256 allocations, and of one kind of
/// evaluation: closed form, table or log-sum-exp). The bytes are those of single calls.
class BatchDemapper {
public:
    struct Config {
        Method method = Method::max_log;
        Evaluator evaluator = Evaluator::automatic;
        float llr_scale = 6.0F;   ///< as in SoftDemapper
        int llr_clip = 127;       ///< as in SoftDemapper
        float full_scale = 0.0F;  ///< as in SoftDemapper
    };

    /// Throws ArgumentError if a value is out of its range.
    BatchDemapper(const Device& device, const Config& config);
    ~BatchDemapper();
    BatchDemapper(BatchDemapper&&) noexcept;
    BatchDemapper& operator=(BatchDemapper&&) noexcept;

    /// As SoftDemapper::prepare, for one modulation.
    void prepare(Modulation modulation, float noise_variance, SoftBitFormat format);

    /// As SoftDemapper::forget_tables.
    void forget_tables();

    /// Demaps all allocations on the stream. All have soft bits in one format. The array is read before the
    /// call returns. Errors as in SoftDemapper, found before anything is started.
    void operator()(std::span<const Allocation> allocations, cudaStream_t stream,
                    DemapCounters* counters = nullptr) const;

    [[nodiscard]] const Device& device() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace phy::gpu

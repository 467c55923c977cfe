#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "phy/core/export.hpp"
#include "phy/core/owned.hpp"
#include "phy/pipeline/place.hpp"
#include "phy/pipeline/size_error.hpp"
#include "phy/pipeline/stage.hpp"

/// A stream of items (for a demapper: symbols) goes through in chunks: a source delivers them, a stage turns
/// them into other bytes, a sink takes those in order. Reading, copying to a device, the stage, copying back
/// and writing overlap; the bytes are the same for every chunk size, number of lanes, order and set of
/// devices.
namespace phy {

/// Where items come from: an array for each input port of the stage, in their order. Called by one thread at
/// a time, and for chunks in order. A call that waits for something cannot be interrupted: neither an error
/// elsewhere nor a request to stop ends the run before it returns.
class PHY_EXPORT Source {
public:
    /// For items(): until fill() ends the run.
    static constexpr std::uint64_t endless = UINT64_MAX;

    virtual ~Source() = default;
    [[nodiscard]] virtual std::uint64_t items() const = 0;

    /// Sets arrays to where the chunk's records lie, Port::bytes_of(chunk.items) bytes of each port, until
    /// its sink has had it, and returns true; on CUDA it should be pinned memory. False: fill() is called.
    [[nodiscard]] virtual bool view(const Chunk& /*chunk*/,
                                    std::span<std::span<const std::byte>> /*arrays*/) {
        return false;
    }

    /// Writes the chunk's records to the arrays, which have room for chunk.items, and returns the number of
    /// items: fewer than chunk.items are the last.
    virtual std::size_t fill(const Chunk& chunk, std::span<const std::span<std::byte>> arrays) = 0;
};

/// Where the stage's bytes go: an array for each of its output ports, in their order. Each function is called
/// by one thread at a time, and for chunks in order.
class PHY_EXPORT Sink {
public:
    virtual ~Sink() = default;

    /// Sets arrays to where the chunk's Port::bytes_of(chunk.items) bytes of each port are to lie, and
    /// returns true; on CUDA it should be pinned memory. False: in memory of the pipeline. Called before the
    /// chunk is worked on, maybe by another thread while take() has an earlier one.
    [[nodiscard]] virtual bool view(const Chunk& /*chunk*/, std::span<std::span<std::byte>> /*arrays*/) {
        return false;
    }

    /// The bytes stay where they are until the call returns.
    virtual void take(const Chunk& chunk, std::span<const std::span<const std::byte>> arrays) = 0;
};

/// In which order a device is given its work.
enum class IssueOrder : std::uint8_t {
    sequential,  ///< depth first: all of a chunk, then the next one
    parallel,    ///< breadth first: a step of the chunks in half of the lanes, then the next step
    serial,      ///< one thing at a time, nothing overlaps: to compare with
};

/// "sequential", "parallel", "serial". The parser throws ArgumentError that lists the names.
PHY_EXPORT std::string_view to_string(IssueOrder order);
PHY_EXPORT IssueOrder parse_issue_order(std::string_view name);

/// What happened when to a chunk.
struct PHY_EXPORT PipelineSpan {
    enum class Step : std::uint8_t { read, copy_in, work, copy_out, write };

    Step step;
    Chunk chunk;
    double begin;  ///< seconds since run() was called
    double end;
};

struct PHY_EXPORT PipelineReport {
    /// A device's steps are timed for some chunks only, unless Config::trace asks for all, and the time of
    /// the others is taken to be in proportion to their items: timing keeps copies from overlapping. The
    /// first chunk's time, which may hold the loading of code, counts where no later chunk is timed.
    struct Busy {
        std::string step;  ///< "read", "copy_in", the stage's name, "copy_out", "write"
        double seconds;    ///< over all chunks, without waiting; on CUDA over all devices
    };

    std::uint64_t items = 0;  ///< that the sink has had
    std::uint64_t chunks = 0;
    bool cancelled = false;
    double seconds = 0.0;    ///< that run() took
    std::vector<Busy> busy;  ///< in the order of the steps; without copies on a CPU

    std::string stage;                ///< its name
    std::vector<std::string> lanes;   ///< the name of each one's place
    std::vector<PipelineSpan> spans;  ///< with Config::trace; of a step in the order of the chunks
};

class PHY_EXPORT Pipeline {
public:
    struct Config {
        /// Items: all chunks but the last have as many. Rounded up to the stage's granularity. 0: as many as
        /// the place is fast with.
        std::size_t chunk = 0;

        std::size_t lanes = 0;  ///< chunks in flight for each place; 0: as many as make it fast

        /// More than this are not to come in a run: chunks get no memory for more.
        std::uint64_t items = Source::endless;

        IssueOrder order = IssueOrder::sequential;
        bool trace = false;  ///< keep PipelineReport::spans; on CUDA this costs some per cent of the speed
    };

    /// places: one Host, or CUDA devices, which then take chunks in turn. Makes the stage, which must outlive
    /// the pipeline, ready there, and allocates what device memory all chunks will need; pinned memory is
    /// allocated for the first chunks that need it. Throws ArgumentError for no places, for a Host beside
    /// others, for a stage whose ports or granularity are not as Stage says and for one that runs at present,
    /// PipelineSizeError for chunks and lanes that take more than half of this machine's memory, BackendError
    /// where a device does not run here, Error if a device has not enough memory, and what the stage throws.
    Pipeline(std::vector<Place> places, Stage& stage, const Config& config);
    Pipeline(std::vector<Place> places, Stage& stage);
    ~Pipeline();
    Pipeline(Pipeline&&) noexcept;
    Pipeline& operator=(Pipeline&&) noexcept;

    /// Sends all items from the source to the sink. The calling thread works too; two others call the source
    /// and the sink, unless both lend their memory (view()), there is one chunk or lane only, or the order is
    /// serial: then it calls them too. What any of them, the stage or the device throws stops the run and is
    /// thrown here, once nothing uses their memory any more. So does a request to stop, which is no error:
    /// the report says `cancelled`. A pipeline may run again after any of these, but not after an error by
    /// which CUDA gives up the device. Throws ArgumentError where a source or sink does not keep to sizes,
    /// and before anything is done where the stage works for another run or pipeline.
    PipelineReport run(Source& source, Sink& sink, std::stop_token stop = {});

    [[nodiscard]] std::size_t chunk() const;  ///< items at most
    [[nodiscard]] std::size_t lanes() const;  ///< of all places
    [[nodiscard]] const std::vector<Place>& places() const;

private:
    struct Impl;
    detail::Owned<Impl, "Pipeline"> impl_;
};

}  // namespace phy

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "phy/core/error.hpp"
#include "phy/core/export.hpp"
#include "phy/core/owned.hpp"
#include "phy/pipeline/place.hpp"
#include "phy/pipeline/stage.hpp"

/// A stream of items (for a demapper: symbols) goes through a pipeline in chunks. A source delivers them, a
/// stage processes them, a sink takes the results in order. Reading, copying to a device, the stage, copying
/// back and writing overlap. The output bytes do not depend on chunk size, number of buffer sets, order or
/// devices.
namespace phy {

/// The source of items: one array per input port of the stage, in the order of the ports. Called by one
/// thread at a time, with chunks in order. A call that waits cannot be interrupted: if an error or a request
/// to stop occurs elsewhere, the run ends after it returns.
class PHY_EXPORT Source {
public:
    /// Value of items() if the number is unknown: fill() ends the run.
    static constexpr std::uint64_t endless = UINT64_MAX;

    virtual ~Source() = default;
    [[nodiscard]] virtual std::uint64_t items() const = 0;

    /// Index of the first item in its stream: Chunk::first of the first chunk. A part of a stream that says
    /// where it begins gives the output of a run over the whole. A multiple of the stage's granularity.
    [[nodiscard]] virtual std::uint64_t first() const { return 0; }

    /// Lends the source's memory: sets arrays to the chunk's records, Port::bytes_of(chunk.items) bytes per
    /// port, and returns true. They must stay valid until the sink has taken the chunk. On CUDA they should
    /// be pinned memory. If it returns false, the pipeline calls fill().
    [[nodiscard]] virtual bool view(const Chunk& /*chunk*/,
                                    std::span<std::span<const std::byte>> /*arrays*/) {
        return false;
    }

    /// Writes the chunk's records to the arrays, which have room for chunk.items, and returns the number of
    /// items. Fewer than chunk.items end the stream.
    virtual std::size_t fill(const Chunk& chunk, std::span<const std::span<std::byte>> arrays) = 0;
};

/// The destination of the stage's output: one array per output port, in the order of the ports. Each function
/// is called by one thread at a time, with chunks in order.
class PHY_EXPORT Sink {
public:
    virtual ~Sink() = default;

    /// Lends the sink's memory: sets arrays to room for the chunk's output, Port::bytes_of(chunk.items) bytes
    /// per port, and returns true. On CUDA it should be pinned memory. If it returns false, the pipeline uses
    /// memory of its own. Called before the stage works on the chunk; another thread may be in take() with an
    /// earlier chunk.
    [[nodiscard]] virtual bool view(const Chunk& /*chunk*/, std::span<std::span<std::byte>> /*arrays*/) {
        return false;
    }

    /// Takes the output of a chunk. The arrays are valid until the call returns.
    virtual void take(const Chunk& chunk, std::span<const std::span<const std::byte>> arrays) = 0;
};

/// The order in which a device gets its work.
enum class IssueOrder : std::uint8_t {
    sequential,  ///< depth first: all steps of a chunk, then the next chunk
    parallel,    ///< breadth first: one step for the chunks in half of the buffer sets, then the next step
    serial,      ///< one step at a time without overlap, for comparison
};

/// "sequential", "parallel", "serial". The parser throws ArgumentError, which lists the names.
PHY_EXPORT std::string_view to_string(IssueOrder order);
PHY_EXPORT IssueOrder parse_issue_order(std::string_view name);

/// The time of one step of a chunk.
struct PHY_EXPORT PipelineSpan {
    enum class Step : std::uint8_t { read, copy_in, work, copy_out, write };

    Step step;
    Chunk chunk;
    double begin;  ///< in seconds since the call of run()
    double end;
};

struct PHY_EXPORT PipelineReport {
    /// Time of one step. On a device only some chunks are timed, because timing prevents copies from
    /// overlapping; the time of the others is estimated in proportion to their items. Config::trace times all
    /// chunks. The time of the first chunk, which may include the loading of code, counts only if no later
    /// chunk is timed.
    struct Busy {
        std::string step;  ///< "read", "copy_in", the stage's name, "copy_out", "write"
        double seconds;    ///< sum over all chunks and devices, without waiting
    };

    std::uint64_t items = 0;  ///< that the sink has taken
    std::uint64_t chunks = 0;
    bool cancelled = false;
    double seconds = 0.0;    ///< duration of run()
    std::vector<Busy> busy;  ///< in the order of the steps; no copies on a CPU

    std::string stage;                     ///< name of the stage
    std::vector<std::string> buffer_sets;  ///< name of each buffer set's place
    std::vector<PipelineSpan> spans;       ///< with Config::trace; per step in the order of the chunks
};

/// The spans of a report (Config::trace) as JSON in the Trace Event format for Perfetto and chrome://tracing.
/// One row for the source, one per buffer set, one for the sink. Each span has the name of its step, and its
/// chunk's index, first item and number of items.
PHY_EXPORT std::string trace_events(const PipelineReport& report);

/// Chunks and buffer sets that are not possible: too many buffer sets, or more than half of this machine's
/// memory.
class PHY_EXPORT PipelineSizeError : public ArgumentError {
public:
    /// What must be smaller. If either smaller chunks or fewer buffer sets suffice, the one that
    /// Pipeline::Config gives; chunk_and_buffer_sets if it gives both or neither.
    enum class Culprit : std::uint8_t {
        chunk,
        buffer_sets,
        chunk_and_buffer_sets,
        stage,  ///< even both do not suffice: one block of the stage and its scratch memory are too large
    };

    PipelineSizeError(const std::string& message, Culprit culprit)
        : ArgumentError(message), culprit_(culprit) {}

    [[nodiscard]] Culprit culprit() const { return culprit_; }

private:
    Culprit culprit_;
};

class PHY_EXPORT Pipeline {
public:
    struct Config {
        /// Items per chunk; the last chunk may be shorter. Rounded up to the stage's granularity. 0: a fast
        /// size.
        std::size_t chunk = 0;

        std::size_t buffer_sets = 0;  ///< chunks in flight per place; 0: a fast number

        /// Max number of items of a run. Chunks get no memory for more; a chunk that is given and would not
        /// fit into memory is refused all the same.
        std::uint64_t items = Source::endless;

        IssueOrder order = IssueOrder::sequential;
        bool trace = false;  ///< keep PipelineReport::spans; on CUDA it costs some per cent of the speed
    };

    /// places: one Host, or CUDA devices, which take chunks in turn. Prepares the stage there; the stage must
    /// outlive the pipeline. Allocates the device memory of all chunks; pinned memory is allocated with the
    /// first chunks that need it.
    ///
    /// Throws ArgumentError without places, for a Host together with other places, for a stage whose ports or
    /// granularity violate the rules of Stage, and for a stage that is in use. Throws PipelineSizeError if
    /// chunks and buffer sets need more than half of this machine's memory, BackendError if a device does not
    /// run on this machine, Error if a device has too little memory, and whatever the stage throws.
    Pipeline(std::vector<Place> places, Stage& stage, const Config& config);
    Pipeline(std::vector<Place> places, Stage& stage);

    /// Sends all items from the source to the sink. The calling thread works too. Two more threads call
    /// source and sink, unless both lend their memory (view()), only one chunk or buffer set exists, or the
    /// order is serial; then the calling thread does that as well.
    ///
    /// An exception from source, sink, stage or device stops the run. run() throws it once no work uses their
    /// memory. A request to stop ends the run without an error: the report has `cancelled`. The pipeline can
    /// run again afterwards, except after an error by which CUDA gives up the device. Throws ArgumentError if
    /// source or sink return wrong sizes and, before it does anything, if the source's first item is not a
    /// multiple of the stage's granularity, or if the stage is in use by another run or pipeline.
    PipelineReport run(Source& source, Sink& sink, std::stop_token stop = {});

    [[nodiscard]] std::size_t chunk() const;        ///< max items per chunk
    [[nodiscard]] std::size_t buffer_sets() const;  ///< in all places
    [[nodiscard]] const std::vector<Place>& places() const;

private:
    struct Impl;
    detail::Owned<Impl, "Pipeline"> impl_;
};

}  // namespace phy

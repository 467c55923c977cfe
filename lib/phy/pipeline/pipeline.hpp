#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "phy/core/backend.hpp"

struct CUstream_st;
using cudaStream_t = CUstream_st*;  // NOLINT(readability-identifier-naming)

/// A stream of items (for a demapper: symbols) goes through in chunks: a source delivers them, a stage turns
/// them into other bytes, a sink takes those in order. Reading, copying to a device, the stage, copying back
/// and writing overlap; the bytes are the same for every chunk size, number of lanes, order and set of
/// devices.
namespace phy {

/// Neighbouring items that travel together.
struct Chunk {
    std::uint64_t index = 0;  ///< 0, 1, 2 ...
    std::uint64_t first = 0;  ///< the number of its first item
    std::size_t items = 0;

    /// Below Pipeline::lanes(). From its source to its sink a chunk has a lane for itself, so that both may
    /// keep things of their own by lane.
    std::size_t lane = 0;
};

/// Where items come from. Called by one thread at a time, and for chunks in order. A call that waits for
/// something cannot be interrupted: neither an error elsewhere nor a request to stop ends the run before it
/// returns.
class Source {
public:
    /// For items(): until fill() ends the run.
    static constexpr std::uint64_t endless = UINT64_MAX;

    virtual ~Source() = default;
    [[nodiscard]] virtual std::uint64_t items() const = 0;

    /// Where the chunk's items lie, Stage::input_bytes(chunk.items) bytes laid out and aligned as the stage
    /// takes them, until its sink has had it; on CUDA it should be pinned memory. Nothing: fill() is called.
    [[nodiscard]] virtual std::span<const std::byte> view(const Chunk& /*chunk*/) { return {}; }

    /// Writes the chunk's items to input, as the stage takes them, and returns their number: fewer than
    /// chunk.items, laid out as that many, are the last.
    virtual std::size_t fill(const Chunk& chunk, std::span<std::byte> input) = 0;
};

/// Where the stage's bytes go. Each function is called by one thread at a time, and for chunks in order.
class Sink {
public:
    virtual ~Sink() = default;

    /// Where the chunk's Stage::output_bytes(chunk.items) bytes are to lie; on CUDA it should be pinned
    /// memory. Nothing: in memory of the pipeline. Called before the chunk is worked on, maybe by another
    /// thread while take() has an earlier one.
    [[nodiscard]] virtual std::span<std::byte> view(const Chunk& /*chunk*/) { return {}; }

    /// The bytes stay where they are until the call returns.
    virtual void take(const Chunk& chunk, std::span<const std::byte> output) = 0;
};

/// What happens to a chunk between the copies.
class Stage {
public:
    /// Where a chunk is worked on.
    struct Place {
        Backend backend;
        cudaStream_t stream;  ///< on CUDA
    };

    virtual ~Stage() = default;

    /// A verb, for reports and traces, such as "demap".
    [[nodiscard]] virtual std::string_view name() const = 0;

    [[nodiscard]] virtual std::size_t input_bytes(std::size_t items) const = 0;
    [[nodiscard]] virtual std::size_t output_bytes(std::size_t items) const = 0;

    /// Called for every backend that a pipeline is to use, before anything is run there: again for the next
    /// pipeline. A CUDA device is the thread's current one, here and in run().
    virtual void prepare(const Backend& backend) = 0;

    /// On a CPU: works on host memory, and is done when it returns. On CUDA: starts work on the stream that
    /// turns input into output, both in device memory, and returns. Spans are as long as input_bytes and
    /// output_bytes say. Called by one thread at a time.
    virtual void run(const Chunk& chunk, std::span<const std::byte> input, std::span<std::byte> output,
                     const Place& place) = 0;
};

/// In which order a device is given its work.
enum class IssueOrder : std::uint8_t {
    sequential,  ///< depth first: all of a chunk, then the next one
    parallel,    ///< breadth first: a step of the chunks in half of the lanes, then the next step
    serial,      ///< one thing at a time, nothing overlaps: to compare with
};

/// "sequential", "parallel", "serial". The parser throws ArgumentError that lists the names.
std::string_view to_string(IssueOrder order);
IssueOrder parse_issue_order(std::string_view name);

/// What happened when to a chunk.
struct PipelineSpan {
    enum class Step : std::uint8_t { read, copy_in, work, copy_out, write };

    Step step;
    Chunk chunk;
    double begin;  ///< seconds since run() was called
    double end;
};

struct PipelineReport {
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
    std::vector<std::string> lanes;   ///< the backend of each
    std::vector<PipelineSpan> spans;  ///< with Config::trace; of a step in the order of the chunks
};

class Pipeline {
public:
    struct Config {
        /// One of a CPU, or CUDA devices, which then take chunks in turn. Empty: Backend::best().
        std::vector<Backend> backends = {};

        /// Items: all chunks but the last have as many. 0: as many as the backend is fast with.
        std::size_t chunk = 0;

        std::size_t lanes = 0;  ///< chunks in flight for each backend; 0: as many as make it fast

        /// More than this are not to come in a run: chunks get no memory for more.
        std::uint64_t items = Source::endless;

        IssueOrder order = IssueOrder::sequential;
        bool trace = false;  ///< keep PipelineReport::spans; on CUDA this costs some per cent of the speed
    };

    /// Prepares the stage, which must outlive the pipeline, and allocates what device memory all chunks will
    /// need; pinned memory is allocated for the first chunks that need it. Throws ArgumentError for CPU
    /// backends beside others and for chunks and lanes that take more than half of this machine's memory,
    /// BackendError where a backend does not run here, Error if a device has not enough memory, and what the
    /// stage throws.
    Pipeline(const Config& config, Stage& stage);
    ~Pipeline();
    Pipeline(Pipeline&&) noexcept;
    Pipeline& operator=(Pipeline&&) noexcept;

    /// Sends all items from the source to the sink. The calling thread works too; two others call the source
    /// and the sink, unless both lend their memory (view()), there is one chunk or lane only, or the order is
    /// serial: then it calls them too. What any of them or the device throws stops the run and is thrown
    /// here, once nothing uses their memory any more. So does a request to stop, which is no error: the
    /// report says `cancelled`. A pipeline may run again after any of these, but not after an error by which
    /// CUDA gives up the device; one run at a time. Throws ArgumentError where a source or sink does not keep
    /// to sizes.
    PipelineReport run(Source& source, Sink& sink, std::stop_token stop = {});

    [[nodiscard]] std::size_t chunk() const;  ///< items at most
    [[nodiscard]] std::size_t lanes() const;  ///< of all backends
    [[nodiscard]] const std::vector<Backend>& backends() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace phy

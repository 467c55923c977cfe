#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "phy/core/demapper_config.hpp"
#include "phy/core/export.hpp"
#include "phy/core/modulation.hpp"
#include "phy/core/owned.hpp"
#include "phy/core/view.hpp"
#include "phy/machine/atomic_file.hpp"

/// Reads IQ captures from HDF5 and other formats, and writes soft bits and captures. docs/files.md describes
/// the formats.
///
/// Errors are FileError: one line that names the file (and dataset) and what was expected. Readers and
/// writers are not thread-safe, but different ones may be used from different threads. If the HDF5 library is
/// not built thread-safe, as on Debian, they wait for each other; a program must then not call that library
/// at the same time. Threads that use these classes have HDF5's error printing turned off.
namespace phy {

/// The kind of a capture's complex values.
enum class CaptureKind : std::uint8_t {
    symbols,  ///< equalised constellation symbols, of any shape
    grid,     ///< received resource elements after the FFT: (antennas, OFDM symbols, subcarriers)
    samples,  ///< baseband samples in time: (antennas, samples)
};

inline constexpr std::array all_capture_kinds = {CaptureKind::symbols, CaptureKind::grid,
                                                 CaptureKind::samples};

/// "symbols", "grid", "samples". The parser throws an ArgumentError that lists the names.
PHY_EXPORT std::string_view to_string(CaptureKind kind);
PHY_EXPORT CaptureKind parse_capture_kind(std::string_view name);

/// The default dataset of a kind: "/iq", "/grid", "/samples".
PHY_EXPORT std::string_view default_dataset(CaptureKind kind);

/// Size of the transmitted codewords of a capture.
struct PHY_EXPORT CodewordShape {
    std::uint64_t slots = 0;
    std::uint64_t bits = 0;  ///< per slot

    friend bool operator==(const CodewordShape&, const CodewordShape&) = default;
};

/// The description of a capture. Attributes are read from the dataset, else from the root group.
///
/// Here a symbol is a complex value of the dataset, whatever its kind. Only captures of symbols have
/// modulation, noise and bits. Only those of a grid or samples have codewords.
struct PHY_EXPORT CaptureDescription {
    std::filesystem::path file;
    std::vector<std::filesystem::path> files;  ///< all files that are read, in alphabetical order
    std::string dataset;                       ///< path inside the file, such as "/iq"
    CaptureKind kind = CaptureKind::symbols;
    std::uint64_t symbols = 0;                 ///< total over all dimensions, in row-major order
    std::vector<std::uint64_t> shape;          ///< dimensions of the symbols, without the one of I and Q
    std::uint64_t antennas = 1;                ///< antenna a begins at symbol a * symbols / antennas
    std::vector<std::uint64_t> lengths;        ///< symbols per antenna of the file and of each more_antennas,
                                               ///< without skipped ones
    SampleFormat format = SampleFormat::cf32;  ///< format of read(); see CaptureReader
    bool is_integer = false;                   ///< stored as integers, which are divided by full_scale
    std::string storage;  ///< text for people: "compound of float16, chunked, gzip, big-endian"

    std::optional<Modulation> modulation;
    std::optional<float> noise_variance;     ///< N0; an attribute, or a dataset of one value
    std::optional<double> full_scale;        ///< attribute or option; CaptureReader says who divides
    std::optional<double> sample_rate;       ///< hertz
    std::optional<double> center_frequency;  ///< hertz
    bool has_noise_per_symbol = false;       ///< dataset noise_variance beside the IQ, of more than one value
    std::string noise_dataset;               ///< its path
    bool has_bits = false;                   ///< dataset bits beside the IQ dataset, N x Qm
    std::size_t bits_per_symbol = 0;         ///< Qm of the dataset bits; 0 without
    std::optional<std::string> link;         ///< attribute link, unparsed; of symbols only if it is text
    std::optional<CodewordShape> codewords;  ///< dataset codeword beside the IQ dataset
};

struct PHY_EXPORT CaptureOptions {
    /// A path, or the paths of I and Q with a comma between: real numbers of one type and shape. Empty:
    /// default_dataset() of `kind`; without a kind "/iq", else the existing one of "/grid" and "/samples";
    /// else the only dataset that looks like IQ.
    std::string dataset = {};
    bool interleaved = false;  ///< the dataset is real: I, Q, I, Q ... in row-major order

    /// None: by the name of the dataset: "grid", "samples", and symbols for any other name.
    std::optional<CaptureKind> kind = {};

    /// Allows elements of an HDF5 dataset in other files of the same folder (external storage, virtual
    /// datasets).
    bool external_files = false;

    /// The file holds nothing but samples of this type, as SigMF's core:datatype names it: "ci16", "cf32_be"
    /// and so on; little-endian unless the name says otherwise. Empty: the file's format is detected.
    std::string raw = {};

    /// Files of further antennas of the same recording, of samples or grids: they are read with the same
    /// options. Samples end with the shortest file, see CaptureDescription::lengths. Attributes, the link and
    /// codewords are those of the first file.
    std::vector<std::filesystem::path> more_antennas = {};

    /// Samples per antenna to leave out at the beginning of the file and of each more_antennas, for samples
    /// only; empty: none.
    std::vector<std::uint64_t> skip = {};

    /// Dimensions of a raw file or a SigMF recording of one channel; empty: one dimension.
    std::vector<std::uint64_t> shape = {};

    // Each overrides what the file has under its name.
    std::optional<double> full_scale = {};
    std::optional<Modulation> modulation = {};
    std::optional<float> noise_variance = {};
    std::optional<std::string> link = {};
    bool ignores_noise_variance = false;  ///< ignores every N0 of the file
};

/// Throws an ArgumentError that lists the types unless CaptureOptions::raw takes this one.
PHY_EXPORT void require_raw_type(std::string_view name);

/// Reads IQ from an HDF5 file, a SigMF recording, a .npy array or a raw file.
///
/// HDF5: one dataset that is a compound of two members of one type (first I, then Q), or real with a last
/// dimension of 2, or with CaptureOptions::interleaved real and flat; or two datasets, I and Q. Element types
/// are float16, float32, float64, int8, int16, int32 in either byte order; contiguous, chunked, compressed;
/// user blocks. Symbols may have any rank. A grid has 2 or 3 dimensions and samples 1 or 2; without the first
/// of these there is one antenna.
///
/// Other formats act as one dataset with the default name of the kind; a SigMF recording with gaps acts as
/// one dataset per capture segment. Real samples get a Q of 0. Half of their range is subtracted from
/// unsigned integers.
///
/// read() keeps the file's format if phy has it (float16: cf16, float32: cf32, int16: ci16, int8: ci8). It
/// rounds float64 to cf32. It divides int32 by full_scale (default 2^31) and rounds to cf32. It does not
/// scale ci16 and ci8: pass description().full_scale to the demapper, which ignores it for floating-point
/// formats.
class PHY_EXPORT CaptureReader {
public:
    /// Opens the file and checks everything that it can without reading samples.
    ///
    /// Throws FileError for: a missing file; an unsupported format (known ones are named); truncated or
    /// damaged files, and elements that were never written or lie in other files (see external_files); a
    /// missing dataset; one that is not IQ (text, real, wrong rank; the error lists candidates); no samples;
    /// several datasets that look like IQ and none chosen; a grid or samples of another rank; N0 of a wrong
    /// shape, bits of a wrong length; codewords that are not uint8 with two dimensions; an attribute of a
    /// wrong type; a file of further antennas that differs in kind, format, full scale, rate, centre
    /// frequency or dimensions of a grid; an unknown modulation; a full_scale outside 2^-126 to 2^126, the
    /// normal binary32 numbers with a normal reciprocal.
    ///
    /// Throws ArgumentError for: a skip that has not one number for each file, or for other kinds than
    /// samples; an option full_scale outside that range or for floating-point numbers; an
    /// unknown option raw; an out-of-range kind or modulation; a shape for a format that has its own.
    explicit CaptureReader(const std::filesystem::path& file, const CaptureOptions& options = {});

    [[nodiscard]] const CaptureDescription& description() const;

    /// Reads symbols.size() symbols from index first on. Throws ArgumentError unless symbols.format() is
    /// description().format and first + symbols.size() <= description().symbols.
    void read(std::uint64_t first, SymbolSpan symbols);

    /// Reads N0 of noise.size() symbols from index first on. A smaller dataset (a value per column, row or
    /// slot) is repeated by NumPy's rules of broadcasting. Throws ArgumentError without has_noise_per_symbol.
    void read_noise(std::uint64_t first, std::span<float> noise);

    /// Reads the transmitted bits, one per byte, of bits.size() / Qm symbols from index first on. Throws
    /// ArgumentError without has_bits, and FileError for values other than 0 and 1.
    void read_bits(std::uint64_t first, std::span<std::uint8_t> bits);

    /// Reads the codeword of a slot, one bit per byte. Throws ArgumentError unless bits.size() is
    /// codewords->bits and slot < codewords->slots, and FileError for values other than 0 and 1.
    void read_codeword(std::uint64_t slot, std::span<std::uint8_t> bits);

private:
    struct Impl;
    detail::Owned<Impl, "CaptureReader"> impl_;
};

/// What a file of soft bits is. Its name says it.
enum class OutputFormat {
    hdf5,
    npy,  ///< an array for numpy.load(): the soft bits with their dimensions, no attributes
    raw,  ///< the same numbers without a header, in the byte order of the machine
};

/// npy for names that end in .npy, raw for names that end in .raw, in upper or lower case; hdf5 for others.
[[nodiscard]] PHY_EXPORT OutputFormat output_format(const std::filesystem::path& file);

/// The rows of a file that has a part of an output's rows, such as those of a range of a capture.
struct PHY_EXPORT PartOfRows {
    std::uint64_t first = 0;  ///< of all rows
    std::uint64_t all = 0;    ///< number of all rows

    /// How the rows were made, as far as no other attribute says it: join_parts() compares the text.
    std::string settings = {};
};

/// Writes soft bits to a file of output_format() that appears under its name only when complete; see
/// AtomicFile. Destroying the writer before commit() leaves no file.
class PHY_EXPORT SoftBitWriter {
public:
    struct Config {
        std::uint64_t symbols = 0;
        SoftBitFormat format = SoftBitFormat::int8;
        Modulation modulation = Modulation::qpsk;
        LlrConfig llr_config = {};                             ///< that made the soft bits
        std::optional<float> noise_variance = {};              ///< written if given: the scalar N0
        std::optional<std::uint32_t> descrambled_c_init = {};  ///< written if given
        std::string source = {};                               ///< file and dataset of the capture

        /// Dimensions of the symbols in the source, whose product is `symbols`; written if given.
        std::optional<std::vector<std::uint64_t>> source_shape = {};
        bool keep_shape = false;         ///< the dataset has these dimensions, then Qm
        std::string noise_dataset = {};  ///< file and dataset of the N0 per symbol; written unless empty
        bool hard = false;               ///< write only decisions: 1 for soft bits below 0

        std::optional<double> sample_rate = {};       ///< hertz, of the capture; written if given
        std::optional<double> center_frequency = {};  ///< hertz, of the capture; written if given
        bool overwrite = false;
        bool durable = false;  ///< see AtomicFile

        /// The file is a part of the source's symbols, for join_parts(): attributes of the root say which.
        /// source_shape is then that of all. Not with keep_shape.
        std::optional<PartOfRows> part = {};
    };

    /// HDF5: creates the dataset /llr, symbols x Qm, contiguous, with the attributes modulation, llr_scale,
    /// llr_clip, llr_sign ("positive_is_zero"), noise_variance or noise_variance_dataset, descrambled_c_init,
    /// method, source, source_shape, sample_rate, center_frequency, phy_version. With `hard` it creates /bits
    /// instead, uint8, without attributes of soft bits. The same content gives the same bytes. Throws
    /// FileError if the file exists and overwrite is false, if it cannot be written, or if the disk is too
    /// full; ArgumentError if symbols is 0, if an enum value is out of range, if the product of source_shape
    /// is not symbols, for a part that has other rows than all, and with keep_shape for a part or if
    /// source_shape is missing or has more than 31 dimensions.
    SoftBitWriter(const std::filesystem::path& file, const Config& config);

    /// Appends whole symbols, as the bytes of their soft bits in Config::format, also with `hard`. Throws
    /// ArgumentError unless llr.size_bytes() is a multiple of Qm * size_of(format) and at most what is left;
    /// FileError if the disk is full.
    void append(std::span<const std::byte> llr);

    /// Closes the file and renames it. Throws ArgumentError unless all symbols were appended; FileError if
    /// the file cannot be completed, or if a file of that name has appeared meanwhile and overwrite is false.
    void commit();

private:
    struct Impl;
    detail::Owned<Impl, "SoftBitWriter"> impl_;
};

/// The layout of an IQ dataset in a written capture.
enum class CaptureLayout {
    compound,     ///< compound {r, i}, contiguous
    trailing,     ///< real, last dimension 2, contiguous
    interleaved,  ///< real, flat, contiguous; read it with CaptureOptions::interleaved
    chunked,      ///< compound, chunked
    gzip,         ///< compound, chunked, shuffled and deflated
};

/// "compound", "trailing", "interleaved", "chunked", "gzip". The parser throws an ArgumentError that lists
/// the names.
PHY_EXPORT std::string_view to_string(CaptureLayout layout);
PHY_EXPORT CaptureLayout parse_capture_layout(std::string_view name);

/// Writes a capture for CaptureReader: default_dataset() of its kind and, on request, /noise_variance and
/// /bits for symbols or /codeword and /transport_block for a grid or samples. The file appears under its name
/// only when complete. Errors are those of SoftBitWriter.
class PHY_EXPORT CaptureWriter {
public:
    struct Config {
        std::uint64_t symbols = 0;  ///< complex values of the dataset, whatever its kind
        SampleFormat format = SampleFormat::cf32;
        CaptureLayout layout = CaptureLayout::compound;
        Modulation modulation = Modulation::qpsk;  ///< written for symbols
        std::optional<float> noise_variance = {};
        std::optional<double> full_scale = {};
        bool noise_per_symbol = false;  ///< create /noise_variance, float32, one per symbol
        bool bits = false;              ///< create /bits, uint8, symbols x Qm, chunked and deflated
        bool overwrite = false;
        bool durable = false;  ///< see AtomicFile

        CaptureKind kind = CaptureKind::symbols;
        /// Dimensions, whose product is `symbols`; empty: one dimension. A grid has 2 or 3, samples 1 or 2.
        std::vector<std::uint64_t> shape = {};
        std::string link = {};                        ///< JSON, written as an attribute unless empty
        std::optional<double> sample_rate = {};       ///< hertz; written if given
        std::optional<double> center_frequency = {};  ///< hertz; written if given
        std::optional<CodewordShape> codewords = {};  ///< create /codeword, uint8, chunked and deflated
        std::uint64_t transport_block_bytes = 0;      ///< create /transport_block beside it, uint8; 0: do not
    };

    /// Throws as SoftBitWriter does, and ArgumentError for a name that ends as those of other formats do
    /// (.npy, .raw, .sigmf-data, .sigmf-meta), for a shape of another size or rank, for codewords of symbols,
    /// for transport blocks without codewords, and for noise or bits per symbol of a grid or samples.
    CaptureWriter(const std::filesystem::path& file, const Config& config);

    /// Each appends to its dataset; append_codewords() takes whole codewords, append_transport_blocks() whole
    /// blocks, eight bits per byte. Throw ArgumentError if the config has no such dataset.
    void append(SymbolView symbols);
    void append_noise(std::span<const float> noise);
    void append_bits(std::span<const std::uint8_t> bits);
    void append_codewords(std::span<const std::uint8_t> bits);
    void append_transport_blocks(std::span<const std::uint8_t> bytes);

    /// Writes symbols from index first on, in row-major order, as for several antennas that come slot by
    /// slot: antenna a begins at a * symbols / antennas. Each symbol must be written once, by write() or
    /// append(). append() continues where the previous append() ended.
    void write(std::uint64_t first, SymbolView symbols);

    /// Closes the file and renames it. Throws ArgumentError unless every dataset is complete.
    void commit();

private:
    struct Impl;
    detail::Owned<Impl, "CaptureWriter"> impl_;
};

}  // namespace phy

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

/// IQ captures in, from HDF5 and other formats, soft bits out. The formats are described in docs/files.md.
///
/// Errors are FileError, one line that names the file (and dataset) and what was expected. Readers and
/// writers are not thread-safe, but different ones may be used from different threads: where the HDF5 library
/// is not built thread-safe, as Debian's is, they wait for each other. A program that calls such a library
/// itself must not do so meanwhile. What HDF5 prints about errors is turned off in the threads that come
/// here.
namespace phy {

/// What the complex values of a capture are.
enum class CaptureKind : std::uint8_t {
    symbols,  ///< equalised constellation symbols, of any shape
    grid,     ///< received resource elements after the FFT: (antennas, OFDM symbols, subcarriers)
    samples,  ///< baseband samples in time: (antennas, samples)
};

inline constexpr std::array all_capture_kinds = {CaptureKind::symbols, CaptureKind::grid,
                                                 CaptureKind::samples};

/// "symbols", "grid", "samples". The parser throws ArgumentError that lists the names.
PHY_EXPORT std::string_view to_string(CaptureKind kind);
PHY_EXPORT CaptureKind parse_capture_kind(std::string_view name);

/// Where a capture of this kind lies in its file unless someone says otherwise: "/iq", "/grid", "/samples".
PHY_EXPORT std::string_view default_dataset(CaptureKind kind);

/// What was sent in the slots of a capture.
struct PHY_EXPORT CodewordShape {
    std::uint64_t slots = 0;
    std::uint64_t bits = 0;  ///< of one slot's codeword

    friend bool operator==(const CodewordShape&, const CodewordShape&) = default;
};

/// What a capture says about itself. Attributes are looked for on the dataset, then on the root group.
///
/// A symbol is a complex value of the dataset, whatever its kind. What is said below of modulation, noise and
/// bits is found for symbols only, what is said of codewords for a grid and samples only.
struct PHY_EXPORT CaptureDescription {
    std::filesystem::path file;
    std::vector<std::filesystem::path> files;  ///< all that are read, in alphabetical order
    std::string dataset;                       ///< path inside the file, such as "/iq"
    CaptureKind kind = CaptureKind::symbols;
    std::uint64_t symbols = 0;                 ///< total over all dimensions, in row-major order
    std::vector<std::uint64_t> shape;          ///< dimensions of the symbols, without that of I and Q
    std::uint64_t antennas = 1;                ///< antenna a begins at symbol a * symbols / antennas
    SampleFormat format = SampleFormat::cf32;  ///< what read() delivers; see CaptureReader
    bool is_integer = false;                   ///< it holds integers, which are divided by full_scale
    std::string storage;  ///< for people: "compound of float16, chunked, gzip, big-endian"

    std::optional<Modulation> modulation;
    std::optional<float> noise_variance;     ///< attribute, or dataset of one value
    std::optional<double> full_scale;        ///< attribute or option; see CaptureReader for who divides
    std::optional<double> sample_rate;       ///< hertz
    std::optional<double> center_frequency;  ///< hertz
    bool has_noise_per_symbol = false;       ///< dataset noise_variance beside it, of more than one value
    std::string noise_dataset;               ///< its path
    bool has_bits = false;                   ///< dataset bits beside the IQ dataset, N x Qm
    std::size_t bits_per_symbol = 0;         ///< Qm of the dataset bits, 0 without
    std::optional<std::string> link;         ///< attribute link, as it stands there; of symbols if it is text
    std::optional<CodewordShape> codewords;  ///< dataset codeword beside the IQ dataset
};

struct PHY_EXPORT CaptureOptions {
    /// A path, or those of I and of Q with a comma between: real numbers of one type and shape.
    /// Empty: default_dataset() of `kind`; where there is no kind, "/iq", else that of "/grid" and "/samples"
    /// which is there; else the only dataset that looks like IQ.
    std::string dataset = {};
    bool interleaved = false;  ///< the dataset is real and holds I, Q, I, Q, ... in its flattened order

    /// None: as the dataset's name says, which is "grid" or "samples"; of any other name, symbols.
    std::optional<CaptureKind> kind = {};

    /// The elements of an HDF5 dataset may lie in other files, in the folder of the first (external storage,
    /// virtual datasets).
    bool external_files = false;

    /// The file holds samples alone, of this type: "ci16", "cf32_be" and so on, as SigMF's core:datatype
    /// names them; little-endian unless the name says otherwise. Empty: the file says what it is.
    std::string raw = {};

    /// Dimensions of a raw file or a SigMF recording of one channel; empty: one dimension.
    std::vector<std::uint64_t> shape = {};

    // Each overrides what the file has of its name, which is then not looked at.
    std::optional<double> full_scale = {};
    std::optional<Modulation> modulation = {};
    std::optional<float> noise_variance = {};
    std::optional<std::string> link = {};
    bool ignores_noise_variance = false;  ///< there is to be none, whatever the file has
};

/// Throws ArgumentError that lists the types unless this is one that CaptureOptions::raw takes.
PHY_EXPORT void require_raw_type(std::string_view name);

/// Reads IQ from an HDF5 file, a SigMF recording, a .npy array or a raw file.
///
/// HDF5: one dataset, a compound of two members of one type (first I, second Q), a real one whose last
/// dimension is 2, or with CaptureOptions::interleaved a flat one; or I and Q of two datasets. Element types
/// float16, float32, float64, int8, int16, int32, either byte order; contiguous, chunked, compressed; user
/// blocks. Symbols may have any rank, a grid 2 or 3 dimensions, samples 1 or 2: without the first there is
/// one antenna.
///
/// Others are read as one dataset of the kind's default name, a SigMF recording with gaps as one for each of
/// its captures. Real samples have a Q of 0; integers without sign lose half of their range.
///
/// Delivers the file's own format where the demapper has it (float16: cf16, float32: cf32, int16: ci16, int8:
/// ci8). float64 is rounded to cf32; int32 is divided by full_scale (default 2^31) and rounded to cf32.
/// Integers in ci16 and ci8 are delivered as they are: description().full_scale goes to the demapper, which
/// leaves the samples of other formats alone.
class PHY_EXPORT CaptureReader {
public:
    /// Opens the file and checks everything that can be checked without reading samples. Throws FileError: no
    /// such file; of no format that is read (others are recognised and named); truncated, damaged, or with
    /// elements that were never written or lie in other files (see external_files); no such dataset; not IQ
    /// (text, real, wrong rank), which lists the candidates; no samples; several datasets that look like IQ
    /// and none chosen; a grid or samples of another rank; N0 of a shape that does not fit, bits of another
    /// length; codewords that are not uint8 of two dimensions; an attribute of the wrong type; unknown
    /// modulation; a full_scale that is not from 2^-126 to 2^126, the positive binary32 numbers that are
    /// normal and have a normal reciprocal. Such an option full_scale, any for floating point numbers, an
    /// unknown option raw, a kind or modulation that was cast from a number which names none, and a shape
    /// where none can be given are ArgumentErrors.
    explicit CaptureReader(const std::filesystem::path& file, const CaptureOptions& options = {});
    ~CaptureReader();
    CaptureReader(CaptureReader&&) noexcept;
    CaptureReader& operator=(CaptureReader&&) noexcept;

    [[nodiscard]] const CaptureDescription& description() const;

    /// Reads symbols.size() symbols from index first on. symbols.format() must be description().format and
    /// first + symbols.size() <= description().symbols (ArgumentError).
    void read(std::uint64_t first, SymbolSpan symbols);

    /// Reads N0 of noise.size() symbols from index first on; needs has_noise_per_symbol (ArgumentError). A
    /// dataset of fewer values is repeated as NumPy does: of one a column, a row, a slot.
    void read_noise(std::uint64_t first, std::span<float> noise);

    /// Reads the transmitted bits, one a byte, of bits.size() / Qm symbols from index first on; needs
    /// has_bits (ArgumentError). A value other than 0 and 1 is a FileError.
    void read_bits(std::uint64_t first, std::span<std::uint8_t> bits);

    /// Reads the codeword of a slot, one bit a byte; bits.size() must be codewords->bits, and slot below
    /// codewords->slots (ArgumentError). A value other than 0 and 1 is a FileError.
    void read_codeword(std::uint64_t slot, std::span<std::uint8_t> bits);

private:
    struct Impl;
    detail::Owned<Impl, "CaptureReader"> impl_;
};

/// An HDF5 file that appears under its name only when complete, as AtomicFile describes; destroying it before
/// commit() leaves nothing.
class PHY_EXPORT SoftBitWriter {
public:
    struct Config {
        std::uint64_t symbols = 0;
        SoftBitFormat format = SoftBitFormat::int8;
        DemapperConfig demapper = {};              ///< by which they were made; scale and clip are int8's
        std::optional<float> noise_variance = {};  ///< written for scalar noise
        std::optional<std::uint32_t> descrambled_c_init = {};  ///< written where they were descrambled
        std::string source = {};                               ///< file and dataset the soft bits come from

        /// Dimensions of the symbols there, whose product is `symbols`; written if given.
        std::optional<std::vector<std::uint64_t>> source_shape = {};
        bool keep_shape = false;         ///< the dataset has these dimensions, and then Qm
        std::string noise_dataset = {};  ///< file and dataset of N0 by symbol; written unless empty
        bool hard = false;               ///< write the signs of soft bits alone

        std::optional<double> sample_rate = {};       ///< hertz, of the capture; written if given
        std::optional<double> center_frequency = {};  ///< hertz, of the capture; written if given
        bool overwrite = false;
        bool durable = false;  ///< see AtomicFile
    };

    /// Creates the dataset /llr, symbols x Qm, contiguous, with the attributes modulation, llr_scale,
    /// llr_clip, llr_sign ("positive_is_zero"), noise_variance or noise_variance_dataset, descrambled_c_init,
    /// method, source, source_shape, sample_rate, center_frequency, phy_version; with `hard` in its place
    /// /bits, uint8, without attributes of soft bits. The same content makes the same bytes. Throws FileError
    /// if the file exists and overwrite is false, if it cannot be written, or if the disk has no room for it;
    /// ArgumentError if symbols is 0, if an enumerator was cast from a number that names none, or if the
    /// shape is of another number of symbols or, where it is to be kept, not given or of more than 31
    /// dimensions.
    SoftBitWriter(const std::filesystem::path& file, const Config& config);
    ~SoftBitWriter();
    SoftBitWriter(SoftBitWriter&&) noexcept;
    SoftBitWriter& operator=(SoftBitWriter&&) noexcept;

    /// Appends whole symbols, given as the bytes of their soft bits in Config::format, also where only the
    /// signs are written: llr.size_bytes() is a multiple of Qm * size_of(format) and no more than is left
    /// (ArgumentError). FileError if the disk is full.
    void append(std::span<const std::byte> llr);

    /// Closes the file and renames it. Throws ArgumentError unless all symbols were appended, FileError if
    /// the file cannot be completed, or if another one has got its name meanwhile and overwrite is false.
    void commit();

private:
    struct Impl;
    detail::Owned<Impl, "SoftBitWriter"> impl_;
};

/// How capture_gen lays out the IQ dataset.
enum class CaptureLayout {
    compound,     ///< compound {r, i}, contiguous
    trailing,     ///< real, last dimension 2, contiguous
    interleaved,  ///< real, flat, contiguous; read it with CaptureOptions::interleaved
    chunked,      ///< compound, chunked
    gzip,         ///< compound, chunked, shuffled and deflated
};

/// "compound", "trailing", "interleaved", "chunked", "gzip". The parser throws ArgumentError that lists the
/// names.
PHY_EXPORT std::string_view to_string(CaptureLayout layout);
PHY_EXPORT CaptureLayout parse_capture_layout(std::string_view name);

/// Writes a capture that CaptureReader reads: default_dataset() of its kind, of symbols where wanted
/// /noise_variance and /bits, of a grid or samples /codeword. Appears under its name only when complete, as
/// SoftBitWriter does, and throws the same errors.
class PHY_EXPORT CaptureWriter {
public:
    struct Config {
        std::uint64_t symbols = 0;  ///< complex values of the dataset, whatever its kind
        SampleFormat format = SampleFormat::cf32;
        CaptureLayout layout = CaptureLayout::compound;
        Modulation modulation = Modulation::qpsk;  ///< written for symbols
        std::optional<float> noise_variance = {};
        std::optional<double> full_scale = {};
        bool noise_per_symbol = false;  ///< create /noise_variance, float32, one a symbol
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
    };

    /// Beside the errors of SoftBitWriter, ArgumentError for a shape of another size or rank, and for what
    /// captures of this kind do not have: symbols codewords, others noise or bits by symbol.
    CaptureWriter(const std::filesystem::path& file, const Config& config);
    ~CaptureWriter();
    CaptureWriter(CaptureWriter&&) noexcept;
    CaptureWriter& operator=(CaptureWriter&&) noexcept;

    /// Each appends to its dataset, whole codewords to that of codewords; all but symbols only where the
    /// config has them (ArgumentError).
    void append(SymbolView symbols);
    void append_noise(std::span<const float> noise);
    void append_bits(std::span<const std::uint8_t> bits);
    void append_codewords(std::span<const std::uint8_t> bits);

    /// Writes symbols from index first on, in row-major order: where several antennas come slot by slot,
    /// antenna a begins at a * symbols / antennas. Each symbol must be written once, by this or append(),
    /// which goes on where it ended itself.
    void write(std::uint64_t first, SymbolView symbols);

    /// Closes the file and renames it. Throws ArgumentError unless every dataset is complete.
    void commit();

private:
    struct Impl;
    detail::Owned<Impl, "CaptureWriter"> impl_;
};

}  // namespace phy

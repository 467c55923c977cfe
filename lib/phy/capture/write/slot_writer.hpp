#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "phy/capture/capture.hpp"
#include "phy/core/demapper_config.hpp"
#include "phy/core/export.hpp"
#include "phy/core/format.hpp"
#include "phy/core/owned.hpp"

namespace phy {

/// A receiver's measurements of a slot: a row of /slots, whose members have these names.
struct PHY_EXPORT SlotRow {
    std::uint64_t slot = 0;          ///< its number in the frame
    std::uint64_t first_sample = 0;  ///< index in the capture; for a grid that of the OFDM symbol
    double snr_db = 0.0;
    double noise_variance = 0.0;       ///< N0 of a resource element at an antenna
    double evm = 0.0;                  ///< rms, as a ratio
    double error_over_noise_db = 0.0;  ///< dB: see error_over_noise(); NaN: not measured
    double timing_offset = 0.0;        ///< s
    double frequency_offset = 0.0;     ///< Hz
    double coherence = 0.0;            ///< of pilots, from 0 to 1
    double phase_error = 0.0;          ///< rad, rms: common phase errors taken out of OFDM symbols
    double excess_noise_db = 0.0;      ///< dB: how much noise variances were raised, mean of OFDM symbols
    std::uint64_t erasures = 0;

    friend bool operator==(const SlotRow&, const SlotRow&) = default;
};

/// A part of UCI on PUSCH: datasets of SlotWriter.
struct PHY_EXPORT UciRows {
    std::string name;            ///< such as "ack"
    std::size_t bits = 0;        ///< decoded ones per slot; 0: there are soft bits alone
    std::size_t coded_bits = 0;  ///< soft bits per slot

    friend bool operator==(const UciRows&, const UciRows&) = default;
};

/// Writes received slots to a file that appears under its name only when complete; see SoftBitWriter, also
/// for the formats. A .npy or raw file takes soft bits or transport blocks, and nothing else. docs/files.md
/// describes the HDF5 file. The same content gives the same bytes. Not thread-safe.
class PHY_EXPORT SlotWriter {
public:
    struct Config {
        std::uint64_t slots = 0;      ///< rows of each dataset
        std::size_t elements = 0;     ///< data elements per slot
        std::size_t layers = 1;       ///< G = elements x layers x Qm
        std::size_t antennas = 1;     ///< of /channel
        std::size_t subcarriers = 0;  ///< of /channel

        bool llr = true;       ///< create /llr (slots, G)
        bool symbols = false;  ///< create /symbols, /symbols_noise_variance (slots, elements, layers)
        bool channel = false;  ///< create /channel (slots, antennas, layers, subcarriers)

        /// A / 8: create /transport_blocks (slots, A / 8) and, in HDF5, /crc (slots), both uint8; 0: do not.
        std::size_t transport_block_bytes = 0;

        /// For each, create /uci_NAME_llr (slots, coded_bits), and if bits is not 0 /uci_NAME (slots, bits),
        /// uint8, and /uci_NAME_margin (slots), float32.
        std::vector<UciRows> uci = {};

        SoftBitFormat format = SoftBitFormat::int8;
        Modulation modulation = Modulation::qpsk;
        LlrConfig llr_config = {};                    ///< that made the soft bits
        std::uint32_t c_init = 0;                     ///< of the descrambling sequence
        std::string link = {};                        ///< JSON, written as an attribute of the root
        std::string source = {};                      ///< file and dataset of the capture
        std::optional<double> sample_rate = {};       ///< hertz, of the capture; written if given
        std::optional<double> center_frequency = {};  ///< hertz, of the capture; written if given
        bool overwrite = false;
        bool durable = false;  ///< see AtomicFile

        /// The file has a part of the capture's slots, for join_parts(): attributes of the root say which.
        std::optional<PartOfRows> part = {};
    };

    /// Creates /slots and the other datasets, all contiguous. Throws FileError as SoftBitWriter does;
    /// ArgumentError if slots is 0, if a dataset has a dimension of 0, if an enum value is out of range, for
    /// a part that has other rows than all, or if a .npy or raw file shall have another number of datasets
    /// than one, or symbols, the channel or UCI.
    SlotWriter(const std::filesystem::path& file, const Config& config);

    /// Appends whole slots to each dataset whose array is not empty. Throws ArgumentError, and writes
    /// nothing, for part of a slot, for more slots than are left, or for a dataset that the config does not
    /// have; FileError if the disk is full.
    void append(std::span<const std::byte> llr, std::span<const cf32> symbols,
                std::span<const float> noise_variance, std::span<const cf32> channel);

    /// Appends whole transport blocks, and for each 1 if its CRC holds, else 0; throws as append() does.
    void append_transport_blocks(std::span<const std::uint8_t> payload, std::span<const std::uint8_t> crc);

    /// Appends whole slots to the datasets of Config::uci[part]; throws as append() does.
    void append_uci(std::size_t part, std::span<const std::byte> llr, std::span<const std::uint8_t> bits,
                    std::span<const float> margin);

    /// Appends to /slots; throws as append() does. Does nothing for a .npy or raw file.
    void append_slots(std::span<const SlotRow> rows);

    /// Closes the file and renames it. Throws ArgumentError unless every dataset is complete; FileError if
    /// the file cannot be completed, or if a file of that name has appeared meanwhile and overwrite is false.
    void commit();

private:
    struct Impl;
    detail::Owned<Impl, "SlotWriter"> impl_;
};

}  // namespace phy

#include "phy/capture/write/slot_writer.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "phy/capture/hdf5/attribute.hpp"
#include "phy/capture/hdf5/hdf5_type.hpp"
#include "phy/capture/write/output.hpp"
#include "phy/core/error.hpp"
#include "phy/core/version.hpp"

namespace phy {

namespace {

using hdf5::Dimensions;
using Config = SlotWriter::Config;

/// The layout of SlotRow in memory.
hdf5::TypeHandle row_type() {
    hdf5::TypeHandle type(H5Tcreate(H5T_COMPOUND, sizeof(SlotRow)));
    const auto insert = [&](const char* name, std::size_t offset, hid_t number) {
        H5Tinsert(type, name, offset, number);
    };
    insert("slot", offsetof(SlotRow, slot), H5T_NATIVE_UINT64);
    insert("first_sample", offsetof(SlotRow, first_sample), H5T_NATIVE_UINT64);
    insert("snr_db", offsetof(SlotRow, snr_db), H5T_NATIVE_DOUBLE);
    insert("noise_variance", offsetof(SlotRow, noise_variance), H5T_NATIVE_DOUBLE);
    insert("evm", offsetof(SlotRow, evm), H5T_NATIVE_DOUBLE);
    insert("error_over_noise_db", offsetof(SlotRow, error_over_noise_db), H5T_NATIVE_DOUBLE);
    insert("timing_offset", offsetof(SlotRow, timing_offset), H5T_NATIVE_DOUBLE);
    insert("frequency_offset", offsetof(SlotRow, frequency_offset), H5T_NATIVE_DOUBLE);
    insert("coherence", offsetof(SlotRow, coherence), H5T_NATIVE_DOUBLE);
    insert("phase_error", offsetof(SlotRow, phase_error), H5T_NATIVE_DOUBLE);
    insert("excess_noise_db", offsetof(SlotRow, excess_noise_db), H5T_NATIVE_DOUBLE);
    insert("erasures", offsetof(SlotRow, erasures), H5T_NATIVE_UINT64);
    return type;
}

Dimensions llr_dimensions(const Config& config) {
    return {config.slots, config.elements * config.layers * bits_per_symbol(config.modulation)};
}

Dimensions symbol_dimensions(const Config& config) {
    return {config.slots, config.elements, config.layers};
}

Dimensions channel_dimensions(const Config& config) {
    return {config.slots, config.antennas, config.layers, config.subcarriers};
}

Dimensions transport_block_dimensions(const Config& config) {
    return {config.slots, config.transport_block_bytes};
}

std::uint64_t total_bytes(const Config& config) {
    std::uint64_t bytes = hdf5::total_bytes({config.slots}, sizeof(SlotRow));
    if (config.llr) bytes += hdf5::total_bytes(llr_dimensions(config), size_of(config.format));
    if (config.symbols) bytes += hdf5::total_bytes(symbol_dimensions(config), sizeof(cf32) + sizeof(float));
    if (config.channel) bytes += hdf5::total_bytes(channel_dimensions(config), sizeof(cf32));
    if (config.transport_block_bytes > 0)
        bytes += hdf5::total_bytes(transport_block_dimensions(config), 1) + config.slots;
    for (const UciRows& part : config.uci) {
        bytes += hdf5::total_bytes({config.slots, part.coded_bits}, size_of(config.format));
        if (part.bits > 0) bytes += hdf5::total_bytes({config.slots, part.bits}, 1) + 4 * config.slots;
    }
    return bytes;
}

void require_positive(const Config& config) {
    const auto require = [](std::string_view what, std::uint64_t value) {
        if (value == 0) throw ArgumentError("slot writer: 0 " + std::string(what) + ": expected at least 1");
    };
    require("slots", config.slots);
    if (config.llr || config.symbols) require("resource elements", config.elements);
    if (config.llr || config.symbols || config.channel) require("layers", config.layers);
    if (config.channel) require("antennas", config.antennas);
    if (config.channel) require("subcarriers", config.subcarriers);
    for (const UciRows& part : config.uci)
        require("coded bits of UCI", part.coded_bits);
}

void require_room(const std::filesystem::path& path, const Config& config) {
    if (output_format(path) == OutputFormat::hdf5) return;
    if (config.llr == (config.transport_block_bytes > 0) || config.symbols || config.channel ||
        !config.uci.empty())
        throw ArgumentError(
            path.string() +
            ": takes soft bits alone, or transport blocks alone: expected an HDF5 file, such as " +
            std::filesystem::path(path).replace_extension(".h5").string());
}

SoftBitWriter::Config soft_bits_of(const Config& config) {
    return {.format = config.format,
            .modulation = config.modulation,
            .llr_config = config.llr_config,
            .descrambled_c_init = config.c_init,
            .source = config.source,
            .sample_rate = config.sample_rate,
            .center_frequency = config.center_frequency};
}

}  // namespace

struct PHY_HIDDEN SlotWriter::Impl {
    Impl(const std::filesystem::path& path, const Config& config);

    struct Rows {
        std::optional<hdf5::OutputDataset>* dataset;
        std::string_view name;
        std::span<const std::byte> bytes;
    };

    struct Uci {
        std::optional<hdf5::OutputDataset> llr;
        std::optional<hdf5::OutputDataset> bits;    ///< none: only soft bits
        std::optional<hdf5::OutputDataset> margin;  ///< the same
    };

    void create(const UciRows& part, const Config& config);
    void write_root_attributes(const Config& config) const;
    void append(std::span<const Rows> all) const;
    std::vector<std::optional<hdf5::OutputDataset>*> datasets();
    [[nodiscard]] bool is_committed() const { return !slots && !llr && !payload; }
    [[nodiscard]] bool is_hdf5() const { return file.format() == OutputFormat::hdf5; }

    hdf5::OutputFile file;
    std::optional<hdf5::OutputDataset> slots;  ///< none after commit(); only HDF5 has it
    std::optional<hdf5::OutputDataset> llr;    ///< none after commit()
    std::optional<hdf5::OutputDataset> symbols;
    std::optional<hdf5::OutputDataset> noise;
    std::optional<hdf5::OutputDataset> channel;
    std::optional<hdf5::OutputDataset> payload;  ///< none after commit()
    std::optional<hdf5::OutputDataset> crc;      ///< only HDF5 has it
    std::vector<Uci> uci;
};

SlotWriter::Impl::Impl(const std::filesystem::path& path, const Config& config)
    : file(path, {.overwrite = config.overwrite, .durable = config.durable}, total_bytes(config),
           output_format(path)) {
    if (is_hdf5()) slots.emplace(file, "/slots", row_type(), Dimensions{config.slots});
    if (config.llr) {
        llr.emplace(file, "/llr", hdf5::soft_bit_type(config.format), llr_dimensions(config));
        if (is_hdf5()) hdf5::write_soft_bit_attributes(*llr, soft_bits_of(config));
    }
    if (config.symbols) {
        symbols.emplace(file, "/symbols", hdf5::iq_type(SampleFormat::cf32), symbol_dimensions(config));
        noise.emplace(file, "/symbols_noise_variance", H5T_NATIVE_FLOAT, symbol_dimensions(config));
        hdf5::write_attribute(symbols->id(), "modulation", to_string(config.modulation), symbols->name());
    }
    if (config.channel)
        channel.emplace(file, "/channel", hdf5::iq_type(SampleFormat::cf32), channel_dimensions(config));
    if (config.transport_block_bytes > 0) {
        payload.emplace(file, "/transport_blocks", H5T_NATIVE_UINT8, transport_block_dimensions(config));
        if (is_hdf5()) crc.emplace(file, "/crc", H5T_NATIVE_UINT8, Dimensions{config.slots});
    }
    for (const UciRows& part : config.uci)
        create(part, config);
    if (is_hdf5()) write_root_attributes(config);
    hdf5::write_part(file, config.part);
    file.flush();
}

void SlotWriter::Impl::create(const UciRows& part, const Config& config) {
    const std::string name = "/uci_" + part.name;
    Uci& made = uci.emplace_back();
    made.llr.emplace(file, name + "_llr", hdf5::soft_bit_type(config.format),
                     Dimensions{config.slots, part.coded_bits});
    hdf5::write_soft_bit_attributes(*made.llr, soft_bits_of(config));
    if (part.bits == 0) return;
    made.bits.emplace(file, name, H5T_NATIVE_UINT8, Dimensions{config.slots, part.bits});
    made.margin.emplace(file, name + "_margin", H5T_NATIVE_FLOAT, Dimensions{config.slots});
}

std::vector<std::optional<hdf5::OutputDataset>*> SlotWriter::Impl::datasets() {
    std::vector all = {&slots, &llr, &symbols, &noise, &channel, &payload, &crc};
    for (Uci& part : uci)
        all.insert(all.end(), {&part.llr, &part.bits, &part.margin});
    return all;
}

void SlotWriter::Impl::write_root_attributes(const Config& config) const {
    const auto write = [&](const char* name, std::string_view text) {
        hdf5::write_attribute(file.id(), name, text, file.name());
    };
    write("link", config.link);
    write("source", config.source);
    write("phy_version", version);
}

void SlotWriter::Impl::append(std::span<const Rows> all) const {
    if (is_committed()) throw ArgumentError(file.name() + ": append after commit");
    for (const Rows& rows : all) {
        if (rows.bytes.empty()) continue;
        if (!*rows.dataset)
            throw ArgumentError(file.name() + ": is configured without " + std::string(rows.name));
        (*rows.dataset)->require_appendable(rows.bytes);
    }
    for (const Rows& rows : all) {
        if (*rows.dataset) (*rows.dataset)->append(rows.bytes);
    }
}

SlotWriter::SlotWriter(const std::filesystem::path& file, const Config& config) {
    hdf5::check_enums(config.format, config.modulation, config.llr_config);
    require_positive(config);
    hdf5::check_part(config.part, config.slots);
    require_room(file, config);
    const hdf5::Session session;
    impl_ = std::make_unique<Impl>(file, config);
}

void SlotWriter::append(std::span<const std::byte> llr, std::span<const cf32> symbols,
                        std::span<const float> noise_variance, std::span<const cf32> channel) {
    impl_->append(std::array<Impl::Rows, 4>{{{&impl_->llr, "soft bits", llr},
                                             {&impl_->symbols, "symbols", std::as_bytes(symbols)},
                                             {&impl_->noise, "symbols", std::as_bytes(noise_variance)},
                                             {&impl_->channel, "the channel", std::as_bytes(channel)}}});
}

void SlotWriter::append_transport_blocks(std::span<const std::uint8_t> payload,
                                         std::span<const std::uint8_t> crc) {
    const auto of_crc = impl_->is_hdf5() ? std::as_bytes(crc) : std::span<const std::byte>();
    impl_->append(std::array<Impl::Rows, 2>{{{&impl_->payload, "transport blocks", std::as_bytes(payload)},
                                             {&impl_->crc, "transport blocks", of_crc}}});
}

void SlotWriter::append_uci(std::size_t part, std::span<const std::byte> llr,
                            std::span<const std::uint8_t> bits, std::span<const float> margin) {
    if (part >= impl_->uci.size())
        throw ArgumentError(impl_->file.name() + ": is configured without part " + std::to_string(part) +
                            " of UCI");
    Impl::Uci& to = impl_->uci[part];
    impl_->append(std::array<Impl::Rows, 3>{{{&to.llr, "UCI", llr},
                                             {&to.bits, "decoded UCI", std::as_bytes(bits)},
                                             {&to.margin, "decoded UCI", std::as_bytes(margin)}}});
}

void SlotWriter::append_slots(std::span<const SlotRow> rows) {
    if (!impl_->is_hdf5()) return;
    impl_->append(std::array<Impl::Rows, 1>{{{&impl_->slots, "slots", std::as_bytes(rows)}}});
}

void SlotWriter::commit() {
    if (impl_->is_committed()) throw ArgumentError(impl_->file.name() + ": commit after commit");
    for (const auto* dataset : impl_->datasets()) {
        if (*dataset) (*dataset)->require_complete();
    }
    const hdf5::Session session;
    impl_->file.flush();
    for (auto* dataset : impl_->datasets())
        dataset->reset();
    impl_->file.commit();
}

}  // namespace phy

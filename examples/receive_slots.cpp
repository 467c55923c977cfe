// Receives slots from a radio with a clock of its own: measures timing and frequency, then follows both.
// Files stand for the antennas: receive_slots LINK.json SOFTBITS ANTENNA0.ci16 [ANTENNA1.ci16 ...]
//
// docs/link.md describes LINK.json, which must have sample_rate and center_frequency. The file of an antenna
// has 16-bit integers, I and Q in turn, in the machine's byte order. Slot carrier.first_slot begins at sample
// carrier.first_sample, to about 1 us. SOFTBITS gets one int8 per bit of each codeword.

#include <complex>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <numbers>

#include <phy/phy.hpp>

/// Reads slots of all antennas from where they begin, at the rate of a receiver.
struct Slots {
    phy::Resampler resample;
    phy::OfdmTiming timing;
    std::vector<std::string> files;
    std::uint64_t slot = 0;
    double begin = 0.0;      ///< of the slot: recorded samples
    double last = -1e9;      ///< begin of the last slot with DM-RS
    double clock = 0.0;      ///< the radio's clock is fast by this ratio, for samples and frequency
    double frequency = 0.0;  ///< Hz: the signal is too high

    /// Reads (antennas, samples of the longest slot). False at the end of the files.
    bool read(std::uint64_t next, std::vector<phy::cf32>& samples) {
        const double step = (1.0 + clock) * resample.config().input_rate / resample.config().output_rate;
        const auto ahead = static_cast<std::int64_t>(timing.slot_start(next) - timing.slot_start(slot));
        slot = next;
        begin += step * static_cast<double>(ahead);
        const auto length = static_cast<std::int64_t>(step * static_cast<double>(timing.slot_samples(slot)));
        const auto margin = static_cast<std::int64_t>(resample.margin()) + 1, count = length + 2 * margin;
        const std::int64_t first = static_cast<std::int64_t>(begin) - margin, zeros = first < 0 ? -first : 0;
        const auto row_length = static_cast<std::size_t>(count);
        std::vector<phy::ci16> recorded(files.size() * row_length);
        for (std::size_t i = 0; i < files.size(); ++i) {
            std::ifstream file(files[i], std::ios::binary);
            if (!file) throw phy::FileError(files[i] + ": cannot be read");
            file.seekg(4 * (first + zeros));
            phy::ci16* const first_read = &recorded[i * row_length + static_cast<std::size_t>(zeros)];
            file.read(reinterpret_cast<char*>(first_read), 4 * (count - zeros));
            if (zeros + file.gcount() / 4 < count - margin - length / 800) return false;
        }
        const auto position = static_cast<std::uint64_t>(0x1p32 * (begin - static_cast<double>(first)));
        const phy::ResampledRow row = {position, static_cast<std::uint64_t>(0x1p32 * step)};
        samples.resize(files.size() * timing.slot_samples(0));
        resample(recorded, std::vector(files.size(), row), samples);
        const auto turn =
            std::polar(1.0, -2.0 * std::numbers::pi * frequency / resample.config().output_rate);
        for (std::complex phase = turn; phy::cf32 & sample : samples)
            sample *= phy::cf32(phase *= turn);
        return true;
    }

    /// Follows a slot with DM-RS: an alpha-beta filter for timing and clock.
    void follow(const phy::SlotReport& report) {
        const double late = report.timing_offset * resample.config().input_rate;
        clock += 0.01 * late / (begin - last);
        frequency += 0.2 * report.frequency_offset;
        last = begin;
        begin += 0.2 * late;
    }
};

/// Measures over the first 8 slots, at frequencies up to three subcarriers off.
phy::Offsets measure(const phy::Host& host, const phy::ReceiverConfig& config, Slots& slots) {
    std::vector<phy::cf32> all, slot;
    for (std::uint64_t n = 0; n < 8 && slots.read(phy::SlotSchedule(config.link).slot(n), slot); ++n)
        all.insert(all.end(), slot.begin(), slot.end());
    slots.read(phy::SlotSchedule(config.link).slot(4), slot);  // the offsets are those in the middle
    phy::Offsets best;
    for (double subcarriers = -3.0; subcarriers <= 3.0; subcarriers += 0.5) {
        phy::ReceiverConfig shifted = config;
        shifted.link.carrier.frequency_shift -= subcarriers * config.link.carrier.subcarrier_spacing;
        phy::Offsets offsets = phy::measure_offsets(host, shifted, all, 0);
        offsets.frequency += subcarriers * config.link.carrier.subcarrier_spacing;
        if (offsets.coherence > best.coherence) best = offsets;
    }
    return best;
}

void receive(const std::string& link_file, const std::string& output, const std::vector<std::string>& names) {
    if (std::filesystem::is_regular_file(output)) throw phy::FileError(output + ": exists");
    phy::ReceiverConfig config = {.link = phy::read_link(link_file)};
    config.antennas = static_cast<int>(names.size());
    phy::LinkCarrier& carrier = config.link.carrier;
    const phy::ResamplerConfig rates = phy::resampler_config(config.link);
    carrier.sample_rate = rates.output_rate;
    const phy::Host host({.threads = 0});  // one per processor
    phy::Receiver receive(host, config);
    const phy::OfdmTiming timing(phy::ofdm_config(config.link, config.antennas));
    Slots slots = {{host, rates}, timing, names, receive.schedule().first_slot()};
    slots.begin = static_cast<double>(carrier.first_sample.value_or(0));
    const phy::Offsets offsets = measure(host, config, slots);
    slots.begin += offsets.timing * rates.input_rate;
    slots.frequency = offsets.frequency;
    if (*carrier.center_frequency > 0.0) slots.clock = -offsets.frequency / *carrier.center_frequency;
    std::ofstream soft_bits(output, std::ios::binary);
    std::vector<phy::cf32> samples;
    std::vector<std::int8_t> llr(receive.soft_bits_per_slot());
    std::vector<phy::ReceivedSlot> received(1);
    for (std::uint64_t n = 0; slots.read(receive.schedule().slot(n), samples); ++n) {
        receive(samples, n, {.llr = llr, .slots = received});
        const phy::SlotReport report = phy::slot_report(received[0], config, slots.slot);
        if (report.coherence >= phy::min_coherence(config.link.allocation)) slots.follow(report);
        std::printf("slot %ju: coherence %.2f, SNR %.1f dB, EVM %.2f %%, frequency %.0f Hz, clock %.2f ppm\n",
                    std::uintmax_t{report.slot}, report.coherence, report.snr_db, 100.0 * report.evm,
                    slots.frequency, 1e6 * slots.clock);
        soft_bits.write(reinterpret_cast<const char*>(llr.data()), static_cast<std::streamsize>(llr.size()));
    }
    if (!soft_bits.flush()) throw phy::FileError(output + ": cannot be written");
}

int main(int argc, char** argv) try {
    if (argc < 4) throw phy::Error("usage: LINK.json SOFTBITS ANTENNA0.ci16 [ANTENNA1.ci16 ...]");
    receive(argv[1], argv[2], {argv + 3, argv + argc});
} catch (const std::exception& error) {
    std::fprintf(stderr, "receive_slots: %s\n", error.what());
    return argc < 4 ? 2 : 1;
}

// Feeds samples to a receiver slot by slot, like a program that gets them from a radio or a socket. Each
// antenna has a file.
//
//     receive_slots LINK.json SOFTBITS ANTENNA0.ci16 [ANTENNA1.ci16 ...]
//
// docs/link.md describes LINK.json, which must have sample_rate and center_frequency. The file of an antenna
// has 16-bit integers, I and Q in turn, in the machine's byte order, from the first sample of slot
// carrier.first_slot on. SOFTBITS gets one int8 per bit of each codeword.

#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <phy/phy.hpp>

namespace {

/// Reads the samples of all antennas, one slot at a time.
class Antennas {
public:
    explicit Antennas(const std::vector<std::string>& names) {
        for (const std::string& name : names) {
            files_.emplace_back(name, std::ios::binary);
            if (!files_.back()) throw std::runtime_error(name + ": cannot be read");
        }
    }

    /// Reads the next `samples` of each antenna; rows are `stride` samples apart. False at the end of the
    /// files.
    bool read(std::size_t samples, std::size_t stride, std::vector<phy::ci16>& slot) {
        slot.resize(files_.size() * stride);
        for (std::size_t i = 0; i < files_.size(); ++i) {
            char* const to = reinterpret_cast<char*>(slot.data() + i * stride);
            if (!files_[i].read(to, static_cast<std::streamsize>(samples * sizeof(phy::ci16)))) return false;
        }
        return true;
    }

private:
    std::vector<std::ifstream> files_;
};

void receive(const std::string& link_file, const std::string& output, const std::vector<std::string>& names) {
    phy::ReceiverConfig config;
    config.link = phy::read_link(link_file);
    if (config.link.carrier.first_sample != 0U)
        throw std::runtime_error(link_file + ": carrier.first_sample: expected 0, where the files begin");
    config.antennas = static_cast<int>(names.size());
    const phy::Host host({.threads = 0});  // one per processor
    phy::Receiver receive(host, config);
    const phy::OfdmTiming timing(phy::ofdm_config(config.link, config.antennas));

    Antennas antennas(names);
    for (const std::string& name : names) {
        if (std::filesystem::exists(output) && std::filesystem::equivalent(name, output))
            throw std::runtime_error(output + ": is also an input");
    }
    std::ofstream soft_bits(output, std::ios::binary);
    if (!soft_bits) throw std::runtime_error(output + ": cannot be written");
    std::vector<phy::ci16> samples;
    std::vector<std::int8_t> llr(receive.soft_bits_per_slot());
    std::vector<phy::ReceivedSlot> found(1);

    const double least = phy::min_coherence(config.link.allocation);
    std::uint64_t occasion = 0;  // counts slots that hold the allocation
    for (std::uint64_t slot = receive.schedule().first_slot();; ++slot) {
        if (!antennas.read(timing.slot_samples(slot), receive.input_per_slot(), samples)) break;
        if (receive.schedule().slot(occasion) != slot) continue;
        receive(samples, occasion, {.llr = llr, .slots = found});
        ++occasion;

        const phy::SlotReport report = phy::slot_report(found[0], config, slot);
        std::printf(
            "slot %llu: coherence %.2f%s, SNR %.1f dB, EVM %.2f %%, timing %.3f us, frequency %.0f Hz\n",
            static_cast<unsigned long long>(slot), report.coherence,
            report.coherence < least ? " (no DM-RS)" : "", report.snr_db, 100.0 * report.evm,
            1e6 * report.timing_offset, report.frequency_offset);
        soft_bits.write(reinterpret_cast<const char*>(llr.data()), static_cast<std::streamsize>(llr.size()));
    }
    if (!soft_bits.flush()) throw std::runtime_error(output + ": cannot be written");
    if (occasion == 0) throw std::runtime_error("the files end before a slot of allocation.slots does");
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        std::fputs("usage: receive_slots LINK.json SOFTBITS ANTENNA0.ci16 [ANTENNA1.ci16 ...]\n", stderr);
        return 2;
    }
    try {
        receive(argv[1], argv[2], {argv + 3, argv + argc});
    } catch (const std::exception& error) {
        std::fprintf(stderr, "receive_slots: %s\n", error.what());
        return 1;
    }
    return 0;
}

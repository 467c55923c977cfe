// Slots from a socket, received in order although datagrams come in disorder, late or not at all.
//
// Called without arguments: a thread stands for the radio, which sends resource elements of one OFDM symbol
// and antenna per datagram. It loses one of slot 2 and one with DM-RS of slot 4, shuffles those of slot 5,
// and sends one of slot 6 when slot 8 is over. Prints what each slot lost: elements that are missing become
// erasures, whose soft bits are 0, and the other soft bits stay right. Exit status 1 otherwise.

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <thread>
#include <vector>

#include <phy/phy.hpp>

constexpr const char* link_text = R"({
  "direction": "uplink",
  "carrier": {"subcarrier_spacing": 30000, "resource_blocks": 24, "cell_id": 1},
  "allocation": {"rnti": 17921, "modulation": "16qam", "layers": 1, "resource_blocks": [0, 24],
                 "dmrs": {"type": 1, "ports": [0], "cdm_groups_without_data": 2, "symbols": [2, 11]}}
})";
constexpr std::uint32_t slots = 10, antennas = 2, symbols = 14, subcarriers = 288;
constexpr std::array<std::uint64_t, slots> expected_erasures = {0, 0, 288, 0, 3456, 0, 288};
constexpr phy::cf32 missing = {std::numeric_limits<float>::quiet_NaN(), 0.0F};

/// Fits into an Ethernet frame. Numbers are in the byte order of the machine.
struct Datagram {
    std::uint64_t slot;
    std::uint32_t antenna, symbol;
    std::array<phy::ci16, subcarriers> elements;
};

/// In place of the radio: the same codeword in each slot, noise, and a network with faults.
void transmit(int socket, const phy::Link& link, const std::vector<std::uint8_t>& bits) {
    const phy::Host host;
    const phy::GridMapper to_grid(link.allocation);
    std::vector<std::uint8_t> scrambled(bits.size());
    std::vector<phy::cf32> data(to_grid.symbols_per_slot()), pilots(to_grid.pilots_per_slot());
    std::vector<phy::cf32> grid(to_grid.grid_size());
    phy::Scrambler{host}(link.scrambling.c_init(), bits, scrambled);
    phy::Mapper(host, {.modulation = link.modulation})(scrambled, data);
    std::mt19937 random(2);
    std::normal_distribution<float> noise(0.0F, 300.0F);
    const auto stored = [&](float value) {
        return static_cast<std::int16_t>(std::lround(4096.0F * value + noise(random)));
    };
    std::vector<Datagram> queue, delayed;
    for (std::uint64_t slot = 0; slot < slots; ++slot) {
        phy::dmrs_pilots(link.allocation, static_cast<int>(slot), pilots);
        to_grid(data, pilots, grid);
        for (std::uint32_t row = 0; row < antennas * symbols; ++row) {
            Datagram datagram = {slot, row % antennas, row / antennas, {}};
            for (std::size_t i = 0; i < subcarriers; ++i) {
                const phy::cf32 phase = datagram.antenna == 0 ? phy::cf32(1.0F, 0.0F) : phy::cf32(0.0F, 1.0F);
                const phy::cf32 element = phase * grid[datagram.symbol * subcarriers + i];
                datagram.elements[i] = {stored(element.real()), stored(element.imag())};
            }
            const bool lost = (slot == 2 && row == 13) || (slot == 4 && row == 4);
            if (!lost) (slot == 6 && row == 10 ? delayed : queue).push_back(datagram);
        }
        if (slot == 5) std::shuffle(queue.begin(), queue.end(), random);
        if (slot == 8) queue.insert(queue.end(), delayed.begin(), delayed.end());
        for (const Datagram& datagram : queue)
            send(socket, &datagram, sizeof datagram, 0);
        queue.clear();
    }
    send(socket, nullptr, 0, 0);  // the end
}

int main() {
    const phy::Link link = phy::parse_link(link_text);
    phy::Receiver receive(phy::Host(),
                          {.link = link, .input = phy::ReceiverInput::grid, .antennas = antennas});
    std::mt19937 random(1);
    std::vector<std::uint8_t> bits(receive.soft_bits_per_slot());
    for (auto& bit : bits)
        bit = random() % 2;
    int sockets[2];  // for a radio elsewhere: socket(AF_INET, SOCK_DGRAM, 0) and bind()
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, sockets) != 0) return EXIT_FAILURE;
    const std::jthread radio([&] { transmit(sockets[0], link, bits); });

    // A slot waits for its datagrams until one of the slot after the next comes, so that two are incomplete.
    std::array<std::vector<phy::cf32>, 2> grids;
    grids.fill(std::vector<phy::cf32>(receive.input_per_slot() * antennas, missing));
    std::vector<std::int8_t> llr(bits.size());
    std::vector<phy::ReceivedSlot> received(1);
    bool right = true, ended = false;
    std::size_t late = 0;
    for (std::uint64_t next = 0; next < slots;) {
        Datagram datagram = {};
        ended = recv(sockets[1], &datagram, sizeof datagram, 0) != sizeof datagram;
        for (; next < slots && (ended || next + 2 <= datagram.slot); ++next) {
            std::vector<phy::cf32>& grid = grids[next % grids.size()];
            receive(grid, next, {.llr = llr, .slots = received});  // every slot is an occasion of this link
            std::fill(grid.begin(), grid.end(), missing);

            std::size_t wrong = 0;
            for (std::size_t i = 0; i < bits.size(); ++i)
                wrong += llr[i] != 0 && (llr[i] < 0) != (bits[i] == 1) ? 1 : 0;
            const phy::SlotReport report = phy::slot_report(received[0], receive.config(), next);
            std::printf("slot %ju: SNR %.1f dB, %ju of %zu symbols erased, %zu bits wrong\n",
                        std::uintmax_t{next}, report.snr_db, std::uintmax_t{report.erasures},
                        receive.symbols_per_slot(), wrong);
            right = right && wrong == 0 && report.erasures == expected_erasures[next];
        }
        if (ended || datagram.antenna >= antennas || datagram.symbol >= symbols) continue;
        if (datagram.slot < next) {  // its slot is over
            ++late;
            continue;
        }
        const std::size_t first = (datagram.antenna * symbols + datagram.symbol) * subcarriers;
        for (std::size_t i = 0; i < subcarriers; ++i)
            grids[datagram.slot % grids.size()][first + i] =
                phy::cf32(datagram.elements[i].re, datagram.elements[i].im) / 32768.0F;
    }
    std::printf("%zu datagram was too late\n", late);
    return right && late == 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#include <array>
#include <numbers>
#include <string>
#include <string_view>

#include "phy/core/error.hpp"
#include "phy/dmrs/pilots.hpp"
#include "phy/dmrs/slot_allocation.hpp"
#include "phy/numerics/elementary.hpp"
#include "phy/scrambling/gold_sequence.hpp"

namespace phy {
namespace {

constexpr std::size_t shortest_zadoff_chu = 36;
constexpr std::size_t shortest_of_two = 72;  // from here on a group has two sequences
constexpr int groups = 30;

std::size_t largest_prime_below(std::size_t number) {
    const auto is_prime = [](std::size_t n) {
        for (std::size_t divisor = 2; divisor * divisor <= n; ++divisor) {
            if (n % divisor == 0) return false;
        }
        return true;
    };
    do
        --number;
    while (!is_prime(number));
    return number;
}

cf32 unit(double angle) {
    return cf32(detail::elementary::phasor(angle));
}

/// Clause 5.2.2.1. Integers reduce the products to one turn, so that the angle keeps its digits.
void zadoff_chu(int u, int v, std::span<cf32> sequence) {
    const std::size_t n_zc = largest_prime_below(sequence.size());
    // q_bar is scaled / 31.
    const std::size_t scaled = n_zc * static_cast<std::size_t>(u + 1);
    const std::size_t rounded = (2 * scaled + 31) / 62;
    const bool is_up = 2 * scaled / 31 % 2 == 0;
    const std::size_t q = v == 0 ? rounded : is_up ? rounded + 1 : rounded - 1;
    for (std::size_t n = 0; n < sequence.size(); ++n) {
        const std::size_t m = n % n_zc;
        const std::size_t half_turns = q * (m * (m + 1) % (2 * n_zc)) % (2 * n_zc);
        sequence[n] = unit(-std::numbers::pi * static_cast<double>(half_turns) / static_cast<double>(n_zc));
    }
}

/// Row u is group u; a digit d means 2 d - 3.
constexpr std::string_view phases_6[] = {
    "013310", "031130", "000320", "222310", "222013", "021000", "023000", "012021", "010200", "002030",
    "023200", "010220", "223103", "223313", "222031", "222130", "011131", "001210", "000201", "022010",
    "030220", "020001", "220323", "220020", "223133", "220233", "221131", "221311", "221301", "220211",
};
constexpr std::string_view phases_12[] = {
    "020003012220", "032023112333", "033203123030", "001333030210", "011232212102", "003200013123",
    "213111012220", "103100012120", "013201032332", "011001032310", "030330113320", "010110331120",
    "013001021033", "021133011010", "230233321213", "023110011320", "111120133102", "122123311020",
    "023311033030", "003013331020", "323230123210", "032302222303", "033310010230", "310301333010",
    "012023331033", "032133021212", "123021211021", "003330120320", "213221112302", "030300311230",
};
constexpr std::string_view phases_18[] = {
    "131032013011222111", "303123010010321303", "032113012222213101", "003332023320031012",
    "221101200020112132", "302231211022133031", "031232012202331000", "220332303122120013",
    "020020032010001223", "313200120033323030", "000203223002313003", "003331101113200131",
    "010022101011331323", "220000230332013102", "031010220011302322", "320203310010030123",
    "010102301333210310", "013313101210111332", "020113200010022211", "333010131210200133",
    "022022301013031110", "201033102001012333", "002112201333313232", "310200033120132233",
    "311201010010222003", "002033313220003011", "011020311033013111", "003302310210301113",
    "102000223303301302", "032111121330123131",
};
constexpr std::string_view phases_24[] = {
    "103132312010123010333000", "103220200201130333023300", "100211023101102232011300",
    "203101332122301000130100", "130013112323110232102100", "012002203110232101020000",
    "032312020210100001112200", "023121303101031110110330", "020311103210123121200000",
    "221012202120300310230200", "000130323201102232103230", "031321113322233200120230",
    "303102321101303113300300", "031313322023030012301100", "020113230213310301100030",
    "011020011312132013221100", "002133012112211302021110", "313120220030111110012200",
    "020200202000002002202200", "003321112012130101120310", "001110210130203033211200",
    "312130223103203111120000", "020302032101000023123330", "012011222331212110003210",
    "031011131130130301322100", "021001201022122333121210", "131133111310232200010100",
    "300133013222313013132100", "020202232001231032100000", "301231101310103132203000",
};

std::string_view row(std::size_t length, int u) {
    switch (length) {
        case 6:
            return phases_6[u];
        case 12:
            return phases_12[u];
        case 18:
            return phases_18[u];
        default:
            return phases_24[u];
    }
}

/// phi(n) of tables 5.2.2.2-1 to -4: -3, -1, 1 or 3. length is 6, 12, 18 or 24.
int low_papr_phase(std::size_t length, int u, std::size_t n) {
    return 2 * (row(length, u)[n] - '0') - 3;
}

/// Clause 5.2.2.2.
void short_sequence(int u, std::span<cf32> sequence) {
    if (sequence.size() == 30) {
        for (int n = 0; n < 30; ++n)
            sequence[static_cast<std::size_t>(n)] =
                unit(-std::numbers::pi * ((u + 1) * (n + 1) * (n + 2) % 62) / 31.0);
        return;
    }
    for (std::size_t n = 0; n < sequence.size(); ++n)
        sequence[n] = unit(std::numbers::pi / 4.0 * low_papr_phase(sequence.size(), u, n));
}

bool is_short_length(std::size_t length) {
    return length >= 6 && length <= 30 && length % 6 == 0;
}

}  // namespace

void low_papr_sequence(int u, int v, std::span<cf32> sequence) {
    const std::size_t length = sequence.size();
    if (u < 0 || u >= groups)
        throw ArgumentError("group u " + std::to_string(u) + " of a low-PAPR sequence: expected 0 to 29");
    if (!is_short_length(length) && (length < shortest_zadoff_chu || length % 6 != 0))
        throw ArgumentError("low-PAPR sequence of length " + std::to_string(length) +
                            ": expected a multiple of 6");
    if (v != 0 && (v != 1 || length < shortest_of_two))
        throw ArgumentError("number v " + std::to_string(v) + " of a low-PAPR sequence: expected 0" +
                            (length < shortest_of_two ? " for fewer than 72 elements" : " or 1"));
    if (length >= shortest_zadoff_chu)
        zadoff_chu(u, v, sequence);
    else
        short_sequence(u, sequence);
}

namespace detail {

void transform_precoded_pilots(const DmrsConfig& dmrs, int slot, int symbol, std::span<cf32> pilots) {
    const auto n_id = static_cast<int>(dmrs.scrambling_id);
    const auto count = static_cast<std::uint64_t>(symbols_per_slot * slot + symbol);
    std::array<std::uint32_t, 1> word{};
    int hop = 0;
    int v = 0;
    if (dmrs.hopping == SequenceHopping::group) {
        gold_sequence(static_cast<std::uint32_t>(n_id / groups), 8 * count, word);
        hop = static_cast<int>(word[0] & 0xFFU) % groups;
    } else if (dmrs.hopping == SequenceHopping::sequence && pilots.size() >= shortest_of_two) {
        gold_sequence(static_cast<std::uint32_t>(n_id), count, word);
        v = static_cast<int>(word[0] & 1U);
    }
    low_papr_sequence((hop + n_id) % groups, v, pilots);
}

}  // namespace detail
}  // namespace phy

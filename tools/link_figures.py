"""Tables of what link_sim has measured, for tools/figures.py."""

import collections
import json

BITS = {"qpsk": 2, "16qam": 4, "64qam": 6, "256qam": 8, "1024qam": 10}
# Where a code of some rate works: so much of a symbol's bits is told.
USEFUL = (0.05, 0.99)
THIRDS = (("below 1/3", 0, 1 / 3), ("1/3 to 2/3", 1 / 3, 2 / 3), ("above 2/3", 2 / 3, 1))


def read(results, name):
    return json.loads((results / name).read_text())


def rows(head, lines):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + " --- |" * len(head),
                      *("| " + " | ".join(line) + " |" for line in lines)])


def scale_table(results):
    """The most that int8 loses against float32, by modulation, by how much a symbol tells, and by scale."""
    told = collections.defaultdict(dict)
    for point in read(results, "link_sim_int8.json")["points"]:
        told[point["modulation"], point["snr_db"]][point["llr_scale"]] = point["mutual_information_bits"]
    scales = sorted({scale for each in told.values() for scale in each if scale is not None})
    lines = []
    for modulation, bits in BITS.items():
        for name, low, high in THIRDS:
            low, high = max(low, USEFUL[0]), min(high, USEFUL[1])
            here = {snr: each for (of, snr), each in told.items() if of == modulation and low <= each[None] / bits < high}
            losses = (max(each[None] - each[scale] for each in here.values()) for scale in scales)
            range_of = f"{min(here):g}" + (f" to {max(here):g}" if len(here) > 1 else "")
            lines.append([f"{modulation}, {name}", range_of, *(f"{loss:.3f}" for loss in losses)])
    return rows(["bits per symbol that int8 loses at most", "SNR, dB", *(f"scale {scale:g}" for scale in scales)], lines)


def method_table(results):
    """How much more log-MAP tells than max-log."""
    told = collections.defaultdict(dict)
    for point in read(results, "link_sim_awgn.json")["points"]:
        told[point["modulation"], point["snr_db"]][point["method"]] = point["mutual_information_bits"]
    snrs = [snr for snr in sorted({snr for _, snr in told}) if snr <= 27]
    lines = [[modulation, *(f"{told[modulation, snr]['maxlog']:.2f} + "
                            f"{max(0, told[modulation, snr]['logmap'] - told[modulation, snr]['maxlog']):.3f}"
                            for snr in snrs)] for modulation in BITS]
    return rows(["bits per symbol, max-log + what log-MAP adds", *(f"{snr:g} dB" for snr in snrs)], lines)


def theory_table(results):
    """Bit error rates beside theory, where a thousand errors were counted."""
    lines = []
    for point in read(results, "link_sim_awgn.json")["points"]:
        if point["method"] == "maxlog" and point["bit_errors"] >= 1000 and point["theory"] < 0.02:
            lines.append([point["modulation"], f"{point['snr_db']:g}", f"{point['bits']}", f"{point['bit_error_rate']:.3e}",
                          f"{point['theory']:.3e}", f"{point['bit_error_rate'] / point['theory']:.3f}"])
    return rows(["max-log, float32", "SNR, dB", "bits", "bit error rate", "theory", "ratio"], lines)


def snr_of(curve, told):
    """Where a curve of (SNR, bits) tells so much, by straight lines."""
    for (left, low), (right, high) in zip(curve, curve[1:]):
        if low <= told <= high:
            return left + (right - left) * (told - low) / (high - low)
    return None


def fading_table(results):
    """What estimates cost: bits per symbol with everything known, and decibels that the rest is worse."""
    lines = []
    for path in sorted(results.glob("link_sim_tdl_*.json")):
        report = read(results, path.name)
        context = report["context"]
        curves = collections.defaultdict(list)
        for point in report["points"]:
            curves[point["known"]].append((point["snr_db"], point["mutual_information_bits"]))
        name = f"{context['channel']}, {context['antennas']} x {context['layers']}"
        known = curves["channel,noise"]
        for index, (snr, bits) in enumerate(known):
            losses = []
            for which in ("channel", "noise", "none"):
                equal = snr_of(known, curves[which][index][1])
                losses.append(f"{curves[which][index][1]:.2f}" + (f", {abs(snr - equal):.1f} dB" if equal is not None else ""))
            lines.append([name, f"{snr:g}", f"{bits:.2f}", *losses])
    return rows(["256QAM, bits per symbol", "SNR, dB", "all known", "channel known", "noise known", "nothing known"], lines)


def link_figures(results):
    return {"link scale": scale_table(results), "link method": method_table(results), "link theory": theory_table(results),
            "link fading": fading_table(results)}

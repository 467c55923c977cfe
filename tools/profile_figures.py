"""Tables of what profile_bench has measured, for tools/figures.py."""

import json

from link_figures import rows

SHARES = (("median", "median"), ("95 %", "percentile_95"), ("worst", "worst"))


def number(value):
    return "" if value is None else f"{value:.2f}"


def lines_of(groups, name, figures):
    """A line for each figure of a group, a column for each SNR."""
    lines = []
    for label, figure, share in figures:
        cells = [number(group[figure][share]) for group in groups]
        lines.append([name, label, *cells])
    return lines


EVM = ([(f"above genie, {label}", "evm_over_genie_db", share) for label, share in SHARES] +
       [("above flat, worst", "evm_over_flat_db", "worst")])
ERROR = [(f"above genie, {label}", "channel_error_over_genie_db", share) for label, share in SHARES]
INFORMATION = [(f"below genie, {label}", "information_below_genie", share) for label, share in SHARES]
LEVEL = ([("phy, median", "evm_db", "median"), ("genie, median", "genie_evm_db", "median")] +
         [(f"flat above genie, {label}", "flat_evm_over_genie_db", share) for label, share in SHARES])


def profile_table(run, head, by, figures):
    groups = [group for group in run["groups"] if group["by"] == by]
    snrs = sorted({group["snr_db"] for group in groups})
    lines = []
    for name in dict.fromkeys(group["group"] for group in groups):
        of_name = [next(each for each in groups if (each["group"], each["snr_db"]) == (name, snr)) for snr in snrs]
        channels, refused = of_name[0]["channels"], of_name[0]["refused"]
        count = f"{channels} channels" + (f", {refused} refused" if refused else "")
        lines += lines_of(of_name, f"{name}: {count}", figures)
    return rows([f"{head}, by {by}", "", *(f"{snr:g} dB" for snr in snrs)], lines)


def profile_figures(results):
    wide = json.loads((results / "profile_wide.json").read_text())
    narrow = json.loads((results / "profile_narrow.json").read_text())
    before = json.loads((results / "profile_narrow_before.json").read_text())
    evm = "EVM, dB"
    return {
        "profile layers": profile_table(wide, evm, "layers", EVM),
        "profile antennas": profile_table(wide, evm, "layers x antennas", EVM),
        "profile kinds": profile_table(wide, evm, "profile", EVM),
        "profile dmrs": profile_table(wide, evm, "DM-RS", EVM),
        "profile error": profile_table(wide, "error of coefficients, dB", "layers", ERROR),
        "profile information": profile_table(wide, "information, bits per symbol", "layers", INFORMATION),
        "profile level": profile_table(wide, evm, "layers", LEVEL),
        "profile blocks": profile_table(wide, evm, "resource blocks", EVM),
        "profile narrow": profile_table(narrow, evm, "resource blocks", EVM),
        "profile narrow before": profile_table(before, evm, "resource blocks", EVM),
    }

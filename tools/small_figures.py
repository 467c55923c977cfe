#!/usr/bin/env python3
"""Finds the SNR at which a tenth of the transport blocks of small grants fails, beside the tree before its likely
profiles: runs two link_sim and writes data/results/small_grants.json.

    tools/small_figures.py BEFORE [LINK_SIM]    default: build/release/apps/link_sim

tools/figures.py makes the table.
"""

import concurrent.futures
import json
import pathlib
import sys

from block_error_figures import context_of, counted, simulated_points, write_runs
from link_figures import rows
from moving_figures import first_snr_db
from phase_figures import point_of, shifted

# By MCS index: a name, and where to look, in dB, with two antennas per layer.
CODES = {4: ("QPSK, R = 0.30", "-6:2:12"), 16: ("16QAM, R = 0.64", "4:2:24")}
SPEEDS = {3: 10, 120: 389}  # km/h, and Hz at 3.5 GHz
# Layers, antennas, and how much more SNR than one layer on two antennas needs.
LINKS = ((1, 1, 7), (1, 2, 0), (2, 4, 0))
CHANNELS = ("tdl-a:100", "taps:0:0,350:-3,800:-6")
BLOCKS = (1, 2, 4, 12)
FIXED = {"max-blocks": 1000, "block-errors": 250, "min-slots": 1, "threads": 1, "time-interpolation": "wiener"}


def cases():
    """Resource blocks, channel, link, speed, DM-RS symbols and MCS index."""
    for blocks in BLOCKS:
        for link in LINKS:
            for channel in CHANNELS:
                for speed in SPEEDS:
                    for mcs in CODES:
                        yield blocks, channel, link, speed, "2,11", mcs
        for channel in CHANNELS:
            yield blocks, channel, LINKS[0], 3, "2", 4


def points_of(program, options, known):
    return [counted(point) for point in simulated_points(program, options | {"known": known})]


def measure(before, program, blocks, channel, link, speed, dmrs, mcs):
    layers, antennas, shift = link
    name, snrs = CODES[mcs]
    options = FIXED | {"channel": channel, "layers": layers, "antennas": antennas, "mcs": mcs, "dmrs-symbols": dmrs,
                       "resource-blocks": blocks, "doppler": SPEEDS[speed], "snr-db": shifted(snrs, shift)}
    return {"resource_blocks": blocks, "channel": channel, "layers": layers, "antennas": antennas, "dmrs_symbols": dmrs,
            "code": name, "km_per_h": speed, "doppler_hz": SPEEDS[speed],
            "receivers": {"perfect": points_of(program, options, "channel,noise"),
                          "before": points_of(before, options, "none"), "now": points_of(program, options, "none")}}


def small_figures(results):
    """Losses against perfect knowledge, in dB: the mean over codes and speeds, and the worst."""
    losses = {}
    for run in json.loads((results / "small_grants.json").read_text())["runs"]:
        snrs = {name: first_snr_db([point_of(*point) for point in points]) for name, points in run["receivers"].items()}
        key = (f"{run['resource_blocks']}", f"{run['antennas']} x {run['layers']}", run["channel"], run["dmrs_symbols"])
        losses.setdefault(key, []).append(snrs)
    lines = []
    for key, runs in losses.items():
        cells = []
        for name in ("before", "now"):
            known = [snrs[name] - snrs["perfect"] for snrs in runs
                     if snrs["perfect"] is not None and snrs[name] is not None]
            never = sum(snrs["perfect"] is not None and snrs[name] is None for snrs in runs)
            cells.append(f"{sum(known) / len(known):.2f}" if known else "")
            cells.append("never" if never else f"{max(known):.2f}" if known else "")
        lines.append([*key, *cells])
    heads = ["resource blocks", "antennas x layers", "channel", "DM-RS", "before: mean", "worst", "now: mean", "worst"]
    return {"small grants": rows(heads, lines)}


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parent.parent
    before = pathlib.Path(sys.argv[1]).resolve()
    link_sim = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else here / "build/release/apps/link_sim"
    with concurrent.futures.ThreadPoolExecutor() as pool:
        runs = list(pool.map(lambda case: measure(before, link_sim, *case), cases()))
    write_runs("small_grants.json", context_of(here) | {"resource_blocks": BLOCKS} | FIXED, runs)

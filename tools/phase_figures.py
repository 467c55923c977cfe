#!/usr/bin/env python3
"""Finds the SNR at which a tenth of the transport blocks behind a noisy oscillator fails, with and without
phase tracking: runs link_sim and writes data/results/phase_tracking.json.

    tools/phase_figures.py [LINK_SIM]    default: build/release/apps/link_sim

tools/figures.py makes the table.
"""

import concurrent.futures
import json
import pathlib
import sys

from block_error_figures import context_of, counted, simulated_points, write_runs
from link_figures import rows
from moving_figures import first_snr_db

# By MCS table and index: a name, and where to look, in dB.
CODES = {("qam64", 9): ("QPSK, R = 0.66", "-1:1:16"), ("qam64", 16): ("16QAM, R = 0.64", "4:1:24"),
         ("qam64", 22): ("64QAM, R = 0.65", "9:1:32"), ("qam64", 27): ("64QAM, R = 0.89", "14:1:40"),
         ("qam256", 27): ("256QAM, R = 0.93", "22:1:48")}
LEVELS = (None, -90, -80, -70)  # dBc/Hz
SPEEDS = {3: 10, 60: 194, 120: 389}  # km/h, and Hz at 3.5 GHz
# Layers, antennas, and how much more SNR than one layer on two antennas needs.
LINKS = ((1, 2, 0), (2, 2, 6), (2, 4, 0), (4, 4, 7))
FIXED = {"resource-blocks": 25, "max-blocks": 400, "block-errors": 400, "min-slots": 1, "threads": 1, "known": "none",
         "time-interpolation": "wiener", "interference-rejection": "on", "phase-tracking": "off,on"}


def cases():
    """Channel, link, speed, DM-RS symbols, code and level. Users that move have two DM-RS symbols."""
    for channel, levels in (("tdl-a:100", LEVELS), ("tdl-c:300", LEVELS), ("taps:0:0,350:-3,800:-6", (None, -80))):
        for speed, dmrs in ((3, "2"), (3, "2,11"), (120, "2,11")):
            for code in CODES:
                for level in levels:
                    yield channel, LINKS[0], speed, dmrs, code, level
    for link in LINKS[1:]:
        for speed in (3, 60):
            for code in (("qam64", 16), ("qam64", 22)):
                for level in (None, -80):
                    yield "tdl-a:100", link, speed, "2,11", code, level


def shifted(snrs, shift):
    first, step, last = snrs.split(":")
    return f"{int(first) + shift}:{step}:{int(last) + shift}"


def measure(program, channel, link, speed, dmrs, code, level):
    layers, antennas, shift = link
    name, snrs = CODES[code]
    options = FIXED | {"channel": channel, "layers": layers, "antennas": antennas, "mcs-table": code[0], "mcs": code[1],
                       "dmrs-symbols": dmrs, "doppler": SPEEDS[speed], "snr-db": shifted(snrs, shift)}
    if level is not None:
        options["phase-noise"] = level
    receivers = {"off": [], "on": []}
    for point in simulated_points(program, options):
        receivers["on" if point["phase_tracking"] else "off"].append(counted(point))
    return {"channel": channel, "layers": layers, "antennas": antennas, "dmrs_symbols": dmrs,
            "phase_noise_dbc_per_hz": level, "code": name, "km_per_h": speed, "doppler_hz": SPEEDS[speed],
            "receivers": receivers}


def point_of(snr_db, blocks, errors):
    return {"snr_db": snr_db, "blocks": blocks, "block_errors": errors, "block_error_rate": errors / blocks}


def phase_figures(results):
    lines = {}
    for run in json.loads((results / "phase_tracking.json").read_text())["runs"]:
        snrs = [first_snr_db([point_of(*point) for point in run["receivers"][tracking]]) for tracking in ("off", "on")]
        key = (run["channel"], f"{run['antennas']} x {run['layers']}", f"{run['km_per_h']}", run["dmrs_symbols"],
               run["code"])
        lines.setdefault(key, {})[run["phase_noise_dbc_per_hz"]] = ", ".join(
            "never" if snr is None else f"{snr:.1f}" for snr in snrs)
    heads = ["none" if level is None else f"{level} dBc/Hz" for level in LEVELS]
    return {"phase tracking": rows(["channel", "antennas x layers", "km/h", "DM-RS", "code", *heads],
                                   [[*key, *(cells.get(level, "") for level in LEVELS)] for key, cells in lines.items()])}


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parent.parent
    link_sim = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else here / "build/release/apps/link_sim")
    with concurrent.futures.ThreadPoolExecutor() as pool:
        runs = list(pool.map(lambda case: measure(link_sim, *case), cases()))
    write_runs("phase_tracking.json", context_of(here) | FIXED, runs)

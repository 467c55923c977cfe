#!/usr/bin/env python3
"""Finds the SNR at which a tenth of the transport blocks of moving users with one DM-RS symbol fails: without
phase tracking, with that of a link_sim of before it measured the noise of OFDM symbols (commit 6ab719a8), and
with it. Runs both programs and writes data/results/symbol_noise.json.

    tools/noise_figures.py LINK_SIM_BEFORE [LINK_SIM]    default: build/release/apps/link_sim

tools/figures.py makes the table.
"""

import concurrent.futures
import json
import pathlib
import sys

from block_error_figures import context_of, counted, simulated_points, write_runs
from link_figures import rows
from moving_figures import first_snr_db
from phase_figures import CODES, FIXED, LINKS, SPEEDS, point_of, shifted

BEFORE = "6ab719a8"
CHANNELS = ("tdl-a:100", "tdl-c:300", "taps:0:0,350:-3,800:-6")
SENT = (("qam64", 9), ("qam64", 16))
HERE = FIXED | {"max-blocks": 200, "block-errors": 200, "dmrs-symbols": "2"}
RECEIVERS = {"off": "without tracking", "phases": "phases alone", "on": "phases and noise"}


def cases():
    """Channel, link, speed and code."""
    for speed in (60, 120):
        for channel, link in (*((channel, LINKS[0]) for channel in CHANNELS), (CHANNELS[0], LINKS[1])):
            for code in SENT:
                yield channel, link, speed, code


def points_of(program, options):
    return [counted(point) for point in simulated_points(program, options)]


def measure(before, program, channel, link, speed, code):
    layers, antennas, shift = link
    name, snrs = CODES[code]
    options = HERE | {"channel": channel, "layers": layers, "antennas": antennas, "mcs-table": code[0], "mcs": code[1],
                      "joint-detection": "on" if layers == 2 else "off", "doppler": SPEEDS[speed],
                      "snr-db": shifted(snrs, shift).replace(":1:", ":2:")}
    return {"channel": channel, "layers": layers, "antennas": antennas, "code": name, "km_per_h": speed,
            "receivers": {"off": points_of(program, options | {"phase-tracking": "off"}),
                          "phases": points_of(before, options | {"phase-tracking": "on"}),
                          "on": points_of(program, options | {"phase-tracking": "on"})}}


def noise_figures(results):
    lines = []
    for run in json.loads((results / "symbol_noise.json").read_text())["runs"]:
        snrs = [first_snr_db([point_of(*point) for point in run["receivers"][name]]) for name in RECEIVERS]
        lines.append([run["channel"], f"{run['antennas']} x {run['layers']}", str(run["km_per_h"]), run["code"],
                      *("never" if snr is None else f"{snr:.1f}" for snr in snrs)])
    return {"symbol noise": rows(["channel", "antennas x layers", "km/h", "code", *RECEIVERS.values()], lines)}


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parent.parent
    link_sim = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else here / "build/release/apps/link_sim")
    with concurrent.futures.ThreadPoolExecutor() as pool:
        runs = list(pool.map(lambda case: measure(sys.argv[1], link_sim, *case), cases()))
    write_runs("symbol_noise.json", context_of(here) | HERE | {"before_commit": BEFORE}, runs)

#!/usr/bin/env python3
"""Finds the SNR at which a tenth of the transport blocks behind a noisy oscillator fails, with and without
PT-RS, at 120 kHz: runs link_sim and writes data/results/ptrs.json.

    tools/ptrs_figures.py [LINK_SIM]    default: build/release/apps/link_sim

tools/figures.py makes the table.
"""

import concurrent.futures
import json
import pathlib
import sys

from block_error_figures import context_of, counted, simulated_points, write_runs
from link_figures import rows
from moving_figures import first_snr_db
from phase_figures import CODES, FIXED, point_of

LEVELS = (-70, -65, -60)  # dBc/Hz
PTRS = (None, "4,4", "2,2", "1,4", "1,2")
SENT = [code for code in CODES if code != ("qam64", 27)]
HERE = FIXED | {"channel": "tdl-a:30", "antennas": 2, "resource-blocks": 32, "subcarrier-spacing": 120000,
                "dmrs-symbols": "2", "phase-tracking": "on"}


def measure(program, code, level, ptrs):
    name, snrs = CODES[code]
    options = HERE | {"mcs-table": code[0], "mcs": code[1], "snr-db": snrs, "phase-noise": level}
    if ptrs:
        options["ptrs"] = ptrs
    return {"code": name, "phase_noise_dbc_per_hz": level, "ptrs": ptrs,
            "points": [counted(point) for point in simulated_points(program, options)]}


def ptrs_figures(results):
    lines = {}
    for run in json.loads((results / "ptrs.json").read_text())["runs"]:
        snr = first_snr_db([point_of(*point) for point in run["points"]])
        lines.setdefault((run["code"], run["phase_noise_dbc_per_hz"]), {})[run["ptrs"]] = \
            "never" if snr is None else f"{snr:.1f}"
    heads = ["none" if ptrs is None else "L = {}, K = {}".format(*ptrs.split(",")) for ptrs in PTRS]
    return {"ptrs": rows(["code", "dBc/Hz", *heads],
                         [[code, str(level), *(cells[ptrs] for ptrs in PTRS)] for (code, level), cells in lines.items()])}


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parent.parent
    link_sim = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else here / "build/release/apps/link_sim")
    cases = [(code, level, ptrs) for code in SENT for level in LEVELS for ptrs in PTRS]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        runs = list(pool.map(lambda case: measure(link_sim, *case), cases))
    write_runs("ptrs.json", context_of(here) | HERE, runs)

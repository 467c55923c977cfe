#!/usr/bin/env python3
"""Finds the SNR at which a tenth of the transport blocks of two layers fails, by how often those that fail are
detected and decoded again, and how long that takes: runs link_sim and writes data/results/iterations.json.

    tools/iteration_figures.py [LINK_SIM]    default: build/release/apps/link_sim

tools/figures.py makes the table.
"""

import concurrent.futures
import json
import pathlib
import statistics
import subprocess
import sys

from block_error_figures import context_of, counted, simulated_points, write_runs
from joint_figures import FIXED
from link_figures import rows
from moving_figures import CHANNELS, first_snr_db
from phase_figures import point_of

ITERATIONS = (0, 1, 2, 3)
# By MCS index of table 5.1.3.1-1: its name, and where to look with 2 and with 4 antennas, in dB.
CODES = {9: ("QPSK, R = 0.66", "4:1:14", "-1:1:8"), 16: ("16QAM, R = 0.64", "11:1:20", "5:1:13"),
         22: ("64QAM, R = 0.65", "16:1:26", "10:1:18")}
# Where all blocks fail.
SPEEDS = {("qam64", 9, -4): "QPSK, R = 0.66", ("qam64", 16, 3): "16QAM, R = 0.64", ("qam64", 22, 6): "64QAM, R = 0.65",
          ("qam256", 22, 10): "256QAM, R = 0.74", ("qam1024", 23, 12): "1024QAM, R = 0.79"}
HERE = FIXED | {"joint-detection": "on", "phase-tracking": "on", "iterations": ",".join(map(str, ITERATIONS))}


def measure(program, channel, antennas, code):
    name, *snrs = CODES[code]
    points = simulated_points(program, HERE | {"channel": channel, "antennas": antennas, "mcs": code, "known": "none",
                                               "snr-db": snrs[0 if antennas == 2 else 1]})
    receivers = {}
    for point in points:
        receivers.setdefault(str(point["iterations"]), []).append(
            [*counted(point), round(point["iterations_per_code_block"], 2)])
    return {"channel": channel, "antennas": antennas, "code": name, "mcs": code, "receivers": receivers}


def seconds(program, options):
    """Of a simulation."""
    command = [program, "--json", "--quiet", *(word for name, value in options.items() for word in (f"--{name}", str(value)))]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["context"]["seconds"]


def speed(program, code):
    """Time that iterations of blocks that all fail take: table, index and an SNR at which they do."""
    table, mcs, snr_db = code
    options = HERE | {"channel": "tdl-a:100", "antennas": 2, "mcs-table": table, "mcs": mcs, "snr-db": snr_db,
                      "resource-blocks": 273, "max-blocks": 24, "block-errors": 24, "known": "none"}
    times = [[seconds(program, options | {"iterations": count}) for count in (0, ITERATIONS[-1])] for _ in range(5)]
    return {"mcs_table": table, "mcs": mcs, "snr_db": snr_db,
            "ms": statistics.median(1e3 * (more - none) / 24 / ITERATIONS[-1] for none, more in times)}


def iteration_figures(results):
    lines = []
    report = json.loads((results / "iterations.json").read_text())
    for run in report["runs"]:
        snrs = [first_snr_db([point_of(*point[:3]) for point in run["receivers"][str(i)]]) for i in ITERATIONS]
        lines.append([run["channel"], str(run["antennas"]), run["code"],
                      *("never" if snr is None else f"{snr:.1f}" for snr in snrs)])
    speeds = [[SPEEDS[run["mcs_table"], run["mcs"], run["snr_db"]], f"{run['ms']:.0f}"]
              for run in report["context"]["speeds"]]
    return {"iterations": rows(["channel", "antennas", "code", *map(str, ITERATIONS)], lines),
            "time of iterations": rows(["code", "ms"], speeds)}


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parent.parent
    link_sim = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else here / "build/release/apps/link_sim")
    cases = [(link_sim, channel, antennas, code) for channel in CHANNELS for antennas in (2, 4) for code in CODES]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        runs = list(pool.map(lambda case: measure(*case), cases))
    speeds = [speed(link_sim, code) for code in SPEEDS]
    write_runs("iterations.json", context_of(here) | HERE | {"speeds": speeds}, runs)

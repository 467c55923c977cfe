#!/usr/bin/env python3
"""Finds the SNR at which a tenth of the transport blocks fails: runs link_sim and writes
data/results/block_error_rates.json.

    tools/block_error_figures.py [LINK_SIM]    default: build/release/apps/link_sim

tools/figures.py makes the table.
"""

import datetime
import json
import math
import pathlib
import re
import subprocess
import sys

from link_figures import rows

TARGET = 0.1
# Name, antennas, and the step of the SNR in dB.
CHANNELS = (("awgn", 1, 0.25), ("tdl-a:100", 2, 1), ("tdl-c:300", 2, 1))
MCS = (("qam64", 0), ("qam64", 4), ("qam64", 10), ("qam64", 16), ("qam64", 22), ("qam64", 28), ("qam256", 20), ("qam256", 27))
TABLES = {"qam64": "5.1.3.1-1", "qam256": "5.1.3.1-2"}
RESOURCE_BLOCKS = 25
DATA_ELEMENTS = 144  # of a resource block
LOWEST_SNR_DB = -10
COARSE_STEP_DB = 2
COARSE_BLOCKS, BLOCKS, BLOCK_ERRORS = 30, 1000, 100


def simulated_points(program, options):
    """The points of a report of link_sim."""
    command = [program, "--json", "--quiet", *(word for name, value in options.items() for word in (f"--{name}", str(value)))]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["points"]


def counted(point):
    """SNR in dB, blocks and wrong blocks, as results of many runs have them."""
    return [point["snr_db"], point["blocks"], point["block_errors"]]


def write_runs(name, context, runs):
    """Writes data/results/NAME, a line per run."""
    lines = ",\n".join(json.dumps(run, separators=(",", ":")) for run in runs)
    results = pathlib.Path(__file__).resolve().parent.parent / "data/results"
    (results / name).write_text(f'{{"context": {json.dumps(context)},\n"runs": [\n{lines}\n]}}\n')


def measure(program, case, snr_db, blocks):
    channel, antennas, table, mcs = case
    options = {"channel": channel, "antennas": antennas, "mcs-table": table, "mcs": mcs, "snr-db": snr_db,
               "resource-blocks": RESOURCE_BLOCKS, "max-blocks": blocks, "block-errors": BLOCK_ERRORS, "min-slots": 1,
               "threads": 1}
    return simulated_points(program, options)[0]


def walk(program, case, snr_db, step_db, blocks):
    """Neighbours with a block error rate of TARGET between them."""
    points = [measure(program, case, snr_db, blocks)]
    up = points[0]["block_error_rate"] >= TARGET
    while (points[-1]["block_error_rate"] >= TARGET) == up:
        snr_db += step_db if up else -step_db
        points.append(measure(program, case, snr_db, blocks))
    return points[-2:] if up else points[:-3:-1]


def target_snr_db(low, high):
    """By a straight line in the logarithm of the rate. No error counts as half of one."""
    upper, lower = (math.log(max(point["block_errors"], 0.5) / point["blocks"]) for point in (low, high))
    return low["snr_db"] + (high["snr_db"] - low["snr_db"]) * (upper - math.log(TARGET)) / (upper - lower)


def run(program, channel, antennas, step_db, table, mcs):
    case = channel, antennas, table, mcs
    coarse = walk(program, case, LOWEST_SNR_DB, COARSE_STEP_DB, COARSE_BLOCKS)
    points = walk(program, case, (coarse[0]["snr_db"] + coarse[1]["snr_db"]) / 2, step_db, BLOCKS)
    return {"channel": channel, "antennas": antennas, "mcs_table": table, "mcs": mcs, "snr_db": target_snr_db(*points),
            "points": points}


def context_of(root):
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, check=True, capture_output=True, text=True).stdout.strip()
    processor = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())[1]
    return {"date": datetime.date.today().isoformat(), "processor": processor, "threads": 1, "git_commit": commit,
            "resource_blocks": RESOURCE_BLOCKS, "block_error_rate": TARGET}


def measure_all(program):
    context = context_of(pathlib.Path(__file__).resolve().parent.parent)
    return {"context": context, "runs": [run(program, *channel, *mcs) for channel in CHANNELS for mcs in MCS]}


def shannon_snr_db(point):
    """Of the bits that each element carries."""
    return 10 * math.log10(2 ** (point["transport_block_bits"] / (RESOURCE_BLOCKS * DATA_ELEMENTS)) - 1)


def block_error_figures(results):
    runs = {(run["channel"], run["mcs_table"], run["mcs"]): run
            for run in json.loads((results / "block_error_rates.json").read_text())["runs"]}
    lines = []
    for table, mcs in MCS:
        snrs = [runs[channel, table, mcs]["snr_db"] for channel, _, _ in CHANNELS]
        point = runs[CHANNELS[0][0], table, mcs]["points"][0]
        lines.append([f"{TABLES[table]}, {mcs}", point["modulation"], f"{1024 * point['code_rate']:g} / 1024",
                      f"{point['transport_block_bits']}", f"{snrs[0]:.1f}", f"{snrs[0] - shannon_snr_db(point):.1f}",
                      *(f"{snr:.1f}" for snr in snrs[1:])])
    head = ["MCS table, index", "modulation", "R", "bits", "awgn, dB", "above Shannon, dB",
            *(f"{channel}, {antennas} x 1, dB" for channel, antennas, _ in CHANNELS[1:])]
    return {"block errors": rows(head, lines)}


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parent.parent
    link_sim = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else here / "build/release/apps/link_sim")
    (here / "data/results/block_error_rates.json").write_text(json.dumps(measure_all(link_sim), indent=1) + "\n")

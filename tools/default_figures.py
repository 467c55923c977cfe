#!/usr/bin/env python3
"""Finds the SNR at which a tenth of the transport blocks fails for the defaults of the library and for a
plain receiver, with moving users, another cell and unequal antennas: runs link_sim and writes
data/results/default_receivers.json.

    tools/default_figures.py [LINK_SIM]    default: build/release/apps/link_sim

tools/figures.py makes the tables.
"""

import concurrent.futures
import json
import pathlib
import sys

from block_error_figures import TARGET, context_of, counted, simulated_points, write_runs
from link_figures import rows
from moving_figures import CHANNELS, LINKS, SPEEDS, first_snr_db
from phase_figures import point_of

# Indices of table 5.1.3.1-1.
CODES = {4: "QPSK, R = 0.30", 13: "16QAM, R = 0.48", 22: "64QAM, R = 0.65"}
SIGNALS = {"alone": {}, "another cell": {"interference": 0}, "unequal gains": {"antenna-gains": (0, -6, 0, -6)}}
FIXED = {"resource-blocks": 25, "block-errors": 1000000, "min-slots": 1, "threads": 1}
LOWEST_SNR_DB, HIGHEST_SNR_DB, STEP_DB, COARSE_STEP_DB, COARSE_BLOCKS, BLOCKS = -8, 60, 1, 3, 60, 1500
FARTHEST_DB = 10  # from the receiver that knows: what loses more is "never"
DEFAULTS = {"time-interpolation": "wiener", "interference-rejection": "on", "phase-tracking": "on"}
RECEIVERS = {"known": DEFAULTS | {"known": "channel,noise"}, "plain": {"known": "none", "time-interpolation": "linear"},
             "default": DEFAULTS | {"known": "none"}}


def cases():
    """Channel, layers, antennas, speed, code and signal. With another cell there must be an antenna more than layers."""
    for channel in CHANNELS:
        for layers, antennas, _ in LINKS:
            for signal in SIGNALS if layers < antennas else ("alone", "unequal gains"):
                for speed in SPEEDS if signal == "alone" else SPEEDS[:1]:
                    for code in CODES:
                        yield channel, layers, antennas, speed, code, signal


def point(program, case, receiver, snr_db, blocks):
    channel, layers, antennas, speed, code, signal = case
    options = FIXED | RECEIVERS[receiver] | {"channel": channel, "layers": layers, "antennas": antennas, "mcs": code,
                                             "doppler": speed[1], "max-blocks": blocks, "snr-db": snr_db}
    if receiver != "plain" and layers == 2:
        options["joint-detection"] = "on"
    for name, value in SIGNALS[signal].items():
        options[name] = ",".join(str(gain) for gain in value[:antennas]) if isinstance(value, tuple) else value
    return counted(simulated_points(program, options)[0])


def target(points):
    return first_snr_db([point_of(*its) for its in points])


def holds(its):
    return its[2] < TARGET * its[1]


def look(program, case, receiver, first_db, last_db):
    """The first SNR at which less than a tenth of few blocks fails; none up to the last."""
    for snr_db in range(first_db, last_db + 1, COARSE_STEP_DB):
        if holds(point(program, case, receiver, snr_db, COARSE_BLOCKS)):
            return snr_db
    return None


def walk(program, case, receiver, snr_db, last_db):
    """Points around the target; up to the last."""
    points = [point(program, case, receiver, snr_db, BLOCKS)]
    step_db = -STEP_DB if holds(points[0]) else STEP_DB
    while target(points) is None and snr_db < last_db:
        snr_db += step_db
        points = sorted([*points, point(program, case, receiver, snr_db, BLOCKS)])
    return points


def measure(program, case):
    """The same slots for all receivers at an SNR."""
    channel, layers, antennas, speed, code, signal = case
    known = look(program, case, "known", LOWEST_SNR_DB, HIGHEST_SNR_DB)
    receivers = {receiver: [] for receiver in RECEIVERS}
    for receiver in RECEIVERS if known is not None else ():
        near = look(program, case, receiver, known, known + FARTHEST_DB)
        if near is not None:
            receivers[receiver] = walk(program, case, receiver, near - 1, known + FARTHEST_DB)
    return {"channel": channel, "layers": layers, "antennas": antennas, "km_per_h": speed[0], "doppler_hz": speed[1],
            "code": CODES[code], "signal": signal, "receivers": receivers}


def cell(run):
    snrs = [target(run["receivers"][receiver]) for receiver in RECEIVERS]
    return ", ".join("never" if snr is None else f"{snr:.1f}" for snr in snrs)


def default_figures(results):
    lines = {}
    for run in json.loads((results / "default_receivers.json").read_text())["runs"]:
        received = f"{run['km_per_h']} km/h" if run["signal"] == "alone" else f"{run['km_per_h']} km/h, {run['signal']}"
        key = run["channel"], f"{run['antennas']} x {run['layers']}", received
        lines.setdefault(key, {})[run["code"]] = cell(run)
    return {"default receivers": rows(["channel", "antennas x layers", "signal", *(f"{code}, dB" for code in CODES.values())],
                                      [[*key, *(cells[code] for code in CODES.values())]
                                       for key, cells in lines.items()])}


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parent.parent
    link_sim = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else here / "build/release/apps/link_sim")
    with concurrent.futures.ThreadPoolExecutor() as pool:
        runs = list(pool.map(lambda case: measure(link_sim, case), cases()))
    write_runs("default_receivers.json", context_of(here) | FIXED | {"blocks": BLOCKS}, runs)

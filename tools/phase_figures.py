#!/usr/bin/env python3
"""Finds the SNR at which a tenth of the transport blocks behind a noisy oscillator fails, with and without
phase tracking: runs link_sim and writes data/results/phase_tracking.json.

    tools/phase_figures.py [LINK_SIM]    default: build/release/apps/link_sim

tools/figures.py makes the table.
"""

import concurrent.futures
import json
import pathlib
import subprocess
import sys

from block_error_figures import context_of
from link_figures import rows
from moving_figures import first_snr_db

# By MCS table and index: a name, and where to look, in dB.
CODES = {("qam64", 9): ("QPSK, R = 0.66", "-1:1:16"), ("qam64", 16): ("16QAM, R = 0.64", "4:1:24"),
         ("qam64", 22): ("64QAM, R = 0.65", "9:1:32"), ("qam64", 27): ("64QAM, R = 0.89", "14:1:40"),
         ("qam256", 27): ("256QAM, R = 0.93", "22:1:48")}
CHANNELS = ("tdl-a:100", "tdl-c:300")
LEVELS = (None, -90, -80, -70)  # dBc/Hz
DMRS = ("2", "2,11")
# Speeds in km/h, as Hz at 3.5 GHz; those of a slot with one DM-RS, which moving users do not have, are 3 km/h.
SPEEDS = {"2": ((3, 10),), "2,11": ((3, 10), (120, 389))}
FIXED = {"antennas": 2, "resource-blocks": 25, "max-blocks": 400, "block-errors": 400, "min-slots": 1, "threads": 1,
         "known": "none", "time-interpolation": "wiener", "interference-rejection": "on", "phase-tracking": "off,on"}


def measure(program, channel, level, dmrs, code, speed):
    name, snrs = CODES[code]
    options = FIXED | {"channel": channel, "mcs-table": code[0], "mcs": code[1], "dmrs-symbols": dmrs,
                       "doppler": speed[1], "snr-db": snrs} | ({} if level is None else {"phase-noise": level})
    command = [program, "--json", "--quiet",
               *(word for key, value in options.items() for word in (f"--{key}", str(value)))]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    receivers = {}
    for point in report["points"]:
        receivers.setdefault("on" if point["phase_tracking"] else "off", []).append(
            {key: point[key] for key in ("snr_db", "blocks", "block_errors", "block_error_rate")})
    return {"channel": channel, "dmrs_symbols": dmrs, "phase_noise_dbc_per_hz": level, "code": name,
            "km_per_h": speed[0], "doppler_hz": speed[1], "receivers": receivers}


def phase_figures(results):
    lines = {}
    for run in json.loads((results / "phase_tracking.json").read_text())["runs"]:
        snrs = [first_snr_db(run["receivers"][tracking]) for tracking in ("off", "on")]
        key = run["channel"], f"{run['km_per_h']}", run["dmrs_symbols"], run["code"]
        lines.setdefault(key, {})[run["phase_noise_dbc_per_hz"]] = ", ".join(
            "never" if snr is None else f"{snr:.1f}" for snr in snrs)
    heads = ["none" if level is None else f"{level} dBc/Hz" for level in LEVELS]
    return {"phase tracking": rows(["channel", "km/h", "DM-RS", "code", *heads],
                                   [[*key, *(cells[level] for level in LEVELS)] for key, cells in lines.items()])}


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parent.parent
    link_sim = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else here / "build/release/apps/link_sim")
    cases = [(link_sim, channel, level, dmrs, code, speed) for channel in CHANNELS for dmrs in DMRS
             for speed in SPEEDS[dmrs] for code in CODES for level in LEVELS]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        runs = list(pool.map(lambda case: measure(*case), cases))
    report = {"context": context_of(here) | FIXED, "runs": runs}
    (here / "data/results/phase_tracking.json").write_text(json.dumps(report, indent=1) + "\n")

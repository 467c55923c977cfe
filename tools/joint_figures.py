#!/usr/bin/env python3
"""Finds the SNR at which a tenth of the transport blocks of two layers fails, with equalised symbols and with
joint detection: runs link_sim and writes data/results/joint_detection.json.

    tools/joint_figures.py [LINK_SIM]    default: build/release/apps/link_sim

tools/figures.py makes the table.
"""

import concurrent.futures
import json
import pathlib
import subprocess
import sys

from block_error_figures import context_of
from link_figures import rows
from moving_figures import CHANNELS, first_snr_db

# By MCS index of table 5.1.3.1-1: its name, and where to look with 2 and with 4 antennas, in dB.
CODES = {0: ("QPSK, R = 0.12", "-6:1:5", "-10:1:0"), 9: ("QPSK, R = 0.66", "4:1.5:22", "-1:1:11"),
         10: ("16QAM, R = 0.33", "4:1.5:22", "-1:1:12"), 16: ("16QAM, R = 0.64", "10:1.5:31", "4:1:18"),
         17: ("64QAM, R = 0.43", "10:1.5:31", "4:1:18"), 22: ("64QAM, R = 0.65", "14:1.5:38", "9:1:24"),
         27: ("64QAM, R = 0.89", "20:1.5:50", "14:1.5:38")}
FAST_CODES = (9, 16, 22)
SPEEDS = ((3, 10), (120, 389))  # km/h, and Hz at 3.5 GHz
FIXED = {"layers": 2, "resource-blocks": 25, "max-blocks": 400, "block-errors": 400, "min-slots": 1, "threads": 1,
         "time-interpolation": "wiener", "interference-rejection": "on", "joint-detection": "off,on"}


def receiver_of(point):
    return f"{'known' if point['known'] == 'channel,noise' else 'estimated'}, " \
           f"{'joint' if point['joint_detection'] else 'equalised'}"


def measure(program, channel, antennas, code, speed):
    name, *snrs = CODES[code]
    options = FIXED | {"channel": channel, "antennas": antennas, "mcs": code, "doppler": speed[1],
                       "snr-db": snrs[0 if antennas == 2 else 1]}
    command = [program, "--json", "--quiet", "--known", "channel,noise", "--known", "none",
               *(word for key, value in options.items() for word in (f"--{key}", str(value)))]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    receivers = {}
    for point in report["points"]:
        receivers.setdefault(receiver_of(point), []).append(
            {key: point[key] for key in ("snr_db", "blocks", "block_errors", "block_error_rate")})
    return {"channel": channel, "antennas": antennas, "code": name, "mcs": code, "km_per_h": speed[0],
            "doppler_hz": speed[1], "receivers": receivers}


def joint_figures(results):
    lines = {}
    for run in json.loads((results / "joint_detection.json").read_text())["runs"]:
        snrs = [first_snr_db(run["receivers"][f"{known}, {how}"]) for known in ("known", "estimated")
                for how in ("equalised", "joint")]
        key = run["channel"], f"{run['km_per_h']}", run["code"]
        lines.setdefault(key, []).extend("never" if snr is None else f"{snr:.1f}" for snr in snrs)
    heads = [f"{antennas} antennas, {known}" for antennas in (2, 4) for known in ("known", "estimated")]
    return {"joint detection": rows(
        ["channel", "km/h", "code", *heads],
        [[*key, *(f"{cells[i]}, {cells[i + 1]}" for i in range(0, len(cells), 2))]
         for key, cells in lines.items()])}


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parent.parent
    link_sim = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else here / "build/release/apps/link_sim")
    cases = [(link_sim, channel, antennas, code, speed) for channel in CHANNELS for speed in SPEEDS
             for code in (CODES if speed[0] == 3 else FAST_CODES) for antennas in (2, 4)]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        runs = list(pool.map(lambda case: measure(*case), cases))
    report = {"context": context_of(here) | FIXED, "runs": runs}
    (here / "data/results/joint_detection.json").write_text(json.dumps(report, indent=1) + "\n")

#!/usr/bin/env python3
"""Finds the SNR at which a tenth of the transport blocks of moving users fails: runs link_sim and writes
data/results/moving_users.json.

    tools/moving_figures.py [LINK_SIM]    default: build/release/apps/link_sim

tools/figures.py makes the table.
"""

import concurrent.futures
import json
import pathlib
import subprocess
import sys

from block_error_figures import TARGET, context_of, target_snr_db
from link_figures import rows

CHANNELS = ("tdl-a:100", "tdl-c:300", "taps:0:0,350:-3,800:-6")
# Layers, antennas, and where to look, in dB.
LINKS = ((1, 2, "8:2:26"), (2, 2, "16:2:36"), (2, 4, "8:2:26"), (4, 4, "18:2:36"))
SPEEDS = ((3, 10), (60, 194), (120, 389))  # km/h, and Hz at 3.5 GHz
MCS = 22
RECEIVERS = ("known", "linear", "wiener")
FIXED = {"mcs": MCS, "resource-blocks": 25, "max-blocks": 400, "block-errors": 100, "min-slots": 1, "threads": 1,
         "time-interpolation": "linear,wiener"}


def receiver_of(point):
    return "known" if point["known"] == "channel,noise" else point["time_interpolation"]


def measure(program, channel, link, speed):
    layers, antennas, snrs = link
    options = FIXED | {"channel": channel, "layers": layers, "antennas": antennas, "doppler": speed[1],
                       "snr-db": snrs}
    command = [program, "--json", "--quiet", "--known", "channel,noise", "--known", "none",
               *(word for name, value in options.items() for word in (f"--{name}", str(value)))]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return {"channel": channel, "layers": layers, "antennas": antennas, "km_per_h": speed[0], "doppler_hz": speed[1],
            "receivers": {name: [{key: point[key] for key in ("snr_db", "blocks", "block_errors", "block_error_rate")}
                                 for point in report["points"] if receiver_of(point) == name] for name in RECEIVERS}}


def first_snr_db(points):
    """Where the rate passes TARGET for the first time; none if it does not."""
    for high, low in zip(points, points[1:]):
        if high["block_error_rate"] >= TARGET > low["block_error_rate"]:
            return target_snr_db(high, low)
    return None


def moving_figures(results):
    lines = {}
    for run in json.loads((results / "moving_users.json").read_text())["runs"]:
        snrs = [first_snr_db(run["receivers"][name]) for name in RECEIVERS]
        key = run["channel"], f"{run['antennas']} x {run['layers']}"
        lines.setdefault(key, []).append(", ".join("never" if snr is None else f"{snr:.1f}" for snr in snrs))
    return {"moving users": rows(["channel", "antennas x layers", *(f"{speed} km/h, dB" for speed, _ in SPEEDS)],
                                 [[*key, *cells] for key, cells in lines.items()])}


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parent.parent
    link_sim = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else here / "build/release/apps/link_sim")
    cases = [(link_sim, channel, link, speed) for channel in CHANNELS for link in LINKS for speed in SPEEDS]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        runs = list(pool.map(lambda case: measure(*case), cases))
    report = {"context": context_of(here) | FIXED, "runs": runs}
    (here / "data/results/moving_users.json").write_text(json.dumps(report, indent=1) + "\n")

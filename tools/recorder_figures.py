#!/usr/bin/env python3
"""What rates and clocks of recorders cost: makes recordings, receives them, and writes data/results/recorder.json.

    tools/recorder_figures.py [FOLDER OF THE PROGRAMS]    default: build/release/apps

tools/figures.py makes the table.
"""

import datetime
import json
import math
import pathlib
import platform
import subprocess
import sys
import tempfile

from link_figures import rows

RATES = (20e6, 23.04e6, 25e6, 50e6, 62.5e6, 100e6, 125e6, 184.32e6, 200e6, 245.76e6)
# Name, and options of capture_gen.
OFFSETS = {
    "none": [],
    "clock 2 ppm": ["--clock-offset", "2"],
    "clock 25 ppm": ["--clock-offset", "25"],
    "clock -25 ppm": ["--clock-offset", "-25"],
    "40 kHz": ["--frequency-offset", "40000"],
    "-70 kHz": ["--frequency-offset", "-70000"],
    "line -10 dB, image -20 dB": ["--line", "-10", "--image", "-20"],
}
SEEDS = (1, 2, 3)
LINK = {
    "direction": "uplink",
    "carrier": {"subcarrier_spacing": 30000, "resource_blocks": 51},
    "allocation": {
        "rnti": 17921, "scrambling_id": 77, "modulation": "256qam", "layers": 1, "resource_blocks": [0, 51],
        "dmrs": {"type": 1, "ports": [0], "cdm_groups_without_data": 2, "symbols": [2, 11], "scrambling_id": 5},
    },
}


def evm(programs, folder, rate, options, seed):
    capture, link = folder / "recording.h5", folder / "link.json"
    link.write_text(json.dumps(LINK))
    subprocess.run([programs / "capture_gen", capture, "--from", "samples", "--link", link, "--slots", "40", "--snr-db", "30",
                    "--sample-rate", str(rate), "--center-frequency", "3.5e9", "--seed", str(seed), "--force", "--json",
                    *options], check=True, capture_output=True)
    done = subprocess.run([programs / "demod_app", capture, "--backend", "cpu", "--json"], check=True, capture_output=True)
    report = json.loads(done.stdout)
    return {"rate_hz": rate, "seed": seed, "evm_rms": report["evm_rms"], "slots": report["slots"],
            "clock_offset_ppm": report["clock_offset_ppm"], "clock_source": report["clock_source"],
            "frequency_offset_hz": report["frequency_offset_hz"]}


def measure(programs):
    info = subprocess.run([programs / "phy_info", "--json"], check=True, capture_output=True)
    context = {"date": datetime.date.today().isoformat(), "machine": platform.machine(),
               "phy_version": json.loads(info.stdout)["phy_version"]}
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        for rate in RATES:
            for name, options in OFFSETS.items():
                runs += [{"offset": name} | evm(programs, pathlib.Path(folder), rate, options, seed) for seed in SEEDS]
            print(f"{rate / 1e6:g} Msps", file=sys.stderr)
    return {"context": context, "runs": runs}


def recorder_figures(results):
    """EVM over that of 23.04 Msps without offsets and of the same seed, in dB: the mean over seeds."""
    runs = json.loads((results / "recorder.json").read_text())["runs"]
    evms = {(run["rate_hz"], run["offset"], run["seed"]): run["evm_rms"] for run in runs}
    seeds = sorted({seed for _, _, seed in evms})
    lines = []
    for rate in sorted({rate for rate, _, _ in evms}):
        cells = [sum(20 * math.log10(evms[rate, name, seed] / evms[23.04e6, "none", seed]) for seed in seeds) / len(seeds)
                 for name in OFFSETS]
        lines.append([f"{rate / 1e6:g} Msps", *(f"{cell:+.2f}" for cell in cells)])
    return {"recorder": rows(["EVM beside the ideal one, dB, at 30 dB", *OFFSETS], lines)}


if __name__ == "__main__":
    root = pathlib.Path(__file__).resolve().parent.parent
    programs = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else root / "build/release/apps")
    (root / "data/results/recorder.json").write_text(json.dumps(measure(programs), indent=1) + "\n")

#!/usr/bin/env python3
"""What following a recorder costs: times demod_app on recordings with clocks and gaps beside a plain one, on a CPU and on a GPU.

    tools/recorder_speed.py BUILD > data/results/recorder_speed_NAME.json    BUILD: build folder, or unpacked package

Recordings and soft bits lie in the temporary folder, which should be in memory. Rounds go over all recordings and backends in
turn; the first is not counted. Each round's ratio is against the plain recording of that round and backend. tools/figures.py makes
the table.
"""

import json
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile
from datetime import datetime, timezone

from link_figures import rows
from recorder_figures import LINK

ROUNDS = 3
RECORDINGS = {
    "plain": ["--sample-rate", "23.04e6"],
    "clock 2 ppm": ["--sample-rate", "23.04e6", "--clock-offset", "2"],
    "clock -20 ppm": ["--sample-rate", "23.04e6", "--clock-offset", "-20"],
    "25 Msps, clock 2 ppm": ["--sample-rate", "25e6", "--clock-offset", "2"],
    "25 Msps, -70 kHz": ["--sample-rate", "25e6", "--frequency-offset", "-70000"],
    "777 samples missing": ["--sample-rate", "23.04e6", "--gap", "5000000,777"],
    "line -10 dB, image -20 dB": ["--sample-rate", "23.04e6", "--line", "-10", "--image", "-20"],
}


def program(build, name):
    folders = ("apps", "bin", "tests/bench", "libexec/phy/bench")
    return next(path for path in (build / folder / name for folder in folders) if path.exists())


def context(has_gpu=True):
    processor = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())[1]
    found = {"date": datetime.now(timezone.utc).isoformat(timespec="seconds"), "processor": processor,
             "num_cpus": os.cpu_count(), "kernel": platform.release()}
    if has_gpu:
        found["gpu"] = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], check=True,
                                      capture_output=True, text=True).stdout.strip()
    return found


def measure(build):
    seconds = {}
    reports = {}
    differ = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        link = folder / "link.json"
        link.write_text(json.dumps(LINK))
        making = [subprocess.Popen([program(build, "capture_gen"), folder / f"{i}.h5", "--from", "samples", "--link", link,
                                    "--slots", "1000", "--antennas", "2", "--snr-db", "30", "--center-frequency", "3.5e9",
                                    "--type", "ci16", "--no-bits", "--quiet", *options]) for i, options in enumerate(RECORDINGS.values())]
        if any(process.wait() for process in making):
            sys.exit("capture_gen failed")
        for turn in range(ROUNDS + 1):
            for i, recording in enumerate(RECORDINGS):
                outputs = []
                for backend in ("cpu", "cuda"):
                    output = folder / f"{backend}.h5"
                    done = subprocess.run([program(build, "demod_app"), folder / f"{i}.h5", "-o", output, "--backend", backend,
                                           "--force", "--quiet", "--json"], check=True, capture_output=True)
                    reports[recording, backend] = json.loads(done.stdout)
                    if turn > 0:
                        seconds.setdefault((recording, backend), []).append(reports[recording, backend]["seconds"])
                    outputs.append(output.read_bytes())
                if outputs[0] != outputs[1]:
                    differ.append(recording)
    return {"context": context(), "differ": sorted(set(differ)), "runs": [
        {"recording": recording, "backend": backend, "seconds": seconds[recording, backend], "report": report}
        for (recording, backend), report in reports.items()]}


def speed_figures(results):
    lines = []
    for path in sorted(results.glob("recorder_speed_*.json")):
        done = json.loads(path.read_text())
        runs = {(run["recording"], run["backend"]): run for run in done["runs"]}
        for recording in RECORDINGS:
            cells = []
            for backend in ("cpu", "cuda"):
                run = runs[recording, backend]
                ratios = [a / b for a, b in zip(run["seconds"], runs["plain", backend]["seconds"])]
                cells += [f"{statistics.median(run['seconds']):.2f}", f"{statistics.median(ratios):.2f}"]
            lines.append([done["context"]["gpu"].split(",")[0], recording, *cells,
                          "no" if recording in done["differ"] else "yes"])
    return {"recorder speed": rows(["machine", "recording", "CPU, s", "over plain", "GPU, s", "over plain", "same bytes"], lines)}


if __name__ == "__main__":
    print(json.dumps(measure(pathlib.Path(sys.argv[1])), indent=1))

#!/usr/bin/env python3
"""How fast demod_app_mpi is beside the threads of demod_app on one machine: writes data/results/mpi.json.

    tools/mpi_speed.py PROGRAMS LAUNCHER SLOTS CAPTURE [OPTIONS OF demod_app...]

    tools/mpi_speed.py build/release/apps "mpirun --oversubscribe" 2000 recording.h5 --link link.json

PROGRAMS: folder of demod_app and demod_app_mpi. SLOTS: of the capture, which should be in memory. Each command runs three times, in turns; the JSON
has the medians, of seconds from the start of a process to its end. tools/figures.py makes the table.
"""

import datetime
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

from link_figures import rows
from scale_figures import scale_figures

ROUNDS = 3


def commands(programs, launcher, slots, capture, gpus):
    """Name, processes, command."""
    cpu = ["--backend", "cpu"]
    processors = os.cpu_count()
    plain = [f"{programs}/demod_app", *capture]
    found = [("threads of one process", 1, [*plain, *cpu, "--threads", str(processors)])]
    ranks = sorted({n for n in (2, 8, 16, processors) if n <= processors})

    def shared(count, more):
        return [*launcher, "-n", str(count), f"{programs}/demod_app_mpi", *capture, *more, "--range-size", str(-(-slots // count))]

    found += [(f"{n} ranks of {processors // n} threads, shards", n, shared(n, [*cpu, "--shards"])) for n in ranks]
    joined = min(8, ranks[-1])
    found.append((f"{joined} ranks of {processors // joined} threads, one file", joined, shared(joined, cpu)))
    if gpus:
        gpu = ["--backend", "cuda"]
        found.append(("one process, one GPU", 1, [*plain, *gpu, "--device", "0"]))
        found += [(f"{n} ranks, a GPU each, shards", n, shared(n, [*gpu, "--shards"])) for n in range(1, gpus + 1)]
        found.append(("2 ranks, one GPU together, shards", 2, shared(2, [*gpu, "--device", "0", "--shards"])))
    return found


def run(command):
    """Wall seconds, and the report."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        start = time.monotonic()
        outcome = subprocess.run([*command, "-o", f"{folder}/out.h5", "--json"], capture_output=True, text=True)
        seconds = time.monotonic() - start
    if outcome.returncode != 0:
        sys.exit(f"{' '.join(command)}: {outcome.stderr}")
    return {"wall_seconds": seconds} | {key: value for key, value in json.loads(outcome.stdout).items() if key in ("seconds", "join_seconds")}


def output_of(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def measure(programs, launcher, slots, capture):
    gpus = output_of("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader").splitlines()
    processor = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())[1]
    all_commands = commands(programs, launcher.split(), slots, capture, len(gpus))
    runs = {name: [] for name, _, _ in all_commands}
    for _ in range(ROUNDS):
        for name, _, command in all_commands:
            runs[name].append(run(command))
    context = {"date": datetime.date.today().isoformat(), "processor": processor, "processors": os.cpu_count(), "gpus": gpus,
               "launcher": output_of(launcher.split()[0], "--version").splitlines()[:2], "slots": slots}
    medians = [{"name": name, "processes": count} | {key: statistics.median(each[key] for each in runs[name]) for key in runs[name][0]}
               for name, count, _ in all_commands]
    return {"context": context, "rows": medians}


def mpi_figures(results):
    data = json.loads((results / "mpi.json").read_text())
    plain = {kind: next(row for row in data["rows"] if row["name"] == kind) for kind in ("threads of one process", "one process, one GPU")
             if any(row["name"] == kind for row in data["rows"])}
    lines = []
    for row in data["rows"]:
        base = plain["one process, one GPU" if "GPU" in row["name"] else "threads of one process"]
        join, begin = "", ""
        if "join_seconds" in row:
            join = f"{row['join_seconds']:.2f} s"
            begin = f"{row['wall_seconds'] - row['seconds'] - row['join_seconds']:.2f} s"
        lines.append([row["name"], f"{row['wall_seconds']:.2f} s", begin, join, f"{base['wall_seconds'] / row['wall_seconds']:.2f}"])
    return {"mpi": rows(["processes", "from start to end", "of it MPI's start and end", "of it joining", "times as fast as one process"], lines)} | scale_figures(results)


if __name__ == "__main__":
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    results = measure(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:])
    (pathlib.Path(__file__).resolve().parent.parent / "data/results/mpi.json").write_text(json.dumps(results, indent=1) + "\n")

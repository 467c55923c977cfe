#!/usr/bin/env python3
"""What the defaults cost: receivers and demod_app of an earlier build and of this one, in turns.

    tools/cost_figures.py COMMIT BEFORE NOW cpu > data/results/cost_cpu_NAME.json
    tools/cost_figures.py COMMIT BEFORE NOW cuda > data/results/cost_gpu_NAME.json

BEFORE is the build folder or unpacked package of that commit, NOW that of today's tree. demod_app's time is that of the run, over
its slots. Recordings and soft bits lie in the temporary folder, which should be in memory. A row has the median time of each
build, and the median of the ratios of its rounds. The first round is not counted. tools/figures.py makes the table.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from link_figures import read, rows
from recorder_speed import context, program

ROUNDS = 16
SLOTS = 200
LINK = {"direction": "uplink",
        "carrier": {"subcarrier_spacing": 30000, "resource_blocks": 273, "cell_id": 1, "sample_rate": 122880000,
                    "center_frequency": 3750000000},
        "allocation": {"rnti": 17921, "modulation": "256qam", "layers": 1, "resource_blocks": [0, 273],
                       "dmrs": {"type": 1, "ports": [0], "cdm_groups_without_data": 2, "mapping_type": "A", "typeA_position": 2,
                                "additional_positions": 1}}}


def output(*command):
    """With all kernels loaded first: a pipeline that loads them as it runs is slower."""
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True,
                          env=os.environ | {"CUDA_MODULE_LOADING": "EAGER"}).stdout


def of_receivers(build, backend):
    """Microseconds a slot of the library's defaults, alone and as they stream."""
    if backend == "cpu":
        measured = json.loads(output(program(build, "receiver_bench"), 1))["benchmarks"]
        return {f"{row['name'].split(', ')[-1].split()[0]}x4, one thread": row["us_per_slot"] for row in measured
                if row["name"].startswith("slot, delay spread measured")}
    times = {}
    for line in output(program(build, "phy_cuda_bench"), "--filter", "/273/ci16/delay_measured").splitlines():
        row = json.loads(line) if line.startswith("{") else {"name": ""}
        parts = row["name"].split("/")
        if row["name"].endswith("delay_measured/in_place/graph"):
            times[f"{parts[2]}, one slot in place, in a graph"] = row["median_us"]
        elif row["name"].startswith("receive/pipeline") and row["name"].endswith("delay_measured"):
            times[f"{parts[2]}, pipeline"] = row["us_per_slot"]
    return times


def of_app(build, backend, recordings):
    """Microseconds a slot of demod_app, without options."""
    times = {}
    for layers, recording in recordings.items():
        soft_bits = recording.with_suffix(".out.h5")
        soft_bits.unlink(missing_ok=True)
        threads = ("--threads", 1) if backend == "cpu" else ()
        report = json.loads(output(program(build, "demod_app"), recording, "-o", soft_bits, "--backend", backend, *threads,
                                   "--json"))
        times[f"demod_app, {layers}x4"] = 1e6 * report["seconds"] / SLOTS
    return times


def record(folder, now, layers):
    link = folder / f"link{layers}.json"
    text = json.loads(json.dumps(LINK))
    text["allocation"] |= {"layers": layers}
    text["allocation"]["dmrs"]["ports"] = list(range(layers))
    link.write_text(json.dumps(text))
    recording = folder / f"{layers}.h5"
    output(program(now, "capture_gen"), recording, "--from", "samples", "--link", link, "--slots", SLOTS, "--antennas", 4,
           "--type", "ci16", "--channel", "tdl:100", "--snr-db", 35, "--no-bits", "--quiet")
    return recording


def measure(commit, before, now, backend):
    times = {"before": {}, "now": {}}
    with tempfile.TemporaryDirectory() as name:
        recordings = {layers: record(pathlib.Path(name), now, layers) for layers in (1, 4)}
        for round_ in range(ROUNDS):
            for tree, build in (("before", before), ("now", now)):
                measured = of_receivers(build, backend) | of_app(build, backend, recordings)
                for what, time in measured.items() if round_ > 0 else ():
                    times[tree].setdefault(what, []).append(time)
    medians = [{"what": what, "before_us": statistics.median(of_before), "now_us": statistics.median(times["now"][what]),
                "ratio": statistics.median(b / a for a, b in zip(of_before, times["now"][what]))}
               for what, of_before in times["before"].items()]
    return {"context": context(backend == "cuda") | {"before": commit, "rounds": ROUNDS - 1}, "rows": medians}


def cost_figures(results):
    """The table, for tools/figures.py."""
    lines = []
    for name in sorted(path.name for path in results.glob("cost_*.json")):
        done = read(results, name)
        machine = done["context"].get("gpu", done["context"]["processor"]).split(",")[0]
        lines += [[machine, row["what"], f"{row['before_us']:.0f}", f"{row['now_us']:.0f}", f"{row['ratio']:.2f}"]
                  for row in done["rows"]]
    return {"cost of defaults": rows(["machine", "what", "before, us a slot", "now, us a slot", "ratio"], lines)}


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], *(pathlib.Path(path).absolute() for path in sys.argv[2:4]), sys.argv[4]), indent=1))

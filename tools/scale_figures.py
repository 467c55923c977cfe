#!/usr/bin/env python3
"""What limits demod_app_mpi on many nodes, on paper: simulates ranges, nodes and a file system, and writes data/results/scale.json.

    tools/scale_figures.py

No node is run here. tools/figures.py makes the table.
"""

import datetime
import heapq
import json
import pathlib
import random

from link_figures import rows

# A day of four antennas at 122.88 Msps in ci16, and one layer of 273 resource blocks with 256QAM, 12 data symbols, to int8.
SECONDS = 86_400
SLOTS_PER_SECOND = 2000
READ_PER_SLOT = 4 * 61_440 * 4
WRITTEN_PER_SLOT = 273 * 12 * 12 * 8

# Per node: bytes/s that its network takes, seconds that a range costs beside its slots (measured: 0.1 to 0.3), and operations on names for it
# (three files are opened, two are created and renamed).
NODE_BYTES = 20e9
RANGE_SECONDS = 0.3
RANGE_OPERATIONS = 12
# Measured: one thread, for each half second of signal that a survey measures, 8 slots of 4 antennas.
SURVEY_SECONDS = 0.036

# bytes/s read and written, operations on names per second.
FILE_SYSTEMS = {
    "a rack: 100 GB/s": {"read": 100e9, "write": 50e9, "operations": 20e3},
    "Frontier's disks: 5.5 TB/s": {"read": 5.5e12, "write": 4.6e12, "operations": 200e3},
}
# Nodes differ by this standard deviation, and one in a hundred has a quarter of the speed.
SPREAD = 0.1
SLOW_SHARE, SLOW_SPEED = 0.01, 0.25
COPY_BYTES = 3e9  # measured in memory: of the output, that a rank reads and writes per second; one rank a node


def simulate(nodes, slots_per_range, system, seed=1):
    """Seconds of the parts of a run."""
    draw = random.Random(seed)
    slots = SECONDS * SLOTS_PER_SECOND
    read = min(NODE_BYTES, system["read"] / nodes)
    write = min(NODE_BYTES, system["write"] / nodes)
    speeds = [max(0.5, draw.gauss(1, SPREAD)) * (SLOW_SPEED if draw.random() < SLOW_SHARE else 1) for _ in range(nodes)]
    # Names are made one after another by the file system, in the order in which nodes ask.
    names = 0.0
    free = [(0.0, node) for node in range(nodes)]
    heapq.heapify(free)
    busy = [0.0] * nodes
    end = 0.0
    for first in range(0, slots, slots_per_range):
        count = min(slots_per_range, slots - first)
        time, node = heapq.heappop(free)
        names = max(names, time) + RANGE_OPERATIONS / system["operations"]
        work = RANGE_SECONDS + (count * READ_PER_SLOT / read + count * WRITTEN_PER_SLOT / write) / speeds[node]
        busy[node] += work
        end = max(end, max(time, names) + work)
        heapq.heappush(free, (max(time, names) + work, node))
    ideal = slots * READ_PER_SLOT / (read * nodes) + slots * WRITTEN_PER_SLOT / (write * nodes)
    return {"survey_seconds": 2 * SECONDS * SURVEY_SECONDS, "bandwidth_seconds": ideal, "ranges_seconds": end,
            "idle_share": 1 - sum(busy) / (nodes * end), "copy_seconds": slots * WRITTEN_PER_SLOT * max(1 / (nodes * COPY_BYTES), 1 / system["read"] + 1 / system["write"])}


def measure():
    runs = []
    for name, system in FILE_SYSTEMS.items():
        for nodes in (10, 100, 1000):
            for size in (1000, 10_000, 100_000):
                runs.append({"file_system": name, "nodes": nodes, "slots_per_range": size} | simulate(nodes, size, system))
    return {"context": {"date": datetime.date.today().isoformat(), "simulated": True}, "runs": runs}


def scale_figures(results):
    def minutes(seconds):
        return f"{seconds / 60:.1f} min"

    lines = []
    for run in json.loads((results / "scale.json").read_text())["runs"]:
        lines.append([run["file_system"], f"{run['nodes']}", f"{run['slots_per_range']}", minutes(run["survey_seconds"]),
                      minutes(run["bandwidth_seconds"]), minutes(run["ranges_seconds"]), f"{100 * run['idle_share']:.1f} %",
                      minutes(run["copy_seconds"])])
    return {"scale": rows(["file system", "nodes", "slots a range", "survey, rank 0", "ranges: bandwidth alone", "ranges", "idle nodes",
                           "copy by all"], lines)}


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parent.parent
    (here / "data/results/scale.json").write_text(json.dumps(measure(), indent=1) + "\n")

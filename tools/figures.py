#!/usr/bin/env python3
"""Writes the measured figures of data/results/ into README.md, data/results/ and docs/, between their markers.

    tools/figures.py            rewrites the tables
    tools/figures.py --check    exit status 1 if a table differs from the results

data/results/README.md lists the program that writes each file.
"""

import argparse
import json
import pathlib
import re
import sys

from block_error_figures import block_error_figures
from coding_figures import coding_figures
from cost_figures import cost_figures
from default_figures import default_figures
from hour_figures import hour_figures
from iteration_figures import iteration_figures
from joint_figures import joint_figures
from link_figures import link_figures
from moving_figures import moving_figures
from mpi_speed import mpi_figures
from noise_figures import noise_figures
from phase_figures import phase_figures
from ptrs_figures import ptrs_figures
from profile_figures import profile_figures
from recorder_figures import recorder_figures
from recorder_speed import speed_figures
from small_figures import small_figures

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "data" / "results"
PAGES = (ROOT / "README.md", *sorted(RESULTS.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")))
MACHINES = {"xeon": "Intel Xeon, 2 MiB L2", "epyc": "AMD EPYC, 1 MiB L2"}


def soft(modulation="256qam", formats="cf32/int8", snr=30, method="maxlog/arithmetic", backend="avx512", size=38880):
    return f"demap/{modulation}/{formats}/{snr}dB/scalar/{method}/cpu[{backend}]/threads:1/{size}"


L2, DRAM = 38880, 33554432
def one_noise(place, backend, name, snr):
    return (f"{place}, {name}, {snr} dB", soft(snr=snr, backend=backend, size=L2 if place == "in L2" else DRAM),
            "of_memcpy", "of memcpy")


HEADLINE = [
    one_noise("in L2", "avx512", "AVX-512", 25),
    one_noise("in L2", "avx2", "AVX2", 25),
    one_noise("in DRAM", "avx512", "AVX-512", 25),
    ("in L2, AVX-512, 25 dB, log-MAP by table", soft(snr=25, method="logmap/table"), "of_memcpy", "of memcpy"),
]
NOISE = [
    *[one_noise(place, backend, name, snr) for place in ("in L2", "in DRAM")
      for backend, name in (("avx512", "AVX-512"), ("avx2", "AVX2")) for snr in (10, 20, 25, 30)],
    *[(f"{place}, {name}, {snr} dB, N0 per symbol", f"per_symbol_cost/256qam/{snr}dB/cpu[{backend}]/{size}",
       "of_scalar_noise", "of one N0")
      for place, size in (("in L2", L2), ("in DRAM", DRAM))
      for backend, name in (("avx512", "AVX-512"), ("avx2", "AVX2")) for snr in (10, 20, 25, 30)],
    *[(f"in L2, AVX-512, {snr} dB, {label}", soft(snr=snr, method=method, formats=formats), "of_memcpy", "of memcpy")
      for label, method, formats in (("max-log by table", "maxlog/table", "cf32/int8"),
                                     ("log-MAP by table", "logmap/table", "cf32/int8"),
                                     ("log-MAP by table, fp32", "logmap/table", "cf32/float32"),
                                     ("log-MAP directly", "logmap/arithmetic", "cf32/int8"))
      for snr in (15, 25)],
]
WORKING_SNR = {"pi2-bpsk": 5, "bpsk": 5, "qpsk": 8, "16qam": 15, "64qam": 21, "256qam": 30, "1024qam": 36}
MODULATIONS = [(name, soft(modulation=name, snr=snr), "of_memcpy", "of memcpy") for name, snr in WORKING_SNR.items()]
FORMATS = [(f"{symbols} to {bits}, {place}", soft(formats=f"{symbols}/{bits}", size=size), "of_memcpy", "of memcpy")
           for symbols in ("cf32", "cf16", "ci16", "ci8") for bits in ("int8", "float16", "float32")
           for place, size in (("L2", L2), ("DRAM", DRAM))]


NOT_MEASURED = "Not measured yet."
OUTPUTS = ("int8", "float16", "float32")
SLOTS = (1024, 4096, 45864, 183456, 733824)


def gpu_soft(modulation="256qam", formats="cf32/int8", snr=25, noise="scalar", method="maxlog/arithmetic", more=""):
    return f"demap/{modulation}/{formats}/{snr}dB/{noise}/{method}{more}"


BATCH = ("batch of 64 allocations of 45,864 symbols, QPSK to 1024QAM", "batch/mixed/cf32/int8/64x45864")
GPU_HEADLINE = [
    ("cf32 to int8", gpu_soft()),
    ("cf16 to int8", gpu_soft(formats="cf16/int8")),
    ("cf32 to float16", gpu_soft(formats="cf32/float16")),
    ("cf32 to int8, log-MAP by table", gpu_soft(method="logmap/table")),
    ("cf32 to int8, N0 per symbol", gpu_soft(noise="per_symbol")),
    ("cf32 to int8, " + BATCH[0], BATCH[1]),
]
GPU_CALLS = [
    ("cf32 to int8", gpu_soft()),
    ("cf32 to int8, counters on", gpu_soft(more="/counters")),
    ("cf16 to int8", gpu_soft(formats="cf16/int8")),
    ("cf16 to int8, counters on", gpu_soft(formats="cf16/int8", more="/counters")),
    ("cf32 to int8, N0 per symbol", gpu_soft(noise="per_symbol")),
    ("cf32 to float16, N0 per symbol", gpu_soft(noise="per_symbol", formats="cf32/float16")),
    ("cf32 to int8, log-MAP directly, 15 dB", gpu_soft(snr=15, method="logmap/arithmetic")),
    ("cf32 to int8, log-MAP directly, 25 dB", gpu_soft(snr=25, method="logmap/arithmetic")),
    ("cf32 to int8, " + BATCH[0], BATCH[1]),
]


def results_of(machine):
    benchmarks = {}
    for path in sorted(RESULTS.glob(f"*{machine}*.json")):
        for row in json.loads(path.read_text()).get("benchmarks", []):
            benchmarks[re.sub(r"/iterations:.*", "", row["name"])] = row
    return benchmarks


def cell(row, ratio, unit):
    if row is None:
        return ""
    return f"{row['Gsym/s']:.2f}, {row[ratio]:.2f} {unit}"


def table(title, rows):
    results = {name: results_of(name) for name in MACHINES}
    lines = [f"| {title} | " + " | ".join(MACHINES.values()) + " |", "| --- |" + " --- |" * len(MACHINES)]
    for label, benchmark, ratio, unit in rows:
        cells = (cell(results[name].get(benchmark), ratio, unit) for name in MACHINES)
        lines.append(f"| {label} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def demod_input(report):
    if "slots" not in report:
        return f"{report['symbols'] >> 20}M symbols, cf32"
    layers = "1 layer" if report["layers"] == 1 else f"{report['layers']} layers"
    return f"{report['slots']} slots of samples, {report['antennas']} antennas, ci16, {layers}"


def demod_table():
    lines = ["| demod_app, files in memory (tmpfs) | input | first read to last write, s | a plain loop, s | "
             "ratio | whole process, s | peak memory |", "| --- |" + " --- |" * 6]
    for path in sorted(RESULTS.glob("demod_app_*.json")):
        run = json.loads(path.read_text())
        where = run["report"].get("device") or run["context"]["processor"]
        lines.append(f"| {run['report']['backend']}, {where} | {demod_input(run['report'])} | "
                     f"{run['run_seconds']:.2f} | {run['file_copy_seconds']:.2f} | "
                     f"{run['run_over_file_copy']:.2f} | {run['demod_app_seconds']:.2f} | "
                     f"{run['demod_app_peak_kib'] / 1024:.0f} MiB |")
    return "\n".join(lines)


def gpu_runs():
    """Each GPU's name and its results by benchmark."""
    runs = []
    for path in sorted(RESULTS.glob("cuda_*.json")):
        run = json.loads(path.read_text())
        if run["context"]["quick"]:
            sys.exit(f"{path.name} is of a quick run, which is no measurement")
        runs.append((run["context"]["gpu"], {row["name"]: row for row in run["benchmarks"]}))
    return runs


def gpu_cell(gpu, rows, benchmark, value="Gsym/s", scale=1.0):
    if benchmark not in rows:
        sys.exit(f"the results of {gpu} have no {benchmark}")
    row = rows[benchmark]
    return f"{row[value] * scale:.4g}, {row['of_copy']:.2f}"


def gpu_list(title, benchmarks):
    """A line a benchmark, a column a GPU."""
    runs = gpu_runs()
    if not runs:
        return NOT_MEASURED
    lines = [f"| {title}, Gsymbol/s, of copy | " + " | ".join(gpu for gpu, _ in runs) + " |", "| --- |" + " --- |" * len(runs)]
    for label, benchmark in benchmarks:
        lines.append(f"| {label} | " + " | ".join(gpu_cell(gpu, rows, benchmark) for gpu, rows in runs) + " |")
    return "\n".join(lines)


def gpu_matrix(title, lines, columns, name, unit="Gsymbol/s", **value):
    """A table a GPU; name(line, column) is the benchmark of a cell."""
    tables = []
    for gpu, rows in gpu_runs():
        table_lines = [f"| {gpu}: {title}, {unit}, of copy | " + " | ".join(columns) + " |",
                       "| --- |" + " --- |" * len(columns)]
        for line in lines:
            cells = (gpu_cell(gpu, rows, name(line, column), **value) for column in columns)
            table_lines.append(f"| {line} | " + " | ".join(cells) + " |")
        tables.append("\n".join(table_lines))
    return "\n\n".join(tables) or NOT_MEASURED


def table_evaluator(line, column):
    method, snr = line.split(" by table, ")
    return gpu_soft(formats=f"cf32/{column}", snr=snr.removesuffix(" dB"), method=f"{method.replace('-', '').lower()}/table")


def map_name(modulation, column):
    packing, symbols = column.split(" to ")
    return f"map/{modulation}/{symbols}/{packing.replace(' ', '_')}"


def tables_of(pattern, table):
    """A table for each file of results with such a name."""
    runs = (json.loads(path.read_text()) for path in sorted(RESULTS.glob(pattern)))
    return "\n\n".join("\n".join(table(run)) for run in runs) or NOT_MEASURED


def share(of_limit):
    return f"{of_limit:.2f}" if of_limit >= 0.01 else f"{of_limit:.1g}"


def ladder_table(run):
    limit, unit, rate = ("read", "bytes", "GB/s") if "read" in run else ("copy", "symbols", "Gsymbol/s")
    yield (f"| {run['context']['gpu']}: {run['title']} | threads per block | us | {rate} | of {run[limit]} | "
           "over the step before | over the first |")
    yield "| --- |" + " --- |" * 6
    for what, way in (("plain loops", "cpu_loops"), ("phy", "cpu_phy")):
        if f"{way}_seconds" in run:
            seconds, threads = run[f"{way}_seconds"], run.get(f"{way}_threads", 1)
            yield (f"| CPU: {what}, {threads} thread{'s' if threads > 1 else ''} | | {seconds * 1e6:.1f} | "
                   f"{run[unit] / seconds * 1e-9:.1f} | {share(run[limit + '_seconds'] / seconds)} | | |")
    for step in run["steps"]:
        yield (f"| {step['name']}: {step['what']} | {step['threads'] or ''} | {step['seconds'] * 1e6:.1f} | "
               f"{step[unit + '_per_second'] * 1e-9:.1f} | {share(step['of_' + limit])} | {step['speed_up']:.2f} | "
               f"{step['speed_up_over_first']:.2f} |")


def reduce_table(run):
    yield f"| {run['context']['gpu']}: rows x length | GB/s | times as fast as CUB |"
    yield "| --- |" + " --- |" * 2
    for row in run["benchmarks"]:
        _, kind, shape = row["name"].split("/")
        yield f"| sum of {kind}, {shape.replace('x', ' x ')} | {row['GB/s']:.0f} | {row['of_cub']:.3f} |"


def cpu_measure_table(run):
    yield f"| {run['context']['processor']} | MiB | threads | backend | Gitem/s | GB/s | of a read |"
    yield "| --- |" + " --- |" * 6
    for row in run["benchmarks"]:
        rows = f", {row['rows']} rows" if row.get("rows", 1) > 1 else ""
        yield (f"| {row['name']}{rows} | {row['bytes'] / 2**20:.3g} | {row['threads']} | {row['backend']} | "
               f"{row['Gitem/s']:.2f} | {row['GB/s']:.1f} | {row['of_read']:.2f} |")


def gpu_measure_table():
    """Sums over symbols, a line a benchmark."""
    lines = []
    for gpu, rows in gpu_runs():
        lines += [f"| {gpu}: power, offset, imbalance, gain, EVM and N0 in one pass | Gsymbol/s | of a read |", "| --- |" + " --- |" * 2]
        for name, row in rows.items():
            if name.startswith("measure/"):
                _, modulation, samples, shape = name.split("/")
                lines.append(f"| {modulation}, {samples}, {shape.replace('_', ' ')} | {row['Gsym/s']:.4g} | {row['of_read']:.2f} |")
    return "\n".join(lines) or NOT_MEASURED


def gpu_average_table():
    """Means times a matrix, a line a benchmark."""
    lines = []
    for gpu, rows in gpu_runs():
        averages = [(name.split("/"), row) for name, row in rows.items() if name.startswith("average/")]
        if averages:
            lines += [f"| {gpu}: N x L x M | us | GB/s | of a read |", "| --- |" + " --- |" * 3]
        for (_, kind, shape), row in averages:
            lines.append(f"| {kind}, {shape.replace('x', ' x ')} | {row['seconds'] * 1e6:.1f} | {row['GB/s']:.0f} | "
                         f"{row['of_read']:.2f} |")
    return "\n".join(lines) or NOT_MEASURED


RECEIVER = ("chain", "estimate", "equalize", "detect", "demap_and_descramble", "descramble", "gold", "decompress")


def receiver_rows(run):
    """Names without what Google Benchmark adds, and rows, of the parts of a receiver."""
    for row in run["benchmarks"]:
        name = re.sub(r"/iterations:.*", "", row["name"])
        if name.split("/")[0] in RECEIVER and "seconds" in row:
            yield name.replace("/", ", ").replace("_", " "), row


def gpu_receiver_table(run):
    yield f"| {run['context']['gpu']} | us | G elements/s | of the limit |"
    yield "| --- |" + " --- |" * 3
    for name, row in receiver_rows(run):
        limit = next(limit for limit in ("copy", "write", "read") if f"of_{limit}" in row)
        yield f"| {name} | {row['seconds'] * 1e6:.1f} | {row['Gsym/s']:.4g} | {row[f'of_{limit}']:.2f} of a {limit} |"


def gpu_ofdm_table(run):
    yield f"| {run['context']['gpu']} | us | Gsamples/s | of a copy |"
    yield "| --- |" + " --- |" * 3
    for row in run["benchmarks"]:
        name = row["name"].replace("/", ", ").replace("_", " ")
        yield f"| {name} | {row['seconds'] * 1e6:.1f} | {row['Gsym/s']:.4g} | {row['of_copy']:.2f} |"


def cpu_receiver_table(run):
    yield f"| {run['context']['processor']}, one thread | us | G elements/s | of memcpy |"
    yield "| --- |" + " --- |" * 3
    for name, row in receiver_rows(run):
        share = row.get("of_memcpy", row.get("of_plain"))
        yield f"| {name} | {row['seconds'] * 1e6:.1f} | {row['Gsym/s']:.3f} | {share:.2f}{'' if 'of_memcpy' in row else ' of demapping alone'} |"


EQUALISER_COLUMNS = {"one OFDM symbol": "weights_by_element/in_cache", "an estimate for each OFDM symbol": "weights_by_element",
                     "a sum of two estimates for each": "linear_weights", "shared weights": "shared_weights"}


def cpu_equaliser_table(run):
    """A line for each number of layers and antennas, and method."""
    speeds = {row["name"].split("/iterations")[0]: row["Gsym/s"] for row in run["benchmarks"]}
    cases = dict.fromkeys(tuple(name.split("/")[1:3]) for name in speeds if name.startswith("equalize/"))
    context = run["context"]
    yield (f"| {context['processor']}, {context['date'][:10]}: layers x antennas, method | " +
           " | ".join(EQUALISER_COLUMNS) + " |")
    yield "| --- |" + " --- |" * len(EQUALISER_COLUMNS)
    for size, method in sorted(cases, key=lambda case: (case[1], case[0])):
        name = {"mmse": "MMSE", "zero_forcing": "zero forcing"}[method]
        yield (f"| {size.replace('x', ' x ')}, {name} | " +
               " | ".join(f"{1e3 * speeds[f'equalize/{size}/{method}/{column}']:.0f}"
                          for column in EQUALISER_COLUMNS.values()) + " |")


def ofdm_table(run):
    yield f"| {run['context']['processor']}, one thread | backend | us | Msamples/s | of memcpy | of FFTW |"
    yield "| --- |" + " --- |" * 5
    for row in run["benchmarks"]:
        of_fftw = f"{row['of_fftw']:.2f}" if "of_fftw" in row else ""
        yield (f"| {row['name'].replace('/', ', ')} | {row['backend']} | {row['seconds'] * 1e6:.3g} | "
               f"{row['Msamples/s']:.0f} | {row['of_memcpy']:.2f} | {of_fftw} |")


def cpu_slot_table(run):
    yield f"| {run['context']['processor']} | threads | slots per call | us per slot | times real time | of memcpy |"
    yield "| --- |" + " --- |" * 5
    for row in run["benchmarks"]:
        yield (f"| {row['name']} | {row['threads']} | {row['slots']} | {row['us_per_slot']:.1f} | {row['of_real_time']:.2f} | "
               f"{row['of_copy']:.2f} |")


def gpu_slot_table(run):
    """Whole slots: through a pipeline, one at a time, and on the device alone."""
    yield f"| {run['context']['gpu']} | us per slot | of the limit | p99 us |"
    yield "| --- |" + " --- |" * 3
    for row in run["benchmarks"]:
        if not row["name"].startswith("receive/"):
            continue
        slots = int(row["name"].split("/")[-1].removesuffix("_slots")) if "seconds" in row else 1
        each = row.get("us_per_slot") or row.get("median_us") or row["seconds"] / slots * 1e6
        share = f"{row['of_limit']:.2f}" if "of_limit" in row else ""
        late = f"{row['p99_us']:.1f}" if "p99_us" in row else ""
        name = row["name"].removeprefix("receive/").replace("/", ", ").replace("_", " ")
        yield f"| {name} | {each:.1f} | {share} | {late} |"


def rates_of_bytes(row):
    """GB/s in and out."""
    return f"{row['bytes_in_per_second'] * 1e-9:.1f}, {row['bytes_out_per_second'] * 1e-9:.1f}"


def stream_table(run):
    yield (f"| {run['context']['device']} | formats | symbols | order | ms | Gsymbol/s | GB/s in, out | of limit | "
           "times as fast as serial |")
    yield "| --- |" + " --- |" * 8
    for row in run["rows"]:
        yield (f"| {row['backend']} | {row['formats']} | {row['symbols']} | {row['order']} | {row['seconds'] * 1e3:.3f} | "
               f"{row['symbols_per_second'] * 1e-9:.2f} | {rates_of_bytes(row)} | {row['of_limit']:.3f} | "
               f"{row['of_serial']:.2f} |")


def stream_headline():
    """The long streams of cf32 to int8; of a file on sets of devices, those on the largest."""
    lines = ["| pipeline, 256QAM | symbols | ms | GB/s in, out | of limit | times as fast as serial |",
             "| --- |" + " --- |" * 5]
    for path in sorted(RESULTS.glob("stream_*.json")):
        run = json.loads(path.read_text())
        devices = max((each.split(", ") for each in run["context"]["device"].split("; ")), key=len)
        name = devices[0] if len(devices) == 1 else f"{len(devices)} x {devices[0]}"
        for row in run["rows"]:
            if row["symbols"] < 1 << 25 or row["order"] != "sequential" or row["formats"] != "cf32:int8":
                continue
            if row["backend"].count(",") + 1 < len(devices):
                continue
            lines.append(f"| {name}: cf32 to int8 | {row['symbols']} | {row['seconds'] * 1e3:.2f} | "
                         f"{rates_of_bytes(row)} | {row['of_limit']:.2f} | {row['of_serial']:.2f} |")
    return "\n".join(lines) if len(lines) > 2 else NOT_MEASURED


def slot_table(run):
    yield (f"| {run['context']['device']}, {run['context']['slots']} slots | formats | symbols | median us | p99 us | "
           "of the sum of the parts |")
    yield "| --- |" + " --- |" * 5
    for row in run["rows"]:
        of_parts = "" if row["of_parts"] is None else f"{row['of_parts']:.2f}"
        yield (f"| {row['way']} | {row['formats']} | {row['symbols']} | {row['median_seconds'] * 1e6:.1f} | "
               f"{row['p99_seconds'] * 1e6:.1f} | {of_parts} |")


def gpu_figures():
    return {
        "streams": tables_of("stream_*.json", stream_table),
        "stream headline": stream_headline(),
        "slot latency": tables_of("slot_*.json", slot_table),
        "gpu headline": gpu_list("256QAM", GPU_HEADLINE),
        "gpu formats": gpu_matrix("256QAM", ("cf32", "cf16", "ci16", "ci8"), OUTPUTS,
                                  lambda line, column: gpu_soft(formats=f"{line}/{column}")),
        "gpu modulations": gpu_matrix("cf32", WORKING_SNR, OUTPUTS[:2],
                                      lambda line, column: gpu_soft(line, f"cf32/{column}", WORKING_SNR[line])),
        "gpu evaluators": gpu_matrix("256QAM, cf32", [f"{method} by table, {snr} dB" for method in ("max-log", "log-MAP")
                                                      for snr in (15, 25)], OUTPUTS, table_evaluator),
        "gpu calls": gpu_list("256QAM", GPU_CALLS),
        "gpu slots": gpu_matrix("256QAM, cf32 to int8, in a graph", SLOTS, ("cold", "warm"),
                                lambda line, column: f"slot/256qam/cf32/int8/{column}/{line}",
                                unit="us", value="seconds", scale=1e6),
        "gpu mapper": gpu_matrix("mapper", WORKING_SNR, [f"{packing} to {symbols}" for packing in ("one per byte", "packed")
                                                         for symbols in ("cf32", "cf16", "ci16")], map_name),
        "gpu measure": gpu_measure_table(),
        "gpu average": gpu_average_table(),
        "gpu receiver": tables_of("cuda_*.json", gpu_receiver_table),
        "gpu ofdm": tables_of("resampler_gpu_*.json", gpu_ofdm_table),
        "cpu receiver": tables_of("channel_*.json", cpu_receiver_table),
        "cpu equaliser": tables_of("channel_*.json", cpu_equaliser_table),
        "cpu slots": tables_of("receiver_cpu_*.json", cpu_slot_table),
        "gpu whole slots": tables_of("receiver_gpu_*.json", gpu_slot_table),
        "cpu ofdm": tables_of("ofdm_*.json", ofdm_table),
        "reductions": tables_of("reduce_*.json", reduce_table),
        "cpu measure": tables_of("measure_*.json", cpu_measure_table),
        "gpu ladder": tables_of("ladder_*.json", ladder_table),
    }


def speed_of_slots(pattern, name, of_limit):
    """Machine, speed and share of whole slots."""
    run = json.loads(next(iter(sorted(RESULTS.glob(pattern)))).read_text())
    row = next(row for row in run["benchmarks"] if row["name"] == name)
    machine = run["context"].get("gpu") or run["context"]["processor"]
    share_of_limit = f"{row['of_limit']:.2f} {of_limit}" if "of_limit" in row else ""
    return f"{machine} | {row['us_per_slot']:.1f} us, {row['of_real_time']:.2f} times real time | {share_of_limit}"


def speed_table():
    """The few figures of README.md."""
    cpu = results_of("xeon")
    gpu, kernels = gpu_runs()[0]
    stream = json.loads((RESULTS / "stream_h200.json").read_text())
    long_run = max((row for row in stream["rows"] if row["formats"] == "cf32:int8"), key=lambda row: row["symbols"])
    slot = "slot of 100 MHz from 4 antennas, samples to soft bits"
    lines = ["| what | machine | speed | of the limit |", "| --- |" + " --- |" * 3]
    for where, size in (("in L2", L2), ("in DRAM", DRAM)):
        row = cpu[soft(snr=25, size=size)]
        lines.append(f"| 256QAM to int8, {where}, one thread | {MACHINES['xeon']}, AVX-512 | {row['Gsym/s']:.2f} Gsymbol/s | "
                     f"{row['of_memcpy']:.2f} of a memcpy |")
    row = kernels[gpu_soft()]
    lines.append(f"| 256QAM to int8, in device memory | {gpu} | {row['Gsym/s']:.0f} Gsymbol/s | {row['of_copy']:.2f} of a copy kernel |")
    lines.append(f"| 256QAM to int8, host memory to host memory | {stream['context']['device']} | {long_run['symbols_per_second'] * 1e-9:.2f} Gsymbol/s | "
                 f"{long_run['of_limit']:.2f} of the copies |")
    lines.append(f"| {slot}, one thread | {speed_of_slots('receiver_cpu_*.json', 'slot, 1 layers', '')} |")
    lines.append(f"| {slot}, host memory to host memory | "
                 f"{speed_of_slots('receiver_gpu_*.json', 'receive/pipeline/1x4/273/ci16/delay_measured', 'of the copies')} |")
    return "\n".join(lines)


def figures():
    recorders = recorder_figures(RESULTS) | speed_figures(RESULTS) | hour_figures(RESULTS) | mpi_figures(RESULTS)
    coding = block_error_figures(RESULTS) | coding_figures(RESULTS) | moving_figures(RESULTS)
    phases = phase_figures(RESULTS) | ptrs_figures(RESULTS) | noise_figures(RESULTS)
    jointly = joint_figures(RESULTS) | iteration_figures(RESULTS)
    receivers = jointly | phases | small_figures(RESULTS) | default_figures(RESULTS) | cost_figures(RESULTS)
    return gpu_figures() | link_figures(RESULTS) | profile_figures(RESULTS) | recorders | coding | receivers | {
        "speed": speed_table(),
        "headline": table("256QAM, cf32 to int8, Gsymbol/s", HEADLINE),
        "noise": table("256QAM, cf32 to int8, Gsymbol/s", NOISE),
        "modulations": table("cf32 to int8, in L2, Gsymbol/s", MODULATIONS),
        "formats": table("256QAM at 30 dB, Gsymbol/s", FORMATS),
        "demod_app": demod_table(),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    before = {page: page.read_text() for page in PAGES}
    after = dict(before)
    for name, text in figures().items():
        marked = re.compile(rf"(<!-- figures: {name} -->\n).*?(<!-- end -->)", re.S)
        places = [page for page in PAGES if marked.search(after[page])]
        if not places:
            sys.exit(f"no page has a place for the figures '{name}'")
        for page in places:
            after[page] = marked.sub(lambda match: match[1] + text + "\n" + match[2], after[page])
    if args.check:
        sys.exit(0 if before == after else "the pages are not what data/results/ says: run tools/figures.py")
    for page, text in after.items():
        page.write_text(text)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Times demod_app against file_copy, a plain loop that reads and writes the same bytes.

Both process the same capture, in turn, from and to the page cache; the first round is not counted. It holds 256QAM
symbols in cf32 or, with --link, samples of four antennas in ci16; file_copy writes as many bytes as demod_app.
What comes after -- are further options of demod_app.
Prints one JSON object: the median of each, the median of the ratio of neighbours, and demod_app's peak memory.
demod_app_seconds is the whole process; run_seconds is what its report says, from the first read to the last write:
on a GPU CUDA's start comes before that.
"""

import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timezone


def timed(command):
    """Seconds, peak resident KiB and standard output of a command."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"{command[0]} failed")
    return time.perf_counter() - start, usage.ru_maxrss, output


def processor():
    for line in open("/proc/cpuinfo", encoding="ascii"):
        if line.startswith("model name"):
            return line.split(": ", 1)[1].strip()
    return platform.processor()


def split_at(arguments, word):
    place = arguments.index(word) if word in arguments else len(arguments)
    return arguments[:place], arguments[place + 1:]


def program(folder, name):
    """In a build folder or in an unpacked package."""
    places = [folder / place / name for place in ("apps", "tests/bench", "bin", "libexec/phy/bench")]
    found = [place for place in places if place.exists()]
    if not found:
        raise SystemExit(f"no {name} in {folder}")
    return found[0]


def contents(args):
    """What capture_gen is told of the capture."""
    if not args.link:
        return ["--modulation", "256qam", "--symbols", str(args.symbols)]
    return ["--from", "samples", "--link", args.link, "--slots", str(args.slots), "--antennas", "4", "--type", "ci16",
            "--channel", "tdl:100"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="build folder, or unpacked package")
    parser.add_argument("--symbols", type=int, default=64 << 20)
    parser.add_argument("--link", help="the link of a capture of samples")
    parser.add_argument("--slots", type=int, default=200, help="with --link")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--folder", help="where the capture and the output lie (default: the temporary folder)")
    own, demod_options = split_at(sys.argv[1:], "--")
    args = parser.parse_args(own)

    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        capture, soft_bits, copy = (f"{folder}/{name}.h5" for name in ("capture", "llr", "copy"))
        subprocess.run([program(args.build, "capture_gen"), capture, *contents(args), "--snr-db", "30", "--no-bits",
                        "--quiet"], check=True)
        demod = [program(args.build, "demod_app"), capture, "-o", soft_bits, "--quiet", "--json", *demod_options]
        rounds = []
        for _ in range(args.rounds + 1):
            seconds, peak, report = timed(demod)
            plain = [program(args.build, "file_copy"), capture, copy, str(os.path.getsize(soft_bits))]
            os.remove(soft_bits)
            plain_seconds, _, _ = timed(plain)
            os.remove(copy)
            rounds.append((seconds, plain_seconds, peak, json.loads(report)))
        rounds = rounds[1:]

    print(json.dumps({
        "context": {"date": datetime.now(timezone.utc).isoformat(timespec="seconds"), "processor": processor(),
                    "num_cpus": os.cpu_count(), "kernel": platform.release()},
        "capture": contents(args),
        "folder": args.folder or tempfile.gettempdir(),
        "demod_options": demod_options,
        "demod_app_seconds": statistics.median(r[0] for r in rounds),
        "file_copy_seconds": statistics.median(r[1] for r in rounds),
        "demod_app_over_file_copy": statistics.median(r[0] / r[1] for r in rounds),
        "run_seconds": statistics.median(r[3]["seconds"] for r in rounds),
        "run_over_file_copy": statistics.median(r[3]["seconds"] / r[1] for r in rounds),
        "demod_app_peak_kib": max(r[2] for r in rounds),
        "report": rounds[-1][3],
    }, indent=2))


if __name__ == "__main__":
    main()

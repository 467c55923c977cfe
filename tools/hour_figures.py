#!/usr/bin/env python3
"""Whether an hour of samples with a drifting clock is received: runs that test and writes data/results/hour.json.

    tools/hour_figures.py [TEST PROGRAM]    default: build/release/tests/files/warnings_test

tools/figures.py makes the table.
"""

import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from link_figures import rows

SECONDS = (360, 3600)
CASES = {"OneReference": "one reference for clock and oscillator", "TwoReferences": "two references"}
NAMES = ("seed", "seconds", "slots", "lost_slots", "clock_offset_ppm", "clock_swing_ppm", "clock_period_s",
         "clock_error_first_ppm", "clock_error_last_ppm", "mean_evm", "worst_evm", "ideal_mean_evm", "cpu_seconds")


def run(program, seconds, case):
    """In a process of its own, whose memory the kernel counts."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        process = subprocess.Popen([program, f"--gtest_filter=*HourOfSamples*{case}", f"--gtest_output=json:{report}"],
                                   env=os.environ | {"PHY_TEST_SECONDS": str(seconds)}, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        if status != 0:
            sys.exit(f"{case}, {seconds} s: failed; {report.read_text() if report.exists() else 'no report'}")
        properties = json.loads(report.read_text())["testsuites"][0]["testsuite"][0]
    return {"case": case} | {name: float(properties[name]) for name in NAMES} | {"peak_mib": usage.ru_maxrss / 1024}


def measure(program):
    root = pathlib.Path(__file__).resolve().parent.parent
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, check=True, capture_output=True, text=True).stdout.strip()
    processor = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())[1]
    context = {"date": datetime.date.today().isoformat(), "processor": processor, "threads": os.cpu_count(), "git_commit": commit}
    return {"context": context, "runs": [run(program, seconds, case) for seconds in SECONDS for case in CASES]}


def hour_figures(results):
    lines = []
    for row in json.loads((results / "hour.json").read_text())["runs"]:
        error = max(abs(row["clock_error_first_ppm"]), abs(row["clock_error_last_ppm"]))
        lines.append([
            f"{row['seconds']:.0f} s, {CASES[row['case']]}",
            f"{row['clock_offset_ppm']:+.1f} ppm, {row['clock_swing_ppm']:.2f} ppm over {row['clock_period_s']:.0f} s",
            f"{error:.4f} ppm", f"{row['slots']:.0f}", f"{row['lost_slots']:.0f}",
            *(f"{100 * row[name]:.2f} %" for name in ("ideal_mean_evm", "mean_evm", "worst_evm")),
            f"{row['cpu_seconds']:.0f} s", f"{row['peak_mib']:.0f} MiB"])
    return {"hour": rows(["signal", "clock: offset, swing", "error of the clock", "slots", "lost", "EVM, ideal", "EVM, mean",
                          "EVM, worst slot", "CPU time", "memory, peak"], lines)}


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parent.parent
    test = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else here / "build/release/tests/files/warnings_test")
    (here / "data/results/hour.json").write_text(json.dumps(measure(test), indent=1) + "\n")

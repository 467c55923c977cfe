#!/usr/bin/env python3
"""Draws a trace of demod_app --trace (Trace Event JSON) as a timeline: a row for the reader, each buffer set and the writer.

    tools/plot_trace.py TRACE.json [-o TIMELINE.png] [--from MS] [--to MS]

Needs Matplotlib (Debian: python3-matplotlib).
"""

import argparse
import collections
import json
import math
import pathlib

from plotting import fail, pyplot, save

COLOURS = ("tab:gray", "tab:blue", "tab:red", "tab:green", "tab:orange", "tab:purple")
LEGEND_COLUMNS = 4


def read_trace(path):
    """Row names by thread, and the spans, of a trace file."""
    try:
        events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
        names = {event["tid"]: event["args"]["name"] for event in events
                 if event["ph"] == "M" and event["name"] == "thread_name"}
        spans = [{"name": event["name"], "tid": int(event["tid"]), "ts": float(event["ts"]), "dur": float(event["dur"])}
                 for event in events if event["ph"] == "X"]
    except OSError as error:
        fail(f"{path}: {error.strerror}")
    except (ValueError, KeyError, TypeError):
        fail(f"{path}: expected Trace Event JSON: a list traceEvents of complete events and metadata")
    if not spans:
        fail(f"{path}: has no spans to draw")
    return names, spans


def draw(names, spans, first_ms, last_ms):
    rows = sorted({*names, *(span["tid"] for span in spans)})
    steps = list(dict.fromkeys(span["name"] for span in sorted(spans, key=lambda span: span["ts"])))
    bars = collections.defaultdict(list)
    for span in spans:
        bars[span["name"], span["tid"]].append((span["ts"] / 1e3, span["dur"] / 1e3))
    # The legend has a row of its own, as tall as it needs.
    heights = 0.3 * -(-len(steps) // LEGEND_COLUMNS), 1 + 0.5 * len(rows)
    figure = pyplot().figure(figsize=(14, sum(heights)), layout="constrained")
    grid = figure.add_gridspec(2, 1, height_ratios=heights)
    axes = figure.add_subplot(grid[1])
    for step, colour in zip(steps, COLOURS * len(steps)):
        for position, row in enumerate(rows):
            if bars[step, row]:
                axes.broken_barh(bars[step, row], (position - 0.4, 0.8), facecolor=colour, edgecolor="black", linewidth=0.3)
        axes.broken_barh([], (0, 0), facecolor=colour, edgecolor="black", linewidth=0.3, label=step)
    axes.set_yticks(range(len(rows)), [names.get(row, str(row)) for row in rows])
    axes.invert_yaxis()
    axes.set_xlabel("milliseconds")
    axes.set_xlim(first_ms, last_ms)
    axes.grid(axis="x", alpha=0.3)
    legend = figure.add_subplot(grid[0])
    legend.axis("off")
    legend.legend(*axes.get_legend_handles_labels(), loc="center", ncols=LEGEND_COLUMNS, frameon=False)
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     allow_abbrev=False)
    parser.add_argument("trace", type=pathlib.Path)
    parser.add_argument("-o", "--output", type=pathlib.Path, help="default: the trace's name with .png")
    parser.add_argument("--from", dest="first", type=float, metavar="MS", help="left edge, default 0")
    parser.add_argument("--to", dest="last", type=float, metavar="MS", help="right edge, default: the last span's end")
    args = parser.parse_args()
    output = args.output or args.trace.with_suffix(".png")
    names, spans = read_trace(args.trace)
    end = max(span["ts"] + span["dur"] for span in spans) / 1e3
    first, last = args.first or 0.0, end if args.last is None else args.last
    if not first < last < math.inf:
        fail(f"nothing to draw from {first:g} to {last:g} ms: the trace ends at {end:g}")
    save(draw(names, spans, first, last), output)
    print(output)


if __name__ == "__main__":
    main()

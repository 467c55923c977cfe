#!/usr/bin/env python3
"""Draws a capture.

    tools/plot_capture.py CAPTURE.h5 [--soft-bits SOFTBITS.h5] [--measure REPORT.json] -o CAPTURE.png

Of symbols: where they lie, the EVM of its rows, and what its soft bits are like. REPORT.json is what measure_app
CAPTURE.h5 --by row --json prints; without it measure_app is run, with the options behind "--" at the end of the command
line, which count for the picture too.

Of samples and a grid: spectrum, power of resource elements, and what demod_app CAPTURE.h5 -o SOFTBITS.h5 has made of them,
with --write llr,symbols,channel the channel estimate and the constellation after equalisation. Needs NumPy, h5py and
Matplotlib (Debian: python3-h5py, python3-matplotlib).
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys

from capture_file import (KINDS, MISSING, attribute_of, find_iq, kind_of, open_file, read_antennas, read_symbols, shape_of,
                          text_of)
from plotting import fail, pyplot, reason, save

if MISSING is None:
    import numpy

    from recording_axes import (draw_channel, draw_slots, draw_spectrum_of_grid, draw_spectrum_of_samples,
                                draw_waterfall, grid_of, read_link)
    from symbol_axes import draw_constellation, draw_evm, draw_soft_bits

ROWS_WITHOUT_SHAPE = 200
MOST_VALUES = 1 << 22


def measure(options, symbols_by_row, symbols):
    """The report of measure_app with rows."""
    if options.measure is not None:
        try:
            return json.loads(options.measure.read_text(encoding="utf-8"))
        except OSError as error:
            fail(f"{options.measure}: {reason(error)}")
        except ValueError as error:
            fail(f"{options.measure}: expected the JSON of measure_app: {error}")
    built = pathlib.Path(__file__).resolve().parent.parent / "build/release/apps/measure_app"
    app = options.measure_app or (built if built.exists() else shutil.which("measure_app"))
    if app is None:
        fail("no measure_app: expected it in build/release/apps or PATH, or --measure-app or --measure")
    # One row for all would be a curve of one point.
    by = "row" if symbols_by_row < symbols else str(max(1, -(-symbols // ROWS_WITHOUT_SHAPE)))
    command = [app, options.capture, "--by", by, "--json", "--quiet", *options.further]
    if options.dataset is not None:
        command += ["--dataset", options.dataset]
    if options.interleaved:
        command += ["--interleaved"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        fail(f"{app}: {reason(error)}")
    if done.returncode != 0:
        fail(done.stderr.strip())
    return json.loads(done.stdout)


def draw_symbols(options, symbols, shape, report):
    has_soft_bits = options.soft_bits is not None
    figure = pyplot().figure(figsize=(15, 8), layout="constrained")
    grid = figure.add_gridspec(2 if has_soft_bits else 1, 2, width_ratios=(1.15, 1))
    draw_constellation(figure, figure.add_subplot(grid[:, 0]), symbols, report)
    draw_evm(figure.add_subplot(grid[0, 1]), report, shape)
    if has_soft_bits:
        draw_soft_bits(figure.add_subplot(grid[1, 1]), options.soft_bits)
    snr = report.get("snr_db")
    figure.suptitle(f"{options.capture.name}: {report.get('modulation') or 'unknown modulation'}, "
                    f"{report['symbols']} symbols" + ("" if snr is None else f", SNR {snr:.2f} dB"), fontsize=14)
    return figure


def plot_symbols(options, dataset):
    try:
        symbols, full_scale = read_symbols(dataset, options.interleaved)
    except OSError:
        fail(f"{options.capture}: {dataset.name}: cannot be read")
    shape = shape_of(dataset, options.interleaved)
    modulation, full_scale_attribute = (attribute_of(dataset, name) for name in ("modulation", "full_scale"))
    symbols = symbols[numpy.isfinite(symbols)]
    if len(symbols) == 0:
        fail(f"{options.capture}: has no finite symbol to draw")
    report = measure(options, shape[-1], int(numpy.prod(shape)))
    if full_scale is not None:
        # The one that the gain is of.
        symbols /= report.get("full_scale") or float(full_scale_attribute or full_scale)
    if report.get("modulation") is None and modulation is not None:
        report["modulation"] = text_of(modulation).lower()
    return draw_symbols(options, symbols, shape, report)


class Received:
    """What demod_app has written beside soft bits; parts that it has not are None."""

    def __init__(self, path):
        self.slots = self.channel = self.symbols = self.modulation = None
        if path is None:
            return
        with open_file(path) as file:
            self.slots = file["slots"][...] if "slots" in file else None
            self.channel = file["channel"][0] if "channel" in file else None
            if "symbols" in file:
                self.symbols = read_symbols(file["symbols"], False)[0]
                self.symbols = self.symbols[numpy.isfinite(self.symbols)]
                self.modulation = text_of(attribute_of(file["symbols"], "modulation") or "")


def draw_received(figure, grid, options, received):
    """The second row of a picture, as far as there is something for it."""
    places = iter(figure.add_subplot(grid[1, column]) for column in range(4))
    if received.channel is not None:
        draw_channel(next(places), received.channel, 0 if received.slots is None else received.slots["slot"][0])
    if received.symbols is not None and len(received.symbols) > 0:
        draw_constellation(figure, next(places), received.symbols, {"modulation": received.modulation},
                           f"{len(received.symbols)} equalised symbols")
    if received.slots is not None:
        draw_slots(next(places), received.slots)
    if options.soft_bits is not None:
        draw_soft_bits(next(places), options.soft_bits, legend_columns=2)


def plot_recording(options, dataset, kind):
    try:
        values = read_antennas(dataset, options.interleaved, kind, MOST_VALUES)
    except OSError:
        fail(f"{options.capture}: {dataset.name}: cannot be read")
    values = numpy.where(numpy.isfinite(values), values, 0)
    sample_rate, center, text = (attribute_of(dataset, name) for name in ("sample_rate", "center_frequency", "link"))
    origin = options.link or options.capture
    if options.link is not None:
        try:
            text = options.link.read_text(encoding="utf-8")
        except OSError as error:
            fail(f"{options.link}: {reason(error)}")
    link = None if text is None else read_link(text_of(text), origin)
    sample_rate = (link or {}).get("carrier", {}).get("sample_rate", sample_rate)
    received = Received(options.soft_bits)
    rows = 2 if options.soft_bits is not None else 1
    figure = pyplot().figure(figsize=(20 if rows == 2 else 15, 5 * rows), layout="constrained")
    grid = figure.add_gridspec(rows, 4)
    spectrum, waterfall = figure.add_subplot(grid[0, :2]), figure.add_subplot(grid[0, 2:])
    elements = values
    if kind == "grid":
        draw_spectrum_of_grid(spectrum, values)
    else:
        draw_spectrum_of_samples(spectrum, values, sample_rate, center)
        try:
            elements = None if link is None or sample_rate is None else grid_of(values, link, sample_rate)
        except (KeyError, TypeError, ValueError) as error:
            fail(f"{origin}: expected a link as docs/link.md describes it: {error!r}")
    if elements is None:
        waterfall.axis("off")
        waterfall.set_title("No resource elements: no link, or no sample rate", loc="left")
    else:
        draw_waterfall(figure, waterfall, elements)
    if rows == 2:
        draw_received(figure, grid, options, received)
    shape = " x ".join(str(length) for length in shape_of(dataset, options.interleaved))
    figure.suptitle(f"{options.capture.name}: {kind}, {shape}", fontsize=14)
    return figure


def parse_options(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     allow_abbrev=False)
    parser.add_argument("capture", type=pathlib.Path)
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True, help="the image; its ending says the format")
    parser.add_argument("--dataset", help="the IQ samples, as for measure_app")
    parser.add_argument("--from", dest="kind", choices=KINDS, help="what the dataset is, where its name does not say it")
    parser.add_argument("--interleaved", action="store_true", help="the dataset is flat: I, Q, I, Q, ...")
    parser.add_argument("--link", type=pathlib.Path, help="of samples; default: the capture's attribute")
    parser.add_argument("--soft-bits", type=pathlib.Path, help="what demod_app has made of the capture")
    parser.add_argument("--measure", type=pathlib.Path, help="a report of measure_app --by --json")
    parser.add_argument("--measure-app", help="the program; default: build/release/apps/measure_app, else in PATH")
    split = arguments.index("--") if "--" in arguments else len(arguments)
    options = parser.parse_args(arguments[:split])
    reading = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    reading.add_argument("--dataset", default=options.dataset)
    reading.add_argument("--interleaved", action="store_true", default=options.interleaved)
    options.further = reading.parse_known_args(arguments[split + 1:], options)[1]
    return options


def main():
    options = parse_options(sys.argv[1:])
    if MISSING is not None:
        fail(f"{MISSING}: expected NumPy, h5py and Matplotlib (Debian: python3-h5py, python3-matplotlib)")
    with open_file(options.capture) as file:
        dataset = find_iq(file, options.dataset, options.interleaved, options.kind)
        kind = kind_of(dataset, options.kind)
        figure = plot_symbols(options, dataset) if kind == "symbols" else plot_recording(options, dataset, kind)
    save(figure, options.output, dpi=110)


if __name__ == "__main__":
    main()

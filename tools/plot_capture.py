#!/usr/bin/env python3
"""Draws a capture: where its symbols lie, the EVM of its rows, and what its soft bits are like.

    tools/plot_capture.py CAPTURE.h5 [--soft-bits SOFTBITS.h5] [--measure REPORT.json] -o CAPTURE.png

REPORT.json is what measure_app CAPTURE.h5 --by row --json prints; without it measure_app is run, with the options behind
"--" at the end of the command line. Needs h5py and Matplotlib (Debian: python3-h5py, python3-matplotlib).
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys

import numpy

FULL_SCALES = {"int8": 2.0**7, "int16": 2.0**15, "int32": 2.0**31}
BITS = {"pi2-bpsk": 1, "bpsk": 1, "qpsk": 2, "16qam": 4, "64qam": 6, "256qam": 8, "1024qam": 10}
MOST_SYMBOLS = 1 << 20
MOST_SOFT_BITS = 1 << 23
ROWS_WITHOUT_SHAPE = 200


def fail(text):
    sys.exit(f"plot_capture.py: {text}")


def some_of(dataset, most):
    """Elements of the first dimension, in blocks at equal distances, at most so many rows of it."""
    rows = dataset.shape[0]
    if rows <= most:
        return dataset[...]
    blocks = 64
    size = max(1, most // blocks)
    firsts = numpy.linspace(0, rows - size, blocks).astype(int)
    return numpy.concatenate([dataset[first:first + size] for first in firsts])


def is_iq(dataset):
    if dataset.dtype.kind == "c":  # what h5py makes of a compound of r and i
        return True
    if dataset.dtype.names is not None:
        return len(dataset.dtype.names) == 2
    return dataset.dtype.kind in "fi" and dataset.ndim > 1 and dataset.shape[-1] == 2


def find_iq(file, name):
    import h5py

    if name is not None:
        if name not in file:
            fail(f"{file.filename}: no dataset {name}")
        return file[name]
    if "iq" in file:
        return file["iq"]
    found = []
    file.visititems(lambda _, item: found.append(item) if isinstance(item, h5py.Dataset) and is_iq(item) else None)
    if len(found) != 1:
        fail(f"{file.filename}: expected one dataset that looks like IQ, found {len(found)}: --dataset says which")
    return found[0]


def read_symbols(dataset):
    """Symbols in units of 1.0, at most MOST_SYMBOLS of them, and the attributes that say what they are."""
    if not is_iq(dataset):
        fail(f"{dataset.file.filename}: {dataset.name}: expected a compound of two numbers or a last dimension of 2")
    in_row = int(numpy.prod(dataset.shape[1:])) // (1 if dataset.dtype.names or dataset.dtype.kind == "c" else 2)
    data = some_of(dataset, max(1, MOST_SYMBOLS // max(1, in_row)))
    if dataset.dtype.kind == "c":
        number, i, q = f"float{4 * dataset.dtype.itemsize}", data.real, data.imag
    elif dataset.dtype.names:
        i, q = (data[name] for name in dataset.dtype.names)
        number = i.dtype.name
    else:
        i, q, number = data[..., 0], data[..., 1], data.dtype.name
    attributes = {**dataset.file.attrs, **dataset.attrs}
    scale = float(attributes.get("full_scale", FULL_SCALES.get(number, 1.0))) if number.startswith("int") else 1.0
    symbols = (i.astype(float) + 1j * q.astype(float)).ravel() / scale
    return symbols[numpy.isfinite(symbols)], attributes


def ideal_points(modulation):
    """Of unit mean power; those of pi/2-BPSK are the ones of both of its symbols."""
    bits = BITS[modulation]
    if bits == 1:
        angles = numpy.pi / 4 + numpy.arange(0, 4, 2 if modulation == "bpsk" else 1) * numpy.pi / 2
        return numpy.exp(1j * angles)
    levels = numpy.arange(1 - 2 ** (bits // 2), 2 ** (bits // 2), 2)
    points = (levels[:, None] + 1j * levels[None, :]).ravel()
    return points / numpy.sqrt(numpy.mean(abs(points) ** 2))


def text_of(attribute):
    return attribute.decode() if isinstance(attribute, bytes) else str(attribute)


def measure(options, symbols_by_row, symbols):
    """The report of measure_app with rows."""
    if options.measure is not None:
        try:
            return json.loads(options.measure.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            fail(f"{options.measure}: expected the JSON of measure_app: {error}")
    built = pathlib.Path(__file__).resolve().parent.parent / "build/release/apps/measure_app"
    app = options.measure_app or (built if built.exists() else shutil.which("measure_app"))
    if app is None:
        fail("no measure_app: expected it in build/release/apps or PATH, or --measure-app or --measure")
    # One row for all would be a curve of one point.
    by = "row" if symbols_by_row < symbols else str(max(1, -(-symbols // ROWS_WITHOUT_SHAPE)))
    command = [app, options.capture, "--by", by, "--json", "--quiet"]
    if options.dataset is not None:
        command += ["--dataset", options.dataset]
    done = subprocess.run(command + options.further, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        fail(done.stderr.strip())
    return json.loads(done.stdout)


def in_percent(ratio):
    return "unknown" if ratio is None else f"{100 * ratio:.3g} %"


def draw_constellation(figure, axes, symbols, report):
    from matplotlib import colors, ticker

    gain = report.get("gain") or 1.0
    modulation = report.get("modulation")
    normalised = symbols / gain
    reach = 1.05 * max(numpy.quantile(abs(part), 0.9995) for part in (normalised.real, normalised.imag))
    if modulation in BITS:
        reach = max(reach, 1.15 * abs(ideal_points(modulation).real).max())
    # The fewer symbols, the larger the cells: clouds, not dust.
    bins = numpy.linspace(-reach, reach, int(numpy.clip(0.7 * numpy.sqrt(len(symbols)), 60, 360)) + 1)
    counts, _, _ = numpy.histogram2d(normalised.real, normalised.imag, bins)
    image = axes.pcolormesh(bins, bins, numpy.ma.masked_equal(counts.T, 0), cmap="viridis",
                            norm=colors.LogNorm(vmin=1, vmax=max(2, counts.max())), rasterized=True)
    if modulation in BITS:
        points = ideal_points(modulation)
        size = 9 if len(points) <= 16 else 6 if len(points) <= 256 else 4
        axes.plot(points.real, points.imag, "+", color="red", label="ideal points", linestyle="none", markersize=size,
                  markeredgewidth=1.2 if len(points) <= 256 else 0.8)
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1.0), frameon=False, borderpad=0.2)
    colorbar = figure.colorbar(image, ax=axes, shrink=0.85, pad=0.02)
    colorbar.set_label("symbols in a cell")
    colorbar.ax.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    colorbar.ax.yaxis.set_major_formatter(ticker.FormatStrFormatter("%d"))
    colorbar.ax.yaxis.set_minor_formatter(ticker.NullFormatter())
    axes.set_aspect("equal")
    axes.set_facecolor("white")
    axes.set_xlabel("I" if report.get("gain") is None else "I / gain")
    axes.set_ylabel("Q" if report.get("gain") is None else "Q / gain")
    found = "no gain" if report.get("gain") is None else f"gain {gain:.4g}"
    axes.set_title(f"Constellation, {len(symbols)} symbols, {found}", loc="left")


def draw_evm(axes, report):
    rows = report.get("rows")
    evm = [numpy.nan if value is None else 100 * value for value in rows["evm_rms"]] if rows else []
    axes.set_xlabel(f"row of {rows['symbols']} symbols" if rows and "symbols" in rows else "row")
    axes.grid(alpha=0.3)
    if not numpy.isfinite(evm).any():
        axes.set_title("Mean power by row (no EVM: the modulation is not known)", loc="left")
        axes.plot([numpy.nan if value is None else value for value in rows["mean_power"]] if rows else [], linewidth=1)
        axes.set_ylabel("mean power")
        axes.set_ylim(bottom=0)
        return
    axes.set_title("Error vector magnitude by row", loc="left")
    axes.plot(evm, color="tab:blue", linewidth=1, marker="." if len(evm) <= 300 else None, markersize=4, label="row")
    axes.axhline(100 * report["evm_rms"], color="black", linestyle="--", linewidth=1,
                 label=f"all symbols: {in_percent(report['evm_rms'])}")
    if report.get("evm_limit") is not None:
        axes.axhline(100 * report["evm_limit"], color="tab:red", linewidth=1,
                     label=f"limit of TS 38.104: {in_percent(report['evm_limit'])}")
    axes.set_ylim(0, 1.35 * max(numpy.nanmax(evm), 100 * (report.get("evm_limit") or 0)))
    axes.set_ylabel("EVM rms, %")
    axes.legend(loc="upper right", ncols=3, frameon=False)


def draw_soft_bits(axes, path):
    import h5py

    try:
        with h5py.File(path, "r") as file:
            llr = file["llr"]
            attributes = dict(llr.attrs)
            values = some_of(llr, MOST_SOFT_BITS // llr.shape[-1])
    except (OSError, KeyError):
        fail(f"{path}: expected an HDF5 file with a dataset llr")
    is_integer = values.dtype.kind == "i"
    scale = float(attributes.get("llr_scale", 1.0)) if is_integer else 1.0
    nats = values.reshape(-1, values.shape[-1]).astype(float) / scale
    most = numpy.abs(nats).max() if is_integer else numpy.quantile(numpy.abs(nats), 0.999)
    # A bin for every step of int8, or a whole number of them: no comb in the histogram.
    steps = max(1, int(round(2 * most * scale / 170))) if is_integer else 1
    bins = numpy.arange(-most * scale - 0.5, most * scale + steps, steps) / scale if is_integer \
        else numpy.linspace(-most, most, 171)
    for axis in range(0, nats.shape[1], 2):
        pair = nats[:, axis:axis + 2]
        label = f"b{axis}, b{axis + 1}" if pair.shape[1] == 2 else f"b{axis}"
        axes.hist(pair.ravel(), bins, histtype="step", linewidth=1.2, label=label,
                  weights=numpy.full(pair.size, 1.0 / pair.size))
    axes.set_yscale("log")
    axes.set_xlabel("log-likelihood ratio, nats (positive: bit 0)")
    axes.set_ylabel("share of soft bits")
    axes.set_title(f"Soft bits, {text_of(attributes.get('method', ''))} in {values.dtype.name}".replace(",  in", " in"),
                   loc="left")
    axes.legend(loc="upper center", ncols=min(5, (nats.shape[1] + 1) // 2), frameon=False)
    low, high = axes.get_ylim()
    axes.set_ylim(low, high * 6)
    axes.grid(alpha=0.3)


def draw(options, symbols, report):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot

    has_soft_bits = options.soft_bits is not None
    figure = pyplot.figure(figsize=(15, 8), layout="constrained")
    grid = figure.add_gridspec(2 if has_soft_bits else 1, 2, width_ratios=(1.15, 1))
    draw_constellation(figure, figure.add_subplot(grid[:, 0]), symbols, report)
    draw_evm(figure.add_subplot(grid[0, 1]), report)
    if has_soft_bits:
        draw_soft_bits(figure.add_subplot(grid[1, 1]), options.soft_bits)
    snr = report.get("snr_db")
    figure.suptitle(f"{options.capture.name}: {report.get('modulation') or 'unknown modulation'}, "
                    f"{report['symbols']} symbols" + ("" if snr is None else f", SNR {snr:.2f} dB"), fontsize=14)
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     allow_abbrev=False)
    parser.add_argument("capture", type=pathlib.Path)
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True, help="the image; its ending says the format")
    parser.add_argument("--dataset", help="the IQ samples, as for measure_app")
    parser.add_argument("--soft-bits", type=pathlib.Path, help="what demod_app has made of the capture")
    parser.add_argument("--measure", type=pathlib.Path, help="a report of measure_app --by --json")
    parser.add_argument("--measure-app", help="the program; default: build/release/apps/measure_app, else in PATH")
    arguments = sys.argv[1:]
    split = arguments.index("--") if "--" in arguments else len(arguments)
    options = parser.parse_args(arguments[:split])
    options.further = arguments[split + 1:]
    try:
        import h5py
        import matplotlib  # noqa: F401
    except ImportError as error:
        fail(f"{error}: expected h5py and Matplotlib (Debian: python3-h5py, python3-matplotlib)")
    try:
        with h5py.File(options.capture, "r") as file:
            dataset = find_iq(file, options.dataset)
            symbols, attributes = read_symbols(dataset)
            has_iq_dimension = dataset.dtype.names is None and dataset.dtype.kind != "c"
            shape = dataset.shape[:-1] if has_iq_dimension else dataset.shape
    except OSError as error:
        fail(f"{options.capture}: {error}")
    if len(symbols) == 0:
        fail(f"{options.capture}: has no finite symbol to draw")
    report = measure(options, shape[-1], int(numpy.prod(shape)))
    if report.get("modulation") is None and "modulation" in attributes:
        report["modulation"] = text_of(attributes["modulation"]).lower()
    figure = draw(options, symbols, report)
    try:
        figure.savefig(options.output, dpi=110)
    except (OSError, ValueError) as error:
        fail(f"{options.output}: {error}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Draws a capture: where its symbols lie, the EVM of its rows, and what its soft bits are like.

    tools/plot_capture.py CAPTURE.h5 [--soft-bits SOFTBITS.h5] [--measure REPORT.json] -o CAPTURE.png

REPORT.json is what measure_app CAPTURE.h5 --by row --json prints; without it measure_app is run, with the options
behind "--" at the end of the command line, which count for the picture too. Needs NumPy, h5py and Matplotlib (Debian:
python3-h5py, python3-matplotlib).
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys

try:
    import h5py
    import matplotlib
    import numpy
    MISSING = None
except ImportError as error:
    MISSING = error

BESIDE_IQ = ("bits", "noise_variance", "llr")
BITS = {"pi2-bpsk": 1, "bpsk": 1, "qpsk": 2, "16qam": 4, "64qam": 6, "256qam": 8, "1024qam": 10}
MOST_SYMBOLS = 1 << 20
MOST_SOFT_BITS = 1 << 23
ROWS_WITHOUT_SHAPE = 200


def fail(text):
    sys.exit(f"plot_capture.py: {text}")


def reason(error):
    """What the system says, without what HDF5 says around it."""
    return os.strerror(error.errno) if getattr(error, "errno", None) else "cannot be read as HDF5"


def open_file(path):
    try:
        with open(path, "rb"):
            pass
        return h5py.File(path, "r")
    except OSError as error:
        fail(f"{path}: {reason(error)}")


def blocks_of(rows, most):
    """First row and size of blocks at equal distances, of at most so many rows together."""
    if rows <= most:
        return [(0, rows)]
    # Even, as I and Q of a flat dataset may be rows of their own.
    size = max(2, most // 64 // 2 * 2)
    return [(int(first) // 2 * 2, size) for first in numpy.linspace(0, rows - size, max(1, most // size))]


def some_of(dataset, most):
    return numpy.concatenate([dataset[first:first + size] for first, size in blocks_of(dataset.shape[0], most)])


def is_iq(dataset, interleaved=False):
    stored = dataset.id.get_type()
    if isinstance(stored, h5py.h5t.TypeCompoundID):
        return stored.get_nmembers() == 2 and not interleaved
    if not isinstance(stored, (h5py.h5t.TypeIntegerID, h5py.h5t.TypeFloatID)):
        return False
    return dataset.size % 2 == 0 if interleaved else dataset.ndim > 1 and dataset.shape[-1] == 2


def find_iq(file, name, interleaved):
    if name is not None:
        if not isinstance(file.get(name), h5py.Dataset):
            fail(f"{file.filename}: no dataset {name}")
        return file[name]
    if isinstance(file.get("iq"), h5py.Dataset):
        return file["iq"]
    found = []

    def visit(path, item):
        is_beside = path.rsplit("/", 1)[-1] in BESIDE_IQ
        if isinstance(item, h5py.Dataset) and not is_beside and is_iq(item, interleaved):
            found.append(item)

    file.visititems(visit)
    if len(found) != 1:
        fail(f"{file.filename}: expected one dataset that looks like IQ, found {len(found)}: --dataset says which")
    return found[0]


def shape_of(dataset, interleaved):
    """Dimensions of the symbols, as measure_app takes them."""
    if isinstance(dataset.id.get_type(), h5py.h5t.TypeCompoundID):
        return dataset.shape
    if dataset.ndim > 1 and dataset.shape[-1] == 2:
        return dataset.shape[:-1]
    if interleaved and dataset.shape[-1] % 2 == 0:
        return (*dataset.shape[:-1], dataset.shape[-1] // 2)
    return (dataset.size // 2,)


def read_symbols(dataset, interleaved):
    """At most MOST_SYMBOLS symbols as they are stored, and their full scale where nothing says another."""
    stored = dataset.id.get_type()
    if not is_iq(dataset, interleaved) or dataset.ndim == 0:
        expected = "an even count of numbers" if interleaved else "a compound of two numbers or a last dimension of 2"
        fail(f"{dataset.file.filename}: {dataset.name}: expected {expected}")
    number, wanted, numbers = stored, h5py.h5t.NATIVE_DOUBLE, 1
    # Through HDF5 itself, as numpy has no complex numbers of two integers or of two float16.
    if isinstance(stored, h5py.h5t.TypeCompoundID):
        number, numbers = stored.get_member_type(0), 2
        wanted = h5py.h5t.create(h5py.h5t.COMPOUND, 16)
        for member in range(2):
            wanted.insert(stored.get_member_name(member), 8 * member, h5py.h5t.NATIVE_DOUBLE)
    in_row = max(1, dataset.size // max(1, dataset.shape[0]) * numbers)
    parts = []
    for first, size in blocks_of(dataset.shape[0], max(1, 2 * MOST_SYMBOLS // in_row)):
        lengths = (size, *dataset.shape[1:])
        space = dataset.id.get_space()
        space.select_hyperslab((first, *(0 for _ in lengths[1:])), lengths)
        parts.append(numpy.empty(size * in_row))
        dataset.id.read(h5py.h5s.create_simple(lengths), space, parts[-1], wanted)
    is_integer = isinstance(number, h5py.h5t.TypeIntegerID)
    return numpy.concatenate(parts).view(complex), 2.0 ** (8 * number.get_size() - 1) if is_integer else None


def attribute_of(dataset, name):
    for place in (dataset.attrs, dataset.file.attrs):
        if name in place:
            return place[name]
    return None


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


def in_percent(ratio):
    return "unknown" if ratio is None else f"{100 * ratio:.3g} %"


def draw_constellation(figure, axes, symbols, report):
    from matplotlib import colors, ticker

    gain = report.get("gain") or 1.0
    modulation = report.get("modulation")
    normalised = symbols / gain
    reach = 1.05 * max(numpy.quantile(abs(part), 0.9995) for part in (normalised.real, normalised.imag)) or 1.0
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


def name_of_rows(rows, shape):
    """Those of a dataset of one dimension are only neighbours."""
    symbols = rows.get("symbols") if rows else None
    if symbols is None:
        return "row"
    if len(shape) > 1 and symbols == shape[-1]:
        return f"row of {symbols} symbols"
    if len(shape) > 1 and symbols == 14 * shape[-1]:
        return f"slot of {symbols} symbols"
    return f"part of {symbols} neighbouring symbols"


def draw_evm(axes, report, shape):
    from matplotlib import ticker

    rows = report.get("rows")
    name = name_of_rows(rows, shape)
    kind = name.split()[0]
    evm = [numpy.nan if value is None else 100 * value for value in rows["evm_rms"]] if rows else []
    axes.set_xlabel(name)
    axes.xaxis.set_major_locator(ticker.MaxNLocator(integer=True, min_n_ticks=1))
    axes.grid(alpha=0.3)
    if not numpy.isfinite(evm).any():
        axes.set_title(f"Mean power by {kind} (no EVM: modulation or gain unknown)", loc="left")
        axes.plot([numpy.nan if value is None else value for value in rows["mean_power"]] if rows else [], linewidth=1)
        axes.set_ylabel("mean power")
        axes.set_ylim(bottom=0)
        return
    axes.set_title(f"Error vector magnitude by {kind}", loc="left")
    axes.plot(evm, color="tab:blue", linewidth=1, marker="." if len(evm) <= 300 else None, markersize=4, label=kind)
    axes.axhline(100 * report["evm_rms"], color="black", linestyle="--", linewidth=1,
                 label=f"all symbols: {in_percent(report['evm_rms'])}")
    if report.get("evm_limit") is not None:
        axes.axhline(100 * report["evm_limit"], color="tab:red", linewidth=1,
                     label=f"limit of TS 38.104: {in_percent(report['evm_limit'])}")
    axes.set_ylim(0, 1.35 * max(numpy.nanmax(evm), 100 * (report.get("evm_limit") or 0)))
    axes.set_ylabel("EVM rms, %")
    axes.legend(loc="upper right", ncols=3, frameon=False)


def draw_soft_bits(axes, path):
    try:
        with open_file(path) as file:
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


def draw(options, symbols, shape, report):
    matplotlib.use("Agg")
    from matplotlib import pyplot

    has_soft_bits = options.soft_bits is not None
    figure = pyplot.figure(figsize=(15, 8), layout="constrained")
    grid = figure.add_gridspec(2 if has_soft_bits else 1, 2, width_ratios=(1.15, 1))
    draw_constellation(figure, figure.add_subplot(grid[:, 0]), symbols, report)
    draw_evm(figure.add_subplot(grid[0, 1]), report, shape)
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
    parser.add_argument("--interleaved", action="store_true", help="the dataset is flat: I, Q, I, Q, ...")
    parser.add_argument("--soft-bits", type=pathlib.Path, help="what demod_app has made of the capture")
    parser.add_argument("--measure", type=pathlib.Path, help="a report of measure_app --by --json")
    parser.add_argument("--measure-app", help="the program; default: build/release/apps/measure_app, else in PATH")
    arguments = sys.argv[1:]
    split = arguments.index("--") if "--" in arguments else len(arguments)
    options = parser.parse_args(arguments[:split])
    reading = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    reading.add_argument("--dataset", default=options.dataset)
    reading.add_argument("--interleaved", action="store_true", default=options.interleaved)
    options.further = reading.parse_known_args(arguments[split + 1:], options)[1]
    if MISSING is not None:
        fail(f"{MISSING}: expected NumPy, h5py and Matplotlib (Debian: python3-h5py, python3-matplotlib)")
    with open_file(options.capture) as file:
        dataset = find_iq(file, options.dataset, options.interleaved)
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
    figure = draw(options, symbols, shape, report)
    try:
        figure.savefig(options.output, dpi=110)
    except OSError as error:
        fail(f"{options.output}: {reason(error)}")
    except ValueError as error:
        fail(f"{options.output}: {error}")


if __name__ == "__main__":
    main()

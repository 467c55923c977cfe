"""The parts of plot_capture.py's pictures that show symbols and soft bits."""

import numpy

from capture_file import open_file, some_of, text_of
from plotting import fail

BITS = {"pi2-bpsk": 1, "bpsk": 1, "qpsk": 2, "16qam": 4, "64qam": 6, "256qam": 8, "1024qam": 10}
MOST_SOFT_BITS = 1 << 23


def ideal_points(modulation):
    """Of unit mean power; those of pi/2-BPSK are the ones of both of its symbols."""
    bits = BITS[modulation]
    if bits == 1:
        angles = numpy.pi / 4 + numpy.arange(0, 4, 2 if modulation == "bpsk" else 1) * numpy.pi / 2
        return numpy.exp(1j * angles)
    levels = numpy.arange(1 - 2 ** (bits // 2), 2 ** (bits // 2), 2)
    points = (levels[:, None] + 1j * levels[None, :]).ravel()
    return points / numpy.sqrt(numpy.mean(abs(points) ** 2))


def in_percent(ratio):
    return "unknown" if ratio is None else f"{100 * ratio:.3g} %"


def draw_constellation(figure, axes, symbols, report, title=None):
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
    axes.set_title(title or f"Constellation, {len(symbols)} symbols, {found}", loc="left")


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
                     label=f"limit: {in_percent(report['evm_limit'])}")
    axes.set_ylim(0, 1.35 * max(numpy.nanmax(evm), 100 * (report.get("evm_limit") or 0)))
    axes.set_ylabel("EVM rms, %")
    axes.legend(loc="upper right", ncols=3, frameon=False)


def draw_soft_bits(axes, path, legend_columns=5):
    try:
        with open_file(path) as file:
            llr = file["llr"]
            attributes = dict(llr.attrs)
            values = some_of(llr, max(1, MOST_SOFT_BITS // llr.shape[-1]))
    except (OSError, KeyError):
        fail(f"{path}: expected an HDF5 file with a dataset llr")
    is_integer = values.dtype.kind == "i"
    scale = float(attributes.get("llr_scale", 1.0)) if is_integer else 1.0
    # A row may be a symbol's or a whole codeword.
    nats = values.reshape(-1, BITS.get(text_of(attributes.get("modulation", "")), values.shape[-1])).astype(float) / scale
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
    pairs = (nats.shape[1] + 1) // 2
    axes.legend(loc="upper center", ncols=min(legend_columns, pairs), frameon=False, handlelength=1.5)
    low, high = axes.get_ylim()
    # Room for the lines of the legend.
    axes.set_ylim(min(low, high / 100), high * 6.0 ** -(-pairs // legend_columns))
    axes.grid(alpha=0.3)

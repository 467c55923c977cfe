#!/usr/bin/env python3
"""Draws what link_sim has measured: bit error rate with theory beside it, EVM and mutual information against SNR.

Bars are intervals of 95 % confidence of bit error rates. An arrow is a point without errors: the rate is below it.

    tools/plot_link.py REPORT.json [MORE.json ...] [-o LINK.png]

Takes what link_sim prints with --json and what it writes with --csv. Needs Matplotlib (Debian: python3-matplotlib).
"""

import argparse
import csv
import json
import pathlib

from plotting import fail, pyplot, save

COLOURS = ("tab:blue", "tab:orange", "tab:green", "tab:red", "tab:purple", "tab:brown", "tab:olive")
MARKERS = ("o", "x", "s", "+", "^", "d", "v", "*")
NUMBERS = ("snr_db", "bits", "bit_errors", "bit_error_rate", "bit_error_rate_low", "bit_error_rate_high", "theory", "evm_rms",
           "mutual_information_bits")
RECEIVER = ("file", "code_rate", "known", "interference_rejection", "time_interpolation", "method", "llr", "llr_scale")
# Below it no simulation comes, and theory would stretch the axis.
LEAST_RATE = 1e-7
LEGEND_COLUMNS = 4


def number(text):
    return None if text in (None, "") else float(text)


def read_points(path):
    """The points of a report, and its channel if it says that."""
    try:
        text = path.read_text(encoding="utf-8")
        if text.lstrip().startswith("{"):
            report = json.loads(text)
            points, context = report["points"], report.get("context", {})
        else:
            points, context = list(csv.DictReader(text.splitlines())), {}
        points = [{**point, **{name: number(point[name]) for name in NUMBERS}, "file": path.name} for point in points]
    except OSError as error:
        fail(f"{path}: {error.strerror}")
    except (ValueError, KeyError, TypeError):
        fail(f"{path}: expected what link_sim prints with --json or writes with --csv")
    if not points:
        fail(f"{path}: has no points to draw")
    return points, context


def label_of(point, names):
    words = []
    for name in names:
        value = point.get(name)
        if value not in (None, "") and name == "code_rate":
            words.append(f"R {float(value):.4g}")
        elif name == "interference_rejection":
            words += ["IRC"] if value in (True, "true") else []
        elif value not in (None, ""):
            words.append({"known": f"known: {value}", "llr_scale": f"x {value:g}" if isinstance(value, float) else
                          f"x {value}"}.get(name, str(value)))
    return " ".join(words)


def curves_of(points):
    """Points by modulation and receiver, and what tells receivers apart."""
    names = [name for name in RECEIVER if len({str(point.get(name)) for point in points}) > 1]
    curves = {}
    for point in points:
        curves.setdefault((point["modulation"], label_of(point, names)), []).append(point)
    for curve in curves.values():
        curve.sort(key=lambda point: point["snr_db"])
    return curves


def styles_of(curves):
    """How each curve is drawn, in all axes."""
    modulations = list(dict.fromkeys(modulation for modulation, _ in curves))
    receivers = list(dict.fromkeys(receiver for _, receiver in curves))
    return {(modulation, receiver): {
        "color": COLOURS[(modulations.index(modulation) if len(modulations) > 1 else receivers.index(receiver))
                         % len(COLOURS)],
        "marker": MARKERS[receivers.index(receiver) % len(MARKERS)],
        "label": " ".join(word for word in (modulation, receiver) if word)}
        for modulation, receiver in curves}


def label_snr(axes):
    axes.set_xlabel("SNR, dB")
    axes.grid(alpha=0.3, which="both")


def draw_curves(axes, curves, styles, value):
    for name, curve in curves.items():
        drawn = [(point["snr_db"], point[value]) for point in curve if point[value] is not None]
        axes.plot([snr for snr, _ in drawn], [y for _, y in drawn], linewidth=1, markersize=5, fillstyle="none",
                  **styles[name])
    label_snr(axes)


def draw_rates(axes, curves, styles):
    """With intervals. Points without errors are bounds: no line joins them to others."""
    shown = []
    for name, curve in curves.items():
        style = {"linewidth": 1, "markersize": 5, "fillstyle": "none", "elinewidth": 1, "capsize": 2, **styles[name]}
        measured = [point for point in curve if point["bit_error_rate"]]
        rates = [point["bit_error_rate"] for point in measured]
        below = [point["bit_error_rate"] - point["bit_error_rate_low"] for point in measured]
        above = [point["bit_error_rate_high"] - point["bit_error_rate"] for point in measured]
        axes.errorbar([point["snr_db"] for point in measured], rates, yerr=(below, above), **style)
        bounds = {point["snr_db"]: point["bit_error_rate_high"] for point in curve if point["bit_error_rate"] == 0}
        if bounds:
            axes.errorbar(list(bounds), list(bounds.values()), yerr=[0.5 * bound for bound in bounds.values()], uplims=True,
                          **{**style, "linestyle": "none", "label": None})
        shown += [*rates, *bounds.values(), *theory_of(curve).values()]
    if any(point["bit_error_rate"] == 0 for curve in curves.values() for point in curve):
        axes.plot([], [], linestyle="none", marker=r"$\downarrow$", markersize=10, color="black",
                  label="no errors: upper bound, 95 %")
    axes.set_yscale("log")
    # Intervals may reach down to almost 0.
    if shown:
        axes.set_ylim(bottom=min(shown) / 4)
    axes.set_ylabel("bit error rate, bars: 95 % confidence")
    label_snr(axes)


def theory_of(curve):
    return {point["snr_db"]: point["theory"] for point in curve
            if point["theory"] is not None and point["theory"] >= LEAST_RATE}


def draw_theory(axes, curves):
    modulations = dict.fromkeys(modulation for modulation, _ in curves)
    label = "theory"
    for modulation in modulations:
        rates = {snr: rate for (each, _), curve in curves.items() if each == modulation
                 for snr, rate in theory_of(curve).items()}
        if rates:
            axes.plot(sorted(rates), [rates[snr] for snr in sorted(rates)], color="black", linestyle="--", linewidth=1,
                      label=label, zorder=1)
            label = None


def draw(points, context):
    curves = curves_of(points)
    # The legend has a row of its own, as tall as it needs.
    lines = (len(curves) + 2 + LEGEND_COLUMNS - 1) // LEGEND_COLUMNS
    figure = pyplot().figure(figsize=(18, 6.5 + 0.25 * lines), layout="constrained")
    grid = figure.add_gridspec(2, 3, height_ratios=(6.5, 0.25 * lines))
    rate, evm, information = (figure.add_subplot(grid[0, column]) for column in range(3))
    styles = styles_of(curves)
    draw_rates(rate, curves, styles)
    draw_theory(rate, curves)
    draw_curves(evm, curves, styles, "evm_rms")
    evm.set_yscale("log")
    evm.set_ylabel("EVM rms")
    draw_curves(information, curves, styles, "mutual_information_bits")
    information.set_ylabel("mutual information, bits a symbol")
    legend = figure.add_subplot(grid[1, :])
    legend.axis("off")
    legend.legend(*rate.get_legend_handles_labels(), loc="center", ncol=LEGEND_COLUMNS, frameon=False, fontsize=9)
    if "channel" in context:
        figure.suptitle(f"{context['channel']}, {context['antennas']} x {context['layers']} (antennas x layers), "
                        f"{context['resource_blocks']} resource blocks", fontsize=13)
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     allow_abbrev=False)
    parser.add_argument("reports", type=pathlib.Path, nargs="+", metavar="REPORT")
    parser.add_argument("-o", "--output", type=pathlib.Path, help="default: the first report's name with .png")
    args = parser.parse_args()
    output = args.output or args.reports[0].with_suffix(".png")
    points, contexts = [], []
    for path in args.reports:
        found, context = read_points(path)
        points += found
        contexts.append(context)
    save(draw(points, contexts[0] if len(contexts) == 1 else {}), output)
    print(output)


if __name__ == "__main__":
    main()

"""The parts of plot_capture.py's pictures that show samples, a grid, and what a receiver made of them."""

import json
import re

import numpy

from plotting import fail

MOST_LINES = 8
DECIBELS = 60
PREFIX = 9 / 128


def read_link(text, origin):
    """The link as JSON, in which comments may stand."""
    strings_and_comments = r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/'
    try:
        return json.loads(re.sub(strings_and_comments, lambda found: found[0] if found[0][0] == '"' else " ", text,
                                 flags=re.DOTALL))
    except ValueError as error:
        fail(f"{origin}: expected a link in JSON: {error}")


def in_decibels(power):
    return 10 * numpy.log10(numpy.maximum(power, 1e-30))


def symbol_starts(size, slots_of_subframe, first_slot, samples):
    """Where the symbols of whole slots begin behind their prefixes."""
    starts, end, number = [], 0, first_slot % slots_of_subframe * 14
    while True:
        is_longer = number % (7 * slots_of_subframe) == 0
        prefix = round(PREFIX * size) + (size // 128 * slots_of_subframe if is_longer else 0)
        if end + prefix + size > samples:
            return starts
        starts.append(end + prefix)
        end += prefix + size
        number += 1


def grid_of(samples, link, sample_rate):
    """Resource elements of samples, (antennas, symbols, subcarriers), but for their phase: as a link says."""
    carrier = link["carrier"]
    spacing = carrier["subcarrier_spacing"]
    size = round(sample_rate / spacing)
    first = carrier.get("first_sample", 0)
    samples = samples[:, first if isinstance(first, int) else 0:]
    shift = carrier.get("frequency_shift", 0) / sample_rate
    samples = samples * numpy.exp(2j * numpy.pi * (shift * numpy.arange(samples.shape[1]) % 1.0))
    starts = symbol_starts(size, spacing // 15000, carrier.get("first_slot", 0), samples.shape[1])
    if not starts:
        fail(f"{samples.shape[1]} samples: expected at least an OFDM symbol of {size} and its prefix")
    # In the middle of the prefix, as a receiver does: a signal that is late or early is no harm.
    back = round(PREFIX * size / 2)
    bins = numpy.fft.fft(numpy.stack([samples[:, start - back:start - back + size] for start in starts], 1))
    blocks = carrier["resource_blocks"]
    zero = 6 * blocks - carrier.get("k0", 0)
    return bins[:, :, (numpy.arange(12 * blocks) - zero) % size]


def draw_spectrum_of_samples(axes, samples, sample_rate, center_frequency):
    """Of each antenna the mean over pieces with a Hann window."""
    # Eight pieces or more, so that noise looks even.
    size = min(samples.shape[1], 2 ** int(numpy.clip(numpy.log2(samples.shape[1]) - 3, 6, 11)))
    window = numpy.hanning(size)
    pieces = samples[:, :samples.shape[1] // size * size].reshape(samples.shape[0], -1, size)
    power = (abs(numpy.fft.fftshift(numpy.fft.fft(pieces * window), -1)) ** 2).mean(1) / (window ** 2).sum()
    rate = sample_rate or 1.0
    frequency = (numpy.arange(size) / size - 0.5) * rate / (1e6 if sample_rate else 1.0)
    for antenna, line in enumerate(in_decibels(power)):
        axes.plot(frequency, line, linewidth=0.8, label=f"antenna {antenna}")
    centre = "" if center_frequency is None else f" from {center_frequency / 1e6:.10g} MHz"
    axes.set_xlabel(f"MHz{centre}" if sample_rate else "cycles a sample")
    finish_spectrum(axes, f"Spectrum, {samples.shape[1]} samples")


def draw_spectrum_of_grid(axes, grid):
    for antenna, line in enumerate(in_decibels((abs(grid) ** 2).mean(1))):
        axes.plot(line, linewidth=0.8, label=f"antenna {antenna}")
    axes.set_xlabel("subcarrier")
    finish_spectrum(axes, f"Mean power of subcarriers, {grid.shape[1]} OFDM symbols")


def finish_spectrum(axes, title):
    axes.set_ylabel("dB")
    axes.set_title(title, loc="left")
    axes.grid(alpha=0.3)
    if len(axes.get_lines()) <= MOST_LINES:
        axes.legend(loc="best", ncols=2, frameon=False)


def draw_waterfall(figure, axes, grid):
    """Power of resource elements, the mean over antennas."""
    power = in_decibels((abs(grid) ** 2).mean(0))
    top = numpy.quantile(power, 0.999)
    low = max(numpy.quantile(power, 0.001), top - DECIBELS)
    image = axes.imshow(power.T, aspect="auto", origin="lower", interpolation="nearest", cmap="viridis",
                        vmin=low, vmax=max(top, low + 1), extent=(0, power.shape[0] / 14, 0, power.shape[1]))
    figure.colorbar(image, ax=axes, pad=0.02).set_label("dB")
    axes.set_xlabel("slot of the capture")
    axes.set_ylabel("subcarrier")
    axes.set_title(f"Power of resource elements, {grid.shape[0]} antenna{'s' if grid.shape[0] > 1 else ''}", loc="left")


def draw_channel(axes, channel, slot):
    """Of one slot, (antennas, layers, subcarriers)."""
    power = in_decibels(abs(channel) ** 2)
    power[channel == 0] = numpy.nan
    lines = power.shape[0] * power.shape[1]
    for antenna in range(power.shape[0]):
        for layer in range(power.shape[1]):
            axes.plot(power[antenna, layer], linewidth=1, label=f"antenna {antenna}, layer {layer}")
    axes.set_xlabel("subcarrier")
    axes.set_ylabel("dB")
    axes.set_title(f"Channel estimate, slot {slot}", loc="left")
    axes.grid(alpha=0.3)
    if lines <= MOST_LINES:
        axes.legend(loc="lower center", ncols=2, frameon=False, fontsize=8)


def draw_slots(axes, slots):
    """SNR of slots, and beside it their EVM."""
    from matplotlib import ticker

    axes.plot(slots["snr_db"], marker=".", linewidth=1, label="SNR at an antenna")
    with numpy.errstate(divide="ignore", invalid="ignore"):
        axes.plot(-20 * numpy.log10(slots["evm"]), marker=".", linewidth=1, label="1 / EVM")
    axes.set_xlabel("slot with the allocation")
    axes.set_ylabel("dB")
    axes.xaxis.set_major_locator(ticker.MaxNLocator(integer=True, min_n_ticks=1))
    timing, frequency = 1e9 * numpy.nanmean(slots["timing_offset"]), numpy.nanmean(slots["frequency_offset"])
    axes.set_title(f"{len(slots)} slots, timing {timing:.0f} ns, frequency {frequency:.0f} Hz off", loc="left")
    axes.legend(loc="best", frameon=False)
    axes.grid(alpha=0.3)

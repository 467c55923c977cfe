"""Tables about the decoder of transport blocks, from data/results/."""

import json

from link_figures import rows

CHECK_NODES = {"minsum": "min-sum", "offset-minsum": "offset min-sum", "boxplus-phi": "sum-product"}
SPEEDS = {"6_iterations": "6 iterations", "until_right": "until right"}


def loss_table(results):
    curves = json.loads((results / "decoder_losses.json").read_text())["curves"]
    return rows(["base graph", "code rate", "phy, 20 iterations", "sum-product, 50", "loss"], [
        [str(curve["base_graph"]), f"{curve['code_rate']:.2f}", f"{curve['snr_db']:.2f} dB", f"{curve['sum_product_snr_db']:.2f} dB",
         f"{curve['loss_db']:.2f} dB"] for curve in curves])


def sionna_runs(results):
    """Curves, and the names of Sionna's decoders."""
    curves = json.loads((results / "decoder_sionna.json").read_text())["curves"]
    return curves, [f"{CHECK_NODES[run['check_nodes']]}, {run['schedule']}" for run in curves[0]["sionna"]]


def sionna_table(results):
    curves, names = sionna_runs(results)
    return rows(["base graph", "code rate", "phy", *names], [
        [str(curve["base_graph"]), f"{curve['code_rate']:.2f}", f"{curve['snr_db']:.2f} dB",
         *(f"{run['snr_db']:.2f} dB" for run in curve["sionna"])] for curve in curves])


def sionna_block_table(results):
    """Sums over all code rates, and the SNRs around both thresholds."""
    curves, names = sionna_runs(results)
    lines = []
    for decoder, name in enumerate(names):
        if not name.endswith("layered"):
            continue
        points = [point for curve in curves
                  for point in curve["sionna"][decoder]["points_snr_blocks_failed_phy_failed_only_phy_failed_only_this_failed"]]
        _, blocks, *_, only_phy, only_sionna = (sum(column) for column in zip(*points))
        lines.append([name, f"{blocks:,}", f"{only_phy:,}", f"{only_sionna:,}"])
    return rows(["Sionna", "blocks", "only phy failed", "only Sionna failed"], lines)


def verdict_table(results):
    points = json.loads((results / "decoder_verdicts.json").read_text())["points"]
    return rows(["Es/N0", "code blocks", "CRC holds", "of these wrong"], [
        [f"{point['snr_db']:.1f} dB", f"{point['blocks']:,}", f"{point['crc_holds']:,}", f"{point['of_these_wrong']:,}"]
        for point in points])


def part(name):
    """decode/bg1_384/0.5/6_iterations/20_slots: code rate, end, slots."""
    _, _, rate, end, *slots = name.split("/iterations:")[0].split("/")
    return rate, end, slots[0].replace("_slots", "") if slots else ""


def speed_table(results):
    lines = []
    for path in sorted(results.glob("coding_*.json")):
        done = json.loads(path.read_text())
        context = done["context"]
        place = context["gpu"].split(",")[0] if "gpu" in context else "one core, " + context["best_backend"]
        for row in done["benchmarks"]:
            if not row["name"].startswith("decode/"):
                continue
            rate, end, slots = part(row["name"])
            lines.append([place, rate, SPEEDS[end], slots or "-", f"{1000 * row['Gsym/s']:.0f} Mbit/s" if not slots
                          else f"{row['Gsym/s']:.1f} Gbit/s"])
    return rows(["place", "code rate", "end", "slots a call", "speed"], lines)


def coding_figures(results):
    return {"decoder losses": loss_table(results), "decoder sionna": sionna_table(results),
            "decoder sionna blocks": sionna_block_table(results), "decoder verdicts": verdict_table(results),
            "decoder speed": speed_table(results)}

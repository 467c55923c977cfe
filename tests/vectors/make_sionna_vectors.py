#!/usr/bin/env python3
"""Writes PUSCH of many configurations as Sionna transmits it, for the tests that read sionna_*.npz.

    make_sionna_vectors.py FOLDER [--seed N] [--count N] [--only N[,N...]]

It takes Sionna 2.2 (pip install sionna). Each file is one slot; the slots of a frame at 15, 30, 60 and 120
kHz, 150 in all, come once each. The other settings are spread over them. Where a carrier is wider than the
allocation, data and codeword are those of Sionna's narrow carrier, put on the resource blocks of the allocation
in the order listed, and DM-RS are cut out of those of a Sionna carrier that begins at common resource block 0.

A file has what README.md says, and in "meta" three keys more: "carrier_resource_blocks",
"first_crb" and "ranges", which are the resource blocks of the allocation.
"""

import argparse
import json
import pathlib
import random
import warnings

import numpy as np
import torch
from sionna.phy.nr import CarrierConfig, PUSCHConfig, PUSCHDMRSConfig, PUSCHTransmitter, TBConfig

MODULATIONS = {  # (table, indices) of MCS
    "qpsk": (1, range(0, 10)),
    "16qam": (1, range(10, 17)),
    "64qam": (1, range(17, 29)),
    "256qam": (2, range(20, 28)),
}
SPACINGS = {15: 10, 30: 20, 60: 40, 120: 80}
SUBCARRIERS = 12
SYMBOLS = 14


def slots():
    """All slots of a frame of all spacings, mixed: the n-th is that of file n."""
    pairs = [(spacing, slot) for spacing, count in SPACINGS.items() for slot in range(count)]
    random.Random(38211).shuffle(pairs)
    return pairs


def dmrs_settings():
    """What Sionna lets DM-RS be, of all that differs in where they stand and how they are told apart."""
    settings = []
    for mapping in "AB":
        for length in (1, 2):
            for additional in range(4 if length == 1 else 2):
                for kind in (1, 2):
                    for groups in range(1, kind + 2):
                        settings.append((mapping, length, additional, kind, groups))
    random.Random(38212).shuffle(settings)
    return settings


def symbols_of(draw, mapping, length):
    """First symbol and count of an allocation, all 14 in a third of the cases."""
    if draw.random() < 1 / 3:
        return [0, SYMBOLS]
    if mapping == "A":
        return [0, draw.randint(4, SYMBOLS)]
    count = draw.randint(5 if length == 2 else 2, SYMBOLS)
    return [draw.randint(0, SYMBOLS - count), count]


def ranges_of(draw, carrier_blocks):
    """Resource blocks of an allocation: all, one range, or up to three in any order."""
    kind = draw.choice(["all", "one", "several"])
    if kind == "all" or carrier_blocks < 16:
        return [[0, carrier_blocks]]
    if kind == "one":
        first = draw.randint(0, carrier_blocks // 2)
        return [[first, draw.randint(4, carrier_blocks - first)]]
    count = 3 if carrier_blocks >= 24 else 2
    edges = sorted(draw.sample(range(0, carrier_blocks + 1, 4), 2 * count))
    ranges = [[first, last - first] for first, last in zip(edges[::2], edges[1::2])]
    draw.shuffle(ranges)
    return ranges


def config_of(number, seed):
    """The settings of file `number`."""
    draw = random.Random(seed * 1000 + number)
    spacing, slot = slots()[number % 150]
    every = dmrs_settings()
    mapping, length, additional, kind, groups = every[number % len(every)]
    type_a = 3 if additional < 3 and draw.random() < 0.25 else 2
    symbols = symbols_of(draw, mapping, length)
    if mapping == "A" and length == 2:
        type_a = 2 if symbols[1] == 4 else type_a
        symbols[1] = max(symbols[1], type_a + 2)
    if mapping == "A":
        symbols[1] = max(symbols[1], type_a + length)
    ports = [port for port in range((4 if kind == 1 else 6) * length)
             if port % (4 if kind == 1 else 6) // 2 < groups]
    layers = draw.randint(1, min(4, len(ports)))
    blocks = draw.choice([draw.randint(4, 30), draw.randint(20, 60), draw.randint(40, 80)])
    return {
        "spacing": spacing, "slot": slot, "mapping": mapping, "length": length, "additional": additional,
        "type": kind, "groups": groups, "type_a": type_a, "symbols": symbols,
        "ports": sorted(draw.sample(ports, layers)) if draw.random() < 0.7 else draw.sample(ports, layers),
        "modulation": draw.choice(list(MODULATIONS)), "carrier_blocks": blocks,
        "ranges": ranges_of(draw, blocks), "first_crb": draw.choice([0, 0, draw.randint(1, 190)]),
        "cell_id": draw.randint(0, 1007), "rnti": draw.choice([1, 65519, draw.randint(1, 65519)]),
        "scrambling_id": draw.choice([None, draw.randint(0, 1023), 1023]),
        "n_scid": draw.randint(0, 1),
        "dmrs_id": draw.choice([None, [draw.randint(0, 65535), draw.randint(0, 65535)], [65535, 65535]]),
    }


def pusch(settings, resource_blocks, mcs):
    """PUSCHConfig on a carrier of so many resource blocks from common resource block 0 on."""
    table, index = mcs
    layers = len(settings["ports"])
    config = PUSCHConfig(
        carrier_config=CarrierConfig(n_cell_id=settings["cell_id"], subcarrier_spacing=settings["spacing"],
                                     n_size_grid=resource_blocks, slot_number=settings["slot"]),
        pusch_dmrs_config=PUSCHDMRSConfig(
            config_type=settings["type"], length=settings["length"],
            additional_position=settings["additional"], type_a_position=settings["type_a"],
            num_cdm_groups_without_data=settings["groups"], n_id=settings["dmrs_id"],
            n_scid=settings["n_scid"]),
        tb_config=TBConfig(mcs_table=table, mcs_index=index, n_id=settings["scrambling_id"],
                           channel_type="PUSCH"),
        mapping_type=settings["mapping"], symbol_allocation=settings["symbols"], n_rnti=settings["rnti"])
    # Without precoding there are as many antenna ports as layers, of which Sionna lets nobody set three.
    config.dmrs.dmrs_port_set = settings["ports"]
    config.num_layers = layers
    config._num_antenna_ports = layers
    config.check_config()
    return config


def mcs_in_turn(draw, settings, blocks):
    """The MCS of the modulation whose transport blocks fit, in any order."""
    table, indices = MODULATIONS[settings["modulation"]]
    for index in draw.sample(list(indices), len(indices)):
        config = pusch(settings, blocks, (table, index))
        if config.num_coded_bits > 0 and 24 <= config.tb_size < 0.95 * config.num_coded_bits:
            yield table, index


def transmit(config, seed):
    """Grid (ports, symbols of the allocation, subcarriers), codeword as scrambled, transport block."""
    transmitter = PUSCHTransmitter(config, return_bits=False, precision="double", device="cpu")
    bits = np.random.default_rng(seed).integers(0, 2, config.tb_size)
    block = torch.tensor(bits, dtype=torch.float64).reshape(1, 1, -1)
    codeword = transmitter._tb_encoder(block)
    grid = transmitter(block)
    return grid.numpy()[0, 0], codeword.numpy().astype(np.uint8).reshape(-1), bits.astype(np.uint8)


def spread(narrow, settings, config, mcs):
    """The narrow carrier's grid on the allocation's resource blocks, with the DM-RS that belong there."""
    blocks = [b for first, count in settings["ranges"] for b in range(first, first + count)]
    places = np.array([SUBCARRIERS * b + k for b in blocks for k in range(SUBCARRIERS)])
    first, count = settings["symbols"]
    crb = settings["first_crb"]
    wide = pusch(settings, crb + settings["carrier_blocks"], mcs)
    grid = np.zeros((len(settings["ports"]), first + count, SUBCARRIERS * settings["carrier_blocks"]),
                    np.complex128)
    held = config.dmrs_mask  # (subcarriers, symbols): elements without data
    with_data = ~held.T[first:first + count]
    on_carrier = np.zeros((len(settings["ports"]), count, places.size), np.complex128)
    on_carrier[:, with_data] = narrow[:, with_data]
    at = SUBCARRIERS * crb + places
    dmrs = wide.dmrs_grid.transpose(0, 2, 1)[:, first:first + count][:, :, at]
    on_carrier[:, ~with_data] = dmrs[:, ~with_data]
    assert np.allclose(dmrs[:, with_data], 0)
    grid[:, first:, places] = on_carrier
    return grid


def write(folder, number, seed):
    """File `number`; its name, or None where Sionna has no such slot."""
    settings = config_of(number, seed)
    draw = random.Random(seed * 1000 + number + 500)
    blocks = sum(count for _, count in settings["ranges"])
    for mcs in mcs_in_turn(draw, settings, blocks):
        config = pusch(settings, blocks, mcs)
        try:
            narrow, codeword, block = transmit(config, seed * 1000 + number)
            break
        except ValueError as error:
            print(f"{number}: {error}")  # such as a code rate that its encoder does not have
    else:
        print(f"{number}: left out: {settings}")
        return None
    dmrs = config.dmrs
    meta = {
        "made_with": "sionna 2.2.0",
        "subcarrier_spacing": 1000 * settings["spacing"],
        "resource_blocks": blocks,
        "carrier_resource_blocks": settings["carrier_blocks"],
        "first_crb": settings["first_crb"],
        "ranges": settings["ranges"],
        "symbols": settings["symbols"],
        "layers": len(settings["ports"]),
        "modulation": settings["modulation"],
        "target_code_rate": float(config.tb.target_coderate),
        "rnti": settings["rnti"],
        "scrambling_id": config.carrier.n_cell_id if config.tb.n_id is None else config.tb.n_id,
        "cell_id": settings["cell_id"],
        "slot": settings["slot"],
        "dmrs": {
            "type": settings["type"], "length": settings["length"],
            "additional_positions": settings["additional"],
            "cdm_groups_without_data": settings["groups"], "ports": settings["ports"],
            "n_scid": settings["n_scid"],
            "scrambling_id": settings["cell_id"] if dmrs.n_id is None else dmrs.n_id[settings["n_scid"]],
            "symbols": config.dmrs_symbol_indices, "typeA_position": settings["type_a"],
            "mapping_type": settings["mapping"],
        },
    }
    grid = spread(narrow, settings, config, mcs)
    name = (f"sionna_{number:03}_{settings['modulation']}_{len(settings['ports'])}layers"
            f"_type{settings['type']}_{settings['mapping']}{settings['length']}{settings['additional']}")
    np.savez_compressed(folder / f"{name}.npz", grid=grid.astype(np.complex64), codeword=codeword,
                        transport_block=block, meta=json.dumps(meta))
    return name


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=13)
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--only", help="numbers of files, in place of --count")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    numbers = [int(n) for n in arguments.only.split(",")] if arguments.only else range(arguments.count)
    written = [name for number in numbers if (name := write(arguments.folder, number, arguments.seed))]
    print(f"{len(written)} files in {arguments.folder}")


if __name__ == "__main__":
    main()

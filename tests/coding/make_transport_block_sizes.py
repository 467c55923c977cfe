#!/usr/bin/env python3
"""Sizes of transport blocks by Sionna 2.2, the rows of transport_block_sizes.inc.

    make_transport_block_sizes.py > transport_block_sizes.inc

Configurations are random, with code rates from the MCS tables. Small allocations are as likely as large ones, and
every fourth row has a code rate below 1/4, so that all branches of TS 38.214 clause 5.1.3.2 have rows.
"""

import random

from sionna.phy.nr.utils import calculate_tb_size, decode_mcs_index

ROWS = 240
SEED = 38214
LAST_INDEX = {1: 28, 2: 27, 3: 28, 4: 26}


def configuration(chance, has_low_rate):
    table = 3 if has_low_rate else chance.choice(list(LAST_INDEX))
    index = chance.randint(0, 9 if has_low_rate else LAST_INDEX[table])
    order, rate = decode_mcs_index(index, table_index=table, is_pusch=False)
    symbols = chance.randint(2, 14)
    return {
        "modulation_order": int(order), "target_coderate": float(rate), "num_layers": chance.randint(1, 4),
        "num_prbs": min(275, int(2 ** chance.uniform(0, 8.2))), "num_ofdm_symbols": symbols,
        "num_dmrs_per_prb": chance.choice([4, 6, 8, 12]) * chance.randint(1, min(4, symbols - 1)),
        "num_ov": chance.choice([0, 6, 12, 18]) if symbols > 6 else 0,
        "tb_scaling": chance.choice([1.0, 1.0, 0.5, 0.25]),
    }


def main():
    print("// Made by make_transport_block_sizes.py with Sionna 2.2: blocks, symbols, DM-RS elements, overhead,")
    print("// R x 1024, Qm, layers, scaling; size.\n// clang-format off")
    chance = random.Random(SEED)
    for row in range(ROWS):
        given = configuration(chance, row % 4 == 0)
        size = int(calculate_tb_size(**given, return_cw_length=False)[0])
        print("{{{num_prbs}, {num_ofdm_symbols}, {num_dmrs_per_prb}, {num_ov}, {rate:g}, {modulation_order}, "
              "{num_layers}, {tb_scaling:g}, {size}}},".format(
                  **given, rate=1024 * given["target_coderate"], size=size))


if __name__ == "__main__":
    main()

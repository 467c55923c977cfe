"""Writes sionna_codewords.inc: codewords of Sionna (Apache-2.0, https://nvlabs.github.io/sionna) for random
transport blocks of every base graph and lifting-size set. Run by hand: sionna_codewords.py sionna_codewords.inc"""
import random
import sys

import numpy
import torch
from sionna.phy.fec.crc import CRCEncoder
from sionna.phy.fec.ldpc import LDPC5GEncoder
from sionna.phy.nr import TBEncoder

from codewords import MODULATIONS, VERSIONS, digest, payload_bits

FACTORS = [2, 3, 5, 7, 9, 11, 13, 15]


def graph_of(size, rate):
    return 2 if size <= 292 or (size <= 3824 and rate <= 0.67) or rate <= 0.25 else 1


def lifting_of(graph, size, bits):
    columns = 22 if graph == 1 else 10 if bits > 640 else 9 if bits > 560 else 8 if bits > 192 else 6
    sizes = [(factor << power, index) for index, factor in enumerate(FACTORS) for power in range(8)
             if factor << power <= 384]
    return min(pair for pair in sizes if pair[0] * columns >= bits)


def one_block(size, rate, per_symbol, seed):
    coded = int(size / rate) // per_symbol * per_symbol
    crc = CRCEncoder("CRC24A" if size > 3824 else "CRC16")
    bits = crc(torch.tensor([payload_bits(size, seed)], dtype=torch.float32))
    encoder = LDPC5GEncoder(bits.shape[1], coded, num_bits_per_symbol=per_symbol,
                            bg=f"bg{graph_of(size, rate)}")
    words = encoder(bits, rv=list(range(VERSIONS))).numpy()[0]
    return coded, [digest(word) for word in words]


def many_blocks(size, rate, per_symbol, layers, seed):
    unit = per_symbol * layers
    coded = int(size / rate) // unit * unit
    encoder = TBEncoder(target_tb_size=size, num_coded_bits=coded, target_coderate=rate,
                        num_bits_per_symbol=per_symbol, num_layers=layers, use_scrambler=False)
    if encoder.tb_size != size:
        raise ValueError("another size")
    word = encoder(torch.tensor([payload_bits(size, seed)], dtype=torch.float32)).numpy()
    return coded, [digest(word)]


def write(out, size, rate, coded, per_symbol, layers, seed, digests):
    words = ", ".join(f"0x{word:016X}" for word in digests)
    print(f"{{{size}, {rate}, {coded}, phy::Modulation::{MODULATIONS[per_symbol]}, {layers}, {seed}, {{{words}}}}},", file=out)


def main(out):
    print("// Made by sionna_codewords.py with Sionna 2.2: size, R, G, modulation, layers, seed; digests by redundancy", file=out)
    print("// version.", file=out)
    print("// clang-format off", file=out)
    random.seed(7)
    seen = {}
    tries = 0
    while tries < 20000 and len(seen) < 92:
        tries += 1
        graph = random.choice([1, 2])
        size = 8 * int(numpy.exp(random.uniform(numpy.log(3), numpy.log(1050 if graph == 1 else 475))))
        rate = round(random.uniform(0.21 if graph == 2 else 0.34, 0.92), 3)
        per_symbol = random.choice(list(MODULATIONS))
        if graph_of(size, rate) != graph:
            continue
        bits = size + (24 if size > 3824 else 16)
        key = (graph, *lifting_of(graph, size, bits))
        if key in seen:
            continue
        try:
            coded, digests = one_block(size, rate, per_symbol, tries)
        except (ValueError, AssertionError):
            continue
        seen[key] = True
        write(out, size, rate, coded, per_symbol, 1, tries, digests)
    print(f"// {len(seen)} lifting sizes of both graphs, then transport blocks of many code blocks.", file=out)
    written = 0
    while written < 16:
        tries += 1
        rate = round(random.uniform(0.15, 0.92), 3)
        longest = 8424 if rate > 0.25 else 3816
        count = random.randint(2, 12)
        size = 8 * count * random.randint(int(longest / 8 * 0.6), longest // 8) - 24
        layers = random.randint(1, 4)
        per_symbol = random.choice(list(MODULATIONS))
        try:
            coded, digests = many_blocks(size, rate, per_symbol, layers, tries)
        except (ValueError, AssertionError):
            continue
        written += 1
        write(out, size, rate, coded, per_symbol, layers, tries, digests)


with open(sys.argv[1], "w", encoding="utf-8") as file:
    main(file)

"""Compares the blocks of one layer in sionna_codewords.inc with codewords of py3gpp, whose encoder solves the parity
checks in another way. py3gpp is AGPL, so it is not installed. Run by hand: py3gpp_codewords.py sionna_codewords.inc"""
import re
import sys

import numpy
from py3gpp import nrCodeBlockSegmentLDPC, nrCRCEncode, nrDLSCHInfo, nrLDPCEncode, nrRateMatchLDPC

from codewords import MODULATIONS, digest, payload_bits

NAMES = {"qpsk": "QPSK", "qam16": "16QAM", "qam64": "64QAM", "qam256": "256QAM"}
BLOCK = re.compile(r"\{(\d+), ([\d.]+), (\d+), phy::Modulation::(\w+), (\d+), (\d+), \{(.*?)\}\}")


def is_right(info):
    """py3gpp 0.6.0 takes another set of lifting sizes for short blocks of base graph 2, and for Z = 104 of base graph 1
    a shift of Z - 105 = -1 for no shift."""
    return info["K"] > 640 if info["BGN"] == 2 else info["Zc"] != 104


def codewords(info, size, coded, modulation, seed, versions):
    payload = numpy.array(payload_bits(size, seed))
    blocks = nrCodeBlockSegmentLDPC(nrCRCEncode(payload, info["CRC"])[:, 0], info["BGN"])
    encoded = nrLDPCEncode(blocks, info["BGN"], algo="thangaraj")
    return [digest(nrRateMatchLDPC(encoded, coded, version, NAMES[modulation], 1)) for version in range(versions)]


def main(vectors):
    compared = 0
    different = 0
    for size, rate, coded, modulation, layers, seed, words in BLOCK.findall(vectors):
        info = nrDLSCHInfo(int(size), float(rate))
        if layers != "1" or not is_right(info):
            continue
        expected = [int(word, 16) for word in words.split(", ")]
        found = codewords(info, int(size), int(coded), modulation, int(seed), len(expected))
        compared += 1
        if found != expected:
            different += 1
            print(f"different: {size} bits, rate {rate}, {coded} coded, {modulation}")
    print(f"{compared} blocks, {different} different")
    return compared == 0 or different > 0


assert set(NAMES) == set(MODULATIONS.values())
with open(sys.argv[1], encoding="utf-8") as file:
    sys.exit(main(file.read()))

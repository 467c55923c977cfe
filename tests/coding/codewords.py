"""What the scripts share that make codewords with other libraries."""
import numpy

MODULATIONS = {2: "qpsk", 4: "qam16", 6: "qam64", 8: "qam256"}
VERSIONS = 4


def payload_bits(size, seed):
    bits = []
    state = seed
    for _ in range(size // 8):
        state = (state * 1664525 + 1013904223) % 2**32
        bits += [state >> 24 >> (7 - i) & 1 for i in range(8)]
    return bits


def digest(bits):
    """FNV-1a of one byte per bit."""
    value = 0xCBF29CE484222325
    for bit in numpy.asarray(bits).astype(int).ravel():
        value = (value ^ int(bit)) * 0x100000001B3 % 2**64
    return value

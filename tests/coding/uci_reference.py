#!/usr/bin/env python3
"""Prints the values that block_code_test.cpp holds. Shares no code with the library; needs a minute.

Words: coded words of the (32, K) code from the columns of TS 38.212 table 5.3.3.3-1, as hexadecimal numbers
with the first coded bit in the most significant bit.

Error rates over AWGN with binary signals, Es/N0 per coded bit: of K = 4 from the formula for biorthogonal
signals (all words of the first 6 columns are +-1 rows of a Hadamard matrix), of K = 8 by simulation of a
receiver that compares all words.
"""
import math
import random

# Column k: bit i is M_{i,k}.
COLUMNS = [
    0xFFFFFFFF, 0x4BA5A933, 0x7D910E5A, 0x6D26339C, 0x71C7C3E0, 0x7E0FFC00,
    0x731D8E64, 0x6B44F5B0, 0x7DC218EC, 0x4DA1B746, 0x42F0FFFF]


def coded(word, size):
    column_sum = 0
    for k in range(size):
        if word >> k & 1:
            column_sum ^= COLUMNS[k]
    return column_sum


def first_bit_first(number):
    return int(format(number, '032b')[::-1], 2)


def normal_below(x):
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


def biorthogonal_error_rate(size, es_over_n0):
    """Of 2^size words in 32 coded bits."""
    mean = math.sqrt(2.0 * 32 * es_over_n0)
    steps, width = 20000, 12.0
    right = 0.0
    for n in range(steps):
        x = mean - width + 2.0 * width * (n + 0.5) / steps
        if x > 0.0:
            density = math.exp(-0.5 * (x - mean) ** 2) / math.sqrt(2.0 * math.pi)
            right += density * (2.0 * normal_below(x) - 1.0) ** (2 ** (size - 1) - 1)
    return 1.0 - right * 2.0 * width / steps


def simulated_error_rate(size, es_over_n0, trials, seed):
    draw = random.Random(seed)
    words = [[1 - 2 * (coded(w, size) >> i & 1) for i in range(32)] for w in range(2 ** size)]
    sigma = math.sqrt(0.5 / es_over_n0)
    wrong = 0
    for _ in range(trials):
        sent = draw.randrange(2 ** size)
        received = [s + draw.gauss(0.0, sigma) for s in words[sent]]
        metrics = [sum(r * s for r, s in zip(received, word)) for word in words]
        wrong += metrics.index(max(metrics)) != sent
    return wrong / trials


def main():
    draw = random.Random(38212)
    for size in range(3, 12):
        for word in draw.sample(range(1, 2 ** size), 3):
            print(f'{{{size}, 0x{word:03X}, 0x{first_bit_first(coded(word, size)):08X}}},')
    for size in range(3, 12):
        # Of linear codes it is the smallest weight.
        print('minimum distance', size, min(bin(coded(w, size)).count('1') for w in range(1, 2 ** size)))
    for decibels in (-11.0, -9.0, -7.0):
        print('K = 4', decibels, 'dB', biorthogonal_error_rate(4, 10 ** (decibels / 10)))
    for decibels in (-8.0, -6.0):
        print('K = 8', decibels, 'dB', simulated_error_rate(8, 10 ** (decibels / 10), 10000, 1))


if __name__ == '__main__':
    main()

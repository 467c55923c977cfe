#!/usr/bin/env python3
"""Compares the LDPC decoder with those of Sionna 2.2 (Apache-2.0, https://nvlabs.github.io/sionna): the SNR at which a
tenth of the transport blocks fails in white Gaussian noise. All decoders get the same int8 soft bits, and 20 iterations.

    sionna_decoders.py DECODE_SOFT_BITS RESULTS.json    decode_soft_bits is built with -D PHY_BENCH=ON

Writes data/results/decoder_sionna.json. tools/figures.py makes the table.
"""

import datetime
import functools
import importlib.metadata
import json
import math
import multiprocessing
import pathlib
import re
import subprocess
import sys

import numpy
import torch
from sionna.phy.fec.crc import CRCEncoder
from sionna.phy.fec.ldpc import LDPC5GDecoder, LDPC5GEncoder

ITERATIONS = 20
TARGET = 0.1
STEPS_PER_NAT = 6
STEPS_PER_DB = 10
COARSE_STEP, COARSE_BLOCKS = 4, 16  # 0.4 dB
BLOCKS, BATCH = 150, 50
# The longest transport blocks of one code block: without filler bits, and Z is 384.
SIZES = {1: 8424, 2: 3824}
# Base graph, code rate, and an SNR of some failures in tenths of a decibel.
CURVES = ((1, 1 / 3, -45), (2, 0.2, -71), (1, 0.5, -22), (2, 1 / 3, -45), (1, 2 / 3, -1), (2, 0.5, -21), (1, 0.75, 9),
          (1, 0.9, 33))
SIONNA = tuple((schedule, rule) for schedule in ("layered", "flooding")
               for rule in ("minsum", "offset-minsum", "boxplus-phi"))


class QuickDecoder(LDPC5GDecoder):
    """Sionna's decoder with its check nodes, but a sum per bit that only the bits of a layer change. Sionna's own sums
    up all messages after each layer. check() compares the two."""

    def __init__(self, encoder, schedule, rule):
        super().__init__(encoder, cn_update=rule, cn_schedule="layered", num_iter=ITERATIONS)
        self._is_flooding = schedule == "flooding"
        self._layers = [(self._vn_idx_t[edges].long(), mask[None, :, :, None])
                        for edges, mask in zip(self._schedule_edge_idx, self._schedule_cn_mask)]

    def _bp_iter(self, msg_v2c, msg_c2v, llr_ch, x_hat, it):
        if it == 0:
            self._sums = llr_ch.T.contiguous()
            self._messages = [torch.zeros(()) for _ in self._layers]
        before = self._sums.clone() if self._is_flooding else self._sums
        for layer, (bits, mask) in enumerate(self._layers):
            old = self._messages[layer]
            extrinsic = (before[bits] - old).clamp_(-self._llr_max, self._llr_max)
            new = self._cn_update(extrinsic.view(*mask.shape[:3], -1), mask, self._llr_max).view(len(bits), -1)
            self._sums.index_add_(0, bits, new - old)
            self._messages[layer] = new
        return msg_v2c, msg_c2v, self._sums.T.clamp(-self._llr_max, self._llr_max)


class Curve:
    """Failures of all decoders at one code rate, by SNR in tenths of a decibel."""

    def __init__(self, program, graph, rate):
        self.graph, self.rate, self.size = graph, rate, SIZES[graph]
        self.crc = CRCEncoder("CRC24A" if graph == 1 else "CRC16")
        information = self.size + self.crc.crc_length
        self.coded = round(information / rate)
        self.encoder = LDPC5GEncoder(information, self.coded, bg=f"bg{graph}")
        # Of the MCS: only for the choice of the base graph.
        mcs_rate = max(rate, 0.26) if graph == 1 else min(rate, 0.67)
        self.command = [program, str(self.size), str(mcs_rate), str(self.coded)]
        self.decoders = {(schedule, rule): QuickDecoder(self.encoder, schedule, rule) for schedule, rule in SIONNA}
        self.failures = {}

    @functools.lru_cache(maxsize=4)
    def blocks(self, snr, count):
        """Information bits and soft bits. E_s / N0 is that of real symbols of energy 1, whose noise has the variance
        N0 / 2."""
        random = numpy.random.default_rng([self.graph, self.coded, snr + 1000])
        payload = random.integers(0, 2, (BLOCKS, self.size))[:count]
        bits = self.crc(torch.tensor(payload, dtype=torch.float32))
        n0 = 10 ** (-snr / STEPS_PER_DB / 10)
        symbols = 1 - 2 * self.encoder(bits).numpy()
        received = symbols + math.sqrt(n0 / 2) * random.standard_normal((BLOCKS, self.coded))[:count]
        steps = numpy.clip(numpy.rint(4 / n0 * received * STEPS_PER_NAT), -127, 127).astype(numpy.int8)
        return bits, steps

    def failed_of_phy(self, bits, steps):
        rows = subprocess.run(self.command, input=steps.tobytes(), stdout=subprocess.PIPE, check=True).stdout
        rows = numpy.frombuffer(rows, numpy.uint8).reshape(len(steps), -1)
        payload = numpy.unpackbits(rows[:, :-1], axis=1)
        return (rows[:, -1] == 0) | (payload != bits[:, :self.size].numpy()).any(axis=1)

    def failed(self, decoder, snr, count):
        """One verdict per block. The first blocks of an SNR are the same for every decoder and count."""
        key = decoder, snr, count
        if key not in self.failures:
            bits, steps = self.blocks(snr, count)
            if decoder == "phy":
                self.failures[key] = self.failed_of_phy(bits, steps)
            else:
                llr = -torch.tensor(steps, dtype=torch.float32) / STEPS_PER_NAT
                decoded = torch.cat([self.decoders[decoder](part) for part in llr.split(BATCH)])
                self.failures[key] = (decoded != bits).any(dim=1).numpy()
        return self.failures[key]

    def walk(self, decoder, snr, step, count):
        """Neighbours with a block error rate of TARGET between them."""
        rates = {snr: self.failed(decoder, snr, count).mean()}
        up = rates[snr] >= TARGET
        while (rates[snr] >= TARGET) == up:
            snr += step if up else -step
            rates[snr] = self.failed(decoder, snr, count).mean()
        return (snr - step, snr) if up else (snr, snr + step)

    def threshold_db(self, decoder, snr):
        """By a straight line in the logarithm of the rate. No failure counts as half of one."""
        low, high = self.walk(decoder, sum(self.walk(decoder, snr, COARSE_STEP, COARSE_BLOCKS)) // 2, 1, BLOCKS)
        upper, lower = (math.log(max(self.failed(decoder, point, BLOCKS).sum(), 0.5) / BLOCKS) for point in (low, high))
        return (low + (upper - math.log(TARGET)) / (upper - lower)) / STEPS_PER_DB

    def report(self, decoder, snr_db):
        """With the blocks that only one of both decoders lost, at all SNRs where the other was measured."""
        points = sorted(snr for name, snr, count in self.failures if name == decoder and count == BLOCKS)
        rows = []
        for snr in points:
            phy, other = self.failed("phy", snr, BLOCKS), self.failed(decoder, snr, BLOCKS)
            failures = other, phy, phy & ~other, other & ~phy
            rows.append([snr / STEPS_PER_DB, BLOCKS, *(int(failed.sum()) for failed in failures)])
        return {"schedule": decoder[0], "check_nodes": decoder[1], "snr_db": round(snr_db, 3),
                "points_snr_blocks_failed_phy_failed_only_phy_failed_only_this_failed": rows}

    def check(self, snr):
        """In eighths of a nat, whose sums are exact, both decoders give the same bits."""
        llr = -torch.tensor(self.blocks(snr, COARSE_BLOCKS)[1][:2], dtype=torch.float32) / 8
        for schedule in ("layered", "flooding"):
            plain = LDPC5GDecoder(self.encoder, cn_update="offset-minsum", cn_schedule=schedule, num_iter=ITERATIONS)
            if not torch.equal(self.decoders[schedule, "offset-minsum"](llr), plain(llr)):
                raise ValueError(f"base graph {self.graph}, code rate {self.rate:.3f}, {schedule}: other bits than Sionna's")


@torch.no_grad()
def measure(program, graph, rate, snr):
    torch.set_num_threads(1)
    curve = Curve(program, graph, rate)
    curve.check(snr)
    phy_db = curve.threshold_db("phy", snr)
    phy_points = [snr for _, snr, count in curve.failures if count == BLOCKS]
    reports = []
    for decoder in SIONNA:
        snr_db = curve.threshold_db(decoder, snr)
        for point in phy_points if decoder[0] == "layered" else ():
            curve.failed(decoder, point, BLOCKS)
        reports.append(curve.report(decoder, snr_db))
        print(f"base graph {graph}, code rate {rate:.3f}: phy {phy_db:.2f} dB, {' '.join(decoder)} {snr_db:.2f} dB",
              file=sys.stderr, flush=True)
    return {"base_graph": graph, "code_rate": round(rate, 3), "snr_db": round(phy_db, 3), "sionna": reports}


def context():
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=pathlib.Path(__file__).parent, check=True, capture_output=True,
                            text=True).stdout.strip()
    processor = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())[1]
    versions = {f"{name}_version": importlib.metadata.version(package)
                for name, package in (("sionna", "sionna-no-rt"), ("torch", "torch"))}
    return {"date": datetime.date.today().isoformat(), "processor": processor, "git_commit": commit, **versions}


def main(program, output):
    with multiprocessing.get_context("spawn").Pool() as pool:
        curves = pool.starmap(measure, [(program, *curve) for curve in CURVES], chunksize=1)
    curves.sort(key=lambda curve: (curve["base_graph"], curve["code_rate"]))
    results = {"context": context(), "iterations": ITERATIONS, "curves": curves}
    pathlib.Path(output).write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])

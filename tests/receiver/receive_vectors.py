#!/usr/bin/env python3
"""Recordings of PUSCH that Sionna transmits, received by demod_app.

    receive_vectors.py DEMOD_APP FOLDER [--seed N] [--only NAME] [--decode] [--keep FOLDER]

FOLDER holds sionna_*.npz, those of make_sionna_vectors.py too. Each becomes captures of samples and of a
grid, with a link as text, after OFDM, a channel to several antennas, offsets and noise of NumPy. Soft bits have
to have the signs of the codeword; for another identity they must not, and where DM-RS do not agree, demod_app
has to say so. With --decode, Sionna decodes the soft bits, and its transport block has to pass its CRC and be
the one that was sent. Exit status 1 if something fails.
"""

import argparse
import copy
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import h5py
import numpy as np

SYMBOLS = 14


class Vector:
    """A slot as Sionna transmits it."""

    def __init__(self, path):
        stored = np.load(path)
        self.name = path.stem
        self.meta = json.loads(str(stored["meta"]))
        self.transport_block = stored["transport_block"]
        meta = self.meta
        self.ranges = meta.get("ranges", [[0, meta["resource_blocks"]]])
        self.blocks = meta.get("carrier_resource_blocks", meta["resource_blocks"])
        self.first_crb = meta.get("first_crb", 0)
        grid = stored["grid"].astype(complex)
        self.grid = np.zeros((grid.shape[0], SYMBOLS, grid.shape[2]), complex)
        self.grid[:, : grid.shape[1]] = grid  # a grid may end with its allocation
        c_init = meta["rnti"] * 2**15 + meta["scrambling_id"]
        self.codeword = stored["codeword"] ^ gold(c_init, stored["codeword"].size)

    def link(self, carrier):
        """The text form, with as few keys as it takes."""
        meta, dmrs = self.meta, self.meta["dmrs"]
        own = {"subcarrier_spacing": meta["subcarrier_spacing"], "resource_blocks": self.blocks,
               "first_crb": self.first_crb, "cell_id": meta["cell_id"], "first_slot": carrier.first_slot,
               "k0": carrier.k0}
        pilots = {"type": dmrs["type"], "length": dmrs["length"], "ports": dmrs["ports"],
                  "cdm_groups_without_data": dmrs["cdm_groups_without_data"], "n_scid": dmrs["n_scid"],
                  "mapping_type": dmrs["mapping_type"], "additional_positions": dmrs["additional_positions"],
                  "power_db": 10 * math.log10(dmrs["cdm_groups_without_data"])}
        if dmrs["mapping_type"] == "A":
            pilots["typeA_position"] = dmrs["typeA_position"]
        if dmrs["scrambling_id"] != meta["cell_id"]:
            pilots["scrambling_id"] = dmrs["scrambling_id"]
        allocation = {"rnti": meta["rnti"], "modulation": meta["modulation"], "layers": meta["layers"],
                      "resource_blocks": self.ranges if len(self.ranges) > 1 else self.ranges[0],
                      "symbols": meta["symbols"], "slots": [meta["slot"]], "dmrs": pilots}
        if meta["scrambling_id"] != meta["cell_id"]:
            allocation["scrambling_id"] = meta["scrambling_id"]
        return {"direction": "uplink", "carrier": own, "allocation": allocation}


def gold(c_init, count):
    """c(n) of TS 38.211 clause 5.2.1."""
    skipped = 1600
    x1 = np.zeros(skipped + count + 31, np.uint8)
    x2 = np.zeros_like(x1)
    x1[0] = 1
    x2[:31] = [c_init >> i & 1 for i in range(31)]
    # 28 elements at a time: the nearest that one follows from lies 28 back.
    for n in range(31, x1.size, 28):
        m = min(n + 28, x1.size)
        x1[n:m] = x1[n - 28 : m - 28] ^ x1[n - 31 : m - 31]
        x2[n:m] = x2[n - 28 : m - 28] ^ x2[n - 29 : m - 29] ^ x2[n - 30 : m - 30] ^ x2[n - 31 : m - 31]
    return (x1 ^ x2)[skipped : skipped + count]


class Carrier:
    """OFDM of TS 38.211 clauses 5.3.1 and 5.4; slots count from first_slot, which begins at sample 0."""

    def __init__(self, spacing, blocks, fft_size, first_slot, k0=0, center_frequency=0.0, shift=0.0):
        self.spacing, self.n, self.first_slot, self.k0 = spacing, fft_size, first_slot, k0
        self.f0, self.shift = center_frequency, shift
        self.rate = spacing * fft_size
        self.per_subframe = spacing // 15000
        self.hertz = (np.arange(12 * blocks) - 6 * blocks + k0) * float(spacing)
        self.bins = np.round(self.hertz / spacing).astype(int) % fft_size
        # Of the symbols of a subframe: samples of prefixes, and where those begin.
        long = fft_size * self.per_subframe * 16 // 2048
        self.prefix = [fft_size * 144 // 2048 + (long if l % (7 * self.per_subframe) == 0 else 0)
                       for l in range(SYMBOLS * self.per_subframe)]
        self.start = np.concatenate([[0], np.cumsum(np.array(self.prefix) + fft_size)])

    def slot_start(self, slot):
        return ((slot // self.per_subframe) * self.start[-1]
                + self.start[SYMBOLS * (slot % self.per_subframe)])

    def slot_samples(self, slot):
        return self.slot_start(slot + 1) - self.slot_start(slot)

    def wave(self, grids, late):
        """Grids (slots, symbols, subcarriers) of the slots from first_slot on, late by a part of a sample."""
        parts = []
        turn = np.exp(-2j * np.pi * late * self.hertz / self.rate)
        for slot, grid in enumerate(grids, self.first_slot):
            for symbol in range(SYMBOLS):
                l = SYMBOLS * (slot % self.per_subframe) + symbol
                end = float(self.start[l] + self.prefix[l])
                phase = np.exp(-2j * np.pi * (math.fmod(self.f0 * end, self.rate) / self.rate))
                bins = np.zeros(self.n, complex)
                bins[self.bins] = grid[symbol] * turn * phase
                useful = np.fft.ifft(bins)
                parts += [useful[self.n - self.prefix[l] :], useful]
        return np.concatenate(parts)

    def grid(self, samples, slots):
        """(antennas, slots x symbols, subcarriers) of samples that are on time and have no shift."""
        early = self.n * 144 // 2048 // 2
        ramp = np.exp(2j * np.pi * early * self.hertz / self.rate)
        rows = []
        for slot in range(self.first_slot, self.first_slot + slots):
            at = self.slot_start(slot) - self.slot_start(self.first_slot)
            for symbol in range(SYMBOLS):
                l = SYMBOLS * (slot % self.per_subframe) + symbol
                end = self.start[l] + self.prefix[l]
                begin = at + end - self.start[SYMBOLS * (slot % self.per_subframe)] - early
                phase = np.exp(2j * np.pi * (math.fmod(self.f0 * float(end), self.rate) / self.rate))
                bins = np.fft.fft(samples[:, begin : begin + self.n])
                rows.append(bins[:, self.bins] * ramp * phase)
        return np.stack(rows, axis=1)


def through_air(rng, carrier, grids, antennas, snr_db, timing, frequency):
    """Samples (antennas, samples) of grids (slots, ports, symbols, subcarriers); timing in samples."""
    slots, ports = grids.shape[:2]
    spread = 0.04 * 144 / 2048 * carrier.n
    length = carrier.slot_start(carrier.first_slot + slots) - carrier.slot_start(carrier.first_slot)
    received = np.zeros((antennas, length), complex)
    for path in range(16):
        delay = (path + rng.random()) / 2
        gains = math.sqrt(math.exp(-delay) / 4) * (rng.normal(size=(antennas, ports))
                                                    + 1j * rng.normal(size=(antennas, ports)))
        late = delay * spread + timing
        whole = math.floor(late)
        for port in range(ports):
            wave = np.roll(carrier.wave(grids[:, port], late - whole), whole)
            received += gains[:, port, None] * wave
    noise = rng.normal(size=received.shape) + 1j * rng.normal(size=received.shape)
    received += noise * math.sqrt(0.5 * 10 ** (-snr_db / 10) / carrier.n)
    t = np.arange(length) / carrier.rate
    start = carrier.slot_start(carrier.first_slot) / carrier.rate
    return received * np.exp(2j * np.pi * (frequency * t - carrier.shift * (t + start)))


def compound(samples):
    """int16, as many radios write it."""
    scaled = np.round(samples * (30000 / np.abs(samples).max()))
    stored = np.empty(samples.shape, [("r", "<i2"), ("i", "<i2")])
    stored["r"], stored["i"] = scaled.real, scaled.imag
    return stored


class Checker:
    """Runs demod_app, and counts what is not as it has to be."""

    def __init__(self, demod_app, folder):
        self.demod_app, self.folder, self.failures, self.checks = demod_app, folder, 0, 0

    def check(self, holds, what):
        self.checks += 1
        if not holds:
            self.failures += 1
            print(f"FAILED: {what}")

    def write(self, name, kind, data, link, **attributes):
        """A capture and its link beside it."""
        path = self.folder / f"{name}.h5"
        with h5py.File(path, "w") as file:
            file[kind] = data
            for key, value in attributes.items():
                file[kind].attrs[key] = value
        path.with_suffix(".json").write_text(json.dumps(link))
        return path

    def receive(self, path, link=None, options=(), fails_with=None):
        """Report, soft bits and the table of slots; None where it fails, as it should with those words."""
        out = path.with_name(path.stem + "_out.h5")
        out.unlink(missing_ok=True)
        link_file = path.with_suffix(".json")
        if link is not None:
            link_file = path.with_name(path.stem + "_other.json")
            link_file.write_text(json.dumps(link))
        command = [self.demod_app, path, "--link", link_file, "-o", out, "--force", "--json",
                   "--llr", "float32", *options]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
        if fails_with is not None:
            fails = done.returncode == 1 and fails_with in done.stderr
            self.check(fails and not out.exists(), f"{path.name}: status {done.returncode}: {done.stderr}")
            return None
        if done.returncode != 0:
            self.check(False, f"{path.name}: status {done.returncode}: {done.stderr.strip()}")
            return None
        report = json.loads(done.stdout)
        with h5py.File(out) as file:
            return report, file["llr"][...], file["slots"][...]


def bit_error_rate(llr, codeword):
    return np.mean(np.where(codeword == 0, llr > 0, llr < 0) == 0)


def decode(vector, llr):
    """The transport block of Sionna's decoder, and whether its CRC holds."""
    import torch  # pylint: disable=import-outside-toplevel
    from sionna.phy.nr import TBDecoder, TBEncoder  # pylint: disable=import-outside-toplevel

    meta = vector.meta
    bits = {"qpsk": 2, "16qam": 4, "64qam": 6, "256qam": 8}[meta["modulation"]]
    encoder = TBEncoder(target_tb_size=vector.transport_block.size, num_coded_bits=llr.size,
                        target_coderate=meta["target_code_rate"], num_bits_per_symbol=bits,
                        num_layers=meta["layers"], n_rnti=meta["rnti"], n_id=meta["scrambling_id"],
                        use_scrambler=False, device="cpu")
    decoder = TBDecoder(encoder, device="cpu")
    # Sionna's soft bits are positive for 1.
    block, holds = decoder(torch.tensor(-llr, dtype=torch.float32).reshape(1, -1))
    return block.numpy().reshape(-1).astype(np.uint8), bool(holds.numpy().reshape(-1)[0])


def check_capture(checker, vector, path, arguments, rows=1, options=(), rate=0.0):
    """All rows are the codeword, with no more than so many bits wrong."""
    result = checker.receive(path, options=options)
    if result is None:
        return
    _, llr, slots = result
    name = path.name
    checker.check(llr.shape == (rows, vector.codeword.size), f"{name}: /llr is {llr.shape}")
    if llr.shape != (rows, vector.codeword.size):
        return
    rates = [bit_error_rate(row, vector.codeword) for row in llr]
    checker.check(max(rates) <= rate, f"{name}: bit error rates {rates}")
    checker.check(len(slots) == rows, f"{name}: {len(slots)} rows in /slots")
    if arguments.decode:
        block, holds = decode(vector, llr[0])
        checker.check(holds and np.array_equal(block, vector.transport_block), f"{name}: no transport block")


def check_others(checker, vector, path, link):
    """Another identity gives nothing, and where DM-RS differ there is an error that says so."""
    meta = vector.meta
    others = {
        "rnti": (("allocation", "rnti"), meta["rnti"] ^ 0x155, False),
        "scrambling": (("allocation", "scrambling_id"), meta["scrambling_id"] ^ 0x155, False),
        "dmrs": (("allocation", "dmrs", "scrambling_id"), meta["dmrs"]["scrambling_id"] ^ 0x155, True),
        "first_crb": (("carrier", "first_crb"), vector.first_crb + 1, True),
    }
    for name, (keys, value, differs) in others.items():
        other = copy.deepcopy(link)
        place = other
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = value
        result = checker.receive(path, other, fails_with="DM-RS were found in none" if differs else None)
        if result is None:
            continue
        rate = bit_error_rate(result[1][0], vector.codeword)
        checker.check(rate > 0.4, f"{path.name}, other {name}: bit error rate {rate}")


def check_vector(checker, vector, number, arguments):
    """Captures of one vector."""
    rng = np.random.default_rng(arguments.seed + number)
    meta = vector.meta
    spacing = meta["subcarrier_spacing"]
    sizes = [s for s in (128, 256, 384, 512, 640, 768, 1024, 1280, 1536, 2048, 3072, 4096)
             if s >= 12 * vector.blocks + 12]
    per_frame = 10 * spacing // 15000
    # One slot before and two after; past the end of the frame, numbers begin anew.
    before = min(1, meta["slot"])
    carrier = Carrier(spacing, vector.blocks, sizes[number % 2], meta["slot"] - before,
                      k0=[0, -6, 6][number % 3], center_frequency=[3.75e9, 0.0, 28.0001e9][number % 3],
                      shift=[0.0, 1.5, -2.0][number % 3] * spacing)
    slots = before + 3
    grids = (rng.choice([-1, 1], (slots, *vector.grid.shape))
             + 1j * rng.choice([-1, 1], (slots, *vector.grid.shape))) / math.sqrt(2)
    grids[before] = vector.grid
    antennas = min(8, max(4, meta["layers"] + 4))
    prefix = carrier.n * 144 // 2048
    tells_frequency = len(meta["dmrs"]["symbols"]) > meta["dmrs"]["length"]
    frequency = 0.003 * spacing * rng.uniform(-1, 1) if tells_frequency else 0.0
    samples = through_air(rng, carrier, grids, antennas, 45.0, prefix * rng.uniform(-0.25, 0.1), frequency)

    link = vector.link(carrier)
    link["carrier"]["frequency_shift"] = carrier.shift
    attributes = {"sample_rate": carrier.rate, "center_frequency": carrier.f0 + carrier.shift}
    if carrier.f0 == 0.0:
        link["carrier"]["center_frequency"] = 0
    path = checker.write(f"{vector.name}_samples", "samples", compound(samples), link, **attributes)
    check_capture(checker, vector, path, arguments)
    if number % 4 == 0:
        check_others(checker, vector, path, link)

    t = np.arange(samples.shape[1]) / carrier.rate
    unshifted = samples * np.exp(2j * np.pi * carrier.shift
                                 * (t + carrier.slot_start(carrier.first_slot) / carrier.rate))
    grid = carrier.grid(unshifted, slots).astype(np.complex64)
    path = checker.write(f"{vector.name}_grid", "grid", grid, vector.link(carrier))
    check_capture(checker, vector, path, arguments)

    if number % 3 == 0:
        # Where the slot begins is searched: something was recorded before.
        lead = int(rng.integers(1, carrier.slot_samples(0) // 2))
        begin = int(carrier.slot_start(meta["slot"]) - carrier.slot_start(carrier.first_slot))
        noise = np.mean(np.abs(samples)) * 1e-3
        earlier = noise * (rng.normal(size=(antennas, lead)) + 1j * rng.normal(size=(antennas, lead)))
        recorded = np.concatenate([earlier, samples[:, begin:]], axis=1)
        auto = copy.deepcopy(link)
        auto["carrier"]["first_sample"] = "auto"
        path = checker.write(f"{vector.name}_auto", "samples", compound(recorded), auto, **attributes)
        check_capture(checker, vector, path, arguments)
    return per_frame


def check_frames(checker, vector, arguments):
    """Every frame has the slot; captures that end inside one, or have a sample there that is not finite."""
    rng = np.random.default_rng(arguments.seed)
    meta = vector.meta
    per_frame = 10 * meta["subcarrier_spacing"] // 15000
    size = next(s for s in (512, 1024, 2048, 4096) if s >= 12 * vector.blocks + 12)
    carrier = Carrier(meta["subcarrier_spacing"], vector.blocks, size, meta["slot"] + 1,
                      center_frequency=3.5e9 + 30e3, shift=2e5)
    grids = np.zeros((2 * per_frame, *vector.grid.shape), complex)
    for slot in (per_frame - 1, 2 * per_frame - 1):
        grids[slot] = vector.grid
    samples = through_air(rng, carrier, grids, 4, 40.0, -3.3, 40.0)
    link = vector.link(carrier)
    link["carrier"].update(sample_rate=carrier.rate, center_frequency=carrier.f0,
                           frequency_shift=carrier.shift)
    path = checker.write("frames", "samples", compound(samples), link)
    check_capture(checker, vector, path, arguments, rows=2)
    with h5py.File(path, "a") as file:
        file["codeword"] = np.stack([vector.codeword, vector.codeword])
    result = checker.receive(path)
    if result is not None:
        report = result[0]
        checker.check(report.get("bit_errors") == 0, f"frames: bit_errors {report.get('bit_errors')}")
        numbers = [int(number) % per_frame for number in result[2]["slot"]]
        checker.check(numbers == [meta["slot"]] * 2, f"frames: slots {numbers}")

    path = checker.write("cut", "samples", compound(samples[:, :-100]), link)
    check_capture(checker, vector, path, arguments, rows=1)
    spoilt = samples.astype(np.complex64)
    begin = carrier.slot_start(carrier.first_slot + per_frame - 1) - carrier.slot_start(carrier.first_slot)
    inside = carrier.slot_samples(meta["slot"]) * 11 // 20  # in the eighth symbol, behind its prefix
    spoilt[2, begin + inside] = np.nan
    path = checker.write("spoilt", "samples", spoilt, link)
    result = checker.receive(path)
    if result is not None:
        rates = [bit_error_rate(row, vector.codeword) for row in result[1]]
        checker.check(rates[1] == 0.0 < rates[0], f"spoilt: bit error rates {rates}")


def check_radio(checker, vector, arguments):
    """As from a cheap radio: two antennas, far off in frequency, a constant beside the signal, few bits, and
    the recording begins anywhere."""
    rng = np.random.default_rng(arguments.seed)
    meta = vector.meta
    spacing = meta["subcarrier_spacing"]
    per_frame = 10 * spacing // 15000
    size = next(s for s in (512, 1024, 2048, 4096) if s >= 12 * vector.blocks + 12)
    first = (meta["slot"] + per_frame - 4) % per_frame
    carrier = Carrier(spacing, vector.blocks, size, first, center_frequency=3.6e9)
    grids = np.zeros((per_frame + 8, *vector.grid.shape), complex)
    for slot in (4, 4 + per_frame):
        grids[slot] = vector.grid
    for part in (0.17, -0.31):
        samples = through_air(rng, carrier, grids, 2, 22.0, 0.0, part * spacing)
        samples = samples[:, 1234:]
        samples += (0.05 + 0.02j) * np.sqrt(np.mean(np.abs(samples) ** 2))
        scaled = samples * (12 / np.abs(samples).max())
        stored = np.stack([np.round(scaled.real), np.round(scaled.imag)], axis=-1).astype(np.int8)
        link = vector.link(carrier)
        link["carrier"].update(sample_rate=carrier.rate, center_frequency=carrier.f0, first_sample="auto")
        path = checker.write(f"radio_{part}", "samples", stored, link)
        check_capture(checker, vector, path, arguments, rows=2, rate=0.01)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("demod_app")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=13)
    parser.add_argument("--only", default="", help="vectors whose names have this in them")
    parser.add_argument("--decode", action="store_true", help="by Sionna")
    parser.add_argument("--keep", type=pathlib.Path, help="where captures stay")
    arguments = parser.parse_args()
    paths = [path for path in sorted(arguments.folder.glob("sionna_*.npz")) if arguments.only in path.name]
    if not paths:
        sys.exit(f"no sionna_*{arguments.only}*.npz in {arguments.folder}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        checker = Checker(arguments.demod_app, folder)
        vectors = [Vector(path) for path in paths]
        for number, vector in enumerate(vectors):
            check_vector(checker, vector, number, arguments)
            if not arguments.keep:
                for written in folder.glob("*.h5"):
                    written.unlink()
        with_offsets = [v for v in vectors if len(v.meta["dmrs"]["symbols"]) > v.meta["dmrs"]["length"]]
        if with_offsets:
            check_frames(checker, min(with_offsets, key=lambda v: v.blocks), arguments)
        for vector in [v for v in vectors if v.name == "sionna_qpsk_1layer"]:
            check_radio(checker, vector, arguments)
    print(f"{checker.checks} checks, {checker.failures} failures")
    return 1 if checker.failures else 0


if __name__ == "__main__":
    sys.exit(main())

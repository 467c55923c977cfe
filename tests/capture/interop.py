#!/usr/bin/env python3
"""The other side of interop_test.cpp: captures as h5py writes them, soft bits as h5py reads them.

    interop.py write DIRECTORY SEED       writes captures, each with NAME.bin, its samples as complex64, and
                                          manifest.txt with lines of NAME and the options to read it with
    interop.py check FILE EXPECTED.bin QM NAME=VALUE ...
                                          checks /llr of a soft bit file: type and values, shape, attributes
    interop.py check_npy FILE EXPECTED.bin QM DTYPE
                                          checks an array of soft bits: type, values and shape
    interop.py write_npy DIRECTORY SEED   writes arrays as numpy.save() does, each with NAME.bin and a line in
                                          manifest.txt as above
    interop.py write_slots DIRECTORY SEED writes captures of a grid and samples, each with NAME.bin as above
                                          and NAME.bits, its codewords
    interop.py check_slots FILE           checks what SlotWriter made of the numbers that interop_test.cpp
                                          counts up
"""
import sys
from pathlib import Path

import h5py
import numpy as np

SYMBOLS = 3000


def random_iq(rng, shape, kind):
    """I and Q as numbers of that kind, with a last dimension of 2."""
    if np.issubdtype(kind, np.integer):
        limits = np.iinfo(kind)
        return rng.integers(limits.min, limits.max, (*shape, 2), dtype=kind, endpoint=True)
    return rng.normal(size=(*shape, 2)).astype(kind)


def compound(pairs, names, order="<"):
    kind = pairs.dtype.newbyteorder(order)
    result = np.empty(pairs.shape[:-1], dtype=[(names[0], kind), (names[1], kind)])
    result[names[0]] = pairs[..., 0]
    result[names[1]] = pairs[..., 1]
    return result


def complex64(pairs):
    if pairs.dtype == np.int32:
        pairs = pairs / 2.0**31
    return pairs.astype(np.float32).reshape(-1, 2)


def captures(rng):
    """Yields name, data, I and Q, arguments of create_dataset, arguments of File, options of the reader."""
    plain = {}
    flat, cube = (SYMBOLS,), (10, 12, 25)
    pairs = random_iq(rng, flat, np.float32)
    yield "complex64", pairs.view(np.complex64)[:, 0], pairs, plain, plain, ""
    pairs = random_iq(rng, flat, np.float64)
    yield "complex128", pairs.view(np.complex128)[:, 0], pairs, plain, plain, ""
    for names in (("re", "im"), ("real", "imag"), ("r", "i"), ("x", "y")):
        pairs = random_iq(rng, flat, np.float16)
        yield "half_" + names[0], compound(pairs, names), pairs, plain, plain, ""
    for kind in (np.float16, np.float32, np.float64, np.int8, np.int16, np.int32):
        name = np.dtype(kind).name
        pairs = random_iq(rng, flat, kind)
        yield name, pairs, pairs, plain, plain, ""
        yield name + "_big", pairs.astype(pairs.dtype.newbyteorder(">")), pairs, plain, plain, ""
        yield name + "_compound_big", compound(pairs, "ab", ">"), pairs, plain, plain, ""
        yield name + "_interleaved", pairs.reshape(-1), pairs, plain, plain, "interleaved"
        yield name + "_user_block", compound(pairs, "ri"), pairs, plain, {"userblock_size": 512}, ""
        pairs = random_iq(rng, cube, kind)
        yield name + "_cube", compound(pairs, "ri"), pairs, plain, plain, ""
        chunks = {"chunks": (3, 5, 7)}
        yield name + "_chunks", compound(pairs, "ri"), pairs, chunks, plain, ""
        packed = {"chunks": (4, 12, 9, 2), "compression": "gzip", "shuffle": True, "fletcher32": True}
        yield name + "_gzip", pairs, pairs, packed, plain, ""
    pairs = random_iq(rng, flat, np.float32)
    # Not "latest": a newer h5py would write what an older HDF5 cannot read.
    latest = {"libver": ("v110", "v110")}
    yield "latest_chunks", compound(pairs, "ri"), pairs, {"chunks": (100,)}, latest, ""
    yield "latest_resizable", compound(pairs, "ri"), pairs, {"chunks": (64,), "maxshape": (None,)}, latest, ""
    padded = np.dtype({"names": ["i", "q"], "formats": ["<i2", "<i2"], "offsets": [6, 2], "itemsize": 12})
    pairs = random_iq(rng, flat, np.int16)
    data = np.zeros(flat, padded)
    data["i"], data["q"] = pairs[:, 0], pairs[:, 1]
    yield "padded", data, pairs, plain, plain, ""


def write(directory, seed):
    rng = np.random.default_rng(seed)
    with open(directory / "manifest.txt", "w") as manifest:
        for name, data, pairs, dataset_arguments, file_arguments, options in captures(rng):
            with h5py.File(directory / (name + ".h5"), "w", **file_arguments) as file:
                iq = file.create_dataset("iq", data=data, **dataset_arguments)
                iq.attrs["modulation"] = "64qam"
                iq.attrs["sample_rate"] = np.float32(1e6)
                file.attrs["center_frequency"] = np.array([3500000000])
                file["noise_variance"] = np.arange(SYMBOLS, dtype=np.float16).reshape(pairs.shape[:-1])
                file["bits"] = np.ones((SYMBOLS, 6), np.uint8)
            complex64(pairs).tofile(directory / (name + ".bin"))
            print(name, options, file=manifest)


def write_npy(directory, seed):
    """What NumPy itself can save of the arrays that HDF5 files hold."""
    rng = np.random.default_rng(seed)
    with open(directory / "manifest.txt", "w") as manifest:
        for name, data, pairs, _, _, options in captures(rng):
            if name == "padded":  # NumPy saves fields in their order only
                padded = np.dtype({"names": ["i", "q"], "formats": ["<i2", "<i2"], "offsets": [2, 6],
                                   "itemsize": 12})
                data = np.zeros(pairs.shape[0], padded)
                data["i"], data["q"] = pairs[:, 0], pairs[:, 1]
            for version in ((1, 0), (2, 0), (3, 0)):
                with open(directory / f"{name}_{version[0]}.npy", "wb") as file:
                    np.lib.format.write_array(file, data, version)
                complex64(pairs).tofile(directory / f"{name}_{version[0]}.bin")
                print(f"{name}_{version[0]}", options, file=manifest)


def check(path, expected_path, bits_per_symbol, expected_attributes):
    with h5py.File(path, "r") as file:
        llr = file["llr"]
        expected = np.fromfile(expected_path, llr.dtype).reshape(-1, bits_per_symbol)
        assert list(file) == ["llr"], list(file)
        assert llr.chunks is None, "contiguous"
        assert llr.shape == expected.shape, (llr.shape, expected.shape)
        assert llr[...].tobytes() == expected.tobytes(), "values"
        found = {"dtype": str(llr.dtype)}
        for name, value in llr.attrs.items():
            assert isinstance(value, (str, np.integer, np.floating)), (name, type(value))
            found[name] = str(value)
        assert found == expected_attributes, (found, expected_attributes)


def check_npy(path, expected_path, bits_per_symbol, dtype):
    llr = np.load(path, allow_pickle=False)
    expected = np.fromfile(expected_path, dtype).reshape(-1, bits_per_symbol)
    assert llr.dtype == dtype and llr.flags.c_contiguous, llr.dtype
    assert llr.shape == expected.shape, (llr.shape, expected.shape)
    assert llr.tobytes() == expected.tobytes(), "values"
    assert np.load(path, mmap_mode="r").offset % 64 == 0, "alignment"


def write_slots(directory, seed):
    rng = np.random.default_rng(seed)
    shapes = {"grid": (2, 28, 36), "samples": (3, 2000), "samples_of_one": (2000,)}
    for name, shape in shapes.items():
        path = name.partition("_")[0]
        pairs = random_iq(rng, shape, np.float32)
        bits = rng.integers(0, 1, (2, 700), dtype=np.uint8, endpoint=True)
        with h5py.File(directory / (name + ".h5"), "w") as file:
            data = pairs.view(np.complex64)[..., 0]
            iq = file.create_dataset(path, data=data, chunks=True, compression="gzip")
            iq.attrs["link"] = '{"name": "' + name + '"}'
            iq.attrs["sample_rate"] = 30.72e6
            file["codeword"] = bits
        complex64(pairs).tofile(directory / (name + ".bin"))
        bits.tofile(directory / (name + ".bits"))


def check_slots(path):
    with h5py.File(path, "r") as file:
        assert sorted(file) == ["channel", "llr", "slots", "symbols", "symbols_noise_variance"], list(file)
        assert all(file[name].chunks is None for name in file), "contiguous"
        assert sorted(file.attrs) == ["link", "phy_version", "source"], list(file.attrs)
        assert file.attrs["link"] == '{"direction": "uplink"}', file.attrs["link"]

        slots = file["slots"][...]
        names = ("slot", "first_sample", "snr_db", "noise_variance", "evm", "error_over_noise_db",
                 "timing_offset", "frequency_offset", "coherence", "phase_error", "excess_noise_db",
                 "erasures")
        assert slots.dtype.names == names, slots.dtype
        assert slots.dtype.itemsize == 8 * len(names), slots.dtype
        for column, name in enumerate(names):
            whole = name in ("slot", "first_sample", "erasures")
            assert slots.dtype[name] == (np.uint64 if whole else np.float64), (name, slots.dtype[name])
            expected = 100 * np.arange(3) + column + (0 if whole else 0.5)
            assert np.array_equal(slots[name], expected), (name, slots[name])

        llr = file["llr"][...]
        assert llr.dtype == np.int8 and llr.shape == (3, 5 * 2 * 4), (llr.dtype, llr.shape)
        assert np.array_equal(llr.ravel(), np.arange(llr.size)), "values of llr"
        for name, shape in {"symbols": (3, 5, 2), "channel": (3, 4, 2, 12)}.items():
            values = file[name][...]
            assert values.dtype == np.complex64 and values.shape == shape, (name, values.dtype, values.shape)
            expected = np.arange(values.size) * (1 - 1j)
            assert np.array_equal(values.ravel(), expected.astype(np.complex64)), name
        noise = file["symbols_noise_variance"][...]
        assert noise.dtype == np.float32 and noise.shape == (3, 5, 2), (noise.dtype, noise.shape)
        assert np.array_equal(noise.ravel(), np.arange(noise.size)), "values of symbols_noise_variance"


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(Path(sys.argv[2]), int(sys.argv[3]))
    elif sys.argv[1] == "write_npy":
        write_npy(Path(sys.argv[2]), int(sys.argv[3]))
    elif sys.argv[1] == "write_slots":
        write_slots(Path(sys.argv[2]), int(sys.argv[3]))
    elif sys.argv[1] == "check_slots":
        check_slots(sys.argv[2])
    elif sys.argv[1] == "check_npy":
        check_npy(sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5])
    else:
        pairs = (argument.split("=", 1) for argument in sys.argv[5:])
        check(sys.argv[2], sys.argv[3], int(sys.argv[4]), dict(pairs))

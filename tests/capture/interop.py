#!/usr/bin/env python3
"""The other side of interop_test.cpp: captures as h5py writes them, soft bits as h5py reads them.

    interop.py write DIRECTORY SEED       writes captures, each with NAME.bin, its samples as complex64, and
                                          manifest.txt with lines of NAME and the options to read it with
    interop.py check FILE EXPECTED.bin QM NAME=VALUE ...
                                          checks /llr of a soft bit file: type and values, shape, attributes
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


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        pairs = (argument.split("=", 1) for argument in sys.argv[5:])
        check(sys.argv[2], sys.argv[3], int(sys.argv[4]), dict(pairs))

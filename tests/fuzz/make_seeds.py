#!/usr/bin/env python3
"""Writes the seeds of all targets: DIRECTORY/TARGET/NAME. Needs h5py.

    make_seeds.py DIRECTORY
"""
import io
import json
import struct
import sys
from pathlib import Path

import h5py
import numpy as np

DATASETS = ["", "/iq", "/grid", "/samples", "/i,/q", "/group/iq", "/captures/0/samples", "/captures/1/iq"]
KINDS = [None, "symbols", "grid", "samples"]
NUMBERS = ["", "f32", "f64", "f16", "i32", "i16", "i8", "u32", "u16", "u8", "i64"]
FULL_SCALES = [None, 1.0, 32768.0]
LINKS = [None, "", "{}"]
FILES = ["recording.sigmf-data", "capture", "array.npy", "grid.npy", "samples.bin"]
CAPTURES_OF_DAMAGED = 7


def choices(flags=0, dataset="", kind=None, raw="", full_scale=None, link=None, shape=()):
    """The bytes by which capture_input.cpp chooses these options. Flags: 1 interleaved, 2 external files, 4 no noise
    variance, 8 one as an option, 16 a modulation as an option."""
    number = raw[1:].removesuffix("_be")
    which = NUMBERS.index(number) | (16 if raw.startswith("r") else 0) | (32 if raw.endswith("_be") else 0)
    return bytes([flags, DATASETS.index(dataset), KINDS.index(kind), which, FULL_SCALES.index(full_scale),
                  LINKS.index(link), len(shape), *shape])


def link(**changes):
    dmrs = {"type": 1, "ports": [0], "cdm_groups_without_data": 2, "mapping_type": "A", "typeA_position": 2,
            "additional_positions": 1}
    dmrs.update(changes.pop("dmrs", {}))
    carrier = {"subcarrier_spacing": 30000, "resource_blocks": 11, "cell_id": 42, "sample_rate": 7680000,
               "center_frequency": 3.5e9, "first_slot": 7, "first_sample": "auto"}
    carrier.update(changes.pop("carrier", {}))
    allocation = {"rnti": 17921, "modulation": "64qam", "layers": 1, "resource_blocks": [0, 10], "slots": [8, 9],
                  "dmrs": dmrs}
    allocation.update(changes.pop("allocation", {}))
    return json.dumps({"direction": "uplink", "carrier": carrier, "allocation": allocation, **changes})


def words():
    """A link in the words of RRC and DCI."""
    json_link = json.loads(link(direction="downlink", carrier={"point_a_arfcn": 632628}, allocation={
        "mcs_table": "qam256", "mcs_index": 13, "bwp": {"location_and_bandwidth": 2750}, "riv": 32, "sliv": 40},
        dmrs={"ports": [1000], "symbol_mask": "0x804"}))
    del json_link["carrier"]["center_frequency"], json_link["allocation"]["modulation"]
    del json_link["allocation"]["resource_blocks"]
    for key in ("mapping_type", "typeA_position", "additional_positions"):
        del json_link["allocation"]["dmrs"][key]
    return json.dumps(json_link)


def link_seeds():
    placed = {"mapping_type": None, "typeA_position": None, "additional_positions": None}
    listed = json.loads(link(dmrs={"symbols": [2, 11], **placed}))
    for key in placed:
        del listed["allocation"]["dmrs"][key]
    return {
        "pusch": link(),
        "pdsch": link(direction="downlink", allocation={"layers": 2, "codeword": 1, "symbols": [1, 13]},
                      dmrs={"type": 2, "ports": [0, 3], "power_db": 3.0, "n_scid": 1, "reference_crb": 0}),
        "ranges": link(allocation={"resource_blocks": [[0, 4], [6, 2]], "scrambling_id": 7},
                       carrier={"k0": 6, "first_crb": 100, "frequency_shift": -2500.5, "cyclic_prefix": "normal"}),
        "reserved": link(allocation={"reserved": [
            {"symbols": [5, 6], "resource_blocks": [0, 3], "subcarriers": [0, 4, 8]},
            {"symbols": [7], "resource_blocks": [[0, 1], [4, 2]], "subcarriers": []}]}),
        "precoded": link(allocation={"transform_precoding": True},
                         dmrs={"hopping": "group", "scrambling_id": 1007, "length": 2}),
        "listed": json.dumps(listed, indent=1) + "// the end",
        "mapping_b": link(allocation={"symbols": [4, 7]}, dmrs={"mapping_type": "B"}),
        "samples": link(carrier={"subcarrier_spacing": 15000, "first_sample": 400, "sample_rate": 3.84e6}),
        "erased": link(allocation={"erased_subcarriers": [0, 7]}),
        "ptrs": link(allocation={"ptrs": {"time_density": 2, "frequency_density": 4, "resource_element_offset": 1,
                                          "ports": [0], "power_db": 3}}),
        "words": words(),
        "coded": link(coding={"code_rate_x1024": 567, "transport_block_size": 3752, "redundancy_version": 2, "overhead": 6,
                              "limited_buffer": 92200}),
        "uci": link(coding={"code_rate": 0.3, "uci": {"ack_bits": 2, "csi1_bits": 4, "csi2_bits": 3, "ack_offset": 1,
                                                     "csi1_offset": 1.125, "csi2_offset": 2, "scaling": 0.65}}),
        "unknown_key": link(carrier={"cell_idd": 1}),
        "twice": '{"carrier": {"k0": 1, "k0": 2}}',
        "nested": "[" * 20,
        "numbers": "[1e999, -0.0, 18446744073709551616, 1.5e3, null, true, \"\\ud800\"]",
    }


def sigmf(**keys):
    captures = keys.pop("captures", [{"core:sample_start": 0}])
    return json.dumps({"global": {"core:datatype": "ci16_le", "core:version": "1.0.0", **keys}, "captures": captures,
                       "annotations": []})


def sigmf_seeds():
    return {
        "plain": sigmf(),
        "attributes": sigmf(**{"core:sample_rate": 7.68e6, "phy:modulation": "16qam", "phy:noise_variance": 0.1,
                               "phy:full_scale": 8192, "phy:link": "{}"}),
        "object_link": sigmf(**{"phy:link": {"direction": "uplink"}, "phy:shape": [2, 3, 4]}),
        "channels": sigmf(**{"core:datatype": "cf32_be", "core:num_channels": 2}),
        "captures": sigmf(captures=[
            {"core:sample_start": 0, "core:frequency": 3.5e9, "core:header_bytes": 4},
            {"core:sample_start": 4, "core:global_index": 100, "core:frequency": 3.6e9}]),
        "offset": sigmf(**{"core:offset": 10, "core:trailing_bytes": 3, "core:dataset": "recording.sigmf-data"},
                        captures=[{"core:sample_start": 12.0}]),
        "metadata_only": sigmf(**{"core:metadata_only": True}),
        "no_captures": '{"global": {"core:datatype": "ru8"}}',
        "nested": '{"global": ' + "[" * 40,
        "numbers": sigmf(**{"core:offset": 1e19, "core:num_channels": -1}),
    }


def npy_bytes(array, version=None):
    out = io.BytesIO()
    np.lib.format.write_array(out, array, version=version)
    return out.getvalue()


def npy_with_header(header, data=b""):
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + data


def npy_seeds():
    complex64 = np.arange(12).astype(np.complex64)
    pairs = np.zeros(6, dtype=[("r", "<i2"), ("i", "<i2")])
    return {
        "complex64": npy_bytes(complex64),
        "complex128": npy_bytes(complex64.reshape(3, 4).astype(np.complex128), (2, 0)),
        "big_endian": npy_bytes(np.zeros((6, 2), dtype=">i2"), (3, 0)),
        "float16": npy_bytes(np.zeros((2, 3, 2), dtype="<f2")),
        "int8": npy_bytes(np.zeros((5, 2), dtype=np.int8)),
        "fortran": npy_bytes(np.asfortranarray(complex64.reshape(3, 4))),
        "pairs": npy_bytes(pairs),
        "padded": npy_bytes(np.zeros(4, dtype=np.dtype([("r", "<f4"), ("i", "<f4")], align=True))),
        "scalar": npy_bytes(np.complex64(1)),
        "none": npy_bytes(np.zeros((0, 2), dtype="<f4")),
        "text": npy_bytes(np.array(["a", "b"])),
        "python2": npy_with_header("{'descr': [('', '|V4'), ('a', '<f4'), ('b', '<f4')], 'fortran_order': False, "
                                   "'shape': (2L,), }\n", bytes(24)),
        "nested": npy_with_header("{'descr': " + "(" * 20),
        "overflow": npy_with_header("{'descr': '<c8', 'fortran_order': False, "
                                    "'shape': (4294967296, 4294967296, 16)}"),
    }


def options_seeds():
    lines = {
        "demod": ["0", "--gain", "auto", "--noise-variance", "0.1", "--output=x.h5", "--method", "logmap", "--evaluator",
                  "table", "--llr", "int8", "--llr-scale", "6", "--llr-clip", "127", "capture.h5"],
        "demod_link": ["0", "--write", "llr,symbols,channel", "--scrambling-ids", "1,65535", "--diagnose", "--link",
                       "x.json", "--trace", "t.json", "x"],
        "demod_flags": ["0", "--hard", "--keep-shape", "--count-errors", "--descramble", "0x4601,1,0", "--force",
                        "--durable", "--json", "--quiet", "--log-level", "off", "--", "-x"],
        "capture": ["0", "--dataset", "/i,/q", "--from", "grid", "--interleaved", "--raw", "ci16_be", "--shape", "2,14,12",
                    "--external-files", "--full-scale", "8192", "--modulation", "pi2-bpsk", "x"],
        "machine": ["1", "--backend", "cpu[avx2]", "--threads", "4", "--chunk", "4096", "--device", "0,1", "--streams",
                    "3", "--order", "parallel", "x"],
        "measure": ["1", "--reference", "sent", "--by", "slot", "--gain", "0.5", "--descramble", "1,2,1", "x"],
        "measure_by": ["1", "--by", "1024", "--noise-variance", "x"],
        "gen_symbols": ["2", "--modulation", "256qam", "--symbols", "1000", "--snr-db", "25", "--seed", "1", "--type",
                        "ci16", "--layout", "gzip", "--per-symbol-noise", "--scramble", "1,2", "--no-bits", "out.h5"],
        "gen_link": ["2", "--from", "samples", "--link", "x.json", "--slots", "20", "--channel", "tdl-a:300",
                     "--antennas", "2", "--timing-offset", "50", "--frequency-offset", "-100", "--first-sample", "400",
                     "--sample-rate", "7.68e6", "--center-frequency", "3.5e9", "out.h5"],
        "sim": ["3", "--modulation", "qpsk,16qam", "--snr-db", "0:2:30", "--channel", "tdl-c:30.5", "--layers", "2",
                "--antennas", "4", "--method", "maxlog,logmap", "--llr", "int8,float16", "--llr-scale", "1,6"],
        "sim_slots": ["3", "--known", "channel,noise", "--known", "none", "--dmrs-symbols", "2,11", "--dmrs-type", "2",
                      "--resource-blocks", "52", "--subcarrier-spacing", "30000", "--delay-spread", "100",
                      "--equalizer", "zero-forcing", "--errors", "100", "--max-bits", "1000", "--min-slots", "5",
                      "--backend", "scalar", "--csv", "x.csv"],
        "lists": ["4", "--formats", "cf32:int8,ci16:float16", "--symbols", "1024,2048", "--streams", "auto,2", "--chunk",
                  "auto,100", "--order", "sequential,serial"],
        "help": ["2", "--help"],
        "unexpected": ["0", "a", "b", "-h", "--out", "--seed=", "-o"],
    }
    return {name: "\n".join(arguments) for name, arguments in lines.items()}


def capture_seeds():
    def capture(file, data, metadata=None, **options):
        before = b"" if metadata is None else struct.pack("<H", len(metadata)) + metadata.encode()
        return choices(**options) + bytes([FILES.index(file)]) + before + data

    seeds = {"npy_" + name: capture("array.npy", data) for name, data in npy_seeds().items()}
    for name, metadata in sigmf_seeds().items():
        seeds["sigmf_" + name] = capture("recording.sigmf-data", bytes(96), metadata)
    for number in NUMBERS[1:]:
        seeds["raw_" + number] = capture("capture", bytes(96), raw="c" + number)
        seeds["real_" + number] = capture("samples.bin", bytes(96), raw="r" + number + "_be")
    seeds["npy_interleaved"] = capture("array.npy", npy_bytes(np.zeros(24, dtype="<f4")), flags=1)
    seeds["npy_grid"] = capture("grid.npy", npy_bytes(np.zeros((2, 3, 4), dtype=np.complex64)))
    seeds["raw_shape"] = capture("capture", bytes(96), raw="ci16", shape=(2, 3, 4), full_scale=32768.0, kind="grid")
    seeds["sigmf_gap"] = capture("recording.sigmf-data", bytes(100), sigmf_seeds()["captures"],
                                 dataset="/captures/0/samples")
    seeds["foreign"] = capture("capture", b"RIFF....WAVE")
    seeds["text"] = capture("capture", b"1,2\n3,4\n")
    return seeds


def hdf5_bytes(write, **options):
    out = io.BytesIO()
    with h5py.File(out, "w", **options) as file:
        write(file)
    return out.getvalue()


def hdf5_seeds():
    rng = np.random.default_rng(14)
    values = rng.normal(size=(40, 2)).astype("<f4")
    complex64 = values.view(np.complex64)[:, 0]
    seeds = {}

    def add(name, write, file_options=None, **options):
        seeds[name] = choices(**options) + hdf5_bytes(write, **(file_options or {}))

    def plain(file, data=complex64, path="iq", **how):
        return file.create_dataset(path, data=data, **how)

    def attributes(file):
        iq = plain(file)
        iq.attrs["modulation"] = "16qam"
        iq.attrs["noise_variance"] = 0.1
        file.attrs["sample_rate"] = np.float64(30.72e6)
        file.attrs["center_frequency"] = np.int32(1000)
        file.attrs["link"] = np.bytes_(b"{}")
        file["bits"] = np.zeros((40, 4), dtype=np.uint8)
        file["noise_variance"] = np.full(40, 0.1, dtype=np.float32)

    def integers(file):
        plain(file, (values * 1000).astype(">i2")).attrs["full_scale"] = 8192.0

    def grid(file):
        plain(file, np.zeros((2, 14, 12), dtype=np.complex64), "grid")
        file["codeword"] = np.zeros((2, 20), dtype=np.uint8)
        file["grid"].attrs["link"] = "{}"

    def halves(file):
        file["i"] = values[:, 0]
        file["q"] = values[:, 1]

    def broadcast(file):
        plain(file, np.zeros((4, 10), dtype=np.complex64))
        file["noise_variance"] = np.full((4, 1), 0.1, dtype=np.float64)

    def external(file):
        file.create_dataset("iq", (16, 2), dtype="<f4", external=[("external.bin", 0, 128)])

    def virtual(file):
        layout = h5py.VirtualLayout(shape=(40, 2), dtype="<f4")
        layout[:] = h5py.VirtualSource("capture.h5", "source", shape=(40, 2))
        file["source"] = values
        file.create_virtual_dataset("iq", layout)

    def links(file):
        plain(file, path="group/iq")
        file["soft"] = h5py.SoftLink("/group/iq")
        file["loop"] = h5py.SoftLink("/loop")
        file["away"] = h5py.ExternalLink("other.h5", "/iq")
        file["hard"] = file["group"]

    def others(file):
        file["text"] = "words"
        file["list"] = np.array([b"a", b"b"])
        file.create_dataset("none", (0,), dtype="<f4")
        file.create_dataset("objects", (2,), dtype=h5py.string_dtype())
        file.attrs["link"] = 5
        plain(file, path="iq")

    add("plain", plain)
    add("attributes", attributes)
    add("without_noise", attributes, flags=4)
    add("options", attributes, flags=8 | 16, link="{}", dataset="/iq")
    add("integers", integers)
    add("trailing", lambda file: plain(file, values))
    add("interleaved", lambda file: plain(file, values.reshape(-1)), flags=1)
    add("float64", lambda file: plain(file, values.astype(">f8")))
    add("int32", lambda file: plain(file, values.astype("<i4")), full_scale=1.0)
    add("chunked", lambda file: plain(file, chunks=(7,)))
    add("packed", lambda file: plain(file, chunks=(16,), compression="gzip", shuffle=True, fletcher32=True))
    add("resizable", lambda file: plain(file, chunks=(8,), maxshape=(None,)))
    add("newest", attributes, {"libver": "latest"})
    add("newest_chunked", lambda file: plain(file, chunks=(7,), maxshape=(None,)), {"libver": "latest"})
    add("user_block", plain, {"userblock_size": 512})
    add("grid", grid)
    add("as_samples", lambda file: plain(file, path="samples"), kind="samples")
    add("halves", halves, dataset="/i,/q")
    add("broadcast", broadcast)
    add("external", external, flags=2)
    add("virtual", virtual, flags=2)
    add("links", links, dataset="/group/iq")
    add("others", others)
    return seeds


def damaged_seeds():
    """Damages are an offset and a byte: the signature, the version of the superblock, headers, data, none."""
    damages = [(), ((0, 0),), ((8, 9),), ((300, 255),), ((850, 1), (900, 7)), ((2048, 0),)]
    return {f"{capture}_{n}": choices() + bytes([capture]) + b"".join(struct.pack("<HB", *one) for one in damage)
            for capture in range(CAPTURES_OF_DAMAGED) for n, damage in enumerate(damages)}


def main():
    seeds = {"capture": capture_seeds(), "damaged": damaged_seeds(), "hdf5": hdf5_seeds(), "link": link_seeds(),
             "npy": npy_seeds(), "options": options_seeds(), "sigmf": sigmf_seeds()}
    for target, inputs in seeds.items():
        folder = Path(sys.argv[1]) / target
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in inputs.items():
            (folder / name).write_bytes(data.encode() if isinstance(data, str) else data)


if __name__ == "__main__":
    main()

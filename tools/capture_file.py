"""Captures in HDF5, as docs/files.md describes them, for plot_capture.py: in every layout, as complex numbers."""

from plotting import fail, reason

try:
    import h5py
    import numpy
    MISSING = None
except ImportError as error:
    MISSING = error

BESIDE_IQ = ("bits", "codeword", "noise_variance", "llr")
# Of datasets by name, as CaptureReader takes them.
KINDS = ("symbols", "grid", "samples")
MOST_SYMBOLS = 1 << 20


def open_file(path):
    try:
        with open(path, "rb"):
            pass
        if not h5py.is_hdf5(path):
            fail(f"{path}: is not an HDF5 file: expected one; docs/tutorial-recordings.md puts samples into one")
        return h5py.File(path, "r")
    except OSError as error:
        fail(f"{path}: {reason(error)}")


def blocks_of(rows, most):
    """First row and size of blocks at equal distances, of at most so many rows together."""
    if rows <= most:
        return [(0, rows)]
    # Even, as I and Q of a flat dataset may be rows of their own.
    size = max(2, most // 64 // 2 * 2)
    return [(int(first) // 2 * 2, size) for first in numpy.linspace(0, rows - size, max(1, most // size))]


def some_of(dataset, most):
    return numpy.concatenate([dataset[first:first + size] for first, size in blocks_of(dataset.shape[0], most)])


def is_iq(dataset, interleaved=False):
    stored = dataset.id.get_type()
    if isinstance(stored, h5py.h5t.TypeCompoundID):
        return stored.get_nmembers() == 2 and not interleaved
    if not isinstance(stored, (h5py.h5t.TypeIntegerID, h5py.h5t.TypeFloatID)):
        return False
    return dataset.size % 2 == 0 if interleaved else dataset.ndim > 1 and dataset.shape[-1] == 2


def kind_of(dataset, wanted):
    """What a dataset holds, as CaptureReader says."""
    name = dataset.name.rsplit("/", 1)[-1]
    return wanted or (name if name in KINDS[1:] else "symbols")


def find_iq(file, name, interleaved, kind):
    """The dataset of that name, else the one that CaptureReader takes for a kind or without."""
    if name is None and kind is not None:
        name = "/iq" if kind == "symbols" else f"/{kind}"
    if name is not None:
        if not isinstance(file.get(name), h5py.Dataset):
            fail(f"{file.filename}: no dataset {name}")
        return file[name]
    there = [file[default] for default in ("iq", "grid", "samples") if isinstance(file.get(default), h5py.Dataset)]
    if there and (len(there) == 1 or there[0].name == "/iq"):
        return there[0]
    found = []

    def visit(path, item):
        is_beside = path.rsplit("/", 1)[-1] in BESIDE_IQ
        if isinstance(item, h5py.Dataset) and not is_beside and is_iq(item, interleaved):
            found.append(item)

    file.visititems(visit)
    if len(found) != 1:
        fail(f"{file.filename}: expected one dataset that looks like IQ, found {len(found)}: --dataset says which")
    return found[0]


def shape_of(dataset, interleaved):
    """Dimensions of the symbols, as measure_app takes them."""
    if isinstance(dataset.id.get_type(), h5py.h5t.TypeCompoundID):
        return dataset.shape
    if dataset.ndim > 1 and dataset.shape[-1] == 2:
        return dataset.shape[:-1]
    if interleaved and dataset.shape[-1] % 2 == 0:
        return (*dataset.shape[:-1], dataset.shape[-1] // 2)
    return (dataset.size // 2,)


def stored_as(dataset, interleaved):
    """The HDF5 type of a number, that of what is read, and how many numbers an element of the dataset has."""
    stored = dataset.id.get_type()
    if not is_iq(dataset, interleaved) or dataset.ndim == 0:
        expected = "an even count of numbers" if interleaved else "a compound of two numbers or a last dimension of 2"
        fail(f"{dataset.file.filename}: {dataset.name}: expected {expected}")
    # Through HDF5 itself, as numpy has no complex numbers of two integers or of two float16.
    if not isinstance(stored, h5py.h5t.TypeCompoundID):
        return stored, h5py.h5t.NATIVE_DOUBLE, 1
    wanted = h5py.h5t.create(h5py.h5t.COMPOUND, 16)
    for member in range(2):
        wanted.insert(stored.get_member_name(member), 8 * member, h5py.h5t.NATIVE_DOUBLE)
    return stored.get_member_type(0), wanted, 2


def read_box(dataset, wanted, numbers, first, lengths):
    """Numbers of a part of the dataset, one after the other."""
    space = dataset.id.get_space()
    space.select_hyperslab(first, lengths)
    values = numpy.empty(int(numpy.prod(lengths)) * numbers)
    dataset.id.read(h5py.h5s.create_simple(lengths), space, values, wanted)
    return values


def default_full_scale(number):
    return 2.0 ** (8 * number.get_size() - 1) if isinstance(number, h5py.h5t.TypeIntegerID) else None


def read_symbols(dataset, interleaved):
    """At most MOST_SYMBOLS symbols as they are stored, and their full scale where nothing says another."""
    number, wanted, numbers = stored_as(dataset, interleaved)
    in_row = max(1, dataset.size // max(1, dataset.shape[0]) * numbers)
    parts = []
    for first, size in blocks_of(dataset.shape[0], max(1, 2 * MOST_SYMBOLS // in_row)):
        parts.append(read_box(dataset, wanted, numbers, (first, *(0 for _ in dataset.shape[1:])),
                              (size, *dataset.shape[1:])))
    return numpy.concatenate(parts).view(complex), default_full_scale(number)


def read_antennas(dataset, interleaved, kind, most):
    """The beginning of a grid, (antennas, OFDM symbols, subcarriers), or of samples, (antennas, samples), over their full
    scale: at most so many values, but one OFDM symbol or sample at least."""
    number, wanted, numbers = stored_as(dataset, interleaved)
    shape = shape_of(dataset, interleaved)
    rank = 3 if kind == "grid" else 2
    if len(shape) not in (rank - 1, rank):
        fail(f"{dataset.file.filename}: {dataset.name}: expected {rank} dimensions, or {rank - 1} for one antenna")
    time = 1 if len(shape) == rank else 0
    others = int(numpy.prod(shape)) // shape[time]
    lengths = list(dataset.shape)
    # Where the last dimension is of I and Q in turn, and time, it has two numbers a sample.
    lengths[time] = min(shape[time], max(1, most // others)) * (lengths[time] // shape[time])
    values = read_box(dataset, wanted, numbers, (0,) * len(lengths), tuple(lengths)).view(complex)
    full_scale = default_full_scale(number)
    if full_scale is not None:
        values /= float(attribute_of(dataset, "full_scale") or full_scale)
    antennas = shape[0] if len(shape) == rank else 1
    return values.reshape(antennas, -1, *shape[time + 1:])


def attribute_of(dataset, name):
    for place in (dataset.attrs, dataset.file.attrs):
        if name in place:
            return place[name]
    return None


def text_of(attribute):
    return attribute.decode() if isinstance(attribute, bytes) else str(attribute)

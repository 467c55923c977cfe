"""What the plot_*.py scripts do alike: errors of one line, Matplotlib without a screen, and saving."""

import os
import pathlib
import sys


def fail(text):
    sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {text}")


def reason(error):
    """What the system says, without what HDF5 says around it."""
    return os.strerror(error.errno) if getattr(error, "errno", None) else "cannot be read as HDF5"


def pyplot():
    try:
        import matplotlib
        matplotlib.use("Agg")
        from matplotlib import pyplot as module
    except ImportError:
        fail("needs Matplotlib (Debian: apt-get install python3-matplotlib)")
    return module


def save(figure, output, dpi=100):
    try:
        figure.savefig(output, dpi=dpi)
    except OSError as error:
        fail(f"{output}: {reason(error)}")
    except ValueError as error:
        fail(f"{output}: {error}")

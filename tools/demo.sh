#!/usr/bin/env bash
# Builds phy, demodulates a sample capture, measures one of unknown amplitude and receives a recording of two
# antennas: from a bare Debian or Ubuntu to soft bits in one command.
set -euo pipefail

if [[ ${1-} == -* || $# -gt 1 ]]; then
  echo "usage: tools/demo.sh [SOFTBITS.h5]    (without: a temporary file, removed at the end)"
  [[ $1 == -h || $1 == --help ]] && exit 0
  exit 2
fi
soft_bits=${1:+$(realpath -m -- "$1")}
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

need_packages "${test_packages[@]}"
# CUDA code takes minutes to compile. Without a GPU it waits for the next full build, which keeps what is built here.
if [[ ! -f build/release/build.ninja ]]; then
  if nvidia-smi -L >/dev/null 2>&1; then
    configure release
  else
    configure release -D PHY_CUDA=OFF
    touch build/release/without_cuda
  fi
fi
say "building build/release"
cmake --build --preset release --target demod_app measure_app

if [[ -z $soft_bits ]]; then
  temporary=$(mktemp -d)
  trap 'rm -rf -- "$temporary"' EXIT
  soft_bits=$temporary/softbits.h5
fi
say "demodulating data/256qam.h5"
build/release/apps/demod_app data/256qam.h5 -o "$soft_bits"

say "what $soft_bits holds"
# The distribution's own python3 has h5py where one that was installed beside it has not.
python=python3
if [[ -x /usr/bin/python3 ]]; then python=/usr/bin/python3; fi
if "$python" -c 'import h5py' 2>/dev/null; then
  "$python" - "$soft_bits" <<'PYTHON'
import sys

import h5py

with h5py.File(sys.argv[1], "r") as file:
    llr = file["llr"]
    print(llr)
    for name, value in llr.attrs.items():
        print(f"  {name}: {value}")
    print(llr[:4])
PYTHON
elif command -v h5dump >/dev/null; then
  h5dump -A "$soft_bits"
  h5dump -d /llr -s 0,0 -c 4,8 "$soft_bits"
else
  ls -l "$soft_bits"
  echo "(install python3-h5py or hdf5-tools to look inside)"
fi

# The file says that 8192 stands for 1.0; with another number its amplitude and N0 are as good as unknown.
say "a capture of unknown amplitude: data/qpsk_ci16.h5, as if full scale were 32768"
build/release/apps/measure_app data/qpsk_ci16.h5 --full-scale 32768
say "demodulating it, with gain and N0 as measured"
build/release/apps/demod_app data/qpsk_ci16.h5 --full-scale 32768 --gain auto --noise-variance estimate

received=${soft_bits%.h5}_pusch.h5
say "receiving a recording of two antennas, whose link is one of its attributes: data/pusch_samples.h5"
build/release/apps/demod_app data/pusch_samples.h5 -o "$received" --write llr,symbols,channel
if [[ -n ${1-} ]] && "$python" -c 'import h5py, matplotlib' 2>/dev/null; then
  "$python" tools/plot_capture.py data/256qam.h5 --soft-bits "$soft_bits" -o "$soft_bits.png"
  say "$soft_bits.png shows the first capture and its soft bits"
  "$python" tools/plot_capture.py data/pusch_samples.h5 --soft-bits "$received" -o "$received.png"
  say "$received.png shows the recording, its channel and its equalised symbols"
fi

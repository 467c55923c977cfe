#!/usr/bin/env bash
# Builds the targets of libFuzzer in tests/fuzz and runs them: tools/fuzz.sh [SECONDS [TARGET...]], by default all of them
# in 600 seconds together. Prints how many inputs each was given. What is found is kept in tests/fuzz/found/, where the
# tests replay it, and makes the exit status 1.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

seconds=${1:-600}
targets=("${@:2}")
((${#targets[@]})) || targets=(capture damaged hdf5 link npy options sigmf)

need_packages "${build_packages[@]}" "${fuzz_packages[@]}"
build fuzz "${targets[@]/#/fuzz_}"

# Inputs lie in memory where that can be.
memory=/tmp
[[ -w /dev/shm ]] && memory=/dev/shm
TMPDIR=$(mktemp -d -p "$memory" phy_fuzz.XXXXXX)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
export ASAN_SYMBOLIZER_PATH=${ASAN_SYMBOLIZER_PATH:-$(command -v llvm-symbolizer-14)}

say "making seeds"
/usr/bin/python3 tests/fuzz/make_seeds.py build/fuzz/seeds

cores=$(nproc)
rounds=$(((${#targets[@]} + cores - 1) / cores))
each=$((seconds / rounds))
program() { echo "build/fuzz/tests/fuzz/fuzz_$1"; }
log() { echo "build/fuzz/$1.log"; }
cases() { echo "build/fuzz/cases/$1"; }

# HDF5 faults over damaged files too, takes long and loses memory: these targets go on, in new processes, and calls_hdf5
# says afterwards which cases are whose.
uses_hdf5() { [[ $1 == hdf5 || $1 == damaged ]]; }

fuzz() {
  local target=$1 corpus=build/fuzz/corpus/$1 found=tests/fuzz/found/$1 flags=()
  local dictionary=tests/fuzz/dictionaries/$target.txt
  rm -rf "$(cases "$target")"
  mkdir -p "$corpus" "$(cases "$target")"
  [[ -d $found ]] && flags+=("$found")
  [[ -f $dictionary ]] && flags+=(-dict="$dictionary")
  uses_hdf5 "$target" && flags+=(-fork=1 -ignore_crashes=1 -ignore_timeouts=1 -ignore_ooms=1 -detect_leaks=0)
  # What HDF5 asks for because a file says so is not to be had; what phy asks for is a finding.
  ASAN_OPTIONS=max_allocation_size_mb=1024 "$(program "$target")" "$corpus" "build/fuzz/seeds/$target" \
    -max_total_time="$each" -timeout=10 -rss_limit_mb=4096 -malloc_limit_mb=1000000 -max_len=10000 \
    -print_final_stats=1 -artifact_prefix="$(cases "$target")/" "${flags[@]}" >"$(log "$target")" 2>&1 </dev/null || true
}

# True if a report tells of a fault inside the HDF5 library: the innermost frame that is not of a sanitizer or of libc is
# there, and what it reached wrongly is no memory of phy's.
is_of_hdf5() {
  awk '
    /allocated by thread|is located in stack|is located .* global/ { block = "memory"; if (!/allocated/) phys = 1 }
    /^ *#[0-9]+ / {
      if (block == "done") next
      if ($4 ~ /^(__asan|__interceptor|__sanitizer|__ubsan|fuzzer::|mem[a-z]+$|malloc|calloc|realloc|free)/) next
      if (/\/(libc|libpthread|libm)[.-]/) next
      if (block == "memory") { if (!/libhdf5/) phys = 1; block = "done" }
      else if (!fault) { fault = /libhdf5/ ? "hdf5" : "phy" }
    }
    END { exit !(fault == "hdf5" && !phys) }' "$1"
}

say "fuzzing ${targets[*]}: $each s each, $cores at a time"
for target in "${targets[@]}"; do
  while (($(jobs -rp | wc -l) >= cores)); do wait -n; done
  fuzz "$target" &
done
wait

status=0
for target in "${targets[@]}"; do
  inputs=$(grep -aoE '^#[0-9]+|executed_units: *[0-9]+' "$(log "$target")" | grep -oE '[0-9]+' | sort -n | tail -n 1)
  findings=0 of_hdf5=0
  for case in "$(cases "$target")"/*; do
    [[ -f $case ]] || continue
    "$(program "$target")" -timeout=10 -rss_limit_mb=4096 "$case" >"$case.report" 2>&1 </dev/null || true
    if uses_hdf5 "$target" && is_of_hdf5 "$case.report"; then
      of_hdf5=$((of_hdf5 + 1))
      continue
    fi
    findings=$((findings + 1))
    status=1
    mkdir -p "tests/fuzz/found/$target"
    cp "$case" "tests/fuzz/found/$target/"
    echo "found: tests/fuzz/found/$target/$(basename "$case"); $case.report says what"
  done
  printf '%-8s %10s inputs, %d findings' "$target" "${inputs:-0}" "$findings"
  ((of_hdf5)) && printf ', %d faults of the HDF5 library' "$of_hdf5"
  echo
  [[ ${inputs:-0} -gt 0 ]] || status=1
done
exit "$status"

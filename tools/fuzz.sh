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

# HDF5 has faults over damaged files, takes long and loses memory: these targets go on in new processes, and
# is_of_hdf5 says of each fault whose it is.
uses_hdf5() { [[ $1 == hdf5 || $1 == damaged ]]; }

fuzz() {
  local target=$1 corpus=build/fuzz/corpus/$1 found=tests/fuzz/found/$1 flags=()
  local dictionary=tests/fuzz/dictionaries/$target.txt
  # What HDF5 asks for because a file says so is not to be had; what phy asks for is a finding.
  local options=max_allocation_size_mb=1024
  rm -rf "$(cases "$target")"
  mkdir -p "$corpus" "$(cases "$target")"
  [[ -d $found ]] && flags+=("$found")
  [[ -f $dictionary ]] && flags+=(-dict="$dictionary")
  if uses_hdf5 "$target"; then
    flags+=(-fork=1 -ignore_crashes=1 -ignore_timeouts=1 -ignore_ooms=1 -detect_leaks=0)
    options+=:detect_leaks=0:log_path=$(cases "$target")/report
  fi
  ASAN_OPTIONS=$options "$(program "$target")" "$corpus" "build/fuzz/seeds/$target" \
    -max_total_time="$each" -timeout=10 -rss_limit_mb=4096 -malloc_limit_mb=1000000 -max_len=10000 \
    -print_final_stats=1 -artifact_prefix="$(cases "$target")/" "${flags[@]}" >"$(log "$target")" 2>&1 </dev/null || true
}

# True if a report tells of a fault inside the HDF5 library: the innermost frame that is not of a sanitizer or of libc is
# there, and the memory that it should not have reached is none of phy's; what phy has freed is anybody's.
is_of_hdf5() {
  awk '
    /heap-use-after-free/ { freed = 1 }
    /allocated by thread/ { block = "memory" }
    /is located in stack|is located .* global/ { phys = 1 }
    /^ *#[0-9]+ / {
      if (/libc\.so/) next
      if ($4 ~ /^_*(asan|interceptor|sanitizer|ubsan|mem|str|malloc|calloc|realloc|free|fuzzer::)/) next
      if (block == "memory" && !freed && !/libhdf5/) phys = 1
      if (block == "" && !/libhdf5/) phys = 1
      if (block == "") fault = 1
      block = "seen"
    }
    END { exit !(fault && !phys) }' "$1"
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
  # Whether a case that HDF5 has nothing to do with can be repeated or not, it is a finding.
  for case in "$(cases "$target")"/{crash,leak,oom,timeout}-*; do
    [[ -f $case ]] || continue
    repeated=1
    "$(program "$target")" -timeout=10 -rss_limit_mb=4096 "$case" >"$case.report" 2>&1 </dev/null && repeated=0
    if uses_hdf5 "$target" && { ((!repeated)) || is_of_hdf5 "$case.report"; }; then continue; fi
    findings=$((findings + 1))
    mkdir -p "tests/fuzz/found/$target"
    cp "$case" "tests/fuzz/found/$target/"
    echo "found: tests/fuzz/found/$target/$(basename "$case"); $case.report says what"
  done
  # Those of the processes in which faults were met, which inputs before may have brought about.
  for report in "$(cases "$target")"/report.*; do
    # Some are but warnings, that there is no memory for what a file says.
    grep -qE 'ERROR: |runtime error: ' "$report" 2>/dev/null || continue
    if is_of_hdf5 "$report"; then
      of_hdf5=$((of_hdf5 + 1))
    else
      findings=$((findings + 1))
      echo "found: $report"
    fi
  done
  printf '%-8s %10s inputs, %d findings' "$target" "${inputs:-0}" "$findings"
  ! uses_hdf5 "$target" || printf ', %d faults of the HDF5 library' "$of_hdf5"
  echo
  if ((findings || ${inputs:-0} == 0)); then status=1; fi
done
exit "$status"

#!/usr/bin/env bash
# Style, names and structure: everything that is checked about the text of the code.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

need_packages "${build_packages[@]}" "${lint_packages[@]}"
configure release

failed=()
# check NAME COMMAND...: runs all checks, so that one run shows all that is wrong.
check() {
  local name=$1
  shift
  say "$name"
  "$@" || failed+=("$name")
}

# files PATTERN...: tracked or about to be, and not deleted.
files() {
  local file
  git ls-files -z --cached --others --exclude-standard -- "$@" | sort -zu |
    while IFS= read -r -d '' file; do
      if [[ -f $file ]]; then printf '%s\0' "$file"; fi
    done
}

code=('*.cpp' '*.hpp' '*.inc' '*.cu' '*.cuh')
formatted() { files "${code[@]}" | xargs -0 clang-format-14 --dry-run -Werror; }

tidy() {
  # Only files that the build compiles: clang-tidy would guess the flags of others.
  local file
  files '*.cpp' | while IFS= read -r -d '' file; do
    if grep -qF "\"file\": \"$PWD/$file\"" build/release/compile_commands.json; then printf '%s\0' "$file"; fi
  done | xargs -0 -n 1 -P "$(nproc)" clang-tidy-14 -p build/release --quiet --extra-arg=-w 2> >(grep -v 'warnings\? generated\.$' >&2)
}

headers_stand_alone() { build release all_verify_interface_header_sets; }

short_files() {
  files "${code[@]}" '*.py' '*.sh' '*.md' '*.cmake' '*.in' '*CMakeLists.txt' '.ci/*' |
    xargs -0 wc -l | awk '$2 != "total" && $1 > 500 { print $2 ": " $1 " lines, at most 500"; bad = 1 } END { exit bad }'
}

# only_in HEADER FOLDERS: no file outside of them includes it.
only_in() {
  local found
  found=$(files "${code[@]}" | xargs -0 grep -nE "^ *# *include *[<\"]$1" | grep -vE "^($2)/" || true)
  [[ -z $found ]] || { printf '%s\n' "$found" && return 1; }
}

# Rooms of lib/phy from the top of the includes to the bottom: one may include those before it in its line.
includes_flow_down() {
  local rooms=(core mapper demapper measure channel pipeline) above=() room found bad=0
  for room in "${rooms[@]}"; do
    above+=("$room")
    [[ -d lib/phy/$room ]] || continue
    found=$(files "lib/phy/$room/*" | xargs -0 -r grep -nE '^ *# *include *"phy/' |
      grep -vE "\"phy/($(IFS='|' && echo "${above[*]}"))/" || true)
    if [[ -n $found ]]; then
      printf '%s\n' "$found"
      bad=1
    fi
  done
  return "$bad"
}

# Whatever the folder: nvcc is not to read them.
plain_kernels() {
  local found
  found=$(files '*.cu' '*.cuh' | xargs -0 -r grep -nE '^ *# *include *[<"](spdlog|fmt|boost|hdf5)' || true)
  [[ -z $found ]] || { printf '%s\n' "$found" && return 1; }
}

check "clang-format" formatted
check "no file over 500 lines" short_files
check "spdlog and Boost in no library code" only_in '(spdlog|fmt|boost)/' 'apps|tests/apps|tests/bench'
check "no spdlog, Boost or HDF5 in CUDA code" plain_kernels
check "HDF5 in no library code but capture" only_in '(hdf5|H5[A-Za-z]*)\.h' 'lib/phy/capture|tests/capture|tests/apps|tests/bench'
check "includes flow down" includes_flow_down
check "every public header compiles on its own" headers_stand_alone
check "figures of README.md" tools/figures.py --check
check "clang-tidy" tidy

if ((${#failed[@]})); then
  printf 'lint: failed: %s\n' "$(IFS=';' && echo "${failed[*]}")"
  exit 1
fi
echo "lint: all checks passed"

#!/usr/bin/env bash
# Style, names and structure: everything that is checked about the text of the code.
#
#   tools/lint.sh [--recent]
#
# clang-tidy takes a quarter of an hour for the whole tree on two cores. With --recent, after a build, it looks at what
# differs from the last commit that is older than two days, unless its rules or the compiler's options differ too: all
# else has passed in the checks of those days.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

since=
if [[ $# == 1 && $1 == --recent ]]; then
  since=$(git rev-list -1 --first-parent --before='2 days ago' HEAD)
  if [[ -n $since ]] && [[ -n $(git diff --name-only "$since" -- .clang-tidy '*/.clang-tidy') ||
    -n $(git diff --name-only -G'compile_options|flags|-[Wfm]' "$since" -- cmake/PhyOptions.cmake) ]]; then
    since=
  fi
elif (($#)); then
  fail "expected nothing, or --recent"
fi

need_packages "${build_packages[@]}" "${lint_packages[@]}"
configure release
ninja -C build/release build.ninja >/dev/null  # after a change of a CMakeLists.txt

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

code=('*.cpp' '*.hpp' '*.h' '*.inc' '*.cu' '*.cuh')
formatted() { files "${code[@]}" | xargs -0 clang-format-14 --dry-run -Werror; }

# Sources that differ from that commit, and for each header that does a source that includes it, as the build noted.
changed_sources() {
  local changed
  changed=$(git diff --name-only --diff-filter=d "$since" && git ls-files --others --exclude-standard)
  {
    grep '\.cpp$' <<<"$changed" || true
    ninja -C build/release -t deps | awk -v root="$PWD/" '
      NR == FNR { changed[$0] = 1; next }
      /^[^ ]/ { source = ""; next }
      { file = $1; gsub("/[^/.]+/[.][.]/", "/", file); sub("^([.][.]/[.][.]/|" root ")", "", file) }
      source == "" { source = file }
      file in changed && source ~ /\.cpp$/ { print source; delete changed[file] }' <(printf '%s\n' "$changed") -
  } | sort -u | tr '\n' '\0'
}

# Without precompiled headers, so that a missing include is found.
mkdir -p build/release/lint
sed -E 's/-Winvalid-pch|-fpch-preprocess|-include [^ ]*cmake_pch\.hxx//g' build/release/compile_commands.json \
  >build/release/lint/compile_commands.json

# What clang warns of counts too: nothing else compiles all code with it.
tidy() {
  local file
  # Only files that the build compiles: clang-tidy would guess the flags of others.
  if [[ -n $since ]]; then changed_sources; else files '*.cpp'; fi |
    while IFS= read -r -d '' file; do
      if grep -qF "\"file\": \"$PWD/$file\"" build/release/compile_commands.json; then printf '%s\0' "$file"; fi
    done | xargs -0 -r -n 1 -P "$(nproc)" clang-tidy-14 -p build/release/lint --quiet 2> >(grep -v 'warnings\? generated\.$' >&2)
}

# By a host compiler that is told of nothing but lib/: no CUDA, no package.
header_is_plain() {
  printf '#include "%s"\n' "$1" |
    g++ -std=c++20 -fsyntax-only -Wall -Wextra -Wconversion -Werror -I lib -I build/release/lib -x c++ - ||
    { echo "$1 does not compile alone" && return 1; }
}
export -f header_is_plain
public_headers_are_plain() { public_headers | xargs -n 1 -P "$(nproc)" bash -c 'header_is_plain "$0"'; }

# What the rooms of lib/phy declare: name|library|rooms that it may include|public headers.
rooms=build/release/lib/rooms.txt
[[ -s $rooms ]] || fail "$rooms is missing"

# Those of mpi/ need a package: mpi.h.
public_headers() {
  cut -d '|' -f 4 $rooms | tr ' ' '\n' | grep . | grep -v '^phy/mpi/'
  echo phy/phy.hpp
}

# A file that is compiled once for each way of computing includes all that it uses: by Highway for the instruction set
# that the compiler is given, and for one number at a time if it is not for vectors alone.
inl_files_stand_alone() {
  local file flags=() bad=0
  if [[ $(uname -m) == x86_64 ]]; then flags=(-march=x86-64-v3 -maes -mpclmul); fi
  local compile=(g++ -std=c++20 "${flags[@]}" -fsyntax-only -I lib -I build/release/lib -x c++)
  while IFS= read -r -d '' file; do
    "${compile[@]}" -D HWY_TARGET_INCLUDE='""' "$file" || bad=1
    if ! grep -qE 'hwy|-vector|ops_vector' "$file"; then "${compile[@]}" "$file" || bad=1; fi
  done < <(files 'lib/*-inl.h')
  return "$bad"
}

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

# A room of lib/phy includes itself and the rooms that it declares: no other, and each of them.
includes_go_up() {
  local room may other found bad=0
  while IFS='|' read -r room _ may _; do
    for other in $may; do
      files "lib/phy/$room/*" | xargs -0 -r cat | grep -E "^ *# *include *\"phy/$other/" >/dev/null && continue
      echo "lib/phy/$room/CMakeLists.txt: MAY_INCLUDE names $other, which no file includes"
      bad=1
    done
    found=$(files "lib/phy/$room/*" | xargs -0 -r grep -nE '^ *# *include *"phy/' |
      grep -vE "\"phy/($(tr ' ' '|' <<<"$room${may:+ $may}"))/" || true)
    if [[ -n $found ]]; then
      printf '%s\n' "$found"
      bad=1
    fi
  done <$rooms
  return "$bad"
}

# The table of rooms in the page about the structure says what they declare. A build without MPI lacks one.
page_names_the_rooms() {
  diff <(sed -nE 's/^\| `([a-z]+)\/` \|.*\| ([a-z ]*) \|$/\1: \2/p' docs/developer/architecture.md |
    { if grep -q '^mpi|' $rooms; then cat; else grep -v '^mpi: '; fi; }) \
    <(awk -F '|' '{ print $1 ": " ($3 == "" ? "nothing" : $3) }' $rooms)
}

dockerfile_gets_tools() {
  local tool missing=0
  for tool in $(grep -oE 'tools/[a-z_]+\.[a-z]+' cmake/PhyInstall.cmake); do
    grep -qxF -e "!$tool" -e "!tools/*.${tool##*.}" .dockerignore || { echo ".dockerignore leaves out $tool" && missing=1; }
  done
  return "$missing"
}

# The last bits of a C library's functions are its own: what reaches an output takes them from numerics/elementary.hpp.
last_bits_are_ours() {
  local names='exp|exp2|expm1|log|log2|log10|log1p|pow|sin|cos|tan|asin|acos|atan|atan2|sinh|cosh|tanh|hypot|cbrt|erf|erfc|tgamma|lgamma'
  local found
  found=$(files 'lib/*' |
    xargs -0 grep -nE "(^|[^a-z_])(std)?::($names|polar|arg)[fl]?\(|__(exp|log|pow|sin|cos)[0-9]*f\(|\.(exp|log|sin|cos)\(\)" || true)
  [[ -z $found ]] || { printf '%s\n' "$found" && return 1; }
}

# Whatever the folder: nvcc is not to read them.
plain_kernels() {
  local found
  found=$(files '*.cu' '*.cuh' '*.cu.in' | xargs -0 -r grep -nE '^ *# *include *[<"](spdlog|fmt|boost|hdf5)' || true)
  [[ -z $found ]] || { printf '%s\n' "$found" && return 1; }
}

# Files and headings that documents link to, without other sites. The package test looks for the installed ones.
links_resolve() {
  files '*.md' | xargs -0 python3 -c '
import functools, pathlib, re, sys

@functools.cache
def anchors(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
    slugs = [re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in re.findall(r"^#+ +(.+?) *$", text, re.M)]
    return {slug + (f"-{slugs[:i].count(slug)}" if slug in slugs[:i] else "") for i, slug in enumerate(slugs)}

bad = []
for page in map(pathlib.Path, sys.argv[1:]):
    for link, anchor in re.findall(r"\]\(([^)#:\s]*)(?:#([^)\s]+))?\)", page.read_text()):
        target = page.parent / link if link else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            bad.append(f"{page}: {link}#{anchor}" if anchor else f"{page}: {link}")
sys.exit("\n".join(bad) or 0)'
}

# Pages that programs, their sources and scripts name.
named_pages_exist() {
  local page bad=0
  while IFS= read -r page; do
    if [[ ! -f $page ]]; then echo "$page is named, and does not exist" && bad=1; fi
  done < <(files "${code[@]}" '*.py' '*.sh' '*.cmake' '*CMakeLists.txt' | xargs -0 grep -ohE '\bdocs/[a-z/-]+\.md' | sort -u)
  return "$bad"
}

# pages_name PAGE...: one of the pages has each name of stdin, as code.
pages_name() {
  local name bad=0
  while IFS= read -r name; do
    if ! grep -qF "\`$name\`" "$@"; then echo "$name is in none of: $*" && bad=1; fi
  done
  return "$bad"
}

# No program prints these.
sigmf_keys_are_documented() {
  files 'lib/phy/capture/*.cpp' | xargs -0 grep -ohE '"(core|phy):[a-z_0-9]+"' | tr -d '"' | sort -u | pages_name docs/files.md
}
variables_are_documented() {
  files 'lib/*' 'apps/*' | xargs -0 grep -ohE '"(PHY|HDF5)_[A-Z_]+"' | tr -d '"' | sort -u | pages_name docs/cli.md docs/files.md
}
build_options_are_documented() {
  files '*CMakeLists.txt' '*.cmake' | xargs -0 grep -ohE '^ *option\(PHY_[A-Z_]+|set\(PHY_[A-Z_]+ [^)]*CACHE' | grep -oE 'PHY_[A-Z_]+' | sort -u |
    pages_name docs/developer/building.md
}

check "clang-format" formatted
check "no file over 500 lines" short_files
check "spdlog and Boost in no library code" only_in '(spdlog|fmt|boost)/' 'apps|tests/apps|tests/bench'
check "no spdlog, Boost or HDF5 in CUDA code" plain_kernels
check "HDF5 in no library code but capture" only_in '(hdf5|H5[A-Za-z]*)\.h' 'lib/phy/capture|tests/capture|tests/support'
check "nlohmann-json in no library code but capture, files and receiver" only_in 'nlohmann/' 'lib/phy/capture|lib/phy/files|lib/phy/receiver|tests/receiver'
check "rooms include what they declare" includes_go_up
check "docs/developer/architecture.md names the rooms" page_names_the_rooms
check "tools/Dockerfile gets the tools that are installed" dockerfile_gets_tools
check "outputs take no last bits from a C library" last_bits_are_ours
check "every public header compiles on its own, with a plain host compiler" public_headers_are_plain
check "every -inl.h file compiles on its own" inl_files_stand_alone
check "figures in documents" tools/figures.py --check
check "links in documents" links_resolve
check "pages that code names" named_pages_exist
check "docs/files.md names SigMF keys" sigmf_keys_are_documented
check "documents name the environment variables of programs" variables_are_documented
check "docs/developer/building.md names build options" build_options_are_documented
check "clang-tidy" tidy

if ((${#failed[@]})); then
  printf 'lint: failed: %s\n' "$(IFS=';' && echo "${failed[*]}")"
  exit 1
fi
echo "lint: all checks passed"

#!/usr/bin/env bash
# The reference of the public headers, by Doxygen: build/reference/html/index.html. Warnings are errors, and
# docs/reference.md, its first page, has to name every exported class and error, and no class that there is not.
#
#   tools/reference.sh
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

need_packages "${build_packages[@]}" "${reference_packages[@]}"
configure release
rooms=build/release/lib/rooms.txt
# Also of rooms that this build leaves out.
mapfile -t headers < <({ cut -d '|' -f 4 $rooms | tr ' ' '\n' | grep . | sed 's#^#lib/#'; echo lib/phy/mpi/ranks.hpp; } | sort -u)
((${#headers[@]} > 50)) || fail "$rooms names ${#headers[@]} headers"

page=docs/reference.md
exported=$(sed -nE 's/^class PHY_EXPORT ([A-Za-z]+).*/\1/p' "${headers[@]}" | sort -u)
named=$(grep -oE 'phy::((gpu|mpi)::)?[A-Z][A-Za-z]+' $page | sed 's/.*:://' | sort -u)
missing=$(comm -23 <(echo "$exported") <(echo "$named"))
[[ -z $missing ]] || fail "$page does not name" $missing
for class in $named; do
  grep -qE "^class (PHY_EXPORT )?$class\b" "${headers[@]}" || fail "$page names $class, which no header has"
done

mkdir -p build/reference
doxygen - <<EOF
PROJECT_NAME = phy
PROJECT_NUMBER = $(sed -nE 's/^project\(phy VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
INPUT = $page ${headers[*]}
USE_MDFILE_AS_MAINPAGE = $page
STRIP_FROM_PATH = lib
STRIP_FROM_INC_PATH = lib
EXCLUDE_SYMBOLS = phy::detail phy::detail::* phy::gpu::detail phy::gpu::detail::*
PREDEFINED = PHY_EXPORT= PHY_HIDDEN= __cplusplus=202002L
MACRO_EXPANSION = YES
EXPAND_ONLY_PREDEF = YES
JAVADOC_AUTOBRIEF = YES
SORT_MEMBER_DOCS = NO
WARN_IF_UNDOCUMENTED = NO
WARN_AS_ERROR = FAIL_ON_WARNINGS
QUIET = YES
HAVE_DOT = NO
GENERATE_LATEX = NO
OUTPUT_DIRECTORY = build/reference
EOF
say "build/reference/html/index.html"

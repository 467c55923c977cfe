#!/usr/bin/env bash
# Builds phy and runs all tests; arguments go to ctest, such as: tools/test.sh -R demapper
set -euo pipefail

if [[ ${1-} == -h || ${1-} == --help ]]; then
  echo "usage: tools/test.sh [ARGUMENT OF CTEST...]    (such as -R demapper: only the tests with this name)"
  exit 0
fi
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

need_packages "${test_packages[@]}"
build release
run_tests release "$@"

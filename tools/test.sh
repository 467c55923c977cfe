#!/usr/bin/env bash
# Builds phy and runs all tests; arguments go to ctest, such as: tools/test.sh -R demapper
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

need_packages "${test_packages[@]}"
build release
run_tests release "$@"

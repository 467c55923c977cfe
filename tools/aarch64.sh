#!/usr/bin/env bash
# Cross-compiles phy for AArch64 and runs the tests of core, simd, mapper, demapper and coding under qemu-user: what NEON writes
# is what scalar code writes, and what the digests say. Arguments go to each test program, such as --gtest_filter=Arrays*.
# Some 10 minutes; Debian's packages of arm64 are installed beside those of this machine.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

if command -v dpkg >/dev/null && ! dpkg --print-foreign-architectures | grep -qx arm64; then
  as_root=()
  ((EUID == 0)) || as_root=(sudo)
  "${as_root[@]}" dpkg --add-architecture arm64
  "${as_root[@]}" apt-get update -qq
fi
need_packages "${build_packages[@]}" g++-aarch64-linux-gnu qemu-user-static libhwy-dev:arm64 libgtest-dev:arm64

say "building build/aarch64"
cmake -S . -B build/aarch64 -G Ninja -D CMAKE_TOOLCHAIN_FILE="$PWD/cmake/toolchains/aarch64.cmake" \
  -D CMAKE_BUILD_TYPE=Release -D PHY_CUDA=OFF -D PHY_CAPTURE=OFF -D PHY_APPS=OFF -D PHY_INSTALL=OFF -D PHY_WERROR=ON >/dev/null
programs=(core/core_test simd/simd_test mapper/mapper_test demapper/demapper_test demapper/demapper_equality_test
  demapper/demapper_accuracy_test coding/coding_test digests/digest_test)
cmake --build build/aarch64 --target "${programs[@]##*/}"

# Left out: death tests, as qemu counts its own memory in the limits that they set, and digests of receivers, whose inputs are
# made with sines and logarithms of the C library, which differ on AArch64.
export PHY_TEST_FEWER_CASES=1
failed=()
for program in "${programs[@]}"; do
  say "running $program under qemu-aarch64"
  qemu-aarch64-static "build/aarch64/tests/$program" --gtest_brief=1 --gtest_filter=-*DeathTest*:*OfReceivers* "$@" || failed+=("$program")
done
((${#failed[@]} == 0)) || fail "failed: ${failed[*]}"

# shellcheck shell=bash disable=SC2034
# Sourced by the scripts of this folder and by .ci/run: packages and builds. They run from the root of the checkout.
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit

# CUDA is not among them: where nvcc is on the PATH (CUDA 12.8 or later) the CUDA backend is built too.
build_packages=(g++ cmake ninja-build pkg-config libhdf5-dev libhwy-dev libboost-program-options-dev
  libspdlog-dev libgtest-dev nlohmann-json3-dev)
test_packages=("${build_packages[@]}" python3-h5py)
plot_packages=(python3-h5py python3-matplotlib)
bench_packages=(libbenchmark-dev)
mpi_packages=(libopenmpi-dev openmpi-bin)
lint_packages=(git clang-format-14 clang-tidy-14)
reference_packages=(doxygen)
fuzz_packages=(clang-14 libclang-rt-14-dev llvm-14 python3-h5py)

# What another checkout has compiled is in the cache too.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

say() { printf '== %s\n' "$*"; }
fail() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# need_packages PACKAGE...: installs those that are missing.
need_packages() {
  if ! command -v dpkg-query >/dev/null; then
    # Not Debian: only CMake can tell whether the libraries are there, if it is there itself.
    local tool
    for tool in g++ cmake ninja pkg-config; do
      command -v "$tool" >/dev/null || fail "$tool is missing; needed are what Debian calls: $*"
    done
    return
  fi
  local package missing=() as_root=()
  for package in "$@"; do
    # One word for each architecture that it is there for.
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed* ]] || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  command -v apt-get >/dev/null || fail "no apt-get to install what is missing: ${missing[*]}"
  if ((EUID != 0)); then
    command -v sudo >/dev/null || fail "neither root nor sudo; as root run: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  say "installing with apt-get (minutes on a bare machine): ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# What the CUDA backend needs code for here: the devices of this machine, or one for the sake of compiling.
cuda_architectures() {
  local capabilities
  capabilities=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null |
    sed -n 's/^\([0-9]*\)\.\([0-9]\)$/\1\2-real/p' | sort -u | paste -sd ';') || true
  echo "${capabilities:-90-real}"
}

# configure PRESET [CMAKE OPTION...]: once; later, what is given changes the options of the same folder.
configure() {
  local preset=$1
  local without_cuda=build/$preset/without_cuda  # tools/demo.sh has configured it for itself
  shift
  if [[ ! -f build/$preset/build.ninja ]]; then
    set -- -D PHY_CUDA_ARCHITECTURES="$(cuda_architectures)" "$@"
  elif [[ -f $without_cuda ]]; then
    set -- -D PHY_CUDA=AUTO "$@"
  elif (($# == 0)); then
    return
  fi
  say "configuring build/$preset"
  cmake --preset "$preset" "$@"
  rm -f "$without_cuda"
}

# build PRESET [TARGET...]
build() {
  local preset=$1
  shift
  configure "$preset"
  say "building build/$preset"
  cmake --build --preset "$preset" ${1+--target "$@"}
}

# run_tests PRESET [CTEST OPTION...]: prints how many cases the test programs have passed, skipped and failed.
run_tests() {
  local preset=$1 status=0
  shift
  say "testing build/$preset"
  ctest --preset "$preset" -j "$(nproc)" "$@" || status=$?
  local cases
  cases=$(sed -nE 's/^\[  (PASSED|SKIPPED|FAILED) *\] ([0-9]+) tests?[.,].*/\1 \2/p' \
    "build/$preset/Testing/Temporary/LastTest.log" |
    awk '{ n[$1] += $2 } END { printf "%d passed, %d skipped, %d failed\n", n["PASSED"], n["SKIPPED"], n["FAILED"] }')
  say "cases: $cases"
  # A filter that matches nothing is a failure, and so is a run of everything without a case.
  if [[ $cases == "0 passed"* && (-z $* || -n ${GTEST_FILTER:-}) ]]; then status=1; fi
  return "$status"
}

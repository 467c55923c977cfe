#!/usr/bin/env bash
# Builds the image of tools/Dockerfile with buildah and tries it. The images that the file starts from are made here, by mmdebstrap: neither
# docker nor a registry of images is needed.
#
#   tools/container.sh [cuda]
#
# cuda: with the CUDA backend, for the GPUs of this machine, or for 9.0 if it has none. The base is this machine's release of Debian or Ubuntu,
# into which its CUDA toolkit is mounted, instead of NVIDIA's images.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
[[ $# == 0 || $* == cuda ]] || fail "expected nothing, or cuda"

((EUID == 0)) || fail "needs root, for chroot"
need_packages buildah mmdebstrap
out=$PWD/build/container
[[ $out != *[[:space:]]* ]] || fail "$out: mmdebstrap takes no path with spaces"
export BUILDAH_ISOLATION=chroot
images() { buildah --root "$out/store" --runroot "$out/run" "$@"; }
# File systems of containers are mounted there.
remove_images() {
  if [[ -d $out ]]; then images rm --all >/dev/null; fi
  rm -rf --one-file-system "$out"
}
remove_images
mkdir -p "$out"

# make_image NAME [OPTION OF BUILDAH CONFIG...]: from the files in base.tar.
make_image() {
  local name=$1 container
  shift
  container=$(images from scratch)
  images add --quiet "$container" "$out/base.tar" / >/dev/null
  images config "$@" "$container"
  images commit --quiet --rm "$container" "$name" >/dev/null
}

suite=bookworm components=main options=()
if (($#)); then
  suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
  ! grep -q '^ID=ubuntu' /etc/os-release || components=main,universe
  version=$(nvcc --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
  toolkit=$(nvcc --dryrun -x cu -c /dev/null -o /dev/null 2>&1 | sed -n 's/^#\$ TOP=//p')
  options=(--build-arg CUDA="$version" --build-arg PHY_CUDA_ARCHITECTURES="$(cuda_architectures)"
    --volume "$(realpath "$toolkit"):/usr/local/cuda:ro")
fi

say "making a base of $suite"
# Like the images of these distributions, without documents.
mmdebstrap --quiet --variant=apt --components="$components" --dpkgopt='path-exclude=/usr/share/man/*' \
  --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' "$suite" "$out/base.tar"
if (($#)); then
  make_image "docker.io/nvidia/cuda:$version-devel-ubuntu24.04" --env PATH=/usr/local/cuda/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin
  make_image "docker.io/nvidia/cuda:$version-base-ubuntu24.04"
else
  make_image docker.io/library/debian:bookworm-slim
fi

say "building the image"
images build --pull-never --file tools/Dockerfile --tag phy "${options[@]}" .

say "trying it"
container=$(images from --pull-never phy)
mkdir "$out/data"
chown 1000:1000 "$out/data"
cp data/pusch_samples.h5 "$out/data"
in_image() { images run --volume "$out/data:/data" "$container" -- "$@"; }
[[ $(in_image id -u) == 1000 ]] || fail "programs run as user $(in_image id -u), expected 1000"
in_image sh -ec 'for program in /usr/local/bin/*; do "$program" --version; done'
in_image demod_app pusch_samples.h5 -o received.h5
[[ -s $out/data/received.h5 ]] || fail "demod_app wrote no file into the mounted folder"
for file in doc/phy/LICENSE doc/phy/docs/quickstart.md doc/phy/licences phy/data/256qam.h5; do
  in_image test -e "/usr/local/share/$file" || fail "the image has no /usr/local/share/$file"
done

# The final stage adds phy to its base, and no package. buildah makes two files of its own.
images run --user 0 "$container" -- find / -xdev | sed 's|^/||' | sort >"$out/files"
added=$(tar -tf "$out/base.tar" | sed 's|^\./||; s|/$||' | sort | comm -13 - "$out/files" |
  grep -vE '^(usr/local/.*|data(/.*)?|etc/hosts|run/\.containerenv)$' || true)
[[ -z $added ]] || fail "the image has files that are neither of its base nor in /usr/local: $added"
remove_images
say "the image works"

#!/usr/bin/env bash
# tools/deb.sh [ARCHITECTURE]: makes the Debian packages of HEAD for amd64 or arm64 (default: that of this machine) in
# build/deb/ARCHITECTURE/, in a clean root of Debian 12, and checks them with lintian. Another clean root tries them: the tests of
# debian/tests/ with no more packages than they name, then all packages are removed. Packages for another architecture are
# cross-built without the build's tests, and their programs run under qemu-user.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
(($# <= 1)) && [[ ${1:-amd64} =~ ^(amd64|arm64)$ ]] || fail "expected amd64, arm64 or no argument"

need_packages dpkg-dev git lintian mmdebstrap
version=$(git show HEAD:CMakeLists.txt | sed -n 's/^project(phy VERSION \([^ ]*\).*/\1/p')
packaged=$(git show HEAD:debian/changelog | dpkg-parsechangelog -l - -S Version)
[[ $packaged == "$version" ]] || fail "debian/changelog has version $packaged, CMakeLists.txt $version"
native=$(dpkg --print-architecture)
architecture=${1:-$native}
gnu_type=$(dpkg-architecture -a "$architecture" -q DEB_HOST_GNU_TYPE 2>/dev/null)
settings=(DEBIAN_FRONTEND=noninteractive architecture="$architecture" gnu_type="$gnu_type" DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS:-}")
[[ $architecture == "$native" ]] || settings+=(DEB_BUILD_PROFILES="cross nocheck" cross=yes)
out=$PWD/build/deb/$architecture
[[ $out != *[[:space:]]* ]] || fail "$out: mmdebstrap takes no path with spaces"
rm -rf "$out"
mkdir -p "$out"
git archive --prefix="phy-$version/" -o "$out/source.tar" HEAD

# in_clean_root SCRIPT [HOOK...]: runs the script in a folder with the files of $out, then the hooks of mmdebstrap.
in_clean_root() {
  local script=$1
  shift
  mmdebstrap --quiet --variant=apt --customize-hook="mkdir \"\$1/packages\"" \
    --customize-hook="copy-in $(printf '%s ' "$out"/*) /packages" \
    --customize-hook="chroot \"\$1\" env -i PATH=/usr/sbin:/usr/bin ${settings[*]@Q} sh -c 'cd /packages && exec sh $script'" \
    "${@/#/--customize-hook=}" bookworm /dev/null http://deb.debian.org/debian
}

cat >"$out/prepare" <<'END'
set -e
say() { printf '== in the clean root: %s\n' "$*"; }
install() { apt-get install -y -qq --no-install-recommends "$@" >/dev/null; }
tar -xf source.tar
if [ "$cross" ]; then
  dpkg --add-architecture "$architecture"
  apt-get update -qq
fi
END

cat >"$out/build" <<'END'
. ./prepare
say "installing what the build needs"
[ ! "$cross" ] || install "crossbuild-essential-$architecture"
(cd phy-*/ && apt-get build-dep -y -qq --no-install-recommends --host-architecture "$architecture" . >/dev/null)
say "building"
(cd phy-*/ && dpkg-buildpackage --host-arch "$architecture" --unsigned-source --unsigned-changes)
mkdir built
mv phy_* ./*.deb built
END

cat >"$out/try" <<'END'
. ./prepare
if [ "$cross" ]; then
  install qemu-user-static
  export DEB_HOST_GNU_TYPE="$gnu_type" EMULATOR="qemu-${gnu_type%%-*}-static"
fi
for tests in libphy-dev phy-tools; do
  depends=$(sed -n "/^Tests: $tests/,/^\$/s/^Depends: //p" phy-*/debian/tests/control | tr -d ,)
  say "installing $depends"
  install ./libphy0_*.deb $(for package in $depends; do
    case $package in
      g++) [ "$cross" ] && echo "crossbuild-essential-$architecture" || echo g++ ;;
      pkg-config) echo "pkg-config:$architecture" ;;
      *) ls ./"$package"_*.deb 2>/dev/null || echo "$package" ;;
    esac
  done)
  say "debian/tests/$tests"
  (cd phy-*/ && AUTOPKGTEST_TMP=$(mktemp -d) "debian/tests/$tests")
done
install ./phy-doc_*.deb
dpkg-query -W -f '${Package} ${Version} ${Architecture} ${db:Status-Status}\n' '*phy*'
say "removing the packages"
packages="libphy0:$architecture libphy-dev:$architecture phy-tools:$architecture phy-doc"
files=$(dpkg -L $packages)
apt-get purge -y -qq $packages >/dev/null
for file in $files; do
  [ -d "$file" ] && case $file in *phy*) ;; *) continue ;; esac
  [ ! -e "$file" ] || { echo "$file is left" && exit 1; }
done
END

say "building $out in a clean root"
in_clean_root build "sync-out /packages/built $out"
say "lintian"
# The project has no mail address.
lintian --allow-root --fail-on error --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog "$out"/*.changes
say "trying them in a clean root"
in_clean_root try
say "packages are in $out"

#!/usr/bin/env bash
# Makes the Debian packages of HEAD in build/deb/, checks them with lintian, and tries them in a clean root of Debian 12: the tests of
# debian/tests/ with no more packages than they name, then all packages are removed.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
(($# == 0)) || fail "expected no arguments"

need_packages "${build_packages[@]}" debhelper dpkg-dev git lintian mmdebstrap
version=$(git show HEAD:CMakeLists.txt | sed -n 's/^project(phy VERSION \([^ ]*\).*/\1/p')
out=$PWD/build/deb
[[ $out != *[[:space:]]* ]] || fail "$out: mmdebstrap takes no path with spaces"
source=$out/phy-$version
rm -rf "$out"
mkdir -p "$source"
git archive -o "$out/source.tar" HEAD
tar -xf "$out/source.tar" -C "$source"
cd "$source"
[[ $(dpkg-parsechangelog -S Version) == "$version" ]] ||
  fail "debian/changelog has version $(dpkg-parsechangelog -S Version), CMakeLists.txt $version"

say "building $out"
dpkg-buildpackage --unsigned-source --unsigned-changes

say "lintian"
# The project has no mail address.
lintian --allow-root --fail-on error --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog "$out"/*.changes

cat >"$out/try" <<'END'
set -e
export DEBIAN_FRONTEND=noninteractive
say() { printf '== in the clean root: %s\n' "$*"; }
install() { apt-get install -y -qq --no-install-recommends "$@" >/dev/null; }
mkdir /tmp/source
tar -xf source.tar -C /tmp/source
for tests in libphy-dev phy-tools; do
  depends=$(sed -n "/^Tests: $tests/,/^\$/s/^Depends: //p" /tmp/source/debian/tests/control | tr -d ,)
  say "installing $depends"
  install $(for package in $depends; do ls ./"$package"_*.deb 2>/dev/null || echo "$package"; done) ./libphy0_*.deb
  say "debian/tests/$tests"
  (cd /tmp/source && AUTOPKGTEST_TMP=$(mktemp -d) "debian/tests/$tests")
done
install ./phy-doc_*.deb
dpkg-query -W -f '${Package} ${Version} ${db:Status-Status}\n' '*phy*'
say "removing the packages"
files=$(dpkg -L libphy0 libphy-dev phy-tools phy-doc)
apt-get purge -y -qq libphy0 libphy-dev phy-tools phy-doc >/dev/null
for file in $files; do
  [ -d "$file" ] && case $file in *phy*) ;; *) continue ;; esac
  [ ! -e "$file" ] || { echo "$file is left" && exit 1; }
done
END
say "trying them in a clean root"
mmdebstrap --quiet --variant=apt --customize-hook="mkdir \"\$1/packages\"" \
  --customize-hook="copy-in $(printf '%s ' "$out"/*.deb) $out/source.tar $out/try /packages" \
  --customize-hook="chroot \"\$1\" env -i PATH=/usr/sbin:/usr/bin sh -c 'cd /packages && exec sh try'" bookworm /dev/null http://deb.debian.org/debian
say "packages are in $out"

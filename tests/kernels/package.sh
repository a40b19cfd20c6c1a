#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Builds the eight Debian packages from a copy of the files that git does not ignore, and checks
# them with lintian.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/kernels/debian.inc
say() { echo "package: $*"; }; list() { say "$@"; }; die() { say "$*"; exit 1; }; log=build/setup.log

command -v dpkg-deb > /dev/null || { echo "not a Debian machine"; exit 4; }
need debhelper dh-dkms dh-python python3-setuptools python3-cffi python3-dev lintian dpkg-dev
version=$(sed -n 's/^VERSION := //p' Makefile)
work=$PWD/build/package
rm -rf "$work"
mkdir -p "$work/jetwatt-$version"
git ls-files -co --exclude-standard | tar c -T - | tar x -C "$work/jetwatt-$version"
(cd "$work/jetwatt-$version" && dpkg-buildpackage -us -uc -b) > "$work/build.log" 2>&1 ||
	{ tail -n 20 "$work/build.log"; echo "the packages do not build"; exit 1; }
for p in jetwatt jetwatt-sync jetwatt-mqtt jetwatt-dkms libjetwatt1 libjetwatt-dev python3-jetwatt python3-jetwatt-stream; do
	ls "$work/${p}_$version"*.deb > /dev/null || { echo "no package $p"; exit 1; }
	dpkg-deb -c "$work/${p}_$version"*.deb
done
lintian --no-cfg --fail-on error,warning "$work"/*.changes ||
	{ echo "lintian reports errors"; exit 1; }
echo "eight packages, lintian clean"

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Check tests/setup.sh without a network: a package whose download failed is downloaded by the next
# run.
cd "$(dirname "$0")/../.." || exit 1
d=$(mktemp -d)
trap 'rm -rf "$d"' EXIT
. tests/host/check.inc
eval "$(sed -n '/^unpack()/,/^}/p' tests/setup.sh)"
say() { echo "# setup: $*"; }
log=$d/log
cd "$d" || exit 1
echo 1..2
apt-get() { return 100; }
unpack build/server "a server" package
check "a failed download leaves no files" "[ ! -e $d/build/server ] && [ ! -e $d/build/server.new ] && [ ! -e $d/build/server.debs ]"
apt-get() { : > package.deb; }
dpkg-deb() { mkdir -p "$3/usr"; }
unpack build/server "a server" package
check "the next run downloads it" "[ -d $d/build/server/usr ] && [ ! -e $d/build/server.debs ]"
exit $failed

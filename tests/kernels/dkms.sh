#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs DKMS add, build, install, autoinstall and remove on the source that `make install` puts into
# /usr/src, with the machine's DKMS (3.x) and with that of bullseye (2.8), for the headers of
# Debian's amd64 kernel. DKMS uses separate directories.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/kernels/debian.inc

[ "$(dpkg --print-architecture)" = amd64 ] || { echo "needs an amd64 machine"; exit 4; }
[ "$(id -u)" = 0 ] || { echo "DKMS needs root"; exit 4; }
why=$(tests/kernels/prepare 6.1-amd64) || { s=$?; echo "$why"; exit $s; }
version=$(sed -n 's/^VERSION := //p' Makefile)
release=$(cat build/kernels/6.1-amd64/release)
headers=$PWD/build/kernels/6.1-amd64/linux-headers
say() { echo "dkms: $*"; }; list() { say "$@"; }; die() { say "$*"; exit 1; }; log=build/setup.log
work=$PWD/build/kernels/dkms
rm -rf "$work"
mkdir -p "$work/root"
tested=''

# DKMS of older releases of Debian and Ubuntu; it is a shell script, so it runs on this machine.
old_dkms()
{
	mkdir -p "$work/apt"
	sources_of bullseye main > "$work/apt/sources.list" && apt_lists "$work/apt" amd64 || return 1
	(cd "$work" && apt_in "$work/apt" amd64 apt-get download dkms > /dev/null 2>&1) || return 1
	dpkg-deb -x "$work"/dkms_2.8*.deb "$work/dkms-2.8"
}

# life DKMS [OPTION]...: run all steps with this DKMS, also those after an upgrade of the kernel.
# The options are for the steps that build.
life()
{
	local dkms=$1 tree=$work/tree mods=$work/root/lib/modules step
	local places=(--dkmstree "$tree" --sourcetree "$work/root/usr/src" --installtree "$mods")
	local for_kernel=(-k "$release" --kernelsourcedir "$headers" --no-depmod "${@:2}")
	rm -rf "$tree" "$mods"
	mkdir -p "$tree" "$mods/$release/kernel"
	for step in add build install remove add autoinstall remove; do
		echo "== $dkms $step"
		set -- "$step" "${places[@]}"
		[ $step = autoinstall ] || set -- "$@" -m jetwatt -v "$version"
		case $step in
		build|install|autoinstall) set -- "$@" "${for_kernel[@]}";;
		remove) set -- "$@" --all --no-depmod;;
		esac
		"$dkms" "$@" || { echo "$dkms $step failed"; exit 1; }
		case $step in *install)
			find "$mods" -name 'jetwatt.ko*' | grep -q . ||
				{ echo "$dkms $step left no module"; exit 1; };;
		esac
	done
	! find "$mods" "$tree" -name 'jetwatt.ko*' | grep -q . ||
		{ echo "$dkms remove left the module"; exit 1; }
	tested="$tested $("$dkms" --version | sed 's/^dkms[-: ]*//')"
}

make -s install KDIR=/nonexistent DESTDIR="$work/root" > "$work/install.log" 2>&1 ||
	{ tail -n 5 "$work/install.log"; exit 1; }
need dkms
life "$(command -v dkms)"
if old_dkms; then
	# Without --no-clean-kernel, DKMS would run "make clean" in the headers, which are not in
	# /lib/modules.
	life "$work/dkms-2.8/usr/sbin/dkms" --no-prepare-kernel --no-clean-kernel
else
	echo "DKMS 2.8 cannot be fetched"
fi
echo "add, build, install, autoinstall, remove with DKMS$tested"

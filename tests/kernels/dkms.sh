#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# DKMS add, build, install, autoinstall and remove of what `make install` leaves
# in /usr/src, with the machine's DKMS (3.x) and with bullseye's (2.8), against
# the headers of Debian's amd64 kernel. All of it in directories of its own.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/kernels/debian.inc

[ "$(dpkg --print-architecture)" = amd64 ] || { echo "needs an amd64 machine"; exit 4; }
[ "$(id -u)" = 0 ] || { echo "DKMS wants to be root"; exit 4; }
why=$(tests/kernels/prepare 6.1-amd64) || { s=$?; echo "$why"; exit $s; }
version=$(sed -n 's/^VERSION := //p' Makefile)
release=$(cat build/kernels/6.1-amd64/release)
headers=$PWD/build/kernels/6.1-amd64/linux-headers
say() { echo "dkms: $*"; }; list() { say "$@"; }; die() { say "$*"; exit 1; }; log=build/setup.log
work=$PWD/build/kernels/dkms
rm -rf "$work"
mkdir -p "$work/root"
tested=''

# What the other releases of Debian and Ubuntu have: a shell script, so it runs here.
old_dkms()
{
	mkdir -p "$work/apt"
	sources_of bullseye main > "$work/apt/sources.list" && apt_lists "$work/apt" amd64 || return 1
	(cd "$work" && apt_in "$work/apt" amd64 apt-get download dkms > /dev/null 2>&1) || return 1
	dpkg-deb -x "$work"/dkms_2.8*.deb "$work/dkms-2.8"
}

# life DKMS [OPTION]...: of our module, the options for what builds; also what DKMS does when a kernel has been upgraded
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
	# It would clean headers that are not in /lib/modules, as if they were a source.
	life "$work/dkms-2.8/usr/sbin/dkms" --no-prepare-kernel --no-clean-kernel
else
	echo "no DKMS 2.8 to be had"
fi
echo "add, build, install, autoinstall, remove with DKMS$tested"

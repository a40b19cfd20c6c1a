#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Brings everything that `make check` and `make demo` need onto a Debian 12
# machine, and says what it does:
#
#   1. host packages, by name, with apt (as root, or by sudo);
#   2. build/kit/: arm64 kernel, kernel headers, busybox and libraries for the
#      guest, and a few files of the kernel's source package. They are packages
#      too, but unpacked there instead of installed, from apt lists of their own,
#      so that the machine's set of architectures stays as it is.
#
# Later runs see that nothing is missing and return at once, without a network.
#   tests/setup.sh            what is missing
#   tests/setup.sh --refresh  the kit again, in its newest version
set -euo pipefail
cd "$(dirname "$0")/.."
# An ordinary user's PATH on Debian has no sbin, and depmod lives there.
PATH=$PATH:/usr/sbin:/sbin

host_packages=(
	gcc libc6-dev pkg-config cpio xz-utils kmod perl bc jq
	libnl-3-dev libnl-genl-3-dev libbpf-dev libelf-dev zlib1g-dev libjansson-dev libopenblas-dev
	clang llvm bpftool sparse
	gcc-12-aarch64-linux-gnu binutils-aarch64-linux-gnu libc6-dev-arm64-cross
	linux-kbuild-6.1 qemu-system-arm device-tree-compiler python3 python3-yaml
)
# For the guest: run time and development halves of what jetwatt links with.
guest_packages=(
	busybox-static libc6 libgcc-s1 libgfortran5
	libnl-3-200 libnl-3-dev libnl-genl-3-200 libnl-genl-3-dev
	libbpf1 libbpf-dev libelf1 libelf-dev zlib1g zlib1g-dev
	libopenblas0-serial libopenblas-serial-dev
)

kit=$PWD/build/kit
new=$kit.new
log=$PWD/build/setup.log
say() { echo "setup: $*"; }
# A long list, wrapped for a terminal of 80 columns.
list() { say "$1"; shift; echo "$*" | fold -s -w 72 | sed 's/^/    /;s/ $//'; }
die() { echo "setup: $*" >&2; exit 1; }

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

install_host()
{
	local missing
	missing=$(for p in "${host_packages[@]}"; do
		dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q '^install ok installed' ||
			echo "$p"
	done | xargs)
	[ -n "$missing" ] || return 0
	list "installing with apt (a minute or more; build/setup.log):" "$missing"
	[ "$(id -u)" = 0 ] || command -v sudo >/dev/null ||
		die "to install them, run this as root or install sudo"
	as_root apt-get -q update > "$log" 2>&1 ||
		say "apt-get update failed, going on with the lists at hand"
	# shellcheck disable=SC2086
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends \
		install $missing >> "$log" 2>&1 ||
		{ tail -n 20 "$log" >&2; die "apt could not install what is listed above (build/setup.log)"; }
}

# apt with arm64 as its only architecture; of the machine's apt it uses the
# sources and keys and nothing else.
apt_arm64()
{
	local tool=$1
	shift
	"$tool" -q -o APT::Architecture=arm64 -o APT::Architectures::=arm64 \
		-o APT::Sandbox::User="$(id -un)" -o Dir::State::Lists="$new/apt/lists" \
		-o Dir::State::status="$new/apt/status" -o Dir::Cache="$new/apt/cache" "$@"
}

# What a metapackage stands for: linux-image-arm64 -> linux-image-6.1.0-N-arm64
meant_by()
{
	apt_arm64 apt-cache depends "$1" 2>/dev/null |
		sed -n "s/^ *Depends: \(${1%arm64}[0-9].*-arm64\)\$/\1/p" | head -n 1 || true
}

download()
{
	apt_arm64 apt-get update >"$new/apt/log" 2>&1 ||
		{ cat "$new/apt/log" >&2; die "apt could not get the lists of arm64 packages"; }
	image=$(meant_by linux-image-arm64)
	headers=$(meant_by linux-headers-arm64)
	[ -n "$image" ] && [ -n "$headers" ] ||
		die "this machine's apt sources have no linux-image-arm64 and linux-headers-arm64"
	common=${headers%-arm64}-common
	list "fetching for the guest (arm64; unpacked into build/kit, not installed):" \
		"$image $headers $common linux-source-6.1 ${guest_packages[*]}"
	(cd "$new/debs" && apt_arm64 apt-get download "$image" "$headers" "$common" \
		linux-source-6.1 "${guest_packages[@]}" >"$new/apt/log" 2>&1) ||
		{ cat "$new/apt/log" >&2; die "apt could not download the arm64 packages"; }
}

# The image and those modules that a guest may want, with their dependencies.
unpack_kernel()
{
	local release=${image#linux-image-}
	dpkg-deb --fsys-tarfile "$new/debs/$image"_*.deb | tar x -C "$new" --wildcards \
		'./boot/vmlinuz-*' './boot/config-*' './lib/modules/*/modules.*' \
		'./lib/modules/*/kernel/drivers/virtio' './lib/modules/*/kernel/drivers/devfreq' \
		'./lib/modules/*/kernel/drivers/char/virtio_console.ko*' \
		'./lib/modules/*/kernel/drivers/cpufreq/cpufreq_*.ko*' \
		'./lib/modules/*/kernel/drivers/i2c/i2c-dev.ko*' \
		'./lib/modules/*/kernel/fs/fuse/fuse.ko*'
	mv "$new/boot/vmlinuz-$release" "$new/Image"
	depmod -b "$new" "$release" 2>/dev/null
	echo "$release" > "$new/release"
}

# Headers look for their other half at absolute places: make these relative.
unpack_headers()
{
	local p
	for p in "$headers" "$common"; do
		dpkg-deb -x "$new/debs/$p"_*.deb "$new/headers"
	done
	mkdir -p "$new/headers/usr/lib"
	ln -s /usr/lib/linux-kbuild-6.1 "$new/headers/usr/lib/linux-kbuild-6.1"
	echo "include \$(dir \$(realpath \$(lastword \$(MAKEFILE_LIST))))../$common/Makefile" > \
		"$new/headers/usr/src/$headers/Makefile"
	ln -s "headers/usr/src/$headers" "$new/linux-headers"
}

unpack_sysroot()
{
	local p lib=$new/sysroot/usr/lib/aarch64-linux-gnu f
	for p in "${guest_packages[@]}"; do
		dpkg-deb -x "$new/debs/$p"_*.deb "$new/sysroot"
	done
	# What update-alternatives does on an installed system.
	ln -s openblas-serial/libopenblas.so.0 openblas-serial/libopenblas.so "$lib/"
	for f in cblas.h openblas_config.h; do
		ln -s "openblas-serial/$f" "$new/sysroot/usr/include/aarch64-linux-gnu/$f"
	done
}

unpack_source()
{
	dpkg-deb --fsys-tarfile "$new"/debs/linux-source-6.1_*.deb |
		tar xO ./usr/src/linux-source-6.1.tar.xz | xz -dc -T0 |
		tar x -C "$new" --wildcards --transform 's,^linux-source-6.1,linux-6.1,' \
			'*/tools/testing/selftests/kselftest*' '*/scripts/checkpatch.pl' \
			'*/scripts/const_structs.checkpatch' '*/scripts/spelling.txt' \
			'*/drivers/hwmon/ina3221.c'
}

build_kit()
{
	local image headers common
	rm -rf "$new"
	mkdir -p "$new"/{apt/lists/partial,apt/cache/archives/partial,debs,sysroot,headers}
	: > "$new/apt/status"
	download
	unpack_kernel
	unpack_headers
	unpack_sysroot
	unpack_source
	rm -rf "$new/apt" "$new/debs"
	wanted > "$new/complete"
	rm -rf "$kit"
	mv "$new" "$kit"
}

# A kit is whole if it was made by this very script.
wanted() { sha256sum < tests/setup.sh; }

# One at a time: two would unpack into the same place.
mkdir -p build
exec 9> build/.setup.lock
flock 9

install_host
if [ "${1-}" = --refresh ] || ! wanted | cmp -s - "$kit/complete"; then
	build_kit
fi

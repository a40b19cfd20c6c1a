#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Installs everything that `make check` and `make demo` need on a Debian 12 machine, and prints what
# it does:
#
#   1. host packages, by name, with apt (as root, or by sudo);
#   2. packages that only tests use (a browser, protoc, Python modules); tests of packages that apt
#      does not have are skipped;
#   3. build/postgres/, build/mosquitto/ and build/prometheus/: a PostgreSQL, an MQTT broker
#      and a Prometheus for the tests, where none is installed: unpacked, not installed, so
#      that no server starts on this machine;
#   4. build/kit/: arm64 kernel, kernel headers, busybox and libraries for the
#      guest, and a few files of the kernel's source package. These come from arm64 packages
#      that are unpacked in build/kit instead of installed, with separate apt lists, so that
#      the machine's set of architectures does not change.
#
# If nothing is missing, it returns at once, without a network.
#   tests/setup.sh            install what is missing
#   tests/setup.sh --refresh  build the kit again from the newest packages
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/kernels/debian.inc

host_packages=(
	gcc libc6-dev pkg-config cpio xz-utils kmod perl bc jq
	libnl-3-dev libnl-genl-3-dev libbpf-dev libelf-dev zlib1g-dev libjansson-dev libopenblas-dev
	libsqlite3-dev libpq-dev libmd-dev libncurses-dev libmicrohttpd-dev libmosquitto-dev gnuplot-nox libicu72 libxml2
	clang llvm bpftool sparse
	gcc-12-aarch64-linux-gnu binutils-aarch64-linux-gnu libc6-dev-arm64-cross
	linux-kbuild-6.1 qemu-system-arm device-tree-compiler python3 python3-yaml python3-pyte
)
# For tests alone: host/page, host/export, host/metrics, host/ynl, host/python*, host/rootless, unit/out_json.
test_packages=(chromium protobuf-compiler python3-pandas python3-prometheus-client python3-jsonschema locales
	python3-setuptools python3-wheel python3-venv python3-cffi python3-numpy python3-dev
	podman crun uidmap)
# For the guest: busybox, and the runtime and development packages of the libraries that jetwatt links with.
guest_packages=(
	busybox-static libc6 libgcc-s1 libgfortran5
	libnl-3-200 libnl-3-dev libnl-genl-3-200 libnl-genl-3-dev
	libbpf1 libbpf-dev libelf1 libelf-dev zlib1g zlib1g-dev
	libopenblas0-serial libopenblas-serial-dev
	libsqlite3-0 libsqlite3-dev libmd0 libmd-dev libncursesw6 libtinfo6 libncurses-dev
)

kit=$PWD/build/kit
new=$kit.new
log=$PWD/build/setup.log
say() { echo "setup: $*"; }
# Print a long list, wrapped at 76 columns.
list() { say "$1"; shift; echo "$*" | fold -s -w 72 | sed 's/^/    /;s/ $//'; }
die() { echo "setup: $*" >&2; exit 1; }

arm64() { apt_in "$new/apt" arm64 "$@"; }

download()
{
	apt_lists "$new/apt" arm64 ||
		{ cat "$new/apt/log" >&2; die "apt could not get the lists of arm64 packages"; }
	image=$(meant_by "$new/apt" arm64 linux-image-arm64)
	headers=$(meant_by "$new/apt" arm64 linux-headers-arm64)
	[ -n "$image" ] && [ -n "$headers" ] ||
		die "this machine's apt sources have no linux-image-arm64 and linux-headers-arm64"
	common=${headers%-arm64}-common
	list "fetching for the guest (arm64; unpacked into build/kit, not installed):" \
		"$image $headers $common linux-source-6.1 ${guest_packages[*]}"
	(cd "$new/debs" && arm64 apt-get download "$image" "$headers" "$common" \
		linux-source-6.1 "${guest_packages[@]}" >"$new/apt/log" 2>&1) ||
		{ cat "$new/apt/log" >&2; die "apt could not download the arm64 packages"; }
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

build_kit()
{
	local image headers common
	rm -rf "$new"
	mkdir -p "$new"/{debs,sysroot}
	download
	unpack_kernel "$new" "$new/debs/$image"_*.deb
	unpack_headers "$new" "$headers" /usr/lib/linux-kbuild-6.1 \
		"$new/debs/$headers"_*.deb "$new/debs/$common"_*.deb
	unpack_sysroot
	unpack_source "$new" "$new/debs/linux-source-6.1"_*.deb \
		'*/tools/testing/selftests/kselftest*' '*/scripts/checkpatch.pl' \
		'*/scripts/const_structs.checkpatch' '*/scripts/spelling.txt' \
		'*/drivers/hwmon/ina3221.c'
	rm -rf "$new/apt" "$new/debs"
	wanted > "$new/complete"
	rm -rf "$kit"
	mv "$new" "$kit"
}

# unpack DIR WHAT PACKAGE...: unpack packages that only tests need, without starting their servers.
unpack()
{
	local dir=$1 what=$2 debs=$PWD/$1.debs
	shift 2
	rm -rf "$dir" "$dir.new" "$debs"
	mkdir -p "$debs" "$dir.new"
	say "fetching $what for tests (unpacked into $dir, not installed)"
	if (cd "$debs" && apt-get download "$@" >"$log" 2>&1); then
		for f in "$debs"/*.deb; do dpkg-deb -x "$f" "$dir.new"; done
		mv "$dir.new" "$dir"
	else
		# The next run tries again.
		say "it cannot be fetched: its tests will be skipped"
		rm -rf "$dir.new"
	fi
	rm -rf "$debs"
}

# A kit is complete if it was built by this version of the script from these packages.
wanted()
{
	{ declare -f build_kit download unpack_kernel unpack_headers unpack_sysroot unpack_source
	  echo "${guest_packages[@]}"; } | sha256sum
}

# Run one instance at a time: two would unpack into the same directory.
mkdir -p build
exec 9> build/.setup.lock
flock 9

need "${host_packages[@]}"
(need "${test_packages[@]}") || say "without them their tests are skipped"
[ -d build/postgres/usr ] || ls /usr/lib/postgresql/*/bin/postgres > /dev/null 2>&1 ||
	unpack build/postgres PostgreSQL postgresql-15 postgresql-client-15
[ -d build/mosquitto/usr ] || command -v mosquitto > /dev/null ||
	unpack build/mosquitto mosquitto mosquitto mosquitto-clients libcjson1 libdlt2 libwrap0
[ -d build/prometheus/usr ] || command -v prometheus > /dev/null ||
	unpack build/prometheus Prometheus prometheus
if [ "${1-}" = --refresh ] || ! wanted | cmp -s - "$kit/complete"; then
	build_kit
fi

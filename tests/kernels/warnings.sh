#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Checks that the module builds without warnings under W=1 and sparse (if it is installed with the
# tools of that kernel), and that checkpatch reports nothing.
#
#   tests/kernels/warnings.sh [KERNEL]...   default: all kernels in build/kernels, and "kit"
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
PATH=$PATH:/usr/sbin:/sbin
kit=build/kit n=0 failed=0
[ $# != 0 ] || set -- kit $(cd build/kernels 2>/dev/null && ls -d */make.args | sed 's,/.*,,')

# result NAME LOG: passed if the log is empty
result()
{
	n=$((n + 1))
	if [ -s "$2" ]; then
		sed 's/^/# /' "$2"
		echo "not ok $n $1"
		failed=1
	else
		echo "ok $n $1"
	fi
}

# build KERNEL: print the warnings and errors of compiler, sparse and modpost
build()
{
	local b=build/warnings/$1 headers=build/kernels/$1/linux-headers args inside='' status=0
	if [ "$1" = kit ]; then
		headers=$kit/linux-headers
		args='ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu- CC=aarch64-linux-gnu-gcc-12 CONFIG_DEBUG_INFO_BTF_MODULES='
	else
		args=$(cat "build/kernels/$1/make.args")
		inside="tests/kernels/inside $1"
	fi
	rm -rf "$b"
	# shellcheck disable=SC2086
	$inside sh -c 'command -v sparse' > /dev/null && args+=' C=1'
	make B="$b" KDIR="$headers" KARGS="$args W=1" INSIDE="$inside" "$b/jetwatt.ko" > "$b.log" 2>&1 || status=$?
	# Ignore unused variables in the kernel's headers (5.10, with a single memory node).
	grep -E 'warning:|WARNING:|error:|ERROR:' "$b.log" |
		grep -v '/include/linux/[a-z]*\.h:[0-9:]* warning: .*\[-Wunused-but-set-variable\]$'
	[ $status = 0 ] || tail -n 5 "$b.log"
}

# compat/ may compare kernel versions, with the constant on the left as in the kernel's headers. The
# enum of series and the table of chips are generated from lists of rows, so their macros have no
# parentheses, and end with a semicolon.
style()
{
	find kmod include/uapi -name '*.[ch]' | sort | while read -r f; do
		ignore=FILE_PATH_CHANGES
		case $f in kmod/compat/*) ignore+=,LINUX_VERSION_CODE,CONSTANT_COMPARISON;;
			include/uapi/linux/jetwatt.h|kmod/sensors/chips.h|kmod/sensors/chip_ops.h|kmod/sensors/attach.c)
				ignore+=,COMPLEX_MACRO,TRAILING_SEMICOLON;; esac
		perl $kit/linux-6.1/scripts/checkpatch.pl --no-tree --terse --no-summary --ignore $ignore -f "$f"
	done
}

mkdir -p build/warnings
echo "1..$(($# + 1))"
style > build/warnings/style 2>&1
result checkpatch build/warnings/style
for k in "$@"; do
	build "$k" > "build/warnings/$k.found"
	result "no warning on $k" "build/warnings/$k.found"
done
exit $failed

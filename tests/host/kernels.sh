#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Check that make check-kernels KSRC=DIR refuses invalid directories, with a reason and a fix. No
# kernel is built.
cd "$(dirname "$0")/../.." || exit 1
d=build/host/kernels.d
rm -rf $d
. tests/host/check.inc
echo 1..9

# tree NAME VERSION: create those files of a kernel tree that make check-kernels reads
tree()
{
	mkdir -p "$d/$1/kernel/sched" "$d/$1/arch/arm64/configs"
	printf 'VERSION = %s\nPATCHLEVEL = %s\nSUBLEVEL = 3\n' "${2%.*}" "${2#*.}" > "$d/$1/Makefile"
	echo CONFIG_I2C=y > "$d/$1/arch/arm64/configs/defconfig"
}

# refused TEXT PATTERN DIR [KCONFIG]
refused()
{
	run make --no-print-directory check-kernels KSRC="$3" KCONFIG="${4-}"
	check "$1 is refused, with a reason and a fix" \
		"[ $status = 2 ] && grep -q '$2' $d/err && grep -q '^fix:' $d/err"
}

# ordered DIR KCONFIG: print the key that identifies the kernel that would be built
ordered() { (. tests/kernels/tree.inc; tree_order "$@"); }

refused "a missing directory" "there is no directory $d/none" $d/none
mkdir -p $d/bare.git/objects && touch $d/bare.git/HEAD
refused "a bare git repository" "bare git repository" $d/bare.git
mkdir -p $d/headers && echo 'VERSION = 6' > $d/headers/Makefile
refused "a tree of headers" "no kernel source" $d/headers
tree old 4.9
refused "a kernel that is too old" "is 4.9; the module needs 5.10 or newer" $d/old
tree built 5.15 && touch $d/built/.config
refused "a tree with build output" "contains build results" $d/built
tree good 99.7
refused "a missing configuration" "no file none" $d/good none

trap 'rm -f build/kernels/true-99.7.3.tree' EXIT
echo CONFIG_PREEMPT=y > $d/fragment
run ordered $d/good "defconfig $d/fragment"
check "the key depends on tree and configurations" \
	"[ $status = 0 ] && [ \"\$(cat $d/out)\" = true-99.7.3 ] && diff build/kernels/true-99.7.3.tree - << E
$PWD/$d/good
$PWD/$d/good/arch/arm64/configs/defconfig
$PWD/$d/fragment
E"
run ordered $d/good
check "the tree's own defconfig is the default" \
	"sed -n 2p build/kernels/true-99.7.3.tree | grep -q '/configs/defconfig$'"
echo CONFIG_I2C=y > $d/good/arch/arm64/configs/tegra_defconfig
run ordered $d/good
check "tegra_defconfig is the default if the tree has it" \
	"sed -n 2p build/kernels/true-99.7.3.tree | grep -q '/configs/tegra_defconfig$'"
exit $failed

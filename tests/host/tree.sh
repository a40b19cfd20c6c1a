#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What may stand where: the rules that a compiler does not check.
cd "$(dirname "$0")/../.." || exit 1
n=0

# rule TEXT: passes if nothing comes on stdin; what comes is where it is broken.
rule()
{
	local found
	found=$(cat)
	n=$((n + 1))
	if [ -z "$found" ]; then
		echo "ok $n $1"
	else
		sed 's/^/# /' <<< "$found"
		echo "not ok $n $1"
		failed=1
	fi
}

sources() { find "$@" -type f \( -name '*.[chS]' -o -name '*.inc' \) 2>/dev/null | sort; }
failed=0
echo 1..8

sources kmod user bpf include tests | grep -v '^kmod/compat/' |
	xargs -r grep -nE '\b(LINUX_VERSION_CODE|KERNEL_VERSION)\b' |
	rule "kernel versions are asked for in kmod/compat/ only"

sources tests/sim | xargs -r grep -nE '#[[:space:]]*include[[:space:]]+["<].*(kmod/|linux/jetwatt\.h)' |
	rule "the simulated board shares no header with the module"

system='(unistd|fcntl|poll|dirent|pthread|signal|sys/[a-z]+|netlink/.*|bpf/.*|linux/.*)\.h'
sources user/model user/plan user/batch |
	xargs -r grep -nE "#[[:space:]]*include[[:space:]]+<$system>" |
	rule "model, plan and batch reach for nothing of the system"

# Floors: cmd, daemon / plan / model board batch store out / lib
below()
{
	sources "user/$1" | xargs -r grep -nE "#[[:space:]]*include[[:space:]]+\"(\.\./)*($2)/"
}
{
	below lib 'cmd|daemon|plan|model|board|batch|store|out'
	for room in model board batch store out; do below $room 'cmd|daemon|plan'; done
	below plan 'cmd|daemon|board|batch|store|out'
} | rule "imports point down only"

sources user | grep -v '^user/board/' |
	xargs -r grep -nE '(O_WRONLY|O_RDWR|fopen\([^)]*"[wa+]).*/sys/|/sys/.*(O_WRONLY|O_RDWR|"[wa]")' |
	rule "only board writes to sysfs"

git ls-files 2>/dev/null | grep -vE '^(LICENSES/|LICENSE$|README|\.gitignore$|man/|tests/data/)' |
	grep -vE '\.(md|csv|json|svg)$' | while read -r f; do
		[ ! -f "$f" ] || head -n 5 "$f" | grep -q 'SPDX-License-Identifier:' || echo "$f"
	done | rule "every file names its licence"

sources kmod user bpf include tests |
	xargs -r grep -nE '\b(TODO|FIXME|XXX|HACK)\b' | rule "nothing is left open"

sources kmod | xargs -r grep -nE '\b(float|double)\b[^"]*[;=(]' | grep -vE '^\S+:\s*(/?\*|//)' |
	rule "no floating point in the module"
exit $failed

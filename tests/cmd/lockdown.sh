#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=4 icount timeout=120 modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt" alone
# A kernel in lockdown mode: lockdown forbids BPF programs to read kernel memory, so jetwatt must
# use the module as backend.
. "${0%/*}/common.inc"
plan 4

mount -t securityfs securityfs /sys/kernel/security 2> /dev/null
echo confidentiality > /sys/kernel/security/lockdown || {
	echo "1..0 # SKIP this kernel cannot be locked down"
	exit 0
}

run jetwatt stat --json -o "$T/json" -- train --minibatches 40
exits 0 && grep -q '"backend": "module"' "$T/json" && grep -q '"rung": "module"' "$T/json" &&
	[ "$(number minibatches "$T/json")" = 40 ]
result $? "stat detects waits by the module"

grep -q '"tracepoint": ".*locked down' "$T/json" && grep -q '"uprobe": ".*locked down' "$T/json"
result $? "and names the reason why the other backends are not used"

run jetwatt stat --probe tracepoint -- train --minibatches 10
exits 5 && form && says "locked down"
result $? "--probe tracepoint is refused, with the reason"

run jetwatt doctor
exits 0 && shows "tracepoint: .*locked down" "module: sees"
result $? "doctor reports each backend separately"

finish

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=12 icount timeout=120 modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt" files="build/arm64/library-watch:/library-watch"
# Test that the C example of doc/library.md prints 100 samples for root, and none for another user.
. "${0%/*}/common.inc"
plan 2

run /library-watch
exits 0 && [ "$(grep -c '^[0-9]* [0-9].* W$' "$T/out")" = 100 ]
result $? "a program with libjetwatt receives 100 samples"

run su nobody -c /library-watch
exits 1 && grep -qi "perm\|CAP_NET_ADMIN" "$T/err"
result $? "a program without privileges receives no samples, with the reason"
exit $failed

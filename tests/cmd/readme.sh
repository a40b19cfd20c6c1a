#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=12 icount timeout=120 modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt" files="build/arm64/readme-watch:/readme-watch"
# The README's C example does what it says there.
. "${0%/*}/common.inc"
plan 2

run /readme-watch
exits 0 && [ "$(grep -c '^[0-9]* [0-9].* W$' "$T/out")" = 100 ]
result $? "a hundred samples"

run su nobody -c /readme-watch
exits 1 && grep -qi "perm\|CAP_NET_ADMIN" "$T/err"
result $? "not for everybody"
exit $failed

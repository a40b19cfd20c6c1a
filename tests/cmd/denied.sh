#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=4 icount timeout=60 modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt"
# For a user who is not root, commands that need root must be refused with a message and must change
# nothing; the other commands must do what needs no rights.
. "${0%/*}/common.inc"
plan 7

as_nobody()
{
	su nobody -c "$*" > "$T/out" 2> "$T/err"
	status=$?
}

knobs > "$T/before"

as_nobody id -u
[ "$(cat "$T/out")" = 65534 ]
result $? "(precondition) the test can run as nobody"

as_nobody jetwatt stat -- true
exits 4 && form && says "root"
result $? "the user nobody: stat is not permitted"

as_nobody jetwatt record -o /tmp/x -- true
exits 4 && form && says "root"
result $? "the user nobody: record is not permitted"

as_nobody jetwatt optimize --power 30W -- true
exits 4 && form && says "root" && as_before "$T/before"
result $? "the user nobody: optimize is not permitted, and changes no knob"

as_nobody jetwatt apply MAXN
exits 4 && form && as_before "$T/before"
result $? "the user nobody: apply is not permitted, and changes no knob"

as_nobody jetwatt list rails
exits 0 && shows "VDD_GPU_SOC" && says "need root" && ! grep -q '[0-9] *W' "$T/out"
result $? "the user nobody: list rails prints names without readings"

as_nobody jetwatt doctor
exits 0 && shows "needs root"
result $? "doctor: does the checks that need no rights"

finish

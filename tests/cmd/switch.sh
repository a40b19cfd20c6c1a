#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=12 icount timeout=300 modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt"
# Test apply and restore: they must set all knobs or none, whichever knob fails.
. "${0%/*}/common.inc"
plan 29

knobs > "$T/before"
mode=c6-1574400-g318750000-e2133000000

run jetwatt doctor
exits 0 && shows " usable" "ok   board" "ok   module" "ok   bpf" "ok   access" "ok   own cost"
result $? "doctor: the board is usable"

wide=0
for what in "" "list rails" "list chips" "list clocks" "list knobs" doctor --help "stat --help" \
	    "optimize --help"; do
	run jetwatt $what
	# Lines with file names may be longer than 80 columns, because names may be long.
	[ "$what" != doctor ] || sed -i '/ \//d' "$T/out"
	narrow || wide=1
done
[ $wide = 0 ]
result $? "the output fits into 80 columns"

jetwatt list rails | grep -q "VDD_GPU_SOC .* [0-9.]* .*in total" &&
	jetwatt list rails | grep -q "VDDQ_VDD2_1V8AO .*in VIN_SYS_5V0"
result $? "list rails: readings, and which rail feeds which"

run jetwatt apply --dry-run "$mode"
exits 0 && as_before "$T/before"
result $? "apply --dry-run changes nothing"

run jetwatt apply "$mode"
exits 0 && ! as_before "$T/before" > /dev/null
result $? "apply sets the knobs"

run jetwatt list knobs
exits 0 && shows "now    $mode"
result $? "the knobs read back as applied"

run jetwatt doctor
shows "warn state" "jetwatt restore"
result $? "doctor: reports a saved state"

run jetwatt restore
exits 0 && as_before "$T/before"
result $? "restore restores every knob"

run jetwatt restore
exits 0 && shows "nothing to restore"
result $? "restore without a saved state changes nothing"

run jetwatt apply c12-2201600
exits 2 && form
result $? "apply refuses a text that is no mode"

run jetwatt apply c12-1-g1-e1
exits 2 && form && as_before "$T/before"
result $? "apply refuses a mode that the board lacks"

# Let as many operations fail as needed for apply to notice, and no more, because the rollback must
# succeed. If a switch writes a knob twice (minimum and maximum), both writes must fail, because a
# later write makes up for a failed one.
for fault in fail_emc:1 lie_emc:1 fail_devfreq:2 fail_cpufreq:2 fail_hotplug:1; do
	echo ${fault#*:} > $FAULT/${fault%:*}
	run jetwatt apply "$mode"
	echo 0 > $FAULT/${fault%:*}
	exits 1 && form && as_before "$T/before"
	result $? "${fault%:*}: apply is refused and rolled back"
done

echo 2 > $FAULT/fail_emc
run jetwatt apply "$mode"
exits 1 && form && says "the roll-back failed too" && as_before "$T/before"
result $? "the rollback fails once: it is repeated"

# The kernel stores a clock limit that the driver refused, and ignores a second request for the same
# limit.
run jetwatt apply "$mode"
echo 8 > $FAULT/fail_cpufreq
run jetwatt restore
echo 0 > $FAULT/fail_cpufreq
exits 1 && form && run jetwatt restore && exits 0 && as_before "$T/before"
result $? "restore after the CPU's driver has refused the limits"

run jetwatt apply "$mode"
run jetwatt apply MAXN
run jetwatt restore
exits 0 && as_before "$T/before"
result $? "restore restores the first state"

# Test the optional knob (the DLA clock): the modes applied so far did not contain it and have not
# changed it.
dla=/sys/bus/platform/devices/15880000.nvdla0/clk_cap
dla1=/sys/bus/platform/devices/158c0000.nvdla1/clk_cap
run jetwatt list knobs
exits 0 && shows "^dla    154 614 909 1229 1370 1600 MHz$" && shows "^now    c12-[0-9]*-g[0-9]*-e[0-9]*$"
result $? "list knobs shows the optional knob; the present mode is printed without it"

[ "$(jetwatt list modes --knob dla | wc -l)" = $((6 * $(jetwatt list modes | wc -l))) ] &&
	! jetwatt list modes | grep -q -- -d
result $? "--knob: modes have the optional knob, otherwise not"

run jetwatt list modes --knob emc
exits 2 && form && says "dla"
result $? "--knob with a knob that all modes have"

run jetwatt apply "$mode-d614400000"
exits 0 && shows "dla  *1600 -> 614 MHz" && [ "$(cat $dla/dla0_core)" = 614400000 ] &&
	[ "$(cat $dla1/dla1_core)" = 614400000 ] &&
	[ "$(cat $dla/dla0_falcon)" = 1600000000 ]
result $? "apply: a mode with the optional knob caps both accelerators"

run jetwatt apply "$mode"
exits 0 && [ "$(cat $dla/dla0_core)" = 614400000 ]
result $? "apply: a mode without the optional knob does not change it"

run jetwatt restore
exits 0 && as_before "$T/before"
result $? "restore restores the optional knob"

# A mode with the lowest level of each optional knob
wrong=0
for knob in $(jetwatt list knobs | sed -n 's/^\([a-z]\{2,\}\) .*/\1/p' | grep -vxE 'cores|cpu|gpu|emc|now'); do
	with=$(jetwatt list modes --knob "$knob" | grep -m 1 "^$mode-")
	echo "# $with"
	run jetwatt apply "$with"
	exits 0 && run jetwatt list knobs --knob "$knob" && shows "^now    $with$" || wrong=1
	run jetwatt restore
	exits 0 && as_before "$T/before" || wrong=1
done
[ -n "$with" ] && [ $wrong = 0 ]
result $? "every optional knob is applied and restored"

echo 1 > $FAULT/fail_dla
run jetwatt apply "$mode-d614400000"
echo 0 > $FAULT/fail_dla
exits 1 && form && as_before "$T/before"
result $? "fail_dla: apply is refused and rolled back"

run jetwatt aply MAXN
exits 2 && says 'did you mean "jetwatt apply"'
result $? "the error about a mistyped verb suggests the right one"

run jetwatt apply --dry-rum MAXN
exits 2 && says 'did you mean --dry-run'
result $? "the error about a mistyped option suggests the right one"

finish

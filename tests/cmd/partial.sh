#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=1 icount timeout=60 modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt" alone
# If some rails are disabled, jetwatt must call the total of the other rails a partial sum.
. "${0%/*}/common.inc"
plan 6

run jetwatt list rails
exits 0 && shows "VDD_GPU_SOC" "^module" && ! grep -q disabled "$T/out"
result $? "all rails enabled: the total is that of the module"

for h in /sys/class/hwmon/hwmon*; do
	[ "$(cat "$h/name")" = ina3221 ] || continue
	if [ "$(cat "$h/in1_label" 2>/dev/null)" = VDD_GPU_SOC ]; then chip=$h; else other=$h; fi
done
echo 0 > "$chip/in1_enable"
echo 0 > "$chip/in3_enable"

run jetwatt list rails
exits 0 && shows "VDD_GPU_SOC.*disabled" "VIN_SYS_5V0.*disabled" "partial sum"
result $? "list rails names the disabled rails"

run jetwatt stat -- train --minibatches 20
exits 0 && says "partial sum" "VDD_CPU_CV" && shows "partial sum"
result $? "stat reports a partial sum"

run jetwatt doctor
exits 0 && shows "warn rails" "partial sum"
result $? "doctor warns of a partial sum"

echo 0 > "$chip/in2_enable"
echo 0 > "$other/in2_enable"
run jetwatt stat -- true
exits 5 && form && says "no power to measure"
result $? "all rails of the total are disabled: stat reports that there is no power to measure"

echo 1 > "$chip/in1_enable"
echo 1 > "$chip/in2_enable"
echo 1 > "$chip/in3_enable"
echo 1 > "$other/in2_enable"
run jetwatt list rails
exits 0 && ! grep -q "partial sum" "$T/out"
result $? "all rails enabled again: the total is that of the module"

finish

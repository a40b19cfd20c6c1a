#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=14 icount timeout=200 overlay=tests/sim/boards/whole/thor.dtso modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt"
# Thor: the GPU is a PCI device, bwmgr caps the memory clock, and the CPU has seven clusters. The
# test's job waits by spinning, so only a probe in libcuda sees its waits.
. "${0%/*}/common.inc"
plan 7

gpu=/sys/class/devfreq/gpu-gpc-0
emc=/sys/class/devfreq/bwmgr
power=/sys/bus/pci/devices/0001:00:00.0/power
knobs > "$T/before"
mode=c6-1611000-g765000000-e2133000000

run jetwatt doctor
exits 0 && shows "ok   board    Jetson AGX Thor" "ok   knobs    14 core counts x 26 CPU x 15 GPU x 3 EMC"
result $? "doctor: names board and knobs"

run jetwatt list clocks
exits 0 && shows "^gpu-gpc-0  *1575000 kHz" "^cpu12 " && narrow
result $? "list clocks: the GPU and seven clusters"

run jetwatt apply "$mode"
exits 0 && [ "$(cat $gpu/cur_freq)" = 765000000 ] && [ "$(cat $emc/cur_freq)" = 2133000000 ] &&
	[ "$(cat /sys/devices/system/cpu/online)" = 0-5 ] &&
	[ "$(cat /sys/devices/system/cpu/cpufreq/policy4/scaling_cur_freq)" = 1611000 ] &&
	[ "$(cat /sys/class/devfreq/gpu-nvd-0/max_freq)" = 1692000000 ]
result $? "apply sets the clocks of GPC, memory and all clusters, and not that of video"

run jetwatt restore
exits 0 && as_before "$T/before"
result $? "restore restores every knob"

# A mode that is applied while the GPU is suspended takes effect when it resumes.
echo auto > $power/control
i=0
while [ "$(cat $power/runtime_status)" != suspended ] && [ $i -lt 50 ]; do sleep 0.1; i=$((i + 1)); done
run jetwatt apply "$mode"
exits 0 && [ "$(cat $gpu/cur_freq)" = 0 ] && run jetwatt list clocks &&
	shows "^gpu-gpc-0  *0 kHz"
slept=$?
echo on > $power/control
i=0
while [ "$(cat $gpu/cur_freq)" != 765000000 ] && [ $i -lt 50 ]; do sleep 0.1; i=$((i + 1)); done
[ $slept = 0 ] && [ "$(cat $gpu/cur_freq)" = 765000000 ]
result $? "the suspended GPU has 0 kHz; the mode takes effect when it resumes"
jetwatt restore > /dev/null

run jetwatt stat -- /bin/cutrain --wait spin --minibatches 60
exits 0 && grep -qh "minibatches .* wait each" "$T/out" "$T/err" && grep -qh "uprobe" "$T/out" "$T/err"
result $? "stat: minibatches of a job that spins in libcuda"

echo 0001:00:00.0 > /sys/bus/pci/drivers/jetwatt-sim-nvidia/unbind
run jetwatt list clocks
exits 0 && shows "^gpu-gpc-0  *unknown kHz"
result $? "list clocks: the GPU is unknown without its driver"
echo 0001:00:00.0 > /sys/bus/pci/drivers/jetwatt-sim-nvidia/bind

exit $failed

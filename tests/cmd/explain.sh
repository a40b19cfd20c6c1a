#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=4 icount timeout=400 modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt"
# Test optimize --explain with a job: the resource that it names as the limit must be the one that
# limits the plant.
. "${0%/*}/common.inc"
plan 4

knobs > "$T/before"
train > /dev/null 2>&1 &
train=$!
sleep 2

# time_of MODE: print the duration of a minibatch in MODE according to the plant, in ms
time_of()
{
	# grep -F drops most of the thousands of lines before a regular expression is matched, which
	# is slow in the guest.
	m=$(echo "$1" | tr -d 'cge' | tr - ,)
	grep -F "$m," $TRUTH/modes | grep "^$m," | cut -d, -f5
}

# slope: print by how many percent a minibatch takes longer if the GPU clock is one level below that
# of the chosen mode
slope()
{
	chosen=$(sed -n 's/.*"mode": "\(.*\)",*/\1/p' "$T/json" | head -n 1)
	below=$(tr -d ' ",\n' < "$T/json" | sed 's/.*knob:gpuup:falsecores:\([0-9]*\)cpu_khz:\([0-9]*\)gpu_hz:\([0-9]*\)emc_hz:\([0-9]*\)time_pct.*/c\1-\2-g\3-e\4/')
	awk -v a="$(time_of "$chosen")" -v b="$(time_of "$below")" -v c="$chosen" 'BEGIN {
		printf "# %s: a GPU step below takes %+.2f %%\n", c, 100 * (b / a - 1) }'
}

run jetwatt optimize --power 24W -p $train --explain --dry-run --most 12 --json "$T/json"
exits 0 && narrow=$(awk '/^why: /' "$T/out") && echo "# $narrow" && slope > "$T/slope" && cat "$T/slope" &&
	grep -q '"binds": "gpu"' "$T/json" && shows "depends on the GPU clock" "One level up: "
result $? "a convolutional network under 24 W is limited by the GPU clock"
awk -v t="$(tr -d ' ",\n' < "$T/json" | sed 's/.*knob:gpuup:false\([a-z_]*:[0-9]*\)*time_pct:\([-0-9.e]*\).*/\2/')" \
	-v truth="$(sed 's/.*takes +*\([-0-9.]*\).*/\1/' "$T/slope")" 'BEGIN {
	print "# said " t " %, in truth " truth " %"; d = t - truth; exit !(truth > 1 && d < 3 && d > -3) }'
result $? "and the slowdown per GPU level is that of the plant"

echo loader > /sys/module/jetwatt_sim/parameters/workload
sleep 2
run jetwatt optimize --power 24W -p $train --explain --dry-run --most 12 --json "$T/json"
exits 0 && narrow=$(awk '/^why: /' "$T/out") && echo "# $narrow" && slope > "$T/slope" && cat "$T/slope" &&
	grep -q '"binds": "loader"' "$T/json"
result $? "a small network with much augmentation is limited by the loader"
echo resnet > /sys/module/jetwatt_sim/parameters/workload
kill $train
as_before "$T/before"
result $? "the knobs are restored"
finish

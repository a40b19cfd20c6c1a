#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=4 icount timeout=400 modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt"
# optimize --explain with a job: what binds there is what binds in the plant.
. "${0%/*}/common.inc"
plan 4

knobs > "$T/before"
train > /dev/null 2>&1 &
train=$!
sleep 2

# time MODE: of a minibatch in the plant, in ms
time_of()
{
	# Of thousands of lines: without -F, each costs the guest a regular expression.
	m=$(echo "$1" | tr -d 'cge' | tr - ,)
	grep -F "$m," $TRUTH/modes | grep "^$m," | cut -d, -f5
}

# slope: by how much the plant's minibatch is longer a GPU step below the chosen mode, in percent
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
result $? "a convolutional net under 24 W: the GPU clock binds"
awk -v t="$(tr -d ' ",\n' < "$T/json" | sed 's/.*knob:gpuup:false.*time_pct:\([-0-9.e]*\)power_w.*/\1/')" \
	-v truth="$(sed 's/.*takes +*\([-0-9.]*\).*/\1/' "$T/slope")" 'BEGIN {
	print "# said " t " %, in truth " truth " %"; d = t - truth; exit !(truth > 1 && d < 3 && d > -3) }'
result $? "and a step of it costs what the plant says"

echo loader > /sys/module/jetwatt_sim/parameters/workload
sleep 2
run jetwatt optimize --power 24W -p $train --explain --dry-run --most 12 --json "$T/json"
exits 0 && narrow=$(awk '/^why: /' "$T/out") && echo "# $narrow" && slope > "$T/slope" && cat "$T/slope" &&
	grep -q '"binds": "loader"' "$T/json"
result $? "a small net with heavy augmentation: the loader binds"
echo resnet > /sys/module/jetwatt_sim/parameters/workload
kill $train
as_before "$T/before"
result $? "board as before"
finish

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=4 icount timeout=600 modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt"
# jetwattd with a time share for learning: it measures the vendor's presets first, then other modes
# that may be better. unit/daemon_share tests that this continues while the job runs; here it ends
# after LEARN seconds.
. "${0%/*}/common.inc"
. "${0%/*}/daemon.inc"
plan 8

BUDGET=32 SHARE=5 LEARN=40
printf 'budget = %sW\nlearn-share = %s%%\nlearn-time = %ss\ndb = %s\n' $BUDGET $SHARE $LEARN "$T/profiles.db" > "$T/conf"

# preset ID NAME CPU GPU EMC: print a preset with all cores online and these clocks
preset()
{
	echo "< POWER_MODEL ID=$1 NAME=$2 >"
	for i in 0 1 2 3; do echo "CPU_ONLINE CORE_$i 1"; done
	printf 'CPU MAX_FREQ %s\nGPU MAX_FREQ %s\nEMC MAX_FREQ %s\n' "$3" "$4" "$5"
}

# The clocks of the presets are those of a Jetson AGX Orin (L4T 36.4, nvpmodel_p3701_0000.conf).
{
	echo '< PARAM TYPE=FILE NAME=CPU_ONLINE >'
	for i in 0 1 2 3; do echo "CORE_$i /sys/devices/system/cpu/cpu$i/online"; done
	echo '< PARAM TYPE=CLOCK NAME=CPU >'
	echo 'MAX_FREQ /sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq'
	echo '< PARAM TYPE=CLOCK NAME=GPU >'
	echo 'MAX_FREQ /sys/devices/17000000.ga10b/devfreq_dev/max_freq'
	echo '< PARAM TYPE=CLOCK NAME=EMC >'
	echo 'MAX_FREQ /sys/kernel/nvpmodel_emc_cap/emc_iso_cap'
	preset 0 MAXN -1 -1 0
	preset 1 MODE_15W 1113600 420750000 2133000000
	preset 2 MODE_30W 1728000 624750000 3199000000
	preset 3 MODE_50W 1497600 828750000 3199000000
	echo '< PM_CONFIG DEFAULT=1 >'
} > /etc/nvpmodel.conf

# Print the measured modes in the order of measurement.
readings() { sed -n 's/.* \(c[0-9]*-[0-9]*-g[0-9]*-e[0-9]*\): [0-9.]* ms +-.*/\1/p' "$T/log"; }
metric() { jetwatt daemon metrics 2> "$T/err" | awk -v n="$1" '$1 == n { print $2 }'; }

knobs > "$T/before"
start
begun=$(now_ns)
train --size 1000 > /dev/null 2>&1 &
train=$!
doing holding 150
result $? "a job is detected and held in a mode"
first=$(readings | head -n 1)
echo "# the first one is $first"
echo "$first" | grep -q -- '-1728000-.*-e3199000000'
result $? "the first measured mode is the preset whose name is below the budget"
more=$(readings | grep -vc -e "-1113600-g420" -e "-1728000-g624" -e "-1497600-g828")
time=$(of_mode 5) best=$(best $BUDGET)
# Fewer than six are enough if one of the best modes is among them.
[ "$more" -gt 5 ] || { [ "$more" -gt 2 ] && at_most "$time" "$(awk -v b="$best" 'BEGIN { print 1.02 * b }')"; }
result $? "then modes that are no preset are measured"
echo "# $(status_of modes_measured) modes: $time ms, the best there is $best"
near_best "$time" "$best"
result $? "the mode is within 10 % of the best"
ran=$(awk -v a="$begun" -v b="$(now_ns)" 'BEGIN { r = (b - a) / 1e9; print r < 120 ? 120 : r }')
lost=$(metric jetwatt_learning_lost_seconds_total) took=$(metric jetwatt_learning_seconds_total)
echo "# in $ran s: $took s of readings, $lost s lost"
at_most 1 "$took" && at_most "$lost" "$(awk -v r="$ran" -v s=$SHARE 'BEGIN { print s / 100 * r + 2 }')"
result $? "the cost of learning is within its share, except for one step"
never_over
doing idle 20 && as_before "$T/before"
result $? "the job ends: the knobs are restored"
end
rm -f /etc/nvpmodel.conf
[ $status = 0 ]
result $? "SIGTERM: jetwattd ends with status 0"
finish

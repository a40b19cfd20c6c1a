#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The session of the demo on the simulated board: the commands that a user would run. jetwatt does
# not read the true values of the simulated board; this script only copies them, at the end, to /out
# for the report.
#
#   guest.sh BUDGET_W WORKLOAD JOB [MODES.csv]
set -u
budget=$1 workload=$2 train=$3 modes=${4-}
out=/out
truth=/sys/kernel/debug/jetwatt-sim/truth

say() { printf '\n== %s\n' "$*"; }

# Print every knob and its value, read without jetwatt.
knobs()
{
	for f in /sys/devices/system/cpu/cpu[0-9]*/online \
		 /sys/devices/system/cpu/cpufreq/policy*/scaling_m??_freq \
		 /sys/class/devfreq/*/m??_freq /sys/kernel/nvpmodel_clk_cap/emc \
		 /sys/kernel/nvpmodel_emc_cap/emc_iso_cap; do
		[ -r "$f" ] && echo "$f $(cat "$f")"
	done
}

knobs > $out/knobs.before

say "jetwatt doctor"
jetwatt doctor
say "jetwatt list rails"
jetwatt list rails

say "jetwatt record starts an unmodified training job and records it until it ends"
jetwatt record -o $out/run.jwt -- $train > $out/record.log 2>&1 &
record=$!
name=${train%% *}
while ! job=$(pidof "${name##*/}"); do sleep 0.1; done
sleep 3

say "jetwatt optimize --power ${budget}W -p $job"
jetwatt optimize --power "$budget" -p "$job" ${modes:+--modes "$modes"} --progress \
	--json $out/optimize.json --predictions $out/predictions.csv
status=$?
echo "$status" > $out/optimize.status
[ $status -eq 0 ] && sleep 5

say "jetwatt restore"
jetwatt restore
knobs > $out/knobs.after
sleep 2
kill -TERM "$job"
wait $record
jetwatt export --format jsonl -o $out/run.jsonl $out/run.jwt
cat $out/record.log

cp $truth/modes $out/truth-modes.csv
cp $truth/energy $out/truth-energy.csv
cp $truth/minibatches $out/truth-minibatches.csv
exit $status

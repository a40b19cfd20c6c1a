#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Check the verbs that read modes and presets, on files that look like a small board.
cd "$(dirname "$0")/../.." || exit 1
d=$(mktemp -d)
trap 'rm -rf "$d"' EXIT
. tests/host/check.inc
J=build/jetwatt
export JETWATT_ROOT=$d/root

put()	# PATH TEXT
{
	mkdir -p "$(dirname "$d/root/$1")"
	printf '%b' "$2" > "$d/root/$1"
}

put proc/sys/kernel/random/boot_id '6f0d\n'
put proc/device-tree/compatible 'nvidia,p3768-0000+p3767-0005\0nvidia,tegra234'
for c in 0 1 2 3 4 5; do put sys/devices/system/cpu/cpu$c/online '1\n'; done
p=sys/devices/system/cpu/cpufreq/policy0
put $p/related_cpus '0 1 2 3 4 5\n'
put $p/scaling_min_freq '729600\n'
put $p/scaling_max_freq '1510400\n'
put $p/scaling_available_frequencies '729600 1510400\n'
p=sys/class/devfreq/17000000.gpu
put $p/available_frequencies '306000000 1020000000\n'
put $p/min_freq '306000000\n'
put $p/max_freq '1020000000\n'
put sys/kernel/nvpmodel_clk_cap/emc '2133000000\n'
put sys/kernel/debug/bpmp/debug/emc/possible_rates '665600 2133000\n'

preset()	# ID NAME CPU_KHZ GPU_HZ EMC_HZ
{
	echo "< POWER_MODEL ID=$1 NAME=$2 >"
	for c in {0..11}; do echo "CPU_ONLINE CORE_$c 1"; done
	printf 'CPU MAX_FREQ %s\nGPU MAX_FREQ %s\nEMC MAX_FREQ %s\n' "$3" "$4" "$5"
}

{
	echo '< PARAM TYPE=FILE NAME=CPU_ONLINE >'
	for c in {0..11}; do echo "CORE_$c /sys/devices/system/cpu/cpu$c/online"; done
	echo '< PARAM TYPE=CLOCK NAME=CPU >'
	echo 'MAX_FREQ /sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq'
	echo '< PARAM TYPE=CLOCK NAME=GPU >'
	echo 'MAX_FREQ /sys/devices/platform/17000000.gpu/devfreq_dev/max_freq'
	echo '< PARAM TYPE=CLOCK NAME=EMC >'
	echo 'MAX_FREQ /sys/kernel/nvpmodel_clk_cap/emc'
	preset 0 MAXN -1 -1 0
	preset 1 30W 1113600 624750000 1600000000
	echo '< PM_CONFIG DEFAULT=1 >'
} > "$d/presets"

for mode in c6-1510400-g1020000000-e2133000000 maxn; do
	run $J apply --dry-run $mode
	check "apply --dry-run accepts $mode" '[ $status = 0 ] && grep -q "no knob was written" "$d/out"'
done
for mode in c7-1510400-g1020000000-e2133000000 c6-1500000-g1020000000-e2133000000 \
	    c6-1510400-g1020000001-e2133000000 c6-1510400-g1020000000-e2133000000-d614400000; do
	run $J apply --dry-run $mode
	check "apply --dry-run refuses $mode, as apply does" '[ $status = 2 ] && [ ! -s "$d/out" ] && grep -q "has no level" "$d/err"'
done

run $J list presets --presets "$d/presets"
check "a number of cores that is rounded has no unit" '[ $status = 0 ] && grep -q "^ *cores 12 becomes 6$" "$d/out"'
check "clocks that are rounded are in MHz" 'grep -q "EMC 1600 becomes 666 MHz$" "$d/out"'
check "list presets fits into 80 columns" '! grep ".\{81\}" "$d/out"'
run $J list knobs presets
check "a second list is refused" '[ $status = 2 ] && [ ! -s "$d/out" ] && grep -q "more than one list" "$d/err"'

for option in --json --predictions --output; do
	run $J optimize --power 30W $option "$d/none/file" -- touch "$d/started"
	check "optimize $option: the file is checked before the search" '[ $status = 1 ] && [ ! -e "$d/started" ] && grep -q "cannot write $d/none/file" "$d/err"'
done
run $J profile --json "$d/none/file" -- touch "$d/started"
check "profile --json: the file is checked before the search" '[ $status = 1 ] && grep -q "cannot write $d/none/file" "$d/err"'
run $J optimize --power 30W --json "$d/file" -- touch "$d/started"
check "a file that can be written is not created by the check" '! grep -q "cannot write" "$d/err" && [ ! -e "$d/file" ]'

# A report comes from another machine; $E is the control character ESC as JSON writes it.
E='\u001b[2J'
cat > "$d/report" << END
{"schema": "jetwatt-report/1", "kernel": {"release": "6.8$E"},
 "files": [{"path": "proc/device-tree/model", "text": "Jetson$E"}],
 "rails": [{"id": 0, "label": "VDD$E", "chip": 0, "channel": 0, "shunt_uohm": 5000, "enabled": true}]}
END
run $J doctor --replay "$d/report"
check "doctor --replay: the texts of a report do not control the terminal" '[ $status = 0 ] && grep -q "VDD?\[2J" "$d/out" && ! grep -q "$(printf "\033")" "$d/out"'

echo "1..$n"
exit $failed

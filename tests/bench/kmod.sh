#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# make bench-kmod: measure CPU time, timing, delivery and energy error of the module; the results go
# to build/bench/kmod.json. Each value is measured in a guest with one CPU and virtual time. If two
# results are compared as a ratio, their guests differ only in what reads the sensors.
#
#   tests/bench/kmod.sh [SECONDS]     SECONDS: length of the run with 8 subscribers (default 600)
set -euo pipefail
cd "$(dirname "$0")/../.."
long=${1:-600}
out=build/bench
mkdir -p $out
python='' why=''
if why=$(tests/kernels/python); then
	python=build/kernels/python/usr
fi

# guest BUS_HZ PROGRAM ARGUMENT...: print the KEY VALUE lines of one run. The module jetwatt.ko is
# loaded only if PROGRAM measures the module.
guest()
{
	local bus=$1 program=$2 files=(--module jetwatt)
	shift 2
	case $1 in idle|sysfs|other) files=();; esac
	[ "$1" != other ] || files=(--file "$python:/usr" --file tests/bench/kmod_reader.py:/reader.py)
	tests/qemu/guest --timeout 3000 --file "build/arm64/tests/bench/kmod_$program:/bench" \
		--module governor_simpleondemand --module "jetwatt-sim bus_hz=$bus" \
		--module ina3221 "${files[@]}" -- /bench "$@"
}

# get KEY: print the value of KEY in $got
get() { awk -v key="$1" '$1 == key { print $2 }' <<< "$got"; }
calc() { awk "BEGIN { printf \"%.6g\", $1 }"; }
# CPU time per sample in us, minus the CPU time of the idle guest
per_sample() { calc "($(get share) - $nothing) / $(get samples_per_s) * 1e6"; }

hz=150
echo "bench-kmod: CPU time per sample at $hz Hz, 400 kHz bus, 4 rails, voltage and current" >&2
got=$(guest 400000 cost idle 10); nothing=$(get share)
got=$(guest 400000 cost ours $hz 10); ours=$(per_sample)
got=$(guest 400000 cost ours $hz 10 1000); rare=$(per_sample)
got=$(guest 400000 cost sysfs $hz 10); sysfs=$(per_sample)
ratio_sysfs=$(calc "$sysfs / $ours")
ratio_rare=$(calc "$sysfs / $rare")
echo "  jetwatt with ten messages per second (default): $ours us; C loop over sysfs: $sysfs us, $ratio_sysfs times as much" >&2
echo "  jetwatt with one message per second: $rare us; C loop over sysfs: $ratio_rare times as much" >&2
if [ -n "$python" ]; then
	got=$(guest 400000 cost other $hz 10 /usr/bin/python3 -E /reader.py); py=$(per_sample)
	ratio_python=$(calc "$py / $ours")
	echo "  Python reader at $(get samples_per_s) samples per second: $py us, $ratio_python times as much as jetwatt" >&2
else
	echo "  Python reader skipped: $why" >&2
	py=null ratio_python=null
fi

got=$(guest 400000 stream lateness 20)
p50=$(get late_p50_us) p99=$(get late_p99_us) late_max=$(get late_max_us) missed=$(get missed_pct)
echo "  1 kHz: lateness p50 $p50 us, p99 $p99 us, max $late_max us; missed deadlines $missed %" >&2

got=$(guest 400000 stream ceiling 5)
sps=$(get sps) each=$(get ns_per_sample)
echo "  delivery: $sps samples/s, $each ns each" >&2

got=$(guest 400000 energy 60)
e1k=$(get error_1khz) e10=$(get error_10hz) e1=$(get error_1hz) bias=$(get bias_quiet)
echo "  energy of bursts: error $e1k % at 1 kHz, $e10 % at 10 Hz, $e1 % at 1 Hz; of an idle board $bias %" >&2

got=$(guest 100000 cost idle 10); nothing=$(get share)
got=$(guest 100000 cost ours 0 10)
core=$(calc "100 * ($(get share) - $nothing)") core_hz=$(get samples_per_s)
echo "  Orin with the default settings (100 kHz bus): $core % of a core at $core_hz Hz" >&2

got=$(guest 400000 stream crowd 8 "$long")
lost=$(calc "$(get lost) + $(get gaps)") crowd_hz=$(get rate_hz) crowd_each=$(get samples_each) crowd_missed=$(get missed)
crowd_granted=$(get granted_hz)
echo "  8 subscribers, $long s at $crowd_hz Hz ($crowd_granted at the start): lost $lost samples, $crowd_each samples per subscriber, missed deadlines $crowd_missed" >&2

jq -n --argjson a "$ratio_sysfs" --argjson b "$ratio_python" --argjson p50 "$p50" --argjson p99 "$p99" \
	--argjson missed "$missed" --argjson lost "$lost" --argjson sps "$sps" --argjson each "$each" \
	--argjson e1k "$e1k" --argjson e10 "$e10" --argjson e1 "$e1" --argjson bias "$bias" \
	--argjson core "$core" --argjson core_hz "$core_hz" --argjson ours "$ours" \
	--argjson sysfs "$sysfs" --argjson rare "$rare" --argjson ratio_rare "$ratio_rare" --argjson py "$py" --argjson hz $hz --argjson crowd_hz "$crowd_hz" --argjson crowd_granted "$crowd_granted" \
	--argjson crowd_each "$crowd_each" --argjson crowd_missed "$crowd_missed" --argjson long "$long" '{
	cpu_ratio_vs_sysfs: $a, cpu_ratio_vs_python: $b,
	cpu_us_per_sample: { ours: $ours, ours_1_message_a_second: $rare, sysfs: $sysfs, python: $py, hz: $hz },
	cpu_ratio_vs_sysfs_1_message_a_second: $ratio_rare,
	lateness_us: { p50: $p50, p99: $p99 }, missed_pct: $missed,
	lost: $lost,
	crowd: { seconds: $long, granted_hz: $crowd_granted, hz: $crowd_hz, samples_each: $crowd_each, missed: $crowd_missed },
	delivery_max_sps: $sps, delivery_ns_per_sample: $each,
	energy_error_pct: { "1khz": $e1k, "10hz": $e10, "1hz": $e1, quiet_bias: $bias },
	core_share_pct: $core, core_share_hz: $core_hz }' > $out/kmod.json
cat $out/kmod.json

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# day_guest.sh HOURS: runs jobs of three sizes under jetwattd, each for 50 minutes of an hour.
# Writes a line to /out/day every ten minutes:
#   T_NS CPU_S SAMPLER_CPU_S RSS_KIB DESCRIPTORS DOING JOBS MODES_MEASURED LOST SENSORS_NS
# and copies smaps to /out/smaps.N when the memory of jetwattd has grown.
. /common.inc

most=0
value() { awk -v name="$1" '$1 == name { print $2 }' "$T/metrics"; }

record_usage()
{
	jetwatt daemon metrics > "$T/metrics"
	echo "$(sed -n 's/^t_ns //p' $TRUTH/now) $(value process_cpu_seconds_total)" \
		"$(value jetwatt_sampler_cpu_seconds_total)" \
		"$(awk '/^VmRSS/ { print $2 }' /proc/$daemon/status)" "$(ls /proc/$daemon/fd | wc -l)" \
		"$(jetwatt daemon status | sed -n '1s/ .*//p')" "$(value jetwatt_jobs_total)" \
		"$(value jetwatt_modes_measured_total)" "$(value jetwatt_sampler_dropped_samples_total)" \
		"$(sed -n 's/^sensors_ns //p' $TRUTH/now)" | tee -a /out/day
	rss=$(awk '/^VmRSS/ { print $2 }' /proc/$daemon/status)
	[ "$rss" -le $most ] || cp /proc/$daemon/smaps "/out/smaps.$(wc -l < /out/day)"
	[ "$rss" -le $most ] || most=$rss
}

mkdir -p /etc/jetwatt
printf 'budget = 30W\nrate = 100Hz\n' > /etc/jetwatt/jetwattd.conf
jetwattd > /out/jetwattd.log 2>&1 &
daemon=$!
while ! jetwatt daemon status > "$T/out" 2>&1; do sleep 0.1; done
for hour in $(seq "$1"); do
	train --size $((1000 - hour % 3 * 250)) > /dev/null 2>&1 &
	job=$!
	for part in 1 2 3 4 5; do
		sleep 600
		record_usage
	done
	kill $job
	wait $job
	sleep 600
	record_usage
done
kill $daemon
wait $daemon

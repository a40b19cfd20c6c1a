#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# jetwatt-exporter --telemetry without jetwattd and without the module's netlink family, on a directory
# of sysfs files (tests/python/board.py). tests/systemd checks the rail graph of a loaded module.
cd "$(dirname "$0")/../.." || exit 1
d=build/check-telemetry
rm -rf $d
. tests/host/check.inc
http=tests/metrics/client.py
pids=()
trap 'kill "${pids[@]}" 2> /dev/null' EXIT
export JETWATT_ROOT=$PWD/$d/root

value() { sed -n "s/^$1 //p" $d/plain; }
# page [ACCEPT]: get the metrics; $d/http: with the header
page() { $http get "$port" /metrics "$@" > $d/http; sed '1,/^\r$/d' $d/http > $d/plain; }
until_() { for _ in $(seq 100); do "$@" > /dev/null 2>&1 && return 0; sleep 0.1; done; return 1; }

echo 1..10
mkdir -p $d/root
port=$($http port)
# As root, run the exporter as a user without any privilege.
plain=()
[ "$(id -u)" != 0 ] || plain=(setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all --no-new-privs)
run build/jetwatt-exporter --telemetry --socket x
check "--telemetry and --socket: status 2, with a fix" "[ $status = 2 ] && grep -q 'fix: omit' $d/err"
"${plain[@]}" build/jetwatt-exporter --telemetry --listen 127.0.0.1:"$port" 2> $d/exporter.log &
exporter=$!
pids+=($exporter)
until_ $http get "$port" /
page
check "without the module: 503 with the reason" "grep -q '503' $d/http && grep -q 'modprobe jetwatt' $d/plain"

/usr/bin/python3 -B tests/python/board.py $d/root &
pids+=($!)
until_ test -e $d/root/sys/class/hwmon/hwmon3/sample_time_ns
# Text of sysfs: an invalid temperature of a zone that is off, a fan, and a counter of events.
put() { mkdir -p "$(dirname "$d/root/sys/class/$1")"; echo "$2" > "$d/root/sys/class/$1"; }
put thermal/thermal_zone0/temp 45123
put thermal/thermal_zone2/temp ''
put thermal/thermal_zone11/temp 51500
put hwmon/hwmon5/name pwmfan
put hwmon/hwmon5/fan1_input 2100
put hwmon/hwmon6/name soctherm_oc
put hwmon/hwmon6/oc2_event_cnt 3
sleep 1
page
before=$(value 'jetwatt_module_energy_joules_total{scope="module"}')
check "total energy and power" "[ -n '$before' ] && [ \"$(value jetwatt_module_power_watts)\" = 18 ]"
check "rails, which cannot be added by mistake" \
	"[ \"\$(grep -c '^jetwatt_unsorted_rail_energy_joules_total{rail=' $d/plain)\" = 4 ] &&
	 ! grep -qE '^jetwatt_(inner_)?rail_energy' $d/plain"
check "the hottest zone, the fan and the events" \
	"[ \"$(value jetwatt_temperature_celsius)\" = 51.5 ] && [ \"$(value 'jetwatt_fan_speed_rpm{fan="1"}')\" = 2100 ] &&
	 [ \"$(value 'jetwatt_overcurrent_events_total{input="2"}')\" = 3 ]"
sleep 1
page
check "the counter advances by the power times the time" \
	"awk -v a=$before -v b=$(value 'jetwatt_module_energy_joules_total{scope="module"}') 'BEGIN { print b - a; exit !(b - a > 9 && b - a < 60) }'"
if command -v promtool > /dev/null; then
	check "promtool reports no error" "promtool check metrics < $d/plain 2>&1 | tee $d/lint && [ ! -s $d/lint ]"
else
	n=$((n + 1))
	echo "ok $n promtool reports no error # SKIP no promtool here"
fi
page 'application/openmetrics-text;version=1.0.0'
check "OpenMetrics on request" "grep -q 'openmetrics-text' $d/http && [ \"\$(tail -n 1 $d/plain)\" = '# EOF' ]"
rm $d/root/sys/class/hwmon/hwmon3/energy4_label
put hwmon/hwmon3/energy4_label VDD_CPU_CV
sleep 1
page
check "two rails with one label have two series" \
	"[ \"\$(grep -c '^jetwatt_unsorted_rail_energy_joules_total{rail=' $d/plain)\" = 4 ] &&
	 grep -q '{rail=\"VDD_CPU_CV\"}' $d/plain && grep -q '{rail=\"VDD_CPU_CV (2)\"}' $d/plain"
kill $exporter
wait $exporter
check "SIGTERM ends the exporter with status 0" "[ $? = 0 ]"
exit $failed

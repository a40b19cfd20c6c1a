#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=2 icount timeout=240 modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt"
# Test the series that other drivers show in sysfs, from the board's files to the output of stat,
# traces, exports and metrics. If a file is missing, only its own series must be affected.
. "${0%/*}/common.inc"
. "${0%/*}/daemon.inc"
plan 14

fan=/sys/module/jetwatt_sim/parameters/fan_rpm
events=/sys/module/jetwatt_sim/parameters/oc_events
pwm=$(grep -lx pwmfan /sys/class/hwmon/hwmon*/name)
pwm=${pwm%name}pwm1

# of SERIES KEY FILE: print value KEY of SERIES in FILE, the JSON output of stat
of() { sed -n "/\"$1\": {/,/}/s/.*\"$2\": *\\([-0-9.]*\\).*/\\1/p" "$3"; }

# now_of LABEL: print the value of the series named LABEL in the list of clocks
now_of() { sed -n "/\"$1\"/,/}/s/.*\"value\": *\([0-9]*\).*/\1/p" "$T/out"; }

# column NAME FILE: print the different values of column NAME of a CSV file, in order
column()
{
	awk -F, -v n="$1" 'BEGIN { last = "none" } NR == 1 { for (i = 1; i <= NF; i++) if ($i == n) c = i; next }
		c && $c != last { printf "%s%s", any++ ? " " : "", $c == "" ? "-" : $c; last = $c }' "$2"
}

echo 5,0,2,0,0,0 > $events
echo 51 > "$pwm"
grep -qx pwm_tach /sys/class/hwmon/hwmon*/name && grep -qx soctherm_oc /sys/class/hwmon/hwmon*/name &&
	[ "$(cat "$pwm")" = 51 ]
result $? "the board has the devices of NVIDIA's and mainline's drivers"

run jetwatt list clocks --json
exits 0 && [ "$(now_of fan1_rpm)" = 1500 ] && [ "$(now_of oc1_events)" = 5 ] && [ "$(now_of oc3_events)" = 2 ] &&
	[ "$(now_of fan1_pwm)" = 51 ] && ! grep -Eq 'fan2_rpm|oc4_events|fan2_pwm' "$T/out"
result $? "list clocks --json: only series that exist"
run jetwatt list clocks
exits 0 && shows 'fan1_rpm *1500 rpm' 'oc3_events *2 events' 'fan1_pwm *51 /255'
result $? "list clocks: fan speed, over-current events and duty cycle with their units"

# While the job runs, the fan speed and its duty cycle change, and over-current events of two inputs
# are counted.
cat > "$T/job" << END
sleep 3
echo 2140 > $fan
echo 204 > $pwm
echo 7,0,7,0,0,0 > $events
sleep 3
END
run jetwatt record -o "$T/run.jwt" --json -- sh "$T/job"
exits 0 && [ "$(of oc1_events counted "$T/out")" = 2 ] && [ "$(of oc2_events counted "$T/out")" = 0 ] &&
	[ "$(of oc3_events counted "$T/out")" = 5 ] && [ "$(of oc3_events last "$T/out")" = 7 ]
result $? "record: counts events during the run only"
[ "$(of fan1_rpm last "$T/out")" = 2140 ] && [ "$(of fan1_rpm max "$T/out")" = 2140 ] &&
	awk -v v="$(of fan1_rpm mean "$T/out")" 'BEGIN { exit !(v > 1550 && v < 2090) }' &&
	[ "$(of fan1_pwm last "$T/out")" = 204 ] && [ "$(of fan1_pwm max "$T/out")" = 204 ] &&
	awk -v v="$(of fan1_pwm mean "$T/out")" 'BEGIN { exit !(v > 60 && v < 195) }' &&
	[ -n "$(of temp_mc mean "$T/out")" ] && ! grep -Eq 'fan2_rpm|oc4_events|fan2_pwm' "$T/out"
result $? "record: fan speed, duty cycle and temperature, and no series that does not exist"
run jetwatt report --json "$T/run.jwt"
exits 0 && [ "$(of oc3_events counted "$T/out")" = 5 ]
result $? "report prints the values that record has printed"

run jetwatt export -f csv -o "$T/csv" "$T/run.jwt"
exits 0 && echo "# fan $(column fan1_rpm "$T/csv"), oc3 $(column oc3_events "$T/csv")" &&
	[ "$(column fan1_rpm "$T/csv")" = "1500 2140" ] && [ "$(column oc3_events "$T/csv")" = "2 7" ] &&
	[ "$(column fan1_pwm "$T/csv")" = "51 204" ] && [ "$(column fan2_pwm "$T/csv")" = - ] &&
	[ "$(column oc2_events "$T/csv")" = 0 ] && [ "$(column fan2_rpm "$T/csv")" = - ]
result $? "csv: a column for each channel"
run jetwatt export -f jsonl -o "$T/jsonl" "$T/run.jwt"
exits 0 && grep '"type":"telemetry"' "$T/jsonl" | grep '"fan1_rpm":2140' | grep '"fan1_pwm":204' |
	grep -q '"oc1_events":7'
result $? "jsonl: a record of each change"
run jetwatt export -f openmetrics "$T/run.jwt"
exits 0 && shows '^jetwatt_fan_speed_rpm{fan="1"} 2140$' '^# TYPE jetwatt_overcurrent_events counter$' \
	'^# TYPE jetwatt_fan_pwm_ratio gauge$' '^jetwatt_fan_pwm_ratio{fan="1"} 0.8$' \
	'^jetwatt_overcurrent_events_total{input="3"} 5$' && ! grep -q 'input="4"' "$T/out"
result $? "openmetrics: event counts are counters, of this run"

# The firmware refuses to read one over-current input: the value of its series must be unknown from
# then on, and the other series must still have values.
cat > "$T/job" << END
sleep 3
echo -1,0,7,0,0,0 > $events
sleep 5
END
run jetwatt record -o "$T/gap.jwt" -q -- sh "$T/job"
exits 0 && jetwatt export -f csv -o "$T/csv" "$T/gap.jwt" &&
	echo "# oc1 $(column oc1_events "$T/csv")" && [ "$(column oc1_events "$T/csv")" = "7 -" ] &&
	[ "$(column oc3_events "$T/csv")" = 7 ] && [ "$(column fan1_rpm "$T/csv")" = 2140 ]
result $? "csv: empty after an input cannot be read"
jetwatt export -f jsonl "$T/gap.jwt" 2> "$T/err" | grep '"type":"telemetry"' > "$T/out"
grep -q '"oc1_events":null' "$T/out"
result $? "jsonl: null after an input cannot be read"

run jetwatt stat -- sleep 2
exits 0 && shows '2140 rpm fan 1 ' ' 0.8 * fan 1 PWM ' 'over-current 3 .* 7 events at the end' &&
	! grep -q 'over-current 1' "$T/out" && narrow
result $? "stat prints the series with their units"

echo 11,0,7,0,0,0 > $events
printf 'budget = 30W\ndb = %s\n' "$T/profiles.db" > "$T/conf"
# The module reads temperatures once a second.
there() { jetwatt daemon metrics > "$T/out" 2> "$T/err" && grep -q '^jetwatt_temperature_celsius [1-9]' "$T/out"; }
start && within 20 there && shows '^# TYPE jetwatt_overcurrent_events_total counter$' \
	'^jetwatt_overcurrent_events_total{input="1"} 11$' '^jetwatt_fan_speed_rpm{fan="1"} 2140$' \
	'^jetwatt_fan_pwm_ratio{fan="1"} 0.8$'
result $? "metrics of jetwattd: since the start of the machine"
end
exits 0
result $? "SIGTERM: jetwattd ends with status 0"
finish

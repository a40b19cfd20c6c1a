#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=2 icount timeout=240 modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt"
# Test that jetwatt changes the averaging, conversion times and bus clock of sensors on request,
# saves the previous settings first, and restores them afterwards, even if it is killed.
. "${0%/*}/common.inc"
. "${0%/*}/daemon.inc"
plan 15

saved=/var/lib/jetwatt/sensors
adapter=/sys/bus/i2c/devices/i2c-1/bus_clk_rate
sensor=$(echo /sys/bus/i2c/devices/1-0040/hwmon/hwmon*)

# settings: print the sensor settings of the drivers and of the chips
settings()
{
	for f in $adapter /sys/bus/i2c/devices/1-004?/hwmon/hwmon*/samples \
		 /sys/bus/i2c/devices/1-004?/hwmon/hwmon*/update_interval; do
		echo "$f $(cat "$f")"
	done
	sleep 1
	jetwatt list chips --json | grep -o '"config": *[0-9]*'
}

# back SECONDS: are the sensor settings restored within SECONDS?
back()
{
	for i in $(seq "$1"); do
		[ ! -e $saved ] && break
		sleep 1
	done
	settings > "$T/now"
	[ ! -e $saved ] || { echo "# $saved is still there"; return 1; }
	cmp -s "$T/before" "$T/now" || { diff "$T/before" "$T/now" | sed 's/^/# /'; return 1; }
}

# changed: wait until the sensor settings have changed
changed()
{
	for i in $(seq 100); do
		[ "$(cat "$sensor/samples")" = 4 ] && [ -e $saved ] && return 0
		sleep 0.1
	done
	return 1
}

# Change the number of averages, because it changes the meaning of the driver's attribute
# update_interval.
echo 16 > "$sensor/samples"
sleep 1
settings > "$T/before"

cat > "$T/job" << EOF2
cat $saved $adapter $sensor/samples $sensor/update_interval > $T/during
sleep 4
EOF2
run jetwatt stat --json -o "$T/as_is" -- sleep 4
run jetwatt stat --averages 1 --refresh-ms 1 --bus-khz 400 --json -o "$T/raised" -- sh "$T/job"
exits 0 && [ "$(tail -n 3 "$T/during" | xargs)" = "400000 1 1" ]
result $? "options: averages, interval and bus clock are set"

grep -q "^chip .*1-0040.* 16 7$" "$T/during" && grep -q "^adapter .*bus_clk_rate 100000$" "$T/during" &&
	grep -q "^sum " "$T/during"
result $? "the settings are saved to disk before"

awk -v a="$(number read_hz "$T/as_is")" -v b="$(number read_hz "$T/raised")" \
	-v f="$(number fresh_hz "$T/as_is")" -v g="$(number fresh_hz "$T/raised")" 'BEGIN {
	print "# read " a " -> " b " Hz, fresh " f " -> " g " Hz"
	exit !(f > 140 && f < 160 && b > 3 * a && g > 4 * f && g <= b + 1) }'
result $? "the rates are higher, and reported"

back 1
result $? "the settings are restored at the end"

jetwatt stat --averages 4 -- sleep 60 > /dev/null 2>&1 &
pid=$!
changed
result $? "a running stat has changed settings"

run jetwatt stat --averages 64 -- true
exits 1 && form && says "has changed the sensors" && [ "$(cat "$sensor/samples")" = 4 ]
result $? "a second stat with such options is refused"

kill -KILL $pid
wait $pid 2> /dev/null
back 5
result $? "stat is killed: its guardian process restores the settings"

jetwatt record -o "$T/trace" --averages 4 --refresh-ms 3 -p $$ > /dev/null 2>&1 &
pid=$!
changed && kill -TERM $pid
wait $pid
back 1
result $? "record is ended by a signal: the settings are restored"

jetwatt stat --averages 4 -- sleep 60 > /dev/null 2>&1 &
pid=$!
changed
for p in /proc/[0-9]*; do
	[ "$(cat "$p/comm" 2> /dev/null)" = jetwatt-guard ] && kill -KILL "${p#/proc/}"
done
kill -KILL $pid
wait $pid 2> /dev/null
sleep 1
[ -e $saved ] && [ "$(cat "$sensor/samples")" = 4 ] && run jetwatt restore && exits 0 &&
	grep -q "^the settings of the power sensors were restored" "$T/out" && back 1
result $? "stat is killed with its guardian process: jetwatt restore restores the settings"

run jetwatt stat --averages 5 -- true
exits 2 && form && back 1
result $? "an invalid number of averages is refused, and the settings stay"

run jetwatt stat --bus-khz 250 -- true
exits 2 && form && back 1
result $? "an invalid bus clock is refused, and the settings stay"

echo spoiled >> $saved
run jetwatt stat --averages 4 -- true
exits 1 && form && says "can't be used" && rm $saved && back 1
result $? "a damaged file of saved settings is neither used nor overwritten"

# The settings are those of NVIDIA's boot script nvpower.sh of L4T 35: the time constant is 511 refreshes of 0.84 ms.
echo 512 > "$sensor/samples"
echo 430 > "$sensor/update_interval"
echo "budget = 30W" > "$T/conf"
start
end
exits 0 && says "average over 0.43 s"
result $? "jetwattd says that the sensors average over a long time"
run jetwatt doctor
shows "1-0040 averages over 0.43 s"
result $? "doctor says it, too"

rmmod ina3221
run jetwatt stat --averages 4 -- true
exits 5 && form && says "ina3221"
result $? "without the driver of the chips the options are unsupported"
finish

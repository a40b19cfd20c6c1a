#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=4 icount alone timeout=400 modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt"
# Test jetwatt with problems of everyday use, such as closed pipes, hang-ups, a second jetwatt, full
# and read-only disks, and files of another board.
. "${0%/*}/common.inc"
plan 24

state=/var/lib/jetwatt
mode=c3-1574400-g318750000-e2133000000
# fails_unstarted COMMAND...: is COMMAND refused before it starts the job that is appended?
fails_unstarted()
{
	rm -f "$T/ran"
	run "$@" -- touch "$T/ran"
	[ ! -e "$T/ran" ] && form
}

# Record twenty minibatches, as JSON lines in $T/rec.
recorded()
{
	jetwatt record -o "$T/rec.jwt" -- train --minibatches 20 &&
		jetwatt export --format jsonl -o "$T/rec" "$T/rec.jwt"
}

knobs > "$T/before"
train > /dev/null 2>&1 &
train=$!
sleep 2

{ jetwatt profile -p $train --most 3 2> "$T/err"; echo $? > "$T/status"; } | head -n 1 > "$T/out"
status=$(cat "$T/status")
exits 1 && says "cannot write to standard output" "Broken pipe" && as_before "$T/before"
result $? "profile | head: knobs restored, and the exit status reports the incomplete output"

jetwatt profile -p $train > "$T/out" 2> "$T/err" &
jw=$!
sleep 5
kill -QUIT $jw
wait $jw
status=$?
exits 131 && as_before "$T/before"
result $? "SIGQUIT: status 131, knobs restored"

(trap '' HUP; exec jetwatt stat -p $train --for 5s --json -o "$T/json") > "$T/out" 2> "$T/err" &
jw=$!
sleep 2
kill -HUP $jw
wait $jw
status=$?
exits 0 && awk -v s="$(number elapsed_s "$T/json")" 'BEGIN { exit !(s > 4.5) }'
result $? "SIGHUP under nohup: ignored"

jetwatt profile -p $train > /dev/null 2> "$T/first" &
jw=$!
sleep 5
run jetwatt apply "$mode"
exits 1 && form && says "another jetwatt" "process $jw "
result $? "a second jetwatt: the error names the process that holds the lease"

fails_unstarted jetwatt optimize --power 30W && exits 1 && says "another jetwatt"
result $? "a second jetwatt: does not start the job"

run jetwatt restore
exits 1 && form && says "another jetwatt"
result $? "a second jetwatt: restore is refused"
kill -INT $jw
wait $jw
as_before "$T/before"
result $? "the first jetwatt has restored all knobs"

run jetwatt apply "$mode"
gpu=$(echo /sys/class/devfreq/*gpu*)
saved=$(cat "$gpu/min_freq")
echo 114750000 > "$gpu/min_freq"
fails_unstarted jetwatt profile && exits 1 && says "jetwatt restore, then again"
result $? "a knob was changed after apply: refused, because it could not be restored"
echo "$saved" > "$gpu/min_freq"
jetwatt restore -q

fails_unstarted jetwatt stat -o /nonexistent/file && exits 1 && says "cannot write /nonexistent"
result $? "stat -o: the file is opened before the job starts"

run jetwatt stat -o /dev/full -- true
exits 1 && form && says "cannot write /dev/full" "No space left"
result $? "stat -o: a full disk is an error"

status=0
jetwatt list modes > /dev/full 2> "$T/err" || status=$?
exits 1 && form && says "cannot write to standard output"
result $? "standard output on a full disk is an error"

esc=$(printf '\033')
CLICOLOR_FORCE=1 jetwatt stat -o "$T/stat" -- train --minibatches 20
CLICOLOR_FORCE=1 jetwatt doctor > "$T/out"
NO_COLOR=1 CLICOLOR_FORCE=1 jetwatt doctor > "$T/plain"
shows "$esc" && ! grep -q "$esc" "$T/plain" && grep -q "20 minibatches" "$T/stat" &&
	! grep -q "$esc" "$T/stat"
result $? "colour only if requested, and never in a file"

# To measure the power of a core, doctor starts a process that keeps a core busy. Doctor is stopped
# while the busy process runs, so that doctor cannot end the process.
ticks() { awk '{ print $14 }' "/proc/$child/stat" 2>/dev/null; }
busy()
{
	for i in $(seq 20); do
		[ "$(ticks)" -ge 20 ] 2>/dev/null && return 0
		sleep 0.1
	done
	return 1
}
jetwatt doctor > /dev/null 2>&1 &
doctor=$!
child=
# A process that has ended stays in /proc, in state Z, until the shell has waited for it.
while read -r rest rest alive rest < /proc/$doctor/stat && [ "$alive" != Z ]; do
	read -r child rest < /proc/$doctor/task/$doctor/children
	[ -n "$child" ] || continue
	kill -STOP $doctor
	busy && break
	kill -CONT $doctor
	child=
	sleep 0.1
done 2>/dev/null
kill -9 $doctor
wait $doctor 2>/dev/null
for i in $(seq 20); do
	[ -d "/proc/$child" ] || break
	sleep 0.2
done
[ -n "$child" ] && ! [ -d "/proc/$child" ]
result $? "doctor leaves no process if it is killed"

run recorded
exits 0 && ! grep -q null "$T/rec"
result $? "record: every sample has every rail"

for h in /sys/class/hwmon/hwmon*; do
	[ "$(cat "$h/in2_label" 2> /dev/null)" != VDDQ_VDD2_1V8AO ] || other=$h
done
echo 0 > "$other/in2_enable"
run recorded
echo 1 > "$other/in2_enable"
exits 0 && [ "$(grep -c '"power"' "$T/rec")" = "$(grep -c '"uw":.*null' "$T/rec")" ]
result $? "record: a disabled rail is null, not 0 W"

{
	echo cores,cpu_khz,gpu_hz,emc_hz
	echo 4,1234567,1300500000,3199000000
	echo 3,1574400,318750000,2133000000
	echo 4,2201600,1300500000,3199000000
	echo 2,729600,624750000,2133000000
	echo 2,729600,624750000,2133000000
} > "$T/modes.csv"
run jetwatt profile -p $train --modes "$T/modes.csv" --most 3 -o "$T/p.csv"
exits 0 && says "1 of 4 modes" "left out" && [ "$(wc -l < "$T/p.csv")" = 4 ] && as_before "$T/before"
result $? "--modes: modes that the board lacks are left out, duplicates are measured once"

head -n 2 "$T/modes.csv" > "$T/none.csv"
fails_unstarted jetwatt optimize --power 30W --modes "$T/none.csv" && exits 2 &&
	says "names no mode of this board" "1234567"
result $? "--modes: a list of another board is refused"

mkdir -p $state
mount -t tmpfs -o size=4k none $state
fails_unstarted jetwatt optimize --power 30W && exits 1 && says "No space left" "free some space" &&
	as_before "$T/before"
result $? "no space to save the knobs: nothing is started"

mount -o remount,ro $state
run jetwatt apply "$mode"
exits 1 && form && says "Read-only" && as_before "$T/before"
result $? "read-only state directory: no knob is changed"
umount $state

echo garbage > $state/saved
fails_unstarted jetwatt optimize --power 30W && exits 1 && says "saved state" && knobs > "$T/now" &&
	cmp "$T/before" "$T/now"
result $? "damaged saved state: nothing is started"
rm $state/saved

mv /var/lib /var/lib.away
run jetwatt apply "$mode"
exits 0 && run jetwatt restore && exits 0 && as_before "$T/before"
result $? "no /var/lib: it is created"
rm -r /var/lib
mv /var/lib.away /var/lib

# The module samples at 208 Hz. While stat starts up, which takes half a second, there are no
# samples.
run jetwatt stat -p $train --for 2s --json
exits 0 && awk -v n="$(number samples "$T/out")" -v s="$(number elapsed_s "$T/out")" \
	'BEGIN { exit !(n > 150 * s && n < 250 * s + 25) }'
result $? "stat -p: samples are those of the measured time"

(sleep 3; rmmod jetwatt) &
run jetwatt profile -p $train
exits 1 && form && says "stream broke off" && as_before "$T/before"
result $? "module unloaded during profile: error, knobs restored"
insmod /lib/modules/jetwatt/jetwatt.ko

(sleep 3; rmmod jetwatt) &
run jetwatt stat -- sh -c "sleep 14; touch $T/ran"
exits 1 && form && says "stream broke off" "goes on" && [ -e "$T/ran" ]
result $? "module unloaded during stat: error, but the command runs to its end"

kill $train
finish

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=4 icount timeout=240 modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt"
# Test stat and record: their values must agree with those of the plant, and their exit status must
# be that of the command.
. "${0%/*}/common.inc"
plan 24

# within A B PERCENT: do A and B differ by at most PERCENT?
within()
{
	awk -v a="$1" -v b="$2" -v p="$3" 'BEGIN { d = a / b - 1; if (d < 0) d = -d;
		if (d * 100 > p) { print "# " a " is not within " p " % of " b; exit 1 } }'
}

run jetwatt stat -o "$T/stat" -- train --minibatches 60
exits 0 && grep -q " 60 minibatches" "$T/stat" && grep -q " 0 lost" "$T/stat"
result $? "stat -- train: all minibatches, no sample lost"

[ "$(awk 'length > 80' "$T/stat" | wc -l)" = 0 ]
result $? "the output fits into 80 columns"

run jetwatt stat --json -o "$T/json" -- train --minibatches 60
exits 0 && [ "$(number minibatches "$T/json")" = 60 ]
result $? "stat --json: all minibatches"

# stat waits for samples that are later than the end by the age of the values.
jetwatt stat --json -- sh -c "cat /proc/uptime > $T/ended" 2> "$T/err" |
	{ read -r line; cat /proc/uptime > "$T/printed"; echo "$line"; cat; } > "$T/out"
waited=$(cat "$T/ended" "$T/printed" | awk '{ t[NR] = $1 } END { print t[2] - t[1] }')
echo "# printed ${waited} s after the end of the job"
[ -s "$T/out" ] && awk -v s="$waited" 'BEGIN { exit !(s > 0 && s < 0.8) }'
result $? "stat prints soon after the end of the job"

jetwatt stat -- true > /dev/full 2> "$T/err"
status=$?
exits 1 && form && says "No space left" && [ "$(grep -c "cannot write" "$T/err")" = 1 ]
result $? "stat: a full disk of standard output: one error, with the reason"

status=0
jetwatt stat --json -- sh -c "exit 7" > /dev/full 2> "$T/err" || status=$?
exits 7 && says "No space left" && [ "$(grep -c "cannot write" "$T/err")" = 1 ]
result $? "stat: the status of the command also on a full disk, and one error"

echo earlier > "$T/kept"
run jetwatt stat -o "$T/kept" -- /nonexistent/command
exits 127 && [ "$(cat "$T/kept")" = earlier ]
result $? "stat -o: a command that cannot be started leaves an earlier file as it is"

run jetwatt record -o "$T/kept" -- /nonexistent/command
exits 127 && [ "$(cat "$T/kept")" = earlier ] && [ "$(ls "$T"/kept*)" = "$T/kept" ]
result $? "record -o: a command that cannot be started leaves an earlier file as it is"

run jetwatt record -o "$T/rec.jwt" --json -- train --minibatches 100
cp "$T/out" "$T/closing"
jetwatt export --format jsonl -o "$T/rec" "$T/rec.jwt" 2>> "$T/err"
tail -n 1 "$T/rec" > "$T/end"
exits 0 && grep -q '"type":"end"' "$T/end" && [ "$(number minibatches "$T/end")" = 100 ] &&
	[ "$(number lost "$T/end")" = 0 ]
result $? "record: all minibatches, no sample lost"

t0=$(number t0_ns "$T/end") t1=$(number t1_ns "$T/end")
truth=$(awk -F, -v a="$t0" -v b="$t1" 'function at(t) { return pe + (t - pt) / ($1 - pt) * ($2 - pe) }
	$1 + 0 { if (pt && pt <= a && a <= $1) e0 = at(a)
		 if (pt && pt <= b && b <= $1) e1 = at(b); pt = $1; pe = $2 }
	END { printf "%.0f", e1 - e0 }' $TRUTH/energy)
within "$(number energy_uj "$T/end")" "$truth" 2
result $? "record: energy within 2 % of the plant's"

[ "$(grep -c '"type":"power"' "$T/rec")" -gt 100 ] && [ "$(grep -c '"type":"minibatch"' "$T/rec")" -ge 100 ] &&
	head -n 1 "$T/rec" | grep -q '"monotonic_ns"' && grep -q '"type":"mode"' "$T/rec"
result $? "the trace has header, power, mode and minibatch records"

run jetwatt report --json "$T/rec.jwt"
exits 0 && cmp "$T/out" "$T/closing" && [ "$(number minibatches "$T/out")" = 100 ] &&
	[ "$(stat -c %a "$T/rec.jwt")" = 600 ]
result $? "report prints what record has printed"

run jetwatt record -o /dev/full -- touch "$T/touched"
exits 1 && form && says "No space left" && [ ! -e "$T/touched" ]
result $? "record: a full disk is detected before the job starts"

mkdir -p "$T/small"
mount -t tmpfs -o size=16k none "$T/small"
run jetwatt record -o "$T/small/rec.jwt" -- train --seconds 20
exits 1 && form && says "No space left" && says "goes on, unmeasured"
result $? "record: the disk becomes full: an error, and the job continues"
run jetwatt report "$T/small/rec.jwt"
exits 0 && grep -q "per minibatch" "$T/out" && says "was not closed"
result $? "and the trace written until then is readable"
umount "$T/small"

jetwatt record -o "$T/killed.jwt" -- train --seconds 30 > "$T/out" 2> "$T/err" &
record=$!
job train > /dev/null
sleep 4
kill -KILL $record
wait $record
run jetwatt report "$T/killed.jwt"
exits 0 && grep -q "per minibatch" "$T/out" && says "was not closed"
result $? "record is killed: the trace lacks at most the last second"
kill "$(pidof train)"

run jetwatt record -o "$T/seven.jwt" -q -- sh -c 'exit 7'
exits 7 && [ ! -s "$T/out" ]
result $? "record returns the status of the command"

run jetwatt stat -- sh -c 'exit 7'
exits 7
result $? "stat returns the status of the command"

run jetwatt stat -- sh -c 'kill -KILL $$'
exits 137
result $? "stat returns 128 + the signal that ends the command"

run jetwatt stat -- /nonexistent
exits 127 && says "cannot run"
result $? "a command that does not exist: status 127"

run jetwatt stat -- /etc/passwd
exits 126
result $? "a command that is not executable: status 126"

jetwatt stat -o "$T/stat" -- train > "$T/out" 2> "$T/err" &
stat=$!
job train > /dev/null
sleep 3
kill -TERM $stat
wait $stat
status=$?
exits 0 && grep -q "minibatches" "$T/stat" && ! pidof train > /dev/null
result $? "SIGTERM is passed on to the command, and the summary is printed"

run jetwatt stat -p 4194300
exits 1 && form && says "no such process"
result $? "stat -p of a process that does not exist: error"

run jetwatt stat --rate 100kHz -- true
exits 1 && form && says "Hz"
result $? "a rate above the limit: the error has the highest rate"

finish

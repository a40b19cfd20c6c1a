#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=4 icount timeout=480 modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt"
# Test stat --per: energy and time per unit of a job that counts its minibatches itself must be those
# of the plant, and a counter that restarts or is missing must be reported.
. "${0%/*}/common.inc"
plan 18

# A job that writes the number of its minibatches so far to the file $1.
cat > "$T/counting" << 'EOT'
train --minibatches 80 --progress 1 | {
	n=0
	while read -r word _; do
		[ "$word" = step ] || continue
		n=$((n + 1))
		echo $n > "$1"
	done
}
EOT

# truth: print units, J per unit, ms per unit and J of the plant between start_ns and end_ns of $T/json; the units
# are the training minibatches that ended in this time
truth()
{
	a=$(number start_ns "$T/json") b=$(number end_ns "$T/json")
	units=$(awk -F, -v a="$a" -v b="$b" '$4 == 0 && $3 > a && $3 <= b { n++ } END { print n + 0 }' $TRUTH/minibatches)
	awk -F, -v a="$a" -v b="$b" -v n="$units" 'function at(t) { return pe + (t - pt) / ($1 - pt) * ($2 - pe) }
		$1 + 0 { if (pt && pt <= a && a <= $1) e0 = at(a)
			 if (pt && pt <= b && b <= $1) e1 = at(b); pt = $1; pe = $2 }
		END { printf "%d %.6f %.4f %.4f\n", n, (e1 - e0) / n * 1e-6, (b - a) / n * 1e-6, (e1 - e0) * 1e-6 }' $TRUTH/energy
}

# per KEY: print a figure of the unit in $T/json
per() { sed -n '/"per"/,$p' "$T/json" > "$T/per"; number "$1" "$T/per"; }

# near A B RELATIVE: do A and B differ by at most this share of B?
near()
{
	awk -v a="$1" -v b="$2" -v p="$3" 'BEGIN { d = a / b - 1; if (d < 0) d = -d
		print "# " a " of jetwatt, " b " of the plant: " 100 * d " %"; exit !(d <= p) }'
}

run jetwatt stat --json -o "$T/json" --per "step=$T/count" -- sh "$T/counting" "$T/count"
# shellcheck disable=SC2046
set -- $(truth)
echo "# $(per units) units of jetwatt, $1 of the plant"
exits 0 && [ "$(per units)" = 80 ] && [ "$1" = 80 ] && near "$(per energy_j)" "$2" 0.01 && near "$(per time_ms)" "$3" 0.01 &&
	near "$(per total_j)" "$4" 0.005
result $? "a count in a file: J and ms per unit within 1 % of the plant's"
says "cannot read $T/count yet (No such file"
result $? "a file that does not exist at the begin is reported, and counts from 0"

# record stores the count: report computes the figures again.
rm "$T/count"
run jetwatt record -o "$T/run.jwt" --json --per "step=$T/count" -- sh "$T/counting" "$T/count"
cp "$T/out" "$T/json"
# shellcheck disable=SC2046
set -- $(truth)
exits 0 && [ "$(per units)" = 80 ] && near "$(per energy_j)" "$2" 0.01 && near "$(per time_ms)" "$3" 0.01
result $? "record --per: J and ms per unit within 1 % of the plant's"
run jetwatt report --json "$T/run.jwt"
exits 0 && cmp "$T/out" "$T/json" && jetwatt report "$T/run.jwt" > "$T/out" && shows 'J   per step' 'ms  per step'
result $? "report prints the figures that record has printed"
run jetwatt record -o "$T/run.jwt" --per "step=$T/never" -- sleep 2
exits 1 && form && says "never was never read"
result $? "record: a counter that is never there is an error"
run jetwatt record -q -o "$T/run.jwt" --per "step=$T/never" -- sleep 2
exits 1 && form && says "never was never read" && [ ! -s "$T/out" ]
result $? "record -q: also without statistics"
run jetwatt record -o "$T/run.jwt" --trigger signal --per "step=$T/count"
exits 2 && form
result $? "record --trigger with --per is refused"

# Measure a part of the run, with a counter from a server: both ends of the interval are within
# minibatches.
mkdir -p "$T/www"
ip link set lo up
httpd -f -p 127.0.0.1:8000 -h "$T/www" &
httpd=$!
train --progress 1 | while read -r word _; do
	[ "$word" = step ] || continue
	n=$((${n:-0} + 1))
	printf 'other_total 7\nsteps_total{rank="0"} %s\nsteps_total{rank="1"} %s\n' $n $n > "$T/www/new"
	mv "$T/www/new" "$T/www/metrics"
done &
counting=$!
train=$(job train)
sleep 2
url=http://127.0.0.1:8000/metrics
run jetwatt stat --json -o "$T/json" --per "step=$url#steps_total{rank=\"1\"}" -p "$train" --for 8
# shellcheck disable=SC2046
set -- $(truth)
exits 0 && near "$(per total_j)" "$4" 0.005 &&
	near "$(per energy_j)" "$2" "$(awk -v s="$(per energy_sd)" 'BEGIN { print 3 * s }')" &&
	near "$(per energy_j)" "$2" 0.05 && near "$(per units)" "$1" 0.05 && awk -v s="$(per energy_sd)" 'BEGIN { exit !(s < 0.05) }'
result $? "a metric of a server: J per unit within three stated errors of the plant's"

# A reply that takes 0.8 s: the energy is computed for the middle of the request, 0.4 s before its
# end.
mkdir "$T/www/cgi-bin"
cat > "$T/www/cgi-bin/slow" << 'EOT'
#!/bin/sh
sleep 0.4
printf 'Content-Type: text/plain\r\n\r\n'
cat ../metrics
sleep 0.4
EOT
chmod +x "$T/www/cgi-bin/slow"
run jetwatt stat --json -o "$T/json" --per "step=http://127.0.0.1:8000/cgi-bin/slow#steps_total{rank=\"0\"}" \
	-p "$train" --for 5
# shellcheck disable=SC2046
set -- $(truth)
exits 0 && near "$(per total_j)" "$4" 0.005 && near "$(per units)" "$1" 0.05
result $? "a server that takes 0.8 s for a reply"

jetwatt stat --per "step=$url#steps_total" --per "other=$url#other_total" -p "$train" --for 5 \
	> "$T/out" 2> "$T/err"
status=$?
exits 0 && narrow && shows 'J   per step' 'ms  per step' 'steps_total' && says "other: no unit was counted"
result $? "two counters, as text within 80 columns; one does not count"

run jetwatt stat --per "step=$url#steps_total" --fail-if 'J/step > 0.0001 && step/s > 1 && ms/step < 1000 && W.step > 1 && step.count > 10' \
	-p "$train" --for 5
exits 1 && says "condition is true"
result $? "--fail-if knows the figures of the unit"

run jetwatt stat --per "step=$url#no_total" -p "$train" --for 3
exits 1 && form && says "no_total was never read" "has no no_total yet" && shows "minibatches" "elapsed"
result $? "a counter that is never there: an error, and the rest is printed"

# The server ends during the measurement, and the job continues.
( sleep 6; kill $httpd ) &
run jetwatt stat --per "step=$url#steps_total" -p "$train" --for 12
exits 1 && form && says "missing at the end" "Connection refused" && shows 'J   per step' "elapsed"
result $? "a counter that is missing at the end: an error, and its figures until then"
kill "$train"
wait $counting

# The measured command starts the server, which ends with the command.
rm "$T/www/metrics"
cat > "$T/serving" << 'EOT'
httpd -f -p 127.0.0.1:8000 -h "$1" &
train --minibatches 80 --progress 1 | while read -r word _; do
	[ "$word" = step ] || continue
	n=$((${n:-0} + 1))
	printf 'steps_total %s\n' $n > "$1/new"
	mv "$1/new" "$1/metrics"
done
kill $!
EOT
run jetwatt stat --json -o "$T/json" --per "step=$url#steps_total" -- sh "$T/serving" "$T/www"
# shellcheck disable=SC2046
set -- $(truth)
exits 0 && says "cannot read .* yet" "s before the end of the job" && [ "$(per units)" -ge 50 ] &&
	[ "$(per units)" -lt 80 ] && near "$(per energy_j)" "$2" 0.05
result $? "a server of the command: counts from 0 to its last reading"

# A counter that restarts: it rises from 20 to 100 in 2.5 s, then from 10 to 50. jetwatt's first
# reading is assumed to be at most 20, and its last one before the restart at least 60.
cat > "$T/restart" << 'EOT'
for i in 20 40 60 80 100; do echo $i > $1; sleep 0.5; done
for i in 10 20 30 40 50; do echo $i > $1; sleep 0.5; done
EOT
run jetwatt stat --json -o "$T/json" --per "unit=$T/restarted" -- sh "$T/restart" "$T/restarted"
exits 0 && says "the program has restarted" && [ "$(per resets)" = 1 ] && [ "$(per units)" -ge 90 ] &&
	[ "$(per units)" -le 150 ]
result $? "a count that falls counts as a restart of the program, and counting continues"

mkfifo "$T/fifo"
sh -c 'i=0; while [ $i -lt 80 ]; do i=$((i + 1)); echo $i; sleep 0.1; done' > "$T/fifo" &
writer=$!
run jetwatt stat --json -o "$T/json" --per unit=fd:3 -p $writer 3< "$T/fifo"
exits 0 && [ "$(per units)" -ge 30 ] && [ "$(per units)" -le 80 ] && awk -v ms="$(per time_ms)" 'BEGIN { exit !(100 <= ms && ms < 125) }'
result $? "a pipe to which the program writes its count"

run jetwatt stat -r 2 --json -o "$T/json" --per "unit=$T/restarted" -- sh "$T/restart" "$T/restarted"
exits 0 && [ "$(grep -c '"units":' "$T/json")" = 2 ] && grep -q '"J/unit"' "$T/json" && grep -q '"unit.count"' "$T/json"
result $? "-r: figures of each run, and their means"

run jetwatt stat --per "unit=$T/fifo" -- sleep 1
exits 1 && form && says "not a regular file" "use fd:N"
result $? "a pipe instead of a file is an error at once"

finish

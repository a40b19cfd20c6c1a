#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=4 icount timeout=600 files="build/arm64/tests/cmd/as_jetwatt:/bin/as_jetwatt" modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt"
# jetwattd with a policy that gives a server priority over training: both run in their own cgroups,
# and neither stays frozen, whichever process is killed.
. "${0%/*}/common.inc"
. "${0%/*}/daemon.inc"
plan 11

ifconfig lo up
cgroups=/sys/fs/cgroup
mkdir -p "$T/db" /run/jetwatt /run/jetwatt-knobs $cgroups/batch/one $cgroups/serve $cgroups/other
chown jetwatt "$T/db" /run/jetwatt
as=as_jetwatt
policy()
{
	printf 'budget = 30W\nmost = 5\ndb = %s\nturns = /batch /serve %s\n' "$T/db/profiles.db" "$1" > "$T/conf"
}

# inside CGROUP COMMAND...: run COMMAND in CGROUP in the background, as $job
inside()
{
	setsid sh -c 'echo $$ > "/sys/fs/cgroup/$0/cgroup.procs"; exec "$@"' "$@" > /dev/null 2>&1 &
	job=$!
}

knobs_start()
{
	as_jetwatt -root jetwatt-knobs --conf "$T/conf" 2>> "$T/knobs.log" &
	knobs=$!
	within 20 [ -S /run/jetwatt-knobs/socket ]
}

# guards: print the PIDs of the guard processes of jetwattd (user jetwatt), without that of
# jetwatt-knobs
guards() { for g in $(pidof jetwatt-guard); do grep -lq "^Uid:.990" /proc/$g/status && echo $g; done; }

frozen() { grep -q "frozen 1" "$cgroups/$1/cgroup.events"; }
# Stop jetwattd while it has frozen the training.
stop_holding()
{
	for i in $(seq 100); do
		kill -STOP $daemon
		frozen batch && return 0
		kill -CONT $daemon
		usleep "$(awk -v s="$i" 'BEGIN { srand(s); print int(rand() * 200000) }')"
	done
	return 1
}

# moves PID: does the training make progress, measured by its CPU time?
spent() { awk '{ print $14 + $15 }' "/proc/$1/stat"; }
moved() { [ "$(spent "$1")" -gt "$2" ]; }
moves() { within 10 moved "$1" "$(spent "$1")"; }
turning() { jetwatt daemon status > "$T/plan"; grep -q "^turns  *[0-9.]* minibatches, then" "$T/plan"; }
# started N: time slicing was started N times
started() { [ "$(grep -c "time slicing started" "$T/log")" = "$1" ]; }
is() { [ "$(status_of "$1")" = "$2" ]; }
# late MS: print the number of requests in $T/answers without an answer within MS
late() { awk -v most="$1" '$2 < 0 || $2 > most * 1000 { late++ } END { print late + 0 }' "$T/answers"; }

policy 150ms
knobs > "$T/before"
knobs_start
inside serve serve --batch 64 --base 60 --each 40
server=$job
start && sleep 3
ask --rate 20000 --requests 20 > "$T/answers"
is doing idle && is jobs 0
result $? "a server without training is not controlled"

begun=$(now_ns)
inside batch/one train --size 300
train=$job
ask --rate 20000 --requests 800 > "$T/answers" &
asks=$!
within 20 is pid "$train" && within 30 turning
result $? "training starts: it is time-sliced, by a plan"
doing holding 90 && over=$(breach "$begun" 30) && echo "# over 30 W for $over s" && at_most "$over" 1
result $? "a mode for both is found, within the budget"
wait $asks
n=$(late 150) all=$(wc -l < "$T/answers")
echo "# $n of $all requests late: some modes are too slow for it"
[ "$all" = 800 ] && [ $((10 * n)) -le "$all" ]
result $? "the server responds while modes are learned"
doing holding 60
ask --rate 20000 --requests 200 > "$T/answers" &
asks=$!
# A plan exists while there are requests.
within 30 turning
shown=$?
sed 's/^/# /' "$T/plan"
result $shown "status shows the plan of the time slices"
wait $asks
n=$(late 150)
echo "# $n of $(wc -l < "$T/answers") requests late"
[ "$n" -le 2 ] && [ "$(wc -l < "$T/answers")" = 200 ]
result $? "in the chosen mode, 99 % of the requests are answered in time"

ask --rate 20000 --requests 100000 > "$T/answers" &
asks=$!
bad=0
held=0
for i in 1 2 3; do
	stop_holding || bad=1
	# Kill jetwattd and its guard processes at once, so that neither thaws the training.
	kill -STOP $knobs
	kill -KILL $(guards) $daemon
	wait $daemon
	frozen batch && held=$((held + 1))
	kill -CONT $knobs
	moves $train && ! frozen serve || bad=1
	start && within 30 is in_time true || bad=1
done
[ $bad = 0 ] && [ $held -gt 0 ]
result $? "SIGKILL of jetwattd and its guardian process: jetwatt-knobs thaws the training (frozen: $held times of 3)"

# Kill the guard processes first, so that they do not see the other processes end.
kill -STOP $(pidof jetwatt-guard)
kill -KILL $knobs $(pidof jetwatt-guard) $daemon
kill $asks
wait $knobs
wait $daemon
echo 1 > $cgroups/batch/cgroup.freeze
as_jetwatt -root jetwatt-knobs --restore
moves $train && as_before "$T/before"
result $? "SIGKILL of jetwatt-knobs as well: jetwatt-knobs --restore, as in its unit"

knobs_start
start && within 30 started 1
kill $server
wait $server
within 10 grep -q "time slicing stopped: training or the server has ended" "$T/log" && moves $train
result $? "the server ends: training continues alone"

inside serve serve
server=$job
within 30 started 2 && jetwatt daemon pause &&
	within 10 grep -q "time slicing stopped: paused" "$T/log" && moves $train &&
	jetwatt daemon resume && within 30 started 3
result $? "time slicing starts again with a new server, and after a pause"

sed -i 's,/batch,/other,' "$T/conf"
kill -HUP $daemon
within 20 grep -q "the policy has changed\|policy reloaded" "$T/log" && moves $train &&
	end && exits 0 && as_before "$T/before" && moves $train
result $? "a new policy takes effect at once; at the end knobs are restored and nothing is frozen"
kill $train $server $knobs
finish

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=4 icount timeout=600 files="build/arm64/tests/cmd/as_jetwatt:/bin/as_jetwatt" modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt"
# jetwattd where training gives way to a server, as its policy says: both as they come, in
# cgroups of their own; nobody stays held, whoever dies.
. "${0%/*}/common.inc"
. "${0%/*}/daemon.inc"
plan 10

ifconfig lo up
cgroups=/sys/fs/cgroup
mkdir -p "$T/db" /run/jetwatt /run/jetwatt-knobs $cgroups/batch/one $cgroups/serve $cgroups/other
chown jetwatt "$T/db" /run/jetwatt
as=as_jetwatt
policy()
{
	printf 'budget = 30W\nmost = 5\ndb = %s\nturns = /batch /serve %s\n' "$T/db/profiles.db" "$1" > "$T/conf"
}

# inside CGROUP COMMAND...: in the background, as $job
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

# jetwattd's own, of jobs; the other one is jetwatt-knobs'.
guards() { for g in $(pidof jetwatt-guard); do grep -lq "^Uid:.990" /proc/$g/status && echo $g; done; }

frozen() { grep -q "frozen 1" "$cgroups/$1/cgroup.events"; }
# Stops jetwattd at a moment at which it holds training.
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

# Does it get on? By its CPU time.
spent() { awk '{ print $14 + $15 }' "/proc/$1/stat"; }
moved() { [ "$(spent "$1")" -gt "$2" ]; }
moves() { within 10 moved "$1" "$(spent "$1")"; }
turning() { jetwatt daemon status > "$T/plan"; grep -q "^turns  *[0-9.]* minibatches, then" "$T/plan"; }
is() { [ "$(told "$1")" = "$2" ]; }
# requests MS: how many of those in $T/answers took longer
late() { awk -v most="$1" '$2 < 0 || $2 > most * 1000 { late++ } END { print late + 0 }' "$T/answers"; }

policy 150ms
knobs > "$T/before"
knobs_start
inside serve serve --batch 64 --base 60 --each 40
server=$job
start && sleep 3
ask --rate 20000 --requests 20 > "$T/answers"
is doing idle && is jobs 0
result $? "a server alone is no job of ours"

begun=$(now_ns)
inside batch/one train --size 300
train=$job
ask --rate 20000 --requests 800 > "$T/answers" &
asks=$!
within 20 is pid "$train" && within 30 turning
result $? "training begins: it gives way, by a plan"
doing holding 90 && over=$(breach "$begun" 30) && echo "# over 30 W for $over s" && at_most "$over" 1
result $? "a mode is found for both, within the budget"
wait $asks
n=$(late 150) all=$(wc -l < "$T/answers")
echo "# $n of $all requests late: some modes are too slow for it"
[ "$all" = 800 ] && [ $((10 * n)) -le "$all" ]
result $? "the server answers while modes are learned"
doing holding 60
ask --rate 20000 --requests 200 > "$T/answers" &
asks=$!
# There is a plan as long as there are requests.
within 30 turning
shown=$?
sed 's/^/# /' "$T/plan"
result $shown "status says how they take turns"
wait $asks
n=$(late 150)
echo "# $n of $(wc -l < "$T/answers") requests late"
[ "$n" -le 2 ] && [ "$(wc -l < "$T/answers")" = 200 ]
result $? "in the mode that was found 99 of 100 are answered in time"

ask --rate 20000 --requests 100000 > "$T/answers" &
asks=$!
bad=0
held=0
for i in 1 2 3; do
	stop_holding || bad=1
	# Both at once, so that neither lets go, and nobody else does for now.
	kill -STOP $knobs
	kill -KILL $(guards) $daemon
	wait $daemon
	frozen batch && held=$((held + 1))
	kill -CONT $knobs
	moves $train && ! frozen serve || bad=1
	start && within 30 is in_time true || bad=1
done
[ $bad = 0 ] && [ $held -gt 0 ]
result $? "SIGKILL of jetwattd and of its guard: jetwatt-knobs lets go of whom they held ($held times of 3)"

# Guards first, so that none sees the others go.
kill -STOP $(pidof jetwatt-guard)
kill -KILL $knobs $(pidof jetwatt-guard) $daemon
kill $asks
wait $knobs
wait $daemon
echo 1 > $cgroups/batch/cgroup.freeze
as_jetwatt -root jetwatt-knobs --restore
moves $train && as_before "$T/before"
result $? "SIGKILL of jetwatt-knobs as well: jetwatt-knobs --restore, as its unit has it"

knobs_start
start && within 30 grep -q "time slicing started" "$T/log"
kill $server
wait $server
within 10 grep -q "time slicing stopped: training or the server has ended" "$T/log" && moves $train
result $? "the server ends: training goes on alone"

sed -i 's,/batch,/other,' "$T/conf"
inside serve serve
server=$job
kill -HUP $daemon
within 20 grep -q "the policy has changed\|policy reloaded" "$T/log" && moves $train &&
	end && exits 0 && as_before "$T/before" && moves $train
result $? "another policy holds at once; at the end the board is as it was, and nobody is held"
kill $train $server $knobs
finish

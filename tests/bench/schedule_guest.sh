#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What schedule.sh measures, in the guest: the same programs and the same requests,
# by turns and side by side; then jetwatt killed at random moments.
#
#   schedule_guest.sh REQUESTS MILLIHERTZ LATENCY_MS KILLS
ifconfig lo up
requests=$1 rate=$2 latency=$3 kills=$4
train="exec train --size 100 --progress 1"
serve="exec serve --batch 1 --base 0 --each 100"

# Wait until a file has more than N lines: the job gets on. A minute is as good as for ever.
lines()
{
	for i in $(seq 600); do
		[ "$(wc -l < "$1")" -le "$2" ] || return 0
		sleep 0.1
	done
	return 1
}

now()
{
	awk '{ print $1 }' /proc/uptime
}

# steps FILE COMMAND...: minibatches of training a second while the command runs
steps()
{
	file=$1
	shift
	n0=$(wc -l < "$file") t0=$(now)
	"$@"
	awk -v n="$(($(wc -l < "$file") - n0))" -v t0="$t0" -v t1="$(now)" 'BEGIN { print n / (t1 - t0) }'
}

ask_to()
{
	ask --rate "$rate" --requests "$requests" --seed 7 > "$1"
}

cat > /tmp/conf << X
train = $train > /tmp/steps
infer = $serve
latency = ${latency}ms
X

sh -c "$train" > /tmp/steps &
lines /tmp/steps 60
steps /tmp/steps sleep 5 > /out/alone.hz
sh -c "$serve" &
steps /tmp/steps ask_to /out/together > /out/together.hz
kill $(pidof train serve)
wait

: > /tmp/steps
jetwatt schedule -c /tmp/conf --json -o /out/schedule.json &
schedule=$!
lines /tmp/steps 60
steps /tmp/steps ask_to /out/by_turns > /out/by_turns.hz
kill $schedule
wait $schedule || exit 1

done=0 bad=0
while [ $done -lt "$kills" ]; do
	: > /tmp/steps
	jetwatt schedule -c /tmp/conf > /dev/null 2>&1 &
	schedule=$!
	lines /tmp/steps 2 || bad=$((bad + 1))
	usleep "$(awk -v s="$done" 'BEGIN { srand(s); print int(rand() * 1000000) }')"
	kill -KILL $schedule
	wait $schedule 2> /dev/null
	lines /tmp/steps "$(($(wc -l < /tmp/steps) + 3))" || bad=$((bad + 1))
	kill -KILL $(pidof train serve)
	while pidof train serve > /dev/null; do sleep 0.1; done
	done=$((done + 1))
	echo "$done $bad" > /out/kills
done
exit $bad

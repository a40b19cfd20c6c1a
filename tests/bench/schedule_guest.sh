#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Runs in the guest for schedule.sh: the same programs and requests by turns, side by side, and the
# server alone; or kills jetwatt schedule at random times.
#
#   schedule_guest.sh load REQUESTS MILLIHERTZ LATENCY_MS TRAIN-SIZE BATCH BASE EACH
#   schedule_guest.sh kills N freezer|signals SEED
ifconfig lo up

# lines FILE N: wait until the file has more than N lines, that is until the job makes progress;
# give up after a minute
lines()
{
	for i in $(seq 3000); do
		[ "$(wc -l < "$1")" -le "$2" ] || return 0
		usleep 20000
	done
	return 1
}

now()
{
	awk '{ print $1 }' /proc/uptime
}

# steps FILE COMMAND...: print the training minibatches per second while the command runs
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

# conf LATENCY_MS: write the configuration
conf()
{
	cat > /tmp/conf << X
train = $train > /tmp/steps
infer = $serve
latency = ${1}ms
X
}

load()
{
	requests=$1 rate=$2
	train="exec train --size $4 --progress 1" serve="exec serve --batch $5 --base $6 --each $7"
	conf "$3"

	sh -c "$serve" &
	while ! pidof serve > /dev/null; do usleep 20000; done
	ask_to /out/alone
	sh -c "$train" > /tmp/steps &
	lines /tmp/steps 60
	steps /tmp/steps sleep 5 > /out/alone.hz
	steps /tmp/steps ask_to /out/together > /out/together.hz
	kill $(pidof train serve)
	wait

	: > /tmp/steps
	jetwatt schedule -c /tmp/conf --json -o /out/schedule.json &
	schedule=$!
	lines /tmp/steps 60
	steps /tmp/steps ask_to /out/by_turns > /out/by_turns.hz
	kill $schedule
	wait $schedule
}

# Is training frozen or stopped?
held()
{
	case $how in
	freezer) grep -q "frozen 1" "/sys/fs/cgroup$(sed 's/^0:://' "/proc/$1/cgroup")/cgroup.events" ;;
	signals) grep -q "^State:	T" "/proc/$1/status" ;;
	esac 2> /dev/null
}

# Kill jetwatt at random times under load: a job that is frozen at that time must continue.
kills()
{
	how=$2 train="exec train --size 30 --progress 1" serve="exec serve --batch 64" done=0 bad=0 still=0
	conf 100
	if [ "$how" = signals ]; then
		umount /sys/fs/cgroup
		echo "arrival = 60Hz" >> /tmp/conf
	fi
	ask --rate 60000 --requests 1000000 > /dev/null 2>&1 &
	awk -v n="$1" -v s="$3" 'BEGIN { srand(s); for (i = 0; i < n; i++) print int(rand() * 600000) }' > /tmp/moments
	while read -r moment; do
		: > /tmp/steps
		jetwatt schedule -c /tmp/conf > /dev/null 2>&1 &
		schedule=$!
		# Training takes this long to start. Polling for its start would cost as much CPU
		# time as the start.
		usleep 1500000
		lines /tmp/steps 2 || bad=$((bad + 1))
		job=$(pidof train)
		usleep "$moment"
		held "$job" && still=$((still + 1))
		kill -KILL $schedule || bad=$((bad + 1))
		wait $schedule 2> /dev/null
		lines /tmp/steps "$(($(wc -l < /tmp/steps) + 3))" || bad=$((bad + 1))
		kill -KILL $(pidof train serve)
		while pidof train serve > /dev/null; do usleep 10000; done
		done=$((done + 1))
		echo "$done $still $bad" > /out/kills
	done < /tmp/moments
	kill -KILL $(pidof ask)
	return $bad
}

"$@"

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A day for jetwattd: the events of /day, one a line, on a board that it knows nothing of.
#   sleep S | budget W | start SIZE | stop | turn | back
# /out/events says when each happened; what the plant knows is copied there at the end.
truth=/sys/kernel/debug/jetwatt-sim/truth
gpu=$(ls -d /sys/class/devfreq/*gpu* | head -n 1)

now() { sed -n 's/^t_ns //p' $truth/now; }
event() { echo "$(now) $*" >> /out/events; }
cpu() { awk '{ print $14 + $15 }' /proc/$daemon/stat; }
fds() { ls /proc/$daemon/fd | wc -l; }
rss() { awk '/^VmRSS/ { print $2 }' /proc/$daemon/status; }

mkdir -p /etc/jetwatt
cp /policy /etc/jetwatt/jetwattd.conf
jetwattd -v > /out/jetwattd.log 2>&1 &
daemon=$!
while ! jetwatt daemon status > /dev/null 2>&1; do sleep 0.1; done
event ready
echo "begin $(now) $(cpu) $(fds) $(rss)" > /out/daemon
job=
while read -r what value; do
	case $what in
	sleep) sleep "$value"; continue;;
	budget) jetwatt daemon budget "$value"W;;
	start)
		train --size "$value" > /dev/null 2>&1 &
		job=$!;;
	stop)
		kill "$job"
		wait "$job";;
	turn)
		was=$(cat "$gpu/max_freq")
		low=$(tr ' ' '\n' < "$gpu/available_frequencies" | sort -n | sed -n 4p)
		echo "$low" > "$gpu/min_freq"
		echo "$low" > "$gpu/max_freq";;
	back)
		echo "$was" > "$gpu/max_freq"
		echo "$was" > "$gpu/min_freq";;
	esac
	event "$what" "$value" "$job"
	jetwatt daemon --json | tr -d '\n' | sed 's/  */ /g' >> /out/status
	echo >> /out/status
done < /day
echo "end $(now) $(cpu) $(fds) $(rss)" >> /out/daemon
kill $daemon
wait $daemon
event done $?
for f in modes energy minibatches; do cp $truth/$f /out/$f.csv; done

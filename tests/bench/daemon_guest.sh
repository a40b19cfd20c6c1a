#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Runs jetwattd and the events of /day, one per line, on a simulated board with an empty profile
# database.
#   sleep S | budget W | start SIZE [THEN AFTER] | stop | turn | back | heat | cool | cgroup NAME
# Writes the time of each event but sleep to /out/events; copies the true values of the simulated
# board to /out at the end.
truth=/sys/kernel/debug/jetwatt-sim/truth
gpu=$(ls -d /sys/class/devfreq/*gpu* | head -n 1)

now() { sed -n 's/^t_ns //p' $truth/now; }
event() { echo "$(now) $*" >> /out/events; }
air=/sys/module/jetwatt_sim/parameters/ambient_mc
drawn_mw() { jetwatt daemon --json | awk '/"power_w"/ { printf "%d", 1000 * $2; exit }'; }
cpu() { awk '{ print $14 + $15 }' /proc/$daemon/stat; }
measured() { jetwatt daemon metrics | awk '$1 == "jetwatt_modes_measured_total" { print $2 }'; }
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
while read -r what value then after; do
	case $what in
	sleep) sleep "$value"; continue;;
	budget) jetwatt daemon budget "$value"W;;
	start)
		train --size "$value" ${then:+--then "$then" --after "$after"} > /dev/null 2>&1 &
		job=$!;;
	stop)
		event measured "$(measured)"
		kill "$job"
		wait "$job";;
	# Event cgroup: later jobs start in the new cgroup, so that the database has them as other
	# workloads.
	cgroup)
		mkdir -p "/sys/fs/cgroup/$value"
		echo $$ > "/sys/fs/cgroup/$value/cgroup.procs";;
	turn)
		was=$(cat "$gpu/max_freq")
		low=$(tr ' ' '\n' < "$gpu/available_frequencies" | sort -n |
			awk '{ f[NR] = $1 } END { print f[int((NR + 3) / 4)] }')
		echo "$low" > "$gpu/min_freq"
		echo "$low" > "$gpu/max_freq";;
	back)
		echo "$was" > "$gpu/max_freq"
		echo "$was" > "$gpu/min_freq";;
	# Make the air so warm that the board, at its present power, exceeds the throttling
	# temperature.
	heat) echo $((102000 - $(drawn_mw) * 9 / 10)) > $air;;
	cool) echo 32000 > $air;;
	esac
	# shellcheck disable=SC2086
	event $what $value $then $after $job
	jetwatt daemon --json | tr -d '\n' | sed 's/  */ /g' >> /out/status
	echo >> /out/status
done < /day
echo "end $(now) $(cpu) $(fds) $(rss)" >> /out/daemon
kill $daemon
wait $daemon
event done $?
for f in modes energy minibatches; do cp $truth/$f /out/$f.csv; done

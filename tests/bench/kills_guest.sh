#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# kills_guest.sh kill ROUNDS SEED | cut SEED
#
# kill: repeatedly kill jetwattd, its guardian process (which restores the knobs), or both, at
# times drawn from the seed, while one job runs. cut: start jetwattd once, and cut the power
# instead; the state of jetwatt is on a disk, whose modules are in /modules. "kill" prints a line
# for each round:
#   round WHO DOING ROWS_BEFORE ROWS_AFTER KNOBS JOB DATABASE REFUSED HEAT MODE
# "cut" prints "opened ROWS" (or "opened not"), then "cut DOING ROWS REFUSED HEAT MODE".
# KNOBS: before: the values from before the first start; mode: other values, which jetwatt restore
# resets; left: other values, which jetwatt restore does not reset. JOB: on (it continues) or stuck.
# DATABASE: opens, or not. In a third of the rounds a knob refuses its next values, from some time
# before the kill (REFUSED: KNOB:live) or from the kill on (KNOB:kill; then the guardian's writes
# are refused); in a third the board is hot, so that the kernel lowers the GPU's limit, when
# jetwattd starts (HEAT: hot:start) or later (hot:live). MODE: if the job was held at the kill,
# whether the mode that the knobs had draws at most 2 % more than the budget in the plant (safe or
# unsafe); else -.
. /common.inc
state=/var/lib/jetwatt
what=$1
shift
[ "$what" = cut ] && rounds=1 || { rounds=$1; shift; }
seed=$1

# number MOST: set $drawn to the next random number below MOST
number()
{
	seed=$(((seed * 1103515245 + 12345) % 2147483648))
	drawn=$((seed / 65536 % $1))
}

rows() { jetwatt export --format profile 2> /dev/null | wc -l; }
opens() { jetwatt list profiles > /dev/null 2> "$T/err" || grep -q "nothing has been measured" "$T/err"; }
child() { awk -v daemon=$daemon '$4 == daemon { print $1 }' /proc/[0-9]*/stat 2> /dev/null | head -n 1; }
done_by_plant() { tail -n 1 $TRUTH/minibatches | cut -d, -f1; }
doing() { jetwatt daemon status 2> /dev/null | sed -n '1s/ .*//p'; }

# Does the job make progress within two seconds?
goes_on()
{
	was=$(done_by_plant)
	for i in 1 2 3 4 5 6 7 8 9 10; do
		sleep 0.2
		[ "$(done_by_plant)" != "$was" ] && return 0
	done
	return 1
}

settled()
{
	for i in $(seq "$1"); do
		knobs > "$T/now"
		cmp -s /knobs "$T/now" && [ ! -e $state/saved ] && return 0
		sleep 0.2
	done
	return 1
}

# refuse WHEN: if the round has drawn a refusing knob for this moment, let it refuse its next values
refuse()
{
	[ "${refused#*:}" != "$1" ] || echo "$refusals" > "$FAULT/${refused%:*}"
}

# Draw whether a knob refuses values in this round, when and how often, and whether the board is hot.
draw_faults()
{
	refused=- hot=-
	number 15
	case $drawn in
	0) refused=fail_emc;; 1) refused=lie_emc;; 2) refused=fail_devfreq;; 3) refused=fail_cpufreq;;
	4) refused=fail_hotplug;;
	esac
	number 4
	refusals=$((drawn + 1))
	number 2
	[ "$refused" = - ] || case $drawn in 0) refused=$refused:live;; 1) refused=$refused:kill;; esac
	number 6
	case $drawn in 0) hot=hot:start;; 1) hot=hot:live;; esac
}

# heat WHEN: if the round has drawn heat for this moment, let the board's temperature sensors report
# 99.5 degrees Celsius
heat()
{
	[ "${hot#*:}" != "$1" ] || echo 99500 > "$heat"
}

# in_plant: print "safe" if the present mode draws at most 2 % more than the budget in the plant, else
# "unsafe". A mode that jetwattd is leaving may be read as a mixture of two, so try again.
in_plant()
{
	for i in 1 2 3 4 5; do
		now=$(jetwatt list knobs 2> /dev/null | sed -n 's/^now  *//p' | tr -d cge | tr - ,)
		w=$(awk -F, -v mode="$now" -v budget=$budget 'index($0, mode ",") == 1 {
			print $6 <= budget * 1.02 ? "safe" : "unsafe" }' $TRUTH/modes)
		[ "$w" != safe ] || break
		sleep 0.2
	done
	echo "${w:-unsafe}"
}

if [ "$what" = cut ]; then
	for m in virtio_blk crc16 crc32c_generic mbcache jbd2 ext4; do
		insmod /modules/$m.ko || exit 1
	done
	mkdir -p $state
	mount -t ext4 /dev/vda $state || exit 1
	opens && echo "opened $(rows)" || echo "opened not"
fi
mkdir -p /etc/jetwatt
budget=30
echo "budget = ${budget}W" > /etc/jetwatt/jetwattd.conf
knobs > /knobs
train > /dev/null 2>&1 &
while [ "$(done_by_plant)" -lt 5 ] 2> /dev/null; do sleep 0.1; done

for round in $(seq "$rounds"); do
	# Remove the profiles: jetwattd switches modes most often while it learns an unknown job.
	[ "$what" = cut ] || [ $((round % 10)) != 1 ] || rm -f $state/profiles/profiles.db*
	jetwattd > "$T/log" 2>&1 &
	daemon=$!
	draw_faults
	heat start
	number 900
	sleep "$((drawn / 100)).$((drawn % 100 / 10))$((drawn % 10))"
	[ "$what" = kill ] || sleep 4
	refuse live
	heat live
	number 20
	sleep "$((drawn / 10)).$((drawn % 10))"
	is=$(doing)
	safe=-
	[ "$is" != holding ] || safe=$(in_plant)
	before=$(rows)
	if [ "$what" = cut ]; then
		refuse kill
		echo "cut ${is:-starting} $before $refused $hot $safe"
		sleep 0.1
		echo b > /proc/sysrq-trigger
		sleep 60
	fi
	guardian=$(child)
	refuse kill
	number 10
	case $drawn in
	[0-6]) who=daemon; kill -KILL $daemon;;
	[78]) who=guardian; kill -KILL ${guardian:-$daemon};;
	9) who=both; kill -KILL $guardian $daemon;;
	esac
	wait $daemon 2> /dev/null
	echo 0 > $heat
	for i in $(seq 100); do cold && break; sleep 0.2; done
	if settled 10; then
		is_now=before
	else
		# The guardian process was killed too: check that the saved state can still be restored.
		jetwatt restore > /dev/null 2>&1
		settled 5 && is_now=mode || is_now=left
	fi
	for f in fail_emc lie_emc fail_devfreq fail_cpufreq fail_hotplug; do echo 0 > $FAULT/$f; done
	goes_on && job=on || job=stuck
	opens && db=opens || db=not
	echo "round $who ${is:-starting} $before $(rows) $is_now $job $db $refused $hot $safe"
done

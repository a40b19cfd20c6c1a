#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=4 icount timeout=300 files="build/arm64/tests/cmd/as_jetwatt:/bin/as_jetwatt" modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt"
# jetwattd and jetwatt-knobs as their units run them: a user with few capabilities, and
# root without any. What jetwattd makes of a job is for daemon.sh; here, who may do what,
# and what is left of the board whoever dies.
. "${0%/*}/common.inc"
. "${0%/*}/daemon.inc"
plan 10

as=as_jetwatt
knobs=
mkdir -p "$T/db" /run/jetwatt /run/jetwatt-knobs /run/jetwatt-files
chown jetwatt "$T/db" /run/jetwatt
chown 991:990 /run/jetwatt-files
as_jetwatt -files jetwatt-files 2>> "$T/files.log" &
files=$!
within 20 [ -S /run/jetwatt-files/socket ]
# Few modes to measure: how good the one is that it finds is not asked here.
printf 'budget = 30W\nmost = 3\ndb = %s\n' "$T/db/profiles.db" > "$T/conf"

applied() { [ -e /var/lib/jetwatt/saved ]; }

knobs_start()
{
	as_jetwatt -root jetwatt-knobs 2>> "$T/knobs.log" &
	knobs=$!
	within 20 [ -S /run/jetwatt-knobs/socket ]
}

knobs > "$T/before"
run as_jetwatt jetwattd --conf "$T/conf"
exits 1 && form && says "cannot reach jetwatt-knobs" "systemctl start jetwatt-knobs"
result $? "nobody to write knobs: said"

knobs_start
run as_jetwatt -CAP_NET_ADMIN jetwattd --conf "$T/conf"
exits 4 && form
result $? "without the capability for the samples: 4, and why"

train > /dev/null 2>&1 &
train=$!
as="as_jetwatt -CAP_BPF"
start && doing holding 60 && end && exits 0
result $? "without the one for BPF the module tells who waits"
as=as_jetwatt

start && doing holding 60 && applied
result $? "a user without the right to write knobs holds a job in a mode"

run su nobody -s /bin/sh -c "jetwatt daemon status"
exits 4
result $? "who is in no group may not even ask"

run jetwatt doctor
shows "daemon *jetwattd is running: " "helper *jetwatt-knobs is running, a mode is applied"
result $? "doctor sees both"

kill -KILL $daemon
wait $daemon
within 10 as_before "$T/before" && kill -0 $knobs
result $? "SIGKILL of jetwattd: jetwatt-knobs brings the board back"

start && within 60 applied
kill -KILL $knobs
wait $daemon
status=$?
cp "$T/log" "$T/err"
exits 1 && says "has ended: jetwatt-knobs" && within 10 as_before "$T/before"
result $? "SIGKILL of jetwatt-knobs: its guardian does, and jetwattd says so"

knobs_start
jetwatt optimize --power 25W -p $train --most 10 --db none > "$T/out" 2>&1 &
other=$!
within 30 applied && start && doing yielding 30 && grep -q "process $other holds the lease" "$T/log"
yields=$?
kill -INT $other
wait $other
[ $yields = 0 ] && doing holding 60 && applied
result $? "another jetwatt holds the lease: it yields, and goes on behind it"

end
exits 0 && within 10 as_before "$T/before"
result $? "SIGTERM: 0, the board is as it was"
kill $train $knobs $files
wait $files
rm -r /run/jetwatt-files

finish

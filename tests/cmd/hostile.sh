#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=4 icount timeout=300 files="build/arm64/tests/cmd/as_jetwatt:/bin/as_jetwatt" modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt"
# jetwattd on a system with faults: invalid policies, a full disk, a clock that jumps, directories
# that are not writable. Whatever the fault, jetwattd must continue or end with a reason, and while
# it runs it must keep a lowered budget. Hostile clients are tested in unit/daemon_control and host/knobs.
. "${0%/*}/common.inc"
. "${0%/*}/daemon.inc"
plan 10

policy() { printf "budget = 30W\nmost = 30\ndb = %s\n$1" "$T/db/profiles.db"; }

# guards: set a budget of 15 W. From 2 s to 5 s later, is the mean power over one second above 15 W
# for at most 1 s?
guards()
{
	jetwatt daemon budget 15W > "$T/out" 2> "$T/err" || return 1
	sleep 2
	begun=$(now_ns)
	sleep 3
	over=$(breach "$begun" 15)
	echo "# over 15 W for $over s, $(status_of doing)"
	jetwatt daemon budget policy > "$T/out" 2> "$T/err" && at_most "$over" 1
}

# since TEXT: has TEXT been logged since $from?
since() { tail -c "+$from" "$T/log" | grep -q "$1"; }

# refuses TEXT: does SIGHUP keep the old policy, and does the log have TEXT?
refuses()
{
	from=$(($(wc -c < "$T/log") + 1))
	kill -HUP $daemon
	within 20 since "policy not reloaded" && since "$1" && [ "$(status_of budget_w)" = 30 ]
}

# Mount /etc read-only.
mount --bind /etc /etc
mount -o remount,bind,ro /etc
ro=1
touch /etc/jetwatt-test 2> /dev/null && ro=0
# Mount a file system that is small enough to be filled quickly.
mkdir -p "$T/db"
mount -t tmpfs -o size=1m,mode=755 none "$T/db"
policy > "$T/conf"
knobs > "$T/before"
train > /dev/null 2>&1 &
train=$!
start && doing holding 100 && guards && [ $ro = 1 ]
result $? "read-only /etc: jetwattd holds a mode"

head -c 3000000 /dev/zero | tr '\0' '#' > "$T/conf"
refuses "too long"
result $? "a policy of 3 MB is refused"
head -c 20000 /dev/urandom > "$T/conf"
refuses "cannot use"
result $? "a policy of random bytes is refused"
rm "$T/conf"
mkdir "$T/conf"
refuses "Is a directory"
result $? "a policy that is a directory is refused"
rmdir "$T/conf"
policy "cgroup = /';DROP TABLE row;-- 25W\n" > "$T/conf"
kill -HUP $daemon
within 20 grep -q "policy reloaded" "$T/log" && [ "$(status_of budget_w)" = 30 ] && guards
result $? "SQL in a cgroup of the policy has no effect"

# Set the wall clock back and forth, which must not affect measurements.
today=$(date +%s)
bad=0
for to in $((today + 31536000)) 3600 "$today"; do
	date -s "@$to" > /dev/null
	guards || bad=1
done
[ $bad = 0 ] && doing holding 60
result $? "the wall clock jumps a year ahead, to 1970 and back: no effect"

# Fill the disk, so that no more rows can be stored. Then start another workload, which must be measured.
head -c 2000000 /dev/zero > "$T/db/full" 2> /dev/null
kill $train
wait $train
train --seconds 3000 > /dev/null 2>&1 &
train=$!
within 100 grep -q "no space left" "$T/log"
said=$?
doing holding 100 && kill -0 $daemon && guards
held=$?
cp "$T/log" "$T/err"
[ $held = 0 ] && [ $said = 0 ]
result $? "a full disk is logged, and jetwattd continues"
rm "$T/db/full"
run jetwatt list profiles --db "$T/db/profiles.db"
exits 0
result $? "and the database is intact"
kill $train
wait $train
end
exits 0 && as_before "$T/before"
result $? "SIGTERM: status 0, knobs restored"

# jetwattd must not change a knob if it cannot save the knob's value first.
mount -t tmpfs -o ro none /var/lib/jetwatt
train > /dev/null 2>&1 &
train=$!
jetwattd --conf "$T/conf" > "$T/log" 2>&1 &
daemon=$!
for i in $(seq 50); do kill -0 $daemon 2> /dev/null || break; sleep 0.2; done
as_before "$T/before"
same=$?
kill $daemon 2> /dev/null
wait $daemon
cp "$T/log" "$T/err"
[ $same = 0 ] && form && says "Read-only"
result $? "state that cannot be saved: no knob is changed, with the reason"
umount /var/lib/jetwatt
kill $train
umount "$T/db"
finish

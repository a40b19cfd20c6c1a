#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=4 icount timeout=300 files="build/arm64/tests/cmd/as_jetwatt:/bin/as_jetwatt" modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt"
# jetwattd and jetwatt-knobs as their units run them: a user with few capabilities, and root without
# any. daemon.sh tests how a job is optimised; this test checks rights, and the state of the board
# after a process was killed.
. "${0%/*}/common.inc"
. "${0%/*}/daemon.inc"
plan 11

as=as_jetwatt
knobs=
mkdir -p "$T/db" /run/jetwatt /run/jetwatt-knobs /run/jetwatt-files
chown jetwatt "$T/db" /run/jetwatt
chown 991:990 /run/jetwatt-files
as_jetwatt -files jetwatt-files 2>> "$T/files.log" &
files=$!
within 20 [ -S /run/jetwatt-files/socket ]
# Let jetwattd measure few modes only, because this test does not check the quality of the chosen
# mode.
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
result $? "without jetwatt-knobs: the error says so"

knobs_start
run as_jetwatt -CAP_NET_ADMIN jetwattd --conf "$T/conf"
exits 4 && form
result $? "without the capability for samples: status 4, with the reason"

train > /dev/null 2>&1 &
train=$!
as="as_jetwatt -CAP_BPF"
start && doing holding 60 && end && exits 0
result $? "without CAP_BPF, the module reports the waits"
as=as_jetwatt

start && doing holding 60 && applied
result $? "without the right to write knobs, jetwattd holds a job in a mode"

# A kernel without BPF links of the kind uprobe_multi may require CAP_SYS_ADMIN for uprobes.
unseen=$(status_of unseen)
echo "# unseen: $unseen"
case $unseen in
null)	! grep -q "spin inside libcuda" "$T/log" ;;
*CAP_SYS_ADMIN*)
	! grep -q ' bpf_uprobe_multi_link_attach' /proc/kallsyms &&
		[ "$(grep -A 2 "cannot see jobs that spin inside libcuda" "$T/log" | grep -cE '^  (why: .*CAP_SYS_ADMIN|fix: .*jetwattd)')" = 2 ] &&
		run jetwatt doctor && shows "daemon *jetwattd does not see jobs that spin" ;;
*)	false ;;
esac
result $? "if uprobes need CAP_SYS_ADMIN, jetwattd and doctor say that jobs may not be seen"

run su nobody -s /bin/sh -c "jetwatt daemon status"
exits 4
result $? "a user outside the group may not request the status"

run jetwatt doctor
shows "daemon *jetwattd is running: " "helper *jetwatt-knobs is running, a mode is applied"
result $? "doctor checks both processes"

kill -KILL $daemon
wait $daemon
within 10 as_before "$T/before" && kill -0 $knobs
result $? "SIGKILL of jetwattd: jetwatt-knobs restores the knobs"

start && within 60 applied
kill -KILL $knobs
wait $daemon
status=$?
cp "$T/log" "$T/err"
exits 1 && says "has ended: jetwatt-knobs" && within 10 as_before "$T/before"
result $? "SIGKILL of jetwatt-knobs: its guardian process restores the knobs, and jetwattd logs it"

knobs_start
jetwatt optimize --power 25W -p $train --most 10 --db none > "$T/out" 2>&1 &
other=$!
within 30 applied && start && doing yielding 30 && grep -q "process $other holds the lease" "$T/log"
yields=$?
kill -INT $other
wait $other
[ $yields = 0 ] && doing holding 60 && applied
result $? "another jetwatt takes the lease: jetwattd yields, and continues afterwards"

end
exits 0 && within 10 as_before "$T/before"
result $? "SIGTERM: status 0, knobs restored"
kill $train $knobs $files
wait $files
rm -r /run/jetwatt-files

finish

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The units as systemd starts, watches and stops them. Waits are for states; how well
# jetwattd does what it does is for tests/cmd/daemon.sh to say.
# systemd-tmpfiles empties /tmp at the boot.
TMPDIR=/run
. /tests/common.inc
plan 22

# until SECONDS COMMAND...: it is so, at last
until_so()
{
	left=$((5 * $1))
	shift
	while ! "$@"; do
		left=$((left - 1))
		[ $left -gt 0 ] || { echo "# not within its time: $*"; return 1; }
		sleep 0.2
	done
}

# told KEY: a value of jetwattd's status
told() { jetwatt daemon --json 2> "$T/err" | sed -n "s/.*\"$1\": *\"*\\([^\",]*\\).*/\\1/p" | head -n 1; }
doing() { [ "$(told doing)" = "$1" ]; }
holding() { until_so 200 doing holding && ! as_before "$T/before" > /dev/null; }
budget_is() { [ "$(told budget_w)" = "$1" ]; }
is() { [ "$(systemctl is-active "$2")" = "$1" ]; }
of() { systemctl show -P "$2" "$1"; }
restarted() { [ "$(of "$1" NRestarts)" -gt "$2" ]; }
# who UNIT KEY: of its main process, as the kernel says
who() { sed -n "s/^$2:[[:space:]]*//p" "/proc/$(of "$1" MainPID)/status"; }
# its FILE LINE: does a file in its sight have such a line?
its() { grep -qE -- "$3" "/proc/$(of "$1" MainPID)/$2" || { echo "# $1 has no $3 in $2"; return 1; }; }
lines() { journalctl -q -b --no-pager -o cat -u 'jetwatt*'; }

# What went wrong is in the journal.
tell()
{
	[ "$1" = 0 ] || lines | tail -n 30 | sed 's/^/# journal: /'
	result "$1" "$2"
}

until_so 60 test -S /run/systemd/private
state=$(systemctl is-system-running --wait)
systemctl --failed --no-legend --no-pager | sed 's/^/# failed: /'
[ "$(cat /proc/1/comm)" = systemd ] && [ "$state" = running ]
result $? "systemd is pid 1, and nothing failed at the boot: $state"

# who owns what, by name
owner() { stat -c '%U:%G %a' "$1"; }
grep -q '^jetwatt:' /etc/passwd && grep -q '^jetwatt:' /etc/group && grep -q '^jetwatt-control:' /etc/group &&
	[ "$(owner /var/lib/jetwatt)" = "root:root 755" ] && [ "$(owner /run/jetwatt)" = "jetwatt:jetwatt 755" ] &&
	[ "$(owner /var/lib/jetwatt/profiles)" = "jetwatt:jetwatt 755" ]
result $? "systemd-sysusers and systemd-tmpfiles: the user, the groups, the directories"

systemctl start jetwattd
is inactive jetwattd && is inactive jetwatt-knobs
tell $? "without a policy it does not start, and that is no failure"

knobs > "$T/before"
mkdir -p /etc/jetwatt
echo "budget = 30W" > /etc/jetwatt/jetwattd.conf
systemctl start jetwattd && is active jetwattd && is active jetwatt-knobs && doing idle && as_before "$T/before"
tell $? "systemctl start: both are active, and the board is as it was"

uid=$(sed -n 's/^jetwatt:[^:]*:\([0-9]*\):.*/\1/p' /etc/passwd)
# bpf 39, net_admin 12, perfmon 38
[ "$(who jetwattd Uid | cut -f 1)" = "$uid" ] && [ "$(who jetwattd CapEff)" = 000000c000001000 ] &&
	[ "$(who jetwattd CapBnd)" = 000000c000001000 ] && [ "$(who jetwattd NoNewPrivs)" = 1 ] &&
	[ "$(who jetwattd Seccomp)" = 2 ] && its jetwattd mountinfo ' / / ro,' &&
	its jetwattd mountinfo ' /sys ro,' && its jetwattd mountinfo ' /home ro' &&
	its jetwattd mountinfo ' /var/lib/(private/)?jetwatt/profiles rw,'
tell $? "jetwattd: the user jetwatt, three capabilities, a filter of calls, a root to read only"
[ "$(who jetwatt-knobs Uid | cut -f 1)" = 0 ] && [ "$(who jetwatt-knobs CapEff)" = 0000000000000000 ] &&
	[ "$(who jetwatt-knobs CapBnd)" = 0000000000000000 ] && [ "$(who jetwatt-knobs Seccomp)" = 2 ] &&
	its jetwatt-knobs mountinfo ' / / ro,' &&
	[ "$(readlink "/proc/$(of jetwatt-knobs MainPID)/ns/net")" != "$(readlink /proc/1/ns/net)" ]
tell $? "jetwatt-knobs: root without a capability, a filter, no network"

# sys_ptrace 19, dac_read_search 2
files=$(sed -n 's/^jetwatt-files:[^:]*:\([0-9]*\):.*/\1/p' /etc/passwd)
[ "$(who jetwatt-files Uid | cut -f 1)" = "$files" ] && [ "$(who jetwatt-files CapEff)" = 0000000000080004 ] &&
	[ "$(who jetwatt-files CapBnd)" = 0000000000080004 ] && [ "$(who jetwatt-files Seccomp)" = 2 ] &&
	its jetwatt-files mountinfo ' / / ro,' &&
	[ "$(readlink "/proc/$(of jetwatt-files MainPID)/ns/net")" != "$(readlink /proc/1/ns/net)" ]
tell $? "jetwatt-files: a user of its own, two capabilities, a filter, no network"

systemd-run -q --unit=job /bin/train
holding
tell $? "a job begins: it is held in a mode"

# metric NAME: all of its series together
metric() { awk -v n="$1" 'index($1, n) == 1 && ($1 == n || substr($1, length(n) + 1, 1) == "{") { v += $2 } END { print int(v) }' "$T/metrics"; }
jetwatt daemon metrics > "$T/metrics"
echo "# $(metric jetwatt_minibatch_duration_seconds_count) minibatches, $(metric jetwatt_minibatch_energy_joules_sum) J"
[ "$(metric jetwatt_minibatch_duration_seconds_count)" -gt 0 ] && [ "$(metric jetwatt_minibatch_energy_joules_sum)" -gt 0 ]
tell $? "minibatches and their energy: BPF, /proc and netlink are open to it"
[ -s /var/lib/jetwatt/profiles/profiles.db ] && [ "$(owner /var/lib/jetwatt/profiles/profiles.db | cut -d: -f1)" = jetwatt ]
tell $? "what was measured is its user's"

systemctl start jetwatt-exporter
answers() { wget -q -O "$T/page" http://127.0.0.1:9417/metrics 2> "$T/err"; }
until_so 20 answers && grep -q '^jetwatt_budget_watts.* 30' "$T/page" && [ "$(who jetwatt-exporter Uid | cut -f 1)" -gt 61000 ]
tell $? "jetwatt-exporter answers, as nobody in particular"

echo "budget = 24W" > /etc/jetwatt/jetwattd.conf
systemctl reload jetwattd && until_so 20 budget_is 24 && holding
tell $? "systemctl reload: the new budget is held"

n=$(of jetwattd NRestarts)
systemctl kill -s KILL --kill-whom=main jetwattd
until_so 20 as_before "$T/before" > /dev/null
tell $? "kill -9 of jetwattd: the board is as it was"
until_so 60 restarted jetwattd "$n" && until_so 60 is active jetwattd && holding
tell $? "systemd starts it again, and the job is held again"

n=$(of jetwatt-knobs NRestarts)
lines > "$T/lines"
systemctl kill -s KILL jetwatt-knobs
until_so 20 as_before "$T/before" > /dev/null
tell $? "kill -9 of jetwatt-knobs and its guardian: the board is as it was"
until_so 60 restarted jetwatt-knobs "$n" && until_so 60 is active jetwatt-knobs && holding
tell $? "systemd starts it again, and the job is held again"
# What jetwattd has said of that is its duty.
said=$(lines | wc -l)

pid=$(of jetwattd MainPID)
systemctl restart jetwattd && [ "$(of jetwattd MainPID)" != "$pid" ] && is active jetwattd && holding
tell $? "systemctl restart, as an upgrade does: held again"

n=$(of jetwattd NRestarts)
kill -STOP "$(of jetwattd MainPID)"
until_so 120 restarted jetwattd "$n" && until_so 60 is active jetwattd && holding
tell $? "one that hangs is ended by its watchdog, started again, and holds"

# Taking turns, in cgroups as systemd makes them.
systemctl stop job
systemd-run -q --unit=serve /bin/serve --batch 64 --base 60 --each 40
systemd-run -q --unit=trains --slice=batch.slice /bin/train --size 300
systemd-run -q --unit=asks /bin/sh -c 'exec /bin/ask --rate 20000 --requests 100000 > /run/answers'
printf '%s\n' "budget = 30W" "turns = /batch.slice /system.slice/serve.service 150ms" > /etc/jetwatt/jetwattd.conf
in_time() { [ "$(told in_time)" = true ]; }
spent() { awk '{ print $14 + $15 }' "/proc/$(of trains MainPID)/stat"; }
moved() { [ "$(spent)" -gt "$1" ]; }
systemctl reload jetwattd && until_so 100 in_time && until_so 20 moved "$(spent)" && is active trains
tell $? "the policy names who gives way to a server: it does, whatever the units forbid"
n=$(of jetwattd NRestarts)
systemctl kill -s KILL jetwattd
until_so 20 moved "$(spent)" && until_so 60 restarted jetwattd "$n" && until_so 100 in_time
tell $? "kill -9 of jetwattd and its guard: nobody stays held, and it goes on"
systemctl stop asks trains serve

systemctl stop jetwattd
is inactive jetwattd && until_so 20 is inactive jetwatt-knobs && as_before "$T/before"
tell $? "systemctl stop: both have ended, and the board is as it was"
systemctl stop job jetwatt-exporter

# Errors of ours have a line that says how to mend them.
{ cat "$T/lines"; lines | tail -n "+$((said + 1))"; } > "$T/out"
! grep -E '^  (why|fix): |assert|Sanitizer|denied|not permitted' "$T/out" > "$T/err" &&
	! dmesg | grep -E 'audit.*jetwatt|segfault|traps:' > "$T/err"
tell $? "none of them had to complain"
finish

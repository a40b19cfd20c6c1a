#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Tests how systemd starts, watches and stops the units. The tests wait for states only; the quality
# of jetwattd's control is tested by tests/cmd/daemon.sh.
# TMPDIR is not /tmp, because systemd-tmpfiles empties /tmp at the boot.
TMPDIR=/run
. /tests/common.inc
plan 23

# until_so SECONDS COMMAND...: repeat COMMAND until it succeeds; fail after SECONDS
until_so()
{
	left=$((5 * $1))
	shift
	while ! "$@"; do
		left=$((left - 1))
		[ $left -gt 0 ] || { echo "# not true within the time limit: $*"; return 1; }
		sleep 0.2
	done
}

# status_of KEY: print a value of jetwattd's status
status_of() { jetwatt daemon --json 2> "$T/err" | sed -n "s/.*\"$1\": *\"*\\([^\",]*\\).*/\\1/p" | head -n 1; }
doing() { [ "$(status_of doing)" = "$1" ]; }
holding() { until_so 200 doing holding && ! as_before "$T/before" > /dev/null; }
budget_is() { [ "$(status_of budget_w)" = "$1" ]; }
is() { [ "$(systemctl is-active "$2")" = "$1" ]; }
of() { systemctl show -P "$2" "$1"; }
restarted() { [ "$(of "$1" NRestarts)" -gt "$2" ]; }
# who UNIT KEY: print a value of /proc/PID/status of the unit's main process
who() { sed -n "s/^$2:[[:space:]]*//p" "/proc/$(of "$1" MainPID)/status"; }
# its UNIT FILE REGEX: does /proc/PID/FILE of the unit's main process have a line that matches?
its() { grep -qE -- "$3" "/proc/$(of "$1" MainPID)/$2" || { echo "# $1 has no $3 in $2"; return 1; }; }
lines() { journalctl -q -b --no-pager -o cat -u 'jetwatt*'; }

# tell STATUS NAME: report a result; after a failure print the end of the journal
tell()
{
	[ "$1" = 0 ] || lines | tail -n 30 | sed 's/^/# journal: /'
	result "$1" "$2"
}

until_so 60 test -S /run/systemd/private
state=$(systemctl is-system-running --wait)
systemctl --failed --no-legend --no-pager | sed 's/^/# failed: /'
[ "$(cat /proc/1/comm)" = systemd ] && [ "$state" = running ]
result $? "systemd is pid 1, and no unit failed during the boot: $state"

# owner PATH: print owner, group and mode
owner() { stat -c '%U:%G %a' "$1"; }
grep -q '^jetwatt:' /etc/passwd && grep -q '^jetwatt:' /etc/group && grep -q '^jetwatt-control:' /etc/group &&
	[ "$(owner /var/lib/jetwatt)" = "root:root 755" ] && [ "$(owner /run/jetwatt)" = "jetwatt:jetwatt 755" ] &&
	[ "$(owner /var/lib/jetwatt/profiles)" = "jetwatt:jetwatt 755" ]
result $? "systemd-sysusers and systemd-tmpfiles create the user, the groups and the directories"

systemctl start jetwattd
is inactive jetwattd && is inactive jetwatt-knobs
tell $? "without a policy jetwattd does not start, and its unit does not fail"

knobs > "$T/before"
mkdir -p /etc/jetwatt
echo "budget = 30W" > /etc/jetwatt/jetwattd.conf
systemctl start jetwattd && is active jetwattd && is active jetwatt-knobs && doing idle && as_before "$T/before"
tell $? "systemctl start: jetwattd and jetwatt-knobs are active, and the knobs are unchanged"

uid=$(sed -n 's/^jetwatt:[^:]*:\([0-9]*\):.*/\1/p' /etc/passwd)
# bpf 39, net_admin 12, perfmon 38
[ "$(who jetwattd Uid | cut -f 1)" = "$uid" ] && [ "$(who jetwattd CapEff)" = 000000c000001000 ] &&
	[ "$(who jetwattd CapBnd)" = 000000c000001000 ] && [ "$(who jetwattd NoNewPrivs)" = 1 ] &&
	[ "$(who jetwattd Seccomp)" = 2 ] && its jetwattd mountinfo ' / / ro,' &&
	its jetwattd mountinfo ' /sys ro,' && its jetwattd mountinfo ' /home ro' &&
	its jetwattd mountinfo ' /var/lib/(private/)?jetwatt/profiles rw,'
tell $? "jetwattd: user jetwatt, three capabilities, a system call filter, a read-only root"
[ "$(who jetwatt-knobs Uid | cut -f 1)" = 0 ] && [ "$(who jetwatt-knobs CapEff)" = 0000000000000000 ] &&
	[ "$(who jetwatt-knobs CapBnd)" = 0000000000000000 ] && [ "$(who jetwatt-knobs Seccomp)" = 2 ] &&
	its jetwatt-knobs mountinfo ' / / ro,' &&
	[ "$(readlink "/proc/$(of jetwatt-knobs MainPID)/ns/net")" != "$(readlink /proc/1/ns/net)" ]
tell $? "jetwatt-knobs: root without capabilities, a system call filter, no network"

# sys_ptrace 19, dac_read_search 2
files=$(sed -n 's/^jetwatt-files:[^:]*:\([0-9]*\):.*/\1/p' /etc/passwd)
[ "$(who jetwatt-files Uid | cut -f 1)" = "$files" ] && [ "$(who jetwatt-files CapEff)" = 0000000000080004 ] &&
	[ "$(who jetwatt-files CapBnd)" = 0000000000080004 ] && [ "$(who jetwatt-files Seccomp)" = 2 ] &&
	its jetwatt-files mountinfo ' / / ro,' &&
	[ "$(readlink "/proc/$(of jetwatt-files MainPID)/ns/net")" != "$(readlink /proc/1/ns/net)" ]
tell $? "jetwatt-files: its own user, two capabilities, a system call filter, no network"

systemd-run -q --unit=job /bin/train
holding
tell $? "a job starts: jetwattd holds a mode for it"

# metric NAME: print the sum over all series of the metric
metric() { awk -v n="$1" 'index($1, n) == 1 && ($1 == n || substr($1, length(n) + 1, 1) == "{") { v += $2 } END { print int(v) }' "$T/metrics"; }
jetwatt daemon metrics > "$T/metrics"
echo "# $(metric jetwatt_minibatch_duration_seconds_count) minibatches, $(metric jetwatt_minibatch_energy_joules_sum) J"
[ "$(metric jetwatt_minibatch_duration_seconds_count)" -gt 0 ] && [ "$(metric jetwatt_minibatch_energy_joules_sum)" -gt 0 ]
tell $? "minibatches and their energy are measured: jetwattd can use BPF, /proc and netlink"
[ -s /var/lib/jetwatt/profiles/profiles.db ] && [ "$(owner /var/lib/jetwatt/profiles/profiles.db | cut -d: -f1)" = jetwatt ]
tell $? "the profile database belongs to the user jetwatt"

systemctl start jetwatt-exporter
answers() { wget -q -O "$T/page" http://127.0.0.1:9417/metrics 2> "$T/err"; }
until_so 20 answers && grep -q '^jetwatt_budget_watts.* 30' "$T/page" && [ "$(who jetwatt-exporter Uid | cut -f 1)" -gt 61000 ]
tell $? "jetwatt-exporter answers, and runs as a dynamic user"

echo "budget = 24W" > /etc/jetwatt/jetwattd.conf
systemctl reload jetwattd && until_so 20 budget_is 24 && holding
tell $? "systemctl reload: the new budget is in force"

n=$(of jetwattd NRestarts)
systemctl kill -s KILL --kill-whom=main jetwattd
until_so 20 as_before "$T/before" > /dev/null
tell $? "kill -9 of jetwattd: the knobs are restored"
until_so 60 restarted jetwattd "$n" && until_so 60 is active jetwattd && holding
tell $? "systemd starts it again, and a mode is held for the job again"

n=$(of jetwatt-knobs NRestarts)
lines > "$T/lines"
systemctl kill -s KILL jetwatt-knobs
until_so 20 as_before "$T/before" > /dev/null
tell $? "kill -9 of jetwatt-knobs and its guardian process: the knobs are restored"
until_so 60 restarted jetwatt-knobs "$n" && until_so 60 is active jetwatt-knobs && holding
tell $? "systemd starts it again, and a mode is held for the job again"
# Skip the errors that jetwattd has logged about this kill; they are expected.
said=$(lines | wc -l)

pid=$(of jetwattd MainPID)
systemctl restart jetwattd && [ "$(of jetwattd MainPID)" != "$pid" ] && is active jetwattd && holding
tell $? "systemctl restart, as during an upgrade: a mode is held again"

n=$(of jetwattd NRestarts)
kill -STOP "$(of jetwattd MainPID)"
until_so 120 restarted jetwattd "$n" && until_so 60 is active jetwattd && holding
tell $? "a jetwattd that hangs is killed by systemd's watchdog and started again, and holds a mode"

# Time sharing, in cgroups that systemd created.
systemctl stop job
systemd-run -q --unit=serve /bin/serve --batch 64 --base 60 --each 40
systemd-run -q --unit=trains --slice=batch.slice /bin/train --size 300
systemd-run -q --unit=asks /bin/sh -c 'exec /bin/ask --rate 20000 --requests 100000 > /run/answers'
printf '%s\n' "budget = 30W" "turns = /batch.slice /system.slice/serve.service 150ms" > /etc/jetwatt/jetwattd.conf
in_time() { [ "$(status_of in_time)" = true ]; }
spent() { awk '{ print $14 + $15 }' "/proc/$(of trains MainPID)/stat"; }
moved() { [ "$(spent)" -gt "$1" ]; }
systemctl reload jetwattd && until_so 100 in_time && until_so 20 moved "$(spent)" && is active trains
tell $? "time sharing by the policy works under the restrictions of the units"
n=$(of jetwattd NRestarts)
systemctl kill -s KILL jetwattd
until_so 20 moved "$(spent)" && until_so 60 restarted jetwattd "$n" && until_so 100 in_time
tell $? "kill -9 of all processes of jetwattd: training is not left frozen, and time sharing continues"
systemctl stop asks trains serve

systemctl stop jetwattd
is inactive jetwattd && until_so 20 is inactive jetwatt-knobs && as_before "$T/before"
tell $? "systemctl stop: jetwattd and jetwatt-knobs have ended, and the knobs are restored"
systemctl stop job
systemctl start jetwatt-telemetry
telemetry() { answers && ! grep -q '^jetwatt_budget_watts' "$T/page"; }
until_so 20 telemetry && [ "$(of jetwatt-exporter ActiveState)" = inactive ] &&
	[ "$(who jetwatt-telemetry Uid | cut -f 1)" -gt 61000 ] &&
	[ "$(grep -c '^jetwatt_rail_energy_joules_total{' "$T/page")" = 3 ] &&
	[ "$(grep -c '^jetwatt_inner_rail_energy_joules_total{' "$T/page")" = 1 ] &&
	grep -q '^jetwatt_gpu_frequency_hertz ' "$T/page" && grep -q '^jetwatt_temperature_celsius ' "$T/page"
telemetry_status=$?
[ $telemetry_status = 0 ] || grep -v '^# ' "$T/page" | sed 's/^/# page: /'
tell $telemetry_status "jetwatt-telemetry replaces the exporter: rails by the rail graph, clocks and temperature, without jetwattd"
systemctl stop jetwatt-telemetry

# An error of a jetwatt program has a line "why:" or "fix:".
# On a kernel that permits uprobes with CAP_SYS_ADMIN only, jetwattd says so.
{ cat "$T/lines"; lines | tail -n "+$((said + 1))"; } |
	sed '/cannot see jobs that spin inside libcuda/,+2d' > "$T/out"
! grep -E '^  (why|fix): |assert|Sanitizer|denied|not permitted' "$T/out" > "$T/err" &&
	! dmesg | grep -E 'audit.*jetwatt|segfault|traps:' > "$T/err"
tell $? "no unit has logged an error"
finish

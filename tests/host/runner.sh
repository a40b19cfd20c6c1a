#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Run the test runner on artificial tests. The runner must count every failure, in particular a
# guest that crashes, hangs or prints a kernel warning.
cd "$(dirname "$0")/../.." || exit 1
d=$(mktemp -d) n=0 failed=0
trap 'rm -rf "$d"' EXIT
# The guests of this test crash on purpose, so their crashes must not be reported to the runner that
# runs this test.
unset JETWATT_COMPLAINTS

result()
{
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n $2"
	else
		echo "not ok $n $2"
		failed=1
	fi
}

# judged HOW EXPECTED TEXT OUTPUT: check that ktap.awk's verdict on OUTPUT is EXPECTED
judged()
{
	local said
	said=$(printf '%b' "$4" | awk -v how="$1" -v splats="${5:-0}" -f tests/ktap.awk | head -n 1)
	[ "$said" = "$2" ] || echo "# \"$said\" instead of \"$2\""
	[ "$said" = "$2" ]
	result $? "judge: $3"
}

# guest NAME: create the guest test tests/kmod/NAME.sh from the script on stdin
guest() { mkdir -p "$d/tests/kmod"; { echo '#!/bin/sh'; cat; } > "$d/tests/kmod/$1.sh"; chmod +x "$d/tests/kmod/$1.sh"; }

# verdict NAME EXPECTED TEXT: check that the runner's verdict on the guest test NAME is EXPECTED
verdict()
{
	local said
	said=$(head -n 1 "$d/check/kmod/$1.verdict" 2>&1)
	[ "$said" = "$2" ] || { echo "# \"$said\" instead of \"$2\""; sed 's/^/# /' "$d/check/kmod/$1".*; }
	[ "$said" = "$2" ]
	result $? "guest: $3"
}

# listed NAME: check that the test NAME is in the list "flaky:" of the output
listed() { awk -v name="  $1" '/^flaky:$/ { on = 1 } /^$/ { on = 0 } on && $0 == name { found = 1 } END { exit !found }' "$d/out"; }

echo 1..54
judged 'exit 0' '2 0 0' 'all passed' '1..2\nok 1 a\nok 2 b\n'
judged 'exit 1' '1 1 0' 'one failed' '1..2\nok 1 a\nnot ok 2 b\n'
judged 'exit 0' '1 2 0' 'a failed test with status 0' '1..2\nok 1 a\nnot ok 2 b\n'
judged 'exit 1' '1 1 0' 'status 1 though nothing failed' '1..1\nok 1 a\n'
judged 'exit 0' '1 0 1' 'a skip' '1..2\nok 1 a\nok 2 # SKIP no chip\n'
judged 'exit 0' '0 0 1' 'all skipped by plan' '1..0 # SKIP not root\n'
judged 'exit 4' '0 0 1' 'skipped by status' 'not root\n'
judged 'exit 0' '0 1 0' 'no output' ''
judged 'exit 0' '1 1 0' 'no plan' 'ok 1 a\n'
judged 'exit 0' '1 1 0' 'fewer results than planned' '1..2\nok 1 a\n'
judged 'exit 0' '2 1 0' 'more results than planned' '1..1\nok 1 a\nok 2 b\n'
judged 'exit 0' '0 1 0' 'nothing planned, no reason' '1..0\n'
judged 'signal 11' '1 1 0' 'killed' '1..1\nok 1 a\n'
judged 'timeout 5' '1 1 0' 'hung' '1..1\nok 1 a\n'
judged 'crash of the guest' '1 1 0' 'guest crashed' '1..1\nok 1 a\n'
judged 'exit 0' '1 1 0' 'a kernel warning' '1..1\nok 1 a\n' 1

guest a-passes <<-'EOT'
	echo 1..1
	echo "WARNING: a test's own words are no splat" > /dev/kmsg
	echo ok 1 in the guest
EOT
guest b-fails <<-'EOT'
	echo 1..1
	echo not ok 1 in the guest
	exit 1
EOT
guest c-panics <<-'EOT'
	echo 1..1
	echo ok 1 before the crash
	echo c > /proc/sysrq-trigger
EOT
guest d-hangs <<-'EOT'
	# guest: timeout=3
	echo 1..1
	echo ok 1 before it hangs
	sleep 1000
EOT
guest e-splats <<-'EOT'
	echo 1..1
	echo l > /proc/sysrq-trigger
	echo ok 1 with a call trace
EOT
guest f-kills-itself <<-'EOT'
	echo 1..1
	echo ok 1 before the signal
	kill -9 $$
EOT
guest g-powers-off <<-'EOT'
	echo 1..1
	echo ok 1 before the end
	poweroff -f
	sleep 1000
EOT
guest h-after-them <<-'EOT'
	echo 1..1
	echo ok 1 in a new boot
EOT
guest i-fails-in-company <<-'EOT'
	echo 1..1
	[ -e /tests/kmod/j-panics-in-company ] || { echo ok 1 alone; exit 0; }
	echo not ok 1 in company
	exit 1
EOT
guest j-panics-in-company <<-'EOT'
	echo 1..1
	[ ! -e /tests/kmod/k-last ] || echo c > /proc/sysrq-trigger
	echo ok 1 alone
EOT
guest k-splats-in-company <<-'EOT'
	echo 1..1
	[ ! -e /tests/kmod/k-last ] || echo l > /proc/sysrq-trigger
	echo ok 1 alone
EOT
guest k-last <<-'EOT'
	echo 1..1
	echo ok 1 the last
EOT
JETWATT_TESTS=$d/tests JETWATT_CHECK=$d/check tests/run > "$d/out" 2>&1
status=$?
verdict a-passes '1 0 0' 'a test that passes'
verdict b-fails '0 1 0' 'one that fails'
verdict c-panics '1 1 0' 'a kernel panic'
verdict d-hangs '1 1 0' 'a test that hangs'
verdict e-splats '1 1 0' 'a call trace in the kernel log'
verdict f-kills-itself '1 1 0' 'a test that dies of a signal'
verdict g-powers-off '1 1 0' 'a guest that ends too early'
verdict h-after-them '1 0 0' 'tests after a crash still run'
verdict i-fails-in-company '1 0 0' 'one that passes in a boot of its own is flaky'
verdict j-panics-in-company '0 1 0' 'a panic counts though it would not come again'
verdict k-splats-in-company '1 1 0' 'so does a call trace'
! ls "$d"/check/kmod/[cegjk]-*.log.1 > /dev/null 2>&1
result $? "guest: a test that crashed or caused a kernel warning is not run again"
tail -n 1 "$d/out" | grep -qx '10 passed, 8 failed, 0 skipped'
result $? "the last line has the totals"
[ $status = 1 ]
result $? "the runner ends with status 1"
listed kmod/i-fails-in-company && grep -q 'before it on the list of its boot: kmod/a-passes kmod/b-fails' "$d/out"
result $? "a flaky guest program is listed with what ran before it"

# on_host NAME: create a test on the host with the text on stdin. The test counts its runs in $run,
# and fails if two repeated tests run at the same time.
on_host()
{
	mkdir -p "$d/again/host"
	{
		printf '#!/bin/bash\nf=%q.$(basename "$0") busy=%q\n' "$d/runs" "$d/busy"
		echo 'run=$(($(cat "$f" 2>/dev/null || echo 0) + 1)); echo $run > "$f"; echo 1..1'
		echo '[ $run = 1 ] || { mkdir "$busy" && sleep 0.2 && rmdir "$busy"; } || echo not ok beside another'
		echo 'passes() { echo "ok 1 in run $run"; exit 0; }'
		echo 'fails() { echo "not ok 1 in run $run"; exit 1; }'
		cat
	} > "$d/again/host/$1.sh"
	chmod +x "$d/again/host/$1.sh"
}

# again: run the artificial tests, after deleting the counts of earlier runs
again()
{
	rm -f "$d"/runs.*
	HOST_TIMEOUT=10 JETWATT_TESTS=$d/again JETWATT_CHECK=$d/check tests/run "$@" > "$d/out" 2>&1
}

# ended LAST-LINE STATUS: check the last line and the exit status of the runner
ended()
{
	[ "$(tail -n 1 "$d/out")" = "$1" ] && [ "$status" = "$2" ] && return
	echo "# status $status"
	sed 's/^/# /' "$d/out"
	return 1
}

runs() { [ "$(cat "$d/runs.$1.sh")" = "$2" ]; }

on_host once <<< '[ $run -gt 1 ] || fails; passes'
# The test must get the seed of its first run again in its second and third run.
on_host twice <<< 'echo "# SEED=${SEED:-4711} drawn"; [ $run = 1 ] || [ "${SEED:-}" = 4711 ] || exit 1; [ $run -gt 2 ] || fails; passes'
on_host late <<< '[ $run -gt 1 ] || exec sleep 60; passes'
on_host passes <<< 'passes'
again
status=$?
ended '4 passed, 0 failed, 0 skipped' 0
result $? "again: three flaky programs do not fail the check"
listed host/once && listed host/twice && listed host/late && ! listed host/passes
result $? "again: exactly the flaky programs are listed"
grep -qx 'not ok 1 in run 1' "$d/check/host/once.log.1" && grep -qx 'ok 1 in run 2' "$d/check/host/once.log"
result $? "again: the output of the failed run is kept"
grep -qx 'not ok 1 in run 2' "$d/check/host/twice.log.2" && runs twice 3
result $? "again: the output of both failed runs is kept"
runs once 2 && runs passes 1
result $? "again: no program runs more often than necessary"
grep -qx 'failed: ended by timeout 10' "$d/check/host/late.verdict.1"
result $? "again: a program that timed out may be flaky"

on_host fourth <<< '[ $run -gt 1 ] || fails; passes'
again
status=$?
ended '5 passed, 1 failed, 0 skipped' 1
result $? "again: four flaky programs are a failure"
listed host/once && listed host/fourth && grep -q 'failed: 4 programs were flaky' "$d/out"
result $? "again: all four are listed"
rm "$d"/again/host/{fourth,late,twice}.sh

# Two tests use both of the pool's places until the waiting test runs.
for i in 1 2; do
	on_host pool-$i <<< "for i in {1..80}; do [ ! -e $d/beside ] || passes; sleep 0.1; done; fails"
done
on_host waits <<< "# host: waits"$'\n'"touch $d/beside; passes"
again 'host/pool*' host/waits
status=$?
ended '3 passed, 0 failed, 0 skipped' 0 && runs pool-1 1 && runs pool-2 1 && runs waits 1
result $? "a test of the host that waits runs beside the pool"
rm "$d"/again/host/{pool-1,pool-2,waits}.sh

on_host never <<< '[ $run -gt 3 ] || fails; passes'
again
status=$?
ended '2 passed, 1 failed, 0 skipped' 1
result $? "again: a program that fails three times has failed"
runs never 3 && ! listed host/never && listed host/once
result $? "again: a failed program is not listed as flaky"
rm "$d/again/host/never.sh"

on_host skips <<< '[ $run -gt 1 ] || fails; echo ok 1 "# SKIP no reason"'
again
status=$?
ended '2 passed, 1 failed, 0 skipped' 1 && ! listed host/skips
result $? "again: a skip does not count as a pass"
rm "$d/again/host/skips.sh"

on_host complains <<- 'EOT'
	[ $run -gt 1 ] || tests/qemu/guest --bare --overlay none -- /bin/sh -c 'echo l > /proc/sysrq-trigger'
	[ $run -gt 1 ] || fails
	passes
EOT
rm -f "$d"/runs.*
JETWATT_TESTS=$d/again JETWATT_CHECK=$d/check tests/run > "$d/out" 2>&1
status=$?
ended '2 passed, 1 failed, 0 skipped' 1 && runs complains 1
result $? "again: a guest started by a host test is not run again either"
rm "$d/again/host/complains.sh"

for i in 1 2 3 4 5 6 7 8 9 a b; do on_host "many-$i" <<< '[ $run -gt 1 ] || fails; passes'; done
again 'host/many*'
status=$?
ended '0 passed, 11 failed, 0 skipped' 1 && runs many-1 1
result $? "again: if more than ten fail, none runs again"
rm "$d"/again/host/many*

# Tests of the list of flaky programs, and of make check-flaky.
awk '{ print $3 }' "$d/flaky" | sort | uniq -c | tr -s ' \n' ' ' |
	grep -qx ' 1 host/fourth 2 host/late 5 host/once 2 host/twice 1 kmod/i-fails-in-company '
result $? "flaky programs are remembered beyond a run"
for i in $(seq 500); do echo "2020-01-01 00:00:00 host/old-$i"; done > "$d/old"
cat "$d/old" "$d/flaky" > "$d/new" && mv "$d/new" "$d/flaky"
again
[ "$(wc -l < "$d/flaky")" = 200 ] && tail -n 1 "$d/flaky" | grep -q ' host/once$'
result $? "the oldest entries are dropped"

# flaky ARGUMENT...: run the script of make check-flaky with these arguments
flaky()
{
	rm -f "$d"/runs.*
	JETWATT_TESTS=$d/again JETWATT_CHECK=$d/check-flaky tests/flaky "$@" > "$d/out" 2>&1
}

on_host third <<< '[ $run != 3 ] || fails; passes'
echo "$(date '+%F %T') host/gone" >> "$d/flaky"
flaky -n 4 host/third
status=$?
ended '6 of 8' 1
result $? "check-flaky: recently flaky and named programs, without removed ones"
grep -q '^host/third  *3/4$' "$d/out" && grep -q '^host/once  *3/4$' "$d/out"
result $? "check-flaky: prints a table of passes"
grep -qx 'not ok 1 in run 3' "$d/check-flaky/host/third.log.3" && [ ! -e "$d/check-flaky/host/third.log.1" ]
result $? "check-flaky: keeps the output of failures"
tail -n 1 "$d/flaky" | grep -q ' host/third$'
result $? "check-flaky: programs that failed at times are remembered"
rm "$d/flaky"
flaky -n 2 host/passes
status=$?
ended '2 of 2' 0
result $? "check-flaky: the status is 0 if all passed"
flaky -n 2 host/nothing
[ $? = 2 ] && grep -q 'host/nothing: no such test' "$d/out"
result $? "check-flaky: an unknown name is refused"

# The kernel of this guest hangs completely, so that only the runner can end the test.
tests/qemu/guest --bare --overlay none --timeout 8 -- /bin/sh -c 'while :; do :; done' > "$d/out" 2>&1
[ $? = 125 ]
result $? "guest: killed at its time limit"
exit $failed

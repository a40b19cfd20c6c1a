#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The tests' runner on tests of its own: whatever is wrong with a test must
# count as failed, in particular a guest that crashes, hangs or complains.
cd "$(dirname "$0")/../.." || exit 1
d=$(mktemp -d) n=0 failed=0
trap 'rm -rf "$d"' EXIT

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

# judged HOW EXPECTED TEXT OUTPUT: what the judge says of a program's output
judged()
{
	local said
	said=$(printf '%b' "$4" | awk -v how="$1" -v splats="${5:-0}" -f tests/ktap.awk | head -n 1)
	[ "$said" = "$2" ] || echo "# \"$said\" instead of \"$2\""
	[ "$said" = "$2" ]
	result $? "judge: $3"
}

# guest NAME: a guest test, its text from stdin
guest() { mkdir -p "$d/tests/kmod"; { echo '#!/bin/sh'; cat; } > "$d/tests/kmod/$1.sh"; chmod +x "$d/tests/kmod/$1.sh"; }

# verdict NAME EXPECTED TEXT
verdict()
{
	local said
	said=$(head -n 1 "$d/check/kmod/$1.verdict" 2>&1)
	[ "$said" = "$2" ] || { echo "# \"$said\" instead of \"$2\""; sed 's/^/# /' "$d/check/kmod/$1".*; }
	[ "$said" = "$2" ]
	result $? "guest: $3"
}

echo 1..27
judged 'exit 0' '2 0 0' 'all passed' '1..2\nok 1 a\nok 2 b\n'
judged 'exit 1' '1 1 0' 'one failed' '1..2\nok 1 a\nnot ok 2 b\n'
judged 'exit 0' '1 2 0' 'failed, yet status 0' '1..2\nok 1 a\nnot ok 2 b\n'
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
judged 'exit 0' '1 1 0' 'kernel complained' '1..1\nok 1 a\n' 1

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
tail -n 1 "$d/out" | grep -qx '7 passed, 6 failed, 0 skipped'
result $? "last line counts them all"
[ $status = 1 ]
result $? "the status is 1"

# A kernel that hangs where nothing of it can end the test.
tests/qemu/guest --bare --overlay none --timeout 8 -- /bin/sh -c 'while :; do :; done' > "$d/out" 2>&1
[ $? = 125 ]
result $? "guest: killed at its time limit"
exit $failed

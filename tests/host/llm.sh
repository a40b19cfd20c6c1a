#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The commands and the policy of doc/llm.md. Commands on traces run, on made-up traces. Those that need a
# board must get as far as opening it, in a directory without one, so their options are right; cmd/per, cmd/phases, cmd/tokens and
# cmd/daemon_tokens run such commands in a guest.
cd "$(dirname "$0")/../.." || exit 1
top=$PWD
d=$PWD/build/check-llm
rm -rf "$d"
. tests/host/check.inc
mkdir -p "$d/bin"
printf '#!/bin/sh\nexec "$@"\n' > "$d/bin/sudo"
printf '#!/bin/sh\necho 1\n' > "$d/bin/pgrep"
chmod +x "$d"/bin/*
# A command may continue on further lines.
sed -n '/^    \(\$ \)\?sudo jetwatt/{s/^    \(\$ \)\?//; :more; /\\$/{N; s/\\\n */ /; b more}; s/  *#.*//; p}' doc/llm.md > "$d/commands"
# as_documented COMMAND: run it in a directory with traces of the page's names
as_documented()
{
	build/make-trace "$d/run.jwt" n=600 ms=13 prefill_every=12 prefill=40 units=1 > "$d/truth" &&
		cp "$d/run.jwt" "$d/a.jwt" && build/make-trace "$d/b.jwt" n=600 ms=13 prefill_every=12 prefill=40 units=1 seed=2 > "$d/truth"
	env -C "$d" JETWATT_ROOT="$d" PATH="$d/bin:$top/build:$PATH" timeout 60 bash -c "$1" > "$d/out" 2> "$d/err" < /dev/null
	status=$?
}

echo 1..4
needs_board=0 on_trace=0 bad=0
while read -r command; do
	as_documented "$command"
	if grep -qE "cannot list the CPUs in $d/|top needs a terminal" "$d/err"; then
		needs_board=$((needs_board + 1))
	elif [ $status = 0 ]; then
		on_trace=$((on_trace + 1))
	else
		bad=$((bad + 1))
		echo "# status $status: $command"
		sed 's/^/#  /' "$d/err"
	fi
done < "$d/commands"
echo "# $on_trace commands on traces, $needs_board that need a board"
check "every command is accepted" "[ $bad = 0 ] && [ $needs_board -ge 9 ] && [ $on_trace -ge 2 ]"
as_documented "$(sed -n '/jetwatt report/p' "$d/commands")"
check "report: phases, and J per token" "grep -q 'J   per token' '$d/out' && grep -q '^  *2 ' '$d/out'"
as_documented "$(sed -n '/jetwatt export/p' "$d/commands")"
check "export: the phase of every step" "awk -F, 'NR > 1 { n[\$15]++ } END { exit !(n[1] > 20 && n[2] > 100) }' '$d/out'"
sed -n 's/^    \([a-z]* = .*\)/\1/p' doc/llm.md > "$d/policy"
check "jetwattd accepts the policy" "grep -q '^tokens = ' '$d/policy' && build/jetwattd --check -c '$d/policy'"
exit $failed

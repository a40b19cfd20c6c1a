#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Check jetwatt export --waits: one row per wait, consistent with --minibatches; the example of the
# man page; invalid input.
cd "$(dirname "$0")/../.." || exit 1
d=build/check-waits
rm -rf $d
. tests/host/check.inc

says() { grep -q -- "$1" $d/err; }
page=man/jetwatt-export.1

# rows NAME: export waits and minibatches of the trace NAME to NAME.waits and NAME.minibatches
rows()
{
	build/jetwatt export --waits -o $d/$1.waits $d/$1.jwt &&
		build/jetwatt export -f csv --minibatches -o $d/$1.minibatches $d/$1.jwt
}

# bounds NAME: print end, kind and number of waits of each minibatch, computed from the exported
# waits alone.
bounds()
{
	awk -F, 'NR > 1 && $16 != "" { n[$16]++; kind[$16] = $17; if ($12) end[$16] = $13; last = $16 }
		END { for (i = 0; i <= last; i++) print end[i] "," kind[i] "," n[i] }' $d/$1.waits
}

# same NAME: check that the bounds computed from NAME.waits equal those of --minibatches
same() { bounds $1 | diff - <(tail -n +2 $d/$1.minibatches | cut -d, -f2,4,6); }

echo 1..21
build/make-trace $d/plain.jwt > $d/truth
build/make-trace $d/three.jwt syncs=3 n=400 slow_at=15 slow=1.5 eval_every=50 > $d/truth
build/make-trace $d/extra.jwt n=100 syncs=2 extra_every=20 > $d/truth
build/make-trace $d/marks.jwt n=50 syncs=2 marks=1 > $d/truth
for t in plain three extra marks; do
	check "$t: the rows agree with --minibatches" "rows $t && same $t"
done
check "csv: every line has every column" "[ \$(cat $d/*.waits | awk -F, '{ print NF }' | sort -u) = 17 ]"
check "csv: one row per wait; gaps are the times between waits" \
	"awk -F, 'NR > 1 { if (\$1 != NR - 2 || \$7 != (NR > 2 ? \$2 - last : 0)) exit 1; last = \$3 } END { exit NR != 401 * 3 - 2 }' $d/three.waits"
check "csv: generated disturbances are named" \
	"[ \"\$(awk -F, '\$10 == \"extra\" { print \$1 }' $d/extra.waits | xargs)\" = '39 80 121 162 203' ]"
check "csv: a change of clocks is named at its place" \
	"awk -F, '\$10 == \"speed\" && \$3 > 114.8e9 && \$3 < 115.6e9 { found = 1 } END { exit !found }' $d/three.waits"
check "csv: marks override inference, and end minibatches after their last wait" \
	"[ \"\$(cut -d, -f10 $d/marks.waits | sort -u | xargs)\" = 'mark rule' ] &&
	 awk -F, 'NR > 1 { ends += \$12; late = \$13 - \$3 - 1e6
		if (\$12 != (\$9 == 1) || (\$12 && (late < 0 || late > 2))) bad = 1 } END { exit bad || ends != 49 }' \
		<(grep -v ',,\$' $d/marks.waits) && [ \$(grep -c ',,\$' $d/marks.waits) = 2 ]"
check "jsonl: the same, with the rule and its score as text" \
	"build/jetwatt export --waits -f jsonl $d/extra.jwt > $d/extra.jsonl &&
	 jq -es 'map(select(.rule == \"extra\")) | length == 5 and all(.because and .score_is and (.boundary | not))' $d/extra.jsonl > $d/jq &&
	 diff <(jq -r 'select(.type == \"wait\") | [.wait, .gap_ns, .phase, .rule, .ends, .minibatch] | @csv' $d/extra.jsonl | tr -d '\"') \
		<(tail -n +2 $d/extra.waits | cut -d, -f1,7,9,10,14,16)"
check "jsonl: no samples and no minibatches are written" \
	"[ \"\$(jq -r .type $d/extra.jsonl | sort -u | xargs)\" = 'end header job wait' ]"

# Run the example of the man page and compare the output; scores and times may be rounded
# differently.
sed -n '/^\.SS Example/,/^\.fi/ { /^jetwatt/p }' $page | sed 's/\\-/-/g' > $d/command
sed -n '/^\.SS Example/,/^\.fi/ { /^wait,/,/^\.fi/p }' $page | grep -v '^\.fi' > $d/example
cp $d/extra.jwt $d/run.jwt
check "man page: the example equals the output" \
	"[ \$(wc -l < $d/example) = 8 ] && (cd $d && PATH=$PWD/build:\$PATH bash command > made) &&
	 paste -d, $d/example $d/made | awk -F, 'NR == 1 { if (\$1 != \$9 || \$8 != \$16) exit 1; next }
		{ for (i = 1; i <= 8; i++) if (i == 2 || i == 6 ? (\$i - \$(i + 8)) ^ 2 > (\$i * 0.01) ^ 2 + 1e-4 : \$i != \$(i + 8)) { print; exit 1 } }'"
# Each rule of the table is in the installed man page, which is built from the table.
check "man page: every rule has its description" \
	"[ \$(grep -c '	R(' user/minibatch/rules.h) -eq \$(grep -c '^Score: ' build/man/jetwatt-export.1) ] &&
	 grep -qxF '.B no\-cycle' build/man/jetwatt-export.1"

# Files that are no traces, and damaged traces.
for f in /dev/null /bin/true $d/absent; do
	run build/jetwatt export --waits $f
	check "$f is refused as a trace" "[ $status = 1 ] && says '  why: '"
done
head -c 60000 $d/three.jwt > $d/cut.jwt
check "a truncated trace: the rest is used" \
	"rows cut 2> $d/err && same cut && [ \$(wc -l < $d/cut.waits) -gt 100 ]"
{ head -c 60000 $d/three.jwt; printf 'xx'; tail -c +60003 $d/three.jwt; } > $d/bad.jwt
check "a damaged block: waits are missing, and the rows still agree" \
	"rows bad 2> $d/err && same bad && [ \$(wc -l < $d/bad.waits) -lt \$(wc -l < $d/three.waits) ]"
run build/jetwatt export --waits -f perfetto $d/plain.jwt
check "a format without waits: usage error with a fix" "[ $status = 2 ] && says 'fix: --format csv' && [ ! -s $d/out ]"
run build/jetwatt export --waits --minibatches $d/plain.jwt
check "two kinds of rows at once: an error with a fix" "[ $status = 2 ] && says '  why: ' && says '  fix: '"
run build/jetwatt export --waits
check "no trace: usage error with a fix" "[ $status = 2 ] && says 'fix: '"
exit $failed

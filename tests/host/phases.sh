#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Figures of a run whose minibatches have several phases. In the made-up run, 4 evaluations that take
# 0.3 of the time follow each 25 minibatches of training; the power is the same.
cd "$(dirname "$0")/../.." || exit 1
d=build/check-phases
rm -rf $d
. tests/host/check.inc

echo 1..14
build/make-trace $d/two.jwt n=1000 ms=80 eval_every=25 > $d/truth.json
build/make-trace $d/one.jwt n=200 ms=80 > $d/one.json
for t in one two; do
	check "report: a run of $t, as text and as JSON" \
		"build/jetwatt report --json $d/$t.jwt > $d/$t.report.json && build/jetwatt report $d/$t.jwt > $d/$t.txt"
done
# A training minibatch takes 1, an evaluation 0.3 of the usual time.
check "each phase has its own time and energy; the figures per minibatch are those of phase 1" \
	"jq -e --slurpfile t $d/truth.json 'def near(a; b; by): a / b - 1 | fabs < by;
	 (\$t[0].joules / (864 + 0.3 * 136)) as \$one |
	 (.phases | keys) == [\"1\", \"2\"] and
	 near(.phases[\"1\"].energy_j; \$one; 0.01) and near(.phases[\"2\"].energy_j; 0.3 * \$one; 0.02) and
	 near(.phases[\"1\"].time_ms; 80; 0.01) and near(.phases[\"2\"].time_ms; 24; 0.02) and
	 .phases[\"1\"].minibatches == 854 and .phases[\"2\"].minibatches == 136 and
	 .energy_j == .phases[\"1\"].energy_j and .time_ms == .phases[\"1\"].time_ms' $d/two.report.json > $d/jq"
check "the grades are those of phase 1" \
	"jq -e '.quality | .A + .B + .C + .D | . >= 854 and . <= 864' $d/two.report.json > $d/jq"
check "the text has a table of the phases, at most 80 columns wide" \
	"grep -Eq '^ +phase +minibatches +time +ms each +J each +W +stall +launches$' $d/two.txt &&
	 grep -Eq '^ +1 +854 +95 %' $d/two.txt && grep -Eq '^ +2 +136 +5 %' $d/two.txt &&
	 grep -Eq '^ +[0-9.]+ W +in phase 1 ' $d/two.txt && grep -Eq '^ +[0-9.]+ W +while training ' $d/one.txt && ! grep -Eq '.{81}' $d/two.txt"
check "a run of one phase has no table" \
	"! grep -q phase $d/one.txt && jq -e '.phases | keys == [\"1\"]' $d/one.report.json > $d/jq"
check "export: the phase of each minibatch, as csv and jsonl" \
	"[ \$(build/jetwatt export -f csv --minibatches $d/two.jwt | awk -F, '\$15 == 2 && \$2 - \$1 < 40e6' | wc -l) = 136 ] &&
	 [ \$(build/jetwatt export -f jsonl $d/two.jwt | jq -c 'select(.type == \"minibatch\" and .phase == 2)' | wc -l) = 136 ]"
build/jetwatt export -f openmetrics $d/two.jwt > $d/two.metrics
build/jetwatt export -f prometheus $d/one.jwt > $d/one.metrics
metric() { sed -n "s/^jetwatt_minibatch_$1 //p" $d/$2.metrics; }
check "export: number, energy and time of the minibatches of each phase, as metrics" \
	"[ $(metric 'duration_seconds_count{phase="2"}' two) = 136 ] && [ $(metric 'duration_seconds_count{phase="1"}' two) -gt 850 ] &&
	 jq -e '(.phases[\"2\"].energy_j * 136 / $(metric 'energy_joules_sum{phase="2"}' two) - 1 | fabs < 0.01) and
	 (.phases[\"2\"].time_ms * 0.136 / $(metric 'duration_seconds_sum{phase="2"}' two) - 1 | fabs < 0.01)' $d/two.report.json > $d/jq"
check "export: of one phase, its only label is 1" \
	"[ $(metric 'energy_joules_count{phase="1"}' one) -gt 190 ] && ! grep -q 'phase=.2' $d/one.metrics"
# curve FILE: is the mean curve of energy along the run within a tenth of the plot's height of a level?
curve()
{
	sed -n '/Energy per minibatch along the run/,/<\/svg>/p' "$1" | sed -n "s/.*class='mean' d='M0 0M\([^']*\)'.*/\1/p" |
		tr 'ML' '\n\n' | awk '{ n++; if (n == 1 || $2 < lo) lo = $2; if (n == 1 || $2 > hi) hi = $2 }
			END { print n " points from " lo " to " hi; exit !(n > 20 && hi - lo < 60) }'
}
check "the page has the figures of each phase" \
	"build/jetwatt report --html $d/two.html $d/two.jwt && grep -q 'phases.2.energy_j' $d/two.html &&
	 grep -q 'phase 2, energy per minibatch' $d/two.html"
check "and says that its plots are those of phase 1; its curve does not dip in evaluations" \
	"grep -q '<h2>Energy per minibatch, phase 1</h2>' $d/two.html && grep -q '<h2>Along the run, phase 1</h2>' $d/two.html &&
	 build/jetwatt report --html $d/one.html $d/one.jwt && grep -q '<h2>Along the run</h2>' $d/one.html &&
	 curve $d/two.html"
check "compare: the share of the evaluations does not change the result" \
	"build/make-trace $d/more.jwt n=1000 ms=80 eval_every=12 seed=2 > $d/more.json &&
	 build/jetwatt compare --json $d/two.jwt $d/more.jwt > $d/compared.json &&
	 jq -e '[.quantities[] | select(.name == \"time\" or .name == \"energy\") | .change | fabs < 0.01] | length == 2 and all' $d/compared.json > $d/jq"
# A server: the prefills, which take most of the time, are in no cycle of the waits.
build/make-trace $d/prefill-a.jwt n=600 ms=13 prefill_every=12 prefill=40 > $d/prefill.json
build/make-trace $d/prefill-b.jwt n=600 ms=13 prefill_every=12 prefill=40 seed=2 > $d/prefill.json
check "minibatches of phase 1 that are in no cycle" \
	"build/jetwatt export -f jsonl $d/prefill-a.jwt | jq -s -e '[.[] | select(.type == \"minibatch\" and .phase == 1) | .kind] |
	 length == 150 and all(. == \"other\")' > $d/jq &&
	 build/jetwatt report --json $d/prefill-a.jwt | jq -e '.quality | .A + .B + .C + .D == 150' > $d/jq"
check "compare: they are compared, and not those of phase 2" \
	"build/jetwatt report --json $d/prefill-a.jwt > $d/prefill.json &&
	 build/jetwatt compare --json $d/prefill-a.jwt $d/prefill-b.jwt > $d/compared.json &&
	 jq -e --slurpfile r $d/prefill.json '.a.minibatches_used == 150 and
	 (.quantities[] | select(.name == \"time\") | .a / \$r[0].time_ms - 1 | fabs < 0.01) and
	 (.quantities[] | select(.name == \"energy\" and .per == \"minibatch\") | .a / \$r[0].energy_j - 1 | fabs < 0.01)' $d/compared.json > $d/jq"
exit $failed

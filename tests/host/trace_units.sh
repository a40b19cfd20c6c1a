#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Counters of work units in traces (record --per): the figures of report and compare must be those of a
# made-up run, whose energy is known. tests/cmd/per.sh records a running job.
cd "$(dirname "$0")/../.." || exit 1
d=build/check-trace-units
rm -rf $d
. tests/host/check.inc

# near FILE EXPRESSION VALUE RELATIVE: does the expression of jq differ from the value by at most this share?
near() { jq -e "$2 / ($3) - 1 | fabs < $4" "$1"; }

echo 1..16
build/make-trace $d/a.jwt units=7 > $d/a.truth
build/make-trace $d/b.jwt units=7 seed=2 > $d/b.truth
build/make-trace $d/more.jwt units=8 seed=3 > $d/more.truth
build/make-trace $d/none.jwt > $d/none.truth
run build/jetwatt report --json $d/a.jwt
cp $d/out $d/a.json
check "report --json: the units between the first and the last reading" \
	"[ $status = 0 ] && jq -e '.per | keys == [\"token\"]' $d/a.json && jq -e '.per.token | .resets == 0 and .readings >= 22 and
	 .units > 2000 and .units <= 2093 and .units % 7 == 0' $d/a.json"
# 300 minibatches of 7 units
check "report --json: J and ms per unit within 0.5 % of the true ones" \
	"near $d/a.json .per.token.energy_j '$(jq '.joules / 2100' $d/a.truth)' 0.005 &&
	 near $d/a.json .per.token.time_ms '$(jq '1e3 * .seconds / 2100' $d/a.truth)' 0.005"
check "report --json: the energy is that of the report, and its error is stated" \
	"near $d/a.json '.per.token.power_w' \"\$(jq '.total_j / .elapsed_s' $d/a.json)\" 0.002 &&
	 jq -e '.per.token | .energy_sd > 0 and .energy_sd < 0.01 and .power_sd > 0' $d/a.json"
run build/jetwatt report $d/a.jwt
check "report: as text, in 80 columns" \
	"[ $status = 0 ] && grep -q 'J   per token .* +- ' $d/out && grep -q 'ms  per token .* +- ' $d/out &&
	 grep -q 'tokens_total$' $d/out && ! grep -q '.\{81\}' $d/out"
run build/jetwatt report - < $d/a.jwt
check "report: from a pipe" "[ $status = 0 ] && grep -q 'J   per token' $d/out"
run build/jetwatt report --json $d/none.jwt
check "a trace without counters has no figures per unit" "[ $status = 0 ] && jq -e 'has(\"per\") | not' $d/out"
head -c $(($(stat -c %s $d/a.jwt) * 2 / 3)) $d/a.jwt > $d/cut.jwt
run build/jetwatt report --json $d/cut.jwt
check "a truncated trace: the units until its end" \
	"[ $status = 0 ] && jq -e '.per.token.units | . > 1000 and . < 1600' $d/out &&
	 near $d/out .per.token.energy_j '$(jq '.joules / 2100' $d/a.truth)' 0.01"
run build/jetwatt export --format jsonl $d/a.jwt
check "export: the counts, as jsonl" \
	"[ $status = 0 ] && jq -s -e '[.[] | select(.type == \"count\")] | length >= 22 and all(.unit == \"token\" and .end_ns > .begin_ns) and
	 (map(.count) | . == sort and .[0] == 7)' $d/out > $d/jq"

run build/jetwatt compare --json $d/a.jwt $d/b.jwt
check "compare: two runs of the same job do not differ" \
	"[ $status = 0 ] && jq -e '[.quantities[] | select(.per == \"token\") | .moved] == [false, false, false]' $d/out > $d/jq"
run build/jetwatt compare --json $d/a.jwt $d/more.jwt
check "compare: more units of the same energy are found, and the power has not changed" \
	"[ $status = 0 ] && jq -e '[.quantities[] | select(.per == \"token\")] | map(.name) == [\"time\", \"energy\", \"power\"] and
	 (map(.moved) == [true, true, false]) and
	 (.[1] | .change_lo < -0.125 and -0.125 < .change_hi and .change_hi - .change_lo < 0.15 and .confidence > 0.99)' $d/out > $d/jq"
run build/jetwatt compare $d/a.jwt $d/more.jwt
check "compare: as text, in 80 columns" \
	"[ $status = 0 ] && grep -q '^ per token ' $d/out && grep -q '^\*energy  *0.1[0-9]* .* J ' $d/out && ! sed 1,3d $d/out | grep -q '.\{81\}'"
run build/jetwatt compare $d/a.jwt $d/none.jwt
check "compare: a counter of one trace only is left out" "[ $status = 0 ] && ! grep -q 'per token' $d/out"
fails() { run build/jetwatt compare --fail-if "$1" "$2" "$3"; }
fails 'J/token.change < -5 && J/token.sure > 99' $d/a.jwt $d/more.jwt
one=$status
fails 'J/token.change < -5 || J/token.a < J/token.b' $d/a.jwt $d/more.jwt
two=$status
fails 'J/minibatch.change > 5 || ms/minibatch.change > 5 || W.change > 5' $d/a.jwt $d/more.jwt
check "compare --fail-if: true, true, false" "[ $one$two$status = 110 ]"
fails 'J/image.change > 5' $d/a.jwt $d/more.jwt
one=$status
check "compare --fail-if: an unknown metric, with the known ones" \
	"[ $one = 2 ] && grep -q 'unknown metric: J/image' $d/err && grep -q 'J/minibatch.change .*J/token.change' $d/err"
# The first rule is true, the last one is not.
run build/jetwatt compare --fail-if 'W.change > -100' --fail-if 'W.change > 100' $d/a.jwt $d/more.jwt
one=$status
run build/jetwatt stat --fail-if 'J > 0' --fail-if 'J > 1e9' -- true
check "--fail-if given twice is refused: no rule is dropped" \
	"[ $one$status = 22 ] && grep -q 'is given twice' $d/err && grep -q 'fix: .*||' $d/err"
# A trace with units, but without waits, has no minibatches.
build/make-trace $d/waitless.jwt units=7 syncs=0 > $d/waitless.truth
fails 'J/minibatch.change > 5' $d/a.jwt $d/waitless.jwt
one=$status
cp $d/err $d/err.minibatch
fails 'J/token.change > 5' $d/a.jwt $d/none.jwt
two=$status
cp $d/err $d/err.unit
fails 'J/token.change > 5' $d/waitless.jwt $d/none.jwt
three=$status
fails 'J/image.change > 5' $d/waitless.jwt $d/none.jwt
check "compare --fail-if: a metric that a trace lacks is not a usage error" \
	"[ $one$two$three$status = 1112 ] && grep -q 'cannot be evaluated' $d/err.minibatch && grep -q 'cannot be evaluated' $d/err.unit &&
	 grep -q 'unknown metric: J/image' $d/err"
exit $failed

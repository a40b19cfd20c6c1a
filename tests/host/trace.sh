#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Check the verbs that read traces, on generated traces with known contents; they need no board, no
# kernel module and no privilege.
cd "$(dirname "$0")/../.." || exit 1
d=build/check-trace
rm -rf $d
. tests/host/check.inc

says() { grep -q -- "$1" $d/err; }
# within A B PERCENT
within() { awk -v a="$1" -v b="$2" -v p="$3" 'BEGIN { d = a / b - 1; exit !(d * d <= p * p / 1e4) }'; }

echo 1..41
build/make-trace $d/a.jwt seed=7 > $d/truth
run build/jetwatt report --json $d/a.jwt
check "report: minibatches and energy equal those generated" \
	"[ $status = 0 ] && [ ! -s $d/err ] && within \$(jq .minibatches $d/out) \$(jq .minibatches $d/truth) 0 &&
	 within \$(jq .total_j $d/out) \$(jq .joules $d/truth) 0.5 &&
	 within \$(jq .elapsed_s $d/out) \$(jq .seconds $d/truth) 0.01"
cp $d/out $d/whole
run build/jetwatt report --json - < $d/a.jwt
check "report: the same result from a pipe" "[ $status = 0 ] && cmp -s $d/out $d/whole"
run build/jetwatt report $d/a.jwt
check "report: text fits 80 columns" "[ $status = 0 ] && grep -q '300 minibatches' $d/out && ! grep -q '.\{81\}' $d/out"

cp $d/a.jwt $d/same.jwt
ln -s same.jwt $d/link.jwt
run build/jetwatt report $d/same.jwt --html $d/link.jwt
reported=$status
run build/jetwatt export -f csv $d/same.jwt -o $d/link.jwt
check "report --html and export -o do not overwrite their trace" \
	"[ $reported = 2 ] && [ $status = 2 ] && says 'would be overwritten' && cmp $d/a.jwt $d/same.jwt"
echo earlier > $d/earlier.csv
run build/jetwatt export -f csv $d/missing.jwt -o $d/earlier.csv
check "export: a trace that cannot be read leaves the output file as it is" \
	"[ $status = 1 ] && [ \"\$(cat $d/earlier.csv)\" = earlier ]"

build/make-trace $d/blind.jwt seed=7 gap_at=20 gap=1e6 > $d/blind
run build/jetwatt report $d/blind.jwt
check "report: minibatches after the last sample are not taken for warm-up" "[ $status = 0 ] &&
	grep -q '300 minibatches (first 10 left out)' $d/out && grep -q 'hint: 50 more minibatches are left out' $d/out"

build/make-trace $d/single.jwt n=1 > $d/single
run build/jetwatt report $d/single.jwt
check "report: without a usable minibatch, no rail has an energy per minibatch" "[ $status = 0 ] &&
	grep -q 'no minibatches used' $d/out && grep -q 'VDD_GPU_SOC .* %' $d/out && ! grep -q 'per minibatch' $d/out"

head -c 120000 $d/a.jwt > $d/cut.jwt
run build/jetwatt report --json $d/cut.jwt
check "a truncated trace: the rest is used" "[ $status = 0 ] && says 'was not closed.*incomplete block' &&
	[ \$(jq .minibatches $d/out) -gt 150 ] && [ \$(jq .lost $d/out) = null ]"
{ head -c 60000 $d/a.jwt; printf 'xx'; tail -c +60003 $d/a.jwt; } > $d/bad.jwt
run build/jetwatt report --json $d/bad.jwt
check "a damaged block: a gap and lost waits are reported" "[ $status = 0 ] && says '1 blocks are damaged' &&
	[ \$(jq .sampler.lost $d/out) -gt 500 ] && [ \$(jq .waits_lost $d/out) -gt 5 ]"
# Remove the trace's second block, which follows the header and contains the first samples.
block() { od -An -tu4 -j$1 -N4 $d/a.jwt | tr -d ' '; }
first=$((32 + $(block 12)))
{ head -c $first $d/a.jwt; tail -c +$((first + 33 + $(block $((first + 12))))) $d/a.jwt; } > $d/late.jwt
run build/jetwatt report --json $d/late.jwt
check "lost first samples: the run begins later" "[ $status = 0 ] && says '1 missing' &&
	jq -e '.elapsed_s > 22 and .elapsed_s < 23.6 and .total_j > 350' $d/out > $d/jq"
for f in /dev/null /bin/true $d/absent; do
	run build/jetwatt report $f
	check "$f is refused as a trace" "[ $status = 1 ] && says '  why: '"
done
run build/jetwatt report
check "no trace: usage error with a fix" "[ $status = 2 ] && says 'fix: '"

run build/jetwatt export -f csv $d/a.jwt
check "csv: one line per sample, energy equals that generated" "[ $status = 0 ] && awk -F, 'NR > 2 { if (\$1 > 1e11) e += (\$1 - t) * (\$9 + p) / 2e15 } { t = \$1; p = \$9 } END { print e }' $d/out > $d/e &&
	within \$(cat $d/e) \$(jq .joules $d/truth) 0.5"
check "csv: every line has every column" "[ \$(awk -F, '{ print NF }' $d/out | sort -u | wc -l) = 1 ]"
check "csv: a temperature that was not read yet is empty" "[ $status = 0 ] && awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if (\$i == \"temp_mc\") c = i; next }
	\$c == \"\" { none++; next } \$c < 40000 { bad++ } END { exit !c || bad || none < 50 || none > 150 }' $d/out"
run build/jetwatt export -f csv --minibatches -o $d/m.csv $d/a.jwt
check "csv: one line per minibatch" "[ $status = 0 ] && [ \$(grep -c ,train, $d/m.csv) -ge 299 ]"
run build/jetwatt export -f csv --rate 10Hz $d/a.jwt
check "csv: means with a lower rate" "[ $status = 0 ] && awk 'END { exit NR < 235 || NR > 245 }' $d/out"
run build/jetwatt export -f jsonl $d/a.jwt
check "jsonl: every line is JSON" "[ $status = 0 ] && jq -e -s '(.[0].type == \"header\") and (.[-1].type == \"end\") and (.[-1].minibatches == 300)' $d/out > $d/jq"
run build/jetwatt export -f cvs $d/a.jwt
check "an unknown format: a suggestion" "[ $status = 2 ] && says 'did you mean csv'"
run build/jetwatt export $d/a.jwt
check "no format: usage error" "[ $status = 2 ] && says 'format'"
run build/jetwatt export -f csv -o /dev/full $d/a.jwt
check "export to a full disk: an error" "[ $status = 1 ] && says 'No space left'"

head -c 1000 $d/a.jwt > $d/none.jwt
echo earlier > $d/kept.csv
run build/jetwatt export -f csv -o $d/kept.csv $d/none.jwt
check "an export that fails after the trace was opened leaves an earlier file as it is" \
	"[ $status = 1 ] && says 'no sample' && [ \"\$(cat $d/kept.csv)\" = earlier ]"
ln -s kept.csv $d/link.csv
run build/jetwatt export -f csv -o $d/link.csv $d/a.jwt
check "an export to a symbolic link writes the file that it leads to" \
	"[ $status = 0 ] && [ -L $d/link.csv ] && grep -q ^t_ns $d/kept.csv && ! ls $d | grep 'csv[.]'"

# The help of a verb ends the process in argp. The text of a report, and its message about the trace that
# is not closed, are written before the process ends.
build/make-trace $d/open.jwt open=1 n=50 > $d/truth
for args in --help --version "list --help" "report $d/a.jwt" "report --json $d/open.jwt" "report --html=- $d/a.jwt"; do
	status=0
	build/jetwatt $args > /dev/full 2> $d/err || status=$?
	check "jetwatt $args to a full disk: an error" "[ $status = 1 ] && grep -q 'No space left' $d/err"
done

# report accepts a trace that is still being written, and reports its contents so far.
run build/jetwatt report --json $d/open.jwt
check "a trace that is being written is reported" "[ $status = 0 ] && says 'was not closed' && [ \$(jq .minibatches $d/out) -ge 49 ]"

# 3 of 8 s are a gap, which begins when the plot still has columns of 1 ms.
build/make-trace $d/gap.jwt n=100 gap_at=1 gap=3000 > $d/truth
run build/jetwatt report -q --html=$d/gap.html $d/gap.jwt
check "report --html: the whole gap is marked" "sed -n \"s/.*<rect class='gap'.* width='\([0-9.]*\)'.*/\1/p\" $d/gap.html |
	awk '{ w += \$1; print } END { exit w < 220 || w > 245 }'"

# jetwatt compare must report no change between equal runs, and must find a change that is
# generated.
build/make-trace $d/a.jwt seed=7 > $d/truth
build/make-trace $d/b.jwt seed=8 > $d/truth
build/make-trace $d/c.jwt seed=9 gpu_w=11 > $d/truth
build/make-trace $d/e.jwt seed=10 slow_at=0 slow=1.3 > $d/truth
moved() { jq -r '[.quantities[] | select(.moved) | .name] | join(" ")' $d/out; }
run build/jetwatt compare --json $d/a.jwt $d/b.jwt
check "compare: two runs of the same job do not differ" "[ $status = 0 ] && [ -z \"\$(moved)\" ] && jq -e '.most_of_energy == null' $d/out > $d/jq"
run build/jetwatt compare --json $d/a.jwt $d/c.jwt
check "compare: one more watt on the GPU is found, with its rail" "[ $status = 0 ] &&
	jq -e '.most_of_energy == \"VDD_GPU_SOC\" and .share_of_energy > 0.7 and .share_of_energy < 0.9' $d/out > $d/jq &&
	[[ \" \$(moved) \" == *' energy VDD_GPU_SOC '* && \" \$(moved) \" != *clock* ]]"
run build/jetwatt compare --json $d/a.jwt $d/e.jwt
check "compare: a slower clock is named" "[ $status = 0 ] && [[ \" \$(moved) \" == *'GPU clock'* ]] &&
	jq -e '.quantities[0] | .change > 0.25 and .change < 0.35 and .moved' $d/out > $d/jq"
run build/jetwatt compare - $d/c.jwt < $d/a.jwt
piped=$status
says 'read twice' && run build/jetwatt compare $d/a.jwt <(cat $d/c.jwt)
check "compare: a trace that cannot be read twice is refused" "[ $piped = 2 ] && [ $status = 2 ] && says 'read twice' && ! says 'it is empty'"
run build/jetwatt compare $d/a.jwt $d/c.jwt
check "compare: text fits 80 columns" "[ $status = 0 ] && grep -q '^\*energy' $d/out && ! sed 1,3d $d/out | grep -q '.\{81\}'"
build/make-trace $d/s.jwt ms=4 n=3000 rate=150 gap_at=3 gap=500 idle_w=0.9 gpu_w=1.1 cpu_w=.3 > $d/truth
run build/jetwatt report $d/s.jwt
check "report: short minibatches, small values and every hint fit 80 columns" \
	"[ $status = 0 ] && grep -q 'shorter than a refresh' $d/out && grep -q 'lie in gaps' $d/out && ! grep -q '.\{81\}' $d/out"
run build/jetwatt compare $d/s.jwt $d/a.jwt
check "compare: very different runs fit 80 columns" "[ $status = 0 ] && grep -q '^\*time .* x[12][0-9]' $d/out && ! sed 1,3d $d/out | grep -q '.\{81\}'"
run build/jetwatt compare $d/a.jwt
check "compare: one trace is a usage error" "[ $status = 2 ] && says 'fix: '"
exit $failed

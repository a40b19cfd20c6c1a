#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# host: waits
#
# Check jetwatt top with a trace as input: the contents of a virtual terminal of several sizes, with
# and without colour, and the output without a terminal.
cd "$(dirname "$0")/../.." || exit 1
d=build/check-top
rm -rf $d
. tests/host/check.inc

# screen SIZE STEPS OPTION...
screen()
{
	local size=$1 steps=$2
	shift 2
	/usr/bin/python3 tests/trace/screen.py "$size" "$steps" -- build/jetwatt top "$@" > $d/out 2>&1
	status=$?
}

if ! /usr/bin/python3 -c 'import pyte' 2> /dev/null; then
	echo "1..0 # SKIP no python3-pyte here"
	exit 0
fi
export LC_ALL=C
tab=$'\t'
# Search in the output of a terminal with UTF-8.
utf8() { LC_ALL=C.UTF-8 grep "$@"; }
echo 1..26
build/make-trace $d/run.jwt seed=5 n=200 > $d/truth
all="--replay $d/run.jwt --speed 100000"

screen 80x24 2,show,key:q $all --budget 20W
check "80x24: total, clocks and rails are shown" "[ $status = 0 ] && grep -qE '^module 1[67]\.[0-9]+ W \[=+ *\] of 20 W' $d/out &&
	grep -q 'GPU 1301 MHz   CPU 12 on 2202 MHz   EMC 3199 MHz' $d/out &&
	grep -qE 'VDD_GPU_SOC +9\.[0-9]+ W \[=+ *\] +5[67] %' $d/out && grep -q '(VDDQ_VDD2_1V8AO.*in another rail)' $d/out"
check "the job is shown with J and ms per minibatch" "grep -qE '^4711 +train --made .up. +1\.3[0-9]* +(79|80|81)[.0-9]* ' $d/out"
check "one tick per minibatch: 50 in 4 s, some share a column" \
	"ticks=\$(sed -n 's/^    4 s  //p' $d/out | tr -cd '|' | wc -c); [ \$ticks -ge 44 ] && [ \$ticks -le 52 ]"
check "the screen fits 24 lines and 80 columns" "[ \$(wc -l < $d/out) = 24 ] && ! grep -q '.\{81\}' $d/out"
screen 80x24 2,colors,key:q $all --budget 10W
check "over the budget: shown in colour" "grep -q 'colors [1-9]' $d/out"
NO_COLOR=1 screen 80x24 2,colors,show,key:q $all --budget 10W
check "NO_COLOR: no colour, and over budget is shown as text" "grep -q 'colors 0' $d/out && grep -q 'over budget' $d/out"
screen 80x24 1,120x40,1,show,key:q $all
check "after a resize, the time line uses the width" "[ $status = 0 ] && grep -q '|.\{108\}' $d/out && [ \$(wc -l < $d/out) = 40 ]"
screen 40x8 1,show,key:q $all
check "a small terminal does not crash" "[ $status = 0 ] && grep -q '^module' $d/out"
screen 80x24 1,key:+,1,show,key:q $all
check "the time window can be made longer" "grep -q '^    8 s' $d/out"
screen 80x24 2,show,key:q $all
check "without UTF-8: ASCII alone" "! LC_ALL=C grep -q '[^ -~]' $d/out && grep -q 'W |[|:.]' $d/out"
LC_ALL=C.UTF-8 screen 80x24 2,show,key:q $all --budget 20W
check "UTF-8: bars and columns of blocks, 80 columns wide" \
	"[ \$(wc -l < $d/out) = 24 ] && utf8 -qE '^module 16[.0-9]+ W \[█{25}[▏▎▍▌▋▊▉]? *\] of 20 W' $d/out &&
	 utf8 -qE '^ +18\.[0-9] W .*[▁▂▃▄▅▆▇]' $d/out && ! utf8 -q '.\{81\}' $d/out"
LC_ALL=C.UTF-8 screen 80x24 "1,key:$tab,1,show,key:q" $all
check "tab: clocks, cores and temperature over time, in braille" \
	"grep -qE '^GPU +1300\.5 MHz +unchanged in 4 s' $d/out && grep -qE '^EMC +3199 MHz' $d/out && grep -qE '^cores +12' $d/out &&
	 grep -qE '^temperature 49\.[0-9]+ C +49\.[0-9]+ to 49\.[0-9]+ in 4 s' $d/out && [ \$(utf8 -c '[⠒⠤⠉]' $d/out) -ge 6 ]"
screen 80x24 "1,key:$tab,1,show,key:$tab,1,show,key:q" $all
check "and in ASCII; tab goes back" \
	"! LC_ALL=C grep -q '[^ -~]' $d/out && grep -qE \"^ {10}[-_']{20}\" $d/out && tail -n 24 $d/out | grep -q '^PID'"
screen 80x24 1,key:h,1,show,key:q $all
check "h: the keys" "[ $status = 0 ] && grep -q '^tab ' $d/out && grep -q '^s .*sort' $d/out && ! grep -q '.\{81\}' $d/out"
screen 80x24 1,key:s,key:s,1,show,key:q $all
check "s: sort by the next column" "grep -q 'sort: ms/batch' $d/out && grep -q '^4711' $d/out"
for page in h "$tab"; do LC_ALL=C.UTF-8 screen 40x8 "1,key:$page,1,show,10x3,1,300x60,1,show,key:q" $all || break; done
check "small and large terminals on every page" "[ $status = 0 ] && grep -q '^GPU' $d/out"
build/make-trace $d/odd.jwt odd=1 > $d/truth
LC_ALL=C.UTF-8 screen 80x24 2,show,key:q --replay $d/odd.jwt --speed 100000
check "a command with a line break and characters of several bytes stays in its column" \
	"utf8 -qE '^4711 +tr.in.€+\.\.\. +1\.3[0-9]* +(79|80|81)[.0-9]* ' $d/out && [ \$(wc -l < $d/out) = 24 ]"
build/make-trace $d/two.jwt n=400 eval_every=8 > $d/truth
screen 80x24 2,show,key:q --replay $d/two.jwt --speed 100000
check "a job with two phases: a line for each, with its J, ms and minibatches per second" \
	"grep -qE '^4711 +train --made .up. +[0-9.]+ +[0-9]+ %' $d/out &&
	 grep -q 'no process on the GPU' $d/out && grep -qE '^ +phase 1 +1\.3[0-9]* +(79|80|81)[.0-9]* +(8|9|1[01])' $d/out &&
	 grep -qE '^ +phase 2 +0\.(39|4[01])[0-9]* +2[345][.0-9]* +[345]' $d/out && ! grep -q '.\{81\}' $d/out"
build/make-trace $d/units.jwt n=200 units=7 > $d/truth
screen 80x24 3,show,key:q --replay $d/units.jwt --speed 100000
check "the counter of a trace: J and ms per token, and tokens per second" \
	"grep -qE '^per +token +0\.1(8|9|20)[0-9]* +11\.[34][0-9]* +8[78](\.[0-9])?$' $d/out && grep -q '^4711' $d/out && ! grep -q '.\{81\}' $d/out"
screen 80x24 1,key:-,key:-,1,show,key:q --replay $d/units.jwt --speed 100000
check "a window with fewer than two readings: none counted" "grep -qE '^per +token +none counted in 1 s' $d/out"
build/jetwatt top --replay $d/units.jwt --per token=$d/tokens > $d/out 2>&1 < /dev/null
status=$?
check "--per with --replay is refused" "[ $status = 2 ] && grep -q -- '--per cannot be combined' $d/out && grep -q 'why: a replay shows' $d/out"
build/make-trace $d/orphan.jwt n=200 orphan=1 > $d/truth
screen 80x24 2,show,key:q --replay $d/orphan.jwt --speed 100000
check "a rail without a known parent is not said to be in another rail" \
	"grep -q '(VDDQ_VDD2_1V8AO.*not counted)' $d/out && ! grep -q 'in another rail' $d/out"
# A trace that is being written, and one that was closed, both without samples.
head -c 1000 $d/run.jwt > $d/begun.jwt
screen 80x24 2,show,key:q --replay $d/begun.jwt
check "a trace that has no sample yet: top waits, and says so" "[ $status = 0 ] && grep -q '^waiting for the first sample' $d/out"
build/make-trace $d/closed.jwt empty=1 > $d/truth
screen 80x24 2,show,key:q --replay $d/closed.jwt
check "a trace that ends without a sample: an error with its reason and a fix" \
	"[ $status = 1 ] && grep -q 'no power is recorded' $d/out && grep -q 'why: it ends before' $d/out && grep -q 'fix: ' $d/out"
build/jetwatt top --replay $d/run.jwt > $d/out 2>&1 < /dev/null
check "without a terminal: an error with a fix" "[ $? = 2 ] && grep -q 'top needs a terminal' $d/out && grep -q 'fix: ' $d/out"
SCREEN_TERM=nothing-known screen 80x24 2,show $all
check "an unknown terminal: an error" "[ $status = 1 ] && grep -q 'cannot draw' $d/out"
exit $failed

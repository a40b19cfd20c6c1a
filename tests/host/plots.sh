#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Check plots: gnuplot draws them, or jetwatt writes an HTML page. Errors name a fix.
cd "$(dirname "$0")/../.." || exit 1
d=$(mktemp -d)
trap 'rm -rf "$d"' EXIT
. tests/host/check.inc
J=$PWD/build/jetwatt

well_formed() { python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' "$1" 2> "$d/err"; }
png() { [ "$(head -c 8 "$1" | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ]; }

# Profile of a simulated job with 216 modes, and a second profile with every sixth of them.
awk 'BEGIN {
	print "cores,cpu_khz,gpu_hz,emc_hz,time_ms,power_w"
	for (c = 2; c <= 12; c += 2) for (u = 1; u <= 3; u++) for (g = 3; g <= 13; g += 2) for (m = 1; m <= 2; m++)
		printf "%d,%d,%.0f,%.0f,%.3f,%.3f\n", c, 700000 * u, g * 1e8, m * 1.6e9,
			40 + 600 / g + 40 / m + 30 / u, 8 + c * u / 6 + g * g / 9 + m
}' > "$d/all.csv"
awk 'NR == 1 || NR % 6 == 0' "$d/all.csv" > "$d/some.csv"
{
	echo "< PARAM TYPE=FILE NAME=CPU_ONLINE >"
	for i in 0 1 2 3; do echo "CORE_$i /sys/devices/system/cpu/cpu$i/online"; done
	echo "< PARAM TYPE=CLOCK NAME=GPU >"
	echo "MAX_FREQ /sys/devices/17000000.gpu/devfreq_dev/max_freq"
	echo '< POWER_MODEL ID=0 NAME="`touch$IFS/x`"\\ >'
	echo "GPU MAX_FREQ -1"
	echo "< POWER_MODEL ID=1 NAME=<b>LOW&SLOW >"
	for i in 0 1; do echo "CPU_ONLINE CORE_$i 1"; done
	echo "GPU MAX_FREQ 480000000"
} > "$d/presets.conf"
sed -i 's/NAME=<b>LOW&SLOW/NAME=LOW\&SLOW/' "$d/presets.conf"

echo 1..16
opt=(optimize --power 14 --profile "$d/some.csv" --modes "$d/all.csv" --presets "$d/presets.conf")
run "$J" "${opt[@]}"
check "optimize compares with presets" '[ $status = 0 ] && grep -q "GPU 480 becomes 500 MHz" "$d/out" && grep -q "over the budget by" "$d/out"'
run "$J" "${opt[@]}" --json "$d/a.json" -q
check "presets are in its JSON too" '[ "$(jq -r ".presets[1].mode" "$d/a.json")" = c2-2100000-g500000000-e3200000000 ] && jq -e ".presets[1].rounded" "$d/a.json" > /dev/null'

skip=
command -v gnuplot > /dev/null || skip=" # SKIP no gnuplot"
if [ -z "$skip" ]; then
	run "$J" "${opt[@]}" --plot "$d/front.svg"
	check "Pareto front as SVG" '[ $status = 0 ] && well_formed "$d/front.svg" && grep -q "budget 14 W" "$d/front.svg" && grep -q LOW "$d/front.svg"'
	check "the name of a preset is not executed" '[ ! -e /x ] && grep -q "touch" "$d/front.svg"'
	run "$J" predict --profile "$d/some.csv" --modes "$d/all.csv" --plot "$d/front.png"
	check "Pareto front as PNG" '[ $status = 0 ] && png "$d/front.png"'
	run "$J" eval predict --corpus "$d/all.csv" --samples 30 --repeats 1 --plot "$d/fit.svg"
	check "plot of predicted and measured values" '[ $status = 0 ] && well_formed "$d/fit.svg" && grep -q "on average" "$d/fit.svg"'
	run "$J" eval predict --corpus "$d/all.csv" --samples 10,20,40 --repeats 2 --json --plot "$d/learning.svg"
	check "plot of the learning curve" '[ $status = 0 ] && well_formed "$d/learning.svg" && grep -q "modes measured" "$d/learning.svg"'
else
	for i in 3 4 5 6 7; do echo "ok $i$skip"; done
	n=7
	run "$J" eval predict --corpus "$d/all.csv" --samples 10,20,40 --repeats 2 --json
fi
check "several numbers of samples: one line of JSON each" '[ "$(jq -s "map(.samples) | tostring" "$d/out")" = "\"[10,20,40]\"" ]'
run "$J" eval predict --corpus "$d/all.csv" --method linreg --samples 10,20 --repeats 1 --json
check "linreg is fitted to its four modes, whatever the numbers of samples" '[ "$(jq -s "map(.samples) | tostring" "$d/out")" = "\"[4]\"" ]'
mkdir "$d/bin"
PATH=$d/bin run "$J" "${opt[@]}" --plot "$d/none.svg"
check "without gnuplot: an error with a fix, and no file" '[ $status = 1 ] && grep -q "apt install gnuplot" "$d/err" && [ -z "$(ls "$d" | grep none)" ]'
PATH=$d/bin run "$J" "${opt[@]}" --plot "$d/front.html"
check "an HTML page needs no gnuplot" '[ $status = 0 ] && grep -q "budget 14 W" "$d/front.html" && grep -q "LOW&amp;SLOW" "$d/front.html"'
awk 'NR == 1 || NR % 5 == 0' "$d/all.csv" > "$d/few.csv"
run "$J" predict --profile "$d/some.csv" --modes "$d/few.csv" -o "$d/plain.csv"
cp "$d/out" "$d/plain"
run "$J" predict --profile "$d/some.csv" --modes "$d/few.csv" -o "$d/plotted.csv" --plot "$d/front.html" --presets "$d/presets.conf" --power 14
check "predict with a plot of presets writes the same modes as without" '[ $status = 0 ] && cmp "$d/plain.csv" "$d/plotted.csv" && cmp "$d/plain" "$d/out" && grep -q "LOW&amp;SLOW" "$d/front.html"'
check "the page of predict does not mention a chosen mode" 'grep -q "<h1>Power modes</h1>" "$d/front.html" && ! grep -qE "No mode was chosen|</i>chosen|fastest mode" "$d/front.html"'
run "$J" eval predict --corpus "$d/all.csv" --samples 10,20 --repeats 1 --plot "$d/eval.html"
check "a page of an evaluation needs no gnuplot" '[ $status = 0 ] && [ "$(grep -c "<svg" "$d/eval.html")" = 3 ]'
printf '#!/bin/sh\necho "line 1: no such terminal" >&2\nexit 1\n' > "$d/bin/gnuplot"
chmod +x "$d/bin/gnuplot"
PATH=$d/bin run "$J" "${opt[@]}" --plot "$d/none.svg"
check "a gnuplot that fails: its message is shown" '[ $status = 1 ] && grep -q "no such terminal" "$d/err" && [ -z "$(ls "$d" | grep none)" ]'
run "$J" "${opt[@]}" --plot "$d/front.pdf"
check "another file extension is a usage error" '[ $status = 2 ] && grep -q "svg, .png or .html" "$d/err"'
exit $failed

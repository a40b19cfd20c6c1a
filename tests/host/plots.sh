#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Pictures: drawn by gnuplot or as a page, and said where they cannot be.
cd "$(dirname "$0")/../.." || exit 1
T=$(mktemp -d) n=0 failed=0
trap 'rm -rf "$T"' EXIT
J=$PWD/build/jetwatt

check()	# TEXT COMMAND
{
	n=$((n + 1))
	if eval "$2"; then
		echo "ok $n $1"
	else
		echo "not ok $n $1"
		sed 's/^/# out: /' "$T/out"
		sed 's/^/# err: /' "$T/err"
		failed=1
	fi
}

run() { "$@" > "$T/out" 2> "$T/err"; status=$?; }
well_formed() { python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' "$1" 2> "$T/err"; }
png() { [ "$(head -c 8 "$1" | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ]; }

# 216 modes of a made-up job, and every sixth of them measured.
awk 'BEGIN {
	print "cores,cpu_khz,gpu_hz,emc_hz,time_ms,power_w"
	for (c = 2; c <= 12; c += 2) for (u = 1; u <= 3; u++) for (g = 3; g <= 13; g += 2) for (m = 1; m <= 2; m++)
		printf "%d,%d,%.0f,%.0f,%.3f,%.3f\n", c, 700000 * u, g * 1e8, m * 1.6e9,
			40 + 600 / g + 40 / m + 30 / u, 8 + c * u / 6 + g * g / 9 + m
}' > "$T/all.csv"
awk 'NR == 1 || NR % 6 == 0' "$T/all.csv" > "$T/some.csv"
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
} > "$T/presets.conf"
sed -i 's/NAME=<b>LOW&SLOW/NAME=LOW\&SLOW/' "$T/presets.conf"

echo 1..13
opt=(optimize --power 14 --profile "$T/some.csv" --modes "$T/all.csv" --presets "$T/presets.conf")
run "$J" "${opt[@]}"
check "optimize compares with presets" '[ $status = 0 ] && grep -q "GPU 480 becomes 500 MHz" "$T/out" && grep -q "over the budget by" "$T/out"'
run "$J" "${opt[@]}" --json "$T/a.json" -q
check "and in its JSON" '[ "$(jq -r ".presets[1].mode" "$T/a.json")" = c2-2100000-g500000000-e3200000000 ] && jq -e ".presets[1].rounded" "$T/a.json" > /dev/null'

skip=
command -v gnuplot > /dev/null || skip=" # SKIP no gnuplot"
if [ -z "$skip" ]; then
	run "$J" "${opt[@]}" --plot "$T/front.svg"
	check "front as SVG" '[ $status = 0 ] && well_formed "$T/front.svg" && grep -q "budget 14 W" "$T/front.svg" && grep -q LOW "$T/front.svg"'
	check "a preset's name is a name" '[ ! -e /x ] && grep -q "touch" "$T/front.svg"'
	run "$J" predict --profile "$T/some.csv" --modes "$T/all.csv" --plot "$T/front.png"
	check "front as PNG" '[ $status = 0 ] && png "$T/front.png"'
	run "$J" eval predict --corpus "$T/all.csv" --samples 30 --repeats 1 --plot "$T/fit.svg"
	check "predicted against measured" '[ $status = 0 ] && well_formed "$T/fit.svg" && grep -q "on average" "$T/fit.svg"'
	run "$J" eval predict --corpus "$T/all.csv" --samples 10,20,40 --repeats 2 --json --plot "$T/learning.svg"
	check "learning curve" '[ $status = 0 ] && well_formed "$T/learning.svg" && grep -q "modes measured" "$T/learning.svg"'
else
	for i in 3 4 5 6 7; do echo "ok $i$skip"; done
	n=7
	run "$J" eval predict --corpus "$T/all.csv" --samples 10,20,40 --repeats 2 --json
fi
check "several numbers of samples: a line of JSON for each" '[ "$(jq -s "map(.samples) | tostring" "$T/out")" = "\"[10,20,40]\"" ]'
mkdir "$T/bin"
PATH=$T/bin run "$J" "${opt[@]}" --plot "$T/none.svg"
check "without gnuplot: said, with a fix, no file" '[ $status = 1 ] && grep -q "apt install gnuplot" "$T/err" && [ -z "$(ls "$T" | grep none)" ]'
PATH=$T/bin run "$J" "${opt[@]}" --plot "$T/front.html"
check "a page needs none" '[ $status = 0 ] && grep -q "budget 14 W" "$T/front.html" && grep -q "LOW&amp;SLOW" "$T/front.html"'
run "$J" eval predict --corpus "$T/all.csv" --samples 10,20 --repeats 1 --plot "$T/eval.html"
check "nor does one of an evaluation" '[ $status = 0 ] && [ "$(grep -c "<svg" "$T/eval.html")" = 3 ]'
printf '#!/bin/sh\necho "line 1: no such terminal" >&2\nexit 1\n' > "$T/bin/gnuplot"
chmod +x "$T/bin/gnuplot"
PATH=$T/bin run "$J" "${opt[@]}" --plot "$T/none.svg"
check "a gnuplot that fails: its words" '[ $status = 1 ] && grep -q "no such terminal" "$T/err" && [ -z "$(ls "$T" | grep none)" ]'
run "$J" "${opt[@]}" --plot "$T/front.pdf"
check "another end of the name: usage" '[ $status = 2 ] && grep -q "svg, .png or .html" "$T/err"'
exit $failed

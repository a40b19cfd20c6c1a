#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The report page in a real browser: its metrics equal those of report --json, the console shows no
# message, and nothing is downloaded. make check-report installs the browser; screenshots are in
# build/check-page/.
cd "$(dirname "$0")/../.." || exit 1
d=build/check-page
rm -rf $d
. tests/host/check.inc

if ! command -v chromium > /dev/null; then
	echo "1..0 # SKIP no chromium here: make check-report installs it"
	exit 0
fi

# browser OPTION...: run the browser headless, with its log in $d/log
browser()
{
	timeout 100 chromium --headless --no-sandbox --disable-gpu --no-first-run --user-data-dir=$d/profile \
		--enable-logging=stderr --host-resolver-rules='MAP * ~NOTFOUND' "$@" 2> $d/log
}

# figures FILE: print "key value" for every metric on the page, as the browser shows it
figures() { grep -o "<data id=\"[^\"]*\" value=\"[^\"]*\"" "$1" | sed 's/<data id="//; s/" value="/ /; s/"$//' | sort; }
# report FILE: print "key value" for every metric of a JSON report that the page shows too
report()
{
	python3 -c 'import json, sys
def walk(v, name):
    for key, x in v.items():
        if isinstance(x, dict): walk(x, name + key + ".")
        elif isinstance(x, str) and key != "scope" and name != "probe.": print(name + key, x)
walk(json.load(open(sys.argv[1]), parse_float=str, parse_int=str), "")' "$1" | grep -vE '^(sampler.missed_deadlines|probe\..*) ' | sort
}

echo 1..12
build/make-trace $d/run.jwt n=1500 gap_at=40 gap=4000 slow_at=80 slow=1.6 drift=.4 seed=3 > $d/truth
build/make-trace $d/short.jwt n=3 > $d/truth
for name in run short; do
	build/jetwatt report --json --html $d/$name.html $d/$name.jwt > $d/$name.json
	browser --dump-dom "file://$PWD/$d/$name.html" > $d/dom
	check "$name: the browser shows the page" "grep -q '</html>' $d/dom && grep -q '<svg' $d/dom"
	check "$name: the console shows no message" "! grep -E 'CONSOLE|net::|Refused' $d/log"
	figures $d/dom > $d/shown
	report $d/$name.json > $d/reported
	check "$name: its metrics equal those of report --json" "[ \$(wc -l < $d/shown) -gt 10 ] && diff $d/shown $d/reported"
	browser --window-size=900,4600 --screenshot=$d/$name.png "file://$PWD/$d/$name.html" > /dev/null
	check "$name: no axis begins at -0" "! grep -q '>-0<' $d/$name.html"
	check "$name: the screenshot is not empty" "[ \$(wc -c < $d/$name.png) -gt 20000 ]"
done
browser --print-to-pdf=$d/run.pdf "file://$PWD/$d/run.html" > /dev/null
check "the page prints to PDF" "[ \$(wc -c < $d/run.pdf) -gt 20000 ]"
check "the page has no external links" "! grep -oE '(src|href)=.(https?:|//|/|[a-z]+\.)' $d/run.html"
rm -rf $d/profile
exit $failed

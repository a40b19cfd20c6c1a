#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Check that the programs for which jetwatt exports data can read the exports: protoc, promtool,
# prometheus_client, pandas, jq. Tests of a missing program are skipped; packages:
# protobuf-compiler, prometheus, python3-prometheus-client, python3-pandas.
cd "$(dirname "$0")/../.." || exit 1
d=build/check-export
rm -rf $d
. tests/host/check.inc

# with TOOL TEXT COMMAND: run the check COMMAND, or skip it if TOOL (a command or a Python module)
# is missing
with()
{
	if command -v "$1" > /dev/null || /usr/bin/python3 -c "import $1" 2> /dev/null; then
		check "$2" "$3"
	else
		n=$((n + 1))
		echo "ok $n $2 # SKIP no $1 here"
	fi
}

export_as() { build/jetwatt export --format "$1" -o $d/run.$1 $d/run.jwt; }
near() { awk -v a="$1" -v b="$2" 'BEGIN { d = a / b - 1; print a, b; exit !(d * d < 1e-6) }'; }

echo 1..19
build/make-trace $d/run.jwt gap_at=5 gap=300 > $d/truth
for f in csv jsonl perfetto chrome openmetrics prometheus tegrastats; do export_as $f; done
build/jetwatt report --json $d/run.jwt > $d/report
total=$(jq .total_j $d/report)
rows=$(($(wc -l < $d/run.csv) - 1))

with protoc "perfetto: decodes by the published numbers" \
	"protoc --proto_path=tests/trace --decode=Trace perfetto.proto < $d/run.perfetto > $d/perfetto.txt"
with protoc "perfetto: no field that is not published" \
	"[ -s $d/perfetto.txt ] && ! grep -nE '^ *[0-9]+[: ]' $d/perfetto.txt"
with protoc "perfetto: a slice a minibatch, as many ends as beginnings" \
	"[ \$(grep -c 'type: SLICE_BEGIN' $d/perfetto.txt) = 300 ] && [ \$(grep -c 'type: SLICE_END' $d/perfetto.txt) = 300 ]"
with protoc "perfetto: a value a sample on the total's track" \
	"awk '/track_uuid: 3\$/ { n++ } END { print n; exit n != '$rows' }' $d/perfetto.txt"
# The end of a slice ends the slice of its track that began last, so slices of a track must not overlap.
build/make-trace $d/two.jwt others=1 > /dev/null
build/jetwatt export --format perfetto -o $d/two.perfetto $d/two.jwt
with protoc "perfetto: minibatches of two processes are on two tracks, where they do not overlap" \
	"protoc --proto_path=tests/trace --decode=Trace perfetto.proto < $d/two.perfetto |
	 awk '/ timestamp:/ { t = \$2 } /type: SLICE_/ { k = \$2 } /track_uuid:/ && k { print t, NR, k, \$2; k = \"\" }' |
	 sort -n -k 1,1 -k 2,2 | awk '/BEGIN/ { most = ++open[\$4] > most ? open[\$4] : most } /END/ { open[\$4]-- }
		END { for (u in open) tracks++; print tracks, most; exit tracks != 2 || most != 1 }'"
build/make-trace $d/odd.jwt odd=1 > /dev/null
build/jetwatt export --format perfetto -o $d/odd.perfetto $d/odd.jwt
with protoc "perfetto: texts are UTF-8, and no character is cut" \
	"protoc --proto_path=tests/trace --decode=Trace perfetto.proto < $d/odd.perfetto | grep process_name | tee $d/name &&
	 printf \"\$(sed 's/.*: \"//; s/\"\$//' $d/name)\" | iconv -f UTF-8 -t UTF-8 > $d/utf8 && [ \$(wc -c < $d/utf8) -gt 190 ]"
check "chrome: valid JSON, every event is complete" \
	"jq -e '[.traceEvents[] | select((.ph | IN(\"C\", \"X\", \"M\")) and .ts and .name)] | length > 2000' $d/run.chrome &&
	 jq -e '([.traceEvents[] | select(.ph == \"X\")] | length) == 300 and all(.traceEvents[] | select(.ph == \"X\"); .dur > 0)' $d/run.chrome"
check "chrome: 100 rows per second" \
	"jq -e '[.traceEvents[] | select(.name == \"power (W)\")] | length | . > 2000 and . < 2500' $d/run.chrome"
check "chrome: the counters belong to the board, the minibatches to the job" \
	"jq -e '([.traceEvents[] | select(.ph == \"C\").pid] | unique) == [0] and ([.traceEvents[] | select(.ph == \"X\").pid] | unique) == [4711]
		and ([.traceEvents[] | select(.ph == \"M\").pid] | sort) == [0, 4711]' $d/run.chrome"
# The expressions with which scripts search the output of tegrastats.
check "tegrastats: one line a second, which scripts understand, and the mean power is the report's" \
	"/usr/bin/python3 -c '
import json, re
lines = open(\"$d/run.tegrastats\").read().splitlines()
report = json.load(open(\"$d/report\"))
assert abs(len(lines) - report[\"elapsed_s\"]) < 2, len(lines)
for l in lines:
    assert re.match(r\"\d\d-\d\d-\d{4} \d\d:\d\d:\d\d \", l), l
    assert re.search(r\"EMC_FREQ @\[3199\] GR3D_FREQ @\[1300\] tj@(\d+(\.\d+)?)C \", l), l
    rails = re.findall(r\"(VDD_\w+|VIN_\w+|VDDQ_\w+) (\d+)mW/(\d+)mW\", l)
    assert len(rails) == 4, l
mean = sum(int(r[2]) for r in rails[:3]) / 1000
assert abs(mean * report[\"elapsed_s\"] / report[\"total_j\"] - 1) < 0.01, mean'"
with promtool "prometheus: promtool reports no error" "promtool check metrics < $d/run.prometheus > $d/said 2>&1 && [ ! -s $d/said ]"
with prometheus_client "openmetrics: parses, and the energy is the report's" \
	"/usr/bin/python3 -c '
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse
f = {m.name: m for m in parse(open(\"$d/run.openmetrics\").read())}
j = f[\"jetwatt_module_energy_joules\"].samples[0].value
assert abs(j - $total) < 1e-3, j
assert f[\"jetwatt_minibatch_energy_joules\"].type == \"histogram\"
assert abs(sum(s.value for s in f[\"jetwatt_rail_energy_joules\"].samples) - j) < 1e-3'"
with prometheus_client "prometheus: parses, and the energy is the report's" \
	"/usr/bin/python3 -c '
from prometheus_client.parser import text_string_to_metric_families as parse
f = {m.name: m for m in parse(open(\"$d/run.prometheus\").read())}
assert abs(f[\"jetwatt_module_energy_joules\"].samples[0].value - $total) < 1e-3'"
with pandas "csv: pandas reads numbers in every column" "/usr/bin/python3 -c '
import pandas
t = pandas.read_csv(\"$d/run.csv\", parse_dates=[\"utc\"])
assert len(t) == $rows and all(k in \"iufM\" for k in (c.kind for c in t.dtypes)), t.dtypes
assert t.t_ns.is_monotonic_increasing and t.lost.sum() == 300 - 1 or t.lost.sum() > 250, t.lost.sum()'"
check "csv: energy of the minibatches equals that of report" \
	"build/jetwatt export -f csv --minibatches $d/run.jwt > $d/m.csv && near \$(awk -F, '\$4 == \"train\" && ++k > 10 { e += \$8; n++ } END { print e / n / 1e6 }' $d/m.csv) \$(jq .energy_j $d/report)"
check "csv: grades and shares equal those of report" \
	"awk -F, -v want=\"\$(jq -r '[.quality | .A, .B, .C, .D] | join(\" \")' $d/report)\" 'NR > 1 && \$4 == \"train\" { n[\$14]++ }
		NR == 1 && \$14 != \"grade\" { exit 1 }
		END { got = n[\"A\"] + 0 \" \" n[\"B\"] + 0 \" \" n[\"C\"] + 0 \" \" n[\"D\"] + 0; print got, want; exit got != want }' $d/m.csv &&
	 near \$(awk -F, '\$4 == \"train\" && ++k > 10 { s += \$10; t += \$2 - \$1 } END { print s / t }' $d/m.csv) \$(jq .stall_share $d/report) &&
	 near \$(awk -F, '\$4 == \"train\" && ++k > 10 { s += \$11; t += \$2 - \$1 } END { print s / t }' $d/m.csv) \$(jq .gpu_work_share $d/report)"
check "jsonl, chrome: the same grades and shares" \
	"jq -r 'select(.type == \"minibatch\") | [.stall_ns, .gpu_ns, .grade // \"\"] | @csv' $d/run.jsonl | sort > $d/split.jsonl &&
	 tail -n +2 $d/m.csv | awk -F, '{ printf \"%s,%s,\\\"%s\\\"\\n\", \$10, \$11, \$14 }' | sort | diff - $d/split.jsonl &&
	 [ \$(jq '[.traceEvents[] | select(.ph == \"X\" and .args.grade == \"A\")] | length' $d/run.chrome) = \$(jq .quality.A $d/report) ]"
check "openmetrics: the same grades and shares" \
	"[ \$(sed -n 's/^jetwatt_minibatches_graded_total{grade=\"A\"} //p' $d/run.openmetrics) = \$(jq .quality.A $d/report) ] &&
	 near \$(sed -n 's/^jetwatt_minibatch_stall_seconds_total{phase=\"1\"} //p' $d/run.openmetrics) \$(awk -F, '\$4 == \"train\" { s += \$10 } END { print s / 1e9 }' $d/m.csv)"
check "jsonl: the gap is reported" "grep -c '\"type\":\"gap\"' $d/run.jsonl"
exit $failed

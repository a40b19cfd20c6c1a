#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Check jetwatt roofline: its results for a small network, and its handling of malformed, damaged
# and huge files.
cd "$(dirname "$0")/../.." || exit 1
d=build/check-roofline
. tests/host/check.inc

refused()	# TEXT STATUS WHY ARGUMENT...
{
	run build/jetwatt roofline "${@:4}"
	[ $status = "$2" ] && [ ! -s $d/out ] && grep -q "$3" $d/err
	result "$1 is refused" $?
}

# An ONNX network with a fully connected layer of 1000 x 400, an open minibatch size, and an unknown
# operator.
python3 - $d/net.onnx << 'END'
import sys


def varint(v):
    out = b""
    while v > 127:
        out += bytes([v & 127 | 128])
        v >>= 7
    return out + bytes([v])


def field(nr, v):
    if isinstance(v, int):
        return varint(nr << 3) + varint(v)
    v = v.encode() if isinstance(v, str) else v
    return varint(nr << 3 | 2) + varint(len(v)) + v


def value(name, *dims):
    shape = b"".join(field(1, field(1, d) if isinstance(d, int) else field(2, d)) for d in dims)
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)))


def node(op, inputs, output):
    return field(1, b"".join(field(1, i) for i in inputs) + field(2, output) + field(4, op))


weight = field(1, 1000) + field(1, 400) + field(2, 1) + field(8, "w") + field(14, 1) + \
    field(13, field(1, "location") + field(2, "weights.bin"))
graph = node("MatMul", ["x", "w"], "y") + node("Swirl", ["y"], "z") + node("Relu", ["y"], "o") + \
    field(5, weight) + field(11, value("x", "n", 1000)) + field(12, value("o"))
open(sys.argv[1], "wb").write(field(1, 8) + field(7, graph))
END

echo 1..34
build/jetwatt roofline --json $d/net.onnx > $d/one.json
jq -e '.batch == 1 and .flop == 2 * 400000 + 400 and .bytes == 4 * (400000 + 1000 + 3 * 400 + 400)
	and .param_bytes == 1600000 and (.layers | map(.op)) == ["MatMul", "Swirl", "Relu"]
	and .layers[1].doubt == "unknown_op" and .layers[0].size == [1, 400]' $d/one.json > /dev/null
result "operations and bytes equal those computed by hand" $?
jq -e '.open_axes == [{"input": "x", "axis": 0, "name": "n", "taken": 1, "given": false}]' $d/one.json > /dev/null
result "an open dimension is named" $?
build/jetwatt roofline --json --batch 8 $d/net.onnx | jq -e --slurpfile one $d/one.json \
	'.batch == 8 and .flop == 8 * $one[0].flop and .bytes - 1600000 == 8 * ($one[0].bytes - 1600000)' > /dev/null
result "a minibatch of 8 costs 8 times as much, except for the weights" $?
build/jetwatt roofline --json --train $d/net.onnx | jq -e --slurpfile one $d/one.json \
	'.flop == 3 * $one[0].flop and .bytes == 3 * $one[0].bytes' > /dev/null
result "training costs three times as much" $?
build/jetwatt roofline --layers $d/net.onnx > $d/out &&
	grep -q '^Swirl' $d/out && grep -q '^\* Swirl (1) is unknown' $d/out &&
	grep -q '^\* 1 weights are stored in other files' $d/out && grep -q 'x.0=N' $d/out
result "unknown operators are listed" $?
refused "a command without a network" 2 'no network'
refused "a missing file" 1 'No such file' $d/none.onnx
refused "a directory" 1 'directory' $d
refused "an invalid dimension" 2 'cannot use' --dim side $d/net.onnx
for name in nn x.1 x.7; do
	refused "the dimension $name, which is not open," 2 "leaves a size \"$name\" open" --dim $name=4 $d/net.onnx
done
head -c 100 $d/net.onnx > $d/cut.onnx
refused "a truncated file" 1 'ends in the middle of a field' $d/cut.onnx
refused "a file of another kind" 1 'not an ONNX file' build/jetwatt

# Write the rows of a kernel on a simulated board with eight modes to the file k$3.csv: 100 or
# 50 GFLOP/s, 40 or 10 GB/s, 20 or 10 pJ per operation, 50 pJ per byte, and a constant power that
# depends on the mode. $1, $2: operations and bytes of the kernel.
kernel()
{
	awk -v w=$1 -v q=$2 'BEGIN {
		print "cores,cpu_khz,gpu_hz,emc_hz,time_ms,power_w"
		for (c = 4; c <= 8; c += 4) for (g = 1; g <= 2; g++) for (m = 1; m <= 4; m += 3) {
			t = w / (g * 50e9); u = q / (m * 10e9)
			if (u > t) t = u
			e = g * 10e-12 * w + 50e-12 * q + (2 + g + m / 2 + c / 4) * t
			printf "%d,1000000,%d00000000,%d00000000,%.9f,%.9f\n", c, 5 * g, 6 * m, t * 1e3, e / t
		}
	}' > $d/k$3.csv
}
set --
for i in 0 1 2 3 4 5; do
	kernel $((4 ** i * 10000000)) 100000000 $i
	set -- "$@" --kernel $((4 ** i * 10000000)):1e8:$d/k$i.csv
done
run build/jetwatt roofline "$@" --json
jq -e '(.roofs | length) == 8 and (def off(a; b): (a / b - 1) | . < 1e-4 and . > -1e-4;
	all(.roofs[]; off(.eps_mem_j; 50e-12) and .energy_off_pct < 1e-3) and
	(.roofs[-1] | off(.flop_s; 1e11) and off(.byte_s; 4e10) and off(.eps_flop_j; 20e-12) and off(.pi0_w; 8)
		and off(.time_balance; 2.5)))' $d/out > /dev/null
result "the fitted roofs equal those of the simulated board" $?
run build/jetwatt roofline --batch 4096 $d/net.onnx "$@" --json
jq -e '.roofs[.answer.fastest].mode | contains("g1000000000")' $d/out > /dev/null &&
	jq -e '.answer.slower_pct <= 3 and .answer.saved_pct > 5 and .answer.race_to_halt == false
	and (.roofs[.answer.tuned].mode | startswith("c4-"))' $d/out > /dev/null
result "the mode chosen for a network is as fast and needs less energy" $?
run build/jetwatt roofline $d/net.onnx "$@"
grep -q '^tuned .* binds' $d/out && grep -q '^\*' $d/out
result "the choice is explained" $?
mkdir -p $d/corpus
for i in 0 1 2 3 4 5; do cp $d/k$i.csv $d/corpus/$((4 ** i * 10000000))-100000000.csv; done
touch $d/corpus/notes.csv
build/jetwatt roofline "$@" --json | jq '.roofs | map(del(.time_off_pct, .energy_off_pct))' > $d/kernels.json
run build/jetwatt roofline --corpus $d/corpus --json
[ $status = 0 ] && jq '.roofs | map(del(.time_off_pct, .energy_off_pct))' $d/out | cmp - $d/kernels.json
result "a directory of kernels equals a list of them" $?
run build/jetwatt roofline --corpus $d/corpus --work 1e10:1e8 --tune
[ $status = 0 ] && grep -q '^c4-1000000-g1000000000-e600000000$' $d/out && grep -q '^tuned .* arithmetic binds 100 %' $d/out
result "compute-bound work allows a low memory clock" $?
run build/jetwatt roofline --corpus $d/corpus --work 1e7:1e8 --tune
[ $status = 0 ] && grep -q '^c4-1000000-g500000000-e2400000000$' $d/out && grep -q '^tuned .* memory binds 100 %' $d/out
result "memory-bound work allows a low GPU clock" $?
refused "work with a network" 2 'work cannot be combined' $d/net.onnx --work 1e7:1e8 --corpus $d/corpus
refused "a training step of --work" 2 'need a network' --work 1e7:1e8 --train --corpus $d/corpus
refused "invalid work" 2 'cannot use' --work 1e7 --corpus $d/corpus
refused "a calibration without a directory" 2 'needs a directory' --calibrate
refused "an empty directory" 1 'contains no kernel measurements' --corpus tests/host
refused "tuning without a network" 2 'needs a network' --corpus $d/corpus --tune
refused "a plot without roofs" 2 'plot needs measured kernels' $d/net.onnx --plot $d/roofs.svg
if command -v gnuplot > /dev/null; then
	run build/jetwatt roofline $d/net.onnx "$@" --plot $d/roofs.svg
	[ $status = 0 ] && python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' $d/roofs.svg &&
		grep -q 'GFLOP/J' $d/roofs.svg && grep -q 'fastest: c8' $d/roofs.svg
	result "both roofs, drawn" $?
else
	n=$((n + 1))
	echo "ok $n both roofs, drawn # SKIP no gnuplot"
fi
run build/jetwatt roofline $d/net.onnx --corpus $d/corpus --plot $d/roofs.html
[ $status = 0 ] && python3 -c 'import sys, xml.dom.minidom as m; m.parseString(open(sys.argv[1]).read().replace("<!DOCTYPE html>", "").replace("&middot;", "-"))' \
	$d/roofs.html && grep -q 'GFLOP/J' $d/roofs.html && grep -q 'fastest: c8' $d/roofs.html &&
	[ "$(grep -c '<svg' $d/roofs.html)" = 2 ] && ! grep -qiE 'nan|inf[^o]' $d/roofs.html
result "both roofs as an HTML page" $?
refused "too few kernels" 1 'four kernels' $d/net.onnx --kernel 1e7:1e8:$d/k0.csv
refused "an invalid kernel" 2 'cannot use' --kernel 1e7:$d/k0.csv

# slim ARGUMENT...: run jetwatt roofline and check that its memory use stays below 100 MB
slim()
{
	run timeout 60 python3 -c 'import resource, subprocess, sys
code = subprocess.call(["build/jetwatt", "roofline"] + sys.argv[1:])
most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
sys.exit(code if most < 100000 else "swollen to %d kB" % most)' "$@"
	! grep -q swollen $d/err
}
cp $d/net.onnx $d/huge.onnx
truncate -s 4G $d/huge.onnx
slim $d/huge.onnx && [ $status = 1 ] && grep -q 'not an ONNX file' $d/err
result "a sparse file of 4 GB is read with little memory" $?
# A weight of 4 GiB must be skipped without being read.
python3 - $d/huge.onnx << 'END'
import os
import sys


def varint(v):
    out = b""
    while v > 127:
        out += bytes([v & 127 | 128])
        v >>= 7
    return out + bytes([v])


size = 4 << 30
tensor = b"\x08" + varint(size // 4) + b"\x10\x01\x42\x01w"
graph = b"\x0a\x0c\x0a\x01w\x12\x01y\x22\x04Relu"
inner = tensor + b"\x4a" + varint(size)
head = b"\x08\x08\x3a" + varint(len(graph) + len(b"\x2a" + varint(len(inner) + size)) + len(inner) + size) + \
    graph + b"\x2a" + varint(len(inner) + size) + inner
with open(sys.argv[1], "wb") as f:
    f.write(head)
    os.ftruncate(f.fileno(), len(head) + size)
END
slim --json $d/huge.onnx && [ $status = 0 ] && [ "$(jq .param_bytes $d/out)" = 4294967296 ]
result "a weight of 4 GB is skipped" $?
python3 -c 'import sys; sys.stdout.buffer.write(b"\x08\x01" * 140000000)' > $d/small.onnx
slim $d/small.onnx && [ $status = 1 ] && grep -q 'larger or nested deeper' $d/err
result "reading 140 million small fields stops at a limit" $?
rm -f $d/huge.onnx $d/small.onnx
exit $failed

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# roofline: what it says of a small network, and what it does with files that are
# none, or damaged, or huge.
cd "$(dirname "$0")/../.." || exit 1
d=build/check-roofline
. tests/host/check.inc

refused()	# TEXT STATUS WHY ARGUMENT...
{
	run build/jetwatt roofline "${@:4}"
	[ $status = "$2" ] && [ ! -s $d/out ] && grep -q "$3" $d/err
	result "$1" $?
}

# A fully connected layer of 1000 x 400 with an open minibatch, and what no one knows.
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

echo 1..14
build/jetwatt roofline --json $d/net.onnx > $d/one.json
jq -e '.batch == 1 and .flop == 2 * 400000 + 400 and .bytes == 4 * (400000 + 1000 + 3 * 400 + 400)
	and .param_bytes == 1600000 and (.layers | map(.op)) == ["MatMul", "Swirl", "Relu"]
	and .layers[1].doubt == "unknown_op" and .layers[0].size == [1, 400]' $d/one.json > /dev/null
result "operations and bytes are those worked out by hand" $?
jq -e '.open_axes == [{"input": "x", "axis": 0, "name": "n", "taken": 1, "given": false}]' $d/one.json > /dev/null
result "an open size is named" $?
build/jetwatt roofline --json --batch 8 $d/net.onnx | jq -e --slurpfile one $d/one.json \
	'.batch == 8 and .flop == 8 * $one[0].flop and .bytes - 1600000 == 8 * ($one[0].bytes - 1600000)' > /dev/null
result "a minibatch of eight takes eight times as much, but for the weights" $?
build/jetwatt roofline --json --train $d/net.onnx | jq -e --slurpfile one $d/one.json \
	'.flop == 3 * $one[0].flop and .bytes == 3 * $one[0].bytes' > /dev/null
result "training takes three times as much" $?
build/jetwatt roofline --layers $d/net.onnx > $d/out &&
	grep -q '^Swirl' $d/out && grep -q '^\* Swirl (1) is not known' $d/out &&
	grep -q '^\* 1 weights are in other files' $d/out && grep -q 'x.0=N' $d/out
result "what is not known is said" $?
refused "no file" 2 'no network'
refused "a file that is not there" 1 'No such file' $d/none.onnx
refused "a directory" 1 'directory' $d
refused "a size that is none" 2 'cannot use' --dim side $d/net.onnx
head -c 100 $d/net.onnx > $d/cut.onnx
refused "a file that ends too early" 1 'ends in the middle' $d/cut.onnx
refused "a file of another kind" 1 'no ONNX file' build/jetwatt

# Memory is limited to what the program itself needs and some 100 MB more.
limited() { (ulimit -v 700000; timeout 60 build/jetwatt roofline "$@") > $d/out 2> $d/err; }
cp $d/net.onnx $d/huge.onnx
truncate -s 4G $d/huge.onnx
limited $d/huge.onnx
[ $? = 1 ] && grep -q 'no ONNX file' $d/err
result "four gigabytes, most of them nothing" $?
# A weight of four gigabytes less a few bytes is skipped, not read.
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
limited --json $d/huge.onnx && [ "$(jq .param_bytes $d/out)" = 4294967296 ]
result "a weight of four gigabytes is skipped" $?
python3 -c 'import sys; sys.stdout.buffer.write(b"\x08\x01" * 140000000)' > $d/small.onnx
limited $d/small.onnx
[ $? = 1 ] && grep -q 'larger or deeper' $d/err
result "a hundred and forty million small fields end at a limit" $?
rm -f $d/huge.onnx $d/small.onnx
exit $failed

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Totals of real networks, exported to ONNX, compared with published values.

    roofline.py [-o report.json] [-k directory for the networks]

Networks are built with random weights by Debian's python3-torch and python3-torchvision, exported to
ONNX and read by jetwatt roofline. The sizes of all tensors are compared with onnx.shape_inference. The
operations of every convolution, matrix product and recurrent layer are compared with counts from
torch's modules. The exit status is 0 whatever the result.
"""
import argparse
import json
import os
import subprocess
import sys
import warnings

ap = argparse.ArgumentParser()
ap.add_argument("-o", default="build/bench/roofline.json")
ap.add_argument("-k", default="build/bench/onnx")
opt = ap.parse_args()
try:
    import onnx
    import onnx.shape_inference
    import torch
    import torchvision
    from torch import nn
except ImportError as e:
    print("skipped: %s (python3-torch, python3-torchvision, python3-onnx)" % e)
    sys.exit(0)
os.makedirs(os.path.dirname(opt.o) or ".", exist_ok=True)
os.makedirs(opt.k, exist_ok=True)
torch.set_num_threads(1)
torch.manual_seed(1)


class Conv(nn.Module):
    """Convolution, normalisation, SiLU: the basic block of YOLOv8."""
    def __init__(self, c1, c2, k=1, s=1):
        super().__init__()
        self.conv = nn.Conv2d(c1, c2, k, s, k // 2, bias=False)
        self.bn = nn.BatchNorm2d(c2)
        self.act = nn.SiLU()

    def forward(self, x):
        return self.act(self.bn(self.conv(x)))


class Bottleneck(nn.Module):
    def __init__(self, c, add):
        super().__init__()
        self.a, self.b, self.add = Conv(c, c, 3), Conv(c, c, 3), add

    def forward(self, x):
        y = self.b(self.a(x))
        return x + y if self.add else y


class C2f(nn.Module):
    def __init__(self, c1, c2, n, add):
        super().__init__()
        self.half = c2 // 2
        self.a, self.b = Conv(c1, c2), Conv((2 + n) * self.half, c2)
        self.m = nn.ModuleList(Bottleneck(self.half, add) for _ in range(n))

    def forward(self, x):
        y = list(self.a(x).split((self.half, self.half), 1))
        for m in self.m:
            y.append(m(y[-1]))
        return self.b(torch.cat(y, 1))


class SPPF(nn.Module):
    def __init__(self, c1, c2):
        super().__init__()
        self.a, self.b = Conv(c1, c1 // 2), Conv(c1 * 2, c2)
        self.m = nn.MaxPool2d(5, 1, 2)

    def forward(self, x):
        y = [self.a(x)]
        for _ in range(3):
            y.append(self.m(y[-1]))
        return self.b(torch.cat(y, 1))


class YOLOv8n(nn.Module):
    """The published structure (width 0.25, depth 0.33), 80 classes."""
    def __init__(self, classes=80):
        super().__init__()
        self.down = nn.ModuleList([Conv(3, 16, 3, 2), Conv(16, 32, 3, 2), Conv(32, 64, 3, 2),
                                   Conv(64, 128, 3, 2), Conv(128, 256, 3, 2)])
        self.c = nn.ModuleList([C2f(32, 32, 1, True), C2f(64, 64, 2, True), C2f(128, 128, 2, True),
                                C2f(256, 256, 1, True)])
        self.sppf = SPPF(256, 256)
        self.up = nn.Upsample(scale_factor=2)
        self.n1, self.n2 = C2f(384, 128, 1, False), C2f(192, 64, 1, False)
        self.d1, self.d2 = Conv(64, 64, 3, 2), Conv(128, 128, 3, 2)
        self.n3, self.n4 = C2f(192, 128, 1, False), C2f(384, 256, 1, False)
        self.box = nn.ModuleList(nn.Sequential(Conv(c, 64, 3), Conv(64, 64, 3), nn.Conv2d(64, 64, 1))
                                 for c in (64, 128, 256))
        self.cls = nn.ModuleList(nn.Sequential(Conv(c, 80, 3), Conv(80, 80, 3), nn.Conv2d(80, classes, 1))
                                 for c in (64, 128, 256))
        self.dfl = nn.Conv2d(16, 1, 1, bias=False)

    def forward(self, x):
        x = self.c[0](self.down[1](self.down[0](x)))
        p3 = self.c[1](self.down[2](x))
        p4 = self.c[2](self.down[3](p3))
        p5 = self.sppf(self.c[3](self.down[4](p4)))
        t4 = self.n1(torch.cat([self.up(p5), p4], 1))
        o3 = self.n2(torch.cat([self.up(t4), p3], 1))
        o4 = self.n3(torch.cat([self.d1(o3), t4], 1))
        o5 = self.n4(torch.cat([self.d2(o4), p5], 1))
        y = torch.cat([torch.cat([b(o), c(o)], 1).flatten(2)
                       for b, c, o in zip(self.box, self.cls, (o3, o4, o5))], 2)
        box, cls = y.split((64, 80), 1)
        box = self.dfl(box.view(1, 4, 16, -1).transpose(2, 1).softmax(1)).view(1, 4, -1)
        lo, hi = box.chunk(2, 1)
        return torch.cat([(hi + lo) / 2, hi - lo, cls.sigmoid()], 1)


class Words(nn.Module):
    """A language model. The publication does not specify its model. This usual one (28,782 words of
    WikiText-2, one layer of size 128, an output for every step) has the published number of
    weights and, with 17 steps, the published number of operations."""
    def __init__(self, words=28782, size=128):
        super().__init__()
        self.embed = nn.Embedding(words, size)
        self.lstm = nn.LSTM(size, size)
        self.out = nn.Linear(size, words)

    def forward(self, x):
        return self.out(self.lstm(self.embed(x))[0])


# FLOP, bytes of weights, bytes of all tensors, published in arXiv 2509.20189 for a minibatch of 1.
NETS = {
    "mobilenetv3": (lambda: torchvision.models.mobilenet_v3_large(), torch.zeros(1, 3, 224, 224),
                    (449.1e6, 21.8e6, 103.0e6)),
    "resnet50": (lambda: torchvision.models.resnet50(), torch.zeros(1, 3, 224, 224),
                 (8.206e9, 102.0e6, 336.7e6)),
    "yolov8n": (YOLOv8n, torch.zeros(1, 3, 640, 640), (8.840e9, 12.6e6, 539.3e6)),
    "lstm": (Words, torch.zeros(17, 1, dtype=torch.long), (129.0e6, 30.1e6, 35.3e6)),
}
# Difference in bytes due to other counting rules of that publication, by operator. An operand that
# is broadcast (Mul of a squeeze-and-excitation) counts with the size of the output. The publication
# counts 0 bytes for operators that only view bytes (Split, Slice) or repeat them (Resize). A table
# of words counts completely.
OTHERWISE = {
    "mobilenetv3": lambda k: k["Mul"][1] * 4,
    "yolov8n": lambda k: -sum(k[o][2] for o in ("Split", "Slice", "Resize")),
    "lstm": lambda k: 28782 * 128 * 4,
}
FIGURES = ("flop", "param_bytes", "bytes")


def by_hand(net, x):
    """Operations of all layers with multiplications, counted while torch runs them."""
    total = [0]

    def conv(m, _, out):
        total[0] += 2 * out.numel() * m.weight[0].numel() + (out.numel() if m.bias is not None else 0)

    def linear(m, _, out):
        total[0] += 2 * out.numel() * m.in_features

    def lstm(m, given, out):
        for k in range(m.num_layers):
            total[0] += 2 * given[0].shape[0] * given[0].shape[1] * (
                getattr(m, "weight_ih_l%d" % k).numel() + getattr(m, "weight_hh_l%d" % k).numel())

    for m in net.modules():
        for kind, hook in ((nn.Conv2d, conv), (nn.Linear, linear), (nn.LSTM, lstm)):
            if isinstance(m, kind):
                m.register_forward_hook(hook)
    with torch.no_grad():
        net(x)
    return total[0]


def main():
    rows = []
    for name, (make, x, paper) in NETS.items():
        net = make().eval()
        path = "%s/%s.onnx" % (opt.k, name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.onnx.export(net, x, path, opset_version=14)
        command = ["build/jetwatt", "roofline", path, "--json"]
        r = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        # Remove the sizes that the exporter wrote: jetwatt must infer all of them.
        bare = onnx.load(path)
        known = onnx.shape_inference.infer_shapes(bare, data_prop=True)
        sizes = {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim]
                 for g in (bare.graph, known.graph) for v in list(g.value_info) + list(g.output)
                 if v.type.tensor_type.HasField("shape")}
        del bare.graph.value_info[:]
        onnx.save(bare, path + ".bare")
        b = json.loads(subprocess.run(["build/jetwatt", "roofline", path + ".bare", "--json"],
                                      check=True, capture_output=True, text=True).stdout)
        wrong = [l["makes"] for l in b["layers"]
                 if l["makes"] in sizes and 0 not in sizes[l["makes"]] and l["size"] != sizes[l["makes"]]]
        kinds = {}
        for l in r["layers"]:
            k = kinds.setdefault(l["op"], [0, 0, 0])
            k[0] += 1
            k[1] += l["flop"]
            k[2] += l["bytes"] + l["param_bytes"]
        heavy = sum(l["flop"] for l in r["layers"]
                    if l["op"] in ("Conv", "Gemm", "MatMul", "LSTM"))
        hand = by_hand(net, x)
        row = {"net": name, "command": " ".join(command), "layers": len(r["layers"]),
               "doubts": sum("doubt" in l for l in r["layers"]), "wrong_sizes": wrong,
               "same_without_sizes": all(b[f] == r[f] for f in FIGURES),
               "products_flop": heavy, "products_flop_torch": hand, "by_operator": kinds}
        for f, want in zip(FIGURES, paper):
            row[f] = r[f]
            row[f + "_published"] = want
            row[f + "_off_pct"] = 100 * (r[f] / want - 1)
        row["bytes_counted_alike_off_pct"] = 100 * (
            (r["bytes"] + OTHERWISE.get(name, lambda k: 0)(kinds)) / paper[2] - 1)
        rows.append(row)
        print("%-12s %4d layers  %s; %d sizes wrong, %d uncertain, operations %.4f times those of torch" % (
            name, row["layers"], ", ".join("%s %.4g (%+.1f %%)" % (f, r[f], row[f + "_off_pct"])
                                           for f in FIGURES) +
            ", with the same counting rules %+.1f %%" % row["bytes_counted_alike_off_pct"], len(wrong), row["doubts"], heavy / hand))
        for k, v in sorted(kinds.items(), key=lambda i: -i[1][1]):
            print("    %-20s %4d %10.3f MFLOP %9.3f MB" % (k, v[0], v[1] * 1e-6, v[2] * 1e-6))
    json.dump(rows, open(opt.o, "w"), indent=1)


main()

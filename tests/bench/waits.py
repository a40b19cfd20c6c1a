#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Accuracy of minibatch boundaries by backend of the probe and by framework.

  waits.py [-o build/bench/waits.json] [--minibatches N] [--boots N] [PROGRAM...]

Runs the programs of tests/sim/jobs/frameworks.c in guests, in virtual time. Each program waits in
three ways: blocking in its own thread, blocking in a helper thread of libcuda, and spinning. Each way
is measured with three backends. F1 compares the boundaries with the times that the program records.

The exit status is 1 if F1 is below 0.995 for a backend that finds any boundary, if uprobe finds none,
or if a result is missing.
"""
import argparse
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PROGRAMS = ("pytorch-eager", "pytorch-compiled", "pytorch-graphs", "tensorflow", "jax", "onnxruntime",
            "tensorrt", "llama.cpp", "vllm", "plain")
WAITS = ("block", "helper", "spin")
BACKENDS = ("uprobe", "tracepoint", "module")
ENOUGH = 0.995


def boot(number, programs, minibatches, folder):
    """Start a guest that runs the programs; its output goes to a file."""
    args = [os.path.join(ROOT, "tests/qemu/guest"), "--smp", "2", "--icount", "--timeout", "3600"]
    for module in ("governor_simpleondemand", "jetwatt-sim", "ina3221", "jetwatt"):
        args += ["--module", module]
    args += ["--file", os.path.join(ROOT, "build/arm64/waits") + ":/bin/waits",
             "--file", os.path.join(HERE, "waits_guest.sh") + ":/bench/run",
             "--", "/bin/sh", "/bench/run", str(minibatches)] + programs
    path = os.path.join(folder, f"waits{number}.log")
    with open(path, "w", encoding="utf-8") as log:
        return subprocess.Popen(args, stdout=log, stderr=subprocess.STDOUT), path


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-o", "--output", default="build/bench/waits.json")
    p.add_argument("--minibatches", type=int, default=60)
    p.add_argument("--boots", type=int, default=2)
    p.add_argument("programs", nargs="*")
    a = p.parse_args()
    programs = a.programs or list(PROGRAMS)
    folder = os.path.dirname(a.output) or "."
    os.makedirs(folder, exist_ok=True)

    running = [boot(i, programs[i::a.boots], a.minibatches, folder)
               for i in range(min(a.boots, len(programs)))]
    rows, bad = {}, []
    for guest, path in running:
        if guest.wait():
            sys.exit(f"waits: a guest failed, see {path}")
        with open(path, encoding="utf-8") as f:
            for line in f:
                word = line.split()
                if len(word) == 7 and word[0] in programs:
                    rows[tuple(word[:3])] = {
                        "waits": int(word[3]), "bounds": int(word[4]),
                        "minibatches": int(word[5]), "f1": float(word[6])}
                elif word and word[0] in programs:
                    bad.append(line.strip())
    print(f"{'program':18}" + "".join(f"{w + ' ' + b:>19}" for w in WAITS for b in BACKENDS))
    for program in programs:
        text = f"{program:18}"
        for wait in WAITS:
            for backend in BACKENDS:
                r = rows.get((program, wait, backend))
                cell = "no result" if not r else f"{r['f1']:.4f}" if r["bounds"] else "not seen"
                text += f"{cell:>19}"
                if not r or r["bounds"] and r["f1"] < ENOUGH or not r["bounds"] and backend == "uprobe":
                    bad.append(f"{program} {wait} {backend}: {r}")
        print(text, flush=True)
    with open(a.output, "w", encoding="utf-8") as f:
        json.dump([{"program": k[0], "wait": k[1], "backend": k[2], **v} for k, v in rows.items()],
                  f, indent=1)
        f.write("\n")
    for line in bad:
        print(f"below {ENOUGH}: {line}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

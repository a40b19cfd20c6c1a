#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Quality of jetwattd's learner on files of measured modes, in virtual time.

  learner.py [-j JOBS] [-s SEED] [-p SHARE] [-o build/bench/learner.json] FILE.csv...

Each file is used with its own time per minibatch and with twelve times that; with and without the
other files as reference profiles. Learning may cost SHARE percent of a job's time. All values are
in percent. "later" starts, for a new job, after 60 s (15 s with three or more references) or after 60
minibatches, whichever is later; for a known job, after 2 s.
"""
import argparse
import json
import re
import subprocess

LINE = re.compile(r"  (\S.*?)  +mean +(\S+) median +(\S+) p90 +(\S+) max +(\S+) %")
TIMES = (1, 12)
LENGTHS = ("60:600", "600:10800")


def run(args, files, times, lengths):
    out = subprocess.run(["build/bench/learner", "-j", str(args.jobs), "-s", str(args.seed),
                          "-t", str(times), "-l", lengths, "-p", str(args.share)] + files,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    found, part = {}, None
    for line in out.stdout.splitlines():
        head = re.match(r"(new|known): (\S+) modes, (\S+) steps down", line)
        row = LINE.match(line)
        if head:
            part = found[head[1]] = {"modes": float(head[2]), "steps_down": float(head[3])}
        elif row and part is not None:
            part[row[1]] = dict(zip(("mean", "median", "p90", "max"), map(float, row.groups()[1:])))
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-j", "--jobs", type=int, default=10)
    parser.add_argument("-s", "--seed", type=int, default=1)
    parser.add_argument("-p", "--share", type=float, default=5)
    parser.add_argument("-o", "--out", default="build/bench/learner.json")
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    report = []
    print("%-30s %3s %9s %6s %6s   %s" % ("file", "x", "seconds", "others", "", "whole  later  preset  lost  (means; worst)"))
    for name in args.files:
        others = [f for f in args.files if f != name]
        for times in TIMES:
            for lengths in LENGTHS:
                for known in ([], others):
                    found = run(args, [name] + known, times, lengths)
                    report.append({"file": name, "times": times, "lengths": lengths,
                                   "others": len(known), "share": args.share, **found})
                    for part, f in found.items():
                        text = "  ".join("%5.1f;%5.1f" % (f[k]["mean"], f[k]["max"]) if k in f else "     -     "
                                         for k in ("whole job against oracle", "later against oracle",
                                                   "from 15 s against preset", "lost by learning"))
                        print("%-30s %3g %9s %6d %6s %s" % (name.split("/")[-1][:30], times, lengths,
                                                           len(known), part, text), flush=True)
    with open(args.out, "w") as f:
        json.dump(report, f, indent=1)


if __name__ == "__main__":
    main()

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Quality of searches and plans on files of measured modes: one row for each target, with the value
and the command that computed it.

    plan.py [-o report.json] [-q queries] [-s seed] [-d data]

Training files are reduced to the modes of the smallest file, so that all have the same modes. The
other files are references only if the row says so. A row is "ok" if it meets its target; the exit
status is 0 unless an evaluation fails. Queries are a random sample of all queries, drawn with the
seed. For the row of the slowest evaluation, training with one server is also evaluated with eval's
default number of queries.
"""
import argparse
import csv
import glob
import json
import os
import random
import subprocess
import sys

ap = argparse.ArgumentParser()
ap.add_argument("-o", default="build/bench/plan.json")
ap.add_argument("-q", type=int, default=100)
ap.add_argument("-s", type=int, default=1)
ap.add_argument("-d", default=os.environ.get("JETWATT_SHARED_DATA") or "../shared/data")
opt = ap.parse_args()
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.makedirs(os.path.dirname(opt.o) or ".", exist_ok=True)
os.makedirs("build/bench", exist_ok=True)
rows = []
spent = [0.0]


def keep():
    """Write the rows so far, so that they are kept if a later one fails."""
    with open(opt.o, "w") as out:
        json.dump({"queries": opt.q, "seed": opt.s, "cpu_s": round(spent[0], 1), "rows": rows},
                  out, indent=1)


def name(path):
    return os.path.basename(path).replace("orin-agx-", "").rsplit("-", 1)[0]


def row(what, target, figure, ok, command):
    rows.append({"what": what, "target": target, "figure": figure, "ok": bool(ok),
                 "command": command})
    keep()
    print("%-4s %s: %s (%s)" % ("ok" if ok else "SHORT", what, figure, target), flush=True)


def run(*args, none=None):
    """Return the result, the command and its CPU time in s. @none: result if no mode meets the limits."""
    command = ["build/jetwatt", "eval", *args, "--json"]
    begun = os.times()
    out = subprocess.run(command, capture_output=True, text=True)
    ended = os.times()
    if out.returncode == 3 and none:
        return none, " ".join(command), 0
    if out.returncode:
        sys.exit("%s: %s" % (" ".join(command), out.stderr))
    cpu = sum(ended[2:4]) - sum(begun[2:4])
    spent[0] += cpu
    return json.loads(out.stdout), " ".join(command), cpu


def main():
    train = sorted(glob.glob(opt.d + "/orin-agx-*-train.csv"))
    infer = sorted(glob.glob(opt.d + "/orin-agx-*-infer.csv"))
    if not train or not infer:
        print("skipped: no measured modes in %s" % opt.d)
        json.dump({"skipped": "no measured modes in %s" % opt.d}, open(opt.o, "w"))
        return
    tables = {f: list(csv.reader(open(f))) for f in train}
    grid = {tuple(r[:4]) for r in min(tables.values(), key=len)[1:]}
    cut = {}
    for f, t in tables.items():
        cut[f] = "build/bench/" + os.path.basename(f)
        with open(cut[f], "w") as out:
            csv.writer(out, lineterminator="\n").writerows(
                t[:1] + [r for r in t[1:] if tuple(r[:4]) in grid])
    seed, sample = ["--seed", str(opt.s)], ["--queries", str(opt.q)]
    slowest, steps = 0, 0

    # Results of the paper's search on the same files of measured modes (methods.md 4.4).
    paper = {"resnet18": 19.6, "mobilenetv3": 20.4, "lstm": 13.8}
    for f in train:
        r, c, _ = run("search", "--corpus", cut[f], "--strategy", "gmd")
        mean, modes = r["excess_pct"]["mean"], r["modes_profiled"]["mean"]
        want = paper.get(name(f))
        row("gmd, training, %s: mean excess %%" % name(f),
            "%s +- 5, 9-11 modes" % want, "%.1f, median %.1f, %.1f modes" % (
                mean, r["excess_pct"]["median"], modes),
            want and abs(mean - want) <= 5 and 9 <= modes <= 11, c)
    for modes, most, each in ((10, 3, 5), (15, 1.5, 4)):
        for priors in (0, 1):
            means, broken = [], 0
            for f in train:
                refs = [a for g in train if g != f and priors for a in ("--reference", g)]
                r, c, cpu = run("search", "--corpus", cut[f], "--modes", str(modes), *refs)
                means.append(r["excess_pct"]["mean"])
                broken += r["violations"] + r["unsolved"]
                slowest, steps = max(slowest, cpu), max(steps, r["compute_max_ms"])
            row("auto, training, %d modes%s: mean excess %%, violations + unsolved" % (
                    modes, ", with references" if priors else ""),
                "<= %g, each <= %g; 0" % (most, each),
                "%.2f (%s); %d" % (sum(means) / len(means),
                                   ", ".join("%.2f" % m for m in means), broken),
                sum(means) / len(means) <= most and max(means) <= each and not broken, c)
    for f in train:
        r, c, cpu = run("search", "--corpus", cut[f], "--modes", "15", "--reuse", *seed)
        row("auto, training, reuse, %s: mean excess %% from the fifth on" % name(f), "<= 0.5",
            "%.2f, %.0f modes in total" % (r["reuse"]["excess_pct"]["mean"],
                                           r["reuse"]["modes_total"]),
            r["reuse"]["excess_pct"]["mean"] <= 0.5 and not r["reuse"]["violations"], c)
        steps = max(steps, r["compute_max_ms"])
    for f in infer:
        r, c, cpu = run("search", "--infer", f, "--modes", "15", *sample, *seed)
        row("auto, inference, %s: solved %%, median latency excess %%" % name(f),
            ">= 99, <= 1, 0 violations", "%.1f, %.2f, %d" % (
                r["solved_pct"], r["latency_excess_pct"]["median"], r["violations"]),
            r["solved_pct"] >= 99 and r["latency_excess_pct"]["median"] <= 1 and
            not r["violations"], c)
        slowest, steps = max(slowest, cpu), max(steps, r["compute_max_ms"])
    for reuse, least in ((0, 0.95), (1, 0.98)):
        for f in train:
            for g in infer:
                r, c, cpu = run("schedule", "--train", cut[f], "--infer", g, "--modes", "15",
                                *sample, *seed, *(["--reuse"] if reuse else []))
                slowest, steps = max(slowest, cpu), max(steps, r["compute_max_ms"])
                r = r["reuse"] if reuse else r
                ratio = r["throughput_ratio"]["mean"] or 0
                clean = r["throughput_ratio_clean"]["mean"] or 0
                row("auto, %s beside %s%s: solved %%, violations, mean throughput ratio" % (
                        name(f), name(g), ", reuse" if reuse else ""),
                    ">= 99, 0, >= %g" % least,
                    "%.1f, %d, %.3f (%.1f modes; %.3f of the best plan without outliers)" % (
                        r["solved_pct"], r["violations"], ratio, r["modes_profiled"]["mean"], clean),
                    r["solved_pct"] >= 99 and not r["violations"] and ratio >= least, c)
    for i, f in enumerate(infer):
        for g in infer[i + 1:]:
            r, c, cpu = run("schedule", "--infer", f, "--infer", g, "--modes", "15", *sample, *seed)
            row("auto, %s and %s, two inferences: solved %%, violations" % (name(f), name(g)),
                ">= 97, 0", "%.1f, %d" % (r["solved_pct"], r["violations"]),
                r["solved_pct"] >= 97 and not r["violations"], c)
            slowest, steps = max(slowest, cpu), max(steps, r["compute_max_ms"])
    # One hour in which the arrival rate varies between 30 and 120 per second and changes every
    # minute.
    rng, hz = random.Random(opt.s), 60.0
    with open("build/bench/arrivals", "w") as out:
        for _ in range(60):
            hz = min(120.0, max(30.0, hz * rng.uniform(0.75, 1 / 0.75)))
            out.write("60 %.1f\n" % hz)
    pairs = [(["--train", cut[f], "--infer", g], "%s beside %s" % (name(f), name(g)))
             for f in train for g in infer]
    pairs += [(["--infer", f, "--infer", g], "%s and %s, two inferences" % (name(f), name(g)))
              for i, f in enumerate(infer) for g in infer[i + 1:]]
    for args, what in pairs:
        inside = feasible = missed = asked = 0
        for watts in ("20", "30", "40"):
            r, c, cpu = run("schedule", *args, "--trace", "build/bench/arrivals", "--budgets", watts,
                            "--latency", "1000", "--modes", "15", *seed, none={"feasible": 0})
            if not r["feasible"]:
                continue
            inside += r["inside"]
            feasible += r["feasible"]
            missed += r["slo_missed_pct"] / 100 * r["requests"]
            asked += r["requests"]
            slowest, steps = max(slowest, cpu), max(steps, r["compute_max_ms"])
        row("auto, %s, changing arrivals: windows within the limits %%, requests over the latency limit %%" % what,
            ">= 97", "%.1f of %d, %.2f" % (100 * inside / max(feasible, 1), feasible,
                                           100 * missed / max(asked, 1)),
            feasible and inside >= 0.97 * feasible, c)
    for what, args in (("training", ["search", "--corpus", cut[train[0]]]),
                       ("inference", ["search", "--infer", infer[0]]),
                       ("both", ["schedule", "--train", cut[train[0]], "--infer", infer[0]])):
        r, c, _ = run(*args, "--queries", "0", "--strategy", "gmd", "--modes", "1")
        row("exhaustive optima of the full sweep, %s: s" % what, "<= 5",
            "%.3f" % (r["exhaust_ms"] / 1e3), r["exhaust_ms"] <= 5000, c)
    for f in train:
        r, c, cpu = run("schedule", "--train", cut[f], "--infer", infer[0], "--modes", "15", *seed)
        slowest, steps = max(slowest, cpu), max(steps, r["compute_max_ms"])
    row("auto, longest step: ms of CPU", "<= 50", "%.1f" % steps, steps <= 50, "all above")
    row("slowest eval: s of CPU", "<= 60", "%.1f" % slowest, slowest <= 60, "all above")
    keep()
    print("%d of %d, %.0f s of CPU" % (sum(r["ok"] for r in rows), len(rows), spent[0]))


main()

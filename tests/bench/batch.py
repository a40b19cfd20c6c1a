#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Accuracy of minibatch boundaries and of energy per minibatch, and overhead of the probe.

  batch.py [-o build/bench/batch.json] [--seed N] [--shapes N] [--skip-probe] [--boots N]

Results in the output file, by the place where they are measured:

On the simulated board, in virtual time: all results but those below. jetwatt record records jobs
of random shapes, and the minibatches of the traces are compared with the true ones of the
simulation. jetwatt never sees the true values. The energy of a minibatch is compared only if both
of its ends were seen and no other job ran.

On generated jobs, without a kernel (build/bench/batch): generated.

On this machine, as root (build/bench/probe): probe_overhead_pct.
"""
import argparse
import json
import os
import random
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
KEYS = ("f1", "bound_error_ms_p50", "energy_error_pct", "coverage_pct", "width_over_error",
        "probe_overhead_pct", "jwt_mib_per_hour")
NEAR_NS = 1_000_000     # the recorder needs part of the guest's only CPU, so a job may wake up late
COVER = 1.55            # JETWATT_BATCH_COVER
INFERRED = 2            # JETWATT_BATCH_INFERRED
OTHER = 2
TRAIN_NS = 95e6         # approximate time of a minibatch of size 1000 on the simulated board
KINDS = ("clean", "accumulated", "evaluated", "stalls", "lost", "two jobs", "library", "spinning",
         "10 ms", "syncpoint")


def train(draw, ms, minibatches, **more):
    """Options of a job whose minibatches take about @ms milliseconds."""
    size = max(1, round(1e9 * ms / TRAIN_NS))
    args = {"minibatches": minibatches, "syncs": draw.randint(1, 6), "size": size,
            "wait": draw.choice(["pollfd", "syncpt"])}
    args.update(more)
    return "train " + " ".join(f"--{k} {v}" for k, v in args.items())


def shape(draw, kind):
    """Return the jobs of a shape, and the share of waits to remove from its trace."""
    ms = draw.choice([55, 70, 100, 150])
    n = draw.randint(50, 80)
    if kind == "accumulated":
        return [train(draw, ms, n, accumulate=draw.choice([2, 4, 8]))], 0
    if kind == "evaluated":
        return [train(draw, ms, n, **{"eval-every": draw.randint(15, 25), "eval": draw.randint(6, 12)})], 0
    if kind == "stalls":
        return [train(draw, ms, n, **{"stall-every": draw.randint(5, 20),
                                      "stall": draw.randint(20, 400)})], 0
    if kind == "lost":
        return [train(draw, ms, 2 * n)], draw.uniform(0.002, 0.01)
    if kind == "two jobs":
        return [train(draw, ms, n), train(draw, draw.choice([30, 60]), n)], 0
    if kind == "library":
        how = draw.choice(["stream", "event", "context", "graph", "runtime"])
        return [f"cutrain --minibatches {n} --syncs {draw.randint(1, 6)} --sync {how}"], 0
    if kind == "spinning":
        return [f"cutrain --minibatches {n} --syncs {draw.randint(1, 6)} --wait spin"], 0
    if kind == "10 ms":
        return [train(draw, 10, 4 * n)], 0
    if kind == "syncpoint":
        return [train(draw, ms, n, wait="syncpt")], 0
    return [train(draw, ms, n)], 0


def boot(number, shapes, seed, out):
    """Start a guest that runs the jobs; its output goes to a file."""
    os.makedirs(out, exist_ok=True)
    jobs = os.path.join(out, "jobs")
    with open(jobs, "w", encoding="utf-8") as f:
        for s in shapes:
            f.write("".join(f"{j} & " for j in s["jobs"]) + "\n")
    args = [os.path.join(ROOT, "tests/qemu/guest"), "--smp", "1", "--icount", "--timeout", "1500",
            "--out", out]
    for module in ("governor_simpleondemand", "ina3221", f"jetwatt-sim plant=analytic bus_hz=400000 seed={seed + number}",
                   "jetwatt"):
        args += ["--module", module]
    args += ["--file", os.path.join(ROOT, "build/arm64/tests/bench/kmod_fast") + ":/bench/kmod_fast",
             "--file", os.path.join(HERE, "batch_guest.sh") + ":/bench/run", "--file", f"{jobs}:/bench/jobs",
             "--", "/bin/sh", "/bench/run", "/bench/jobs"]
    with open(os.path.join(out, "log"), "w", encoding="utf-8") as log:
        return subprocess.Popen(args, stdout=log, stderr=subprocess.STDOUT)


def truths(path):
    """True minibatches: {process: [(end_ns, end_uj, kind)]}."""
    seen = {}
    with open(path, encoding="utf-8") as f:
        next(f)
        for line in f:
            _, _, end, kind, tgid, uj = (int(v) for v in line.split(","))
            seen.setdefault(tgid, []).append((end, uj, kind))
    return seen


def found(trace, lost, seed):
    """Minibatches that jetwatt found: (seconds, bytes, rails), {process: bounds}."""
    args = [os.path.join(ROOT, "build/bench/batch-trace"), trace]
    if lost:
        args += [str(lost), str(seed)]
    lines = subprocess.run(args, check=True, capture_output=True, text=True).stdout.splitlines()
    jobs = {}
    for line in lines[1:]:
        tgid, kind, flags, end, uj, sd, covered = line.split()
        jobs.setdefault(int(tgid), []).append(
            (int(end), int(kind), int(flags), float(uj), float(sd), float(covered)))
    head = lines[0].split()
    return (float(head[0]), int(head[1]), int(head[2])), jobs


def match(truth, bounds):
    """Match true ends with found ones; inferred ones may be off by 90 % of a minibatch."""
    pairs, at = [], 0
    for i, t in enumerate(truth):
        near = [k for k in range(at, len(bounds)) if abs(bounds[k][0] - t[0]) <= NEAR_NS]
        if not near:
            length = t[0] - truth[i - 1][0] if i else 0
            near = [k for k in range(at, min(at + 2, len(bounds)))
                    if bounds[k][2] & INFERRED and abs(bounds[k][0] - t[0]) <= 0.9 * length]
        if near:
            pairs.append((i, near[0]))
            at = near[0] + 1
    return pairs


def judge(s, truth, jobs, sums):
    """Add the results of one shape to the sums."""
    hit = total = said = 0
    for tgid, bounds in jobs.items():
        if tgid not in truth:
            continue
        ends = truth[tgid]
        pairs = match(ends, bounds)
        hit += len(pairs)
        total += len(ends)
        said += sum(1 for k, b in enumerate(bounds) if b[1] != OTHER or not k)
        to = dict(pairs)
        for i, k in pairs:
            if not bounds[k][2] & INFERRED:
                sums["off_ms"].append(abs(bounds[k][0] - ends[i][0]) * 1e-6)
            if len(s["jobs"]) > 1 or bounds[k][2] or to.get(i - 1, -1) != k - 1 or bounds[k][3] < 0:
                continue
            uj = ends[i][1] - ends[i - 1][1]
            ms = (ends[i][0] - ends[i - 1][0]) * 1e-6
            off, width = abs(bounds[k][3] - uj) / uj, COVER * bounds[k][4] / uj
            sums["energy"].append((ms, off, width))
    for tgid in s["tgids"] - set(jobs):
        total += len(truth[tgid])
    s["f1"] = 2 * hit / (total + said) if total + said else 0
    for key, v in (("hit", hit), ("total", total), ("said", said)):
        sums[key] += v


def in_guest(seed, number, boots, folder):
    """Run all shapes in several guests. Return: the results."""
    draw = random.Random(seed)
    shapes = [{"kind": KINDS[i % len(KINDS)]} for i in range(number)]
    for s in shapes:
        s["jobs"], s["lost"] = shape(draw, s["kind"])
    sums = {"hit": 0, "total": 0, "said": 0, "off_ms": [], "energy": []}
    seconds = size = 0
    parts = [shapes[i::boots] for i in range(boots)]
    outs = [os.path.join(folder, f"guest{i}") for i in range(boots)]
    running = [boot(i, p, seed, o) for i, (p, o) in enumerate(zip(parts, outs))]
    for guest, part, out in zip(running, parts, outs):
        if guest.wait():
            sys.exit(f"batch: a guest failed, see {out}/log")
        truth = truths(os.path.join(out, "minibatches.csv"))
        for n, s in enumerate(part, 1):
            head, jobs = found(os.path.join(out, f"{n}.jwt"), s["lost"], seed + n)
            s["tgids"] = {t for t in truth if t in jobs}
            judge(s, truth, jobs, sums)
            seconds, size = seconds + head[0], size + head[1]
            print(f"{s['kind']:12} F1 {s['f1']:.4f}  {'; '.join(s['jobs'])}"
                  + (f"; {100 * s['lost']:.1f} % lost" if s["lost"] else ""), flush=True)
    off = {name: [100 * e[1] for e in sums["energy"] if low <= e[0] < high]
           for name, low, high in (("50ms", 50, 1e9), ("10ms", 7, 15))}
    error = statistics.median(e[1] for e in sums["energy"])
    return {
        "seed": seed, "shapes": number,
        "f1": round(2 * sums["hit"] / (sums["total"] + sums["said"]), 5),
        "shapes_below": sum(s["f1"] < 0.995 for s in shapes),
        "bound_error_ms_p50": round(statistics.median(sums["off_ms"]), 4),
        "energy_error_pct": {k: round(statistics.median(v), 3) for k, v in off.items() if v},
        "coverage_pct": round(100 * sum(e[1] <= e[2] for e in sums["energy"]) / len(sums["energy"]), 1),
        "width_over_error": round(statistics.median(e[2] for e in sums["energy"]) / error, 2),
        "minibatches": sums["total"], "energies": len(sums["energy"]),
        "jwt_mib_per_hour": round(size / 2**20 / seconds * 3600, 1),
    }


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-o", "--output", default="build/bench/batch.json")
    p.add_argument("--seed", type=int, default=int(os.environ.get("SEED") or "1"))
    p.add_argument("--shapes", type=int, default=int(os.environ.get("SHAPES") or "40"))
    p.add_argument("--boots", type=int, default=2)
    p.add_argument("--skip-probe", action="store_true")
    a = p.parse_args()

    folder = os.path.dirname(a.output) or "."
    print(f"seed {a.seed}, {a.shapes} shapes", flush=True)
    result = in_guest(a.seed, a.shapes, a.boots, folder)
    ran = subprocess.run([os.path.join(ROOT, "build/bench/batch"), str(a.seed)], check=True,
                         capture_output=True)
    result["generated"] = json.loads(ran.stdout)
    if not a.skip_probe:
        path = os.path.join(folder, "probe.json")
        if subprocess.run([os.path.join(ROOT, "build/bench/probe"), "-o", path],
                          stdout=subprocess.DEVNULL).returncode == 0:
            with open(path, encoding="utf-8") as f:
                result["probe_overhead_pct"] = json.load(f)["probe_overhead_pct"]
    with open(a.output, "w", encoding="utf-8") as f:
        json.dump(result, f, indent=1)
        f.write("\n")
    for key in KEYS:
        print(f"{key:22} {result.get(key, 'not measured')}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

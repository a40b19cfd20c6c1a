#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Quality and cost of jetwattd's decisions during a simulated day of ten jobs.

  daemon.py [--corpus FILE.csv] [--seed N] [--jobs N] [-o build/bench/daemon.json]

A file of measured modes is replayed on the simulated board. Jobs of two sizes start and stop at
random times, one job changes its batch size while it runs, the budget changes, the air becomes so
warm that the kernel throttles the GPU, and another process changes a knob. At the end a job of a
new size runs ("cold"), and then the same job in another cgroup ("synced"), which is a workload of
its own, so jetwattd knows only measurements of "others". These two jobs count in "priors" alone.

A job has reached its mode at the earliest time after which 90 % of its time, up to the next event, is
in minibatches within 5 % of the best time. After a change of its batch size it is judged again.

jetwattd is judged by true values that it does not see: the mean power over the policy's window, the
minibatches and the modes. Penalties are relative to the best mode within the present budget; modes
whose power is an outlier are excluded. The oracle is in that mode from the start; MAXN is the highest
mode and ignores the budget; the preset is the fastest preset of NVIDIA within the budget, or the
lowest. Default budgets: 20, 25, 30 and 40 W; if the board does not reach these, four values between
the powers of its modes. Exit status 1: the budget was exceeded for longer than a second, or the
guest failed.
"""
import argparse
import bisect
import json
import os
import random
import shutil
import statistics
import subprocess
import sys

WINDOW_NS = 1_000_000_000
KNOBS = ("cores", "cpu_khz", "gpu_hz", "emc_hz")
SIZES = (1000, 1000, 500)
UNSEEN = 700
NEAR = 1.05
BUDGETS = (20, 25, 30, 40)
# cores, CPU kHz, GPU Hz, EMC Hz of presets of nvpmodel: 15W, 30W and 50W of an AGX Orin; for a
# board with fewer cores, 7W and 15W of an Orin Nano.
PRESETS = ((4, 1113600, 420750000, 2133000000), (8, 1728000, 624750000, 3199000000),
           (12, 1497600, 828750000, 3199000000))
SMALL = ((4, 960000, 408000000, 2133000000), (6, 1510400, 624750000, 2133000000))


def table(path):
    with open(path) as f:
        names = f.readline().strip().split(",")
        return [dict(zip(names, map(float, line.split(",")))) for line in f if line.strip()]


def clean(modes):
    """Modes without those whose power is far below that of their neighbours."""
    at = {tuple(m[k] for k in KNOBS): m for m in modes}
    steps = [sorted({m[k] for m in modes}) for k in KNOBS]
    good = []
    for key, m in at.items():
        means = []
        for d, values in enumerate(steps):
            i = values.index(key[d])
            if 0 < i < len(values) - 1:
                around = [at.get(key[:d] + (values[j],) + key[d + 1:]) for j in (i - 1, i + 1)]
                if all(around):
                    means.append((around[0]["power_w"] * around[1]["power_w"]) ** 0.5)
        if not means or m["power_w"] >= 0.95 * statistics.median(means):
            good.append(m)
    return good


def fastest(modes, watts):
    within = [m for m in modes if m["power_w"] <= watts]
    return min(within, key=lambda m: m["time_ms"]) if within else \
        min(modes, key=lambda m: m["power_w"])


def nearest(modes, key):
    return min(modes, key=lambda m: sum(abs(m[k] / v - 1) for k, v in zip(KNOBS, key)))


def within_reach(modes):
    """Budgets that some modes meet and others exceed."""
    watts = sorted(m["power_w"] for m in clean(modes))
    if watts[0] < BUDGETS[0] and BUDGETS[-1] < watts[-1]:
        return BUDGETS
    return [round(watts[len(watts) * k // 10], 1) for k in (2, 4, 6, 8)]


def draw(rng, jobs, budgets):
    """Draw the events of the day: lines for daemon_guest.sh."""
    day = ["budget %g" % rng.choice(budgets), "sleep 2"]
    for j in range(jobs):
        # The first job runs for so long that jetwattd finishes learning, and runs again.
        size = SIZES[0] if j < 2 else rng.choice(SIZES)
        # After a third of the jobs, one job changes its batch size while it runs.
        change = " %d %d" % (SIZES[-1] if size == SIZES[0] else SIZES[0], rng.randrange(150, 300)) \
            if j == jobs // 3 else ""
        day += ["start %d%s" % (size, change), "sleep %d" % (90 if j < 1 else rng.randrange(20, 60))]
        if j >= 2 and rng.random() < 0.4:
            day += ["budget %g" % rng.choice(budgets), "sleep %d" % rng.randrange(30, 60)]
        if j == jobs // 4:
            day += ["heat", "sleep 60", "cool", "sleep 15"]
        if j == jobs // 2:
            day += ["turn", "sleep 8", "back", "sleep 2"]
        day += ["stop", "sleep %d" % rng.randrange(3, 8)]
    for cgroup, seconds in (("here", 90), ("there", 60)):
        day += ["cgroup " + cgroup, "start %d" % UNSEEN, "sleep %d" % seconds, "stop", "sleep 5"]
    return day


class Day:
    def __init__(self, out):
        self.events = [line.split() for line in open(out + "/events")]
        energy = [tuple(map(int, line.split(","))) for line in open(out + "/energy.csv")
                  if line[0].isdigit()]
        self.t = [e[0] for e in energy]
        self.uj = [e[1] for e in energy]
        self.minibatches = [tuple(map(int, line.split(","))) for line in
                            open(out + "/minibatches.csv") if line[0].isdigit()]
        self.modes = table(out + "/modes.csv")
        self.budgets = [(int(e[0]), float(e[2])) for e in self.events if e[1] == "budget"]

    def energy(self, t):
        i = min(max(bisect.bisect_left(self.t, t), 1), len(self.t) - 1)
        part = (t - self.t[i - 1]) / (self.t[i] - self.t[i - 1])
        return self.uj[i - 1] + part * (self.uj[i] - self.uj[i - 1])

    def budget(self, t):
        i = bisect.bisect_right([b[0] for b in self.budgets], t)
        return self.budgets[i - 1][1] if i else float("inf")

    def breaches(self, apart):
        """Lengths of the periods in which the mean power over the window exceeds the budget, in s,
        except in the intervals @apart: another process controls the board, or the budget was changed."""
        found, since = [], None
        for t in self.t:
            excused = t < self.t[0] + WINDOW_NS or any(a <= t < b for a, b in apart)
            watts = 0 if excused else (self.energy(t) - self.energy(t - WINDOW_NS)) / 1e-9 / 1e6 / WINDOW_NS
            if watts > self.budget(t):
                since = since or t
            elif since:
                found.append((t - since) / 1e9)
                since = None
        return found


class Job:
    """A job of the day: its minibatches, and its size in permille."""
    def __init__(self, day, event):
        self.start, self.end, self.pid = int(event[0]), None, int(event[-1])
        self.measured = 0
        self.size = int(event[2])
        self.then, self.after = map(int, event[3:5]) if len(event) > 5 else (self.size, 0)
        self.minibatches = [b for b in day.minibatches if b[4] == self.pid]
        self.change = self.minibatches[self.after][1] if 0 < self.after < len(self.minibatches) else None

    def size_at(self, t):
        return self.then if self.change and t >= self.change else self.size


def jobs_of(day):
    found = []
    measured = 0
    for e in day.events:
        if e[1] == "start":
            found.append(Job(day, e))
        elif e[1] == "measured" and found:
            found[-1].measured = int(e[2]) - measured
            measured = int(e[2])
        elif e[1] == "stop" and found:
            found[-1].end = int(e[0])
    return [j for j in found if j.end]


def stretches(day, job):
    """Periods in which a job and the budget do not change: (start, end, size)."""
    def until(start):
        return min([int(e[0]) for e in day.events if int(e[0]) > start and
                    e[1] in ("budget", "turn", "stop", "heat")] + [job.end])
    if not job.change or job.change > until(job.start):
        return [(job.start, until(job.start), job.size)]
    return [(job.start, job.change, job.size), (job.change, until(job.change), job.then)]


def reached(day, good, job, stretch):
    """Seconds until 90 % of the remaining time is within 5 % of the best, and final penalty in %."""
    start, end, size = stretch
    mine = [b for b in job.minibatches if b[1] >= start and b[2] <= end]
    best = fastest(good, day.budget(start))["time_ms"] * size / 1000
    # The median of five minibatches suppresses single disturbed ones.
    ms = [(b[2] - b[1]) / 1e6 for b in mine]
    at, bad, all_of_it = None, 0, 0
    for i in range(len(ms) - 3, 1, -1):
        far = statistics.median(ms[i - 2:i + 3]) > NEAR * best
        bad += ms[i] * far
        all_of_it += ms[i]
        if not far and bad <= 0.1 * all_of_it and all_of_it > 5 * best:
            at = mine[i][1]
    return max(at - start, 0) / 1e9 if at else None, \
        100 * (statistics.median(ms[-20:]) / best - 1) if ms else None


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    ap.add_argument("--corpus")
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--jobs", type=int, default=10)
    ap.add_argument("--budgets", help="in W, a,b,...")
    ap.add_argument("-o", "--output", default="build/bench/daemon.json")
    ap.add_argument("--keep", action="store_true", help="judge the most recent recording instead of running the day")
    args = ap.parse_args()
    out = os.path.splitext(args.output)[0] + ".out"
    budgets = [float(b) for b in args.budgets.split(",")] if args.budgets else \
        within_reach(table(args.corpus)) if args.corpus else BUDGETS
    day = draw(random.Random(args.seed), args.jobs, budgets)
    if not args.keep:
        shutil.rmtree(out, ignore_errors=True)
        os.makedirs(out)
        files = {"/day": "\n".join(day) + "\n", "/policy": ""}
        smp, plant = 12, "plant=analytic workload=resnet"
        command = ["--file", "tests/bench/daemon_guest.sh:/guest.sh"]
        if args.corpus:
            rows = table(args.corpus)
            names = sorted({tuple(int(r[k]) for k in KNOBS) for r in rows})
            files["/modes.csv"] = ",".join(KNOBS) + "\n" + \
                "".join("%d,%d,%d,%d\n" % n for n in names)
            files["/policy"] = "modes = /modes.csv\n"
            smp = max(n[0] for n in names)
            plant = "plant=replay csv=/corpus.csv"
            command += ["--file", args.corpus + ":/corpus.csv"]
        for name, text in files.items():
            with open(out + name, "w") as f:
                f.write(text)
            command += ["--file", out + name + ":" + name]
        for m in ("governor_simpleondemand", "ina3221", "jetwatt-sim %s seed=%d" % (plant, args.seed),
                  "jetwatt"):
            command += ["--module", m]
        status = subprocess.call(["tests/qemu/guest", "--smp", str(smp), "--timeout", "7200",
                                  "--out", out] + command + ["--", "/bin/sh", "/guest.sh"])
        if status:
            sys.exit("daemon.py: the guest ended with status %d" % status)
    judge(Day(out), out, args)


def judge(day, out, args):
    good = clean(day.modes)
    *jobs, cold, synced = jobs_of(day)
    apart = []
    hot = [int(e[0]) for e in day.events if e[1] in ("heat", "cool")]
    # Times differ from the measured ones until the clocks have recovered from throttling.
    warm = [(hot[i], hot[i + 1] + 15 * WINDOW_NS) for i in range(0, len(hot) - 1, 2)]
    for i, e in enumerate(day.events):
        if e[1] == "turn":
            # jetwattd yields to the other process until the job ends.
            ends = [int(x[0]) for x in day.events[i:] if x[1] == "stop"]
            apart.append((int(e[0]), ends[0] + WINDOW_NS))
        if e[1] == "budget":
            apart.append((int(e[0]), int(e[0]) + 2 * WINDOW_NS))
    breaches = day.breaches(apart)
    seen, rows, first, second = {}, [], [], []
    ours = {"s": 0, "j": 0}
    others = {k: {"s": 0, "j": 0} for k in ("maxn", "preset", "oracle")}
    highest = max(day.modes, key=lambda m: tuple(m[k] for k in ("gpu_hz", "cpu_khz", "cores", "emc_hz")))
    presets = [nearest(day.modes, p) for p in (PRESETS if highest["cores"] > 6 else SMALL)]
    for job in jobs:
        key = (job.size, day.budget(job.start), bool(job.change))
        for k, stretch in enumerate(stretches(day, job)):
            took, penalty = reached(day, good, job, stretch)
            how = "changed" if k else "again" if key in seen else "new"
            if not k:
                (second if key in seen else first).append(took)
            rows.append((stretch[2], day.budget(stretch[0]), how, (stretch[1] - stretch[0]) / 1e9, took,
                         penalty))
        seen[key] = 1
        for b in job.minibatches:
            if any(a <= b[2] < e for a, e in apart + warm if e - a > 3 * WINDOW_NS):
                continue
            watts = day.budget(b[2])
            ours["s"] += (b[2] - b[1]) / 1e9
            ours["j"] += (day.energy(b[2]) - day.energy(b[1])) / 1e6
            for name, m in (("maxn", highest), ("preset", fastest(presets, watts)),
                            ("oracle", fastest(good, watts))):
                s = m["time_ms"] * job.size_at(b[1]) / 1e6
                others[name]["s"] += s
                others[name]["j"] += s * m["power_w"]
    priors = {}
    for name, job in (("cold", cold), ("synced", synced)):
        took, penalty = reached(day, good, job, stretches(day, job)[0])
        priors |= {name + "_modes": job.measured, name + "_start_s": took,
                   name + "_penalty_pct": float("nan") if penalty is None else penalty}
    begin, finish = (line.split() for line in open(out + "/daemon"))
    wall = (int(finish[1]) - int(begin[1])) / 1e9
    result = {
        "corpus": args.corpus or "analytic", "seed": args.seed, "jobs": len(jobs),
        "first_start_s": statistics.median([t for t in first if t is not None] or [float("nan")]),
        "second_start_s": statistics.median([t for t in second if t is not None] or [float("nan")]),
        "time_penalty_pct": statistics.median([r[5] for r in rows if r[5] is not None]),
        "breaches": len(breaches), "longest_breach_s": max(breaches, default=0),
        "breaches_over_1s": sum(b > 1 for b in breaches),
        "energy_pct": {k: 100 * (ours["j"] / v["j"] - 1) for k, v in others.items()},
        "time_pct": {k: 100 * (ours["s"] / v["s"] - 1) for k, v in others.items()},
        "priors": priors,
        "cpu_pct": (int(finish[2]) - int(begin[2])) / wall,
        "descriptors": [int(begin[3]), int(finish[3])], "rss_kib": [int(begin[4]), int(finish[4])],
    }
    print("size budget             length  mode reached after   final penalty")
    for size, watts, how, length, took, penalty in rows:
        print("%4d %4.3g W %-7s %5.0f s %12s %15s" %
              (size, watts, how, length, "never" if took is None else "%.1f s" % took,
               "-" if penalty is None else "%+.1f %%" % penalty))
    print("\nagainst       time   energy")
    for k in others:
        print("%-9s %+6.1f %% %+6.1f %%" % (k, result["time_pct"][k], result["energy_pct"][k]))
    print("\na new job: %(cold_modes)d modes, penalty %(cold_penalty_pct).1f %%; "
          "known to others: %(synced_modes)d modes, penalty %(synced_penalty_pct).1f %%" % priors)
    print("\nbudget exceeded %d times, for at most %.2f s; CPU %.1f %% of a core; RSS %d -> %d KiB; descriptors %d -> %d"
          % (result["breaches"], result["longest_breach_s"], result["cpu_pct"], *result["rss_kib"],
             *result["descriptors"]))
    with open(args.output, "w") as f:
        json.dump(result, f, indent=1)
    return sys.exit(result["breaches_over_1s"] > 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Days of jobs with jetwattd's learner, in virtual time.

  learner_day.py [-s SEED]... [-H HOURS] [-l LO:HI] [-p SHARE] [-o build/bench/learner-day] FILE.csv...

Excess is the time of the work done, divided by the time that the oracle takes for the same work, minus
1, in percent. The oracle uses the fastest mode within the same power limit from the start; the raw
oracle uses the fastest mode within the budget. Writes PREFIX.json, with a row for each job, and
PREFIX.svg: the excess over the time of day, and over the time since the start of a job.
"""
import argparse
import csv
import json
import subprocess

PARTS = "to_"


def day(args, seed):
    out = subprocess.run(["build/bench/learner-day", "-s", str(seed), "-h", str(args.hours), "-l", args.lengths,
                          "-p", str(args.share)] + args.files,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    jobs = []
    for row in csv.DictReader(out.stdout.splitlines()):
        # "inf": no preset is within the limit
        jobs.append({k: v if k == "file" else None if v == "inf" else float(v) for k, v in row.items()} |
                    {"seed": seed})
    return jobs


def excess(jobs, best="best_ms", done="done", since=0):
    """Excess of the jobs together, in percent; None if there are none."""
    jobs = [j for j in jobs if j["length_s"] > since and j[best] is not None]
    least = sum(j[done] * j[best] * 1e-3 for j in jobs)
    return 100 * (sum(j["length_s"] - since for j in jobs) / least - 1) if least else None


def worst(jobs, best, done, since=0):
    each = [excess([j], best, done, since) for j in jobs]
    return max((e for e in each if e is not None), default=None)


def curve(jobs):
    """(end of the part in s, excess in the part in percent), for jobs that last to its end."""
    found, begin = [], 0
    for key in (k for k in jobs[0] if k.startswith(PARTS)):
        end = float(key[len(PARTS):])
        lasting = [j for j in jobs if j["length_s"] >= end]
        least = sum(j[key] * j["best_ms"] * 1e-3 for j in lasting)
        if least:
            found.append((end, 100 * (len(lasting) * (end - begin) / least - 1)))
        begin = end
    return found


def over_day(jobs, best):
    """(hour, excess so far in percent) after each job."""
    found = []
    for i, j in enumerate(jobs):
        e = excess(jobs[:i + 1], best)
        if e is not None:
            found.append(((j["at_s"] + j["length_s"]) / 3600, e))
    return found


def plot(path, jobs):
    seeds = sorted({j["seed"] for j in jobs})
    data, lines = [], [[], []]

    def add(panel, title, points, style):
        name = f"$d{len(data)}"
        data.append(f"{name} << EOD\n" + "\n".join(f"{x:g} {y:g}" for x, y in points) + "\nEOD\n")
        lines[panel].append(f"{name} {style} title '{title}'")

    for seed in seeds:
        own = [j for j in jobs if j["seed"] == seed]
        add(0, f"seed {seed}", over_day(own, "best_ms"), "with steps lw 1.5")
    for new, title in ((1, "first job of a workload"), (0, "later jobs")):
        own = [j for j in jobs if j["new"] == new]
        if own:
            add(1, title, curve(own), "with linespoints lw 1.5 pt 7 ps 0.5")
    script = f"""set terminal svg size 760,640 font 'sans,13'
set output '{path}'
set multiplot layout 2,1
set grid
set ylabel 'excess over the oracle (%)'
set xlabel 'time of day (h)'
set yrange [0:*]
plot {", ".join(lines[0])}
set logscale x
set xlabel 'time since the start of the job (s)'
plot {", ".join(lines[1])}
unset multiplot
"""
    subprocess.run(["gnuplot"], input="".join(data) + script, text=True, check=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-s", "--seed", type=int, action="append")
    parser.add_argument("-H", "--hours", type=float, default=24)
    parser.add_argument("-l", "--lengths", default="30:10800")
    parser.add_argument("-p", "--share", type=float, default=5)
    parser.add_argument("-o", "--out", default="build/bench/learner-day")
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    jobs, days = [], []

    def text(value):
        return "-" if value is None else "%.1f" % value

    print("seed  jobs  excess %  raw  worst  new  known  after 15 s against preset  worst  steps down")
    for seed in args.seed or [1, 2, 3, 4, 5]:
        own = day(args, seed)
        long = [j for j in own if j["length_s"] >= 40]
        found = {
            "seed": seed, "jobs": len(own), "excess_pct": excess(own), "raw_pct": excess(own, "raw_ms"),
            "worst_pct": worst(own, "best_ms", "done"), "new_pct": excess([j for j in own if j["new"]]),
            "known_pct": excess([j for j in own if not j["new"]]),
            "preset_pct": excess(long, "preset_ms", "done_15", 15),
            "preset_worst_pct": worst(long, "preset_ms", "done_15", 15), "steps_down": sum(j["overs"] for j in own),
        }
        print("%4d %5d %9s %4s %6s %4s %6s %26s %6s %11d" % (
            seed, len(own), *(text(found[k]) for k in ("excess_pct", "raw_pct", "worst_pct", "new_pct", "known_pct",
                                                      "preset_pct", "preset_worst_pct")), found["steps_down"]), flush=True)
        jobs += own
        days.append(found)
    with open(args.out + ".json", "w") as f:
        json.dump({"hours": args.hours, "lengths": args.lengths, "share_pct": args.share, "days": days, "jobs": jobs},
                  f, indent=1, allow_nan=False)
    plot(args.out + ".svg", jobs)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Reproduce the findings of a characterisation paper on Jetsons with jetwatt's commands.

  characterise.py [-o build/bench/characterise.json] [--keep DIR] [--only PART]

Runs unmodified jobs in one guest with the analytic plant, records them with jetwatt record and stat,
and compares pairs of runs with jetwatt compare. Each row changes one parameter, and shows the interval
that contains 95 % of the resampled changes. Paper: SIGMETRICS 2022, doi 10.1145/3570604; containers:
arXiv 2312.07220. Exit status 1: a command failed, a change does not have the sign of the paper's
finding or is not significant, a change was found although none is expected, or the base load's
share of the power is not higher for the small net than for the large one.

The base load is the power of the board at the same clocks without a job. It is higher than on a real
board: all clocks of the plant stay at their maximum, whereas the governors of a board reduce some.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

MODULES = ("governor_simpleondemand", "fuse", "jetwatt-sim", "ina3221", "jetwatt")
QUANTITIES = {"time": "ms", "fetch stall": "stall ms", "energy": "J", "power": "W"}
# before, after, what changes, quantity, expected sign (0: no change; None: any), papers' finding
ROWS = (
    ("workers-0", "resnet", "pipelining: loader workers 0 -> 4", "fetch stall", -1, "cuts the stall"),
    ("workers-0", "resnet", "", "time", -1, "faster"),
    ("workers-0", "resnet", "", "energy", -1, "less energy"),
    ("cold-12", "warm-12", "slow storage (12 MB/s): page cache cold -> warm", "fetch stall", -1,
     "cuts the stall"),
    ("cold-12", "warm-12", "", "energy", -1, "less energy"),
    ("cold-400", "warm-400", "fast storage (400 MB/s): page cache cold -> warm", "fetch stall", 0,
     "helps only for some storage speeds"),
    ("warm-12", "warm-400", "page cache warm: storage 12 -> 400 MB/s", "time", 0,
     "storage hardly matters once cached"),
    ("resnet", "resnet-gpu", "large net: GPU clock / 2.1", "time", 1, "GPU clock matters"),
    ("resnet", "resnet-gpu", "", "energy", -1, "MAXN is not the most efficient"),
    ("resnet", "resnet-cpu", "large net: CPU clock / 2", "time", None, "CPU matters little"),
    ("resnet", "resnet-cores", "large net: cores 12 -> 4", "time", None, "CPU matters little"),
    ("resnet", "resnet-emc", "large net: EMC clock / 1.5", "time", 1, "a doubling: 25-33 %"),
    ("tiny", "tiny-gpu", "small net: GPU clock / 2.1", "time", None, "GPU matters little"),
    ("tiny", "tiny-gpu", "", "energy", -1, "MAXN is not the most efficient"),
    ("tiny", "tiny-cpu", "small net: CPU clock / 2", "time", 1, "CPU clock matters"),
    ("tiny", "tiny-cores", "small net: cores 12 -> 4", "time", None, "-"),
    ("tiny", "tiny-emc", "small net: EMC clock / 1.5", "time", None, "-"),
    ("bare", "again", "repeated without a change", "time", 0, "-"),
    ("bare", "again", "", "energy", 0, "-"),
    ("bare", "container", "bare -> container (cgroup, mount namespace)", "time", 0, "within 1 or 2 %"),
    ("bare", "container", "", "energy", 0, "within 1 or 2 %"),
)


def run(out, parts):
    command = ["tests/qemu/guest", "--smp", "12", "--timeout", "3000", "--out", out]
    for m in MODULES:
        command += ["--module", m]
    command += ["--file", "tests/bench/characterise_guest.sh:/characterise", "--", "/bin/sh",
                "/characterise"] + parts
    if subprocess.run(command, stdout=sys.stderr).returncode:
        sys.exit("characterise: the guest has failed, see its output above")


def jetwatt(*args):
    return json.loads(subprocess.run(("build/jetwatt",) + args, check=True, capture_output=True).stdout)


def report(out, name):
    return jetwatt("report", "--json", f"{out}/{name}.jwt")


def base_load(out):
    with open(f"{out}/idle.json") as f:
        idle = json.load(f)
    idle_w = idle["total_j"] / idle["elapsed_s"]
    share = {}
    for name in ("resnet", "tiny"):
        r = report(out, name)
        share[name] = {"power_w": r["power_w"], "energy_j": r["energy_j"], "time_ms": r["time_ms"],
                       "base_share": idle_w / r["power_w"]}
    return {"idle_w": idle_w, **share}


def compared(out):
    rows = []
    for before, after, what, quantity, sign, papers in ROWS:
        c = jetwatt("compare", "--json", f"{out}/{before}.jwt", f"{out}/{after}.jwt")
        q = next(q for q in c["quantities"] if q["name"] == quantity and not q["rail"])
        # only a significant change counts as an increase (1) or a decrease (-1)
        seen = (1 if q["change"] > 0 else -1) if q["moved"] else 0
        rows.append({"what": what, "before": before, "after": after, "quantity": quantity,
                     "a": q["a"], "b": q["b"], "change": q["change"], "lo": q["change_lo"],
                     "hi": q["change_hi"], "confidence": q["confidence"], "moved": q["moved"],
                     "papers": papers, "as_expected": sign is None or seen == sign})
    return rows


def cache(out):
    result = {}
    for name in ("cold-12", "warm-12", "cold-400", "warm-400"):
        with open(f"{out}/{name}.usage.json") as f:
            u = json.load(f)
        result[name] = {"page_cache_share": u["usage"].get("page_cache_share"),
                        "stall_share": u.get("stall_share"), "grade": u.get("quality", {}).get("grade")}
    return result


def show(result):
    b = result["base_load"]
    print(f"base load at full clocks: {b['idle_w']:.2f} W")
    for name, papers in (("resnet", "20-45 %"), ("tiny", "65-80 %")):
        w = b[name]
        print(f"  {name:8} {w['time_ms']:8.2f} ms {w['energy_j']:8.4f} J {w['power_w']:6.2f} W"
              f"   base load {100 * w['base_share']:.0f} %   (papers: {papers})")
    for name, c in result["cache"].items():
        print(f"  {name:8} {100 * c['page_cache_share']:3.0f} % of the data in the page cache at the end,"
              f" stall {100 * c['stall_share']:.0f} % of the time")
    print(f"\n{'':51} {'before':>8} {'after':>8} {'':9} {'change':>8}  {'95 % of it in':>15}  papers")
    for r in result["rows"]:
        print(f"{r['what']:51} {r['a']:8.4g} {r['b']:8.4g} {QUANTITIES[r['quantity']]:9}"
              f"{100 * r['change']:+7.1f} %  {100 * r['lo']:+6.1f} .. {100 * r['hi']:+5.1f}"
              f"  {'' if r['as_expected'] else 'NOT '}{r['papers']}")


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-o", "--output", default="build/bench/characterise.json")
    p.add_argument("--keep", help="keep the traces in this directory; use those that are already there")
    p.add_argument("--only", help="measure only this part again: base, clocks, loader, storage, container")
    a = p.parse_args()
    with tempfile.TemporaryDirectory() as tmp:
        out = a.keep or tmp
        if a.only or not os.path.exists(f"{out}/container.jwt"):
            run(out, [a.only] if a.only else [])
        result = {"base_load": base_load(out), "cache": cache(out), "rows": compared(out)}
    base = result["base_load"]
    result["small_has_more_base_load"] = base["tiny"]["base_share"] > base["resnet"]["base_share"]
    os.makedirs(os.path.dirname(a.output) or ".", exist_ok=True)
    with open(a.output, "w") as f:
        json.dump(result, f, indent=1)
        f.write("\n")
    show(result)
    return 0 if result["small_has_more_base_load"] and all(r["as_expected"] for r in result["rows"]) else 1


if __name__ == "__main__":
    sys.exit(main())

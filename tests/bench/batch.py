#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What is known of how well minibatches are measured, in one file.

  batch.py [-o build/bench/batch.json] [--seed N] [--probe]

Each figure comes from a program of its own; one that did not run leaves its key out:

  build/bench/batch SEED    f1, energy_error_pct, coverage_pct: drawn jobs, synthetic plants
  build/bench/probe.json    probe_overhead_pct (make bench-probe, as root; --probe runs it)
  build/bench/jwt.json      jwt_mib_per_hour
  build/bench/sim.json      bound_error_ms_p50: the simulated board's own truth
"""
import argparse
import json
import os
import subprocess
import sys

PARTS = ("probe", "jwt", "sim")
KEYS = ("f1", "bound_error_ms_p50", "energy_error_pct", "coverage_pct",
        "probe_overhead_pct", "jwt_mib_per_hour")


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-o", "--output", default="build/bench/batch.json")
    p.add_argument("--seed", default=os.environ.get("SEED") or "1")
    p.add_argument("--probe", action="store_true", help="measure the probe's cost too")
    a = p.parse_args()

    folder = os.path.dirname(a.output) or "."
    ran = subprocess.run(["build/bench/batch", a.seed], check=True, capture_output=True)
    result = json.loads(ran.stdout)
    if a.probe:
        subprocess.run(["build/bench/probe", "-o", os.path.join(folder, "probe.json")], check=True)
    for part in PARTS:
        path = os.path.join(folder, part + ".json")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                seen = json.load(f)
            result.update({k: seen[k] for k in KEYS if k in seen})
    with open(a.output, "w", encoding="utf-8") as f:
        json.dump(result, f, indent=1)
        f.write("\n")
    for key in KEYS:
        print(f"{key:22} {result.get(key, 'not measured')}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

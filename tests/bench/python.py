# SPDX-License-Identifier: GPL-2.0-only
"""Benchmark of the Python package in a guest, as root; see python.sh. The truth is that of the simulated board."""
import glob
import json
import os
import re
import statistics
import subprocess
import time

import jetwatt

TRUTH = "/sys/kernel/debug/jetwatt-sim/truth/now"
NOBODY = 65534
RATE_HZ = 800          # at most, with the bus of python.sh


def true_joules(file):
    file.seek(0)
    return int(re.search(r"^energy_uj (\d+)$", file.read(), re.M).group(1)) * 1e-6


def measure(file, seconds):
    """Return the relative error of a measurement, and its relative uncertainty (two standard deviations)."""
    with jetwatt.measure() as m:
        before = true_joules(file)
        time.sleep(seconds)
        true = true_joules(file) - before
    return m.joules / true - 1, m.uncertainty / true


def unprivileged():
    """Measure as user nobody, who cannot open the truth: it was opened before."""
    with open(TRUTH) as file:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        long = [measure(file, 10) for _ in range(3)]
        short = [measure(file, 0.3) for _ in range(100)]
    return {
        "source": str(jetwatt.meter()),
        "error_10s_pct": max(100 * abs(error) for error, _ in long),
        "within_uncertainty_of_100": sum(abs(error) <= sd for error, sd in short),
        "error_0.3s_median_pct": statistics.median(100 * abs(error) for error, _ in short),
        "uncertainty_0.3s_median_pct": statistics.median(100 * sd for _, sd in short),
    }


def child(call):
    """Return what a function returns in a child process, so that it may give up its privileges."""
    inside, outside = os.pipe()
    if os.fork() == 0:
        os.write(outside, json.dumps(call()).encode())
        os._exit(0)
    os.close(outside)
    with os.fdopen(inside) as file:
        return json.loads(file.read())


def convert_fast():
    """Let the sensors convert as fast as their driver permits."""
    for path in glob.glob("/sys/class/hwmon/hwmon*/"):
        with open(path + "name") as name:
            if name.read() != "ina3221\n":
                continue
        for file, value in ("samples", "1"), ("update_interval", "1"):
            with open(path + file, "w") as f:
                f.write(value)


def stream(rate_hz, seconds=10):
    """Read samples into NumPy arrays. Return the rate and this process's CPU time per time."""
    import numpy
    import jetwatt.stream
    n, watts, begun = 0, [], None   # samples and means of the blocks after the first one
    with jetwatt.stream.live(rate_hz=rate_hz) as samples:
        for block in samples.sample_blocks():
            if begun is None:
                begun, cpu = time.monotonic(), time.process_time()
                continue
            n += len(block)
            watts.append(numpy.nanmean(block["total_w"]))
            if time.monotonic() - begun >= seconds:
                break
    took = time.monotonic() - begun
    return {"rate_hz": n / took, "cpu_pct": 100 * (time.process_time() - cpu) / took, "blocks": len(watts),
            "lost": samples.lost.samples}


def main():
    result = {}

    def add(name, figures):
        result[name] = figures
        print(name, json.dumps(figures, indent=1), flush=True)

    add("no job", child(unprivileged))
    job = subprocess.Popen(["train", "--minibatches", "100000"], stdout=subprocess.DEVNULL)
    add("training", child(unprivileged))
    job.kill()
    job.wait()
    convert_fast()
    for rate_hz in (100, RATE_HZ):
        add("stream of %d Hz" % rate_hz, stream(rate_hz))
    print("JSON", json.dumps(result), flush=True)


main()

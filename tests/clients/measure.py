# SPDX-License-Identifier: GPL-2.0-only
"""Compare what the Python package measures with the true energy of the simulated board, in the guest.

Everything except `jetwatt stat` and the job runs as the user nobody. The file with the truth is
opened before. Prints KTAP.
"""
import os
import random
import re
import subprocess
import sys
import time

LONG_S, LONG = 10.0, 8
SHORT_S, SHORT, COVERED = 0.3, 100, 95
NOBODY = 65534
MARKS = """
import jetwatt, time
for i in range(40):
    with jetwatt.measure("step", mark=True):
        time.sleep(0.05)
"""
n = failed = 0


def check(good, text):
    global n, failed
    n += 1
    failed += not good
    print("%sok %d %s" % ("" if good else "not ", n, text), flush=True)


truth_fd = os.open("/sys/kernel/debug/jetwatt-sim/truth/now", os.O_RDONLY)


def truth():
    """Return the time in s and the true energy of the total in J."""
    text = os.pread(truth_fd, 65536, 0).decode()
    return tuple(float(re.search(r"^%s (\d+)$" % k, text, re.M).group(1)) * unit
                 for k, unit in (("t_ns", 1e-9), ("energy_uj", 1e-6)))


def measured(jetwatt, seconds):
    """Measure a sleep. Return the measurement and the true energy of the same time."""
    with jetwatt.measure("sleep") as m:
        t0, e0 = truth()
        time.sleep(seconds)
        t1, e1 = truth()
    return m, (e1 - e0) * m.seconds / (t1 - t0)


def within_one_percent(jetwatt, load):
    off, covered = [], True
    for _ in range(LONG):
        m, true = measured(jetwatt, LONG_S)
        off.append(m.joules / true - 1)
        print("# %s, the truth is %.3f J: %+.2f %%" % (m, true, off[-1] * 100), flush=True)
        covered = covered and abs(m.joules - true) <= 1.6 * m.uncertainty
    # The module's samples are few and random, so one of the results may be an outlier.
    off.sort(key=abs)
    check(abs(off[-2]) <= 0.01, "%s: %d of %d times %g s within 1 %%: all but one at most %.2f %%" % (
        load, sum(abs(o) <= 0.01 for o in off), LONG, LONG_S, abs(off[-2]) * 100))
    # The uncertainty is two standard deviations; all of eight results are within 3.2 standard
    # deviations.
    check(covered, "%s: and within 1.6 times the stated uncertainty" % load)


def within_uncertainty(jetwatt, load):
    draw, inside, off, stated = random.Random(24), 0, [], []
    for _ in range(SHORT):
        time.sleep(draw.uniform(0, 0.2))
        m, true = measured(jetwatt, SHORT_S)
        inside += abs(m.joules - true) <= m.uncertainty
        off.append(abs(m.joules / true - 1))
        stated.append(m.uncertainty / true)
    print("# error: median %.1f %%, largest %.1f %%; uncertainty: median %.1f %%" % (
        sorted(off)[SHORT // 2] * 100, max(off) * 100, sorted(stated)[SHORT // 2] * 100))
    check(inside >= COVERED, "%s: %d of %d times %g s within the stated uncertainty" % (
        load, inside, SHORT, SHORT_S))


def main():
    print("1..10")
    stat = subprocess.run(["jetwatt", "stat", "--probe", "marker", "--json", "--", sys.executable, "-c", MARKS],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    found = re.search(r'"minibatches": (\d+)', stat.stdout)
    print("".join("# %s\n" % line for line in stat.stderr.splitlines()), end="")
    check(stat.returncode == 0 and found and found.group(1) == "40",
          "jetwatt stat counts the 40 blocks that measure(mark=True) marks")

    # The job outlasts the test, and ends with the guest.
    job = subprocess.Popen(["/bin/sh", "-c", "read line; exec train --seconds 100000"], stdin=subprocess.PIPE,
                           stdout=subprocess.DEVNULL)
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    import jetwatt
    m, _ = measured(jetwatt, 0.5)
    check(os.getuid() == NOBODY and m.source == "hwmon" and m.scope == "module total" and len(m.rails) == 4,
          "the user nobody reads the counters of the module: %s" % m)
    check(all(j > 0 for j in m.rails.values()) and m.samples, "rails and samples: %s" % sorted(m.rails))
    within_one_percent(jetwatt, "no job")
    within_uncertainty(jetwatt, "no job")
    job.stdin.write(b"\n")
    job.stdin.close()
    time.sleep(3)
    within_one_percent(jetwatt, "training")
    within_uncertainty(jetwatt, "training")
    steps = jetwatt.Steps(mark=False)
    with steps:
        t0, e0 = truth()
        for _ in range(200):
            steps.begin()
            time.sleep(0.05)
            steps.end()
        t1, e1 = truth()
    true = (e1 - e0) * steps.seconds / (t1 - t0) / steps.count
    print("# %s, the truth is %.4f J" % (steps, true))
    check(abs(steps.joules_per_step - true) <= max(steps.uncertainty_per_step, 0.01 * true),
          "200 steps of 50 ms: the mean energy is within its uncertainty")
    return failed != 0


sys.exit(main())

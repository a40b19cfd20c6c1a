# SPDX-License-Identifier: GPL-2.0-only
"""Tests of jetwatt.stream.live() in the guest: the truth is that of the simulated board. Prints KTAP."""
import asyncio
import os
import re
import subprocess
import sys

import jetwatt
import jetwatt.stream

TRUTH = "/sys/kernel/debug/jetwatt-sim/truth/"
n = failed = 0


def check(good, text):
    global n, failed
    n += 1
    failed += not good
    print("%sok %d %s" % ("" if good else "not ", n, text), flush=True)


def truth():
    """Return the time in s and the true energy of the total in J."""
    with open(TRUTH + "now") as f:
        text = f.read()
    return tuple(float(re.search(r"^%s (\d+)$" % k, text, re.M).group(1)) * unit
                 for k, unit in (("t_ns", 1e-9), ("energy_uj", 1e-6)))


def energy(samples):
    return sum((b.t_ns - a.t_ns) * 1e-9 * (a.total_watts + b.total_watts) / 2
               for a, b in zip(samples, samples[1:]))


def samples_for(seconds):
    samples = []
    with jetwatt.stream.live() as stream:
        for s in stream.samples():
            samples.append(s)
            if s.t_ns - samples[0].t_ns > seconds * 1e9:
                return samples, stream.lost, stream


def train(*options):
    return subprocess.Popen(["train", *options], stdout=subprocess.DEVNULL)


def rows(name):
    with open(TRUTH + name) as f:
        return [[int(x) for x in line.split(",")] for line in f if line[0].isdigit()]


def true_energy(table, t):
    """Return the true energy up to the time t in ns, in J."""
    for (t0, e0), (t1, e1) in zip(table, table[1:]):
        if t0 <= t <= t1:
            return (e0 + (e1 - e0) * (t - t0) / (t1 - t0)) * 1e-6
    raise ValueError(t)


def main():
    print("1..9")
    t0, e0 = truth()
    samples, lost, stream = samples_for(10)
    t1, e1 = truth()
    watts = energy(samples) / (samples[-1].t_ns - samples[0].t_ns) * 1e9
    true = (e1 - e0) / (t1 - t0)
    check(abs(watts / true - 1) < 0.01 and len(stream.total) >= 2, "%d samples of 10 s: %.3f W, the truth is %.3f W" % (
        len(samples), watts, true))
    check(all(b.t_ns > a.t_ns and (b.seq == a.seq + 1 or b.gap) for a, b in zip(samples, samples[1:])) and
          lost.samples == sum(s.gap for s in samples) == 0, "in order, none lost: %s" % (lost,))
    check(samples[-1].telemetry.get("temp_mc", 0) > 10000, "telemetry: %s" % samples[-1].telemetry)

    with jetwatt.stream.live(rate_hz=50) as stream:
        block = [s for s, _ in zip(stream.samples(), range(100))]
    rate = 99e9 / (block[-1].t_ns - block[0].t_ns)
    check(48 < rate < 52, "rate_hz=50: %.1f Hz" % rate)

    async def watch(pid):
        """Collect minibatches, while another task counts."""
        turns, found = 0, []

        async def count():
            nonlocal turns
            while True:
                await asyncio.sleep(0.01)
                turns += 1

        task = asyncio.ensure_future(count())
        with jetwatt.stream.live(pid) as stream:
            async for m in stream.minibatches():
                found.append(m)
            lost = stream.lost
        task.cancel()
        return found, turns, lost

    job = train("--minibatches", "150")
    found, turns, lost = asyncio.run(watch(job.pid))
    job.wait()
    check(len(found) >= 100 and turns > 100, "asyncio: %d minibatches, %d turns of another task, %s" % (
        len(found), turns, lost))
    ends = [r[2] for r in rows("minibatches")]
    hits = sum(min(abs(m.end_ns - e) for e in ends) < 5e6 for m in found)
    check(hits >= 0.95 * len(found), "%d of %d ends are within 5 ms of a true one" % (hits, len(found)))
    table = [r[:2] for r in rows("energy")]
    run = [m for m in found if m.start_ns >= table[0][0] and m.end_ns <= table[-1][0]]
    off = sum(m.joules for m in run) / sum(true_energy(table, m.end_ns) - true_energy(table, m.start_ns)
                                           for m in run) - 1
    check(len(run) >= 100 and abs(off) < 0.01 and {m.pid for m in run} == {job.pid},
          "energy of %d minibatches: %+.2f %%" % (len(run), 100 * off))

    try:
        jetwatt.stream.live(4000000)
        check(False, "no error for a missing process")
    except jetwatt.JetwattError as e:
        check("fix: give the id of a running process" in str(e), "a missing process: " + str(e).replace("\n", ";"))
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        with jetwatt.stream.live(os.getpid()) as stream:
            next(stream.samples())
    check(len(os.listdir("/proc/self/fd")) == before, "close() leaves no descriptor")
    return failed != 0


sys.exit(main())

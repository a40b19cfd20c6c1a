# SPDX-License-Identifier: GPL-2.0-only
"""The energy counter of the kernel module in virtual time, with a known power.

The model is that of the module: run_idle() in kmod/sampler/sampler.c takes a sample half a period to
one and a half periods after the end of the previous one; integrate() in kmod/sampler/energy.c
applies the trapezoidal rule; read_latched() in kmod/interface/hwmon.c returns the same values for
LATCH_NS. Other programs may read the files too, so that the values were stored before a reader of
the test reads them.
"""
import bisect
import random
import time

import jetwatt.meters


class Clock:
    """Replaces the module time in the package."""

    now = 1000.0

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        """For the thread of another meter, which has not ended yet."""
        time.sleep(seconds)


class Square:
    """Power that alternates between two values; energy(a, b) is exact."""

    def __init__(self, period, high_share, low, high):
        self.period, self.share, self.low, self.high = period, high_share, low, high

    def __call__(self, t):
        return self.high if t / self.period % 1 < self.share else self.low

    def _until(self, t):
        whole, part = divmod(t / self.period, 1)
        mean = self.low + (self.high - self.low) * self.share
        return self.period * (whole * mean + self.low * part + (self.high - self.low) * min(part, self.share))

    def energy(self, a, b):
        return self._until(b) - self._until(a)


class Job:
    """Power of a training job: each minibatch has a stall of lower power; lengths vary by 2 %."""

    def __init__(self, period, stall, low, high):
        draw = random.Random(7)
        self.stall, self.low, self.high = stall * period, low, high
        self.starts, self.joules = [900.0], [0.0]
        while self.starts[-1] < 2500:
            length = period * draw.gauss(1, 0.02)
            self.starts.append(self.starts[-1] + length)
            self.joules.append(self.joules[-1] + length * high - (high - low) * self.stall)

    def _at(self, t):
        i = bisect.bisect(self.starts, t) - 1
        return i, t - self.starts[i]

    def __call__(self, t):
        return self.low if self._at(t)[1] < self.stall else self.high

    def _until(self, t):
        i, part = self._at(t)
        return self.joules[i] + part * self.high - (self.high - self.low) * min(part, self.stall)

    def energy(self, a, b):
        return self._until(b) - self._until(a)


class Source:
    """A source of jetwatt.meters.Meter."""

    name, scope, text = "hwmon", "module total", "virtual"
    latch_s, sample_s, poll_s = 0.1, 0.1 * 13 / 12 + 0.01, 0.005
    read_s = 0.004      # time to read all sensors

    def __init__(self, clock, power, seed, timed):
        self.clock, self.power, self.random, self.timed = clock, power, random.Random(seed), timed
        self.due = clock.now
        self.joules, self.sampled = 0.0, None
        self.stored = (-1.0, 0.0, 0.0, 0.0)
        self.reads = 0

    def total(self):
        self.reads += 1
        while self.due <= self.clock.now:
            watts = self.power(self.due)
            if self.sampled:
                t, last = self.sampled
                self.joules += (last + watts) / 2 * (self.due - t)
            self.sampled = (self.due, watts)
            self.due += self.random.uniform(0.05, 0.15) + self.read_s * self.random.uniform(0.5, 1.5)
        if self.clock.now - self.stored[0] >= self.latch_s:
            self.stored = (self.clock.now, self.joules, self.sampled[1], self.sampled[0])
        return round(self.stored[1], 6), self.stored[2], self.stored[3] if self.timed else None

    def rails(self):
        return {}


class World:
    """A clock, a source and a meter.

    others: another program reads the files too
    timed: the source tells the time of its samples
    """

    def __init__(self, power, seed, others=False, timed=True):
        self.clock = Clock()
        self.random = random.Random(seed)
        self.clock.now += self.random.random()
        self.source = Source(self.clock, power, seed, timed)
        self.others = others
        saved = jetwatt.meters.open_source
        jetwatt.meters.open_source = lambda *a: self.source
        try:
            self.meter = jetwatt.meters.Meter()
        finally:
            jetwatt.meters.open_source = saved

    def wait(self, seconds):
        """Let the time pass, in which the thread of the meter reads."""
        end = self.clock.now + seconds
        while self.clock.now < end:
            due = self.clock.now + self.meter.pause() + self.random.uniform(0, 0.002)
            while self.others and self.random.random() < 0.5 and self.clock.now < min(due, end):
                self.clock.now = min(due, end, self.clock.now + self.random.uniform(0, 0.1))
                self.source.total()
            self.clock.now = max(self.clock.now, min(due, end))
            if self.clock.now < end:
                self.meter.read()

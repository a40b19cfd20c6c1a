# SPDX-License-Identifier: LGPL-2.1-only
"""A meter: reads a source, and says how old and how uncertain a reading is.

The counter that a reading returns ends with a power sample, taken some time before the reading. Of the
sources, only hwmon tells the time of this sample (sample_time_ns), and not to a process in another time
namespace. Where the time is not known, two things are unknown:

- When the source has updated the counter. It returns the same value for up to latch_s. Other programs
  read it too, so a new value may be up to latch_s old when this process first reads it.
- How old the last power sample was at that update: up to sample_s.

The time of the sample is then taken as uniformly distributed. So a reading has a lag with an expected
value and a standard deviation; the latter is 0 if the time of the sample is known. At a time t, the
energy is the counter plus the power of the latest sample times (t - time of the reading + lag). The
standard deviation of the lag, times that power, is the first part of the uncertainty. The second part
is what happens between two samples: if the power of a sample deviates from the mean power around it by
s watts (standard deviation), the sum over n samples deviates by s * sample_s * sqrt(n). s is
estimated from the differences of successive power samples. See "Uncertainty" in doc/python.md.
"""
import math
import os
import threading
import time
import weakref
from array import array
from bisect import bisect_right
from collections import deque
from typing import Deque, List, NamedTuple, Optional, Tuple

from .sources import open_source

# Minimum length of the full history of the counter, in values: an hour at 10 Hz.
HISTORY = 36000
# Number of differences of successive power samples from which their spread is estimated.
DIFFERENCES = 256
# Number of standard deviations in a stated uncertainty.
SIGMAS = 2.0
# Resolution of a counter, J.
STEP_J = 1e-6
# Time for which the reading thread goes on after the last measurement, s.
LINGER_S = 1.0


class Reading(NamedTuple):
    """A value of the counter.

    time: time of the reading, s, CLOCK_MONOTONIC
    joules: the counter, J
    watts: power of the latest sample, W
    lag: expected age of the counter's value, less `stalled`, s
    lag_sd: standard deviation of that age, s
    stalled: time for which the counter has not advanced although it should have, s
    """

    time: float
    joules: float
    watts: float
    lag: float
    lag_sd: float
    stalled: float

    def at(self, t: float) -> float:
        """Return the energy at the time t, in J."""
        return self.joules + self.watts * (t - self.time + self.lag)


class Meter:
    """Reads one source of energy for any number of measurements and threads.

    root: directory that replaces "/", for tests; default: the environment variable JETWATT_ROOT
    sources: names of the sources to try, in this order: "hwmon", "jetwattd", "exporter"

    While a measurement is open, a thread reads the total when a new value is due. If the source does not
    tell the times of its samples, the thread then reads every poll_s until there is a new value, so that
    the time of this value is known to within poll_s.
    """

    def __init__(self, root: Optional[str] = None, sources: Optional[List[str]] = None) -> None:
        self.source = open_source(root or os.environ.get("JETWATT_ROOT") or "/", sources)
        self._diffs: Deque[float] = deque(maxlen=DIFFERENCES)
        self._times, self._joules, self._watts = array("d"), array("d"), array("d")
        self._value = self._power = math.nan
        self._checked = -math.inf
        self._latched = -math.inf               # when the value was read first
        self._sampled = (-math.inf, -math.inf)  # when its last power sample was taken, at the earliest and latest
        self._told: Optional[float] = None      # when that sample was taken, as the source tells it
        self.exact = False      # whether the time of the last power sample is known
        self.lag_sd = 0.0       # moving mean of Reading.lag_sd, s
        self._users = 0
        self._after_fork()
        _meters.add(self)

    def _after_fork(self) -> None:
        # A forked child has only the thread that forked; another thread may have held a lock.
        self._lock = threading.RLock()
        self._thread: Optional[threading.Thread] = None

    def __repr__(self) -> str:
        return "jetwatt.Meter: %s (%s)" % (self.source.text, self.source.scope)

    @property
    def lag_max(self) -> float:
        """Longest regular age of the counter's value, in s."""
        return self.source.latch_s + self.source.sample_s

    def read(self) -> Reading:
        """Read the counter. Takes some microseconds with hwmon, a millisecond otherwise."""
        with self._lock:
            before = time.monotonic()
            joules, watts, sampled = self.source.total()
            now = time.monotonic()
            if watts is None:
                watts = 0.0 if math.isnan(self._power) else self._power
            if joules != self._value or (sampled is not None and sampled != self._told):
                self._new_value(before, now, joules, watts, sampled)
            self._checked = before
            early, late = self._sampled
            sd = (late - early) / math.sqrt(12)
            self.lag_sd += (sd - self.lag_sd) * (0.05 if self.lag_sd else 1)
            stalled = max(0.0, now - self._latched - 2 * self.lag_max)
            # Do not extrapolate over the time for which the counter has stalled.
            return Reading(now, joules, watts, now - stalled - (early + late) / 2, sd, stalled)

    def _new_value(self, before: float, now: float, joules: float, watts: float,
                   sampled: Optional[float]) -> None:
        if not math.isnan(self._power) and now - self._latched < 2 * self.lag_max:
            self._diffs.append((watts - self._power) ** 2)
        self._told = sampled
        self.exact = sampled is not None and before - 2 * self.lag_max < sampled <= now
        if sampled is not None and self.exact:
            early = late = sampled
        else:
            # The sample is at most sample_s older than the new value, and newer than the sample of
            # the previous value.
            first = max(self._checked, before - self.source.latch_s)
            early, late = max(first - self.source.sample_s, self._sampled[0]), now
        self._sampled = (early, late)
        if joules < self._value:
            # The module was loaded again: discard the history of the counter.
            for a in (self._times, self._joules, self._watts):
                del a[:]
        self._value, self._power, self._latched = joules, watts, now
        time_s = (early + late) / 2
        self._times.append(max(time_s, self._times[-1]) if self._times else time_s)
        self._joules.append(joules)
        self._watts.append(watts)
        if len(self._times) > HISTORY + HISTORY // 8:
            for a in (self._times, self._joules, self._watts):
                del a[:-HISTORY]

    def noise(self, first: float, last: float) -> float:
        """Return the standard deviation of a power sample around the mean power, in W.

        first, last: power at both ends of a measurement, W; used as a further difference
        """
        with self._lock:
            squares = list(self._diffs) + [(last - first) ** 2]
        n = len(squares)
        # Few differences underestimate the spread; the factor approximates Student's t.
        return math.sqrt(sum(squares) / n / 2 * (1 + 5 / n))

    def between_samples(self, seconds: float, noise: float, lag: float = 0.0) -> float:
        """Return the standard deviation of the energy of a time, from the power between samples, in J."""
        sample = self.source.sample_s
        sd = noise * math.hypot(sample * math.sqrt(max(1.0, seconds / sample)), lag)
        # A job may have short phases of another power, in which few samples are taken. The power of
        # such a sample is used for the whole interval, or for the lag; the uncertainty covers the
        # error of one such sample.
        with self._lock:
            peak = math.sqrt(max(self._diffs, default=0.0))
        return max(sd, peak * max(sample, lag) / SIGMAS)

    def uncertainty(self, first: Reading, last: Reading, seconds: float) -> float:
        """Return SIGMAS standard deviations of the energy between two readings, plus any stall, in J."""
        noise = self.noise(first.watts, last.watts)
        variance = ((first.watts * first.lag_sd) ** 2 + (last.watts * last.lag_sd) ** 2
                    + self.between_samples(seconds, noise, math.hypot(first.lag, last.lag)) ** 2)
        return SIGMAS * (STEP_J + math.sqrt(variance)) + max(first.watts, last.watts) * min(last.stalled, seconds)

    def energy_at(self, times: List[float]) -> List[float]:
        """Return the energy at past times, in J, from the history of the counter; NaN without one."""
        with self._lock:
            t, j, w = self._times, self._joules, self._watts
            out = []
            for at in times:
                i = bisect_right(t, at)
                if not t:
                    out.append(math.nan)
                elif i == len(t):
                    out.append(j[-1] + w[-1] * min(at - t[-1], 2 * self.lag_max))
                elif i == 0:
                    out.append(j[0] - w[0] * min(t[0] - at, 2 * self.lag_max))
                else:
                    out.append(j[i - 1] + (j[i] - j[i - 1]) * (at - t[i - 1]) / (t[i] - t[i - 1]))
            return out

    def power_between(self, start: float, end: float, most: int = 1000) -> List[Tuple[float, float]]:
        """Return power samples between two times: (s since the start, W), at most about `most`."""
        with self._lock:
            a, b = bisect_right(self._times, start), bisect_right(self._times, end)
            step = 1 + (b - a) // most
            return [(self._times[i] - start, self._watts[i]) for i in range(a, b, step)]

    def hold(self) -> None:
        """Read the source periodically, until release() has been called as often as hold()."""
        with self._lock:
            self._users += 1
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="jetwatt", daemon=True)
                self._thread.start()

    def release(self) -> None:
        """Undo one hold()."""
        with self._lock:
            self._users -= 1

    def pause(self) -> float:
        """Return the time until the next read of the thread, in s."""
        since = time.monotonic() - self._latched
        if self.exact or since > 2 * self.lag_max:
            return self.source.latch_s      # also if the counter stands still
        return max(self.source.poll_s, 0.9 * self.source.latch_s - since)

    def _run(self) -> None:
        used = time.monotonic()
        while True:
            time.sleep(self.pause())
            with self._lock:
                now = time.monotonic()
                used = now if self._users else used
                # Measurements that follow each other share a thread.
                if now - used > LINGER_S:
                    self._thread = None
                    return
                try:
                    self.read()
                except Exception:  # noqa: the measurement reports the error when it ends
                    pass


_meters: "weakref.WeakSet[Meter]" = weakref.WeakSet()
_default: Optional[Meter] = None
_default_lock = threading.Lock()


def _forked() -> None:
    global _default_lock
    _default_lock = threading.Lock()
    for meter in list(_meters):
        meter._after_fork()


os.register_at_fork(after_in_child=_forked)


def meter() -> Meter:
    """Return the meter that is used if none is given; the first call opens its source."""
    global _default
    with _default_lock:
        if _default is None:
            _default = Meter()
        return _default


def use(new: Optional[Meter]) -> None:
    """Use this meter from now on if none is given; None: open a source again at the next use."""
    global _default
    with _default_lock:
        _default = new

# SPDX-License-Identifier: LGPL-2.1-only
"""Time and energy of many short steps, with a cost of some microseconds for each.

begin() and end() store the time and may send a mark; they do not read the source. The thread of the
meter reads the source, and the energy of the steps is computed from this history, some hundred steps
at a time: the energy at the begin and at the end of a step is interpolated between two values of the
counter. So the energy of one step is only as exact as its uncertainty says; the mean of many
consecutive steps is much more exact, because the errors at their common boundaries cancel.
"""
import math
import time
from array import array
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, TypeVar

from . import render
from .errors import JetwattError, SourceError
from .marks import _check, mark_begin, mark_end
from .meters import SIGMAS, STEP_J, Meter, meter as default_meter

# Number of stored steps, and time in s, after which their energy is computed. The history of the
# meter must be longer than this time.
PENDING = 512
PENDING_S = 600.0
T = TypeVar("T")


class Step(NamedTuple):
    """A step: its start (s, CLOCK_MONOTONIC), duration in s, and energy in J."""

    start: float
    seconds: float
    joules: float


class Steps:
    """Measures the steps between begin() and end(), from start() to stop(), in one thread.

    name: name of the steps, and of their marks
    mark: mark each step for `jetwatt stat` and `jetwatt record`
    keep: number of steps that rows() returns at most; the sums contain all steps
    required: False: if there is no source of energy, measure the time alone
    """

    def __init__(self, name: str = "step", *, mark: bool = True, keep: int = 100000,
                 required: bool = True, meter: Optional[Meter] = None) -> None:
        self.name, self.mark, self.keep, self.required = _check(name), mark, keep, required
        self.error: Optional[JetwattError] = None
        self._chosen = meter
        self._meter: Optional[Meter] = None
        self._running = False
        self._begun = math.nan
        self._pending_start, self._pending_end = array("d"), array("d")
        self._rows = (array("d"), array("d"), array("d"))
        self._count = 0
        self._seconds = self._joules = 0.0
        self._spans = 0             # groups of steps; between two groups is a gap longer than lag_max
        self._gap_s = 0.0           # sum of the shorter gaps, within the groups
        self._last_end = -math.inf

    def __getstate__(self) -> Dict[str, Any]:
        """Leave out the meter, so that callbacks can be copied and pickled."""
        return dict(self.__dict__, _meter=None, _chosen=None, _running=False)

    def start(self) -> None:
        """Start to read the source. Raises SourceError if there is none and it is required."""
        if self._running:
            return
        try:
            self._meter = self._chosen or default_meter()
            self._meter.read()
            self._meter.hold()
            self._running = True
        except (SourceError, OSError, ValueError) as e:
            if self.required:
                raise
            self._meter = None
            self.error = e if isinstance(e, JetwattError) else SourceError("no source", str(e))

    def stop(self) -> None:
        """Compute the energy of the last steps, and stop reading the source."""
        self._begun = math.nan
        if self._running and self._meter:
            try:
                self._meter.read()
            except (SourceError, OSError, ValueError) as e:
                self.error = e if isinstance(e, JetwattError) else SourceError("no source", str(e))
        self._settle()
        if self._running and self._meter:
            self._meter.release()
        self._running = False

    def __enter__(self) -> "Steps":
        self.start()
        return self

    def __exit__(self, *exc: Any) -> None:
        self.stop()

    def begin(self) -> None:
        """Begin a step."""
        if self.mark:
            mark_begin(self.name)
        self._begun = time.monotonic()

    def end(self) -> None:
        """End the step. Without begin(), do nothing."""
        now, begun = time.monotonic(), self._begun
        if begun != begun:
            return
        if self.mark:
            mark_end(self.name)
        self._begun = math.nan
        self._pending_start.append(begun)
        self._pending_end.append(now)
        if len(self._pending_end) >= PENDING or now - self._pending_start[0] > PENDING_S:
            self._settle()

    def over(self, items: Iterable[T]) -> Iterator[T]:
        """Yield the items; the body of the loop is a step. Fetching the next item is not."""
        self.start()
        try:
            for item in items:
                self.begin()
                yield item
                self.end()
        finally:
            self.stop()

    def _settle(self) -> None:
        starts, ends = self._pending_start, self._pending_end
        self._pending_start, self._pending_end = array("d"), array("d")
        if not starts:
            return
        unknown = [math.nan] * len(starts)
        joules = unknown
        if self._meter:
            before, after = self._meter.energy_at(list(starts)), self._meter.energy_at(list(ends))
            joules = [b - a for a, b in zip(before, after)]
        reach = self._meter.lag_max if self._meter else 0.0
        for start, end, j in zip(starts, ends, joules):
            gap = start - self._last_end
            if gap > reach:
                self._spans += 1
            else:
                self._gap_s += gap
            self._last_end = end
            self._seconds += end - start
            self._joules += j
        self._count += len(starts)
        for a, new in zip(self._rows, (starts, array("d", (b - a for a, b in zip(starts, ends))), joules)):
            a.extend(new)
            if len(a) > self.keep:
                del a[:-self.keep]

    @property
    def count(self) -> int:
        """Number of finished steps."""
        return self._count + len(self._pending_end)

    @property
    def seconds(self) -> float:
        """Time in all steps, in s."""
        self._settle()
        return self._seconds

    @property
    def joules(self) -> float:
        """Energy of all steps, in J."""
        self._settle()
        return self._joules

    @property
    def watts(self) -> float:
        """Mean power in the steps, in W."""
        return self.joules / self._seconds if self._seconds > 0 else math.nan

    def _uncertainty(self, seconds: float, spans: int, gap_s: float) -> float:
        m, watts = self._meter, self.watts
        if not m or watts != watts:
            return math.nan
        noise = m.noise(0.0, 0.0)
        variance = (spans * 2 * (watts ** 2 + noise ** 2) * m.lag_sd ** 2
                    + m.between_samples(seconds, noise) ** 2)
        # The power in a gap that is shorter than the interval between two values cannot be
        # determined.
        return SIGMAS * (STEP_J + math.sqrt(variance) + noise * gap_s)

    @property
    def uncertainty(self) -> float:
        """Uncertainty of joules, in J, for 95 of 100 runs."""
        self._settle()
        return self._uncertainty(self._seconds, self._spans, self._gap_s)

    @property
    def joules_per_step(self) -> float:
        """Mean energy of a step, in J."""
        return self.joules / self._count if self.count else math.nan

    @property
    def uncertainty_per_step(self) -> float:
        """Uncertainty of joules_per_step, in J."""
        return self.uncertainty / self._count if self.count else math.nan

    @property
    def uncertainty_of_one(self) -> float:
        """Uncertainty of the energy of a single step of mean length, in J."""
        return self._uncertainty(self.seconds / self._count, 1, 0.0) if self.count else math.nan

    def rows(self) -> List[Step]:
        """Return the last steps, at most `keep`."""
        self._settle()
        return [Step(*row) for row in zip(*self._rows)]

    def to_pandas(self) -> Any:
        """Return a pandas.DataFrame with the columns start, seconds and joules."""
        import pandas
        return pandas.DataFrame(self.rows(), columns=Step._fields)

    def to_dict(self) -> Dict[str, Any]:
        """Return the means of a step, with the keys of Measurement.to_dict()."""
        return {"name": "%d x %s" % (self.count, self.name), "joules": self.joules_per_step,
                "seconds": self.seconds / self._count if self.count else math.nan, "watts": self.watts,
                "uncertainty": self.uncertainty_per_step,
                "source": self._meter.source.name if self._meter else "none"}

    def __str__(self) -> str:
        return render.line(self.to_dict(), self.error)

    def __repr__(self) -> str:
        return "<%s>" % self

    def _repr_html_(self) -> str:
        scope = "mean of a step, %s" % (self._meter.source.scope if self._meter else "none")
        return render.html([self.to_dict()], scope)

# SPDX-License-Identifier: LGPL-2.1-only
"""Energy, time and power of a piece of a program."""
import functools
import inspect
import math
import threading
import time
import warnings
from collections import deque
from contextvars import ContextVar
from typing import Any, Callable, Deque, Dict, List, Optional, Tuple, TypeVar

from . import render
from .errors import JetwattError, SourceError
from .marks import mark_begin, mark_end
from .meters import Meter, Reading, meter as default_meter

# Number of finished measurements that measurements() returns at most.
KEPT = 10000
F = TypeVar("F", bound=Callable[..., Any])

_open: ContextVar[Optional["Measurement"]] = ContextVar("jetwatt", default=None)
_log: Deque["Measurement"] = deque(maxlen=KEPT)
_log_lock = threading.Lock()


class Measurement:
    """A measurement: a context manager, and a decorator. Made by measure().

    name, path: the name; with the names of the measurements around it, "epoch/step"
    seconds: duration, s
    joules: energy of the total, J
    watts: mean power, W
    rails: energy of each rail, J; a rail may supply another one, so do not add them
    uncertainty: of joules, in J, for 95 of 100 measurements; see doc/python.md, "Uncertainty"
    source, scope: name of the source, and what its total covers
    samples: about 1000 power samples at most: (s since the start, W); set at the end; may be empty
    error: why joules is not known (NaN), or None

    While the measurement is open, the figures are those until now. If it is shorter than the
    interval between two values of the counter, joules can be negative within its uncertainty.
    """

    def __init__(self, name: Optional[str] = None, *, mark: bool = False, required: bool = True,
                 meter: Optional[Meter] = None) -> None:
        self.name = name or "measurement"
        self.path = self.name
        self.error: Optional[JetwattError] = None
        self.samples: List[Tuple[float, float]] = []
        self._mark, self._required, self._chosen = mark, required, meter
        self._meter: Optional[Meter] = None
        self._first: Optional[Reading] = None
        self._first_rails: Dict[str, float] = {}
        self._start = self._end = math.nan
        self._figures: Tuple[float, float, Dict[str, float]] = (math.nan, math.nan, {})
        self._token: Any = None

    def __enter__(self) -> "Measurement":
        if self._token is not None:
            raise JetwattError("the measurement %s is open already" % self.name, "",
                               "call jetwatt.measure() for each measurement")
        self._end, self.error, self.samples, self._first, self._meter = math.nan, None, [], None, None
        try:
            self._meter = self._chosen or default_meter()
            first, self._first_rails = self._meter.read(), self._meter.source.rails()
            self._meter.hold()
            self._first = first
        except (SourceError, OSError, ValueError) as e:
            if self._required:
                raise
            self._fail(e)
        outer = _open.get()
        self.path = outer.path + "/" + self.name if outer else self.name
        self._token = _open.set(self)
        if self._mark:
            mark_begin(self.name)
        self._start = time.monotonic()
        return self

    def __exit__(self, *exc: Any) -> None:
        self._end = time.monotonic()
        if self._mark:
            mark_end(self.name)
        token, self._token = self._token, None
        try:
            _open.reset(token)
        except ValueError:
            pass    # ended in another thread or task than the one in which it began
        self._figures = self._evaluate(self._end)
        if self._first and self._meter:
            self._meter.release()
            self.samples = self._meter.power_between(self._start, self._end)
        with _log_lock:
            _log.append(self)

    def _fail(self, e: Exception) -> None:
        self.error = e if isinstance(e, JetwattError) else SourceError("the source cannot be read", str(e))

    def _evaluate(self, end: float) -> Tuple[float, float, Dict[str, float]]:
        """Return joules, uncertainty and rails until the time `end`."""
        first, m = self._first, self._meter
        if not first or not m:
            return math.nan, math.nan, {}
        try:
            last = m.read()
            rails = m.source.rails()
            if last.joules < first.joules:
                raise SourceError("the energy counter was reset", "the kernel module was loaded again",
                                  "measure again")
        except (SourceError, OSError, ValueError) as e:
            # An error of the measurement must not end the measured program.
            self._fail(e)
            warnings.warn("jetwatt: %s: %s" % (self.path, self.error), RuntimeWarning, stacklevel=3)
            return math.nan, math.nan, {}
        counted = last.joules - first.joules
        joules = last.at(end) - first.at(self._start)
        # The counters of the rails have the same age as the counter of the total.
        scale = joules / counted if counted > 0 and joules > 0 else 1.0
        return (joules, m.uncertainty(first, last, end - self._start),
                {k: (rails[k] - v) * scale for k, v in self._first_rails.items() if k in rails})

    def _result(self) -> Tuple[float, float, Dict[str, float]]:
        return self._evaluate(time.monotonic()) if self._token is not None else self._figures

    @property
    def seconds(self) -> float:
        """Duration, in s."""
        return (time.monotonic() if self._token is not None else self._end) - self._start

    @property
    def joules(self) -> float:
        """Energy of the total, in J; NaN if it is not known."""
        return self._result()[0]

    @property
    def uncertainty(self) -> float:
        """Uncertainty of joules, in J, for 95 of 100 measurements."""
        return self._result()[1]

    @property
    def rails(self) -> Dict[str, float]:
        """Energy of each rail, in J. A rail may supply another one, so do not add them."""
        return dict(self._result()[2])

    @property
    def watts(self) -> float:
        """Mean power, in W."""
        seconds = self.seconds
        return self.joules / seconds if seconds > 0 else math.nan

    @property
    def source(self) -> str:
        """Name of the source: "hwmon", "jetwattd", "exporter", or "none"."""
        return str(self._meter.source.name) if self._meter else "none"

    @property
    def scope(self) -> str:
        """What the total covers: "module total", "board total", "partial sum"; else "none"."""
        return str(self._meter.source.scope) if self._meter else "none"

    def __call__(self, func: F) -> F:
        """Decorate a function, or a coroutine function: measure each of its calls."""
        name = func.__name__ if self.name == "measurement" else self.name

        def again() -> "Measurement":
            return Measurement(name, mark=self._mark, required=self._required, meter=self._chosen)

        if inspect.iscoroutinefunction(func):
            @functools.wraps(func)
            async def call_async(*args: Any, **kwargs: Any) -> Any:
                with again():
                    return await func(*args, **kwargs)
            return call_async  # type: ignore[return-value]

        @functools.wraps(func)
        def call(*args: Any, **kwargs: Any) -> Any:
            with again():
                return func(*args, **kwargs)
        return call  # type: ignore[return-value]

    def to_dict(self) -> Dict[str, Any]:
        """Return the figures; the rails are named rail_LABEL."""
        joules, uncertainty, rails = self._result()
        seconds = self.seconds
        row: Dict[str, Any] = {
            "name": self.path, "seconds": seconds, "joules": joules, "uncertainty": uncertainty,
            "watts": joules / seconds if seconds > 0 else math.nan, "source": self.source}
        row.update(("rail_" + k, v) for k, v in rails.items())
        return row

    def __repr__(self) -> str:
        return "<%s>" % self

    def __str__(self) -> str:
        return render.line(self.to_dict(), self.error)

    def _repr_html_(self) -> str:
        return render.html([self.to_dict()], self.scope, self.samples)


def measure(name: Optional[str] = None, *, mark: bool = False, required: bool = True,
            meter: Optional[Meter] = None) -> Measurement:
    """Measure a block of code, or each call of a function.

    name: name of the measurement; default: that of the decorated function, or "measurement"
    mark: also mark the block as a minibatch for `jetwatt stat` and `jetwatt record`
    required: False: if there is no source of energy, measure the time alone (joules is NaN)
    meter: the meter to read; default: the first source that can be read

    When the block begins, SourceError, OSError or ValueError is raised if no source can be read
    and it is required. An error after that is a RuntimeWarning, and sets the member error.

    with jetwatt.measure("step") as m:
        work()
    print(m.joules, "J", m.seconds, "s")
    """
    return Measurement(name, mark=mark, required=required, meter=meter)


class Measurements(List[Measurement]):
    """A list of measurements; pandas is imported by to_pandas() only."""

    def to_pandas(self) -> Any:
        """Return a pandas.DataFrame with one row for each measurement."""
        import pandas
        return pandas.DataFrame([m.to_dict() for m in self])

    def __str__(self) -> str:
        return "\n".join(str(m) for m in self)

    def _repr_html_(self) -> str:
        return render.html([m.to_dict() for m in self], self[-1].scope if self else "none")


def measurements(name: Optional[str] = None) -> Measurements:
    """Return the finished measurements of this process, oldest first; at most the last 10000.

    name: only the measurements with this name or path
    """
    with _log_lock:
        return Measurements(m for m in _log if name is None or name in (m.name, m.path))


def clear() -> None:
    """Forget the finished measurements."""
    with _log_lock:
        _log.clear()

# SPDX-License-Identifier: LGPL-2.1-only
"""Energy of Python programs on NVIDIA Jetson boards with the kernel module of jetwatt.

    import jetwatt

    with jetwatt.measure("step") as m:
        work()
    print(m)

Pure Python, without dependencies and without privileges, except jetwatt.stream. Energy is in J,
time in s, power in W. The sources, in this order: the energy counters of the kernel module (hwmon),
jetwattd's control socket, jetwatt-exporter. doc/python.md describes the package.
"""
from typing import Any

from .errors import JetwattError, SourceError
from .marks import mark, mark_begin, mark_end, recorded
from .measurement import Measurement, Measurements, clear, measure, measurements
from .meters import Meter, meter, use
from .steps import Step, Steps
from .traces import Stat, Trace, read_stat, read_trace

__all__ = [
    "JetwattError", "Measurement", "Measurements", "Meter", "SourceError", "Stat", "Step", "Steps",
    "Trace", "clear", "mark", "mark_begin", "mark_end", "measure", "measurements", "meter", "read_stat",
    "read_trace", "recorded", "use",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        # importlib.metadata is slow to import, so it is imported only here.
        from importlib.metadata import version
        return version("jetwatt")
    raise AttributeError("module %r has no attribute %r" % (__name__, name))

# SPDX-License-Identifier: Apache-2.0
"""Zeus backend for NVIDIA Jetson boards with the kernel module of jetwatt.

Reads the energy counters of the module through the package `jetwatt`. It needs no privilege, starts
no process, and has a total on every board. For zeus/device/soc/jetwatt.py of Zeus.
"""

from __future__ import annotations

import contextvars
import importlib
import math
import time
from dataclasses import asdict, dataclass, field
from typing import Any

from zeus.device.soc.common import SoC, SoCMeasurement, ZeusSoCInitError


class ZeusJetwattInitError(ZeusSoCInitError):
    """The energy counters of the kernel module cannot be read."""


@dataclass
class JetwattMeasurement(SoCMeasurement):
    """Energy of a Jetson board. All values are in mJ; a value that is unknown is `None`.

    Attributes:
        total_energy_mj: Energy of the total. `scope` says what the total covers.
        uncertainty_mj: About 95 of 100 windows are within this of the true `total_energy_mj`.
            `None` for a measurement that is not a window.
        rail_energy_mj: Energy of each rail. A rail may supply another one, so do not add rails.
        scope: "module total", "board total" or "partial sum".
    """

    total_energy_mj: float | None = None
    uncertainty_mj: float | None = None
    rail_energy_mj: dict[str, float] = field(default_factory=dict)
    scope: str = "none"

    def __sub__(self, other: SoCMeasurement) -> JetwattMeasurement:
        """Return the difference of two cumulative measurements; its uncertainty is unknown."""
        if not isinstance(other, JetwattMeasurement):
            raise TypeError("Subtraction is only supported between JetwattMeasurement instances.")
        total = None
        if self.total_energy_mj is not None and other.total_energy_mj is not None:
            total = self.total_energy_mj - other.total_energy_mj
        rails = {
            rail: energy - other.rail_energy_mj[rail]
            for rail, energy in self.rail_energy_mj.items()
            if rail in other.rail_energy_mj
        }
        return JetwattMeasurement(total, None, rails, self.scope)

    def zero_all_fields(self) -> None:
        """Set every known energy to zero."""
        if self.total_energy_mj is not None:
            self.total_energy_mj = 0.0
        if self.uncertainty_mj is not None:
            self.uncertainty_mj = 0.0
        self.rail_energy_mj = dict.fromkeys(self.rail_energy_mj, 0.0)


class Jetwatt(SoC):
    """Reads the energy counters of the kernel module of jetwatt."""

    def __init__(self, meter: Any = None) -> None:
        """Open the counters.

        Args:
            meter: A `jetwatt.Meter`. Default: a new one that reads the counters in hwmon, or else
                jetwattd or jetwatt-exporter.

        Raises:
            ZeusJetwattInitError: There is no package `jetwatt`, or no counter that it can read.
        """
        try:
            self._jetwatt = importlib.import_module("jetwatt")
            self._meter = meter or self._jetwatt.Meter()
        except ImportError as e:
            raise ZeusJetwattInitError(f"The package jetwatt is not installed: {e}") from e
        except self._jetwatt.SourceError as e:
            raise ZeusJetwattInitError(str(e)) from e
        self._windows: dict[str, tuple[contextvars.Context, Any]] = {}

    def get_available_metrics(self) -> set[str]:
        """Return the names of the fields that have a value."""
        known = asdict(self.get_total_energy_consumption())
        return {name for name in ("total_energy_mj", "rail_energy_mj") if known[name]} | {"uncertainty_mj"}

    def get_total_energy_consumption(self) -> JetwattMeasurement:
        """Return the energy since the kernel module was loaded. Units: mJ."""
        total = self._meter.read().at(time.monotonic())
        rails = {rail: joules * 1e3 for rail, joules in self._meter.source.rails().items()}
        return JetwattMeasurement(total * 1e3, None, rails, self._meter.source.scope)

    def begin_window(self, key: str, restart: bool = False) -> None:
        """Begin a measurement window.

        Args:
            key: Unique name of the window.
            restart: If True and the window exists, cancel it and begin a new one.
        """
        if key in self._windows:
            if not restart:
                raise KeyError(f"Measurement window '{key}' already exists")
            self._end(key)
        # In a context of its own, because windows may overlap in any order and the package's
        # measurements nest.
        context = contextvars.Context()
        window = self._jetwatt.measure(key, meter=self._meter)
        context.run(window.__enter__)
        self._windows[key] = (context, window)

    def end_window(self, key: str) -> JetwattMeasurement:
        """End a measurement window and return its energy. Units: mJ."""
        if key not in self._windows:
            raise KeyError(f"Measurement window '{key}' does not exist")
        window = self._end(key)
        # A source that fails during the window makes the energy NaN, with a warning.
        known = not math.isnan(window.joules)
        return JetwattMeasurement(
            window.joules * 1e3 if known else None,
            window.uncertainty * 1e3 if known else None,
            {rail: joules * 1e3 for rail, joules in window.rails.items()},
            window.scope,
        )

    def _end(self, key: str) -> Any:
        context, window = self._windows.pop(key)
        context.run(window.__exit__, None, None, None)
        return window


def jetwatt_is_available() -> bool:
    """Return whether the kernel module's energy counters can be read on this machine."""
    try:
        jetwatt = importlib.import_module("jetwatt")
        jetwatt.Meter(sources=["hwmon"]).source.close()
    except Exception:
        return False
    return True

# SPDX-License-Identifier: GPL-2.0-only
"""Unit tests of doc/integrations/zeus/jetwatt.py. Prints KTAP. Run by tests/host/integrations.sh.

The module `zeus` here has no code of Zeus. It has the names and the abstract methods of
zeus/device/soc/common.py of github.com/ml-energy/zeus at commit 75a8b93: a class that lacks a method
cannot be instantiated, as with the original. With ZEUS=DIR, the sources of Zeus in DIR are used
instead; their dependencies nvidia-ml-py, httpx and scikit-learn must be installed.
"""
import abc
import importlib.util
import os
import sys
import tempfile
import time
import types
import unittest
import warnings

import board
import jetwatt
import runner


def stand_in():
    """Put a package zeus with the base classes of a SoC into sys.modules."""
    class ZeusSoCInitError(Exception):
        pass

    class SoCMeasurement(abc.ABC):
        @abc.abstractmethod
        def __sub__(self, other):
            pass

        @abc.abstractmethod
        def zero_all_fields(self):
            pass

    class SoC(abc.ABC):
        @abc.abstractmethod
        def get_available_metrics(self):
            pass

        @abc.abstractmethod
        def get_total_energy_consumption(self):
            pass

        @abc.abstractmethod
        def begin_window(self, key, restart=False):
            pass

        @abc.abstractmethod
        def end_window(self, key):
            pass

    for name in ("zeus", "zeus.device", "zeus.device.soc", "zeus.device.soc.common"):
        sys.modules[name] = types.ModuleType(name)
    common = sys.modules["zeus.device.soc.common"]
    common.SoC, common.SoCMeasurement, common.ZeusSoCInitError = SoC, SoCMeasurement, ZeusSoCInitError


def backend():
    """Import the backend from the source tree, as zeus.device.soc.jetwatt."""
    where = os.path.join(os.path.dirname(__file__), "../../doc/integrations/zeus/jetwatt.py")
    spec = importlib.util.spec_from_file_location("zeus.device.soc.jetwatt", where)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


if os.environ.get("ZEUS"):
    sys.path.insert(0, os.environ["ZEUS"])
else:
    stand_in()
zeus = backend()


class Backend(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.board = board.Board(folder.name)
        self.soc = zeus.Jetwatt(jetwatt.Meter(root=folder.name))
        self.last = time.monotonic()

    def tick(self, seconds=0.2):
        """Let the time pass; the counters advance by it."""
        time.sleep(seconds)
        now = time.monotonic()
        self.board.advance(now - self.last)
        self.last = now

    def near(self, got_mj, watts, seconds):
        self.assertAlmostEqual(got_mj / 1e3, watts * seconds, delta=0.02 * watts)

    def test_a_window(self):
        self.tick()
        self.soc.begin_window("step")
        begin = time.monotonic()
        self.tick()
        got = self.soc.end_window("step")
        seconds = time.monotonic() - begin
        self.near(got.total_energy_mj, board.TOTAL_W, seconds)
        self.assertGreater(got.uncertainty_mj, 0)
        self.assertEqual(got.scope, "module total")
        for rail, watts in board.RAILS:
            self.near(got.rail_energy_mj[rail], watts, seconds)

    def test_windows_overlap_in_any_order(self):
        begin = {}
        for key in ("a", "b"):
            self.soc.begin_window(key)
            begin[key] = time.monotonic()
            self.tick()
        for key in ("a", "b"):
            got = self.soc.end_window(key)
            self.near(got.total_energy_mj, board.TOTAL_W, time.monotonic() - begin[key])
        self.assertEqual([m.path for m in jetwatt.measurements()][-2:], ["a", "b"])

    def test_the_rules_of_keys(self):
        self.soc.begin_window("step")
        with self.assertRaises(KeyError):
            self.soc.begin_window("step")
        self.tick()
        self.soc.begin_window("step", restart=True)
        begin = time.monotonic()
        self.near(self.soc.end_window("step").total_energy_mj, board.TOTAL_W, time.monotonic() - begin)
        with self.assertRaises(KeyError):
            self.soc.end_window("step")

    def test_the_total_is_cumulative(self):
        first, begin = self.soc.get_total_energy_consumption(), time.monotonic()
        self.tick()
        last = self.soc.get_total_energy_consumption()
        difference = last - first
        self.near(difference.total_energy_mj, board.TOTAL_W, time.monotonic() - begin)
        self.assertEqual(set(difference.rail_energy_mj), {rail for rail, _ in board.RAILS})
        with self.assertRaises(TypeError):
            last - 1

    def test_fields(self):
        self.assertEqual(self.soc.get_available_metrics(), {"total_energy_mj", "rail_energy_mj", "uncertainty_mj"})
        got = self.soc.get_total_energy_consumption()
        got.zero_all_fields()
        self.assertEqual(got.total_energy_mj, 0)
        self.assertEqual(set(got.rail_energy_mj.values()), {0})
        self.assertIsNone(got.uncertainty_mj)

    def test_a_counter_that_was_reset(self):
        self.soc.begin_window("step")
        self.board.uj = dict.fromkeys(self.board.uj, 0)
        self.tick()
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            got = self.soc.end_window("step")
        self.assertIn("was reset", str(seen[0].message))
        self.assertIsNone(got.total_energy_mj)
        got.zero_all_fields()
        self.assertIsNone((got - got).total_energy_mj)

    def test_a_machine_without_counters(self):
        with tempfile.TemporaryDirectory() as root:
            os.environ["JETWATT_ROOT"] = root
            os.environ["JETWATT_EXPORTER"] = "127.0.0.1:1"
            try:
                self.assertFalse(zeus.jetwatt_is_available())
                with self.assertRaises(zeus.ZeusJetwattInitError) as e:
                    zeus.Jetwatt()
                self.assertIn("no source of energy can be read", str(e.exception))
                board.Board(root)
                self.assertTrue(zeus.jetwatt_is_available())
            finally:
                del os.environ["JETWATT_ROOT"], os.environ["JETWATT_EXPORTER"]


sys.exit(runner.main())

# SPDX-License-Identifier: GPL-2.0-only
"""Unit tests of the Python package. Prints KTAP. Run by tests/host/python_units.sh."""
import asyncio
import copy
import errno
import gc
import json
import math
import os
import pickle
import random
import re
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest
import warnings
import xml.etree.ElementTree
from unittest import mock

import board
import jetwatt
import jetwatt.callbacks
import jetwatt.marks
import jetwatt.meters
import jetwatt.sources
import libraries
import runner
import virtual

DIR = os.environ["JETWATT_TEST_DIR"]
OVERHEAD_S = 20e-6


def cost(call, times=2000, tries=15):
    """Return the CPU time of a call in s: the best of some tries. On a busy host a call waits, for example
    until the reader of the socket has run."""
    best = math.inf
    gc.disable()
    for _ in range(tries):
        start = time.thread_time()
        for _ in range(times):
            call()
        best = min(best, (time.thread_time() - start) / times)
    gc.enable()
    return best


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        self.addCleanup(jetwatt.use, None)
        self.addCleanup(jetwatt.clear)
        jetwatt.clear()

    def meter(self, **options):
        """Return a meter of a new directory, whose counters the test advances."""
        self.board = board.Board(self.root, **options)
        meter = jetwatt.Meter(root=self.root)
        jetwatt.use(meter)
        self.last = time.monotonic()
        return meter

    def tick(self, seconds=0.03):
        """Let the time pass: the counters advance by it, and the thread of the meter reads them."""
        time.sleep(seconds)
        now = time.monotonic()
        self.board.advance(now - self.last)
        self.last = now
        meter = jetwatt.meter()
        while meter._users and meter._value != self.board.uj[""] * 1e-6:
            time.sleep(0.001)


class Sources(Case):
    def test_counters_of_the_module(self):
        m = self.meter()
        self.assertEqual((m.source.name, m.source.scope), ("hwmon", "module total"))
        self.assertEqual(m.source.total()[:2], (18.0, 18.0))
        self.assertLess(abs(time.monotonic() - m.source.total()[2]), 10)
        self.assertEqual(m.source.rails(), dict(board.RAILS))
        self.assertAlmostEqual(m.source.sample_s, 0.118, places=3)
        self.assertEqual(m.source.latch_s, 0.1)

    def test_idle_hz_sets_the_interval_of_the_samples(self):
        self.assertAlmostEqual(self.meter(idle_hz=50).source.sample_s, 0.032, places=3)
        self.assertAlmostEqual(self.meter(idle_hz=0).source.sample_s, 0.118, places=3)

    def test_root_from_the_environment(self):
        board.Board(self.root, label="partial sum")
        with mock.patch.dict(os.environ, JETWATT_ROOT=self.root):
            self.assertEqual(jetwatt.meter().source.scope, "partial sum")

    def test_no_source(self):
        with mock.patch.dict(os.environ, JETWATT_EXPORTER="127.0.0.1:1"):
            with self.assertRaises(jetwatt.SourceError) as e:
                jetwatt.Meter(root=self.root)
        text = str(e.exception)
        self.assertRegex(text, r"^no source of energy can be read\n  why: .*\n  fix: sudo modprobe jetwatt")
        for word in ("hwmon device jetwatt", "jetwattd does not answer", "jetwatt-exporter does not answer"):
            self.assertIn(word, text)

    def test_no_shunt_is_known(self):
        """Without any shunt the device has voltages only: is_visible() in kmod/interface/hwmon.c."""
        self.meter()
        for n in range(1, 6):
            os.unlink(os.path.join(self.board.dir, "energy%d_input" % n))
        with self.assertRaisesRegex(jetwatt.SourceError, "no energy1_input"):
            jetwatt.sources.Hwmon(self.root)

    def test_two_rails_of_one_label(self):
        self.meter()
        self.board.put("energy3_label", "VDD_GPU_SOC")
        # The name that jetwatt_rails() of libjetwatt gives to the rail with the id 1.
        self.assertEqual(sorted(jetwatt.sources.Hwmon(self.root).rails()),
                         ["VDDQ_VDD2_1V8AO", "VDD_GPU_SOC", "VDD_GPU_SOC (1)", "VIN_SYS_5V0"])

    def test_power_sample_too_old(self):
        """ENODATA: the last sample is more than five seconds old; the counter stays readable."""
        source = self.meter().source
        pread = os.pread

        def refuse(fd, size, offset):
            if fd == source._power:
                raise OSError(errno.ENODATA, "no data")
            return pread(fd, size, offset)
        with mock.patch("os.pread", refuse):
            self.assertEqual(source.total()[:2], (18.0, None))

    def test_values_refreshed_between_two_reads(self):
        """Energy, power and time belong to the same values."""
        source = self.meter().source
        pread, left = os.pread, [3]

        def refresh(fd, size, offset):
            if fd == source._energy and left[0]:
                left[0] -= 1
                text = pread(fd, size, offset)
                self.board.advance(1)
                return text
            return pread(fd, size, offset)
        with mock.patch("os.pread", refresh):
            joules, _, sampled = source.total()
        self.assertEqual((joules, sampled), source.total()[::2])

    def test_time_of_the_samples(self):
        """In another time namespace, the clock differs; an older module has no such file."""
        meter = self.meter()
        meter.read()
        self.assertTrue(meter.exact)
        for ns in (time.monotonic_ns() + 10 ** 12, 1):
            time.sleep(0.2)
            self.board.advance(0.2)
            self.board.put("sample_time_ns", "%020d" % ns)
            self.assertGreater(meter.read().lag_sd, 0.03)
            self.assertFalse(meter.exact)
        os.unlink(os.path.join(self.board.dir, "sample_time_ns"))
        older = jetwatt.Meter(root=self.root)
        self.assertGreater(older.read().lag_sd, 0.03)
        self.assertIsNone(older.source.total()[2])

    def test_device_registered_again(self):
        """jetwatt_hwmon_update() replaces the device; reads of the old files fail with ENODEV."""
        source = self.meter().source
        pread, dead = os.pread, {source._energy}

        def refuse(fd, size, offset):
            if fd in dead:
                dead.clear()
                raise OSError(errno.ENODEV, "no such device")
            return pread(fd, size, offset)
        with mock.patch("os.pread", refuse):
            self.assertEqual(source.total()[:2], (18.0, 18.0))
        self.assertFalse(dead)

    def test_no_descriptor_leaks(self):
        source = self.meter().source
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(5):
            source.close()
            source._open()
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)

    def served(self, source, seconds):
        """tests/metrics/serve.c adds 1.425 J to each counter every 50 ms, and says 28.5 W."""
        meter = jetwatt.Meter(sources=[source], root=self.root)
        with jetwatt.measure("served", meter=meter) as m:
            before = meter.source.total()[0]
            time.sleep(seconds)
            counted = meter.source.total()[0] - before
        self.assertEqual((m.source, m.scope, m.error), (source, "module total", None))
        self.assertEqual(len(m.rails), 3)
        self.assertGreater(m.joules, 0)
        # The counters of tests/metrics/serve.c change all the time; the values that jetwattd serves
        # are up to latch_s old.
        self.assertLess(abs(m.joules - counted), 28.5 * meter.source.latch_s)
        self.assertGreater(m.uncertainty, 28.5 * 0.3)

    def test_intervals_are_those_of_jetwattd(self):
        def constant(path, pattern):
            with open(path, encoding="utf-8") as f:
                return float(re.search(pattern, f.read(), re.M).group(1))
        poll_s, run_s, slow_s = (constant("user/daemon/housekeeping.c", r"^#define %s\s+(\d+)" % name) * unit
                                 for name, unit in (("POLL_MS", 1e-3), ("HOUSEKEEPING_NS", 1e-9), ("SLOW_PARTS_NS", 1e-9)))
        runs = math.ceil(slow_s / run_s)
        source = jetwatt.sources.Daemon
        self.assertAlmostEqual(source.latch_s, runs * (run_s + poll_s))
        self.assertAlmostEqual(source.sample_s, 1 / constant("user/policy/policy.h", r'"rate", .*"Hz", (\d+)'))
        self.assertAlmostEqual(jetwatt.sources.Exporter.latch_s, source.latch_s + 0.5)

    def test_jetwattd(self):
        os.makedirs(os.path.join(self.root, "run/jetwatt"))
        os.symlink(os.path.abspath(os.path.join(DIR, "control")), os.path.join(self.root, "run/jetwatt/control"))
        self.served("jetwattd", 4)

    def test_exporter(self):
        with mock.patch.dict(os.environ, JETWATT_EXPORTER="127.0.0.1:" + os.environ["JETWATT_TEST_PORT"]):
            self.served("exporter", 5)
            # With --telemetry, the exporter serves the metrics without jetwattd.
            self.assertIn("metrics of jetwatt-exporter", jetwatt.sources.Exporter().text)

    def test_jetwattd_refuses(self):
        path = os.path.join(self.root, "control")
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(path)
            s.listen(1)

            def serve():
                with s.accept()[0] as c:
                    c.recv(100)
                    c.sendall(b"refused: the client is not in the group that may read\n")
            t = threading.Thread(target=serve)
            t.start()
            with self.assertRaisesRegex(jetwatt.SourceError, "(?s)not in the group.*fix: sudo usermod"):
                jetwatt.sources.Daemon(path=path)
            t.join()


class Measurements(Case):
    def test_energy_of_a_block(self):
        self.meter()
        with jetwatt.measure("block") as m:
            for _ in range(15):
                self.tick()
        self.assertLess(abs(m.joules - 18 * m.seconds), 18 * 0.2)
        self.assertLess(0.45, m.seconds)
        self.assertAlmostEqual(m.watts, m.joules / m.seconds)
        self.assertAlmostEqual(m.rails["VDD_GPU_SOC"], m.joules * 8 / 18, places=3)
        self.assertIsNone(m.error)

    def test_figures_while_open_and_power_samples(self):
        self.meter()
        with jetwatt.measure("open") as m:
            for _ in range(6):
                self.tick(0.06)
            early = m.joules
            self.assertGreater(early, 0)
            self.tick(0.2)
        self.assertGreater(m.joules, early)
        self.assertGreater(len(m.samples), 3)
        self.assertEqual({w for _, w in m.samples}, {18.0})

    def test_nested_and_named(self):
        self.meter()
        with jetwatt.measure("epoch") as a:
            with jetwatt.measure("step") as b:
                self.board.advance(0.1)
        self.assertEqual((a.path, b.path), ("epoch", "epoch/step"))
        self.assertGreaterEqual(a.seconds, b.seconds)
        self.assertEqual([m.name for m in jetwatt.measurements()], ["step", "epoch"])
        self.assertEqual(list(jetwatt.measurements("epoch/step")), [b])

    def test_block_that_raises(self):
        self.meter()
        with self.assertRaises(KeyError):
            with jetwatt.measure("raises") as m:
                raise KeyError
        self.assertFalse(math.isnan(m.joules))
        with jetwatt.measure("after") as m:
            pass
        self.assertEqual(m.path, "after")

    def test_threads(self):
        self.meter()
        names = []

        def work(i):
            for k in range(20):
                with jetwatt.measure("outer%d" % i):
                    with jetwatt.measure("inner") as m:
                        pass
                names.append(m.path)
        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(sorted(names), sorted("outer%d/inner" % i for i in range(8) for _ in range(20)))
        self.assertEqual(len(jetwatt.measurements()), 320)
        self.assertEqual(jetwatt.meter()._users, 0)

    def test_thread_of_the_meter_ends(self):
        meter = self.meter()
        with jetwatt.measure("short"):
            self.assertTrue(meter._thread.is_alive())
        for _ in range(100):
            if meter._thread is None:
                break
            time.sleep(0.1)
        self.assertIsNone(meter._thread)

    def test_decorators(self):
        self.meter()

        @jetwatt.measure()
        def square(x):
            """Return x * x."""
            return x * x if x < 2 else square(x - 1) + 2 * x - 1

        @jetwatt.measure("named")
        async def wait():
            await asyncio.sleep(0.01)
            return 7

        async def both():
            return await asyncio.gather(wait(), wait())
        self.assertEqual((square(3), square.__doc__, square.__name__), (9, "Return x * x.", "square"))
        self.assertEqual([m.path for m in jetwatt.measurements()][-1], "square")
        self.assertEqual(len(jetwatt.measurements("square")), 3)
        self.assertEqual(asyncio.run(both()), [7, 7])
        self.assertEqual([m.path for m in jetwatt.measurements("named")], ["named", "named"])
        self.assertGreaterEqual(min(m.seconds for m in jetwatt.measurements("named")), 0.009)

    def test_open_twice(self):
        self.meter()
        m = jetwatt.measure("twice")
        with m, self.assertRaisesRegex(jetwatt.JetwattError, "open already"):
            m.__enter__()

    def test_fork(self):
        self.meter()
        with jetwatt.measure("parent"):
            pid = os.fork()
            if not pid:
                try:
                    with jetwatt.measure("child") as m:
                        for _ in range(10):
                            self.tick()
                    alive = jetwatt.meter()._thread.is_alive()
                    os._exit(0 if m.joules > 0 and alive else 1)
                finally:
                    os._exit(2)
            self.assertEqual(os.waitpid(pid, 0)[1], 0)

    def test_module_loaded_again(self):
        self.meter()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with jetwatt.measure("reset") as m:
                self.board.put("energy1_input", "0         ")
        self.assertTrue(math.isnan(m.joules))
        self.assertIn("counter was reset", str(m.error))
        self.assertEqual([w.category for w in caught], [RuntimeWarning])
        self.assertIn("no energy", str(m))

    def test_source_not_required(self):
        with mock.patch.dict(os.environ, JETWATT_ROOT=self.root, JETWATT_EXPORTER="127.0.0.1:1"):
            with jetwatt.measure("none", required=False) as m:
                time.sleep(0.01)
            with self.assertRaises(jetwatt.SourceError):
                with jetwatt.measure("none"):
                    pass
        self.assertTrue(math.isnan(m.joules) and math.isnan(m.uncertainty))
        self.assertGreater(m.seconds, 0.009)
        self.assertEqual((m.source, m.rails), ("none", {}))
        self.assertIsInstance(m.error, jetwatt.SourceError)

    def test_rails_not_readable(self):
        meter = self.meter()
        with mock.patch.object(meter.source, "rails", side_effect=OSError("gone")):
            with jetwatt.measure("none", required=False) as m:
                pass
        self.assertTrue(math.isnan(m.joules))
        self.assertEqual(meter._users, 0)


class Uncertainty(Case):
    """Against an exact integral of the power, in virtual time."""

    def covered(self, power, seconds, seed, others=False, times=300, timed=True):
        """Return the share of measurements within their uncertainty, and the errors per mean energy."""
        world = virtual.World(power, seed, others, timed)
        draw, inside, errors = random.Random(seed), 0, []
        with mock.patch.object(jetwatt.meters, "time", world.clock):
            for _ in range(times):
                world.wait(draw.uniform(0, 0.4))
                first, start = world.meter.read(), world.clock.now
                world.wait(seconds)
                last, end = world.meter.read(), world.clock.now
                error = last.at(end) - first.at(start) - power.energy(start, end)
                inside += abs(error) <= world.meter.uncertainty(first, last, end - start)
                errors.append(error / power.energy(1000, 2000) * 1000 / seconds)
        return inside / times, errors

    def test_uncertainty_covers_95_of_100(self):
        for seed, others, timed in ((1, False, True), (2, True, True), (1, False, False), (2, True, False)):
            for power in (virtual.Square(1, 1, 20, 20), virtual.Square(0.085, 0.7, 10, 30),
                          virtual.Square(0.3, 0.5, 15, 25), virtual.Square(1.7, 0.6, 10, 30),
                          virtual.Job(0.0867, 0.03, 16, 40), virtual.Job(0.25, 0.05, 16, 40)):
                for seconds in (0.05, 0.3, 1.0):
                    with self.subTest(others=others, timed=timed, power=type(power).__name__, seconds=seconds):
                        # Of 600, one standard deviation is 0.9 %.
                        self.assertGreaterEqual(
                            self.covered(power, seconds, seed, others, times=600, timed=timed)[0], 0.94)

    def test_it_is_not_larger_than_needed(self):
        """A constant power is known exactly with the times of the samples; without, 10 s to 1.5 %."""
        for timed, shares in ((True, ((0.3, 1e-6), (10, 1e-6))), (False, ((0.3, 0.45), (10, 0.015)))):
            world = virtual.World(virtual.Square(1, 1, 20, 20), 3, timed=timed)
            with mock.patch.object(jetwatt.meters, "time", world.clock):
                world.wait(1)
                for seconds, share in shares:
                    first = world.meter.read()
                    world.wait(seconds)
                    self.assertLess(
                        world.meter.uncertainty(first, world.meter.read(), seconds) / 20 / seconds, share)

    def test_ten_seconds_within_one_percent(self):
        _, errors = self.covered(virtual.Square(1, 1, 20, 20), 10.0, 4, times=60)
        self.assertLess(max(map(abs, errors)), 0.01)

    def test_mean_is_unbiased(self):
        """Also if each block begins when the power rises, although the counter lags behind."""
        for seconds in (0.05, 0.3):
            _, errors = self.covered(virtual.Square(0.5, 0.5, 10, 30), seconds, 5, times=6000)
            self.assertLess(abs(sum(errors) / len(errors)), 0.04)

    def test_periods_like_the_interval_of_the_samples(self):
        """The intervals are random, so that the samples do not find the same phase of all minibatches."""
        for period in (0.052, 0.104, 0.208):
            share, errors = self.covered(virtual.Square(period, 0.5, 10, 30), 10.0, 6, times=60)
            self.assertLess(math.sqrt(sum(e * e for e in errors) / len(errors)), 0.08)
            self.assertGreaterEqual(share, 0.9)

    def test_power_step_at_both_ends(self):
        class Step:
            edges = ()

            def __call__(self, t):
                return 30.0 if any(a <= t < b for a, b in self.edges) else 10.0
        power, errors = Step(), []
        world = virtual.World(power, 6)
        with mock.patch.object(jetwatt.meters, "time", world.clock):
            for _ in range(300):
                world.wait(world.random.uniform(1, 1.2))
                first, start = world.meter.read(), world.clock.now
                power.edges = ((start, start + 0.5),)
                world.wait(0.5)
                last = world.meter.read()
                errors.append((last.at(world.clock.now) - first.at(start)) / 15 - 1)
        # Without the correction for the age of the counter, the mean error would be -14 %.
        self.assertLess(abs(sum(errors) / len(errors)), 0.02)

    def test_counter_that_stands_still(self):
        world = virtual.World(virtual.Square(1, 1, 20, 20), 7)
        with mock.patch.object(jetwatt.meters, "time", world.clock):
            world.wait(1)
            first = world.meter.read()
            world.source.due = math.inf
            world.wait(10)
            last = world.meter.read()
            self.assertGreater(last.stalled, 9)
            self.assertGreater(world.meter.uncertainty(first, last, 10), 20 * 9)

    def test_history_is_bounded(self):
        world = virtual.World(virtual.Square(1, 1, 20, 20), 8)
        with mock.patch.object(jetwatt.meters, "time", world.clock), mock.patch.object(jetwatt.meters, "HISTORY", 80):
            world.wait(30)
            self.assertLessEqual(len(world.meter._times), 90)
            now = world.clock.now
            a, b = world.meter.energy_at([now - 5, now - 1])
            self.assertAlmostEqual(b - a, 80, delta=3)


class Marks(Case):
    def setUp(self):
        super().setUp()
        self.receive, self.send = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(self.receive.close)
        self.addCleanup(self.send.close)
        for s in (self.receive, self.send):
            s.setblocking(False)
        self.set(self.send.fileno())
        self.addCleanup(jetwatt.marks._reset, -1)

    def set(self, fd):
        jetwatt.marks._reset()
        patch = mock.patch.dict(os.environ, JETWATT_MARK_FD=str(fd))
        patch.start()
        self.addCleanup(patch.stop)

    def lines(self):
        out = []
        while True:
            try:
                out.append(self.receive.recv(4096).decode())
            except BlockingIOError:
                return out

    def test_protocol(self):
        """The form that jetwatt_marks_parse() in user/lib/marks.c reads."""
        before = time.monotonic_ns()
        self.assertTrue(jetwatt.mark() and jetwatt.mark_begin("a") and jetwatt.mark_end("a"))
        lines = self.lines()
        self.assertEqual([s.split(" @")[0] for s in lines], ["step", "begin a", "end a"])
        for s in lines:
            ns, tid, lost, pid = map(int, re.fullmatch(r".* @(\d+)/(\d+)/(\d+)/(\d+)\n", s).groups())
            self.assertTrue(before <= ns <= time.monotonic_ns())
            self.assertEqual((tid, lost, pid), (threading.get_native_id(), 0, 0))

    def test_recipe_without_the_package(self):
        """The function in doc/recipes.md sends marks, and no error of the socket ends the program."""
        with open("doc/recipes.md", encoding="utf-8") as f:
            text = re.search(r"^    def mark\(\):\n(?:    .*\n)+", f.read(), re.M).group(0)
        names = {"os": os, "socket": socket}
        exec(textwrap.dedent(text), names)  # pylint: disable=exec-used
        names["mark"]()
        self.assertEqual(self.lines(), ["step\n"])
        for _ in range(1000):               # the buffer is full
            names["mark"]()
        self.assertLess(len(self.lines()), 1000)
        self.receive.close()                # jetwatt has ended
        names["mark"]()
        with tempfile.TemporaryFile() as own:   # the number belongs to a file of the program
            self.set(own.fileno())
            names["mark"]()
            self.assertEqual(own.seek(0, os.SEEK_END), 0)
        del os.environ["JETWATT_MARK_FD"]       # not measured
        names["mark"]()

    def test_full_buffer_counts_losses(self):
        sent = 0
        while jetwatt.mark():
            sent += 1
        for _ in range(4):
            self.assertFalse(jetwatt.mark())
        self.assertEqual(len(self.lines()), sent)
        self.assertTrue(jetwatt.mark())
        self.assertRegex(self.lines()[0], r"/5/0\n$")
        self.assertTrue(jetwatt.mark())
        self.assertRegex(self.lines()[0], r"/0/0\n$")

    def test_names(self):
        for name in ("", "a b", "a@b", "a\n", "\xe9", "x" * 64):
            with self.assertRaisesRegex(jetwatt.JetwattError, "fix: use 1 to 63"):
                jetwatt.mark(name)
        self.assertTrue(jetwatt.mark("x" * 63))

    def test_recorder_has_ended(self):
        jetwatt.mark()
        self.receive.close()
        self.assertFalse(jetwatt.mark())
        self.assertEqual(jetwatt.marks._lost, 0)

    def test_not_the_socket_of_a_recorder(self):
        """A child whose descriptors were closed must not write to a file that has this number."""
        with open(os.path.join(self.root, "file"), "wb") as f, socket.socket() as s:
            for fd in (f.fileno(), s.fileno(), 999999, "7x", "-1", ""):
                self.set(fd)
                self.assertFalse(jetwatt.mark())
                self.assertFalse(jetwatt.recorded())
            self.assertEqual(os.path.getsize(f.name), 0)

    def test_program_closes_its_descriptors(self):
        self.assertTrue(jetwatt.recorded())
        os.close(self.send.detach())
        self.assertTrue(jetwatt.mark())

    def test_marked_measurement(self):
        self.meter()
        with jetwatt.measure("step", mark=True):
            pass
        self.assertEqual([s.split(" @")[0] for s in self.lines()], ["begin step", "end step"])

    def test_cost(self):
        self.receive.setblocking(True)
        end = threading.Event()
        drain = subprocess.Popen([sys.executable, "-c", "import socket, sys\ns = socket.socket(fileno=0)\n"
                                  "while s.recv(4096) != b'end': pass"], stdin=self.receive)
        seconds = cost(jetwatt.mark)
        end.set()
        self.send.setblocking(True)
        self.send.send(b"end")
        drain.wait()
        jetwatt.marks._reset(-1)
        idle = cost(jetwatt.mark)
        print("# a mark: %.2f us; without a recorder: %.2f us" % (seconds * 1e6, idle * 1e6))
        self.assertLess(seconds, OVERHEAD_S)
        self.assertLess(idle, 3e-6)


class Steps(Case):
    def test_steps(self):
        self.meter()
        steps = jetwatt.Steps("step", mark=False)
        for _ in steps.over(range(20)):
            self.tick()
        self.assertEqual((steps.count, len(steps.rows())), (20, 20))
        self.assertGreater(steps.seconds, 0.6)
        self.assertLess(abs(steps.joules - 18 * steps.seconds), 18 * 0.25)
        self.assertAlmostEqual(steps.joules_per_step, steps.joules / 20)
        self.assertLess(steps.uncertainty_per_step * 20, steps.uncertainty * 1.001)
        self.assertLess(steps.uncertainty_per_step, steps.uncertainty_of_one)
        self.assertEqual(jetwatt.meter()._users, 0)

    def test_mean_within_uncertainty(self):
        for seed in range(40):
            power = virtual.Square(0.31, 0.6, 12, 28)
            world = virtual.World(power, seed, others=seed % 2 == 1)
            steps, true = jetwatt.Steps(mark=False, meter=world.meter), 0.0
            with mock.patch.object(jetwatt.meters, "time", world.clock), \
                    mock.patch("jetwatt.steps.time", world.clock), \
                    mock.patch.object(world.meter, "hold"), mock.patch.object(world.meter, "release"):
                world.wait(1)
                steps.start()
                for k in range(200):
                    steps.begin()
                    start = world.clock.now
                    world.wait(0.07)
                    true += power.energy(start, world.clock.now)
                    steps.end()
                    world.wait(0.3 if k % 50 == 0 else 0.002)
                steps.stop()
            self.assertLessEqual(abs(steps.joules - true), steps.uncertainty)
            self.assertLess(steps.uncertainty_per_step / (true / 200), 0.2)

    def test_no_read_for_a_step(self):
        meter = self.meter()
        steps = jetwatt.Steps(mark=False)
        steps.start()
        meter.release()     # the thread does not read
        time.sleep(0.1)
        with mock.patch.object(meter.source, "total", side_effect=AssertionError):
            for _ in range(100):
                steps.begin()
                steps.end()
        meter.hold()
        steps.stop()
        self.assertEqual(steps.count, 100)

    def test_cost(self):
        self.meter()
        receive, send = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(receive.close)
        self.addCleanup(send.close)
        drain = subprocess.Popen([sys.executable, "-c", "import socket\ns = socket.socket(fileno=0)\n"
                                  "while s.recv(4096) != b'end': pass"], stdin=receive)
        steps = jetwatt.Steps()
        with mock.patch.dict(os.environ, JETWATT_MARK_FD=str(send.fileno())):
            jetwatt.marks._reset()

            def step():
                steps.begin()
                steps.end()
            steps.start()
            seconds = cost(step)
            steps.stop()
        jetwatt.marks._reset(-1)
        send.send(b"end")
        drain.wait()
        print("# a step, marked and measured: %.2f us" % (seconds * 1e6))
        self.assertLess(seconds, OVERHEAD_S)
        self.assertEqual(steps.count, 15 * 2000)

    def test_no_source(self):
        with mock.patch.dict(os.environ, JETWATT_ROOT=self.root, JETWATT_EXPORTER="127.0.0.1:1"):
            with self.assertRaises(jetwatt.SourceError):
                jetwatt.Steps().start()
            with jetwatt.Steps(required=False) as steps:
                steps.begin()
                steps.end()
        self.assertEqual(steps.count, 1)
        self.assertTrue(math.isnan(steps.joules_per_step) and math.isnan(steps.uncertainty))
        self.assertLessEqual(len(str(steps)), 80)

    def test_kept_rows(self):
        self.meter()
        with jetwatt.Steps(mark=False, keep=30) as steps:
            for _ in range(1500):
                steps.begin()
                steps.end()
        self.assertEqual((steps.count, len(steps.rows())), (1500, 30))


class Callbacks(Case):
    def setUp(self):
        super().setUp()
        for name in jetwatt.callbacks.__all__:
            jetwatt.callbacks.__dict__.pop(name, None)
        saved = dict(sys.modules)

        def restore():
            sys.modules.clear()
            sys.modules.update(saved)
        self.addCleanup(restore)

    def check(self, callback, count):
        self.assertEqual(callback.steps.count, count)
        self.assertGreater(callback.steps.joules_per_step, 0)
        self.assertEqual(jetwatt.meter()._users, 0)
        # Trainers copy and pickle their callbacks.
        self.assertEqual(copy.deepcopy(callback).steps.count, count)
        self.assertEqual(pickle.loads(pickle.dumps(callback)).steps.count, count)

    def work(self, *_):
        self.tick()

    def test_lightning(self):
        libraries.install()
        self.meter()
        callback = jetwatt.callbacks.LightningCallback()
        model = mock.Mock(training_step=self.work)
        libraries.LightningTrainer(max_epochs=2, callbacks=[callback]).fit(model, range(5))
        self.check(callback, 10)

    def test_lightning_exception(self):
        libraries.install()
        self.meter()
        callback = jetwatt.callbacks.LightningCallback(mark=False)
        model = mock.Mock(training_step=mock.Mock(side_effect=[None, None, KeyError]))
        with self.assertRaises(KeyError):
            libraries.LightningTrainer(callbacks=[callback]).fit(model, range(5))
        self.assertEqual((callback.steps.count, jetwatt.meter()._users), (2, 0))

    def test_transformers(self):
        libraries.install()
        self.meter()
        callback = jetwatt.callbacks.TransformersCallback("optimizer")
        libraries.TransformersTrainer(self.work, range(6), callbacks=[callback]).train()
        self.assertEqual(callback.steps.name, "optimizer")
        self.check(callback, 6)

    def test_keras(self):
        libraries.install()
        self.meter()
        callback = jetwatt.callbacks.KerasCallback()
        libraries.KerasModel(self.work).fit(range(4), epochs=2, callbacks=[callback])
        callback.set_model(None)
        self.check(callback, 8)

    def test_imported_library_is_preferred(self):
        libraries.install()
        sys.modules["pytorch_lightning"] = sys.modules.pop("lightning")
        sys.modules["pytorch_lightning.callbacks"] = sys.modules["lightning.pytorch.callbacks"]
        self.assertTrue(issubclass(jetwatt.callbacks.LightningCallback, libraries.LightningBase))

    def test_library_is_missing(self):
        with mock.patch.dict(sys.modules, {"transformers": None}):
            with self.assertRaisesRegex(jetwatt.JetwattError, "fix: pip install transformers"):
                jetwatt.callbacks.TransformersCallback
        with self.assertRaises(AttributeError):
            jetwatt.callbacks.OtherCallback


class Files(Case):
    def path(self, name):
        return os.path.join(DIR, name)

    def check(self, trace):
        with open(self.path("truth.json")) as f:
            truth = json.load(f)
        with open(self.path("report.json")) as f:
            report = json.load(f)
        self.assertAlmostEqual(trace.joules, report["total_j"], places=4)
        self.assertAlmostEqual(trace.seconds, truth["seconds"], places=4)
        self.assertEqual(len(trace.minibatches), report["minibatches"])
        self.assertEqual(list(trace.rails), list(report["rails_j"]))
        self.assertEqual({len(w) for w in trace.watts.values()}, {len(trace.t_ns)})
        self.assertEqual(len(trace.t_ns), trace.end["samples"])
        self.assertEqual({c["unit"] for c in trace.counts}, {"token"})
        self.assertTrue(trace.gaps and trace.modes and trace.telemetry and trace.jobs)
        self.assertIn("%d minibatches" % report["minibatches"], repr(trace))
        self.assertLessEqual(len(repr(trace)), 80)

    def test_trace_by_the_command(self):
        self.check(jetwatt.read_trace(self.path("run.jwt"), command="build/jetwatt"))
        few = jetwatt.read_trace(self.path("run.jwt"), command="build/jetwatt", rate=10)
        self.assertLess(len(few.t_ns), 60)

    def test_trace_in_json_lines(self):
        self.check(jetwatt.read_trace(self.path("run.jsonl")))

    def test_errors(self):
        with self.assertRaisesRegex(jetwatt.JetwattError, "(?s)not installed here.*fix: on the board: jetwatt export"):
            jetwatt.read_trace(self.path("run.jwt"), command="no-such-command")
        with self.assertRaises(jetwatt.JetwattError) as e:
            jetwatt.read_trace(self.path("none.jwt"), command="build/jetwatt")
        self.assertEqual((e.exception.what, e.exception.why),
                         ("cannot read %s" % self.path("none.jwt"), "No such file or directory"))
        for text in ("{}\n", "[]\n", "x\n", ""):
            name = os.path.join(self.root, "bad.jsonl")
            with open(name, "w") as f:
                f.write(text)
            with self.assertRaisesRegex(jetwatt.JetwattError, "bad.jsonl is not a"):
                jetwatt.read_trace(name)
            with self.assertRaises(jetwatt.JetwattError):
                jetwatt.read_stat(name)
        with self.assertRaisesRegex(jetwatt.JetwattError, "cannot read"):
            jetwatt.read_trace(os.path.join(self.root, "none.jsonl"))

    def test_stat(self):
        found = jetwatt.read_stat(self.path("report.json"))
        self.assertEqual(len(found.runs), 1)
        self.assertRegex(str(found), r"^\d+ minibatches of [\d.]+ J, [\d.]+ ms, [\d.]+ W; [\d.]+ J in [\d.]+ s$")
        repeated = jetwatt.Stat(runs=[dict(found), dict(found)], mean={})
        self.assertEqual([r["total_j"] for r in repeated.runs], [found["total_j"]] * 2)
        self.assertEqual(str(repeated), "%s\n%s" % (found, found))


class Rendering(Case):
    def table(self, text):
        """Return the cells of an HTML table, which must be well-formed."""
        tree = xml.etree.ElementTree.fromstring("<div>%s</div>" % text)
        return tree, [[c.text for c in row] for row in tree.iter("tr")]

    def test_html_of_a_measurement(self):
        self.meter()
        with jetwatt.measure("a < b & c") as m:
            for watts in (18, 22, 20, 25, 18):
                self.board.power[""] = watts
                self.tick(0.06)
        tree, rows = self.table(m._repr_html_())
        self.assertEqual(rows[1][0], "a < b & c")
        self.assertRegex(rows[1][1], r"^\d+\.\d+ J$")
        self.assertEqual([r[0] for r in rows[2:]], [name for name, _ in board.RAILS])
        line = tree.find(".//polyline").get("points").split()
        self.assertEqual(len(line), len(m.samples))
        self.assertEqual(tree.find(".//title").text, "18.00 W to 25.00 W")
        self.assertEqual((float(line[0].split(",")[0]), float(line[-1].split(",")[0])), (0, 200))
        self.assertTrue(all(0 <= float(p.split(",")[1]) <= 32 for p in line))

    def test_html_without_samples(self):
        self.meter()
        with jetwatt.measure("short") as m:
            pass
        self.assertIsNone(self.table(m._repr_html_())[0].find(".//svg"))
        for _ in range(60):
            with jetwatt.measure("many"):
                pass
        rows = self.table(jetwatt.measurements()._repr_html_())[1]
        self.assertEqual((len(rows), rows[-1]), (52, ["11 earlier ones"]))
        self.assertEqual(self.table(jetwatt.Steps()._repr_html_())[1][1][0], "0 x step")

    def test_text_fits_into_80_columns(self):
        self.meter()
        for name in ("a", "n" * 200):
            with jetwatt.measure(name) as m:
                self.board.advance(1000)
            for text in (str(m), repr(m)):
                self.assertLessEqual(len(text), 80)
                self.assertRegex(text, r" J \+- .* J in .* s, .* W \(hwmon\)")
        self.assertEqual(jetwatt.measurements().__str__().count("\n"), 1)
        for text in (str(jetwatt.meter()), repr(jetwatt.Steps())):
            self.assertLessEqual(len(text), 100)

    def test_pandas_is_imported_on_request(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("no pandas here")
        self.meter()
        with jetwatt.measure("frame") as m:
            self.board.advance(1)
        with jetwatt.Steps(mark=False) as steps:
            steps.begin()
            steps.end()
        frame = jetwatt.measurements().to_pandas()
        self.assertIsInstance(frame, pandas.DataFrame)
        self.assertEqual(list(frame.columns)[:6], ["name", "seconds", "joules", "uncertainty", "watts", "source"])
        self.assertAlmostEqual(frame.joules[0], m.joules)
        self.assertIn("rail_VDD_GPU_SOC", frame.columns)
        self.assertEqual(list(steps.to_pandas().columns), ["start", "seconds", "joules"])
        trace = jetwatt.read_trace(os.path.join(DIR, "run.jsonl"))
        self.assertEqual(trace.to_pandas().shape, (len(trace.t_ns), len(trace.rails)))
        self.assertEqual(len(trace.minibatches_to_pandas()), len(trace.minibatches))
        self.assertEqual(len(jetwatt.read_stat(os.path.join(DIR, "report.json")).to_pandas()), 1)


sys.exit(runner.main())

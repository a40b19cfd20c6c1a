# SPDX-License-Identifier: GPL-2.0-only
"""Tests of jetwatt.stream with traces. Prints KTAP. Run by tests/host/python_stream.sh."""
import asyncio
import json
import math
import os
import random
import subprocess
import sys
import unittest

import numpy

import jetwatt
import jetwatt.stream
import runner

DIR = os.environ["JETWATT_TEST_DIR"]


def path(name):
    return os.path.join(DIR, name)


def exported(name):
    """Return the records of `jetwatt export` of a trace, by type."""
    done = subprocess.run(["build/jetwatt", "export", "--format", "jsonl", path(name)], stdout=subprocess.PIPE,
                          check=True)
    records = {}
    for line in done.stdout.splitlines():
        r = json.loads(line)
        records.setdefault(r["type"], []).append(r)
    return records


class Samples(unittest.TestCase):
    def test_are_those_of_export(self):
        header, power = (exported("run.jwt")[k] for k in ("header", "power"))
        with jetwatt.stream.trace(path("run.jwt")) as stream:
            samples = {s.t_ns: s for s in stream.samples()}
        rails = [r["label"] for r in header[0]["rails"]]
        self.assertEqual(stream.rails, rails)
        self.assertEqual(stream.total, [r["label"] for r in header[0]["rails"] if r["in_total"]])
        self.assertGreater(len(power), 3000)
        for p in power:
            s = samples[p["t_ns"]]
            for label, uw in zip(rails, p["uw"]):
                self.assertAlmostEqual(s.watts[label] if uw is not None else 0, (uw or 0) * 1e-6, places=6)
                self.assertEqual(math.isnan(s.watts[label]), uw is None)
            self.assertAlmostEqual(s.total_watts, sum(s.watts[label] for label in stream.total), places=6)
        self.assertTrue(all(47000 < s.telemetry["temp_mc"] < 50000 for s in list(samples.values())[100:]))

    def test_samples_in_the_block_of_the_description_are_read_once(self):
        with jetwatt.stream.trace(path("together.jwt")) as stream:
            times = [s.t_ns for s in stream.samples()]
        self.assertEqual(times, [p["t_ns"] for p in exported("together.jwt")["power"]])

    def test_a_gap_is_marked_and_counted(self):
        with jetwatt.stream.trace(path("gap.jwt")) as stream:
            self.assertEqual(stream.lost, (0, 0, 0, 0))
            samples = list(stream.samples())
            lost = stream.lost
        gaps = [(a, b) for a, b in zip(samples, samples[1:]) if b.gap]
        self.assertEqual(len(gaps), 1)
        self.assertEqual(gaps[0][1].seq - gaps[0][0].seq - 1, lost.samples)
        self.assertTrue(90 <= lost.samples <= 110, lost)
        self.assertEqual(lost[1:], (0, 0, 0))

    def test_damage_is_counted(self):
        with open(path("run.jwt"), "rb") as f:
            data = bytearray(f.read())
        data[len(data) // 2] ^= 0x55
        with open(path("bad.jwt"), "wb") as f:
            f.write(data)
        with jetwatt.stream.trace(path("bad.jwt")) as stream:
            self.assertTrue(list(stream.samples()))
            self.assertEqual(stream.lost.damaged, 1)
            self.assertGreater(stream.lost.samples, 100)
            self.assertGreater(stream.lost.waits, 0)

    def test_damaged_traces_end(self):
        with open(path("marked.jwt"), "rb") as f:
            data = f.read()
        draw = random.Random(24)
        for _ in range(60):
            bad = bytearray(data)
            for _ in range(draw.randrange(1, 6)):
                at = draw.randrange(len(bad))
                bad[at:at + draw.randrange(1, 40)] = draw.randbytes(draw.randrange(0, 40))
            with open(path("random.jwt"), "wb") as f:
                f.write(bad)
            try:
                with jetwatt.stream.trace(path("random.jwt")) as stream:
                    for block in stream.sample_blocks():
                        self.assertTrue((numpy.diff(block["t_ns"].astype("i8")) > 0).all())
                with jetwatt.stream.trace(path("random.jwt")) as stream:
                    for m in stream.minibatches():
                        self.assertLess(m.start_ns, m.end_ns)
            except jetwatt.JetwattError:
                pass

    def test_blocks_have_the_samples(self):
        with jetwatt.stream.trace(path("run.jwt")) as stream:
            samples = list(stream.samples())
        with jetwatt.stream.trace(path("run.jwt")) as stream:
            blocks = list(stream.sample_blocks())
        self.assertGreater(len(blocks), 3)
        all_of_them = numpy.concatenate(blocks)
        self.assertEqual(len(all_of_them), len(samples))
        for s, row in zip(samples, all_of_them):
            self.assertEqual((s.t_ns, s.seq, s.gap), (row["t_ns"], row["seq"], row["gap"]))
            self.assertAlmostEqual(s.total_watts, row["total_w"], places=9)
            for label, w in s.watts.items():
                numpy.testing.assert_equal(row[label + "_w"], w)
            numpy.testing.assert_equal(row["temp_mc"], s.telemetry.get("temp_mc", math.nan))
        self.assertTrue(numpy.isnan(all_of_them["fan1_rpm"]).all())


class Minibatches(unittest.TestCase):
    def check(self, name, marked=False):
        expected = exported(name)["minibatch"]
        with jetwatt.stream.trace(path(name)) as stream:
            found = [m for m in stream.minibatches()]
        self.assertEqual([(m.start_ns, m.end_ns) for m in found],
                         [(m["start_ns"], m["end_ns"]) for m in expected])
        self.assertGreater(len(found), 40)
        for m, e in zip(found, expected):
            self.assertEqual((m.pid, m.marked), (4711, marked))
            if "energy_uj" in e:
                self.assertAlmostEqual(m.joules, e["energy_uj"] * 1e-6, delta=0.002 * m.joules)
                self.assertAlmostEqual(m.watts, m.joules / m.seconds)
        self.assertTrue(all(m.joules > 0 for m in found[1:-1]))
        return found

    def test_inferred_are_those_of_export(self):
        found = self.check("run.jwt")
        self.assertEqual({(m.kind, m.phase) for m in found}, {("training", 1)})

    def test_marked_are_those_of_export(self):
        self.check("marked.jwt", True)

    def test_phases_are_those_of_export(self):
        found = self.check("phases.jwt")
        self.assertEqual([m.phase for m in found], [m["phase"] for m in exported("phases.jwt")["minibatch"]])
        self.assertEqual({m.phase for m in found}, {1, 2})

    def test_blocks(self):
        with jetwatt.stream.trace(path("marked.jwt")) as stream:
            found = list(stream.minibatches())
        with jetwatt.stream.trace(path("marked.jwt")) as stream:
            (block,) = stream.minibatch_blocks()
        self.assertEqual(len(block), len(found))
        numpy.testing.assert_allclose(block["joules"], [m.joules for m in found])
        self.assertEqual(block["end_ns"].tolist(), [m.end_ns for m in found])
        self.assertEqual(set(block["pid"]), {4711})

    def test_records_have_both(self):
        with jetwatt.stream.trace(path("run.jwt")) as stream:
            kinds = [type(r) for r in stream.records()]
        self.assertEqual(set(kinds), {jetwatt.stream.Sample, jetwatt.stream.Minibatch})


class Use(unittest.TestCase):
    def test_asyncio(self):
        async def count(name):
            n = 0
            with jetwatt.stream.trace(path(name)) as stream:
                async for sample in stream.samples():
                    n += 1
                    self.assertGreater(sample.total_watts, 0)
            return n

        async def both():
            return await asyncio.gather(count("run.jwt"), count("gap.jwt"))

        with jetwatt.stream.trace(path("run.jwt")) as stream:
            n = len(list(stream.samples()))
        self.assertEqual(asyncio.run(both())[0], n)

    def test_close_ends_an_iterator(self):
        stream = jetwatt.stream.trace(path("run.jwt"))
        samples = stream.samples()
        next(samples)
        stream.close()
        stream.close()
        self.assertGreater(len(list(samples)), 0)       # the rest of its block
        self.assertEqual(list(stream.minibatches()), [])
        self.assertEqual((stream.lost, stream.fileno()), ((0, 0, 0, 0), -1))

    def test_no_descriptor_is_left_open(self):
        before = sorted(os.listdir("/proc/self/fd"))
        with jetwatt.stream.trace(path("run.jwt")) as stream:
            next(stream.samples())
        jetwatt.stream.trace(path("run.jwt")).samples()
        for name in ("none.jwt", "truth.json"):
            with self.assertRaises(jetwatt.JetwattError):
                jetwatt.stream.trace(path(name))
        self.assertEqual(sorted(os.listdir("/proc/self/fd")), before)

    def test_errors(self):
        with self.assertRaisesRegex(jetwatt.JetwattError, "(?s)none.jwt\n  why: No such file"):
            jetwatt.stream.trace(path("none.jwt"))
        with self.assertRaisesRegex(jetwatt.JetwattError, "(?s)truth.json\n  why: it is not a trace\n  fix: jetwatt record"):
            jetwatt.stream.trace(path("truth.json"))
        if not os.path.exists("/sys/module/jetwatt"):
            with self.assertRaisesRegex(jetwatt.JetwattError, "(?s)why: .*not loaded.*\n  fix: sudo modprobe jetwatt"):
                jetwatt.stream.live()

    def test_numpy_is_imported_only_when_asked(self):
        code = ("import sys, jetwatt.stream as s\n"
                "with s.trace(sys.argv[1]) as t: list(t.records())\n"
                "assert 'numpy' not in sys.modules")
        subprocess.run([sys.executable, "-B", "-c", code, path("run.jwt")], check=True)


sys.exit(runner.main())

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A directory with the sysfs files of the kernel module, for tests without a board.

  board.py DIR   write the files and advance the counters ten times a second, until killed

Files and texts are those of the hwmon device in kmod/interface/hwmon.c: register_hwmon() (name,
attributes of the channels), read_label() (labels of the total), read_channel() (microjoules,
microwatts), sample_time_ns_show(), TOTAL and CHANNELS (numbers: the total is 1, the rail with the
id R is R + 2). idle_hz is the module parameter of kmod/sampler/sampler.c. The rails are those of an
AGX Orin; the last one is supplied by the third, so it is not in the total.
"""
import os
import sys
import time

RAILS = (("VDD_GPU_SOC", 8.0), ("VDD_CPU_CV", 4.0), ("VIN_SYS_5V0", 6.0), ("VDDQ_VDD2_1V8AO", 1.0))
TOTAL_W = 18.0


class Board:
    """The files below `root`; power: dict of the rails in W, with the total under the name ""."""

    def __init__(self, root, label="module total", idle_hz=10):
        root = os.path.abspath(root)
        self.power = dict(RAILS, **{"": TOTAL_W})
        self.uj = dict.fromkeys(self.power, 0)
        self.dir = os.path.join(root, "sys/class/hwmon/hwmon3")
        # The hwmon device of another driver, like that of the driver that owns the chips.
        self.put(os.path.join(root, "sys/class/hwmon/hwmon1/name"), "ina3221")
        self.put(os.path.join(root, "sys/module/jetwatt/parameters/idle_hz"), idle_hz)
        self.put("name", "jetwatt")
        for n, name in self.channels():
            for kind in ("energy", "power"):
                self.put("%s%d_label" % (kind, n), name or label)
        self.advance(1.0)

    def channels(self):
        """Return number and rail of each channel."""
        return [(1, "")] + [(i + 2, name) for i, (name, _) in enumerate(RAILS)]

    def put(self, path, value):
        """Write a file in one write, at its old length or longer, as a reader would see sysfs."""
        path = os.path.join(self.dir, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        fd = os.open(path, os.O_WRONLY | os.O_CREAT, 0o444)
        os.pwrite(fd, b"%s\n" % str(value).encode(), 0)
        os.close(fd)

    def advance(self, seconds):
        """Let the time pass."""
        for n, name in self.channels():
            self.uj[name] += int(self.power[name] * seconds * 1e6)
            self.put("energy%d_input" % n, self.uj[name])
            self.put("power%d_input" % n, int(self.power[name] * 1e6))
        self.put("sample_time_ns", time.monotonic_ns())


if __name__ == "__main__":
    board = Board(sys.argv[1])
    last = time.monotonic()
    while True:
        time.sleep(0.1)
        now = time.monotonic()
        board.advance(now - last)
        last = now

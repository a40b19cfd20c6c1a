# SPDX-License-Identifier: GPL-2.0-only
"""Reads the rails as Python monitors do: every file opened, read, closed.

usage: kmod_reader.py HZ SECONDS; "ready", then how many samples it took.
"""
import glob
import sys
import time


def cat(path):
    with open(path) as f:
        return f.readline().rstrip()


def find():
    rails = {}
    for addr, channels in (("0040", (1, 2, 3)), ("0041", (2,))):
        base = glob.glob("/sys/bus/i2c/devices/1-%s/hwmon/hwmon*" % addr)[0]
        for c in channels:
            rails[cat("%s/in%d_label" % (base, c))] = (
                "%s/in%d_input" % (base, c), "%s/curr%d_input" % (base, c))
    return rails


def read(rails):
    status = {}
    for name, (volt, curr) in rails.items():
        v, c = int(cat(volt)), int(cat(curr))
        status[name] = {"volt": v, "curr": c, "power": v * c // 1000}
    return status


def main():
    hz, seconds = int(sys.argv[1]), int(sys.argv[2])
    rails = find()
    read(rails)
    print("ready", flush=True)
    begun = due = time.monotonic()
    samples = 0
    while time.monotonic() < begun + seconds:
        read(rails)
        samples += 1
        due += 1 / hz
        time.sleep(max(0.0, due - time.monotonic()))
    print(samples, flush=True)


main()

# SPDX-License-Identifier: GPL-2.0-only
"""Read the rails as jtop does: open, read and close every file, also those of the limits.

usage: kmod_reader.py HZ SECONDS. Prints "ready" after the start and the number of samples at the end.
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
            rails[cat("%s/in%d_label" % (base, c))] = {
                "volt": "%s/in%d_input" % (base, c),
                "curr": "%s/curr%d_input" % (base, c),
                "warn": "%s/curr%d_max" % (base, c),
                "crit": "%s/curr%d_crit" % (base, c),
            }
    return rails


def read(rails):
    status = {}
    for name, files in rails.items():
        value = {what: int(cat(path)) for what, path in files.items()}
        value["power"] = value["volt"] * value["curr"] // 1000
        status[name] = value
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

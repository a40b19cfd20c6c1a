# SPDX-License-Identifier: GPL-2.0-only
"""Compare the total energy over a minute as several clients read it, in the guest.

The counters (hwmon by the example of doc/library.md, sensors, node exporter, YNL) are read at both
ends of the window; perf and jetwatt measure a command that sleeps. The energy of each client is divided
by the time between its own readings, so that its start-up time causes no error. The results are
compared with each other, and with the true energy of the simulated board. Prints KTAP.
"""
import contextlib
import io
import json
import re
import subprocess
import sys
import time
import urllib.request

WINDOW_S = 60
WITHIN = 0.01
NOW = "/sys/kernel/debug/jetwatt-sim/truth/now"
PORT = 9100


def library_example():
    """Return the function joules() of the example, without running its main part."""
    with open("/energy.py") as f:
        text = f.read()
    names = {}
    exec(text[:text.index("\nbefore = ")], names)
    return names["joules"]


def hwmon_total(joules):
    found = {label: j for label, j in joules().items() if label.lower().endswith("total")}
    if len(found) != 1:
        raise ValueError("no total among %s" % sorted(joules()))
    return next(iter(found.values()))


def sensors():
    out = subprocess.run(["sensors", "-j"], capture_output=True, text=True, check=True).stdout
    for chip, features in json.loads(out).items():
        if chip.startswith("jetwatt-"):
            for feature in features.values():
                if isinstance(feature, dict) and "energy1_input" in feature:
                    return feature["energy1_input"]
    raise ValueError("no energy1 of jetwatt in %.300s" % out)


def node_exporter():
    with urllib.request.urlopen("http://127.0.0.1:%d/metrics" % PORT, timeout=30) as reply:
        text = reply.read().decode()
    found = re.search(r'^node_hwmon_energy_joule_total\{chip="[^"]*jetwatt[^"]*",sensor="energy1"\} (\S+)$', text, re.M)
    if not found:
        raise ValueError("no energy1 of jetwatt among the metrics")
    return float(found.group(1))


def ynl():
    sys.path.insert(0, "/ynl")
    with contextlib.redirect_stderr(io.StringIO()):
        from lib import YnlFamily
    family = YnlFamily("/jetwatt.yaml", schema="")

    def total():
        for item in family.dump("energy-get", {}):
            if "rail" not in item:
                return item["uj"] * 1e-6
        raise ValueError("no total")
    return total


class Plant:
    """True energy of the simulated board, with its time."""

    def __init__(self):
        self.points = []

    def take(self):
        with open(NOW) as f:
            said = dict(line.split(None, 1) for line in f)
        self.points.append((int(said["t_ns"]) * 1e-9, int(said["energy_uj"]) * 1e-6))

    watts = property(lambda self: (self.points[1][1] - self.points[0][1]) / (self.points[1][0] - self.points[0][0]))


class Reader:
    """A counter that is read at both ends of the window."""

    def __init__(self, name, read):
        self.name, self.read, self.points = name, read, []

    def take(self):
        before = time.monotonic()
        joules = self.read()
        self.points.append(((before + time.monotonic()) / 2, joules))

    def watts(self):
        (t0, j0), (t1, j1) = self.points
        return (j1 - j0) / (t1 - t0)


def until_served():
    for _ in range(300):
        with contextlib.suppress(OSError):
            return node_exporter()
        time.sleep(0.2)
    raise ValueError("the node exporter does not answer")


def perf_watts(process):
    _, err = process.communicate(timeout=600)
    found = re.search(r"([\d.,]+)\s+Joules\s+jetwatt/energy_total/", err)
    took = re.search(r"([\d.]+)\s+seconds time elapsed", err)
    return float(found.group(1).replace(",", "")) / float(took.group(1))


def jetwatt_power_form(process):
    out, _ = process.communicate(timeout=600)
    said = json.loads(out)
    return said["total_j"] / said["elapsed_s"]


def main():
    exporter = subprocess.Popen(
        ["prometheus-node-exporter", "--web.listen-address=127.0.0.1:%d" % PORT,
         "--collector.disable-defaults", "--collector.hwmon"], stderr=subprocess.DEVNULL)
    until_served()
    joules = library_example()
    readers = [Reader("doc/library.md's Python", lambda: hwmon_total(joules)), Reader("sensors", sensors),
               Reader("node exporter", node_exporter), Reader("YNL", ynl())]
    plant = Plant()
    for taker in readers + [plant]:
        taker.take()
    sleep = ["sleep", str(WINDOW_S)]
    running = {
        "perf stat": (perf_watts, subprocess.Popen(
            ["perf", "stat", "-a", "-e", "jetwatt/energy_total/", "--"] + sleep,
            stderr=subprocess.PIPE, text=True)),
        "jetwatt stat": (jetwatt_power_form, subprocess.Popen(
            ["jetwatt", "stat", "--json", "--"] + sleep, stdout=subprocess.PIPE, text=True)),
    }
    watts = {name: read(process) for name, (read, process) in running.items()}
    for reader in readers:
        reader.take()
        watts[reader.name] = reader.watts()
    plant.take()
    exporter.terminate()
    exporter.wait()

    middle = sorted(watts.values())[len(watts) // 2]
    failed = 0
    print("1..%d" % len(watts))
    for n, (name, w) in enumerate(watts.items(), 1):
        off, truth = w / middle - 1, w / plant.watts - 1
        wrong = not abs(off) <= WITHIN or not abs(truth) <= WITHIN
        failed += wrong
        print("%sok %d %s: %.3f J in %d s, %+.2f %% from the median, %+.2f %% from the true energy" %
              ("not " * wrong, n, name, w * WINDOW_S, WINDOW_S, off * 100, truth * 100))
    return failed != 0


sys.exit(main())

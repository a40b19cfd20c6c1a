# SPDX-License-Identifier: GPL-2.0-only
"""Unit tests of doc/integrations/kepler. Prints KTAP. Run by tests/host/integrations.sh.

zones() follows the rules of internal/device/hwmon_power_meter.go of Kepler at commit 13944a6:
discoverZones() (of one device: energy, else power, else voltage times current), cleanMetricName(),
filterZones(), groupZonesByName().
"""
import glob
import os
import re
import sys
import tempfile
import unittest

import board
import runner
import yaml

HERE = os.path.join(os.path.dirname(__file__), "../../doc/integrations/kepler/")


def zones(root, only):
    """Return a dict: label in Kepler's spelling -> number of its zones."""
    found = {}
    for device in glob.glob(os.path.join(root, "sys/class/hwmon/hwmon*")):
        labels = {kind: [open(f).read() for f in glob.glob(os.path.join(device, kind + "*_label"))]
                  for kind in ("energy", "power", "in")}
        for label in labels["energy"] or labels["power"] or labels["in"]:
            clean = re.sub("[^a-z0-9:_]", "_", label.strip().lower()).strip("_")
            if not only or clean in [zone.lower() for zone in only]:
                found[clean] = found.get(clean, 0) + 1
    return found


def dropped(job, metric, **labels):
    """Return whether Prometheus drops a series of the job."""
    config = yaml.safe_load(open(HERE + "prometheus.yml"))
    rules = [rule for scrape in config["scrape_configs"] if scrape["job_name"] == job
             for rule in scrape.get("metric_relabel_configs", [])]
    labels["__name__"] = metric
    return any(rule["action"] == "drop" and
               re.fullmatch(rule["regex"], ";".join(labels.get(k, "") for k in rule["source_labels"])) for rule in rules)


class Kepler(unittest.TestCase):
    def tree(self, label):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        made = board.Board(folder.name, label=label)
        # The driver that owns the sensors shows three of these rails.
        for n, (name, _) in enumerate(board.RAILS[:3], 1):
            for file in ("in%d_label" % n, "curr%d_label" % n):
                made.put(os.path.join(folder.name, "sys/class/hwmon/hwmon1", file), name)
        return folder.name

    def test_without_the_filter_labels_collide(self):
        self.assertEqual(zones(self.tree("module total"), [])["vdd_gpu_soc"], 2)

    def test_the_filter_leaves_the_total(self):
        config = yaml.safe_load(open(HERE + "kepler.yaml"))
        self.assertEqual(config["cpu"]["preferredMeters"], ["hwmon"])
        # sanitize() in config/config.go drops the section "experimental" if nothing in it is enabled.
        self.assertIs(config["experimental"]["hwmon"]["forceEnabled"], True)
        for label in ("module total", "board total", "partial sum"):
            self.assertEqual(zones(self.tree(label), config["experimental"]["hwmon"]["zones"]),
                             {label.replace(" ", "_"): 1})

    def test_prometheus_keeps_the_energy_of_a_node_once(self):
        for metric in ("joules_total", "watts", "active_joules_total", "idle_watts"):
            self.assertTrue(dropped("kepler", "kepler_node_cpu_" + metric), metric)
        self.assertTrue(dropped("node", "node_hwmon_energy_joule_total", chip="platform_jetwatt"))

    def test_prometheus_keeps_everything_else(self):
        self.assertFalse(dropped("kepler", "kepler_pod_cpu_joules_total"))
        self.assertFalse(dropped("kepler", "kepler_node_cpu_usage_ratio"))
        self.assertFalse(dropped("node", "node_hwmon_power_watt", chip="i2c_1_0040"))
        self.assertFalse(dropped("jetwatt", "jetwatt_module_energy_joules_total"))


sys.exit(runner.main())

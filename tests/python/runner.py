# SPDX-License-Identifier: GPL-2.0-only
"""Runs the test cases of the program that imports this file, and prints KTAP."""
import sys
import unittest


def main():
    tests = [t for group in unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"]) for t in group]
    failed = 0
    print("1..%d" % len(tests))
    for n, test in enumerate(tests, 1):
        result = unittest.TestResult()
        test.run(result)
        name = test.id().partition(".")[2].replace(".test_", ": ").replace("_", " ")
        for _, text in result.errors + result.failures:
            print("".join("# %s\n" % line for line in text.splitlines()), end="")
        bad = not result.wasSuccessful()
        failed += bad
        print("%sok %d %s%s" % ("not " * bad, n, name, " # SKIP " + result.skipped[0][1] if result.skipped else ""),
              flush=True)
    return failed != 0

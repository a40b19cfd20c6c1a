# SPDX-License-Identifier: GPL-2.0-only
"""jtop's own parser reads the lines of jetwatt export --format tegrastats. Run by
tests/host/integrations.sh if JTOP=DIR has the sources of jetson_stats. Prints the result.

jtop.py LINES REPORT: REPORT is the JSON of jetwatt report, of the same trace.
"""
import json
import os
import sys
import types

# Without jtop/__init__.py, which needs a board.
for name in ("jtop", "jtop.core"):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [os.path.join(os.environ["JTOP"], *name.split("."))]
from jtop.core.tegrastats import Tegrastats  # noqa: E402

parser = Tegrastats.__new__(Tegrastats)     # its constructor looks for the command tegrastats
with open(sys.argv[1]) as f:
    stats = [parser._decode(line) for line in f]
with open(sys.argv[2]) as f:
    report = json.load(f)
bad = False
for s in stats:
    assert s["EMC"] == {"frq": 3199000} and s["GR3D"]["frq"] == 1300000 and 40 < s["TEMP"]["tj"] < 90, s
    assert set(s["WATT"]) == set(report["rails_j"]), s
for rail, joules in report["rails_j"].items():
    watts = joules / report["elapsed_s"]
    now = sum(s["WATT"][rail]["cur"] for s in stats) / len(stats) / 1e3
    average = stats[-1]["WATT"][rail]["avg"] / 1e3
    print("%s: %.3f W; jtop's mean of %d lines %+.2f %%, its last average %+.2f %%" %
          (rail, watts, len(stats), 100 * (now / watts - 1), 100 * (average / watts - 1)))
    bad |= abs(now / watts - 1) > 0.01 or abs(average / watts - 1) > 0.01
sys.exit(bad)

# SPDX-License-Identifier: LGPL-2.1-only
"""Traces (*.jwt) and the JSON of `jetwatt stat`, as Python objects.

A trace contains samples and waits; minibatches and their energy are inferred when it is read
(jwt(5)). This module cannot do that: read_trace() runs `jetwatt export --format jsonl`, or reads the
output of that command from a file. jetwatt.stream reads traces without that command.
"""
import json
import math
import os
import shutil
import subprocess
from array import array
from typing import Any, Dict, Iterable, List, Optional

from . import render
from .errors import JetwattError


class Trace:
    """A trace. Members of the lists are objects of `jetwatt export --format jsonl`.

    header, end: first and last record: board, command, clocks, rails; sums over the run
    rails: labels of the rails
    t_ns: times of the samples, ns, CLOCK_MONOTONIC
    watts: power of each rail, by label: W, NaN where a sample has no value
    minibatches, modes, telemetry, gaps, jobs, counts: lists of records
    """

    def __init__(self, lines: Iterable[str], name: str = "trace") -> None:
        self.name = name
        self.header: Dict[str, Any] = {}
        self.end: Dict[str, Any] = {}
        self.rails: List[str] = []
        self.t_ns = array("q")
        self.watts: Dict[str, array] = {}  # type: ignore[type-arg]
        self.minibatches: List[Dict[str, Any]] = []
        self.modes: List[Dict[str, Any]] = []
        self.telemetry: List[Dict[str, Any]] = []
        self.gaps: List[Dict[str, Any]] = []
        self.jobs: List[Dict[str, Any]] = []
        self.counts: List[Dict[str, Any]] = []
        lists = {"minibatch": self.minibatches, "mode": self.modes, "telemetry": self.telemetry,
                 "gap": self.gaps, "job": self.jobs, "count": self.counts}
        columns: List[Any] = []
        for line in lines:
            try:
                record = json.loads(line)
                kind = record.get("type")
            except (ValueError, AttributeError):
                raise JetwattError("%s is not a trace in JSON lines" % name, "",
                                   "jetwatt export --format jsonl -o FILE.jsonl TRACE") from None
            if kind == "power":
                self.t_ns.append(record["t_ns"])
                for column, uw in zip(columns, record["uw"]):
                    column.append(math.nan if uw is None else uw * 1e-6)
            elif kind in lists:
                lists[kind].append(record)
            elif kind == "header":
                self.header = record
                self.rails = [r["label"] for r in record["rails"]]
                columns = [array("d") for _ in self.rails]
                self.watts = dict(zip(self.rails, columns))
            elif kind == "end":
                self.end = record
        if not self.header or not self.end:
            raise JetwattError("%s is not a whole trace" % name, "it has no record header or end",
                               "jetwatt export --format jsonl -o FILE.jsonl TRACE")

    @property
    def joules(self) -> float:
        """Energy of the total during the run, in J."""
        return float(self.end["energy_uj"]) * 1e-6

    @property
    def seconds(self) -> float:
        """Duration of the run, in s."""
        return float(self.end["t1_ns"] - self.end["t0_ns"]) * 1e-9

    def to_pandas(self) -> Any:
        """Return a pandas.DataFrame of the samples: power of each rail in W, by t_ns."""
        import pandas
        return pandas.DataFrame(self.watts, index=pandas.Index(self.t_ns, name="t_ns"), columns=self.rails)

    def minibatches_to_pandas(self) -> Any:
        """Return a pandas.DataFrame with one row for each minibatch."""
        import pandas
        return pandas.DataFrame(self.minibatches).drop(columns="type", errors="ignore")

    def __repr__(self) -> str:
        return "<jetwatt.Trace: %d minibatches, %d samples, %s in %s>" % (
            len(self.minibatches), len(self.t_ns), render.number(self.joules, "J"),
            render.number(self.seconds, "s"))


def _error_of(text: str, name: str) -> JetwattError:
    """Return the error that a command of jetwatt has printed."""
    parts = {"why": "", "fix": ""}
    lines = text.strip().splitlines() or ["cannot read " + name]
    for line in lines[1:]:
        word, _, rest = line.strip().partition(": ")
        if word in parts:
            parts[word] = rest
    return JetwattError(lines[0].partition(": ")[2] or lines[0], parts["why"], parts["fix"])


def read_trace(path: str, *, rate: Optional[float] = None, command: str = "jetwatt") -> Trace:
    """Read a trace.

    path: a file of `jetwatt record`; or, with the suffix .jsonl, of `jetwatt export --format jsonl`
    rate: mean power in intervals of 1/rate s instead of every sample (see jetwatt-export(1))
    command: the program jetwatt; not needed for .jsonl
    """
    path = os.fspath(path)
    if path.endswith(".jsonl"):
        try:
            with open(path, encoding="utf-8") as f:
                return Trace(f, path)
        except OSError as e:
            raise JetwattError("cannot read " + path, e.strerror or str(e), "check the path") from None
    if not shutil.which(command):
        raise JetwattError("cannot read " + path, "the command %s is not installed here" % command,
                           "on the board: jetwatt export --format jsonl -o FILE.jsonl TRACE; read FILE.jsonl")
    args = [command, "export", "--format", "jsonl"] + (["--rate", "%g" % rate] if rate else [])
    done = subprocess.run(args + ["--", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          encoding="utf-8", errors="replace")
    if done.returncode:
        raise _error_of(done.stderr, path)
    return Trace(done.stdout.splitlines(), path)


class Stat(Dict[str, Any]):
    """The JSON object of `jetwatt stat --json` or `jetwatt report --json`; see jetwatt-stat(1).

    Its members are those of the JSON: time_ms, power_w, energy_j, total_j, elapsed_s and so on. With
    -r, `runs` is a list of such objects, and `mean` has the means.
    """

    @property
    def runs(self) -> List["Stat"]:
        """The runs: with -r as many as ran, otherwise this one."""
        return [Stat(r) for r in self["runs"]] if "runs" in self else [self]

    def to_pandas(self) -> Any:
        """Return a pandas.DataFrame with one row for each run; nested members are joined by dots."""
        import pandas
        return pandas.json_normalize([dict(r) for r in self.runs])

    def __str__(self) -> str:
        lines = []
        for r in self.runs:
            text = "%s in %s" % (render.number(r["total_j"], "J"), render.number(r["elapsed_s"], "s"))
            if "energy_j" in r:
                text = "%d minibatches of %s, %.4g ms, %s; %s" % (
                    r["minibatches"], render.number(r["energy_j"], "J"), r["time_ms"],
                    render.number(r["power_w"], "W"), text)
            lines.append(text)
        return "\n".join(lines)


def read_stat(path: str) -> Stat:
    """Read the output of `jetwatt stat --json` or `jetwatt report --json` from a file."""
    try:
        with open(path, encoding="utf-8") as f:
            found = json.load(f)
    except (OSError, ValueError) as e:
        raise JetwattError("cannot read %s" % path, str(e), "jetwatt stat --json -o FILE -- COMMAND") from None
    if not isinstance(found, dict) or not ("total_j" in found or "runs" in found):
        raise JetwattError("%s is not a result of jetwatt stat" % path, "",
                           "jetwatt stat --json -o FILE -- COMMAND")
    return Stat(found)

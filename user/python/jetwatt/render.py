# SPDX-License-Identifier: LGPL-2.1-only
"""Measurements as text and as HTML, for terminals and Jupyter."""
import math
from html import escape
from typing import Any, Dict, List, Optional, Sequence, Tuple

WIDTH = 80
# Maximum number of rows of an HTML table; of further rows, only the number is shown.
ROWS = 50


def number(value: float, unit: str) -> str:
    """Return the value with about four significant digits, and its unit."""
    if math.isnan(value):
        return "unknown " + unit
    if abs(value) >= 1e6:
        return "%.3e %s" % (value, unit)
    digits = 0 if not value else max(0, 3 - int(math.floor(math.log10(abs(value)))))
    return "%.*f %s" % (min(digits, 6), value, unit)


def line(row: Dict[str, Any], error: Optional[Exception] = None) -> str:
    """Return a row of Measurement.to_dict() in one line of at most 80 columns."""
    text = "%s +- %s in %s, %s (%s)" % (
        number(row["joules"], "J"), number(row["uncertainty"], "J"), number(row["seconds"], "s"),
        number(row["watts"], "W"), row["source"])
    if error:
        text = "%s, no energy" % number(row["seconds"], "s")
    name, room = row["name"], max(8, WIDTH - len("<: >") - len(text))
    if len(name) > room:
        name = "..." + name[len(name) - room + 3:]
    return "%s: %s" % (name, text)


def sparkline(points: Sequence[Tuple[float, float]], width: int = 200, height: int = 32) -> str:
    """Return an SVG of power over time; points: (s, W). Empty with fewer than two points."""
    if len(points) < 2 or points[-1][0] <= points[0][0]:
        return ""
    low, high = min(w for _, w in points), max(w for _, w in points)
    start, span = points[0][0], points[-1][0] - points[0][0]
    path = " ".join("%.1f,%.1f" % ((t - start) / span * width,
                                   height - 1 - (w - low) / ((high - low) or 1) * (height - 2))
                    for t, w in points)
    return ('<svg width="%d" height="%d" role="img"><title>%s to %s</title><polyline points="%s" '
            'fill="none" stroke="currentColor"/></svg>' % (
                width, height, number(low, "W"), number(high, "W"), path))


def html(rows: List[Dict[str, Any]], scope: str, points: Sequence[Tuple[float, float]] = ()) -> str:
    """Return rows of Measurement.to_dict() as a table, one row with its rails; with a sparkline."""
    columns = (("joules", "J"), ("uncertainty", "J"), ("seconds", "s"), ("watts", "W"))
    head = "".join("<th>%s</th>" % t for t in ("name", "energy", "+-", "time", "power", "source"))
    body = ""
    for row in rows[-ROWS:]:
        cells = "".join("<td>%s</td>" % number(row[k], unit) for k, unit in columns)
        body += "<tr><td>%s</td>%s<td>%s</td></tr>" % (escape(row["name"]), cells, escape(row["source"]))
    if len(rows) > ROWS:
        body += '<tr><td colspan="6">%d earlier ones</td></tr>' % (len(rows) - ROWS)
    if len(rows) == 1:
        rails = [(k[5:], v) for k, v in rows[0].items() if k.startswith("rail_")]
        body += "".join('<tr><td>%s</td><td>%s</td><td colspan="4"></td></tr>' % (escape(k), number(v, "J"))
                        for k, v in rails)
    svg = sparkline(points)
    return "<table><caption>%s</caption><tr>%s</tr>%s</table>%s" % (
        escape(scope), head, body, "<div>%s</div>" % svg if svg else "")

"""plots.py - draw rows of bench/results as SVG bar charts, stdcl in one colour, peers in a second one.

SPDX-License-Identifier: MIT
"""
import html
import re

HEIGHT, LABEL, BAR, VALUE = 20, 300, 400, 90


def chart(bars):
    """Draw bars: (label, value, true for a peer)."""
    most = max(value for _, value, _ in bars)
    width, lines = LABEL + BAR + VALUE, []
    for i, (label, value, peer) in enumerate(bars):
        y = HEIGHT * i
        lines.append('<text x="%d" y="%d" text-anchor="end">%s</text>' % (LABEL - 8, y + 14, html.escape(label)))
        lines.append('<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"/>' % (
            LABEL, y + 3, max(BAR * value / most, 1), HEIGHT - 6, "#b0b0b0" if peer else "#2f6db5"))
        lines.append('<text x="%.1f" y="%d">%s</text>' % (LABEL + BAR * value / most + 6, y + 14, format(float("%.4g" % value), ",g")))
    return ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">\n%s\n</svg>\n'
            % (width, HEIGHT * len(bars) + 4, "\n".join(lines)))


def told(row, *words):
    """Return the end of a label: the words that occur in the row's command, and the number of devices if above one."""
    command = row.get("command", "")
    devices = re.search(r"--devices ([2-9])", command)
    found = [word.replace("-", " ") for word in words if word in command]
    return "".join(", " + word for word in found + ([devices.group(1) + " devices"] if devices else []))


def gravity(row):
    if "ginteractions_per_s" in row:
        peer = row.get("peer")
        return "%d bodies, %s" % (row["n"], peer or "stdcl" + told(row, "equal-masses", "hermite4", "double", "mixed")), row["ginteractions_per_s"]


def life(row):
    if "best_Gcells_per_s" in row:
        return "%s, %d generations, %s%s" % (row["size"], row["generations"], row["engine"], told(row)), row.get("median_Gcells_per_s", row["best_Gcells_per_s"])


def product(precision):
    def bar(row):
        if "gflops" in row and precision in row.get("command", "") + row.get("precision", ""):
            return "%d x %d x %d, %s" % (row["m"], row["n"], row["k"], row.get("peer") or "stdcl" + told(row)), row["gflops"]
    return bar


def sums(row):
    if "case" in row and row.get("gbytes_per_s"):
        return "%s, %d%s" % (row["case"], row["n"], told(row)), row["gbytes_per_s"]


def molecules(row):
    if row.get("case") == "gas.fused":
        return "%.3g molecules%s" % (row["n"], told(row)), row["gelements_per_s"]


def copies(row):
    for way in ("to_device", "to_host") if "to_device_raw_bytes_per_s" in row else ():
        yield way.replace("_", " ") + ", stdcl", row[way + "_layer_bytes_per_s"] / 1e9, False
        yield way.replace("_", " ") + ", raw OpenCL", row[way + "_raw_bytes_per_s"] / 1e9, True


CHARTS = [("Gravity, direct sums, 10⁹ pairs/s", gravity), ("Life, 10⁹ cells/s", life),
          ("Matrix products, single precision, GFLOP/s", product("single")),
          ("Matrix products, double precision, GFLOP/s", product("double")), ("Sums, GB/s", sums),
          ("The energy of a gas, nothing stored, 10⁹ molecules/s", molecules)]


def of(rows):
    """Yield (title, svg) for each chart with rows."""
    for title, bar in CHARTS:
        bars = [(*bar(row), "peer" in row or "peer" in row.get("case", "") or row.get("engine") == "bgolly") for row in rows if bar(row)]
        if bars:
            yield title, chart(bars)
    bars = [bar for row in rows for bar in copies(row)]
    if bars:
        yield "Copies, GB/s", chart(bars)

"""plots.py - rows of bench/results as bar charts in SVG: ours in one colour, peers in another.

SPDX-License-Identifier: MIT
"""
import html

HEIGHT, LABEL, BAR, VALUE = 20, 300, 400, 90


def chart(bars, unit):
    """bars: (label, value, whether it is a peer's)."""
    most = max(value for _, value, _ in bars)
    width, lines = LABEL + BAR + VALUE, []
    for i, (label, value, peer) in enumerate(bars):
        y = HEIGHT * i
        lines.append('<text x="%d" y="%d" text-anchor="end">%s</text>' % (LABEL - 8, y + 14, html.escape(label)))
        lines.append('<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"/>' % (
            LABEL, y + 3, max(BAR * value / most, 1), HEIGHT - 6, "#b0b0b0" if peer else "#2f6db5"))
        lines.append('<text x="%.1f" y="%d">%.4g %s</text>' % (LABEL + BAR * value / most + 6, y + 14, value, unit if i == 0 else ""))
    return ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">\n%s\n</svg>\n'
            % (width, HEIGHT * len(bars) + 4, "\n".join(lines)))


def gravity(row):
    if "ginteractions_per_s" in row:
        command = row.get("command", "")
        kind = ", ".join(word for word in ("hermite4", "double", "mixed") if word in command)
        return "%d bodies, %s" % (row["n"], row.get("peer", "stdcl" + (", " + kind if kind else ""))), row["ginteractions_per_s"]


def life(row):
    if "best_Gcells_per_s" in row:
        return "%s, %d generations, %s" % (row["size"], row["generations"], row["engine"]), row["best_Gcells_per_s"]


def product(precision):
    def bar(row):
        if "gflops" in row and precision in row.get("command", "") + row.get("precision", ""):
            name = row.get("peer") or "stdcl"
            return "%d x %d x %d, %s" % (row["m"], row["n"], row["k"], name), row["gflops"]
    return bar


def sums(row):
    if "case" in row and row.get("gbytes_per_s"):
        return "%s, %d" % (row["case"], row["n"]), row["gbytes_per_s"]


CHARTS = [("Gravity, direct sums", "10⁹ pairs/s", gravity), ("Life", "10⁹ cells/s", life),
          ("Matrix products, single precision", "GFLOP/s", product("single")),
          ("Matrix products, double precision", "GFLOP/s", product("double")), ("Sums", "GB/s", sums)]


def of(rows):
    """(title, svg) of the charts for which there are rows."""
    for title, unit, bar in CHARTS:
        bars = [(*bar(row), "peer" in row or "peer" in row.get("case", "") or row.get("engine") == "bgolly") for row in rows if bar(row)]
        if bars:
            yield title, chart(bars, unit)

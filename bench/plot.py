#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the plots of docs/performance.md from what `bench/run jobs queue --json FILE` wrote.

  bench/plot.py FILE FOLDER     writes performance-jobs.svg and performance-queue.svg
"""

import json
import pathlib
import statistics
import sys
from xml.sax.saxutils import escape

WIDTH, LEFT, RIGHT, ROW = 720, 150, 90, 30
STYLE = """<style>
text { font: 13px system-ui, sans-serif; fill: #444 } .title { font-weight: 600 } .ours { fill: #2563eb } .peer { fill: #9ca3af }
line { stroke: #ccc } polyline { fill: none; stroke: #2563eb; stroke-width: 2 }
@media (prefers-color-scheme: dark) { text { fill: #ccc } line { stroke: #555 } }
</style>"""


def svg(height, parts):
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">', STYLE, *parts,
                      "</svg>"]) + "\n"


def text(x, y, what, anchor="start", kind=""):
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" class="{kind}">{escape(what)}</text>'


def bars(title, values):
    """One bar for each name, the longest as wide as there is room."""
    parts = [text(10, 22, title, kind="title")]
    widest = max(values.values())
    for row, (name, value) in enumerate(sorted(values.items(), key=lambda pair: -pair[1])):
        y = 40 + row * ROW
        width = (WIDTH - LEFT - RIGHT) * value / widest
        parts += [text(LEFT - 10, y + 15, name, "end"),
                  f'<rect x="{LEFT}" y="{y}" width="{width:.1f}" height="20" class="{"ours" if name == "berth" else "peer"}"/>',
                  text(LEFT + width + 8, y + 15, f"{value:.0f}")]
    return svg(50 + len(values) * ROW, parts)


def line(title, below, values):
    """Values at equal distances, from zero."""
    top, bottom = 40, 200
    highest = max(values) * 1.1
    step = (WIDTH - 2 * 60) / (len(values) - 1)
    points = [(60 + place * step, bottom - (bottom - top) * value / highest) for place, value in enumerate(values)]
    parts = [text(10, 22, title, kind="title"), f'<line x1="60" y1="{bottom}" x2="{WIDTH - 60}" y2="{bottom}"/>',
             text(50, bottom + 4, "0", "end"), text(WIDTH / 2, bottom + 24, below, "middle"),
             '<polyline points="' + " ".join(f"{x:.1f},{y:.1f}" for x, y in points) + '"/>']
    parts += [text(x, y - 8, f"{value:.0f}", "middle") for (x, y), value in zip(points, values)]
    return svg(bottom + 40, parts)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    figures, folder = json.loads(pathlib.Path(sys.argv[1]).read_text()), pathlib.Path(sys.argv[2])
    rates = {name: statistics.median(values) for name, values in figures["jobs"]["rates"].items()}
    queue = figures["queue"]["tenths_per_second"]
    (folder / "performance-jobs.svg").write_text(bars("Jobs of `true` a second, each durable (HyperQueue keeps nothing on disk)", rates))
    (folder / "performance-queue.svg").write_text(
        line("100,000 jobs queued at once: jobs a second", "each tenth of the jobs, in the order in which they end", queue))


if __name__ == "__main__":
    main()

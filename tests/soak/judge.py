# SPDX-License-Identifier: Apache-2.0
"""Whether a server that worked for long became larger by it.

A sample is a dict of numbers. The medians of the second fifth and of the last fifth of all samples are compared:
the first fifth is for warming up, and a median does not mind a sample that was taken at an odd moment. What may
grow between them is written down for each number (Rule), with an allowance for what is legitimately kept.
"""

import dataclasses
import statistics

KIB, MIB = 1 << 10, 1 << 20


@dataclasses.dataclass(frozen=True)
class Rule:
    name: str
    slack: float  # May come on top between the two fifths, whatever was kept.
    per: dict = dataclasses.field(default_factory=dict)  # name of a counter -> what one of them may add
    most: float = None  # No sample may be larger, at any time.
    unit: int = 1  # For printing.


# A kept job has its row, those of its run and its usage, and its log as an object. Memory of a job that is over: none.
RULES = (
    Rule("server memory", 8 * MIB, unit=MIB),
    Rule("server descriptors", 6),
    Rule("server threads", 0),
    Rule("agents memory", 6 * MIB, unit=MIB),
    Rule("agents descriptors", 6),
    Rule("database log", 16 * MIB, most=64 * MIB, unit=MIB),
    Rule("database", 2 * MIB, {"jobs": 12 * KIB, "metrics": 400, "audited": KIB}, unit=MIB),
    Rule("files", 12, {"jobs": 2, "objects": 1}),
    Rule("directories", 6),
    Rule("processes", 2),
)


@dataclasses.dataclass(frozen=True)
class Line:
    rule: Rule
    before: float
    after: float
    allowed: float
    highest: float

    @property
    def growth(self):
        return self.after - self.before

    @property
    def trouble(self):
        """Why this is not flat; empty when it is."""
        if self.rule.most is not None and self.highest > self.rule.most:
            return f"was {show(self.highest, self.rule.unit)}, more than {show(self.rule.most, self.rule.unit)}"
        if self.growth > self.allowed:
            return f"grew by {show(self.growth, self.rule.unit)}, more than {show(self.allowed, self.rule.unit)}"
        return ""


def show(value, unit):
    return f"{value / unit:.1f} MiB" if unit == MIB else f"{value:g}"


def fifth(samples, number):
    """The samples of the first (0) to the last (4) fifth."""
    size = len(samples)
    return samples[number * size // 5:(number + 1) * size // 5]


def judge(samples, rules=RULES):
    assert len(samples) >= 10, f"{len(samples)} samples say nothing"
    early, late = fifth(samples, 1), fifth(samples, 4)

    def middle(part, name):
        return statistics.median(sample.get(name, 0) for sample in part)

    lines = []
    for rule in rules:
        allowed = rule.slack
        for counter, each in rule.per.items():
            allowed += each * max(0, middle(late, counter) - middle(early, counter))
        lines.append(Line(rule, middle(early, rule.name), middle(late, rule.name), allowed,
                          max(sample.get(rule.name, 0) for sample in samples)))
    return lines


def table(lines):
    rows = [("", "2nd fifth", "last fifth", "growth", "allowed", "highest", "")]
    for line in lines:
        values = (line.before, line.after, line.growth, line.allowed, line.highest)
        rows.append((line.rule.name, *(show(value, line.rule.unit) for value in values), line.trouble or "flat"))
    widths = [max(len(row[column]) for row in rows) for column in range(6)]
    return "\n".join("  ".join(cell.ljust(width) if column == 0 else cell.rjust(width)
                               for column, (cell, width) in enumerate(zip(row, widths))) + f"  {row[6]}".rstrip()
                     for row in rows)

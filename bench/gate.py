# SPDX-License-Identifier: Apache-2.0
"""Ratios to peers of the same run, held against those that are committed beside this file.

A figure has fallen when its median is lower than the committed one by more than both the noise that the two runs saw and
a twentieth. The ratios are such that more is better."""

import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys

FILE = pathlib.Path(__file__).resolve().parent / "gate.json"
LEAST_FALL = 0.05


def figures_of(*words):
    """What a program prints as its last line: one number, or an object of them."""
    done = subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def one_round(berth, jobs, load):
    """Name -> (ours, the peer's), each such that more is better."""
    loop = figures_of(jobs, "--loop", 600)
    cluster = figures_of(jobs, "--cluster", berth, 600)
    syncs = figures_of(load, "--syncs", 2000)
    submits = figures_of(load, "--submits", berth, 64, 4000)
    readers = figures_of(load, "--readers", berth, 64, 6000)
    latency = figures_of(jobs, "--latency", berth, 60)
    restart = restart_of(berth)
    return {"jobs a second / posix_spawn loop": cluster / loop,
            "durable submits of 64 clients / syncs": submits["per_second"] / syncs["per_second"],
            "reads of 64 readers / posix_spawn loop": readers["per_second"] / loop,
            "bare start / submit to first instruction": latency["bare_p50_ms"] / latency["p50_ms"],
            "SQLite alone / restart with 10,000 queued": restart["sqlite_ms"] / restart["ready_ms"]}


def restart_of(berth):
    import restart

    os.environ["BERTH_BINARY"] = str(berth)
    import harness  # after the binary is named

    return restart.measure_one(harness, berth, 10_000, 0, 3)


def measure(berth, jobs, load, rounds):
    seen = []
    for number in range(rounds):
        seen.append(one_round(berth, jobs, load))
        print(f"round {number + 1}/{rounds}", {name: round(ratio, 3) for name, ratio in seen[-1].items()}, file=sys.stderr)
    return {name: summary([each[name] for each in seen]) for name in seen[0]}


def summary(ratios):
    return {"median": round(statistics.median(ratios), 4), "lowest": round(min(ratios), 4),
            "highest": round(max(ratios), 4)}


def noise(figure):
    """Half of what lies between the lowest and the highest, as a part of the median."""
    return (figure["highest"] - figure["lowest"]) / 2 / figure["median"]


def record(figures):
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=FILE.parent, check=True, capture_output=True,
                            text=True).stdout.strip()
    FILE.write_text(json.dumps({"date": datetime.date.today().isoformat(), "commit": commit, "ratios": figures},
                               indent=2) + "\n")
    show(figures, figures)


def hold(figures):
    """Whether nothing fell."""
    kept = json.loads(FILE.read_text())
    print(f"against {kept['commit']} of {kept['date']}:")
    return not show(figures, kept["ratios"])


def show(figures, before):
    """Prints all, and returns the names of those that fell."""
    fallen = []
    print(f"\n{'ratio':<44} {'then':>7} {'now':>7} {'lowest':>7} {'highest':>8} {'change':>8} {'noise':>7}")
    for name, now in figures.items():
        if name not in before:
            print(f"{name:<44} {'-':>7} {now['median']:7.3f} {now['lowest']:7.3f} {now['highest']:8.3f}")
            continue
        then = before[name]
        change, doubt = now["median"] / then["median"] - 1, noise(now) + noise(then)
        has_fallen = -change > max(doubt, LEAST_FALL)
        if has_fallen:
            fallen.append(name)
        print(f"{name:<44} {then['median']:7.3f} {now['median']:7.3f} {now['lowest']:7.3f} {now['highest']:8.3f} "
              f"{100 * change:+7.1f}% {100 * doubt:6.1f}%{'  FELL' if has_fallen else ''}")
    return fallen

# SPDX-License-Identifier: Apache-2.0
"""What it costs to list and read jobs of a long history; the peer is the same server with a short one."""

import contextlib
import http.client
import json
import os
import pathlib
import sqlite3
import statistics
import tempfile
import time

import restart

ROUNDS_OF_ONE = 200
SMALL, LARGE = 1_000, 1_000_000


def questions(workspace, newest, experiment):
    """What people ask for: name -> path."""
    jobs = f"{workspace}/jobs?api-version=2024-10-01"
    return {"newest 50": f"{jobs}&$top=50",
            "newest 50, archived too": f"{jobs}&$top=50&listViewType=All",
            "newest 50 of an experiment": f"{jobs}&$top=50&experimentName={experiment}",
            "newest 50 with a tag": f"{jobs}&$top=50&tag=team",
            "newest 50 with a tag's value": f"{jobs}&$top=50&tag=team%3Dblue",
            "newest 50 of a type": f"{jobs}&$top=50&jobType=Command",
            "one by its name": f"{workspace}/jobs/{newest}?api-version=2024-10-01"}


def ask(connection, path, token):
    began = time.monotonic()
    connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
    answer = connection.getresponse()
    body = answer.read()
    assert answer.status == 200, body
    return time.monotonic() - began, json.loads(body)


def tag_all(home):
    """Every job has a tag, as a team's jobs have."""
    with contextlib.closing(sqlite3.connect(home / "berth.db")) as database:
        database.execute("INSERT OR IGNORE INTO job_tags (workspace, key, value, sequence) "
                         "SELECT workspace, 'team', 'blue', sequence FROM jobs")
        database.commit()
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def measure_one(harness, binary, count):
    """Milliseconds for each question, with so many finished jobs."""
    with tempfile.TemporaryDirectory() as scratch:
        berth, gate = restart.prepare(harness, pathlib.Path(scratch) / "here", 0, count)
        tag_all(berth.home)
        with restart.server(binary, berth.home):
            connection = http.client.HTTPConnection("127.0.0.1", berth.port())
            token = berth.token()
            newest = berth.get_job(f"over{count}")
            figures = {}
            for name, path in questions(harness.WORKSPACE, newest["name"], newest["properties"]["experimentName"]).items():
                rows = ask(connection, path, token)[1]
                assert len(rows.get("value", [0])) in (1, 50), (name, len(rows["value"]))
                figures[name] = 1000 * statistics.median(ask(connection, path, token)[0] for _ in range(ROUNDS_OF_ONE))
            connection.close()
            gate.touch()
            berth.run("compute", "delete", "-n", "pool", "-y", timeout=300)
        berth.stop()
    return figures


def measure(binary):
    os.environ["BERTH_BINARY"] = str(binary)
    import harness  # after the binary is named

    return {count: measure_one(harness, binary, count) for count in (SMALL, LARGE)}


def show(figures):
    small, large = figures[SMALL], figures[LARGE]
    print(f"\n{'finished jobs':<32} {f'of {SMALL:,}':>14} {f'of {LARGE:,}':>14}   ratio")
    for name, few in small.items():
        print(f"{name:<32} {few:11.2f} ms {large[name]:11.2f} ms   {large[name] / few:.2f}x")

# SPDX-License-Identifier: Apache-2.0
"""What logging and looking at metrics costs; the peers are a short history, and the disk."""

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

ROUNDS_OF_ONE = 100
SMALL, LARGE = 1_000, 1_000_000
METRICS = 1000


def fill(home, count):
    """So many runs with two metrics each in ten experiments, and one run with so many points of a metric."""
    with contextlib.closing(sqlite3.connect(home / "berth.db")) as database:
        (workspace,) = database.execute("SELECT key FROM documents WHERE kind = 'workspace'").fetchone()
        numbers = "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?) "
        database.execute("INSERT INTO experiments SELECT ?, 'e' || value, 'e' || value, '', 0, 0, 0 "
                         "FROM json_each('[0,1,2,3,4,5,6,7,8,9]')", (workspace,))
        database.execute(numbers + "INSERT INTO runs (number, workspace, id, experiment, name, user, status, started_at, "
                         "ended_at, deleted, job) SELECT n, ?, 'r' || n, 'e' || (n % 10), 'r' || n, 'ana', 'FINISHED', n, "
                         "n + 1, 0, 0 FROM numbers", (count, workspace))
        for key in ("loss", "accuracy"):
            database.execute(numbers + "INSERT INTO latest_metrics (run, key, timestamp, step, value, nan) "
                             "SELECT n, ?, n, 0, n / 7.0, 0 FROM numbers", (count, key))
        database.execute(numbers + "INSERT INTO metric_points (run, key, timestamp, step, value, nan) "
                         "SELECT 1, 'long', n, n, n / 3.0, 0 FROM numbers", (count,))
        database.execute("INSERT INTO latest_metrics VALUES (1, 'long', ?, ?, 1.5, 0)", (count, count))
        database.commit()
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")


class Client:
    """MLflow's requests without MLflow's own time."""

    def __init__(self, berth, workspace):
        self.connection = http.client.HTTPConnection("127.0.0.1", berth.port())
        self.root = f"/mlflow/v1.0{workspace}/api/2.0/mlflow"
        self.headers = {"Authorization": f"Bearer {berth.token()}", "Content-Type": "application/json"}

    def ask(self, method, below, body=None):
        self.connection.request(method, self.root + below, json.dumps(body) if body else None, self.headers)
        answer = self.connection.getresponse()
        text = answer.read()
        assert answer.status == 200, text
        return json.loads(text)


def questions(count):
    def search(**more):
        return "POST", "/runs/search", {"experiment_ids": ["e1"], "max_results": 50} | more

    return {"newest 50 runs": search(),
            "newest 50 of ten experiments": search(experiment_ids=[f"e{i}" for i in range(10)]),
            "the next 50": search(page_token="eyJvZmZzZXQiOiA1MH0="),
            "newest 50 with a metric": search(filter="metrics.loss > 1"),
            "a run with its latest metrics": ("GET", f"/runs/get?run_id=r{count}", None),
            "a run with a long metric": ("GET", "/runs/get?run_id=r1", None),
            "50 points of the long metric": ("GET", "/metrics/get-history?run_id=r1&metric_key=long&max_results=50", None)}


def milliseconds(call):
    began = time.monotonic()
    call()
    return 1000 * (time.monotonic() - began)


def reading(client, count):
    figures = {}
    for name, (method, below, body) in questions(count).items():
        answer = client.ask(method, below, body)
        rows = answer.get("runs", answer.get("metrics"))
        assert rows is None or len(rows) == 50, name
        figures[name] = statistics.median(milliseconds(lambda: client.ask(method, below, body))
                                          for _ in range(ROUNDS_OF_ONE))
    return figures


def writing(client):
    run = client.ask("POST", "/runs/create", {"experiment_id": "0"})["run"]["info"]["run_id"]

    def one_by_one():
        for step in range(METRICS):
            client.ask("POST", "/runs/log-metric", {"run_id": run, "key": "a", "value": step / 7, "timestamp": 1, "step": step})

    def at_once():
        client.ask("POST", "/runs/log-batch", {"run_id": run, "metrics": [
            {"key": "b", "value": step / 7, "timestamp": 1, "step": step} for step in range(METRICS)]})

    return {f"{METRICS} metrics one by one": milliseconds(one_by_one), f"{METRICS} metrics at once": milliseconds(at_once)}


def syncs(folder):
    """As many writes that are on disk, one after the other."""
    descriptor = os.open(folder / "syncs", os.O_CREAT | os.O_WRONLY, 0o600)
    try:
        os.write(descriptor, bytes(4096 * METRICS))
        os.fsync(descriptor)

        def write():
            for number in range(METRICS):
                os.pwrite(descriptor, bytes(4096), 4096 * number)
                os.fdatasync(descriptor)

        return milliseconds(write)
    finally:
        os.close(descriptor)


def measure_one(harness, binary, count):
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "here"
        folder.mkdir()
        berth = harness.Berth(folder / "home", folder)
        berth.ensure_server()
        berth.ok("server", "stop")
        fill(berth.home, count)
        with restart.server(binary, berth.home):
            client = Client(berth, harness.WORKSPACE)
            figures = {"reading": reading(client, count), "writing": writing(client)}
        figures["writing"]["1000 x write + fdatasync"] = syncs(folder)
        berth.stop()
    return figures


def measure(binary):
    os.environ["BERTH_BINARY"] = str(binary)
    import harness  # after the binary is named

    return {count: measure_one(harness, binary, count) for count in (SMALL, LARGE)}


def show(figures):
    small, large = figures[SMALL], figures[LARGE]
    print(f"\n{'runs, and points of a metric':<32} {f'of {SMALL:,}':>14} {f'of {LARGE:,}':>14}   ratio")
    for part in ("reading", "writing"):
        for name, few in small[part].items():
            many = large[part][name]
            print(f"{name:<32} {few:11.2f} ms {many:11.2f} ms   {many / few:.2f}x")

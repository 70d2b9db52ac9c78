# SPDX-License-Identifier: Apache-2.0
"""What a server costs that has a long queue or a long history: to start, in memory, and when nothing happens."""

import contextlib
import os
import pathlib
import sqlite3
import statistics
import subprocess
import tempfile
import time

IDLE_SECONDS = 5
QUEUED = "SELECT doc FROM jobs INDEXED BY jobs_live WHERE live = 1"


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def rss_kib(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


@contextlib.contextmanager
def server(binary, home):
    """Yields the process and the seconds until it said that it is ready."""
    reading, writing = os.pipe()
    began = time.monotonic()
    process = subprocess.Popen([binary, "server", "--home", home, "--port", "0", "--ready-fd", str(writing)],
                               pass_fds=[writing], stderr=subprocess.DEVNULL)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        assert pipe.readline() == "ready\n", "the server did not start"
    took = time.monotonic() - began
    try:
        yield process, took
    finally:
        process.terminate()
        process.wait()


def multiply(home, count, is_live):
    """So many copies of the one job there is, under names of their own."""
    with contextlib.closing(sqlite3.connect(home / "berth.db")) as database:
        database.execute("""
            WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
            INSERT INTO jobs (sequence, workspace, name, live, archived, type, experiment, tags, doc)
            SELECT last + n, workspace, name || n, live, archived, type, experiment, tags,
                   json_set(doc, '$.key.name', name || n, '$.sequence', last + n)
            FROM jobs, numbers, (SELECT max(sequence) AS last FROM jobs) WHERE name = ?""",
                         (count, "queued" if is_live else "over"))
        database.execute("UPDATE meta SET value = (SELECT max(sequence) FROM jobs) WHERE key = 'last_sequence'")
        database.commit()
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def prepare(harness, folder, jobs, finished):
    """A state directory with so many queued and so many finished jobs; the queued wait for a taken node."""
    folder.mkdir()
    berth = harness.Berth(folder / "home", folder)
    berth.ok("compute", "create", "-n", "pool", "-t", "amlcompute", "--max-instances", 1)
    berth.submit("true", "over")
    berth.wait("over", "Completed")
    gate = folder / "gate"
    berth.submit(f"until [ -e {gate} ]; do sleep 0.2; done", "taken", compute="azureml:pool")
    berth.wait("taken", "Running")
    berth.submit("true", "queued", compute="azureml:pool")
    berth.ok("server", "stop")
    if jobs:
        multiply(berth.home, jobs - 1, True)
    if finished:
        multiply(berth.home, finished, False)
    return berth, gate


def sqlite_alone(home):
    """The seconds that SQLite needs to open the database and hand out the rows."""
    began = time.monotonic()
    with contextlib.closing(sqlite3.connect(home / "berth.db")) as database:
        for _ in database.execute(QUEUED):
            pass
    return time.monotonic() - began


def measure_one(harness, binary, queued, finished, rounds):
    with tempfile.TemporaryDirectory() as scratch:
        berth, gate = prepare(harness, pathlib.Path(scratch) / "here", queued, finished)
        ready, own, sqlite = [], [], []
        for _ in range(rounds):
            sqlite.append(sqlite_alone(berth.home))
            with server(binary, berth.home) as (process, took):
                ready.append(took)
                own.append(cpu_seconds(process.pid))
        with server(binary, berth.home) as (process, _):
            time.sleep(1)  # What follows a start is not idleness.
            before = cpu_seconds(process.pid)
            time.sleep(IDLE_SECONDS)
            idle = (cpu_seconds(process.pid) - before) / IDLE_SECONDS
            memory = rss_kib(process.pid)
            gate.touch()
            with contextlib.suppress(AssertionError):
                berth.run("compute", "delete", "-n", "pool", "-y", timeout=300)
        berth.stop()
    return {"queued": queued, "finished": finished, "ready_ms": 1000 * statistics.median(ready),
            "ready_cpu_ms": 1000 * statistics.median(own), "sqlite_ms": 1000 * statistics.median(sqlite),
            "rss_kib": memory, "idle_cpu_percent": 100 * idle}


def measure(binary, rounds):
    os.environ["BERTH_BINARY"] = str(binary)
    import harness  # after the binary is named

    return [measure_one(harness, binary, queued, finished, rounds)
            for queued, finished in ((0, 0), (10_000, 0), (100_000, 0), (0, 100_000))]

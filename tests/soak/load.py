# SPDX-License-Identifier: Apache-2.0
"""A steady, mixed load. Each worker does one kind of thing, again and again, at its own pace."""

import collections
import contextlib
import http.client
import itertools
import json
import sqlite3
import subprocess
import threading
import time
import urllib.parse

from harness import DEADLINE, TERMINAL, WORKSPACE

API = "api-version=2024-10-01"
KEPT_JOBS = 40  # of each worker; what is older is deleted
CONTENTS = [bytes([65 + number]) * (20_000 + number) for number in range(8)]  # So many objects, however long it takes.


class Answer(Exception):
    """An answer that nobody expects from a server that is well."""


class Shared:
    """What all workers know: the server, what was kept, and what went wrong."""

    def __init__(self, berth, rate):
        self.berth, self.rate, self.stop = berth, rate, threading.Event()
        self.port, self.token = berth.cached_port(), berth.token()
        self.lock, self.counts, self.done = threading.Lock(), collections.Counter(), collections.Counter()
        self.troubles = []
        self.can_delete = True
        self.container = None

    def count(self, name, by=1):
        with self.lock:
            self.counts[name] += by


class Worker(threading.Thread):
    PAUSE = 1.0  # seconds between two rounds, at a rate of 1

    def __init__(self, shared):
        super().__init__(daemon=True, name=type(self).__name__)
        self.shared, self.connection, self.kept = shared, None, collections.deque()

    def run(self):
        try:
            for number in itertools.count():
                if self.shared.stop.is_set():
                    break
                self.work(number)
                self.shared.done[self.name] += 1
                self.shared.stop.wait(self.PAUSE / self.shared.rate)
        except Exception as trouble:  # A worker that gives up must not look like one that is content.
            self.shared.troubles.append(f"{self.name}: {trouble!r}")
        finally:
            if self.connection:
                self.connection.close()

    def ask(self, method, path, body=None, good=(200, 201, 202, 204), token=True):
        """One request on a connection that stays. The server may close it when it has been idle."""
        headers = {"Authorization": f"Bearer {self.shared.token}"} if token else {}
        if isinstance(body, (dict, list)):
            body, headers["Content-Type"] = json.dumps(body).encode(), "application/json"
        elif body is not None:
            headers["x-ms-blob-type"] = "BlockBlob"
        for is_last in (False, True):
            try:
                if not self.connection:
                    self.connection = http.client.HTTPConnection("127.0.0.1", self.shared.port, timeout=DEADLINE)
                self.connection.request(method, path, body, headers)
                answer = self.connection.getresponse()
                text = answer.read()
                break
            except (OSError, http.client.HTTPException):
                self.connection.close()
                self.connection = None
                if is_last:
                    raise
        if answer.status not in good:
            raise Answer(f"{method} {path.split('?')[0]}: {answer.status} {text[:300]!r}")
        self.status = answer.status
        return text

    def ask_json(self, *words, **more):
        text = self.ask(*words, **more)
        return json.loads(text) if text else {}

    def submit(self, name, command, compute="local"):
        self.ask("PUT", f"{WORKSPACE}/jobs/{name}?{API}", {"properties": {
            "jobType": "Command", "command": command, "computeId": compute, "environmentId": "azureml:none:1"}})
        self.shared.count("jobs")
        self.shared.count("audited")
        self.kept.append(name)
        while len(self.kept) > KEPT_JOBS and self.shared.can_delete:
            self.delete(self.kept.popleft())

    def delete(self, name):
        self.ask("DELETE", f"{WORKSPACE}/jobs/{name}?{API}", good=(200, 202, 204, 404, 405, 409, 501))
        if self.status in (200, 202, 204):
            self.shared.count("jobs", -1)
            self.shared.count("audited")
        else:  # This server cannot, so all are kept, and the judge allows for them.
            self.shared.can_delete = False

    def wait_for(self, name, *statuses):
        until = time.monotonic() + DEADLINE
        while not self.shared.stop.is_set():
            status = self.ask_json("GET", f"{WORKSPACE}/jobs/{name}?{API}")["properties"]["status"]
            if status in (statuses or TERMINAL):
                return status
            if status in TERMINAL or time.monotonic() > until:
                raise Answer(f"job {name} is {status}")
            self.shared.stop.wait(0.1)
        return None


class Local(Worker):
    """Short jobs on this machine, with a log."""
    PAUSE = 1.5

    def work(self, number):
        self.submit(f"local-{number}", f"echo {number}; seq 1 200")
        if self.wait_for(f"local-{number}") not in (None, "Completed"):
            raise Answer(f"local-{number} did not complete")


class Cluster(Worker):
    """A few jobs at once on a cluster, then long enough nothing for its nodes to go."""
    PAUSE = 12.0

    def work(self, number):
        if number == 0:
            self.ask("PUT", f"{WORKSPACE}/computes/pool?{API}", {"location": "local", "properties": {
                "computeType": "AmlCompute", "properties": {"vmSize": "Standard_DS1_v2", "scaleSettings": {
                    "minNodeCount": 0, "maxNodeCount": 2, "nodeIdleTimeBeforeScaleDown": "PT2S"}}}})
        names = [f"pool-{number}-{each}" for each in range(3)]
        for name in names:
            self.submit(name, "seq 1 50", f"{WORKSPACE}/computes/pool")
        for name in names:
            self.wait_for(name, "Completed")


class Cancel(Worker):
    PAUSE = 7.0

    def work(self, number):
        name = f"cancel-{number}"
        self.submit(name, "echo here; sleep 600")
        if number % 2:
            self.wait_for(name, "Running")
        self.ask("POST", f"{WORKSPACE}/jobs/{name}/cancel?{API}", {})
        self.shared.count("audited")
        self.wait_for(name, "Canceled")


class Look(Worker):
    """Lists, and single things."""

    def work(self, number):
        page = self.ask_json("GET", f"{WORKSPACE}/jobs?{API}")
        for job in page["value"][:2]:
            # It may be deleted by now.
            self.ask("GET", f"{WORKSPACE}/jobs/{job['name']}?{API}", good=(200, 404))
        self.ask("GET", f"{WORKSPACE}/computes?{API}")
        self.ask("GET", "/berth/v1/status")


class Track(Worker):
    """What MLflow logs, to one run after the other, and searches over all of them."""
    PAUSE = 2.0

    def mlflow(self, method, what, body):
        return self.ask_json(method, f"/mlflow/v1.0{WORKSPACE}/api/2.0/mlflow/{what}", body)

    def work(self, number):
        now = int(time.time() * 1000)
        if number % 100 == 0:
            made = self.mlflow("POST", "runs/create", {"experiment_id": "0", "start_time": now, "run_name": f"r{number}"})
            self.run_id = made["run"]["info"]["run_id"]
        metrics = [{"key": f"m{each}", "value": number / 7, "timestamp": now, "step": number} for each in range(5)]
        self.mlflow("POST", "runs/log-batch", {"run_id": self.run_id, "metrics": metrics})
        self.shared.count("metrics", len(metrics))
        self.mlflow("POST", "runs/set-tag", {"run_id": self.run_id, "key": "round", "value": str(number)})
        self.shared.count("audited", 2)
        self.mlflow("POST", "runs/search", {"experiment_ids": ["0"], "filter": "metrics.m1 > 0", "max_results": 20})
        path = f"/mlflow/v1.0{WORKSPACE}/api/2.0/mlflow-artifacts/artifacts/ExperimentRun/dcid.{self.run_id}/a.bin"
        self.ask("PUT", path, CONTENTS[number % len(CONTENTS)])
        self.shared.count("audited")
        self.ask("GET", path)


class Blobs(Worker):
    """The same few blobs, written again with one of a few contents."""
    PAUSE = 2.0

    def work(self, number):
        if number % 500 == 0:
            self.place, self.signature = self.shared.berth.container()
        url = f"{self.place}/soak/{number % 5}?{self.signature}"
        self.ask("PUT", url, CONTENTS[(number * 3) % len(CONTENTS)], token=False)
        self.shared.count("audited")
        self.ask("GET", url, token=False)


class Rewrite(Worker):
    """The same large thing, written again: much for the database's log, and nothing that stays. SQLite does not write
    the pages of a text that are as they were: so it is another text."""
    PAUSE = 0.15  # In one minute more than the log may ever hold.

    def work(self, number):
        self.ask("PUT", f"{WORKSPACE}/jobs/large?{API}", {"properties": {
            "jobType": "Command", "command": "true", "environmentId": "azureml:none:1",
            "description": str(number).ljust(240 << 10, "abcdefgh"[number % 8])}})
        self.shared.count("audited")


class Stream(Worker):
    """Somebody follows a job's log from its beginning to its end, by the command line."""
    PAUSE = 15.0

    def work(self, number):
        name = f"stream-{number}"
        self.submit(name, "for i in 1 2 3 4 5; do echo $i; sleep 0.3; done")
        said = self.shared.berth.run("job", "stream", "--name", name)
        self.shared.berth.said.clear()
        if "5\n" not in said.out:
            raise Answer(f"the stream of {name}: {said!r}")


class Stay(Worker):
    """Another process reads the database and does not let go of what it saw for a while."""
    PAUSE = 10.0

    def work(self, number):
        path = urllib.parse.quote(str(self.shared.berth.home / "berth.db"))
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=30)) as database:
            database.execute("BEGIN")
            database.execute("SELECT count(*) FROM jobs").fetchone()
            self.shared.stop.wait(8)


class Watch(threading.Thread):
    """The log of one job that runs all the time, followed all the time."""

    def __init__(self, shared):
        super().__init__(daemon=True)
        self.shared = shared

    def run(self):
        berth = self.shared.berth
        berth.submit("while :; do date; sleep 5; done", "watched")
        process = berth.popen("job", "stream", "--name", "watched", stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
        self.shared.stop.wait()
        berth.run("job", "cancel", "--name", "watched")
        try:
            process.wait(DEADLINE)  # It ends when the job is over, and with it the node may go.
        except subprocess.TimeoutExpired:
            self.shared.troubles.append("the log of a job that was cancelled has no end")
            process.kill()
            process.wait()


WORKERS = (Local, Cluster, Cancel, Look, Track, Blobs, Rewrite, Stream, Stay)

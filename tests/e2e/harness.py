# SPDX-License-Identifier: Apache-2.0
"""Drives the real executable: one Berth is one state directory with its server, nodes and jobs."""

import contextlib
import http.client
import json
import os
import pathlib
import re
import select
import signal
import socket
import ssl
import subprocess
import time
import urllib.parse

BINARY = pathlib.Path(os.environ.get("BERTH_BINARY", "build/berth")).resolve()
REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = REPOSITORY / "examples"
WORKSPACE = ("/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/berth/providers"
             "/Microsoft.MachineLearningServices/workspaces/default")
TERMINAL = {"Completed", "Failed", "Canceled"}
CORES = len(os.sched_getaffinity(0))
# A sanitizer build is several times slower and larger.
SANITIZED = bool(os.environ.get("BERTH_TEST_SANITIZED"))
SANITIZER_REPORT = re.compile(r"(Address|Leak|Thread|UndefinedBehavior)Sanitizer|runtime error:|check failed:")
# For hangs, not for speed.
DEADLINE = 480 if SANITIZED else 180
# What the shell that runs the tests has set must not reach what they run.
NOT_OURS = ("BERTH_", "AZURE", "AZ_", "ARM_", "IDENTITY_", "MLFLOW_", "PYTEST_", "SLURM", "SBATCH", "OMPI_", "PMIX_")
# Of one command's output, for those who look at it when the test is over.
MOST_KEPT = 1 << 20
# An agent that no server told to leave goes by itself after a minute.
LEAVE_DEADLINE = DEADLINE


def eventually(check, timeout=DEADLINE, what="the condition"):
    """Waits until check() gives something true, and returns it. A check that starts processes takes the processor from
    what it waits for: most of the time there is none."""
    until = time.monotonic() + timeout
    while True:
        began = time.monotonic()
        result = check()
        if result:
            return result
        now = time.monotonic()
        assert now < until, f"{what} did not come true in {timeout} s"
        time.sleep(max(0.02, min(2 * (now - began), 1)))


class Outcome:
    """What a finished command printed and how it ended."""

    def __init__(self, words, code, out, err):
        self.words, self.code, self.out_bytes = words, code, out
        self.out, self.err = out.decode(errors="replace"), err.decode(errors="replace")

    @property
    def json(self):
        return json.loads(self.out)

    def __repr__(self):
        return f"berth {' '.join(self.words)}\nexit {self.code}\nstdout: {self.out}\nstderr: {self.err}"


class Response:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"HTTP {self.status} {self.headers} {self.body[:2000]!r}"


class Berth:
    made = []  # By the test that runs: conftest.py looks at what each has said.

    def __init__(self, home, folder):
        self.home, self.folder = pathlib.Path(home), pathlib.Path(folder)
        self.said = []  # What every command printed: words, stdout, stderr.
        Berth.made.append(self)
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith(NOT_OURS) and not name.lower().endswith("_proxy")}
        self.environment |= {"BERTH_HOME": str(home), "BERTH_CONFIG_DIR": f"{folder}/config", "NO_COLOR": "1"}
        if SANITIZED:  # Supervisors have no stderr to report to.
            for name in ("ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"):
                before = self.environment.get(name, "")
                self.environment[name] = f"{before}:log_path={self.folder}/sanitizer".lstrip(":")

    # The command line.

    def popen(self, *words, cwd=None, env=None, **more):
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen([str(BINARY), *map(str, words)], cwd=cwd or self.folder,
                                env=self.environment | (env or {}), **(pipes | more))

    def run(self, *words, timeout=DEADLINE, **more):
        words = [str(word) for word in words]
        with self.popen(*words, **more) as process:
            try:
                out, err = process.communicate(timeout=timeout)
            except subprocess.TimeoutExpired:
                process.kill()
                out, err = process.communicate()
                raise AssertionError(f"still running: {Outcome(words, None, out, err)!r}") from None
        outcome = Outcome(words, process.returncode, out, err)
        self.said.append((words, out[:MOST_KEPT], err[:MOST_KEPT]))
        assert not SANITIZER_REPORT.search(outcome.err), outcome
        return outcome

    def ok(self, *words, **more):
        outcome = self.run(*words, **more)
        assert outcome.code == 0, outcome
        return outcome

    def fails(self, *words, code=1, **more):
        outcome = self.run(*words, **more)
        assert outcome.code == code, outcome
        return outcome

    # Jobs.

    def file(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def job_file(self, command, name="job.yml", **keys):
        """A job file; keys are written as JSON, which is YAML."""
        body = {"command": command, "environment": {"image": "debian:12"}, "compute": "local"} | keys
        return self.file(name, "".join(f"{key}: {json.dumps(value)}\n" for key, value in body.items()))

    def submit(self, command, name, *words, **keys):
        """Submits a job without waiting for it, and returns what the command line says of it."""
        file = self.job_file(command, f"{name}.yml", **keys)
        return self.ok("job", "create", "-f", file, "--name", name, "-o", "json", *words).json

    def show(self, name):
        return self.ok("job", "show", "--name", name, "-o", "json").json

    def status_of(self, name):
        return self.show(name)["status"]

    def wait(self, name, *statuses, timeout=DEADLINE):
        """Waits until the job has one of the statuses (any terminal one when none is named)."""
        wanted = set(statuses) or TERMINAL

        def look():
            job = self.get_job(name)
            status = job["properties"]["status"]
            assert status in wanted or status not in TERMINAL, f"{name} is {status}: {job}"
            return job if status in wanted else None

        return eventually(look, timeout, f"job {name} {wanted}")

    def get_job(self, name):
        response = self.get(f"/jobs/{name}")
        assert response.status == 200, response
        return response.json

    def log(self, name):
        """The whole log of a finished job, byte for byte."""
        folder = self.folder / f"download-{name}-{time.monotonic_ns()}"
        self.ok("job", "download", "--name", name, "--all", "--download-path", folder)
        return (folder / "artifacts/user_logs/std_log.txt").read_bytes()

    def live_log(self, name):
        """What the log holds now, fetched as run history tells every client to."""
        details = self.request("GET", f"/history/v1.0{WORKSPACE}/runs/{name}/details")
        assert details.status == 200, details
        url = details.json["logFiles"].get("user_logs/std_log.txt")
        if not url:
            return b""
        parts = urllib.parse.urlsplit(url)
        return self.request("GET", f"{parts.path}?{parts.query}", token=False).body

    # The server.

    def start_server(self, *words, env=None):
        """A server in front, as `berth server` runs it; returns when it answers."""
        words = words if "--port" in words else ("--port", "0", *words)
        log = open(self.folder / "server.log", "ab")
        process = self.popen("server", *words, env=env, stdout=log, stderr=log)
        eventually(lambda: self.is_up() or process.poll() is not None, what="the server")
        assert process.poll() is None, (self.folder / "server.log").read_text()
        return process

    def server_status(self):
        return self.ok("server", "status", "-o", "json").json

    def is_up(self):
        return self.run("server", "status", "-o", "json").code == 0

    def ensure_server(self):
        """Any command starts one."""
        self.ok("workspace", "list", "-o", "none")
        return self.server_status()

    def server_pid(self):
        return int(self.server_status()["pid"])

    def token(self):
        return (self.home / "owner.token").read_text().strip()

    def authority(self):
        """The CA certificate clients must trust."""
        return self.home / "ca.pem"

    def port(self):
        return int(self.server_status()["port"])

    # HTTP.

    @contextlib.contextmanager
    def connection(self, tls=False, timeout=DEADLINE):
        port = self.cached_port()
        if tls:
            context = ssl.create_default_context(cafile=self.authority())
            connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=timeout, context=context)
        else:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
        try:
            yield connection
        finally:
            connection.close()

    def cached_port(self):
        """The port, asked for once per server: the process that answered must still be there."""
        known = getattr(self, "_port", None)
        if not known or not is_alive(known[0]):
            status = self.ensure_server()
            self._port = known = (int(status["pid"]), int(status["port"]))
        return known[1]

    def request(self, method, path, body=None, headers=None, token=None, tls=False):
        """`path` from the root, sent as it is. token=False sends none."""
        sent = {}
        self.cached_port()  # there is a token once there is a server
        if token is not False:
            sent["Authorization"] = f"Bearer {token or self.token()}"
        if isinstance(body, (dict, list)):
            body, sent["Content-Type"] = json.dumps(body).encode(), "application/json"
        with self.connection(tls) as connection:
            connection.request(method, path, body, sent | (headers or {}))
            answer = connection.getresponse()
            return Response(answer.status, dict(answer.getheaders()), answer.read())

    def get(self, below, **more):
        return self.request("GET", f"{WORKSPACE}{below}?api-version=2024-10-01", **more)

    def put(self, below, body, **more):
        return self.request("PUT", f"{WORKSPACE}{below}?api-version=2024-10-01", body, **more)

    def post(self, below, body=None, **more):
        return self.request("POST", f"{WORKSPACE}{below}?api-version=2024-10-01", body or {}, **more)

    def host(self):
        """What belongs into the Host header."""
        return f"127.0.0.1:{self.cached_port()}"

    def raw(self, timeout=DEADLINE):
        """A bare TCP connection to the server."""
        return socket.create_connection(("127.0.0.1", self.cached_port()), timeout=timeout)

    def container(self, datastore="workspaceblobstore"):
        """The container's URL split into its path and its signature."""
        answer = self.get(f"/datastores/{datastore}")
        assert answer.status == 200, answer
        place = answer.json["properties"]
        secret = self.post(f"/datastores/{datastore}/listSecrets",
                           {"expirableSecret": True, "expireAfterHours": 1})
        assert secret.status == 200, secret
        # The account's name carries host, port and path: that is how official clients find us.
        account = urllib.parse.urlsplit(f"https://{place['accountName']}.blob.{place['endpoint']}")
        return f"{account.path.rstrip('/')}/{place['containerName']}", secret.json["sasToken"].lstrip("?")

    def blob(self, method, name, body=None, headers=None, query="", sas=None, container=None):
        place, signature = container or self.container()
        signature = signature if sas is None else sas
        words = "&".join(word for word in (query, signature) if word)
        return self.request(method, f"{place}/{name}?{words}", body, headers, token=False)

    # What is left.

    def processes(self):
        """Every process that belongs to this state directory: pid -> command line."""
        mark, found = str(self.home).encode(), {}
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                words = (folder / "cmdline").read_bytes()
                if not words:
                    continue
                about = words + (folder / "environ").read_bytes() + os.readlink(folder / "cwd").encode()
                if mark in about and int(folder.name) != os.getpid():
                    found[int(folder.name)] = words.replace(b"\0", b" ").decode(errors="replace")
        return found

    def node_pids(self):
        """The agents that are alive; not what they started."""
        pids = [json.loads(path.read_text())["pid"] for path in self.home.glob("nodes/*/identity.json")]
        return [pid for pid in pids if is_alive(pid)]

    def reports(self):
        """What the sanitizers and CHECK said of any process."""
        logs = [*self.home.rglob("*.log"), self.folder / "server.log", *self.folder.glob("sanitizer.*")]
        return [log.read_text(errors="replace")[-20000:] for log in logs
                if log.is_file() and SANITIZER_REPORT.search(log.read_text(errors="replace"))]

    def stop(self):
        """Stops the server, and with it its idle nodes; after a crash that takes a server to tell them."""
        if self.processes():
            if not self.is_up():
                self.run("workspace", "list", "-o", "none")
            with contextlib.suppress(AssertionError, OSError):
                eventually(self.has_heard_of_all, 10, "the nodes to attach again")
                eventually(self.has_nothing_at_work, 10, "the end of what the test did not wait for")
            self.run("server", "stop")

    def has_heard_of_all(self):
        """An agent that has an end to report waits for a server to take it, however long that is."""
        status = self.run("server", "status", "-o", "json")
        return status.code != 0 or all(node["status"] != "Detached" for node in status.json["nodes"])

    def has_nothing_at_work(self):
        jobs = self.get("/jobs")
        return jobs.status != 200 or all(job["properties"]["status"] in TERMINAL | {"Queued"}
                                         for job in jobs.json["value"])


def short(value):
    """The name of a test's parameter that may be a megabyte."""
    return repr(value)[:40]


def is_alive(pid):
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


def kill(pid, number=signal.SIGKILL):
    """By SIGKILL until the last thread of it is gone, and with it its locks: who kills a server may start the next."""
    with contextlib.suppress(ProcessLookupError):
        process = os.pidfd_open(pid)
        try:
            signal.pidfd_send_signal(process, number)
            if number == signal.SIGKILL:
                assert select.select([process], [], [], DEADLINE)[0], f"process {pid} does not end"
        finally:
            os.close(process)


def grew_too_much(before_kib, after_kib, limit_mib):
    """Memory of a sanitizer build says nothing about the program's."""
    return not SANITIZED and after_kib - before_kib > limit_mib * 1024


def memory_kib(pid, key="VmRSS"):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1])
    raise AssertionError(f"no {key} of {pid}")

# SPDX-License-Identifier: Apache-2.0
"""Clusters whose nodes are jobs of a real Slurm. They share no file with the server but the ones the tests
themselves look at."""

import concurrent.futures
import json
import pathlib
import signal
import ssl
import sys
import urllib.request

import pytest

from harness import DEADLINE, EXAMPLES, eventually, is_alive, kill

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "slurm"))
from slurm_cluster import SlurmCluster, free_ports, missing_programs  # noqa: E402

# Seconds. The short one is for what must happen when it lapses; where it must not, no load may make it.
LEASE, LONG_LEASE = 5, 120


@pytest.fixture(scope="module")
def slurm():
    if missing_programs():
        pytest.skip(f"no Slurm: {missing_programs()}")
    with SlurmCluster() as cluster:
        yield cluster


@pytest.fixture
def lab(berth, slurm):
    """A server at a port of its own, as nodes that outlive it need, and a site that is the Slurm."""
    lab = Lab(berth, slurm)
    lab.start()
    yield lab
    lab.end()


@pytest.fixture
def hasty_lab(berth, slurm):
    """Whose nodes hold short leases."""
    lab = Lab(berth, slurm, LEASE)
    lab.start()
    yield lab
    lab.end()


class Lab:
    def __init__(self, berth, slurm, lease=LONG_LEASE):
        self.berth, self.slurm, self.lease = berth, slurm, lease
        self.port = free_ports(1)[0]
        self.work = berth.folder / "work"

    def start(self):
        self.server = self.berth.start_server("--port", str(self.port), "--lease", str(self.lease))

    def stop_server(self, how):
        """In good order: by the command, or as a service manager does it."""
        if how == "command":
            self.berth.ok("server", "stop")
        else:
            self.server.terminate()
        assert self.server.wait(DEADLINE) == 0

    def kill_server(self):
        kill(self.server.pid)
        self.server.wait()

    def add_site(self, *words, name="lab"):
        return self.berth.ok("site", "add", name, "--provider", "slurm", "--partition", "main", "--config",
                             self.slurm.config, "--work-directory", self.work, "-o", "json", *words).json

    def make_cluster(self, *words, most=2, location="lab"):
        self.berth.ok("compute", "create", "-n", "pool", "-t", "amlcompute", "--size", "Standard_DS2_v2",
                      "-l", location, "--max-instances", most, "--idle-time-before-scale-down", 1, "-o", "none",
                      *words)

    def nodes(self):
        return self.berth.ok("compute", "list-nodes", "-n", "pool", "-o", "json").json

    def statuses(self):
        """Of its nodes, as the server sees them."""
        return [node["status"] for node in self.berth.server_status()["nodes"] if node["target"] != "local"]

    def jobs(self):
        """Slurm's jobs that are nodes of this server."""
        mark = (self.berth.home / "installation.id").read_text().strip()
        return [job for job in self.slurm.jobs() if job[2].startswith(f"berth:{mark}:")]

    def ticking(self, name, **keys):
        """A job that writes down when it lives, and by which attempt, until its gate is there."""
        marks, gate = self.berth.folder / f"{name}.marks", self.berth.folder / f"{name}.gate"
        command = (f"until [ -e {gate} ]; do read up idle < /proc/uptime; echo $$ $up >> {marks}; sleep 0.05; done; "
                   "echo over")
        self.berth.submit(command, name, compute="azureml:pool", **keys)
        return marks, gate

    def wait_until_empty(self):
        eventually(lambda: not self.nodes(), what="no nodes")
        eventually(lambda: not self.jobs(), what="an empty queue")
        eventually(lambda: not list(self.work.glob("*")), what="clean machines")

    def end(self):
        for job, *_ in self.jobs():
            self.slurm.run("scancel", job)
        eventually(lambda: not self.jobs(), what="an empty queue")


def ticks_of(marks):
    """[(pid, seconds since the machine started)]; a line may be half written."""
    if not marks.exists():
        return []
    lines = marks.read_text().splitlines(keepends=True)
    return [(int(line.split()[0]), float(line.split()[1])) for line in lines if line.endswith("\n")]


def pids_of(marks):
    return list(dict.fromkeys(pid for pid, _ in ticks_of(marks)))


def wait_for_process(marks, number):
    """The pid of the number-th process that wrote there."""
    eventually(lambda: len(pids_of(marks)) >= number, what=f"{marks.name} of process {number}")
    return pids_of(marks)[number - 1]


def check_no_overlap(marks):
    times = {}
    for pid, at in ticks_of(marks):
        times.setdefault(pid, []).append(at)
    spans = [(min(each), max(each)) for each in times.values()]
    for (_, end), (begin, _) in zip(spans, spans[1:]):
        assert end < begin, f"two attempts at once: {spans}"


def test_the_demo_job_runs_unchanged_and_the_queue_is_empty_afterwards(lab):
    lab.add_site()
    lab.make_cluster()
    assert lab.nodes() == [] and lab.jobs() == []

    lab.berth.ok("job", "create", "-f", EXAMPLES / "train/job.yml", "--name", "train", "--set",
                 "compute=azureml:pool", "--stream", "-o", "none")

    assert lab.berth.get_job("train")["properties"]["status"] == "Completed"
    folder = lab.berth.folder / "got"
    lab.berth.ok("job", "download", "--name", "train", "--all", "--download-path", folder)
    assert [file for file in (folder / "named-outputs/model").rglob("*") if file.is_file()]
    lab.wait_until_empty()


def test_a_job_of_another_machine_tracks_over_https(lab):
    """With what is in its environment, and the authority that only its node knows a file of."""
    lab.add_site()
    lab.make_cluster()
    ask = ('curl -sSf --cacert "$MLFLOW_TRACKING_SERVER_CERT_PATH" -H "Authorization: Bearer $MLFLOW_TRACKING_TOKEN" '
           '"$MLFLOW_TRACKING_URI/api/2.0/mlflow/runs/')
    lab.berth.submit(f"""{ask}log-metric" --json '{{"run_id": "far", "key": "m", "value": 0.5, "timestamp": 1}}' && """
                     f'{ask}get?run_id=$MLFLOW_RUN_ID" > outputs/run.json', "far", compute="azureml:pool")
    assert lab.berth.wait("far")["properties"]["status"] == "Completed", lab.berth.log("far")
    lab.berth.ok("job", "download", "--name", "far", "--all", "--download-path", lab.berth.folder / "got")
    run = json.loads((lab.berth.folder / "got/artifacts/outputs/run.json").read_text())["run"]
    assert run["info"]["run_id"] == "far" and run["data"]["metrics"][0]["value"] == 0.5
    lab.wait_until_empty()


def test_nodes_come_for_the_work_there_is_and_go(lab):
    lab.add_site()
    lab.make_cluster(most=2)

    gates = [lab.ticking(f"j{number}") for number in range(2)]
    for marks, _ in gates:
        wait_for_process(marks, 1)

    assert sorted(state for _, state, _ in lab.jobs()) == ["RUNNING", "RUNNING"]
    for _, gate in gates:
        gate.touch()
    for number in range(2):
        assert lab.berth.wait(f"j{number}")["properties"]["status"] == "Completed"
    lab.wait_until_empty()


def test_work_goes_on_through_restarts_of_berth_and_of_slurmctld(lab):
    lab.add_site()
    lab.make_cluster()
    marks, gate = lab.ticking("job")
    pid = wait_for_process(marks, 1)

    lab.kill_server()
    lab.start()
    lab.slurm.stop_controller(signal.SIGKILL)
    lab.berth.server_status()  # It lives without a Slurm that answers.
    lab.slurm.start_controller()
    lab.stop_server("command")
    lab.start()
    gate.touch()

    assert lab.berth.wait("job")["properties"]["status"] == "Completed"
    assert pids_of(marks) == [pid]
    lab.wait_until_empty()


def test_a_server_that_is_stopped_in_good_order_finds_its_work_untouched_long_after_the_lease(hasty_lab):
    """As for every upgrade. The job itself says how long it has lived without a server."""
    lab = hasty_lab
    lab.add_site()
    lab.make_cluster()
    marks, gate = lab.ticking("job")
    pid = wait_for_process(marks, 1)

    for how in ("command", "signal"):
        lab.stop_server(how)
        stopped_at = ticks_of(marks)[-1][1]
        eventually(lambda: ticks_of(marks)[-1][1] > stopped_at + LEASE + 2 or not is_alive(pid),
                   what="work without a server")
        assert is_alive(pid), f"ended {ticks_of(marks)[-1][1] - stopped_at} s after the server"
        lab.start()
        eventually(lambda: "Ready" in lab.statuses(), what="its node")
    gate.touch()

    job = lab.berth.wait("job")["properties"]
    assert job["status"] == "Completed" and job["attempt"] == 1
    assert pids_of(marks) == [pid]
    lab.wait_until_empty()


def test_work_whose_server_is_away_for_longer_than_the_lease_is_stopped_and_runs_again(hasty_lab):
    lab = hasty_lab
    lab.add_site()
    lab.make_cluster()
    marks, gate = lab.ticking("job")
    pid = wait_for_process(marks, 1)

    lab.kill_server()
    eventually(lambda: not is_alive(pid), what="the end of work without a server")
    lab.start()
    wait_for_process(marks, 2)
    gate.touch()

    assert lab.berth.wait("job")["properties"]["status"] == "Completed"
    check_no_overlap(marks)
    assert len(pids_of(marks)) == 2
    lab.wait_until_empty()


def test_a_node_that_somebody_cancels_is_replaced_and_its_job_runs_again(lab):
    lab.add_site()
    lab.make_cluster()
    marks, gate = lab.ticking("job")
    wait_for_process(marks, 1)

    (job, _, _), = lab.jobs()
    lab.slurm.run("scancel", job, check=True)
    wait_for_process(marks, 2)
    gate.touch()

    ended = lab.berth.wait("job")["properties"]
    assert ended["status"] == "Completed"
    assert ended["attempt"] == 2, "the node that was going away was given the job again"
    check_no_overlap(marks)
    assert len(pids_of(marks)) == 2
    lab.wait_until_empty()


def test_a_job_that_outlasts_its_nodes_time_is_queued_again(lab):
    lab.add_site("--time-limit", "1")
    lab.make_cluster()
    marks, gate = lab.ticking("job")
    wait_for_process(marks, 1)

    eventually(lambda: len(pids_of(marks)) >= 2, timeout=2 * DEADLINE, what="a second node")
    gate.touch()

    assert lab.berth.wait("job")["properties"]["status"] == "Completed"
    check_no_overlap(marks)
    lab.wait_until_empty()


@pytest.mark.parametrize("words, said", [
    (["--option", "wrap=id"], "'--wrap'"),
    (["--option", "arr=1-9"], "'--arr'"),
    (["--partition", "-x"], "partition"),
    (["--account", "a\nb"], "account"),
    (["--work-directory", "relative"], "work_directory"),
])
def test_settings_that_would_smuggle_something_are_refused(lab, words, said):
    refused = lab.berth.fails("site", "add", "lab", "--provider", "slurm", *words)
    assert said in refused.err, refused
    assert lab.berth.run("site", "show", "lab").code == 3


def test_a_site_that_refuses_says_so_where_people_look(lab):
    lab.add_site("--partition", "nowhere")
    lab.make_cluster()
    lab.berth.submit("true", "job", compute="azureml:pool")

    eventually(lambda: "nowhere" in lab.berth.ok("job", "explain", "--name", "job").out, what="Slurm's own words")
    lab.berth.ok("job", "cancel", "--name", "job")


def test_a_site_without_sbatch_says_what_is_missing(lab):
    lab.add_site("--bin-directory", str(lab.berth.folder))
    lab.make_cluster()
    lab.berth.submit("true", "job", compute="azureml:pool")

    eventually(lambda: "squeue" in lab.berth.ok("job", "explain", "--name", "job").out, what="the missing command")
    lab.berth.ok("job", "cancel", "--name", "job")


def test_a_server_that_is_bound_elsewhere_has_a_certificate_for_that(berth):
    berth.start_server("--bind", "127.0.0.2")
    context = ssl.create_default_context(cafile=berth.authority())
    url = f"https://127.0.0.2:{berth.port()}/berth/v1/sites"
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {berth.token()}"})
    with urllib.request.build_opener(urllib.request.ProxyHandler({}),
                                     urllib.request.HTTPSHandler(context=context)).open(request) as answer:
        assert answer.status == 200


def test_the_stranger_that_a_remote_node_meets_gets_no_token(berth):
    """A node dials its server by TLS only, and says what is wrong with an address that is not."""
    refused = berth.fails("node", "--name", "n1", "--server", "http://127.0.0.1:1", "--ca", "/dev/null",
                          "--token-file", "/dev/null", code=2)
    assert "https://host:port" in refused.err


def test_a_job_finds_what_slurm_set_and_nothing_of_who_started_the_server(berth, slurm):
    berth.environment |= {"HF_TOKEN": "hf_stray0123456789", "VIRTUAL_ENV": "/stray/venv", "STRAY": "stray",
                          "PATH": f"/stray/venv/bin:{berth.environment['PATH']}"}
    lab = Lab(berth, slurm)
    lab.start()
    lab.add_site("--job-env", "SITE=set")
    lab.make_cluster(most=1)
    value = berth.folder / "value"
    value.write_text("s3cret-of-a-slurm-job")
    berth.ok("secret", "set", "KNOWN", "--from-file", value)
    value.unlink()

    berth.submit("env -0 -u KNOWN; printf 'SIZE=%s\\0' ${#KNOWN}; printf ON_DISK=; grep -rl \"$KNOWN\" " + str(lab.work),
                 "j", compute="azureml:pool", properties={"berth.secrets": "KNOWN"})
    berth.wait("j", "Failed")  # grep found nothing.

    found = dict(entry.split("=", 1) for entry in berth.log("j").decode().split("\0") if "=" in entry)
    assert not [name for name, text in found.items() if "stray" in text], found
    assert found["SLURM_JOB_ID"] and found["SITE"] == "set"
    assert (found["SIZE"], found["ON_DISK"]) == ("21", "")
    lab.end()


def test_a_service_of_another_machine_is_reached_through_what_its_node_has_parked(lab):
    from service_test import Service
    lab.add_site()
    lab.make_cluster()
    service = Service(lab.berth)
    service.create(compute="pool")
    service.wait()
    pid = service.pid()
    assert is_alive(pid)

    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        assert set(pool.map(lambda _: service.pid(), range(100))) == {pid}

    lab.kill_server()
    lab.start()
    assert eventually(service.pid, what="the service") == pid, "the node has dialled the next server"
    kill(pid)
    second = eventually(lambda: (service.pid() or pid) != pid and service.pid(), what="another process")
    assert is_alive(second)
    service.stop()
    assert not is_alive(second)
    lab.wait_until_empty()

# SPDX-License-Identifier: Apache-2.0
"""Servers that start at once, and one that starts with a long queue or with a backup."""

import concurrent.futures
import http.client
import json
import os
import shutil

from harness import DEADLINE, WORKSPACE, eventually, is_alive, kill

RACES = int(os.environ.get("BERTH_TEST_SERVER_RACES", "10"))
QUEUED = int(os.environ.get("BERTH_TEST_QUEUED", "2000"))
RUN = 30  # Of those, in the order in which they are seen to run.


def submit_all(berth, jobs, clients=8):
    """jobs: [(name, properties)], each client a connection of its own."""
    port, token = berth.cached_port(), berth.token()

    def submit(share):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=DEADLINE)
        for name, properties in share:
            connection.request("PUT", f"{WORKSPACE}/jobs/{name}?api-version=2024-10-01",
                               json.dumps({"properties": {"jobType": "Command", "environmentId": "azureml:x:1",
                                                          **properties}}),
                               {"Authorization": f"Bearer {token}", "Content-Type": "application/json"})
            answer = connection.getresponse()
            answer.read()
            assert answer.status == 201, (name, answer.status)
        connection.close()

    with concurrent.futures.ThreadPoolExecutor(clients) as pool:
        list(pool.map(submit, [jobs[number::clients] for number in range(clients)]))


def test_queued_jobs_are_all_there_after_a_crash_and_run_in_order(berth):
    server = berth.start_server("--slots", "1")
    gate, order = berth.folder / "gate", berth.folder / "order"
    # The bulk waits for a cluster whose node is taken; those that run are few, and one after the other.
    berth.ok("compute", "create", "-n", "busy", "-t", "amlcompute", "--max-instances", 1, "-o", "none")
    for name, compute in (("first", "local"), ("taken", "azureml:busy")):
        berth.submit(f"until [ -e {gate}-{name} ]; do sleep 0.05; done", name, compute=compute)
        berth.wait(name, "Running")
    submit_all(berth, [(f"q{number}", {"command": "true", "computeId": "busy"}) for number in range(QUEUED - RUN)])
    names = [(f"r{number}", 1 + number % 3) for number in range(RUN)]
    submit_all(berth, [(name, {"command": f"echo {name} >> {order}", "computeId": "local",
                               "queueSettings": {"priority": priority}}) for name, priority in names], clients=1)

    kill(server.pid)
    server.wait()
    berth.start_server("--slots", "1")

    jobs = berth.server_status()["jobs"]
    assert jobs == {"queued": QUEUED, "running": 2}
    (berth.folder / "gate-first").touch()
    for name, _ in names:
        berth.wait(name, "Completed")
    expected = [name for name, _ in sorted(names, key=lambda each: -each[1])]
    assert order.read_text().split() == expected
    berth.ok("compute", "delete", "-n", "busy", "-y")
    berth.wait(f"q{QUEUED - RUN - 1}", "Canceled")


def test_of_servers_that_start_at_once_on_one_directory_exactly_one_serves(berth):
    for _ in range(RACES):
        contestants = [berth.popen("server", "--port", "0") for _ in range(6)]
        eventually(lambda: sum(each.poll() is None for each in contestants) == 1 and berth.is_up(),
                   what="one server that is left")
        winner, = [each for each in contestants if each.poll() is None]
        assert berth.server_pid() == winner.pid
        for each in contestants:
            if each is not winner:
                assert each.returncode == 1 and b"already runs on" in each.stderr.read()
        winner.kill()  # The next race begins with a lock and an address that nobody holds any more.
        winner.communicate()


def test_a_restored_backup_runs_nothing_twice_at_once_and_names_stay_unique(berth):
    """The directory goes back to before 'late' was submitted and to before 'running' had begun."""
    berth.start_server("--slots", "1")
    gates, marks = berth.folder / "gates", berth.folder / "marks"
    gates.mkdir()
    counting = (f"n=0; until [ -e {gates}/$AZUREML_RUN_ID ]; do read up idle < /proc/uptime; "
                f"echo $AZUREML_RUN_ID $$ $up >> {marks}; sleep 0.02; done")
    berth.submit(counting, "blocker")
    berth.wait("blocker", "Running")
    berth.submit(counting, "running")
    kill(berth.server_pid())
    eventually(lambda: not berth.is_up())
    shutil.copytree(berth.home, berth.folder / "backup", ignore=shutil.ignore_patterns("nodes", "server.json", "lock"))

    berth.start_server("--slots", "1")
    (gates / "blocker").touch()
    berth.wait("blocker", "Completed")
    eventually(lambda: "running" in marks.read_text(), what="the job to begin")
    berth.submit("true", "late")
    kill(berth.server_pid())
    eventually(lambda: not berth.is_up())
    for name in ("berth.db", "berth.db-wal", "berth.db-shm"):
        (berth.home / name).unlink(missing_ok=True)
        if (berth.folder / "backup" / name).exists():
            shutil.copy(berth.folder / "backup" / name, berth.home / name)
    berth.start_server("--slots", "1")

    assert berth.get("/jobs/late").status == 404  # A backup is as old as it is.
    (gates / "running").touch()
    berth.wait("blocker")
    berth.wait("running")
    berth.submit("true", "late")
    berth.wait("late", "Completed")
    check_one_at_a_time(marks)


def check_one_at_a_time(marks):
    """No two processes of one job lived at the same time."""
    spans = {}
    for line in marks.read_text().splitlines():
        name, pid, at = line.split()
        first, _ = spans.setdefault((name, pid), (float(at), 0.0))
        spans[name, pid] = (first, float(at))
    for name in {name for name, _ in spans}:
        times = sorted(span for (job, _), span in spans.items() if job == name)
        for (_, end), (begin, _) in zip(times, times[1:]):
            assert end < begin, f"{name} ran twice at once: {times}"
    for _, pid in spans:
        assert not is_alive(int(pid))

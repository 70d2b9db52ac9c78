# SPDX-License-Identifier: Apache-2.0
"""Syncs that fail or take for ever, a log that is cut, a database that is damaged."""

import concurrent.futures
import http.client
import json
import os
import random
import shutil
import threading

import pytest

from faults import Faults
from harness import DEADLINE, WORKSPACE, Berth, eventually, kill

ROUNDS = int(os.environ.get("BERTH_TEST_SYNC_ROUNDS", "8"))
# More than the server lets wait for its disk at once (kMostInFlight of the ledger).
CROWD = 550


def body(command="true"):
    return {"properties": {"jobType": "Command", "command": command, "environmentId": "azureml:x:1"}}


def put(berth, name, command="true"):
    """The status of an attempt to submit; None when the server went away before it answered. Starts none."""
    connection = http.client.HTTPConnection("127.0.0.1", berth.known_port, timeout=DEADLINE)
    try:
        connection.request("PUT", f"{WORKSPACE}/jobs/{name}?api-version=2024-10-01", json.dumps(body(command)),
                           {"Authorization": f"Bearer {berth.token()}", "Content-Type": "application/json"})
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


@pytest.fixture
def faults(tmp_path):
    return Faults(tmp_path)


def start(berth, faults):
    process = berth.start_server(env=faults.environment)
    berth.known_port = berth.port()
    return process


# ---- A sync that fails ---------------------------------------------------------------------------


def submit_until_it_ends(berth, process, acknowledged, prefix):
    number = 0
    while process.poll() is None:
        assert number < 5000, "it goes on, though its syncs fail"
        name = f"{prefix}-{number}"
        status = put(berth, name)
        assert status in (200, 201, 503, None), status
        if status in (200, 201):
            acknowledged.append(name)
        number += 1


def test_a_failed_sync_ends_the_server_and_nothing_acknowledged_is_lost(berth, faults):
    acknowledged = []
    for round in range(1, ROUNDS + 1):
        faults.fail_sync = 0
        process = start(berth, faults)
        faults.fail_sync = faults.syncs + round * round  # sooner and later
        submit_until_it_ends(berth, process, acknowledged, f"r{round}")
        assert process.wait() == 1
        log = (berth.folder / "server.log").read_text()
        assert log.count("the disk cannot be trusted") == round, log[-3000:]
    assert acknowledged

    faults.fail_sync = 0
    start(berth, faults)

    for name in acknowledged:
        berth.wait(name, "Completed")


def test_work_goes_on_under_a_server_whose_disk_fails_and_is_reported_to_the_next(berth, faults):
    process = start(berth, faults)
    gate = berth.folder / "gate"
    assert put(berth, "running", f"echo before; until [ -e {gate} ]; do sleep 0.05; done; echo after; exit 5") == 201
    eventually(lambda: berth.live_log("running") == b"before\n", what="the command to have begun")
    faults.fail_sync = faults.syncs + 1
    submit_until_it_ends(berth, process, [], "x")
    gate.touch()

    faults.fail_sync = 0
    start(berth, faults)

    assert "5" in berth.wait("running", "Failed")["properties"]["error"]["message"]
    assert berth.log("running") == b"before\nafter\n"


@pytest.mark.parametrize("number", [1, 2, 4, 8])
def test_a_server_that_cannot_sync_does_not_start_and_the_next_one_does(berth, faults, number):
    faults.fail_sync = number
    outcome = berth.run("server", "--port", "0", env=faults.environment)

    assert outcome.code == 1, outcome
    assert "Input/output error" in outcome.err or "disk I/O error" in outcome.err, outcome
    faults.fail_sync = 0
    start(berth, faults)
    assert put(berth, "later") == 201
    berth.wait("later", "Completed")


# ---- A sync that does not come back --------------------------------------------------------------


def test_a_disk_that_hangs_holds_up_changes_and_not_reads(berth, faults):
    start(berth, faults)
    assert put(berth, "before") == 201
    berth.wait("before", "Completed")
    faults.hold_syncs = 1
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(put, berth, "meanwhile")
        eventually(lambda: faults.held, what="a sync that hangs")

        assert berth.get_job("before")["properties"]["status"] == "Completed"
        assert [job["name"] for job in berth.get("/jobs").json["value"]] == ["before"]
        assert berth.get("/jobs/meanwhile").status == 404  # It may still come to nothing.
        assert berth.request("GET", "/health", token=False).status == 200
        assert "before" in berth.ok("job", "list").out
        assert not waiting.done()

        faults.hold_syncs = 0
        assert waiting.result() == 201
    berth.wait("meanwhile", "Completed")


def test_a_crowd_that_waits_for_a_hanging_disk_is_bounded_and_told_to_come_again(berth, faults):
    start(berth, faults)
    assert put(berth, "before") == 201
    berth.wait("before", "Completed")
    faults.hold_syncs = 1
    refused, accepted = [], []
    told = threading.Event()

    def submit(name):
        answer = berth.put(f"/jobs/{name}", body())
        if answer.status == 503:
            assert int(answer.headers["Retry-After"]) >= 1
            refused.append(name)
            told.set()
        else:
            assert answer.status == 201, answer
            accepted.append(name)

    with concurrent.futures.ThreadPoolExecutor(2 * CROWD) as pool:
        crowd = [pool.submit(submit, f"c{number}") for number in range(CROWD)]
        # Nobody is turned away for a burst; only when the disk has not moved for a while.
        for number in range(CROWD, 2 * CROWD):
            if told.wait(0.1):
                break
            crowd.append(pool.submit(submit, f"c{number}"))
        assert told.is_set(), "nobody was told to come again"
        assert berth.get_job("before")["properties"]["status"] == "Completed"
        faults.hold_syncs = 0
        for each in crowd:
            each.result()

    assert len(accepted) >= CROWD - 100
    for name in refused:
        assert berth.get(f"/jobs/{name}").status == 404
    for name in accepted:
        assert berth.get(f"/jobs/{name}").status == 200
    for name in accepted[:3]:
        berth.wait(name, "Completed")
    for name in accepted[3:]:
        assert berth.post(f"/jobs/{name}/cancel").status in (200, 202)
    eventually(lambda: not any(berth.server_status()["jobs"].values()), what="the end of them all")


# ---- A disk that becomes read-only ---------------------------------------------------------------


def test_a_disk_that_becomes_read_only_refuses_changes_until_it_is_not(berth, faults):
    process = start(berth, faults)
    gate = berth.folder / "gate"
    assert put(berth, "running", f"until [ -e {gate} ]; do sleep 0.05; done; exit 5") == 201
    berth.wait("running", "Running")
    faults.read_only = 1

    assert [put(berth, f"refused{number}") for number in range(3)] == [503, 503, 503]
    assert berth.get_job("running")["properties"]["status"] == "Running"
    gate.touch()
    faults.read_only = 0

    eventually(lambda: put(berth, "later") == 201, what="the server to accept jobs again")
    berth.wait("later", "Completed")
    assert "5" in berth.wait("running", "Failed")["properties"]["error"]["message"]
    assert process.poll() is None
    for number in range(3):
        assert berth.get(f"/jobs/refused{number}").status == 404


# ---- Damage --------------------------------------------------------------------------------------


def jobs_of(berth):
    return {job["name"] for job in berth.get("/jobs").json["value"]}


def test_a_cut_log_loses_only_what_was_behind_the_cut_and_the_server_starts(berth, tmp_path):
    """Each copy of the state directory has its log cut at another place, as a lost tail would."""
    process = berth.start_server("--slots", "1")
    berth.known_port = berth.port()
    names = [f"a{number}" for number in range(12)]
    berth.put("/jobs/first", body("sleep 600"))
    for name in names:
        assert put(berth, name) == 201
    kill(process.pid)
    process.wait()
    size = (berth.home / "berth.db-wal").stat().st_size
    assert size > 0

    seen = []
    for cut in [0, 20, size - 1, size, *random.Random(7).sample(range(size), 2)]:
        copy = Berth(tmp_path / f"copy{cut}", tmp_path / f"folder{cut}")
        copy.folder.mkdir()
        shutil.copytree(berth.home, copy.home, ignore=shutil.ignore_patterns("nodes", "server.json"))
        os.truncate(copy.home / "berth.db-wal", cut)
        server = copy.start_server()
        there = jobs_of(copy) - {"first"}
        assert there == set(names[:len(there)]), "not a beginning of what was acknowledged"
        seen.append((cut, len(there)))
        kill(server.pid)
        server.wait()
        copy.stop()
    assert [count for _, count in sorted(seen)] == sorted(count for _, count in seen)
    assert dict(seen)[size] == len(names)
    berth.ensure_server()
    for name in ["first", *names]:
        berth.ok("job", "cancel", "--name", name)
        berth.wait(name, "Canceled", "Completed")


def test_a_damaged_database_is_refused_with_words_that_help_and_is_left_as_it_is(berth):
    berth.ok("run", "--", "echo", "hi")
    berth.ok("server", "stop")
    path = berth.home / "berth.db"
    damaged = bytearray(path.read_bytes())
    damaged[4096:] = os.urandom(len(damaged) - 4096)
    path.write_bytes(damaged)

    outcome = berth.run("server", "--port", "0")

    assert outcome.code == 1, outcome
    for word in (str(path), "damaged", "backup", ".recover"):
        assert word in outcome.err, outcome
    assert path.read_bytes() == damaged
    refused = berth.fails("job", "list")  # The command line starts no server on it either.
    assert "damaged" in refused.err, refused

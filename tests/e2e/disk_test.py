# SPDX-License-Identifier: Apache-2.0
"""A full disk: nothing is acknowledged that is not on it, running work survives, room brings it back."""

import contextlib
import os
import sqlite3
import subprocess

import pytest

from harness import LEAVE_DEADLINE, Berth, eventually, kill

CYCLES = int(os.environ.get("BERTH_TEST_DISK_CYCLES", "4"))
BODY = {"properties": {"jobType": "Command", "command": "true", "environmentId": "azureml:x:1"}}


@pytest.fixture
def small(tmp_path):
    """A state directory on a file system of its own, of 24 MiB."""
    if os.geteuid() != 0:
        pytest.skip("mounting a tmpfs needs root")
    home, folder = tmp_path / "home", tmp_path / "here"
    home.mkdir(mode=0o700)
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m,mode=700", "tmpfs", home], capture_output=True)
    if mounted.returncode:
        pytest.skip(f"cannot mount a tmpfs here: {mounted.stderr.decode()}")
    berth = Berth(home, folder)
    yield berth
    berth.stop()
    try:
        eventually(lambda: not berth.processes(), LEAVE_DEADLINE, "the end of every process of this home")
    finally:
        for pid in berth.processes():
            kill(pid)
        subprocess.run(["umount", "-l", home], check=True)


def fill(berth):
    """Takes all the room there is."""
    with open(berth.home / "filler", "wb", buffering=0) as filler:
        for size in (1 << 20, 1 << 12, 1):
            try:
                while True:
                    filler.write(b"x" * size)
            except OSError:
                pass


def make_room(berth):
    (berth.home / "filler").unlink()


def put(berth, name):
    """The status of an attempt to submit; None when the server did not answer."""
    try:
        return berth.put(f"/jobs/{name}", BODY).status
    except OSError:
        return None


def test_no_job_is_acknowledged_that_is_not_on_disk_and_it_recovers(small):
    small.ensure_server()
    gate, pid = small.folder / "gate", small.server_pid()
    small.submit(f"echo before; until [ -e {gate} ]; do sleep 0.05; done; echo after; exit 5", "running")
    small.wait("running", "Running")
    acknowledged = [f"a{number}" for number in range(3) if put(small, f"a{number}") in (200, 201)]
    assert len(acknowledged) == 3
    for name in acknowledged:
        small.wait(name, "Completed")
    fill(small)

    refused = []
    for number in range(40):
        status = put(small, f"b{number}")
        (acknowledged if status in (200, 201) else refused).append(f"b{number}")
        assert status in (200, 201, 503, 507), status
    assert refused, "the disk was never full"
    assert small.get("/jobs/running").json["properties"]["status"] == "Running"
    make_room(small)

    eventually(lambda: put(small, "later") in (200, 201), what="the server to accept jobs again")
    assert small.server_pid() == pid
    small.wait("later", "Completed")
    for name in acknowledged:  # one that was to start on a full disk may fail, but is not lost
        small.wait(name)
    gate.touch()
    job = small.wait("running", "Failed")
    assert "5" in job["properties"]["error"]["message"]
    assert small.log("running") == b"before\nafter\n"


def test_a_job_that_ends_while_the_disk_is_full_is_recorded_when_there_is_room(small):
    small.ensure_server()
    gate = small.folder / "gate"
    small.submit(f"echo before; until [ -e {gate} ]; do sleep 0.05; done; exit 6", "j")
    eventually(lambda: small.live_log("j") == b"before\n", what="the command to have begun")
    fill(small)
    gate.touch()
    put(small, "notice")
    make_room(small)

    job = small.wait("j", "Failed")

    assert "6" in job["properties"]["error"]["message"]
    assert small.log("j") == b"before\n"


def test_an_upload_that_does_not_fit_is_507_and_leaves_nothing(small):
    small.ensure_server()
    free = os.statvfs(small.home).f_bavail * os.statvfs(small.home).f_frsize

    answer = small.blob("PUT", "big", b"x" * (30 << 20), {"x-ms-blob-type": "BlockBlob"})

    assert answer.status in (507, 503), answer
    assert small.blob("HEAD", "big").status == 404
    eventually(lambda: os.statvfs(small.home).f_bavail * os.statvfs(small.home).f_frsize > free - (2 << 20),
               what="the room to come back")
    assert small.blob("PUT", "fits", b"x" * 1000, {"x-ms-blob-type": "BlockBlob"}).status == 201


def test_a_log_that_does_not_fit_does_not_stop_the_server(small):
    small.ensure_server()
    small.submit("yes 0123456789 | head -c 60000000", "flood")

    eventually(lambda: os.statvfs(small.home).f_bavail < 256, what="the disk to be full")
    assert small.get("/jobs/flood").status == 200
    subprocess.run(["mount", "-o", "remount,size=256m", small.home], check=True)

    small.wait("flood", "Completed", "Failed")
    assert len(small.log("flood")) > 1_000_000
    assert small.ok("run", "--", "echo", "hi").out == "hi\n"


def test_a_server_killed_on_a_full_disk_starts_again_when_there_is_room(small):
    small.ensure_server()
    names = [f"a{number}" for number in range(5)]
    assert {put(small, name) for name in names} <= {200, 201}
    for name in names:
        small.wait(name, "Completed")
    fill(small)
    put(small, "refused")
    kill(small.server_pid())
    make_room(small)

    small.ensure_server()

    for name in names:
        assert small.get_job(name)["properties"]["status"] == "Completed"


def test_full_and_empty_again_many_times_over(small):
    """Each time it stops acknowledging, keeps running what runs, and takes up again by itself."""
    small.ensure_server()
    gate, pid = small.folder / "gate", small.server_pid()
    small.submit(f"until [ -e {gate} ]; do sleep 0.05; done; exit 5", "running")
    small.wait("running", "Running")
    acknowledged = []
    for cycle in range(CYCLES):
        fill(small)
        number = 0
        while (status := put(small, name := f"c{cycle}-{number}")) in (200, 201):
            acknowledged.append(name)
            number += 1
        assert status in (503, 507), status
        assert small.get("/jobs/running").json["properties"]["status"] == "Running"
        make_room(small)
        eventually(lambda: put(small, f"after{cycle}") in (200, 201), what="the server to accept jobs again")
        acknowledged.append(f"after{cycle}")

    for name in acknowledged:
        small.wait(name)
    gate.touch()
    assert "5" in small.wait("running", "Failed")["properties"]["error"]["message"]
    assert small.server_pid() == pid
    with contextlib.closing(sqlite3.connect(small.home / "berth.db")) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@pytest.fixture
def small_logs(tmp_path):
    """Only the logs of running jobs lie on a small file system."""
    if os.geteuid() != 0:
        pytest.skip("mounting a tmpfs needs root")
    home, folder = tmp_path / "home", tmp_path / "here"
    (home / "live").mkdir(parents=True, mode=0o700)
    home.chmod(0o700)
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", home / "live"], check=True)
    berth = Berth(home, folder)
    yield berth
    berth.stop()
    try:
        eventually(lambda: not berth.processes(), LEAVE_DEADLINE, "the end of every process of this home")
    finally:
        for pid in berth.processes():
            kill(pid)
        subprocess.run(["umount", "-l", home / "live"], check=True)


def test_a_full_disk_for_logs_holds_up_the_log_and_nothing_else(small_logs):
    berth = small_logs
    berth.ensure_server()
    berth.submit("yes 0123456789 | head -c 5000000", "flood")
    eventually(lambda: os.statvfs(berth.home / "live").f_bavail == 0, what="the disk to be full")

    for number in range(3):
        assert put(berth, f"silent{number}") == 201
        berth.wait(f"silent{number}", "Completed")
    assert berth.status_of("flood") not in ("Failed", "Canceled")
    subprocess.run(["mount", "-o", "remount,size=64m", berth.home / "live"], check=True)

    berth.wait("flood", "Completed")
    assert berth.log("flood") == (b"0123456789\n" * 500000)[:5000000]

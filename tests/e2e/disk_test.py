# SPDX-License-Identifier: Apache-2.0
"""A full disk: nothing is acknowledged that is not on it, running work survives, room brings it back."""

import contextlib
import os
import sqlite3
import subprocess

import pytest

from harness import LEAVE_DEADLINE, Berth, eventually, is_alive, kill

CYCLES = int(os.environ.get("BERTH_TEST_DISK_CYCLES", "4"))
BODY = {"properties": {"jobType": "Command", "command": "true", "environmentId": "azureml:x:1"}}


@contextlib.contextmanager
def berth_with_small(tmp_path, below, size):
    """A state directory of which one part lies on a small file system of its own."""
    if os.geteuid() != 0:
        pytest.skip("mounting a tmpfs needs root")
    home, folder = tmp_path / "home", tmp_path / "here"
    disk = home / below
    disk.mkdir(parents=True, mode=0o700)
    home.chmod(0o700)
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", disk], capture_output=True)
    if mounted.returncode:
        pytest.skip(f"cannot mount a tmpfs here: {mounted.stderr.decode()}")
    berth = Berth(home, folder)
    berth.disk = disk
    yield berth
    berth.stop()
    try:
        eventually(lambda: not berth.processes(), LEAVE_DEADLINE, "the end of every process of this home")
    finally:
        for pid in berth.processes():
            kill(pid)
        subprocess.run(["umount", "-l", disk], check=True)


@pytest.fixture
def small(tmp_path):
    """All of it, with 24 MiB."""
    with berth_with_small(tmp_path, "", "24m") as berth:
        yield berth


@pytest.fixture
def medium(tmp_path):
    """All of it, with 64 MiB."""
    with berth_with_small(tmp_path, "", "64m") as berth:
        yield berth


def fill(berth, name="filler"):
    """Takes all the room there is."""
    with open(berth.disk / name, "wb", buffering=0) as filler:
        for size in (1 << 20, 1 << 12, 1):
            try:
                while True:
                    filler.write(b"x" * size)
            except OSError:
                pass


def make_room(berth):
    for name in ("filler", "more"):
        (berth.disk / name).unlink(missing_ok=True)


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


def await_kept_room(berth):
    """The file `reserve` is made last of all that a server keeps back: then it takes no more room by itself."""
    reserve = berth.home / "reserve"
    eventually(lambda: reserve.exists() and reserve.stat().st_blocks > 0, what="room to be kept back")


def test_an_upload_that_does_not_fit_is_507_and_leaves_nothing(small):
    small.ensure_server()
    await_kept_room(small)
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


# ---- Room that is kept back ----------------------------------------------------------------------


def is_kept(berth):
    """The room that is kept back: made a moment after the start, and again a moment after there is room."""
    return (berth.home / "reserve").exists()


def end(berth):
    pid = berth.server_pid()
    kill(pid)
    eventually(lambda: not is_alive(pid), what="the end of the server")


def cancel(berth, name):
    return berth.post(f"/jobs/{name}/cancel").status


def test_on_a_small_disk_the_log_does_not_take_all_room(medium):
    """More is written than the disk holds, and next to nothing of it is kept."""
    medium.ensure_server()
    longest = 0
    for number in range(360):
        body = {"properties": BODY["properties"] | {"description": str(number).ljust(240 << 10, "abcdefgh"[number % 8])}}
        answer = medium.put("/jobs/j", body)
        assert answer.status in (200, 201), answer
        longest = max(longest, (medium.home / "berth.db-wal").stat().st_size)
    assert longest <= 8 << 20

    end(medium)
    medium.ensure_server()
    assert medium.get_job("j")["properties"]["description"].startswith("359h")


def test_on_a_full_disk_work_ends_and_is_cancelled_and_nothing_new_is_taken(small):
    small.ensure_server()
    gate, pid = small.folder / "gate", small.server_pid()
    for name in ("ends", "stays"):
        small.submit(f"until [ -e {gate} ]; do sleep 0.05; done; exit 6", name)
        small.wait(name, "Running")
    waiting = [f"waiting{number}" for number in range(30)]
    assert {put(small, name) for name in waiting} <= {200, 201}
    eventually(lambda: is_kept(small), what="the room that is kept back")
    fill(small)
    eventually(lambda: put(small, "one-more") == 507, what="the refusal")

    for name in waiting:
        if small.get_job(name)["properties"]["status"] == "Queued":
            assert cancel(small, name) in (200, 202)
            small.wait(name, "Canceled")
    assert cancel(small, "stays") in (200, 202)
    small.wait("stays", "Canceled")
    gate.touch()
    small.wait("ends", "Failed")

    assert put(small, "still-not") == 507
    assert small.blob("PUT", "x", b"x" * 1000, {"x-ms-blob-type": "BlockBlob"}).status == 507
    make_room(small)
    eventually(lambda: put(small, "later") in (200, 201), what="the server to accept jobs again")
    small.wait("later", "Completed")
    assert small.server_pid() == pid
    eventually(lambda: is_kept(small), what="the room that is kept back, again")


@pytest.mark.parametrize("how", ["kill", "stop"])
def test_a_server_starts_on_a_full_disk_and_what_makes_room_goes_through(small, how):
    small.ensure_server()
    names = [f"a{number}" for number in range(5)]
    assert {put(small, name) for name in names} <= {200, 201}
    for name in names:
        small.wait(name, "Completed")
    gate = small.folder / "gate"
    small.submit(f"until [ -e {gate} ]; do sleep 0.05; done", "running")
    small.wait("running", "Running")
    eventually(lambda: is_kept(small), what="the room that is kept back")
    fill(small)
    put(small, "refused")
    if how == "kill":
        end(small)
    else:
        small.ok("server", "stop")
        fill(small, "more")  # What the server left goes to somebody else.

    small.ensure_server()

    for name in names:
        assert small.get_job(name)["properties"]["status"] == "Completed"
    eventually(lambda: put(small, "not-now") == 507, what="the refusal")
    assert cancel(small, "running") in (200, 202)
    small.wait("running", "Canceled")
    make_room(small)
    eventually(lambda: put(small, "later") in (200, 201), what="the server to accept jobs again")
    small.wait("later", "Completed")


@pytest.fixture
def small_logs(tmp_path):
    """Only the logs of running jobs lie on a small file system."""
    with berth_with_small(tmp_path, "live", "1m") as berth:
        yield berth


@pytest.fixture
def small_nodes(tmp_path):
    """Only what jobs work in does: the server has all the room it wants."""
    with berth_with_small(tmp_path, "nodes", "16m") as berth:
        yield berth


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


LINES = b"0123456789\n" * 6_000_000


def error_of(berth, name):
    return berth.wait(name, "Failed")["properties"]["error"]


def assert_it_works(berth):
    """Not by `berth run`, which sends along what was downloaded here."""
    berth.submit("echo hi", "works")
    berth.wait("works", "Completed")
    assert berth.log("works") == b"hi\n"


def is_gone(berth, name):
    """Nothing of the job is left in the directories of the nodes."""
    return not list((berth.home / "nodes").glob(f"**/{name}"))


@pytest.mark.parametrize("fixture", ["small", "small_nodes"])
@pytest.mark.parametrize("command", [
    "yes 0123456789 | head -c 60000000",
    "yes 0123456789 | head -c 60000000 > outputs/big",
    "yes 0123456789 | head -c 60000000 > scratch",
], ids=["its log", "its outputs", "other files"])
def test_a_job_that_fills_the_disk_fails_for_that_and_makes_room_for_the_others(request, fixture, command):
    berth = request.getfixturevalue(fixture)
    berth.ensure_server()
    gate = berth.folder / "gate"
    berth.submit(f"until [ -e {gate} ]; do sleep 0.05; done; echo over; touch outputs/made", "other")
    berth.wait("other", "Running")
    filling = berth.folder / "filling"
    berth.submit(f"echo before; until [ -e {filling} ]; do sleep 0.05; done; {command}", "full")
    # A log that comes to a full disk has no room for its first line either.
    eventually(lambda: berth.live_log("full") == b"before\n", what="the first line of the log")
    filling.touch()

    error = error_of(berth, "full")

    assert error["code"] == "DiskFull" and "the disk of its node" in error["message"], error
    log = berth.log("full")
    assert log.startswith(b"before\n")
    assert ">" in command or LINES.startswith(log[len(b"before\n"):])
    eventually(lambda: is_gone(berth, "full"), what="its directory to go")
    gate.touch()
    berth.wait("other", "Completed")
    assert berth.log("other") == b"over\n"
    assert_it_works(berth)


def test_a_job_that_is_to_start_on_a_full_disk_fails_for_that(small_nodes):
    berth = small_nodes
    berth.submit("touch left", "first")
    berth.wait("first", "Completed")  # Its directory is not used again.
    fill(berth)

    berth.submit("echo said", "j")

    error = error_of(berth, "j")
    assert "full" in error["message"] or "No space" in error["message"], error
    make_room(berth)
    assert_it_works(berth)


def test_outputs_that_the_server_has_no_room_for_fail_the_job_in_the_end(small):
    small.ensure_server()
    small.submit("echo before; yes 0123456789 | head -c 13000000 > outputs/big", "full")

    error = error_of(small, "full")

    assert error["code"] == "DiskFull" and "outputs could not be kept" in error["message"], error
    assert small.log("full") == b"before\n"
    eventually(lambda: is_gone(small, "full"), what="its directory to go")
    assert_it_works(small)


def test_a_job_that_waits_for_room_can_be_cancelled(small_logs):
    berth = small_logs
    berth.ensure_server()
    berth.submit("yes 0123456789 | head -c 5000000", "full")
    berth.wait("full", "Finalizing")
    eventually(lambda: os.statvfs(berth.disk).f_bavail == 0, what="the disk to be full")

    berth.ok("job", "cancel", "--name", "full")

    berth.wait("full", "Canceled")
    log = berth.log("full")
    assert log and LINES.startswith(log)
    eventually(lambda: is_gone(berth, "full"), what="its directory to go")


def test_a_job_that_fills_the_disk_can_be_cancelled(small):
    small.ensure_server()
    small.submit("echo before; yes 0123456789 | head -c 13000000 > outputs/big", "full")
    small.wait("full", "Finalizing", "Failed")

    small.ok("job", "cancel", "--name", "full")

    small.wait("full", "Canceled", "Failed")
    assert small.log("full") == b"before\n"

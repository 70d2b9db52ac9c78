# SPDX-License-Identifier: Apache-2.0
"""kill -9 at bad moments: nothing is lost, nothing runs twice, nothing is left behind."""

import fcntl
import signal

import pytest

from harness import eventually, is_alive, kill

# Writes a numbered line every 10 ms until told to end; marks each start.
COUNTER = """
import os, sys, time
open({marks!r}, "a").write(f"{{os.getpid()}}\\n")
number = 0
while not os.path.exists({gate!r}):
    print(number, flush=True)
    number += 1
    time.sleep(0.01)
print("end", flush=True)
sys.exit(7)
"""


@pytest.fixture
def counting(berth):
    """A running job 'j' that counts; ends with code 7 when berth.gate is touched."""
    berth.gate, berth.marks = berth.folder / "gate", berth.folder / "marks"
    berth.file("code/count.py", COUNTER.format(marks=str(berth.marks), gate=str(berth.gate)))
    berth.submit("python3 count.py", "j", code="code")
    eventually(lambda: berth.marks.exists() and berth.marks.read_text().endswith("\n"), what="the job to begin")
    return berth


def check_end(berth):
    """The job ran once, its log has no gap, its exit code came through."""
    berth.gate.touch()
    job = berth.wait("j", "Failed")
    assert "7" in job["properties"]["error"]["message"], job
    lines = berth.log("j").decode().split()
    assert lines[-1] == "end"
    assert lines[:-1] == [str(number) for number in range(len(lines) - 1)]
    assert len(berth.marks.read_text().split()) == 1


def test_the_server_is_killed_in_mid_job(counting):
    for _ in range(3):
        kill(counting.server_pid())
        counting.ensure_server()
        assert counting.status_of("j") == "Running"

    check_end(counting)


def test_the_job_ends_while_there_is_no_server(counting):
    server = counting.server_pid()
    job = int(counting.marks.read_text())
    kill(server)
    eventually(lambda: not is_alive(server))
    counting.gate.touch()
    eventually(lambda: not is_alive(job), what="the job to end")

    counting.ensure_server()

    check_end(counting)


def test_the_server_is_stopped_and_started_again_in_mid_job(counting):
    counting.ok("server", "stop")
    assert is_alive(int(counting.marks.read_text()))

    counting.ensure_server()

    check_end(counting)


def test_the_job_ends_while_there_is_no_server_and_no_process_is_left_until_the_next_takes_its_end(counting):
    counting.ok("server", "stop")
    counting.gate.touch()
    eventually(lambda: not counting.processes(), what="the end of the job, and of the agent that holds its end")

    counting.ensure_server()

    check_end(counting)


def test_the_agent_is_killed_in_mid_job(counting):
    agents = counting.node_pids()
    assert agents
    for agent in agents:
        kill(agent)

    eventually(lambda: set(counting.node_pids()) - set(agents), what="a new agent")

    check_end(counting)


def test_server_and_agent_are_killed_together(counting):
    for pid in [counting.server_pid(), *counting.node_pids()]:
        kill(pid)

    counting.ensure_server()

    check_end(counting)


def test_everything_but_the_job_is_killed(counting):
    """With its supervisor gone nobody knows how the job ends: it must fail, and not run on or twice."""
    job = int(counting.marks.read_text())
    for pid, words in counting.processes().items():
        if "berth" in words.split()[0]:
            kill(pid)

    counting.ensure_server()

    counting.wait("j", "Failed")
    eventually(lambda: not is_alive(job), what="the orphan to go")
    assert len(counting.marks.read_text().split()) == 1


def test_queued_jobs_survive_and_run_once(counting):
    marks = counting.file("queued-marks", "")
    for number in range(8):
        counting.submit(f"echo {number} >> {marks}", f"q{number}")
    kill(counting.server_pid())

    counting.ensure_server()
    check_end(counting)

    for number in range(8):
        counting.wait(f"q{number}", "Completed")
    assert sorted(marks.read_text().split()) == [str(number) for number in range(8)]


def test_a_cancel_before_the_crash_is_carried_out_after_it(counting):
    assert counting.post("/jobs/j/cancel").status in (200, 202)
    kill(counting.server_pid())

    counting.ensure_server()

    counting.wait("j", "Canceled")


def test_what_was_acknowledged_before_a_crash_is_there_afterwards(berth):
    body = {"properties": {"jobType": "Command", "command": "true", "environmentId": "azureml:x:1"}}
    acknowledged = []
    for round in range(5):
        pid = berth.ensure_server()["pid"]
        for number in range(20):
            name = f"a{round}-{number}"
            assert berth.put(f"/jobs/{name}", body).status in (200, 201)
            acknowledged.append(name)
        kill(pid)
        eventually(lambda: not is_alive(pid))

    berth.ensure_server()

    for name in acknowledged:
        berth.wait(name, "Completed")


def test_a_server_waits_for_the_lock_that_its_killed_predecessor_left(berth):
    """A process that the old one was just starting has a copy of it for a moment."""
    first = berth.start_server()
    with open(berth.home / "lock", "rb") as lock:
        kill(first.pid)
        first.wait()
        fcntl.flock(lock, fcntl.LOCK_EX)
        log = open(berth.folder / "server.log", "ab")
        second = berth.popen("server", "--port", "0", stdout=log, stderr=log)
        text = lambda: (berth.folder / "server.log").read_text()  # noqa: E731
        eventually(lambda: "waiting for the lock" in text() or second.poll() is not None, what="the second server")
        assert second.poll() is None, text()

    eventually(lambda: text().count("answers on") == 2 or second.poll() is not None, what="the lock")

    assert second.poll() is None, text()
    assert berth.server_pid() == second.pid


def test_uploads_cut_off_by_a_crash_leave_no_temporary_files(berth):
    place, signature = berth.container()
    raw = berth.raw()
    raw.sendall(f"PUT {place}/half?{signature} HTTP/1.1\r\nHost: {berth.host()}\r\n"
                f"x-ms-blob-type: BlockBlob\r\nContent-Length: 8000000\r\n\r\n".encode() + b"x" * 4000000)
    eventually(lambda: any(path.stat().st_size for path in (berth.home / "spool").rglob("*") if path.is_file()),
               what="the spooled half")
    kill(berth.server_pid(), signal.SIGKILL)
    raw.close()

    berth.ensure_server()

    assert not [path for path in (berth.home / "spool").rglob("*") if path.is_file()]
    assert berth.blob("HEAD", "half").status == 404

# SPDX-License-Identifier: Apache-2.0
"""A job ends when its whole process tree is gone, whatever the tree does."""

import pathlib

import pytest

from harness import CORES, eventually, is_alive


def pids_in(path):
    def read():
        text = pathlib.Path(path).read_text().split() if pathlib.Path(path).exists() else []
        return [int(word) for word in text]
    return read


def test_cancel_ends_a_running_job(berth):
    berth.submit("trap 'echo caught; exit 0' TERM; echo ready; while :; do sleep 0.1; done", "j")
    berth.wait("j", "Running")
    eventually(lambda: b"ready" in berth.live_log("j"), what="its first line")

    berth.ok("job", "cancel", "--name", "j")

    berth.wait("j", "Canceled")
    assert b"caught" in berth.log("j")


def test_cancel_of_a_queued_job_never_starts_it(berth):
    mark = berth.folder / "mark"
    for number in range(CORES):
        berth.submit("sleep 600", f"busy{number}")
    berth.submit(f"touch {mark}", "waits")

    berth.ok("job", "cancel", "--name", "waits")
    berth.wait("waits", "Canceled")
    for number in range(CORES):
        berth.ok("job", "cancel", "--name", f"busy{number}")
        berth.wait(f"busy{number}", "Canceled")
    assert not mark.exists()


def test_cancel_twice_and_after_the_end_is_harmless(berth):
    berth.submit("true", "j")
    berth.wait("j", "Completed")

    assert berth.run("job", "cancel", "--name", "j").code in (0, 1)

    assert berth.status_of("j") == "Completed"


@pytest.mark.parametrize("how", [
    "trap '' TERM; echo $$ > {f}; sleep 600 & echo $! >> {f}; while :; do sleep 1; done",
    "trap '' TERM; setsid sh -c 'trap \"\" TERM; echo $$ >> {f}; while :; do sleep 1; done' & echo $$ >> {f}; wait; while :; do sleep 1; done",
    "setsid nohup sh -c 'echo $$ >> {f}; sleep 600' >/dev/null 2>&1 </dev/null & echo $$ >> {f}; sleep 600",
])
def test_a_tree_that_ignores_sigterm_is_killed_after_the_grace(berth, how):
    file = berth.folder / "pids"
    berth.submit(how.format(f=file), "j")
    pids = eventually(lambda: len(pids_in(file)()) >= 2 and pids_in(file)(), what="its processes")

    berth.ok("job", "cancel", "--name", "j")

    berth.wait("j", "Canceled")
    assert not [pid for pid in pids if is_alive(pid)]


def test_a_timeout_cancels_the_job_and_says_so(berth):
    berth.submit("echo before; sleep 600", "j", limits={"timeout": 1})

    job = berth.wait("j", "Canceled", "Failed")

    assert job["properties"]["status"] == "Canceled", job
    assert "time" in str(job["properties"]).lower()
    assert berth.log("j") == b"before\n"


def test_a_daemon_left_behind_does_not_outlive_the_job(berth):
    file = berth.folder / "pids"
    berth.submit(f"setsid sh -c 'echo $$ > {file}; exec sleep 600' >/dev/null 2>&1 & "
                 f"until [ -s {file} ]; do sleep 0.05; done; echo done", "j")

    berth.wait("j", "Completed")

    assert not [pid for pid in pids_in(file)() if is_alive(pid)]
    assert berth.log("j") == b"done\n"


def test_a_daemon_that_holds_stdout_does_not_hold_up_the_job(berth):
    berth.submit("sleep 600 & echo done", "j")

    berth.wait("j", "Completed")

    assert berth.log("j") == b"done\n"


def test_the_endings_are_told_apart(berth):
    berth.submit("exit 3", "exits")
    berth.submit("kill -SEGV $$", "crashes")
    berth.submit("exec no-such-program", "absent")

    assert "3" in berth.wait("exits", "Failed")["properties"]["error"]["message"]
    crashed = berth.wait("crashes", "Failed")["properties"]["error"]
    assert "signal" in crashed["message"].lower() and "11" in crashed["message"]
    assert "127" in berth.wait("absent", "Failed")["properties"]["error"]["message"]


def test_nothing_is_left_on_disk_of_a_job_that_is_over(berth):
    berth.submit("echo x > big; mkdir d; chmod 500 d", "j")
    berth.wait("j", "Completed")

    eventually(lambda: not list(berth.home.rglob("j/*/wd")), what="its directory to go")


def test_a_cancelled_job_keeps_its_outputs(berth):
    berth.submit("mkdir -p outputs; echo partial > outputs/x; echo ready > outputs/ready; sleep 600", "j")
    eventually(lambda: list(berth.home.rglob("j/1-*/wd/outputs/ready")), what="the job's file")

    berth.ok("job", "cancel", "--name", "j")

    berth.wait("j", "Canceled")
    berth.ok("job", "download", "--name", "j", "--all", "--download-path", "got")
    assert (berth.folder / "got/artifacts/outputs/x").read_text() == "partial\n"


def test_a_job_that_obeys_does_not_wait_for_the_grace_that_another_needs(berth):
    ready = berth.folder / "ready"
    berth.start_server("--slots", "2")
    berth.submit(f"trap '' TERM; touch {ready}; while :; do sleep 1; done", "stubborn")
    berth.submit("exec sleep 600", "obedient")
    berth.wait("obedient", "Running")
    eventually(ready.exists, what="a job that ignores SIGTERM")

    for name in ("stubborn", "obedient"):
        assert berth.post(f"/jobs/{name}/cancel").status in (200, 202)

    ended = [berth.wait(name, "Canceled")["properties"]["properties"]["EndTimeUtc"] for name in ("obedient", "stubborn")]
    assert ended[0] < ended[1]

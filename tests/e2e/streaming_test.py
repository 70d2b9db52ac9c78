# SPDX-License-Identifier: Apache-2.0
"""Logs arrive as they are written, whole, and again afterwards."""

from harness import DEADLINE, EXAMPLES

SLOW = "echo first; while [ ! -e {gate} ]; do sleep 0.05; done; echo last"


def test_a_line_is_seen_while_the_job_still_runs(berth):
    gate = berth.folder / "gate"
    process = berth.popen("run", "--name", "slow", "--", "sh", "-c", SLOW.format(gate=gate))

    assert process.stdout.readline() == b"first\n"
    assert berth.status_of("slow") == "Running"
    gate.touch()
    rest, _ = process.communicate(timeout=DEADLINE)
    assert rest == b"last\n"
    assert process.returncode == 0


def test_a_line_without_an_end_is_seen_too(berth):
    gate = berth.folder / "gate"
    process = berth.popen("run", "--", "sh", "-c", f"printf no-newline; until [ -e {gate} ]; do sleep 0.05; done")

    assert process.stdout.read(10) == b"no-newline"
    gate.touch()
    assert process.communicate(timeout=DEADLINE)[0] == b""


def test_two_may_watch_one_job(berth):
    gate = berth.folder / "gate"
    berth.submit(SLOW.format(gate=gate), "watched")
    watchers = [berth.popen("job", "stream", "--name", "watched") for _ in range(2)]
    for watcher in watchers:
        while watcher.stdout.readline() != b"first\n":
            assert watcher.poll() is None

    gate.touch()

    for watcher in watchers:
        out, err = watcher.communicate(timeout=DEADLINE)
        assert b"last\n" in out, (out, err)
        assert watcher.returncode == 0


def test_stream_of_a_finished_job_shows_the_whole_log_and_its_end(berth):
    berth.ok("run", "--name", "over", "--", "sh", "-c", "seq 1 2000")

    outcome = berth.ok("job", "stream", "--name", "over")

    assert outcome.out.count("\n") >= 2000
    assert "".join(f"{i}\n" for i in range(1, 2001)) in outcome.out


def test_stream_of_a_failed_job_ends_with_1_and_says_why(berth):
    berth.run("run", "--name", "bad", "--", "sh", "-c", "echo before; exit 3")

    outcome = berth.fails("job", "stream", "--name", "bad")

    assert "before\n" in outcome.out
    assert "3" in outcome.err and "exit" in outcome.err.lower(), outcome


def test_stream_of_an_unknown_job_names_it(berth):
    outcome = berth.run("job", "stream", "--name", "nobody")

    assert outcome.code in (1, 3), outcome
    assert "nobody" in outcome.err


def test_create_with_stream_shows_the_log_of_the_example(berth):
    outcome = berth.ok("job", "create", "-f", EXAMPLES / "train/job.yml", "--stream", cwd="/")

    assert "epoch  200" in outcome.out + outcome.err, outcome


def test_a_run_at_the_front_of_a_closed_pipe_ends_its_job(berth):
    """`berth run … | head -1` must not leave the job behind, just as with any other command."""
    process = berth.popen("run", "--name", "piped", "--", "sh", "-c", "while :; do echo line; sleep 0.01; done")
    process.stdout.readline()
    process.stdout.close()
    process.stderr.read()
    process.wait(timeout=DEADLINE)

    berth.wait("piped", "Canceled")


def test_a_watcher_that_goes_away_does_not_disturb_the_job(berth):
    gate = berth.folder / "gate"
    berth.submit(f"seq 1 200000; until [ -e {gate} ]; do sleep 0.05; done", "piped")
    process = berth.popen("job", "stream", "--name", "piped")
    process.stdout.readline()
    process.stdout.close()
    process.stderr.read()
    process.wait(timeout=DEADLINE)
    gate.touch()

    berth.wait("piped", "Completed")
    assert berth.log("piped") == b"".join(b"%d\n" % i for i in range(1, 200001))


def test_a_stopped_watcher_does_not_hold_up_the_job_or_the_server(berth):
    process = berth.popen("run", "--name", "flood", "--", "sh", "-c", "yes 0123456789 | head -c 20000000", bufsize=0)
    assert process.stdout.read(1) == b"0"  # and no more: the pipe, then the socket, fill up

    berth.wait("flood", "Completed")
    assert berth.ok("run", "--", "echo", "still here").out == "still here\n"
    out, _ = process.communicate(timeout=DEADLINE)
    assert len(out) == 20000000 - 1
    assert process.returncode == 0

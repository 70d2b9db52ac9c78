# SPDX-License-Identifier: Apache-2.0
"""The clock on the wall jumps, and nobody is killed, let go or timed out for it."""

from faults import Faults
from harness import eventually

HOUR, DAY = 3600, 86400


def live_turns(berth):
    """The server is seen to work, many times over, after whatever was just done to it."""
    for _ in range(3):
        assert berth.ok("run", "--", "echo", "hi").out == "hi\n"


def nodes(berth):
    return [node["node_id"] for node in berth.ok("compute", "list-nodes", "-n", "pool", "-o", "json").json]


def test_jumps_of_the_clock_kill_no_job_and_let_no_node_go(berth, tmp_path):
    faults = Faults(tmp_path)
    berth.start_server(env=faults.environment)
    berth.ok("compute", "create", "-n", "pool", "-t", "amlcompute", "--max-instances", 1,
             "--idle-time-before-scale-down", HOUR // 2)
    gate, mark = berth.folder / "gate", berth.folder / "mark"
    berth.submit(f"date +%s; echo $$ >> {mark}; until [ -e {gate} ]; do sleep 0.05; done; date +%s; "
                 "mkdir -p outputs; echo kept > outputs/x", "j", compute="azureml:pool", limits={"timeout": HOUR // 2},
                 environment_variables=faults.environment)
    eventually(lambda: mark.exists() and mark.read_text().endswith("\n"), what="the job to begin")
    there = nodes(berth)
    assert len(there) == 1

    for jump in (DAY, -DAY, HOUR, -HOUR, 0):
        faults.clock_offset = jump
        live_turns(berth)
        berth.wait("j", "Running")
        assert nodes(berth) == there
    faults.clock_offset = DAY
    gate.touch()
    berth.wait("j", "Completed")

    # Its address for the outputs was good for a few hours by a clock that is a day further now.
    began, ended = map(int, berth.log("j").split())
    assert ended - began >= DAY
    assert len(mark.read_text().split()) == 1
    berth.ok("job", "download", "--name", "j", "--all", "--download-path", "got")
    assert (berth.folder / "got/artifacts/outputs/x").read_text() == "kept\n"
    # Idle for seconds, or for a day by the clock: it stays, and takes the next job.
    for jump in (0, 2 * DAY, -2 * DAY):
        faults.clock_offset = jump
        live_turns(berth)
        assert nodes(berth) == there
    berth.submit("true", "next", compute="azureml:pool")
    berth.wait("next", "Completed")
    assert nodes(berth) == there
    berth.ok("compute", "delete", "-n", "pool", "-y")


def test_a_server_that_starts_with_another_clock_finds_its_jobs_and_nodes(berth, tmp_path):
    faults = Faults(tmp_path)
    gate, mark = berth.folder / "gate", berth.folder / "mark"
    server = berth.start_server(env=faults.environment)
    berth.submit(f"echo $$ >> {mark}; until [ -e {gate} ]; do sleep 0.05; done; exit 3", "j", limits={"timeout": HOUR})
    eventually(lambda: mark.exists() and mark.read_text().endswith("\n"), what="the job to begin")

    for jump in (DAY, -DAY):
        server.kill()
        server.wait()
        faults.clock_offset = jump
        server = berth.start_server(env=faults.environment)
        live_turns(berth)
        berth.wait("j", "Running")
    gate.touch()

    assert "3" in berth.wait("j", "Failed")["properties"]["error"]["message"]
    assert len(mark.read_text().split()) == 1

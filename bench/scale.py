# SPDX-License-Identifier: Apache-2.0
"""A cluster from zero to a running job and back to zero, many times."""

import os
import pathlib
import tempfile
import time

IDLE_SECONDS = 1


def job_body(marker, compute):
    return {"properties": {"jobType": "Command", "command": f"date +%s.%N > {marker}.part; mv {marker}.part {marker}",
                           "environmentId": "azureml:none:1", "computeId": compute}}


def wait(check, seconds=60):
    until = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.002)


def first_instruction(berth, folder, name, compute="pool"):
    """Milliseconds from before the submit until the job's own clock."""
    marker = folder / name
    began = time.time()
    answer = berth.put(f"/jobs/{name}", job_body(marker, compute))
    assert answer.status in (200, 201), answer
    wait(marker.exists)
    wait(lambda: berth.get_job(name)["properties"]["status"] == "Completed")
    return 1000 * (float(marker.read_text()) - began)


def node_directories(berth):
    return list((berth.home / "nodes").glob("pool-*"))


def count_left(berth):
    """What the last cycle has left, given as long as an observation takes to see it go."""
    nodes = lambda: berth.ok("node", "list", "-o", "json").json  # noqa: E731
    until = time.monotonic() + 5
    while nodes() and time.monotonic() < until:
        time.sleep(0.1)
    agents = [words for words in berth.processes().values() if " node " in words]
    return len(nodes()) + len(agents) + len(node_directories(berth))


def measure(binary, cycles):
    os.environ["BERTH_BINARY"] = str(binary)
    import harness  # after the binary is named

    cold, warm, late = [], [], []
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "here"
        folder.mkdir()
        berth = harness.Berth(pathlib.Path(scratch) / "home", folder)
        try:
            berth.ok("compute", "create", "-n", "pool", "-t", "amlcompute", "--max-instances", 1,
                     "--idle-time-before-scale-down", IDLE_SECONDS)
            for cycle in range(cycles):
                wait(lambda: not node_directories(berth))
                cold.append(first_instruction(berth, folder, f"cold{cycle}"))
                warm.append(first_instruction(berth, folder, f"warm{cycle}"))
                ended = time.time()
                wait(lambda: not node_directories(berth))
                late.append(1000 * (time.time() - ended - IDLE_SECONDS))
            left = count_left(berth)
        finally:
            berth.stop()
    return {"submit to first instruction, ms": cold, "the same on an idle node, ms": warm,
            "idle release is late by, ms": late, "left over": left}

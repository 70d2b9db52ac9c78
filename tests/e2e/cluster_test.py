# SPDX-License-Identifier: Apache-2.0
"""Clusters on this machine: from zero to n and back, with everything that can go wrong in between."""

import json
import signal

import pytest

from harness import DEADLINE, EXAMPLES, eventually, is_alive, kill

IDLE = 1  # seconds; the shortest that is still a time


def make_cluster(berth, name="pool", *words, most=2, idle=IDLE):
    return berth.ok("compute", "create", "-n", name, "-t", "amlcompute", "--size", "Standard_DS2_v2",
                    "--max-instances", most, "--idle-time-before-scale-down", idle, "-o", "json", *words).json


def nodes_of(berth, name="pool"):
    return berth.ok("compute", "list-nodes", "-n", name, "-o", "json").json


def states_of(berth, name="pool"):
    return sorted(node["node_state"] for node in nodes_of(berth, name))


def cluster(berth, name="pool"):
    return berth.ok("compute", "show", "-n", name, "-o", "json").json


def wait_for_nodes(berth, count, name="pool"):
    eventually(lambda: len(nodes_of(berth, name)) == count, what=f"{count} nodes of {name}")


def gated(berth, name, compute="pool", before="", **keys):
    """A job that begins, says so by a mark with its pid, and waits for its gate."""
    marks, gate = berth.folder / f"{name}.marks", berth.folder / f"{name}.gate"
    command = f"{before}echo $$ >> {marks}; until [ -e {gate} ]; do sleep 0.05; done; echo over"
    berth.submit(command, name, compute=f"azureml:{compute}", **keys)
    return marks, gate


def wait_for_start(marks, times=1):
    eventually(lambda: marks.exists() and len(marks.read_text().split()) >= times, what=f"{marks.name} ({times})")
    return [int(pid) for pid in marks.read_text().split()]


def check_nothing_left(berth):
    wait_for_nodes(berth, 0)
    eventually(lambda: not list((berth.home / "nodes").glob("pool-*")), what="the nodes' directories to go")
    # An agent removes its directory before it ends.
    eventually(lambda: not [words for words in berth.processes().values() if " node " in words],
               what="the end of the nodes' agents")


def test_the_demo_job_runs_unchanged_and_the_nodes_go_again(berth):
    make_cluster(berth)
    assert nodes_of(berth) == []

    berth.ok("job", "create", "-f", EXAMPLES / "train/job.yml", "--name", "train", "--set", "compute=azureml:pool",
             "--stream", "-o", "none")

    assert berth.get_job("train")["properties"]["status"] == "Completed"
    check_nothing_left(berth)


def test_a_cluster_grows_to_its_maximum_and_tells_the_truth_all_the_way(berth):
    make_cluster(berth, most=2, idle=2)
    gates = [gated(berth, f"j{number}") for number in range(3)]
    for marks, _ in gates[:2]:
        wait_for_start(marks)

    assert states_of(berth) == ["running", "running"]
    assert sorted(node["current_job_name"] for node in nodes_of(berth)) == ["j0", "j1"]
    shown = cluster(berth)
    assert (shown["current_node_count"], shown["target_node_count"]) == (2, 2)
    assert shown["allocation_state"] == "Steady"
    assert shown["node_state_counts"]["running"] == 2
    explained = berth.ok("job", "explain", "--name", "j2").out
    assert "needs 1 node of Standard_DS2_v2; cluster 'pool' has 2 of at most 2 nodes" in explained
    assert berth.status_of("j2") == "Queued"

    for _, gate in gates:
        gate.touch()
    for number in range(3):
        berth.wait(f"j{number}", "Completed")
    check_nothing_left(berth)
    shown = cluster(berth)
    assert (shown["current_node_count"], shown["target_node_count"]) == (0, 0)


def test_the_minimum_stays(berth):
    make_cluster(berth, "pool", "--min-instances", 1, most=2)
    eventually(lambda: states_of(berth) == ["idle"], what="the minimum")
    for number in range(2):
        berth.submit("true", f"j{number}", compute="azureml:pool")
    for number in range(2):
        berth.wait(f"j{number}", "Completed")
    wait_for_nodes(berth, 1)

    berth.ok("compute", "update", "-n", "pool", "--min-instances", 0)

    check_nothing_left(berth)


def test_the_server_is_killed_while_nodes_start(berth):
    """Between the decision and the start, or the start and the record: one node for each job, known."""
    make_cluster(berth, most=3, idle=3)
    marks = berth.file("marks", "")
    for number in range(3):
        berth.submit(f"echo {number} >> {marks}", f"j{number}", compute="azureml:pool")
        kill(berth.server_pid())
        berth.ensure_server()
    for number in range(3):
        berth.wait(f"j{number}", "Completed")

    assert sorted(marks.read_text().split()) == ["0", "1", "2"]
    check_nothing_left(berth)


@pytest.mark.parametrize("how", ["stopped", "killed"])
def test_nodes_go_on_without_the_server_and_attach_again(berth, how):
    make_cluster(berth)
    marks, gate = gated(berth, "j")
    job = wait_for_start(marks)[0]
    if how == "stopped":
        berth.ok("server", "stop")
    else:
        kill(berth.server_pid())
    assert is_alive(job)

    berth.ensure_server()

    eventually(lambda: states_of(berth) == ["running"], what="the node to attach again")
    gate.touch()
    berth.wait("j", "Completed")
    assert len(marks.read_text().split()) == 1
    check_nothing_left(berth)


def test_a_node_that_loses_its_agent_gets_another_and_the_job_goes_on(berth):
    make_cluster(berth)
    marks, gate = gated(berth, "j")
    wait_for_start(marks)
    agents = berth.node_pids()
    for agent in agents:
        kill(agent)

    eventually(lambda: set(berth.node_pids()) - set(agents), what="a new agent")
    gate.touch()
    berth.wait("j", "Completed")
    assert len(marks.read_text().split()) == 1
    check_nothing_left(berth)


def test_a_job_that_was_lost_with_its_supervisor_runs_again(berth):
    make_cluster(berth)
    marks, gate = gated(berth, "j")
    first = wait_for_start(marks)[0]
    for pid, words in berth.processes().items():
        if " node " in words or words.startswith("berth-shim") or "shim" in words.split()[0]:
            kill(pid)

    second = wait_for_start(marks, 2)[1]
    assert not is_alive(first), "two attempts at once"
    assert is_alive(second)
    gate.touch()
    job = berth.wait("j", "Completed")
    assert job["properties"]["attempt"] == 2
    check_nothing_left(berth)


def test_a_preempted_job_runs_again_with_its_outputs(berth):
    make_cluster(berth, "pool", "--tier", "low_priority")
    before = "cat outputs/step 2>/dev/null; echo saved >> outputs/step; trap 'echo stopped; exit 1' TERM; "
    marks, gate = gated(berth, "j", before=before)
    wait_for_start(marks)
    node = nodes_of(berth)[0]["node_id"]

    berth.ok("node", "preempt", node)

    wait_for_start(marks, 2)
    assert [each["node_id"] for each in nodes_of(berth) if each["node_state"] == "running"] != [node]
    gate.touch()
    job = berth.wait("j", "Completed")
    assert job["properties"]["attempt"] == 2
    assert berth.log("j").decode() == "saved\nover\n"
    folder = berth.folder / "again"
    berth.ok("job", "download", "--name", "j", "--all", "--download-path", folder)
    assert (folder / "artifacts/outputs/step").read_text() == "saved\nsaved\n"
    assert (folder / "artifacts/user_logs/std_log_attempt_1.txt").read_text().endswith("stopped\n")
    check_nothing_left(berth)


def test_a_job_that_is_preempted_too_often_fails(berth):
    berth.start_server("--max-preemptions", 1)
    make_cluster(berth)
    marks, _ = gated(berth, "j")
    for times in (1, 2):
        wait_for_start(marks, times)
        node = eventually(lambda: [each for each in nodes_of(berth) if each["node_state"] == "running"],
                          what="a running node")[0]
        berth.ok("node", "preempt", node["node_id"])

    job = berth.wait("j", "Failed", "Canceled")

    assert job["properties"]["status"] == "Failed", job
    assert "queued again 1 times already" in job["properties"]["error"]["message"]


def test_a_stream_follows_a_job_into_its_next_attempt(berth):
    make_cluster(berth)
    marks, gate = gated(berth, "j", before="echo began; ")
    stream = berth.popen("job", "stream", "--name", "j")
    wait_for_start(marks)
    berth.ok("node", "preempt", nodes_of(berth)[0]["node_id"])
    wait_for_start(marks, 2)
    gate.touch()
    out, err = stream.communicate(timeout=DEADLINE)

    assert stream.returncode == 0, err
    assert out.decode().count("began\n") == 2
    assert "over" in out.decode()
    assert b"attempt 2" in err


def test_a_dedicated_cluster_takes_low_priority_nodes_when_the_site_is_full(berth):
    berth.ok("site", "update", "local", "--nodes", 1)
    make_cluster(berth, "spot", "--tier", "low_priority")
    make_cluster(berth, "pool")
    low_marks, low_gate = gated(berth, "low", "spot")
    wait_for_start(low_marks)
    marks, gate = gated(berth, "high", "pool")
    wait_for_start(marks)

    assert berth.status_of("low") == "Queued"
    explained = berth.ok("job", "explain", "--name", "low").out
    assert "no room for another: 1 of 1 nodes are in use" in explained
    gate.touch()
    berth.wait("high", "Completed")
    wait_for_start(low_marks, 2)
    low_gate.touch()
    berth.wait("low", "Completed")


def test_deleting_a_cluster_cancels_its_work_or_is_refused(berth):
    make_cluster(berth)
    marks, _ = gated(berth, "j")
    berth.submit("true", "later", compute="azureml:pool", resources={"instance_count": 2})
    job = wait_for_start(marks)[0]

    refused = berth.fails("compute", "delete", "-n", "pool", "-y", "--if-idle")
    assert "j" in refused.err and "pool" in refused.err
    assert is_alive(job)

    berth.ok("compute", "delete", "-n", "pool", "-y")

    assert berth.status_of("j") == "Canceled"
    assert berth.status_of("later") == "Canceled"
    assert berth.ok("compute", "list", "-o", "json").json == []
    eventually(lambda: not list((berth.home / "nodes").glob("pool-*")), what="the nodes' directories to go")
    assert berth.fails("compute", "show", "-n", "pool", code=3).err


def test_gangs_start_whole_and_small_jobs_do_not_delay_them(berth):
    make_cluster(berth, most=2, idle=10)
    marks, gate = gated(berth, "first")
    wait_for_start(marks)
    order = berth.file("order", "")
    berth.submit(f"echo gang >> {order}", "gang", compute="azureml:pool", resources={"instance_count": 2})
    berth.submit(f"echo small >> {order}", "small", compute="azureml:pool")
    eventually(lambda: states_of(berth) == ["idle", "running"], what="the second node")
    assert berth.status_of("small") == "Queued"
    gate.touch()
    for name in ("first", "gang", "small"):
        berth.wait(name, "Completed")

    assert order.read_text().split() == ["gang", "gang", "small"]


def test_what_nodes_and_jobs_used_is_written_down(berth):
    make_cluster(berth)
    berth.submit("true", "j", compute="azureml:pool")
    berth.wait("j", "Completed")
    check_nothing_left(berth)

    answer = berth.request("GET", "/berth/v1/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/berth"
                                  "/providers/Microsoft.MachineLearningServices/workspaces/default/usage")
    assert answer.status == 200, answer
    text = json.dumps(answer.json)
    assert '"j"' in text and "pool-1" in text and "Standard_DS2_v2" in text


def test_a_node_that_is_not_there_cannot_be_preempted(berth):
    make_cluster(berth)
    assert "pool-9" in berth.fails("node", "preempt", "pool-9", code=3).err


def test_jobs_end_when_told_even_as_the_node_ignores_it(berth):
    make_cluster(berth)
    marks, _ = gated(berth, "j", before="trap '' TERM; ", limits={"timeout": 3600})
    pid = wait_for_start(marks)[0]
    berth.ok("job", "cancel", "--name", "j")
    berth.wait("j", "Canceled")
    assert not is_alive(pid)
    kill(pid, signal.SIGKILL)

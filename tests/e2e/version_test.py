# SPDX-License-Identifier: Apache-2.0
"""What nodes say to their server: older and newer ones than it, and ones that come back."""

import json
import os
import signal

import pytest

from harness import eventually, kill
from hostile_node_test import Channel, cluster, token_of  # noqa: F401


class OtherNode(Channel):
    """Speaks for the idle node of the cluster, whose own agent stands still meanwhile."""

    def __init__(self, berth):
        self.agent = json.loads((berth.home / "nodes" / berth.liar / "identity.json").read_text())["pid"]
        os.kill(self.agent, signal.SIGSTOP)
        self.dial(berth)

    def dial(self, berth):
        super().__init__(berth, berth.liar, token_of(berth, berth.liar))
        assert self.status == 101

    def receive(self, kind):
        """The next message of that kind; others are passed over."""
        while True:
            first, size = self.read_exactly(2)
            if size == 126:
                size = int.from_bytes(self.read_exactly(2), "big")
            elif size == 127:
                size = int.from_bytes(self.read_exactly(8), "big")
            data = self.read_exactly(size)
            if first & 0x0F == 1 and (message := json.loads(data))["kind"] == kind:
                return message


@pytest.fixture
def other(cluster):  # noqa: F811
    node = OtherNode(cluster)
    yield node
    node.socket.close()
    kill(node.agent, signal.SIGCONT)
    cluster.gate.touch()
    cluster.wait("victim", "Completed")


def run_one_job(berth, other):
    berth.submit("true", "next", compute="azureml:pool")
    launch = other.receive("Launch")
    assert launch["attempt"]["job"]["name"] == "next"
    other.send(kind="Ended", attempt=launch["attempt"], outcome={"ending": "Exited", "exit_code": 0})
    assert other.receive("Forget")["attempt"] == launch["attempt"]
    berth.wait("next", "Completed")


def test_an_older_node_that_says_only_what_the_first_version_said_runs_jobs(cluster, other):  # noqa: F811
    other.send(kind="Hello", node=cluster.liar, version="0.0.1", slots=1, work_root="/nowhere")
    assert other.receive("Welcome")["server_version"]

    run_one_job(cluster, other)


def test_a_newer_node_that_says_more_than_the_server_knows_runs_jobs(cluster, other):  # noqa: F811
    other.send(kind="Hello", node=cluster.liar, version="99.0.0", slots=1, work_root="/nowhere", attempts=[],
               mood="new", devices=[{"kind": "quantum"}])
    other.send(kind="Sings", song=["a", "b"])
    other.receive("Welcome")

    run_one_job(cluster, other)
    eventually(lambda: cluster.server_status()["pid"], what="a server that is well")


def test_a_node_that_comes_back_says_how_far_its_work_is(cluster, other):  # noqa: F811
    """What it said before may have been lost on the way: a job that runs is not shown as starting until its end."""
    other.send(kind="Hello", node=cluster.liar, version="0.1.0", slots=1, work_root="/nowhere")
    cluster.submit("true", "next", compute="azureml:pool")
    attempt = other.receive("Launch")["attempt"]
    assert cluster.status_of("next") == "Starting"
    other.socket.close()

    other.dial(cluster)
    other.send(kind="Hello", node=cluster.liar, version="0.1.0", slots=1, work_root="/nowhere",
               attempts=[{"attempt": attempt, "phase": "Running"}])

    cluster.wait("next", "Running")
    other.receive("Launch")
    other.send(kind="Ended", attempt=attempt, outcome={"ending": "Exited", "exit_code": 0})
    cluster.wait("next", "Completed")

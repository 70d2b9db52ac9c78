# SPDX-License-Identifier: Apache-2.0
"""Nodes that are lost, cut off or badly connected. They are jobs of a real Slurm, behind a link that the
test can cut: an attempt that nobody hears of ends before another one begins, and is not believed after."""

import contextlib
import os
import pathlib
import shutil
import signal

import pytest

from faults import Faults
from harness import DEADLINE, eventually, grew_too_much, is_alive, kill, memory_kib
from link import Link
from slurm_test import LEASE, Lab, check_no_overlap, pids_of, slurm, ticks_of, wait_for_process  # noqa: F401

# Replaces a command of Slurm's that can be told to lie.
DEAF_SCANCEL = """#!/bin/sh
[ -e {deaf} ] && exit 0
exec {real} "$@"
"""


class LinkedLab(Lab):
    """Nodes reach the server through the link only."""

    def __init__(self, berth, slurm):  # noqa: F811
        super().__init__(berth, slurm, LEASE)
        self.link = Link(self.port)
        self.deaf = berth.folder / "deaf"
        self.environment = {}

    def start(self):
        self.server = self.berth.start_server("--port", str(self.port), "--lease", str(self.lease),
                                              env=self.environment)

    def add_linked_site(self):
        bin_directory = self.berth.folder / "bin"
        bin_directory.mkdir()
        for name in ("sbatch", "squeue"):
            (bin_directory / name).symlink_to(shutil.which(name))
        scancel = bin_directory / "scancel"
        scancel.write_text(DEAF_SCANCEL.format(deaf=self.deaf, real=shutil.which("scancel")))
        scancel.chmod(0o755)
        self.add_site("--bin-directory", str(bin_directory), "--server-url", f"https://127.0.0.1:{self.link.port}")

    def agent(self):
        """The agent of the node that runs the job."""
        name, = [node["node_id"] for node in self.nodes() if node["node_state"] == "running"]
        return next(pid for pid, words in self.processes().items() if f"node --name {name} " in words)

    def processes(self):
        """Every process of every node, jobs and supervisors included: pid -> command line."""
        mark, found = str(self.work).encode(), {}
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                words = (folder / "cmdline").read_bytes()
                about = words + os.readlink(folder / "cwd").encode() + (folder / "environ").read_bytes()
                if mark in about and int(folder.name) != os.getpid():
                    found[int(folder.name)] = words.replace(b"\0", b" ").decode(errors="replace")
        return found

    def finish(self, marks, gate, attempts):
        """The last of so many attempts ends by itself, and is the only one that is believed."""
        gate.touch()
        assert self.berth.wait("job")["properties"]["status"] == "Completed"
        check_no_overlap(marks)
        assert len(pids_of(marks)) == attempts
        assert self.berth.log("job") == b"over\n"


@pytest.fixture
def lab(berth, slurm):  # noqa: F811
    lab = LinkedLab(berth, slurm)
    lab.start()
    lab.add_linked_site()
    lab.make_cluster(most=2)
    yield lab
    lab.link.heal()
    lab.deaf.unlink(missing_ok=True)
    for pid in lab.processes():
        kill(pid, signal.SIGCONT)
    lab.end()
    lab.link.close()


def test_a_node_that_dies_with_all_that_is_on_it_is_replaced_after_its_lease(lab):
    marks, gate = lab.ticking("job")
    wait_for_process(marks, 1)

    for pid in lab.processes():
        kill(pid)
    wait_for_process(marks, 2)

    lab.finish(marks, gate, 2)
    eventually(lambda: not lab.nodes() and not lab.jobs(), what="no nodes")


def test_work_that_is_cut_off_ends_by_itself_and_is_not_believed_when_the_link_heals(lab):
    marks, gate = lab.ticking("job")
    first = wait_for_process(marks, 1)
    agent = lab.agent()
    lab.deaf.touch()  # Slurm, too, cannot end what it cannot reach.

    lab.link.cut(agent)
    eventually(lambda: not is_alive(first), what="the end of work that is cut off")
    wait_for_process(marks, 2)
    assert is_alive(agent)
    lab.link.heal()
    eventually(lambda: not is_alive(agent), what="the end of a node that was replaced")

    lab.finish(marks, gate, 2)
    lab.deaf.unlink()
    lab.wait_until_empty()


def test_a_node_that_stood_still_while_its_work_went_to_another_is_not_believed(lab):
    marks, gate = lab.ticking("job")
    first = wait_for_process(marks, 1)
    agent = lab.agent()
    lab.deaf.touch()

    kill(agent, signal.SIGSTOP)
    eventually(lambda: not is_alive(first), what="the end of work that nobody renews")
    wait_for_process(marks, 2)
    kill(agent, signal.SIGCONT)
    eventually(lambda: not is_alive(agent), what="the end of a node that was replaced")

    lab.finish(marks, gate, 2)
    lab.deaf.unlink()
    lab.wait_until_empty()


def test_a_cut_shorter_than_the_lease_costs_nothing(lab):
    lab.kill_server()
    lab.lease = 60
    lab.start()
    marks, gate = lab.ticking("job")
    wait_for_process(marks, 1)
    agent = lab.agent()

    for _ in range(3):
        lab.link.cut(agent)
        seen = len(ticks_of(marks))
        eventually(lambda: len(ticks_of(marks)) > seen + 20, what="work that goes on")
        lab.link.heal()

    lab.finish(marks, gate, 1)
    lab.wait_until_empty()


def test_jumps_of_the_servers_clock_cost_nobody_a_lease(lab, tmp_path):
    faults = Faults(tmp_path)
    lab.kill_server()
    lab.environment, lab.lease = faults.environment, 60
    lab.start()
    marks, gate = lab.ticking("job")
    wait_for_process(marks, 1)

    for jump in (86400, -86400):
        faults.clock_offset = jump
        until = ticks_of(marks)[-1][1] + 3
        eventually(lambda: ticks_of(marks)[-1][1] > until, what="work for many turns of the server")

    lab.finish(marks, gate, 1)
    lab.wait_until_empty()


def test_a_log_comes_whole_through_a_link_that_keeps_breaking(lab):
    lab.kill_server()
    lab.lease = 60
    lab.start()
    lab.link.break_after = 700_000

    lab.berth.submit("seq 1 400000", "job", compute="azureml:pool")
    lab.berth.wait("job", "Completed", timeout=3 * DEADLINE)

    assert lab.link.broken >= 2
    assert lab.berth.log("job") == b"".join(b"%d\n" % number for number in range(1, 400001))
    lab.wait_until_empty()


def test_a_flood_behind_a_slow_link_waits_on_the_disk_of_its_node(lab):
    lab.kill_server()
    lab.lease = 60
    lab.start()
    written, gate = lab.berth.folder / "written", lab.berth.folder / "gate"
    lab.berth.submit(f"until [ -e {gate} ]; do sleep 0.05; done; yes 0123456789 | head -c 60000000; touch {written}",
                     "job", compute="azureml:pool")
    lab.berth.wait("job", "Running")
    agent, server = lab.agent(), lab.server.pid
    before = memory_kib(agent), memory_kib(server)

    lab.link.rate = 50_000
    gate.touch()
    eventually(written.exists, what="the end of the flood")
    assert not grew_too_much(before[0], memory_kib(agent), 16)
    assert not grew_too_much(before[1], memory_kib(server), 16)
    assert lab.berth.ok("run", "--", "echo", "hi").out == "hi\n"
    lab.link.rate = 0

    lab.berth.wait("job", "Completed", timeout=3 * DEADLINE)
    assert len(lab.berth.log("job")) == 60000000
    lab.wait_until_empty()

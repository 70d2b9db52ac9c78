# SPDX-License-Identifier: Apache-2.0
"""Jobs that want all the memory or all the processes there are take them from themselves only."""

import os

import pytest

from harness import eventually, is_alive

BOMB = """
import os, signal, sys
refused = 0
for _ in range(400):
    try:
        if os.fork() == 0:
            while True:
                signal.pause()
    except OSError:
        refused += 1
print("refused", refused, flush=True)
open(sys.argv[1], "w").write(str(os.getpid()))
signal.pause()
"""


def controller(name):
    return [path for path in (f"/sys/fs/cgroup/{name}", "/sys/fs/cgroup/cgroup.controllers")
            if os.path.exists(path) and os.access(path, os.W_OK if os.path.isdir(path) else os.R_OK)]


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="limits need control groups, and those root here")


@needs_root
@pytest.mark.skipif(not controller("memory"), reason="no control groups for memory")
def test_a_job_that_runs_out_of_memory_is_told_so_and_hurts_nobody(berth):
    berth.start_server("--slots", "2")
    gate = berth.folder / "gate"
    berth.submit(f"until [ -e {gate} ]; do sleep 0.05; done; echo fine", "neighbour")
    berth.wait("neighbour", "Running")
    server, agents = berth.server_pid(), berth.node_pids()

    for number in range(3):
        name = f"hungry{number}"
        berth.submit("echo before; python3 -c 'x = bytearray(400 << 20)'; exit 9" if number else
                     "exec python3 -c 'x = bytearray(400 << 20)'", name, resources={"docker_args": "--memory 64m"})
        error = berth.wait(name, "Failed")["properties"]["error"]
        if number == 0:  # The command itself was killed; a shell may go on and end as it likes.
            assert error["code"] == "OutOfMemory" and "64" in error["message"], error

    assert berth.status_of("neighbour") == "Running"
    gate.touch()
    berth.wait("neighbour", "Completed")
    assert berth.server_pid() == server and berth.node_pids() == agents


@needs_root
@pytest.mark.skipif(not controller("pids"), reason="no control groups for processes")
def test_a_fork_bomb_reaches_its_limit_and_nobody_else_notices(berth):
    berth.start_server("--slots", "2")
    berth.file("bomb.py", BOMB)
    ready = berth.folder / "ready"
    berth.submit(f"exec python3 {berth.folder}/bomb.py {ready}", "bomb", resources={"docker_args": "--pids-limit 50"})
    eventually(ready.exists, what="the bomb to have gone off")

    said = eventually(lambda: berth.live_log("bomb"), what="its line")
    assert said == b"refused 351\n"  # Itself and 49 children.
    assert berth.ok("run", "--", "echo", "hi").out == "hi\n"
    bomb = int(ready.read_text())
    berth.ok("job", "cancel", "--name", "bomb")
    berth.wait("bomb", "Canceled")
    assert not is_alive(bomb)


@needs_root
@pytest.mark.skipif(not controller("pids"), reason="no control groups for processes")
def test_every_job_has_a_limit_of_processes(berth):
    """Whoever asks for none gets the node's: a part of what the machine can have."""
    berth.file("where.sh", "for f in $(cut -d: -f2,3 /proc/self/cgroup); do c=${f%%:*}; p=${f#*:}\n"
                           "cat /sys/fs/cgroup$p/pids.max /sys/fs/cgroup/${c:-unified}$p/pids.max 2>/dev/null; done; exit 0\n")

    said = berth.ok("run", "--", "sh", "where.sh").out.split()

    assert any(word.isdigit() and int(word) < 100000 for word in said), said

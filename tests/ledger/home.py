# SPDX-License-Identifier: Apache-2.0
"""The Berth that is killed: its processes by what they are, and what is left of it."""

import contextlib
import json
import os
import pathlib
import shlex
import socket
import subprocess
import time

import books
import harness
from harness import eventually

HANG = 120  # seconds; for hangs, not for speed
FLAGS = ("--port", "0", "--slots", "3", "--node-idle", "2", "--max-preemptions", "100000")


class ControlGroup:
    """One of our own in each hierarchy, so that what is left in it is certainly ours."""

    KINDS = ("memory", "pids", "cpu", "")  # "": version 2

    def __init__(self, name):
        self.directories = []
        for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            kind = next((kind for kind in self.KINDS if kind in controllers.split(",")), None)
            for mount in self.mounts(kind) if kind is not None else ():
                directory = pathlib.Path(f"{mount}{path}/{name}")
                with contextlib.suppress(OSError):
                    directory.mkdir()
                    self.directories.append(directory)

    @staticmethod
    def mounts(kind):
        for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
            front, back = line.split(" - ")
            file_system, _, options = back.split(" ", 2)
            is_ours = kind in options.split(",") if kind else file_system == "cgroup2"
            if file_system.startswith("cgroup") and is_ours and front.split()[3] == "/":
                yield front.split()[4]

    def inside(self, words):
        """The words of a command that enters the group and then becomes `words`. It dies with the ledger's main
        thread. All by programs: Python must not run between fork and exec while other threads do."""
        enter = "".join(f"echo 0 >{shlex.quote(str(directory / 'cgroup.procs'))}; " for directory in self.directories)
        return ["setpriv", "--pdeathsig", "KILL", "sh", "-c", f"{enter}exec {shlex.join(map(str, words))}"]

    def left(self):
        """Groups below; the one they share, 'berth', is made once and stays."""
        return [str(path) for directory in self.directories for path in (directory / "berth").glob("*/")]

    def remove(self):
        for directory in self.directories:
            for path in sorted(directory.rglob("*/"), reverse=True):
                with contextlib.suppress(OSError):
                    path.rmdir()
            with contextlib.suppress(OSError):
                directory.rmdir()


class Home:
    def __init__(self, folder):
        self.berth = harness.Berth(folder / "home", folder)
        self.path, self.folder = folder / "home", folder
        self.group = ControlGroup(f"ledger-{os.getpid()}-{os.urandom(4).hex()}")
        self.server, self.ports = None, set()

    def start(self):
        with open(self.folder / "server.log", "ab") as log:
            self.server = subprocess.Popen(self.group.inside([harness.BINARY, "server", *FLAGS]), cwd="/",
                                           env=self.berth.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        eventually(self.is_announced, HANG, "the server")

    def is_announced(self):
        if self.server.poll() is not None:
            log = (self.folder / "server.log").read_text(errors="replace")
            raise RuntimeError(f"the server ended with {self.server.returncode}:\n{log[-3000:]}")
        with contextlib.suppress(OSError, ValueError):
            place = json.loads((self.path / "server.json").read_text())
            self.ports.add(place["port"])
            return place["pid"] == self.server.pid
        return False

    # Killing.

    def processes(self):
        """role -> pids, of everything that runs by this executable for this home."""
        found = {"server": [], "agent": [], "starter": [], "supervisor": []}
        home = str(self.path).encode()
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                words = (folder / "cmdline").read_bytes().split(b"\0")
                if len(words) < 3 or words[1] != b"node" or home not in words:
                    continue
                name = (folder / "comm").read_text().strip()
                role = {"berth-shim": "supervisor", "berth-zygote": "starter"}.get(name, "agent")
                found[role].append(int(folder.name))
        found["server"] = [self.server.pid]
        return found

    def victims(self, kill):
        found = self.processes()
        agents = found["agent"]
        if kill.kind == "server":
            return found["server"], []
        if kill.kind == "agent":
            return agents[int(kill.pick * len(agents)):][:1], []
        if kill.kind == "server+agents":
            return found["server"] + agents, []
        if kill.kind == "supervisors":
            return found["supervisor"], found["supervisor"]
        everything = [pid for role in ("server", "agent", "starter", "supervisor") for pid in found[role]]
        return everything, found["supervisor"]

    def kill(self, kill, book):
        """Kills who is there, and starts the server again when it was among them. How many died."""
        pids, supervisors = self.victims(kill)
        for pid in pids:
            harness.kill(pid)
        # After it, so that nobody the kill ended can have begun anything later.
        book.note("kill", kind=kill.kind, supervisors=supervisors, pids=pids)
        if self.server.pid in pids:
            self.server.wait()
            time.sleep(kill.down)
            self.start()
        elif self.server.poll() is not None:
            book.note("incident", text=f"the server ended by itself with {self.server.returncode}")
            self.start()
        return len(pids)

    # The end.

    def stop(self):
        self.berth.run("server", "stop")
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.server.wait(HANG)

    def wait_until_idle(self):
        """Scaled to nothing: no node of the cluster, no work anywhere. Says nothing: the judge looks itself."""
        with contextlib.suppress(AssertionError):
            eventually(lambda: not self.node_directories() and not self.berth.node_pids(), HANG, "the nodes to go")

    def node_directories(self):
        return [path for path in (self.path / "nodes").glob("*") if path.name != "local"]

    def note_left(self, book):
        with contextlib.suppress(AssertionError):
            eventually(lambda: not self.berth.processes(), harness.LEAVE_DEADLINE, "every process to go")
        left = {"process": [f"{pid} {words}" for pid, words in self.berth.processes().items()],
                "daemon": [f"{pid} of {job}" for job, pid, ticks in books.left_daemons(self.folder)
                           if start_time(pid) == ticks],
                "control group": self.group.left(),
                "node": self.node_directories(),
                "directory": [path for name in ("nodes/local/work", "live", "spool") for path in self.below(name)],
                "port": [port for port in self.ports if self.is_listening(port)]}
        for kind, names in left.items():
            for name in names:
                book.note("left", kind=kind, name=str(name))
        for report in self.berth.reports():
            book.note("incident", text=report[-2000:])

    def below(self, name):
        """What lies deeper than a workspace's own folder, and is not the agent's."""
        root = self.path / name
        return [path for path in root.rglob("*") if not path.name.startswith(".")
                and (path.is_file() or len(path.relative_to(root).parts) > 1) and path.name != "agent.lock"]

    def is_listening(self, port):
        """And by us: somebody else may have been given the port since."""
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return bool(self.berth.processes())
        return False

    def end(self):
        """Whatever happened: no process of this home stays."""
        if self.server and self.server.poll() is None:
            self.server.kill()
            self.server.wait()
        for _ in range(100):
            left = self.berth.processes()
            for pid in left:
                harness.kill(pid)
            if not left:
                break
            time.sleep(0.05)
        self.group.remove()


def start_time(pid):
    with contextlib.suppress(OSError):
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[19])
    return None

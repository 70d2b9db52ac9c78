#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A real Slurm on this machine, for tests: munged, slurmctld and four slurmd from Debian's packages,
on free ports, with everything in a temporary directory. Needs no systemd and no settings of the
machine's; several may run side by side.

    slurm_cluster.py run -- COMMAND…   runs COMMAND with SLURM_CONF set, and stops the cluster after it

Without the packages COMMAND is run all the same, and finds no SLURM_CONF; with CI set that is a failure.
"""

import contextlib
import ctypes
import fcntl
import os
import pathlib
import pwd
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

NODES = 4
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol", "sinfo")
# For hangs, not for speed.
DEADLINE = 300
LOCKED_PORTS = []  # Until this process ends.

SETTINGS = """\
ClusterName=berth
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/munge.sock
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/run/slurmctld.pid
SlurmdPidFile={folder}/run/slurmd.%n.pid
SlurmctldLogFile={folder}/log/slurmctld.log
SlurmdLogFile={folder}/log/slurmd.%n.log
SlurmctldDebug=info
SlurmdDebug=info
PlugStackConfig={folder}/plugstack.conf
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SwitchType=switch/none
MpiDefault=none
LaunchParameters=disable_send_gids
PropagateResourceLimits=NONE
ReturnToService=2
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,sched_interval=1,batch_sched_delay=0
MinJobAge=60
KillWait=5
CompleteWait=0
MessageTimeout=30
SlurmctldTimeout=120
SlurmdTimeout=120
InactiveLimit=0
"""


def missing_programs():
    """What a cluster needs and this machine does not have."""
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    return [name for name in PROGRAMS if not shutil.which(name, path=path)]


def lock_port(port):
    """Against other test runs of the same user; None when one of them has it."""
    folder = pathlib.Path(tempfile.gettempdir()) / f"berth-test-ports-{os.geteuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    lock = open(folder / str(port), "w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with socket.socket() as probe:
            probe.bind(("", port))
        return lock
    except OSError:
        lock.close()
        return None


def free_ports(count):
    """Ports that nobody else takes before this process ends, also while nothing listens there: the kernel gives none
    of them to whoever asks for any port, and other test runs see that they are locked."""
    kernels, _ = map(int, pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
    candidates = range(10000, kernels if kernels > 11000 else 32768)
    found = []
    for port in random.SystemRandom().sample(candidates, len(candidates)):
        if len(found) == count:
            break
        if lock := lock_port(port):
            LOCKED_PORTS.append(lock)
            found.append(port)
    return found


def die_with_parent():
    """In the child: a test that is killed takes its cluster with it."""
    os.setpgid(0, 0)  # Ctrl-C is for the test, which stops things in order.
    PR_SET_PDEATHSIG = 1
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class SlurmCluster:
    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="berth-slurm-"))
        self.config = self.folder / "slurm.conf"
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith(("SLURM", "SBATCH", "SQUEUE"))}
        self.environment["PATH"] = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
        self.environment["SLURM_CONF"] = str(self.config)
        self.daemons = {}

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    # Daemons, each a child of ours in front, so that its pid is certain.

    def spawn(self, name, *words):
        with open(self.folder / f"log/{name}.out", "ab") as log:
            self.daemons[name] = subprocess.Popen(
                words, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                preexec_fn=die_with_parent, cwd="/")

    def end(self, name, number=signal.SIGTERM):
        daemon = self.daemons.pop(name, None)
        if not daemon:
            return
        daemon.send_signal(number)
        try:
            daemon.wait(20)
        except subprocess.TimeoutExpired:
            daemon.kill()
            daemon.wait()

    def start(self):
        for name in ("munge", "run", "log", "state", "spool"):
            (self.folder / name).mkdir(mode=0o700)
        (self.folder / "plugstack.conf").touch()
        key = self.folder / "munge/key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        self.write_settings()
        self.spawn("munged", "munged", "--foreground", "--force", f"--key-file={key}",
                   f"--socket={self.folder}/munge/munge.sock", f"--seed-file={self.folder}/munge/seed",
                   f"--pid-file={self.folder}/run/munged.pid", f"--log-file={self.folder}/log/munged.log")
        self.wait_until(lambda: (self.folder / "munge/munge.sock").exists(), "munged")
        self.start_controller("-c")
        for name in self.nodes:
            (self.folder / "spool" / name).mkdir(mode=0o755)
            self.start_node(name)
        self.wait_until(lambda: self.states() == ["idle"] * NODES, "idle nodes")

    def write_settings(self):
        host = socket.gethostname().split(".")[0]
        controller_port, *ports = free_ports(1 + NODES)
        text = SETTINGS.format(host=host, folder=self.folder, controller_port=controller_port,
                               user=pwd.getpwuid(os.geteuid()).pw_name)
        self.nodes = [f"n{number}" for number in range(1, NODES + 1)]
        for name, port in zip(self.nodes, ports):
            text += (f"NodeName={name} NodeAddr=127.0.0.1 NodeHostname={host} Port={port} CPUs=8 Sockets=1"
                     " CoresPerSocket=8 ThreadsPerCore=1 RealMemory=64000 State=UNKNOWN\n")
        text += f"PartitionName=main Nodes=n[1-{NODES}] Default=YES MaxTime=INFINITE State=UP\n"
        text += f"PartitionName=short Nodes=n[1-{NODES}] MaxTime=1 State=UP\n"
        self.config.write_text(text)

    def start_controller(self, *words):
        self.spawn("slurmctld", "slurmctld", "-D", "-f", str(self.config), *words)
        self.wait_until(lambda: self.run("scontrol", "ping").stdout.find(" is UP") >= 0, "slurmctld")

    def stop_controller(self, number=signal.SIGTERM):
        self.end("slurmctld", number)

    def start_node(self, name):
        self.spawn(name, "slurmd", "-D", "-f", str(self.config), "-N", name)

    # What people type.

    def run(self, *words, check=False):
        return subprocess.run(words, env=self.environment, stdin=subprocess.DEVNULL, text=True,
                              capture_output=True, timeout=DEADLINE, check=check)

    def jobs(self, *more, format="%i|%T|%j"):
        """One list of fields for each job that squeue shows. On a busy machine it may get no answer, and is asked again."""
        until = time.monotonic() + DEADLINE
        while (shown := self.run("squeue", "--noheader", f"--format={format}", *more)).returncode != 0:
            if time.monotonic() > until:
                raise RuntimeError(f"squeue ended with {shown.returncode}: {shown.stderr}\n{self.logs()}")
            time.sleep(0.2)
        return [line.split("|") for line in shown.stdout.splitlines()]

    def states(self):
        shown = self.run("sinfo", "--noheader", "--Node", "--partition=main", "--format=%t").stdout
        return shown.split()

    def wait_until(self, is_so, what):
        until = time.monotonic() + DEADLINE
        while not is_so():
            dead = [name for name, daemon in self.daemons.items() if daemon.poll() is not None]
            if dead or time.monotonic() > until:
                raise RuntimeError(f"no {what}; dead: {dead}\n{self.logs()}")
            time.sleep(0.05)

    def logs(self):
        files = sorted((self.folder / "log").glob("*"))
        return "\n".join(f"--- {file.name}\n{file.read_text(errors='replace')[-2000:]}" for file in files)

    # The end.

    def stop(self):
        """Ends every process of the cluster, by pid, and removes the directory."""
        if "slurmctld" in self.daemons:
            with contextlib.suppress(Exception):
                self.run("scancel", f"--user={os.geteuid()}")
                self.wait_until(lambda: not self.jobs(), "end of the jobs")
        for name in reversed(list(self.daemons)):
            self.end(name)
        for pid in self.leftovers():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)

    def leftovers(self):
        """Steps and what they run: not our children, but known by the settings they were given."""
        mark, found = f"SLURM_CONF={self.config}".encode(), []
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                is_ours = mark in (folder / "environ").read_bytes().split(b"\0")
                if is_ours and int(folder.name) != os.getpid():
                    found.append(int(folder.name))
        return found


def run(words):
    def interrupted(number, _):
        raise SystemExit(128 + number)

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupted)
    missing = missing_programs()
    if missing:
        print(f"slurm_cluster: no {', '.join(missing)}; tools/install-deps --test has them", file=sys.stderr)
        return 1 if os.environ.get("CI") else subprocess.call(words)
    with SlurmCluster() as cluster:
        return subprocess.call(words, env=cluster.environment)


if __name__ == "__main__":
    if len(sys.argv) < 4 or sys.argv[1:3] != ["run", "--"]:
        sys.exit(__doc__)
    sys.exit(run(sys.argv[3:]))

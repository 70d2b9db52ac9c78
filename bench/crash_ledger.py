# SPDX-License-Identifier: Apache-2.0
"""The crash ledger (tests/ledger) on Berth and on a real Slurm: one schedule of kills, one judge, one table."""

import argparse
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/ledger"))

import books  # noqa: E402
import judge  # noqa: E402
import plan  # noqa: E402

CLIENTS = 6
# A submit that has not come back by then was not acknowledged; a queue that does not move for so long is stuck.
PATIENCE, STANDSTILL = 30, 60
ROWS = ("lost", "run twice", "overlapping", "stuck", "left over")


def on_berth(binary, kills, seed, folder):
    os.environ["BERTH_BINARY"] = str(binary)
    import ledger  # after the binary is named

    ledger.run(argparse.Namespace(kills=kills, seed=seed), folder)


class SlurmClient(threading.Thread):
    OPEN = 5  # jobs it has not seen the end of

    def __init__(self, number, seed, cluster, folder, stop):
        super().__init__(daemon=True)
        self.wishes, self.cluster, self.folder, self.stop = plan.wishes(seed, number), cluster, folder, stop
        self.book = books.Book(folder, f"client-{number}")
        self.open = []

    def run(self):
        while not self.stop.is_set():
            wish = next(self.wishes)
            self.book.note("asked", job=wish.job, target="pool", code=wish.code)
            if self.submit(wish):
                self.book.note("put", job=wish.job, body="a", status=201, made=None)
                self.open.append(wish.job)
            self.follow()

    def submit(self, wish):
        words = [self.folder / "job.sh", self.folder / "marks" / wish.job, wish.ticks, wish.code, wish.kind]
        try:
            done = subprocess.run(["sbatch", "--parsable", "--job-name", wish.job, "--output", "/dev/null", "--wrap",
                                   "exec " + " ".join(map(str, words))], env=self.cluster.environment,
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0

    def follow(self):
        """Not for ever: what was lost never ends."""
        until = time.monotonic() + 2
        while len(self.open) > self.OPEN and time.monotonic() < until and not self.stop.is_set():
            self.open = [job for job in self.open if not has_ended(self.folder, job)]
            time.sleep(0.02)
        del self.open[:-self.OPEN]


def has_ended(folder, job):
    marks = folder / "marks" / job
    return marks.exists() and "\nend " in marks.read_text()


def steps(cluster):
    """Slurm's supervisors: one for each job that runs."""
    return [pid for pid in cluster.leftovers() if read(f"/proc/{pid}/comm") == "slurmstepd"]


def read(path):
    try:
        return pathlib.Path(path).read_text().strip()
    except OSError:
        return ""


def kill(cluster, each, book):
    """As tests/ledger does to Berth: the controller for the server, slurmd for an agent, slurmstepd for a supervisor."""
    nodes = {"agent": [cluster.nodes[int(each.pick * len(cluster.nodes))]], "server+agents": cluster.nodes,
             "everything": cluster.nodes}.get(each.kind, [])
    takes_controller = each.kind in ("server", "server+agents", "everything")
    if takes_controller:
        cluster.end("slurmctld", signal.SIGKILL)
    for name in nodes:
        cluster.end(name, signal.SIGKILL)
    supervisors = steps(cluster) if each.kind in ("everything", "supervisors") else []
    for pid in supervisors:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    book.note("kill", kind=each.kind, supervisors=supervisors, pids=[])
    time.sleep(each.down)
    for name in nodes:
        cluster.start_node(name)
    if takes_controller:
        cluster.start_controller()


def settle(cluster, folder, book):
    """Until the queue is empty, or does not move any more."""
    shown, changed = None, time.monotonic()
    while (now := sorted(cluster.jobs())) and time.monotonic() < changed + STANDSTILL:
        if now != shown:
            shown, changed = now, time.monotonic()
        time.sleep(0.2)
    waiting = {name: state for _, state, name in now}
    ledger = books.read(folder)
    excuses = judge.Judge(ledger)
    for job, entry in ledger.entries.items():
        end = next((run.code for run in reversed(entry.runs) if run.code is not None), None)
        # With its supervisor killed it may have failed, and finished jobs are not kept.
        may_have_failed = entry.runs and excuses.is_excused(entry.runs[-1])
        is_known = job in waiting or end is not None or may_have_failed
        book.note("found", job=job, status=200 if is_known else 404)
        if not is_known:
            continue
        book.note("listed", job=job)
        if job in waiting:
            book.note("told", job=job, status=waiting[job].capitalize(), message="")
        else:
            book.note("told", job=job, status="Completed" if end == 0 else "Failed",
                      message=f"exited with code {end}" if end else "")
    if not waiting:
        for pid in steps(cluster):
            book.note("left", kind="process", name=str(pid))
    for job, pid, ticks in books.left_daemons(folder):
        stat = read(f"/proc/{pid}/stat").rsplit(")", 1)[-1].split()
        if job not in waiting and len(stat) > 19 and int(stat[19]) == ticks:
            book.note("left", kind="process", name=f"{pid} of {job}")


def on_slurm(kills, seed, folder):
    import slurm_cluster

    (folder / "marks").mkdir()
    shutil.copy(pathlib.Path(books.__file__).parent / "job.sh", folder)
    book, stop = books.Book(folder, "ledger"), threading.Event()
    with slurm_cluster.SlurmCluster() as cluster:
        clients = [SlurmClient(number, seed, cluster, folder, stop) for number in range(CLIENTS)]
        for client in clients:
            client.start()
        began = time.monotonic()
        for each in plan.kills(seed, kills):
            time.sleep(each.pause)
            kill(cluster, each, book)
        print(f"Slurm: {kills} kills in {time.monotonic() - began:.0f} s", file=sys.stderr)
        stop.set()
        for client in clients:
            client.join()
        settle(cluster, folder, book)


def figures_of(folder):
    ledger = books.read(folder)
    findings = judge.judge(ledger)
    figures = {"acknowledged": sum(entry.acknowledged for entry in ledger.entries.values())}
    for charge in ROWS:
        figures[charge] = len({(each.job, each.text) if charge == "left over" else each.job
                               for each in findings if each.charge == charge})
    return figures


def measure(binary, kills, seed=None):
    """Peer -> row -> number."""
    import slurm_cluster

    seed = random.SystemRandom().randrange(1_000_000) if seed is None else seed
    peers = {"Berth": lambda folder: on_berth(binary, kills, seed, folder)}
    if not slurm_cluster.missing_programs():
        peers["Slurm"] = lambda folder: on_slurm(kills, seed, folder)
    figures = {}
    for name, run in peers.items():
        with tempfile.TemporaryDirectory(prefix="berth-ledger-") as scratch:
            run(pathlib.Path(scratch))
            figures[name] = figures_of(pathlib.Path(scratch))
    return {"kills": kills, "seed": seed, "peers": figures}


def show(figures):
    peers = figures["peers"]
    print(f"\n{figures['kills']} times kill -9, seed {figures['seed']:<12}" + "".join(f"{name:>10}" for name in peers))
    for row in ("acknowledged", *ROWS):
        print(f"{row:<35}" + "".join(f"{peers[name][row]:>10}" for name in peers))

# SPDX-License-Identifier: Apache-2.0
"""Who runs short jobs: Berth, and what people use instead. Each is a function that returns jobs a second."""

import os
import pathlib
import shutil
import subprocess
import time

import hyperqueue_peer


def find(berth, bench_jobs, jobs):
    """Name -> function, for every peer that is installed here. The first is Berth."""
    here = {"berth": Program([bench_jobs, "--cluster", berth, jobs]),
            "posix_spawn loop": Program([bench_jobs, "--loop", jobs])}
    if shutil.which("parallel"):
        here["GNU parallel"] = Parallel(jobs)
    hyperqueue = hyperqueue_peer.environment()
    if hyperqueue:
        here["HyperQueue"] = Program([hyperqueue, hyperqueue_peer.__file__, max(4 * jobs, 3000)])
    if shutil.which("slurmctld") or pathlib.Path("/usr/sbin/slurmctld").exists():
        here["Slurm"] = Slurm(max(jobs // 5, 20))
    return here


def close(contestants):
    for contestant in contestants.values():
        contestant.close()


class Program:
    """Prints its rate, alone on its last line."""

    def __init__(self, words):
        self.words = [str(word) for word in words]

    def __call__(self):
        done = subprocess.run(self.words, check=True, capture_output=True, text=True)
        return float(done.stdout.split()[-1])

    def close(self):
        pass


class Parallel:
    def __init__(self, jobs):
        self.jobs = jobs

    def __call__(self):
        began = time.monotonic()
        subprocess.run(["parallel", "--will-cite", "-j", str(os.cpu_count()), "bash -c true #{}", ":::",
                        *map(str, range(self.jobs))], check=True, stdin=subprocess.DEVNULL)
        return self.jobs / (time.monotonic() - began)

    def close(self):
        pass


class Slurm:
    """A real one, on this machine: each job by a sbatch of its own, eight at a time, until the queue is empty."""

    def __init__(self, jobs):
        import slurm_cluster

        self.jobs = jobs
        self.cluster = slurm_cluster.SlurmCluster()
        self.cluster.__enter__()

    def submit(self, count):
        words = ["sbatch", "-o", "/dev/null", "--wrap", "true"]
        submits = [subprocess.Popen(words, env=self.cluster.environment, stdout=subprocess.DEVNULL)
                   for _ in range(count)]
        for submit in submits:
            assert submit.wait() == 0, "sbatch"

    def __call__(self):
        began = time.monotonic()
        for start in range(0, self.jobs, 8):
            self.submit(min(8, self.jobs - start))
        while self.cluster.jobs():
            time.sleep(0.02)
        return self.jobs / (time.monotonic() - began)

    def close(self):
        self.cluster.__exit__(None, None, None)

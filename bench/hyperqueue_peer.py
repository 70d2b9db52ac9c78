# SPDX-License-Identifier: Apache-2.0
"""HyperQueue, with its Python package from PyPI: a server and a worker of this machine's cores in one process, which keep
nothing on disk. Its own binary is in no package registry.

Run by the interpreter of its environment, this file is the peer itself: it prints jobs a second."""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

VERSION = "0.27.0"


def environment():
    """The interpreter of a virtual environment that has it; nothing when PyPI does not give it to us."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"))
    venv = cache / "berth-bench" / f"hyperqueue-{VERSION}"
    if not (venv / "ready").exists():
        done = subprocess.run([sys.executable, "-m", "venv", venv], stdout=sys.stderr)
        if done.returncode == 0:
            done = subprocess.run([venv / "bin/pip", "install", "-q", "--disable-pip-version-check",
                                   f"hyperqueue=={VERSION}"], stdout=sys.stderr)
        if done.returncode != 0:
            return None
        (venv / "ready").touch()
    return venv / "bin/python"


def measure(count):
    """Its client looks once a second, so the rate is that between its first look and its last before the end."""
    from hyperqueue import Job, LocalCluster
    from hyperqueue.cluster import WorkerConfig

    with tempfile.TemporaryDirectory() as folder, LocalCluster(f"{folder}/server", WorkerConfig()) as cluster:
        client = cluster.client()

        def run(tasks):
            job = Job(default_workdir=folder)
            for _ in range(tasks):
                job.program(["/bin/bash", "-c", "true"], stdout=None, stderr=None)
            looks = []
            client.connection.wait_for_jobs(
                (client.submit(job).id,),
                lambda jobs: looks.append((time.monotonic(), sum(each["finished"] for each in jobs.values()))))
            return [look for look in looks if 0 < look[1] < tasks]

        run(10)  # Its worker is there after this.
        looks = run(count)
        (began, before), (ended, after) = looks[0], looks[-1]
        return (after - before) / (ended - began)


if __name__ == "__main__":
    print(measure(int(sys.argv[1])))

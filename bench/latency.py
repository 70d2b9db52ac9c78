# SPDX-License-Identifier: Apache-2.0
"""From before a submit to the job's first instruction: Berth on an idle node, and Slurm's srun and sbatch."""

import os
import pathlib
import shutil
import tempfile
import time

import scale

MARK = "date +%s.%N > {mark}.part; mv {mark}.part {mark}"


class Commands:
    """Marks are files in a folder of their own; each way is a function that returns milliseconds."""

    def __init__(self, berth, slurm, folder):
        self.berth, self.slurm, self.folder, self.count = berth, slurm, folder, 0
        self.empty = folder / "empty"
        self.empty.mkdir()

    def timed(self, start):
        self.count += 1
        mark = self.folder / f"mark{self.count}"
        began = time.time()
        start(mark)
        scale.wait(mark.exists)
        return 1000 * (float(mark.read_text()) - began)

    def by_request(self):
        self.count += 1
        return scale.first_instruction(self.berth, self.folder, f"put{self.count}", "local")

    def by_run(self):
        """In a folder without files: srun does not send any either."""
        return self.timed(lambda mark: self.berth.ok("run", "--", "sh", "-c", MARK.format(mark=mark), cwd=self.empty))

    def by_srun(self):
        return self.timed(lambda mark: self.slurm.run("srun", "sh", "-c", MARK.format(mark=mark), check=True))

    def by_sbatch(self):
        return self.timed(lambda mark: self.slurm.run("sbatch", "-o", "/dev/null", "--wrap", MARK.format(mark=mark),
                                                      check=True))


def measure(binary, rounds):
    os.environ["BERTH_BINARY"] = str(binary)
    import harness  # after the binary is named
    import slurm_cluster

    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "here"
        folder.mkdir()
        berth = harness.Berth(pathlib.Path(scratch) / "home", folder)
        has_slurm = not slurm_cluster.missing_programs() and shutil.which("srun")
        slurm = slurm_cluster.SlurmCluster() if has_slurm else None
        try:
            commands = Commands(berth, slurm.__enter__() if slurm else None, folder)
            ways = {"berth, one request": commands.by_request, "berth run": commands.by_run}
            if slurm:
                ways |= {"srun": commands.by_srun, "sbatch": commands.by_sbatch}
            commands.by_request()  # Starts the node.
            figures = {name: [] for name in ways}
            for _ in range(rounds):
                for name, way in ways.items():
                    figures[name].append(way())
            return figures
        finally:
            berth.stop()
            if slurm:
                slurm.__exit__(None, None, None)

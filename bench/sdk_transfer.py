# SPDX-License-Identifier: Apache-2.0
"""Files through azure-ai-ml as it comes from PyPI, up and down; the peer is a plain copy on the same disk."""

import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
BIG = 1 << 30
MANY = 10_000

# What the client does, in a process with its own packages; prints the seconds of each step.
CLIENT = """
import json, logging, pathlib, sys, time
logging.disable(logging.CRITICAL)
from azure.ai.ml import MLClient, command
from azure.ai.ml.entities import Environment, Model
from azure.identity import DefaultAzureCredential

what, path, target = sys.argv[1:]
ml = MLClient(DefaultAzureCredential(), "00000000-0000-0000-0000-000000000000", "berth", "default", show_progress=False)
ml.workspaces.get("default")  # A token, and the connection, are not what is measured.
began, used = time.monotonic(), time.process_time()
if what == "up":
    ml.models.create_or_update(Model(name="big", version="1", path=path, type="custom_model"))
elif what == "down":
    ml.models.download("big", "1", download_path=target)
else:
    ml.jobs.create_or_update(command(command="true", code=path, environment=Environment(image="debian:12")))
print(json.dumps([time.monotonic() - began, time.process_time() - used]))
"""


def copy(source, target):
    """Seconds of a plain copy that is on the disk when it is over."""
    began = time.monotonic()
    with open(source, "rb") as reading, open(target, "wb") as writing:
        shutil.copyfileobj(reading, writing, 1 << 20)
        writing.flush()
        os.fsync(writing.fileno())
    return time.monotonic() - began


def copy_tree(source, target):
    began = time.monotonic()
    shutil.copytree(source, target)
    os.sync()
    return time.monotonic() - began


def peak_of(pid):
    """The most memory the process has had, in MiB."""
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    raise AssertionError("no VmHWM")


def cpu_of(pid):
    """Processor time it has used, in seconds."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def make_big(path):
    block = os.urandom(1 << 20)
    with open(path, "wb") as file:
        for number in range(BIG >> 20):
            file.write(number.to_bytes(8, "big") + block[8:])


def make_many(folder):
    for number in range(MANY):
        file = folder / f"{number % 100:02}" / f"{number}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"print({number})\n")


def one_round(harness, python, scratch):
    """Seconds of each step, and the server's memory, on a state directory of its own."""
    here = scratch / "here"
    here.mkdir()
    berth = harness.Berth(scratch / "home", here)
    berth.ensure_server()
    environment = berth.environment | berth.ok("env", "-o", "json").json | {"HOME": str(here)}

    def client(what, path="-", target="-"):
        done = subprocess.run([python, "-c", CLIENT, what, str(path), str(target)], env=environment, cwd=here,
                              stdout=subprocess.PIPE, check=True, text=True)
        return json.loads(done.stdout.splitlines()[-1])

    big, many = here / "big.bin", here / "many"
    make_big(big)
    make_many(many)
    server = berth.server_pid()
    figures = {"copy": copy(big, here / "copy.bin"), "server MiB before": peak_of(server)}

    def step(name, *words, **keys):
        before = cpu_of(server)
        figures[name], figures[f"{name}, client CPU"] = client(*words, **keys)
        figures[f"{name}, server CPU"] = cpu_of(server) - before

    step("up", "up", big)
    step("down", "down", target=here / "down")
    assert next((here / "down").rglob("big.bin")).stat().st_size == BIG
    figures["server MiB at most"] = peak_of(server)
    figures["copy of many"] = copy_tree(many, here / "copies")
    step("many up", "many", many)
    berth.stop()
    return figures


def measure(binary, rounds):
    os.environ["BERTH_BINARY"] = str(binary)
    import harness  # after the binary is named

    venv = subprocess.run([HERE.parent / "tests/clients/venv", "azure-ai-ml-new"], check=True, stdout=subprocess.PIPE,
                          text=True).stdout.strip()
    figures = []
    for number in range(rounds):
        with tempfile.TemporaryDirectory() as scratch:
            figures.append(one_round(harness, f"{venv}/bin/python", pathlib.Path(scratch)))
        print(f"round {number + 1}/{rounds}  {figures[-1]}", file=sys.stderr)
    return figures


def show(figures):
    middle = {name: statistics.median(each[name] for each in figures) for name in figures[0]}
    print(f"\n{'1 GiB with azure-ai-ml':<24} {'seconds':>8} {'MiB/s':>7} {'of a copy':>10} {'server CPU, s':>14}")
    for name in ("copy", "up", "down"):
        used = middle.get(f"{name}, server CPU")
        print(f"{name:<24} {middle[name]:8.2f} {1024 / middle[name]:7.0f} {middle['copy'] / middle[name]:9.2f}x"
              f" {'' if used is None else format(used, '14.2f')}")
    print(f"the server's memory: {middle['server MiB before']:.0f} MiB before, {middle['server MiB at most']:.0f} at most")
    print(f"{MANY} files in a code folder: {middle['many up']:.1f} s, of which {middle['many up, server CPU']:.1f} s of the "
          f"server's processor time; a plain copy of them {middle['copy of many']:.1f} s")

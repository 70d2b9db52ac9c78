#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The soak: a steady mixed load for long, and whether the server, its nodes and its files became larger by it.

    BERTH_BINARY=build/berth tests/soak/soak.py [--minutes N] [--rate X] [--keep FOLDER]
    tests/soak/soak.py --judge FOLDER            what an earlier run with --keep left

Short jobs on `local` and on a cluster that grows and shrinks, cancels, lists, MLflow, blobs, logs that are followed,
and readers that stay. Samples are taken all the while; judge.py compares late ones with early ones.
"""

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]

import judge  # noqa: E402
import load  # noqa: E402
from harness import LEAVE_DEADLINE, Berth, eventually, kill, memory_kib  # noqa: E402


def descriptors(pid):
    with contextlib.suppress(OSError):
        return len(os.listdir(f"/proc/{pid}/fd"))
    return 0


def memory(pid):
    with contextlib.suppress(OSError, AssertionError):
        return memory_kib(pid) << 10
    return 0


def size_of(path):
    with contextlib.suppress(OSError):
        return path.stat().st_size
    return 0


def count_below(root):
    """Files and directories; what goes while it is looked at does not matter."""
    files = directories = 0
    for _, below, names in os.walk(root):
        directories, files = directories + len(below), files + len(names)
    return files, directories


def sample(berth, server, shared, began):
    """The local agent and those of the cluster: nodes that come and go are looked at together."""
    agents = berth.node_pids()
    files, directories = count_below(berth.home)
    threads = len(os.listdir(f"/proc/{server}/task"))
    with shared.lock:
        counts = dict(shared.counts)
    return {"seconds": round(time.monotonic() - began, 1),
            "server memory": memory(server),
            "server descriptors": descriptors(server),
            "server threads": threads,
            "agents memory": sum(map(memory, agents)),
            "agents descriptors": sum(map(descriptors, agents)),
            "database log": size_of(berth.home / "berth.db-wal"),
            "database": size_of(berth.home / "berth.db"),
            "files": files,
            "directories": directories,
            "processes": len(berth.processes())} | counts


def play(berth, options, book):
    """The load, with samples. Returns them and what went wrong."""
    process = berth.start_server("--slots", "3", "--node-idle", "2")
    shared = load.Shared(berth, options.rate)
    workers = [worker(shared) for worker in load.WORKERS]
    watch = load.Watch(shared)
    for worker in [*workers, watch]:
        worker.start()
    began, samples = time.monotonic(), []
    length = options.minutes * 60
    pause = max(0.5, min(10.0, length / 120))
    try:
        while time.monotonic() - began < length and not shared.troubles:
            time.sleep(pause)
            if process.poll() is not None:
                shared.troubles.append(f"the server ended with {process.returncode}")
                break
            samples.append(sample(berth, process.pid, shared, began))
            book.write(json.dumps(samples[-1]) + "\n")
            book.flush()
    finally:
        shared.stop.set()
        for worker in [*workers, watch]:
            worker.join(load.DEADLINE * 2)
    shared.troubles += [f"{worker.name} hangs" for worker in workers if worker.is_alive()]
    print(", ".join(f"{name} {times}" for name, times in sorted(shared.done.items())),
          "| jobs are deleted" if shared.can_delete else "| jobs are kept")
    return samples, shared.troubles


def show(folder):
    samples = [json.loads(line) for line in (folder / "samples.jsonl").read_text().splitlines()]
    lines = judge.judge(samples)
    print(f"{len(samples)} samples in {samples[-1]['seconds']:.0f} s\n{judge.table(lines)}")
    return not any(line.trouble for line in lines)


def run(options, folder):
    home = folder / "home"
    (folder / "here").mkdir(parents=True)
    berth = Berth(home, folder / "here")
    try:
        with open(folder / "samples.jsonl", "w") as book:
            _, troubles = play(berth, options, book)
        berth.stop()
        with contextlib.suppress(AssertionError):
            eventually(lambda: not berth.processes(), LEAVE_DEADLINE, "every process to go")
        troubles += [f"left running: {pid} {words}" for pid, words in berth.processes().items()]
        troubles += berth.reports()
        return troubles
    finally:
        for pid in berth.processes():
            kill(pid)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=float(os.environ.get("BERTH_SOAK_MINUTES", "1")),
                        help="1, or what BERTH_SOAK_MINUTES says")
    parser.add_argument("--rate", type=float, default=1, help="1: some six requests a second")
    parser.add_argument("--keep", type=pathlib.Path, help="where the samples and the state directory go, and stay")
    parser.add_argument("--judge", type=pathlib.Path, help="only judges what --keep left")
    options = parser.parse_args()
    if options.judge:
        sys.exit(0 if show(options.judge) else 1)
    folder = (options.keep or pathlib.Path(tempfile.mkdtemp(prefix="berth-soak-"))).resolve()
    troubles = run(options, folder)
    for trouble in troubles:
        print(f"  {trouble}")
    is_good = show(folder) and not troubles
    if is_good and not options.keep:
        shutil.rmtree(folder)
    elif not is_good:
        print(f"everything is in {folder}")
    sys.exit(0 if is_good else 1)


if __name__ == "__main__":
    main()

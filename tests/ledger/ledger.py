#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The crash ledger: jobs are asked for while kill -9 comes at random moments, and then it is added up.

    BERTH_BINARY=build/berth tests/ledger/ledger.py [--kills N] [--seed N] [--keep FOLDER]
    tests/ledger/ledger.py --judge FOLDER        what an earlier run with --keep left

Clients submit over HTTP to `local` and to a cluster of this machine. Server, agents and supervisors are
killed; only the server is started again, as a service manager would. What is wrong is decided by what
clients were told and by marks that the jobs wrote themselves (judge.py). The seed decides who is killed
in which order and after which pauses, and what is asked for.
"""

import argparse
import collections
import contextlib
import pathlib
import random
import shutil
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]

import books  # noqa: E402
import clients  # noqa: E402
import judge  # noqa: E402
import plan  # noqa: E402
from home import HANG, Home  # noqa: E402

CLIENTS = 6
UPLOADERS = 3
NODES = 2  # of the cluster


def make_cluster(door):
    body = {"location": "local", "properties": {"computeType": "AmlCompute", "properties": {
        "vmSize": "Standard_DS1_v2",
        "scaleSettings": {"minNodeCount": 0, "maxNodeCount": NODES, "nodeIdleTimeBeforeScaleDown": "PT1S"}}}}
    status, said = door.insist("PUT", "/computes/pool?api-version=2024-10-01", body)
    assert status in (200, 201, 202), said


def play(home, options, book):
    """The kills, with clients at work all the while. Returns how many of each kind, and of processes."""
    stop = threading.Event()
    crowd = [clients.Client(number, options.seed, home.path, home.folder, stop) for number in range(CLIENTS)]
    sweeper = clients.Sweeper(home.path, stop)
    crowd += [clients.Uploader(number, options.seed, home.path, home.folder, stop) for number in range(UPLOADERS)]
    crowd.append(sweeper)
    for client in crowd:
        client.start()
    counts = collections.Counter()
    try:
        for kill in plan.kills(options.seed, options.kills):
            time.sleep(kill.pause)
            counts["processes"] += home.kill(kill, book)
            counts[kill.kind] += 1
    except BaseException:
        clients.Door.given_up.set()
        raise
    finally:
        stop.set()
        for client in crowd:
            client.join(10 * clients.PATIENCE)
    for client in crowd:
        if client.trouble or client.is_alive():
            book.note("incident", text=f"{client.name} gave up: {client.trouble}")
    counts.update(sweeps=sweeper.sweeps, objects=sweeper.objects)
    return counts


def settle(home, folder, book):
    """Looks at every job until all are over, or nothing has changed for long."""
    door, entries = clients.Door(home.path), books.read(folder).entries
    waiting, changed = set(entries), time.monotonic()
    seen = {}
    while waiting and time.monotonic() < changed + HANG:
        for job in sorted(waiting):
            status = clients.look(door, book, job)
            if status in (None, *judge.TERMINAL):
                waiting.discard(job)
            if seen.get(job) != status:
                seen[job], changed = status, time.monotonic()
        time.sleep(0.05 if waiting else 0)
    for job in list_all(door):
        book.note("listed", job=job)
        book.note("log", job=job, text=home.berth.live_log(job).decode(errors="replace"))
    read_files(door, folder, book)
    door.close()


def read_files(door, folder, book):
    """After one more sweep, everything that was stored and is still wanted."""
    status, said = door.insist_on("POST", "/berth/v1/storage/sweep", b"{}")
    assert status == 200, said
    root = clients.blob_root(door)
    for path, file in books.read(folder).files.items():
        if file.is_kept:
            status, content = door.insist_on("GET", f"{root}/{path}")
            is_whole = content == plan.bytes_of(file.content)
            book.note("read", path=path, status=status, is_whole=is_whole)


def list_all(door):
    below = "/jobs?api-version=2024-10-01"
    while below:
        status, page = door.insist("GET", below)
        assert status == 200, page
        yield from (job["name"] for job in page["value"])
        following = page.get("nextLink")
        below = following.split("/workspaces/default", 1)[1] if following else None


def run(options, folder):
    (folder / "marks").mkdir(parents=True)
    shutil.copy(HERE / "job.sh", folder / "job.sh")
    book, home = books.Book(folder, "ledger"), Home(folder)
    with contextlib.ExitStack() as stack:
        stack.callback(home.end)
        home.start()
        make_cluster(clients.Door(home.path))
        began = time.monotonic()
        counts = play(home, options, book)
        took = time.monotonic() - began
        settle(home, folder, book)
        home.wait_until_idle()
        home.stop()
        home.note_left(book)
        kinds = ", ".join(f"{kind} {counts[kind]}" for kind in plan.KINDS)
        print(f"{counts['sweeps']} sweeps took away {counts['objects']} objects")
        print(f"{options.kills} kills in {took:.0f} s ({kinds}; {counts['processes']} processes), "
              f"control groups {'watched' if home.group.directories else 'cannot be made here'}")


def show(folder):
    ledger = books.read(folder)
    findings = judge.judge(ledger)
    print(judge.summary(ledger, findings))
    for finding in findings[:50]:
        print(f"  {finding.charge}: {finding.job}: {finding.text}")
    good = len(ledger.entries) - len({finding.job for finding in findings})
    print(f"\nledger: {good} jobs passed, {len(findings)} findings")
    return not findings


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    parser.add_argument("--keep", type=pathlib.Path, help="where the books, marks and the state directory go, and stay")
    parser.add_argument("--judge", type=pathlib.Path, help="only judges what --keep left")
    options = parser.parse_args()
    if options.judge:
        sys.exit(0 if show(options.judge) else 1)
    print(f"seed {options.seed} (ledger.py --kills {options.kills} --seed {options.seed})", flush=True)
    folder = options.keep or pathlib.Path(tempfile.mkdtemp(prefix="berth-ledger-"))
    run(options, folder.resolve())
    is_good = show(folder)
    if is_good and not options.keep:
        shutil.rmtree(folder)
    elif not is_good:
        print(f"everything is in {folder}")
    sys.exit(0 if is_good else 1)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""A ring all-reduce with the standard library, between the processes of a distributed job.

Each process has a vector and ends with the sum of all of them. The vector is cut into as many pieces
as there are processes; the pieces go round the ring twice: once to be added up, once to be handed on.
"""

import argparse
import array
import json
import os
import socket
import time

RANK, SIZE = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
MASTER = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
PATIENCE = 60


def connect(address):
    """All processes start at about the same time; the other may not listen yet."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return socket.create_connection(address, timeout=PATIENCE)
        except ConnectionRefusedError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


def collect_addresses(mine):
    """Rank 0 listens where MASTER_ADDR and MASTER_PORT say, and tells everybody about all others."""
    if RANK != 0:
        with connect(MASTER) as master, master.makefile("rw") as lines:
            print(json.dumps([RANK, *mine]), file=lines, flush=True)
            return json.loads(lines.readline())
    addresses, peers = {0: mine}, []
    with socket.create_server(MASTER) as listener:
        while len(addresses) < SIZE:
            peer = listener.accept()[0].makefile("rw")
            rank, *address = json.loads(peer.readline())
            addresses[rank] = address
            peers.append(peer)
    everybody = [addresses[rank] for rank in range(SIZE)]
    for peer in peers:
        print(json.dumps(everybody), file=peer, flush=True)
    return everybody


def make_ring():
    """Sockets to the next process and from the one before."""
    host = os.environ["AZ_BATCH_HOST_LIST"].split(",")[int(os.environ["NODE_RANK"])]
    with socket.create_server((host, 0)) as listener:
        addresses = collect_addresses([host, listener.getsockname()[1]])
        following = connect(tuple(addresses[(RANK + 1) % SIZE]))
        return following, listener.accept()[0]


def exchange(following, preceding, piece):
    """Sends a piece on and returns the one that comes; even ranks send first, so nobody waits in a circle."""
    received = array.array("d", bytes(8 * len(piece)))
    view = memoryview(received).cast("B")

    def receive():
        done = 0
        while done < len(view):
            count = preceding.recv_into(view[done:])
            assert count, "a process has left the ring"
            done += count

    if RANK % 2 == 0:
        following.sendall(piece)
        receive()
    else:
        receive()
        following.sendall(piece)
    return received


def all_reduce(vector, following, preceding):
    length = len(vector) // SIZE  # the pieces are of one length
    pieces = [vector[i * length:(i + 1) * length] for i in range(SIZE)]
    for step in range(SIZE - 1):
        arrived = exchange(following, preceding, pieces[(RANK - step) % SIZE])
        target = (RANK - step - 1) % SIZE
        pieces[target] = array.array("d", map(float.__add__, pieces[target], arrived))
    for step in range(SIZE - 1):
        pieces[(RANK - step) % SIZE] = exchange(following, preceding, pieces[(RANK - step + 1) % SIZE])
    return array.array("d", b"".join(piece.tobytes() for piece in pieces))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--numbers", type=int, default=100_000)
    length = -(-parser.parse_args().numbers // SIZE) * SIZE
    vector = array.array("d", (float(RANK + i % 7) for i in range(length)))
    following, preceding = make_ring()
    began = time.monotonic()
    total = all_reduce(vector, following, preceding)
    seconds = time.monotonic() - began
    ranks = SIZE * (SIZE - 1) // 2
    assert all(value == ranks + SIZE * (i % 7) for i, value in enumerate(total)), "the sum is wrong"
    print(f"rank {RANK} of {SIZE} on node {os.environ['NODE_RANK']}: {length} sums are right", flush=True)
    if RANK == 0:
        os.makedirs("outputs", exist_ok=True)
        with open("outputs/result.json", "w") as file:
            json.dump({"processes": SIZE, "numbers": length, "seconds": round(seconds, 6)}, file)


if __name__ == "__main__":
    main()

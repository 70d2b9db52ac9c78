# SPDX-License-Identifier: Apache-2.0
"""A node that lies: it speaks for others, reports what it does not have, or never stops talking."""

import base64
import json
import os
import signal
import struct

import pytest

from harness import eventually, grew_too_much, memory_kib

WORKSPACE_JOB = "victim"


class Channel:
    """As much of a WebSocket as it takes to be a nuisance."""

    def __init__(self, berth, node, token):
        self.socket = berth.raw()
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(f"GET /berth/v1/nodes/{node}/channel HTTP/1.1\r\nHost: {berth.host()}\r\n"
                            f"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
                            f"Sec-WebSocket-Version: 13\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
        head = b""
        while b"\r\n\r\n" not in head:
            piece = self.socket.recv(1)
            if not piece:
                break
            head += piece
        self.status = int(head.split()[1])

    def send_frame(self, data, opcode=1, announced=None):
        size = len(data) if announced is None else announced
        header = bytes([0x80 | opcode])
        if size < 126:
            header += bytes([0x80 | size])
        elif size < 1 << 16:
            header += bytes([0x80 | 126]) + struct.pack(">H", size)
        else:
            header += bytes([0x80 | 127]) + struct.pack(">Q", size)
        self.socket.sendall(header + b"\0\0\0\0" + data)  # A mask of zeros masks nothing.

    def send(self, **message):
        self.send_frame(json.dumps(message).encode())

    def hello(self, node, attempts=()):
        self.send(kind="Hello", node=node, version="0", slots=1, work_root="/nowhere", attempts=list(attempts))

    def read_exactly(self, count):
        data = b""
        while len(data) < count:
            piece = self.socket.recv(count - len(data))
            if not piece:
                raise ConnectionError("closed")
            data += piece
        return data

    def read_frame(self):
        first, second = self.read_exactly(2)
        size = second & 0x7F
        if size == 126:
            size = struct.unpack(">H", self.read_exactly(2))[0]
        elif size == 127:
            size = struct.unpack(">Q", self.read_exactly(8))[0]
        return first & 0x0F, self.read_exactly(size)

    def next(self, *kinds):
        """The next message of one of these kinds; the socket's timeout is the limit."""
        while True:
            opcode, data = self.read_frame()
            assert opcode != 8, "hung up on"
            message = json.loads(data) if opcode == 1 else {}
            if message.get("kind") in kinds:
                return message

    def is_closed(self):
        """Reads whatever comes until the server says good-bye, or is gone without a word."""
        try:
            while self.read_frame()[0] != 8:
                pass
            return True
        except TimeoutError:
            return False
        except OSError:
            return True


def workspace_id(berth):
    """As nodes know it: where its live logs lie."""
    return eventually(lambda: [path.name for path in (berth.home / "live").glob("*")], what="a live log")[0]


@pytest.fixture
def cluster(berth):
    """Job 'victim' runs on pool-1 and waits for its gate; pool-2 is there and idle."""
    berth.gate, berth.mark = berth.folder / "gate", berth.folder / "mark"
    berth.ok("compute", "create", "-n", "pool", "-t", "amlcompute", "--min-instances", 2, "--max-instances", 2)
    berth.submit(f"echo began; touch {berth.mark}; until [ -e {berth.gate} ]; do sleep 0.05; done", WORKSPACE_JOB,
                 compute="azureml:pool")
    eventually(berth.mark.exists, what="the victim to begin")
    nodes = lambda: berth.ok("compute", "list-nodes", "-n", "pool", "-o", "json").json  # noqa: E731
    eventually(lambda: sorted(node["node_state"] for node in nodes()) == ["idle", "running"], what="two nodes")
    berth.honest = next(node["node_id"] for node in nodes() if node["node_state"] == "running")
    berth.liar = next(node["node_id"] for node in nodes() if node["node_state"] == "idle")
    berth.key = {"workspace": workspace_id(berth),
                 "name": WORKSPACE_JOB}
    yield berth
    berth.ok("compute", "delete", "-n", "pool", "-y")


def token_of(berth, node):
    return (berth.home / "nodes" / node / "token").read_text().strip()


def check_unharmed(berth):
    assert berth.status_of(WORKSPACE_JOB) == "Running"
    berth.gate.touch()
    berth.wait(WORKSPACE_JOB, "Completed")
    assert berth.log(WORKSPACE_JOB) == b"began\n"


def attempt_of(berth, number=1):
    return {"job": berth.key, "attempt": number}


def test_its_token_opens_only_its_own_channel(cluster):
    token = token_of(cluster, cluster.liar)
    assert Channel(cluster, cluster.honest, token).status == 403
    assert Channel(cluster, cluster.honest, "nonsense").status == 401
    assert cluster.request("GET", "/berth/v1/status", token=token).status == 403
    assert cluster.get("/jobs", token=token).status == 403
    check_unharmed(cluster)


def test_it_cannot_say_hello_for_another(cluster):
    channel = Channel(cluster, cluster.liar, token_of(cluster, cluster.liar))
    assert channel.status == 101
    channel.hello(cluster.honest)
    assert channel.is_closed()
    check_unharmed(cluster)


@pytest.mark.parametrize("message", [
    {"kind": "Ended", "outcome": {"ending": "Exited", "exit_code": 0}, "log_size": 0},
    {"kind": "Ended", "outcome": {"ending": "Lost"}},
    {"kind": "Advanced", "phase": "Finalizing"},
    {"kind": "Prepared", "address": "10.0.0.1", "port": 1},
], ids=lambda message: message["kind"])
def test_reports_for_a_job_of_another_change_nothing(cluster, message):
    channel = Channel(cluster, cluster.liar, token_of(cluster, cluster.liar))
    channel.hello(cluster.liar)
    for number in (0, 1, 2):
        channel.send(**message, attempt=attempt_of(cluster, number))
    header = json.dumps({"kind": "LogChunk", "attempt": attempt_of(cluster), "offset": 0}).encode()
    channel.send_frame(header + b"\nforged\n", opcode=2)
    check_unharmed(cluster)


def test_addresses_of_a_job_of_another_are_not_given(cluster):
    channel = Channel(cluster, cluster.liar, token_of(cluster, cluster.liar))
    channel.hello(cluster.liar)

    channel.send(kind="Renew", attempt=attempt_of(cluster))

    assert channel.next("Launch", "Stop")["kind"] == "Stop"
    check_unharmed(cluster)


def test_whoever_has_the_job_gets_fresh_addresses_on_the_same_channel(cluster):
    agent = json.loads((cluster.home / "nodes" / cluster.honest / "identity.json").read_text())["pid"]
    os.kill(agent, signal.SIGSTOP)  # This test is the node meanwhile.
    try:
        channel = Channel(cluster, cluster.honest, token_of(cluster, cluster.honest))
        channel.hello(cluster.honest, [{"attempt": attempt_of(cluster), "phase": "Running"}])
        first = channel.next("Launch", "Stop")

        channel.send(kind="Renew", attempt=first["attempt"])

        again = channel.next("Launch", "Stop")
        assert again["kind"] == "Launch" and again["attempt"] == first["attempt"]
        assert again["deliveries"] and "sig=" in again["deliveries"][0]["container_url"]
    finally:
        os.kill(agent, signal.SIGCONT)
    channel.socket.close()
    check_unharmed(cluster)


@pytest.mark.parametrize("data,opcode", [
    (b"not json", 1), (b"{}", 1), (b'{"kind": 7}', 1), (b'{"kind":"Hello","attempts":{}}', 1), (b"\xff\xfe", 1),
    (b'{"kind":"Ended","attempt":{"job":{"workspace":"x","name":"../../x"},"attempt":-1}}', 1),
    (b"no newline", 2), (b"[" * 10000, 1), (b'{"kind":"Advanced"}', 1),
], ids=range(9))
def test_rubbish_gets_it_hung_up_on(cluster, data, opcode):
    channel = Channel(cluster, cluster.liar, token_of(cluster, cluster.liar))
    channel.send_frame(data, opcode)
    assert channel.is_closed()
    check_unharmed(cluster)


def test_a_frame_of_gigabytes_is_not_waited_for(cluster):
    server = cluster.server_pid()
    before = memory_kib(server)
    channel = Channel(cluster, cluster.liar, token_of(cluster, cluster.liar))
    channel.hello(cluster.liar)
    try:
        channel.send_frame(b"x" * 65536, opcode=2, announced=8 << 30)
        for _ in range(2000):
            channel.socket.sendall(b"x" * 65536)
    except OSError:
        pass  # Hung up on.
    assert channel.is_closed()
    assert not grew_too_much(before, memory_kib(server), 64)
    check_unharmed(cluster)


def test_endless_messages_are_survived(cluster):
    server = cluster.server_pid()
    before = memory_kib(server)
    channel = Channel(cluster, cluster.liar, token_of(cluster, cluster.liar))
    channel.hello(cluster.liar)
    header = json.dumps({"kind": "LogChunk", "attempt": attempt_of(cluster), "offset": 0}).encode()
    try:
        for _ in range(500):
            channel.send_frame(header + b"\n" + b"x" * 60000, opcode=2)
            channel.send(kind="Heartbeat", number=1)
    except OSError:
        pass
    assert not grew_too_much(before, memory_kib(server), 64)
    check_unharmed(cluster)

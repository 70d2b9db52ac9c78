# SPDX-License-Identifier: Apache-2.0
"""Requests that cost the sender nothing: millions of chunks, headers without end, connections that say nothing, numbers
that are none. Each is refused or borne, in bounded memory, and others are answered meanwhile."""

import json
import resource
import socket

import pytest

from harness import DEADLINE, WORKSPACE, eventually, grew_too_much, memory_kib


@pytest.fixture
def served(berth):
    berth.ensure_server()
    return berth


def read_all(raw):
    seen = b""
    try:
        while piece := raw.recv(65536):
            seen += piece
    except ConnectionError:
        pass
    return seen


def send_until_refused(raw, pieces):
    """A server that has had enough hangs up while we still send."""
    try:
        for piece in pieces:
            raw.sendall(piece)
    except (ConnectionError, TimeoutError):
        pass


def is_answered(berth):
    try:
        return berth.get("/jobs").status == 200
    except OSError:
        return False


def head(berth, method, path, **headers):
    lines = [f"{method} {path} HTTP/1.1", f"Host: {berth.host()}", f"Authorization: Bearer {berth.token()}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def test_a_million_chunks_of_one_byte_are_one_small_body(served):
    place, signature = served.container()
    before = memory_kib(served.server_pid())
    with served.raw() as raw:
        raw.sendall(head(served, "PUT", f"{place}/chunks?{signature}", Transfer_Encoding="chunked", x_ms_blob_type="BlockBlob"))
        for _ in range(100):
            raw.sendall(b"1\r\nx\r\n" * 10_000)
        raw.sendall(b"0\r\n\r\n")
        answer = read_all(raw)

    assert answer.startswith(b"HTTP/1.1 201"), answer
    assert not grew_too_much(before, memory_kib(served.server_pid()), 64)
    assert len(served.blob("GET", "chunks").body) == 1_000_000


def test_chunks_of_one_byte_do_not_pass_the_limit_of_a_body(served):
    """JSON is held in memory: 4 MiB of it, however it is cut."""
    before = memory_kib(served.server_pid())
    with served.raw() as raw:
        raw.sendall(head(served, "PUT", f"{WORKSPACE}/jobs/j", Transfer_Encoding="chunked", Content_Type="application/json"))
        send_until_refused(raw, (b"1\r\n \r\n" * 10_000 for _ in range(500)))
        answer = read_all(raw)

    assert answer[:12] in (b"HTTP/1.1 413", b""), answer
    assert served.get("/jobs/j").status == 404
    assert not grew_too_much(before, memory_kib(served.server_pid()), 64)


@pytest.mark.parametrize("extra", ["x: 1\r\n" * 100_000, "x: " + "y" * 1_000_000 + "\r\n", "x" * 1_000_000 + ": 1\r\n"],
                         ids=["100,000 headers", "1 MB of value", "1 MB of name"])
def test_heads_without_end_are_refused(served, extra):
    before = memory_kib(served.server_pid())
    with served.raw() as raw:
        send_until_refused(raw, [f"GET {WORKSPACE} HTTP/1.1\r\nHost: {served.host()}\r\n".encode(), extra.encode(), b"\r\n"])
        answer = read_all(raw)

    assert answer[:12] in (b"HTTP/1.1 431", b""), answer[:200]
    assert served.get("/jobs").status == 200
    assert not grew_too_much(before, memory_kib(served.server_pid()), 32)


def test_a_length_that_is_only_declared_costs_nothing(served):
    """A gigabyte, an exabyte and more than a number can hold: nothing is set aside for what has not come."""
    place, signature = served.container()
    before = memory_kib(served.server_pid())
    peers = []
    for path in (f"{WORKSPACE}/jobs/j", f"{place}/x?{signature}"):
        for length in (1 << 30, 1 << 60, 1 << 63, 1 << 70):
            raw = served.raw()
            raw.sendall(head(served, "PUT", path, Content_Length=length, x_ms_blob_type="BlockBlob", Content_Type="application/json"))
            peers.append(raw)

    assert served.get("/jobs").status == 200
    assert not grew_too_much(before, memory_kib(served.server_pid()), 32)
    for raw in peers:
        raw.close()


def test_thousands_of_silent_connections_hold_nobody_up(served):
    """As many as our own descriptors allow; the server has a cap of its own and drops what is beyond it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    count = min(3000, hard - 200)
    peers = []
    try:
        with served.connection() as early:
            early.request("GET", WORKSPACE, headers={"Authorization": f"Bearer {served.token()}"})
            assert early.getresponse().read()
            for number in range(count):
                peer = socket.create_connection(("127.0.0.1", served.cached_port()), timeout=DEADLINE)
                peers.append(peer)
                if number % 3:
                    send_until_refused(peer, [b"G" if number % 3 == 1 else b"\x16"])
            early.request("GET", WORKSPACE, headers={"Authorization": f"Bearer {served.token()}"})
            assert early.getresponse().status == 200
        assert not grew_too_much(0, memory_kib(served.server_pid()), 400)
    finally:
        for peer in peers:
            peer.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    eventually(lambda: is_answered(served), what="an answer to a new connection")


def test_more_silent_connections_than_there_may_be_shut_nobody_out(served):
    """The oldest that has shown nothing goes: who has shown who it is stays, and a new one gets in at once."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    cap = 1024  # Of strangers from one address; 4096 in all.
    if hard < cap + 400:
        pytest.skip("too few descriptors to have too many")
    count = min(5000, hard - 200)
    peers = []
    try:
        with served.connection() as early:
            early.request("GET", WORKSPACE, headers={"Authorization": f"Bearer {served.token()}"})
            assert early.getresponse().read()
            for _ in range(count):
                peers.append(socket.create_connection(("127.0.0.1", served.cached_port()), timeout=DEADLINE))
            assert served.get("/jobs").status == 200, "a new connection of somebody with a token"
            early.request("GET", WORKSPACE, headers={"Authorization": f"Bearer {served.token()}"})
            assert early.getresponse().status == 200
        assert any(b"too many connections" in path.read_bytes() for path in (served.home / "logs").glob("*.log"))
    finally:
        for peer in peers:
            peer.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def lazy_reader(berth, path, token):
    """Asks and does not read."""
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    raw.connect(("127.0.0.1", berth.cached_port()))
    raw.sendall(f"GET {path} HTTP/1.1\r\nHost: {berth.host()}\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
    return raw


def test_a_reader_who_does_not_read_holds_little_and_holds_up_nobody(served):
    """40 versions of a megabyte each: an answer has four of them, and says where the list goes on."""
    body = {"properties": {"dataType": "uri_file", "dataUri": "https://example.org/x", "description": "x" * 1_000_000}}
    for number in range(40):
        assert served.put(f"/data/large/versions/{number}", body).status == 201
    whole = f"{WORKSPACE}/data/large/versions?$top=1000"
    page = served.request("GET", whole)
    before = memory_kib(served.server_pid())
    readers = []
    try:
        for _ in range(24):
            readers.append(lazy_reader(served, whole, served.token()))
        for _ in range(20):
            assert served.get("/jobs").status == 200
        assert not grew_too_much(before, memory_kib(served.server_pid()), 200)
    finally:
        for reader in readers:
            reader.close()
    names, follow = [], 0
    while True:
        assert page.status == 200, page
        names += [each["name"] for each in page.json["value"]]
        assert len(page.body) < 8 << 20
        if "nextLink" not in page.json or not page.json["nextLink"]:
            break
        following = page.json["nextLink"].split(served.host(), 1)[1]
        # It takes the server a moment to see that the others have gone.
        page = eventually(lambda: next((answer for answer in [served.request("GET", following)] if answer.status != 429), None),
                          what="room for one more answer")
        follow += 1
    assert sorted(names, key=int) == [str(number) for number in range(40)]
    assert follow > 5


NUMBERS = ["1e999", "-1e999", "2147483648", "4294967296", "-1", "0", "9223372036854775807", "18446744073709551616", "1e18", "0.5",
           "-0", "NaN", "Infinity", "\"2147483648\"", "null", "[]", "1" + "0" * 5000]


def test_numbers_that_are_none_are_refused_or_borne(served):
    """What is taken must also be readable after a restart."""
    job = '{"properties":{"jobType":"Command","command":"true","environmentId":"azureml:x:1",%s}}'
    compute = '{"properties":{"computeType":"AmlCompute","properties":{"vmSize":"x","scaleSettings":{"maxNodeCount":%s,"minNodeCount":%s}}}}'
    for index, number in enumerate(NUMBERS):
        bodies = [("jobs/r", job % f'"resources":{{"instanceCount":{number}}}'),
                  ("jobs/p", job % f'"queueSettings":{{"priority":{number}}}'),
                  ("jobs/s", job % f'"services":{{"s":{{"port":{number}}}}}'),
                  ("jobs/d", job % f'"distribution":{{"distributionType":"PyTorch","processCountPerInstance":{number}}}'),
                  ("computes/c", compute % (number, 0)), ("computes/m", compute % (4, number))]
        for path, body in bodies:
            answer = served.request("PUT", f"{WORKSPACE}/{path}{index}", body.encode(), {"Content-Type": "application/json"})
            assert answer.status in (200, 201, 202, 400, 409), (path, number[:30], answer)
            json.loads(answer.body)
    for timeout in ("P99999999999999999999D", "PT-1S", "PT0S", "P1Y", "PT1e9S", "", "PT" + "9" * 30 + "S"):
        answer = served.put("/jobs/t", {"properties": json.loads(job % f'"limits":{{"jobLimitsType":"Command","timeout":"{timeout}"}}')["properties"]})
        assert answer.status in (200, 201, 400, 409), (timeout, answer)
    before = sorted(job["name"] for job in served.get("/jobs").json["value"])

    served.ok("server", "stop")

    served.ensure_server()
    assert sorted(job["name"] for job in served.get("/jobs").json["value"]) == before
    for compute in served.get("/computes").json["value"]:
        served.request("DELETE", f"{WORKSPACE}/computes/{compute['name']}?underlyingResourceAction=Delete")
    for name in before:
        served.post(f"/jobs/{name}/cancel")


def test_json_bombs_are_refused(served):
    """Deep, doubled, long: by the same reader as every body."""
    for body in (b"[" * 100_000, b'{"a":' * 100_000, b'{"properties":' + b"[" * 3000 + b"]" * 3000 + b"}",
                 b'{"properties":{"command":"' + b"\\u0000" * 600_000 + b'"}}'):
        answer = served.request("PUT", f"{WORKSPACE}/jobs/j", body, {"Content-Type": "application/json"})
        assert answer.status == 400, answer
    twice = b'{"properties":{"jobType":"Command","command":"first","command":"second","environmentId":"azureml:x:1"}}'
    answer = served.request("PUT", f"{WORKSPACE}/jobs/j", twice, {"Content-Type": "application/json"})
    assert answer.status in (200, 201, 400), answer

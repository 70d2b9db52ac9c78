# SPDX-License-Identifier: Apache-2.0
"""The one port: who is let in, how errors look, what slow and broken peers get."""

import json
import re
import socket
import ssl

import pytest

from harness import WORKSPACE, grew_too_much, memory_kib, short

BODY = {"properties": {"jobType": "Command", "command": "true", "environmentId": "azureml:x:1"}}
LOCATION = "/subscriptions/s/providers/Microsoft.MachineLearningServices/locations/local"
ROUTES = [
    ("GET", WORKSPACE), ("PUT", WORKSPACE), ("DELETE", WORKSPACE),
    ("GET", WORKSPACE.rsplit("/", 1)[0]), ("GET", WORKSPACE + "/jobs"), ("GET", WORKSPACE + "/jobs/j"),
    ("PUT", WORKSPACE + "/jobs/j"), ("DELETE", WORKSPACE + "/jobs/j"), ("POST", WORKSPACE + "/jobs/j/cancel"),
    ("GET", WORKSPACE + "/data"), ("PUT", WORKSPACE + "/data/d/versions/1"),
    ("GET", WORKSPACE + "/environments"), ("PUT", WORKSPACE + "/environments/e/versions/1"),
    ("GET", WORKSPACE + "/codes/c/versions/1"), ("POST", WORKSPACE + "/codes/c/versions/1/startPendingUpload"),
    ("GET", WORKSPACE + "/datastores"), ("POST", WORKSPACE + "/datastores/workspaceblobstore/listSecrets"),
    ("GET", f"/history/v1.0{WORKSPACE}/runs/j/details"), ("GET", "/berth/v1/status"),
    ("GET", WORKSPACE + "/computes"), ("GET", WORKSPACE + "/computes/c"), ("PUT", WORKSPACE + "/computes/c"),
    ("PATCH", WORKSPACE + "/computes/c"), ("DELETE", WORKSPACE + "/computes/c?underlyingResourceAction=Delete"),
    ("POST", WORKSPACE + "/computes/c/listNodes"), ("GET", WORKSPACE + "/computes/c/listNodes"),
    ("POST", WORKSPACE + "/computes/c/listKeys"), ("POST", WORKSPACE + "/computes/c/start"),
    ("POST", WORKSPACE + "/computes/c/stop"), ("POST", WORKSPACE + "/computes/c/restart"),
    ("GET", WORKSPACE + "/computes/c/operations/make"), ("GET", WORKSPACE + "/computes/c/operationResults/make"),
    ("GET", LOCATION + "/vmSizes"), ("GET", LOCATION + "/usages"), ("GET", LOCATION + "/quotas"),
    ("POST", LOCATION + "/updateQuotas"), ("GET", "/berth/v1/sites"), ("GET", "/berth/v1/sites/s"),
    ("PUT", "/berth/v1/sites/s"), ("DELETE", "/berth/v1/sites/s"), ("GET", "/berth/v1/nodes"),
    ("POST", "/berth/v1/nodes/n/preempt"), ("GET", f"/berth/v1{WORKSPACE}/usage"),
    ("POST", WORKSPACE + "/diagnose"), ("POST", WORKSPACE + "/listKeys"), ("GET", WORKSPACE + "/features"),
    ("GET", WORKSPACE + "/onlineEndpoints"), ("PUT", WORKSPACE + "/onlineEndpoints/e"),
    ("GET", "/providers/Microsoft.MachineLearningServices/operations"),
]


def check_error(answer, status):
    assert answer.status == status, answer
    error = answer.json["error"]
    assert error["code"] and error["message"], answer
    assert "application/json" in answer.headers["Content-Type"]


@pytest.fixture
def served(berth):
    berth.ensure_server()
    return berth


def test_every_route_wants_a_token(served):
    for method, path in ROUTES:
        for token in (False, "wrong", "berth-job.x.y", served.token()[:-1], served.token() + "x", "x" * 9000):
            answer = served.request(method, path, {} if method in ("PUT", "POST", "PATCH") else None, token=token)
            check_error(answer, 401)
            assert served.token() not in answer.body.decode()
    assert served.get("/jobs/j").status == 404


@pytest.mark.parametrize("header", ["Basic {}", "{}", "Bearer", "Bearer  ", "Bearer {} x", "bearer: {}"])
def test_a_malformed_authorization_is_401(served, header):
    value = header.format(served.token())

    answer = served.request("GET", WORKSPACE, headers={"Authorization": value}, token=False)

    check_error(answer, 401)


def test_paths_match_in_any_case_and_any_api_version_will_do(served):
    for path in (WORKSPACE.lower(), WORKSPACE.upper().replace("DEFAULT", "default"),
                 WORKSPACE.replace("resourceGroups", "resourcegroups")):
        for version in ("", "?api-version=1999-01-01", "?api-version=2099-12-31-preview", "?API-Version=x"):
            answer = served.request("GET", path + version)
            assert answer.status == 200, answer
            assert answer.json["name"] == "default"


def test_enum_values_match_in_any_case(served):
    body = json.loads(json.dumps(BODY).replace('"Command"', '"cOMMAND"'))

    answer = served.put("/jobs/j", body)

    assert answer.status in (200, 201), answer
    assert answer.json["properties"]["jobType"] == "Command"
    served.wait("j", "Completed")


def test_what_is_not_there_is_404_with_the_name(served):
    answer = served.get("/jobs/nobody")

    check_error(answer, 404)
    assert "nobody" in answer.json["error"]["message"]
    check_error(served.request("GET", "/no/such/path"), 404)
    check_error(served.request("GET", WORKSPACE[:-len("default")] + "elsewhere/jobs"), 404)


def test_another_method_on_a_path_is_refused(served):
    assert served.request("PATCH", WORKSPACE + "/jobs/j", {}).status in (404, 405, 501)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"properties": 1}', b'{"properties": {}}',
                                  b'{"properties":{"jobType":"Nonsense","command":"x"}}',
                                  b'{"properties":{"jobType":"Command","command":5}}',
                                  b'{"properties":{"jobType":"Command","command":"x","limits":{"timeout":"soon"}}}',
                                  b"[" * 100000, b'{"a":' * 100000, b'{"properties":' + b"9" * 100000 + b"}"], ids=short)
def test_a_broken_body_is_400(served, body):
    answer = served.request("PUT", WORKSPACE + "/jobs/j", body, {"Content-Type": "application/json"})

    check_error(answer, 400)
    assert served.get("/jobs/j").status == 404


def test_a_type_that_is_not_supported_says_so(served):
    for kind in ("Sweep", "Pipeline", "AutoML", "Spark"):
        answer = served.put("/jobs/j", {"properties": {"jobType": kind}})
        assert answer.status in (400, 501), answer
        assert kind.lower() in answer.json["error"]["message"].lower()


def test_a_body_over_the_limit_is_413_and_not_read(served):
    with served.raw() as raw:
        raw.sendall(f"PUT {WORKSPACE}/jobs/j HTTP/1.1\r\nHost: {served.host()}\r\nAuthorization: Bearer "
                    f"{served.token()}\r\nContent-Length: 99999999999\r\n\r\n".encode())
        assert raw.recv(4096).startswith(b"HTTP/1.1 413")


def test_a_head_over_the_limit_is_refused(served):
    with served.raw() as raw:
        raw.sendall(f"GET / HTTP/1.1\r\nHost: {served.host()}\r\nX: ".encode() + b"x" * 200000)
        try:
            answer = raw.recv(4096)
        except ConnectionError:
            answer = b""
    assert answer == b"" or re.match(rb"HTTP/1.1 4(31|00|13)", answer), answer


def test_tls_and_plain_on_one_port(served):
    assert served.request("GET", WORKSPACE).status == 200
    assert served.request("GET", WORKSPACE, tls=True).status == 200


def test_the_certificate_is_for_this_machine(served):
    port = served.cached_port()
    context = ssl.create_default_context(cafile=served.authority())
    for name in ("localhost", "127.0.0.1", "::1", socket.gethostname()):
        with socket.create_connection(("127.0.0.1", port)) as raw:
            with context.wrap_socket(raw, server_hostname=name) as secure:
                assert secure.version() in ("TLSv1.2", "TLSv1.3")
    with socket.create_connection(("127.0.0.1", port)) as raw:
        with pytest.raises(ssl.SSLCertVerificationError):
            context.wrap_socket(raw, server_hostname="example.org")


def test_old_tls_is_refused(served):
    context = ssl.create_default_context(cafile=served.authority())
    context.set_ciphers("DEFAULT@SECLEVEL=0")
    context.minimum_version = ssl.TLSVersion.TLSv1
    context.maximum_version = ssl.TLSVersion.TLSv1_1
    with served.raw() as raw, pytest.raises((ssl.SSLError, ConnectionError)):
        context.wrap_socket(raw, server_hostname="localhost")


def test_it_listens_on_loopback_only(served):
    port = f"{served.cached_port():04X}"
    listening = [line.split()[1] for name in ("tcp", "tcp6") for line in open(f"/proc/net/{name}")
                 if line.split()[3] == "0A"]
    mine = [address for address in listening if address.endswith(":" + port)]
    assert mine and not [address for address in mine if not address.startswith(("0100007F", "0" * 24 + "01000000"))]


def ask_with_target(berth, target):
    with berth.raw() as raw:
        raw.sendall(f"GET {target} HTTP/1.1\r\nHost: {berth.host()}\r\nAuthorization: Bearer {berth.token()}\r\nConnection: close\r\n\r\n".encode())
        answer = b""
        while piece := raw.recv(65536):
            answer += piece
    return int(answer.split()[1]), answer


def test_a_target_that_names_another_host_is_not_believed_either(served):
    """What the target says goes before the Host header (RFC 9112, 3.2.2), so it must be one of ours as well."""
    assert ask_with_target(served, f"http://evil.example.org{WORKSPACE}")[0] == 403
    assert ask_with_target(served, f"http://evil.example.org:{served.cached_port()}{WORKSPACE}")[0] == 403
    assert ask_with_target(served, f"http://{served.host()}@evil.example.org{WORKSPACE}")[0] == 403
    assert ask_with_target(served, f"gopher://{served.host()}{WORKSPACE}")[0] == 400
    assert ask_with_target(served, f"http://{served.host()}{WORKSPACE}")[0] == 200


def test_a_foreign_host_header_is_not_believed(served):
    """DNS rebinding: a page of another site must not reach us, nor get its own name into links."""
    answer = served.request("GET", WORKSPACE, headers={"Host": "evil.example.org"})

    assert "evil.example.org" not in answer.body.decode()


def test_many_requests_on_one_connection(served):
    with served.connection() as connection:
        for _ in range(50):
            connection.request("GET", WORKSPACE, headers={"Authorization": f"Bearer {served.token()}"})
            assert len(connection.getresponse().read()) > 10


def test_pipelined_requests_are_answered_in_order(served):
    request = (f"GET {WORKSPACE}/jobs/{{}} HTTP/1.1\r\nHost: {served.host()}\r\n"
               f"Authorization: Bearer {served.token()}\r\n\r\n")
    with served.raw() as raw:
        raw.sendall("".join(request.format(f"n{number}") for number in range(10)).encode())
        seen = b""
        while seen.count(b"HTTP/1.1 404") < 10 or b"n9" not in seen:
            part = raw.recv(65536)
            assert part, seen
            seen += part
    names = [int(word) for word in re.findall(rb"'n(\d)'", seen)]
    assert sorted(set(names), key=names.index) == list(range(10))


@pytest.mark.parametrize("head", [
    "POST {p} HTTP/1.1\r\n{h}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "POST {p} HTTP/1.1\r\n{h}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
    "POST {p} HTTP/1.1\r\n{h}Content-Length: -1\r\n\r\n",
    "POST {p} HTTP/1.1\r\n{h}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "POST {p} HTTP/1.1\r\n{h}Transfer-Encoding: chunked\r\n\r\nZZ\r\nx\r\n0\r\n\r\n",
    "POST {p} HTTP/1.1\r\n{h}Content-Length : 0\r\n\r\n",
    "POST {p}\r\n{h}\r\n",
    "nonsense\r\n\r\n",
    "\0\0\0\0\r\n\r\n",
    "POST {p} HTTP/9.9\r\n{h}\r\n",
])
def test_malformed_requests_are_refused_and_harm_nobody(served, head):
    """Each would cancel the job if it were taken for what it resembles."""
    served.submit("sleep 600", "j")
    with served.raw() as raw:
        authorised = f"Host: {served.host()}\r\nAuthorization: Bearer {served.token()}\r\n"
        raw.sendall(head.format(p=WORKSPACE + "/jobs/j/cancel", h=authorised).encode())
        raw.shutdown(socket.SHUT_WR)
        seen = b""
        try:
            while part := raw.recv(65536):
                seen += part
        except ConnectionError:
            pass
    assert not re.match(rb"HTTP/1.1 [23]", seen), seen
    assert served.status_of("j") in ("Queued", "Starting", "Preparing", "Running")
    assert served.post("/jobs/j/cancel").status in (200, 202)
    served.wait("j", "Canceled")


def test_slow_and_silent_peers_hold_nobody_up(served):
    """Half heads, half bodies, a TLS handshake never finished, answers never read."""
    place, signature = served.container()
    log = "x" * 1000
    served.ok("run", "--name", "big", "--", "sh", "-c", f"yes {log} | head -c 20000000")
    peers = []
    try:
        for _ in range(40):
            for begun in (f"GET {WORKSPACE} HTTP/1.1\r\nHost: {served.host()}\r\nAutho",
                          f"PUT {place}/x?{signature} HTTP/1.1\r\nHost: {served.host()}\r\nx-ms-blob-type: BlockBlob\r\n"
                          "Content-Length: 1000000\r\n\r\nhalf",
                          "\x16\x03\x01\x02\x00\x01\x00"):
                peer = served.raw()
                peer.sendall(begun.encode("latin1"))
                peers.append(peer)
        container = served.container("workspaceartifactstore")
        for _ in range(20):
            peer = served.raw()
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            peer.sendall(f"GET {container[0]}/ExperimentRun/dcid.big/user_logs/std_log.txt?{container[1]} "
                         f"HTTP/1.1\r\nHost: {served.host()}\r\n\r\n".encode())
            peers.append(peer)

        for _ in range(5):
            assert served.ok("run", "--", "echo", "hi").out == "hi\n"
        assert not grew_too_much(0, memory_kib(served.server_pid()), 400)
    finally:
        for peer in peers:
            peer.close()


def test_a_half_sent_head_is_given_up(served):
    with served.raw() as raw:
        raw.sendall(f"GET {WORKSPACE} HTTP/1.1\r\nHost: ".encode())
        answer = raw.recv(4096)  # times out, and fails, when the connection is kept for ever
    assert answer == b"" or answer.startswith(b"HTTP/1.1 408")


def test_lists_come_in_pages(served):
    for number in range(7):
        assert served.put(f"/jobs/p{number}", BODY).status in (200, 201)
    seen, path = [], f"{WORKSPACE}/jobs?api-version=2024-10-01&$top=3"
    for _ in range(7):
        answer = served.request("GET", path)
        assert answer.status == 200, answer
        seen += [job["name"] for job in answer.json["value"]]
        following = answer.json.get("nextLink")
        if not following:
            break
        path = "/" + following.split("/", 3)[3]
    assert seen == [f"p{number}" for number in reversed(range(7))]
    for number in range(7):
        served.wait(f"p{number}", "Completed")


def test_list_by_tag_and_view(served):
    for name, tags in [("a", {"k": "1"}), ("b", {"k": "2"}), ("c", {})]:
        body = {"properties": BODY["properties"] | {"tags": tags}}
        assert served.put(f"/jobs/{name}", body).status in (200, 201)
        served.wait(name, "Completed")
    archived = {"properties": BODY["properties"] | {"isArchived": True}}
    assert served.put("/jobs/c", archived).status == 200

    def names(query):
        answer = served.request("GET", f"{WORKSPACE}/jobs?{query}")
        assert answer.status == 200, answer
        return [job["name"] for job in answer.json["value"]]

    assert names("") == ["b", "a"]
    assert names("tag=k") == ["b", "a"]
    assert names("tag=k%3D1") == ["a"]
    assert names("listViewType=ArchivedOnly") == ["c"]
    assert names("listViewType=all") == ["c", "b", "a"]


def test_delete_of_a_job_that_is_over(served):
    assert served.put("/jobs/j", BODY).status in (200, 201)
    served.wait("j", "Completed")

    assert served.request("DELETE", WORKSPACE + "/jobs/j").status in (200, 202, 204)

    assert served.get("/jobs/j").status == 404


def test_delete_of_a_running_job_is_a_conflict(served):
    served.submit("sleep 600", "j")
    served.wait("j", "Running")

    check_error(served.request("DELETE", WORKSPACE + "/jobs/j"), 409)

    served.ok("job", "cancel", "--name", "j")
    served.wait("j", "Canceled")

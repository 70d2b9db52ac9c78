# SPDX-License-Identifier: Apache-2.0
"""Several people on one server: who may do what, and how soon they may not any more."""

import socket
import uuid

import pytest

from hostile_node_test import Channel
from harness import DEADLINE, WORKSPACE, eventually, kill

SCIENTIST = "AzureML Data Scientist"
OPERATOR = "AzureML Compute Operator"
OTHER = WORKSPACE.rsplit("/", 1)[0] + "/other"
BODY = {"properties": {"jobType": "Command", "command": "true", "environmentId": "azureml:x:1"}}


def token_for(berth, user, *words):
    """The token, from stdout, where it is shown once."""
    return berth.ok("token", "create", "--user", user, "--query", "token", "-o", "tsv", *words).out.strip()


def add(berth, user, role=None, *words):
    """A user, their role and a token; words say where the role holds."""
    berth.ok("user", "create", user)
    if role:
        berth.ok("role", "assign", "--user", user, "--role", role, *words)
    return token_for(berth, user)


def as_user(token):
    return {"env": {"BERTH_TOKEN": token}}


def token_id(token):
    return token.split(".")[1]


def is_at_rest(berth):
    """No job is queued or runs: a node that has an end to report outlives the server."""
    return not any(berth.server_status()["jobs"].values())


@pytest.fixture
def served(berth):
    berth.ensure_server()
    yield berth
    berth.ensure_server()
    eventually(lambda: is_at_rest(berth), what="the jobs to end")


def test_a_second_person_works_with_a_token(served):
    ana = add(served, "ana", SCIENTIST)
    file = served.job_file("echo hello from ana", "job.yml")

    served.ok("job", "create", "-f", file, "--name", "hers", "--stream", **as_user(ana))

    job = served.ok("job", "show", "-n", "hers", "-o", "json", **as_user(ana)).json
    assert job["creation_context"]["created_by"] == "ana"
    (served.folder / "ana.token").write_text(ana + "\n")
    names = served.ok("job", "list", "--query", "[].name", "-o", "tsv", "--token-file", "ana.token").out.split()
    assert names == ["hers"]
    folder = served.folder / "down"
    served.ok("job", "download", "-n", "hers", "--all", "--download-path", folder, **as_user(ana))
    assert (folder / "artifacts/user_logs/std_log.txt").read_text() == "hello from ana\n"


def test_roles_say_what_each_may_do(served):
    people = {"reader": add(served, "reader", "Reader"), "scientist": add(served, "scientist", SCIENTIST),
              "operator": add(served, "operator", OPERATOR), "contributor": add(served, "contributor", "Contributor"),
              "chief": add(served, "chief", "Owner"), "nothing": add(served, "nothing")}
    compute = {"location": "local", "properties": {"computeType": "AmlCompute", "properties": {
        "vmSize": "Standard_DS1_v2", "scaleSettings": {"minNodeCount": 0, "maxNodeCount": 1}}}}
    role = {"properties": {"roleDefinitionId": "Reader", "principalName": "nothing"}}
    table = [
        ("GET", "/jobs", None, "reader scientist contributor chief"),
        ("PUT", "/jobs/j", BODY, "scientist contributor chief"),
        ("POST", "/jobs/j/cancel", {}, "scientist contributor chief"),
        ("POST", "/datastores/workspaceblobstore/listSecrets", {}, "scientist contributor chief"),
        ("GET", "/computes", None, "reader scientist operator contributor chief"),
        ("PUT", "/computes/pool", compute, "operator contributor chief"),
        ("DELETE", "/computes/pool", None, "operator contributor chief"),
        ("GET", "", None, "reader scientist operator contributor chief"),
        ("PATCH", "", {"tags": {"a": "b"}}, "contributor chief"),
        ("PUT", f"/providers/Microsoft.Authorization/roleAssignments/{uuid.uuid4()}", role, "chief"),
    ]
    for method, below, body, allowed in table:
        for name, token in people.items():
            answer = served.request(method, WORKSPACE + below, body, token=token)
            assert (answer.status != 403) == (name in allowed.split()), (name, method, below, answer)
            assert answer.status == 403 or answer.status < 500
    for name in people:  # Nobody's role in a workspace reaches the installation.
        for path in ("/berth/v1/users", "/berth/v1/tokens", "/berth/v1/audit", "/berth/v1/status"):
            assert served.request("GET", path, token=people[name]).status == 403, (name, path)
    listed = served.request("GET", f"{WORKSPACE}/providers/Microsoft.Authorization/roleAssignments").json["value"]
    assert {each["properties"]["principalName"] for each in listed} == set(people)


def test_azures_ids_and_shapes_of_roles(served):
    definitions = served.request("GET", f"{WORKSPACE}/providers/Microsoft.Authorization/roleDefinitions").json["value"]
    ids = {each["properties"]["roleName"]: each["name"] for each in definitions}
    assert ids["Owner"] == "8e3af657-a8ff-443c-a75c-2fe8c4bcb635" and len(ids) == 5
    served.ok("user", "create", "ana")
    ana = served.ok("user", "show", "ana", "-o", "json").json
    path = f"{WORKSPACE}/providers/Microsoft.Authorization/roleAssignments/{uuid.uuid4()}"
    definition = f"{WORKSPACE}/providers/Microsoft.Authorization/roleDefinitions/{ids['Reader']}"
    body = {"properties": {"roleDefinitionId": definition, "principalId": ana["id"], "principalType": "User"}}

    made = served.request("PUT", path, body)

    assert made.status == 201 and made.json["properties"]["scope"] == WORKSPACE, made
    assert served.request("PUT", path, body).status == 200
    assert served.request("PUT", path[:-4] + "0000", body).status == 409
    assert served.request("GET", path).json["properties"]["principalId"] == ana["id"]
    assert served.ok("user", "show", "ana", "-o", "json").json["roles"] == [{"role": "Reader", "workspace": "default"}]
    assert served.request("DELETE", path).status == 200
    assert served.request("DELETE", path).status == 204
    names = served.ok("role", "definition", "list", "--query", "[].name", "-o", "tsv").out.splitlines()
    assert names == list(ids)


def test_workspaces_do_not_see_each_other(served):
    served.ok("workspace", "create", "-n", "other")
    ana = add(served, "ana", "Owner", "-w", "other")
    served.put("/jobs/secret-plan", BODY)
    assert served.request("PUT", OTHER + "/jobs/hers", BODY, token=ana).status == 201
    place, signature = served.container()
    for method, path in [("GET", WORKSPACE), ("GET", WORKSPACE + "/jobs"), ("GET", WORKSPACE + "/jobs/secret-plan"),
                         ("PUT", WORKSPACE + "/jobs/x"), ("DELETE", WORKSPACE + "/jobs/secret-plan"),
                         ("POST", WORKSPACE + "/jobs/secret-plan/cancel"), ("GET", WORKSPACE + "/data"),
                         ("GET", f"/berth/v1{WORKSPACE}/jobs/secret-plan/log"), ("GET", place + "/x"),
                         ("GET", f"{place}?restype=container&comp=list"), ("DELETE", place + "/x"),
                         ("GET", f"/history/v1.0{WORKSPACE}/runs/secret-plan/details"),
                         ("GET", f"/berth/v1{WORKSPACE}/usage"), ("PUT", WORKSPACE), ("DELETE", WORKSPACE),
                         ("GET", WORKSPACE + "/providers/Microsoft.Authorization/roleAssignments")]:
        answer = served.request(method, path, BODY if method in ("PUT", "POST") else None, token=ana)
        assert answer.status == 403, (method, path, answer)
        assert b"secret-plan" not in answer.body
    listed = served.ok("workspace", "list", "--query", "[].name", "-o", "tsv", **as_user(ana)).out.split()
    assert listed == ["other"]
    assert served.ok("node", "list", "-o", "json", **as_user(ana)).json == []
    missing = served.request("GET", OTHER + "/jobs/secret-plan", token=ana)
    assert missing.status == 404


def test_a_token_may_be_for_one_workspace_and_for_a_while(served):
    served.ok("workspace", "create", "-n", "other")
    served.ok("user", "create", "ci")
    served.ok("role", "assign", "--user", "ci", "--role", "Owner", "--installation")
    narrow = token_for(served, "ci", "--only-workspace", "other")
    brief = token_for(served, "ci", "--expires-in", "2s")
    assert served.request("GET", OTHER + "/jobs", token=narrow).status == 200
    assert served.request("GET", WORKSPACE + "/jobs", token=narrow).status == 403
    # It does not widen itself.
    path = f"/berth/v1/users/ci/tokens/{uuid.uuid4().hex[:16]}"
    assert served.request("PUT", path, {}, token=narrow).status == 403
    eventually(lambda: served.request("GET", WORKSPACE, token=brief).status == 401, what="the token to expire")
    assert served.fails("token", "create", "--user", "ci", "--expires-in", "soon", code=2)
    assert served.fails("token", "create", "--user", "ci", "--expires-at", "2001-01-01T00:00:00Z")


def test_nobody_raises_themselves(served):
    chief = add(served, "chief", "Owner")
    contributor = add(served, "contributor", "Contributor", "--installation")
    me = served.ok("user", "show", "chief", "-o", "json").json["id"]
    body = {"properties": {"roleDefinitionId": "Owner", "principalId": me,
                           "scope": "/subscriptions/00000000-0000-0000-0000-000000000000"}}
    everywhere = "/subscriptions/00000000-0000-0000-0000-000000000000/providers/Microsoft.Authorization/roleAssignments/"
    for token in (chief, contributor):
        assert served.request("PUT", everywhere + str(uuid.uuid4()), body, token=token).status == 403
        assert served.request("PUT", "/berth/v1/users/x", {}, token=token).status == 403
        assert served.request("PUT", f"/berth/v1/users/chief/tokens/{'a' * 16}", {}, token=token).status == 403
    here = f"{WORKSPACE}/providers/Microsoft.Authorization/roleAssignments/{uuid.uuid4()}"
    assert served.request("PUT", here, body, token=contributor).status == 403
    extra = BODY | {"systemData": {"createdBy": "owner"}, "created_by": "owner"}
    extra["properties"] = BODY["properties"] | {"status": "Completed", "createdBy": "owner"}
    made = served.put("/jobs/forged", extra, token=chief)
    assert made.status == 201 and made.json["systemData"]["createdBy"] == "chief", made


def has_been_read(berth, raw):
    """Whether the server has taken in all that was sent: then it is in its one thread's hands."""
    ours, theirs = f":{raw.getsockname()[1]:04X}", f":{berth.cached_port():04X}"
    with open("/proc/net/tcp") as table:
        rows = [line.split() for line in table]
    queues = [row[4] for row in rows if {row[1][-5:], row[2][-5:]} == {ours, theirs}]
    return len(queues) == 2 and all(queue == "00000000:00000000" for queue in queues)


def ask_and_wait(berth, path, token):
    """A request whose answer is not there yet."""
    raw = berth.raw()
    raw.sendall(f"GET {path} HTTP/1.1\r\nHost: {berth.host()}\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
    eventually(lambda: has_been_read(berth, raw), what="the server to read the request")
    return raw


def is_cut(raw):
    """True when the connection ends without a byte of an answer."""
    try:
        return raw.recv(1) == b""
    except ConnectionResetError:
        return True


@pytest.mark.parametrize("how", ["token revoke", "user delete", "role remove"])
def test_what_is_taken_away_is_gone_at_once(served, how):
    """A waiting log tail is cut, not answered when its 30 seconds are over."""
    ana = add(served, "ana", "Reader")
    gate, mark = served.folder / "gate", served.folder / "mark"
    served.submit(f"echo began; touch {mark}; until [ -e {gate} ]; do sleep 0.05; done", "long")
    eventually(mark.exists, what="the job to begin")
    eventually(lambda: served.live_log("long") == b"began\n", what="its first line")
    tail = ask_and_wait(served, f"/berth/v1{WORKSPACE}/jobs/long/log?offset=6&wait=30", ana)
    owners = ask_and_wait(served, f"/berth/v1{WORKSPACE}/jobs/long/log?offset=6&wait=30", served.token())
    words = {"token revoke": ("token", "revoke", token_id(ana)), "user delete": ("user", "delete", "ana", "-y"),
             "role remove": ("role", "remove", "--user", "ana", "--role", "Reader")}[how]

    served.ok(*words)

    assert is_cut(tail)
    assert served.get("/jobs", token=ana).status == (403 if how == "role remove" else 401)
    gate.touch()
    assert owners.recv(12) == b"HTTP/1.1 200", "somebody else's goes on"
    served.wait("long", "Completed")


def test_a_download_under_way_is_cut(served):
    ana = add(served, "ana", "Reader")
    place, signature = served.container()
    big = b"x" * (64 << 20)
    assert served.request("PUT", f"{place}/big?{signature}", big, {"x-ms-blob-type": "BlockBlob"}, token=False).status == 201
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    raw.settimeout(60)
    raw.connect(("127.0.0.1", served.cached_port()))
    raw.sendall(f"GET {place}/big HTTP/1.1\r\nHost: {served.host()}\r\nAuthorization: Bearer {ana}\r\n\r\n".encode())
    assert b"200 OK" in raw.recv(4096)

    served.ok("token", "revoke", token_id(ana))

    received = 0
    try:
        while piece := raw.recv(1 << 20):
            received += len(piece)
    except ConnectionResetError:
        pass
    raw.close()
    assert received < len(big)


def test_an_upload_under_way_comes_to_nothing(served):
    ana = add(served, "ana", SCIENTIST)
    secret = served.post("/datastores/workspaceblobstore/listSecrets", {}, token=ana).json["sasToken"]
    place, _ = served.container()
    with served.raw() as raw:
        raw.sendall(f"PUT {place}/late?{secret} HTTP/1.1\r\nHost: {served.host()}\r\nx-ms-blob-type: BlockBlob\r\n"
                    f"Content-Length: 10\r\nExpect: 100-continue\r\n\r\n".encode())
        assert b"100 Continue" in raw.recv(4096)
        served.ok("token", "revoke", token_id(ana))
        try:
            raw.sendall(b"0123456789")
            answer = raw.recv(4096)
        except OSError:
            answer = b""
        assert b" 201 " not in answer
    assert served.blob("GET", "late").status == 404


def test_tokens_survive_and_stay_dead_across_kills(berth):
    """Whatever was acknowledged before kill -9 is there after it: users, tokens, roles, revocations."""
    alive, dead = [], []
    for round in range(4):
        berth.ensure_server()
        name = f"user{round}"
        token = add(berth, name, "Reader")
        gone = token_for(berth, name)
        berth.ok("token", "revoke", token_id(gone))
        alive.append(token)
        dead.append(gone)
        pid = berth.server_pid()
        noise = berth.popen("user", "create", f"noise{round}")  # Its answer may or may not come.
        kill(pid)
        noise.communicate(timeout=DEADLINE)
        if noise.returncode == 0:
            berth.ok("user", "show", f"noise{round}")
        for token in alive:
            assert berth.get("/jobs", token=token).status == 200
        for token in dead:
            assert berth.get("/jobs", token=token).status == 401
    assert berth.ok("audit", "verify", "-o", "json").json["intact"] is True


def test_no_token_of_ours_in_unlikely_places(served):
    ana = add(served, "ana", "Owner", "--installation")
    for query in (f"token={ana}", f"access_token={ana}", f"sig={ana}", f"Authorization=Bearer%20{ana}"):
        assert served.request("GET", f"{WORKSPACE}/jobs?{query}", token=False).status == 401
    for headers in ({"Cookie": f"token={ana}"}, {"X-Api-Key": ana}, {"Authorization": f"Basic {ana}"},
                    {"Proxy-Authorization": f"Bearer {ana}"}):
        assert served.request("GET", WORKSPACE + "/jobs", headers=headers, token=False).status == 401
    # A form of a foreign page: it can send a cookie and text/plain, and no token.
    form = served.request("POST", WORKSPACE + "/jobs/j/cancel", b'{"a":"="}', {"Content-Type": "text/plain",
                          "Cookie": f"token={ana}", "Origin": "http://evil.example"}, token=False)
    assert form.status == 403
    for headers in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        assert served.request("GET", WORKSPACE + "/jobs", headers=headers, token=ana).status == 403
    with served.raw() as raw:
        raw.sendall(f"GET {WORKSPACE} HTTP/1.1\r\nHost: {served.host()}\r\nAuthorization: Bearer ".encode())
        try:
            raw.sendall(b"x" * (1 << 20) + b"\r\n\r\n")
        except OSError:
            pass
        try:
            assert raw.recv(64).split()[1] in (b"400", b"431")
        except OSError:
            pass
    assert served.get("/jobs", token=ana).status == 200
    everything = b"".join(path.read_bytes() for path in served.home.rglob("*") if path.is_file())
    assert ana.rsplit(".", 1)[1].encode() not in everything, "only the hash is kept"


def test_a_jobs_token_is_for_itself_and_for_now(served):
    gate, out = served.folder / "gate", served.folder / "token"
    served.submit(f'printf %s "$AZUREML_RUN_TOKEN" > {out}.new; mv {out}.new {out}; until [ -e {gate} ]; do sleep 0.05; done',
                  "mine")
    eventually(out.exists, what="the job's token")
    token = out.read_text()
    served.put("/jobs/other", BODY)
    assert served.get("/jobs/mine", token=token).status == 200
    for method, path in (("GET", "/jobs/other"), ("GET", "/jobs"), ("PUT", "/jobs/mine"), ("DELETE", "/jobs/other"),
                         ("POST", "/jobs/mine/cancel"), ("GET", ""), ("POST", "/datastores/workspaceblobstore/listSecrets")):
        body = BODY if method in ("PUT", "POST") else None
        assert served.request(method, WORKSPACE + path, body, token=token).status == 403, (method, path)
    assert served.request("GET", "/berth/v1/users", token=token).status == 403
    gate.touch()
    served.wait("mine", "Completed")
    assert served.get("/jobs/mine", token=token).status == 401


def test_a_nodes_token_opens_nothing_once_the_node_is_gone(served):
    served.ok("compute", "create", "-n", "pool", "-t", "amlcompute", "--min-instances", 1, "--max-instances", 1)
    nodes = lambda: served.ok("compute", "list-nodes", "-n", "pool", "-o", "json").json  # noqa: E731
    eventually(lambda: [node["node_state"] for node in nodes()] == ["idle"], what="a node")
    node = nodes()[0]["node_id"]
    token = (served.home / "nodes" / node / "token").read_text().strip()
    assert served.get("/jobs", token=token).status == 403
    served.ok("compute", "delete", "-n", "pool", "-y")
    eventually(lambda: not any(each["name"] == node for each in served.ok("node", "list", "-o", "json").json),
               what="the node to be gone")
    # Its own channel is all it opens, far enough to be told to leave: it speaks for no work.
    served.put("/jobs/j", BODY)
    channel = Channel(served, node, token)
    channel.hello(node)
    key = {"workspace": served.request("GET", WORKSPACE).json["properties"]["workspaceId"], "name": "j"}
    channel.send(kind="Ended", attempt={"job": key, "attempt": 1}, outcome={"ending": "Exited", "exit_code": 7}, log_size=0)
    channel.send(kind="Advanced", attempt={"job": key, "attempt": 1}, phase="Finalizing")
    served.wait("j", "Completed")
    for path in ("/jobs", "/computes", ""):
        assert served.get(path, token=token).status == 403

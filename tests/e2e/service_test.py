# SPDX-License-Identifier: Apache-2.0
"""Services on nodes of this machine, reached through the server."""

from harness import DEADLINE, WORKSPACE, eventually, is_alive, kill

SERVICES = f"/berth/v1{WORKSPACE}/services"
# Its working directory says which process it is, and which attempt.
COMMAND = ("echo $$ > pid; echo $BERTH_ATTEMPT_NUMBER > attempt; "
           "exec python3 -m http.server --bind 127.0.0.1 $BERTH_SERVICE_PORT")


class Service:
    def __init__(self, berth, name="web"):
        self.berth, self.name, self.path = berth, name, f"{SERVICES}/{name}"

    def create(self, command=COMMAND, compute="local", **more):
        more.setdefault("probe", {"path": "/pid", "period_seconds": 1})
        answer = self.berth.request("PUT", self.path, {"job": {"command": command, "computeId": compute}, **more})
        assert answer.status == 201, answer
        return answer.json

    def show(self):
        answer = self.berth.request("GET", self.path)
        assert answer.status == 200, answer
        return answer.json

    def get(self, path, **more):
        return self.berth.request("GET", f"{self.path}/{path}", **more)

    def pid(self):
        """Of its process, once it is reached; None until then."""
        answer = self.get("pid")
        return int(answer.body) if answer.status == 200 else None

    def wait(self, state="Ready"):
        eventually(lambda: self.show()["state"] == state, what=f"a service that is {state}")
        return self.show()

    def stop(self):
        assert self.berth.request("DELETE", self.path).status == 202
        return self.wait("Stopped")


def test_a_service_is_reached_until_it_is_stopped(berth):
    berth.start_server()
    service = Service(berth)
    made = service.create()
    assert made["state"] in ("Waiting", "Starting") and made["address"].endswith("/services/web/")
    shown = service.wait()
    pid = service.pid()

    assert is_alive(pid) and shown["port"] > 0 and shown["node"]
    assert service.get("").status == 200
    assert service.get("none").status == 404 and "Error response" in service.get("none").body.decode()
    assert [each["name"] for each in berth.request("GET", SERVICES).json["value"]] == ["web"]
    assert berth.request("PUT", service.path, {"job": {"command": "other", "computeId": "local"}}).status == 409

    assert service.stop()["status"] == "Canceled"
    assert not is_alive(pid)
    assert service.get("pid").status == 404
    assert berth.request("GET", SERVICES).json["value"] == []
    assert b"GET /pid" in berth.log("web")


def test_a_service_that_is_killed_is_run_again(berth):
    berth.start_server()
    service = Service(berth)
    service.create()
    service.wait()
    first = service.pid()

    kill(first)

    eventually(lambda: service.pid() not in (None, first), what="another process")
    assert service.get("attempt").body.decode().strip() == "2"
    shown = service.show()
    assert shown["restarts"] == 1 and "SIGKILL" in shown["last_restart"]
    service.stop()


def test_a_service_and_its_process_outlive_the_server(berth):
    server = berth.start_server()
    service = Service(berth)
    service.create()
    service.wait()
    pid = service.pid()

    kill(server.pid)
    server.wait()
    berth.start_server()
    assert service.pid() == pid, "it is reached at once: that it was ready is on the disk"
    berth.ok("server", "stop")
    berth.start_server()

    assert eventually(service.pid, what="the service") == pid
    service.stop()
    assert not is_alive(pid)


def test_a_service_whose_agent_dies_goes_on(berth):
    berth.start_server()
    service = Service(berth)
    service.create()
    service.wait()
    pid = service.pid()
    for agent in berth.node_pids():
        kill(agent)

    assert eventually(service.pid, what="the service") == pid
    eventually(lambda: len(berth.node_pids()) > 0, what="another agent")
    service.wait()
    service.stop()
    assert not is_alive(pid)


def test_a_service_is_ready_only_while_its_probe_is_good(berth):
    berth.start_server()
    service = Service(berth)
    gate = berth.folder / "gate"
    service.create(f"ln -s {gate} health; {COMMAND}",
                   probe={"path": "/health", "period_seconds": 1, "failure_threshold": 1})
    eventually(lambda: berth.status_of("web") == "Running", what="a process")
    answer = service.get("pid")
    assert answer.status == 503 and "not ready" in answer.body.decode(), answer

    gate.touch()
    service.wait()
    pid = service.pid()
    gate.unlink()
    service.wait("NotReady")
    assert service.get("pid").status == 503
    gate.touch()
    service.wait()
    assert service.pid() == pid
    service.stop()


def test_a_service_that_cannot_run_says_why_and_stays_with_its_limit(berth):
    berth.start_server()
    service = Service(berth)
    service.create("exit 7", restart={"when": "on_failure", "limit": 1})

    shown = service.wait("Stopped")

    assert shown["status"] == "Failed" and shown["attempt"] == 2 and "code 7" in shown["error"]


def test_what_makes_no_service_is_refused_by_name(berth):
    berth.start_server()
    good = {"job": {"command": "x", "computeId": "local"}}
    for body, target in [({}, "command"), ({**good, "prot": 1}, "prot"), ({**good, "port": 70000}, "port"),
                         ({**good, "probe": {"path": "x"}}, "probe.path"),
                         ({**good, "probe": {"paht": "/"}}, "probe.paht"),
                         ({**good, "restart": {"when": "never ever"}}, "restart.when"),
                         ({**good, "restart": []}, "restart")]:
        answer = berth.request("PUT", f"{SERVICES}/bad", body)
        assert answer.status == 400 and target in answer.body.decode(), (body, answer)
    berth.submit("true", "job")
    assert berth.request("GET", f"{SERVICES}/job").status == 404
    assert berth.request("DELETE", f"{SERVICES}/job").status == 204
    assert berth.wait("job", timeout=DEADLINE)["properties"]["status"] == "Completed", "it was not stopped"


def test_a_service_of_a_local_cluster_is_reached(berth):
    berth.start_server()
    berth.ok("compute", "create", "-n", "pool", "-t", "amlcompute", "--max-instances", 1, "-o", "none")
    service = Service(berth)
    service.create(compute="pool")
    service.wait()

    assert is_alive(service.pid())
    service.stop()


def test_the_command_line_makes_shows_and_stops_services(berth):
    (berth.folder / "site").mkdir()
    (berth.folder / "site/hello").write_text("hello")
    made = berth.ok("service", "create", "--name", "web", "--code", berth.folder / "site", "--probe-path", "/hello",
                    "-o", "json", "--", "exec python3 -m http.server --bind 127.0.0.1 $BERTH_SERVICE_PORT").json
    assert made["address"].endswith("/services/web/")
    service = Service(berth)
    service.wait()

    assert service.get("hello").body == b"hello"
    assert berth.ok("service", "show", "web", "-o", "json").json["state"] == "Ready"
    assert [each["name"] for each in berth.ok("service", "list", "-o", "json").json] == ["web"]
    assert berth.ok("service", "stop", "web").out == ""
    service.wait("Stopped")
    assert berth.ok("service", "list", "-o", "json").json == []
    assert "no service" in berth.fails("service", "stop", "none", code=3).err
    berth.fails("service", "create", "--name", "web", code=2)

# SPDX-License-Identifier: Apache-2.0
"""The server's own life: start, second start, status, stop."""

import os
import pathlib
import signal
import socket
import sqlite3
import stat

from harness import DEADLINE, eventually, is_alive


def test_status_tells_pid_port_version_home_and_nodes(berth):
    berth.ok("run", "--", "true")

    status = berth.server_status()

    assert is_alive(status["pid"])
    assert 0 < status["port"] < 65536
    assert status["version"]
    assert pathlib.Path(status["home"]) == berth.home
    assert [node["target"] for node in status["nodes"]] == ["local"]


def test_status_without_a_server_says_so_and_starts_none(berth):
    outcome = berth.fails("server", "status")

    assert "no Berth server is running" in outcome.err
    assert not berth.processes()


def test_stop_without_a_server_is_harmless(berth):
    assert berth.run("server", "stop").code in (0, 1)
    assert not berth.processes()


def test_stop_ends_it_and_its_idle_node(berth):
    berth.ok("run", "--", "true")
    assert berth.processes()

    berth.ok("server", "stop")

    eventually(lambda: not berth.processes(), what="every process to end")


def test_sigterm_drains_and_exits_0(berth):
    server = berth.start_server()
    berth.ok("run", "--", "true")

    server.send_signal(signal.SIGTERM)

    assert server.wait(DEADLINE) == 0


def test_sigterm_with_a_request_under_way_answers_it(berth):
    server = berth.start_server()
    place, signature = berth.container()
    with berth.raw() as raw:
        raw.sendall(f"PUT {place}/slow?{signature} HTTP/1.1\r\nHost: {berth.host()}\r\n"
                    f"x-ms-blob-type: BlockBlob\r\nContent-Length: 8000000\r\n\r\n".encode() + b"x" * 4000000)
        eventually(lambda: list((berth.home / "spool").iterdir()), what="the body to be spooled")
        server.send_signal(signal.SIGTERM)
        raw.sendall(b"x" * 4000000)
        assert raw.recv(100).startswith(b"HTTP/1.1 201")

    assert server.wait(DEADLINE) == 0


def test_a_command_starts_a_server_on_another_port_when_8470_is_taken(berth):
    def starts_elsewhere():
        with socket.socket() as taken:
            # The option lets us have the port when only connections of an earlier server linger there.
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                taken.bind(("127.0.0.1", 8470))
                taken.listen()
                is_ours = True
            except OSError:
                is_ours = False
            assert berth.ok("run", "--", "echo", "hi").out == "hi\n"
            if berth.port() != 8470:
                return True
        assert not is_ours, "the server took a port that this test listens on"
        # The stranger who had the port let go of it before our server asked for it: try again.
        berth.ok("server", "stop")
        eventually(lambda: not berth.processes(), what="the server to end")
        return False

    eventually(starts_elsewhere, what="port 8470 to be taken by somebody")


def test_a_port_that_was_chosen_and_is_taken_is_an_error(berth):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        outcome = berth.fails("server", "--background", "--port", port)
        assert str(port) in outcome.err, outcome
    assert not berth.is_up()


def test_a_second_server_on_the_same_home_is_refused(berth):
    first = berth.start_server()

    outcome = berth.fails("server")

    assert str(berth.home) in outcome.err, outcome
    assert first.poll() is None and berth.is_up()


def test_commands_at_once_start_one_server(berth):
    commands = [berth.popen("run", "--", "echo", str(number)) for number in range(6)]
    outputs = [command.communicate(timeout=DEADLINE) for command in commands]

    assert [command.returncode for command in commands] == [0] * 6, outputs
    assert sorted(int(out) for out, _ in outputs) == list(range(6))
    servers = [pid for pid, words in berth.processes().items() if " server" in words]
    assert len(servers) == 1, berth.processes()


def test_a_taken_port_is_named(berth):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        outcome = berth.fails("server", "--port", port)
    assert port in outcome.err


def test_secrets_are_readable_by_the_owner_only(berth):
    berth.ensure_server()

    assert stat.S_IMODE(berth.home.stat().st_mode) == 0o700
    for path in berth.home.rglob("*"):
        if path.is_file() and not path.is_symlink():
            assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, f"{path} {oct(path.stat().st_mode)}"


def test_the_certificate_and_token_stay_the_same_over_restarts(berth):
    berth.ensure_server()
    before = berth.token(), berth.authority().read_bytes()
    berth.ok("server", "stop")
    eventually(lambda: not berth.processes())

    berth.ensure_server()

    assert (berth.token(), berth.authority().read_bytes()) == before


def test_finished_jobs_are_there_after_a_restart(berth):
    berth.ok("run", "--name", "j", "--", "echo", "kept")
    berth.ok("server", "stop")
    eventually(lambda: not berth.processes())

    assert berth.status_of("j") == "Completed"
    assert berth.log("j") == b"kept\n"


def test_a_database_of_a_newer_version_is_refused_untouched(berth):
    berth.ok("run", "--name", "j", "--", "true")
    berth.ok("server", "stop")
    eventually(lambda: not berth.processes())
    database = berth.home / "berth.db"
    with sqlite3.connect(database) as connection:
        before = connection.execute("PRAGMA user_version").fetchone()[0]
        connection.execute("PRAGMA user_version = 9999")
    connection.close()
    content = database.read_bytes()

    outcome = berth.fails("server")

    assert "newer" in outcome.err.lower(), outcome
    assert database.read_bytes() == content
    with sqlite3.connect(database) as connection:
        connection.execute(f"PRAGMA user_version = {before}")
    connection.close()
    assert berth.status_of("j") == "Completed"


def test_a_home_that_cannot_be_made_is_a_clear_error(berth):
    blocker = berth.file("blocker", "")

    outcome = berth.fails("run", "--", "true", env={"BERTH_HOME": str(blocker / "home")})

    assert "blocker" in outcome.err


def test_the_server_does_not_hold_the_callers_pipes_or_folder(berth):
    """`x=$(berth run …)` must return although the server it started lives on."""
    berth.ok("run", "--", "true")

    pid = berth.server_pid()
    assert pathlib.Path(os.readlink(f"/proc/{pid}/cwd")) != berth.folder
    kinds = [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in ("0", "1", "2")]
    assert not [kind for kind in kinds if kind.startswith("pipe:")], kinds

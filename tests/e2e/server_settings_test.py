# SPDX-License-Identifier: Apache-2.0
"""What the next server of a state directory runs with, who may start it, and who may look inside."""

import os
import pathlib
import pwd
import shutil
import socket
import stat
import subprocess
import tempfile

import pytest

from harness import BINARY, DEADLINE, LEAVE_DEADLINE, Berth, eventually

SOMEBODY = "nobody"  # Every Debian has it.


@pytest.fixture
def rooted():
    """A state directory of root in a folder that others may pass through."""
    if os.geteuid() != 0:
        pytest.skip("users of their own need root")
    top = pathlib.Path(tempfile.mkdtemp(prefix="berth-settings-"))
    top.chmod(0o755)
    (top / "here").mkdir()
    berth = Berth(top / "home", top / "here")
    berth.users = top / "users.yml"
    berth.users.write_text(f"owner: {SOMEBODY}\n")
    yield berth
    berth.stop()
    eventually(lambda: not berth.processes(), LEAVE_DEADLINE, "the end of every process of this home")
    shutil.rmtree(top)


def settings(berth):
    """By name: what the next start by a command uses, and where it comes from."""
    shown = berth.ok("server", "configure", "-o", "json").json
    return {line["name"]: (line["value"], line["source"]) for line in shown}


def crash(server):
    server.kill()
    server.wait(timeout=DEADLINE)


def mode(path):
    return stat.S_IMODE(pathlib.Path(path).stat().st_mode)


# The settings of the next server.

def test_the_server_after_a_crash_runs_jobs_as_the_one_before(rooted):
    """A root server with --job-users was killed: the next command started one that ran everybody's jobs as root."""
    server = rooted.start_server("--job-users", rooted.users, "--bind", "127.0.0.2")
    assert rooted.ok("run", "--", "id", "-u").out.strip() == str(pwd.getpwnam(SOMEBODY).pw_uid)
    crash(server)

    outcome = rooted.ok("run", "--", "id", "-u")

    assert outcome.out.strip() == str(pwd.getpwnam(SOMEBODY).pw_uid), outcome
    with socket.create_connection(("127.0.0.2", rooted.port()), timeout=DEADLINE):
        pass


def test_a_job_that_waited_over_the_crash_runs_as_its_user(rooted):
    server = rooted.start_server("--job-users", rooted.users, "--slots", "1")
    gate = rooted.folder / "gate"
    rooted.submit(f"until [ -e {gate} ]; do sleep 0.05; done", "first")
    rooted.wait("first", "Running")
    rooted.submit("id -u", "second")
    crash(server)
    gate.touch()

    rooted.ensure_server()

    rooted.wait("second", "Completed")
    assert rooted.log("second").decode().strip() == str(pwd.getpwnam(SOMEBODY).pw_uid)


def test_the_server_after_a_stop_has_the_settings_of_the_one_before(berth):
    berth.start_server("--lease", "7", "--node-idle", "3")
    berth.ok("server", "stop")

    berth.ensure_server()

    assert settings(berth)["lease"] == ("7", "last-start.yml")
    assert settings(berth)["node_idle"] == ("3", "last-start.yml")
    assert settings(berth)["slots"] == ("one for each core", "default")


def test_a_start_by_hand_without_flags_takes_back_those_of_the_last(berth):
    crash(berth.start_server("--lease", "7"))
    crash(berth.start_server())

    assert settings(berth)["lease"][1] == "default"


def test_what_is_configured_is_used_by_every_start(berth):
    berth.ok("server", "configure", "--bind", "127.0.0.2", "--port", "0")
    berth.ensure_server()
    with socket.create_connection(("127.0.0.2", berth.port()), timeout=DEADLINE):
        pass
    berth.ok("server", "stop")

    berth.start_server()

    with socket.create_connection(("127.0.0.2", berth.port()), timeout=DEADLINE):
        pass


def test_a_flag_counts_before_the_file_and_the_last_word_before_both(berth):
    berth.ok("server", "configure", "--lease", "20", "--slots", "3")
    crash(berth.start_server("--lease", "30"))
    assert settings(berth)["lease"] == ("30", "last-start.yml")
    assert settings(berth)["slots"] == ("3", "server.yml")

    berth.ok("server", "configure", "--lease", "40")

    assert settings(berth)["lease"] == ("40", "server.yml")
    berth.ok("server", "configure", "--unset", "lease", "--unset", "slots")
    assert settings(berth)["lease"][1] == settings(berth)["slots"][1] == "default"


def test_configure_keeps_comments_and_is_for_the_owner_alone(berth):
    berth.ok("server", "configure", "--lease", "20")
    file = berth.home / "server.yml"
    assert mode(file) == 0o600
    file.write_text("# by hand\nport: 0  # any\n\n# for the laboratory\nbind:\n  - 127.0.0.2\nlease: 20\n")

    berth.ok("server", "configure", "--bind", "127.0.0.3", "--bind", "127.0.0.4", "--unset", "lease")

    assert file.read_text() == '# by hand\nport: 0  # any\n\n# for the laboratory\nbind: ["127.0.0.3", "127.0.0.4"]\n'
    assert mode(file) == 0o600


@pytest.mark.parametrize("text, place, hint", [
    ("port: 8470\njob_user: /etc/x\n", "server.yml:2:1", "did you mean 'job_users'?"),
    ("port: many\n", "server.yml:1:7", "from 0 to 65535"),
    ("lease: 0\n", "server.yml:1:8", "from 1 to 86400"),
    ("job_users: users.yml\n", "server.yml:1:12", "from '/' on"),
    ("start: never\n", "server.yml:1:8", "automatic or manual"),
    ("- port\n", "server.yml:1:", "keys and values"),
    ("bind: [127.0.0.2, {}]\n", "server.yml:1:19", "must be text"),
    ("port: 1\nport: 2\n", "server.yml:2:1", "port"),
])
def test_a_wrong_file_is_pointed_at_and_starts_nothing(berth, text, place, hint):
    berth.home.mkdir(mode=0o700)
    (berth.home / "server.yml").write_text(text)

    for words in (["run", "--", "true"], ["server"], ["server", "configure", "--slots", "2"]):
        outcome = berth.fails(*words)
        assert place in outcome.err and hint in outcome.err, outcome
    assert not berth.processes()
    assert (berth.home / "server.yml").read_text() == text


def test_configure_says_when_it_holds(berth):
    assert "the next start uses it" in berth.ok("server", "configure", "--lease", "20").err
    pid = berth.ensure_server()["pid"]

    outcome = berth.ok("server", "configure", "--lease", "30")

    assert f"pid {pid}" in outcome.err and "berth server stop" in outcome.err, outcome


def test_wrong_words_are_wrong_usage(berth):
    for words in (["--port", "x"], ["--unset", "leese"], ["--lease", "3", "--unset", "lease"], ["--job-users", ""]):
        berth.fails("server", "configure", *words, code=2)
    assert "did you mean 'lease'?" in berth.fails("server", "configure", "--unset", "leese", code=2).err
    assert "did you mean '--slots'?" in berth.fails("server", "--slot", "2", code=2).err
    assert not berth.home.exists()


def test_a_chosen_port_that_is_taken_is_an_error_also_for_a_command(berth):
    """Others were told that port: a server that answers elsewhere is none to them."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        berth.ok("server", "configure", "--port", port)

        outcome = berth.fails("run", "--", "true")

    assert port in outcome.err, outcome


# Who starts it.

def test_a_manual_server_is_not_started_by_a_command(berth):
    berth.ok("server", "configure", "--start", "manual", "--start-command", "sv up berth")

    outcome = berth.fails("run", "--", "true")

    assert "sv up berth" in outcome.err, outcome
    assert not berth.processes()
    server = berth.start_server()
    berth.ok("run", "--", "true")
    assert "sv up berth" in berth.ok("server", "stop").err
    server.wait(timeout=DEADLINE)


class Systemd:
    """Starts a server as systemd does: it knows its own number, and tells when it is ready."""

    def __init__(self, berth, folder):
        self.berth = berth
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(folder / "notify"))
        self.socket.settimeout(DEADLINE)

    def start(self, *words):
        """Returns when it says that it is ready."""
        script = 'export SYSTEMD_EXEC_PID=$$; exec "$0" server --port 0 "$@"'
        environment = self.berth.environment | {"INVOCATION_ID": "0" * 32, "NOTIFY_SOCKET": self.socket.getsockname()}
        with open(self.berth.folder / "server.log", "ab") as log:
            process = subprocess.Popen(["sh", "-c", script, str(BINARY), *words], env=environment, cwd=self.berth.folder,
                                       stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        assert self.socket.recv(4096) == b"READY=1"
        return process


def test_a_server_that_systemd_runs_is_not_started_by_a_command(berth):
    systemd = Systemd(berth, berth.folder)
    server = systemd.start()
    assert berth.is_up()
    berth.ok("run", "--", "true")
    berth.ok("server", "stop")
    server.wait(timeout=DEADLINE)
    assert systemd.socket.recv(4096) == b"STOPPING=1"

    outcome = berth.fails("run", "--", "true")

    assert "systemctl" in outcome.err, outcome
    eventually(lambda: not berth.processes(), LEAVE_DEADLINE, "the end of its node")
    berth.ok("server", "configure", "--start", "automatic")
    assert berth.ok("run", "--", "echo", "hi").out == "hi\n"


def test_a_command_waits_for_a_server_that_systemd_starts_again(berth):
    systemd = Systemd(berth, berth.folder)
    crash(systemd.start())
    command = berth.popen("run", "--", "echo", "hi")

    again = systemd.start()

    out, err = command.communicate(timeout=DEADLINE)
    assert (command.returncode, out) == (0, b"hi\n"), err
    assert berth.server_pid() == again.pid
    berth.ok("server", "stop")
    again.wait(timeout=DEADLINE)
    berth.ok("server", "configure", "--start", "automatic")  # For those who clean up.


def test_a_terminal_below_systemd_is_not_systemd(berth):
    """Shells of a desktop inherit INVOCATION_ID and SYSTEMD_EXEC_PID of the terminal."""
    berth.start_server(env={"INVOCATION_ID": "0" * 32, "SYSTEMD_EXEC_PID": "1"})
    berth.ok("server", "stop")

    assert berth.ok("run", "--", "echo", "hi").out == "hi\n"


def test_nobody_starts_the_server_of_somebody_else(rooted):
    """`sudo berth run` with the HOME of somebody else must not leave root's files there."""
    user = pwd.getpwnam(SOMEBODY)
    rooted.home.mkdir(mode=0o700)
    os.chown(rooted.home, user.pw_uid, user.pw_gid)

    for words in (["run", "--", "true"], ["server"], ["server", "configure", "--slots", "2"]):
        outcome = rooted.fails(*words)
        assert f"belongs to {SOMEBODY}" in outcome.err, outcome

    assert not list(rooted.home.iterdir())
    assert not rooted.processes()


def test_sudo_makes_no_state_directory_in_its_callers_home(rooted):
    user = pwd.getpwnam(SOMEBODY)
    theirs = rooted.folder / "theirs"
    theirs.mkdir()
    os.chown(theirs, user.pw_uid, user.pw_gid)
    sudo = {"BERTH_HOME": str(theirs / "share/berth"), "SUDO_UID": str(user.pw_uid)}

    outcome = rooted.fails("run", "--", "true", env=sudo)

    assert "sudo" in outcome.err and not list(theirs.iterdir()), outcome


# Who may look inside.

def open_up(home):
    """As a copy that did not keep the modes."""
    for path in [home, *home.rglob("*")]:
        if not path.is_symlink() and "nodes/" not in str(path):
            path.chmod(0o755 if path.is_dir() else 0o644)


def test_a_restored_state_directory_is_closed_again(berth):
    berth.file("data/rows.csv", "1,2\n")
    berth.ok("data", "create", "--name", "rows", "--version", "1", "--type", "uri_folder", "--path", "data")
    berth.ok("run", "--name", "j", "--", "echo", "kept")
    berth.ok("server", "stop")
    eventually(lambda: not berth.processes(), LEAVE_DEADLINE, "the end of every process")
    open_up(berth.home)

    outcome = berth.ok("job", "show", "--name", "j", "-o", "json")

    assert "could reach" in outcome.err and "0755" in outcome.err, outcome
    assert len(outcome.err.splitlines()) == 1, outcome
    for path in [berth.home, *berth.home.rglob("*")]:
        if path.name != "ca.pem" and "nodes/" not in str(path):
            assert mode(path) & 0o077 == 0, (path, oct(mode(path)))
    assert berth.log("j") == b"kept\n"


def test_one_secret_that_is_open_is_closed(berth):
    berth.ensure_server()
    berth.ok("server", "stop")
    (berth.home / "secrets/signing.key").chmod(0o644)

    assert "secrets/signing.key (0644)" in berth.ok("workspace", "list", "-o", "none").err

    assert mode(berth.home / "secrets/signing.key") == 0o600


def test_a_new_folder_is_closed_and_one_of_other_things_is_not_touched(berth):
    berth.home.mkdir(mode=0o755)
    berth.home.chmod(0o755)
    berth.ensure_server()
    assert mode(berth.home) == 0o700
    theirs = berth.folder / "theirs"
    theirs.mkdir()
    theirs.chmod(0o755)
    (theirs / "thesis.tex").write_text("")

    for words in (["run", "--", "true"], ["server"]):
        outcome = berth.fails(*words, env={"BERTH_HOME": str(theirs)})
        assert "a folder of its own" in outcome.err and "thesis.tex" in outcome.err, outcome

    assert mode(theirs) == 0o755 and [path.name for path in theirs.iterdir()] == ["thesis.tex"]


def test_a_file_of_somebody_else_in_the_state_directory_is_refused(rooted):
    rooted.ensure_server()
    rooted.ok("server", "stop")
    eventually(lambda: not rooted.processes(), LEAVE_DEADLINE, "the end of every process")
    user = pwd.getpwnam(SOMEBODY)
    os.chown(rooted.home / "owner.token", user.pw_uid, user.pw_gid)

    outcome = rooted.fails("workspace", "list")

    assert f"belongs to {SOMEBODY}" in outcome.err and "owner.token" in outcome.err, outcome
    os.chown(rooted.home / "owner.token", 0, 0)

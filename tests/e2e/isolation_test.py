# SPDX-License-Identifier: Apache-2.0
"""What a job can reach: nothing of ours through what it inherits, and, with users of their own, nothing of others'."""

import contextlib
import json
import os
import pathlib
import pwd
import re
import shutil
import subprocess
import tempfile
import threading

import pytest

from harness import BINARY, DEADLINE, LEAVE_DEADLINE, Berth, eventually

# Every Debian has these, and nobody logs in as them.
FIRST, SECOND = "nobody", "games"


@pytest.fixture
def separated():
    """Two of them: a server that runs jobs of its owner as `nobody`, in a folder that others may pass through."""
    if os.geteuid() != 0:
        pytest.skip("users of their own need root")
    top = pathlib.Path(tempfile.mkdtemp(prefix="berth-users-"))
    top.chmod(0o755)
    folder = top / "here"
    folder.mkdir()
    berth = Berth(top / "home", folder)
    berth.users = top / "users.yml"
    berth.users.write_text(f"owner: {FIRST}\n")
    berth.start_server("--job-users", berth.users)
    yield berth
    berth.stop()
    eventually(lambda: not berth.processes(), LEAVE_DEADLINE, "the end of every process of this home")
    shutil.rmtree(top)


def run(berth, command, name="j", status="Completed", **keys):
    berth.submit(command, name, **keys)
    berth.wait(name, status)
    return berth.log(name).decode()


def test_a_job_inherits_three_descriptors(berth):
    # `ls` itself opens the folder it lists.
    assert berth.ok("run", "--", "sh", "-c", "ls /proc/self/fd").out.split() == ["0", "1", "2", "3"]


def test_a_jobs_variables_do_not_reach_our_own_processes(berth):
    """The supervisor of this job runs the next one as well."""
    hostile = {"LD_PRELOAD": "/nowhere/hostile.so", "BASH_ENV": "/nowhere/hostile.sh", "PYTHONPATH": "/nowhere/hostile",
               "LD_LIBRARY_PATH": "/nowhere/hostile", "PATH": "/nowhere/hostile:/usr/bin:/bin"}
    gate = berth.folder / "gate"
    berth.submit(f"until [ -e {gate} ]; do sleep 0.05; done", "hostile", environment_variables=hostile)
    berth.wait("hostile", "Running")
    ours = [pid for pid, words in berth.processes().items() if " node --name " in words or " server" in words]
    assert len(ours) >= 3, berth.processes()  # server, agent, and the processes it forked
    for pid in ours:
        assert b"/nowhere/hostile" not in pathlib.Path(f"/proc/{pid}/environ").read_bytes(), berth.processes()[pid]
        assert "/nowhere/hostile" not in pathlib.Path(f"/proc/{pid}/maps").read_text()
    gate.touch()
    berth.wait("hostile", "Completed")

    assert "/nowhere" not in berth.ok("run", "--", "env").out


def test_no_secret_is_in_the_list_of_processes(berth):
    """Arguments are for everybody of the machine to read."""
    berth.submit("sleep 600", "j")
    berth.wait("j", "Running")
    secrets = [berth.token(), (berth.home / "secrets/signing.key").read_text().strip(),
               *(path.read_text().strip() for path in berth.home.glob("nodes/*/token"))]

    for pid, words in berth.processes().items():
        assert not [secret for secret in secrets if secret in words], words
        environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace")
        assert not [secret for secret in secrets if secret in environment], words

    berth.ok("job", "cancel", "--name", "j")
    berth.wait("j", "Canceled")


def test_nobody_gets_the_memory_of_our_processes():
    """No core file, and no debugger of the same user: the kernel calls such a process root's, whoever runs it."""
    if os.geteuid() != 0:
        pytest.skip("it takes root to be somebody else")
    user = pwd.getpwnam(FIRST)
    top = pathlib.Path(tempfile.mkdtemp(prefix="berth-memory-"))
    shutil.copy(BINARY, top / "berth")  # Where the build is may be closed to him.
    for path in (top, top / "here"):
        path.mkdir(exist_ok=True)
        os.chown(path, user.pw_uid, user.pw_gid)
    environment = {"BERTH_HOME": str(top / "home"), "HOME": str(top), "PATH": os.environ["PATH"]}

    def berth(*words):
        return subprocess.run([top / "berth", *words], env=environment, cwd=top / "here", user=user.pw_uid,
                              group=user.pw_gid, extra_groups=[], capture_output=True, text=True, timeout=DEADLINE)

    job = berth("run", "--", "sh", "-c", "id -u; stat -c %u /proc/$$/fd")
    assert job.stdout.split() == [str(user.pw_uid)] * 2, job  # A job's memory is its own business.
    server = int(json.loads(berth("server", "status", "-o", "json").stdout)["pid"])
    agents = [json.loads(path.read_text())["pid"] for path in (top / "home").glob("nodes/*/identity.json")]
    owners = {pid: pathlib.Path(f"/proc/{pid}/fd").stat().st_uid for pid in (server, *agents)}
    berth("server", "stop")
    everyone = Berth(top / "home", top / "here")
    eventually(lambda: not everyone.processes(), LEAVE_DEADLINE, "the end of every process of this home")
    shutil.rmtree(top)

    assert agents and set(owners.values()) == {0}, owners


def test_a_temporary_folder_of_ours_is_for_us_alone(berth):
    berth.submit("sleep 600", "j")
    berth.wait("j", "Running")

    for path in [berth.home, *berth.home.rglob("*")]:
        mode = path.lstat().st_mode & 0o777
        if "/wd" in str(path) or path.is_symlink():
            continue
        assert path.name == "ca.pem" or mode & 0o077 == 0, (path, oct(mode))

    berth.ok("job", "cancel", "--name", "j")
    berth.wait("j", "Canceled")


# With users of their own.

def test_a_job_runs_as_its_user_with_his_groups_and_no_way_up(separated):
    user = pwd.getpwnam(FIRST)
    said = run(separated, "id -u; id -g; id -G; echo $USER $HOME; grep NoNewPrivs /proc/self/status; umask; pwd")
    uid, gid, groups, names, privileges, _, folder = said.splitlines()

    assert (int(uid), int(gid)) == (user.pw_uid, user.pw_gid)
    assert sorted(map(int, groups.split())) == sorted(os.getgrouplist(FIRST, user.pw_gid))
    assert names == f"{FIRST} {user.pw_dir}"
    assert privileges.split() == ["NoNewPrivs:", "1"]
    assert folder.startswith(f"{separated.home}-jobs/")


def test_a_job_can_open_its_streams_by_name(separated):
    said = run(separated, "echo one; echo two > /dev/stderr; echo three > /dev/stdout; echo four > /proc/self/fd/2; id -u")

    assert said.split() == ["one", "two", "three", "four", str(pwd.getpwnam(FIRST).pw_uid)]


def test_code_inputs_outputs_and_logs_work_as_ever(separated):
    separated.file("code/main.sh", "cat $1/rows.csv > $2/copy.csv; mkdir -p outputs; echo kept > outputs/x; echo said")
    separated.file("data/rows.csv", "1,2\n")
    file = separated.job_file("sh main.sh ${{inputs.d}} ${{outputs.o}}", code="code", outputs={"o": {"type": "uri_folder"}},
                              inputs={"d": {"type": "uri_folder", "path": "data"}})
    separated.ok("job", "create", "-f", file, "--name", "j", "--stream")

    separated.ok("job", "download", "--name", "j", "--all", "--download-path", "got")

    got = separated.folder / "got"
    assert (got / "artifacts/outputs/x").read_text() == "kept\n"
    assert (got / "named-outputs/o/copy.csv").read_text() == "1,2\n"
    assert (got / "artifacts/user_logs/std_log.txt").read_text() == "said\n"


def test_it_cannot_read_the_state_directory_or_the_records_of_its_own_attempt(separated):
    home = separated.home
    token = next(iter(home.glob("nodes/*")), home / "nodes/x")
    said = run(separated, f"for f in {home} {home}/owner.token {home}/berth.db {home}/secrets {token}/token "
               "../launch.json ../shim.json ../user_logs; do cat $f >/dev/null 2>&1 && echo read $f; "
               "ls $f >/dev/null 2>&1 && [ -d $f ] && echo listed $f; done; "
               "echo x > ../exit.json; mv ../launch.json x; rmdir ../user_logs; rm -rf ../* 2>/dev/null; echo over")

    assert "read " not in said and "listed " not in said, said
    assert said.endswith("over\n")


def test_it_cannot_touch_our_processes(separated):
    said = run(separated, "for p in $(ls /proc | grep '^[0-9]'); do [ $(stat -c %u /proc/$p 2>/dev/null || echo x) = 0 ] || "
               "continue; kill -0 $p 2>/dev/null && echo may signal $p; cat /proc/$p/environ >/dev/null 2>&1 && "
               "echo reads $p; done; echo over")

    assert said == "over\n"


def test_jobs_of_two_users_do_not_see_each_other(separated):
    """The second server's owner is another Unix user."""
    gate = separated.folder / "gate"
    separated.folder.chmod(0o755)
    separated.submit(f"echo secret > private; echo $PWD; until [ -e {gate} ]; do sleep 0.05; done", "first")
    separated.wait("first", "Running")
    folder = eventually(lambda: separated.live_log("first"), what="where it is").decode().strip()
    eventually(pathlib.Path(folder, "private").exists, what="its file")
    pid = next(pid for pid, words in separated.processes().items() if "echo secret" in words)
    other = separated.home.parent / "other"
    other.mkdir()
    second = Berth(separated.home.parent / "home2", other)
    users = separated.home.parent / "second.yml"
    users.write_text(f"owner: {SECOND}\n")
    second.start_server("--job-users", users)

    said = run(second, f"id -un; cat {folder}/private; ls {folder}; echo x > {folder}/private; "
               f"cat /proc/{pid}/environ; kill {pid}; true")

    assert said.startswith(SECOND) and "secret" not in said and "AZUREML" not in said, said
    gate.touch()
    separated.wait("first", "Completed")
    second.stop()
    eventually(lambda: not second.processes(), LEAVE_DEADLINE, "the end of every process of the second home")


def outputs_of_begun(berth):
    """Of job j, once its command runs: before that nobody but root can put anything there."""
    pattern = "*/*/j/1-*/wd/outputs/begun"
    return eventually(lambda: list(pathlib.Path(f"{berth.home}-jobs").glob(pattern)), what="the job to begin")[0].parent


def test_what_is_somebody_elses_is_not_sent_back_as_its_output(separated):
    """We read it as root: a second name for a file of root's must not be an output."""
    secret = separated.folder / "secret"
    secret.write_text("of root\n")
    secret.chmod(0o600)
    separated.submit("touch outputs/begun; until [ -e outputs/hard ]; do sleep 0.05; done; echo mine > outputs/mine", "j")
    work = outputs_of_begun(separated)
    os.symlink(secret, work / "soft")
    os.link(secret, work / "hard")
    separated.wait("j", "Completed", "Failed")

    separated.ok("job", "download", "--name", "j", "--all", "--download-path", "got")

    assert (separated.folder / "got/artifacts/outputs/mine").read_text() == "mine\n"
    assert not [path for path in (separated.folder / "got").rglob("*") if path.is_file() and "of root" in path.read_text()]


def test_who_has_no_unix_user_runs_nothing(separated):
    separated.stop()
    separated.users.write_text(f"somebody: {FIRST}\n")
    separated.start_server("--job-users", separated.users)

    separated.submit("id", "j")

    error = separated.wait("j", "Failed")
    assert "no Unix user is set for the jobs of 'owner'" in json.dumps(error)


@pytest.mark.parametrize("text, mode, said", [
    ("owner: root\n", 0o600, "do not run as root"), ("owner: no-such-user\n", 0o600, "no user 'no-such-user'"),
    ("owner: nobody\n", 0o666, "writable by nobody else"), ("- owner\n", 0o600, "")])
def test_a_file_of_users_that_cannot_be_meant_is_refused(separated, text, mode, said):
    separated.stop()
    separated.users.write_text(text)
    separated.users.chmod(mode)

    outcome = separated.fails("server", "--port", "0", "--job-users", separated.users)

    assert said in outcome.err


def test_nothing_of_a_job_is_left(separated):
    run(separated, "mkdir -m 0 locked; ln -s / all; echo x > f; chmod 4755 f")
    separated.stop()

    eventually(lambda: not list(pathlib.Path(f"{separated.home}-jobs").rglob("wd")), what="its directory to go")


def test_outputs_that_are_swapped_while_they_are_sent_back_are_never_somebody_elses(separated):
    """A second process of the same user puts links in the place of files all the time."""
    secret = separated.folder / "secret"
    secret.write_text("of root\n")
    secret.chmod(0o600)
    separated.submit("for i in $(seq 200); do echo mine > outputs/f$i; done; mkdir outputs/d; echo mine > outputs/d/secret; "
                     "touch outputs/begun; until [ -e outputs/go ]; do sleep 0.05; done", "j")
    work = outputs_of_begun(separated)
    is_over = threading.Event()

    def swap():
        number = 0
        while not is_over.is_set():
            number = number % 200 + 1
            with contextlib.suppress(OSError):
                os.symlink(secret, work / "link")
                os.rename(work / "link", work / f"f{number}")
            with contextlib.suppress(OSError):
                os.rename(work / "d", work / "was")
                os.symlink(secret.parent, work / "d")
                os.unlink(work / "d")
                os.rename(work / "was", work / "d")

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        (work / "go").touch()
        separated.wait("j", "Completed", "Failed")
    finally:
        is_over.set()
        swapper.join()

    separated.ok("job", "download", "--name", "j", "--all", "--download-path", "got")

    got = [path for path in (separated.folder / "got").rglob("*") if path.is_file()]
    assert got and not [path for path in got if b"of root" in path.read_bytes()]
    assert secret.read_text() == "of root\n"


# What runs is what was submitted.

def test_code_that_is_changed_after_the_submit_does_not_run(berth):
    """Whoever may write the workspace's datastore may write where code lies."""
    berth.start_server("--slots", "1")
    gate, mark = berth.folder / "gate", berth.folder / "mark"
    berth.submit(f"until [ -e {gate} ]; do sleep 0.05; done", "first")
    berth.wait("first", "Running")
    berth.file("code/main.sh", "echo as submitted")
    berth.submit("sh main.sh", "pinned", code="code")
    container = berth.container()
    place, signature = container
    listed = berth.request("GET", f"{place}?restype=container&comp=list&{signature}", token=False)
    name = re.search(rb"<Name>([^<]*main\.sh)</Name>", listed.body)[1].decode()
    answer = berth.blob("PUT", name, f"touch {mark}".encode(), {"x-ms-blob-type": "BlockBlob"}, container=container)
    assert answer.status == 201, answer
    gate.touch()

    error = berth.wait("pinned", "Failed")

    assert "its code was changed after it was submitted" in json.dumps(error)
    assert not mark.exists()


def test_code_that_is_sent_once_more_is_the_same_code(berth):
    berth.file("code/main.sh", "echo as submitted")
    for name in ("one", "two"):
        assert run(berth, "sh main.sh", name, code="code") == "as submitted\n"

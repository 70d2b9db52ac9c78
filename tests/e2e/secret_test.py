# SPDX-License-Identifier: Apache-2.0
"""Secrets: jobs have them, and nobody else sees them."""

import base64
import contextlib
import hashlib
import os
import pathlib
import pty
import select
import shutil
import subprocess
import termios
import time

import pytest

from auth_test import SCIENTIST, add, as_user
from harness import BINARY, DEADLINE, WORKSPACE, eventually

VALUE = "hf_S3cret-vAlue/0123456789+abcdef"
OTHER = "hf_An0ther-vAlue/9876543210"
# Tells a value from others without telling it.
HASH = "printf %s \"$HF_TOKEN\" | sha256sum | cut -c -64"


def digest(value):
    return hashlib.sha256(value.encode()).hexdigest()


def set_secret(berth, value=VALUE, name="HF_TOKEN", *words, **more):
    file = berth.folder / "value"
    file.write_text(value + "\n")
    outcome = berth.ok("secret", "set", name, "--from-file", file, "-o", "json", *words, **more)
    file.unlink()
    return outcome.json


def wanting(berth, name="j", command=HASH, secrets="HF_TOKEN", words=(), **keys):
    return berth.submit(command, name, *words, properties={"berth.secrets": secrets}, **keys)


def finished(berth, name="j", status="Completed"):
    berth.wait(name, status)
    return berth.log(name).decode().split()


def tellers(berth, value=VALUE):
    """Where the value stands: files of the state directory, answers, arguments of processes."""
    forms = [value.encode(), base64.b64encode(value.encode()).rstrip(b"=")]
    found = []
    for folder, _, names in os.walk(berth.home):  # Which does not mind folders that vanish.
        for path in (pathlib.Path(folder, name) for name in names):
            with contextlib.suppress(OSError):
                if path.is_file() and any(form in path.read_bytes() for form in forms):
                    found.append(str(path))
    for words, out, err in berth.said:
        found += [f"berth {' '.join(words)}" for form in forms if form in out + err]
    for line in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            found += [str(line) for form in forms if form in line.read_bytes()]
    return found


def test_a_job_has_its_secret_and_nothing_else_shows_it(berth):
    shown = set_secret(berth)
    assert (shown["name"], shown["shared"], shown["set_by"]) == ("HF_TOKEN", False, "owner")
    gate = berth.folder / "gate"
    wanting(berth, command=f"{HASH}; until [ -e {gate} ]; do sleep 0.05; done")
    berth.wait("j", "Running")

    job = berth.show("j")
    assert job["properties"]["berth.secrets"] == "HF_TOKEN" and job["environment_variables"] == {}
    for words in (("job", "show", "-n", "j"), ("job", "list", "-o", "json"), ("secret", "list"), ("audit", "list"),
                  ("secret", "show", "HF_TOKEN", "-o", "json"), ("secret", "list", "-o", "json")):
        berth.ok(*words)
    records = list(berth.home.glob("nodes/*/work/**/launch.json"))
    assert records and "HF_TOKEN" in records[0].read_text()  # Which, not what.
    assert not tellers(berth)
    # In memory a process of ours passes it on; none has it in its environment.
    for pid, words in berth.processes().items():
        if " node --name " in words or " server" in words:
            assert VALUE.encode() not in pathlib.Path(f"/proc/{pid}/environ").read_bytes()

    gate.touch()
    assert finished(berth) == [digest(VALUE)]
    berth.ok("server", "stop")
    assert not tellers(berth)


def test_run_takes_secrets_by_name_into_any_variable(berth):
    set_secret(berth)
    set_secret(berth, OTHER, "wandb.key")

    said = berth.ok("run", "--no-code", "--name", "j", "--secret", "HF_TOKEN", "--secret", "wandb.key=WANDB_API_KEY",
                    "--", f"{HASH}; printf %s $WANDB_API_KEY | sha256sum | cut -c -64").out.split()

    assert said == [digest(VALUE), digest(OTHER)]
    assert berth.show("j")["properties"]["berth.secrets"] == "HF_TOKEN,wandb.key=WANDB_API_KEY"
    assert "VARIABLE" in berth.fails("run", "--no-code", "--secret", "wandb.key", "--", "true", code=2).err


@pytest.mark.parametrize("how", ["stdin", "environment"])
def test_a_value_comes_from_stdin_or_a_variable(berth, how):
    if how == "stdin":
        process = berth.popen("secret", "set", "HF_TOKEN", stdin=subprocess.PIPE)
        process.communicate(f"{VALUE}\n".encode(), timeout=DEADLINE)
        assert process.returncode == 0
    else:
        berth.ok("secret", "set", "HF_TOKEN", "--from-env", "ELSEWHERE", env={"ELSEWHERE": VALUE})
    wanting(berth)
    assert finished(berth) == [digest(VALUE)]


def test_a_terminal_shows_nothing_of_what_is_typed(berth):
    berth.ensure_server()
    ours, theirs = pty.openpty()
    process = subprocess.Popen([BINARY, "secret", "set", "HF_TOKEN"], env=berth.environment, cwd=berth.folder,
                               stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
    os.close(theirs)
    shown, was_typed, until = b"", False, time.monotonic() + DEADLINE
    while time.monotonic() < until:
        if not select.select([ours], [], [], 0.1)[0]:
            # Once the echo is off: what is typed before belongs to whoever read before.
            is_silent = not termios.tcgetattr(ours)[3] & termios.ECHO
            if is_silent and not was_typed:
                os.write(ours, b"wrong\x7f\x7f\x7f\x7f\x7f" + VALUE.encode() + b"\r")
                was_typed = True
            continue
        try:
            shown += os.read(ours, 4096)
        except OSError:
            break
    assert process.wait(DEADLINE) == 0, shown
    os.close(ours)

    assert b"value of 'HF_TOKEN'" in shown and VALUE.encode() not in shown
    wanting(berth)
    assert finished(berth) == [digest(VALUE)]


def test_a_secret_that_is_not_there_is_refused_with_what_was_meant(berth):
    set_secret(berth)
    file = berth.job_file("true", properties={"berth.secrets": "HF_TOKN"})

    assert "did you mean 'HF_TOKEN'?" in berth.fails("job", "create", "-f", file).err
    assert "berth secret set NOTHING" in berth.fails("run", "--no-code", "--secret", "NOTHING", "--", "true").err
    assert "both" in berth.fails("run", "--no-code", "--secret", "HF_TOKEN", "--env", "HF_TOKEN=x", "--", "true").err
    assert "set by Berth" in berth.fails("run", "--no-code", "--secret", "HF_TOKEN=AZUREML_RUN_ID", "--", "true").err
    assert berth.ok("job", "list", "-o", "json").json == []


def test_what_cannot_be_a_secret_is_refused(berth):
    for value in (b"", b"\n", b"\xff\xfe", b"a\0b", b"x" * (32 * 1024 + 1)):
        process = berth.popen("secret", "set", "X", stdin=subprocess.PIPE)
        out, err = process.communicate(value, timeout=DEADLINE)
        assert process.returncode == 1, (value[:10], out, err)
    assert "not set here" in berth.fails("secret", "set", "X", "--from-env", "NOT_HERE").err
    berth.fails("secret", "set", "a/b", "--from-env", "HOME")
    berth.fails("secret", "show", "X", code=3)
    berth.fails("secret", "delete", "X", code=3)
    answer = berth.request("PUT", f"/berth/v1{WORKSPACE}/secrets/X", {"value": 5})
    assert answer.status == 400 and "value" in answer.json["error"]["message"], answer
    assert berth.ok("secret", "list", "-o", "json").json == []


def test_each_attempt_takes_the_value_that_is_there_by_then(berth):
    set_secret(berth)
    seen, gate = berth.folder / "seen", berth.folder / "gate"
    berth.ok("compute", "create", "-n", "pool", "--tier", "low_priority", "--max-instances", 1, "-o", "none")
    wanting(berth, command=f"{HASH} >> {seen}; until [ -e {gate} ]; do sleep 0.05; done", compute="azureml:pool")
    eventually(lambda: seen.exists() and seen.read_text().split() == [digest(VALUE)], what="the first attempt")

    set_secret(berth, OTHER)
    node = berth.ok("compute", "list-nodes", "-n", "pool", "-o", "json").json[0]["node_id"]
    berth.ok("node", "preempt", node)

    eventually(lambda: seen.read_text().split() == [digest(VALUE), digest(OTHER)], what="the second attempt")
    gate.touch()
    berth.wait("j", "Completed")
    berth.ok("compute", "delete", "-n", "pool", "-y")


def test_a_job_whose_secret_was_deleted_fails_and_says_so_and_one_that_runs_goes_on(berth):
    berth.start_server("--slots", "1")
    set_secret(berth)
    gate = berth.folder / "gate"
    wanting(berth, "first", command=f"{HASH}; until [ -e {gate} ]; do sleep 0.05; done")
    berth.wait("first", "Running")
    wanting(berth, "second")
    berth.ok("secret", "delete", "HF_TOKEN")

    berth.ok("server", "stop")  # A node that dials in again is told of the first one again.
    berth.start_server("--slots", "1")
    gate.touch()

    assert finished(berth, "first") == [digest(VALUE)]
    job = berth.wait("second", "Failed")
    assert "its secret 'HF_TOKEN' was deleted" in job["properties"]["error"]["message"]


def test_an_agent_that_is_killed_costs_a_waiting_job_no_secret(berth):
    """The value is on no disk of the node: the next agent hears it from the server again."""
    set_secret(berth)
    gate = berth.folder / "gate"
    wanting(berth, "first", command=f"until [ -e {gate} ]; do sleep 0.05; done; {HASH}")
    berth.wait("first", "Running")
    for pid in berth.node_pids():
        os.kill(pid, 9)
    gate.touch()
    assert finished(berth, "first") == [digest(VALUE)]

    wanting(berth, "second")
    assert finished(berth, "second") == [digest(VALUE)]


def test_secrets_are_their_users_own_or_shared(berth):
    berth.ensure_server()
    ana, bo = add(berth, "ana", SCIENTIST), add(berth, "bo", SCIENTIST)
    set_secret(berth, **as_user(ana))
    file = berth.job_file(HASH, properties={"berth.secrets": "HF_TOKEN"})

    assert berth.ok("secret", "list", "-o", "json", **as_user(bo)).json == []
    berth.fails("secret", "show", "HF_TOKEN", code=3, **as_user(bo))
    assert "you have no secret 'HF_TOKEN'" in berth.fails("job", "create", "-f", file, **as_user(bo)).err
    # A name that is given to somebody else again brings nothing with it.
    berth.ok("user", "delete", "ana", "-y")
    ana = add(berth, "ana", SCIENTIST)
    assert berth.ok("secret", "list", "-o", "json", **as_user(ana)).json == []

    berth.fails("secret", "set", "HF_TOKEN", "--shared", "--from-env", "V", code=1, env={"V": "x"} | as_user(bo)["env"])
    set_secret(berth, OTHER, "HF_TOKEN", "--shared")
    berth.ok("job", "create", "-f", file, "--name", "shared", **as_user(bo))
    assert finished(berth, "shared") == [digest(OTHER)]
    set_secret(berth, **as_user(bo))  # Your own comes first.
    berth.ok("job", "create", "-f", file, "--name", "own", **as_user(bo))
    assert finished(berth, "own") == [digest(VALUE)]
    listed = berth.ok("secret", "list", "-o", "json", **as_user(bo)).json
    assert [(each["name"], each["shared"], each["set_by"]) for each in listed] == \
        [("HF_TOKEN", False, "bo"), ("HF_TOKEN", True, "owner")]


def test_changes_are_in_the_audit_log_without_the_value(berth):
    set_secret(berth)
    berth.ok("secret", "delete", "HF_TOKEN")

    lines = berth.ok("audit", "list", "-o", "json").out
    assert "Berth/secrets/write" in lines and "Berth/secrets/delete" in lines and "/secrets/HF_TOKEN" in lines
    assert not tellers(berth)


@pytest.mark.parametrize("kind", ["pytorch", "mpi"])
def test_every_process_of_a_distributed_job_has_it(berth, kind):
    if kind == "mpi" and not shutil.which("mpirun"):
        pytest.skip("no Open MPI")
    set_secret(berth)
    berth.ok("compute", "create", "-n", "pool", "--max-instances", 2, "-o", "none")
    rank = {"pytorch": "$RANK", "mpi": "$OMPI_COMM_WORLD_RANK"}[kind]
    seen = berth.folder / "seen"
    seen.mkdir()
    wanting(berth, command=f"{HASH} > {seen}/{rank}; cat /proc/*/cmdline > {seen}/words-{rank} 2> /dev/null; true",
            compute="azureml:pool", resources={"instance_count": 2},
            distribution={"type": kind, "process_count_per_instance": 2})
    berth.wait("j", "Completed", timeout=2 * DEADLINE)

    assert [(seen / str(number)).read_text().strip() for number in range(4)] == [digest(VALUE)] * 4
    assert not [path for path in seen.glob("words-*") if VALUE.encode() in path.read_bytes()]
    assert not tellers(berth)
    berth.ok("compute", "delete", "-n", "pool", "-y")


def test_a_workspace_takes_its_secrets_with_it(berth):
    berth.ok("workspace", "create", "-n", "other", "-o", "none")
    set_secret(berth, VALUE, "HF_TOKEN", "-w", "other")
    assert berth.ok("secret", "list", "-o", "json").json == []
    berth.ok("workspace", "delete", "-n", "other", "-y")
    berth.ok("workspace", "create", "-n", "other", "-o", "none")
    assert berth.ok("secret", "list", "-w", "other", "-o", "json").json == []

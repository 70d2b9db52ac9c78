# SPDX-License-Identifier: Apache-2.0
"""What a job finds in its environment: a clean base, what was said for it, and nothing of whoever started the server."""

import json
import os
import pathlib

import pytest

from harness import eventually

PLAIN_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# Of the shell that the server is started from.
STRAY = {"HF_TOKEN": "hf_stray0123456789", "VIRTUAL_ENV": "/stray/venv", "CONDA_PREFIX": "/stray/conda",
         "PATH": f"/stray/venv/bin:/stray/conda/bin:{os.environ['PATH']}", "PYTHONPATH": "/stray/lib",
         "LD_LIBRARY_PATH": "/stray/lib64", "CUDA_HOME": "/stray/cuda", "TMPDIR": "/tmp", "SLURM_JOB_ID": "4711",
         "http_proxy": "http://stray:password@127.0.0.1:9", "STRAY": "stray"}
ALLOWED = ("HOME", "USER", "LOGNAME", "SHELL", "PATH", "LANG", "LANGUAGE", "TZ", "CUDA_VISIBLE_DEVICES")
ALLOWED_STARTS = ("LC_", "AZUREML_", "AZ_BATCH", "AZURE_ML_", "MLFLOW_", "BERTH_")
OF_THE_SHELL = ("PWD", "OLDPWD", "SHLVL", "_", "ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS")


def variables_of(text):
    """What `env -0` printed."""
    return dict(entry.split("=", 1) for entry in text.split("\0") if "=" in entry)


def environment_of(berth, name="j", words=(), **keys):
    berth.submit("env -0", name, *words, **keys)
    berth.wait(name, "Completed")
    return variables_of(berth.log(name).decode())


def unexpected(variables):
    return [name for name in variables if name not in ALLOWED and name not in OF_THE_SHELL
            and not name.startswith(ALLOWED_STARTS)]


def environ(pid):
    return pathlib.Path(f"/proc/{pid}/environ").read_bytes()


@pytest.fixture(params=["on the way", "by hand"])
def started(request, berth):
    """A server that somebody's shell has started, full of what is theirs."""
    if request.param == "by hand":
        berth.start_server(env=STRAY)
    else:
        berth.ok("workspace", "list", "-o", "none", env=STRAY)
    berth.is_by_hand = request.param == "by hand"
    return berth


def test_a_job_finds_nothing_of_who_started_the_server(started):
    found = environment_of(started)

    assert not [name for name, value in found.items() if "stray" in value], found
    assert not unexpected(found)
    assert found["PATH"] == PLAIN_PATH
    assert found["HOME"] == os.environ["HOME"]


def test_nor_does_a_job_on_a_cluster_of_this_machine(started):
    started.ok("compute", "create", "-n", "pool", "--max-instances", 1, "-o", "none")

    found = environment_of(started, compute="azureml:pool")

    assert not [name for name, value in found.items() if "stray" in value], found
    assert found["CUDA_VISIBLE_DEVICES"] == ""
    assert not unexpected(found)
    started.ok("compute", "delete", "-n", "pool", "-y")


def test_our_own_processes_keep_no_token_of_a_shell(started):
    started.submit("sleep 600", "j")
    started.wait("j", "Running")
    agents = [pid for pid, words in started.processes().items() if " node --name " in words]
    server = started.server_pid()

    assert agents
    for pid in agents if started.is_by_hand else [*agents, server]:
        assert STRAY["HF_TOKEN"].encode() not in environ(pid)
        assert b"VIRTUAL_ENV=" not in environ(pid)

    started.ok("job", "cancel", "-n", "j")
    started.wait("j", "Canceled")


def test_run_passes_the_callers_path_and_virtual_environment_and_nothing_else(berth):
    berth.ensure_server()
    mine = {"PATH": f"/my/venv/bin:{os.environ['PATH']}", "VIRTUAL_ENV": "/my/venv", "CONDA_PREFIX": "/my/conda",
            "CONDA_DEFAULT_ENV": "conda", "HF_TOKEN": "hf_mine0123456789", "MINE": "mine"}

    found = variables_of(berth.ok("run", "--no-code", "--name", "j", "--", "env", "-0", env=mine).out)

    assert {name: value for name, value in found.items() if name in mine} == \
        {name: value for name, value in mine.items() if name not in ("HF_TOKEN", "MINE")}
    assert berth.show("j")["environment_variables"].keys() == {"PATH", "VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV"}


def test_run_finds_the_python_of_the_callers_environment(berth):
    python = berth.file("venv/bin/python3", "#!/bin/sh\necho the python of $VIRTUAL_ENV\n")
    python.chmod(0o755)
    mine = {"VIRTUAL_ENV": str(python.parent.parent), "PATH": f"{python.parent}:{os.environ['PATH']}"}

    for on in ("local", "pool"):
        if on == "pool":
            berth.ok("compute", "create", "-n", "pool", "--max-instances", 1, "-o", "none")
        said = berth.ok("run", "--on", on, "--no-code", "--", "python3", env=mine).out
        assert said == f"the python of {python.parent.parent}\n"
    berth.ok("compute", "delete", "-n", "pool", "-y")


def test_a_job_of_a_file_gets_none_of_the_callers_environment(berth):
    file = berth.job_file("env -0")
    berth.ok("job", "create", "-f", file, "--name", "j", env={"VIRTUAL_ENV": "/my/venv", "PATH": f"/my/venv/bin:{os.environ['PATH']}"})
    berth.wait("j", "Completed")

    assert "/my/venv" not in berth.log("j").decode()


def test_a_server_elsewhere_gets_nothing_of_the_caller(berth):
    berth.ensure_server()
    far = {"BERTH_URL": f"http://127.0.0.1:{berth.port()}", "BERTH_TOKEN": berth.token(), "VIRTUAL_ENV": "/my/venv"}

    berth.ok("run", "--no-code", "--name", "j", "--", "true", env=far)

    assert berth.show("j")["environment_variables"] == {}


def test_variables_are_named_one_by_one_or_in_files(berth):
    first = berth.file("first.env", "# a comment\n\n  A=from file\nB=x=y 'quoted'\r\nHERE\nNOT_HERE\n")
    second = berth.file("second.env", "\ufeffC=1\nA=from the second\n")

    berth.ok("run", "--no-code", "--name", "j", "--env-file", first, "--env-file", second, "--env", "B=over", "--env",
             "ALSO_HERE", "--env", "EMPTY=", "--", "true", env={"HERE": "here", "ALSO_HERE": "too"})

    variables = berth.show("j")["environment_variables"]
    variables.pop("PATH", None)
    assert variables == {"A": "from the second", "B": "over", "C": "1", "HERE": "here", "ALSO_HERE": "too", "EMPTY": ""}


@pytest.mark.parametrize("text, place", [("A=1\n2B=x\n", ":2:"), ("A B=1\n", ":1:"), ("\n\n=x\n", ":3:")])
def test_a_wrong_line_of_a_file_is_named(berth, text, place):
    berth.file("wrong.env", text)

    outcome = berth.fails("run", "--no-code", "--env-file", "wrong.env", "--", "true", code=2)

    assert f"wrong.env{place}" in outcome.err and "cannot name" in outcome.err


def test_a_variable_that_is_not_set_here_is_named(berth):
    assert "'NOT_HERE' is not set here" in berth.fails("run", "--no-code", "--env", "NOT_HERE", "--", "true", code=2).err
    assert "nowhere.env" in berth.fails("run", "--no-code", "--env-file", "nowhere.env", "--", "true", code=2).err


def test_a_variable_that_looks_like_a_secret_draws_a_warning(berth):
    said = berth.ok("run", "--no-code", "--env", "WANDB_API_KEY=x", "--env", "SEED=1", "--", "true").err

    assert "'WANDB_API_KEY' looks like a secret" in said and "--secret WANDB_API_KEY" in said
    assert "SEED" not in said


def test_a_job_of_a_file_takes_variables_of_the_command(berth):
    found = environment_of(berth, words=("--env", "A=over", "--env", "B=2"),
                           environment_variables={"A": "file", "C": "file"})

    assert (found["A"], found["B"], found["C"]) == ("over", "2", "file")


def test_a_site_says_what_all_its_jobs_find_below_their_own(berth):
    shown = berth.ok("site", "update", "local", "--job-env", "PATH=/opt/site/bin:/usr/bin:/bin", "--job-env", "SITE=1",
                     "--job-env", "BOTH=site", "-o", "json").json
    assert shown["job_environment"]["SITE"] == "1"

    found = environment_of(berth, environment_variables={"BOTH": "job"})

    assert (found["PATH"], found["SITE"], found["BOTH"]) == ("/opt/site/bin:/usr/bin:/bin", "1", "job")
    assert "AZUREML_RUN_ID" in berth.fails("site", "update", "local", "--job-env", "AZUREML_RUN_ID=x").err
    berth.ok("site", "update", "local", "--job-env", "none")
    assert "SITE" not in environment_of(berth, "k")

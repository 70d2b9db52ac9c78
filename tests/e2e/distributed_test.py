# SPDX-License-Identifier: Apache-2.0
"""One job on several nodes: ranks, their variables, their logs, and what happens when one of them fails."""

import json
import pathlib
import re
import shutil
import subprocess

import pytest

from harness import EXAMPLES, eventually, is_alive, kill

# What the azure-ai-ml client streams, and what it takes for a log at all.
STREAMED = re.compile(r"user_logs/std_log[\D]*[0]*(?:_ps)?\.txt")
LOGS = re.compile(r"user_logs/std_log.*\.txt")
TOPOLOGY = ("AZUREML_CR_NODE_RANK", "AZUREML_PROCESS_NAME", "AZ_BATCH_HOST_LIST", "AZ_BATCH_MASTER_NODE",
            "AZ_BATCHAI_JOB_MASTER_NODE_IP", "AZ_BATCHAI_MPI_MASTER_NODE")
PRINT_VARIABLES = "python3 -c 'import json, os; print(json.dumps(dict(os.environ)))'"


@pytest.fixture
def pool(berth):
    """Two nodes that come when there is work for them."""
    berth.ok("compute", "create", "-f", EXAMPLES / "clusters/cpu-cluster.yml", "--set", "idle_time_before_scale_down=2", "-o", "none")
    return berth


def needs(what, is_there):
    if not is_there:
        pytest.skip(f"{what} is not installed; tools/install-deps --test installs it")


def needs_mpi():
    needs("Open MPI", shutil.which("mpirun") and shutil.which("mpicxx"))


def submit(berth, name, command, nodes=2, **keys):
    return berth.submit(command, name, compute="azureml:cpu-cluster", resources={"instance_count": nodes}, **keys)


def pytorch(processes=1):
    return {"distribution": {"type": "pytorch", "process_count_per_instance": processes}}


def mpi(processes=1):
    return {"distribution": {"type": "mpi", "process_count_per_instance": processes}}


def download(berth, name):
    """Everything the job left: path -> text."""
    folder = berth.folder / f"all-of-{name}"
    berth.ok("job", "download", "--name", name, "--all", "--download-path", folder)
    artifacts = folder / "artifacts"
    return {path.relative_to(artifacts).as_posix(): path.read_text()
            for path in artifacts.rglob("*") if path.is_file()}


def logs_of(berth, name):
    """By rank, as the names say."""
    files = {path: text for path, text in download(berth, name).items() if LOGS.fullmatch(path)}
    assert [path for path in files if STREAMED.fullmatch(path)] == ["user_logs/std_log.txt"]
    return [files[path] for path in sorted(files)]


def variables_of(berth, name):
    return [json.loads(text) for text in logs_of(berth, name)]


def marks_of(berth, name):
    """What the ranks wrote down as they came up: words of one line each."""
    file = berth.folder / f"{name}.marks"
    return [line.split() for line in file.read_text().splitlines()] if file.exists() else []


def marking(berth, name, rank="$RANK"):
    return f"echo {rank} $$ >> {berth.folder}/{name}.marks; "


def wait_for_marks(berth, name, count):
    eventually(lambda: len(marks_of(berth, name)) >= count, what=f"{count} processes of {name}")
    return [int(pid) for rank, pid in marks_of(berth, name)]


def check_all_gone(pids):
    eventually(lambda: not [pid for pid in pids if is_alive(pid)], what=f"the end of {pids}")


# What a newcomer runs.

@pytest.mark.parametrize("example, processes", [("all-reduce", 4), ("mpi", 4), ("pytorch", 2)])
def test_the_examples_run_as_they_are(pool, example, processes):
    if example == "mpi":
        needs_mpi()
    if example == "pytorch":
        found = subprocess.run(["/usr/bin/python3", "-c", "import torch"], capture_output=True)
        needs("PyTorch", found.returncode == 0)

    outcome = pool.run("job", "create", "-f", EXAMPLES / example / "job.yml", "--name", "it", "--stream",
                       "-o", "none")

    assert outcome.code == 0, (outcome, download(pool, "it"))
    assert f"rank 0 of {processes}" in outcome.out + outcome.err
    logs = logs_of(pool, "it")
    assert len(logs) == processes
    for rank, log in enumerate(logs):
        assert f"rank {rank} of {processes}" in log


# What every process knows.

def test_pytorch_processes_know_their_place(pool):
    submit(pool, "job", PRINT_VARIABLES, **pytorch(2))
    pool.wait("job", "Completed")

    ranks = variables_of(pool, "job")

    assert len(ranks) == 4
    for rank, told in enumerate(ranks):
        assert told["RANK"] == str(rank)
        assert told["LOCAL_RANK"] == str(rank % 2)
        assert told["NODE_RANK"] == told["AZUREML_CR_NODE_RANK"] == str(rank // 2)
        assert told["WORLD_SIZE"] == "4"
        assert told["AZUREML_PROCESS_NAME"] == f"rank_{rank}"
        assert told["AZ_BATCH_HOST_LIST"].count(",") == 1
        assert told["AZ_BATCH_MASTER_NODE"] == f"{told['MASTER_ADDR']}:{told['MASTER_PORT']}"
        assert told["AZ_BATCHAI_JOB_MASTER_NODE_IP"] == told["MASTER_ADDR"]
        assert told["AZ_BATCHAI_MPI_MASTER_NODE"] == told["MASTER_ADDR"]
    assert len({(told["MASTER_ADDR"], told["MASTER_PORT"]) for told in ranks}) == 1
    assert ranks[0]["AZ_BATCHAI_JOB_WORK_DIR"] != ranks[2]["AZ_BATCHAI_JOB_WORK_DIR"]


def test_tensorflow_tasks_know_each_other(pool):
    submit(pool, "job", PRINT_VARIABLES,
           distribution={"type": "tensorflow", "worker_count": 2, "parameter_server_count": 1})
    pool.wait("job", "Completed")

    files = {path: json.loads(text) for path, text in download(pool, "job").items() if LOGS.fullmatch(path)}

    assert set(files) == {"user_logs/std_log.txt", "user_logs/std_log_process_01.txt",
                          "user_logs/std_log_process_00_ps.txt"}
    configs = {path: json.loads(told["TF_CONFIG"]) for path, told in files.items()}
    assert configs["user_logs/std_log.txt"]["task"] == {"type": "worker", "index": 0}
    assert configs["user_logs/std_log_process_01.txt"]["task"] == {"type": "worker", "index": 1}
    assert configs["user_logs/std_log_process_00_ps.txt"]["task"] == {"type": "ps", "index": 0}
    clusters = [config["cluster"] for config in configs.values()]
    assert clusters[0] == clusters[1] == clusters[2]
    places = clusters[0]["worker"] + clusters[0]["ps"]
    assert len(places) == len(set(places)) == 3


def test_without_a_distribution_the_command_runs_once_on_each_node(pool):
    submit(pool, "job", PRINT_VARIABLES)
    pool.wait("job", "Completed")

    ranks = variables_of(pool, "job")

    assert [told["AZUREML_CR_NODE_RANK"] for told in ranks] == ["0", "1"]
    for told in ranks:
        assert all(told[name] for name in TOPOLOGY)
        assert "RANK" not in told and "TF_CONFIG" not in told


def test_mpi_ranks_have_open_mpis_variables_and_their_nodes_own(pool):
    needs_mpi()
    submit(pool, "job", PRINT_VARIABLES, inputs={"x": {"type": "uri_file", "path": str(pool.file("x.txt", "x"))}},
           **mpi(2))
    pool.wait("job", "Completed")

    ranks = variables_of(pool, "job")

    assert [told["OMPI_COMM_WORLD_RANK"] for told in ranks] == ["0", "1", "2", "3"]
    for rank, told in enumerate(ranks):
        assert told["OMPI_COMM_WORLD_SIZE"] == "4"
        assert told["OMPI_COMM_WORLD_LOCAL_SIZE"] == "2"
        assert told["AZUREML_PROCESS_NAME"] == f"rank_{rank}"
        assert told["AZUREML_CR_NODE_RANK"] == str(rank // 2)
        assert all(told[name] for name in TOPOLOGY)
        assert told["PWD"] == told["AZ_BATCHAI_JOB_WORK_DIR"]
        assert pathlib.Path(told["AZURE_ML_INPUT_x"]).is_relative_to(pathlib.Path(told["PWD"]).parent)
    assert ranks[0]["PWD"] != ranks[2]["PWD"]


def test_one_node_runs_several_processes_too(berth):
    berth.submit(PRINT_VARIABLES, "job", **pytorch(3))
    berth.wait("job", "Completed")

    assert [(told["RANK"], told["WORLD_SIZE"]) for told in variables_of(berth, "job")] == [
        ("0", "3"), ("1", "3"), ("2", "3")]


# Logs and outputs.

@pytest.mark.parametrize("kind", [pytorch, mpi])
def test_no_process_erases_its_log_by_opening_its_streams_by_name(berth, kind):
    if kind is mpi:
        needs_mpi()
    berth.submit("echo one; echo two > /dev/stderr; echo three > /dev/stdout", "j", **kind(2))
    berth.wait("j", "Completed")

    logs = [text for path, text in download(berth, "j").items() if path.startswith("user_logs/")]

    assert logs == ["one\ntwo\nthree\n"] * 2, logs


def test_the_first_ranks_log_is_there_while_it_runs(pool):
    gate = pool.folder / "gate"
    submit(pool, "job", f"echo here is $RANK; until [ -e {gate} ]; do sleep 0.05; done", **pytorch(2))

    eventually(lambda: pool.live_log("job") == b"here is 0\n", what="the head's log")
    gate.touch()
    pool.wait("job", "Completed")

    assert logs_of(pool, "job") == [f"here is {rank}\n" for rank in range(4)]


def test_what_any_node_writes_is_kept(pool):
    submit(pool, "job", "echo $RANK > outputs/from-$RANK; echo $RANK > ${{outputs.parts}}/part-$RANK",
           outputs={"parts": {"type": "uri_folder"}}, **pytorch())
    pool.wait("job", "Completed")

    files = download(pool, "job")

    assert (files["outputs/from-0"], files["outputs/from-1"]) == ("0\n", "1\n")
    parts = pool.folder / "all-of-job/named-outputs/parts"
    assert sorted(path.name for path in parts.iterdir()) == ["part-0", "part-1"]


# Failures.

@pytest.mark.parametrize("failing", [0, 1, 3])
def test_one_rank_that_fails_fails_the_job_and_stops_the_others(pool, failing):
    wait = f"until [ $(wc -l < {pool.folder}/job.marks) = 4 ]; do sleep 0.05; done; "
    submit(pool, "job", marking(pool, "job") + wait + f"[ $RANK = {failing} ] && exit 7; exec sleep 600", **pytorch(2))

    job = pool.wait("job", "Failed")

    assert "code 7" in job["properties"]["error"]["message"]
    check_all_gone([int(pid) for rank, pid in marks_of(pool, "job")])


def test_a_rank_of_mpi_that_fails_fails_the_job_and_stops_the_others(pool):
    needs_mpi()
    mark = marking(pool, "job", "$OMPI_COMM_WORLD_RANK")
    wait = f"until [ $(wc -l < {pool.folder}/job.marks) = 4 ]; do sleep 0.05; done; "
    submit(pool, "job", mark + wait + "[ $OMPI_COMM_WORLD_RANK = 3 ] && exit 7; exec sleep 600", **mpi(2))

    job = pool.wait("job", "Failed")

    assert "code 7" in job["properties"]["error"]["message"]
    check_all_gone([int(pid) for rank, pid in marks_of(pool, "job")])


def test_a_node_without_open_mpi_says_so(pool):
    submit(pool, "job", "true", environment_variables={"PATH": "/nowhere"}, **mpi())

    job = pool.wait("job", "Failed")

    assert "Open MPI" in job["properties"]["error"]["message"]


@pytest.mark.parametrize("kind", ["pytorch", "mpi"])
def test_a_cancel_stops_every_rank(pool, kind):
    if kind == "mpi":
        needs_mpi()
    mark = marking(pool, "job", "$AZUREML_PROCESS_NAME")
    submit(pool, "job", mark + "exec sleep 600", distribution={"type": kind, "process_count_per_instance": 2})
    pids = wait_for_marks(pool, "job", 4)

    pool.ok("job", "cancel", "--name", "job")

    pool.wait("job", "Canceled")
    check_all_gone(pids)


@pytest.mark.parametrize("kind", ["pytorch", "mpi"])
def test_the_death_of_an_agent_is_not_the_jobs(pool, kind):
    if kind == "mpi":
        needs_mpi()
    gate = pool.folder / "gate"
    mark = marking(pool, "job", "$AZUREML_PROCESS_NAME")
    submit(pool, "job", mark + f"until [ -e {gate} ]; do sleep 0.05; done; echo over",
           distribution={"type": kind, "process_count_per_instance": 1})
    wait_for_marks(pool, "job", 2)

    for pid in pool.node_pids():
        kill(pid)
    gate.touch()

    pool.wait("job", "Completed")
    assert len(marks_of(pool, "job")) == 2, "it ran once"
    assert logs_of(pool, "job") == ["over\n", "over\n"]


def test_a_server_that_dies_while_members_wait_for_each_other_lets_them_go_later(pool):
    for number in range(8):
        name = f"job-{number}"
        submit(pool, name, "echo $RANK/$WORLD_SIZE", **pytorch())
        server = pool.server_pid()
        kill(server)
        check_all_gone([server])

        pool.wait(name, "Completed")

        assert logs_of(pool, name) == ["0/2\n", "1/2\n"]


def test_two_gangs_run_one_after_the_other(pool):
    gate = pool.folder / "gate"
    submit(pool, "first", marking(pool, "first") + f"until [ -e {gate} ]; do sleep 0.05; done", **pytorch())
    wait_for_marks(pool, "first", 2)
    submit(pool, "second", marking(pool, "second"), **pytorch())
    assert pool.status_of("second") == "Queued"
    assert not marks_of(pool, "second")

    gate.touch()

    pool.wait("first", "Completed")
    pool.wait("second", "Completed")
    assert sorted(rank for rank, pid in marks_of(pool, "second")) == ["0", "1"]


def test_a_gang_that_is_preempted_finds_its_outputs_again(pool):
    gate = pool.folder / "gate"
    look = "echo attempt $BERTH_ATTEMPT_NUMBER; ls outputs; "
    write = "echo $RANK > outputs/checkpoint-$RANK; "
    submit(pool, "job", look + write + marking(pool, "job") + f"until [ -e {gate} ]; do sleep 0.05; done", **pytorch())
    wait_for_marks(pool, "job", 2)
    node = pool.ok("compute", "list-nodes", "-n", "cpu-cluster", "-o", "json").json[0]["node_id"]

    pool.ok("node", "preempt", node)

    wait_for_marks(pool, "job", 4)
    gate.touch()
    pool.wait("job", "Completed")
    for log in logs_of_attempt(pool, "job"):
        assert log == "attempt 2\ncheckpoint-0\ncheckpoint-1\n"


def logs_of_attempt(berth, name):
    """Of the last attempt; the streamed log of an earlier one has its number in its name."""
    files = download(berth, name)
    return [files["user_logs/std_log.txt"], files["user_logs/std_log_process_01.txt"]]


# What is refused.

@pytest.mark.parametrize("distribution, word", [
    ({"type": "ray"}, "not supported"),
    ({"type": "horovod"}, "horovod"),
    ({"type": "pytorch", "process_count_per_instance": 0}, "process_count_per_instance"),
    ({"type": "pytorch", "process_count_per_instance": 1000}, "process_count_per_instance"),
    ({"type": "tensorflow", "parameter_server_count": 3}, "parameter_server_count"),
])
def test_a_distribution_that_cannot_be_is_refused_by_name(pool, distribution, word):
    file = pool.job_file("true", compute="azureml:cpu-cluster", resources={"instance_count": 2},
                         distribution=distribution)

    outcome = pool.run("job", "create", "-f", file)

    assert outcome.code in (1, 2), outcome
    assert word in outcome.err

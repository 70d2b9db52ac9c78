# SPDX-License-Identifier: Apache-2.0
"""How far the token of a job reaches, what becomes of it with its user, and models out of jobs that track."""

import json

import pytest

from auth_test import SCIENTIST, add, as_user
from harness import WORKSPACE, eventually

API = f"/mlflow/v1.0{WORKSPACE}/api/2.0"
ARTIFACTS = f"{API}/mlflow-artifacts/artifacts"


class Worker:
    """A job that runs until it is let go, and its token."""

    def __init__(self, berth, name, env=None, **keys):
        self.berth, self.name = berth, name
        self.gate, token = berth.folder / f"gate-{name}", berth.folder / f"token-{name}"
        command = (f"umask 077; printf %s \"$MLFLOW_TRACKING_TOKEN\" > {token}.new; mv {token}.new {token}; "
                   f"until [ -e {self.gate} ]; do sleep 0.05; done")
        file = berth.job_file(command, f"{name}.yml", **({"experiment_name": "Default"} | keys))
        berth.ok("job", "create", "-f", file, "--name", name, env=env)
        eventually(token.exists, what="the job's token")
        self.token = token.read_text()

    def ask(self, method, path, body=None):
        return self.berth.request(method, path, body, token=self.token)

    def post(self, below, **body):
        return self.ask("POST", f"{API}/mlflow/{below}", body)

    def end(self):
        self.gate.touch()
        self.berth.wait(self.name, "Completed")


@pytest.fixture
def worker(berth):
    made = []

    def make(name, **keys):
        made.append(Worker(berth, name, **keys))
        return made[-1]

    yield make
    for each in made:
        each.gate.touch()
    eventually(lambda: not any(berth.server_status()["jobs"].values()), what="the jobs to end")


def log_model(who, run, name="model", files=("MLmodel", "data/w.bin"), experiment="0"):
    """What MLflow 3 does for mlflow.<flavor>.log_model(name=…)."""
    made = who.post("logged-models", experiment_id=experiment, name=name, source_run_id=run)
    assert made.status == 200, made
    info = made.json["model"]["info"]
    place = info["artifact_uri"].removeprefix("mlflow-artifacts:/")
    for file in files:
        assert who.ask("PUT", f"{ARTIFACTS}/{place}/{file}", f"{name} {file}".encode()).status == 200
    who.ask("PATCH", f"{API}/mlflow/logged-models/{info['model_id']}", {"status": "LOGGED_MODEL_READY"})
    return info["model_id"]


# ---- Models of jobs -----------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["azureml://jobs/train/outputs/artifacts/paths/model/", "runs:/train/model",
                                  "azureml://jobs/train/outputs/artifacts/paths/model"])
def test_a_model_that_a_job_logged_is_registered_with_its_files(berth, worker, path):
    train = worker("train")
    log_model(train, "train")
    train.end()

    made = berth.ok("model", "create", "-n", "ranker", "-p", path, "-t", "mlflow_model", "-o", "json").json
    berth.ok("model", "download", "-n", "ranker", "-v", "1", "-p", "down")

    assert made["job_name"] == "train" and len(made["digest"]) == 64
    assert (berth.folder / "down/ranker/model/MLmodel").read_text() == "model MLmodel"
    assert (berth.folder / "down/ranker/model/data/w.bin").read_text() == "model data/w.bin"
    berth.submit("cat ${{inputs.m}}/MLmodel", "use", inputs={"m": {"type": "mlflow_model", "path": "azureml:ranker:1"}})
    berth.wait("use", "Completed")
    assert b"model MLmodel" in berth.log("use")


def test_a_job_takes_what_another_has_logged(berth, worker):
    train = worker("train")
    log_model(train, "train")
    train.end()

    berth.submit("cat ${{inputs.m}}/data/w.bin", "use", inputs={
        "m": {"type": "mlflow_model", "path": "azureml://jobs/train/outputs/artifacts/paths/model"}})

    berth.wait("use", "Completed")
    assert b"model data/w.bin" in berth.log("use")


def test_download_brings_the_models_that_a_job_logged(berth, worker):
    train = worker("train")
    for _ in range(2):
        older, newer = log_model(train, "train", "net"), log_model(train, "train", "net", files=("MLmodel",))
    log_model(train, "train", "other")
    train.end()

    berth.ok("job", "download", "-n", "train", "--all", "-p", "down")

    folder = berth.folder / "down/artifacts"
    assert (folder / "other/data/w.bin").read_text() == "other data/w.bin"
    assert (folder / "net/MLmodel").exists() and not (folder / "net/data").exists(), "the newest has the name"
    assert (folder / f"net-{older}/data/w.bin").read_text() == "net data/w.bin"
    assert newer not in [path.name for path in folder.iterdir()]


@pytest.mark.parametrize("door", ["berth", "mlflow"])
@pytest.mark.parametrize("path, said", [
    ("runs:/quiet/model", "job 'quiet' has no artifact 'model'; it has "),
    ("azureml://jobs/quiet/outputs/artifacts/paths/model/", "has no artifact 'model"),
    ("azureml://jobs/quiet/outputs/none", "no output 'none'"),
    ("azureml://jobs/quiet/outputs/empty", "there are no files at"),
    ("azureml://datastores/workspaceblobstore/paths/nowhere", "there are no files at"),
])
def test_a_model_of_nothing_is_refused_and_what_is_there_is_said(berth, door, path, said):
    berth.submit("echo x > outputs/notes.txt", "quiet", outputs={"empty": {"type": "custom_model"}})
    berth.wait("quiet", "Completed")

    if door == "berth":
        message = berth.fails("model", "create", "-n", "ranker", "-p", path).err
    else:
        berth.request("POST", f"{API}/mlflow/registered-models/create", {"name": "ranker"})
        answer = berth.request("POST", f"{API}/mlflow/model-versions/create", {"name": "ranker", "source": path})
        assert answer.status in (400, 404), answer
        message = answer.json["message"]

    assert said in message
    assert "has no artifact" not in message or "outputs/" in message, "what there is"
    assert berth.get("/models/ranker/versions/1").status == 404


def test_a_model_of_a_job_that_is_not_over_is_refused(berth, worker):
    worker("train")
    refusal = berth.fails("model", "create", "-n", "ranker", "-p", "runs:/train/outputs/model")
    assert "it is not over" in refusal.err


def test_an_mlflow_model_has_an_mlmodel(berth):
    berth.file("m/weights.bin", "1")
    assert "no file MLmodel" in berth.fails("model", "create", "-n", "a", "-p", "m", "-t", "mlflow_model").err
    berth.ok("model", "create", "-n", "a", "-p", "m")
    path = berth.ok("model", "show", "-n", "a", "-v", "1", "--query", "path", "-o", "tsv").out.strip()
    # Past the command line, which looks before it uploads.
    answer = berth.put("/models/b/versions/1", {"properties": {"modelUri": path, "modelType": "mlflow_model"}})
    assert answer.status == 400 and "no file MLmodel" in answer.json["error"]["message"], answer
    berth.request("POST", f"{API}/mlflow/registered-models/create", {"name": "b"})
    answer = berth.request("POST", f"{API}/mlflow/model-versions/create", {"name": "b", "source": path})
    assert answer.status == 400 and "no file MLmodel" in answer.json["message"], answer
    assert berth.get("/models/b/versions/1").status == 404


def test_a_jobs_output_that_holds_no_model_is_a_warning(berth):
    berth.submit("true", "train", outputs={"o": {"type": "custom_model", "name": "ranker"}})
    berth.wait("train", "Completed")
    assert berth.get("/models/ranker/versions/1").status == 404
    assert "output 'o' was not registered: there are no files at" in json.dumps(berth.get_job("train"))


# ---- Registered models stay what they are -------------------------------------------------------


def test_a_registered_model_is_what_was_registered(berth, worker):
    """Whatever becomes of the place it came from, and though that is written again."""
    berth.file("m/w.txt", "good")
    berth.ok("model", "create", "-n", "ranker", "-p", "m")
    train = worker("train")
    assert train.ask("PUT", f"{ARTIFACTS}/ExperimentRun/dcid.train/net/w.txt", b"first").status == 200
    berth.ok("model", "create", "-n", "net", "-p", "runs:/train/net")
    assert train.ask("PUT", f"{ARTIFACTS}/ExperimentRun/dcid.train/net/w.txt", b"evil").status == 200
    train.end()
    assert berth.request("DELETE", f"{WORKSPACE}/jobs/train?api-version=2024-10-01").status < 300

    for name, text in (("ranker", "good"), ("net", "first")):
        berth.submit("cat ${{inputs.m}}/w.txt", f"use-{name}",
                     inputs={"m": {"type": "custom_model", "path": f"azureml:{name}:1"}})
        berth.wait(f"use-{name}", "Completed")
        assert text.encode() in berth.log(f"use-{name}")


def test_nobody_writes_into_a_registered_model(berth, worker):
    berth.file("m/w.txt", "good")
    berth.ok("model", "create", "-n", "ranker", "-p", "m")
    uri = berth.ok("model", "show", "-n", "ranker", "-v", "1", "--query", "path", "-o", "tsv").out.strip()
    path = uri.split("/paths/")[1] + "/w.txt"
    container = berth.container("workspaceartifactstore")
    train = worker("train")

    for answer in (berth.blob("PUT", path, b"evil", {"x-ms-blob-type": "BlockBlob"}, container=container),
                   berth.blob("PUT", path, b"evil", query="comp=block&blockid=YQ==", container=container),
                   berth.blob("PUT", path, b"<BlockList/>", query="comp=blocklist", container=container),
                   berth.blob("DELETE", path, container=container),
                   berth.request("PUT", f"{ARTIFACTS}/{path}", b"evil"),
                   berth.request("DELETE", f"{ARTIFACTS}/{path}"),
                   train.ask("PUT", f"{ARTIFACTS}/{path}", b"evil")):
        assert answer.status in (403, 409), answer
    assert berth.blob("GET", path, container=container).body == b"good"

    assert berth.request("DELETE", f"{WORKSPACE}/models/ranker/versions/1?api-version=2024-10-01").status == 204
    assert berth.blob("GET", path, container=container).status == 404


# ---- The reach of a token -----------------------------------------------------------------------


def test_a_token_reaches_the_jobs_own_and_no_more(berth, worker):
    """What somebody with a foothold in one job tried."""
    berth.file("code/train.py", "secret = 1")
    berth.submit("true", "victim", code="./code", experiment_name="theirs")
    berth.wait("victim", "Completed")
    berth.file("m/w.txt", "good")
    berth.ok("model", "create", "-n", "ranker", "-p", "m")
    run = berth.request("POST", f"{API}/mlflow/runs/create", {"experiment_id": "0"}).json["run"]["info"]["run_id"]
    job = worker("job")

    for answer in (job.ask("GET", f"{ARTIFACTS}?path=datastores/workspaceblobstore/LocalUpload"),
                   job.ask("GET", f"{ARTIFACTS}?path="),
                   job.ask("GET", f"{ARTIFACTS}/ExperimentRun/dcid.victim/user_logs/std_log.txt"),
                   job.ask("GET", f"{API}/mlflow/artifacts/list?run_id=victim"),
                   job.ask("PUT", f"{ARTIFACTS}/ExperimentRun/dcid.victim/model/w.txt", b"evil"),
                   job.post("registered-models/alias", name="ranker", alias="champion", version="1"),
                   job.post("model-versions/transition-stage", name="ranker", version="1", stage="Production"),
                   job.post("runs/update", run_id=run, status="KILLED"),
                   job.post("runs/log-batch", run_id="victim", metrics=[{"key": "m", "value": 1, "timestamp": 1}]),
                   job.post("runs/set-tag", run_id="victim", key="a", value="b"),
                   job.ask("GET", f"{API}/mlflow/model-versions/get-download-uri?name=ranker&version=1")):
        assert answer.status == 403, answer
        assert "the token of job 'job' does not reach" in answer.json["message"], answer
        assert "--job-access" in answer.json["message"], answer
    found = job.post("runs/search", experiment_ids=["0"]).json["runs"]
    assert [each["info"]["run_id"] for each in found] == ["job"]

    # Its own, what it makes, and a version of what it made.
    child = job.post("runs/create", experiment_id="0", tags=[{"key": "mlflow.parentRunId", "value": "job"}])
    child = child.json["run"]["info"]["run_id"]
    for own in ("job", child):
        assert job.post("runs/log-batch", run_id=own, metrics=[{"key": "m", "value": 1, "timestamp": 1}]).status == 200
        assert job.ask("PUT", f"{ARTIFACTS}/ExperimentRun/dcid.{own}/model/MLmodel", b"x").status == 200
    made = job.post("model-versions/create", name="ranker", source=f"runs:/{child}/model")
    assert made.status == 200 and made.json["model_version"]["version"] == "2", made
    assert job.post("model-versions/set-tag", name="ranker", version="2", key="a", value="b").status == 200
    assert job.post("model-versions/set-tag", name="ranker", version="1", key="a", value="b").status == 403


def test_a_workspace_lets_its_jobs_reach_more(berth, worker):
    berth.file("m/w.txt", "good")
    berth.ok("model", "create", "-n", "ranker", "-p", "m")
    run = berth.request("POST", f"{API}/mlflow/runs/create", {"experiment_id": "0"}).json["run"]["info"]["run_id"]
    job = worker("job")

    def tries():
        uri = job.ask("GET", f"{API}/mlflow/model-versions/get-download-uri?name=ranker&version=1")
        files = uri.status
        if uri.status == 200:
            place = uri.json["artifact_uri"].removeprefix("mlflow-artifacts:/")
            files = job.ask("GET", f"{ARTIFACTS}/{place}/w.txt").body
        return [files, job.ask("GET", f"{API}/mlflow/runs/get?run_id={run}").status,
                job.post("runs/set-tag", run_id=run, key="a", value="b").status,
                job.post("registered-models/alias", name="ranker", alias="champion", version="1").status]

    assert berth.ok("workspace", "show", "--query", "job_access", "-o", "tsv").out == "own\n"
    assert tries() == [403, 403, 403, 403]
    shown = berth.ok("workspace", "update", "-n", "default", "--job-access", "read", "-o", "json").json
    assert shown["job_access"] == "read" and tries() == [b"good", 200, 403, 403]
    berth.ok("workspace", "update", "-n", "default", "--set", "job_access=write", "description=words")
    assert tries() == [b"good", 200, 200, 200]
    # Clients that know nothing of it leave it as it is.
    assert berth.request("PATCH", f"{WORKSPACE}?api-version=2024-10-01", {"tags": {"a": "b"}}).status == 200
    assert berth.put("", {"location": "local", "properties": {"description": "d"}}).status == 200
    assert berth.ok("workspace", "show", "--query", "job_access", "-o", "tsv").out == "write\n"
    assert "own, read or write" in berth.fails("workspace", "update", "-n", "default", "--job-access", "all").err
    ana = add(berth, "ana", SCIENTIST)
    berth.fails("workspace", "update", "-n", "default", "--job-access", "own", **as_user(ana))


# ---- Jobs of a user who is deleted ---------------------------------------------------------------


def test_a_user_with_work_is_deleted_only_with_a_word_about_it(berth, worker):
    ana = add(berth, "ana", SCIENTIST)
    job = worker("hers", **as_user(ana))
    assert job.ask("GET", f"{API}/mlflow/runs/get?run_id=hers").status == 200

    refusal = berth.fails("user", "delete", "ana", "-y")
    assert "job 'hers' is not over" in refusal.err and "--cancel-jobs" in refusal.err and "--keep-jobs" in refusal.err
    assert berth.request("DELETE", "/berth/v1/users/ana").status == 409
    assert berth.request("DELETE", "/berth/v1/users/ana?jobs=all").status == 400
    assert berth.get("/jobs", token=ana).status == 200, "nothing has happened yet"
    berth.fails("user", "delete", "ana", "-y", "--keep-jobs", "--cancel-jobs", code=2)

    berth.ok("user", "delete", "ana", "-y", "--keep-jobs")

    assert berth.get("/jobs", token=ana).status == 401
    assert job.ask("GET", f"{API}/mlflow/runs/get?run_id=hers").status == 200, "it goes on as it was"
    job.end()


def test_a_user_is_deleted_with_their_jobs(berth, worker):
    ana = add(berth, "ana", SCIENTIST)
    file = berth.job_file("sleep 600", "queued.yml")
    job = worker("hers", **as_user(ana))
    others = worker("others")
    berth.ok("job", "create", "-f", file, "--name", "second", **as_user(ana))

    berth.ok("user", "delete", "ana", "-y", "--cancel-jobs")

    assert job.ask("GET", f"{API}/mlflow/runs/get?run_id=hers").status == 401, "its token is dead at once"
    for name in ("hers", "second"):
        berth.wait(name, "Canceled")
    assert others.ask("GET", f"{API}/mlflow/runs/get?run_id=others").status == 200

# SPDX-License-Identifier: Apache-2.0
"""Inside a job MLflow needs no configuration: the job is the run."""

import json
import sys

import mlflow
import pytest

from harness import WORKSPACE
from runs_test import fails_with


def submit(berth, name, script, **keys):
    berth.file(f"code-{name}/script.py", script)
    berth.submit(f"{sys.executable} script.py", name, code=f"./code-{name}", **keys)


def run_job(berth, name, script, status="Completed", **keys):
    submit(berth, name, script, **keys)
    job = berth.wait(name)
    assert job["properties"]["status"] == status, berth.log(name).decode()
    return job


def test_a_job_logs_by_itself(berth, tracking):
    run_job(berth, "trainer", """
import mlflow
for step in range(3):
    mlflow.log_metric("loss", 1 / (step + 1), step=step)
mlflow.log_param("depth", 3)
mlflow.set_tag("stage", "trial")
mlflow.log_text("hello", "notes/hello.txt")
open("outputs/model.txt", "w").write("weights")
""", experiment_name="harbour", display_name="a trainer", tags={"team": "north"})
    run = tracking.get_run("trainer")
    assert run.info.status == "FINISHED" and run.info.run_name == "a trainer"
    assert tracking.get_experiment(run.info.experiment_id).name == "harbour"
    assert [m.value for m in tracking.get_metric_history("trainer", "loss")] == [1, 1 / 2, 1 / 3]
    assert run.data.params == {"depth": "3"}
    assert run.data.tags["team"] == "north" and run.data.tags["stage"] == "trial"
    # MLflow and `berth job download` see the same files.
    assert mlflow.artifacts.load_text("runs:/trainer/notes/hello.txt") == "hello"
    assert mlflow.artifacts.load_text("runs:/trainer/outputs/model.txt") == "weights"
    berth.ok("job", "download", "--name", "trainer", "--all", "--download-path", berth.folder / "d")
    assert (berth.folder / "d/artifacts/notes/hello.txt").read_text() == "hello"
    assert berth.show("trainer")["tags"] == {"team": "north", "stage": "trial"}


def test_a_job_resumes_its_run_and_nests_others(berth, tracking):
    run_job(berth, "parent", """
import mlflow, os
with mlflow.start_run() as run:
    assert run.info.run_id == os.environ["AZUREML_RUN_ID"] == "parent", run.info
    mlflow.log_metric("before", 1)
    for number in range(2):
        with mlflow.start_run(nested=True, run_name=f"child {number}"):
            mlflow.log_metric("score", number)
    mlflow.log_metric("after", 2)
found = mlflow.search_runs(experiment_names=["nest"], filter_string="metrics.score = 1", output_format="list")
assert [each.info.run_name for each in found] == ["child 1"], found
""", experiment_name="nest")
    parent = tracking.get_run("parent")
    assert parent.data.metrics == {"before": 1, "after": 2} and parent.info.status == "FINISHED"
    children = tracking.search_runs([parent.info.experiment_id], "tags.mlflow.parentRunId = 'parent'",
                                    order_by=["metrics.score"])
    assert [(run.info.run_name, run.data.metrics) for run in children] == \
        [("child 0", {"score": 0}), ("child 1", {"score": 1})]
    assert {run.info.experiment_id for run in children} == {parent.info.experiment_id}


def test_a_job_that_logs_nothing_is_a_run_as_well(berth, tracking):
    run_job(berth, "quiet", "pass", experiment_name="e1")
    run_job(berth, "broken", "raise SystemExit(3)", status="Failed", experiment_name="e1")
    submit(berth, "stopped", "import time; time.sleep(600)", experiment_name="e1")
    berth.wait("stopped", "Running")
    assert tracking.get_run("stopped").info.status == "RUNNING"
    berth.ok("job", "cancel", "--name", "stopped")
    berth.wait("stopped", "Canceled")
    experiment = tracking.get_experiment_by_name("e1").experiment_id
    runs = {run.info.run_id: run.info for run in tracking.search_runs([experiment])}
    assert {id: info.status for id, info in runs.items()} == \
        {"quiet": "FINISHED", "broken": "FAILED", "stopped": "KILLED"}
    assert all(info.start_time <= info.end_time for info in runs.values())
    assert [run.info.run_id for run in tracking.search_runs([experiment], "status = 'FAILED'")] == ["broken"]


def test_the_job_says_how_its_run_ended(berth, tracking):
    run_job(berth, "optimist", """
import mlflow
with mlflow.start_run():
    mlflow.log_metric("m", 1)
raise SystemExit(1)
""", status="Failed")
    assert tracking.get_run("optimist").info.status == "FAILED"


def test_a_finished_jobs_run_can_still_be_written(berth, tracking):
    run_job(berth, "late", "pass", experiment_name="Default")
    tracking.log_metric("late", "score", 0.5)
    tracking.set_tag("late", "reviewed", "yes")
    tracking.update_run("late", name="reviewed run")
    with mlflow.start_run(run_id="late"):
        mlflow.log_text("fine", "review.txt")
    run = tracking.get_run("late")
    assert run.data.metrics == {"score": 0.5} and run.info.run_name == "reviewed run"
    shown = berth.show("late")
    assert shown["tags"] == {"reviewed": "yes"} and shown["display_name"] == "reviewed run"
    tracking.delete_tag("late", "reviewed")
    assert berth.show("late")["tags"] == {} and "reviewed" not in tracking.get_run("late").data.tags


def test_a_run_goes_with_its_job(berth, tracking):
    run_job(berth, "brief", "import mlflow; mlflow.log_metric('m', 1)")
    assert tracking.get_run("brief").data.metrics == {"m": 1}
    deleted = berth.request("DELETE", f"{WORKSPACE}/jobs/brief?api-version=2024-10-01")
    assert deleted.status < 300, deleted
    fails_with("RESOURCE_DOES_NOT_EXIST", tracking.get_run, "brief")
    run_job(berth, "brief", "pass")  # The name is free, and nothing of the old run is left.
    assert tracking.get_run("brief").data.metrics == {}


def test_a_job_may_track_and_nothing_more(berth, tracking):
    """The token in its environment is for tracking in its own workspace."""
    run_job(berth, "curious", """
import json, os, urllib.error, urllib.request
base = os.environ["AZUREML_SERVICE_ENDPOINT"]
root = os.environ["MLFLOW_TRACKING_URI"]
workspace = root[len(base) + len("/mlflow/v1.0"):]
def ask(method, url, body=None):
    request = urllib.request.Request(url, method=method, data=json.dumps(body).encode() if body is not None else None,
                                     headers={"Authorization": "Bearer " + os.environ["MLFLOW_TRACKING_TOKEN"],
                                              "Content-Type": "application/json"})
    try:
        return urllib.request.urlopen(request).status
    except urllib.error.HTTPError as error:
        return error.code
seen = {
    "search": ask("POST", root + "/api/2.0/mlflow/runs/search", {"experiment_ids": ["0"]}),
    "create": ask("POST", root + "/api/2.0/mlflow/runs/create", {"experiment_id": os.environ["MLFLOW_EXPERIMENT_ID"]}),
    "create elsewhere": ask("POST", root + "/api/2.0/mlflow/runs/create", {"experiment_id": "0"}),
    "delete run": ask("POST", root + "/api/2.0/mlflow/runs/delete", {"run_id": "curious"}),
    "delete experiment": ask("POST", root + "/api/2.0/mlflow/experiments/delete", {"experiment_id": "0"}),
    "delete artifact": ask("DELETE", root + "/api/2.0/mlflow-artifacts/artifacts/ExperimentRun/dcid.curious/x"),
    "overwrite log": ask("PUT", root + "/api/2.0/mlflow-artifacts/artifacts/ExperimentRun/dcid.curious/user_logs/std_log.txt", "x"),
    "submit": ask("PUT", base + workspace + "/jobs/another?api-version=2024-10-01", {"properties": {"jobType": "Command"}}),
    "list jobs": ask("GET", base + workspace + "/jobs?api-version=2024-10-01"),
    "other workspace": ask("GET", root.replace("workspaces/default", "workspaces/other") + "/api/2.0/mlflow/experiments/get?experiment_id=0"),
}
open("outputs/seen.json", "w").write(json.dumps(seen))
""")
    seen = json.loads(mlflow.artifacts.load_text("runs:/curious/outputs/seen.json"))
    assert seen == {"search": 200, "create": 200, "create elsewhere": 403, "delete run": 403, "delete experiment": 403, "delete artifact": 403,
                    "overwrite log": 403, "submit": 403, "list jobs": 403, "other workspace": 403}


@pytest.mark.parametrize("instances", [2])
def test_all_nodes_of_a_job_log_to_one_run(berth, tracking, instances):
    berth.ok("compute", "create", "--type", "amlcompute", "--name", "pair", "--min-instances", "0",
             "--max-instances", str(instances))
    run_job(berth, "wide", """
import mlflow, os
rank = os.environ["AZUREML_CR_NODE_RANK"]
mlflow.log_metric(f"rank {rank}", int(rank) + 1)
""", compute="pair", resources={"instance_count": instances}, distribution={"type": "pytorch"})
    assert tracking.get_run("wide").data.metrics == {f"rank {rank}": rank + 1 for rank in range(instances)}


# ---- Models ---------------------------------------------------------------------------------------

TRAIN = """
import mlflow, mlflow.sklearn
from sklearn.linear_model import LinearRegression
named = {"name": "model"} if mlflow.__version__.startswith("3") else {"artifact_path": "model"}
with mlflow.start_run():
    mlflow.sklearn.log_model(LinearRegression().fit([[1.0], [2.0]], [2.0, 4.0]), pip_requirements=["scikit-learn"], **named%s)
"""


def test_what_a_job_logs_is_registered_and_downloaded(berth, tracking):
    """By itself, and afterwards by each of the names that it goes by."""
    run_job(berth, "train", TRAIN % ', registered_model_name="line"' + """
version = mlflow.MlflowClient().get_model_version("line", "1")
assert version.run_id == "train", version
assert mlflow.pyfunc.load_model("models:/line/1").predict([[3.0]]).round(3).tolist() == [6.0]
mlflow.register_model("runs:/train/model", "line")
mlflow.MlflowClient().set_model_version_tag("line", "2", "checked", "yes")
""")
    for path in ("azureml://jobs/train/outputs/artifacts/paths/model/", "runs:/train/model"):
        berth.ok("model", "create", "-n", "line", "-t", "mlflow_model", "-p", path)
    for version in ("1", "2", "3", "4"):
        loaded = mlflow.pyfunc.load_model(f"models:/line/{version}")
        assert loaded.predict([[3.0]]).round(3).tolist() == [6.0]
    berth.ok("job", "download", "--name", "train", "--all", "--download-path", berth.folder / "d")
    assert (berth.folder / "d/artifacts/model/MLmodel").exists()


def test_a_job_loads_its_inputs_and_others_where_the_workspace_lets_it(berth, tracking):
    run_job(berth, "train", TRAIN % ', registered_model_name="line"')
    load = """
import mlflow
assert mlflow.pyfunc.load_model("models:/line/1").predict([[3.0]]).round(3).tolist() == [6.0]
"""
    run_job(berth, "given", load, inputs={"m": {"type": "mlflow_model", "path": "azureml:line:1"}})
    run_job(berth, "stranger", load, status="Failed")
    assert "--job-access read" in berth.log("stranger").decode()
    run_job(berth, "alone", """
import mlflow, os
runs = mlflow.search_runs([os.environ["MLFLOW_EXPERIMENT_ID"]], output_format="list")
assert [run.info.run_id for run in runs] == ["alone"], runs
""")
    berth.ok("workspace", "update", "-n", "default", "--job-access", "read")
    run_job(berth, "evaluate", load + """
import os
assert len(mlflow.search_runs([os.environ["MLFLOW_EXPERIMENT_ID"]], output_format="list")) > 3
""")

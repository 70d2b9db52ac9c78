# SPDX-License-Identifier: Apache-2.0
"""Who may track, and how those are told who may not."""

import mlflow
import pytest

from harness import WORKSPACE
from runs_test import fails_with

ROOT = f"/mlflow/v1.0{WORKSPACE}"


def test_a_wrong_token_is_refused(tracking, monkeypatch):
    for token in ("wrong", ""):
        monkeypatch.setenv("MLFLOW_TRACKING_TOKEN", token)
        fails_with("UNAUTHENTICATED", tracking.get_experiment, "0")
        fails_with("UNAUTHENTICATED", tracking.create_run, "0")


def test_a_reader_reads_and_a_data_scientist_writes(tracking, other_user):
    run = tracking.create_run("0").info.run_id
    tracking.log_text(run, "x", "x.txt")
    other_user("rita", "Reader")
    assert tracking.get_run(run).info.run_id == run
    assert len(tracking.search_runs(["0"])) == 1
    assert mlflow.artifacts.load_text(f"runs:/{run}/x.txt") == "x"
    assert "rita" in fails_with("PERMISSION_DENIED", tracking.log_metric, run, "m", 1)
    for call in (tracking.create_experiment, tracking.create_run):
        fails_with("PERMISSION_DENIED", call, "0")
    other_user("dan", "AzureML Data Scientist")
    with mlflow.start_run() as own:
        mlflow.log_metric("m", 1)
        mlflow.log_text("y", "y.txt")
    assert tracking.get_run(own.info.run_id).data.metrics == {"m": 1}
    tracking.delete_run(own.info.run_id)
    tracking.delete_experiment(tracking.create_experiment("dans"))


@pytest.mark.parametrize("method, path", [
    ("POST", "/api/3.0/mlflow/traces"),
    ("GET", "/api/2.0/mlflow/traces?experiment_ids=0"),
    ("GET", "/api/3.0/mlflow/gateway/endpoints/list"),
    ("POST", "/api/3.0/mlflow/scorers/register"),
    ("GET", "/api/3.0/mlflow/server-info"),
    ("GET", "/api/2.0/mlflow/runs/create"),
    ("GET", "/api/9.0/mlflow/x"),
])
def test_what_berth_does_not_have_is_no_endpoint(berth, method, path):
    answer = berth.request(method, ROOT + path, {} if method == "POST" else None)
    assert answer.status == 404 and answer.json["error_code"] == "ENDPOINT_NOT_FOUND", answer
    assert path.split("?")[0] in answer.json["message"]


def test_every_error_is_one_that_mlflow_reads(berth):
    root = f"{ROOT}/api/2.0/mlflow"
    nowhere = ROOT.replace("workspaces/default", "workspaces/nowhere")
    for answer, status, code in [
            (berth.request("GET", f"{root}/runs/get?run_id=x", token=False), 401, "UNAUTHENTICATED"),
            (berth.request("GET", f"{root}/no/such", token=False), 401, "UNAUTHENTICATED"),
            (berth.request("GET", f"{root}/runs/get?run_id=x", token="berth-user.0123456789abcdef.00"), 401, "UNAUTHENTICATED"),
            (berth.request("GET", f"{root}/runs/get?run_id=x"), 404, "RESOURCE_DOES_NOT_EXIST"),
            (berth.request("GET", f"{root}/runs/get"), 400, "INVALID_PARAMETER_VALUE"),
            (berth.request("GET", f"{nowhere}/api/2.0/mlflow/runs/get?run_id=x"), 404, "RESOURCE_DOES_NOT_EXIST"),
            (berth.request("POST", f"{root}/runs/search", b"{"), 400, "INVALID_PARAMETER_VALUE"),
            (berth.request("POST", f"{root}/runs/search", b"[]"), 400, "INVALID_PARAMETER_VALUE"),
            (berth.request("POST", f"{root}/runs/search", {"experiment_ids": 3}), 400, "INVALID_PARAMETER_VALUE"),
            (berth.request("POST", f"{root}/runs/search", {"max_results": "lots"}), 400, "INVALID_PARAMETER_VALUE"),
            (berth.request("GET", f"{root}/runs/get?run_id=%zz"), 400, "INVALID_PARAMETER_VALUE")]:
        assert answer.status == status and answer.json["error_code"] == code, answer
        assert set(answer.json) == {"error_code", "message"} and answer.json["message"], answer

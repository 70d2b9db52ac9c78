# SPDX-License-Identifier: Apache-2.0
"""A tracking user's day: experiments, runs, and what is logged to them."""

import math
import time

import mlflow
import pytest
from mlflow.entities import Metric, Param, RunTag, ViewType
from mlflow.exceptions import MlflowException
from mlflow.protos.databricks_pb2 import ErrorCode

from harness import kill


def fails_with(code, call, *words, **more):
    """The error that the client raises, which must bear MLflow's code for it."""
    with pytest.raises(MlflowException) as raised:
        call(*words, **more)
    assert raised.value.error_code == code, raised.value
    assert code in ErrorCode.keys()
    return str(raised.value)


def test_a_run_keeps_what_is_logged_to_it(tracking):
    with mlflow.start_run(run_name="first", description="a note", tags={"team": "harbour"}) as run:
        mlflow.log_param("depth", 3)
        mlflow.log_params({"rate": 0.1, "kind": "tree", "empty": ""})
        mlflow.log_metric("loss", 0.5)
        mlflow.log_metrics({"accuracy": 0.75, "loss": 0.25}, step=1)
        mlflow.set_tag("stage", "trial")
        mlflow.set_tags({"a b/c": "ü", "mlflow.note.content": "another note"})
    found = mlflow.get_run(run.info.run_id)
    assert found.info.run_name == "first"
    assert found.info.status == "FINISHED"
    assert found.info.lifecycle_stage == "active"
    assert found.info.experiment_id == "0"
    assert found.info.start_time <= found.info.end_time
    assert found.data.params == {"depth": "3", "rate": "0.1", "kind": "tree", "empty": ""}
    assert found.data.metrics == {"loss": 0.25, "accuracy": 0.75}
    assert found.data.tags["team"] == "harbour"
    assert found.data.tags["stage"] == "trial"
    assert found.data.tags["a b/c"] == "ü"
    assert found.data.tags["mlflow.runName"] == "first"
    assert found.data.tags["mlflow.note.content"] == "another note"
    assert found.data.tags["mlflow.user"] == found.info.user_id != ""


def test_a_run_that_nobody_named_has_a_name(tracking):
    with mlflow.start_run() as run:
        pass
    assert run.info.run_name
    assert mlflow.get_run(run.info.run_id).data.tags["mlflow.runName"] == run.info.run_name


def test_a_run_that_raises_has_failed(tracking):
    with pytest.raises(ZeroDivisionError), mlflow.start_run() as run:
        1 / 0
    assert mlflow.get_run(run.info.run_id).info.status == "FAILED"


def test_a_run_is_resumed_renamed_and_ended(tracking):
    run = tracking.create_run("0", run_name="before")
    assert run.info.status == "RUNNING" and run.info.end_time is None
    tracking.update_run(run.info.run_id, name="after")
    with mlflow.start_run(run_id=run.info.run_id):
        mlflow.log_metric("m", 1)
    assert mlflow.get_run(run.info.run_id).info.run_name == "after"
    tracking.set_tag(run.info.run_id, "mlflow.runName", "by tag")
    assert mlflow.get_run(run.info.run_id).info.run_name == "by tag"
    tracking.set_terminated(run.info.run_id, "KILLED", end_time=1_700_000_000_000)
    ended = mlflow.get_run(run.info.run_id).info
    assert (ended.status, ended.end_time) == ("KILLED", 1_700_000_000_000)


def test_runs_nest(tracking):
    with mlflow.start_run() as parent:
        for depth in (1, 2):
            with mlflow.start_run(nested=True, run_name=f"child {depth}") as child:
                mlflow.log_param("depth", depth)
                with mlflow.start_run(nested=True) as grandchild:
                    pass
    children = mlflow.search_runs(filter_string=f"tags.mlflow.parentRunId = '{parent.info.run_id}'",
                                  output_format="list", order_by=["attributes.run_name"])
    assert [run.info.run_name for run in children] == ["child 1", "child 2"]
    assert tracking.get_parent_run(child.info.run_id).info.run_id == parent.info.run_id
    assert tracking.get_parent_run(grandchild.info.run_id).info.run_id == child.info.run_id


def test_a_metric_keeps_every_point_and_shows_its_latest(tracking):
    run = tracking.create_run("0").info.run_id
    for value, timestamp, step in [(1, 10, 0), (2, 20, 0), (5, 5, 3), (4, 5, 3), (9, 99, 1), (5, 5, 3)]:
        tracking.log_metric(run, "m", value, timestamp=timestamp, step=step)
    history = [(m.value, m.timestamp, m.step) for m in tracking.get_metric_history(run, "m")]
    # By timestamp, step and value; the same point twice is one.
    assert history == [(4, 5, 3), (5, 5, 3), (1, 10, 0), (2, 20, 0), (9, 99, 1)]
    assert tracking.get_run(run).data.metrics == {"m": 5}  # The highest step, then the highest timestamp, then value.
    assert tracking.get_metric_history(run, "no such metric") == []


def test_metrics_that_are_not_finite(tracking):
    run = tracking.create_run("0").info.run_id
    tracking.log_metric(run, "nan", float("nan"))
    tracking.log_metric(run, "up", float("inf"))
    tracking.log_metric(run, "down", float("-inf"))
    tracking.log_batch(run, metrics=[Metric("mixed", value, 1, step) for step, value
                                     in enumerate([float("nan"), 1.0, float("inf"), 1e-320])])
    metrics = tracking.get_run(run).data.metrics
    assert math.isnan(metrics["nan"]) and metrics["up"] == math.inf and metrics["down"] == -math.inf
    assert metrics["mixed"] == 1e-320
    mixed = [m.value for m in tracking.get_metric_history(run, "mixed")]
    assert math.isnan(mixed[0]) and mixed[1:] == [1.0, math.inf, 1e-320]


def test_a_thousand_metrics_survive_a_kill_whether_one_by_one_or_at_once(berth, tracking):
    run = tracking.create_run("0").info.run_id
    for step in range(1000):
        tracking.log_metric(run, "single", step / 7, step=step)
    now = int(time.time() * 1000)
    tracking.log_batch(run, metrics=[Metric("batch", step / 3, now, step) for step in range(1000)])
    port = berth.port()
    kill(berth.server_pid())
    berth.start_server("--port", port)
    assert [m.value for m in sorted(tracking.get_metric_history(run, "single"), key=lambda m: m.step)] == \
        [step / 7 for step in range(1000)]
    assert [m.value for m in tracking.get_metric_history(run, "batch")] == [step / 3 for step in range(1000)]
    assert tracking.get_run(run).data.metrics == {"single": 999 / 7, "batch": 333.0}


def test_a_batch_holds_so_much_and_no_more(tracking):
    run = tracking.create_run("0").info.run_id
    tracking.log_batch(run, metrics=[Metric("m", 1, 1, step) for step in range(800)],
                       params=[Param(f"p{i}", str(i)) for i in range(100)],
                       tags=[RunTag(f"t{i}", str(i)) for i in range(100)])
    data = tracking.get_run(run).data
    assert len(data.params) == 100 and data.params["p99"] == "99" and data.tags["t0"] == "0"
    message = fails_with("INVALID_PARAMETER_VALUE", log_raw, run, "log-batch",
                         metrics=[{"key": "x", "value": 1, "timestamp": 1, "step": i} for i in range(1001)])
    assert "1001" in message and "1000" in message
    message = fails_with("INVALID_PARAMETER_VALUE", log_raw, run, "log-batch",
                         params=[{"key": f"q{i}", "value": "1"} for i in range(101)])
    assert "101" in message and "100" in message
    assert "x" not in tracking.get_run(run).data.metrics  # Nothing of what was refused is there.


def log_raw(run, what, **fields):
    """Past the checks that the client makes itself."""
    from mlflow.utils.rest_utils import http_request, verify_rest_response
    from mlflow.tracking._tracking_service.utils import get_tracking_uri
    from mlflow.utils.credentials import get_default_host_creds

    response = http_request(get_default_host_creds(get_tracking_uri()), f"/api/2.0/mlflow/runs/{what}", "POST",
                            json={"run_id": run} | fields)
    verify_rest_response(response, what)


def test_a_parameter_has_one_value_for_ever(tracking):
    run = tracking.create_run("0").info.run_id
    tracking.log_param(run, "depth", 3)
    tracking.log_param(run, "depth", 3)
    message = fails_with("INVALID_PARAMETER_VALUE", log_raw, run, "log-parameter", key="depth", value="4")
    assert "depth" in message and "'3'" in message and "'4'" in message
    fails_with("INVALID_PARAMETER_VALUE", log_raw, run, "log-batch",
               params=[{"key": "new", "value": "1"}, {"key": "depth", "value": "5"}])
    fails_with("INVALID_PARAMETER_VALUE", log_raw, run, "log-batch",
               params=[{"key": "twice", "value": "1"}, {"key": "twice", "value": "2"}])
    assert tracking.get_run(run).data.params == {"depth": "3"}


@pytest.mark.parametrize("what, fields, said", [
    ("log-metric", {"key": "k" * 251, "value": 1, "timestamp": 1}, "250"),
    ("log-metric", {"key": "a\nb", "value": 1, "timestamp": 1}, "letters"),
    ("log-metric", {"key": "../up", "value": 1, "timestamp": 1}, "'..'"),
    ("log-metric", {"key": "m", "value": "many", "timestamp": 1}, "number"),
    ("log-metric", {"key": "m", "value": 1, "timestamp": -1}, "negative"),
    ("log-metric", {"key": "m", "timestamp": 1}, "value"),
    ("log-metric", {"value": 1, "timestamp": 1}, "key"),
    ("log-parameter", {"key": "k", "value": "v" * 6001}, "6000"),
    ("log-parameter", {"key": "k" * 251, "value": "v"}, "250"),
    ("set-tag", {"key": "k", "value": "v" * 8001}, "8000"),
    ("set-tag", {"key": "a//b", "value": "v"}, "slashes"),
    ("log-batch", {"metrics": [{"key": "ok", "value": 1, "timestamp": 1}, {"key": "", "value": 1}]}, "metrics[1].key"),
    ("log-batch", {"metrics": "none"}, "metrics"),
    ("update", {"status": "SLEEPING"}, "FINISHED"),
], ids=lambda value: value if isinstance(value, str) and len(value) < 20 else "")
def test_what_is_wrong_is_refused_by_name(tracking, what, fields, said):
    run = tracking.create_run("0").info.run_id
    assert said in fails_with("INVALID_PARAMETER_VALUE", log_raw, run, what, **fields)
    found = tracking.get_run(run)
    assert not found.data.metrics and not found.data.params and found.info.status == "RUNNING"


def test_tags_come_and_go(tracking):
    run = tracking.create_run("0", tags={"a": "1", "b": "2"}).info.run_id
    tracking.set_tag(run, "a", "3")
    tracking.delete_tag(run, "b")
    tags = tracking.get_run(run).data.tags
    assert tags["a"] == "3" and "b" not in tags
    fails_with("RESOURCE_DOES_NOT_EXIST", tracking.delete_tag, run, "b")


def test_a_run_is_deleted_and_comes_back(tracking):
    run = tracking.create_run("0", run_name="gone").info.run_id
    tracking.log_param(run, "p", "1")
    tracking.delete_run(run)
    assert tracking.get_run(run).info.lifecycle_stage == "deleted"
    assert not tracking.search_runs(["0"])
    assert [r.info.run_id for r in tracking.search_runs(["0"], run_view_type=ViewType.DELETED_ONLY)] == [run]
    assert "deleted" in fails_with("INVALID_PARAMETER_VALUE", tracking.log_metric, run, "m", 1)
    tracking.restore_run(run)
    tracking.log_metric(run, "m", 1)
    assert tracking.search_runs(["0"], run_view_type=ViewType.ALL)[0].data.params == {"p": "1"}


def test_what_is_not_there_is_said_not_to_be(tracking):
    missing = "0" * 32
    assert missing in fails_with("RESOURCE_DOES_NOT_EXIST", tracking.get_run, missing)
    fails_with("RESOURCE_DOES_NOT_EXIST", tracking.log_metric, missing, "m", 1)
    fails_with("RESOURCE_DOES_NOT_EXIST", tracking.get_experiment, "4711")
    fails_with("RESOURCE_DOES_NOT_EXIST", tracking.create_run, "4711")
    fails_with("RESOURCE_DOES_NOT_EXIST", tracking.delete_run, missing)
    assert tracking.get_experiment_by_name("nobody's") is None


def test_an_experiments_life(tracking):
    id = tracking.create_experiment("harbour", tags={"team": "north"})
    assert tracking.get_experiment(id).name == "harbour"
    assert tracking.get_experiment_by_name("harbour").experiment_id == id
    assert "harbour" in fails_with("RESOURCE_ALREADY_EXISTS", tracking.create_experiment, "harbour")
    tracking.set_experiment_tag(id, "note", "x")
    assert tracking.get_experiment(id).tags == {"team": "north", "note": "x"}
    tracking.rename_experiment(id, "quay")
    assert tracking.get_experiment_by_name("harbour") is None
    run = tracking.create_run(id).info.run_id

    tracking.delete_experiment(id)
    assert tracking.get_experiment(id).lifecycle_stage == "deleted"
    assert tracking.get_run(run).info.lifecycle_stage == "deleted"
    assert [e.name for e in tracking.search_experiments()] == ["Default"]
    assert [e.name for e in tracking.search_experiments(view_type=ViewType.DELETED_ONLY)] == ["quay"]
    fails_with("INVALID_PARAMETER_VALUE", tracking.create_run, id)
    fails_with("RESOURCE_ALREADY_EXISTS", tracking.create_experiment, "quay")

    tracking.restore_experiment(id)
    assert tracking.get_run(run).info.lifecycle_stage == "active"
    fails_with("INVALID_PARAMETER_VALUE", tracking.create_experiment, "n" * 501)


def test_datasets_are_inputs(tracking):
    import pandas

    table = mlflow.data.from_pandas(pandas.DataFrame({"x": [1, 2], "y": [3.5, 4.5]}), source="https://h/x.csv",
                                    name="rows", targets="y")
    with mlflow.start_run() as run:
        mlflow.log_input(table, context="training", tags={"of": "harbour"})
        mlflow.log_input(table, context="training")
    inputs = mlflow.get_run(run.info.run_id).inputs.dataset_inputs
    assert len(inputs) == 1
    assert (inputs[0].dataset.name, inputs[0].dataset.digest) == ("rows", table.digest)
    assert {tag.key: tag.value for tag in inputs[0].tags} == {"mlflow.data.context": "training", "of": "harbour"}
    assert "mlflow_colspec" in inputs[0].dataset.schema
    for filter, count in [("dataset.name = 'rows'", 1), ("datasets.digest = 'x'", 0),
                          ("dataset.context = 'training'", 1)]:
        assert len(tracking.search_runs(["0"], filter)) == count, filter


def test_scikit_learn_logs_itself(tracking):
    from sklearn.datasets import load_iris
    from sklearn.linear_model import LogisticRegression

    mlflow.sklearn.autolog(log_datasets=True)
    try:
        x, y = load_iris(return_X_y=True)
        with mlflow.start_run() as run:
            LogisticRegression(max_iter=200, C=0.5).fit(x, y)
    finally:
        mlflow.sklearn.autolog(disable=True)
    found = mlflow.get_run(run.info.run_id)
    assert found.data.params["C"] == "0.5" and found.data.params["max_iter"] == "200"
    assert found.data.metrics["training_accuracy_score"] > 0.9
    assert found.data.tags["estimator_name"] == "LogisticRegression"
    model = mlflow.sklearn.load_model(f"runs:/{run.info.run_id}/model")
    assert list(model.predict(x[:3])) == list(y[:3])
    assert "training_confusion_matrix.png" in [f.path for f in tracking.list_artifacts(run.info.run_id)]


if mlflow.__version__.startswith("3."):

    def test_logged_models(tracking):
        experiment = tracking.create_experiment("models")
        with mlflow.start_run(experiment_id=experiment) as run:
            model = mlflow.initialize_logged_model(name="net", params={"depth": 3}, tags={"a": "1"}, model_type="cnn")
            mlflow.log_metric("loss", 0.5, step=1, model_id=model.model_id)
            mlflow.log_metric("loss", 0.25, step=2, model_id=model.model_id)
            mlflow.finalize_logged_model(model.model_id, "READY")
            mlflow.log_outputs([mlflow.entities.LoggedModelOutput(model.model_id, step=2)])
            other = mlflow.create_external_model(name="else")
        found = mlflow.get_logged_model(model.model_id)
        assert (found.name, str(found.status), found.model_type) == ("net", "READY", "cnn")
        assert found.source_run_id == run.info.run_id and found.params == {"depth": "3"}
        assert {(m.key, m.value, m.step) for m in found.metrics} == {("loss", 0.5, 1), ("loss", 0.25, 2)}
        assert mlflow.get_run(run.info.run_id).outputs.model_outputs[0].model_id == model.model_id
        mlflow.set_logged_model_tags(model.model_id, {"b": "2"})
        tracking.delete_logged_model_tag(model.model_id, "a")
        tags = mlflow.get_logged_model(model.model_id).tags
        assert tags["b"] == "2" and "a" not in tags

        def search(filter=None, **more):
            return [m.name for m in mlflow.search_logged_models(
                experiment_ids=[experiment], filter_string=filter, output_format="list", **more)]

        assert search() == ["else", "net"]
        assert search("metrics.loss < 0.3") == ["net"]
        assert search("params.depth = '3' AND tags.b = '2'") == ["net"]
        assert search("name != 'net'") == ["else"]
        assert search(order_by=[{"field_name": "metrics.loss", "ascending": True}]) == ["net", "else"]
        assert search(order_by=[{"field_name": "name", "ascending": False}], max_results=1) == ["net"]
        tracking.delete_logged_model(other.model_id)
        assert search() == ["net"]
        fails_with("RESOURCE_DOES_NOT_EXIST", mlflow.get_logged_model, other.model_id)
        fails_with("RESOURCE_DOES_NOT_EXIST", mlflow.get_logged_model, "m-" + "0" * 32)

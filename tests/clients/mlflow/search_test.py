# SPDX-License-Identifier: Apache-2.0
"""search_runs and search_experiments: the filter language, order and pages."""

import mlflow
import pytest
from mlflow.entities import ViewType
from runs_test import fails_with


@pytest.fixture
def runs(tracking):
    """Four runs that differ in everything that can be searched for."""
    for number, (name, loss, kind, tags) in enumerate([
            ("alpha", 0.1, "tree", {"team": "north", "a b": "1"}),
            ("beta", 0.2, "Tree", {"team": "south"}),
            ("gamma", float("nan"), "net", {"team": "North"}),
            ("delta", None, None, {})]):
        run = tracking.create_run("0", start_time=1000 + number, run_name=name,
                                  tags=tags | {"mlflow.user": f"user{number % 2}"}).info.run_id
        if loss is not None:
            tracking.log_metric(run, "loss", loss)
            tracking.log_metric(run, "val loss", loss * 2)
        if kind is not None:
            tracking.log_param(run, "kind", kind)
        if name == "beta":
            tracking.set_terminated(run, "FINISHED", end_time=2000)
    return tracking


def names(client, filter="", **more):
    return [run.info.run_name for run in client.search_runs(["0"], filter, **more)]


@pytest.mark.parametrize("filter, expected", [
    ("", "delta gamma beta alpha"),
    ("metrics.loss < 0.2", "alpha"),
    ("metrics.loss <= 0.2 and metrics.loss >= 0.1", "beta alpha"),
    ("metric.loss = 0.1", "alpha"),
    ("metrics.loss != 0.1", "gamma beta"),  # Not a number is unequal to everything.
    ("metrics.`val loss` > 0.3", "beta"),
    ('metrics."val loss" > 0.3', "beta"),
    ("metrics.loss > -1e3", "beta alpha"),
    ("params.kind = 'tree'", "alpha"),
    ("parameters.kind != 'tree'", "gamma beta"),
    ("param.kind LIKE 'tr%'", "alpha"),
    ("params.kind ILIKE 'tr__'", "beta alpha"),
    ("tags.team = 'north'", "alpha"),
    ("tag.team ilike 'NORTH'", "gamma alpha"),
    ("tags.`a b` = '1'", "alpha"),
    ("tags.team != 'north'", "gamma beta"),
    ("attributes.status = 'FINISHED'", "beta"),
    ("status != 'FINISHED'", "delta gamma alpha"),
    ("attributes.run_name = 'gamma'", "gamma"),
    ("run_name LIKE '%lt%'", "delta"),
    ("tags.mlflow.runName = 'beta'", "beta"),
    ("attributes.start_time > 1001", "delta gamma"),
    ("start_time >= 1001 AND start_time < 1003", "gamma beta"),
    ("end_time = 2000", "beta"),
    ("attributes.user_id = 'user1'", "delta beta"),
    ("tags.mlflow.user = 'user0'", "gamma alpha"),
    ("metrics.loss < 1 AND params.kind ILIKE 'tree' AND tags.team = 'south'", "beta"),
    ("metrics.nothing = 1", ""),
    ('params.kind = "tree"', "alpha"),
])
def test_filters(runs, filter, expected):
    assert names(runs, filter) == expected.split()


@pytest.mark.parametrize("order, expected", [
    (["start_time ASC"], "alpha beta gamma delta"),
    (["attributes.start_time DESC"], "delta gamma beta alpha"),
    (["metrics.loss"], "alpha beta gamma delta"),  # Not a number comes after all numbers, nothing last.
    (["metrics.loss DESC"], "beta alpha gamma delta"),
    (["params.kind"], "beta gamma alpha delta"),
    (["params.kind DESC"], "alpha gamma beta delta"),
    (["tags.team ASC", "start_time ASC"], "gamma alpha beta delta"),
    (["run_name"], "alpha beta delta gamma"),
    (["attributes.end_time", "run_name DESC"], "beta gamma delta alpha"),
    (["metrics.`val loss` DESC"], "beta alpha gamma delta"),
    (["user_id", "attribute.run_name"], "alpha gamma beta delta"),
])
def test_orders(runs, order, expected):
    assert names(runs, order_by=order) == expected.split()
    pages = []
    token = None
    while token or not pages:
        page = runs.search_runs(["0"], order_by=order, max_results=1, page_token=token)
        pages += [run.info.run_name for run in page]
        token = page.token
    assert pages == expected.split()


@pytest.mark.parametrize("filter, position", [
    ("metrics.loss <", 15),
    ("metrics.loss < 'much'", 16),
    ("params.kind = tree", 15),
    ("nonsense.x = 1", 1),
    ("metrics.loss < 1 OR metrics.loss > 2", 18),
    ("metrics.loss LIKE 'a'", 14),
    ("params.kind = 'tree", 15),
    ("colour = 'red'", 1),
])
def test_a_filter_that_cannot_be_read_is_refused_with_the_place(runs, filter, position):
    message = fails_with("INVALID_PARAMETER_VALUE", runs.search_runs, ["0"], filter)
    assert f"character {position}" in message, message


def test_what_else_is_wrong_with_a_search(runs):
    search = runs.search_runs
    fails_with("INVALID_PARAMETER_VALUE", search, ["0"], order_by=["metrics.loss SIDEWAYS"])
    fails_with("INVALID_PARAMETER_VALUE", search, ["0"], order_by=["run_name", "run_name DESC"])
    fails_with("INVALID_PARAMETER_VALUE", search, ["0"], max_results=50_001)
    fails_with("INVALID_PARAMETER_VALUE", search, ["0"], max_results=0)
    fails_with("INVALID_PARAMETER_VALUE", search, ["0"], page_token="made up")
    fails_with("INVALID_PARAMETER_VALUE", search, ["0"], page_token="eyJvZmZzZXQiOiAtMX0=")
    assert list(search(["4711"])) == [] and list(search([])) == []


def test_many_experiments_are_searched_as_one(tracking):
    experiments = [tracking.create_experiment(f"e{i}") for i in range(7)]
    for number in range(30):
        tracking.create_run(experiments[number % 7], start_time=1000 + number, run_name=f"r{number}")
    page, seen = None, []
    while page is None or page.token:
        page = tracking.search_runs(experiments, max_results=8, page_token=page.token if page else None)
        seen += [run.info.run_name for run in page]
    assert seen == [f"r{number}" for number in reversed(range(30))]
    frame = mlflow.search_runs(search_all_experiments=True, filter_string="run_name LIKE 'r1%'")
    assert len(frame) == 11


def test_experiments_are_searched(tracking):
    for name, team in [("alpha", "north"), ("Beta", "south"), ("gamma", "north")]:
        tracking.create_experiment(name, tags={"team": team})

    def found(filter=None, **more):
        return [e.name for e in tracking.search_experiments(filter_string=filter, **more)]

    assert found(order_by=["name"]) == ["Beta", "Default", "alpha", "gamma"]
    assert found()[-1] == "Default"  # The newest first.
    assert found("name = 'alpha'") == ["alpha"]
    assert found("attribute.name LIKE '%a'", order_by=["name DESC"]) == ["gamma", "alpha", "Beta"]
    assert found("name ILIKE 'b%'") == ["Beta"]
    assert sorted(found("tags.team = 'north'")) == ["alpha", "gamma"]
    assert found("tags.team != 'north'") == ["Beta"]
    assert sorted(found("name != 'Default' AND tags.team = 'north'")) == ["alpha", "gamma"]
    assert found("creation_time > 99999999999999") == []
    assert found(view_type=ViewType.DELETED_ONLY) == []
    pages, page = [], None
    while page is None or page.token:
        page = tracking.search_experiments(max_results=3, order_by=["name ASC"],
                                           page_token=page.token if page else None)
        pages.append([e.name for e in page])
    assert pages == [["Beta", "Default", "alpha"], ["gamma"]]
    assert "character" in fails_with("INVALID_PARAMETER_VALUE", tracking.search_experiments,
                                     filter_string="name =")

# SPDX-License-Identifier: Apache-2.0
"""The search language: hundreds of filters and orders are given to MLflow's own parser and to Berth, which agree on
what can be said. filters.txt and orders.txt have one in each line; \\n, \\t and \\' are escapes."""

import json
import pathlib
from urllib.parse import urlencode

import mlflow
import pytest
from harness import WORKSPACE
from mlflow.entities import Experiment, Run, RunData, RunInfo, RunInputs
from mlflow.entities.model_registry import ModelVersion, RegisteredModel
from mlflow.utils.search_utils import SearchExperimentsUtils, SearchModelUtils, SearchModelVersionUtils, SearchUtils

FOLDER = pathlib.Path(__file__).parent
IS_NEWEST = mlflow.__version__.startswith("3")
RUN = Run(RunInfo(run_id="r", experiment_id="1", user_id="u", status="RUNNING", start_time=5, end_time=6,
                  lifecycle_stage="active", artifact_uri="x", run_name="n", **({} if IS_NEWEST else {"run_uuid": "r"})),
          RunData(), RunInputs([]))


def lines(name):
    escapes = {"\\n": "\n", "\\t": "\t", "\\\\": "\\"}
    for line in (FOLDER / name).read_text().splitlines():
        for escape, text in escapes.items():
            line = line.replace(escape, text)
        yield line


def takes(check, text):
    try:
        check(text)
        return True
    except Exception:  # MLflow refuses with its own exception, or stumbles.
        return False


def filters_runs(text):
    for clause in SearchUtils.parse_search_filter(text):
        SearchUtils._does_run_match_clause(RUN, clause)


def filters_experiments(text):
    for clause in SearchExperimentsUtils.parse_search_filter(text):
        SearchExperimentsUtils._does_experiment_match_clause(Experiment("1", "n", "a", "active", {}, 1, 2), clause)


def filters_models(text):
    for clause in SearchModelUtils.parse_search_filter(text):
        SearchModelUtils._does_registered_model_match_clauses(RegisteredModel("n", 1, 2), clause)


def filters_versions(text):
    for clause in SearchModelVersionUtils.parse_search_filter(text):
        SearchModelVersionUtils._does_model_version_match_clauses(ModelVersion("n", 1, 3, 4), clause)


def orders(parse):
    def check(text):
        parsed = parse(text)
        assert len(parsed) == 2 or parsed[0] != "dataset"
        return parsed
    return check


def orders_attributes(parse):
    def check(text):
        assert parse(text)[0] == "attribute"
    return check


def is_one_of(*texts):
    return lambda text: text in texts


# Berth takes these, which MLflow's parser trips over: there is no doubt what they mean.
CLEARER = is_one_of(
    "metrics.a > 1.5e+10", "metrics.é > 1", "metrics.日本 > 1", "metrics.from > 1", "metrics.in > 1", "metrics.case > 1",
    "params.a IS NOT  NULL", "`tags`.a = 'x'", "`name` = 'x'", '"name" = \'x\'', "attribute.`name` = 'x'",
    " start_time DESC", "creation_timestamp", "creation_timestamp DESC", "attribute.name", "`name`")


def never_holds(text):
    """MLflow takes these, and they can hold for nothing: a key without letters, a list that is equal to a text."""
    return text in ("metrics. > 1", "metrics. a > 1", "metrics.", "dataset.name") or "= (" in text


class Route:
    def __init__(self, berth, method, path, **more):
        self.berth, self.method, self.more = berth, method, more
        self.path = f"/mlflow/v1.0{WORKSPACE}/api/2.0/mlflow/{path}"

    def takes(self, **asked):
        asked = self.more | {key: value for key, value in asked.items() if value}
        if self.method == "GET":
            answer = self.berth.request("GET", f"{self.path}?{urlencode(asked, doseq=True)}")
        else:
            answer = self.berth.request("POST", self.path, json.dumps(asked))
        if answer.status == 200:
            return True
        assert answer.status == 400 and answer.json["error_code"] == "INVALID_PARAMETER_VALUE", (asked, answer)
        assert "at character" in answer.json["message"], (asked, answer)
        return False


SUBJECTS = {
    "runs": ("POST", "runs/search", {"experiment_ids": ["0"]}, filters_runs,
             orders(SearchUtils.parse_order_by_for_search_runs)),
    "experiments": ("POST", "experiments/search", {}, filters_experiments,
                    orders_attributes(SearchExperimentsUtils.parse_order_by_for_search_experiments)),
    "models": ("GET", "registered-models/search", {}, filters_models,
               orders(SearchUtils.parse_order_by_for_search_registered_models)),
    "versions": ("GET", "model-versions/search", {}, filters_versions,
                 orders_attributes(SearchModelVersionUtils.parse_order_by_for_search_model_versions)),
}


@pytest.mark.parametrize("subject", SUBJECTS)
def test_berth_and_mlflow_agree_on_what_can_be_searched_for(berth, tracking, subject, record_property):
    method, path, more, filters, orders_by = SUBJECTS[subject]
    route = Route(berth, method, path, max_results=1, **more)
    compared, disagreed = 0, []
    for kind, texts, check in (("filter", lines("filters.txt"), filters), ("order_by", lines("orders.txt"), orders_by)):
        for text in texts:
            theirs = takes(check, text)
            ours = route.takes(**{kind: [text] if kind == "order_by" else text})
            compared += 1
            if CLEARER(text):
                assert ours or not theirs, text
            elif never_holds(text) or ours == theirs:
                continue
            # What only later releases of MLflow know, Berth knows whoever asks.
            elif IS_NEWEST or theirs:
                disagreed.append((kind, text, f"MLflow {theirs}", f"Berth {ours}"))
    print(f"{subject}: {compared} filters and orders")
    assert compared > 400
    assert not disagreed, "\n".join(map(str, disagreed))

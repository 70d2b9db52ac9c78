# SPDX-License-Identifier: Apache-2.0
"""What clients get wrong, or write in another way than we do."""

import pytest

from harness import WORKSPACE

BODY = {"properties": {"jobType": "Command", "command": "true", "environmentId": "azureml:x:1"}}
DATA = {"properties": {"dataType": "uri_folder", "dataUri": "azureml://datastores/workspaceblobstore/paths/x/"}}


@pytest.fixture
def served(pointed):
    pointed.ensure_server()
    return pointed


def test_any_api_version_is_taken(served):
    for version in ("2020-09-01-dataplanepreview", "2022-10-01", "2099-01-01", "nonsense", ""):
        assert served.request("GET", f"{WORKSPACE}?api-version={version}").status == 200, version
    assert served.request("GET", WORKSPACE).status == 200


def test_paths_and_enums_in_any_case(served):
    for path in (WORKSPACE.lower(), WORKSPACE.upper().replace("DEFAULT", "Default"),
                 WORKSPACE.replace("resourceGroups", "resourcegroups")):
        assert served.request("GET", path).json["name"] == "default", path
        assert served.request("GET", path + "/JOBS").status == 200
    answer = served.request("PUT", f"{WORKSPACE}/data/rows/versions/1", {"properties": {
        "dataType": "URI_FOLDER", "dataUri": DATA["properties"]["dataUri"]}})
    assert answer.status == 201 and answer.json["properties"]["dataType"] == "uri_folder", answer


def test_superfluous_fields_are_skipped_and_missing_ones_named(served):
    body = {"properties": BODY["properties"] | {"wings": 2, "status": "Completed"}, "feathers": True}
    made = served.request("PUT", f"{WORKSPACE}/jobs/odd", body)
    assert made.status == 201 and "wings" not in made.json["properties"]
    assert made.json["properties"]["status"] != "Completed"
    for below, wrong, target in [
            ("jobs/a", {}, "properties"), ("jobs/a", {"properties": {}}, "properties.jobType"),
            ("jobs/a", {"properties": {"jobType": "Command"}}, "properties.command"),
            ("data/a/versions/1", {"properties": {"dataType": "uri_folder"}}, "properties.dataUri"),
            ("models/a/versions/1", {"properties": {}}, "properties.modelUri"),
            ("codes/a/versions/1", {"properties": {}}, "properties.codeUri"),
            ("components/a/versions/1", {"properties": {}}, "properties.componentSpec")]:
        answer = served.request("PUT", f"{WORKSPACE}/{below}", wrong)
        assert answer.status == 400 and answer.json["error"]["target"] == target, (below, wrong, answer)
        assert served.request("GET", f"{WORKSPACE}/{below}").status == 404


def test_what_may_not_change_is_a_conflict(served):
    for below, first, second in [
            ("jobs/a", BODY, {"properties": BODY["properties"] | {"command": "false"}}),
            ("data/a/versions/1", DATA, {"properties": DATA["properties"] | {"dataUri": DATA["properties"]["dataUri"] + "y"}}),
            ("environments/a/versions/1", {"properties": {"image": "a"}}, {"properties": {"image": "b"}}),
            ("components/a/versions/1", {"properties": {"componentSpec": {"type": "command", "command": "a"}}},
             {"properties": {"componentSpec": {"type": "command", "command": "b"}}})]:
        assert served.request("PUT", f"{WORKSPACE}/{below}", first).status == 201, below
        assert served.request("PUT", f"{WORKSPACE}/{below}", first).status == 200, below
        answer = served.request("PUT", f"{WORKSPACE}/{below}", second)
        assert answer.status == 409 and answer.json["error"]["code"] == "Conflict", (below, answer)
        got = served.request("GET", f"{WORKSPACE}/{below}").json["properties"]
        for name, value in first["properties"].items():
            assert value.items() <= got[name].items() if isinstance(value, dict) else got[name] == value


def test_paging_tokens_that_are_made_up_are_refused(served):
    for below in ("jobs", "data/a/versions", "data", "environments", "models"):
        for token in ("made-up", "-1", "9" * 30, "1;drop", "%00"):
            answer = served.request("GET", f"{WORKSPACE}/{below}?$skip={token}&$skipToken={token}")
            assert answer.status == 400, (below, token, answer)
            assert token == "%00" or "skip" in answer.json["error"]["target"].lower(), answer


def test_run_history_says_what_is_wrong(served):
    served.request("PUT", f"{WORKSPACE}/jobs/a", BODY)
    history = f"/history/v1.0{WORKSPACE}"
    assert served.request("GET", f"{history}/runs/none").status == 404
    assert served.request("PATCH", f"{history}/experiments/other/runs/a", {"displayName": "x"}).status == 404
    wrong = served.request("PATCH", f"{history}/runs/a", {"status": "Completed"})
    assert wrong.status == 400 and wrong.json["error"]["target"] == "status"
    assert served.request("PATCH", f"{history}/runs/a", {"tags": ["x"]}).json["error"]["target"] == "tags"
    assert served.request("POST", f"{history}/rundata", {}).json["error"]["target"] == "runId"
    resolve = f"/data/v1.0{WORKSPACE}/dataversion/batchGetResolvedUris"
    assert served.request("POST", resolve, {"values": "x"}).json["error"]["target"] == "values"
    assert served.request("POST", resolve, {"values": ["azureml://jobs/none/outputs/x", "../../x"]}).json == {"values": {}}

# SPDX-License-Identifier: Apache-2.0
"""The model registry through MLflow's client, and the same models through Azure ML's door."""

import json

import mlflow
import pytest
from harness import WORKSPACE
from mlflow.exceptions import MlflowException
from sklearn.linear_model import LinearRegression

ROWS = [[1.0], [2.0], [3.0]]


def fails_with(code, call, *arguments, **more):
    with pytest.raises(MlflowException) as refusal:
        call(*arguments, **more)
    assert refusal.value.error_code == code, refusal.value
    return str(refusal.value)


def model(slope=2.0):
    return LinearRegression().fit(ROWS, [slope * row[0] for row in ROWS])


def log_model(name="model", registered=None, slope=2.0):
    """Logs a model in a run of its own; returns the run's id."""
    with mlflow.start_run() as run:
        named = {"name": name} if mlflow.__version__.startswith("3") else {"artifact_path": name}
        # The requirements are given: finding them out takes MLflow many seconds.
        mlflow.sklearn.log_model(model(slope), registered_model_name=registered, pip_requirements=["scikit-learn"],
                                 **named)
    return run.info.run_id


def save_model(berth, slope):
    mlflow.sklearn.save_model(model(slope), str(berth.folder / "saved"), pip_requirements=["scikit-learn"])


def predictions(uri):
    return [round(float(value), 6) for value in mlflow.pyfunc.load_model(uri).predict(ROWS)]


def source_in(client):
    """A source that can be registered as often as one likes."""
    run = client.create_run("0").info.run_id
    client.log_text(run, "x", "model/MLmodel")
    return f"{client.get_run(run).info.artifact_uri}/model", run


def make_version(client, name, **more):
    source, run = source_in(client)
    try:
        client.create_registered_model(name)
    except MlflowException as refusal:
        assert refusal.error_code == "RESOURCE_ALREADY_EXISTS"
    return client.create_model_version(name, source, run, **more)


# ---- What people do -----------------------------------------------------------------------------


def test_a_model_is_logged_registered_and_loaded_by_number_alias_and_latest(tracking):
    log_model(registered="line", slope=2.0)
    run = log_model(registered="line", slope=3.0)
    tracking.set_registered_model_alias("line", "champion", "1")

    assert predictions("models:/line/1") == [2, 4, 6]
    assert predictions("models:/line/2") == [3, 6, 9]
    assert predictions("models:/line@champion") == [2, 4, 6]
    assert predictions("models:/line/latest") == [3, 6, 9]
    version = tracking.get_model_version("line", "2")
    assert version.run_id == run and version.status == "READY" and version.user_id == "owner"
    assert tracking.get_model_version_by_alias("line", "champion").aliases == ["champion"]


def test_what_a_run_logged_is_registered_afterwards(tracking):
    run = log_model("ranker")

    first = mlflow.register_model(f"runs:/{run}/ranker", "line", tags={"why": "test"})
    second = mlflow.register_model("models:/line/1", "copy")

    assert (first.version, second.version) in {("1", "1"), (1, 1)}
    assert first.tags == {"why": "test"} and first.run_id == run
    assert predictions("models:/line/1") == predictions("models:/copy/1") == [2, 4, 6]


def test_both_doors_lead_to_the_same_models(berth, tracking):
    log_model(registered="line")
    tracking.update_registered_model("line", "straight")
    tracking.update_model_version("line", "1", "the first")
    tracking.set_model_version_tag("line", "1", "a", "b")
    tracking.set_registered_model_alias("line", "champion", "1")

    shown = berth.ok("model", "show", "-n", "line", "--label", "champion", "-o", "json").json
    listed = berth.ok("model", "list", "-o", "json").json

    assert [entry["name"] for entry in listed] == ["line"] and listed[0]["description"] == "straight"
    assert shown["version"] == "1" and shown["type"] == "mlflow_model" and shown["tags"] == {"a": "b"}
    assert shown["description"] == "the first" and shown["job_name"] == tracking.get_model_version("line", 1).run_id
    assert shown["path"].startswith("azureml://subscriptions/")
    berth.ok("model", "download", "-n", "line", "-v", "1", "-p", "down")
    [folder] = (berth.folder / "down" / "line").iterdir()
    assert (folder / "MLmodel").exists() and predictions(str(folder)) == [2, 4, 6]


def test_a_model_of_the_command_line_is_loaded_by_mlflow(berth, tracking):
    save_model(berth, 5.0)
    berth.ok("model", "create", "-n", "line", "-p", "saved", "-t", "mlflow_model", "--stage", "Production",
             "--tags", "a=b", "--description", "words")

    version = tracking.get_model_version("line", "1")

    assert version.current_stage == "Production" and version.tags == {"a": "b"} and version.description == "words"
    assert predictions("models:/line/1") == predictions("models:/line/latest") == [5, 10, 15]
    assert [found.name for found in tracking.search_registered_models("name = 'line'")] == ["line"]
    assert mlflow.register_model("models:/line/1", "copy").version in ("1", 1)
    assert predictions("models:/copy/1") == [5, 10, 15]


def test_a_jobs_output_becomes_a_version(berth, tracking):
    save_model(berth, 4.0)
    berth.submit("cp -r ${{inputs.m}}/. ${{outputs.o}}/; mkdir -p outputs/kept; cp -r ${{inputs.m}}/. outputs/kept/", "train",
                 inputs={"m": {"type": "uri_folder", "path": "saved"}},
                 outputs={"o": {"type": "mlflow_model", "name": "line"}})
    berth.wait("train", "Completed")

    berth.ok("model", "create", "-n", "line", "-t", "mlflow_model", "-p", "azureml://jobs/train/outputs/o")
    berth.ok("model", "create", "-n", "line", "-t", "mlflow_model", "-p", "runs:/train/outputs/kept")

    versions = tracking.search_model_versions("run_id = 'train'", order_by=["version_number ASC"])
    assert [version.run_id for version in versions] == ["train"] * 3
    for number in (1, 2, 3):
        assert predictions(f"models:/line/{number}") == [4, 8, 12]
    shown = berth.ok("model", "show", "-n", "line", "-v", "2", "-o", "json").json
    assert shown["job_name"] == "train" and "/datastores/workspaceartifactstore/paths/" in shown["path"]


def test_a_job_takes_a_model_by_its_alias(berth, tracking):
    for slope in (2.0, 3.0):
        log_model(registered="line", slope=slope)
    tracking.set_registered_model_alias("line", "champion", "1")

    berth.submit("cat ${{inputs.m}}/MLmodel", "look",
                 inputs={"m": {"type": "mlflow_model", "path": "azureml:line@champion"}})
    berth.wait("look", "Completed")

    assert b"python_function" in berth.log("look")
    refusal = berth.fails("job", "create", "-f", berth.job_file(
        "true", inputs={"m": {"type": "mlflow_model", "path": "azureml:line@none"}}))
    assert "with the label 'none'" in refusal.err


# ---- Registered models ---------------------------------------------------------------------------


def test_a_registered_model_has_description_tags_and_aliases(tracking):
    made = tracking.create_registered_model("line", tags={"a": "1"}, description="straight")
    make_version(tracking, "line")
    tracking.set_registered_model_tag("line", "b", "2")
    tracking.delete_registered_model_tag("line", "a")
    tracking.delete_registered_model_tag("line", "never")
    tracking.set_registered_model_alias("line", "champion", "1")
    tracking.set_registered_model_alias("line", "second", "1")
    tracking.delete_registered_model_alias("line", "second")
    tracking.delete_registered_model_alias("line", "never")

    found = tracking.get_registered_model("line")

    assert made.description == found.description == "straight" and made.tags == {"a": "1"}
    assert found.tags == {"b": "2"} and {str(key): str(value) for key, value in found.aliases.items()} == {"champion": "1"}
    assert found.last_updated_timestamp >= found.creation_timestamp >= made.creation_timestamp > 0
    assert [str(version.version) for version in found.latest_versions] == ["1"]
    assert tracking.update_registered_model("line", "bent").description == "bent"


def test_a_renamed_model_takes_its_versions_along(berth, tracking):
    make_version(tracking, "old", tags={"a": "b"})
    make_version(tracking, "old")
    tracking.set_registered_model_alias("old", "champion", "2")

    tracking.rename_registered_model("old", "new")

    assert tracking.get_registered_model("new").name == "new"
    assert sorted(str(v.version) for v in tracking.search_model_versions("name = 'new'")) == ["1", "2"]
    assert str(tracking.get_model_version_by_alias("new", "champion").version) == "2"
    assert tracking.get_model_version("new", "1").tags == {"a": "b"}
    assert str(make_version(tracking, "new").version) == "3"
    assert berth.ok("model", "show", "-n", "new", "-v", "2", "-o", "json").json["id"].endswith("/models/new/versions/2")
    assert berth.get("/models/old").status == 404 and berth.get("/models/old/versions/1").status == 404
    fails_with("RESOURCE_DOES_NOT_EXIST", tracking.get_registered_model, "old")
    make_version(tracking, "old")
    fails_with("RESOURCE_ALREADY_EXISTS", tracking.rename_registered_model, "old", "new")
    fails_with("INVALID_PARAMETER_VALUE", tracking.rename_registered_model, "old", "a b")


def test_what_is_deleted_is_gone_and_its_number_is_not_given_out_again(berth, tracking):
    for _ in range(3):
        make_version(tracking, "line")
    tracking.set_registered_model_alias("line", "champion", "3")

    tracking.delete_model_version("line", "3")
    tracking.delete_model_version("line", "1")

    assert [str(v.version) for v in tracking.search_model_versions("name = 'line'")] == ["2"]
    assert tracking.get_registered_model("line").aliases == {}
    fails_with("RESOURCE_DOES_NOT_EXIST", tracking.get_model_version, "line", "3")
    fails_with("RESOURCE_DOES_NOT_EXIST", tracking.delete_model_version, "line", "3")
    fails_with("RESOURCE_DOES_NOT_EXIST", tracking.get_model_version_by_alias, "line", "champion")
    assert berth.get("/models/line/versions/3").status == 404
    assert str(make_version(tracking, "line").version) == "4"

    tracking.delete_registered_model("line")

    assert tracking.search_registered_models() == [] and tracking.search_model_versions("") == []
    assert berth.ok("model", "list", "-o", "json").json == []
    assert str(make_version(tracking, "line").version) == "1"


def test_numbers_follow_the_highest_whichever_door_was_used(berth, tracking):
    make_version(tracking, "line")
    berth.file("m.bin", "bytes")
    for version in ("7", "v2"):
        berth.ok("model", "create", "-n", "line", "-v", version, "-p", "m.bin")

    assert str(make_version(tracking, "line").version) == "8"
    assert berth.ok("model", "create", "-n", "line", "-p", "m.bin", "-o", "json").json["version"] == "9"
    assert {str(v.version) for v in tracking.search_model_versions("name = 'line'")} == {"1", "7", "v2", "8", "9"}
    assert [str(v.version) for v in tracking.search_model_versions("version_number >= 8")] == ["9", "8"]
    latest = tracking._get_registry_client().get_latest_versions("line")
    assert [str(version.version) for version in latest] == ["9"]


@pytest.mark.filterwarnings("ignore")
def test_stages(berth, tracking):
    for _ in range(3):
        make_version(tracking, "line")

    tracking.transition_model_version_stage("line", "1", "production")
    tracking.transition_model_version_stage("line", "2", "Staging")
    moved = tracking.transition_model_version_stage("line", "3", "Production", archive_existing_versions=True)

    assert moved.current_stage == "Production"
    stages = {str(v.version): v.current_stage for v in tracking.search_model_versions("name = 'line'")}
    assert stages == {"1": "Archived", "2": "Staging", "3": "Production"}
    latest = tracking.get_latest_versions("line", ["Staging", "Production"])
    assert {str(v.version) for v in latest} == {"2", "3"}
    assert berth.ok("model", "show", "-n", "line", "-v", "3", "-o", "json").json["stage"] == "Production"
    berth.ok("model", "update", "-n", "line", "-v", "2", "--stage", "Development")
    assert tracking.get_model_version("line", "2").current_stage == "None"
    fails_with("INVALID_PARAMETER_VALUE", tracking.transition_model_version_stage, "line", "1", "Live")
    fails_with("INVALID_PARAMETER_VALUE", tracking.transition_model_version_stage, "line", "1", "None", True)


def test_an_archived_model_is_left_out_of_searches(berth, tracking):
    make_version(tracking, "line")
    make_version(tracking, "line")
    make_version(tracking, "curve")

    berth.ok("model", "archive", "-n", "line", "-v", "2")
    berth.ok("model", "archive", "-n", "curve")

    assert [str(v.version) for v in tracking.search_model_versions("name = 'line'")] == ["1"]
    assert [found.name for found in tracking.search_registered_models()] == ["line"]
    assert str(tracking.get_model_version("line", "2").version) == "2"  # By its number it is still there.
    berth.ok("model", "restore", "-n", "curve")
    assert [found.name for found in tracking.search_registered_models()] == ["curve", "line"]


# ---- Searching -----------------------------------------------------------------------------------


@pytest.fixture
def population(tracking):
    """Models that differ in everything that can be searched for."""
    for number, (name, tags) in enumerate([
            ("alpha", {"team": "north"}), ("Beta", {"team": "South", "a b": "1"}), ("gamma", {}), ("alpine", {"team": "so"})]):
        tracking.create_registered_model(name, tags=tags)
        for version in range(number + 1):
            make_version(tracking, name, tags={"odd": str(version % 2 == 0).lower()} | tags)
    return tracking


def everything(search, filter, order, size):
    """All pages of a search."""
    found, token = [], None
    while True:
        page = search(filter_string=filter, order_by=order, max_results=size, page_token=token)
        found += page
        assert len(page) <= size
        token = page.token
        if not token:
            return found


@pytest.mark.parametrize("size", [1, 3, 100])
def test_models_are_found_as_mlflow_itself_would_find_them(population, size):
    """The same models, filtered and sorted by MLflow's own code, are the expectation."""
    from mlflow.utils.search_utils import SearchModelUtils

    everyone = list(population.search_registered_models())
    assert len(everyone) == 4
    for text in ["", "name = 'alpha'", "name != 'alpha'", "name LIKE 'al%'", "name ILIKE 'b_ta'", "name LIKE 'b_ta'",
                 "tags.team = 'north'", "tags.team != 'north'", "tags.team LIKE 's%'", "tags.team ILIKE 's%'",
                 "tags.`a b` = '1'", "tags.none = 'x'", "tag.team = 'so' AND name LIKE '%e'",
                 "tags.`mlflow.prompt.is_prompt` != 'true'", "tags.`mlflow.prompt.is_prompt` = 'true'"]:
        for order in [None, ["name DESC"], ["last_updated_timestamp DESC", "name ASC"]]:
            expected = SearchModelUtils.sort(SearchModelUtils.filter(everyone, text), order)
            found = everything(population.search_registered_models, text, order, size)
            assert [each.name for each in found] == [each.name for each in expected], (text, order)


@pytest.mark.parametrize("size", [2, 100])
def test_versions_are_found_as_mlflow_itself_would_find_them(population, size):
    from mlflow.utils.search_utils import SearchModelVersionUtils

    everyone = list(population.search_model_versions(""))
    assert len(everyone) == 10
    for version in everyone:  # MLflow's own code compares numbers.
        version._version = int(version.version)
    run = everyone[3].run_id
    only_newest = [f"run_id NOT IN ('{run}')", "name IN ('Beta', 'gamma')"] if mlflow.__version__.startswith("3") else []
    for text in only_newest + ["name = 'alpine'", "name != 'alpine'", "name LIKE 'al%'", "version_number > 2", "version_number = '1'",
                 "version_number <= 2 AND name ILIKE 'BETA'", f"run_id = '{run}'", f"run_id IN ('{run}', 'x')",
                 "source_path LIKE '%/model'", f"source_path LIKE '%{run}%'",
                 "tags.odd = 'true'", "tags.odd != 'true' AND tags.team ILIKE 'S%'"]:
        for order in [None, ["name DESC", "version_number ASC"], ["version_number DESC"], ["creation_timestamp DESC"]]:
            expected = SearchModelVersionUtils.sort(SearchModelVersionUtils.filter(everyone, text), order)
            found = everything(population.search_model_versions, text, order, size)
            if order == ["creation_timestamp DESC"]:  # Two may be made in the same millisecond.
                assert sorted((v.name, str(v.version)) for v in found) == sorted((v.name, str(v.version)) for v in expected)
                assert [v.creation_timestamp for v in found] == [v.creation_timestamp for v in expected]
            else:
                assert [(v.name, str(v.version)) for v in found] == [(v.name, str(v.version)) for v in expected], (text, order)


# ---- What is refused -----------------------------------------------------------------------------


def test_refusals_say_what_is_wrong(tracking):
    make_version(tracking, "line")
    source = tracking.get_model_version("line", "1").source
    missing, invalid = "RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE"

    assert "'line' exists" in fails_with("RESOURCE_ALREADY_EXISTS", tracking.create_registered_model, "line")
    for name in ("a b", "a%b", "größe", "-x"):
        assert "Azure ML address" in fails_with(invalid, tracking.create_registered_model, name)
    fails_with(invalid, tracking.create_registered_model, "")
    fails_with(missing, tracking.create_model_version, "none", source)
    fails_with(missing, tracking.get_registered_model, "none")
    fails_with(missing, tracking.update_registered_model, "none", "x")
    fails_with(missing, tracking.delete_registered_model, "none")
    fails_with(missing, tracking.get_model_version, "line", "2")
    fails_with(missing, tracking.set_model_version_tag, "line", "2", "a", "b")
    fails_with(missing, tracking.set_registered_model_alias, "line", "x", "2")
    fails_with(missing, tracking.get_model_version_by_alias, "line", "none")
    for alias in ("latest", "v1", "a b"):
        fails_with(invalid, tracking.set_registered_model_alias, "line", alias, "1")
    for place in ("/home/me/model", "model", "file:///home/me/model", "gopher://x/y", "mlflow-artifacts:/a/../../b"):
        fails_with(invalid, tracking.create_model_version, "line", place)
    for place in ("models:/none/1", "models:/m-0123456789abcdef0123456789abcdef", "runs:/none/model"):
        fails_with(missing, tracking.create_model_version, "line", place)
    assert len(tracking.search_model_versions("name = 'line'")) == 1


def test_a_search_that_does_not_parse_says_where(tracking):
    invalid = "INVALID_PARAMETER_VALUE"
    assert "at character 12: OR is not" in fails_with(
        invalid, tracking.search_registered_models, "name = 'a' OR name = 'b'")
    assert "at character 1: no attribute 'nam'" in fails_with(invalid, tracking.search_model_versions, "nam = 'a'")
    assert "at character 6: expected ASC" in fails_with(
        invalid, tracking.search_registered_models, order_by=["name downwards"])
    fails_with(invalid, tracking.search_registered_models, max_results=1001)
    fails_with(invalid, tracking.search_model_versions, max_results=200_001)
    for token in ("made up", "e30=", "eyJvZmZzZXQiOiAtMX0="):
        fails_with(invalid, tracking.search_registered_models, page_token=token)


def test_a_reader_may_look_and_nothing_else(tracking, other_user):
    make_version(tracking, "line")
    other_user("ann", "Reader")
    denied = "PERMISSION_DENIED"

    assert tracking.get_registered_model("line").name == "line"
    assert len(tracking.search_model_versions("")) == 1
    fails_with(denied, tracking.create_registered_model, "other")
    fails_with(denied, tracking.set_registered_model_tag, "line", "a", "b")
    fails_with(denied, tracking.set_registered_model_alias, "line", "a", "1")
    fails_with(denied, tracking.delete_model_version, "line", "1")
    fails_with(denied, tracking.rename_registered_model, "line", "bent")


def test_broken_bodies_leave_no_trace(berth, tracking):
    prefix = f"/mlflow/v1.0{WORKSPACE}/api/2.0/mlflow"
    for path, body in [("/registered-models/create", {"name": 5}), ("/registered-models/create", []),
                       ("/registered-models/create", {"name": "x", "tags": {"a": "b"}}),
                       ("/registered-models/create", {"name": "x", "tags": [{"value": "b"}]}),
                       ("/model-versions/create", {"name": "x"}), ("/registered-models/alias", {"name": "x"})]:
        answer = berth.request("POST", prefix + path, json.dumps(body))
        assert answer.status in (400, 404) and answer.json["error_code"], (path, body, answer)
        assert answer.json["message"]
    assert tracking.search_registered_models() == []

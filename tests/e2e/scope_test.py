# SPDX-License-Identifier: Apache-2.0
"""What is of one workspace is not reached from another, whatever it is called; and numbers that do not fit."""

import pathlib
import stat

import pytest

from harness import DEADLINE, WORKSPACE

API = "api-version=2024-10-01"
OTHER = WORKSPACE.replace("/workspaces/default", "/workspaces/other")
# The same name in another group or another subscription is another workspace too.
STRANGERS = [OTHER, WORKSPACE.replace("resourceGroups/berth", "resourceGroups/lab"),
             WORKSPACE.replace("00000000-", "11111111-")]


def long_uri(workspace, below):
    parts = workspace.split("/")
    return f"azureml://subscriptions/{parts[2]}/resourcegroups/{parts[4]}/workspaces/{parts[8]}/{below}"


@pytest.fixture
def two(berth):
    """Both workspaces have data of one name, so that a mistaken look in the own one would find something."""
    berth.ok("workspace", "create", "--name", "other")
    berth.file("data/rows.csv", "1,2\n")
    for workspace in ("default", "other"):
        berth.ok("data", "create", "-w", workspace, "--name", "rows", "--version", "1", "--type", "uri_folder",
                 "--path", "data")
    return berth


def job(**properties):
    return {"properties": {"jobType": "Command", "command": "true", "computeId": "local",
                           "environmentId": "azureml:env:1", **properties}}


def refused(answer, target=None):
    assert answer.status == 400, answer
    assert "another" in answer.json["error"]["message"], answer
    if target:
        assert answer.json["error"].get("target") == target, answer


@pytest.mark.parametrize("stranger", STRANGERS)
def test_a_job_cannot_name_what_is_of_another_workspace(two, stranger):
    uris = [f"{stranger}/data/rows/versions/1", f"azureml:{stranger}/data/rows/versions/1",
            f"{stranger}/models/m/versions/1", long_uri(stranger, "data/rows/versions/1"),
            long_uri(stranger, "datastores/workspaceblobstore/paths/x"), long_uri(stranger, "jobs/j/outputs/default")]
    for mode in ("ReadOnlyMount", "Direct"):
        for uri in uris:
            refused(two.put("/jobs/j", job(inputs={"d": {"jobInputType": "uri_folder", "uri": uri, "mode": mode}})),
                    "properties.inputs.d")
    refused(two.put("/jobs/j", job(codeId=f"{stranger}/codes/c/versions/1")), "properties.codeId")
    refused(two.put("/jobs/j", job(environmentId=f"{stranger}/environments/e/versions/1")), "properties.environmentId")
    refused(two.put("/jobs/j", job(componentId=f"{stranger}/components/c/versions/1")), "properties.componentId")
    refused(two.put("/jobs/j", job(computeId=f"{stranger}/computes/local")), "properties.computeId")
    refused(two.put("/jobs/j", job(outputs={"o": {
        "jobOutputType": "uri_folder", "uri": long_uri(stranger, "datastores/workspaceblobstore/paths/x/")}})),
        "properties.outputs.o")
    assert two.get("/jobs/j").status == 404


def test_what_is_its_own_may_be_named_in_full(two):
    guid = two.get("").json["properties"]["workspaceId"]
    uris = [f"{WORKSPACE}/data/rows/versions/1", long_uri(WORKSPACE, "data/rows/versions/1"),
            f"azureml://locations/local/workspaces/{guid}/data/rows/versions/1"]
    inputs = {f"d{i}": {"jobInputType": "uri_folder", "uri": uri} for i, uri in enumerate(uris)}

    answer = two.put("/jobs/j", job(command="cat ${{inputs.d0}}/rows.csv", inputs=inputs,
                                    computeId=f"{WORKSPACE}/computes/local"))

    assert answer.status == 201, answer
    two.wait("j", "Completed")
    assert two.log("j") == b"1,2\n"


@pytest.mark.parametrize("stranger", STRANGERS)
def test_an_asset_cannot_be_made_of_what_is_of_another_workspace(two, stranger):
    folder = long_uri(stranger, "datastores/workspaceblobstore/paths/x")
    bodies = {
        "data": {"dataType": "uri_folder", "dataUri": folder},
        "codes": {"codeUri": folder},
        "models": {"modelType": "custom_model", "modelUri": folder},
        "environments": {"build": {"contextUri": folder}},
        "components": {"componentSpec": {"type": "command", "code": f"azureml:{stranger}/codes/c/versions/1"}},
    }
    for collection, properties in bodies.items():
        refused(two.put(f"/{collection}/a/versions/1", {"properties": properties}))
        assert two.get(f"/{collection}/a/versions/1").status == 404


def test_a_blob_of_another_workspace_is_no_input(two):
    """Its address with a signature in it would be fetched by whoever holds it."""
    place = two.request("GET", f"{OTHER}/datastores/workspaceblobstore?{API}").json["properties"]
    url = f"https://{place['accountName']}/{place['containerName']}/x/rows.csv?sig=1"

    answer = two.put("/jobs/j", job(inputs={"d": {"jobInputType": "uri_file", "uri": url}}))

    refused(answer, "properties.inputs.d")
    assert "sig=1" not in answer.body.decode()
    refused(two.put("/data/a/versions/1", {"properties": {"dataType": "uri_file", "dataUri": url}}))


def test_a_job_file_with_a_compute_of_another_workspace_is_pointed_at(two):
    file = two.job_file("true", compute=f"azureml:{OTHER}/computes/local")

    outcome = two.fails("job", "create", "-f", file, "--name", "j")

    assert "job.yml:3:" in outcome.err and "another" in outcome.err, outcome


# Numbers.

@pytest.mark.parametrize("resources", [
    {"docker_args": "--memory 17179869184g"}, {"docker_args": "-m 18446744073709551615k"},
    {"docker_args": "--shm-size=99999999999p"}, {"docker_args": "--pids-limit 99999999999999999999"},
    {"docker_args": "--memory lots"}, {"shm_size": "17179869184g"},
])
def test_an_amount_that_does_not_fit_is_refused(berth, resources):
    """17179869184g is 2 to the 64th, which is 0 where it is cut off: a limit of nothing, or none."""
    berth.fails("job", "create", "-f", berth.job_file("true", resources=resources), "--name", "j")
    names = {"docker_args": "dockerArgs", "shm_size": "shmSize"}

    answer = berth.put("/jobs/j", job(resources={names[key]: value for key, value in resources.items()}))

    assert answer.status == 400, answer
    assert berth.get("/jobs/j").status == 404


def test_a_size_that_does_not_fit_is_pointed_at(berth):
    berth.home.mkdir(mode=0o700)
    (berth.home / "sizes.yml").write_text("- name: huge\n  cores: 1\n  memory: 100000000000Gi\n")

    assert "sizes.yml:3:11" in berth.fails("workspace", "list").err


# Tokens that leave by a file.

def mode(path):
    return stat.S_IMODE(pathlib.Path(path).stat().st_mode)


def test_a_token_goes_into_a_file_of_its_owner(berth):
    berth.ok("user", "create", "ana")
    file = berth.folder / "ana.token"
    berth.file("ana.token", "an older one").chmod(0o644)

    outcome = berth.ok("token", "create", "--user", "ana", "--file", "ana.token", "-o", "json")

    token = file.read_text().strip()
    assert mode(file) == 0o600 and token not in outcome.out + outcome.err
    assert "token" not in outcome.json and str(file) in outcome.err
    assert "ana may not do this" in berth.fails("workspace", "list", "--token-file", file).err  # But it is she.


def test_a_token_that_cannot_be_kept_is_not_made(berth):
    berth.ok("user", "create", "ana")

    berth.fails("token", "create", "--user", "ana", "--file", "nowhere/ana.token", code=3)
    berth.fails("token", "create", "--user", "ana", "--file", berth.folder)

    assert berth.ok("token", "list", "-o", "json").json == []


@pytest.mark.parametrize("words", [["token", "create", "--user", "ana"], ["env"], ["account", "get-access-token"]])
def test_a_token_that_is_redirected_is_for_its_owner_alone(berth, words):
    berth.ok("user", "create", "ana")
    new, old = berth.folder / "new", berth.folder / "old"
    old.write_text("kept\n")
    for path in (new, old):
        path.touch()
        path.chmod(0o644)

    with open(new, "w") as out:
        first = berth.popen(*words, stdout=out)
        _, quiet = first.communicate(timeout=DEADLINE)
    with open(old, "a") as out:
        second = berth.popen(*words, stdout=out)
        _, loud = second.communicate(timeout=DEADLINE)

    assert (first.returncode, second.returncode) == (0, 0), (quiet, loud)
    assert mode(new) == 0o600 and b"others can read" not in quiet
    assert mode(old) == 0o644 and b"others can read" in loud

# SPDX-License-Identifier: Apache-2.0
"""ARM templates: deployed by the command line, cut short by kill -9, refused, and kept secret."""

import json

import pytest

from auth_test import add, as_user
from harness import EXAMPLES, WORKSPACE, eventually

GROUP = WORKSPACE.split("/providers/")[0]
ML = "Microsoft.MachineLearningServices/workspaces"
SCHEMA = "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#"
EXAMPLE = EXAMPLES / "deployment/template.json"


def template(*resources, **more):
    return {"$schema": SCHEMA, "contentVersion": "1.0.0.0", "resources": list(resources)} | more


def resource(kind, name, properties=None, **more):
    return {"type": f"{ML}{kind}", "apiVersion": "2024-04-01", "name": name, "properties": properties or {}} | more


def data(name, uri="https://example.org/rows.csv", **more):
    return resource("/data/versions", name, {"dataType": "uri_file", "dataUri": uri}, **more)


def file_of(berth, body, name="template.json"):
    return berth.file(name, body if isinstance(body, str) else json.dumps(body))


def deployment(berth, name):
    return berth.request("GET", f"{GROUP}/providers/Microsoft.Resources/deployments/{name}")


def operations(berth, name):
    answer = berth.request("GET", f"{GROUP}/deployments/{name}/operations")
    assert answer.status == 200, answer
    return [operation["properties"] for operation in answer.json["value"]]


def files_with(folder, secret):
    return [path for path in folder.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]


def test_the_example_runs_as_it_is(berth):
    made = berth.ok("deployment", "create", "-f", EXAMPLE, "-o", "json").json

    assert made["name"] == "template"
    assert made["properties"]["provisioningState"] == "Succeeded"
    assert made["properties"]["outputs"]["provisioningState"]["value"] == "Succeeded"
    assert made["resourceGroup"] == "berth"
    cluster = berth.ok("compute", "show", "-n", "cpu", "-w", "ships", "-o", "json").json
    assert (cluster["size"], cluster["max_instances"]) == ("Standard_DS2_v2", 2)
    versions = berth.ok("data", "list", "-n", "ships", "-w", "ships", "-o", "json").json
    assert {each["path"] for each in versions} == {f"https://example.org/ships-{year}.csv" for year in (2024, 2025, 2026)}


def test_deploying_again_changes_nothing_and_a_parameter_changes_what_it_may(berth):
    words = ("deployment", "group", "create", "-g", "berth", "--template-file", EXAMPLE, "--name", "ours")
    berth.ok(*words, "--parameters", EXAMPLES / "deployment/parameters.json")
    again = berth.ok(*words, "-p", f"@{EXAMPLES}/deployment/parameters.json", "maxNodes=3", "-o", "json").json

    assert again["properties"]["parameters"]["team"]["value"] == "harbour"
    assert berth.ok("compute", "show", "-n", "cpu", "-w", "harbour", "-o", "json").json["max_instances"] == 3
    assert {each["statusCode"] for each in operations(berth, "ours")} == {"OK"}
    assert [each["name"] for each in berth.ok("deployment", "group", "list", "-g", "berth", "-o", "json").json] == ["ours"]


def test_an_unknown_type_is_refused_before_anything_is_made(berth):
    body = template(resource("", "team"), {"type": "Microsoft.Network/virtualNetworks", "apiVersion": "x", "name": "v"})

    refused = berth.fails("deployment", "create", "-f", file_of(berth, body), "-n", "d")

    assert "resources[1].type" in refused.err and "Microsoft.Network/virtualNetworks" in refused.err
    assert [each["name"] for each in berth.ok("workspace", "list", "-o", "json").json] == ["default"]
    assert "no deployment 'd'" in berth.fails("deployment", "show", "-n", "d", code=3).err


def test_a_failure_half_way_says_what_was_made(berth):
    body = template(data("default/rows/1"), data("default/rows/2", "nonsense"),
                    resource("/environments/versions", "default/py/1", {"image": "debian:12"},
                             dependsOn=["default/rows/2"]))

    failed = berth.fails("deployment", "create", "-f", file_of(berth, body), "-n", "half")

    assert "of 3 resources 1 were made, 1 failed and 1 were not tried" in failed.err
    rows = [line.split() for line in failed.err.splitlines() if line.startswith(("Succeeded", "Failed", "Canceled"))]
    assert [row[:3] for row in rows] == [["Succeeded", "workspaces/data/versions", "default/rows/1"],
                                         ["Failed", "workspaces/data/versions", "default/rows/2"],
                                         ["Canceled", "workspaces/environments/versions", "default/py/1"]]
    assert [each["provisioningState"] for each in operations(berth, "half")] == ["Succeeded", "Failed", "Canceled"]
    berth.ok("data", "show", "-n", "rows", "-v", "1")
    # Put right, it goes on from there.
    body["resources"][1]["properties"]["dataUri"] = "https://example.org/2.csv"
    berth.ok("deployment", "create", "-f", file_of(berth, body), "-n", "half")
    assert [each["provisioningState"] for each in operations(berth, "half")] == ["Succeeded"] * 3


def test_it_goes_on_when_the_server_is_killed_in_the_middle(berth):
    count = 400
    body = template(data("[format('default/rows/{0}', copyIndex(1))]", copy={"name": "all", "count": count}),
                    parameters={"word": {"type": "secureString"}},
                    outputs={"n": {"type": "int", "value": count}})
    server = berth.start_server()
    berth.ok("deployment", "create", "-f", file_of(berth, body), "-n", "long", "--no-wait", "-p", "word=s3cret-word-of-mine")

    seen = eventually(lambda: len(operations(berth, "long")) or None)
    server.kill()
    server.wait()
    assert 0 < seen < count, "it was over before it was killed"
    assert not files_with(berth.home, "s3cret-word-of-mine"), "what goes on needs it, but not in the open"

    berth.start_server()
    eventually(lambda: deployment(berth, "long").json["properties"]["provisioningState"] == "Succeeded")
    assert [each["provisioningState"] for each in operations(berth, "long")] == ["Succeeded"] * count
    versions = berth.ok("data", "list", "-n", "rows", "--all-results", "-o", "json").json
    assert sorted(int(each["version"]) for each in versions) == list(range(1, count + 1))


def test_secure_parameters_are_nowhere_to_be_found(berth):
    secret = "correct-horse-battery-staple"
    body = template(data("default/rows/1"), data("default/rows/2", "[parameters('key')]"),
                    parameters={"key": {"type": "secureString"}, "box": {"type": "secureObject"}},
                    outputs={"key": {"type": "secureString", "value": "[parameters('key')]"}})
    (berth.folder / "key.txt").write_text(secret + "\n")
    box = berth.file("box.json", json.dumps({"box": {"value": {"inside": secret + "-too"}}}))
    berth.start_server()

    failed = berth.fails("deployment", "create", "-f", file_of(berth, body), "-n", "d", "-p", "key=@key.txt", box)

    assert "***" in failed.err  # The address of data that it was used for is none.
    shown = deployment(berth, "d")
    assert shown.json["properties"]["parameters"]["key"] == {"type": "secureString"}
    for where in (failed.err, failed.out, shown.body.decode(), json.dumps(operations(berth, "d")),
                  (berth.folder / "server.log").read_text()):
        assert secret not in where
    berth.stop()
    assert not files_with(berth.home, secret)


def test_every_resource_asks_for_the_right_of_who_deploys(berth):
    berth.ensure_server()
    ana = add(berth, "ana", "Contributor", "-w", "default")
    ben = add(berth, "ben", "Reader", "-w", "default")
    allowed = file_of(berth, template(data("default/rows/1")), "allowed.json")
    more = file_of(berth, template(data("default/rows/2"), resource("", "team")), "more.json")

    berth.ok("deployment", "create", "-f", allowed, **as_user(ana))
    refused = berth.fails("deployment", "create", "-f", more, **as_user(ana))
    assert "ana may not do this" in refused.err and "workspaces/team" in refused.err
    assert "ben may not" in berth.fails("deployment", "create", "-f", allowed, "-n", "bens", **as_user(ben)).err
    berth.fails("data", "show", "-n", "rows", "-v", "2", code=3)
    lines = berth.ok("audit", "list", "-o", "json").json
    assert any(line["from"] == "deployment allowed" and line["who"] == "ana" for line in lines)


@pytest.mark.parametrize(("text", "says"), [
    ("{", "line 1, column 2: this is not JSON"),
    ("[]", "this is not a JSON object"),
    (json.dumps(template(data("default/rows/[add(1,2)]"))), "'[add(1,2)]' is no name"),
    (json.dumps(template(data("[concat('default/rows/', nope(1))]"))), "unknown function 'nope'"),
    (json.dumps(template(data("a/b/1", dependsOn=["c/d/1"]), data("c/d/1", dependsOn=["a/b/1"]))),
     "these wait for each other: 'a/b/1' → 'c/d/1' → 'a/b/1'"),
    (json.dumps(template(parameters={"n": {"type": "int"}})), "'n' has no default and was not given"),
    (json.dumps(template() | {"$schema": "x"}), "$schema"),
])
def test_a_template_that_is_wrong_says_where(berth, text, says):
    assert says in berth.fails("deployment", "create", "-f", file_of(berth, text)).err


def test_parameters_are_what_the_template_says_they_are(berth):
    body = template(parameters={"text": {"type": "string"}, "count": {"type": "int"}, "flag": {"type": "bool"},
                                "list": {"type": "array"}, "object": {"type": "object"}})
    words = ["text=007", "count=3", "flag=True", "list=[1,2]", 'object={"a": 1}']

    made = berth.ok("deployment", "create", "-f", file_of(berth, body), "-o", "json", "-p", *words).json

    values = {name: each["value"] for name, each in made["properties"]["parameters"].items()}
    assert values == {"text": "007", "count": 3, "flag": True, "list": [1, 2], "object": {"a": 1}}
    assert "the parameter 'count' is of type int" in berth.fails(
        "deployment", "create", "-f", file_of(berth, body), "-p", *words, "count=many").err
    assert "the template has no parameter 'other'" in berth.fails(
        "deployment", "create", "-f", file_of(berth, body), "-p", *words, "other=1").err


def test_validate_show_export_cancel_and_delete(berth):
    file = file_of(berth, template(data("default/rows/1")))

    berth.ok("deployment", "group", "validate", "-g", "berth", "-f", file)
    assert "no deployment" in berth.fails("deployment", "show", "-n", "template", code=3).err
    berth.ok("deployment", "create", "-f", file, "--validate")
    berth.fails("data", "show", "-n", "rows", "-v", "1", code=3)

    berth.ok("deployment", "create", "-f", file)
    assert berth.ok("deployment", "group", "export", "-n", "template").json["contentVersion"] == "1.0.0.0"
    listed = berth.ok("deployment", "operation", "group", "list", "-g", "berth", "-n", "template", "-o", "json").json
    assert listed[0]["properties"]["targetResource"]["id"].endswith("/data/rows/versions/1")
    assert "is over" in berth.fails("deployment", "cancel", "-n", "template").err
    berth.ok("deployment", "delete", "-n", "template")
    assert berth.ok("deployment", "list", "-o", "json").json == []
    berth.ok("data", "show", "-n", "rows", "-v", "1")


def test_resource_groups_as_az_has_them(berth):
    berth.ok("group", "create", "-n", "lab", "-l", "cellar", "--tags", "a=b")
    assert berth.ok("group", "show", "-n", "lab", "-o", "json").json["location"] == "cellar"
    assert berth.ok("group", "exists", "-n", "nowhere").out.strip() == "false"
    berth.ok("deployment", "create", "-g", "lab", "-f", file_of(berth, template(
        resource("", "team", location="[resourceGroup().location]"))))
    assert berth.ok("workspace", "show", "-n", "team", "-g", "lab", "-o", "json").json["location"] == "cellar"
    assert "nobody to ask" in berth.fails("group", "delete", "-n", "lab").err
    berth.ok("group", "delete", "-n", "lab", "-y")
    berth.fails("workspace", "show", "-n", "team", "-g", "lab", code=3)
    assert {each["name"] for each in berth.ok("group", "list", "-o", "json").json} == {"berth"}


@pytest.mark.parametrize("below", ["api/2.0/mlflow/experiments/search", "api/2.0/mlflow/metrics/get-history"])
def test_a_reference_to_what_is_no_resource_fails_the_deployment_and_not_the_server(berth, below):
    """Such an address answers later, and nobody waits inside: it once ended the server, and again at each restart."""
    berth.ensure_server()
    pid = berth.server_pid()
    address = f"/mlflow/v1.0{WORKSPACE}/{below}"
    body = template(data("default/rows/1"), outputs={"seen": {"type": "object", "value": f"[reference('{address}', '2024-04-01')]"}})
    begun = berth.request("PUT", f"{GROUP}/providers/Microsoft.Resources/deployments/d",
                          json.dumps({"properties": {"mode": "Incremental", "template": body}}).encode(), {"Content-Type": "application/json"})
    assert begun.status in (201, 400), begun

    if begun.status == 201:
        state = eventually(lambda: next((found for found in [deployment(berth, "d").json["properties"]]
                                         if found["provisioningState"] not in ("Accepted", "Running")), None), what="its end")
        assert state["provisioningState"] == "Failed"
        assert address in json.dumps(state["error"]), state
    assert berth.server_pid() == pid

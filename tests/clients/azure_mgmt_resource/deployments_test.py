# SPDX-License-Identifier: Apache-2.0
"""Azure's own client of deployments and resource groups, as it is on PyPI."""

import time

import pytest
from azure.core.credentials import AccessToken
from azure.core.exceptions import HttpResponseError, ResourceNotFoundError
from azure.mgmt.resource.deployments import DeploymentsMgmtClient
from azure.mgmt.resource.resources import ResourceManagementClient

SUBSCRIPTION = "00000000-0000-0000-0000-000000000000"
GROUP = "berth"
ML = "Microsoft.MachineLearningServices/workspaces"
SCHEMA = "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#"


class OwnersToken:
    def __init__(self, token):
        self.token = token

    def get_token(self, *scopes, **more):
        return AccessToken(self.token, int(time.time()) + 3600)

    def get_token_info(self, *scopes, **more):
        from azure.core.credentials import AccessTokenInfo
        return AccessTokenInfo(self.token, int(time.time()) + 3600)


def client_of(berth, kind):
    url = f"https://127.0.0.1:{berth.port()}"
    return kind(OwnersToken(berth.token()), SUBSCRIPTION, base_url=url, credential_scopes=[f"{url}/.default"],
                connection_verify=str(berth.authority()))


@pytest.fixture
def deployments(berth):
    berth.ensure_server()
    return client_of(berth, DeploymentsMgmtClient)


def template(*resources, **more):
    return {"$schema": SCHEMA, "contentVersion": "1.0.0.0", "resources": list(resources)} | more


def workspace(name, **more):
    return {"type": ML, "apiVersion": "2024-04-01", "name": name, "location": "here", "properties": {}} | more


def data(name, uri="https://example.org/a.csv", **more):
    return {"type": f"{ML}/data/versions", "apiVersion": "2024-04-01", "name": name,
            "properties": {"dataType": "uri_file", "dataUri": uri}} | more


def body(definition, mode="Incremental", **parameters):
    values = {name: {"value": value} for name, value in parameters.items()}
    return {"properties": {"mode": mode, "template": definition, "parameters": values}, "tags": {"by": "test"}}


def test_a_template_is_deployed_and_read_back(deployments, berth):
    definition = template(workspace("[parameters('name')]"), data("[concat(parameters('name'), '/rows/1')]"),
                          parameters={"name": {"type": "string"}, "key": {"type": "secureString"}},
                          outputs={"id": {"type": "string", "value": f"[resourceId('{ML}', parameters('name'))]"}})

    made = deployments.deployments.begin_create_or_update(
        GROUP, "first", body(definition, name="team", key="s3cret-word")).result()

    assert made.name == "first" and made.type == "Microsoft.Resources/deployments"
    assert made.tags == {"by": "test"}
    assert made.properties.provisioning_state == "Succeeded"
    assert made.properties.mode == "Incremental"
    assert made.properties.outputs["id"]["value"].endswith("/workspaces/team")
    assert made.properties.parameters["key"] == {"type": "secureString"}
    assert made.properties.correlation_id and made.properties.timestamp and made.properties.duration
    assert [each.id.rsplit("/", 1)[1] for each in made.properties.output_resources] == ["team", "1"]
    assert made.properties.providers[0].namespace == "Microsoft.MachineLearningServices"
    assert deployments.deployments.get(GROUP, "first").id == made.id
    assert berth.ok("workspace", "show", "-n", "team", "-o", "json").json["name"] == "team"

    operations = list(deployments.deployment_operations.list(GROUP, "first"))
    assert [each.properties.provisioning_state for each in operations] == ["Succeeded", "Succeeded"]
    assert operations[1].properties.target_resource.resource_type == f"{ML}/data/versions"
    one = deployments.deployment_operations.get(GROUP, "first", operations[0].operation_id)
    assert one.properties.status_code == "Created"
    assert deployments.deployments.export_template(GROUP, "first").template["contentVersion"] == "1.0.0.0"


def test_existence_list_and_delete(deployments):
    for name in ("a", "b"):
        deployments.deployments.begin_create_or_update(GROUP, name, body(template())).result()

    assert deployments.deployments.check_existence(GROUP, "a")
    assert not deployments.deployments.check_existence(GROUP, "c")
    assert [each.name for each in deployments.deployments.list_by_resource_group(GROUP)] == ["b", "a"]
    deployments.deployments.begin_delete(GROUP, "a").result()
    assert [each.name for each in deployments.deployments.list_by_resource_group(GROUP)] == ["b"]
    with pytest.raises(ResourceNotFoundError):
        deployments.deployments.get(GROUP, "a")


def test_a_failure_comes_with_its_details(deployments):
    definition = template(data("default/rows/1"), data("default/rows/2", "nonsense"))

    with pytest.raises(HttpResponseError) as failure:
        deployments.deployments.begin_create_or_update(GROUP, "half", body(definition)).result()

    assert failure.value.error.code == "DeploymentFailed"
    assert "properties.dataUri" in failure.value.error.details[0].message
    seen = deployments.deployments.get(GROUP, "half")
    assert seen.properties.provisioning_state == "Failed"
    assert seen.properties.error.details[0].target.endswith("/data/rows/versions/2")
    states = [each.properties for each in deployments.deployment_operations.list(GROUP, "half")]
    assert [each.provisioning_state for each in states] == ["Succeeded", "Failed"]
    assert states[1].status_message.error.message


def test_a_template_that_is_wrong_is_refused_at_once(deployments):
    unknown = template({"type": "Microsoft.Network/virtualNetworks", "apiVersion": "x", "name": "v"})

    with pytest.raises(HttpResponseError) as refused:
        deployments.deployments.begin_create_or_update(GROUP, "no", body(unknown))
    assert refused.value.error.code == "InvalidTemplate" and "virtualNetworks" in refused.value.message
    with pytest.raises(HttpResponseError) as invalid:
        deployments.deployments.begin_validate(GROUP, "no", body(unknown)).result()
    assert "virtualNetworks" in str(invalid.value)
    with pytest.raises(HttpResponseError) as complete:
        deployments.deployments.begin_create_or_update(GROUP, "no", body(template(), mode="Complete"))
    assert complete.value.status_code == 501
    assert not deployments.deployments.check_existence(GROUP, "no")


def test_validate_makes_nothing(deployments, berth):
    valid = deployments.deployments.begin_validate(GROUP, "v", body(template(workspace("team")))).result()

    assert valid.properties.validated_resources[0].id.endswith("/workspaces/team")
    assert not deployments.deployments.check_existence(GROUP, "v")
    assert [each["name"] for each in berth.ok("workspace", "list", "-o", "json").json] == ["default"]


def test_cancel(deployments):
    many = template(data("[format('default/rows/{0}', copyIndex(1))]", copy={"name": "c", "count": 800}))

    deployments.deployments.begin_create_or_update(GROUP, "long", body(many), polling=False)
    deployments.deployments.cancel(GROUP, "long")

    assert deployments.deployments.get(GROUP, "long").properties.provisioning_state == "Canceled"


def test_resource_groups(berth):
    berth.ensure_server()
    groups = client_of(berth, ResourceManagementClient).resource_groups

    made = groups.create_or_update("lab", {"location": "cellar", "tags": {"a": "b"}})

    assert (made.name, made.location, made.tags) == ("lab", "cellar", {"a": "b"})
    assert made.properties.provisioning_state == "Succeeded"
    assert groups.check_existence("lab") and not groups.check_existence("nowhere")
    assert {each.name for each in groups.list()} == {"berth", "lab"}
    groups.begin_delete("lab").result()
    with pytest.raises(ResourceNotFoundError):
        groups.get("lab")
    with pytest.raises(HttpResponseError) as refused:
        groups.begin_delete("berth")
    assert "delete them first" in refused.value.message

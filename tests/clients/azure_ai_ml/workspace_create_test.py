# SPDX-License-Identifier: Apache-2.0
"""workspaces.begin_create: the client sends a whole ARM template, follows it, and reads what came of it."""

import pytest
from azure.ai.ml.entities import AmlCompute, Data, Workspace
from azure.core.exceptions import HttpResponseError

from pointing import SUBSCRIPTION, make_client

GROUP = "/subscriptions/" + SUBSCRIPTION + "/resourceGroups/berth"


@pytest.fixture
def client_of(pointed):
    return lambda workspace=None: make_client(workspace)


def deployments_of(berth):
    return berth.request("GET", f"{GROUP}/providers/Microsoft.Resources/deployments").json["value"]


def test_a_workspace_is_made_and_can_be_used(berth, client_of):
    asked = Workspace(name="vision", location="cellar", display_name="Vision", description="cameras", tags={"team": "a"})

    made = client_of().workspaces.begin_create(asked).result()

    assert (made.name, made.location, made.display_name, made.description) == ("vision", "cellar", "Vision", "cameras")
    assert made.tags["team"] == "a" and made.tags["createdByToolkit"].startswith("sdk-v2-")
    assert made.id.endswith("/workspaces/vision") and made.discovery_url and made.mlflow_tracking_uri
    assert "vision" in {each.name for each in client_of().workspaces.list()}

    inside = client_of("vision")
    cluster = inside.compute.begin_create_or_update(AmlCompute(name="cpu", size="Standard_DS2_v2", max_instances=1)).result()
    assert cluster.provisioning_state == "Succeeded"
    rows = inside.data.create_or_update(Data(name="rows", version="1", path="https://example.org/a.csv", type="uri_file"))
    assert rows.version == "1"


def test_what_azure_needs_beside_it_is_recorded_as_satisfied(berth, client_of):
    client_of().workspaces.begin_create(Workspace(name="vision", location="cellar")).result()

    deployment, = deployments_of(berth)
    assert deployment["properties"]["provisioningState"] == "Succeeded"
    operations = berth.request("GET", f"{GROUP}/deployments/{deployment['name']}/operations").json["value"]
    seen = {each["properties"]["targetResource"]["resourceType"].lower(): each["properties"] for each in operations}
    for kind in ("microsoft.storage/storageaccounts", "microsoft.keyvault/vaults", "microsoft.insights/components"):
        assert seen[kind]["statusMessage"] == {"status": "SatisfiedByBerth"}
    assert seen["microsoft.machinelearningservices/workspaces"]["statusCode"] == "Created"


def test_the_location_of_the_group_is_used_when_none_is_given(client_of):
    assert client_of().workspaces.begin_create(Workspace(name="vision")).result().location == "local"


def test_making_it_again_updates_it(berth, client_of):
    client_of().workspaces.begin_create(Workspace(name="vision", location="cellar", description="one")).result()
    again = client_of().workspaces.begin_create(Workspace(name="vision", location="cellar", description="two")).result()

    assert again.description == "two"
    assert len(deployments_of(berth)) == 1


def test_a_feature_store_is_refused_and_leaves_nothing(berth, client_of):
    """What Berth has not, the template asks for as other types: refused by name."""
    from azure.ai.ml.entities import FeatureStore

    with pytest.raises(HttpResponseError) as refused:
        client_of().feature_stores.begin_create(FeatureStore(name="features", location="cellar")).result()

    assert "Berth cannot make a" in str(refused.value)
    assert "features" not in {each.name for each in client_of().workspaces.list()}
    assert deployments_of(berth) == []

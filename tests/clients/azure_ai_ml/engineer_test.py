# SPDX-License-Identifier: Apache-2.0
"""A platform engineer's day: workspaces, clusters, sizes, usages, nodes."""

import pytest
from azure.ai.ml import command
from azure.ai.ml.entities import AmlCompute, ComputeInstance, KubernetesCompute
from azure.core.exceptions import HttpResponseError, ResourceExistsError, ResourceNotFoundError

from harness import WORKSPACE, eventually
from pointing import make_client


def cluster(name, **keys):
    keys = {"size": "Standard_DS1_v2", "min_instances": 0, "max_instances": 2, "idle_time_before_scale_down": 120} | keys
    return AmlCompute(name=name, **keys)


def field(of, name, wire):
    """Newer clients leave some fields under their names on the wire."""
    found = getattr(of, name, None)
    return vars(of).get(wire) if found is None else found


def test_a_workspace_is_got_listed_and_updated(ml):
    workspace = ml.workspaces.get("default")
    assert workspace.id == WORKSPACE and workspace.resource_group == "berth" and workspace.location
    assert workspace.mlflow_tracking_uri.startswith("https://127.0.0.1:")
    assert workspace.discovery_url.endswith("/discovery")
    assert [each.name for each in ml.workspaces.list()] == ["default"]
    assert [each.name for each in ml.workspaces.list(scope="subscription")] == ["default"]

    workspace.description, workspace.display_name, workspace.tags = "ours", "The lab", {"team": "a"}
    updated = ml.workspaces.begin_update(workspace).result()

    assert (updated.description, updated.display_name, updated.tags) == ("ours", "The lab", {"team": "a"})
    assert ml.workspaces.get("default").description == "ours"
    with pytest.raises(ResourceNotFoundError):
        ml.workspaces.get("nowhere")


def test_a_workspace_has_no_keys_to_give_away(ml):
    with pytest.raises(HttpResponseError) as caught:
        ml.workspaces.get_keys("default")
    assert caught.value.status_code == 501 and "listSecrets" in str(caught.value)
    ml.workspaces.begin_sync_keys("default").result()


def test_two_workspaces_do_not_see_each_other(ml, pointed):
    pointed.ok("workspace", "create", "-n", "team")
    team = make_client("team")
    team.compute.begin_create_or_update(cluster("theirs")).result()
    assert sorted(each.name for each in ml.workspaces.list()) == ["default", "team"]
    assert [each.name for each in team.compute.list()] == ["theirs"]
    assert [each.name for each in ml.compute.list()] == []
    team.compute.begin_delete("theirs").wait()
    ml.workspaces.begin_delete("team", delete_dependent_resources=False).result()
    assert [each.name for each in ml.workspaces.list()] == ["default"]


def test_the_life_of_a_cluster(ml):
    made = ml.compute.begin_create_or_update(cluster("pool", tags={"cost": "lab"})).result()
    assert (made.name, made.type, made.provisioning_state) == ("pool", "amlcompute", "Succeeded")
    assert made.id == f"{WORKSPACE}/computes/pool"

    got = ml.compute.get("pool")
    assert (got.size.lower(), got.min_instances, got.max_instances) == ("standard_ds1_v2", 0, 2)
    assert got.idle_time_before_scale_down == 120 and got.tier == "dedicated" and got.tags == {"cost": "lab"}
    assert [each.name for each in ml.compute.list()] == ["pool"]
    assert [each.name for each in ml.compute.list(compute_type="AmlCompute")] == ["pool"]
    assert list(ml.compute.list_nodes("pool")) == []

    got.max_instances, got.idle_time_before_scale_down = 3, 300
    ml.compute.begin_update(got).result()
    changed = ml.compute.get("pool")
    assert (changed.max_instances, changed.idle_time_before_scale_down) == (3, 300)

    ml.compute.begin_delete("pool").result()
    with pytest.raises(ResourceNotFoundError):
        ml.compute.get("pool")


def test_the_servers_own_machine_is_an_attached_one(ml):
    got = ml.compute.get("local")
    assert (got.name, got.type, got.provisioning_state) == ("local", "virtualmachine", "Succeeded")
    assert got.id == f"{WORKSPACE}/computes/local"
    with pytest.raises(ResourceExistsError):
        ml.compute.begin_delete("local").result()
    assert "local" not in [each.name for each in ml.compute.list()]


def test_nodes_of_a_cluster_are_listed_while_a_job_runs(ml, pointed):
    ml.compute.begin_create_or_update(cluster("pool")).result()
    job = ml.jobs.create_or_update(command(command="until [ -e go ]; do sleep 0.05; done", environment="azureml:none:1",
                                           compute="pool"))
    try:
        node = eventually(lambda: next(iter(ml.compute.list_nodes("pool")), None), what="a node")
        assert field(node, "node_id", "nodeId") and field(node, "node_state", "nodeState")
        eventually(lambda: field(next(iter(ml.compute.list_nodes("pool"))), "run_id", "runId") == job.name,
                   what="the node to have the job")
    finally:
        ml.jobs.begin_cancel(job.name).result()
        eventually(lambda: ml.jobs.get(job.name).status == "Canceled")


def test_sizes_and_usages(ml):
    sizes = {each.name.lower(): each for each in ml.compute.list_sizes()}
    small = sizes["standard_ds1_v2"]
    assert field(small, "v_cp_us", "vCPUs") == 1 and field(small, "memory_gb", "memoryGB") > 0
    usages = list(ml.compute.list_usage())
    assert usages
    for each in usages:
        name = each.name if isinstance(each.name, dict) else vars(each.name)
        assert name["value"] and each.limit >= 0 and field(each, "current_value", "currentValue") >= 0


def test_what_is_wrong_with_a_cluster_is_said(ml):
    for wrong, word in [({"size": "Standard_Nothing"}, "Standard_Nothing"), ({"min_instances": 3}, "min")]:
        with pytest.raises(HttpResponseError) as caught:
            ml.compute.begin_create_or_update(cluster("bad", **wrong)).result()
        assert caught.value.status_code == 400 and word in str(caught.value), caught.value
    assert [each.name for each in ml.compute.list()] == []


@pytest.mark.parametrize("compute", [
    ComputeInstance(name="mine", size="Standard_DS1_v2"),
    KubernetesCompute(name="k8s", resource_id="/subscriptions/x/resourceGroups/y/providers/z/a/b", namespace="ml"),
])
def test_targets_that_are_not_there_yet_are_refused_by_name(ml, compute):
    with pytest.raises(HttpResponseError) as caught:
        ml.compute.begin_create_or_update(compute).result()
    assert caught.value.status_code == 501 and "not supported" in str(caught.value)
    assert [each.name for each in ml.compute.list()] == []


def test_a_workspace_that_is_not_there_is_said(pointed):
    with pytest.raises(ResourceNotFoundError, match="nowhere"):
        list(make_client("nowhere").jobs.list())

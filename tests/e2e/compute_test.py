# SPDX-License-Identifier: Apache-2.0
"""Clusters as users and clients touch them: made, shown, changed, deleted, by command and by ARM."""

import json
import urllib.parse

import pytest

from harness import WORKSPACE, eventually

LOCATION = "/subscriptions/s/providers/Microsoft.MachineLearningServices/locations"
SMALL = "Standard_DS1_v2"


def body(inner=None, **outer):
    return outer | {"properties": {"computeType": "AmlCompute", "properties": inner or {}}}


def scale(**counts):
    return {"scaleSettings": counts}


def path(name, below=""):
    return f"{WORKSPACE}/computes/{name}{below}"


def follow(berth, answer, header="Azure-AsyncOperation"):
    """Where a header of an answer points to, asked as clients do."""
    parts = urllib.parse.urlsplit(answer.headers[header])
    return berth.request("GET", f"{parts.path}?{parts.query}")


def poll(berth, answer):
    """A long-running operation to its end."""
    def look():
        status = follow(berth, answer)
        assert status.status == 200 and status.headers["Retry-After"], status
        assert status.json["status"] in ("InProgress", "Succeeded"), status
        return status.json["status"] == "Succeeded"
    eventually(look, what="the end of the operation")


def remove(berth, name, action="Delete"):
    return berth.request("DELETE", path(name, f"?underlyingResourceAction={action}&api-version=2024-10-01"))


def gate(berth, name="gate"):
    """A command that runs until its gate is there, and what opens it."""
    file = berth.folder / name
    return f"until [ -e {file} ]; do sleep 0.05; done", file.touch


def counts(berth, name):
    return berth.get(f"/computes/{name}").json["properties"]["properties"]


def check_nothing_is_there(berth):
    assert berth.get("/computes").json == {"value": []}
    assert [site["name"] for site in berth.request("GET", "/berth/v1/sites").json["value"]] == ["local"]
    assert berth.request("GET", "/berth/v1/nodes").json == {"value": []}


# By command.


def test_made_by_flags_shown_changed_listed_and_deleted(berth):
    made = berth.ok("compute", "create", "-n", "Pool", "--type", "amlcompute", "--size", SMALL.lower(),
                    "--max-instances", "3", "--idle-time-before-scale-down", "60", "--tier", "low_priority",
                    "--tags", "team=a", "-o", "json").json
    assert (made["size"], made["tier"], made["max_instances"], made["min_instances"]) == (SMALL, "low_priority", 3, 0)
    assert made["idle_time_before_scale_down"] == 60 and made["type"] == "amlcompute"
    assert made["provisioning_state"] == "Succeeded" and made["current_node_count"] == 0

    berth.ok("compute", "update", "-n", "pool", "--max-instances", "5", "--set", "tags.more=b", "-o", "none")
    shown = berth.ok("compute", "show", "POOL", "-o", "json").json
    assert shown["max_instances"] == 5 and shown["tags"] == {"team": "a", "more": "b"}
    assert shown["idle_time_before_scale_down"] == 60 and shown["name"] == "Pool"
    assert berth.ok("compute", "list", "--query", "[].name", "-o", "tsv").out == "Pool\n"

    assert "-y" in berth.fails("compute", "delete", "-n", "pool").err
    berth.ok("compute", "delete", "-n", "pool", "-y")
    check_nothing_is_there(berth)
    assert "pool" in berth.fails("compute", "show", "pool", code=3).err


def test_made_by_a_file_and_shown_as_one(berth):
    file = berth.file("c.yml", f"type: amlcompute\nname: pool-a\nsize: {SMALL}\nmax_instances: 6\n"
                               "ssh_settings: {admin_username: me, admin_password: hunter2}\n")
    made = berth.ok("compute", "create", "-f", file, "--set", "max_instances=2", "-o", "json")
    assert made.json["max_instances"] == 2
    assert "admin_password" in made.err

    shown = berth.ok("compute", "show", "pool-a", "-o", "yaml").out
    assert "hunter2" not in shown
    berth.ok("compute", "create", "-f", berth.file("again.yml", shown), "-o", "none")
    assert b"hunter2" not in b"".join(part.read_bytes() for part in berth.home.glob("berth.db*"))


def test_a_mistake_in_a_file_is_pointed_at(berth):
    file = berth.file("c.yml", "type: amlcompute\nname: pool\nmax_instance: 6\n")
    assert "c.yml:3:1: 'max_instance' is not a key" in berth.fails("compute", "create", "-f", file).err
    file = berth.file("c.yml", "name: pool\ntype: computeinstance\n")
    assert "not supported yet" in berth.fails("compute", "create", "-f", file).err


def test_an_unknown_region_is_told_once(berth):
    words = ("compute", "create", "-n", "pool", "-l", "westeurope", "-o", "none")
    assert "westeurope" in berth.ok(*words).err
    assert berth.ok(*words).err == ""
    assert berth.ok("compute", "show", "pool", "--query", "location", "-o", "tsv").out == "westeurope\n"


def test_sizes_and_usages_are_listed(berth):
    sizes = berth.ok("compute", "list-sizes", "-o", "json").json
    assert {"name": SMALL, "v_cp_us": 1}.items() <= next(size for size in sizes if size["name"] == SMALL).items()
    berth.ok("compute", "create", "-n", "pool", "--size", SMALL, "--min-instances", "1", "-o", "none")
    usage = berth.ok("compute", "list-usage", "-o", "json").json
    assert usage[0]["current_value"] == 1
    berth.ok("compute", "delete", "-n", "pool", "-y")


def test_the_operators_sizes(berth):
    berth.home.mkdir()
    (berth.home / "sizes.yml").write_text("- {name: desk, cores: 1, memory: 1Gi, price_per_hour: 0.5}\n")
    berth.ok("compute", "create", "-n", "pool", "--size", "Desk", "-o", "none")
    assert berth.ok("compute", "show", "pool", "--query", "size", "-o", "tsv").out == "desk\n"


def test_a_broken_file_of_sizes_starts_no_server(berth):
    berth.home.mkdir()
    (berth.home / "sizes.yml").write_text("- {name: desk, cores: many, memory: 1Gi}\n")
    assert "sizes.yml:1:23" in berth.fails("compute", "list").err
    mine = berth.file("mine.yml", "desk\n")
    assert berth.fails("server", "--port", "0", "--sizes", mine).code == 1
    (berth.home / "sizes.yml").unlink()
    berth.ok("compute", "list")


def test_sites_by_command(berth):
    berth.ok("site", "add", "lab", "--provider", "slurm", "--partition", "main", "--nodes", "4", "--memory", "64Gi",
             "--time-limit", "1:00:00", "--option", "constraint=fast", "-o", "none")
    lab = berth.ok("site", "show", "lab", "-o", "json").json
    assert lab["capacity"] == {"nodes": 4, "cores": None, "memory_mib": 65536, "gpus": 0}
    assert lab["slurm"] == {"partition": "main", "time_limit_minutes": 60, "options": ["--constraint=fast"]}
    assert "exists" in berth.fails("site", "add", "lab", "--provider", "slurm").err
    berth.ok("site", "update", "lab", "--nodes", "none", "--cores", "8", "-o", "none")
    assert berth.ok("site", "show", "lab", "--query", "capacity.cores", "-o", "tsv").out == "8\n"

    berth.ok("compute", "create", "-n", "pool", "-l", "lab", "-o", "none")
    assert "'pool'" in berth.fails("site", "remove", "lab").err
    berth.ok("compute", "delete", "-n", "pool", "-y")
    berth.ok("site", "remove", "lab")
    assert "local" in berth.fails("site", "remove", "local").err
    check_nothing_is_there(berth)


def test_the_servers_own_machine_is_shown_and_stays(berth):
    shown = berth.ok("compute", "show", "-n", "local", "-o", "json").json
    assert (shown["name"], shown["type"], shown["provisioning_state"]) == ("local", "virtualmachine", "Succeeded")
    assert shown["slots"] >= 1 and "node_state_counts" not in shown
    assert berth.ok("compute", "show", "-n", "local", "--query", "slots", "-o", "tsv").out == f"{shown['slots']}\n"

    for refused in (berth.fails("compute", "update", "-n", "local", "--max-instances", "3"),
                    berth.fails("compute", "delete", "-n", "local", "-y")):
        assert "the server's own machine" in refused.err
    assert remove(berth, "local").status == 409
    assert berth.ok("compute", "list", "-o", "json").json == []
    assert berth.ok("run", "--on", "local", "--", "true")
    assert berth.ok("compute", "show", "-n", "local", "-o", "json").json == shown


# By ARM, as the official clients do.


def test_arm_operations_can_be_followed_to_their_ends(berth):
    made = berth.put("/computes/pool", body({"vmSize": SMALL} | scale(minNodeCount=1, maxNodeCount=2)))
    assert made.status == 201, made
    assert int(made.headers["Retry-After"]) > 0
    poll(berth, made)
    assert follow(berth, made, "Location").json["name"] == "pool"
    eventually(lambda: counts(berth, "pool")["allocationState"] == "Steady", what="the node")
    assert counts(berth, "pool")["currentNodeCount"] == 1

    patched = berth.request("PATCH", path("pool"), {"properties": {"properties": scale(maxNodeCount=3)}})
    assert patched.status == 200, patched
    poll(berth, patched)
    assert counts(berth, "pool")["scaleSettings"] == {
        "minNodeCount": 1, "maxNodeCount": 3, "nodeIdleTimeBeforeScaleDown": "PT2M"}

    going = remove(berth, "pool")
    assert going.status == 202, going
    poll(berth, going)
    assert follow(berth, going, "Location").status == 204
    assert berth.get("/computes/pool").status == 404
    assert remove(berth, "pool").status == 204
    check_nothing_is_there(berth)


def test_enum_values_and_paths_in_any_case(berth):
    text = json.dumps(body({"vmSize": SMALL.upper(), "vmPriority": "lowPRIORITY"})).replace("AmlCompute", "AMLCOMPUTE")
    made = berth.request("PUT", path("Pool").replace("computes", "COMPUTES"), json.loads(text))
    assert made.status == 201, made
    assert made.json["properties"]["computeType"] == "AmlCompute"
    assert berth.get("/computes/POOL").json["properties"]["properties"]["vmPriority"] == "LowPriority"


def test_what_only_instances_can_do_is_refused(berth):
    berth.put("/computes/pool", body())
    for verb in ("start", "stop", "restart", "listKeys"):
        answer = berth.post(f"/computes/pool/{verb}")
        assert answer.status == 400 and "pool" in answer.json["error"]["message"], answer


def test_locations_have_sizes_usages_and_quotas(berth):
    for what in ("vmSizes", "usages", "quotas"):
        answer = berth.request("GET", f"{LOCATION}/westeurope/{what}?api-version=2022-10-01")
        assert answer.status == 200 and answer.json["value"], answer
    quotas = {"value": [{"id": "TotalNodes", "limit": 3}]}
    answer = berth.request("POST", f"{LOCATION}/westeurope/updateQuotas", quotas)
    assert answer.status == 200 and answer.json["value"][0]["status"] == "Success", answer
    assert berth.ok("site", "show", "local", "-o", "json").json["capacity"]["nodes"] == 3


# Bad input.


@pytest.mark.parametrize("name", ["ab", "x" * 25, "1abc", "a_b", "abc-", "pool-7", "local", "Serverless"])
def test_names_that_break_the_rule(berth, name):
    answer = berth.put(f"/computes/{name}", body())
    assert answer.status == 400 and answer.json["error"]["target"] == "name", answer
    assert berth.fails("compute", "create", "-n", name).err
    check_nothing_is_there(berth)


@pytest.mark.parametrize("inner, word", [
    (scale(minNodeCount=5, maxNodeCount=4), "max_instances"), (scale(minNodeCount=-1), "min_instances"),
    (scale(maxNodeCount=-1, minNodeCount=-2), "instances"), (scale(maxNodeCount=10**6), "max_instances"),
    (scale(maxNodeCount=10**30), "maxNodeCount"), (scale(maxNodeCount=1.5), "maxNodeCount"),
    (scale(maxNodeCount="4"), "maxNodeCount"), (scale(nodeIdleTimeBeforeScaleDown="-PT5S"), "dle"),
    (scale(nodeIdleTimeBeforeScaleDown="P9999D"), "idle"), (scale(nodeIdleTimeBeforeScaleDown=5), "dle"),
    ({"vmSize": "Standard_Nothing"}, "list-sizes"), ({"vmSize": 5}, "vmSize"), ({"vmSize": "x" * 9000}, "size"),
    ({"vmPriority": "Spot"}, "tier"), ({"vmPriority": 1}, "vmPriority"), ({"vmSize": "Standard_ND96asr_v4"}, "GPU"),
    ({"scaleSettings": []}, "scaleSettings"), ({"osType": "Plan9"}, "osType"),
], ids=str)
def test_a_body_with_rubbish_is_400_and_leaves_nothing(berth, inner, word):
    answer = berth.put("/computes/pool", body(inner))
    assert answer.status == 400 and word in answer.json["error"]["message"], answer
    check_nothing_is_there(berth)


@pytest.mark.parametrize("sent", [b"", b"{", b"[]", b"{}", b'{"properties":5}', b'{"properties":{}}',
                                  b'{"location":"a\\nb","properties":{"computeType":"AmlCompute"}}',
                                  b'{"tags":[],"properties":{"computeType":"AmlCompute"}}'])
def test_a_broken_body_is_400_and_leaves_nothing(berth, sent):
    for method in ("PUT", "PATCH"):
        answer = berth.request(method, path("pool"), sent, {"Content-Type": "application/json"})
        assert answer.status == (400 if method == "PUT" else 404), answer
    check_nothing_is_there(berth)


@pytest.mark.parametrize("kind", ["ComputeInstance", "Kubernetes", "VirtualMachine", "AKS", "Databricks"])
def test_other_types_say_that_they_are_not_supported(berth, kind):
    answer = berth.put("/computes/pool", {"properties": {"computeType": kind}})
    assert answer.status == 501 and kind in answer.json["error"]["message"], answer


def test_immutable_fields(berth):
    berth.ok("compute", "create", "-n", "pool", "--size", SMALL, "-o", "none")
    for words, present in ((("--size", "Standard_DS2_v2"), SMALL), (("--tier", "low_priority"), "dedicated"),
                           (("-l", "mars"), "local")):
        failed = berth.fails("compute", "create", "-n", "pool", *words)
        assert "cannot be changed" in failed.err and present in failed.err, failed
    assert berth.fails("compute", "update", "-n", "pool", "--set", "size=Standard_DS2_v2").code == 1
    shown = berth.ok("compute", "show", "pool", "-o", "json").json
    assert (shown["size"], shown["tier"], shown["location"]) == (SMALL, "dedicated", "local")


@pytest.mark.parametrize("sent, target", [
    ({}, "provider"), ({"provider": "cloud"}, "provider"), ({"provider": 5}, "provider"),
    ({"provider": "slurm", "capacity": {"nodes": 0}}, "capacity.nodes"),
    ({"provider": "slurm", "capacity": {"cores": -4}}, "capacity.cores"),
    ({"provider": "slurm", "capacity": {"memory_mib": 10**18}}, "capacity.memory_mib"),
    ({"provider": "slurm", "capacity": {"gpus": -1}}, "capacity.gpus"),
    ({"provider": "slurm", "server_url": "javascript:x"}, "server_url"),
    ({"provider": "slurm", "slurm": {"time_limit_minutes": -5}}, "slurm.time_limit_minutes"),
    ({"provider": "slurm", "slurm": {"options": "--x"}}, "slurm.options"),
    ({"provider": "slurm", "slurm": {"partition": "main\n#SBATCH --wrap=id"}}, "slurm.partition"),
    ({"provider": "slurm", "slurm": {"account": "--wrap=id"}}, "slurm.account"),
    ({"provider": "slurm", "slurm": {"options": ["--wrap=id"]}}, "slurm.options"),
    ({"provider": "slurm", "slurm": {"config": "etc/slurm.conf"}}, "slurm.config"),
    ({"provider": "slurm", "nodes": 4}, "nodes"), ({"provider": "local", "slurm": {"partition": "x"}}, "slurm"),
], ids=str)
def test_a_site_with_rubbish_is_refused(berth, sent, target):
    answer = berth.request("PUT", "/berth/v1/sites/lab", sent)
    assert answer.status == 400 and answer.json["error"]["target"] == target, answer
    check_nothing_is_there(berth)


def test_jobs_for_clusters_that_cannot_be(berth):
    berth.ok("compute", "create", "-n", "pool", "--max-instances", "2", "--size", SMALL, "-o", "none")
    failed = berth.fails("run", "--no-code", "--on", "pool", "--instances", "3", "--", "true")
    assert "at most 2" in failed.err, failed
    failed = berth.fails("run", "--no-code", "--on", "elsewhere", "--", "true")
    assert "local, pool" in failed.err, failed
    assert berth.ok("job", "list", "-o", "json").json == []


# While there is work.


def test_show_and_list_nodes_tell_the_truth(berth):
    berth.ok("compute", "create", "-n", "pool", "--size", SMALL, "--max-instances", "2", "-d", "1", "-o", "none")
    command, open_gate = gate(berth)

    berth.submit(command, "j", compute="azureml:pool")
    berth.wait("j", "Running")
    eventually(lambda: counts(berth, "pool")["allocationState"] == "Steady", what="Steady")
    now = counts(berth, "pool")
    assert (now["currentNodeCount"], now["targetNodeCount"]) == (1, 1)
    assert now["nodeStateCounts"]["runningNodeCount"] == 1
    nodes = berth.ok("compute", "list-nodes", "-n", "pool", "-o", "json").json
    assert [(node["node_state"], node["current_job_name"]) for node in nodes] == [("running", "j")]
    listed = berth.ok("node", "list", "-o", "json").json
    assert [(node["name"], node["compute"], node["job"]) for node in listed] == [(nodes[0]["node_id"], "pool", "j")]

    open_gate()
    berth.wait("j", "Completed")
    eventually(lambda: berth.post("/computes/pool/listNodes").json["nodes"] == [], what="the end of the node")
    now = counts(berth, "pool")
    assert (now["currentNodeCount"], now["targetNodeCount"], sum(now["nodeStateCounts"].values())) == (0, 0, 0)
    assert berth.node_pids() == []
    usage = berth.request("GET", f"/berth/v1{WORKSPACE}/usage").json["value"]
    assert {(record["compute"], record["node"], record["job"]) for record in usage} == {
        ("pool", nodes[0]["node_id"], None), ("pool", nodes[0]["node_id"], "j")}
    assert all(record["seconds"] > 0 and record["price_per_hour"] > 0 for record in usage)


def test_deleting_with_work_is_refused_or_cancels_it(berth):
    berth.ok("compute", "create", "-n", "pool", "--size", SMALL, "--max-instances", "1", "-o", "none")
    command, _ = gate(berth)
    berth.submit(command, "first", compute="pool")
    berth.wait("first", "Running")
    berth.submit("true", "second", compute="pool")

    assert remove(berth, "pool", "Detach").status == 409
    assert "'first'" in berth.fails("compute", "delete", "-n", "pool", "-y", "--if-idle").err
    assert berth.get_job("first")["properties"]["status"] == "Running"

    berth.ok("compute", "delete", "-n", "pool", "-y")
    for name in ("first", "second"):
        assert berth.get_job(name)["properties"]["status"] == "Canceled"
    check_nothing_is_there(berth)
    assert berth.node_pids() == []


def test_a_node_preempted_by_hand_gives_its_job_back(berth):
    berth.ok("compute", "create", "-n", "pool", "--size", SMALL, "--max-instances", "1", "-d", "1", "-o", "none")
    command, open_gate = gate(berth)
    berth.submit(command, "j", compute="pool")
    berth.wait("j", "Running")
    first = berth.ok("node", "list", "--query", "[0].name", "-o", "tsv").out.strip()

    berth.ok("node", "preempt", first)

    eventually(lambda: berth.get_job("j")["properties"]["attempt"] == 2, what="the second attempt")
    berth.wait("j", "Running")
    nodes = berth.post("/computes/pool/listNodes").json["nodes"]
    assert [node["runId"] for node in nodes if node["nodeState"] == "running"] == ["j"]
    assert first not in [node["nodeId"] for node in nodes if node["nodeState"] == "running"]
    open_gate()
    berth.wait("j", "Completed")
    assert "nobody" in berth.fails("node", "preempt", "nobody", code=3).err


def test_run_on_a_cluster(berth):
    berth.ok("compute", "create", "-n", "pool", "--size", SMALL, "-d", "1", "-o", "none")
    assert berth.ok("run", "--no-code", "--on", "pool", "--", "echo", "hi").out == "hi\n"

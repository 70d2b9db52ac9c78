# SPDX-License-Identifier: Apache-2.0
"""Room comes back: jobs that are deleted, rules that delete them, sweeps, and what all of it takes."""

import contextlib
import json
import os

import pytest

from auth_test import add
from disk_test import fill, small
from harness import WORKSPACE, eventually, kill

__all__ = ["small"]
PUT = {"x-ms-blob-type": "BlockBlob"}
MIB = 1 << 20


def objects(berth):
    """Their sizes. A sweep may take one away while it is looked at."""
    sizes = {}
    for path in (berth.home / "objects").iterdir():
        with contextlib.suppress(FileNotFoundError):
            sizes[path.name] = path.stat().st_size
    return sizes


def sweep(berth, *words):
    return berth.ok("storage", "sweep", *words, "-o", "json").json


def run_job(berth, name, command="echo hello", **keys):
    berth.submit(command, name, **keys)
    berth.wait(name)


def write_random(size, where):
    return f"head -c {size} /dev/urandom > {where}"


def names(berth):
    return {job["name"] for job in berth.get("/jobs").json["value"]}


def audit(berth):
    return berth.ok("audit", "list", "-o", "json", "--all-results").json


def test_a_deleted_job_gives_its_room_back_and_the_others_keep_theirs(berth):
    run_job(berth, "big", f"echo same log; {write_random(MIB, 'outputs/x')}")
    run_job(berth, "twin", "echo same log")
    before = sum(objects(berth).values())

    said = berth.ok("job", "delete", "--name", "big", "-o", "json")

    assert [job["name"] for job in said.json] == ["big"] and said.json[0]["bytes"] >= MIB
    assert names(berth) == {"twin"}
    assert berth.get("/jobs/big").status == 404
    sweep(berth)
    assert sum(objects(berth).values()) <= before - MIB
    assert berth.log("twin") == b"same log\n", "its log is the object that the deleted job had too"


def test_the_room_comes_back_without_being_asked_for(berth):
    run_job(berth, "big", f"{write_random(MIB, 'outputs/x')}")
    berth.ok("job", "delete", "big")

    eventually(lambda: sum(objects(berth).values()) < MIB, what="the sweep after a deletion")


def test_the_run_goes_with_its_job(berth):
    run_job(berth, "train")
    root = f"/mlflow/v1.0{WORKSPACE}/api/2.0/mlflow"
    logged = berth.request("POST", f"{root}/runs/log-metric",
                           {"run_id": "train", "key": "loss", "value": 1.5, "timestamp": 1, "step": 0})
    assert logged.status == 200, logged

    berth.ok("job", "delete", "train")

    assert berth.request("GET", f"{root}/runs/get?run_id=train").status == 404
    run_job(berth, "train", "echo again")
    found = berth.request("GET", f"{root}/runs/get?run_id=train").json["run"]
    assert "metrics" not in found["data"] or not found["data"]["metrics"]
    assert berth.log("train") == b"again\n", "the name is free again, and brings nothing back"


def test_a_job_that_is_not_over_is_refused_by_name_and_the_others_go(berth):
    gate = berth.folder / "gate"
    run_job(berth, "over")
    berth.submit(f"until [ -e {gate} ]; do sleep 0.05; done", "live")
    berth.wait("live", "Running")

    refused = berth.fails("job", "delete", "over", "live", "nobody", "-o", "json")

    assert "job 'live' is not over (Running)" in refused.err and "'nobody'" in refused.err
    assert [job["name"] for job in refused.json] == ["over"]
    assert berth.request("DELETE", f"{WORKSPACE}/jobs/live?api-version=2024-10-01").status == 409
    assert names(berth) == {"live"}
    berth.ok("job", "delete", "live", "--cancel")
    assert names(berth) == set()


def test_what_a_live_job_reads_is_not_deleted(berth):
    gate = berth.folder / "gate"
    run_job(berth, "maker", "echo 1 > ${{outputs.out}}/x", outputs={"out": {"type": "uri_folder"}})
    berth.submit(f"until [ -e {gate} ]; do sleep 0.05; done", "reader",
                 inputs={"in": {"type": "uri_folder", "path": "azureml://jobs/maker/outputs/out/paths/"}})

    assert "job 'reader' still reads what job 'maker' left" in berth.fails("job", "delete", "maker").err
    gate.touch()
    berth.wait("reader", "Completed")
    berth.ok("job", "delete", "maker")


@pytest.mark.parametrize("words, gone", [
    (["--status", "Failed"], {"bad"}),
    (["--status", "failed,completed"], {"good", "bad", "tagged"}),
    (["--tag", "sweep"], {"tagged"}),
    (["--tag", "sweep=a"], {"tagged"}),
    (["--tag", "sweep=b"], set()),
    (["--experiment", "other"], {"tagged"}),
    (["--older-than", "1h"], set()),
    (["--all"], {"good", "bad", "tagged"}),
    (["good", "bad", "--status", "Completed"], {"good"}),
])
def test_many_go_at_once(berth, words, gone):
    run_job(berth, "good")
    run_job(berth, "bad", "exit 3")
    run_job(berth, "tagged", tags={"sweep": "a"}, experiment_name="other")

    would = berth.ok("job", "delete", *words, "--dry-run", "-o", "json")
    assert {job["name"] for job in would.json} == gone and f"would delete {len(gone)} " in would.err
    assert names(berth) == {"good", "bad", "tagged"}
    berth.ok("job", "delete", *words, "--yes")
    assert names(berth) == {"good", "bad", "tagged"} - gone


def test_many_at_once_need_a_yes_where_nobody_can_be_asked(berth):
    run_job(berth, "a")
    assert "-y" in berth.fails("job", "delete", "--all").err
    assert names(berth) == {"a"}


@pytest.mark.parametrize("words", [[], ["--yes"], ["--older-than", "soon"], ["--older-than"], ["--nonsense"]])
def test_wrong_words(berth, words):
    berth.ensure_server()
    assert berth.run("job", "delete", *words).code in (1, 2)


def test_a_registered_model_keeps_its_files_when_its_job_goes(berth):
    command = write_random(MIB, "${{outputs.model}}/w") + "; echo z > ${{outputs.rest}}/z"
    run_job(berth, "train", command, outputs={"model": {"type": "uri_folder"}, "rest": {"type": "uri_folder"}})
    berth.ok("data", "create", "-n", "kept", "-v", "1", "-t", "uri_folder", "-p",
             "azureml://datastores/workspaceblobstore/paths/azureml/train/model/")

    would = berth.ok("job", "delete", "train", "--dry-run", "-o", "json").json[0]
    assert would["kept_bytes"] >= MIB and would["kept_by"] == ["data 'kept' version '1'"]
    berth.ok("job", "delete", "train")
    sweep(berth)

    place = berth.container()
    assert len(berth.blob("GET", "azureml/train/model/w", container=place).body) == MIB
    assert berth.blob("GET", "azureml/train/rest/z", container=place).status == 404


def test_a_registered_output_can_be_used_when_its_job_is_gone(berth):
    run_job(berth, "train", "echo 42 > ${{outputs.rows}}/x",
            outputs={"rows": {"type": "uri_folder", "name": "rows", "version": "1"}})
    berth.ok("job", "delete", "train")
    sweep(berth)

    run_job(berth, "use", "cat ${{inputs.rows}}/x", inputs={"rows": {"type": "uri_folder", "path": "azureml:rows:1"}})
    assert berth.log("use") == b"42\n"


def test_deletions_are_in_the_audit_log(berth):
    run_job(berth, "a")
    berth.ok("job", "delete", "a")

    line = audit(berth)[-1]
    assert (line["who"], line["method"]) == ("owner", "DELETE") and line["target"].endswith("/jobs/a")


def test_rules_delete_what_is_over_and_leave_what_is_kept(berth):
    run_job(berth, "bad", "exit 1")
    run_job(berth, "good", f"{write_random(MIB, 'outputs/x')}")
    run_job(berth, "kept", "exit 1", tags={"berth.keep": "yes"})
    shown = berth.ok("storage", "retention", "show", "-o", "json").json
    assert shown == {"keep_jobs": "forever", "keep_failed": "forever", "keep_logs": "forever"}

    rules = berth.ok("storage", "retention", "set", "--keep-failed", "1s", "-o", "json").json
    assert rules["keep_failed"] == "1s"
    eventually(lambda: names(berth) == {"good", "kept"}, what="the end of the failed job")
    assert audit(berth)[-1]["who"] == "retention"

    berth.ok("storage", "retention", "set", "--keep-logs", "1s", "--keep-failed", "forever")
    eventually(lambda: berth.live_log("good") == b"", what="the end of the log")
    artifacts = berth.container("workspaceartifactstore")
    assert berth.blob("HEAD", "ExperimentRun/dcid.good/outputs/x", container=artifacts).status == 200
    assert names(berth) == {"good", "kept"}
    berth.ok("storage", "retention", "set", "--keep-jobs", "1s")
    eventually(lambda: names(berth) == {"kept"}, what="the end of the good job")
    assert "PT1S" in json.dumps(berth.ok("workspace", "show", "-o", "json").json["retention"])


def test_rules_survive_the_server_and_a_change_of_the_workspace(berth):
    berth.ok("storage", "retention", "set", "--keep-jobs", "90d")
    kill(berth.server_pid())
    berth.ok("workspace", "update", "-n", "default", "--description", "ours")
    assert berth.ok("storage", "retention", "show", "-o", "json").json["keep_jobs"] == "90d"


@pytest.mark.parametrize("words", [[], ["--keep-jobs", "0d"], ["--keep-jobs", "90"], ["--keep-logs", "x"]])
def test_rules_that_are_none(berth, words):
    berth.ensure_server()
    assert berth.run("storage", "retention", "set", *words).code in (1, 2)


def test_a_dry_run_takes_nothing_away(berth):
    run_job(berth, "big", f"{write_random(MIB, 'outputs/x')}")
    (berth.home / "sweep.off").touch()
    berth.ok("job", "delete", "big")
    held = sweep(berth)
    assert held["held"] and held["objects"] == 0 and sum(objects(berth).values()) >= MIB
    (berth.home / "sweep.off").unlink()
    # The server sweeps by itself when it finds the time; whichever is first counts all of it.
    told = sweep(berth, "--dry-run")
    assert told["dry_run"] and (told["bytes"] >= MIB or sum(objects(berth).values()) < MIB)


def test_a_file_that_is_replaced_or_removed_gives_its_room_back(berth):
    berth.ensure_server()
    place = berth.container()
    for content in (os.urandom(MIB), os.urandom(MIB), b"small"):
        assert berth.blob("PUT", "a", content, PUT, container=place).status == 201
    assert berth.blob("PUT", "b", os.urandom(MIB), PUT, container=place).status == 201
    assert berth.blob("DELETE", "b", container=place).status == 202

    assert sweep(berth)["bytes"] >= 3 * MIB
    assert list(objects(berth).values()) == [5]
    assert berth.blob("GET", "a", container=place).body == b"small"
    assert sweep(berth)["objects"] == 0


def test_blocks_of_an_upload_under_way_are_not_swept(berth):
    berth.ensure_server()
    place = berth.container()
    assert berth.blob("PUT", "a", b"part", PUT, "comp=block&blockid=YQ==", container=place).status == 201
    sweep(berth)
    order = b"<BlockList><Latest>YQ==</Latest></BlockList>"
    assert berth.blob("PUT", "a", order, PUT, "comp=blocklist", container=place).status == 201
    sweep(berth)
    assert berth.blob("GET", "a", container=place).body == b"part"


def test_objects_that_a_crash_left_are_swept(berth):
    berth.ensure_server()
    (berth.home / "objects" / ("0" * 64)).write_bytes(b"left")
    half = berth.home / "objects" / "half-written"
    half.write_bytes(b"left")
    os.utime(half, (0, 0))
    young = berth.home / "objects" / "being-written"
    young.write_bytes(b"x")

    report = sweep(berth)

    assert report["objects"] == 1 and report["leftovers"] == 1
    assert set(objects(berth)) == {"being-written"}


def test_a_deleted_workspace_gives_its_room_back(berth):
    berth.ok("workspace", "create", "-n", "team")
    berth.file("rows/x", "r" * MIB)
    berth.ok("data", "create", "-n", "rows", "-t", "uri_folder", "-p", "rows", "-w", "team")
    assert sum(objects(berth).values()) >= MIB
    berth.ok("workspace", "delete", "-n", "team", "--yes")
    sweep(berth)
    assert not objects(berth)


def test_show_tells_what_takes_how_much(berth):
    command = "echo log; " + write_random(MIB, "outputs/x") + "; cp outputs/x ${{outputs.out}}/x"
    run_job(berth, "a", command, outputs={"out": {"type": "uri_folder"}})
    berth.file("rows/x", "r" * 1000)
    berth.ok("data", "create", "-n", "rows", "-t", "uri_folder", "-p", "rows")

    report = berth.ok("storage", "show", "-o", "json").json

    kinds = {line["kind"]: line for line in report["workspaces"][0]["kinds"]}
    assert kinds["logs"]["bytes"] == 4 and kinds["data"] == {"kind": "data", "files": 1, "bytes": 1000}
    assert kinds["run artifacts"]["bytes"] == MIB and kinds["outputs"]["bytes"] == MIB
    assert report["objects"]["saved_by_sharing_bytes"] >= MIB, "the same content is stored once"
    assert report["objects"]["bytes"] == sum(objects(berth).values())
    assert report["database"]["bytes"] > 0 and report["disk"]["free_bytes"] > 0
    table = berth.ok("storage", "show", "-o", "table").out
    assert "outputs" in table and "database" in table and "1.0 MiB" in table
    mine = berth.ok("storage", "show", "-w", "default", "-o", "json").json
    assert "database" not in mine and mine["workspaces"] == report["workspaces"]


def test_who_may_do_what(berth):
    run_job(berth, "a")
    tokens = {"Reader": add(berth, "ana", "Reader", "-w", "default"),
              "AzureML Data Scientist": add(berth, "ben", "AzureML Data Scientist", "-w", "default")}

    def status(role, method, path, body=None):
        return berth.request(method, path, body, token=tokens[role]).status

    for role in tokens:
        assert status(role, "GET", "/berth/v1/storage") == 403
        assert status(role, "GET", f"/berth/v1{WORKSPACE}/storage") == 200
        assert status(role, "POST", "/berth/v1/storage/sweep", {}) == 403
        assert status(role, "PATCH", f"/berth/v1{WORKSPACE}/storage/retention", {"keepJobsSeconds": 1}) == 403
    assert status("Reader", "DELETE", f"{WORKSPACE}/jobs/a?api-version=2024-10-01") == 403
    assert status("AzureML Data Scientist", "DELETE", f"{WORKSPACE}/jobs/a?api-version=2024-10-01") == 204


def test_very_many_files_go_in_small_commits(berth):
    count = int(os.environ.get("BERTH_TEST_FILES", "1200"))
    run_job(berth, "many", f"for i in $(seq {count}); do echo $i > outputs/$i; done")
    assert berth.ok("job", "delete", "many", "--dry-run", "-o", "json").json[0]["files"] == count + 1
    berth.ok("job", "delete", "many")
    sweep(berth)
    assert not objects(berth)


def test_a_full_disk_is_made_room_on_by_deleting(small):
    small.ensure_server()
    small.submit(f"{write_random(4 * MIB, 'outputs/x')}", "big")
    small.wait("big")
    fill(small)

    eventually(lambda: small.run("job", "delete", "big").code == 0, what="a delete on a full disk")
    eventually(lambda: sum(objects(small).values()) < MIB, what="room")
    small.ok("job", "list", "-o", "none")
    (small.home / "filler").unlink()
    run_job(small, "next")

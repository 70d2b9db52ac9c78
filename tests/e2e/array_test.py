# SPDX-License-Identifier: Apache-2.0
"""Jobs that are made of other jobs: `berth run --array`, and the children of a job."""

from harness import WORKSPACE, eventually, kill


def statuses(berth, *words):
    return {job["name"]: job["status"] for job in berth.ok("job", "list", "-o", "json", *words).json}


def test_each_index_is_a_job_of_its_own(berth):
    berth.ok("run", "--name", "a", "--array", "3-6%2", "--no-code", "--", "echo index $BERTH_ARRAY_INDEX")

    assert statuses(berth, "-p", "a") == {f"a_{index}": "Completed" for index in (3, 4, 5, 6)}
    assert berth.log("a_5") == b"index 5\n"
    parent = berth.show("a")
    assert parent["status"] == "Completed"
    assert parent["properties"]["berth.array"] == "3-6%2"
    assert berth.show("a_3")["parent_job_name"] == "a"


def test_a_child_that_fails_fails_the_array_in_the_end(berth):
    outcome = berth.run("run", "--name", "a", "--array", "1-3", "--no-code", "--", "test $BERTH_ARRAY_INDEX != 2")

    assert outcome.code == 1
    assert "of its 3 jobs 1 failed" in outcome.err
    assert statuses(berth, "-p", "a") == {"a_1": "Completed", "a_2": "Failed", "a_3": "Completed"}


def test_a_cancel_ends_the_children_too(berth):
    berth.ok("run", "--name", "a", "--array", "1-9%1", "--no-code", "--detach", "--", "sleep 600")
    eventually(lambda: statuses(berth, "-p", "a").get("a_1") == "Running")

    berth.ok("job", "cancel", "-n", "a")

    eventually(lambda: berth.show("a")["status"] == "Canceled")
    assert statuses(berth, "-p", "a") == {"a_1": "Canceled"}


def test_an_array_goes_on_after_the_server_was_killed(berth):
    gate = berth.folder.parent / "gate"
    wait = f"[ $BERTH_ARRAY_INDEX != 1 ] || until [ -e '{gate}' ]; do sleep 0.05; done"
    berth.ok("run", "--name", "a", "--array", "1-3%1", "--no-code", "--detach", "--", wait)
    eventually(lambda: statuses(berth, "-p", "a").get("a_1") == "Running")

    kill(berth.server_pid())
    gate.touch()

    eventually(lambda: berth.show("a")["status"] == "Completed")
    assert statuses(berth, "-p", "a") == {f"a_{index}": "Completed" for index in (1, 2, 3)}


def test_what_is_no_range_is_wrong_usage(berth):
    outcome = berth.run("run", "--array", "5-x", "--no-code", "--", "true")
    assert outcome.code == 2
    assert "5-x" in outcome.err


def test_children_of_any_job_are_listed(berth):
    berth.ok("run", "--name", "p", "--no-code", "--", "true")
    berth.file("child.yml", "command: 'true'\nparent_job_name: p\n")
    berth.ok("job", "create", "-f", "child.yml", "-n", "c")

    assert set(statuses(berth, "-p", "p")) == {"c"}
    assert statuses(berth, "-p", "c") == {}
    history = berth.request("GET", f"/history/v1.0{WORKSPACE}/runs/p/children").json
    assert [run["runId"] for run in history["value"]] == ["c"]
    assert history["value"][0]["parentRunId"] == "p"
    run = berth.request("GET", f"/mlflow/v1.0{WORKSPACE}/api/2.0/mlflow/runs/get?run_id=c").json["run"]
    assert {"key": "mlflow.parentRunId", "value": "p"} in run["data"]["tags"]


def test_children_are_listed_in_pages(berth):
    berth.ok("run", "--name", "a", "--array", "1-5", "--no-code", "--", "true")

    path, seen = f"/history/v1.0{WORKSPACE}/runs/a/children?$top=2", []
    while path:
        page = berth.request("GET", path).json
        seen.append([run["runId"] for run in page["value"]])
        path = page.get("nextLink", "").partition(f":{berth.port()}")[2]
    assert seen == [["a_5", "a_4"], ["a_3", "a_2"], ["a_1"]]

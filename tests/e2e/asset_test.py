# SPDX-License-Identifier: Apache-2.0
"""Data, environments and workspaces."""

import pytest

from harness import WORKSPACE


def test_data_gets_the_next_version_when_none_is_given(berth):
    berth.file("rows.csv", "1")

    made = [berth.ok("data", "create", "--name", "rows", "--path", "rows.csv", "--type", "uri_file", "-o", "json").json
            for _ in range(3)]

    assert [asset["version"] for asset in made] == ["1", "2", "3"]
    assert berth.ok("data", "show", "--name", "rows", "--label", "latest", "-o", "json").json["version"] == "3"
    assert {asset["version"] for asset in berth.ok("data", "list", "--name", "rows", "-o", "json").json} == {"1", "2", "3"}
    assert [asset["name"] for asset in berth.ok("data", "list", "-o", "json").json] == ["rows"]


def test_a_version_cannot_be_changed(berth):
    berth.file("a.csv", "1")
    berth.file("b.csv", "2")
    words = ("data", "create", "--name", "rows", "--version", "1", "--type", "uri_file", "--path")
    berth.ok(*words, "a.csv")
    berth.ok(*words, "a.csv")

    outcome = berth.fails(*words, "b.csv")

    assert "rows" in outcome.err


def test_data_from_a_file(berth):
    berth.file("folder/x.txt", "x")
    berth.file("data.yml", "name: d\nversion: 5\ntype: uri_folder\npath: folder\ndescription: words\ntags: {a: b}\n")

    shown = berth.ok("data", "create", "-f", "data.yml", "-o", "json").json

    assert shown["name"] == "d" and shown["version"] == "5" and shown["tags"] == {"a": "b"}
    assert shown["path"].startswith("azureml://")


def test_data_archive_and_restore(berth):
    berth.file("rows.csv", "1")
    berth.ok("data", "create", "--name", "rows", "--version", "1", "--path", "rows.csv", "--type", "uri_file")

    def listed():
        return [asset["name"] for asset in berth.ok("data", "list", "-o", "json").json]

    berth.ok("data", "archive", "--name", "rows")
    assert listed() == []
    berth.ok("data", "restore", "--name", "rows")
    assert listed() == ["rows"]


@pytest.mark.parametrize("text, word", [
    ("nam: d\npath: x\n", "did you mean 'name'?"),
    ("name: d\npath: not-there\n", "not-there"),
    ("name: d\ntype: uri_fold\npath: .\n", "uri_fold"),
    ("name: ../d\npath: .\n", "../d"),
])
def test_mistakes_in_a_data_file(berth, text, word):
    outcome = berth.fails("data", "create", "-f", berth.file("data.yml", text))

    assert word in outcome.err, outcome


def test_environments(berth):
    berth.file("env.yml", "name: e\nversion: '1'\nimage: debian:12\nconda_file: conda.yml\n")
    berth.file("conda.yml", "dependencies: [python=3.11]\n")

    shown = berth.ok("environment", "create", "-f", "env.yml", "-o", "json").json

    assert shown["name"] == "e" and shown["image"] == "debian:12"
    assert "python" in str(shown["conda_file"])
    assert berth.ok("environment", "show", "--name", "e", "--version", "1", "-o", "json").json["version"] == "1"
    berth.submit("true", "j", environment="azureml:e:1")
    assert berth.wait("j", "Completed")["properties"]["environmentId"] == "azureml:e:1"
    berth.ok("environment", "archive", "--name", "e", "--version", "1")
    berth.ok("environment", "restore", "--name", "e", "--version", "1")


def test_workspaces_keep_their_jobs_apart(berth):
    berth.ok("workspace", "create", "--name", "blue")
    berth.ok("run", "--name", "j", "--", "true")

    assert berth.ok("job", "list", "--workspace-name", "blue", "-o", "json").json == []
    assert berth.run("job", "show", "--name", "j", "-w", "blue").code in (1, 3)
    berth.ok("job", "create", "-f", berth.job_file("echo blue"), "--name", "j", "-w", "blue", "--stream")
    names = [workspace["name"] for workspace in berth.ok("workspace", "list", "-o", "json").json]
    assert sorted(names) == ["blue", "default"]


def test_a_deleted_workspace_takes_everything_with_it(berth):
    berth.ok("workspace", "create", "--name", "blue")
    berth.ok("job", "create", "-f", berth.job_file("true"), "--name", "j", "-w", "blue", "--stream")

    berth.ok("workspace", "delete", "--name", "blue", "--yes")

    assert berth.run("workspace", "show", "--name", "blue").code in (1, 3)
    berth.ok("workspace", "create", "--name", "blue")
    assert berth.ok("job", "list", "-w", "blue", "-o", "json").json == []


def test_the_workspace_resource_has_what_clients_dereference(berth):
    berth.ensure_server()
    workspace = berth.get("").json

    assert workspace["id"].lower() == WORKSPACE.lower()
    assert workspace["type"] == "Microsoft.MachineLearningServices/workspaces"
    assert workspace["properties"]["discoveryUrl"].startswith("http")
    assert workspace["properties"]["workspaceId"] and workspace["location"]


def test_code_is_found_again_by_its_hash(berth):
    berth.file("src/a.py", "print(1)\n")
    for name in ("one", "two"):
        berth.submit("python3 a.py", name, code="src")
        berth.wait(name, "Completed")

    first, second = (berth.get_job(name)["properties"]["codeId"] for name in ("one", "two"))
    assert first == second

# SPDX-License-Identifier: Apache-2.0
"""berth model: registering, showing, changing and fetching models."""

import pytest


def create(berth, *words):
    return berth.ok("model", "create", *words, "-o", "json").json


def test_a_model_gets_the_next_version_when_none_is_given(berth):
    berth.file("m/weights.bin", "1")

    made = [create(berth, "-n", "ranker", "-p", "m") for _ in range(3)]

    assert [model["version"] for model in made] == ["1", "2", "3"]
    assert made[0]["type"] == "custom_model" and made[0]["path"].startswith("azureml://")
    listed = berth.ok("model", "list", "-n", "ranker", "-o", "json").json
    assert [model["version"] for model in listed] == ["3", "2", "1"]
    assert berth.ok("model", "list", "--query", "[].latest_version", "-o", "tsv").out == "3\n"
    assert berth.ok("model", "show", "-n", "ranker", "--label", "latest", "-o", "json").json["version"] == "3"


def test_a_model_from_a_file_with_everything_in_it(berth):
    berth.file("m/MLmodel", "flavors: {}")
    berth.file("model.yml", "$schema: x\nname: ranker\nversion: 5\ntype: mlflow_model\npath: m\nstage: Staging\n"
                            "description: words\ntags: {a: b}\nproperties: {c: d}\nflavors: {sklearn: {e: f}}\n")

    shown = create(berth, "-f", "model.yml", "--set", "tags.g=h")

    assert (shown["name"], shown["version"], shown["type"]) == ("ranker", "5", "mlflow_model")
    assert shown["tags"] == {"a": "b", "g": "h"} and shown["properties"] == {"c": "d"}
    assert shown["stage"] == "Staging" and shown["description"] == "words" and shown["flavors"] == {"sklearn": {"e": "f"}}
    assert berth.ok("model", "show", "-n", "ranker", "-v", "5", "-o", "json").json == shown


def test_a_version_never_changes_but_what_is_said_about_it_may(berth):
    berth.file("a.bin", "1")
    berth.file("b.bin", "2")
    words = ("-n", "ranker", "-v", "1", "-p")
    create(berth, *words, "a.bin")
    create(berth, *words, "a.bin")

    assert "exists with other content" in berth.fails("model", "create", *words, "b.bin").err
    assert "exists with other content" in berth.fails("model", "create", *words, "a.bin", "-t", "triton_model").err
    changed = berth.ok("model", "update", "-n", "ranker", "-v", "1", "--stage", "Production", "--set",
                       "description=good", "tags.a=b", "-o", "json").json
    assert (changed["stage"], changed["description"], changed["tags"]) == ("Production", "good", {"a": "b"})
    assert "'path' cannot be changed" in berth.fails("model", "update", "-n", "ranker", "-v", "1", "--set", "path=b.bin").err
    assert berth.ok("model", "show", "-n", "ranker", "-v", "1", "-o", "json").json == changed


def test_archive_and_restore(berth):
    berth.file("a.bin", "1")
    create(berth, "-n", "ranker", "-p", "a.bin")
    create(berth, "-n", "ranker", "-p", "a.bin")

    def versions(*words):
        return [model["version"] for model in berth.ok("model", "list", "-n", "ranker", *words, "-o", "json").json]

    berth.ok("model", "archive", "-n", "ranker", "-v", "1")
    assert versions() == ["2"] and versions("--include-archived") == ["2", "1"] and versions("--archived-only") == ["1"]
    berth.ok("model", "archive", "-n", "ranker")
    assert berth.ok("model", "list", "-o", "json").json == []
    berth.ok("model", "restore", "-n", "ranker")
    berth.ok("model", "restore", "-n", "ranker", "-v", "1")
    assert versions() == ["2", "1"]


def test_download_brings_back_what_was_registered(berth):
    berth.file("model/a.txt", "a")
    berth.file("model/deep/b.txt", "b")
    berth.file("one.bin", "bytes")
    create(berth, "-n", "folder", "-p", "model")
    create(berth, "-n", "file", "-p", "one.bin")

    outcome = berth.ok("model", "download", "-n", "folder", "-v", "1", "-p", "here")
    berth.ok("model", "download", "-n", "file", "-v", "1")

    assert outcome.out == "" and "downloaded 2 files" in outcome.err
    assert (berth.folder / "here/folder/model/a.txt").read_text() == "a"
    assert (berth.folder / "here/folder/model/deep/b.txt").read_text() == "b"
    assert (berth.folder / "file/one.bin").read_text() == "bytes"


def test_a_model_out_of_a_jobs_outputs(berth):
    berth.submit("echo w > ${{outputs.fitted}}/w.txt; mkdir outputs; echo v > outputs/v.txt", "train",
                 outputs={"fitted": {"type": "custom_model"}})
    berth.wait("train", "Completed")

    named = create(berth, "-n", "ranker", "-p", "azureml://jobs/train/outputs/fitted")
    file = create(berth, "-n", "ranker", "-p", "azureml://jobs/train/outputs/artifacts/paths/outputs/v.txt")
    run = create(berth, "-n", "ranker", "-p", "runs:/train/outputs")

    assert [model["job_name"] for model in (named, file, run)] == ["train"] * 3
    for version, name, text in (("1", "fitted/w.txt", "w\n"), ("2", "v.txt", "v\n"), ("3", "outputs/v.txt", "v\n")):
        berth.ok("model", "download", "-n", "ranker", "-v", version, "-p", version)
        assert (berth.folder / version / "ranker" / name).read_text() == text
    assert "no job 'none'" in berth.fails("model", "create", "-n", "x", "-p", "azureml://jobs/none/outputs/o").err
    assert "no output 'none'" in berth.fails("model", "create", "-n", "x", "-p", "azureml://jobs/train/outputs/none").err


def test_a_job_takes_a_model_as_its_input(berth):
    berth.file("model/w.txt", "weights")
    create(berth, "-n", "ranker", "-p", "model")

    for name, reference in (("by-version", "azureml:ranker:1"), ("by-label", "azureml:ranker@latest")):
        berth.submit("cat ${{inputs.m}}/w.txt", name, inputs={"m": {"type": "custom_model", "path": reference}})
        berth.wait(name, "Completed")
        assert b"weights" in berth.log(name)


def test_an_mlflow_model_without_its_file_is_refused(berth):
    berth.file("m/weights.bin", "1")

    outcome = berth.fails("model", "create", "-n", "ranker", "-p", "m", "-t", "mlflow_model")

    assert "no file MLmodel" in outcome.err
    assert berth.ok("model", "list", "-o", "json").json == []


@pytest.mark.parametrize("words, code, said", [
    (("create", "-p", "m.bin"), 2, "needs a name"),
    (("create", "-n", "x"), 1, "needs a 'path'"),
    (("create", "-n", "x", "-p", "not-there"), 1, "not-there"),
    (("create", "-n", "x", "-p", "m.bin", "-t", "onnx"), 1, "onnx"),
    (("create", "-n", "../x", "-p", "m.bin"), 1, "../x"),
    (("create", "-n", "x", "-p", "azureml:other:1"), 1, "another asset"),
    (("show", "-n", "x"), 3, "no model 'x'"),
    (("show", "-n", "x", "-v", "1"), 3, "no version '1' of 'x'"),
    (("show", "-n", "x", "-l", "champion"), 3, "x"),
    (("download", "-n", "x", "-v", "1"), 3, "no version '1' of 'x'"),
    (("share", "-n", "x", "-v", "1", "--registry-name", "r"), 1, "not supported"),
    (("package", "-n", "x", "-v", "1"), 1, "not supported"),
    (("create", "--wrong"), 2, "--wrong"),
])
def test_what_is_wrong_is_said(berth, words, code, said):
    berth.file("m.bin", "1")
    outcome = berth.fails("model", *words, code=code)
    assert said in outcome.err and outcome.out == ""

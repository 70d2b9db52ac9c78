# SPDX-License-Identifier: Apache-2.0
"""Artifacts through the server."""

import os
import pathlib

import mlflow
import pytest

from harness import WORKSPACE


def listed(client, run, path=None):
    return {file.path: file.is_dir or file.file_size for file in client.list_artifacts(run, path)}


def test_files_of_all_kinds(tracking, tmp_path):
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    folder = tmp_path / "tree"
    (folder / "below" / "deeper").mkdir(parents=True)
    (folder / "top.txt").write_text("top")
    (folder / "below" / "deeper" / "leaf ü.bin").write_bytes(bytes(range(256)) * 100)
    (folder / "empty").write_bytes(b"")
    figure, axes = pyplot.subplots()
    axes.plot([1, 2], [3, 4])
    with mlflow.start_run() as run:
        mlflow.log_text("hello\n", "notes/hello.txt")
        mlflow.log_dict({"a": [1, 2]}, "data.json")
        mlflow.log_dict({"a": [1, 2]}, "data.yaml")
        mlflow.log_figure(figure, "plots/figure.png")
        mlflow.log_artifact(folder / "top.txt")
        mlflow.log_artifacts(folder, "tree")
    id = run.info.run_id
    assert set(listed(tracking, id)) == {"data.json", "data.yaml", "notes", "plots", "top.txt", "tree"}
    assert listed(tracking, id)["notes"] is True and listed(tracking, id)["top.txt"] == 3
    assert listed(tracking, id, "tree") == {"tree/below": True, "tree/empty": 0, "tree/top.txt": 3}
    assert listed(tracking, id, "tree/below/deeper") == {"tree/below/deeper/leaf ü.bin": 25600}
    assert listed(tracking, id, "no such folder") == {}
    assert mlflow.artifacts.load_text(f"runs:/{id}/notes/hello.txt") == "hello\n"
    assert mlflow.artifacts.load_dict(f"runs:/{id}/data.json") == {"a": [1, 2]}
    assert pathlib.Path(tracking.download_artifacts(id, "plots/figure.png")).read_bytes().startswith(b"\x89PNG")
    there = pathlib.Path(mlflow.artifacts.download_artifacts(run_id=id, artifact_path="tree", dst_path=str(tmp_path / "d")))
    assert {str(path.relative_to(there)): path.read_bytes() for path in there.rglob("*") if path.is_file()} == \
        {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with pytest.raises(Exception, match="no artifact|not found|404|Failed to download|does not exist"):
        mlflow.artifacts.download_artifacts(run_id=id, artifact_path="no/such.txt")


def test_an_artifact_is_replaced(tracking):
    with mlflow.start_run() as run:
        mlflow.log_text("before", "x.txt")
        mlflow.log_text("after it", "x.txt")
    assert mlflow.artifacts.load_text(f"runs:/{run.info.run_id}/x.txt") == "after it"
    assert listed(tracking, run.info.run_id) == {"x.txt": 8}


def test_large_files_arrive_whole(tracking, tmp_path):
    large = tmp_path / "large.bin"
    large.write_bytes(os.urandom(32 << 20))
    with mlflow.start_run() as run:
        mlflow.log_artifact(large)
    there = mlflow.artifacts.download_artifacts(run_id=run.info.run_id, artifact_path="large.bin",
                                                dst_path=str(tmp_path / "d"))
    assert pathlib.Path(there).read_bytes() == large.read_bytes()


def test_many_small_files(tracking, tmp_path):
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(1100):
        (folder / f"{number:04}").write_text(str(number))
    run = tracking.create_run("0").info.run_id
    tracking.log_artifacts(run, folder, "many")
    tracking.log_text(run, "x", "other/x.txt")
    assert len(listed(tracking, run, "many")) == 1100
    assert listed(tracking, run) == {"many": True, "other": True}


def test_what_was_half_sent_is_not_there(berth, tracking):
    run = tracking.create_run("0").info.run_id
    path = f"/mlflow/v1.0{WORKSPACE}/api/2.0/mlflow-artifacts/artifacts/ExperimentRun/dcid.{run}/half.bin"
    with berth.raw() as connection:
        connection.sendall(f"PUT {path} HTTP/1.1\r\nHost: {berth.host()}\r\nAuthorization: Bearer {berth.token()}\r\n"
                           f"Content-Length: 1000\r\n\r\n{'x' * 500}".encode())
    assert listed(tracking, run) == {}
    assert berth.request("GET", path).status == 404


def test_paths_stay_where_they_belong(berth, tracking):
    run = tracking.create_run("0").info.run_id
    root = f"/mlflow/v1.0{WORKSPACE}/api/2.0/mlflow-artifacts/artifacts"
    for path in ("../x", "a/../../x", "%2e%2e/x", "a/%2e%2e%2fx", "/etc/passwd", "a//b", "a/./b", "a%00b", "a\\b"):
        answer = berth.request("PUT", f"{root}/{path}", b"x")
        assert answer.status == 400 and answer.json["error_code"] == "INVALID_PARAMETER_VALUE", (path, answer)
    for path in ("..", "../..", "a/../..", "a/%2e%2e"):
        answer = berth.request("GET", f"{root}?path={path}")
        assert answer.status == 400 and answer.json["error_code"] == "INVALID_PARAMETER_VALUE", (path, answer)
    with pytest.raises(Exception, match="has a '..' in it"):
        tracking.list_artifacts(run, "../up")


def test_artifacts_are_deleted(berth, tracking):
    with mlflow.start_run() as run:
        mlflow.log_text("x", "a/b/x.txt")
        mlflow.log_text("y", "a/y.txt")
        mlflow.log_text("z", "ab.txt")
    from mlflow.store.artifact.artifact_repository_registry import get_artifact_repository

    repository = get_artifact_repository(run.info.artifact_uri)
    repository.delete_artifacts("a")
    assert listed(tracking, run.info.run_id) == {"ab.txt": 1}
    assert berth.request("DELETE", f"/mlflow/v1.0{WORKSPACE}/api/2.0/mlflow-artifacts/artifacts/no/such").status == 404


def test_a_client_that_wants_to_send_parts_sends_the_whole(tracking, tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_ENABLE_PROXY_MULTIPART_UPLOAD", "true")
    monkeypatch.setenv("MLFLOW_MULTIPART_UPLOAD_MINIMUM_FILE_SIZE", "1")
    large = tmp_path / "large.bin"
    large.write_bytes(os.urandom(6 << 20))
    with mlflow.start_run() as run:
        mlflow.log_artifact(str(large))
    assert listed(tracking, run.info.run_id) == {"large.bin": 6 << 20}

# SPDX-License-Identifier: Apache-2.0
"""The signatures that protect stored bytes, tried with Azure's own storage client."""

import os
import re

import pytest
from azure.ai.ml.entities import Data
from azure.core.exceptions import ClientAuthenticationError, HttpResponseError, ResourceExistsError, ResourceNotFoundError
from azure.storage.blob import BlobBlock, ContainerClient

from faults import Faults
from harness import WORKSPACE
from pointing import make_client, point


def address(ml, store="workspaceblobstore"):
    """The container's address as the client makes it of what it is told, and its signature."""
    datastore = ml.datastores.get(store)
    url = f"https://{datastore.account_name}.blob.berth/{datastore.container_name}"
    return url, ml.datastores._list_secrets(store, expirable_secret=True).sas_token


def container(url, token):
    return ContainerClient.from_container_url(f"{url}?{token}", retry_total=0, connection_verify=os.environ["REQUESTS_CA_BUNDLE"])


@pytest.fixture
def store(ml):
    url, token = address(ml)
    with container(url, token) as opened:
        opened.upload_blob("a/b.txt", b"hello", metadata={"Colour": "blue"})
        yield opened, url, token


def refused(url, token, blob="a/b.txt"):
    """Every way in is closed: reading, writing, listing, removing."""
    with container(url, token) as opened:
        for action in (lambda: opened.download_blob(blob).readall(), lambda: opened.upload_blob("new.txt", b"x"),
                       lambda: list(opened.list_blobs()), lambda: opened.delete_blob(blob)):
            with pytest.raises((ClientAuthenticationError, HttpResponseError)) as caught:
                action()
            assert caught.value.status_code == 403, caught.value


def test_what_is_stored_comes_back(store):
    opened, _, _ = store
    blob = opened.get_blob_client("a/b.txt")
    assert blob.download_blob().readall() == b"hello"
    assert blob.download_blob(offset=1, length=3).readall() == b"ell"
    properties = blob.get_blob_properties()
    assert properties.size == 5 and properties.metadata == {"Colour": "blue"}
    assert [each.name for each in opened.list_blobs(name_starts_with="a/")] == ["a/b.txt"]
    with pytest.raises(ResourceExistsError):
        opened.upload_blob("a/b.txt", b"other")
    opened.delete_blob("a/b.txt")
    with pytest.raises(ResourceNotFoundError):
        blob.download_blob()


def test_no_signature_is_refused(store):
    refused(store[1], "x=1")


@pytest.mark.parametrize("part, by", [("sig=[^&]+", "sig=AAAA"), ("sp=[^&]+", "sp=r"), ("se=20", "se=30"),
                                      ("sr=c", "sr=b"), ("sv=[^&]+", "sv=2020-01-01"), ("spr=[^&]+", "spr=http")])
def test_a_changed_signature_is_refused(store, part, by):
    _, url, token = store
    changed = re.sub(part, by, token)
    assert changed != token
    refused(url, changed)


def test_a_signature_is_for_one_container(ml, store):
    artifacts, other = address(ml, "workspaceartifactstore")
    refused(artifacts, store[2])
    refused(store[1], other)


def test_a_signature_is_for_one_workspace(ml, pointed, store):
    pointed.ok("workspace", "create", "-n", "team")
    url, token = address(make_client("team"))
    refused(store[1], token)
    refused(url, store[2])


def test_an_expired_signature_and_an_expired_identity_are_refused(berth, monkeypatch, tmp_path):
    faults = Faults(tmp_path)
    berth.start_server(env=faults.environment)
    point(berth, monkeypatch, tmp_path)
    ml = make_client()
    url, token = address(ml)
    with container(url, token) as opened:
        opened.upload_blob("a/b.txt", b"hello")
        faults.clock_offset = 3601
        refused(url, token)
        with pytest.raises(ClientAuthenticationError):  # By its own clock the client holds a good one.
            list(ml.jobs.list())
        faults.clock_offset = 0
        assert opened.download_blob("a/b.txt").readall() == b"hello"
        assert list(ml.jobs.list()) == []


def test_an_upload_that_stops_half_way_is_not_seen(ml, store, pointed, monkeypatch, tmp_path):
    opened, _, _ = store
    blob = opened.get_blob_client("big.bin")
    blob.stage_block("MDAwMQ==", b"half of it")
    assert [each.name for each in opened.list_blobs()] == ["a/b.txt"]
    with pytest.raises(ResourceNotFoundError):
        blob.download_blob()
    blob.commit_block_list([BlobBlock("MDAwMQ==")])
    assert blob.download_blob().readall() == b"half of it"

    from azure.storage.blob import BlobClient
    rows = tmp_path / "rows"
    rows.mkdir()
    (rows / "0.csv").write_text("0")
    upload = BlobClient.upload_blob

    def dies(self, *words, **keys):  # The bytes are there, and the client never says that they are complete.
        upload(self, *words, **keys)
        raise KeyboardInterrupt

    monkeypatch.setattr(BlobClient, "upload_blob", dies)
    with pytest.raises(BaseException):
        ml.data.create_or_update(Data(name="rows", path=str(rows), type="uri_folder"))
    monkeypatch.setattr(BlobClient, "upload_blob", upload)
    assert list(ml.data.list()) == []
    made = ml.data.create_or_update(Data(name="rows", path=str(rows), type="uri_folder"))
    path = made.path.split("/paths/")[1].rstrip("/") + "/"
    assert sorted(each.name for each in opened.list_blobs(name_starts_with=path)) == [f"{path}0.csv"]


def test_code_that_was_not_uploaded_is_no_code(pointed, ml):
    answer = pointed.request("POST", f"{WORKSPACE}/codes/c/versions/1/startPendingUpload?api-version=2023-04-01",
                             {"pendingUploadType": "TemporaryBlobReference"})
    assert answer.status == 200, answer
    uri = answer.json["blobReferenceForConsumption"]["blobUri"]
    put = pointed.request("PUT", f"{WORKSPACE}/codes/c/versions/1?api-version=2023-04-01",
                          {"properties": {"codeUri": uri + "/nothing"}})
    assert put.status == 400 and put.json["error"]["target"] == "properties.codeUri"
    assert pointed.request("GET", f"{WORKSPACE}/codes/c/versions/1?api-version=2023-04-01").status == 404

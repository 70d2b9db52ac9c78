# SPDX-License-Identifier: Apache-2.0
"""The part of the blob protocol that uploads and downloads need, and its signed URLs."""

import base64
import datetime
import hashlib
import hmac
import os
import re
import urllib.parse
import xml.etree.ElementTree

import pytest

from harness import WORKSPACE

PUT = {"x-ms-blob-type": "BlockBlob", "x-ms-version": "2021-08-06"}


@pytest.fixture
def served(berth):
    berth.ensure_server()
    return berth


def names_of(answer):
    assert answer.status == 200, answer
    return [name.text for name in xml.etree.ElementTree.fromstring(answer.body).iter("Name")]


def test_put_get_head(served):
    content = os.urandom(300_000)

    answer = served.blob("PUT", "a/b.bin", content, PUT | {"Content-Type": "text/plain"})

    assert answer.status == 201, answer
    assert answer.headers["ETag"] and answer.headers["Last-Modified"]
    got = served.blob("GET", "a/b.bin")
    assert got.status == 200 and got.body == content
    assert got.headers["Content-Type"] == "text/plain"
    assert base64.b64decode(got.headers["Content-MD5"]) == hashlib.md5(content).digest()
    head = served.blob("HEAD", "a/b.bin")
    assert head.status == 200 and head.headers["Content-Length"] == "300000" and head.body == b""
    assert head.headers["x-ms-blob-type"] == "BlockBlob"


@pytest.mark.parametrize("header", ["Range", "x-ms-range"])
@pytest.mark.parametrize("asked, start, end", [("bytes=0-9", 0, 10), ("bytes=5-", 5, 100), ("bytes=90-500", 90, 100)])
def test_ranges(served, header, asked, start, end):
    content = bytes(range(100))
    served.blob("PUT", "r", content, PUT)

    got = served.blob("GET", "r", headers={header: asked})

    assert got.status == 206, got
    assert got.body == content[start:end]
    assert got.headers["Content-Range"] == f"bytes {start}-{end - 1}/100"


def test_a_range_past_the_end_is_416(served):
    served.blob("PUT", "r", b"x" * 10, PUT)

    assert served.blob("GET", "r", headers={"Range": "bytes=10-20"}).status == 416


def test_blocks_become_a_blob_in_the_order_of_the_list(served):
    parts = [os.urandom(1000), os.urandom(50_000), os.urandom(7)]
    ids = [base64.b64encode(f"block-{number:04}".encode()).decode() for number in range(3)]
    for name, part in zip(ids, parts):
        query = f"comp=block&blockid={urllib.parse.quote(name)}"
        assert served.blob("PUT", "big", part, PUT, query).status == 201
    assert served.blob("HEAD", "big").status == 404

    order = [2, 0, 1]
    body = "<?xml version='1.0'?><BlockList>" + "".join(f"<Latest>{ids[i]}</Latest>" for i in order) + "</BlockList>"
    assert served.blob("PUT", "big", body.encode(), PUT, "comp=blocklist").status == 201

    assert served.blob("GET", "big").body == b"".join(parts[i] for i in order)
    crossing = served.blob("GET", "big", headers={"Range": "bytes=0-20"})
    assert crossing.body == (parts[2] + parts[0])[:21]


def test_a_block_list_with_an_unknown_block_is_refused(served):
    name = base64.b64encode(b"never").decode()

    answer = served.blob("PUT", "big", f"<BlockList><Latest>{name}</Latest></BlockList>".encode(), PUT, "comp=blocklist")

    assert answer.status == 400, answer
    assert served.blob("HEAD", "big").status == 404


@pytest.mark.parametrize("body", [b"", b"<BlockList>", b"<x/>", b"not xml",
                                  b'<!DOCTYPE l [<!ENTITY a "aaaa">]><BlockList><Latest>&a;</Latest></BlockList>'])
def test_a_broken_block_list_is_400(served, body):
    assert served.blob("PUT", "big", body, PUT, "comp=blocklist").status == 400


def test_metadata_is_kept_and_listed(served):
    served.blob("PUT", "m", b"x", PUT | {"x-ms-meta-upload_status": "started"})

    assert served.blob("PUT", "m", b"", {"x-ms-meta-upload_status": "completed", "x-ms-meta-name": "n"},
                       "comp=metadata").status == 200

    head = served.blob("HEAD", "m")
    assert head.headers["x-ms-meta-upload_status"] == "completed" and head.headers["x-ms-meta-name"] == "n"


def test_if_none_match_does_not_overwrite(served):
    once = PUT | {"If-None-Match": "*"}
    assert served.blob("PUT", "o", b"first", once).status == 201

    again = served.blob("PUT", "o", b"second", once)

    assert again.status == 409, again
    assert again.headers["x-ms-error-code"] == "BlobAlreadyExists"
    assert served.blob("GET", "o").body == b"first"


def test_what_is_not_there_is_404_with_azures_code(served):
    for method in ("GET", "HEAD"):
        answer = served.blob(method, "nothing")
        assert answer.status == 404 and answer.headers["x-ms-error-code"] == "BlobNotFound"


def test_a_wrong_md5_is_refused(served):
    wrong = base64.b64encode(hashlib.md5(b"other").digest()).decode()

    assert served.blob("PUT", "sum", b"this", PUT | {"Content-MD5": wrong}).status == 400
    assert served.blob("HEAD", "sum").status == 404


def test_list_by_prefix_in_pages(served):
    container = served.container()
    for number in range(12):
        assert served.blob("PUT", f"l/x{number:02}", b"", PUT, container=container).status == 201
    served.blob("PUT", "other", b"", PUT, container=container)

    def page(query):
        place, signature = container
        return served.request("GET", f"{place}?restype=container&comp=list&{query}&{signature}", token=False)

    assert names_of(page("prefix=l/")) == [f"l/x{number:02}" for number in range(12)]
    first = page("prefix=l/&maxresults=5")
    marker = xml.etree.ElementTree.fromstring(first.body).findtext("NextMarker")
    assert len(names_of(first)) == 5 and marker
    rest = page(f"prefix=l/&marker={urllib.parse.quote(marker)}")
    assert names_of(first) + names_of(rest) == [f"l/x{number:02}" for number in range(12)]


def test_names_with_unusual_characters(served):
    for name in ("sp ace", "ünï", "a+b", "100%", "q?x", "h#x", "a&b=c", "(x)'", "tab;", "a:b@c"):
        quoted = urllib.parse.quote(f"odd/{name}")
        assert served.blob("PUT", quoted, name.encode(), PUT).status == 201, name
        assert served.blob("GET", quoted).body == name.encode()


def test_the_same_content_twice_is_stored_once(served):
    content = os.urandom((1 << 20) + 7)  # As long as nothing else there.
    for name in ("one", "two"):
        served.blob("PUT", name, content, PUT)

    objects = served.home / "objects"
    large = [path for path in objects.rglob("*") if path.is_file() and path.stat().st_size == len(content)]
    assert len(large) == 1
    assert hashlib.sha256(large[0].read_bytes()).hexdigest() in str(large[0]).replace("/", "")


def test_overwriting_replaces_the_whole_blob(served):
    served.blob("PUT", "v", b"long content", PUT)
    served.blob("PUT", "v", b"short", PUT)

    assert served.blob("GET", "v").body == b"short"


# Signed URLs.

def test_without_a_signature_nothing_is_given(served):
    served.blob("PUT", "s", b"secret", PUT)

    for signature in ("", "sig=x", "sv=2021&sr=c&sp=racwdl&se=2099-01-01T00:00:00Z&sig=AAAA"):
        for method in ("GET", "HEAD", "PUT", "DELETE"):
            answer = served.blob(method, "s", b"" if method == "PUT" else None, PUT, sas=signature)
            assert answer.status in (401, 403), (signature, method, answer)
            assert b"secret" not in answer.body


def test_a_signature_with_one_thing_changed_is_refused(served):
    served.blob("PUT", "s", b"secret", PUT)
    _, signature = served.container()
    words = urllib.parse.parse_qsl(signature, keep_blank_values=True)

    for index, (key, value) in enumerate(words):
        if key in ("sv", "spr", "srt", "ss"):
            continue
        changed = list(words)
        changed[index] = (key, value + "x" if key != "se" else re.sub(r"^\d{4}", "2099", value))
        answer = served.blob("GET", "s", sas=urllib.parse.urlencode(changed))
        assert answer.status == 403, (key, answer)
        del changed[index]
        assert served.blob("GET", "s", sas=urllib.parse.urlencode(changed)).status in (401, 403), key


def test_a_signature_given_twice_does_not_slip_through(served):
    _, signature = served.container()

    answer = served.blob("GET", "s", sas=signature.replace("sig=", "sig=x&sig=", 1))

    assert answer.status in (400, 403)


def test_a_signature_of_another_container_is_refused(served):
    artifacts = served.container("workspaceartifactstore")
    blobs = served.container("workspaceblobstore")

    answer = served.request("GET", f"{blobs[0]}?restype=container&comp=list&{artifacts[1]}", token=False)

    assert answer.status == 403, answer


def test_a_signature_of_another_workspace_is_refused(served):
    served.blob("PUT", "s", b"secret", PUT)
    served.ok("workspace", "create", "--name", "other")
    other = WORKSPACE[:-len("default")] + "other"
    secret = served.request("POST", f"{other}/datastores/workspaceblobstore/listSecrets", {"expirableSecret": True})
    assert secret.status == 200, secret

    answer = served.blob("GET", "s", sas=secret.json["sasToken"].lstrip("?"))

    assert answer.status == 403, answer


def test_a_pending_upload_may_write_only_below_its_own_folder(served):
    answer = served.post("/codes/c1/versions/1/startPendingUpload", {"pendingUploadType": "TemporaryBlobReference"})
    assert answer.status == 200, answer
    reference = answer.json["blobReferenceForConsumption"]
    assert reference["credential"]["credentialType"].upper() == "SAS"
    parts = urllib.parse.urlsplit(reference["credential"]["sasUri"])
    served.blob("PUT", "s", b"secret", PUT)

    inside = served.request("PUT", f"{parts.path}/src/main.py?{parts.query}", b"x", PUT, token=False)
    assert inside.status == 201, inside
    container = served.container()[0]
    assert served.request("GET", f"{container}/s?{parts.query}", token=False).status == 403
    assert served.request("PUT", f"{container}/s?{parts.query}", b"", PUT, token=False).status == 403


def signed(served, expiry):
    """A signature made with the installation's own key, for a time of our choosing."""
    workspace = served.get("").json["properties"]["workspaceId"]
    container = served.container()[0].split("/")[-1]
    fields = ["sas", "2021-08-06", "c", "https,http", workspace, container, "", "racwdl", expiry]
    message = "".join(f"{len(field)}:{field}," for field in fields)
    key = (served.home / "secrets/signing.key").read_text().strip()
    signature = base64.b64encode(hmac.digest(key.encode(), message.encode(), "sha256")).decode()
    return urllib.parse.urlencode({"sv": "2021-08-06", "sr": "c", "sp": "racwdl", "se": expiry, "spr": "https,http",
                                   "sig": signature})


def test_a_signature_that_has_expired_is_refused(served):
    served.blob("PUT", "s", b"secret", PUT)
    now = datetime.datetime.now(datetime.timezone.utc)

    def answer(minutes):
        expiry = (now + datetime.timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        return served.blob("GET", "s", sas=signed(served, expiry)).status

    assert answer(+5) == 200
    assert answer(-1) == 403


def test_signatures_are_never_given_for_long(served):
    answer = served.post("/datastores/workspaceblobstore/listSecrets", {"expirableSecret": True, "expireAfterHours": 10**6})
    assert answer.status == 200, answer

    expires = dict(urllib.parse.parse_qsl(answer.json["sasToken"]))["se"]

    limit = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=8)
    assert expires < limit.strftime("%Y-%m-%dT%H:%M:%S")


def test_the_owners_token_is_not_in_any_address(served):
    place, signature = served.container()

    assert served.token() not in place + signature

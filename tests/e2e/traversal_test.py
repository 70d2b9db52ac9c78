# SPDX-License-Identifier: Apache-2.0
"""Paths that try to leave: in every parameter of every route, plain, encoded once and twice."""

import json
import urllib.parse

import pytest

from harness import WORKSPACE

ESCAPES = [
    "..", ".", "../", "../../../etc/passwd", "..\\..\\x", "/etc/passwd", "//etc/passwd", "a/../../b", "a/./b",
    "....//", "..;/x", "%2e%2e", "%2e%2e%2fetc%2fpasswd", "%2E%2E/", "..%2f", "..%5c", "%252e%252e%252f",
    "%252e%252e", "%25252e", "%c0%ae%c0%ae/", "%ef%bc%8e%ef%bc%8e/", "a%00b", "%00", "%0a", "%0d%0aX:1", "\\", "%5c",
    "~", "~root", "C:\\x", "file:///etc/passwd", "%2fetc%2fpasswd", "a%2fb", "a%2f..%2f..%2fb", "CON", "-rf",
    ".hidden/..", "..%00", "..%0a", "%2e%2e%5c", "x/%2e%2e/%2e%2e/y", "a" * 300, "%", "%z1", "%2",
]
DOTS = ["..", "%2e%2e", ".%2e", "%252e%252e", "%c0%ae%c0%ae", "%ef%bc%8e%ef%bc%8e", "..%00", "..;", "..%20", "...."]
SLASHES = ["/", "%2f", "%2F", "%5c", "%252f", "%c0%af", "%e2%88%95", "//", "/./"]
ESCAPES += [way for dots in DOTS for slash in SLASHES
            for way in (f"{dots}{slash}x", f"a{slash}{dots}{slash}{dots}{slash}etc{slash}passwd")]
ESCAPES += ["mlflow-artifacts:/x", "runs:/x", "%5c%5chost%5cx", "$(id)", "`id`", ";id", "|id", "*", "%e2%80%ae", "%ff%fe"]
assert len(set(ESCAPES)) >= 200
PARAMETERS = [
    ("GET", "/jobs/{}"), ("PUT", "/jobs/{}"), ("POST", "/jobs/{}/cancel"), ("DELETE", "/jobs/{}"),
    ("GET", "/data/{}"), ("GET", "/data/{}/versions"), ("PUT", "/data/{}/versions/1"), ("PUT", "/data/d/versions/{}"),
    ("PUT", "/environments/{}/versions/1"), ("PUT", "/environments/e/versions/{}"),
    ("PUT", "/codes/{}/versions/1"), ("POST", "/codes/{}/versions/1/startPendingUpload"),
    ("POST", "/codes/c/versions/{}/startPendingUpload"),
    ("GET", "/datastores/{}"), ("POST", "/datastores/{}/listSecrets"),
    ("GET", "/computes/{}"), ("PUT", "/computes/{}"), ("PATCH", "/computes/{}"),
    ("DELETE", "/computes/{}"), ("POST", "/computes/{}/listNodes"), ("POST", "/computes/{}/start"),
    ("GET", "/computes/{}/operations/make"), ("GET", "/computes/c/operations/{}"),
    ("GET", "/computes/c/operationResults/{}"),
    ("GET", "/onlineEndpoints/{}"), ("PUT", "/onlineEndpoints/e/deployments/{}"), ("POST", "/onlineEndpoints/{}/listKeys"),
]
OURS = [
    ("GET", "/berth/v1/sites/{}"), ("PUT", "/berth/v1/sites/{}"), ("DELETE", "/berth/v1/sites/{}"),
    ("POST", "/berth/v1/nodes/{}/preempt"),
    ("GET", f"/berth/v1{WORKSPACE}/secrets/{{}}"), ("PUT", f"/berth/v1{WORKSPACE}/secrets/{{}}"),
    ("DELETE", f"/berth/v1{WORKSPACE}/secrets/{{}}"), ("PUT", f"/berth/v1{WORKSPACE}/sharedSecrets/{{}}"),
    ("GET", f"/berth/v1{WORKSPACE}/services/{{}}"), ("PUT", f"/berth/v1{WORKSPACE}/services/{{}}"),
    ("DELETE", f"/berth/v1{WORKSPACE}/services/{{}}"), ("GET", f"/berth/v1{WORKSPACE}/services/{{}}/x"),
    ("GET", f"/berth/v1{WORKSPACE}/services/none/{{}}"),
    ("GET", f"/history/v1.0{WORKSPACE}/runs/{{}}/details"), ("PATCH", f"/history/v1.0{WORKSPACE}/runs/{{}}"),
    ("PATCH", f"/history/v1.0{WORKSPACE}/experiments/{{}}/runs/r"),
    ("GET", f"/history/v1.0{WORKSPACE}/runs/r/serviceinstances/{{}}"),
    ("GET", "/subscriptions/s/providers/Microsoft.MachineLearningServices/locations/{}/usages"),
    ("GET", f"/mlflow/v1.0{WORKSPACE}/api/2.0/mlflow/logged-models/{{}}"),
    ("DELETE", f"/mlflow/v1.0{WORKSPACE}/api/2.0/mlflow/logged-models/m-1/tags/{{}}"),
]
BODIES = {"jobs": {"properties": {"jobType": "Command", "command": "true", "environmentId": "azureml:x:1"}},
          "data": {"properties": {"dataType": "uri_file", "dataUri": "azureml://datastores/workspaceblobstore/paths/x"}},
          "environments": {"properties": {"image": "x"}},
          "computes": {"properties": {"computeType": "AmlCompute"}}, "sites": {"provider": "local"},
          "services": {"job": {"command": "true", "environmentId": "azureml:x:1"}}, "secrets": {"value": "x"}, "sharedSecrets": {"value": "x"},
          "codes": {"properties": {"codeUri": "azureml://datastores/workspaceblobstore/paths/x"}}}


@pytest.fixture
def served(berth):
    berth.ensure_server()
    berth.outside = snapshot(berth)
    return berth


def snapshot(berth):
    """Everything beside and above the state directory that a leak could touch."""
    return sorted(str(path) for path in berth.home.parent.rglob("*")
                  if not path.is_relative_to(berth.home))


def is_plain_name(text):
    once = urllib.parse.unquote(text)
    return once and len(once) <= 255 and all(c.isascii() and (c.isalnum() or c in "-_.") for c in once) and \
        (once[0].isalnum() or once[0] == "_")


@pytest.mark.parametrize("method, pattern", [(method, WORKSPACE + below) for method, below in PARAMETERS] + OURS)
def test_names_cannot_be_paths(served, method, pattern):
    """The table itself is tried with more of them, route by route, in src/server/door/route_traversal_test.cc."""
    body = next((body for kind, body in BODIES.items() if f"/{kind}/" in pattern), None)
    for escape in ESCAPES:
        sent = urllib.parse.quote(escape, safe="%/.:~\\;").replace("\\", "%5C")
        if is_plain_name(sent):
            continue
        answer = served.request(method, pattern.format(sent), body if method in ("PUT", "POST", "PATCH") else None)
        assert 400 <= answer.status < 500, (escape, answer)
        assert b"root:" not in answer.body, (escape, answer)
        assert answer.json["error_code" if pattern.startswith("/mlflow/") else "error"], (escape, answer)
    assert snapshot(served) == served.outside


@pytest.mark.parametrize("method", ["PUT", "GET", "HEAD", "DELETE"])
def test_blob_names_cannot_leave_the_container(served, method):
    container = served.container()
    for escape in ESCAPES:
        sent = "up/" + urllib.parse.quote(escape, safe="%/.:~\\;").replace("\\", "%5C")
        answer = served.blob(method, sent, b"x" if method == "PUT" else None, {"x-ms-blob-type": "BlockBlob"},
                             container=container)
        assert answer.status < 500, (escape, answer)
        assert b"root:" not in answer.body, (escape, answer)
        decoded = urllib.parse.unquote(sent)
        if any(part in ("..", ".") for part in decoded.split("/")) or "\0" in decoded:
            assert 400 <= answer.status < 500, (escape, answer)
    assert snapshot(served) == served.outside


@pytest.mark.parametrize("uri", [
    "azureml://datastores/workspaceblobstore/paths/../../berth.db",
    "azureml://datastores/workspaceblobstore/paths/%2e%2e/%2e%2e/token",
    "azureml://datastores/workspaceblobstore/paths/%252e%252e/token",
    "azureml://datastores/../../paths/token",
    "azureml://datastores/nowhere/paths/token",
    "azureml://jobs/../outputs/x/paths/y",
    "azureml://jobs/j/outputs/../paths/y",
    "file:///etc/passwd", "/etc/passwd", "../../etc/passwd", "gopher://127.0.0.1/x", "runs:/../x",
])
def test_input_uris_cannot_leave_the_datastore(served, uri):
    body = {"properties": {"jobType": "Command", "command": "cat ${{inputs.x}}/* ${{inputs.x}}; true",
                           "environmentId": "azureml:x:1",
                           "inputs": {"x": {"jobInputType": "uri_file", "uri": uri}}}}

    answer = served.put("/jobs/j", body)

    if answer.status in (200, 201):  # accepted as an odd but harmless name: it must then find nothing
        served.wait("j", "Failed")
        assert b"root:" not in served.log("j")
    else:
        assert 400 <= answer.status < 500, answer


@pytest.mark.parametrize("name", ["../up", "a/b", "..", "x/../../y", "/abs", "a\0b", "a b", "-x", ""])
def test_input_and_output_names_cannot_be_paths(served, name):
    for kind, item in (("inputs", {"jobInputType": "literal", "value": "1"}), ("outputs", {"jobOutputType": "uri_folder"})):
        body = {"properties": {"jobType": "Command", "command": "true", "environmentId": "azureml:x:1", kind: {name: item}}}
        answer = served.put("/jobs/j", body)
        assert answer.status == 400, (kind, name, answer)


@pytest.mark.parametrize("uri", ["azureml://datastores/workspaceblobstore/paths/../x/", "file:///tmp/x", "/tmp/x",
                                 "http://127.0.0.1/x", "azureml:asset:1", "azureml://jobs/other/outputs/o/paths/"])
def test_output_uris_cannot_leave_the_datastore(served, uri):
    body = {"properties": {"jobType": "Command", "command": "echo x > ${{outputs.o}}/f", "environmentId": "azureml:x:1",
                           "outputs": {"o": {"jobOutputType": "uri_folder", "uri": uri}}}}

    answer = served.put("/jobs/j", body)

    assert answer.status == 400, answer


@pytest.mark.parametrize("place", ["codeUri", "dataUri"])
def test_asset_uris_cannot_leave_the_datastore(served, place):
    kind, body = ("codes", {"codeUri": None}) if place == "codeUri" else ("data", {"dataType": "uri_file", "dataUri": None})
    for uri in ("azureml://datastores/workspaceblobstore/paths/../../token", "file:///etc/passwd", "/etc/passwd"):
        answer = served.put(f"/{kind}/a/versions/1", {"properties": body | {place: uri}})
        assert answer.status == 400, (uri, answer)


def test_blobs_made_with_odd_names_stay_inside_the_jobs_directory(served):
    """A folder input whose blobs have names that a file system could misread."""
    container = served.container()
    for name in ("evil/ok.txt", "evil/..%2F..%2Fout.txt", "evil/a%5C..%5Cb", "evil/%2e%2e/x"):
        served.blob("PUT", name, b"x", {"x-ms-blob-type": "BlockBlob"}, container=container)
    served.submit("find ${{inputs.d}} -type f | wc -l", "j", inputs={
        "d": {"type": "uri_folder", "path": "azureml://datastores/workspaceblobstore/paths/evil/"}})

    served.wait("j", "Completed")

    assert int(served.log("j")) >= 1
    assert snapshot(served) == [path for path in snapshot(served) if "out.txt" not in path]


def test_outputs_that_are_links_are_not_followed_out(served):
    """A job that runs as somebody must not be able to make Berth read what is not the job's."""
    secret = served.file("secret.txt", "do not read")
    served.submit(f"mkdir -p outputs; ln -s {secret} outputs/link; ln -s / outputs/all; ln -s {secret.parent} "
                  "${{outputs.o}}/up; ln -s real outputs/good; echo real > outputs/real", "j",
                  outputs={"o": {"type": "uri_folder"}})
    served.wait("j", "Completed")

    served.ok("job", "download", "--name", "j", "--all", "--download-path", "got")

    got = [path for path in (served.folder / "got").rglob("*") if path.is_file()]
    assert not [path for path in got if path.read_bytes() == b"do not read"], got
    assert (served.folder / "got/artifacts/outputs/real").read_text() == "real\n"


def test_download_does_not_follow_links_that_are_already_there(served):
    served.ok("run", "--name", "j", "--", "sh", "-c", "mkdir -p outputs; echo new > outputs/x")
    victim = served.file("victim/x", "old")
    (served.folder / "got/artifacts").mkdir(parents=True)
    (served.folder / "got/artifacts/outputs").symlink_to(victim.parent)

    served.run("job", "download", "--name", "j", "--all", "--download-path", "got")

    assert victim.read_text() == "old"


def test_the_error_tells_no_path_of_the_server(served):
    for path in ("/jobs/nobody", "/data/nobody/versions/1", "/datastores/nobody"):
        assert str(served.home) not in json.dumps(served.get(path).json)

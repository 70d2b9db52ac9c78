# SPDX-License-Identifier: Apache-2.0
"""Files whose names no blob can have: a job keeps them under others, and is told; nothing else notices."""

import os

import pytest

WRITE = r"""
import os
os.makedirs("outputs", exist_ok=True)
for name in (b"back\\slash", b"new\nline", b"\xff\xfe", b"tab\there", b"100%", b"ends.", "grüße".encode()):
    with open(b"outputs/" + name, "wb") as file:
        file.write(b"in " + name)
deep = "outputs"
for _ in range(8):
    deep += "/" + "d" * 200
    os.mkdir(os.path.relpath(deep)) if len(deep) < 3000 else None
open(deep + "/leaf", "w").write("deep")
"""
# As the job wrote it -> as it is kept.
KEPT = {b"back\\slash": "back%5Cslash", b"new\nline": "new%0Aline", b"\xff\xfe": "%FF%FE", b"tab\there": "tab%09here",
        b"100%": "100%", b"ends.": "ends.", "grüße".encode(): "grüße"}


def test_odd_outputs_are_kept_under_names_that_can_be_and_are_told(berth):
    berth.ensure_server()
    berth.file("code/write.py", WRITE)
    berth.submit("python3 write.py", "j", code="code")

    job = berth.wait("j", "Completed")

    berth.ok("job", "download", "--name", "j", "--all", "--download-path", "got")
    outputs = berth.folder / "got/artifacts/outputs"
    for name, kept in KEPT.items():
        assert (outputs / kept).read_bytes() == b"in " + name
    assert [path.read_text() for path in outputs.rglob("d*") if path.is_file()] == ["deep"]
    warnings = job["properties"]["warnings"]
    assert r"outputs/new\nline is kept as 'outputs/new%0Aline'" in warnings, warnings
    assert r"outputs/\xff\xfe is kept as 'outputs/%FF%FE'" in warnings, warnings
    assert len(warnings) == 5, warnings  # The four that are not plain, and the deep one.


def test_odd_names_in_a_named_output_are_kept_as_well(berth):
    command = r"printf x > ${{outputs.o}}/'a\b'; printf y > ${{outputs.o}}/plain"
    berth.submit(command, "j", outputs={"o": {"type": "uri_folder"}})
    berth.wait("j", "Completed")

    berth.ok("job", "download", "--name", "j", "--all", "--download-path", "got")

    named = berth.folder / "got/named-outputs/o"
    assert {path.name: path.read_text() for path in named.iterdir()} == {"a%5Cb": "x", "plain": "y"}


def test_they_do_not_cut_the_nodes_connection(berth):
    berth.start_server()
    berth.submit("true", "before")
    berth.wait("before", "Completed")
    berth.submit(r"printf x > outputs/'a\b'", "j")
    berth.wait("j", "Completed")
    berth.submit("true", "after")
    berth.wait("after", "Completed")

    assert (berth.folder / "server.log").read_text().count("' is here, with") == 1


def test_a_file_that_cannot_be_read_is_told_and_fails_nothing(berth):
    berth.submit("mkfifo outputs/pipe; ln -s /etc/passwd outputs/link; echo kept > outputs/kept", "j")

    job = berth.wait("j", "Completed")

    warnings = " ".join(job["properties"]["warnings"])
    assert "outputs/pipe is not kept" in warnings and "outputs/link is not kept" in warnings
    berth.ok("job", "download", "--name", "j", "--all", "--download-path", "got")
    assert os.listdir(berth.folder / "got/artifacts/outputs") == ["kept"]


def test_whoever_follows_the_job_is_told_too(berth):
    outcome = berth.ok("run", "--", "sh", "-c", r"mkdir -p outputs; printf x > outputs/'a\b'")

    assert r"outputs/a\\b is kept as 'outputs/a%5Cb'" in outcome.err, outcome


@pytest.mark.parametrize("name", [b"a\\b", b"a\nb", b"\xff"])
def test_code_with_such_a_name_is_refused_before_it_is_sent(berth, name):
    (berth.folder / "code").mkdir()
    with open(os.fsencode(berth.folder) + b"/code/" + name, "w") as file:
        file.write("x")

    outcome = berth.fails("job", "create", "-f", berth.job_file("true", code="code"))

    assert "no file of that name can be sent" in outcome.err, outcome


def test_the_blob_service_says_what_is_wrong_with_a_name(berth):
    berth.ensure_server()

    answer = berth.blob("PUT", "a%5Cb", b"x", {"x-ms-blob-type": "BlockBlob"})

    assert answer.status == 400, answer

# SPDX-License-Identifier: Apache-2.0
"""Names, tags, logs and files that would rather be something else: a query, a header, a page, a terminal's command."""

import json
import os
import pty
import re
import urllib.parse
import xml.etree.ElementTree as xml

import pytest

from harness import DEADLINE, WORKSPACE

NAMES = {
    "newline": "a\nb", "return": "a\r\nSet-Cookie: x=1", "shell": "; touch pwned; $(touch pwned) `touch pwned`", "tab": "a\tb",
    "right to left": "a\u202etxt.exe", "escape": "a\x1b]52;c;aGk=\x07b", "clear": "\x1b[2J\x1b[1;1H", "c1": "a\u009b31mb",
    "markup": "<script>alert(1)</script>", "quotes": "\"'--", "sql": "x'; DROP TABLE jobs; --", "percent": "100%s%n%d",
    "template": "{{7*7}}${7*7}{0}", "long": "n" * 300,
}
# What may reach a terminal: text, line ends, tabs, colours.
STEERS = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]|\x1b(?!\[[0-9;:]*m)|\xc2[\x80-\x9f]")
TURNS = re.compile("[\u202a-\u202e\u2066-\u2069]")


@pytest.fixture
def served(berth):
    berth.ensure_server()
    return berth


def job_body(**more):
    return {"properties": {"jobType": "Command", "command": "true", "environmentId": "azureml:x:1"} | more}


def put_blob(berth, name, data=b"x", container=None, **headers):
    sent = {"x-ms-blob-type": "BlockBlob"} | {key.replace("_", "-"): value for key, value in headers.items()}
    return berth.blob("PUT", urllib.parse.quote(name), data, sent, container=container)


def on_a_terminal(berth, *words):
    """What a person sees: the command's stdout and stderr are a terminal."""
    primary, secondary = pty.openpty()
    process = berth.popen(*words, stdout=secondary, stderr=secondary)
    os.close(secondary)
    seen = b""
    try:
        while piece := os.read(primary, 65536):
            seen += piece
    except OSError:
        pass  # How the end of a terminal looks.
    os.close(primary)
    assert process.wait(timeout=DEADLINE) in (0, 1)
    return seen


# Names of artifacts: what is taken comes back as it was; what is not taken is refused whole.

def test_odd_names_of_blobs_come_back_as_they_are_or_are_refused(served):
    container = served.container()
    kept = {}
    for kind, name in NAMES.items():
        answer = put_blob(served, f"odd/{name}", kind.encode(), container)
        has_control = any(ord(c) < 0x20 or ord(c) == 0x7F for c in name)
        assert 400 <= answer.status < 500 if has_control else answer.status == 201, (kind, answer)
        if answer.status == 201:
            kept[f"odd/{name}"] = kind

    for name, kind in kept.items():
        answer = served.blob("GET", urllib.parse.quote(name), container=container)
        assert answer.body == kind.encode(), (name, answer)
    place, signature = container
    listed = served.request("GET", f"{place}?restype=container&comp=list&prefix=odd/&{signature}", token=False)
    assert {name.text for name in xml.fromstring(listed.body).iter("Name")} == set(kept)


def test_names_that_differ_only_in_case_are_two(served):
    container = served.container()
    put_blob(served, "case/Name", b"upper", container)
    put_blob(served, "case/name", b"lower", container)

    assert served.blob("GET", "case/Name", container=container).body == b"upper"
    assert served.blob("GET", "case/name", container=container).body == b"lower"


def test_odd_names_of_outputs_come_back_through_the_command_line(served):
    """Made by a job, uploaded by the agent, listed by the server, downloaded by the command line."""
    script = served.file("code/make.py", "import os\nos.makedirs('outputs/d', exist_ok=True)\n"
                         f"for name in {[n for k, n in NAMES.items() if k not in ('long', 'markup')]!r}:\n"
                         "    open('outputs/d/' + name, 'w').write('kept')\n"
                         "open('outputs/d/plain', 'w').write('kept')\n")
    served.submit("python3 make.py", "j", code=str(script.parent))
    served.wait("j", "Completed", "Failed")

    outcome = served.run("job", "download", "--name", "j", "--all", "--download-path", "got")

    got = {path.name for path in (served.folder / "got/artifacts/outputs/d").iterdir()}
    made = {name for kind, name in NAMES.items() if kind not in ("long", "markup")}
    kept = {"".join(f"%{ord(c):02X}" if ord(c) < 0x20 else c for c in name) for name in made}
    assert got == kept | {"plain"}
    assert not STEERS.search(outcome.err.encode()), outcome
    assert not list(served.folder.rglob("pwned"))


# Names and tags as they are shown.

def test_nothing_people_name_things_can_steer_a_terminal(served):
    for number, name in enumerate(NAMES.values()):
        answer = served.put(f"/jobs/j{number}", job_body(displayName=name, description=name, tags={"tag": name, name: "x"},
                                                         experimentName="e"))
        assert answer.status in (200, 201, 400), (name, answer)
    served.put("/jobs/refused", job_body(command="${{inputs.\x1b]52;c;aGk=\x07}}"))

    for words in (("job", "list"), ("job", "show", "--name", "j0"), ("job", "list", "-o", "table"), ("job", "list", "-o", "tsv"),
                  ("job", "list", "-o", "yaml"), ("job", "show", "--name", "\x1b[2Jnobody"), ("job", "list", "-o", "json")):
        seen = on_a_terminal(served, *words)
        assert seen and not STEERS.search(seen.replace(b"\r\n", b"\n")), (words, STEERS.search(seen))
        if "-o" not in words or "table" in words:  # Other formats are for programs and keep the text.
            assert not TURNS.search(seen.decode()), words


def test_a_log_cannot_steer_a_terminal(served):
    attack = r"\302\033]52;c;aGk=\007\033[2J\033]0;title\007\302\2331;1H\010\010\033P+q\033\\\033[31mred\033[0m\n"
    served.ok("run", "--name", "j", "--", "printf", attack)

    seen = on_a_terminal(served, "job", "stream", "--name", "j")

    assert b"\x1b[31mred\x1b[0m" in seen
    assert not STEERS.search(seen.replace(b"\r\n", b"\n")), seen


def test_a_name_cannot_forge_a_line_of_the_servers_log(served):
    served.stop()
    server = served.start_server()
    for name in ("x\n2026-01-01 00:00:00.000 error forged", "x%0aforged", "%1b%5b2J"):
        served.request("GET", f"{WORKSPACE}/jobs/{urllib.parse.quote(name)}")
        served.put("/jobs/j", job_body(displayName=name, compute=name))
    served.submit("true", "j2", tags={"a": "x\nforged"})
    served.wait("j2")
    server.terminate()
    server.wait()

    log = (served.folder / "server.log").read_bytes()
    assert not [line for line in log.splitlines() if line.startswith(b"forged") or b"error forged" in line[:40]], log
    assert not STEERS.search(log)


# Lists: filters are values, whatever they hold.

FILTERS = [
    "tag=x'%20OR%20'1'='1", "tag=x%25", "tag=_", "tag=a=b'%3B%20DROP%20TABLE%20jobs%3B--", "$skip=1%20OR%201=1", "$skip=-1",
    "$top=1;%20DROP%20TABLE%20jobs", "$top=99999999999999999999", "$top=-1", "$top=NaN", "listViewType=All'--",
    "$orderby=name%3B%20DROP%20TABLE%20jobs", "$filter=1%20eq%201", "jobType=Command'%20OR%201=1", "properties=x'%3B--",
]


def test_a_filter_is_not_a_query(served):
    served.put("/jobs/first", job_body(tags={"team": "a"}))
    served.put("/jobs/second", job_body(tags={"team": "b"}))

    for query in FILTERS:
        answer = served.request("GET", f"{WORKSPACE}/jobs?api-version=2024-10-01&{query}")
        assert answer.status in (200, 400), answer
        assert b"sqlite" not in answer.body.lower() and b"syntax error" not in answer.body.lower(), answer
        if query.startswith("tag=") and answer.status == 200:
            assert answer.json["value"] == [], (query, answer)

    assert {job["name"] for job in served.get("/jobs").json["value"]} == {"first", "second"}


def test_blob_prefixes_are_not_patterns(served):
    container = served.container()
    for name in ("p/a", "p/b", "q%c"):
        put_blob(served, name, container=container)
    place, signature = container
    for prefix in ("p/%25", "p/_", "%25", "p/'%20OR%201=1--", "p/*"):
        answer = served.request("GET", f"{place}?restype=container&comp=list&prefix={prefix}&{signature}", token=False)
        assert answer.status == 200 and b"<Name>" not in answer.body, (prefix, answer)


# Answers: no header, page or error is the sender's.

def test_what_a_job_wrote_is_no_page_of_ours(served):
    container = served.container()
    page = b"<script>alert(1)</script>"
    for content_type in ("text/html", "image/svg+xml", "application/xhtml+xml", "text/html; charset=utf-7"):
        answer = put_blob(served, "page.html", page, container, x_ms_blob_content_type=content_type)
        assert answer.status == 201, answer

        got = served.blob("GET", "page.html", container=container)

        assert got.body == page
        assert got.headers["X-Content-Type-Options"] == "nosniff"
        assert "sandbox" in got.headers["Content-Security-Policy"]
        assert got.headers["Content-Disposition"] == "attachment"


def test_an_error_is_never_a_page(served):
    markup = urllib.parse.quote("<script>alert(1)</script>", safe="")
    for path in (f"{WORKSPACE}/jobs/{markup}", f"/{markup}", f"{WORKSPACE}/data/{markup}/versions/1", f"{served.container()[0]}/{markup}"):
        answer = served.request("GET", path, headers={"Accept": "text/html", "Content-Type": "text/html"})
        assert answer.headers["Content-Type"].split(";")[0] in ("application/json", "application/xml"), answer
        assert b"<script>" not in answer.body, answer


def test_no_value_splits_an_answer(served):
    """Sent as bytes: libraries refuse to."""
    place, signature = served.container()
    for name, value in (("x-ms-meta-a", "b\x00c"), ("x-ms-meta-a", "b\rX-Injected: 1"), ("x-ms-blob-content-type", "a\nX-Injected: 1"),
                        ("x-ms-client-request-id", "1\rX-Injected: 1"), ("x-ms-version", "1\nX-Injected: 1")):
        with served.raw() as raw:
            raw.sendall(f"PUT {place}/s?{signature} HTTP/1.1\r\nHost: {served.host()}\r\nx-ms-blob-type: BlockBlob\r\n"
                        f"{name}: {value}\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx".encode())
            answer = b""
            while piece := raw.recv(65536):
                answer += piece
        assert b"\r\nX-Injected" not in answer and b"\nX-Injected" not in answer, answer
    for escaped in ("%0d%0aX-Injected:%201", "%0aX-Injected:%201"):
        for path in (f"{WORKSPACE}/jobs/{escaped}", f"{place}/{escaped}?{signature}",
                     f"{WORKSPACE}/jobs?$skip={escaped}", f"{place}/x?{signature}&rscd={escaped}&rsct={escaped}"):
            answer = served.request("GET", path)
            assert "X-Injected" not in answer.headers and answer.status < 500, answer


def test_metadata_comes_back_as_one_header(served):
    container = served.container()
    answer = put_blob(served, "m", b"x", container, x_ms_meta_a="b: c; d=\"e\"")
    assert answer.status == 201, answer

    got = served.blob("GET", "m", container=container)

    assert got.headers["x-ms-meta-a"] == "b: c; d=\"e\""


def test_errors_tell_nothing_of_the_inside(served):
    """No path, variable, address or line of code, whatever is wrong."""
    place, signature = served.container()
    answers = [served.request(method, path, body) for method, path, body in (
        ("GET", f"{WORKSPACE}/jobs/nobody", None), ("PUT", f"{WORKSPACE}/jobs/j", b"{"), ("PUT", f"{WORKSPACE}/jobs/j", b"[]"),
        ("PUT", f"{WORKSPACE}/jobs/j", job_body(codeId="azureml:nobody:1")), ("PUT", f"{WORKSPACE}/jobs/j", job_body(inputs=3)),
        ("PUT", f"{WORKSPACE}/computes/c", b'{"properties": 3}'), ("GET", f"{place}/nobody?{signature}", None),
        ("PUT", f"{place}/b?comp=block&blockid=%00&{signature}", b"x"), ("PUT", f"{place}/b?comp=blocklist&{signature}", b"<x>"),
        ("GET", "/berth/v1/nodes/nobody/channel", None), ("PUT", "/berth/v1/sites/s", b'{"provider": "nobody"}'),
        ("GET", "/nowhere", None), ("BREW", WORKSPACE, None), ("GET", f"/blob/nobody/x/y?{signature}", None),
        ("POST", f"{WORKSPACE}/jobs/nobody/cancel", None), ("PUT", f"{WORKSPACE}/data/d/versions/1", b'{"properties":{"dataUri":1}}'))]
    inside = [str(served.home), str(served.folder), "/proc/", "/usr/", ".cc", ".h:", "sqlite", "boost", "std::", "berth::",
              "errno", "BERTH_HOME", served.token()]

    for answer in answers:
        assert 400 <= answer.status < 502, answer
        told = [word for word in inside if word.lower() in (answer.body.decode() + json.dumps(answer.headers)).lower()]
        assert not told, (told, answer)

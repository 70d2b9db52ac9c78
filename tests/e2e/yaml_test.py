# SPDX-License-Identifier: Apache-2.0
"""Mistakes in job files: the message names file, line, column and key, and what was probably meant."""

import resource

import pytest

from harness import SANITIZED, grew_too_much, memory_kib, short

HEAD = "environment: {image: x}\ncompute: local\n"

# Text after HEAD (so its first line is line 3), place of the mistake, words the message must have.
MISTAKES = {
    "a misspelt key": ("comand: echo\n", "3:1", ["'comand' is not a key of a command job", "did you mean 'command'?"]),
    "a misspelt nested key": ("command: x\nlimits:\n  timout: 5\n", "5:3", ["'timout'", "did you mean 'timeout'?"]),
    "a misspelt key of an input": ("command: x\ninputs:\n  a:\n    tpye: uri_file\n    path: .\n", "6:5",
                                   ["'tpye'", "did you mean 'type'?"]),
    "a key like no other": ("command: x\nzebra: 1\n", "4:1", ["'zebra'"]),
    "a key twice": ("command: x\ncommand: y\n", "4:1", ["command"]),
    "no command": ("display_name: x\n", "", ["command"]),
    "a list for a text": ("command: [a, b]\n", "3:", ["command"]),
    "a text for a mapping": ("command: x\ninputs: rows\n", "4:", ["inputs"]),
    "a word for a number": ("command: x\nlimits:\n  timeout: soon\n", "5:", ["timeout", "soon"]),
    "a negative timeout": ("command: x\nlimits: {timeout: -5}\n", "", ["timeout"]),
    "an unknown job type": ("type: comand\ncommand: x\n", "3:", ["comand"]),
    "a job type for later": ("type: sweep\n", "3:", ["sweep", "not supported"]),
    "an unknown input type": ("command: x\ninputs:\n  a: {type: uri_fil, path: .}\n", "5:", ["uri_fil", "uri_file"]),
    "an unknown input mode": ("command: x\ninputs:\n  a: {type: uri_file, path: job.yml, mode: ro_mont}\n", "5:", ["ro_mont"]),
    "an input that is no file": ("command: x\ninputs:\n  a: {type: uri_file, path: not-there.csv}\n", "5:", ["not-there.csv"]),
    "code that is not there": ("command: x\ncode: ./nowhere\n", "4:", ["nowhere"]),
    "a bad indentation": ("command: x\n inputs:\n  a: 1\n", "3:", []),
    "a tab": ("command: x\ninputs:\n\ta: 1\n", "5:", []),
    "an open quote": ('command: "echo\n', "", []),
    "an open bracket": ("command: x\ntags: {a: b\n", "", []),
    "a stray colon": ("command: echo a: b\n", "3:", []),
    "an unknown alias": ("command: *nobody\n", "3:", ["nobody"]),
    "a tag": ("command: !!python/object:os.system x\n", "3:", []),
    "two documents": ("command: x\n---\ncommand: y\n", "", []),
    "an undefined expression": ("command: echo ${{inputs.rows}}\n", "", ["rows"]),
    "a bad input name": ("command: x\ninputs:\n  'a b': 1\n", "5:", ["a b"]),
    "a bad job name": ("command: x\nname: ../up\n", "", ["../up"]),
    "not a mapping": (None, "1:1", []),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named_with_its_place(berth, mistake):
    text, place, words = MISTAKES[mistake]
    file = berth.file("job.yml", HEAD + text if text is not None else "- a\n- b\n")

    outcome = berth.fails("job", "create", "-f", file)

    assert "job.yml" in outcome.err or not place, outcome
    if place:
        assert f"job.yml:{place}" in outcome.err, outcome
    for word in words:
        assert word in outcome.err, outcome
    assert outcome.out == ""
    assert "terminate" not in outcome.err and "what()" not in outcome.err


def test_mistakes_are_found_before_a_server_is_started(berth):
    berth.fails("job", "create", "-f", berth.file("job.yml", "comand: x\n"))

    assert not berth.processes()


@pytest.mark.parametrize("assignment, words", [
    ("comand=x", ["comand", "command"]),
    ("environment.image=y", ["environment"]),
    ("nothing", ["nothing"]),
    ("=x", []),
    ("inputs..a=1", []),
    ("command={unclosed", []),
])
def test_a_wrong_set_is_named(berth, assignment, words):
    file = berth.file("job.yml", "command: x\nenvironment: azureml:e:1\n")

    outcome = berth.run("job", "create", "-f", file, "--set", assignment)

    assert outcome.code in (1, 2), outcome
    for word in words:
        assert word in outcome.err, outcome


def test_a_file_that_is_not_there_or_is_a_folder(berth):
    assert "nowhere.yml" in berth.fails("job", "create", "-f", "nowhere.yml").err
    assert berth.fails("job", "create", "-f", ".").err


@pytest.mark.parametrize("content", [b"", b"\n\n", b"# only a comment\n", b"\xff\xfe\x00", b"\0\0\0", b"command: \xc3\x28\n",
                                     bytes(range(256)), b"null\n", b"5\n", b"%YAML 9.9\n---\na: b\n"], ids=short)
def test_what_is_not_yaml_fails_plainly(berth, content):
    (berth.folder / "job.yml").write_bytes(content)

    outcome = berth.fails("job", "create", "-f", "job.yml")

    assert outcome.err.startswith("error:"), outcome


def limited(berth, text, name="bomb.yml"):
    """Reads the file under a memory limit that a bomb would break."""
    (berth.folder / name).write_text(text)
    return berth.fails("job", "create", "-f", name, preexec_fn=limit_memory)


def limit_memory():
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))


def test_a_yaml_bomb_is_refused_without_going_off(berth):
    lines = ["a0: &a0 [x,x,x,x,x,x,x,x,x]"]
    lines += [f"a{n}: &a{n} [{','.join(f'*a{n - 1}' for _ in range(9))}]" for n in range(1, 10)]

    outcome = limited(berth, "\n".join(lines) + "\ncommand: x\n")

    assert "bomb.yml" in outcome.err, outcome


@pytest.mark.parametrize("text", [
    "a: " + "[" * 100_000, "a: " + "[" * 100_000 + "]" * 100_000, "a: " + "{x: " * 100_000,
    "".join(" " * n + "a:\n" for n in range(1000)), "- " * 100_000, "? " * 100_000, "&a " * 1000 + "x",
    "a: &a [*a]", "<<: *x", "a: &a {<<: *a}", "command: " + "x" * 20_000_000,
], ids=short)
def test_deep_and_huge_files_are_refused(berth, text):
    outcome = limited(berth, text, "deep.yml")

    assert "deep.yml" in outcome.err, outcome.err[:500]
    assert len(outcome.err) < 10_000


def test_merge_keys_and_anchors_work(berth):
    berth.file("job.yml", HEAD + "command: echo ${{inputs.a}} ${{inputs.b}}\n"
               "inputs:\n  a: &v one\n  b: *v\n")

    berth.ok("job", "create", "-f", "job.yml", "--name", "j", "--stream")

    assert berth.log("j") == b"one one\n"


def test_a_warning_about_a_literal_for_the_shell(berth):
    file = berth.job_file("echo ${{inputs.x}}", inputs={"x": "a; echo b"})

    outcome = berth.ok("job", "create", "-f", file, "--name", "j", "--stream")

    assert "warning" in outcome.err.lower() and "x" in outcome.err
    assert berth.log("j") == b"a\nb\n"


def test_bad_files_do_not_grow_the_server(berth):
    pid = berth.ensure_server()["pid"]
    before = memory_kib(pid)
    for _ in range(20):
        berth.request("PUT", "/subscriptions/x", b"[" * 1_000_000, {"Content-Type": "application/json"})

    assert not grew_too_much(before, memory_kib(pid), 64)

# SPDX-License-Identifier: Apache-2.0
"""-o json|jsonc|yaml|table|tsv|none, on a pipe and on a terminal."""

import fcntl
import json
import os
import pty
import struct
import subprocess
import termios

import pytest

from harness import BINARY, DEADLINE


@pytest.fixture
def done(berth):
    """Two finished jobs, 'first' and 'second'."""
    for name in ("first", "second"):
        berth.ok("run", "--name", name, "--", "true")
    return berth


def on_terminal(berth, *words, columns=80, typed=None, code=0):
    """What the command prints when stdout and stderr are a terminal, and stdin if something is typed."""
    mine, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen([str(BINARY), *words], env=berth.environment | {"TERM": "xterm"}, cwd=berth.folder,
                               stdin=theirs if typed else subprocess.DEVNULL, stdout=theirs, stderr=theirs)
    os.close(theirs)
    if typed:
        os.write(mine, typed.encode())
    seen = b""
    try:
        while part := os.read(mine, 4096):
            seen += part
    except OSError:
        pass  # the other end is closed
    os.close(mine)
    assert process.wait(timeout=DEADLINE) == code, seen
    return seen.decode()


def test_json_is_what_a_pipe_gets_and_has_azures_keys(done):
    outcome = done.ok("job", "show", "--name", "first")
    job = outcome.json

    assert outcome.out == done.ok("job", "show", "--name", "first", "-o", "json").out
    for key in ("name", "display_name", "experiment_name", "type", "status", "command", "compute", "creation_context", "services", "tags", "properties", "id"):
        assert key in job, key
    assert job["type"] == "command" and job["status"] == "Completed"
    assert set(job["creation_context"]) >= {"created_at", "created_by"}
    assert "Studio" in job["services"]
    assert not [key for key in job if key != key.lower() and key != "resourceGroup"]  # az adds that one


def test_a_list_is_newest_first(done):
    assert [job["name"] for job in done.ok("job", "list", "-o", "json").json] == ["second", "first"]
    assert len(done.ok("job", "list", "-o", "json", "--max-results", "1").json) == 1


def test_tsv_has_one_line_per_element_and_no_quotes(done):
    lines = done.ok("job", "list", "-o", "tsv").out.splitlines()
    assert len(lines) == 2 and all("\t" in line and '"' not in line.split("\t")[0] for line in lines)
    assert done.ok("job", "show", "--name", "first", "--query", "status", "-o", "tsv").out == "Completed\n"


def test_table_has_a_head_a_rule_and_rows(done):
    lines = done.ok("job", "list", "-o", "table").out.splitlines()

    assert "Name" in lines[0] and "Status" in lines[0]
    assert set(lines[1]) <= set("- ")
    assert lines[2].split()[0] == "second" and "Completed" in lines[2]


def test_yaml_reads_back(done):
    text = done.ok("job", "show", "--name", "first", "-o", "yaml").out

    assert "name: first\n" in text and "status: Completed\n" in text
    assert "creation_context:\n  created_at:" in text


def test_none_prints_nothing(done):
    assert done.ok("job", "show", "--name", "first", "-o", "none").out == ""


def test_jsonc_is_json_when_colours_are_off(done):
    assert json.loads(done.ok("job", "show", "--name", "first", "-o", "jsonc").out)["name"] == "first"


def test_an_unknown_format_is_wrong_usage(done):
    assert "table" in done.fails("job", "list", "-o", "xml", code=2).err


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_on_a_terminal_a_list_is_a_table_that_fits(done, columns):
    shown = on_terminal(done, "job", "list", columns=columns)

    lines = [line.rstrip("\r") for line in shown.splitlines() if line.strip()]
    assert "first" in shown and not shown.lstrip().startswith("[")
    assert max(len(line) for line in lines) <= columns, shown


def test_on_a_terminal_show_is_a_summary(done):
    shown = on_terminal(done, "job", "show", "--name", "first")

    assert "Completed" in shown and not shown.lstrip().startswith("{")


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_tables_of_clusters_sites_and_nodes_fit(berth, columns):
    berth.ok("compute", "create", "-n", "pool", "--size", "Standard_DS1_v2", "--min-instances", "1", "--description",
             "\x1b]52;c;AAAA\x07evil", "-o", "none")
    for words in (("compute", "list"), ("compute", "list-sizes"), ("compute", "list-usage"),
                  ("compute", "list-nodes", "-n", "pool"), ("site", "list"), ("node", "list")):
        shown = on_terminal(berth, *words, columns=columns)
        lines = [line.replace("\x1b[1m", "").replace("\x1b[0m", "").rstrip() for line in shown.splitlines()]
        assert len(lines) > 2 and max(len(line) for line in lines) <= columns, shown
    assert "\x1b]52" not in on_terminal(berth, "compute", "show", "pool")
    berth.ok("compute", "delete", "-n", "pool", "-y")


def test_a_cluster_is_deleted_when_the_answer_is_yes(berth):
    berth.ok("compute", "create", "-n", "pool", "-o", "none")

    assert "cancel its jobs? [y/N]" in on_terminal(berth, "compute", "delete", "-n", "pool", typed="n\n", code=1)
    assert berth.ok("compute", "list", "--query", "[].name", "-o", "tsv").out == "pool\n"
    on_terminal(berth, "compute", "delete", "-n", "pool", typed="y\n")
    assert berth.ok("compute", "list", "-o", "json").json == []


def test_a_name_cannot_write_to_the_terminal(done):
    """Escape sequences in text of others are shown, not obeyed."""
    done.ok("job", "update", "--name", "first", "--set", "display_name=\x1b]52;c;AAAA\x07evil\x1b[2J")

    for words in (("job", "list"), ("job", "show", "--name", "first"), ("job", "list", "-o", "table")):
        shown = on_terminal(done, *words)
        assert "\x1b]52" not in shown and "\x1b[2J" not in shown, words


def test_stdout_is_the_answer_and_stderr_the_rest(berth):
    outcome = berth.ok("job", "create", "-f", berth.job_file("true"), "--name", "j", "-o", "json")

    assert json.loads(outcome.out)["name"] == "j"
    berth.wait("j", "Completed")


@pytest.mark.parametrize("words", [
    ("job", "nonsense"), ("nonsense",), ("job", "show"), ("job", "show", "--nme", "x"),
    ("job", "create"), ("run",), ("job", "show", "--name"), ("compute", "create"), ("compute", "shwo"),
    ("compute", "show", "--nme", "x"), ("site", "add", "lab"), ("node", "preempt"), ("compute", "update", "-n", "x"),
])
def test_wrong_usage_is_2_and_says_what_is_right(berth, words):
    outcome = berth.run(*words)

    assert outcome.code == 2, outcome
    assert "berth" in outcome.out + outcome.err


@pytest.mark.parametrize("words", [(), ("--help",), ("job",), ("job", "--help"), ("job", "create", "--help"), ("run", "-h"),
                                   ("server", "--help"), ("--version",)])
def test_help_is_on_stdout_and_starts_nothing(berth, words):
    outcome = berth.ok(*words)

    assert outcome.out and not berth.processes()


def test_a_missing_job_is_named(berth):
    outcome = berth.run("job", "show", "--name", "nobody")

    assert outcome.code in (1, 3) and "nobody" in outcome.err and outcome.out == ""

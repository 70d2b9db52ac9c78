# SPDX-License-Identifier: Apache-2.0
"""The log of the database stays short while a server runs, also when somebody reads the database all the time."""

import contextlib
import os
import sqlite3

from harness import eventually, is_alive, kill

LONGEST = 64 << 20
LARGE = 240 << 10  # A job may not be larger than 256 KiB.
LETTERS = "abcdefgh"


def log_size(berth):
    with contextlib.suppress(FileNotFoundError):
        return (berth.home / "berth.db-wal").stat().st_size
    return 0


def describe(berth, number):
    """Changes all of a job's text, so that all of it goes to the log."""
    properties = {"jobType": "Command", "command": "true", "environmentId": "azureml:x:1",
                  "description": str(number).ljust(LARGE, LETTERS[number % len(LETTERS)])}
    return berth.put("/jobs/j", {"properties": properties})


def description(berth):
    return berth.get_job("j")["properties"]["description"].rstrip(LETTERS)


def test_a_steady_load_does_not_make_the_log_long(berth):
    berth.ensure_server()
    longest = 0
    for number in range(360):
        answer = describe(berth, number)
        assert answer.status in (200, 201), answer
        longest = max(longest, log_size(berth))

    assert longest <= LONGEST
    assert longest < 360 * LARGE // 2, "it was not even begun anew"
    pid = berth.server_pid()
    kill(pid)
    eventually(lambda: not is_alive(pid), what="the end of the server")
    berth.ensure_server()
    assert description(berth) == "359"


def test_a_process_that_keeps_reading_the_database_holds_up_changes_before_the_log_is_long(berth):
    berth.ensure_server()
    assert describe(berth, 0).status == 201
    berth.wait("j", "Completed")
    acknowledged, longest = 0, 0
    with contextlib.closing(sqlite3.connect(f"file:{berth.home}/berth.db?mode=ro", uri=True)) as database:
        database.execute("BEGIN")
        database.execute("SELECT count(*) FROM jobs").fetchone()
        for number in range(1, 400):
            answer = describe(berth, number)
            longest = max(longest, log_size(berth))
            if answer.status != 200:
                break
            acknowledged = number
        assert answer.status == 503, answer
        assert f"process {os.getpid()}" in answer.json["error"]["message"], answer
        assert describe(berth, 400).status == 503
        assert description(berth) == str(acknowledged)
        longest = max(longest, log_size(berth))

    eventually(lambda: describe(berth, 500).status == 200, what="changes to be taken again")

    assert longest <= LONGEST
    assert log_size(berth) <= LONGEST
    assert description(berth) == "500"

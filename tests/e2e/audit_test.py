# SPDX-License-Identifier: Apache-2.0
"""The audit log: every change is in it, and nobody takes one out unseen."""

import sqlite3

import pytest

from auth_test import BODY, add, as_user, is_at_rest, token_id
from harness import DEADLINE, WORKSPACE, eventually, kill


@pytest.fixture
def served(berth):
    berth.ensure_server()
    yield berth
    berth.ensure_server()
    eventually(lambda: is_at_rest(berth), what="the jobs to end")


def lines(berth):
    return berth.ok("audit", "list", "--all-results", "-o", "json").json


def test_it_says_who_did_what_when_and_from_where(served):
    ana = add(served, "ana", "Reader")
    served.put("/jobs/j", BODY)
    assert served.put("/jobs/j2", BODY, token=ana).status == 403
    assert served.get("/jobs", token="wrong").status == 401
    served.ok("token", "revoke", token_id(ana))

    log = lines(served)

    told = [(line["who"], line["method"], line["target"].rsplit("/", 1)[-1], line["status"]) for line in log]
    role = log[1]["target"].rsplit("/", 1)[-1]
    assert told == [("owner", "PUT", "ana", 201), ("owner", "PUT", role, 201), ("owner", "PUT", token_id(ana), 201),
                    ("owner", "PUT", "j", 201), ("ana", "PUT", "j2", 403), ("nobody", "GET", "jobs", 401),
                    ("owner", "DELETE", token_id(ana), 204)]
    assert [line["number"] for line in log] == list(range(1, 8))
    assert all(line["at"].startswith("20") and line["from"].startswith("127.0.0.1:") for line in log)
    assert log[3]["action"] == "Microsoft.MachineLearningServices/workspaces/jobs/write"
    assert log[4]["token"] == token_id(ana)
    assert served.ok("audit", "list", "-r", "2", "-o", "json").json == log[-2:]
    served.fails("audit", "list", **as_user(ana))


def test_a_flood_of_strangers_is_counted_and_not_kept(served):
    with served.connection() as connection:
        for _ in range(1500):
            connection.request("GET", WORKSPACE + "/jobs", headers={"Authorization": "Bearer nonsense"})
            answer = connection.getresponse()
            assert answer.read() and answer.status in (401, 429)
    served.put("/jobs/j", BODY)
    assert len(lines(served)) < 400
    assert served.ok("audit", "verify", "-o", "json").json["intact"]


def stopped(berth):
    """The database of a server that has been stopped, to lay hands on."""
    berth.ok("server", "stop")
    return sqlite3.connect(berth.home / "berth.db")


TAMPERINGS = {
    "changed": ("UPDATE audit SET doc = replace(doc, '\"who\":\"owner\"', '\"who\":\"mouse\"') WHERE number = 2", 2),
    "taken out": ("DELETE FROM audit WHERE number = 3", 3),
    "cut off": ("DELETE FROM audit WHERE number >= 4", 4),
    "put in": ("UPDATE audit SET number = number + 1 WHERE number = 5;"
               "INSERT INTO audit SELECT 5, doc, hash FROM audit WHERE number = 1", 5),
    "all gone": ("DELETE FROM audit", 1),
}


@pytest.mark.parametrize("how", TAMPERINGS)
def test_tampering_is_noticed_and_where(served, how):
    for name in "abcde":
        served.ok("user", "create", name)
    assert served.ok("audit", "verify", "-o", "json").json["lines"] == 5
    sql, where = TAMPERINGS[how]
    with stopped(served) as database:
        database.executescript(f"DROP TRIGGER audit_stays; DROP TRIGGER audit_keeps; {sql}")
    database.close()

    verdict = served.fails("audit", "verify", "-o", "json")

    assert verdict.json["intact"] is False and verdict.json["broken_at"] == where, verdict
    assert f"line {where}" in verdict.err


def test_a_log_written_anew_is_noticed_by_whoever_kept_its_head(served):
    for name in "abc":
        served.ok("user", "create", name)
    head = served.ok("audit", "verify", "--query", "head", "-o", "tsv").out.strip()
    served.ok("user", "create", "d")
    served.ok("audit", "verify", "--head", head)
    with stopped(served) as database:
        database.executescript("DROP TRIGGER audit_keeps; DELETE FROM audit;"
                               "UPDATE audit_head SET number = 0, hash = ''")
    database.close()
    for name in "efgh":
        served.ok("user", "create", name)

    served.ok("audit", "verify")
    assert "line 3" in served.fails("audit", "verify", "--head", head).err
    assert served.fails("audit", "verify", "--head", "nonsense", code=2)


def test_it_is_whole_after_kills(berth):
    """Each user that was acknowledged has its line, however the server ended."""
    acknowledged = []
    for round in range(5):
        berth.ensure_server()
        pid = berth.server_pid()
        waiting = [berth.popen("user", "create", f"u{round}-{number}") for number in range(3)]
        waiting[0].wait(timeout=DEADLINE)
        kill(pid)
        for number, process in enumerate(waiting):
            process.communicate(timeout=DEADLINE)
            if process.returncode == 0:
                acknowledged.append(f"u{round}-{number}")
    told = [line["target"].rsplit("/", 1)[-1] for line in lines(berth) if line["method"] == "PUT"]
    users = set(berth.ok("user", "list", "--query", "[].name", "-o", "tsv").out.split())
    assert len(acknowledged) >= 5
    assert set(acknowledged) <= users
    assert users == set(told), "a user without a line, or a line without its user"
    assert berth.ok("audit", "verify", "-o", "json").json["intact"]

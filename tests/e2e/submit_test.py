# SPDX-License-Identifier: Apache-2.0
"""The same submit many times, at once and again: one job, and one only (F8)."""

import collections
import concurrent.futures
import threading

import pytest

AT_ONCE = 100


def body_of(marks, word="once"):
    return {"properties": {"jobType": "Command", "command": f"echo {word} >> {marks}", "environmentId": "azureml:x:1"}}


def put_at_once(berth, bodies):
    """One answer for each body, all asked for at the same moment over connections of their own."""
    berth.ensure_server()
    ready = threading.Barrier(len(bodies))

    def put(body):
        ready.wait()
        return berth.put("/jobs/j", body)

    with concurrent.futures.ThreadPoolExecutor(len(bodies)) as crowd:
        return list(crowd.map(put, bodies))


def test_a_hundred_submits_of_one_job_at_once_make_one_job(berth):
    marks = berth.file("marks", "")

    answers = put_at_once(berth, [body_of(marks)] * AT_ONCE)

    assert collections.Counter(answer.status for answer in answers) == {201: 1, 200: AT_ONCE - 1}
    assert len({answer.json["systemData"]["createdAt"] for answer in answers}) == 1
    berth.wait("j", "Completed")
    assert marks.read_text() == "once\n"
    assert len(berth.get("/jobs").json["value"]) == 1


def test_of_two_jobs_under_one_name_one_is_made_and_the_other_refused(berth):
    marks = berth.file("marks", "")
    words = ["this", "that"] * (AT_ONCE // 2)

    answers = put_at_once(berth, [body_of(marks, word) for word in words])

    made = next(word for word, answer in zip(words, answers) if answer.status == 201)
    for word, answer in zip(words, answers):
        assert answer.status in ((200, 201) if word == made else (409,)), (word, made, answer)
    assert sum(answer.status == 201 for answer in answers) == 1
    berth.wait("j", "Completed")
    assert marks.read_text() == f"{made}\n"


@pytest.mark.parametrize("when", ["now", "after its end", "after a restart"])
def test_a_repeat_is_answered_with_the_same_job(berth, when):
    marks = berth.file("marks", "")
    first = berth.put("/jobs/j", body_of(marks))
    assert first.status == 201, first
    if when != "now":
        berth.wait("j", "Completed")
    if when == "after a restart":
        berth.ok("server", "stop")

    again = berth.put("/jobs/j", body_of(marks))
    other = berth.put("/jobs/j", body_of(marks, "another"))

    assert again.status == 200, again
    assert again.json["id"] == first.json["id"]
    assert again.json["systemData"]["createdAt"] == first.json["systemData"]["createdAt"]
    assert other.status == 409, other
    berth.wait("j", "Completed")
    assert marks.read_text() == "once\n"

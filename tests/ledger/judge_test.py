# SPDX-License-Identifier: Apache-2.0
"""The judge finds what is planted, and nothing in books that are in order."""

import json
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import books  # noqa: E402
import judge  # noqa: E402
import plan  # noqa: E402

SUPERVISOR, OTHER = 500, 501
LOST = "node 'local' lost the attempt: the process that supervised it was killed"


class Planted:
    """A folder of books; every job is in order until something is changed."""

    def __init__(self, folder):
        self.folder, self.lines = folder, []
        (folder / "marks").mkdir()

    def note(self, what, at=10.0, **facts):
        self.lines.append({"what": what, "at": at, **facts})

    def job(self, name="j", target="local", code=0, *, status=None, message=None, found=200, listed=1):
        self.note("asked", 1.0, job=name, target=target, code=code)
        self.note("put", 1.1, job=name, body="a", status=201, made="then")
        self.note("found", 20.0, job=name, status=found)
        said = f"the command exited with code {code}" if code else ""
        self.note("told", 20.0, job=name, status=status or ("Failed" if code else "Completed"),
                  message=said if message is None else message)
        for _ in range(listed):
            self.note("listed", 21.0, job=name)

    def marks(self, *lines, job="j"):
        (self.folder / "marks" / job).write_text("".join(line + "\n" for line in lines))

    def kill(self, at, *supervisors):
        self.note("kill", at, kind="everything", supervisors=list(supervisors), pids=list(supervisors))

    def charges(self):
        text = "".join(json.dumps(line) + "\n" for line in self.lines)
        (self.folder / "book.jsonl").write_text(text)
        return sorted(finding.charge for finding in judge.judge(books.read(self.folder)))


@pytest.fixture
def planted(tmp_path):
    return Planted(tmp_path)


def run(attempt, pid, begin, *, end=None, code=0, supervisor=SUPERVISOR):
    lines = [f"start {attempt} {pid} {begin:.2f} {supervisor}", f"tick {attempt} {pid} {begin + 0.05:.2f} "]
    return lines + ([f"end {attempt} {pid} {end:.2f} {code}"] if end else [])


@pytest.mark.parametrize("target", plan.TARGETS)
@pytest.mark.parametrize("code", [0, 7])
def test_a_job_that_ran_once_to_its_end_is_in_order(planted, target, code):
    planted.job(target=target, code=code)
    planted.marks(*run(1, 40, 2, end=3, code=code))

    assert planted.charges() == []


def test_an_acknowledged_job_that_is_not_there_was_lost(planted):
    planted.job(found=404, listed=0)

    assert planted.charges() == ["lost"]


def test_a_job_that_cannot_be_listed_was_lost(planted):
    planted.job(listed=0)
    planted.marks(*run(1, 40, 2, end=3))

    assert planted.charges() == ["lost"]


def test_what_was_never_acknowledged_may_be_missing(planted):
    planted.note("asked", 1.0, job="j", target="local", code=0)
    planted.note("found", 20.0, job="j", status=404)

    assert planted.charges() == []


def test_what_was_never_acknowledged_and_is_missing_must_not_have_run(planted):
    planted.note("asked", 1.0, job="j", target="local", code=0)
    planted.note("found", 20.0, job="j", status=404)
    planted.marks(*run(1, 40, 2, end=3))

    assert planted.charges() == ["lost"]


def test_a_job_that_is_listed_twice_is_doubled(planted):
    planted.job(listed=2)
    planted.marks(*run(1, 40, 2, end=3))

    assert planted.charges() == ["doubled"]


@pytest.mark.parametrize("again", [{"status": 201, "made": "then"}, {"status": 200, "made": "later"}])
def test_a_repeat_that_made_another_job_is_found(planted, again):
    planted.job()
    planted.note("put", 1.2, job="j", body="a", **again)
    planted.marks(*run(1, 40, 2, end=3))

    assert planted.charges() == ["doubled"]


def test_another_body_under_the_same_name_must_be_refused(planted):
    planted.job()
    planted.note("put", 1.2, job="j", body="b", status=409, made=None)
    planted.marks(*run(1, 40, 2, end=3))
    assert planted.charges() == []

    planted.note("put", 1.2, job="j", body="b", status=200, made="then")
    # The 409 was then an answer to a body that had been accepted.
    assert planted.charges() == ["answered wrongly", "answered wrongly"]


def test_a_repeat_must_not_be_refused(planted):
    planted.job()
    planted.note("put", 1.2, job="j", body="a", status=409, made=None)
    planted.marks(*run(1, 40, 2, end=3))

    assert planted.charges() == ["answered wrongly"]


def test_a_submit_is_answered_by_yes_or_conflict(planted):
    planted.job()
    planted.note("put", 1.2, job="j", body="a", status=500, made=None, text="oh")
    planted.marks(*run(1, 40, 2, end=3))

    assert planted.charges() == ["answered wrongly"]


@pytest.mark.parametrize("target", plan.TARGETS)
def test_a_run_that_was_complete_must_not_be_followed_by_another(planted, target):
    planted.job(target=target)
    planted.marks(*run(1, 40, 2, end=3), *run(2, 41, 4, end=5, supervisor=OTHER))

    assert planted.charges() == ["run twice"]


def test_the_same_attempt_must_not_begin_twice_even_when_its_supervisor_was_killed(planted):
    planted.job(target="pool")
    planted.kill(2.5, SUPERVISOR)
    planted.marks(*run(1, 40, 2), *run(1, 41, 4, end=5, supervisor=OTHER))

    assert planted.charges() == ["run twice"]


@pytest.mark.parametrize("supervisor", [SUPERVISOR, 0])
def test_a_cluster_runs_again_what_lost_its_supervisor(planted, supervisor):
    planted.job(target="pool")
    planted.kill(2.0, SUPERVISOR)
    planted.marks(*run(1, 40, 2, supervisor=supervisor), *run(2, 41, 4, end=5, supervisor=OTHER))

    assert planted.charges() == []


def test_a_supervisor_that_was_killed_at_another_job_is_no_excuse(planted):
    planted.job("first", target="pool")
    planted.job("second", target="pool")
    planted.marks(*run(1, 40, 2, end=3), *run(2, 41, 6, end=7, supervisor=OTHER), job="first")
    planted.marks(*run(1, 42, 4), *run(2, 43, 8, end=9, supervisor=OTHER), job="second")
    planted.kill(4.5, SUPERVISOR)

    assert planted.charges() == ["run twice"]


def test_the_death_of_another_supervisor_is_no_excuse(planted):
    planted.job(target="pool")
    planted.kill(2.0, OTHER)
    planted.marks(*run(1, 40, 2), *run(2, 41, 4, end=5, supervisor=OTHER))

    assert planted.charges() == ["run twice"]


def test_a_cluster_never_says_lost(planted):
    planted.job(target="pool", status="Failed", message=LOST)
    planted.kill(2.5, SUPERVISOR)
    planted.marks(*run(1, 40, 2))

    assert planted.charges() == ["wrong end"]


@pytest.mark.parametrize("killed_at, charges", [(5.0, []), (0.5, ["wrong end"]), (25.0, ["wrong end"])])
def test_one_that_never_began_is_lost_only_by_a_kill_while_it_was_there(planted, killed_at, charges):
    planted.job(status="Failed", message=LOST)
    planted.kill(killed_at, SUPERVISOR)

    assert planted.charges() == charges


def test_on_local_a_killed_supervisor_fails_the_job_and_it_does_not_run_again(planted):
    planted.job(status="Failed", message=LOST)
    planted.kill(2.5, SUPERVISOR)
    planted.marks(*run(1, 40, 2))
    assert planted.charges() == []

    planted.marks(*run(1, 40, 2), *run(2, 41, 4, end=5))
    assert "run twice" in planted.charges()


def test_a_loss_that_nobody_caused_is_a_wrong_end(planted):
    planted.job(status="Failed", message=LOST)
    planted.marks(*run(1, 40, 2, end=3))

    assert planted.charges() == ["wrong end"]


@pytest.mark.parametrize("job", [{"code": 7, "message": "the command exited with code 3"},
                                 {"code": 7, "status": "Completed", "message": ""},
                                 {"status": "Failed", "message": "cannot be started"},
                                 {"status": "Canceled"}])
def test_an_end_that_the_job_did_not_come_to_is_wrong(planted, job):
    planted.job(**job)
    planted.marks(*run(1, 40, 2, end=3, code=job.get("code", 0)))

    assert planted.charges() == ["wrong end"]


@pytest.mark.parametrize("marks", [[], run(1, 40, 2), run(1, 40, 2, end=3, code=9)])
def test_completed_without_a_complete_run_is_a_wrong_end(planted, marks):
    planted.job()
    planted.marks(*marks)

    assert planted.charges() == ["wrong end"]


def test_two_attempts_at_once_are_found_by_the_order_of_their_marks(planted):
    planted.job(target="pool")
    planted.kill(2.5, SUPERVISOR)
    first = run(1, 40, 2)
    planted.marks(*first, *run(2, 41, 4, end=5, supervisor=OTHER), "tick 1 40 4.50 ")

    assert planted.charges() == ["overlapping"]


def test_two_attempts_at_once_are_found_by_the_lock_they_both_want(planted):
    planted.job(target="pool")
    planted.kill(2.5, SUPERVISOR)
    planted.marks(*run(1, 40, 2), "overlap 2 41 4.00 ", *run(2, 41, 4, end=5, supervisor=OTHER))

    assert planted.charges() == ["overlapping"]


@pytest.mark.parametrize("status", ["Queued", "Starting", "Running", "Finalizing", "CancelRequested"])
def test_a_job_that_is_not_over_is_stuck(planted, status):
    planted.job(status=status, message="")
    planted.marks(*run(1, 40, 2))

    assert planted.charges() == ["stuck"]


def test_a_job_that_was_over_and_then_was_not_is_found(planted):
    planted.job()
    planted.note("told", 22.0, job="j", status="Failed", message="something else")
    planted.marks(*run(1, 40, 2, end=3))

    assert "two ends" in planted.charges()


def test_what_runs_after_its_end_was_told_is_found(planted):
    planted.job()
    planted.marks(*run(1, 40, 19, end=20.5))

    assert planted.charges() == ["after its end"]


def test_a_cancel_may_come_too_late_but_never_out_of_nowhere(planted):
    planted.job()
    planted.note("cancel", 2.0, job="j")
    planted.marks(*run(1, 40, 2, end=3))
    assert planted.charges() == []

    planted.job("k", status="Canceled")
    assert planted.charges() == ["wrong end"]


def test_a_log_with_a_gap_or_a_repeat_is_found(planted):
    planted.job()
    planted.marks(*run(1, 40, 2, end=3))
    planted.note("log", job="j", text="tick 0\n")
    assert planted.charges() == []

    for text in ("", "tick 0\ntick 0\n"):
        planted.note("log", job="j", text=text)
        assert planted.charges() == ["wrong log"]


def test_everything_that_is_left_over_is_named(planted):
    for kind in ("process", "control group", "node", "directory", "port", "daemon"):
        planted.note("left", kind=kind, name="x")
    planted.note("incident", text="check failed")

    assert planted.charges() == ["incident"] + ["left over"] * 6


def test_a_seed_always_says_the_same():
    assert list(plan.kills(7, 50)) == list(plan.kills(7, 50)) != list(plan.kills(8, 50))
    assert {kill.kind for kill in plan.kills(7, 500)} == set(plan.KINDS)
    first, again = plan.wishes(7, 1), plan.wishes(7, 1)
    assert [next(first) for _ in range(50)] == [next(again) for _ in range(50)]


def test_a_job_that_was_deleted_may_be_gone(planted):
    planted.job(found=404, listed=0)
    planted.marks(*run(1, 100, 5.0, end=6.0))
    planted.note("delete", 15.0, job="j")
    planted.note("deleted", 15.1, job="j", status=204, text="")
    assert planted.charges() == []


def test_a_job_that_was_deleted_and_is_still_there_is_found(planted):
    planted.job()
    planted.marks(*run(1, 100, 5.0, end=6.0))
    planted.note("delete", 15.0, job="j")
    planted.note("deleted", 15.1, job="j", status=204, text="")
    assert planted.charges() == ["not deleted"]


def test_a_delete_that_was_not_answered_may_have_happened_or_not(planted):
    planted.job("gone", found=404, listed=0)
    planted.marks(*run(1, 100, 5.0, end=6.0), job="gone")
    planted.note("delete", 15.0, job="gone")
    planted.job("here")
    planted.marks(*run(1, 101, 5.0, end=6.0), job="here")
    planted.note("delete", 15.0, job="here")
    planted.note("log", 21.0, job="here", text="")
    assert planted.charges() == []


def test_a_job_that_is_gone_without_a_delete_is_lost(planted):
    planted.job(found=404, listed=0)
    planted.marks(*run(1, 100, 5.0, end=6.0))
    assert planted.charges() == ["lost"]


def test_a_delete_that_is_refused_is_found(planted):
    planted.job()
    planted.marks(*run(1, 100, 5.0, end=6.0))
    planted.note("delete", 15.0, job="j")
    planted.note("deleted", 15.1, job="j", status=409, text="is not over")
    assert planted.charges() == ["answered wrongly"]


@pytest.mark.parametrize("read, charges", [
    ({"status": 200, "is_whole": True}, []),
    ({"status": 200, "is_whole": False}, ["lost file"]),
    ({"status": 404, "is_whole": False}, ["lost file"]),
    (None, ["lost file"]),
])
def test_a_file_that_was_stored_is_there_whole(planted, read, charges):
    planted.note("stored", path="a", content=1, status=201, text="")
    if read:
        planted.note("read", path="a", **read)
    assert planted.charges() == charges


def test_a_file_that_was_to_go_may_be_there_or_not(planted):
    planted.note("stored", path="a", content=1, status=201, text="")
    planted.note("removing", path="a")
    assert planted.charges() == []


def test_an_upload_that_is_refused_is_found(planted):
    planted.note("stored", path="a", content=1, status=400, text="no")
    assert planted.charges() == ["answered wrongly"]

# SPDX-License-Identifier: Apache-2.0
"""What every test of the real executable gets: a state directory of its own, and a look at what is left of it."""

import os

import pytest

from harness import BINARY, LEAVE_DEADLINE, Berth, eventually, kill
from secrets_scan import leaks_of


def pytest_configure(config):
    assert BINARY.exists(), f"{BINARY} is not built; set BERTH_BINARY"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """In CI a test that cannot run is a failure: nothing is skipped in silence."""
    outcome = yield
    report = outcome.get_result()
    setattr(item, f"report_{report.when}", report)
    if report.skipped and os.environ.get("CI") and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped, which is not allowed with CI set: {call.excinfo}"


@pytest.fixture(autouse=True)
def no_secret_is_told():
    """After every test, whatever it was about: no secret stands in anything that it made."""
    Berth.made.clear()
    yield
    leaks = [leak for each in Berth.made for leak in leaks_of(each)]
    assert not leaks, "\n".join(leaks)


@pytest.fixture
def berth(request, tmp_path):
    """A state directory nobody has used yet. Starts nothing by itself; checks that nothing is left."""
    folder = tmp_path / "here"
    folder.mkdir()
    berth = Berth(tmp_path / "home", folder)
    yield berth
    berth.stop()
    assert not berth.reports(), "\n".join(berth.reports())
    try:
        eventually(lambda: not berth.processes(), LEAVE_DEADLINE, "the end of every process of this home")
    except AssertionError:
        left = berth.processes()
        for pid in left:
            kill(pid)
        pytest.fail(f"left running: {left}")
    finally:
        report = getattr(request.node, "report_call", None)
        if report and report.failed:
            for log in sorted(berth.home.rglob("*.log")) + [folder / "server.log"]:
                if log.exists():
                    print(f"--- {log}\n{log.read_text(errors='replace')[-8000:]}")

# SPDX-License-Identifier: Apache-2.0
"""The official clients against a real server: the same fixtures as tests/e2e, and a line that counts."""

import importlib.metadata
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

from fixtures import berth, no_secret_is_told, pytest_configure, pytest_runtest_makereport  # noqa: E402

__all__ = ["berth", "no_secret_is_told", "pytest_configure", "pytest_runtest_makereport"]

# Before any client is imported: nothing may go to anybody but the server under test.
os.environ |= {"MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true", "AZURE_CORE_COLLECT_TELEMETRY": "0"}


def pytest_terminal_summary(terminalreporter):
    stats = terminalreporter.stats
    passed = sum(report.when == "call" for report in stats.get("passed", []))
    others = sum(len(stats.get(kind, [])) for kind in ("failed", "error", "skipped", "xfailed", "xpassed"))
    package = os.environ.get("BERTH_CLIENT_PACKAGE")
    if not package:  # A client that is not of PyPI counts by itself.
        return
    terminalreporter.write_line(f"{package} {importlib.metadata.version(package)}: {passed} of {passed + others}")

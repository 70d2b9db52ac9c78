# SPDX-License-Identifier: Apache-2.0
"""Runs a suite of Node's own test runner against a server of its own."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

from harness import BINARY

HERE = pathlib.Path(__file__).resolve().parent
COUNTS = []


def berth_env(berth):
    """What a shell has after eval "$(berth env)"."""
    words = f'eval "$("{BINARY}" env)" && env -0'
    shell = subprocess.run(["sh", "-c", words], env=berth.environment, check=True, stdout=subprocess.PIPE, text=True)
    after = dict(line.split("=", 1) for line in shell.stdout.split("\0") if line)
    return {name: value for name, value in after.items() if berth.environment.get(name) != value}


@pytest.fixture
def suite(berth):
    """Runs one file, with the environment of somebody who uses the client."""
    modules = subprocess.run([HERE / "modules"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()

    def run(name, with_env=False):
        if not berth.is_up():
            berth.start_server()
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("AZURE_", "NODE_"))}
        environment |= {
            "BERTH_CLIENT_MODULES": modules, "BERTH_ENDPOINT": f"https://127.0.0.1:{berth.port()}", "BERTH_TOKEN": berth.token(),
            "NODE_EXTRA_CA_CERTS": str(berth.authority()), "NODE_OPTIONS": "--no-warnings"}
        environment |= berth_env(berth) if with_env else {}
        outcome = subprocess.run(["node", HERE / name], env=environment, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True, errors="replace")
        sys.stdout.write(outcome.stdout)
        assert outcome.returncode == 0, f"{name} exited with {outcome.returncode}"
        COUNTS.extend(re.findall(r"^(?:# )?(arm-machinelearning .*)$", outcome.stdout, re.MULTILINE))
        counts = dict(re.findall(r"^\S (tests|pass) (\d+)$", outcome.stdout, re.MULTILINE))
        COUNTS.append(f"{name}: {counts['pass']} of {counts['tests']}")

    return run


def pytest_terminal_summary(terminalreporter):
    for line in COUNTS:
        terminalreporter.write_line(line)

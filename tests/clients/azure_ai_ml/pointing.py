# SPDX-License-Identifier: Apache-2.0
"""How a client comes to talk to Berth: with what `berth env` prints, and nothing else."""

import os
import subprocess

from azure.ai.ml import MLClient
from azure.identity import DefaultAzureCredential

from harness import BINARY, DEADLINE

SUBSCRIPTION = "00000000-0000-0000-0000-000000000000"


def shell_environment(berth, *words, env=None):
    """What a POSIX shell has after `eval "$(berth env)"`."""
    script = 'set -eu; eval "$("$0" env "$@")"; env -0'
    printed = subprocess.run(["sh", "-c", script, str(BINARY), *words], env=berth.environment | (env or {}),
                             cwd=berth.folder, stdout=subprocess.PIPE, timeout=DEADLINE, check=True).stdout
    pairs = (line.split("=", 1) for line in printed.decode().split("\0") if line)
    return {name: value for name, value in pairs if berth.environment.get(name) != value}


def point(berth, monkeypatch, tmp_path):
    """Gives this process the environment of such a shell, in a folder of the test's own."""
    for name in list(os.environ):
        if name.startswith(("AZURE", "MLFLOW_TRACKING", "IDENTITY_", "MSI_")):
            monkeypatch.delenv(name)
    for name, value in shell_environment(berth).items():
        if name not in ("PWD", "OLDPWD", "SHLVL", "_"):
            monkeypatch.setenv(name, value)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(berth.folder)
    return berth


def make_client(workspace="default"):
    return MLClient(DefaultAzureCredential(), SUBSCRIPTION, "berth", workspace)

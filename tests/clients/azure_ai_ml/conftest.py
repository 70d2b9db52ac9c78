# SPDX-License-Identifier: Apache-2.0
"""azure-ai-ml as it comes from PyPI, with nothing but what `berth env` prints."""

import os
import pathlib
import socket
import subprocess

import pytest
from azure.ai.ml import MLClient
from azure.identity import DefaultAzureCredential

from harness import BINARY, DEADLINE, WORKSPACE

SUBSCRIPTION = "00000000-0000-0000-0000-000000000000"
# Where the client keeps nothing of its own between tests.
SET_BY_THE_CLIENT = ("AZUREML_CURRENT_CLOUD",)


@pytest.fixture(autouse=True)
def nobody_else_is_called(monkeypatch):
    """Whatever a test does: no name but our own is looked up, no other machine is connected to."""
    others = []
    look_up, connect = socket.getaddrinfo, socket.socket.connect

    def is_ours(host):
        return host in (None, "", "localhost", "127.0.0.1", "::1", b"127.0.0.1")

    def watched_look_up(host, *more, **named):
        if not is_ours(host):
            others.append(f"looked up {host}")
            raise socket.gaierror(f"{host} is not ours")
        return look_up(host, *more, **named)

    def watched_connect(self, address):
        if self.family in (socket.AF_INET, socket.AF_INET6) and not is_ours(address[0]):
            others.append(f"connected to {address}")
            raise ConnectionRefusedError(f"{address} is not ours")
        return connect(self, address)

    monkeypatch.setattr(socket, "getaddrinfo", watched_look_up)
    monkeypatch.setattr(socket.socket, "connect", watched_connect)
    yield
    assert not others, others


def shell_environment(berth, *words, env=None):
    """What a POSIX shell has after `eval "$(berth env)"`."""
    script = f'set -eu; eval "$("$0" env "$@")"; env -0'
    printed = subprocess.run(["sh", "-c", script, str(BINARY), *words], env=berth.environment | (env or {}),
                             cwd=berth.folder, stdout=subprocess.PIPE, timeout=DEADLINE, check=True).stdout
    pairs = (line.split("=", 1) for line in printed.decode().split("\0") if line)
    return {name: value for name, value in pairs if berth.environment.get(name) != value}


@pytest.fixture
def pointed(berth, monkeypatch, tmp_path):
    """This process with the environment of such a shell, in a folder of the test's own."""
    for name in list(os.environ):
        if name.startswith(("AZURE", "MLFLOW_TRACKING", "IDENTITY_", "MSI_")):
            monkeypatch.delenv(name)
    for name, value in shell_environment(berth).items():
        if name not in ("PWD", "OLDPWD", "SHLVL", "_"):
            monkeypatch.setenv(name, value)
    for name in SET_BY_THE_CLIENT:  # So that what a client writes into it is undone as well.
        monkeypatch.setenv(name, os.environ.get(name, ""))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(berth.folder)
    return berth


def make_client(workspace="default"):
    return MLClient(DefaultAzureCredential(), SUBSCRIPTION, "berth", workspace)


@pytest.fixture
def ml(pointed):
    """The client of a user of Azure ML: three names and a credential."""
    return make_client()


@pytest.fixture
def folder(pointed):
    """Makes a folder with files: folder("src", {"main.py": "…"})."""

    def make(name, files):
        for path, text in files.items():
            file = pathlib.Path(pointed.folder) / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(pathlib.Path(pointed.folder) / name)

    return make


def arm_id(kind, name):
    return f"{WORKSPACE}/{kind}/{name}"

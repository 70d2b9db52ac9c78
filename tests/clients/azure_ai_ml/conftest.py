# SPDX-License-Identifier: Apache-2.0
"""azure-ai-ml as it comes from PyPI, with nothing but what `berth env` prints."""

import pathlib
import socket

import pytest

from pointing import make_client, point


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


@pytest.fixture
def pointed(berth, monkeypatch, tmp_path):
    return point(berth, monkeypatch, tmp_path)


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

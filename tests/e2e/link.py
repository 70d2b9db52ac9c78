# SPDX-License-Identifier: Apache-2.0
"""A network between nodes and a server that can be cut, slowed down and made to break connections."""

import contextlib
import os
import pathlib
import socket
import struct
import threading
import time


def owns_port(pid, port):
    """Whether a TCP connection from that local port is the process's."""
    for line in pathlib.Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if int(fields[1].split(":")[1], 16) == port:
            for descriptor in pathlib.Path(f"/proc/{pid}/fd").iterdir():
                with contextlib.suppress(OSError):
                    if os.readlink(descriptor) == f"socket:[{fields[9]}]":
                        return True
    return False


class Passage:
    """One connection through the link."""

    def __init__(self, link, inside):
        self.link, self.inside = link, inside
        self.outside = socket.create_connection(("127.0.0.1", link.target))
        self.carried = 0
        self.may_pass = threading.Event()
        self.may_pass.set()
        for source, sink in ((self.inside, self.outside), (self.outside, self.inside)):
            threading.Thread(target=self.pump, args=(source, sink), daemon=True).start()

    def pump(self, source, sink):
        try:
            while data := source.recv(self.link.rate // 50 if self.link.rate else 65536):
                self.may_pass.wait()
                if self.link.rate:
                    time.sleep(0.02)  # The slowness itself, not a wait for something.
                self.carried += len(data)
                if self.link.break_after and self.carried > self.link.break_after:
                    self.link.broken += 1
                    return self.reset()
                sink.sendall(data)
        except OSError:
            pass
        for end in (self.inside, self.outside):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def reset(self):
        """Both ends see a reset, not an orderly end."""
        for end in (self.inside, self.outside):
            with contextlib.suppress(OSError):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                end.close()


class Link:
    """Listens at a port of its own and passes everything on to `target`."""

    def __init__(self, target):
        self.target = target
        self.rate = 0  # Bytes a second in each direction; 0: as fast as it goes.
        self.break_after = 0  # Bytes after which a connection is reset; 0: never.
        self.broken = 0
        self.passages = []
        self.cut_off = set()  # Processes whose connections, old and new, carry nothing.
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                inside, peer = self.listener.accept()
                is_cut = any(owns_port(pid, peer[1]) for pid in self.cut_off)
                with contextlib.suppress(OSError):
                    passage = Passage(self, inside)
                    passage.peer = peer[1]
                    if is_cut:
                        passage.may_pass.clear()
                    self.passages.append(passage)

    def cut(self, pid):
        """Nothing passes any more, and nobody is told."""
        self.cut_off.add(pid)
        for passage in self.passages:
            with contextlib.suppress(OSError):
                if owns_port(pid, passage.peer):
                    passage.may_pass.clear()

    def heal(self):
        self.cut_off.clear()
        for passage in self.passages:
            passage.may_pass.set()

    def close(self):
        self.heal()
        self.listener.close()
        for passage in self.passages:
            passage.reset()

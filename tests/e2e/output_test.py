# SPDX-License-Identifier: Apache-2.0
"""Whatever a command prints comes back byte for byte, and costs the server no memory."""

import hashlib
import os

import pytest

from harness import DEADLINE, grew_too_much, memory_kib, short

FLOOD = int(os.environ.get("BERTH_TEST_FLOOD_MIB", "200")) << 20


@pytest.mark.parametrize("name, code, expected", [
    ("nuls", r"w(b'a\0b\0\0c\n')", b"a\0b\0\0c\n"),
    ("half-utf8", r"w(b'\xe2\x82'); f(); w(b'\xac \xff\xfe \xc3')", b"\xe2\x82\xac \xff\xfe \xc3"),
    ("escapes", r"w(b'\x1b[31mred\x1b[0m\x1b]52;c;AAAA\x07\r\n')", b"\x1b[31mred\x1b[0m\x1b]52;c;AAAA\x07\r\n"),
    ("one-long-line", r"w(b'x' * 3000000)", b"x" * 3000000),
    ("nothing", r"pass", b""),
    ("every-byte", r"w(bytes(range(256)) * 100)", bytes(range(256)) * 100),
], ids=short)
def test_bytes_come_back_as_they_were(berth, name, code, expected):
    berth.file("p.py", f"import sys\nw = sys.stdout.buffer.write\nf = sys.stdout.buffer.flush\n{code}\n")

    outcome = berth.ok("run", "--name", name, "--", "python3", "p.py")

    assert outcome.out_bytes == expected
    assert berth.log(name) == expected


def test_opening_its_streams_by_name_erases_nothing(berth):
    command = "echo one; echo two > /dev/stderr; echo three > /dev/stdout; echo four > /proc/self/fd/1; echo five"

    outcome = berth.ok("run", "--name", "j", "--", "sh", "-c", command)

    assert outcome.out.split() == ["one", "two", "three", "four", "five"]
    assert berth.log("j") == outcome.out_bytes


def test_a_command_that_closes_its_stdout_runs_on(berth):
    berth.file("p.py", "import os\nos.write(1, b'before\\n')\nos.close(1); os.close(2)\n"
                       "os.makedirs('outputs', exist_ok=True)\nopen('outputs/after', 'w').write('after')\n")

    outcome = berth.ok("run", "--name", "j", "--", "python3", "p.py")

    assert outcome.out == "before\n"
    berth.ok("job", "download", "--name", "j", "--all", "--download-path", "got")
    assert (berth.folder / "got/artifacts/outputs/after").read_text() == "after"


@pytest.mark.parametrize("piece, size", [(bytes(range(256)), FLOOD), (b"\0\xffx\x1b", FLOOD // 4)],
                         ids=["lines", "one line"])
def test_a_flood_arrives_whole_and_the_servers_memory_stays_small(berth, piece, size):
    pid = berth.ensure_server()["pid"]
    before = memory_kib(pid)
    chunk = piece * ((1 << 20) // len(piece))
    berth.file("p.py", f"import sys\nchunk = {piece!r} * {len(chunk) // len(piece)}\n"
                       f"for _ in range({size >> 20}): sys.stdout.buffer.write(chunk)\n")
    expected = hashlib.sha256()
    for _ in range(size >> 20):
        expected.update(chunk)

    process = berth.popen("run", "--name", "flood", "--", "python3", "p.py")
    seen, count, highest = hashlib.sha256(), 0, before
    while part := process.stdout.read(1 << 20):
        seen.update(part)
        count += len(part)
        highest = max(highest, memory_kib(pid))
    process.communicate(timeout=DEADLINE)

    assert process.returncode == 0
    assert count == size and seen.digest() == expected.digest()
    assert not grew_too_much(before, highest, 64), f"grew from {before} to {highest} KiB"


def test_a_flood_nobody_watches_is_stored_whole(berth):
    berth.submit("yes 0123456789abcdef | head -c 30000000", "flood")

    berth.wait("flood", "Completed")

    log = berth.log("flood")
    assert len(log) == 30000000
    assert log == (b"0123456789abcdef\n" * (30000000 // 17 + 1))[:30000000]

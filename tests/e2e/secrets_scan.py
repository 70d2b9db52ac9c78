# SPDX-License-Identifier: Apache-2.0
"""Looks for secrets where none may be: in every log, error, answer and row that a test made."""

import base64
import re

# A signature is one whoever made it: in a signed address, a node's token.
SIGNED = re.compile(rb"[?&]sig=[A-Za-z0-9%+/_-]{20,}|berth-node\.[A-Za-z0-9_.-]+\.[0-9a-f]{64}")
# A job's own token is its own to print; nobody else has a reason to.
JOB_TOKEN = re.compile(rb"berth-job\.[A-Za-z0-9_.-]+\.[0-9a-f]{64}")
LARGEST = 32 << 20
# Commands whose answer is a secret, because that is what they were asked for.
TELLERS = ("env", "token")


def values_of(home):
    """The secrets of a state directory, also as base64."""
    names = {}
    for path in [home / "owner.token", home / "secrets/signing.key", *home.glob("nodes/*/token")]:
        if path.is_file() and len(text := path.read_bytes().strip()) >= 16:
            names[text] = path.name
            names[base64.b64encode(text)] = f"{path.name} as base64"
    return names


def files_of(folder, *patterns):
    for pattern in patterns:
        for path in folder.glob(pattern):
            if path.is_file() and path.stat().st_size <= LARGEST:
                yield path, path.read_bytes()


def leaks_of(berth):
    """Where a secret of this state directory stands that should not."""
    found = []
    secrets = values_of(berth.home)

    def look(where, data, *patterns):
        found.extend(f"{name} in {where}" for secret, name in secrets.items() if secret in data)
        found.extend(f"{match.group()[:24]!r}… in {where}" for pattern in patterns if (match := pattern.search(data)))

    for path, data in [*files_of(berth.home, "**/*.log", "berth.db*"), *files_of(berth.folder, "*.log")]:
        look(path, data, SIGNED, JOB_TOKEN)
    for path, data in files_of(berth.home, "live/**/*", "objects/**/*"):
        look(path, data)
    for words, out, err in berth.said:
        look(f"stderr of berth {' '.join(words)}", err, SIGNED, JOB_TOKEN)
        if not words or words[0] not in TELLERS:
            look(f"stdout of berth {' '.join(words)}", out)
    return found

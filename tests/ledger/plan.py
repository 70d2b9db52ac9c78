# SPDX-License-Identifier: Apache-2.0
"""What a seed decides: who is killed when, and what clients ask for. Nothing here looks at a clock."""

import dataclasses
import random

TARGETS = ("local", "pool")


@dataclasses.dataclass(frozen=True)
class Kill:
    pause: float  # seconds before it, with everything up
    kind: str
    down: float  # seconds until the server is started again
    pick: float  # which of the agents, as a share of their number


# F1 and F2, F3, both at once, F4, and supervisors alone.
KINDS = {"server": 40, "agent": 25, "server+agents": 20, "everything": 10, "supervisors": 5}


def kills(seed, count):
    dice = random.Random(f"kills {seed}")
    for _ in range(count):
        yield Kill(pause=dice.choice((0.0, 0.05, 0.15, 0.3)) * dice.random() * 2,
                   kind=dice.choices(list(KINDS), list(KINDS.values()))[0],
                   down=dice.random() * 0.05,
                   pick=dice.random())


@dataclasses.dataclass(frozen=True)
class Wish:
    """One job, and what its client does about it besides asking for it."""
    job: str
    target: str
    ticks: int
    code: int
    kind: str  # "plain", or "leaves" a daemon behind
    manner: str


# repeat: asks again after it was acknowledged. other: asks for something else under the same name.
# crowd: many clients at once, half of them for something else. cancel: changes its mind.
# impatient: asks once, and takes no answer for an answer. delete: deletes it when it is over.
MANNERS = {"plain": 50, "repeat": 10, "other": 10, "cancel": 10, "impatient": 6, "crowd": 4, "delete": 10}


def wishes(seed, client):
    """Without end."""
    dice = random.Random(f"client {client} {seed}")
    number = 0
    while True:
        number += 1
        yield Wish(job=f"c{client}-{number}",
                   target=dice.choice(TARGETS),
                   ticks=dice.choices((0, 2, 8, 25), (30, 40, 20, 10))[0],
                   code=dice.choices((0, 3, 7), (80, 10, 10))[0],
                   kind=dice.choices(("plain", "leaves"), (90, 10))[0],
                   manner=dice.choices(list(MANNERS), list(MANNERS.values()))[0])


# So many uploads of a client share so few contents, most of which go again: an object loses its last name and is
# wanted once more at any moment of a sweep. Then the next contents have their turn.
TURN, CONTENTS = 20, 1


@dataclasses.dataclass(frozen=True)
class Upload:
    """One file, and what becomes of it."""
    path: str
    content: int
    in_blocks: bool
    is_removed: bool


def uploads(seed, client):
    """Without end."""
    dice = random.Random(f"uploads {client} {seed}")
    number = 0
    while True:
        number += 1
        yield Upload(path=f"ledger/{client}/{number}",
                     content=number // TURN * CONTENTS + dice.randrange(CONTENTS),
                     in_blocks=dice.random() < 0.3,
                     is_removed=dice.random() < 0.95)


def bytes_of(content):
    return f"content {content}\n".encode() * 100

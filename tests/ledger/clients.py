# SPDX-License-Identifier: Apache-2.0
"""Those who ask for jobs. They write down what they were told, and believe nothing else."""

import contextlib
import http.client
import json
import random
import threading
import time

import books
import judge
import plan
from harness import WORKSPACE

# A server that does not answer for so long is as good as dead; one on a loaded machine is slow.
PATIENCE = 20
CROWD = 16


class Door:
    """One client's way to whatever server there is at the moment."""

    given_up = threading.Event()  # by the ledger: no server will come any more

    def __init__(self, home):
        self.home = home
        self.connection = None

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def ask(self, method, below, body=None):
        """(status, answer), or None when the server is not there or was gone before it answered."""
        try:
            if not self.connection:
                port = json.loads((self.home / "server.json").read_text())["port"]
                self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
            token = (self.home / "owner.token").read_text().strip()
            headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
            self.connection.request(method, f"{WORKSPACE}{below}", json.dumps(body) if body is not None else None,
                                    headers)
            answer = self.connection.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if text else {}
        except (OSError, ValueError, KeyError, http.client.HTTPException):
            self.close()
            return None

    def insist(self, method, below, body=None):
        """Asks until a server answers and has room."""
        until = time.monotonic() + 10 * PATIENCE
        while time.monotonic() < until and not self.given_up.is_set():
            answer = self.ask(method, below, body)
            if answer and answer[0] != 503:
                return answer
            time.sleep(0.01)
        raise RuntimeError(f"no server answered {method} {below}")


def command_of(folder, wish, body):
    words = [folder / "job.sh", folder / "marks" / wish.job, wish.ticks, wish.code, wish.kind]
    return "exec " + " ".join(map(str, words)) + (" other" if body == "b" else "")


def submit(door, book, folder, wish, body="a", insist=True):
    """The HTTP status; None when it took no answer for an answer."""
    properties = {"jobType": "Command", "command": command_of(folder, wish, body), "computeId": wish.target,
                  "environmentId": "azureml:none:1"}
    way = door.insist if insist else door.ask
    answer = way("PUT", f"/jobs/{wish.job}?api-version=2024-10-01", {"properties": properties})
    if not answer:
        return None
    status, said = answer
    if status in (200, 201):
        book.note("put", job=wish.job, body=body, status=status, made=said["systemData"]["createdAt"])
    else:
        book.note("put", job=wish.job, body=body, status=status, made=None, text=str(said)[:300])
    return status


def look(door, book, job):
    """The job's status as its client is told."""
    http_status, said = door.insist("GET", f"/jobs/{job}?api-version=2024-10-01")
    book.note("found", job=job, status=http_status)
    if http_status != 200:
        return None
    shown = said["properties"]
    book.note("told", job=job, status=shown["status"], message=(shown.get("error") or {}).get("message", ""))
    return shown["status"]


class Client(threading.Thread):
    OPEN = 5  # jobs it follows at once

    def __init__(self, number, seed, home, folder, stop):
        super().__init__(daemon=True)
        self.wishes = plan.wishes(seed, number)
        self.dice = random.Random(f"follows {number} {seed}")
        self.door, self.folder, self.stop = Door(home), folder, stop
        self.book = books.Book(folder, f"client-{number}")
        self.open = []
        self.trouble = None

    def run(self):
        try:
            while not self.stop.is_set():
                self.ask_for(next(self.wishes))
                self.follow(most=self.OPEN)
        except Exception as trouble:  # A client that gives up must not look like one that is content.
            self.trouble = trouble
        finally:
            self.door.close()

    def ask_for(self, wish):
        self.book.note("asked", job=wish.job, target=wish.target, code=wish.code)
        if wish.manner == "crowd":
            self.crowd(wish)
        elif not submit(self.door, self.book, self.folder, wish, insist=wish.manner != "impatient"):
            return
        self.open.append(wish.job)
        if wish.manner == "repeat":
            submit(self.door, self.book, self.folder, wish)
        elif wish.manner == "other":
            submit(self.door, self.book, self.folder, wish, "b")
        elif wish.manner == "cancel":
            self.cancel(wish)

    def crowd(self, wish):
        """All at once, half of them for something else under the same name."""
        def ask(number):
            door, book = Door(self.door.home), books.Book(self.folder, f"crowd-{wish.job}-{number}")
            with contextlib.closing(door):
                submit(door, book, self.folder, wish, "ab"[number % 2])

        crowd = [threading.Thread(target=ask, args=(number,)) for number in range(CROWD)]
        for each in crowd:
            each.start()
        for each in crowd:
            each.join()

    def cancel(self, wish):
        for _ in range(self.dice.randrange(4)):
            look(self.door, self.book, wish.job)
        self.book.note("cancel", job=wish.job)
        self.door.insist("POST", f"/jobs/{wish.job}/cancel?api-version=2024-10-01", {})

    def follow(self, most):
        """Looks now and then at what it asked for, until only so many are not over."""
        while len(self.open) > most and not self.stop.is_set():
            job = self.dice.choice(self.open)
            if look(self.door, self.book, job) in (None, *judge.TERMINAL):
                self.open.remove(job)
            else:
                time.sleep(0.01)

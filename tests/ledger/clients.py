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
        answer = self.send(method, f"{WORKSPACE}{below}", json.dumps(body) if body is not None else None)
        try:
            return answer and (answer[0], json.loads(answer[1]) if answer[1] else {})
        except ValueError:
            return None

    def send(self, method, path, body=None, headers=None):
        """The same for any address, in bytes."""
        try:
            if not self.connection:
                port = json.loads((self.home / "server.json").read_text())["port"]
                self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
            token = (self.home / "owner.token").read_text().strip()
            self.connection.request(method, path, body, {"Authorization": f"Bearer {token}",
                                                         "Content-Type": "application/json", **(headers or {})})
            answer = self.connection.getresponse()
            return answer.status, answer.read()
        except (OSError, ValueError, KeyError, http.client.HTTPException):
            self.close()
            return None

    def insist(self, method, below, body=None):
        """Asks until a server answers and has room."""
        return self.until_answered(f"{method} {below}", lambda: self.ask(method, below, body))

    def insist_on(self, method, path, body=None, headers=None):
        return self.until_answered(f"{method} {path}", lambda: self.send(method, path, body, headers))

    def until_answered(self, what, ask):
        until = time.monotonic() + 10 * PATIENCE
        while time.monotonic() < until and not self.given_up.is_set():
            answer = ask()
            if answer and answer[0] != 503:
                return answer
            time.sleep(0.01)
        raise RuntimeError(f"no server answered {what}")


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
        self.unwanted = set()  # to be deleted when they are over
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
        elif wish.manner == "delete":
            self.unwanted.add(wish.job)

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
            status = look(self.door, self.book, job)
            if status not in (None, *judge.TERMINAL):
                time.sleep(0.01)
                continue
            self.open.remove(job)
            if job in self.unwanted:
                self.delete(job)

    def delete(self, job):
        """Its client is done with it. Of the delete that is not answered nobody knows what became."""
        self.book.note("delete", job=job)
        status, said = self.door.insist("DELETE", f"/jobs/{job}?api-version=2024-10-01")
        self.book.note("deleted", job=job, status=status, text=str(said)[:300])


class Uploader(threading.Thread):
    """Stores the same few contents under many names, and takes most of them away again."""

    def __init__(self, number, seed, home, folder, stop):
        super().__init__(daemon=True)
        self.uploads = plan.uploads(seed, number)
        self.door, self.stop = Door(home), stop
        self.book = books.Book(folder, f"uploader-{number}")
        self.trouble = None

    def run(self):
        try:
            root = blob_root(self.door)
            while not self.stop.is_set():
                self.store(root, next(self.uploads))
        except Exception as trouble:
            self.trouble = trouble
        finally:
            self.door.close()

    def store(self, root, upload):
        url, content = f"{root}/{upload.path}", plan.bytes_of(upload.content)
        if upload.in_blocks:
            self.door.insist_on("PUT", f"{url}?comp=block&blockid=YQ==", content)
            order = b"<BlockList><Latest>YQ==</Latest></BlockList>"
            status, said = self.door.insist_on("PUT", f"{url}?comp=blocklist", order)
        else:
            status, said = self.door.insist_on("PUT", url, content, {"x-ms-blob-type": "BlockBlob"})
        self.book.note("stored", path=upload.path, content=upload.content, status=status, text=said.decode()[:300])
        if upload.is_removed:
            self.book.note("removing", path=upload.path)
            self.door.insist_on("DELETE", url)


class Sweeper(threading.Thread):
    """Has everything swept that nothing names, one sweep after the other."""

    def __init__(self, home, stop):
        super().__init__(daemon=True)
        self.door, self.stop = Door(home), stop
        self.sweeps, self.objects = 0, 0
        self.trouble = None

    def run(self):
        while not self.stop.is_set():
            answer = self.door.send("POST", "/berth/v1/storage/sweep", b"{}")
            if answer and answer[0] == 200:
                self.sweeps += 1
                self.objects += json.loads(answer[1])["objects"]
            elif answer and answer[0] not in (503, 507):
                self.trouble = f"a sweep was answered {answer[0]}: {answer[1][:300]}"
            time.sleep(0 if answer else 0.01)
        self.door.close()


def blob_root(door):
    """Where files of the default datastore are read and written."""
    status, said = door.insist("GET", "?api-version=2024-10-01")
    assert status == 200, said
    return f"/blob/{said['properties']['workspaceId']}/azureml-blobstore"

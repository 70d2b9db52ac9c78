# SPDX-License-Identifier: Apache-2.0
"""The ledger's own files: what was asked, what clients were told, who was killed, what is left.

One folder, one file for each writer, one JSON object a line; every line is on its way to the file
before its writer goes on. The marks of the jobs lie beside them, one file for each job.
"""

import dataclasses
import json
import pathlib


def now():
    """Seconds since the machine started, by the clock that the jobs read."""
    return float(pathlib.Path("/proc/uptime").read_text().split()[0])


class Book:
    """Belongs to one thread."""

    def __init__(self, folder, name):
        self.file = open(pathlib.Path(folder) / f"{name}.jsonl", "a", buffering=1)

    def note(self, what, **facts):
        self.file.write(json.dumps({"what": what, "at": now(), **facts}) + "\n")


@dataclasses.dataclass
class Run:
    """One start of a job's command, by its own marks."""
    job: str
    attempt: int
    pid: int
    supervisor: int  # 0: dead before the first mark
    started: float
    last: float
    ticks: int = 0
    code: int | None = None  # it came to its end


@dataclasses.dataclass
class Entry:
    """All that is known of one job."""
    job: str
    target: str = "local"
    code: int = 0
    asked: float = 0.0
    puts: list = dataclasses.field(default_factory=list)  # {"body", "status", "made"}
    told: list = dataclasses.field(default_factory=list)  # {"at", "status", "message"}
    cancel_asked: bool = False
    delete_asked: bool = False
    deletes: list = dataclasses.field(default_factory=list)  # {"status", "text"}
    found: int | None = None  # the HTTP status of the last look
    listed: int = 0
    log: str | None = None
    runs: list = dataclasses.field(default_factory=list)
    stray: list = dataclasses.field(default_factory=list)  # marks that contradict each other

    @property
    def acknowledged(self):
        return any(put["status"] in (200, 201) for put in self.puts)

    @property
    def deleted(self):
        return any(each["status"] in (200, 204) for each in self.deletes)


@dataclasses.dataclass
class File:
    """What somebody uploaded, and what they found of it in the end."""
    path: str
    content: int = 0
    status: int = 0
    text: str = ""
    is_unwanted: bool = False  # asked to be taken away
    read: dict | None = None  # {"status", "is_whole"}

    @property
    def is_kept(self):
        return self.status == 201 and not self.is_unwanted


@dataclasses.dataclass
class Ledger:
    entries: dict = dataclasses.field(default_factory=dict)
    files: dict = dataclasses.field(default_factory=dict)  # by path
    kills: list = dataclasses.field(default_factory=list)  # {"at", "kind", "supervisors": [pid]}
    left: dict = dataclasses.field(default_factory=dict)  # kind -> what
    incidents: list = dataclasses.field(default_factory=list)

    def entry(self, job):
        return self.entries.setdefault(job, Entry(job))


def read_marks(entry, lines):
    """Lines stand in the order in which they were appended."""
    latest = {}
    for line in lines:
        words = line.split()
        what, attempt, pid, at = words[0], int(words[1]), int(words[2]), float(words[3])
        if what == "start":
            latest[pid] = Run(entry.job, attempt, pid, int(words[4]), at, at)
            entry.runs.append(latest[pid])
            continue
        if what == "overlap":
            entry.stray.append(f"attempt {attempt} began while another was there")
            continue
        run = latest.get(pid)
        if run is None:
            entry.stray.append(f"'{what}' of process {pid}, which never started")
            continue
        if run is not entry.runs[-1]:
            entry.stray.append(f"attempt {run.attempt} was still there when {entry.runs[-1].attempt} ran")
        if run.code is not None:
            entry.stray.append(f"'{what}' of attempt {run.attempt} after its end")
        run.last = at
        run.ticks += what == "tick"
        if what == "end":
            run.code = int(words[4])


def read(folder):
    folder, ledger = pathlib.Path(folder), Ledger()
    for book in sorted(folder.glob("*.jsonl")):
        for line in book.read_text().splitlines():
            take(ledger, json.loads(line))
    for entry in ledger.entries.values():
        marks = folder / "marks" / entry.job
        if marks.exists():
            read_marks(entry, marks.read_text().splitlines())
    return ledger


def take(ledger, line):
    what = line.pop("what")
    if what == "kill":
        ledger.kills.append(line)
    elif what == "left":
        ledger.left.setdefault(line["kind"], []).append(line["name"])
    elif what == "incident":
        ledger.incidents.append(line["text"])
    elif "path" in line:
        take_about_file(ledger.files.setdefault(line["path"], File(line["path"])), what, line)
    else:
        take_about_job(ledger.entry(line["job"]), what, line)


def take_about_file(file, what, line):
    if what == "stored":
        file.content, file.status, file.text = line["content"], line["status"], line["text"]
    elif what == "removing":
        file.is_unwanted = True
    elif what == "read":
        file.read = line


def take_about_job(entry, what, line):
    if what == "asked":
        entry.target, entry.code, entry.asked = line["target"], line["code"], line["at"]
    elif what == "put":
        entry.puts.append(line)
    elif what == "told":
        entry.told.append(line)
    elif what == "cancel":
        entry.cancel_asked = True
    elif what == "delete":
        entry.delete_asked = True
    elif what == "deleted":
        entry.deletes.append(line)
    elif what == "found":
        entry.found = line["status"]
    elif what == "listed":
        entry.listed += 1
    elif what == "log":
        entry.log = line["text"]


def left_daemons(folder):
    """What jobs started and did not wait for: (job, pid, start time)."""
    for marks in (pathlib.Path(folder) / "marks").glob("*"):
        if marks.suffix == ".lock":
            continue
        for line in marks.read_text().splitlines():
            words = line.split()
            if words[0] == "left":
                yield marks.name, int(words[4]), int(words[5])

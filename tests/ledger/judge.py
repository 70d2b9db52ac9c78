# SPDX-License-Identifier: Apache-2.0
"""Says what is wrong with a ledger. Knows nothing of Berth but its promises.

Only a supervisor that was killed excuses an attempt: nobody knows then how its command ended. On `local`
the job has failed, a cluster runs it again.
"""

import collections

TERMINAL = ("Completed", "Failed", "Canceled")
# The marks' clock goes by hundredths of a second.
BLUR = 0.02
# The longest from a command's first instruction to its first mark; process numbers come round again.
SLOW_START = 20
CHARGES = ("lost", "doubled", "stuck", "run twice", "overlapping", "two ends", "wrong end", "after its end",
           "wrong log", "not deleted", "lost file",
           "answered wrongly", "left over", "incident")

Finding = collections.namedtuple("Finding", "charge job text")


class Judge:
    def __init__(self, ledger):
        self.ledger = ledger
        self.findings = []
        self.starts_by = collections.defaultdict(list)
        for entry in ledger.entries.values():
            for run in entry.runs:
                self.starts_by[run.supervisor].append(run.started)

    def charge(self, charge, job, text):
        self.findings.append(Finding(charge, job, text))

    def judge(self):
        for entry in self.ledger.entries.values():
            if self.exists(entry):
                self.judge_answers(entry)
                self.judge_runs(entry)
                self.judge_end(entry)
        for file in self.ledger.files.values():
            self.judge_file(file)
        for kind, names in self.ledger.left.items():
            for name in names:
                self.charge("left over", kind, name)
        for text in self.ledger.incidents:
            self.charge("incident", "-", text)
        return self.findings

    def exists(self, entry):
        """One that nobody was promised may be missing, but then it has not run either."""
        if entry.listed > 1:
            self.charge("doubled", entry.job, f"listed {entry.listed} times")
        if entry.deleted:
            if entry.found == 200 or entry.listed:
                self.charge("not deleted", entry.job, f"deleted, then HTTP {entry.found}, listed {entry.listed} times")
            return True
        if entry.delete_asked and not entry.listed:
            return True
        if entry.found == 200 and entry.listed:
            return True
        if entry.acknowledged:
            self.charge("lost", entry.job, f"acknowledged, then HTTP {entry.found}, listed {entry.listed} times")
        elif entry.runs:
            self.charge("lost", entry.job, "ran, and there is no such job")
        return False

    def judge_answers(self, entry):
        accepted = [put for put in entry.puts if put["status"] in (200, 201)]
        if sum(put["status"] == 201 for put in accepted) > 1:
            self.charge("doubled", entry.job, "made more than once (201)")
        if len({put["made"] for put in accepted}) > 1:
            self.charge("doubled", entry.job, "a repeat was answered with another job")
        bodies = {put["body"] for put in accepted}
        if len(bodies) > 1:
            self.charge("answered wrongly", entry.job, "two bodies were accepted under one name")
        for put in entry.puts:
            if put["status"] == 409 and put["body"] in bodies:
                self.charge("answered wrongly", entry.job, "a repeat was refused as a conflict")
            if put["status"] not in (200, 201, 409):
                self.charge("answered wrongly", entry.job, f"a submit was answered {put['status']}: {put.get('text')}")
        for delete in entry.deletes:
            if delete["status"] not in (200, 204):
                self.charge("answered wrongly", entry.job, f"a delete was answered {delete['status']}: {delete['text']}")

    def judge_file(self, file):
        """What was stored and nobody wanted away is there, whole; whatever else had the same content."""
        if file.status != 201:
            self.charge("answered wrongly", file.path, f"an upload was answered {file.status}: {file.text}")
        elif file.is_kept and (file.read is None or file.read["status"] != 200):
            self.charge("lost file", file.path, f"stored, then HTTP {file.read and file.read['status']}")
        elif file.is_kept and not file.read["is_whole"]:
            self.charge("lost file", file.path, "stored, and has another content")

    def is_excused(self, run):
        """Its supervisor was killed, and had not begun anything else before that."""
        for kill in self.ledger.kills:
            if kill["at"] < run.started - SLOW_START or not kill["supervisors"]:
                continue
            if run.supervisor == 0 and kill["at"] <= run.started + BLUR:
                return True
            is_its_own = run.supervisor in kill["supervisors"]
            if is_its_own and not any(run.started < other < kill["at"] for other in self.starts_by[run.supervisor]):
                return True
        return False

    def judge_runs(self, entry):
        for text in entry.stray:
            self.charge("overlapping", entry.job, text)
        for earlier, later in zip(entry.runs, entry.runs[1:]):
            if later.attempt <= earlier.attempt:
                self.charge("run twice", entry.job, f"attempt {later.attempt} began after attempt {earlier.attempt}")
            elif entry.target == "local":
                self.charge("run twice", entry.job, f"attempts {earlier.attempt} and {later.attempt} on local")
            elif not self.is_excused(earlier):
                how = "came to its end" if earlier.code is not None else "was not let down"
                self.charge("run twice", entry.job, f"attempt {earlier.attempt} {how}, and {later.attempt} ran")

    def judge_end(self, entry):
        ends = [told for told in entry.told if told["status"] in TERMINAL]
        if not ends or entry.told[-1]["status"] not in TERMINAL:
            last = entry.told[-1]["status"] if entry.told else "nothing"
            return self.charge("stuck", entry.job, f"the last word is '{last}', after {len(entry.runs)} runs")
        if len({(told["status"], told["message"]) for told in ends}) > 1:
            self.charge("two ends", entry.job, " and ".join(sorted({told["status"] for told in ends})))
        first = min(told["at"] for told in ends)
        for run in entry.runs:
            if run.last > first + BLUR:
                self.charge("after its end", entry.job, f"attempt {run.attempt} was there {run.last - first:.2f} s later")
        wrong = self.wrong_end(entry, ends[-1])
        if wrong:
            self.charge("wrong end", entry.job, wrong)
        elif entry.log is not None and not entry.delete_asked and entry.runs and entry.runs[-1].code is not None:
            self.judge_log(entry, entry.runs[-1], ends[-1])

    def judge_log(self, entry, run, end):
        """Of a run that came to its end, every line it wrote; it prints one for each tick."""
        expected = "".join(f"tick {number}\n" for number in range(run.ticks))
        is_its_own_end = end["status"] == "Completed" or "exited with code" in end["message"]
        if is_its_own_end and entry.log != expected:
            self.charge("wrong log", entry.job, f"{len(entry.log)} bytes instead of {len(expected)}")

    def wrong_end(self, entry, end):
        status, message = end["status"], end["message"]
        shown = f"{status} ({message})" if message else status
        last = entry.runs[-1] if entry.runs else None
        if status == "Canceled":
            return None if entry.cancel_asked else f"{shown}, and nobody asked for that"
        if "lost the attempt" in message:
            if entry.target == "local" and self.may_be_lost(entry, first_end=end["at"]):
                return None
            return f"{shown}, and nobody killed its supervisor" if entry.target == "local" else shown
        expected = "Completed" if entry.code == 0 else "Failed"
        if status != expected or (entry.code and f"exited with code {entry.code}" not in message):
            return f"{shown} instead of {expected} with code {entry.code}"
        if last is None or last.code != entry.code:
            return f"{shown}, and its last run {'never began' if last is None else 'did not come to its end'}"
        return None

    def may_be_lost(self, entry, first_end):
        if entry.runs:
            return self.is_excused(entry.runs[-1])
        return any(kill["supervisors"] and entry.asked <= kill["at"] <= first_end for kill in self.ledger.kills)


def judge(ledger):
    return Judge(ledger).judge()


def summary(ledger, findings):
    """Two tables: what happened, and what was wrong."""
    lines = [f"{'':<34}" + "".join(f"{target:>10}" for target in ("local", "pool", "all"))]
    for name, counts in rows(ledger).items():
        lines.append(f"{name:<34}" + "".join(f"{counts[target]:>10}" for target in ("local", "pool", "all")))
    lines.append("")
    for charge in CHARGES:
        found = [finding for finding in findings if finding.charge == charge]
        lines.append(f"{charge:<34}{len(found):>10}")
    return "\n".join(lines)


def rows(ledger):
    table = collections.defaultdict(collections.Counter)

    def count(row, entry, number=1):
        for column in (entry.target, "all"):
            table[row][column] += number

    for entry in ledger.entries.values():
        count("asked for", entry)
        count("acknowledged", entry, entry.acknowledged)
        count("submits answered", entry, len(entry.puts))
        count("runs", entry, len(entry.runs))
        count("runs again, supervisor killed", entry, max(len(entry.runs) - 1, 0))
        count("deleted", entry, entry.deleted)
        last = entry.told[-1] if entry.told else {"status": "unknown", "message": ""}
        lost = "lost the attempt" in last["message"]
        count("Failed, supervisor killed" if lost else last["status"], entry)
    return table

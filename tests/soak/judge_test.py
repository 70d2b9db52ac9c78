# SPDX-License-Identifier: Apache-2.0
"""The judge finds growth that was planted, and is not misled by what is no growth."""

import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import pytest

import judge
from judge import KIB, MIB

FLAT = {"server memory": 40 * MIB, "server descriptors": 30, "server threads": 9, "agents memory": 12 * MIB,
        "agents descriptors": 20, "database log": 10 * MIB, "database": 8 * MIB, "files": 90, "directories": 30,
        "processes": 5, "jobs": 50, "metrics": 0, "objects": 0, "audited": 0}


def samples(change=lambda sample, number: None, count=360):
    """An hour, with a little noise."""
    chance, made = random.Random(7), []
    for number in range(count):
        sample = {name: value * chance.uniform(0.98, 1.02) if value > 1000 else value for name, value in FLAT.items()}
        change(sample, number)
        made.append(sample)
    return made


def troubles(made):
    return {line.rule.name for line in judge.judge(made) if line.trouble}


def test_what_stays_as_it_is_is_flat():
    assert troubles(samples()) == set()


@pytest.mark.parametrize("name, step", [
    ("server memory", 60 * KIB), ("server descriptors", 0.1), ("server threads", 0.02), ("agents memory", 40 * KIB),
    ("agents descriptors", 0.1), ("database", 20 * KIB), ("files", 0.2), ("directories", 0.1), ("processes", 0.05)])
def test_what_grows_all_the_time_is_found(name, step):
    def grow(sample, number):
        sample[name] += int(number * step)

    assert troubles(samples(grow)) == {name}


def test_a_log_that_is_never_shortened_is_found_and_so_is_one_that_was_long_once():
    def grow(sample, number):
        sample["database log"] = number * MIB

    def once(sample, number):
        if number == 200:
            sample["database log"] = 65 * MIB

    assert troubles(samples(grow)) == {"database log"}
    assert troubles(samples(once)) == {"database log"}


def test_a_log_that_grows_and_is_begun_anew_is_flat():
    def saw(sample, number):
        sample["database log"] = number * MIB % (16 * MIB)

    assert troubles(samples(saw)) == set()


def test_growth_while_it_warms_up_and_single_peaks_are_no_growth():
    def warm(sample, number):
        sample["server memory"] -= max(0, 70 - number) * MIB // 4
        if number % 50 == 49:
            sample["server descriptors"] += 500

    assert troubles(samples(warm)) == set()


def test_what_is_kept_may_take_room_and_no_more_than_that():
    def keep(sample, number):
        sample["jobs"] += number
        sample["database"] += number * 6 * KIB
        sample["files"] += number

    def waste(sample, number):
        sample["jobs"] += number
        sample["database"] += number * 60 * KIB
        sample["files"] += number * 5

    assert troubles(samples(keep)) == set()
    assert troubles(samples(waste)) == {"database", "files"}


def test_the_table_says_what_grew():
    def grow(sample, number):
        sample["server descriptors"] += number

    text = judge.table(judge.judge(samples(grow)))
    assert "server descriptors" in text and "more than 6" in text
    assert text.count("flat") == len(judge.RULES) - 1


def test_a_handful_of_samples_is_refused():
    with pytest.raises(AssertionError):
        judge.judge(samples(count=9))

# SPDX-License-Identifier: Apache-2.0
"""The same answer and the same --query give the same text as az's own packages: jmespath finds, knack prints."""

import collections
import json
import os
import random
import subprocess

import jmespath
import pytest
from knack.output import format_json, format_table, format_tsv
from knack.util import CLIError, CommandResultItem

FORMATS = {"json": format_json, "tsv": format_tsv, "table": format_table}

JOBS = [
    {"name": "witty_harbor", "status": "Completed", "tags": {"team": "vision"}, "id": "/subscriptions/0/jobs/a",
     "creation_context": {"created_at": "2026-11-16T00:45:12.345Z"}, "attempt": 1, "rate": 0.5, "archived": False},
    {"name": "übung", "status": "Failed", "tags": {}, "error": {"message": "line one\nline two"}, "attempt": 2,
     "creation_context": {"created_at": "2026-11-17T00:00:00Z"}, "rate": 1e-7, "archived": True},
    {"name": "it's", "status": "Running", "tags": None, "attempt": 1, "rate": 3.0, "outputs": ["a", 'b"c', "d'e"]},
]
DOCUMENTS = [JOBS, JOBS[0], JOBS[1], [], {}, "text", 7, 0.1, True, None, [None, 1], [[1, [2, "x"]], [True, None]],
             {"value": JOBS, "nextLink": None}, [{"a": {}}], [{"b": 1, "a": 2}, {"c": 3}], 1e16, 123456789012, -0.0]
QUERIES = ["", "@", "name", "[].name", "[0]", "[0].name", "[-1].status", "[*].{n: name, s: status}", "length(@)",
           "[?status=='Completed'].name | [0]", "[?attempt > `1`]", "[?rate < `1.0`].[name, rate]", "tags", "[].tags",
           "[?creation_context.created_at > '2026-11-16'].name", "sort_by(@, &name)[].name", "max_by(@, &attempt).name",
           "[].[name, status, archived]", "[].[name, tags, outputs]", "{z: name, a: status}", "[].{z: name, a: attempt}",
           "value[].name", "join(',', [].name)", "[?contains(name, 'h')].name", "[?!archived].name", "[1:]", "[::-1].name",
           "to_string(tags)", "keys(@)", "type(@)", "[].error.message", "[?starts_with(name, 'w')] | [0].rate",
           "[?status==`Failed`].name", "merge({b: `1`}, {a: `2`})", "[].rate | sum(@)", "avg([].attempt)", "[].outputs[]",
           "not_null(missing, 'none')", "map(&attempt, @)", "reverse([].name)", "[?name=='none']", "`[1, true, null]`",
           "'it''s'", "[?status=='Completed' || status=='Failed'].{name: name, team: tags.team}"]


def expected(value, query, form):
    """What az would print, or None when it would refuse."""
    try:
        result = value
        if query:
            result = jmespath.compile(query).search(value, jmespath.Options(collections.OrderedDict))
        if result is None:
            return ""
        return FORMATS[form](CommandResultItem(result, is_query_active=bool(query)))
    except (jmespath.exceptions.JMESPathError, CLIError):
        return None


def ask(cases):
    lines = "".join(json.dumps({"value": value, "query": query, "format": form}) + "\n" for value, query, form in cases)
    done = subprocess.run([os.environ["BERTH_FORMAT_PROBE"]], input=lines.encode(), stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def differences(cases):
    found = []
    for (value, query, form), answer in zip(cases, ask(cases), strict=True):
        wanted = expected(value, query, form)
        if answer.get("text") != wanted:
            found.append(f"{query!r} as {form} of {value!r}:\n  az    {wanted!r}\n  berth {answer!r}")
    return found


def in_order(value):
    """Answers are compared with their keys in order: az's own order is that of its server."""
    return json.loads(json.dumps(value, sort_keys=True))


@pytest.mark.parametrize("form", sorted(FORMATS))
def test_known_queries_print_the_same(form):
    # az sorts what merge() makes in a tsv and leaves it as it is in a table; Berth sorts it in both.
    queries = [query for query in QUERIES if form != "table" or not query.startswith("merge")]
    cases = [(in_order(value), query, form) for value in DOCUMENTS for query in queries]

    wrong = differences(cases)

    print(f"az formats ({form}): {len(cases) - len(wrong)} of {len(cases)}")
    assert not wrong, "\n".join(wrong[:10])


def made_up(chance, depth=3):
    kinds = ["text", "text", "whole", "broken", "flag", "none"] + (["list", "object", "object"] if depth else [])
    match chance.choice(kinds):
        case "text": return "".join(chance.choice("abc 'é\"\\-1.") for _ in range(chance.randrange(6)))
        case "whole": return chance.randrange(-5, 1000)
        case "broken": return round(chance.uniform(-10, 10), chance.randrange(1, 6)) or 0.5
        case "flag": return chance.random() < 0.5
        case "none": return None
        case "list": return [made_up(chance, depth - 1) for _ in range(chance.randrange(4))]
    return {chance.choice("abcdef"): made_up(chance, depth - 1) for _ in range(chance.randrange(5))}


def made_up_query(chance, depth=3):
    def inner():
        return made_up_query(chance, depth - 1)

    simple = ["a", "b", "c", '"d"', "@", "[0]", "[-1]", "[]", "[*]", "*", "[:2]", "[::-1]", "`1`", "'x'", "`[1, 2]`"]
    if not depth:
        return chance.choice(simple)
    return chance.choice([
        lambda: chance.choice(simple), lambda: f"{chance.choice('abc')}.{chance.choice('abcdef')}",
        lambda: f"{inner()} | {inner()}", lambda: f"{inner()} || {inner()}", lambda: f"{inner()} && {inner()}",
        lambda: f"!({inner()})", lambda: f"[{inner()}, {inner()}]", lambda: f"{{y: {inner()}, x: {inner()}}}",
        lambda: f"[?{inner()} {chance.choice(['==', '!=', '<', '>=', '>'])} {inner()}]", lambda: f"[?{inner()}]",
        lambda: f"{chance.choice(['length', 'type', 'keys', 'values', 'sort', 'max', 'sum', 'to_array', 'reverse'])}({inner()})",
        lambda: f"sort_by({inner()}, &a)", lambda: f"map(&{inner()}, {inner()})", lambda: f"not_null({inner()}, {inner()})",
    ])()


def is_sound_in_az(value, query, form):
    """Where Python shows through there is nothing to match: az ends with a TypeError when a text is compared with a
    number, and prints `OrderedDict([…` for an object within a list within a table."""
    try:
        return "OrderedDict(" not in (expected(value, query, form) or "")
    except (TypeError, AttributeError):
        return False


def test_made_up_queries_print_the_same():
    seed = int(os.environ.get("BERTH_TEST_SEED", "5"))
    chance = random.Random(seed)
    cases = []
    while len(cases) < 6000:
        case = in_order(made_up(chance)), made_up_query(chance), chance.choice(sorted(FORMATS))
        if is_sound_in_az(*case):
            cases.append(case)

    wrong = differences(cases)

    print(f"az formats (made up, seed {seed}): {len(cases) - len(wrong)} of {len(cases)}")
    assert not wrong, "\n".join(wrong[:10])

"""What result files say of small programs: each value in them was found right by hand (``written``).

Left out are facts of the certificate, of the graph and of what the file was made with, which have tests of their own.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command_line import fresh_names
from pysmt.shortcuts import TRUE

from benchmarks.checks.fuzz.documents import made
from chaincover.chain import Bounds
from chaincover.formats.writer import chain_document, graph_data
from chaincover.known import NOTHING
from chaincover.options import Options
from chaincover.pipeline import generate
from chaincover.project.load import Request, load_request
from chaincover.subject import Subject
from chaincover.weights import END
from properties.goal import Goal

WRITTEN = Path(__file__).with_name("written")
MORE = ("far", "several")
KINDS = [
    pytest.param(place.stem, marks=pytest.mark.evidence) if place.stem in MORE else place.stem
    for place in sorted(WRITTEN.glob("*.json"))
]
"""Kinds of documents; those of ``MORE`` are evidence."""
LEFT_OUT = ("tool", "versions", "certificate", "graph")
PROGRAM = """\
void __CPROVER_assume(int condition);
typedef enum { OFF, ON } Key;
typedef struct { unsigned char n, mode; } State;
void init(State *s) { s->n = 0; }

void assumption(Key key, State *s) { __CPROVER_assume(s->n < 9 || key == OFF); }
void small(State *s) { __CPROVER_assume(s->n < 10); }
void smaller(State *s) { __CPROVER_assume(s->n < 5); }
void compute(Key key, State *s) { s->n = key == ON ? s->n + 1 : s->mode / 8; }
"""
PROJECT = """\
period = 0.01
[final]
condition = "n == 0"
[sources]
files = ["c.c"]
defines = { UNUSED = "1" }
[functions]
assumption = "assumption"
invariant = ["small", "smaller"]
[interface]
chosen = ["s->mode"]
[[property]]
text = "first: cover(n == 1)"
[[property]]
text = "again: cover(n == 1)"
[[property]]
text = "other: cover(n == 2)"
"""


def without(document: dict[str, Any]) -> dict[str, Any]:
    """``document`` as it is in a file, without what is left out."""
    plain: dict[str, Any] = json.loads(json.dumps({k: v for k, v in document.items() if k not in LEFT_OUT}))
    if plain.get("requirements"):
        plain["requirements"]["certificate"] = plain["requirements"]["certificate"] is not None
    return plain


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_file_says_what_was_found(kind: str) -> None:
    expected = json.loads((WRITTEN / f"{kind}.json").read_text(encoding="utf-8"))
    with fresh_names():
        document = made(kind.replace("_", " "))[1]
    assert without(document) == expected


@pytest.fixture
def subject(tmp_path: Path) -> Iterator[Subject]:
    (tmp_path / "c.c").write_text(PROGRAM)
    (tmp_path / "chaincover.toml").write_text(PROJECT)
    with fresh_names():
        yield load_request(Request(str(tmp_path)))


def test_the_file_says_what_the_controller_was_made_from(subject: Subject) -> None:
    document = chain_document(subject, generate(subject.problem, Options(effort=0.01)))
    (source,) = document["controller"]["sources"]
    assert source["file"] == "c.c"
    assert source["sha256"] == hashlib.sha256(PROGRAM.encode()).hexdigest()
    code = "\n".join(row for row in PROGRAM.splitlines() if row)
    assert source["preprocessed_sha256"] == hashlib.sha256(code.encode()).hexdigest()
    assert document["controller"]["defines"] == {"UNUSED": "1"}
    assert document["controller"]["period"] == 0.01
    assert document["settings"]["final"] == "n == 0"
    assert document["tool"]["name"] == "chaincover"
    given = chain_document(subject, generate(subject.problem, Options(effort=0.01)), sources=[{"file": "b.c"}])
    assert given["controller"]["sources"] == [{"file": "b.c"}]


def test_the_file_says_which_goals_ask_for_the_same(subject: Subject) -> None:
    goals = chain_document(subject, generate(subject.problem))["goals"]
    assert [goal["representative"] for goal in goals] == [None, "first", None]


def test_the_file_says_what_the_result_rests_on(subject: Subject) -> None:
    result = generate(subject.problem)
    assert result.chain is not None
    found = replace(result, chain=replace(result.chain, relies_on=("s->spare",)))
    claims = chain_document(subject, found)["claims"]
    assert claims == [
        "input assumption assumption()",
        "invariant not proved, not used: small",
        "invariant not proved, not used: smaller",
        "inputs given no values but those that the type names: key",
        "start values chosen by the tester: s->mode",
        "start values left open by init: s->spare",
        "overlap allow",
    ]


def test_a_gap_is_rounded_and_an_absent_one_is_null(subject: Subject) -> None:
    result = generate(subject.problem)
    assert result.chain is not None
    for lower, gap in ((4, 0.0), (3, 0.333333)):
        bounds = chain_document(subject, replace(result, bounds=Bounds(lower, 4, "")))["bounds"]
        assert (bounds["length"], bounds["lower"], bounds["gap"]) == (4, lower, gap)
    nothing = chain_document(subject, replace(result, chain=None, bounds=Bounds(0, None, "")))
    assert nothing["bounds"]["gap"] is None
    assert nothing["chain"] is None
    assert nothing["bounds"]["k_met"] is None


@pytest.mark.parametrize(
    "assumed",
    [
        "[ranges]\nkey = [0]",
        "[constraints]\nat_most_one = [['key', 'other']]",
        "[constraints]\nexactly_one = [['key', 'other']]",
        "[constraints]\nassume = ['key == 0 || other == 0']",
        "",
    ],
)
def test_the_file_says_whether_inputs_are_assumed_to_be_fewer(assumed: str, tmp_path: Path) -> None:
    (tmp_path / "c.c").write_text("int n;\nvoid compute(_Bool key, _Bool other) { n = key || other; }\n")
    (tmp_path / "chaincover.toml").write_text(f"[sources]\nfiles = ['c.c']\n{assumed}\n")
    with fresh_names():
        subject = load_request(Request(str(tmp_path), properties=("cover(n == 0)",)))
        claims = chain_document(subject, generate(subject.problem))["claims"]
    assert ("input assumptions of the project" in claims) == bool(assumed)


def test_open_edges_come_in_the_order_of_their_names() -> None:
    goals = [Goal(name, TRUE(), None, 0) for name in "ab"]
    graph = replace(NOTHING, goals=("a", "b"), end=END, lower={("b", "a"): 2, ("a", "b"): 1, ("b", END): 3})
    found = graph_data(graph, goals)["open"]
    assert [(edge["from"], edge["to"], edge["at_least"]) for edge in found] == [
        ("a", "b", 1),
        ("b", "a", 2),
        ("b", END, 3),
    ]


def test_the_start_values_of_a_test_are_those_before_its_first_step(subject: Subject) -> None:
    result = generate(subject.problem)
    assert result.chain is not None
    first, *others = result.chain.run.states
    run = replace(result.chain.run, states=({**first, "s->mode": 5}, *({**s, "s->mode": 6} for s in others)))
    goals = chain_document(subject, replace(result, tests={"first": run}))["goals"]
    assert goals[0]["test"]["chosen"] == {"s->mode": 5}


def test_a_file_without_an_assumption_claims_none(tmp_path: Path) -> None:
    place = tmp_path / "c.c"
    place.write_text("int n;\nvoid compute(_Bool key) { n = key; }\n")
    with fresh_names():
        subject = load_request(Request(str(place), properties=("cover(n == 1)",)))
        assert chain_document(subject, generate(subject.problem))["claims"] == ["overlap allow"]

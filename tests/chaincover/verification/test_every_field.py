"""Every field of ``chain.json`` and ``chains.json``: a change is found out, but where the field is informative.

And claims that limits leave open are told as that.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest
from command_line import MODELS, ROOT, chaincover, fresh_names
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.checks.fuzz.documents import DOCUMENTS, LIMITS, SEVERAL, SUMMARIES, Kept, made
from benchmarks.checks.fuzz.mutations import Place, Tree, changed, field_at, path_of, places, value_at
from benchmarks.checks.fuzz.results import NOT_NEEDED, TRUE_TOO, below, may_be_right, other_values
from benchmarks.checks.fuzz.results import found_out as text_found_out
from chaincover.chain import UNDECIDED
from chaincover.verification.fields import FIELDS, INFORMATIVE, INFORMATIVE_OF_ALL, PROJECT
from chaincover.verification.invariants import CHECK as INVARIANTS
from chaincover.verification.marks import Marks
from chaincover.verification.report import HOLDS, NOTE, OPEN, UNCLAIMED, WRONG, Verification
from chaincover.verification.requirements import CAN_FAIL_LINE
from chaincover.verification.several import CONFLICTS, FEWEST, TOTAL
from chaincover.verification.values import BOUND
from chaincover.verification.verdicts import UNCOVERED


def made_several() -> tuple[Kept, Tree]:
    """A summary of two chains, and who verifies changed ones."""
    return made(SEVERAL)


@pytest.fixture(scope="module", autouse=True)
def _on_the_model() -> Iterator[None]:
    """Nothing is compiled, and what is kept of one program serves all tests."""
    with fresh_names(), mock.patch.dict(os.environ, CHAINCOVER_NO_NATIVE="1"):
        yield


def found_out(kept: Kept, document: Tree) -> bool:
    """Whether ``document`` is refused, or said to be wrong, or its sources to be others."""
    return text_found_out(kept, json.dumps(document), "chains" in document)


def fields_of(kinds: Iterable[str]) -> Iterator[tuple[str, Place]]:
    """A place for each path and type of value that there is in documents of these kinds, with the first such kind."""
    seen = set()
    for kind in kinds:
        document = made(kind)[1]
        for place in places(document):
            what = field_at(document, place)
            if what not in seen:
                seen.add(what)
                yield kind, place


SOON_VERIFIED = ("undecided", "open", "late")
"""Kinds of documents about which little is to be proved: most fields are in one of these."""
LONG_SOUGHT = ("apart", "given up")
"""Kinds of documents that take seconds to be made; all their fields are in others, too."""
IN_SUITE = tuple(dict.fromkeys([*SOON_VERIFIED, *(kind for kind in DOCUMENTS if kind not in LONG_SOUGHT)]))
MOST = 1
"""Other values of a field that a test takes; ``python -m benchmarks forging`` takes all."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "kinds",
    [
        IN_SUITE,
        pytest.param(LONG_SOUGHT, marks=pytest.mark.evidence),
        pytest.param(("given up",), marks=pytest.mark.evidence),
        pytest.param(("failure",), marks=pytest.mark.evidence),
    ],
)
def test_a_change_of_any_field_is_found_out(kinds: tuple[str, ...]) -> None:
    passed = []
    for kind, place in fields_of(kinds):
        kept, document = made(kind)
        path, value = path_of(place), value_at(document, place)
        for other in other_values(value)[:MOST]:
            if not may_be_right(path, value, other) and not found_out(kept, changed(document, (place, other))):
                passed.append(f"{kind}: {path} {place}: {value!r} -> {other!r}")
    assert [text[:200] for text in passed] == []


@pytest.mark.evidence
def test_a_solver_leaves_goals_undecided_and_claims_little() -> None:
    """The document is still what its name says; what limits met leave open is neither wrong nor proved."""
    kept, document = made("given up")
    assert [goal["verdict"] for goal in document["goals"]] == ["covered", "covered", UNDECIDED, UNDECIDED]
    assert (document["effort_used_up"], document["bounds"]["gap"]) == (True, None)
    assert any(claim["claim"] == "inductive" for claim in document["certificate"]["claims"])
    assert said_of(kept.verify(document), INVARIANTS) == HOLDS
    assert said_of(kept.verify(document, replace(LIMITS, question=0)), INVARIANTS) == OPEN


MORE_FACTS: dict[str, Tree] = {
    "acceleration": {"claim": "simulates", "cells": {"s->m": [0, 5]}, "kept": 1, "bound": 0, "slow": ["s->m"]},
    "smaller system": {
        "claim": "simulates",
        "visible": ["s->n"],
        "values": "true",
        "proof": {
            "goals": ["door"],
            "end": "end",
            "overlap": "allow",
            "lower": 0,
            "monitors": {},
            "counted": [],
            "claims": [],
        },
    },
    "prices": {
        "claim": "prices",
        "of": "states",
        "scale": 2,
        "goals": {"door": 1, "room": 0},
        "cuts": [{"goal": "door", "inside": [0], "price": 0}],
        "variables": ["s->n"],
        "states": [[0]],
        "bound": 0,
    },
}
"""Facts that small programs have no need of, true and of no use."""


@pytest.mark.slow
@pytest.mark.parametrize("name", MORE_FACTS)
def test_a_change_of_facts_that_small_programs_do_not_need_is_found_out(name: str) -> None:
    """As far as what stands there cannot be right; values that may be are changed where these facts are checked."""
    kept, document = made("paths")
    claims = document["certificate"]["claims"]
    at = sum(claim["claim"] != "simulates" for claim in claims) if name == "prices" else len(claims)
    told = changed(document, (("certificate", "claims"), [*claims[:at], MORE_FACTS[name], *claims[at:]]))
    assert not found_out(kept, told)
    passed = []
    for place in places(MORE_FACTS[name], ("certificate", "claims", at)):
        path, value = path_of(place), value_at(told, place)
        for other in other_values(value):
            if not may_be_right(path, value, other) and not found_out(kept, changed(told, (place, other))):
                passed.append(f"{path} {place}: {value!r} -> {other!r}")
    assert passed == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", SUMMARIES)
def test_a_change_of_any_field_of_a_summary_is_found_out(kind: str) -> None:
    """In every place of the shorter summary; of the other one what the shorter does not have."""
    kept, summary = made(kind)
    assert not found_out(kept, summary)
    passed = []
    for place in places(summary) if kind == SEVERAL else (p for k, p in fields_of(SUMMARIES) if k == kind):
        path, value = path_of(place), value_at(summary, place)
        for other in other_values(value)[:MOST]:
            if not may_be_right(path, value, other, INFORMATIVE_OF_ALL) and not found_out(
                kept, changed(summary, (place, other))
            ):
                passed.append(f"{path} {place}: {value!r} -> {other!r}")
    assert passed == []


# what the schemas have

SCHEMAS = ROOT / "chaincover" / "formats" / "schemas"


def described(file: str, part: Tree, above: str = "", before: tuple[str, ...] = ()) -> Iterator[str]:
    """The paths of all fields in ``part`` of a schema; definitions are looked up, each once on the way to one field."""
    named, _, within = part.get("$ref", "").partition("#/")
    place = f"{named or file}#/{within}"
    if within and place not in before:
        whole = json.loads((SCHEMAS / (named or file)).read_text())
        yield from described(named or file, value_at(whole, tuple(within.split("/"))), above, (*before, place))
    for name, field in part.get("properties", {}).items():
        path = f"{above}.{name}" if above else name
        yield path
        yield from described(file, field, path, before)
    for kind in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for one in part.get(kind, ()):
            yield from described(file, one, above, before)
    if isinstance(part.get("items"), dict):
        yield from described(file, part["items"], above, before)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "kinds", "informative"),
    [("chain.json", IN_SUITE, INFORMATIVE), ("chains.json", SUMMARIES, INFORMATIVE_OF_ALL)],
)
def test_every_field_of_the_schemas_is_changed_in_some_document_or_informative(
    file: str, kinds: Iterable[str], informative: tuple[str, ...]
) -> None:
    """A field that is new in a schema has to be in one of the documents that are changed above.

    The certificate of requirements is read as that of the chain is, and so is that of several chains.
    """
    known = dict.fromkeys(described(file, json.loads((SCHEMAS / file).read_text())))
    assert [path for path in informative if path not in known] == []
    met = {path_of(place) for kind in (*IN_SUITE, *SUMMARIES) for place in places(made(kind)[1])}
    met |= {path_of(place) for facts in MORE_FACTS.values() for place in places(facts, ("certificate", "claims"))}
    met |= {f"requirements.{path}" for path in met if path.startswith("certificate.")}
    own = {path_of(place) for kind in kinds for place in places(made(kind)[1])}
    left = [path for path in known if path not in own and not below(path, informative)]
    assert [path for path in left if path not in met or not below(path, ["certificate", "requirements"])] == []


def test_a_chain_is_named_once() -> None:
    kept, summary = made_several()
    twice = changed(summary, (("chains", 1), summary["chains"][0]))
    assert found_out(kept, twice)
    more = changed(summary, (("chains",), [*summary["chains"], summary["chains"][0]]))
    assert found_out(kept, changed(more, (("length",), summary["length"] + summary["chains"][0]["length"])))


def test_what_is_informative_makes_no_difference() -> None:
    kept, document = made("failure")
    said = kept.verify(document).exit_code
    for path in INFORMATIVE:
        place = next((place for place in places(document) if path_of(place) == path), None)
        if place is not None and isinstance(value_at(document, place), str | int | float):
            other = other_values(value_at(document, place))[0]
            assert kept.verify(changed(document, (place, other))).exit_code == said, path


@pytest.mark.slow
@settings(max_examples=16, deadline=None)
@given(st.data())
def test_several_changes_at_once_are_found_out(data: st.DataObject) -> None:
    kept, document = made(data.draw(st.sampled_from([kind for kind in IN_SUITE if kind != "chosen"])))
    known = [place for place in places(document) if not below(path_of(place), [*INFORMATIVE, *TRUE_TOO, *NOT_NEEDED])]
    chosen = data.draw(st.lists(st.sampled_from(known), min_size=2, max_size=4, unique=True))
    changes = [(place, data.draw(st.sampled_from(other_values(value_at(document, place))))) for place in chosen]
    other = changed(document, *changes)
    assert other == document or found_out(kept, other)


def test_what_is_informative_is_in_the_documentation() -> None:
    text = (ROOT / "docs" / "reference" / "verify.md").read_text()
    of_one, of_all = text.partition("## What is informative")[2].partition("\n## ")[0].split("In `chains.json`")
    for part, names in ((of_one, INFORMATIVE), (of_all, INFORMATIVE_OF_ALL)):
        cells = [row.split("|")[1] for row in part.splitlines() if row.startswith("| `")]
        assert [name for cell in cells for name in cell.split("`")[1::2]] == list(names)


# requirements of which nothing is said


def line_of(found: Verification, check: str) -> tuple[str, str]:
    return next((line.verdict, line.text) for line in found.lines if line.check == check)


def test_a_file_has_to_say_whether_requirements_can_fail() -> None:
    kept, document = made("failure")
    untold = changed(document, (("requirements",), None))
    found = kept.verify(untold)
    assert said_of(found, FIELDS) == WRONG
    assert CAN_FAIL_LINE not in [line.check for line in found.lines]
    early = kept.verify(changed(untold, (("finished",), False)))
    assert said_of(early, FIELDS) == HOLDS
    verdict, text = line_of(early, CAN_FAIL_LINE)
    assert (verdict, early.exit_code) == (OPEN, 6)
    assert text.endswith("the file does not say whether it can fail: the search had not ended")


def test_the_summary_says_of_several_chains_whether_requirements_can_fail(tmp_path: Path) -> None:
    chaincover("generate", MODELS / "latch", "-o", tmp_path, "--no-replay", "-q", "--several")
    kept, summary = Kept(MODELS / "latch", tmp_path), json.loads((tmp_path / "chains.json").read_text())
    fine = kept.verify_chains(summary)
    assert said_of(fine, FIELDS) == said_of(fine, f"chain-1.json: {FIELDS}") == HOLDS
    assert f"chain-1.json: {CAN_FAIL_LINE}" not in [line.check for line in fine.lines]
    assert said_of(fine, TOTAL) == HOLDS
    untold = changed(summary, (("requirements",), None))
    assert said_of(kept.verify_chains(untold), FIELDS) == WRONG
    early = kept.verify_chains(changed(untold, (("finished",), False)))
    assert (said_of(early, FIELDS), said_of(early, CAN_FAIL_LINE)) == (HOLDS, OPEN)
    alone = chaincover("verify", MODELS / "latch", tmp_path / "chain-1.json", "--json").json["checks"]
    said = {line["check"]: line["verdict"] for line in alone}
    assert (said[FIELDS], said[CAN_FAIL_LINE]) == (HOLDS, NOTE)


def test_the_total_of_one_chain_is_as_good_as_its_bound(tmp_path: Path) -> None:
    chaincover("generate", MODELS / "latch", "-o", tmp_path, "--no-replay", "-q", "--several")
    kept, summary = Kept(MODELS / "latch", tmp_path), json.loads((tmp_path / "chains.json").read_text())
    found = kept.verify_chains(summary, SEARCHED_LITTLE)
    assert said_of(found, TOTAL) == said_of(found, f"chain-1.json: {BOUND}") == OPEN


# what the project says otherwise


@pytest.mark.parametrize("several", [(), ("--several",)])
def test_other_settings_of_the_project_are_noted(several: tuple[str, ...], tmp_path: Path) -> None:
    options = ("--exclude", "worn", "--final", "none", "-K", "5", "--overlap", "forbid", "--hold", "2")
    chaincover("generate", MODELS / "latch", "-o", tmp_path, "--no-replay", "-q", *options, *several)
    found = chaincover("verify", MODELS / "latch", tmp_path, "--json").json["checks"]
    note = next(line for line in found if line["check"] == PROJECT)
    assert note["verdict"] == NOTE
    assert note["details"] == [
        "final: none in the file, q == 0 in the project",
        "overlap: forbid in the file, allow in the project",
        "bound: 5 in the file, None in the project",
        "hold: 2 in the file, 1 in the project",
        "goals left out: worn",
    ]


def test_the_same_settings_are_not_noted() -> None:
    kept, document = made("failure")
    assert PROJECT not in [line.check for line in kept.verify(document).lines]


# what limits leave open

SEARCHED_LITTLE = replace(LIMITS, nodes=0)
"""The states are listed, and no search over all runs comes to its end."""


def said_of(found: Verification, check: str) -> str:
    return next(line.verdict for line in found.lines if line.check == check)


def test_the_number_of_chains_is_not_proved_by_searches_that_were_given_up() -> None:
    """Without prices, and where a conflict is not seen to be one by looking at two goals at a time."""
    kept, summary = made_several()
    with mock.patch.object(Marks, "both", return_value=True):
        found = kept.verify_chains(changed(summary, (("certificate",), None)), SEARCHED_LITTLE)
    assert said_of(found, CONFLICTS[0]) == said_of(found, FEWEST) == OPEN


def test_the_number_of_chains_rests_on_prices_where_searches_were_given_up() -> None:
    kept, summary = made_several()
    with mock.patch.object(Marks, "both", return_value=True):
        found = kept.verify_chains(summary, SEARCHED_LITTLE)
    assert [said_of(found, check) for check in (CONFLICTS[0], FEWEST, TOTAL)] == [OPEN, HOLDS, HOLDS]


def test_the_number_of_chains_is_not_minimal_while_a_goal_is_left_open() -> None:
    kept, summary = made_several()
    place = next(n for n, verdict in enumerate(summary["verdicts"]) if verdict["goal"] == "far")
    found = kept.verify_chains(changed(summary, (("verdicts", place, "verdict"), UNDECIDED)))
    assert said_of(found, FEWEST) == WRONG


def test_the_number_of_chains_needs_conflicts_of_all_runs() -> None:
    kept, summary = made_several()
    without = changed(summary, (("certificate",), None))
    found = kept.verify_chains(changed(without, (("conflicts", 0, "at_all"), False)))
    assert said_of(found, FEWEST) == WRONG
    assert said_of(found, CONFLICTS[0]) == UNCLAIMED


def test_the_most_goals_are_not_proved_by_a_search_that_was_given_up() -> None:
    kept, document = made("apart")
    assert any(claim.get("least") is not None for claim in document["certificate"]["claims"])
    assert said_of(kept.verify(document), UNCOVERED[0]) == HOLDS
    with mock.patch.object(Marks, "both", return_value=True):
        assert said_of(kept.verify(document, SEARCHED_LITTLE), UNCOVERED[0]) == OPEN

"""Invariants that a certificate names: what they say, and what holds of states that cannot be enumerated again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import chaincover, fresh_names, write_files
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, BVULT
from small_programs import program, project
from verify_documents import CRUISE, Document, claim, claimed, cruise_document, texts, verdicts, verify

from bmc.system.transition import Condition, StateVariable, TransitionSystem, ValueType
from chaincover.certificate import formula_of
from chaincover.formats.document import read_document
from chaincover.formats.recorded_subject import load_for
from chaincover.project.load import Request
from chaincover.verification import verification
from chaincover.verification.invariants import proved_again
from chaincover.verification.limits import Clock, Limits
from chaincover.verification.report import HOLDS, OPEN, WRONG
from chaincover.verification.setting import Setting

TWINS = """if (s->m == 9) return;
  if (s->n == 0 && i->b) { s->m = 9; return; }
  if (s->n < 7) { s->n = s->n + 1; s->m = (s->n & 7u) * (s->n & 7u) % 11u % 8u; }"""
"""m is told by n, so that from n == 2 it takes three steps to m == 3; where m == 9 nothing changes any more."""
GOALS = ("--property", "two: cover(n == 2)", "--property", "three: cover(m == 3)", "--property", "off: cover(m == 9)")

FIRST = ("--property", "one: cover(n == 1 && m == 1)")


@pytest.fixture(scope="module")
def twins_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("twins")
    ranges = "[interface]\ninput = ['i->b']"
    write_files(folder, {"c.c": program(TWINS), "chaincover.toml": project(ranges)})
    assert chaincover("generate", folder, "-o", folder / "out", "--no-replay", "-q", *GOALS).code == 4
    return folder


@pytest.fixture
def twins(twins_folder: Path) -> tuple[Path, Document]:
    return twins_folder, json.loads((twins_folder / "out" / "chain.json").read_text())


def test_distances_between_enumerated_states_name_these(twins: tuple[Path, Document], tmp_path: Path) -> None:
    folder, document = twins
    assert claimed(document).edges
    assert claimed(document).invariants[-1] == "one of 9 reachable states"
    assert document["certificate"]["counted"] == ["s->n", "s->m"]
    outcome = verify(document, tmp_path, folder)
    assert verdicts(outcome)["invariants"] == verdicts(outcome)["edges"] == "holds"


@pytest.mark.slow
def test_distances_are_not_disproved_where_states_are_not_enumerated_again(twins: tuple[Path, Document]) -> None:
    folder, _ = twins
    document = read_document(folder / "out" / "chain.json")
    with fresh_names():
        subject = load_for(document, Request(str(folder)))
        found = verification.verify(subject, document, replace(Limits(), explored=1))
    assert {line.verdict for line in found.lines if line.check in ("invariants", "edges")} == {OPEN}


@pytest.mark.slow
@pytest.mark.parametrize(("exhausted", "verdict"), [(9, OPEN), (0, WRONG)])
def test_a_search_through_states_that_are_not_named_may_rest_on_these(
    exhausted: int, verdict: str, twins: tuple[Path, Document], tmp_path: Path
) -> None:
    """From n == 2 a state with another m is one step away from m == 3. Only a list of the states shows that no run
    reaches it: the claim is left open where the certificate says that there was one, and wrong where it does not."""
    folder, document = twins
    claim(document, invariants=(), formulas={}, exhausted=exhausted)
    (tmp_path / "chain.json").write_text(json.dumps(document))
    found = read_document(tmp_path / "chain.json")
    with fresh_names():
        lines = verification.verify(load_for(found, Request(str(folder))), found, replace(Limits(), explored=1)).lines
    assert [line.verdict for line in lines if line.check == "edges"] == [verdict]


NUMBER = ValueType("uint8", 8).symbol("ti_number")


@pytest.mark.parametrize(
    ("formula", "verdict", "told"),
    [
        (BVULT(NUMBER, BV(3, 8)), HOLDS, "true at the start, and kept by every step"),
        (NUMBER.Equals(BV(1, 8)), WRONG, "false in a start state"),
        (BVULT(NUMBER, BV(2, 8)), WRONG, "false after 2 steps from a start state"),
    ],
)
def test_an_invariant_that_runs_break_is_not_kept(formula: FNode, verdict: str, told: str) -> None:
    """The number goes from 0 to 1 and 2, where every run comes to an end."""
    variable = StateVariable("ti_number", ValueType("uint8", 8), BV(0, 8), NUMBER + BV(1, 8))
    system = TransitionSystem("ends", (variable,), (), input_constraint=BVULT(NUMBER, BV(2, 8)))
    line = proved_again(Setting(system, (), None), [Condition("claimed", formula)], None, Clock(Limits()))
    assert (line.verdict, line.text) == (verdict, f"claimed: {told}")


@pytest.mark.parametrize(
    ("name", "formula", "verdict", "told"),
    [
        ("s->mode <= 1", "(bvule |s->mode| (_ bv3 32))", "WRONG", "its formula says something else: (bvule |s->mode|"),
        ("s->mode <= 5", "(bvule |s->mode| (_ bv3 32))", "holds", "s->mode <= 5: true at the start, and kept by"),
        ("safe", "(bvule |s->mode| (_ bv3 32))", "holds", "'safe', by which (bvule |s->mode| (_ bv3 32)) is meant"),
        ("s->mode <= 5", "(bvule |s->mode|", "WRONG", "cannot be read"),
        ("one of 8 reachable states", "true", "WRONG", "the reachable states are counted; a formula says something"),
    ],
)
def test_an_invariant_is_called_what_its_formula_says(
    name: str, formula: str, verdict: str, told: str, tmp_path: Path
) -> None:
    document = cruise_document()
    claim(document, invariants=(name,), formulas={name: formula})
    outcome = verify(document, tmp_path, CRUISE)
    assert verdicts(outcome)["invariants"] == verdict
    assert told in texts(outcome, "invariants")


@pytest.mark.parametrize("formula", ["(((", "false", "true", "true) (assert true", "true) ;"])
def test_the_formula_of_an_invariant_of_the_program_is_checked_too(formula: str, tmp_path: Path) -> None:
    document = cruise_document()
    name = "s->enable is 0 or 1"
    claim(document, invariants=(name,), formulas={name: formula})
    outcome = verify(document, tmp_path, CRUISE)
    assert outcome.code == 7
    assert verdicts(outcome)["invariants"] == "WRONG"


@pytest.mark.parametrize("text", ["true) (assert false", "false) ;", "true) (check-sat", "true) (assert true) (exit"])
def test_a_text_that_goes_on_after_its_formula_is_none(text: str) -> None:
    assert formula_of(text, {}) is None


def test_a_goal_listed_twice_is_refused(tmp_path: Path) -> None:
    document = cruise_document()
    document["goals"].append(document["goals"][0])
    outcome = verify(document, tmp_path, CRUISE)
    assert outcome.code == 3
    assert "goals more than once" in outcome.err


@pytest.mark.needs_compiler
@pytest.mark.parametrize(("forged", "verdict"), [(False, "holds"), (True, "WRONG")])
def test_the_test_of_a_goal_is_replayed(
    forged: bool, verdict: str, twins: tuple[Path, Document], tmp_path: Path
) -> None:
    folder, document = twins
    own = [goal for goal in document["goals"] if goal["test"] is not None]
    assert own
    if forged:
        own[0]["test"]["inputs"] = own[0]["test"]["inputs"][:-1]
        own[0]["test"]["length"] -= 1
    outcome = verify(document, tmp_path, folder)
    assert verdicts(outcome)["tests of goals"] == verdict
    assert (outcome.code == 7) == forged


@pytest.mark.needs_compiler
def test_the_test_of_a_goal_may_end_within_a_held_step(twins: tuple[Path, Document], tmp_path: Path) -> None:
    folder, _ = twins
    chaincover(
        "generate",
        folder,
        "-o",
        tmp_path / "held",
        "--hold",
        "2",
        "--no-replay",
        "-q",
        "--effort",
        "0.005",
        *GOALS[4:],
        *FIRST,
    )
    document = json.loads((tmp_path / "held" / "chain.json").read_text())
    assert [goal["test"]["length"] for goal in document["goals"] if goal["test"]] == [1]
    assert verdicts(verify(document, tmp_path, folder))["tests of goals"] == "holds"


def test_many_invariants_are_counted_and_told_one_by_one_where_all_is_asked_for(tmp_path: Path) -> None:
    document = cruise_document()
    more = [f"s->speed <= {most}" for most in range(2, 20)]
    claim(document, invariants=(*claimed(document).invariants, *more))
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "chain.json").write_text(json.dumps(document))
    brief, everything = (chaincover("verify", CRUISE, folder, *more, "--no-native").out for more in ((), ("-v",)))
    assert "19 invariants proved again, told by -v" in brief
    assert "s->speed <= 7" not in brief
    assert "s->speed <= 7: true in all 8 reachable states" in everything
    claim(document, invariants=(*claimed(document).invariants, "s->speed <= 0"))
    (folder / "chain.json").write_text(json.dumps(document))
    told = next(row for row in chaincover("verify", CRUISE, folder).out.splitlines() if row.startswith("invariants"))
    assert "s->speed <= 0: false in the reachable state" in told
    assert "19 invariants proved again, told by -v" in told

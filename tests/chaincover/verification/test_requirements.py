"""What a file says of requirements that can fail: a violation of several steps, a longer run, and what cannot be."""

from __future__ import annotations

import json
import os
from pathlib import Path
from unittest import mock

import pytest
from command_line import chaincover, fresh_names, write_files
from small_programs import program, project
from verify_documents import Document, claim, claimed, verdicts, verify

from benchmarks.checks.fuzz.documents import made
from benchmarks.checks.fuzz.mutations import changed
from chaincover.certificate import PathFact
from chaincover.chain import CAN_FAIL
from chaincover.verification.fields import FIELDS
from chaincover.verification.report import HOLDS, WRONG
from chaincover.verification.requirements import NEVER

FAILS = "fails: G(a == 1 && X(a == 1) -> X(X(n == 2)))"
"""It can fail from n == 1 on: in a run of three steps, whose last two violate it."""


def test_a_shortest_run_needs_a_step_at_which_the_violation_begins() -> None:
    """Without one it claims no bound; the field is said to be wrong, and the check goes on."""
    with fresh_names(), mock.patch.dict(os.environ, CHAINCOVER_NO_NATIVE="1"):
        kept, document = made("failure")
        place = next(n for n, ruling in enumerate(document["requirements"]["rulings"]) if ruling["shortest"])
        found = kept.verify(changed(document, (("requirements", "rulings", place, "step"), None)))
    (line,) = (line for line in found.lines if line.check == FIELDS)
    assert line.verdict == WRONG
    assert any(f"requirements.rulings[{place}].step: the file says None" in text for text in line.details)


def test_a_requirement_can_fail_where_there_is_a_run_that_violates_it() -> None:
    with fresh_names(), mock.patch.dict(os.environ, CHAINCOVER_NO_NATIVE="1"):
        kept, document = made("failure")
        rulings = document["requirements"]["rulings"]
        place = next(n for n, ruling in enumerate(rulings) if ruling["ruling"] == CAN_FAIL)
        without = {**rulings[place], "shortest": None, "step": None, "values": [], "held": [], "test": None}
        forged = changed(document, (("requirements", "rulings", place), without))
        claim(forged["requirements"], edges=())
        found = [{line.check: line.verdict for line in kept.verify(each).lines}[FIELDS] for each in (document, forged)]
    assert found == [HOLDS, WRONG]


@pytest.fixture
def several_steps(tmp_path: Path) -> tuple[Path, Document]:
    """A program, and a file that says after how many steps the last step of a violation is made at the earliest."""
    text = project("[interface]\ninput = ['i->a']\n[ranges]\na = [0, 1]")
    write_files(tmp_path, {"p/c.c": program("if (i->a && s->n < 3) s->n++;"), "p/chaincover.toml": text})
    chaincover("generate", tmp_path / "p", "--property", FAILS, "-o", tmp_path / "out", "--no-native")
    document: Document = json.loads((tmp_path / "out" / "chain.json").read_text())
    (ruling,) = document["requirements"]["rulings"]
    assert (ruling["ruling"], ruling["shortest"], ruling["step"], ruling["test"]["length"]) == ("can fail", True, 1, 3)
    assert claimed(document["requirements"]).edges == (PathFact(("init", "violation:fails"), 2),)
    return tmp_path, document


@pytest.mark.parametrize("more", [0, 1])
def test_the_shortest_violation_of_several_steps_is_proved_again(
    more: int, several_steps: tuple[Path, Document]
) -> None:
    """The distance is that to its last step; one more is wrong."""
    folder, document = several_steps
    claim(document["requirements"], edges=(PathFact(("init", "violation:fails"), 2 + more),))
    found = verdicts(verify(document, folder, folder / "p", "--no-native"))
    assert (found[FIELDS], found[NEVER]) == (("WRONG", "WRONG") if more else ("holds", "holds"))


@pytest.mark.parametrize("edges", [(), (PathFact(("init", "violation:fails"), 2),)])
def test_a_run_that_is_not_said_to_be_the_shortest_needs_no_distance(
    edges: tuple[PathFact, ...], several_steps: tuple[Path, Document]
) -> None:
    """A distance that nothing needs is no part of the file."""
    folder, document = several_steps
    document["requirements"]["rulings"][0]["shortest"] = False
    claim(document["requirements"], edges=edges)
    assert verdicts(verify(document, folder, folder / "p", "--no-native"))[FIELDS] == ("WRONG" if edges else "holds")

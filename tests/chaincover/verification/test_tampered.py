"""``chaincover verify`` on files that were tampered with, hashes and all."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from command_line import chaincover
from verify_documents import (
    CRUISE,
    DOORS_PROOF,
    Change,
    Document,
    claim,
    claimed,
    cruise_document,
    doors_document,
    path,
    rest_on_exhaustion,
    texts,
    trivial,
    verdicts,
    verify,
    write_doors,
    wrong,
)

from chaincover.certificate import Acceleration, Prices
from chaincover.formats.document import BoundsClaim, read_document
from chaincover.formats.recorded_subject import load_for
from chaincover.project.load import Request
from chaincover.verification import checks
from chaincover.verification.limits import Limits
from chaincover.verification.report import HOLDS, NOTE, OPEN, UNCLAIMED, WRONG
from chaincover.verification.setting import Setting
from chaincover.verification.values import bound
from chaincover.verification.verification import verify as verified

needs_compiler = pytest.mark.needs_compiler


@pytest.fixture
def cruise() -> Document:
    return cruise_document()


@pytest.fixture
def doors() -> Document:
    return doors_document()


@pytest.fixture
def doors_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "doors"
    folder.mkdir()
    write_doors(folder)
    return folder


# what is wrong


def raised_edge(document: Document) -> None:
    path(document, "init", "p_4")["before"] += 1


def raised_end(document: Document) -> None:
    path(document, "p_1", "final")["before"] += 1


def missing_edge(document: Document) -> None:
    document["certificate"]["claims"].remove(path(document, "p_1", "p_2"))


def raised_order_bound(document: Document) -> None:
    claim(document, order_bound=claimed(document).order_bound + 1)


def bound_without_facts(document: Document) -> None:
    claim(document, edges=trivial(document), order_bound=0)


def bound_above_length(document: Document) -> None:
    document["bounds"]["lower"] = 10
    claim(document, lower=10, order_bound=10)


def bound_above_certificate(document: Document) -> None:
    claim(document, lower=8, order_bound=8)


def not_minimal(document: Document) -> None:
    document["bounds"]["minimal"] = False


def refuted_too_far(document: Document) -> None:
    claim(document, refuted=(9, 10))


def refuted_beyond_a_hole(document: Document) -> None:
    """Only the lengths 8 and on are refuted, and the orders give 0."""
    bound_without_facts(document)
    claim(document, refuted=(8, 9))


def other_states(document: Document) -> None:
    claim(document, invariants=("one of 7 reachable states",))


def other_number_of_states(document: Document) -> None:
    rest_on_exhaustion(document)
    claim(document, exhausted=9)


def bound_of_a_search_not_made(document: Document) -> None:
    """The bound would be above what the search over all runs gives."""
    rest_on_exhaustion(document)
    bound_above_length(document)
    claim(document, order_bound=0)


def other_end(document: Document) -> None:
    document["certificate"]["end"] = "end"


def fewer_goals_credited(document: Document) -> None:
    """The chain no longer claims p_1, the bound is still about it."""
    document["chain"]["hits"] = [hit for hit in document["chain"]["hits"] if hit["goal"] != "p_1"]
    document["chain"]["order"].remove("p_1")
    next(goal for goal in document["goals"] if goal["name"] == "p_1")["verdict"] = "undecided"


def moved_goal(document: Document) -> None:
    """The first goal at the step before, everywhere in the file."""
    hit = document["chain"]["hits"][0]
    hit["step"] -= 1
    next(goal for goal in document["goals"] if goal["name"] == hit["goal"])["step"] -= 1


def other_order(document: Document) -> None:
    document["chain"]["order"].reverse()


def other_input(document: Document) -> None:
    inputs = document["chain"]["steps"][3]["inputs"]
    pressed = next(name for name, value in inputs.items() if value)
    other = next(name for name, value in inputs.items() if not value)
    inputs[pressed], inputs[other] = 0, 1


def forbidden_input(document: Document) -> None:
    """Two inputs at once."""
    inputs = document["chain"]["steps"][0]["inputs"]
    inputs.update(dict.fromkeys(inputs, 1))


def other_state(document: Document) -> None:
    document["chain"]["steps"][4]["state"]["s->speed"] += 1


def shorter(document: Document) -> None:
    """Without its last step."""
    document["chain"]["steps"].pop()
    document["chain"]["length"] -= 1
    document["bounds"]["length"] -= 1


def consequent_failed(document: Document) -> None:
    document["chain"]["hits"][1]["consequent_held"] = False


def other_property(document: Document) -> None:
    document["goals"][0]["property"] = "true"


TAMPERED: list[tuple[Change, str, str]] = [
    (raised_edge, "edges", "init -> p_4 takes at least 3 steps: a run takes 2 (step 0:"),
    (raised_end, "edges", "a run takes"),
    (missing_edge, "order bound", "the certificate has no bound for p_1 -> p_2"),
    (raised_order_bound, "order bound", "an order takes 9"),
    (bound_without_facts, "lower bound", "the facts give only 0"),
    (bound_above_length, "lower bound", "the bound 10 is above the length 9"),
    (bound_above_certificate, "lower bound", "the certificate is about the bound 8, not 9"),
    (not_minimal, "lower bound", "not minimal: 9 steps, bound 9"),
    (refuted_too_far, "refuted lengths", "a run of 9 steps does so"),
    (refuted_beyond_a_hole, "lower bound", "nothing rules the lengths from 0 to 7 out"),
    (bound_of_a_search_not_made, "all runs", "a run of 9 steps does so"),
    (other_end, "lower bound", "chains to 'end', not to 'final'"),
    (fewer_goals_credited, "lower bound", "other goals than the chain: p_1"),
    (other_property, "properties", "p_1: the file says 'true'"),
    (moved_goal, "chain", "is not covered at step"),
    (other_order, "chain", "the order is not that of the goals credited"),
    (other_input, "chain", "as the chain says"),
    (forbidden_input, "chain", "breaks the input constraint"),
    (other_state, "chain", "as the chain says"),
    (shorter, "chain", "does not end in the final condition"),
    (consequent_failed, "chain", "the consequent of"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("change", "check", "text"), TAMPERED, ids=lambda value: getattr(value, "__name__", ""))
def test_a_changed_file_is_found_out(change: Change, check: str, text: str, cruise: Document, tmp_path: Path) -> None:
    change(cruise)
    outcome = verify(cruise, tmp_path, CRUISE, CHAINCOVER_NO_NATIVE="1")
    assert outcome.code == 7
    assert check in wrong(outcome)
    assert text in texts(outcome, check)
    assert outcome.json["summary"].startswith("wrong: ")


@pytest.mark.slow
@pytest.mark.parametrize(("change", "check"), [(other_states, "invariants"), (other_number_of_states, "all runs")])
def test_numbers_of_states_are_informative(change: Change, check: str, cruise: Document, tmp_path: Path) -> None:
    """A search may look at more variables than another one; what rests on its states is proved on those found here."""
    change(cruise)
    outcome = verify(cruise, tmp_path, CRUISE)
    assert outcome.code == 0
    assert verdicts(outcome)[check] == "holds"
    told = texts(outcome, check)
    assert told.startswith("one of 8 reachable states: ") if change is other_states else "8 states" in told
    assert ("counted on s->mode, s->speed, s->enable" in told) == (change is other_states)


@needs_compiler
def test_a_raised_path_weight_is_found_out(doors: Document, doors_folder: Path, tmp_path: Path) -> None:
    path(doors, "init", "door", "room")["before"] = 5
    outcome = verify(doors, tmp_path, doors_folder)
    assert (outcome.code, wrong(outcome)) == (7, {"sub-paths", "lower bound"})
    assert "init -> door -> room takes at least 5 steps: a run takes 4 (step 0: i->a=" in texts(outcome, "sub-paths")


@needs_compiler
def test_without_its_path_fact_the_order_bound_does_not_follow(
    doors: Document, doors_folder: Path, tmp_path: Path
) -> None:
    claim(doors, paths=())
    outcome = verify(doors, tmp_path, doors_folder)
    assert (outcome.code, wrong(outcome)) == (7, {"order bound", "lower bound"})
    assert "init -> door -> room -> end" in texts(outcome, "order bound")


@needs_compiler
def test_a_bound_that_only_a_shorter_chain_disproves(doors: Document, doors_folder: Path, tmp_path: Path) -> None:
    """Facts that speak of fewer runs than they say: the solver shows the chain of 3 steps."""
    claim(doors, order_bound=0, refuted=(0, 4), lower=4)
    doors["bounds"].update(lower=4, gap=-0.25, minimal=False)
    outcome = verify(doors, tmp_path, doors_folder)
    assert wrong(outcome) == {"refuted lengths", "lower bound"}
    assert "a run of 3 steps does so" in texts(outcome, "refuted lengths")


# what a bound rests on

NO_FACTS = replace(DOORS_PROOF, lower=5, order_bound=0)
FIVE: dict[str, Any] = {
    "order_bound": 5,
    "prices": Prices(1, {}, bound=5),
    "acceleration": Acceleration({}, 1, 5),
    "refuted": (0, 5),
}
"""Four ways to the bound 5: by orders, by prices, by jumps, and by lengths that were refuted."""
RESTS = {
    "order_bound": ("edges", "sub-paths", "order bound"),
    "prices": ("prices of goals",),
    "acceleration": ("jumps of counters",),
    "refuted": ("refuted lengths",),
}


@pytest.mark.parametrize("way", RESTS)
def test_a_bound_is_as_good_as_what_it_rests_on(way: str, doors_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "chain.json").write_text(json.dumps({**doors_document(), "chain": None}))
    document = replace(read_document(tmp_path / "chain.json"), bounds=BoundsClaim(None, 5, False, None))
    proof = replace(NO_FACTS, **{way: FIVE[way]})
    subject = load_for(document, Request(str(doors_folder)))
    setting = Setting(subject.system, subject.goals, subject.final, "allow")
    fine = dict.fromkeys([name for names in RESTS.values() for name in names], HOLDS)
    fine |= {"sub-paths": UNCLAIMED, "all runs": NOTE}

    def told(**said: str) -> str:
        return bound(document, proof, setting, fine | said).verdict

    assert told() == HOLDS
    assert bound(document, proof, setting, {}).verdict == OPEN
    for names in RESTS.values():
        for name in names:
            for kind in (OPEN, WRONG):
                assert told(**{name: kind}) == (kind if name in RESTS[way] else HOLDS), (name, kind)
                assert told(**{name: kind, "all runs": HOLDS}) == HOLDS
    assert told(constraints=OPEN) == OPEN
    assert told(**{"all runs": WRONG}) == told(constraints=WRONG, **{"all runs": HOLDS}) == WRONG
    searched = replace(NO_FACTS, exhausted=8)
    assert bound(document, searched, setting, fine).verdict == OPEN
    assert bound(document, searched, setting, fine | {"all runs": HOLDS}).verdict == HOLDS


def test_a_bound_by_refuted_lengths_rests_on_orders_below_them(cruise: Document, tmp_path: Path) -> None:
    """The lengths from the bound by orders on are refuted; an edge that is not so leaves those below open."""
    raised_edge(cruise)
    claim(cruise, refuted=(8, 9), order_bound=8)
    (tmp_path / "chain.json").write_text(json.dumps(cruise))
    document = read_document(tmp_path / "chain.json")
    found = verified(load_for(document, Request(str(CRUISE))), document, Limits(nodes=0))
    kinds = {line.check: line.verdict for line in found.lines}
    assert (kinds["edges"], kinds["all runs"], kinds["lower bound"]) == (WRONG, NOTE, WRONG)


@pytest.mark.needs_compiler
@pytest.mark.parametrize(("forge", "verdict"), [(rest_on_exhaustion, HOLDS), (bound_of_a_search_not_made, WRONG)])
def test_where_states_with_goals_are_many_the_compiled_search_alone_decides(
    forge: Callable[[Document], None], verdict: str, cruise: Document, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More than the search in arrays may have: it is not asked."""
    forge(cruise)
    (tmp_path / "chain.json").write_text(json.dumps(cruise))
    document = read_document(tmp_path / "chain.json")
    monkeypatch.setattr(checks, "search", Mock(side_effect=AssertionError("it is asked")))
    found = verified(load_for(document, Request(str(CRUISE))), document, Limits(nodes=1))
    assert {line.check: line.verdict for line in found.lines}["all runs"] == verdict


# sources that changed


def with_hashes_of(document: Document, folder: Path, out: Path) -> None:
    """The SHA-256 recorded become those of the sources in ``folder``."""
    code = chaincover("generate", folder, "-o", out, "--no-replay", "-q").code
    assert code in (0, 1, 4)
    document["controller"]["sources"] = json.loads((out / "chain.json").read_text())["controller"]["sources"]


def changed_cruise(folder: Path, old: str, new: str) -> Path:
    shutil.copytree(CRUISE, folder)
    code = (folder / "cruise.c").read_text()
    assert old in code
    (folder / "cruise.c").write_text(code.replace(old, new, 1))
    return folder


@pytest.mark.slow
@needs_compiler
def test_a_source_in_which_a_goal_is_missed(cruise: Document, tmp_path: Path) -> None:
    folder = changed_cruise(tmp_path / "cruise", "s->mode = DIS;", "s->mode = OFF;")
    with_hashes_of(cruise, folder, tmp_path / "new")
    outcome = verify(cruise, tmp_path, folder)
    assert outcome.code == 7
    assert verdicts(outcome)["sources"] == "holds"
    assert "chain" in wrong(outcome)


@needs_compiler
def test_a_source_in_which_a_shorter_chain_exists(cruise: Document, tmp_path: Path) -> None:
    """The recorded chain still runs as it says; braking at the start leads to speed 2 at once."""
    jump = "  t_mode mode = s->mode;\n  if (mode == OFF && s->speed == 0 && !s->enable && i->brake) "
    jump += "{ s->speed = 2; return; }\n"
    folder = changed_cruise(tmp_path / "cruise", "  t_mode mode = s->mode;\n", jump)
    with_hashes_of(cruise, folder, tmp_path / "new")
    outcome = verify(cruise, tmp_path, folder)
    assert outcome.code == 7
    assert verdicts(outcome)["sources"] == verdicts(outcome)["chain"] == "holds"
    assert wrong(outcome) == {"edges", "lower bound", "all runs"}
    assert "step 0: i->brake=1" in texts(outcome, "all runs")


@needs_compiler
def test_a_comment_is_a_note(cruise: Document, tmp_path: Path) -> None:
    folder = changed_cruise(tmp_path / "cruise", "/* A simple", "/* A very simple")
    outcome = verify(cruise, tmp_path, folder)
    assert outcome.code == 0
    assert verdicts(outcome)["sources"] == "note"
    assert "cruise.c changed since, but not its preprocessed code" in texts(outcome, "sources")


def test_a_bound_on_chains_through_a_goal_twice_is_of_other_chains(tmp_path: Path) -> None:
    document = cruise_document()
    goals = claimed(document).goals
    claim(document, goals=(*goals, goals[0]))
    outcome = verify(document, tmp_path, CRUISE, "--no-native")
    assert "lower bound" in wrong(outcome)
    assert "about a goal twice" in texts(outcome, "lower bound")

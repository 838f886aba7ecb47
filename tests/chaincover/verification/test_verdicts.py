"""Verdicts about runs of any length: no chain exists, sets of goals that do not fit together, how many fit at most."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from command_line import Outcome, chaincover, write_files
from small_programs import HEAD, program, project
from verify_documents import Document, claim, texts, verdicts, verify, written, wrong

from chaincover.certificate import Certificate, NoRun, PathFact

needs_compiler = pytest.mark.needs_compiler

CHECK = "goals not covered"
GOALS = ("--property", "one: cover(n == 1)", "--property", "two: cover(n == 2)", "--property", "any: cover(b)")
EMPTY = Certificate((), "end", "allow", edges=(PathFact(("init", "end"), 0),))


FILES = {
    "p/c.c": program("if (s->n == 0) s->n = i->a;", head=HEAD),
    "p/chaincover.toml": project("[ranges]\na = '0..2'"),
}
"""A program in which the first input decides: n stays 1 or 2, and no run covers both."""


@pytest.fixture
def branches(tmp_path: Path) -> Path:
    write_files(tmp_path, FILES)
    return tmp_path


@cache
def generated(*options: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder), FILES)
        chaincover("generate", f"{folder}/p", "-o", f"{folder}/out", "--no-replay", "-q", *GOALS, *options)
        return (Path(folder) / "out" / "chain.json").read_text()


def made(*options: str) -> Document:
    """What ``generate`` writes for the goals, its verdicts without any proof."""
    document: Document = json.loads(generated(*options))
    for goal in document["goals"]:
        goal["detail"] = ""
    return document


def without_chain(folder: Path, **claims: Any) -> Outcome:
    """Verify a document of the goals that has no chain, with a certificate of ``claims``."""
    document = made("--most")
    document["chain"] = None
    document["bounds"].update(length=None, lower=0, gap=None, minimal=False)
    for goal in document["goals"]:
        goal.update(verdict="excluded", step=None, consequent_held=None)
    document["bounds"]["k_met"] = None
    document["claims"] = [claim for claim in document["claims"] if "that this one covers" not in claim]
    document["certificate"] = written(replace(EMPTY, **claims))
    return verify(document, folder, folder / "p")


@needs_compiler
def test_no_chain_exists(branches: Path) -> None:
    outcome = without_chain(branches, conflicts=(("one", "two", "any"),))
    assert outcome.code == 0, outcome.json
    assert verdicts(outcome)[CHECK] == "holds"
    assert "chain" not in verdicts(outcome)
    told = texts(outcome, CHECK)
    assert told.startswith(
        "1 of 1 claims about runs of any length proved again: no chain covers one, two, any together: "
    )


@needs_compiler
def test_nothing_claimed_without_a_chain_is_nothing_wrong(branches: Path) -> None:
    outcome = without_chain(branches)
    assert (outcome.code, verdicts(outcome)[CHECK]) == (0, "not claimed")


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize(
    ("claims", "text"),
    [
        ({"conflicts": (("one", "any"),)}, "no chain covers one, any together: a run of 1 step does so: step 0:"),
        (
            {"no_way_to_end": ("two",), "conflicts": (("one", "two"),)},
            "no run covers two and then ends in the final condition: a run of 1 step does so",
        ),
        ({"conflicts": (("one", "three"),)}, "three is no goal"),
        ({"most": NoRun(("one", "two", "any"), 2)}, "a run of 1 step does so: step 0: "),
    ],
)
def test_a_wrong_claim_about_all_chains_is_found_out(claims: dict[str, Any], text: str, branches: Path) -> None:
    outcome = without_chain(branches, **claims)
    assert wrong(outcome) == {CHECK}
    assert text in texts(outcome, CHECK)


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("most", [0, 1])
def test_no_chain_of_so_few_steps(most: int, branches: Path) -> None:
    """One step covers one of the goals, two steps cover both."""
    goals = ("--property", "later: cover(n == 2 && b)", "--property", "b: cover(b)")
    options = ("--no-replay", "-q", *goals, "--max-length", most)
    chaincover("generate", branches / "p", "-o", branches / "out", *options)
    document = json.loads((branches / "out" / "chain.json").read_text())
    assert (document["chain"] is None) == (most == 0)
    outcome = verify(document, branches, branches / "p")
    held = "holds" if most else "not claimed"  # without a chain that is the lower bound, which has a line of its own
    assert (outcome.code, verdicts(outcome)[CHECK]) == (0, held), outcome.json
    for goal in document["goals"]:
        goal["detail"] = goal["detail"].replace("none is shorter than ", "none is shorter than 1")
    assert wrong(verify(document, branches, branches / "p")) == {CHECK}


@pytest.mark.slow
@needs_compiler
def test_the_most_goals_of_one_chain(branches: Path) -> None:
    document = made("--most")
    assert sorted(goal["verdict"] for goal in document["goals"]) == ["covered", "covered", "excluded"]
    for number, verdict in ((2, "holds"), (1, "WRONG"), (3, "WRONG")):
        claim(document, most=NoRun(("one", "two", "any"), number + 1))
        outcome = verify(document, branches, branches / "p")
        assert verdicts(outcome)[CHECK] == verdict, outcome.json


MACHINE = """
typedef struct { _Bool a, b; } In;
typedef struct { unsigned char m; } St;
void init(St *s) { s->m = 0; }
void compute(In *i, St *s) {
  if (s->m == 0) { if (i->a) s->m = 1; else if (i->b) s->m = 3; } else if (s->m == 1) { if (!i->a) s->m = 2; }
  else if (s->m == 3) { if (i->b) s->m = 0; } else if (i->a) s->m = 0; }
"""
PLACES = [
    text for n, name in enumerate(("one", "two", "three"), 1) for text in ("--property", f"{name}: cover(m == {n})")
]
SHORTER = "no chain of at most {} step{} covers all goals: none is shorter than 1{}"


@cache
def machine_chain() -> str:
    """What ``generate`` writes for ``MACHINE`` and a chain of at most two steps."""
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder), {"c.c": MACHINE})
        options = ("--no-replay", "-q", *PLACES, "--max-length", "2")
        chaincover("generate", f"{folder}/c.c", "-o", f"{folder}/out", *options)
        return (Path(folder) / "out" / "chain.json").read_text()


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("detail", ["", SHORTER.format(1, "", 0), SHORTER.format(1000000, "s", 0)])
@pytest.mark.parametrize(
    ("verdict", "claims"),
    [
        ("unreachable", {"unreachable": ("three",)}),
        ("no-way-to-final", {"no_way_to_end": ("three",)}),
        ("excluded", {}),
    ],
)
def test_no_words_of_a_detail_stand_for_a_proof(
    verdict: str, claims: dict[str, Any], detail: str, tmp_path: Path
) -> None:
    """A run of four steps covers all three goals; a chain of at most two leaves one of them out."""
    write_files(tmp_path, {"c.c": MACHINE})
    document = json.loads(machine_chain())
    document["settings"]["max_length"] = None
    claim(document, **{"most": None, "conflicts": (), **claims})
    left_out = next(goal for goal in document["goals"] if goal["verdict"] != "covered")
    assert left_out["name"] == "three"
    left_out.update(verdict=verdict, detail=detail, test=None)
    outcome = verify(document, tmp_path, tmp_path / "c.c", *PLACES)
    assert CHECK in wrong(outcome), outcome.json


@needs_compiler
def test_a_conflict_of_other_goals_proves_nothing_of_an_excluded_one(branches: Path) -> None:
    """No run covers one and two: that is true. The goal that is left out goes with each of them."""
    document = made("--goal", "one", "--goal", "two", "--most")
    claim(document, most=None, conflicts=(("one", "two"),))
    left_out = {
        "name": "any",
        "property": "cover(b)",
        "verdict": "excluded",
        "detail": "no chain covers more than 1 of 3",
    }
    document["goals"].append({**document["goals"][1], "step": None, "consequent_held": None, "test": None, **left_out})
    outcome = verify(document, branches, branches / "p")
    assert CHECK in wrong(outcome), outcome.json
    assert "any: a run of 1 step does so" in texts(outcome, CHECK)


@needs_compiler
def test_claims_of_runs_beyond_the_limits_are_left_open(branches: Path) -> None:
    document = made("--most")
    claim(document, conflicts=(("one", "two"),))
    outcome = verify(document, branches, branches / "p", "--effort", "1e-9")
    assert verdicts(outcome)[CHECK] == "not re-proved"
    outcome = verify(document, branches, branches / "p", "--effort", "none")
    assert (outcome.code, verdicts(outcome)[CHECK]) == (0, "holds")


UP_AND_DOWN = """
typedef struct { unsigned char up; } In;
typedef struct { unsigned char n, lamp; } St;
void init(St *s) { s->n = 0; s->lamp = 0; }
void assumption(In *i, St *s) { __CPROVER_assume(i->up <= 1); }
void compute(In *i, St *s) { s->lamp ^= 1; if (i->up) { if (s->n < 9) s->n++; } else if (s->n > 0) s->n--; }
void p_1(In *i, St *s) { __CPROVER_assume(s->n == 7); compute(i, s); assert(s->n >= 6); }
void p_2(In *i, St *s) { __CPROVER_assume(s->n == 3 && !i->up); compute(i, s); assert(s->n == 2); }
int final(St *s) { return s->n == 0; }
"""
"""No goal reads the lamp. A chain through both goals has 14 steps, one through the second alone 6."""


@pytest.fixture(scope="module")
def counter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program ``UP_AND_DOWN`` with its chain in ``out``."""
    folder = tmp_path_factory.mktemp("counter")
    write_files(folder, {"c.c": f"#include <assert.h>\nvoid __CPROVER_assume(_Bool);\n{UP_AND_DOWN}"})
    assert chaincover("generate", "c.c", "-o", "out", "--no-replay", "-q", cwd=folder).code == 0
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    ("facts", "check", "text"),
    [
        ({"paths": (PathFact(("p_1", "p_2", "final"), 99),)}, "sub-paths", "a run takes 7 (from s->n=7"),
        ({"unreachable": ("p_1",)}, CHECK, "no run covers p_1: the chain covers 1 of them"),
        (
            {"no_way_to_end": ("p_2",)},
            CHECK,
            "no run covers p_2 and then ends in the final condition: the chain covers 1 of them",
        ),
        ({"conflicts": (("p_1", "p_2"),)}, CHECK, "the chain covers 2 of them"),
        ({"most": NoRun(("p_1", "p_2"), 2)}, CHECK, "the chain covers 2 of them"),
    ],
)
def test_no_claim_of_a_certificate_is_overlooked(facts: dict[str, Any], check: str, text: str, counter: Path) -> None:
    """Where the chain covers everything too, and where the run that disproves a claim does not have all variables."""
    document = json.loads((counter / "out" / "chain.json").read_text())
    claim(document, **facts)
    outcome = verify(document, counter, counter / "c.c")
    assert (outcome.code, wrong(outcome)) == (7, {check}), outcome.json
    assert text in texts(outcome, check)


def test_where_no_chain_is_short_enough_there_is_the_best_of_those_that_are(counter: Path) -> None:
    arguments = ("c.c", "-o", "short", "--no-replay", "--json")
    outcome = chaincover("generate", *arguments, "--max-length", "10", cwd=counter)
    assert outcome.code == 4
    assert (outcome.json["bounds"]["length"], outcome.json["bounds"]["minimal"]) == (6, True)
    verdict = {goal["name"]: (goal["verdict"], goal["detail"]) for goal in outcome.json["goals"]}
    assert verdict["p_2"][0] == "covered"
    assert verdict["p_1"][0] == "excluded"
    assert (
        "no chain covers more than 1 of them: all 10 reachable states were looked at within 10 steps"
        in verdict["p_1"][1]
    )
    again = chaincover("verify", "c.c", "short", "--json", cwd=counter)
    assert (verdicts(again)["lower bound"], wrong(again)) == ("holds", set())


def test_patterns_that_leave_no_goal_are_refused(counter: Path) -> None:
    outcome = chaincover("generate", "c.c", "--goal", "p_1", "--exclude", "p_*", cwd=counter)
    assert outcome.code == 2
    assert "leave no goal" in outcome.stderr

"""``chaincover verify`` on claims that are true, on weaker ones, and on those that it cannot prove again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from command_line import MODELS, chaincover, fresh_names, write_files
from small_programs import program, project
from verify_documents import (
    CRUISE,
    Change,
    Document,
    claim,
    claimed,
    cruise_document,
    direct_proof,
    doors_document,
    generated,
    rest_on_exhaustion,
    texts,
    trivial,
    verdicts,
    verify,
    write_doors,
    wrong,
)

from bmc.engines import choose
from bmc.formulas.unroll import at
from bmc.system.transition import Condition, StateVariable, TransitionSystem, ValueType
from chaincover.certificate import Acceleration, Certificate, PathFact, Prices
from chaincover.check import analysis
from chaincover.claims import of_certificate
from chaincover.formats.writer import chain_document
from chaincover.options import Options
from chaincover.pipeline import generate
from chaincover.problem import Problem
from chaincover.project.load import load
from chaincover.project.project_file import read_project
from chaincover.requirements.deciding import Deciding
from chaincover.result import ChainResult, Silent
from chaincover.verification import checks
from chaincover.verification.checks import Checks, Listener
from chaincover.verification.limits import Clock, Limits
from chaincover.verification.report import HOLDS, OPEN, Line, Verification
from chaincover.verification.setting import Setting, Statement
from chaincover.weights import END, INIT
from properties.goal import Goal

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


# what is true


def test_a_check_that_holds_in_part_is_not_said_to_hold() -> None:
    lines = (Line("chain", HOLDS, ""), Line("undecided", HOLDS, "2 of them"), Line("undecided", OPEN, "of 1"))
    assert Verification("chain.json", lines).summary == "checked, and holds: chain; not re-proved: undecided"


@needs_compiler
def test_a_true_certificate_passes(cruise: Document, tmp_path: Path) -> None:
    outcome = verify(cruise, tmp_path, CRUISE)
    assert outcome.code == outcome.json["exit_code"] == 0
    assert verdicts(outcome) == {
        "sources": "holds",
        "properties": "holds",
        "fields": "holds",
        "chain": "holds",
        "tests of goals": "not claimed",
        "invariants": "holds",
        "edges": "holds",
        "sub-paths": "not claimed",
        "order bound": "holds",
        "refuted lengths": "not claimed",
        "lower bound": "holds",
        "further invariants": "holds",
        "all runs": "holds",
        "never violated": "holds",
    }
    assert outcome.json["summary"].startswith(
        "checked, and holds: sources, properties, fields, chain, invariants, edges, order bound"
    )
    assert "on the compiled original" in texts(outcome, "chain")


@needs_compiler
def test_path_facts_are_proved_again(doors: Document, doors_folder: Path, tmp_path: Path) -> None:
    """Goals that only the command line named are read from the document."""
    outcome = verify(doors, tmp_path, doors_folder)
    assert outcome.code == 0
    assert (verdicts(outcome)["sub-paths"], verdicts(outcome)["all runs"]) == ("holds", "note")
    assert verdicts(outcome)["invariants"] == "not claimed"


@needs_compiler
def test_the_report_as_text(cruise: Document, tmp_path: Path) -> None:
    (tmp_path / "chain.json").write_text(json.dumps(cruise))
    outcome = chaincover("verify", CRUISE, tmp_path / "chain.json")
    rows = outcome.out.splitlines()
    assert outcome.code == 0
    assert rows[0].split() == ["sources", "holds", "1", "file", "with", "the", "SHA-256", "recorded"]
    assert rows[-1].startswith("checked, and holds: sources, properties, fields, chain")
    assert chaincover("verify", CRUISE, tmp_path, "-q").out == ""


def weaker_bound(document: Document) -> None:
    document["bounds"]["lower"] = 7
    claim(document, order_bound=7, lower=7)
    document["bounds"]["minimal"], document["bounds"]["gap"] = False, 0.285714


def whole_chain_search(document: Document) -> None:
    """No distances but the trivial ones: every length is refuted instead."""
    claim(document, edges=trivial(document), order_bound=0, refuted=(0, 9), invariants=())


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("change", [weaker_bound, whole_chain_search, rest_on_exhaustion])
def test_a_weaker_but_true_certificate_passes(change: Change, cruise: Document, tmp_path: Path) -> None:
    change(cruise)
    outcome = verify(cruise, tmp_path, CRUISE)
    assert outcome.code == 0, outcome.json
    assert verdicts(outcome)["lower bound"] == "holds"


@needs_compiler
@pytest.mark.parametrize(
    ("question", "refuted", "verdict"), [(1.0, "proved again", "holds"), (0.0, "did not finish", "not re-proved")]
)
def test_states_are_enumerated_only_where_the_certificate_speaks_of_them(
    question: float, refuted: str, verdict: str, cruise: Document, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What the solver leaves open with ``question`` units of work for each one is left open."""
    whole_chain_search(cruise)
    monkeypatch.setattr("chaincover.verification.limits.Clock.question", lambda clock, share=1: question)
    outcome = verify(cruise, tmp_path, CRUISE)
    assert outcome.code == (6 if verdict == "not re-proved" else 0)
    assert refuted in texts(outcome, "refuted lengths")
    assert verdicts(outcome)["lower bound"] == verdict
    assert verdicts(outcome)["all runs"] == "note"


MANY_STATES = "one of 250000 reachable states"

DISTANCES = Certificate(("zero",), END, "allow", invariants=(MANY_STATES,))


def of_many_states(proof: Certificate | None) -> Statement:
    """What ``proof`` says of a system with one goal, and an invariant of its own."""
    number = ValueType("uint8", 8)
    zero = number.symbol("tv_number").Equals(number.constant(0))
    variable = StateVariable("tv_number", number, number.constant(0), number.constant(0))
    system = TransitionSystem("still", (variable,), (), invariants=(Condition("stays", zero),))
    setting = Setting(system, (Goal("zero", at(zero, 0), None, 0),), None)
    return Statement(setting, Mock(), proof, [] if proof is None else [*of_certificate(proof, 0)])


@pytest.mark.parametrize(
    ("facts", "sought"),
    [
        ({}, True),
        ({"invariants": ("one of 249999 reachable states",)}, False),
        ({"invariants": ()}, False),
        ({"invariants": ("small", MANY_STATES)}, False),
        ({"exhausted": 250_000}, False),
        ({"paths": (PathFact((INIT, "zero", END), 0),)}, False),
        ({"refuted": (0, 1)}, False),
        ({"refuted": (1, 1)}, True),
        ({"prices": Prices(1, {})}, False),
        ({"acceleration": Acceleration({}, 0, 0)}, False),
        ({"no_way_to_end": ("zero",)}, False),
        ({"invariants": (MANY_STATES, "stays")}, False),
        (None, False),
    ],
)
def test_layers_are_sought_where_distances_between_very_many_states_are_all_that_is_claimed(
    facts: dict[str, Any] | None, sought: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = object()
    monkeypatch.setattr(checks.Layers, "of", lambda *given: made)
    proof = None if facts is None else replace(DISTANCES, **facts)
    assert Checks(of_many_states(proof), Clock(Limits()), Listener()).layers is (made if sought else None)


@pytest.mark.parametrize("name", ["stays", "another"])
def test_an_invariant_that_is_said_to_be_proved_needs_states_and_no_layers(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = object()
    monkeypatch.setattr(checks.Layers, "of", lambda *given: made)
    statement = replace(of_many_states(DISTANCES), invariants=[name])
    assert Checks(statement, Clock(Limits()), Listener()).layers is (None if name == "stays" else made)


@needs_compiler
def test_a_chain_without_a_bound_needs_no_states(cruise: Document, tmp_path: Path) -> None:
    cruise["bounds"].update(lower=0, minimal=False, gap=None)
    cruise["certificate"] = None
    outcome = verify(cruise, tmp_path, CRUISE)
    assert outcome.code == 0
    assert verdicts(outcome)["all runs"] == "note"


@needs_compiler
def test_a_bound_that_rests_on_all_runs_needs_all_states(cruise: Document, tmp_path: Path) -> None:
    rest_on_exhaustion(cruise)
    outcome = verify(cruise, tmp_path, CRUISE)
    assert outcome.code == 0
    assert verdicts(outcome)["all runs"] == "holds"


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("overlap", ["forbid", "allow"])
def test_goals_that_may_not_share_steps(overlap: str, tmp_path: Path) -> None:
    folder = tmp_path / "p"
    write_files(folder, {"c.c": program(), "chaincover.toml": project("[ranges]\na = [0, 1]")})
    twice = "G(b && X(b) -> X(X(n <= 100)))"
    goals = ("--property", f"one: {twice}", "--property", "two: G(a == 1 && X(a == 0) -> X(X(n <= 100)))")
    document = generated(tmp_path, folder, *goals, "--overlap", overlap)
    assert document["bounds"]["length"] == {"forbid": 4, "allow": 2}[overlap]
    told = document["certificate"]
    document["certificate"] = direct_proof(document, [])
    outcome = verify(document, tmp_path, folder)
    assert "monitors" in wrong(outcome), "it speaks of goals of two steps as they are"
    document["certificate"] = told
    outcome = verify(document, tmp_path, folder)
    assert outcome.code == 0
    assert " run on " in texts(outcome, "all runs"), "the compiled original is given no input of a monitor"
    if overlap == "forbid":
        document["settings"]["overlap"] = "allow"
        outcome = verify(document, tmp_path, folder)
        assert wrong(outcome) == {"fields", "monitors", "edges", "all runs", "lower bound"}
    else:
        document["settings"]["overlap"] = "forbid"
        outcome = verify(document, tmp_path, folder)
        assert wrong(outcome) == {"fields", "chain", "monitors"}
        assert "one and two share steps" in texts(outcome, "chain")


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize(
    ("model", "options"),
    [
        ("latch", Options()),
        pytest.param("latch", Options(effort=0.05), marks=pytest.mark.evidence),
        pytest.param("latch", Options(engine="z3"), marks=pytest.mark.evidence),
        ("cruise", Options(overlap="forbid")),
        pytest.param("turnsignal", Options(effort=0.05), marks=pytest.mark.evidence),
    ],
)
def test_what_is_generated_is_proved_again(model: str, options: Options, tmp_path: Path) -> None:
    """Whatever the proof of the bound is made of."""
    with fresh_names():
        subject = load(read_project(str(MODELS / model)))
        subject = replace(subject, system=analysis.prepare(subject, choose("z3")))
        problem = Problem(subject.system, subject.goals, subject.final)
        result = generate(problem, options)
        assert result.certificate is not None
        result = replace(result, requirements=Deciding[ChainResult](problem, options, Silent()).finish(result, 0.0))
        document = chain_document(subject, result)
    outcome = verify(document, tmp_path, MODELS / model)
    assert outcome.code == (model == "latch"), outcome.json  # one of its consequents fails
    assert verdicts(outcome)["lower bound"] == "holds"
    assert verdicts(outcome)["edges"] == ("holds" if result.certificate.edges else "not claimed")


# what is not proved again


def test_proofs_that_do_not_finish_have_an_exit_code_of_their_own(
    cruise: Document, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What looks at the clock ends by itself, without the alarm."""
    monkeypatch.setattr("chaincover.cli.options.interrupt_after", lambda seconds: None)
    outcome = verify(cruise, tmp_path, CRUISE, "--effort", "1e-9")
    assert outcome.code == 6
    assert verdicts(outcome)["edges"] == "not re-proved"
    assert "not re-proved: " in outcome.json["summary"]
    outcome = verify(cruise, tmp_path, CRUISE, "--time-limit", "1e-9")
    assert outcome.code == 6
    assert verdicts(outcome)["edges"] == verdicts(outcome)["invariants"] == "not re-proved"
    assert verdicts(outcome)["all runs"] == "note"


def test_without_a_compiler_the_chain_is_not_checked_on_the_original(cruise: Document, tmp_path: Path) -> None:
    outcome = verify(cruise, tmp_path, CRUISE, CHAINCOVER_NO_NATIVE="1")
    assert outcome.code == 6
    assert [check for check, verdict in verdicts(outcome).items() if verdict == "not re-proved"] == ["chain"]
    assert "the model only" in texts(outcome, "chain")


def test_without_a_certificate_the_bound_is_not_proved_again(cruise: Document, tmp_path: Path) -> None:
    cruise["certificate"] = None
    outcome = verify(cruise, tmp_path, CRUISE)
    assert outcome.code == 6
    assert verdicts(outcome)["lower bound"] == "not re-proved"
    assert "no certificate" in texts(outcome, "lower bound")


@needs_compiler
def test_goals_said_to_be_unreachable(tmp_path: Path) -> None:
    write_files(tmp_path, {"p/c.c": program(), "p/chaincover.toml": project("[ranges]\na = [0, 1]")})
    goals = ("--property", "x: cover(n == 2)", "--property", "y: cover(n < 0)")
    folder = tmp_path / "p"
    assert chaincover("generate", folder, "-o", tmp_path, "--no-replay", "-q", *goals).code == 4
    document = json.loads((tmp_path / "chain.json").read_text())
    document["certificate"] = direct_proof(document, [])
    claim(document, goals=("x",), edges=(PathFact(("init", "x"), 2), PathFact(("x", "end"), 0)))
    outcome = verify(document, tmp_path, folder)
    assert (outcome.code, verdicts(outcome)["goals not covered"]) == (0, "holds")
    document["goals"][0].update(verdict="unreachable", step=None)
    outcome = verify(document, tmp_path, folder)
    assert "goals not covered" in wrong(outcome)
    assert "no run covers x: the chain covers 1 of them" in texts(outcome, "goals not covered")


@pytest.mark.evidence
def test_a_proof_on_states_in_a_normal_form_is_checked_on_all_runs(tmp_path: Path) -> None:
    """Of a clock that counts on for ever; the states as they are have no end."""
    assert chaincover("generate", MODELS / "stairlight", "-o", tmp_path, "--no-replay").code == 0
    outcome = chaincover("verify", MODELS / "stairlight", tmp_path, "--json")
    assert outcome.code == 0
    kinds = {line["check"]: line["verdict"] for line in outcome.json["checks"]}
    assert {kinds[check] for check in ("normal form", "order bound", "lower bound", "all runs")} == {"holds"}


@pytest.mark.evidence
@pytest.mark.parametrize("unread", ["", " s.seen = (short)(s.seen / 2 + level);"])
def test_a_normal_form_and_jumps_that_rest_on_constants(unread: str, tmp_path: Path) -> None:
    """``limit`` is read no more in the part of the program that is searched; without its value ``t`` is told apart.

    What an input has too many values for is ``unread`` by any goal.
    """
    code = """static struct { unsigned char mode; unsigned t; unsigned short limit; short seen; } s;
void init(void) { s.mode = 0; s.t = 0; s.limit = 100; s.seen = 0; }
void compute(unsigned char go, short level) {
  s.t++;UNREAD
  if (s.mode == 0 && s.limit > 200 && s.t == 5) { s.mode = 2; }
  else if (s.mode == 0 && go) { s.mode = 1; s.t = 0; }
  else if (s.mode == 1 && s.t >= s.limit) { s.mode = 2; }
}
"""
    text = (
        '[functions]\ninit = ["init"]\n[ranges]\ngo = [0, 1]\n[[property]]\ntext = "cover(s.mode == 1 && s.t == 98)"\n'
    )
    write_files(tmp_path, {"c.c": code.replace("UNREAD", unread), "chaincover.toml": project(text)})
    document = generated(tmp_path / "out", tmp_path)
    proof = claimed(document)
    assert proof.acceleration is not None
    assert (proof.acceleration.bound, [*proof.normal_form]) == (99, ["s.t"])
    outcome = chaincover("verify", tmp_path, tmp_path / "out", "--json")
    kinds = verdicts(outcome)
    assert (outcome.code, kinds["normal form"], kinds["jumps of counters"]) == (0, "holds", "holds")


TIMED = """\
typedef struct { unsigned char a, b; _Bool go; short level; } t_input;
typedef struct { unsigned char t, m; int acc; float f; } t_state;
void init(t_state *s) { s->t = 0; s->m = 0; s->acc = 0; s->f = 0; }
void compute(t_input *i, t_state *s) {
  s->f = s->f * 0.5f + (float)i->level; s->acc = i->b;
  switch (s->m) {
    case 0: if (i->go) { s->m = 1; s->t = 0; } break;
    case 1: if (++s->t >= 40) { s->m = 2; s->t = 0; } break;
    case 2: if (!i->go) { s->m = 3; s->t = 0; } break;
    case 3: if (++s->t >= 30 && i->a == 7) s->m = 0; break;
  }
}
"""
"""A machine with long times; beside it there are values that nothing asks for, read from inputs of 24 bits."""


@pytest.mark.slow
def test_jumps_are_made_with_the_inputs_that_matter_to_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They were left open (too many inputs), and with them a file whose bound the search over all runs shows. Where a
    limit leaves them open that is a note, as long as no claim needs them."""
    write_files(tmp_path, {"c.c": TIMED})
    goals = ("--cover", "transitions(m, 0..3)", "--no-native")
    assert chaincover("generate", "c.c", *goals, "-o", "o", cwd=tmp_path).code == 0
    document = json.loads((tmp_path / "o" / "chain.json").read_text())
    claim(document, acceleration=Acceleration({"s->t": (0, 29, 30, 39, 40, 255)}, 0, 72))
    (tmp_path / "o" / "chain.json").write_text(json.dumps(document))

    def kinds() -> dict[str, str]:
        return verdicts(chaincover("verify", "c.c", "o", "--json", "--no-native", cwd=tmp_path))

    assert kinds()["jumps of counters"] == "holds"
    monkeypatch.setattr("chaincover.verification.acceleration.input_classes", lambda *given: None)
    found = kinds()
    assert (found["jumps of counters"], found["lower bound"]) == ("note", "holds")
    assert [*found].index("jumps of counters") < [*found].index("lower bound")
    claim(document, edges=(), order_bound=0, invariants=(), formulas={}, exhausted=0)
    (tmp_path / "o" / "chain.json").write_text(json.dumps(document))
    monkeypatch.setattr("chaincover.verification.checks.tabulate", lambda *given: None)
    found = kinds()
    assert (found["jumps of counters"], found["lower bound"]) == ("not re-proved", "not re-proved")


def test_unreachable_goals_that_no_induction_proves(tmp_path: Path) -> None:
    """No chain and no bound: that the one goal is unreachable rests on the states, so the certificate speaks of them.

    Among the values from 100 on, which no run has, 50 steps lead to the goal: longer than any induction looks back.
    """
    source = """\
typedef struct { _Bool go; } t_in;
typedef struct { unsigned char n; } t_st;
void init(t_st *s) { s->n = 0; }
void compute(t_in *i, t_st *s) {
  if (i->go) s->n = s->n < 10 ? (s->n + 1) % 10 : s->n < 200 ? s->n + 1 : 100;
}
"""
    write_files(tmp_path, {"c.c": source})
    options = ["--property", "far: cover(n == 150 && X(n == 151))", "--no-replay", "-q", "-o", tmp_path / "out"]
    assert chaincover("generate", tmp_path / "c.c", *options).code == 4
    told = chaincover("verify", tmp_path / "c.c", tmp_path / "out")
    assert (told.code, "1 of 1 claims about runs of any length proved again" in told.out) == (0, True), told.out

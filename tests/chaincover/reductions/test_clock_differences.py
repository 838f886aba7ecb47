"""Controllers with clocks of C through generate and verify: the chain is the shortest, and nothing is said of what may
come after a wrap."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from boards import board_of, run_by
from command_line import chaincover, fresh_names
from drawn_seeds import seeds
from machines import fork
from pysmt.shortcuts import BV

from benchmarks.checks.clocks.compare import compare
from benchmarks.checks.clocks.programs import drawn
from bmc.engines import choose
from bmc.formulas.unroll import at
from bmc.invariants.induction import Prover
from chaincover.certificate import Certificate, Validity, from_data
from chaincover.chain import (
    COVERED,
    NO_WAY_TO_FINAL,
    NOT_WITHIN_BOUND,
    UNDECIDED,
    UNREACHABLE,
    Bounds,
    LongTest,
    Verdict,
)
from chaincover.options import Options
from chaincover.problem import Problem
from chaincover.project.load import Request, load_request
from chaincover.reductions import slicing
from chaincover.reductions.within_horizon import within, without_late_runs
from chaincover.result import ChainResult
from chaincover.verification.limits import Clock, Limits
from chaincover.verification.normal_form import normal_setting
from chaincover.verification.report import HOLDS, WRONG
from chaincover.verification.setting import Setting
from chaincover.weights import ReachGraph
from properties.goal import Goal

COVER = "transitions(m, 0..2)"
CLOCK = """
typedef struct { _Bool go; } t_input; typedef struct { CLOCK now, last; unsigned char t, m; } t_state;
void init(t_state *s) { s->now = 0; s->last = 0; s->t = 0; s->m = 0; }
void compute(t_input *i, t_state *s) {
  s->now += 100;
  if (s->now >= s->last + 100) { s->last += 100; if (s->t < 255) s->t++; }
  switch (s->m) {
    case 0: if (i->go) { s->m = 1; s->t = 0; } break;
    case 1: if (s->t >= 50) s->m = 2; else if (!i->go) s->m = 0; break;
    case 2: if (!i->go) s->m = 0; break;
  }
}
"""
DOOR = """
#include <stdint.h>
enum { CLOSED, OPENING, OPEN, CLOSING };
typedef struct { _Bool call, blocked; } t_input;
typedef struct { uint32_t now, since, closeAt; uint8_t m, warn; } t_state;
void init(t_state *s){ s->now=0; s->since=0; s->closeAt=0; s->m=CLOSED; s->warn=0; }
void compute(t_input *i,t_state *s){
  s->now += 100;
  switch (s->m) {
    case CLOSED: if (i->call) { s->m = OPENING; s->since = s->now; } break;
    case OPENING: if (s->now - s->since >= 2000) { s->m = OPEN; s->closeAt = s->now + 5000; } break;
    case OPEN: if (i->blocked) s->closeAt = s->now + 5000;
      if (s->now >= s->closeAt) { s->m = CLOSING; s->since = s->now; } break;
    case CLOSING: if (i->blocked) { s->m = OPENING; s->since = s->now; }
      else if (s->now - s->since >= 2000) s->m = CLOSED; break;
  }
  s->warn = s->m == OPEN && s->now + 1000 >= s->closeAt;
}
"""


def made(text: str, clock: str, folder: Path, *more: object) -> tuple[Path, Any]:
    """The source, and chain.json of a run on it."""
    source = folder / "clock.c"
    source.write_text(text.replace("CLOCK", clock), encoding="utf-8")
    out = folder / "out"
    asked = ("--cover", COVER, "--final", "none", "--effort", 1, "-o", out, *more)
    chaincover("generate", source, *asked)
    return source, json.loads((out / "chain.json").read_text(encoding="utf-8"))


def verdicts(found: Any) -> dict[str, str]:
    return {goal["name"].removeprefix("transitions(m)="): goal["verdict"] for goal in found["goals"]}


@pytest.mark.slow
@pytest.mark.parametrize(
    "clock",
    [
        pytest.param("unsigned long", marks=pytest.mark.evidence),
        "unsigned",
        pytest.param("int", marks=pytest.mark.evidence),
    ],
)
def test_the_clock_that_keeps_pace_has_its_shortest_chain(clock: str, tmp_path: Path) -> None:
    source, found = made(CLOCK, clock, tmp_path)
    assert (found["bounds"]["length"], found["bounds"]["lower"]) == (54, 54)
    assert [name for name, said in verdicts(found).items() if said == "unreachable"] == ["0->2", "2->1"]
    checked = chaincover("verify", source, tmp_path / "out")
    assert checked.code == 0
    assert "normal form" in checked.out


def test_after_the_wrap_of_a_promoted_clock_nothing_is_as_before(tmp_path: Path) -> None:
    """323 states: with ``uint8_t`` the sum ``last + 100`` is an ``int`` that no clock reaches after the wrap."""
    _, found = made(CLOCK, "unsigned char", tmp_path)
    assert sorted(verdicts(found).values()) == ["covered"] * 2 + ["unreachable"] * 4
    assert from_data(found["certificate"]).validity is None


@pytest.mark.evidence
def test_up_to_a_wrap_the_bound_is_proved_and_no_forged_validity_is(tmp_path: Path) -> None:
    """Times in the clock's own width, and one in the future that the clock is compared with as it is."""
    source, found = made(DOOR, "", tmp_path)
    assert found["bounds"]["lower"] == found["bounds"]["length"]
    said = verdicts(found)
    assert [name for name, verdict in said.items() if verdict == "unreachable"] == ["0->2", "1->0", "2->0", "2->1"]
    with fresh_names():
        subject = load_request(Request(str(source), cover=(COVER,), final="none"))
        setting = Setting(subject.system, subject.goals, None, "allow")
        proof = from_data(found["certificate"])
        validity = proof.validity
        assert validity is not None
        assert validity.steps == pytest.approx(2**32 / 100, rel=1e-3)

        def judged(other: Validity | None) -> str:
            return normal_setting(setting, replace(proof, validity=other), Clock(Limits()))[2].verdict

        (most, _) = validity.rises["s->now"]
        assert judged(validity) == HOLDS
        fewer = {"s->now": (most, 1)}
        forged = [None, replace(validity, steps=None), replace(validity, holds="true")]
        forged.append(replace(validity, rises=fewer, steps=most))
        assert [judged(other) for other in forged] == [WRONG] * 4


def test_what_holds_up_to_a_wrap_is_not_said_of_longer_runs() -> None:
    kept = Verdict("kept", UNREACHABLE, proved=True)
    ended = Verdict("ended", NO_WAY_TO_FINAL, proved=True)
    with fresh_names():
        system = drawn(0).system
        met = at(system.state[0].symbol.Equals(BV(77, 8)), 0)
        goals = tuple(Goal(name, met, None, 0) for name in ("kept", "ended"))
        graph = ReachGraph(("kept", "ended"), "end", {}, {}, (), ("kept",), 3, 0, 0.0, exact=True)
        ruled_out = {"unreachable": ("kept",), "conflicts": (("kept", "ended"),)}
        proof = Certificate((), "end", "allow", 900, order_bound=900, **ruled_out)  # type: ignore[arg-type]
        result = ChainResult(None, (kept, ended), Bounds(900, None, ""), proof, graph, Options(), no_chain="so it is")
        told = within(result, Problem(system, goals, None), 500, Prover(choose("sat"), effort=1.0))
    assert [verdict.status for verdict in told.verdicts] == [NOT_WITHIN_BOUND, NOT_WITHIN_BOUND]
    assert not any(verdict.proved for verdict in told.verdicts)
    assert (told.bounds.lower, told.no_chain, told.graph.exact) == (501, "", False)
    assert told.certificate is not None
    assert (told.certificate.unreachable, told.certificate.conflicts) == ((), ())


def test_a_test_that_is_only_told_by_its_jumps_ends_where_a_wrap_may_be() -> None:
    verdicts = tuple(Verdict(name, UNDECIDED) for name in ("near", "far"))
    graph = ReachGraph(("near", "far"), "end", {}, {}, (), (), 3, 0, 0.0)
    beyond = {"near": LongTest(500), "far": LongTest(501)}
    result = ChainResult(None, verdicts, Bounds(0, None, ""), None, graph, Options(), beyond=beyond)
    with fresh_names():
        told = without_late_runs(result, drawn(0), 500)
    assert told.beyond == {"near": LongTest(500)}
    assert told.verdicts[0] == verdicts[0]
    assert "a test takes more than 500 steps" in told.verdicts[1].detail


def test_a_chain_beyond_a_wrap_stays_where_it_is_one_of_the_states_as_they_are() -> None:
    board, _ = board_of(fork(stuck=False))
    problem = board.known.problem
    chain = board.judge.chain(run_by(problem.system, 1, 1, 0))
    assert chain is not None
    assert chain.hits
    verdicts = tuple(Verdict(hit.goal, COVERED, hit.step) for hit in chain.hits)
    graph = ReachGraph(problem.names, problem.end, {}, {}, (), (), 3, 0, 0.0)
    told = ChainResult(chain, verdicts, Bounds(0, chain.length, ""), None, graph, Options())
    assert without_late_runs(told, problem, 0) == told
    longer = replace(chain, run=run_by(problem.system, *[0] * chain.length))
    dropped = without_late_runs(replace(told, chain=longer), problem, 0)
    assert dropped.chain is None
    assert {verdict.status for verdict in dropped.verdicts} == {UNDECIDED}
    assert without_late_runs(replace(told, chain=longer), problem, chain.length).chain == longer


def test_a_clock_that_wraps_soon_is_as_it_is() -> None:
    assert slicing.LEAST_HORIZON > 2**16 // 2
    with fresh_names():
        problem = drawn(3)
        assert compare(problem).wrong == ()


@pytest.mark.evidence
@seeds(4)
def test_no_claim_is_contradicted_by_a_search_over_all_states(seed: int) -> None:
    with fresh_names():
        assert compare(drawn(seed)).wrong == ()

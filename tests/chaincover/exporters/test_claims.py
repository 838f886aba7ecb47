"""What results claim, as questions: each is answered *no* by a search over all states, or is left out with a reason."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from drawn_seeds import seeds
from problems import problem_of
from pysmt.shortcuts import BV
from question_runs import first_bad
from random_systems import random_case

from bmc.system.transition import Condition
from chaincover.certificate import Certificate, NoRun, PathFact, Validity
from chaincover.chain import COVERED, EXCLUDED, UNREACHABLE
from chaincover.claims import CONFLICT, EDGE, EXCLUDES, LENGTH, MOST, NO_WAY_TO_END, SUB_PATH, UNREACHED
from chaincover.exporters.claims import INVARIANT, LeftOut, claims
from chaincover.exporters.protocol import Question
from chaincover.formats.document import BoundsClaim, ChainClaim, Document, GoalClaim, HitClaim, Settings
from chaincover.options import Options
from chaincover.pipeline import generate
from chaincover.problem import Problem
from chaincover.result import ChainResult
from chaincover.weights import INIT

NOTHING = Certificate((), "end", "allow")


def document_of(problem: Problem, proof: Certificate | None, result: ChainResult | None = None) -> Document:
    """A result with this certificate, and with chain and verdicts of ``result``."""
    chain, verdicts = (None, ()) if result is None else (result.chain, result.verdicts)
    hits = () if chain is None else tuple(HitClaim(hit.goal, hit.step, None) for hit in chain.hits)
    lower = 0 if proof is None else proof.lower
    length = None if chain is None else chain.length
    return Document(
        place=Path("chain.json"),
        name="drawn",
        sources=(),
        settings=Settings((), None, problem.overlap, (), 1),
        goals=tuple(GoalClaim(verdict.goal, "", verdict.status, None, "") for verdict in verdicts),
        chain=None if chain is None or length is None else ChainClaim(length, length, chain.order, hits, 0, False),
        bounds=BoundsClaim(length, lower, False, None),
        certificate=proof,
        data={"settings": {"bound": None, "max_length": None}},
    )


def kinds_of(problem: Problem, document: Document) -> Counter[str]:
    """The kinds of its questions, each of which is answered *no*."""
    found: Counter[str] = Counter()
    for claim in claims(problem, document):
        if isinstance(claim, Question):
            most = 10**6 if claim.frames is None else claim.frames - 1
            assert first_bad(claim, most) is None, claim.statement.text
            found[claim.statement.kind] += 1
    return found


@pytest.mark.slow
@seeds(4)
def test_what_results_claim_is_so(seed: int) -> None:
    rng = random.Random(seed)
    case = random_case(seed, goals=3, longest=3)
    problem = problem_of(case.system, case.goals, case.final, rng.choice(["allow", "forbid"]))
    engine, effort = rng.choice(["sat", "auto"]), rng.choice([0.001, 0.02])
    result = generate(problem, Options(engine=engine, effort=effort, overlap=problem.overlap))
    kinds_of(problem, document_of(problem, result.certificate, result))


def small() -> Problem:
    case = random_case(27, goals=3, longest=1)
    return problem_of(case.system, case.goals, case.final)


def left_out(problem: Problem, proof: Certificate) -> list[str]:
    return [c.reason for c in claims(problem, document_of(problem, proof)) if isinstance(c, LeftOut)]


def test_false_claims_have_a_bad_state() -> None:
    """The questions are not empty: each claim that is one step too strong is answered *yes*."""
    case = random_case(27, goals=3, longest=1)
    problem = problem_of(case.system, case.goals, None)
    least = first_bad(next(q for q in asked(problem, lower=40) if q.statement.kind == LENGTH))
    assert least is not None
    exact, beyond = (next(iter(asked(problem, lower=least + more))) for more in (0, 1))
    assert first_bad(exact, (exact.frames or 0) - 1) is None
    assert first_bad(beyond, (beyond.frames or 0) - 1) == least
    names = problem.names
    false = replace(
        NOTHING,
        goals=names,
        unreachable=names[:1],
        no_way_to_end=names[:1],
        conflicts=(names,),
        most=NoRun(names, len(names)),
    )
    bad = [first_bad(claim) is not None for claim in asked(problem, false)]
    assert bad == [True] * 4


def asked(problem: Problem, proof: Certificate = NOTHING, lower: int = 0) -> list[Question]:
    proof = replace(proof, goals=problem.names, lower=lower)
    return [claim for claim in claims(problem, document_of(problem, proof)) if isinstance(claim, Question)]


def test_each_kind_of_fact() -> None:
    problem = small()
    a, b, *_ = problem.names
    proof = replace(
        NOTHING,
        goals=problem.names,
        end=problem.end,
        lower=2,
        refuted=(1, 4),
        edges=(PathFact((INIT, a), 1), PathFact((a, b), 1)),
        paths=(PathFact((INIT, a, b), 1),),
        unreachable=(a,),
        no_way_to_end=(b,),
        conflicts=((a, b),),
        most=NoRun(problem.names, 2),
        invariants=("small", "one of 5 reachable states"),
        formulas={"small": "(bvult |rs_a| #b11)"},
    )
    found = [(q.statement.kind, q.frames) for q in asked(problem, proof, 2)]
    kinds = [kind for kind, _ in found]
    assert kinds == [LENGTH, LENGTH, EDGE, EDGE, SUB_PATH, UNREACHED, NO_WAY_TO_END, CONFLICT, MOST, INVARIANT]
    longest = max(problem.over(a, 0), problem.over(b, 0))
    assert [frames for _, frames in found[:5]] == [2, 4, problem.over(a, 1), None, 1 + longest]
    assert {frames for _, frames in found[5:]} == {None}
    plain = replace(proof, invariants=("small",))
    assert [q.frames for q in asked(problem, plain) if q.statement.kind == EDGE] == [
        problem.over(a, 1),
        1 + longest,
    ]


def test_facts_from_anywhere_rest_on_the_invariants() -> None:
    """Without the invariant a run from a state that is not reached breaks the fact."""
    case = random_case(27, goals=3, longest=1)
    problem = problem_of(case.system, case.goals, None)
    a, b, *_ = problem.names
    value = problem.system.variable("rs_a").symbol
    edge = replace(NOTHING, edges=(PathFact((a, b), 3),))
    (free,) = (q for q in asked(problem, edge) if q.statement.kind == EDGE)
    none = Condition("nothing", value.BVULT(BV(0, 2)))
    stated = replace(problem, system=replace(problem.system, invariants=(none,)))
    (kept,) = (q for q in asked(stated, replace(edge, invariants=("nothing",))) if q.statement.kind == EDGE)
    assert first_bad(free, (free.frames or 0) - 1) is not None
    assert first_bad(kept, (kept.frames or 0) - 1) is None


def test_what_no_question_can_say_is_left_out_with_a_reason() -> None:
    problem = small()
    a, b, *_ = problem.names
    proof = replace(NOTHING, edges=(PathFact((a, b), 0), PathFact(("no such goal", b), 1)), unreachable=("strange",))
    assert left_out(problem, proof) == [
        "this is so by definition",
        "the program has no goal no such goal",
        "the program has no goal strange",
    ]
    proof = replace(NOTHING, invariants=("one of 3 reachable states",), order_bound=2, exhausted=3, lower=3)
    reasons = left_out(problem, proof)
    assert [reason.partition(":")[0].partition(" by ")[0] for reason in reasons] == [
        "it has no formula",
        "it follows from edges and sub-paths",
        "what the search showed is the claim on the length of chains",
    ]
    edges = (PathFact((a, b), 1),)
    form = replace(NOTHING, normal_form={"rs_a": "#b00"}, validity=Validity("true", {}, 5), edges=edges)
    assert left_out(problem, form)[0] == "it speaks of normal forms of states, in runs of up to 5 steps"


def test_an_invariant_of_normal_forms_is_asked_of_these() -> None:
    problem = small()
    formulas = {"zero": "(= |rs_a| #b00)"}
    proof = replace(NOTHING, invariants=("zero",), formulas=formulas, normal_form={"rs_a": "#b00"})
    assert kinds_of(problem, document_of(problem, proof)) == {INVARIANT: 1}
    broken = replace(proof, normal_form={"rs_a": "#b0"})
    assert left_out(problem, broken)[0] == "the normal form of states that it speaks of cannot be read"
    unread = replace(proof, formulas={"zero": "(= |rs_a|"})
    assert "it has no formula" in left_out(problem, unread)[0]


def test_excluded_goals() -> None:
    problem = small()
    a, b, *_ = problem.names
    document = document_of(problem, None)
    goals = tuple(GoalClaim(n, "", v, None, "") for n, v in ((a, COVERED), (b, EXCLUDED), ("c", UNREACHABLE)))
    chain = ChainClaim(2, 2, (a,), (HitClaim(a, 0, None),), 0, False)
    document = replace(document, goals=goals, chain=chain)
    strange, question = claims(problem, document)
    assert isinstance(strange, LeftOut)
    assert (strange.text, strange.reason) == ("no run covers c", "the program has no goal c")
    assert isinstance(question, Question)
    assert (question.statement.kind, question.frames) == (EXCLUDES, None)
    _, short = claims(problem, replace(document, data={"settings": {"max_length": 6}}))
    assert isinstance(short, Question)
    assert short.frames == 7
    _, left = claims(problem, replace(document, data={"settings": {"bound": 3}}))
    assert isinstance(left, LeftOut)

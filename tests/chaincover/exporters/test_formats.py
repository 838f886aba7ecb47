"""AIGER and BTOR2 files against the systems that they were written from, step by step under random inputs."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from command_line import MODELS, ROOT
from drawn_seeds import seeds
from float_systems import FLOAT, integrator, known
from problems import problem_of
from pysmt.shortcuts import BV, TRUE, BVComp, BVRol, BVRor, BVSExt, BVSRem, BVZExt, Equals, Ite
from question_runs import Files
from random_systems import random_case

from bmc.floats import compare
from bmc.floats.format import FLOAT32
from bmc.formulas.unroll import at
from bmc.system.simulation import Simulator
from bmc.system.transition import InputVariable, Run, StateVariable, TransitionSystem, Valuation, ValueType
from chaincover.certificate import PathFact
from chaincover.exporters.aiger import Aiger
from chaincover.exporters.btor2 import Btor2
from chaincover.exporters.protocol import Question, Statement
from chaincover.exporters.questions import chain_question, invariant_question, path_question
from chaincover.problem import Problem
from chaincover.project.load import Request, load_request
from chaincover.weights import INIT
from properties.goal import Goal
from properties.monitor import Monitor

NO = Statement("claim", "title", "text")
BUNDLED = ("cruise", "latch", "elevator", "crossing")
SOME = [pytest.param(name, marks=[] if number < 2 else pytest.mark.slow) for number, name in enumerate(BUNDLED)]
FLOATS = ROOT / "benchmarks" / "floats" / "controllers"


def drawn_inputs(rng: random.Random, system: TransitionSystem, state: Valuation, simulator: Simulator) -> Valuation:
    """Inputs of a step, mostly ones that are allowed."""
    for _ in range(30 if rng.random() < 0.97 else 1):
        given = {}
        for var in system.inputs:
            low, high = rng.choice(var.values or ((0, (1 << max(var.type.bits, 1)) - 1),))
            given[var.name] = rng.choice([low, high, rng.randint(low, high)]) % (1 << max(var.type.bits, 1))
        if simulator.allowed(state, given):
            break
    return given


def drawn_run(rng: random.Random, problem: Problem, steps: int) -> Run:
    """A run of the program under random inputs, from a random start where it has several."""
    system, simulator = problem.system, Simulator(problem.system)
    chosen = {v.name: rng.randrange(1 << max(v.type.bits, 1)) for v in system.state if v.init is None}
    states, inputs = [simulator.initial(chosen if rng.random() < 0.7 else None)], []
    for _ in range(steps):
        inputs.append(drawn_inputs(rng, system, states[-1], simulator))
        states.append(simulator.step(states[-1], inputs[-1]))
    return Run(tuple(states), tuple(inputs))


def with_picks(rng: random.Random, question: Question, run: Run) -> tuple[Valuation, list[Valuation]]:
    """Start and inputs of the question's system: those of ``run``, and anything for what the question has added."""
    system = question.system

    def values(given: Valuation) -> Valuation:
        return {v.name: given.get(v.name, rng.randrange(1 << max(v.type.bits, 1))) for v in system.inputs}

    start = Simulator(system).initial({n: v for n, v in run.states[0].items() if n in {s.name for s in system.state}})
    return start, [values(given) for given in run.inputs]


def chains_of(problem: Problem) -> Iterator[Problem]:
    """The problem, and each of its goals alone with no end: their flags are true soon."""
    yield problem
    for name in problem.names:
        yield replace(problem.of([name]), final=None)


def covered_by(problem: Problem, run: Run) -> list[bool]:
    """For each number of steps whether these are a chain, by the unrolled formulas alone."""
    simulator, found = Simulator(problem.system), []
    sound = bool(problem.system.init_formula.is_true() or _starts_well(problem, run))
    places = Monitor(list(problem.goals)).covered(run)
    for step in range(run.length + 1):
        if step and not simulator.allowed(run.states[step - 1], run.inputs[step - 1]):
            sound = False
        all_there = all(any(k + goal.length <= step for k in places[goal.name]) for goal in problem.goals)
        ends = problem.final is None or _true(problem.final, run.states[step])
        found.append(sound and all_there and ends)
    return found


def _true(formula: object, state: Valuation) -> bool:
    from bmc.formulas.evaluate import compile_formulas

    return bool(compile_formulas([formula])(state)[0])


def _starts_well(problem: Problem, run: Run) -> bool:
    return _true(problem.system.init_formula, run.states[0])


def check_chains(problem: Problem, rng: random.Random, runs: int = 3, steps: int = 25) -> int:
    """The files and the question agree on every frame; so do the unrolled formulas where goals may share steps."""
    bad = 0
    for part in chains_of(problem):
        question = chain_question(part, NO)
        files = Files(question)
        for _ in range(runs):
            run = drawn_run(rng, part, steps)
            start, inputs = with_picks(rng, question, run)
            told = files.agree(start, inputs, rng)
            if not part.forbid:
                assert told == covered_by(part, run)
            bad += sum(told)
    return bad


@pytest.mark.parametrize("model", SOME)
def test_bundled_models(model: str) -> None:
    problem = load_request(Request(str(MODELS / model))).problem
    rng = random.Random(model)
    assert check_chains(problem, rng, 2) > 0
    check_chains(replace(problem, overlap="forbid"), rng, 1, 15)


@pytest.mark.parametrize("model", ["latch", pytest.param("elevator", marks=pytest.mark.slow)])
def test_held_inputs(model: str) -> None:
    problem = load_request(Request(str(MODELS / model), hold=2)).problem
    assert check_chains(problem, random.Random(1)) > 0


@pytest.mark.slow
@pytest.mark.parametrize("model", ["mode", pytest.param("thermo", marks=pytest.mark.evidence)])
def test_floating_models(model: str) -> None:
    assert check_chains(load_request(Request(str(FLOATS / model))).problem, random.Random(model), 1, 8) > 0


def test_a_floating_system() -> None:
    system = integrator()
    x = FLOAT.symbol("gs_x")
    goal = Goal("far", at(compare.less(known(3.0), x, FLOAT32), 1), None, 1)
    assert check_chains(problem_of(system, [goal], None), random.Random(5), 8, 10) > 0


def opened(system: TransitionSystem, rng: random.Random) -> TransitionSystem:
    """``system`` with open starts, some of them within ranges."""
    kinds = [None, (), ((0, 1),)]
    state = []
    for var in system.state:
        kind = rng.choice(kinds)
        state.append(var if kind is None else replace(var, init=None, starts=kind))
    return replace(system, state=tuple(state))


@pytest.mark.slow
@seeds(14)
def test_drawn_systems(seed: int) -> None:
    """Goals of 0 to 3 steps, constraints, definedness, open starts, goals that may not share steps."""
    rng = random.Random(seed)
    case = random_case(seed)
    system = opened(case.system, rng) if seed % 2 else case.system
    problem = problem_of(system, case.goals, case.final, "forbid" if seed % 3 == 0 else "allow")
    check_chains(problem, rng, 2, 8)


@seeds(10)
def test_paths_and_invariants(seed: int) -> None:
    rng = random.Random(seed)
    case = random_case(seed)
    problem = problem_of(case.system, case.goals, case.final, rng.choice(["allow", "forbid"]))
    problem, _ = problem.in_one_step(problem.names)
    names = list(problem.names)
    rng.shuffle(names)
    path = (*([INIT] if rng.random() < 0.5 else []), *names[:2], problem.end)[:3]
    fact = PathFact(path, rng.randint(1, 5))
    known_ = None if rng.random() < 0.5 else TRUE()
    questions = [path_question(problem, fact, NO, known_), invariant_question(problem, NO, case.final or TRUE())]
    for question in questions:
        files = Files(question)
        for _ in range(3):
            start, inputs = with_picks(rng, question, drawn_run(rng, problem, 10))
            files.agree(start, inputs, rng)


def operators() -> Sequence[Question]:
    """A question for each operator of bit-vectors that C programs come to, on words of five bits."""
    kind = ValueType("word", 5)
    a, b = kind.symbol("op_a"), kind.symbol("op_b")
    terms = [
        a.BVUDiv(b), a.BVURem(b), a.BVSDiv(b), BVSRem(a, b), a.BVMul(b), a - b, -a, ~a, a & b, a | b, a ^ b,
        a.BVLShl(b), a.BVLShr(b), a.BVAShr(b), BVRol(a, 2), BVRor(a, 3), BVZExt(a.BVExtract(1, 3), 2),
        BVSExt(a.BVExtract(1, 3), 2), a.BVExtract(0, 1).BVConcat(b.BVExtract(2, 4)),
        BVZExt(BVComp(a, b), 4), Ite(a.BVSLT(b), a, b), Ite(a.BVSLE(b), a, b), Ite(a.BVULT(b), a, b),
        Ite(a.BVULE(b), a, b), Ite(Equals(a, b).Iff(a.BVULT(BV(9, 5))), a, b), Ite(a.BVULT(b).Implies(TRUE()), b, a),
    ]  # fmt: skip
    found = []
    for number, term in enumerate(terms):
        state = StateVariable(f"op_x{number}", kind, BV(number % 32, 5), term)
        system = TransitionSystem("operators", (state,), (InputVariable("op_a", kind), InputVariable("op_b", kind)))
        found.append(Question(NO, system, Equals(state.symbol, BV(3, 5)), None))
    return found


def test_every_operator() -> None:
    rng = random.Random(3)
    for question in operators():
        files = Files(question)
        steps = [{"op_a": rng.randrange(32), "op_b": rng.randrange(32) if n % 5 else 0} for n in range(60)]
        inputs = [{name: value for name, value in step.items() if name in files.given.values()} for step in steps]
        files.agree(Simulator(question.system).initial(), inputs, rng)


def test_files_say_what_they_are() -> None:
    problem = load_request(Request(str(MODELS / "cruise"))).problem
    question = chain_question(problem, Statement("chain", "cruise", "no chain of 8 steps or fewer"), 9)
    files = Files(question)
    said = ["cruise: chain", "no chain of 8 steps or fewer"]
    assert files.aiger.comment.splitlines()[:2] == files.btor2.comments[:2] == said
    assert "no state is bad in the first 9 frames" in files.aiger.comment
    assert {"s->speed[0]", "covered p_1", "valid so far"} <= {*files.aiger.latches}
    assert {"s->speed", "covered_p_1", "valid_so_far"} <= {*files.btor2.of_kind("state")}


def test_a_writer_that_wrote_before_writes_the_same() -> None:
    problem = load_request(Request(str(MODELS / "latch"))).problem
    question = chain_question(problem, NO)
    for kind in (Aiger, Btor2):
        assert kind().write(question) == kind().write(chain_question(problem, NO))

"""Answers of whole runs on small systems against a search through all runs, by every engine: never a wrong one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from drawn_seeds import seeds
from held_runs import HeldRuns
from machines import Case, random_machine
from problems import problem_of
from random_systems import random_case

from benchmarks.checks.generated.reference import COVERABLE, NO_WAY_TO_FINAL, UNREACHABLE, Answer, Reference
from benchmarks.checks.generated.systems import generated_case
from bmc.system.simulation import Simulator
from bmc.system.ties import boundary, hold
from chaincover.chain import COVERED, EXCLUDED, STATUSES
from chaincover.options import Options
from chaincover.partition.maximum_coverage import generate_most
from chaincover.partition.several import generate_several
from chaincover.pipeline import generate
from chaincover.result import ChainResult, SeveralChains
from properties.monitor import Monitor

EFFORT = 0.003
"""Less than a quarter of a second, where the states are not enumerated: what is left open then is no fault."""

LEFT_OPEN = {*STATUSES} - {COVERED, UNREACHABLE, NO_WAY_TO_FINAL}


def made(seed: int) -> Case:
    """A table with counters, places in a machine, or random formulas."""
    if seed % 3 == 0:
        drawn = generated_case(seed, states=16, goals=4, longest=2)
        return drawn.system, drawn.goals, drawn.final
    if seed % 3 == 1:
        return random_machine(seed)
    case = random_case(seed, goals=4, longest=2)
    return case.system, case.goals, case.final


def bits(case: Case, names: set[str] | frozenset[str]) -> int:
    return sum(1 << number for number, goal in enumerate(case[1]) if goal.name in names)


def check_result(case: Case, result: ChainResult, right: Answer) -> None:
    """Nothing that ``result`` says is wrong."""
    statuses = {verdict.goal: verdict.status for verdict in result.verdicts}
    assert [*statuses] == [goal.name for goal in case[1]]
    hits = {} if result.chain is None else {hit.goal: hit.step for hit in result.chain.hits}
    coverable = {goal for goal, verdict in right.verdicts.items() if verdict == COVERABLE}
    for goal, verdict in right.verdicts.items():
        if verdict == COVERABLE:
            assert goal not in result.uncoverable
            assert statuses[goal] != UNREACHABLE
        else:
            assert statuses[goal] in {verdict, NO_WAY_TO_FINAL, *LEFT_OPEN}
            assert verdict == UNREACHABLE or statuses[goal] != UNREACHABLE
    assert {goal for goal, status in statuses.items() if status == COVERED} == {*hits}
    assert not result.no_chain or bits(case, coverable) not in right.least
    for name, run in result.tests.items():
        assert name not in hits
        assert right.verdicts[name] != UNREACHABLE
        simulator = Simulator(case[0])
        opened = {v.name: run.states[0][v.name] for v in case[0].state if v.init is None}
        assert simulator.run(simulator.initial(opened), run.inputs) == run
        assert all(simulator.allowed(s, i) for s, i in zip(run.states, run.inputs, strict=False))
        (goal,) = (goal for goal in case[1] if goal.name == name)
        assert Monitor([goal]).holds(run, name, run.length - goal.length), "its own test ends with it"
    if result.chain is None:
        return
    least = right.least[bits(case, {*hits})]
    assert result.bounds.lower <= least <= result.chain.length
    assert result.bounds.length == result.chain.length
    assert result.certificate is not None
    about = right.least.get(bits(case, {*result.certificate.goals}))
    assert about is None or result.certificate.lower <= about


def check_settled(case: Case, result: ChainResult, right: Answer) -> None:
    """``result`` leaves nothing open that the search through all runs decides."""
    statuses = {verdict.goal: verdict.status for verdict in result.verdicts}
    coverable = {goal for goal, verdict in right.verdicts.items() if verdict == COVERABLE}
    assert {g: s for g, s in statuses.items() if g not in coverable} == {
        g: v for g, v in right.verdicts.items() if g not in coverable
    }
    assert (result.chain is None) == (not coverable)
    if right.chains == 1:
        assert {g for g, s in statuses.items() if s == COVERED} == coverable
        assert result.bounds.minimal
    if right.chains > 1:
        assert result.no_chain
        assert {statuses[goal] for goal in coverable} == {COVERED, EXCLUDED}


def check_replay(case: Case, result: ChainResult, overlap: str) -> None:
    if result.chain is not None:
        hits = {hit.goal: hit.step for hit in result.chain.hits}
        assert not Reference(*case, overlap).faults(result.chain.run.inputs, result.chain.run.states, hits)


@pytest.mark.evidence
@pytest.mark.parametrize("overlap", ["allow", "forbid"])
@seeds(10)
def test_enumerated_states_settle_everything(seed: int, overlap: str) -> None:
    case = made(seed)
    right = Reference(*case, overlap).answer()
    result = generate(problem_of(*case), Options(overlap=overlap))
    check_result(case, result, right)
    check_settled(case, result, right)
    check_replay(case, result, overlap)


@pytest.mark.evidence
@pytest.mark.parametrize("overlap", ["allow", "forbid"])
@pytest.mark.parametrize("engine", ["sat", "z3"])
@seeds(2)
def test_solvers_are_never_wrong(seed: int, engine: str, overlap: str) -> None:
    case = made(seed)
    right = Reference(*case, overlap).answer()
    result = generate(problem_of(*case), Options(engine=engine, overlap=overlap, effort=EFFORT))
    check_result(case, result, right)
    check_replay(case, result, overlap)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["auto", "sat"])
@seeds(2)
def test_a_bound_k_is_never_wrong(seed: int, engine: str) -> None:
    case = made(seed)
    right = Reference(*case).answer()
    for bound in (0, 2):
        result = generate(problem_of(*case), Options(engine=engine, bound=bound, effort=EFFORT))
        check_result(case, result, right)
        check_replay(case, result, "allow")


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["auto", pytest.param("sat", marks=pytest.mark.evidence)])
@seeds(2)
def test_a_greatest_length_is_never_wrong(seed: int, engine: str) -> None:
    case = made(seed)
    right = Reference(*case).answer()
    for most in (1, 3, 6):
        result = generate(problem_of(*case), Options(engine=engine, max_length=most, effort=EFFORT))
        check_result(case, result, right)
        check_replay(case, result, "allow")
        assert result.chain is None or result.chain.length <= most


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["auto", "sat"])
@pytest.mark.parametrize("overlap", ["allow", "forbid"])
@seeds(2)
def test_held_inputs(seed: int, overlap: str, engine: str) -> None:
    """Inputs are held for two steps: the length against all runs of the free system that hold theirs."""
    system, goals, final = random_machine(seed)
    goals = goals[:2]
    held = hold(system, 2)
    case = held, goals, boundary(held, final)
    right = Reference(*case, overlap).answer()
    result = generate(
        problem_of(*case), Options(engine=engine, overlap=overlap, effort=EFFORT if engine == "sat" else 1.0)
    )
    check_result(case, result, right)
    check_replay(case, result, overlap)
    if engine == "auto":
        check_settled(case, result, right)
        least = HeldRuns(system, goals, 2, overlap == "forbid").least_of_all(final)
        assert least == right.least.get((1 << len(goals)) - 1)
        if least is not None:
            assert result.bounds.minimal
            assert result.chain is not None
            assert result.chain.length == least


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["auto", "sat"])
@seeds(2)
def test_start_values_that_the_tester_chooses(seed: int, engine: str) -> None:
    """The best over all start values of one variable."""
    drawn = random_case(seed, goals=3, longest=2)
    first, *rest = drawn.system.state
    opened = replace(drawn.system, state=(replace(first, init=None), *rest), chosen=(first.name,))
    fixed = [
        replace(drawn.system, state=(replace(first, init=first.type.constant(value)), *rest))
        for value in range(first.type.greatest + 1)
    ]
    answers = [Reference(system, drawn.goals, drawn.final).answer() for system in fixed]
    order = (COVERABLE, NO_WAY_TO_FINAL, UNREACHABLE)
    verdicts = {
        goal.name: min((answer.verdicts[goal.name] for answer in answers), key=order.index) for goal in drawn.goals
    }
    masks = {mask for answer in answers for mask in answer.least}
    least = {mask: min(answer.least[mask] for answer in answers if mask in answer.least) for mask in masks}
    wanted = sum(1 << n for n, goal in enumerate(drawn.goals) if verdicts[goal.name] == COVERABLE)
    right = Answer(verdicts, 0 if not wanted else 1 if wanted in least else 2, 0, least)
    case = opened, drawn.goals, drawn.final
    result = generate(problem_of(*case), Options(engine=engine, effort=EFFORT if engine == "sat" else 1.0))
    check_result(case, result, right)
    if engine == "auto":
        check_settled(case, result, right)
    if result.chain is not None:
        assert result.chain.relies_on == ()
        start = fixed[result.chain.run.states[0][first.name]]
        check_replay((start, drawn.goals, drawn.final), result, "allow")


@seeds(2)
def test_start_values_that_nobody_chooses(seed: int) -> None:
    """A chain that is not said to rely on the start value covers its goals from every start value."""
    drawn = random_case(seed, goals=3, longest=2)
    first, *rest = drawn.system.state
    opened = replace(drawn.system, state=(replace(first, init=None), *rest))
    chain = generate(problem_of(opened, drawn.goals, drawn.final)).chain
    if chain is None:
        return
    hits = {hit.goal: hit.step for hit in chain.hits}
    wrong = []
    for value in range(first.type.greatest + 1):
        start = replace(opened, state=(replace(first, init=first.type.constant(value)), *rest))
        simulator = Simulator(start)
        states = simulator.run(simulator.initial(), chain.run.inputs).states
        wrong += Reference(start, drawn.goals, drawn.final).faults(chain.run.inputs, states, hits)
    assert chain.relies_on in ((), (first.name,))
    assert not wrong or chain.relies_on == (first.name,)


def check_several(case: Case, found: SeveralChains, right: Answer, overlap: str) -> None:
    """Nothing that ``found`` says is wrong."""
    covered = {v.goal for v in found.verdicts if v.status == COVERED}
    assert covered <= {goal for goal, verdict in right.verdicts.items() if verdict == COVERABLE}
    assert {hit.goal for result in found.results if result.chain for hit in result.chain.hits} >= covered
    for result in found.results:
        assert result.chain is not None
        check_replay(case, result, overlap)
        assert result.chain.length >= right.least[bits(case, result.chain.goals)]
    for conflict in found.conflicts:
        assert not conflict.at_all or bits(case, {*conflict.goals}) not in right.least
    if len(covered) == sum(verdict == COVERABLE for verdict in right.verdicts.values()):
        assert len(found.results) >= right.chains
        assert not found.number_minimal or len(found.results) == right.chains
        if len(found.results) == right.chains:
            assert found.bounds.lower <= right.total <= found.length


@pytest.mark.slow
@pytest.mark.parametrize("overlap", ["allow", "forbid"])
@seeds(2)
def test_several_chains_are_the_fewest_and_shortest(seed: int, overlap: str) -> None:
    case = made(seed)
    right = Reference(*case, overlap).answer()
    found = generate_several(problem_of(*case), Options(overlap=overlap))
    check_several(case, found, right, overlap)
    statuses = {v.goal: v.status for v in found.verdicts}
    assert statuses == {g: COVERED if v == COVERABLE else v for g, v in right.verdicts.items()}
    assert (len(found.results), found.length) == (right.chains, right.total)
    assert not found.results or (found.number_minimal_within_k and found.number_minimal and found.bounds.minimal)


@pytest.mark.slow
@pytest.mark.parametrize("overlap", ["allow", "forbid"])
@seeds(2)
def test_several_chains_by_a_solver_are_never_wrong(seed: int, overlap: str) -> None:
    case = made(seed)
    right = Reference(*case, overlap).answer()
    check_several(
        case, generate_several(problem_of(*case), Options(overlap=overlap, engine="sat", effort=EFFORT)), right, overlap
    )


@pytest.mark.slow
@pytest.mark.parametrize("overlap", ["allow", "forbid"])
@seeds(2)
def test_one_chain_covers_the_most_goals(seed: int, overlap: str) -> None:
    case = made(seed)
    right = Reference(*case, overlap).answer()
    number = max((mask.bit_count() for mask in right.least), default=0)
    length = min((n for mask, n in right.least.items() if mask.bit_count() == number), default=0)
    result = generate_most(problem_of(*case), Options(overlap=overlap))
    if number == 0:
        assert result.chain is None
        return
    assert result.chain is not None
    assert (len(result.chain.goals), result.chain.length) == (number, length)
    check_replay(case, result, overlap)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["auto", pytest.param("sat", marks=pytest.mark.evidence)])
@seeds(2)
def test_two_equal_runs_give_equal_results(seed: int, engine: str) -> None:
    case = made(seed)
    options = Options(engine=engine, effort=EFFORT)
    first, second = (generate(problem_of(*case), options) for _ in range(2))
    assert (first.answered.effort, first.chain, first.verdicts) == (
        second.answered.effort,
        second.chain,
        second.verdicts,
    )
    assert replace(first, graph=second.graph) == second
    assert replace(first.graph, seconds=0.0) == replace(second.graph, seconds=0.0)


def test_the_reference_has_several_kinds_of_answers() -> None:
    """The seeds above are worth something: chains, none, several, goals without a way."""
    kinds = {Reference(*made(seed)).answer().chains for seed in range(30)}
    assert kinds >= {0, 1, 2}

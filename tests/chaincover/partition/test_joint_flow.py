"""The covering flow of several chains against a search over all sets of goals, and what verify makes of its prices."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from drawn_seeds import seeds
from machines import Case
from pysmt.shortcuts import BV, BVULE, And, Equals, Ite, Or

from benchmarks.checks.generated.reference import COVERABLE, Reference
from benchmarks.checks.generated.systems import generated_case
from bmc.formulas.unroll import at
from bmc.system.transition import InputVariable, StateVariable, TransitionSystem, ValueType
from chaincover.certificate import Certificate, Prices
from chaincover.limits import Limits
from chaincover.minimality import covering_flow
from chaincover.options import Options
from chaincover.partition import joint_flow as flows
from chaincover.partition.joint_flow import JointFlow, joint_flow
from chaincover.partition.several import generate_several
from chaincover.problem import Problem
from chaincover.verification import prices as checked
from chaincover.verification.checks import Checks, Listener
from chaincover.verification.limits import Clock
from chaincover.verification.limits import Limits as CheckLimits
from chaincover.verification.report import HOLDS, WRONG
from chaincover.verification.setting import Setting, Statement
from properties.goal import Goal

KIND = ValueType("three bits", 3)
PLACE, CHOICE = KIND.symbol("jf_place"), KIND.symbol("jf_choice")


def places(edges: dict[int, Sequence[int]], first: int | None = 0) -> TransitionSystem:
    """From each place the choice leads to one of two; ``first`` is that after init, None: any."""
    after = PLACE
    for source, (one, other) in edges.items():
        step = Ite(Equals(CHOICE, BV(1, 3)), BV(other, 3), BV(one, 3))
        after = Ite(Equals(PLACE, BV(source, 3)), step, after)
    init = None if first is None else BV(first, 3)
    variable = StateVariable("jf_place", KIND, init, after)
    return TransitionSystem(
        "places", (variable,), (InputVariable("jf_choice", KIND, ((0, 1),)),), BVULE(CHOICE, BV(1, 3))
    )


def at_place(name: str, *values: int) -> Goal:
    return Goal(name, at(Or([Equals(PLACE, BV(value, 3)) for value in values]), 0), None, 0)


def on_step(name: str, place: int, choice: int) -> Goal:
    """Covered by a step from a place under a choice."""
    return Goal(name, at(And(Equals(PLACE, BV(place, 3)), Equals(CHOICE, BV(choice, 3))), 0), None, 1)


def one_way(seed: int) -> Case:
    """Places with steps that lead onwards, or stay, now and then one back; goals in them and on steps."""
    drawn = random.Random(seed)

    def after(place: int) -> int:
        return drawn.randint(0, 7) if drawn.random() < 0.1 else drawn.randint(min(7, place + drawn.randint(0, 1)), 7)

    system = places({place: (after(place), after(place)) for place in range(8)})
    goals = [at_place(f"in {n}", *drawn.sample(range(8), drawn.randint(1, 2))) for n in range(drawn.randint(1, 3))]
    goals += [on_step(f"on {n}", drawn.randint(0, 6), drawn.randint(0, 1)) for n in range(drawn.randint(2, 4))]
    final = drawn.choice([None, None, Or(Equals(PLACE, BV(6, 3)), Equals(PLACE, BV(7, 3)))])
    return system, goals, final


def found_for(case: Case, overlap: str = "allow") -> tuple[Problem, JointFlow | None]:
    system, goals, final = case
    problem = Problem(system, tuple(goals), final, overlap)
    return problem, joint_flow(problem, Options(), Limits())


def verdicts(problem: Problem, proof: Certificate, claims: Sequence[Prices] = ()) -> list[str]:
    """What verify says of the ``claims``, or of all in the certificate."""
    setting = Setting(problem.system, problem.goals, problem.final, problem.overlap)
    checks = Checks(Statement(setting, None, proof, ()), Clock(CheckLimits()), Listener())  # type: ignore[arg-type]
    return [checked.line(checks.marks, proof, each)[0].verdict for each in claims or proof.together]


def agrees(case: Case, overlap: str = "allow") -> bool:
    """Whether the flow settles all, and needs more than one chain for it; nothing that it claims is wrong."""
    system, goals, final = case
    answer = Reference(system, goals, final, overlap).answer()
    coverable = [goal for goal in goals if answer.verdicts[goal.name] == COVERABLE]
    problem, found = found_for((system, coverable, final), overlap)
    if found is None:
        return False
    assert 1 < found.number <= answer.chains
    assert found.number < answer.chains or found.lower <= answer.total
    for result in found.chains:
        assert result.chain is not None
        assert result.certificate is not None
        own = sum(1 << n for n, goal in enumerate(goals) if goal.name in result.certificate.goals)
        least = min(steps for covered, steps in answer.least.items() if covered & own == own)
        assert result.certificate.lower <= least <= result.chain.length
    assert found.certificate is not None
    assert verdicts(problem, found.certificate) == [HOLDS, HOLDS]
    covered = {name for result in found.chains for name in result.certificate.goals}  # type: ignore[union-attr]
    steps = sum(result.chain.length for result in found.chains)  # type: ignore[union-attr]
    if covered < {*problem.names} or len(found.chains) > found.number:
        return False
    assert answer.total <= steps
    assert found.lower < steps or (found.number, found.lower) == (answer.chains, answer.total)
    return found.lower == steps


def test_number_and_total_agree_with_a_search_over_all_sets_of_goals() -> None:
    """Places that lead onwards need several chains; the flow of most of them is whole."""
    settled = [agrees(one_way(seed)) for seed in range(60)]
    assert settled.count(True) > 20


@pytest.mark.parametrize("overlap", ["allow", "forbid"])
@seeds(3)
def test_goals_of_several_steps_are_those_of_their_monitors(seed: int, overlap: str) -> None:
    made = generated_case(seed, states=16, goals=5, longest=2)
    agrees((made.system, made.goals, made.final), overlap)


FORK = {0: (1, 2), 1: (3, 3), 2: (4, 4), 3: (3, 3), 4: (5, 4), 5: (4, 5), 6: (6, 6), 7: (7, 7)}
"""From 0 one way leads to 3, the other one to a circle of 4 and 5."""


def fork() -> Case:
    return (
        places(FORK),
        [at_place("left", 3), at_place("right", 4), at_place("further", 5), on_step("back", 5, 0)],
        None,
    )


def test_each_chain_has_the_prices_of_its_own_goals() -> None:
    _, found = found_for(fork())
    assert found is not None
    assert (found.number, found.lower) == (2, 2 + 4)
    proofs = {result.certificate.goals: result.certificate for result in found.chains if result.certificate}
    assert {goals: proof.lower for goals, proof in proofs.items()} == {("left",): 2, ("right", "further", "back"): 4}
    assert all(proof.prices is not None and proof.prices.goals.keys() <= {*goals} for goals, proof in proofs.items())


def test_one_chain_for_each_of_two_start_states() -> None:
    """Init leaves open where a run starts: the step from 0 and that from 1 are the first ones of runs."""
    system = places({0: (2, 2), 1: (3, 3), 2: (2, 2), 3: (3, 3)}, None)
    problem, found = found_for((system, [on_step("from 0", 0, 0), on_step("from 1", 1, 0)], None))
    assert found is not None
    assert (found.number, found.lower) == (2, 2)
    assert sorted(result.chain.run.states[0]["jf_place"] for result in found.chains if result.chain) == [0, 1]
    assert found.certificate is not None
    assert verdicts(problem, found.certificate) == [HOLDS, HOLDS]


def test_the_final_condition_costs_steps_and_keeps_goals_apart() -> None:
    """Back in 0 both ways are one; in 7, where the left one ends, they are two, and longer than without."""
    round_trip = places({0: (1, 2), 1: (3, 3), 2: (4, 4), 3: (7, 7), 4: (0, 7), 7: (7, 7)})
    goals = [at_place("left", 3), at_place("right", 4)]
    assert found_for((round_trip, goals, None))[1] is None, "one chain covers both: right, back, left"
    apart = places({0: (1, 2), 1: (3, 3), 2: (4, 4), 3: (7, 7), 4: (7, 7), 7: (7, 7)})
    for final, lower in ((None, 4), (Equals(PLACE, BV(7, 3)), 6)):
        _, found = found_for((apart, goals, final))
        assert found is not None
        assert (found.number, found.lower) == (2, lower)


def test_nothing_is_told_where_a_goal_is_in_no_chain_or_there_are_too_many_steps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    system, goals, final = fork()
    assert found_for((system, [*goals, at_place("nowhere", 6)], final))[1] is None
    assert found_for((system, [], final))[1] is None
    assert joint_flow(Problem(system, tuple(goals), final), Options(), Limits(effort=0.0)) is None
    monkeypatch.setattr(flows, "MOST_ARCS", 3)
    assert found_for((system, goals, final))[1] is None


def test_parts_that_no_chain_enters_are_cut_off() -> None:
    """Where steps cost nothing, a flow round the circle covers its goals by itself: a cut asks for a chain there."""
    problem, found = found_for(fork())
    assert found is not None
    assert found.certificate is not None
    number, total = found.certificate.together
    assert number.chains is None
    assert total.chains == 2
    assert number.cuts, "the goals of the circle have no price of their own"
    without = replace(number, cuts=())
    assert verdicts(problem, found.certificate, [without]) == [WRONG]


def test_what_is_tampered_with_is_disproved() -> None:
    problem, found = found_for(fork())
    assert found is not None
    assert found.certificate is not None
    proof = found.certificate
    number, total = proof.together
    worth = {goal: price + total.scale for goal, price in total.goals.items()}
    wrong = [
        replace(number, bound=3),
        replace(number, scale=1),
        replace(number, chains=2),
        replace(number, goals={**number.goals, "back": 1}),  # on a circle, which then gains
        replace(number, cuts=tuple(replace(cut, price=2 * cut.price) for cut in number.cuts), bound=3),
        replace(number, cuts=tuple(replace(cut, inside=()) for cut in number.cuts)),
        replace(total, bound=total.bound + 1),
        replace(total, chains=0),
        replace(total, chains=None),
        replace(total, goals=worth),
        replace(total, goals={**total.goals, "another": 1}),
        replace(total, goals={"left": -1}),
    ]
    assert verdicts(problem, proof, wrong) == [WRONG] * len(wrong)


def test_prices_stand_in_the_list_of_claims_as_they_are_read() -> None:
    from chaincover.certificate import as_data, from_data

    _, found = found_for(fork())
    assert found is not None
    assert found.certificate is not None
    data = as_data(found.certificate)
    assert [(claim["of"], claim.get("chains")) for claim in data["claims"]] == [("number", None), ("chains", 2)]
    assert from_data(data, several=True) == found.certificate
    data["claims"][0]["chains"] = 2
    with pytest.raises(ValueError, match="is no claim that a certificate has there"):
        from_data(data, several=True)


def test_a_bound_without_whole_chains_is_told_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the flow is divided among steps: number and total are proved, and the chains are sought elsewhere."""
    monkeypatch.setattr(covering_flow.CoveringFlow, "runs", lambda *given: [])
    _, found = found_for(fork())
    assert found is not None
    assert (found.chains, found.number, found.lower) == ((), 2, 6)


def test_chains_that_are_found_elsewhere_have_the_proofs_of_the_flow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(covering_flow.CoveringFlow, "runs", lambda *given: [])
    found = generate_several(Problem(fork()[0], tuple(fork()[1]), None))
    assert (len(found.results), found.length, found.number_minimal) == (2, 6, True)
    assert found.bounds.minimal
    assert found.certificate is not None


def test_the_distances_of_the_search_for_one_chain_are_those_of_each() -> None:
    found = generate_several(Problem(fork()[0], tuple(fork()[1]), None))
    assert found.certificate is not None
    for result in found.results:
        assert result.chain is not None
        assert {*result.graph.goals} <= result.chain.goals
        assert result.graph.weights
        assert result.bounds.minimal

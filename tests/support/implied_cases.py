"""Systems with goals that imply others, and what a result for them must be like."""

from __future__ import annotations

import random
from dataclasses import replace

from explicit import Explicit
from machines import Case, Machine, random_machine
from pysmt.shortcuts import BV, FALSE, And, Equals, Not, Or
from random_systems import TYPES, random_case

from bmc.formulas.unroll import at
from bmc.system.simulation import Simulator
from bmc.system.transition import TransitionSystem
from chaincover.chain import COVERED
from chaincover.result import ChainResult
from properties.goal import Goal
from properties.monitor import Monitor


def planted(seed: int) -> Case:
    """A random case with goals that are stronger, weaker, equal in other words, or longer than others, shuffled."""
    rng = random.Random(seed)
    if seed % 2:
        drawn = random_case(seed, goals=2, longest=2, inputs=1)
        system, goals, final = drawn.system, drawn.goals, drawn.final
        parts = [TYPES["rs_flag"].symbol("rs_flag"), Equals(TYPES["rs_a"].symbol("rs_a"), BV(rng.randint(0, 3), 2))]
    else:
        system, goals, final = random_machine(seed)
        goals = goals[:2]
        place = system.state[0]
        parts = [Equals(place.symbol, place.type.constant(rng.randint(0, 6))) for _ in range(2)]
    found = list(goals)
    for number in range(rng.randint(1, 3)):
        base, part = rng.choice(found), at(rng.choice(parts), 0)
        kinds = [And(base.antecedent, part), Or(base.antecedent, part), Not(Not(base.antecedent) & Not(part & FALSE()))]
        kinds += [base.antecedent, Or(And(base.antecedent, part), And(base.antecedent, Not(part)))]
        length = base.length + (rng.random() < 0.2)
        found.append(Goal(f"p{number}", rng.choice(kinds), base.consequent, length))
    rng.shuffle(found)
    return system, tuple(found), final


def branching(seed: int) -> Case:
    """A machine whose places are left for good, and goals that imply others."""
    rng = random.Random(seed)
    places = [f"q{n}" for n in range(8)]
    steps = [(places[n], way, rng.choice(places[n + 1 :])) for n in range(7) for way in ("left", "right")]
    machine = Machine("branching", places, ["left", "right"], steps)
    goals = []
    for number in range(3):
        base = machine.at_any(*rng.sample(places[1:], 1))
        pushed = And(base, machine.chosen("left")) if rng.random() < 0.5 else base
        length = 0 if pushed is base else 1
        goals.append(Goal(f"g{number}", at(pushed, 0), None, length))
        goals.append(Goal(f"weak{number}", at(Or(base, machine.at_any(*rng.sample(places, 1))), 0), None, 0))
        goals.append(replace(goals[-2], name=f"twin{number}", consequent=at(machine.at_any("q7"), length)))
    rng.shuffle(goals)
    return machine.system(), tuple(goals), machine.at_any("q6", "q7") if rng.random() < 0.5 else None


def fork() -> tuple[Machine, TransitionSystem]:
    """``trap`` has no way back, ``lost`` no way to it."""
    places = ["home", "trap", "far", "lost"]
    steps = [("home", "left", "trap"), ("home", "right", "far"), ("far", "left", "home")]
    machine = Machine("implied", places, ["left", "right"], steps)
    return machine, machine.system()


def followers(case: Case) -> dict[str, set[str]]:
    """The goals that each goal implies, by listing the runs from all reachable states."""
    system, goals, _ = case
    reference = Explicit(system)
    follows: dict[str, set[str]] = {}
    for goal in goals:
        held = [
            {b.name for b in goals if b.length <= goal.length and reference.holds(b.antecedent, states, inputs)}
            for start in reference.reachable()
            for states, inputs in reference.runs(start, goal.length)
            if reference.holds(goal.antecedent, states, inputs)
        ]
        follows[goal.name] = set.intersection(*held) - {goal.name} if held else set()
    return follows


def by_all_runs(case: Case) -> dict[str, str]:
    """What ``implied_goals`` is to find."""
    follows = followers(case)
    names = [goal.name for goal in case[1]]

    def above(name: str) -> list[str]:
        """The goals that imply ``name``; of those that it implies too, the earlier ones."""
        return [
            other
            for other in names
            if name in follows[other] and (other not in follows[name] or names.index(other) < names.index(name))
        ]

    return {name: next(a for a in above(name) if not above(a)) for name in names if above(name)}


def outline(result: ChainResult) -> tuple[object, ...]:
    return (
        result.chain and result.chain.length,
        result.bounds.lower,
        result.bounds.minimal,
        result.stopped_by,
        [(v.goal, v.status) for v in result.verdicts],
    )


def check_result(case: Case, result: ChainResult) -> None:
    """Verdicts and hits are true of the chain's run, in the order of the steps."""
    system, goals, final = case
    assert [v.goal for v in result.verdicts] == [goal.name for goal in goals]
    covered = {v.goal: v.step for v in result.verdicts if v.status == COVERED}
    chain = result.chain
    if chain is None:
        assert not covered
        return
    monitor, simulator = Monitor(goals), Simulator(system)
    assert simulator.run(simulator.initial(), chain.run.inputs) == chain.run
    assert {hit.goal: hit.step for hit in chain.hits} == covered
    assert len(chain.hits) == len(covered)
    assert chain.order == tuple(hit.goal for hit in chain.hits)
    assert [hit.step for hit in chain.hits] == sorted(hit.step for hit in chain.hits)
    found = monitor.covered(chain.run)
    for name, step in covered.items():
        assert step in found[name]
        assert {h.step for h in (*chain.hits, *chain.repeats) if h.goal == name} == set(found[name])
    for hit in (*chain.hits, *chain.repeats):
        assert hit.consequent_held == monitor.judge(chain.run, hit.goal, hit.step)
    if final is not None:
        assert Explicit(system).holds(at(final, 0), [tuple(chain.run.states[-1].values())], [])

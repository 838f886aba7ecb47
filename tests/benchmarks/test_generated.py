"""The generator of systems, the independent search, and the comparison: each against something slower or known."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations, pairwise, product
from math import isfinite

import pytest
from drawn_seeds import seeds
from explicit import Explicit
from pysmt.shortcuts import BV, BVULE, TRUE, And, Ite, Or
from random_systems import RandomCase, random_case

from benchmarks.checks.generated import run
from benchmarks.checks.generated.reference import COVERABLE, NO_WAY_TO_FINAL, UNREACHABLE, Reference
from benchmarks.checks.generated.systems import TYPES, generated_case
from bmc.floats import format as floats
from bmc.formulas.unroll import at, framed
from bmc.system.transition import InputVariable, StateVariable, TransitionSystem, ValueType, symbols_of
from properties.goal import Goal

NIBBLE = ValueType("nibble", 4)
place, choice = NIBBLE.symbol("gr_place"), NIBBLE.symbol("gr_choice")
LONGEST = 7
LONGEST_APART = 5


def goal(name: str, *places: int) -> Goal:
    return Goal(name, at(Or([place.Equals(BV(p, 4)) for p in places]), 0), None, 0)


def move(name: str, before: int, after: int, steps: int) -> Goal:
    formula = And(at(place.Equals(BV(before, 4)), 0), at(place.Equals(BV(after, 4)), steps))
    return Goal(name, formula, None, steps)


def ways(table: dict[int, tuple[int, ...]], choices: int) -> TransitionSystem:
    """From each place the choice leads to one of its successors (the last one for large choices)."""
    after = place
    for here, targets in table.items():
        step = BV(targets[-1], 4)
        for number, target in enumerate(targets[:-1]):
            step = Ite(choice.Equals(BV(number, 4)), BV(target, 4), step)
        after = Ite(place.Equals(BV(here, 4)), step, after)
    return TransitionSystem(
        "ways",
        (StateVariable("gr_place", NIBBLE, BV(0, 4), after),),
        (InputVariable("gr_choice", NIBBLE, ((0, choices - 1),)),),
        input_constraint=BVULE(choice, BV(choices - 1, 4)),
    )


def bits(numbers: tuple[int, ...]) -> int:
    return sum(1 << number for number in numbers)


@seeds(20)
def test_least_chains_equal_those_of_the_plain_search_for_every_set_of_goals(seed: int) -> None:
    case = random_case(seed, goals=3, longest=2)
    plain = Explicit(case.system)
    answer = Reference(case.system, case.goals, case.final).answer()
    for size in range(len(case.goals) + 1):
        for chosen in combinations(range(len(case.goals)), size):
            least = plain.least_chain([case.goals[n] for n in chosen], case.final, LONGEST)
            found = answer.least.get(bits(chosen))
            assert least == (found if found is not None and found <= LONGEST else None)


def least_apart(case: RandomCase, plain: Explicit, chosen: list[Goal]) -> int | None:
    """By all runs and all ways to credit the goals of ``chosen``, in every order, one after the other's end."""
    for length in range(LONGEST_APART + 1):
        for states, inputs in plain.runs(plain.init, length):
            if case.final is not None and not plain.holds(at(case.final, 0), states[-1:], []):
                continue
            spans = [
                [
                    (k, k + g.length)
                    for k in range(length - g.length + 1)
                    if plain.holds(g.antecedent, states[k:], inputs[k:])
                ]
                for g in chosen
            ]
            if any(all(a[1] <= b[0] for a, b in pairwise(sorted(picked))) for picked in product(*spans)):
                return length
    return None


@seeds(20)
def test_least_chains_with_disjoint_goals_equal_those_of_all_runs(seed: int) -> None:
    case = random_case(seed, goals=3, longest=2, inputs=1)
    plain = Explicit(case.system)
    answer = Reference(case.system, case.goals, case.final, "forbid").answer()
    for size in range(1, len(case.goals) + 1):
        for chosen in combinations(range(len(case.goals)), size):
            found = answer.least.get(bits(chosen))
            least = least_apart(case, plain, [case.goals[n] for n in chosen])
            assert least == (found if found is not None and found <= LONGEST_APART else None)


def test_three_goals_that_fit_in_pairs_but_not_together_need_two_chains() -> None:
    system = ways({0: (1, 3, 5), 1: (2,), 3: (4,), 5: (6,)}, choices=3)
    goals = [goal("a", 1, 6), goal("b", 2, 3), goal("c", 4, 5)]
    answer = Reference(system, goals, None).answer()
    assert set(answer.verdicts.values()) == {COVERABLE}
    assert [answer.least.get(bits(pair)) for pair in combinations(range(3), 2)] == [2, 2, 2]
    assert bits((0, 1, 2)) not in answer.least
    assert (answer.chains, answer.total) == (2, 3)


def test_fewest_chains_come_first_then_the_least_total() -> None:
    system = ways({0: (1, 2), 1: (3,), 3: (4,), 4: (1,), 2: (6,), 6: (7,), 7: (1,)}, choices=2)
    answer = Reference(system, [goal("a", 2), goal("b", 1)], None).answer()
    assert answer.least[bits((0,))] + answer.least[bits((1,))] == 2
    assert (answer.chains, answer.total) == (1, 4)
    split = ways({0: (1, 2), 1: (3,), 3: (4,), 4: (5,)}, choices=2)
    shared = Reference(split, [goal("a", 1), goal("b", 5, 2), goal("c", 2)], None).answer()
    assert (shared.chains, shared.total, shared.least[bits((0, 1))]) == (2, 2, 4)


def test_verdicts_separate_what_no_run_reaches_from_what_has_no_way_on() -> None:
    system = ways({0: (1, 2)}, choices=2)
    goals = [goal("near", 1), goal("away", 2), goal("never", 7), goal("start", 0)]
    answer = Reference(system, goals, place.Equals(BV(1, 4))).answer()
    assert answer.verdicts == {
        "near": COVERABLE,
        "away": NO_WAY_TO_FINAL,
        "never": UNREACHABLE,
        "start": COVERABLE,
    }
    assert (answer.chains, answer.total) == (1, 1)
    hopeless = Reference(system, goals[2:3], None).answer()
    assert (hopeless.chains, hopeless.total) == (0, 0)


def test_disjoint_goals_may_touch_but_not_overlap() -> None:
    system = ways({0: (0, 1)}, choices=2)
    free = [Goal(f"g{n}", TRUE(), None, 2) for n in range(3)]
    assert Reference(system, free, None).answer().total == 2
    assert Reference(system, free, None, "forbid").answer().total == 6
    touching = [move("leave", 0, 1, 2), goal("start", 0), goal("end", 1)]
    assert Reference(system, touching, None, "forbid").answer().total == 2
    both = Reference(system, [move("leave", 0, 1, 2), move("step", 0, 1, 1)], None, "forbid").answer()
    assert (both.chains, both.total) == (2, 3)


def test_a_run_begins_with_any_value_that_init_leaves_open() -> None:
    """From 2 the goal takes one step, from 0 three."""
    system = ways({0: (1,), 1: (2,), 2: (3,)}, choices=1)
    opened = replace(system, state=tuple(replace(var, init=None) for var in system.state))
    assert Reference(system, [move("m", 2, 3, 1)], None).answer().total == 3
    reference = Reference(opened, [move("m", 2, 3, 1)], None)
    assert reference.answer().total == 1
    inputs, states = [{"gr_choice": 0}], [{"gr_place": 2}, {"gr_place": 3}]
    assert reference.faults(inputs, states, {"m": 0}) == []
    assert Reference(system, (), None).faults(inputs, states, {}) == ["the first state is none of init"]


def test_faults_of_a_chain_are_found() -> None:
    system = ways({0: (0, 1)}, choices=2)
    leave = Goal("leave", And(at(place.Equals(BV(0, 4)), 0), framed(choice, 0).Equals(BV(1, 4))), None, 1)
    goals = [leave, Goal("any", TRUE(), None, 2)]
    inputs = [{"gr_choice": n} for n in (0, 1, 0)]
    states = [{"gr_place": n} for n in (0, 0, 1, 1)]
    loose = Reference(system, goals, place.Equals(BV(1, 4)))
    assert loose.faults(inputs, states, {"leave": 1, "any": 1}) == []
    assert loose.faults(inputs, states, {"leave": 0}) == ["leave is not covered at step 0"]
    assert loose.faults(inputs, states, {"any": 2}) == ["any is not covered at step 2"]
    assert loose.faults(inputs[:1], states[:2], {}) == ["the end is not final"]
    assert loose.faults([{"gr_choice": 2}], states[:2], {}) == ["step 0 is not allowed"]
    assert loose.faults(inputs, [*states[:2], states[0]], {}) == ["after 2 steps the state is not the one claimed"]
    apart = Reference(system, goals, None, "forbid")
    assert apart.faults(inputs, states, {"leave": 1, "any": 1}) == ["the steps of two goals overlap"]
    assert apart.faults([*inputs, inputs[0]], states, {"leave": 1, "any": 2}) == []


@pytest.mark.evidence
def test_generated_cases_are_varied_repeatable_and_within_their_limits() -> None:
    kinds: Counter[object] = Counter()
    verdicts: Counter[str] = Counter()
    chains: Counter[int] = Counter()
    lengths: Counter[int] = Counter()
    wide = shared = 0
    for seed in range(16):
        case = generated_case(seed)
        assert seed % 10 or case == generated_case(seed)
        symbols = [s for var in case.system.state for s in symbols_of(var.next)]
        assert all(s == TYPES[s.symbol_name()].symbol(s.symbol_name()) for s in symbols)
        reference = Reference(case.system, case.goals, case.final)
        answer = reference.answer()
        assert 1 <= len(case.goals) <= 7
        assert len(reference.states) <= 64
        apart = Reference(case.system, case.goals, case.final, "forbid").answer()
        kinds[case.kind, case.final is None] += 1
        verdicts.update(answer.verdicts.values())
        chains[min(answer.chains, 2)] += 1
        lengths.update(g.length for g in case.goals)
        wide += len(reference.states) > 40
        shared += (apart.chains, apart.total) > (answer.chains, answer.total)
    assert len(kinds) == 4
    assert min(verdicts[v] for v in (COVERABLE, UNREACHABLE, NO_WAY_TO_FINAL)) >= 4
    assert min(chains[n] for n in (0, 1, 2)) >= 1
    assert set(lengths) == {0, 1, 2, 3}
    assert min(wide, shared) >= 2


@pytest.mark.evidence
def test_levels_in_floating_point_are_varied_repeatable_and_within_their_limits() -> None:
    """Many reachable levels in some, none changes in others; no grid in some; goals that can and cannot be covered."""
    numbers: Counter[int] = Counter()
    verdicts: Counter[str] = Counter()
    met: set[float] = set()
    for seed in range(12):
        case = generated_case(seed, kind="levels")
        assert seed % 10 or case == generated_case(seed, kind="levels")
        reference = Reference(case.system, case.goals, case.final)
        levels = {floats.number(state[1], floats.FLOAT32) for state in reference.states}
        assert len(reference.states) <= 64
        numbers[len(levels)] += 1
        met |= levels
        verdicts.update(reference.answer().verdicts.values())
    assert numbers[1] <= 5
    assert max(numbers) >= 15
    assert any(all(level * places % 1 for places in (3, 4, 10)) for level in met if isfinite(level))
    assert min(verdicts[v] for v in (COVERABLE, UNREACHABLE, NO_WAY_TO_FINAL)) >= 4


@seeds(13)
def test_smaller_cases_keep_to_their_limits(seed: int) -> None:
    case = generated_case(seed, states=16, goals=2, longest=1)
    assert len(Reference(case.system, (), None).states) <= 16
    assert len(case.goals) <= 2


class Claims:
    """What ``run.ask`` answers in the tests below: the place 5 in two steps, at a price; or changed."""

    system = ways({0: (0, 4), 4: (5,)}, choices=2)
    goals = (goal("five", 5), goal("never", 7))

    def row(self, monkeypatch: pytest.MonkeyPatch, choices: tuple[int, ...] = (1, 0), **changes: object) -> run.Row:
        place_now, states = 0, [{"gr_place": 0}]
        for number in choices:
            place_now = {(0, 0): 0, (0, 1): 4}.get((place_now, number), 5)
            states.append({"gr_place": place_now})
        taken = run.Run(tuple(states), tuple({"gr_choice": number} for number in choices))
        found = run.Found(taken, {"five": len(choices)}, lower=2, minimal=len(choices) == 2, gap=0.0)
        verdicts = {"five": "covered", "never": "unreachable"}
        good = run.Outcome((found,), verdicts, number_minimal=True, stopped_by="")
        chain = {name: changes.pop(name) for name in ("lower", "minimal", "gap", "credited") if name in changes}
        good = replace(good, chains=(replace(found, **chain),) * changes.pop("copies", 1))
        case = replace(generated_case(0), system=self.system, goals=self.goals, final=None)
        monkeypatch.setattr(run, "generated_case", lambda *arguments, **drawn: case)
        monkeypatch.setattr(run, "ask", lambda *arguments: replace(good, **changes))
        return run.compared(0)


def kinds(differences: tuple[tuple[str, str], ...]) -> set[str]:
    return {kind for kind, _ in differences}


def test_the_comparison_accepts_what_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    row = Claims().row(monkeypatch)
    assert (row.chains, row.total, row.found, row.wrong, row.weak) == (1, 2, (2,), (), ())
    assert row.agrees(strict=True)


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"verdicts": {"five": "unreachable", "never": "unreachable"}}, "verdict wrong"),
        ({"verdicts": {"five": "covered", "never": "excluded"}}, "verdict wrong"),
        ({"credited": {"five": 1}}, "replay"),
        ({"lower": 3}, "bound wrong"),
        ({"choices": (0, 1, 0), "minimal": True}, "minimal wrong"),
        ({"chains": ()}, "verdict wrong"),
        ({"copies": 2}, "number wrong"),
    ],
)
def test_the_comparison_finds_what_is_wrong(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, object], kind: str
) -> None:
    row = Claims().row(monkeypatch, **changes)
    assert kind in kinds(row.wrong)
    assert not row.agrees(strict=False)


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"verdicts": {"five": "covered", "never": "not-within-bound"}}, {"verdict weak"}),
        ({"choices": (0, 1, 0), "gap": 0.5}, {"too long", "not minimal"}),
        ({"minimal": False, "lower": 1, "gap": 1.0}, {"not minimal"}),
        ({"number_minimal": False}, {"number not minimal"}),
        ({"stopped_by": "time limit"}, {"stopped"}),
        ({"chains": (), "verdicts": {"five": "undecided", "never": "unreachable"}}, {"goals missed"}),
    ],
)
def test_the_comparison_tells_weak_answers_from_wrong_ones(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, object], found: set[str]
) -> None:
    row = Claims().row(monkeypatch, **changes)
    assert kinds(row.weak) == found
    assert row.agrees(strict=False)
    assert not row.agrees(strict=True)


def test_a_crash_is_a_wrong_answer_and_the_summary_names_its_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*arguments: object) -> run.Outcome:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(run, "ask", crash)
    row = run.compared(3, states=16)
    assert row.wrong == (("crash", "ZeroDivisionError: planted"),)
    assert "wrong: crash: 1 (seeds 3)" in list(run.summary([row]))
    assert "planted" in run.line(row)

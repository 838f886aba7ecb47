"""The means of ``verify`` against slow, obviously right ones: all runs, all orders, all positions."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, pairwise, permutations, product

import pytest
from command_line import MODELS, fresh_names
from explicit import Explicit, Input, State
from pysmt.shortcuts import BV, BVULE, FALSE, TRUE, And, Not, Or
from random_systems import RandomCase, random_case

from bmc.errors import counted
from bmc.floats.format import FLOAT64, pattern
from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import at, framed
from bmc.native.original import CompiledOriginal
from bmc.system.transition import Condition, InputVariable, StateVariable, TransitionSystem, ValueType
from chaincover.certificate import Certificate, NoRun, PathFact, formula_text
from chaincover.formats.chain_file import Stimulus
from chaincover.project.load import load
from chaincover.project.project_file import read_project
from chaincover.verification.claims import open_starts
from chaincover.verification.confirmation import MODEL, Confirmation, confirm
from chaincover.verification.invariants import Assumed, Enumerated, assumed, stated_by
from chaincover.verification.limits import FIRST_ASKED, Clock, Limits
from chaincover.verification.marks import Marks
from chaincover.verification.report import HOLDS, OPEN, UNCLAIMED, WRONG, Verdict
from chaincover.verification.search import Outcome, covers, search, search_some
from chaincover.verification.setting import Setting, monitored_setting
from chaincover.verification.states import Table, tabulate
from chaincover.verification.verdicts import EDGES, Prover
from chaincover.weights import INIT
from properties.goal import Goal

FREE = Assumed(TRUE(), TRUE(), True)
BOUND = 4
"""Weights are looked for below this many steps."""


def setting_of(case: RandomCase, overlap: str = "allow") -> Setting:
    return Setting(case.system, case.goals, case.final, overlap)


def monitored(setting: Setting) -> Setting:
    """With goals of one step at most, that may share steps."""
    return monitored_setting(setting, None)[0]


def table_of(setting: Setting, **limits: int) -> Table | None:
    return tabulate(setting.system, setting.formulas, Clock(Limits(**limits)))


def marks_of(setting: Setting) -> Marks:
    table = table_of(setting)
    assert table is not None
    return Marks(table, setting, setting.names)


def proof_of(setting: Setting, refuted: tuple[int, int] = (0, 0), invariants: Sequence[str] = ()) -> Certificate:
    """A certificate that claims refuted lengths and invariants, and nothing else."""
    shared = (setting.names, setting.end, setting.overlap, refuted[1])
    return Certificate(*shared, tuple(invariants), refuted=refuted)


class Reference:
    """All runs of a random system up to a length, with all places of its goals."""

    def __init__(self, setting: Setting, reachable: bool = False) -> None:
        """``reachable``: runs that do not begin in init begin in a reachable state, else in any."""
        self.setting = setting
        self.explicit = Explicit(setting.system)
        self.states = self.explicit.reachable() if reachable else self.explicit.states

    def places(self, states: Sequence[State], inputs: Sequence[Input]) -> dict[str, list[int]]:
        return {
            name: [
                k
                for k in range(len(inputs) - goal.length + 1)
                if self.explicit.holds(goal.antecedent, states[k:], inputs[k:])
            ]
            for name, goal in self.setting.by_name.items()
        }

    def ends(self, state: State) -> bool:
        return self.setting.final is None or self.explicit.holds(at(self.setting.final, 0), [state], [])

    def least(self, path: Sequence[str]) -> int:
        """The least step of the last node of ``path``, its first at 0; ``BOUND`` if there is none below."""
        starts = [self.explicit.init] if path[0] == INIT else self.states
        best = BOUND
        for length in range(BOUND + 2):
            for start in starts:
                for states, inputs in self.explicit.runs(start, length):
                    best = min([best, *self._totals(path, states, inputs)])
        return best

    def _totals(self, path: Sequence[str], states: Sequence[State], inputs: Sequence[Input]) -> Iterator[int]:
        to_end = path[-1] == self.setting.end
        if to_end and not self.ends(states[-1]):
            return
        found = {**self.places(states, inputs), INIT: [0], self.setting.end: [len(inputs)]}
        for steps in product(*(found[node] for node in path)):
            if steps[0] == 0 and all(t >= s for s, t in pairwise(steps)):
                yield steps[-1]

    def chain(self, length: int) -> bool:
        """Whether a chain of exactly so many steps covers all goals."""
        for states, inputs in self.explicit.runs(self.explicit.init, length):
            if not self.ends(states[-1]):
                continue
            found = self.places(states, inputs)
            for steps in product(*found.values()):
                if self.setting.overlap == "allow" or self._apart(dict(zip(found, steps, strict=True))):
                    return True
        return False

    def _apart(self, steps: dict[str, int]) -> bool:
        """Whether some order of the goals has each start no earlier than the one before ends."""
        return any(
            all(steps[b] >= self.setting.over(a, steps[a]) for a, b in pairwise(order)) for order in permutations(steps)
        )


def small_case(seed: int) -> RandomCase:
    return random_case(seed, goals=3, longest=2, inputs=1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_facts_hold_up_to_the_least_distance_and_no_further(seed: int) -> None:
    rng = random.Random(seed)
    setting = monitored(setting_of(small_case(seed)))
    reference = Reference(setting)
    prover = Prover(setting, FREE, Clock(Limits()))
    names = list(setting.names)
    for _ in range(4):
        inner = rng.sample(names, rng.randint(1, min(2, len(names))))
        path = rng.choice([(INIT, *inner), (*inner, setting.end), (INIT, *inner, setting.end)])
        least = reference.least(path)
        assert prover.no_path(PathFact(path, least))[0] == HOLDS, path
        if least < BOUND:
            verdict, why = prover.no_path(PathFact(path, least + 1))
            assert verdict == WRONG, path
            assert f"a run takes {least} (" in why
    assert prover.no_path(PathFact((INIT, setting.end), reference.least((INIT, setting.end))))[0] == HOLDS


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_facts_on_the_table_hold_up_to_the_least_distance_and_no_further(seed: int) -> None:
    """Runs begin in reachable states; what is shown against a fact is such a run."""
    rng = random.Random(seed)
    setting = monitored(setting_of(small_case(seed)))
    reference, names = Reference(setting, reachable=True), list(setting.names)
    marks = marks_of(setting)
    for _ in range(6):
        inner = tuple(rng.sample(names, rng.randint(1, min(3, len(names)))))
        paths = [(INIT, *inner), (*inner, setting.end), (INIT, *inner, setting.end), *([inner] if inner[1:] else [])]
        path = rng.choice(paths)
        least = reference.least(path)
        step = marks.least(path)
        assert step == least if least < BOUND else step >= BOUND, path
        if least < BOUND:
            run = marks.witness(path)
            covered = setting.covered(run)
            assert setting.sound(run) == run.length
            assert setting.starts_in_init(run) if path[0] == INIT else 0 in covered[path[0]]
            assert setting.ends_well(run, step) if path[-1] == setting.end else step in covered[path[-1]]


@pytest.mark.parametrize("seed", range(12))
def test_the_shortest_chain_of_all_runs(seed: int) -> None:
    """The search over the table and the questions about whole chains agree with all runs."""
    setting = setting_of(small_case(seed), ("allow", "forbid")[seed % 2])
    reference = Reference(setting)
    longest = 5
    least = next((n for n in range(longest) if reference.chain(n)), longest)
    setting = monitored(setting)
    found = search(marks_of(setting), setting.names, Clock(Limits()), longest)
    assert found.complete
    assert found.length == (None if least == longest else least)
    assert len(found.inputs) == (found.length or 0)
    check_lengths(setting, found, least, least < longest)


def check_lengths(setting: Setting, found: Outcome, least: int, refutable: bool) -> None:
    """That all lengths below ``least`` are refuted, and this one not, by the solver and by the search.

    The solver is asked about all lengths at once, about some, and about one after the other.
    """
    for searched, at_once in ((None, FIRST_ASKED), (None, 0), (found, FIRST_ASKED)):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("chaincover.verification.facts.FIRST_ASKED", at_once)
            for first in {0, least // 2} if least else ():
                assert refuted(setting, (first, least), searched)[0] == HOLDS
            for first in {0, least} if refutable else ():
                verdict, why = refuted(setting, (first, least + 1), searched)
                assert verdict == WRONG
                assert f"a run of {counted(least, 'step')} does so" in why


def refuted(setting: Setting, claimed: tuple[int, int], searched: Outcome | None) -> Verdict:
    """The verdict on lengths ``claimed`` to be refuted."""
    first, last = claimed
    claim = NoRun(setting.names, before=last, first=first)
    return Prover(setting, FREE, Clock(Limits())).no_run(claim, searched=searched)


def pattern_case(rng: random.Random) -> RandomCase:
    """Goals are patterns of one input, or of the state, which is the last input: many share steps."""
    kind = ValueType("bit", 1)
    last, given = kind.symbol("tvp_last"), kind.symbol("tvp_given")
    system = TransitionSystem(
        "patterns", (StateVariable("tvp_last", kind, BV(0, 1), given),), (InputVariable("tvp_given", kind),)
    )
    goals = []
    for number in range(3):
        length = rng.randint(0, 3)
        symbols = [framed(given, step) for step in range(length)] or [framed(last, 0)]
        pattern = And([symbol.Equals(BV(rng.randint(0, 1), 1)) for symbol in symbols])
        goals.append(Goal(f"g{number}", pattern, None, length))
    return RandomCase(system, tuple(goals), rng.choice([None, last.Equals(BV(0, 1))]))


@pytest.mark.parametrize("seed", range(6))
def test_the_shortest_chain_of_patterns_that_may_not_share_steps(seed: int) -> None:
    case = pattern_case(random.Random(seed))
    setting = setting_of(case, "forbid")
    reference = Reference(setting)
    least = next(n for n in range(20) if reference.chain(n))
    setting = monitored(setting)
    marks, clock = marks_of(setting), Clock(Limits())
    searched = search(marks, setting.names, clock)
    assert searched.length == least
    check_lengths(setting, searched, least, True)
    found = covers(marks, setting.names, clock)
    assert found is not None
    assert found[frozenset(setting.names)] == least


def test_a_search_that_is_too_large_says_so() -> None:
    setting = monitored(setting_of(random_case(3, goals=4)))
    found = search(marks_of(setting), setting.names, Clock(Limits(nodes=0)), 50)
    assert found == Outcome(False, found.nodes)
    assert table_of(setting, explored=1) is None


def test_goals_share_steps_where_none_ends_before_the_other_starts() -> None:
    case = random_case(1, goals=4)
    lengths_of = {"zero": 0, "none": 0, "two": 2, "three": 3}
    goal = case.goals[0]
    goals = tuple(replace(goal, name=n, length=j) for n, j in lengths_of.items())
    setting = Setting(case.system, goals, None, "forbid")
    for (a, j), (b, k) in product(lengths_of.items(), repeat=2):
        for s, t in product(range(5), repeat=2):
            assert setting.by_name[a].meets(s, setting.by_name[b], t) == (not (s + j <= t or t + k <= s)), (a, s, b, t)


@pytest.mark.parametrize("seed", range(12))
def test_all_sets_of_goals_that_one_run_covers(seed: int) -> None:
    """Each set that the sweep lists has its least length by a search of its own, and no other set is covered."""
    setting = monitored(setting_of(small_case(seed), ("allow", "forbid")[seed % 2]))
    marks, clock = marks_of(setting), Clock(Limits())
    names = list(setting.names)
    found = covers(marks, names, clock)
    assert found is not None
    for size in range(len(names) + 1):
        for chosen in combinations(names, size):
            fitting = [length for goals, length in found.items() if goals >= set(chosen)]
            assert search(marks, chosen, clock).length == min(fitting, default=None)
        most = search_some(marks, names, clock, size).length
        assert most == min((length for goals, length in found.items() if len(goals) >= size), default=None)
    assert not found or covers(marks, names, Clock(Limits(nodes=0))) is None


@pytest.mark.parametrize("seed", range(5))
def test_claims_of_what_one_run_covers_agree_with_all_runs(seed: int) -> None:
    """With the table each claim is decided; without it nothing else is said, and what is left open is left open."""
    setting = monitored(setting_of(small_case(seed), ("allow", "forbid")[seed % 2]))
    marks, clock, names = marks_of(setting), Clock(Limits()), list(setting.names)
    whole, alone = Prover(setting, FREE, clock, marks), Prover(setting, FREE, clock)
    for to_end in (True, False):
        found = covers(marks if to_end else marks_of(replace(setting, final=None)), names, clock)
        assert found is not None
        for goals in (names, names[:2], names[1:], names[:1]):
            for least, before in product((None, 0, 1, len(goals), len(goals) + 1), (None, 1, 3)):
                claim = NoRun(tuple(goals), least, before, to_end)
                fitting = (n for has, n in found.items() if len(has & {*goals}) >= claim.enough)
                broken = min(fitting, default=99) < (98 if before is None else before)
                expected = WRONG if broken else HOLDS
                assert whole.no_run(claim)[0] == expected, claim
                assert alone.no_run(claim)[0] in (expected, OPEN), claim
    assert whole.no_run(NoRun((names[0], "strange"))) == (WRONG, "strange is no goal")


# invariants


def stated(setting: Setting, *conditions: Condition) -> Setting:
    return replace(setting, system=replace(setting.system, invariants=conditions))


@pytest.mark.parametrize("seed", range(8))
def test_reachable_states_are_those_of_all_runs(seed: int) -> None:
    setting = setting_of(random_case(seed))
    table = table_of(setting)
    assert table is not None
    explicit = Explicit(setting.system)
    names = [var.name for var in table.variables]
    columns = [explicit.state_names.index(name) for name in names]
    seen = {tuple(state[n] for n in columns) for state in explicit.reachable()}
    assert {tuple(table.state(n)[name] for name in names) for n in range(table.size)} == seen
    listed, clock = Enumerated(table.size, table.steps, Confirmation(MODEL), table), Clock(Limits())
    claimed, more = (proof_of(setting, invariants=[f"one of {len(seen) + n} reachable states"]) for n in (0, 1))
    known, line = assumed(setting, claimed, listed, clock)
    assert (line.verdict, known.complete) == (HOLDS, True)
    known, line = assumed(setting, more, listed, clock)
    assert (line.verdict, known.complete) == (HOLDS, True)
    assert f"one of {len(seen)} reachable states: enumerated again, counted on {', '.join(names)}" in line.text
    unlisted, line = assumed(setting, claimed, None, clock)
    assert (line.verdict, unlisted.complete) == (OPEN, False)


def test_stated_invariants_are_proved_again_or_found_out() -> None:
    """Without the list of states by induction, with it in each of them."""
    setting = monitored(setting_of(random_case(5)))
    flag = setting.system.state[0].symbol
    fine, wrong = Condition("fine", Or(flag, Not(flag))), Condition("wrong", FALSE())
    setting = stated(setting, fine, wrong)
    clock = Clock(Limits())
    table = marks_of(setting).table
    for listed in (Enumerated(table.size, table.steps, Confirmation(MODEL), table), None):
        for name, verdict in (("fine", HOLDS), ("wrong", WRONG), ("missing", WRONG)):
            assert assumed(setting, proof_of(setting, invariants=[name]), listed, clock)[1].verdict == verdict
        told = replace(proof_of(setting, invariants=["told"]), formulas={"told": formula_text(Or(flag, Not(flag)))})
        assert assumed(setting, told, listed, clock)[1].verdict == HOLDS
        told = replace(told, formulas={"told": formula_text(And(flag, Not(flag)))})
        assert assumed(setting, told, listed, clock)[1].verdict == WRONG
        assert assumed(setting, replace(told, formulas={"told": "(and x"}), listed, clock)[1].verdict == WRONG
        assert assumed(setting, None, listed, clock)[1].verdict == UNCLAIMED


BYTE, FLOAT = ValueType("int8", 8, signed=True), ValueType("double", 64, floating=True)
NAMED = {
    "s.low": StateVariable("s.low", BYTE, BYTE.constant(-3), BYTE.symbol("s.low")),
    "s.high": StateVariable("s.high", BYTE, BYTE.constant(4), BYTE.symbol("s.high")),
    "s.heat": StateVariable("s.heat", FLOAT, FLOAT.constant(0), FLOAT.symbol("s.heat")),
}


@pytest.mark.parametrize(
    ("name", "low", "high", "heat", "holds"),
    [
        ("-3 <= s.low && s.low <= 3", -3, 0, 0.0, True),
        ("-3 <= s.low && s.low <= 3", -4, 0, 0.0, False),
        ("s.low == 1 || s.low >= 5", 5, 0, 0.0, True),
        ("s.low == 1 || s.low >= 5", 4, 0, 0.0, False),
        ("s.low <= s.high", -1, 0, 0.0, True),
        ("s.low <= s.high", 1, 0, 0.0, False),
        ("s.low == s.high", 1, 1, 0.0, True),
        ("s.low == 2 => s.high == 3", 2, 4, 0.0, False),
        ("s.low == 2 => s.high == 3", 1, 4, 0.0, True),
        ("s.heat == 0.0 || s.heat >= 1.5", 0, 0, -0.0, True),
        ("s.heat == 0.0 || s.heat >= 1.5", 0, 0, 1.0, False),
        ("!isnan(s.heat)", 0, 0, float("nan"), False),
        ("isnan(s.heat)", 0, 0, float("nan"), True),
        ("never change: s.low, s.high", -3, 4, 0.0, True),
        ("never change: s.low, s.high", -3, 5, 0.0, False),
    ],
)
def test_names_of_invariants_are_read(name: str, low: int, high: int, heat: float, holds: bool) -> None:
    formula = stated_by(name, NAMED)
    assert formula is not None
    values = {"s.low": low % 256, "s.high": high % 256, "s.heat": pattern(heat, FLOAT64)}
    assert bool(compile_formulas([formula])(values)[0]) == holds


@pytest.mark.parametrize("name", ["s.low <= 300", "s.low", "s.cold == 1", "a => b => c", "s.low == s.heat", ""])
def test_other_names_say_nothing(name: str) -> None:
    assert stated_by(name, NAMED) is None


def test_an_unfinished_proof_is_none() -> None:
    setting = monitored(setting_of(random_case(5)))
    weak = Clock(Limits.of(1e-9, None))
    prover = Prover(setting, FREE, weak)
    goal = setting.names[0]
    assert prover.no_path(PathFact((INIT, goal), 30)) == (OPEN, "the solver did not finish")
    assert prover.no_path(PathFact((INIT, goal), 1 << 40))[0] == OPEN
    over = Prover(setting, FREE, Clock(Limits(seconds=0.0)))
    assert over.no_path(PathFact((INIT, goal), 1))[0] == OPEN


def test_where_no_fact_is_claimed_none_is_said_to_hold() -> None:
    prover = Prover(setting_of(random_case(5)), FREE, Clock(Limits()))
    line = prover.paths(EDGES, (), lambda text: None)
    assert (line.verdict, line.text) == (UNCLAIMED, "no bounds between two nodes are claimed")


# start values


def open_system(chosen: tuple[str, ...] = ()) -> Setting:
    """A level that stays as it began, and goals that hold for some levels, and for all."""
    byte = ValueType("uint8", 8)
    level = byte.symbol("tvp_level")
    system = TransitionSystem("open", (StateVariable("tvp_level", byte, None, level),), (), chosen=chosen)
    some = Goal("some", at(level.Equals(BV(3, 8)), 0), None, 0)
    every = Goal("every", at(BVULE(level, BV(255, 8)), 0), None, 0)
    return Setting(system, (some, every), None)


@pytest.mark.parametrize(
    ("goals", "relies", "verdict"),
    [
        (("every",), False, HOLDS),
        (("some",), False, WRONG),
        (("some", "every"), False, WRONG),
        (("every", "some"), False, WRONG),
        (("some",), True, UNCLAIMED),
    ],
)
def test_start_values_that_init_leaves_open(goals: tuple[str, ...], relies: bool, verdict: str) -> None:
    stimulus = Stimulus("", ({}, {}), {}, dict.fromkeys(goals, 1), ())
    line = open_starts(open_system(), stimulus, relies, Clock(Limits()))
    assert line is not None
    assert line.verdict == verdict
    if verdict == WRONG:
        assert line.details[0].startswith("tvp_level=")
    assert open_starts(open_system(("tvp_level",)), stimulus, relies, Clock(Limits())) is None


@pytest.mark.parametrize("final", [True, False])
def test_the_end_and_each_step_are_looked_at_for_all_open_start_values(final: bool) -> None:
    """The goal is covered from any level; only from some does a run end as asked, or is a step allowed."""
    setting = open_system()
    low = BVULE(setting.system.state[0].symbol, BV(7, 8))
    system = setting.system if final else replace(setting.system, input_constraint=low)
    setting = replace(setting, system=system, final=low if final else None)
    line = open_starts(setting, Stimulus("", ({}, {}), {}, {"every": 1}, ()), False, Clock(Limits()))
    assert line is not None
    assert line.verdict == WRONG


# the compiled original


@pytest.mark.needs_compiler
def test_each_step_of_the_table_is_run_on_the_original() -> None:
    with fresh_names():
        subject = load(read_project(str(MODELS / "cruise")))
        setting = Setting(subject.system, subject.goals, subject.final)
        clock = Clock(Limits())
        table = table_of(setting)
        assert table is not None
        assert confirm(table, subject.model.original, clock).differences == ()
        target = table.target.copy()
        changed = int(table.first[2])
        target[changed] = (target[changed] + 1) % 8
        found = confirm(replace(table, target=target), subject.model.original, clock)
        assert found.differences
        assert all(f"from {table.state(2)}" in text for text in found.differences)
        few = confirm(table, subject.model.original, Clock(Limits(original=39)))
        assert (few.why, few.differences) == ("39 of 40 steps", ())


@pytest.mark.needs_compiler
def test_steps_that_only_monitors_tell_apart_are_run_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """And each of them is compared: one that leads to another value of the program is told."""
    ran, steps = list[int](), CompiledOriginal.steps
    monkeypatch.setattr(
        CompiledOriginal, "steps", lambda self, work, left: ran.append(len(work)) or steps(self, work, left)
    )
    with fresh_names():
        subject = load(read_project(str(MODELS / "cruise")))
        setting = monitored(Setting(subject.system, subject.goals, subject.final, "forbid"))
        clock = Clock(Limits())
        table = table_of(setting)
        assert table is not None
        assert confirm(table, subject.model.original, clock).differences == ()
        assert ran == [40]
        assert table.steps > 40
        own = [name for name in table.columns if not name.startswith("monitor#")]
        for move in (0, table.steps // 2, table.steps - 1):
            target = table.target.copy()
            here = table.state(int(target[move]))
            unlike = (n for n in range(table.size) if any(table.state(n)[name] != here[name] for name in own))
            target[move] = next(unlike)
            assert confirm(replace(table, target=target), subject.model.original, clock).differences

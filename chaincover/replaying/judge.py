"""Judging runs by simulation: what a run from init covers, and the chain that it makes."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from random import Random

from pysmt.fnode import FNode

from bmc.errors import CheckDisagreed
from bmc.formulas.unroll import unframed
from bmc.formulas.value_sets import joined
from bmc.system.names import DEFINED
from bmc.system.simulation import Simulator, compile_formulas
from bmc.system.transition import (
    InputVariable,
    Run,
    StateVariable,
    TransitionSystem,
    Valuation,
    ValueType,
    conjunction,
    conjuncts,
    symbols_of,
)
from chaincover.chain import Chain, Failure, Hit, Hits, Missed, Plan, ReadValue, Violation
from chaincover.problem import Problem
from chaincover.project.values import show_ranges, show_value
from chaincover.weights import INIT
from properties.goal import Goal
from properties.monitor import Monitor, violated_late

SAMPLES = 8
"""Runs with other values of the variables that init leaves open, to see which steps do not depend on them."""

EXACTLY = 14
"""Goals of which it is found out whether a run covers all of them at disjoint steps; more are credited greedily."""


class Judge:
    """Makes checked chains of runs of ``problem``."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._simulator = Simulator(problem.system)
        self._monitor = Monitor(problem.goals)
        self._final = None if problem.final is None else compile_formulas([problem.final])

    def chain(self, claimed: Run) -> Chain | None:
        """The chain of ``claimed``, whose inputs are simulated again from init; None where it may not end anywhere.

        It is credited with every goal that it covers, each at the first step at which that is possible; with overlap
        ``forbid`` at disjoint steps. It ends as early as it may. CheckDisagreed if a step of it is not allowed.
        """
        run = self._replayed(claimed)
        covered = self._monitor.covered(run)
        steps = self._credited(self._independent(run, covered))
        end = self._end(run, steps)
        while end is None and steps:
            steps = dict(list(steps.items())[:-1])
            end = self._end(run, steps)
        if end is None:
            return None
        return self._made(Run(run.states[: end + 1], run.inputs[:end]), steps, covered)

    def chain_at(self, claimed: Run, steps: Mapping[str, int]) -> Chain | None:
        """The chain of all of ``claimed``, likewise simulated again, credited with goals at just these ``steps``; None
        where it does not cover one of them there, or may not end where it does."""
        run = self._replayed(claimed)
        covered = self._monitor.covered(run)
        covers = all(step in covered[name] for name, step in steps.items())
        ends = self._final is None or self._final(run.states[-1])[0]
        return self._made(run, steps, covered) if covers and ends else None

    def empty_run(self) -> Run:
        """The run of no step."""
        return self._simulator.run(self._simulator.initial(), ())

    def first_steps(self, run: Run) -> dict[str, int]:
        """For each goal that ``run`` covers the first step at which it does."""
        covered = self._monitor.covered(self._replayed(run))
        return {name: steps[0] for name, steps in covered.items() if steps}

    def plan(self, chain: Chain) -> Plan:
        """The path of ``chain`` with its distances."""
        steps = [0, *(hit.step for hit in chain.hits), chain.length]
        path = (INIT, *(hit.goal for hit in chain.hits), self._problem.end)
        return Plan(path, tuple(b - a for a, b in pairwise(steps)))

    def _end(self, run: Run, steps: Mapping[str, int]) -> int | None:
        """The first step at which a chain credited at ``steps`` may end."""
        least = max((self._problem.over(goal, step) for goal, step in steps.items()), default=0)
        for end in range(least, run.length + 1):
            if self._final is None or self._final(run.states[end])[0]:
                return end
        return None

    def _made(self, run: Run, steps: Mapping[str, int], covered: Mapping[str, Sequence[int]]) -> Chain:
        repeats = (
            self._hit(run, goal, step)
            for goal, places in covered.items()
            for step in places
            if steps.get(goal) != step and self._problem.over(goal, step) <= run.length
        )
        return Chain(
            run=run,
            order=tuple(steps),
            hits=tuple(self._hit(run, goal, step) for goal, step in steps.items()),
            repeats=Hits(repeats),
            violations=tuple(
                Violation(f"{condition.where}: {condition.name}" if condition.where else condition.name, step)
                for step, condition in self._simulator.all_violated(run)
            ),
            relies_on=tuple(var.name for var in self._open),
            late=late_hits((self._problem.by_name[goal] for goal in steps), run),
        )

    def _replayed(self, claimed: Run) -> Run:
        """``claimed`` simulated from init; only open start values are taken from it, where it has them."""
        given = claimed.states[0]
        start = {v.name: given[v.name] for v in self._problem.system.state if v.init is None and v.name in given}
        run = self._simulator.run(self._simulator.initial(start), claimed.inputs)
        for step in self._refused(run):
            raise CheckDisagreed(f"step {step} of the chain found breaks the input constraint or is undefined")
        return _sharing(run, claimed)

    def _refused(self, run: Run) -> Iterator[int]:
        steps = zip(run.states, run.inputs, strict=False)
        return (step for step, (state, inputs) in enumerate(steps) if not self._simulator.allowed(state, inputs))

    def _hit(self, run: Run, goal: str, step: int) -> Hit:
        return Hit(goal, step, self._monitor.judge(run, goal, step))

    @cached_property
    def _open(self) -> tuple[StateVariable, ...]:
        return open_variables(self._problem.system)

    def _independent(self, run: Run, covered: Mapping[str, Sequence[int]]) -> dict[str, Sequence[int]]:
        """``covered`` with only those steps that some other values of open variables do not change, where there are
        any."""
        found: dict[str, Sequence[int]] = dict(covered)
        for sample in self._samples():
            other, same = self._until_same(run, {**run.states[0], **sample})
            if next(self._refused(other), None) is None:
                there = {name: {*steps} for name, steps in self._monitor.covered(other).items()}
                for name, steps in found.items():
                    found[name] = [step for step in steps if step >= same or step in there[name]] or steps
        return found

    def _until_same(self, run: Run, start: Valuation) -> tuple[Run, int]:
        """The run from ``start`` under the inputs of ``run``, and the first step from which on both are the same.

        It ends where goals that begin before that step do, as far as that is in ``run``.
        """
        states = [start]
        for step, state in enumerate(run.states):
            if states[step] == state:
                end = min(run.length, max((goal.over(step) for goal in self._problem.goals), default=step))
                return Run((*states, *run.states[step + 1 : end + 1]), run.inputs[:end]), step
            if step < run.length:
                states.append(self._simulator.step(states[step], run.inputs[step]))
        return Run(tuple(states), run.inputs), len(run.states)

    def _samples(self) -> Iterator[dict[str, int]]:
        if self._open:
            random = Random(0)
            yield {var.name: var.plainest_start for var in self._open}
            for _ in range(SAMPLES - 1):
                yield {var.name: _drawn(var, random) for var in self._open}

    def _credited(self, covered: Mapping[str, Sequence[int]]) -> dict[str, int]:
        """The step at which each goal is credited, in the order of these steps."""
        met = {name: steps for name, steps in covered.items() if steps}
        if not self._problem.forbid:
            found = {name: steps[0] for name, steps in met.items()}
            return dict(sorted(found.items(), key=lambda item: item[1]))
        few = _greedily(met, self._problem.over)
        if len(few) < len(met) <= EXACTLY:
            return all_disjoint(met, self._problem.over) or few
        return few


def late_hits(goals: Iterable[Goal], run: Run) -> tuple[Hit, ...]:
    """What ``run`` violates of the properties of ``goals`` by later occurrences than those that cover them."""
    late = violated_late(goals, run, run.inputs[0] if run.inputs else ())
    return tuple(Hit(name, step, False) for name, steps in late.items() for step in steps)


def _drawn(var: StateVariable, random: Random) -> int:
    """A raw value that ``var`` may start with."""
    if not var.starts:
        return random.getrandbits(max(1, var.type.bits))
    low, high = random.choice(var.starts)
    return random.randint(low, high) % (1 << max(1, var.type.bits))


def open_variables(system: TransitionSystem) -> tuple[StateVariable, ...]:
    """The variables that init leaves open and the tester does not choose: a chain must work for all their values."""
    return tuple(var for var in system.state if var.init is None and var.name not in system.chosen)


Over = Callable[[str, int], int]
"""Tells the step of the last state that a goal reads which begins at a step."""


def _greedily(covered: Mapping[str, Sequence[int]], over: Over) -> dict[str, int]:
    """Disjoint steps for as many goals as fit if always the one comes next that ends first."""
    steps: dict[str, int] = {}
    free = 0
    while True:
        ends = [
            (over(name, step), name, step)
            for name, places in covered.items()
            if name not in steps and (step := next((k for k in places if k >= free), None)) is not None
        ]
        if not ends:
            return steps
        free, name, step = min(ends)
        steps[name] = step


def all_disjoint(covered: Mapping[str, Sequence[int]], over: Over) -> dict[str, int] | None:
    """Disjoint steps for all goals, the earliest first; None if there are none. Backtracks where goals get in the
    way."""
    failed: dict[frozenset[str], int] = {}

    def place(left: frozenset[str], free: int) -> tuple[tuple[str, int], ...] | None:
        """Steps for the goals ``left`` from ``free`` on; where there are none, none are from a later step on."""
        if not left:
            return ()
        if failed.get(left, free + 1) <= free:
            return None
        steps = {name: next((k for k in covered[name] if k >= free), None) for name in left}
        first = {name: step for name, step in steps.items() if step is not None}
        if len(first) == len(left):
            for name in sorted(left, key=lambda name: (first[name], over(name, first[name]), name)):
                after = place(left - {name}, over(name, first[name]))
                if after is not None:
                    return ((name, first[name]), *after)
        failed[left] = free
        return None

    found = place(frozenset(covered), 0)
    return None if found is None else dict(found)


def _sharing(run: Run, claimed: Run) -> Run:
    """``run`` with the states that ``claimed`` has too, and equal inputs once: many long chains are known at a time."""
    known: dict[tuple[tuple[str, int], ...], Valuation] = {}
    states = [given if given == state else state for given, state in zip(claimed.states, run.states, strict=False)]
    inputs = (known.setdefault(tuple(values.items()), values) for values in run.inputs)
    return Run((*states, *run.states[len(states) :]), tuple(inputs))


def credited_with(goals: Collection[str], problem: Problem, run: Run) -> Chain | None:
    """The chain of ``run``, credited with at least ``goals`` where that is possible.

    With overlap ``forbid`` a run may also be credited with other goals, as many of them.
    """
    found = Judge(problem).chain(run)
    if found is not None and not found.goals.issuperset(goals):
        return Judge(problem.of(goals)).chain(run)
    return found


def on_whole(chain: Chain, problem: Problem) -> Chain:
    """``chain``, found on a slice of the system of ``problem``, with a run of all variables.

    Where it relies on open start values, it is said to rely on all of them: the slice may lack some. With these other
    steps may be the first ones that do not depend on such values, but goals are credited where they were.
    CheckDisagreed if it is credited with less, or judged otherwise.
    """
    found = credited_with(chain.goals, problem, chain.run)
    if not _is_as(chain, found):
        found = Judge(problem).chain_at(chain.run, {hit.goal: hit.step for hit in chain.hits})
    if found is None or not _is_as(chain, found):
        raise CheckDisagreed("a chain covers its goals on the sliced system, but not on the whole one")
    return replace(found, relies_on=found.relies_on if chain.relies_on else (), as_found=chain.as_found)


def _is_as(chain: Chain, found: Chain | None) -> bool:
    """Whether ``found`` is as long as ``chain``, with all its goals where they are there."""
    return found is not None and found.length == chain.length and {*chain.hits} <= {*found.hits}


FEW_BITS = 8
"""Bits of a type of which all values are tried; of a wider one those with labels, and what it is compared with."""


def explained(problem: Problem, name: str, run: Run, step: int) -> Failure:
    """Why the consequent of the goal ``name`` of ``problem`` fails where ``run`` covers that goal from ``step`` on.

    Told is what those parts of the consequent read that do not hold; of a deadline, those of the check that decides the
    oldest occurrence which fails there.
    """
    goal, inputs = problem.by_name[name], {var.name for var in problem.system.inputs}
    said, begin, stands, missed = goal.consequent, step, step, None
    if goal.deadline is not None:
        decisions = goal.deadline.decisions(run, inputs)
        late = next((one for one in decisions if one.after == step and not one.held), None)
        if late is None:
            raise CheckDisagreed(f"no occurrence of the antecedent of {name} fails at step {step}")
        base = goal.deadline.base
        said, begin, stands = goal.deadline.condition, late.begin, late.check
        missed = Missed(goal.deadline.text, begin + base, stands + base, goal.deadline.numbers)
    assert said is not None
    values = tuple(failing_values(problem.system, said, run, stands, goal.text))
    others = [each for each in problem.goals if each.consequent is not None and each.name != name]
    monitor = Monitor(problem.goals)
    held = tuple(each.name for each in others if _held(each, monitor, run, step, inputs))
    return Failure(name, run, step, values, held, deadline=missed)


def failing_values(system: TransitionSystem, said: FNode, run: Run, step: int, text: str = "") -> Iterator[ReadValue]:
    """What the parts of ``said`` (framed), which somebody wrote as ``text``, read that do not hold from ``step`` of
    ``run`` on. Of inputs beside variables of the program nothing else is expected: the run has chosen them."""
    places, read = _read(said, run, step)
    failing = [part for part in conjuncts(said) if not compile_formulas([part])(read)[0]]
    parts = {symbol: [part for part in failing if symbol in symbols_of(part)] for symbol in places}
    asked = {symbol: system.variable(places[symbol][1]) for symbol in filter(parts.__getitem__, places)}
    chosen = {symbol for symbol, variable in asked.items() if isinstance(variable, InputVariable)}
    chosen = chosen if len(chosen) < len(asked) else set()
    for symbol, variable in sorted(asked.items(), key=lambda item: places[item[0]]):
        at, of = places[symbol]
        if not of.endswith(DEFINED) and getattr(variable, "role", "") != "internal":
            actual = show_value(variable.type, read[symbol.symbol_name()])
            expected = "" if symbol in chosen else _expected(parts[symbol], symbol, variable.type, read)
            yield ReadValue(of, at, actual, _as_written(expected, variable, text))


def _read(said: FNode, run: Run, step: int) -> tuple[Mapping[FNode, tuple[int, str]], Mapping[str, int]]:
    """The step and the variable of each symbol of ``said`` (framed) from ``step`` of ``run`` on, and its value."""
    frames = [{**state, **inputs} for state, inputs in zip(run.states, (*run.inputs, {}), strict=True)]
    places = {symbol: (step + unframed(symbol)[1], unframed(symbol)[0]) for symbol in symbols_of(said)}
    return places, {symbol.symbol_name(): frames[at][of] for symbol, (at, of) in places.items()}


def _as_written(expected: str, variable: StateVariable | InputVariable, text: str) -> str:
    """The values ``expected`` of ``variable``: truth as such where it is one, or stands as one in ``text``."""
    if variable.type.truth:
        return {"not 0": "true", "not 1": "false", "1": "true", "0": "false"}.get(expected, expected)
    return "true" if expected == "not 0" and _bare(variable.name, text) else expected


def _bare(name: str, text: str) -> bool:
    """Whether ``text`` has the variable ``name`` as a condition of its own: never with something that it is compared or
    computed with, as C has it."""
    last = re.escape(re.split(r"->|\.|::", name)[-1])
    operator = r"==|!=|<|>|-(?!>)|[+*/%^]|&(?!&)|\|(?!\|)"
    used = rf"(?<!\w){last}(?!\w)"
    return bool(re.search(used, text)) and not re.search(rf"{used}[\s)]*({operator})|(==|!=)[\s(]*\S*{used}", text)


def _held(goal: Goal, monitor: Monitor, run: Run, step: int, inputs: Collection[str]) -> bool:
    """Whether the property of ``goal`` is judged at ``step`` of ``run``, and holds: there its antecedent and its
    consequent hold, or an occurrence is decided that meets its deadline, and none that does not."""
    if goal.deadline is not None:
        decided = [one.held for one in goal.deadline.decisions(run, inputs) if one.after == step]
        return bool(decided) and all(decided)
    return monitor.holds(run, goal.name, step) and bool(monitor.judge(run, goal.name, step))


def _expected(parts: Sequence[FNode], symbol: FNode, vtype: ValueType, read: Mapping[str, int]) -> str:
    """The values of ``symbol`` with which all ``parts`` hold, all else as it was ``read``; '' if none is known."""
    holds, many = compile_formulas([conjunction(parts)]), 1 << vtype.bits

    def fits(raw: int) -> bool:
        return bool(holds({**read, symbol.symbol_name(): raw})[0])

    if vtype.bits <= FEW_BITS:
        return _expected_of_all(fits, vtype)
    if not vtype.labels and not vtype.floating and len(parts) == 1 and _orders(parts[0], symbol, vtype):
        return _bound(lambda value: fits(value % many), vtype)
    labels = (number % many for _, number in vtype.labels)
    compared = (value for part in parts for value in _compared_with(part, symbol, read))
    tried = [*labels, *(value for value in compared if value < many)]
    return _one_of(sorted({raw for raw in tried if fits(raw)}, key=vtype.value), vtype)


def _expected_of_all(fits: Callable[[int], bool], vtype: ValueType) -> str:
    """The values of a type with few of them that ``fits``: by ranges, by labels, or by the one or two that do not."""
    every = range(1 << max(vtype.bits, 1))
    fit = sorted({raw for raw in every if fits(raw)}, key=vtype.value)
    rest = sorted({*every} - {*fit}, key=vtype.value)
    if rest and len(rest) < min(3, len(fit)):
        return f"not {_one_of(rest, vtype)}"
    if vtype.labels or vtype.floating:
        return _one_of(fit, vtype)
    return show_ranges(joined((number, number) for number in map(vtype.value, fit)), vtype)


def _orders(part: FNode, symbol: FNode, vtype: ValueType) -> bool:
    """Whether ``part`` says that ``symbol`` is less, or is not less, than something that does not read it: then the
    values with which it holds are all up to one of them, or all from one of them on."""
    compared = part.arg(0) if part.is_not() else part
    signed = compared.is_bv_slt() or compared.is_bv_sle()
    if not (signed or compared.is_bv_ult() or compared.is_bv_ule()):
        return False
    (own, *others) = sorted(compared.args(), key=lambda side: symbol not in symbols_of(side))
    if any(symbol in symbols_of(other) for other in others):
        return False
    if own.is_bv_zext() and own.arg(0) is symbol:
        return not vtype.signed and own.bv_width() > vtype.bits
    kept = own is symbol or (own.is_bv_sext() and own.arg(0) is symbol)
    return kept and vtype.signed == signed


def _bound(holds: Callable[[int], bool], vtype: ValueType) -> str:
    """The values of a type that ``holds``, which are all up to one or all from one on: ``<= 50``; '' for none."""
    low = -(1 << (vtype.bits - 1)) if vtype.signed else 0
    high = low + (1 << vtype.bits) - 1
    below = holds(low)
    if below == holds(high):
        return ""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) == below else (low, middle)
    return f"<= {low}" if below else f">= {high}"


def _one_of(values: Sequence[int], vtype: ValueType) -> str:
    return " or ".join(show_value(vtype, raw) for raw in values)


def _compared_with(part: FNode, symbol: FNode, read: Mapping[str, int]) -> list[int]:
    """The values with which ``part``, or a part of it, compares ``symbol``, all else as it was ``read``."""
    found: list[FNode] = []
    seen, left = {part}, [part]
    while left:
        node = left.pop()
        if len(node.args()) == 2 and symbol in node.args():
            one, other = node.args()
            found.append(other if one is symbol else one)
        new = [each for each in node.args() if each not in seen]
        seen.update(new)
        left += new
    return [*dict.fromkeys(compile_formulas(found)(read))]

"""An independent search for what is right: all states, all inputs, all sets of covered goals, breadth first.

Nodes are the last J steps of a run (states and inputs) and what it has covered. Nodes whose last steps can be followed
by the same things are merged first, and a node that covers no more than an earlier one at the same place is dropped.
Nothing here comes from ``chaincover``; formulas are evaluated one by one on values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

from pysmt.fnode import FNode

from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import unframed
from bmc.system.simulation import Simulator
from bmc.system.transition import TransitionSystem, Valuation, symbols_of
from properties.goal import Goal

COVERABLE = "coverable"
UNREACHABLE = "unreachable"
NO_WAY_TO_FINAL = "no-way-to-final"

Window = tuple[int, ...]
"""The last steps of a run: state, input, state, ... , state, as numbers of ``Reference.states`` and ``.inputs``."""


@dataclass(frozen=True)
class Answer:
    """``verdicts`` by goal; the fewest ``chains`` that cover all coverable goals and their least ``total`` of steps.

    ``least``: the length in steps of the shortest chain that covers a set of goals (as bits, in the goals' order), for
    every set that some chain covers. ``chains`` and ``total`` are 0 where no goal can be covered.
    """

    verdicts: Mapping[str, str]
    chains: int
    total: int
    least: Mapping[int, int]


class Reference:
    """One system with goals and ``final`` (over plain symbols, None: anywhere); ``overlap`` is allow or forbid."""

    def __init__(
        self, system: TransitionSystem, goals: Sequence[Goal], final: FNode | None, overlap: str = "allow"
    ) -> None:
        self._goals = tuple(goals)
        self._apart = overlap == "forbid"
        self._longest = max((goal.length for goal in goals), default=0)
        self._state_names = [var.name for var in system.state]
        self._input_names = [var.name for var in system.inputs]
        self.inputs = list(product(*(range(1 << max(var.type.bits, 1)) for var in system.inputs)))
        self.states: list[tuple[int, ...]] = []
        self.steps: list[list[tuple[int, int]]] = []
        self._explore(Simulator(system))
        test = None if final is None else compile_formulas([final])
        self._final = [test is None or bool(test(self._named(s))[0]) for s in self.states]
        self._tests = [_Test(goal, self._state_names, self._input_names) for goal in goals]
        self._known: dict[tuple[int, Window], bool] = {}

    def _named(self, state: tuple[int, ...]) -> dict[str, int]:
        return dict(zip(self._state_names, state, strict=True))

    def _explore(self, simulator: Simulator) -> None:
        """Number the reachable states, those of init first; list each one's steps as (input, next state)."""
        opened = {var.name: range(1 << max(var.type.bits, 1)) for var in simulator.system.state if var.init is None}
        for values in product(*opened.values()):
            start = simulator.initial(dict(zip(opened, values, strict=True)))
            self.states.append(tuple(start[name] for name in self._state_names))
        self._starts = len(self.states)
        numbers = {state: number for number, state in enumerate(self.states)}
        for state in self.states:
            here, ways = self._named(state), []
            for index, values in enumerate(self.inputs):
                given = dict(zip(self._input_names, values, strict=True))
                if simulator.allowed(here, given):
                    result = simulator.step(here, given)
                    after = tuple(result[name] for name in self._state_names)
                    if after not in numbers:
                        numbers[after] = len(self.states)
                        self.states.append(after)
                    ways.append((index, numbers[after]))
            self.steps.append(ways)

    def holds(self, goal: int, window: Window) -> bool:
        """Whether the goal's antecedent holds from the first state of ``window`` on, which spans its J steps."""
        if (goal, window) not in self._known:
            states = [self.states[n] for n in window[::2]]
            inputs = [self.inputs[n] for n in window[1::2]]
            self._known[goal, window] = self._tests[goal](states, inputs)
        return self._known[goal, window]

    def _ending(self, window: Window) -> int:
        """The goals, as bits, whose J steps end with ``window``."""
        result = 0
        for number, goal in enumerate(self._goals):
            size = 2 * goal.length + 1
            if size <= len(window) and self.holds(number, window[-size:]):
                result |= 1 << number
        return result

    def answer(self) -> Answer:
        """The search. Time and memory grow with windows times sets of goals."""
        reached, least = self._search()
        for covered in range(1 << len(self._goals)):
            fits = [length for other, length in least.items() if covered & ~other == 0]
            if fits:
                least[covered] = min(fits)
        verdicts = {}
        for number, goal in enumerate(self._goals):
            way_out = COVERABLE if 1 << number in least else NO_WAY_TO_FINAL
            verdicts[goal.name] = way_out if reached >> number & 1 else UNREACHABLE
        wanted = sum(1 << n for n, goal in enumerate(self._goals) if verdicts[goal.name] == COVERABLE)
        chains, total = _fewest(wanted, least)
        return Answer(verdicts, chains, total, least)

    def _search(self) -> tuple[int, dict[int, int]]:
        """All goals that some run covers; for each set of covered goals the least length of a run that may end."""
        starts, ending, final, following = self._merged()
        reached, least = 0, dict[int, int]()
        seen: dict[int, list[tuple[int, int]]] = {}
        layer = {(start, free, covered) for start in starts for free, covered in self._credits(ending[start], 0, 0)}
        length = 0
        while layer:
            fresh = set()
            for place, free, covered in layer:
                before = seen.setdefault(place, [])
                if not any(covered & ~other == 0 and free <= room for room, other in before):
                    before.append((free, covered))
                    fresh.add((place, free, covered))
                    reached |= covered
                    if final[place]:
                        least.setdefault(covered, length)
            length += 1
            layer = {
                (after, room, more)
                for place, free, covered in fresh
                for after in following[place]
                for room, more in self._credits(ending[after], min(free + 1, self._longest), covered)
            }
        return reached, least

    def _credits(self, ending: int, free: int, covered: int) -> Iterator[tuple[int, int]]:
        """What may count as covered once the goals of ``ending`` end here; with each, the steps that are then free.

        ``free`` steps lie behind that no credited goal uses. They only matter where goals must be disjoint: then one
        goal that has steps may be credited, after it (or without it) all goals without steps, or nothing.
        """
        if not self._apart:
            yield 0, covered | ending
            return
        yield free, covered
        fresh = [n for n in range(len(self._goals)) if (ending & ~covered) >> n & 1]
        points = sum(1 << n for n in fresh if self._goals[n].length == 0)
        if points:
            yield 0, covered | points
        for number in fresh:
            if 0 < self._goals[number].length <= free:
                yield 0, covered | points | 1 << number

    def _merged(self) -> tuple[set[int], list[int], list[bool], list[list[int]]]:
        """Classes of windows with the same future: those of init; goals that end there, whether final, and the classes
        that follow. Classes are split until the members of each have the same followers."""
        size = 2 * self._longest + 1
        windows: list[Window] = [(start,) for start in range(self._starts)]
        numbers = {window: number for number, window in enumerate(windows)}
        following: list[list[int]] = []
        for window in windows:
            ways = []
            for step in self.steps[window[-1]]:
                after = (*window, *step)[-size:]
                if after not in numbers:
                    numbers[after] = len(windows)
                    windows.append(after)
                ways.append(numbers[after])
            following.append(ways)
        ending = [self._ending(window) for window in windows]
        final = [self._final[window[-1]] for window in windows]
        kinds = _numbered(list(zip(ending, final, strict=True)))
        while True:
            split = _numbered(
                [(kind, frozenset(kinds[w] for w in ways)) for kind, ways in zip(kinds, following, strict=True)]
            )
            if max(split) == max(kinds):
                break
            kinds = split
        chosen = {kind: number for number, kind in reversed(list(enumerate(kinds)))}
        members = [chosen[kind] for kind in range(len(chosen))]
        return (
            {*kinds[: self._starts]},
            [ending[w] for w in members],
            [final[w] for w in members],
            [sorted({kinds[f] for f in following[w]}) for w in members],
        )

    def faults(
        self, inputs: Sequence[Valuation], states: Sequence[Valuation], credited: Mapping[str, int]
    ) -> list[str]:
        """What is wrong with a chain said to pass ``states`` and to cover each goal of ``credited`` at its step."""
        first = tuple(states[0][name] for name in self._state_names)
        if first not in self.states[: self._starts]:
            return ["the first state is none of init"]
        window = [self.states.index(first)]
        for number, given in enumerate(inputs):
            values = self.inputs.index(tuple(given[name] for name in self._input_names))
            after = dict(self.steps[window[-1]]).get(values)
            if after is None:
                return [f"step {number} is not allowed"]
            window += [values, after]
        found = [
            f"after {number} steps the state is not the one claimed"
            for number, claimed in enumerate(states)
            if self.states[window[2 * number]] != tuple(claimed[name] for name in self._state_names)
        ]
        if not self._final[window[-1]]:
            found.append("the end is not final")
        spans = []
        for number, goal in enumerate(self._goals):
            if goal.name in credited:
                begin = credited[goal.name]
                end = begin + goal.length
                spans.append((begin, end))
                if begin < 0 or end > len(inputs) or not self.holds(number, tuple(window[2 * begin : 2 * end + 1])):
                    found.append(f"{goal.name} is not covered at step {begin}")
        spans.sort()
        if self._apart and any(begin < end for (_, end), (begin, _) in pairwise(spans)):
            found.append("the steps of two goals overlap")
        return found


class _Test:
    """A goal's antecedent, compiled, on the states and inputs of J steps."""

    def __init__(self, goal: Goal, states: Sequence[str], inputs: Sequence[str]) -> None:
        self._formula = compile_formulas([goal.antecedent])
        self._reads = []
        for symbol in symbols_of(goal.antecedent):
            name, step = unframed(symbol)
            own = name in states
            self._reads.append((symbol.symbol_name(), own, step, (states if own else inputs).index(name)))

    def __call__(self, states: Sequence[tuple[int, ...]], inputs: Sequence[tuple[int, ...]]) -> bool:
        values = {name: (states if own else inputs)[step][place] for name, own, step, place in self._reads}
        return bool(self._formula(values)[0])


def _numbered(keys: Sequence[object]) -> list[int]:
    """The number of each key, equal keys alike, from 0 in the order of their first place."""
    numbers: dict[object, int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]


def _fewest(wanted: int, least: Mapping[int, int]) -> tuple[int, int]:
    """The fewest chains that cover ``wanted`` and their least total length, over all ways to share the goals out."""
    best = {0: (0, 0)}
    for covered in range(1, wanted + 1):
        if covered & ~wanted == 0:
            one = covered & -covered
            part, options = covered, []
            while part:
                if part & one and part in least:
                    chains, total = best[covered ^ part]
                    options.append((chains + 1, total + least[part]))
                part = (part - 1) & covered
            best[covered] = min(options)
    return best[wanted]

"""What a run can still cover from a state on, and a lower bound on the steps that this takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import inf

from pysmt.fnode import FNode

from bmc.evaluate import compile_formulas
from bmc.explore import StateGraph
from chaincover.obligations import Obligations, bits

Pair = tuple[int, int]
"""A state's index and an obligation in it."""


class Ground:
    """The states from which an end can be reached, and their steps, without those that no goal tells apart.

    ``steps[s]`` lists (class of the input, next state, index of one such input); ``to_final[s]`` is the least number
    of steps to a state of ``final`` (a formula over plain state symbols, None: every state), infinite if there is none.
    """

    def __init__(self, graph: StateGraph, obligations: Obligations, final: FNode | None) -> None:
        self.obligations = obligations
        self.classes = [obligations.state_class(state) for state in graph.states]
        before: list[list[int]] = [[] for _ in graph.states]
        for state, steps in enumerate(graph.steps):
            for _, after in steps:
                before[after].append(state)
        holds = compile_formulas([] if final is None else [final])
        self.before = before
        self.to_final = self.distances(s for s, state in enumerate(graph.states) if all(holds(state)))
        inputs = [obligations.input_class(values) for values in graph.inputs]
        self.steps = [self._told_apart(steps, inputs) for steps in graph.steps]
        self.starts = [s for s in graph.starts if self.to_final[s] < inf]

    def _told_apart(self, steps: Sequence[tuple[int, int]], classes: Sequence[int]) -> tuple[tuple[int, int, int], ...]:
        found: dict[tuple[int, int], int] = {}
        for choice, after in steps:
            if self.to_final[after] < inf:
                found.setdefault((classes[choice], after), choice)
        return tuple((input_class, after, choice) for (input_class, after), choice in found.items())

    def distances(self, targets: Iterable[int]) -> list[float]:
        """For each state the least number of steps to one of ``targets``."""
        found: list[float] = [inf] * len(self.before)
        layer = list(targets)
        for state in layer:
            found[state] = 0
        while layer:
            following = []
            for state in layer:
                for earlier in self.before[state]:
                    if found[earlier] == inf:
                        found[earlier] = found[state] + 1
                        following.append(earlier)
            layer = following
        return found


class TooManyPairs(Exception):
    """More pairs of a state and an obligation than the limit."""


class Estimate:
    """Lower bounds from every goal alone. ``check`` is called now and then. TooManyPairs above ``limit``."""

    def __init__(self, ground: Ground, forbid: bool, limit: int, check: Callable[[], None]) -> None:
        self._ground, self._forbid, self._limit, self._check = ground, forbid, limit, check
        self._lengths = [goal.length for goal in ground.obligations.goals]
        self._after_goal = [inf] * len(self._lengths)
        self._at_once = 1
        self._live = [ground.obligations.fresh(c).pending for c in ground.classes]
        finishing = self._pairs_that_complete()
        self._count_at_once()
        self._to_start = [ground.distances(self._triggers(goal, finishing)) for goal in range(len(self._lengths))]
        self._from_state = [
            sum(1 << goal for goal, to in enumerate(self._to_start) if to[state] + self._after_goal[goal] < inf)
            for state in range(len(ground.classes))
        ]

    def possible(self, state: int, pending: int) -> int:
        """The goals, as a bit mask, that may be covered from ``state`` on with the obligations ``pending``."""
        return self._from_state[state] | self._ground.obligations.goals_of(pending)

    def steps(self, state: int, pending: int, wanted: int) -> float:
        """No fewer steps lead from ``state`` over all goals ``wanted`` (bit mask) to an end; infinite: none do."""
        obligations = self._ground.obligations
        least = self._ground.to_final[state]
        left = 0
        for goal in bits(wanted):
            own = self._to_start[goal][state] + self._lengths[goal]
            for obligation in bits(pending & obligations.of_goal[goal]):
                own = min(own, obligations.remaining(obligation))
            least = max(least, own + self._after_goal[goal])
            left += self._lengths[goal]
        if self._forbid:
            return max(least, left - max((obligations.age(o) for o in bits(pending)), default=0))
        return max(least, -(-wanted.bit_count() // self._at_once))

    def _pairs_that_complete(self) -> set[Pair]:
        """All pairs (state, obligation) from which the goal can be completed; notes which pairs there are at all."""
        before: dict[Pair, list[Pair]] = {}
        done: list[Pair] = []
        todo = [(s, o) for s, pending in enumerate(self._live) for o in bits(pending)]
        for state, number in enumerate(self._ground.classes):
            self._note_ends(self._ground.obligations.fresh(number).completed, state)
        count = 0
        while todo:
            state, obligation = pair = todo.pop()
            count += 1
            if count > self._limit:
                raise TooManyPairs
            self._check()
            for input_class, after, _ in self._ground.steps[state]:
                arrival = self._ground.obligations.advance_one(obligation, input_class, self._ground.classes[after])
                if arrival.completed:
                    self._note_ends(arrival.completed, after)
                    done.append(pair)
                for following in bits(arrival.pending):
                    before.setdefault((after, following), []).append(pair)
                    if not self._live[after] >> following & 1:
                        self._live[after] |= 1 << following
                        todo.append((after, following))
        finishing = set(done)
        while done:
            for pair in before.get(done.pop(), ()):
                if pair not in finishing:
                    finishing.add(pair)
                    done.append(pair)
        return finishing

    def _note_ends(self, goals: int, state: int) -> None:
        for goal in bits(goals):
            self._after_goal[goal] = min(self._after_goal[goal], self._ground.to_final[state])

    def _count_at_once(self) -> None:
        """How many goals can be completed by one step, at most."""
        obligations = self._ground.obligations
        for state, steps in enumerate(self._ground.steps):
            self._check()
            for input_class, after, _ in steps:
                completed = obligations.advance(self._live[state], input_class, self._ground.classes[after]).completed
                self._at_once = max(self._at_once, completed.bit_count())

    def _triggers(self, goal: int, finishing: set[Pair]) -> Sequence[int]:
        """The states in which ``goal`` can start."""
        found = []
        for state, number in enumerate(self._ground.classes):
            fresh = self._ground.obligations.fresh(number)
            begun = fresh.pending & self._ground.obligations.of_goal[goal]
            if fresh.completed >> goal & 1 or any((state, o) in finishing for o in bits(begun)):
                found.append(state)
        return found

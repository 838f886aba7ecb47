"""What a run can still cover from a state on, and a lower bound on the steps that this takes."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from chaincover.graph.ground import Ground
from properties.obligations import bits

Pair = tuple[int, int]
"""A state's index and an obligation in it."""


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
        self._pass_by()
        finishing = self._pairs_that_complete()
        self._count_at_once()
        self._to_done = self._until_done(finishing)
        self._from_state = [
            sum(1 << goal for goal, to in enumerate(self._to_done) if to[state] + self._after_goal[goal] < inf)
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
            own = self._to_done[goal][state]
            for obligation in bits(pending & obligations.of_goal[goal]):
                own = min(own, self._whole(obligations.remaining(obligation)))
            least = max(least, own + self._after_goal[goal])
            left += self._lengths[goal]
        if self._forbid:
            return max(least, left - max((obligations.age(o) for o in bits(pending)), default=0))
        return max(least, -(-wanted.bit_count() // self._at_once) * self._ground.ticks)

    def _whole(self, ticks: int) -> int:
        """The ticks of as many steps as ``ticks`` need."""
        return -(-ticks // self._ground.ticks) * self._ground.ticks

    def _pass_by(self) -> None:
        """Notes the goals that begin within held steps."""
        if self._ground.ticks == 1:
            return
        for state in self._ground.places:
            for trace, after, _ in self._ground.steps[state]:
                arrival = self._ground.advance(0, trace)
                self._note_ends(arrival.completed, after)
                self._live[after] |= arrival.pending

    def _pairs_that_complete(self) -> set[Pair]:
        """All pairs (state, obligation) from which the goal can be completed; notes which pairs there are at all."""
        before: dict[Pair, list[Pair]] = {}
        done: list[Pair] = []
        todo = [(s, o) for s in self._ground.places for o in bits(self._live[s])]
        for state in self._ground.places:
            self._note_ends(self._ground.obligations.fresh(self._ground.classes[state]).completed, state)
        count = 0
        while todo:
            state, obligation = pair = todo.pop()
            count += 1
            if count > self._limit:
                raise TooManyPairs
            self._check()
            for trace, after, _ in self._ground.steps[state]:
                arrival = self._ground.advance_one(obligation, trace)
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
        for state, steps in self._ground.steps.items():
            self._check()
            for trace, _, _ in steps:
                completed = self._ground.advance(self._live[state], trace).completed
                self._at_once = max(self._at_once, completed.bit_count())

    def _until_done(self, finishing: set[Pair]) -> list[list[float]]:
        """For each goal and state no more than the ticks until it is completed, if it begins there or later."""
        obligations, ground = self._ground.obligations, self._ground
        at_once: list[list[int]] = [[] for _ in self._lengths]
        begin: list[list[int]] = [[] for _ in self._lengths]
        for state in ground.places:
            fresh = obligations.fresh(ground.classes[state])
            goals = obligations.goals_of(sum(1 << o for o in bits(fresh.pending) if (state, o) in finishing))
            for goal in bits(fresh.completed):
                at_once[goal].append(state)
            for goal in bits(goals | self._begun_within(state, finishing)):
                begin[goal].append(state)
        found = []
        for goal, length in enumerate(self._lengths):
            own = self._whole(max(length, 1))
            pairs = zip(ground.distances(at_once[goal]), ground.distances(begin[goal]), strict=True)
            found.append([min(here, there + own) for here, there in pairs])
        return found

    def _begun_within(self, state: int, finishing: set[Pair]) -> int:
        """The goals that can begin within a held step from ``state``, and be completed."""
        ground, goals = self._ground, 0
        if ground.ticks > 1:
            for trace, after, _ in ground.steps[state]:
                arrival = ground.advance(0, trace)
                earlier = arrival.pending & ~ground.obligations.fresh(ground.classes[after]).pending
                done = sum(1 << o for o in bits(earlier) if (after, o) in finishing)
                goals |= arrival.completed | ground.obligations.goals_of(done)
        return goals

"""Chains, what they cover, and how short they could be at best: plain frozen data."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace
from itertools import accumulate, pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, overload

from bmc.errors import UsageError
from bmc.records import dataclass
from bmc.system.transition import Run, Valuation
from chaincover.steps import Step, Steps

if TYPE_CHECKING:
    import pandas

COVERED = "covered"
UNREACHABLE = "unreachable"
NOT_WITHIN_BOUND = "not-within-bound"
UNDECIDED = "undecided"
NO_WAY_TO_FINAL = "no-way-to-final"
EXCLUDED = "excluded"
STATUSES = (COVERED, UNREACHABLE, NOT_WITHIN_BOUND, UNDECIDED, NO_WAY_TO_FINAL, EXCLUDED)

STORED = 1_000_000
"""Steps of a chain that are stored where no greatest length is given. Twice as many take up to twice the memory
(``STEP_BYTES`` of the options each), and so does whatever reads the files of such a chain."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A path of node names from init to the end, with the distance in steps of each edge."""

    path: tuple[str, ...]
    gaps: tuple[int, ...]

    @property
    def goals(self) -> tuple[str, ...]:
        """The path's goals in order."""
        return self.path[1:-1]

    @property
    def starts(self) -> tuple[int, ...]:
        """The step at which each goal starts."""
        return tuple(accumulate(self.gaps[:-1]))

    def lengthened(self, edge: int, gap: int) -> Plan:
        """The plan with another distance at the edge number ``edge``."""
        return replace(self, gaps=(*self.gaps[:edge], gap, *self.gaps[edge + 1 :]))


@dataclass(frozen=True, slots=True)
class Hit:
    """``goal`` is covered from ``step`` on; ``consequent_held`` is None for a goal without a consequent."""

    goal: str
    step: int
    consequent_held: bool | None


class Hits(Sequence[Hit]):
    """Hits in a few bytes each: a long chain covers some goals at most of its steps."""

    _HELD = (None, False, True)

    def __init__(self, hits: Iterable[Hit] = ()) -> None:
        numbers: dict[str, int] = {}
        self._goals, self._steps, self._held = array("i"), array("i"), bytearray()
        for hit in hits:
            self._goals.append(numbers.setdefault(hit.goal, len(numbers)))
            self._steps.append(hit.step)
            self._held.append(self._HELD.index(hit.consequent_held))
        self._names = [*numbers]

    @property
    def steps(self) -> Sequence[int]:
        """The step of each hit."""
        return self._steps

    @property
    def failures(self) -> Iterator[Hit]:
        """Those whose consequent did not hold."""
        failed = self._HELD.index(False)
        return (self[place] for place, held in enumerate(self._held) if held == failed)

    def __len__(self) -> int:
        return len(self._steps)

    @overload
    def __getitem__(self, place: int) -> Hit: ...
    @overload
    def __getitem__(self, place: slice) -> list[Hit]: ...
    def __getitem__(self, place: int | slice) -> Hit | list[Hit]:
        if isinstance(place, slice):
            return [self[each] for each in range(len(self))[place]]
        return Hit(self._names[self._goals[place]], self._steps[place], self._HELD[self._held[place]])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Hits):
            return NotImplemented
        mine, theirs = ((hits._names, hits._goals, hits._steps, hits._held) for hits in (self, other))
        return mine == theirs

    def __hash__(self) -> int:
        return hash((bytes(self._held), *self._names))

    def __repr__(self) -> str:
        return f"Hits({[*self]})"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one goal: ``status`` is one of ``STATUSES``, ``step`` is set with ``covered``.

    ``proved``: that no chain covers the goal holds for runs of any length, whatever the limits.
    """

    goal: str
    status: str
    step: int | None = None
    detail: str = ""
    proved: bool = False


Parts = tuple[tuple[tuple[Valuation, ...], int], ...]
"""Sequences of inputs, each with the number of times that it is made."""


@dataclass(frozen=True, slots=True)
class LongTest:
    """A run from init that covers one goal, and whose ``length`` in steps is more than is stored.

    ``parts`` are sequences of inputs, each with the number of times that it is made; none where only its length is
    known.
    """

    length: int
    parts: Parts = ()

    def told(self, stored: int) -> str:
        """That the goal is covered by this run, but by none of the ``stored`` steps that a chain may have."""
        return f"reachable: a test of its own has {self.length:,} steps{BEYOND}: a chain has at most {stored:,}"


BEYOND = ", more than are stored"
"""What is said of the length of such a test."""


@dataclass(frozen=True, slots=True)
class Violation:
    """An assert of the system that does not hold in ``step`` of the chain: a finding, never a restriction."""

    name: str
    step: int


@dataclass(frozen=True, slots=True)
class ReadValue:
    """What a consequent that fails reads: ``variable`` is ``actual`` in the state at ``step`` (an input: in that step).

    ``expected`` are the values with which the consequent would hold, if only this variable had one of them; '' where
    there are none, or it is not known which.
    """

    variable: str
    step: int
    actual: str
    expected: str


@dataclass(frozen=True, slots=True)
class Missed:
    """A deadline, as ``asked`` (``F[0,500ms]``) from the step ``antecedent`` on, fails at the check of step ``check``;
    ``numbers`` are the steps of what is written there (``500ms is 5 steps``)."""

    asked: str
    antecedent: int
    check: int
    numbers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Failure:
    """On ``run``, from init, the antecedent of ``goal`` holds from ``step`` on, and its consequent, by which the run
    ends, does not; ``values`` are those that it reads.

    Where the consequent is a deadline, ``step`` is where that is decided; ``deadline`` says of which occurrence, and
    the values are those of its check.
    ``held`` are the other properties that are judged at ``step`` too, and hold there.
    ``shortest``: it is proved that no run of fewer steps violates the property.
    """

    goal: str
    run: Run
    step: int
    values: tuple[ReadValue, ...] = ()
    held: tuple[str, ...] = ()
    shortest: bool = False
    deadline: Missed | None = None


CAN_FAIL = "can fail"
NEVER_VIOLATED = "never violated"
RULINGS = (CAN_FAIL, NEVER_VIOLATED, UNDECIDED)


@dataclass(frozen=True)
class Ruling:
    """Whether a run violates the property of ``goal``: ``status`` is one of ``RULINGS``, ``detail`` says why.

    ``failure`` is a violation, with ``can fail``. ``beyond`` are the steps of a run that violates it, where none does
    that is as short as those that are stored, else 0: that is a finding too, though undecided is what can be checked.
    """

    goal: str
    status: str
    detail: str
    failure: Failure | None = None
    beyond: int = 0


@dataclass(frozen=True)
class Chain:
    """One test case: ``run`` from init through every goal of ``order`` to the end.

    ``hits`` credits each goal once, in the order of the path; ``repeats`` are the other steps at which goals are
    covered. ``late`` are the steps at which a property with a deadline is violated by another occurrence of its
    antecedent than the one that covers the goal. ``relies_on`` names the variables that init leaves open and the tester
    does not choose, whose start values the chain is not proved to be independent of. ``as_found``: the inputs from this
    step on were not made simpler, for want of time or effort; None where all were. ``decoded`` are the steps with
    values as users read them, where it is known what the variables are: in what the public functions give.
    """

    run: Run
    order: tuple[str, ...]
    hits: tuple[Hit, ...]
    repeats: Hits = field(default_factory=Hits)
    violations: tuple[Violation, ...] = ()
    relies_on: tuple[str, ...] = ()
    late: tuple[Hit, ...] = ()
    as_found: int | None = field(default=None, compare=False)
    decoded: Steps | None = field(default=None, compare=False, repr=False)

    def __len__(self) -> int:
        return self.run.length

    def __bool__(self) -> bool:
        """A chain is one, also of no step."""
        return True

    def __iter__(self) -> Iterator[Step]:
        return iter(self._steps)

    def to_frame(self) -> pandas.DataFrame:
        """The steps as a table; see ``Steps.to_frame``."""
        return self._steps.to_frame()

    def _repr_svg_(self) -> str | None:
        """The waveform, for notebooks."""
        return None if self.decoded is None else self.decoded._repr_svg_()

    @property
    def _steps(self) -> Steps:
        if self.decoded is None:
            text = "this chain does not know what its variables are"
            raise UsageError(text, hint="take the one that chaincover.generate gives, or chaincover.read")
        return self.decoded

    @property
    def length(self) -> int:
        """Number of steps."""
        return self.run.length

    @property
    def goals(self) -> frozenset[str]:
        """The goals that are credited."""
        return frozenset(hit.goal for hit in self.hits)

    @property
    def gaps(self) -> tuple[int, ...]:
        """The steps from each place where goals are covered to the next one, from init to the first and to the end."""
        places = sorted({0, *(hit.step for hit in self.hits), *self.repeats.steps})
        return tuple(b - a for a, b in pairwise((*places, self.length)))

    @property
    def k_met(self) -> int:
        """The K that the chain needs: the most steps from one goal to the next, from init to the first, to the end."""
        return max(self.gaps)

    @property
    def failures(self) -> tuple[Hit, ...]:
        """All steps at which a consequent did not hold, in the order of the run."""
        own = (hit for hit in self.hits if hit.consequent_held is False)
        return tuple(sorted((*own, *self.repeats.failures, *self.late), key=attrgetter("step")))


@dataclass(frozen=True, slots=True)
class Bounds:
    """``lower``: proven least length in steps of any chain through the same goals; ``basis`` says what it rests on.

    ``length`` is that of the chain found, None without one.
    """

    lower: int
    length: int | None
    basis: str

    @property
    def minimal(self) -> bool:
        """Whether the chain is proved to be as short as possible."""
        return self.length == self.lower

    @property
    def gap(self) -> float | None:
        """(length - lower) / lower; None without a chain or with a lower bound of 0 that is not met."""
        if self.length is None:
            return None
        if self.minimal:
            return 0.0
        return (self.length - self.lower) / self.lower if self.lower else None

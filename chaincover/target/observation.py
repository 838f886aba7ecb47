"""What was observed of a run, wherever it comes from, and what formulas are on it: true, false, or not known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from pysmt.fnode import FNode

from bmc.analysis.values import sets_of
from bmc.floats.operations import Program
from bmc.formulas.evaluate import compile_formulas, names_in
from bmc.formulas.folding import raw_value
from bmc.formulas.value_sets import ALWAYS, NEVER, Ranges, only
from bmc.records import dataclass
from bmc.system.names import DEFINED
from bmc.system.transition import TransitionSystem, Valuation
from chaincover.target.sight import Covered, Doubt, places_of
from properties.goal import Goal

_NOTHING: Mapping[str, Ranges] = {}


@dataclass(frozen=True)
class Observation:
    """A run of which some values are known.

    ``states`` has the values after so many steps, the first those before step 0; ``inputs`` those of each step: raw
    values by name, of what is certain. ``sets`` has by step (of a state: the steps before it) the values that a
    variable may have had, where tolerance, jitter or a gap between samples leaves several. ``recorded`` are the
    variables that were observed at all. ``late`` are the steps that the bench began too late.
    """

    states: tuple[Valuation, ...]
    inputs: tuple[Valuation, ...]
    sets: Mapping[int, Mapping[str, Ranges]] = field(default_factory=dict)
    recorded: frozenset[str] = frozenset()
    late: frozenset[int] = frozenset()

    @property
    def length(self) -> int:
        """Number of steps."""
        return len(self.inputs)


class PartialSight:
    """A run that was observed in part: what formulas are on it is None where that is not certain.

    What the tool itself remembers of earlier steps, and whether the program has given a variable a value yet, is
    computed from what was observed.
    """

    def __init__(self, system: TransitionSystem, seen: Observation) -> None:
        self.length, self.late, self._seen = seen.length, seen.late, seen
        self._inputs = {var.name for var in system.inputs}
        self._memory = {var.name: var for var in system.state if var.role == "internal"}
        self._computed: list[dict[str, Ranges]] = [{} for _ in seen.states]
        self._origins: dict[str, frozenset[str]] = {}
        self._known: dict[tuple[FNode, Box], bool | None] = {}
        self._programs: dict[FNode, Program] = {}
        self._remember()

    def covered(self, goals: Iterable[Goal]) -> dict[str, Covered]:
        """See ``Sight``."""
        return {goal.name: self._covered(goal) for goal in goals}

    def _covered(self, goal: Goal) -> Covered:
        values = [
            self.value(goal.antecedent, step) for step in range(self.length + 1) if goal.over(step) <= self.length
        ]
        uncertain = [step for step, value in enumerate(values) if value is None]
        doubts = dict.fromkeys(doubt for step in uncertain for doubt in self.doubts([goal.antecedent], step))
        return Covered([step for step, value in enumerate(values) if value], frozenset(uncertain), [*doubts])

    def _remember(self) -> None:
        """Compute what the tool remembers, step by step; a set where it follows from values in doubt."""
        computed = [(n, Program([v.next]), sorted(names_in([v.next]))) for n, v in self._memory.items()]
        start = {n: raw_value(v.init) for n, v in self._memory.items() if v.init is not None}
        self._computed[0] = {name: ((value, value),) for name, value in start.items()}
        for step in range(self.length):
            after = self._computed[step + 1]
            for name, program, read in computed:
                box = {each: ranges for each in read if (ranges := self._ranges(each, step))}
                after[name] = sets_of(program, box)[0]

    def value(self, formula: FNode, step: int) -> bool | None:
        """See ``Sight``."""
        places = places_of(formula)
        try:
            read = {key: self._certain(name, step + at) for key, name, at in places}
        except KeyError:
            return self._by_sets(formula, step, places)
        return bool(compile_formulas([formula])(read)[0])

    def _certain(self, name: str, step: int) -> int:
        """The value of ``name``. KeyError where it is not certain."""
        values = self._seen.inputs if name in self._inputs else self._seen.states
        if name in values[step]:
            return values[step][name]
        value = _point(self._ranges(name, step))
        if value is None:
            raise KeyError(name)
        return value

    def _by_sets(self, formula: FNode, step: int, places: Sequence[tuple[str, str, int]]) -> bool | None:
        box = tuple((key, self._ranges(name, step + at)) for key, name, at in places)
        if (formula, box) not in self._known:
            program = self._programs.get(formula) or self._programs.setdefault(formula, Program([formula]))
            found = sets_of(program, {key: ranges for key, ranges in box if ranges})[0]
            self._known[formula, box] = {ALWAYS: True, NEVER: False}.get(found)
        return self._known[formula, box]

    def _ranges(self, name: str, step: int) -> Ranges:
        """The values that ``name`` may have; () for any."""
        values = self._seen.inputs if name in self._inputs else self._seen.states
        if step < len(values) and name in values[step]:
            return ((values[step][name],) * 2,)
        if name in self._memory:
            return self._computed[step].get(name, ())
        return self._seen.sets.get(step, _NOTHING).get(name, ())

    def doubts(self, formulas: Iterable[FNode], step: int) -> list[Doubt]:
        """See ``Sight``."""
        found: dict[Doubt, None] = {}
        for name, at in ((name, step + at) for formula in formulas for _, name, at in places_of(formula)):
            if at <= self.length and _point(self._ranges(name, at)) is None:
                for origin in self._origin(name):
                    last = next(
                        (each for each in range(at, -1, -1) if _point(self._ranges(origin, each)) is None), None
                    )
                    if last is not None:
                        found[Doubt(origin, last, origin not in self._seen.recorded)] = None
        return [*found]

    def _origin(self, name: str) -> frozenset[str]:
        """The variables of the program from which the value of ``name`` follows."""
        if name not in self._memory:
            return frozenset([name.removesuffix(DEFINED)])
        if name not in self._origins:
            read, left = set[str](), [name]
            while left:
                new = names_in([self._memory[left.pop()].next]) - read
                read |= new
                left += [each for each in new if each in self._memory]
            self._origins[name] = frozenset(each.removesuffix(DEFINED) for each in read if each not in self._memory)
        return self._origins[name]


def _point(ranges: Ranges) -> int | None:
    """The one value of ``ranges``; None where there are several, or any."""
    return only(ranges) if ranges else None


Box = tuple[tuple[str, Ranges], ...]
"""The values that each symbol of a formula may have; () for any."""

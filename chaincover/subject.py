"""What is tested, whatever kind of model it is: its system, the goals, the end, and what a result tells of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from pysmt.fnode import FNode

from bmc.analysis.slice import live_state, without_impossible
from bmc.errors import Location
from bmc.formulas.unroll import unframed
from bmc.models.model import Model
from bmc.records import dataclass
from bmc.system.constraints import Rule
from bmc.system.names import DEFINED
from bmc.system.transition import Condition, StateVariable, TransitionSystem, conjunction, equal, symbols_of
from chaincover.problem import Problem
from properties.goal import Goal, values_before


@dataclass(frozen=True, slots=True)
class Observers:
    """For whom a difference counts: ``goals``, and the outside, which sees the ``outputs`` after each step."""

    goals: tuple[Goal, ...]
    outputs: frozenset[str]


NOBODY = Observers((), frozenset())


@dataclass(frozen=True, slots=True)
class Settings:
    """What a project says of the search: K (``bound``), ``overlap`` and ``ordering`` as in ``Options``.

    ``where`` is the project. ``final``: the final condition as it is written there, '' for none. Inputs change only
    every ``hold`` steps; a step takes ``period`` seconds (None: not known).
    """

    where: Location
    bound: int | None = None
    overlap: str = "allow"
    ordering: str = "auto"
    final: str = ""
    hold: int = 1
    period: float | None = None


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that was read: its ``name`` as it is given, its ``path``, and its ``text`` without what means nothing."""

    name: str
    path: str
    text: str


@dataclass(frozen=True)
class Subject:
    """What is tested: a ``model``, and what a project says of it.

    ``final`` is over plain state symbols: where a chain may end, None for anywhere; ``final_text`` says what the final
    condition is, '' without one. Inputs change only every ``hold`` steps: ``system`` holds them, and ``final`` has the
    end of a held step in it, even without a final condition. ``observers`` say for whom a state is like the one after
    init: the goals of the project and of this run, and the outside.
    ``rules``: the project's conditions on inputs, of one step or several, and its dwell times; ``system`` keeps them.
    ``constraints``: its further conditions on the inputs of one step, each with what it is called. ``assumed`` are
    sentences on what every result rests on.
    ``by_criterion`` has for each coverage criterion the names of all goals that it makes, also where only some of them
    are among ``goals``. ``sources`` are the files that were read.
    """

    model: Model
    settings: Settings
    system: TransitionSystem
    goals: tuple[Goal, ...]
    final: FNode | None
    final_text: str
    observers: Observers = NOBODY
    rules: tuple[Rule, ...] = ()
    constraints: tuple[Condition, ...] = ()
    assumed: tuple[str, ...] = ()
    hold: int = 1
    by_criterion: Mapping[str, Sequence[str]] = field(default_factory=dict)
    sources: tuple[SourceFile, ...] = ()

    @property
    def coverage(self) -> list[str]:
        """The coverage criteria that made some of the goals, and those that make none."""
        own = {goal.name for goal in self.goals}
        return [text for text, names in self.by_criterion.items() if not names or not own.isdisjoint(names)]

    @property
    def problem(self) -> Problem:
        """What a chain is sought for."""
        return Problem(self.system, self.goals, self.final, self.settings.overlap)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the model, and of the properties, should know."""
        return (*self.model.notes, *(note for goal in self.goals if (note := self.note_of(goal))))

    def note_of(self, goal: Goal) -> str:
        """What the writer of a property may not have meant; '' if there is nothing."""
        names = values_before(goal, self.system)
        if not names:
            return ""
        later = " and ".join(f"X({name})" for name in names)
        return f"{goal.name} reads {' and '.join(names)} as before the step that sees its inputs, {later} is after it"


def init_formula(system: TransitionSystem, observers: Observers) -> FNode:
    """A state like the one after init: see ``like_init``."""
    return conjunction(equal(var.symbol, var.init) for var in like_init(system, observers) if var.init is not None)


def observations(system: TransitionSystem, observers: Observers) -> list[FNode]:
    """What is seen of a step: outputs after it, asserts, and what goals name, at its start or after it."""
    following = {var.name: var.next for var in system.state}
    outputs = [following[name] for name in following if name in observers.outputs]
    framed = [unframed(s) for f in formulas_of(observers.goals) for s in symbols_of(f)]
    later = dict.fromkeys(name for name, step in framed if step > 0 and name in following)
    first = dict.fromkeys(name for name, step in framed if step == 0 and name in following)
    named = [*(following[name] for name in later), *(system.variable(name).symbol for name in first)]
    return [*outputs, *(condition.formula for condition in system.asserts), *named]


def formulas_of(goals: Iterable[Goal]) -> list[FNode]:
    """Antecedents and consequents."""
    return [f for goal in goals for f in (goal.antecedent, goal.consequent) if f is not None]


def like_init(system: TransitionSystem, observers: Observers) -> list[StateVariable]:
    """The variables that a state like the one after init has as then.

    From such a state every run gives the same outputs, meets the same goals and asserts and is as valid as from init:
    compared is all that is live for these, but for what never changes, what the project ignores, and what init leaves
    open. An output is live if it is read back, or if some step keeps it as it is.
    """
    observed = observations(system, observers)
    return compared_with_init(system, live_state(without_impossible(system, observed), observed))


def compared_with_init(system: TransitionSystem, live: frozenset[str]) -> list[StateVariable]:
    ours = {var.name for var in system.state if var.role in ("state", "output") and var.init is not None}
    set_ones = {name + DEFINED for name in ours}
    return [var for var in system.state if var.name in live and (var.name in ours or var.name in set_ones)]

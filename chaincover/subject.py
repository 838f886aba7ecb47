"""What is tested, whatever kind of model it is: its system, the goals, the end, and what a result tells of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from fractions import Fraction
from functools import cached_property

from pysmt.fnode import FNode

from bmc.analysis.slice import live_state, without_impossible
from bmc.errors import Location
from bmc.formulas.evaluate import names_in
from bmc.formulas.unroll import unframed
from bmc.models.model import Model
from bmc.models.undetermined import LibraryCall
from bmc.records import dataclass
from bmc.system.constraints import Rule
from bmc.system.names import DEFINED
from bmc.system.transition import Condition, StateVariable, TransitionSystem, conjunction, equal, symbols_of
from chaincover.library import Bounded, NotAnalysed
from chaincover.problem import Problem
from properties.goal import Goal, values_before


@dataclass(frozen=True, slots=True)
class Observers:
    """For whom a difference counts: ``goals``, and the outside, which sees the ``outputs`` after each step.

    ``whole``: the system with what is left out of the tested one because it depends on ``calls`` of the C library,
    whose values it has as symbols; None where there are none. Who sees a value sees what it is computed from.
    """

    goals: tuple[Goal, ...]
    outputs: frozenset[str]
    whole: TransitionSystem | None = None
    calls: tuple[LibraryCall, ...] = ()


NOBODY = Observers((), frozenset())


@dataclass(frozen=True, slots=True)
class Justified:
    """Why the lines ``first`` to ``last`` of a source, whose name in the project is ``file``, need not be executed, nor
    every outcome on them."""

    file: str
    first: int
    last: int
    reason: str


@dataclass(frozen=True, slots=True)
class Settings:
    """What a project says of the search: K (``bound``), ``overlap`` and ``ordering`` as in ``Options``.

    ``where`` is the project. ``final``: the final condition as it is written there, '' for none. Inputs change only
    every ``hold`` steps; a step takes ``period`` seconds, a reset ``reset_seconds`` (None: not known).
    """

    where: Location
    bound: int | None = None
    overlap: str = "allow"
    ordering: str = "auto"
    final: str = ""
    hold: int = 1
    period: Fraction | None = None
    reset_seconds: float | None = None
    stating: frozenset[str] = frozenset()
    justified: tuple[Justified, ...] = ()

    @property
    def period_seconds(self) -> float | None:
        """The period as a floating number, for files and clocks."""
        return None if self.period is None else float(self.period)


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
    are among ``goals``. ``sources`` are the files that were read. ``library``: the calls of the C library on which a
    goal or a step depends and of whose values only bounds are known; None where there are none. ``remarks`` are notes.
    ``not_analysed``: what is left out of all this, where a caller does not search with bounds.
    ``times``: the times that stand in place of numbers of steps, with these, a sentence each.
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
    library: Bounded | None = None
    remarks: tuple[str, ...] = ()
    not_analysed: NotAnalysed = field(default_factory=NotAnalysed)
    times: tuple[str, ...] = ()

    @cached_property
    def value_names(self) -> Mapping[str, Mapping[int, str]]:
        """By variable what its values are called in the code and in properties, beside enumerators."""
        names = [*(var.name for var in self.system.state), *(var.name for var in self.system.inputs)]
        return self.model.value_names(names, [goal.text for goal in self.goals])

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
    def above(self) -> Problem:
        """The same where functions of the C library yield any values in their bounds, but where these are known."""
        known, problem = self.library, self.problem
        if known is None:
            return problem
        goals, final = known.goals_above(self.goals), known.final_above(self.final)
        return replace(problem, system=known.above(self.system), goals=goals, final=final)

    @property
    def below(self) -> Subject:
        """What chains are judged, written and replayed on: steps for which all such values are known."""
        library = self.library
        if library is None:
            return self
        return replace(self, system=library.below(self.system), goals=library.goals_below(self.goals))

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the model, and of the properties, should know."""
        return (*self.model.notes, *self.remarks, *(note for goal in self.goals if (note := self.note_of(goal))))

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
    return compared_with_init(system, live_for(system, observers))


def live_for(system: TransitionSystem, observers: Observers) -> frozenset[str]:
    """The names of the variables that are live for ``observers``, in ``system`` and in all that is left out of it."""
    live = _live(system, observers)
    return live if observers.whole is None else live | _live(observers.whole, observers)


def _live(system: TransitionSystem, observers: Observers) -> frozenset[str]:
    """The names of the variables that are live, also by what calls of the C library have as arguments."""
    observed, calls = observations(system, observers), [*observers.calls]
    following = {var.name: var.next for var in system.state}
    while True:
        live = live_state(without_impossible(system, observed), observed)
        read = names_in([*observed, system.defined, *(following[name] for name in live if name in following)])
        seen = [call for call in calls if call.name in read]
        if not seen:
            return live
        calls = [call for call in calls if call.name not in read]
        observed += [formula for call in seen for formula in (*call.arguments, call.reached)]


def compared_with_init(system: TransitionSystem, live: frozenset[str]) -> list[StateVariable]:
    ours = {var.name for var in system.state if var.role in ("state", "output") and var.init is not None}
    set_ones = {name + DEFINED for name in ours}
    return [var for var in system.state if var.name in live and (var.name in ours or var.name in set_ones)]

"""Goals: what a chain must exercise. Antecedents and consequents are formulas over framed symbols ``x@j``.

Last: the events of goals, which are what they ask of single states and single steps.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from pysmt.fnode import FNode
from pysmt.shortcuts import FALSE, TRUE

from bmc.errors import Location
from bmc.formulas.terms import both, negate
from bmc.formulas.unroll import read_at, shift, unframed, unplaced
from bmc.records import dataclass
from bmc.system.transition import StateVariable, TransitionSystem, conjunction, symbols_of
from properties.deadlines import Deadline, last_step


@dataclass(frozen=True, slots=True)
class Goal:
    """One test goal.

    ``antecedent`` is over ``x@0 .. x@J`` (state at steps 0..J, inputs at steps 0..J-1); ``consequent`` likewise, or
    None for a goal without an oracle. ``length`` is J in steps (docs: design words). ``text`` is the property as the
    user wrote it. ``generated`` is the criterion that a generated goal belongs to, such as ``states(mode)``, and empty
    for a goal that the user wrote. ``memory`` are the variables, made by the tool, by which a system remembers what
    the formulas say of earlier steps. ``violated``, over ``x@0``, says where the property of a goal with a deadline is
    violated; None: where the antecedent holds and the consequent does not. ``deadline``: what was to be judged.
    """

    name: str
    antecedent: FNode
    consequent: FNode | None
    length: int
    text: str = ""
    description: str = ""
    requirement: str = ""
    where: Location | None = None
    generated: str = ""
    memory: tuple[StateVariable, ...] = ()
    violated: FNode | None = None
    deadline: Deadline | None = None

    @property
    def on_state(self) -> bool:
        """Whether the goal is a condition on one state, so that a run of no step may cover it."""
        return self.length == 0

    @property
    def takes_step(self) -> bool:
        """Whether the goal is a condition on one step: on the state before it, its inputs and the state after it.

        Otherwise it is a condition on one state. Other goals there are none below ``properties.one_step``.
        """
        assert self.length <= 1, f"{self.name} takes {self.length} steps: it is asked for without its monitor"
        return self.length == 1

    @property
    def earlier(self) -> int:
        """How many steps before its last step the goal begins."""
        return max(0, self.length - 1)

    def over(self, begin: int) -> int:
        """The step of the last state that the goal reads where it begins at the step ``begin``."""
        return begin + self.length

    def meets(self, first: int, other: Goal, later: int) -> bool:
        """Whether the goal, from the step ``first`` on, and ``other``, from the step ``later`` on, share a step.

        A goal of no step shares one where it lies amid the steps of the other.
        """
        return later < self.over(first) and first < other.over(later)

    @property
    def under_way(self) -> range:
        """The steps, counted from the first one of the goal, at which another goal begins before this one is over; for
        a condition on one state that is where it holds."""
        return range(max(1, self.length))

    def room_for(self, other: Goal) -> range:
        """The steps, counted from the first one of the goal, at which ``other`` may begin so as to be over no later."""
        return range(self.length - other.length + 1)

    @property
    def before_step(self) -> FNode | None:
        """The antecedent over plain symbols, where the goal takes one step and the antecedent reads nothing of it but
        the state before it and its inputs."""
        read_later = any(unframed(symbol)[1] for symbol in symbols_of(self.antecedent))
        return unplaced([self.antecedent])[0] if self.length == 1 and not read_later else None

    def ending(self, step: int) -> FNode:
        """The antecedent placed in a run so that the last state that it reads is that of ``step``; FALSE where that is
        too early."""
        return shift(self.antecedent, step - self.length) if self.length <= step else FALSE()


def need_monitors(goals: Iterable[Goal], forbid: bool) -> bool:
    """Whether one of ``goals`` takes more than one step; where they must not share steps (``forbid``), whether one
    takes any."""
    return any(goal.length > (0 if forbid else 1) for goal in goals)


def goal_length(formulas: Collection[FNode], inputs: Collection[str]) -> int:
    """J in steps: the largest of (step of an input symbol) + 1 and (step of a state symbol).

    ``formulas`` are over framed symbols; ``inputs`` holds the plain names of the inputs.
    """
    return last_step(formulas, inputs)


def kind(goal: Goal, overlap: str = "allow") -> tuple[object, ...]:
    """What goals of one kind have in common: antecedent (as the same formula) and length agree, so a run covers all of
    them at the same steps.

    With overlap ``forbid`` goals of a step or more must not share steps, and each is of a kind of its own.
    """
    shared = overlap == "allow" or goal.length == 0
    return (goal.antecedent.node_id(), goal.length) if shared else (goal.name,)


VIOLATIONS = "violations()"
"""The criterion of the goals that properties are violated."""


def violation_name(goal: str) -> str:
    """The name of the goal that the property of ``goal`` is violated."""
    return f"violation:{goal}"


def violation(goal: Goal, inputs: Collection[str]) -> Goal:
    """The goal that the property of ``goal``, which has a consequent, is violated: its antecedent holds, its consequent
    does not.

    ``inputs`` holds the plain names of the inputs. It is as long as it takes to judge the consequent.
    """
    assert goal.consequent is not None
    violated = both(goal.antecedent, negate(goal.consequent)) if goal.violated is None else goal.violated
    length = max(goal.length, goal_length([goal.antecedent, goal.consequent], inputs))
    name = violation_name(goal.name)
    told = f"not {goal.text}", "", goal.requirement, goal.where, VIOLATIONS
    return Goal(name, violated, None, length, *told, goal.memory)


def values_before(goal: Goal, system: TransitionSystem) -> list[str]:
    """The program's variables that the consequent reads as they are before a step, and never as that step makes them.

    Only those that the step sets by inputs which the antecedent reads: most often the value after the step is meant.
    """
    if goal.consequent is None:
        return []
    inputs = {var.name for var in system.inputs}
    read = {unframed(symbol) for symbol in symbols_of(goal.consequent)}
    given = {unframed(symbol) for symbol in symbols_of(goal.antecedent)}
    found = []
    for var in system.visible_state:
        steps = [step for name, step in read if name == var.name]
        if not steps:
            continue
        acting = {symbol.symbol_name() for symbol in symbols_of(var.next)} & inputs
        if any((name, max(steps)) in given for name in acting):
            found.append(var.name)
    return found


@dataclass(frozen=True)
class Events:
    """What goals ask of single states (``states``) and single steps (``steps``), each once.

    ``of_goal`` has for each goal the events that every run has which covers it: places in ``states``, then in
    ``steps``. ``whole``: the goals that are covered wherever their event is.
    """

    states: tuple[FNode, ...]
    steps: tuple[FNode, ...]
    of_goal: Mapping[str, tuple[int, ...]]
    whole: frozenset[str]

    @staticmethod
    def of(goals: Sequence[Goal], system: TransitionSystem) -> Events:
        """The events of ``goals`` in runs of ``system``."""
        inputs = {var.name for var in system.inputs}
        named = {goal.name: _events(goal, inputs) for goal in goals}
        every = dict.fromkeys(event for events in named.values() for event in events)
        ordered = sorted(every, key=lambda event: not event[0])  # those of states come first
        numbers = {event: number for number, event in enumerate(ordered)}
        return Events(
            tuple(formula for of_state, formula in ordered if of_state),
            tuple(formula for of_state, formula in ordered if not of_state),
            {name: tuple(numbers[event] for event in events) for name, events in named.items()},
            frozenset(goal.name for goal in goals if goal.length <= 1),
        )

    @property
    def number(self) -> int:
        """How many events there are."""
        return len(self.states) + len(self.steps)


def _events(goal: Goal, inputs: set[str]) -> list[tuple[bool, FNode]]:
    """The conditions that every run satisfies which covers ``goal``: each with whether it is one on a single state."""
    parts = list(_conjuncts(goal.antecedent))
    if not goal.length:
        return [(True, conjunction(read_at(part, 0) for part in parts))]
    fitting = ([part for part in parts if _within(part, step, inputs)] for step in range(goal.length))
    of_step = [conjunction(read_at(part, step) for part in here) for step, here in enumerate(fitting)]
    kept = [formula for formula in dict.fromkeys(of_step) if goal.length == 1 or not formula.is_true()]
    return [(False, formula) for formula in kept or [TRUE()]]


def _conjuncts(formula: FNode) -> Iterator[FNode]:
    todo = [formula]
    while todo:
        part = todo.pop()
        if part.is_and():
            todo += part.args()
        else:
            yield part


def _within(part: FNode, step: int, inputs: set[str]) -> bool:
    """Whether ``part`` (framed) reads nothing but the state at ``step``, the inputs there, and the state after it."""
    places = [unframed(symbol) for symbol in symbols_of(part)]
    return all(frame == step or (frame == step + 1 and name not in inputs) for name, frame in places)

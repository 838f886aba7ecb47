"""What a stand-alone harness compares, and which goals and requirements it judges by what it sees."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction

from pysmt.fnode import FNode

from bmc.errors import UsageError
from bmc.formulas.evaluate import names_in
from bmc.formulas.terms import both, negate
from bmc.formulas.unroll import unframed
from bmc.records import dataclass
from bmc.system.memory import Memory
from bmc.system.names import DEFINED
from bmc.system.transition import InputVariable, Run, StateVariable, TransitionSystem, ValueType, symbols_of
from chaincover.exporters.c_text import widest
from chaincover.exporters.columns import FailingRequirement, failing_requirements
from chaincover.exporters.protocol import ExportedChain
from properties.deadlines import last_step
from properties.goal import Goal, goal_length
from properties.monitor import Monitor

EARLIER = "earlier"
"""The owner of what a harness remembers of earlier steps."""


@dataclass(frozen=True)
class Tolerance:
    """How much a floating value may differ from the expected one, both times ``factor`` and plus ``offset``: by
    ``absolute``, and by ``relative`` times the expected one."""

    absolute: Fraction
    relative: Fraction
    factor: Fraction
    offset: Fraction


@dataclass(frozen=True)
class Compared:
    """A variable that is compared after each step, ``first`` and later: with ``values`` (raw, of every state)."""

    variable: StateVariable
    values: Sequence[int]
    first: int
    tolerance: Tolerance | None = None


@dataclass(frozen=True)
class JudgedHere:
    """A goal that the harness judges, over plain symbols of a state: where it has just been ``covered``, and of its
    requirement where an occurrence has begun (``occurred``), is ``decided`` and is ``violated`` (None without one).

    ``judged`` is the number of steps from the begin of an occurrence to its decision. ``goal_line`` and
    ``requirement_line``: whether a test of the output is about it.
    """

    goal: Goal
    covered: FNode
    occurred: FNode | None
    decided: FNode | None
    violated: FNode | None
    judged: int
    goal_line: bool
    requirement_line: bool

    @property
    def formulas(self) -> list[FNode]:
        """Those that it has."""
        found = (self.covered, self.occurred, self.decided, self.violated)
        return [formula for formula in found if formula is not None]


@dataclass(frozen=True)
class Predicted:
    """A goal that the harness cannot see: it is covered as predicted if all compared values agree up to the state
    ``end``; None where the chain does not cover it."""

    goal: Goal
    end: int | None


@dataclass(frozen=True)
class HarnessPlan:
    """What a harness does. ``memory`` are the variables that it computes itself; ``not_compared`` says why a variable
    of the state is not compared. ``failing`` are the requirements that fail on this run and are not judged by what the
    harness sees: the program that takes this run violates them."""

    inputs: tuple[InputVariable, ...]
    columns: tuple[Sequence[int], ...]
    compared: tuple[Compared, ...]
    memory: tuple[StateVariable, ...]
    judged: tuple[JudgedHere, ...]
    predicted: tuple[Predicted, ...]
    failing: tuple[FailingRequirement, ...]
    not_compared: Mapping[str, str]
    run: Run

    @property
    def lines(self) -> int:
        """The number of tests in the output: one is about the compared values."""
        return 1 + sum(each.goal_line + each.requirement_line for each in self.judged) + len(self.failing)


def plan_of(chain: ExportedChain, unreachable: Mapping[str, str], most_bits: int) -> HarnessPlan:
    """What a harness for ``chain`` does. UsageError where an input cannot be set, or an output cannot be read.

    ``unreachable`` says of variables why the harness cannot come to them; its words have ``most_bits``.
    """
    system, run = chain.subject.system, chain.run
    for var in system.inputs:
        _refuse_input(var.name, var.type, unreachable)
    compared, not_compared = _compared(chain, unreachable)
    if not compared:
        raise UsageError(
            "a harness in C needs a variable to compare, and none can be read",
            hint="name outputs of the program in interface.output",
        )
    sight = _Visible(system, compared, run)
    judged, predicted, memory = _goals(chain, sight, most_bits)
    seen = {each.goal.name for each in judged if each.requirement_line}
    return HarnessPlan(
        system.inputs,
        tuple([values[var.name] for values in run.inputs] for var in system.inputs),
        tuple(compared),
        tuple(memory),
        tuple(judged),
        tuple(predicted),
        tuple(each for each in failing_requirements(chain) if each.goal.name not in seen),
        not_compared,
        run,
    )


def _refuse_input(name: str, kind: ValueType, unreachable: Mapping[str, str]) -> None:
    why = unreachable.get(name) or _unusable(kind)
    if why:
        hint = "export the chain in another format, or give the program this input by an argument or a global object"
        raise UsageError(f"a harness in C cannot set the input '{name}': {why}", hint=hint)


def _unusable(kind: ValueType) -> str:
    if kind.is_pointer:
        return "it is a pointer"
    return "" if 1 <= kind.bits <= 64 and (not kind.floating or kind.bits in (32, 64)) else f"its type is {kind.name}"


def _compared(chain: ExportedChain, unreachable: Mapping[str, str]) -> tuple[list[Compared], dict[str, str]]:
    """The variables that are compared, and why others are not."""
    system = chain.subject.system
    outputs = [var for var in system.state if var.role == "output"]
    wanted = outputs or [var for var in system.state if var.role == "state"]
    found, left = [], dict[str, str]()
    for var in wanted:
        why = unreachable.get(var.name) or _unusable(var.type)
        if why and outputs:
            hint = "export the chain in another format, or leave the variable out of interface.output"
            raise UsageError(f"a harness in C cannot read the output '{var.name}': {why}", hint=hint)
        first = _defined_from(var, chain)
        if not why and first > chain.run.length:
            why = "it has no defined value at the end"
        if why:
            left[var.name] = why
            continue
        values = [state[var.name] for state in chain.run.states]
        values[:first] = [values[first]] * first
        found.append(Compared(var, values, first, _tolerance(chain, var)))
    return found, left


def _defined_from(variable: StateVariable, chain: ExportedChain) -> int:
    """The first step before which a variable has a defined value, and has one until the end of the run."""
    known = [bool(state.get(variable.name + DEFINED, 1)) for state in chain.run.states]
    known[0] = (known[0] and variable.init is not None) or variable.name in chain.chosen
    return next((step for step in range(len(known), 0, -1) if not known[step - 1]), 0)


def _tolerance(chain: ExportedChain, variable: StateVariable) -> Tolerance | None:
    signal = chain.signals.get(variable.name)
    if signal is None or not signal.tolerant or not variable.type.floating:
        return None
    return Tolerance(signal.absolute, signal.relative, signal.factor, signal.offset)


class _Visible:
    """What a harness can compute: from inputs, and from compared values that are known in every state."""

    def __init__(self, system: TransitionSystem, compared: Iterable[Compared], run: Run) -> None:
        self._seen = {each.variable.name: each.first for each in compared}
        self._inputs = {var.name for var in system.inputs}
        own = [var for var in system.state if var.role == "internal" and not var.name.endswith(DEFINED)]
        self.own = {var.name: var for var in own}

    def is_seen(self, name: str, early: bool) -> bool:
        """Whether the value of the variable ``name`` is seen; ``early``: in the state before the first step, too."""
        first = self._seen.get(name.removesuffix(DEFINED))
        return name in self._inputs or (first is not None and (not first or (first == 1 and not early)))

    def sees(self, formula: FNode) -> bool:
        """Whether the value of ``formula`` (framed) can be computed wherever it may begin."""
        places = [unframed(symbol) for symbol in symbols_of(formula)]
        plain = [name for name, _ in places if name in self.own]
        direct = all(self.is_seen(name, not step) for name, step in places if name not in self.own)
        return direct and self._remembered(plain)

    def _remembered(self, names: Iterable[str]) -> bool:
        return all(
            self.own[name].init is not None
            and all(each in self.own or self.is_seen(each, True) for each in names_in([self.own[name].next]))
            for name in cone(names, self.own)
        )


def cone(names: Iterable[str], memory: Mapping[str, StateVariable]) -> list[str]:
    """The variables of ``memory`` on which those called ``names`` depend, these included."""
    found = [*dict.fromkeys(name for name in names if name in memory)]
    for name in found:
        found += [each for each in sorted(names_in([memory[name].next])) if each in memory and each not in found]
    return found


def _goals(
    chain: ExportedChain, sight: _Visible, most_bits: int
) -> tuple[list[JudgedHere], list[Predicted], list[StateVariable]]:
    """The goals that are judged, those that are predicted, and what has to be remembered."""
    subject = chain.subject
    inputs = {var.name for var in subject.system.inputs}
    covered = Monitor(subject.goals).covered(chain.run)
    claimed = {hit.goal: hit.step for hit in chain.hits}
    memory = Memory(EARLIER)
    judged, predicted = list[JudgedHere](), list[Predicted]()
    for goal in subject.goals:
        steps = covered[goal.name]
        made = _judged(goal, sight, memory, inputs, bool(steps)) if _fits(goal, most_bits) else None
        if made is None:
            begin = claimed.get(goal.name) if claimed.get(goal.name) in steps else next(iter(steps), None)
            predicted.append(Predicted(goal, None if begin is None else goal.over(begin)))
        elif made.goal_line or made.requirement_line:
            judged.append(made)
    known = sight.own | {var.name: var for var in memory.variables}
    needed = cone((name for each in judged for name in names_in(each.formulas)), known)
    return judged, predicted, [var for name, var in known.items() if name in set(needed)]


def _fits(goal: Goal, most_bits: int) -> bool:
    return widest(_formulas(goal)) <= most_bits


def _formulas(goal: Goal) -> list[FNode]:
    found = [goal.antecedent, goal.consequent, goal.violated]
    if goal.deadline is not None:
        found.append(goal.deadline.antecedent)
    return [formula for formula in found if formula is not None]


def _judged(goal: Goal, sight: _Visible, memory: Memory, inputs: Collection[str], in_chain: bool) -> JudgedHere | None:
    """How ``goal`` is judged; None if the harness does not see its antecedent. A requirement that it cannot see, or
    that the chain does not exercise, has no line."""
    if not sight.sees(goal.antecedent):
        return None
    covered = _now(memory, goal.antecedent, goal.over(0))
    consequent = goal.consequent
    if consequent is None or not all(map(sight.sees, _formulas(goal))):
        return JudgedHere(goal, covered, None, None, None, goal.over(0), in_chain, False)
    if goal.deadline is not None:
        first = goal.deadline.antecedent
        assert first is not None
        known = max(goal.deadline.base, last_step([first], inputs))
        judged = goal.over(0)
    else:
        first, known = goal.antecedent, goal_length([goal.antecedent], inputs)
        judged = max(goal.over(0), goal_length([goal.antecedent, consequent], inputs))
    violated = both(goal.antecedent, negate(consequent)) if goal.violated is None else goal.violated
    return JudgedHere(
        goal,
        covered,
        _now(memory, first, known),
        _now(memory, goal.antecedent, judged),
        _now(memory, violated, judged),
        judged,
        in_chain,
        in_chain,
    )


def _now(memory: Memory, formula: FNode, steps: int) -> FNode:
    """``formula`` (framed), read ``steps`` after its step 0; false as long as that step is before the first."""
    return both(memory.now(formula, steps), memory.after(steps))

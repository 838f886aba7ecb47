"""What explains a finding of ``check``: why a goal cannot be met, and which variables make a search long.

Both rest on the values that interval analysis gives every variable, or on an answer of the solver, so they are proved;
what these do not show is not told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE

from bmc.analysis.state_values import state_values, values_of
from bmc.engines.protocol import Engine
from bmc.errors import FEW, NAMED, LimitReached, listed
from bmc.formulas.evaluate import unseen
from bmc.formulas.unroll import unframed, unplaced
from bmc.formulas.value_sets import Ranges
from bmc.invariants.candidates import within
from bmc.invariants.induction import Prover, inductive
from bmc.records import dataclass
from bmc.system.transition import (
    Condition,
    InputVariable,
    StateVariable,
    TransitionSystem,
    between,
    conjuncts,
    symbols_of,
)
from chaincover.check.goal_facts import VacuitySearch
from chaincover.limits import Limits
from chaincover.project.values import show_ranges
from chaincover.subject import formulas_of
from properties.goal import Goal

MANY_VALUES = 1000
"""A counter with more values than these is told where states cannot be enumerated."""

FEWER_INPUTS = "give inputs smaller ranges"
"""What can be done about inputs, as long as the widest has no range of its own."""


@dataclass(frozen=True, slots=True)
class Slow:
    """Why a search may take long, and what a user can do about it."""

    text: str
    remedy: str


def why_unsatisfiable(
    system: TransitionSystem, goals: Sequence[Goal], engine: Engine, limits: Limits
) -> dict[str, str]:
    """For goals whose antecedent nothing satisfies what excludes it, where that is found.

    The values of one variable, undefined behaviour in every step that meets it, or the constraints on inputs.
    """
    found = why_unreachable(system, goals, limits)
    for goal in goals:
        if goal.name in found or limits.over:
            continue
        for wider, why in (
            (replace(system, defined=TRUE()), "every step that meets it is undefined, see undefined behaviour"),
            (replace(system, input_constraint=TRUE()), "the ranges or constraints of the inputs exclude it"),
        ):
            search = VacuitySearch(wider, [goal], engine)
            with suppress(LimitReached):
                search.run(limits)
            if not search.unsatisfiable and not search.undecided:
                found[goal.name] = why
                break
    return found


def why_unreachable(system: TransitionSystem, goals: Sequence[Goal], limits: Limits) -> dict[str, str]:
    """For goals that ask of one variable what its values exclude, these values."""
    sets = state_values(system, lambda: limits.over) if goals else None
    if sets is None:
        return {}
    inputs = {var.name: var for var in system.inputs}
    state = {var.name: var for var in system.state}
    found = {}
    for goal in goals:
        for part in conjuncts(goal.antecedent):
            symbols = symbols_of(part)
            names = {unframed(symbol)[0] for symbol in symbols}
            if len(names) != 1 or len(symbols) != 1:
                continue
            (name,) = names
            if values_of(unplaced([part]), system, sets) != [((0, 0),)]:
                continue
            if name in inputs:
                has = show_ranges(inputs[name].values, inputs[name].type)
                found[goal.name] = f"it asks of {name} what the allowed values exclude: {has or 'none'}"
            else:
                found[goal.name] = (
                    f"it asks of {name} a value that this never has: it has {_told(state[name], sets[name])}"
                )
            break
    return found


def _told(var: StateVariable, ranges: Ranges) -> str:
    """The values of a variable, of signed ones too, as text."""
    if var.type.floating:
        return show_ranges(ranges, var.type)
    pairs = sorted((var.type.value(low), var.type.value(high)) for low, high in _halves(var, ranges))
    joined: list[tuple[int, int]] = []
    for low, high in pairs:
        if joined and joined[-1][1] + 1 >= low:
            joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
        else:
            joined.append((low, high))
    if len(joined) > NAMED:
        joined = [(joined[0][0], joined[-1][1])]
    labels = {number: label for label, number in var.type.labels}
    if labels and all(low == high for low, high in joined):
        return ", ".join(labels.get(low, str(low)) for low, _ in joined)
    return show_ranges(joined, var.type)


def _halves(var: StateVariable, ranges: Ranges) -> Iterator[tuple[int, int]]:
    """``ranges``, cut where the sign of a signed type changes."""
    half = 1 << (var.type.bits - 1) if var.type.signed and var.type.bits else None
    for low, high in ranges:
        if half is not None and low < half <= high:
            yield low, half - 1
            yield half, high
        else:
            yield low, high


def find_slow(
    system: TransitionSystem, goals: Sequence[Goal], limits: Limits, engine: Engine | None = None
) -> tuple[Slow, ...]:
    """The counters with most values among the state of ``system``, whatever ``goals`` compare them with.

    Where intervals give a counter many values, ``engine`` is asked whether it stays below what it is compared with.
    """
    counters = [*filter(_counts, system.visible_state)]
    sets = state_values(system, lambda: limits.over) if counters else None
    if sets is None:
        return ()
    stated = [condition.formula for condition in system.asserts]
    uses = _uses(system, [system.input_constraint, system.defined, *stated, *formulas_of(goals)])
    many = {var: span for var in counters if _many(span := _ends_of(var, sets[var.name]))}
    if engine is not None and many:
        known = (*system.invariants, *(replace(fact, proved=True) for fact in within(system, sets)))
        many |= _proved(replace(system, invariants=known), many, uses, engine, limits)
    compared, remedy = _limits(uses), f"{fewer_inputs(system)}, state an assumption that keeps it small"
    remedy = f"{remedy}, or hold the inputs (--hold 10)"
    slow = [(var, ends) for var, ends in many.items() if _many(ends)]
    slow.sort(key=lambda each: each[1][0] - each[1][1])
    return tuple(_slow(var, most, compared.get(var.name), remedy) for var, (_, most) in slow[:FEW])


def _number_of_values(var: InputVariable) -> int:
    """How many values an input may have."""
    return sum(high - low + 1 for low, high in var.allowed)


def fewer_inputs(system: TransitionSystem) -> str:
    """What can be done about inputs: give them ranges, or single values where the widest has a range, or where all have
    few values exclude combinations of them."""
    widest = max(system.inputs, key=_number_of_values, default=None)
    if widest is None or _number_of_values(widest) <= NAMED:
        return "exclude combinations of inputs ([constraints])"
    if _number_of_values(widest) >= 1 << widest.type.bits:
        return FEWER_INPUTS
    return f"list single values of {widest.name} in place of {show_ranges(widest.allowed, widest.type)}"


def few_states(system: TransitionSystem, states: int) -> str:
    """Why no more than few ``states`` were listed, as a sentence for the user."""
    wide = sorted(system.inputs, key=_number_of_values, reverse=True)
    told = [f"{var.name} has {_number_of_values(var):,}" for var in wide if _number_of_values(var) > NAMED]
    text = f"The states of {system.name} are not all enumerated: within the effort {states or 'none'} of them"
    text = f"{text} {'was' if states < 2 else 'were'} looked at"
    return f"{text}, with all values of the inputs: {listed(told, FEW)}." if told else f"{text}."


def _ends_of(var: StateVariable, ranges: Ranges) -> tuple[int, int]:
    """The least and the greatest value."""
    spans = [(var.type.value(low), var.type.value(high)) for low, high in _halves(var, ranges)]
    return min(low for low, _ in spans), max(high for _, high in spans)


def _many(ends: tuple[int, int]) -> bool:
    return ends[1] - ends[0] >= MANY_VALUES


def _proved(
    system: TransitionSystem,
    many: Mapping[StateVariable, tuple[int, int]],
    uses: _Uses,
    engine: Engine,
    limits: Limits,
) -> dict[StateVariable, tuple[int, int]]:
    """The values of those counters of ``many`` that are proved by induction to have fewer.

    From the value after init, or 0, up to a stop of their own, to what they are compared with, to what inputs that they
    read are at most, or to twice that, four times that and so on.
    """
    guesses: list[Condition] = []
    meant: dict[str, tuple[StateVariable, int, int]] = {}
    tops = {var.name: max((high for _, high in var.values), default=var.type.greatest) for var in system.inputs}
    for var, (least, most) in many.items():
        start = least if var.init is None else var.type.value(var.init.bv_unsigned_value())
        low = max(least, min(start, 0))
        read = [tops[name] for name in map(_name, symbols_of(var.next)) if name in tops]
        ends = [uses.greatest.get(var.name) or max([1, *read])]
        while 2 * ends[-1] < most:
            ends.append(2 * ends[-1])
        for high in (*ends, uses.stops.get(var.name, most)):
            if start <= high < most:
                fact = f"{low} <= {var.name} <= {high}"
                guesses.append(Condition(fact, between(var.symbol, var.type, low, high)))
                meant[fact] = (var, low, high)
    found: dict[StateVariable, tuple[int, int]] = {}
    with suppress(LimitReached):
        for proved in (
            inductive(system, guesses, Prover(engine, limits.for_query, limits.question())) if guesses else ()
        ):
            var, low, high = meant[proved.name]
            found[var] = (low, min(high, found.get(var, (low, high))[1]))
    return found


def _slow(var: StateVariable, most: int, limit: Limit | None, remedy: str) -> Slow:
    """What is told of a counter that is proved to keep to ``most``; ``remedy``: what can be done in the project."""
    counts = "is not proved to stay below" if most == var.type.greatest else "may count to"
    text = f"{var.name} {counts} {most:,}"
    if limit is not None and 0 < limit.greatest < most:
        stop = ", but for the stop of its own" if limit.stops else ""
        proof = f"let the code bound it so that this is proved: count only while {var.name} <= {limit.greatest}"
        return Slow(f"{text} and is compared with {limit.greatest:,} at most{stop}", f"{remedy}; or {proof}")
    smaller = "make its limit smaller (with -D where it is a macro behind #ifndef)"
    return Slow(text, f"{remedy}; or {smaller}")


def _counts(var: StateVariable) -> bool:
    """Whether a variable is an integer, and a constant is added to it, or taken from it, in its next value."""
    if var.type.floating or var.type.bits <= 1:
        return False
    sums = (node for node in unseen([var.next], set()) if node.is_bv_add() or node.is_bv_sub())
    return any(_bare(node) is var.symbol for node in sums)


def _bare(node: FNode) -> FNode:
    """What is left of a term without conversions and constants that are added."""
    while True:
        parts = [argument for argument in node.args() if not argument.is_bv_constant()]
        if len(parts) != 1 or not (_is_sum(node) or _converts(node)):
            return node
        (node,) = parts


def _is_sum(node: FNode) -> bool:
    return bool(node.is_bv_add() or node.is_bv_sub())


def _converts(node: FNode) -> bool:
    return bool(node.is_bv_zext() or node.is_bv_sext() or node.is_bv_extract())


@dataclass(frozen=True, slots=True)
class Limit:
    """The greatest constant that a counter is compared with; ``stops``: greater ones only end its counting."""

    greatest: int
    stops: bool


def _uses(system: TransitionSystem, formulas: Sequence[FNode]) -> _Uses:
    """How ``system`` uses its variables; ``formulas`` are what else reads the state."""
    uses = _Uses()
    for var in system.state:
        uses.assign(var)
    uses.read(formulas)
    return uses


def _limits(uses: _Uses) -> Mapping[str, Limit]:
    """The limit of each state variable that is used for nothing but comparisons with constants, and counts upwards.

    Where such a variable is greater than its limit, nothing tells its values apart.
    """
    return {name: Limit(most, name in uses.stops) for name, most in uses.greatest.items() if name not in uses.mixed}


class _Uses:
    """How formulas use variables, by their names: what they are compared with, and which are used in another way."""

    def __init__(self) -> None:
        self.greatest: dict[str, int] = {}
        self.mixed: set[str] = set()
        self.stops: dict[str, int] = {}
        self._known: dict[FNode, frozenset[tuple[FNode, int]]] = {}
        self._seen: set[FNode] = set()
        self._chosen: set[FNode] = set()

    def assign(self, var: StateVariable) -> None:
        """Note what the next value of ``var`` reads: its own value may go into it, if it only grows."""
        for value, offset in self._values(var.next):
            if value is not var.symbol or offset < 0:
                self.read([value])
        self.read(self._chosen_by([var.next]))

    def read(self, formulas: Sequence[FNode]) -> None:
        """Note what ``formulas`` read."""
        todo = list(formulas)
        while todo:
            node = todo.pop()
            if node in self._seen:
                continue
            self._seen.add(node)
            if node.is_symbol():
                self.mixed.add(_name(node))
            elif (comparison := self._comparison(node)) is None:
                todo += node.args()
            else:
                for value, number in comparison:
                    if value.is_symbol():
                        name = _name(value)
                        self.greatest[name] = max(number, self.greatest.get(name, 0))
                    else:
                        todo.append(value)
                todo += self._chosen_by(node.args())

    def _comparison(self, node: FNode) -> list[tuple[FNode, int]] | None:
        """The values that are compared with constants, each with the greatest of them; None for anything else."""
        signed = node.is_bv_slt() or node.is_bv_sle()
        if not (signed or node.is_bv_ult() or node.is_bv_ule() or _equates_words(node)):
            return None
        for one, other in (node.args(), reversed(node.args())):
            constants = [value for value, _ in self._values(one)]
            if all(value.is_bv_constant() for value in constants):
                numbers = [c.bv_signed_value() if signed else c.bv_unsigned_value() for c in constants]
                return [
                    (value, max(numbers) - min(offset, 0))
                    for value, offset in self._values(other)
                    if not value.is_bv_constant()
                ]
        return None

    def _chosen_by(self, terms: Sequence[FNode]) -> list[FNode]:
        """The conditions by which the values of ``terms`` are chosen, each told once.

        Not what only ends the counting of a variable: ``t < 100`` in ``t < 100 ? t + 1 : t``.
        """
        found: list[FNode] = []
        todo = list(terms)
        while todo:
            node = todo.pop()
            if node in self._chosen or not (node.is_ite() or _is_sum(node) or _converts(node)):
                continue
            self._chosen.add(node)
            if not node.is_ite():
                todo += node.args()
                continue
            condition, *branches = node.args()
            todo += branches
            roots = {value for branch in branches for value, _ in self._values(branch)}
            (own,) = roots if len(roots) == 1 else (None,)
            found += [part for part in _atoms(condition) if own is None or not self._ends(part, own)]
        return found

    def _ends(self, condition: FNode, own: FNode) -> bool:
        """Whether a condition compares nothing but ``own`` with constants; it is noted as its stop."""
        compared = self._comparison(condition) if own.is_symbol() else None
        if compared is None or any(value is not own for value, _ in compared):
            return False
        if _chooses(condition):
            return False
        self.stops[_name(own)] = max([self.stops.get(_name(own), 0), *(number for _, number in compared)])
        return True

    def _values(self, term: FNode) -> frozenset[tuple[FNode, int]]:
        """What a term may hold, but for conversions: constants, variables with what is added to them, other terms.

        Of constants the greatest, of what is added to a variable the least: no more is asked of them. A term of very
        many values is one by itself.
        """
        todo = [term]
        while todo:
            node = todo[-1]
            parts = node.args()[1:] if node.is_ite() else node.args() if _is_sum(node) or _converts(node) else ()
            open_parts = [part for part in parts if part not in self._known]
            todo += open_parts
            if not open_parts:
                self._known[todo.pop()] = self._joined(node, parts)
        return self._known[term]

    def _joined(self, node: FNode, parts: Sequence[FNode]) -> frozenset[tuple[FNode, int]]:
        """The values of a term from those of its ``parts``."""
        values = None
        if node.is_ite():
            extremes = _extremes(self._known[parts[0]] | self._known[parts[1]])
            values = extremes if len(extremes) <= MANY_VALUES else None
        elif _is_sum(node):
            values = self._moved(node, *parts)
        elif _converts(node):
            values = self._converted(node, *parts)
        return frozenset([(node, 0)]) if values is None else values

    def _moved(self, total: FNode, term: FNode, change: FNode) -> frozenset[tuple[FNode, int]] | None:
        """The values of ``total``, which adds a constant to a term of variables, or takes it from there; else None."""
        if total.is_bv_add() and not change.is_bv_constant():
            term, change = change, term
        values = self._known[term]
        if not change.is_bv_constant() or not all(value.is_symbol() for value, _ in values):
            return None
        number = change.bv_signed_value() * (-1 if total.is_bv_sub() else 1)
        return frozenset((value, offset + number) for value, offset in values)

    def _converted(self, node: FNode, term: FNode) -> frozenset[tuple[FNode, int]] | None:
        """The values of ``term``, where its conversion ``node`` keeps them all; else None."""
        values = self._known[term]
        cut = node.is_bv_extract() and node.bv_extract_start() > 0
        if cut or any(value.is_symbol() and value.bv_width() > node.bv_width() for value, _ in values):
            return None
        return values


def _chooses(term: FNode) -> bool:
    """Whether some part of a term is a choice; found from above, where conditions mostly have it."""
    todo, seen = [term], {term}
    while todo:
        node = todo.pop()
        if node.is_ite():
            return True
        todo += (fresh := {*node.args()} - seen)
        seen |= fresh
    return False


def _extremes(values: frozenset[tuple[FNode, int]]) -> frozenset[tuple[FNode, int]]:
    """Of constants the greatest (signed, and unsigned), of each other value what is added to it at least."""
    if len(values) < 3:
        return values
    constants = [value for value, _ in values if value.is_bv_constant()]
    least: dict[FNode, int] = {}
    for value, offset in values:
        if not value.is_bv_constant():
            least[value] = min(offset, least.get(value, offset))
    if constants:
        least[max(constants, key=lambda value: (value.bv_signed_value(), value.node_id()))] = 0
        least[max(constants, key=lambda value: (value.bv_unsigned_value(), value.node_id()))] = 0
    return frozenset(least.items())


def _equates_words(node: FNode) -> bool:
    return bool(node.is_equals() and node.arg(0).get_type().is_bv_type())


def _atoms(condition: FNode) -> list[FNode]:
    """The parts of a condition without the connectives."""
    found, todo = [], [condition]
    while todo:
        node = todo.pop()
        if node.is_and() or node.is_or() or node.is_not():
            todo += node.args()
        else:
            found.append(node)
    return found


def _name(symbol: FNode) -> str:
    """The name of a variable, also where its symbol belongs to a step."""
    return str(symbol.symbol_name().partition("@")[0])

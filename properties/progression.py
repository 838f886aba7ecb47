"""The progress of goals along a run: which antecedents have begun and what of each is still to come.

A run is read in slots: slot 2k is the state at step k, slot 2k + 1 the input at step k, counted from the goal's start.
What is left of an antecedent is a formula over the slots to come, simplified by what was read; it is kept as a number,
and equal numbers are equal formulas. Sets of progress and sets of goals are bit masks. What the antecedents read of a
state or of an input is summed up in a class, which is a number: states of one class look alike to every goal.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

import pysmt.operators as op
from pysmt.fnode import FNode
from pysmt.shortcuts import FreshSymbol

from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import unframed, unplaced, with_terms
from bmc.records import dataclass
from bmc.system.transition import Valuation
from properties.goal import Goal

FALSE, TRUE = 0, 1
Values = tuple[int, ...]
Key = tuple[Any, ...]
Choice = tuple[FNode, ...]
"""A condition, what holds if it does, and what holds if not."""

_CONSTANT, _MIXED = -1, -2
MOST_CHOICES = 32
"""Relations at most that are taken for choices, for one between numbers; each may double their number."""

_CONNECTIVES = (op.AND, op.OR, op.NOT, op.IMPLIES, op.IFF, op.ITE)


@dataclass(frozen=True, slots=True)
class Progress:
    """Goal number ``goal`` has begun; its slots below ``slot`` were read (two per step), ``remainder`` is left."""

    goal: int
    slot: int
    remainder: int

    @property
    def age(self) -> int:
        """The steps since the goal began."""
        return (self.slot - 1) // 2


@dataclass(frozen=True, slots=True)
class Arrival:
    """What an arrival in a state means, as bit masks: the progress ``pending`` after it, the goals ``completed``."""

    pending: int
    completed: int


def bits(mask: int) -> Iterator[int]:
    """The places of the ones of ``mask``, rising."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


class Progression:
    """Advances sets of progress. Every answer is remembered, by what the goal in question reads of a class."""

    def __init__(self, goals: Sequence[Goal], input_names: Collection[str]) -> None:
        self.goals = tuple(goals)
        self.progress: list[Progress] = []
        self._numbers: dict[Progress, int] = {}
        self._remainders = _Remainders(input_names)
        self._starts = [self._remainders.of(goal.antecedent) for goal in goals]
        terms = self._remainders.states, self._remainders.inputs
        self._kinds = tuple(
            _Kind(kind, [self._remainders.reads(start)[place] for start in self._starts])
            for place, kind in enumerate(terms)
        )
        self._begun: dict[int, Arrival] = {}
        self._single: dict[tuple[int, int, int], Arrival] = {}
        self._moved: dict[tuple[int, int, int], Arrival] = {}

    @property
    def terms(self) -> tuple[Sequence[FNode], Sequence[FNode]]:
        """The terms over plain symbols on whose values the classes of states depend, and those of inputs."""
        return self._remainders.states.formulas, self._remainders.inputs.formulas

    def state_class(self, state: Valuation) -> int:
        """The class of a state."""
        return self._kinds[0].number(state)

    def input_class(self, inputs: Valuation) -> int:
        """The class of the values of all inputs."""
        return self._kinds[1].number(inputs)

    def alike(self, goal: int) -> tuple[Sequence[int], Sequence[int]]:
        """For each class of states, and of inputs, met so far the first one that goal number ``goal`` cannot tell
        apart from it."""
        return self._kinds[0].alike(goal), self._kinds[1].alike(goal)

    def begin(self, goal: int, state_class: int) -> Arrival:
        """Goal number ``goal`` begins in a state, if it can."""
        return self._read(goal, 0, self._starts[goal], state_class)

    def begin_all(self, state_class: int) -> Arrival:
        """Every goal begins in a state that can."""
        if state_class not in self._begun:
            self._begun[state_class] = _union([self.begin(goal, state_class) for goal in range(len(self.goals))])
        return self._begun[state_class]

    def advance(self, pending: int, input_class: int, state_class: int) -> Arrival:
        """What is pending moves on by a step with an input of ``input_class`` to a state of ``state_class``."""
        key = (pending, input_class, state_class)
        if key not in self._moved:
            self._moved[key] = _union([self.advance_one(number, input_class, state_class) for number in bits(pending)])
        return self._moved[key]

    def advance_one(self, number: int, input_class: int, state_class: int) -> Arrival:
        """As ``advance``, for one progress."""
        it = self.progress[number]
        states, inputs = self._kinds
        key = (number, inputs.alike(it.goal)[input_class], states.alike(it.goal)[state_class])
        if key not in self._single:
            remainder = self._remainders.read(it.remainder, it.slot, inputs.values[input_class])
            self._single[key] = self._read(it.goal, it.slot + 1, remainder, state_class)
        return self._single[key]

    def _read(self, goal: int, slot: int, remainder: int, state_class: int) -> Arrival:
        """Read the state at ``slot``."""
        remainder = self._remainders.read(remainder, slot, self._kinds[0].values[state_class])
        if remainder == FALSE:
            return Arrival(0, 0)
        if slot == 2 * self.goals[goal].length:
            return Arrival(0, 1 << goal)
        progress = Progress(goal, slot + 1, remainder)
        if progress not in self._numbers:
            self._numbers[progress] = len(self.progress)
            self.progress.append(progress)
        return Arrival(1 << self._numbers[progress], 0)


def _union(arrivals: Sequence[Arrival]) -> Arrival:
    pending = completed = 0
    for arrival in arrivals:
        pending |= arrival.pending
        completed |= arrival.completed
    return Arrival(pending, completed)


class _Kind:
    """The classes of states, or of inputs: ``values`` of the terms by class; ``reads``: the terms of each goal."""

    def __init__(self, terms: Terms, reads: Sequence[Sequence[int]]) -> None:
        self.values: list[Values] = []
        self._terms, self._reads = terms, reads
        self._classes: dict[Values, int] = {}
        self._first: list[dict[Values, int]] = [{} for _ in reads]
        self._alike: list[list[int]] = [[] for _ in reads]

    def number(self, valuation: Valuation) -> int:
        values = self._terms.values(valuation)
        if values not in self._classes:
            self._classes[values] = len(self.values)
            self.values.append(values)
        return self._classes[values]

    def alike(self, goal: int) -> Sequence[int]:
        known = self._alike[goal]
        for number in range(len(known), len(self.values)):
            read = tuple(self.values[number][term] for term in self._reads[goal])
            known.append(self._first[goal].setdefault(read, number))
        return known


class Terms:
    """Terms over plain symbols of one kind (state or input), numbered, and their values in a valuation."""

    def __init__(self) -> None:
        self._numbers: dict[FNode, int] = {}
        self._compiled: Callable[[Any], Values] | None = None

    def number(self, framed_term: FNode) -> int:
        """The number of a term all of whose symbols are at one step."""
        term = unplaced([framed_term])[0]
        self._compiled = None
        return self._numbers.setdefault(term, len(self._numbers))

    @property
    def formulas(self) -> Sequence[FNode]:
        """All terms, by number."""
        return list(self._numbers)

    def values(self, valuation: Any) -> Values:
        """The values of all terms, by number."""
        if self._compiled is None:
            self._compiled = compile_formulas(self.formulas)
        return self._compiled(valuation)


class _Remainders:
    """Makes what is left of antecedents, and reads slots into it.

    ``states`` and ``inputs`` say which terms' values a slot gives.
    """

    def __init__(self, input_names: Collection[str]) -> None:
        self.states, self.inputs = Terms(), Terms()
        self._input_names = frozenset(input_names)
        self._keys: list[Key] = [("false",), ("true",)]
        self._numbers: dict[Key, int] = {("false",): FALSE, ("true",): TRUE}
        self._atoms: list[_Atom] = []
        self._depends: dict[int, dict[int, list[int]]] = {}
        self._left: dict[tuple[int, int, Values], int] = {}

    def of(self, formula: FNode) -> int:
        """A whole antecedent, of which nothing was read yet."""
        slots = self._slots(formula, {})
        choices: dict[FNode, Choice] = {}
        made: dict[FNode, int] = {}
        for node in _post_order(formula, lambda node: self._parts(node, slots, choices)):
            made[node] = self._made(node, slots, made, choices.get(node))
        return made[formula]

    def read(self, remainder: int, slot: int, values: Values) -> int:
        """``remainder`` once the terms of ``slot`` are known to have ``values``."""
        done: dict[int, int] = {}
        todo = [remainder]
        while todo:
            number = todo[-1]
            if number in done:
                todo.pop()
                continue
            terms = self._terms_read(number, slot)
            key = number, slot, tuple([values[term] for term in terms])
            found = self._left.get(key) if terms else number
            if found is None:
                missing = [child for child in self._children(number) if child not in done]
                if missing:
                    todo += missing
                    continue
                found = self._left[key] = self._read_one(number, slot, values, done)
            done[number] = found
            todo.pop()
        return done[remainder]

    def _terms_read(self, remainder: int, slot: int) -> Sequence[int]:
        """The terms of ``slot`` on which ``remainder`` depends, by number."""
        return self._depends_on(remainder).get(slot, ())

    def _depends_on(self, remainder: int) -> dict[int, list[int]]:
        """The terms on which ``remainder`` depends, by slot."""
        todo = [remainder] if remainder not in self._depends else []
        while todo:
            number = todo[-1]
            missing = [child for child in self._children(number) if child not in self._depends]
            if missing:
                todo += missing
                continue
            found: dict[int, set[int]] = {}
            for slot, term in self._places(number):
                found.setdefault(slot, set()).add(term)
            for child in self._children(number):
                for slot, terms in self._depends[child].items():
                    found.setdefault(slot, set()).update(terms)
            self._depends[number] = {slot: sorted(terms) for slot, terms in found.items()}
            todo.pop()
        return self._depends[remainder]

    def _places(self, number: int) -> Sequence[tuple[int, int]]:
        """The slots and terms that the remainder of this number reads itself, and are not known yet."""
        kind, *rest = self._keys[number]
        if kind == "term":
            return [(rest[0], rest[1])]
        if kind != "atom":
            return ()
        return [place for place, known in zip(self._atoms[rest[0]].places, rest[1], strict=True) if known is None]

    def reads(self, remainder: int) -> tuple[list[int], list[int]]:
        """The terms of states, and those of inputs, on which ``remainder`` depends, by number."""
        found: tuple[set[int], set[int]] = (set(), set())
        for slot, terms in self._depends_on(remainder).items():
            found[slot % 2].update(terms)
        return sorted(found[0]), sorted(found[1])

    def _read_one(self, number: int, slot: int, values: Values, done: dict[int, int]) -> int:
        kind, *rest = self._keys[number]
        if number in (FALSE, TRUE):
            return number
        if kind == "term":
            return number if rest[0] != slot else TRUE if values[rest[1]] else FALSE
        if kind == "atom":
            return self._atom(rest[0], self._atoms[rest[0]].known(rest[1], slot, values))
        return self._node(kind, [done[child] for child in rest])

    def _children(self, number: int) -> Sequence[int]:
        kind, *rest = self._keys[number]
        return () if kind in ("term", "atom") else rest

    def _slots(self, formula: FNode, slots: dict[FNode, int]) -> dict[FNode, int]:
        """``slots`` with, for each node too, the one slot that it reads, or that there is none or more than one."""
        for node in _post_order(formula, lambda node: [a for a in node.args() if a not in slots]):
            if node.is_symbol():
                name, step = unframed(node)
                slots[node] = 2 * step + (name in self._input_names)
            else:
                below = {slots[a] for a in node.args()} - {_CONSTANT}
                slots[node] = _CONSTANT if not below else _MIXED if len(below) > 1 else below.pop()
        return slots

    def _parts(self, node: FNode, slots: dict[FNode, int], choices: dict[FNode, Choice]) -> Sequence[FNode]:
        """The parts that become remainders of their own. Relations that are choices between others are added to
        ``choices``."""
        if slots[node] != _MIXED or _is_connective(node):
            return node.args() if slots[node] == _MIXED else ()
        if node not in choices:
            choices.update(self._choices(node, slots))
        return choices.get(node, ())

    def _choices(self, relation: FNode, slots: dict[FNode, int]) -> dict[FNode, Choice]:
        """``relation`` as a choice between two, and these too, down to relations that read one slot each.

        What a relation between numbers reads of a slot tells apart as many states as there are numbers; one that reads
        one slot is a truth value. Nothing where more than ``MOST_CHOICES`` are needed, or choices do not do.
        """
        found: dict[FNode, Choice] = {}
        todo = [relation]
        while todo:
            node = todo.pop()
            if slots[node] != _MIXED or node in found:
                continue
            choice = _choice_within(node, slots)
            if choice is None or len(found) == MOST_CHOICES:
                return {}
            condition, *values = choice.args()
            found[node] = condition, *(with_terms([node], {choice: value})[0] for value in values)
            for part in found[node]:
                self._slots(part, slots)
            todo += found[node][1:]
        return found

    def _made(self, node: FNode, slots: dict[FNode, int], made: dict[FNode, int], choice: Choice | None) -> int:
        slot = slots[node]
        if slot == _CONSTANT:
            return TRUE if compile_formulas([node])({})[0] else FALSE
        if slot != _MIXED:
            return self._number(("term", slot, self._terms(slot).number(node)))
        if choice is not None:
            return self._node("ite", [made[part] for part in choice])
        if not _is_connective(node):
            self._atoms.append(_Atom(self._pieces(node, slots), node))
            return self._atom(len(self._atoms) - 1, (None,) * len(self._atoms[-1].places))
        arguments = [made[a] for a in node.args()]
        if node.is_implies():
            return self._node("or", [self._node("not", arguments[:1]), arguments[1]])
        return self._node(op.op_to_str(node.node_type()).lower(), arguments)

    def _pieces(self, atom: FNode, slots: dict[FNode, int]) -> dict[FNode, tuple[int, int]]:
        """The largest parts of ``atom`` that read one slot each: their slots and term numbers."""
        inner = list(_post_order(atom, lambda node: node.args() if slots[node] == _MIXED else ()))
        pure = [node for node in inner if slots[node] >= 0]
        return {node: (slots[node], self._terms(slots[node]).number(node)) for node in pure}

    def _terms(self, slot: int) -> Terms:
        return self.inputs if slot % 2 else self.states

    def _atom(self, atom: int, known: tuple[int | None, ...]) -> int:
        if None in known:
            return self._number(("atom", atom, known))
        return TRUE if self._atoms[atom].holds(known) else FALSE

    def _node(self, kind: str, arguments: Sequence[int]) -> int:
        """The simplified remainder of a connective."""
        if kind == "not":
            return self._negation(arguments[0])
        if kind in ("and", "or"):
            neutral, final = (TRUE, FALSE) if kind == "and" else (FALSE, TRUE)
            left = sorted(set(arguments) - {neutral})
            if final in left or not left:
                return final if left else neutral
            return left[0] if len(left) == 1 else self._number((kind, *left))
        if kind == "iff":
            first, second = sorted(arguments)
            if first == second:
                return TRUE
            if first in (FALSE, TRUE):
                return second if first == TRUE else self._negation(second)
            return self._number((kind, first, second))
        condition, yes, no = arguments
        if condition in (FALSE, TRUE):
            return yes if condition == TRUE else no
        return yes if yes == no else self._number((kind, condition, yes, no))

    def _negation(self, number: int) -> int:
        if number in (FALSE, TRUE):
            return TRUE - number
        key = self._keys[number]
        return int(key[1]) if key[0] == "not" else self._number(("not", number))

    def _number(self, key: Key) -> int:
        if key not in self._numbers:
            self._numbers[key] = len(self._keys)
            self._keys.append(key)
        return self._numbers[key]


class _Atom:
    """A relation between values of several slots: ``pieces`` are its parts that read one slot each."""

    def __init__(self, pieces: dict[FNode, tuple[int, int]], formula: FNode) -> None:
        self.places = tuple(pieces.values())
        symbols = {part: FreshSymbol(part.get_type()) for part in pieces}
        self._names = [symbol.symbol_name() for symbol in symbols.values()]
        self._holds = compile_formulas([formula.substitute(symbols)])

    def known(self, before: tuple[int | None, ...], slot: int, values: Values) -> tuple[int | None, ...]:
        """The pieces' values, None where not known, once ``slot`` was read."""
        fresh = zip(before, self.places, strict=True)
        return tuple(values[term] if place == slot else old for old, (place, term) in fresh)

    def holds(self, values: Sequence[int | None]) -> bool:
        return bool(self._holds(dict(zip(self._names, values, strict=True)))[0])  # type: ignore[arg-type]


def _choice_within(relation: FNode, slots: dict[FNode, int]) -> FNode | None:
    """An outermost if-then-else of numbers in ``relation`` that reads several slots, or chooses a constant."""
    todo, met = [relation], {relation}
    for node in todo:
        if node.is_ite() and (slots[node] == _MIXED or any(slots[a] == _CONSTANT for a in node.args()[1:])):
            return node
        fresh = [a for a in node.args() if slots[a] != _CONSTANT and a not in met] if slots[node] == _MIXED else []
        todo += fresh
        met.update(fresh)
    return None


def _is_connective(node: FNode) -> bool:
    """A connective of Booleans, and not an if-then-else of numbers."""
    return node.node_type() in _CONNECTIVES and (not node.is_ite() or node.arg(1).get_type().is_bool_type())


def _post_order(formula: FNode, arguments: Callable[[FNode], Iterable[FNode]]) -> Iterable[FNode]:
    """Every node under ``formula`` once, its ``arguments`` before it."""
    order: dict[FNode, None] = {}
    stack = [(formula, False)]
    while stack:
        node, expanded = stack.pop()
        if expanded:
            order[node] = None
        elif node not in order:
            stack.append((node, True))
            stack.extend((a, False) for a in arguments(node) if a not in order)
    return order

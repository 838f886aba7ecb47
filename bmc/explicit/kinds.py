"""Kinds of states: in all states of a kind the same inputs do the same.

What a step makes of the state alone, and decides something by beside inputs, tells kinds of states from each other. In
a state of a kind two inputs lead to the same state, and meet the same conditions, wherever they pick the same terms
over the state alone, whatever values these have, and agree in all else. So the inputs that stand for all others are
found once for each kind, and tried in all of its states: a counter of thousands of values that a step counts up, sets
back or compares with a limit has as many kinds as the comparison has outcomes.

As a part of a C program (``kinds.c``) formulas are written so that they are evaluated as far as they matter: a choice
reads its condition and one branch, a conjunction ends with the first part that is false. So few inputs are told apart
where most of them do not matter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import prod

import numpy as np
import pysmt.operators as op
from pysmt.fnode import FNode
from pysmt.shortcuts import BV

from bmc.evaluation.vectors import Column, Program, walk
from bmc.explicit.input_classes import MOST_VALUES, InputTables, largest_terms
from bmc.explicit.rows import Rows, first_of_each
from bmc.formulas.evaluate import names_in
from bmc.formulas.folding import constant_like
from bmc.formulas.lifting import Branches, lifted
from bmc.formulas.terms import is_constant
from bmc.native.kernel import NoTranslation, arguments_of, bits_of, declarations, expression, ordered, word_of
from bmc.system.transition import conjuncts

NUMBER_BITS = 32
"""Bits of the number of a term over the state alone."""

_ONE_TO_ONE = (op.BV_ADD, op.BV_SUB, op.BV_XOR)


def kinds(allowed: FNode, formulas: Sequence[FNode], states: Collection[FNode]) -> tuple[FNode, list[FNode]]:
    """Whether an input is ``allowed``, and terms that tell what ``formulas`` come to: which term over the symbols
    ``states`` alone each of them is, and what else decides its value.

    Two states are of one kind if the parts of all these terms that are over ``states`` alone have the same values in
    both. Two inputs for which the terms have the same values in a state give each of the ``formulas`` the same value in
    every state of its kind.
    """
    allowed, *formulas = lifted([allowed, *formulas])
    picks = _Picks(states)
    found = dict.fromkeys(term for formula in formulas for term in picks.of(formula))
    return allowed, [term for term in found if not is_constant(term)]


class _Picks:
    """Formulas as choices among terms over the state alone, which get numbers, and others."""

    def __init__(self, states: Collection[FNode]) -> None:
        self._states = states
        self._reads: dict[FNode, tuple[bool, bool]] = {}
        self._numbers: dict[Hashable, int] = {}

    def of(self, formula: FNode) -> tuple[FNode, ...]:
        """The number of the term that ``formula`` is, 0 where it is none, and what decides its value there."""
        number = Branches(self._reads_inputs).over(formula, lambda term: BV(self._number_of(term), NUMBER_BITS))
        value = Branches(self._reads_inputs).over(formula, self._rest_of)
        return (formula,) if number is None or value is None else (number, value)

    def _number_of(self, term: FNode) -> int:
        """The number of a branch: one for each term over the state alone, and for each operation with one that is
        one-to-one in what else it is done with."""
        key = self._key(term)
        return 0 if key is None else self._numbers.setdefault(key, len(self._numbers) + 1)

    def _rest_of(self, term: FNode) -> FNode:
        """What decides the value of a branch beside its number."""
        key = self._key(term)
        if key is None:
            return term
        if not self._reads_inputs(term):
            return constant_like(term, 0)
        return next(argument for argument in term.args() if self._reads_inputs(argument))

    def _key(self, term: FNode) -> Hashable | None:
        """What tells the number of a branch; None where it has none."""
        state, given = self._read(term)
        if state and not given:
            whole: Hashable = term
            return whole
        if term.node_type() not in _ONE_TO_ONE or arguments_of(term) != tuple(term.args()):
            return None
        own = [argument for argument in term.args() if not self._reads_inputs(argument)]
        if len(term.args()) != 2 or len(own) != 1 or is_constant(own[0]):
            return None
        return term.node_type(), own[0], term.args().index(own[0])

    def _reads_inputs(self, term: FNode) -> bool:
        return self._read(term)[1]

    def _read(self, term: FNode) -> tuple[bool, bool]:
        """Whether ``term`` reads the state, and whether it reads inputs."""
        if term not in self._reads:
            for node in ordered([term], self._reads):
                if node not in self._reads:
                    own = node.is_symbol()
                    below = [self._reads[argument] for argument in arguments_of(node)]
                    state = node in self._states if own else any(state for state, _ in below)
                    given = node not in self._states if own else any(given for _, given in below)
                    self._reads[node] = state, given
        return self._reads[term]


def allowed_tables(tables: InputTables, allowed: FNode) -> list[Rows]:
    """For each group of inputs its cases that ``allowed`` does not exclude by themselves; all where it excludes all."""
    found = []
    for table in tables.tables:
        names = {name for name in table.columns if not name.startswith("input#")}
        kept = np.ones(len(table), bool)
        for part in conjuncts(allowed):
            if names_in([part]) and names_in([part]) <= names:
                kept &= np.broadcast_to(Program([part])(table.columns)[0], kept.shape)
        rows = table.which(np.flatnonzero(kept)) if kept.any() else table
        found.append(Rows({name: rows.columns[name] for name in names}, len(rows)))
    return found


def every_case(tables: Sequence[Rows], formulas: Sequence[FNode]) -> Column:
    """The cases of each group, of the first one of all inputs that no term over inputs alone in ``formulas`` tells
    apart; none where there are too many combinations to be compared."""
    size = prod(len(table) for table in tables)
    if not tables or size > MOST_VALUES:
        return np.zeros((0, len(tables)), np.int64)
    places = np.unravel_index(np.arange(size), [len(table) for table in tables])
    columns = {
        name: values[place]
        for table, place in zip(tables, places, strict=True)
        for name, values in table.columns.items()
    }
    order = walk(formulas)
    own = {node: True for node in order if node.is_symbol() and node.symbol_name() in columns}
    terms = Program(list(largest_terms(order, set(formulas), own)))(columns)
    kept = first_of_each([np.broadcast_to(values, (size,)) for values in terms], np.ones(size, bool))
    return np.stack([place[kept] for place in places], axis=1)


class KindsText:
    """The text for ``allowed`` and ``picked`` of ``bmc.explicit.kinds``, with inputs of ``tables``, one for each group.

    ``names`` has the C expressions of what depends on a state alone, the symbols of state among them, as members of
    ``here``, and those of inputs, for case number ``at`` of their group. What the text finds in the array ``data`` is
    added to ``data``.
    """

    def __init__(
        self, allowed: FNode, picked: Sequence[FNode], tables: Sequence[Rows], names: Mapping[FNode, str], data: Data
    ) -> None:
        self._allowed, self._picked, self._tables, self._names, self._data = allowed, picked, tables, names, data
        group = {name: place for place, table in enumerate(tables) for name in table.columns}
        self._groups: dict[FNode, frozenset[int]] = {}
        self._on_state: dict[FNode, bool] = {}
        for node in ordered([allowed, *picked]):
            below = arguments_of(node)
            own = [group[node.symbol_name()]] if node.is_symbol() and node.symbol_name() in group else []
            self._groups[node] = frozenset(own).union(*(self._groups[each] for each in below))
            self._on_state[node] = any(self._on_state[each] for each in below) or (node.is_symbol() and not own)
        self._parts = self._largest()

    def lines(self, told: Sequence[FNode]) -> Iterator[str]:
        """All that ``kinds.c`` needs before it, but for ``Given``; ``told``: the terms by which kinds are told."""
        size, lines = in_words([(self._names[node], bits_of(node)) for node in told])
        yield f"#define TOLD {size}"
        yield "static inline void tell(const Here *here, u64 *word) {"
        yield from lines
        yield "}"
        yield f"#define GROUPS {len(self._tables)}"
        yield f"static const int group_size[] = {{{', '.join([*(str(len(table)) for table in self._tables), '0'])}}};"
        yield from self._part_tables()
        yield f"#define PICKED {in_words([('', bits_of(term)) for term in self._picked])[0]}"
        cases = every_case(self._tables, [self._allowed, *self._picked])
        yield f"#define EVERY {len(cases)}ull"
        yield f"static const long every_input = {self._data.place(cases.reshape(-1))};"

    def pick(self) -> Iterator[str]:
        """What comes after it: what an input does, evaluated as far as it matters."""
        parts = {node: place for place, node in enumerate(self._parts)}
        order = ordered([self._allowed, *self._picked], parts)
        read = Counter([self._allowed, *self._picked])
        for node in order:
            if node not in parts:
                read.update(_read(node))
        names: dict[FNode, str] = {}
        for node in order:
            if node in parts:
                names[node] = f"part({parts[node]})"
            elif not self._groups[node]:
                names[node] = self._state_name(node, names)
            elif read[node] == 1:
                names[node] = f"(({word_of(node)})({_lazily(node, names)}))"
            else:
                names[node] = f"term{len(names)}()"
                yield f"static {word_of(node)} term{len(names) - 1}(void) {{"
                yield "  const Here *here = trial.here;"
                yield f"  static {word_of(node)} value;"
                yield "  static u64 round;"
                yield f"  if (round != trial.round) {{ value = {_lazily(node, names)}; round = trial.round; }}"
                yield "  return value;"
                yield "}"
        yield "static int pick(u64 *word) {"
        yield "  const Here *here = trial.here;"
        yield f"  if (!{names[self._allowed]}) return 0;"
        yield from in_words([(names[term], bits_of(term)) for term in self._picked])[1]
        yield "  return 1;"
        yield "}"

    def _state_name(self, node: FNode, names: Mapping[FNode, str]) -> str:
        """The C expression of a term without inputs; of one within a larger one that has a name it is not needed."""
        return self._names.get(node, "") if self._on_state[node] else f"({expression(node, names)})"

    def _largest(self) -> list[FNode]:
        """The largest terms that read inputs of one group alone, group by group."""
        found: dict[FNode, None] = {}
        todo = [self._allowed, *self._picked]
        met = {*todo}
        for node in todo:
            if len(self._groups[node]) == 1:
                found[node] = None
            elif self._groups[node]:
                fresh = [each for each in dict.fromkeys(arguments_of(node)) if each not in met]
                met.update(fresh)
                todo += fresh
        return sorted(found, key=lambda node: min(self._groups[node]))

    def _part_tables(self) -> Iterator[str]:
        """The values of the terms over one group, case by case: known before, or for a state."""
        groups = [min(self._groups[node]) for node in self._parts]
        first = [sum(group < each for group in groups) for each in range(len(self._tables) + 1)]
        places = []
        for number, (node, group) in enumerate(zip(self._parts, groups, strict=True)):
            if bits_of(node) > 64:
                raise NoTranslation(f"a term over inputs has {bits_of(node)} bits")
            if self._on_state[node]:
                yield from self._of_state(number, node)
                places.append(-1)
            else:
                rows = self._tables[group]
                places.append(self._data.place(np.broadcast_to(Program([node])(rows.columns)[0], (len(rows),))))
        yield f"#define PARTS {len(self._parts)}"
        yield f"#define MOST_PARTS {max([1, *(after - begin for begin, after in pairwise(first))])}"
        yield f"static const int first_part[] = {{{', '.join(map(str, first))}}};"
        yield f"static const int part_group[] = {{{''.join(f'{group}, ' for group in groups)}0}};"
        yield f"static const long part_data[] = {{{''.join(f'{place}, ' for place in places)}0}};"
        yield "static void (*const part_of_state[])(const Here *, u64 *) = {"
        yield "".join(f"part{number}, " if place < 0 else "0, " for number, place in enumerate(places)) + "0};"

    def _of_state(self, number: int, node: FNode) -> Iterator[str]:
        """The values of a term over one group and the state, for all cases."""
        group = min(self._groups[node])
        order = ordered([node], [each for each in self._names if not each.is_symbol()])
        names = {each: self._names[each] for each in order if each in self._names}
        yield f"static void part{number}(const Here *here, u64 *value) {{"
        yield f"  for (int at = 0; at < {len(self._tables[group])}; at++) {{"
        yield from (f"    {line}" for line in declarations(order, names, "t"))
        yield f"    value[at] = {names[node]};"
        yield "  }"
        yield "}"


class Data:
    """Words of 64 bits for a program of our own, in an array called ``data``."""

    def __init__(self) -> None:
        self._columns: list[Column] = []
        self._size = 0

    def place(self, values: Column) -> int:
        """The place from which on the program finds ``values``."""
        begin, self._size = self._size, self._size + len(values)
        self._columns.append(values.astype(np.uint64))
        return begin

    def words(self) -> bytes:
        """All words, as the processor reads them."""
        return b"".join(column.tobytes() for column in self._columns)


def _read(node: FNode) -> Iterator[FNode]:
    """The arguments of ``node``, as often as its C expression has them."""
    marks = {argument: f"<{place}>" for place, argument in enumerate(dict.fromkeys(arguments_of(node)))}
    if marks:
        text = _lazily(node, marks)
        yield from (argument for argument, mark in marks.items() for _ in range(text.count(mark)))


def _lazily(node: FNode, names: Mapping[FNode, str]) -> str:
    """The C expression of ``node`` that reads no more than decides its value; of a conjunction or disjunction what has
    a name of its own comes last."""
    if node.is_and() or node.is_or():
        given = sorted((names[each] for each in arguments_of(node)), key=lambda text: text.endswith("()"))
        return (" && " if node.is_and() else " || ").join(given)
    if node.is_implies():
        return "!{} || {}".format(*(names[each] for each in node.args()))
    return expression(node, names)


def in_words(values: Sequence[tuple[str, int]]) -> tuple[int, list[str]]:
    """Values of so many bits (0: a Boolean) side by side in words of 64 bits: how many these are, and C lines that set
    them."""
    parts: list[list[str]] = [["0"]]
    used = 0
    for text, bits in values:
        for low in range(0, max(bits, 1), 64):
            size = min(max(bits, 1) - low, 64)
            if used + size > 64:
                parts.append([])
                used = 0
            parts[-1].append(f"(u64)({text} >> {low}) << {used}" if low else f"(u64){text} << {used}")
            used += size
    return len(parts), [f"  word[{at}] = {' | '.join(part)};" for at, part in enumerate(parts)]

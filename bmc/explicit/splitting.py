"""Which values of variables a set of formulas tells apart, found case by case and not by trying all combinations.

The variables get their values one after the other. After each, everything is evaluated as far as it is known: a choice
whose condition is known reads one branch only, a conjunction with a false part is false. Of cases in which the same is
left of the formulas the first stands for all, and a variable that nothing left over reads is not looked at. So the work
grows with the number of cases that can be told apart, not with the product of all values. All of it is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from operator import or_

import numpy as np
import pysmt.operators as op
from pysmt.fnode import FNode

from bmc.evaluation.vectors import Column, Operator, Program, arguments_of, bits_of, operator, walk, word
from bmc.explicit.rows import LOOKED_UP, NUMBERED, Rows, first_of_each, groups_of
from bmc.records import dataclass

Known = Column | None
"""In which rows a value is known; None: in all."""

CELLS = 1 << 23
"""Values that one evaluation may keep at once."""

FIXED = 256
"""An operation on an array costs as much as on so many values, and then as many as it has."""

_SEVERAL_PASSES = 4
"""Operations on a value that evaluating it partly, and looking for what is left, takes."""

_NOWHERE = np.zeros(1, bool)


def _reached(starts: Iterable[int], following: Callable[[int], Iterable[int]]) -> Iterator[int]:
    """The places that are reached from ``starts``, each once."""
    todo = list(dict.fromkeys(starts))
    seen = set(todo)
    while todo:
        place = todo.pop()
        yield place
        for after in following(place):
            if after not in seen:
                seen.add(after)
                todo.append(after)


class PartialProgram:
    """Evaluates ``roots`` where values of some ``leaves`` (terms, with their names) and symbols are not known."""

    def __init__(self, roots: Sequence[FNode], leaves: Mapping[FNode, str] | None = None) -> None:
        given = leaves or {}
        self._order = walk(roots, given)
        places = {node: place for place, node in enumerate(self._order)}
        self.roots = [places[root] for root in roots]
        self.names: dict[str, int] = {}
        self._constants: dict[int, Column] = {}
        self._operations: list[tuple[int, int, Operator, tuple[int, ...]]] = []
        for place, node in enumerate(self._order):
            if node in given:
                self.names[given[node]] = place
            elif node.is_constant():
                self._constants[place] = np.array([int(node.constant_value())], word(bits_of(node)))
            elif node.is_symbol():
                self.names[node.symbol_name()] = place
            else:
                arguments = arguments_of(node)
                same = arguments == tuple(node.args())
                kind = node.node_type() if same else -1
                self._operations.append((place, kind, operator(node), tuple(places[a] for a in arguments)))
        self._nothing = {place: np.zeros(1, word(bits_of(self._order[place]))) for place in self.names.values()}
        self._below = {place: arguments for place, _, _, arguments in self._operations}
        self._joining = {place for place, kind, _, _ in self._operations if kind in _CONNECTIVES}
        self.size = len(self._operations)

    def evaluate(self, columns: Mapping[str, Column], known: Mapping[str, Known]) -> Evaluation:
        """``columns`` that are missing are not known anywhere; of others ``known`` tells where, missing: everywhere."""
        values: list[Column] = [_NOWHERE] * len(self._order)
        sure: list[Known] = [None] * len(self._order)
        for place, constant in self._constants.items():
            values[place] = constant
        for name, place in self.names.items():
            if name in columns:
                values[place], sure[place] = columns[name], known.get(name)
            else:
                values[place], sure[place] = self._nothing[place], _NOWHERE
        for place, kind, function, arguments in self._operations:
            parts = [values[a] for a in arguments]
            values[place] = function(*parts)
            if any(sure[a] is not None for a in arguments):
                sure[place] = _known(kind, parts, [sure[a] for a in arguments])
        return Evaluation(values, sure)

    def left(self, done: Evaluation, roots: Sequence[int]) -> tuple[dict[int, Column], list[Column]]:
        """What ``roots`` (their numbers) still depend on: in which rows, for each place; and all that decides the rest.

        Rows that agree in the second agree in the roots for all values of what is not known.
        """
        open_at: dict[int, Column] = {}
        used_at: dict[int, Column] = {}
        neutral_at: dict[int, Column] = {}
        decides: list[Column] = []
        for number in roots:
            place = self.roots[number]
            sure = done.known[place]
            if sure is None:
                decides.append(done.values[place])
                continue
            decides += [sure, np.where(sure, done.values[place], np.zeros(1, done.values[place].dtype))]
            _mark(open_at, place, ~sure)
        for place, kind, _, arguments in reversed(self._operations):
            here = open_at.get(place)
            if here is None:
                continue
            for position, argument in enumerate(arguments):
                needed, sure = here, done.known[argument]
                if kind == op.ITE and position:
                    needed = self._branch(done, arguments[0], position, here)
                if sure is None:
                    if argument not in self._constants:
                        _mark(neutral_at if kind in _NEUTRAL else used_at, argument, needed)
                    continue
                _mark(open_at, argument, needed & ~sure)
                _mark(neutral_at if kind in _NEUTRAL else used_at, argument, needed & sure)
        decides += neutral_at.values()
        for place, mask in used_at.items():
            value = done.values[place]
            decides += [mask, np.where(mask, value, np.zeros(1, value.dtype))]
        return open_at, decides

    def seeing(self, own: Sequence[int], later: Sequence[int]) -> _Seeing:
        """The largest terms, but for connectives and choices, that read a place of ``own`` and none of ``later``."""
        reads = self._reading(own, later)
        found = self._largest(reads)
        others = self._read_beside(found, reads)
        names = [f"other#{number}" for number in range(len(others))]
        leaves = {self._order[place]: name for place, name in zip(others, names, strict=True)}
        given = {place: name for name, place in self.names.items()}
        leaves.update((self._order[place], given[place]) for place in own)
        program = Program([self._order[place] for place in found], leaves)
        return _Seeing(found, others, names, program)

    def _largest(self, reads: Sequence[int]) -> list[int]:
        """The largest terms that are no connectives or choices, of those whose ``reads`` are 1: of ``own`` alone."""
        found = {place for place, read in enumerate(reads) if read == 1} - self._joining
        below = {place: self._below[place] for place in self._below.keys() - found if reads[place] & 1}
        return [place for place in _reached(self.roots, lambda place: below.get(place, ())) if place in found]

    def _read_beside(self, places: Sequence[int], reads: Sequence[int]) -> list[int]:
        """The largest terms below ``places`` for which ``reads`` has no bits, but for constants."""
        others: dict[int, None] = {}
        for place in _reached(places, lambda place: [a for a in self._below.get(place, ()) if reads[a]]):
            below = self._below.get(place, ())
            others.update((a, None) for a in below if not reads[a] and a not in self._constants)
        return list(others)

    def _reading(self, own: Sequence[int], later: Sequence[int]) -> list[int]:
        """For each place whether it reads one of ``own`` (bit 0), and one of ``later`` (bit 1)."""
        reads = [0] * len(self._order)
        for place in later:
            reads[place] |= 2
        for place in own:
            reads[place] |= 1
        for place, _, _, arguments in self._operations:
            for argument in arguments:
                reads[place] |= reads[argument]
        return reads

    def _branch(self, done: Evaluation, condition: int, position: int, here: Column) -> Column:
        """The rows of ``here`` in which this branch of a choice may be taken."""
        value, sure = done.values[condition], done.known[condition]
        taken = value if position == 1 else ~value
        return here & (taken if sure is None else taken | ~sure)


@dataclass(frozen=True)
class Evaluation:
    """By place the values, and where they are known."""

    values: list[Column]
    known: list[Known]


_NEUTRAL = (op.AND, op.OR)
_CONNECTIVES = frozenset((op.AND, op.OR, op.NOT, op.IMPLIES, op.IFF, op.ITE))
_ABSORBED = (op.BV_AND, op.BV_MUL)


def _mark(masks: dict[int, Column], place: int, mask: Column) -> None:
    if mask.any():
        masks[place] = masks[place] | mask if place in masks else mask


def _all(sure: Sequence[Known]) -> Column:
    parts = [part for part in sure if part is not None]
    found = parts[0]
    for part in parts[1:]:
        found = found & part
    return found


def _known(kind: int, values: Sequence[Column], sure: Sequence[Known]) -> Known:
    """Where the result of an operation is known; not all arguments are known everywhere."""
    if kind == op.ITE:
        condition, then, other = (np.ones(1, bool) if part is None else part for part in sure)
        same = then & other & (values[1] == values[2])
        found = (condition & np.where(values[0], then, other)) | same
    else:
        found = _all(sure)
        for value, part in zip(values, sure, strict=True):
            if kind == op.AND or kind in _ABSORBED:
                decided = ~value if kind == op.AND else value == 0
            elif kind == op.OR or (kind == op.IMPLIES and value is values[1]):
                decided = value
            elif kind == op.IMPLIES:
                decided = ~value
            else:
                break
            found = found | (decided if part is None else decided & part)
    return None if found.all() else found


@dataclass(frozen=True)
class Cases:
    """``source``: the given row of each case; ``choices``: for each variable the row of its table; the roots' values.

    Of a variable that is not looked at the first row is chosen.
    """

    source: Column
    choices: list[Column]
    values: list[Column]
    known: list[Column]

    def which(self, kept: Column) -> Cases:
        """Some of the cases."""
        choices, values, known = ([column[kept] for column in part] for part in (self.choices, self.values, self.known))
        return Cases(self.source[kept], choices, values, known)


class TooManyCases(Exception):
    """More cases than may be kept."""


class Splitter:
    """Tells the cases of ``roots`` over ``variables``, each given as the table of its values (columns by leaf name).

    ``required``: the number of the root that has to be true: cases in which it is false are left out.
    """

    def __init__(
        self,
        roots: Sequence[FNode],
        variables: Sequence[Rows],
        leaves: Mapping[FNode, str] | None = None,
        required: int | None = None,
    ) -> None:
        self.program = PartialProgram(roots, leaves)
        self._variables, self._required = variables, required
        names = self.program.names
        self._places = [[names[name] for name in rows.columns if name in names] for rows in variables]
        self._roots = range(len(roots))
        self._terms: dict[int, _Seeing] = {}
        self._together = max(1, CELLS // (self.program.size + 1))

    def split(
        self, columns: Mapping[str, Column], known: Mapping[str, Known], size: int, most: int
    ) -> Iterator[int | Cases]:
        """Yields the work done, now and then, and at last the cases of each of ``size`` rows of ``columns``.

        TooManyCases where more than ``most`` are under way.
        """
        given = _Given(columns, known)
        source, choices = yield from self._rows(given, size, most)
        yield from self._cases(given, source, choices)

    def rows(self, most: int) -> Iterator[int | list[Column]]:
        """Yields the work done, now and then, and at last for each variable the rows of its table that make cases in
        which different things are left of the roots, where nothing else is known. TooManyCases as for ``split``."""
        yield (yield from self._rows(_Given({}, {}), 1, most))[1]

    def _rows(self, given: _Given, size: int, most: int) -> Generator[int, None, tuple[Column, list[Column]]]:
        """The different cases of each of ``size`` rows: the given row, and the row of each variable's table."""
        nothing = np.zeros(size, np.int64)
        kept = yield from self._reduced(given, [(np.arange(size), [nothing] * len(self._variables))], 0)
        for place in range(len(self._variables)):
            if any(part.needed[place].any() for part in kept):
                more: list[tuple[Column, list[Column]]] = []
                for part in kept:
                    more += yield from self._extended(given, part, place, most)
                kept = yield from self._reduced(given, more, place + 1)
                if sum(len(part.source) for part in kept) > most:
                    raise TooManyCases
        source = np.concatenate([part.source for part in kept])
        choices = [np.concatenate(parts) for parts in zip(*(part.choices for part in kept), strict=True)]
        order = np.lexsort([*reversed(choices), source])
        return source[order], [choice[order] for choice in choices]

    def _cases(self, given: _Given, source: Column, choices: list[Column]) -> Iterator[int | Cases]:
        values: list[list[Column]] = []
        known: list[list[Column]] = []
        for first in range(0, max(len(source), 1), self._together):
            part = slice(first, first + self._together)
            yield self.work(len(source[part]))
            done = self._evaluated(given, source[part], [choice[part] for choice in choices], len(choices))
            shape = source[part].shape
            values.append([np.broadcast_to(done.values[place], shape) for place in self.program.roots])
            sure = [done.known[place] for place in self.program.roots]
            known.append([np.broadcast_to(np.ones(1, bool) if part is None else part, shape) for part in sure])
        found = Cases(source, choices, _joined(values), _joined(known))
        told = [
            *found.known,
            *(np.where(k, v, np.zeros(1, v.dtype)) for v, k in zip(found.values, found.known, strict=True)),
        ]
        yield found.which(first_of_each([source, *told], np.ones(len(source), bool)))

    def _reduced(self, given: _Given, parts: Sequence[tuple[Column, list[Column]]], chosen: int) -> _Reducing:
        """The different cases among ``parts``, once more where several small parts are left of them."""
        kept: list[_Part] = []
        for source, choices in parts:
            yield self.work(len(source))
            kept.append(self._distinct(given, source, choices, chosen))
        if len(kept) > 1 and len(joined := self._regrouped(kept)) < len(kept):
            return (yield from self._reduced(given, joined, chosen))
        return kept

    def _regrouped(self, parts: Sequence[_Part]) -> list[tuple[Column, list[Column]]]:
        groups: list[list[_Part]] = []
        size = self._together + 1
        for part in parts:
            size += len(part.source)
            if size > self._together:
                groups.append([])
                size = len(part.source)
            groups[-1].append(part)
        return [
            (
                np.concatenate([part.source for part in group]),
                [np.concatenate(columns) for columns in zip(*(part.choices for part in group), strict=True)],
            )
            for group in groups
        ]

    def work(self, rows: int) -> int:
        """Operations that one look at so many rows takes: a pass is two operations on arrays or more for each term."""
        return _SEVERAL_PASSES * (self.program.size + 1) * (rows + 2 * FIXED)

    def _evaluated(self, given: _Given, source: Column, choices: Sequence[Column], chosen: int) -> Evaluation:
        """The values with the first ``chosen`` variables."""
        names = self.program.names
        columns = {name: column[source] for name, column in given.columns.items() if name in names}
        sure = {name: part if part is None else part[source] for name, part in given.known.items() if name in names}
        for rows, choice in zip(self._variables[:chosen], choices, strict=False):
            columns.update((name, column[choice]) for name, column in rows.columns.items() if name in names)
        return self.program.evaluate(columns, sure)

    def _distinct(self, given: _Given, source: Column, choices: list[Column], chosen: int) -> _Part:
        """The first of the rows with the same rest; and for each variable in which of them it is still needed."""
        done = self._evaluated(given, source, choices, chosen)
        possible = np.ones(len(source), bool)
        if self._required is not None:
            place = self.program.roots[self._required]
            sure = done.known[place]
            possible = np.broadcast_to(done.values[place] if sure is None else done.values[place] | ~sure, source.shape)
        open_at, decides = self.program.left(done, self._roots)
        kept = first_of_each([source, *decides], possible)
        masks = [[open_at[place] for place in places if place in open_at] for places in self._places]
        needed = [reduce(or_, some, np.zeros(len(source), bool))[kept] for some in masks]
        return _Part(source[kept], [choice[kept] for choice in choices], needed)

    def _extended(self, given: _Given, part: _Part, place: int, most: int) -> _Extending:
        """Each row with one value of each class of the variable at ``place`` where it is needed, in bearable parts.

        Of two values of a class no term that is known with this variable sees a difference in the row. TooManyCases
        where more than ``most`` come out.
        """
        needed = np.flatnonzero(part.needed[place])
        counts = np.ones(len(part.source), np.int64)
        classes: list[Column] = []
        contexts = np.zeros(0, np.int64)
        for first in range(0, len(needed), self._together):
            rows = needed[first : first + self._together]
            yield self.work(len(rows))
            context, found = yield from self._classes(given, part, place, rows)
            contexts = np.concatenate([contexts, context + len(classes)])
            classes += found
        sizes = np.array([len(one) for one in classes], np.int64)
        offsets = np.cumsum(sizes) - sizes
        flat = np.concatenate([np.zeros(0, np.int64), *classes])
        counts[needed] = sizes[contexts]
        begins = np.zeros(len(counts), np.int64)
        begins[needed] = offsets[contexts]
        ends = np.cumsum(counts)
        if ends.size and ends[-1] > most:
            raise TooManyCases
        pieces = []
        first = 0
        while first < len(counts):
            before = int(ends[first - 1]) if first else 0
            last = max(first + 1, int(np.searchsorted(ends, before + self._together, side="right")))
            here = counts[first:last]
            rows = np.repeat(np.arange(first, last), here)
            inside = np.arange(len(rows)) - np.repeat(ends[first:last] - here - before, here)
            more = [choice[rows] for choice in part.choices]
            chosen = np.zeros(len(rows), np.int64)
            varied = part.needed[place][rows]
            chosen[varied] = flat[begins[rows[varied]] + inside[varied]]
            more[place] = chosen
            pieces.append((part.source[rows], more))
            first = last
        return pieces

    def _classes(self, given: _Given, part: _Part, place: int, rows: Column) -> _Classing:
        """For each of ``rows`` the number of its classes of values; and these, the first of each class.

        Rows in which the terms that see the variable see the same of everything else have the same classes.
        """
        terms, table = self._seeing(place), self._variables[place]
        done = self._evaluated(given, part.source[rows], [choice[rows] for choice in part.choices], place)
        open_at, _ = self.program.left(done, self._roots)
        matters = [open_at.get(term, _NOWHERE) for term in terms.places]
        unknown = _NOWHERE
        others = [done.values[leaf] for leaf in terms.others]
        for sure in (done.known[leaf] for leaf in terms.others):
            unknown = unknown if sure is None else unknown | ~sure
        if unknown.any():
            return np.zeros(len(rows), np.int64), [np.arange(len(table))]
        shape = (len(rows),)
        kept = [np.broadcast_to(column, shape) for column in (*matters, *others)]
        first, context = groups_of(kept, len(rows))
        classes: list[Column] = []
        together = max(1, self._together // len(table))
        for begin in range(0, len(first), together):
            here = first[begin : begin + together]
            found = self._told_apart(terms, table, [column[here][:, None] for column in kept])
            cells, different = len(here) * len(table), sum(len(values) for values in found)
            yield (terms.program.size + 1) * (cells + FIXED) + LOOKED_UP * cells + NUMBERED * different
            classes += found
        return context, classes

    def _told_apart(self, terms: _Seeing, table: Rows, kept: list[Column]) -> list[Column]:
        """For each row of ``kept`` the rows of ``table`` that ``terms`` tell apart, the first of each class."""
        masks, others = kept[: len(terms.places)], kept[len(terms.places) :]
        columns = dict(zip(terms.names, others, strict=True))
        columns.update((name, column[None, :]) for name, column in table.columns.items())
        size = (len(kept[0]), len(table))
        flat = []
        for value, mask in zip(terms.program(columns), masks, strict=True):
            seen = np.where(mask, value, np.zeros(1, value.dtype))
            flat.append(np.broadcast_to(seen, size).ravel())
        source = np.repeat(np.arange(size[0]), size[1])
        found = first_of_each([source, *flat], np.ones(len(source), bool))
        ends = np.searchsorted(found // size[1], np.arange(size[0] + 1))
        values = found % size[1]
        return [values[ends[n] : ends[n + 1]] for n in range(size[0])]

    def _seeing(self, place: int) -> _Seeing:
        """The terms that see the variable at ``place`` and no later one."""
        if place not in self._terms:
            self._terms[place] = self.program.seeing(
                self._places[place], [p for q in self._places[place + 1 :] for p in q]
            )
        return self._terms[place]


@dataclass(frozen=True)
class _Given:
    columns: Mapping[str, Column]
    known: Mapping[str, Known]


@dataclass(frozen=True)
class _Part:
    """Some of the cases under way; for each variable in which of them it is needed."""

    source: Column
    choices: list[Column]
    needed: list[Column]


@dataclass(frozen=True)
class _Seeing:
    """Terms that see one variable, by their ``places``, as a ``program``; what else they read: ``others``, by name."""

    places: list[int]
    others: list[int]
    names: list[str]
    program: Program


_Classing = Generator[int, None, tuple[Column, list[Column]]]
_Extending = Generator[int, None, list[tuple[Column, list[Column]]]]
_Reducing = Generator[int, None, list[_Part]]


def _joined(parts: Sequence[Sequence[Column]]) -> list[Column]:
    return [np.concatenate(columns) for columns in zip(*parts, strict=True)]

"""States that runs have reached, told apart by which conditions of the program hold there, each with a way to it.

For each set of conditions one state is kept: that on the way to which most goals were covered, and of several the one
that was reached in the fewest steps (the cells of Go-Explore: Ecoffet et al., First return, then explore, 2021).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import numpy as np
from pysmt.fnode import FNode

from bmc.evaluation.vectors import Column, Columns, arguments_of, bits_of, column, walk, word
from bmc.explicit.batch import NEVER, Runs
from bmc.explicit.columns_in_c import evaluation
from bmc.formulas.folding import rebuilt
from bmc.formulas.terms import COMPARISONS, is_constant
from bmc.system.transition import TransitionSystem, Valuation

MOST = 256
"""Conditions by which states are told apart, at most. With twice as many, states of large programs are told apart that
differ in little, and choosing among them takes twice as long."""

KEPT = 1 << 16
"""States that are noted, with those in the place of which a better one came. With twice as many, choosing among them
takes twice as long."""

FINE = 4096
"""So many states are told apart by all conditions together, further ones by each two of them. With twice as many, a
sequence of events in which many conditions matter is followed further, and others wait for longer."""

SHORTER = 0.75
"""Part of the steps in which a state has to be reached to take the place of one."""

CHOICES = 8
"""Choices within choices of a term that are looked at, and values that it may have by them."""


def conditions(system: TransitionSystem, formulas: Sequence[FNode] = ()) -> list[FNode]:
    """The conditions on states that the step of ``system`` and ``formulas`` look at, and its Boolean variables; all are
    over plain symbols.

    Of a comparison that reads inputs these are the ones with what its sides may be by choices: an input that sets a
    counter back, say, before it is compared.
    """
    of_state = dict.fromkeys((var.symbol for var in system.inputs), False)
    found = {var.symbol: None for var in system.state if not bits_of(var.symbol)}
    values: dict[FNode, list[FNode]] = {}
    for node in walk([*formulas, *(var.next for var in system.state)]):
        _is_of_state(node, of_state)
        if node.node_type() not in COMPARISONS or tuple(node.args()) != tuple(arguments_of(node)):
            continue
        for sides in product(*(_values(side, values, CHOICES) for side in node.args())):
            if not all(is_constant(side) for side in sides):
                made = rebuilt(node, sides)
                found |= {made: None} if _is_of_state(made, of_state) else {}
        if len(found) >= MOST:
            break
    return list(found)[:MOST]


def _is_of_state(node: FNode, known: dict[FNode, bool]) -> bool:
    """Whether ``node`` reads no input, where that is ``known`` of most terms below it."""
    if node not in known:
        known[node] = all(_is_of_state(part, known) for part in node.args())
    return known[node]


def _values(term: FNode, known: dict[FNode, list[FNode]], deep: int) -> list[FNode]:
    """What the word ``term`` may be by the choices in it, so many of which are left out one within the other."""
    if term not in known:
        varying = [part for part in term.args() if not is_constant(part)]
        if not deep or (len(varying) != 1 and not term.is_ite()):
            known[term] = [term]
        elif term.is_ite():
            parts = (value for part in term.args()[1:] for value in _values(part, known, deep - 1))
            known[term] = list(dict.fromkeys(parts))[:CHOICES]
        else:
            own = _values(varying[0], known, deep - 1)
            known[term] = [rebuilt(term, [v if a is varying[0] else a for a in term.args()]) for v in own]
    return known[term]


def _best_of_each(keys: Column, counts: Column, depth: Column, valid: Column) -> Column:
    """Of the places ``valid`` for each key the one of most ``counts``, and of several that of least ``depth``."""
    _, group = np.unique(keys[valid], return_inverse=True)
    order = np.lexsort((depth[valid], -counts[valid], group))
    leads: Column = valid[order[np.flatnonzero(np.diff(group[order], prepend=-1))]]
    return np.sort(leads)


Inputs = Mapping[str, Column]
"""The inputs of steps, one after the other, by name."""


class Archive:
    """The states that runs of ``system`` have reached from the state ``start``, by number; that one is 0.

    ``covers`` has for each state which of so many ``goals`` a run to it covers, and ``steps`` how many it takes;
    ``most`` is how many were covered on the way to one. ``seen`` says of each condition whether it failed, and whether
    it held, in some state.
    """

    def __init__(self, system: TransitionSystem, goals: int, start: Valuation, formulas: Sequence[FNode] = ()) -> None:
        """``formulas``, over plain symbols, are looked at for conditions as well."""
        self.conditions = conditions(system, formulas)
        self._evaluate = evaluation(self.conditions)
        self._nodes = len(walk(self.conditions))
        self._states = {v.name: np.zeros(KEPT, word(v.type.bits)) for v in system.state}
        self._holds = np.zeros((KEPT, len(self.conditions)), bool)
        self.covers, self.steps = np.zeros((KEPT, goals), bool), np.zeros(KEPT, np.int64)
        self._ways: list[tuple[int, Inputs]] = []
        self._places: dict[bytes, int] = {}
        self._known: set[bytes] = set()
        self.most = -1
        self._pairs = np.zeros((2 * len(self.conditions), 2 * len(self.conditions)), bool)
        self.seen = np.zeros((2, len(self.conditions)), bool)
        states = {v.name: column([start[v.name]], v.type.bits)[None] for v in system.state}
        none = np.full((goals, 1), NEVER)
        self.add(np.zeros(1, np.int64), Runs(states, {}, 0, np.zeros(1, np.int64)), none, [], 0)

    @property
    def size(self) -> int:
        """Operations on columns that it takes to look at one step of runs."""
        return self._nodes + 4 * len(self.conditions)

    @property
    def kept(self) -> Column:
        """The numbers of the states that are kept, in the order in which they were first told apart."""
        return np.fromiter(self._places.values(), np.int64, len(self._places))

    @property
    def full(self) -> bool:
        """Whether no further states are noted."""
        return len(self._ways) >= KEPT

    def unseen(self) -> Iterator[tuple[FNode, bool]]:
        """The conditions, each with a value that it had in no state so far."""
        for value in (1, 0):
            for place in np.flatnonzero(~self.seen[value]).tolist():
                yield self.conditions[place], bool(value)

    def columns(self, numbers: Column) -> dict[str, Column]:
        """The states of these ``numbers``."""
        return {name: values[numbers] for name, values in self._states.items()}

    def state(self, number: int) -> Valuation:
        """The state of that number."""
        return {name: int(values[number]) for name, values in self._states.items()}

    def pieces(self, number: int) -> list[int]:
        """The states that the way to that one leads over, from the start on, itself the last."""
        way = [number]
        while way[-1]:
            way.append(self._ways[way[-1]][0])
        return way[::-1]

    def inputs(self, number: int) -> list[dict[str, int]]:
        """The inputs from the start to the state of that number."""
        found: list[dict[str, int]] = []
        for place in self.pieces(number)[1:]:
            before, columns = self._ways[place]
            rows = {name: values.tolist() for name, values in columns.items()}
            steps = int(self.steps[place] - self.steps[before])
            found += [{name: values[step] for name, values in rows.items()} for step in range(steps)]
        return found

    def last(self, numbers: Column, others: Columns, each: int) -> dict[str, Column]:
        """The last inputs on the way to the states of these ``numbers``, in one place of ``each``; the ``others`` else,
        and where there are none."""
        found = {name: values.copy() for name, values in others.items()}
        for place in range(0, len(numbers), each):
            for name, values in self._ways[int(numbers[place])][1].items():
                if len(values):
                    found[name][place] = values[-1]
        return found

    def endings(self, number: int) -> list[Inputs]:
        """The last parts of the way to the state of that number, each of about twice as many pieces as the one before,
        and all of it."""
        found, inputs = list[Inputs](), None
        pieces = self.pieces(number)[:0:-1]
        for count, piece in enumerate(pieces):
            own = self._ways[piece][1]
            inputs = own if inputs is None else {n: np.concatenate([own[n], inputs[n]]) for n in own}
            if (count & (count + 1) == 0 or count == len(pieces) - 1) and len(next(iter(inputs.values()), ())):
                found.append(inputs)
        return found

    def add(self, begun: Column, runs: Runs, first: Column, lead: Sequence[Inputs], offset: int) -> Column:
        """Keep what ``runs`` reach where it is new, or better than what was kept; the numbers of such states.

        They go on from the states ``begun``, a number for each, under the inputs ``lead`` of ``offset`` steps, part by
        part, and then their own. ``first`` has for each goal and run the step at which it is covered first, else
        ``NEVER``.
        """
        width = len(begun)
        flat = {name: np.ascontiguousarray(values).reshape(-1) for name, values in runs.states.items()}
        holds, keys = self._told_apart(flat, (runs.steps + 1) * width)
        steps = offset + np.arange(runs.steps + 1)[:, None]
        counts, depth = self._counts(begun, steps, first).reshape(-1), (self.steps[begun] + steps).reshape(-1)
        valid = np.flatnonzero((steps - offset <= runs.valid).reshape(-1))
        rows = self._better(_best_of_each(keys, counts, depth, valid), keys, counts, depth, holds)
        numbers = len(self._ways) + np.arange(len(rows))
        for name, values in flat.items():
            self._states[name][numbers] = values[rows]
        at, of = rows // width, rows % width
        self.covers[numbers] = self.covers[begun[of]] | (first[:, of] <= offset + at).T
        self._holds[numbers], self.steps[numbers] = holds[rows], depth[rows]
        self.seen |= np.array([(~holds[rows]).any(axis=0), holds[rows].any(axis=0)])
        for number, row, step, run in zip(numbers.tolist(), rows.tolist(), at.tolist(), of.tolist(), strict=True):
            parts = [*({n: v[:, run] for n, v in part.items()} for part in lead)]
            parts.append({n: v[:step, run] for n, v in runs.inputs.items()})
            self._ways.append((int(begun[run]), {n: np.concatenate([p[n] for p in parts]) for n in runs.inputs}))
            self._places[keys[row].tobytes()] = number
        return numbers

    def _told_apart(self, states: Columns, count: int) -> tuple[Column, Column]:
        """Which conditions hold in so many ``states``, by state, and what tells these apart."""
        holds = np.empty((count, len(self.conditions)), bool)
        for place, values in enumerate(self._evaluate(states)):
            holds[:, place] = values
        packed = np.packbits(np.concatenate([holds, np.ones((count, 1), bool)], axis=1), axis=1)
        return holds, packed.view(f"V{packed.shape[1]}").reshape(-1)

    def _better(self, rows: Column, keys: Column, counts: Column, depth: Column, holds: Column) -> Column:
        """Those of ``rows`` that are to be kept, as many as there is room for."""
        found = [
            n for n in rows.tolist() if self._is_better(keys[n].tobytes(), int(counts[n]), int(depth[n]), holds[n])
        ]
        return np.array(found[: KEPT - len(self._ways)], np.int64)

    def _is_better(self, key: bytes, count: int, steps: int, holds: Column) -> bool:
        """Whether a state is to be kept: it is the first in which two of the conditions are as they are, or better than
        the one that was told apart by the same conditions, or more goals were covered on the way than ever."""
        known = self._places.get(key)
        if known is not None:
            before = int(self.covers[known].sum())
            return count > before or (
                count == before and steps < (1 if count == self.most else SHORTER) * self.steps[known]
            )
        if count <= self.most and len(self._places) >= FINE:
            if key in self._known:
                return False
            if len(self._known) >= KEPT:
                self._known.clear()
            self._known.add(key)
            told = np.flatnonzero(np.r_[holds, ~holds])
            if self._pairs[np.ix_(told, told)].all():
                return False
            self._pairs[np.ix_(told, told)] = True
        self.most = max(self.most, count)
        return True

    def _counts(self, begun: Column, steps: Column, first: Column) -> Column:
        """How many goals each run has covered by each of ``steps``."""
        covers = self.covers[begun]
        found = np.repeat(covers.sum(axis=1)[None, :], len(steps), axis=0)
        for own, rows in zip(covers.T, first, strict=True):
            if (rows < NEVER).any():
                found += ~own & (rows <= steps)
        return found

    def rare(self, tried: Column, count: int) -> Column:
        """The ``count`` states in which most conditions are as in few others, the less the more was ``tried`` there."""
        kept = self.kept
        holds = self._holds[kept]
        ones, total = holds.sum(axis=0), len(kept)
        one, zero = (1 + np.log2(total / np.maximum(n, 1)) for n in (ones, total - ones))
        worth = (holds @ (one - zero) + zero.sum()) / (1 + tried[kept])
        found: Column = kept[np.argsort(-worth, kind="stable")[:count]]
        return found

    def varied(self, tried: Column, count: int) -> Column:
        """``count`` states, one after the other: of those in which that holds of the conditions, or does not, for which
        least was ``tried``, the one in which most are as in few others, the less the more was tried there."""
        kept = self.kept
        holds, times = self._holds[kept], tried[kept].astype(float)
        holds = np.concatenate([holds, ~holds], axis=1)
        often = holds.sum(axis=0)
        worth, spent = holds @ (1 + np.log2(len(kept) / np.maximum(often, 1))), times @ holds
        spent[often == 0] = np.inf
        found = list[int]()
        for _ in range(min(count, len(kept))):
            least = int(np.lexsort((often, spent))[0])
            best = int(np.where(holds[:, least], worth / (1 + times), -1.0).argmax())
            times[best] += 1
            spent += holds[best]
            found.append(best)
        return np.unique(kept[np.array(found, np.int64)])

    def rich(self, tried: Column, count: int) -> Column:
        """The ``count`` states on the way to which most goals were covered, of several those where less was tried."""
        kept = self.kept
        order = np.lexsort((self.steps[kept], tried[kept], -self.covers[kept].sum(axis=1)))
        found: Column = kept[order[:count]]
        return found

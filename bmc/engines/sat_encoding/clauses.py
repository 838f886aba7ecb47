"""Clauses of gates (G. Tseitin, 1968; one-sided where that is enough: D. Plaisted, S. Greenbaum, 1986).

A clause is a list of variables' numbers from 1, negative where inverted.

A clause template is made once and placed often by renaming. It may have several layers, each placed on its own, the
first first. Layers are preprocessed one by one, with every variable frozen that is read from outside its layer:
preprocessing keeps what clauses say of frozen ones only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from threading import Thread
from typing import Any

import numpy as np

from bmc.engines.sat_encoding.aig import AND, INPUT, ITE, XOR, Graph
from bmc.engines.sat_encoding.solver import Aside, Clause, owned

IMPLIES, IMPLIED, EQUIVALENT = 1, 2, 3
"""What a literal's variable must say: it implies the literal's value, is implied by it, or both."""


def polarities(graph: Graph, gates: Sequence[int], roots: Mapping[int, int]) -> dict[int, int]:
    """For each of ``gates`` (rising) that ``roots`` need, what its variable must say.

    ``roots`` says it for literals. Operands that are not among ``gates`` may occur in the result too.
    """
    needed: dict[int, int] = {}
    for literal, wanted in roots.items():
        needed[literal >> 1] = needed.get(literal >> 1, 0) | _turned(wanted, literal)
    for gate in reversed(gates):
        wanted = needed.get(gate, 0)
        if not wanted:
            continue
        kind = graph.kinds[gate]
        for place, operand in enumerate(graph.operands[gate]):
            both = kind == XOR or (kind == ITE and place == 0)
            needed[operand >> 1] = needed.get(operand >> 1, 0) | (EQUIVALENT if both else _turned(wanted, operand))
    return needed


def _turned(wanted: int, literal: int) -> int:
    """``wanted`` of a literal, told of its gate."""
    if not literal & 1 or wanted == EQUIVALENT:
        return wanted
    return IMPLIED if wanted == IMPLIES else IMPLIES


def flattened(graph: Graph, gates: Iterable[int], kept: Iterable[int]) -> dict[int, Sequence[int]]:
    """The operands of each of ``gates``, conjunctions of conjunctions made one where nothing else reads the inner.

    Gates in ``kept`` are read from elsewhere. Inner gates that went into others are left out.
    """
    found: dict[int, Sequence[int]] = {gate: graph.operands[gate] for gate in gates}
    uses: dict[int, int] = dict.fromkeys(kept, 2)
    for operands in found.values():
        for operand in operands:
            uses[operand >> 1] = uses.get(operand >> 1, 0) + 1
    for gate in list(found):
        if graph.kinds[gate] != AND:
            continue
        whole: list[int] = []
        for operand in found[gate]:
            inner = operand >> 1
            if not operand & 1 and uses[inner] == 1 and inner in found and graph.kinds[inner] == AND:
                whole.extend(found.pop(inner))
            else:
                whole.append(operand)
        found[gate] = whole
    return found


def clauses_of(
    graph: Graph, gates: Mapping[int, Sequence[int]], needed: Mapping[int, int], names: Mapping[int, int]
) -> list[Clause]:
    """The clauses of ``gates`` with their operands; ``names`` gives a gate's number (negative: inverted)."""
    found: list[Clause] = []
    for gate, operands in gates.items():
        kind, wanted = graph.kinds[gate], needed.get(gate, 0)
        if kind == INPUT or not wanted:
            continue
        out = names[gate]
        inputs = [-names[operand >> 1] if operand & 1 else names[operand >> 1] for operand in operands]
        if kind == AND:
            if wanted & IMPLIES:
                found += [[-out, x] for x in inputs]
            if wanted & IMPLIED:
                found.append([out, *[-x for x in inputs]])
            continue
        if wanted & IMPLIES:
            found += [[-out, *rest] for rest in _consequences(kind, 1, inputs)]
        if wanted & IMPLIED:
            found += [[out, *rest] for rest in _consequences(kind, -1, inputs)]
    return found


def _consequences(kind: int, sign: int, inputs: Sequence[int]) -> list[Clause]:
    """What holds where the gate is true (``sign`` 1) or false (-1)."""
    if kind == XOR:
        a, b = inputs
        return [[a, sign * b], [-a, -sign * b]]
    if kind == ITE:
        c, t, e = inputs
        return [[-c, sign * t], [c, sign * e], [sign * t, sign * e]]
    a, b, c = (sign * x for x in inputs)
    return [[a, b], [a, c], [b, c]]


Numbers = np.ndarray[Any, np.dtype[np.int32]]

ROUNDS = 5
"""Rounds of preprocessing."""


class Block:
    """Clauses over local variables that begin with those of ``owned``; other layers or leaves own the others."""

    def __init__(self, parts: Sequence[Numbers], owned: range) -> None:
        """``parts`` have a clause per row, each part those of one length."""
        self.owned = owned
        self._parts = parts
        self.size = sum(len(part) for part in parts)

    def clauses(self) -> list[Clause]:
        """The clauses over local variables."""
        return list(chain.from_iterable(part.tolist() for part in self._parts))

    def placed(self, numbers: Numbers) -> list[Clause]:
        """The clauses with the variable ``numbers[v]`` (negative: inverted) for each local v."""
        literals = np.concatenate([numbers, -numbers[:0:-1]])
        found: list[Clause] = []
        for part in self._parts:
            found += literals[part].tolist()
        return found


class ClauseTemplate:
    """The clauses of the gates under some literals of a graph.

    Local variable 1 is true, then come the ``leaves`` (gates) in their order, then each layer's own. ``layers`` are the
    roots of each with what their variables must say (see ``cnf``); roots and leaves keep their variables.
    """

    def __init__(
        self,
        graph: Graph,
        leaves: Sequence[int],
        layers: Sequence[Mapping[int, int]],
        aside: Aside | None,
        asserted: Sequence[int] = (),
    ) -> None:
        """``aside`` surrounds preprocessing; None: there is none. ``asserted``: roots that are true at every place."""
        self._local = {0: -1} | {leaf: place for place, leaf in enumerate(leaves, 2)}
        self.fixed = 2 + len(leaves)
        self._aside, self._asserted = aside, asserted
        done: set[int] = set()
        parts: list[list[int]] = []
        for roots in layers:
            parts.append([gate for gate in graph.cone(roots, done) if gate not in done and gate not in self._local])
            done.update(parts[-1])
        wanted: dict[int, int] = {}
        for roots in layers:
            for literal, what in roots.items():
                wanted[literal] = wanted.get(literal, 0) | what
        needed = polarities(graph, sorted(done), wanted)
        kept = self._interface(graph, parts, wanted)
        self.blocks: list[Block] = []
        following = self.fixed
        for gates in parts:
            block = self._block(graph, gates, needed, kept, following)
            following = block.owned.stop
            self.blocks.append(block)
        self.size = following

    def local(self, literal: int) -> int:
        """The local variable of a root, leaf or constant, negative where inverted."""
        number = self._local[literal >> 1]
        return -number if literal & 1 else number

    def numbers(self, true: int, leaves: Sequence[int]) -> Numbers:
        """A renaming for one place: of true and the leaves, room for the others."""
        found = np.zeros(self.size, dtype=np.int32)
        found[1] = true
        found[2 : self.fixed] = leaves
        return found

    def _interface(self, graph: Graph, parts: Sequence[Sequence[int]], roots: Iterable[int]) -> set[int]:
        """The gates that are roots, or operands of another layer's gates."""
        kept = {root >> 1 for root in roots}
        for gates in parts:
            own = set(gates)
            kept.update(operand >> 1 for gate in gates for operand in graph.operands[gate] if operand >> 1 not in own)
        return kept

    def _block(
        self,
        graph: Graph,
        gates: Sequence[int],
        needed: Mapping[int, int],
        kept: set[int],
        following: int,
    ) -> Block:
        flat = flattened(graph, gates, kept)
        names = dict(self._local)
        names.update((gate, place) for place, gate in enumerate(flat, following))
        clauses = clauses_of(graph, flat, needed, names)
        clauses += [[-names[one >> 1] if one & 1 else names[one >> 1]] for one in self._asserted if one >> 1 in flat]
        if self._asserted:
            clauses += chain.from_iterable(block.clauses() for block in self.blocks)
        outside = [names[gate] for gate in flat if gate in kept]
        if self._aside is not None and clauses:
            with self._aside():
                clauses = preprocessed(clauses, [*range(1, following), *outside])
        parts = _by_length(clauses)
        used = np.zeros(following + len(flat), dtype=bool)
        used[1:following] = used[outside] = True
        for part in parts:
            used[np.abs(part)] = True
        dense = np.cumsum(used, dtype=np.int32)
        self._local.update((gate, int(dense[names[gate]])) for gate in flat if gate in kept)
        return Block([np.sign(part) * dense[np.abs(part)] for part in parts], range(following, int(dense[-1]) + 1))


def _by_length(clauses: Iterable[Clause]) -> list[Numbers]:
    """``clauses`` as arrays, one for each length, short ones first."""
    found: dict[int, list[Clause]] = {}
    for clause in clauses:
        found.setdefault(len(clause), []).append(clause)
    return [np.array(found[length], dtype=np.int32) for length in sorted(found)]


def preprocessed(clauses: Sequence[Clause], frozen: Sequence[int], rounds: int = ROUNDS) -> list[Clause]:
    """Clauses that say the same of the ``frozen`` variables, with fewer others.

    An interrupt waits until it is done: the library would jump out of its own allocator, so it works in a thread, where
    it leaves interrupts alone.
    """
    from pysat.solvers import Cadical153

    top = max(map(abs, chain.from_iterable(clauses)), default=0)
    solver = owned(Cadical153, bootstrap_with=clauses)
    kept = [number for number in frozen if number <= top]
    done: list[list[Clause] | BaseException] = []

    def work() -> None:
        try:
            # not pysat.process.Processor: it copies all clauses deeply, which takes as long as the work itself
            done.append(list(solver.process(rounds=rounds, freeze=kept)[1]))
        except BaseException as error:
            done.append(error)

    thread = Thread(target=work, daemon=True)
    try:
        thread.start()
        thread.join()
    finally:
        while thread.is_alive():
            with suppress(KeyboardInterrupt):
                thread.join()
        solver.delete()
    found = done[0]
    if isinstance(found, BaseException):
        raise found
    return found if all(found) else list(clauses)  # an empty clause: nothing satisfies them

"""Clauses over local variables, made once and placed often by renaming.

A stencil may have several layers, each placed on its own, the first first. Layers are preprocessed one by one, with
every variable frozen that is read from outside its layer: preprocessing keeps what clauses say of frozen ones only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from itertools import chain

import numpy as np
import numpy.typing as npt
from pysat.solvers import Cadical153

from bmc.engines.sat_encoding.aig import Graph
from bmc.engines.sat_encoding.cnf import Clause, clauses_of, flattened, polarities
from bmc.engines.sat_encoding.solver import Aside

Numbers = npt.NDArray[np.int32]

ROUNDS = 5
"""Rounds of preprocessing."""


class Block:
    """Clauses over local variables that begin with those of ``owned``; other layers or leaves own the others."""

    def __init__(self, parts: Sequence[Numbers], owned: range) -> None:
        """``parts`` have a clause per row, each part those of one length."""
        self.owned = owned
        self._parts = parts
        self.size = sum(len(part) for part in parts)

    def placed(self, numbers: Numbers) -> list[Clause]:
        """The clauses with the variable ``numbers[v]`` (negative: inverted) for each local v."""
        literals = np.concatenate([numbers, -numbers[:0:-1]])
        found: list[Clause] = []
        for part in self._parts:
            found += literals[part].tolist()
        return found


class Stencil:
    """The clauses of the gates under some literals of a graph.

    Local variable 1 is true, then come the ``leaves`` (gates) in their order, then each layer's own. ``layers`` are the
    roots of each with what their variables must say (see ``cnf``); roots and leaves keep their variables.
    """

    def __init__(
        self,
        graph: Graph,
        leaves: Sequence[int],
        layers: Sequence[Mapping[int, int]],
        preprocess: bool,
        aside: Aside = nullcontext,
    ) -> None:
        """``aside`` surrounds preprocessing."""
        self._local = {0: -1} | {leaf: place for place, leaf in enumerate(leaves, 2)}
        self.fixed = 2 + len(leaves)
        self._aside = aside
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
            block = self._block(graph, gates, needed, kept, following, preprocess)
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
        preprocess: bool,
    ) -> Block:
        flat = flattened(graph, gates, kept)
        names = dict(self._local)
        names.update((gate, place) for place, gate in enumerate(flat, following))
        clauses = clauses_of(graph, flat, needed, names)
        outside = [names[gate] for gate in flat if gate in kept]
        if preprocess and clauses:
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


def preprocessed(clauses: Sequence[Clause], frozen: Sequence[int]) -> list[Clause]:
    """Clauses that say the same of the ``frozen`` variables, with fewer others."""
    top = max(abs(literal) for literal in chain.from_iterable(clauses))
    solver = Cadical153(bootstrap_with=clauses)
    try:
        # not pysat.process.Processor: it copies all clauses deeply, which takes as long as the work itself
        _, found = solver.process(rounds=ROUNDS, freeze=[number for number in frozen if number <= top])
    finally:
        solver.delete()
    return list(found)

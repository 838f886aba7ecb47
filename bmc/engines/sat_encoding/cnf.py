"""Clauses of gates (G. Tseitin, 1968; one-sided where that is enough: D. Plaisted, S. Greenbaum, 1986).

A clause is a list of variables' numbers from 1, negative where inverted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bmc.engines.sat_encoding.aig import AND, INPUT, ITE, XOR, Graph

IMPLIES, IMPLIED, EQUIVALENT = 1, 2, 3
"""What a literal's variable must say: it implies the literal's value, is implied by it, or both."""

Clause = list[int]


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

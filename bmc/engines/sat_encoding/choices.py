"""Words chosen by trees of conditions: each different word is chosen once, not once for every way to it.

Generated code writes one variable in many branches, so that its next value is a tree of choices with few different
words in it. Of a tree of n choices between m words of b bits this makes about 2 n + (m - 1) b gates instead of n b.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass

import pysmt.operators as op
from pysmt.fnode import FNode

from bmc.engines.sat_encoding.aig import FALSE, TRUE, Graph
from bmc.engines.sat_encoding.circuits import Word, chosen

GATES_OF_A_WAY = 2
"""Gates for the condition of one choice in a tree."""

MOST = 300
"""Choices and words that are looked at for one tree: so that the time grows with a program's size, not its square."""


@dataclass(frozen=True, slots=True)
class Tree:
    """``choices`` are the choices above the ``words``, each after those that lead to it."""

    choices: tuple[FNode, ...]
    words: tuple[FNode, ...]

    @property
    def needed(self) -> tuple[FNode, ...]:
        """What must be made before: conditions and words."""
        return (*(choice.arg(0) for choice in self.choices), *self.words)

    def made(self, graph: Graph, made: Mapping[FNode, Word]) -> Word:
        """The word that is chosen; ``made`` has the words of what is ``needed``."""
        ways: dict[FNode, int] = {self.choices[0]: TRUE}
        for node in self.choices:
            condition, then, other = node.args()
            way, bit = ways[node], made[condition][0]
            for target, side in ((then, bit), (other, bit ^ 1)):
                ways[target] = graph.disjunction(ways.get(target, FALSE), graph.conjunction(way, side))
        found = made[self.words[-1]]
        for each in reversed(self.words[:-1]):
            found = chosen(graph, ways[each], made[each], found)
        return found


def tree_of(node: FNode, made: Container[FNode], bits: int) -> Tree | None:
    """The tree of choices under ``node``, a choice between words of ``bits`` bits, that takes the fewest gates.

    It may end at choices whose words are ``made`` already. None: no gates are saved, take the choice as it stands.
    """
    best, least = None, bits * sum(choice not in made for choice in _tree(node, made).choices)
    for tree in (_tree(node, made), _tree(node, ())):
        gates = GATES_OF_A_WAY * len(tree.choices) + (len(tree.words) - 1) * bits
        if gates < least:
            best, least = tree, gates
    return best


def _tree(node: FNode, ends: Container[FNode]) -> Tree:
    """The choices down from ``node``, as many as MOST allows, none of ``ends``. Constants are the last words."""
    order: dict[FNode, None] = {}
    choices: list[FNode] = []
    todo = [(node, False)]
    while todo:
        each, left = todo.pop()
        if left:
            choices.append(each)
        elif each not in order:
            order[each] = None
            if each.node_type() == op.ITE and len(order) <= MOST and each not in ends:
                todo.append((each, True))
                todo.extend((arg, False) for arg in (each.arg(2), each.arg(1)))
    inner = set(choices)
    words = sorted((part for part in order if part not in inner), key=lambda part: bool(part.is_constant()))
    return Tree(tuple(reversed(choices)), tuple(words))

"""Telling apart what a framed formula says of single steps."""

from __future__ import annotations

from collections.abc import Iterator

from pysmt.fnode import FNode
from pysmt.shortcuts import get_env

from bmc.formulas.unroll import plain, unframed

NONE, SEVERAL = -1, -2
"""Instead of a step: a formula without symbols, one that speaks of more than one step."""


class Moments:
    """Knows of each part of framed formulas of which step it speaks, and what it says of that step."""

    def __init__(self) -> None:
        self._known: dict[FNode, tuple[int, FNode]] = {}
        self._create = get_env().formula_manager.create_node

    def of(self, formula: FNode) -> tuple[int, FNode]:
        """The step that ``formula`` speaks of, and the formula over plain symbols.

        Without symbols, or over several steps, it is NONE or SEVERAL with the formula itself.
        """
        stack = [formula]
        while stack:
            node = stack[-1]
            if node in self._known:
                stack.pop()
                continue
            missing = [arg for arg in node.args() if arg not in self._known]
            if missing:
                stack.extend(missing)
            else:
                self._known[node] = self._told(node)
        return self._known[formula]

    def parts(self, formula: FNode) -> Iterator[tuple[int, FNode]]:
        """The largest parts of ``formula`` that each speak of one step: the step, and the part over plain symbols."""
        todo, seen = [formula], set()
        while todo:
            node = todo.pop()
            if node in seen:
                continue
            seen.add(node)
            step, told = self.of(node)
            if step == SEVERAL:
                todo.extend(reversed(node.args()))
            elif step != NONE:
                yield step, told

    def _told(self, node: FNode) -> tuple[int, FNode]:
        if node.is_symbol():
            return unframed(node)[1], plain(node)
        args = [self._known[arg] for arg in node.args()]
        steps = {step for step, _ in args} - {NONE}
        if len(steps) != 1:
            return (SEVERAL if steps else NONE), node
        step = steps.pop()
        if step == SEVERAL:
            return SEVERAL, node
        return step, self._create(node.node_type(), tuple(told for _, told in args), node._content.payload)

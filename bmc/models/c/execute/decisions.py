"""The decisions of the step function and of what it calls, with how one symbolic step evaluated each.

A decision is the condition of an ``if``, a loop or a ``?:``, an outermost ``&&`` or ``||`` anywhere else, or a
``switch``. Its atomic conditions are what ``&&``, ``||`` and ``!`` join.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pycparser import c_ast

from bmc.formulas.terms import both
from bmc.models.c.execute.recorder import Evaluation, Recorder
from bmc.models.c.source.program import Function, Program, where
from bmc.models.c.source.rewritten import is_selection
from bmc.models.model import Decision, Evaluated, Operation, Tree
from bmc.stack import with_deep_stack

_ASSERTIONS = {"assert", "__assert", "__CPROVER_assert", "__CPROVER_assume", "__VERIFIER_assume"}
_LOOPS = {"While": "while", "DoWhile": "do", "For": "for"}


def without_negations(node: Any) -> tuple[Any, bool]:
    """An expression without the ``!`` around it, and whether these negate it."""
    negated = False
    while isinstance(node, c_ast.UnaryOp) and node.op == "!":
        node, negated = node.expr, not negated
    return node, negated


def is_logical(node: Any) -> bool:
    """Whether an expression is an ``&&`` or ``||``."""
    return isinstance(node, c_ast.BinaryOp) and node.op in ("&&", "||")


def leaves(node: Any) -> list[Any]:
    """The atomic conditions of an expression, in source order."""
    found: list[Any] = []
    todo = [node]
    while todo:
        inner, _ = without_negations(todo.pop())
        if is_logical(inner):
            todo += [inner.right, inner.left]
        else:
            found.append(inner)
    return found


def decisions(program: Program, recorder: Recorder) -> tuple[Decision, ...]:
    """The decisions of all functions that the recorded step entered, in source order.

    Conditions of assertions and assumptions are none, nor are loops and ``?:`` with a
    literal constant, such as ``while (1)``.
    """
    return with_deep_stack(lambda: _decisions(program, recorder))


def _decisions(program: Program, recorder: Recorder) -> tuple[Decision, ...]:
    found: dict[tuple[Any, ...], Decision] = {}
    for function in program.defined_functions():
        for decision in _in_function(function, recorder) if function in recorder.entered else ():
            key = (decision.where, decision.kind, decision.text)  # a header's code stands in several units
            earlier = found[key].evaluations if key in found else ()
            found[key] = replace(decision, evaluations=tuple(dict.fromkeys([*earlier, *decision.evaluations])))
    files = {os.path.abspath(unit.source.file): number for number, unit in enumerate(program.units, 1)}
    return tuple(sorted(found.values(), key=lambda d: (files.get(os.path.abspath(d.where.file), 0), d.where)))


def _in_function(function: Function, recorder: Recorder) -> Iterator[Decision]:
    """The decisions of one function; among alternatives of which a type or constant selects one, those evaluated."""
    todo = [(function.node.body, False)]
    inner: set[int] = set()
    while todo:
        node, selected = todo.pop()
        kind, condition = _decision_at(node)
        leaf, _ = without_negations(condition)
        if isinstance(node, c_ast.Switch):
            yield _switch(node, function, recorder)
        elif condition is not None and id(node) not in inner and not (selected and id(leaf) not in recorder.decisions):
            inner |= {id(part) for part in _operations(condition)}
            evaluations = _evaluated(recorder.decisions.get(id(leaf), {}))
            texts = tuple(_text(part) for part in leaves(condition))
            yield Decision(kind, function.name, where(node), _text(condition), texts, _tree(condition), evaluations)
        selected = selected or is_selection(node)
        todo.extend((child, selected) for child in _executed(node, function))


def _decision_at(node: Any) -> tuple[str, Any]:
    """The kind of a decision and its condition; None where ``node`` is no decision (or a ``switch``)."""
    if isinstance(node, c_ast.If):
        return "if", node.cond
    if isinstance(node, c_ast.TernaryOp):
        return "?:", None if isinstance(node.cond, c_ast.Constant) else node.cond
    if type(node).__name__ in _LOOPS:
        return _LOOPS[type(node).__name__], None if isinstance(node.cond, c_ast.Constant) else node.cond
    return (node.op, node) if is_logical(node) else ("", None)


def _executed(node: Any, function: Function) -> list[Any]:
    """The parts of a syntax node that a step may execute: no types, unevaluated operands, constants or assertions."""
    if isinstance(node, c_ast.Decl):
        return [node.init] if node.init is not None and "static" not in node.storage else []
    if isinstance(node, c_ast.Case):
        return list(node.stmts or ())
    if isinstance(node, c_ast.Cast):
        return [node.expr]
    if isinstance(node, c_ast.CompoundLiteral):
        return [node.init]
    if isinstance(node, c_ast.UnaryOp) and node.op in ("sizeof", "_Alignof"):
        return []
    if isinstance(node, c_ast.Typedef | c_ast.StaticAssert) or _is_assertion(node, function):
        return []
    return [child for _, child in node.children()]


def _is_assertion(node: Any, function: Function) -> bool:
    if not isinstance(node, c_ast.FuncCall) or not isinstance(node.name, c_ast.ID) or node.name.name not in _ASSERTIONS:
        return False
    called = function.unit.scope.names.get(node.name.name)
    return not isinstance(called, Function) or called.node is None


def _operations(node: Any) -> list[Any]:
    """The ``&&`` and ``||`` that make up a decision."""
    found: list[Any] = []
    todo = [node]
    while todo:
        inner, _ = without_negations(todo.pop())
        if is_logical(inner):
            found.append(inner)
            todo += [inner.right, inner.left]
    return found


def _tree(node: Any) -> Tree:
    """A decision's structure; its atomic conditions are numbered in source order."""
    trees: list[Tree] = []
    todo = [(node, False)]
    count = 0
    while todo:
        item, ready = todo.pop()
        inner, negated = without_negations(item)
        if not is_logical(inner):
            trees.append(count)
            count += 1
        elif ready:
            right, left = trees.pop(), trees.pop()
            trees.append(Operation(inner.op, (left, right)))
        else:
            todo += [(item, True), (inner.right, False), (inner.left, False)]
            continue
        if negated:
            trees.append(Operation("!", (trees.pop(),)))
    return trees[0]


def _switch(node: Any, function: Function, recorder: Recorder) -> Decision:
    items = node.stmt.block_items or [] if isinstance(node.stmt, c_ast.Compound) else [node.stmt]
    labels = [_label(item.expr) for item in items if isinstance(item, c_ast.Case)]
    labels.append("default" if any(isinstance(item, c_ast.Default) for item in items) else "no-case")
    evaluations = _evaluated(recorder.decisions.get(id(node), {}))
    return Decision("switch", function.name, where(node), _text(node.cond), tuple(labels), None, evaluations)


def _label(node: Any) -> str:
    while isinstance(node, c_ast.Cast):
        node = node.expr
    return "".join(_text(node).split())


def _evaluated(found: dict[Evaluation, None]) -> tuple[Evaluated, ...]:
    return tuple(Evaluated(both(base, pc), values) for base, pc, values in found)


def _text(node: Any) -> str:
    """An expression on one line, as the preprocessed source has it."""
    from bmc.models.c.source.shown import shown  # here, for only coverage goals need it

    return shown(node, reduced=True)

"""Which variables a step reads, and which it writes: by what the outcome of its symbolic run depends on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pysmt.fnode import FNode

from bmc.c.memory import Content, Key
from bmc.c.recorder import Recorder
from bmc.c.variables import is_variable, symbol_content


@dataclass(frozen=True)
class StepResult:
    """What one symbolic step made of memory: cells at its end, definedness bits kept, checks recorded."""

    start: Mapping[Key, Content]
    final: Mapping[Key, Content]
    shadowed: frozenset[Key]
    recorder: Recorder


def is_written(key: Key, result: StepResult) -> bool:
    """Whether the step may change a variable."""
    kept = is_variable(key) and result.final[key] == symbol_content(key, key in result.shadowed)
    return is_variable(key) and not kept


def read_names(result: StepResult) -> set[str]:
    """Names of the variables on whose values at its start the step depends.

    A variable that only keeps its value where it is not written is not read by that.
    """
    terms = [result.recorder.defined, *(each.formula for each in result.recorder.asserts)]
    for key, content in result.final.items():
        if isinstance(content.term, FNode) and is_variable(key):
            terms += _computed_from(content.term, symbol_content(key, key in result.shadowed).term)
    symbols: set[FNode] = set().union(*(term.get_free_variables() for term in terms))
    return {symbol.symbol_name() for symbol in symbols}


def _computed_from(term: FNode, own: object) -> list[FNode]:
    """The parts of a choice, without the leaves that keep ``own``."""
    found: list[FNode] = []
    seen: set[FNode] = set()
    todo = [term]
    while todo:
        node = todo.pop()
        if node in seen or node is own:
            continue
        seen.add(node)
        if node.is_ite():
            found.append(node.arg(0))
            todo += [node.arg(1), node.arg(2)]
        else:
            found.append(node)
    return found

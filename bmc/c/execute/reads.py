"""Which variables a step reads, and which it writes: by what the outcome of its symbolic run depends on.

Volatile ones are read by every access, whether the outcome depends on it or not.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from pysmt.fnode import FNode
from pysmt.shortcuts import FALSE, TRUE

from bmc.c.execute.memory import Content, Key, MemObject
from bmc.c.execute.recorder import Recorder
from bmc.c.source.types import CType, Path, StructType, type_at
from bmc.c.source.variables import is_variable, symbol_content
from bmc.errors import InputRefused
from bmc.formulas.terms import both, either, negate
from bmc.system.transition import Condition

_SETUP_HINTS = dict.fromkeys(
    ("uninitialised read", "null or unset pointer"),
    "set it there, or in a setup function of your own: objects that init reads can be set by a function that is "
    "listed before it in [functions] init",
)
"""What to do about undefined behaviour of init, by its kind."""


@dataclass(frozen=True)
class StepResult:
    """What one symbolic step made of memory: cells at its end, definedness bits kept, checks recorded."""

    start: Mapping[Key, Content]
    final: Mapping[Key, Content]
    shadowed: frozenset[Key]
    recorder: Recorder


def undefined_in_init(found: Condition) -> InputRefused:
    """The refusal of an init that has the undefined behaviour ``found``."""
    return InputRefused(f"init has undefined behaviour: {found.name}", found.where, _SETUP_HINTS.get(found.name, ""))


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


def is_volatile(key: Key, through: Mapping[MemObject, Collection[Path]]) -> bool:
    """Whether a variable is volatile: its object, a member around it, or what it is accessed ``through``."""
    obj, path = key
    if obj.volatile or any(path[: len(other)] == other for other in through.get(obj, ())):
        return True
    ctype: CType = obj.ctype
    for number, part in enumerate(path, 1):
        member = ctype.member(str(part)) if isinstance(ctype, StructType) else None
        if member is not None and member.volatile:
            return True
        ctype = type_at(obj.ctype, path[:number])
    return False


def unwritten(key: Key, content: Content) -> FNode:
    """When a variable's cell still holds the value from the step's start, as no write has reached it."""
    if not is_variable(key) or not isinstance(content.term, FNode):
        return FALSE()
    own = symbol_content(key, shadowed=False).term
    when: dict[FNode, FNode] = {}
    todo = [content.term]
    while todo:
        node = todo[-1]
        branches = node.args()[1:] if node.is_ite() else ()
        missing = [branch for branch in branches if branch not in when]
        if missing:
            todo += missing
            continue
        todo.pop()
        if branches:
            condition = node.arg(0)
            then, other = (when[branch] for branch in branches)
            when[node] = either(both(condition, then), both(negate(condition), other))
        else:
            when[node] = TRUE() if node is own else FALSE()
    return when[content.term]

"""The attribute ``cleanup``: a call that is made where the lifetime of an object ends, on each way out of its block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pycparser import c_ast

from bmc.errors import UnsupportedConstruct
from bmc.models.c.execute.memory import State
from bmc.models.c.source.extensions import CLEANUP
from bmc.models.c.source.program import Scope, unsupported
from bmc.records import dataclass

if TYPE_CHECKING:
    from bmc.models.c.execute.calls import Calls, Frame


@dataclass(frozen=True, slots=True)
class Cleanup:
    """A ``call`` to be made. ``before`` are, for each list of paths that have left something, how many these were when
    the object was declared."""

    call: Any
    scope: Scope
    before: dict[int, int]


def add_cleanup(executor: Calls, call: Any, scope: Scope) -> None:
    """Make ``call`` where the block that is being run, or the loop that begins, is left."""
    frame = executor.frames[-1]
    if frame.gotos.labels and frame.gotos.labels[-1]:
        raise _beside_labels("labels", call)
    frame.cleanups.append(Cleanup(call, scope, {id(paths): len(paths) for paths in _left(frame)}))


def refuse_cleanups(statements: Iterable[Any]) -> None:
    """Refuse the attribute in the body of a ``switch``, where a case label may lead past the declaration."""
    for node in statements:
        for each in node.decls if isinstance(node, c_ast.DeclList) else (node,):
            if isinstance(each, c_ast.Decl) and each.name == CLEANUP:
                raise _beside_labels("case labels", each.init)


def _beside_labels(labels: str, call: Any) -> UnsupportedConstruct:
    hint = "put the declaration and what follows, up to the next label, into braces of their own"
    return unsupported(f"attribute 'cleanup' in a block with {labels}", call, hint)


def run_cleanups(executor: Calls, first: int, end: State | None) -> None:
    """Make the calls of a block from the one with the number ``first`` on, the last one first: on the path to its end,
    and on those that have left it otherwise."""
    frame = executor.frames[-1]
    while len(frame.cleanups) > first:
        cleanup = frame.cleanups.pop()
        ways = [] if end is None else [end]
        ways += [path for paths in _left(frame) for path in paths[cleanup.before.get(id(paths), 0) :]]
        for path in ways:
            around, executor.discarded = executor.discarded, cleanup.call
            executor.evaluate(cleanup.call, cleanup.scope, path)
            executor.discarded = around


def _left(frame: Frame) -> Iterator[list[State]]:
    """The paths that have returned, left a loop or its body, or gone to a label."""
    yield frame.returned
    yield from (*frame.broken, *frame.continued, *frame.gotos.jumps.values())

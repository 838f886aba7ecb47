"""Loops and recursion of which only the reachable states tell how often they go round.

A loop is unrolled, and a function that calls itself is inlined, as long as a further turn is possible. Where that does
not end by itself, a limit is set, and the paths that would go on after it are excluded from the step. Whether any
reachable state has such a path is decided when the whole step is known (``controller.turn_bounds``): the bounds of the
state variables that are proved there end the loop when the step is run once more.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from pycparser import c_ast
from pysmt.fnode import FNode

from bmc.formulas.terms import FALSE, TRUE, both, equals, is_false, is_true, negate
from bmc.limits import ITERATIONS, OPEN_ITERATIONS
from bmc.models.c.execute.cases import impossible
from bmc.models.c.execute.memory import Content, Key, State
from bmc.models.c.execute.recorder import TooManyTurns
from bmc.models.c.source.program import Function, nodes, unsupported, where
from bmc.system.transition import conjunction

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bmc.models.c.execute.calls import Frame
    from bmc.models.c.execute.statements import Executor

UNASKED = 16
"""A loop that ends by itself within so many turns needs no solver."""
COSTLY = 2_000
"""A loop that has run so many statements within its first turns is no longer unrolled without a limit. Twice as many:
state machines that dispatch events in a loop take twice as long to be read."""
FIRST = 4
"""The first limit of the turns of a loop, or of the depth of a recursion."""
PERIOD = 12
"""A loop whose state is again what it was so many turns ago never ends; its divisors 1, 2, 3, 4 and 6 are seen too."""

NULL = "null or unset pointer"
LEAVING = ("index out of range", "pointer moved out of its array", "access past the end of an array", NULL)
"""What a loop does that goes on past the end of an array, or of a list."""


class Unlimited(Exception):
    """The loop ``node`` does not end by itself: the step is to be run again with a limit."""

    def __init__(self, node: Any) -> None:
        super().__init__()
        self.node = node


class Turns:
    """Counts turns. ``limits`` are those of the loops (by syntax node) and functions that do not end by themselves;
    None where no path may be excluded, as in init and in properties. ``settled`` are the keys of ``limits`` of which it
    is proved that no reachable state exceeds the limit."""

    def __init__(self, executor: Executor) -> None:
        self.executor = executor
        self.limits: dict[object, int] | None = None
        self.settled: frozenset[object] = frozenset()
        self._calls: Counter[Function] = Counter()
        self._begun: dict[object, int] = {}
        """How many statements had been run when each loop began."""

    # loops

    def begins(self, node: object) -> None:
        """The loop at ``node`` begins."""
        self._begun[node] = self.executor.recorder.work

    def over(
        self, node: Any, opened: int, again: FNode, state: State, seen: Sequence[tuple[FNode, Mapping[Key, Content]]]
    ) -> bool:
        """Whether the loop at ``node`` ends after ``opened`` turns that some runs end with: no run goes on where
        ``again`` holds, or the paths that do are excluded. ``seen`` is the state at the start of each turn, where the
        loop is watched."""
        happens = both(self.executor.recorder.base, both(state.pc, again))
        limit = self._limit(node)
        if limit is None:
            costly = opened >= FIRST and self.executor.recorder.work - self._begun.get(node, 0) > COSTLY
            if (opened < UNASKED and not costly) or opened & (opened - 1):
                return False
            if self.limits is not None and self.executor.survey is None and not is_true(happens):
                raise Unlimited(node)
            return self.executor.survey is not None or self._never(happens, again, state.pc, node)
        self.executor.recorder.rounds.note(node, opened, happens)
        if opened < limit:
            return False
        same = _same(seen[-1 - PERIOD][1], seen[-1][1]) if len(seen) > PERIOD else FALSE()
        text = f"more than {len(seen) - 1} turns of the loop"
        told = f"the loop at {{}} ends within {len(seen) - 1} turns"
        self._exclude(node, TooManyTurns(text, told, where(node), happens, both(happens, same)))
        return True

    def watches(self, node: Any) -> bool:
        """Whether the memory at the start of each turn of a loop matters."""
        return self._limit(node) is not None

    def _limit(self, node: object) -> int | None:
        return None if self.limits is None else self.limits.get(node)

    def never_ends(self, node: Any, state: State, why: str) -> None:
        """The loop at ``node`` is left by no run on this path. A refusal where every run comes to it."""
        happens = both(self.executor.recorder.base, state.pc)
        text = f"this loop never ends: {why}"
        if self.limits is None or self.executor.survey is not None or is_true(happens):
            raise ITERATIONS.refusal(where(node), text)
        self._exclude(node, TooManyTurns(text, "no run comes to the loop at {}", where(node), happens, happens))

    def meets_null(self, since: int) -> bool:
        """Whether a pointer may have been null or unset since there were so many conditions of undefined behaviour."""
        return any(each.name == NULL for each in self.executor.recorder.undefined_behaviour[since:])

    def leaves_array(self, again: FNode) -> bool:
        """Whether there are no runs that go round again and have not left an array before, which is undefined."""
        left = [each.formula for each in self.executor.recorder.undefined_behaviour if each.name in LEAVING]
        return impossible(conjunction([again, *map(negate, left)]))

    def _never(self, happens: FNode, again: FNode, pc: FNode, node: Any) -> bool:
        """Whether the solver proves that no run goes on, which the code may assume at ``node``."""
        if impossible(happens) or self.leaves_array(happens):
            return True
        recorder = self.executor.recorder
        if not is_true(recorder.limits) and impossible(both(recorder.limits, happens)):
            recorder.assume(where(node), pc, negate(again))
            return True
        return False

    def _exclude(self, key: object, found: TooManyTurns) -> None:
        if key not in self.settled:
            self.executor.recorder.rounds.exclude(key, found)

    # recursion

    def enters(self, function: Function, frames: Sequence[Frame], state: State, node: Any) -> bool:
        """Whether the call at ``node`` is run, though ``function`` may be running already; else no run comes to it, or
        the paths that do are excluded."""
        active = [frame for frame in frames if frame.function is function]
        if not active:
            self._calls[function] = 0
            return True
        recorder = self.executor.recorder
        path = both(recorder.base, state.pc)
        if path is active[-1].path and self.executor.survey is None:
            return True  # whoever runs the function calls it again: the arguments may tell how deep
        if self.executor.survey is not None or is_false(path) or self.executor.cases.impossible(path, TRUE()):
            return False
        depth, limit = len({frame.path for frame in active}), FIRST
        if self.limits is not None:
            limit = self.limits.setdefault(function, FIRST)
        self._calls[function] += 1
        # one call is asked about where it may be one of very many, as of a function that calls itself in two branches;
        # else the whole step is
        asked = self.limits is None or self._calls[function] > OPEN_ITERATIONS.most
        if asked and (impossible(path) or (not is_true(recorder.limits) and impossible(both(recorder.limits, path)))):
            return False
        if self.limits is None:
            text = f"recursion ('{function.name}' calls itself, and nothing known before a step bounds its depth)"
            raise unsupported(text, node)
        self.executor.recorder.rounds.note(function, depth, path)
        if depth < limit:
            return True
        text = f"'{function.name}' calls itself more than {limit} deep"
        told = f"'{function.name}' calls itself at most {limit} deep (at {{}})"
        self._exclude(function, TooManyTurns(text, told, where(node), path, FALSE()))
        return False


def _same(before: Mapping[Key, Content], now: Mapping[Key, Content]) -> FNode:
    """When memory is what it was before."""
    changed = [(before[key], content) for key, content in now.items() if key in before and before[key] != content]
    if any(isinstance(a.term, tuple) or isinstance(b.term, tuple) for a, b in changed):
        return FALSE()
    return conjunction(equals(a.term, b.term) for a, b in changed)


def has_no_way_out(node: Any) -> bool:
    """Whether a loop has a condition that is a constant, and no statement within it leaves it."""
    if node.cond is not None and any(isinstance(each, c_ast.ID | c_ast.FuncCall) for each in nodes(node.cond)):
        return False
    todo = [(node.stmt, True)]
    while todo:
        each, own = todo.pop()
        if isinstance(each, c_ast.Return | c_ast.Goto) or (own and isinstance(each, c_ast.Break)):
            return False
        inner = own and not isinstance(each, c_ast.For | c_ast.While | c_ast.DoWhile | c_ast.Switch)
        todo += [(child, inner) for _, child in each.children()]
    return True

"""Consequents with a deadline, ``F[m,n](e)`` and ``G[m,n](e)``, as monitors that the system carries.

A monitor counts the checks of ``e`` that an occurrence of the antecedent has behind it, and so it takes a counter where
unrolling takes a copy of ``e`` for each step. The property becomes one of single states: *in this state an occurrence
of the antecedent has been decided*, and the consequent says which way. An occurrence is decided as soon as no further
step can change its outcome: ``F`` when e has held, ``G`` when it has not, both when the last check is made
(docs/adr/0015-end-of-a-chain.md).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from pysmt.fnode import FNode
from pysmt.shortcuts import BV, FALSE

from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.terms import both, choose, either, equals, negate
from bmc.formulas.unroll import unframed
from bmc.records import dataclass
from bmc.system.memory import Memory
from bmc.system.transition import Run, ValueType, conjunction, symbols_of

Frames = Sequence[Mapping[str, int]]
"""State and inputs of each step of a run, in one mapping."""


@dataclass(frozen=True, slots=True)
class Decision:
    """An occurrence of an antecedent, written from the framed step 0 at the step ``begin`` of a run, is decided after
    ``after`` steps, as ``held`` or not, by the check at ``check``.
    """

    begin: int
    check: int
    after: int
    held: bool


@dataclass(frozen=True, slots=True)
class Deadline:
    """``word``, F or G, of ``condition`` at the steps ``first`` to ``last``; it is framed as at the step 0 of these.

    ``antecedent`` (framed) is what it is the consequent of; both are written from the framed step ``base``. ``text`` is
    how its operators are written, such as ``X(F[0,500ms])``; ``numbers`` says how many steps are meant where no number
    is written: ``500ms is 5 steps``.
    """

    word: str
    first: int
    last: int
    condition: FNode
    antecedent: FNode | None = None
    base: int = 0
    text: str = ""
    numbers: tuple[str, ...] = ()

    def decisions(self, run: Run, inputs: Collection[str]) -> Iterator[Decision]:
        """Those of ``run``, in the order of the occurrences.

        Each occurrence is looked at by itself: what it asks for is not counted.
        """
        assert self.antecedent is not None
        frames = [{**state, **values} for state, values in zip(run.states, (*run.inputs, {}), strict=True)]
        known = max(self.base, last_step([self.antecedent], inputs))
        checked = max(self.base, last_step([self.condition], inputs))
        occurs, settling = _looked_up(self.antecedent), self._settling(frames, run.length - checked)
        for begin in range(run.length - known + 1):
            last = begin + self.last
            if not occurs(frames, begin):
                continue
            settled = settling[begin] if begin < len(settling) else None
            if settled is not None and settled <= last:
                yield Decision(begin, settled, max(begin + known, settled + checked), self.word == "F")
            elif last + checked <= run.length:
                yield Decision(begin, last, max(begin + known, last + checked), self.word == "G")

    def _settling(self, frames: Frames, last: int) -> list[int | None]:
        """For an occurrence at each step the first check, up to step ``last``, that would settle it early."""
        holds, found, latest = _looked_up(self.condition), [], None
        for at in range(last, self.first - 1, -1):
            latest = at if holds(frames, at) == (self.word == "F") else latest
            found.append(latest)
        return found[::-1]


def not_held(asked: str) -> str:
    """How it is said that a deadline, which is written as ``asked``, has failed by a step, or at a step."""
    return "did not hold at" if "G[" in asked else "had not held by"


def last_step(formulas: Collection[FNode], inputs: Collection[str]) -> int:
    """The largest of (step of an input symbol) + 1 and (step of a state symbol), of framed ``formulas``."""
    places = [unframed(symbol) for formula in formulas for symbol in symbols_of(formula)]
    return max((step + (name in inputs) for name, step in places), default=0)


def _looked_up(formula: FNode) -> Callable[[Frames, int], bool]:
    """``formula`` (framed) as a function of a run's frames and a step."""
    symbols = [(symbol.symbol_name(), *unframed(symbol)) for symbol in symbols_of(formula)]
    compiled = compile_formulas([formula])
    return lambda frames, at: bool(compiled({key: frames[at + step][name] for key, name, step in symbols})[0])


@dataclass(frozen=True, slots=True)
class Occurrence:
    """That an antecedent has occurred, ``here`` over plain symbols, told in the framed step ``known``."""

    here: FNode
    known: int


@dataclass(frozen=True, slots=True)
class Judged:
    """Over a state: the oldest occurrence that waits is ``decided`` here, and as it ``held``; or any has ``failed``.

    What has been decided first is always the oldest; what fails first may be a later one.
    """

    decided: FNode
    held: FNode
    failed: FNode


class Obligations:
    """What is owed for occurrences of an antecedent: made once, as variables of ``memory``.

    ``base`` is the step of the framed formulas from which the property is written.
    """

    def __init__(self, memory: Memory, inputs: Collection[str], base: int) -> None:
        self._memory, self._inputs, self._base = memory, frozenset(inputs), base
        self._held: list[FNode] = []
        self._failed: list[FNode] = []
        self._later_failed: list[FNode] = []

    def occurrence(self, antecedent: FNode) -> Occurrence:
        """Where an antecedent (framed) occurs."""
        known = self._last_step(antecedent)
        return Occurrence(both(self._memory.now(antecedent, known), self._memory.after(known)), known)

    def lasting(self, antecedent: FNode, always: Deadline) -> Occurrence | None:
        """Where an antecedent occurs that a ``G`` over many steps belongs to; None if that ends before the rest.

        Each occurrence is remembered by a bit until it is complete or the ``G`` has failed; where ``antecedent``, the
        rest of it, is true, the steps for which the condition has held are counted.
        """
        told, checked = self._last_step(antecedent), self._last_step(always.condition)
        begin, known = checked + always.first, checked + always.last
        check = self._memory.now(always.condition, checked)
        steps = always.last - always.first
        if antecedent.is_true():
            count, one = self._counter(steps)
            full = equals(count, BV(steps, count.bv_width()))
            counts = both(check, self._memory.after(begin))
            self._memory.keep(count, choose(counts, choose(full, count, count + one), zero(count)), most=steps)
            return Occurrence(both(counts, full), known)
        if begin > told:
            first, told = self._memory.before(self._rest(antecedent, told), begin - told), begin
        else:
            first = self._rest(antecedent, told)
        if told >= known:
            return None
        early = [self._memory.before(check, back) for back in range(1, told - begin + 1)]
        begins = conjunction([first, check, *early])
        return Occurrence(both(check, self._memory.line(begins, known - told, check)[-1]), known)

    def _rest(self, antecedent: FNode, told: int) -> FNode:
        return both(self._memory.now(antecedent, told), self._memory.after(told))

    def judged(self, antecedent: Occurrence, deadline: Deadline) -> Judged | None:
        """Where occurrences of ``antecedent`` are judged; None if the deadline lies within the antecedent."""
        known, checked, occurs = antecedent.known, self._last_step(deadline.condition), antecedent.here
        check = self._memory.now(deadline.condition, checked)
        wait, more = deadline.first + checked - known, deadline.last - deadline.first
        if wait < 0:
            more += wait
        if more < 0:
            return None
        early = [self._memory.before(check, back) for back in range(1, 1 - wait)]
        if wait > 0:
            occurs = self._memory.before(occurs, wait)
        if deadline.word == "F":
            self._eventually(occurs, check, negate(conjunction(map(negate, early))), more)
        else:
            self._always(occurs, check, conjunction(early), more)
        held, failed = self._here(self._held), self._here(self._failed)
        return Judged(either(held, failed), negate(failed), either(failed, self._here(self._later_failed)))

    def _last_step(self, formula: FNode) -> int:
        return max([self._base, *(unframed(symbol)[1] for symbol in symbols_of(formula))])

    def _here(self, parts: list[FNode]) -> FNode:
        """That one of ``parts`` holds in this state, or in the last step where it reads the step's inputs."""
        seen = passed = FALSE()
        for part in parts:
            if any(symbol.symbol_name() in self._inputs for symbol in symbols_of(part)):
                passed = either(passed, part)
            else:
                seen = either(seen, part)
        return seen if passed.is_false() else either(seen, self._memory.keep(self._memory.fresh(), passed))

    def _eventually(self, occurs: FNode, check: FNode, early: FNode, more: int) -> None:
        """An occurrence waits for ``check``, now and in ``more`` further steps; ``early``: it has held already.

        A check that holds settles all that wait, so only the oldest is counted. Once that one has failed, those after
        it are not counted any more.
        """
        open_ = both(occurs, negate(early))
        self._held += [both(open_, check), both(occurs, early)]
        if more == 0:
            self._failed.append(both(open_, negate(check)))
            return
        count, one = self._counter(more)
        waits, ends = negate(equals(count, zero(count))), equals(count, BV(more, count.bv_width()))
        self._held.append(both(waits, check))
        self._failed.append(conjunction([waits, ends, negate(check)]))
        begins = choose(open_, one, zero(count))
        goes_on = choose(waits, choose(ends, begins, count + one), begins)
        self._memory.keep(count, choose(check, zero(count), goes_on), most=more)

    def _always(self, occurs: FNode, check: FNode, early: FNode, more: int) -> None:
        """An occurrence asks for ``check``, now and in ``more`` further steps; ``early``: it has held before that.

        The oldest occurrence is the first that is decided; the newest asks for checks the longest. Goals look at the
        first alone, so that what counts for the other is not part of the state when a chain is sought.
        """
        begun = both(occurs, early)
        self._failed += [both(occurs, negate(early)), both(begun, negate(check))]
        if more == 0:
            self._held.append(both(begun, check))
            return
        oldest, one = self._counter(more)
        newest = self._memory.fresh(ValueType("memory", oldest.bv_width()))
        all_of_them, none = BV(more, oldest.bv_width()), zero(oldest)
        counted, asks = negate(equals(oldest, none)), negate(equals(newest, none))
        ends = equals(oldest, all_of_them)
        self._held.append(conjunction([counted, ends, check]))
        self._failed.append(both(counted, negate(check)))
        self._later_failed.append(both(asks, negate(check)))
        begins = choose(begun, one, none)
        after = choose(counted, choose(ends, begins, oldest + one), begins)
        self._memory.keep(oldest, choose(check, after, none), most=more)
        left = choose(begun, all_of_them, choose(asks, newest - one, none))
        self._memory.keep(newest, choose(check, left, none), most=more)

    def _counter(self, most: int) -> tuple[FNode, FNode]:
        """A fresh counter to ``most``, and its one."""
        width = max(1, most.bit_length())
        return self._memory.fresh(ValueType("memory", width)), BV(1, width)


def zero(count: FNode) -> FNode:
    """The zero of the width of ``count``."""
    return BV(0, count.bv_width())

"""One step from a state and from another state that stands for it: whether anything tells the two apart.

A map of states is a bisimulation if, of any state and any inputs, the state and its image allow the same steps, look
alike, and have next states of one image. That is one question to a solver, here, or one computation for given values.

Two states look alike if the formulas that are ``seen`` have the same values in them. What reads the state alone is
compared whether a step is allowed or not, for a run may end in a state that allows none; what reads inputs too is
compared under allowed inputs only; and what a formula reads of a later step is compared after each allowed step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field

from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE, And, Iff, Implies, Not, Or

from bmc.engines.protocol import Status
from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.sums import in_one_form
from bmc.formulas.unroll import at, unframed, unplaced, with_terms
from bmc.invariants.induction import Prover
from bmc.records import dataclass
from bmc.system.transition import (
    StateVariable,
    TransitionSystem,
    Valuation,
    ValueType,
    conjunction,
    equal,
    symbols_of,
)

OTHER = "other "
"""Before the name of an input, for its value in the step after."""

Terms = Mapping[str, FNode]
"""For variables that are not themselves in the image of a state, what they are there, over plain symbols of the
state."""


class Look:
    """What is seen of single steps, computed."""

    def __init__(self, system: TransitionSystem, seen: Sequence[FNode]) -> None:
        first, later = seen_at(seen)
        self._names = [var.name for var in system.state]
        allowed = conjunction([system.input_constraint, system.defined])
        self._seen = compile_formulas([allowed, *first])
        self._nexts = compile_formulas([var.next for var in system.state])
        self._later = compile_formulas(later)

    def differ(
        self, one: Valuation, other: Valuation, inputs: Valuation, normal: Callable[[Valuation], Valuation]
    ) -> bool:
        """Whether a step under ``inputs`` tells two states apart, or leads to states of different normal forms."""
        seen = self._seen({**one, **inputs})
        if seen != self._seen({**other, **inputs}):
            return True
        pair = self.after(one, inputs), self.after(other, inputs)
        return pair[0] is not None and pair[1] is not None and normal(pair[0]) != normal(pair[1])

    def unlike(self, one: Valuation, other: Valuation, inputs: Valuation) -> bool:
        """Whether two states differ in what is seen of them after some step."""
        return self._later({**one, **inputs}) != self._later({**other, **inputs})

    def told(
        self, state: Valuation, inputs: Valuation, later: Valuation, normal: Callable[[Valuation], Valuation]
    ) -> tuple[object, ...]:
        """All that is seen of a state, of a step from it under ``inputs``, and of the state after that under
        ``later``, which is told in its normal form."""
        after = self.after(state, inputs)
        seen = self._seen({**state, **inputs})
        return (seen,) if after is None else (seen, normal(after), self._later({**after, **later}))

    def after(self, state: Valuation, inputs: Valuation) -> dict[str, int] | None:
        """The next state; None if the step is not allowed."""
        values = {**state, **inputs}
        return dict(zip(self._names, self._nexts(values), strict=True)) if self._seen(values)[0] else None


Step = tuple[Valuation, Valuation, Valuation]
"""A state, inputs in it, and inputs after it."""


@dataclass(frozen=True, slots=True)
class Among:
    """The states of which ``given`` is true. Not ``both``: the image of one may allow more than it does itself."""

    given: FNode = field(default_factory=TRUE)
    both: bool = True


def against(
    system: TransitionSystem, terms: Terms, seen: Sequence[FNode], prover: Prover, among: Among
) -> Status | Step:
    """A step from a state ``among`` those asked about that tells it from its image by ``terms``, or that there is none.

    Unknown where the solver gave up.
    """
    variables = [(var.name, var.type) for var in system.state]
    variables += [(prefix + var.name, var.type) for prefix in ("", OTHER) for var in system.inputs]
    found = some_values(system, variables, _told_apart(system, terms, seen, among), prover)
    if isinstance(found, Status):
        return found
    state = {var.name: found[var.name] for var in system.state}
    inputs = {var.name: found[var.name] for var in system.inputs}
    return state, inputs, {var.name: found[OTHER + var.name] for var in system.inputs}


def _told_apart(system: TransitionSystem, terms: Terms, seen: Sequence[FNode], among: Among) -> FNode:
    """The plain formula: a step, and the inputs after it, tell a state ``among`` some from its image by ``terms``."""
    first, later = seen_at(seen)
    names = [var.symbol for var in system.state]
    nexts = [var.next for var in system.state]
    following = dict(zip(names, nexts, strict=True))
    normal = {symbol: terms[symbol.symbol_name()] for symbol in names if symbol.symbol_name() in terms}
    allowed = conjunction([system.input_constraint, system.defined])
    allowed_there, *there = with_terms([allowed, *first, *nexts], normal)
    first_there, nexts_there = there[: len(first)], there[len(first) :]
    forms = with_terms(names, normal)
    after = with_terms(forms, following)
    after_there = with_terms(forms, dict(zip(names, nexts_there, strict=True)))
    for place, symbol in enumerate(names):
        if symbol in normal and symbol.symbol_type().is_bv_type():  # equal sums are mostly the same term then
            after[place], after_there[place] = in_one_form(after[place]), in_one_form(after_there[place])
    later = with_terms(later, {var.symbol: var.type.symbol(OTHER + var.name) for var in system.inputs})
    seen_after = with_terms(later, following)
    seen_there = with_terms(with_terms(later, normal), following)
    states = {var.symbol for var in system.state}
    looks = list(zip(first, first_there, strict=True))
    always = [pair for pair in looks if states >= {*symbols_of(pair[0])}]
    stepping = [pair for pair in looks if not states >= {*symbols_of(pair[0])}]
    stepping += zip([*after, *seen_after], [*after_there, *seen_there], strict=True)
    unlike = Or(Not((Iff if among.both else Implies)(allowed, allowed_there)), _apart(always))
    return conjunction([among.given, Or(unlike, And(allowed, _apart(stepping)))])


def _apart(pairs: Iterable[tuple[FNode, FNode]]) -> FNode:
    return Or([Not(equal(one, other)) for one, other in pairs if one is not other])


def some_values(
    system: TransitionSystem, variables: Iterable[tuple[str, ValueType]], question: FNode, prover: Prover
) -> Status | Valuation:
    """Values of ``variables`` that satisfy the plain formula ``question``; unsat if there are none, else unknown."""
    alone = TransitionSystem(system.name, tuple(StateVariable(n, t, None, t.symbol(n)) for n, t in variables), ())
    question = at(question, 0)
    session = prover.engine.session(alone, TRUE(), [question])
    status = prover.asked(session, [question], 0)
    return session.run().states[0] if status is Status.SAT else status


def seen_at(formulas: Iterable[FNode]) -> tuple[list[FNode], list[FNode]]:
    """The parts of framed ``formulas`` that read one step only, as large as they can be, plain: of the first step, and
    of later ones.

    Alternatives, and parts that all have to hold, are taken together where they read the same step.
    """
    first: dict[FNode, None] = {}
    later: dict[FNode, None] = {}
    todo, met = list(formulas), set[FNode]()
    while todo:
        part = todo.pop()
        if part in met:
            continue
        met.add(part)
        if part.is_and() or part.is_or():
            by_step: dict[int, list[FNode]] = {}
            for arg in _joined(part):
                steps = _steps(arg)
                if len(steps) == 1:
                    by_step.setdefault(next(iter(steps)), []).append(arg)
                elif steps:
                    todo.append(arg)
            for step, group in by_step.items():
                joined = And(group) if part.is_and() else Or(group)
                (later if step else first)[unplaced([joined])[0]] = None
            continue
        steps = _steps(part)
        if len(steps) == 1:
            (later if next(iter(steps)) else first)[unplaced([part])[0]] = None
        else:
            todo += part.args()
    return list(first), list(later)


def _joined(formula: FNode) -> Iterator[FNode]:
    """The parts that ``formula`` joins by and, or by or."""
    todo = [formula]
    while todo:
        part = todo.pop()
        if part.node_type() == formula.node_type():
            todo += part.args()
        else:
            yield part


def _steps(formula: FNode) -> set[int]:
    return {unframed(symbol)[1] for symbol in symbols_of(formula)}

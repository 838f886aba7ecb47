"""What can happen in one step from a state: one combination of inputs stands for all that do the same.

What a step makes of the state alone, and decides something by beside inputs, tells states of one *kind* from others: in
all states of a kind these terms have the same values. With the values in their place the formulas of the step are
folded. What is left holds in every state of the kind; of the code of other modes nothing is.

Then the inputs get values, one input after the other. One value stands for all between which no term over this input
alone sees a difference. With it in place the formulas are folded again. Where the same formulas are left in two ways,
one way stands for both: whatever values the other inputs have, and in whichever state of the kind, the formulas have
the same values on both. By induction over the inputs, every allowed combination does in every state of the kind the
same as one of the combinations that come out. This rests on no way being left out, and on each folding being right; how
much is folded, and which terms make the kinds, decides only how many combinations come out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from pysmt.fnode import FNode

from bmc.evaluation.vectors import bits_of
from bmc.formulas.evaluate import compile_formulas, names_in, post_order
from bmc.formulas.folding import constant_like, rebuilt
from bmc.formulas.unroll import unframed, unplaced
from bmc.system.transition import InputVariable, TransitionSystem, Valuation, conjunction
from chaincover.verification.inputs import (
    ALONE,
    InputClasses,
    largest_terms,
    of_choices,
    read_alone,
    together,
    values_of,
)
from chaincover.verification.limits import Clock

ONE_TERM = 10
"""Steps tried that count as much as one term made anew."""


class Outcomes:
    """What can happen in one step from a state: one combination of inputs for each outcome, ``choices`` in all so far.

    An outcome is the next state with what the ``formulas`` (framed) see of the step. ``work`` counts in steps tried.
    """

    def __init__(self, system: TransitionSystem, formulas: Sequence[FNode], clock: Clock) -> None:
        self.choices: list[Valuation] = []
        self.work = 0
        self._inputs, self._clock = {var.name: var for var in system.inputs}, clock
        seen = [var.next for var in system.state]
        seen += unplaced(largest_terms(formulas, lambda symbol: unframed(symbol)[1]))
        read = [term for term in dict.fromkeys(seen) if names_in([term]) & self._inputs.keys()]
        self._terms = (conjunction([system.input_constraint, system.defined]), *read)
        self._told = _told(self._terms, self._inputs.keys())
        self._kind = compile_formulas(self._told)
        self._of_kind: dict[tuple[int, ...], list[int] | None] = {}
        self._numbers: dict[tuple[int, ...], int] = {}
        self._alone: dict[tuple[str | FNode, ...], list[int] | None] = {}

    def of(self, state: Valuation) -> list[int] | None:
        """The numbers of the choices from ``state``; None if there are too many."""
        kind = self._kind(state)
        if kind not in self._of_kind:
            values = {term: constant_like(term, value) for term, value in zip(self._told, kind, strict=True)}
            found = self._different(left(self._terms, values))
            self._of_kind[kind] = None if found is None else [self._number(choice) for choice in found]
        return self._of_kind[kind]

    def classes(self) -> InputClasses:
        """All choices as columns."""
        return of_choices([*self._inputs.values()], self.choices)

    def _number(self, choice: Valuation) -> int:
        """The number of a choice, in which inputs that do not matter have their plainest values."""
        whole = {name: choice.get(name, var.plainest) for name, var in self._inputs.items()}
        number = self._numbers.setdefault(tuple(whole.values()), len(self.choices))
        if number == len(self.choices):
            self.choices.append(whole)
        return number

    def _different(self, terms: tuple[FNode, ...]) -> list[Valuation] | None:
        """Values of inputs, one combination for each way in which ``terms`` may come out where the first of them holds;
        None if they are too many."""
        found: list[Valuation] = []
        ways: dict[tuple[FNode, ...], Valuation] = {terms: {}}
        todo = [terms]
        while todo:
            terms = todo.pop()
            order = post_order(terms)
            name = next((s.symbol_name() for s in order if s.is_symbol() and s.symbol_name() in self._inputs), None)
            if name is None:
                found.append(ways[terms])
                continue
            classes = self._classes(self._inputs[name], terms)
            self.work += ONE_TERM * len(order) * len(classes or ())
            if classes is None or self._clock.over or self.work > self._clock.limits.explored:
                return None
            for values in classes:
                symbols = {self._inputs[each].symbol: value for each, value in values.items()}
                rest = left(terms, {symbol: constant_like(symbol, value) for symbol, value in symbols.items()})
                if not rest[0].is_false() and rest not in ways:
                    ways[rest] = {**ways[terms], **values}
                    todo.append(rest)
        return found

    def _classes(self, var: InputVariable, terms: Sequence[FNode]) -> Sequence[Valuation] | None:
        """One value of ``var`` for each class of them, or values of all inputs that it is read with."""
        alone = read_alone(var, terms)
        key = var.name, *alone
        if key not in self._alone:
            self.work += min(var.count, ALONE)
            self._alone[key] = values_of(var, alone, self._clock)
        values = self._alone[key]
        if values is not None:
            return [{var.name: value} for value in values]
        self.work += ALONE
        return together(var, [*self._inputs.values()], terms, self._clock)


def left(terms: Sequence[FNode], values: Mapping[FNode, FNode]) -> tuple[FNode, ...]:
    """What is left of ``terms`` where parts of them have ``values``, which are constants."""
    made = dict(values)
    for node in post_order(terms, values):
        before = node.args()
        after = tuple(made[argument] for argument in before)
        made[node] = node if after == before else rebuilt(node, after)
    return tuple(made[term] for term in terms)


def _told(terms: Sequence[FNode], names: Collection[str]) -> list[FNode]:
    """The largest parts of ``terms`` that read none of the inputs ``names``, and on which something is decided where
    these are read: not those that only come out, as a branch of a choice does, or a word that is calculated with."""
    reads: dict[FNode, bool] = {}
    for node in post_order(terms):
        reads[node] = node.symbol_name() in names if node.is_symbol() else any(reads[part] for part in node.args())
    todo = [(term, True) for term in terms]
    met = set(todo)
    for node, comes_out in todo:
        if reads[node]:
            word = bits_of(node) > 0
            parts = (
                (part, comes_out and (place > 0 if node.is_ite() else word)) for place, part in enumerate(node.args())
            )
            fresh = dict.fromkeys(part for part in parts if part not in met)
            met.update(fresh)
            todo += fresh
    return [node for node, comes_out in todo if not (reads[node] or comes_out or node.is_constant())]

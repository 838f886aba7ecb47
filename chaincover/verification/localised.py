"""Proofs about smaller systems: some state variables are left, and every other one may have any value in each step.

The smaller system is made anew here from the variables that the certificate names. Every run of the program is a run of
it, for a step there needs some values of the others, and the program has some. So what no run there does, for goals
that read nothing else, no run of the program does, whatever is named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import replace

from pysmt.fnode import FNode

from bmc.errors import NoOriginal, listed
from bmc.formulas.evaluate import compile_formulas, names_in
from bmc.formulas.folding import raw_value
from bmc.formulas.lifting import lifted, with_free_comparisons
from bmc.formulas.unroll import plain_symbols
from bmc.records import dataclass
from bmc.system.original import Opener, Original
from bmc.system.transition import (
    BOOLEAN,
    InputVariable,
    StateVariable,
    TransitionSystem,
    Valuation,
    conjunction,
    conjuncts,
)
from chaincover.certificate import Part
from chaincover.verification.normal_form import Terms, values_in, with_constants
from chaincover.verification.setting import Setting


def localised_setting(setting: Setting, part: Part, constants: FNode) -> Setting | str:
    """``setting`` with the variables and the goals of ``part`` alone; in words, why it has none.

    Variables that never change have their values, by ``constants``, which is proved, before any is made an input.
    Where the final condition reads other variables, runs may end anywhere; conditions on a step to be defined that
    read others are left out, and a comparison of two inputs may turn out either way.
    """
    names = {var.name for var in setting.system.state}
    strange = [name for name in part.visible if name not in names]
    if strange:
        return f"{listed(strange)}: no variables of the state"
    hidden = names - {*part.visible}
    goals = [goal for goal in setting.goals if goal.name in part.proof.goals]
    strange = [name for name in part.proof.goals if name not in setting.by_name]
    strange += [goal.name for goal in goals if names_in(plain_symbols([goal.antecedent])) & hidden]
    if strange:
        return f"{listed(strange)}: no goals that read the variables left alone"
    ends = None if setting.final is None or names_in([setting.final]) & hidden else setting.final
    kept = tuple(replace(goal, consequent=None) for goal in goals)
    system = _without(with_constants(setting.system, constants), hidden, values_in(constants))
    made = replace(setting, system=system, goals=kept, final=ends)
    if part.proof.end != made.end:
        return f"it is about chains to '{part.proof.end}', not to '{made.end}'"
    return made


def _without(system: TransitionSystem, hidden: Set[str], constants: Terms) -> TransitionSystem:
    """``system`` with the state variables ``hidden`` as inputs, of one value where they are ``constants``."""
    state = [var for var in system.state if var.name not in hidden]
    inputs = [*system.inputs, *(_as_input(var, constants) for var in system.state if var.name in hidden)]
    nexts, free = with_free_comparisons(lifted([var.next for var in state]), {var.name for var in inputs})
    return replace(
        system,
        state=tuple(replace(var, next=following) for var, following in zip(state, nexts, strict=True)),
        inputs=(*inputs, *(InputVariable(symbol.symbol_name(), BOOLEAN) for symbol in free)),
        defined=conjunction(part for part in conjuncts(system.defined) if not names_in([part]) & hidden),
        asserts=(),
        undefined_behaviour=(),
        invariants=(),
        chosen=tuple(name for name in system.chosen if name not in hidden),
    )


def _as_input(var: StateVariable, constants: Terms) -> InputVariable:
    """``var`` as an input, of one value where it is one of ``constants``."""
    known = constants.get(var.symbol)
    if known is None:
        return InputVariable(var.name, var.type)
    value = var.type.value(raw_value(known))
    return InputVariable(var.name, var.type, ((value, value),))


def localised_original(opener: Opener, whole: TransitionSystem, small: TransitionSystem) -> Opener:
    """The original of the ``whole`` with the variables that ``small`` has among its inputs there, too; NoOriginal where
    that has inputs that the original knows nothing of, or steps that are undefined in the original."""
    hidden = {var.name for var in whole.state} - {var.name for var in small.state}
    defined = compile_formulas([whole.defined])

    @contextmanager
    def opened(kept: bool) -> Iterator[Original]:
        if len(small.inputs) > len(whole.inputs) + len(hidden):
            raise NoOriginal("comparisons may turn out either way there")
        with opener(kept) as original:
            yield _Localised(original, frozenset(hidden), lambda values: bool(defined(values)[0]))

    return opened


@dataclass(frozen=True)
class _Localised:
    """``original`` with the variables ``hidden`` among its inputs, where a step is ``defined``; see ``Original``."""

    original: Original
    hidden: frozenset[str]
    defined: Callable[[Valuation], bool]

    @property
    def name(self) -> str:
        return self.original.name

    @property
    def unreadable(self) -> Sequence[str]:
        return self.original.unreadable

    @property
    def notes(self) -> Sequence[str]:
        return self.original.notes

    def run(
        self, inputs: Sequence[Valuation], initial: Valuation | None = None, time_limit: float = 60
    ) -> list[Valuation]:
        return self.original.run(inputs, initial, time_limit)

    def runs(
        self, inputs: Sequence[Sequence[Valuation]], initial: Valuation | None = None, time_limit: float = 60
    ) -> list[Valuation]:
        return self.original.runs(inputs, initial, time_limit)

    def steps(self, pairs: Sequence[tuple[Valuation, Valuation]], time_limit: float = 60) -> list[Valuation]:
        if not all(self.defined({**state, **inputs}) for state, inputs in pairs):
            raise NoOriginal("some of the steps are undefined in C")
        return self.original.steps([self._placed(*pair) for pair in pairs], time_limit)

    def _placed(self, state: Valuation, inputs: Valuation) -> tuple[Valuation, Valuation]:
        """Each value where the original has it."""
        own = {name: value for name, value in inputs.items() if name in self.hidden}
        return {**state, **own}, {name: value for name, value in inputs.items() if name not in own}

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
from bmc.formulas.lifting import lifted, with_free_comparisons
from bmc.formulas.unroll import plain_symbols
from bmc.records import dataclass
from bmc.system.original import Opener, Original
from bmc.system.transition import (
    BOOLEAN,
    InputVariable,
    TransitionSystem,
    Valuation,
    conjunction,
    conjuncts,
    with_stated_values,
)
from chaincover.certificate import Certificate, Part
from chaincover.verification.invariants import assumed
from chaincover.verification.limits import Clock
from chaincover.verification.normal_form import with_constants
from chaincover.verification.setting import Setting

VALUES = "values of the variables"
"""The name of the invariant."""


def localised_setting(setting: Setting, part: Part, constants: FNode, clock: Clock) -> Setting | str:
    """``setting`` with the variables and the goals of ``part`` alone; in words, why it has none.

    Variables that never change have their values, by ``constants``, which is proved, before any is made an input. The
    others have the values that ``part`` says if that is proved by induction here, else any.

    Where the final condition reads other variables, runs may end anywhere; conditions on a step to be defined that
    read others are left out, and a comparison of inputs, or of such a variable with something else, may turn out either
    way.
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
    whole = replace(setting, system=with_constants(setting.system, constants))
    values = conjunction([_values(whole, part, clock), constants])
    system, sought = _without(whole.system, hidden, [goal.antecedent for goal in goals], values)
    kept = tuple(replace(goal, antecedent=f, consequent=None) for goal, f in zip(goals, sought, strict=True))
    made = replace(setting, system=system, goals=kept, final=ends)
    if part.proof.end != made.end:
        return f"it is about chains to '{part.proof.end}', not to '{made.end}'"
    return made


def _without(
    system: TransitionSystem, hidden: Set[str], sought: Sequence[FNode], values: FNode
) -> tuple[TransitionSystem, list[FNode]]:
    """``system`` with the state variables ``hidden`` as inputs that have some of the ``values``, and the formulas
    ``sought`` as they read there."""
    state = [var for var in system.state if var.name not in hidden]
    following, sought, free = with_free_comparisons(
        lifted([var.next for var in state]), sought, [var.name for var in system.inputs], hidden
    )
    inputs = [*system.inputs, *(InputVariable(var.name, var.type) for var in system.state if var.name in hidden)]
    told = [each for each in conjuncts(values) if names_in([each]) <= hidden]
    small = replace(
        system,
        state=tuple(replace(var, next=term) for var, term in zip(state, following, strict=True)),
        inputs=(*inputs, *(InputVariable(name, BOOLEAN) for name in free)),
        input_constraint=conjunction([system.input_constraint, *told]),
        defined=conjunction(part for part in conjuncts(system.defined) if not names_in([part]) & hidden),
        asserts=(),
        undefined_behaviour=(),
        invariants=(),
        chosen=tuple(name for name in system.chosen if name not in hidden),
    )
    return with_stated_values(small), sought


def _values(setting: Setting, part: Part, clock: Clock) -> FNode:
    """The invariant ``part.values`` where it is proved here, else true."""
    said = Certificate(goals=(), end=setting.end, overlap="", invariants=(VALUES,), formulas={VALUES: part.values})
    return assumed(setting, said, None, clock)[0].always


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

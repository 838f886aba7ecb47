"""What a project's bounds of functions of the C library mean for those who read it: a command that searches with them
has the calls that matter, ``check`` leaves out what depends on them, and all other commands refuse it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from enum import Enum

from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE

from bmc.analysis.slice import always_true
from bmc.errors import InputRefused, listed
from bmc.formulas.terms import negate
from bmc.models.undetermined import (
    LibraryCall,
    Need,
    Undetermined,
    dependence,
    step_formulas,
    without,
    without_needless,
)
from bmc.records import dataclass
from bmc.system.transition import TransitionSystem, conjunction, conjuncts
from chaincover.library import Bounded, NotAnalysed
from properties.goal import Goal


class UseOfBounds(Enum):
    """What a caller does with goals that depend on functions of which only bounds are known."""

    REFUSED = "refused"
    SEARCHED = "searched"
    LEFT_OUT = "left out"


@dataclass(frozen=True)
class Asked:
    """What is asked of a system: ``goals``, and the ``final`` condition as text, with what each needs."""

    goals: tuple[Goal, ...]
    needs: tuple[Need, ...]
    final_text: str
    final_needs: tuple[Need, ...] = ()

    @property
    def formulas(self) -> list[FNode]:
        """All that is needed."""
        return [formula for need in (*self.needs, *self.final_needs) for formula in need.formulas]


@dataclass(frozen=True)
class Read:
    """The ``system`` that is left, the calls of the C library in it, notes, and what is ``not_analysed``."""

    system: TransitionSystem
    library: Bounded | None = None
    remarks: tuple[str, ...] = ()
    not_analysed: NotAnalysed = field(default_factory=NotAnalysed)


def read_bounds(
    system: TransitionSystem, calls: Sequence[LibraryCall], asked: Asked, bounds: UseOfBounds, held: bool
) -> Read:
    """``system`` as ``bounds`` says. InputRefused where what is ``asked`` or a step depends on ``calls``, and that is
    refused, or inputs are ``held`` for several steps."""
    if not calls:
        return Read(system)
    if bounds is UseOfBounds.LEFT_OUT:
        return _left_out(system, calls, asked)
    part, needed, notes = without_needless(system, calls, asked.formulas)
    if not needed:
        return Read(part, None, notes)
    if bounds is UseOfBounds.REFUSED or held:
        _refuse(system, needed, asked, bounds is UseOfBounds.SEARCHED)
    return Read(part, Bounded(needed), notes)


def _left_out(system: TransitionSystem, calls: Sequence[LibraryCall], asked: Asked) -> Read:
    system, remarks = _within_bounds(system, calls)
    found = dependence(system, calls)
    step = _functions(found, step_formulas(system, calls))
    goals = {goal: _functions(found, need.formulas) for goal, need in zip(asked.goals, asked.needs, strict=True)}
    final = _functions(found, [formula for need in asked.final_needs for formula in need.formulas])
    told = [(goal, functions or step) for goal, functions in goals.items() if functions or step]
    end = (final or step) if asked.final_text else ""
    not_analysed = NotAnalysed(tuple(told), asked.final_text if end else "", end, step)
    if step:
        return Read(_bare(system, found), None, (), not_analysed)
    part, _, notes = without_needless(system, calls, [])
    return Read(part, None, (*notes, *remarks), not_analysed)


def _within_bounds(system: TransitionSystem, calls: Sequence[LibraryCall]) -> tuple[TransitionSystem, tuple[str, ...]]:
    """``system`` without the conditions on a step that depend on ``calls`` and always hold if the bounds are right, and
    a remark where there are any."""
    found = dependence(system, calls)
    parts = [part for part in conjuncts(system.defined) if found.of([part])]
    places = [negate(place.formula) for place in system.undefined_behaviour if found.of([place.formula])]
    if not parts and not places:
        return system, ()
    sure = always_true(system, [*parts, *places])
    if not sure:
        return system, ()
    defined = conjunction(part for part in conjuncts(system.defined) if part not in sure)
    left = tuple(place for place in system.undefined_behaviour if negate(place.formula) not in sure)
    used = found.of(sure)
    within = Bounded(tuple(call for call in calls if call.name in used)).bounds
    text = f"that no value of functions of the C library makes a step undefined rests on their bounds: {within}"
    return replace(system, defined=defined, undefined_behaviour=left), (text,)


def _bare(system: TransitionSystem, found: Undetermined) -> TransitionSystem:
    """Inputs and variables that do not depend on functions with bounds, without any condition that does."""
    bare = without(replace(system, invariants=()), found.dependent)
    allowed = (part for part in conjuncts(bare.input_constraint) if not found.of([part]))
    return replace(
        bare,
        input_constraint=conjunction(allowed),
        defined=TRUE(),
        asserts=(),
        undefined_behaviour=(),
        assumptions=(),
        constraints=(),
    )


def _functions(found: Undetermined, formulas: Sequence[FNode]) -> str:
    """The functions on which ``formulas`` depend, as text."""
    names = {found.calls[symbol].function for symbol in found.of(formulas)}
    return listed([f"{name}()" for name in sorted(names)])


def _refuse(system: TransitionSystem, calls: Sequence[LibraryCall], asked: Asked, searched: bool) -> None:
    """InputRefused for what depends on ``calls``; ``searched``: all is well but for inputs that are held."""
    found = dependence(system, calls)
    needs = (*asked.needs, *asked.final_needs)
    wanted = next((need for need in needs if found.of(need.formulas)), None)
    what = "whether a step is defined" if wanted is None else wanted.what
    functions = _functions(found, step_formulas(system, calls) if wanted is None else wanted.formulas)
    text = f"{what} depends on {functions} of the C library, of which only bounds are known"
    if searched:
        hint = "leave out --hold and interface.hold: then 'chaincover generate' finds one chain"
        raise InputRefused(f"{text}: no chain is sought with inputs that are held", calls[0].bounded, hint)
    hint = (
        "use 'chaincover generate' (one chain, without --several and --most), or define the function in a source file"
    )
    raise InputRefused(f"{text}: this command is not made for that", calls[0].bounded, hint)

"""Which state can still make a difference: for a final condition ``init``, and for what ``check`` tells."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence, Set
from dataclasses import replace
from typing import Any

from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE

from bmc.analysis.constants import constant_state
from bmc.analysis.idle import inputs_read
from bmc.formulas.evaluate import names_in
from bmc.records import dataclass
from bmc.system.constraints import remembers
from bmc.system.names import DEFINED
from bmc.system.transition import InputVariable, StateVariable, TransitionSystem
from chaincover.project.values import show_value
from chaincover.reductions.slicing import latched_values, plain_symbols
from chaincover.subject import Observers, compared_with_init, formulas_of, live_for
from properties.goal import Goal


@dataclass(frozen=True)
class Liveness:
    """State variables and inputs by name, in the system's order, without those that the tool made.

    ``live``: their value at the start of a step can make a difference to outputs, goals, asserts or to whether a step
    is valid, now or later (``for_validity``: only to whether it is defined); ``dead``: it cannot (``self_read``: though
    it is read, for its own next value or those of other dead ones); outputs that each step writes are in neither.
    ``latched``: those of which the final condition asks for the value after init, which they never have again once they
    have left it. ``observed``: whether there are outputs, goals or asserts. ``constant``: with their
    value as text. ``compared``: those that a state like the one after init has as then. ``needed`` and
    ``needed_inputs``: what the goals and the final condition depend on; ``unread_inputs``: nothing at all does.
    ``variables`` counts all that are no inputs.
    """

    observed: bool
    live: tuple[str, ...]
    for_validity: tuple[str, ...]
    dead: tuple[str, ...]
    self_read: tuple[str, ...]
    constant: tuple[tuple[str, str], ...]
    compared: tuple[str, ...]
    latched: tuple[str, ...]
    needed: tuple[str, ...]
    needed_inputs: tuple[str, ...]
    unread_inputs: tuple[str, ...]
    variables: int

    def as_data(self) -> dict[str, Any]:
        """The facts as plain data."""
        return {
            "observed": self.observed,
            "live": list(self.live),
            "live_only_for_validity": list(self.for_validity),
            "dead": list(self.dead),
            "dead_read_by_dead": list(self.self_read),
            "constant": dict(self.constant),
            "compared_with_init": list(self.compared),
            "never_as_after_init_again": list(self.latched),
            "goals_depend_on": {"state": list(self.needed), "inputs": list(self.needed_inputs)},
            "unread_inputs": list(self.unread_inputs),
        }


def find_liveness(
    system: TransitionSystem, observers: Observers, goals: Sequence[Goal], final: FNode | None, part: TransitionSystem
) -> Liveness:
    """What is live for asserts and ``observers``, and what goals and end depend on; ``part`` is the slice for these."""
    live = live_for(system, observers)
    always = replace(system, defined=TRUE())
    seen_later = live if system.defined.is_true() else live_for(always, _always_valid(observers))
    constant = constant_state(system)
    seen = system.visible_state
    names, seen_names = _with_definedness(seen, live), _with_definedness(seen, seen_later)
    of_use = {*names, *constant, *observers.outputs}
    dead = [v for v in seen if v.name not in of_use]
    read_by_dead = names_in([v.next for v in dead])
    read = _inputs_with_effect(system, goals, observers)
    return Liveness(
        observed=bool(observers.goals or observers.outputs or system.asserts),
        live=_named(seen, names),
        for_validity=_named(seen, names - seen_names),
        dead=_names(dead),
        self_read=_named(dead, read_by_dead),
        constant=tuple((v.name, str(show_value(v.type, constant[v.name]))) for v in seen if v.name in constant),
        compared=_names(v for v in compared_with_init(system, live) if v.role != "internal"),
        latched=tuple(latched_values(part, final)),
        needed=_named(seen, {*_names(part.state)} - constant.keys()),
        needed_inputs=_names(part.inputs),
        unread_inputs=_names(v for v in system.inputs if v.name not in read),
        variables=len(seen),
    )


def _names(variables: Iterable[StateVariable | InputVariable]) -> tuple[str, ...]:
    return tuple(v.name for v in variables)


def _named(variables: Iterable[StateVariable], names: Collection[str]) -> tuple[str, ...]:
    """Those of ``names`` that ``variables`` have, in their order."""
    return _names(v for v in variables if v.name in names)


def _with_definedness(variables: Iterable[StateVariable], live: Set[str]) -> set[str]:
    """The variables that are live themselves, or of which it is live whether they have been set."""
    return {v.name for v in variables if not live.isdisjoint((v.name, v.name + DEFINED))}


def _always_valid(observers: Observers) -> Observers:
    whole = observers.whole
    return observers if whole is None else replace(observers, whole=replace(whole, defined=TRUE()))


def _inputs_with_effect(system: TransitionSystem, goals: Sequence[Goal], observers: Observers) -> Collection[str]:
    """The inputs that the next state, validity, an assertion, a goal, or a call of the C library depends on."""
    whole = observers.whole or system
    nexts = (v.next for v in (*system.state, *whole.state) if not remembers(v.name))
    asserted = (a.formula for a in (*system.asserts, *whole.asserts))
    called = (formula for call in observers.calls for formula in (*call.arguments, call.reached))
    return inputs_read(
        system, [*nexts, system.defined, whole.defined, *asserted, *plain_symbols(formulas_of(goals)), *called]
    )

"""Values that a formula does not determine: what a function of the C library yields that each library computes in its
own way (``sin``, ``exp``, ``pow``).

The value of each such call is a symbol of its own, of which nothing is known. A variable is undetermined if its value
after init or after a step depends on such a symbol, at once or through other variables. The system of the model has
neither these variables nor the symbols, and so nothing that is said of it depends on them. Whatever needs one of them
is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace

from pysmt.fnode import FNode

from bmc.errors import Location, Refusals, UnsupportedConstruct, listed
from bmc.formulas.evaluate import names_in
from bmc.formulas.unroll import NEXT
from bmc.records import dataclass
from bmc.system.names import DEFINED
from bmc.system.transition import Condition, StateVariable, TransitionSystem

NEXT_STEP = (
    "define the function in a source file, such as a table with interpolation: model and replay then use that; or keep "
    "what the call yields out of all that is needed"
)
"""What a user can do about a call whose value is needed."""


@dataclass(frozen=True, slots=True)
class LibraryCall:
    """One evaluation of a call of ``function`` with ``arguments``; ``symbol`` is its value."""

    function: str
    symbol: FNode
    where: Location
    arguments: tuple[FNode, ...]


@dataclass(frozen=True)
class Undetermined:
    """What of a program is undetermined.

    ``calls``: by the name of its symbol each call that the program makes. ``dependent``: the symbols on which each of
    these, by its arguments, and each undetermined variable depends. ``whole`` is the system with these variables; its
    symbols of calls are no variables.
    """

    calls: Mapping[str, LibraryCall] = field(default_factory=dict)
    dependent: Mapping[str, frozenset[str]] = field(default_factory=dict)
    whole: TransitionSystem | None = None

    def of(self, formulas: Iterable[FNode]) -> frozenset[str]:
        """The symbols on which ``formulas`` (plain or framed) depend."""
        if not self.calls:
            return frozenset()
        names = {name.partition("@")[0].removeprefix(NEXT) for name in names_in(formulas)}
        return frozenset().union(*(self.dependent.get(name, ()) for name in names))

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of results should know: which variables they say nothing of."""
        shown = [name for name in self.dependent if name not in self.calls and not name.endswith(DEFINED)]
        if not shown:
            return ()
        used = frozenset().union(*(self.dependent[name] for name in shown))
        places = dict.fromkeys(f"{call.function} ({call.where})" for name, call in self.calls.items() if name in used)
        verb = "depends" if len(shown) == 1 else "depend"
        text = f"{listed([repr(name) for name in shown])} {verb} on functions of the C library: {listed([*places])}"
        them = "it" if len(shown) == 1 else "them"
        return (f"{text}; nothing is compared or said of {them}",)


NOTHING = Undetermined()


@dataclass(frozen=True, slots=True)
class Need:
    """What is refused if it is undetermined: ``what`` names it, in words; it is made of ``formulas``."""

    what: str
    formulas: tuple[FNode, ...]


def refuse_needed(undetermined: Undetermined, needs: Iterable[Need]) -> None:
    """UnsupportedConstruct, or several of them, for the calls on which one of ``needs`` depends, each with its place
    and with all that needs it."""
    wanted: dict[tuple[str, Location], list[str]] = {}
    for need in needs:
        for symbol in sorted(undetermined.of(need.formulas)):
            call = undetermined.calls[symbol]
            wanted.setdefault((call.function, call.where), []).append(need.what)
    refusals = Refusals()
    for (function, where), whats in sorted(wanted.items(), key=lambda item: item[0][1]):
        refusals.add(
            UnsupportedConstruct(
                f"unsupported C construct: '{function}' of <math.h>, whose results depend on the library, where they "
                f"are needed: by {listed([*dict.fromkeys(whats)], between=', by ')}",
                where,
                NEXT_STEP,
            )
        )
    refusals.refuse()


def without_undetermined(
    system: TransitionSystem, starts: Mapping[str, Sequence[FNode]], calls: Sequence[LibraryCall]
) -> tuple[TransitionSystem, Undetermined]:
    """``system`` without what depends on ``calls``, and that.

    ``starts``: the formulas of each variable's value after init. UnsupportedConstruct where undefined behaviour, an
    assumption or an assertion depends on a call.
    """
    by_symbol = {call.symbol.symbol_name(): call for call in calls}
    if not by_symbol:
        return system, NOTHING
    dependent = _dependent(system, starts, by_symbol)
    found = Undetermined(by_symbol, dependent)
    refuse_needed(found, _needs_of_steps(system))
    refuse_needed(found, [Need("what a step needs to be defined", (system.defined, system.input_constraint))])
    kept = tuple(var for var in system.state if var.name not in dependent)
    part = replace(
        system,
        state=kept,
        invariants=tuple(inv for inv in system.invariants if not found.of([inv.formula])),
        chosen=tuple(name for name in system.chosen if name not in dependent),
    )
    return part, replace(found, whole=replace(system, state=tuple(map(_with_start, system.state))))


def undefined_places(places: Iterable[Condition]) -> Iterable[Need]:
    """The needs of what may be undefined behaviour."""
    for place in places:
        yield Need(f"the condition of undefined behaviour '{place.name}' ({place.where})", (place.formula,))


def _needs_of_steps(system: TransitionSystem) -> Iterable[Need]:
    yield from undefined_places(system.undefined_behaviour)
    for assumed in system.assumptions:
        yield Need(f"the assumption in the code at {assumed.where}", (assumed.formula,))
    for asserted in system.asserts:
        yield Need(f"the assertion at {asserted.where}", (asserted.formula,))


def _dependent(
    system: TransitionSystem, starts: Mapping[str, Sequence[FNode]], calls: Mapping[str, LibraryCall]
) -> dict[str, frozenset[str]]:
    """``calls``, and the variables that depend on them in the system's order, each with the symbols that it depends on.

    A variable and the bit that says whether it is set are one.
    """
    read = {name: names_in(call.arguments) for name, call in calls.items()}
    for var in system.state:
        formulas = [var.next, *([] if var.init is None else [var.init]), *starts.get(var.name, ())]
        read.setdefault(var.name.removesuffix(DEFINED), set()).update(names_in(formulas))
    known: dict[str, frozenset[str]] = {name: frozenset([name]) for name in calls}
    users: dict[str, set[str]] = {}
    for name, names in read.items():
        for each in names:
            users.setdefault(each.removesuffix(DEFINED), set()).add(name)
    todo = list(calls)
    while todo:
        name = todo.pop()
        for user in users.get(name, ()):
            more = known.get(user, frozenset()) | known[name]
            if more != known.get(user):
                known[user] = more
                todo.append(user)
    owners = {var.name: var.name.removesuffix(DEFINED) for var in system.state}
    found = {name: known[owner] for name, owner in owners.items() if owner in known}
    return {**{name: known[name] for name in calls}, **found}


def _with_start(var: StateVariable) -> StateVariable:
    """``var``; where its start value is undetermined, one that init leaves open if nothing changes it, else another
    value than after a step."""
    if var.init is None or var.init.is_constant():
        return var
    return replace(var, init=None if var.next is var.symbol else var.type.constant(0))

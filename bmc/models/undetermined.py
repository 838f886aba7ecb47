"""Values that a formula does not determine: what a function of the C library yields that each library computes in its
own way (``sin``, ``exp``, ``pow``).

The value of each such call is a symbol of its own, of which nothing is known. A variable is undetermined if its value
after init or after a step depends on such a symbol, at once or through other variables. The system of the model has
neither these variables nor the symbols, and so nothing that is said of it depends on them. Whatever needs one of them
is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace

from pysmt.fnode import FNode

from bmc.errors import Location, Refusals, UnsupportedConstruct, listed
from bmc.floats.format import FLOAT32
from bmc.formulas.evaluate import names_in
from bmc.formulas.unroll import NEXT
from bmc.formulas.value_sets import Ranges
from bmc.records import dataclass
from bmc.system.names import DEFINED
from bmc.system.transition import (
    Condition,
    InputVariable,
    StateVariable,
    TransitionSystem,
    ValueType,
    conjunction,
    conjuncts,
    membership,
)

NEXT_STEP = (
    "define the function in a source file, such as a table with interpolation: model and replay then use that; or "
    'bound its values in the project file: [functions] bounds = { sin = "-1.0..1.0" }'
)
"""What a user can do about a call whose value is needed."""
IN_C = (
    "give what it computes in C: put a header of your own with a function or macro of the same name into a folder of "
    "sources.include, or leave out what needs the value (--exclude)"
)
"""The same about inline assembly."""


@dataclass(frozen=True, slots=True)
class LibraryCall:
    """One evaluation of a call of ``function`` with ``arguments``, which takes place when ``reached`` holds; ``symbol``
    is its value. ``ranges`` are the patterns that the user says it may have, () where nothing is said; the project says
    so at ``bounded``. ``word_sizes`` are those of the C library that the compiled original calls, '' for this
    machine's. ``assembly``: what yields the value is no function, but inline assembly with ``function`` as its text."""

    function: str
    symbol: FNode
    where: Location
    arguments: tuple[FNode, ...]
    reached: FNode
    ranges: Ranges = ()
    bounded: Location | None = None
    word_sizes: str = ""
    assembly: bool = False

    @property
    def name(self) -> str:
        """The name of its symbol."""
        return str(self.symbol.symbol_name())

    @property
    def value_type(self) -> ValueType:
        """The type of its value."""
        bits = self.symbol.bv_width()
        return ValueType("float" if bits == FLOAT32.bits else "double", bits, floating=True)


@dataclass(frozen=True)
class Undetermined:
    """What of a program is undetermined.

    ``calls``: by the name of its symbol each call that the program makes. ``dependent``: the symbols on which each of
    these, by its arguments, and each undetermined variable depends. ``whole`` is the system with these variables; its
    symbols of calls are no variables. ``bounded``: the other calls, whose values the user bounds; these values are
    inputs of the system.
    """

    calls: Mapping[str, LibraryCall] = field(default_factory=dict)
    dependent: Mapping[str, frozenset[str]] = field(default_factory=dict)
    whole: TransitionSystem | None = None
    bounded: tuple[LibraryCall, ...] = ()

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
        whole = _places([call for name, call in self.calls.items() if name in used])
        verb = "depends" if len(shown) == 1 else "depend"
        text = f"{listed([repr(name) for name in shown])} {verb} on {whole}"
        them = "it" if len(shown) == 1 else "them"
        return (f"{text}; nothing is compared or said of {them}",)


def _places(calls: Sequence[LibraryCall]) -> str:
    """What ``calls`` call, and where."""
    functions = dict.fromkeys(f"{call.function} ({call.where})" for call in calls if not call.assembly)
    texts = dict.fromkeys(f"'{call.function}' ({call.where})" for call in calls if call.assembly)
    kinds = {"functions of the C library": functions, "inline assembly": texts}
    return " and on ".join(f"{kind}: {listed([*places])}" for kind, places in kinds.items() if places)


NOTHING = Undetermined()


@dataclass(frozen=True, slots=True)
class Need:
    """What is refused if it is undetermined: ``what`` names it, in words; it is made of ``formulas``."""

    what: str
    formulas: tuple[FNode, ...]


def refuse_needed(undetermined: Undetermined, needs: Iterable[Need]) -> None:
    """UnsupportedConstruct, or several of them, for the calls on which one of ``needs`` depends, each with its place
    and with all that needs it."""
    wanted: dict[tuple[str, Location, bool], list[str]] = {}
    for need in needs:
        for symbol in sorted(undetermined.of(need.formulas)):
            call = undetermined.calls[symbol]
            wanted.setdefault((call.function, call.where, call.assembly), []).append(need.what)
    refusals = Refusals()
    for (function, where, assembly), whats in sorted(wanted.items(), key=lambda item: item[0][1]):
        library = f"'{function}' of <math.h>, whose results depend on the library"
        what = f"inline assembly '{function}', of whose results nothing is known" if assembly else library
        text = f"unsupported C construct: {what}, where they are needed"
        needed = listed([*dict.fromkeys(whats)], between=", by ")
        refusals.add(UnsupportedConstruct(f"{text}: by {needed}", where, IN_C if assembly else NEXT_STEP))
    refusals.refuse()


def _unbounded(
    system: TransitionSystem, starts: Mapping[str, Sequence[FNode]], calls: Sequence[LibraryCall]
) -> tuple[Undetermined, list[LibraryCall]]:
    """What depends on those of ``calls`` without bounds, and those that have bounds and determined arguments."""
    bounded = [call for call in calls if call.ranges]
    while True:
        by_symbol = {call.name: call for call in calls if call not in bounded}
        found = Undetermined(by_symbol, _dependent(system, starts, by_symbol))
        sure = [call for call in bounded if not found.of([*call.arguments, call.reached])]
        if len(sure) == len(bounded):
            return found, bounded
        bounded = sure


def without_undetermined(
    system: TransitionSystem, starts: Mapping[str, Sequence[FNode]], calls: Sequence[LibraryCall]
) -> tuple[TransitionSystem, Undetermined]:
    """``system`` without what depends on those of ``calls`` that nobody bounds, and that.

    ``starts``: the formulas of each variable's value after init. The values of the calls with bounds are further inputs
    of the system; but a call whose arguments are undetermined is so itself. UnsupportedConstruct where undefined
    behaviour, an assumption or an assertion depends on a call without bounds.
    """
    if not calls:
        return system, NOTHING
    found, bounded = _unbounded(system, starts, calls)
    by_symbol = found.calls
    refuse_needed(found, _needs_of_steps(system))
    refuse_needed(found, [Need("what a step needs to be defined", (system.defined, system.input_constraint))])
    part, dependent = without(system, found.dependent), found.dependent
    used = names_in([*formulas_of(part), *(formula for call in bounded for formula in (*call.arguments, call.reached))])
    bounded = [call for call in bounded if call.name in used]
    inputs = tuple(InputVariable(call.name, call.value_type, call.ranges) for call in bounded)
    whole = replace(system, state=tuple(map(_with_start, system.state)), inputs=(*system.inputs, *inputs))
    found = Undetermined(by_symbol, dependent, whole if by_symbol else None, tuple(bounded))
    allowed = (membership(var.symbol, var.type, var.values) for var in inputs)
    constraint = conjunction([part.input_constraint, *allowed])
    return replace(part, inputs=(*part.inputs, *inputs), input_constraint=constraint), found


def without(system: TransitionSystem, names: Collection[str]) -> TransitionSystem:
    """``system`` without the variables ``names``, which nothing else in it depends on, and without what is said of
    them alone."""
    allowed = (part for part in conjuncts(system.input_constraint) if names_in([part]).isdisjoint(names))
    return replace(
        system,
        input_constraint=conjunction(allowed),
        state=tuple(var for var in system.state if var.name not in names),
        inputs=tuple(var for var in system.inputs if var.name not in names),
        invariants=tuple(inv for inv in system.invariants if names_in([inv.formula]).isdisjoint(names)),
        chosen=tuple(name for name in system.chosen if name not in names),
    )


def formulas_of(system: TransitionSystem) -> list[FNode]:
    """All formulas of a system but those of its invariants."""
    conditions = (*system.asserts, *system.undefined_behaviour, *system.assumptions, *system.constraints)
    named = [condition.formula for condition in conditions]
    return [*(var.next for var in system.state), system.input_constraint, system.defined, *named]


def dependence(system: TransitionSystem, calls: Sequence[LibraryCall]) -> Undetermined:
    """What depends on ``calls``, whose values are inputs of ``system``."""
    by_symbol = {call.name: call for call in calls}
    return Undetermined(by_symbol, _dependent(system, {}, by_symbol), system)


def step_formulas(system: TransitionSystem, calls: Sequence[LibraryCall]) -> list[FNode]:
    """What a step needs: formulas of which it depends whether it is allowed and defined, and what is stated of it."""
    conditions = (*system.asserts, *system.undefined_behaviour, *system.assumptions, *system.invariants)
    return [system.defined, *allowed_by_others(system, calls), *(condition.formula for condition in conditions)]


def for_any_value(system: TransitionSystem, calls: Sequence[LibraryCall]) -> TransitionSystem:
    """``system`` without the bounds of the values of ``calls``: what is proved of it does not rest on these."""
    return replace(system, input_constraint=conjunction(allowed_by_others(system, calls))) if calls else system


def allowed_by_others(system: TransitionSystem, calls: Sequence[LibraryCall]) -> list[FNode]:
    """The parts of the input constraint that are no bounds of ``calls``."""
    names = {call.name for call in calls}
    return [part for part in conjuncts(system.input_constraint) if not names_in([part]) <= names]


def without_needless(
    system: TransitionSystem, calls: Sequence[LibraryCall], needs: Iterable[FNode]
) -> tuple[TransitionSystem, tuple[LibraryCall, ...], tuple[str, ...]]:
    """``system`` without what depends on those of ``calls``, whose values are inputs of it, on which neither its steps
    nor ``needs`` depend; the other calls, and notes on what is left out."""
    found = dependence(system, calls)
    needed = found.of([*step_formulas(system, calls), *needs])
    needless = {name: symbols for name, symbols in found.dependent.items() if not symbols <= needed}
    left_out = Undetermined({name: call for name, call in found.calls.items() if name not in needed}, needless)
    return without(system, needless), tuple(call for call in calls if call.name in needed), left_out.notes


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

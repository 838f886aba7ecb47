"""What lies outside of a program: objects that no source defines, volatile ones, and what pointer members point to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from bmc.c.controller.environment import undefined_object
from bmc.c.controller.runs import Runs
from bmc.c.execute.memory import UNDEFINED, Key, MemObject
from bmc.c.execute.recorder import StepResult, is_volatile, is_written, read_names
from bmc.c.execute.variables import matching, variable_name
from bmc.c.source.config import SourceConfig
from bmc.c.source.program import Program
from bmc.c.source.types import ArrayType, CType, PointerType, StructType, scalars
from bmc.errors import InputRefused, Location


def check_outside(runs: Runs, roles: Mapping[Key, str], result: StepResult, read_by_init: Iterable[Key]) -> None:
    """Refuse a value from outside that init or step read and the project does not describe.

    Such are objects that no source defines, and volatile ones that any access reads before they are written;
    ``read_by_init`` are those that init so reads. What the project lists under ``interface.state`` keeps its
    value; what it gives a value in ``interface.values`` has it.
    """
    config, environment = runs.config, runs.environment
    names = {variable_name(*key): key for key in roles}
    told = {names[name] for name in matching(config.state, list(names), config.where, "state variable")}
    told |= environment.valued
    read = read_names(result)

    def unknown(key: Key) -> bool:
        return roles.get(key) == "state" and key not in told and variable_name(*key) in read

    for obj in environment.externs:
        keys = [(obj, path) for path, _ in scalars(obj.ctype)]
        if not keys or isinstance(obj.ctype, PointerType) or any(unknown(key) for key in keys):
            raise undefined_object(obj)
    early = set(read_by_init)
    for key in result.final:
        if key not in roles or key in told or not is_volatile(key, runs.executor.through_volatile):
            continue
        if key in early:
            raise _volatile_in_init(key)
        place = result.recorder.unwritten.get(key)
        if roles[key] != "input" and (place is not None or variable_name(*key) in read):
            raise _volatile_in_step(key, is_written(key, result), place)


def _volatile_in_step(key: Key, written: bool, place: Location | None) -> InputRefused:
    at = f" (at {place})" if place is not None else ""
    way = "is read before the step writes it" if written else "is read, and the step never writes it"
    return InputRefused(
        f"the volatile object '{variable_name(*key)}' {way}{at}: what it holds comes from outside",
        key[0].declared,
        "list it in interface.input (one value per step), or in interface.state (it keeps its value)",
    )


def _volatile_in_init(key: Key) -> InputRefused:
    return InputRefused(
        f"init reads the volatile object '{variable_name(*key)}' before writing it: what it holds comes from outside, "
        "and no input has a value before the first step",
        key[0].declared,
        "leave that out of init, or list it in interface.state if it keeps its value",
    )


def volatile_notes(program: Program, used: Iterable[MemObject]) -> list[str]:
    """How volatile objects are read."""
    found = set(volatile_objects(program)) & set(used)
    constants = sorted(obj.name for obj in found if obj.const)
    others = sorted(obj.name for obj in found if not obj.const)
    notes = []
    if constants:
        notes.append(f"const volatile, taken as constant: {', '.join(constants)} (an input with interface.input)")
    if others:
        notes.append(f"volatile, read like other memory (an input: one value per step): {', '.join(others)}")
    return notes


def open_volatile_inputs(program: Program, config: SourceConfig) -> None:
    """Let ``const volatile`` objects change from outside where the project lists them as inputs."""
    for obj in volatile_objects(program):
        names = [variable_name(obj, path) for path, _ in scalars(obj.ctype)]
        if obj.const and any(_selects(pattern, names, config) for pattern in config.input):
            obj.const, obj.kind = False, "global"


def _selects(pattern: str, names: list[str], config: SourceConfig) -> bool:
    try:
        return bool(matching([pattern], names, config.where, "input variable"))
    except InputRefused:
        return False


def volatile_objects(program: Program) -> list[MemObject]:
    """File-scope objects that are declared volatile, or with a volatile member."""
    objects = (obj for unit in program.units for obj in unit.scope.names.values() if isinstance(obj, MemObject))
    return list(dict.fromkeys(obj for obj in objects if obj.volatile or _has_volatile_member(obj.ctype)))


def _has_volatile_member(ctype: CType) -> bool:
    while isinstance(ctype, ArrayType):
        ctype = ctype.element
    members = (ctype.fields or []) if isinstance(ctype, StructType) else []
    return any(member.volatile or _has_volatile_member(member.type) for member in members)


def without_untouched(runs: Runs, result: StepResult, touched: set[MemObject]) -> StepResult:
    """The run without the objects behind pointer members that neither init nor the step came to."""
    binding = runs.binding
    gone = {obj for obj in binding.members.values() if obj not in touched}
    if not gone:
        return result
    ways = {key for key, obj in binding.members.items() if obj in gone}
    binding.forget(gone)

    def kept(cells: Mapping[Key, object]) -> dict[Key, object]:
        return {key: UNDEFINED if key in ways else cell for key, cell in cells.items() if key[0] not in gone}

    return replace(
        result,
        start=kept(result.start),  # type: ignore[arg-type]
        final=kept(result.final),  # type: ignore[arg-type]
        shadowed=frozenset(key for key in result.shadowed if key[0] not in gone),
    )

"""What lies outside of a program: objects that no source defines, volatile ones, and what pointer members point to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pycparser import c_ast
from pysmt.fnode import FNode

from bmc.c.config import SourceConfig
from bmc.c.environment import undefined_object
from bmc.c.memory import UNDEFINED, Content, Key, MemObject
from bmc.c.program import Program, Unit
from bmc.c.types import PointerType, scalars
from bmc.c.variables import is_variable, matching, symbol_content, variable_name
from bmc.errors import InputRefused

if TYPE_CHECKING:
    from bmc.c.build import Builder
    from bmc.c.interface import StepResult


def check_outside(builder: Builder, roles: Mapping[Key, str], result: StepResult) -> None:
    """Refuse a value from outside that the step reads and the project does not describe.

    Such are objects that no source defines, and volatile ones that the step only reads. What the project lists under
    ``interface.state`` keeps its value; what it gives a value in ``interface.values`` has it.
    """
    config, environment = builder.config, builder.environment
    names = {variable_name(*key): key for key in roles}
    told = {names[name] for name in matching(config.state, list(names), config.where, "state variable")}
    told |= environment.valued
    read = _read_names(result)

    def unknown(key: Key) -> bool:
        return roles.get(key) == "state" and key not in told and variable_name(*key) in read

    for obj in environment.externs:
        keys = [(obj, path) for path, _ in scalars(obj.ctype)]
        if not keys or isinstance(obj.ctype, PointerType) or any(unknown(key) for key in keys):
            raise undefined_object(obj)
    for obj in volatile_objects(builder.program):
        for key in ((obj, path) for path, _ in scalars(obj.ctype)):
            if obj.file and key in result.final and unknown(key) and not _is_written(key, result):
                raise InputRefused(
                    f"the volatile object '{variable_name(*key)}' is read, and the step never writes it: "
                    "what it holds comes from outside",
                    obj.declared,
                    "list it in interface.input (one value per step), or in interface.state (it keeps its value)",
                )


def _read_names(result: StepResult) -> set[str]:
    """Names of the variables whose values the step depends on."""
    terms = [c.term for k, c in result.final.items() if isinstance(c.term, FNode) and _is_written(k, result)]
    terms += [result.recorder.defined, *(each.formula for each in result.recorder.asserts)]
    return {symbol.symbol_name() for term in terms for symbol in term.get_free_variables()}


def _is_written(key: Key, result: StepResult) -> bool:
    return is_variable(key) and result.final[key] != symbol_content(key, key in result.shadowed)


def with_targets(objects: Iterable[MemObject], cells: Mapping[Key, Content]) -> list[MemObject]:
    """``objects``, and all that their pointers point to, directly or not."""
    targets: dict[MemObject, list[MemObject]] = {}
    for (obj, _), content in cells.items():
        if isinstance(content.term, tuple):
            targets.setdefault(obj, []).extend(t.object for t in content.term if t.object is not None)
    found = list(dict.fromkeys(objects))
    known = set(found)
    for obj in found:
        for other in targets.get(obj, ()):
            if other not in known:
                known.add(other)
                found.append(other)
    return found


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
    """File-scope objects that are declared volatile, themselves or by the name of their type."""
    found: dict[MemObject, None] = {}
    for unit in program.units:
        for name in _volatile_names(unit):
            obj = unit.scope.names.get(name)
            if isinstance(obj, MemObject):
                found[obj] = None
    return list(found)


def _volatile_names(unit: Unit) -> Iterator[str]:
    types: set[str] = set()
    for node in unit.tree.ext:
        inner: Any = getattr(node, "type", None)
        while isinstance(inner, c_ast.ArrayDecl):
            inner = inner.type
        named = inner.type.names if isinstance(getattr(inner, "type", None), c_ast.IdentifierType) else []
        pointer = isinstance(inner, c_ast.PtrDecl)
        if "volatile" in (getattr(inner, "quals", None) or ()) or (not pointer and types & set(named)):
            if isinstance(node, c_ast.Typedef):
                types.add(node.name)
            elif isinstance(node, c_ast.Decl):
                yield node.name


def without_untouched(builder: Builder, result: StepResult, touched: set[MemObject]) -> StepResult:
    """The run without the objects behind pointer members that neither init nor the step came to."""
    binding = builder.binding
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

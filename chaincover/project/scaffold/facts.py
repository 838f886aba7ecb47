"""What C files declare, read from their syntax trees: functions, objects, structures, calls and writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

from pycparser import c_ast

from bmc.records import dataclass


@dataclass(frozen=True, slots=True)
class Declared:
    """A parameter, member or object: its name, the words of its base type, and what is around that type."""

    name: str
    type: str
    pointers: int = 0
    const: bool = False
    array: bool = False

    def __str__(self) -> str:
        return (
            f"{'const ' if self.const else ''}{self.type} {'*' * self.pointers}{self.name}{'[]' if self.array else ''}"
        )


@dataclass(frozen=True, slots=True)
class ObjectFacts:
    """An object at file scope."""

    what: Declared
    file: str
    line: int
    static: bool
    extern: bool
    initialised: bool


@dataclass(frozen=True, slots=True)
class Write:
    """An assignment to ``root`` or to the member ``path`` of it.

    ``zero``: of the constant 0; ``address``: the object whose address is assigned, '' for anything else.
    """

    root: str
    path: tuple[str, ...]
    zero: bool
    address: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """A call; ``used``: its result is; ``repeated``: it stands in an endless loop; ``arguments``: how many it has."""

    function: str
    used: bool
    repeated: bool
    arguments: int


@dataclass(frozen=True, slots=True)
class FunctionFacts:
    """A function with a body. ``names`` are the identifiers in it, ``calls`` and ``writes`` in source order."""

    name: str
    file: str
    line: int
    static: bool
    result: Declared
    parameters: tuple[Declared, ...]
    names: frozenset[str] = frozenset()
    calls: tuple[Call, ...] = ()
    writes: tuple[Write, ...] = ()
    variadic: bool = False

    @property
    def called(self) -> frozenset[str]:
        return frozenset(call.function for call in self.calls)

    @property
    def drives(self) -> bool:
        """Whether it stands around a controller and calls it: main, SCADE's simulator, or an endless loop."""
        return (
            self.name in ("main", "SimStep")
            or self.file.endswith("ert_main.c")
            or any(call.repeated for call in self.calls)
        )

    def __str__(self) -> str:
        inside = ", ".join(map(str, self.parameters)) or "void"
        return f"{str(self.result).strip()} {self.name}({inside})"


@dataclass(frozen=True)
class FileFacts:
    """What one file declares; ``types`` maps structures to members, ``prototypes`` declared functions to results."""

    file: str
    functions: tuple[FunctionFacts, ...] = ()
    objects: tuple[ObjectFacts, ...] = ()
    types: dict[str, tuple[Declared, ...]] = field(default_factory=dict)
    prototypes: dict[str, Declared] = field(default_factory=dict)


@dataclass(frozen=True)
class Facts:
    """What the files of a program declare, the callers of its functions included."""

    files: tuple[FileFacts, ...]

    @cached_property
    def functions(self) -> list[FunctionFacts]:
        return [function for file in self.files for function in file.functions]

    @cached_property
    def objects(self) -> list[ObjectFacts]:
        return [obj for file in self.files for obj in file.objects]

    @cached_property
    def _functions_by_name(self) -> dict[str, list[FunctionFacts]]:
        found: dict[str, list[FunctionFacts]] = {}
        for function in self.functions:
            found.setdefault(function.name, []).append(function)
        return found

    @cached_property
    def _objects_by_name(self) -> dict[str, list[ObjectFacts]]:
        found: dict[str, list[ObjectFacts]] = {}
        for obj in self.objects:
            found.setdefault(obj.what.name, []).append(obj)
        return found

    def function(self, name: str, near: str = "") -> FunctionFacts | None:
        """The function of that name, the one in the file ``near`` or beside it first; None if it has no body."""
        found = self._functions_by_name.get(name, [])
        return min(found, key=lambda f: _distance(f.file, near), default=None)

    def object(self, name: str, near: str = "") -> ObjectFacts | None:
        """The object of that name; a definition goes before a declaration."""
        found = [obj for obj in self._objects_by_name.get(name, ()) if not obj.static or obj.file == near or not near]
        return min(found, key=lambda o: (o.extern, _distance(o.file, near)), default=None)

    def members(self, type_name: str) -> tuple[Declared, ...]:
        """The members of a structure type; empty for other types."""
        return next((file.types[type_name] for file in self.files if file.types.get(type_name)), ())

    @cached_property
    def _callers_by_name(self) -> dict[str, list[FunctionFacts]]:
        found: dict[str, list[FunctionFacts]] = {}
        for function in self.functions:
            for name in function.called - {function.name}:
                found.setdefault(name, []).append(function)
        return found

    def callers(self, name: str) -> list[FunctionFacts]:
        return self._callers_by_name.get(name, [])

    def changes(self, function: FunctionFacts) -> bool:
        """Whether it may change what outlives it: a member of something, or an object at file scope."""
        reached = self.reached([function])
        return any(w.path or self.object(w.root, f.file) for f in reached for w in f.writes)

    def reached(self, roots: Sequence[FunctionFacts]) -> list[FunctionFacts]:
        """``roots`` and all functions with bodies that they call, directly or not."""
        found = list(dict.fromkeys(roots))
        for function in found:
            for call in function.calls:
                callee = self.function(call.function, function.file)
                if callee is not None and callee not in found:
                    found.append(callee)
        return found


def _distance(file: str, near: str) -> int:
    """0 in the same file, 1 in the same folder, 2 elsewhere."""
    return 0 if file == near else 1 if file.rpartition("/")[0] == near.rpartition("/")[0] else 2


def facts_of(file: str, tree: Any) -> FileFacts:
    """What the parsed ``file`` declares (a pycparser tree)."""
    found = FileFacts(file)
    tags: dict[str, str] = {}
    functions: list[FunctionFacts] = []
    objects: list[ObjectFacts] = []
    for node in tree.ext:
        _note_types(node, found.types, tags)
        if isinstance(node, c_ast.FuncDef):
            functions.append(_function(node, file))
        elif isinstance(node, c_ast.Decl) and node.name:
            if isinstance(node.type, c_ast.FuncDecl):
                found.prototypes[node.name] = _declared("", node.type.type)
            else:
                flags = ("static" in node.storage, "extern" in node.storage, node.init is not None)
                objects.append(ObjectFacts(declared(node), file, node.coord.line, *flags))
    types = {name: members or found.types.get(tags.get(name, ""), ()) for name, members in found.types.items()}
    return FileFacts(file, tuple(functions), tuple(objects), types, found.prototypes)


def _note_types(node: Any, types: dict[str, tuple[Declared, ...]], tags: dict[str, str]) -> None:
    """Enter the members of the structures that a declaration defines, by tag or typedef name, and the tags of names."""
    inner = getattr(node, "type", None)
    while isinstance(inner, c_ast.TypeDecl | c_ast.PtrDecl | c_ast.ArrayDecl):
        inner = inner.type
    if not isinstance(inner, c_ast.Struct):
        return
    members = tuple(declared(m) for m in inner.decls or () if isinstance(m, c_ast.Decl) and m.name)
    if members and inner.name:
        types[f"struct {inner.name}"] = members
    if isinstance(node, c_ast.Typedef):
        types[node.name] = members
        tags[node.name] = f"struct {inner.name}"


def declared(node: Any) -> Declared:
    """A declaration node as plain data."""
    return _declared(node.name or "", node.type)


def _declared(name: str, kind: Any) -> Declared:
    pointers, array, const = 0, False, False
    while isinstance(kind, c_ast.PtrDecl | c_ast.ArrayDecl | c_ast.FuncDecl):
        pointers += isinstance(kind, c_ast.PtrDecl)
        array = array or isinstance(kind, c_ast.ArrayDecl)
        kind = kind.type
    const = "const" in (getattr(kind, "quals", None) or ())
    base = getattr(kind, "type", kind)
    if isinstance(base, c_ast.IdentifierType):
        words = " ".join(base.names)
    else:
        words = f"{type(base).__name__.lower()} {getattr(base, 'name', '') or ''}".strip()
    return Declared(name, words, pointers, const, array)


_known: WeakKeyDictionary[Any, FunctionFacts] = WeakKeyDictionary()
"""By the definition of a function: what it says, in one of the files that include it."""


def _function(node: Any, file: str) -> FunctionFacts:
    known = _known.get(node)
    if known is not None:
        return replace(known, file=file)
    decl = node.decl
    heads = decl.type.args.params if decl.type.args else []
    variadic = any(isinstance(head, c_ast.EllipsisParam) for head in heads)
    parameters = tuple(declared(head) for head in heads if not isinstance(head, c_ast.EllipsisParam))
    parameters = () if [p.type for p in parameters] == ["void"] and not parameters[0].pointers else parameters
    names: dict[str, None] = {}
    calls: list[Call] = []
    writes: list[Write] = []
    for item, alone, repeated in _walk(node.body):
        if isinstance(item, c_ast.ID):
            names[item.name] = None
        elif isinstance(item, c_ast.FuncCall) and isinstance(item.name, c_ast.ID):
            given = item.args.exprs if item.args else ()
            calls.append(Call(item.name.name, not alone, repeated, len(given)))
        elif isinstance(item, c_ast.Assignment):
            zero = (
                item.op == "=" and isinstance(item.rvalue, c_ast.Constant) and item.rvalue.value.rstrip("uUlL") == "0"
            )
            writes.append(_write(item.lvalue, zero, _address(item.rvalue)))
        elif isinstance(item, c_ast.UnaryOp) and item.op in ("++", "--", "p++", "p--", "&"):
            writes.append(_write(item.expr, False))
    _known[node] = FunctionFacts(
        decl.name, file, decl.coord.line, "static" in decl.storage, _declared("", decl.type.type), parameters,
        frozenset(names), tuple(calls), tuple(w for w in writes if w.root), variadic,
    )  # fmt: skip
    return _known[node]


def _walk(body: Any) -> Iterator[tuple[Any, bool, bool]]:
    """All nodes in source order; of each, whether its value is not used, and whether it is in an endless loop."""
    todo = [(body, True, False)]
    while todo:
        node, alone, repeated = todo.pop()
        yield node, alone, repeated
        passes = isinstance(node, _STATEMENTS)
        void = isinstance(node, c_ast.Cast) and alone
        repeated = repeated or _is_endless(node)
        for name, child in reversed(node.children()):
            condition = name in ("cond", "expr") and not void
            todo.append((child, (passes or void) and not condition, repeated))


_LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)
_STATEMENTS = (c_ast.Compound, c_ast.If, *_LOOPS, c_ast.Switch, c_ast.Case, c_ast.Default, c_ast.Label)


def _is_endless(node: Any) -> bool:
    if not isinstance(node, _LOOPS):
        return False
    return node.cond is None or (isinstance(node.cond, c_ast.Constant) and node.cond.value.strip("uUlL()") != "0")


def _address(value: Any) -> str:
    """The object whose address a value is, '' for anything else."""
    while isinstance(value, c_ast.Cast):
        value = value.expr
    of = value.expr if isinstance(value, c_ast.UnaryOp) and value.op == "&" else None
    return of.name if isinstance(of, c_ast.ID) else ""


def _write(target: Any, zero: bool, address: str = "") -> Write:
    path: list[str] = []
    while True:
        if isinstance(target, c_ast.StructRef):
            path.append(target.field.name)
            target = target.name
        elif isinstance(target, c_ast.ArrayRef):
            target = target.name
        elif isinstance(target, c_ast.Cast) or (isinstance(target, c_ast.UnaryOp) and target.op == "*"):
            target = target.expr
        else:
            return Write(target.name if isinstance(target, c_ast.ID) else "", tuple(reversed(path)), zero, address)

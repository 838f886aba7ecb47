"""Reading declarations: pycparser type nodes to C types, file-scope names to their scopes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pycparser import c_ast

from bmc.errors import InputRefused
from bmc.models.c.source.extensions import ALIGNED, PACKED
from bmc.models.c.source.program import (
    DEEPEST_TYPE,
    EnumConstant,
    Scope,
    Typedef,
    Unreadable,
    too_deep,
    unsupported,
    where,
)
from bmc.models.c.source.types import (
    UNNAMED,
    ArrayType,
    CType,
    DataModel,
    FloatType,
    FunctionType,
    IntType,
    Member,
    PointerType,
    StructType,
    VoidType,
    count_scalars,
)

ConstantReader = Callable[[Any, Scope], int]


class NotConstant(InputRefused):
    """An integer constant expression was needed and something else was found."""


class TypeReader:
    """Resolves type nodes in a scope. ``constant`` evaluates integer constant expressions."""

    def __init__(self, model: DataModel, constant: ConstantReader) -> None:
        self.model = model
        self.constant = constant
        self.pack = 0
        """The greatest alignment of struct members that ``#pragma pack`` sets here; 0 for none."""
        self._bodies: dict[int, tuple[StructType, Any]] = {}

    def read(self, node: Any, scope: Scope) -> CType:
        """The type that a declarator or type-name node stands for."""
        if isinstance(node, c_ast.Decl | c_ast.Typename | c_ast.TypeDecl | c_ast.Typedef):
            return self.read(node.type, scope)
        if isinstance(node, c_ast.IdentifierType):
            return self._identifier(node, scope)
        if isinstance(node, c_ast.PtrDecl):
            const = "const" in getattr(node.type, "quals", ())
            return PointerType(self.read(node.type, scope), const, None, _is_qualified(node.type, scope, "volatile"))
        if isinstance(node, c_ast.ArrayDecl):
            return ArrayType(self.read(node.type, scope), self._length(node, scope))
        if isinstance(node, c_ast.FuncDecl):
            return self._function(node, scope)
        if isinstance(node, c_ast.Struct | c_ast.Union):
            return self._struct(node, scope)
        if isinstance(node, c_ast.Enum):
            return self._enum(node, scope)
        raise unsupported(f"type {type(node).__name__}", node)

    def _length(self, node: Any, scope: Scope) -> int | None:
        if node.dim is None:
            return None
        try:
            length = self.constant(node.dim, scope)
        except NotConstant:
            raise unsupported("array of variable length", node.dim) from None
        if length < 0:
            raise InputRefused("an array has a negative length", where(node))
        return length

    def _identifier(self, node: Any, scope: Scope) -> CType:
        if len(node.names) == 1:
            found = scope.find(node.names[0])
            if isinstance(found, Typedef):
                if isinstance(found.ctype, IntType | FloatType):
                    return replace(found.ctype, name=node.names[0])
                return found.ctype
        counts = Counter(node.names)
        if "void" in counts:
            return VoidType()
        if "_Complex" in counts:
            raise unsupported(f"type '{' '.join(node.names)}'", node)
        if "float" in counts or "double" in counts:
            return FloatType(" ".join(node.names), 32 if "float" in counts else 128 if "long" in counts else 64)
        if "_Bool" in counts:
            return self.model.basic["_Bool"]
        base = "char" if "char" in counts else "short" if "short" in counts else ""
        base = base or {0: "int", 1: "long"}.get(counts["long"], "long long")
        sign = "unsigned " if "unsigned" in counts else "signed " if "signed" in counts else ""
        if set(counts) - {"char", "short", "int", "long", "signed", "unsigned"}:
            raise unsupported(f"type '{' '.join(node.names)}'", node)
        return self.model.basic[sign + base]

    def _function(self, node: Any, scope: Scope) -> FunctionType:
        parameters: list[tuple[str, CType]] = []
        variadic = False
        for param in node.args.params if node.args else ():
            if isinstance(param, c_ast.EllipsisParam):
                variadic = True
                continue
            if isinstance(param, c_ast.ID):
                raise unsupported("old-style parameter list", param)
            if isinstance(param.type, c_ast.ArrayDecl):
                ctype: CType = self._array_parameter(param, scope)
            else:
                ctype = self.read(param, scope)
            if isinstance(ctype, VoidType):
                continue
            if isinstance(ctype, ArrayType):
                ctype = PointerType(ctype.element, is_const(param, scope), ctype.length, is_volatile(param, scope))
            elif isinstance(ctype, FunctionType):
                ctype = PointerType(ctype)
            parameters.append((param.name or "", ctype))
        return FunctionType(self.read(node.type, scope), tuple(parameters), variadic, node.args is None)

    def _array_parameter(self, param: Any, scope: Scope) -> CType:
        """A parameter declared as an array; a length that is no constant says nothing about the pointer it is."""
        element = self.read(param.type.type, scope)
        try:
            return ArrayType(element, self._length(param.type, scope))
        except InputRefused:
            return PointerType(element, is_const(param, scope), None, is_volatile(param, scope))

    def _struct(self, node: Any, scope: Scope) -> CType:
        if node.decls is None:
            known = scope.find_tag(node.name)
            if isinstance(known, StructType):
                return known
            return self._new_struct(node, scope)
        if id(node) in self._bodies:  # one body shared by several declarators, or a block that is entered again
            made = self._bodies[id(node)][0]
            if node.name:
                scope.tags[node.name] = made
            return made
        known = scope.tags.get(node.name) if node.name else None
        if not isinstance(known, StructType):
            known = self._new_struct(node, scope)
        elif known.fields is not None or known.refusal is not None:
            raise InputRefused(f"struct '{node.name}' is defined twice", where(node))
        self._bodies[id(node)] = (known, node)
        try:
            self._define(known, node, scope)
        except InputRefused as error:
            known.refusal = error
        return known

    def _define(self, struct: StructType, node: Any, scope: Scope) -> None:
        """Read the members; the markers that ``extensions`` left say how they are laid out."""
        struct.pack = self.pack
        members: list[Member] = []
        for item in node.decls:
            if isinstance(item, c_ast.StaticAssert):
                text = item.message.value.strip('"') if item.message is not None else ""
                if text == ALIGNED:
                    raise unsupported("attribute 'aligned' in a struct", node)
                struct.pack = 1 if text == PACKED else struct.pack
            elif isinstance(item, c_ast.Decl):
                if getattr(item, "align", None):
                    raise unsupported("_Alignas in a struct", item)
                members.append(self._member(item, scope, len(members)))
        struct.depth = 1 + max((_depth(member.type) for member in members), default=0)
        if struct.depth > DEEPEST_TYPE:
            raise too_deep("structs", DEEPEST_TYPE, where(node))
        struct.numbers = 0 if struct.is_union else sum(count_scalars(m.type) for m in members if not m.bit_field)
        struct.fields = members

    @staticmethod
    def _new_struct(node: Any, scope: Scope) -> StructType:
        made = StructType(node.name or "", isinstance(node, c_ast.Union))
        if node.name:
            scope.tags[node.name] = made
        return made

    def _member(self, decl: Any, scope: Scope, number: int) -> Member:
        ctype = self.read(decl, scope)
        if decl.name is None and decl.bitsize is None and not isinstance(ctype, StructType):
            raise unsupported("declaration of a member without a name", decl)
        name = decl.name or f"{UNNAMED}{number})"
        bit_field = decl.bitsize is not None
        return Member(name, ctype, bit_field, is_volatile(decl, scope), where(decl) if bit_field else None)

    def _enum_constant(self, item: Any, value: int) -> EnumConstant | Unreadable:
        if self.model.int_type.least <= value <= self.model.int_type.greatest:
            return EnumConstant(value)
        return Unreadable(unsupported(f"enumeration constant '{item.name}' outside the range of int", item))

    def _enum(self, node: Any, scope: Scope) -> CType:
        if node.values is None:
            found = scope.find_tag(node.name)
            return found if found is not None else self.model.basic["unsigned int"]
        labels: list[tuple[str, int]] = []
        value = -1
        for item in node.values.enumerators:
            value = self.constant(item.value, scope) if item.value is not None else value + 1
            scope.names[item.name] = self._enum_constant(item, value)
            labels.append((item.name, value))
        negative = any(v < 0 for _, v in labels)
        if max(v for _, v in labels) > self.model.basic["int" if negative else "unsigned int"].greatest:
            raise unsupported("enumeration wider than int", node)
        base = self.model.basic["int" if negative else "unsigned int"]
        found = replace(base, name=f"enum {node.name or ''}".strip(), labels=tuple(labels))
        if node.name:
            scope.tags[node.name] = found
        return found

    def check_static_assert(self, node: Any, scope: Scope) -> None:
        """InputRefused for a ``_Static_assert`` that fails; one that cannot be evaluated here is passed over."""
        try:
            holds = self.constant(node.cond, scope)
        except InputRefused:
            return
        if not holds:
            text = node.message.value if node.message is not None else ""
            raise InputRefused(f"static assertion failed: {text}".rstrip(": "), where(node), "check the target")


def is_const(node: Any, scope: Scope) -> bool:
    """Whether the object that a declaration makes is itself const (its elements, for an array)."""
    return _is_qualified(node.type, scope, "const")


def is_volatile(node: Any, scope: Scope) -> bool:
    """Whether the object that a declaration makes is itself volatile (its elements, for an array)."""
    return _is_qualified(node.type, scope, "volatile")


def _is_qualified(inner: Any, scope: Scope, word: str) -> bool:
    """Whether a type node, or the type name that it is, has the qualifier ``word``."""
    while isinstance(inner, c_ast.ArrayDecl):
        inner = inner.type
    if word in (getattr(inner, "quals", None) or ()):
        return True
    names = inner.type.names if isinstance(getattr(inner, "type", None), c_ast.IdentifierType) else []
    found = scope.find(names[0]) if len(names) == 1 and isinstance(inner, c_ast.TypeDecl) else None
    return isinstance(found, Typedef) and bool(getattr(found, word))


def refuse_thread_local(node: Any) -> None:
    """An object of each thread has no place that the compiled original shows."""
    if "_Thread_local" in (node.storage or ()):
        raise unsupported(f"thread-local object '{node.name}'", node)


def _depth(ctype: CType) -> int:
    while isinstance(ctype, ArrayType):
        ctype = ctype.element
    return ctype.depth if isinstance(ctype, StructType) else 0

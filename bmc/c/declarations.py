"""Reading declarations: pycparser type nodes to C types, file-scope names to their scopes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pycparser import c_ast

from bmc.c.memory import MemObject
from bmc.c.program import EnumConstant, Function, Program, Scope, Typedef, Unit, unsupported, where
from bmc.c.types import (
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
)
from bmc.errors import InputRefused

ConstantReader = Callable[[Any, Scope], int]


class TypeReader:
    """Resolves type nodes in a scope. ``constant`` evaluates integer constant expressions."""

    def __init__(self, model: DataModel, constant: ConstantReader) -> None:
        self.model = model
        self.constant = constant
        self._bodies: dict[int, tuple[StructType, Any]] = {}

    def read(self, node: Any, scope: Scope) -> CType:
        """The type that a declarator or type-name node stands for."""
        if isinstance(node, c_ast.Decl | c_ast.Typename | c_ast.TypeDecl | c_ast.Typedef):
            return self.read(node.type, scope)
        if isinstance(node, c_ast.IdentifierType):
            return self._identifier(node, scope)
        if isinstance(node, c_ast.PtrDecl):
            return PointerType(self.read(node.type, scope), "const" in getattr(node.type, "quals", ()))
        if isinstance(node, c_ast.ArrayDecl):
            length = None if node.dim is None else self.constant(node.dim, scope)
            if length is not None and length < 0:
                raise InputRefused("an array has a negative length", where(node))
            return ArrayType(self.read(node.type, scope), length)
        if isinstance(node, c_ast.FuncDecl):
            return self._function(node, scope)
        if isinstance(node, c_ast.Struct | c_ast.Union):
            return self._struct(node, scope)
        if isinstance(node, c_ast.Enum):
            return self._enum(node, scope)
        raise unsupported(f"type {type(node).__name__}", node)

    def _identifier(self, node: Any, scope: Scope) -> CType:
        if len(node.names) == 1:
            found = scope.find(node.names[0])
            if isinstance(found, Typedef):
                if isinstance(found.ctype, IntType):
                    return replace(found.ctype, name=node.names[0])
                return found.ctype
        counts = Counter(node.names)
        if "void" in counts:
            return VoidType()
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
            ctype = self.read(param, scope)
            if isinstance(ctype, VoidType):
                continue
            if isinstance(ctype, ArrayType):
                ctype = PointerType(ctype.element, is_const(param), ctype.length)
            elif isinstance(ctype, FunctionType):
                ctype = PointerType(ctype)
            parameters.append((param.name or "", ctype))
        return FunctionType(self.read(node.type, scope), tuple(parameters), variadic)

    def _struct(self, node: Any, scope: Scope) -> CType:
        if node.decls is None:
            known = scope.find_tag(node.name)
            if isinstance(known, StructType):
                return known
            return self._new_struct(node, scope)
        if id(node) in self._bodies:  # one body shared by several declarators
            return self._bodies[id(node)][0]
        known = scope.tags.get(node.name) if node.name else None
        if not isinstance(known, StructType):
            known = self._new_struct(node, scope)
        elif known.fields is not None:
            raise InputRefused(f"struct '{node.name}' is defined twice", where(node))
        self._bodies[id(node)] = (known, node)
        known.fields = [self._member(decl, scope) for decl in node.decls if isinstance(decl, c_ast.Decl)]
        return known

    @staticmethod
    def _new_struct(node: Any, scope: Scope) -> StructType:
        made = StructType(node.name or "", isinstance(node, c_ast.Union))
        if node.name:
            scope.tags[node.name] = made
        return made

    def _member(self, decl: Any, scope: Scope) -> Member:
        if decl.name is None and decl.bitsize is None:
            raise unsupported("unnamed struct or union member", decl)
        return Member(decl.name or "", self.read(decl, scope), decl.bitsize is not None)

    def _enum(self, node: Any, scope: Scope) -> CType:
        if node.values is None:
            found = scope.find_tag(node.name)
            return found if found is not None else self.model.basic["unsigned int"]
        labels: list[tuple[str, int]] = []
        value = -1
        for item in node.values.enumerators:
            value = self.constant(item.value, scope) if item.value is not None else value + 1
            scope.names[item.name] = EnumConstant(value)
            labels.append((item.name, value))
        negative = any(v < 0 for _, v in labels)
        base = self.model.basic["int" if negative else "unsigned int"]
        found = replace(base, name=f"enum {node.name or ''}".strip(), labels=tuple(labels))
        if node.name:
            scope.tags[node.name] = found
        return found


class UnitReader:
    """Enters the file-scope declarations of a unit into its scope and into the program."""

    def __init__(self, program: Program, types: TypeReader, objects: dict[str, MemObject]) -> None:
        self.program = program
        self.types = types
        self.objects = objects
        self.initialisers: dict[MemObject, tuple[Any, Unit]] = {}

    def read(self, unit: Unit) -> None:
        """Enter every external declaration of ``unit``."""
        for node in unit.tree.ext:
            if isinstance(node, c_ast.FuncDef):
                self._function(node.decl, unit, node)
            elif isinstance(node, c_ast.Typedef):
                unit.scope.names[node.name] = Typedef(self._named(node, unit))
            elif isinstance(node, c_ast.Decl):
                self._declaration(node, unit)

    def _named(self, node: Any, unit: Unit) -> CType:
        ctype = self.types.read(node, unit.scope)
        if isinstance(ctype, StructType) and not ctype.tag:
            ctype.tag = node.name
        return ctype

    def _declaration(self, node: Any, unit: Unit) -> None:
        ctype = self.types.read(node, unit.scope)
        if node.name is None:
            return
        if isinstance(ctype, FunctionType):
            self._function(node, unit, None)
        else:
            self._variable(node, ctype, unit)

    def _function(self, decl: Any, unit: Unit, definition: Any) -> None:
        ctype = self.types.read(decl, unit.scope)
        assert isinstance(ctype, FunctionType)
        static = "static" in decl.storage
        known = unit.scope.names.get(decl.name)
        if not static and not (isinstance(known, Function) and known.static):
            known = self.program.functions.get(decl.name)
        if not isinstance(known, Function):
            known = Function(decl.name, ctype, unit, None, static)
            if not static:
                self.program.functions[decl.name] = known
        unit.scope.names[decl.name] = known
        if definition is not None:
            if known.node is not None:
                raise InputRefused(f"function '{decl.name}' is defined twice", where(definition))
            known.node, known.unit, known.ctype = definition, unit, ctype

    def _variable(self, node: Any, ctype: CType, unit: Unit) -> None:
        static = "static" in node.storage
        const = is_const(node)
        known = unit.scope.names.get(node.name)
        if not isinstance(known, MemObject):
            known = None if static else self.objects.get(node.name)
        if known is None:
            known = MemObject(node.name, ctype, "constant" if const else "global", node.name, "", "", const)
            if not static:
                self.objects[node.name] = known
        elif isinstance(known.ctype, ArrayType) and known.ctype.length is None:
            known.ctype = ctype
        unit.scope.names[node.name] = known
        if node.init is not None:
            if known in self.initialisers:
                raise InputRefused(f"'{node.name}' is initialised twice", where(node))
            self.initialisers[known] = (node.init, unit)
        if node.init is not None or "extern" not in node.storage:
            known.file = known.file or unit.source.file


def is_const(node: Any) -> bool:
    """Whether the object that a declaration makes is itself const (its elements, for an array)."""
    inner = node.type
    while isinstance(inner, c_ast.ArrayDecl):
        inner = inner.type
    return "const" in (getattr(inner, "quals", None) or ())

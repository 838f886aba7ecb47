"""Reading declarations: pycparser type nodes to C types, file-scope names to their scopes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

from pycparser import c_ast

from bmc.errors import InputRefused
from bmc.models.c.source.extensions import Mark, mark_of
from bmc.models.c.source.layout import Packing
from bmc.models.c.source.overlay import pieces_of
from bmc.models.c.source.program import (
    DEEPEST_TYPE,
    EnumConstant,
    Scope,
    Typedef,
    nodes,
    too_deep,
    unsupported,
    where,
)
from bmc.models.c.source.rewritten import AUTO, TYPEOF, type_marker
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
    align_of,
    count_scalars,
)

MOST_ALIGNED = 1 << 28
"""The greatest alignment in bytes that gcc takes."""

ConstantReader = Callable[[Any, Scope], int]


class NotConstant(InputRefused):
    """An integer constant expression was needed and something else was found."""


class TypeReader:
    """Resolves type nodes in a scope.

    ``constant`` evaluates integer constant expressions, ``named`` is the type of an operand of ``typeof``.
    """

    def __init__(self, model: DataModel, constant: ConstantReader, named: Callable[[Any, Scope], CType]) -> None:
        self.model = model
        self.constant = constant
        self.named = named
        self.pack = model.choices.struct_pack
        """The greatest alignment of struct members that ``#pragma pack`` sets here; 0 for none."""
        self._bodies: dict[tuple[int, Scope], tuple[StructType, Any]] = {}

    def read(self, node: Any, scope: Scope) -> CType:
        """The type that a declarator or type-name node stands for."""
        if isinstance(node, c_ast.Decl | c_ast.Typename | c_ast.TypeDecl | c_ast.Typedef):
            if type_marker(getattr(node.type, "type", None))[0] == AUTO:
                return self._deduced(node, scope)
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
            bits = 32 if "float" in counts else self.model.long_double if "long" in counts else self.model.double
            return FloatType(" ".join(node.names), bits)
        if "_Bool" in counts:
            return self.model.basic["_Bool"]
        base = "char" if "char" in counts else "short" if "short" in counts else ""
        base = base or {0: "int", 1: "long"}.get(counts["long"], "long long")
        sign = "unsigned " if "unsigned" in counts else "signed " if "signed" in counts else ""
        if set(counts) - {"char", "short", "int", "long", "signed", "unsigned"}:
            raise unsupported(f"type '{' '.join(node.names)}'", node)
        return self.model.basic[sign + base]

    def _function(self, node: Any, scope: Scope) -> FunctionType:
        rests_on = self._rests_on(node, scope)
        before = _made.get(node)
        if before is not None and before[0] == rests_on:
            assert isinstance(before[1], FunctionType)
            return before[1]
        made = self._function_type(node, scope)
        if rests_on is not None:
            _made[node] = rests_on, made
        return made

    def _function_type(self, node: Any, scope: Scope) -> FunctionType:
        parameters: list[tuple[str, CType]] = []
        variadic = False
        for param in node.args.params if node.args else ():
            if isinstance(param, c_ast.EllipsisParam):
                variadic = True
                continue
            if isinstance(param, c_ast.ID):
                raise InputRefused(f"the type of the parameter '{param.name}' is not declared", where(param))
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
        return FunctionType(self.read(node.type, scope), tuple(parameters), variadic, node.args is not None)

    def _array_parameter(self, param: Any, scope: Scope) -> CType:
        """A parameter declared as an array; a length that is no constant says nothing about the pointer it is."""
        element = self.read(param.type.type, scope)
        try:
            return ArrayType(element, self._length(param.type, scope))
        except InputRefused:
            return PointerType(element, is_const(param, scope), None, is_volatile(param, scope))

    def _deduced(self, node: Any, scope: Scope) -> CType:
        """The type that ``__auto_type`` gives a declared object: that of the value that initialises it."""
        init = getattr(node, "init", None)
        if not isinstance(node.type, c_ast.TypeDecl) or init is None or isinstance(init, c_ast.InitList):
            raise unsupported("__auto_type without a value that initialises", node)
        ctype = self.named(init, scope)
        return PointerType(ctype.element) if isinstance(ctype, ArrayType) else ctype

    def _struct(self, node: Any, scope: Scope) -> CType:
        kind, size = type_marker(node)
        if kind == TYPEOF:
            return self.named(size.expr, scope)
        if kind == AUTO:
            raise unsupported("__auto_type without a value that initialises", node)
        if node.decls is None:
            known = scope.find_tag(node.name)
            if isinstance(known, StructType):
                return known
            return self._new_struct(node, scope)
        *_, outermost = scope.outwards()
        key = id(node), outermost
        if key in self._bodies:  # one body shared by several declarators, or a block that is entered again
            made = self._bodies[key][0]
            if node.name:
                scope.tags[node.name] = made
            return made
        known = scope.tags.get(node.name) if node.name else None
        rests_on = None
        if not isinstance(known, StructType):
            rests_on = self._rests_on(node, scope)
            before = _made.get(node)
            if before is not None and before[0] == rests_on:
                assert isinstance(before[1], StructType)
                self._bodies[key] = before[1], node
                if node.name:
                    scope.tags[node.name] = before[1]
                return before[1]
            known = self._new_struct(node, scope)
        elif known.fields is not None or known.refusal is not None:
            raise InputRefused(f"struct '{node.name}' is defined twice", where(node))
        self._bodies[key] = (known, node)
        try:
            self._define(known, node, scope)
        except InputRefused as error:
            known.refusal = error
        else:
            if rests_on is not None:
                _made[node] = rests_on, known
        return known

    def _rests_on(self, node: Any, scope: Scope) -> tuple[object, ...] | None:
        """What the type of a struct or function depends on, beside its nodes; None where that is not known at once."""
        names = _names_in(node) if scope.parent is None else None
        return None if names is None else (self.model, self.pack, *(scope.names.get(name) for name in names))

    def _define(self, struct: StructType, node: Any, scope: Scope) -> None:
        """Read the members; the markers that ``extensions`` left say how they are laid out."""
        struct.packing = Packing(self.pack)
        members: list[Member] = []
        for item in node.decls:
            if isinstance(item, c_ast.StaticAssert):
                self._mark(struct, members, item, scope)
            elif isinstance(item, c_ast.Pragma):
                text = item.string if isinstance(item.string, str) else item.string.value
                if text.strip().strip('"').startswith("pack"):
                    raise unsupported("#pragma pack in a struct", item)
            elif isinstance(item, c_ast.Decl):
                members.append(self._member(item, scope, len(members)))
        struct.depth = 1 + max((_depth(member.type) for member in members), default=0)
        if struct.depth > DEEPEST_TYPE:
            raise too_deep("structs", DEEPEST_TYPE, where(node))
        struct.fields = members
        if struct.is_union:
            pieces = pieces_of(struct, self.model)
            struct.pieces, struct.opaque = pieces or (), pieces is None
        struct.numbers = len(struct.pieces) + sum(
            count_scalars(m.type) for m in members if m.has_cells and not struct.is_union
        )

    def _mark(self, struct: StructType, members: list[Member], item: Any, scope: Scope) -> None:
        """A static assertion among the members: one of the program, or an attribute of the struct or of members."""
        mark = marked_in(item)
        if mark is None:
            self.check_static_assert(item, scope)
            return
        packed = mark.attribute == "packed"
        align = 0 if packed else self._alignment(item.cond, scope)
        if not mark.members:
            rules = struct.packing
            struct.packing = replace(rules, packed=rules.packed or packed, align=max(rules.align, align))
            return
        for number in range(len(members) - mark.members, len(members) - mark.members + mark.count):
            member = members[number]
            members[number] = replace(member, packed=member.packed or packed, align=max(member.align, align))

    def _alignment(self, node: Any, scope: Scope) -> int:
        """The number of bytes that ``aligned`` or ``_Alignas`` names."""
        number = self.constant(node, scope)
        if number < 0 or number & (number - 1) or number > MOST_ALIGNED:
            raise InputRefused(f"an alignment of {number} bytes", where(node), "write a power of two")
        return number

    def _declared_alignment(self, decl: Any, scope: Scope) -> int:
        """The alignment that ``_Alignas`` gives a declaration."""
        found = [0]
        for item in getattr(decl, "align", None) or ():
            if isinstance(item.alignment, c_ast.Typename):
                found.append(align_of(self.read(item.alignment, scope), self.model))
            else:
                found.append(self._alignment(item.alignment, scope))
        return max(found)

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
        own, of_type = self._declared_alignment(decl, scope), type_alignment(decl, scope)
        volatile = is_volatile(decl, scope)
        if decl.bitsize is None:
            return Member(name, ctype, None, volatile, own, of_type)
        if not isinstance(ctype, IntType):
            raise InputRefused(f"the bit-field '{name}' is no integer", where(decl))
        width = self.constant(decl.bitsize, scope)
        most = 1 if ctype.is_bool else ctype.bits
        if not (0 if decl.name is None else 1) <= width <= most:
            raise InputRefused(f"the bit-field '{name}' has {width} bits", where(decl), f"1 to {most} are possible")
        if self.model.choices.unsigned_fields and ctype.signed and not (ctype.labels or ctype.is_bool):
            ctype = self._field_without_sign(ctype, decl, scope)
        narrow = _partial_type(f"{ctype.name}:{width}", width, ctype, self.model) if width else ctype
        return Member(name, narrow, ctype, volatile, own, of_type)

    def _field_without_sign(self, ctype: IntType, decl: Any, scope: Scope) -> IntType:
        """The type of a bit-field whose declaration gives ``ctype``, where those without a sign are unsigned."""
        names: list[str] = getattr(decl.type.type, "names", [])
        if "signed" in names:
            return ctype
        if len(names) != 1 or isinstance(scope.find(names[0]), Typedef):  # gcc looks at how the typedef was written
            text = f"with -funsigned-bitfields the sign of the bit-field '{decl.name or ''}' depends on its typedef"
            raise InputRefused(text, where(decl), "declare it with 'signed' or with 'unsigned'")
        return self.model.basic[f"unsigned {ctype.name.removeprefix('signed ')}"]

    def _is_int(self, value: int) -> bool:
        return self.model.int_type.least <= value <= self.model.int_type.greatest

    def _holding(self, least: int, greatest: int, node: Any) -> IntType:
        """The type of an enumeration between two constants: of int or unsigned int, or else the next wider one; with
        short enumerations the smallest one."""
        for name in (*(("char", "short") if self.model.choices.short_enums else ()), "int", "long", "long long"):
            base = self.model.basic[f"{'signed' if least < 0 else 'unsigned'} {name}"]
            if base.least <= least and greatest <= base.greatest:
                return base
        raise unsupported("enumeration wider than any integer type", node)

    def _enum(self, node: Any, scope: Scope) -> CType:
        if node.values is None:
            found = scope.find_tag(node.name)
            return found if found is not None else self.model.basic["unsigned int"]
        labels: list[tuple[str, int]] = []
        value = -1
        for item in node.values.enumerators:
            value = self.constant(item.value, scope) if item.value is not None else value + 1
            ctype = None if self._is_int(value) else self._holding(value, value, item)
            scope.names[item.name] = EnumConstant(value, ctype)
            labels.append((item.name, value))
        base = self._holding(min(v for _, v in labels), max(v for _, v in labels), node)
        for name, value in labels:  # gcc: a constant has type int where that holds it, else its enumeration's
            scope.names[name] = EnumConstant(value, None if self._is_int(value) else base)
        found = replace(base, name=f"enum {node.name or ''}".strip(), labels=tuple(labels))
        if node.name:
            scope.tags[node.name] = found
        return found

    def _of_mode(self, ctype: CType, node: Any, scope: Scope) -> CType:
        """The integer type with the bits of a ``mode`` and the sign of ``ctype``."""
        bits = self.constant(node.cond, scope)
        if isinstance(ctype, IntType) and not ctype.labels:
            for each in reversed(self.model.basic.values()):
                if (each.bits, each.signed) == (bits, ctype.signed) and not (each.is_char or each.is_bool):
                    return each
        raise unsupported("attribute 'mode' of this type", node)

    def check_static_assert(self, node: Any, scope: Scope) -> None:
        """InputRefused for a ``_Static_assert`` that fails; one that cannot be evaluated here is passed over.

        One that ``extensions`` left behind a typedef gives that its alignment or its width.
        """
        mark = marked_in(node)
        if mark is not None:
            known = scope.names.get(mark.name)
            if isinstance(known, Typedef) and mark.attribute == "mode":
                scope.names[mark.name] = replace(known, ctype=self._of_mode(known.ctype, node, scope))
            elif isinstance(known, Typedef):
                scope.names[mark.name] = replace(known, align=self._alignment(node.cond, scope))
            return
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


def type_alignment(decl: Any, scope: Scope) -> int:
    """The alignment in bytes that a typedef gives the type of a declaration, or of its elements; 0 for none."""
    inner = decl.type
    while isinstance(inner, c_ast.ArrayDecl):
        inner = inner.type
    names = inner.type.names if isinstance(getattr(inner, "type", None), c_ast.IdentifierType) else []
    found = scope.find(names[0]) if len(names) == 1 and isinstance(inner, c_ast.TypeDecl) else None
    return found.align if isinstance(found, Typedef) else 0


def marked_in(node: Any) -> Mark | None:
    """The attribute that a static assertion stands for."""
    return mark_of(node.message.value) if node.message is not None else None


def refuse_thread_local(node: Any) -> None:
    """An object of each thread has no place that the compiled original shows."""
    if "_Thread_local" in (node.storage or ()):
        raise unsupported(f"thread-local object '{node.name}'", node)


def _depth(ctype: CType) -> int:
    while isinstance(ctype, ArrayType):
        ctype = ctype.element
    return ctype.depth if isinstance(ctype, StructType) else 0


def _partial_type(name: str, bits: int, base: IntType, model: DataModel) -> IntType:
    """The type of a bit-field of ``bits`` bits that is declared with the type ``base``, as gcc has it."""
    ranked = [model.basic[each] for each in ("int", "long", "long long")]
    same = [t.rank for t in ranked if t.bits == bits]
    narrower = [t.rank for t in ranked if t.bits < bits]
    rank = base.rank if bits == base.bits else same[0] if same else max(narrower, default=0)
    return replace(base, name=name, bits=bits, rank=max(rank, 2), partial=True)


_made: WeakKeyDictionary[Any, tuple[tuple[object, ...], StructType | FunctionType]] = WeakKeyDictionary()
"""By the declaration of a struct or function outside of functions: its type, and what that depends on. A header is read
for each file that includes it."""
_named: WeakKeyDictionary[Any, tuple[str, ...] | None] = WeakKeyDictionary()
_PLAIN = (
    c_ast.Decl,
    c_ast.TypeDecl,
    c_ast.Typename,
    c_ast.IdentifierType,
    c_ast.PtrDecl,
    c_ast.ArrayDecl,
    c_ast.Constant,
    c_ast.ParamList,
    c_ast.EllipsisParam,
)


def _names_in(declaration: Any) -> tuple[str, ...] | None:
    """The names of types in the declaration of a struct or function; None where there is more in it than members or
    parameters of such types, and structs without a tag."""
    if declaration not in _named:
        _, *inner = nodes(declaration)
        plain = all(isinstance(each, _PLAIN) or (_is_body(each) and not each.name) for each in inner)
        found = (name for each in inner if isinstance(each, c_ast.IdentifierType) for name in each.names)
        _named[declaration] = tuple(dict.fromkeys(found)) if plain else None
    return _named[declaration]


def _is_body(node: Any) -> bool:
    return isinstance(node, c_ast.Struct | c_ast.Union) and bool(node.decls)

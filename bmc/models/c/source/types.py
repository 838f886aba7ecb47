"""C types, how they are converted, and their layout on the target: size, alignment and offsets in bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace
from typing import TypeAlias

from bmc.errors import InputRefused
from bmc.floats.format import FORMATS, Format
from bmc.limits import ELEMENTS
from bmc.models.c.source.layout import BYTE, Layout, Packing, Part, lay_out
from bmc.records import dataclass
from bmc.system.transition import ValueType


@dataclass(frozen=True, slots=True)
class IntType:
    """An integer type: ``bits`` of storage, conversion ``rank`` (C11 6.3.1.1), enumeration ``labels``.

    ``partial``: it is the type of a bit-field, or of some of the bits of an object, and has no size.
    """

    name: str
    bits: int
    signed: bool
    rank: int
    is_bool: bool = False
    labels: tuple[tuple[str, int], ...] = ()
    is_char: bool = False
    """Whether it is plain ``char``, which is neither ``signed char`` nor ``unsigned char``."""
    partial: bool = False

    @property
    def least(self) -> int:
        return -(1 << (self.bits - 1)) if self.signed else 0

    @property
    def greatest(self) -> int:
        if self.is_bool:
            return 1
        return (1 << (self.bits - 1)) - 1 if self.signed else (1 << self.bits) - 1

    def value_type(self) -> ValueType:
        """How the transition system shows values of this type."""
        return ValueType(self.name, self.bits, self.signed, self.labels, truth=self.is_bool)


@dataclass(frozen=True, slots=True)
class FloatType:
    """``float``, ``double`` or ``long double``, which of more than 64 bits may be declared, but not computed with."""

    name: str
    bits: int

    @property
    def readable(self) -> bool:
        """Whether values of this type can be computed with."""
        return self.bits in FORMATS

    @property
    def format(self) -> Format:
        """The IEEE-754 format; only of a readable type."""
        return FORMATS[self.bits]

    def value_type(self) -> ValueType:
        """How the transition system shows values of this type."""
        return ValueType(self.name, self.bits, floating=True)


@dataclass(frozen=True, slots=True)
class VoidType:
    """``void``."""


@dataclass(frozen=True, slots=True)
class PointerType:
    """A pointer, ``const`` or ``volatile``: to such; ``length``: of the array that a parameter was declared as."""

    target: CType
    const: bool = False
    length: int | None = None
    volatile: bool = False


@dataclass(frozen=True, slots=True)
class ArrayType:
    """An array of ``length`` elements (None: incomplete)."""

    element: CType
    length: int | None


@dataclass(eq=False, slots=True)
class StructType:
    """A struct or union, identified by its declaration."""

    tag: str
    is_union: bool = False
    fields: list[Member] | None = None
    packing: Packing = Packing()
    pieces: tuple[tuple[Path, CType, int], ...] = ()
    """The cells of a union (``overlay``): path, type and first bit, in order."""
    opaque: bool = False
    """Whether it is a union whose members cannot be accessed."""
    refusal: InputRefused | None = None
    """Why the members cannot be read; raised where they are needed."""
    depth: int = 1
    """Structs one within the other, counting this one."""
    numbers: int = 0
    """How many scalar sub-objects it has (``scalars``)."""
    layouts: dict[DataModel, Layout] = field(default_factory=dict)
    """The layouts that are known."""
    _by_name: dict[str, Member] = field(default_factory=dict)

    def member(self, name: str) -> Member | None:
        """The direct member called ``name``."""
        members = self.members()
        if len(self._by_name) != len(members):
            self._by_name = {m.name: m for m in reversed(members)}
        return self._by_name.get(name)

    def find(self, name: str) -> tuple[Member, ...]:
        """The way to the member ``name``, through unnamed structs and unions; empty if there is none."""
        direct = self.member(name)
        if direct is not None:
            return (direct,)
        for member in self.members():
            if member.name.startswith(UNNAMED) and isinstance(member.type, StructType):
                inner = member.type.find(name)
                if inner:
                    return (member, *inner)
        return ()

    def members(self) -> list[Member]:
        """The members; InputRefused for an incomplete type or one that cannot be read."""
        if self.refusal is not None:
            raise self.refusal
        if self.fields is None:
            raise InputRefused(f"{show_type(self)} is declared but never defined")
        return self.fields


@dataclass(frozen=True, slots=True)
class FunctionType:
    """A function; ``parameters`` are (name, type) pairs. ``prototype``: its declaration says their types to callers."""

    result: CType
    parameters: tuple[tuple[str, CType], ...]
    variadic: bool = False
    prototype: bool = field(default=True, compare=False)


UNNAMED = "(unnamed "
"""Start of the made-up names of unnamed members."""

Arithmetic: TypeAlias = IntType | FloatType
CType: TypeAlias = IntType | FloatType | VoidType | PointerType | ArrayType | StructType | FunctionType
Step: TypeAlias = str | int
Path: TypeAlias = tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Member:
    """One member of a struct or union; of a bit-field ``unit`` is the declared type, ``type`` has its own width.

    ``align``: the alignment in bytes that the member is declared with; ``type_align``: that a typedef gives its type;
    0 for none.
    """

    name: str
    type: CType
    unit: IntType | None = None
    volatile: bool = False
    align: int = 0
    type_align: int = 0
    packed: bool = False

    @property
    def bit_field(self) -> bool:
        return self.unit is not None

    @property
    def has_cells(self) -> bool:
        """Whether it holds a value: an unnamed bit-field holds none."""
        return self.unit is None or not self.name.startswith(UNNAMED)


@dataclass(frozen=True, slots=True)
class Choices:
    """What C leaves to the implementation (C11 J.3), as the compiler's options choose it."""

    char_signed: bool = True
    short_enums: bool = False
    """Whether an enumeration takes the smallest type that holds its values."""
    wraps: bool = False
    """Whether signed sums, differences and products wrap around."""
    unsigned_fields: bool = False
    """Whether bit-fields are unsigned that are declared with neither ``signed`` nor ``unsigned``."""
    struct_pack: int = 0
    """The greatest alignment of members in bytes that no ``#pragma pack`` changes; 0 for none."""


@dataclass(frozen=True)
class DataModel:
    """The target's word sizes in bits. ``lp64`` is that of gcc on x86-64 Linux."""

    name: str
    short: int = 16
    int_: int = 32
    long: int = 64
    long_long: int = 64
    pointer: int = 64
    long_long_align: int = 8
    double: int = 64
    long_double: int = 128
    """The bits of ``long double``; with 64 it is a ``double``, with more it may be declared alone."""
    choices: Choices = Choices()
    basic: dict[str, IntType] = field(init=False, default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        sizes = {"char": 8, "short": self.short, "int": self.int_, "long": self.long, "long long": self.long_long}
        for rank, (name, bits) in enumerate(sizes.items(), start=1):
            signed = self.choices.char_signed if name == "char" else True
            self.basic[name] = IntType(name, bits, signed, rank, is_char=name == "char")
            self.basic[f"signed {name}"] = IntType(f"signed {name}" if name == "char" else name, bits, True, rank)
            self.basic[f"unsigned {name}"] = IntType(f"unsigned {name}", bits, False, rank)
        self.basic["_Bool"] = IntType("_Bool", 8, False, 0, is_bool=True)

    @property
    def int_type(self) -> IntType:
        return self.basic["int"]

    @property
    def size_t(self) -> IntType:
        return self.basic[f"unsigned {self.ptrdiff_t.name}"]

    @property
    def ptrdiff_t(self) -> IntType:
        return next(self.basic[name] for name in ("int", "long", "long long") if self.basic[name].bits == self.pointer)


DATA_MODELS = {
    "lp64": DataModel("lp64"),
    "ilp32": DataModel("ilp32", long=32, pointer=32, long_long_align=4, long_double=96),
    "llp64": DataModel("llp64", long=32),
    "ip16": DataModel("ip16", int_=16, long=32, pointer=16, long_long_align=2),
}


def data_model_of(short: int, int_: int, long: int, long_long: int, pointer: int) -> str:
    """The name of the data model with these sizes in bytes, '' where there is none."""
    sizes = [8 * size for size in (short, int_, long, long_long, pointer)]
    known = (m for m in DATA_MODELS.values() if [m.short, m.int_, m.long, m.long_long, m.pointer] == sizes)
    return next((model.name for model in known), "")


def promote(ctype: IntType, model: DataModel) -> IntType:
    """Integer promotion (C11 6.3.1.1p2)."""
    if ctype.rank > model.int_type.rank or (ctype.rank == model.int_type.rank and not ctype.labels):
        return ctype
    if ctype.is_bool or ctype.bits < model.int_ or ctype.signed:
        return model.int_type
    return model.basic["unsigned int"]


def common_type(left: IntType, right: IntType, model: DataModel) -> IntType:
    """The usual arithmetic conversions (C11 6.3.1.8) for two integer types."""
    left, right = promote(left, model), promote(right, model)
    if left.signed == right.signed:
        return left if _order(left) >= _order(right) else right
    unsigned, signed = (right, left) if left.signed else (left, right)
    if _order(unsigned) >= _order(signed):
        return unsigned
    if signed.bits > unsigned.bits:
        return signed
    return next(t for t in model.basic.values() if t.rank == signed.rank and not t.signed)


def _order(ctype: IntType) -> tuple[int, int]:
    """What wins in conversions: the rank, then the width, by which bit-fields wider than int differ."""
    return ctype.rank, ctype.bits


def bits_part(first: int, last: int) -> str:
    """The step of a path to some bits of an object: from ``first`` to ``last``, counted from its start."""
    return f"[{first}:{last}]"


def bits_of_part(part: Step) -> tuple[int, int] | None:
    """The bits that a step of a path names: (first, last); None for a member or an element."""
    if not isinstance(part, str) or not part.startswith("["):
        return None
    first, last = part[1:-1].split(":")
    return int(first), int(last)


def type_at(ctype: CType, path: Path) -> CType:
    """The type of the sub-object at ``path``."""
    for part in path:
        if isinstance(ctype, ArrayType) and isinstance(part, int):
            ctype = ctype.element
        elif isinstance(ctype, StructType) and not str(part).startswith("["):
            member = ctype.member(str(part))
            assert member is not None
            ctype = member.type
        else:
            bits = bits_of_part(part)
            assert bits is not None
            ctype = IntType("bits", bits[1] + 1 - bits[0], False, 2, partial=True)
    return ctype


def scalars(ctype: CType, path: Path = ()) -> Iterator[tuple[Path, CType]]:
    """The cells of an object as (path, type): scalar sub-objects (integers, floats, pointers), a union's ``pieces``.

    TooLarge if there are too many.
    """
    if not path:
        ELEMENTS.check(count_scalars(ctype))
    if isinstance(ctype, ArrayType):
        for index in range(ctype.length or 0):
            yield from scalars(ctype.element, (*path, index))
    elif isinstance(ctype, StructType):
        if ctype.is_union:
            for inner, piece, _ in ctype.pieces:
                yield path + inner, piece
            return
        for member in ctype.fields or []:
            if member.has_cells:
                yield from scalars(member.type, (*path, member.name))
    elif isinstance(ctype, IntType | FloatType | PointerType):
        yield path, ctype


def count_scalars(ctype: CType) -> int:
    """The number of scalar sub-objects."""
    if isinstance(ctype, ArrayType):
        return (ctype.length or 0) * count_scalars(ctype.element)
    return ctype.numbers if isinstance(ctype, StructType) else isinstance(ctype, IntType | FloatType | PointerType)


def same_type(left: CType, right: CType) -> bool:
    """Whether two types are the same for assignment of whole objects and for matching parameters."""
    if isinstance(left, IntType) and isinstance(right, IntType):
        return (left.bits, left.signed, left.is_bool) == (right.bits, right.signed, right.is_bool)
    if isinstance(left, FloatType) and isinstance(right, FloatType):
        return left.bits == right.bits
    if isinstance(left, PointerType) and isinstance(right, PointerType):
        return same_type(left.target, right.target)
    if isinstance(left, ArrayType) and isinstance(right, ArrayType):
        return left.length == right.length and same_type(left.element, right.element)
    if isinstance(left, StructType) and isinstance(right, StructType):
        return left is right or (left.tag == right.tag and _same_members(left, right))
    if isinstance(left, FunctionType) and isinstance(right, FunctionType):
        taken = [(a, b) for (_, a), (_, b) in zip(left.parameters, right.parameters, strict=False)]
        counts = len(left.parameters), left.variadic, len(right.parameters), right.variadic
        return counts[:2] == counts[2:] and all(same_type(a, b) for a, b in [(left.result, right.result), *taken])
    return left == right


def compatible(left: CType, right: CType) -> bool:
    """Whether two types are compatible (C11 6.2.7), qualifiers of their own aside."""
    if isinstance(left, IntType) and isinstance(right, IntType):
        return (
            (left.bits, left.signed, left.rank, left.is_bool, left.is_char)
            == (right.bits, right.signed, right.rank, right.is_bool, right.is_char)
        ) and (left.labels == right.labels or not left.labels or not right.labels)
    if isinstance(left, FloatType) and isinstance(right, FloatType):
        return (left.bits, "long" in left.name) == (right.bits, "long" in right.name)
    if isinstance(left, PointerType) and isinstance(right, PointerType):
        alike = (left.const, left.volatile) == (right.const, right.volatile)
        return alike and compatible(left.target, right.target)
    if isinstance(left, ArrayType) and isinstance(right, ArrayType):
        return compatible(left.element, right.element) and (
            None in (left.length, right.length) or left.length == right.length
        )
    if isinstance(left, FunctionType) and isinstance(right, FunctionType):
        pairs = zip(left.parameters, right.parameters, strict=False)
        alike = len(left.parameters) == len(right.parameters) and left.variadic == right.variadic
        return alike and compatible(left.result, right.result) and all(compatible(a, b) for (_, a), (_, b) in pairs)
    return same_type(left, right)


def _same_members(left: StructType, right: StructType) -> bool:
    """Whether two struct types (of two units) with one tag agree; an incomplete one agrees with any."""
    if left.fields is None or right.fields is None:
        return True
    alike = (left.is_union, left.packing) == (right.is_union, right.packing)
    if len(left.fields) != len(right.fields) or not alike:
        return False
    pairs = zip(left.fields, right.fields, strict=True)
    return all(
        (a.name, a.bit_field, a.align, a.type_align, a.packed) == (b.name, b.bit_field, b.align, b.type_align, b.packed)
        and (isinstance(a.type, PointerType) == isinstance(b.type, PointerType))
        and (isinstance(a.type, PointerType) or same_type(a.type, b.type))
        for a, b in pairs
    )


def show_type(ctype: CType) -> str:
    """The type as a C programmer would name it."""
    if isinstance(ctype, IntType | FloatType):
        return ctype.name
    if isinstance(ctype, PointerType) and isinstance(ctype.target, FunctionType):
        function = ctype.target
        taken = [*(show_type(each) for _, each in function.parameters), *(["..."] if function.variadic else [])]
        return f"{show_type(function.result)} (*)({', '.join(taken) or 'void'})"
    if isinstance(ctype, PointerType):
        return f"{'const ' if ctype.const else ''}{show_type(ctype.target)} *"
    if isinstance(ctype, ArrayType):
        return f"{show_type(ctype.element)}[{'' if ctype.length is None else ctype.length}]"
    if isinstance(ctype, StructType):
        return f"{'union' if ctype.is_union else 'struct'} {ctype.tag or '(unnamed)'}"
    return "void" if isinstance(ctype, VoidType) else "function"


def align_of(ctype: CType, model: DataModel) -> int:
    """Alignment in bytes (the psABI of the data model)."""
    if isinstance(ctype, FloatType) and ctype.bits > 64:
        return min(ctype.bits // 8, 16 if model.long == 64 else 4)
    if isinstance(ctype, IntType | FloatType):
        return min(ctype.bits // 8, model.long_long_align)
    if isinstance(ctype, PointerType):
        return min(model.pointer // 8, model.long_long_align)
    if isinstance(ctype, ArrayType):
        return align_of(ctype.element, model)
    return _layout(ctype, model).align // BYTE if isinstance(ctype, StructType) else 1


def size_of(ctype: CType, model: DataModel) -> int:
    """Size in bytes; InputRefused for incomplete types."""
    if isinstance(ctype, IntType | FloatType):
        return ctype.bits // BYTE
    if isinstance(ctype, PointerType):
        return model.pointer // BYTE
    if isinstance(ctype, ArrayType):
        if ctype.length is None:
            raise InputRefused("the size of an array of unknown length is needed")
        return size_of(ctype.element, model) * ctype.length
    return _layout(ctype, model).size // BYTE if isinstance(ctype, StructType) else 1


def _layout(struct: StructType, model: DataModel) -> Layout:
    """The layout of a struct or union, computed once: structs within structs are many."""
    if model not in struct.layouts:
        parts = [_part(struct, member, model) for member in struct.members()]
        rules = struct.is_union, struct.packing, model.long_long_align
        found = lay_out(parts, *rules)
        if any(member.bit_field for member in struct.members()) and model.name not in ("lp64", "ilp32"):
            as_named = lay_out([replace(part, named=True) for part in parts], *rules)
            if model.name != "ip16" or as_named != found:  # compilers for 16 bits differ in what unnamed ones align
                text = f"how {show_type(struct)} with its bit-fields is laid out for {model.name} is not known"
                raise InputRefused(text)
        struct.layouts[model] = found
    return struct.layouts[model]


def _part(struct: StructType, member: Member, model: DataModel) -> Part:
    unit = member.unit or member.type
    width = None if member.unit is None else 0 if member.type is member.unit else bits_of(member.type, model)
    return Part(
        size_of(unit, model) * BYTE,
        (member.type_align or align_of(unit, model)) * BYTE,
        member.align * BYTE,
        struct.packing.packed or member.packed,
        width,
        not member.name.startswith(UNNAMED),
    )


def bits_of(ctype: CType, model: DataModel) -> int:
    """Size in bits."""
    return ctype.bits if isinstance(ctype, IntType | FloatType) else size_of(ctype, model) * BYTE


def member_offsets(struct: StructType, model: DataModel) -> tuple[int, ...]:
    """The offset of each member in bits."""
    return _layout(struct, model).offsets


def bit_offset_of(ctype: CType, path: Path, model: DataModel) -> int:
    """Offset in bits of the sub-object at ``path`` inside an object of type ``ctype``."""
    offset = 0
    for part in path:
        bits = bits_of_part(part)
        if bits is not None:
            offset += bits[0]
        elif isinstance(ctype, ArrayType):
            offset += int(part) * size_of(ctype.element, model) * BYTE
        elif isinstance(ctype, StructType):
            number = next(n for n, member in enumerate(ctype.members()) if member.name == part)
            offset += member_offsets(ctype, model)[number]
        ctype = type_at(ctype, (part,))
    return offset


def offset_of(ctype: CType, path: Path, model: DataModel) -> int:
    """Offset in bytes of the sub-object at ``path``; of a bit-field that of the byte in which it starts."""
    return bit_offset_of(ctype, path, model) // BYTE

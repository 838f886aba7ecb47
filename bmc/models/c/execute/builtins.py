"""gcc's built-in functions, and ``_Generic``, which selects among expressions by a type as some of them do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from pycparser import c_ast
from pysmt.fnode import FNode
from pysmt.shortcuts import BVAdd, BVAnd, BVConcat, BVExtract, BVLShl, BVLShr, BVMul, BVNot, BVSExt, BVSub, BVZExt

from bmc.errors import InputRefused
from bmc.formulas.terms import TRUE, choose, constant, equals, folded, negate
from bmc.models.c.execute import arithmetic
from bmc.models.c.execute.expressions import Evaluator
from bmc.models.c.execute.lvalues import Result
from bmc.models.c.execute.memory import Aggregate, Content, MemObject, State, Value, live
from bmc.models.c.execute.typing import decayed
from bmc.models.c.source.program import EnumConstant, Function, Scope, unsupported, where
from bmc.models.c.source.rewritten import CHOOSE, COMPATIBLE, CONSTANT, GENERIC, pairs_of
from bmc.models.c.source.types import (
    ArrayType,
    CType,
    IntType,
    PointerType,
    StructType,
    VoidType,
    align_of,
    compatible,
    offset_of,
    show_type,
)

PREFIX = "__builtin_"
_WIDTHS = {"": "int", "l": "long", "ll": "long long"}
_OVERFLOW = {"add": BVAdd, "sub": BVSub, "mul": BVMul}


class Builtins:
    """Built-in functions, and those of <stdlib.h> that compute or end the program, by their names."""

    def __init__(self, executor: Evaluator) -> None:
        self.executor = executor
        self._calls: dict[tuple[int, int], tuple[Any, Any]] = {}
        """Calls of selected functions by the ids of the call and of the selected name, with the former."""
        self.functions: dict[str, Callable[[Any, Scope, State], Result]] = {
            GENERIC: self._select,
            COMPATIBLE: self._compatible,
            CHOOSE: self._select,
            CONSTANT: self._is_constant,
            "__builtin_expect_with_probability": self._expect,
            "__builtin_assume_aligned": self._aligned,
            "__builtin_prefetch": self._nothing,
            "__builtin_trap": self._ended,
            "abort": self._ended,
        }
        for suffix, name in _WIDTHS.items():
            ctype = executor.model.basic[name]
            self.functions[f"{suffix}abs"] = partial(self._absolute, ctype)
            self.functions[f"{suffix}div"] = partial(self._divided, ctype)
            for bits, signed in _BITS.items():
                given = ctype if signed else executor.model.basic[f"unsigned {name}"]
                self.functions[f"{PREFIX}{bits}{suffix}"] = partial(self._count, bits, given)
            for operation in _OVERFLOW:
                for letter, stored in (("s", ctype), ("u", executor.model.basic[f"unsigned {name}"])):
                    call = partial(self._overflow, operation, stored)
                    self.functions[f"{PREFIX}{letter}{operation}{suffix}_overflow"] = call
        for operation in _OVERFLOW:
            self.functions[f"{PREFIX}{operation}_overflow"] = partial(self._overflow, operation, None)
            self.functions[f"{PREFIX}{operation}_overflow_p"] = partial(self._overflows, operation)
        for bytes_ in (2, 4, 8):
            self.functions[f"{PREFIX}bswap{8 * bytes_}"] = partial(self._swapped, bytes_)

    # what a type or a constant selects

    def selected(self, node: Any, scope: Scope) -> Any:
        """The operand that a type or a constant selects; None where ``node`` is no such selection."""
        name = node.name.name if isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID) else ""
        if name == CHOOSE:
            condition, yes, no = self._items(node, 3)
            return yes if self.executor.constant(condition, scope) else no
        return self._of_type(node, scope) if name == GENERIC else None

    def _of_type(self, node: Any, scope: Scope) -> Any:
        """The operand that the type of the first one selects (C11 6.5.1.1)."""
        pairs = [(t if t is None else self.executor.types.read(t, scope), e) for t, e in pairs_of(node)]
        ctype = self._controlling(node.args.exprs[0], scope, [named for named, _ in pairs])
        chosen = [expression for named, expression in pairs if named is not None and compatible(named, ctype)]
        if len(chosen) > 1:
            raise InputRefused("two types of a _Generic selection are compatible", where(node))
        chosen += [expression for named, expression in pairs if named is None]
        if not chosen:
            raise InputRefused(f"no type of this _Generic selection is {show_type(ctype)}", where(node))
        return chosen[0]

    def _controlling(self, node: Any, scope: Scope, named: Sequence[CType | None]) -> CType:
        """The type of the operand of a _Generic selection. Refused where it is a pointer that may or may not be one to
        const, and a type that is named is one of the two."""
        whole = self.executor.type_of(node, scope, State())
        ctype = decayed(whole)
        if not isinstance(ctype, PointerType) or (whole is ctype and _is_declared(node)):
            return ctype
        is_address = isinstance(node, c_ast.UnaryOp) and node.op == "&"
        const = self._is_const(node.expr if is_address else node, scope) if is_address or whole is not ctype else None
        either = [replace(ctype, const=each) for each in ((False, True) if const is None else (const,))]
        if const is None and any(each is not None and compatible(each, one) for each in named for one in either):
            raise unsupported("_Generic of a pointer that may be one to const", node)
        return either[0]

    def _is_const(self, node: Any, scope: Scope) -> bool | None:
        """Whether the object that an lvalue designates is const; None where that is not known."""
        if isinstance(node, c_ast.ID):
            found = scope.find(node.name)
            return found.const if isinstance(found, MemObject) and found.kind != "automatic" else None
        if isinstance(node, c_ast.Constant):
            return False  # a string
        if isinstance(node, c_ast.StructRef) and node.type == ".":
            return self._is_const(node.name, scope)
        if isinstance(node, c_ast.StructRef | c_ast.ArrayRef):
            inner = node.name
        elif isinstance(node, c_ast.UnaryOp) and node.op == "*":
            inner = node.expr
        else:
            return None
        ctype = self.executor.type_of(inner, scope, State())
        if isinstance(ctype, ArrayType):
            return self._is_const(inner, scope)
        return ctype.const if isinstance(ctype, PointerType) and _is_declared(inner) else None

    def called(self, node: Any, scope: Scope) -> Any:
        """The call of the function that a selection names; None where a call has no selection for a function."""
        chosen = self.selected(node.name, scope)
        if chosen is None:
            return None
        key = id(node), id(chosen)
        if key not in self._calls:
            self._calls[key] = c_ast.FuncCall(chosen, node.args, node.coord), node
        if self.executor.discarded is node:
            self.executor.discarded = self._calls[key][0]
        return self._calls[key][0]

    def _select(self, node: Any, scope: Scope, state: State) -> Result:
        return self.executor.evaluate(self.selected(node, scope), scope, state)

    def _compatible(self, node: Any, scope: Scope, state: State) -> Value:
        left, right = (self.executor.types.read(item.expr, scope) for item in self._items(node, 2))
        return self._number(int(compatible(left, right)))

    def _is_constant(self, node: Any, scope: Scope, state: State) -> Value:
        """As without optimisation; refused where that depends on how the compiler simplifies."""
        (operand,) = self._items(node, 1)
        found = _constancy(operand, scope)
        if found is None:
            raise unsupported("__builtin_constant_p of what a compiler may simplify", node)
        return self._number(int(found))

    # arithmetic

    def _expect(self, node: Any, scope: Scope, state: State) -> Value:
        self._items(node, 3)
        values = self.executor.arguments(node, scope, state)
        return self._integer(values[0], self.executor.model.basic["long"], node, state)

    def _count(self, name: str, ctype: IntType, node: Any, scope: Scope, state: State) -> Value:
        (value,) = self._integers(node, scope, state, [ctype])
        model = self.executor.model
        if name in ("clz", "ctz"):
            zero = equals(value.bits, constant(0, ctype.bits))
            self.executor.undefined_at(state, node)(f"__builtin_{name} of 0", zero)
        return Value(_resized(_COUNTS[name](value.bits, ctype.bits), model.int_), model.int_type)

    def _absolute(self, ctype: IntType, node: Any, scope: Scope, state: State) -> Value:
        (value,) = self._integers(node, scope, state, [ctype])
        least = equals(value.bits, constant(ctype.least, ctype.bits))
        self.executor.recorder.note_undefined("signed overflow in abs", where(node), state.pc, least)
        minus = arithmetic.unary("-", value, self.executor.model, lambda kind, when: None)
        negative = arithmetic.compare("<", value.bits, constant(0, ctype.bits), ctype)
        return Value(choose(negative, minus.bits, value.bits), ctype)

    def _divided(self, ctype: IntType, node: Any, scope: Scope, state: State) -> Aggregate:
        """``div`` and the like: the struct that the program's declaration says, with quotient and remainder."""
        function = scope.find(node.name.name)
        result = function.ctype.result if isinstance(function, Function) else None
        if not isinstance(result, StructType) or {m.name for m in result.members()} != {"quot", "rem"}:
            raise InputRefused(f"'{node.name.name}' is declared otherwise than in <stdlib.h>", where(node))
        left, right = self._integers(node, scope, state, [ctype, ctype])
        undefined, model = self.executor.undefined_at(state, node), self.executor.model
        quotient = arithmetic.binary("/", left, right, model, undefined)
        remainder = arithmetic.binary("%", left, right, model, lambda kind, when: None)
        cells = {"quot": quotient, "rem": remainder}
        ordered = ((member.name, cells[member.name].bits) for member in result.members())
        return Aggregate(tuple(((name,), Content(term, TRUE())) for name, term in ordered), result)

    def _swapped(self, count: int, node: Any, scope: Scope, state: State) -> Value:
        model = self.executor.model
        ctype = next(t for t in model.basic.values() if t.bits == 8 * count and not t.signed and not t.is_bool)
        (value,) = self._integers(node, scope, state, [ctype])
        parts = [folded(BVExtract(value.bits, 8 * n, 8 * n + 7)) for n in range(count)]
        term = parts[0]
        for part in parts[1:]:
            term = folded(BVConcat(term, part))
        return Value(term, ctype)

    def _overflow(self, name: str, ctype: IntType | None, node: Any, scope: Scope, state: State) -> Value:
        """The exact result is stored, cut to the size of what it is stored in; whether that changes it is the value."""
        self._items(node, 3)
        left, right, pointer = self.executor.arguments(node, scope, state)
        target = pointer.ctype.target if isinstance(pointer, Value) and isinstance(pointer.ctype, PointerType) else None
        fits = isinstance(target, IntType) and not target.is_bool and not target.labels
        if not isinstance(target, IntType) or not fits or (ctype is not None and not compatible(target, ctype)):
            raise InputRefused(f"{node.name.name} needs a pointer to an integer that it sets", where(node))
        left, right = (self._integer(value, ctype, node, state) for value in (left, right))
        stored, overflows = _exactly(name, left, right, target)
        place = self.executor.dereference(pointer, state, node)
        self.executor.store(place, Value(stored, target), state, node)
        return arithmetic.from_condition(overflows, self.executor.model.basic["_Bool"])

    def _overflows(self, name: str, node: Any, scope: Scope, state: State) -> Value:
        items = self._items(node, 3)
        target = self.executor.type_of(items[2], scope, state)
        if not isinstance(items[2], c_ast.Cast | c_ast.ID | c_ast.Constant) or not isinstance(target, IntType):
            raise unsupported(f"{node.name.name} whose last argument is no variable, constant or cast", node)
        operands = c_ast.FuncCall(node.name, c_ast.ExprList(items[:2]), node.coord)
        values = self.executor.arguments(operands, scope, state)
        left, right = (self._integer(value, None, node, state) for value in values)
        return arithmetic.from_condition(_exactly(name, left, right, target)[1], self.executor.model.basic["_Bool"])

    # what has no effect, or ends the program

    def _aligned(self, node: Any, scope: Scope, state: State) -> Value:
        """The pointer itself, where the types of what it points to give that alignment."""
        items = self._items(node, 2, 3)
        pointer = self.executor.value(items[0], scope, state)
        number, *rest = (self.executor.constant(item, scope) for item in items[1:])
        if not isinstance(pointer.ctype, PointerType):
            raise InputRefused("__builtin_assume_aligned needs a pointer", where(node))
        model = self.executor.model
        for _, obj, path in live(pointer.targets):
            start = offset_of(obj.ctype, path, model) - (rest[0] if rest else 0)
            if number <= 0 or align_of(obj.ctype, model) % number or start % number:
                raise unsupported(f"alignment of '{obj.name}' by {number}, which its type does not give", node)
        return Value(pointer.term, PointerType(VoidType()))

    def _nothing(self, node: Any, scope: Scope, state: State) -> None:
        self.executor.arguments(node, scope, state)

    def _ended(self, node: Any, scope: Scope, state: State) -> None:
        text = f"'{node.name.name}' is reached"
        self.executor.recorder.note_undefined(text, where(node), state.pc, TRUE())

    # arguments

    def _number(self, number: int) -> Value:
        return Value(constant(number, self.executor.model.int_), self.executor.model.int_type)

    @staticmethod
    def _items(node: Any, least: int, most: int = 0) -> list[Any]:
        items = list(node.args.exprs) if node.args else []
        if not least <= len(items) <= (most or least):
            raise InputRefused(f"{node.name.name} needs {least} argument(s), not {len(items)}", where(node))
        return items

    def _integers(self, node: Any, scope: Scope, state: State, types: list[Any]) -> list[Value]:
        self._items(node, len(types))
        values = self.executor.arguments(node, scope, state)
        return [self._integer(value, ctype, node, state) for value, ctype in zip(values, types, strict=True)]

    def _integer(self, value: Result, ctype: IntType | None, node: Any, state: State) -> Value:
        """A value, converted to ``ctype`` where that is given."""
        if value is not None and ctype is not None:
            value = self.executor.as_type(value, ctype, node, state)
        if not isinstance(value, Value) or (ctype is None and not isinstance(value.ctype, IntType)):
            raise InputRefused(f"{node.name.name} needs integers", where(node))
        return value


def _exactly(name: str, left: Value, right: Value, target: IntType) -> tuple[FNode, FNode]:
    """A sum, difference or product cut to ``target``, and whether that is not the exact one."""
    assert isinstance(left.ctype, IntType)
    assert isinstance(right.ctype, IntType)
    bits = left.ctype.bits + right.ctype.bits if name == "mul" else max(left.ctype.bits, right.ctype.bits)
    bits = max(bits, target.bits) + 2
    a, b = (_resized(v.bits, bits, v.ctype.signed) for v in (left, right))  # type: ignore[union-attr]
    exact = folded(_OVERFLOW[name](a, b))
    stored = folded(BVExtract(exact, 0, target.bits - 1))
    kept = equals(_resized(stored, bits, target.signed), exact)
    if target.is_bool:
        kept = equals(folded(BVLShr(exact, constant(1, bits))), constant(0, bits))
    return stored, negate(kept)


def _resized(term: FNode, bits: int, signed: bool = False) -> FNode:
    width = term.bv_width()
    if width >= bits:
        return folded(BVExtract(term, 0, bits - 1)) if width > bits else term
    return folded((BVSExt if signed else BVZExt)(term, bits - width))


def _population(term: FNode, bits: int) -> FNode:
    """How many bits are set: sums of neighbouring bits, pairs, and so on."""
    step = 1
    while step < bits:
        mask = constant(sum(((1 << step) - 1) << at for at in range(0, bits, 2 * step)), bits)
        high = folded(BVAnd(folded(BVLShr(term, constant(step, bits))), mask))
        term = folded(BVAdd(folded(BVAnd(term, mask)), high))
        step *= 2
    return term


def _parity(term: FNode, bits: int) -> FNode:
    return folded(BVAnd(_population(term, bits), constant(1, bits)))


def _leading(term: FNode, bits: int) -> FNode:
    """How many zeros there are above the highest bit that is set."""
    count = constant(0, bits)
    step = bits // 2
    while step:
        high = equals(folded(BVLShr(term, constant(bits - step, bits))), constant(0, bits))
        count = choose(high, folded(BVAdd(count, constant(step, bits))), count)
        term = choose(high, folded(BVLShl(term, constant(step, bits))), term)
        step //= 2
    return count


def _trailing(term: FNode, bits: int) -> FNode:
    """How many zeros there are below the lowest bit that is set."""
    below = folded(BVAnd(folded(BVNot(term)), folded(BVSub(term, constant(1, bits)))))
    return _population(below, bits)


def _first(term: FNode, bits: int) -> FNode:
    one_more = folded(BVAdd(_trailing(term, bits), constant(1, bits)))
    return choose(equals(term, constant(0, bits)), constant(0, bits), one_more)


def _redundant(term: FNode, bits: int) -> FNode:
    """How many bits below the sign are equal to it."""
    negative = equals(folded(BVExtract(term, bits - 1, bits - 1)), constant(1, 1))
    without = choose(negative, folded(BVNot(term)), term)
    shifted = folded(BVLShl(without, constant(1, bits)))
    return _leading(folded(BVAdd(shifted, constant(1, bits))), bits)


_BITS = {"popcount": False, "parity": False, "clz": False, "ctz": False, "ffs": True, "clrsb": True}
"""Functions that count bits, and whether their arguments are signed."""
_COUNTS = {
    "popcount": _population,
    "parity": _parity,
    "clz": _leading,
    "ctz": _trailing,
    "ffs": _first,
    "clrsb": _redundant,
}


def _constancy(node: Any, scope: Scope) -> bool | None:
    """Whether an expression is a constant; None where that depends on how it is simplified."""
    if isinstance(node, c_ast.Constant) or (isinstance(node, c_ast.UnaryOp) and node.op in ("sizeof", "_Alignof")):
        return True
    if isinstance(node, c_ast.ID):
        return isinstance(scope.find(node.name), EnumConstant)
    if isinstance(node, c_ast.Cast):
        return _constancy(node.expr, scope)
    if isinstance(node, c_ast.UnaryOp) and node.op in ("+", "-", "~", "!"):
        return _constancy(node.expr, scope)
    if isinstance(node, c_ast.BinaryOp):
        sides = {_constancy(node.left, scope), _constancy(node.right, scope)}
        return True if sides == {True} else None
    if isinstance(node, c_ast.StructRef | c_ast.ArrayRef) or (isinstance(node, c_ast.UnaryOp) and node.op == "*"):
        return False
    return None


def _is_declared(node: Any) -> bool:
    """Whether an expression has a type that a declaration or a cast spells out."""
    return isinstance(node, c_ast.ID | c_ast.StructRef | c_ast.Cast)

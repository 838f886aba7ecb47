"""The functions and macros of <math.h> whose results IEEE-754 fixes bit by bit.

Of functions whose results differ between libraries (sin, exp, pow and the like) nothing is known but their types: what
a call yields is a symbol of its own. The numbers that the classification macros yield are gcc's on x86-64.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pycparser import c_ast
from pysmt.fnode import FNode

from bmc.errors import InputRefused, UnsupportedConstruct
from bmc.floats import arithmetic, compare
from bmc.floats.format import Format
from bmc.formulas.terms import both, choose, constant, either, negate
from bmc.models.c.execute import floating
from bmc.models.c.execute.arithmetic import Undefined, from_condition
from bmc.models.c.execute.expressions import Evaluator
from bmc.models.c.execute.memory import State, Value
from bmc.models.c.source.program import Function, Scope, Typedef, where
from bmc.models.c.source.types import (
    Arithmetic,
    ArrayType,
    CType,
    DataModel,
    FloatType,
    FunctionType,
    IntType,
    PointerType,
    StructType,
    same_type,
)
from bmc.models.undetermined import LibraryCall
from bmc.records import dataclass

_UNARY = """
    sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp exp2 exp10 expm1 log log2 log10 log1p cbrt erf erfc
    tgamma lgamma
"""
_BINARY = "atan2 pow hypot"
_REFUSED = """
    fma frexp ldexp modf scalbn scalbln logb ilogb nextafter nexttoward remainder remquo fpclassify
"""
UNKNOWN = frozenset(
    name + suffix for names in (_UNARY, _BINARY, _REFUSED) for name in names.split() for suffix in ("", "f")
)
"""Functions whose results are not known, or that are refused wherever they are called."""
ONLY_TRUTH = frozenset({"__builtin_signbit"})
"""Functions that may stand only where nothing but whether they yield 0 matters."""
OBSERVED = "the sign of a NaN is observed"

_FLOAT, _DOUBLE = FloatType("float", 32), FloatType("double", 64)


@dataclass(frozen=True, slots=True)
class Call:
    """One call: its arguments as patterns of one type."""

    terms: tuple[FNode, ...]
    ctype: FloatType
    model: DataModel
    undefined: Undefined

    @property
    def form(self) -> Format:
        return self.ctype.format


@dataclass(frozen=True, slots=True)
class MathFunction:
    """A function of ``arity`` arguments of type ``ctype`` (None: a macro for any floating type).

    ``work`` makes the result of a call; None: the result depends on the library.
    """

    arity: int
    ctype: FloatType | None
    work: Callable[[Call], Value] | None
    result: str = ""
    """The result's type, where it is an integer; else it is ``ctype``."""

    def agrees(self, declared: FunctionType, model: DataModel) -> bool:
        """Whether the program declares the function as <math.h> does."""
        if self.ctype is None or not self.arity:
            return True
        result: CType = model.basic[self.result] if self.result else self.ctype
        types = [ctype for _, ctype in declared.parameters]
        alike = len(types) == self.arity and all(same_type(ctype, self.ctype) for ctype in types)
        return same_type(declared.result, result) and (alike or not types)

    def call(self, values: list[Value], model: DataModel, undefined: Undefined) -> Value | None:
        """The result for ``arity`` arithmetic arguments; None if a macro has no floating argument."""
        ctype: Arithmetic | None = self.ctype
        if ctype is None:
            ctype = model.int_type
            for value in values:
                assert isinstance(value.ctype, IntType | FloatType)
                ctype = floating.common_arithmetic_type(ctype, value.ctype, model)
        if not isinstance(ctype, FloatType):
            return None
        terms = tuple(floating.exact(value, ctype).bits for value in values)
        assert self.work is not None
        return self.work(Call(terms, ctype, model, undefined))


def _computed(operation: Callable[..., FNode]) -> Callable[[Call], Value]:
    return lambda call: Value(operation(*call.terms, call.form), call.ctype)


def _tested(test: Callable[..., FNode]) -> Callable[[Call], Value]:
    return lambda call: from_condition(test(*call.terms, call.form), call.model.int_type)


def _compared(*operators: str) -> Callable[[Call], Value]:
    def test(a: FNode, b: FNode, form: Format) -> FNode:
        found = [floating.compare(op, a, b, form) for op in operators]
        return either(found[0], found[-1])

    return _tested(test)


def _to_integer(rounded: Callable[[FNode, Format], FNode], result: str) -> Callable[[Call], Value]:
    def work(call: Call) -> Value:
        value = Value(rounded(call.terms[0], call.form), call.ctype)
        return floating.convert(value, call.model.basic[result], call.undefined)

    return work


def _selected(operation: Callable[..., FNode]) -> Callable[[Call], Value]:
    """``fmin`` and ``fmax``: which of 0.0 and -0.0 they yield is not fixed."""

    def work(call: Call) -> Value:
        a, b = call.terms
        call.undefined("fmin or fmax of 0.0 and -0.0", compare.zeros_differ(a, b, call.form))
        return Value(operation(a, b, call.form), call.ctype)

    return work


def _copysign(call: Call) -> Value:
    a, b = call.terms
    call.undefined(OBSERVED, both(compare.is_nan(b, call.form), negate(compare.is_nan(a, call.form))))
    return Value(compare.copysign(a, b, call.form), call.ctype)


def _signbit(call: Call) -> Value:
    """Of its number only the truth is defined: compilers yield 1, or the bit where it stands."""
    call.undefined(OBSERVED, compare.is_nan(call.terms[0], call.form))
    return from_condition(compare.is_negative(call.terms[0], call.form), call.model.int_type)


def _signed_infinity(call: Call) -> Value:
    term, ctype = call.terms[0], call.model.int_type
    sign = choose(compare.is_negative(term, call.form), constant(-1, ctype.bits), constant(1, ctype.bits))
    return Value(choose(compare.is_infinite(term, call.form), sign, constant(0, ctype.bits)), ctype)


def _is_finite(a: FNode, form: Format) -> FNode:
    return negate(either(compare.is_nan(a, form), compare.is_infinite(a, form)))


def _is_normal(a: FNode, form: Format) -> FNode:
    least = constant(1 << form.fraction, form.bits)
    return both(_is_finite(a, form), compare.less_equal(least, compare.absolute(a, form), form))


def _positive_difference(a: FNode, b: FNode, form: Format) -> FNode:
    return choose(compare.less_equal(a, b, form), constant(0, form.bits), arithmetic.subtract(a, b, form))


def _number(raw: Callable[[Format], int]) -> Callable[[Call], Value]:
    return lambda call: Value(constant(raw(call.form), call.ctype.bits), call.ctype)


def infinity(ctype: FloatType, minus: bool = False) -> MathFunction:
    """A function without arguments that yields an infinity."""
    return MathFunction(0, ctype, _number(lambda form: form.infinity | (form.sign if minus else 0)))


def _typed() -> dict[str, MathFunction]:
    """The functions that there are for double and, with the suffix f, for float."""
    unary: dict[str, Callable[..., FNode]] = {
        "fabs": compare.absolute,
        "floor": arithmetic.floor,
        "ceil": arithmetic.ceiling,
        "trunc": arithmetic.truncate,
        "round": arithmetic.round_half_away,
        "rint": arithmetic.round_half_even,
        "nearbyint": arithmetic.round_half_even,
        "sqrt": arithmetic.square_root,
    }
    binary: dict[str, Callable[..., FNode]] = {
        "fmod": arithmetic.remainder,
        "fdim": _positive_difference,
    }
    roundings = {"round": arithmetic.round_half_away, "rint": arithmetic.round_half_even}
    found: dict[str, MathFunction] = {}
    for suffix, ctype in (("", _DOUBLE), ("f", _FLOAT)):
        for name, operation in unary.items():
            found[name + suffix] = MathFunction(1, ctype, _computed(operation))
        for name, operation in binary.items():
            found[name + suffix] = MathFunction(2, ctype, _computed(operation))
        for name, operation in {"fmin": compare.fmin, "fmax": compare.fmax}.items():
            found[name + suffix] = MathFunction(2, ctype, _selected(operation))
        found[f"copysign{suffix}"] = MathFunction(2, ctype, _copysign)
        for name, rounded in roundings.items():
            for letter, result in (("l", "long"), ("ll", "long long")):
                work = _to_integer(rounded, result)
                found[f"{letter}{name}{suffix}"] = MathFunction(1, ctype, work, result)
    return found


def _macros() -> dict[str, MathFunction]:
    """What the macros of our <math.h> (and of gcc's) expand to."""
    found = {
        "isnan": MathFunction(1, None, _tested(compare.is_nan)),
        "isinf": MathFunction(1, None, _tested(compare.is_infinite)),
        "isfinite": MathFunction(1, None, _tested(_is_finite)),
        "isnormal": MathFunction(1, None, _tested(_is_normal)),
        "isinf_sign": MathFunction(1, None, _signed_infinity),
        "signbit": MathFunction(1, None, _signbit),
        "isunordered": MathFunction(2, None, _tested(compare.unordered)),
        "isgreater": MathFunction(2, None, _compared(">")),
        "isgreaterequal": MathFunction(2, None, _compared(">=")),
        "isless": MathFunction(2, None, _compared("<")),
        "islessequal": MathFunction(2, None, _compared("<=")),
        "islessgreater": MathFunction(2, None, _compared("<", ">")),
    }
    for suffix, ctype in (("", _DOUBLE), ("f", _FLOAT)):
        for name in ("inf", "huge_val"):
            found[name + suffix] = infinity(ctype)
        found[f"nan{suffix}"] = MathFunction(0, ctype, _number(lambda form: form.nan))
    return found


FUNCTIONS = _typed()
FUNCTIONS.update({f"__builtin_{name}": function for name, function in {**FUNCTIONS, **_macros()}.items()})
FUNCTIONS.update({name: FUNCTIONS[f"__builtin_{name}"] for name in ("nan", "nanf")})
"""All that is known, by name. The argument of ``nan`` says nothing: all NaNs count as one."""
OPEN = {
    name + suffix: MathFunction(arity, ctype, None)
    for arity, names in ((1, _UNARY), (2, _BINARY))
    for name in names.split()
    for suffix, ctype in (("", _DOUBLE), ("f", _FLOAT))
}
"""The functions whose results depend on the library, by name."""


class MathCalls:
    """Evaluates the arguments of a call and leaves the rest to ``bmc.models.c.execute.math_library``.

    ``undetermined``: the calls so far whose results depend on the library; None where every such call is refused.
    """

    def __init__(self, executor: Evaluator) -> None:
        self.executor = executor
        self.undetermined: list[LibraryCall] | None = None

    @staticmethod
    def knows(name: str) -> bool:
        """Whether ``call`` is to be asked about a function that is not defined; it may refuse."""
        return name in FUNCTIONS or name in UNKNOWN

    def call(self, name: str, node: Any, scope: Scope, state: State) -> Value:
        """The result of a call. UnsupportedConstruct, with its place, for a function whose results are not fixed."""
        function = scope.find(name)
        own = stand_in(function) if isinstance(function, Function) else None
        if name in ONLY_TRUTH and node is not self.executor.asked:
            raise UnsupportedConstruct(
                "unsupported C construct: 'signbit' used as a number: only whether it is 0 is defined",
                where(node),
                "write signbit(x) != 0, whose value is 0 or 1",
            )
        if own is not None:
            assert isinstance(function, Function)
            assert isinstance(function.ctype.result, IntType | FloatType)
            return floating.exact(self._result(own, node, scope, state), function.ctype.result)
        known = FUNCTIONS.get(name) or OPEN.get(name)
        if known is not None and known.ctype is _DOUBLE and self.executor.model.double == _FLOAT.bits:
            known = FUNCTIONS.get(f"{name}f") or OPEN.get(f"{name}f")
        if known is None or (known.work is None and self.undetermined is None):
            raise UnsupportedConstruct(
                f"unsupported C construct: '{name}' of <math.h>, whose results depend on the library",
                where(node),
                f"define '{name}' in a source file, such as a table with interpolation: model and replay then use that",
            )
        if isinstance(function, Function) and not known.agrees(function.ctype, self.executor.model):
            raise InputRefused(f"'{name}' is declared otherwise than in <math.h>", where(node))
        if known.work is None:
            return self._undetermined(known, node, scope, state)
        return self._result(known, node, scope, state)

    def _undetermined(self, function: MathFunction, node: Any, scope: Scope, state: State) -> Value:
        """A result of which nothing is known."""
        values = self._numbers(function, node, scope, state)
        assert self.undetermined is not None
        assert function.ctype is not None
        name = f"{node.name.name}()#{len(self.undetermined) + 1}"
        symbol = function.ctype.value_type().symbol(name)
        reached = both(self.executor.recorder.base, state.pc)
        arguments = tuple(value.bits for value in values)
        self.undetermined.append(LibraryCall(node.name.name, symbol, where(node), arguments, reached))
        return Value(symbol, function.ctype)

    def _result(self, function: MathFunction, node: Any, scope: Scope, state: State) -> Value:
        values = self._numbers(function, node, scope, state) if function.arity else []
        undefined = self.executor.undefined_at(state, node)
        result = function.call(values, self.executor.model, undefined)
        if result is None:
            raise InputRefused(f"{node.name.name} needs a floating-point number", where(node))
        return result

    def _numbers(self, function: MathFunction, node: Any, scope: Scope, state: State) -> list[Value]:
        """The arguments, converted to the type of the parameters."""
        values: list[Value] = []
        for value in self.executor.arguments(node, scope, state):
            if not isinstance(value, Value) or isinstance(value.ctype, PointerType):
                raise InputRefused(f"{node.name.name} needs numbers", where(node))
            values.append(floating.exact(value, function.ctype) if function.ctype is not None else value)
        if len(values) != function.arity:
            text = f"{node.name.name} takes {function.arity} argument(s), not {len(values)}"
            raise InputRefused(text, where(node))
        return values


_MEANINGS = {"rtIsNaN": "isnan", "rtIsInf": "isinf", "rtGetNaN": "nan", "rtGetInf": "inf", "rtGetMinusInf": "-inf"}


def stand_in(function: Function) -> MathFunction | None:
    """What a helper for NaN and infinity does that Embedded Coder's code carries; None if its body is to be read.

    Older ones (rt_nonfinite.c, rtGetInf.c, rtGetNaN.c) look at the bits of NaNs through unions: they have none here.
    Where a function has such a name, the parameters and the result that go with it, and a union in its body, it is
    taken for what its name says.
    """
    narrow = function.name.endswith("F")
    meaning = _MEANINGS.get(function.name.removesuffix("F"))
    if meaning is None or function.node is None:
        return None
    test = meaning in ("isnan", "isinf")
    bits = 32 if narrow else 64
    numbers = [ctype for _, ctype in function.ctype.parameters] if test else [function.ctype.result]
    fits = len(numbers) == 1 and isinstance(numbers[0], FloatType) and numbers[0].bits == bits
    fits = fits and (isinstance(function.ctype.result, IntType) if test else not function.ctype.parameters)
    if not fits or not _uses_union(function.node.body, function.unit.scope):
        return None
    number = numbers[0]
    assert isinstance(number, FloatType)
    if meaning in ("inf", "-inf"):
        return infinity(number, minus=meaning == "-inf")
    return FUNCTIONS[f"__builtin_{meaning}{'f' if narrow and not test else ''}"]


def _uses_union(node: Any, scope: Scope) -> bool:
    if isinstance(node, c_ast.Union):
        return True
    if isinstance(node, c_ast.IdentifierType) and len(node.names) == 1:
        found = scope.find(node.names[0])
        return isinstance(found, Typedef) and _holds_union(found.ctype)
    return any(_uses_union(child, scope) for _, child in node.children())


def _holds_union(ctype: CType) -> bool:
    if isinstance(ctype, ArrayType):
        return _holds_union(ctype.element)
    if not isinstance(ctype, StructType):
        return False
    return ctype.is_union or any(_holds_union(member.type) for member in ctype.fields or ())

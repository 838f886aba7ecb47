"""Lvalues (C11 6.3.2.1): the objects that expressions designate, what is read from them, and in which order.

Operands whose order C leaves open are evaluated one after the other, and refused where the order would matter.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, Protocol

from pycparser import c_ast

from bmc.errors import InputRefused, UnsupportedConstruct
from bmc.formulas.terms import TRUE, constant
from bmc.models.c.execute.access import Accesses, refuse_opaque
from bmc.models.c.execute.arithmetic import constant_value
from bmc.models.c.execute.floating import string_of
from bmc.models.c.execute.memory import (
    Aggregate,
    Content,
    Key,
    MemObject,
    Place,
    State,
    Target,
    Value,
    address_of,
    member_path,
    whole,
)
from bmc.models.c.execute.typing import static_type
from bmc.models.c.execute.variables import variable_name
from bmc.models.c.execute.walking import Walking
from bmc.models.c.source.declarations import NotConstant, TypeReader
from bmc.models.c.source.overlay import is_shared
from bmc.models.c.source.program import LEAVES, EnumConstant, Function, Program, Scope, unsupported, where
from bmc.models.c.source.types import (
    ArrayType,
    CType,
    FloatType,
    FunctionType,
    IntType,
    Path,
    PointerType,
    StructType,
    VoidType,
    show_type,
)
from bmc.records import dataclass

STEPS = {"p++": "+", "p--": "-", "++": "+", "--": "-"}
"""Increment and decrement operators with what they do."""


@dataclass(frozen=True, slots=True)
class Operand:
    """One operand: its syntax and how to evaluate it."""

    node: Any
    work: Callable[[], Any]


class Elements:
    """What the elements of one initialiser list read and write, as far as they are evaluated (C11 6.7.9p23)."""

    def __init__(self) -> None:
        self._earlier = Accesses(0)

    def add(self, accesses: Accesses, node: Any) -> None:
        """Enter one element; refuse it where its order with an earlier one would matter."""
        clash = accesses.clash(self._earlier)
        if clash:
            raise _in_no_order(clash, "initialiser list", node)
        self._earlier.reads |= accesses.reads
        self._earlier.writes |= accesses.writes


class Sequencing(Walking):
    """Finds unsequenced side effects (C11 6.5p2)."""

    def __init__(self) -> None:
        super().__init__()
        self._effects: dict[int, tuple[bool, Any]] = {}

    def unsequenced(self, node: Any, left: Operand, right: Operand, assigns: str = "") -> tuple[Any, Any]:
        """Evaluate two operands; refuse where their order would matter.

        ``assigns`` is the operator of an assignment to the place that ``left`` yields.
        """
        if not (self.has_effects(left.node) or self.has_effects(right.node)):
            return left.work(), right.work()
        first, a = self.accessed(left.work)
        second, b = self.accessed(right.work)
        clash = a.clash(b)
        if assigns and isinstance(first, Place):
            targets = {key for t in first.targets if t.object for key in self._keys(t.object, t.path, first.ctype)}
            clash |= {key for key in (b.direct if assigns == "=" else b.writes) if key in targets}
        if clash:
            raise _in_no_order(clash, "expression", node)
        return first, second

    def _keys(self, obj: MemObject, path: Path, ctype: CType) -> list[Key]:
        """The cells that an assignment to a place sets."""
        return self.representation.keys(obj, path, ctype) if is_shared(obj.ctype, path) else [(obj, path)]

    def accessed(self, work: Callable[[], Any]) -> tuple[Any, Accesses]:
        """The result of ``work`` and what it reads and writes."""
        accesses = Accesses(self.depth)
        self.noted_in.append(accesses)
        try:
            return work(), accesses
        finally:
            self.noted_in.remove(accesses)

    def has_effects(self, node: Any) -> bool:
        """Whether evaluating ``node`` may change memory (it assigns, steps or calls)."""
        if isinstance(node, LEAVES):
            return False
        known = self._effects.get(id(node))
        if known is None:
            known = _changes(node) or any(map(self.has_effects, _evaluated(node))), node
            self._effects[id(node)] = known
        return known[0]


def _in_no_order(keys: Iterable[Key], what: str, node: Any) -> UnsupportedConstruct:
    name = min(variable_name(*key) for key in keys)
    return unsupported(f"'{name}' is changed and used in one {what} in no given order", node)


_CHANGING = (c_ast.Assignment, c_ast.FuncCall, c_ast.CompoundLiteral, c_ast.Compound)


def _evaluated(node: Any) -> Iterable[Any]:
    """The parts of a syntax node that are evaluated with it: not those of ``sizeof``."""
    unevaluated = isinstance(node, c_ast.UnaryOp) and node.op in ("sizeof", "_Alignof")
    return () if unevaluated else node


def _changes(node: Any) -> bool:
    """Whether a syntax node by itself, not counting its parts, changes memory."""
    return isinstance(node, _CHANGING) or (isinstance(node, c_ast.UnaryOp) and node.op in STEPS)


@cache
def method_for(what: str, kind: str) -> str:
    """The name of the method that evaluates (``eval``) or does (``_do``) syntax nodes of the class ``kind``."""
    return f"{what}_{kind.lower()}"


Result = Value | Aggregate | None
_STRUCT_VALUES = c_ast.FuncCall | c_ast.TernaryOp | c_ast.Assignment | c_ast.ExprList | c_ast.Compound


class Initialising(Protocol):
    """What gives objects their start values."""

    def completed(self, ctype: ArrayType, init: Any, scope: Scope) -> ArrayType:
        """An array of unknown length, completed by its initialiser."""

    def automatic(self, place: Place, init: Any, scope: Scope, state: State) -> None:
        """Initialise an automatic object."""


class Lvalues(Sequencing):
    """Names, members, elements and dereferenced pointers of a program."""

    initialiser: Initialising

    def __init__(self, program: Program) -> None:
        super().__init__()
        self.program = program
        self.model = program.model
        self.types = TypeReader(program.model, self.constant, lambda node, scope: self.named_type(node, scope, State()))
        self.unknown_name: Callable[[Any, State], Place] | None = None
        self.lenient_dot = False
        self.strings: dict[int, tuple[MemObject, list[int], Any]] = {}
        self._function_objects: dict[Function, MemObject] = {}
        self.function_of: dict[MemObject, Function] = {}
        """The functions whose addresses have been taken, by what stands for them in memory."""

    @abstractmethod
    def evaluate(self, node: Any, scope: Scope, state: State) -> Result:
        """Any expression; provided by the evaluator."""

    def temporary(self, name: str, ctype: CType, state: State) -> MemObject:
        """An unnamed object that lives as long as the block around it."""
        return MemObject(name, ctype, "automatic")

    def value(self, node: Any, scope: Scope, state: State) -> Value:
        """A scalar expression's value."""
        result = self.evaluate(node, scope, state)
        if not isinstance(result, Value):
            raise InputRefused("a scalar value is needed here", where(node))
        return result

    def constant(self, node: Any, scope: Scope) -> int:
        """An integer constant expression (C11 6.6); NotConstant for anything else."""
        with self.apart() as recorder:
            value = self.value(node, scope, State())
        defined = isinstance(value.ctype, IntType) and not recorder.undefined_behaviour
        number = constant_value(value) if defined else None
        if number is None:
            raise NotConstant("an integer constant is needed here", where(node))
        return number

    @abstractmethod
    def declare(self, node: Any, scope: Scope, state: State) -> None:
        """Enter a declaration that is not run into its scope; provided by the executor."""

    def is_expression(self, node: Any) -> bool:
        """Whether a statement is nothing but an expression."""
        return hasattr(self, method_for("eval", type(node).__name__))

    def type_of(self, node: Any, scope: Scope, state: State) -> CType:
        """The type of an unevaluated expression."""
        with self.apart():
            return self.type_within(node, scope, state.fork(TRUE()))

    def type_within(self, node: Any, scope: Scope, scratch: State) -> CType:
        """``type_of`` in a memory that may be changed, apart from the run."""
        if is_lvalue(node) and not self._is_enum_constant(node, scope):
            found = scope.find(node.name) if isinstance(node, c_ast.ID) else None
            return found.ctype if isinstance(found, Function) else self.place(node, scope, scratch).ctype
        known = static_type(self, node, scope, scratch)
        if known is not None:
            return known
        result = self.evaluate(node, scope, scratch)
        return result.ctype if result is not None else VoidType()

    def named_type(self, node: Any, scope: Scope, state: State) -> CType:
        """The type of the operand of ``sizeof`` or ``typeof``: a type name, or an expression."""
        is_name = isinstance(node, c_ast.Typename)
        return self.types.read(node, scope) if is_name else self.type_of(node, scope, state)

    @staticmethod
    def _is_enum_constant(node: Any, scope: Scope) -> bool:
        return isinstance(node, c_ast.ID) and isinstance(scope.find(node.name), EnumConstant)

    # the object that an expression designates

    def place(self, node: Any, scope: Scope, state: State) -> Place:
        """The object that an lvalue expression designates."""
        if isinstance(node, c_ast.ID):
            return self.named_place(node, scope, state)
        if isinstance(node, c_ast.StructRef):
            return self._member(node, scope, state)
        if isinstance(node, c_ast.ArrayRef):
            return self._subscript(node, scope, state)
        if isinstance(node, c_ast.CompoundLiteral):
            return self._compound_literal(node, scope, state)
        if isinstance(node, c_ast.UnaryOp) and node.op == "*":
            pointer = self.value(node.expr, scope, state)
            if not isinstance(pointer.ctype, PointerType):
                raise InputRefused("'*' needs a pointer", where(node))
            return self.dereference(pointer, state, node)
        if isinstance(node, c_ast.Constant) and node.type == "string":
            return whole(self._string(node, state))
        if isinstance(node, c_ast.Constant):
            hint = "a macro may stand for a constant there: what is assigned is an object (a register: volatile)"
            raise InputRefused("a constant stands where an object is expected", where(node), hint)
        raise unsupported(f"{type(node).__name__} as an lvalue", node)

    def named_place(self, node: Any, scope: Scope, state: State) -> Place:
        """The object that a name stands for."""
        found = scope.find(node.name)
        if isinstance(found, Place):
            return found
        if isinstance(found, MemObject):
            return whole(found)
        undefined = found is None or (isinstance(found, Function) and found.node is None)
        if undefined and self.unknown_name is not None:
            return self.unknown_name(node, state)
        if isinstance(found, Function):
            return whole(self.function_object(found, node))
        if found is None:
            raise InputRefused(f"unknown name '{node.name}'", where(node), "declare it, or include its header")
        raise unsupported(f"'{node.name}' as an lvalue", node)

    def function_object(self, function: Function, node: Any) -> MemObject:
        """What a pointer to ``function`` points to; refused for a function that no source defines."""
        if function.node is None:
            hint = "add the source file that defines it to sources.files, or write a stand-in for it"
            raise unsupported(f"address of the function '{function.name}', which is not defined", node, hint)
        if function not in self._function_objects:
            file = function.unit.source.file
            obj = MemObject(function.name, function.ctype, "function", function.name, file=file, const=True)
            obj.declared = where(function.node)
            self._function_objects[function], self.function_of[obj] = obj, function
        return self._function_objects[function]

    def _member(self, node: Any, scope: Scope, state: State) -> Place:
        base = self._struct_place(node, scope, state)
        if not isinstance(base.ctype, StructType):
            raise InputRefused(f"'{node.field.name}' is asked of a {show_type(base.ctype)}, not a struct", where(node))
        try:
            way = base.ctype.find(node.field.name)
        except InputRefused as error:
            raise error if error.where else InputRefused(error.message, where(node), error.hint) from None
        if not way:
            raise InputRefused(f"{show_type(base.ctype)} has no member '{node.field.name}'", where(node))
        for struct in (base.ctype, *(m.type for m in way[:-1])):
            if isinstance(struct, StructType) and struct.is_union:
                refuse_opaque(struct, node)
        self.check_not_null(base, state, node)
        return member_path(base, (m.name for m in way), way[-1].type)

    def _struct_place(self, node: Any, scope: Scope, state: State) -> Place:
        """The struct of a member access."""
        if node.type == "->":
            return self.dereference(self.value(node.name, scope, state), state, node)
        if isinstance(node.name, _STRUCT_VALUES):
            return self._struct_value(self.evaluate(node.name, scope, state), state, node)
        inner = self.place(node.name, scope, state)
        if self.lenient_dot and isinstance(inner.ctype, PointerType):
            return self.dereference(self.value(node.name, scope, state), state, node)
        return inner

    def _struct_value(self, value: Result, state: State, node: Any) -> Place:
        if not isinstance(value, Aggregate):
            raise InputRefused("a struct value is needed here", where(node))
        obj = self.temporary("(temporary)", value.ctype, state)
        for path, content in value.cells:
            state.cells[obj, path] = content
        return whole(obj)

    def _compound_literal(self, node: Any, scope: Scope, state: State) -> Place:
        ctype = self.types.read(node.type, scope)
        if isinstance(ctype, ArrayType) and ctype.length is None:
            ctype = self.initialiser.completed(ctype, node.init, scope)
        place = whole(self.temporary("(compound literal)", ctype, state))
        self.initialiser.automatic(place, node.init, scope, state)
        return place

    def _subscript(self, node: Any, scope: Scope, state: State, past: int = 0) -> Place:
        """An element of an array; ``past``: of how many behind the last one the address may be taken (C11 6.5.6p8)."""
        base, index = self.unsequenced(
            node,
            Operand(node.name, lambda: self._array_or_pointer(node.name, scope, state)),
            Operand(node.subscript, lambda: self.value(node.subscript, scope, state)),
        )
        if isinstance(base, Value) and isinstance(index.ctype, PointerType):
            base, index = index, base  # index[array]
        if isinstance(base, Value) and not isinstance(base.ctype, PointerType):
            raise InputRefused("'[]' needs an array or a pointer", where(node))
        if isinstance(index.ctype, FloatType):
            raise InputRefused(f"an index must be an integer, not a {index.ctype.name}", where(node))
        if not isinstance(index.ctype, IntType):
            raise InputRefused("a pointer is used as an index", where(node))
        if isinstance(base, Place):
            self.check_not_null(base, state, node)
            return self.element(base, index, state, node, past=past)
        return self.subscript(base, index, state, node, past)

    def _array_or_pointer(self, node: Any, scope: Scope, state: State) -> Place | Value:
        if is_lvalue(node) and not self._is_enum_constant(node, scope):
            place = self.place(node, scope, state)
            if isinstance(place.ctype, ArrayType):
                return place
            pointer: Result = self.load(place, state, node)
        else:
            pointer = self.evaluate(node, scope, state)
        if not isinstance(pointer, Value):
            raise InputRefused("'[]' needs an array or a pointer", where(node))
        return pointer

    # what is read

    def read(self, place: Place, state: State, node: Any) -> Value | Aggregate:
        """The value of an lvalue; an array decays to a pointer to its first element, a function to one to itself."""
        if isinstance(place.ctype, FunctionType):
            return address_of(place)
        if isinstance(place.ctype, ArrayType):
            targets = tuple(Target(t.guard, t.object, (*t.path, 0)) if t.object else t for t in place.targets)
            return Value(targets, PointerType(place.ctype.element))
        return self.load(place, state, node)

    def _string(self, node: Any, state: State) -> MemObject:
        if id(node) not in self.strings:
            text = string_of(node)
            obj = MemObject("(string)", ArrayType(self.model.basic["char"], len(text)), "constant", const=True)
            self.strings[id(node)] = (obj, text, node)
        obj, numbers, _ = self.strings[id(node)]
        for index, number in enumerate(numbers):
            state.cells.setdefault((obj, (index,)), Content(constant(number, 8), TRUE()))
        return obj


def is_lvalue(node: Any) -> bool:
    """Whether an expression has the form of an lvalue."""
    if isinstance(node, c_ast.StructRef) and node.type == ".":
        return is_lvalue(node.name)
    if isinstance(node, c_ast.UnaryOp):
        return bool(node.op == "*")
    if isinstance(node, c_ast.Constant):
        return bool(node.type == "string")
    return isinstance(node, c_ast.ID | c_ast.StructRef | c_ast.ArrayRef | c_ast.CompoundLiteral)

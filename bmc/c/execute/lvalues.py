"""Lvalues (C11 6.3.2.1): the objects that expressions designate, and what is read from them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pycparser import c_ast
from pysmt.shortcuts import TRUE

from bmc.c.execute.arithmetic import constant_value
from bmc.c.execute.memory import Aggregate, Content, MemObject, Place, State, Target, Value, member_path
from bmc.c.execute.recorder import Recorder
from bmc.c.execute.sequencing import Operand, Sequencing
from bmc.c.source.declarations import NotConstant, TypeReader
from bmc.c.source.literals import string_of
from bmc.c.source.program import EnumConstant, Function, Program, Scope, unsupported, where
from bmc.c.source.types import ArrayType, CType, FloatType, IntType, PointerType, StructType, VoidType, show_type
from bmc.errors import InputRefused
from bmc.formulas.terms import constant

if TYPE_CHECKING:
    from bmc.c.execute.initialise import Initialiser

Result = Value | Aggregate | None
_STRUCT_VALUES = c_ast.FuncCall | c_ast.TernaryOp | c_ast.Assignment | c_ast.ExprList


class Lvalues(Sequencing):
    """Names, members, elements and dereferenced pointers of a program."""

    initialiser: Initialiser

    def __init__(self, program: Program) -> None:
        super().__init__()
        self.program = program
        self.model = program.model
        self.types = TypeReader(program.model, self.constant)
        self.unknown_name: Callable[[Any, State], Place] | None = None
        self.lenient_dot = False
        self._strings: dict[int, tuple[MemObject, list[int], Any]] = {}

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
        saved, self.recorder = self.recorder, Recorder()
        try:
            value = self.value(node, scope, State())
            suspects = self.recorder.suspects
        finally:
            self.recorder = saved
        number = constant_value(value) if isinstance(value.ctype, IntType) and not suspects else None
        if number is None:
            raise NotConstant("an integer constant is needed here", where(node))
        return number

    def type_of(self, node: Any, scope: Scope, state: State) -> CType:
        """The type of an unevaluated expression."""
        saved, self.recorder = self.recorder, Recorder()
        watches, self.watches = self.watches, []
        scratch = state.fork(TRUE())
        try:
            if is_lvalue(node) and not self._is_enum_constant(node, scope):
                return self.place(node, scope, scratch).ctype
            result = self.evaluate(node, scope, scratch)
            return result.ctype if result is not None else VoidType()
        finally:
            self.recorder, self.watches = saved, watches

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
            return self.dereference(pointer, node)
        if isinstance(node, c_ast.Constant) and node.type == "string":
            return _whole(self._string(node, state))
        raise unsupported(f"{type(node).__name__} as an lvalue", node)

    def named_place(self, node: Any, scope: Scope, state: State) -> Place:
        """The object that a name stands for."""
        found = scope.find(node.name)
        if isinstance(found, Place):
            return found
        if isinstance(found, MemObject):
            return _whole(found)
        undefined = found is None or (isinstance(found, Function) and found.node is None)
        if undefined and self.unknown_name is not None:
            return self.unknown_name(node, state)
        if found is None:
            raise InputRefused(f"unknown name '{node.name}'", where(node), "declare it, or include its header")
        raise unsupported(f"'{node.name}' as an lvalue", node)

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
        if any(isinstance(t, StructType) and t.is_union for t in (base.ctype, *(m.type for m in way[:-1]))):
            raise unsupported("union member access", node)
        if way[-1].bit_field:
            raise unsupported(f"bit-field '{way[-1].name}'", node)
        self.check_not_null(base, state, node)
        return member_path(base, (m.name for m in way), way[-1].type)

    def _struct_place(self, node: Any, scope: Scope, state: State) -> Place:
        """The struct of a member access."""
        if node.type == "->":
            return self.dereference(self.value(node.name, scope, state), node)
        if isinstance(node.name, _STRUCT_VALUES):
            return self._struct_value(self.evaluate(node.name, scope, state), state, node)
        inner = self.place(node.name, scope, state)
        if self.lenient_dot and isinstance(inner.ctype, PointerType):
            return self.dereference(self.value(node.name, scope, state), node)
        return inner

    def _struct_value(self, value: Result, state: State, node: Any) -> Place:
        if not isinstance(value, Aggregate):
            raise InputRefused("a struct value is needed here", where(node))
        obj = self.temporary("(temporary)", value.ctype, state)
        for path, content in value.cells:
            state.cells[obj, path] = content
        return _whole(obj)

    def _compound_literal(self, node: Any, scope: Scope, state: State) -> Place:
        ctype = self.types.read(node.type, scope)
        if isinstance(ctype, ArrayType) and ctype.length is None:
            ctype = self.initialiser.completed(ctype, node.init, scope)
        place = _whole(self.temporary("(compound literal)", ctype, state))
        self.initialiser.automatic(place, node.init, scope, state)
        return place

    def _subscript(self, node: Any, scope: Scope, state: State) -> Place:
        base, index = self.unsequenced(
            node,
            Operand(node.name, lambda: self._array_or_pointer(node.name, scope, state)),
            Operand(node.subscript, lambda: self.value(node.subscript, scope, state)),
        )
        if isinstance(index.ctype, FloatType):
            raise InputRefused(f"an index must be an integer, not a {index.ctype.name}", where(node))
        if not isinstance(index.ctype, IntType):
            raise unsupported("index[array] written the other way round", node)
        if isinstance(base, Place):
            self.check_not_null(base, state, node)
            return self.element(base, index, state, node)
        return self.subscript(base, index, state, node)

    def _array_or_pointer(self, node: Any, scope: Scope, state: State) -> Place | Value:
        if is_lvalue(node):
            place = self.place(node, scope, state)
            if isinstance(place.ctype, ArrayType):
                return place
            pointer: Result = self.load(place, state, node)
        else:
            pointer = self.evaluate(node, scope, state)
        if not isinstance(pointer, Value):
            raise InputRefused("'[]' needs an array or a pointer", where(node))
        if not isinstance(pointer.ctype, PointerType):
            raise unsupported("index[array] written the other way round, or '[]' without an array", node)
        return pointer

    # what is read

    def read(self, place: Place, state: State, node: Any) -> Value | Aggregate:
        """The value of an lvalue; an array decays to a pointer to its first element."""
        if isinstance(place.ctype, ArrayType):
            targets = tuple(Target(t.guard, t.object, (*t.path, 0)) if t.object else t for t in place.targets)
            return Value(targets, PointerType(place.ctype.element))
        return self.load(place, state, node)

    def _string(self, node: Any, state: State) -> MemObject:
        if id(node) not in self._strings:
            text = string_of(node)
            obj = MemObject("(string)", ArrayType(self.model.basic["char"], len(text)), "constant", const=True)
            self._strings[id(node)] = (obj, text, node)
        obj, numbers, _ = self._strings[id(node)]
        for index, number in enumerate(numbers):
            state.cells.setdefault((obj, (index,)), Content(constant(number, 8), TRUE()))
        return obj


def _whole(obj: MemObject) -> Place:
    return Place((Target(TRUE(), obj),), obj.ctype)


def is_lvalue(node: Any) -> bool:
    """Whether an expression has the form of an lvalue."""
    if isinstance(node, c_ast.StructRef) and node.type == ".":
        return is_lvalue(node.name)
    if isinstance(node, c_ast.UnaryOp):
        return bool(node.op == "*")
    if isinstance(node, c_ast.Constant):
        return bool(node.type == "string")
    return isinstance(node, c_ast.ID | c_ast.StructRef | c_ast.ArrayRef | c_ast.CompoundLiteral)

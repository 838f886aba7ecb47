"""Symbolic evaluation of C expressions (C11 6.5) over a State."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from pycparser import c_ast
from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE

from bmc.c import arithmetic
from bmc.c.access import MemoryAccess, Watch, refuse_opaque
from bmc.c.arithmetic import constant_value, from_condition, truth
from bmc.c.declarations import TypeReader
from bmc.c.literals import characters_of, read_constant
from bmc.c.memory import (
    Aggregate,
    Content,
    MemObject,
    Place,
    State,
    Target,
    Value,
    address_of,
    is_null,
    member_place,
    merge,
    merge_contents,
    merge_targets,
)
from bmc.c.program import EnumConstant, Function, Program, Scope, unsupported, where
from bmc.c.recorder import Recorder
from bmc.c.terms import both, choose, constant, either, negate
from bmc.c.types import (
    ArrayType,
    CType,
    IntType,
    PointerType,
    StructType,
    VoidType,
    common_type,
    same_type,
    show_type,
    size_of,
)
from bmc.errors import InputRefused

Result = Value | Aggregate | None
_ASSIGN = {f"{op}=" for op in ("+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^")}
_STEPS = {"p++": "+", "p--": "-", "++": "+", "--": "-"}


class Evaluator(MemoryAccess):
    """Expressions of a program. ``Executor`` adds calls and statements."""

    def __init__(self, program: Program) -> None:
        super().__init__()
        self.program = program
        self.model = program.model
        self.types = TypeReader(program.model, self.constant)
        self.unknown_name: Callable[[Any, State], Place] | None = None
        self.lenient_dot = False
        self._effects: dict[int, tuple[bool, Any]] = {}
        self._strings: dict[int, tuple[MemObject, Any]] = {}

    def call(self, node: Any, scope: Scope, state: State) -> Result:
        """A function call; provided by the executor."""
        raise NotImplementedError

    def constant(self, node: Any, scope: Scope) -> int:
        """An integer constant expression (C11 6.6)."""
        saved, self.recorder = self.recorder, Recorder()
        try:
            value = self.value(node, scope, State())
        finally:
            self.recorder = saved
        number = constant_value(value) if isinstance(value.ctype, IntType) else None
        if number is None:
            raise InputRefused("an integer constant is needed here", where(node))
        return number

    def value(self, node: Any, scope: Scope, state: State) -> Value:
        """A scalar expression's value."""
        result = self.evaluate(node, scope, state)
        if not isinstance(result, Value):
            raise InputRefused("a scalar value is needed here", where(node))
        return result

    def condition(self, node: Any, scope: Scope, state: State) -> FNode:
        """When a scalar expression compares unequal to 0."""
        return self.truth_of(self.value(node, scope, state))

    @staticmethod
    def truth_of(value: Value) -> FNode:
        return negate(is_null(value.targets)) if isinstance(value.ctype, PointerType) else truth(value)

    def evaluate(self, node: Any, scope: Scope, state: State) -> Result:
        """Any expression; None for void."""
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise unsupported(f"expression {type(node).__name__}", node)
        result: Result = method(node, scope, state)
        return result

    # lvalues

    def place(self, node: Any, scope: Scope, state: State) -> Place:
        """The object that an lvalue expression designates."""
        if isinstance(node, c_ast.ID):
            return self._named_place(node, scope, state)
        if isinstance(node, c_ast.StructRef):
            return self._member(node, scope, state)
        if isinstance(node, c_ast.ArrayRef):
            return self._subscript(node, scope, state)
        if isinstance(node, c_ast.UnaryOp) and node.op == "*":
            pointer = self.value(node.expr, scope, state)
            if not isinstance(pointer.ctype, PointerType):
                raise InputRefused("'*' needs a pointer", where(node))
            return self.dereference(pointer, node)
        if isinstance(node, c_ast.Constant) and node.type == "string":
            return Place((Target(TRUE(), self._string(node, state)),), self._string(node, state).ctype)
        raise unsupported(f"{type(node).__name__} as an lvalue", node)

    def _named_place(self, node: Any, scope: Scope, state: State) -> Place:
        found = scope.find(node.name)
        if isinstance(found, Place):
            return found
        if isinstance(found, MemObject):
            return Place((Target(TRUE(), found),), found.ctype)
        if found is None and self.unknown_name is not None:
            return self.unknown_name(node, state)
        if found is None:
            raise InputRefused(f"unknown name '{node.name}'", where(node), "declare it, or include its header")
        raise unsupported(f"'{node.name}' as an lvalue", node)

    def _member(self, node: Any, scope: Scope, state: State) -> Place:
        arrow = node.type == "->"
        if not arrow and self.lenient_dot:
            inner = self.place(node.name, scope, state)
            arrow = isinstance(inner.ctype, PointerType)
        if arrow:
            base = self.dereference(self.value(node.name, scope, state), node)
        elif isinstance(node.name, c_ast.FuncCall | c_ast.TernaryOp | c_ast.Assignment):
            base = self._temporary(self.evaluate(node.name, scope, state), state, node)
        else:
            base = self.place(node.name, scope, state)
        if not isinstance(base.ctype, StructType):
            raise InputRefused(f"'{node.field.name}' is asked of a {show_type(base.ctype)}, not a struct", where(node))
        if base.ctype.is_union:
            raise unsupported("union member access", node)
        member = base.ctype.member(node.field.name)
        if member is None:
            raise InputRefused(f"{show_type(base.ctype)} has no member '{node.field.name}'", where(node))
        if member.bit_field:
            raise unsupported(f"bit-field '{member.name}'", node)
        self.check_not_null(base, state, node)
        return member_place(base, member.name, member.type)

    def _temporary(self, value: Result, state: State, node: Any) -> Place:
        if not isinstance(value, Aggregate):
            raise InputRefused("a struct value is needed here", where(node))
        obj = MemObject("(temporary)", value.ctype, "automatic")
        for path, content in value.cells:
            state.cells[obj, path] = content
        return Place((Target(TRUE(), obj),), value.ctype)

    def _subscript(self, node: Any, scope: Scope, state: State) -> Place:
        base, index = self.unsequenced(
            node,
            scope,
            state,
            lambda: self._array_or_pointer(node.name, scope, state),
            node.name,
            lambda: self.value(node.subscript, scope, state),
            node.subscript,
        )
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
        if not isinstance(pointer, Value) or not isinstance(pointer.ctype, PointerType):
            raise InputRefused("'[]' needs an array or a pointer", where(node))
        return pointer

    def read(self, place: Place, state: State, node: Any) -> Value | Aggregate:
        """The value of an lvalue; an array decays to a pointer to its first element."""
        if isinstance(place.ctype, ArrayType):
            targets = tuple(Target(t.guard, t.object, (*t.path, 0)) if t.object else t for t in place.targets)
            return Value(targets, PointerType(place.ctype.element))
        return self.load(place, state, node)

    # primary and postfix expressions

    def _id(self, node: Any, scope: Scope, state: State) -> Result:
        found = scope.find(node.name)
        if isinstance(found, EnumConstant):
            return Value(constant(found.value, self.model.int_type.bits), self.model.int_type)
        if isinstance(found, Function):
            raise unsupported(f"function '{node.name}' used as a value (function pointer)", node)
        return self.read(self._named_place(node, scope, state), state, node)

    def _constant(self, node: Any, scope: Scope, state: State) -> Result:
        if node.type == "string":
            return self.read(self.place(node, scope, state), state, node)
        return read_constant(node, self.model)

    def _string(self, node: Any, state: State) -> MemObject:
        if id(node) not in self._strings:
            text = characters_of(node.value[node.value.index('"') + 1 : -1])
            char = self.model.basic["char"]
            obj = MemObject("(string)", ArrayType(char, len(text) + 1), "constant", const=True)
            self._strings[id(node)] = (obj, [*text, 0])
        obj, numbers = self._strings[id(node)]
        for index, number in enumerate(numbers):
            state.cells.setdefault((obj, (index,)), Content(constant(number, 8), TRUE()))
        return obj

    def _structref(self, node: Any, scope: Scope, state: State) -> Result:
        return self.read(self.place(node, scope, state), state, node)

    _arrayref = _structref

    def _funccall(self, node: Any, scope: Scope, state: State) -> Result:
        return self.call(node, scope, state)

    def _exprlist(self, node: Any, scope: Scope, state: State) -> Result:
        result: Result = None
        for item in node.exprs:
            result = self.evaluate(item, scope, state)
        return result

    def _cast(self, node: Any, scope: Scope, state: State) -> Result:
        ctype = self.types.read(node.to_type, scope)
        value = self.evaluate(node.expr, scope, state)
        if isinstance(ctype, VoidType):
            return None
        if value is None:
            raise InputRefused("a void value is cast", where(node))
        return self.as_type(value, ctype, node)

    # operators

    def _unaryop(self, node: Any, scope: Scope, state: State) -> Result:
        if node.op == "sizeof":
            return self._sizeof(node, scope, state)
        if node.op == "&":
            if isinstance(node.expr, c_ast.ID) and isinstance(scope.find(node.expr.name), Function):
                raise unsupported("address of a function (function pointer)", node)
            return address_of(self.place(node.expr, scope, state))
        if node.op == "*":
            return self.read(self.place(node, scope, state), state, node)
        if node.op in _STEPS:
            return self._step(node, scope, state)
        value = self.value(node.expr, scope, state)
        if node.op == "!":
            return from_condition(negate(self.truth_of(value)), self.model.int_type)
        if not isinstance(value.ctype, IntType):
            raise unsupported(f"'{node.op}' on a pointer", node)
        return arithmetic.unary(node.op, value, self.model, self._suspect(state, node))

    def _sizeof(self, node: Any, scope: Scope, state: State) -> Value:
        if isinstance(node.expr, c_ast.Typename):
            ctype = self.types.read(node.expr, scope)
        else:
            ctype = self.type_of(node.expr, scope, state)
        refuse_opaque(ctype, node)
        size = self.model.size_t
        return Value(constant(size_of(ctype, self.model), size.bits), size)

    def type_of(self, node: Any, scope: Scope, state: State) -> CType:
        """The type of an unevaluated expression."""
        saved, self.recorder = self.recorder, Recorder()
        scratch = state.fork(TRUE())
        try:
            if is_lvalue(node) and not self._is_enum_constant(node, scope):
                return self.place(node, scope, scratch).ctype
            result = self.evaluate(node, scope, scratch)
            return result.ctype if result is not None else VoidType()
        finally:
            self.recorder = saved

    @staticmethod
    def _is_enum_constant(node: Any, scope: Scope) -> bool:
        return isinstance(node, c_ast.ID) and isinstance(scope.find(node.name), EnumConstant)

    def _step(self, node: Any, scope: Scope, state: State) -> Value:
        place = self.place(node.expr, scope, state)
        old = self.load(place, state, node)
        if not isinstance(old, Value) or not isinstance(old.ctype, IntType):
            raise unsupported("'++' or '--' on a pointer (pointer arithmetic)", node)
        one = Value(constant(1, self.model.int_type.bits), self.model.int_type)
        new = arithmetic.binary(_STEPS[node.op], old, one, self.model, self._suspect(state, node))
        stored = arithmetic.convert(new, old.ctype)
        self.store(place, stored, state, node)
        return old if node.op.startswith("p") else stored

    def _binaryop(self, node: Any, scope: Scope, state: State) -> Result:
        if node.op in ("&&", "||"):
            return self._short_circuit(node, scope, state)
        left, right = self.unsequenced(
            node,
            scope,
            state,
            lambda: self.value(node.left, scope, state),
            node.left,
            lambda: self.value(node.right, scope, state),
            node.right,
        )
        if isinstance(left.ctype, IntType) and isinstance(right.ctype, IntType):
            return arithmetic.binary(node.op, left, right, self.model, self._suspect(state, node))
        if node.op in ("==", "!="):
            same = self._same_pointer(left, right, node)
            return from_condition(same if node.op == "==" else negate(same), self.model.int_type)
        raise unsupported(f"'{node.op}' on a pointer (pointer arithmetic)", node)

    def _same_pointer(self, left: Value, right: Value, node: Any) -> FNode:
        pointers = [self.as_type(v, PointerType(VoidType()), node) for v in (left, right)]
        first, second = (p.targets for p in pointers if isinstance(p, Value))
        same = negate(TRUE())
        for a in first:
            for b in second:
                if (a.object, a.path) == (b.object, b.path):
                    same = either(same, both(a.guard, b.guard))
        return same

    def _short_circuit(self, node: Any, scope: Scope, state: State) -> Value:
        left = self.condition(node.left, scope, state)
        taken = left if node.op == "&&" else negate(left)
        right = self.under(taken, node.right, scope, state, lambda s: self.condition(node.right, scope, s))
        if right is None:
            right = negate(TRUE())
        result = both(left, right) if node.op == "&&" else either(left, right)
        return from_condition(result, self.model.int_type)

    def under(self, taken: FNode, node: Any, scope: Scope, state: State, work: Callable[[State], Any]) -> Any:
        """Evaluate ``node`` by ``work`` where ``taken`` holds, and join its effects back. None if it never does."""
        if taken.is_false():
            return None
        if taken.is_true():
            return work(state)
        narrowed = both(state.pc, taken)
        if not self.has_effects(node):
            return work(State(state.cells, narrowed))
        branch = State(dict(state.cells), narrowed)
        result = work(branch)
        joined = merge(taken, branch, State(state.cells, both(state.pc, negate(taken))))
        assert joined is not None
        state.cells = joined.cells
        return result

    def _ternaryop(self, node: Any, scope: Scope, state: State) -> Result:
        cond = self.condition(node.cond, scope, state)
        branches = [(cond, node.iftrue), (negate(cond), node.iffalse)]
        if not (self.has_effects(node.iftrue) or self.has_effects(node.iffalse)):
            then, other = (
                self.under(taken, side, scope, state, functools.partial(self.evaluate, side, scope))
                for taken, side in branches
            )
            return self._choice(cond, then, other, node, scope, state)
        forks = [state.fork(taken) for taken, _ in branches]
        then, other = (
            None if taken.is_false() else self.evaluate(side, scope, fork)
            for fork, (taken, side) in zip(forks, branches, strict=True)
        )
        joined = merge(cond, *forks)
        assert joined is not None
        state.cells = joined.cells
        return self._choice(cond, then, other, node, scope, state)

    def _choice(self, cond: FNode, then: Result, other: Result, node: Any, scope: Scope, state: State) -> Result:
        if then is None and other is None:
            return None
        if then is None:
            then = self._unevaluated(node.iftrue, scope, state, other)
        if other is None:
            other = self._unevaluated(node.iffalse, scope, state, then)
        assert then is not None
        assert other is not None
        if isinstance(then, Aggregate) and isinstance(other, Aggregate) and same_type(then.ctype, other.ctype):
            right = dict(other.cells)
            cells = tuple((path, merge_contents(cond, content, right[path])) for path, content in then.cells)
            return Aggregate(cells, then.ctype)
        if not isinstance(then, Value) or not isinstance(other, Value):
            raise InputRefused("the two sides of '?:' have different types", where(node))
        if isinstance(then.ctype, IntType) and isinstance(other.ctype, IntType):
            ctype = common_type(then.ctype, other.ctype, self.model)
            a, b = arithmetic.convert(then, ctype), arithmetic.convert(other, ctype)
            return Value(choose(cond, a.bits, b.bits), ctype)
        pointer = then.ctype if isinstance(then.ctype, PointerType) else other.ctype
        left, right_ = self.as_type(then, pointer, node), self.as_type(other, pointer, node)
        assert isinstance(left, Value)
        assert isinstance(right_, Value)
        return Value(merge_targets([(cond, left.targets), (negate(cond), right_.targets)]), pointer)

    def _unevaluated(self, node: Any, scope: Scope, state: State, sibling: Result) -> Result:
        """A stand-in of the right type for the side of ``?:`` that is never taken."""
        ctype = self.type_of(node, scope, state)
        if isinstance(ctype, IntType):
            return Value(constant(0, ctype.bits), ctype)
        return sibling

    def _assignment(self, node: Any, scope: Scope, state: State) -> Result:
        place, value = self.unsequenced(
            node,
            scope,
            state,
            lambda: self.place(node.lvalue, scope, state),
            node.lvalue,
            lambda: self.evaluate(node.rvalue, scope, state),
            node.rvalue,
            assigns=True,
        )
        if value is None:
            raise InputRefused("a void value is assigned", where(node))
        if isinstance(place.ctype, ArrayType):
            raise InputRefused("an array is assigned as a whole", where(node))
        if node.op in _ASSIGN:
            value = self._compound(node, place, value, state)
        value = self.as_type(value, place.ctype, node)
        self.store(place, value, state, node)
        return value

    def _compound(self, node: Any, place: Place, value: Value | Aggregate, state: State) -> Value:
        old = self.load(place, state, node)
        scalars = [v for v in (old, value) if isinstance(v, Value) and isinstance(v.ctype, IntType)]
        if len(scalars) != 2:
            raise unsupported(f"'{node.op}' on a pointer or struct", node)
        return arithmetic.binary(node.op[:-1], scalars[0], scalars[1], self.model, self._suspect(state, node))

    # sequencing

    def unsequenced(
        self,
        node: Any,
        scope: Scope,
        state: State,
        left: Callable[[], Any],
        left_node: Any,
        right: Callable[[], Any],
        right_node: Any,
        assigns: bool = False,
    ) -> tuple[Any, Any]:
        """Evaluate two operands whose order C leaves open; refuse where the order would matter (C11 6.5p2)."""
        if not (self.has_effects(left_node) or self.has_effects(right_node)):
            return left(), right()
        first, a = self._watched(left)
        second, b = self._watched(right)
        clash = (a.writes & (b.reads | b.writes)) | (b.writes & a.reads)
        if assigns and isinstance(first, Place):
            targets = {(t.object, t.path) for t in first.targets}
            clash |= {key for key in b.direct if key in targets}
        if clash:
            name = sorted(key[0].name for key in clash)[0]
            raise unsupported(f"'{name}' is changed and used in one expression in no given order", node)
        return first, second

    def _watched(self, work: Callable[[], Any]) -> tuple[Any, Watch]:
        watch = Watch(self.depth)
        self.watches.append(watch)
        try:
            return work(), watch
        finally:
            self.watches.remove(watch)

    def has_effects(self, node: Any) -> bool:
        """Whether evaluating ``node`` may change memory (it assigns, steps or calls)."""
        known = self._effects.get(id(node))
        if known is None:
            changes = isinstance(node, c_ast.Assignment | c_ast.FuncCall) or (
                isinstance(node, c_ast.UnaryOp) and node.op in _STEPS
            )
            known = (changes or any(self.has_effects(child) for _, child in node.children()), node)
            self._effects[id(node)] = known
        return known[0]

    def _suspect(self, state: State, node: Any) -> arithmetic.Suspect:
        return lambda kind, when: self.recorder.suspect(kind, where(node), state.pc, when)


def is_lvalue(node: Any) -> bool:
    """Whether an expression has the form of an lvalue."""
    if isinstance(node, c_ast.StructRef) and node.type == ".":
        return is_lvalue(node.name)
    return isinstance(node, c_ast.ID | c_ast.StructRef | c_ast.ArrayRef) or (
        isinstance(node, c_ast.UnaryOp) and node.op == "*"
    )

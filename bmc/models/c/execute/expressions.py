"""Symbolic evaluation of C expressions (C11 6.5) over a State; every decision is recorded."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from pycparser import c_ast
from pysmt.fnode import FNode

from bmc.errors import InputRefused
from bmc.formulas.terms import FALSE, TRUE, both, choose, constant, either, is_false, is_true, negate
from bmc.models.c.execute import arithmetic, floating
from bmc.models.c.execute.access import Accesses
from bmc.models.c.execute.arithmetic import from_condition
from bmc.models.c.execute.decisions import is_logical, leaves, without_negations
from bmc.models.c.execute.first_members import is_character
from bmc.models.c.execute.floating import read_constant, truth
from bmc.models.c.execute.lvalues import STEPS, Lvalues, Operand, Result, is_lvalue, method_for
from bmc.models.c.execute.memory import (
    Aggregate,
    MemObject,
    Place,
    State,
    Value,
    address_of,
    is_null,
    live,
    merge,
    merge_contents,
    merge_targets,
)
from bmc.models.c.execute.variables import variable_name
from bmc.models.c.execute.walking import ORDERS
from bmc.models.c.execute.zero_sums import note_zero_sum
from bmc.models.c.source.declarations import type_alignment
from bmc.models.c.source.overlay import is_shared
from bmc.models.c.source.program import EnumConstant, Program, Scope, unsupported, where
from bmc.models.c.source.rewritten import is_elvis
from bmc.models.c.source.types import (
    ArrayType,
    FloatType,
    IntType,
    PointerType,
    VoidType,
    align_of,
    same_type,
    size_of,
)


class Conditions(Lvalues):
    """Scalar expressions used as conditions. ``Evaluator`` adds the other expressions."""

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self._leaves: dict[int, tuple[Any, tuple[int, ...]]] = {}  # with the nodes: their ids must stay theirs
        self._operands: dict[int, Any] = {}
        self._values: dict[int, FNode] = {}
        self._addressed: set[MemObject] = set()
        """The objects whose addresses have been taken."""
        self.asked: Any = None
        """The expression of which only the truth is wanted."""
        self.compared: Any = None
        """The expression of which only the sign is wanted: it is compared with 0."""

    def condition(self, node: Any, scope: Scope, state: State) -> FNode:
        """When a scalar expression compares unequal to 0."""
        self.asked = node
        value = self.value(node, scope, state)
        if self.unknown_name is not None and isinstance(value.ctype, PointerType):
            raise InputRefused("a pointer is used as a condition", where(node), "name a variable, such as s->mode")
        return self.truth_of(value)

    @staticmethod
    def truth_of(value: Value) -> FNode:
        """When a scalar compares unequal to 0."""
        return negate(is_null(value.targets)) if isinstance(value.ctype, PointerType) else truth(value)

    def decide(self, node: Any, scope: Scope, state: State) -> FNode:
        """The condition of a branch, a loop or a ``?:``; its decision is recorded, where ``short_circuit`` does not."""
        return self._decided(node, self.condition(node, scope, state), state)

    def _decided(self, node: Any, holds: FNode, state: State) -> FNode:
        leaf, negated = without_negations(node)
        if not is_logical(leaf):
            self.recorder.decide(leaf, state.pc, [negate(holds) if negated else holds])
        return holds

    def short_circuit(self, node: Any, scope: Scope, state: State) -> Value:
        """``&&`` and ``||``; the outermost of an expression is recorded as a decision."""
        outermost = id(node) not in self._operands
        left = self._operand(node.left, scope, state)
        taken = left if node.op == "&&" else negate(left)
        right = self.under(taken, node.right, scope, state, lambda s: self._operand(node.right, scope, s))
        if right is None:
            right = FALSE()
        if outermost:
            if id(node) not in self._leaves:
                self._leaves[id(node)] = node, tuple(id(leaf) for leaf in leaves(node))
            values = [self._values.pop(leaf, FALSE()) for leaf in self._leaves[id(node)][1]]
            self.recorder.decide(node, state.pc, values)
        result = both(left, right) if node.op == "&&" else either(left, right)
        return from_condition(result, self.model.int_type)

    def _operand(self, node: Any, scope: Scope, state: State) -> FNode:
        """An operand of ``&&`` or ``||``: one more of these, or an atomic condition, whose value is kept."""
        leaf, negated = without_negations(node)
        if is_logical(leaf):
            self._operands[id(leaf)] = leaf
            return self.condition(node, scope, state)
        holds = self.condition(node, scope, state)
        self._values[id(leaf)] = negate(holds) if negated else holds
        return holds

    def under(self, taken: FNode, node: Any, scope: Scope, state: State, work: Callable[[State], Any]) -> Any:
        """Evaluate ``node`` by ``work`` where ``taken`` holds, and join its effects back. None if it never does."""
        if is_false(taken):
            return None
        if is_true(taken):
            return work(state)
        narrowed = both(state.pc, taken)
        if not self.has_effects(node):
            return work(State(state.cells, narrowed))
        branch = state.fork(taken)
        result = work(branch)
        joined = merge(taken, branch, State(state.cells, both(state.pc, negate(taken))))
        assert joined is not None
        state.cells = joined.cells
        return result


_ASSIGN = {f"{op}=" for op in ("+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^")}
_NAMES = {
    "InitList": "initialiser list as an expression",
    "Typename": "type name as an expression",
    "Typedef": "typedef as an expression",
}
"""Names of constructs that are no supported expression."""


class Evaluator(Conditions):
    """Expressions of a program. ``Executor`` adds calls and statements.

    ``discarded`` is the expression of the statement that is run: nobody uses its value.
    """

    discarded: Any = None

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self._constants: dict[tuple[str, str], Value] = {}

    @abstractmethod
    def call(self, node: Any, scope: Scope, state: State) -> Result:
        """A function call; provided by the executor."""

    def evaluate(self, node: Any, scope: Scope, state: State) -> Result:
        """Any expression; None for void."""
        method = getattr(self, method_for("eval", type(node).__name__), None)
        if method is None:
            name = type(node).__name__
            raise unsupported(_NAMES.get(name, f"expression {name}"), node)
        result: Result = method(node, scope, state)
        return result

    def arguments(self, node: Any, scope: Scope, state: State, *before_them: Any) -> list[Any]:
        """The values of ``before_them`` and of a call's arguments; refused where their order would matter."""
        items = [*before_them, *(node.args.exprs if node.args else ())]
        values: list[Any] = []
        before: list[Accesses] = []
        effects = any(self.has_effects(item) for item in items) and len(items) > 1
        discarded = self.discarded  # functions that are called in between have statements of their own
        for item in items:
            if not effects:
                values.append(self.evaluate(item, scope, state))
                continue
            value, accesses = self.accessed(lambda item=item: self.evaluate(item, scope, state))  # type: ignore[misc]
            clash = [key for earlier in before for key in accesses.clash(earlier)]
            if clash:
                name = min(variable_name(*key) for key in clash)
                raise unsupported(f"arguments that change and use one object ('{name}') in no given order", node)
            before.append(accesses)
            values.append(value)
        self.discarded = discarded
        return values

    # primary and postfix expressions

    def eval_id(self, node: Any, scope: Scope, state: State) -> Result:
        found = scope.find(node.name)
        if isinstance(found, EnumConstant):
            ctype = found.ctype or self.model.int_type
            return Value(constant(found.value, ctype.bits), ctype)
        return self.read(self.named_place(node, scope, state), state, node)

    def eval_constant(self, node: Any, scope: Scope, state: State) -> Result:
        if node.type == "string":
            return self.read(self.place(node, scope, state), state, node)
        known = self._constants.get((node.type, node.value))
        if known is None:
            known = self._constants[node.type, node.value] = read_constant(node, self.model)
        return known

    def eval_structref(self, node: Any, scope: Scope, state: State) -> Result:
        return self.read(self.place(node, scope, state), state, node)

    eval_arrayref = eval_structref
    eval_compoundliteral = eval_structref

    def eval_funccall(self, node: Any, scope: Scope, state: State) -> Result:
        return self.call(node, scope, state)

    def eval_exprlist(self, node: Any, scope: Scope, state: State) -> Result:
        result: Result = None
        for item in node.exprs:
            result = self.evaluate(item, scope, state)
        return result

    def eval_cast(self, node: Any, scope: Scope, state: State) -> Result:
        ctype = self.types.read(node.to_type, scope)
        if isinstance(ctype, VoidType) and isinstance(node.expr, c_ast.FuncCall):
            self.discarded = node.expr
        value = self.evaluate(node.expr, scope, state)
        if isinstance(ctype, VoidType):
            return None
        if value is None:
            raise InputRefused("a void value is cast", where(node))
        return self.as_type(value, ctype, node, state)

    # operators

    def eval_unaryop(self, node: Any, scope: Scope, state: State) -> Result:
        if node.op in ("sizeof", "_Alignof"):
            return self._sizeof(node, scope, state)
        if node.op == "&":
            is_element = isinstance(node.expr, c_ast.ArrayRef)
            place = (self._subscript if is_element else self.place)(node.expr, scope, state, *([1] * is_element))
            if isinstance(place.ctype, IntType) and place.ctype.partial:
                raise InputRefused("a bit-field has no address", where(node))
            for _, obj, _ in live(place.targets):
                self._addressed.add(obj)
            return address_of(place)
        if node.op == "*":
            return self.read(self.place(node, scope, state), state, node)
        if node.op in STEPS:
            return self._step(node, scope, state)
        if node.op == "!":
            self.asked = node.expr
        value = self.value(node.expr, scope, state)
        if node.op == "!":
            return from_condition(negate(self.truth_of(value)), self.model.int_type)
        if isinstance(value.ctype, PointerType):
            raise unsupported(f"'{node.op}' on a pointer", node)
        if node.op == "~":
            _refuse_floating(node.op, value, node)
        return floating.unary(node.op, value, self.model, self.undefined_at(state, node))

    def _sizeof(self, node: Any, scope: Scope, state: State) -> Value:
        if node.op == "_Alignof" and not isinstance(node.expr, c_ast.Typename):
            raise unsupported("_Alignof of an expression", node)
        aligned = type_alignment(node.expr, scope) if node.op == "_Alignof" else 0
        if aligned:
            return Value(constant(aligned, self.model.size_t.bits), self.model.size_t)
        ctype = self.named_type(node.expr, scope, state)
        if isinstance(ctype, IntType) and ctype.partial:
            raise InputRefused(f"'{node.op}' of a bit-field", where(node))
        size = self.model.size_t
        number = size_of(ctype, self.model) if node.op == "sizeof" else align_of(ctype, self.model)
        return Value(constant(number, size.bits), size)

    def _step(self, node: Any, scope: Scope, state: State) -> Value:
        place = self.place(node.expr, scope, state)
        old = self.load(place, state, node)
        if not isinstance(old, Value):
            raise InputRefused("'++' or '--' on a struct", where(node))
        one = Value(constant(1, self.model.int_type.bits), self.model.int_type)
        if isinstance(old.ctype, PointerType):
            moved = self.moved(old, one, STEPS[node.op] == "-", state, node)
            self.store(place, moved, state, node)
            return old if node.op.startswith("p") else moved
        new = floating.binary(STEPS[node.op], old, one, self.model, self.undefined_at(state, node))
        stored = floating.exact(new, old.ctype)
        self.store(place, stored, state, node)
        return old if node.op.startswith("p") else stored

    def eval_binaryop(self, node: Any, scope: Scope, state: State) -> Result:
        if node.op in ("&&", "||"):
            return self.short_circuit(node, scope, state)
        self._ask(node)
        left, right = self.unsequenced(
            node,
            Operand(node.left, lambda: self.value(node.left, scope, state)),
            Operand(node.right, lambda: self.value(node.right, scope, state)),
        )
        if not isinstance(left.ctype, PointerType) and not isinstance(right.ctype, PointerType):
            if node.op in ("+", "-"):
                note_zero_sum(self.program, node, left, right, scope)
            return self._operate(node.op, left, right, node, state)
        if node.op in ("==", "!="):
            same = self._same_pointer(left, right, node, state)
            return from_condition(same if node.op == "==" else negate(same), self.model.int_type)
        return self._on_pointers(node.op, left, right, node, state)

    def _on_pointers(self, op: str, left: Value, right: Value, node: Any, state: State) -> Value:
        """An operator other than ``==`` and ``!=`` with one or two pointers."""
        pointers = [isinstance(value.ctype, PointerType) for value in (left, right)]
        if op in ORDERS and all(pointers):
            return self.ordered(op, left, right, state, node)
        if op == "-" and all(pointers):
            return self.distance(left, right, state, node)
        if op in ("+", "-") and pointers == [True, False]:
            return self.moved(left, right, op == "-", state, node)
        if op == "+" and pointers == [False, True]:
            return self.moved(right, left, False, state, node)
        raise InputRefused(f"'{op}' on a pointer", where(node))

    def _ask(self, node: Any) -> None:
        """``x == 0`` and ``x != 0`` want the truth of ``x``, ``x < 0`` and the like its sign."""
        for side, other in ((node.left, node.right), (node.right, node.left)):
            if node.op in arithmetic.COMPARISONS and isinstance(other, c_ast.Constant) and other.value == "0":
                self.compared = side
                if node.op in ("==", "!="):
                    self.asked = side

    def _operate(self, op: str, left: Value, right: Value, node: Any, state: State) -> Value:
        """A binary operator on two arithmetic values."""
        if op not in floating.OPERATORS:
            _refuse_floating(op, left, node)
            _refuse_floating(op, right, node)
        return floating.binary(op, left, right, self.model, self.undefined_at(state, node))

    def _same_pointer(self, left: Value, right: Value, node: Any, state: State) -> FNode:
        if self.unknown_name is not None and any(
            _is_fixed(a) and _is_number(b) for a, b in ((left, right), (right, left))
        ):
            raise InputRefused("a pointer is compared", where(node), "name the variable by its full name, such as s->s")
        void = PointerType(VoidType())
        first, second = self.as_type(left, void, node, state), self.as_type(right, void, node, state)
        assert isinstance(first, Value)
        assert isinstance(second, Value)
        return self.same_pointer(first, second, state, node)

    def eval_ternaryop(self, node: Any, scope: Scope, state: State) -> Result:
        if is_elvis(node):
            return self._elvis(node, scope, state)
        cond = self.decide(node.cond, scope, state)
        yes, no = node.iftrue, node.iffalse
        if not (self.has_effects(yes) or self.has_effects(no)):
            then = self.under(cond, yes, scope, state, lambda s: self.evaluate(yes, scope, s))
            other = self.under(negate(cond), no, scope, state, lambda s: self.evaluate(no, scope, s))
        else:
            forks = [state.fork(cond), state.fork(negate(cond))]
            then = None if is_false(cond) else self.evaluate(yes, scope, forks[0])
            other = None if is_true(cond) else self.evaluate(no, scope, forks[1])
            joined = merge(cond, *forks)
            assert joined is not None
            state.cells = joined.cells
        if then is None and other is None:
            return None
        if then is None:
            then = self._unevaluated(yes, scope, state, other)
        if other is None:
            other = self._unevaluated(no, scope, state, then)
        return self._choice(cond, (then, other), node, state)

    def _elvis(self, node: Any, scope: Scope, state: State) -> Result:
        """gcc's ``a ?: b``: ``a ? a : b`` with ``a`` evaluated once."""
        then = self.value(node.cond, scope, state)
        cond = self._decided(node.cond, self.truth_of(then), state)
        no = node.iffalse
        other = self.under(negate(cond), no, scope, state, lambda s: self.evaluate(no, scope, s))
        if other is None:
            other = self._unevaluated(no, scope, state, then)
        return self._choice(cond, (then, other), node, state)

    def _choice(self, cond: FNode, sides: tuple[Result, Result], node: Any, state: State) -> Result:
        then, other = sides
        if isinstance(then, Aggregate) and isinstance(other, Aggregate) and same_type(then.ctype, other.ctype):
            right = dict(other.cells)
            cells = tuple((path, merge_contents(cond, content, right[path])) for path, content in then.cells)
            return Aggregate(cells, then.ctype)
        if not isinstance(then, Value) or not isinstance(other, Value):
            raise InputRefused("the two sides of '?:' have different types", where(node))
        if not isinstance(then.ctype, PointerType) and not isinstance(other.ctype, PointerType):
            ctype = floating.common_arithmetic_type(then.ctype, other.ctype, self.model)
            a, b = floating.exact(then, ctype), floating.exact(other, ctype)
            return Value(choose(cond, a.bits, b.bits), ctype)
        pointer = then.ctype if isinstance(then.ctype, PointerType) else other.ctype
        left, right_ = self.as_type(then, pointer, node, state), self.as_type(other, pointer, node, state)
        assert isinstance(left, Value)
        assert isinstance(right_, Value)
        return Value(merge_targets([(cond, left.targets), (negate(cond), right_.targets)]), pointer)

    def _unevaluated(self, node: Any, scope: Scope, state: State, sibling: Result) -> Result:
        """A stand-in of the right type for the side of ``?:`` that is never taken."""
        ctype = self.type_of(node, scope, state)
        if isinstance(ctype, IntType | FloatType):
            return Value(constant(0, ctype.bits), ctype)
        return sibling

    def eval_assignment(self, node: Any, scope: Scope, state: State) -> Result:
        byte = self._is_copy(node, scope)
        place, value = self.unsequenced(
            node,
            Operand(node.lvalue, lambda: self.place(node.lvalue, scope, state)),
            Operand(node.rvalue, lambda: (self._uncopied if byte else self.evaluate)(node.rvalue, scope, state)),
            assigns=node.op,
        )
        if isinstance(value, Place):
            if is_character(place.ctype):
                self.check_not_null(place, state, node)
                self.check_not_null(value, state, node)
                self.put(place, (), self.content(value, (), state, node.rvalue), state, node)
                return None
            value = self.read(value, state, node.rvalue)
        if value is None:
            raise InputRefused("a void value is assigned", where(node))
        if isinstance(value, Aggregate) and is_lvalue(node.rvalue):
            self._refuse_overlap(place, node, scope, state)
        if isinstance(place.ctype, ArrayType):
            raise InputRefused("an array is assigned as a whole", where(node))
        if node.op in _ASSIGN:
            value = self._compound(node, place, value, state)
        value = self.as_type(value, place.ctype, node, state)
        self.store(place, value, state, node)
        return value

    def _refuse_overlap(self, place: Place, node: Any, scope: Scope, state: State) -> None:
        """Only members of unions can overlap what is assigned to them."""
        if any(is_shared(obj.ctype, path) for _, obj, path in live(place.targets)):
            with self.apart():
                source = self.place(node.rvalue, scope, state.fork(TRUE()))
            self.representation.refuse_overlap(place, source, node)

    def _is_copy(self, node: Any, scope: Scope) -> bool:
        """Whether an assignment whose value nobody uses has an object on its right that cannot be in a register.

        That is a member, an element, a pointer's target, or a variable whose address has been taken (C11 6.3.2.1p2).
        """
        if node is not self.discarded or node.op != "=":
            return False
        if isinstance(node.rvalue, c_ast.ID):
            found = scope.find(node.rvalue.name)
            return isinstance(found, MemObject) and found in self._addressed
        return isinstance(node.rvalue, c_ast.StructRef | c_ast.ArrayRef | c_ast.UnaryOp) and is_lvalue(node.rvalue)

    def _uncopied(self, node: Any, scope: Scope, state: State) -> Result | Place:
        """An object of character type itself, for it may be copied set or not (C11 6.2.6.1p5); else the value."""
        place = self.place(node, scope, state)
        return place if is_character(place.ctype) else self.read(place, state, node)

    def _compound(self, node: Any, place: Place, value: Value | Aggregate, state: State) -> Value:
        old = self.load(place, state, node)
        if isinstance(old, Value) and isinstance(old.ctype, PointerType) and isinstance(value, Value):
            return self._on_pointers(node.op[:-1], old, value, node, state)
        scalars = [v for v in (old, value) if isinstance(v, Value) and not isinstance(v.ctype, PointerType)]
        if len(scalars) != 2:
            raise unsupported(f"'{node.op}' on a pointer or struct", node)
        return self._operate(node.op[:-1], scalars[0], scalars[1], node, state)


def _is_fixed(value: Value) -> bool:
    """Whether a value is a pointer that always points to one object."""
    return isinstance(value.ctype, PointerType) and [is_true(t.guard) for t in value.targets if t.object] == [True]


def _is_number(value: Value) -> bool:
    return not isinstance(value.ctype, PointerType)


def _refuse_floating(op: str, value: Value, node: Any) -> None:
    """An operator for integers alone."""
    if isinstance(value.ctype, FloatType):
        raise InputRefused(f"'{op}' needs integers, not a {value.ctype.name}", where(node))

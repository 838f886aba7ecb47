"""Initialisers (C11 6.7.9): braces, elided braces, designators, strings."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from pycparser import c_ast

from bmc.errors import InputRefused, UnsupportedConstruct
from bmc.formulas.terms import TRUE, constant
from bmc.limits import ELEMENTS, TooLarge
from bmc.models.c.execute.access import Accesses, refuse_opaque
from bmc.models.c.execute.floating import string_of
from bmc.models.c.execute.lvalues import Elements, Lvalues, Result
from bmc.models.c.execute.memory import (
    UNDEFINED,
    Aggregate,
    Content,
    Key,
    MemObject,
    Place,
    State,
    Target,
    whole,
)
from bmc.models.c.execute.variables import variable_name
from bmc.models.c.execute.zero_sums import unit_of
from bmc.models.c.source.program import Scope, unsupported, where
from bmc.models.c.source.rewritten import range_of
from bmc.models.c.source.types import (
    ArrayType,
    CType,
    FloatType,
    IntType,
    Path,
    StructType,
    same_type,
    scalars,
    type_at,
)


class Slots:
    """The scalar slots of an aggregate in order, and where the next initialiser goes.

    Of a union only one member has slots: the first named one, or the one that a designator has ``chosen``.
    """

    def __init__(self, ctype: CType) -> None:
        self.ctype = ctype
        self.chosen: dict[Path, str] = {}
        self.order = list(self._slots(ctype, ()))
        self.position = 0
        self.depth = 1

    def _slots(self, ctype: CType, path: Path) -> Iterator[Path]:
        if not has_union(ctype):
            for inner, _ in scalars(ctype):
                yield path + inner
        elif isinstance(ctype, ArrayType):
            for index in range(ctype.length or 0):
                yield from self._slots(ctype.element, (*path, index))
        elif isinstance(ctype, StructType):
            members = [member for member in ctype.members() if member.has_cells]
            if ctype.is_union:
                members = [member for member in members if member.name == self.choice(path) and not ctype.opaque]
            for member in members:
                yield from self._slots(member.type, (*path, member.name))

    def choice(self, path: Path) -> str:
        """The member of the union at ``path`` that is initialised."""
        union = type_at(self.ctype, path)
        assert isinstance(union, StructType)
        return self.chosen.get(path) or next((m.name for m in union.members() if m.has_cells), "")

    def jump(self, path: Path) -> list[Path]:
        """A designator: go on with the member at ``path``. The unions of which another member is initialised now."""
        changed = [at for at in unions_on(self.ctype, path) if self.choice(at) != path[len(at)]]
        if changed:
            self.chosen.update({at: str(path[len(at)]) for at in changed})
            self.order = list(self._slots(self.ctype, ()))
        self.position = next((i for i, p in enumerate(self.order) if p[: len(path)] == path), len(self.order))
        self.depth = len(path)
        return changed

    def next_member(self, item: Any) -> Path:
        """The outermost member that starts at the current slot; the slots move past it."""
        if self.position >= len(self.order):
            refuse_opaque(self.ctype, item)
            raise InputRefused("too many initialisers", where(item))
        slot = self.order[self.position]
        before = self.order[self.position - 1] if self.position else ()
        depth = self.depth
        while depth < len(slot) and before[:depth] == slot[:depth]:
            depth += 1
        path = slot[:depth]
        self.depth = 1
        while self.position < len(self.order) and self.order[self.position][:depth] == path:
            self.position += 1
        return path

    def descend(self, path: Path) -> Path:
        """Braces are elided: only the first scalar of ``path`` is taken."""
        first = next(i for i, p in enumerate(self.order) if p[: len(path)] == path)
        self.position = first + 1
        return self.order[first]


def unions_on(ctype: CType, path: Path) -> list[Path]:
    """The unions that a path leads into, the outermost first."""
    found = []
    for depth in range(len(path)):
        inner = type_at(ctype, path[:depth])
        if isinstance(inner, StructType) and inner.is_union:
            found.append(path[:depth])
    return found


def has_union(ctype: CType) -> bool:
    """Whether a type is a union, or has one within."""
    while isinstance(ctype, ArrayType):
        ctype = ctype.element
    if not isinstance(ctype, StructType):
        return False
    return ctype.is_union or any(has_union(member.type) for member in ctype.fields or ())


class Initialiser:
    """Start values of objects."""

    def __init__(self, evaluator: Lvalues) -> None:
        self.evaluator = evaluator
        self._elements: Elements | None = None
        """The elements of the list that is being read, where one of them has side effects."""
        self._lasting = False
        """Whether the object has static storage duration: the bytes that its initialiser leaves open are 0 then."""

    def completed(self, ctype: ArrayType, init: Any, scope: Scope) -> ArrayType:
        """An array of unknown length, completed by its initialiser."""
        if isinstance(init, c_ast.InitList) and len(init.exprs) == 1 and _is_string(init.exprs[0]):
            init = init.exprs[0] if isinstance(ctype.element, IntType) and ctype.element.bits == 8 else init
        if _is_string(init):
            return ArrayType(ctype.element, len(string_of(init)))
        if not isinstance(init, c_ast.InitList):
            raise InputRefused("an array of unknown length needs an initialiser", where(init))
        longest, position = 0, 0
        scalar = not isinstance(ctype.element, ArrayType | StructType)
        for item in self._items(init, scope):
            if isinstance(item, c_ast.NamedInitializer):
                position = self.evaluator.constant(_index(item.name[0]), scope)
                item = item.expr if len(item.name) == 1 else init
            if not scalar and not isinstance(item, c_ast.InitList):
                raise unsupported("initialiser without inner braces for an array of unknown length", item)
            position += 1
            longest = max(longest, position)
        return ArrayType(ctype.element, longest)

    def static(self, obj: MemObject, init: Any, scope: Scope) -> dict[Key, Content]:
        """The cells of an object of static storage duration: zero, then its initialiser (constant expressions).

        An initialiser that cannot be read is refused where the object is used.
        """
        try:
            zeros = {(obj, path): zero(ctype) for path, ctype in scalars(obj.ctype)}
        except TooLarge as error:
            error.where, obj.refusal = obj.declared, error
            return {}
        if init is None:
            return zeros
        state = State(dict(zeros))
        const, obj.const = obj.const, False
        try:
            with self.evaluator.apart() as recorder:  # it is set before the program runs
                self._lasting = True
                self._fill(whole(obj), init, scope, state)
            if recorder.undefined_behaviour:
                raise InputRefused(f"the initialiser of '{obj.symbol}' is no constant", where(init))
            _refuse_literals(state, obj, init)
        except InputRefused as error:
            obj.refusal = error
            return zeros
        finally:
            obj.const, self._lasting = const, False
            self.evaluator.representation.note_start(obj)
        return {key: content for key, content in state.cells.items() if key[0].kind != "automatic"}

    def automatic(self, place: Place, init: Any, scope: Scope, state: State) -> None:
        """Initialise an automatic object. Refused: a list in which the order of the elements would matter."""
        outer, self._elements = self._elements, None
        try:
            if isinstance(init, c_ast.InitList):
                self._elements = Elements() if self.evaluator.has_effects(init) else None
                _, accesses = self.evaluator.accessed(lambda: self._automatic(place, init, scope, state))
                self._refuse_own(place, accesses, init)
            else:
                self._automatic(place, init, scope, state)
        finally:
            self._elements = outer

    @staticmethod
    def _refuse_own(place: Place, accesses: Accesses, init: Any) -> None:
        """Refuse a list whose elements read the object that it initialises: what is set by then has no order."""
        own = {target.object for target in place.targets}
        name = min((variable_name(*key) for key in accesses.reads if key[0] in own), default="")
        if name:
            raise unsupported(f"'{name}' is read in its own initialiser list", _leaf(init))

    def _automatic(self, place: Place, init: Any, scope: Scope, state: State) -> None:
        if isinstance(init, c_ast.InitList) or isinstance(place.ctype, ArrayType):
            self._clear(place, state, init)
        if isinstance(init, c_ast.InitList) and isinstance(place.ctype, ArrayType | StructType):
            with narrowing_noted(self.evaluator, scope):
                self._fill(place, init, scope, state)
        else:
            self._fill(place, init, scope, state)

    def _fill(self, place: Place, init: Any, scope: Scope, state: State) -> None:
        if isinstance(init, c_ast.InitList):
            if not isinstance(place.ctype, ArrayType | StructType):
                if len(init.exprs) != 1:
                    raise InputRefused("a scalar has more than one initialiser", where(init))
                self._fill(place, init.exprs[0], scope, state)
                return
            if len(init.exprs) == 1 and _is_string(init.exprs[0]) and isinstance(place.ctype, ArrayType):
                self._fill(place, init.exprs[0], scope, state)
                return
            self._list(place, init, scope, state)
        elif isinstance(place.ctype, ArrayType):
            if not _is_string(init):
                raise InputRefused("an array needs an initialiser in braces", where(init))
            if not isinstance(place.ctype.element, IntType) or place.ctype.element.bits != 8:
                raise InputRefused("a string initialises an array of something else than char", where(init))
            for index, number in enumerate(string_of(init)[: place.ctype.length or 0]):
                self.evaluator.put(place, (index,), Content(constant(number, 8), TRUE()), state, init)
        else:
            self._assign(place, (), init, scope, state)

    def _assign(self, place: Place, path: Path, item: Any, scope: Scope, state: State) -> None:
        ctype = type_at(place.ctype, path)
        value = self._element(item, scope, state)
        if value is None:
            raise InputRefused("a void value initialises an object", where(item))
        converted = self.evaluator.as_type(value, ctype, item, state)
        if isinstance(converted, Aggregate):
            self.evaluator.store(sub_object(place, path), converted, state, item)
            return
        self.evaluator.put(place, path, Content(converted.term, TRUE()), state, item)

    def _element(self, item: Any, scope: Scope, state: State) -> Result:
        elements = self._elements
        if elements is None:
            return self.evaluator.evaluate(item, scope, state)
        value, accesses = self.evaluator.accessed(lambda: self.evaluator.evaluate(item, scope, state))
        elements.add(accesses, item)
        result: Result = value
        return result

    def _list(self, place: Place, init: Any, scope: Scope, state: State) -> None:
        """One braced list: ``slots`` walks the members in order; nested braces and designators move it."""
        if _is_zero(init) and is_opaque(place.ctype):
            return  # everything is zero already
        slots = Slots(place.ctype)
        unions: dict[Path, None] = {}
        for item in self._items(init, scope):
            named = isinstance(item, c_ast.NamedInitializer)
            if named:
                path = self._designated(item, scope, place.ctype)
                if is_opaque(type_at(place.ctype, path)) and _is_zero(item.expr):
                    continue
                for union in slots.jump(path):  # nothing is left of the member that was initialised before
                    self._clear(sub_object(place, union), state, item)
                item = item.expr
            path = slots.next_member(item)
            member = type_at(place.ctype, path)
            if isinstance(item, c_ast.InitList) or (_is_string(item) and isinstance(member, ArrayType)):
                if named:  # it may replace what an earlier initialiser gave
                    self._clear(sub_object(place, path), state, item)
                self._fill(sub_object(place, path), item, scope, state)
            else:
                if isinstance(member, ArrayType | StructType):
                    path = self._unbraced(slots, path, item, scope, state)
                self._assign(place, path, item, scope, state)
            unions.update(dict.fromkeys(unions_on(place.ctype, path)))
        for union in [] if self._lasting else unions:
            self._leave_open(sub_object(place, (*union, slots.choice(union))), sub_object(place, union), state, init)

    def _leave_open(self, member: Place, union: Place, state: State, node: Any) -> None:
        """What an initialiser of one member leaves of a union is not set (C11 6.2.6.1p7)."""
        own: set[Key] = set()
        for target in member.targets:
            assert target.object is not None
            for path, ctype in scalars(member.ctype):
                own.update(self.evaluator.representation.keys(target.object, target.path + path, ctype))
        for path, _ in scalars(union.ctype):
            if any((t.object, t.path + path) not in own for t in union.targets):
                self.evaluator.put(union, path, UNDEFINED, state, node)

    def _items(self, init: Any, scope: Scope) -> Iterator[Any]:
        """The items of a braced list; one that a range designates (gcc), once for each element."""
        todo = list(reversed(init.exprs))
        while todo:
            item = todo.pop()
            names = item.name if isinstance(item, c_ast.NamedInitializer) else []
            number = next((n for n, part in enumerate(names) if range_of(_index(part)) is not None), None)
            if number is None:
                yield item
                continue
            ends = range_of(_index(names[number]))
            assert ends is not None
            if self.evaluator.has_effects(item.expr):
                raise unsupported("initialiser with effects for a range of elements", _index(names[number]))
            first, last = (self.evaluator.constant(end, scope) for end in ends)
            if first > last:
                raise InputRefused("a designator names an empty range", where(_index(names[number])))
            ELEMENTS.check(last - first + 1, where(_index(names[number])))
            for element in range(last, first - 1, -1):
                one = c_ast.Constant("int", str(element), ends[0].coord)
                todo.append(c_ast.NamedInitializer([*names[:number], one, *names[number + 1 :]], item.expr))

    def _clear(self, place: Place, state: State, node: Any) -> None:
        for path, ctype in scalars(place.ctype):
            self.evaluator.put(place, path, zero(ctype), state, node)

    def _unbraced(self, slots: Slots, path: Path, item: Any, scope: Scope, state: State) -> Path:
        """What an expression initialises where an aggregate stands: that, or its first scalar (braces elided)."""
        member = type_at(slots.ctype, path)
        if isinstance(member, StructType) and same_type(self.evaluator.type_of(item, scope, state), member):
            return path
        refuse_opaque(member, item)
        return slots.descend(path)

    def _designated(self, item: Any, scope: Scope, ctype: CType) -> Path:
        path: Path = ()
        for part in item.name:
            inner = type_at(ctype, path)
            if isinstance(inner, ArrayType):
                number = self.evaluator.constant(_index(part), scope)
                if not 0 <= number < (inner.length or 0):
                    raise InputRefused(f"a designator names element {number}, which is not there", where(_index(part)))
                path += (number,)
            elif isinstance(inner, StructType) and isinstance(part, c_ast.ID) and inner.find(part.name):
                path += tuple(m.name for m in inner.find(part.name))
            else:
                raise InputRefused("a designator names no member", where(_index(part)))
        return path


def _refuse_literals(state: State, obj: MemObject, init: Any) -> None:
    """Refuse the address of a compound literal outside of functions: an object that lives on and has no name."""
    for path, _ in scalars(obj.ctype):
        term = state.cells[obj, path].term
        if isinstance(term, tuple) and any(t.object is not None and t.object.kind == "automatic" for t in term):
            hint = "give the literal a name: declare it as an object of its own"
            raise unsupported("address of a compound literal in a static initialiser", init, hint)


def sub_object(place: Place, path: Path) -> Place:
    """What is at ``path`` in an object."""
    targets = tuple(Target(t.guard, t.object, t.path + path) for t in place.targets)
    return Place(targets, type_at(place.ctype, path))


def is_opaque(ctype: CType) -> bool:
    """Whether a union without cells is somewhere in a type."""
    try:
        refuse_opaque(ctype, None)
    except UnsupportedConstruct:
        return True
    return False


def _index(part: Any) -> Any:
    """The expression of an array designator (a node of its own from pycparser 3 on)."""
    return part.expr if type(part).__name__ == "ArrayDesignator" else part


def _leaf(init: Any) -> Any:
    """The first expression of an initialiser: lists and designators themselves have no place."""
    while isinstance(init, c_ast.InitList | c_ast.NamedInitializer):
        init = init.expr if isinstance(init, c_ast.NamedInitializer) else init.exprs[0]
    return init


def _is_zero(node: Any) -> bool:
    """Whether an initialiser is made of the constant 0 alone."""
    while isinstance(node, c_ast.InitList) and len(node.exprs) == 1:
        node = node.exprs[0]
    if isinstance(node, c_ast.InitList):
        return all(_is_zero(item) for item in node.exprs)
    return isinstance(node, c_ast.Constant) and node.value in ("0", "0U", "0.0", "0.0F")


def _is_string(node: Any) -> bool:
    return isinstance(node, c_ast.Constant) and bool(node.type == "string")


def zero(ctype: CType) -> Content:
    """The zero of a scalar type."""
    if isinstance(ctype, IntType | FloatType):
        return Content(constant(0, ctype.bits), TRUE())
    return Content((Target(TRUE(), None),), TRUE())


@contextlib.contextmanager
def narrowing_noted(evaluator: Lvalues, scope: Scope) -> Iterator[None]:
    """Note in the unit of ``scope`` the first constant that is narrowed while an automatic aggregate is initialised."""
    saved = evaluator.filling, evaluator.narrowed
    evaluator.filling, evaluator.narrowed = evaluator.depth, None
    try:
        yield
        unit = unit_of(evaluator.program, scope)
        if unit is not None:
            unit.narrowed = unit.narrowed or evaluator.narrowed
    finally:
        evaluator.filling, evaluator.narrowed = saved

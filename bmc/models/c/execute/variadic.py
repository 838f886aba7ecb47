"""Arguments behind ``...`` (C11 7.16): the members of an unnamed struct, through which a ``va_list`` walks.

A ``va_list`` is an array of one struct, as gcc has it on x86-64, whose member points to the argument that comes next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bmc.errors import InputRefused
from bmc.formulas.terms import both
from bmc.models.c.execute.first_members import converted
from bmc.models.c.execute.initialise import zero
from bmc.models.c.execute.memory import (
    UNDEFINED,
    Aggregate,
    Content,
    MemObject,
    Place,
    State,
    Target,
    Value,
    live,
    member_path,
    merge_contents,
    merge_targets,
    whole,
)
from bmc.models.c.execute.prototypes import promoted
from bmc.models.c.source.program import Scope, unsupported, where
from bmc.models.c.source.types import (
    ArrayType,
    CType,
    IntType,
    Member,
    PointerType,
    StructType,
    VoidType,
    count_scalars,
    same_type,
    scalars,
)

if TYPE_CHECKING:
    from bmc.models.c.execute.calls import Calls, Frame

_AT = "__at"
_END = "(end)"
_ADDRESS = PointerType(VoidType())


class Variadic:
    """What ``va_start``, ``va_arg``, ``va_copy`` and ``va_end`` do."""

    def __init__(self, executor: Calls) -> None:
        self.executor = executor
        self.functions: dict[str, Callable[[Any, Scope, State], Any]] = {
            "__builtin_va_start": self._start,
            "__chaincover_va_arg": self._argument,
            "__builtin_va_copy": self._copy,
            "__builtin_va_end": self._end,
        }
        self._taken_by: dict[MemObject, Frame] = {}
        """The function that was given a list and has taken from it last."""

    def pass_arguments(self, values: list[Any], frame: Frame, inner: State, state: State, node: Any) -> None:
        """Keep the arguments of a call that no parameter takes, after the default argument promotions."""
        model, members, given = self.executor.model, [], []
        for number, value in enumerate(values):
            if value is None:
                raise InputRefused(f"a void value is passed to '{frame.function.name}'", where(node))
            ctype = promoted(value.ctype, model)
            if isinstance(ctype, IntType) and ctype.partial:
                if ctype.bits != model.basic["int"].bits:
                    raise unsupported("a bit-field wider than int as an argument behind '...'", node)
                ctype = replace(ctype, partial=False)
            members.append(Member(f"a{number}", ctype))
            given.append(self.executor.as_type(value, ctype, node, state))
        struct = StructType("", fields=[*members, Member(_END, model.basic["char"])])
        struct.numbers = sum(count_scalars(member.type) for member in struct.members())
        frame.rest = MemObject(f"(arguments of {frame.function.name})", struct, "automatic")
        frame.locals.append(frame.rest)
        for path, _ in scalars(struct):
            inner.cells[frame.rest, path] = UNDEFINED
        for member, value in zip(members, given, strict=True):
            place = member_path(whole(frame.rest), (member.name,), member.type)
            self.executor.store(place, value, inner, node)

    def _start(self, node: Any, scope: Scope, state: State) -> None:
        items = self._items(node, 2)
        rest = self.executor.frames[-1].rest if self.executor.frames else None
        if rest is None:
            raise InputRefused("va_start in a function without '...'", where(node))
        first = rest.ctype.members()[0].name  # type: ignore[union-attr]
        target = member_path(whole(rest), (first,), _ADDRESS).targets
        place = self._list(items[0], scope, state, node)
        self.executor.store(place, Value(target, _ADDRESS), state, node)
        self._forget(place)

    def _copy(self, node: Any, scope: Scope, state: State) -> None:
        to, from_ = (self._list(item, scope, state, node) for item in self._items(node, 2))
        self._check_taken(from_, node)
        self.executor.store(to, self.executor.load(from_, state, node), state, node)
        self._forget(to)

    def _end(self, node: Any, scope: Scope, state: State) -> None:
        place = self._list(self._items(node, 1)[0], scope, state, node)
        for guard, obj, path in live(place.targets):
            self.executor.set_cell((obj, path), UNDEFINED, guard, state, node)
        self._forget(place)

    def _argument(self, node: Any, scope: Scope, state: State) -> Value:
        """A pointer to the next argument, or to a copy of it that has the wanted type; the list moves on."""
        executor = self.executor
        items = self._items(node, 2)
        wanted = executor.value(items[1], scope, state).ctype
        assert isinstance(wanted, PointerType)
        place = self._list(items[0], scope, state, node)
        self._check_taken(place, node)
        if not isinstance(executor.type_of(items[0], scope, state), ArrayType):
            self._taken_by.update({obj: executor.frames[-1] for _, obj, _ in live(place.targets)})
        at = executor.load(place, state, node)
        assert isinstance(at, Value)
        result = whole(executor.temporary("(argument)", wanted.target, state))
        cells = {path: zero(ctype) for path, ctype in scalars(wanted.target)}
        after = []
        for target in at.targets:
            following = self._next(target)
            after.append((target.guard, (replace(target, path=(following,)),) if following else (target,)))
            if target.object is None or target.path[-1] == _END:
                executor.undefined_at(state, node)("va_arg past the last argument", target.guard)
                continue
            for path, content in self._converted(target, wanted.target, state, node):
                cells[path] = merge_contents(target.guard, content, cells[path])
        for path, content in cells.items():
            executor.put(result, path, content, state, node)
        guarded = [(guard, tuple(replace(t, guard=guard) for t in targets)) for guard, targets in after]
        executor.store(place, Value(merge_targets(guarded), _ADDRESS), state, node)
        return Value(result.targets, wanted)

    def _converted(
        self, target: Target, wanted: CType, state: State, node: Any
    ) -> list[tuple[tuple[Any, ...], Content]]:
        """The cells of an argument as a ``wanted``; undefined unless it has that type, or nearly (C11 7.16.1.1p2)."""
        executor = self.executor
        assert target.object is not None
        name = target.path[-1]
        ctype = next(m.type for m in target.object.ctype.members() if m.name == name)  # type: ignore[union-attr]
        there = State(state.cells, both(state.pc, target.guard))
        value = executor.load(Place((target,), ctype), there, node)
        fits = same_type(ctype, wanted) if isinstance(value, Aggregate) else None
        if fits is None:
            fits = executor.prototypes.passes(value, ctype, wanted, there, node)
        if not fits:
            executor.undefined_at(state, node)("va_arg of another type than the argument's", target.guard)
            return []
        if isinstance(value, Aggregate):
            return list(value.cells)
        term = value.term
        if isinstance(wanted, PointerType) and isinstance(term, tuple):
            term = converted(term, wanted.target)
        return [((), Content(term, zero(wanted).defined))]

    @staticmethod
    def _next(target: Target) -> str | None:
        """The member behind the one that a list points to."""
        if target.object is None:
            return None
        names = [member.name for member in target.object.ctype.members()]  # type: ignore[union-attr]
        number = names.index(str(target.path[-1]))
        return names[number + 1] if number + 1 < len(names) else None

    def _list(self, item: Any, scope: Scope, state: State, node: Any) -> Place:
        """What keeps the place of a list."""
        pointer = self.executor.value(item, scope, state)
        ctype = pointer.ctype.target if isinstance(pointer.ctype, PointerType) else None
        if not isinstance(ctype, StructType) or ctype.tag != "__va_list_tag":
            raise InputRefused("a va_list is needed here", where(node))
        self.executor.check_not_null(Place(pointer.targets, ctype), state, node)
        return member_path(self.executor.dereference(pointer, state, node), (_AT,), _ADDRESS)

    def _check_taken(self, place: Place, node: Any) -> None:
        """Refuse a list of which a function has taken arguments that has ended: where it stands is not fixed."""
        frames = self.executor.frames
        for _, obj, _ in live(place.targets):
            other = self._taken_by.get(obj)
            if other is not None and other not in frames:
                text = f"a va_list from which '{other.function.name}', to which it was passed, has taken arguments"
                raise unsupported(text, node, "pass the address of the va_list, or a va_copy of it")

    def _forget(self, place: Place) -> None:
        for _, obj, _ in live(place.targets):
            self._taken_by.pop(obj, None)

    @staticmethod
    def _items(node: Any, count: int) -> list[Any]:
        items = list(node.args.exprs) if node.args else []
        if len(items) != count:
            raise InputRefused(f"{node.name.name} needs {count} argument(s)", where(node))
        return items

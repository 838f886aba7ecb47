"""Symbolic memory: objects flattened into scalar cells, guarded pointers, and states merged at joins.

Memory knows what was written since it was forked, so that a join costs what its branches wrote. Each copy descends
from *forks*, kept as a chain. Where two copies are joined, only keys written since the last common fork can differ. A
written key is *kept* if its content equals that at the fork wherever the path condition of the copy is false: such a
content stands for both sides of a join as it is, so that joining again and again on the way out of nested branches, or
up an ``else if`` chain, adds nothing to it. Any other written key is *open*.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, Mapping, MutableMapping
from dataclasses import field
from typing import Any, TypeVar

from pysmt.fnode import FNode

from bmc.errors import InputRefused, Location
from bmc.formulas.terms import FALSE, TRUE, both, choose, either, is_false, is_true, negate
from bmc.models.c.source.types import Arithmetic, ArrayType, CType, Path, PointerType, scalars
from bmc.records import dataclass

K = TypeVar("K")
V = TypeVar("V")
SHARED = 8
"""A copy of a memory takes up to one of so many parts of it along; what else is in it is shared. With twice as many,
less is copied at each branch, and all of it twice as often."""


@dataclass(frozen=True, slots=True, eq=False)
class Fork:
    """Where copies part: ``opened`` and ``kept`` keys were written between ``parent`` and this fork."""

    parent: Fork | None
    depth: int
    opened: Mapping[Any, None]
    kept: Mapping[Any, None]


class Cells(MutableMapping[K, V]):
    """Contents by key; ``opened`` and ``kept`` are the keys written since ``fork``, in this order.

    Copies share ``_shared``, which nobody changes, and have ``_own`` contents above it, None for a key that is gone.
    """

    __slots__ = ("_own", "_shared", "fork", "kept", "opened")

    def __init__(self, contents: Mapping[K, V] | None = None) -> None:
        self._shared: dict[K, V] = dict(contents or {})
        self._own: dict[K, V | None] = {}
        self.fork = Fork(None, 0, {}, {})
        self.opened: dict[K, None] = {}
        self.kept: dict[K, None] = {}

    def __contains__(self, key: object) -> bool:
        return self._own[key] is not None if key in self._own else key in self._shared

    def __getitem__(self, key: K) -> V:
        found = self._own[key] if key in self._own else self._shared[key]
        if found is None:
            raise KeyError(key)
        return found

    def __setitem__(self, key: K, content: V) -> None:
        self._own[key] = content
        self.opened[key] = None

    def __delitem__(self, key: K) -> None:
        self[key]  # KeyError where it is gone
        if key in self._shared:
            self._own[key] = None
        else:
            del self._own[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self.contents())

    def __len__(self) -> int:
        return len(self.contents())

    def get(self, key: K, default: Any = None) -> Any:
        found = self._own[key] if key in self._own else self._shared.get(key)
        return default if found is None else found

    def items(self) -> ItemsView[K, V]:
        return self.contents().items()

    def contents(self) -> dict[K, V]:
        """All contents by key, not to be changed."""
        if self._own:
            every = {**self._shared, **self._own}
            self._shared, self._own = {key: content for key, content in every.items() if content is not None}, {}
        return self._shared

    def put(self, key: K, content: V) -> None:
        """Set a content without noting that it was written."""
        self._own[key] = content

    def mark(self) -> Fork:
        """A new fork at this point, from which this memory goes on."""
        if self.opened or self.kept:
            self.fork = Fork(self.fork, self.fork.depth + 1, self.opened, self.kept)
            self.opened, self.kept = {}, {}
        return self.fork

    def copied(self) -> Cells[K, V]:
        """A copy that parts from this memory here."""
        if len(self._own) * SHARED > len(self._shared):
            self.contents()
        copy: Cells[K, V] = Cells.__new__(Cells)
        copy._shared, copy._own = self._shared, dict(self._own)
        copy.fork, copy.opened, copy.kept = self.mark(), {}, {}
        return copy

    def settle(self, fork: Fork) -> None:
        """Forget the forks since ``fork``; what was written since then is open."""
        opened, kept = self.written_since(fork)
        self.rebase(fork, {**opened, **kept}, {})

    def rebase(self, fork: Fork, opened: dict[K, None], kept: dict[K, None]) -> None:
        """Say anew what was written since ``fork``."""
        self.fork, self.opened, self.kept = fork, opened, kept

    def written_since(self, fork: Fork) -> tuple[dict[K, None], dict[K, None]]:
        """The keys written since ``fork``, which must be one that this memory descends from: (opened, kept)."""
        if self.fork is fork:
            return self.opened, self.kept
        layers: list[tuple[Mapping[Any, None], Mapping[Any, None]]] = [(self.opened, self.kept)]
        at = self.fork
        while at is not fork:
            layers.append((at.opened, at.kept))
            assert at.parent is not None
            at = at.parent
        opened: dict[K, None] = {}
        kept: dict[K, None] = {}
        for layer in reversed(layers):
            opened.update(layer[0])
            kept.update(layer[1])
        return opened, {key: None for key in kept if key not in opened}


def last_common(left: Cells[K, V], right: Cells[K, V]) -> Fork:
    """The last fork that both memories descend from; they must have one."""
    a, b = left.fork, right.fork
    while a is not b:
        if a.depth < b.depth:
            a, b = b, a
        assert a.parent is not None, "memories of different runs are joined"
        a = a.parent
    return a


@dataclass(eq=False, slots=True)
class MemObject:
    """One C object. ``kind``: pointee, argument, global, local (static), return, automatic, constant.

    ``refusal``: why its initialiser cannot be read, raised on access. ``ended``: its lifetime is over. ``volatile``: as
    a whole (members may be by themselves). ``pointees``: what each of its
    pointers that change may point to, by the number that stands for it.
    """

    name: str
    ctype: CType
    kind: str
    symbol: str = ""
    function: str = ""
    file: str = ""
    const: bool = False
    declared: Location | None = None
    refusal: InputRefused | None = None
    ended: bool = False
    volatile: bool = False
    pointees: dict[Path, list[Pointee]] = field(default_factory=dict)

    @property
    def persistent(self) -> bool:
        return self.kind in ("pointee", "argument", "global", "local", "return")


Pointee = tuple[MemObject | None, Path]
"""What a pointer points to: a sub-object, a function, or nothing (None)."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a pointer may point: to the sub-object at ``path`` of ``object`` if ``guard`` holds; None is NULL."""

    guard: FNode
    object: MemObject | None
    path: Path = ()


@dataclass(frozen=True, slots=True)
class Place:
    """An lvalue: its possible targets (their guards exclude each other) and its type."""

    targets: tuple[Target, ...]
    ctype: CType


@dataclass(frozen=True, slots=True)
class Value:
    """A scalar rvalue. ``term`` is a bit-vector of the type's width (a floating value's pattern), or a pointer's."""

    term: FNode | tuple[Target, ...]
    ctype: Arithmetic | PointerType

    @property
    def bits(self) -> FNode:
        assert isinstance(self.term, FNode)
        return self.term

    @property
    def targets(self) -> tuple[Target, ...]:
        assert isinstance(self.term, tuple)
        return self.term


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A struct rvalue: the contents of its cells by path."""

    cells: tuple[tuple[Path, Content], ...]
    ctype: CType


@dataclass(frozen=True, slots=True)
class Content:
    """What a cell holds: a bit-vector or pointer targets, and when it is defined."""

    term: FNode | tuple[Target, ...]
    defined: FNode


UNDEFINED = Content((), FALSE())
Key = tuple[MemObject, Path]


class State:
    """Cells of memory on one path through a function; ``pc`` is the path condition since the function was entered."""

    __slots__ = ("cells", "pc")

    def __init__(self, cells: Mapping[Key, Content] | None = None, pc: FNode | None = None) -> None:
        self.cells: Cells[Key, Content] = cells if isinstance(cells, Cells) else Cells(cells)
        self.pc: FNode = pc if pc is not None else TRUE()

    def fork(self, condition: FNode) -> State:
        """A copy on which ``condition`` holds as well."""
        return State(self.cells.copied(), both(self.pc, condition))

    def drop(self, objects: Iterable[MemObject]) -> None:
        """Forget the cells of objects whose lifetime has ended."""
        for obj in objects:
            for path, _ in scalars(obj.ctype):
                self.cells.pop((obj, path), None)


def merge(condition: FNode, then: State | None, other: State | None) -> State | None:
    """Join two paths that exclude each other, and use them up; None is a dead path.

    Where ``condition`` holds the first was taken. What both wrote becomes a choice by ``condition``; what only one of
    them wrote a choice by that path's whole condition, so that no further join has to touch it (``Cells``: *kept*).
    """
    if then is None or is_false(then.pc):
        return other
    if other is None or is_false(other.pc):
        return then
    fork = last_common(then.cells, other.cells)
    if len(then.cells.kept) < len(other.cells.kept):
        _merge_into(other, then, negate(condition), fork)
        other.pc = either(then.pc, other.pc)
        return other
    _merge_into(then, other, condition, fork)
    then.pc = either(then.pc, other.pc)
    return then


def _merge_into(large: State, small: State, condition: FNode, fork: Fork) -> None:
    """Give ``large`` the contents of two paths after their join; ``condition`` tells it from ``small``."""
    opened, kept = large.cells.written_since(fork)
    s_opened, s_kept = small.cells.written_since(fork)
    still: dict[Key, None] = {}
    for key in {**opened, **s_opened, **s_kept}:
        x, y = large.cells.get(key), small.cells.get(key)
        if x is None or y is None:
            joined = x or y  # one of them dropped it, or never had it
        elif (key in opened or key in kept) and (key in s_opened or key in s_kept):
            joined = merge_contents(condition, x, y)
        else:
            if key in opened:
                joined = merge_contents(large.pc, x, y)
            else:
                joined = merge_contents(small.pc, y, x) if key in s_opened else y
            large.cells.put(key, joined)
            kept[key] = None
            continue
        if joined is not None:
            large.cells.put(key, joined)
            still[key] = None
        kept.pop(key, None)
    large.cells.rebase(fork, still, kept)


def join(paths: list[State]) -> State | None:
    """All paths merged; the last first, so that complementary path conditions cancel."""
    joined: State | None = None
    for path in reversed(paths):
        joined = merge(path.pc, path, joined)
    return joined


def merge_contents(condition: FNode, then: Content, other: Content) -> Content:
    """The content that is ``then`` where ``condition`` holds, else ``other``."""
    if is_true(condition) or then == other:
        return then
    if is_false(condition):
        return other
    if is_false(then.defined):
        return Content(other.term, both(negate(condition), other.defined))
    if is_false(other.defined):
        return Content(then.term, both(condition, then.defined))
    defined = choose(condition, then.defined, other.defined)
    return Content(merge_terms(condition, then.term, other.term), defined)


def merge_terms(
    condition: FNode, then: FNode | tuple[Target, ...], other: FNode | tuple[Target, ...]
) -> FNode | tuple[Target, ...]:
    """The bit-vector or pointer that is ``then`` where ``condition`` holds, else ``other``."""
    if isinstance(then, tuple) or isinstance(other, tuple):
        assert isinstance(then, tuple)
        assert isinstance(other, tuple)
        return merge_targets([(condition, then), (negate(condition), other)])
    return choose(condition, then, other)


def merge_targets(choices: Iterable[tuple[FNode, tuple[Target, ...]]]) -> tuple[Target, ...]:
    """The union of guarded target lists; equal targets are joined."""
    found: dict[tuple[MemObject | None, Path], FNode] = {}
    for condition, targets in choices:
        for target in targets:
            guard = both(condition, target.guard)
            if not is_false(guard):
                key = (target.object, target.path)
                found[key] = either(found[key], guard) if key in found else guard
    return tuple(Target(guard, obj, path) for (obj, path), guard in found.items())


def whole(obj: MemObject) -> Place:
    """An object as an lvalue."""
    return Place((Target(TRUE(), obj),), obj.ctype)


def address_of(place: Place) -> Value:
    """The pointer to an lvalue."""
    return Value(place.targets, PointerType(place.ctype))


def is_null(targets: tuple[Target, ...]) -> FNode:
    """When a pointer is NULL."""
    result = FALSE()
    for target in targets:
        if target.object is None:
            result = either(result, target.guard)
    return result


def member_path(place: Place, names: Iterable[str], ctype: CType) -> Place:
    """The member at the end of a way through nested structs."""
    path = tuple(names)
    return Place(tuple(Target(t.guard, t.object, (*t.path, *path)) for t in place.targets if t.object), ctype)


def element_places(place: Place, guards: Iterable[tuple[int, FNode]]) -> Place:
    """The element of an array lvalue whose index is given as guarded constants."""
    assert isinstance(place.ctype, ArrayType)
    targets = [
        Target(both(t.guard, guard), t.object, (*t.path, index))
        for index, guard in guards
        for t in place.targets
        if t.object is not None
    ]
    return Place(tuple(t for t in targets if not is_false(t.guard)), place.ctype.element)


def live(targets: Iterable[Target]) -> Iterator[tuple[FNode, MemObject, Path]]:
    """The targets that are objects."""
    for target in targets:
        if target.object is not None:
            yield target.guard, target.object, target.path

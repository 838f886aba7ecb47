"""Records: the classes that ``dataclasses.dataclass`` makes, at a tenth of the price of making them.

``dataclass`` writes six methods of each class as text and compiles them where the class is defined, which was a fifth
of a short run. Here records share the functions that compare, hash and show them and that refuse changes; ``__init__``
alone, which is called most, is compiled for each class of which a record is made. Options, fields, ``replace`` and what
type checkers see are those of the standard library.
"""

from __future__ import annotations

import abc
import dataclasses
import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, FrozenInstanceError
from functools import partial
from reprlib import Repr, recursive_repr
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, **options):
        """Make a record of a class, as ``dataclasses.dataclass`` does."""
        return partial(_made, _Options(**options)) if cls is None else _made(_Options(), cls)


class _Options(NamedTuple):
    frozen: bool = False
    slots: bool = False
    eq: bool = True
    order: bool = False
    kw_only: bool = False


@dataclasses.dataclass
class _Changing:
    field: int


@dataclasses.dataclass(frozen=True)
class _Frozen:
    field: int


SPECIAL = ("ClassVar", "InitVar", "KW_ONLY")
"""Types of what is no field of its own. The standard library itself makes classes that have such, or a record to begin
with."""

Key = Callable[[Any], tuple[Any, ...]]
_set = object.__setattr__
_KIND = dataclasses.fields(_Frozen)[0]._field_type  # type: ignore[attr-defined]


def _made(options: _Options, cls: Any) -> type:
    """The record that a class becomes: itself, or with slots another one."""
    kinds: Mapping[str, Any] = cls.__annotations__
    apart = any(word in str(kind) for kind in kinds.values() for word in SPECIAL)
    if apart or any(map(dataclasses.is_dataclass, cls.__bases__)):
        cls.__repr__ = vars(cls).get("__repr__", _repr)
        return dataclasses.dataclass(**options._asdict())(cls)
    own = dict(vars(cls))
    fields = {name: _field(name, kind, own.get(name, MISSING), options.kw_only) for name, kind in kinds.items()}
    parts = {
        "__doc__": f"{cls.__name__}.",  # else its signature is made, which takes long
        "__match_args__": tuple(name for name, field in fields.items() if field.init and not field.kw_only),
        **_methods(fields, options),
    }
    parts = {name: part for name, part in parts.items() if own.get(name) is None}
    parts["__dataclass_fields__"] = fields
    parts["__dataclass_params__"] = vars(_Frozen if options.frozen else _Changing)["__dataclass_params__"]
    if options.slots:
        cls = _with_slots(cls, fields, parts)
    else:
        _fill(cls, fields, parts)
    if own.get("__init__") is None:
        cls.__init__ = _init(cls, fields.values(), options.frozen)
    return abc.update_abstractmethods(cls)


def _fill(cls: Any, fields: Mapping[str, Field[Any]], parts: Mapping[str, Any]) -> None:
    """Give ``cls`` its ``parts``, and the defaults of its fields in place of what says how they are made."""
    for name, field in fields.items():
        if field.default is not MISSING:
            setattr(cls, name, field.default)
        elif name in vars(cls):
            delattr(cls, name)
    for name, part in parts.items():
        setattr(cls, name, part)


def _with_slots(cls: Any, fields: Iterable[str], parts: Mapping[str, Any]) -> Any:
    """Another class like ``cls``, with ``parts``, and with slots for those fields that its bases have no slots for."""
    inherited = {slot for base in cls.__mro__ for slot in getattr(base, "__slots__", ())}
    left_out = {"__dict__", "__weakref__", *fields}
    slots = {"__slots__": tuple(name for name in fields if name not in inherited)}
    kept = {name: part for name, part in vars(cls).items() if name not in left_out}
    made = type(cls)(cls.__name__, cls.__bases__, {**kept, **parts, **slots})
    made.__qualname__ = cls.__qualname__
    return made


def _field(name: str, kind: Any, given: Any, kw_only: bool) -> Field[Any]:
    """The field of a class that has ``given`` for its name."""
    field: Any = given if isinstance(given, Field) else dataclasses.field(default=given)
    if field.default.__class__.__hash__ is None:
        raise ValueError(f"mutable default {type(field.default)} for field {name} is not allowed: use default_factory")
    field.name, field.type, field._field_type = name, kind, _KIND
    field.kw_only = kw_only if field.kw_only is MISSING else field.kw_only
    return field  # type: ignore[no-any-return]


def _methods(fields: Mapping[str, Field[Any]], options: _Options) -> dict[str, Any]:
    """The methods of a record but for ``__init__``, by name."""
    methods: dict[str, Any] = {"__repr__": _repr}
    key = _key([name for name, field in fields.items() if field.compare])
    if options.eq:
        methods["__eq__"] = _comparison(key, operator.eq)
        methods["__hash__"] = _hash(key) if options.frozen else None
    if options.order:
        methods |= {f"__{name}__": _comparison(key, getattr(operator, name)) for name in ("lt", "le", "gt", "ge")}
    if options.frozen:
        methods |= {"__setattr__": _refuse_change, "__delattr__": _refuse_change}
    if options.frozen and options.slots:
        methods |= {"__getstate__": _state, "__setstate__": _restore}
    if hasattr(_Frozen, "__replace__"):
        methods["__replace__"] = _Frozen.__replace__
    return methods


def _init(cls: type, fields: Iterable[Field[Any]], frozen: bool) -> Callable[..., None]:
    """``__init__``, which is compiled when the first record is made: of many classes a short run makes none."""

    def first(self: Any, *given: Any, **named: Any) -> None:
        init = _compiled(cls, fields, frozen)
        cls.__init__ = init  # type: ignore[misc]
        init(self, *given, **named)

    first.__qualname__ = f"{cls.__qualname__}.__init__"
    return first


def _compiled(cls: type, fields: Iterable[Field[Any]], frozen: bool) -> Callable[..., None]:
    """``__init__``: a parameter for each field, those of keywords alone last; factories make what is not given."""
    names: dict[str, Any] = {"_set": _set, "_MISSING": MISSING}
    positional: list[str] = []
    keywords: list[str] = []
    lines: list[str] = []

    def stored(name: str, value: str) -> str:
        slot = getattr(cls, name, None)
        if type(slot) is not MemberDescriptorType:
            return f"_set(self, {name!r}, {value})"
        names[f"_set_{name}"] = slot.__set__  # without a search by name, in half the time
        return f"_set_{name}(self, {value})"

    for field in fields:
        name, value = field.name, field.name
        if field.default_factory is not MISSING:
            names[f"_make_{name}"] = field.default_factory
            value = f"_make_{name}() if {name} is _MISSING else {name}" if field.init else f"_make_{name}()"
        elif field.default is not MISSING:
            names[f"_default_{name}"] = field.default
        if field.init:
            default = "" if field.default is MISSING else f"=_default_{name}"
            parameter = name + ("=_MISSING" if field.default_factory is not MISSING else default)
            (keywords if field.kw_only else positional).append(parameter)
            lines.append(stored(name, value) if frozen else f"self.{name} = {value}")
        elif field.default_factory is not MISSING:
            lines.append(stored(name, value))
        elif field.default is not MISSING and name in vars(cls).get("__slots__", ()):  # no class has the value
            lines.append(stored(name, f"_default_{name}"))
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    parameters = ", ".join(["self", *positional, *(["*", *keywords] if keywords else [])])
    exec(f"def __init__({parameters}):\n " + "\n ".join(lines or ["pass"]), names)
    init: Callable[..., None] = names["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init


def _key(names: list[str]) -> Key:
    """The values of a record by which it is compared."""
    if len(names) > 1:
        return operator.attrgetter(*names)
    return lambda record: tuple(getattr(record, name) for name in names)


def _comparison(key: Key, compare: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def method(self: Any, other: Any) -> Any:
        return compare(key(self), key(other)) if other.__class__ is self.__class__ else NotImplemented

    return method


def _hash(key: Key) -> Callable[[Any], int]:
    return lambda self: hash(key(self))


class _Shown(Repr):
    """Shows records down to some level, and of long collections and texts the beginning."""

    def __init__(self, levels: int) -> None:
        super().__init__()
        self.maxlevel, self.maxstring, self.maxother, self.maxlong = levels, 80, 80, 80

    def repr_instance(self, x: Any, level: int) -> str:
        """A record by its fields, or ``Name(...)`` on the last level; another object as always."""
        if not dataclasses.is_dataclass(x) or isinstance(x, type):
            return super().repr_instance(x, level)
        if level <= 0:
            return f"{x.__class__.__qualname__}(...)"
        shown = (f"{f.name}={self.repr1(getattr(x, f.name), level - 1)}" for f in dataclasses.fields(x) if f.repr)
        return f"{x.__class__.__qualname__}({', '.join(shown)})"


LONGEST_SHOWN = 800
"""Characters that a record, or a message, is shown in at most: ten lines of a terminal."""


@recursive_repr()
def _repr(self: Any) -> str:
    """The record in at most ``LONGEST_SHOWN`` characters, with as many levels of what it holds as they allow."""
    texts = (_Shown(levels).repr_instance(self, levels) for levels in (6, 4, 3, 2, 1))
    fitting = next((text for text in texts if len(text) <= LONGEST_SHOWN), "")
    return fitting or f"{_Shown(1).repr_instance(self, 1)[: LONGEST_SHOWN - 3]}..."


def _refuse_change(self: Any, name: str, value: Any = None) -> NoReturn:
    raise FrozenInstanceError(f"{name!r} of a {self.__class__.__qualname__} cannot be changed")


def _state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _restore(self: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        _set(self, field.name, value)

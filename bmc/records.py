"""Records: the classes that ``dataclasses.dataclass`` makes, at a sixth of the price of making them.

``dataclass`` writes six methods of each class as text and compiles them where the class is defined, which was a fifth
of a short run. Here records share the functions that compare, hash and show them and that refuse changes; ``__init__``
alone, which is called most, is compiled for each class of which a record is made. Options, fields, ``replace`` and what
type checkers see are those of the standard library.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Iterable
from dataclasses import MISSING, Field, FrozenInstanceError
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, slots=False, eq=True, order=False, **options):
        """Make a record of a class, as ``dataclasses.dataclass`` does."""

        def made(cls):
            if any(map(dataclasses.is_dataclass, cls.__bases__)):
                options.update(frozen=frozen, slots=slots, eq=eq, order=order)
                return dataclasses.dataclass(**options)(cls)
            own = {name for name, method in vars(cls).items() if method is not None}
            cls.__doc__ = cls.__doc__ or f"{cls.__name__}."  # else its signature is made, which takes long
            cls = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots, **options)(cls)
            for name, method in _methods(cls, frozen, slots, eq, order).items():
                if name not in own:
                    setattr(cls, name, method)
            cls.__dataclass_params__.frozen = frozen  # what is made from it has to be as well
            return cls

        return made if cls is None else made(cls)


Key = Callable[[Any], tuple[Any, ...]]
_set = object.__setattr__


def _methods(cls: type, frozen: bool, slots: bool, eq: bool, order: bool) -> dict[str, Any]:
    """The methods of a record, by name."""
    fields = dataclasses.fields(cls)
    methods: dict[str, Any] = {"__init__": _init(cls, fields, frozen), "__repr__": _repr}
    key = _key([field.name for field in fields if field.compare])
    if eq:
        methods["__eq__"] = _comparison(key, operator.eq)
        methods["__hash__"] = _hash(key) if frozen else None
    if order:
        methods |= {f"__{name}__": _comparison(key, getattr(operator, name)) for name in ("lt", "le", "gt", "ge")}
    if frozen:
        methods |= {"__setattr__": _refuse_change, "__delattr__": _refuse_change}
    if frozen and slots:
        methods |= {"__getstate__": _state, "__setstate__": _restore}
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
            lines.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
        elif field.default_factory is not MISSING:
            lines.append(f"_set(self, {name!r}, {value})")
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


@recursive_repr()
def _repr(self: Any) -> str:
    shown = (f"{field.name}={getattr(self, field.name)!r}" for field in dataclasses.fields(self) if field.repr)
    return f"{self.__class__.__qualname__}({', '.join(shown)})"


def _refuse_change(self: Any, name: str, value: Any = None) -> NoReturn:
    raise FrozenInstanceError(f"{name!r} of a {self.__class__.__qualname__} cannot be changed")


def _state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _restore(self: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        _set(self, field.name, value)

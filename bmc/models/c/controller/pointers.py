"""Pointers that the step changes: what each may point to, by the number that stands for it in the state.

What a pointer may point to is what init lets it point to, and all that a symbolic step makes of that: the step is run
again until nothing new turns up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from bmc.errors import InputRefused
from bmc.formulas.terms import both, negate
from bmc.limits import POINTEES
from bmc.models.c.execute.access import is_past
from bmc.models.c.execute.cases import impossible
from bmc.models.c.execute.memory import Content, Key, MemObject, Pointee, Target
from bmc.models.c.execute.recorder import StepResult, is_volatile
from bmc.models.c.execute.variables import CVariable, pointee_names, variable_name
from bmc.models.c.source.program import Function, unsupported, where
from bmc.models.c.source.types import DataModel, PointerType, offset_of, size_of, type_at
from bmc.system.original import PointedAt, Pointer


def note_pointees(result: StepResult, model: DataModel, step: Function) -> bool:
    """Note what the pointers that the step changes may point to; whether something is new.

    InputRefused for a pointer that cannot be state.
    """
    grown = False
    for key, old in result.start.items():
        (obj, path), new = key, result.final[key]
        known = obj.pointees.get(path)
        if (known is None and old == new) or not isinstance(type_at(obj.ctype, path), PointerType):
            continue
        if known is None:
            if is_volatile(key, {}):
                raise InputRefused(f"the volatile pointer '{variable_name(*key)}' is changed by the step", obj.declared)
            known, grown = obj.pointees.setdefault(path, []), True
        for content in (old, new):
            for target in content.term if isinstance(content.term, tuple) else ():
                pointee = (target.object, target.path)
                if pointee not in known and _is_possible(target, content):
                    _check(key, known, pointee, model, step)
                    known.append(pointee)
                    grown = True
    return grown


def _is_possible(target: Target, content: Content) -> bool:
    """Whether a pointer may have this target at all; the solver has to say so of a place past an array's end."""
    if target.object is None or not is_past(target.object, target.path):
        return True
    return not impossible(both(target.guard, content.defined))


def _check(key: Key, known: list[Pointee], pointee: Pointee, model: DataModel, step: Function) -> None:
    """Refuse what no number can stand for: a string without a name, two types at one address, one too many."""
    obj, path = pointee
    name = variable_name(*key)
    if obj is not None and obj.kind == "constant" and not obj.symbol:
        hint = 'give the text a name: static const char text[] = "...";'
        raise unsupported(f"pointer '{name}' to a string constant, changed by the step", step.node, hint)
    ends = [each for each in (*known, pointee) if _is_end(*each, model)]
    if ends and any(each is not None and each is not ends[0][0] for each, _ in (*known, pointee)):
        first = pointee_names(ends[:1])[0]
        raise unsupported(f"pointer '{name}' past the end ({first}) or to another object, kept by the step", step.node)
    for other, way in known:
        if obj is not None and other is obj and offset_of(obj.ctype, way, model) == offset_of(obj.ctype, path, model):
            first, second = pointee_names([(other, way), pointee])
            raise unsupported(f"pointer '{name}' to both {first} and {second}, changed by the step", step.node)
    if len(known) == POINTEES.most:
        text = f"the pointer '{name}' may point to more than {POINTEES.most} objects"
        raise POINTEES.refusal(key[0].declared or where(step.node), text)


def _is_end(obj: MemObject | None, path: tuple[str | int, ...], model: DataModel) -> bool:
    """Whether that is the place past the end of an object, where another object may lie."""
    if obj is None or obj.kind == "function" or not path:
        return False
    return offset_of(obj.ctype, path, model) == size_of(obj.ctype, model) > 0


def without_dangling(cells: Mapping[Key, Content]) -> dict[Key, Content]:
    """Memory after a step; pointers to objects whose lifetime is over are unset (C11 6.2.4p2)."""
    kept: dict[Key, Content] = {}
    for key, content in cells.items():
        term = content.term
        gone = [t for t in term if t.object is not None and t.object.ended] if isinstance(term, tuple) else []
        if gone and isinstance(term, tuple):
            defined = content.defined
            for target in gone:
                defined = both(defined, negate(target.guard))
            content = Content(tuple(target for target in term if target not in gone), defined)
        kept[key] = content
    return kept


def pointed_objects(variables: Iterable[CVariable]) -> list[MemObject]:
    """The objects that the pointers among ``variables`` may point to."""
    pointees = [pointee for v in variables for pointee in v.key[0].pointees.get(v.key[1], ())]
    return list(dict.fromkeys(obj for obj, _ in pointees if obj is not None and obj.kind != "function"))


def native_pointer(key: Key, number: str, model: DataModel) -> Pointer:
    """How a pointer in the compiled original is read and set; the object called ``number`` holds its number."""
    obj, path = key
    pointees = tuple(_pointed_at(*pointee, model) for pointee in obj.pointees[path])
    return Pointer(obj.name, offset_of(obj.ctype, path, model), number, pointees)


def _pointed_at(obj: MemObject | None, path: tuple[str | int, ...], model: DataModel) -> PointedAt:
    if obj is None:
        return PointedAt()
    if obj.kind == "function":
        return PointedAt(function=obj.symbol, file=obj.file)
    return PointedAt(obj.name, offset_of(obj.ctype, path, model))

"""Pointers that the step changes: what each may point to, by the number that stands for it in the state.

What a pointer may point to is what init lets it point to, and all that a symbolic step makes of that: the step is run
again until nothing new turns up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from bmc.errors import InputRefused
from bmc.formulas.terms import both, negate
from bmc.limits import POINTEES
from bmc.models.c.controller.ranges import selected
from bmc.models.c.controller.reading import SourceConfig
from bmc.models.c.execute.access import is_past
from bmc.models.c.execute.cases import impossible
from bmc.models.c.execute.memory import Content, Key, MemObject, Pointee, State, Target, Value
from bmc.models.c.execute.recorder import StepResult, is_volatile
from bmc.models.c.execute.statements import Executor
from bmc.models.c.execute.variables import CVariable, is_variable, pointee_names, variable_name
from bmc.models.c.source.program import Function, parse_text, unsupported, where
from bmc.models.c.source.types import DataModel, PointerType, offset_of, same_type, show_type, size_of, type_at
from bmc.system.original import PointedAt, Pointer


def name_pointees(config: SourceConfig, after_init: Mapping[Key, Content], executor: Executor, step: Function) -> None:
    """Let the pointers that init leaves open, and that ``[ranges]`` names, point to what it says.

    InputRefused for what cannot be pointed to.
    """
    pointers = {
        variable_name(*key): key
        for key, content in after_init.items()
        if content.defined.is_false() and isinstance(type_at(key[0].ctype, key[1]), PointerType) and key[0].persistent
    }
    names = [*pointers, *(variable_name(*key) for key in after_init if is_variable(key))]
    for pattern, values in config.ranges.items() if pointers else ():
        for name in selected([pattern], names):
            if name in pointers and pointers[name][1] not in pointers[name][0].pointees:
                obj, path = pointers[name]
                texts = (values,) if isinstance(values, str) else values
                ctype = type_at(obj.ctype, path)
                assert isinstance(ctype, PointerType)
                try:
                    obj.pointees[path] = [_named(text, ctype, executor, step) for text in texts]
                except InputRefused as error:
                    raise InputRefused(f"the range of '{name}': {error.message}", config.where, error.hint) from None


def _named(text: str, ctype: PointerType, executor: Executor, step: Function) -> Pointee:
    """What ``text`` says that a pointer of the type ``ctype`` points to."""
    word = "0" if text.strip() == "NULL" else step.unit.source.expand(text)
    tree = parse_text(f"void f(void) {{ ({word}); }}", "ranges")
    with executor.apart():
        value = executor.evaluate(tree.ext[-1].body.block_items[0], step.unit.scope, State())
        value = executor.as_type(value, ctype, step.node, State()) if isinstance(value, Value) else None
    if not isinstance(value, Value) or [target.guard.is_true() for target in value.targets] != [True]:
        raise InputRefused(f"'{text}' is nothing to point to", None, "name functions, or objects as in &table[2]")
    target = value.targets[0]
    if target.object is not None and not same_type(type_at(target.object.ctype, target.path), ctype.target):
        raise InputRefused(f"'{text}' has another type", None, f"name what a {show_type(ctype)} may point to")
    return target.object, target.path


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
        if known is None and () == old.term == new.term:
            continue  # it points nowhere, and is copied onto itself
        if known is None:
            if is_volatile(key, {}):
                raise InputRefused(f"the volatile pointer '{variable_name(*key)}' is changed by the step", obj.declared)
            known, grown = obj.pointees.setdefault(path, []), True
        for content in (old, new):
            for target in content.term if isinstance(content.term, tuple) else ():
                pointee = (target.object, target.path)
                if pointee not in known and _is_possible(target, content, model):
                    _check(key, known, pointee, model, step)
                    known.append(pointee)
                    grown = True
    return grown


def _is_possible(target: Target, content: Content, model: DataModel) -> bool:
    """Whether a pointer may have this target at all; the solver has to say so of a place past an array's end."""
    if target.object is None or not is_past(target.object, target.path, model):
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

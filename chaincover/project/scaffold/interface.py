"""The interface and the ranges of a proposed project file: the variables of the model, by their roles."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from bmc.errors import NAMED, InputRefused
from bmc.models.c.controller.model import CModel
from bmc.models.c.execute.variables import CVariable
from bmc.models.c.source.types import IntType, show_type
from bmc.system.names import matching
from chaincover.project.scaffold.reading import ROLES, Reading
from chaincover.project.scaffold.terms import telling_values
from chaincover.project.scaffold.toml import comments, quoted, toml_list
from chaincover.project.values import show_ranges

_BOOLEAN_TYPES = ("boolean_t", "boolean", "bool", "kcg_bool", "bool_t", "tboolean", "bool8", "_bool")


def interface(reading: Reading) -> list[str]:
    """The lines of [interface] and [ranges]."""
    if reading.model is None:
        lines = ["[interface]", *comments("not read yet: " + reading.problem)]
        for role in ROLES:
            patterns = reading.roles.get(role, ())
            known = [pattern for pattern in patterns if pattern in reading.inputs]
            lines += [f"# {pattern}: {reading.inputs[pattern]}" for pattern in known]
            lines += toml_list(role, [quoted(p) for p in known]) if known else []
            others = [quoted(p) for p in patterns if p not in known]
            lines += comments("\n".join(toml_list(role, others))) if others else []
        return lines
    model = reading.model
    lines = ["[interface]                  # as recognised; move names where it is wrong"]
    lines += [f"# {name}: {why}" for name, why in reading.inputs.items() if _selects(name, model)]
    for role in ROLES:
        word = "ignored" if role == "ignore" else role
        names = [v.name for v in model.variables if v.role == word]
        if names or role not in ("ignore", "output"):
            lines += _role(role, names, reading.roles.get(role, ()), model)
    lines += _starts(model)
    if not model.inputs:
        lines.append(
            "# nothing looks like an input: what the environment sets before a step belongs into the list input"
        )
    ranges, ranged = _ranges(model)
    named = {f"'{name}' is given no values but those that the type names" for name in ranged}
    notes = [note for note in dict.fromkeys(model.notes) if note.partition(";")[0] not in named]
    return [*lines, *_notes(notes), "", *ranges]


def _notes(notes: Sequence[str]) -> Iterator[str]:
    """Notes as comments; one that is made of many variables once."""
    kinds: dict[str, list[str]] = {}
    for note in notes:
        named = re.fullmatch(r"'([^']+)' (.*)", note, re.S)
        kinds.setdefault(named[2] if named else note, []).append(named[1] if named else "")
    for text, names in kinds.items():
        more = f" (and {len(names) - 1} more like it)" if len(names) > 1 else ""
        yield from comments(f"'{names[0]}'{more} {text}" if names[0] else text)


def _role(role: str, names: Sequence[str], given: Sequence[str], model: CModel) -> list[str]:
    """The list of a role; where it is long only what has to be named, for the rest has that role anyway."""
    patterns = _patterns(names, model)
    if len(patterns) <= NAMED:
        return toml_list(role, [quoted(p) for p in patterns])
    needed = [p for p in given if _selects(p, model)]
    inside = set(matching(needed, model.names, None, "variable"))
    roots = Counter(re.split(r"->|\.|\[|::", name)[0] for name in names if name not in inside)
    lines = toml_list(role, [quoted(p) for p in needed]) if needed else []
    if roots:
        number = f"{sum(roots.values())}{' more' if needed else ''}"
        rest = [f"{count} of {root}" for root, count in roots.items()] if len(roots) <= NAMED else []
        what = f": {', '.join(rest)}" if rest else ""
        lines.append(f"# {role}: {number} variables, by the way the code uses them{what}")
    return lines


def _starts(model: CModel) -> list[str]:
    """What may be said of state behind pointers that no init sets: a chain then works for all its values."""
    roots = dict.fromkeys(re.split(r"->|\.", name)[0].lstrip("*") for name in open_starts(model))
    if not roots:
        return []
    patterns = ", ".join(
        quoted(p) for root in roots for p in _patterns([n for n in open_starts(model) if _below(n, root)], model)
    )
    return [
        f"# nothing sets what is behind {', '.join(roots)} before the first step: a chain works for all its values,",
        "# unless the memory is 0 then (a static object), or the tester sets it:",
        f"# zeroed = [{patterns}]",
        f"# chosen = [{patterns}]",
    ]


def _below(name: str, root: str) -> bool:
    return re.split(r"->|\.", name)[0].lstrip("*") == root


def _selects(pattern: str, model: CModel) -> bool:
    try:
        return bool(matching([pattern], model.names, None, "variable"))
    except InputRefused:
        return False


def _patterns(names: Sequence[str], model: CModel) -> list[str]:
    """``names``, those of one object as one pattern where it fits nothing else."""
    wanted, found = set(names), []
    while names:
        root = names[0]
        for mark in ("->", ".", "["):
            head = names[0].split(mark)[0]
            pattern = f"{head}[*]" if mark == "[" else f"{head}{mark}*"
            inside = set(matching([pattern], model.names, None, "variable")) if head != names[0] else set()
            if len(inside) > 1 and inside <= wanted:
                root = pattern
                break
        inside = set(matching([root], model.names, None, "variable"))
        found.append(root)
        names = [name for name in names if name not in inside]
    return found


def _ranges(model: CModel) -> tuple[list[str], list[str]]:
    """What the inputs may be: set where nothing is lost, else proposed; and the names of those where it is set."""
    telling = telling_values(model.system)
    lines = ["[ranges]                     # allowed values of inputs, and of state for random testing"]
    for variable in model.inputs:
        allowed = next(v for v in model.system.inputs if v.name == variable.name)
        name, kind, values = (
            quoted(_port(variable.name, model.names)),
            show_type(variable.ctype),
            telling.get(variable.name, ()),
        )
        if _is_boolean(variable):
            lines.append(f"{name} = [0, 1]   # {kind}")
        elif values == (0, 1) and allowed.values != ((0, 1),) and not allowed.type.labels:
            lines.append(f"{name} = [0, 1]   # {kind}; 0 and 1 stand for all values that the step tells apart")
        elif len(values) > 1 and allowed.values != ((0, 1),) and not allowed.type.labels:
            shown = ", ".join(map(str, values))
            told = "stand for all values that the step tells apart; add those that properties name"
            lines.append(f"# {name} = [{shown}]   # {kind}; these {told}")
        else:
            shown = show_ranges(allowed.values, allowed.type)
            lines.append(f'# {name} = "{shown}"   # {kind}')
    keys = {line.partition(" = ")[0] for line in lines}
    return lines, [v.name for v in model.inputs if quoted(_port(v.name, model.names)) in keys]


def _port(name: str, names: Sequence[str]) -> str:
    """The name of the port where an AUTOSAR function names it twice (``Rte_Read_Speed_Speed``); else the whole name."""
    twice = re.fullmatch(r"Rte_\w*?_(\w+)_\1(::\w+)?", name)
    alone = twice and sum(other.partition("::")[0].endswith(f"_{twice[1]}") for other in names) == 1
    return twice[1] if twice and alone else name


def _is_boolean(variable: CVariable) -> bool:
    ctype = variable.ctype
    named = ctype.name.lower() in _BOOLEAN_TYPES
    return isinstance(ctype, IntType) and named and not ctype.labels and not ctype.is_bool


def open_starts(model: CModel) -> list[str]:
    """State behind pointers that no init sets."""
    behind = {v.name for v in model.variables if v.role == "state" and v.key[0].kind == "pointee"}
    return [var.name for var in model.system.state if var.init is None and var.name in behind]

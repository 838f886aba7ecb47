"""The text of a project file that is proposed for C sources, with the reason beside everything that was found.

First which values of an input the step tells apart: where it is only compared with constants, a few stand for all.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pysmt.operators as op
from pysmt.fnode import FNode

from bmc.c.controller.model import CModel
from bmc.c.execute.variables import CVariable, matching
from bmc.c.source.types import IntType, show_type
from bmc.errors import InputRefused
from bmc.records import dataclass
from bmc.system.transition import InputVariable, TransitionSystem
from chaincover.project.scaffold.reading import ROLES, OpenFunction, Reading, Sources, find_sources, try_proposal
from chaincover.project.scaffold.recognisers import Proposal, proposals
from chaincover.project.values import show_ranges

MOST_VALUES = 12
_EXTENSIONS = (op.BV_ZEXT, op.BV_SEXT)
_COMPARISONS = (op.EQUALS, op.BV_ULT, op.BV_ULE, op.BV_SLT, op.BV_SLE)


@dataclass(frozen=True, slots=True)
class _Comparison:
    """``kind`` (a pysmt node type) of an input's extension and a constant; ``swapped``: the constant stands first."""

    kind: int
    extended: FNode
    constant: int
    swapped: bool

    def holds(self, raw: int) -> bool:
        """Whether it holds for the input's pattern ``raw``."""
        width = self.extended.bv_width()
        value = _extend(self.extended, raw)
        left, right = (self.constant, value) if self.swapped else (value, self.constant)
        if self.kind in (op.BV_SLT, op.BV_SLE):
            left, right = _signed(left, width), _signed(right, width)
        if self.kind == op.EQUALS:
            return left == right
        return left < right if self.kind in (op.BV_ULT, op.BV_SLT) else left <= right


def telling_values(system: TransitionSystem) -> dict[str, tuple[int, ...]]:
    """For each input that the system only compares with constants: one number per class of values, ascending.

    Two values of one class have the same effect in every state. Floating inputs and those with more than
    ``MOST_VALUES`` classes are left out.
    """
    inputs = {var.symbol: var for var in system.inputs if not var.type.floating and var.type.bits}
    found = {}
    for symbol, comparisons in _comparisons(system, inputs).items():
        values = _classes(inputs[symbol], comparisons) if comparisons else ()
        if 0 < len(values) <= MOST_VALUES:
            found[symbol.symbol_name()] = values
    return found


def _comparisons(system: TransitionSystem, inputs: dict[FNode, InputVariable]) -> dict[FNode, list[_Comparison]]:
    """The comparisons of each input that is used in no other way."""
    found: dict[FNode, list[_Comparison]] = {symbol: [] for symbol in inputs}
    todo = [*(var.next for var in system.state), system.defined, system.input_constraint]
    todo += [each.formula for each in system.asserts]
    otherwise = {symbol for symbol in inputs if symbol in todo}
    seen = set()
    while todo:
        node = todo.pop()
        if node in seen:
            continue
        seen.add(node)
        for argument in node.args():
            symbol = _under(argument)
            if symbol not in inputs:
                todo.append(argument)
            elif (comparison := _comparison(node, argument)) is not None:
                found[symbol].append(comparison)
            else:
                otherwise.add(symbol)
    return {symbol: comparisons for symbol, comparisons in found.items() if symbol not in otherwise}


def _comparison(node: FNode, argument: FNode) -> _Comparison | None:
    if node.node_type() not in _COMPARISONS:
        return None
    swapped = node.arg(1) is argument
    other = node.arg(0) if swapped else node.arg(1)
    if not other.is_bv_constant():
        return None
    return _Comparison(node.node_type(), argument, other.bv_unsigned_value(), swapped)


def _under(term: FNode) -> FNode:
    """What a term extends."""
    while term.node_type() in _EXTENSIONS:
        term = term.arg(0)
    return term


def _extend(term: FNode, raw: int) -> int:
    """The pattern of an extension of a symbol whose pattern is ``raw``."""
    if term.node_type() not in _EXTENSIONS:
        return raw
    inner = _extend(term.arg(0), raw)
    if term.node_type() == op.BV_ZEXT:
        return inner
    return _signed(inner, term.arg(0).bv_width()) & int((1 << term.bv_width()) - 1)


def _signed(raw: int, width: int) -> int:
    return raw - (1 << width) if raw >> (width - 1) else raw


def _classes(var: InputVariable, comparisons: list[_Comparison]) -> tuple[int, ...]:
    """The number nearest to 0 of each class of allowed values.

    As a function of the pattern, a comparison changes only beside its constant, at 0 and where the sign changes; so
    each class has a member among these patterns and their neighbours, and the ends of the allowed ranges.
    """
    bits, vtype = var.type.bits, var.type
    edges = {0, 1 << (bits - 1), *(c.constant for c in comparisons)}
    edges |= {number for bounds in var.values for number in bounds}
    numbers = {vtype.value((edge + near) & ((1 << bits) - 1)) for edge in edges for near in (-1, 0, 1)}
    allowed = sorted(n for n in numbers if any(low <= n <= high for low, high in var.values))
    classes: dict[tuple[bool, ...], int] = {}
    for number in sorted(allowed, key=lambda n: (abs(n), n < 0)):
        raw = number & ((1 << bits) - 1)
        classes.setdefault(tuple(c.holds(raw) for c in comparisons), number)
    return tuple(sorted(classes.values()))


_LINE = 120
_MOST_OTHERS = 5
_MOST_LISTED = 12
_FAR = 90
"""Candidates whose score is this much lower are not listed."""
_BOOLEAN_TYPES = ("boolean_t", "boolean", "bool", "kcg_bool", "bool_t", "tboolean", "bool8", "_bool")


def propose(places: Sequence[str], folder: Path) -> tuple[str, str]:
    """A project file for C files and folders, to be kept in ``folder``, and one line on what was found.

    InputRefused where there is no C file.
    """
    text, reading = read_proposal(places, folder)
    return text, summary(reading)


def read_proposal(places: Sequence[str], folder: Path) -> tuple[str, Reading | None]:
    """The project file, and what was recognised (None: no function looks like a step)."""
    sources = find_sources(places, folder)
    found = proposals(sources.facts)
    reading = try_proposal(sources, found[0], folder) if found else None
    first = Path(places[0])
    name = first.resolve().name if os.path.isdir(first) else first.stem
    return project_text(name, sources, reading, found[1:], folder), reading


def project_text(name: str, sources: Sources, reading: Reading | None, others: Sequence[Proposal], base: Path) -> str:
    """The project file; ``reading`` is None where no function looks like a step, ``others`` are further candidates."""
    lines = [
        f"# ChainCover project for {name}. Its keys: docs/reference/project-file.md; styles: docs/reference/init.md."
    ]
    if reading is not None:
        proposal = reading.proposal
        lines.append(f"# Recognised: {f'style {proposal.letter}, ' if proposal.letter != '-' else ''}{proposal.title}.")
    lines += [
        f"name = {quoted(name)}",
        "# period = 0.01              # step period in seconds, for reports",
        "",
        *_sources(sources, reading, base),
        "",
        *_functions(sources, reading, others, base),
        "",
        *_interface(reading),
        "",
        "[constraints]",
        '# at_most_one = [["up", "down"]]',
        '# exactly_one = [["gas", "brake"]]',
        '# assume = ["temperature >= 10"]',
        "",
        "[final]",
        '# condition = "init"         # a chain ends as it began; or a C expression over the state',
        "",
        "[search]",
        "# bound = 30                 # K; without it K grows until a chain is found",
        "",
        "[coverage]",
        '# criteria = ["transitions(mode)", "branches()", "mcdc()"]   # docs/reference/coverage-goals.md',
        "",
        "# [[property]]",
        '# id = "p1"',
        '# text = "G(antecedent -> X(consequent))"   # or "cover(condition)"',
        '# requirement = "REQ-1"',
    ]
    return "\n".join(lines) + "\n"


def summary(reading: Reading | None) -> str:
    """One line on what was found."""
    if reading is None:
        return "no function looks like a step: set functions.step"
    proposal = reading.proposal
    style = f"style {proposal.letter}, {proposal.title}" if proposal.letter != "-" else proposal.title
    init = ", ".join(function.name + "()" for function, _ in reading.init) or "(none)"
    return f"{style}: step {proposal.step.name}(), init {init}"


def quoted(text: str) -> str:
    """A TOML string."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _shown(file: str, base: Path) -> str:
    return Path(os.path.relpath(file, base)).as_posix()


def _comment(text: str) -> list[str]:
    """Text of any length and number of lines as comments."""
    return [f"# {line}".rstrip() for line in text.splitlines()]


def _sources(sources: Sources, reading: Reading | None, base: Path) -> list[str]:
    files = reading.files if reading else tuple(file.file for file in sources.facts.files)
    files = files or tuple(sources.unreadable)
    left_out = reading.left_out if reading else tuple(sources.unreadable.items())
    lines = ["[sources]", *_list("files", [quoted(_shown(file, base)) for file in files])]
    for file, why in left_out[:_MOST_LISTED]:
        lines += _comment(f"{'not read' if file in files else 'left out'}: {_shown(file, base)}: {why}")
    if len(left_out) > _MOST_LISTED:
        lines.append(f"# left out: {len(left_out) - _MOST_LISTED} more files")
    lines += [f"# not looked into: {_shown(folder, base)}" for folder in sources.skipped]
    folders = [_shown(folder, base) for folder in sources.include]
    if folders:
        lines += _list("include", [quoted(folder) for folder in folders])
    else:
        lines.append('# include = ["include"]      # folders of headers, also of stand-ins for missing ones')
    lines += [f"# missing header, no stand-in known: {name}" for name in sources.missing]
    if sources.stand_ins:
        lines.append(f"# missing headers with a bundled stand-in: {', '.join(sources.stand_ins)}")
    lines.append('# defines = { TIMEOUT = "4" }')
    if sources.target != "lp64":
        lines.append(f'target = "{sources.target}"            # the word sizes that the code checks for with #error')
    return lines


def _functions(sources: Sources, reading: Reading | None, others: Sequence[Proposal], base: Path) -> list[str]:
    names = [f.name for f in sources.facts.functions if not f.static]
    lines = ["[functions]"]
    if reading is None:
        lines.append(f"# defined: {', '.join(names) or 'none'}")
        lines += ['# init = ["..."]            # run once; a name or a call like "init(&s, 3)"']
        return [*lines, '# step = "..."              # run once per step', *_conditions(names)]
    step = reading.proposal.step
    for function, why in reading.init:
        lines.append(f"# {function}, {_shown(function.file, base)}:{function.line}: {why}")
    if reading.init:
        lines += _list("init", [quoted(function.name) for function, _ in reading.init])
    else:
        lines.append('# init = ["..."]            # none was found; run once: a name or a call like "init(&s, 3)"')
    lines += _setup(sources, reading)
    lines.append(f"# {step}, {_shown(step.file, base)}:{step.line}:")
    lines += [f"#   {why}" for why in reading.proposal.why]
    lines.append(f"step = {quoted(step.name)}")
    likely = [other for other in others if other.score > reading.proposal.score - _FAR]
    if likely:
        lines.append("# other candidates (to choose one, put its name above):")
        for other in likely[:_MOST_OTHERS]:
            place = f"{_shown(other.step.file, base)}:{other.step.line}"
            lines.append(f"#   {other.step.name}, {place} ({other.title}): {'; '.join(other.why)}")
    lines.append('# properties = ["p_*"]       # C functions that state properties')
    lines += [*_conditions(names), *_open_functions(reading.functions)]
    return [*lines, *_shared_functions(reading)]


def _conditions(names: Sequence[str]) -> list[str]:
    """The keys of condition functions: those of the paper's convention, where they are defined."""
    return [f'{"" if word in names else "# "}{word} = "{word}"' for word in ("final", "assumption")]


def _open_functions(functions: Sequence[OpenFunction]) -> list[str]:
    lines = []
    for role in ("input", "output"):
        found = [f for f in functions if f.role == role]
        lines += [f"# {f.name}() is called and not defined: {f.why}" for f in found]
        if found:
            lines += _list(role, [quoted(f.name) for f in found])
    lines += [
        f"# {f.name}() is called and not defined ({f.why}): add its file, a stand-in, or list it as input or output"
        for f in functions
        if f.role not in ("input", "output")
    ]
    return lines


def _setup(sources: Sources, reading: Reading) -> list[str]:
    """For a model behind one pointer: how to give it the static objects that the target's main gives it."""
    step, facts = reading.proposal.step, sources.facts
    model = step.parameters[0] if reading.proposal.letter == "C" and step.parameters else None
    members = [m for m in facts.members(model.type) if m.pointers == 1 and facts.members(m.type)] if model else []
    if model is None or not members:
        return []
    known = {m.name: next((o for o in facts.objects if o.what.type == m.type and not o.static), None) for m in members}
    lines = [f"Objects behind {model.name} start without values. If the target's main() gives it static objects, which"]
    lines += ['start with 0 or as they are initialised, add a file like this to files and write init = ["setup"]:']
    for member in members:
        obj = known[member.name]
        lines.append(f"  extern {obj.what};" if obj else f"  static {member.type} the_{member.name};")
    lines.append(f"  void setup({model}) {{")
    for member in members:
        obj = known[member.name]
        lines.append(f"    {model.name}->{member.name} = &{obj.what.name if obj else f'the_{member.name}'};")
    lines += [f"    {function.name}({model.name});" for function, _ in reading.init]
    return _comment("\n".join([*lines, "  }"]))


def _shared_functions(reading: Reading) -> list[str]:
    lines = (
        ["", "[functions.shared]           # one variable each, moved by several runnables"] if reading.shared else []
    )
    for variable, names in reading.shared.items():
        lines += _list(variable, [quoted(name) for name in names])
    return lines


def _interface(reading: Reading | None) -> list[str]:
    if reading is None or reading.model is None:
        lines = ["[interface]"]
        if reading is not None:
            lines += _comment("not read yet: " + reading.problem)
            for role in ROLES:
                patterns = reading.roles.get(role, ())
                lines += _comment("\n".join(_list(role, [quoted(p) for p in patterns]))) if patterns else []
            return lines
        return [*lines, '# input = ["i->*"]', '# state = ["s->*"]']
    model = reading.model
    lines = ["[interface]                  # as recognised; move names between the lists where it is wrong"]
    lines += [f"# {name}: {why}" for name, why in reading.inputs.items() if _selects(name, model)]
    for role in ROLES:
        word = "ignored" if role == "ignore" else role
        names = [v.name for v in model.variables if v.role == word]
        if names or role not in ("ignore", "output"):
            lines += _list(role, [quoted(p) for p in _patterns(names, model)])
    for note in dict.fromkeys(model.notes):
        lines += _comment(note)
    return [*lines, "", *_ranges(model)]


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
            pattern = f"{head}{mark}*"
            inside = set(matching([pattern], model.names, None, "variable")) if head != names[0] else set()
            if len(inside) > 1 and inside <= wanted:
                root = pattern
                break
        inside = set(matching([root], model.names, None, "variable"))
        found.append(root)
        names = [name for name in names if name not in inside]
    return found


def _ranges(model: CModel) -> list[str]:
    """What the inputs may be: set where nothing is lost, else proposed."""
    telling = telling_values(model.system)
    lines = ["[ranges]                     # allowed values of inputs, and of state for random testing"]
    for variable in model.inputs:
        allowed = next(v for v in model.system.inputs if v.name == variable.name)
        name, kind, values = quoted(variable.name), show_type(variable.ctype), telling.get(variable.name, ())
        if _is_boolean(variable):
            lines.append(f"{name} = [0, 1]   # {kind}")
        elif values == (0, 1) and allowed.values != ((0, 1),) and not allowed.type.labels:
            lines.append(f"{name} = [0, 1]   # {kind}; 0 and 1 stand for all values that the step tells apart")
        elif len(values) > 1 and allowed.values != ((0, 1),) and not allowed.type.labels:
            shown = ", ".join(map(str, values))
            lines.append(f"# {name} = [{shown}]   # {kind}; these stand for all values that the step tells apart")
        else:
            shown = show_ranges(allowed.values, allowed.type)
            lines.append(f'# {name} = "{shown}"   # {kind}')
    return lines


def _is_boolean(variable: CVariable) -> bool:
    ctype = variable.ctype
    named = ctype.name.lower() in _BOOLEAN_TYPES
    return isinstance(ctype, IntType) and named and not ctype.labels and not ctype.is_bool


def _list(key: str, items: list[str]) -> list[str]:
    """A TOML list, on one line where that is not too long."""
    line = f"{key} = [{', '.join(items)}]"
    return [line] if len(line) <= _LINE else [f"{key} = [", *(f"    {item}," for item in items), "]"]

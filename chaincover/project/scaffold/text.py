"""The text of a project file that is proposed for C sources, with the reason beside everything that was found."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from bmc import ending
from bmc.errors import NAMED, InputRefused, Location, Refusals, listed
from bmc.models.c.controller.model import CModel
from bmc.models.c.source.headers import shown
from bmc.models.c.source.program import Typedef
from bmc.models.c.source.types import DATA_MODELS, DataModel, IntType
from bmc.records import dataclass
from bmc.system.names import suggestion
from chaincover.project.scaffold.entry_points import (
    STEP_WORDS,
    commands,
    ends_in,
    file_name,
    states_property,
    values_of,
)
from chaincover.project.scaffold.facts import Facts, FunctionFacts
from chaincover.project.scaffold.interface import interface, open_starts
from chaincover.project.scaffold.reading import OpenFunction, Reading, try_proposal
from chaincover.project.scaffold.recipes import recipe
from chaincover.project.scaffold.recognisers import Proposal, proposals
from chaincover.project.scaffold.sources import ANYTHING, Sources, Wanted, ended_early, find_sources, functions_in
from chaincover.project.scaffold.terms import first_step_flags, modes_at_rest
from chaincover.project.scaffold.toml import comments, quoted, toml_list
from properties.text import read_condition

_NEAR = 20
"""Candidates whose score is this much lower at most are asked about."""
_FAR = 90
"""Candidates whose score is this much lower are not listed."""


@dataclass(frozen=True)
class Scaffold:
    """A proposed project file: its text, one line on what was found, and what the user is to decide or mend;
    ``reading`` is None where the run was called off before there was a step to read."""

    text: str
    summary: str
    questions: tuple[str, ...]
    reading: Reading | None


def propose(places: Sequence[str], folder: Path, wanted: Wanted = ANYTHING) -> Scaffold:
    """A project file for C files and folders, to be kept in ``folder``.

    InputRefused where there is no C file, none that can be read, or no function that looks like a step.
    """
    sources = find_sources(places, folder, wanted)
    found = proposals(sources.facts, wanted.step)
    first = Path(places[0])
    name = first.resolve().name if os.path.isdir(first) else first.stem
    if not found and ending.called_off():
        with ending.uninterrupted():
            return _unread_yet(name, sources, wanted.step, folder)
    if not found:
        raise _no_step(sources, places[0], wanted.step)
    reading = try_proposal(sources, found[0], folder)
    others = [p for p in proposals(sources.facts) if p.step is not found[0].step]
    try:
        if not ending.called_off():
            return _scaffold(name, sources, reading, others, folder)
    except KeyboardInterrupt:
        early = ended_early()
        reading = replace(reading, model=None, problem=str(early), errors=(early,))
    with ending.uninterrupted():
        return _scaffold(name, sources, reading, others, folder)


def _scaffold(name: str, sources: Sources, reading: Reading, others: Sequence[Proposal], folder: Path) -> Scaffold:
    text = project_text(name, sources, reading, others, folder)
    return Scaffold(text, summary(reading), tuple(_questions(sources, reading, others, folder)), reading)


def _unread_yet(name: str, sources: Sources, step: str, folder: Path) -> Scaffold:
    """What is known where the run was called off before a step was recognised: the files, the functions that they seem
    to define, and what is wrong with them so far."""
    files = [file.file for file in sources.facts.files] + [*sources.unreadable]
    files = list(dict.fromkeys(files))
    heads = [(defined, file) for file in files for defined in functions_in(file)]
    likely = [(defined, file) for defined, file in heads if ends_in(defined, STEP_WORDS)]
    errors = tuple(dict.fromkeys(sources.unreadable.values()))
    lines = [
        f"# ChainCover project for {name}. Its keys: docs/reference/project-file.md; styles: docs/reference/init.md.",
        f"# Nothing was recognised before the end of the run: {ending.called_off()}.",
        f"name = {quoted(name)}",
        "",
        "[sources]",
        *toml_list("files", [quoted(_shown(file, folder)) for file in files]),
        *toml_list("include", [quoted(_shown(each, folder)) for each in sources.include]),
    ]
    lines += [line for error in errors for line in comments(str(error))]
    lines += [f"# missing header, no stand-in known: {header}" for header in sources.missing]
    lines += ["", "[functions]", *([f"step = {quoted(step)}"] if step else ['# step = "..."'])]
    lines += [f"# may be the step, by its name: {defined}, {_shown(file, folder)}" for defined, file in likely[:NAMED]]
    names = listed([defined for defined, _ in likely or heads])
    candidates = f"the step may be one of these, by their names: {names} (--step NAME)" if heads else ""
    questions = [*(str(error) for error in errors), candidates]
    summary = f"no step was recognised before the end of the run ({ending.called_off()})"
    return Scaffold("\n".join(lines) + "\n", summary, tuple(each for each in questions if each), None)


def _no_step(sources: Sources, place: str, step: str) -> InputRefused:
    """Why there is nothing to propose, with the reasons why files cannot be read."""
    names = [function.name for function in sources.facts.functions]
    if step:
        text, hint = f"no function '{step}' in the files that could be read", suggestion(step, names)
    elif not sources.facts.files and len(sources.unreadable) == 1:
        file, only = next(iter(sources.unreadable.items()))
        problem, _, hint = str(only).partition("\n  next: ")
        return InputRefused(f"none of the C files can be read; of {file_name(file)}: {problem}", Location(place), hint)
    elif not sources.facts.files:
        text, hint = "none of the C files can be read", "correct what is said of them, or name other files"
    else:
        text = "no function looks like the step of a controller"
        hint = f"name it: --step NAME; defined are {', '.join(names[:NAMED])}" if names else "name other files"
    refusals = Refusals()
    refusals.add(InputRefused(text, Location(place), hint))
    for error in sources.unreadable.values():
        refusals.add(error)
    return refusals.all()


def _questions(sources: Sources, reading: Reading, others: Sequence[Proposal], base: Path) -> Iterator[str]:
    """What a user is to decide or to mend, the most urgent first."""
    if sources.build.problem:
        yield f"the compilation database is not followed: {sources.build.problem}"
    init = [function for function, _ in reading.init]
    if reading.problem:
        may_help = recipe(sources, reading.proposal, init, base)
        more = "\n  or: a file of your own, see the recipe in [functions]" if may_help else ""
        yield f"the step cannot be read yet: {reading.problem}{more}"
    yield from _unread(sources, reading)
    also = commands(sources.facts, reading.proposal.step, init)
    near = [other.step for other in others if other.score > reading.proposal.score - _NEAR]
    rivals = [step.name for step in near if step not in also and sources.facts.changes(step)]
    if rivals:
        yield f"the step may be another function, too: {listed(rivals)} (--step NAME)"
    unknown = [function.name for function in reading.functions if function.role not in ("input", "output")]
    if unknown:
        yield f"nothing tells what these functions do: {listed(unknown)} (functions.input or .output, or their files)"
    if reading.model is not None:
        yield from _about_model(reading.model, init, also)


def _unread(sources: Sources, reading: Reading) -> Iterator[str]:
    """The files that cannot be read, with the reasons, but for those that the problem of the step names."""
    guessed = {facts.file for facts in sources.facts.files}
    told = {each.told(without=(each.hint,)) for each in reading.errors}
    alike: dict[tuple[str, str], list[str]] = {}
    for file, why in sources.unreadable.items():
        if file not in reading.problem and why.told(without=(why.hint,)) not in told:
            said = (
                "nothing in {} was considered"
                if file not in guessed
                else "what it declares was guessed"
                if file in reading.files
                else "it seems that step and init do not need {}"
            )
            alike.setdefault((str(why), said), []).append(shown(file))
    for (reason, said), files in alike.items():
        them = "them" if len(files) > 1 else "it"
        yield f"{listed(files)} cannot be read, and {said.format(them)}: {reason}"


def _about_model(model: CModel, init: Sequence[FunctionFacts], also: Sequence[FunctionFacts]) -> Iterator[str]:
    """What a user is to decide about start values, further calls of the environment (``also``) and inputs."""
    sizes = other_size(model)
    if sizes:
        yield sizes
    open_values = [(function.name, values_of(function)) for function in init]
    for name, parameters in open_values:
        if parameters:
            names = ", ".join(parameter.name for parameter in parameters)
            yield f"{name}() takes values that only you know: {names} (see the recipe in [functions])"
    if also:
        yield f"the environment may call {listed([f.name for f in also])}, too (see the recipe in [functions])"
    starts = open_starts(model)
    if starts and not any(parameters for _, parameters in open_values):
        yield f"nothing sets these before the first step: {listed(starts)} (see [interface]: zeroed or chosen)"
    if not model.inputs:
        yield "nothing looks like an input: a program without inputs has one run only (see [interface])"


def project_text(name: str, sources: Sources, reading: Reading, others: Sequence[Proposal], base: Path) -> str:
    """The project file; ``others`` are further candidates for the step."""
    proposal = reading.proposal
    lines = [
        f"# ChainCover project for {name}. Its keys: docs/reference/project-file.md; styles: docs/reference/init.md.",
        f"# Recognised: {f'style {proposal.letter}, ' if proposal.letter != '-' else ''}{proposal.title}.",
        f"name = {quoted(name)}",
        "# period = 0.01              # step period in seconds: for tables and for times",
        "",
        *_sources(sources, reading, base),
        "",
        *_functions(sources, reading, others, base),
        "",
        *interface(reading),
        "",
        "[constraints]",
        '# at_most_one = [["up", "down"]]',
        '# exactly_one = [["gas", "brake"]]',
        '# assume = ["temperature >= 10", "abs(X(temperature) - temperature) <= 2"]  # X(e): e one step later',
        '# initial = ["temperature == 20"]  # in the first step',
        "# dwell = { door = 5 }  # for how many steps an input keeps each value",
        "",
        "[final]",
        *_final(reading.model),
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


def summary(reading: Reading) -> str:
    """One line on what was found."""
    proposal = reading.proposal
    style = f"style {proposal.letter}, {proposal.title}" if proposal.letter != "-" else proposal.title
    init = ", ".join(function.name + "()" for function, _ in reading.init) or "(none)"
    return f"{style}: step {proposal.step.name}(), init {init}"


def _shown(file: str, base: Path) -> str:
    return Path(os.path.relpath(file, base)).as_posix()


def _sources(sources: Sources, reading: Reading, base: Path) -> list[str]:
    files, left_out = reading.files, reading.left_out
    lines = ["[sources]", *toml_list("files", [quoted(_shown(file, base)) for file in files])]
    for file, why in left_out[:NAMED]:
        lines += comments(f"{'not read' if file in files else 'left out'}: {_shown(file, base)}: {why}")
    if len(left_out) > NAMED:
        lines.append(f"# left out: {len(left_out) - NAMED} more files")
    lines += [f"# not looked into: {_shown(folder, base)}" for folder in sources.skipped]
    return [*lines, *_compilation(sources, reading, base)]


def _compilation(sources: Sources, reading: Reading, base: Path) -> list[str]:
    """How the files are compiled: options, folders of headers, macros, inline assembly and word sizes."""
    lines: list[str] = []
    folders = [_shown(folder, base) for folder in sources.include]
    database = f"compile_commands = {quoted(_shown(sources.build.place, base))}" if sources.build.place else ""
    firsts = dict.fromkeys(path for own in sources.build.options.values() for path in own.first)
    stubs = [path for path in firsts if os.path.basename(path).startswith("chaincover_stubs")]
    if stubs:
        words = [word for path in stubs for word in ("-include", _shown(path, base))]
        lines.append(f"options = [{', '.join(map(quoted, words))}]")
    if sources.build.problem:
        lines += comments(f"not followed: {sources.build.problem}\n{database}")
    elif database:
        lines.append(f"{database}      # folders of headers, macros and options of each file")
    if folders:
        lines += toml_list("include", [quoted(folder) for folder in folders])
    else:
        lines.append('# include = ["include"]      # folders of headers, also of stand-ins for missing ones')
    lines += [f"# missing header, no stand-in known: {name}" for name in sources.missing]
    if sources.stand_ins:
        lines.append(f"# missing headers with a bundled stand-in: {', '.join(sources.stand_ins)}")
    given = ", ".join(f"{name} = {quoted(value)}" for name, value in sources.defines)
    lines.append(f"defines = {{ {given} }}" if given else '# defines = { TIMEOUT = "4" }')
    if reading.assembly:
        lines.append(
            "# inline assembly that changes no data: interrupts, waiting, order of accesses, special registers"
        )
        lines += toml_list("assembly", [quoted(text) for text in reading.assembly])
    if sources.target != "lp64":
        by_compiler = database and not sources.build.problem
        source = "of the compiler in compile_commands" if by_compiler else "that the code checks for with #error"
        lines.append(f'target = "{sources.target}"            # the word sizes {source}')
    return lines


def _functions(sources: Sources, reading: Reading, others: Sequence[Proposal], base: Path) -> list[str]:
    names = [f.name for f in sources.facts.functions if not f.static]
    lines = ["[functions]"]
    step = reading.proposal.step
    for function, why in reading.init:
        lines.append(f"# {function}, {_shown(function.file, base)}:{function.line}: {why}")
    ready = [function for function, _ in reading.init if not values_of(function)]
    if ready:
        lines += toml_list("init", [quoted(function.name) for function in ready])
    elif reading.init:
        lines.append('# init = ["setup"]          # with the values that you write into setup(), see below')
    else:
        lines.append('# init = ["..."]            # none was found; run once: a name or a call like "init(&s, 3)"')
    lines += comments("\n".join(recipe(sources, reading.proposal, [f for f, _ in reading.init], base)))
    lines.append(f"# {step}, {_shown(step.file, base)}:{step.line}:")
    lines += [f"#   {why}" for why in reading.proposal.why]
    lines.append(f"step = {quoted(step.name)}")
    likely = [other for other in others if other.score > reading.proposal.score - _FAR]
    if likely:
        lines.append("# other candidates (to choose one: chaincover init --step NAME):")
        for other in likely[:NAMED]:
            place = f"{_shown(other.step.file, base)}:{other.step.line}"
            lines.append(f"#   {other.step.name}, {place} ({other.title}): {'; '.join(other.why)}")
    lines.append(_properties(sources.facts, reading))
    lines += [*_conditions(names), *_open_functions(reading.functions)]
    return [*lines, *_shared_functions(reading)]


def _properties(facts: Facts, reading: Reading) -> str:
    """The key of property functions; none where the default would take functions of the program for properties."""
    roots = [reading.proposal.step, *(function for function, _ in reading.init)]
    outside = set(facts.functions) - set(facts.reached(roots))
    named = [f for f in outside if f.file in reading.files and f.name.startswith("p_")]
    if any(states_property(facts, f) for f in named) or not named:
        return '# properties = ["p_*"]       # C functions that state properties'
    return "properties = []              # the functions called p_... state none"


def _conditions(names: Sequence[str]) -> list[str]:
    """The keys of condition functions: those of the paper's convention, where they are defined."""
    return [f'{"" if word in names else "# "}{word} = "{word}"' for word in ("final", "assumption")]


def _open_functions(functions: Sequence[OpenFunction]) -> list[str]:
    lines = []
    for role in ("input", "output"):
        found = [f for f in functions if f.role == role]
        lines += [f"# {f.name}() is called and not defined: {f.why}" for f in found]
        if found:
            lines += toml_list(role, [quoted(f.name) for f in found])
    lines += [
        f"# {f.name}() is called and not defined ({f.why}): add its file, a stand-in, or list it as input or output"
        for f in functions
        if f.role not in ("input", "output")
    ]
    return lines


def _shared_functions(reading: Reading) -> list[str]:
    lines = (
        ["", "[functions.shared]           # one variable each, moved by several runnables"] if reading.shared else []
    )
    for variable, names in reading.shared.items():
        lines += toml_list(variable, [quoted(name) for name in names])
    return lines


def _final(model: CModel | None) -> list[str]:
    """Conditions in which a chain may end: those that can come true again after the first step."""
    flags = first_step_flags(model.system) if model else []
    if model is None or not flags:
        return ['# condition = "init"         # a chain ends as it began; or a C expression over the state']
    names = listed([flag.name for flag in flags])
    modes = modes_at_rest(model.system)
    called = model.value_names([*modes], ())
    texts = [_with_label(model, f"{name} == ", value, called.get(name, {})) for name, value in modes.items()]
    condition = " && ".join(texts) or "mode == 1"
    what = "as after a first step with all inputs at rest" if modes else "a C expression over the state"
    return [
        f"# no later state is like the one after init: the first step changes {names} for good",
        f"# condition = {quoted(condition)}   # {what}",
    ]


def _with_label(model: CModel, before: str, value: str, labels: Mapping[int, str]) -> str:
    """``before`` and what the code calls a value, where that says the same; else its number."""
    label = labels.get(int(value)) if re.fullmatch(r"-?\d+", value) else None
    number, named, place = f"{before}{value}", f"{before}{label}", Location("")
    try:
        same = label is not None and read_condition(model, named, place) is read_condition(model, number, place)
    except InputRefused:
        same = False
    return named if same else number


_BITS = re.compile(r"[A-Za-z_]*?(?:int|uint|s|u|i|sint|bits?|word|bool|boolean|mask|enum)_?(8|16|32|64)(?:_?t)?", re.I)
_STANDARD = re.compile(r"u?int(?:_least|_fast)?\d+_t")
_RANKS = {1: "char", 2: "short", 3: "int", 4: "long", 5: "long long"}


def other_size(model: CModel) -> str:
    """Which types have another size than their names say, and the target for which they fit; '' where all fit."""
    wrong = {name: ctype for name, ctype, bits in _named_by_size(model) if ctype.bits != bits}
    if not wrong:
        return ""
    target = model.config.target
    fitting = next((name for name, other in DATA_MODELS.items() if _all_fit(model, other)), "")
    name, ctype = next(iter(wrong.items()))
    next_step = f'set [sources] target = "{fitting}", where all fit' if fitting else "no known target fits all of them"
    has = f"({name} has {ctype.bits} bits)"
    return f"{listed([*wrong])}: not the size that the name says under {target} {has}; {next_step}"


def _named_by_size(model: CModel) -> Iterator[tuple[str, IntType, int]]:
    """The types of the program whose names say a number of bits, with that number; those of <stdint.h> fit anywhere."""
    for unit in model.program.units:
        for name, binding in unit.scope.names.items():
            found = None if _STANDARD.fullmatch(name) else _BITS.fullmatch(name)
            if found and isinstance(binding, Typedef) and isinstance(binding.ctype, IntType):
                yield name, binding.ctype, int(found[1])


def _all_fit(model: CModel, target: DataModel) -> bool:
    sizes = {rank: target.basic[name].bits for rank, name in _RANKS.items()}
    return all(sizes.get(ctype.rank, ctype.bits) == bits for _, ctype, bits in _named_by_size(model))

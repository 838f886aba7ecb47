"""Trying a proposal on the C files of a controller: those that it needs are read.

Reading gives a model, and its variables speak for the proposal or against it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

from bmc.errors import ChainCoverError, InputRefused, SeveralRefused
from bmc.models.c.controller.build import read_c
from bmc.models.c.controller.environment import OutsideValue
from bmc.models.c.controller.externals import is_rte, undefined_functions
from bmc.models.c.controller.model import CModel
from bmc.models.c.controller.reading import SourceConfig, read_program
from bmc.models.c.execute.inline_assembly import UnlistedAssembly
from bmc.models.c.execute.memory import MemObject
from bmc.models.c.execute.variables import CVariable
from bmc.models.c.source.survey import Survey, apart
from bmc.records import dataclass
from bmc.stack import with_deep_stack
from bmc.system.names import UnknownName, matching
from bmc.system.transition import TransitionSystem, symbols_of
from chaincover.project.scaffold.entry_points import init_functions, states_property, values_of
from chaincover.project.scaffold.facts import Declared, Facts, FunctionFacts, ObjectFacts
from chaincover.project.scaffold.recognisers import Proposal
from chaincover.project.scaffold.sources import Sources, ended_early

ROLES = ("input", "state", "output", "ignore")


@dataclass(frozen=True)
class OpenFunction:
    """A function that is called and nowhere defined: the role to give it ('' for none), and why."""

    name: str
    role: str
    why: str


@dataclass(frozen=True)
class Reading:
    """A proposal as it was tried.

    ``files`` belong to it, ``left_out`` do not, each with the reason. ``init`` are (function, reason) pairs. ``roles``
    are the patterns that were given, ``inputs`` further inputs by name with the reason; ``shared`` are groups of
    functions that move one variable. ``model`` is None where ``problem`` tells what stopped reading.
    """

    proposal: Proposal
    files: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...]
    init: tuple[tuple[FunctionFacts, str], ...]
    functions: tuple[OpenFunction, ...] = ()
    assembly: tuple[str, ...] = ()
    """The texts of inline assembly that is known to change nothing but its outputs."""
    shared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    roles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)
    model: CModel | None = None
    problem: str = ""
    errors: tuple[InputRefused, ...] = ()
    """What the problem is, one by one."""


def try_proposal(sources: Sources, proposal: Proposal, base: Path) -> Reading:
    """Read what a proposal needs; ``base`` is the project file's folder."""
    facts = sources.facts
    init = tuple(init_functions(facts, proposal.step))
    files, left_out = _files(sources, [proposal.step, *(function for function, _ in init)])
    imported = _imported(facts, [proposal.step, *(function for function, _ in init)])
    roles = {role: proposal.roles.get(role, ()) for role in ROLES}
    roles["input"] += tuple(p for p in imported if p not in roles["input"])
    shared = shared_variables(facts, [proposal.step, *(function for function, _ in init)])
    reading = Reading(proposal, files, left_out, init, shared=shared, roles=roles, inputs=imported)
    try:
        config = _config(sources, reading, base)
        reading = replace(reading, functions=_open_functions(config, facts, reading, sources.guesses))
        config = _with_functions(config, reading)
        model, reading = _read_from_outside(config, reading)
        if model is None:
            return reading
        config = replace(config, assembly=reading.assembly)
        roles = dict(reading.roles)
        more = _unset_inputs(model, facts, reading)
        if not more and not model.inputs:
            more = _parameters(model, facts, proposal)
        if more:
            roles = {**roles, "input": (*roles["input"], *more)}
            model = _read(config, roles)
        return replace(reading, roles=roles, inputs={**reading.inputs, **more}, model=model)
    except KeyboardInterrupt:
        return _refused(reading, ended_early())
    except ChainCoverError as error:
        return _refused(reading, error)


def _refused(reading: Reading, error: ChainCoverError) -> Reading:
    """A reading that ends so."""
    one = (error,) if isinstance(error, InputRefused) else ()
    errors = error.errors if isinstance(error, SeveralRefused) else one
    return replace(reading, problem=str(error), errors=errors)


def _read_from_outside(config: SourceConfig, reading: Reading) -> tuple[CModel | None, Reading]:
    """The model with the roles of a reading, and the reading with these; what comes from outside gets a role, too, and
    inline assembly that changes nothing is listed.

    Each time the refusals name the objects that have none. The model is None where other refusals are left.
    """
    while True:
        try:
            model, roles = _read_fitting(replace(config, assembly=reading.assembly), reading.roles)
            return model, replace(reading, roles=roles)
        except InputRefused as error:
            errors = error.errors if isinstance(error, SeveralRefused) else (error,)
            known = {pattern for patterns in reading.roles.values() for pattern in patterns}
            outside = [e for e in errors if isinstance(e, OutsideValue) and e.pattern not in known]
            texts = [each.text for each in errors if isinstance(each, UnlistedAssembly) and each.harmless]
            reading = replace(reading, assembly=tuple(dict.fromkeys((*reading.assembly, *texts))))
            if not outside and not texts:
                return None, _refused(reading, error)
            roles = dict(reading.roles)
            for role, kept in (("input", False), ("state", True)):
                roles[role] = (*roles[role], *(each.pattern for each in outside if each.kept == kept))
            inputs = {each.pattern: each.message for each in outside}
            reading = replace(reading, roles=roles, inputs={**reading.inputs, **inputs})


def _config(sources: Sources, reading: Reading, base: Path) -> SourceConfig:
    init = tuple(function.name for function, _ in reading.init if not values_of(function))
    return sources.config(base.resolve().name, reading.files, str(base), init=init, step=reading.proposal.step.name)


def _with_functions(config: SourceConfig, reading: Reading) -> SourceConfig:
    listed = {role: tuple(f.name for f in reading.functions if f.role == role) for role in ("input", "output")}
    return replace(config, input_functions=listed["input"], output_functions=listed["output"], shared=reading.shared)


def _read(config: SourceConfig, roles: Mapping[str, tuple[str, ...]]) -> CModel:
    given = replace(config, input=roles["input"], state=roles["state"], output=roles["output"], ignore=roles["ignore"])
    return read_c(given)


def _read_fitting(
    config: SourceConfig, roles: Mapping[str, tuple[str, ...]]
) -> tuple[CModel, dict[str, tuple[str, ...]]]:
    """The model with these roles; a pattern that fits no variable is left out."""
    try:
        return _read(config, roles), dict(roles)
    except UnknownName as error:
        try:
            bare = read_c(config)
        except InputRefused:
            raise error from None
    kept = {role: tuple(p for p in patterns if _fits(p, bare.names)) for role, patterns in roles.items()}
    return _read(config, kept), kept


def _fits(pattern: str, names: Sequence[str]) -> bool:
    try:
        return bool(matching([pattern], names, None, "variable"))
    except InputRefused:
        return False


def _files(sources: Sources, roots: Sequence[FunctionFacts]) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """The files that ``roots`` need; named ones all belong to it."""
    facts = sources.facts
    read = [file.file for file in facts.files]
    unread = [(file, str(why)) for file, why in sources.unreadable.items() if file not in read]
    if sources.chosen:
        return tuple(read), tuple(unread)
    reached = facts.reached(roots)
    needed = dict.fromkeys(function.file for function in reached)
    for function in reached:
        for name in sorted(function.names):
            obj = facts.object(name, function.file)
            if obj is not None and not obj.extern:
                needed[obj.file] = None
    stating = [file.file for file in facts.files if any(states_property(facts, f) for f in file.functions)]
    needed.update(dict.fromkeys(stating))
    left = [(file, _why_left_out(sources, file)) for file in read if file not in needed]
    return tuple(file for file in read if file in needed), (*left, *unread)


def _why_left_out(sources: Sources, file: str) -> str:
    functions = next(f.functions for f in sources.facts.files if f.file == file)
    main = any(function.name == "main" for function in functions)
    why = "it has a main()" if main else "neither step nor init needs it"
    problem = sources.unreadable.get(file)
    return f"{why}, as far as can be guessed of a file that cannot be read: {problem}" if problem else why


def _imported(facts: Facts, roots: Sequence[FunctionFacts]) -> dict[str, str]:
    """Objects that reached code uses and no file defines: patterns, with the reason why they are inputs."""
    found = {}
    for function in facts.reached(roots):
        for name in sorted(function.names):
            obj = facts.object(name, function.file)
            if obj is not None and obj.extern and not obj.what.pointers:
                pattern = f"{name}.*" if facts.members(obj.what.type) else f"{name}[*]" if obj.what.array else name
                found[pattern] = "declared extern, and no file defines it"
    return found


def _open_functions(config: SourceConfig, facts: Facts, reading: Reading, guesses: bool) -> tuple[OpenFunction, ...]:
    """Undefined functions and their roles; those of the library and of known run-time environments need none."""
    roots = [reading.proposal.step, *(function for function, _ in reading.init)]
    called = {call.function for f in facts.reached(roots) for call in f.calls}
    if all(facts.function(name) is not None for name in called):
        return ()
    with apart():
        program, executor, _ = with_deep_stack(lambda: read_program(config, Survey()))
    known = [f for f in (program.function(root.name) for root in roots) if f is not None]
    found = []
    for each in with_deep_stack(lambda: undefined_functions(program, known, executor.library.knows)):
        place = f"called in {Path(each.call.file).name}:{each.call.line}"
        if each.role == "constant":
            found.append(
                OpenFunction(each.name, "input", f"a parameter of unknown value (or [interface.values]); {place}")
            )
        elif not executor.library.knows(each.name) and not (is_rte(each.name) and each.role):
            found.append(OpenFunction(each.name, each.role, f"{each.why}; {place}"))
    guessed = "a guess, for its result is used or it has pointers"
    variadic = {name for name, function in program.functions.items() if function.ctype.variadic}
    return tuple(
        replace(each, role="input", why=f"{guessed}; {each.why}")
        if guesses and not each.role and each.name not in variadic
        else each
        for each in found
    )


def shared_variables(facts: Facts, roots: Sequence[FunctionFacts]) -> dict[str, tuple[str, ...]]:
    """Inter-runnable variables that several runnables use: the functions that move each one, by its name.

    The functions are called ``Rte_IrvIRead_<runnable>_<variable>`` and alike.
    """
    runnables = sorted((function.name for function in facts.functions), key=len, reverse=True)
    groups: dict[str, dict[str, str]] = {}
    for name in (call.function for function in facts.reached(roots) for call in function.calls):
        match = re.fullmatch(r"Rte_IrvI?(?:Read|Write)_(\w+)", name)
        if match and facts.function(name) is None:
            runnable = next((r for r in runnables if match[1].startswith(f"{r}_")), match[1].rpartition("_")[0])
            groups.setdefault(match[1].removeprefix(f"{runnable}_"), {})[name] = runnable
    return {variable: tuple(uses) for variable, uses in groups.items() if len(set(uses.values())) > 1}


def _unset_inputs(model: CModel, facts: Facts, reading: Reading) -> dict[str, str]:
    """State that the step reads and never writes, and that nothing in the program gives a value: with the reason."""
    read = _read_by_step(model.system)
    written = {w.root for function, _ in reading.init for f in facts.reached([function]) for w in f.writes}
    only_read = _only_read(model, _structures(facts, reading.proposal))
    still = {var.name: var for var in model.system.state if var.next is var.symbol}
    found = {}
    for variable in model.variables:
        if variable.role != "state" or variable.name not in still or variable.name not in read:
            continue
        if variable.key[0] in only_read:
            found[variable.name] = "the step changes nothing of what it stands in"
        elif still[variable.name].init is None:
            found[variable.name] = "the step reads it, init leaves it open and the step never writes it"
        elif _is_free_global(variable, facts, written):
            found[variable.name] = "a global variable that nothing in the program writes"
    return found


def _read_by_step(system: TransitionSystem) -> set[str]:
    """The variables that the new values of others, validity or an assertion depend on."""
    terms = [var.next for var in system.state if var.next is not var.symbol]
    terms += [system.defined, *(each.formula for each in system.asserts)]
    return {symbol.symbol_name() for term in terms for symbol in symbols_of(term)}


def _only_read(model: CModel, structures: Collection[str]) -> set[MemObject]:
    """The objects named in ``structures`` of which the step changes nothing and which hold state alone."""
    changed = {var.name for var in model.system.state if var.next is not var.symbol}
    held = {variable.key[0] for variable in model.variables if variable.key[1] and variable.key[0].name in structures}
    return held - {v.key[0] for v in model.variables if v.name in changed or v.role != "state"}


_SETTINGS = re.compile(r"par(am|$)|prm|cfg|conf|cal(ib|$)|const|setting|prog|(^|_)P$", re.IGNORECASE)


def is_settings(what: Declared) -> bool:
    """Whether something holds settings, by its name or that of its type."""
    return bool(_SETTINGS.search(what.name) or _SETTINGS.search(what.type))


def _structures(facts: Facts, proposal: Proposal) -> set[str]:
    """The pointers of a step that may lead to inputs: not to what it cannot change, nor to settings by their names.

    And the objects that an init connects to those of a model.
    """
    pointers = [p for p in proposal.step.parameters if p.pointers and not p.const and not is_settings(p)]
    members = [m for p in pointers for m in facts.members(p.type) if not m.const and not is_settings(m)]
    return {p.name for p in pointers} | {proposal.connected.get(m.name, "") for m in members} - {""}


def _parameters(model: CModel, facts: Facts, proposal: Proposal) -> dict[str, str]:
    """In a program without inputs: what the step reads and nothing but init writes.

    Members behind the step's pointers, or else objects that have a value from the beginning.
    """
    reads: dict[str, set[str]] = {}
    for var in model.system.state:
        for symbol in symbols_of(var.next):
            reads.setdefault(symbol.symbol_name(), set()).add(var.name)
    still = {
        var.name for var in model.system.state if var.next is var.symbol and reads.get(var.name, set()) - {var.name}
    }
    behind, objects = dict[str, str](), dict[str, str]()
    for variable in model.variables:
        obj = facts.object(variable.key[0].symbol) if variable.key[0].kind == "global" else None
        if variable.name not in still:
            continue
        if variable.key[0].name in _structures(facts, proposal) and variable.key[1]:
            behind[variable.name] = "the step reads it and never writes it; there are no other inputs"
        elif obj is not None and obj.initialised and not obj.static:
            objects[variable.name] = "a parameter that nothing in the program writes; there are no other inputs"
    return behind or objects


def _is_free_global(variable: CVariable, facts: Facts, written: set[str]) -> bool:
    obj: ObjectFacts | None = facts.object(variable.key[0].symbol)
    if variable.key[0].kind != "global" or obj is None:
        return False
    return not (obj.static or obj.initialised or obj.what.name in written)

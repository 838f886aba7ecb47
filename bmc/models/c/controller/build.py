"""From C sources to a model: parse, run init and step symbolically, and classify the interface.

A program for other word sizes than those of this machine is read once more with these, with every ``#error`` (a check
of word sizes) passed over. If that gives the same transition system, term by term, the program means the same here, and
compiled here it is a faithful original; its memory layout is then that of this machine. Otherwise it needs a compiler
for its target: for ``ilp32`` that of this machine may do.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from pysmt.exceptions import PysmtTypeError

from bmc import ending
from bmc.errors import InputRefused, Location, SeveralRefused
from bmc.limits import TooLarge
from bmc.models.c.controller.binding import step_with_objects
from bmc.models.c.controller.environment import OutsideValue
from bmc.models.c.controller.interface import (
    assemble,
    check_outside,
    classify,
    open_volatile_inputs,
    volatile_notes,
    without_untouched,
)
from bmc.models.c.controller.model import CModel
from bmc.models.c.controller.reading import SourceConfig
from bmc.models.c.controller.registers import refuse_overlaps, register_notes, without_unused_registers
from bmc.models.c.controller.runs import Runs
from bmc.models.c.controller.turn_bounds import ended
from bmc.models.c.execute.access import Accesses
from bmc.models.c.execute.arithmetic import forget_intervals
from bmc.models.c.execute.inline_assembly import UnlistedAssembly, how_to_list
from bmc.models.c.execute.memory import MemObject
from bmc.models.c.source.headers import is_stub
from bmc.models.c.source.program import Function, Program
from bmc.models.c.source.types import FloatType, IntType, StructType, VoidType, data_model_of
from bmc.stack import with_deep_stack
from bmc.system.names import suggestion
from bmc.system.original import NativeInterface
from bmc.system.transition import TransitionSystem, ValueType

if TYPE_CHECKING:
    from bmc.models.c.source.survey import Survey

DEFAULT_STEP = "compute"


def read_c(config: SourceConfig, roots: Sequence[str] = ()) -> CModel:
    """Read a controller.

    ``roots`` are shell patterns of further functions (properties and the like) whose globals belong to the model.
    InputRefused and UnsupportedConstruct tell what cannot be read, and where; SeveralRefused where it is not one thing.
    """
    forget_intervals()
    try:
        model = with_deep_stack(lambda: _build(config, roots))
    except TooLarge:  # to read it once more would take as long again
        raise
    except InputRefused as error:
        first = error
        raise _noted(with_deep_stack(lambda: _survey(config, roots, first))) from None
    model.native = native_here(model, config, lambda other: with_deep_stack(lambda: _build(other, roots)))
    sizes, bounded = model.native.compilation.word_sizes, model.undetermined.bounded
    calls = tuple(replace(call, word_sizes=sizes) for call in bounded)
    called = tuple(sorted({call.function for call in calls}))
    model.undetermined = replace(model.undetermined, bounded=calls)
    model.native = replace(model.native, compilation=replace(model.native.compilation, called=called))
    return model


def _build(config: SourceConfig, roots: Sequence[str]) -> CModel:
    runs = Runs(config, roots)
    step = _step_function(runs.program, config)
    notes = []
    for name, ctype in step.ctype.parameters:
        runs.binding.add(name, ctype, step)
    if isinstance(step.ctype.result, IntType | FloatType):
        runs.result = MemObject("return", step.ctype.result, "return", step.name)
    elif not isinstance(step.ctype.result, VoidType):
        more = f": {step_with_objects(step)}" if isinstance(step.ctype.result, StructType) else ""
        notes.append(f"the result of '{step.name}' is not a scalar and is ignored{more}")
    open_volatile_inputs(runs.program, config)
    accesses = Accesses(-1)
    runs.executor.noted_in.append(accesses)
    after_init = runs.run_init(step)
    set_by_init, read_by_init = set(accesses.writes), set(accesses.early)
    runs.executor.representation.inputs_known = False
    result = ended(runs, step, runs.run_step(step, after_init))
    runs.executor.noted_in.remove(accesses)
    touched = accesses.reads | accesses.writes
    result = without_untouched(runs, result, {key[0] for key in touched})
    refuse_overlaps(runs.program, touched)
    result = without_unused_registers(runs.program, result, touched)
    roles = classify(runs, step, result)
    check_outside(runs, roles, result, read_by_init)
    result = runs.with_inputs(step, result, roles)
    notes += register_notes(runs.program, roles, runs.environment.valued | (set_by_init - read_by_init))
    notes += runs.environment.notes(set_by_init) + volatile_notes(runs.program, runs.init.used)
    model = assemble(runs, step, result, roles, notes)
    runs.executor.library.math.undetermined = None
    return model


def _noted(survey: Survey) -> InputRefused:
    """What a survey has noted; of a fault in a file that was guessed, that it is one of ours. All inline assembly that
    may be listed is in one line for the project file."""
    unlisted = [each for each in survey.errors if isinstance(each, UnlistedAssembly) and each.text]
    for assembly in unlisted:
        assembly.hint = how_to_list([each.text for each in unlisted])
    for each in survey.errors:
        if each.where is not None and not isinstance(each, OutsideValue) and is_stub(each.where.file):
            each.hint = "this file is a stub that 'chaincover init --stubs' guessed: correct it there"
    return survey.all()


def _survey(config: SourceConfig, roots: Sequence[str], first: InputRefused) -> Survey:
    """All that init and step of a program are refused for, as far as it can be told: what ``first`` says and more."""
    from bmc.models.c.source.survey import Survey  # which most runs do not need

    survey = Survey()
    survey.add(first)
    try:
        _fill(survey, config, roots)
    except KeyboardInterrupt:
        if not ending.called_off():
            raise
        survey.add(InputRefused(f"the list is not complete: {ending.called_off()}", None, "allow more time"))
    forget_intervals()
    return survey


def _fill(survey: Survey, config: SourceConfig, roots: Sequence[str]) -> None:
    """Note in ``survey`` all that init and step are refused for."""
    from bmc.models.c.source.survey import apart

    with apart(), suppress(Exception):  # guesses break what the executor relies on; then the list ends there
        runs = Runs(config, roots, survey)
        step = _step_function(runs.program, config)
        for name, ctype in step.ctype.parameters:
            with survey.gathered():
                runs.binding.add(name, ctype, step)
        with suppress(Exception):
            runs.run_init(step)
        result = runs.run_step(
            step, {key: cell for key, cell in runs.init.memory.items() if key[0].kind != "automatic"}
        )
        if not survey.cut:  # else what defines an object may have been left out
            try:
                check_outside(runs, classify(runs, step, result), result, ())
            except InputRefused as error:  # others may come of guesses
                for each in error.errors if isinstance(error, SeveralRefused) else (error,):
                    if isinstance(each, OutsideValue):
                        survey.add(each)


def _step_function(program: Program, config: SourceConfig) -> Function:
    name = config.step or DEFAULT_STEP
    step = program.function(name)
    if step is None:
        names = [f.name for f in program.defined_functions() if f.name != "main"]
        if config.step:
            raise InputRefused(f"no step function '{name}'", config.where, suggestion(name, names))
        known = f"(defined here: {', '.join(names[:8]) or 'none'})"
        if config.where is not None:
            text = f"no step function: functions.step is not set, and there is no '{DEFAULT_STEP}'"
            raise InputRefused(text, config.where, f"set functions.step {known}")
        raise InputRefused(
            f"no step function: without a project file it must be called '{DEFAULT_STEP}'",
            Location(config.files[0]),
            f"run 'chaincover init {config.files[0]}' and set functions.step {known}",
        )
    return step


# other word sizes than those of this machine


def this_machine() -> str:
    """The word sizes of this machine's C compiler, '' where they are none of ``DATA_MODELS``."""
    kinds = (ctypes.c_short, ctypes.c_int, ctypes.c_long, ctypes.c_longlong, ctypes.c_void_p)
    return data_model_of(*map(ctypes.sizeof, kinds))


def native_here(model: CModel, config: SourceConfig, read: Callable[[SourceConfig], CModel]) -> NativeInterface:
    """How to build and call the original on this machine; one that is refused where the original would differ.

    ``read`` reads a configuration into a model.
    """
    here = this_machine()
    if config.target == here:
        return model.native
    try:
        other = read(replace(config, target=here, pass_errors=True))
        why = difference(model.system, other.system)
    except InputRefused as error:
        first = error.errors[0] if isinstance(error, SeveralRefused) else error
        why = str(first).partition("\n")[0]
    except PysmtTypeError:  # a variable of one name has two types
        why = "variables have other sizes"
    from bmc.native.narrow import OPTIONS  # which programs for this machine do without

    if why and config.target in OPTIONS:
        return replace(model.native, compilation=replace(model.native.compilation, word_sizes=config.target))
    if why:
        text = f"the replay needs a compiler for the word sizes {config.target}; with this machine's ({here}): {why}"
        return replace(model.native, refusal=text)
    return replace(other.native, compilation=replace(other.native.compilation, pass_errors=True))


def difference(first: TransitionSystem, second: TransitionSystem) -> str:
    """Where two systems over the same symbols differ, '' if they are the same term by term."""
    names, others = _names(first), _names(second)
    if names != others:
        only = sorted(set(names) ^ set(others))
        return f"there are other variables ({', '.join(only[:4])})"
    for (name, left), (_, right) in zip(_parts(first), _parts(second), strict=True):
        if left != right:
            return f"{name} differs"
    return ""


def _names(system: TransitionSystem) -> list[str]:
    return [var.name for var in system.state] + [var.name for var in system.inputs]


def _parts(system: TransitionSystem) -> Iterator[tuple[str, object]]:
    """All that makes up a system's behaviour, with names for the user; terms are shared, so that equal ones are one."""
    for var in system.state:
        yield f"the type of '{var.name}'", _kind(var.type)
        yield f"'{var.name}' after init", (var.init, var.starts)
        yield f"'{var.name}' after a step", var.next
    for given in system.inputs:
        yield f"the type of '{given.name}'", _kind(given.type)
        yield f"the range of '{given.name}'", given.values
    yield "where behaviour is undefined", system.defined
    yield "what inputs are allowed", system.input_constraint
    yield "what is asserted", tuple(each.formula for each in system.asserts)
    yield "what the tester chooses", system.chosen


def _kind(vtype: ValueType) -> tuple[int, bool, object, bool]:
    return vtype.bits, vtype.signed, vtype.labels, vtype.floating

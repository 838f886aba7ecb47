"""The interface of a program: which cells are inputs, state and outputs, with their allowed values.

Also what lies outside of it: objects that no source defines, volatile ones, and what pointer members point to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from pysmt.fnode import FNode
from pysmt.shortcuts import BVULE, FALSE, TRUE

from bmc.errors import InputRefused, Location, Refusals
from bmc.formulas.terms import constant
from bmc.models.c.controller.binding import as_scalar, with_targets
from bmc.models.c.controller.environment import OutsideValue, undefined_object
from bmc.models.c.controller.model import CModel, Memory
from bmc.models.c.controller.pointers import native_pointer, pointed_objects
from bmc.models.c.controller.ranges import FloatReader, ProjectRanges, only_named
from bmc.models.c.controller.reading import SourceConfig
from bmc.models.c.controller.registers import unplaced
from bmc.models.c.controller.runs import Runs
from bmc.models.c.execute.math_library import FUNCTIONS, OPEN, UNKNOWN
from bmc.models.c.execute.memory import UNDEFINED, Content, Key, MemObject
from bmc.models.c.execute.recorder import StepResult, is_volatile, is_written, read_names
from bmc.models.c.execute.variables import CVariable, is_variable, number_of, variable_name, variable_type
from bmc.models.c.source.program import Function, Program
from bmc.models.c.source.types import (
    ArrayType,
    CType,
    DataModel,
    FloatType,
    IntType,
    PointerType,
    StructType,
    bit_offset_of,
    offset_of,
    scalars,
    size_of,
)
from bmc.models.undetermined import LibraryCall, without_undetermined
from bmc.native.assembly import instructions
from bmc.system.names import DEFINED, matching, suggestion
from bmc.system.original import Argument, Call, Cell, Compilation, Link, MemoryObject, NativeInterface, ZeroSum
from bmc.system.transition import BOOLEAN, Condition, InputVariable, StateVariable, TransitionSystem


def classify(runs: Runs, step: Function, result: StepResult) -> dict[Key, str]:
    """The role of every variable, in the order in which variables are listed."""
    keys = _variable_keys(runs, step, result)
    return _roles(runs, keys, result)


def assemble(runs: Runs, step: Function, result: StepResult, roles: dict[Key, str], notes: Sequence[str]) -> CModel:
    """The model from the finished symbolic runs of init and step."""
    keys = list(roles)
    variables = tuple(CVariable(variable_name(*key), key, variable_type(key), roles[key]) for key in keys)
    shadowed = frozenset(variable_name(*key) for key in result.shadowed if roles.get(key) not in (None, "input"))
    base = {key: content for key, content in result.start.items() if key not in roles}
    model = CModel(
        program=runs.program,
        executor=runs.executor,
        memory=Memory(step.name, runs.binding.names(), variables, shadowed, base),
        system=TransitionSystem(runs.config.name, (), ()),
        config=runs.config,
        native=_native(runs, step, variables),
        notes=(*runs.program.header_notes, *notes, *_notes(runs, variables, result)),
        recorder=result.recorder,
    )
    starts = {
        variable.name: [part for part in (number_of(variable.key, start), start.defined) if part is not None]
        for variable in variables
        if (start := result.start.get(variable.key)) is not None and runs.undetermined
    }
    model.system = _system(runs, model, result)
    _check_bounds(runs.config)
    calls = [_bounded(call, model, runs) for call in runs.undetermined.values()]
    model.system, model.undetermined = without_undetermined(model.system, starts, calls)
    model.notes += model.undetermined.notes
    return model


def _check_bounds(config: SourceConfig) -> None:
    """Only what depends on the library has bounds."""
    for name, (_, place) in config.bounds.items():
        if name not in OPEN:
            text = f"'{name}' is none of the functions whose results depend on the library"
            raise InputRefused(text, place, suggestion(name, [*OPEN]))


def _bounded(call: LibraryCall, model: CModel, runs: Runs) -> LibraryCall:
    """``call`` with the bounds that the project gives its values; what init calls has none."""
    text, place = runs.config.bounds.get(call.function, ("", None))
    if place is None or call.name in runs.init.undetermined:
        return call
    ranges = FloatReader(model, call.function, call.value_type, place).ranges(text)
    return replace(call, ranges=ranges, bounded=place)


def _variable_keys(runs: Runs, step: Function, result: StepResult) -> list[Key]:
    used = set(runs.used_names(step))
    roots = [*runs.init.used, *(obj for obj, _ in result.start if obj.kind != "global")]
    reached = set(with_targets(roots, result.start))
    keys = [
        k for k in result.start if is_variable(k) and (k[0].kind != "global" or k[0].symbol in used or k[0] in reached)
    ]
    order = {"argument": 0, "pointee": 0}
    keys.sort(key=lambda k: order.get(k[0].kind, 1))
    return [*keys, (runs.result, ())] if runs.result is not None else keys


# roles


def _roles(runs: Runs, keys: Sequence[Key], result: StepResult) -> dict[Key, str]:
    """Role of each variable: as the project says, else by the rules of docs/reference/project-file.md."""
    config = runs.config
    names = {variable_name(*key): key for key in keys}
    roles: dict[Key, str] = {}
    for role, patterns in (
        ("ignored", config.ignore),
        ("input", config.input),
        ("output", config.output),
        ("state", config.state),
    ):
        for name in matching(patterns, list(names), config.where, what=f"{role} variable"):
            roles.setdefault(names[name], role)
    guess = _Guess(runs, keys, result)
    return {key: roles.get(key) or runs.environment.role(key) or guess.role(key) for key in keys}


class _Guess:
    """Roles that the project leaves open."""

    def __init__(self, runs: Runs, keys: Sequence[Key], result: StepResult) -> None:
        self.runs = runs
        self.result = result
        self.written = {key for key in keys if key in result.final and is_written(key, result)}
        self.written_objects = {key[0] for key in self.written}
        functions = [runs.program.function(call.function) for call in runs.init.calls]
        self.in_init = {
            match
            for f in functions
            if f is not None
            for name, ctype in f.ctype.parameters
            if (match := runs.binding.bound.get((f.name, name)) or runs.binding.match(name, ctype)) is not None
        }
        self.read = read_names(result)

    def role(self, key: Key) -> str:
        obj = key[0]
        if obj.kind == "argument":
            return "input"
        if obj.kind == "return":
            return "output"
        if obj.kind == "pointee" and obj not in self.written_objects:
            if obj.name in self.runs.binding.const or obj.name not in self.in_init:
                return "input"
        elif key in self.written and variable_name(*key) not in self.read and obj.kind != "local":
            return "output"
        return "state"


def _notes(runs: Runs, variables: Sequence[CVariable], result: StepResult) -> list[str]:
    """Remarks on what was guessed and may surprise."""
    config, notes = runs.config, runs.executor.prototypes.notes()
    names = [variable.name for variable in variables if variable.role != "input"]
    chosen = matching(config.chosen, names, config.where, "state variable")
    for variable in variables:
        if variable.role != "state" or variable.key not in result.final or is_written(variable.key, result):
            continue
        start = result.start.get(variable.key)
        if (start is not None and start.defined.is_true()) or variable.name in chosen:
            notes.append(
                f"'{variable.name}' is never changed by the step; if the environment sets it, declare it as input"
            )
        else:
            notes.append(
                f"'{variable.name}' is set neither by init nor by the step, so that reading it is undefined behaviour; "
                "if the environment sets it, declare it as input"
            )
    return notes


# the transition system


def _system(runs: Runs, model: CModel, result: StepResult) -> TransitionSystem:
    config = runs.config
    ranges = ProjectRanges(model, config)
    model.range_texts, model.exclusions = ranges.texts, tuple(ranges.exclusions())
    state: list[StateVariable] = []
    invariants: list[Condition] = []
    for variable in model.variables:
        if variable.role == "input":
            continue
        state.extend(_state_variables(variable, model, result, ranges))
        if isinstance(variable.ctype, IntType) and variable.ctype.is_bool and variable.ctype.bits > 1:
            name = f"{variable.name} is 0 or 1"
            content = model.memory.content(variable, None)
            assert isinstance(content.term, FNode)
            invariants.append(Condition(name, BVULE(content.term, constant(1, variable.ctype.bits))))
        if variable.type.is_pointer:
            most = len(variable.type.labels) - 1
            symbol = variable.type.symbol(variable.name)
            invariants.append(Condition(f"{variable.name} points somewhere", BVULE(symbol, constant(most, 8))))
    inputs = tuple(InputVariable(v.name, v.ctype.value_type(), ranges.allowed(v)) for v in model.inputs)
    model.notes += tuple(
        f"'{variable.name}' is set by the program: a range restricts nothing, but gives states() the values"
        for variable in model.variables
        if variable.name in model.range_texts and variable.role != "input" and variable.name not in ranges.chosen
    )
    model.notes += tuple(
        f"'{name}' is given no values but those that the type names; [ranges] can widen them"
        for name in only_named(model)
    )
    fixed = {variable.name for variable in state if variable.init is not None}
    model.notes += tuple(
        f"'{text}' is set by init: interface.chosen leaves the tester nothing to choose there"
        for text in config.chosen
        if {*matching([text], [v.name for v in state], config.where, "state variable")} <= fixed
    )
    recorder = result.recorder
    system = TransitionSystem(
        name=config.name,
        state=tuple(state),
        inputs=inputs,
        defined=recorder.defined,
        asserts=tuple(recorder.asserts),
        undefined_behaviour=(*recorder.undefined_behaviour, *recorder.too_many_turns),
        assumptions=tuple(recorder.assumptions),
        invariants=tuple(invariants),
        chosen=tuple(
            name
            for name in matching(config.chosen, [v.name for v in state], config.where, "state variable")
            if name not in fixed
        ),
    )
    model.system = system
    return replace(system, input_constraint=ranges.constraint(inputs))


def _state_variables(
    variable: CVariable, model: CModel, result: StepResult, ranges: ProjectRanges
) -> list[StateVariable]:
    start = result.start.get(variable.key, Content((), FALSE()))
    final = result.final[variable.key]
    number = number_of(variable.key, final)
    assert number is not None or final.defined.is_false()
    next_term = number if number is not None else variable.type.symbol(variable.name)
    is_open = not start.defined.is_true()
    init = None if is_open else number_of(variable.key, start)
    low, high = ranges.bounds(variable)
    kind, starts = variable.ctype.value_type(), ranges.starts(variable) if init is None else ()
    made = [StateVariable(variable.name, kind, init, next_term, variable.role, low, high, starts)]
    if variable.name in model.memory.shadowed:
        chosen = variable.name in ranges.chosen
        first = TRUE() if chosen or not is_open else FALSE()
        made.append(StateVariable(variable.name + DEFINED, BOOLEAN, first, final.defined, "internal"))
    return made


# the compiled original


def _native(runs: Runs, step: Function, variables: Sequence[CVariable]) -> NativeInterface:
    data = runs.program.model
    config = runs.config
    wanted: dict[MemObject, None] = dict.fromkeys(runs.binding.objects.values())
    wanted.update({v.key[0]: None for v in variables})
    pointers = {v.name: native_pointer(v.key, f"number of {v.name}", data) for v in variables if v.type.is_pointer}
    wanted.update(dict.fromkeys(pointed_objects(variables)))
    objects = (
        *(
            MemoryObject(obj.name, "register", _size(obj, runs), address=runs.program.registers[obj])
            if obj in runs.program.registers
            else MemoryObject(
                obj.name, _native_kind(obj), _size(obj, runs), obj.symbol or obj.name, obj.function, obj.file
            )
            for obj in wanted
        ),
        *(MemoryObject(pointer.number, "number", 1) for pointer in pointers.values()),
    )
    cells = tuple(
        Cell(v.name, pointers[v.name].number, 0, 1) if v.name in pointers else _cell(v, data) for v in variables
    )
    arguments = tuple(_step_argument(runs, name) for name, _ in step.ctype.parameters)
    call = Call(step.name, arguments, *_returns(runs.result))
    compilation = Compilation(
        config.files,
        config.include,
        config.defines,
        runs.program.stand_ins,
        runs.environment.text(runs.init.outside),
        tuple(sorted({f.name for f in runs.program.defined_functions()} & (UNKNOWN | FUNCTIONS.keys()))),
        tuple(ZeroSum(u.source.file, u.zero_sum, u.narrowed) for u in runs.program.units if u.zero_sum is not None),
        options=tuple(sorted(config.options.items())),
        assembly=tuple(sorted(map(instructions, config.assembly))),
    )
    links = tuple(
        Link(obj.name, offset_of(obj.ctype, path, data), target.name)
        for (obj, path), target in runs.binding.members.items()
    )
    return NativeInterface(
        compilation,
        objects,
        cells,
        tuple(runs.init.calls),
        call,
        links,
        unplaced(runs.environment.externs, runs.program),
        tuple(pointers.values()),
    )


def _native_kind(obj: MemObject) -> str:
    """The kind of an object in the compiled original: constants lie where other objects do."""
    return ("local" if obj.function else "global") if obj.kind == "constant" else obj.kind


def _cell(variable: CVariable, data: DataModel) -> Cell:
    obj, path = variable.key
    offset, first = divmod(bit_offset_of(obj.ctype, path, data), 8)
    bits, floating = variable.ctype.bits, variable.ctype.value_type().floating
    width = bits if first or bits % 8 else 0
    return Cell(variable.name, obj.name, offset, (first + bits + 7) // 8, floating, first, width)


def _size(obj: MemObject, runs: Runs) -> int:
    try:
        return size_of(obj.ctype, runs.program.model)
    except InputRefused:
        return runs.program.model.pointer // 8


def _returns(result: MemObject | None) -> tuple[str, bool]:
    """The object that receives the step's result, and whether it is floating."""
    return ("", False) if result is None else (result.name, isinstance(result.ctype, FloatType))


def _step_argument(runs: Runs, name: str) -> Argument:
    obj = runs.binding.objects[name]
    if name in runs.binding.pointers:
        return Argument("address", obj.name)
    assert isinstance(obj.ctype, IntType | FloatType)
    return as_scalar(obj.ctype, obj.name)


def check_outside(runs: Runs, roles: Mapping[Key, str], result: StepResult, read_by_init: Iterable[Key]) -> None:
    """Refuse all values from outside that init or step read and the project does not describe.

    Such are objects that no source defines, and volatile ones that any access reads before they are written;
    ``read_by_init`` are those that init so reads. What the project lists under ``interface.state`` keeps its
    value; what it gives a value in ``interface.values`` has it.
    """
    config, environment = runs.config, runs.environment
    names = {variable_name(*key): key for key in roles}
    described = {names[name] for name in matching(config.state, list(names), config.where, "state variable")}
    described |= environment.valued
    read = read_names(result)

    def unknown(key: Key) -> bool:
        return roles.get(key) == "state" and key not in described and variable_name(*key) in read

    refusals = Refusals()
    for obj in environment.externs:
        keys = [(obj, path) for path, _ in scalars(obj.ctype)]
        if obj in runs.program.registers:  # a volatile one is told below, as any other
            for key in keys:
                if unknown(key) and not is_volatile(key, runs.executor.through_volatile):
                    refusals.add(_undescribed(key, runs.program.registers[obj], is_written(key, result)))
            continue
        if not keys or isinstance(obj.ctype, PointerType) or any(unknown(key) for key in keys):
            refusals.add(undefined_object(obj))
    early = set(read_by_init)
    for key in result.final:
        if key not in roles or key in described or not is_volatile(key, runs.executor.through_volatile):
            continue
        place = result.recorder.unwritten.get(key)
        if key in early:
            refusals.add(_volatile_in_init(key))
        elif roles[key] != "input" and (place is not None or variable_name(*key) in read):
            refusals.add(_volatile_in_step(key, is_written(key, result), place))
    refusals.refuse()


def _undescribed(key: Key, address: int, written: bool) -> OutsideValue:
    error = OutsideValue(
        f"'{variable_name(*key)}' is in a register at {address:#x}, and the project does not say what it holds",
        key[0].declared,
        "list it in interface.input (one value per step), or in interface.state (it keeps its value)",
    )
    error.pattern, error.kept = variable_name(*key), written
    return error


def _volatile_in_step(key: Key, written: bool, place: Location | None) -> OutsideValue:
    at = f" (at {place})" if place is not None else ""
    way = "is read before the step writes it" if written else "is read, and the step never writes it"
    error = OutsideValue(
        f"the volatile object '{variable_name(*key)}' {way}{at}: what it holds comes from outside",
        key[0].declared,
        "list it in interface.input (one value per step), or in interface.state (it keeps its value)",
    )
    error.pattern, error.kept = variable_name(*key), written
    return error


def _volatile_in_init(key: Key) -> OutsideValue:
    error = OutsideValue(
        f"init reads the volatile object '{variable_name(*key)}' before writing it: what it holds comes from outside, "
        "and no input has a value before the first step",
        key[0].declared,
        "leave that out of init, or list it in interface.state if it keeps its value",
    )
    error.pattern, error.kept = variable_name(*key), True
    return error


def volatile_notes(program: Program, used: Iterable[MemObject]) -> list[str]:
    """How volatile objects are read."""
    found = set(volatile_objects(program)) & set(used)
    constants = sorted(obj.name for obj in found if obj.const)
    others = sorted(obj.name for obj in found if not obj.const)
    notes = []
    if constants:
        notes.append(f"const volatile, taken as constant: {', '.join(constants)} (an input with interface.input)")
    if others:
        notes.append(f"volatile, read like other memory (an input: one value per step): {', '.join(others)}")
    return notes


def open_volatile_inputs(program: Program, config: SourceConfig) -> None:
    """Let ``const volatile`` objects change from outside where the project lists them as inputs."""
    for obj in volatile_objects(program):
        names = [variable_name(obj, path) for path, _ in scalars(obj.ctype)]
        if obj.const and any(_selects(pattern, names, config) for pattern in config.input):
            obj.const, obj.kind = False, "global"


def _selects(pattern: str, names: list[str], config: SourceConfig) -> bool:
    try:
        return bool(matching([pattern], names, config.where, "input variable"))
    except InputRefused:
        return False


def volatile_objects(program: Program) -> list[MemObject]:
    """File-scope objects that are declared volatile, or with a volatile member."""
    objects = (obj for unit in program.units for obj in unit.scope.names.values() if isinstance(obj, MemObject))
    return list(dict.fromkeys(obj for obj in objects if obj.volatile or _has_volatile_member(obj.ctype)))


def _has_volatile_member(ctype: CType) -> bool:
    todo, seen = [ctype], {ctype}
    while todo:
        ctype = todo.pop()
        while isinstance(ctype, ArrayType):
            ctype = ctype.element
        members = (ctype.fields or []) if isinstance(ctype, StructType) else []
        if any(member.volatile for member in members):
            return True
        todo += [member.type for member in members if member.type not in seen]
        seen.update(member.type for member in members)
    return False


def without_untouched(runs: Runs, result: StepResult, touched: set[MemObject]) -> StepResult:
    """The run without the objects behind pointer members that neither init nor the step came to."""
    binding = runs.binding
    touched = touched | {obj for key in result.start for each in key[0].pointees.values() for obj, _ in each if obj}
    gone = {obj for obj in binding.members.values() if obj not in touched}
    if not gone:
        return result
    ways = {key for key, obj in binding.members.items() if obj in gone}
    binding.forget(gone)

    def lost(key: Key, cell: object) -> bool:
        """Whether a pointer still points to what is left out: init may have made it point elsewhere."""
        term = cell.term if isinstance(cell, Content) and key in ways else None
        return isinstance(term, tuple) and any(target.object in gone for target in term)

    def kept(cells: Mapping[Key, object]) -> dict[Key, object]:
        return {key: UNDEFINED if lost(key, cell) else cell for key, cell in cells.items() if key[0] not in gone}

    return replace(
        result,
        start=kept(result.start),  # type: ignore[arg-type]
        final=kept(result.final),  # type: ignore[arg-type]
        shadowed=frozenset(key for key in result.shadowed if key[0] not in gone),
    )

"""The symbolic runs of a controller: its init functions, then one step, with what each reads and writes."""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from pysmt.fnode import FNode

from bmc.errors import InputRefused, Refusals
from bmc.formulas.evaluate import names_in
from bmc.formulas.terms import TRUE, is_true, negate
from bmc.models.c.controller.binding import Binding, as_argument, called_names, reachable_functions, with_targets
from bmc.models.c.controller.environment import Environment, undefined_object
from bmc.models.c.controller.pointers import name_pointees, note_pointees, without_dangling
from bmc.models.c.controller.ranges import input_limits
from bmc.models.c.controller.reading import SourceConfig, read_program
from bmc.models.c.controller.registers import registers_in
from bmc.models.c.execute.access import Accesses
from bmc.models.c.execute.initialise import zero
from bmc.models.c.execute.memory import Content, Key, MemObject, State, Value
from bmc.models.c.execute.recorder import Recorder, StepResult, undefined_in_init
from bmc.models.c.execute.turns import FIRST, Unlimited
from bmc.models.c.execute.variables import is_variable, symbol_content, variable_name
from bmc.models.c.source.program import Function, Scope, parse_text, where
from bmc.models.c.source.types import FloatType, IntType, PointerType, scalars, type_at
from bmc.models.undetermined import LibraryCall, Undetermined, refuse_needed, undefined_places
from bmc.records import dataclass
from bmc.system.names import matching, suggestion
from bmc.system.original import Argument, Call

if TYPE_CHECKING:
    from bmc.models.c.source.survey import Survey

DEFAULT_INIT = "init"


@dataclass(eq=False)
class Init:
    """What init does, as far as it was run.

    ``used`` are the file-scope objects that init and step come to, ``outside`` the start values of what no source
    defines. ``memory`` is that after init. ``undetermined``: the symbols of the calls whose results depend on the
    library.
    """

    calls: list[Call] = field(default_factory=list)
    used: list[MemObject] = field(default_factory=list)
    outside: dict[Key, Content] = field(default_factory=dict)
    memory: Mapping[Key, Content] = field(default_factory=dict)
    undetermined: frozenset[str] = frozenset()


class Runs:
    """Runs the init functions of a program and its step function; ``binding`` says what their parameters stand for."""

    def __init__(self, config: SourceConfig, roots: Sequence[str], survey: Survey | None = None) -> None:
        self.config = config
        self.program, self.executor, self.start = read_program(config, survey)
        self.roots = [f for f in self.program.defined_functions() if any(fnmatch.fnmatchcase(f.name, r) for r in roots)]
        self.environment = self.executor.environment = Environment(config, self.program, self.executor)
        self.binding = Binding()
        self.init = Init()
        self.result: MemObject | None = None
        self.inputs: frozenset[Key] = frozenset()
        self.limits: dict[object, int] = {}
        """The turns of each loop, and the depth of each recursion, that do not end by themselves."""
        self.bounds = TRUE()
        """What holds in every reachable state, and ends loops and recursion."""

    # init

    def run_init(self, step: Function) -> dict[Key, Content]:
        """Memory after init: file-scope objects from their start values, pointees undefined until init sets them."""
        calls = self.config.init
        if calls is None:
            calls = (DEFAULT_INIT,) if self.program.function(DEFAULT_INIT) else ()
        prepared = [self._prepare_init(text) for text in calls]
        self.binding.connect()
        functions, objects = self._reached([step, *(function for function, _, _ in prepared), *self.roots])
        self.init.used = with_targets(objects, self.start)
        self.environment.discover(functions, self.init.used)
        state = State(dict(self.start))
        self.init.outside = self.environment.start(step.unit)
        state.cells.update(self.init.outside)
        for obj in self.binding.objects.values():
            for path, _ in scalars(obj.ctype):
                state.cells[obj, path] = Content((), negate(TRUE()))
        self._clear(state)
        state.cells.update(self.binding.pointer_cells())
        self.init.memory = state.cells
        recorder = self.executor.recorder = Recorder()
        self.executor.library.math.undetermined = []
        self.environment.initialising = True
        accesses = Accesses(-1)
        self.executor.noted_in.append(accesses)
        for function, node, scope in prepared:
            arguments = self._init_arguments(function, node, scope, state)
            self.init.calls.append(Call(function.name, tuple(self._native_arguments(function, arguments, node))))
            self.executor.invoke(function, arguments, state, node or function.node)
        self.environment.initialising = False
        self.init.undetermined = frozenset(self.undetermined)
        self.executor.noted_in.remove(accesses)
        if recorder.undefined_behaviour:
            self._refuse_missing(accesses.early)
            known = {name: frozenset([name]) for name in self.undetermined}
            refuse_needed(Undetermined(self.undetermined, known), undefined_places(recorder.undefined_behaviour))
            raise undefined_in_init(recorder.undefined_behaviour[0])
        kept = {key: c for key, c in state.cells.items() if key[0].kind != "automatic"}
        return {key: self._constant_cell(key, content) for key, content in kept.items()}

    def _refuse_missing(self, read: Collection[Key]) -> None:
        """Refuse the objects that no source defines among what init has ``read``, and that have no value."""
        unset = {key[0] for key in read if key in self.init.outside and not is_true(self.init.outside[key].defined)}
        refusals = Refusals()
        for obj in self.environment.externs:
            if obj in unset:
                refusals.add(undefined_object(obj, in_init=True))
        refusals.refuse()

    def _clear(self, state: State) -> None:
        """Set what the project lists under ``interface.zeroed`` to 0."""
        behind = [(obj, path) for obj in self.binding.objects.values() for path, _ in scalars(obj.ctype)]
        names = {variable_name(*key): key for key in behind if key[0].kind == "pointee"}
        for name in matching(self.config.zeroed, list(names), self.config.where, "variable behind a pointer"):
            obj, path = names[name]
            state.cells[obj, path] = zero(type_at(obj.ctype, path))

    @property
    def undetermined(self) -> dict[str, LibraryCall]:
        """The calls whose results depend on the library, by the names of these."""
        calls = self.executor.library.math.undetermined or []
        return {call.symbol.symbol_name(): call for call in calls}

    def _constant_cell(self, key: Key, content: Content) -> Content:
        if isinstance(content.term, tuple) or names_in([content.term, content.defined]) & self.undetermined.keys():
            return content
        if not content.defined.is_constant() or (is_true(content.defined) and not content.term.is_constant()):
            raise InputRefused(f"the value of '{key[0].name}' after init is not a constant")
        return content

    def _prepare_init(self, text: str) -> tuple[Function, Any, Scope]:
        """An init entry (a name or a call) as function, call node and scope."""
        name = text.split("(")[0].strip()
        function = self.program.function(name)
        if function is None:
            names = [f.name for f in self.program.defined_functions()]
            raise InputRefused(f"no init function '{name}'", self.config.where, suggestion(name, names))
        node = None
        if "(" in text:
            file = self.config.where.file if self.config.where else "functions.init"
            tree = parse_text(f"void chaincover_init(void) {{ {text.rstrip(';')}; }}", file)
            node = tree.ext[-1].body.block_items[0]
        if node is None:
            self.binding.bind(function)
        return function, node, Scope(function.unit.scope, dict(self.binding.names()))

    def _init_arguments(self, function: Function, node: Any, scope: Scope, state: State) -> list[Any]:
        if node is not None:
            return self.executor.arguments(node, scope, state)
        values: list[Any] = []
        for name, ctype in function.ctype.parameters:
            known = self.binding.bound.get((function.name, name))
            if known is not None:
                assert isinstance(ctype, PointerType)
                values.append(Value(self.binding.address(known), ctype))
            else:
                raise InputRefused(
                    f"the parameter '{name}' of '{function.name}' has no value",
                    self.config.where or where(function.node),
                    f'write the call with its arguments in functions.init: "{function.name}(...)"',
                )
        return values

    def _native_arguments(self, function: Function, values: list[Any], node: Any) -> list[Argument]:
        typed = []
        for value, (_, ctype) in zip(values, function.ctype.parameters, strict=False):
            place = node or function.node
            typed.append(as_argument(self.executor.as_type(value, ctype, place, State()), self.program.model, place))
        return typed

    # step

    def run_step(self, step: Function, after_init: dict[Key, Content]) -> StepResult:
        """The step's symbolic run, repeated until no new static local and nothing new to point to turns up."""
        name_pointees(self.config, after_init, self.executor, step)
        while True:
            result = self._with_shadows(step, after_init)
            late = [k for k in self.executor.static_cells if k[0].persistent and k not in after_init]
            if not note_pointees(result, self.program.model, step) and not late:
                return result
            after_init.update({k: self.executor.static_cells[k] for k in late})

    def with_inputs(self, step: Function, result: StepResult, roles: Mapping[Key, str]) -> StepResult:
        """The run of the step in which the inputs, now that ``roles`` names them, are always set."""
        representation = self.executor.representation
        self.inputs = frozenset(key for key, role in roles.items() if role == "input")
        representation.inputs_known = True
        if not self.inputs & result.shadowed and not representation.assumed:
            return result
        representation.assumed = False
        return self.run_step(step, dict(result.start))

    def _with_shadows(self, step: Function, after_init: dict[Key, Content]) -> StepResult:
        """Run the step; what may be unset at its start or end gets a definedness bit, until none is missing."""
        shadowed = self._open(after_init) | (frozenset([(self.result, ())]) if self.result else frozenset())
        while True:
            self.executor.representation.begin(key[0] for key in self.inputs)
            final, recorder = self._limited(step, after_init, shadowed)
            if self.executor.representation.stale:
                continue
            if self._open(final) <= shadowed:
                return StepResult(after_init, final, shadowed, recorder)
            shadowed |= self._open(final)

    def _limited(
        self, step: Function, after_init: dict[Key, Content], shadowed: frozenset[Key]
    ) -> tuple[dict[Key, Content], Recorder]:
        """One run of the step, with a limit on each loop that does not end by itself."""
        turns = self.executor.turns
        turns.limits = self.limits
        try:
            while True:
                try:
                    return self._run_step(step, after_init, shadowed)
                except Unlimited as found:
                    self.limits[found.node] = FIRST
        finally:
            turns.limits = None

    def _open(self, cells: dict[Key, Content]) -> frozenset[Key]:
        """The variables other than inputs that may be undefined."""
        found = (k for k, c in cells.items() if not is_true(c.defined) and is_variable(k))
        return frozenset(k for k in found if k not in self.inputs)

    def _run_step(
        self, step: Function, after_init: dict[Key, Content], shadowed: frozenset[Key]
    ) -> tuple[dict[Key, Content], Recorder]:
        cells = dict(after_init)
        for key in after_init:
            if is_variable(key):
                cells[key] = symbol_content(key, key in shadowed)
        calls = self.undetermined
        self.executor.library.math.undetermined = [calls[name] for name in calls if name in self.init.undetermined]
        recorder = self.executor.recorder = Recorder(limits=input_limits(self.config, after_init), bounds=self.bounds)
        state = State(cells)
        arguments: list[Any] = []
        for name, ctype in step.ctype.parameters:
            if name in self.binding.pointers:
                assert isinstance(ctype, PointerType)
                arguments.append(Value(self.binding.address(name), ctype))
            else:
                assert isinstance(ctype, IntType | FloatType)
                content = state.cells[self.binding.objects[name], ()]
                assert isinstance(content.term, FNode)
                arguments.append(Value(content.term, ctype))
        value = self.executor.invoke(step, arguments, state, step.node)
        if self.result is not None and isinstance(value, Value):
            state.cells[self.result, ()] = Content(value.term, TRUE())
        return without_dangling(state.cells), recorder

    def _reached(self, roots: list[Function]) -> tuple[list[Function], list[MemObject]]:
        """``roots`` and all functions that they call or point to, and the file-scope objects whose names these use."""
        while True:
            functions = reachable_functions(roots)
            named = [f.unit.scope.names.get(name) for f in functions for name in called_names(f.node)]
            named += registers_in(self.program, functions)
            objects = list(dict.fromkeys(obj for obj in named if isinstance(obj, MemObject)))
            function_of = self.executor.function_of
            pointed = with_targets(objects, self.start) if function_of else []
            roots = [*functions, *(function_of[obj] for obj in pointed if obj in function_of)]
            if set(roots) == set(functions):
                return functions, objects

    def used_names(self, step: Function) -> list[str]:
        """Identifiers used by the step, init and property functions and all that they call."""
        inits = [f for f in (self.program.function(c.function) for c in self.init.calls) if f is not None]
        reached, _ = self._reached([step, *inits, *self.roots])
        return list(dict.fromkeys(name for function in reached for name in called_names(function.node)))

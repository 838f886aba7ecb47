"""C programs for a project: the goals and conditions that their functions state, as in the paper (Section 6).

A property function assumes, calls the step once or more, and asserts:
``void p_1(t_input *i, t_state *s) { __CPROVER_assume(A); compute(i, s); assert(C); }``. With several calls the inputs
of the j-th step are ``i[j]``. Other functions state a condition: final, input assumption, state invariant.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from pycparser import c_ast
from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE

from bmc.errors import InputRefused
from bmc.formulas.terms import both, either, equals, implies, negate
from bmc.formulas.unroll import at
from bmc.models.c.controller.binding import reachable_functions
from bmc.models.c.controller.build import read_c
from bmc.models.c.controller.model import CModel
from bmc.models.c.execute.calls import ORACLE
from bmc.models.c.execute.memory import Content, MemObject, Place, State, Target, Value
from bmc.models.c.execute.recorder import Recorder
from bmc.models.c.execute.variables import CVariable
from bmc.models.c.source.program import Function, Scope, where
from bmc.models.c.source.shown import shown
from bmc.models.c.source.types import ArrayType, CType, FloatType, IntType, PointerType, same_type, show_type
from bmc.records import dataclass
from bmc.stack import with_deep_stack
from bmc.system.names import suggestion
from bmc.system.transition import Condition, conjunction
from chaincover.project.project_file import Project
from chaincover.subject import SourceFile
from properties.goal import Goal, goal_length


@dataclass(frozen=True)
class CMaker:
    """A C program that was read for a project, as ``chaincover.project.load.Maker`` says."""

    project: Project
    model: CModel

    def goals(self) -> Iterator[Goal]:
        """Those of property functions, and of the conditions to be covered in the code."""
        model, patterns = self.model, [pattern for pattern in self.project.property_functions if pattern]
        names = model.functions_matching(patterns)
        for pattern in patterns:
            if not any(c in pattern for c in "*?[") and pattern not in names:
                hint = suggestion(pattern, self.functions())
                raise InputRefused(f"no property function '{pattern}'", self.project.where, hint)
        run = self._run()
        names = [name for name in names if name not in run or (name in patterns and name != model.memory.step_function)]
        yield from [_property_function(model, name, patterns) for name in names]
        yield from covers_in_code(model)

    def constraints(self) -> Sequence[Condition]:
        """The exclusions of the project file."""
        return self.model.exclusions

    def stated(self, function: str) -> Condition | None:
        """What a C function states."""
        if self.model.program.function(function) is None:
            return None
        return read_condition_function(self.model, function)

    def functions(self) -> list[str]:
        """The functions that the sources define."""
        return [function.name for function in self.model.program.defined_functions()]

    def sources(self) -> Iterator[SourceFile]:
        """The source files, each with its code after preprocessing without line markers."""
        files = zip(self.project.sources, self.project.config.files, self.model.program.units, strict=True)
        for name, path, unit in files:
            rows = (row for row in unit.source.text.splitlines() if row.strip() and not row.startswith("#line"))
            yield SourceFile(name, path, "\n".join(rows))

    def _run(self) -> set[str]:
        """The functions that init and step run, themselves included: a property calls the step, none of them does."""
        config, model = self.project.config, self.model
        texts = ["init"] if config.init is None else config.init
        names = [model.memory.step_function, *(text.partition("(")[0].strip() for text in texts)]
        roots = [function for name in names if (function := model.program.function(name)) is not None]
        return {function.name for function in (*reachable_functions(roots), *model.recorder.entered)}


def read(project: Project) -> CMaker:
    """The C program of ``project``. InputRefused with the place of what is wrong."""
    config = project.config
    if project.partial or project.separator:
        name = "partial" if project.partial else "separator"
        raise InputRefused(f"'{name}' says nothing of a C program", project.where, "leave it out")
    roots = [*project.property_functions, project.final_function, config.assumption, *config.invariant]
    return CMaker(project, read_c(config, [root for root in roots if root]))


def _property_function(model: CModel, name: str, patterns: Sequence[str]) -> Goal:
    """The goal of a property function; where it is none, the message says which pattern made it one."""
    try:
        return read_property_function(model, name)
    except InputRefused as error:
        if name not in patterns:
            fits = next(pattern for pattern in patterns if fnmatch.fnmatchcase(name, pattern))
            error.hint += f"; '{name}' is read as a property because functions.properties has '{fits}': if it is none, "
            error.hint += "list there what is one, or [] for none"
        raise


def read_property_function(model: CModel, name: str) -> Goal:
    """The goal of a C property function. InputRefused, with its place, if it cannot be read as a property."""
    function = _function(model, name)
    run = with_deep_stack(lambda: _FunctionRun(model, function, framed=True).finish())
    if run.step != run.steps:  # a loop or a helper that is called more than once
        steps = run.step
        run = with_deep_stack(lambda: _FunctionRun(model, function, True, steps).finish())
    _refuse_undefined(run)
    covers = run.recorder.covers
    if len(covers) > 1:
        hint = "write a property function for each of them"
        raise InputRefused(f"'{name}' has several conditions to cover", covers[1].where, hint)
    antecedent = conjunction([*run.constraints, *(c.formula for c in covers), run.recorder.defined])
    oracle = conjunction([*(c.formula for c in run.recorder.asserts), *run.oracle_defined])
    consequent = oracle if run.recorder.asserts else None
    parts = [antecedent] if consequent is None else [antecedent, consequent]
    length = max(goal_length(parts, {v.name for v in model.inputs}), run.step)
    return Goal(name, antecedent, consequent, length, _as_text(run.function), where=where(run.function.node))


def read_condition_function(model: CModel, name: str) -> Condition:
    """The condition that a C function states: its result is not 0, or (void) all its assumptions hold."""
    run = with_deep_stack(lambda: _FunctionRun(model, _function(model, name), framed=False).finish())
    parts = [run.recorder.defined, *(c.formula for c in run.recorder.asserts), *run.oracle_defined]
    if isinstance(run.result, Value):
        parts.append(model.executor.truth_of(run.result))
    return Condition(name, conjunction(parts), where(run.function.node))


def covers_in_code(model: CModel) -> list[Goal]:
    """The goals that the step and what it calls state by ``__CPROVER_cover``, one for each such call in the source.

    A goal is one step long, and any evaluation of its call in this step covers it.
    """
    found: dict[tuple[str, str], Condition] = {}
    for each in model.recorder.covers:
        key = str(each.where), each.name
        before = found.get(key)
        found[key] = each if before is None else replace(each, formula=either(before.formula, each.formula))
    goals: dict[str, Goal] = {}
    for each in found.values():
        assert each.where is not None
        name = f"cover_{each.where.line}"
        while name in goals:
            name += f".{each.where.column}"
        goals[name] = Goal(name, at(each.formula, 0), None, 1, each.name, where=each.where)
    return list(goals.values())


def _refuse_undefined(run: _FunctionRun) -> None:
    """A property that is never defined would be covered by nothing, and nobody would know why."""
    for place in run.recorder.undefined_behaviour:
        if place.formula.is_true():
            hint = f"it calls the step {run.step} time(s); the inputs of the j-th call are [j], counted from 0"
            raise InputRefused(f"'{run.function.name}' is always undefined: {place.name}", place.where, hint)


def _as_text(function: Function) -> str:
    """The property in short: the conditions of its assumptions and assertions, as the source has them."""
    found: dict[str, list[str]] = {"__CPROVER_assume": [], "__CPROVER_cover": [], "__assert": [], "assert": []}
    todo = [function.node.body]
    while todo:
        node = todo.pop(0)
        if (
            isinstance(node, c_ast.FuncCall)
            and isinstance(node.name, c_ast.ID)
            and node.name.name in found
            and node.args
        ):
            found[node.name.name].append(", ".join(map(shown, node.args.exprs)))
        todo.extend(child for _, child in node.children())
    before = " && ".join(found["__CPROVER_assume"] + found["__CPROVER_cover"])
    after = " && ".join(found["__assert"] + found["assert"])
    return f"{before or 'true'} => {after}" if after else before


def _function(model: CModel, name: str) -> Function:
    function = model.program.function(name)
    if function is None:
        names = [f.name for f in model.program.defined_functions()]
        raise InputRefused(f"no function '{name}' is defined", None, suggestion(name, names))
    return function


class _FunctionRun:
    """One symbolic run of a property or condition function, with calls of the step as boundaries between steps."""

    def __init__(self, model: CModel, function: Function, framed: bool, steps: int | None = None) -> None:
        self.model = model
        self.function = function
        self.framed = framed
        self.step = 0
        self.steps = steps if steps is not None else self._count_steps() if framed else 0
        self.recorder = Recorder()
        self.constraints: list[FNode] = []
        self.oracle_defined: list[FNode] = []
        self.arrays: dict[MemObject, MemObject] = {}
        self.result: Any = None

    def finish(self) -> _FunctionRun:
        """Run the function to its end."""
        state = self.model.memory.at(0 if self.framed else None)
        arguments = [self._argument(name, ctype, state) for name, ctype in self.function.ctype.parameters]
        hooks = {self.model.memory.step_function: self._step_call, ORACLE: self._collect_oracle}
        executor = self.model.executor
        self.result = self.model.with_names(
            self.recorder,
            None,
            lambda: executor.invoke(self.function, arguments, state, self.function.node),
            **hooks,
        )
        if self.framed and self.step == 0 and not self.recorder.covers:
            text = f"the property function '{self.function.name}' never calls '{self.model.memory.step_function}'"
            raise InputRefused(text, where(self.function.node), "call the step between assumptions and assertions")
        return self

    def _count_steps(self) -> int:
        functions = reachable_functions([self.function])
        step = self.model.program.function(self.model.memory.step_function)
        return sum(_calls(f.node, self.model.memory.step_function) for f in functions if f is not step)

    # arguments

    def _argument(self, name: str, ctype: CType, state: State) -> Value:
        """A parameter: the model's object of the same name and type, else of the same type alone."""
        obj = self._object(name, ctype)
        if obj is None:
            raise InputRefused(
                f"parameter '{name}' ({show_type(ctype)}) of '{self.function.name}' matches no parameter of the step",
                where(self.function.node),
                "use the same types as the step function",
            )
        if isinstance(ctype, IntType | FloatType):
            content = state.cells[obj, ()]
            assert isinstance(content.term, FNode)
            return Value(content.term, ctype)
        if not self.framed or not any(v.key[0] is obj and v.role == "input" for v in self.model.variables):
            inside = isinstance(obj.ctype, ArrayType) and not same_type(PointerType(obj.ctype), ctype)
            return Value((Target(TRUE(), obj, (0,) if inside else ()),), ctype)  # type: ignore[arg-type]
        array = self._input_array(obj, state)
        return Value((Target(TRUE(), array, (0,)),), ctype)  # type: ignore[arg-type]

    def _object(self, name: str, ctype: CType) -> MemObject | None:
        pointers = {n: o for n, o in self.model.memory.parameters.items() if isinstance(o.ctype, PointerType)}
        if isinstance(ctype, IntType | FloatType):
            found = self.model.memory.parameters.get(name)
            return found if found is not None and isinstance(found.ctype, type(ctype)) else None
        alike = [n for n, o in pointers.items() if same_type(o.ctype, ctype)]
        choice = name if name in alike else alike[0] if len(alike) == 1 else None
        if choice is None:
            return None
        content = self.model.memory.base[pointers[choice], ()]
        assert isinstance(content.term, tuple)
        return content.term[0].object

    def _input_array(self, obj: MemObject, state: State) -> MemObject:
        """An array of input objects, one for each step of the property."""
        array = MemObject(obj.name, ArrayType(obj.ctype, max(self.steps, 1)), "automatic")
        self.arrays[obj] = array
        for (owner, path), content in list(state.cells.items()):
            if owner is obj:
                for step in range(max(self.steps, 1)):
                    state.cells[array, (step, *path)] = content
        for variable in self._variables_of(obj):
            for step in range(max(self.steps, 1)):
                at = step if variable.role == "input" else 0
                state.cells[array, (step, *variable.key[1])] = self.model.memory.content(variable, at)
        return array

    def _variables_of(self, obj: MemObject) -> list[CVariable]:
        return [v for v in self.model.variables if v.key[0] is obj]

    # the step call

    def _step_call(self, node: Any, scope: Scope, state: State) -> Any:
        """A call of the step: bind its inputs, then go on to the next step's state."""
        if not self.framed:
            raise InputRefused(f"'{self.function.name}' states a condition and must not call the step", where(node))
        if not both(self.recorder.base, state.pc).is_true():
            raise InputRefused("a property must call the step unconditionally", where(node))
        arguments = self.model.executor.arguments(node, scope, state)
        passed = self._passed(node, arguments, state)
        for variable in self.model.variables:
            content = self._content_passed(variable, passed, state, node)
            own = self.model.memory.content(variable, self.step)
            if variable.role == "input":
                assert isinstance(own.term, FNode)
                if isinstance(content.term, FNode) and not content.defined.is_false():
                    self.constraints.append(implies(content.defined, equals(own.term, content.term)))
            elif variable.key[0].kind != "return" and (content != own or self._is_copy(variable.key[0], passed)):
                raise InputRefused(
                    f"'{variable.name}' is not the controller's own state when the step is called",
                    where(node),
                    "a property may read the state and choose inputs, but not write the state",
                )
        self.step += 1
        return self._advance(state)

    def _passed(self, node: Any, arguments: list[Any], state: State) -> dict[str, Any]:
        step = self.model.program.function(self.model.memory.step_function)
        assert step is not None
        if len(arguments) != len(step.ctype.parameters):
            raise InputRefused(f"'{step.name}' takes {len(step.ctype.parameters)} argument(s)", where(node))
        pairs = zip(step.ctype.parameters, arguments, strict=True)
        return {name: self.model.executor.as_type(value, ctype, node, state) for (name, ctype), value in pairs}

    def _is_copy(self, obj: MemObject, passed: dict[str, Any]) -> bool:
        """Whether the call is given another object for ``obj``: the step would change that one instead."""
        if obj.kind != "pointee" or obj.name not in passed:
            return False
        return any(target.object not in (obj, self.arrays.get(obj)) for target in passed[obj.name].targets)

    def _content_passed(self, variable: CVariable, passed: dict[str, Any], state: State, node: Any) -> Content:
        """What the call gives for a variable."""
        obj, path = variable.key
        if obj.kind == "argument":
            return Content(passed[obj.name].term, TRUE())
        if obj.kind != "pointee" or obj.name not in passed:
            return state.cells[variable.key]
        pointer = passed[obj.name]
        targets = pointer.targets
        if isinstance(obj.ctype, ArrayType):
            targets = tuple(Target(t.guard, t.object, t.path[:-1]) for t in targets)
        return self.model.executor.content(Place(targets, obj.ctype), path, state, node)

    def _advance(self, state: State) -> Value | None:
        result: Value | None = None
        for variable in self.model.variables:
            obj, path = variable.key
            if variable.role == "input":
                if obj.kind == "global" and self.step < self.steps:
                    state.cells[variable.key] = self.model.memory.content(variable, self.step)
                continue
            content = self.model.memory.content(variable, self.step)
            state.cells[variable.key] = content
            if obj in self.arrays:
                for index in range(max(self.steps, 1)):
                    state.cells[self.arrays[obj], (index, *path)] = content
            if obj.kind == "return":
                assert isinstance(content.term, FNode)
                result = Value(content.term, variable.ctype)
        return result

    def _collect_oracle(self, undefined_behaviour: Sequence[Condition]) -> None:
        """What must hold for an assertion's condition to be defined belongs to the consequent, not the antecedent."""
        self.oracle_defined.extend(negate(s.formula) for s in undefined_behaviour)


def _calls(node: Any, name: str) -> int:
    own = isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID) and node.name.name == name
    return int(own) + sum(_calls(child, name) for _, child in node.children())

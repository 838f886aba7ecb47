"""From a project to what the pipeline works on: the model, its transition system, the goals, the final condition."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from pysmt.fnode import FNode

from bmc.errors import InputRefused, Location, UsageError
from bmc.models.c.controller.binding import reachable_functions
from bmc.models.c.controller.build import read_c
from bmc.models.c.controller.model import CModel
from bmc.records import dataclass
from bmc.stack import with_deep_stack
from bmc.system.constraints import Constraint, Dwell, Rule, constrained
from bmc.system.memory import with_memory
from bmc.system.names import matching, suggestion
from bmc.system.ties import boundary, hold
from bmc.system.transition import (
    Condition,
    TransitionSystem,
    conjunction,
    symbols_of,
    with_stated_values,
)
from chaincover.project.c_functions import covers_in_code, read_condition_function, read_property_function
from chaincover.project.project_file import Project, read_project
from chaincover.subject import Observers, Settings, SourceFile, Subject, init_formula
from properties.coverage import CoverageCriterion, distinct, goals_by_criterion
from properties.goal import Goal, violation_name
from properties.text import PropertyText, read_condition, read_constraint, read_property

_RESERVED = ("init", "final", "end")
_FROM_OPTION = "--property"
RESULT = "return"


@dataclass(frozen=True)
class Request:
    """What is to be loaded: the project at ``path``, and what is added to it or put in its place.

    ``properties`` are further properties as text, ``cover`` further coverage criteria; ``defines`` and ``include`` are
    added to the project's own. ``final`` replaces the final condition (``none``: there is none; None: that of the
    project). ``select`` and ``exclude`` are shell patterns of goals. ``hold``: inputs change only every so many steps.
    """

    path: str
    properties: tuple[str, ...] = ()
    cover: tuple[str, ...] = ()
    final: str | None = None
    select: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    defines: tuple[tuple[str, str], ...] = ()
    include: tuple[str, ...] = ()
    hold: int | None = None

    def project(self) -> Project:
        """The project, with the macros and folders of headers that are added, and with the held inputs asked for."""
        project = read_project(self.path)
        config = project.config
        config = replace(config, include=(*self.include, *config.include), defines=(*config.defines, *self.defines))
        return replace(project, config=config, hold=project.hold if self.hold is None else self.hold)


@dataclass(frozen=True)
class Program:
    """A project whose C program has been read; goals and final condition can be read several times."""

    project: Project
    model: CModel

    @staticmethod
    def of(project: Project) -> Program:
        """Read the C program of ``project``. InputRefused with the place of what is wrong."""
        config = project.config
        roots = [*project.property_functions, project.final_function, config.assumption, *config.invariant]
        with _placed(project):
            return Program(project, read_c(config, [root for root in roots if root]))

    def subject(
        self,
        properties: Sequence[str] = (),
        final: str | None = None,
        select: Sequence[str] = (),
        exclude: Sequence[str] = (),
        criteria: Sequence[str] = (),
    ) -> Subject:
        """What is tested, with the arguments as in ``Request``. InputRefused or UsageError with the place."""
        more = tuple(CoverageCriterion(text, Location(f"--cover {n}")) for n, text in enumerate(criteria, 1))
        project, model = replace(self.project, criteria=(*self.project.criteria, *more)), self.model
        with _placed(project):
            rules = tuple(_rules(project, model))
            conditions = _with_conditions(project, model, rules)
            written = _goals(project, model, properties)
            made = goals_by_criterion(model, project.criteria, written, conditions)
            everything = [*written, *distinct(made)]
            goals = _selected(everything, select, exclude)
            names = {goal.name for goal in goals}
            kept = tuple(g for g in everything if g.name in names or not str(g.where).startswith(_FROM_OPTION))
            observers = Observers(kept, _seen_outputs(project, model))
            memory = [var for goal in goals for var in goal.memory]
            system = with_memory(conditions, memory)
            formula, text = _final(project, model, system, final, observers)
        held = hold(system, project.hold)
        end = boundary(held, formula)
        by_criterion = {criterion: [goal.name for goal in each] for criterion, each in made.items()}
        return Subject(
            model,
            _settings(project, model),
            held,
            tuple(goals),
            end,
            text,
            observers,
            rules,
            tuple(_constraints(project, model)),
            tuple(_assumed(project, model, rules)),
            project.hold,
            by_criterion,
            _sources(project, model),
        )


@contextmanager
def _placed(project: Project) -> Iterator[None]:
    """What is refused inside is refused at its line of the project file, where that can be told."""
    try:
        yield
    except InputRefused as error:
        error.where = project.place_of(error) or project.where
        raise


def load_request(request: Request) -> Subject:
    """Read all that ``request`` names. InputRefused or UsageError with the place of what is wrong."""
    project, chosen = request.project(), (request.select, request.exclude)
    return with_deep_stack(
        lambda: Program.of(project).subject(request.properties, request.final, *chosen, request.cover)
    )


def load(
    project: Project, properties: Sequence[str] = (), final: str | None = None, select: Sequence[str] = ()
) -> Subject:
    """Read all that ``project`` names; the other arguments are those of ``Request``. Errors as in ``load_request``."""
    return with_deep_stack(lambda: Program.of(project).subject(properties, final, select))


def _goals(project: Project, model: CModel, extra: Sequence[str]) -> list[Goal]:
    """The goals that are written: in the code, in the project and as options."""
    patterns = [p for p in project.property_functions if p]
    names = model.functions_matching(patterns)
    for pattern in patterns:
        if not any(c in pattern for c in "*?[") and pattern not in names:
            known = [f.name for f in model.program.defined_functions()]
            raise InputRefused(f"no property function '{pattern}'", project.where, suggestion(pattern, known))
    run = _run_by(project, model)
    names = [name for name in names if name not in run or (name in patterns and name != model.step_function)]
    goals = [_property_function(model, name, patterns) for name in names]
    goals += covers_in_code(model)
    texts = [*project.properties]
    texts += [PropertyText(text, Location(f"{_FROM_OPTION} {n}")) for n, text in enumerate(extra, 1)]
    for number, text in enumerate(texts, len(goals) + 1):
        goals.append(read_property(model, text, f"p{number}"))
    _check_names(goals)
    return goals


def _run_by(project: Project, model: CModel) -> set[str]:
    """The functions that init and step run, themselves included: a property calls the step, and none of them does."""
    texts = ["init"] if project.config.init is None else project.config.init
    names = [model.step_function, *(text.partition("(")[0].strip() for text in texts)]
    roots = [function for name in names if (function := model.program.function(name)) is not None]
    return {function.name for function in reachable_functions(roots)}


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


def _check_names(goals: Sequence[Goal]) -> None:
    seen: dict[str, Goal] = {}
    for goal in goals:
        if goal.name in _RESERVED or not re.fullmatch(r"[A-Za-z_][\w.=\-]*", goal.name):
            raise InputRefused(
                f"'{goal.name}' cannot be a goal's name", goal.where, "use letters, digits, '_', '-', '.', '='"
            )
        if goal.name in seen:
            raise InputRefused(f"two goals are called '{goal.name}'", goal.where, f"the other: {seen[goal.name].where}")
        seen[goal.name] = goal


def _selected(goals: Sequence[Goal], select: Sequence[str], exclude: Sequence[str]) -> list[Goal]:
    for option, pattern in [*(("--goal", p) for p in select), *(("--exclude", p) for p in exclude)]:
        if not any(_matches(g, [pattern]) for g in goals):
            hint = suggestion(pattern, [g.name for g in goals])
            raise UsageError(f"no goal is called '{pattern}'", Location(option), hint)
    chosen = [g for g in goals if not select or _matches(g, select)]
    left = [g for g in chosen if not _matches(g, exclude)]
    if goals and not left:
        raise UsageError("--goal and --exclude leave no goal", hint="exclude fewer goals")
    return left


def _matches(goal: Goal, patterns: Sequence[str]) -> bool:
    """Whether a goal's name is one of ``patterns`` or fits one; a name may hold brackets itself.

    A violation is chosen and left out with its property, too.
    """
    names = {goal.name, goal.name.removeprefix(violation_name(""))}
    return any(name == p or fnmatch.fnmatchcase(name, p) for name in names for p in patterns)


def _rules(project: Project, model: CModel) -> Iterator[Rule]:
    """What the project says of inputs beside ranges and exclusions."""
    config = project.config
    for text in config.assume:
        yield Constraint(text.strip(), read_constraint(model, text, project.where), project.line_of(text))
    for text in config.initial:
        yield Constraint(text.strip(), read_constraint(model, text, project.where), project.line_of(text), True)
    inputs = [variable.name for variable in model.inputs]
    steps = {}
    for pattern, number in config.dwell.items():
        for name in _inputs_that_stay(project, model, pattern):
            steps[name] = number, project.line_of(pattern)
    yield from (Dwell(name, *steps[name]) for name in inputs if name in steps and steps[name][0] > 1)


def _inputs_that_stay(project: Project, model: CModel, pattern: str) -> list[str]:
    """The inputs that a dwell time is given for; only an input has one."""
    try:
        return list(matching([pattern], [variable.name for variable in model.inputs], project.where, "input"))
    except InputRefused as error:
        try:
            (name, *_) = matching([pattern], [variable.name for variable in model.variables], None, "variable")
        except InputRefused:
            raise error from None
        role = next(variable.role for variable in model.variables if variable.name == name)
        hint = f"{error.hint}; list it in interface.input, if the environment sets it"
        raise InputRefused(f"'{pattern}' is {role}: only an input has a dwell time", error.where, hint) from None


def _with_conditions(project: Project, model: CModel, rules: Sequence[Rule]) -> TransitionSystem:
    """The system that keeps to ``rules`` and the project's assumption, with the invariants that C functions state."""
    system = constrained(model.system, rules)
    name = project.config.assumption
    if name and (not project.by_convention or model.program.function(name) is not None):
        assumption = _stated(project, model, name)
        system = replace(system, input_constraint=conjunction([system.input_constraint, assumption.formula]))
    extra = tuple(_stated(project, model, name) for name in project.config.invariant)
    inputs = {v.name for v in system.inputs}
    for condition in extra:
        used = [s.symbol_name() for s in symbols_of(condition.formula) if s.symbol_name() in inputs]
        if used:
            raise InputRefused(f"the invariant '{condition.name}' reads the input '{used[0]}'", condition.where)
    return with_stated_values(replace(system, invariants=(*system.invariants, *extra)))


def _assumption(project: Project, model: CModel) -> str:
    """The C function that states what inputs are assumed to be; '' for none."""
    name = project.config.assumption
    return name if name and model.program.function(name) is not None else ""


def _constraints(project: Project, model: CModel) -> Iterator[Condition]:
    """What the project says of the inputs of one step, beside their ranges and its rules."""
    yield from model.exclusions
    if name := _assumption(project, model):
        stated = _stated(project, model, name)
        yield replace(stated, name=f"that {name}() states")


def _assumed(project: Project, model: CModel, rules: Sequence[Rule]) -> Iterator[str]:
    """Sentences on what every result rests on."""
    config = project.config
    if rules or config.at_most_one or config.exactly_one or config.ranges:
        yield "input assumptions of the project"
    if name := _assumption(project, model):
        yield f"input assumption {name}()"


def _settings(project: Project, model: CModel) -> Settings:
    """What the project says of the search."""
    function = project.final_function
    stated = f"{function}()" if function and model.program.function(function) is not None else ""
    final = project.final or stated
    return Settings(
        project.where, project.bound, project.overlap, project.ordering, final, project.hold, project.period
    )


def _sources(project: Project, model: CModel) -> tuple[SourceFile, ...]:
    """The source files, each with its code after preprocessing without line markers."""
    found = []
    for name, path, unit in zip(project.sources, project.config.files, model.program.units, strict=True):
        rows = (row for row in unit.source.text.splitlines() if row.strip() and not row.startswith("#line"))
        found.append(SourceFile(name, path, "\n".join(rows)))
    return tuple(found)


def _stated(project: Project, model: CModel, name: str) -> Condition:
    """What the C function that the project names states."""
    if model.program.function(name) is None:
        names = [function.name for function in model.program.defined_functions()]
        raise InputRefused(f"no function '{name}' is defined", project.where, suggestion(name, names))
    return read_condition_function(model, name)


def _final(
    project: Project, model: CModel, system: TransitionSystem, override: str | None, observers: Observers
) -> tuple[FNode | None, str]:
    text = override if override is not None else project.final
    where = Location("--final") if override is not None else project.where
    if text == "none":
        return None, ""
    if text == "init":
        return init_formula(system, observers), "init"
    if text:
        formula = read_condition(model, text, where)
    elif project.final_function and (
        not project.by_convention or model.program.function(project.final_function) is not None
    ):
        formula = _stated(project, model, project.final_function).formula
        text = f"{project.final_function}()"
    else:
        return None, ""
    inputs = {v.name for v in system.inputs}
    used = [s.symbol_name() for s in symbols_of(formula) if s.symbol_name() in inputs]
    if used:
        raise InputRefused(f"the final condition reads the input '{used[0]}'", where, "name state variables only")
    return formula, text


def _seen_outputs(project: Project, model: CModel) -> frozenset[str]:
    """The outputs that the project names, and the step's result; where it names none, those found."""
    config = project.config
    found = [var.name for var in model.system.state if var.role == "output"]
    if not config.output:
        return frozenset(found)
    named = matching(config.output, model.names, config.where, "output variable")
    return frozenset(name for name in found if name in named or name == RESULT)

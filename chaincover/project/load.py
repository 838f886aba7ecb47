"""From a project to what the pipeline works on: the model, its transition system, the goals, the final condition."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Protocol

from pysmt.fnode import FNode

from bmc.errors import InputRefused, Location, UsageError, listed
from bmc.models.model import Model
from bmc.models.undetermined import Need, refuse_needed
from bmc.records import dataclass
from bmc.stack import with_deep_stack
from bmc.system.constraints import Constraint, Dwell, Rule, constrained
from bmc.system.memory import with_memory
from bmc.system.names import matching, suggestion
from bmc.system.ties import boundary, hold
from bmc.system.transition import (
    Condition,
    StateVariable,
    TransitionSystem,
    conjunction,
    symbols_of,
    with_stated_values,
)
from chaincover.project.bounds import Asked, UseOfBounds, read_bounds
from chaincover.project.project_file import MODELS, Project, read_project
from chaincover.subject import Observers, Settings, SourceFile, Subject, formulas_of, init_formula, like_init
from properties.coverage import CoverageCriterion, distinct, goals_by_criterion
from properties.durations import Period
from properties.goal import Goal, violation_name
from properties.text import PropertyText, read_condition, read_constraint, read_property, times_of

_RESERVED = ("init", "final", "end")
_FROM_OPTION = "--property"
RESULT = "return"


class Maker(Protocol):
    """A model that was read for a project, and what is stated in it. InputRefused where that cannot be read."""

    @property
    def model(self) -> Model:
        """The model."""

    def goals(self) -> Iterable[Goal]:
        """The goals that the model states itself."""

    def constraints(self) -> Iterable[Condition]:
        """What the project excludes between inputs of one step, beside ranges, each with its text."""

    def stated(self, function: str) -> Condition | None:
        """The condition that a function of the model states; None if there is no such function."""

    def functions(self) -> Iterable[str]:
        """The names of all functions of the model."""

    def sources(self) -> Iterable[SourceFile]:
        """The files that were read."""


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

    @property
    def words(self) -> list[str]:
        """The words of a command line that ask for the same, but for held inputs: the path, then options."""
        given: Sequence[tuple[str, Sequence[str]]] = [
            ("--goal", self.select),
            ("--exclude", self.exclude),
            ("--property", self.properties),
            ("--cover", self.cover),
            ("--final", () if self.final is None else (self.final,)),
            ("-I", self.include),
            ("-D", [f"{name}={value}" for name, value in self.defines]),
        ]
        return [self.path, *(word for option, values in given for value in values for word in (option, value))]

    def project(self) -> Project:
        """The project, with the macros and folders of headers that are added, and with the held inputs asked for."""
        project = read_project(self.path)
        config = project.config
        config = replace(config, include=(*self.include, *config.include), defines=(*config.defines, *self.defines))
        return replace(project, config=config, hold=project.hold if self.hold is None else self.hold)


def read_model(project: Project) -> Maker:
    """Read the model of ``project``. InputRefused with the place of what is wrong."""
    endings = dict.fromkeys(Path(file).suffix for file in project.config.files)
    kind = next((ending for ending in endings if ending in MODELS), ".c")
    if kind != ".c" and len(project.config.files) > 1:
        raise InputRefused(f"a model of the kind {kind} is one file", project.where, "name one file in sources.files")
    maker: Maker = import_module(MODELS[kind]).read(project)
    return maker


@dataclass(frozen=True)
class Program:
    """A project whose model has been read; goals and final condition can be read several times."""

    project: Project
    maker: Maker

    @staticmethod
    def of(project: Project) -> Program:
        """Read the model of ``project``. InputRefused with the place of what is wrong."""
        with _placed(project):
            return Program(project, read_model(project))

    @property
    def model(self) -> Model:
        """The model."""
        return self.maker.model

    def subject(
        self,
        properties: Sequence[str] = (),
        final: str | None = None,
        select: Sequence[str] = (),
        exclude: Sequence[str] = (),
        criteria: Sequence[str] = (),
        bounds: UseOfBounds = UseOfBounds.REFUSED,
    ) -> Subject:
        """What is tested, with the arguments as in ``Request``. InputRefused or UsageError with the place.

        ``bounds``: what is done with what rests on bounds of functions of the C library.
        """
        more = tuple(CoverageCriterion(text, Location(f"--cover {n}")) for n, text in enumerate(criteria, 1))
        project, maker = replace(self.project, criteria=(*self.project.criteria, *more)), self.maker
        model, optional = maker.model, project.by_convention
        with _placed(project):
            rules = tuple(_rules(project, model))
            assumption = _stated(project, maker, project.config.assumption, optional)
            conditions = _with_conditions(project, maker, rules, assumption)
            refuse_needed(model.undetermined, _needs_of_conditions(conditions))
            written, times = _goals(project, maker, properties)
            made = goals_by_criterion(model, project.criteria, written, conditions)
            everything = [*written, *distinct(made)]
            goals = _selected(everything, select, exclude)
            kept = _of_project_or_selected(everything, goals)
            memory = [var for goal in goals for var in goal.memory]
            system = with_memory(conditions, memory)
            observers = _observers(project, model, system, kept, memory)
            formula, text = _final(project, maker, system, final, observers)
            asked = Asked(
                tuple(goals), tuple(map(_need_of, goals)), text, tuple(_needs_of_end(formula, text, observers))
            )
            refuse_needed(model.undetermined, [*asked.needs, *asked.final_needs])
            read = read_bounds(system, model.undetermined.bounded, asked, bounds, project.hold > 1)
        apart = {goal.name for goal, _ in read.not_analysed.goals}
        if read.not_analysed.final:
            formula, text = None, ""
        held = hold(read.system, project.hold)
        named = [] if assumption is None else [replace(assumption, name=f"that {assumption.name}() states")]
        return Subject(
            model,
            _settings(project, maker),
            held,
            tuple(goal for goal in goals if goal.name not in apart),
            boundary(held, formula),
            text,
            observers,
            rules,
            (*maker.constraints(), *named),
            (*_assumed(project, rules, assumption), *(() if read.library is None else (read.library.assumed,))),
            project.hold,
            {criterion: [goal.name for goal in each] for criterion, each in made.items()},
            tuple(maker.sources()),
            read.library,
            read.remarks,
            read.not_analysed,
            tuple(_times(project, rules, goals, times)),
        )


@contextmanager
def _placed(project: Project) -> Iterator[None]:
    """What is refused inside is refused at its line of the project file, where that can be told."""
    try:
        yield
    except InputRefused as error:
        error.where = project.place_of(error) or project.where
        raise


def load_request(request: Request, unconfirmed: bool = False, bounds: UseOfBounds = UseOfBounds.REFUSED) -> Subject:
    """Read all that ``request`` names. InputRefused or UsageError with the place of what is wrong, and where a stub is
    not confirmed, but where ``unconfirmed`` ones are to be looked at; ``bounds`` as in ``Program.subject``."""
    project, chosen = request.project(), (request.select, request.exclude)
    subject = with_deep_stack(
        lambda: Program.of(project).subject(request.properties, request.final, *chosen, request.cover, bounds)
    )
    if subject.model.unconfirmed and not unconfirmed:
        text = f"stubs that are not confirmed: {listed(subject.model.unconfirmed)}"
        hint = "look through what was guessed there, and change 'unconfirmed' in the first line to 'confirmed'"
        raise InputRefused(text, project.where or Location(request.path), hint)
    return subject


def load(
    project: Project, properties: Sequence[str] = (), final: str | None = None, select: Sequence[str] = ()
) -> Subject:
    """Read all that ``project`` names; the other arguments are those of ``Request``. Errors as in ``load_request``."""
    return with_deep_stack(lambda: Program.of(project).subject(properties, final, select))


def _goals(project: Project, maker: Maker, extra: Sequence[str]) -> tuple[list[Goal], dict[str, tuple[str, ...]]]:
    """The goals that are written, in the model, in the project and as options; and the times in them, by name."""
    goals, times = [*maker.goals()], dict[str, tuple[str, ...]]()
    texts = [*project.properties]
    period = Period(project.period)
    texts += [PropertyText(text, Location(f"{_FROM_OPTION} {n}"), period=period) for n, text in enumerate(extra, 1)]
    for number, text in enumerate(texts, len(goals) + 1):
        goals.append(read_property(maker.model, text, f"p{number}"))
        times[goals[-1].name] = times_of(maker.model, text)
    _check_names(goals)
    return goals, times


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


def _of_project_or_selected(goals: Sequence[Goal], selected: Sequence[Goal]) -> tuple[Goal, ...]:
    """The goals without those of options that are not selected."""
    names = {goal.name for goal in selected}
    return tuple(goal for goal in goals if goal.name in names or not str(goal.where).startswith(_FROM_OPTION))


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


def _rules(project: Project, model: Model) -> Iterator[Rule]:
    """What the project says of inputs beside ranges and exclusions."""
    config = project.config
    for texts, first in ((config.assume, False), (config.initial, True)):
        for text in texts:
            given = PropertyText(text, project.where, period=Period(project.period))
            formula, times = read_constraint(model, given)
            yield Constraint(text.strip(), formula, project.line_of(text), first, times)
    inputs = [variable.name for variable in model.variables if variable.role == "input"]
    steps = {}
    for pattern, number in config.dwell.items():
        for name in _inputs_that_stay(project, model, pattern):
            steps[name] = number, project.line_of(pattern)
    yield from (Dwell(name, *steps[name]) for name in inputs if name in steps and steps[name][0] > 1)


def _times(
    project: Project, rules: Iterable[Rule], goals: Iterable[Goal], times: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    """The times in place of numbers of steps: of the project's keys, of its constraints, of properties (``times``)."""
    yield from project.times
    yield from (f"constraint: {time}" for rule in rules if isinstance(rule, Constraint) for time in rule.times)
    yield from (f"{goal.name}: {time}" for goal in goals for time in times.get(goal.name, ()))


def _inputs_that_stay(project: Project, model: Model, pattern: str) -> list[str]:
    """The inputs that a dwell time is given for; only an input has one."""
    try:
        inputs = [variable.name for variable in model.variables if variable.role == "input"]
        return list(matching([pattern], inputs, project.where, "input"))
    except InputRefused as error:
        try:
            (name, *_) = matching([pattern], [variable.name for variable in model.variables], None, "variable")
        except InputRefused:
            raise error from None
        role = next(variable.role for variable in model.variables if variable.name == name)
        hint = f"{error.hint}; list it in interface.input, if the environment sets it"
        raise InputRefused(f"'{pattern}' is {role}: only an input has a dwell time", error.where, hint) from None


def _with_conditions(
    project: Project, maker: Maker, rules: Sequence[Rule], assumption: Condition | None
) -> TransitionSystem:
    """The system that keeps to ``rules`` and to the ``assumption``, with the invariants that functions state."""
    system = constrained(maker.model.system, rules)
    if assumption is not None:
        system = replace(system, input_constraint=conjunction([system.input_constraint, assumption.formula]))
    stated = (_stated(project, maker, name) for name in project.config.invariant)
    extra = tuple(condition for condition in stated if condition is not None)
    inputs = {v.name for v in system.inputs}
    for condition in extra:
        used = [s.symbol_name() for s in symbols_of(condition.formula) if s.symbol_name() in inputs]
        if used:
            raise InputRefused(f"the invariant '{condition.name}' reads the input '{used[0]}'", condition.where)
    return with_stated_values(replace(system, invariants=(*system.invariants, *extra)))


def _assumed(project: Project, rules: Sequence[Rule], assumption: Condition | None) -> Iterator[str]:
    """Sentences on what every result rests on."""
    config = project.config
    if rules or config.at_most_one or config.exactly_one or config.ranges:
        yield "input assumptions of the project"
    if assumption is not None:
        yield f"input assumption {assumption.name}()"


def _settings(project: Project, maker: Maker) -> Settings:
    """What the project says of the search."""
    function = project.final_function if project.final_function in maker.functions() else ""
    final = project.final or (f"{function}()" if function else "")
    patterns = [
        *project.property_functions,
        *project.config.invariant,
        project.final_function,
        project.config.assumption,
    ]
    return Settings(
        *(project.where, project.bound, project.overlap, project.ordering, final, project.hold, project.period),
        reset_seconds=None if project.target is None else project.target.reset_seconds,
        stating=frozenset(
            name for name in maker.functions() if any(fnmatch.fnmatchcase(name, each) for each in patterns)
        ),
        justified=project.justified,
    )


def _stated(project: Project, maker: Maker, name: str, optional: bool = False) -> Condition | None:
    """What the function that the project names states; None for none, or where it is ``optional`` and is not there."""
    found = maker.stated(name) if name else None
    if name and found is None and not optional:
        raise InputRefused(f"no function '{name}' is defined", project.where, suggestion(name, maker.functions()))
    return found


def _needs_of_conditions(system: TransitionSystem) -> Iterator[Need]:
    """What the project's conditions need."""
    yield Need("the constraints on inputs", (system.input_constraint,))
    for invariant in system.invariants:
        yield Need(f"the invariant {invariant.name}", (invariant.formula,))


def _need_of(goal: Goal) -> Need:
    memory = [formula for var in goal.memory for formula in (var.next, var.init) if formula is not None]
    return Need(f"the goal {goal.name}", (*formulas_of([goal]), *memory))


def _needs_of_end(final: FNode | None, text: str, observers: Observers) -> Iterator[Need]:
    """What the final condition needs; it is ``text``."""
    if final is not None:
        yield Need(f"the final condition '{text}'", (final,))
    if text == "init" and observers.whole is not None:
        for var in like_init(observers.whole, observers):
            what = f"the final condition 'init', which compares '{var.name}' (not if interface.ignore lists it)"
            yield Need(what, (var.symbol,))


def _observers(
    project: Project, model: Model, system: TransitionSystem, kept: Sequence[Goal], memory: Sequence[StateVariable]
) -> Observers:
    """For whom a difference counts: the goals ``kept``, and the outside."""
    undetermined = model.undetermined
    calls = (*undetermined.calls.values(), *undetermined.bounded)
    whole = system if undetermined.whole is None else with_memory(undetermined.whole, memory)
    seen = _seen_outputs(project, model, whole)
    return Observers(tuple(kept), seen, whole if calls else None, calls)


def _final(
    project: Project, maker: Maker, system: TransitionSystem, override: str | None, observers: Observers
) -> tuple[FNode | None, str]:
    text = override if override is not None else project.final
    where = Location("--final") if override is not None else project.where
    if text == "none":
        return None, ""
    if text == "init":
        return init_formula(system, observers), "init"
    if text:
        formula = read_condition(maker.model, text, where)
    else:
        stated = _stated(project, maker, project.final_function, project.by_convention)
        if stated is None:
            return None, ""
        formula, text = stated.formula, f"{stated.name}()"
    inputs = {v.name for v in system.inputs}
    used = [s.symbol_name() for s in symbols_of(formula) if s.symbol_name() in inputs]
    if used:
        raise InputRefused(f"the final condition reads the input '{used[0]}'", where, "name state variables only")
    return formula, text


def _seen_outputs(project: Project, model: Model, system: TransitionSystem) -> frozenset[str]:
    """The outputs of ``system`` that the project names, and the step's result; where it names none, those found."""
    config = project.config
    found = [var.name for var in system.state if var.role == "output"]
    if not config.output:
        return frozenset(found)
    named = matching(config.output, [variable.name for variable in model.variables], config.where, "output variable")
    return frozenset(name for name in found if name in named or name == RESULT)

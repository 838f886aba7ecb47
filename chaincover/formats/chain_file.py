"""Chains in files: ``chain.json`` and ``chain.csv`` written, ``chain.json`` and hand-written ``inputs.csv`` read."""

from __future__ import annotations

import contextlib
import operator
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from bmc.errors import InputRefused, Location, counted
from bmc.limits import read_text, whole_number
from bmc.records import dataclass
from bmc.system.names import find_variable
from bmc.system.ties import MOST_TICKS
from bmc.system.transition import InputVariable, StateVariable, TransitionSystem, Valuation, ValueType
from chaincover.chain import STORED, UNREACHABLE, Chain, Failure, Hit, Parts
from chaincover.formats.damage import damage
from chaincover.formats.result_file import most_bytes, read_result_of, result_data
from chaincover.formats.rows import ChainRows, defined, reported
from chaincover.formats.table_style import END_ROW, START_ROW, TableStyle, read_rows, with_point
from chaincover.project.names import Labels, called, named_type, one_to_one
from chaincover.project.project_file import Project
from chaincover.project.values import parse_value, raw_value, shown
from chaincover.subject import Subject

SCHEMA = "chaincover/chain/6"
CHAINS_SCHEMA = "chaincover/chains/6"
CHECK_SCHEMA = "chaincover/check/3"


@dataclass(frozen=True)
class Stimulus:
    """Inputs to be replayed: raw values per step, start values that the tester chose, and the states that are claimed.

    ``claimed`` maps goals to the step at which the file says they are covered; ``states`` are the claimed states after
    each step (raw values of the variables that the file holds), empty for hand-written inputs. ``asked`` are the goals
    that the chain was made for, None for hand-written inputs: all. ``to_final``: whether it has to end in the final
    condition. ``lines``: where a table's values of each step stand.
    """

    source: str
    inputs: tuple[Valuation, ...]
    initial: Valuation
    claimed: dict[str, int]
    states: tuple[Valuation, ...]
    asked: frozenset[str] | None = None
    to_final: bool = True
    lines: tuple[int, ...] = ()


def recorded_hold(settings: dict[str, Any]) -> int:
    """For how many steps a chain of these settings holds its inputs. ValueError if they say none that there can be."""
    found = settings.get("hold", 1)
    if not isinstance(found, int) or isinstance(found, bool) or not 1 <= found <= MOST_TICKS:
        raise ValueError(f"inputs held for {found!r} steps")
    return found


def refuse_other_schema(data: object, where: Location, schema: str = SCHEMA) -> None:
    """InputRefused if ``data`` is no document of ``schema``; one that another version has written is named as that."""
    found = data.get("schema") if isinstance(data, dict) else None
    text = f"this is no {'chain' if schema == SCHEMA else 'summary'} of the schema '{schema}'"
    if isinstance(found, str) and found.rpartition("/")[0] == schema.rpartition("/")[0] and found != schema:
        text += f" but of '{found}', which another version of ChainCover has written"
    if found != schema:
        several = "" if schema == SCHEMA else " --several"
        raise InputRefused(text, where, f"write it with 'chaincover generate{several}'")


def start_record(system: TransitionSystem, chain: Chain) -> dict[str, Any]:
    """State and outputs before the first step, and the goals covered there."""
    first = chain.run.states[0]
    return {
        "state": shown(defined(reported(system, "state"), first), first),
        "outputs": shown(defined(reported(system, "output"), first), first),
        "chosen": shown([v for v in system.state if v.name in system.chosen], first),
    }


def coverage_place(chain: Path) -> Path:
    """Where the coverage of the chain in the file ``chain`` is kept: ``coverage-2.json`` beside ``chain-2.json``."""
    stem = chain.stem
    name = f"coverage{stem.removeprefix('chain')}" if stem.startswith("chain") else f"coverage-{stem}"
    return chain.with_name(f"{name}.json")


def violation_file(goal: str) -> str:
    """The name of the file that holds a run which violates the property of ``goal``."""
    return f"violation-{goal}.csv"


def violation_lines(subject: Subject, failure: Failure, style: TableStyle) -> Iterator[str]:
    """The lines of the run that violates a property as a table, as ``chain_csv`` gives it."""
    hit = Hit(failure.goal, failure.step, False)
    return csv_lines(subject, Chain(failure.run, (failure.goal,), (hit,)), style)


def chain_csv(subject: Subject, chain: Chain) -> str:
    """The chain as a table: step, time in seconds, inputs, state and outputs after the step, goals, goals served.

    Where the tester chooses start values, a first row ``init`` holds the start state; where goals are covered in the
    state after the last step, a last row ``end`` names them.
    """
    return "".join(csv_lines(subject, chain))


def csv_lines(subject: Subject, chain: Chain, style: TableStyle | None = None) -> Iterator[str]:
    """The lines of ``chain_csv``, in a ``style``."""
    system, own = subject.system, style or TableStyle()
    names = [var.name for var in _table_variables(system)]
    first = 1 + bool(subject.settings.period)
    return own.lines(_csv_rows(subject, chain, own), range(first, first + len(names)))


def _table_variables(system: TransitionSystem) -> list[InputVariable | StateVariable]:
    return [*system.inputs, *reported(system, "state"), *reported(system, "output")]


def _csv_rows(subject: Subject, chain: Chain, style: TableStyle) -> Iterator[list[object]]:
    """The titles, and a row for each step; goals that are covered in the last state have one of their own."""
    system, period, variables = subject.system, subject.settings.period, _table_variables(subject.system)
    labels = _labels(subject, chain)

    def cells(values: Mapping[str, Any]) -> Iterator[object]:
        for var in variables:
            value = values.get(var.name, "")
            value = labels[var.name].get(value, value) if var.name in labels else value
            yield style.number(str(value)) if isinstance(value, float) else value

    def time(step: int) -> list[str]:
        return [style.number(f"{float(step * period):.9g}")] if period else []

    yield ["step", *(["time"] if period else []), *(var.name for var in variables), "goals", "serves"]
    if system.chosen:
        start = start_record(system, chain)
        values = {**start["state"], **start["outputs"], **start["chosen"]}
        yield [START_ROW, *([""] if period else []), *cells(values), "", ""]
    for row in ChainRows(system, chain, subject.goals):
        values = {**row["inputs"], **row["state"], **row["outputs"]}
        yield [row["step"], *time(row["step"]), *cells(values), " ".join(row["goals"]), " ".join(row["serves"])]
    if last := " ".join(hit.goal for hit in chain.hits if hit.step == chain.length):
        yield [END_ROW, *time(chain.length), *cells({}), last, ""]


def _labels(subject: Subject, chain: Chain) -> dict[str, Mapping[int, str]]:
    """By variable what its values on a chain are called, where these are no enumerators and no two are called alike."""
    found, names = {}, subject.value_names
    for var in _table_variables(subject.system):
        own = one_to_one(names.get(var.name, {}))
        rows = chain.run.inputs if isinstance(var, InputVariable) else chain.run.states
        if own and not var.type.labels:
            found[var.name] = called(var.type, {var.type.value(row[var.name]) for row in rows}, own)
    return found


def stimulus_of(system: TransitionSystem, chain: Chain) -> Stimulus:
    """A generated chain as something to be replayed."""
    chosen = {name: chain.run.states[0][name] for name in system.chosen}
    claimed = {hit.goal: hit.step for hit in chain.hits}
    return Stimulus("generated chain", tuple(chain.run.inputs), chosen, claimed, ())


def read_stimulus(path: str, system: TransitionSystem, names: Labels | None = None) -> Stimulus:
    """Inputs from a ``chain.json`` (or a folder that holds one) or a CSV file with one column per input.

    There values of a variable may be written by what they are called in ``names``.
    InputRefused, with its place, for anything that cannot be read.
    """
    place = Path(path)
    if os.path.isdir(path):
        place = place / "chain.json"
    text = read_text(place, "the chain", "name chain.json or inputs.csv", most=most_bytes())
    where = Location(str(place))
    if place.suffix == ".csv":
        return _from_csv(place, text, system, names or {})
    return stimulus_in(result_data(text, where), where, system)


def stimulus_in(data: Any, where: Location, system: TransitionSystem) -> Stimulus:
    """The inputs of a chain from the ``data`` of its file. InputRefused, with its place, if they cannot be read."""
    refuse_other_schema(data, where)
    chain = data.get("chain")
    if chain is None:
        raise InputRefused("this result holds no chain", where, "generate one first")
    try:
        inputs = tuple(_valuations((step["inputs"] for step in chain["steps"]), system.inputs, where))
        both = ({**step["state"], **step["outputs"]} for step in chain["steps"])
        states = tuple(_valuations(both, system.state, where, partial=True))
        chosen = _valuation(chain["initial"]["chosen"], system.state, where, partial=True)
        claimed = {hit["goal"]: operator.index(hit["step"]) for hit in chain["hits"]}
        asked = frozenset(goal["name"] for goal in data["goals"])
        to_final = data["settings"]["final"] is not None
        recorded_hold(data["settings"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputRefused(
            f"the chain is damaged: {damage(error, data, 'chain')}", where, "generate it again"
        ) from None
    return Stimulus(where.file, inputs, chosen, claimed, states, asked, to_final)


def read_test(test: dict[str, Any], goal: str, system: TransitionSystem, where: Location) -> Stimulus:
    """The test that a goal has of its own, as something to be replayed. InputRefused if it cannot be read."""
    try:
        inputs = tuple(_valuations(test["inputs"], system.inputs, where))
        chosen = _valuation(test["chosen"], system.state, where, partial=True)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        text = f"the test of '{goal}' is damaged: {damage(error)}"
        raise InputRefused(text, where, "generate it again") from None
    return Stimulus(f"test of {goal}", inputs, chosen, {}, (), None, False)


def read_long_test(test: dict[str, Any], goal: str, system: TransitionSystem, where: Location) -> tuple[int, Parts]:
    """The length and the parts of a test that ``long_test_record`` gave. InputRefused if it cannot be read."""
    try:
        parts = [
            (tuple(_valuations(part["inputs"], system.inputs, where)), int(part["times"])) for part in test["parts"]
        ]
        if any(times < 1 or not inputs for inputs, times in parts):
            raise ValueError("a part is made at least once, and has a step")
        return int(test["length"]), tuple(parts)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        text = f"the long test of '{goal}' is damaged: {damage(error)}"
        raise InputRefused(text, where, "generate it again") from None


def _valuations(
    rows: Iterable[dict[str, Any]],
    variables: Sequence[InputVariable | StateVariable],
    where: Location,
    partial: bool = False,
) -> Iterator[Valuation]:
    """The raw values of each of the steps ``rows`` of a file; ``partial``: not all variables need one.

    Where they are those of the step before it is the same object: a long chain has many steps alike.
    """
    before: Valuation = {}
    for row in rows:
        found = _valuation(row, variables, where, partial)
        before = before if found == before else found
        yield before


def _valuation(
    values: dict[str, Any],
    variables: Sequence[InputVariable | StateVariable],
    where: Location,
    partial: bool = False,
) -> Valuation:
    known: dict[str, InputVariable | StateVariable] = {var.name: var for var in variables}
    for name in values:
        if name not in known:
            raise InputRefused(f"the chain names '{name}', which the program does not have", where, "generate it again")
    missing = [name for name in known if name not in values]
    if missing and not partial:
        raise InputRefused(f"the chain gives no value for the input '{missing[0]}'", where, "generate it again")
    return {name: raw_value(value, known[name].type, where, name) for name, value in values.items()}


def _variables(system: TransitionSystem) -> list[InputVariable | StateVariable]:
    return [*system.inputs, *system.state]


def _passed_over(title: str, system: TransitionSystem) -> bool:
    """Whether a column of a hand-written table is no input but one that ``chain.csv`` has too."""
    if title in ("step", "time", "goals", "serves", ""):
        return True
    for variables in (system.inputs, system.state):
        with contextlib.suppress(InputRefused):
            find_variable(title, [variable.name for variable in variables], None)
            return variables is system.state
    return False


def _from_csv(place: Path, text: str, system: TransitionSystem, names: Labels) -> Stimulus:
    rows, comma = read_rows(place, text, "the inputs' names")
    titles = [cell.strip() for cell in rows[0]]
    columns = _input_columns(place, titles, system)
    types = {var.name: named_type(var, names) for var in _variables(system)}
    inputs: list[Valuation] = []
    lines: list[int] = []
    initial: Valuation = {}
    begin = ""
    for line, row in enumerate(rows[1:], 2):
        if not any(cell.strip() for cell in row):
            continue
        row = [with_point(cell) for cell in row] if comma else row
        given, here = dict(zip(titles, row, strict=False)), Location(str(place), line)
        step = given.get("step", "").strip()
        if step == START_ROW:
            initial = _start_values(system, given, types, here)
        if step in (START_ROW, END_ROW):
            continue
        _refuse_ragged(row, len(titles), here)
        before = inputs[-1] if inputs else {}
        begin = step if not inputs else begin
        missing = _left_out(begin, step, len(inputs), here)
        inputs += [before] * missing
        lines += lines[-1:] * missing
        cells = {var.name: (row[at], Location(str(place), line, at + 1)) for at, var in columns.items()}
        inputs.append(_step_inputs(cells, types, before))
        lines.append(line)
    return Stimulus(str(place), tuple(inputs), initial, {}, (), lines=tuple(lines))


def _refuse_ragged(row: Sequence[str], columns: int, where: Location) -> None:
    """InputRefused unless a row has a cell for each of the ``columns``, and no text behind them."""
    if len(row) < columns or any(cell.strip() for cell in row[columns:]):
        text = f"{len(row)} values for {columns} columns"
        raise InputRefused(text, where, "write one value under each title of the first line")


def _step_inputs(
    cells: Mapping[str, tuple[str, Location]], types: Mapping[str, ValueType], before: Valuation
) -> Valuation:
    """The inputs of a step by the texts of their ``cells``; an empty one stays as ``before``, if there is one."""
    return {
        name: before[name] if before and not text.strip() else parse_value(text, types[name], where, name)
        for name, (text, where) in cells.items()
    }


def _left_out(begin: str, step: str, steps: int, where: Location) -> int:
    """How many steps are left out before ``step``, behind so many ``steps`` from ``begin`` on: the inputs stay.

    Nothing where steps have no numbers. InputRefused, with its place, if a row had it before, or it is too large.
    """
    if not step.isdecimal() or not begin.isdecimal():
        return 0
    number = whole_number(step, 10, where) - whole_number(begin, 10, where)
    if not steps <= number <= STORED:
        text = f"the step {step} follows {counted(steps, 'step')}"
        raise InputRefused(text, where, "number the steps 0, 1, 2, ...; where inputs stay, steps may be left out")
    return number - steps


def _input_columns(place: Path, titles: Sequence[str], system: TransitionSystem) -> dict[int, InputVariable]:
    """The input of each column that holds one. InputRefused unless each input has one column."""
    inputs = {var.name: var for var in system.inputs}
    columns: dict[int, InputVariable] = {}
    for index, title in enumerate(titles):
        here = Location(str(place), 1, index + 1)
        if title not in inputs and _passed_over(title, system):
            continue
        name = find_variable(title, [*inputs], here, what="input")
        if inputs[name] in columns.values():
            raise InputRefused(f"a second column for the input '{name}'", here, "leave one of them out")
        columns[index] = inputs[name]
    missing = [var.name for var in system.inputs if var not in columns.values()]
    if missing:
        raise InputRefused(f"there is no column for the input '{missing[0]}'", Location(str(place), 1), "add it")
    return columns


def _start_values(
    system: TransitionSystem, given: Mapping[str, str], types: Mapping[str, ValueType], where: Location
) -> Valuation:
    """The values that a row gives the variables whose start value the tester chooses."""
    chosen = [name for name in system.chosen if given.get(name, "").strip()]
    return {name: parse_value(given[name], types[name], where, name) for name in chosen}


_PROPERTY = re.compile(r"(G|cover)\s*\(")


@dataclass(frozen=True, slots=True)
class RecordedGoal:
    """A goal as a chain names it, with the text of its property; ``generated`` is its criterion, '' if written."""

    name: str
    text: str
    generated: str = ""

    @property
    def readable(self) -> bool:
        """Whether the text of its property can be read again; that of a C function or a generated goal cannot."""
        return not self.generated and _PROPERTY.match(self.text) is not None


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a chain says of its goals: ``criteria`` generated some, ``infeasible`` are those proved unreachable.

    ``hold``: it changes its inputs only every so many steps. ``sources`` has the digests of each source file that
    it was made from: of its bytes, and of its preprocessed code.
    """

    goals: tuple[RecordedGoal, ...] = ()
    criteria: tuple[str, ...] = ()
    infeasible: tuple[str, ...] = ()
    hold: int = 1
    sources: Mapping[str, tuple[str, str]] = field(default_factory=dict)


def chain_files(path: str) -> list[str]:
    """The chains that ``path`` stands for: itself, or each that its ``chains.json`` names. InputRefused if damaged."""
    place = Path(path)
    if os.path.isdir(path):
        place = place / ("chain.json" if (place / "chain.json").exists() else "chains.json")
    if place.name != "chains.json" or not place.exists():
        return [path]
    data = read_result_of(place)
    chains = data.get("chains") if isinstance(data, dict) else None
    named = [chain.get("file") for chain in chains if isinstance(chain, dict)] if isinstance(chains, list) else []
    files = [file for file in named if isinstance(file, str) and Path(file).name == file]
    if not files or len(files) < len(named):
        raise InputRefused("this file names no chains", Location(str(place)), "name a chain-N.json")
    return [str(place.with_name(file)) for file in files]


def read_recorded(path: str) -> Recorded:
    """What the ``chain.json`` at ``path`` (or in that folder) records; nothing for any other file, or a damaged one."""
    place = Path(path)
    if os.path.isdir(path):
        place = place / "chain.json"
    if place.suffix == ".csv":
        return Recorded()
    try:
        data = read_result_of(place)
        rows = [
            (str(g["name"]), str(g["property"]), str(g.get("generated") or ""), g["verdict"]) for g in data["goals"]
        ]
        criteria = tuple(str(text) for text in data["settings"].get("coverage", ()))
        hold = recorded_hold(data["settings"])
        files = data["controller"]["sources"] if "controller" in data else []
        sources = {str(each["file"]): (str(each["sha256"]), str(each["preprocessed_sha256"])) for each in files}
    except (OSError, InputRefused, ValueError, KeyError, TypeError, AttributeError):
        return Recorded()
    return Recorded(
        tuple(RecordedGoal(*row[:3]) for row in rows),
        criteria,
        tuple(name for name, _, criterion, verdict in rows if criterion and verdict == UNREACHABLE),
        hold,
        sources,
    )


def missing_criteria(project: Project, given: Sequence[str], recorded: Sequence[str]) -> list[str]:
    """The recorded criteria that neither the project nor the options ask for."""
    known = {*(criterion.text for criterion in project.criteria), *given}
    return [text for text in recorded if text not in known]


def unreadable(error: InputRefused, given: Sequence[str], more: Sequence[str]) -> str:
    """Which of the criteria ``more``, loaded behind those ``given``, was refused; '' if the error is another one."""
    places = {Location(f"--cover {number}"): text for number, text in enumerate(more, len(given) + 1)}
    return places.get(error.where, "") if error.where is not None else ""


def known(goal: RecordedGoal, subject: Subject) -> bool:
    """Whether the controller has this goal; a generated one of its name and another text is another decision."""
    texts = {own.name: own.text for own in subject.goals}
    return goal.name in texts and (not goal.generated or texts[goal.name] == goal.text)

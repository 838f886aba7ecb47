"""The project file ``chaincover.toml`` (docs/reference/project-file.md), and the paper's convention without one."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bmc.errors import ChainCoverError, InputRefused, Location
from bmc.limits import read_text, read_toml
from bmc.models.c.controller.reading import SourceConfig
from bmc.models.c.source.options import Dialect, Options
from bmc.native.assembly import instructions
from bmc.records import dataclass
from bmc.system.names import matching, suggestion
from bmc.system.original import FileOptions
from bmc.system.ties import MOST_TICKS
from chaincover.options import ORDERINGS
from chaincover.project.keys import Keys
from chaincover.subject import Justified
from properties.coverage import CoverageCriterion
from properties.durations import Rounding
from properties.text import PropertyText

if TYPE_CHECKING:
    from chaincover.project.bench import Bench

PROJECT_FILE = "chaincover.toml"
MODELS = {".c": "chaincover.project.c_maker", ".dot": "chaincover.project.machine_maker"}
"""By the ending of its files, where the maker of a kind of model is."""
ENDINGS = ", ".join(MODELS)

KEYS: dict[str, dict[str, str]] = {
    "": {
        "name": "name of the project; default: the folder's",
        "period": "period of the step in seconds, for tables and for times in place of numbers of steps",
        "sources": "table: what the compiler is given",
        "functions": "table: which function does what",
        "interface": "table: which variable is what",
        "ranges": 'table: allowed values of variables, by name or pattern: a list of values, or `"0..9"`',
        "constraints": "table: what the environment does to inputs",
        "final": "table: how a chain ends",
        "search": "table: settings of the search",
        "coverage": "table: generated goals",
        "target": "table: the bench on which chains run, and how its signals are recorded",
        "property": "tables `[[property]]`: one requirement each",
    },
    "sources": {
        "files": "C files, relative to the project file; the one key that has to be there",
        "include": "folders of headers",
        "defines": "macros and their values, as texts",
        "target": "word sizes of the target: `lp64` (default), `ilp32`, `llp64`, `ip16`",
        "assembly": "inline assembly that changes no data of the program but its outputs, by its text",
        "options": "further options of the compiler, such as `-funsigned-char`, `-fwrapv`, `-mlong-double-64`",
        "compile_commands": "a `compile_commands.json`: folders of headers, macros and options of each file",
    },
    "functions": {
        "init": "functions or calls that are run once, in this order",
        "step": "the function, or call, that is run once in each step",
        "properties": "C functions that state properties; default `p_*`",
        "final": "C function: the condition in which a chain ends",
        "assumption": "C function: which inputs are allowed",
        "invariant": "C functions: what holds in every state; used where it is proved",
        "input": "functions that no source defines, and that deliver inputs",
        "output": "functions that no source defines, and that take outputs",
        "status": "functions whose result tells whether the call worked, where that is an input",
        "bases": "true: functions may be called through pointers that name a struct which the function's begins with",
        "shared": "functions that read and write one variable, by its name",
        "bounds": "table: the least and the greatest value of functions of the C library, such as `sin`",
    },
    "interface": {
        "input": "variables that are inputs",
        "state": "variables that are state",
        "output": "variables that are outputs",
        "ignore": "variables that are left out",
        "chosen": "state left open by init whose start value the tester chooses",
        "zeroed": "what pointers of the step lead to, if that memory is 0 before init runs",
        "values": "values of objects and functions that no source defines",
        "hold": 'inputs change only every so many steps, or after a time such as `"50ms"`; default 1',
        "partial": "true: an input that a state of a machine lacks is not allowed there; default: it is an error",
        "separator": "what stands between input and output in the labels of a Mealy machine; default `/`",
    },
    "constraints": {
        "at_most_one": "lists of inputs of which at most one is nonzero in a step",
        "exactly_one": "lists of inputs of which exactly one is nonzero in a step",
        "assume": "conditions on inputs and state, over several steps too",
        "initial": "conditions on the inputs of the first step",
        "dwell": "for how many steps, or for what time, an input keeps each value at least",
    },
    "final": {"condition": 'a condition on the state, `"init"` (as after init) or `"none"`'},
    "search": {
        "bound": "K, the largest distance between two goals that is sought, in steps or as a time; default: it grows",
        "overlap": "`allow` (default) or `forbid`: may goals share steps?",
        "ordering": "who orders the goals; default `auto`",
    },
    "target": {
        "signals": "table: what variables are called in recordings, and how they are recorded",
        "safe": "inputs for a target whose state is not known, or a list of them, one step after the other",
        "reset_seconds": "seconds that a reset takes, for the minutes that a chain saves",
        "lateness": "by how many seconds the bench may be late in a step",
        "shift": "by how many steps, or by what time, a recording may be shifted; default 0",
        "driver": "what `run` drives the target by",
    },
    "coverage": {
        "criteria": "criteria that generate goals, such as `branches()`",
        "justified": "list of tables: lines that need not be executed, nor every outcome on them, and the reason",
    },
    "property": {
        "id": "its name; default: the one in its text, or a number",
        "text": "the property: `G(antecedent -> consequent)` or `cover(condition)`",
        "requirement": "the requirement that it stands for, shown with its results",
        "description": "free text, kept in the result",
    },
}
"""All keys by their tables, and what each says. The table of the keys in the reference is made of this."""


@dataclass(frozen=True)
class Project:
    """Everything that a project says.

    ``final`` is a C expression, ``"init"`` or ''; ``final_function`` a C function's name or ''. ``period`` is the step
    period in seconds. ``by_convention``: there was no project file, so that optional functions may be missing.
    ``text`` is the content of the project file. ``criteria`` generate goals. ``hold``: inputs change only every so many
    steps. ``partial``: an input that a state of a machine lacks is not allowed there;
    ``separator`` stands between input and output in its labels. ``target`` is the bench, None where nothing is said.
    ``times``: the times in place of numbers of steps, with these, a sentence each.
    ``justified`` says what code need not be executed.
    """

    config: SourceConfig
    property_functions: tuple[str, ...] = ("p_*",)
    properties: tuple[PropertyText, ...] = ()
    final: str = ""
    final_function: str = ""
    period: Fraction | None = None
    bound: int | None = None
    overlap: str = "allow"
    ordering: str = "auto"
    by_convention: bool = False
    sources: tuple[str, ...] = ()
    text: str = ""
    criteria: tuple[CoverageCriterion, ...] = ()
    hold: int = 1
    partial: bool = False
    separator: str = ""
    target: Bench | None = None
    times: tuple[str, ...] = ()
    justified: tuple[Justified, ...] = ()

    @property
    def where(self) -> Location:
        """The project file, or the first source file."""
        return self.config.where or Location(self.config.files[0])

    def place_of(self, error: InputRefused) -> Location | None:
        """Where the error is: if it names the project file alone, the line that holds a name quoted in its message.

        Only a name that stands in one place of the file tells a line.
        """
        if not self.text or error.where != self.config.where:
            return error.where
        for name in re.findall(r"'([^']+)'", error.message):
            place = self.line_of(name)
            if place is not None:
                return place
        ranged = _ABOUT_A_RANGE.search(error.message)
        if ranged is None:
            return error.where
        key = next((key for key in self.config.ranges if _selects(key, ranged[1])), "")
        return Keys(Path(self.where.file), self.text, {}).where(key, "ranges") if key else error.where

    def line_of(self, text: str) -> Location | None:
        """Where ``text`` stands in the project file, if that is one place."""
        places = [
            Location(self.where.file, line, match.start() + 1)
            for line, row in enumerate(self.text.splitlines(), 1)
            for match in re.finditer(rf"(?<![\w>])(?<![^.]\.){re.escape(text)}(?![\w.]|->)", row.partition("#")[0])
        ]
        return places[0] if len(places) == 1 else None


PROJECT_FIRST = "name the project first, then the chain"
RESULTS = ("chain.json", "chains.json")
"""One of them is in a folder of results."""

_ABOUT_A_RANGE = re.compile(r"(?:does not fit|the range of|unknown variable) '([^']+)'")


def _selects(pattern: str, name: str) -> bool:
    try:
        return bool(matching([pattern], [name], None, "variable"))
    except InputRefused:
        return False


def read_project(path: str) -> Project:
    """Read a project: a folder with a ``chaincover.toml``, a project file, or a model alone.

    A C file alone is read by the paper's convention.

    InputRefused, with its place, if it cannot be read.
    """
    place = Path(path)
    if os.path.isdir(path):
        place = place / PROJECT_FILE
        if not os.path.exists(place):
            results = any(os.path.exists(Path(path) / name) for name in RESULTS)
            hint = PROJECT_FIRST if results else f"name a C file, or write one with 'chaincover init {path}/FILE.c'"
            raise InputRefused(f"there is no {PROJECT_FILE} in this folder", Location(path), hint)
    if not os.path.exists(place):
        raise InputRefused(
            "no such file", Location(path), f"name a model ({ENDINGS}), a project file or a folder with one"
        )
    if place.suffix == ".toml":
        return _from_toml(place)
    if place.suffix not in MODELS:
        hint = PROJECT_FIRST if place.suffix in (".json", ".csv") else f"its name must end in {ENDINGS} or .toml"
        raise InputRefused("this is neither a model nor a project file", Location(path), hint)
    config = SourceConfig(place.stem, (str(place),))
    if place.suffix == ".c":
        config = replace(config, include=(str(place.parent),), assumption="assumption")
    return Project(config, final_function="final", by_convention=True, sources=(place.name,))


def is_code(path: str) -> bool:
    """Whether the project at ``path`` is that of a C program; also where it cannot be read."""
    try:
        return not any(Path(file).suffix in MODELS.keys() - {".c"} for file in read_project(path).config.files)
    except ChainCoverError:
        return True


def refuse_project(chain: str) -> None:
    """InputRefused where a project is named in the place of a ``chain``: the two are mostly swapped."""
    place = Path(chain)
    names = [name for name in (PROJECT_FILE, *RESULTS) if os.path.exists(place / name)] if os.path.isdir(chain) else []
    if place.suffix in (".toml", *MODELS) or names == [PROJECT_FILE]:
        raise InputRefused("this is a project, not a chain", Location(chain), PROJECT_FIRST)


def _from_toml(place: Path) -> Project:
    text = read_text(place, "the project file")
    return _Reader(place, text, read_toml(text, Location(str(place)))).project()


class _Reader(Keys):
    """Reads the tables of one project file; all that is wrong is refused at once, each with the line of its key."""

    def project(self) -> Project:
        """The whole project."""
        self._check_keys("", self.data)
        base = self.place.parent
        files = self.strings("sources", "files")
        if not files:
            text, hint = "no source file is named", 'write [sources] files = ["FILE.c"]'
            self.refuse(InputRefused(text, Location(str(self.place)), hint))
        final = self.string("final", "condition")
        final_function = self.string("functions", "final")
        if final and final_function:
            self.refuse(InputRefused("both final.condition and functions.final are set", self.where("condition")))
        project = Project(
            config=self._config(base, files),
            property_functions=self.strings("functions", "properties", ("p_*",)),
            properties=tuple(self._properties()),
            final=final,
            final_function=final_function,
            period=None if self.number("", "period") is None else self.period.seconds,
            bound=self.steps("search", "bound", Rounding.AT_MOST),
            overlap=self.choice("search", "overlap", ("allow", "forbid"), "allow"),
            ordering=self.choice("search", "ordering", ORDERINGS, "auto"),
            sources=files,
            text=self.text,
            hold=self._hold(),
            partial=self.flag("interface", "partial"),
            separator=self.string("interface", "separator"),
            target=self._bench() if "target" in self.data else None,
            criteria=tuple(
                CoverageCriterion(c, self.where_is("criteria", c)) for c in self.strings("coverage", "criteria")
            ),
            justified=tuple(self._justified()),
        )
        self.refusals.refuse(by_place=True)
        return replace(project, times=tuple(self.times))

    def _bench(self) -> Bench:
        from chaincover.project.bench import read_bench

        return read_bench(self)

    def _justified(self) -> Iterator[Justified]:
        """What is said of code that need not be executed. Whether there is such code is known once it is measured."""
        found = self.table("coverage").get("justified", [])
        needed = 'a list of tables such as { file = "FILE.c", lines = "12..15", reason = "TEXT" }'
        for each in found if isinstance(found, list) else [found]:
            own = {key: str(value) for key, value in each.items()} if isinstance(each, dict) else {}
            low, _, high = own.get("lines", "").partition("..")
            if own.keys() != {"file", "lines", "reason"} or not low.isdecimal() or not (high or low).isdecimal():
                self.refuse(self.wrong("justified", needed, "coverage"))
            elif not own["reason"].strip() or not 0 < int(low) <= int(high or low):
                text = f"what 'justified' says of {own['file']} has no reason, or no lines"
                self.refuse(InputRefused(text, self.where("justified", "coverage"), f"write {needed}"))
            else:
                yield Justified(own["file"], int(low), int(high or low), own["reason"].strip())

    def _hold(self) -> int:
        found = self.steps("interface", "hold", Rounding.AT_LEAST)
        if found is not None and not 1 <= found <= MOST_TICKS:
            self.refuse(self.wrong("hold", f"a number of steps from 1 to {MOST_TICKS}, or a time"))
        return 1 if found is None else found

    def _dwell(self) -> dict[str, int]:
        """For how many steps inputs keep each value."""
        found = self.table("constraints").get("dwell", {})
        if not isinstance(found, dict):
            self.refuse(self.wrong("dwell", 'a table such as { door = 5, "i->*" = "2s" }', "constraints"))
            return {}
        where = self.where("dwell", "constraints")
        found = {
            name: self.in_steps(f"dwell of {name}", steps, Rounding.AT_LEAST, where) for name, steps in found.items()
        }
        for name, steps in found.items():
            if isinstance(steps, bool) or not isinstance(steps, int) or not 1 <= steps <= MOST_TICKS:
                text = f"the dwell time of '{name}' must be a number of steps from 1 to {MOST_TICKS}, or a time"
                self.refuse(InputRefused(text, where))
        return dict(found)

    def _config(self, base: Path, files: tuple[str, ...]) -> SourceConfig:
        defines = self.table("sources").get("defines", {})
        if not isinstance(defines, dict):
            self.refuse(self.wrong("defines", 'a table such as { TIMEOUT = "4" }'))
            defines = {}
        init = self.table("functions").get("init")
        target = self.string("sources", "target")
        paths = tuple(str(base / f) for f in files)
        options, dialect = self._options(base, paths, target)
        here = [""] if any(Path(file).suffix == ".c" for file in files) else []
        return SourceConfig(
            name=self.string("", "name") or self.place.resolve().parent.name,
            files=paths,
            include=tuple(str(base / f) for f in (*here, *self.strings("sources", "include"))),
            defines=tuple((name, str(value)) for name, value in defines.items()),
            target=target or dialect.target or "lp64",
            assembly=self._assembly(),
            options=options,
            dialect=dialect,
            init=None if init is None else self.strings("functions", "init"),
            step=self.string("functions", "step"),
            input=self.strings("interface", "input"),
            state=self.strings("interface", "state"),
            output=self.strings("interface", "output"),
            ignore=self.strings("interface", "ignore"),
            chosen=self.strings("interface", "chosen"),
            zeroed=self.strings("interface", "zeroed"),
            ranges={name: self.range(name, value) for name, value in self.table("ranges").items()},
            at_most_one=self.groups("at_most_one"),
            exactly_one=self.groups("exactly_one"),
            assume=self.strings("constraints", "assume"),
            initial=self.strings("constraints", "initial"),
            dwell=self._dwell(),
            assumption=self.string("functions", "assumption"),
            invariant=self.strings("functions", "invariant"),
            input_functions=self.strings("functions", "input"),
            output_functions=self.strings("functions", "output"),
            status_functions=self.strings("functions", "status"),
            bases=self.flag("functions", "bases"),
            shared=self.named_groups("functions", "shared"),
            bounds=self._bounds(),
            values=self.named_numbers("interface", "values"),
            where=Location(str(self.place)),
        )

    def _assembly(self) -> tuple[str, ...]:
        found = self.strings("sources", "assembly")
        for text in found:
            if not instructions(text):
                hint = "leave it out: inline assembly without instructions is read as it is"
                place = self.where("assembly", "sources")
                self.refuse(InputRefused(f"'{text}' in 'assembly' is no instruction", place, hint))
        return found

    def _bounds(self) -> dict[str, tuple[str, Location]]:
        """The range of values of each function that is bounded, with its place."""
        value = self.table("functions").get("bounds", {})
        good = isinstance(value, dict) and all(isinstance(each, str) and ".." in each for each in value.values())
        if not good:
            self.refuse(self.wrong("bounds", 'a table such as { sin = "-1.0..1.0" }', "functions"))
            return {}
        places = {name: self.where(name) for name in value}
        own = self.where("bounds", "functions")
        return {name: (text, places[name] if places[name].line else own) for name, text in value.items()}

    def _options(self, base: Path, files: Sequence[str], target: str) -> tuple[dict[str, FileOptions], Dialect]:
        """What the compiler is given for each file besides, and what that says of the language."""
        more, database = self.strings("sources", "options"), self.string("sources", "compile_commands")
        found: tuple[dict[str, FileOptions], Dialect] = {}, Dialect()
        try:
            if database:
                from chaincover.project.compile_commands import options_of  # which most projects do without

                found = options_of(base / database, files, more, target)
            elif more:
                all_files = Options(more, str(base), self.where("options"))
                found = dict.fromkeys(files, all_files.of_file), all_files.dialect
            if target and found[1].target not in ("", target):
                text = f"the options say that the word sizes are {found[1].target}, not {target}"
                raise InputRefused(text, self.where("target"), "leave out sources.target, or the option")
        except InputRefused as error:
            self.refuse(error)
        return found

    def _properties(self) -> list[PropertyText]:
        found = self.data.get("property", [])
        if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
            self.refuse(self.wrong("property", "tables headed [[property]]"))
            return []
        lines = self._property_lines()
        properties = []
        for index, item in enumerate(found):
            where = Location(str(self.place), lines[index] if len(lines) == len(found) else 0)
            self._check_keys("property", item)
            wrong = [key for key, value in item.items() if not isinstance(value, str)]
            for key in wrong:
                self.refuse(InputRefused(f"'{key}' of a property must be a text in quotes", where))
            if "text" not in item and item.keys() <= KEYS["property"].keys():
                hint = 'write text = "G(antecedent -> consequent)"'
                self.refuse(InputRefused("a [[property]] has no text", where, hint))
            elif "text" in item and not wrong:
                name, requirement, description = (item.get(key, "") for key in ("id", "requirement", "description"))
                properties.append(PropertyText(item["text"], where, name, requirement, description, self.period))
        return properties

    def _property_lines(self) -> list[int]:
        """For each [[property]] the line of its text, or of its heading if it has none."""
        lines: list[int] = []
        has_text = True
        for number, row in enumerate(self.text.splitlines(), 1):
            if re.match(r"\s*\[\[\s*property\s*\]\]", row):
                lines.append(number)
                has_text = False
            elif not has_text and re.match(r"\s*text\s*=", row):
                lines[-1] = number
                has_text = True
        return lines

    def _check_keys(self, table: str, found: Mapping[str, Any]) -> None:
        for key, value in found.items():
            if key not in KEYS[table]:
                shown = f"{table}.{key}" if table else key
                self.refuse(InputRefused(f"unknown key '{shown}'", self.where(key), suggestion(key, [*KEYS[table]])))
            elif not table and key in KEYS and key != "property":
                if isinstance(value, dict):
                    self._check_keys(key, value)
                else:
                    self.refuse(self.wrong(key, f"a table headed [{key}]"))

"""A driver that knows nothing of ChainCover's search: random runs of the compiled controller, in C.

The harness that ``benchmarks.bench.tools.harness`` writes for CBMC stands around the original program and judges the
goals; ``driver.c`` draws the inputs in place of CBMC. What it meets is what any user meets who writes such a loop.
"""

from __future__ import annotations

import re
import subprocess
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.bench.tools.harness import covered, harness
from bmc.errors import ChainCoverError
from bmc.models.c.controller.model import c_model
from bmc.native.original import find_compiler
from bmc.system.transition import InputVariable, StateVariable, conjuncts, symbols_of
from chaincover.subject import Subject

DRIVER = Path(__file__).with_name("driver.c")

STEPS = 20_000_000
"""Steps of all runs together. Twice as many find a little more where runs are fast, and change nothing elsewhere."""

SECONDS = 5.0
"""Seconds of the processor after which the driver ends, if the steps have not ended it before."""

PROGRAM = """\
#define __CPROVER_input(name, value) ((void)(value))
#define CC_WANTED 1
#include "harness.c"
_Bool *const cc_flags[] = {%s};
void cc_start(void) { chaincover_start(); chaincover_after(); }
void cc_choose(void) { chaincover_choose(); }
void cc_step(void) { chaincover_before(); chaincover_step(); chaincover_after(); }
void cc_end(void) { chaincover_end(); }
"""
TRAPS = ("-fsanitize=undefined,float-cast-overflow", "-fno-sanitize=shift-base", "-fsanitize-undefined-trap-on-error")
"""With these a compiled program stops where it would do what C leaves undefined."""

FLAGS = ("-std=gnu11", "-O1", "-w")


class DriverFailed(ChainCoverError):
    """The driver of a controller could not be compiled or did not end well."""

    next_step = "see the files of the driver in its folder"


@dataclass(frozen=True, slots=True)
class Meeting:
    """A goal was met in the run with this number, after ``steps`` of its steps and ``total`` of all runs."""

    run: int
    steps: int
    total: int


@dataclass(frozen=True, slots=True)
class Driven:
    """What the driver met, by goal; how many runs and steps it made, and in how many seconds of the processor."""

    met: dict[str, Meeting]
    runs: int
    steps: int
    seconds: float


@dataclass(frozen=True)
class Driver:
    """The compiled driver of a controller."""

    subject: Subject
    program: Path

    def drive(self, seed: int = 1, steps: int = STEPS, seconds: float = SECONDS) -> Driven:
        """Random runs with ``steps`` steps together, for ``seconds`` of the processor at most.

        DriverFailed where the program ends in another way.
        """
        met: dict[str, Meeting] = {}
        for word, *numbers in map(str.split, self._lines(str(seed), str(steps), str(seconds))):
            if word == "end":
                return Driven(met, int(numbers[0]), int(numbers[1]), float(numbers[2]))
            goal, run, taken, total = map(int, numbers)
            met[self.subject.goals[goal].name] = Meeting(run, taken, total)
        raise DriverFailed(f"the driver of {self.subject.system.name} has not come to its end")

    def run(self, number: int, seed: int = 1) -> list[dict[str, int]]:
        """The inputs of each step of a run, as raw values."""
        inputs = self.subject.system.inputs
        lines = self._lines(str(seed), str(1 << 60), "1000", str(number))
        return [
            {var.name: int(word) % (1 << var.type.bits) for var, word in zip(inputs, line.split(), strict=True)}
            for line in lines
        ]

    def _lines(self, *words: str) -> list[str]:
        done = subprocess.run([str(self.program), *words], capture_output=True, text=True, check=False)
        if done.returncode:
            raise DriverFailed(f"the driver of {self.subject.system.name} ended with {done.returncode}")
        return done.stdout.splitlines()


def driver(subject: Subject, folder: Path) -> Driver:
    """The driver of ``controller``, compiled in ``folder``.

    DriverFailed where there is no compiler, or it refuses; InputRefused where the harness has no words for the program.
    """
    files = [name for name in harness(subject).write(folder) if not name.endswith("harness.c")]
    flags = ", ".join(f"&{covered(number)}" for number in range(len(subject.goals)))
    (folder / "program.c").write_text(PROGRAM % (flags or "0"), encoding="utf-8")
    (folder / "tables.h").write_text("\n".join(tables(subject)) + "\n", encoding="utf-8")
    compilation = c_model(subject.model).native.compilation
    places = [*(str(Path(source).parent) for source in compilation.sources), *compilation.include_dirs]
    places += [str(Path(path).parent) for _, path in compilation.stand_ins]
    words = [word for place in dict.fromkeys(places) for word in ("-I", place)]
    words += [f"-D{name}={value}" for name, value in compilation.defines]
    objects = [folder / "program.o", folder / "driver.o"]
    _compile([*FLAGS, *TRAPS, *words, "-c", str(folder / "program.c"), "-o", str(objects[0])])
    _compile([*FLAGS, "-O2", "-I", str(folder), "-c", str(DRIVER), "-o", str(objects[1])])
    target = folder / "driver"
    _compile([*map(str, objects), *files, "-o", str(target), "-lm"])
    return Driver(subject, target)


def _compile(words: Sequence[str]) -> None:
    compiler = find_compiler()
    if compiler is None:
        raise DriverFailed("there is no C compiler")
    done = subprocess.run([compiler, *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise DriverFailed(f"the driver could not be compiled: {done.stderr[:500]}")


def tables(subject: Subject) -> Iterator[str]:
    """The lines of ``tables.h``: what inputs, and start values that the tester chooses, may be."""
    system = subject.system
    chosen = [var for name in system.chosen for var in system.state if var.name == name]
    drawn: list[InputVariable | StateVariable] = [*system.inputs, *chosen]
    constrained, numbers = constrained_inputs(subject), constants(subject)
    yield "struct range { word low, high; };"
    yield "struct input { int count, kind, constrained; const struct range *ranges; };"
    yield f"enum {{ GOALS = {len(subject.goals)}, INPUTS = {len(system.inputs)}, CHOSEN = {len(chosen)} }};"
    yield f"enum {{ SLOTS = {max(len(system.inputs), len(chosen), 1)}, NUMBERS = {len(numbers)} }};"
    yield f"static const word numbers[] = {{{', '.join(f'{number}ull' for number in numbers)}}};"
    rows = []
    for place, var in enumerate(drawn):
        ranges = _ranges(var)
        words = ", ".join(f"{{{low % (1 << 64)}ull, {high % (1 << 64)}ull}}" for low, high in ranges)
        yield f"static const struct range ranges_{place}[] = {{{words}}}; /* {var.name} */"
        kind = var.type.bits if var.type.floating else 0
        rows.append(f"{{{len(ranges)}, {kind}, {int(var.name in constrained)}, ranges_{place}}}")
    yield f"static const struct input inputs[] = {{{', '.join(rows) or '{0}'}}};"


def _ranges(var: InputVariable | StateVariable) -> Sequence[tuple[int, int]]:
    """The values of a variable as ranges, each with its least and its greatest one."""
    given = getattr(var, "values", ())
    return given or [(var.type.least, var.type.greatest)]


def constrained_inputs(subject: Subject) -> set[str]:
    """The inputs that a condition names together with other variables."""
    inputs = {var.name for var in subject.system.inputs}
    found = set[str]()
    for condition in conjuncts(subject.system.input_constraint):
        names = {symbol.symbol_name() for symbol in symbols_of(condition)}
        found |= names & inputs if len(names) > 1 else set()
    return found


def constants(subject: Subject) -> list[int]:
    """The numbers that stand in the project's constraints, and 1."""
    path = Path(subject.settings.where.file)
    text = tomllib.loads(path.read_text(encoding="utf-8")).get("constraints", {}) if path.is_file() else {}
    words = " ".join([*text.get("assume", ()), *text.get("initial", ())])
    return sorted({1, *map(int, re.findall(r"\b\d+\b", words))})

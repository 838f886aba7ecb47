"""C programs as inputs: what is read and can be built is compared with what gcc makes of it, step by step."""

from __future__ import annotations

import functools
import random
import tempfile
from pathlib import Path

from benchmarks import FOLDER
from benchmarks.checks.fuzz import csmith
from benchmarks.checks.fuzz.agreement import agreement
from benchmarks.checks.fuzz.examine import AGREE, DIFFER, Input, Kind, Row
from benchmarks.checks.fuzz.generator import Program
from benchmarks.checks.fuzz.mutations import gentle, several, wild
from bmc.formulas.evaluate import compile_formulas
from bmc.models.c.controller.build import read_c
from bmc.models.c.controller.model import CModel, c_model
from bmc.models.c.controller.reading import SourceConfig
from bmc.native.differential import Sampler
from bmc.system.transition import Valuation
from chaincover.project.load import Program as Loaded
from chaincover.project.project_file import PROJECT_FILE, read_project

STEPS = 100
"""Steps of each program, half along runs from init, half from any state."""
MODELS = FOLDER / "models"
WORDS = (
    *("volatile", "const", "static", "extern", "inline", "_Noreturn", "register", "typedef", "struct", "union", "enum"),
    *(
        "sizeof",
        "_Alignof",
        "goto",
        "switch",
        "case 1:",
        "default:",
        "for(;;)",
        "do",
        "else",
        "return",
        "_Static_assert",
    ),
    *("__attribute__((packed))", "__attribute__((constructor))", "__extension__", "__builtin_expect", "asm", "_Atomic"),
    *(
        "\n#define if while\n",
        "\n#define A(x, ...) x##x #x\n",
        "\n#if 1 / 0\n",
        "\n#if 0x\n",
        "\n#else\n",
        "\n#endif\n",
    ),
    *('\n#include "gone.h"\n', "\n#include <math.h>\n", "\n#include __FILE__\n", "\n#line 0\n", '\n#line 9 "x"\n'),
    *("\n#pragma pack(1)\n", "\n#error no\n", "\n#undef __GNUC__\n", "\n#ifdef\n", "\n# 3\n", "\n#define int long\n"),
    *("__LINE__", "__FILE__", "__func__", "__COUNTER__", "defined(x)", "NULL", "memset", "memcpy", "assert(0)", "main"),
    *(
        "__CPROVER_assume",
        "__CPROVER_cover(1);",
        "fabs",
        "(int)",
        "(unsigned char)",
        "&",
        "*",
        "->",
        "[0]",
        "{0}",
        "= {",
    ),
    *(
        ", ...",
        "int x[0];",
        "int : 3;",
        "struct s;",
        "L'a'",
        'u8"x"',
        '"\\x',
        "'\\400'",
        "'ab'",
        "1.f",
        "1e",
        "0b",
        "1'0",
    ),
)
"""What is put into programs."""


def _of_grammar(random: random.Random, floating: bool, gnu: bool = False, turns: bool = False) -> Input:
    size, kind = 1 + random.randrange(2 if turns else 5), random.randrange(4)  # the two together in a quarter
    overlaid, pointers = kind in (1, 3), kind in (2, 3)
    flags = {"overlaid": overlaid, "pointers": pointers, "idioms": random.random() < 0.3, "turns": turns}
    text = Program(random, size, floating, not floating, gnu, **flags).text  # type: ignore[arg-type]
    return {"files": {"program.c": text}, "step": "compute"}


def _narrow(random: random.Random) -> Input:
    """A program whose types have 32 bits where the machine's have 64."""
    return {**_of_grammar(random, random.random() < 0.3, random.random() < 0.5), "target": "ilp32"}


def _of_mathematics(random: random.Random) -> Input:
    kind = random.randrange(5)  # each with another kind of construct, or alone
    size, floating = 1 + random.randrange(5), random.random() < 0.2
    program = Program(random, size, floating, kind == 0, kind == 1, kind == 2, kind == 3, mathematics=True)
    return {"files": {"program.c": program.text}, "step": "compute"}


def _of_csmith(random: random.Random) -> Input:
    text = csmith.source(random.getrandbits(31), random.random() < 0.5)
    return {"files": {"program.c": text, "csmith.h": csmith.HEADER}, "step": "step", "include": [str(csmith.WRAPPERS)]}


@functools.cache
def model_files() -> dict[str, dict[str, str]]:
    """The files of each bundled model, by its name."""
    return {
        place.parent.name: {
            file.name: file.read_text(encoding="utf-8")
            for file in sorted(place.parent.iterdir())
            if file.suffix in (".c", ".h", ".toml") and file.name != "expected.toml"
        }
        for place in sorted(MODELS.glob(f"*/{PROJECT_FILE}"))
    }


def mutant(random: random.Random) -> Input:
    """A bundled model, or now and then a program of the grammar, with a few changes in one of its files."""
    if random.random() < 0.25:
        data = _of_grammar(random, random.random() < 0.5)
    else:
        data = {"files": dict(model_files()[random.choice(list(model_files()))])}
    name = random.choice([name for name in data["files"] if name.endswith((".c", ".h"))])
    text = data["files"][name]
    if random.random() < 0.8:
        text = several(random, text, gentle, random.choice((1, 1, 1, 2, 4)))
    else:
        text = several(random, text, lambda source, old: wild(source, old, WORDS), 2)
    return {**data, "files": {**data["files"], name: text}}


def write_files(folder: Path, data: Input) -> None:
    """Write the files of an input; lone surrogates stand for bytes that are no UTF-8."""
    for name, text in data["files"].items():
        (folder / name).write_bytes(text.encode("utf-8", "surrogateescape"))


def read(folder: Path, data: Input) -> CModel:
    """The controller of an input, whose files are in ``folder``."""
    if PROJECT_FILE in data["files"]:
        return c_model(Loaded.of(read_project(str(folder))).model)
    file = str(folder / "program.c")
    include, target = (str(folder), *data.get("include", ())), data.get("target", "lp64")
    return read_c(SourceConfig("program", (file,), include=include, target=target, step=data["step"]))


def outside_bounds(model: CModel, steps: int) -> Valuation | None:
    """A state of a random run in which bounds do not hold that were proved of all reachable states."""
    if model.recorder.bounds.is_true():
        return None
    sampler, holds = Sampler(model.system, seed=1), compile_formulas([model.recorder.bounds])
    for inputs in sampler.runs(steps):
        states = sampler.simulator.run(sampler.simulator.initial(), inputs).states
        wrong = next((state for state in states if not holds(state)[0]), None)
        if wrong is not None:
            return wrong
    return None


def _compare(data: Input) -> Row:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder, data)
        model = read(folder, data)
        found, wrong = agreement(model, pairs=STEPS), outside_bounds(model, STEPS)
    text = "".join(text for file, text in data["files"].items() if not file.endswith(".toml"))
    detail = str(found.differences[0]) if found.differences else f"trap: {found.traps[0]}" if found.traps else ""
    detail = detail if wrong is None else f"a run leaves the bounds that were proved: {wrong}"
    outcome = DIFFER if detail else AGREE
    return Row(outcome, detail, found.steps, len(model.system.state), len(text.splitlines()))


PROGRAMS = (
    Kind("c", lambda random: _of_grammar(random, False), _compare),
    Kind("c-floats", lambda random: _of_grammar(random, True), _compare),
    Kind("c-gnu", lambda random: _of_grammar(random, random.random() < 0.2, True), _compare),
    Kind("c-narrow", _narrow, _compare),
    Kind("c-math", _of_mathematics, _compare),
    Kind("c-turns", lambda random: _of_grammar(random, False, random.random() < 0.2, True), _compare),
    Kind("c-csmith", _of_csmith, _compare),
    Kind("c-mutants", mutant, _compare),
)

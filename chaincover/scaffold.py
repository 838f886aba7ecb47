"""``chaincover init``: a commented project file for one C source, filled with what was found in it."""

from __future__ import annotations

import os
from pathlib import Path

from bmc.c.build import read_c, read_program
from bmc.c.config import SourceConfig
from bmc.c.model import CModel
from bmc.c.program import Function, with_deep_stack
from bmc.c.types import show_type
from bmc.errors import ChainCoverError, InputRefused, Location

_STEP_WORDS = ("step", "compute", "main", "tick", "update", "run", "loop", "do_step")
_INIT_WORDS = ("init", "initialize", "initialise", "reset", "start")
_LINE = 120


def project_text(file: str, folder: Path) -> str:
    """A project file for ``file``, to be kept in ``folder``. InputRefused if the source cannot be parsed."""
    place = Path(file)
    if place.suffix != ".c" or not place.exists():
        raise InputRefused("no such C file", Location(file), "name an existing .c file")
    config = SourceConfig(place.stem, (file,), include=(str(place.parent),))
    functions = with_deep_stack(lambda: read_program(config)[0]).defined_functions()
    step = _guess(functions, _STEP_WORDS)
    init = _guess(functions, _INIT_WORDS)
    model, problem = _try_model(config, step, init)
    lines = [
        f"# ChainCover project for {place.name}. Every key is explained in docs/project-file.md.",
        f'name = "{place.stem}"',
        "# period = 0.01              # step period in seconds, for reports",
        "",
        "[sources]",
        f'files = ["{Path(os.path.relpath(place, folder)).as_posix()}"]',
        '# include = ["include"]      # folders of headers, also of stand-ins for missing ones',
        '# defines = { TIMEOUT = "4" }',
        "",
        "[functions]                  # defined here: " + (", ".join(f.name for f in functions) or "none"),
        f'init = ["{init}"]' if init else '# init = ["..."]            # run once; a name or a call like "init(&s, 3)"',
        f'step = "{step}"' if step else '# step = "..."              # run once per step',
        '# properties = ["p_*"]       # C functions that state properties',
        *_conditions(functions),
        "",
        *_interface(model, problem),
        "",
        "[constraints]",
        '# at_most_one = [["up", "down"]]',
        '# exactly_one = [["gas", "brake"]]',
        '# assume = ["temperature >= 10"]',
        "",
        "[final]",
        '# condition = "init"         # a chain ends as it began; or a C expression over the state',
        "",
        "[search]",
        "# bound = 30                 # K; without it K grows until a chain is found",
        "",
        "[coverage]",
        '# criteria = ["transitions(mode)", "branches()", "mcdc()"]   # generated goals: docs/coverage-goals.md',
        "",
        "# [[property]]",
        '# id = "p1"',
        '# text = "G(antecedent -> X(consequent))"   # or "cover(condition)"',
        '# requirement = "REQ-1"',
    ]
    return "\n".join(lines) + "\n"


def _conditions(functions: list[Function]) -> list[str]:
    """The keys of condition functions: those of the paper's convention, where they are defined."""
    names = {f.name for f in functions}
    return [f'{"" if word in names else "# "}{word} = "{word}"' for word in ("final", "assumption")]


def _guess(functions: list[Function], words: tuple[str, ...]) -> str:
    """The function whose name is, or ends in, one of ``words`` (earlier words first)."""
    names = [f.name for f in functions if f.name != "main"]
    for word in words:
        exact = [n for n in names if n == word]
        tails = [n for n in names if n.lower().endswith(word)]
        if exact or tails:
            return (exact or tails)[0]
    return ""


def _try_model(config: SourceConfig, step: str, init: str) -> tuple[CModel | None, str]:
    if not step:
        return None, "set functions.step, then run 'chaincover check' to see the interface"
    try:
        chosen = SourceConfig(config.name, config.files, config.include, init=(init,) if init else (), step=step)
        return read_c(chosen), ""
    except ChainCoverError as error:
        return None, str(error).replace("\n", " ")


def _interface(model: CModel | None, problem: str) -> list[str]:
    if model is None:
        return ["[interface]", f"# not read yet: {problem}", '# input = ["i->*"]', '# state = ["s->*"]']
    lines = ["[interface]                  # as recognised; move names between the lists where it is wrong"]
    for role in ("input", "state", "output"):
        lines += _list(role, [_quoted(v.name) for v in model.variables if v.role == role])
    lines += [f"# {note}" for note in model.notes]
    lines += ["", "[ranges]                     # allowed values of inputs, and of state for random testing"]
    for variable in model.inputs:
        values = next(v.values for v in model.system.inputs if v.name == variable.name)
        text = ", ".join(f"{low}..{high}" if low != high else str(low) for low, high in values)
        lines.append(f'# {_quoted(variable.name)} = "{text}"   # {show_type(variable.ctype)}')
    return lines


def _list(key: str, items: list[str]) -> list[str]:
    """A TOML list, on one line where that is not too long."""
    line = f"{key} = [{', '.join(items)}]"
    return [line] if len(line) <= _LINE else [f"{key} = [", *(f"    {item}," for item in items), "]"]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '\\"') + '"'

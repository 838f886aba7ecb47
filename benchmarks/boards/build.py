"""Builds what a target needs: a bundled model made anew for it, its chain, and the program with its firmware."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
MODELS = HERE.parent / "models"

SAFE: Mapping[str, str] = {
    "belt": '"s->ignition" = 0, "s->belt" = 0',
    "cruise": '"i->gas" = 0, "i->brake" = 1, "i->acc" = 0, "i->dec" = 0, "i->button" = 0',
    "window": '"*rtu_up" = 0, "*rtu_down" = 0, "*rtu_endStop" = 0, "*rtu_current" = 0',
}
"""Inputs that stop each model."""
WARNINGS = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror")
"""What the firmware is compiled with."""


@dataclass(frozen=True)
class Built:
    """A model for a target: its ``project``, its ``chain`` and the folder of its ``exported`` files, all in files."""

    name: str
    project: Path
    chain: Path
    exported: Path


def chaincover(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a command of ChainCover."""
    command = [sys.executable, "-m", "chaincover", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def built(name: str, folder: Path, machine: Sequence[str], form: str = "firmware") -> Built:
    """The model ``name`` for a ``machine``, with a shortest chain, exported in this format into ``folder``.

    The controller is unchanged; its project names the safe inputs besides, and the machine: its word sizes, and the
    compiler's options.
    """
    project = folder / name
    if not project.exists():
        shutil.copytree(MODELS / name, project)
        file = project / "chaincover.toml"
        text = file.read_text(encoding="utf-8").replace("[sources]\n", sources(*machine), 1)
        file.write_text(f"{text}\n[target]\nsafe = {{ {SAFE[name]} }}\n", encoding="utf-8")
        _checked(chaincover("generate", project, "-o", folder / f"{name}-chain"))
    exported = folder / f"{name}-{form}"
    _checked(chaincover("export", project, folder / f"{name}-chain", "--format", form, "-o", exported))
    return Built(name, project, folder / f"{name}-chain", exported)


def sources(target: str, *options: str) -> str:
    """The begin of the table ``[sources]`` of a project for a machine."""
    return f'[sources]\ntarget = "{target}"\noptions = {json.dumps(options)}\n'


def compiled(
    compiler: Sequence[str], model: Built, place: Path, own: Sequence[Path], options: Sequence[str] = ()
) -> Path:
    """The program of the exported files and of the ``own`` ones of the target, linked into ``place``."""
    place.parent.mkdir(parents=True, exist_ok=True)
    objects: list[str] = []
    for source in [*sorted(model.exported.glob("*.c")), *own]:
        made = place.parent / f"{place.name}-{source.name}.o"
        strict = WARNINGS if source.name != "port_host.c" else ("-std=c99",)  # it includes the controller as it is
        includes = [f"-I{model.exported}", f"-I{model.project}"]
        _ran([*compiler, *strict, *includes, "-Os", "-g", "-c", str(source), "-o", str(made)])
        objects.append(str(made))
    _ran([*compiler, *objects, *options, "-o", str(place)])
    return place


def _ran(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr}")


def _checked(done: subprocess.CompletedProcess[str]) -> None:
    if done.returncode:
        raise SystemExit(f"{' '.join(done.args)}\n{done.stdout}{done.stderr}")

"""From a suite to its runs, each with a name that stays the same as long as what is run stays the same."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.bench.suite import Configuration, Model, Suite, Value
from benchmarks.bench.tools.protocol import Task
from chaincover.project.project_file import Project, read_project

_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.M)
_NAME = 30
"""Characters of a model or a configuration in the name of a run."""


@dataclass(frozen=True, slots=True)
class Code:
    """What a model is made of: the SHA-256 of its project file, sources and headers; or what of it is missing."""

    sha256: str
    missing: str


@dataclass(frozen=True, slots=True)
class Run:
    """A configuration on a model. ``id`` follows from model, sources, goals and configuration with its limits."""

    id: str
    model: Model
    configuration: Configuration
    task: Task
    code: Code

    @property
    def shown(self) -> str:
        """Its name for people."""
        seed = f" seed={self.configuration.seed}" if self.configuration.seed else ""
        return f"{self.model.name} · {self.configuration.name}{seed}"


def plan(suite: Suite) -> tuple[Run, ...]:
    """The runs of a suite: for each model all configurations. InputRefused for a project file that cannot be read."""
    return tuple(
        _run(suite, model, configuration, code)
        for model in suite.models
        for code in (code_of(model),)
        for configuration in suite.configurations
    )


def _run(suite: Suite, model: Model, configuration: Configuration, code: Code) -> Run:
    settings: Mapping[str, Value] = configuration.settings
    seconds = configuration.seconds or suite.seconds
    what = {
        "model": [model.name, model.shown],
        "sources": code.sha256,
        "goals": model.selection,
        "configuration": [configuration.name, configuration.tool, dict(settings), configuration.seed],
        "limits": [seconds, suite.megabytes],
    }
    digest = hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()
    words = (re.sub(r"[^A-Za-z0-9]+", "_", name)[:_NAME].strip("_") for name in (model.name, configuration.name))
    task = Task(model.project, model.selection, settings, configuration.seed, seconds, suite.megabytes)
    return Run("-".join([*words, digest[:10]]), model, configuration, task, code)


def code_of(model: Model) -> Code:
    """What ``model`` is made of."""
    project = read_project(str(model.project))
    own = [Path(file) for file in project.config.files]
    folders = [model.project.parent, *map(Path, project.config.include)]
    for source in model.sources:
        if source.file in [file.resolve() for file in own] or any(_within(source.file, folder) for folder in folders):
            name = source.file.name
            if not source.file.is_file():
                return Code("", f"the source {name} is not there: {source.obtain}")
            if _digest(source.file) != source.sha256:
                return Code("", f"the source {name} is not the one with the SHA-256 of the suite: {source.obtain}")
    for file, name in zip(own, project.sources, strict=True):
        if not file.is_file():
            return Code("", f"the source {name} is not there")
    whole = hashlib.sha256()
    for file in [model.project, *_with_headers(project)]:
        whole.update(f"{file.name} {_digest(file)}\n".encode())
    return Code(whole.hexdigest(), "")


def _within(file: Path, folder: Path) -> bool:
    return file.is_relative_to(folder.resolve())


def _with_headers(project: Project) -> Iterator[Path]:
    """The sources of a project and the headers that lie beside them or in its folders, each once."""
    folders = [Path(folder) for folder in project.config.include]
    waiting = [Path(file) for file in project.config.files]
    seen = {file.resolve() for file in waiting}
    while waiting:
        file = waiting.pop(0)
        yield file
        for name in _INCLUDE.findall(file.read_bytes()):
            for folder in (file.parent, *folders):
                header = folder / name.decode(errors="replace")
                if header.is_file() and header.resolve() not in seen:
                    seen.add(header.resolve())
                    waiting.append(header)


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()

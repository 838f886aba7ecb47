"""Mealy and Moore machines in DOT files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from bmc.errors import InputRefused
from bmc.models.c.controller.reading import SourceConfig
from bmc.models.mealy.dot import read_machine
from bmc.models.mealy.machine import MachineModel
from bmc.records import dataclass
from bmc.system.transition import Condition
from chaincover.project.project_file import Project
from chaincover.subject import SourceFile
from properties.goal import Goal


@dataclass(frozen=True)
class MachineMaker:
    """A machine that was read for a project, as ``chaincover.project.load.Maker`` says. It has no functions."""

    project: Project
    model: MachineModel

    def goals(self) -> Sequence[Goal]:
        """None: goals of a machine are written, or made by criteria."""
        return ()

    def constraints(self) -> Sequence[Condition]:
        """None: it has one input."""
        return ()

    def stated(self, function: str) -> None:
        """There are no functions."""

    def functions(self) -> Sequence[str]:
        """None."""
        return ()

    def sources(self) -> Sequence[SourceFile]:
        """The DOT file."""
        (name,), (path,) = self.project.sources, self.project.config.files
        return (SourceFile(name, path, Path(path).read_text(encoding="utf-8")),)


MEANT = ("name", "files", "output", "assume", "initial", "dwell", "where")
"""What of the settings of sources says something of a machine."""


def read(project: Project) -> MachineMaker:
    """The machine of ``project``. InputRefused with the place of what is wrong, and for settings of C programs."""
    config = project.config
    plain = SourceConfig(config.name, config.files)
    for field in fields(config):
        if field.name not in MEANT and getattr(config, field.name) != getattr(plain, field.name):
            hint = "leave it out: a machine has one input, one output and its state"
            raise InputRefused(f"'{field.name}' says nothing of a machine", project.where, hint)
    separator = project.separator or "/"
    return MachineMaker(project, MachineModel(read_machine(config.files[0], project.partial, separator), separator))

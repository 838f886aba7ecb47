"""What project asks of whoever reads one kind of model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from bmc.models.model import Model
from bmc.system.transition import Condition
from chaincover.subject import SourceFile
from properties.goal import Goal


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

"""What each tool of a suite is: a command that writes into a folder, and a reader of what it wrote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

COVERED = "covered"
FINISHED, TIME_OUT, OUT_OF_MEMORY, CRASHED, MISSING = "finished", "time-out", "out of memory", "crashed", "missing"
"""How a run ended; ``missing``: the tool is not installed, or a source of the model is not there."""


@dataclass(frozen=True, slots=True)
class Task:
    """One run: a project file with the goals asked for, under one configuration.

    ``selection`` are options of ``generate`` that choose goals, such as ``--cover branches()`` and ``--goal NAME``.
    ``settings`` are those of the configuration: ordering, engine, overlap, K, effort, several and what else the tool
    knows. ``seconds`` (by the clock) and ``megabytes`` are hard limits, for the process and its children.
    """

    project: Path
    selection: tuple[str, ...]
    settings: Mapping[str, str | int | float | bool]
    seed: int
    seconds: float
    megabytes: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run found, as its table row tells it.

    ``ordering`` names the backend where one run gives several outcomes on one graph. ``chains`` are test cases, each
    from a reset; ``length`` is the sum of their steps, ``lower`` the proved lower bound of it for that number of chains
    (None: not known), ``fewest`` whether fewer chains are proved not to do. ``verdicts`` has a word for each goal,
    ``covered`` counted by replay. ``K`` is the greatest distance on the chains (of a comparison of backends: in its
    graph), ``states`` the number of reachable states, ``long_goals`` the number of goals with antecedents longer than a
    step. ``stages`` has seconds of each stage, ``note`` what a reader must know, ``files`` the chains written, relative
    to the folder of the run.
    """

    status: str
    ordering: str = ""
    chains: int | None = None
    length: int | None = None
    lower: int | None = None
    minimal: bool = False
    fewest: bool = False
    K: int | None = None
    states: int | None = None
    long_goals: int | None = None
    path_cost: int | None = None
    verdicts: Mapping[str, str] = field(default_factory=dict)
    replay: str = ""
    stages: Mapping[str, float] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    files: tuple[str, ...] = ()


class Tool(Protocol):
    """A tool that suites name by ``tool = "name"``."""

    name: str
    settings: frozenset[str]
    """The settings that it knows; others are refused before anything runs."""

    ends_when_asked: bool
    """Whether SIGTERM makes it write the best that it has: it is sent one before its time is up (default: no)."""

    def missing(self) -> str:
        """What is not installed and how to get it; '' where it can run."""

    def refused(self, setting: str, value: str | int | float | bool) -> str:
        """Why ``setting`` cannot have ``value``, told before anything runs; '' where it can (default: always)."""

    def command(self, task: Task, folder: Path) -> Sequence[str]:
        """The command of a process that writes its results into ``folder``; it must honour ``task.seconds`` itself
        where it can, so that its best result so far is kept."""

    def read(self, folder: Path, code: int, log: str) -> tuple[Outcome, ...]:
        """The outcomes in ``folder`` after that process ended with ``code`` and printed ``log``; one for most tools.

        Never raises for a process that ended badly: that is an outcome without a chain. Where this has no note, it is
        given the last line of ``log`` that is no advice. A long ``log`` is cut in its middle."""

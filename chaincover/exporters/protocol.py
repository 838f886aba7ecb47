"""What a writer of a format gets, and what it gives: of questions for model checkers, or of chains for benches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Protocol, runtime_checkable

from pysmt.fnode import FNode

from bmc.records import dataclass
from bmc.system.transition import Run, TransitionSystem, Valuation
from chaincover.chain import Hit
from chaincover.project.bench import Signal
from chaincover.subject import Subject

VALID = "valid so far"
"""The state variable that says whether all steps up to this state were allowed and defined."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What the answer *no* to a question proves: of which ``kind`` it is, its ``text``, and a short ``title``."""

    kind: str
    title: str
    text: str


@dataclass(frozen=True)
class Question:
    """Can a run of ``system`` reach a state in which ``bad`` holds?

    ``system`` allows every step: what restricts the steps of the program is part of ``bad``. Its state variables have
    a start value, or any value to start with where ``init`` is None. ``bad`` is over plain state symbols. ``frames`` is
    the number of states of a run that have to be looked at, the start state included; None: those of all runs.
    """

    statement: Statement
    system: TransitionSystem
    bad: FNode
    frames: int | None = None

    @property
    def bound(self) -> str:
        """The bound in a word: ``frames-N`` or ``ever``."""
        return "ever" if self.frames is None else f"frames-{self.frames}"

    def comments(self) -> Iterator[str]:
        """What the reader of a file is told about it, in lines."""
        yield f"{self.system.name}: {self.statement.kind}"
        yield from self.statement.text.splitlines()
        if self.frames is None:
            yield "true if no reachable state is bad, in runs of any length"
        else:
            yield f"true if no state is bad in the first {self.frames} frames (frame 0 is the start state)"
        yield "a step that is not allowed or not defined ends a run: no later state is bad"


@runtime_checkable
class Exporter(Protocol):
    """A writer of one format; it may keep what several questions about one program share."""

    suffix: str
    """How the name of a file ends, with the dot."""

    def write(self, question: Question) -> bytes:
        """The file of ``question``, the same bytes for the same question. ChainCoverError where it has no file."""
        ...


@dataclass(frozen=True)
class ExportedChain:
    """A chain for a bench. ``run`` is what the model does under its inputs, from init on, in raw values.

    ``subject`` has the goals with their properties, the names and types of variables, and the period; ``hits`` are
    where the chain covers goals, in order of their steps. ``chosen`` are start values that the tester chooses.
    ``source`` is the name of the file that the chain was read from. ``signals`` says what variables are called on the
    bench, and in which unit they are recorded there.
    """

    subject: Subject
    run: Run
    hits: Sequence[Hit]
    chosen: Valuation
    source: str
    signals: Mapping[str, Signal] = field(default_factory=dict)


@runtime_checkable
class ChainExporter(Protocol):
    """A writer of chains in one format."""

    def files(self, chain: ExportedChain) -> Mapping[str, bytes]:
        """The files by their names, with folders in between where there are some; the same bytes for the same chain.

        UsageError, which says what and where, for what the format cannot hold, before anything is written.
        """
        ...


@runtime_checkable
class TestExporter(ChainExporter, Protocol):
    """A writer of chains as tests."""

    def failing(self, chain: ExportedChain) -> Iterator[str]:
        """What its tests say of each requirement that fails on the run of ``chain``, in a sentence without its end."""
        ...

"""A saved result as an object: goals, requirements, bounds, and the steps of its chains."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import partial
from itertools import chain as joined
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bmc.errors import UsageError
from bmc.records import dataclass
from chaincover.chain import Bounds, Verdict
from chaincover.formats.document import (
    CHAINS_FILE,
    Document,
    GoalClaim,
    RulingClaim,
    chain_place,
    read_document,
    read_summary,
)
from chaincover.notebook import verdict_table
from chaincover.report.html.saved import SavedChain
from chaincover.report.picture import as_svg
from chaincover.report.saved_run import run_of
from chaincover.steps import Step, Steps

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class SavedResult:
    """What ``chain.json`` or ``chains.json`` says, in terms of ``ChainResult``; nothing of it is checked here.

    ``goals`` and ``requirements`` are what is said of each goal and of each property with a consequent; ``bounds`` has
    the length of all chains together. ``chains`` are their steps, none where no goal is covered. ``data`` is all that
    the file holds.
    """

    name: str
    goals: tuple[GoalClaim, ...]
    requirements: tuple[RulingClaim, ...]
    bounds: Bounds
    chains: tuple[Steps, ...]
    data: Mapping[str, Any] = field(repr=False)

    def __len__(self) -> int:
        return sum(map(len, self.chains))

    def __bool__(self) -> bool:
        """A result is one, also without a chain."""
        return True

    def __iter__(self) -> Iterator[Step]:
        """The steps of all chains, one chain after the other."""
        return joined.from_iterable(self.chains)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """What became of each goal, as in ``ChainResult``."""
        return tuple(Verdict(goal.name, goal.verdict, goal.step, goal.detail) for goal in self.goals)

    def to_frame(self) -> pandas.DataFrame:
        """The steps of the only chain as a table; see ``Steps.to_frame``. UsageError for no chain, or for several."""
        if len(self.chains) != 1:
            text = f"this result has {len(self.chains) or 'no'} chain{'s' if self.chains else ''}"
            raise UsageError(text, hint="make a table of each of its chains" if self.chains else "look at its goals")
        return self.chains[0].to_frame()

    def _repr_html_(self) -> str:
        """The verdicts, for notebooks."""
        return verdict_table(self.bounds, self.verdicts)


def read_result(place: str) -> SavedResult:
    """The result in a file, or in a folder. InputRefused, with its place, where it cannot be read."""
    file = chain_place(place)
    if file.name != CHAINS_FILE:
        return _of_one(read_document(file))
    summary = read_summary(file)
    parts = [read_document(file.with_name(Path(entry.file).name)) for entry in summary.entries]
    bounds = Bounds(summary.lower, summary.length if parts else None, str(summary.data.get("basis", "")))
    rulings = () if summary.requirements is None else summary.requirements.rulings
    chains = tuple(steps for part in parts for steps in _steps(part))
    return SavedResult(str(summary.data["controller"]), summary.verdicts, rulings, bounds, chains, summary.data)


def _of_one(document: Document) -> SavedResult:
    claim, data = document.bounds, document.data
    bounds = Bounds(claim.lower, claim.length, str(data["bounds"].get("basis", "")))
    rulings = () if document.requirements is None else document.requirements.rulings
    return SavedResult(document.name, document.goals, rulings, bounds, _steps(document), data)


def _steps(document: Document) -> tuple[Steps, ...]:
    """The steps of the document's chain, none where it has none."""
    if document.chain is None:
        return ()
    records: Sequence[Mapping[str, Any]] = document.data["chain"]["steps"]
    return (Steps(records, partial(_drawn, document)),)


def _drawn(document: Document) -> str:
    run = run_of([SavedChain(document.place.name, document.data)], document.place)
    return as_svg(run.picture())

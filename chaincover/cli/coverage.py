"""``--coverage`` of ``generate`` and ``replay``: what chains execute of the sources, in a file beside each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bmc import ending
from bmc.ending import INTERRUPT
from bmc.errors import ChainCoverError
from bmc.records import dataclass
from bmc.system.transition import Run
from chaincover.cli.progress import Progress
from chaincover.formats.chain_file import Stimulus, coverage_place
from chaincover.formats.coverage_file import summary, together
from chaincover.formats.output import to_json, write_texts
from chaincover.subject import Subject


@dataclass(frozen=True)
class ToMeasure:
    """A chain in ``file``: its controller, its inputs, and what the compiled original did (None: not known)."""

    file: Path
    subject: Subject
    stimulus: Stimulus
    run: Run | None


def measure_all(chains: Sequence[ToMeasure], progress: Progress, seconds: float | None = None) -> list[str]:
    """Measure and write the coverage of each chain; what to tell of it, a line each.

    A run that was called off measures the first chain all the same, and has so many ``seconds`` for it from then on.

    Where it cannot be measured that is told, and nothing is written. CannotWrite where the files cannot be written.
    """
    from chaincover.target.coverage import measure

    made: dict[Path, Mapping[str, Any]] = {}
    lines: list[str] = []
    if not chains:
        return lines
    try:
        with progress.stage("coverage"), ending.interruptible(seconds):
            for each in chains:
                if made:
                    ending.check()
                made[coverage_place(each.file)] = measure(each.subject, each.stimulus, each.file.name, each.run)
    except KeyboardInterrupt as error:
        left = "for all chains" if made else "as the run was stopped"
        lines = [f"coverage was not measured {left}: {error or INTERRUPT}", "  next: replay --coverage measures it"]
    except ChainCoverError as error:
        lines = [f"coverage was not measured: {error.message}", *([f"  next: {error.hint}"] if error.hint else [])]
    progress.done()
    write_texts({place: to_json(document) for place, document in made.items()})
    return [*_told(made), *lines]


def _told(made: Mapping[Path, Mapping[str, Any]]) -> Iterator[str]:
    """What all chains execute together, and where it is written."""
    if made:
        found = together(made.values())
        yield f"coverage on {next(iter(made.values()))['compiler']}: {summary(found)}"
        yield from (f"  {text}" for text in found.needless)
        yield f"  written to {', '.join(map(str, made))}"

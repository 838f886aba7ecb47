"""The table of engines on hard questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

OPEN = "open"
"""Instead of an answer: the limit came first, or the engine refused the system."""


@dataclass(frozen=True, slots=True)
class Result:
    """An engine's ``answer`` (``sat``, ``unsat``, a graph's weights, ``open``) after ``seconds`` of the processor."""

    engine: str
    answer: str
    seconds: float


def agreed(results: Sequence[Result]) -> str:
    """The answer of all engines that gave one: ``different`` if they disagree."""
    answers = {result.answer for result in results if result.answer != OPEN}
    if len(answers) > 1:
        return "different"
    answer = next(iter(answers), OPEN)
    return f"{answer.count('[') - 1} edges" if answer.startswith("[") else answer


def table(rows: Sequence[tuple[str, Sequence[Result]]]) -> str:
    """A line for each question: the answer, seconds of each engine, in brackets the ratio to the fastest."""
    engines = [result.engine for result in rows[0][1]]
    lines = [f"| question | answer | {' | '.join(engines)} |", f"|{'---|' * (len(engines) + 2)}"]
    for name, results in rows:
        least = min((r.seconds for r in results if r.answer != OPEN), default=0.0)
        cells = [f"> {r.seconds:.0f}" if r.answer == OPEN else _cell(r, least) for r in results]
        lines.append(f"| {name} | {agreed(results)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def summary(questions: Sequence[Sequence[Result]]) -> str:
    """For each engine: questions decided, alone decided, and seconds over those that all decided."""
    lines = ["| engine | decided | by no other | s, those that all decided |", "|---|---|---|---|"]
    engines = [result.engine for result in questions[0]] if questions else []
    common = [results for results in questions if all(r.answer != OPEN for r in results)]
    for place, engine in enumerate(engines):
        decided = [results for results in questions if results[place].answer != OPEN]
        alone = sum(1 for results in decided if sum(r.answer != OPEN for r in results) == 1)
        seconds = sum(results[place].seconds for results in common)
        lines.append(f"| {engine} | {len(decided)} of {len(questions)} | {alone} | {seconds:.1f} |")
    return "\n".join(lines)


def _cell(result: Result, least: float) -> str:
    return f"{result.seconds:.2f} ({result.seconds / least:.1f})" if least else f"{result.seconds:.2f}"

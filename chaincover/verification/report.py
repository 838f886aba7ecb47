"""What a verification says: a line for each check, and the exit code that follows from their verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from bmc.ending import ExitCode
from bmc.errors import NAMED
from bmc.records import dataclass
from bmc.system.transition import Run, TransitionSystem, Valuation
from chaincover.project.values import shown

HOLDS = "holds"
WRONG = "WRONG"
OPEN = "not re-proved"
UNCLAIMED = "not claimed"
FINDING = "finding"
"""A requirement that fails on the chain: the file is right, the program may not be."""
NOTE = "note"
"""Worth knowing, and no claim: a source that changed, a further check that was too large."""

Verdict = tuple[str, str]
"""A verdict and why."""


def worst(verdicts: Iterable[str], otherwise: str = HOLDS) -> str:
    """The worst of ``verdicts``: wrong, then open, then that it holds; ``otherwise`` where there is none of these."""
    met = {*verdicts}
    return next((verdict for verdict in (WRONG, OPEN, HOLDS) if verdict in met), otherwise)


@dataclass(frozen=True, slots=True)
class Line:
    """One check: ``text`` says what was done and found, ``details`` what speaks against the claim.

    ``brief``: what is said in place of a long text to readers who did not ask for everything; '' for the text itself.
    ``unfinished``: a fact that is ``OPEN`` as a limit ended the check, while nothing that was found speaks against it.
    """

    check: str
    verdict: str
    text: str
    details: tuple[str, ...] = ()
    brief: str = ""
    unfinished: bool = False

    def needless(self) -> Line:
        """The same of a fact that no claim needs: nothing is missing where it is not proved again."""
        return Line(self.check, NOTE, f"{self.text}; not proved again, and no claim needs it", self.details)


@dataclass(frozen=True)
class Verification:
    """The verdicts on one ``chain.json``."""

    chain: str
    lines: tuple[Line, ...]

    @property
    def exit_code(self) -> int:
        """7: a claim is wrong; else 6: one was not re-proved; else 1: a requirement fails on the chain; else 0."""
        verdicts = {line.verdict for line in self.lines}
        codes = {WRONG: ExitCode.DISPROVED, OPEN: ExitCode.NOT_REPROVED, FINDING: ExitCode.FINDING}
        return next((code for verdict, code in codes.items() if verdict in verdicts), 0)

    def _repr_html_(self) -> str:
        """The checks, for notebooks."""
        from chaincover.notebook import table

        rows = [(line.check, line.verdict, line.brief or line.text) for line in self.lines]
        return table(f"{self.chain}: {self.summary}", ("check", "verdict", "what was found"), rows)

    @property
    def summary(self) -> str:
        """One sentence: what was checked and what not. A check that holds in part is among those that do not."""
        parts, left = [], {line.check for line in self.lines if line.verdict in (WRONG, OPEN)}
        for verdict, words in (
            (WRONG, "wrong"),
            (HOLDS, "checked, and holds"),
            (OPEN, "not re-proved"),
            (FINDING, "with a finding"),
        ):
            own = dict.fromkeys(line.check for line in self.lines if line.verdict == verdict)
            checks = [check for check in own if verdict != HOLDS or check not in left]
            if checks:
                parts.append(f"{words}: {', '.join(checks)}")
        return "; ".join(parts) or "nothing is claimed"


def as_data(found: Verification) -> dict[str, Any]:
    """A verification as plain data."""
    return {
        "chain": found.chain,
        "checks": [
            {"check": line.check, "verdict": line.verdict, "text": line.text, "details": list(line.details)}
            for line in found.lines
        ],
        "summary": found.summary,
        "exit_code": found.exit_code,
    }


def limited(details: Iterable[str]) -> tuple[str, ...]:
    """The first details, and how many more there are."""
    every = list(details)
    more = len(every) - NAMED
    return (*every[:NAMED], f"and {more} more") if more > 0 else tuple(every)


def told(system: TransitionSystem, run: Run, steps: int, from_init: bool) -> str:
    """The first ``steps`` steps of a run in words: where it begins, then the inputs.

    The states of ``run`` may leave out what the goals do not depend on.
    """
    inputs = told_inputs(system, run.inputs[:steps])
    if from_init:
        return inputs
    variables = [var for var in system.state if var.role == "state" and var.name in run.states[0]]
    state = ", ".join(f"{name}={value}" for name, value in shown(variables, run.states[0]).items())
    return f"from {state}; {inputs}"


def told_inputs(system: TransitionSystem, inputs: Sequence[Valuation]) -> str:
    """The inputs of each step, those that are not 0."""
    texts = [
        " ".join(f"{name}={value}" for name, value in shown(system.inputs, values).items() if value or values[name])
        or "all 0"
        for values in inputs
    ]
    return "; ".join(f"step {number}: {text}" for number, text in enumerate(texts)) or "no step"

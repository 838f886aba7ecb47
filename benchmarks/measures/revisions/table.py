"""The rows of two revisions side by side, and what has become worse."""

from __future__ import annotations

import json
import re
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.measures.revisions.outcome import Facts

SLOW = 2.0
"""The ratio of times is that of rows on which the old revision took more seconds than this."""

BETTER = re.compile(r"(?P<covered>\d+) of \d+ goals in (?P<length>\d+) steps?, (?:minimal|none below (?P<lower>\d+))")
"""A line of progress: goals covered, length in hand, lower bound."""

COVERED = "covered"
PROVED = ("unreachable", "no-way-to-final", "excluded")
"""Verdicts that are a proof."""

VERIFIED = (0, 1)
"""The exit codes of ``verify`` where everything is proved again: without a finding about the program, and with one."""

TIMES_OF_VERIFY = 3
"""``verify`` may take so many times what ``generate`` took."""

MODES = {"limit": "within the limit, one job", "defaults": "with its defaults"}


@dataclass(frozen=True, slots=True)
class Process:
    """How a process ended, and what it used, its children included. ``progress``: seconds, and a line on stderr."""

    code: int
    seconds: float
    wall: float
    megabytes: float
    expired: bool
    progress: list[tuple[float, str]]


@dataclass(frozen=True, slots=True)
class Measured:
    """A row as one revision has answered it; ``verify`` is None without a chain, or as long as it is not run."""

    row: str
    mode: str
    generate: Process
    facts: Facts | None
    verify: Process | None = None
    checks: dict[str, str] = field(default_factory=dict)


def read(file: Path) -> list[Measured]:
    """The rows in ``file``, of each the last; none where it does not exist."""
    lines = file.read_text().splitlines() if file.exists() else []
    return list({(one.mode, one.row): one for one in map(measured, lines)}.values())


def measured(line: str) -> Measured:
    """One row as it was kept."""
    kept = json.loads(line)
    verify = kept["verify"] and Process(**kept["verify"])
    found = kept["facts"] and Facts(**kept["facts"])
    return Measured(kept["row"], kept["mode"], Process(**kept["generate"]), found, verify, kept["checks"])


def report(old: Sequence[Measured], new: Sequence[Measured]) -> Iterator[str]:
    """For each mode a table and a summary of the rows that both files have."""
    later = {(one.mode, one.row): one for one in new}
    for mode, title in MODES.items():
        pairs = [(one, later[mode, one.row]) for one in old if one.mode == mode and (mode, one.row) in later]
        if pairs:
            yield from [f"## Each revision {title}", ""]
            yield from rows(pairs)
            yield from ["", *summary(pairs), ""]


def rows(pairs: Sequence[tuple[Measured, Measured]]) -> Iterator[str]:
    """The table: the old revision's value, an arrow, the new one's; one value where both are the same."""
    yield "| row | chain (bound) | goals | `generate`, s | `verify`, s | re-proved | exit codes | worse |"
    yield "|---|---|---|---|---|---|---|---|"
    for old, new in pairs:
        cells = [
            old.row.replace("|", "\\|"),
            both(chain(old), chain(new)),
            both(goals(old), goals(new)),
            both(seconds(old.generate), seconds(new.generate)),
            both(seconds(old.verify), seconds(new.verify)),
            both(proofs(old), proofs(new)),
            both(codes(old), codes(new)),
            ", ".join(worse(old, new)),
        ]
        yield f"| {' | '.join(cells)} |"


def both(old: str, new: str) -> str:
    """The two values of a cell."""
    return old if old == new else f"{old} → {new}"


def chain(one: Measured) -> str:
    """The length, and what is known of the minimum."""
    if one.facts is None:
        return "nothing"
    found = one.facts
    several = f"{found.chains} chains, " if found.chains > 1 else ""
    if found.length is None:
        return f"none (≥ {found.lower})"
    return f"{several}**{found.length}**" if found.minimal else f"{several}{found.length} (≥ {found.lower})"


def goals(one: Measured) -> str:
    """How many goals have which verdict."""
    if one.facts is None:
        return "-"
    return ", ".join(f"{count} {verdict}" for verdict, count in Counter(one.facts.verdicts.values()).most_common())


def seconds(process: Process | None) -> str:
    """The processor's seconds; what had to be ended is marked."""
    if process is None:
        return "-"
    return f"{process.seconds:.1f}{' (ended)' if process.expired else ''}"


def proofs(one: Measured) -> str:
    """How many of the checks of ``verify`` hold, of those for which the chain claims something."""
    claimed = [verdict for verdict in one.checks.values() if verdict not in ("not claimed", "note", "finding")]
    return f"{claimed.count('holds')} of {len(claimed)}" if claimed else "-"


def codes(one: Measured) -> str:
    """The exit codes of ``generate`` and ``verify``."""
    return f"{one.generate.code}, {'-' if one.verify is None else one.verify.code}"


def worse(old: Measured, new: Measured) -> Iterator[str]:
    """In what the new revision's answer is worse; what contradicts the old one is worse than worse."""
    if old.facts is None:
        return
    if new.facts is None:
        yield "no result"
        return
    before, after = old.facts, new.facts
    yield from contradictions(before, after)
    lost = covered(before) - covered(after)
    if lost > 0:
        yield f"{lost} fewer covered"
    undecided = decided(before) - decided(after)
    if undecided > 0:
        yield f"{undecided} fewer decided"
    if covered(before) != covered(after) or before.length is None:
        return
    if after.length is None or (after.chains, after.length) > (before.chains, before.length):
        yield "longer"
    if after.lower < before.lower:
        yield "lower bound"


def contradictions(before: Facts, after: Facts) -> Iterator[str]:
    """What cannot both be true."""
    for name, verdict in before.verdicts.items():
        if {verdict, after.verdicts.get(name, verdict)} == {COVERED, "unreachable"}:
            yield f"CONTRADICTION on {name}"
    if before.length is None or after.length is None or covered(before) != covered(after):
        return
    if before.chains == after.chains and max(before.lower, after.lower) > min(before.length, after.length):
        yield "CONTRADICTION of bounds"


def proved(one: Measured) -> bool:
    """Whether a chain is proved to be minimal, or no goal to be covered by any."""
    found = one.facts
    return found is not None and (found.minimal or (found.length is None and decided(found) == len(found.verdicts)))


def covered(found: Facts) -> int:
    """How many goals are covered."""
    return sum(verdict == COVERED for verdict in found.verdicts.values())


def decided(found: Facts) -> int:
    """How many goals are covered or have a verdict that is a proof."""
    return sum(verdict == COVERED or verdict in PROVED for verdict in found.verdicts.values())


def summary(pairs: Sequence[tuple[Measured, Measured]]) -> Iterator[str]:
    """What the table shows, in sentences."""
    bad = [(old.row, list(worse(old, new))) for old, new in pairs]
    bad = [(row, reasons) for row, reasons in bad if reasons]
    verdict = f"{len(bad)} rows are worse" if bad else "Nothing is worse"
    yield f"{len(pairs)} rows. {verdict} in length, bound or verdict."
    yield from (f"- {row}: {', '.join(reasons)}" for row, reasons in bad)
    slow = [old.generate.seconds / as_good(old, new) for old, new in pairs if old.generate.seconds > SLOW]
    if slow:
        quartiles = statistics.quantiles(slow, n=4) if len(slow) > 1 else slow * 3
        yield (
            f"`generate` is {statistics.median(slow):.2f} times faster in the median of the {len(slow)} rows on which "
            f"the old revision took above {SLOW:g} s (quartiles {quartiles[0]:.2f} and {quartiles[2]:.2f}). Counted "
            "until the old length and bound are both reached, where the progress tells when."
        )
    better = sum(better_in_something(old, new) for old, new in pairs)
    yield f"{better} rows are better in length, bound or verdict."
    checked = [(new.verify.seconds / new.generate.seconds, new.row) for _, new in pairs if new.verify]
    late = [row for ratio, row in checked if ratio > TIMES_OF_VERIFY]
    unproved = [new.row for _, new in pairs if new.verify and new.verify.code not in VERIFIED]
    holding = len(checked) - len(unproved)
    yield f"`verify` re-proves everything on {holding} of {len(checked)} rows; not on: {', '.join(unproved) or '-'}."
    yield f"It takes more than {TIMES_OF_VERIFY} times as long as `generate` on: {', '.join(late) or '-'}."


def as_good(old: Measured, new: Measured) -> float:
    """The seconds after which the new run had covered as many goals, by as short a chain, with as high a bound.

    All of its seconds where its progress does not tell, or where it never came so far.
    """
    if old.facts is None or old.facts.length is None or old.facts.chains > 1:
        return new.generate.seconds
    for seconds, line in new.generate.progress:
        if match := BETTER.search(line):
            number, length = int(match["covered"]), int(match["length"])
            lower = int(match["lower"] or length)
            better = number > covered(old.facts)
            if better or (number == covered(old.facts) and length <= old.facts.length and lower >= old.facts.lower):
                return max(seconds, 0.01)
    return new.generate.seconds


def better_in_something(old: Measured, new: Measured) -> bool:
    """Whether the old answer would be worse than the new one."""
    return new.facts is not None and (old.facts is None or any(worse(new, old)))

"""The one base class of everything that ChainCover tells its user, with the exit code of each class."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from bmc.ending import ExitCode
from bmc.records import LONGEST_SHOWN, dataclass

_MARK = "\ue022"
"""What stands for a quotation mark in file names in C text: parsers end a name there."""


def marked(file: str) -> str:
    """The name of a file as it stands in the line markers of C text; a ``Location`` has the name itself."""
    return file.replace('"', _MARK)


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A place in a source, project or property file; line and column count from 1, 0 means unknown."""

    file: str
    line: int = 0
    column: int = 0

    def __post_init__(self) -> None:
        if _MARK in self.file:
            object.__setattr__(self, "file", self.file.replace(_MARK, '"'))

    def __str__(self) -> str:
        parts = [self.file] + [str(n) for n in (self.line, self.column) if n]
        return ":".join(parts)


class ChainCoverError(Exception):
    """Base of all errors shown to the user: what is wrong, where, and what to do next.

    ``exit_code`` is the code that the command line ends with (docs/reference/exit-codes.md); ``next_step`` is the hint
    of errors that are given none of their own; ``also`` are further places of which the same is to be said.
    """

    exit_code = ExitCode.REFUSED
    next_step = ""

    def __init__(self, message: str, where: Location | None = None, hint: str = "") -> None:
        super().__init__(message)
        self.message = shortened(message)
        self.where = where
        self.hint = hint or self.next_step
        self.also: tuple[Location, ...] = ()

    def __str__(self) -> str:
        return self.told()

    def told(self, without: Sequence[str] = ()) -> str:
        """What is wrong, where, and on a line of its own what to do next, but for hints that are told elsewhere."""
        text = f"{self.where}: {self.message}" if self.where else self.message
        rows = [text, *([f"  also at {listed([str(place) for place in self.also])}"] if self.also else [])]
        rows += [f"  next: {self.hint}"] if self.hint and self.hint not in without else []
        return "\n".join(printable(row) for row in rows)


class UsageError(ChainCoverError):
    """The command line or an option's value is wrong."""

    exit_code = ExitCode.USAGE
    next_step = "'chaincover COMMAND --help' explains the options"


class InputRefused(ChainCoverError):
    """A source, project, property or input file cannot be read, or lies outside what is supported."""

    exit_code = ExitCode.REFUSED
    next_step = "correct it there and run the command again"


class SeveralRefused(InputRefused):
    """Several things are wrong with an input: ``errors`` has each of them, with its place and its next step."""

    def __init__(self, errors: Sequence[InputRefused]) -> None:
        super().__init__(f"{len(errors)} things are wrong", errors[0].where)
        self.errors = tuple(errors)

    def __str__(self) -> str:
        times = Counter(each.hint for each in self.errors)
        common = [hint for hint, number in times.items() if number > 1 or hint == self.hint] or [self.hint]
        groups = self._alike_but_for_names()
        grouped = [each.hint for group in groups.values() for each in group]
        rows = [row for each in self.errors for row in each.told(without=[*common, *grouped]).splitlines()]
        for hint, group in groups.items():
            names = listed(list(dict.fromkeys(map(_named, group))))
            rows.append(f"next, with each of {printable(names)} as NAME: {printable(hint)}")
        common = [hint for hint in common if hint not in grouped]
        return "\n  ".join([f"{self.message}:", *rows, *(f"next: {printable(hint)}" for hint in common)])

    def _alike_but_for_names(self) -> dict[str, list[InputRefused]]:
        """The errors whose next steps differ in their names only, by the next step with NAME in their place."""
        alike: dict[str, list[InputRefused]] = {}
        for each in self.errors:
            alike.setdefault(self._for_any(each), []).append(each)
        return {hint: group for hint, group in alike.items() if len({each.hint for each in group}) > 1}

    @staticmethod
    def _for_any(error: InputRefused) -> str:
        """The next step of an error, with NAME in place of the name that its message begins with."""
        name = _named(error)
        return re.sub(rf"\b{name}\b", "NAME", error.hint) if name else error.hint


def _named(error: InputRefused) -> str:
    """The first name that a message quotes; '' for none."""
    found = re.search(r"'(\w+)'", error.message)
    return found[1] if found else ""


class Refusals:
    """Gathers what is wrong with one input, so that all of it is told at once and not the first of it alone."""

    def __init__(self) -> None:
        self._errors: dict[str, InputRefused] = {}

    def add(self, error: InputRefused) -> None:
        """Note one error, or each of several; what is said a second time adds its place to the first one's."""
        for each in error.errors if isinstance(error, SeveralRefused) else (error,):
            known = self._errors.setdefault(each.message, each)
            if each.where is not None and each.where not in (known.where, *known.also):
                known.also += (each.where,)

    @contextmanager
    def gathered(self) -> Iterator[None]:
        """InputRefused is noted where it ends what is done inside; what follows the block is still done."""
        try:
            yield
        except InputRefused as error:
            self.add(error)

    @property
    def errors(self) -> tuple[InputRefused, ...]:
        """What was noted, in this order."""
        return tuple(self._errors.values())

    def refuse(self, by_place: bool = False) -> None:
        """Raise what was noted, if anything: InputRefused for one error, SeveralRefused for more, in the order in which
        they were noted or ``by_place``."""
        if self._errors:
            raise self.all(by_place)

    def all(self, by_place: bool = False) -> InputRefused:
        """What was noted, as one exception."""
        errors = [*self._errors.values()]
        if by_place:
            errors.sort(key=lambda each: each.where or Location(""))
        return errors[0] if len(errors) == 1 else SeveralRefused(errors)


class NoOriginal(ChainCoverError):
    """What was modelled cannot be run here; the message says why. Callers take the model."""


class UnsupportedConstruct(InputRefused):
    """Reachable C code uses a construct outside the supported subset; it is never approximated."""

    next_step = (
        "rewrite it, or keep it out of what init and step reach (#ifndef __CHAINCOVER__, a stand-in header or function)"
        "; docs/reference/c-subset.md lists what is read"
    )


class LimitReached(ChainCoverError):
    """A time or size limit stopped the run before a result; ``limit`` names it."""

    exit_code = ExitCode.LIMIT
    limit = "time limit"


class MemoryLimitReached(LimitReached):
    """More memory is needed than there may be: for a solver, or for the process and its children together."""

    limit = "memory limit"


class StepTooLarge(MemoryLimitReached):
    """The formulas of one step are too large to be encoded with the effort that is left."""

    limit = "effort"
    next_step = (
        "give more --effort, or less to compute in one step: products, quotients and floating-point operations of "
        "variables take most"
    )


class CheckDisagreed(ChainCoverError):
    """Two computations that must agree did not (model and compiled original, or claim and run)."""

    exit_code = ExitCode.FINDING


def shortened(text: str) -> str:
    """``text`` without its middle, where it is longer than a message may be: it may quote what the user wrote."""
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN // 2]} ... {text[-LONGEST_SHOWN // 4 :]}"


def printable(text: str) -> str:
    """``text`` as a terminal may show it: what would move its cursor, change its colours, begin a line or turn the
    direction of writing stands there as Python writes it in a string (``\\x1b``, ``\\n``).

    Names of files, texts in result files and what a program prints may hold anything.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


NAMED = 8
"""Names, places or values that one sentence lists. With twice as many, a sentence takes two lines more."""

FEW = 3
"""Reasons, counters or goals that a message names where each takes a line, or words of a command. With twice as many, a
message takes three lines more."""


def listed(names: Sequence[str], most: int = NAMED, between: str = ", ") -> str:
    """The first of ``names``, and how many more there are."""
    more = len(names) - most
    return between.join(names[:most]) + (f" and {more} more" if more > 0 else "")


def counted(number: int, noun: str) -> str:
    """``number`` with its noun, for messages: ``1 step``, ``2 steps``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"

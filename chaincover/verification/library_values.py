"""What functions of the C library yield by the file, against their bounds and against the library of this machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NoReturn

from bmc.errors import NoOriginal, counted
from bmc.native.mathematics import Library
from chaincover.subject import Subject
from chaincover.verification.report import HOLDS, NOTE, OPEN, WRONG, Line, limited

VALUES = "library values"


def no_original(kept: bool = False) -> NoReturn:
    """The original of a system in which functions yield any value in their bounds."""
    raise NoOriginal("with functions of the C library approximated from above")


def library_values(subject: Subject) -> Iterator[Line]:
    """Whether the values that the file names lie in the bounds of the project, and whether this machine has them."""
    known = subject.library
    if known is None:
        return
    text = counted(len(known.facts), "value")
    faults = [*known.outside()]
    if faults:
        yield Line(VALUES, WRONG, f"{text}, some of them outside of the bounds", limited(faults))
        return
    try:
        library = Library(known.calls[0].word_sizes)
        faults = [*known.unlike(library)]
    except NoOriginal as error:
        yield Line(VALUES, OPEN, f"{text}, not compared: {error.message}")
        return
    if faults:
        verdict = WRONG if library.version == known.version else OPEN
        told = f"{text} of {known.version}; {library.version} here has others"
        yield Line(VALUES, verdict, told, limited(faults))
    elif library.version == known.version:
        yield Line(VALUES, HOLDS, f"{text} as {library.version} has them here, each within its bounds")
    else:
        yield Line(VALUES, NOTE, f"{text} of {known.version}, and {library.version} here has the same")

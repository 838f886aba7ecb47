"""What was modelled, ready to run; and where each variable of a system lives in a compiled C program, as plain data.

The C front end fills the latter in; ``bmc.native.original`` uses it to call the program, and to read and write its
memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from bmc.errors import Location
from bmc.records import dataclass
from bmc.system.transition import Valuation

SHORT_DOUBLE = "-fshort-double"
"""The option of compilers whose ``double`` is ``float``, as gcc's for AVR has it without being told."""


@dataclass(frozen=True, slots=True)
class MemoryObject:
    """One C object that outlives a step, or one scalar argument.

    ``kind``: ``pointee`` (the caller allocates ``size`` zeroed bytes and passes its address), ``argument`` (a scalar
    passed by value), ``global`` (file scope, static or not), ``local`` (a static local of ``function``),
    ``return`` (the step's scalar result), ``number`` (of a ``Pointer``), ``register`` (at ``address``). ``name`` is
    unique; ``symbol`` is the C identifier; ``file`` is the defining source file (for ``global`` and ``local``).
    """

    name: str
    kind: str
    size: int
    symbol: str = ""
    function: str = ""
    file: str = ""
    address: int = 0


@dataclass(frozen=True, slots=True)
class Cell:
    """One scalar variable: ``size`` bytes, little-endian, at ``offset`` in the object called ``object``.

    With a ``width`` it is that many bits of them, from the bit ``first`` on. A ``floating`` one holds an IEEE-754
    pattern of 4 or 8 bytes; whatever NaN the program leaves there is read as the canonical one.
    """

    variable: str
    object: str
    offset: int
    size: int
    floating: bool = False
    first: int = 0
    width: int = 0


@dataclass(frozen=True, slots=True)
class Argument:
    """One actual argument: the address of (or the value stored in) an object, or a constant.

    ``kind``: ``address`` (of ``object`` plus ``offset`` bytes), ``value`` (the scalar of ``size`` bytes in ``object``),
    ``constant`` (``number``, in ``size`` bytes). ``signed`` tells how a scalar is widened; a ``floating`` one is passed
    as float or double, its constant given by its bit pattern.
    """

    kind: str
    object: str = ""
    offset: int = 0
    size: int = 0
    signed: bool = False
    number: int = 0
    floating: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """One call: ``returns`` is the object of kind ``return`` that receives the scalar result, or ''.

    ``floating``: the result is a float or double.
    """

    function: str
    arguments: tuple[Argument, ...] = ()
    returns: str = ""
    floating: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    """Before init the pointer at ``offset`` in the object called ``object`` is set to the object called ``target``."""

    object: str
    offset: int
    target: str


@dataclass(frozen=True, slots=True)
class PointedAt:
    """What a pointer may point to: ``offset`` bytes into the object called ``object``, a function, or nothing.

    ``file`` is the source file that defines the function.
    """

    object: str = ""
    offset: int = 0
    function: str = ""
    file: str = ""


@dataclass(frozen=True, slots=True)
class Pointer:
    """The pointer at ``offset`` in the object called ``object``: where it points to is a number in ``number``.

    That object, of kind ``number``, is one byte that only the caller has; the number is a place in ``pointees``.
    """

    object: str
    offset: int
    number: str
    pointees: tuple[PointedAt, ...]


@dataclass(frozen=True, slots=True)
class ZeroSum:
    """A source file in which gcc would get the sign of a zero wrong (``zero_sums``): it needs -frounding-math.

    ``place`` is that of the sum. ``narrowed`` is the place of an initialiser that gcc gets wrong with that option, None
    if the file has none.
    """

    source: str
    place: Location
    narrowed: Location | None = None


@dataclass(frozen=True, slots=True)
class FileOptions:
    """What the compiler is given for one file: folders of headers (-I), macros with their values (-D; None for -U),
    files that are included first (-include), and other options as they stand. ``last`` are the folders of the
    compiler's own headers, for those that are found nowhere else."""

    include: tuple[str, ...] = ()
    macros: tuple[tuple[str, str | None], ...] = ()
    first: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    last: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Compilation:
    """How the original is compiled: the files ``sources``, folders of headers, (name, value) pairs for -D.

    ``stand_ins`` are (name, path) pairs of headers to be used where none of that name is found. ``environment`` is C
    text that defines what no source defines. ``redefined`` names the functions of <math.h> that the sources define
    themselves; calls of those in ``called`` are made when the program runs, and not evaluated by the compiler.
    ``zero_sums`` are the sources that not every compiler gets right with the usual options, once each.
    ``pass_errors``: ``#error`` directives are passed over (they check for word sizes, and others do as well).
    ``options``: what is given for single files besides, by their names. ``word_sizes`` are those for which it is
    compiled, where these are not the machine's own. ``assembly`` are the texts of inline assembly that is left out.
    """

    sources: tuple[str, ...]
    include_dirs: tuple[str, ...]
    defines: tuple[tuple[str, str], ...]
    stand_ins: tuple[tuple[str, str], ...] = ()
    environment: str = ""
    redefined: tuple[str, ...] = ()
    zero_sums: tuple[ZeroSum, ...] = ()
    pass_errors: bool = False
    options: tuple[tuple[str, FileOptions], ...] = ()
    word_sizes: str = ""
    called: tuple[str, ...] = ()
    assembly: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NativeInterface:
    """All that is needed to build and run the compiled original.

    ``init`` runs once on zeroed memory, ``step`` once per step. ``cells`` covers every state variable and input (an
    input by value has a cell in its ``argument`` object). ``links`` connect objects that the caller allocates.
    ``refusal`` tells why the program must not be run here, '' if it may. ``pointers`` are those that a step changes.
    """

    compilation: Compilation
    objects: tuple[MemoryObject, ...]
    cells: tuple[Cell, ...]
    init: tuple[Call, ...]
    step: Call
    links: tuple[Link, ...] = ()
    refusal: str = ""
    pointers: tuple[Pointer, ...] = ()


@dataclass(frozen=True)
class CallingText:
    """How a C program of another one's makes calls the program, which it includes: as C text.

    ``source`` is the number of the source file that defines the step. There ``objects`` are the definitions of what the
    caller owns, ``links`` the statements that connect these, ``init`` and ``step`` the calls. ``places`` has for each
    variable that can be reached an expression for it, and the number of the source file whose text has to be before it.
    ``unreachable`` says why each other one cannot be. ``sizes`` are those of basic types in bytes.
    ``environment`` is C text of what no source file defines, in a file of its own, ``declared`` what it defines for the
    caller. ``headers`` are the names and the texts of headers for those that are found nowhere.
    """

    source: int
    objects: tuple[str, ...]
    links: tuple[str, ...]
    init: tuple[str, ...]
    step: str
    places: Mapping[str, tuple[int, str]]
    unreachable: Mapping[str, str]
    sizes: Mapping[str, int]
    char_signed: bool
    environment: str = ""
    declared: tuple[str, ...] = ()
    headers: tuple[tuple[str, str], ...] = ()


class Original(Protocol):
    """What was modelled, ready to run: values are raw patterns, by the names of the system's variables.

    ``unreadable`` variables are in no result. ``notes`` tell what a reader of results should know.
    """

    @property
    def name(self) -> str:
        """What it runs on: the compiler's first line of ``--version``, or a reader of its own."""

    @property
    def unreadable(self) -> Sequence[str]:
        """Variables whose values cannot be read."""

    @property
    def notes(self) -> Sequence[str]:
        """Remarks on the runs so far."""

    def run(
        self, inputs: Sequence[Valuation], initial: Valuation | None = None, time_limit: float = 60
    ) -> list[Valuation]:
        """Init, with ``initial`` over what it left, then one step per element of ``inputs``; the states, one more.

        CheckDisagreed where it does not come to its end, LimitReached after ``time_limit`` seconds.
        """

    def runs(
        self, inputs: Sequence[Sequence[Valuation]], initial: Valuation | None = None, time_limit: float = 60
    ) -> list[Valuation]:
        """The states after the steps of several runs from init, one run after the other."""

    def steps(self, pairs: Sequence[tuple[Valuation, Valuation]], time_limit: float = 60) -> list[Valuation]:
        """One step from each pair of a state and inputs: the state after it."""


Opener = Callable[[bool], AbstractContextManager[Original]]
"""Makes an original ready to run; with True what was built may be kept. ``NoOriginal`` where that cannot be."""

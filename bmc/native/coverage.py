"""How often each line of the compiled original is executed on a run, and in which step first, as gcov counts it.

The original is built once more with the counters of gcc (``-fprofile-arcs -ftest-coverage``). gcc has them written by
``__gcov_info_to_gcda`` into memory, so that the program runs in the confined worker as always and writes no file; gcov
maps counters to lines. Counts are those of the whole run. The step in which something is executed first is found by
halving: counters only rise, so the run is repeated and its counters are read in the middle of each stretch of steps
over which something new was executed, until all such stretches are single steps.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import struct
import sys
import tempfile
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

from bmc.errors import CheckDisagreed, NoOriginal
from bmc.native.build import Builder, compiler_words
from bmc.native.cache import Cache
from bmc.native.commands import run, said
from bmc.native.job import Work
from bmc.native.original import CompiledOriginal, ended_early, run_of
from bmc.native.plan import Encoder, Plan
from bmc.records import dataclass
from bmc.system.original import NativeInterface
from bmc.system.transition import Valuation

INIT = "init"
"""When something is executed first that init executes; else it is a step, counted from 0."""

LEAST_GCC = 12
"""The first gcc that can write its counters into memory."""

VERSION = re.compile(r"\) (\d+)\.\d+\.\d+\b")
"""The version of a program of gcc in what it says of itself: ``gcc (GCC) 14.2.1 20240912``."""

SECTION = "chaincover_gcov"
COUNTING = ["-fprofile-arcs", "-ftest-coverage", f"-fprofile-info-section={SECTION}"]

DUMPER = f"""\
struct gcov_info;
typedef void (*record)(int kind, const void *bytes, unsigned size);
extern void __gcov_info_to_gcda(const struct gcov_info *, void (*)(const char *, void *),
    void (*)(const void *, unsigned, void *), void *(*)(unsigned, void *), void *);
extern const struct gcov_info *const __start_{SECTION}[] __attribute__((weak, visibility("hidden")));
extern const struct gcov_info *const __stop_{SECTION}[] __attribute__((weak, visibility("hidden")));
static unsigned char room[65536];
static unsigned used;
static record out;
static void flush(void) {{ if (used) out(2, room, used); used = 0; }}
static void name(const char *text, void *unused) {{
  unsigned size = 0;
  while (text[size]) size++;
  out(1, text, size);
}}
static void data(const void *bytes, unsigned size, void *unused) {{
  const unsigned char *from = bytes;
  for (unsigned i = 0; i < size; i++) {{
    if (used == sizeof room) flush();
    room[used++] = from[i];
  }}
}}
static void *none(unsigned size, void *unused) {{ return 0; }}
void chaincover_dump(record given) {{
  out = given;
  for (const struct gcov_info *const *each = __start_{SECTION}; each < __stop_{SECTION}; each++) {{
    __gcov_info_to_gcda(*each, name, data, none, 0);
    flush();
  }}
  out(0, room, 0);
}}
"""
"""C text of what hands the counters over: for each object file a record of its name and others of its data, and one of
no bytes at the end."""

NAME, END = 1, 0
"""Kinds of these records: the name of a file, and the end; others are data."""

RECORD = struct.Struct("<BI")
"""How a record begins, as ``bmc.native.worker`` writes it: its kind, and the bytes that follow."""

First = int | str | None
"""The step in which something is executed first, ``INIT``, or None where it never is."""


@dataclass(frozen=True, slots=True)
class CountedLine:
    """An executable line of a source file: how often it was executed, and when first.

    ``file`` is an absolute path. ``outcomes`` are those of the branches that the compiler has made of the line, in the
    order in which gcov tells them, each with its count and when it was taken first; () for a line without a branch.
    """

    file: str
    line: int
    function: str
    count: int
    first: First
    outcomes: tuple[tuple[int, First], ...]


@dataclass(frozen=True, slots=True)
class Counted:
    """What a run of ``steps`` steps executed of all files that have executable lines, sorted by file and line.

    ``compiler`` and ``gcov`` are the first lines of their ``--version``.
    """

    steps: int
    compiler: str
    gcov: str
    lines: tuple[CountedLine, ...]


Line = tuple[str, int]
Counts = Mapping[Line, tuple[str, int, tuple[int, ...]]]
"""Of each line, by file and number: its function, its count, and the counts of the outcomes of its branches."""


def counted(
    interface: NativeInterface, inputs: Sequence[Valuation], initial: Valuation | None = None, time_limit: float = 60
) -> Counted:
    """Run init, ``initial`` over what it left, and one step per element of ``inputs``, and count what is executed.

    ``time_limit`` in seconds is that of one run, of which there are as many as it takes to halve the number of steps
    down to one. NoOriginal where that cannot be measured here: without gcc and its gcov, for a program of other word
    sizes, or where nothing may be run. OriginalCrashed, OriginalTimeout, InputRefused as ``CompiledOriginal.run``.
    """
    if interface.refusal:
        raise NoOriginal(interface.refusal)
    if interface.compilation.word_sizes:
        raise NoOriginal("lines are counted for programs of this machine's word sizes alone")
    words = compiler_words()
    with tempfile.TemporaryDirectory(prefix="chaincover-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        builder = _Counting(words, interface, folder)
        gcov = _Gcov(*gcov_of(words, builder.version), builder)
        library, known = builder.library(Cache())
        original = _CountingOriginal(interface, Plan.of(interface, library, known), builder.version)
        original.notes_size = sum(notes.stat().st_size for notes in builder.notes)

        def counts(after: Sequence[int]) -> list[Counts]:
            """What gcov tells of the run's first steps, for each number of steps in ``after``, which rises."""
            return gcov.counts(original.dumps(inputs[: after[-1]], initial, after, time_limit))

        return searched(counts, len(inputs), builder.version, gcov.version, folder)


def searched(
    counts: Callable[[Sequence[int]], Sequence[Counts]], steps: int, compiler: str, gcov: str, folder: Path
) -> Counted:
    """The counts of a run, and by halving when each line and each outcome is executed first.

    ``counts`` gives what was counted after so many of the ``steps`` as each number says, which rise; no number is asked
    for twice. Files in ``folder`` are left out.
    """
    at: dict[int, Counts] = dict(zip(dict.fromkeys((0, steps)), counts([*dict.fromkeys((0, steps))]), strict=True))
    seen = {number: _executed(each) for number, each in at.items()}
    total = at[steps]
    first: dict[tuple[Line, int], First] = dict.fromkeys(seen[0], INIT)
    open_stretches = [(0, steps)]
    while open_stretches:
        middles, halves = [], []
        for low, high in open_stretches:
            if seen[low] == seen[high]:
                continue
            if high - low == 1:
                first.update(dict.fromkeys(seen[high] - seen[low], high - 1))
                continue
            middle = (low + high) // 2
            middles.append(middle)
            halves += [(low, middle), (middle, high)]
        if middles:
            seen.update(zip(middles, map(_executed, counts(middles)), strict=True))
        open_stretches = halves
    lines = []
    for (file, number), (function, count, outcomes) in sorted(total.items()):
        if Path(file).is_relative_to(folder):
            continue  # a header of ours
        key = file, number
        taken = tuple((each, first.get((key, place))) for place, each in enumerate(outcomes))
        lines.append(CountedLine(file, number, function, count, first.get((key, -1)), taken))
    return Counted(steps, compiler, gcov, tuple(lines))


def _executed(counts: Counts) -> frozenset[tuple[Line, int]]:
    """The lines that were executed (-1) and the outcomes that were taken (by their places)."""
    found = {(line, -1) for line, (_, count, _) in counts.items() if count}
    found |= {(line, place) for line, (*_, outcomes) in counts.items() for place, each in enumerate(outcomes) if each}
    return frozenset(found)


class _Counting(Builder):
    """A build with counters. ``notes`` are the files by which gcov maps counters to lines."""

    def _special(self, number: int) -> list[str]:
        return [*super()._special(number), *COUNTING]

    def _link(self, objects: Sequence[Path], options: Sequence[str]) -> Any:
        return super()._link([*objects, self._own("dumper", DUMPER)], [*options, "-lgcov"])

    @property
    def notes(self) -> list[Path]:
        """One for each source file."""
        return [self.folder / f"file{number}.gcno" for number in range(len(self.compilation.sources))]


class _CountingOriginal(CompiledOriginal):
    """A program with counters; ``notes_size``: bytes of all notes, of which no file of counters has more."""

    notes_size = 0

    def dumps(
        self, inputs: Sequence[Valuation], initial: Valuation | None, after: Sequence[int], time_limit: float
    ) -> list[dict[str, bytes]]:
        """The counters after so many steps as each element of ``after`` says, which rise: by the name of the file that
        gcc would write, its content. Errors as in ``run``."""
        encoder = Encoder(self._plan, self._cells)
        start, steps, *_ = run_of(encoder, inputs, initial)
        work = Work(start, steps, bytes(len(steps)), dumps=tuple(after), dump_size=3 * self.notes_size)
        outcome, job = self._outcome(encoder, (), work, time_limit)
        found: list[dict[str, bytes]] = []
        output, place, records = outcome.output, 1, 0
        while output[place : place + 1] == b".":
            place, records = place + 1, records + 1
            if records - 1 not in after:
                continue
            dump = _dump(output, place)
            if dump is None:
                break
            found.append(dump[0])
            place = dump[1]
        if len(found) < len(after):
            raise ended_early(records, outcome, job)
        return found


def _dump(output: bytes, place: int) -> tuple[dict[str, bytes], int] | None:
    """The counters of a dump that begins at ``place``, and the place behind it; None where it does not end."""
    files: dict[str, bytes] = {}
    name = ""
    while place + RECORD.size <= len(output):
        kind, size = RECORD.unpack_from(output, place)
        place += RECORD.size
        content = output[place : place + size]
        place += size
        if kind == END:
            return files, place
        if kind == NAME:
            name = os.fsdecode(content)
            files[name] = b""
        else:
            files[name] = files.get(name, b"") + content
    return None


def gcov_of(words: Sequence[str], version: str) -> tuple[str, str]:
    """The command of the gcov that belongs to a compiler, and the first line of its ``--version``.

    ``words`` are those of the compiler's command, ``version`` is the first line of its own. NoOriginal where there is
    none, or where the compiler has no counters that can be handed over.
    """
    number = VERSION.search(version)
    if "clang" in version or sys.platform != "linux" or number is None:
        raise NoOriginal(f"lines are counted by gcc and gcov, and the compiler is {version}", hint="set CC to a gcc")
    if int(number[1]) < LEAST_GCC:
        raise NoOriginal(f"lines are counted by gcc {LEAST_GCC} or newer, and the compiler is {version}")
    for command in _beside(words[0]):
        lines = said_out(run([command, "--version"])).splitlines()
        own = VERSION.search(lines[0]) if lines else None
        if own is not None and own[0] == number[0]:
            return command, lines[0]
    raise NoOriginal(f"no gcov was found for {version}", hint="install it: it comes with gcc")


@dataclass(frozen=True)
class _Gcov:
    """The gcov that belongs to the compiler of a build: its command, and the first line of its ``--version``."""

    command: str
    version: str
    builder: _Counting

    def counts(self, dumps: Sequence[Mapping[str, bytes]]) -> list[Counts]:
        """What these counters mean for lines, for each dump. CheckDisagreed where gcov cannot read them."""
        folder = Path(tempfile.mkdtemp(dir=self.builder.folder))
        try:
            places: list[list[str]] = []
            for number, dump in enumerate(dumps):
                own = folder / str(number)
                own.mkdir()
                places.append([])
                for notes in self.builder.notes:
                    counters = dump.get(str(notes.with_suffix(".gcda")))
                    if counters is not None:
                        os.link(notes, own / notes.name)
                        (own / notes.name).with_suffix(".gcda").write_bytes(counters)
                        places[-1].append(f"{number}/{notes.stem}.gcda")
            return self._read(folder, places)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _read(self, folder: Path, places: Sequence[Sequence[str]]) -> list[Counts]:
        """The lines of each list of files of counters; all are read by one process, or, of much, half of them each."""
        names = [str(folder / name) for own in places for name in own]
        done = run([self.command, "--json-format", "--stdout", "--branch-probabilities", *names]) if names else None
        documents = []
        if done is not None:
            with contextlib.suppress(ValueError):
                documents = [json.loads(row) for row in said_out(done).splitlines() if row.startswith("{")]
            if len(documents) != len(names):
                if len(places) > 1:
                    half = len(places) // 2
                    return [*self._read(folder, places[:half]), *self._read(folder, places[half:])]
                raise CheckDisagreed(f"gcov cannot read the counters of the compiled original: {said(done).strip()}")
        left = iter(documents)
        return [_lines([next(left) for _ in own]) for own in places]


def _lines(documents: Sequence[Any]) -> Counts:
    """The lines of gcov's documents. What several object files have of one line, as of a header, is added up."""
    found: dict[Line, tuple[str, int, tuple[int, ...]]] = {}
    files = [(document, file) for document in documents for file in document["files"]]
    for document, file in files:
        path = os.path.normpath(os.path.join(document["current_working_directory"], file["file"]))
        functions = sorted((int(each["start_line"]), str(each["name"])) for each in file["functions"])
        for row in file["lines"]:
            number = int(row["line_number"])
            outcomes = tuple(int(each["count"]) for each in row["branches"])
            begun = bisect_right(functions, number, key=itemgetter(0))  # gcc may not know where a function ends
            own = functions[begun - 1][1] if begun else ""
            function, count, before = found.get((path, number), (own, 0, ()))
            if len(before) == len(outcomes):
                outcomes = tuple(a + b for a, b in zip(before, outcomes, strict=True))
            else:  # other code, as of a macro that means something else there
                outcomes = (*before, *outcomes)
            found[path, number] = function, count + int(row["count"]), outcomes
    return found


def _beside(compiler: str) -> Iterator[str]:
    """Where the gcov of a gcc may be: beside it, called as it, by whatever links; else the one of the system."""
    place = shutil.which(compiler)
    for named in (place, os.path.realpath(place)) if place else ():
        folder, name = os.path.split(named)
        if "gcc" in name:
            yield os.path.join(folder, "gcov".join(name.rsplit("gcc", 1)))
    yield "gcov"


def said_out(done: Any) -> str:
    """What a command wrote to its standard output."""
    return str(done.stdout.decode("utf-8", "replace"))

"""The user's original C program, compiled untouched by the system's C compiler and run in a process of its own.

``bmc.native.build`` compiles, ``bmc.native.symbols`` finds the variables in the library, ``bmc.native.plan`` turns the
interface and values into what ``bmc.native.worker``, the process that calls the program, needs. Here: runs and
their errors.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO

from bmc.errors import CheckDisagreed, InputRefused, LimitReached, Location
from bmc.native.build import Builder, NoCompiler, compiler_words, find_compiler
from bmc.native.cache import open_cache
from bmc.native.commands import kill
from bmc.native.job import Job, Layout, Work, write
from bmc.native.plan import Encoder, Plan, Records
from bmc.native.symbols import is_elf, read_library
from bmc.native.worker import CONFINED, FREE, output_size
from bmc.records import dataclass
from bmc.system.original import NativeInterface
from bmc.system.transition import Valuation

__all__ = ["CompiledOriginal", "NoCompiler", "OriginalCrashed", "OriginalTimeout", "compiled", "find_compiler"]

PACKAGE_ROOT = Path(__file__).resolve().parents[2]
WORKER = ["-I", "-S", "-c", "import sys; sys.path.insert(0, sys.argv[1]); from bmc.native.worker import main; main()"]
"""What Python is started with: nothing from the environment, no installed packages, for the worker needs none."""

TAIL = 4000
"""Bytes of the program's standard error that are kept."""

UNCONFINED = (
    "the code ran with limits, but not confined: this system has no filter of system calls for it (Linux on x86-64 and "
    "aarch64 has), so it could reach the network and your files (docs/how-to/security.md)"
)

MEANINGS = {
    "SIGSEGV": "an access outside its memory",
    "SIGBUS": "an access outside its memory",
    "SIGFPE": "a division by zero or an overflowing division",
    "SIGABRT": "it called abort()",
    "SIGILL": "an instruction that is none",
}


class OriginalCrashed(CheckDisagreed):
    """The original ended (a signal, abort, exit) in ``step`` (from 0; None: in init) or could not be loaded.

    ``states`` are the results up to there, as ``run`` or ``steps`` would have returned them.
    """

    step: int | None = None
    states: tuple[Valuation, ...] = ()


class OriginalTimeout(LimitReached):
    """The time limit came in ``step`` (from 0; None: in init); ``states`` as with ``OriginalCrashed``."""

    step: int | None = None
    states: tuple[Valuation, ...] = ()


@contextlib.contextmanager
def compiled(interface: NativeInterface, kept: bool = False) -> Iterator[CompiledOriginal]:
    """Build the program in a temporary directory, which is removed afterwards.

    ``kept``: a library that was built from the same before may serve, and this one is kept (``bmc.native.cache``).
    NoCompiler without a C compiler for the word sizes of the program; InputRefused, with the compiler's first error and
    its place, where the program does not compile or link, or where its sizes in memory are not those of ``interface``.
    """
    if interface.refusal:
        raise NoCompiler(interface.refusal)
    words = compiler_words()
    if interface.compilation.word_sizes:
        from bmc.native import narrow

        words = [*words, *narrow.OPTIONS[interface.compilation.word_sizes]]
    with tempfile.TemporaryDirectory(prefix="chaincover-", ignore_cleanup_errors=True) as name:
        worker = narrow.worker(words, Path(name)) if interface.compilation.word_sizes else None
        builder = Builder(words, interface, Path(name))
        with open_cache(kept) as cache:
            library, known = builder.library(cache)
        yield CompiledOriginal(interface, Plan.of(interface, library, known), builder.version, cache.note, worker)


def loaded(interface: NativeInterface, library: Path) -> CompiledOriginal:
    """Another build of the program, a shared library whose types are those of ``interface``.

    What it does not export is found where it has debugging information. InputRefused where it is no library, or where
    its sizes in memory are others.
    """
    if not is_elf(library):
        hint = "name a shared library, or a C file"
        raise InputRefused("this is no shared library", Location(str(library)), hint)
    return CompiledOriginal(interface, Plan.of(interface, library, read_library(library, interface)), library.name)


class CompiledOriginal:
    """A built program. Every call of ``run``, ``runs`` or ``steps`` loads it afresh in a process of its own.

    ``name``: its compiler, as ``--version`` says. ``note``: why built programs are not kept, or ''. ``confined``:
    no run so far could reach a network, a file to write or another process (docs/how-to/security.md). ``unreadable``:
    variables whose memory could not be located; they are in no result and are not written, so a difference found while
    there are some need not be an error. Values are raw unsigned patterns; variables that the program does not have (the
    tool's own) are ignored in states.
    """

    def __init__(
        self, interface: NativeInterface, plan: Plan, compiler: str, note: str = "", worker: Path | None = None
    ) -> None:
        self.name, self.note = compiler, note
        self.confined = True
        self._plan, self._worker = plan, worker
        self._cells = {cell.variable: cell for cell in interface.cells if cell.object in self._plan.index}
        self._arguments = {obj.name for obj in interface.objects if obj.kind == "argument"}
        self.unreadable = tuple(cell.variable for cell in interface.cells if cell.variable not in self._cells)

    def run(
        self, inputs: Sequence[Valuation], initial: Valuation | None = None, time_limit: float = 60
    ) -> list[Valuation]:
        """Zeroed memory, init, ``initial`` over what init left (where given), then one step per element of ``inputs``.

        Returns ``len(inputs) + 1`` valuations: after init and after each step, of all variables but the inputs
        (all that occur in ``inputs``), arguments by value and ``unreadable``. An input that an element leaves out keeps
        what its memory holds. ``time_limit`` in seconds for the whole run. OriginalCrashed or OriginalTimeout where the
        program does not come to its end; InputRefused for an input that has no place in the program, or where the
        program cannot be loaded; ValueError for a value that is no raw pattern.
        """
        encoder = Encoder(self._plan, self._cells)
        return self._execute(encoder, _names(inputs), run_of(encoder, inputs, initial), time_limit)

    def runs(
        self, inputs: Sequence[Sequence[Valuation]], initial: Valuation | None = None, time_limit: float = 60
    ) -> list[Valuation]:
        """The states after the steps of several runs, one run after the other in one process: each starts from the
        image of memory right after init, with ``initial`` over it.

        Errors as in ``run``; ``time_limit`` is for all of them, and ``step`` of an error counts the steps of all.
        """
        every = [values for each in inputs for values in each]
        if not every:
            return []
        encoder = Encoder(self._plan, self._cells)
        start, patches = encoder.patches(initial or {}), [encoder.patches(values, every=True) for values in every]
        begins = b"".join(b"\1".ljust(len(each), b"\0") for each in inputs if each)
        steps = tuple(start * again + own for again, own in zip(begins, patches, strict=True))
        return self._execute(encoder, _names(every), Work((), steps, begins), time_limit)

    def steps(self, pairs: Sequence[tuple[Valuation, Valuation]], time_limit: float = 60) -> list[Valuation]:
        """One step from each (state, inputs), independent of each other: the state after it, as in ``run``.

        Each step starts from the image of memory right after init, with the values of the state written over it.
        Errors as in ``run``; ``step`` of an error is the index of the pair.
        """
        if not pairs:
            return []
        encoder = Encoder(self._plan, self._cells)
        every = {id(state): (state, False) for state, _ in pairs}  # one object may be in very many pairs
        every.update((id(values), (values, True)) for _, values in pairs)
        patches = {number: encoder.patches(*values) for number, values in every.items()}
        steps = tuple(patches[id(state)] + patches[id(values)] for state, values in pairs)
        work = Work((), steps, b"\1" * len(steps))
        return self._execute(encoder, _names(values for _, values in pairs), work, time_limit)

    def _execute(self, encoder: Encoder, inputs: set[str], work: Work, time_limit: float) -> list[Valuation]:
        """Run the worker; its records as valuations, or the error."""
        skipped = (c for c in self._cells.values() if c.variable not in inputs and c.object not in self._arguments)
        records = Records(self._plan, skipped)
        return self._results(records, *self._outcome(encoder, records.layout, work, time_limit))

    def _outcome(self, encoder: Encoder, reads: Layout, work: Work, time_limit: float) -> tuple[Outcome, Job]:
        """How the worker ended that did ``work`` and noted ``reads``, and its job. The error where it did not start."""
        layouts = tuple(each.layout for each in encoder.layouts)
        job = Job(self._plan.image, work, reads, layouts, time_limit)
        outcome = _work(job, Path(self._plan.image.library).parent, self._worker)
        self.confined &= outcome.output[:1] != FREE
        if outcome.output[:1] not in (CONFINED, FREE):
            raise _not_started(outcome, job.time_limit)
        return outcome, job

    @property
    def notes(self) -> tuple[str, ...]:
        """What to tell of the runs so far: that programs are not kept, or that the runs were not confined."""
        return tuple(filter(None, (self.note, "" if self.confined else UNCONFINED)))

    @staticmethod
    def _results(records: Records, outcome: Outcome, job: Job) -> list[Valuation]:
        """The worker's records as valuations, or the error that says how far it came."""
        size = records.format.size
        rows = [outcome.output[at : at + size] for at in range(1, len(outcome.output) - size, size + 1)]
        begins = job.work.restored[:1] == b"\1"  # what init left is no state of a run or of a step then
        states: list[Valuation] = [records.decode(row) for row in rows[begins:]]
        count = len(job.work.steps)
        if len(rows) == count + 1:
            return states
        error = ended_early(len(rows), outcome, job)
        error.states = tuple(states)
        raise error


def run_of(encoder: Encoder, inputs: Sequence[Valuation], initial: Valuation | None) -> Work:
    """Init, ``initial`` over what it left, and one step for each element of ``inputs``. Errors as ``run`` has them."""
    start = encoder.patches(initial or {})
    each = {id(values): values for values in inputs}  # one object may be in very many steps
    patches = {number: encoder.patches(values, every=True) for number, values in each.items()}
    steps = tuple(patches[id(values)] for values in inputs)
    return Work(start, steps, bytes(len(steps)))


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the worker ended: its records, exit code (negative: a signal), the end of its standard error."""

    output: bytes
    code: int
    errors: str
    timed_out: bool


def ended_early(records: int, outcome: Outcome, job: Job) -> OriginalCrashed | OriginalTimeout:
    """The error of a run that ended after so many records, of which there is one after init and one after each step."""
    step = records - 1 if records else None
    where = "init" if step is None else f"step {step} (of {len(job.work.steps)}, counted from 0)"
    error = _timeout(where, job.time_limit) if outcome.timed_out else _crash(where, outcome)
    error.step = step
    return error


def _names(valuations: Iterable[Valuation]) -> set[str]:
    return {name for values in valuations for name in values}


def _work(job: Job, folder: Path, narrow_worker: Path | None) -> Outcome:
    """Run the worker in a process group of its own, in ``folder``; kill it all when the time is over."""
    started = [sys.executable, *WORKER, str(PACKAGE_ROOT)]
    with tempfile.TemporaryFile(dir=folder) as order, tempfile.TemporaryFile(dir=folder) as output:
        if narrow_worker is None:
            write(job, order)
        else:
            from bmc.native import narrow

            order.write(narrow.numbers(job))
            started += [str(narrow_worker), str(job.time_limit), str(output_size(job))]
        order.seek(0)
        process = subprocess.Popen(
            started,
            stdin=order,
            stdout=output,
            stderr=subprocess.PIPE,
            cwd=folder,
            start_new_session=True,
        )
        assert process.stderr is not None
        tail: list[bytes] = [b""]
        reader = threading.Thread(target=_read_tail, args=(process.stderr, tail), daemon=True)
        reader.start()
        timed_out = False
        try:
            process.wait(job.time_limit)
        except subprocess.TimeoutExpired:
            timed_out = True
        finally:
            kill(process)
        reader.join(1)
        process.stderr.close()
        output.seek(0)
        return Outcome(output.read(), process.returncode, tail[0].decode(errors="replace").strip(), timed_out)


def _read_tail(stream: IO[bytes], tail: list[bytes]) -> None:
    """Read a stream to its end, however long; keep its last bytes."""
    while chunk := os.read(stream.fileno(), 65536):
        tail[0] = (tail[0] + chunk)[-TAIL:]


def _not_started(outcome: Outcome, time_limit: float) -> OriginalTimeout | InputRefused:
    """The program could not be loaded (or not in time)."""
    if outcome.timed_out:
        return _timeout("loading", time_limit)
    reason = outcome.errors.splitlines()[-1] if outcome.errors else _ending(outcome.code)
    return InputRefused(
        f"the compiled original cannot be loaded: {reason}", hint="set CC to a compiler for the machine that runs this"
    )


def _timeout(where: str, time_limit: float) -> OriginalTimeout:
    return OriginalTimeout(
        f"the compiled original was stopped in {where}: the time limit of {time_limit:g} s is over",
        hint="look for an endless loop there, or allow more time",
    )


def _crash(where: str, outcome: Outcome) -> OriginalCrashed:
    found = re.search(r"undefined function '(\w+)' called", outcome.errors)
    if found:
        return OriginalCrashed(
            f"the compiled original called '{found[1]}' in {where}, which no source file defines",
            hint="add the file that defines it (for a C99 inline function: one with an extern declaration)",
        )
    said = f"; its last output: {outcome.errors.splitlines()[-1]}" if outcome.errors else ""
    return OriginalCrashed(
        f"the compiled original ended in {where}: {_ending(outcome.code)}{said}",
        hint="run that step under a debugger or with -fsanitize=address,undefined; the code may be undefined there",
    )


def _ending(code: int) -> str:
    """What an exit code stands for."""
    if code >= 0:
        return f"it left the process with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"{name} ({MEANINGS[name]})" if name in MEANINGS else name

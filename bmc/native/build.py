"""Build the user's original C program, untouched, into a shared library with the system's C compiler.

Each file is preprocessed first, by that compiler: the text is what the library is made from, and by which a library
that was kept is found again (``bmc.native.cache``).

The flags keep the meaning that the C standard gives the program, and every variable in memory: no optimisation (-O0),
no fused floating-point operations and none folded with the wrong sign of zero (gcc gets -frounding-math for the files
that need it, and, as it does harm elsewhere, for no others: ``zero_sums``), C11 with GNU extensions, no warnings.
``assert``, of the header or only declared, evaluates its condition and goes on (a violated assert is a finding of
ours, not the end of a run), and ``__CPROVER_assume`` returns quietly. A function that is nowhere defined may be
missing as long as it is never called.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import astuple
from functools import cache
from hashlib import sha256
from operator import itemgetter
from pathlib import Path
from typing import TypeVar

from bmc.errors import InputRefused, Location, NoOriginal
from bmc.native import symbols as native_symbols
from bmc.native.assembly import without_assembly
from bmc.native.cache import Cache
from bmc.native.commands import compiles, first_line, run, said, why_stopped
from bmc.native.symbols import LibraryMap, Malformed
from bmc.system.original import SHORT_DOUBLE, FileOptions, NativeInterface, ZeroSum

T = TypeVar("T")

LANGUAGE = ["-x", "c", "-std=gnu11", "-ffp-contract=off", "-fcommon"]
MAKING = ["-c", "-g", "-gdwarf-4", "-O0", "-fPIC"]
LENIENT = [
    "-w",
    "-Wno-implicit-function-declaration",
    "-Wno-implicit-int",
    "-Wno-int-conversion",
    "-Wno-incompatible-pointer-types",
    "-Wno-return-mismatch",
    "-Wno-return-type",
    "-Wno-declaration-missing-parameter-type",
]
FLAGS = [*MAKING, *LANGUAGE, *LENIENT]
"""What each file is compiled with; the -Wno-... undo that new compilers refuse what older ones only warn of."""

ZERO_SUMS = ["-frounding-math", "-U__ROUNDING_MATH__"]
"""What gcc needs for a file with sums of a constant zero; clang gets them right."""

ASSERT_HEADER = """\
#undef assert
#define assert(condition) ((void)!!(condition))
#ifndef static_assert
#define static_assert _Static_assert
#endif
"""

STUBS = """\
extern long write(int, const void *, unsigned long);
extern void abort(void);
extern int mprotect(void *, unsigned long, int);
int chaincover_anchor(void) { return 0; }
__attribute__((weak)) void __CPROVER_assume(int condition) { (void)condition; }
__attribute__((weak)) void __CPROVER_cover(int condition) { (void)condition; }
__attribute__((weak)) void assert(int condition) { (void)condition; }
"""

STUBBED = frozenset({"__CPROVER_assume", "__CPROVER_cover", "assert"})
"""What these define. No library has it, so where the linker misses it nothing else need be tried."""

UNDEFINED = re.compile(r"undefined (?:reference to|symbol:?) [`']?(\w+)")
"""How linkers say what is missing."""

STUB = """\
__attribute__((weak)) void NAME(void) {
  static const char text[] = "undefined function 'NAME' called\\n";
  write(2, text, sizeof text - 1);
  abort();
}
"""

UNREACHED = "__builtin_trap()"
"""What stands for inline assembly that may be that of another processor: the model refuses a program that runs it."""

DATA_GUARD = f"""\
static char chaincover_guard[65536] __attribute__((section("{native_symbols.GUARD_SECTION}"), aligned(65536))) = {{1}};
__attribute__((constructor)) static void chaincover_close(void) {{ mprotect(chaincover_guard, 65536, 0); }}
"""

DATA_STUB = 'extern char NAME __attribute__((weak, alias("chaincover_guard")));\n'


NO_NATIVE = "CHAINCOVER_NO_NATIVE"
"""Environment variable that, set to 1, keeps everything from being compiled, loaded or run; so does ``--no-native``."""


class NoCompiler(NoOriginal):
    """No C compiler is there for the program, or none may be used; the message says which. Callers take the model."""


LINKS = [["-nostdlib", "-Wl,-z,defs"], ["-Wl,-z,defs", "-lm"]]
"""How a library is linked whose symbols are all defined: by the program itself, which takes half the time; else by the
system's libraries too. What is still missing then gets stand-ins."""

ELSEWHERE = ("COMPILER_PATH", "GCC_EXEC_PREFIX", "LIBRARY_PATH")
"""Environment variables that choose the parts of a compiler and the system's libraries."""


DOUBLE = re.compile(
    rb'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|\b(?:long +)?double\b'
    rb"|(?<![\w.])(?:__builtin_)?(?:fabs|floor|ceil|trunc|l?l?round|l?l?rint|nearbyint|sqrt|fmod|fdim|fmin|fmax|copysign"
    rb"|inf|huge_val|nan|a?(?:sin|cos|tan)h?|atan2|pow|hypot|exp(?:2|10|m1)?|log(?:2|10|1p)?|cbrt|erfc?|[tl]gamma)"
    rb"(?=\s*\()"
)
"""Texts, the type ``double``, and calls of functions that yield or take it."""

DRAWS_IN = re.compile(rb"incbin|\.include")
"""Directives of the assembler that read files of which the preprocessed text tells nothing but the name."""


def find_compiler() -> str | None:
    """The command of the system's C compiler: $CC (it may hold options), else cc, gcc or clang on the PATH.

    None where there is none, $CC is no command, or ``NO_NATIVE`` is set.
    """
    if os.environ.get(NO_NATIVE) == "1":
        return None
    chosen = os.environ.get("CC", "").strip()
    for command in [chosen] if chosen else ["cc", "gcc", "clang"]:
        with contextlib.suppress(ValueError):  # quotes that do not close
            if shutil.which(shlex.split(command)[0]):
                return command
    return None


def compiler_words() -> list[str]:
    """The words of the compiler's command; NoCompiler without one."""
    command = find_compiler()
    if command is None:
        hint = "install gcc or clang, or set the environment variable CC to a compiler for this machine"
        raise NoCompiler(why_no_compiler(), hint="" if os.environ.get(NO_NATIVE) == "1" else hint)
    return shlex.split(command)


def why_no_compiler() -> str:
    """Why ``find_compiler`` finds none."""
    if os.environ.get(NO_NATIVE) == "1":
        return "with --no-native nothing is compiled"
    return "no C compiler was found (tried $CC, cc, gcc and clang)"


class Builder:
    """One build: the compiler's words, the program, the directory for everything that is made.

    InputRefused, with the first error and its place, where the program does not compile or link.
    """

    def __init__(self, compiler: list[str], interface: NativeInterface, folder: Path) -> None:
        self.compiler = compiler
        self.interface, self.compilation = interface, interface.compilation
        self.folder = folder
        self.version = version(tuple(compiler))
        self.clang = "clang" in self.version
        self.flags = [*FLAGS, "-femit-all-decls"] if self.clang else FLAGS  # gcc -O0 keeps unused functions anyway
        self.zero_sums = {} if self.clang else {each.source: each for each in interface.compilation.zero_sums}

    def library(self, cache: Cache) -> tuple[Path, LibraryMap | None]:
        """The library, from ``cache`` or built, and what lies where in it (None where it is not ELF)."""
        for each in self.zero_sums.values():
            if each.narrowed is not None:
                raise misplaced(each, each.narrowed)
        if self.clang and any(SHORT_DOUBLE in own.others for _, own in self.compilation.options):
            raise NoCompiler(f"the replay needs gcc for {SHORT_DOUBLE}, and the compiler is {self.version}")
        headers, missing = self.folder / "include", self.folder / "stand_ins"
        headers.mkdir()
        missing.mkdir()
        (headers / "assert.h").write_text(ASSERT_HEADER, encoding="utf-8")
        for name, path in self.compilation.stand_ins:
            (missing / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, missing / name)
        numbers = range(len(self.compilation.sources))
        _at_once(self._preprocess, numbers)
        if cache.usable and any(DRAWS_IN.search(self._text(number)) for number in numbers):
            cache = Cache()
        key = self._key() if cache.usable else ""
        kept = cache.get(key)
        target = self.folder / "original.so"
        if kept is not None:
            facts, library = kept
            target.write_bytes(library)
            return target, None if facts is None else LibraryMap.of(facts)
        objects = _at_once(self._compile, numbers)
        try:
            if sum(b"main" in self._text(number) for number in numbers) > 1:
                for made in filter(native_symbols.is_elf, objects):
                    native_symbols.weaken(made, "main")
            if self.compilation.environment:
                objects.append(self._own("environment", self.compilation.environment))
            known = self._linked(objects)
        except Malformed as error:
            raise InputRefused(
                f"the debug information of the compiled original cannot be read: {error}",
                Location(self.compilation.sources[0]),
                "look for asm that writes sections of its own, or leave comparison and replay out (--no-native)",
            ) from error
        cache.put(key, None if known is None else known.as_data(), target.read_bytes())
        return target, known

    def _key(self) -> str:
        """What the library follows from, as a number: texts, flags, the compiler, the interface, the machine."""
        command = shutil.which(self.compiler[0]) or self.compiler[0]
        facts = os.stat(command)
        named = (command, os.path.realpath(command), facts.st_size, facts.st_mtime_ns, self.version, self.compiler)
        around = (os.getcwd(), os.uname(), [os.environ.get(name) for name in ELSEWHERE])
        numbers = range(len(self.compilation.sources))
        flags = (self.flags, LINKS, ZERO_SUMS, [self._special(number) for number in numbers])
        whole = sha256(repr((named, around, flags, STUBS, astuple(self.interface))).encode("utf-8", "surrogateescape"))
        for number in numbers:
            own = self._text(number).replace(os.fsencode(self.folder), b"")  # where our headers lie for this run
            whole.update(b"%d\n" % len(own) + own)
        return whole.hexdigest()

    def _own_options(self, number: int) -> FileOptions:
        return dict(self.compilation.options).get(self.compilation.sources[number], FileOptions())

    def _special(self, number: int) -> list[str]:
        """The options of one source file alone, but those by which the preprocessor sees it."""
        special = ZERO_SUMS if self.compilation.sources[number] in self.zero_sums else []
        renamed = [f"-Dmain=chaincover_main_{number}"] if sys.platform == "darwin" else []
        given = self._own_options(number).others
        others = ["-fsingle-precision-constant" if word == SHORT_DOUBLE else word for word in given]
        return [
            *others,
            *special,
            *(f"-fno-builtin-{name}" for name in self.compilation.redefined + self.compilation.called),
            *renamed,
        ]

    def _text(self, number: int) -> bytes:
        """A file's preprocessed text. The texts of many files are not held together."""
        return (self.folder / f"file{number}.i").read_bytes()

    def _preprocess(self, number: int) -> None:
        """Make a file's preprocessed text; where ``#error`` directives are passed over, as if there were none."""
        source, target = self.compilation.sources[number], self.folder / f"file{number}.i"
        flags = [flag for flag in self.flags if flag not in ("-c", "-g", "-gdwarf-4")]
        done = self._run(*flags, *self._seen(number), "-E", os.path.abspath(source), output=target)
        errors = said(done)
        if self.compilation.pass_errors:
            errors = re.sub(r"^.*: error: #error .*$", "", errors, flags=re.M)
        failed = why_stopped(errors) or (done.returncode and not self.compilation.pass_errors)
        if failed or not target.stat().st_size or re.search(r"^.+?:\d+:(?:\d+:)? (?:fatal )?error: ", errors, re.M):
            raise refusal(self.compiler, errors, source)
        if self.compilation.assembly:
            self._leave_out_assembly(target)
        if SHORT_DOUBLE in self._own_options(number).others:
            target.write_bytes(with_short_double(target.read_bytes(), self.compilation.redefined))

    def _leave_out_assembly(self, place: Path, others: str | None = None) -> bool:
        """Leave inline assembly out of a preprocessed text; whether that changes it."""
        text = place.read_bytes().decode("latin-1")
        left = without_assembly(text, self.compilation.assembly, others)
        place.write_bytes(left.encode("latin-1"))
        return left != text

    def _seen(self, number: int) -> list[str]:
        """The options by which the preprocessor sees a file."""
        own = self._own_options(number)
        options = [f"-I{os.path.abspath(folder)}" for folder in (*own.include, *self.compilation.include_dirs)]
        for name, value in (*own.macros, *self.compilation.defines):
            options.append(f"-U{name}" if value is None else f"-D{name}={value}")
        for path in own.first:
            options += ["-include", os.path.abspath(path)]
        options += ["-isystem", str(self.folder / "include")]
        last = [str(self.folder / "stand_ins"), *own.last]
        return [*options, *(word for folder in last for word in ("-idirafter", folder)), *self._special(number)]

    def _compile(self, number: int) -> Path:
        """A file's preprocessed text to an object file."""
        source, target = self.compilation.sources[number], self.folder / f"file{number}.o"
        text = self.folder / f"file{number}.i"
        words = [*self.flags, *self._special(number), "-xcpp-output", str(text), "-o", str(target)]
        if (done := self._run(*words)).returncode and self._leave_out_assembly(text, UNREACHED):
            done = self._run(*words)
        if done.returncode or not target.exists():
            if not self.compilation.pass_errors and not why_stopped(said(done)):
                # macros have moved the columns: errors are told of the file itself
                again = self._run(
                    *self.flags, *self._seen(number), os.path.abspath(source), "-o", str(self.folder / "again.o")
                )
                done = again if again.returncode else done
            raise refusal(self.compiler, said(done), source)
        return target

    def _own(self, name: str, text: str) -> Path:
        """Compile a file of our own: stand-ins for what is undefined, or the program's environment."""
        target = self.folder / f"{name}.o"
        target.write_bytes(_object_of(text, tuple(self.compiler), tuple(self.flags)))
        return target

    def _linked(self, objects: Sequence[Path]) -> LibraryMap | None:
        """Link ``original.so``, with stand-ins for what is undefined; what lies where in it, where it is ELF."""
        own: list[Path] = []
        if native_symbols.is_elf(objects[0]):
            for how in LINKS:
                done = self._link([*objects, *own], how)
                if done.returncode and not own and STUBBED & {*UNDEFINED.findall(said(done))}:
                    own = [self._own("stubs", STUBS)]
                    done = self._link([*objects, *own], how)
                if not done.returncode and (self.folder / "original.so").exists():
                    known = native_symbols.read_library(self.folder / "original.so", self.interface)
                    if known.anchor:
                        return known
                    break
        library = self._link_or_refuse([*objects, *(own or [self._own("stubs", STUBS)])])
        if not native_symbols.is_elf(library):
            return None
        functions, others = native_symbols.undefined_symbols(library)
        if functions or others:
            self._link_or_refuse([*objects, self._own("stubs", stub_text(functions, others))])
        return native_symbols.read_library(library, self.interface)

    def _link_or_refuse(self, objects: Sequence[Path]) -> Path:
        target = self.folder / "original.so"
        done = self._link(objects, ["-lm"])
        if done.returncode or not target.exists():
            text = said(done)
            for number, source in enumerate(self.compilation.sources):
                text = text.replace(str(self.folder / f"file{number}.o"), source)
            raise link_refusal(text)
        return target

    def _link(self, objects: Sequence[Path], options: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
        """Link the shared library. A function called like one of the C library's binds to the program's own."""
        how = ["-undefined", "dynamic_lookup"] if sys.platform == "darwin" else ["-Wl,-Bsymbolic"]
        return self._run("-shared", *how, "-o", str(self.folder / "original.so"), *map(str, objects), *options)

    def _run(self, *arguments: str, output: Path | None = None) -> subprocess.CompletedProcess[bytes]:
        return run([*self.compiler, *arguments], output)


def _at_once(work: Callable[[int], T], numbers: Sequence[int]) -> list[T]:
    """The results of ``work``, done side by side where there are several; or the error of the first that has one.

    After an error or an interrupt nothing more is begun, and what is under way comes to its end.
    """
    if len(numbers) == 1:
        return [work(numbers[0])]
    made: dict[int, T] = {}
    failed: list[tuple[int, BaseException]] = []
    left = iter(numbers)

    def some() -> None:
        for number in left:
            if any(other < number for other, _ in failed):
                return
            try:
                made[number] = work(number)
            except Exception as error:  # handed on to the caller's thread
                failed.append((number, error))

    threads = [threading.Thread(target=some, daemon=True) for _ in range(min(len(numbers), os.cpu_count() or 1))]
    try:
        for step in (*(thread.start for thread in threads), *(thread.join for thread in threads)):
            step()
    except BaseException as error:  # an interrupt; what is under way writes to a folder that is removed next
        failed.append((-1, error))
        for thread in filter(threading.Thread.is_alive, threads):
            thread.join()
    if failed:
        raise min(failed, key=itemgetter(0))[1]
    return [made[number] for number in numbers]


@cache
def version(compiler: tuple[str, ...]) -> str:
    """The first line of ``--version``, or the command where there is none. InputRefused where it comes to no end."""
    done = run([*compiler, "--version"])
    if why_stopped(said(done)):
        raise InputRefused(
            f"the C compiler was stopped at --version, because it took {why_stopped(said(done))}",
            Location(shlex.join(compiler)),
            "set CC to a C compiler, or leave the comparison and the replay out (--no-native)",
        )
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    return lines[0].strip() if lines else shlex.join(compiler)


@cache
def _object_of(text: str, compiler: tuple[str, ...], flags: tuple[str, ...]) -> bytes:
    """The object file of a text of our own: it is the same for most programs, so it is compiled once."""
    with tempfile.TemporaryDirectory(prefix="chaincover-", ignore_cleanup_errors=True) as name:
        source, target = Path(name) / "own.c", Path(name) / "own.o"
        source.write_text(text, encoding="utf-8")
        done = run([*compiler, *flags, "-fno-builtin", str(source), "-o", str(target)])
        if done.returncode or not target.exists():
            raise refusal(compiler, said(done), str(source))
        return target.read_bytes()


def refusal(compiler: Sequence[str], output: str, source: str) -> InputRefused | NoCompiler:
    """The compiler's first error, with its place; that it is none, where it does not even compile a declaration."""
    if not why_stopped(output) and not compiles(compiler):
        told = f"the C compiler ({shlex.join(compiler)}) compiles nothing in {tempfile.gettempdir()}; it says: "
        return NoCompiler(told + first_line(output), hint="name another compiler (CC), or make room there (TMPDIR)")
    hint = (
        "replay on the compiled original needs a program that this machine's compiler accepts: "
        f"check it with `{shlex.join(compiler)} -c {shlex.quote(source)}`, and the project's include folders "
        "and defines (a stand-in header may help)"
    )
    found = re.search(r"^(.+?):(\d+):(?:(\d+):)? (?:fatal )?error: (.*)$", output, re.M)
    if found:
        path = source if found[1] == os.path.abspath(source) else found[1]
        place = Location(path, int(found[2]), int(found[3] or 0))
        return InputRefused(f"the C compiler refuses the original: {found[4]}", place, hint)
    if why_stopped(output):
        return InputRefused(
            f"the C compiler was stopped, because it took {why_stopped(output)}",
            Location(source),
            "look at macros that contain each other and at what is included, also where only the compiler reads "
            "(#ifndef __CHAINCOVER__), or leave the comparison and the replay out (--no-native)",
        )
    return InputRefused(f"the C compiler refuses the original: {first_line(output)}", Location(source), hint)


def stub_text(functions: Sequence[str], others: Sequence[str]) -> str:
    """C text of the stand-ins: a call of an undefined function, or any use of an undefined variable, ends the run."""
    named = [name for name in functions if name.isidentifier()]
    data = [name for name in others if name.isidentifier()]
    parts = [STUBS, *(STUB.replace("NAME", name) for name in named)]
    if data:
        parts += [DATA_GUARD, *(DATA_STUB.replace("NAME", name) for name in data)]
    return "".join(parts)


def with_short_double(text: bytes, redefined: Sequence[str]) -> bytes:
    """A preprocessed text in which ``double`` is ``float``, and functions of <math.h> are those for ``float``.

    Not in the system's headers, nor in texts; those that the program has ``redefined`` keep their names.
    """
    system, lines = False, []
    for line in text.splitlines(keepends=True):
        marker = re.match(rb'#(?:line)? \d+ "[^\n]*"([ \d]*)', line)
        if marker is not None:
            system = b"3" in marker[1].split()
        elif not system:
            line = DOUBLE.sub(lambda word: _as_float(word[0], redefined), line)
        lines.append(line)
    return b"".join(lines)


def _as_float(word: bytes, redefined: Sequence[str]) -> bytes:
    if word.startswith((b'"', b"'")):
        return word
    if word.endswith(b"double"):
        return b"float"
    return word if word.decode() in redefined else word + b"f"


def misplaced(zero_sum: ZeroSum, initialiser: Location) -> InputRefused:
    """The refusal of a file that gcc gets wrong with -frounding-math and without."""
    return InputRefused(
        "gcc may compile the original wrongly: a double constant that is no float initialises one in a struct or array "
        f"on the stack or in a compound literal, and {zero_sum.place} has a sum or difference of a constant zero",
        initialiser,
        "write the constant with the suffix f, or make the struct or array static; or write '0.0 - x' as '-x' if the "
        "sign of a zero does not matter; or compile with clang (CC=clang); or leave the replay out "
        "(--no-native)",
    )


def link_refusal(output: str) -> InputRefused:
    """The linker's first complaint."""
    twice = re.search(r"multiple definition of [`'\"](\w+)['\"]; (\S+?):.*first defined here", output)
    if twice:
        found = re.findall(r"^(?:\S*ld(?:\.\w+)?: )?(\S+?):(?:\(|in function|\d+)", output, re.M)
        other = next((name for name in found if name != twice[2]), "another file")
        return InputRefused(
            f"'{twice[1]}' is defined in {twice[2]} and in {other}",
            hint="list only the source files that belong to one program",
        )
    return InputRefused(
        f"the compiled original cannot be linked: {first_line(output)}",
        hint="list only the source files that belong to one program, and use a compiler for this machine (CC)",
    )

"""Build the user's original C program, untouched, into a shared library with the system's C compiler.

The flags keep the meaning that the C standard gives the program, and every variable in memory: no optimisation (-O0),
no fused floating-point operations and none folded with the wrong sign of zero (gcc gets -frounding-math for the files
that need it, and, as it does harm elsewhere, for no others: ``zero_sums``), C11 with GNU extensions, no warnings.
``assert``, of the header or only declared, evaluates its condition and goes on (a violated assert is a finding of
ours, not the end of a run), and ``__CPROVER_assume`` returns quietly. A function that is nowhere defined may be
missing as long as it is never called.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from bmc.errors import ChainCoverError, InputRefused, Location
from bmc.native import symbols as native_symbols
from bmc.system.original import NativeInterface, ZeroSum

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
__attribute__((weak)) void assert(int condition) { (void)condition; }
"""

STUB = """\
__attribute__((weak)) void NAME(void) {
  static const char text[] = "undefined function 'NAME' called\\n";
  write(2, text, sizeof text - 1);
  abort();
}
"""

DATA_GUARD = f"""\
static char chaincover_guard[65536] __attribute__((section("{native_symbols.GUARD_SECTION}"), aligned(65536))) = {{1}};
__attribute__((constructor)) static void chaincover_close(void) {{ mprotect(chaincover_guard, 65536, 0); }}
"""

DATA_STUB = 'extern char NAME __attribute__((weak, alias("chaincover_guard")));\n'


class NoCompiler(ChainCoverError):
    """No C compiler was found: callers fall back to the model."""


def find_compiler() -> str | None:
    """The command of the system's C compiler: $CC (it may hold options), else cc, gcc or clang on the PATH.

    None where there is none, or where the environment variable CHAINCOVER_NO_CC is 1.
    """
    if os.environ.get("CHAINCOVER_NO_CC") == "1":
        return None
    chosen = os.environ.get("CC", "").strip()
    for command in [chosen] if chosen else ["cc", "gcc", "clang"]:
        if shutil.which(shlex.split(command)[0]):
            return command
    return None


def compiler_words() -> list[str]:
    """The words of the compiler's command; NoCompiler without one."""
    command = find_compiler()
    if command is None:
        raise NoCompiler(
            "no C compiler was found (tried $CC, cc, gcc and clang)",
            hint="install gcc or clang, or set the environment variable CC to a compiler for this machine",
        )
    return shlex.split(command)


class Builder:
    """One build: the compiler's words, the program, the directory for everything that is made.

    InputRefused, with the first error and its place, where the program does not compile or link.
    """

    def __init__(self, compiler: list[str], interface: NativeInterface, folder: Path) -> None:
        self.compiler = compiler
        self.interface, self.compilation = interface, interface.compilation
        self.folder = folder
        self.version = _version(tuple(compiler))
        self.clang = "clang" in self.version
        self.flags = [*FLAGS, "-femit-all-decls"] if self.clang else FLAGS  # gcc -O0 keeps unused functions anyway
        self.zero_sums = {} if self.clang else {each.source: each for each in interface.compilation.zero_sums}

    def library(self) -> Path:
        """Compile every file, link, and link again with stand-ins for what is undefined."""
        if self.interface.refusal:
            raise InputRefused(self.interface.refusal, hint="leave the replay out (--no-replay, --compare 0)")
        for each in self.zero_sums.values():
            if each.narrowed is not None:
                raise misplaced(each, each.narrowed)
        headers, missing = self.folder / "include", self.folder / "stand_ins"
        headers.mkdir()
        missing.mkdir()
        (headers / "assert.h").write_text(ASSERT_HEADER, encoding="utf-8")
        for name, path in self.compilation.stand_ins:
            shutil.copyfile(path, missing / name)
        with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
            objects = list(pool.map(self._compile, range(len(self.compilation.sources))))
        if self.compilation.environment:
            objects.append(self._own("environment", self.compilation.environment))
        stubs = self._own("stubs", STUBS)
        library = self._link([*objects, stubs])
        if native_symbols.is_elf(library):
            functions, others = native_symbols.undefined_symbols(library)
            if functions or others:
                return self._link([*objects, self._own("stubs", stub_text(functions, others))])
        return library

    def _compile(self, number: int) -> Path:
        """One source file to one object file, in which ``main`` is weak: several files may define it."""
        source = self.compilation.sources[number]
        options = [f"-I{os.path.abspath(folder)}" for folder in self.compilation.include_dirs]
        options += [f"-D{name}={value}" for name, value in self.compilation.defines]
        options += ["-isystem", str(self.folder / "include"), "-idirafter", str(self.folder / "stand_ins")]
        options += [f"-fno-builtin-{name}" for name in self.compilation.redefined]
        special = ZERO_SUMS if source in self.zero_sums else []
        if sys.platform == "darwin":
            options.append(f"-Dmain=chaincover_main_{number}")
        target = self.folder / f"file{number}.o"
        text = os.path.abspath(source)
        if self.compilation.pass_errors:
            text, options = str(self._preprocessed(number, text, options)), ["-fpreprocessed"]
        done = self._run(*self.flags, *special, *options, text, "-o", str(target))
        if done.returncode or not target.exists():
            raise refusal(self.compiler, done.stderr, source)
        if native_symbols.is_elf(target):
            native_symbols.weaken(target, "main")
        return target

    def _preprocessed(self, number: int, source: str, options: Sequence[str]) -> Path:
        """A file's preprocessed text, as if its ``#error`` directives were not there."""
        done = self._run(*LANGUAGE, *options, "-E", source)
        others = re.sub(r"^.*: error: #error .*$", "", done.stderr, flags=re.M)
        if not done.stdout or re.search(r"^.+?:\d+:(?:\d+:)? (?:fatal )?error: ", others, re.M):
            raise refusal(self.compiler, others, self.compilation.sources[number])
        target = self.folder / f"file{number}.i"
        target.write_text(done.stdout, encoding="utf-8")
        return target

    def _own(self, name: str, text: str) -> Path:
        """Compile a file of our own: stand-ins for what is undefined, or the program's environment."""
        target = self.folder / f"{name}.o"
        target.write_bytes(_object_of(text, tuple(self.compiler), tuple(self.flags)))
        return target

    def _link(self, objects: Sequence[Path]) -> Path:
        """Link the shared library. A function called like one of the C library's binds to the program's own."""
        target = self.folder / "original.so"
        how = ["-undefined", "dynamic_lookup"] if sys.platform == "darwin" else ["-Wl,-Bsymbolic"]
        done = self._run("-shared", *how, "-o", str(target), *map(str, objects), "-lm")
        if done.returncode or not target.exists():
            text = done.stderr
            for number, source in enumerate(self.compilation.sources):
                text = text.replace(str(self.folder / f"file{number}.o"), source)
            raise link_refusal(text)
        return target

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return _run([*self.compiler, *arguments])


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, "LC_ALL": "C"},
        check=False,
    )


@cache
def _version(compiler: tuple[str, ...]) -> str:
    """The first line of ``--version``, or the command where there is none."""
    lines = _run([*compiler, "--version"]).stdout.splitlines()
    return lines[0].strip() if lines else shlex.join(compiler)


@cache
def _object_of(text: str, compiler: tuple[str, ...], flags: tuple[str, ...]) -> bytes:
    """The object file of a text of our own: it is the same for most programs, so it is compiled once."""
    with tempfile.TemporaryDirectory(prefix="chaincover-", ignore_cleanup_errors=True) as name:
        source, target = Path(name) / "own.c", Path(name) / "own.o"
        source.write_text(text, encoding="utf-8")
        done = _run([*compiler, *flags, "-fno-builtin", str(source), "-o", str(target)])
        if done.returncode or not target.exists():
            raise refusal(compiler, done.stderr, str(source))
        return target.read_bytes()


def refusal(compiler: Sequence[str], output: str, source: str) -> InputRefused:
    """The compiler's first error, with its place."""
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
    return InputRefused(f"the C compiler refuses the original: {first_line(output)}", Location(source), hint)


def stub_text(functions: Sequence[str], others: Sequence[str]) -> str:
    """C text of the stand-ins: a call of an undefined function, or any use of an undefined variable, ends the run."""
    named = [name for name in functions if name.isidentifier()]
    data = [name for name in others if name.isidentifier()]
    parts = [STUBS, *(STUB.replace("NAME", name) for name in named)]
    if data:
        parts += [DATA_GUARD, *(DATA_STUB.replace("NAME", name) for name in data)]
    return "".join(parts)


def misplaced(zero_sum: ZeroSum, initialiser: Location) -> InputRefused:
    """The refusal of a file that gcc gets wrong with -frounding-math and without."""
    return InputRefused(
        "gcc may compile the original wrongly: a double constant that is no float initialises one in a struct or array "
        f"on the stack or in a compound literal, and {zero_sum.place} has a sum or difference of a constant zero",
        initialiser,
        "write the constant with the suffix f, or make the struct or array static; or write '0.0 - x' as '-x' if the "
        "sign of a zero does not matter; or compile with clang (CC=clang); or leave the replay out "
        "(--no-replay, --compare 0)",
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


def first_line(output: str) -> str:
    """The first line of a tool's output that says something, errors first."""
    lines = [line.strip() for line in output.splitlines() if line.strip() and not line.startswith("collect2:")]
    errors = [line for line in lines if re.search(r"error|undefined|cannot find", line, re.IGNORECASE)]
    return (errors or lines or ["no message"])[0]

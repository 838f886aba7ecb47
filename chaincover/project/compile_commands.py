"""``compile_commands.json`` (Clang's compilation database): with which options each source file is compiled.

What a compiler for another machine brings along (word sizes, signs, macros, and folders of headers) is asked of it
where it is installed.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cache
from pathlib import Path
from typing import Any

from bmc.errors import InputRefused, Location, listed
from bmc.limits import read_json, read_text
from bmc.models.c.source.compiler_macros import platform_macros, predefined
from bmc.models.c.source.options import Dialect, Options
from bmc.models.c.source.types import DATA_MODELS, data_model_of
from bmc.native.build import find_compiler
from bmc.native.commands import run, said
from bmc.records import dataclass
from bmc.system.original import SHORT_DOUBLE, FileOptions

NAME = "compile_commands.json"
LAUNCHERS = frozenset({"ccache", "sccache", "distcc", "icecc"})
"""Commands that call the compiler that is named behind them."""
NATIVE = frozenset({"cc", "gcc", "clang", "c99", "c11"})
"""Compilers for this machine, also with a version behind their name."""
_DEEPEST = 8
"""So many files of options may name one another (``@FILE``)."""


@dataclass(frozen=True)
class Build:
    """How files are compiled: the compilation database ``place``, '' for none, with the options of each file, or with
    the ``problem`` for which it is not followed."""

    place: str = ""
    options: Mapping[str, FileOptions] = field(default_factory=dict)
    dialect: Dialect = Dialect()
    problem: str = ""

    def including(self, files: Sequence[str], first: tuple[str, ...]) -> Build:
        """The same, with headers that each of ``files`` includes first."""
        known = {file: self.options.get(file, FileOptions()) for file in files}
        options = {file: replace(own, first=(*first, *own.first)) for file, own in known.items()}
        return replace(self, options=options)


def found_build(places: Sequence[str], base: Path, files: Sequence[str]) -> tuple[Build, list[str]]:
    """The compilation database in or near the folders of a program, and those of ``files`` that it compiles.

    All of ``files`` where there is no database that compiles one of them.
    """
    near = [base, *(Path(place) if os.path.isdir(place) else Path(place).parent for place in places)]
    folders = dict.fromkeys(folder for each in near for folder in (each, *each.resolve().parents[:2]))
    for place in (inner / NAME for folder in folders for inner in (folder, folder / "build")):
        if place.is_file():
            where = Location(str(place))
            try:
                known = _entries(read_json(read_text(place, "the compilation database"), where), where)
                compiled = [file for file in files if os.path.realpath(file) in known]
                if compiled:
                    return Build(str(place), *options_of(place, compiled, (), "")), compiled
            except InputRefused as error:
                return Build(str(place), problem=str(error)), [*files]
    return Build(), [*files]


def options_of(
    place: Path, files: Sequence[str], more: Sequence[str], target: str
) -> tuple[dict[str, FileOptions], Dialect]:
    """The options of each of ``files``, ``more`` behind them, and what they say of the language.

    InputRefused where a file has no entry, or two that differ, where an option is not followed, where files differ in
    their language, or where the compiler is one for another machine that is not installed, and ``target`` says nothing.
    """
    where = Location(str(place))
    hint = "build the program with CMAKE_EXPORT_COMPILE_COMMANDS=ON, or with bear"
    text = read_text(place, "the compilation database", hint)
    entries = _entries(read_json(text, where), where)
    found: dict[str, FileOptions] = {}
    dialects: dict[Dialect, str] = {}
    for file in files:
        own = entries.get(os.path.realpath(file))
        if own is None:
            known = listed([os.path.relpath(path) for path in entries])
            raise InputRefused(f"no entry is for '{file}'", where, f"the entries are for {known}")
        read = [_read(entry, more, where, target) for entry in own]
        if any((each.of_file, each.dialect) != (read[0].of_file, read[0].dialect) for each in read[1:]):
            hint = "leave one of them in it, or write sources.include and sources.defines"
            raise InputRefused(f"{len(read)} entries are for '{file}', with different options", where, hint)
        found[file] = read[0].of_file
        dialects.setdefault(read[0].dialect, file)
    if len(dialects) > 1:
        first, second = [*dialects.values()][:2]
        text = f"'{first}' and '{second}' are compiled for different targets or types"
        hint = "compile all with the same -m32, -funsigned-char, -fshort-enums, -fwrapv and -fpack-struct"
        raise InputRefused(text, where, hint)
    return found, next(iter(dialects), Dialect())


def _entries(data: Any, where: Location) -> dict[str, list[Mapping[str, Any]]]:
    """The entries by the files that they are for."""
    if not isinstance(data, list):
        raise InputRefused("a compilation database is a list of entries", where, f"name a {NAME}")
    entries: dict[str, list[Mapping[str, Any]]] = {}
    for number, entry in enumerate(data, 1):
        fits = isinstance(entry, dict) and all(isinstance(entry.get(key), str) for key in ("file", "directory"))
        words = entry.get("arguments", entry.get("command")) if fits else None
        if not (isinstance(words, str) or (isinstance(words, list) and all(isinstance(word, str) for word in words))):
            text = f"entry {number} lacks 'directory', 'file', or 'arguments' or 'command'"
            raise InputRefused(text, where, "write each entry as in Clang's JSON Compilation Database Format")
        path = os.path.join(os.path.dirname(where.file), entry["directory"], entry["file"])
        entries.setdefault(os.path.realpath(path), []).append(entry)
    return entries


def _read(entry: Mapping[str, Any], more: Sequence[str], where: Location, target: str) -> Options:
    folder = os.path.join(os.path.dirname(where.file), entry["directory"])
    words = _command(entry, where)
    compiler = os.path.basename(words[0]) if words else ""
    name = compiler.removeprefix("x86_64-linux-gnu-").rstrip("0123456789.").rstrip("-")
    words = _expanded(words[1:], folder, where)
    if name in NATIVE and "-m32" not in words:
        return Options([*words, *more], folder, where)

    found, own, folders = options_of_compiler(compiler, words, target, where)
    if not (found.target or target or name in NATIVE):
        text = f"'{entry['file']}' is compiled by {compiler or 'no compiler'}, whose word sizes are not known here"
        hint = 'put it on the PATH, or say which they are: [sources] target = "ilp32" (or lp64, llp64, ip16)'
        raise InputRefused(text, where, hint)
    if name not in NATIVE:  # here the architecture may change how floating point is rounded
        words = [word for word in words if not word.startswith("-march=")]
    read = Options([*own, *words, *more], folder, where)
    read.last = folders
    read.dialect = replace(read.dialect, target=read.dialect.target or found.target, unaligned=found.unaligned)
    return read


def _command(entry: Mapping[str, Any], where: Location) -> list[str]:
    """The compiler of an entry and its arguments, without what launches it."""
    given = entry.get("arguments", entry.get("command"))
    try:
        words = shlex.split(given) if isinstance(given, str) else [*given]
    except ValueError as error:
        text = f"the command for '{entry['file']}' cannot be read: {error}"
        raise InputRefused(text, where, "mend its quotes") from None
    while words and os.path.basename(words[0]) in LAUNCHERS:
        words.pop(0)
    return words


def _expanded(words: Sequence[str], folder: str, where: Location, depth: int = 0) -> list[str]:
    """The words, with those of files (``@FILE``) in place of these."""
    result: list[str] = []
    for word in words:
        if not word.startswith("@"):
            result.append(word)
            continue
        if depth == _DEEPEST:
            raise InputRefused(f"the file of options {word} names itself", where, "write the options into the entry")
        inner = shlex.split(read_text(os.path.join(folder, word[1:]), "a file of options", "build the program again"))
        result += _expanded(inner, folder, where, depth + 1)
    return result


_ASKED = re.compile(r"([\w.]+-)*(gcc|cc|clang)(-[\d.]+)?")
"""Compilers that list their macros for ``-dM -E``."""
_OF_MACHINE = re.compile(
    r"-m[\w-]+(=[\w.+-]+)?|-std=[\w:]+|-f(no-)?(un)?signed-char|-f(no-)?short-enums|--target=[\w.-]+"
)
"""Options on which macros depend, and by which a compiler loads and reads nothing else."""


def options_of_compiler(
    compiler: str, words: Sequence[str], target: str, where: Location
) -> tuple[Dialect, list[str], list[str]]:
    """What a compiler that is found on the PATH says of the target, options that say the rest to this machine's, and
    the folders of its headers.

    Nothing where it is not installed, may not be run or does not list its macros. InputRefused where its types are
    none that can be read, or have other sizes than those of ``target``.
    """
    place = shutil.which(compiler) if _ASKED.fullmatch(compiler) and find_compiler() is not None else None
    macros, folders = _asked(place, tuple(filter(_OF_MACHINE.fullmatch, words))) if place else ({}, [])
    if not macros:
        return Dialect(), [], []
    found, double = _target(macros), macros.get("__SIZEOF_DOUBLE__")
    little = macros.get("__BYTE_ORDER__") == "__ORDER_LITTLE_ENDIAN__"
    if not found or not little or double not in ("4", "8"):
        sizes = ", ".join(
            f"{name} {macros.get(f'__SIZEOF_{name.upper()}__', '?')}" for name in ("int", "long", "double")
        )
        text = f"the types of {compiler} are none that can be read: in bytes {sizes}, "
        text += "lowest byte first" if little else "highest byte first"
        hint = "compile for a machine whose lowest byte comes first, with one of the word sizes"
        raise InputRefused(text, where, hint)
    if target not in ("", found):
        text = f"sources.target is {target}, but {compiler} has the word sizes {found}"
        raise InputRefused(text, where, f'write target = "{found}", or leave it out')
    own = {name.partition("(")[0] for name, _ in predefined(DATA_MODELS[found])}
    options = [f"-D{name}={value}" for name, value in macros.items() if name not in own and "(" not in name]
    options += [f"-U{name}" for name in platform_macros() if found == "lp64" and name not in macros]
    alignment = int(macros.get("__BIGGEST_ALIGNMENT__", "0"))
    kinds = {
        "-funsigned-char": "__CHAR_UNSIGNED__" in macros,
        SHORT_DOUBLE: double == "4",
        "-fshort-enums": macros.get("__ARM_SIZEOF_MINIMAL_ENUM") == "1",
        "-malign-double": found == "ilp32" and alignment >= 8 and "__i386__" not in macros,
    }
    options += [option for option, holds in kinds.items() if holds]
    return Dialect(found, unaligned=alignment == 1), options, folders


@cache
def _asked(compiler: str, words: tuple[str, ...]) -> tuple[dict[str, str], list[str]]:
    """The macros of a compiler, and the folders in which it looks for headers."""
    done = run([compiler, *words, "-v", "-dM", "-E", "-x", "c", "/dev/null"])
    lines = done.stdout.decode("utf-8", "replace").splitlines() if not done.returncode else []
    macros = dict(re.findall(r"^#define (\S+) ?(.*)$", "\n".join(lines), re.M))
    found = re.search(r"^#include <\.\.\.> .*\n((?: .*\n)*)", said(done), re.M)
    folders = [os.path.normpath(row.strip()) for row in found[1].splitlines()] if found else []
    return macros, [folder for folder in folders if os.path.isdir(folder)]


def _target(macros: dict[str, str]) -> str:
    """The name of the word sizes, '' where there is none for them."""
    kinds = ("SHORT", "INT", "LONG", "LONG_LONG", "POINTER")
    return data_model_of(*(int(macros.get(f"__SIZEOF_{kind}__", "0")) for kind in kinds))

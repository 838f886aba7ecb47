"""What a compiler for another machine brings along, asked of it where it is installed: word sizes, signs, macros, and
folders of headers."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from functools import cache

from bmc.errors import InputRefused, Location
from bmc.models.c.source.compiler_macros import platform_macros, predefined
from bmc.models.c.source.options import Dialect
from bmc.models.c.source.types import DATA_MODELS, data_model_of
from bmc.native.build import find_compiler
from bmc.native.commands import run, said
from bmc.system.original import SHORT_DOUBLE

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
    if not found or macros.get("__BYTE_ORDER__") != "__ORDER_LITTLE_ENDIAN__" or double not in ("4", "8"):
        sizes = ", ".join(
            f"{name} {macros.get(f'__SIZEOF_{name.upper()}__', '?')}" for name in ("int", "long", "double")
        )
        text = f"the types of {compiler} are none that can be read: in bytes {sizes}, {_order(macros)}"
        raise InputRefused(
            text, where, "compile for a machine whose lowest byte comes first, with one of the word sizes"
        )
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


def _order(macros: dict[str, str]) -> str:
    return "lowest byte first" if macros.get("__BYTE_ORDER__") == "__ORDER_LITTLE_ENDIAN__" else "highest byte first"

"""The macros that gcc predefines, for every data model, and its words in terms of what the parser reads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from bmc.models.c.source.types import DataModel

PREDEFINED = Path(__file__).parent / "predefined"

KEYWORDS = [
    ("__extension__", ""),
    ("__inline", "inline"),
    ("__inline__", "inline"),
    ("__restrict", "restrict"),
    ("__restrict__", "restrict"),
    ("__signed", "signed"),
    ("__signed__", "signed"),
    ("__thread", "_Thread_local"),
    ("__volatile", "volatile"),
    ("__alignof__", "_Alignof"),
    ("__builtin_offsetof", "offsetof"),
    ("__const__", "const"),
    ("__volatile__", "volatile"),
    ("__const", "const"),
    ("__builtin_expect(x, y)", "((long)(x))"),
]
"""Words of gcc that are no macros there, in terms of what the parser reads."""


@cache
def predefined(model: DataModel) -> Sequence[tuple[str, str]]:
    """The macros as (name, value), a name with its parameters; sizes are those of ``model``.

    The compiler's own are the same for every target; those of the platform (x86-64 Linux) hold for lp64 alone.
    """
    macros = _listed("gcc.h")
    if model.name == "lp64":
        macros += _listed("gcc_lp64.h")
    if model.long_double == 64:
        macros = list(_with_short_long_double(macros))
    if not model.choices.char_signed:
        macros.append(("__CHAR_UNSIGNED__", "1"))
    return (*macros, *_sizes(model), *_own_limits(model), *KEYWORDS, ("__CHAINCOVER__", "1"))


def platform_macros() -> list[str]:
    """The names by which a program sees that it is compiled for x86-64 Linux."""
    names = [name for name, _ in _listed("gcc_lp64.h")]
    return [name for name in names if re.search(r"linux|unix|amd64|x86_64|k8|SSE|MMX|FXSR|SEG_|code_model", name)]


def short_double_macros() -> list[tuple[str, str]]:
    """What is predefined otherwise where ``double`` is ``float``."""
    known = dict(_listed("gcc.h"))
    same = [(name, known.get(name.replace("__DBL_", "__FLT_"), "")) for name in known if name.startswith("__DBL_")]
    return [("__SIZEOF_DOUBLE__", known["__SIZEOF_FLOAT__"]), *same]


def _listed(file: str) -> list[tuple[str, str]]:
    """The macros of gcc 12.2 (x86-64 Linux, ``-dM -E`` with the options of the compiled original).

    Those that follow from the word sizes are left out (``_sizes``), and double constants are written as such.
    """
    lines = (PREDEFINED / file).read_text(encoding="utf-8").splitlines()
    return [(name, value) for name, _, value in (line.removeprefix("#define ").partition(" ") for line in lines)]


_ASKED_FOR = ("attribute", "builtin", "c_attribute", "cpp_attribute", "include", "include_next")
TESTS = frozenset(f"__has_{what}" for what in _ASKED_FOR)
"""What gcc knows in conditions as if they were macros."""


@cache
def has(test: str, name: str) -> bool | None:
    """What gcc 12.2 (x86-64) says to a test of an attribute or a built-in function; None where it is not known."""
    lines = (PREDEFINED / "gcc_has.txt").read_text(encoding="utf-8").splitlines()
    plain = name.strip("_") if test == "__has_attribute" else name
    known = dict(line.split() for line in lines)
    found = known.get(f"{test}({plain})")
    return None if found is None else found == "1"


def _with_short_long_double(macros: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """What gcc predefines with ``-mlong-double-64``."""
    for name, value in macros:
        if not name.startswith(("__LDBL_", "__SIZEOF_LONG_DOUBLE__", "__FLT64X_", "__DECIMAL_DIG__")):
            yield name, value
        if name.startswith("__DBL_"):
            yield name.replace("__DBL_", "__LDBL_"), value + ("L" if "e" in value else "")
    yield from (("__SIZEOF_LONG_DOUBLE__", "8"), ("__LONG_DOUBLE_64__", "1"), ("__DECIMAL_DIG__", "17"))


def _sizes(model: DataModel) -> Iterator[tuple[str, str]]:
    """What gcc says about the integer types."""
    names = {8: "signed char", 16: "short", 32: "int", 64: "long"}
    if model.int_ == 16:
        names.update({16: "int", 32: "long"})
    if model.long == 32:
        names[64] = "long long"
    basic = {"SCHAR": "signed char", "SHRT": "short", "INT": "int", "LONG": "long", "LONG_LONG": "long long"}
    for word, name in basic.items():
        bits = model.basic[name].bits
        yield f"__{word}_MAX__", _greatest(name, bits, model)
        yield f"__{word}_WIDTH__", str(bits)
        if word != "SCHAR":
            yield f"__SIZEOF_{word.replace('SHRT', 'SHORT')}__", str(bits // 8)
    pointer = model.ptrdiff_t.name
    for word in ("POINTER", "SIZE_T", "PTRDIFF_T"):
        yield f"__SIZEOF_{word}__", str(model.pointer // 8)
    for word, other in (("PTRDIFF", "SIZE"), ("INTPTR", "UINTPTR"), ("INTMAX", "UINTMAX")):
        name, bits = (names[64], 64) if word == "INTMAX" else (pointer, model.pointer)
        yield from _both(word, other, name, bits, model)
        yield f"__{other if other == 'SIZE' else word}_WIDTH__", str(bits)
    yield "__PTRDIFF_WIDTH__", str(model.pointer)
    yield from _constant("INTMAX", names[64])
    for bits, name in names.items():
        yield from _both(f"INT{bits}", f"UINT{bits}", name, bits, model)
        yield from _both(f"INT_LEAST{bits}", f"UINT_LEAST{bits}", name, bits, model)
        yield f"__INT_LEAST{bits}_WIDTH__", str(bits)
        yield from _constant(f"INT{bits}", name, promoted=bits < model.int_)
        fast = bits if bits in (8, 64) else 64 if model.name == "lp64" else max(bits, model.int_)
        yield from _both(f"INT_FAST{bits}", f"UINT_FAST{bits}", names[fast], fast, model)
        yield f"__INT_FAST{bits}_WIDTH__", str(fast)


def _both(signed: str, unsigned: str, name: str, bits: int, model: DataModel) -> Iterator[tuple[str, str]]:
    """The type and the greatest value of a signed type and of its unsigned one."""
    other = "unsigned " + name.removeprefix("signed ")
    yield f"__{signed}_TYPE__", name
    yield f"__{unsigned}_TYPE__", other
    yield f"__{signed}_MAX__", _greatest(name, bits, model)
    yield f"__{unsigned}_MAX__", _greatest(other, bits, model)


def _greatest(name: str, bits: int, model: DataModel) -> str:
    unsigned = name.startswith("unsigned")
    value = (1 << bits) - 1 if unsigned else (1 << (bits - 1)) - 1
    return f"{value:#x}{'U' if unsigned and bits >= model.int_ else ''}{_suffix(name)}"


def _constant(word: str, name: str, promoted: bool = False) -> Iterator[tuple[str, str]]:
    """``__INT64_C(c)`` and the like."""
    for prefix, unsigned in (("", ""), ("U", "" if promoted else "U")):
        suffix = unsigned + _suffix(name)
        yield f"__{prefix}{word}_C(c)", f"c ## {suffix}" if suffix else "c"


def _suffix(name: str) -> str:
    return "L" * name.count("long")


def _own_limits(model: DataModel) -> Iterator[tuple[str, str]]:
    """What the bundled <limits.h> and <stdint.h> rely on."""
    sizes = {"SHRT": model.short, "INT": model.int_, "LONG": model.long, "LLONG": model.long_long}
    suffix = {"SHRT": "", "INT": "", "LONG": "L", "LLONG": "LL"}
    for name, bits in sizes.items():
        yield f"__CC_{name}_MAX__", f"{(1 << (bits - 1)) - 1}{suffix[name]}"
        unsigned = "U" if bits >= model.int_ else ""
        yield f"__CC_U{name}_MAX__", f"{(1 << bits) - 1}{unsigned}{suffix[name]}"
    pointer = "" if model.pointer == model.int_ else "L" if model.pointer == model.long else "LL"
    yield "__CC_INTPTR_MAX__", f"{(1 << (model.pointer - 1)) - 1}{pointer}"
    yield "__CC_SIZE_MAX__", f"{(1 << model.pointer) - 1}U{pointer}"

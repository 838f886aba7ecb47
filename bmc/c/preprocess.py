"""Preprocessing in Python (pcpp), so that no compiler is needed."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pcpp
from pcpp.preprocessor import OutputDirective

from bmc.c.extensions import read_over_extensions
from bmc.c.types import DataModel
from bmc.errors import InputRefused, Location

STAND_IN_HEADERS = Path(__file__).parent / "include"


@dataclass(frozen=True)
class PreprocessedUnit:
    """One translation unit as plain C with line markers, and the macros that are defined at its end."""

    file: str
    text: str
    preprocessor: pcpp.Preprocessor

    def expand(self, text: str) -> str:
        """``text`` with this unit's macros expanded."""
        tokens = self.preprocessor.tokenize(text)
        return "".join(t.value for t in self.preprocessor.expand_macros(tokens))

    def macro_names(self) -> list[str]:
        """Names of the object-like macros, for suggestions."""
        return sorted(name for name, macro in self.preprocessor.macros.items() if macro.arglist is None)


class _Preprocessor(pcpp.Preprocessor):  # type: ignore[misc]
    """pcpp whose errors are ours: a missing header or an ``#error`` refuses the input."""

    def on_error(self, file: str, line: int, msg: str) -> None:
        raise InputRefused(f"preprocessing failed: {msg}", Location(file, line))

    def on_include_not_found(self, is_malformed: bool, is_system_include: bool, curdir: str, includepath: str) -> None:
        where = Location(os.path.relpath(str(self.source)), self.lastdirective.lineno if self.lastdirective else 0)
        what = "malformed #include" if is_malformed else f"header '{includepath}' not found"
        raise InputRefused(what, where, "add its folder to sources.include (-I), or put a stand-in header there")

    def on_file_open(self, is_system_include: bool, includepath: str) -> io.StringIO:
        return io.StringIO(_read(includepath))

    def on_directive_handle(self, directive, toks, ifpassthru, precedingtoks):  # type: ignore[no-untyped-def]
        """Called for every directive, in skipped groups too."""
        if directive.value == "pragma" and not toks:
            raise OutputDirective(pcpp.Action.IgnoreAndRemove)
        return super().on_directive_handle(directive, toks, ifpassthru, precedingtoks)

    def on_directive_unknown(self, directive, toks, ifpassthru, precedingtoks):  # type: ignore[no-untyped-def]
        """Called for directives without influence on the text, outside of skipped groups."""
        if directive.value == "error":
            text = "".join(t.value for t in toks).strip()
            where = Location(directive.source or str(self.source), directive.lineno)
            raise InputRefused(
                f"#error {text}", where, "set the macros that it asks for (-D), or the target word sizes"
            )
        packs = directive.value == "pragma" and [t.value for t in toks if t.value.strip()][:1] == ["pack"]
        if directive.value in ("pragma", "warning", "ident") and not packs:
            raise OutputDirective(pcpp.Action.IgnoreAndRemove)
        if not packs and directive.value != "line":
            self.on_error(directive.source or str(self.source), directive.lineno, f"unknown #{directive.value}")
        raise OutputDirective(pcpp.Action.IgnoreAndPassThrough)


def _read(path: str) -> str:
    """A source file's text; lines that a backslash continues are joined, and blank lines make up for it."""
    text = Path(path).read_text(encoding="utf-8", errors="surrogateescape")
    return re.sub(r"(?:[^\n]*\\\n)+[^\n]*", _joined, text)


def _joined(match: re.Match[str]) -> str:
    return match[0].replace("\\\n", "") + "\n" * match[0].count("\n")


def preprocess(
    file: str, include: Sequence[str], defines: Sequence[tuple[str, str]], model: DataModel
) -> PreprocessedUnit:
    """Read and preprocess one source file.

    ``include`` are folders (-I), ``defines`` (name, value) pairs (-D). InputRefused, with its place, where the file or
    a header is missing or a directive fails.
    """
    try:
        source = _read(file)
    except OSError as error:
        raise InputRefused(
            f"cannot read the source file: {error.strerror}", Location(file), "check the path and sources.files"
        ) from None
    unit = _Preprocessor()
    unit.line_directive = "#line"
    unit.compress = 0
    unit.passthru_comments = None
    for folder in [*include, str(STAND_IN_HEADERS)]:
        unit.add_path(os.path.abspath(folder))
    for name, value in [*_predefined(model), *defines]:
        unit.define(f"{name} {value}")
    unit.parse(source, file)
    out = io.StringIO()
    unit.write(out)
    return PreprocessedUnit(file, read_over_extensions(out.getvalue(), file), unit)


def _predefined(model: DataModel) -> list[tuple[str, str]]:
    """The macros that the stand-in headers and common code rely on."""
    names = {8: "signed char", 16: "short", 32: "int", 64: "long"}
    if model.int_ == 16:
        names.update({16: "int", 32: "long"})
    if model.long == 32:
        names[64] = "long long"
    macros = [(f"__INT{bits}_TYPE__", name) for bits, name in names.items()]
    macros += [(f"__UINT{bits}_TYPE__", "unsigned " + name.removeprefix("signed ")) for bits, name in names.items()]
    sizes = {"SHRT": model.short, "INT": model.int_, "LONG": model.long, "LLONG": model.long_long}
    suffix = {"SHRT": "", "INT": "", "LONG": "L", "LLONG": "LL"}
    for name, bits in sizes.items():
        macros.append((f"__CC_{name}_MAX__", f"{(1 << (bits - 1)) - 1}{suffix[name]}"))
        unsigned = "U" if bits >= model.int_ else ""
        macros.append((f"__CC_U{name}_MAX__", f"{(1 << bits) - 1}{unsigned}{suffix[name]}"))
    pointer = "" if model.pointer == model.int_ else "L" if model.pointer == model.long else "LL"
    macros += [
        ("__CC_INTPTR_MAX__", f"{(1 << (model.pointer - 1)) - 1}{pointer}"),
        ("__CC_SIZE_MAX__", f"{(1 << model.pointer) - 1}U{pointer}"),
        ("__SIZE_TYPE__", f"unsigned {model.ptrdiff_t.name}"),
        ("__PTRDIFF_TYPE__", model.ptrdiff_t.name),
        ("__CHAR_BIT__", "8"),
        ("__STDC__", "1"),
        ("__STDC_VERSION__", "201112L"),
        ("__CHAINCOVER__", "1"),
        ("__extension__", ""),
        ("__inline", "inline"),
        ("__inline__", "inline"),
        ("__restrict", "restrict"),
        ("__restrict__", "restrict"),
        ("__signed__", "signed"),
        ("__volatile", "volatile"),
        ("__alignof__", "_Alignof"),
        ("__const__", "const"),
        ("__volatile__", "volatile"),
        ("__const", "const"),
        ("_Pragma(x)", ""),
    ]
    if model.name == "lp64":
        macros.append(("__LP64__", "1"))
    return macros

"""Preprocessing in Python (pcpp), so that no compiler is needed."""

from __future__ import annotations

import copy
import io
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pcpp
from pcpp.preprocessor import OutputDirective

from bmc.c.source.character_conditions import ConditionEvaluator
from bmc.c.source.extensions import pragma_meaning, read_over_extensions
from bmc.c.source.predefined import predefined
from bmc.c.source.types import DATA_MODELS, DataModel
from bmc.errors import InputRefused, Location, UnsupportedConstruct

STANDARD_HEADERS = Path(__file__).parent / "include"
VENDOR_STAND_INS = Path(__file__).parent / "stand_ins"
GENERIC_STAND_INS = {r"\w*_?MemMap\.h": "MemMap.h", r"Rte_\w+\.h": "Rte_Component.h"}
"""Headers whose names hold that of a component (regular expressions), and the stand-ins for them."""


@dataclass(frozen=True)
class PreprocessedUnit:
    """One translation unit as plain C with line markers, and the macros that are defined at its end."""

    file: str
    text: str
    preprocessor: pcpp.Preprocessor
    stand_ins: tuple[tuple[str, str], ...] = ()
    """Vendor headers that were not found: the name in the #include, and the path of the bundled stand-in."""

    def expand(self, text: str) -> str:
        """``text`` with this unit's macros expanded."""
        tokens = self.preprocessor.tokenize(text)
        return "".join(t.value for t in self.preprocessor.expand_macros(tokens))

    def macro_names(self) -> list[str]:
        """Names of the object-like macros, for suggestions."""
        return sorted(name for name, macro in self.preprocessor.macros.items() if macro.arglist is None)


class ErrorDirective(InputRefused):
    """The code refuses itself with ``#error``."""


class _Preprocessor(pcpp.Preprocessor):  # type: ignore[misc]
    """pcpp whose errors are ours: a missing header or an ``#error`` refuses the input."""

    def __init__(self, pass_errors: bool, char_signed: bool) -> None:
        super().__init__()
        self.undef("__PCPP__")
        self.evaluator = ConditionEvaluator(self.lexer, char_signed)
        self.pass_errors = pass_errors
        self.stand_ins: dict[str, str] = {}

    def on_error(self, file: str, line: int, msg: str) -> None:
        raise InputRefused(f"preprocessing failed: {msg}", Location(file, line))

    def on_include_not_found(self, is_malformed: bool, is_system_include: bool, curdir: str, includepath: str) -> None:
        where = Location(os.path.relpath(str(self.source)), self.lastdirective.lineno if self.lastdirective else 0)
        what = "malformed #include" if is_malformed else f"header '{includepath}' not found"
        raise InputRefused(what, where, "add its folder to sources.include (-I), or put a stand-in header there")

    def on_unknown_macro_in_defined_expr(self, tok):  # type: ignore[no-untyped-def]
        """Called for a name in #ifdef, #ifndef or ``defined`` that is no macro."""
        if tok.value.startswith("__has_"):
            where = Location(tok.source or str(self.source), tok.lineno)
            what = f"unsupported test of '{tok.value}': what the compiler has is not known here"
            raise UnsupportedConstruct(what, where, "test a macro of your own instead, set with -D")
        return False

    def macro_expand_args(self, macro, args):  # type: ignore[no-untyped-def]
        """Variable arguments come with the blanks around them, which count in ``#__VA_ARGS__``."""
        if macro.variadic and args[-1]:
            blank = copy.copy(args[-1][0])
            blank.type, blank.value = self.t_ID, ""  # given, though empty: ", ## __VA_ARGS__" keeps its comma
            args[-1] = self.tokenstrip(args[-1]) or [blank]
        return super().macro_expand_args(macro, args)

    def on_file_open(self, is_system_include: bool, includepath: str) -> io.StringIO:
        place = Path(includepath)
        if place.parent == VENDOR_STAND_INS:
            place = stand_in(place.name)
            self.stand_ins[Path(includepath).name] = str(place)
        return io.StringIO(_read(str(place)))

    def on_directive_handle(self, directive, toks, ifpassthru, precedingtoks):  # type: ignore[no-untyped-def]
        """Called for every directive, in skipped groups too."""
        if directive.value == "pragma" and not toks:
            raise OutputDirective(pcpp.Action.IgnoreAndRemove)
        return super().on_directive_handle(directive, toks, ifpassthru, precedingtoks)

    def on_directive_unknown(self, directive, toks, ifpassthru, precedingtoks):  # type: ignore[no-untyped-def]
        """Called for directives without influence on the text, outside of skipped groups."""
        if directive.value == "error" and self.pass_errors:
            raise OutputDirective(pcpp.Action.IgnoreAndRemove)
        if directive.value == "error":
            text = "".join(t.value for t in toks).strip()
            where = Location(directive.source or str(self.source), directive.lineno)
            raise ErrorDirective(f"#error {text}", where, "set the macros that it asks for (-D)")
        packs = directive.value == "pragma" and [t.value for t in toks if t.value.strip()][:1] == ["pack"]
        meaning = pragma_meaning("".join(t.value for t in toks)) if directive.value == "pragma" else ""
        if meaning:
            where = Location(directive.source or str(self.source), directive.lineno)
            raise UnsupportedConstruct(f"unsupported C construct: {meaning}", where)
        if directive.value in ("pragma", "warning", "ident") and not packs:
            raise OutputDirective(pcpp.Action.IgnoreAndRemove)
        if not packs and directive.value != "line":
            self.on_error(directive.source or str(self.source), directive.lineno, f"unknown #{directive.value}")
        raise OutputDirective(pcpp.Action.IgnoreAndPassThrough)


def stand_in(name: str) -> Path:
    """The bundled stand-in for the vendor header ``name``; FileNotFoundError if there is none."""
    place = VENDOR_STAND_INS / name
    if not place.exists():
        generic = next((file for pattern, file in GENERIC_STAND_INS.items() if re.fullmatch(pattern, name)), None)
        if generic is None:
            raise FileNotFoundError(name)
        place = VENDOR_STAND_INS / generic
    return place


def _read(path: str) -> str:
    """A source file's text; lines that a backslash continues are joined, and blank lines make up for it."""
    text = Path(path).read_text(encoding="utf-8", errors="surrogateescape")
    return re.sub(r"(?m)^(?:[^\n]*\\\n)+[^\n]*", _joined, text)


def _joined(match: re.Match[str]) -> str:
    return match[0].replace("\\\n", "") + "\n" * match[0].count("\n")


def preprocess(
    file: str,
    include: Sequence[str],
    defines: Sequence[tuple[str, str]],
    model: DataModel,
    pass_errors: bool = False,
) -> PreprocessedUnit:
    """Read and preprocess one source file.

    ``include`` are folders (-I), ``defines`` (name, value) pairs (-D); with ``pass_errors`` an ``#error`` is passed
    over. InputRefused, with its place, where the file or a header is missing or a directive fails.
    """
    try:
        return _preprocess(file, include, defines, model, pass_errors)
    except ErrorDirective as error:
        error.hint = _next_step(error, file, include, defines)
        raise


def _next_step(error: ErrorDirective, file: str, include: Sequence[str], defines: Sequence[tuple[str, str]]) -> str:
    """What to do about an ``#error``: the word sizes with which the file passes, if there are such."""
    passing = []
    for other in DATA_MODELS.values():
        try:
            _preprocess(file, include, defines, other, False)
            passing.append(other.name)
        except InputRefused:
            continue
    if not passing:
        return f"{error.hint}; no other word sizes (sources.target) help"
    settings = " or ".join(f'[sources] target = "{name}"' for name in passing)
    return f"it checks word sizes: {settings} passes"


def _preprocess(
    file: str,
    include: Sequence[str],
    defines: Sequence[tuple[str, str]],
    model: DataModel,
    pass_errors: bool,
) -> PreprocessedUnit:
    try:
        source = _read(file)
    except OSError as error:
        raise InputRefused(
            f"cannot read the source file: {error.strerror}", Location(file), "check the path and sources.files"
        ) from None
    unit = _Preprocessor(pass_errors, model.char_signed)
    unit.line_directive = "#line"
    unit.compress = 0
    unit.passthru_comments = None
    for folder in [*include, str(STANDARD_HEADERS), str(VENDOR_STAND_INS)]:
        unit.add_path(os.path.abspath(folder))
    for name, value in [*predefined(model), *defines]:
        unit.define(f"{name} {value}")
    unit.parse(source, file)
    out = io.StringIO()
    unit.write(out)
    stand_ins = tuple(unit.stand_ins.items())
    return PreprocessedUnit(file, read_over_extensions(out.getvalue(), file), unit, stand_ins)

"""Preprocessing in Python (pcpp), so that no compiler is needed, with the macros that gcc predefines."""

from __future__ import annotations

import copy
import io
import itertools
import os
import re
import sys
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partialmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pcpp
from pcpp.evaluator import Evaluator, Value
from pcpp.preprocessor import OutputDirective

from bmc.errors import InputRefused, Location, UnsupportedConstruct, marked
from bmc.limits import INCLUDED, INCLUDES, MACROS, STRING, TOKENS, text_of, whole_number
from bmc.models.c.source.compiler_macros import predefined
from bmc.models.c.source.extensions import pragma_meaning, read_over_extensions
from bmc.models.c.source.types import DATA_MODELS, DataModel
from bmc.records import dataclass

if TYPE_CHECKING:
    from bmc.models.c.source.survey import Survey

STANDARD_HEADERS = Path(__file__).parent / "include"
VENDOR_STAND_INS = Path(__file__).parent / "stand_ins"
GENERIC_STAND_INS = {r"\w*_?MemMap\.h": "MemMap.h", r"Rte_\w+\.h": "Rte_Component.h"}
"""Headers whose names hold that of a component (regular expressions), and the stand-ins for them."""


_WORD = re.compile(r"[A-Za-z_]\w*")
_CHANGES = re.compile(r"/[/*]|\\")
"""What is read as something else although it holds no macro: comments, and lines that are joined."""


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
        if not _CHANGES.search(text) and self.preprocessor.macros.keys().isdisjoint(_WORD.findall(text)):
            return text
        tokens = self.preprocessor.tokenize(text)
        return "".join(t.value for t in self.preprocessor.expand_macros(tokens))

    def macro_names(self) -> list[str]:
        """Names of the object-like macros, for suggestions."""
        return sorted(name for name, macro in self.preprocessor.macros.items() if macro.arglist is None)


class ErrorDirective(InputRefused):
    """The code refuses itself with ``#error``."""


@dataclass
class _Read:
    """A predefined macro of which ``read`` gives the text; the attributes are those of pcpp's macros."""

    name: str
    read: Callable[[], str]
    preprocessor: pcpp.Preprocessor
    arglist: None = None
    variadic: bool = False
    source: str | None = None
    lineno: int = 0


class _Place(_Read):
    """One that says something else in every place."""

    @property
    def value(self) -> list[Any]:
        """What it stands for here, as tokens."""
        return self.preprocessor.tokenize(self.read())  # type: ignore[no-any-return]


class _Fixed(_Read):
    """One of the hundreds of which a program uses few: its tokens are made when it is first used."""

    @cached_property
    def value(self) -> list[Any]:
        """What it stands for, as tokens."""
        return self.preprocessor.tokenize(self.read())  # type: ignore[no-any-return]


def _thrifty(lexical: re.Pattern[str]) -> re.Pattern[str]:
    """pcpp's pattern of all tokens, without ways back in comments and strings: these take 500 bytes a character.

    Up to Python 3.11.4 no alternatives of one first character may stand in ``(...)*+``: it does not match then.
    """
    text = lexical.pattern.replace(r"(/\*(.|\n)*?\*/)", r"(/\*[\s\S]*?()\*/)")
    text = text.replace(r"\"([^\\\n]|(\\(.|\n)))*?\"", r"\"(?:[^\\\n\"]++|\\[\s\S])*+()()()\"")
    return re.compile(text, lexical.flags)


class _Active:
    """The macros that are being expanded around some tokens, down to the one called ``name``.

    All levels have one set: a copy for each takes memory that is quadratic in their number.
    """

    def __init__(self, names: set[str], name: str = "") -> None:
        self.names = names
        self.name = name

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def __add__(self, names: list[str]) -> _Active:
        return _Active(self.names, *names)

    def __enter__(self) -> None:
        self.names.add(self.name)

    def __exit__(self, *_: object) -> None:
        self.names.discard(self.name)


class _Preprocessor(pcpp.Preprocessor):  # type: ignore[misc]
    """pcpp whose errors are ours: a missing header or an ``#error`` refuses the input.

    What macros say about the place is what the compiler gets to see, which is given the absolute path of ``file``.
    """

    def __init__(self, file: str, pass_errors: bool, char_signed: bool, survey: Survey | None = None) -> None:
        self.work = 0
        """Tokens that were read or that macros expanded to, so far."""
        self.active: set[str] = set()
        """The macros that are being expanded: they stand for themselves, in the arguments of calls in them, too."""
        self.last_line = 0
        """Where the line ends that was read last: the number of the last of the lines that it was joined from."""
        super().__init__()
        self.undef("__PCPP__")
        self.lexer.lexre = [(_thrifty(pattern), functions) for pattern, functions in self.lexer.lexre]
        self.file = os.path.abspath(file)
        self.paths: dict[str, str] = {self.file: self.file}
        """The compiler's path of each file that was read."""
        self.renumbered: dict[str, list[tuple[int, int, str]]] = {}
        """Of each file its #line directives: where they stand, what is to be added to later lines, the file's name."""
        self.included = ""
        """The name in the #include that is being handled, as it is written."""
        self.expand_filemacro = False
        self.linemacro = self.linemacrodepth = 0
        counted = itertools.count()
        places = {
            "__LINE__": lambda: str(self._line()),
            "__FILE__": lambda: _quoted(self._name()),
            "__BASE_FILE__": lambda: _quoted(self.file),
            "__INCLUDE_LEVEL__": lambda: str(max(self.include_depth - 1, 0)),
            "__TIMESTAMP__": lambda: _quoted(time.asctime(time.localtime(os.stat(self.source).st_mtime))),
            "__DATE__": lambda: _quoted(time.strftime("%b %e %Y")),
            "__COUNTER__": lambda: str(next(counted)),
        }
        self.macros.update({name: _Place(name, read, self) for name, read in places.items()})
        self.evaluator = ConditionEvaluator(self.lexer, char_signed)
        self.pass_errors, self.survey = pass_errors, survey
        self.stand_ins: dict[str, str] = {}

    def predefine(self, macros: Sequence[tuple[str, str]]) -> None:
        """Define what a compiler predefines: pairs of a name, perhaps with parameters, and its text."""
        for name, text in macros:
            if name.endswith(")"):
                self.define(f"{name} {text}")
            else:
                self.macros[name] = _Fixed(name, text.strip, self)

    def on_error(self, file: str, line: int, msg: str) -> None:
        found = re.fullmatch(r"Could not evaluate .*? due to \w+\((.*)\) \(passed to evaluator: (.*)\)", msg, re.S)
        msg = f"the condition {found[2]} has no value: {found[1].strip(chr(39))}" if found else msg
        directive = self.lastdirective
        where = Location(file, line) if line or not directive else Location(directive.source, directive.lineno)
        cause = sys.exception()
        if isinstance(cause, InputRefused):  # pcpp catches all that is raised in conditions
            cause.where = cause.where or where
            raise cause
        raise InputRefused(f"preprocessing failed: {msg}", where)

    def group_lines(self, input: str, abssource: str) -> Iterator[list[Any]]:  # noqa: A002 (as pcpp)
        """The tokens of a text, each with the line on which it starts, in lines joined where a backslash continues."""
        text, joints = _joined(input)
        lexer = self.lexer.clone()
        lexer.input(text)
        lexer.lineno = 1
        line: list[Any] = []
        while token := lexer.token():
            token.source = abssource
            token.lineno += bisect_right(joints.get(token.lineno, ()), token.lexpos)
            line.append(token)
            if token.type == self.t_STRING:
                STRING.check(len(token.value), Location(abssource, token.lineno))
            if token.value == "\n":
                self._count(line)
                self.last_line = token.lineno
                yield line
                line = []

    def _count(self, tokens: list[Any], place: Any = None) -> None:
        self.work += len(tokens) + 1
        if self.work > TOKENS.most:
            token = place or (tokens[0] if tokens else self.lastdirective)
            raise TOKENS.refusal(token and Location(getattr(token, "source", "") or str(self.source), token.lineno))

    def include(self, tokens: list[Any], original_line: list[Any]) -> Iterator[Any]:
        """The tokens of an included file."""
        place = original_line[0]
        where = Location(place.source or str(self.source), place.lineno)
        if not tokens:
            raise InputRefused("malformed #include: it names no file", where)
        INCLUDES.check(self.include_depth, where)
        INCLUDED.check(len(self.include_times), where)
        self.included = "".join(t.value for t in tokens).strip().strip('<>"')
        yield from super().include(tokens, original_line)

    def on_include_not_found(self, is_malformed: bool, is_system_include: bool, curdir: str, includepath: str) -> None:
        where = Location(os.path.relpath(str(self.source)), self.lastdirective.lineno if self.lastdirective else 0)
        what = "malformed #include" if is_malformed else f"header '{includepath}' not found"
        found = "" if is_malformed else _folder_with(includepath, os.path.dirname(where.file) or ".")
        folder = f"add its folder to sources.include (-I){f', such as {found}' if found else ''}"
        error = InputRefused(what, where, f"{folder}, or put a stand-in header there")
        if self.survey is None:
            raise error
        self.survey.add(error)
        raise OutputDirective(pcpp.Action.IgnoreAndRemove)

    def on_unknown_macro_in_defined_expr(self, tok):  # type: ignore[no-untyped-def]
        """Called for a name in #ifdef, #ifndef or ``defined`` that is no macro."""
        _refuse_test_of_compiler(tok, str(self.source))
        return False

    def macro_expand_args(self, macro, args):  # type: ignore[no-untyped-def]
        """Variable arguments come with the blanks around them, which count in ``#__VA_ARGS__``."""
        if macro.variadic and args[-1]:
            blank = copy.copy(args[-1][0])
            blank.type, blank.value = self.t_ID, ""  # given, though empty: ", ## __VA_ARGS__" keeps its comma
            args[-1] = self.tokenstrip(args[-1]) or [blank]
        return super().macro_expand_args(macro, args)

    def expand_macros(self, tokens: list[Any], expanding_from: _Active | None = None) -> list[Any]:
        """Also called for what macros stand for, which is where they are used, and for arguments, each where it is."""
        place, outside = tokens[0] if tokens else None, (self.linemacro, self.linemacrodepth)
        active = expanding_from or _Active(self.active)
        if expanding_from:
            MACROS.check(len(active.names), Location(str(self.source), self.linemacro))
            for token in tokens:
                token.lineno = self.linemacro
        else:
            self.linemacrodepth = 0
        try:
            with active:
                result: list[Any] = super().expand_macros(tokens, active)
        finally:
            if not expanding_from:  # pcpp loses count of the depth where a call does not end
                self.linemacro, self.linemacrodepth = outside
        self._count(result, place)
        return result

    def _moved(self) -> tuple[int, int, str]:
        """The last #line directive before here."""
        before = [each for each in self.renumbered.get(self.source, ()) if each[0] < self.linemacro]
        return before[-1] if before else (0, 0, "")

    def _line(self) -> int:
        return int(self.linemacro) + self._moved()[1]

    def _name(self) -> str:
        return self._moved()[2] or self.paths[self.source]

    def _renumber(self, directive: Any, toks: Sequence[Any]) -> None:
        """Note a #line directive."""
        given = "".join(t.value for t in self.expand_macros([copy.copy(t) for t in toks])).strip()
        found = re.fullmatch(r'(\d+)(?:\s*"(.*)")?', given)
        if found is None:
            self.on_error(directive.source or str(self.source), directive.lineno, f"malformed #line {given}")
            return
        known = self.renumbered.setdefault(self.source, [])
        name = re.sub(r"\\(.)", r"\1", found[2]) if found[2] is not None else known[-1][2] if known else ""
        known.append((self.last_line, int(found[1]) - self.last_line - 1, name))

    def on_file_open(self, is_system_include: bool, includepath: str) -> io.StringIO:
        text = self._opened(includepath)
        own = os.path.dirname(self.paths.get(self.source, self.file))
        tried = (os.path.join(folder, self.included) for folder in (own, *self.path))
        self.paths[includepath] = next((path for path in tried if os.path.abspath(path) == includepath), includepath)
        return text

    def _opened(self, includepath: str) -> io.StringIO:
        place = Path(includepath)
        if place.parent == VENDOR_STAND_INS:
            place = stand_in(place.name)
            self.stand_ins[Path(includepath).name] = str(place)
        return io.StringIO(text_of(place, "surrogateescape"))

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
            error = ErrorDirective(f"#error {text}", where, "set the macros that it asks for (-D)")
            if self.survey is None:
                raise error
            self.survey.add(error)
            raise OutputDirective(pcpp.Action.IgnoreAndRemove)
        packs = directive.value == "pragma" and [t.value for t in toks if t.value.strip()][:1] == ["pack"]
        meaning = pragma_meaning("".join(t.value for t in toks)) if directive.value == "pragma" else ""
        if meaning:
            where = Location(directive.source or str(self.source), directive.lineno)
            raise UnsupportedConstruct(f"unsupported C construct: {meaning}", where)
        if directive.value in ("pragma", "warning", "ident") and not packs:
            raise OutputDirective(pcpp.Action.IgnoreAndRemove)
        if directive.value == "line":
            self._renumber(directive, toks)
            raise OutputDirective(pcpp.Action.IgnoreAndRemove)
        if not packs:
            self.on_error(directive.source or str(self.source), directive.lineno, f"unknown #{directive.value}")
        raise OutputDirective(pcpp.Action.IgnoreAndPassThrough)


def _refuse_test_of_compiler(token: Any, file: str) -> None:
    """Refuse ``__has_include``, ``__has_attribute`` and the like, for which pcpp takes 0."""
    if token.value.startswith("__has_"):
        what = f"unsupported test of '{token.value}': what the compiler has is not known here"
        where = Location(token.source or file, token.lineno)
        raise UnsupportedConstruct(what, where, "test a macro of your own instead, set with -D")


def _quoted(text: str) -> str:
    """``text`` as a string constant."""
    return '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'


def stand_in(name: str) -> Path:
    """The bundled stand-in for the vendor header ``name``; FileNotFoundError if there is none."""
    place = VENDOR_STAND_INS / name
    if not place.exists():
        generic = next((file for pattern, file in GENERIC_STAND_INS.items() if re.fullmatch(pattern, name)), None)
        if generic is None:
            raise FileNotFoundError(name)
        place = VENDOR_STAND_INS / generic
    return place


def _joined(text: str) -> tuple[str, dict[int, list[int]]]:
    """``text`` with the lines joined that a backslash continues; blank lines make up for them.

    Also where the joints are in the result, for each joined line by the number of its first.
    """
    rows = [*(row.rstrip() for row in text.split("\n")), ""]
    joints: dict[int, list[int]] = {}
    before = 0
    for number in range(len(rows)):
        end = number
        while rows[end].endswith("\\") and end + 1 < len(rows):
            end += 1
        if end > number:
            parts = [row[:-1] for row in rows[number:end]]
            joints[number + 1] = [before + length for length in itertools.accumulate(map(len, parts))]
            rows[number : end + 1] = ["".join((*parts, rows[end])), *[""] * (end - number)]
        before += len(rows[number]) + 1
    return "\n".join(rows), joints


@dataclass(frozen=True)
class Given:
    """What a compiler is given on its command line: folders of headers (-I) and macros with their values (-D);
    ``pass_errors``: an ``#error`` is passed over."""

    include: Sequence[str] = ()
    defines: Sequence[tuple[str, str]] = ()
    pass_errors: bool = False


def preprocess(file: str, given: Given, model: DataModel, survey: Survey | None = None) -> PreprocessedUnit:
    """Read and preprocess one source file; missing headers and ``#error`` are noted in ``survey``, where given.

    InputRefused, with its place, where the file or a header is missing or a directive fails.
    """
    try:
        return _preprocess(file, given, model, survey)
    except ErrorDirective as error:
        error.hint = _next_step(error, file, given)
        raise


def _next_step(error: ErrorDirective, file: str, given: Given) -> str:
    """What to do about an ``#error``: the word sizes with which the file passes, if there are such."""
    passing = []
    for other in DATA_MODELS.values():
        try:
            _preprocess(file, given, other)
            passing.append(other.name)
        except InputRefused:
            continue
    if not passing:
        return f"{error.hint}; no other word sizes (sources.target) help"
    settings = " or ".join(f'[sources] target = "{name}"' for name in passing)
    return f"it checks word sizes: {settings} passes"


def _preprocess(file: str, given: Given, model: DataModel, survey: Survey | None = None) -> PreprocessedUnit:
    try:
        source = text_of(file, "surrogateescape")
    except OSError as error:
        raise InputRefused(
            f"cannot read the source file: {error.strerror}", Location(file), "check the path and sources.files"
        ) from None
    unit = _Preprocessor(file, given.pass_errors, model.char_signed, survey)
    unit.line_directive = "#line"
    unit.compress = 0
    unit.passthru_comments = None
    for folder in [*given.include, str(STANDARD_HEADERS), str(VENDOR_STAND_INS)]:
        unit.add_path(os.path.abspath(folder))
    unit.predefine(predefined(model))
    for name, value in given.defines:
        if not re.fullmatch(r"[^\W\d]\w*(\([\w\s,.]*\))?", name):
            hint = "write NAME, NAME=VALUE or NAME(x)=VALUE"
            raise InputRefused(f"'{name}' is no macro's name", Location("-D"), hint)
        unit.define(f"{name} {value}")
    unit.parse(source, file)
    out = io.StringIO()
    try:
        unit.write(out)
    except (IndexError, AttributeError):  # a directive that lacks a part is too short for pcpp
        place = unit.lastdirective
        text = f"malformed #{place.value}: something is missing"
        raise InputRefused(text, Location(place.source or file, place.lineno)) from None
    stand_ins = tuple(unit.stand_ins.items())
    read_over = read_over_extensions if survey is None else survey.read_over_extensions
    text = re.sub(r'^#line (\d+) "(.*)"$', lambda m: f'#line {m[1]} "{marked(m[2])}"', out.getvalue(), flags=re.M)
    return PreprocessedUnit(file, read_over(text, file), unit, stand_ins)


ESCAPES = {"n": 10, "t": 9, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11, "e": 27, "E": 27}
CHARACTERS = re.compile(r"\\([0-7]{1,3})|\\x([0-9a-fA-F]+)|\\(.)|(.)", re.S)
"""What a character in a constant or string is: octal digits, hexadecimal digits, a letter that escapes, or itself."""


def _shifted(value: Any, places: Any, direction: int) -> Any:
    """``value`` shifted to the left, or to the right for the ``direction`` -1, as gcc does; any length is defined."""
    places = Value(places)
    if value.exception is not None or places.exception is not None:
        return value if value.exception is not None else places
    by = max(-64, min(int(places) * direction, 64))
    return Value(int(value) << by if by >= 0 else int(value) >> -by, value.unsigned)


def _divided(value: Any, other: Any, part: int) -> Any:
    """The quotient (``part`` 0), rounded towards zero, or the remainder (1)."""
    other = Value(other)
    if value.exception is not None or other.exception is not None:
        return value if value.exception is not None else other
    unsigned = value.unsigned or other.unsigned
    a, b = (int(each) & Value.UINT_MAX if unsigned else int(each) for each in (value, other))
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return Value((quotient, a - b * quotient)[part], unsigned)


# pcpp shifts to any length, divides by way of floats, and gives the remainder the sign of the divisor
Value.__lshift__ = partialmethod(_shifted, direction=1)
Value.__rshift__ = partialmethod(_shifted, direction=-1)
Value.__truediv__ = partialmethod(_divided, part=0)
Value.__mod__ = partialmethod(_divided, part=1)


class ConditionEvaluator(Evaluator):  # type: ignore[misc]
    """pcpp's evaluator, with character constants of the target's (signed or unsigned) char, and integer constants that
    are unsigned where they are too large to be signed."""

    def __init__(self, lexer: object, char_signed: bool) -> None:
        super().__init__(lexer)
        self.char_signed = char_signed

    def __call__(self, input: Any, functions: Any = {}, identifiers: Any = {}) -> Any:  # noqa: A002, B006 (as pcpp)
        """The value of the tokens of a condition."""
        for token in input:
            _refuse_test_of_compiler(token, "")
        tokens = [self._number(token) for token in input]
        return super().__call__(tokens, functions, identifiers)

    def _number(self, token: Any) -> Any:
        kind = getattr(token, "type", "")
        result = copy.copy(token)
        if kind == "CPP_CHAR":
            result.type, result.value = "CPP_INTEGER", str(character(token.value, self.char_signed))
        elif kind == "CPP_INTEGER" and len(token.value) >= len("0x8000000000000000"):
            digits = token.value.rstrip("uUlL")
            number = whole_number(digits, 8 if digits.startswith("0") and digits.isdigit() else 0)
            result.value = f"{number & Value.UINT_MAX}{'U' if number > Value.INT_MAX else token.value[len(digits) :]}"
        return result


def character(text: str, char_signed: bool) -> int:
    """The value of a constant such as ``'a'``, ``'\\377'`` or ``L'a'``; SyntaxError where it has none."""
    wide = text.startswith("L")
    units: list[int] = []
    for octal, digits, escape, plain in CHARACTERS.findall(text[2 if wide else 1 : -1]):
        if octal or digits:
            units.append(int(octal, 8) if octal else int(digits, 16))
        elif escape:
            units.append(ESCAPES.get(escape, ord(escape)))
        else:
            units += [ord(plain)] if wide else plain.encode("utf-8", "surrogateescape")
    if len(units) != 1 or units[0] > (0x7FFFFFFF if wide else 255):
        raise SyntaxError(f"character constant {text}")
    return units[0] - 256 if char_signed and not wide and units[0] > 127 else units[0]


def _folder_with(header: str, folder: str) -> str:
    """A folder near ``folder`` from which an include path finds ``header``; '' if none of a few hundred does."""
    top = os.path.dirname(os.path.abspath(folder)) or os.sep
    for start in dict.fromkeys((os.path.abspath(folder), top)):
        for root, folders, _ in itertools.islice(os.walk(start), 500):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            if os.path.isfile(os.path.join(root, header)):
                return os.path.relpath(root)
    return ""

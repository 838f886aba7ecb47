"""Preprocessing (C11 6.10) in Python, so that no compiler is needed, with the macros that gcc predefines."""

from __future__ import annotations

import itertools
import os
import re
import time
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import field
from typing import TYPE_CHECKING, NoReturn

from bmc.errors import InputRefused, Location, UnsupportedConstruct
from bmc.limits import INCLUDES, MACROS, STRING, TOKENS
from bmc.models.c.source.compiler_macros import TESTS, predefined
from bmc.models.c.source.conditions import Condition
from bmc.models.c.source.extensions import pragma_meaning, read_over_extensions
from bmc.models.c.source.headers import Headers, folder_with, shown
from bmc.models.c.source.kept import Kept
from bmc.models.c.source.macros import Expansion, Macro, definition, definition_in
from bmc.models.c.source.preprocessed import Expanded, PreprocessedUnit, expanded, keep_expanded
from bmc.models.c.source.tokens import (
    BREAK,
    NUMBER,
    PADDING,
    STRING_,
    WORD,
    WORDS,
    Row,
    Text,
    Token,
    UnfinishedComment,
    rows_of,
    spelled,
    tokens_of,
)
from bmc.models.c.source.types import DATA_MODELS, DataModel
from bmc.records import dataclass
from bmc.system.original import FileOptions

if TYPE_CHECKING:
    from bmc.models.c.source.survey import Survey

_DIRECTIVE = re.compile(r"[ \t\f\v\x1d]*(?:#|%:(?!%:))[ \t\f\v\x1d]*([^\W\d]\w*)?")


class ErrorDirective(InputRefused):
    """The code refuses itself with ``#error``."""


@dataclass(eq=False, slots=True)
class _File:
    """A file that is being read: its ``path``, the name that messages give it, what compilers see of it, its lines."""

    path: str
    name: str
    seen: str
    rows: Sequence[Row]
    at: int = 0
    """How many of its lines have been read."""
    groups: list[_Group] = field(default_factory=list)
    renumbered: tuple[int, str] = (0, "")
    """What the last ``#line`` says: what is to be added to later lines, and the file's name."""
    folder: int = -1
    """The number of the folder of the include path that it was found in."""


@dataclass(eq=False, slots=True)
class _Group:
    """What ``#if`` begins: the line, whether its text counts, whether one of its groups has counted or none may, and
    whether ``#else`` has come."""

    line: int
    counts: bool
    taken: bool
    last: bool = False


class _Preprocessor:
    """Reads a file with its headers. What macros say about the place is what the compiler of the original gets to see,
    which is given the absolute path of ``file``."""

    def __init__(self, file: str, given: Given, model: DataModel) -> None:
        self.main, self.given, self.model = file, given, model
        self.noted: list[InputRefused] = []
        """Missing headers and ``#error``, over which it goes on."""
        self.ended: InputRefused | None = None
        """What ended it before the end of the file."""
        self.headers = Headers(given.include, given.last)
        self.work = 0
        """Tokens that were read or that macros expanded to, so far."""
        self.went_on = False
        """Whether the last macro's name made a look at the next line necessary."""
        self.files: list[_File] = []
        self.out = Text()
        self.macros: dict[str, Macro] = {}
        self.expansion = Expansion(self.macros, self)
        for name, text in predefined(model):
            self._predefine(name, text)
        counted = itertools.count()
        places: dict[str, Callable[[int], str]] = {
            "__LINE__": lambda line: str(line + (self.files[-1].renumbered[0] if self.files else 0)),
            "__FILE__": lambda line: _quoted(self.files[-1].renumbered[1] or self.files[-1].seen),
            "__BASE_FILE__": lambda line: _quoted(os.path.abspath(self.main)),
            "__INCLUDE_LEVEL__": lambda line: str(max(len(self.files) - 1, 0)),
            "__TIMESTAMP__": lambda line: _quoted(time.asctime(time.localtime(os.stat(self.files[-1].path).st_mtime))),
            "__DATE__": lambda line: _quoted(time.strftime("%b %e %Y")),
            "__TIME__": lambda line: _quoted(time.strftime("%H:%M:%S")),
            "__COUNTER__": lambda line: str(next(counted)),
        }
        self.macros.update({name: Macro(name, read=read) for name, read in places.items()})
        for name, value in given.defines:
            if not re.fullmatch(r"[^\W\d]\w*(\([\w\s,.]*\))?", name):
                hint = "write NAME, NAME=VALUE or NAME(x)=VALUE"
                raise InputRefused(f"'{name}' is no macro's name", Location("-D"), hint)
            if value is None:
                self.macros.pop(name, None)
            else:
                self._define(tokens_of(Row(f"{name} {value}", 0)), Location("-D"))

    def _predefine(self, name: str, text: str) -> None:
        """One of the hundreds of which a program uses few: its tokens are made when it is used."""
        if name.endswith(")"):
            self._define(tokens_of(Row(f"{name} {text}", 0)), Location("-D"))
        else:
            self.macros[name] = Macro(name, read=lambda line: text)

    # places and errors

    def _where(self, line: int) -> Location:
        return Location(self.files[-1].name if self.files else self.main, line)

    def fail(self, text: str, line: int) -> NoReturn:
        """Refuse the text of a line."""
        raise InputRefused(f"preprocessing failed: {text}", self._where(line))

    def count(self, tokens: int, line: int) -> None:
        """Count the work of a line; refuse the text where it is too much."""
        self.work += tokens
        if self.work > TOKENS.most:
            raise TOKENS.refusal(self._where(line))
        MACROS.check(len(self.expansion.active), self._where(line))

    # lines of text

    def read(self) -> None:
        """Read the file with its headers: the text goes to ``out``."""
        self._open(self.main, shown(self.main), os.path.abspath(self.main))
        for path in reversed(self.given.first):
            try:
                self._open(path, shown(path), os.path.abspath(path))
            except OSError:
                raise InputRefused(f"the file '{path}' of -include cannot be read", Location(self.main)) from None
        while self._has_line():
            file = self.files[-1]
            self._text(file, file.rows[file.at - 1])

    def _open(self, path: str, name: str, seen: str, folder: int = -1) -> None:
        """Go on with this file; it is the last of ``files``."""
        try:
            rows = rows_of(self.headers.text(path, name))
        except UnfinishedComment as error:
            raise InputRefused(error.message, Location(name, error.line)) from None
        self.files.append(_File(path, name, seen, rows, folder=folder))

    def _has_line(self) -> bool:
        """Go to the next line of text, through directives and ends of headers, but of no file among the arguments of a
        macro; False at the end."""
        while True:
            file = self.files[-1]
            if file.at < len(file.rows):
                row = file.rows[file.at]
                file.at += 1
                found = _DIRECTIVE.match(row.text)
                if found is not None:
                    self._directive(file, row, found)
                elif not file.groups or file.groups[-1].counts:
                    return True
                continue
            if self.expansion.literal:
                return False
            if file.groups:
                self.fail("the group of #if does not end with #endif", file.groups[-1].line)
            if len(self.files) == 1:
                return False
            self.files.pop()

    def more(self, within: bool) -> bool:
        """The next line of the file, for a macro whose arguments are expected there; they do not begin behind a
        directive."""
        self.went_on = True
        file = self.files[-1]
        if not within and (file.at == len(file.rows) or _DIRECTIVE.match(file.rows[file.at].text)):
            return False
        if not self._has_line():
            return False
        tokens = self._tokens(file.rows[file.at - 1])
        tokens[0].blank = True
        self.expansion.queue[:0] = reversed(tokens)
        return True

    def _tokens(self, row: Row) -> list[Token]:
        tokens = tokens_of(row)
        self.count(len(tokens) + 1, row.number)
        for token in tokens:
            if token.kind == STRING_:
                STRING.check(len(token.text), self._where(token.line))
        return tokens

    def _text(self, file: _File, row: Row) -> None:
        self.out.go(file.name, row.number)
        plain = not row.begins and "%:" not in row.text and len(row.text) < STRING.most
        if plain and self.macros.keys().isdisjoint(WORDS.findall(row.text)):
            self.count(len(row.text) // 4 + 1, row.number)
            self.out.row(row.text)
            return
        out = self.out
        alone = not row.begins and out.last is None and not out.column
        known = expanded.get(row.text) if alone else None
        if known is not None and all(self.macros.get(name) is macro for name, macro in known.met):
            self.count(known.work, row.number)
            out.parts.append(known.text)
            out.column, out.last = known.column, known.last
            return
        work, parts, met = self.work, len(out.parts), self.expansion.met
        met.clear()
        self.went_on = False
        self._expand(file, row)
        if alone and not self.went_on and not any(macro and macro.read for macro in met.values()):
            text = "".join(out.parts[parts:])
            keep_expanded(row.text, Expanded(tuple(met.items()), text, out.column, out.last, self.work - work))

    def _expand(self, file: _File, row: Row) -> None:
        self.expansion.queue[:0] = reversed(self._tokens(row))
        blank: bool | None = False
        while self.expansion.queue or self.expansion.contexts:
            token = self.expansion.get()
            if token.kind == PADDING:
                blank = blank or token.blank
                continue
            own = token.column and not self.expansion.contexts
            if own:
                self.out.go(file.name, token.line)
            self.out.write(token, token.column if own else self.expansion.column, blank or token.blank)
            self.expansion.column = 0
            blank = False

    # directives

    def _directive(self, file: _File, row: Row, found: re.Match[str]) -> None:
        """One directive, of which ``found`` is the beginning."""
        number, name, rest = row.number, found[1] or "", row.text[found.end() :]
        counts = not file.groups or file.groups[-1].counts
        if not counts and name not in _CONDITIONS:
            return
        if name == "define" and len(row.text) < STRING.most:
            self._define_again(row)
            return
        tokens = self._tokens(row)[2 if name else 1 :]
        handler = getattr(self, f"_{name}_directive", None) if name else None
        if name in _CONDITIONS:
            self._conditional(file, name, tokens, number)
        elif handler is not None:
            handler(tokens, rest, self._where(number))
        elif not name and tokens and tokens[0].kind == NUMBER:
            self._line_directive(tokens, rest, self._where(number))
        elif name or tokens:
            self.fail(f"unknown #{name or spelled(tokens)}", number)

    def _conditional(self, file: _File, name: str, tokens: Sequence[Token], number: int) -> None:
        if name in ("if", "ifdef", "ifndef"):
            counts = not file.groups or file.groups[-1].counts
            holds = counts and self._holds(name, tokens, number)
            file.groups.append(_Group(number, holds, holds or not counts))
            return
        if not file.groups:
            self.fail(f"#{name} without #if", number)
        group = file.groups[-1]
        if name == "endif":
            file.groups.pop()
            return
        if group.last:
            self.fail(f"#{name} after #else", number)
        group.last = name == "else"
        group.counts = not group.taken and (group.last or self._holds("if", tokens, number))
        group.taken = group.taken or group.counts

    def _holds(self, name: str, tokens: Sequence[Token], number: int) -> bool:
        """Whether the condition of a directive holds."""
        if name != "if":
            if not tokens or tokens[0].kind != WORD:
                self.fail(f"malformed #{name}: it names no macro", number)
            return (tokens[0].text in self.macros or tokens[0].text in TESTS) == (name == "ifdef")
        try:
            with self.expansion.apart(tokens):
                return Condition(self.expansion, self.model.choices.char_signed, self._refuse_test).value()
        except InputRefused as error:
            error.where = error.where or self._where(number)
            raise
        except ValueError as error:
            self.fail(f"the condition {spelled(tokens)} has no value: {error}", number)

    def _refuse_test(self, token: Token) -> None:
        """Refuse ``__has_include``, and a test of an attribute or a built-in function that is not known."""
        what = f"unsupported test of '{token.text}': what the compiler has is not known here"
        hint = "test a macro of your own instead, set with -D"
        raise UnsupportedConstruct(what, self._where(self.files[-1].rows[self.files[-1].at - 1].number), hint)

    def _define(self, tokens: Sequence[Token], where: Location) -> None:
        try:
            macro = definition(tokens)
        except ValueError as error:
            raise InputRefused(f"malformed #define: {error}", where) from None
        self.macros[macro.name] = macro

    def _define_again(self, row: Row) -> None:
        """A definition that may have been read before."""
        try:
            macro, tokens = definition_in(row.text, row.number, tuple(row.begins), tuple(row.numbers))
        except ValueError as error:
            raise InputRefused(f"malformed #define: {error}", self._where(row.number)) from None
        self.count(tokens + 1, row.number)
        self.macros[macro.name] = macro

    def _define_directive(self, tokens: Sequence[Token], rest: str, where: Location) -> None:
        self._define(tokens, where)

    def _undef_directive(self, tokens: Sequence[Token], rest: str, where: Location) -> None:
        if not tokens or tokens[0].kind != WORD:
            raise InputRefused("malformed #undef: it names no macro", where)
        self.macros.pop(tokens[0].text, None)

    def _error_directive(self, tokens: Sequence[Token], rest: str, where: Location) -> None:
        if not self.given.pass_errors:
            self.noted.append(ErrorDirective(f"#error {rest.strip()}", where, "set the macros that it asks for (-D)"))

    def _warning_directive(self, tokens: Sequence[Token], rest: str, where: Location) -> None:
        """Without influence on the text."""

    _ident_directive = _sccs_directive = _warning_directive

    def _pragma_directive(self, tokens: Sequence[Token], rest: str, where: Location) -> None:
        word = tokens[0].text if tokens else ""
        if word == "once":
            self.headers.once.add(os.path.realpath(self.files[-1].path))
        meaning = pragma_meaning(rest)
        if meaning:
            raise UnsupportedConstruct(f"unsupported C construct: {meaning}", where)
        if word == "pack":
            with self.expansion.apart(tokens):
                text = spelled(self.expansion.rest())
            self.out.go(where.file, where.line)
            self.out.row(f"#pragma {text}")

    def _line_directive(self, tokens: Sequence[Token], rest: str, where: Location) -> None:
        file = self.files[-1]
        with self.expansion.apart(tokens):
            given = spelled(self.expansion.rest())
        found = re.match(r'(\d+)(?:\s*"(.*)"|$)?', given)
        if found is None or (found[2] is None and found.end() < len(given)):
            self.fail(f"malformed #line {given}", where.line)
        name = re.sub(r"\\(.)", r"\1", found[2]) if found[2] is not None else file.renumbered[1]
        file.renumbered = int(found[1]) - file.rows[file.at - 1].last - 1, name

    # headers

    def _include_directive(self, tokens: Sequence[Token], rest: str, where: Location, beyond: bool = False) -> None:
        if self.expansion.literal:
            raise InputRefused("#include among the arguments of a macro", where, "put it before the macro's use")
        text = rest.strip().replace(BREAK, "")
        if not text.startswith(('"', "<")):
            with self.expansion.apart(tokens):
                text = spelled(self.expansion.rest())
        found = re.match(r'"([^"]+)"|<([^>]+)>', text)
        if found is None:
            raise InputRefused("malformed #include: it names no file", where)
        INCLUDES.check(len(self.files), where)
        name, here = found[1] or found[2], self.files[-1]
        beside = (os.path.dirname(here.path), os.path.dirname(here.seen)) if found[1] and not beyond else None
        header = self.headers.find(name, beside, here.folder if beyond else -1, where)
        if header is not None:
            if os.path.realpath(header.path) not in self.headers.once:
                self._open(header.path, shown(header.path), header.seen, header.folder)
        else:
            near = folder_with(name, os.path.dirname(where.file) or ".")
            folder = f"add its folder to sources.include (-I){f', such as {near}' if near else ''}"
            error = InputRefused(f"header '{name}' not found", where, f"{folder}, or put a stand-in header there")
            self.noted.append(error)

    def _include_next_directive(self, tokens: Sequence[Token], rest: str, where: Location) -> None:
        self._include_directive(tokens, rest, where, beyond=True)


_CONDITIONS = frozenset({"if", "ifdef", "ifndef", "elif", "else", "endif"})


def _quoted(text: str) -> str:
    """``text`` as a string constant."""
    return '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'


@dataclass(frozen=True)
class Given:
    """What a compiler is given on its command line: folders of headers (-I), macros with their values (-D; None for
    -U), and files that are included first (-include); ``pass_errors``: an ``#error`` is passed over; ``last``:
    folders of headers that are found nowhere else."""

    include: Sequence[str] = ()
    defines: Sequence[tuple[str, str | None]] = ()
    pass_errors: bool = False
    first: Sequence[str] = ()
    last: Sequence[str] = ()

    @classmethod
    def of(
        cls, own: FileOptions, include: Sequence[str], defines: Sequence[tuple[str, str]], pass_errors: bool
    ) -> Given:
        """What it is given for one file, and behind that for all files of a project."""
        return cls((*own.include, *include), (*own.macros, *defines), pass_errors, own.first, own.last)


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
    unit = _done(file, given, model)
    for error in unit.noted:
        if survey is None:
            raise copy(error)
        survey.add(copy(error))
    if unit.ended is not None:
        raise copy(unit.ended)
    read_over = read_over_extensions if survey is None else survey.read_over_extensions
    text = read_over("".join(unit.out.parts) + "\n", file)
    headers = unit.headers
    lacking = tuple(headers.stand_ins.items()), tuple(headers.stubs.items()), tuple(headers.last_folders)
    return PreprocessedUnit(file, text, unit.macros, unit.expansion, *lacking)


def _done(file: str, given: Given, model: DataModel) -> _Preprocessor:
    """``file`` as it was preprocessed, now or before: it is read several times, to recognise its program, to read that,
    and to list all that is wrong with it."""
    lists = (tuple(given.include), tuple(given.defines), given.pass_errors, tuple(given.first), tuple(given.last))
    key = (os.getcwd(), file, lists, model)
    unit = _kept.get(key)
    if unit is None:
        unit = _Preprocessor(file, given, model)
        try:
            unit.read()
        except OSError as error:
            hint = "check the path and sources.files"
            raise InputRefused(f"cannot read the source file: {error.strerror}", Location(file), hint) from None
        except InputRefused as error:
            unit.ended = error
        _kept.keep(key, unit, unit.headers.seen)
    return unit


_kept: Kept[_Preprocessor] = Kept()

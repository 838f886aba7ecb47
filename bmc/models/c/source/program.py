"""A whole C program: its files parsed, its types, functions and file-scope objects by name.

How deep code may be nested is limited far above real code, so that deeper code is refused with its line. Up to these
limits everything is read and encoded (docs/adr/0007-reading-at-scale.md): the parser and the executor recurse along the
nesting in a thread with a large stack, all that walks formulas does so without recursion.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field
from typing import TYPE_CHECKING, Any, TypeVar

from pycparser import c_ast, c_parser

from bmc import ending
from bmc.errors import InputRefused, Location, UnsupportedConstruct, marked
from bmc.limits import BRACKETS, CALLS, STRUCTS, SYNTAX, text_of
from bmc.models.c.source.extensions import keyword_hint
from bmc.models.c.source.pieces import Parser
from bmc.models.c.source.preprocess import Given, preprocess
from bmc.models.c.source.preprocessed import PreprocessedUnit
from bmc.models.c.source.rewritten import rewritten
from bmc.models.c.source.types import CType, DataModel, FunctionType, IntType
from bmc.records import dataclass

if TYPE_CHECKING:
    from bmc.models.c.source.survey import Survey

T = TypeVar("T")


def where(node: Any) -> Location:
    """The place of a syntax node."""
    coord = getattr(node, "coord", None)
    return Location(coord.file or "", coord.line or 0, coord.column or 0) if coord else Location("")


LEAVES = (c_ast.ID, c_ast.Constant, c_ast.IdentifierType)
"""The most frequent syntax nodes that have no parts."""


def nodes(node: Any) -> Iterator[Any]:
    """A syntax node and all below it, in source order."""
    todo = [node]
    while todo:
        item = todo.pop()
        yield item
        if not isinstance(item, LEAVES):
            todo.extend([*item][::-1])


def unsupported(construct: str, node: Any, hint: str = "") -> UnsupportedConstruct:
    """The refusal of a construct outside the supported subset, with its place."""
    return UnsupportedConstruct(f"unsupported C construct: {construct}", where(node), hint)


@dataclass(eq=False, slots=True)
class Scope:
    """Names (typedefs, enum constants, objects, functions) and struct, union and enum tags, with an enclosing scope."""

    parent: Scope | None = None
    names: dict[str, Any] = field(default_factory=dict)
    tags: dict[str, CType] = field(default_factory=dict)

    def inner(self) -> Scope:
        """A new scope inside of this one; while it is in use, nothing may be entered into this one."""
        return Scope(self if self.names or self.tags or self.parent is None else self.parent)

    def outwards(self) -> Iterator[Scope]:
        """This scope and those around it."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def find(self, name: str) -> Any:
        """What a name stands for, None if it is unknown; raises the refusal of a declaration that cannot be read."""
        scope: Scope | None = self
        while scope is not None:  # as in ``outwards``: this is asked most
            if name in scope.names:
                found = scope.names[name]
                if isinstance(found, Unreadable):
                    raise found.error
                return found
            scope = scope.parent
        return None

    def find_tag(self, tag: str) -> CType | None:
        """The struct, union or enumeration that a tag stands for, None if it is unknown."""
        return next((scope.tags[tag] for scope in self.outwards() if tag in scope.tags), None)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A declaration outside the subset: its refusal is raised where the name is used."""

    error: InputRefused


@dataclass(frozen=True, slots=True)
class Typedef:
    """A type name; ``const`` and ``volatile`` if objects of the type are; ``align``: of ``aligned``, in bytes."""

    ctype: CType
    const: bool = False
    volatile: bool = False
    align: int = 0


@dataclass(frozen=True, slots=True)
class EnumConstant:
    """An enumeration constant; its type is int, or ``ctype`` where int does not hold it (gcc)."""

    value: int
    ctype: IntType | None = None


@dataclass(eq=False, slots=True)
class Function:
    """A function; ``node`` is its definition, None where it is only declared.

    ``declared`` and ``prototyped`` are the numbers of the declarations of each unit that declare it first, and first
    with the types of its parameters; ``number`` is that of its definition.
    """

    name: str
    ctype: FunctionType
    unit: Unit
    node: Any = None
    static: bool = False
    number: int = 0
    declared: dict[Unit, int] = field(default_factory=dict)
    prototyped: dict[Unit, int] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class Unit:
    """One parsed source file."""

    source: PreprocessedUnit
    tree: Any
    scope: Scope = field(default_factory=Scope)
    zero_sum: Location | None = None
    """The first floating-point sum or difference of what may be a constant zero (bmc.models.c.execute.zero_sums)."""
    narrowed: Location | None = None
    """The first double constant that loses digits where it initialises a float of an automatic aggregate."""
    linked: dict[str, Function] = field(default_factory=dict)
    """The functions of all units that have external linkage."""

    def function(self, name: str) -> Any:
        """What a function's name stands for; without a declaration (C89), a function that another unit defines."""
        found = self.scope.find(name)
        other = self.linked.get(name) if found is None else None
        return other if other is not None and other.node is not None else found


@dataclass(eq=False, slots=True)
class Program:
    """All units, and the functions with external linkage by name."""

    units: list[Unit]
    model: DataModel
    functions: dict[str, Function] = field(default_factory=dict)
    registers: dict[Any, int] = field(default_factory=dict)
    """The objects at addresses that the program writes as numbers, with these."""
    register_casts: dict[Any, Any] = field(default_factory=dict)
    """By the cast that is the address of one: the object."""

    @property
    def stand_ins(self) -> tuple[tuple[str, str], ...]:
        """Bundled stand-ins that were read for vendor headers: (name, path), in the order of their first use."""
        return tuple(dict.fromkeys(pair for unit in self.units for pair in unit.source.stand_ins))

    @property
    def header_notes(self) -> list[str]:
        """What a user should know of headers that are not the program's own."""
        folders = dict.fromkeys(folder for unit in self.units for folder in unit.source.compiler_folders)
        notes = [f"{name}: bundled stand-in for a header" for name, _ in self.stand_ins]
        return notes + [f"headers of the installed compiler are read, from {folder}" for folder in folders]

    def function(self, name: str) -> Function | None:
        """A defined function, wherever it stands (static ones too, where only one has the name)."""
        for unit in self.units:
            if isinstance(unit.scope.names.get(name), Unreadable):
                unit.scope.find(name)
        found = self.functions.get(name)
        if found is not None and found.node is not None:
            return found
        local = [f for u in self.units if isinstance(f := u.scope.names.get(name), Function) and f.node is not None]
        return local[0] if len(local) == 1 else None

    def defined_functions(self) -> list[Function]:
        """Every function with a body, in source order."""
        found = [f for unit in self.units for f in unit.scope.names.values() if isinstance(f, Function)]
        return list(dict.fromkeys(f for f in found if f.node is not None))


def parse_file(file: str, given: Given, model: DataModel, survey: Survey | None = None) -> tuple[PreprocessedUnit, Any]:
    """Preprocess and parse one file, or with a ``survey`` what of it can be parsed.

    InputRefused with the place of the first syntax error.
    """
    ending.reads(lambda: f"the file {file} was read")
    source = preprocess(file, given, model, survey)
    return source, (parse_unit if survey is None else survey.parse)(source.text, file)


def parse_unit(text: str, file: str) -> Any:
    """``parse_text`` of a whole file. Nobody changes its tree: the last ones are kept, as one file is read several
    times, to recognise its program, to read that, and to list all that is wrong with it."""
    tree = _trees.pop((text, file), None) or parse_text(text, file)
    _trees[text, file] = tree
    while sum(len(each) for each, _ in _trees) > MOST_TEXT and len(_trees) > 1:
        del _trees[next(iter(_trees))]
    return tree


MOST_TEXT = 4_000_000
"""Characters of preprocessed text whose trees are kept whole. Twice as many: of a program with more text than this each
file is put together from its pieces once less, and the lists take twice the memory."""
_trees: dict[tuple[str, str], Any] = {}


def parse_text(text: str, file: str) -> Any:
    """Parse preprocessed C. InputRefused for a syntax error and for what is nested too deep, each with its place."""
    check_brackets(text, file)
    parser = Parser()
    try:
        tree = _parsed(parser, text, file)
    except c_parser.ParseError as error:
        message, place, hint = syntax_error(str(error), file)
        place = place if place.line else _next_token(parser, text, place)
        semicolon = _missing_semicolon(message, place)
        hint = keyword_hint(_source_line(place)) or semicolon or _unknown_type(parser, message, place) or hint
        raise InputRefused(message, place, hint) from None
    except RecursionError:
        raise too_deep("syntax", DEEPEST, _next_token(parser, text, Location(file))) from None
    check_tree(tree)
    for node in tree.ext:
        if isinstance(node, c_ast.FuncDef):
            _complete_parameters(node)
    return tree


def expression_of(text: str, scope: Scope, place: Location) -> Any:
    """The syntax tree of a preprocessed expression, whose types ``scope`` knows. InputRefused for a syntax error."""
    words = dict.fromkeys(re.findall(r"[A-Za-z_]\w*", text))
    prelude = "".join(f"typedef int {word};\n" for word in words if isinstance(scope.names.get(word), Typedef))
    marker = f'#line {max(place.line, 1)} "{marked(place.file)}"'
    whole = f"{prelude}\n{marker}\nint chaincover_text(void) {{ return ({text}); }}"
    return parse_text(rewritten(whole), place.file).ext[-1].body.block_items[0].expr


def _parsed(parser: Parser, text: str, file: str) -> Any:
    """The syntax tree of ``text``, piece by piece; of the whole where a piece may have ended within a declaration."""
    try:
        return parser.pieces(text, file)
    except c_parser.ParseError as error:
        if not str(error).endswith(("At end of input", "Invalid function definition")):
            raise
    return parser.parse(text, file)


def _complete_parameters(definition: Any) -> None:
    """Put the declarations behind an old-style parameter list into it; what is not declared there is an int."""
    head = definition.decl.type
    params = head.args.params if isinstance(head, c_ast.FuncDecl) and head.args is not None else []
    declared = {each.name: each for each in definition.param_decls or ()}
    for number, name in enumerate(params):
        if isinstance(name, c_ast.ID):
            plain = c_ast.TypeDecl(name.name, [], None, c_ast.IdentifierType(["int"]), name.coord)
            default = c_ast.Decl(name.name, [], [], [], [], plain, None, None, name.coord)
            params[number] = declared.get(name.name, default)
            definition.param_decls = []


def is_old_style(definition: Any) -> bool:
    """Whether a function's definition has an old-style parameter list (K&R)."""
    return definition.param_decls is not None


def _source_lines(place: Location) -> list[str]:
    """The lines of a source file up to that of ``place``; none where it cannot be read."""
    try:
        return text_of(place.file, "replace").splitlines()[: place.line]
    except (OSError, InputRefused):
        return []


def _source_line(place: Location) -> str:
    """The text of a line of a source file, '' where there is none."""
    lines = _source_lines(place)
    return lines[-1] if len(lines) == place.line else ""


def _missing_semicolon(message: str, place: Location) -> str:
    """What to do where what stands before ``place`` has no end: there a line, ``else`` or ``}`` begins.

    Where two types stand together, the first may be a struct without an end.
    """
    if message.endswith("Invalid multiple types specified"):
        return _unended_struct(place)
    *before, line = _source_lines(place) or [""]
    start, rest = line[: max(place.column - 1, 0)], line[max(place.column - 1, 0) :]
    ender = re.match(r"else\b|}", rest)
    if ender and re.search(_OPEN_END, start.rstrip()):
        return f"a ';' may be missing before '{ender[0]}'"
    number = max((n for n, text in enumerate(before, 1) if text.strip()), default=0)
    if message.endswith("before: {"):  # declarations behind one without an end are taken for those of parameters
        number = max((n for n, text in enumerate(before[:number], 1) if not text.rstrip().endswith(";")), default=0)
    first = re.match(r"\s*(\w+)", line)
    if not number or (start.strip() and not (first and first[1] in _KEYWORDS)):
        return ""
    last = re.sub(r"/\*.*?\*/|//.*", "", before[number - 1]).rstrip()
    if last.lstrip().startswith("#") or not re.search(_OPEN_END, last) or set(last.split()) <= {*_KEYWORDS}:
        return ""
    return f"a ';' may be missing at the end of line {number}"


def _unended_struct(place: Location) -> str:
    """What to do where behind the struct, union or enumeration at ``place`` stands neither a name nor a semicolon."""
    try:
        lines = text_of(place.file, "replace").splitlines(keepends=True)[place.line - 1 :]
    except (OSError, InputRefused):
        return ""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", lambda found: re.sub(r"[^\n]", " ", found[0]), "".join(lines), flags=re.S)
    start = max(place.column - 1, 0)
    if not re.match(r"[\w\s]*{", text[start:]):
        return ""
    depth = 0
    for sign in re.finditer("[{}]", text[start:]):
        depth += 1 if sign[0] == "{" else -1
        if not depth:
            end = start + sign.end()
            number = place.line + text.count("\n", 0, end)
            at_end = not text[end:].partition("\n")[0].strip()
            missing = f"at the end of line {number}" if at_end else f"behind the '}}' in line {number}"
            return f"a ';' may be missing {missing}" if re.match(r"\s*\w", text[end:]) else ""
    return ""


_OPEN_END = r"""[\w)\]'"]$|\+\+$|--$"""
_KEYWORDS = (
    *(
        "auto",
        "break",
        "case",
        "char",
        "const",
        "continue",
        "default",
        "do",
        "double",
        "else",
        "enum",
        "extern",
        "float",
    ),
    *("for", "goto", "if", "inline", "int", "long", "register", "restrict", "return", "short", "signed", "sizeof"),
    *("static", "struct", "switch", "typedef", "union", "unsigned", "void", "volatile", "while"),
)


_TYPE_EXPECTED = (
    r"Missing type in declaration|Invalid (declaration|specifier list|function definition)|before: (\w+|\*)$"
)
_QUALIFIERS = r"(?:(?:const|volatile|static|extern|register|inline)\s+)*"


def _unknown_type(parser: Any, message: str, place: Location) -> str:
    """What to do where a word that stands for nothing is used as a type."""
    line = _source_line(place)
    if not re.search(_TYPE_EXPECTED, message):
        return ""
    start, rest = line[: max(place.column - 1, 0)], line[max(place.column - 1, 0) :]
    cut = len(re.sub(r"\w*$", "", start)) if rest[:1].isalnum() else len(start)  # behind a macro, columns are others
    start, rest = start[:cut], start[cut:] + rest
    found = (
        re.match(rf"\s*{_QUALIFIERS}([A-Za-z_]\w*)[\s*]+[A-Za-z_]", rest),
        re.search(r"([A-Za-z_]\w*)[\s*]+$", start),
        re.search(rf"\(\s*{_QUALIFIERS}([A-Za-z_]\w*)[\s*]*\)\s*$", start),
    )
    declared = {name for scope in getattr(parser, "_scope_stack", ()) for name in scope} - {start.strip(" \t*")}
    unknown = [each[1] for each in found if each and each[1] not in _KEYWORDS and each[1] not in declared]
    if not unknown:
        return ""
    return f"'{unknown[0]}' may be a type that nothing defines: include the header that does, or define it with typedef"


def _next_token(parser: Any, text: str, place: Location) -> Location:
    """Where the parser stands; some of its errors name no line. At the end: the last line with text."""
    try:
        token = parser._tokens.peek()
        return Location(token.filename, token.lineno, token.column)
    except AttributeError:
        return last_line(text, place)


def last_line(text: str, place: Location) -> Location:
    """The last line of preprocessed ``text`` that is not blank, by its line markers."""
    text = text.rstrip()
    markers = list(re.finditer(r'^#line (\d+)(?: "([^"\n]*)")?[^\n]*\n', text, re.M))
    if not markers:
        return Location(place.file, text.count("\n") + 1)
    last = markers[-1]
    return Location(last[2] or place.file, int(last[1]) + text.count("\n", last.end()))


def syntax_error(message: str, file: str) -> tuple[str, Location, str]:
    """pycparser's message as (text, place, next step)."""
    match = re.match(r"(.*?):(\d+)(?::(\d+))?: (.*)", message, re.S)
    hint = "only standard C11 is read; put a stand-in header with macros for compiler extensions on the include path"
    if message.endswith("At end of input"):
        text = "C syntax error: the file ends inside of a declaration, function or other block"
        return text, Location(file), "close what is open there: a brace, a parenthesis, or a semicolon is missing"
    if match and match[4].startswith("Comments are not supported"):
        message = f"{message[: match.start(4)]}a comment that does not end"
        match, hint = re.match(r"(.*?):(\d+)(?::(\d+))?: (.*)", message, re.S), "close it with */"
    if not match:
        return f"C syntax error: {message.rpartition(': ')[2]}", Location(file), hint
    place = Location(match[1] or file, int(match[2]), int(match[3] or 0))
    return f"C syntax error: {match[4].strip()}", place, hint


DEEPEST = SYNTAX.most
"""Most levels of syntax: brackets, blocks, operators (``a + b + c`` is two levels), links of an ``else if`` chain."""
DEEPEST_RUN = BRACKETS.most
"""Most pairs of brackets one right after the other, such as the dimensions of one array: the parser goes through them
once for each."""
DEEPEST_CALL = CALLS.most
"""Most functions that are active at once."""
DEEPEST_TYPE = STRUCTS.most
"""Most structs one within the other."""

_TOKEN = re.compile(r'#line (\d+)(?: "([^"\n]*)")?[^\n]*\n|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|[][(){}\n]')


def too_deep(what: str, limit: int, where: Location) -> UnsupportedConstruct:
    """The refusal of code that is nested more than ``limit`` levels deep."""
    return SYNTAX.refusal(where, f"unsupported C construct: {what} nested more than {limit:,} deep")


def check_brackets(text: str, file: str) -> None:
    """UnsupportedConstruct with the line where brackets of preprocessed ``text`` nest deeper than ``DEEPEST``.

    The same where more than ``DEEPEST_RUN`` of them stand one right after the other.
    """
    if max(text.count(opening) for opening in "([{") <= min(DEEPEST_RUN, DEEPEST // 3):
        return
    depth, line = 0, 1
    runs = [0]
    """How many brackets stand in a row, for each level."""
    closed = 0
    for token in _TOKEN.finditer(text):
        sign = token.group()
        if sign in "([{":
            after = closed > 0 and not text[closed : token.start()].strip()
            runs[-1] = runs[-1] + 1 if after else 1
            runs.append(0)
            depth += 1
            if depth > DEEPEST:
                raise too_deep("brackets", DEEPEST, Location(file, line))
            if runs[-2] > DEEPEST_RUN:
                raise too_deep("dimensions, parameters or arguments", DEEPEST_RUN, Location(file, line))
        elif sign in ")]}":
            depth -= 1
            closed = token.end()
            if len(runs) > 1:
                runs.pop()
        elif sign == "\n":
            line += 1
        elif token[1]:
            line, file = int(token[1]), token[2] or file


def check_tree(tree: Any) -> None:
    """UnsupportedConstruct with the line where a syntax tree is deeper than ``DEEPEST``."""
    level = [tree]
    for _ in range(DEEPEST):
        level = [child for node in level for child in node]
        if not level:
            return
    place = next((node.coord for node in level if node.coord), None)
    where = Location(place.file or "", place.line or 0, place.column or 0) if place else Location("")
    raise too_deep("syntax", DEEPEST, where)

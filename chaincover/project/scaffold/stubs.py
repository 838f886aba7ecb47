"""Stubs for what a program lacks: headers, types, constants, objects and functions, with guesses that a user confirms.

Everything is guessed from how the program uses it: a type whose members are used is a structure, a name in capitals is
a constant unless it is assigned or its bits are looked at, a function's parameters are what it is called with. Each
stub says why it says what it says.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from pycparser import c_ast

from bmc import ending
from bmc.errors import InputRefused, Location
from bmc.models.c.source.headers import UNCONFIRMED
from bmc.models.c.source.program import nodes, where
from bmc.models.c.source.survey import apart
from bmc.records import dataclass
from chaincover.project.scaffold.sources import Wanted, find_sources, trees_of
from chaincover.project.scaffold.text import Scaffold, propose

COMMON = "chaincover_stubs.h"
"""The header that has all stubs but headers, which include it."""
_HEADER = re.compile(r"header '(.+)' not found")
_TYPE = re.compile(r"unknown type '(\w+)'")
_NAME = re.compile(r"unknown name '(\w+)'")
_FUNCTION = re.compile(r"the (?=function .* not defined|input function .* takes a value)(?:input )?function '(\w+)'")
_KNOWN_TYPES = (
    (r"(?:u|U|us|ui)(?:int|INT|Int)?_?(8|16|32|64)(?:_?[tT])?", "unsigned int of {0} bits"),
    (r"(?:s|S|i|si)?(?:int|INT|Int)?_?(8|16|32|64)(?:_?[tT])?", "signed int of {0} bits"),
    (r"\w*(?:bool|BOOL|Bool|boolean|Boolean)\w*", "unsigned char"),
    (r"(?:uchar|UCHAR|byte|BYTE|Byte)\w*", "unsigned char"),
    (r"(?:ushort|USHORT|word|WORD)\w*", "unsigned short"),
    (r"(?:uint|UINT|dword|DWORD)\w*", "unsigned int"),
    (r"(?:f|real|REAL|float|FLOAT)_?32\w*|float_t|real_t|REAL", "float"),
    (r"(?:f|real|REAL|float|FLOAT)_?64\w*|LREAL", "double"),
)
"""Names of types that say what they are."""
_WORDS = {"char", "short", "int", "long", "unsigned", "signed", "float", "double", "_Bool"}
_OF_BITS = {"8": "char", "16": "short", "32": "int", "64": "long long"}


@dataclass(frozen=True)
class Missing:
    """What a program lacks, by name, each with the places of its uses."""

    headers: dict[str, list[Location]] = field(default_factory=dict)
    types: dict[str, list[Location]] = field(default_factory=dict)
    names: dict[str, list[Location]] = field(default_factory=dict)
    functions: dict[str, list[Location]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return any((self.headers, self.types, self.names, self.functions))


def missing_of(errors: Iterable[InputRefused]) -> Missing:
    """What the refusals of a program say that it lacks."""
    found = Missing()
    kinds = ((_HEADER, found.headers), (_TYPE, found.types), (_NAME, found.names), (_FUNCTION, found.functions))
    for error in errors:
        for pattern, names in kinds:
            name = pattern.search(error.message)
            if name:
                names[name[1]] = [*names.get(name[1], []), *([error.where] if error.where else []), *error.also]
    return found


class Stubs:
    """The stubs for what was missing so far; ``trees`` are the syntax trees of the program's files, by these."""

    def __init__(self, trees: Mapping[str, Any], taken: Sequence[str] = ()) -> None:
        self.common = next(n for n in _numbered(COMMON) if n not in taken)
        self.headers: dict[str, list[Location]] = {}
        self.declarations: dict[str, str] = {}
        """The text of each stub by its name, in the order in which they were needed."""
        self.definitions: dict[str, str] = {}
        """The text of each function with a body, by its name."""
        self.constants = 0
        self._uses = Uses(trees)

    def add(self, missing: Missing, files: Sequence[str]) -> bool:
        """Guess what is missing, and what nothing declares in ``files``, which a compiler reads whole: also where init
        and step do not reach it. False where nothing is new."""
        before = len(self.headers) + len(self.declarations)
        for name, places in missing.headers.items():
            self.headers.setdefault(name, places)
        for name, places in missing.types.items():
            self.declarations.setdefault(name, self._type(name, places))
        for name, places in missing.names.items():
            self.declarations.setdefault(name, self._name(name, places))
        for file in files:
            for name, place in self._uses.undeclared.get(file, {}).items():
                self.declarations.setdefault(name, self._name(name, [place]))
        for name, places in missing.functions.items():
            if name not in self._uses.declared.variadic:  # whose body nobody can guess
                self.declarations.setdefault(name, self._function(name, places))
        return len(self.headers) + len(self.declarations) > before

    def texts(self) -> dict[str, str]:
        """The files, by their paths from the folder of stubs on."""
        if not self.headers and not self.declarations:
            return {}
        files = {}
        for name, places in self.headers.items():
            up = "../" * (os.path.normpath(name).count("/"))
            files[os.path.normpath(name)] = "\n".join([
                f"/* {UNCONFIRMED}: change the word unconfirmed in this line to confirmed when the file is right. */",
                f"/* In place of the header '{name}', which {_at(places)} includes and which was not found. */",
                f'#include "{up}{self.common}"',
                "",
            ])  # fmt: skip
        guard = re.sub(r"\W", "_", self.common).upper()
        files[self.common] = "\n".join([
            f"/* {UNCONFIRMED}: change the word unconfirmed in this line to confirmed when all below is right. */",
            "/* What the program uses and nothing defines, guessed from its uses; each line says from which. */",
            f"#ifndef {guard}",
            f"#define {guard}",
            *self.declarations.values(),
            "#endif",
            "",
        ])  # fmt: skip
        if self.definitions:
            files[self.common.removesuffix("h") + "c"] = "\n".join([
                f"/* {UNCONFIRMED}: change the word unconfirmed in this line to confirmed when all below is right. */",
                f'#include "{self.common}"',
                *self.definitions.values(),
                "",
            ])  # fmt: skip
        return files

    def _type(self, name: str, places: Sequence[Location]) -> str:
        members = self._uses.members.get(name, {})
        if members:
            rows = [f"  int {member};  /* guess: used in {where}; an integer */" for member, where in members.items()]
            tail = f"}} {name};  /* guess: a structure with the members that are used */"
            return "\n".join([f"typedef struct {name} {{", *rows, tail])
        known = next((text for pattern, text in _KNOWN_TYPES if (_fits(pattern, name))), "")
        if not known:
            return f"typedef int {name};  /* guess: an integer; used at {_at(places)} */"
        bits = _fits(next(pattern for pattern, text in _KNOWN_TYPES if text == known and _fits(pattern, name)), name)
        sign, _, rest = known.partition(" int of ")
        base = f"{sign} {_OF_BITS[bits]}" if rest and bits in _OF_BITS else known
        return f"typedef {base} {name};  /* guess: by its name; used at {_at(places)} */"

    def _name(self, name: str, places: Sequence[Location]) -> str:
        if name in self._uses.calls:
            return self._function(name, places)
        parts = self._uses.parts.get(name, {})
        if parts or name in self._uses.written or name in self._uses.registers:
            return self._object(name, parts, places)
        if name.upper() == name:
            self.constants += 1
            return f"#define {name} {self.constants}  /* guess: a constant, for its name; used at {_at(places)} */"
        return f"extern int {name};  /* guess: an integer that the environment sets; used at {_at(places)} */"

    def _object(self, name: str, parts: dict[str, str], places: Sequence[Location]) -> str:
        """An object; a register where its name is in capitals or its bits have names. One that the program writes is
        defined as well, one that it only reads comes from outside."""
        register = bool(parts) or name.upper() == name
        members = " ".join(f"unsigned int {part};" for part in parts)
        kind = f"struct {name}_bits" if parts else "unsigned int" if register else "int"
        lines = [f"struct {name}_bits {{ {members} }};  /* guess: the members that are used */"] if parts else []
        kind = f"volatile {kind}" if register else kind
        written, known_as = name in self._uses.written, name
        if name in self._uses.pointers:
            name = f"{name}_object"
            lines.append(f"#define {known_as} (&{name})  /* guess: a pointer, for it is used with -> */")
        said = "an object, for it is assigned" if written else "an input, for only its bits are looked at"
        if written:
            self.definitions[name] = f"{kind} {name};"
        return "\n".join([*lines, f"extern {kind} {name};  /* guess: {said}; used at {_at(places)} */"])

    def _function(self, name: str, places: Sequence[Location]) -> str:
        """A prototype; where it takes values and delivers others, also a body with an input for each of these."""
        call, declared = self._uses.calls.get(name), name in self._uses.declared.functions
        used = name in self._uses.used
        kinds = [] if call is None else self._uses.arguments(call)
        result = self._uses.result(name) if used else "void"
        if not used and not declared and kinds[:1] == ["const char *"]:
            why = "a text is written, which changes nothing here"
            return f"void {name}(const char *, ...);  /* guess: {why}; called at {_at(places)} */"
        known = "" not in kinds and not declared
        pointers = [number for number, kind in enumerate(kinds, 1) if kind.endswith("*") and "const" not in kind]
        pointers = [number for number in pointers if kinds[number - 1] != "void *"]
        if known and kinds and (used or pointers):
            self._harness(name, result, kinds, pointers, places)
        elif known and "const char *" in kinds:
            inside = ", ".join(f"{kind} p{number}" for number, kind in enumerate(kinds, 1))
            self.definitions[name] = f"void {name}({inside}) {{}}  /* guess: a text is shown, nothing changes here */"
        why = "its result is used" if used else "its result is not used"
        text = ", ".join(kinds) or "void"
        at = f"/* guess: {why}; parameters as at {_at(places)} */"
        return "" if declared else f"{result} {name}({text if known else ''});  {at}"

    def _harness(
        self, name: str, result: str, kinds: Sequence[str], pointers: Sequence[int], places: Sequence[Location]
    ) -> None:
        """A body for a function that delivers values: each is an input, whatever the function is called with."""
        inputs = [f"{kinds[number - 1].removesuffix('*').strip()} {name}_value_{number}(void);" for number in pointers]
        lines = [f"  *p{number} = {name}_value_{number}();" for number in pointers]
        if result != "void":
            inputs.append(f"{result} {name}_result(void);")
            lines.append(f"  return {name}_result();")
        parameters = ", ".join(f"{kind} p{number}" for number, kind in enumerate(kinds, 1))
        why = f"/* guess: as called at {_at(places)}: what it delivers are inputs, whatever it is called with */"
        self.definitions[name] = "\n".join([why, *inputs, f"{result} {name}({parameters}) {{", *lines, "}"])


@dataclass(eq=False)
class Declarations:
    """What a program declares."""

    types: dict[str, Any] = field(default_factory=dict)
    """The type node of each declared name, as declared last."""
    typedefs: dict[str, Any] = field(default_factory=dict)
    """The type node that each name of a type stands for."""
    functions: set[str] = field(default_factory=set)
    variadic: set[str] = field(default_factory=set)
    """Functions that are declared with any number of arguments."""

    def note(self, node: Any) -> None:
        """Note the declaration that a node is, if it is one."""
        if isinstance(node, c_ast.Decl) and node.name:
            self.types[node.name] = node.type
            if isinstance(node.type, c_ast.FuncDecl):
                self.functions.add(node.name)
                if any(isinstance(each, c_ast.EllipsisParam) for each in (node.type.args or ())):
                    self.variadic.add(node.name)
        elif isinstance(node, c_ast.Typedef):
            self.typedefs[node.name] = node.type

    def number(self, kind: Any) -> str:
        """The words of an arithmetic type, for which the names of types stand; '' for any other type."""
        for _ in range(len(self.typedefs) + 1):
            if not (isinstance(kind, c_ast.TypeDecl) and isinstance(kind.type, c_ast.IdentifierType)):
                return ""
            words = kind.type.names
            if set(words) <= _WORDS:
                return " ".join(words)
            kind = self.typedefs.get(words[0]) if len(words) == 1 else None
        return ""


class Uses:
    """How a program uses what it does not define."""

    def __init__(self, trees: Mapping[str, Any]) -> None:
        self.declared = Declarations()
        self.members: dict[str, dict[str, str]] = {}
        """By type, the members that are used of its objects, with the place of a use."""
        self.calls: dict[str, Any] = {}
        """The first call of each function."""
        self.used: set[str] = set()
        """Functions whose result is used."""
        self.assigned: dict[str, str] = {}
        """By function, the name of the first object that its result is assigned to, or is the first value of."""
        self.written: set[str] = set()
        """Names of objects that are assigned, in whole or in part, or whose address is taken."""
        self.registers: set[str] = set()
        """Names of which single bits are looked at (``NAME & 4``), or whose complement is a value (``x = ~NAME``)."""
        self.pointers: set[str] = set()
        """Names that nothing declares and that point to a structure (``GPIOA->ODR``)."""
        self.parts: dict[str, dict[str, str]] = {}
        """By the name of an object that nothing declares, the members that are used of it, with the place of a use."""
        self.undeclared: dict[str, dict[str, Location]] = {}
        """By file, the names in it that nothing declares there, with the place of the first use."""
        for file, tree in trees.items():
            for node in nodes(tree):
                self._note(node)
            self.undeclared[file] = _undeclared(tree)
        for tree in trees.values():
            for node in nodes(tree):
                if isinstance(node, c_ast.StructRef):
                    self._member(node)

    def _note(self, node: Any) -> None:
        self.declared.note(node)
        self._note_use(node)
        value = node.rvalue if isinstance(node, c_ast.Assignment) else getattr(node, "init", None)
        if isinstance(value, c_ast.FuncCall) and isinstance(value.name, c_ast.ID):
            target = node.lvalue if isinstance(node, c_ast.Assignment) else node
            self.assigned.setdefault(value.name.name, getattr(target, "name", None) or "")
        if isinstance(value, c_ast.UnaryOp) and value.op == "~":
            self.registers.add(_root(value))
        self._note_calls(node)

    def _note_use(self, node: Any) -> None:
        """Note what an operator says of the object that it works on."""
        if isinstance(node, c_ast.Assignment):
            self.written.add(_root(node.lvalue))
        elif isinstance(node, c_ast.UnaryOp) and node.op in ("++", "--", "p++", "p--", "&"):
            self.written.add(_root(node.expr))
        elif isinstance(node, c_ast.BinaryOp) and node.op in ("&", ">>") and isinstance(node.right, c_ast.Constant):
            self.registers.add(_root(node.left))

    def _note_calls(self, node: Any) -> None:
        """Note a call, and the functions that are called in the node and whose results are used."""
        if isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID):
            self.calls.setdefault(node.name.name, node)
        statements = node.block_items or () if isinstance(node, c_ast.Compound) else ()
        bare = {id(each) for each in statements if isinstance(each, c_ast.FuncCall)}
        for _, child in node.children():
            if isinstance(child, c_ast.FuncCall) and isinstance(child.name, c_ast.ID) and id(child) not in bare:
                self.used.add(child.name.name)

    def _member(self, node: Any) -> None:
        base = node.name
        while isinstance(base, c_ast.ArrayRef | c_ast.UnaryOp):
            base = base.name if isinstance(base, c_ast.ArrayRef) else base.expr
        if not isinstance(base, c_ast.ID):
            return
        declared = base.name in self.declared.types
        name = _base_type(self.declared.types.get(base.name)) if declared else base.name
        if name and (declared or base is node.name):
            self.pointers |= {name} if node.type == "->" and not declared else set()
            place, found = where(node), (self.members if declared else self.parts)
            found.setdefault(name, {}).setdefault(node.field.name, f"{Path(place.file).name}:{place.line}")

    def arguments(self, call: Any) -> list[str]:
        """The types of a call's arguments; '' for one that is not known."""
        return [self._argument(each) for each in (call.args.exprs if call.args else ())]

    def result(self, name: str) -> str:
        """The type of a function's result: that of what it is assigned to, where that is a number."""
        target = self.assigned.get(name, "")
        return self.declared.number(self.declared.types.get(target) if isinstance(target, str) else None) or "int"

    def _argument(self, node: Any) -> str:
        pointer = isinstance(node, c_ast.UnaryOp) and node.op == "&"
        inner = node.expr if pointer else node
        if isinstance(inner, c_ast.Constant):
            return {"string": "const char *", "double": "double"}.get(inner.type, "int")
        kind = self.declared.types.get(inner.name) if isinstance(inner, c_ast.ID) else None
        if kind is None:
            return "void *" if pointer else "int"
        number = self.declared.number(kind)
        return f"{number}{' *' if pointer else ''}" if number else ("void *" if pointer else "")


def _undeclared(tree: Any) -> dict[str, Location]:
    """The names in the functions of a file that nothing in it declares, but those of functions that are called, with
    the places of their first uses."""
    known = {node.name for node in nodes(tree) if isinstance(node, c_ast.Decl | c_ast.Typedef | c_ast.Enumerator)}
    used: dict[str, Location] = {}
    for function in (each for each in tree.ext if isinstance(each, c_ast.FuncDef)):
        for node in nodes(function.body):
            known |= _of_no_objects(node)
            if isinstance(node, c_ast.ID):
                used.setdefault(node.name, where(node))
        known.add(function.decl.name)
    return {name: place for name, place in used.items() if name not in known}


def _of_no_objects(node: Any) -> set[str]:
    """The names in a node that are of a function that is called, or of members."""
    if isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID):
        return {node.name.name}
    if isinstance(node, c_ast.StructRef):
        return {node.field.name}
    members = node.name if isinstance(node, c_ast.NamedInitializer) else ()
    return {each.name for each in members if isinstance(each, c_ast.ID)}


def _root(node: Any) -> str:
    """The name of the object that an expression is, or is a part or the complement of; '' for any other."""
    while True:
        if isinstance(node, c_ast.StructRef | c_ast.ArrayRef):
            node = node.name
        elif isinstance(node, c_ast.UnaryOp) and node.op == "~":
            node = node.expr
        else:
            return node.name if isinstance(node, c_ast.ID) else ""


def _base_type(kind: Any) -> str:
    """The name of the type that objects of a declared type have, behind pointers and arrays; '' for one without."""
    while isinstance(kind, c_ast.PtrDecl | c_ast.ArrayDecl | c_ast.TypeDecl):
        kind = kind.type
    return kind.names[0] if isinstance(kind, c_ast.IdentifierType) and len(kind.names) == 1 else ""


def _fits(pattern: str, name: str) -> str:
    """What the first group of ``pattern`` is in ``name``, or all of it; '' where it does not fit."""
    found = re.fullmatch(pattern, name)
    return "" if found is None else (found[1] if found.groups() and found[1] else found[0])


def _numbered(name: str) -> Iterator[str]:
    yield name
    stem, ending = os.path.splitext(name)
    number = 2
    while True:
        yield f"{stem}_{number}{ending}"
        number += 1


def _at(places: Sequence[Location]) -> str:
    """The first of the places, and how many more there are."""
    if not places:
        return "some place"
    more = f" and {len(places) - 1} more" if len(places) > 1 else ""
    return f"{Path(places[0].file).name}:{places[0].line}{more}"


def propose_with_stubs(
    places: Sequence[str], folder: Path, wanted: Wanted, stubs: Path, write: Callable[[Path, str], object]
) -> tuple[Scaffold, tuple[str, ...]]:
    """A proposal as ``propose`` makes one, with the stubs that it needs in the folder ``stubs``, and their paths.

    ``write`` writes a text to a file. Files that are there are used and stay as they are. What is missing shows piece
    by piece: behind a header that is not found are types, behind these members and functions.
    """
    present = _present(stubs)
    wanted = replace(wanted, guesses=True)
    if present:
        wanted = _with(wanted, stubs, present, {})
    made = Stubs(trees_of(find_sources(places, folder, wanted), folder), present)
    with tempfile.TemporaryDirectory() as scratch:
        plain = scaffold = _proposed(places, folder, wanted)
        while (
            not ending.called_off()
            and (reading := scaffold.reading) is not None
            and made.add(missing_of(reading.errors), reading.files)
        ):
            texts = made.texts()
            _write(Path(scratch), texts, Path.write_text)
            bodies = [str(Path(scratch) / name) for name in texts if name.endswith(".c")]
            scaffold = _proposed([*places, *bodies], folder, _with(wanted, Path(scratch), (), texts))
    texts = {name: text for name, text in made.texts().items() if name not in present}
    if not texts or ending.called_off():
        return plain, ()
    _write(stubs, texts, write)
    written = tuple(str(stubs / name) for name in texts)
    bodies = [path for path in written if path.endswith(".c")]
    return _proposed([*places, *bodies], folder, _with(wanted, stubs, present, texts)), written


def _proposed(places: Sequence[str], folder: Path, wanted: Wanted) -> Scaffold:
    """A proposal with symbols of its own: with other stubs a variable may have another type."""
    with apart():
        return propose(places, folder, wanted)


def _present(stubs: Path) -> list[str]:
    """The files in the folder of stubs, by their paths in it; InputRefused where it is none."""
    if stubs.exists() and not stubs.is_dir():
        raise InputRefused(f"{stubs} is no folder", None, "name a new folder for the stubs, or one that has some")
    found = [os.path.join(root, name) for root, _, names in os.walk(stubs) for name in sorted(names)]
    return [os.path.relpath(path, stubs) for path in found]


def _with(wanted: Wanted, stubs: Path, present: Sequence[str], texts: Mapping[str, str]) -> Wanted:
    """``wanted`` with the stubs in a folder: headers are found there; where there are none, the stubs come first."""
    names = [*present, *texts]
    headers = [name for name in names if name.endswith(".h")]
    common = [name for name in headers if name.startswith(COMMON.removesuffix(".h"))]
    first = tuple(str(stubs / name) for name in common if len(common) == len(headers))
    include = (*wanted.include, *([str(stubs)] if str(stubs) not in wanted.include else []))
    return replace(wanted, include=include, first=tuple(dict.fromkeys((*wanted.first, *first))))


def _write(folder: Path, texts: Mapping[str, str], write: Callable[[Path, str], object]) -> None:
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write(folder / name, text)

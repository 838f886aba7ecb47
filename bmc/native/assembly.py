"""Inline assembly in preprocessed C: what a statement is made of, and a text in which known ones are passed over."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from bmc.records import dataclass

WORDS = ("asm", "__asm", "__asm__")
QUALIFIERS = ("volatile", "__volatile__", "__volatile", "inline", "__inline__", "__inline")

_STRING = r'"(?:\\.|[^"\\\n])*"'
_SIGN = re.compile(rf"{_STRING}|'(?:\\.|[^'\\\n])*'|[](){{}}[,:]", re.S)
_ASSEMBLY = re.compile(
    rf"^[ \t]*#[^\n]*|{_STRING}|'(?:\\.|[^'\\\n])*'|[{{}}]"
    rf"|(?<![\w$])(?P<asm>__asm__|__asm|asm)\s*(?:(?:{'|'.join(QUALIFIERS)}|goto)\s*)*(?P<open>\()",
    re.M | re.S,
)
_TEXTS = re.compile(rf"\s*({_STRING}\s*)*", re.S)
_OPERAND = re.compile(rf"\s*(?:\[\s*\w+\s*\]\s*)?(?P<constraint>(?:{_STRING}\s*)+)\((?P<expression>.*)\)\s*", re.S)
_ESCAPES = {"n": "\n", "t": " ", "r": "\n", "v": " ", "f": " "}
_MARKER = re.compile(r"^[ \t]*#[^\n]*", re.M)


@dataclass(frozen=True, slots=True)
class Operand:
    """An object or value that instructions are given: ``constraint`` says where, and with ``=`` or ``+`` that they
    change it."""

    constraint: str
    expression: str

    @property
    def in_memory(self) -> bool:
        """Whether the instructions may be given its place in memory."""
        return re.search(r"[moVQXgp<>]", self.constraint) is not None


@dataclass(frozen=True, slots=True)
class Assembly:
    """A statement: its instructions as ``text``, with one blank between words and ``; `` between instructions."""

    text: str
    outputs: tuple[Operand, ...] = ()
    inputs: tuple[Operand, ...] = ()


def assembly_of(inside: str) -> Assembly | None:
    """What stands in the brackets of a statement; None for what is none of that form (``asm goto``)."""
    sections = [_MARKER.sub("", section) for section in _split(inside, ":")]
    if len(sections) > 4 or not _TEXTS.fullmatch(sections[0]):
        return None
    operands = []
    for section in [*sections[1:3], "", ""][:2]:
        found = [_OPERAND.fullmatch(part) for part in _split(section, ",") if section.strip()]
        if None in found:
            return None
        operands.append(tuple(_operand(each) for each in found if each is not None))
    outputs, inputs = operands
    if any(each.constraint[:1] not in ("=", "+") for each in outputs):
        return None
    return Assembly(instructions(_joined(sections[0])), outputs, inputs)


def instructions(text: str) -> str:
    """A text of instructions in the form in which two of them are compared."""
    parts = (" ".join(part.split()) for part in re.split(r"[\n;]", text))
    return "; ".join(part for part in parts if part)


def without_assembly(text: str, texts: Collection[str], others: str | None = None) -> str:
    """Preprocessed ``text`` without those statements whose instructions are among ``texts``.

    Operands are evaluated all the same, and what the instructions would set is 0. With ``others`` that stands in place
    of all other statements, and nothing in place of assembly outside of functions and of registers of variables.
    Statements without instructions remain. The text keeps its lines.
    """
    parts, position = [], 0
    for found in _all(text):
        inside = assembly_of(text[found.opening + 1 : found.end - 1])
        if inside is not None and not inside.text:
            continue
        if found.kind == _STATEMENT and inside is not None and inside.text in texts:
            work = [f"(void)({each.expression});" for each in inside.inputs]
            work += [f"{each.expression} = 0;" for each in inside.outputs]
            new = f"do {{ {' '.join(work)} }} while (0)" if work else "(void)0"
        elif others is None:
            continue
        else:
            new = others if found.kind == _STATEMENT else ""
        lines = "\n" * text.count("\n", found.start, found.end)
        parts += [text[position : found.start], new, lines]
        position = found.end
    return "".join([*parts, text[position:]])


_STATEMENT, _OUTSIDE, _REGISTER = "statement", "outside of functions", "register"


@dataclass(frozen=True, slots=True)
class _Place:
    """Where assembly begins, where its bracket opens, and where it ends."""

    kind: str
    start: int
    opening: int
    end: int


def _all(text: str) -> Iterator[_Place]:
    """All assembly but names of functions and objects outside of functions."""
    depth = 0
    for found in _ASSEMBLY.finditer(text):
        depth += {"{": 1, "}": -1}.get(found[0], 0)
        if not found["asm"]:
            continue
        before = _before(text, found.start())
        begins = before[-1:] in (";", "{", "}", "")
        if depth and (begins or re.search(r"[):]$|\b(else|do)$|\b__extension__$", before)):
            kind = _STATEMENT
        elif depth:
            kind = _REGISTER
        elif begins:
            kind = _OUTSIDE
        else:
            continue
        nested = 0
        for sign in _SIGN.finditer(text, found.start("open")):
            nested += {"(": 1, ")": -1}.get(sign[0], 0)
            if nested == 0:
                yield _Place(kind, found.start(), found.start("open"), sign.end())
                break


def _before(text: str, end: int) -> str:
    """What stands before ``end`` in its line; where that is nothing, the last line above which is neither empty nor a
    marker; '' where there is none."""
    while end > 0:
        start = text.rfind("\n", 0, end) + 1
        line = text[start:end].strip()
        if line and not line.startswith("#"):
            return line
        end = start - 1
    return ""


def _split(text: str, separator: str) -> list[str]:
    """The parts of ``text`` between those separators that stand in no brackets and texts."""
    parts, depth, position = [], 0, 0
    for sign in _SIGN.finditer(text):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(sign[0], 0)
        if sign[0] == separator and depth == 0:
            parts.append(text[position : sign.start()])
            position = sign.end()
    return [*parts, text[position:]]


def _operand(found: re.Match[str]) -> Operand:
    return Operand(_joined(found["constraint"]), " ".join(found["expression"].split()))


def _joined(strings: str) -> str:
    """What adjacent string literals stand for."""
    inside = "".join(each[1:-1] for each in re.findall(_STRING, strings, re.S))
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), inside, flags=re.S)


_HARMLESS = re.compile(
    r"(?:\d+:\s*)?(?:"
    # interrupts, waiting and order of accesses: Arm, AVR, MSP430, PIC, RISC-V, x86
    r"cpsi[de]\s+\w+|nop(\.w)?|wf[ie]|sevl?|yield|(?:[id]sb|dmb)(?:\s+\w+)?|clrex"
    r"|cli|sei|sti|wdr|sleep|hlt|pause|dint|eint|clrwdt|pwrsav\s+.+|disi\s+.+|fence(?:\.i)?(?:\s+[\w,\s]+)?"
    # special registers
    r"|mrs\s+%\w+\s*,\s*\w+|msr\s+\w+\s*,\s*%\w+|csrr?[wsci]*\s+.+"
    # loops that count an output down
    r"|dec\s+%\w+|sbiw\s+%\w+\s*,\s*\d+|subs?\s+%\w+\s*,\s*(?:%\w+\s*,\s*)?#?\d+|br?ne\s+\d+b|rjmp\s+\.\+0"
    r")",
    re.I,
)
"""Instructions that neither read nor write data of a program but operands."""


def harmless(text: str) -> bool:
    """Whether instructions, as ``instructions`` writes them, are known to change nothing but operands."""
    return all(_HARMLESS.fullmatch(part) for part in text.split("; "))

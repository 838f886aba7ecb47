"""What compilers add to C and the parser cannot read: attributes, pragmas, inline assembly; preprocessed text without.

Attributes and pragmas without influence on what a program computes are blanked out. ``packed`` and ``aligned`` of a
struct, of members and of type names become static assertions that say so (``Mark``). Inline
assembly in a function becomes a call of a function that does not exist, so that it is refused only where it is reached.
Lines and columns stay as they are wherever possible.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache

from bmc.errors import Location, UnsupportedConstruct
from bmc.models.c.source.kept import MOST_KEPT
from bmc.models.c.source.rewritten import rewritten
from bmc.native.assembly import QUALIFIERS, WORDS, assembly_of
from bmc.records import dataclass

BIGGEST_ALIGNMENT = 16
"""What ``aligned`` without a number stands for on x86."""
ASSEMBLY = "__chaincover_inline_assembly__"
"""The function whose call stands for a statement of inline assembly: its arguments are the instructions, the
constraints of the outputs and of the inputs as texts, and these operands. Of a statement in another form there is only
the first."""
CLEANUP = "__chaincover_cleanup__"
"""A declaration of this name behind that of an object with the attribute ``cleanup``: its initialiser is the call that
is made where the object's lifetime ends."""

_WORDS = ("__attribute", "asm", "_Pragma")
_TOKEN = re.compile(
    r'#line[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|(?P<word>[A-Za-z_]\w*)|(?P<sign>[{}();,=:])|\d[\w.]*', re.S
)
_ATTRIBUTES = ("__attribute__", "__attribute")
_LAYOUT = {"packed", "aligned", "mode", "vector_size", "scalar_storage_order", "ms_struct", "gcc_struct"}
_MODES = {"QI": 8, "byte": 8, "HI": 16, "SI": 32, "DI": 64}
"""The bits of an integer type with the attribute ``mode``."""
_PRAGMAS = {"push_macro", "pop_macro", "scalar_storage_order", "redefine_extname", "weak"}
_LOOSE = re.compile(r"fast|unsafe|finite|associative|reciprocal")
_MEANING = {"cleanup", "constructor", "destructor", "alias", "ifunc", "transparent_union"}


@dataclass(frozen=True, slots=True)
class Mark:
    """What a static assertion of ours says: ``packed``, ``aligned`` to its condition, or ``mode`` with so many bits.

    Of ``count`` members, starting ``members`` before the end of those that are declared so far; of the struct around it
    where that is 0; of the type called ``name``.
    """

    attribute: str
    members: int = 0
    count: int = 0
    name: str = ""


_NEAR = 500
"""Characters around an attribute among which its neighbours are looked for."""
_MARK = re.compile(r'"chaincover: (packed|aligned|mode) (\d+) (\d+) (\w*)"')


def mark_of(message: str) -> Mark | None:
    """The mark in the message of a static assertion; None in one of the program's own."""
    found = _MARK.fullmatch(message)
    return Mark(found[1], int(found[2]), int(found[3]), found[4]) if found else None


def _marker(number: str, attribute: str, members: int = 0, count: int = 0, name: str = "") -> str:
    return f' _Static_assert({number}, "chaincover: {attribute} {members} {count} {name}");'


@lru_cache(maxsize=MOST_KEPT)
def read_over_extensions(text: str, file: str) -> str:
    """``text`` as the parser can read it. UnsupportedConstruct where it cannot be left out."""
    return rewritten(_Reader(text, file).read() if any(word in text for word in _WORDS) else text)


_KEYWORDS = re.compile(
    r"\b(?:(?P<call>__declspec|__at|__based)(?=\s*\()|(?P<word>_{0,2}(?:far|near|huge|tiny|interrupt|cdecl|stdcall|"
    r"fastcall|forceinline|flash|eeprom|ramfunc|monitor|task|root|no_init|packed|weak|sfr|sbit|xdata|idata|pdata|code|"
    r"bank\d|data16|iomem)_{0,2}))\b"
)


def keyword_hint(line: str) -> str:
    """What to do about a syntax error in ``line``: define a compiler's keyword away; '' if there is none in it."""
    found = _KEYWORDS.search(line)
    if found is None:
        return ""
    return define_away(found[0], f"{found['call']}(x)" if found["call"] else found["word"])


def define_away(word: str, name: str) -> str:
    """What to do about a ``word`` of another compiler; ``name`` is that of a macro in its place."""
    return (
        f"if '{word}' is a keyword of the target's compiler without influence on values, define it away (for the "
        f'compiled original as well): [sources] defines = {{ "{name}" = "" }}'
    )


def pragma_meaning(text: str) -> str:
    """What a pragma (the text after ``#pragma``) changes about the meaning of a program, '' for nothing.

    ``pack`` is not among these: it is read.
    """
    words = re.findall(r"\w+", text)
    names = words[1:] if words[:1] == ["GCC"] else words
    if names[:1] == ["optimize"] and _LOOSE.search(text):
        return f"#pragma {' '.join(words)}"
    return f"#pragma {names[0]}" if names and names[0] in _PRAGMAS else ""


def _call(inside: str) -> str:
    """The call that stands for a statement with ``inside`` in its brackets; nothing for a barrier of the compiler."""
    found = assembly_of(inside)
    if found is None or any(word in inside.split('"')[0::2] for word in WORDS):
        return f'{ASSEMBLY}("{_escaped(" ".join(inside.split()))}")'
    if not (found.text or found.outputs or found.inputs):
        return "(void)0"
    words = [
        " ".join("".join(each.constraint.split()) for each in operands) for operands in (found.outputs, found.inputs)
    ]
    texts = [f'"{_escaped(text)}"' for text in (found.text, *words)]
    operands = [f"({each.expression})" for each in (*found.outputs, *found.inputs)]
    return f"{ASSEMBLY}({', '.join([*texts, *operands])})"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


class _Reader:
    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.file = file
        self.tokens = [m for m in _TOKEN.finditer(text) if m["word"] or m["sign"]]
        self.edits: list[tuple[int, int, str]] = []
        self.braces: list[int] = []
        """Token numbers of the open braces."""
        self.partner: dict[int, int] = {}
        """The opening brace of each closing brace."""
        self.groups: dict[int, int] = {}
        """The first token of each attribute, by the token behind it."""
        self.aligned: set[int] = set()
        """The opening braces of structs that are marked as aligned."""

    def read(self) -> str:
        number = 0
        while number < len(self.tokens):
            word = self.tokens[number].group()
            if word == "{":
                self.braces.append(number)
            elif word == "}" and self.braces:
                self.partner[number] = self.braces.pop()
            elif word in _ATTRIBUTES:
                number = self._attribute(number)
                continue
            elif word == "_Pragma" and self._word(number + 1) == "(":
                number = self._pragma(number)
                continue
            elif word in WORDS:
                number = self._assembly(number)
                continue
            number += 1
        return self._edited()

    def _edited(self) -> str:
        parts, position = [], 0
        for start, end, new in sorted(self.edits):
            blank = re.sub(r"[^\n]", " ", self.text[start:end]) if end > start else ""
            parts += [self.text[position:start], new, blank[len(new) :] if "\n" not in blank[: len(new)] else blank]
            position = end
        return "".join([*parts, self.text[position:]])

    def _closing(self, number: int) -> int:
        """The token after the parentheses that open at ``number``."""
        depth = 0
        for index in range(number, len(self.tokens)):
            depth += {"(": 1, ")": -1}.get(self.tokens[index].group(), 0)
            if depth == 0:
                return index + 1
        return len(self.tokens)

    def _word(self, number: int) -> str:
        return self.tokens[number].group() if 0 <= number < len(self.tokens) else ""

    # attributes

    def _attribute(self, number: int) -> int:
        after = self._closing(number + 1) if self._word(number + 1) == "(" else number + 1
        self.groups[after] = number
        names = {self._word(n).strip("_") for n in range(number + 1, after)}
        inside = self.text[self.tokens[number].start() : self.tokens[after - 1].end()]
        if "optimize" in names and _LOOSE.search(inside):
            raise self._refusal("attribute 'optimize'", number)
        for name in sorted(names & _MEANING | (names & _LAYOUT)):
            if name == "packed":
                self._mark(number, after, name, "1")
            elif name == "aligned":
                self._mark(number, after, name, self._aligned_to(number, after))
            elif name == "cleanup":
                self._cleanup(number, after)
            elif name == "mode" and self._in_typedef(number) and (modes := names & _MODES.keys()):
                self._mark_typedef(number, after, str(_MODES[min(modes)]), name)
            else:
                raise self._refusal(f"attribute '{name}'", number)
        self.edits.append((self.tokens[number].start(), self.tokens[after - 1].end(), ""))
        return after

    def _cleanup(self, number: int, after: int) -> None:
        """Write the call at the end of the lifetime of the object that an attribute follows behind its declarator."""
        inside = self.text[self.tokens[number].start() : self.tokens[after - 1].end()]
        function = re.search(r"\bcleanup\s*\(\s*(\w+)\s*\)", inside.replace("__cleanup__", "cleanup"))
        name = re.search(r"([A-Za-z_]\w*)$", self._text_before(number))
        depth, end = 0, after
        while end < len(self.tokens) and (depth or self._word(end) not in (",", ";")):
            depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(self._word(end), 0)
            end += 1
        if not self.braces or function is None or name is None or end == len(self.tokens):
            hint = "it is read behind the name of an object of a block: 'int x __attribute__((cleanup(f)))'"
            raise self._refusal("attribute 'cleanup' in this form", number, hint)
        place = self.tokens[end].start()
        self.edits.append((place, place, f", *{CLEANUP} = {function[1]}(&{name[1]})"))

    def _aligned_to(self, number: int, after: int) -> str:
        """The expression in ``aligned(expression)``."""
        at = [n for n in range(number + 1, after) if self._word(n).strip("_") == "aligned"]
        if len(at) > 1:
            raise self._refusal("attribute 'aligned' twice", number)
        if self._word(at[0] + 1) != "(":
            return str(BIGGEST_ALIGNMENT)
        end = self._closing(at[0] + 1) - 1
        return " ".join(self.text[self.tokens[at[0] + 1].end() : self.tokens[end].start()].split())

    def _mark(self, number: int, after: int, name: str, value: str) -> None:
        """Put a marker to what an attribute belongs to; one of an object has no influence."""
        before = self._before(number)
        word = self._word(before)
        if name == "packed" and (word == "enum" or (word == "}" and self._is_enum(self.partner.get(before)))):
            raise self._refusal("attribute 'packed' on an enumeration", number)
        opening: int | None = None
        if word == "}" and self._is_struct(self.partner.get(before)):
            opening = self.partner[before]
        elif word in ("struct", "union"):
            opening = after
            while self._word(opening) in _ATTRIBUTES:
                opening = self._closing(opening + 1)
            opening += self._word(opening) != "{"
            if self._word(opening) != "{":
                raise self._refusal(f"attribute '{name}' on a struct that is not defined there", number)
        if opening is not None:
            place = self.tokens[opening].end()
            if name == "aligned" and opening in self.aligned:
                raise self._refusal("attribute 'aligned' twice", number)
            self.aligned |= {opening} if name == "aligned" else set()
            self.edits.append((place, place, _marker(value, name)))
        elif self.braces and self._is_struct(self.braces[-1]):
            self._mark_members(number, after, name, value)
        elif name == "aligned" and self._in_typedef(number):
            self._mark_typedef(number, after, value, name)

    def _mark_members(self, number: int, after: int, name: str, value: str) -> None:
        """Mark the member that an attribute follows, or all of the declaration that it stands before."""
        declarators = self._commas(number, -1)
        end, later = self._end(after), self._commas(after, 1)
        if later < 0 or end is None or self._character(number, -1) == "*" or self._word(after) == "(":
            raise self._refusal(f"attribute '{name}' of this form", number)
        behind = self._character(after, 1) in (",", ";", ":", "=", "[", ")")
        every = not behind and declarators == 0
        place = self.tokens[end].end()
        self.edits.append((place, place, _marker(value, name, later + 1, later + 1 if every else 1)))

    def _mark_typedef(self, number: int, after: int, value: str, attribute: str) -> None:
        """Mark the type name that an attribute follows."""
        behind = self._word(after) in (",", ";") or self._word(after) in _ATTRIBUTES
        name = re.search(r"(\w+)\s*(\[[^\[\]]*\]\s*)*$", self._text_before(number))
        end = self._end(after)
        if not behind or self.braces or name is None or end is None or self._character(number, -1) == ")":
            raise self._refusal(f"attribute '{attribute}' on a type in this form", number)
        place = self.tokens[end].end()
        self.edits.append((place, place, _marker(value, attribute, name=name[1])))

    def _before(self, number: int) -> int:
        """The token before one, and before the attributes that stand there."""
        number -= 1
        while number + 1 in self.groups:
            number = self.groups[number + 1] - 1
        return number

    def _character(self, number: int, way: int) -> str:
        """The character before a token or at its start, without the attributes and spaces between."""
        if way < 0:
            return self._text_before(number)[-1:]
        while self._word(number) in _ATTRIBUTES:
            number = self._closing(number + 1)
        start = self.tokens[number - 1].end()
        return self.text[start : start + _NEAR].lstrip()[:1]

    def _text_before(self, number: int) -> str:
        end = self.tokens[self._before(number) + 1].start()
        return self.text[max(end - _NEAR, 0) : end].rstrip()

    def _commas(self, number: int, way: int) -> int:
        """The commas from a token to the start (``way`` -1) or the end of its declaration; -1 if that is not found."""
        depth = found = 0
        number = number - 1 if way < 0 else number
        while 0 <= number < len(self.tokens):
            word = self._word(number)
            if depth == 0 and word == (";" if way > 0 else "{"):
                return found
            if depth == 0 and word == ";":
                return found
            depth += {"(": way, "{": way, ")": -way, "}": -way}.get(word, 0)
            found += depth == 0 and word == ","
            number += way
        return -1

    def _end(self, number: int) -> int | None:
        """The semicolon at the end of the declaration that a token is in."""
        depth = 0
        for index in range(number, len(self.tokens)):
            word = self._word(index)
            if depth == 0 and word == ";":
                return index
            depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(word, 0)
        return None

    def _is_struct(self, opening: int | None) -> bool:
        """Whether a brace opens the members of a struct or union."""
        if opening is None:
            return False
        before = self._before(opening)
        if self._word(before) not in ("struct", "union"):
            before = self._before(before)
        return self._word(before) in ("struct", "union")

    def _is_enum(self, opening: int | None) -> bool:
        return opening is not None and "enum" in (self._word(opening - 1), self._word(opening - 2))

    def _in_typedef(self, number: int) -> bool:
        number -= 1
        while number >= 0 and self._word(number) not in (";", "{", "typedef"):
            number = self.partner.get(number, number) - 1
        return self._word(number) == "typedef"

    # pragmas

    def _pragma(self, number: int) -> int:
        """``_Pragma("..")``: left in place for the packing of structs, else blanked out."""
        after = self._closing(number + 1)
        text = self.text[self.tokens[number + 1].end() : self.tokens[after - 1].start()].strip().strip('"')
        meaning = pragma_meaning(text)
        packs = re.match(r"\s*pack\b", text) is not None
        if meaning or (packs and (self.braces or self._word(number - 1) not in (";", "}", ")", ""))):
            raise self._refusal(meaning or "_Pragma pack inside of a declaration", number)
        if not packs:
            self.edits.append((self.tokens[number].start(), self.tokens[after - 1].end(), ""))
        return after

    # inline assembly

    def _assembly(self, number: int) -> int:
        opening = number + 1
        while self._word(opening) in (*QUALIFIERS, "goto"):
            opening += 1
        if self._word(opening) != "(":
            raise self._refusal("inline assembly", number)
        after = self._closing(opening)
        start, end = self.tokens[number].start(), self.tokens[after - 1].end()
        if (
            self.braces
            and re.match(r"\w", self._character(number, -1))
            and self._word(number - 1) not in ("else", "do")
        ):
            self._register(number, after)
        elif self.braces:
            self.edits.append((start, end, _call(self.text[self.tokens[opening].end() : end - 1])))
        else:  # the name of a declared object or function; or what defines others, which no source defines then
            self.edits.append((start, end, ""))
        return after

    def _register(self, number: int, after: int) -> None:
        """The register that holds an object of a block: without influence on an object that has a value from there on,
        else its value is refused."""
        start, end = self.tokens[number].start(), self.tokens[after - 1].end()
        inside = " ".join(self.text[start:end].split())
        self.edits.append((start, end, "" if self._word(after) == "=" else f'= {ASSEMBLY}("{_escaped(inside)}")'))

    def _refusal(self, construct: str, number: int, hint: str = "") -> UnsupportedConstruct:
        position = self.tokens[number].start()
        markers = [(m.start(), int(m[1]), m[2]) for m in re.finditer(r'^#line (\d+) "(.*)"', self.text, re.M)]
        index = bisect_right([m[0] for m in markers], position) - 1
        if index < 0:
            return UnsupportedConstruct(f"unsupported C construct: {construct}", Location(self.file), hint)
        start, line, file = markers[index]
        line += self.text.count("\n", start, position) - 1
        column = position - self.text.rfind("\n", 0, position)
        return UnsupportedConstruct(f"unsupported C construct: {construct}", Location(file, line, column), hint)

"""What compilers add to C and the parser cannot read: attributes, pragmas, inline assembly; preprocessed text without.

Attributes and pragmas without influence on what a program computes are blanked out. ``packed`` and ``aligned`` inside
or beside a struct become a marker member that makes the struct's layout exact or refused where it is used. Inline
assembly in a function becomes a call of a function that does not exist, so that it is refused only where it is reached.
Lines and columns stay as they are wherever possible.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from bmc.errors import Location, UnsupportedConstruct
from bmc.models.c.source.rewritten import rewritten

PACKED = "chaincover: packed"
ALIGNED = "chaincover: aligned"
ASSEMBLY = "__chaincover_inline_assembly__"

_WORDS = ("__attribute", "asm", "_Pragma")
_TOKEN = re.compile(
    r'#line[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|(?P<word>[A-Za-z_]\w*)|(?P<sign>[{}();,=:])|\d[\w.]*', re.S
)
_ATTRIBUTES = ("__attribute__", "__attribute")
_ASM = ("asm", "__asm", "__asm__")
_LAYOUT = {"packed", "aligned", "mode", "vector_size", "scalar_storage_order", "ms_struct", "gcc_struct"}
_PRAGMAS = {"push_macro", "pop_macro", "scalar_storage_order", "redefine_extname", "weak"}
_LOOSE = re.compile(r"fast|unsafe|finite|associative|reciprocal")
_MEANING = {"cleanup", "constructor", "destructor", "alias", "ifunc", "transparent_union"}


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
    name = f"{found['call']}(x)" if found["call"] else found["word"]
    return (
        f"if '{found[0]}' is a keyword of the target's compiler without influence on values, define it away (for the "
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
            elif word in _ASM:
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
        names = {self._word(n).strip("_") for n in range(number + 1, after)}
        inside = self.text[self.tokens[number].start() : self.tokens[after - 1].end()]
        if "optimize" in names and _LOOSE.search(inside):
            raise self._refusal("attribute 'optimize'", number)
        for name in sorted(names & _MEANING | (names & _LAYOUT)):
            if name in ("packed", "aligned"):
                self._mark(number, name)
            else:
                raise self._refusal(f"attribute '{name}'", number)
        self.edits.append((self.tokens[number].start(), self.tokens[after - 1].end(), ""))
        return after

    def _mark(self, number: int, name: str) -> None:
        """Put a marker into the struct that an attribute belongs to."""
        before = self._word(number - 1)
        opening: int | None = None
        if name == "packed" and (before == "enum" or (before == "}" and self._is_enum(self.partner.get(number - 1)))):
            raise self._refusal("attribute 'packed' on an enumeration", number)
        if before == "}" and self._is_struct(self.partner.get(number - 1)):
            opening = self.partner[number - 1]
        elif before in ("struct", "union"):
            opening = next((n for n in range(number, len(self.tokens)) if self._word(n) == "{"), None)
        elif self.braces and self._is_struct(self.braces[-1]):
            opening = self.braces[-1]
            name = "aligned"
        elif self._in_typedef(number) and name == "aligned":
            raise self._refusal("attribute 'aligned' on a type", number)
        if opening is not None:
            place = self.tokens[opening].end()
            text = PACKED if name == "packed" else ALIGNED
            self.edits.append((place, place, f' _Static_assert(1, "{text}");'))

    def _is_struct(self, opening: int | None) -> bool:
        if opening is None:
            return False
        words = [self._word(n) for n in range(max(0, opening - 12), opening)]
        cut = max((i for i, w in enumerate(words) if w in (";", "{", "}")), default=-1)
        return (any(w in ("struct", "union") for w in words[cut + 1 :]) and words[-1:] != [")"]) or (
            words[-1:] == [")"] and any(w in _ATTRIBUTES for w in words) and "struct" in words[cut + 1 :]
        )

    def _is_enum(self, opening: int | None) -> bool:
        return opening is not None and "enum" in (self._word(opening - 1), self._word(opening - 2))

    def _in_typedef(self, number: int) -> bool:
        while number > 0 and self._word(number - 1) not in (";", "}", "{"):
            number -= 1
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
        while self._word(opening) in ("volatile", "__volatile__", "goto", "inline"):
            opening += 1
        if self._word(opening) != "(":
            raise self._refusal("inline assembly", number)
        after = self._closing(opening)
        start, end = self.tokens[number].start(), self.tokens[after - 1].end()
        if self.braces:
            self.edits.append((start, end, f"{ASSEMBLY}()"))
        elif self._word(number - 1) in (";", "}", ""):
            raise self._refusal("inline assembly outside of a function", number)
        else:  # the assembler name of a declared object or function
            self.edits.append((start, end, ""))
        return after

    def _refusal(self, construct: str, number: int) -> UnsupportedConstruct:
        position = self.tokens[number].start()
        markers = [(m.start(), int(m[1]), m[2]) for m in re.finditer(r'^#line (\d+) "(.*)"', self.text, re.M)]
        index = bisect_right([m[0] for m in markers], position) - 1
        if index < 0:
            return UnsupportedConstruct(f"unsupported C construct: {construct}", Location(self.file))
        start, line, file = markers[index]
        line += self.text.count("\n", start, position) - 1
        column = position - self.text.rfind("\n", 0, position)
        return UnsupportedConstruct(f"unsupported C construct: {construct}", Location(file, line, column))

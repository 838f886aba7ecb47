"""Random macro texts, preprocessed here and by gcc: the results must be the same, token by token."""

from __future__ import annotations

import random
import re
import subprocess
import tempfile
from pathlib import Path

from benchmarks.checks.fuzz.examine import ACCEPTED, AGREE, DIFFER, Input, Kind, Row, refused
from bmc.errors import InputRefused
from bmc.models.c.source.preprocess import Given, preprocess
from bmc.models.c.source.tokens import DIGRAPHS
from bmc.models.c.source.types import DATA_MODELS
from bmc.native.build import compiler_words

TOKEN = re.compile(
    r"""(?:u8|[uUL])?"(?:\\.|[^"\\])*"|[uUL]?'(?:\\.|[^'\\])*'|\.?\d(?:[eEpP][+-]|[\w.])*|[A-Za-z_]\w*
    |%:%:|::|<:|:>|<%|%>|%:|\.\.\.|<<=|>>=|\#\#|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&^|]=|\S""",
    re.X,
)
"""The preprocessing tokens of C11 6.4."""
WORDS = ("a", "b", "x1", "_t", "E", "e", "L", "u", "u8", "int", "p", "U")
NUMBERS = ("0", "1", "7", "42", "0x1f", "1e", "1e+3", "0x1p-2", ".5", "1.", "12ab", "1.2.3", "3u", "0x", "0xE", "1E-")
MARKS = ("+", "-", "*", "<", ">", "<<", ">", "=", "==", "!", "&", "&&", "|", ".", "->", "++", "--", ";", ":", "?", "%")
TEXTS = ('"s"', '"a b"', r'"q\"x"', r'"\n"', "'c'", r"'\''", r"'\\'", '"//"', '"/*"', 'L"w"', "'\"'")
PASTED = (("+", "+"), ("<", "<"), ("-", ">"), ("1", ".5"), ("L", '"w"'), ("1e", "+", "3"), ("<<", "="))
OPERANDS = ("0", "1", "-1", "3u", "0x10", "010", "'a'", r"'\377'", "100L", "1ull", "18446744073709551615u", "unknown")
OPERATORS = ["+", "-", "*", "/", "%", "<<", ">>", "<", ">", "<=", ">=", "==", "!=", "&", "|", "^", "&&", "||"]
NAMES = ("OBJ", "FUN", "TWO", "CAT", "STR", "VAR", "REC", "M", "N", "EMPTY")


class Macros:
    """One random text: ``text`` is its source."""

    def __init__(self, source: random.Random) -> None:
        self.random = source
        self.arities: dict[str, int] = {}
        """Of each macro how many parameters it has: -1 for none, with 100 added for variable arguments."""
        lines = []
        for _ in range(source.randint(2, 14)):
            lines += self._line()
        self.text = "\n".join(lines) + "\n"

    def _chance(self, share: float) -> bool:
        return self.random.random() < share

    def _line(self) -> list[str]:
        kind = self.random.random()
        if kind < 0.45 or not self.arities:
            return [self._define()]
        if kind < 0.5:
            return [f"#undef {self.random.choice(NAMES)}"]
        if kind < 0.65:
            return self._conditional()
        return self._use()

    # definitions

    def _define(self) -> str:
        name = self.random.choice(NAMES)
        again = [f"#undef {name}\n"] if name in self.arities else []
        if self._chance(0.35):
            self.arities[name] = -1
            return "".join([*again, f"#define {name} {self._body((), False)}"])
        names = [*"xyz"][: self.random.randint(0, 3)]
        variable = self._chance(0.3)
        self.arities[name] = len(names) + 100 * variable
        head = ",".join([*names, *(["..."] if variable else [])])
        if self._chance(0.1) and names and variable:  # gcc's named variable arguments
            head, variable = ",".join([*names, "rest..."]), False
            return "".join([*again, f"#define {name}({head}) {self._body((*names, 'rest'), False)}"])
        return "".join([*again, f"#define {name}({head}) {self._body(tuple(names), variable)}"])

    def _body(self, names: tuple[str, ...], variable: bool) -> str:
        parts: list[str] = []
        for _ in range(self.random.randint(0, 6)):
            parts += self._part(names, variable)
        text = self._spaced(parts)
        return text if not self._chance(0.05) else text.replace(" ", " \\\n ", 1)

    def _part(self, names: tuple[str, ...], variable: bool) -> list[str]:
        given = [*names, *(["__VA_ARGS__"] if variable else [])]
        kind = self.random.random()
        if given and kind < 0.12:
            return ["#", self.random.choice(given)]
        if kind < 0.3:
            return self._paste(given)
        if given and kind < 0.55:
            return [self.random.choice(given)]
        if variable and kind < 0.62:
            inner = [self._word(given) for _ in range(self.random.randint(0, 3))]
            return ["__VA_OPT__", "(", *inner, ")"]
        if variable and kind < 0.68:
            return [",", "##", "__VA_ARGS__"]
        if kind < 0.8:
            return self._call(given)
        return [self._word(given)]

    def _paste(self, given: list[str]) -> list[str]:
        pools = [given or ["a"], ["a", "b", "x1", "_t", "E", "OBJ", "L", "u"], ["1", "42", "0x", "1e", "3u"]]
        parts = [self.random.choice(pools[0] if self._chance(0.7) else pools[1])]
        for _ in range(self.random.choice((1, 1, 1, 2))):
            parts += ["##", self.random.choice(pools[self.random.choice((0, 0, 1, 2))])]
        if self._chance(0.15):
            return [word for text in self.random.choice(PASTED) for word in ("##", text)][1:]
        return parts

    def _word(self, given: list[str]) -> str:
        pool = self.random.choice((WORDS, NUMBERS, MARKS, TEXTS, NAMES, NAMES, tuple(given) or WORDS))
        return self.random.choice(pool)

    def _call(self, given: list[str], depth: int = 0) -> list[str]:
        """A use of a macro, most often with as many arguments as it has parameters."""
        name = self.random.choice([*self.arities] or ["OBJ"])
        arity = self.arities.get(name, -1)
        if arity < 0 or self._chance(0.08):
            return [name]
        count = arity % 100 + (self.random.randint(0, 2) if arity >= 100 else 0)
        parts = [name, "("]
        for number in range(max(count, 0)):
            parts += [","] if number else []
            parts += self._argument(given, depth)
        return [*parts, ")"]

    def _argument(self, given: list[str], depth: int) -> list[str]:
        parts: list[str] = []
        for _ in range(self.random.choice((0, 1, 1, 1, 2, 3))):
            kind = self.random.random()
            if kind < 0.25 and depth < 3:
                parts += self._call(given, depth + 1)
            elif kind < 0.32:
                parts += ["(", self._word(given), ",", self._word(given), ")"]
            else:
                parts += [self._word(given)]
        return parts

    def _spaced(self, parts: list[str]) -> str:
        """The tokens in a row, with blanks where they would run into one another, and now and then elsewhere."""
        text = ""
        for part in parts:
            whole = TOKEN.findall(text + part)
            runs = bool(text) and whole[-1:] != [part]
            text += (self.random.choice((" ", "  ", "/**/", "\t")) if runs or self._chance(0.3) else "") + part
            if TOKEN.findall(text)[-1:] != [part]:
                text = text[: -len(part)] + " " + part
        return text

    # uses

    def _use(self) -> list[str]:
        parts: list[str] = []
        for _ in range(self.random.randint(1, 5)):
            parts += self._call([]) if self._chance(0.6) else [self._word([])]
        text = self._spaced(parts)
        if self._chance(0.15) and "(" in text:  # a call over several lines
            text = text.replace("(", "\n(" if self._chance(0.5) else "(\n", 1)
        return [f"<{self.random.randint(0, 99)}> {text} ;"]

    def _conditional(self) -> list[str]:
        head = self.random.choice((
            f"#if {self._condition()}", f"#if {self._condition()}", f"#ifdef {self.random.choice(NAMES)}",
            f"#ifndef {self.random.choice(NAMES)}", f"#if defined {self.random.choice(NAMES)}",
        ))  # fmt: skip
        lines = [head, f"one {self._word([])} ;"]
        if self._chance(0.4):
            lines += [f"#elif {self._condition()}", "two ;"]
        if self._chance(0.5):
            lines += ["#else", "three ;"]
        return [*lines, "#endif"]

    def _condition(self, depth: int = 0) -> str:
        kind = self.random.random()
        if depth > 2 or kind < 0.4:
            name = self.random.choice(NAMES)
            return self.random.choice((*OPERANDS, name, f"defined({name})", "true", "0x7fffffffffffffff"))
        if kind < 0.5:
            return f"{self.random.choice('!-~+')}{self._condition(3)}"
        if kind < 0.6:
            three = [self._condition(depth + 1) for _ in range(3)]
            return f"({three[0]} ? {three[1]} : {three[2]})"
        operator = self.random.choice(OPERATORS)
        return f"({self._condition(depth + 1)} {operator} {self._condition(depth + 1)})"


def _draw(source: random.Random) -> Input:
    return {"text": Macros(source).text}


def by_compiler(file: Path) -> list[str] | None:
    """The tokens of gcc's preprocessor; None where it refuses the text."""
    command = [*compiler_words(), "-E", "-P", "-w", "-std=gnu11", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return None if done.returncode else TOKEN.findall(done.stdout)


def _judge(data: Input) -> Row:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "macros.c"
        file.write_text(data["text"])
        theirs = by_compiler(file)
        try:
            text = preprocess(str(file), Given(), DATA_MODELS["lp64"]).text
        except InputRefused as error:
            return refused(error) if theirs is not None else Row(AGREE, "refused by both", steps=0)
    theirs = theirs and [DIGRAPHS.get(token, token) for token in theirs]
    ours = TOKEN.findall(re.sub(r"^#line .*$", "", text, flags=re.M))
    if theirs is None:
        return Row(ACCEPTED, "the compiler refuses it")
    if ours == theirs or "".join(ours) == "".join(theirs):  # gcc writes a##b 0x1p-2 as ab0x1p-2
        return Row(AGREE, steps=len(ours))
    at = next((n for n, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), min(len(ours), len(theirs)))
    return Row(DIFFER, f"token {at}: {' '.join(ours[at : at + 6])!r} here, {' '.join(theirs[at : at + 6])!r} by gcc")


MACROS = Kind("macros", _draw, _judge)

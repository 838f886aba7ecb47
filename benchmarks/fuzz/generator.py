"""Random whole controllers in the supported subset of C, for comparing the model with the compiled original."""

from __future__ import annotations

import random
from collections.abc import Callable

from benchmarks.fuzz.reals import FLOAT_HEAD, Reals

TYPES = {
    "signed char": (8, True),
    "unsigned char": (8, False),
    "char": (8, True),
    "short": (16, True),
    "unsigned short": (16, False),
    "int": (32, True),
    "unsigned": (32, False),
    "long": (64, True),
    "unsigned long": (64, False),
    "long long": (64, True),
    "unsigned long long int": (64, False),
    "_Bool": (8, False),
    "t_mode": (32, False),
    "t_level": (32, True),
    "u8": (8, False),
    "i16": (16, True),
}
NARROW = ["signed char", "unsigned char", "char", "short", "unsigned short", "u8", "i16", "_Bool"]
CONSTANTS = [
    "0", "1", "2", "3", "7", "10", "-1", "-5", "0x7f", "0xFF", "0200", "255u", "1U", "3L", "5ul", "9LL", "0xFULL",
    "'a'", r"'\n'", r"'\xff'", r"'\0'", r"'\''", "32767", "-32768", "65535", "2147483647", "0x80000000", "4294967295",
    "2147483648", "-2147483647 - 1", "0xFFFFFFFFFFFFFFFF", "9223372036854775807", "1000000007u", "ON", "LOW", "HIGH",
    "MODE_MAX", "sizeof(int)", "sizeof(struct pair)", "sizeof s->pair.b", "sizeof(t_state)", "(-7)", "~0", "~0u",
]  # fmt: skip
HEAD = """\
#include <stdint.h>
#include <string.h>
#define MODE_MAX 3
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define SET(x, v) do { (x) = (v); } while (0)
typedef unsigned char u8;
typedef short int i16;
typedef enum { OFF, ON = 4, DIS } t_mode;
typedef enum level { LOW = -2, MID, HIGH = 100 } t_level;
struct pair { signed char a; unsigned long b; i16 c; };
struct nest { u8 tag; struct pair pair; unsigned short row[3]; };
"""


class Program(Reals):
    """One random program; ``text`` is its source. ``floating``: it computes with float and double too."""

    def __init__(self, source: random.Random, size: int = 12, floating: bool = False) -> None:
        super().__init__(source)
        self.floating = floating
        self.size = size
        self.reads: list[str] = []
        self.writes: list[tuple[str, str]] = []
        self.scratch: list[str] = []
        self.helpers: list[Callable[[int], str]] = []
        self.loops = 0
        self.switches = 0
        self.value_result = False
        self.text = self._program()

    def type(self) -> str:
        return str(self.pick(list(TYPES)))

    # expressions

    def constant(self) -> str:
        text = str(self.pick(CONSTANTS))
        return f"({text})" if " " in text or text[0] == "-" else text

    def atom(self) -> str:
        if self.reads and self.chance(0.7):
            return str(self.pick(self.reads))
        return self.constant()

    def small(self, depth: int) -> str:
        """An expression that is unlikely to overflow what it goes into."""
        how = self.random.randrange(5)
        inner = self.expression(depth - 1)
        if how == 0:
            return f"({self.pick(NARROW)})({inner})"
        if how == 1:
            return f"(({inner}) % {self.random.randint(2, 900)})"
        if how == 2:
            return f"(({inner}) & {self.pick(['0xFF', '0x3Fu', '1023L', '127'])})"
        if how == 3:
            return f"(unsigned{self.pick(['', ' long', ' char'])})({inner})"
        return f"(({inner}) >> {self.random.randint(1, 7)})"

    def operand(self, depth: int) -> str:
        return self.small(depth) if self.chance(0.75) else f"({self.expression(depth - 1)})"

    def expression(self, depth: int) -> str:
        if depth <= 0 or self.chance(0.12):
            return self.atom()
        if self.real_reads and self.chance(0.25):
            return self.from_real(depth)
        kind = self.random.randrange(15)
        if kind <= 3:
            return f"{self.operand(depth)} {self.pick(['+', '-', '*', '+', '-'])} {self.operand(depth)}"
        if kind == 4:
            divisor = self.expression(depth - 1)
            divisor = f"(({divisor}) | 1)" if self.chance(0.85) else f"({divisor})"
            return f"({self.expression(depth - 1)}) {self.pick(['/', '%'])} {divisor}"
        if kind == 5:
            amount = self.expression(depth - 1)
            amount = f"(({amount}) & {self.pick(['7', '3u', '15'])})" if self.chance(0.9) else f"({amount})"
            left = self.expression(depth - 1)
            if self.chance(0.5):
                return f"({left}) >> {amount}"
            return f"({self.pick(['unsigned', 'u8', 'unsigned long', 'unsigned char'])})({left}) << {amount}"
        if kind == 6:
            return f"({self.expression(depth - 1)}) {self.pick(['&', '|', '^'])} ({self.expression(depth - 1)})"
        if kind <= 8:
            return self.condition(depth)
        if kind == 9:
            sides = [self.expression(depth - 1) for _ in range(3)]
            return f"(({sides[0]}) ? ({sides[1]}) : ({sides[2]}))"
        if kind == 10:
            return f"({self.type()})({self.expression(depth - 1)})"
        if kind == 11:
            operator = str(self.pick(["-", "~", "!", "+", "~"]))
            return f"{operator}{self.small(depth) if operator == '-' else self.bracketed(depth)}"
        if kind == 12 and self.scratch:
            return self.effect(depth)
        if kind == 13 and self.helpers:
            helper: Callable[[int], str] = self.pick(self.helpers)
            return helper(depth)
        return f"MIN({self.atom()}, {self.atom()})"

    def bracketed(self, depth: int) -> str:
        return f"({self.expression(depth - 1)})"

    def effect(self, depth: int) -> str:
        """An expression that changes a scratch variable, used once in a full expression."""
        name = self.scratch.pop(self.random.randrange(len(self.scratch)))
        kind = self.random.randrange(4)
        if kind == 0:
            return f"{name}++" if self.chance(0.5) else f"--{name}"
        if kind == 1:
            return f"({name} = {self.expression(depth - 1)})"
        if kind == 2:
            return f"({name} {self.pick(['+=', '^=', '|='])} {self.small(depth)})"
        return f"({name} = {self.expression(depth - 1)}, {name})"

    def condition(self, depth: int) -> str:
        if self.chance(0.6):
            sign = self.pick(["==", "!=", "<", ">", "<=", ">="])
            return f"(({self.expression(depth - 1)}) {sign} ({self.expression(depth - 1)}))"
        return f"(({self.expression(depth - 1)}) {self.pick(['&&', '||'])} ({self.expression(depth - 1)}))"

    def full(self, depth: int = 3) -> str:
        """A full expression: every scratch variable is changed at most once."""
        saved = list(self.scratch)
        self.random.shuffle(self.scratch)
        text = self.expression(depth)
        self.scratch[:] = saved
        return text

    # statements

    def block(self, depth: int, count: int) -> str:
        scopes = (self.reads, self.writes, self.real_reads, self.real_writes)
        lengths = [len(names) for names in scopes]
        lines = [self.statement(depth) for _ in range(count)]
        for names, length in zip(scopes, lengths, strict=True):
            del names[length:]  # type: ignore[attr-defined]
        return "{ " + "\n".join(lines) + " }"

    def assignment(self) -> str:
        target, _ = self.pick(self.writes)
        kind = self.random.randrange(8)
        if kind == 0:
            return f"{target}{self.pick(['++', '--'])};"
        if kind == 1:
            return f"{self.pick(['++', '--'])}{target};"
        if kind <= 3:
            operator = str(self.pick(["+=", "-=", "*=", "&=", "|=", "^=", "/=", "%=", "<<=", ">>="]))
            value = self.full(2)
            if operator in ("/=", "%="):
                value = f"({value}) | 1"
            elif operator in ("<<=", ">>="):
                value = f"({value}) & 7"
            elif operator in ("+=", "-=", "*="):
                value = self.small(2) if not self.scratch else f"(u8)({value})"
            return f"{target} {operator} {value};"
        return f"{target} = {self.full()};"

    def statement(self, depth: int) -> str:
        if self.real_writes and self.chance(0.35):
            return self.real_statement()
        kinds = [self.assignment] * 5 + [self.declaration] * 2 + [self.copy, self.pointer, self.call, self.leave]
        if depth > 0:
            kinds += [lambda: self.branch(depth)] * 4 + [lambda: self.switch(depth)] * 2
            kinds += [lambda: self.loop(depth)] * 2 + [lambda: self.block(depth - 1, 2)]
        return self.pick(kinds)()

    def leave(self) -> str:
        options = ["return" + (f" {self.full(1)}" if self.value_result else "") + ";"]
        if self.loops:
            options += ["break;", "continue;"] * 3
        elif self.switches:
            options = ["break;"]
        return f"if ({self.full(2)}) {self.pick(options)}" if self.chance(0.7) else self.assignment()

    def declaration(self) -> str:
        ctype, name = self.type(), self.fresh("v")
        kind = self.random.randrange(6)
        if kind == 0:
            text = f"static {ctype} {name} = {self.pick(['1', '0', '-1', '200', 'ON'])};"
        elif kind == 1:
            text = f"{ctype} {name}; if ({self.full(2)}) {name} = {self.full(2)}; else {name} = 1;"
            if self.chance(0.2):
                text = text[: text.rindex("else")]
        elif kind == 2:
            values = ", ".join(self.full(1) for _ in range(self.random.randint(1, 3)))
            text = f"{ctype} {name}[4] = {{{values}}};"
            index = f"{name}[({self.atom()}) & 3]" if self.chance(0.8) else f"{name}[{self.atom()}]"
            self.reads += [index, f"{name}[2]"]
            self.writes.append((index, ctype))
            return text
        elif kind == 3:
            text = f"struct pair {name} = {{.b = {self.full(1)}, .c = {self.full(1)}}};"
            self.reads += [f"{name}.a", f"{name}.b"]
            self.writes += [(f"{name}.a", "signed char"), (f"{name}.c", "i16")]
            return text
        else:
            text = f"{ctype} {name} = {self.full(2)};"
        self.reads.append(name)
        self.writes.append((name, ctype))
        return text

    def copy(self) -> str:
        name = self.fresh("c")
        return str(
            self.pick(
                [
                    "s->pair = g_pair;",
                    "g_pair = s->nest[1].pair;",
                    f"s->nest[{self.index(2)}] = s->nest[{self.random.randrange(2)}];",
                    "memset(&s->pair, 0, sizeof s->pair);",
                    "memset(s->row, 0xFF, sizeof(s->row));",
                    "memcpy(&g_pair, &s->nest[0].pair, sizeof(struct pair));",
                    f"{{ struct nest {name} = s->nest[0]; {name}.pair.a = 3; s->nest[1] = {name}; }}",
                    f"s->pair = make({self.full(1)}, g_pair);",
                    f"SET(s->pair.c, {self.full(1)});",
                    f"s->pair = ({self.full(1)}) ? g_pair : s->nest[0].pair;",
                ]
            )
        )

    def index(self, length: int) -> str:
        if self.chance(0.85):
            return f"({self.atom()}) & {length - 1}"
        return self.atom()

    def pointer(self) -> str:
        name = self.fresh("p")
        targets = ["&s->pair", "&g_pair", f"&s->nest[{self.index(2)}].pair", "&s->nest[1].pair"]
        first, second = self.pick(targets), self.pick(targets)
        text = f"struct pair *{name} = ({self.full(1)}) ? {first} : {second};"
        self.reads += [f"{name}->b", f"(*{name}).a"]
        self.writes += [(f"{name}->c", "i16"), (f"{name}->b", "unsigned long")]
        return text

    def call(self) -> str:
        target, ctype = self.pick(self.writes)
        simple = [name for name in ("g_i", "s->x32", "s->u32") if self.chance(0.9)] or ["g_i"]
        choice = self.pick(simple)
        return str(
            self.pick(
                [
                    f"{target} = (({ctype})bump(&{'s->x32' if choice == 's->u32' else choice}, {self.full(1)}));",
                    f"fill(s->row, {self.full(1)});",
                    f"{target} = sum(table, 4) + sum(s->row, 3);",
                    "tick();",
                ]
            )
        )

    def branch(self, depth: int) -> str:
        text = f"if ({self.full(3)}) {self.block(depth - 1, self.random.randint(1, 2))}"
        while self.chance(0.35):
            text += f" else if ({self.full(2)}) {self.block(depth - 1, 1)}"
        return text + (f" else {self.block(depth - 1, 1)}" if self.chance(0.5) else "")

    def switch(self, depth: int) -> str:
        labels = ["0", "1", "ON", "-2", "'a'", "5u", "255", "HIGH", "-1L"]
        self.random.shuffle(labels)
        body: list[str] = []
        default_at = self.random.randrange(6)
        self.switches += 1
        loops, self.loops = self.loops, 0
        for number, label in enumerate(labels[: self.random.randint(1, 5)]):
            if number == default_at:
                body.append(f"default: {self.block(depth - 1, 1)}" + (" break;" if self.chance(0.5) else ""))
            body.append(f"case {label}:")
            if self.chance(0.8):
                body.append(self.block(depth - 1, 1))
            if self.chance(0.6):
                body.append("break;")
            elif loops and self.chance(0.3):
                body.append("continue;")
        self.switches -= 1
        self.loops = loops
        return f"switch ({self.full(2)}) {{ " + "\n".join(body) + " ; }"

    def loop(self, depth: int) -> str:
        name, bound = self.fresh("k"), self.random.randint(1, 4)
        self.loops += 1
        switches, self.switches = self.switches, 0
        self.reads.append(name)
        kind = self.random.randrange(4)
        if kind == 0:
            ctype = self.pick(["int", "u8", "unsigned long", "signed char"])
            text = f"for ({ctype} {name} = 0; {name} < {bound}; {name}++) {self.block(depth - 1, 2)}"
        elif kind == 1:
            text = f"{{ int {name} = {bound}; while ({name}-- > 0) {self.block(depth - 1, 2)} }}"
        elif kind == 2:
            text = f"{{ int {name} = 0; do {self.block(depth - 1, 2)} while (++{name} < {bound}); }}"
        else:
            guard = f"{name} < {bound} && ({self.full(1)})"
            text = f"{{ unsigned {name}; for ({name} = 0; {guard}; {name} += 1) {self.block(depth - 1, 1)} }}"
        self.reads.remove(name)
        self.loops -= 1
        self.switches = switches
        return text

    # the program

    def _program(self) -> str:
        inputs = {f"i{n}": self.type() for n in range(4)}
        fields = {f"f{n}": self.type() for n in range(5)}
        parts = [HEAD, FLOAT_HEAD if self.floating else ""]
        given = "".join(f"{t} {n}; " for n, t in inputs.items()) + ("double x0; float x1; " if self.floating else "")
        parts.append(f"typedef struct {{ {given}}} t_input;")
        members = "".join(f"{t} {n}; " for n, t in fields.items())
        members += "int x32; unsigned u32; struct pair pair; struct nest nest[2]; unsigned short row[3]; t_mode mode;"
        members += " double d0, d1; float r0, r1; struct reals reals;" if self.floating else ""
        parts.append(f"typedef struct state {{ {members} }} t_state;")
        parts.append(
            "static struct pair g_pair = {1, 2}; int g_i = 5; unsigned char g_u; long g_l = -1; _Bool g_b = 1;"
        )
        table = ", ".join(str(self.random.randint(0, 65535)) for _ in range(4))
        parts.append(f"static const unsigned short table[4] = {{{table}}};")
        parts.append(
            "static int bump(int *where, long by) { if (by > 100) return -1; *where ^= (int)by; return *where & 7; }\n"
            "static void fill(unsigned short row[3], int v) { for (int i = 0; i < 3; i++) row[i] = v + i * 3u; }\n"
            "static unsigned sum(const unsigned short *row, int n) { unsigned r = 0; int i;\n"
            "  for (i = 0; i < n; ++i) { if (row[i] == 7) continue; r += row[i]; } return r; }\n"
            "static struct pair make(long v, struct pair old) { struct pair p; p.a = v; p.b = old.b + v; p.c = old.a;\n"
            "  return p; }\n"
            "void tick(void) { static unsigned char n; g_u += ++n; if (n > 3) n = 0; }"
        )
        parts += [self._helper(n) for n in range(2)]
        parts.append(self._init(fields))
        parts.append(self._step(inputs, fields))
        return "\n".join(parts) + "\n"

    def _helper(self, number: int) -> str:
        """A pure function of scalars."""
        types = [self.type() for _ in range(self.random.randint(1, 3))]
        result = self.type()
        self.reads = ["a0", *[f"a{n}" for n in range(1, len(types))], "table[a0 & 3]"]
        self.writes = [(f"a{n}", t) for n, t in enumerate(types)]
        self.scratch, self.value_result = [], True
        body = f"if ({self.full(2)}) return {self.full(2)}; {self._plain(2)} return {self.full(3)};"
        self.value_result = False
        parameters = ", ".join(f"{t} a{n}" for n, t in enumerate(types))
        self.helpers.append(
            lambda depth: f"help{number}({', '.join(self.expression(min(depth - 1, 1)) for _ in types)})"
        )
        return f"static {result} help{number}({parameters}) {{ {body} }}".replace("s->pair.b", "g_pair.b").replace(
            "t_state)", "struct pair)"
        )

    def _plain(self, count: int) -> str:
        return " ".join(f"{self.pick(self.writes)[0]} = {self.full(2)};" for _ in range(count))

    def _init(self, fields: dict[str, str]) -> str:
        lines = ["memset(s, 0, sizeof *s);"] if self.chance(0.8) else []
        lines += [f"s->{name} = {self.random.randint(-3, 5)};" for name in fields if self.chance(0.5)]
        lines += ["s->nest[1].row[2] = 77; s->pair = g_pair; s->x32 = -3;"]
        return f"void init(t_state *s) {{ {' '.join(lines)} }}"

    def _step(self, inputs: dict[str, str], fields: dict[str, str]) -> str:
        self.reads = [f"i->{n}" for n in inputs] * 2 + [f"s->{n}" for n in fields]
        self.reads += ["s->mode", "s->pair.a", "s->pair.b", "s->nest[0].pair.c", "s->nest[s->f0 & 1].tag", "g_i", "g_l"]
        self.reads += ["s->row[1]", "s->row[(i->i0 & 3) % 3]", "table[i->i1 & 3]", "g_u", "g_b", "s->x32", "s->u32"]
        self.reads += ["s->nest[i->i2 & 1].row[(s->f1 & 7) % 3]"]
        if self.chance(0.3):
            self.reads += ["table[i->i3]"]
        self.writes = [(f"s->{n}", t) for n, t in fields.items()]
        self.writes += [("s->mode", "t_mode"), ("g_i", "int"), ("g_u", "u8"), ("g_l", "long"), ("g_b", "_Bool")]
        self.writes += [("s->nest[i->i0 & 1].pair.c", "i16"), ("s->row[(i->i1 & 7) % 3]", "unsigned short")]
        self.writes += [("s->nest[1].tag", "u8"), ("s->x32", "int"), ("s->u32", "unsigned")]
        if self.floating:
            self.real_writes = [("s->d0", "double"), ("s->d1", "double"), ("s->r0", "float"), ("s->r1", "float")]
            self.real_writes += [("s->reals.a", "float"), ("s->reals.b", "double")]
            self.real_reads = [name for name, _ in self.real_writes] + ["i->x0", "i->x1"] * 2
            self.real_reads += ["g_reals.a", "g_reals.b", "curve[i->i1 & 3]"]
        self.scratch = ["e0", "e1", "e2"]
        types = [self.type() for _ in self.scratch]
        declared = " ".join(f"{t} {n} = 1;" for t, n in zip(types, self.scratch, strict=True))
        lines = []
        for _ in range(self.size):
            lines.append(self.statement(3))
            if self.chance(0.2):
                lines.append(f"s->f{self.random.randrange(5)} ^= e{self.random.randrange(3)};")
        lines.append("s->f0 += e0; s->f1 = e1; s->f2 ^= e2;")
        return f"void compute(t_input *i, t_state *s) {{ {declared}\n" + "\n".join(lines) + "\n}"

"""Random uses of what gcc adds to C, of C11's ``_Generic``, of strings, and of functions without prototypes."""

from __future__ import annotations

import random

from benchmarks.checks.fuzz.expressions import TYPES
from benchmarks.checks.fuzz.statements import Statements

GNU_HEAD = """\
#include <stdlib.h>
#define BIGGER(a, b) ({ __typeof__(a) a_ = (a); __typeof__(b) b_ = (b); a_ > b_ ? a_ : b_; })
#define TURNED(a) ({ __auto_type t_ = (a); for (int k_ = 0; k_ < 3; k_++) { if (t_ & 1) continue; t_ ^= k_; } t_; })
enum wide { WIDE = 0x180000000, NARROW = 7 };
enum deep { DEEP = -0x90000000, SHALLOW };
static char txt[6] = "ab"; static char key[4]; static signed char cell[5] = {[1 ... 3] = 9};
static int kr(a, b, c) u8 a; long b; i16 c; { a += c; return a ^ (int)(b & 1023); }
static long plain();
static long plain(unsigned a, int b) { return a / 3 - b % 5; }
"""
GNU_TAIL = """
int late(int a, long b) { return (a & 255) - (int)(b & 63); }
"""
ONES = ("popcount", "parity", "ffs", "clrsb")
SELECTED = ("int", "unsigned", "long", "unsigned long", "long long", "char", "signed char", "u8", "short", "_Bool")
OWN = ("signed char", "u8", "short", "int", "unsigned", "long", "unsigned long")


class GnuStatements(Statements):
    """Statements and expressions, with extensions of gcc among them where ``gnu`` says so."""

    def __init__(self, source: random.Random) -> None:
        super().__init__(source)
        self.gnu = False
        self.copied = 0
        """Macros around this place that write their arguments twice: no label may stand there."""

    def expression(self, depth: int) -> str:
        if not self.gnu or depth <= 0 or self.chance(0.8):
            return super().expression(depth)
        kinds = [self.selected, self.counted, self.called, self.string, self.typed, self.valued, self.valued]
        return str(self.pick(kinds)(depth))

    def statement(self, depth: int) -> str:
        if not self.gnu or self.chance(0.7):
            return super().statement(depth)
        return str(self.pick([self.overflowing, self.deduced, self.ranged, self.written, self.blocks])(depth))

    # expressions

    def inner(self, depth: int) -> str:
        return f"({self.expression(depth - 1)})"

    def selected(self, depth: int) -> str:
        kind = self.random.randrange(5)
        if kind == 4:
            called = f"_Generic({self.inner(depth)}, long: labs, long long: llabs, default: abs)"
            return f"{called}({self.small(depth)})"
        if kind == 0:
            return f"({self.inner(depth)} ?: {self.inner(depth)})"
        if kind == 1:
            picked = self.random.sample(SELECTED, self.random.randint(1, 3))
            pairs = [f"{ctype}: {self.inner(depth)}" for ctype in picked] + [f"default: {self.inner(depth)}"]
            self.random.shuffle(pairs)
            return f"_Generic({self.inner(depth)}, {', '.join(pairs)})"
        if kind == 2:
            return f"__builtin_choose_expr({self.constant()} > 5, {self.inner(depth)}, {self.inner(depth)})"
        return f"__builtin_types_compatible_p({self.type()}, __typeof__({self.atom()}))"

    def counted(self, depth: int) -> str:
        suffix = self.pick(["", "l", "ll"])
        kind = self.random.randrange(5)
        if kind == 0:
            return f"__builtin_{self.pick(['clz', 'ctz'])}{suffix}({self.inner(depth)} | 1)"
        if kind == 1:
            return f"__builtin_bswap{self.pick(['16', '32', '64'])}({self.inner(depth)})"
        if kind == 2:
            operation, ctype = self.pick(["add", "sub", "mul"]), self.pick(list(TYPES))
            if ctype in ("_Bool", "t_mode", "t_level"):
                ctype = "short"
            return f"__builtin_{operation}_overflow_p({self.inner(depth)}, {self.inner(depth)}, ({ctype})0)"
        return f"__builtin_{self.pick(ONES)}{suffix}({self.inner(depth)})"

    def called(self, depth: int) -> str:
        kind = self.random.randrange(7)
        if kind == 0:
            return f"{self.pick(['', 'l', 'll'])}abs({self.small(depth)})"
        if kind == 1:
            name, part = self.pick(["div", "ldiv", "lldiv"]), self.pick(["quot", "rem"])
            return f"{name}({self.inner(depth)}, {self.inner(depth)} | 1).{part}"
        if kind == 2:
            return f"kr((u8){self.inner(depth)}, (long){self.inner(depth)}, (i16){self.inner(depth)})"
        if kind == 3:
            return f"plain((unsigned){self.inner(depth)}, (int){self.inner(depth)})"
        if kind == 4:
            return f"late((int){self.inner(depth)}, (long){self.inner(depth)})"
        if kind == 5:
            return f"({self.inner(depth)} & 3)[table]"
        return str(self.pick(["WIDE", "NARROW", "DEEP", "SHALLOW", "cell[3]"]))

    def string(self, depth: int) -> str:
        name, size = self.fresh("t"), self.random.randint(2, 6)
        source = self.pick(["txt", "key", '"ab"', '"b\\\\x81"'.replace("\\\\", "\\"), '""'])
        length = self.pick([str(size), f"({self.inner(depth)} & {size - 1})"])
        length = (
            length if source == '""' or source[0] == '"' else f"sizeof {source} < {size} ? sizeof {source} : {length}"
        )
        copy = f"char {name}[{size}] = {{0}}; strncpy({name}, {source}, {length}); {name}[{size - 1}] = 0;"
        other = self.pick(['"ab"', '"abc"', '"b"'])
        results = [f"strlen({name});", f"strcmp({name}, {other}) {self.pick(['<', '>', '==', '!=', '>=', '<='])} 0;"]
        results += [f"!strncmp({name}, {other}, {self.inner(depth)} & 3);", f"memchr({name}, 'b', {size}) != 0;"]
        results += [f"{{ char *p_ = memchr({name}, {self.inner(depth)} & 127, {size}); if (p_) *p_ = 7; }} {name}[0];"]
        return f"({{ {copy} {self.pick(results)} }})"

    def typed(self, depth: int) -> str:
        kind = self.random.randrange(3)
        if kind == 0:
            return f"(__typeof__({self.atom()})){self.inner(depth)}"
        if kind == 1:
            return f"sizeof(typeof({self.inner(depth)}))"
        self.copied += 1
        text = f"BIGGER({self.inner(depth)}, {self.inner(depth)})"
        self.copied -= 1
        return text

    def valued(self, depth: int) -> str:
        """A statement expression with an object of its own."""
        name, ctype = self.fresh("y"), self.pick(OWN)
        turned = self.chance(0.2)
        self.copied += turned
        start = self.inner(depth)
        self.copied -= turned
        if turned:
            return f"TURNED({start})"
        self.reads.append(name)
        body = [self.inside(name, depth) for _ in range(self.random.randint(0, 3))]
        result = self.expression(depth - 1) if self.chance(0.5) else name
        self.reads.remove(name)
        return f"({{ {ctype} {name} = {start}; {' '.join(body)} {result}; }})"

    def inside(self, name: str, depth: int) -> str:
        """A statement that changes an object of a statement expression."""
        change = f"{name} {self.pick(['=', '^=', '|=', '&='])} {self.inner(depth)};"
        kind = self.random.randrange(6)
        if kind == 0:
            return f"if ({self.inner(depth)}) {{ {change} }} else {name} ^= 1;"
        if kind == 1:
            count = self.fresh("z")
            leave = self.pick(["break;", "continue;", f"{name} ^= {count};"])
            return f"for (int {count} = 0; {count} < 3; {count}++) {{ if ({self.inner(depth)}) {leave} {change} }}"
        if kind == 2:
            return f"switch ({name}) {{ case 0 ... 9: {change} break; default: {name} ^= 3; }}"
        if kind == 3 and not self.copied:
            label = self.fresh("g")
            return f"if ({self.inner(depth)}) goto {label}; {change} {label}: ;"
        return change

    # statements

    def overflowing(self, depth: int) -> str:
        name = self.fresh("o")
        if self.chance(0.5):
            letter, ctype = self.pick(["s", "u"]), self.pick(["int", "long", "long long"])
            suffix = {"int": "", "long": "l", "long long": "ll"}[ctype]
            ctype, call = f"{'unsigned ' * (letter == 'u')}{ctype}", f"__builtin_{letter}{{}}{suffix}_overflow"
        else:
            ctype, call = self.pick(OWN), "__builtin_{}_overflow"
        call = call.format(self.pick(["add", "sub", "mul"]))
        text = f"{ctype} {name}; if ({call}({self.inner(2)}, {self.inner(2)}, &{name})) {name} ^= 1;"
        self.reads.append(name)
        self.writes.append((name, ctype))
        return text

    def deduced(self, depth: int) -> str:
        name = self.fresh("q")
        how = self.pick(["__auto_type", f"__typeof__({self.atom()})", f"typeof({self.atom()}) volatile"])
        text = f"{how} {name} = {self.full(2)};"
        self.reads.append(name)
        return text

    def ranged(self, depth: int) -> str:
        name, first = self.fresh("d"), self.random.randint(0, 2)
        values = ", ".join(
            f"[{first} ... {first + self.random.randint(0, 2)}] = {self.random.randint(-9, 9)}" for _ in "ab"
        )
        array = f"{self.pick(OWN)} {name}[8] = {{{values}, 5}};"
        target, _ = self.pick(self.writes)
        low = self.random.randint(-9, 9)
        cases = f"case {low} ... {low + 6}: {target} = {self.full(2)}; break; case {low + 9} ... 0x7fff: {target} ^= 1;"
        self.reads += [f"{name}[{self.random.randint(0, 4)}]", f"{name}[({self.atom()}) & 7]"]
        return f"{array} switch ({self.full(2)}) {{ {cases} case -20: ; default: {target} |= 3; }}"

    def written(self, depth: int) -> str:
        texts = ['strcpy(txt, "abcde");', "txt[5] = 0; key[3] = 0; strcpy(txt, key);", 'strncpy(key, "xyz", 3);']
        texts += [f'strncpy(txt, "qr", ({self.inner(1)}) & 3);', f"txt[({self.atom()}) & 3] = {self.inner(1)};"]
        texts += [f'key[3] = 0; if (strcmp(key, txt[5] ? "x" : txt) > 0) key[0] = {self.inner(1)};']
        return str(self.pick(texts))

    def blocks(self, depth: int) -> str:
        """A statement expression as a condition, or with a declaration of a function in a block."""
        if self.chance(0.5):
            return f"if ({self.valued(2)} > 3) {self.block(0, 1)}"
        target, ctype = self.pick(self.writes)
        return f"{{ int late(int, long); {target} = ({ctype})late({self.inner(1)} & 7, {self.inner(1)}); }}"

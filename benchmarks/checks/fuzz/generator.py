"""Random whole controllers in the supported subset of C, for comparing the model with the compiled original."""

from __future__ import annotations

import random

from benchmarks.checks.fuzz import idioms as idiom_texts
from benchmarks.checks.fuzz.gnu import GNU_HEAD, GNU_TAIL, GnuStatements
from benchmarks.checks.fuzz.mathematics import MATH_HEAD, MATH_MEMBERS, Mathematics
from benchmarks.checks.fuzz.overlays import Overlays
from benchmarks.checks.fuzz.pointers import MEMBERS, TYPES
from benchmarks.checks.fuzz.reals import FLOAT_HEAD
from benchmarks.checks.fuzz.turns import TURN_HEAD, TURN_MEMBERS, TURN_START, Turns

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


class Program(GnuStatements, Mathematics, Overlays, Turns):
    """One random program; ``text`` is its source. ``floating``: it computes with float and double too. ``jumps``: it
    has labels, and jumps to them. ``gnu``: it uses extensions of gcc, strings, and functions without prototypes.
    ``overlaid``: it has bit-fields and unions. ``pointers``: it has pointers to functions, and pointers that change.
    ``idioms``: it has structs that begin with others, and what else ``idioms.py`` has. ``mathematics``: it calls
    functions whose results depend on the library. ``turns``: it has loops that state and inputs bound, and recursion.
    ``fault`` are statements that run where the first input, an int, is 1."""

    def __init__(
        self,
        source: random.Random,
        size: int = 12,
        floating: bool = False,
        jumps: bool = False,
        gnu: bool = False,
        overlaid: bool = False,
        pointers: bool = False,
        idioms: bool = False,
        mathematics: bool = False,
        turns: bool = False,
        fault: str = "",
    ) -> None:
        super().__init__(source)
        self.with_jumps, self.with_pointers, self.fault = jumps, pointers, fault
        self.with_idioms = idioms
        self.overlaid, self.with_mathematics, self.with_turns = overlaid, mathematics, turns
        self.floating = floating
        self.gnu = gnu
        self.leaks = mathematics and self.chance(0.1)
        self.size = size
        self.text = self._program()

    def _program(self) -> str:
        inputs = {f"i{n}": self.type() for n in range(4)}
        inputs |= {"i0": "int"} if self.fault else {}
        fields = {f"f{n}": self.type() for n in range(5)}
        parts = [HEAD, FLOAT_HEAD if self.floating else ""]
        given = "".join(f"{t} {n}; " for n, t in inputs.items()) + ("double x0; float x1; " if self.floating else "")
        parts.append(f"typedef struct {{ {given}}} t_input;")
        parts += [self.overlay_types()] if self.overlaid else []
        members = "".join(f"{t} {n}; " for n, t in fields.items())
        members += "int x32; unsigned u32; struct pair pair; struct nest nest[2]; unsigned short row[3]; t_mode mode;"
        members += MEMBERS if self.with_pointers else ""
        members += idiom_texts.MEMBERS if self.with_idioms else ""
        members += TURN_MEMBERS if self.with_turns else ""
        members += " double d0, d1; float r0, r1; struct reals reals;" if self.floating else ""
        members += self.overlay_members() if self.overlaid else ""
        members += MATH_MEMBERS if self.with_mathematics else ""
        parts += [MATH_HEAD] if self.with_mathematics else []
        parts += ["struct state;", TYPES] if self.with_pointers else []
        parts += [idiom_texts.TYPES] if self.with_idioms else []
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
        parts += [GNU_HEAD] if self.gnu else []
        parts += [idiom_texts.VARIADIC_HEAD, idiom_texts.HEAD] if self.with_idioms else []
        parts += [self.pointer_head()] if self.with_pointers else []
        parts += [TURN_HEAD, self.turn_functions()] if self.with_turns else []
        parts += [self._helper(n) for n in range(2)]
        parts.append(self._init(fields))
        parts.append(self._step(inputs, fields))
        parts += [GNU_TAIL] if self.gnu else []
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
        lines = ["memset(s, 0, sizeof *s);"] if self.with_turns or self.chance(0.8) else []
        lines += [f"s->{name} = {self.random.randint(-3, 5)};" for name in fields if self.chance(0.5)]
        lines += ["s->nest[1].row[2] = 77; s->pair = g_pair; s->x32 = -3;"]
        lines += [self.idiom_start()] if self.with_idioms else []
        lines += [self.pointer_start()] if self.with_pointers else []
        lines += [self.math_start()] if self.with_mathematics else []
        lines += [TURN_START] if self.with_turns else []
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
        if self.overlaid:
            self.overlay_places()
        self.pointers, self.idioms = self.with_pointers, self.with_idioms
        self.reads += self.idiom_reads() if self.idioms else []
        self.reads += self.pointer_reads() if self.pointers else []
        self.mathematics = self.with_mathematics
        if self.mathematics:
            self.math_places()
        self.scratch = ["e0", "e1", "e2"]
        types = [self.type() for _ in self.scratch]
        declared = " ".join(f"{t} {n} = 1;" for t, n in zip(types, self.scratch, strict=True))
        lines = [f"if (i->i0 == 1) {{ {self.fault} }}"] if self.fault else []
        self.jumps = self.with_jumps
        self.labels = ["last"] if self.jumps else []
        for _ in range(self.size):
            lines.append(self.statement(3))
            lines += [self.turn_statement()] if self.with_turns else []
            lines += [self.overlay_statement()] if self.overlaid else []
            if self.chance(0.2):
                lines.append(f"s->f{self.random.randrange(5)} ^= e{self.random.randrange(3)};")
        lines += ["last: ;"] if self.jumps else []
        lines.append("s->f0 += e0; s->f1 = e1; s->f2 ^= e2;")
        return f"void compute(t_input *i, t_state *s) {{ {declared}\n" + "\n".join(lines) + "\n}"

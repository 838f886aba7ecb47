"""Random programs with one statement whose behaviour C leaves undefined, which runs where the first input is 1.

Such a program is refused, or the model excludes each step in which that input is 1.
"""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

from benchmarks.checks.fuzz.examine import AGREE, DIFFER, Input, Kind, Row
from benchmarks.checks.fuzz.generator import Program
from benchmarks.checks.fuzz.programs import read, write_files
from bmc.native.differential import Sampler

INPUT = "i->i0"
STEPS = 40
HEAD = """\
#include <stdlib.h>
static int mute(int a) { if (a != 1) return 2; }
static const int fixed[2] = {1, 2};
static int odd(int a); static int even(int a) { return odd(a); } static int odd(int a) { return even(a); }
"""
PLAIN = {
    "clz of 0": "s->x32 = __builtin_clz(i->i0 - 1);",
    "ctz of 0": "s->x32 = __builtin_ctzll((unsigned long)i->i0 - 1);",
    "abs of INT_MIN": "s->x32 = abs(-2147483647 - i->i0);",
    "labs of LONG_MIN": "g_l = labs(-9223372036854775807 - i->i0);",
    "div by 0": "s->x32 = div(7, i->i0 - 1).quot;",
    "ldiv that overflows": "g_l = ldiv(-9223372036854775807 - i->i0, -i->i0).rem;",
    "division by 0": "s->x32 = 7 / (i->i0 - 1);",
    "remainder by 0": "s->x32 = 7 % (i->i0 - 1);",
    "division that overflows": "s->x32 = (-2147483647 - i->i0) / -i->i0;",
    "remainder that overflows": "g_l = (-9223372036854775807 - i->i0) % -(long)i->i0;",
    "sum that overflows": "s->x32 = 2147483647 + i->i0;",
    "product that overflows": "s->x32 = (i->i0 + 65535) * 65536;",
    "small numbers that overflow": "unsigned short q = 65535; s->x32 = q * (unsigned short)(q - i->i0 + 1);",
    "negation that overflows": "s->x32 = -(-2147483647 - i->i0);",
    "increment that overflows": "s->x32 = 2147483647; s->x32++;",
    "shift by the width": "s->u32 = s->u32 << (31 + i->i0);",
    "shift by a negative number": "s->u32 = s->u32 >> -i->i0;",
    "shift of a long by 64": "g_l = g_l >> (63 + i->i0);",
    "past a table": "s->x32 = table[i->i0 + 3];",
    "before a table": "s->x32 = table[i->i0 - 2];",
    "past a row": "s->x32 = s->nest[0].row[i->i0 + 2];",
    "set past an array": "s->row[i->i0 + 2] = 1;",
    "past an array of structs": "s->nest[i->i0 + 1].tag = 3;",
    "past the object": "s->x32 = (&g_i)[i->i0];",
    "unset": "int q; s->x32 = q;",
    "unset in one case": "int q; if (i->i0 != 1) q = 3; s->x32 = q;",
    "unset member": "struct pair q; q.a = 1; g_l = q.c;",
    "unset element": "int q[3]; q[0] = q[2] = 1; s->x32 = q[i->i0];",
    "unset pointer": "int *q; *q = 3;",
    "unset condition": "int q; if (q) s->x32 = 1;",
    "unset argument": "int q; s->x32 = bump(&q, 1);",
    "NULL read": "int *q = 0; s->x32 = *q;",
    "NULL written": "int *q = i->i0 == 1 ? 0 : &s->x32; *q = 3;",
    "member of NULL": "struct pair *q = (void *)0; g_l = q->c;",
    "NULL copied": "memcpy(&s->x32, (void *)0, 4);",
    "a variable of a block that ended": "int *q; { int inner = 3; q = &inner; } s->x32 = *q;",
    "a variable of the last turn": "int *q = 0; for (int k = 0; k < 2; k++) { int in = k; if (!q) q = &in; "
    "else s->x32 = *q; }",
    "a compound literal of a block that ended": "int *q; { q = (int[]){1, 2}; } s->x32 = q[1];",
    "past an initialiser": "goto in; int q = 3; in: s->x32 = q;",
    "past an initialiser in switch": "switch (i->i0) { int q; q = 3; case 1: s->x32 = q; }",
    "into a block": "goto in; { int q = 3; in: s->x32 = q; }",
    "blocks that overlap": "memcpy(s->row + 1, s->row, 4);",
    "a block past the end": "memset(&g_pair, 0, sizeof g_pair + i->i0);",
    "a block before the end": "memcpy(s->row, table + 2, 6);",
    "compared past the end": "s->x32 = !memcmp(fixed, table, 9);",
    "strlen without an end": "char q[3] = {'a', 'b', 'c'}; s->x32 = (int)strlen(q);",
    "strcmp without an end": "char q[3] = {'a', 'b', 'c'}; s->x32 = strcmp(q, \"abc\") > 0;",
    "strcpy that is too long": 'char q[3]; strcpy(q, "abc"); s->x32 = q[0];',
    "strcpy over itself": 'char q[6] = "abc"; strcpy(q + 1, q); s->x32 = q[0];',
    "a string constant is changed": "char *q = \"ab\"; q[0] = 'c'; s->x32 = q[0];",
    "a constant is changed": "*(int *)&fixed[1] = 3; s->x32 = fixed[1];",
    "no result": "s->x32 = mute(1);",
    "another type": "long q = 3; s->x32 = *(short *)&q;",
    "another type through void": "float q = 3; void *p = &q; s->x32 = *(int *)p;",
    "changed twice": "int q = 1; q = q++ + 1; s->x32 = q;",
    "changed and read": "int q = 1; s->x32 = q + q++;",
    "a float that is too large": "float q = 3e10f * i->i0; s->x32 = (int)q;",
    "a negative float": "double q = -2.5 * i->i0; s->f0 = (unsigned char)(unsigned)q; s->u32 = (unsigned)q;",
    "not a truth value": "_Bool q; memset(&q, 2, 1); s->x32 = q;",
    "said not to be reached": "__builtin_unreachable();",
    "endless": "while (i->i0 == 1) ;",
    "endless recursion": "s->x32 = even(1);",
    "pointers of two objects": "s->x32 = (int)(&s->row[1] - &s->nest[0].row[1]);",
    "order of two objects": "s->x32 = &g_i < &s->x32;",
    "two past the end": "unsigned short *q = s->row + 3; q += i->i0; s->x32 = q == s->row;",
    "an object that overlaps": "union { struct pair a; struct { long z; struct pair b; } c; } q = {{1, 2, 3}}; "
    "q.c.b = q.a; s->x32 = q.c.b.a;",
}
POINTERS = {
    "call through NULL": "fn *q = 0; s->x32 = q(1);",
    "call through an unset pointer": "fn *q; s->x32 = q(1);",
    "call by another type": "s->x32 = ((fn *)lo0)(1);",
    "call with another number of arguments": "s->x32 = ((int (*)(void))op0)();",
    "call of NULL in a table": "fn *q[2] = {op0}; s->x32 = q[1](1);",
    "call of an object": "s->x32 = ((fn *)&s->pair)(1);",
    "call past a table": "s->x32 = ptable[i->i0 + 3](1);",
    "element past the end": "u8 z[2] = {1, 2}; u8 *q = z + 2; s->x32 = *q;",
    "set past the end": "u8 z[2] = {1, 2}; u8 *q = z; q++; *++q = 3; s->x32 = z[0];",
    "out of an array": "u8 z[2] = {1, 2}; u8 *q = z + (i->i0 + 2); s->x32 = q - z;",
    "before an array": "u8 z[2] = {1, 2}; u8 *q = z; q--; s->x32 = q[1];",
    "two arrays": "u8 y[2], z[2]; s->x32 = &z[1] - y;",
    "order of two arrays": "u8 y[2], z[2]; s->x32 = &z[1] < y;",
    "call of a dead one": "fn **q; { fn *inner = op0; q = &inner; } s->x32 = (*q)(1);",
}
IDIOMS = {
    "a block that is too long": "memcpy(box, crate, (unsigned)s->u32 | 9);",
    "a negative size": "memcpy(box, crate, -1);",
    "blocks of any size that overlap": "memcpy(crate + 2, crate, (s->f0 & 3) + 3);",
    "past the last argument": "s->x32 = total(3, 1, 2);",
    "an argument of another type": 's->x32 = mixed("il", 1, 2);',
    "an integer as a double": 's->x32 = mixed("d", 1);',
    "a long that is used as an int": "s->x32 = total(1, 5l);",
    "a negative as unsigned": 's->x32 = mixed("u", -1);',
    "another struct": "struct twig z = {{1}}; struct base *q = i->i0 ? &z.base : &g_leaf.mid.base; "
    "((struct leaf *)q)->l = 3;",
    "a shift that is too far": "s->x32 = -1 << (i->i0 + 31);",
    "an array's next": "struct base *q = (struct base *)leaves; q += 2; q->ev = 3;",
    "a struct past the end": "struct base *q = (struct base *)(leaves + 3); q->ev = 3;",
}
STATEMENTS = {
    **{name: ("", text) for name, text in PLAIN.items()},
    **{name: ("pointers", text) for name, text in POINTERS.items()},
    **{name: ("idioms", text) for name, text in IDIOMS.items()},
}
"""By its name: the flag of ``Program`` that an undefined statement needs, and its text."""


def with_statement(name: str, random: random.Random) -> Input:
    """A random program with the statement ``name``."""
    needs, text = STATEMENTS[name]
    flags = {flag: flag == needs or random.random() < 0.2 for flag in ("gnu", "overlaid", "pointers", "idioms")}
    program = Program(random, random.randint(1, 3), random.random() < 0.2, fault=text, **flags)
    return {"files": {"program.c": HEAD + program.text}, "step": "compute", "fault": name}


def _judge(data: Input) -> Row:
    """DIFFER where a step in which the statement runs is allowed. ``steps`` are those that are allowed without it."""
    with tempfile.TemporaryDirectory() as name:
        write_files(Path(name), data)
        system = read(Path(name), data).system
    if INPUT not in [var.name for var in system.inputs]:
        return Row(DIFFER, f"{data['fault']}: {INPUT} is no input of the model")
    sampler = Sampler(system, seed=1)
    simulator, others = sampler.simulator, 0
    for _ in range(STEPS):
        state, inputs = sampler.any_pair()
        if simulator.allowed(state, {**inputs, INPUT: 1}):
            return Row(DIFFER, f"{data['fault']}: allowed in the state {state} for the inputs {inputs}")
        others += simulator.allowed(state, {**inputs, INPUT: 2})
    return Row(AGREE, "", others, len(system.state))


FAULTS = Kind("c-faults", lambda random: with_statement(random.choice(list(STATEMENTS)), random), _judge)

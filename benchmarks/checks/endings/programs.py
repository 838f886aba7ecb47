"""Programs, project files and other inputs that are large, deep or odd: each as the files of a folder."""

from __future__ import annotations

from collections.abc import Mapping

Files = Mapping[str, str | bytes]
"""The files of a case, by name."""

GOAL = ("--property", "x: cover(z == 5)")
"""A goal about the variable that all programs have."""


def step(body: str, before: str = "", state: str = "unsigned z;", inputs: str = "int a") -> Files:
    """A program whose step is ``body``."""
    return {"c.c": f"{before}\n{state}\nvoid init(void) {{ z = 0; }}\nvoid compute({inputs}) {{\n{body}\n}}\n"}


def project(body: str, keys: str, state: str = "unsigned z;", inputs: str = "int a") -> Files:
    """The same with a project file that has ``keys`` too."""
    toml = '[sources]\nfiles = ["c.c"]\n[functions]\ninit = ["init"]\nstep = "compute"\n'
    return {**step(body, state=state, inputs=inputs), "chaincover.toml": f"{toml}{keys}\n"}


def _rows(row: str, count: int, first: int = 0) -> str:
    """``row`` with K replaced by each of ``count`` numbers, and PRE by the function before."""
    return "".join(row.replace("K", str(k)).replace("PRE", f"f{k - 1}") + "\n" for k in range(first, first + count))


_FIRST = "static unsigned f0(unsigned x) { return x + 1u; }\n"
_NUMBERS = ", ".join(str((k * 40503) % 65_521) for k in range(65_536))
LEGAL: dict[str, Files] = {
    "3,000 squares": step("z = z * z + z + (unsigned)a;\n" * 3_000),
    "3,000 squares without input": step("z = z * z + z;\n" * 3_000),
    "3,000 sums of shifts": step("z = (z << 5) + z + (unsigned)a;\n" * 3_000),
    "1,000 quotients": step("z = z / ((unsigned)a + 3u) + 7u;\n" * 1_000),
    "500 products of floats": step("f = f * f + 0.5f;\n" * 500 + "z = f > 10.0f;", state="unsigned z; float f;"),
    "a sum of 5,000 terms": step("z = z + " + " + ".join(["(unsigned)a"] * 5_000) + ";"),
    "4,000 brackets": step("z = " + "(" * 4_000 + "z + 1u" + ")" * 4_000 + ";"),
    "3,000 nested choices": step("z = " + "(a > 0 ? z + 1u : " * 3_000 + "z" + ")" * 3_000 + ";"),
    "a switch of 20,000 cases": step("switch (a) {\n" + _rows("case K: z = Ku * 7u; break;", 20_000) + "}"),
    "5,000 conditions": step(_rows("if (a == K) z = Ku;", 5_000)),
    "5,000 conditions on state": step(_rows("if (z == Ku && a > K) z = z + 1u;", 5_000)),
    "3,000 links of else if": step("if (a < 0) z = 1;\n" + _rows("else if (a == K) z = Ku + 1u;", 3_000)),
    "2,000 variables": step(
        _rows("if (a == K) vK = vK + 1u;", 2_000), state="unsigned z;\n" + _rows("unsigned vK;", 2_000)
    ),
    "a table of 65,536 entries": step(
        "z = t[(unsigned)a & 0xffffu];", f"static const unsigned t[65536] = {{{_NUMBERS}}};"
    ),
    "a table in a table": step("z = t[t[(unsigned)a & 0xffffu]];", f"static const unsigned t[65536] = {{{_NUMBERS}}};"),
    "a table of 65,536 entries as state": step(
        "q[(unsigned)a & 0xffffu] = 1u; z = q[(unsigned)a >> 16];", state="unsigned z; unsigned q[65536];"
    ),
    "an array of 2,000 entries shifted": step(
        "int k; for (k = 1999; k > 0; k--) q[k] = q[k - 1];\nq[0] = a; z = q[1999] == 7;",
        state="unsigned z; int q[2000];",
    ),
    "an array of 60 entries sorted": step(
        "int k, l; q[0] = a; for (k = 0; k < 60; k++) for (l = 0; l + 1 < 60; l++) if (q[l] > q[l + 1]) "
        "{ int h = q[l]; q[l] = q[l + 1]; q[l + 1] = h; }\nz = q[30] == 7;",
        state="unsigned z; int q[60];",
    ),
    "a loop of 100,000 iterations": step("int k; for (k = 0; k < 99999; k++) z ^= (unsigned)k;"),
    "a loop of 100,000 additions": step("int k; for (k = 0; k < 99999; k++) z += (unsigned)a;"),
    "a loop of 200 open iterations": step("int k; for (k = 0; k < a && k < 200; k++) z += (unsigned)(k * a);"),
    "a comment of 12 MB": step("z = z + (a > 0);", f"/*{'a comment, ' * 1_000_000}*/"),
    "an unused array of 10^9 entries": step("z = z + 1u;", state="unsigned z; int q[1000000000];"),
    "an array of 10^9 entries in a function not called": step(
        "z = z + 1u;", "int q[1000000000]; int other(int k) { return q[k]; }"
    ),
    "10,000 unused objects of 1,000 elements": step("z = z + 1u;", _rows("int oK[1000];", 10_000)),
    "2,000 functions": step(
        "z = " + " + ".join(f"f{k}(z)" for k in range(2_000)) + ";",
        _rows("static unsigned fK(unsigned x) { return x ^ Ku; }", 2_000),
    ),
    "800 calls one within the other": step(
        "z = f800(z);",
        f"{_FIRST}{_rows('static unsigned fK(unsigned x) { return PRE(x) ^ Ku; }', 800, 1)}",
    ),
    "2,000 assertions": step(
        '__CPROVER_assert(z < 4000000000u, "small");\n' * 2_000 + "z = z + (a > 0);",
        "void __CPROVER_assert(_Bool, const char *);",
    ),
    "2,000 properties": {
        **step("z = z + (a > 0);"),
        "chaincover.toml": '[sources]\nfiles = ["c.c"]\n[functions]\ninit = ["init"]\nstep = "compute"\n'
        + _rows('[[property]]\nid = "pK"\ntext = "cover(z == Ku)"\n', 2_000),
    },
    "a goal of 300 steps": {
        **step("z = z + (a > 0);"),
        "chaincover.toml": '[sources]\nfiles = ["c.c"]\n[functions]\ninit = ["init"]\nstep = "compute"\n'
        + f'[[property]]\nid = "p"\ntext = "cover(z == 1 && {"X(" * 300}z == 9{")" * 300})"\n',
    },
    "a list of 100,000 input values": project(
        "if (a > 50) z = z + 1u;", f"[ranges]\na = [{', '.join(str(3 * k) for k in range(100_000))}]\n"
    ),
    "a list of 100,000 state values": project(
        "z = z < 99999u ? z + (a > 0) : 0u;", f"[ranges]\nz = [{', '.join(str(k) for k in range(100_000))}]\n"
    ),
    "a state range of 100,000 values": project("z = z < 99999u ? z + (a > 0) : 0u;", '[ranges]\nz = "0..99999"\n'),
    "states() over 100,000 values": {
        **project(
            "z = z < 99999u ? z + (a > 0) : 0u;", '[ranges]\nz = "0..99999"\n[coverage]\ncriteria = ["states(z)"]\n'
        ),
    },
    "an input of 64 bits": step("z = (unsigned)(a >> 3) * 5u + z;", inputs="unsigned long long a"),
    "a switch of 200 cases with branches()": {
        **project(
            "switch (a) {\n" + _rows("case K: z = Ku * 7u; break;", 200) + "}",
            '[coverage]\ncriteria = ["branches()"]\n',
        ),
    },
}
"""Programs that are read, whatever the search then finds."""

_NEST = "struct s0 { int v; };\n" + "".join(f"struct s{k} {{ struct s{k - 1} m; }};\n" for k in range(1, 3_001))
_LEVELS = "#define A0 +1\n" + "".join(f"#define A{k + 1} {f'A{k} ' * 10}\n" for k in range(11))

REFUSED: dict[str, Files] = {
    "3,000 nested structs": step(f"z = (unsigned)s{'.m' * 3_000}.v;", _NEST + "struct s3000 s;"),
    "a chain of 100,000 macros": step("z = D0;", "".join(f"#define D{k} D{k + 1}\n" for k in range(100_000))),
    "a macro that multiplies": step("z = 0 A11;", _LEVELS),
    "40 functions that call the one before twice": step(
        "z = f40(z);", f"{_FIRST}{_rows('static unsigned fK(unsigned x) { return PRE(x) + PRE(x); }', 40, 1)}"
    ),
    "25 functions that call the one before where x has a bit": step(
        "z = f25((unsigned)a);",
        f"{_FIRST}{_rows('static unsigned fK(unsigned x) { return x & K ? PRE(x) + PRE(~x) : x; }', 25, 1)}",
    ),
    "a string of 5 MB": step("z = s[a & 15];", f'static const char s[] = "{"x" * 5_000_000}";'),
    "a file that includes itself": {"c.c": '#include "c.c"\n'},
    "a condition of a huge shift": step("#if 1<<100000000000\nz = 1;\n#endif"),
    "an array of 10^9 entries": step("z = (unsigned)q[a & 15];", state="unsigned z; int q[1000000000];"),
    "10,000 objects of 1,000 elements": step(_rows("oK[a & 511] = a;", 10_000), _rows("int oK[1000];", 10_000)),
    "an array of 10^9 entries in a local": step("int q[1000000000]; q[0] = a; z = (unsigned)q[0];"),
    "a loop of 10^8 iterations": step("int k; for (k = 0; k < 100000000; k++) z ^= (unsigned)k;"),
    "a loop without end": step("for (;;) z++;"),
    "a loop over an input": step("int k; for (k = 0; k < a; k++) z++;"),
    "a loop of loops": step("int k, l; for (k = 0; k < 90000; k++) for (l = 0; l < 90000; l++) z++;"),
    "a sum of 100,000 terms": step("z = z + " + " + ".join(["(unsigned)a"] * 100_000) + ";"),
    "100,000 brackets": step("z = " + "(" * 100_000 + "z" + ")" * 100_000 + ";"),
    "50,000 nested blocks": step("{" * 50_000 + "z = 1;" + "}" * 50_000),
    "a function that calls itself": step("z = f(z);", "static unsigned f(unsigned x) { return x ? f(x - 1u) : 0u; }"),
    "a number of 5,000 digits": step(f"z = {'9' * 5_000};"),
    "an array of 5,000 digits": step("z = z + 1u;", f"int q[{'9' * 5_000}];"),
    "a condition of 5,000 digits": step(f"#if {'9' * 5_000}\nz = 1;\n#endif"),
    "the character NUL": {"c.c": b"unsigned z;\0 void compute(int a) { z = a; }"},
    "a macro that multiplies where only the compiler reads": step(
        "#ifndef __CHAINCOVER__\nz = 0 A11;\n#endif\nz = z + 1u;", _LEVELS
    ),
    "no UTF-8": {"c.c": b"unsigned z; void compute(int \xff\xfe) { z = 1; }"},
    "an empty file": {"c.c": ""},
    "70 MB of blanks": {"c.c": " " * (70 << 20)},
}
"""Programs that are refused, each with one message."""

"""Other word sizes than this machine's: what #error says, and when the compiled original stands for the target's."""

from __future__ import annotations

from pathlib import Path

import pytest
from c_support import fresh_environment, own_environment, read, refusal  # noqa: F401
from command_line import chaincover, fresh_names, write_files

from bmc.errors import InputRefused
from bmc.models.c.controller.build import difference, read_c, this_machine
from bmc.models.c.controller.reading import SourceConfig
from bmc.system.simulation import Simulator

CHECK = """\
#include <limits.h>
#if ( ULONG_MAX != (0xFFFFFFFFU) ) || ( LONG_MAX != (0x7FFFFFFF) )
#error Code was generated for compiler with different sized ulong/long. \\
Consider adjusting the word size settings.
#endif
"""
SAME = """\
typedef struct { const char *status; int n; } M;
static M m_;
M *const m = &m_;
static const short table[4] = {1, 2, 3, 4};
void X_initialize(void) { m->status = 0; m->n = 1; }
void X_step(short a, unsigned char b) { m->n = (m->n + table[b & 3] * a) & 255; }
"""
PROJECT = """\
[sources]
files = ["x.c"]
target = "{target}"
[functions]
init = ["X_initialize"]
step = "X_step"
[[property]]
text = "reach: cover(n > 100)"
"""
lp64_only = pytest.mark.skipif(this_machine() != "lp64", reason="needs the word sizes of 64-bit Linux")


def files(code: str, target: str = "ilp32") -> dict[str, str | bytes]:
    return {"x.c": code, "chaincover.toml": PROJECT.format(target=target)}


@pytest.mark.parametrize(
    ("condition", "passing"),
    [
        ("LONG_MAX != 2147483647L", ["ilp32", "llp64", "ip16"]),
        ("INT_MAX != 32767", ["ip16"]),
        ("LONG_MAX != 2147483647L || INT_MAX == 32767 || SIZE_MAX != 4294967295U", ["ilp32"]),
    ],
)
@lp64_only
def test_an_error_names_the_word_sizes_that_pass(condition: str, passing: list[str], tmp_path: Path) -> None:
    code = f"#include <limits.h>\n#include <stdint.h>\n#if {condition}\n#error wrong sizes\n#endif\n" + SAME
    write_files(tmp_path, files(code, "lp64"))
    refused = chaincover("check", ".", cwd=tmp_path)
    assert refused.code == 3
    assert "x.c:4: #error wrong sizes" in refused.err
    settings = " or ".join(f'[sources] target = "{name}"' for name in passing)
    assert f"next: it checks word sizes: {settings} passes" in refused.err


def test_an_error_that_no_word_sizes_prevent(tmp_path: Path) -> None:
    write_files(tmp_path, files("#ifndef BOARD\n#error no board\n#endif\n" + SAME, "lp64"))
    refused = chaincover("check", ".", cwd=tmp_path)
    assert refused.code == 3
    assert "set the macros that it asks for (-D); no other word sizes (sources.target) help" in refused.err


TYPES = {
    "lp64": {
        "int": "INT16_MAX UINT16_MAX INT32_MAX INT32_C(1) UINT8_C(1)",
        "unsigned int": "UINT32_MAX UINT32_C(1)",
        "signed char": "(int_fast8_t)0",
        "long": "(ptrdiff_t)0 (intptr_t)0 (int_fast16_t)0 (int_fast32_t)0 INT64_C(1) INTMAX_C(1) PTRDIFF_MAX g+1-g",
        "unsigned long": "(size_t)0 sizeof(int) offsetof(struct{char/**/b;},b) SIZE_MAX UINT64_MAX UINT_FAST16_MAX",
    },
    "ilp32": {
        "int": "(ptrdiff_t)0 (intptr_t)0 g+1-g (int_fast16_t)0 (int_fast32_t)0 UINT16_MAX INT32_C(1) PTRDIFF_MAX",
        "unsigned int": "(size_t)0 sizeof(int) (uintptr_t)0 UINT32_MAX SIZE_MAX UINT_FAST16_MAX",
        "long long": "(int64_t)0 INT64_C(1) (int_fast64_t)0 INTMAX_C(1)",
        "unsigned long long": "UINT64_MAX UINT64_C(1)",
    },
    "ip16": {
        "int": "(ptrdiff_t)0 (intptr_t)0 g+1-g (int16_t)0 (int_fast16_t)0 INT16_C(1) UINT8_C(1) INT_FAST16_MAX",
        "unsigned int": "(size_t)0 sizeof(int) (uint16_t)0 UINT16_MAX UINT16_C(1) SIZE_MAX (uint_fast16_t)0",
        "long": "(int32_t)0 (int_fast32_t)0 INT32_MAX INT32_C(1)",
        "unsigned long": "UINT32_MAX UINT32_C(1) UINT_FAST32_MAX",
        "long long": "INT64_C(1) (int_fast64_t)0",
    },
}
"""Of which type expressions are: gcc, gcc -m32, avr-gcc and msp430-gcc agree."""


@pytest.mark.parametrize("target", TYPES)
def test_types_and_constants_of_stdint_are_those_of_the_target(target: str, tmp_path: Path) -> None:
    """A constant of the wrong type compares and shifts in another width: ``INT32_C(1) << 20`` where int has 16 bits."""
    code = "#include <stddef.h>\n#include <stdint.h>\nint g[2];\n"
    for ctype, texts in TYPES[target].items():
        for text in texts.split():
            code += f'_Static_assert(_Generic({text}, {ctype}: 1, default: 0), "{text} is no {ctype}");\n'
    code += f'_Static_assert(sizeof(long double) == {12 if target == "ilp32" else 16}, "long double");\n'
    (tmp_path / "x.c").write_text(code + "int r; void step(int x) { r = x; }\n")
    fresh_environment()
    read_c(SourceConfig("x", (str(tmp_path / "x.c"),), step="step", target=target))


@pytest.mark.slow
@pytest.mark.needs_compiler
@lp64_only
def test_a_program_that_means_the_same_here_is_replayed(tmp_path: Path) -> None:
    """The #error does not stop the compiler; the pointer before n moves it, and is of no other effect."""
    write_files(tmp_path, files(CHECK + SAME))
    checked = chaincover("check", ".", "--compare", "400", "--effort", "0.003", cwd=tmp_path)
    assert (checked.code, checked.err) == (0, "")
    assert "equal on 200 steps along random runs and 200 from random states" in checked.out
    generated = chaincover("generate", ".", "--effort", "0.003", cwd=tmp_path)
    assert generated.code == 0
    assert "replay on the compiled original" in generated.out


DIFFERENT = {
    "long state": ("static long n; void X_initialize(void) { n = 0; } void X_step(int a) { n += a; }", "other sizes"),
    "long arithmetic": (
        "static int n; void X_initialize(void) { n = 0; } void X_step(int a) { n = (int)((a * 2L) / 4); }",
        "differs",
    ),
    "size of a type": (
        "static int n; void X_initialize(void) { n = sizeof(long); } void X_step(int a) { n ^= a; }",
        "'n' after init differs",
    ),
    "conversion by rank": (
        "static int n; void X_initialize(void) { n = 0; } void X_step(int a) { n = (-1L < 1U) + a % 2; }",
        "'n' after a step differs",
    ),
    "other variables": (
        "#include <limits.h>\n#if LONG_MAX > 2147483647\nstatic int k;\n#define n k\n#else\nstatic int n;\n#endif\n"
        "void X_initialize(void) { n = 0; } void X_step(int a) { n ^= a; }",
        "there are other variables (k, n)",
    ),
}


@pytest.mark.slow
@pytest.mark.needs_compiler
@lp64_only
@pytest.mark.parametrize("name", DIFFERENT)
def test_a_program_that_means_something_else_here_is_not_run(name: str, tmp_path: Path) -> None:
    code, why = DIFFERENT[name]
    write_files(tmp_path, files(code, "llp64"))
    read = chaincover(
        "check", ".", "--property", "x: cover(n == 3)", "--exclude", "reach", "--effort", "0.003", cwd=tmp_path
    )
    assert read.code == 0
    told = " ".join((read.out + read.err).split())
    assert "replay needs a compiler for the word sizes llp64; with this machine's (lp64): " in told
    assert " ".join(why.split()) in told


@pytest.mark.slow
@pytest.mark.needs_compiler
@pytest.mark.needs_narrow
@lp64_only
@pytest.mark.parametrize("name", DIFFERENT)
def test_a_program_of_32_bits_that_means_something_else_here_is_compiled_for_them(name: str, tmp_path: Path) -> None:
    write_files(tmp_path, files(DIFFERENT[name][0]))
    read = chaincover("check", ".", "--compare", "400", "--effort", "0.003", cwd=tmp_path)
    assert (read.code, read.err) == (0, "")
    assert "equal on 200 steps along random runs and 200 from random states" in read.out


@pytest.mark.needs_compiler
@lp64_only
def test_other_errors_of_the_compiler_still_refuse(tmp_path: Path) -> None:
    code = CHECK + SAME + "#ifndef __CHAINCOVER__\n#include <no_such_header.h>\n#endif\n"
    write_files(tmp_path, files(code))
    refused = chaincover("check", ".", cwd=tmp_path)
    assert refused.code == 3
    assert "the C compiler refuses the original: no_such_header.h" in refused.err


def test_difference_sees_every_part(tmp_path: Path) -> None:
    """Programs that differ in one thing each."""
    base = "static int n; void X_initialize(void) { n = 0; } void X_step(int a) { n = a & 7; }"
    others = {
        base.replace("n = 0", "n = 1"): "'n' after init differs",
        base.replace("a & 7", "a & 3"): "'n' after a step differs",
        base.replace("a & 7", "a / 7 + 2147483647"): "'n' after a step differs",
        base.replace("n = a", "__CPROVER_assume(a); n = a"): "where behaviour is undefined differs",
        base.replace("static int n", "static int n, m").replace("n = 0", "n = m = 0"): "there are other variables (m)",
    }
    with fresh_names():
        first = system(tmp_path, base)
        assert difference(first, system(tmp_path, base)) == ""
        assert {code: difference(first, system(tmp_path, code)) for code in others} == others


def system(folder: Path, code: str):  # type: ignore[no-untyped-def]
    write_files(folder, {"x.c": code})
    config = SourceConfig("x", (str(folder / "x.c"),), init=("X_initialize",), step="X_step", target=this_machine())
    return read_c(config).system


def test_unknown_word_sizes(tmp_path: Path) -> None:
    write_files(tmp_path, {"x.c": SAME})
    with pytest.raises(InputRefused, match="unknown target 'ilp23'"):
        read_c(SourceConfig("x", (str(tmp_path / "x.c"),), step="X_step", target="ilp23"))


XC16 = """
struct foo { long long i:40; int j:16; char k:8; }; struct bar { long long i:40; char j:8; int k:16; };
struct lo { unsigned lo:1; unsigned :6; unsigned hi:1; };
_Static_assert(sizeof(struct foo) == 10, ""); _Static_assert(sizeof(struct bar) == 8, "");
_Static_assert(sizeof(struct lo) == 2, ""); _Static_assert(_Alignof(struct foo) == 2, "");
union { struct foo f; unsigned char b[10]; } u; int r;
void step(unsigned char n) { u.f.j = 0x1234; u.f.k = n; r = u.b[6] + u.b[7] * 256 + u.b[8] - n; }
"""
"""The example of Microchip's manual of XC16 (bit-fields in structures), whose layout is that of gcc for the MSP430."""


def test_bit_fields_for_16_bits(tmp_path: Path) -> None:
    model = read(tmp_path, XC16, target="ip16")
    state = Simulator(model.system).initial()
    assert Simulator(model.system).step(state, {"n": 7})["r"] == 0x1234


def test_unnamed_bit_fields_that_may_align_a_struct_for_16_bits_are_refused(tmp_path: Path) -> None:
    text = "struct { char a; int :3; } s; int r; void step(void) { r = sizeof s; }"
    assert "laid out for ip16 is not known" in refusal(tmp_path, text, target="ip16").message

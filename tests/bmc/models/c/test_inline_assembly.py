"""Inline assembly that the project lists is passed over, in the model and in the compiled original; else refused."""

# ruff: noqa: E501 (C programs in tables)
from __future__ import annotations

from pathlib import Path

import pytest
from c_support import agreement, own_environment, read, refusal  # noqa: F401

from bmc.errors import SeveralRefused
from bmc.native.assembly import assembly_of, harmless, instructions, without_assembly

CMSIS = """
typedef unsigned int uint32_t;
__attribute__((always_inline)) static inline void __disable_irq(void) { __asm volatile ("cpsid i" : : : "memory"); }
__attribute__((always_inline)) static inline void __enable_irq(void) { __asm volatile ("cpsie i" : : : "memory"); }
__attribute__((always_inline)) static inline uint32_t __get_PRIMASK(void) {
  uint32_t result;
  __asm volatile ("MRS %0, primask" : "=r" (result) );
  return(result);
}
__attribute__((always_inline)) static inline void __set_PRIMASK(uint32_t mask) { __asm volatile ("MSR primask, %0" : : "r" (mask) : "memory"); }
#define HIDE(v) __asm__ ("" : "=r" (v) : "0" (v))
#define __NOP() __asm volatile ("nop")
#define __BKPT(value) __asm volatile ("bkpt "#value)
"""
LISTED = ("cpsid i", "cpsie i", "MRS %0, primask", "MSR primask, %0", "nop")
PROGRAMS = {
    "a critical section": ("int r; void step(int x) { __disable_irq(); r += x & 7; __enable_irq(); __NOP(); }", ""),
    "one that is kept": (
        "int r; void step(int x) { uint32_t m = __get_PRIMASK(); __disable_irq(); r = x; __set_PRIMASK(m); if (!m) __enable_irq(); }",
        "",
    ),
    "a value that is kept": ("uint32_t m; int r; void step(int x) { m = __get_PRIMASK() + x; r = x; }", "m"),
    "a value that init keeps": (
        "uint32_t m; int r; void init(void) { m = __get_PRIMASK(); } void step(int x) { r = x; }",
        "m",
    ),
    "a value on which another one depends": (
        "int r, n; void step(int x) { if (__get_PRIMASK()) r = 3; n = x; }",
        "r",
    ),
    "a branch without braces": ("int r; void step(int x) { if (x > 3) __NOP(); else r = x; }", ""),
    "operands with effects": ('int r; void step(int x) { int k = x & 3; asm("nop" : : "r"(k++), "i"(3)); r = k; }', ""),
    "an output of which nobody takes the value": (
        'int r; void step(unsigned char x) { unsigned char n = x; asm volatile ("nop" "\\n\\t" : [n] "=r" (n) : "0" (n)); r = x; }',
        "",
    ),
    "one in other words": ('int r; void step(int x) { asm("\\tnop\\n"); __asm__ __volatile__ (" nop ;\\n" ::: "memory", "cc"); r = x; }', ""),
    "a handler that the step does not run": (
        'int r; void SysTick_Handler(void) { __asm volatile ("ldr r9, [r8]\\n bx lr"); } void step(int x) { r = x; }',
        "",
    ),
    "a register of a function that the step does not run": (
        'int r; int svc(int a) { register int r0 __asm("r0") = a; __asm volatile ("svc 0" : "+r"(r0)); return r0; } void step(int x) { r = x; }',
        "",
    ),
    "a function in assembly outside": (
        'int r; __asm(".thumb_func\\n.syntax unified\\nreset: bx lr\\n"); void step(int x) { r = x; }',
        "",
    ),
    "a name of a function": (
        'static int twice(int a) __asm("zweimal"); static int twice(int a) { return 2 * a; } int r; void step(short x) { r = twice(x); }',
        "",
    ),
    "no instructions": ('int r; void step(int x) { __asm("" : "+r"(x)); r = x; __asm volatile ("" : : "g"(r) : "memory"); }', ""),
    "a value that is hidden": ('int r; void step(int x) { int y = x; HIDE(y); asm volatile ("" : "+r"(x) :: "memory"); r = x ^ y; HIDE(r); }', ""),
    "a pointer and a number with a fraction": (
        'int r; double d; void step(int x) { int *p = &r; HIDE(p); *p = x; d = x; asm("" : "=x"(d) : "0"(d)); }',
        "",
    ),
    "values that change places": (
        'int r, n; void step(short x) { int a = x, b = 3 * x; asm("" : "+r,r"(a) : "r,r"(b++)); asm("" : "=r"(a), "=&r"(b) : "0"(b), "1"(a)); asm("" : "=r"(r), "=r"(n) : "1"(a), "0"(b)); }',
        "",
    ),
}  # fmt: skip


@pytest.mark.needs_compiler
@pytest.mark.parametrize("name", PROGRAMS)
def test_listed_assembly_is_passed_over_as_in_the_compiled_original(name: str, tmp_path: Path) -> None:
    """What depends on its outputs is no part of the system."""
    text, expected = PROGRAMS[name]
    model = read(tmp_path, CMSIS + text, assembly=LISTED)
    dependent = {each for each in model.undetermined.dependent if each not in model.undetermined.calls}
    assert dependent == set(expected.split())
    found = agreement(model, pairs=100)
    assert found.steps > 0
    assert not found.differences, found.differences[0]


def test_results_rest_on_what_the_step_passes_over_and_notes_name_what_depends_on_it(tmp_path: Path) -> None:
    text = "uint32_t m; int r; void step(int x) {\n__disable_irq();\nm = __get_PRIMASK(); r = x; }"
    model = read(tmp_path, CMSIS + text, assembly=LISTED)
    (line,) = model.assumed
    assert line == (
        "inline assembly that changes nothing but its outputs (sources.assembly): "
        "'MRS %0, primask' (program.c:7), 'cpsid i' (program.c:3)"
    )
    (note,) = (each for each in model.notes if "'m'" in each)
    assert "depends on inline assembly: 'MRS %0, primask' (" in note


REFUSED = {
    "one that is not listed": ('\n asm("wfi");', "inline assembly 'wfi'", '[sources] assembly = ["wfi"]'),
    "a place in memory": ('\n asm("nop" : : "m"(r));', "that is given a place in memory", "macro in its place"),
    "a place on the stack": ('\n int k = x; asm("nop" : : "Q"(k));', "that is given a place in memory", ""),
    "a jump": ('\n asm goto ("nop" : : : : out); out: r = 1;', "of this form", ""),
    "a pointer": ('\n int *p; asm("nop" : "=r"(p));', "whose output is no number", ""),
    "no instructions, but an output": (
        '\n int k; asm("" : "=r"(k)); r = k;',
        "with an output that takes the value of no input",
        "in C",
    ),
    "no instructions, but an output of another type": (
        '\n long k; asm("" : "=r"(k) : "0"(x)); r = (int)k;',
        "with an output that takes the value of no input of its type",
        "in C",
    ),
    "the value of a register": (
        '\n register int sp asm("sp"); r = sp;',
        "inline assembly 'asm(\"sp\")' of this form",
        "",
    ),
    "where its value is needed": (
        "\n int t[2] = {0}; r = t[__get_PRIMASK()];",
        "inline assembly 'MRS %0, primask', of whose results nothing is known, where they are needed: by the condition",
        "in C",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_told_with_what_to_do(name: str, tmp_path: Path) -> None:
    body, message, hint = REFUSED[name]
    error = refusal(tmp_path, f"{CMSIS}int r; void step(int x) {{ r = x;{body} }}", assembly=LISTED)
    assert message in error.message
    assert hint in error.hint


def test_a_statement_without_instructions_remains_in_the_original() -> None:
    text = 'void f(int y) { asm("" : "=r"(y) : "0"(y)); asm("\\n" : "+r"(y) :: "memory"); }'
    assert without_assembly(text, ["", "nop"], "trap()") == text


def test_a_property_may_not_depend_on_it(tmp_path: Path) -> None:
    """All that is not listed stands in one line for the project file."""
    text = 'int r; void step(int x) { asm("wfi"); __disable_irq(); asm("ldr %0, \\"a\\"" : "=r"(r)); __BKPT(3); }'
    with pytest.raises(SeveralRefused) as caught:
        read(tmp_path, CMSIS + text, assembly=("cpsid i",))
    (hint,) = {each.hint for each in caught.value.errors}
    assert '[sources] assembly = ["wfi", "ldr %0, \\"a\\"", "bkpt 3"]' in hint


FORMS = {
    '"nop"': ("nop", [], []),
    '"1: sbiw %0,1" "\\n\\t" "brne 1b" : "=w" (__count) : "0" (__count)': ("1: sbiw %0,1; brne 1b", ["=w"], ["0"]),
    '" cpsid  i " ::: "memory"': ("cpsid i", [], []),
    '"add %0, %1" : [out] "=&r" (f(a, b ? c : d)) : "r" (x[1]), "i" (":"), [k] "rI" ((int) {3}) : "cc"': (
        "add %0, %1",
        ["=&r"],
        ["r", "i", "rI"],
    ),
}


@pytest.mark.parametrize("inside", FORMS)
def test_parts_of_a_statement(inside: str) -> None:
    found = assembly_of(inside)
    assert found is not None
    text, outputs, inputs = FORMS[inside]
    assert (found.text, [each.constraint for each in found.outputs]) == (text, outputs)
    assert [each.constraint for each in found.inputs] == inputs


@pytest.mark.parametrize("inside", ['"jmp %l0" :::: out', 'TEXT', '"nop" : x', '"nop" : "r"(x)', '"a" : : "r" x'])  # fmt: skip
def test_other_forms_are_none(inside: str) -> None:
    assert assembly_of(inside) is None


def test_a_text_without_assembly_keeps_its_lines_and_all_else() -> None:
    text = 'int f(void) __asm("g");\n# 3 "asm(nop).h"\nvoid h(int a) {\n  const char *s = "asm(\\"nop\\")";\n  asm ("nop"\n   : "=r"(a) : "r"(a++));\n  asm("wfi");\n}\nasm("nop");\n'
    left = without_assembly(text, ["nop"])
    assert left == text.replace('asm ("nop"\n   : "=r"(a) : "r"(a++));', "do { (void)(a++); a = 0; } while (0)\n;")
    assert left.count("\n") == text.count("\n")
    trapped = without_assembly(text, ["nop"], "trap()")
    assert trapped == left.replace('asm("wfi");', "trap();").replace('asm("nop");\n', ";\n", 1)


HARMLESS = ["nop", "CPSID i", "mrs %0, primask", "msr BASEPRI, %0", "1: dec %0; brne 1b", "dsb", "dmb ish", "sei", "csrr %0, mstatus"]  # fmt: skip
OTHERS = [
    "str %0, [%1]",
    "ldrex %0, %1",
    "nop; str r0, [r1]",
    "b .",
    "call f",
    "rjmp .",
    "mov r0, #3",
    "bkpt 0",
    "nopx",
]


def test_instructions_that_are_known_to_change_nothing() -> None:
    assert [text for text in (*HARMLESS, *OTHERS) if harmless(instructions(text))] == HARMLESS


@pytest.mark.parametrize("name", ["ctl.c", f"{'x' * 90}/ctl.c"])
def test_a_statement_behind_a_line_marker_of_any_length_is_one(name: str) -> None:
    text = f'void f(void)\n{{\n# 12 "{name}"\n\n  asm ("nop");\n  register int a\n# 15 "{name}"\n asm ("r0");\n}}\n'
    left = text.replace('asm ("nop")', "(void)0")
    assert without_assembly(text, ["nop"], "trap()") == left.replace('asm ("r0")', "")

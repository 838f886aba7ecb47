"""Registers: objects at addresses that the program writes as numbers."""

from __future__ import annotations

from pathlib import Path

import pytest
from c_support import agreement, own_environment, read, refusal

from bmc.models.c.controller.model import CModel
from bmc.system.simulation import Simulator
from chaincover.project.load import Request, load_request

__all__ = ["own_environment"]

PORTS = """
#include <stdint.h>
typedef struct { volatile uint32_t mode, type, in, out; uint32_t reserved[4]; } port;
#define BASE 0x40000000UL
#define PORT_A ((port *) (BASE + 0x20000UL))
#define PORT_B ((port *)0x40021000)
#define LEDS PORT_B
#define LED_ON() (LEDS->out |= 1u << 3)
#define MMIO8(address) (*(volatile uint8_t *)(address))
#define TICKS MMIO8(0x50000005 + 0x20)
static uint8_t phase;
static port *chosen;
void init(void) { phase = 0; PORT_A->mode = 1; chosen = PORT_A; }
void step(uint8_t x) {
  static port *const alias = PORT_A;
  volatile uint32_t *counter = (volatile uint32_t *)0xE000E018;
  if (*counter > 7) { alias->mode ^= 1; chosen = x & 1 ? PORT_A : LEDS; return; }
  if (PORT_A->in & 1u) { phase = TICKS; LED_ON(); }
  chosen->out += x;
}
"""
GIVEN = {
    "init": ("init",),
    "input": ("PORT_A->in", "register_e000e018", "TICKS"),
    "state": ("PORT_A->mode", "PORT_?->out"),
    "values": {"PORT_A->out": "0x80", "PORT_B->out": "7"},
}


def names(model: CModel) -> dict[str, str]:
    return {variable.name: variable.role for variable in model.variables}


def test_registers_are_called_as_their_innermost_macro_and_have_the_members_that_are_used(tmp_path: Path) -> None:
    model = read(tmp_path, PORTS, **GIVEN)
    assert names(model) == {
        "x": "input",
        "PORT_A->mode": "state",
        "PORT_A->in": "input",
        "PORT_A->out": "state",
        "PORT_B->out": "state",
        "register_e000e018": "input",
        "TICKS": "input",
        "phase": "output",
        "chosen": "state",
    }
    assert Simulator(model.system).initial()["PORT_A->out"] == 0x80
    assert model.system.variable("chosen").type.labels == (("PORT_A", 0), ("PORT_B", 1))


@pytest.mark.needs_compiler
@pytest.mark.parametrize("target", ["lp64", pytest.param("ilp32", marks=pytest.mark.needs_narrow)])
def test_the_original_has_memory_at_their_addresses(target: str, tmp_path: Path) -> None:
    model = read(tmp_path, PORTS, target=target, **GIVEN)
    found = agreement(model, pairs=200)
    assert (found.differences, found.traps, found.undefined) == ([], [], 0)


def test_a_property_names_registers_as_the_program_does(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(PORTS)
    (tmp_path / "chaincover.toml").write_text(
        '[sources]\nfiles = ["p.c"]\n[functions]\ninit = ["init"]\nstep = "step"\n[interface]\n'
        'input = ["PORT_A->in", "register_e000e018", "TICKS"]\nstate = ["PORT_A->mode", "PORT_?->out"]\n'
        '[interface.values]\n"PORT_A->out" = 0\n"PORT_B->out" = 0\n[ranges]\n"TICKS" = "0..9"\n'
    )
    same = "b: cover(*(volatile uint32_t *)0xE000E018 == register_e000e018)"
    texts = ("a: cover(LEDS->out == 8 && TICKS == 3)", same)
    subject = load_request(Request(str(tmp_path), properties=texts))
    assert [goal.name for goal in subject.goals] == ["a", "b"]
    assert subject.goals[1].antecedent.is_true()


def test_two_files_have_one_register_in_common(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("#define OUT (*(volatile unsigned char *)0x70000)\nvoid other(void);\n"
                                  "void step(int y) { OUT = (unsigned char)y; other(); }\n")  # fmt: skip
    (tmp_path / "b.c").write_text("int seen; void other(void) { seen = *(volatile unsigned char *)0x70000 + 1; }\n")
    text = f'[sources]\nfiles = ["{tmp_path}/a.c", "{tmp_path}/b.c"]\n[functions]\nstep = "step"\n'
    (tmp_path / "chaincover.toml").write_text(text)
    system = load_request(Request(str(tmp_path))).system
    assert {var.name for var in system.state if var.role != "internal"} == {"OUT", "seen"}
    after = Simulator(system).step(Simulator(system).initial(), {"y": 0x1FF})
    assert after["seen"] == 0x100


def test_the_address_of_a_register_is_the_number_that_it_was_made_from(tmp_path: Path) -> None:
    code = """
    typedef unsigned short word;
    typedef signed int byte __attribute__((__mode__(__QI__)));
    #define PIND (*(volatile unsigned char *)(0x09 + 0x70020))
    #define BIT_IS_SET(place, bit) ((*(volatile unsigned char *)((unsigned long)&(place))) & (1 << (bit)))
    int seen, size; word low;
    void step(int z) { seen = BIT_IS_SET(PIND, 3) != 0; low = (word)(unsigned long)&PIND; size = sizeof(byte); }
    """
    model = read(tmp_path, code, input=("PIND",))
    assert names(model) == {"z": "input", "PIND": "input", "seen": "output", "size": "output", "low": "output"}
    after = Simulator(model.system).step(Simulator(model.system).initial(), {"z": 0, "PIND": 8})
    assert (after["seen"], after["low"], after["size"]) == (1, 0x29, 1)


OVERLAPPING = """
#define WORD (*(volatile unsigned *)0x70000)
#define HIGH (*(volatile unsigned char *)0x70003)
int n;
void step(int x) { WORD = 1; n = HIGH; }
"""


def test_registers_with_bytes_in_common_are_refused(tmp_path: Path) -> None:
    error = refusal(tmp_path, OVERLAPPING)
    assert "'WORD' (unsigned int at 0x70000) and 'HIGH' (unsigned char at 0x70003)" in error.message
    assert read(tmp_path, OVERLAPPING.replace("n = HIGH", "n = x")).system.state


BLOCKS = """
struct irq { unsigned enable[4], pending[4]; };
struct core { volatile unsigned reset, sleep; };
#define IRQ ((volatile struct irq *)0x70000)
#define CORE ((struct core *)0x70018)
int n;
void step(int x) { IRQ->enable[1] = x; CORE->sleep = x; n = IRQ->enable[1] - CORE->sleep + x; }
"""
"""As NVIC and SCB of CMSIS: the block of one reaches into that of the other."""


@pytest.mark.needs_compiler
def test_blocks_of_registers_may_reach_into_one_another_where_nothing_is_used(tmp_path: Path) -> None:
    model = read(tmp_path, BLOCKS)
    assert names(model) == {"x": "input", "n": "output", "IRQ->enable[1]": "output", "CORE->sleep": "output"}
    found = agreement(model, pairs=40)
    assert found.steps > 20
    assert not found.differences, found.differences[0]
    error = refusal(tmp_path, BLOCKS.replace("IRQ->enable[1] = x", "IRQ->pending[3] = x"))
    assert "'IRQ->pending[3]' (unsigned int at 0x7001c) and 'CORE->sleep' (unsigned int at 0x7001c)" in error.message


def test_a_register_that_has_two_types_is_one_for_each(tmp_path: Path) -> None:
    code = """
    #define BYTE (*(volatile unsigned char *)0x70000)
    void step(int w) { BYTE = w; BYTE = BYTE + 1; }
    static int unused(void) { return *(volatile int *)0x70000; }
    """
    assert names(read(tmp_path, code)) == {"w": "input", "BYTE": "output"}


def test_what_is_read_of_a_register_has_to_be_described(tmp_path: Path) -> None:
    error = refusal(tmp_path, "#define PIN (*(volatile char *)0x70000)\nint n; void step(int x) { n = PIN; }")
    assert "the volatile object 'PIN' is read, and the step never writes it" in error.message
    error = refusal(tmp_path, "#define RAM (*(int *)0x70000)\nint n; void step(int x) { n = RAM; }")
    assert "'RAM' is in a register at 0x70000, and the project does not say what it holds" in error.message


def test_below_64_kb_there_is_a_model_but_no_comparison(tmp_path: Path) -> None:
    model = read(tmp_path, "#define PORTB (*(volatile unsigned char *)(0x05 + 0x20))\nvoid step(int x) { PORTB = x; }")
    assert names(model) == {"x": "input", "PORTB": "output"}
    assert model.native.refusal == ("the register 'PORTB' lies at 0x25, where this machine lets no program have memory")


@pytest.mark.parametrize(
    "code",
    [
        "void step(int x) { ((void (*)(void))0x8000)(); }",
        "int n; void step(int x) { int *p = (int *)(x + 0x8000); n = *p; }",
        "int n; void step(int x) { void *p = (void *)0x8000; n = p != 0; }",
    ],
)
def test_other_numbers_are_no_pointers(code: str, tmp_path: Path) -> None:
    assert "conversion of an integer to a pointer" in refusal(tmp_path, code).message

"""The target's side of the driver ``serial``: C99 that makes the steps of a program as frames on a line demand them.

It has all inputs and all variables of the state that a driver reads, as bytes: one value after the other in the order
of the system, each with its lowest byte first. The chain matters for the start values alone that a tester chooses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.resources import files as resources

from bmc.errors import UsageError
from chaincover.exporters.c_text import c_comment
from chaincover.exporters.harness_c import Field, Harness, struct
from chaincover.exporters.harness_host import port_files
from chaincover.exporters.harness_plan import Compared, HarnessPlan
from chaincover.exporters.protocol import ExportedChain

OWN = ("chaincover_serial.c", "chaincover_serial.h", "port.h")
"""The files that are the same for all programs."""


class Firmware:
    """The format ``firmware``."""

    def files(self, chain: ExportedChain) -> Mapping[str, bytes]:
        """See ``ChainExporter``."""
        program = _program(chain)
        found = {
            "chain.h": "".join(_header(program)),
            "chaincover_binding.c": "".join(_binding(program)),
            "chaincover_sizes.h": "".join(_sizes(program)),
            **port_files(program, end=""),
        }
        for name in OWN:
            found[name] = resources("chaincover.exporters").joinpath(name).read_text(encoding="utf-8")
        found |= {f"stand_ins/{name}": text for name, text in program.calling.headers}
        return {name: text.encode("utf-8") for name, text in sorted(found.items())}


def _program(chain: ExportedChain) -> Harness:
    """The program with all its inputs and outputs. UsageError where one cannot be reached, or for what is no C."""
    calling = getattr(chain.subject.model, "calling", None)
    if calling is None:
        name = chain.subject.system.name
        raise UsageError(f"the firmware calls a C program, and '{name}' is none", hint="drive it by another driver")
    system = chain.subject.system
    types = {var.name: var.type for var in system.inputs} | {var.name: var.type for var in system.visible_state}
    for name, kind in types.items():
        why = calling.unreachable.get(name) or ("it is a pointer" if kind.is_pointer else "")
        if why:
            hint = "drive the program by the driver process or python, which may answer with a part of the outputs"
            raise UsageError(f"the firmware cannot reach '{name}': {why}", hint=hint)
    outputs = tuple(Compared(var, (), 0) for var in system.visible_state)
    plan = HarnessPlan(system.inputs, (), outputs, (), (), (), (), {}, chain.run)
    return Harness(chain, calling, plan)


def _header(program: Harness) -> Iterator[str]:
    yield f"/* What {c_comment(program.chain.subject.system.name)} takes and puts out. */\n"
    yield "#ifndef CHAINCOVER_CHAIN_H\n#define CHAINCOVER_CHAIN_H\n\n"
    yield from struct("chaincover_inputs", program.inputs)
    yield from struct("chaincover_outputs", program.outputs)
    yield "#endif\n"


def _sizes(program: Harness) -> Iterator[str]:
    yield f"/* The bytes of {c_comment(program.chain.subject.system.name)} on the line. */\n"
    yield f"#define CC_INPUT_BYTES {_bytes(program.inputs)}\n#define CC_OUTPUT_BYTES {_bytes(program.outputs)}\n"


def _bytes(fields: Sequence[Field]) -> int:
    return sum(each.type.size for each in fields)


BINDING = """\
/* Values of the program as bytes on the line, each with its lowest byte first. */
#include <stdint.h>

#include "chain.h"
#include "port.h"
#include "chaincover_serial.h"

typedef uint{bits}_t cc_word;

"""
TAKEN = """\
static cc_word cc_taken(const uint8_t *bytes, uint8_t count) {
  cc_word value = 0u;
  while (count-- > 0u) value = (cc_word)(value << 8) | bytes[count];
  return value;
}

"""
GIVEN = """\
static void cc_given(uint8_t *bytes, cc_word value, uint8_t count) {
  uint8_t place;
  for (place = 0u; place < count; place++) {
    bytes[place] = (uint8_t)(value & 255u);
    value = (cc_word)(value >> 8);
  }
}

"""


def _binding(program: Harness) -> Iterator[str]:
    bits = 64 if any(each.type.bits > 32 for each in (*program.inputs, *program.outputs)) else 32
    yield BINDING.format(bits=bits)
    yield TAKEN if program.inputs else ""
    yield GIVEN if program.outputs else ""
    for size in sorted({each.type.bits for each in (*program.inputs, *program.outputs) if each.type.floating}):
        number = "float" if size == 32 else "double"
        yield f"union cc_float_{size} {{\n  uint{size}_t raw;\n  {number} value;\n}};\n"
        yield f"typedef char cc_float_of_{size}_bits[sizeof({number}) == {size // 8} ? 1 : -1];\n\n"
    yield "static void cc_outputs(uint8_t *bytes) {\n  static struct chaincover_outputs outputs;\n"
    yield "  chaincover_read(&outputs);\n" + ("" if program.outputs else "  (void)bytes;\n")
    yield from _each(program.outputs, _written)
    yield "}\n\nvoid cc_reset(uint8_t *outputs) {\n  chaincover_reset();\n  cc_outputs(outputs);\n}\n\n"
    yield "void cc_step(const uint8_t *bytes, uint8_t *outputs) {\n  static struct chaincover_inputs inputs;\n"
    yield "" if program.inputs else "  (void)bytes;\n"
    yield from _each(program.inputs, _read)
    yield "  chaincover_step(&inputs);\n  cc_outputs(outputs);\n}\n"


def _each(fields: Sequence[Field], text: Callable[[Field, int], str]) -> Iterator[str]:
    at = 0
    for each in fields:
        yield f"  {text(each, at)}\n"
        at += each.type.size


def _written(each: Field, at: int) -> str:
    given = f"cc_given(bytes + {at}, {{}}, {each.type.size}u);"
    if each.type.floating:
        number = f"union cc_float_{each.type.bits} number;\n    number.value = outputs.{each.member};"
        return f"{{\n    {number}\n    {given.format('number.raw')}\n  }}"
    return given.format(f"({each.raw})outputs.{each.member}")


def _read(each: Field, at: int) -> str:
    kind, taken = each.type, f"cc_taken(bytes + {at}, {each.type.size}u)"
    if kind.floating:
        number = f"union cc_float_{kind.bits} number;"
        return (
            f"{{\n    {number}\n    number.raw = ({each.raw}){taken};\n    inputs.{each.member} = number.value;\n  }}"
        )
    if not kind.signed:
        return f"inputs.{each.member} = ({each.ctype}){taken};"
    top = f"((cc_word)1u << {kind.bits - 1})"
    return f"inputs.{each.member} = ({each.ctype})({each.raw[1:]})(({taken} ^ {top}) - {top});"

"""The port of a harness in C for the host: C files that include the files of the user's program, and call it."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from bmc.errors import UsageError
from bmc.system.transition import ValueType

if TYPE_CHECKING:
    from chaincover.exporters.harness_c import Field, Harness

HOST = "port_host"
"""How the names of these files begin."""

MARKS = ("__CPROVER_assume", "__CPROVER_cover")
"""Functions that only tell verification tools something."""
MARKS_HEAD = "/* What the program calls to tell verification tools something: it does nothing. */\n"
STUB = "void {mark}(int condition);\n__attribute__((weak)) void {mark}(int condition) {{ (void)condition; }}\n"

HOST_END = """
#include <stdio.h>

void chaincover_put(char character) { putchar(character); }

int main(void) { return chaincover_run(); }
"""
"""Where characters go to on the host, and what starts the harness there."""


def port_files(harness: Harness, end: str = HOST_END) -> dict[str, str]:
    """The files by their names; ``port_host.c`` has the functions of the port, the last ones as ``end`` has them.

    UsageError for what cannot be named.
    """
    names = [source.name for source in harness.chain.subject.sources]
    for name in names:
        if not name.isprintable() or any(character in name for character in '"\\?'):
            raise UsageError(f"a harness in C cannot include the file {name!r}", hint="rename it")
    numbers = included(harness)
    first, *others = numbers
    found = {f"{HOST}.c": "".join([*_main(harness, names[first], first, others), end])}
    for number in others:
        found[f"{HOST}_{number}.c"] = "".join(_other(harness, names[number], number))
    marks = [mark for mark in MARKS if any(mark in source.text for source in harness.chain.subject.sources)]
    if harness.calling.environment:
        found[f"{HOST}_environment.c"] = harness.calling.environment
    if marks:
        found[f"{HOST}_marks.c"] = MARKS_HEAD + "".join(STUB.format(mark=mark) for mark in marks)
    return found


def included(harness: Harness) -> list[int]:
    """The numbers of the source files that are included, that of the step first; others are compiled by themselves."""
    calling = harness.calling
    reached = {calling.places[each.name][0] for each in (*harness.inputs, *harness.outputs)}
    reached |= {calling.places[name][0] for name in harness.chain.chosen if name in calling.places}
    return [calling.source, *sorted(reached - {calling.source})]


def _begin(harness: Harness, name: str) -> Iterator[str]:
    others = [source.name for source in harness.chain.subject.sources]
    yield f"/* The port of the harness for the host. It includes {name}, so that it can reach what is static there:\n"
    yield " * do not compile that file once more"
    left = [each for number, each in enumerate(others) if number not in included(harness)]
    yield f"; compile beside it {', '.join(left)}. */\n" if left else ". */\n"
    yield f'#define main chaincover_program_main\n#include "{name}"\n#undef main\n\n#include "port.h"\n\n'


def _main(harness: Harness, name: str, number: int, others: Sequence[int]) -> Iterator[str]:
    calling = harness.calling
    yield from _begin(harness, name)
    for other in others:
        yield f"void chaincover_choose_{other}(void);\n"
        yield f"void chaincover_give_{other}(const struct chaincover_inputs *inputs);\n"
        yield f"void chaincover_read_{other}(struct chaincover_outputs *outputs);\n"
    yield "".join(f"{each}\n" for each in (*calling.declared, *calling.objects)) + "\n"
    yield "void chaincover_reset(void) {\n"
    yield "".join(f"  {each}\n" for each in (*calling.links, *calling.init, *_chosen(harness, number)))
    yield "".join(f"  chaincover_choose_{other}();\n" for other in others) + "}\n\n"
    yield "void chaincover_step(const struct chaincover_inputs *inputs) {\n"
    given = [*_given(harness, number), *(f"chaincover_give_{other}(inputs);" for other in others)]
    yield "".join(f"  {each}\n" for each in (given or ["(void)inputs;"]))
    yield f"  {calling.step}\n}}\n\n"
    yield "void chaincover_read(struct chaincover_outputs *outputs) {\n"
    yield "".join(f"  {each}\n" for each in _taken(harness, number))
    yield "".join(f"  chaincover_read_{other}(outputs);\n" for other in others) + "}\n"


def _other(harness: Harness, name: str, number: int) -> Iterator[str]:
    yield from _begin(harness, name)
    parts = (
        ("choose", "void", "", _chosen(harness, number)),
        ("give", "const struct chaincover_inputs *inputs", "  (void)inputs;\n", _given(harness, number)),
        ("read", "struct chaincover_outputs *outputs", "  (void)outputs;\n", _taken(harness, number)),
    )
    for word, parameter, unused, lines in parts:
        head = f"void chaincover_{word}_{number}({parameter})"
        yield f"{head};\n{head} {{\n{unused}" + "".join(f"  {line}\n" for line in lines) + "}\n\n"


def _given(harness: Harness, number: int) -> list[str]:
    return [f"{place} = inputs->{each.member};" for each, place in _placed(harness, harness.inputs, number)]


def _taken(harness: Harness, number: int) -> list[str]:
    outputs = _placed(harness, harness.outputs, number)
    return [f"outputs->{each.member} = ({each.ctype}){place};" for each, place in outputs]


def _placed(harness: Harness, fields: Sequence[Field], number: int) -> Iterator[tuple[Field, str]]:
    for each in fields:
        source, place = harness.calling.places[each.name]
        if source == number:
            yield each, place


def _chosen(harness: Harness, number: int) -> list[str]:
    """Statements that give variables the start values that the tester chooses."""
    found = []
    for name, raw in harness.chain.chosen.items():
        if name not in harness.calling.places:
            why = harness.calling.unreachable.get(name, "nothing is known of its place")
            raise UsageError(f"a harness in C cannot set the start value of '{name}': {why}")
        source, place = harness.calling.places[name]
        if source == number:
            found.append(f"{place} = {constant(harness.chain.subject.system.variable(name).type, raw)};")
    return found


def constant(kind: ValueType, raw: int) -> str:
    """A value as a constant of C. UsageError for a float that is none."""
    if not kind.floating:
        value = kind.value(raw)
        return f"({value + 1} - 1)" if value < 0 else f"{value}{'u' * (not kind.signed)}"
    value = struct.unpack("<f" if kind.bits == 32 else "<d", raw.to_bytes(kind.bits // 8, "little"))[0]
    if value != value or value in (float("inf"), float("-inf")):
        raise UsageError(f"a harness in C cannot begin with {value}", hint="choose a number to begin with")
    return float(value).hex()

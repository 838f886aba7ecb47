"""Random programs on emulated boards: ``python -m benchmarks cross``.

Programs of the grammar of ``benchmarks fuzz``, without floating point, are read for the word sizes of a board, built by
its compiler, and run there under random inputs. After each step, up to the first that the model calls undefined, every
variable that is defined has to have the value that the model says.
"""

from __future__ import annotations

import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import click

from benchmarks.boards.build import Built, sources
from benchmarks.boards.machines import AVR, BOARDS, Board, said
from benchmarks.checks.fuzz.generator import Program
from bmc.errors import ChainCoverError
from bmc.models.c.controller.model import CModel
from bmc.models.c.source.survey import apart
from bmc.native.differential import SHADOW, Sampler
from bmc.system.transition import Run, TransitionSystem, Valuation
from chaincover.exporters.firmware import Firmware
from chaincover.exporters.protocol import ExportedChain
from chaincover.project.load import Request, load_request
from chaincover.subject import Subject

STEPS = 200
"""The steps of a program, at most: twice as many inputs leave little of the memory of the smaller board."""
FAST = "-DBOARD_DIVISOR=0u"
"""Bytes are sent at 2,000,000 baud: at 115,200 the emulator would do little else."""
PROJECT = """\
name = "drawn"
{sources}files = ["program.c"]
[functions]
step = "compute"
properties = []
[[property]]
id = "any"
text = "cover(1 == 1)"
"""
MAIN = """\
#include <stdio.h>

#include "chaincover_serial.h"
#include "port.h"

static const uint8_t inputs[] CHAINCOVER_TABLE = {{{inputs}}};

static void show(const uint8_t *bytes) {{
  uint16_t place;
  for (place = 0; place < CC_OUTPUT_BYTES; place++) {{
    (void)putchar("0123456789abcdef"[bytes[place] >> 4]);
    (void)putchar("0123456789abcdef"[bytes[place] & 15]);
  }}
  (void)putchar('\\n');
}}

int main(void) {{
  static uint8_t outputs[CC_OUTPUT_BYTES + 1], given[CC_INPUT_BYTES + 1];
  uint16_t step, place, at = 0;
  cc_reset(outputs);
  for (step = 0; step < {steps}u; step++) {{
    for (place = 0; place < CC_INPUT_BYTES; place++) given[place] = (uint8_t)CHAINCOVER_BYTE(&inputs[at++]);
    cc_step(given, outputs);
    show(outputs);
  }}
  return 0;
}}
"""


def drawn(draw: random.Random) -> str:
    """The text of a program."""
    overlaid, idioms = draw.random() < 0.3, draw.random() < 0.3
    return Program(draw, 1 + draw.randrange(5), False, True, overlaid=overlaid, idioms=idioms).text


def drawn_run(system: TransitionSystem, seed: int) -> Run:
    """A run from init under random inputs, up to where no step is defined."""
    sampler = Sampler(system, seed)
    states, inputs = [sampler.simulator.initial()], list[Valuation]()
    while len(inputs) < STEPS and (values := sampler.allowed_inputs(states[-1])) is not None:
        inputs.append(values)
        states.append(sampler.simulator.step(states[-1], values))
    return Run(tuple(states), tuple(inputs))


def reachable(subject: Subject) -> Subject:
    """The program, of whose state only that is shown which C text can reach."""
    assert isinstance(subject.model, CModel)
    unreachable = subject.model.calling.unreachable
    state = tuple(replace(var, role="internal") if var.name in unreachable else var for var in subject.system.state)
    return replace(subject, system=replace(subject.system, state=state))


def differences(system: TransitionSystem, run: Run, text: str) -> Iterator[str]:
    """Where what a board said differs from ``run``."""
    lines = text.split()
    if len(lines) != run.length:
        yield f"{len(lines)} of {run.length} steps were made"
    for step, (line, state) in enumerate(zip(lines, run.states[1:], strict=False)):
        data, at = bytes.fromhex(line), 0
        for var in system.visible_state:
            raw = int.from_bytes(data[at : at + var.type.size], "little") & ((1 << max(var.type.bits, 1)) - 1)
            at += var.type.size
            if state.get(var.name + SHADOW, 1) and raw != state[var.name]:
                yield f"{var.name} after {step + 1} steps is {raw:#x}, in the model {state[var.name]:#x}"


def compared(board: Board, seed: int, tools: Path) -> tuple[str, int]:
    """What became of the program of this ``seed``, and the steps that were compared; 'agree' where nothing differs."""
    try:
        with apart(), tempfile.TemporaryDirectory() as name:
            return _compared(board, seed, Path(name), tools)
    except ChainCoverError as error:
        return f"refused: {re.sub(chr(39) + '[^' + chr(39) + ']*' + chr(39), '...', error.message)}", 0


def _compared(board: Board, seed: int, folder: Path, tools: Path) -> tuple[str, int]:
    (folder / "program.c").write_text(drawn(random.Random(f"cross {seed}")), encoding="utf-8")
    (folder / "chaincover.toml").write_text(PROJECT.format(sources=sources(*board.machine)), encoding="utf-8")
    subject = reachable(load_request(Request(str(folder))))
    run = drawn_run(subject.system, seed)
    if not run.length:
        return "no step is defined", 0
    exported = folder / "exported"
    exported.mkdir()
    for file, content in Firmware().files(ExportedChain(subject, run, (), {}, "drawn")).items():
        if file != "chaincover_serial.c":
            (exported / file).write_bytes(content)
    given = b"".join(
        values[var.name].to_bytes(var.type.size, "little") for values in run.inputs for var in subject.system.inputs
    )
    text = MAIN.format(inputs=",".join(map(str, given or b"\0")), steps=run.length)
    (exported / "drawn.c").write_text(text, encoding="ascii")
    try:
        program = board.program(Built("drawn", folder, folder, exported), "flash.c", FAST)
    except SystemExit as error:
        if re.search("overflowed|will not fit|exceeds", str(error)):
            return "too large for the board", 0
        raise
    if board is AVR and board.sizes(program)[0] > 32768:
        return "too large for the board", 0
    try:
        code, out, _ = said(board, program, tools)
    except subprocess.TimeoutExpired:
        return "wrong: it does not end", 0
    found = next(differences(subject.system, run, out), "")
    return (f"wrong: {found}" if found or code else "agree"), run.length


@click.command()
@click.option("--board", "boards", type=click.Choice([*BOARDS]), multiple=True, help="Only this board.")
@click.option("--count", type=int, default=1000, show_default=True, help="How many programs for each.")
@click.option("--first", type=int, default=0, show_default=True, help="The first seed.")
def main(boards: tuple[str, ...], count: int, first: int) -> None:
    """Compare random programs on emulated boards with their models."""
    wrong = 0
    for key in boards or BOARDS:
        board = BOARDS[key]
        if board.missing:
            sys.exit(f"{board.name}: not installed: {', '.join(board.missing)} (apt install)")
        outcomes, steps = Counter[str](), 0
        with tempfile.TemporaryDirectory() as tools:
            for seed in range(first, first + count):
                found, made = compared(board, seed, Path(tools))
                outcomes[found.partition(":")[0]] += 1
                steps += made
                if (seed - first + 1) % 100 == 0:
                    click.echo(f"{board.name} {seed - first + 1}/{count}, {steps:,} steps", err=True)
                if found.startswith("wrong"):
                    click.echo(f"{board.name}, seed {seed}: {found}")
        wrong += outcomes["wrong"]
        shown = ", ".join(f"{number} {outcome}" for outcome, number in outcomes.most_common())
        click.echo(f"{board.name}: {count} programs ({shown}), {steps:,} steps compared")
    sys.exit(1 if wrong else 0)

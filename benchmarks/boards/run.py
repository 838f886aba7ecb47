"""Chains on two emulated boards: ``python -m benchmarks boards``.

Bundled models are made anew for the word sizes of a board, with a chain each. Once ``chaincover run`` drives the board
over its serial line, with the firmware that ``chaincover export`` writes: every goal has to be covered as seen. Once
the board has the chain itself in its flash, as a harness in C, and sends what it saw: no test may fail.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from pathlib import Path

import click

from benchmarks.boards.build import SAFE, built, chaincover
from benchmarks.boards.machines import BOARDS, Board, said, started

CLOCK = 16_000_000
"""Cycles a second of the ATmega328P."""


def driven(board: Board, name: str, folder: Path) -> str:
    """Drive the board through the chain of the model ``name``; what is wrong, '' for nothing. Figures are printed."""
    model = built(name, folder, board.machine, "firmware")
    program = board.program(model, "main.c")
    log = folder / f"{name}.jsonl"
    with started(board, program, folder) as port:
        spec = f"serial:{port}"
        done = chaincover("run", model.project, model.chain, "--driver", spec, "--fast", "--json", "--log", log)
    if done.returncode:
        return f"ended with {done.returncode}: {done.stderr}{done.stdout[-2000:]}"
    judged = json.loads(done.stdout)
    _tell(board, f"{name} driven", judged["steps"], program)
    unseen = [goal["name"] for goal in judged["goals"] if (goal["verdict"], goal["how"]) != ("covered", "as seen")]
    return f"not covered as seen: {', '.join(unseen)}" if unseen or not judged["goals"] else ""


def in_flash(board: Board, name: str, folder: Path) -> str:
    """Run the chain from the board's flash; what is wrong, '' for nothing."""
    model = built(name, folder, board.machine, "c")
    program = board.program(model, "flash.c")
    code, text, told = said(board, program, folder)
    lines = text.splitlines()
    tests = [line for line in lines if re.match(r"(not )?ok ", line)]
    plan = next((line for line in lines if line.startswith("1..")), "")
    if code or not lines or lines[-1] != "# chaincover: done, 0 failed" or plan != f"1..{len(tests)}" or not tests:
        return f"ended with {code}: {text}{told}"
    steps = json.loads((model.chain / "chain.json").read_text(encoding="utf-8"))["chain"]["length"]
    cycles = re.search(r"(\d+) cycles", told)
    speed = f", {steps * CLOCK / int(cycles[1]):,.0f} steps a second" if cycles else ""
    _tell(board, f"{name} in flash", steps, program, speed)
    return "" if all(line.startswith("ok ") for line in tests) else text


def _tell(board: Board, what: str, steps: int, program: Path, more: str = "") -> None:
    flash, ram = board.sizes(program)
    click.echo(f"{board.name}, {what}: {steps} steps, flash {flash}, RAM {ram} bytes{more}")


@click.command()
@click.option("--board", "boards", type=click.Choice([*BOARDS]), multiple=True, help="Only this board.")
@click.option("--model", "models", type=click.Choice([*SAFE]), multiple=True, help="Only this model.")
def main(boards: tuple[str, ...], models: tuple[str, ...]) -> None:
    """Run chains on emulated boards, over their serial lines."""
    wrong = 0
    for key in boards or BOARDS:
        board = BOARDS[key]
        if board.missing:
            click.echo(f"{board.name}: not installed: {', '.join(board.missing)} (apt install)")
            wrong += 1
            continue
        with tempfile.TemporaryDirectory() as folder:
            for name in models or SAFE:
                for way in (driven, in_flash):
                    found = way(board, name, Path(folder))
                    wrong += bool(found)
                    if found:
                        click.echo(f"{board.name}, {name}: {found}")
    sys.exit(1 if wrong else 0)

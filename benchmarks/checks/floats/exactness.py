"""Every floating-point operation against the processor, in bulk: ``python -m benchmarks floats``."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TextIO

import click
from pysmt.shortcuts import Symbol
from pysmt.typing import BVType

from benchmarks.checks.floats.hardware import Hardware, compared
from benchmarks.checks.floats.operations import Operation, operations
from bmc.formulas.evaluate import post_order
from bmc.native.original import find_compiler

CHUNK = 100_000
"""Operands compared at once."""


def size(operation: Operation) -> int:
    """Nodes of the operation's circuit (result and definedness)."""
    kinds = enumerate(operation.operands)
    return len(
        post_order(operation.terms(*(Symbol(f"{place}_{kind.bits}", BVType(kind.bits)) for place, kind in kinds)))
    )


@click.command()
@click.option("--count", default=1_000_000, show_default=True, help="Operands for each operation.")
@click.option("--seed", default=0, show_default=True, help="The first seed of the operands.")
@click.option("-o", "--output", type=click.File("w"), default="-", help="Where the table goes.")
def main(count: int, seed: int, output: TextIO) -> None:
    """Compare circuits with compiled code; exit code 1 if a result differs."""
    compiler = find_compiler()
    if compiler is None:
        raise click.ClickException("there is no C compiler")
    chosen = list(operations())
    print("| operation | of | nodes | compared | undefined | different |\n|---|---|---|---|---|---|", file=output)
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        hardware = Hardware(chosen, compiler, Path(folder))
        for operation in chosen:
            parts = [
                compared(operation, hardware, min(CHUNK, count - done), seed + done) for done in range(0, count, CHUNK)
            ]
            different = [case for part in parts for case in part.different]
            wrong += len(different)
            total, undefined = sum(part.compared for part in parts), sum(part.undefined for part in parts)
            first = f" (first: {different[0]})" if different else ""
            row = f"{size(operation)} | {total} | {undefined} | {len(different)}{first}"
            text = operation.expression.replace("|", "\\|")
            kinds = f"{operation.operands[0].name} to {operation.result.name}"
            print(f"| {text} | {kinds} | {row} |", file=output, flush=True)
    sys.exit(1 if wrong else 0)

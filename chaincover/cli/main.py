"""The command line: a module of this package per command, loaded when it is run. Exit codes: docs/exit-codes.md."""

from __future__ import annotations

import errno
import gc
import json
import os
import sys
from importlib import import_module
from types import ModuleType

import click

from bmc.errors import ChainCoverError, LimitReached

INTERRUPTED = 130
TERMINATED = 143
INTERNAL_ERROR = 70
NOT_WRITTEN = 74
CUT_OFF = 141
"""The reader of stdout has gone, as shells report it."""

COMMANDS = {
    "check": "Read everything; interface, goals, contradictions, possible undefined behaviour.",
    "compare": "Run several orderings on the same graph, side by side.",
    "generate": "Generate one chain that covers every goal; replay it on the compiled original.",
    "graph": "The K-reachability graph, as JSON or DOT.",
    "init": "Write a commented project file for the C sources of a controller.",
    "replay": "Replay a chain, or inputs written by hand, on the compiled original.",
    "verify": "Check a chain and the proof of its bound by means of its own.",
}


class Commands(click.Group):
    """The commands, each loaded only when it is run, so that no command waits for the libraries of another one."""

    def list_commands(self, ctx: click.Context | None) -> list[str]:
        """Their names."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command called ``name``; None if there is none."""
        if name not in COMMANDS:
            return None
        command = _loaded(name).command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, without loading any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _loaded(name: str) -> ModuleType:
    """The module of the command ``name``.

    What it brings along stays until the program ends: garbage is not looked for meanwhile, and never in there.
    """
    module = f"chaincover.cli.{name}"
    if module not in sys.modules:
        gc.disable()
        import_module(module)
        gc.freeze()
        gc.set_threshold(100_000, 20, 20)
        gc.enable()
    return sys.modules[module]


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="chaincover", prog_name="chaincover")
def cli() -> None:
    """One reset-free input sequence that exercises every requirement of a C controller.

    PATH is a C file (paper's convention: init, compute, p_*), a chaincover.toml or a folder with one.
    """


def main() -> None:
    """Entry point: runs the command line and ends the process with its exit code."""
    try:
        code = cli.main(prog_name="chaincover", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as leaving:
        code = leaving.exit_code
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except ChainCoverError as error:
        _show_error(error)
        code = error.exit_code
    except (KeyboardInterrupt, click.Abort) as error:
        terminated = str(error) == "terminated" or str(error.__context__) == "terminated"
        click.echo("\nterminated" if terminated else "\ninterrupted", err=True)
        code = TERMINATED if terminated else INTERRUPTED
    except (SystemExit, BrokenPipeError):  # click's answer to a closed pipe, the only one that ends the process
        _forget_stdout()
        code = CUT_OFF
    except Exception as error:
        code = _fault(error)
    exec("")  # an interrupt within an earlier exec() would make the interpreter end by SIGINT, whatever the code
    sys.exit(code or 0)


def _fault(error: Exception) -> int:
    """What nobody foresaw: a full disk under stdout, no memory, or a fault of ours, told without a traceback."""
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        _forget_stdout()
        click.echo(f"error: cannot write: {error.strerror}\n  next: make room, or choose another place", err=True)
        return NOT_WRITTEN
    if isinstance(error, MemoryError):
        click.echo("error: no memory is left\n  next: allow more memory, or fewer goals", err=True)
        return LimitReached.exit_code
    if os.environ.get("CHAINCOVER_DEBUG"):
        raise error
    text = f"{type(error).__name__}: {error}".splitlines()[0]
    click.echo(f"internal error: {text}\n  next: report it; CHAINCOVER_DEBUG=1 shows where it happened", err=True)
    return INTERNAL_ERROR


def _forget_stdout() -> None:
    """What is still to be written to stdout goes nowhere: there it would fail once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _show_error(error: ChainCoverError) -> None:
    if "--json" in sys.argv:
        where = None if error.where is None else str(error.where)
        data = {"error": error.message, "where": where, "next": error.hint, "exit_code": error.exit_code}
        click.echo(json.dumps(data))
    if sys.stderr.isatty():
        click.echo("\r\x1b[K", err=True, nl=False)
    click.echo(f"error: {error}", err=True)

"""The command line: a module per command, loaded when it is run. Exit codes: docs/reference/exit-codes.md."""

from __future__ import annotations

import contextlib
import errno
import gc
import json
import os
import sys
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

import click

from bmc import ending
from bmc.ending import CALLED_OFF, INTERRUPT, ExitCode
from bmc.errors import ChainCoverError, LimitReached, SeveralRefused, UsageError, printable
from chaincover.cli.entry import (
    CLOSING,
    never_interrupt,
    signalled,
    signalled_twice,
)
from chaincover.plug_ins import entry_points

EXIT_CODES: dict[ExitCode, tuple[str, str]] = {
    ExitCode.DONE: (
        "every goal is covered and every requirement held; generated goals may be proved unreachable",
        "the result says whether the chain is proved minimal",
    ),
    ExitCode.FINDING: (
        "a finding: a requirement or an assertion failed, two computations disagreed, or a target deviates",
        "read the findings: they are shown first; the result is written",
    ),
    ExitCode.USAGE: ("usage: an unknown option, a wrong value, a missing argument", "chaincover COMMAND --help"),
    ExitCode.REFUSED: (
        "input refused: a file is missing, broken or outside of what is read",
        "the message names file, line and column, and a next step",
    ),
    ExitCode.NOT_COVERED: (
        "no chain, or goals that are not covered, not observable, or that the program no longer has; "
        "or it is open whether a requirement held",
        "the verdict of each goal, or the note, says why",
    ),
    ExitCode.LIMIT: (
        "a limit left a goal undecided, or a run on a target was cut short; what was found is valid",
        "raise the limit that the message names, or look at the target",
    ),
    ExitCode.NOT_REPROVED: (
        "verify: a claim was not proved again; nothing was found wrong",
        "give more --time-limit or --effort",
    ),
    ExitCode.DISPROVED: (
        "verify: a claim is disproved",
        "what disproves it is shown: a run, a shorter chain, a cheaper order",
    ),
    ExitCode.INTERNAL_ERROR: ("a fault of ChainCover itself", "report it; CHAINCOVER_DEBUG=1 shows where it happened"),
    ExitCode.NOT_WRITTEN: (
        "a result could not be written, such as to a full disk; what was there before is as it was",
        "make room, or choose another place",
    ),
    ExitCode.INTERRUPTED: ("interrupted (Ctrl-C)", "the best result so far is written and told"),
    ExitCode.CUT_OFF: ("the program that read stdout has gone, such as head", "files are written all the same"),
    ExitCode.TERMINATED: ("terminated (SIGTERM)", "the best result so far is written and told"),
}
"""What the end of a command says to a script, and what to do about it."""

COMMANDS = {
    "check": "Read everything; interface, goals, contradictions, possible undefined behaviour.",
    "compare": "Run several orderings on the same graph, side by side.",
    "export": "Write the question for a chain, or what a result claims, for model checkers (AIGER, BTOR2).",
    "generate": "Generate one chain that covers every goal; replay it on the compiled original.",
    "graph": "The K-reachability graph, as JSON, DOT or SVG.",
    "init": "Write a commented project file for the C sources of a controller.",
    "judge": "Judge a run of a chain on a bench from its recording (CSV, VCD).",
    "plot": "Draw the waveform of a chain, or of a violation, as SVG or PNG.",
    "replay": "Replay a chain, or inputs written by hand, on the compiled original.",
    "report": "Write what a run left in files as an HTML page, Markdown, CSV or SARIF.",
    "run": "Run a chain on a target on line, step by step, and judge it.",
    "verify": "Check a chain and the proof of its bound by means of its own.",
}


COMPLETE = "_CHAINCOVER_COMPLETE"
"""The environment variable by which a shell asks for completion, as click has it."""

GROUP = "chaincover.commands"
"""The group of entry points by which other packages add commands: ``name = "module:command"``."""


class Commands(click.Group):
    """The commands, each loaded only when it is run, so that no command waits for the libraries of another one."""

    def list_commands(self, ctx: click.Context | None) -> list[str]:
        """Their names, those of other packages last."""
        return [*COMMANDS, *others()]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command called ``name``; None if there is none."""
        if name in COMMANDS:
            command = _loaded(f"chaincover.cli.{name}").command
        else:
            module, _, attribute = others().get(name, "").partition(":")
            if not module:
                return None
            try:
                command = getattr(_loaded(module), attribute)
            except (ImportError, AttributeError) as error:
                text = f"the command {name} of another package cannot be loaded: {error}"
                raise UsageError(text, hint="install that package again, or remove it") from None
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is named first; a usage error says which one may be meant where there is none."""
        if self.get_command(ctx, args[0]) is None:
            from difflib import get_close_matches

            near = get_close_matches(args[0], self.list_commands(ctx), 1)
            ctx.fail(f"No such command '{printable(args[0])}'." + (f" Did you mean '{near[0]}'?" if near else ""))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, of which only those of other packages are loaded, and that of exit codes."""
        with formatter.section("Commands"):
            formatter.write_dl([*COMMANDS.items(), *((name, self._summary(ctx, name)) for name in others())])
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code), meaning) for code, (meaning, _) in EXIT_CODES.items()])

    def _summary(self, ctx: click.Context, name: str) -> str:
        """What a command of another package does, in a line; why it cannot be loaded, if it cannot."""
        try:
            command = self.get_command(ctx, name)
        except UsageError as error:
            return printable(error.message)
        return "" if command is None else command.get_short_help_str(limit=1000)


def others() -> dict[str, str]:
    """Where the commands of other packages are, by name; none takes the place of one of its own."""
    return {name: place for name, place in entry_points(GROUP).items() if name not in COMMANDS}


def _loaded(module: str) -> ModuleType:
    """The module of a command.

    What it brings along stays until the program ends: garbage is not looked for meanwhile, and never in there.
    """
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
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # it was closed before the process began
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    try:
        code = _told()
    except (KeyboardInterrupt, click.Abort) as error:
        ending.close()
        code = _called_off(str(error) or str(error.__context__ or ""))
    except ending.CutShort:
        code = _cut_short()
    except (SystemExit, BrokenPipeError) as error:
        completed = isinstance(error, SystemExit) and COMPLETE in os.environ
        code = int(getattr(error, "code", 0) or 0) if completed else ExitCode.CUT_OFF
        _forget_stdout()  # but for completion, click ends the process where the reader of stdout has gone
    except Exception as error:
        code = _fault(error)
    finally:
        never_interrupt()
    exec("")  # an interrupt within an earlier exec() would make the interpreter end by SIGINT, whatever the code
    sys.exit(code or 0)


def _told() -> int:
    """Run the command, until all is written that it tells; the exit code. No alarm comes through once that is over."""
    try:
        code = _code_of_command()
        sys.stdout.flush()
        return signalled() or code
    finally:
        ending.close()


def _code_of_command() -> int:
    """Run the command; its exit code. Where it fails the reason has been told."""
    try:
        return int(cli.main(prog_name="chaincover", standalone_mode=False) or 0)
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except click.ClickException as error:
        ending.close()
        with _heard():
            error.show()
        if isinstance(error, click.UsageError) and error.ctx is None:  # then click names no next step
            tell(f"  next: {UsageError.next_step}")
        return error.exit_code
    except ChainCoverError as error:
        ending.close()
        _show_error(error)
        return error.exit_code


def _called_off(why: str) -> int:
    """Say what ended the run before there was anything to tell, and what it did then; the exit code."""
    reason, place = ending.called_off() or why or INTERRUPT, ending.reading()
    code = signalled() or CALLED_OFF.get(reason, ExitCode.LIMIT)
    words = {ExitCode.INTERRUPTED: "interrupted", ExitCode.TERMINATED: "terminated"}
    why = words.get(ExitCode(code), f"the {reason} was reached")
    more = (
        f"allow more {reason.partition(' ')[0]} (--{reason.replace(' ', '-')})"
        if code == ExitCode.LIMIT
        else "run the command again"
    )
    _show_error(LimitReached(f"{why} {f'while {place}' if place else 'before all was done'}", hint=more), code)
    return code


def _cut_short() -> int:
    """Say where the best result so far is of a run that was ended in the midst of telling it; the exit code."""
    with contextlib.suppress(OSError, ValueError):
        _forget_stdout()
    why = "a second signal" if signalled_twice() else f"the end took more than {CLOSING:g} s"
    kept = ending.kept()
    tell(f"\ncut short: {why}; " + (f"the best result so far is in {kept}" if kept else "nothing has been written"))
    return signalled() or ExitCode.LIMIT


def _fault(error: Exception) -> int:
    """What nobody foresaw: a limit of stdout's file, no memory, or a fault of ours, told without a traceback."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO):
        _forget_stdout()
        tell(f"error: cannot write: {error.strerror}\n  next: make room, or choose another place")
        return ExitCode.NOT_WRITTEN
    if isinstance(error, MemoryError):
        tell("error: no memory is left\n  next: allow more memory, or fewer goals")
        return ExitCode.LIMIT
    if os.environ.get("CHAINCOVER_DEBUG"):
        raise error
    text = f"{type(error).__name__}: {error}".splitlines()[0]
    tell(f"internal error: {printable(text)}\n  next: report it; CHAINCOVER_DEBUG=1 shows where it happened")
    return ExitCode.INTERNAL_ERROR


def _forget_stdout() -> None:
    """What is still to be written to stdout goes nowhere: there it would fail once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _show_error(error: ChainCoverError, code: int | None = None) -> None:
    if sys.stderr.isatty():
        tell("\r\x1b[K", nl=False)
    tell(f"error: {error}")
    if "--json" in sys.argv:
        data = {**_as_data(error), "exit_code": code or error.exit_code}
        if isinstance(error, SeveralRefused):
            data["errors"] = [_as_data(each) for each in error.errors]
        click.echo(json.dumps(data))


def _as_data(error: ChainCoverError) -> dict[str, Any]:
    where = None if error.where is None else str(error.where)
    also = {"also": [str(place) for place in error.also]} if error.also else {}
    return {"error": error.message, "where": where, **also, "next": error.hint}


def tell(text: str, nl: bool = True) -> None:
    """Write to stderr; where nobody reads it any more, the run goes on in silence."""
    with _heard():
        click.echo(text, err=True, nl=nl)


@contextlib.contextmanager
def _heard() -> Iterator[None]:
    """Something is written to stderr; where that fails nothing more is written there."""
    try:
        yield
    except OSError:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115

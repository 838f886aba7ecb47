"""The baseline ``cbmc``: CBMC on the original C, as its user would run it.

``mode = "chain"``: one assertion that no run covers all goals and ends in the final condition. The loop around the step
is unwound once more at a time, so that the first unwinding that fails is a shortest chain, and each one before it is
refuted. ``mode = "per-goal"``: such an assertion for each goal, a shortest test each, with resets.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from benchmarks.bench.tools.baseline import Baseline, Case, Given, Search, TimeOver, conduct, given_options
from benchmarks.bench.tools.harness import LOOP, MAIN, WANTED, Harness, covered, harness
from bmc.errors import ChainCoverError, UsageError
from bmc.models.c.controller.model import c_model
from chaincover.cli.options import held_request_options
from chaincover.project.load import Request
from chaincover.subject import Subject

HOW = (
    "install it (Debian's package cbmc, or github.com/diffblue/cbmc), or say where it is: CBMC in the environment, the "
    "setting path of a suite, or the option --path (--cbmc of python -m benchmarks rivals)"
)


CHAIN, PER_GOAL = "chain", "per-goal"


class Cbmc(Baseline):
    """CBMC, where it is installed."""

    name = "cbmc"
    settings = frozenset({"mode", "path", "unwind"})

    def missing(self) -> str:
        """What to install, if there is none; a place given as the setting ``path`` is looked for in the run itself."""
        return "" if shutil.which(place()) else f"there is no {place()!r}: {HOW}"


def place() -> str:
    """Where CBMC is looked for: the environment's CBMC, else on the path."""
    return os.environ.get("CBMC", "cbmc")


class CbmcFailed(ChainCoverError):
    """CBMC could not read the harness, or ended in another way that is no answer."""

    next_step = "see harness.c in the folder of the run"


@dataclass(frozen=True, slots=True)
class Installed:
    """An installed CBMC: its ``path`` and version, and options that this version needs."""

    path: str
    version: str
    options: tuple[str, ...]

    @staticmethod
    def at(path: str) -> Installed:
        """UsageError if there is none."""
        found = shutil.which(path)
        if found is None:
            raise UsageError(f"no CBMC at {path!r}", hint=HOW)
        version = _output([found, "--version"]).split() or ["?"]
        # From version 6 on it checks much else by default, which nobody asked for here.
        checks = "--no-standard-checks" in _output([found, "--help"])
        return Installed(found, version[0], ("--no-standard-checks",) if checks else ())

    def command(self, subject: Subject, files: Sequence[str]) -> list[str]:
        """The command that unwinds the loop of a harness, written to ``files``, step by step."""
        compilation = c_model(subject.model).native.compilation
        headers = {str(Path(path).parent) for _, path in compilation.stand_ins}
        folders = [*(str(Path(source).parent) for source in compilation.sources), *compilation.include_dirs]
        words = [word for folder in dict.fromkeys([*folders, *sorted(headers)]) for word in ("-I", folder or ".")]
        words += [word for name, value in compilation.defines for word in ("-D", f"{name}={value}")]
        loop = [
            "--function",
            MAIN,
            "--incremental-loop",
            LOOP,
            "--stop-on-fail",
            "--slice-formula",
        ]
        return [self.path, *files, *words, *loop, *self.options]


def _output(command: Sequence[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


@dataclass(frozen=True, slots=True)
class Answer:
    """What CBMC answered: a trace where the assertion fails; ``ended``: it was not stopped by the time. ``message``:
    the first error."""

    traces: Sequence[Sequence[Mapping[str, Any]]]
    ended: bool
    message: str = ""


def answer_of(output: str, ended: bool) -> Answer:
    """What the JSON that CBMC has printed, perhaps not to its end, says."""
    traces: list[Sequence[Mapping[str, Any]]] = []
    message = ""
    for item in _items(output):
        if isinstance(item.get("trace"), list):
            traces.append(item["trace"])
        if item.get("messageType") == "ERROR":
            message = message or str(item.get("messageText", ""))
    return Answer(traces, ended, message)


def _items(output: str) -> Iterator[Mapping[str, Any]]:
    """The records of a list in JSON that may be cut anywhere."""
    decoder, at = json.JSONDecoder(), output.find("[") + 1
    while at:
        while at < len(output) and output[at] in " \t\r\n,":
            at += 1
        try:
            item, at = decoder.raw_decode(output, at)
        except ValueError:
            return
        if isinstance(item, dict):
            yield item


def case_of(trace: Sequence[Mapping[str, Any]], made: Harness, subject: Subject) -> Case:
    """The test case of a trace: the inputs of each step, and the start values that were chosen."""
    numbers: dict[str, list[int]] = {}
    for step in trace:
        if step.get("stepType") == "input":
            numbers.setdefault(str(step["inputID"]), []).append(_raw(step["values"][0]))
    columns = {name: numbers.get(f"cc_in_{number}", []) for number, name in enumerate(made.inputs)}
    steps = min(map(len, columns.values()), default=0)
    bits = {var.name: var.type.bits for var in subject.system.state}
    bits |= {var.name: var.type.bits for var in subject.system.inputs}

    def value(name: str, number: int) -> int:
        return number % (1 << max(bits[name], 1))

    inputs = [{name: value(name, column[step]) for name, column in columns.items()} for step in range(steps)]
    told = {name: numbers.get(f"cc_chosen_{number}", [0])[0] for number, name in enumerate(made.chosen)}
    return Case(inputs, {name: value(name, number) for name, number in told.items()})


def _raw(value: Mapping[str, Any]) -> int:
    """The bits of a value in a trace."""
    binary = value.get("binary")
    text = str(value.get("data", "0")) if binary is None else str(binary)
    return int(text, 2) if binary is not None else int(text.rstrip("uUlL") or "0")


class _Asking:
    """Asks CBMC about the harness in ``folder``."""

    def __init__(self, search: Search, tool: Installed, folder: Path, unwind: int) -> None:
        self._search, self._tool, self._folder, self._unwind = search, tool, folder, unwind
        self.made: Harness | None = None
        self._calls = 0

    def chain(self) -> list[Case]:
        """The shortest chain through all goals, as far as there is time."""
        answer = self._ask(self._harness(), [], self._search.left)
        cases = [self._case(trace) for trace in answer.traces]
        self._search.cut |= not answer.ended
        self._search.minimal = bool(cases)
        if not cases and answer.ended:
            self._search.notes.append(f"no chain of at most {self._unwind} steps covers all goals")
        return cases

    def tests(self) -> list[Case]:
        """A shortest test for each goal, as far as there is time; one call for each, with its share of the time.

        Asked for all of them together CBMC tells of none before it has the last one, which there may not be.
        """
        command, cases = self._harness(), dict[str, Case]()
        goals = self._search.subject.goals
        for number in range(len(goals)):
            left = self._search.left
            share = None if left is None else left / (len(goals) - number)
            answer = self._ask(command, [f"-D{WANTED}={covered(number)}"], share)
            self._search.cut |= not answer.ended
            for trace in answer.traces:
                case = self._case(trace)
                cases.setdefault(str(case), case)
        return list(cases.values())

    def _harness(self) -> list[str]:
        self.made = harness(self._search.subject)
        return self._tool.command(self._search.subject, self.made.write(self._folder))

    def _case(self, trace: Sequence[Mapping[str, Any]]) -> Case:
        assert self.made is not None
        case = case_of(trace, self.made, self._search.subject)
        self._search.farthest = max(self._search.farthest or 0, len(case.inputs))
        return case

    def _ask(self, command: Sequence[str], more: Sequence[str], seconds: float | None) -> Answer:
        """The answer of one call, which is ended after ``seconds``. CbmcFailed where it is none."""
        self._calls += 1
        most = ["--unwind-max", str(self._unwind)] if self._unwind else []
        words = [*command, *more, *most, "--trace", "--json-ui"]
        said = self._folder / f"cbmc-{self._calls}.json"
        with said.open("wb") as out, (self._folder / "cbmc.log").open("ab") as log:
            process = subprocess.Popen(words, stdout=out, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True)
            try:
                process.wait(seconds)
                ended = True
            except subprocess.TimeoutExpired:
                ended = False
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
        answer = answer_of(said.read_text(encoding="utf-8", errors="replace"), ended)
        if ended and process.returncode not in (0, 10):
            what = answer.message or f"it ended with exit code {process.returncode}"
            raise CbmcFailed(f"CBMC gives no answer: {what}")
        return answer


@click.command()
@held_request_options
@given_options
@click.option("--mode", type=click.Choice([CHAIN, PER_GOAL]), default=CHAIN, show_default=True, help="What is asked.")
@click.option("--path", "where", default=place, metavar="FILE", help="Where CBMC is.  [default: $CBMC, else cbmc]")
@click.option("--unwind", type=click.IntRange(0), default=0, show_default=True, help="Most steps; 0: any number.")
def main(request: Request, given: Given, mode: str, where: str, unwind: int) -> None:
    """A shortest chain through the goals of PATH, or a test for each, by CBMC on the original C."""

    def search(state: Search) -> list[Case]:
        tool = Installed.at(where)
        state.versions["cbmc"] = tool.version
        asking = _Asking(state, tool, Path(given.output) / "cbmc", unwind)
        begun = time.monotonic()
        try:
            return asking.chain() if mode == CHAIN else asking.tests()
        except TimeOver:
            return []
        finally:
            state.stages["search"] = time.monotonic() - begun

    conduct(request, given, search)


if __name__ == "__main__":
    main()

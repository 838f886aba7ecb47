"""The best result so far is on disk at any moment: after a signal, a fault, and with a disk that is full."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command_line import MODELS, chaincover, started, write_files
from small_programs import GOOD, REACH

from chaincover import pipeline
from chaincover.cli.progress import Answers, Figures, Progress, Saving
from chaincover.formats import output
from chaincover.formats.output import CannotWrite
from chaincover.options import Options
from chaincover.partition import maximum_coverage
from chaincover.problem import Problem
from chaincover.result import ChainResult, Listener
from chaincover.stages import Stage

CRUISE = MODELS / "cruise"

# the low two bits tell that n == 1 is unreachable, but no search step by step ends
DEEP = """\
typedef struct { unsigned n; } t_st;
void init(t_st *s) { s->n = 0; }
void compute(_Bool b, t_st *s) { s->n += 2u + b * 2u; }
"""
GOALS = ("--property", "x: cover(n == 1)", "--property", "y: cover(n == 40)")


def document(folder: Path) -> dict[str, Any]:
    found = json.loads((folder / "chain.json").read_text())
    assert isinstance(found, dict)
    return found


@pytest.mark.slow
@pytest.mark.needs_signals
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), pytest.param(signal.SIGINT, 130, marks=pytest.mark.evidence)]
)
def test_a_signal_leaves_the_best_chain_so_far(number: int, code: int, tmp_path: Path) -> None:
    """The file is there before the signal, as the result of a run that is not finished, and after it."""
    write_files(tmp_path, {"c.c": DEEP})
    with started("generate", "c.c", *GOALS, "--engine", "sat", "--effort", "none", cwd=tmp_path, short=True) as process:
        assert process.stderr is not None
        told = next((row for row in process.stderr if "1 of 2 goals" in row), None)
        assert told is not None
        second = next(iter(process.stderr))  # told after the first chain was written
        early = document(tmp_path / "chain-out")
        assert (early["finished"], early["stopped_by"], early["chain"]["order"]) == (False, "", ["y"]), second
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert process.returncode == code, (out, err)
    assert "Traceback" not in out + err
    late = document(tmp_path / "chain-out")
    assert (late["finished"], late["stopped_by"]) == (True, "terminated" if code == 143 else "interrupt")
    assert late["chain"]["order"] == ["y"]
    assert ("Stopped by SIGTERM; " if code == 143 else "Interrupted; ") in out


INTERRUPTED_AT_ONCE = """\
import os, signal, sys
from chaincover.cli import entry

class Ends:
    def find_spec(self, name, path, target=None):
        if name == "chaincover.cli.main":
            os.kill(os.getpid(), signal.SIGTERM)

sys.meta_path.insert(0, Ends())
entry.main()
"""


@pytest.mark.needs_signals
def test_a_termination_while_the_libraries_are_loaded_gives_no_traceback() -> None:
    code = [sys.executable, "-c", INTERRUPTED_AT_ONCE, "check", str(MODELS / "latch" / "latch.c")]
    ended = subprocess.run(code, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (143, "")
    told = ended.stderr.partition("error: ")[2]  # where it is taken depends on how long the libraries took to load
    assert told.startswith(("terminated while the file", "terminated before all was done"))
    assert "Traceback" not in ended.stderr


INTERRUPTED_IN_A_LIBRARY = """\
import os, signal, sys
from chaincover import pipeline
from chaincover.cli import entry

class Ends:
    def find_spec(self, name, path, target=None):
        if name == "ortools.util.python":  # sought by a library of OR-tools that is not written in Python
            os.kill(os.getpid(), signal.SIGTERM)

def load(board):
    from ortools.sat.python import cp_model
    while True:  # until it comes again
        pass

sys.meta_path.insert(0, Ends())
pipeline.find_tests = load
entry.main()
"""
INTERRUPTED_IN_A_DESTRUCTOR = """\
import os, signal
from chaincover import pipeline
from chaincover.cli import entry

class Ends:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)

def goes_on(board):
    Ends()
    while True:  # until it comes again
        pass

pipeline.find_tests = goes_on
entry.main()
"""


@pytest.mark.slow
@pytest.mark.needs("ortools")
@pytest.mark.needs_signals
@pytest.mark.parametrize("program", [INTERRUPTED_IN_A_LIBRARY, INTERRUPTED_IN_A_DESTRUCTOR])
def test_a_termination_that_python_would_lose_leaves_the_best_chain(program: str, tmp_path: Path) -> None:
    """The loading of a compiled library makes an ImportError of it, and after a destructor the program goes on."""
    call = [sys.executable, "-c", program, "generate", str(CRUISE), "-o", str(tmp_path), "--no-replay"]
    ended = subprocess.run(call, capture_output=True, text=True, check=False, timeout=60)
    assert (ended.returncode, ended.stderr.count("Traceback"), ended.stderr.count("ignored")) == (143, 0, 0)
    assert "Stopped by SIGTERM; " in ended.stdout
    found = document(tmp_path)
    assert (found["finished"], found["stopped_by"], found["bounds"]["length"]) == (True, "terminated", 9)


INTERRUPTED_BEFORE = """\
from chaincover.cli import entry
from chaincover.reductions import slicing

def ends(problem):
    raise KeyboardInterrupt("terminated")

slicing.sliced_problem = ends
entry.main()
"""
INTERRUPTED_IN_EXEC = """\
from chaincover.cli import main

main.cli.main = lambda **given: exec("raise KeyboardInterrupt('terminated')")
main.main()
"""


def test_the_exit_code_is_that_of_the_tool_wherever_an_interrupt_came(tmp_path: Path) -> None:
    """The interpreter remembers an interrupt within an exec(), and would end a module by SIGINT."""
    (tmp_path / "ends.py").write_text(INTERRUPTED_IN_EXEC)
    call = [sys.executable, "-m", "ends"]
    ended = subprocess.run(call, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (143, "")
    assert ended.stderr == "error: terminated before all was done\n  next: run the command again\n"


def test_a_termination_before_the_search_leaves_a_result(tmp_path: Path) -> None:
    call = [sys.executable, "-c", INTERRUPTED_BEFORE, "generate", str(CRUISE), "-o", str(tmp_path), "--no-replay"]
    ended = subprocess.run(call, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr.count("Traceback")) == (143, 0)
    assert "Stopped by SIGTERM; " in ended.stdout
    found = document(tmp_path)
    assert (found["finished"], found["stopped_by"], found["chain"]) == (True, "terminated", None)
    assert {goal["verdict"] for goal in found["goals"]} == {"undecided"}


def test_a_fault_after_the_first_chain_leaves_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    search = pipeline.generate

    def crashes(problem: Problem, options: Options, listener: Listener, stages: Sequence[Stage]) -> ChainResult:
        result = search(problem, options, listener, stages)
        listener.improved(lambda: replace(result, stopped_by=""))
        raise RuntimeError("the solver is gone")

    monkeypatch.setattr(maximum_coverage, "generate", crashes)
    outcome = chaincover("generate", CRUISE, "-o", tmp_path)
    assert outcome.code == 70
    assert outcome.err == (
        f"the best result so far is in {tmp_path}/\ninternal error: RuntimeError: the solver is gone\n"
        "  next: report it; CHAINCOVER_DEBUG=1 shows where it happened\n"
    )
    assert document(tmp_path)["chain"]["length"] == 9
    assert document(tmp_path)["finished"] is False
    assert {place.name for place in tmp_path.iterdir()} == {"chain.json", "chain.csv", "run.json"}


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Call it, and from then on no file can be written."""

    def fails(*given: object, **named: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    return lambda: monkeypatch.setattr(output.os, "fdopen", fails)


def test_a_full_disk_leaves_the_earlier_file_and_has_a_code_of_its_own(
    tmp_path: Path, full_disk: Callable[[], None]
) -> None:
    assert chaincover("generate", CRUISE, "-o", tmp_path, "--no-replay", "-q").code == 0
    before = {place.name: place.read_bytes() for place in tmp_path.iterdir()}
    full_disk()
    outcome = chaincover("generate", CRUISE, "-o", tmp_path, "--goal", "p_1", "--no-replay")
    assert outcome.code == 74
    assert "one chain of" in outcome.out
    assert "written to" not in outcome.out
    first, last = outcome.err.index("the result so far is not on disk"), outcome.err.index("\nerror: ")
    assert first < last
    assert outcome.err.count("the result so far is not on disk") == 1
    assert f"{tmp_path}/chain.json: cannot write: No space left on device\n  next: make room" in outcome.err[last:]
    assert {place.name: place.read_bytes() for place in tmp_path.iterdir()} == before


def test_a_full_disk_ends_several_chains_and_the_graph_so_too(tmp_path: Path, full_disk: Callable[[], None]) -> None:
    full_disk()
    assert chaincover("generate", CRUISE, "-o", tmp_path, "--several", "--no-replay").code == 74
    assert chaincover("graph", CRUISE, "-o", tmp_path / "g.json").code == 74
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("written", range(3))
def test_files_that_belong_together_are_all_old_or_all_new(
    written: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full after so many of them."""
    places = [tmp_path / name for name in ("a", "b", "c")]
    output.write_texts(dict.fromkeys(places, "old"))
    opened = [os.fdopen] * written

    def fills(*given: Any, **named: Any) -> Any:
        if not opened:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return opened.pop()(*given, **named)

    monkeypatch.setattr(output.os, "fdopen", fills)
    with pytest.raises(output.CannotWrite, match="No space left on device") as caught:
        output.write_texts(dict.fromkeys(places, "new"))
    assert str(caught.value.where) == str(places[written])
    monkeypatch.undo()
    assert {place: place.read_text() for place in tmp_path.iterdir()} == dict.fromkeys(places, "old")
    output.write_texts(dict.fromkeys(places, "new"))
    assert {place: place.read_text() for place in tmp_path.iterdir()} == dict.fromkeys(places, "new")


def test_an_interrupt_while_a_file_is_written_leaves_no_part_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*given: object) -> None:
        raise KeyboardInterrupt

    output.write_text(tmp_path / "a", "old")
    monkeypatch.setattr(output.os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        output.write_text(tmp_path / "a", "new")
    assert [place.name for place in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_text() == "old"


class Writing:
    """Answers are pairs of a chain and a bound; writing one takes ``seconds`` of its own clock."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.now, self._seconds = 0.0, seconds
        self.written: list[tuple[str, int]] = []
        answers = Answers[tuple[str, int]](self._write, str, lambda answer: answer[0], self._figures)
        self.progress = Progress(-1)
        self.saving = Saving(self.progress, answers, Path("here"), lambda: self.now)

    def _figures(self, answer: tuple[str, int]) -> Figures:
        return Figures(len(self.written), 1, answer[1])

    def _write(self, answer: tuple[str, int]) -> None:
        self.now += self._seconds
        self.written.append(answer)

    def better(self, chain: str, bound: int, at: float) -> None:
        self.now = max(self.now, at)
        self.saving.improved(lambda: (chain, bound))


def test_each_better_chain_is_written_at_once_and_a_bound_after_a_second() -> None:
    case = Writing()
    case.better("a", 1, 0.0)
    case.better("b", 1, 0.1)
    case.better("b", 2, 0.2)
    case.better("b", 3, 0.3)
    assert case.written == [("a", 1), ("b", 1)]
    case.now = 1.2
    case.saving("stage: goes on")
    assert case.written == [("a", 1), ("b", 1), ("b", 3)]


def test_what_waits_is_written_when_another_stage_begins() -> None:
    """That one may take long, and say nothing."""
    case = Writing(seconds=1.0)
    case.saving("simulate: runs")
    case.better("a", 1, 0.0)
    case.better("b", 1, 2.0)
    case.saving("simulate: more runs")
    assert case.written == [("a", 1)]
    case.saving("normal form: states")
    assert case.written == [("a", 1), ("b", 1)]
    assert [(stage, reached.covered) for _, stage, reached in case.progress.history] == [
        ("simulate", 1),
        ("simulate", 2),
    ]


def test_what_takes_long_to_write_is_written_seldom() -> None:
    case = Writing(seconds=2.0)
    for step in range(100):
        case.better(f"chain {step}", 1, at=float(step))
    assert 4 <= len(case.written) <= 6
    assert case.written[0] == ("chain 0", 1)


def test_what_waits_is_written_when_a_fault_ends_the_search() -> None:
    case = Writing(seconds=5.0)
    case.better("a", 1, 0.0)
    case.better("b", 2, 6.0)
    with pytest.raises(ZeroDivisionError), case.saving.kept():
        raise ZeroDivisionError
    assert case.written == [("a", 1), ("b", 2)]


def test_a_write_that_fails_does_not_end_the_search(capsys: pytest.CaptureFixture[str]) -> None:
    def fails(answer: str) -> None:
        raise CannotWrite("cannot write: it is full")

    saving = Saving(Progress(0), Answers[str](fails, str, str), Path("here"))
    saving.improved(lambda: "a")
    saving.improved(lambda: "b")
    assert capsys.readouterr().err.count("the result so far is not on disk: cannot write: it is full") == 1


def test_a_run_that_is_over_says_so(tmp_path: Path) -> None:
    write_files(tmp_path, {"c.c": GOOD})
    assert chaincover("generate", "c.c", *REACH, "-o", "o", cwd=tmp_path).code == 0
    found = document(tmp_path / "o")
    assert (found["finished"], found["stopped_by"], found["effort_used_up"]) == (True, "", False)


def test_a_folder_holds_the_files_of_one_run(tmp_path: Path) -> None:
    """Else verify and replay would take an earlier result for the current one."""
    write_files(tmp_path, {"c.c": GOOD})
    goals = ("--property", "one: cover(n == 1)", "--property", "two: cover(n == 2)", "--no-replay")
    one, several = {"chain.json", "chain.csv", "run.json"}, {"chains.json", "chain-1.json", "chain-1.csv", "run-1.json"}
    for options, expected in (((), one), (("--several",), several), ((), one)):
        assert chaincover("generate", "c.c", *goals, *options, "-o", "out", cwd=tmp_path).code == 0
        assert {place.name for place in (tmp_path / "out").iterdir()} == expected


@pytest.mark.needs_signals
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_that_is_cut_off_is_an_error(unbuffered: str, tmp_path: Path) -> None:
    """The file under stdout takes no more than some bytes; the rest must not be lost in silence."""
    most = 4096
    code = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({most}, resource.RLIM_INFINITY))\n"
    code += "import runpy; runpy.run_module('chaincover', run_name='__main__')"
    words = ["check", str(MODELS / "cruise"), "--compare", "0", "--json", "--no-native"]
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered, "PYTHONDONTWRITEBYTECODE": "1"}
    with (tmp_path / "out").open("wb") as out:
        ended = subprocess.run(
            [sys.executable, "-c", code, *words], stdout=out, stderr=subprocess.PIPE, env=environment, check=False
        )
    assert (ended.returncode, (tmp_path / "out").stat().st_size) == (74, most)
    assert b"cannot write" in ended.stderr

"""Runs that end without success though nothing was refused: verdicts, findings, limits, interrupts, crashes."""

from __future__ import annotations

import errno
import io
import json
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import pytest
from command_line import chaincover, started, write_files
from small_programs import COUNTER, GOOD, REACH, program

from bmc import ending
from bmc.errors import LimitReached
from chaincover.chain import Bounds
from chaincover.cli import entry
from chaincover.cli.main import main
from chaincover.formats.output import write_texts
from chaincover.options import Options
from chaincover.partition import maximum_coverage, several
from chaincover.problem import Problem
from chaincover.result import ChainResult, Listener
from chaincover.stages import Stage


@dataclass(frozen=True)
class End:
    """What ``command`` says on stdout, and the next step it names."""

    id: str
    code: int
    command: tuple[str, ...]
    says: tuple[str, ...]
    next_step: str = ""
    files: Mapping[str, str] = field(default_factory=lambda: {"c.c": GOOD})


def goals(*texts: str) -> tuple[str, ...]:
    return tuple(word for text in texts for word in ("--property", text))


NEVER = goals("x: cover(n == 1 && n == 2)")
EITHER = {"c.c": program("if (s->n == 0) s->n = i->b ? 1 : 2;")}
NEVER_IN_C = program(after="void p_1(t_in *i, t_st *s) { __CPROVER_assume(i->b && !i->b); compute(i, s); }")
RARELY = program("if (s->n < 100 && (unsigned)i->a * 48271u == 4711u) s->n++;")
"""A step on which no input leads that is tried at random."""
ASSERTS = {"c.c": program(COUNTER + " assert(s->n < 2);")}
FAILS = goals("x: G(n == 1 && b -> X(n == 1))")

ENDS = [
    End("unsatisfiable", 4, ("generate", "c.c", *NEVER), ("unreachable: x (--property 1)",), "correct the antecedent"),
    End("unsatisfiable-check", 4, ("check", "c.c", *NEVER), ("UNSATISFIABLE: nothing", "x (--property 1)"), "correct"),
    End("unsatisfiable-in-c", 4, ("generate", "c.c"), ("unreachable: p_1 (c.c:10:6)",), "correct", {"c.c": NEVER_IN_C}),
    End(
        "beyond-k",
        4,
        ("generate", "c.c", *goals("x: cover(n == 9)"), "-K", "3", "--engine", "sat"),
        ("not-within-bound: x", "why: not reached from init within K = 3"),
        "larger -K",
        {"c.c": RARELY},
    ),
    End(
        "no-way-to-final",
        4,
        ("generate", "c.c", *REACH, "--final", "init", "-K", "4"),
        (
            "no-way-to-final: reach",
            "why: reached, but no run goes on to the final condition: all 101",
        ),
        "--final none",
    ),
    End(
        "exclusive",
        4,
        ("generate", "c.c", *goals("x: cover(n == 1)", "y: cover(n == 2)"), "-K", "3"),
        ("no chain covers more than 1 of them", "excluded: "),
        "--exclude",
        EITHER,
    ),
    End(
        "no-covering-path",
        4,
        ("graph", "c.c", *goals("x: cover(n == 9)"), "-K", "3", "--format", "text"),
        ("sought up to K = 3", "This search stopped at K = 3, since K may not be larger: allow more (--bound)."),
    ),
    End(
        "time-limit",
        5,
        ("generate", "c.c", *goals("x: cover(n == 99)"), "--time-limit", "0.001"),
        (
            "no chain yet that covers",
            "it ended in the stage '",
            "what was read: 1 goal, 2 state variables of 64 bits, 2 inputs of 40 bits",
            "undecided: x",
            "why: stopped by time limit",
            "Stopped by time limit",
        ),
        "--time-limit",
    ),
    End(
        "consequent-fails",
        1,
        ("generate", "c.c", *FAILS),
        ("FINDING: x can fail: at step 1", "the consequent of x fails"),
    ),
    End("assertion-fails", 1, ("generate", "c.c", *REACH), ("FINDING: ", "c.c:8:"), files=ASSERTS),
    End("csv-misses", 4, ("replay", "c.c", "a.csv", *REACH), ("missed",), "", {"c.c": GOOD, "a.csv": "a,b\n0,1"}),
]


@pytest.mark.slow
@pytest.mark.parametrize("end", ENDS, ids=[end.id for end in ENDS])
def test_ends_without_success(end: End, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chaincover.cli.options.interrupt_after", lambda seconds: None)  # it ends by itself, too
    write_files(tmp_path, dict(end.files))
    outcome = chaincover(*end.command, cwd=tmp_path)
    assert outcome.code == end.code, outcome
    assert outcome.err == ""
    for part in end.says:
        assert part in outcome.out, outcome.out
    assert end.next_step in outcome.out.partition("\n  next: ")[2], outcome.out
    if end.command[0] != "generate":
        assert {p.name for p in tmp_path.iterdir()} == set(end.files)
        return
    written = {p.name for p in (tmp_path / "chain-out").iterdir()}
    document = json.loads((tmp_path / "chain-out" / "chain.json").read_text())
    if end.id != "exclusive":  # a chain for one of the two goals is in hand
        assert (document["chain"] is None) == (end.code in (4, 5))
    decided = (document["requirements"] or {"rulings": []})["rulings"]
    failing = {f"violation-{each['goal']}.csv" for each in decided if each["ruling"] == "can fail"}
    chain = set() if document["chain"] is None else {"chain.csv"}
    assert written == {"chain.json", "run.json"} | chain | failing


def test_stale_table_of_an_earlier_chain_is_removed(tmp_path: Path) -> None:
    write_files(tmp_path, {"c.c": GOOD})
    assert chaincover("generate", "c.c", *REACH, "-o", "o", cwd=tmp_path).code == 0
    assert (tmp_path / "o" / "chain.csv").exists()
    assert chaincover("generate", "c.c", *NEVER, "-o", "o", cwd=tmp_path).code == 4
    assert not (tmp_path / "o" / "chain.csv").exists()


def test_a_failed_consequent_comes_before_goals_that_are_not_covered(tmp_path: Path) -> None:
    write_files(tmp_path, {"c.c": GOOD})
    assert chaincover("generate", "c.c", *FAILS, *goals("y: cover(n == 1 && n == 2)"), cwd=tmp_path).code == 1


def test_json_is_all_that_stdout_gets_from_an_error(tmp_path: Path) -> None:
    write_files(tmp_path, {"c.c": program("s->n = spede;")})
    outcome = chaincover("generate", "c.c", *REACH, "--json", cwd=tmp_path)
    assert outcome.json == {
        "error": "unknown name 'spede'",
        "where": "c.c:8:10",
        "next": "declare it, or include its header",
        "exit_code": 3,
    }


def test_a_limit_before_all_is_read_says_what_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(request: object, unconfirmed: bool, bounded: bool) -> None:
        ending.call_off("time limit")
        ending.reads(lambda: "the file c.c was read")

    monkeypatch.setattr("chaincover.cli.options.load_request", read)
    write_files(tmp_path, {"c.c": GOOD})
    outcome = chaincover("generate", "c.c", *REACH, "--json", cwd=tmp_path)
    assert outcome.json == {
        "error": "the time limit was reached while the file c.c was read",
        "where": None,
        "next": "allow more time (--time-limit)",
        "exit_code": 5,
    }
    assert outcome.code == 5


def test_what_escapes_the_search_leaves_the_best_chain_that_it_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = maximum_coverage.generate

    def escapes(problem: Problem, options: Options, listener: Listener, stages: Sequence[Stage]) -> ChainResult:
        result = search(problem, options, listener, stages)
        listener.improved(lambda: result)
        raise LimitReached("over")

    monkeypatch.setattr(maximum_coverage, "generate", escapes)
    write_files(tmp_path, {"c.c": GOOD})
    outcome = chaincover("generate", "c.c", *REACH, "--json", cwd=tmp_path)
    assert (outcome.code, outcome.err) == (0, "")
    assert (outcome.json["stopped_by"], outcome.json["bounds"]["length"]) == ("time limit", 2)
    assert json.loads((tmp_path / "chain-out" / "chain.json").read_text()) == outcome.json


@pytest.mark.parametrize("options", [(), ("--several",)])
def test_inputs_that_were_not_made_simpler_are_told(
    options: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path, {"c.c": GOOD})
    for part, told in ((0.25, False), (0.0, True)):
        monkeypatch.setattr("chaincover.limits.AFTER", part)
        outcome = chaincover("generate", "c.c", *REACH, "--no-native", *options, cwd=tmp_path)
        assert ("the inputs of steps 0 to 1 are as the search found them" in outcome.out) == told
        assert outcome.code == 0


@pytest.mark.parametrize(
    ("lower", "length", "told"),
    [
        (0, 1, "a chain of 0 steps exists"),
        (0, 2, "a chain of fewer than 2 steps exists (no lower bound yet)"),
        (1, 2, "a chain of 1 step exists"),
        (1, 3, "a chain of 1 to 2 steps exists"),
    ],
)
def test_what_is_left_open_of_the_length_is_a_right_sentence(
    lower: int, length: int, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = maximum_coverage.generate_all_or_most

    def stopped(*given: Any) -> ChainResult:
        return replace(find(*given), bounds=Bounds(lower, length, ""), stopped_by="time limit")

    monkeypatch.setattr(maximum_coverage, "generate_all_or_most", stopped)
    write_files(tmp_path, {"c.c": GOOD})
    outcome = chaincover("generate", "c.c", *REACH, "--no-replay", "-o", "o", cwd=tmp_path)
    assert f"left open: whether {told}." in " ".join(outcome.out.split())


@pytest.mark.parametrize(
    ("search", "options", "once", "again"),
    [
        (maximum_coverage, (), {"chain.json", "chain.csv"}, {"run.json"}),
        (several, ("--several",), {"chains.json", "chain-1.json", "chain-1.csv"}, {"run-1.json"}),
    ],
)
def test_what_a_replay_does_not_change_is_written_once_after_a_limit(
    search: ModuleType,
    options: tuple[str, ...],
    once: set[str],
    again: set[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A chain of 13,078 steps was written twice, 4.5 s each time."""
    name = "generate_several" if options else "generate_all_or_most"
    find, written = getattr(search, name), Counter[str]()

    def stopped(*given: Any) -> Any:
        return replace(find(*given), stopped_by="time limit")

    def counting(texts: Mapping[Path, Iterable[str]]) -> None:
        written.update(place.name for place in texts)
        write_texts(texts)

    def closing(reason: str, bounded: bool = True) -> None:
        written.clear()
        entry.closing(reason, bounded)

    monkeypatch.setattr(search, name, stopped)
    monkeypatch.setattr("chaincover.cli.delivery.write_texts", counting)
    monkeypatch.setattr("chaincover.cli.delivery.closing", closing)
    write_files(tmp_path, {"c.c": GOOD})
    outcome = chaincover("generate", "c.c", *REACH, *options, cwd=tmp_path)
    assert (outcome.code, outcome.err) == (0, "")
    assert written == {**dict.fromkeys(once, 1), **dict.fromkeys(again, 2)}
    assert "replay" in json.loads((tmp_path / "chain-out" / again.pop()).read_text())["seconds"]


@pytest.mark.parametrize(
    ("search", "options", "headline"),
    [(maximum_coverage, (), "one chain of 2 steps"), (several, ("--several",), "1 chain")],
)
def test_a_chain_that_takes_long_to_write_is_told_before_that_after_a_limit(
    search: ModuleType,
    options: tuple[str, ...],
    headline: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    name = "generate_several" if options else "generate_all_or_most"
    find, events = getattr(search, name), list[str]()

    def stopped(*given: Any) -> Any:
        return replace(find(*given), stopped_by="time limit")

    def told(texts: Mapping[Path, Iterable[str]]) -> None:
        events.append(capsys.readouterr().out)
        write_texts(texts)

    def closing(reason: str, bounded: bool = True) -> None:
        events.clear()
        assert not bounded
        entry.closing(reason, bounded)

    monkeypatch.setattr(search, name, stopped)
    monkeypatch.setattr("chaincover.cli.delivery.REPLAYED", 1)
    monkeypatch.setattr("chaincover.cli.delivery.write_texts", told)
    monkeypatch.setattr("chaincover.cli.delivery.closing", closing)
    write_files(tmp_path, {"c.c": GOOD})
    monkeypatch.chdir(tmp_path)
    with mock.patch.object(sys, "argv", ["chaincover", "generate", "c.c", *REACH, *options]), pytest.raises(SystemExit):
        main()
    (before,), after = events, capsys.readouterr().out
    assert headline in before
    assert "written to" not in before
    assert after.startswith("written to chain-out/: chain")


@pytest.mark.parametrize(
    ("reason", "named"), [("interrupt", "Interrupted"), ("time limit", ""), ("terminated", "SIGTERM")]
)
@pytest.mark.parametrize("options", [(), ("--several",)])
def test_a_signal_after_the_proof_is_told_and_a_limit_that_leaves_nothing_open_is_not(
    reason: str, named: str, options: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The summary of a run that was interrupted after its search said nothing of that."""

    def closing(stopped_by: str, bounded: bool = True) -> None:
        ending.call_off(reason)
        entry.closing(stopped_by, bounded)

    monkeypatch.setattr("chaincover.cli.delivery.closing", closing)
    write_files(tmp_path, {"c.c": GOOD})
    told = chaincover("generate", "c.c", *REACH, "--no-replay", *options, cwd=tmp_path).out
    assert "minimal, proved" in told
    assert [line for line in told.splitlines() if "what is told is valid" in line] == (
        [f"{named if named == 'Interrupted' else f'Stopped by {named}'}; what is told is valid."] if named else []
    )
    report = chaincover("generate", "c.c", *REACH, "--no-replay", *options, "--report", "--coverage", cwd=tmp_path)
    assert "minimal, proved" in report.out
    assert report.err == ""
    assert (tmp_path / "chain-out" / "report.html").exists()
    if not named:
        monkeypatch.setattr("chaincover.cli.delivery.REPLAYED", 1)
        told = chaincover("generate", "c.c", *REACH, *options, cwd=tmp_path).out
        assert "Stopped by time limit; what is told is valid." in told
        assert "not replayed, as the run was stopped" in told


@pytest.mark.needs_compiler
@pytest.mark.parametrize("form", [(), ("--json",), ("-q",)])
def test_a_chain_whose_replay_crashes_is_still_written(form: tuple[str, ...], tmp_path: Path) -> None:
    write_files(tmp_path, {"c.c": program(f"\n#ifndef __CHAINCOVER__\n*(volatile int *)8 = 1;\n#endif\n{COUNTER}")})
    outcome = chaincover("generate", "c.c", *REACH, *form, cwd=tmp_path)
    assert outcome.code == 1
    assert outcome.err.startswith("error: the compiled original ended in step 0 (of 2, counted from 0): SIGSEGV")
    assert "  next: run that step under a debugger" in outcome.err
    if form == ("--json",):
        assert outcome.json["exit_code"] == 1
    else:
        assert ("one chain of 2 steps" in outcome.out) == (form == ())
    assert json.loads((tmp_path / "chain-out" / "chain.json").read_text())["chain"]["length"] == 2


INTERRUPTED_WHILE_LOADING = """\
import os, signal, sys
from chaincover.chain import Bounds
from chaincover.cli import entry

class Interrupts:
    def find_spec(self, name, path, target=None):
        if name == "chaincover.cli.main":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupts())
entry.main()
"""


@pytest.mark.needs_signals
@pytest.mark.parametrize("command", ["check c.c --json", "init c.c", "generate c.c"])
def test_an_interrupt_while_the_libraries_are_loaded_ends_as_any_other(command: str, tmp_path: Path) -> None:
    (tmp_path / "c.c").write_text(GOOD)
    code = [sys.executable, "-c", INTERRUPTED_WHILE_LOADING, *command.split()]
    ended = subprocess.run(code, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert ended.returncode == 130
    assert "Traceback" not in ended.stderr
    assert "interrupt" in (ended.stdout if "--json" in command else ended.stdout + ended.stderr)
    if "--json" in command:
        assert json.loads(ended.stdout)


def test_without_goals_the_chain_is_the_shortest_way_to_the_final_condition(tmp_path: Path) -> None:
    write_files(tmp_path, {"c.c": GOOD})
    outcome = chaincover("generate", "c.c", "--final", "n == 3", "-o", "o", cwd=tmp_path)
    assert outcome.code == 0
    assert json.loads((tmp_path / "o" / "chain.json").read_text())["bounds"]["length"] == 3


def test_a_fault_of_the_tool_is_told_without_a_traceback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*given: object, **named: object) -> None:
        raise RuntimeError("lost\nand more")

    monkeypatch.setattr("chaincover.partition.maximum_coverage.generate", fails)
    write_files(tmp_path, {"c.c": GOOD})
    outcome = chaincover("generate", "c.c", *REACH, cwd=tmp_path)
    assert outcome.code == 70
    assert outcome.err.startswith("internal error: RuntimeError: lost\n  next: report it")
    assert not any((tmp_path / "chain-out").iterdir())


def test_no_memory_is_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*given: object, **named: object) -> None:
        raise MemoryError

    monkeypatch.setattr("chaincover.partition.maximum_coverage.generate", fails)
    write_files(tmp_path, {"c.c": GOOD})
    outcome = chaincover("generate", "c.c", *REACH, cwd=tmp_path)
    assert (outcome.code, outcome.err) == (5, "")
    assert "no chain yet that covers all 1 goals" in outcome.out
    assert "Stopped by memory limit" in outcome.out

    def no_thread(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", no_thread)
    outcome = chaincover("generate", "c.c", *REACH, cwd=tmp_path)
    assert (outcome.code, outcome.err.splitlines()[0]) == (5, "error: there is no memory for a stack of 512 MB")


class Full(io.StringIO):
    """A stream on a full disk."""

    def write(self, text: str) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(
    ("command", "stdout", "stderr"),
    [(("check", "gone.c"), 3, 3), (("check",), 2, 2), (("check", "gone.c", "--json"), 74, 3), (("--help",), 74, 0)],
)
def test_where_nothing_can_be_written_the_exit_code_tells(command: tuple[str, ...], stdout: int, stderr: int) -> None:
    for stream, code in (("stdout", stdout), ("stderr", stderr)):
        with (
            mock.patch.object(sys, "argv", ["chaincover", *command]),
            mock.patch.object(sys, stream, Full()),
            mock.patch("chaincover.cli.main._forget_stdout"),
            pytest.raises(SystemExit) as ending,
        ):
            main()
        assert ending.value.code == code


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_stream_that_was_closed_is_done_without(stream: str, tmp_path: Path) -> None:
    write_files(tmp_path, {"c.c": GOOD})
    with (
        mock.patch.object(sys, "argv", ["chaincover", "check", str(tmp_path / "c.c"), "--compare", "0"]),
        mock.patch.object(sys, stream, None),
        pytest.raises(SystemExit) as ending,
    ):
        main()
    assert ending.value.code == 0


# the low two bits tell that n == 1 is unreachable, but no search step by step ends
DEEP = """\
typedef struct { unsigned n; } t_st;
void init(t_st *s) { s->n = 0; }
void compute(_Bool b, t_st *s) { s->n += 2u + b * 2u; }
"""


@pytest.mark.slow
@pytest.mark.needs_signals
@pytest.mark.parametrize("command", ["generate", "graph"])
def test_interrupted(command: str, tmp_path: Path) -> None:
    """A search that would go on for long is interrupted as soon as it tells of its progress."""
    write_files(tmp_path, {"c.c": DEEP})
    given = ("-K", "100000", "--engine", "sat", "-v")
    with started(command, "c.c", *goals("x: cover(n == 1)"), *given, cwd=tmp_path, short=True) as process:
        assert process.stderr is not None
        seen = ""
        while "K = 1" not in seen:
            row = process.stderr.readline()
            assert row, f"it ended by itself: {seen}"
            seen += row
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 130, (out, err)
        assert "Traceback" not in out + err
    if command == "graph":
        assert json.loads(out)["k"] >= 1
        return
    assert "undecided: stopped by interrupt" in out
    assert {p.name for p in (tmp_path / "chain-out").iterdir()} == {"chain.json", "run.json"}
    document = json.loads((tmp_path / "chain-out" / "chain.json").read_text())
    assert (document["stopped_by"], document["chain"]) == ("interrupt", None)


LONG_TO_READ = program("for (int k = 0; k < 99999; k++) for (int l = 0; l < 9; l++) s->n ^= k + l + i->a;")
"""A program that takes seconds to read, before it is refused."""


@pytest.mark.slow
@pytest.mark.needs_signals
@pytest.mark.parametrize("command", [("check", "c.c"), ("generate", "c.c"), ("replay", "c.c", "a.csv")])
def test_the_time_limit_counts_from_the_beginning_whatever_is_done(command: tuple[str, ...], tmp_path: Path) -> None:
    write_files(tmp_path, {"c.c": LONG_TO_READ, "a.csv": "a,b\n0,1"})
    with started(*command, "--time-limit", "0.001", cwd=tmp_path) as process:
        out, err = process.communicate(timeout=60)
    assert process.returncode == 5, (out, err)
    assert err.endswith(
        "error: the time limit was reached while the function compute was read (c.c:7:6)\n"
        "  next: allow more time (--time-limit)\n"
    )
    assert "Traceback" not in out + err
    assert {p.name for p in tmp_path.iterdir()} == {"c.c", "a.csv"}


@pytest.mark.slow
@pytest.mark.needs_signals
def test_init_writes_what_it_knows_when_its_time_is_over(tmp_path: Path) -> None:
    write_files(tmp_path, {"c.c": LONG_TO_READ})
    with started("init", "c.c", "--time-limit", "0.001", cwd=tmp_path) as process:
        out, err = process.communicate(timeout=60)
    assert process.returncode == 5, (out, err)
    assert "step compute()" in out
    assert "not read to the end: time limit while the function compute was read (c.c:7:6)" in out
    assert 'step = "compute"' in (tmp_path / "chaincover.toml").read_text()

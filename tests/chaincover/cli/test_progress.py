"""Progress: one line that replaces itself on a terminal, elsewhere a line for each better answer."""

from __future__ import annotations

import fcntl
import io
import os
import re
import select
import struct
import termios
from pathlib import Path

import pytest
from command_line import MODELS, chaincover

from chaincover.chain import COVERED, UNDECIDED, UNREACHABLE, Bounds, Chain, Verdict
from chaincover.cli.progress import Progress, described
from chaincover.cli.verify import Telling
from chaincover.known import NOTHING
from chaincover.options import Options
from chaincover.result import ChainResult


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def told(verbosity: int) -> None:
    progress = Progress(verbosity)
    progress("graph: K = 1")
    progress.better("1 of 2 goals in 5 steps, none below 3 (gap 67%)")
    progress("graph: K = 2")
    progress.better("1 of 2 goals in 5 steps, none below 3 (gap 67%)")
    progress.better("2 of 2 goals in 7 steps, minimal")
    progress.done()


@pytest.mark.parametrize(
    ("verbosity", "rows"),
    [
        (-1, []),
        (
            0,
            [
                "T  graph: 1 of 2 goals in 5 steps, none below 3 (gap 67%)",
                "T  graph: 2 of 2 goals in 7 steps, minimal",
            ],
        ),
        (
            1,
            [
                "graph: K = 1",
                "T  graph: 1 of 2 goals in 5 steps, none below 3 (gap 67%)",
                "graph: K = 2",
                "T  graph: 2 of 2 goals in 7 steps, minimal",
            ],
        ),
    ],
)
def test_lines_where_there_is_no_terminal(verbosity: int, rows: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    told(verbosity)
    assert re.sub(r"(?m)^ *\d+\.\d s", "T", capsys.readouterr().err).splitlines() == rows


def test_one_line_that_replaces_itself_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    told(0)
    shown = [re.sub(r"^ *\d+\.\d s", "T", text) for text in terminal.getvalue().split("\r\x1b[K")]
    assert shown[1] == "T  graph: K = 1"
    assert shown[-2] == "T  2 of 2 goals in 7 steps, minimal | graph: K = 2"
    assert shown[-1] == ""
    assert "\n" not in terminal.getvalue()


def test_what_is_said_again_keeps_the_line_alive_and_is_no_line_of_its_own(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    progress = Progress(1)
    for text in ("explore: runs", "explore: runs", "graph: K = 1", "explore: runs"):
        progress(text)
    assert capsys.readouterr().err.splitlines() == ["explore: runs", "graph: K = 1", "explore: runs"]
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    progress = Progress()
    progress("explore: runs")
    progress.begun -= 12
    progress("explore: runs")
    assert re.search(r"1\d\.\d s  explore: runs$", terminal.getvalue())


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_the_line_is_as_wide_as_the_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line of all columns would be wrapped, and could not be replaced any more."""
    master, slave = os.openpty()
    try:
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 25, columns, 0, 0))
        with open(slave, "w", closefd=False) as terminal:
            monkeypatch.setattr("sys.stderr", terminal)
            progress = Progress()
            progress.better("1 of 2 goals in 5 steps")
            progress("graph: " + 30 * "K is 1, ")
        written = b""
        while not written.endswith(b"...") and select.select([master], [], [], 10)[0]:
            written += os.read(master, 10_000)
        shown = written.decode().split("\r\x1b[K")[-1]
    finally:
        os.close(slave)
        os.close(master)
    assert len(shown) == columns - 1
    assert shown.endswith("...")
    assert "1 of 2 goals in 5 steps" in shown


@pytest.mark.parametrize(
    ("bounds", "text"),
    [
        (Bounds(0, None, ""), "1 of 2 goals; no chain yet"),
        (Bounds(4, None, ""), "1 of 2 goals; no chain yet, none is shorter than 4 steps"),
        (Bounds(4, 6, ""), "1 of 2 goals in 6 steps, none below 4 (gap 50%)"),
        (Bounds(4, 8, ""), "1 of 2 goals in 8 steps, none below 4 (gap 100%)"),
        (Bounds(121, 603, ""), "1 of 2 goals in 603 steps, at least 121"),
        (Bounds(0, 1, ""), "1 of 2 goals in 1 step, no lower bound yet"),
        (Bounds(6, 6, ""), "1 of 2 goals in 6 steps"),
    ],
)
def test_the_best_answer_in_a_line(bounds: Bounds, text: str) -> None:
    verdicts = (Verdict("a", COVERED, 0), Verdict("b", UNDECIDED))
    chain = None if bounds.length is None else Chain(None, (), ())  # type: ignore[arg-type]
    assert described(ChainResult(chain, verdicts, bounds, None, NOTHING, Options())) == text


def test_a_chain_is_called_minimal_only_when_no_goal_is_undecided() -> None:
    verdicts = (Verdict("a", COVERED, 0), Verdict("b", UNREACHABLE))
    chain = Chain(None, (), ())  # type: ignore[arg-type]
    told = described(ChainResult(chain, verdicts, Bounds(6, 6, ""), None, NOTHING, Options()))
    assert told == "1 of 2 goals in 6 steps, minimal"


def test_a_line_of_verify_never_stands_behind_the_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Checks are told as they are done, while one line of progress replaces itself."""
    assert chaincover("generate", MODELS / "cruise", "--no-replay", "-q", "-o", tmp_path).code == 0
    shown: list[str] = []
    monkeypatch.setattr(Progress, "_replaces", property(lambda _: True))
    monkeypatch.setattr("chaincover.cli.progress.tell", lambda text, nl=True: shown.append(text))
    monkeypatch.setattr(Telling, "__call__", lambda _, line: shown.append(line.check))
    assert "checked, and holds" in chaincover("verify", MODELS / "cruise", tmp_path, "--no-native").out
    checks = [place for place, text in enumerate(shown) if text == "chain"]
    assert checks
    assert all(shown[place - 1] == "\r\x1b[K" for place in checks)

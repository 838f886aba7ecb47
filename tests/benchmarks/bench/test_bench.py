"""``chaincover bench`` as a whole, with a tool that does what the test wants: its table, its limits, and going on."""

from __future__ import annotations

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from bench_suites import bench, done, module_path, rows_in, suite_text
from command_line import MODELS, write_files

from benchmarks.bench.row import COLUMNS
from benchmarks.bench.run import log_text

TIMES = ("seconds", "processor_seconds", "megabytes", "host")


def test_a_suite_gives_a_table_a_page_and_logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = suite_text(tmp_path, [{}, {"orderings": "one two", "seed": [3, 4]}], ["latch", "door"])
    (tmp_path / "s.toml").write_text(text)
    ended = bench(monkeypatch, tmp_path, "s.toml", "-o", "out")
    assert ended.code == 0
    assert "10 rows: 10 finished; written to out/" in ended.out
    out = tmp_path / "out"
    rows = rows_in(out)
    assert [(row["model"], row["configuration"], row["seed"], row["ordering"]) for row in rows] == [
        (model, *rest)
        for model in ("latch", "door")
        for rest in (("c0", 0, ""), ("c1", 3, "one"), ("c1", 3, "two"), ("c1", 4, "one"), ("c1", 4, "two"))
    ]
    first = rows[0]
    assert (first["status"], first["length"], first["minimal"], first["exit_code"]) == ("finished", 14, True, 0)
    assert [first[name] for name in ("goals", "covered", "impossible", "undecided")] == [3, 1, 1, 1]
    assert (out / first["log"]).read_text() == "begun\n"
    assert (out / "runs" / first["id"] / "found.json").exists()
    assert (out / "suite.toml").read_text() == text
    assert (out / "index.html").exists()
    with open(out / "rows.csv", newline="") as file:
        table = [*csv.reader(file)]
    assert table[0] == [*COLUMNS]
    assert [row[0] for row in table[1:]] == [row["id"] for row in rows]
    assert "5 runs left" in ended.stderr
    assert "under way: " in ended.stderr


def test_several_at_once_give_the_same_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    configurations = [{"seed": [1, 2, 3]}, {"does": "fail"}]
    (tmp_path / "s.toml").write_text(suite_text(tmp_path, configurations, ["latch", "door"]))
    tables = []
    for jobs in (1, 3):
        assert bench(monkeypatch, tmp_path, "s.toml", "-o", f"out{jobs}", "--jobs", jobs).code == 0
        with open(tmp_path / f"out{jobs}" / "rows.csv", newline="") as file:
            tables.append([{k: v for k, v in row.items() if k not in TIMES} for row in csv.DictReader(file)])
    assert tables[0] == tables[1]


def test_what_goes_wrong_costs_its_row_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = ["crash", "fail", "fill", "finish", "refuse"]
    absent = {"tool": "bench_suites:Absent"}
    (tmp_path / "s.toml").write_text(suite_text(tmp_path, [*({"does": does} for does in kinds), absent]))
    ended = bench(monkeypatch, tmp_path, "s.toml", "-o", "out")
    assert ended.code == 0
    rows = {row["configuration"]: row for row in rows_in(tmp_path / "out")}
    statuses = [rows[f"c{number}"]["status"] for number in range(6)]
    assert statuses == ["crashed", "crashed", "out of memory", "finished", "crashed", "missing"]
    assert rows["c0"]["exit_code"] == -signal.SIGSEGV
    assert rows["c1"]["note"] == "nothing to be found in .", (
        "the log's last line that is no advice, without places of this machine"
    )
    assert rows["c2"]["megabytes"] > 200
    assert rows["c4"]["note"] == "ValueError: this cannot be run"
    assert rows["c5"]["note"] == "absent is not installed: get it"
    assert [rows["c1"][name] for name in ("goals", "covered", "impossible", "undecided")] == [3, 0, 0, 3], (
        "another run of the model knows its goals"
    )


@pytest.mark.needs_signals
def test_of_a_long_log_begin_and_end_are_read(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    log.write_bytes(b"begun\n" + bytes(50 << 20) + b"\nerror: this is why")
    text = log_text(log)
    assert (text[:6], text[-18:]) == ("begun\n", "error: this is why")
    assert len(text) < 3 << 20
    log.write_bytes(b"a short one\n\xff")
    assert log_text(log) == "a short one\n\N{REPLACEMENT CHARACTER}"


def test_time_is_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "alive")
    reader = os.open(tmp_path / "alive", os.O_RDONLY | os.O_NONBLOCK)
    text = suite_text(tmp_path, [{"does": "hold"}, {}]).replace("seconds = 60", "seconds = 0.5")
    (tmp_path / "s.toml").write_text(text)
    assert bench(monkeypatch, tmp_path, "s.toml", "-o", "out").code == 0
    os.close(reader)
    assert [row["status"] for row in rows_in(tmp_path / "out")] == ["time-out", "finished"]


@contextmanager
def under_way(folder: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A suite of four runs whose third one goes on until it is killed; the pipe that its processes have open."""
    os.mkfifo(folder / "alive")
    (folder / "s.toml").write_text(suite_text(folder, [{}, {"seed": 1}, {"does": "hold"}, {"seed": 2}]))
    command = [sys.executable, "-m", "chaincover", "bench", "s.toml", "-o", "out"]
    variables = {**os.environ, "PYTHONPATH": module_path(folder / "registered")}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=folder, env=variables, stdout=pipe, stderr=pipe, text=True) as process:
        reader = os.open(folder / "alive", os.O_RDONLY)
        assert os.read(reader, 6) == b"alive\n"
        yield process, reader
        assert os.read(reader, 1) == b"", "no process of the run that was under way is left"
        os.close(reader)


@pytest.mark.needs_signals
def test_after_a_kill_nothing_that_has_ended_is_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with under_way(tmp_path) as (process, _):
        process.kill()
    finished = [row["id"] for row in rows_in(tmp_path / "out")]
    assert len(finished) == 2
    refused = bench(monkeypatch, tmp_path, "s.toml", "-o", "out")
    assert refused.code == 2
    assert "go on with --resume" in refused.stderr
    resumed = bench(monkeypatch, tmp_path, "s.toml", "-o", "out", "--resume")
    assert resumed.code == 0
    assert "2 runs of 4 had ended and are kept" in resumed.stderr
    assert done(tmp_path) == ["latch finish 0", "latch finish 1", "latch hold 0", "latch hold 0", "latch finish 2"]
    rows = rows_in(tmp_path / "out")
    assert [row["id"] for row in rows][:2] == finished
    assert [row["status"] for row in rows] == ["finished"] * 4
    assert bench(monkeypatch, tmp_path, "s.toml", "-o", "out", "--resume").code == 0
    assert len(done(tmp_path)) == 5


@pytest.mark.slow
@pytest.mark.needs_signals
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_leaves_a_table_of_what_has_ended(number: signal.Signals, code: int, tmp_path: Path) -> None:
    """It told nothing of it, and advised to run the same command again, which is refused."""
    with under_way(tmp_path) as (process, _):
        process.send_signal(number)
        assert process.wait() == code
        assert process.stdout is not None
        assert process.stderr is not None
        told, said = process.stdout.read().splitlines(), process.stderr.read()
    assert "error" not in said
    ended, left = told[1].split(": ")
    assert told[0] == "2 rows: 2 finished; written to out/: index.html, rows.csv"
    assert (ended, left) == ("Interrupted" if code == 130 else "Stopped by SIGTERM", "2 of 4 runs ended")
    assert told[2].startswith("not done: latch")
    assert told[2].count("latch") == 2
    assert told[3] == "go on: chaincover bench s.toml -o out --resume"
    out = tmp_path / "out"
    with open(out / "rows.csv", newline="") as file:
        assert [row["status"] for row in csv.DictReader(file)] == ["finished", "finished"]
    assert (out / "index.html").exists()


def test_a_line_that_was_cut_off_is_a_run_that_has_not_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of a run with several are there all or not at all, also where the cut is between two lines."""
    (tmp_path / "s.toml").write_text(suite_text(tmp_path, [{}, {"seed": 1, "orderings": "one two"}]))
    assert bench(monkeypatch, tmp_path, "s.toml", "-o", "out").code == 0
    place = tmp_path / "out" / "rows.jsonl"
    whole = place.read_text()
    first, second, _ = whole.splitlines(keepends=True)
    for text in (first + second + "{", first + second, first + second[:-1], first + second[:50]):
        place.write_text(text)
        (tmp_path / "did").unlink()
        ended = bench(monkeypatch, tmp_path, "s.toml", "-o", "out", "--resume")
        assert "1 run of 2 had ended and is kept" in ended.stderr
        assert done(tmp_path) == ["latch finish 1"]
        assert [row["ordering"] for row in rows_in(tmp_path / "out")] == ["", "one", "two"]
        (tmp_path / "did").touch()


def test_of_another_suite_the_same_runs_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "s.toml").write_text(suite_text(tmp_path, [{}, {"seed": 1}]))
    assert bench(monkeypatch, tmp_path, "s.toml", "-o", "out").code == 0
    (tmp_path / "s.toml").write_text(suite_text(tmp_path, [{}, {"seed": 2}]))
    ended = bench(monkeypatch, tmp_path, "s.toml", "-o", "out", "--resume")
    assert "1 run of 2 had ended and is kept; 1 row of an earlier suite is left out" in ended.stderr
    assert done(tmp_path) == ["latch finish 0", "latch finish 1", "latch finish 2"]
    assert [row["seed"] for row in rows_in(tmp_path / "out")] == [0, 2]


def test_what_was_missing_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "s.toml").write_text(suite_text(tmp_path, [{"tool": "bench_suites:Absent"}]))
    bench(monkeypatch, tmp_path, "s.toml", "-o", "out")
    monkeypatch.setattr("bench_suites.Absent.missing", lambda self: "")
    bench(monkeypatch, tmp_path, "s.toml", "-o", "out", "--resume")
    assert [row["status"] for row in rows_in(tmp_path / "out")] == ["finished"]


def test_sources_that_change_meanwhile_end_the_suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row never has the hash of other sources than those it was made with."""
    from benchmarks.bench import run
    from benchmarks.bench.plan import Code

    (tmp_path / "s.toml").write_text(suite_text(tmp_path, [{}]))
    monkeypatch.setattr(run, "code_of", lambda model: Code("another", ""))
    ended = bench(monkeypatch, tmp_path, "s.toml", "-o", "out")
    assert ended.code == 2
    assert "the sources of latch are not those with which the suite began" in ended.stderr
    assert done(tmp_path) == []


def test_a_folder_has_one_writer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks.bench.table import Table

    (tmp_path / "s.toml").write_text(suite_text(tmp_path, [{}]))
    (tmp_path / "out").mkdir()
    table = Table(tmp_path / "out")
    assert "another run of a suite writes" in bench(monkeypatch, tmp_path, "s.toml", "-o", "out").stderr
    table.close()
    assert bench(monkeypatch, tmp_path, "s.toml", "-o", "out").code == 0


@pytest.mark.slow
def test_pinned_figures_that_differ_end_with_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With ChainCover itself, for which alone figures are pinned."""
    row = '[[row]]\nname = "Latch"\nproject = "m/chaincover.toml"\nchains = 1\nlength = 6\nlower = {}\n'
    suite = '[[models]]\nprojects = "m"\nrows = "rows.toml"\n[[configurations]]\nname = "c"\ntool = "chaincover"\n'
    write_files(tmp_path, {"s.toml": suite, "rows.toml": row.format(6)})
    shutil.copytree(MODELS / "latch", tmp_path / "m")
    assert bench(monkeypatch, tmp_path, "s.toml", "-o", "out").code == 0
    (told,) = rows_in(tmp_path / "out")
    assert [told[name] for name in ("status", "goals", "covered", "chains", "length", "lower")] == [
        "finished",
        5,
        5,
        1,
        6,
        6,
    ]
    assert [told[name] for name in ("minimal", "fewest", "K", "states", "long_goals")] == [True, True, 1, 5, 0]
    assert {"read", "product search"} <= told["stages"].keys()
    assert told["versions"]["chaincover"]
    assert "chain.json" in told["files"]
    assert str(tmp_path) not in json.dumps(told)
    write_files(tmp_path, {"rows.toml": row.format(5)})
    ended = bench(monkeypatch, tmp_path, "s.toml", "-o", "new")
    assert ended.code == 1
    assert "deviates: Latch · c: lower 6 where 5 is pinned" in ended.out


def test_rows_that_are_worse_than_before_end_with_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "s.toml").write_text(suite_text(tmp_path, [{}]))
    assert bench(monkeypatch, tmp_path, "s.toml", "-o", "out").code == 0
    same = bench(monkeypatch, tmp_path, "s.toml", "-o", "new", "--diff", "out")
    assert same.code == 0
    assert json.loads((tmp_path / "new" / "changes.json").read_text())["changes"] == []
    old = rows_in(tmp_path / "out")[0]
    (tmp_path / "old.jsonl").write_text(json.dumps({**old, "covered": 2, "undecided": 0}) + "\n")
    worse = bench(monkeypatch, tmp_path, "s.toml", "-o", "new", "--resume", "--diff", "old.jsonl")
    assert worse.code == 1
    assert "worse: latch · c0: covered 2 -> 1" in worse.out
    (change,) = json.loads((tmp_path / "new" / "changes.json").read_text())["changes"]
    assert (change["id"], change["change"]) == (old["id"], "worse")
    gone = bench(monkeypatch, tmp_path, "s.toml", "-o", "newer", "--diff", "nowhere")
    assert gone.code == 3
    assert "there are no rows here" in gone.stderr


def test_list_runs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "s.toml").write_text(suite_text(tmp_path, [{}, {"seed": 1}]))
    ended = bench(monkeypatch, tmp_path, "s.toml", "-o", "out", "--list")
    assert ended.code == 0
    assert [line.partition("  ")[2] for line in ended.out.splitlines()] == ["latch · c0", "latch · c1 seed=1"]
    assert not (tmp_path / "out").exists()
    assert done(tmp_path) == []

"""The command line itself: ways to start it, what goes to stdout, stderr and files."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import MODELS, PROGRESS, chaincover, in_process_of_its_own, started, write_files
from small_programs import GOOD, REACH, program

from bmc.errors import UsageError
from chaincover.options import Options

CRUISE = MODELS / "cruise"


@pytest.mark.slow
def test_installed_command_and_module(tmp_path: Path) -> None:
    script = Path(sys.executable).parent / ("chaincover.exe" if sys.platform == "win32" else "chaincover")
    if not script.exists():
        pytest.skip("needs chaincover as a command")
    shown = subprocess.run([script, "--version"], capture_output=True, text=True, check=True).stdout
    assert shown == in_process_of_its_own("--version").out
    assert shown.startswith("chaincover, version ")


@pytest.mark.slow
def test_results_go_to_stdout_and_files_progress_to_stderr(tmp_path: Path) -> None:
    quiet = chaincover("generate", CRUISE, "-o", tmp_path / "q", "-q", "--no-replay")
    assert (quiet.code, quiet.out, quiet.stderr) == (0, "", "")
    plain = chaincover("generate", CRUISE, "-o", tmp_path / "p", "--no-replay")
    assert plain.err == ""
    assert "one chain of 9 steps covers all 4 goals" in plain.out
    loud = chaincover("generate", CRUISE, "-o", tmp_path / "v", "-v", "--no-replay")
    assert loud.err.startswith("read\ncheck\nsearch\nenumerate: reachable states\n")
    assert len(loud.progress) == len(plain.progress) > 0
    assert all(row.endswith(" 4 of 4 goals in 9 steps, minimal\n") for row in (loud.progress[-1], plain.progress[-1]))
    told = loud.out.replace("/v/", "/p/").replace("(minimal, proved; K = 2)", "(minimal, proved)")
    more = [row for row in told.splitlines() if row not in plain.out.splitlines()]
    assert [row for row in told.splitlines() if row not in more] == plain.out.splitlines()
    assert [row.split()[:3] for row in more] == [
        ["goal", "verdict", "step"],
        ["p_1", "covered", "4"],
        ["p_2", "covered", "6"],
        ["p_3", "covered", "7"],
        ["p_4", "covered", "2"],
    ]
    asked = chaincover("generate", CRUISE, "-o", tmp_path / "j", "--json", "--no-replay")
    assert asked.out == (tmp_path / "j" / "chain.json").read_text()
    written = {(tmp_path / name / "chain.json").read_bytes() for name in "qpvj"}
    assert len(written) == 1


def test_files_of_a_run(tmp_path: Path) -> None:
    assert chaincover("generate", CRUISE, "-o", tmp_path / "deep" / "er").code == 0
    folder = tmp_path / "deep" / "er"
    document = json.loads((folder / "chain.json").read_text())
    assert document["schema"] == "chaincover/chain/6"
    assert document["bounds"]["minimal"] is True
    assert {"python", "pysmt", "z3-solver"} <= document["versions"].keys()
    rows = list(csv.DictReader((folder / "chain.csv").open()))
    assert [int(row["step"]) for row in rows] == list(range(9))
    for row, step in zip(rows, document["chain"]["steps"], strict=True):
        values = {**step["inputs"], **step["state"], **step["outputs"]}
        assert {name: row[name] for name in values} == {name: str(value) for name, value in values.items()}
        assert row["goals"].split() == step["goals"]
    run = json.loads((folder / "run.json").read_text())
    assert run["schema"] == "chaincover/run/7"
    assert {"read", "check", "search", "replay"} <= run["seconds"].keys()
    assert run["replay"]["exit_code"] == 0


def test_options_as_the_last_words(tmp_path: Path) -> None:
    write_files(tmp_path, {"c.c": GOOD})
    outcome = chaincover("graph", "c.c", *REACH, "--format", "dot", "-o", "g.dot", cwd=tmp_path)
    assert (outcome.code, outcome.out) == (0, "")
    text = (tmp_path / "g.dot").read_text()
    assert text.startswith("digraph")
    assert '"reach"' in text
    data = chaincover("graph", "c.c", *REACH, cwd=tmp_path).json
    assert {"from": "init", "to": "reach", "weight": 2} in data["edges"]


@pytest.mark.slow
def test_check_tells_what_it_read(tmp_path: Path) -> None:
    code = program("if (i->b) s->n = 8 / i->a; else s->n = s->n + 1;")
    write_files(tmp_path, {"c.c": code})
    given = (*REACH, "--compare", "40", "--effort", "0.02")
    outcome = chaincover("check", "c.c", *given, "--json", cwd=tmp_path)
    assert outcome.code == 0
    found = outcome.json
    assert [variable["name"] for variable in found["inputs"]] == ["i->a", "i->b"]
    assert [(goal["name"], goal["length"]) for goal in found["goals"]] == [("reach", 0)]
    kinds = {place["kind"].split(" in ")[0]: place["steps_from_init"] for place in found["undefined_behaviour"]}
    assert kinds["division by zero"] == 0
    assert kinds["signed overflow"] is None
    assert all(place["where"].startswith("c.c:8:") for place in found["undefined_behaviour"])
    text = chaincover("check", "c.c", *given, cwd=tmp_path, CHAINCOVER_NO_NATIVE="1").out
    assert "can happen in the first step from init; chains avoid it" in text
    assert "left out: with --no-native nothing is compiled" in text


@pytest.mark.slow
def test_a_chain_avoids_undefined_steps(tmp_path: Path) -> None:
    """n == 1 needs an overflow on the short way (a = 1 from INT_MAX); the chain takes a defined one."""
    code = program(
        "s->n = s->n + i->a;", head=GOOD[: GOOD.index("\nvoid compute")].replace("s->n = 0", "s->n = 2147483647")
    )
    write_files(tmp_path, {"c.c": code})
    goal = ("--property", "x: cover(a >= 0)", "--property", "y: cover(n == -5)")
    outcome = chaincover("generate", "c.c", *goal, "--effort", "0.01", "--json", cwd=tmp_path)
    assert outcome.code == 0
    values = [2147483647]
    for step in outcome.json["chain"]["steps"]:
        values.append(values[-1] + step["inputs"]["i->a"])
        assert step["state"]["s->n"] == values[-1]
    assert -5 in values


def test_reader_of_stdout_that_goes_away(tmp_path: Path) -> None:
    write_files(tmp_path, {"c.c": GOOD})
    with started("generate", "c.c", *REACH, "--json", "--no-replay", cwd=tmp_path) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert all(PROGRESS.fullmatch(row) for row in process.stderr)
        process.stderr.close()
        assert process.wait(60) == 141
    assert (tmp_path / "chain-out" / "chain.json").exists()


def test_progress_that_nobody_reads_does_not_end_the_run(tmp_path: Path) -> None:
    write_files(tmp_path, {"c.c": GOOD})
    with started("generate", "c.c", *REACH, "--no-replay", "-v", cwd=tmp_path) as process:
        assert process.stderr is not None
        assert process.stdout is not None
        process.stderr.close()
        process.stdout.read()
        assert process.wait(60) == 0
    assert (tmp_path / "chain-out" / "chain.json").exists()


@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "0"])
@pytest.mark.parametrize(
    ("command", "option"),
    [("generate", "--effort"), ("generate", "--time-limit"), ("check", "--query-limit"), ("verify", "--effort")],
)
def test_limits_are_finite_numbers_above_0(command: str, option: str, number: str) -> None:
    outcome = chaincover(command, CRUISE, option, number)
    assert outcome.code == 2
    assert f"'{number}' is no number above 0" in outcome.err


@pytest.mark.parametrize("name", ["effort", "time_limit", "query_limit"])
@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_options_are_finite(name: str, number: float) -> None:
    with pytest.raises(UsageError, match="number above 0"):
        Options(**{name: number}).check()

"""Goals that depend on functions of the C library with bounds: what is said of the program, and what of the bounds."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from command_line import chaincover, fresh_names

from benchmarks.checks.fuzz.bounds import BOUNDS

pytestmark = pytest.mark.needs_compiler
PROGRAM = """\
#include <math.h>
typedef struct { int up; } t_in;
static int n, mode, seen; static double y;
void init(void) { n = 0; mode = 0; y = 0; seen = 0; }
void step(t_in *i) {
  n = i->up ? (n + 1) % 7 : 0;
  y = sin(n * 0.5);
  if (y > 0.9) mode = 1;
  if (y < 0.2 && mode == 1 && n > 0) mode = 2;
  if (y > 1.5) mode = 3;
}
"""
PROJECT = """\
[sources]
files = ["c.c"]
[functions]
init = "init"
step = "step"
bounds = { sin = "BOUNDS" }
[ranges]
"i->up" = "0..1"
"""
MODES = tuple(word for n in (1, 2, 3) for word in ("--property", f"m{n}: cover(mode == {n})"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return project(tmp_path)


def project(folder: Path, bounds: str = "-1.0..1.0") -> Path:
    (folder / "c.c").write_text(PROGRAM)
    (folder / "chaincover.toml").write_text(PROJECT.replace("BOUNDS", bounds))
    return folder


@pytest.fixture
def beside(folder: Path) -> Path:
    """The same, and a function with bounds that no goal depends on."""
    text = PROGRAM.replace("int up;", "int up; double x;").replace(
        "mode = 3;", "mode = 3;\n  if (cos(i->x) > 0.5) seen = 1;"
    )
    (folder / "c.c").write_text(text)
    text = (folder / "chaincover.toml").read_text().replace("{ sin =", '{ cos = "-1.0..1.0", sin =')
    (folder / "chaincover.toml").write_text(f'{text}"i->x" = "0.0..10.0"\n')
    return folder


def generated(folder: Path, *words: str) -> dict[str, object]:
    outcome = chaincover("generate", ".", "-o", "out", "-q", *words, cwd=folder)
    assert outcome.code in (0, 4, 5), outcome.err
    return json.loads((folder / "out" / "chain.json").read_text())


def test_covered_is_what_the_original_covers_and_bounds_are_proved_again(beside: Path) -> None:
    """The first value above 0.9 is sin(1.5), and sin(3.0) is 0.14: with any values in the bounds one step suffices."""
    data = generated(beside, *MODES)
    verdicts = {goal["name"]: (goal["verdict"], goal["step"]) for goal in data["goals"]}
    assert verdicts == {"m1": ("covered", 3), "m2": ("covered", 6), "m3": ("unreachable", None)}
    assert "rests on the bounds of functions of the C library" in data["goals"][2]["detail"]
    assert (data["bounds"]["lower"], data["bounds"]["length"], data["bounds"]["minimal"]) == (6, 6, True)
    assert any(
        "bounds of functions of the C library" in claim and "sin in -1.0..1.0" in claim for claim in data["claims"]
    )
    library = data["library"]
    assert "on" in library["version"]
    assert {row["function"] for row in library["values"]} == {"sin"}
    verified = chaincover("verify", ".", "out", cwd=beside)
    assert verified.code == 0, verified.out
    assert "library values" in verified.out
    replayed = chaincover("replay", ".", "out", cwd=beside)
    assert replayed.code == 4  # m3 is not covered there either
    assert "m2" in replayed.out


def test_only_inputs_of_the_user_are_exported(beside: Path) -> None:
    data = generated(beside, "--property", "m1: cover(mode == 1)")
    assert {name for step in data["chain"]["steps"] for name in step["inputs"]} == {"i->up", "i->x"}
    assert (beside / "out" / "chain.csv").read_text().splitlines()[0].startswith("step,i->up,i->x,")
    assert [each["name"] for each in data["controller"]["inputs"]] == ["i->up", "i->x"]


def test_a_function_that_no_goal_needs_is_neither_bounded_nor_assumed(beside: Path) -> None:
    data = generated(beside, "--property", "high: cover(n == 5)")
    assert "library" not in data
    assert not any("library" in claim for claim in data["claims"])


def test_nothing_is_covered_where_no_code_runs(folder: Path) -> None:
    data = generated(folder, *MODES, "--no-native", "--effort", "0.05")
    verdicts = {goal["name"]: goal["verdict"] for goal in data["goals"]}
    assert verdicts["m1"] == verdicts["m2"] == "undecided"
    assert data["chain"] is None
    assert "covered is only what the compiled original covers" in data["goals"][0]["detail"]


def test_a_value_outside_of_the_bounds_is_an_error_with_both_places(tmp_path: Path) -> None:
    folder = project(tmp_path, "-1.0..0.5")
    outcome = chaincover("generate", ".", "-o", "out", *MODES, cwd=folder)
    assert outcome.code == 3
    assert "chaincover.toml:6:1: sin(1.0) at c.c:7:7 is 0.8414709848078965" in outcome.err
    assert "outside of its bounds -1.0..0.5" in outcome.err


def test_a_replay_checks_every_value(folder: Path) -> None:
    generated(folder, *MODES)
    project(folder, "-1.0..0.9")
    outcome = chaincover("replay", ".", "out", cwd=folder)
    assert outcome.code == 3
    assert "sin(1.5) at c.c:7:7 is 0.9974949866040544 in step 2" in outcome.err


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"value": "0.5"}, "is 0.8414709848078965 here, not 0.5"),
        ({"value": "1.5"}, "is outside of -1.0..1.0"),
    ],
)
def test_verify_finds_out_a_forged_value(change: dict[str, str], told: str, folder: Path) -> None:
    data = generated(folder, *MODES)
    row = next(row for row in data["library"]["values"] if row["arguments"] == ["1.0"])
    row.update(change)
    (folder / "out" / "chain.json").write_text(json.dumps(data))
    outcome = chaincover("verify", ".", "out", cwd=folder)
    assert outcome.code == 7
    assert told in " ".join(outcome.out.split())


def test_an_end_like_init_compares_what_a_function_with_bounds_is_called_with(tmp_path: Path) -> None:
    """In step 3 sin(2.1) lets mode fall back to 0, but only n = 0 gives the same values of sin as after init."""
    folder = project(tmp_path)
    text = PROGRAM.replace("i->up ? (n + 1) % 7 : 0", "(n + i->up) % 5").replace("n * 0.5", "n * 0.7")
    text = text.replace("if (y > 0.9) mode = 1;", "mode = y > 0.9;").replace("mode = 2", "seen = 2")
    (folder / "c.c").write_text(text)
    data = generated(folder, "--property", "m1: cover(mode == 1)", "--final", "init")
    assert (data["bounds"]["length"], data["bounds"]["minimal"]) == (5, True)
    assert chaincover("verify", ".", "out", cwd=folder).code == 0


def test_calls_are_made_when_the_program_runs(tmp_path: Path) -> None:
    """gcc evaluates sinh(0.79) itself, and rounds it otherwise than glibc does."""
    folder = project(tmp_path)
    (folder / "c.c").write_text(PROGRAM.replace("sin(n * 0.5)", "sinh(0.79) + n"))
    text = (folder / "chaincover.toml").read_text()
    (folder / "chaincover.toml").write_text(text.replace("{ sin =", "{ sinh ="))
    data = generated(folder, "--property", "m3: cover(mode == 3)")
    assert data["goals"][0]["verdict"] == "covered"
    assert chaincover("replay", ".", "out", cwd=folder).code == 0


@pytest.mark.needs_narrow
def test_values_are_those_of_the_library_for_32_bits_where_the_original_calls_that(tmp_path: Path) -> None:
    """The two libraries round sinh otherwise for one argument in four."""
    folder = project(tmp_path)
    text = PROGRAM.replace("sin(n * 0.5)", "sinh(n * 0.3) + sinh(n * 0.7)").replace("static int n", "static long n")
    (folder / "c.c").write_text(
        text.replace("int up;", "long up; unsigned long w;").replace("n = i", "n = i->w * 0 + i")
    )
    text = (folder / "chaincover.toml").read_text().replace("{ sin =", "{ sinh =").replace("-1.0..1.0", "-99.0..99.0")
    (folder / "chaincover.toml").write_text(text.replace('files = ["c.c"]', 'files = ["c.c"]\ntarget = "ilp32"'))
    data = generated(folder, "--property", "high: cover(n == 6 && y > 9)", "--effort", "0.02")
    assert data["goals"][0]["verdict"] == "covered"
    assert "for ilp32" in data["library"]["version"]
    assert chaincover("verify", ".", "out", cwd=folder).code == 0


def test_a_double_of_4_bytes_has_the_function_for_float(tmp_path: Path) -> None:
    folder = project(tmp_path)
    text = (folder / "chaincover.toml").read_text()
    (folder / "chaincover.toml").write_text(text.replace('["c.c"]', '["c.c"]\noptions = ["-fshort-double"]'))
    data = generated(folder, *MODES)
    assert [goal["verdict"] for goal in data["goals"]] == ["covered", "covered", "unreachable"]
    values = {row["arguments"][0]: row["value"] for row in data["library"]["values"]}
    assert values["0.5"] == "0.47942555"


def test_bounds_of_what_has_none_are_refused(folder: Path) -> None:
    for bounds, told in (
        ('{ sine = "0..1" }', "'sine' is none of the functions"),
        ('{ sin = "1" }', "must be a table"),
    ):
        (folder / "chaincover.toml").write_text(
            f"[sources]\nfiles = ['c.c']\n[functions]\nstep = 'step'\nbounds = {bounds}\n"
        )
        outcome = chaincover("check", ".", cwd=folder)
        assert outcome.code == 3
        assert told in outcome.err
        assert "chaincover.toml:5" in outcome.err


def test_results_are_those_of_the_same_program_with_a_table_of_the_values() -> None:
    (kind,) = BOUNDS
    with fresh_names():
        row = kind.judge(kind.draw(random.Random(0)))
    assert (row.outcome, row.detail) == ("agree", "minimal")

"""Projects whose program calls functions of the C library with results that are not fixed: what needs them is refused,
and the results of the rest are as without these calls."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import chaincover

PROGRAM = """\
#include <math.h>
typedef struct {{ double angle; int up; }} t_in;
typedef struct {{ int n; double phase; double kept; }} t_st;
{outputs}
t_in in; t_st st; t_out out;
void init(void) {{ st.n = 0; st.phase = 0; }}
int high(void) {{ return st.phase < 2 && {invariant}; }}
void step(void) {{
  if (in.up && st.n < 5) st.n++; else if (!in.up) st.n = 0;
  st.phase = st.phase > 1.5 ? 0 : st.phase + 0.5;
  {dead}
  out.far = st.n > 3;
}}
"""
DEAD = (
    "out.y = sin(st.phase) + pow(in.angle, 2); if (out.y > 0.5) st.kept = expf(in.angle); "
    "if (in.up) out.z = tanh(st.kept);"
)
PROJECT = """\
[sources]
files = ["c.c"]
[functions]
init = "init"
step = "step"
{functions}
[interface]
input = ["in.*"]
output = ["out.*"]
ignore = [{ignore}]
[ranges]
"in.up" = "0..1"
"in.angle" = "0..1"
"""


def project(folder: Path, dead: str = DEAD, functions: str = "", ignore: str = "", invariant: str = "1") -> None:
    outputs = "typedef struct { double y; float z; int far; } t_out;"
    text = PROGRAM.format(outputs=outputs, dead=dead, invariant=invariant)
    (folder / "c.c").write_text(text)
    (folder / "chaincover.toml").write_text(PROJECT.format(functions=functions, ignore=ignore))


def generated(folder: Path, *words: str) -> dict[str, object]:
    """What ``chain.json`` says, but for what tells of the sources."""
    outcome = chaincover("generate", ".", "-o", "out", *words, cwd=folder)
    assert outcome.code == 0, outcome.err
    data = json.loads((folder / "out" / "chain.json").read_text())
    assert chaincover("verify", ".", "out", *words, cwd=folder).code == 0
    del data["controller"]["sources"]
    return data


@pytest.mark.needs_compiler
def test_results_are_those_of_the_program_without_the_calls(tmp_path: Path) -> None:
    """The variables that depend on them are outputs here that nothing else is compared with."""
    goals = ("--cover", "states(st.n)", "--cover", "states(out.far)")
    project(tmp_path)
    with_calls = generated(tmp_path, *goals)
    project(tmp_path, dead="")
    text = (tmp_path / "c.c").read_text()
    for member in ("double y; float z; ", " double kept;"):
        text = text.replace(member, "")
    (tmp_path / "c.c").write_text(text)
    assert with_calls == generated(tmp_path, *goals)


NEEDS = {
    "goal": (("--property", "cover(out.y > 0.5)"), "by the goal p1", ["c.c:11:11: ", "c.c:11:27: "]),
    "consequent": (("--property", "G(in.up == 1 -> X(out.z < 0.5))"), "by the goal p1", ["c.c:11:107: "]),
    "memory of a goal": (
        ("--property", "G((in.up == 1 since st.kept > 1) -> X(st.n > 0))"),
        "by the goal p1",
        ["c.c:11:72: "],
    ),
    "states": (("--cover", "states(out.z, {0.0})"), "by the goal states(out.z)=0.0", ["c.c:11:107: "]),
    "modes": (("--cover", "states((out.z, st.n))"), "by the modes of (out.z,st.n)", ["c.c:11:107: "]),
    "branch": (("--cover", "branches()"), "by the goal branch:11:", ["c.c:11:11: "]),
    "final": (("--cover", "states(st.n)", "--final", "st.kept < 2"), "by the final condition 'st.kept < 2'", ["c.c:"]),
    "end like init": (
        ("--cover", "states(st.n)", "--final", "init"),
        "by the final condition 'init', which compares 'out.z' (not if interface.ignore lists it)",
        ["c.c:11:107: "],
    ),
}


@pytest.mark.parametrize("name", NEEDS)
def test_what_needs_a_result_is_refused_with_each_call(name: str, tmp_path: Path) -> None:
    words, needed, places = NEEDS[name]
    project(tmp_path)
    outcome = chaincover("generate", ".", "-o", "out", *words, cwd=tmp_path)
    assert outcome.code == 3
    assert needed in outcome.err
    assert all(place in outcome.err for place in places), outcome.err
    assert "define the function in a source file" in outcome.err


def test_a_goal_that_is_left_out_needs_nothing(tmp_path: Path) -> None:
    project(tmp_path)
    words = ("--cover", "branches()", "--exclude", "branch:11:*", "-o", "out")
    assert chaincover("generate", ".", *words, cwd=tmp_path).code == 0


def test_an_end_like_init_does_not_compare_what_is_ignored(tmp_path: Path) -> None:
    project(tmp_path, ignore='"out.z"')
    assert chaincover("generate", ".", "--cover", "states(st.n)", "--final", "init", cwd=tmp_path).code == 0


def test_an_invariant_that_needs_a_result_is_refused(tmp_path: Path) -> None:
    project(tmp_path, functions='invariant = ["high"]', invariant="out.y < 2")
    outcome = chaincover("check", ".", "--cover", "states(st.n)", cwd=tmp_path)
    assert outcome.code == 3
    assert "by the invariant high" in outcome.err


@pytest.mark.needs_compiler
def test_check_says_what_is_not_compared(tmp_path: Path) -> None:
    project(tmp_path)
    outcome = chaincover("check", ".", "--cover", "states(st.n)", cwd=tmp_path)
    assert outcome.code == 0
    told = " ".join(outcome.out.split())
    assert "'st.kept', 'out.y', 'out.z' depend on functions of the C library: sin (" in told
    assert "nothing is compared or said of them" in told
    assert "equal on 500 steps along random runs and 500 from random states" in told


def test_a_property_that_calls_such_a_function_is_refused(tmp_path: Path) -> None:
    project(tmp_path)
    outcome = chaincover("check", ".", "--property", "cover(sin(in.angle) > 0.5)", cwd=tmp_path)
    assert outcome.code == 3
    assert "'sin' of <math.h>, whose results depend on the library" in outcome.err

"""What commands say of goals that depend on functions of the C library of which only bounds are known: ``check`` leaves
them out and says so, those that search with other means than one chain refuse them with the command that does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import chaincover

PROGRAM = """\
#include <math.h>
typedef struct { int up; double x; double z; } t_in;
static int n, k, mode; static double y; static int tab[4];
void init(void) { n = 0; k = 0; mode = 0; y = 0; }
void step(t_in *i) {
  n = i->up ? (n + 1) % 7 : 0;
  y = cos(i->x) + i->z;
  k = (int)(sin(n * 0.5) * SCALE);
  if (k > 50) mode = 1;
  MORE
}
"""
PROJECT = """\
[sources]
files = ["c.c"]
[functions]
init = "init"
step = "step"
bounds = { sin = "-1.0..1.0", cos = "-1.0..1.0" }
[ranges]
"i->up" = "0..1"
"i->x" = "0.0..10.0"
"i->z" = "0.0..1.0"
"""
GOALS = ("--property", "m1: cover(mode == 1)", "--property", "n5: cover(n == 5)", "--property", "n9: cover(n == 9)")


def project(folder: Path, scale: str = "100.0", more: str = "") -> Path:
    (folder / "c.c").write_text(PROGRAM.replace("SCALE", scale).replace("MORE", more))
    (folder / "chaincover.toml").write_text(PROJECT)
    return folder


def checked(folder: Path, *words: str) -> dict[str, object]:
    outcome = chaincover("check", ".", "--json", *words, cwd=folder)
    assert outcome.code == 0, outcome.err
    return json.loads(outcome.out)


@pytest.mark.needs_compiler
def test_check_leaves_out_goals_that_depend_on_bounds_and_names_them(tmp_path: Path) -> None:
    folder = project(tmp_path)
    outcome = chaincover("check", ".", *GOALS, "-v", cwd=folder)
    assert outcome.code == 0
    shown = " ".join(outcome.out.split())
    assert "not analysed: m1: depends on sin() within its bounds next: chaincover generate" in shown
    assert "UNREACHABLE: none of the 7 reachable states is one in which n9" in shown
    assert "properties: 2 goals: 1 can be reached, 1 cannot be reached, proved" in shown
    assert "equal on 500 steps" in shown
    assert "Lemma 3 (the shortest order gives a minimal chain, if it meets no goal twice): not decided" in shown


def test_facts_of_check_do_not_speak_of_what_is_left_out(tmp_path: Path) -> None:
    found = checked(project(tmp_path), *GOALS)
    assert found["not_analysed"] == {"goals": [{"name": "m1", "functions": "sin()"}], "final": None, "steps": None}
    assert [goal["name"] for goal in found["goals"]] == ["n5", "n9", "m1"]
    assert [var["name"] for var in found["state"] if not var["name"].startswith("tab")] == ["n"]
    assert {trigger["goal"] for trigger in found["goal_facts"]["triggers"]} == {"n5", "n9"}
    assert found["goal_facts"]["theorem_2"]["applies"] == "unknown"


def test_what_only_a_function_reads_is_not_dead_and_not_unread(tmp_path: Path) -> None:
    """x is read by cos alone, z by what is left out; n decides by sin on k, which is an output."""
    folder = project(tmp_path)
    (folder / "chaincover.toml").write_text(PROJECT + '[interface]\noutput = ["k", "y"]\n')
    found = checked(folder)
    assert found["liveness"]["unread_inputs"] == []
    assert "n" in found["liveness"]["live"]


def test_that_no_step_is_undefined_within_bounds_is_named_as_an_assumption(tmp_path: Path) -> None:
    found = checked(project(tmp_path), *GOALS)
    assert found["undefined_behaviour"] == []
    assert any("makes a step undefined rests on their bounds: sin in -1.0..1.0" in note for note in found["notes"])


@pytest.mark.parametrize(("scale", "more"), [("1e12", ""), ("100.0", "if (n > 3) mode = tab[k & 7];")])
def test_nothing_is_said_of_runs_where_bounds_decide_whether_a_step_is_defined(
    scale: str, more: str, tmp_path: Path
) -> None:
    folder = project(tmp_path, scale, more)
    found = checked(folder, *GOALS)
    assert found["not_analysed"]["steps"] == "sin()"
    assert [row["name"] for row in found["not_analysed"]["goals"]] == ["m1", "n5", "n9"]
    assert found["undefined_behaviour"] is None
    assert found["compared"] is None
    assert found["not_compared"] == "a step depends on sin() within its bounds"
    assert not any("makes a step undefined" in note for note in found["notes"])
    shown = " ".join(chaincover("check", ".", *GOALS, cwd=folder).out.split())
    assert "not analysed: runs, undefined behaviour, and the comparison" in shown
    assert "can be reached" not in shown
    assert "none possible" not in shown


def test_loops_that_reachable_states_bound_may_call_functions(tmp_path: Path) -> None:
    """Reading runs the step several times; the bound of the loop, and that m1 is left out, are as without that."""
    folder = project(tmp_path, more="while (n5 > 0) { n5--; if (sin(n5) > 0.8) mode = 2; }")
    text = (folder / "c.c").read_text().replace("static int n,", "static int n5, n,")
    (folder / "c.c").write_text(text.replace("k = (int)", "if (n5 < 5) n5++;\n  k = (int)"))
    found = checked(folder, *GOALS)
    assert [row["name"] for row in found["not_analysed"]["goals"]] == ["m1"]
    assert found["not_analysed"]["steps"] is None


def test_that_a_loop_ends_is_not_proved_by_bounds(tmp_path: Path) -> None:
    """What is proved when the program is read holds for all values: no result rests on bounds unawares."""
    folder = project(tmp_path, more="int most = 1 + sin(n); for (k = 0; k < most; k++) mode = 1;")
    outcome = chaincover("check", ".", *GOALS, cwd=folder)
    assert outcome.code == 0
    shown = " ".join(outcome.out.split())
    assert "rests on this, which is not proved: the loop at c.c:10:26 ends within 16 turns" in shown


def test_a_final_condition_that_depends_on_bounds_is_left_out(tmp_path: Path) -> None:
    found = checked(project(tmp_path), *GOALS, "--final", "k > 60")
    assert found["final"] == "k > 60"
    assert found["not_analysed"]["final"] == {"condition": "k > 60", "functions": "sin()"}
    outcome = chaincover("check", ".", *GOALS, "--final", "k > 60", cwd=tmp_path)
    assert "not analysed: the final condition: depends on sin() within its bounds" in outcome.out


def test_functions_without_bounds_are_refused_as_before(tmp_path: Path) -> None:
    folder = project(tmp_path)
    (folder / "chaincover.toml").write_text(PROJECT.replace('sin = "-1.0..1.0", ', ""))
    outcome = chaincover("check", ".", "--property", "m1: cover(mode == 1)", cwd=folder)
    assert outcome.code == 3
    assert "'sin' of <math.h>, whose results depend on the library" in outcome.err


@pytest.mark.parametrize(
    "command",
    [
        ("generate", ".", "--several", "-o", "out"),
        ("generate", ".", "--most", "-o", "out"),
        ("compare", "."),
        ("graph", "."),
        ("export", ".", "--format", "btor2", "-o", "q.btor2"),
    ],
)
def test_other_commands_name_the_goal_and_the_command_that_works(command: tuple[str, ...], tmp_path: Path) -> None:
    folder = project(tmp_path)
    text = (folder / "c.c").read_text()
    (folder / "c.c").write_text(text.replace("(int)(sin(n * 0.5) * 100.0)", "99 * (sin(n) > 0.5)"))
    outcome = chaincover(*command, *GOALS, cwd=folder)
    assert outcome.code == 3
    assert "chaincover.toml:6:1: the goal m1 depends on sin() of the C library" in outcome.err
    assert "next: use 'chaincover generate' (one chain, without --several and --most)" in outcome.err
    assert chaincover(*command, "--property", "n5: cover(n == 5)", cwd=folder).code in (0, 4)


@pytest.mark.needs_compiler
def test_claims_of_a_result_with_bounds_are_not_exported(tmp_path: Path) -> None:
    folder = project(tmp_path)
    assert chaincover("generate", ".", *GOALS[:2], "-o", "out", cwd=folder).code == 0
    outcome = chaincover("export", ".", "out", "--format", "btor2", "-o", "claims", cwd=folder)
    assert outcome.code == 3
    assert "depends on sin() of the C library" in outcome.err


def test_inputs_that_are_held_are_refused_with_the_option_to_leave_out(tmp_path: Path) -> None:
    folder = project(tmp_path)
    outcome = chaincover("generate", ".", *GOALS, "--hold", "2", "-o", "out", cwd=folder)
    assert outcome.code == 3
    assert "no chain is sought with inputs that are held" in outcome.err
    assert "next: leave out --hold and interface.hold" in outcome.err

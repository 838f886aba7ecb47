"""The judge of whole runs: deadlines that the end of the run leaves open."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import chaincover, write_files

CODE = """\
static unsigned char k, o;
void init(void) { k = 0; o = 0; }
void compute(unsigned char a) { if (k < 250) k++; o = a; }
"""


@pytest.mark.parametrize(
    ("deadline", "steps", "requirement", "failed", "check", "held"),
    [
        ("F[2,40](o == 1)", 8, "not judged to the end", None, 8, None),
        ("F[2,40](o == 1)", 60, "failed", 41, 41, False),
        ("G[2,40](o == 0)", 8, "not judged to the end", None, 8, None),
        ("G[2,40](o == 0)", 60, "held", None, 41, True),
        ("G[2,40](o == 1)", 8, "failed", 3, 3, False),
    ],
)
def test_a_deadline_beyond_the_end_is_not_judged_and_told_as_far_as_it_was_seen(
    deadline: str, steps: int, requirement: str, failed: int | None, check: int, held: bool | None, tmp_path: Path
) -> None:
    """The antecedent holds at step 1 alone."""
    write_files(tmp_path, {"c.c": CODE, "in.csv": "a\n" + "0\n" * steps})
    goal = f"x: G(k == 1 -> {deadline})"
    outcome = chaincover("replay", "c.c", "in.csv", "--property", goal, "--json", "--no-native", cwd=tmp_path)
    found = outcome.json["goals"][0]
    assert (found["requirement"], found["failed_at"]) == (requirement, failed)
    assert outcome.code == {"failed": 1, "held": 0}.get(requirement, 4)
    asked = deadline.partition("(")[0]
    assert found["deadline"] == {"asked": asked, "antecedent": 1, "check": check, "last": 41, "held": held}


@pytest.mark.parametrize("last", [1, 5, 40])
@pytest.mark.parametrize("check", ["F[0,{}](o == 1)", "G[0,{}](o == 0)"])
def test_occurrences_that_overlap_are_counted_each(check: str, last: int, tmp_path: Path) -> None:
    """The antecedent holds from step 1 on; at the last of the 60 steps the deadline is not decided any more."""
    write_files(tmp_path, {"c.c": CODE, "in.csv": "a\n" + "0\n" * 60})
    goal = f"x: G(k >= 1 -> {check.format(last)})"
    outcome = chaincover("replay", "c.c", "in.csv", "--property", goal, "--json", "--no-native", cwd=tmp_path)
    assert outcome.json["goals"][0]["times"] == 60 - last


PULSE = ("--property", "late: G(a && prev(!a) -> F[0,3](k == 200))")
OTHERS = {
    "dark": "G(k >= 5 -> o == 0)",
    "counts": "G(k >= 5 -> X(k > 5))",
    "longer": "G(k == 4 -> F[0,9](k == 200))",
    "early": "G(k == 0 -> F[0,2](o == 1))",
}
"""What becomes of these at the step at which *late* fails: they fail, hold, are not decided yet, are decided before."""


def test_beside_a_failure_the_requirements_are_told_that_hold_fail_or_are_open_there(tmp_path: Path) -> None:
    """``a`` is 1 in steps 2 to 6, so the first deadline ends at step 5."""
    write_files(tmp_path, {"c.c": CODE, "in.csv": "a\n" + "0\n" * 2 + "1\n" * 5 + "0\n" * 8})
    goals = [word for name, text in OTHERS.items() for word in ("--property", f"{name}: {text}")]
    outcome = chaincover("replay", "c.c", "in.csv", *PULSE, *goals, "--json", "--no-native", cwd=tmp_path)
    late, *others = outcome.json["goals"]
    assert late["failed_at"] == 5
    assert late["others"] == {"held": ["counts"], "failed": ["dark"], "undecided": ["longer"]}
    assert {goal["name"]: goal["others"] is None for goal in others} == {
        "dark": False,
        "counts": True,
        "longer": False,
        "early": False,
    }


def test_an_open_occurrence_is_told_where_its_antecedent_holds(tmp_path: Path) -> None:
    """k == 3 rises at step 3, before which it is 2."""
    write_files(tmp_path, {"c.c": CODE, "in.csv": "a\n" + "0\n" * 8})
    goal = "x: G(rise(k == 3) -> F[2,40](o == 1))"
    outcome = chaincover("replay", "c.c", "in.csv", "--property", goal, "--json", "--no-native", cwd=tmp_path)
    assert outcome.json["goals"][0]["why"] == "the run ends before the occurrence at step 3 is decided"


LAMP = """\
static unsigned char k, lamp;
void init(void) { k = 0; lamp = 0; }
void compute(unsigned char a) { if (k < 250) k++; lamp = k >= LIMIT; }
"""


@pytest.mark.needs_compiler
def test_what_the_tool_remembers_of_another_build_is_that_of_its_values(tmp_path: Path) -> None:
    """The lamp goes on later there, and so a step later the deadline has passed."""
    files = {"c.c": LAMP.replace("LIMIT", "60"), "other/c.c": LAMP.replace("LIMIT", "90")}
    write_files(tmp_path, {**files, "in.csv": "a\n" + "0\n" * 100})
    goal = ("--property", "soon: G(k == 40 -> F[1,40](lamp == 1))")
    own = chaincover("replay", "c.c", "in.csv", *goal, "--json", cwd=tmp_path)
    assert (own.json["goals"][0]["covered_at"], own.json["goals"][0]["requirement"]) == (60, "held")
    other = chaincover("replay", "c.c", "in.csv", *goal, "--against", "other/c.c", "--json", cwd=tmp_path)
    assert (other.json["goals"][0]["covered_at"], other.json["goals"][0]["requirement"]) == (80, "failed")
    assert not [text for text in other.json["disagreements"] if "soon" in text]

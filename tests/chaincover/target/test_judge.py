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
    ("deadline", "steps", "requirement", "failed"),
    [
        ("F[2,40](o == 1)", 8, "not judged to the end", None),
        ("F[2,40](o == 1)", 60, "failed", 41),
        ("G[2,40](o == 0)", 8, "not judged to the end", None),
        ("G[2,40](o == 0)", 60, "held", None),
        ("G[2,40](o == 1)", 8, "failed", 3),
    ],
)
def test_a_deadline_beyond_the_end_is_not_judged(
    deadline: str, steps: int, requirement: str, failed: int | None, tmp_path: Path
) -> None:
    write_files(tmp_path, {"c.c": CODE, "in.csv": "a\n" + "0\n" * steps})
    goal = f"x: G(k == 1 -> {deadline})"
    outcome = chaincover("replay", "c.c", "in.csv", "--property", goal, "--json", "--no-native", cwd=tmp_path)
    found = outcome.json["goals"][0]
    assert (found["requirement"], found["failed_at"]) == (requirement, failed)
    assert outcome.code == {"failed": 1, "held": 0}.get(requirement, 4)


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

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

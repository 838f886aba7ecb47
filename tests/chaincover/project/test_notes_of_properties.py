"""What is noted about properties whose writer most likely meant something else."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import chaincover

SOURCE = """\
static unsigned char lock, mode, count;
void init(void) { lock = 0; mode = 0; count = 0; }
void compute(_Bool start, _Bool other) {
  lock = start || mode;
  mode = other;
  count = lock;
}
"""


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("G(start -> lock)", "p1 reads lock as before the step that sees its inputs, X(lock) is after it"),
        ("G(X(start) -> X(lock) == 1)", "p1 reads lock as before the step that sees its inputs, X(lock) is after it"),
        ("G(start -> X(lock))", ""),
        ("G(start -> X(lock) != lock)", ""),
        ("G(start -> mode == 0)", ""),  # start does not act on mode
        ("G(mode == 0 -> lock == 0)", ""),
        ("G(start -> (other since start))", ""),  # what is remembered is no variable of the program
        ("cover(start && lock)", ""),
    ],
)
def test_an_output_before_the_step_that_computes_it(text: str, note: str, tmp_path: Path) -> None:
    (tmp_path / "c.c").write_text(SOURCE)
    found = chaincover("check", tmp_path / "c.c", "--property", text, "--compare", 0, "--json").json
    assert found["notes"] == ([note] if note else [])


def test_the_note_stands_below_the_failure(tmp_path: Path) -> None:
    (tmp_path / "c.c").write_text(SOURCE)
    ended = chaincover(
        "generate", tmp_path / "c.c", "--property", "G(start -> lock)", "-o", tmp_path / "out", "--no-native"
    )
    lines = ended.out.splitlines()
    assert lines[0].startswith("c: 1 finding; ")
    assert lines[1].startswith("FINDING: p1 can fail: at step 0 of a shortest run of 1 step; before step 0 lock is 0")
    note = next(line for line in lines if "note:" in line)
    assert note == "  note: p1 reads lock as before the step that sees its inputs, X(lock) is after it"

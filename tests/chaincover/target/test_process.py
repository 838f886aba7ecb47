"""The programs of the page on runs, on the other side of the driver ``process``."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from c_support import own_environment
from command_line import FENCE, MODELS, ROOT, chaincover

from chaincover.target.drivers import Bus, TargetLost
from chaincover.target.drivers.process import Process

__all__ = ["own_environment"]

BELT = MODELS / "belt"
INPUTS = "s->ignition,s->belt\n1,1\n" + "1,0\n" * 502 + "1,1\n0,0\n"
"""So long without a belt that the chime is heard."""


def example(language: str, needed: str) -> str:
    """The example of the page in this language that has this text."""
    page = (ROOT / "docs" / "reference" / "run.md").read_text(encoding="utf-8")
    return next(text for found, text in FENCE.findall(page) if found == language and needed in text)


@pytest.mark.needs_compiler
def test_the_example_in_c_does_as_the_model(tmp_path: Path) -> None:
    (tmp_path / "target.c").write_text(example("c", "belt_step"))
    command = [shutil.which("gcc") or "cc", f"-I{BELT}", "-o", "target", "target.c", str(BELT / "belt.c")]
    subprocess.run(command, cwd=tmp_path, check=True)
    driven(tmp_path, "process:./target")


def test_the_example_in_python_does_as_the_model(tmp_path: Path) -> None:
    (tmp_path / "target.py").write_text(example("python", "sys.stdin"))
    driven(tmp_path, f"process:{sys.executable} target.py")


def driven(folder: Path, driver: str) -> None:
    (folder / "in.csv").write_text(INPUTS)
    found = chaincover("run", BELT, "in.csv", "--driver", driver, "--fast", "--json", cwd=folder).json
    assert (found["steps"], found["comparison"]["first"]) == (505, None)
    assert next(goal for goal in found["goals"] if goal["name"] == "chimes")["requirement"] == "held"


def test_a_program_that_writes_without_end_ends_by_itself(tmp_path: Path) -> None:
    """It waits for a reader, and would not see that its input has ended."""
    ended = tmp_path / "ended"
    code = f"try: print('x' * 3_000_000, flush=True, end='')\nfinally: open({str(ended)!r}, 'w').close()"
    target = Process([sys.executable, "-c", code], Bus((), (), (), None, 30))
    with pytest.raises(TargetLost, match="without an end of its line"):
        target.step({})
    target.close()
    assert ended.exists()

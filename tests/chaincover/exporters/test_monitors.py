"""Results whose certificates speak of monitors: their claims, and the question for a chain, before two judges."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from command_line import chaincover, fresh_names, write_files
from long_goals import GOALS, PROGRAM
from question_runs import first_bad

from benchmarks.checks.foreign.abc import decide, place
from bmc.system.constraints import HELD
from bmc.system.memory import OWN
from chaincover.claims import EDGE, LENGTH, NEVER
from chaincover.exporters.aiger import Aiger
from chaincover.exporters.claims import claims
from chaincover.exporters.protocol import Question, Statement
from chaincover.exporters.questions import chain_question
from chaincover.formats.document import read_document
from chaincover.formats.recorded_subject import load_for
from chaincover.project.load import Request
from properties.one_step import MONITOR

PROJECT = """\
name = "up"
[sources]
files = ["c.c"]
[functions]
init = ["init"]
step = "compute"
[interface]
input = ["i->*"]
state = ["s->*"]
[final]
condition = "n == 0"
[[property]]
id = "NAME"
text = "cover((a since n == 3) && n == 3 && X(on))"
[[property]]
id = "up"
text = "cover(a && X(a) && X(X(b)))"
"""
NO = Statement("chain", "title", "text")
LIMIT = 60.0


def judged(question: Question, folder: Path) -> int | None:
    """The first frame of a bad state among those of the question, by a search over all states; None without one.

    ABC says the same, where it is installed.
    """
    found = first_bad(question, 10**6 if question.frames is None else question.frames - 1, below=4)
    if place() is not None:
        file = folder / "question.aig"
        file.write_bytes(Aiger().write(question))
        answer = decide(file, question.frames, LIMIT)
        assert (answer.reached, answer.frame) == (found is not None, found), question.statement.text
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("overlap", "length"), [pytest.param("allow", 3, marks=pytest.mark.evidence), ("forbid", 6)])
def test_a_goal_of_three_steps(overlap: str, length: int, tmp_path: Path) -> None:
    write_files(tmp_path, {"c.c": PROGRAM})
    options = [text for name, goal in GOALS.items() for text in ("--property", f"{name}: {goal}")]
    made = chaincover("generate", tmp_path / "c.c", *options, "--overlap", overlap, "--no-replay", "-q", "-o", tmp_path)
    assert made.code == 0
    document = read_document(tmp_path / "chain.json")
    assert document.certificate is not None
    assert document.bounds.lower == document.bounds.length == length
    assert {*document.certificate.monitors} >= {*(GOALS if overlap == "forbid" else ["up", "rest"])}
    with fresh_names():
        problem = load_for(document, Request(str(tmp_path / "c.c"))).problem
        asked = [claim for claim in claims(problem, document) if isinstance(claim, Question)]
        assert {claim.statement.kind for claim in asked} >= {EDGE, LENGTH, NEVER}
        assert any("counts from its last step" in claim.statement.text for claim in asked)
        assert [judged(claim, tmp_path) for claim in asked] == [None] * len(asked)
        for frames, bad in ((length, None), (length + 1, length)):
            assert judged(chain_question(replace(problem, overlap=overlap), NO, frames), tmp_path) == bad


@pytest.mark.parametrize("name", sorted(OWN))
def test_a_goal_called_like_a_memory_of_the_tool(name: str, tmp_path: Path) -> None:
    """The variables of such a goal are others than those of monitors, of questions and of held inputs."""
    project = PROJECT.replace("NAME", name)
    write_files(tmp_path, {"c.c": PROGRAM, "chaincover.toml": project})
    assert chaincover("generate", tmp_path, "--no-replay", "-q", "-o", tmp_path / "out").code == 0
    document = read_document(tmp_path / "out" / "chain.json")
    assert document.bounds.lower == document.bounds.length == 4
    with fresh_names():
        problem = load_for(document, Request(str(tmp_path))).problem
        asked = [claim for claim in claims(problem, document) if isinstance(claim, Question)]
        assert asked
        assert [judged(claim, tmp_path) for claim in asked] == [None] * len(asked)


def test_the_memories_of_the_tool_are_all_known() -> None:
    assert {MONITOR, HELD} < OWN

"""Machines as projects: goals, chains with proofs, replays by the second reader, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import ROOT
from command_line import chaincover as run

import chaincover
from benchmarks.checks.machines.postman import expected
from benchmarks.checks.machines.run import drawn, rows
from bmc.errors import InputRefused

ALARM = ROOT / "benchmarks" / "machines" / "aalpy" / "car_alarm.dot"


def project(folder: Path, text: str, machine: str) -> Path:
    """A project file with ``text`` beside the ``machine``."""
    (folder / "machine.dot").write_text(machine)
    place = folder / "chaincover.toml"
    place.write_text(f'[sources]\nfiles = ["machine.dot"]\n{text}')
    return place


TWO = 'digraph { __start0 -> on; on -> off [label="a / x/y"]; off -> on [label="b/z"]; on -> on [label="b/z"]; }'
PARTIAL = 'digraph { __start0 -> on; on -> off [label="a/x"]; off -> on [label="b/z"]; far -> on [label="a/x"]; }'


@pytest.mark.parametrize(("final", "length"), [("none", 15), ("init", 16)])
def test_every_transition_of_an_alarm(final: str, length: int, tmp_path: Path) -> None:
    """The directed postman needs 15 steps, and 16 back to the start (benchmarks/machines/expected.json)."""
    request = chaincover.Request(str(ALARM), cover=("transitions()",), final=final)
    subject = chaincover.load(request)
    result = chaincover.generate(subject.problem)
    assert result.chain is not None
    assert (result.chain.length, result.bounds.lower) == (length, length)
    assert {verdict.status for verdict in result.verdicts} == {"covered"}
    played = chaincover.replay(subject, result)
    assert (played.exit_code, played.place) == (0, "the machine itself (car_alarm.dot read a second time)")
    chaincover.save(subject, result, tmp_path / "out")
    assert chaincover.verify(request, tmp_path / "out").exit_code == 0


def test_the_command_line(tmp_path: Path) -> None:
    done = run("generate", str(ALARM), "--cover", "transitions()", "--output", str(tmp_path / "out"))
    assert done.code == 0
    assert "one chain of 15 steps covers all 12 goals (minimal, proved)" in done.out
    assert "is compiled" not in done.stderr
    assert run("verify", str(ALARM), str(tmp_path / "out")).code == 0
    assert run("replay", str(ALARM), str(tmp_path / "out")).code == 0
    without = run("generate", str(ALARM))
    assert (without.code, "give --cover 'transitions()'" in without.err) == (3, True)
    checked = run("check", str(ALARM))
    assert checked.code == 0
    assert "comparison with the machine itself" in checked.out


def test_goals_of_states_and_written_ones(tmp_path: Path) -> None:
    """A state that no run reaches is proved unreachable; an output is that of the step."""
    text = '[interface]\npartial = true\n[coverage]\ncriteria = ["states()"]\n'
    text += '[[property]]\nid = "answer"\ntext = "G(state == on && input == a -> X(output == x))"\n'
    subject = chaincover.load(str(project(tmp_path, text, PARTIAL)))
    result = chaincover.generate(subject.problem)
    assert {verdict.goal: verdict.status for verdict in result.verdicts} == {
        "answer": "covered",
        "states()=on": "covered",
        "states()=off": "covered",
        "states()=far": "unreachable",
    }
    assert result.chain is not None
    assert [hit.consequent_held for hit in result.chain.hits if hit.goal == "answer"] == [True]


def test_names_with_blanks_and_signs(tmp_path: Path) -> None:
    machine = TWO.replace("a / x/y", "a b,x / y").replace("b/z", "b,z").replace(",", " ~ ")
    text = '[interface]\npartial = true\nseparator = " ~ "\n'
    text += """[[property]]\nid = "p"\ntext = 'cover(input == "a b" && X(output == "x / y"))'\n"""
    subject = chaincover.load(str(project(tmp_path, text, machine)))
    result = chaincover.generate(subject.problem)
    assert result.chain is not None
    assert (result.chain.length, [hit.goal for hit in result.chain.hits]) == (1, ["p"])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[functions]\nstep = "go"', "'step' says nothing of a machine"),
        ('[interface]\npartial = true\ninput = ["i"]', "'input' says nothing of a machine"),
        ("[ranges]\nx = [1]", "'ranges' says nothing of a machine"),
        ('[interface]\npartial = true\n[functions]\nfinal = "done"', "no function 'done' is defined"),
        ('[interface]\npartial = "yes"', "'partial' must be true or false"),
        ("", "no arrow leaves 'on' for the input 'b'"),
    ],
)
def test_what_is_refused(text: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(InputRefused, match=says) as refused:
        chaincover.load(str(project(tmp_path, text, PARTIAL)))
    assert refused.value.where is not None


def test_what_a_machine_has_says_nothing_of_a_program(tmp_path: Path) -> None:
    (tmp_path / "c.c").write_text("int x; void compute(int i) { x = i; }")
    place = tmp_path / "chaincover.toml"
    place.write_text('[sources]\nfiles = ["c.c"]\n[interface]\npartial = true\n')
    with pytest.raises(InputRefused, match="'partial' says nothing of a C program"):
        chaincover.load(str(place))


@pytest.mark.parametrize(("name", "text"), [*drawn(8, 0)])
def test_drawn_machines_beside_the_chinese_postman(name: str, text: str, tmp_path: Path) -> None:
    """Lengths and bounds of one chain, or the least number of chains (500 by ``python -m benchmarks machines``)."""
    place = tmp_path / "drawn.dot"
    place.write_text(text)
    assert [row for row in rows(name, place, expected(place)) if not row.right] == []

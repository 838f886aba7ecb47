"""The criteria that a file names are those that made its goals: ``verify`` makes them again by the program."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from command_line import chaincover, fresh_names, write_files
from small_programs import HEAD, program, project
from verify_documents import texts, verdicts

from bmc.errors import InputRefused
from chaincover.formats.document import read_document
from chaincover.formats.recorded_subject import load_for
from chaincover.project.load import Request
from chaincover.verification.fields import INFORMATIVE, _in_order_of, compared, made_again
from chaincover.verification.setting import Setting
from chaincover.verification.values import Values

OWN = "states(m, 0..1)"
"""The criterion of the project."""
ASKED = "states(n, 0..2)"
"""A criterion of the command line. Two chains are needed, as n is set once."""
NO_GOAL = "violations()"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with its result as one chain, as several, and with one goal alone."""
    folder = tmp_path_factory.mktemp("criteria")
    code = program("if (s->n == 0) s->n = i->a; s->m = i->b;", head=HEAD)
    toml = project(f"[ranges]\na = '0..2'\n[coverage]\ncriteria = ['{OWN}']")
    write_files(folder, {"p/c.c": code, "p/chaincover.toml": toml})
    for out, options in [
        ("most", ("--most", "--cover", ASKED)),
        ("several", ("--several", "--cover", ASKED, "--cover", NO_GOAL)),
        ("alone", ("--goal", "states(n)=1", "--cover", ASKED, "--cover", "states(n, 1)")),
    ]:
        ended = chaincover("generate", folder / "p", "-o", folder / out, "--no-native", "--no-replay", "-q", *options)
        assert ended.code in (0, 4), ended
    return folder


def criteria(file: Path) -> list[str]:
    """The criteria that a file names."""
    told: list[str] = json.loads(file.read_text())["settings"]["coverage"]
    return told


def with_criteria(file: Path, named: list[str]) -> Path:
    """A copy beside ``file`` that names other criteria."""
    document = json.loads(file.read_text())
    document["settings"]["coverage"] = named
    other = file.with_name("forged.json")
    other.write_text(json.dumps(document))
    return other


def faults(file: Path, project_file: Path) -> list[str]:
    """What is wrong about the settings of a ``chain.json``."""
    document = read_document(file)
    with fresh_names():
        subject = load_for(document, Request(str(project_file)))
        setting = Setting(subject.system, subject.goals, subject.final, document.settings.overlap)
        again = made_again(subject, document, Values(setting, document, None))
        settings = {"settings": again["settings"]}, {"settings": document.data["settings"]}
        return [*compared(*settings, INFORMATIVE)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("named", "right"),
    [
        ([OWN, ASKED], True),
        ([OWN, ASKED, NO_GOAL], True),
        ([OWN, ASKED, "branches()"], False),
        ([OWN, ASKED, "states(b, 0..1)"], False),
        ([ASKED], False),
        ([ASKED, OWN], False),
    ],
)
def test_the_criteria_of_a_chain_are_those_that_made_its_goals(named: list[str], right: bool, folder: Path) -> None:
    file = folder / "most" / "chain.json"
    assert criteria(file) == [OWN, ASKED]
    assert (faults(with_criteria(file, named), folder / "p") == []) == right


def test_a_chain_without_the_criterion_that_made_its_goals_is_refused(folder: Path) -> None:
    file = with_criteria(folder / "most" / "chain.json", [OWN])
    with pytest.raises(InputRefused, match=r"the program has no goal 'states\(n\)=0'"):
        faults(file, folder / "p")


def test_a_wrong_criterion_is_told_among_the_fields(folder: Path) -> None:
    file = with_criteria(folder / "most" / "chain.json", [OWN, ASKED, "branches()"])
    outcome = chaincover("verify", folder / "p", file, "--no-native", "--json")
    assert (outcome.code, verdicts(outcome)["fields"]) == (7, "WRONG")
    assert "settings.coverage" in texts(outcome, "fields")


def test_a_chain_of_several_is_right_alone(folder: Path) -> None:
    for number in (1, 2):
        assert faults(folder / "several" / f"chain-{number}.json", folder / "p") == []


@pytest.mark.parametrize(
    ("named", "verdict"),
    [
        ([OWN, ASKED, NO_GOAL], "holds"),
        ([OWN, ASKED, NO_GOAL, "branches()"], "WRONG"),
        ([OWN, NO_GOAL], "WRONG"),
        ([OWN, ASKED], "WRONG"),
    ],
)
def test_the_criteria_of_several_chains_are_those_that_made_their_goals(
    named: list[str], verdict: str, folder: Path, tmp_path: Path
) -> None:
    file = folder / "several" / "chains.json"
    assert criteria(file) == [OWN, ASKED, NO_GOAL]
    beside = tmp_path / "out"
    shutil.copytree(file.parent, beside)
    with_criteria(file, named).replace(beside / file.name)
    outcome = chaincover("verify", folder / "p", beside, "--no-native", "--json")
    assert verdicts(outcome)["fields"] == verdict
    assert ("settings.coverage" in texts(outcome, "fields")) == (verdict == "WRONG")


def test_only_criteria_of_goals_that_are_not_left_out_are_named(folder: Path) -> None:
    file = folder / "alone" / "chain.json"
    assert criteria(file) == [ASKED, "states(n, 1)"]
    assert faults(file, folder / "p") == []
    assert faults(with_criteria(file, [OWN, ASKED, "states(n, 1)"]), folder / "p")


def test_assertions_that_fail_may_be_told_in_another_order_and_from_another_folder() -> None:
    found = [{"step": step, "assertion": f"/here/c.c:{line}: n < 3"} for step, line in ((0, 7), (2, 7), (2, 9))]
    moved = [{**each, "assertion": each["assertion"].replace("/here", "/there/p")} for each in reversed(found)]
    assert _in_order_of(moved, found) == moved
    for other in (moved[1:], [*moved, moved[0]], [{**moved[0], "step": 1}, *moved[1:]], None):
        assert _in_order_of(other, found) == found

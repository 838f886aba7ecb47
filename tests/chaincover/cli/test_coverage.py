"""``--coverage`` of ``generate`` and ``replay``: a file beside the chain, or the reason why there is none."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from command_line import MODELS, ROOT, Outcome, chaincover, write_files
from gcov_text import needs_gcov
from small_programs import program, project

from bmc.ending import TIME_LIMIT
from chaincover.cli import delivery

SCHEMA = json.loads((ROOT / "chaincover/formats/schemas/coverage.json").read_text(encoding="utf-8"))
BODY = "if (i->b)\n    s->n = 1;\n  else\n    s->m = 1;\n  if (s->n > 5)\n    s->n = 0;"
"""Lines 8 to 13 of the program: the last one is never executed."""
TESTS = '[[property]]\nid = "one"\ntext = "cover(i->b)"\n[[property]]\nid = "other"\ntext = "cover(!i->b)"\n'


def made(folder: Path, justified: str = "", body: str = BODY) -> Path:
    lines = f"[coverage]\njustified = [{justified}]\n" if justified else ""
    write_files(folder, {"c.c": program(body), "chaincover.toml": project(lines + TESTS)})
    return folder


def generated(folder: Path, *options: str) -> Outcome:
    done = chaincover("generate", folder, "-o", folder / "out", *options)
    assert done.code == 0, done.out + done.stderr
    return done


@needs_gcov
def test_both_commands_write_the_same_file_and_tell_what_was_executed(tmp_path: Path) -> None:
    made(tmp_path)
    done = generated(tmp_path, "--coverage")
    place = tmp_path / "out" / "coverage.json"
    assert f"written to {place}" in done.out
    assert "7 of 8 lines (87 %)" in done.out
    found = json.loads(place.read_text())
    jsonschema.Draft202012Validator(SCHEMA).validate(found)
    assert [(line["line"], line["count"]) for line in found["files"][0]["lines"] if not line["count"]] == [(13, 0)]
    before = place.read_bytes()
    place.unlink()
    replayed = chaincover("replay", tmp_path, tmp_path / "out", "--coverage")
    assert "7 of 8 lines (87 %)" in replayed.out
    assert place.read_bytes() == before
    table = chaincover("replay", tmp_path, tmp_path / "out" / "violation.csv", "--coverage", "-q")
    assert table.code == 3
    assert not (tmp_path / "out" / "coverage-violation.json").exists()
    generated(tmp_path, "-q")
    assert not place.exists(), "coverage of an earlier chain stays beside a new one"


@needs_gcov
def test_each_of_several_chains_has_its_own_and_none_of_an_earlier_run_stays(tmp_path: Path) -> None:
    body = "if (s->n == 0)\n    s->n = i->b ? 1 : 2;"
    made(tmp_path, body=body)
    (tmp_path / "chaincover.toml").write_text(
        project(
            '[[property]]\nid = "a"\ntext = "cover(s->n == 1)"\n[[property]]\nid = "b"\ntext = "cover(s->n == 2)"\n'
        )
    )
    done = generated(tmp_path, "--several", "--coverage")
    names = {place.name for place in (tmp_path / "out").glob("coverage*")}
    assert names == {"coverage-1.json", "coverage-2.json"}
    assert done.out.count("coverage on ") == 1
    assert "3 of 4 outcomes (75 %)" in done.out, "what both chains execute is added up"
    generated(tmp_path, "--several", "-q")
    assert not [*(tmp_path / "out").glob("coverage*")]


@needs_gcov
def test_what_is_justified_is_counted_and_needless_justifications_are_told(tmp_path: Path) -> None:
    made(tmp_path, ", ".join(f'{{ file = "c.c", lines = {lines}, reason = "r" }}' for lines in ('"12..13"', "9", "99")))
    out = generated(tmp_path, "--coverage").out
    assert "2 lines justified" in out
    assert "the justification of c.c:9 is not needed for line 9" in out
    assert "the justification of c.c:99 is of no use" in out
    assert "12..13" not in out


def test_without_native_code_it_says_so_and_nothing_fails(tmp_path: Path) -> None:
    done = generated(made(tmp_path), "--coverage", "--no-native")
    assert "coverage was not measured: with --no-native nothing is compiled" in done.out
    assert not (tmp_path / "out" / "coverage.json").exists()
    machine = tmp_path / "m.dot"
    machine.write_text('digraph g { s0 -> s1 [label="a / x"]; s1 -> s0 [label="a / y"]; __start0 -> s0; }')
    told = chaincover("generate", machine, "--cover", "states()", "--coverage", "-o", tmp_path / "m")
    assert "coverage was not measured: this model is no C program" in told.out
    assert told.code == 0


@needs_gcov
def test_a_chain_that_a_limit_ended_is_measured_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is there, and to run it takes little; the time limit is for the search."""
    closing = delivery.closing
    monkeypatch.setattr(delivery, "closing", lambda _reason, **given: closing(TIME_LIMIT, **given))
    done = chaincover("generate", made(tmp_path), "--coverage", "-o", tmp_path / "out")
    assert "7 of 8 lines (87 %)" in done.out
    assert "coverage was not measured" not in done.out
    assert (tmp_path / "out" / "coverage.json").exists()


def test_without_a_chain_there_is_nothing_to_measure(tmp_path: Path) -> None:
    made(tmp_path)
    done = chaincover(
        "generate", tmp_path, "--property", "x: cover(s->n == 4)", "--goal", "x", "--coverage", "-o", tmp_path / "o"
    )
    assert done.code == 4
    assert "coverage was not measured: there is no chain" in done.out
    assert not (tmp_path / "o" / "coverage.json").exists()


def test_another_build_is_not_measured(tmp_path: Path) -> None:
    done = chaincover("replay", MODELS / "cruise", "chain.json", "--coverage", "--against", "x.c")
    assert done.code == 2
    assert "--against replays another build" in done.err


@pytest.mark.parametrize(
    ("justified", "says"),
    [
        ('{ file = "c.c", lines = 3 }', "'justified' must be a list of tables"),
        ('{ file = "c.c", lines = "a..b", reason = "r" }', "'justified' must be a list of tables"),
        ('{ file = "c.c", lines = "5..3", reason = "r" }', "has no reason, or no lines"),
        ('{ file = "c.c", lines = 3, reason = " " }', "has no reason, or no lines"),
        ('"c.c:3"', "'justified' must be a list of tables"),
    ],
)
def test_a_justification_that_says_too_little_is_refused_at_its_line(justified: str, says: str, tmp_path: Path) -> None:
    done = chaincover("check", made(tmp_path, justified))
    assert done.code == 3
    assert says in done.err
    assert "chaincover.toml:5" in done.err

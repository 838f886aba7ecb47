"""Start values that the tester chooses: none but those allowed are in a chain, its proof, its replay and its check."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import chaincover, write_files

from benchmarks.checks.short_runs import short_runs

SOURCE = """typedef _Bool flag;
typedef struct { unsigned char n; flag on; } t_state;
void init(t_state *s) {}
void compute(t_state *s, _Bool go) { s->n = s->n < 20 && go ? s->n + 1 : s->n; }
"""
PROJECT = """[sources]
files = ["c.c"]
[functions]
init = ["init"]
[interface]
chosen = ["s->*"]
[ranges]
"s->n" = [3, 5, 30]
[[property]]
text = "nine: cover(n == 9)"
[[property]]
text = "two: cover(on && on != 1)"
[[property]]
text = "low: cover(n == 4 && X(n == 5))"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_files(tmp_path, {"c.c": SOURCE, "chaincover.toml": PROJECT})
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["auto", pytest.param("sat", marks=pytest.mark.evidence)])
@short_runs()
def test_a_chain_starts_with_a_value_that_is_allowed_and_the_bound_knows_it(folder: Path, engine: str) -> None:
    """To 9 it is four steps from 5, and six by 4 from 3; no _Bool is anything but 0 and 1."""
    for goals, length in ((("nine",), 4), (("nine", "low"), 6)):
        chosen = [word for goal in goals for word in ("--goal", goal)]
        done = chaincover("generate", folder, *chosen, "--engine", engine, "--json", "-o", folder / "out")
        assert done.code == 0, done.err
        assert (done.json["bounds"]["length"], done.json["bounds"]["minimal"]) == (length, True)
        assert chaincover("verify", folder, folder / "out").code == 0
    done = chaincover("generate", folder, "--goal", "two", "--engine", engine, "--json", "-o", folder / "two")
    assert [goal["verdict"] for goal in done.json["goals"]] == ["unreachable"]
    assert chaincover("verify", folder, folder / "two").code == 0


def test_replay_and_verify_refuse_a_start_value_that_is_not_allowed(folder: Path) -> None:
    (folder / "inputs.csv").write_text("step,go,s->n\ninit,,8\n0,1,\n")
    done = chaincover("replay", folder, folder / "inputs.csv")
    assert done.code == 1
    assert "'s->n' may not start with 8" in done.out
    assert chaincover("generate", folder, "--goal", "nine", "-o", folder / "out").code == 0
    file = folder / "out" / "chain.json"
    data = json.loads(file.read_text())
    data["chain"]["initial"]["chosen"]["s->n"] = 8
    file.write_text(json.dumps(data))
    assert chaincover("verify", folder, folder / "out").code == 7


@pytest.mark.needs_compiler
def test_check_tells_the_values_and_compares_with_the_original_from_one_of_them(folder: Path) -> None:
    done = chaincover("check", folder)
    assert "chosen by the tester (3, 5, 30)" in done.out
    assert "chosen by the tester (0..1)" in done.out
    assert "equal on 500 steps along random runs and 500 from random states" in done.out

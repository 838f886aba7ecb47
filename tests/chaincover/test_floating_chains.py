"""Chains of C programs with floats from end to end: generated, written, replayed on the original, verified."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from command_line import chaincover

from benchmarks.checks.short_runs import short_runs

pytestmark = pytest.mark.needs_compiler

HEATER = """
typedef struct { double temp; float demand; } In;
typedef struct { double last, limit; float duty; int heating; float offset; } State;
float last_duty;
void heat_init(State *s) { s->last = -0.0; s->limit = 20.5; s->duty = 0.1f; s->heating = 0; OFFSET }
float heat_step(const In *in, State *s, float gain) {
  if (in->temp > s->limit) s->heating = 0;
  else if (in->temp < 18.25) s->heating = 1;
  s->last = in->temp;
  s->duty = in->demand;
  last_duty = s->duty;
  if (s->duty > 0.5f && s->offset == 0.3f) s->limit = 25.0;
  return gain;
}
"""
PROJECT = """
name = "heater"
[sources]
files = ["heater.c"]
[functions]
init = ["heat_init"]
step = "heat_step"
[interface]
chosen = CHOSEN
[ranges]
"in->temp" = TEMPERATURES
"in->demand" = DEMANDS
"gain" = ["0.1", "-0.0"]
[[property]]
id = "on"
text = "cover(s->heating == 1)"
[[property]]
id = "raised"
text = "cover(s->limit > 22.0 && in->temp > 24.5)"
[[property]]
id = "exact"
text = "cover(in->demand == 0.1f && gain != 0.1f)"
[[property]]
id = "nothing"
text = "cover(s->last != s->last)"
"""
MANY = ("-40.0..60.0", "nan")
FEW = ("10.0", "24.75", "nan", "-0.0")


def project(folder: Path, few: bool) -> Path:
    """With ``few`` every state can be listed: else a start value is chosen among all."""
    folder.mkdir()
    (folder / "heater.c").write_text(HEATER.replace("OFFSET", "s->offset = 0.3f;" if few else ""))
    text = PROJECT.replace("TEMPERATURES", json.dumps(FEW if few else MANY))
    text = text.replace("DEMANDS", json.dumps(["0.1", "1.0"] if few else "0.0..1.0"))
    (folder / "chaincover.toml").write_text(text.replace("CHOSEN", json.dumps([] if few else ["s->offset"])))
    return folder


@pytest.fixture(scope="module", params=[False, True], ids=["many", "few"])
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A project and its results: inputs with many values, and with few that are enumerated."""
    place = tmp_path_factory.mktemp("floats")
    source = project(place / "heater", request.param)
    with short_runs("each goal alone"):
        made = chaincover("generate", source, "-o", place / "out")
    assert made.code == 0, made
    return source, place / "out"


def is_few(source: Path) -> bool:
    return "24.75" in (source / "chaincover.toml").read_text()


@pytest.mark.slow
def test_the_chain_is_json_with_numbers(made: tuple[Path, Path]) -> None:
    document = json.loads((made[1] / "chain.json").read_text(), parse_constant=pytest.fail)
    assert {goal["verdict"] for goal in document["goals"]} == {"covered"}
    assert document["bounds"]["minimal"]
    first = document["chain"]["initial"]
    assert first["chosen"] == ({} if is_few(made[0]) else {"s->offset": 0.3})
    assert first["state"]["s->limit"] == 20.5
    assert str(first["outputs"]["s->last"]) == "-0.0"
    values = [step["inputs"][name] for step in document["chain"]["steps"] for name in step["inputs"]]
    assert "nan" in values
    assert 0.1 in values
    assert all(value == "nan" or math.isfinite(value) for value in values)
    ranges = {given["name"]: given["values"] for given in document["controller"]["inputs"]}
    assert ranges["gain"] == "-0.0, 0.1"
    assert ranges["in->temp"] in ("-40.0..60.0, nan", "-0.0, 10.0, 24.75, nan")


@pytest.mark.slow
def test_replay_and_verification_agree(made: tuple[Path, Path]) -> None:
    source, place = made
    for given in ("chain.json", "chain.csv"):
        played = chaincover("replay", source, place / given, "--json")
        assert played.code == 0, played
        assert not played.json["disagreements"]
        assert played.json["on"] != "model"
    verified = chaincover("verify", source, place, "--json")
    assert verified.code == 0, verified
    verdicts = {check["check"]: check["verdict"] for check in verified.json["checks"]}
    assert verdicts["chain"] == "holds"
    assert verdicts["all runs"] == ("holds" if is_few(source) else "note")


@pytest.mark.evidence
def test_the_same_project_gives_the_same_bytes(made: tuple[Path, Path], tmp_path: Path) -> None:
    source, place = made
    with short_runs("each goal alone"):
        assert chaincover("generate", source, "-o", tmp_path, "--no-replay").code == 0
    for name in ("chain.json", "chain.csv"):
        assert (tmp_path / name).read_bytes() == (place / name).read_bytes()


@pytest.mark.slow
def test_a_state_that_differs_by_one_place_is_found(made: tuple[Path, Path], tmp_path: Path) -> None:
    source, place = made
    document = json.loads((place / "chain.json").read_text())
    state: dict[str, Any] = document["chain"]["steps"][0]["outputs"]
    before = state["s->duty"]
    state["s->duty"] = math.nextafter(before, 2.0)  # reads as the same float
    (tmp_path / "chain.json").write_text(json.dumps(document))
    assert chaincover("replay", source, tmp_path).code == 0
    state["s->duty"] = before + 2.0**-23
    (tmp_path / "chain.json").write_text(json.dumps(document))
    played = chaincover("replay", source, tmp_path, "--json")
    assert played.code == 1
    assert [text.partition(" in ")[0] for text in played.json["disagreements"]] == [
        f"before step 1 's->duty' is {before}"
    ]
    state["s->duty"] = "about 1"
    (tmp_path / "chain.json").write_text(json.dumps(document))
    played = chaincover("replay", source, tmp_path)
    assert played.code == 3
    assert "'about 1' is no value of type float" in played.err


@pytest.mark.parametrize("few", [False, True], ids=["many", "few"])
def test_a_table_by_hand_is_replayed(few: bool, tmp_path: Path) -> None:
    source = project(tmp_path / "heater", few)
    (tmp_path / "inputs.csv").write_text(
        "step,temp,demand,gain,s->offset\ninit,,,,0x1.333334p-2\n0,1e1,1,0.1,\n1,24.75,.1,-0,\n2,nan,0.1,0.1,\n"
    )
    played = chaincover("replay", source, tmp_path / "inputs.csv", "--json")
    assert played.code == 0, played
    assert [goal["covered_at"] for goal in played.json["goals"]] == [1, 1, 1, 3]
    (tmp_path / "inputs.csv").write_text("step,temp,demand,gain\n0,60.5,1,0.1\n")
    assert chaincover("replay", source, tmp_path / "inputs.csv").code == 1

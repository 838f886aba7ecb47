"""Every result file is as its schema says, and the schemas say no more than there is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import MODELS, chaincover
from schemas import SCHEMAS
from schemas import faults as faults_in

ARGUMENTS = {
    "minimal": ["cruise"],
    "finding": ["latch", "--hold", "2"],
    "deadline": ["latch", "--property", "late: G(set && reset -> F[1,2](q == 0))"],
    "dead-end": ["cruise_fig1"],
    "jumps": ["reminder", "--goal", "warns"],
    "questions": ["cruise", "--engine", "sat"],
    "generated": ["cruise", "--cover", "branches()"],
    "several": ["latch", "--several"],
    "coverage": ["cruise", "--coverage"],
}


def faults(place: Path) -> list[str]:
    found = faults_in(json.loads(place.read_text()), f"{place.stem.partition('-')[0]}.json")
    return [f"{place.name}: {fault}" for fault in found]


@pytest.mark.slow
@pytest.mark.parametrize("case", ARGUMENTS)
def test_results_are_as_their_schemas_say(case: str, tmp_path: Path) -> None:
    model, *options = ARGUMENTS[case]
    chaincover("generate", MODELS / model, *options, "-q", "-o", tmp_path)
    places = sorted(tmp_path.glob("*.json"))
    assert [fault for place in places for fault in faults(place)] == []
    assert places


def test_a_field_that_no_schema_has_is_a_fault(tmp_path: Path) -> None:
    assert chaincover("generate", MODELS / "cruise", "--no-replay", "-q", "-o", tmp_path).code == 0
    place = tmp_path / "chain.json"
    assert faults(place) == []
    data = json.loads(place.read_text())
    place.write_text(json.dumps({**data, "weather": "fine"}))
    assert "'weather' was unexpected" in faults(place)[0]
    place.write_text(json.dumps({name: value for name, value in data.items() if name != "bounds"}))
    assert "'bounds' is a required property" in faults(place)[0]


def described(schema: Any, path: str = "") -> list[str]:
    """The paths of fields without a description."""
    missing = [] if "description" in schema or not path else [path]
    for name, field in schema.get("properties", {}).items():
        missing += described(field, f"{path}.{name}")
    return missing + (described(schema["items"], f"{path}[]")[1:] if "properties" in schema.get("items", {}) else [])


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_field_is_described(name: str) -> None:
    schema = SCHEMAS[name]
    parts = [schema, *schema.get("$defs", {}).values()]
    assert [path for part in parts for path in described(part)] == []

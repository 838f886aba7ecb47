"""The schemas of result files, and what in a document is not as they say."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
from command_line import ROOT
from referencing import Registry, Resource

SCHEMAS = {place.name: json.loads(place.read_text()) for place in (ROOT / "chaincover/formats/schemas").glob("*.json")}
REGISTRY = Registry().with_resources((name, Resource.from_contents(schema)) for name, schema in SCHEMAS.items())


def faults(data: Any, name: str) -> list[str]:
    """Where ``data`` is not as the schema in the file ``name`` says."""
    found = jsonschema.Draft202012Validator(SCHEMAS[name], registry=REGISTRY).iter_errors(data)
    return [f"{'.'.join(map(str, each.absolute_path))}: {each.message[:200]}" for each in found]

"""The format ``json``: inputs, expected values and goals of a chain, without anything of its proof."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from chaincover.exporters.columns import Column, Value, columns, covered_goals, in_runs
from chaincover.exporters.protocol import ExportedChain
from chaincover.project.values import shown

SCHEMA = "chaincover/stimulus/1"


class Stimuli:
    """A writer of chains as JSON."""

    def files(self, chain: ExportedChain) -> Mapping[str, bytes]:
        """One document; values of a variable over the steps stand on one line."""
        found, subject = columns(chain), chain.subject
        driven, expected = ([each for each in found if each.driven is side] for side in (True, False))
        chosen = [each for each in expected if each.variable.name in chain.chosen]
        document: dict[str, Any] = {
            "schema": SCHEMA,
            "controller": subject.system.name,
            "period": subject.settings.period_seconds,
            "steps": chain.run.length,
            "chosen": {each.title: _shown(each, each.start) for each in chosen},
            "inputs": {each.title: _over_steps(each) for each in driven},
            "expected": {each.title: _over_steps(each) for each in expected},
            "goals": [
                {
                    "name": each.goal.name,
                    "requirement": each.goal.requirement,
                    "property": each.goal.text,
                    "step": each.step,
                    "end": each.end,
                    "held": each.held,
                }
                for each in covered_goals(chain)
            ],
        }
        lines = [f"{json.dumps(key)}:{_written(value)}" for key, value in document.items()]
        return {"stimulus.json": ("{" + ",\n".join(lines) + "}\n").encode()}


def _over_steps(column: Column) -> list[object]:
    """The inputs of each step; of expected values first that before the first step."""
    return in_runs(_shown(column, value) for value in column.from_start)


def _shown(column: Column, value: Value) -> int | float | str | None:
    name = column.variable.name
    return None if value is None else shown([column.variable], {name: int(value)})[name]


def _written(value: Any) -> str:
    """``value`` as JSON, the members of an object or a list one a line."""
    if isinstance(value, dict) and value:
        return "{" + ",\n".join(f"{json.dumps(key)}:{_line(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list) and value:
        return "[" + ",\n".join(map(_line, value)) + "]"
    return _line(value)


def _line(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)

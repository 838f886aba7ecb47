"""What the search is told of each controller: types, calls, input values, goals. Nothing of ChainCover is used.

Goals are read from the project file in four forms: ``G(A -> X(B))`` and ``cover(A)`` are covered by a step in which A
holds, ``cover(A && X(B))`` by one after which B holds as well, ``G(A && X(B) -> X(X(C)))`` by two steps.
"""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchmarks import FOLDER
from benchmarks.checks.exhaustive import boiler, crane
from benchmarks.checks.exhaustive.decisions import goals_of_decisions

MODELS = FOLDER / "models"


@dataclass(frozen=True, slots=True)
class Goal:
    """C expressions over the state and the input before a step, and over the state after it.

    ``then`` is over state and input of the next step: '' where a goal takes one step.
    """

    name: str
    before: str
    after: str = "1"
    then: str = ""


@dataclass(frozen=True, slots=True)
class Past:
    """Which inputs may follow others, in C: ``fields`` of ``past``, all 0 at the start, and when a step is ``allowed``.

    ``kept`` is done after each step. Both are over ``past``, the input, and the state before the step or after it.
    """

    fields: str = ""
    allowed: str = "1"
    kept: str = ""


@dataclass(frozen=True, slots=True)
class Declared:
    """How a controller is written. ``several``: its goals need several chains. ``past``: how inputs are constrained."""

    state: str
    input: str
    names: tuple[str, str]
    source: str
    init: str
    step: str
    fill: int = 0
    several: bool = False
    past: Past = Past()


def declared(model: str, state: str, panel: str, names: tuple[str, str]) -> Declared:
    """The usual way: ``MODEL_init(state)`` and ``MODEL_step(state, input)``, structures both."""
    calls = f"{model}_init({names[0]});", f"{model}_step({names[0]}, {names[1]});"
    return Declared(f"struct {state}", f"struct {panel}", names, f"{model}.c", *calls)


OVEN = Past(
    "unsigned char begun, temp, door, since;",
    "past->begun ? abs(s->temp - past->temp) <= 2 && (o->heater || s->temp <= past->temp)"
    " && (s->door == past->door || past->since >= 4) : s->temp == 4 && !s->door",
    "past->since = !past->begun || s->door != past->door ? 1 : past->since < 4 ? past->since + 1 : 4;"
    " past->begun = 1; past->temp = s->temp; past->door = s->door;",
)
"""The temperature changes slowly, and rises with the heater on only; the door stays as it is for four steps."""

BELT = Past(
    "unsigned short owed, driven, heard, calm;"
    " unsigned char mode, older, since, chimed, begun, reacted, warned, kept, calmed;",
    kept="past->reacted = past->warned = past->kept = past->calmed = 0;"
    " int driving = s->ignition && !s->belt, loud = past->mode == CHIMING;"
    " if (past->owed || driving)"
    " { if (loud || !driving) past->reacted = 1, past->owed = 0;"
    " else if (++past->owed > 500) past->owed = 0, past->reacted = 1; }"
    " past->driven = !driving ? 0 : past->driven < 500 ? past->driven + 1 : 500;"
    " past->warned = past->driven == 500;"
    " past->heard ="
    " !driving ? 0 : past->begun && loud && past->older != CHIMING ? 1 : past->heard ? past->heard + 1 : 0;"
    " if (past->heard == 100) past->kept = 1, past->heard = 0;"
    " past->since = past->mode == SAFE || (past->since && !s->belt); past->chimed = past->since && loud;"
    " if (past->calm) { if (++past->calm == 21) past->calmed = 1, past->calm = 0; }"
    " else if (past->mode == SAFE && b->mode != SAFE) past->calm = 1;"
    " past->older = past->mode; past->mode = b->mode; past->begun = 1;",
)
"""Its deadlines: checks owed, steps in a row. The state before a step is in ``past``, ``b`` is the one after."""

DEADLINES = {
    "reacts": "then->reacted",
    "chimes": "then->warned",
    "goes_on": "then->kept",
    "patient": "then->calmed",
    "ends": "past->chimed && s->belt && s->ignition",
}
"""Where a goal of ``belt`` is covered: by a step, ``past`` before it and ``then`` after it."""

CONTROLLERS = {
    "dishwasher": declared("dishwasher", "dishwasher", "panel", ("d", "p")),
    "gate": Declared(
        "outC_Gate", "inC_Gate", ("outC", "inC"), "Gate.c", "Gate_init(outC);", "Gate(inC, outC);", fill=0xA5
    ),
    "burner": declared("burner", "burner", "sensors", ("b", "s")),
    "turret": declared("turret", "turret", "request", ("t", "r")),
    "charger": replace(declared("charger", "charger", "line", ("c", "l")), several=True),
    "dispenser": declared("dispenser", "dispenser", "meter", ("d", "m")),
    "stairlight": declared("stairlight", "stairlight", "buttons", ("l", "b")),
    "boiler": declared("boiler", "boiler", "sensors", ("b", "s")),
    "crane": declared("crane", "crane", "telegram", ("c", "t")),
    "lubricator": declared("lubricator", "lubricator", "machine", ("l", "m")),
    "drive": declared("drive", "drive", "panel", ("d", "p")),
    "tank": declared("tank", "tank", "signals", ("t", "s")),
    "kiln": declared("kiln", "kiln", "keys", ("k", "p")),
    "reminder": declared("reminder", "reminder", "signals", ("r", "s")),
    "belt": replace(declared("belt", "belt", "signals", ("b", "s")), past=BELT),
    "oven": replace(declared("oven", "oven", "signals", ("o", "s")), past=OVEN),
}
"""``fill``: the bytes of variables that init leaves open; no figure may depend on it."""

WIDE = {"boiler": boiler.inputs, "crane": crane.inputs}

EXTREMES = {"dispenser": {"m->pulses": [0, 255]}}
"""Inputs of which only some values are tried: figures from them are upper bounds (see README.md of the model)."""


def goals(model: str) -> list[Goal]:
    """The goals of the project file, generated ones too."""
    project = tomllib.loads((MODELS / model / "chaincover.toml").read_text())
    own = DEADLINES if model == "belt" else {}
    found = [
        Goal(entry["id"], own[entry["id"]]) if entry["id"] in own else goal(entry["id"], entry["text"])
        for entry in project.get("property", ())
    ]
    for criterion in project.get("coverage", {}).get("criteria", ()):
        found += generated(model, project, criterion)
    return found


def goal(name: str, text: str) -> Goal:
    """One goal from its text."""
    if match := re.fullmatch(r"G\((.*) && X\((.*)\) -> X\(X\(.*\)\)\)", text):
        return Goal(name, match[1], then=match[2])
    if match := re.fullmatch(r"G\((.*?) -> X\(.*\)\)", text):
        return Goal(name, match[1])
    if match := re.fullmatch(r"cover\((.*?) && X\((.*)\)\)", text):
        return Goal(name, match[1], match[2])
    match = re.fullmatch(r"cover\((.*)\)", text)
    assert match is not None, text
    return Goal(name, match[1])


def generated(model: str, project: dict[str, Any], criterion: str) -> Iterator[Goal]:
    """The goals of ``transitions(x)``, and those of ``mcdc()`` from the decisions that are listed by hand."""
    if criterion == "mcdc()":
        yield from (Goal(*three) for three in goals_of_decisions(model))
        return
    match = re.fullmatch(r"transitions\((.*)\)", criterion)
    assert match is not None, criterion
    variable = match[1]
    for old, new in itertools.permutations(values(project["ranges"][variable]), 2):
        yield Goal(f"{criterion}={old}->{new}", f"{variable} == {old}", f"{variable} == {new}")


def values(given: Any) -> list[Any]:
    """The values of a key of ``[ranges]``."""
    if isinstance(given, str):
        low, _, high = given.partition("..")
        return list(range(int(low), int(high) + 1))
    return list(given)


def inputs(model: str, fields: Sequence[str]) -> list[tuple[Any, ...]]:
    """All values of the input ``fields``, or those of ``EXTREMES``; of wide ones one of each kind."""
    if model in WIDE:
        return WIDE[model](fields)
    project = tomllib.loads((MODELS / model / "chaincover.toml").read_text())
    ranges = {**project["ranges"], **EXTREMES.get(model, {})}
    parameter = CONTROLLERS[model].names[1]
    every = ranges.get(f"{parameter}->*")
    return list(itertools.product(*(values(ranges.get(f"{parameter}->{field}", every)) for field in fields)))

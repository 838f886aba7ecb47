"""Machines made at random, as plain tables, and as DOT in the ways in which it is written."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from pysmt.environment import get_env, pop_env, push_env

PLAIN = "abcdefghij0123456789_"
ODD = [
    " ",
    '"',
    "\\n",
    "->",
    "[",
    "]",
    "{",
    "}",
    "=",
    ",",
    ";",
    ":",
    "<",
    ">",
    "#",
    "//",
    "&amp;",
    "é",
    "'",
    "+",
    "(x)",
]


@pytest.fixture(autouse=True, scope="module")
def own_environment() -> Iterator[None]:
    """A pysmt environment of the module's own, in which no symbol has a type yet."""
    push_env()
    get_env().enable_infix_notation = True
    yield
    pop_env()


@dataclass(frozen=True)
class Drawn:
    """A machine as a table: for a state and an input the next state and the output. ``first``: of a Moore machine."""

    states: list[str]
    inputs: list[str]
    start: str
    first: str | None
    table: dict[tuple[str, str], tuple[str, str]]

    def walk(self, inputs: list[str]) -> list[tuple[str, str | None]]:
        """The states with the outputs of a run."""
        states: list[tuple[str, str | None]] = [(self.start, self.first)]
        for value in inputs:
            states.append(self.table[states[-1][0], value])
        return states


def drawn_name(rng: random.Random, without: str = "") -> str:
    """A name, half of them with blanks, quotes and signs of DOT, but without one text."""
    while True:
        size = rng.randint(1, 5)
        name = "".join(rng.choice(ODD if rng.random() < 0.5 else PLAIN) for _ in range(size))
        if rng.random() < 0.5:
            name = "".join(rng.choice(PLAIN) for _ in range(size))
        if name == name.strip() and "\\\\" not in name and not (without and without in name):
            return name


def drawn_machine(rng: random.Random, moore: bool, partial: bool = False, most: int = 9) -> Drawn:
    """A machine with odd names. With ``partial`` some states lack some inputs."""
    states = _names(rng, rng.randint(1, most), "")
    inputs, outputs = _names(rng, rng.randint(1, 5), "/"), _names(rng, rng.randint(1, 4), "/")
    results = {state: rng.choice(outputs) for state in states}
    table = {}
    for state in states:
        for value in inputs:
            if partial and rng.random() < 0.4:
                continue
            target = rng.choice(states)
            table[state, value] = target, results[target] if moore else rng.choice(outputs)
    start = rng.choice(states)
    if not table:
        table[start, inputs[0]] = start, results[start]
    used = [value for value in inputs if any(key[1] == value for key in table)]
    return Drawn(states, used, start, results[start] if moore else None, table)


def _names(rng: random.Random, count: int, without: str) -> list[str]:
    found: dict[str, None] = {}
    while len(found) < count:
        found[drawn_name(rng, without)] = None
    return list(found)


def quoted(name: str) -> str:
    """``name`` as a string of DOT."""
    return '"' + name.replace('"', '\\"') + '"'


def as_dot(machine: Drawn, rng: random.Random) -> str:
    """``machine`` as DOT, in one of the ways of AALpy and of LearnLib, with what else DOT may have drawn into it."""
    outputs = dict(machine.table.values()) | {machine.start: machine.first or ""}
    slash = rng.choice(["/", " / ", "/ "])
    mark = rng.choice(["{} | {}", "{}|{}", "{{ {} | {} }}", "{} / {}"])
    end = rng.choice([";", "", " ;\n", " // a -> b\n", " /* [label= */"])
    lines = ["graph [rankdir=LR];", "node [shape=circle]", "x = y", 'subgraph "c 1" {', "}", "{", "}"]
    made = []
    for number, state in enumerate(machine.states):
        label = mark.format(f"n{number}", outputs.get(state, "?")) if machine.first is not None else f"n{number}"
        made.append(f"{quoted(state)} [shape=record, label={_written(label, rng)}]{end}")
    for (state, value), (target, output) in machine.table.items():
        label = value if machine.first is not None else f"{value}{slash}{output}"
        port = rng.choice(["", "", ":n", ':"p q":s'])
        made.append(f"{quoted(state)}{port} -> {quoted(target)} [label = {_written(label, rng)}; color=red]{end}")
    rng.shuffle(made)
    start = ['__start0 [label="" shape="none"];', f"__start0 -> {quoted(machine.start)};"]
    marked = [f'0 [shape=point]; 0 -> {quoted(machine.start)} [label=""]']
    names = {*machine.states}
    lines += made + (start if "0" in names or rng.random() < 0.5 else marked)
    return "digraph " + rng.choice(["", "g", '"g h"']) + " {\n" + "\n".join(lines) + "\n}\n"


def _written(text: str, rng: random.Random) -> str:
    if text.isidentifier() and text.isascii() and text not in ("node", "edge", "graph") and rng.random() < 0.5:
        return text
    if len(text) > 3 and rng.random() < 0.2 and '"' not in text and "\\" not in text:
        return f"{quoted(text[:2])} + {quoted(text[2:])}"
    return quoted(text)

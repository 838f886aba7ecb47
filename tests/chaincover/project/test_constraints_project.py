"""Constraints of a project file against a search in Python over all runs of the program: chains, verdicts, replays."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest
from command_line import chaincover, write_files
from drawn_seeds import seeds

PROGRAM = """
typedef struct { unsigned char t, d; } In;
typedef struct { unsigned char m, n; } St;
void init(St *s) { s->m = 0; s->n = 0; }
void step(In *i, St *s) {
  if (i->d) { s->m = 0; s->n = 0; }
  else if (i->t > 4) { if (s->n < 2) s->n++; if (s->n == 2) s->m = 1; }
  else { s->n = 0; if (i->t == 0 && s->m) s->m = 2; }
}
"""
PROJECT = """
[sources]
files = ["c.c"]
[functions]
init = ["init"]
step = "step"
[interface]
input = ["i->*"]
state = ["s->*"]
[ranges]
t = [0, 2, 3, 5]
d = [0, 1]
"""
Row = tuple[int, int, int, int]
"""The state before a step, m and n, and its inputs, t and d."""


def step(row: Row) -> tuple[int, int]:
    """The program."""
    m, n, t, d = row
    if d:
        return 0, 0
    if t > 4:
        return (1 if n >= 1 else m), min(n + 1, 2)
    return (2 if t == 0 and m else m), 0


Test = Callable[..., bool]
ASSUMED: dict[str, tuple[int, Test]] = {
    "abs(X(t) - t) <= 2": (2, lambda a, b: abs(b[2] - a[2]) <= 2),
    "abs(X(t) - t) <= 1 || d": (2, lambda a, b: abs(b[2] - a[2]) <= 1 or a[3] == 1),
    "X(d) == d || t == 0": (2, lambda a, b: b[3] == a[3] or a[2] == 0),
    "!rise(d) || prev(m) == 1": (2, lambda a, b: not (b[3] and not a[3]) or a[0] == 1),
    "!changed(X(d))": (2, lambda a, b: b[3] == a[3]),
    "!fall(X(t) == 0) || prev(X(d)) == 1": (2, lambda a, b: a[2] != 0 or b[2] == 0 or a[3] == 1),
    "m != 1 || X(t) <= t": (2, lambda a, b: a[0] != 1 or b[2] <= a[2]),
    "X(n) != 1 || X(t) > 3 || X(d)": (2, lambda a, b: b[1] != 1 or b[2] > 3 or b[3] == 1),
    "X[2](t) != t": (3, lambda a, b, c: c[2] != a[2]),
    "F[0,2](t == 3)": (3, lambda a, b, c: 3 in (a[2], b[2], c[2])),
    "t < 5 || !d": (1, lambda a: a[2] < 5 or not a[3]),
}
"""How many steps each is about, and what it says of them."""
INITIAL: dict[str, tuple[int, Test]] = {
    "t == 3": (1, lambda a: a[2] == 3),
    "!d && t <= 4": (1, lambda a: not a[3] and a[2] <= 4),
    "X(t) == t": (2, lambda a, b: b[2] == a[2]),
    "rise(X(t == 5))": (2, lambda a, b: a[2] != 5 and b[2] == 5),
}
GOALS: dict[str, tuple[str, Callable[[Row], bool]]] = {
    "hot": ("cover(m == 1 && !d)", lambda r: r[0] == 1 and not r[3]),
    "cold": ("cover(m == 2 && t > 2)", lambda r: r[0] == 2 and r[2] > 2),
    "off": ("G(m == 1 && d -> X(m == 0))", lambda r: r[0] == 1 and r[3] == 1),
    "second": ("G(n == 1 && t == 5 && !d -> X(m == 1))", lambda r: r[1] == 1 and r[2] == 5 and not r[3]),
}
VALUES = (0, 2, 3, 5)
"""Those of t."""


@dataclass(frozen=True)
class Drawn:
    """What is assumed of several steps and of the first ones, and for how many steps t and d keep each value."""

    assumed: tuple[str, ...]
    initial: tuple[str, ...]
    dwell: tuple[int, int]

    @staticmethod
    def of(seed: int) -> Drawn:
        rng = random.Random(seed)
        assumed, initial = (
            rng.sample(sorted(ASSUMED), rng.randint(0, 2)),
            rng.sample(sorted(INITIAL), rng.randint(0, 1)),
        )
        return Drawn(tuple(assumed), tuple(initial), (rng.choice([1, 1, 2]), rng.choice([1, 2, 3, 4])))

    @property
    def text(self) -> str:
        """The project file."""
        said = {"assume": self.assumed, "initial": self.initial}
        rows = [f"{key} = {json.dumps(texts)}" for key, texts in said.items()]
        rows.append(f'dwell = {{ t = {self.dwell[0]}, "i->d" = {self.dwell[1]} }}')
        goals = [f'[[property]]\nid = "{name}"\ntext = "{text}"' for name, (text, _) in GOALS.items()]
        return "\n".join([PROJECT, "[constraints]", *rows, *goals])

    def broken(self, rows: Sequence[Row], taken: int, ages: tuple[int, int]) -> list[str]:
        """What the last of ``rows`` breaks in step ``taken``; t and d were the same for ``ages`` steps before it."""
        found = [text for text in self.assumed if not _kept(rows, *ASSUMED[text])]
        found += [text for text in self.initial if INITIAL[text][0] == taken + 1 and not _kept(rows, *INITIAL[text])]
        for place, steps, age in zip((2, 3), self.dwell, ages, strict=True):
            if taken and rows[-1][place] != rows[-2][place] and age < steps:
                found.append(f"i->{'t' if place == 2 else 'd'} keeps each value for at least {steps} steps")
        return found

    def least(self) -> tuple[int | None, set[str]]:
        """The steps of a shortest run over all goals, None if there is none, and the goals that some run covers."""
        layer: list[Node] = [((), (0, 0), 0, (0, 0), frozenset())]
        seen, covered, length = {*layer}, set[str](), 0
        while layer:
            if any(len(done) == len(GOALS) for *_, done in layer):
                return length, {*GOALS}
            following = dict.fromkeys(after for node in layer for after in self._steps(node))
            layer = [node for node in following if node not in seen]
            seen.update(layer)
            covered |= {name for *_, done in layer for name in done}
            length += 1
        return None, covered

    def _steps(self, node: Node) -> Iterator[Node]:
        rows, state, taken, ages, done = node
        for t, d in product(VALUES, range(2)):
            row = (*state, t, d)
            here = (*rows, row)
            if not self.broken(here, taken, ages):
                hit = {name for name, (_, covers) in GOALS.items() if covers(row)}
                yield here[-2:], step(row), min(taken + 1, 3), older(here, ages), done | hit


Node = tuple[tuple[Row, ...], tuple[int, int], int, tuple[int, int], frozenset[str]]
"""Of a run the last two steps, the state, the number of steps, for how many t and d are the same, goals covered."""


def older(rows: Sequence[Row], ages: tuple[int, int]) -> tuple[int, int]:
    """For how many steps, up to 4, t and d have the values that they have in the last of ``rows``."""
    same = (len(rows) > 1 and rows[-1][place] == rows[-2][place] for place in (2, 3))
    t, d = (min(age + 1, 4) if kept else 1 for kept, age in zip(same, ages, strict=True))
    return t, d


def _kept(rows: Sequence[Row], steps: int, says: Test) -> bool:
    return len(rows) < steps or says(*rows[-steps:])


@pytest.mark.slow
@seeds(2)
def test_chains_verdicts_and_proofs(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    drawn, place = Drawn.of(seed), tmp_path_factory.mktemp("drawn")
    write_files(place, {"c.c": PROGRAM, "chaincover.toml": drawn.text})
    length, covered = drawn.least()
    made = chaincover("generate", place, "-o", place / "out")
    document = json.loads((place / "out" / "chain.json").read_text())
    verdicts = {goal["name"]: goal["verdict"] for goal in document["goals"]}
    assert {name for name, verdict in verdicts.items() if verdict == "unreachable"} == {*GOALS} - covered
    assert (made.code == 0) == (length is not None)
    if length is not None:
        assert (document["bounds"]["length"], document["bounds"]["lower"]) == (length, length)
    checked = chaincover("verify", place, place / "out", "--json").json
    assert checked["exit_code"] == 0
    assert [one["verdict"] for one in checked["checks"] if one["check"] == "constraints"] == (
        ["holds"] if drawn.assumed or drawn.initial or drawn.dwell != (1, 1) else []
    )


@seeds(5)
def test_a_replay_tells_every_step_that_breaks_one(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    drawn, place, rng = Drawn.of(seed), tmp_path_factory.mktemp("replayed"), random.Random(seed)
    rows: list[Row] = []
    told: list[tuple[int, list[str]]] = []
    state, ages = (0, 0), (0, 0)
    for number in range(12):
        rows.append((*state, rng.choice(VALUES), rng.randint(0, 1)))
        told += [(number, found)] if (found := drawn.broken(rows, number, ages)) else []
        state, ages = step(rows[-1]), older(rows, ages)
    table = "\n".join(["t,d", *(f"{t},{d}" for _, _, t, d in rows)])
    write_files(place, {"c.c": PROGRAM, "chaincover.toml": drawn.text, "in.csv": table})
    played = chaincover("replay", place, place / "in.csv", "--json").json
    assert len(played["refused_steps"]) == len(told)
    for text, (number, found) in zip(played["refused_steps"], told, strict=True):
        assert text.startswith(f"step {number} breaks the constraint ")
        assert all(f"'{one}'" in text for one in found)
    assert not played["disagreements"]


@pytest.mark.parametrize("same", ["!changed(X(d))", "!rise(X(d)) && !fall(X(d))", "prev(X(X(d))) == d"])
def test_what_begins_to_read_at_its_own_step_holds_from_the_first_step_on(same: str, tmp_path: Path) -> None:
    """Each of these says ``X(d) == d``."""
    write_files(
        tmp_path, {"c.c": PROGRAM, "chaincover.toml": Drawn((same,), (), (1, 1)).text, "in.csv": "t,d\n0,0\n0,1\n"}
    )
    assert chaincover("replay", tmp_path, tmp_path / "in.csv", "--json").json["refused_steps"] == [
        f"step 1 breaks the constraint '{same}' (i->d 0, then 1) (line 3 of in.csv)"
    ]


def test_the_values_around_a_broken_step_are_told(tmp_path: Path) -> None:
    text = Drawn(("abs(X(t) - t) <= 2",), ("t == 3",), (1, 3)).text
    table = "t,d\n2,0\n2,0\n5,1\n5,1\n5,0\n"
    write_files(tmp_path, {"c.c": PROGRAM, "chaincover.toml": text, "in.csv": table})
    played = chaincover("replay", tmp_path, tmp_path / "in.csv")
    assert played.code == 1
    for line in (
        "step 0 breaks the constraint 't == 3' (i->t 2)",
        "step 2 breaks the constraint 'abs(X(t) - t) <= 2' (i->t 2, then 5) and "
        "'i->d keeps each value for at least 3 steps' (i->d 0 for 2 of 3 steps, then 1)",
        "step 4 breaks the constraint 'i->d keeps each value for at least 3 steps' (i->d 1 for 2 of 3 steps, then 0)",
    ):
        assert line in played.out


def test_check_lists_the_constraints(tmp_path: Path) -> None:
    write_files(tmp_path, {"c.c": PROGRAM, "chaincover.toml": Drawn(("t < 5 || !d",), ("X(t) == t",), (1, 3)).text})
    told = ["t < 5 || !d", "X(t) == t (first step)", "i->d keeps each value for at least 3 steps"]
    checked = chaincover("check", tmp_path, "--compare", 0)
    assert all(f"constraint {text}\n" in checked.out for text in told)
    assert chaincover("check", tmp_path, "--compare", 0, "--json").json["constraints"] == told

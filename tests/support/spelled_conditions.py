"""Random conditions of properties as text, each with its meaning spelled out on a run of a small program."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from command_line import fresh_names

from bmc.system.transition import Run
from chaincover.project.load import load
from chaincover.project.project_file import read_project
from properties.goal import Goal

SOURCE = """\
typedef unsigned char u8;
static u8 n; static u8 F[3]; static u8 since; static const u8 LIMIT = 3;
static u8 half(u8 e) { return e / 2; }
void init(void) { n = 0; F[1] = 0; since = 0; }
void compute(u8 a, u8 rise) { n = a; F[1] = rise; since = a; }
"""
DEADLINE = "#define DEADLINE 2\n"


def goals_of(folder: Path, *texts: str, before: str = DEADLINE) -> list[Goal]:
    (folder / "c.c").write_text(before + SOURCE)
    with fresh_names():
        return list(load(read_project(str(folder / "c.c")), texts).goals)


def run_of(values: list[int], inputs: list[int]) -> Run:
    """A run whose state ``n`` and input ``a`` have these values; the program need not be able to do this."""
    states = [{"n": value, "F[0]": 0, "F[1]": value % 2, "F[2]": 0, "since": value} for value in values]
    return Run(tuple(states), tuple({"a": value, "rise": value % 2} for value in inputs))


@dataclass(frozen=True)
class Meaning:
    """A condition as text, whether it holds at a step of a run, the first step that it reads and the last it looks at.

    Both steps are told from the one at which it stands; what is read first may lie after it, as in ``X(e)``.
    """

    text: str
    holds: Callable[[Run, int], int]
    first: int
    last: int

    @property
    def back(self) -> int:
        """How many steps before its own it begins to read."""
        return max(0, -self.first)


FUTURE = ("X", "X[]", "F", "G")
UNBOUNDED = 99


def held_since(e: Meaning, f: Meaning, run: Run, k: int) -> int:
    """A condition that looks at a step before the first one of the run does not hold."""
    at = [step for step in range(k + 1) if step + f.first >= 0 and f.holds(run, step)]
    return int(bool(at) and all(step + e.first >= 0 and e.holds(run, step) for step in range(at[-1] + 1, k + 1)))


def meaning(source: random.Random, depth: int, ahead: int = UNBOUNDED) -> Meaning:
    """A random one; its operators look at most so many steps ``ahead``."""
    if not depth or source.random() < 0.2:
        name, value = source.choice("na"), source.randrange(3)
        at = (
            (lambda run, k: int(run.states[k]["n"] == value))
            if name == "n"
            else (lambda run, k: int(run.inputs[k]["a"] == value))
        )
        return Meaning(f"{name} == {value}", at, 0, int(name == "a"))
    future = FUTURE if ahead == UNBOUNDED else ("X",) * (ahead > 0)
    kind = source.choice((*future, "prev", "rise", "fall", "changed", "since", "&&", "||", "!"))
    if kind == "since":
        ahead = 0
    elif ahead < UNBOUNDED:
        ahead += {"prev": 1, "X": -1}.get(kind, 0)
    e = meaning(source, depth - 1, ahead)
    m = source.randrange(3)
    n = m + source.randrange(3)
    if kind in ("&&", "||"):
        f = meaning(source, depth - 1, ahead)
        both = (
            (lambda run, k: e.holds(run, k) and f.holds(run, k))
            if kind == "&&"
            else (lambda run, k: e.holds(run, k) or f.holds(run, k))
        )
        return Meaning(f"({e.text} {kind} {f.text})", both, min(e.first, f.first), max(e.last, f.last))
    if kind == "since":
        f = meaning(source, depth - 1, ahead)
        return Meaning(f"(({e.text}) since ({f.text}))", partial(held_since, e, f), 0, max(e.last, f.last))
    if kind == "!":
        return Meaning(f"!({e.text})", lambda run, k: int(not e.holds(run, k)), e.first, e.last)
    word, steps, holds = {
        "X": ("X", [1], lambda run, k: e.holds(run, k + 1)),
        "X[]": (f"X[{m}]", [m], lambda run, k: e.holds(run, k + m)),
        "F": (f"F[{m},{n}]", [m, n], lambda run, k: int(any(e.holds(run, k + d) for d in range(m, n + 1)))),
        "G": (f"G[{m},{n}]", [m, n], lambda run, k: int(all(e.holds(run, k + d) for d in range(m, n + 1)))),
        "prev": ("prev", [-1], lambda run, k: e.holds(run, k - 1)),
        "rise": ("rise", [-1, 0], lambda run, k: int(e.holds(run, k) and not e.holds(run, k - 1))),
        "fall": ("fall", [-1, 0], lambda run, k: int(e.holds(run, k - 1) and not e.holds(run, k))),
        "changed": ("changed", [-1, 0], lambda run, k: int(e.holds(run, k) != e.holds(run, k - 1))),
    }[kind]
    return Meaning(f"{word}({e.text})", holds, steps[0] + e.first, max(0, steps[-1] + e.last))


@dataclass(frozen=True)
class Requirement:
    """``G(occurs -> X[later](word[first,last](check)))``."""

    occurs: Meaning
    word: str
    later: int
    first: int
    last: int
    check: Meaning

    @property
    def text(self) -> str:
        return f"G({self.occurs.text} -> X[{self.later}]({self.word}[{self.first},{self.last}]({self.check.text})))"

    @property
    def back(self) -> int:
        """How many steps it looks back from where it is written."""
        return max(self.occurs.back, -(self.later + self.first + self.check.first))

    def decided(self, run: Run, step: int, known: int, checked: int) -> tuple[int, bool] | None:
        """When the occurrence at ``step``, if it is one, is decided, and which way; a step counts once it is over.

        What the antecedent says is known after ``known`` steps, what a check says after ``checked`` steps.
        """
        if step + known > run.length or not self.occurs.holds(run, step):
            return None
        for check in range(step + self.later + self.first, step + self.later + self.last + 1):
            if check + checked > run.length:
                return None
            if bool(self.check.holds(run, check)) == (self.word == "F"):
                return max(check + checked, step + known), self.word == "F"
        return max(check + checked, step + known), self.word == "G"


def drawn(source: random.Random) -> Requirement:
    first = source.choice((0, 0, 1, 2, 6))
    last = first + source.choice((1, 2, 3, 5, 9))
    word, later = source.choice("FG"), source.choice((0, 0, 1, 3))
    return Requirement(meaning(source, 2), word, later, first, last, meaning(source, 1))

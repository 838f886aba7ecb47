"""Properties with deadlines on runs: what replay says of each is what quantifiers over the steps of the run say.

Antecedents and conditions are drawn as trees, whose meaning at a step is written down here operator by operator. No
occurrence is counted or remembered: each one is looked at by itself, and each check of it. Antecedents hold at many
steps, so that occurrences overlap, begin where others end, and fail or hold in any order.
"""

from __future__ import annotations

import functools
import os
import random
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from benchmarks.checks.fuzz.examine import AGREE, DIFFER, Input, Kind, Row
from bmc.native.build import NO_NATIVE
from chaincover.formats.chain_file import Stimulus
from chaincover.project.load import Program
from chaincover.project.project_file import read_project
from chaincover.target.judge import JudgedGoal
from chaincover.target.original import replay
from properties.goal import VIOLATIONS, violation_name

DEADLINES, STEPS = 10, (8, 20, 60)
"""Deadlines of one input, and the steps of its runs, which these share: twice as many of either take twice the time."""
SOURCE = """\
typedef unsigned char u8;
static u8 n, m;
void init(void) { n = 1; m = 0; }
void compute(u8 a, u8 b, u8 next_n, u8 next_m) { n = next_n; m = next_m; }
"""
BEGINS = {"n": 1, "m": 0}
STATE, INPUTS = ("n", "m"), ("a", "b")
RARE = 2
"""The value that most steps do not have: what is compared with it holds at nearly all steps, or at few."""
EDGE = 4
"""Steps before and after a run of which nothing is known: as many as operators within each other look back or ahead."""
LONG = 9
"""From so many steps on a ``G`` in an antecedent is not unrolled."""

Tree = list[Any]
"""An operator, its numbers and its operands; of a comparison the operator, the variable and the value."""
Values = Sequence[Mapping[str, int]]
"""State and inputs of each step of a run; of its last state the state alone."""


def _condition(rng: random.Random, depth: int, often: bool, names: list[str], ahead: bool = True) -> Tree:
    """A condition that holds ``often``, or at few steps, and reads each of ``names`` at most once, which it takes away.

    ``ahead``: it may look at later steps.
    """
    if depth == 0 or rng.random() < 0.3 or not names:
        name = names.pop(rng.randrange(len(names))) if names else "n"
        return [rng.choice(("!=", "<")) if often else "==", name, RARE]
    words = ["prev", "!", "&&", "||"] + ["X", "G"] * ahead + ["since"] * (len(names) > 1)
    word = rng.choice([*words, "changed"] if not often else words)
    if word == "changed":
        return [rng.choice(("rise", "fall", "changed")), _condition(rng, depth - 1, often, names, ahead)]
    if word == "since":
        return ["since", *(_condition(rng, depth - 1, True, names, ahead=False) for _ in range(2))]
    if word in ("&&", "||") and len(names) > 1:
        return [word, _condition(rng, depth - 1, often, names, ahead), _condition(rng, depth - 1, often, names, ahead)]
    if word == "G":
        first = rng.randrange(2)
        return ["G", first, first + 1, _condition(rng, depth - 1, often, names, ahead)]
    word = word if word in ("prev", "X") else "!"
    return [word, _condition(rng, depth - 1, often != (word == "!"), names, ahead)]


@dataclass(frozen=True)
class Deadline:
    """``G(antecedent -> X[later](word[first,last](check)))``."""

    antecedent: Tree
    word: str
    later: int
    first: int
    last: int
    check: Tree

    @staticmethod
    def drawn(rng: random.Random) -> Deadline:
        """One that is not over before its antecedent is."""
        names = [*STATE, *INPUTS]
        antecedent = _condition(rng, 2, rng.random() < 0.5, names)
        if names and rng.random() < 0.15:
            first = rng.randrange(3)
            lasting = ["G", first, first + LONG + rng.randrange(4), _condition(rng, 0, True, names)]
            antecedent = ["&&", antecedent, lasting] if rng.random() < 0.7 else lasting
        word, later = rng.choice("FG"), rng.choice((0, 0, 0, 1, 3))
        check = _condition(rng, 1, word == "G", names or [*STATE, *INPUTS])
        first = rng.choice((0, 0, 0, 1, 2, 5))
        least = _end(antecedent, (0, 0)) - _end(check, (0, 0)) - later
        last = max(first + rng.choice((1, 2, 3, 4, 7)), least)
        return Deadline(antecedent, word, later, first, last, check)

    @property
    def text(self) -> str:
        """The property as a user writes it."""
        within = f"{self.word}[{self.first},{self.last}]({_text(self.check)})"
        return f"G({_text(self.antecedent)} -> {f'X[{self.later}]({within})' if self.later else within})"

    def outcomes(self, run: Values) -> Iterator[Outcome]:
        """Those of the steps at which the antecedent occurs, in this order, but of those that ``run`` does not decide.

        An occurrence counts from the first step on from which the property looks at no step before the run.
        """
        length, known, checked = len(run) - 1, _end(self.antecedent), _end(self.check)
        last, read = _end(self.antecedent, (0, 0)), _end(self.check, (0, 0))
        back = max(0, -_begin(self.antecedent), -(self.later + self.first + _begin(self.check)))
        occurs, holds = _held(self.antecedent, run), _held(self.check, run)
        for begin in range(back, length - known + 1):
            if not occurs[begin]:
                continue
            checks = range(begin + self.later + self.first, begin + self.later + self.last + 1)
            seen = [(at, bool(holds[at])) for at in checks if at + checked <= length]
            early = next((at for at, held in seen if held == (self.word == "F")), None)
            settled = checks[-1] if early is None else early
            if early is None and len(seen) < len(checks):
                continue
            begun, ended = (max(begin + last, at + read) for at in (checks[0], settled))
            held = (self.word == "F") == (early is not None)
            yield Outcome(begun, ended, max(begin + known, settled + checked), held)


@dataclass(frozen=True)
class Outcome:
    """An occurrence of an antecedent is decided after ``after`` steps of a run, as ``held`` or not.

    ``begun`` and ``ended`` are the steps that the antecedent and its first check, or the last one, read last.
    """

    begun: int
    ended: int
    after: int
    held: bool


def _text(tree: Tree) -> str:
    word, *rest = tree
    if word in ("==", "!=", "<"):
        return f"{rest[0]} {word} {rest[1]}"
    if word in ("&&", "||", "since"):
        return f"(({_text(rest[0])}) {word} ({_text(rest[1])}))"
    numbers = f"[{rest[0]},{rest[1]}]" if word == "G" else ""
    return f"{word}{numbers}({_text(rest[-1])})"


def _begin(tree: Tree) -> int:
    """The first step that a condition reads, counted from where it stands; ``since`` reads none before that."""
    word, *rest = tree
    if word in ("==", "!=", "<", "since"):
        return 0
    shift = rest[0] if word == "G" else {"prev": -1, "rise": -1, "fall": -1, "changed": -1, "X": 1}.get(word, 0)
    return shift + min(_begin(each) for each in rest if isinstance(each, list))


def _end(tree: Tree, takes: tuple[int, int] = (0, 1)) -> int:
    """After how many steps, from where it stands, it is known whether a condition holds: not before that step.

    ``takes``: the steps after which a state is known and an input is.
    """
    return max(0, _known(tree, takes))


def _known(tree: Tree, takes: tuple[int, int]) -> int:
    word, *rest = tree
    if word in ("==", "!=", "<"):
        return takes[rest[0] in INPUTS]
    if word == "since":
        return max(_end(each, takes) for each in rest)
    shift = rest[1] if word == "G" else {"prev": -1, "X": 1}.get(word, 0)
    return shift + max(_known(each, takes) for each in rest if isinstance(each, list))


def _held(tree: Tree, run: Values) -> list[bool | None]:
    """At each step of ``run`` whether a condition holds; None where it looks at a step before the first or too late."""
    edge: Values = [{}] * EDGE
    return _rows(tree, [*edge, *run, *edge])[EDGE:-EDGE]


def _rows(tree: Tree, run: Values) -> list[bool | None]:
    """As ``_held``, of a run with ``EDGE`` steps before its first and after its last of which nothing is known."""
    word, *rest = tree
    if word in ("==", "!=", "<"):
        name, value = rest
        compared = {"==": int.__eq__, "!=": int.__ne__, "<": int.__lt__}[word]
        return [compared(values[name], value) if name in values else None for values in run]
    rows = [_rows(each, run) for each in rest if isinstance(each, list)]
    found: list[bool | None] = []
    if word == "since":  # a condition of it does not hold where it looks at a step before the first
        held, seen = rows
        for at in range(len(run)):
            known = EDGE <= at < len(run) - EDGE - _end(tree)
            places = range(EDGE, at + 1)
            found.append(any(seen[k] and all(held[k + 1 : at + 1]) for k in places) if known else None)
        return found
    shifts: list[int] = {"prev": [-1], "X": [1], "rise": [-1, 0], "fall": [-1, 0], "changed": [-1, 0]}.get(word, [0])
    shifts = [*range(rest[0], rest[1] + 1)] if word == "G" else shifts
    meant: dict[str, Callable[..., bool | None]] = {
        "!": lambda one: not one,
        "rise": lambda before, now: now and not before,
        "fall": lambda before, now: before and not now,
        "changed": lambda before, now: before != now,
        "||": lambda one, other: one or other,
        "&&": lambda one, other: one and other,
        "G": lambda *each: all(each),
        "prev": lambda before: before,
        "X": lambda after: after,
    }
    for at in range(len(run)):
        read = [row[at + shift] if 0 <= at + shift < len(run) else None for row in rows for shift in shifts]
        found.append(None if None in read else meant[word](*read))
    return found


def _draw(rng: random.Random) -> Input:
    """Deadlines, and runs as rows of inputs."""
    deadlines = [Deadline.drawn(rng) for _ in range(DEADLINES)]
    runs = []
    for steps in STEPS:
        rare = [rng.choice((0.04, 0.1, 0.3)) for _ in range(4)]
        runs.append([[RARE if rng.random() < p else rng.randrange(RARE) for p in rare] for _ in range(steps)])
    return {"deadlines": [vars(each) for each in deadlines], "runs": runs}


@functools.cache
def program() -> Program:
    """The program that the deadlines are about: its state is the input of the step before."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "program.c")
        file.write_text(SOURCE, encoding="utf-8")
        return Program.of(read_project(str(file)))


def _judge(data: Input) -> Row:
    """Replay each run on the model, and compare what is said of each deadline and of its violation."""
    deadlines = {f"d{number}": Deadline(**each) for number, each in enumerate(data["deadlines"])}
    texts = [f"{name}: {each.text}" for name, each in deadlines.items()]
    subject, rng, decided = program().subject(texts, criteria=[VIOLATIONS]), random.Random(repr(data)), 0
    for rows in data["runs"]:
        inputs = tuple(dict(zip((*INPUTS, "next_n", "next_m"), row, strict=True)) for row in rows)
        states = [BEGINS, *({"n": each["next_n"], "m": each["next_m"]} for each in inputs)]
        run = [{**state, **given} for state, given in zip(states, [*inputs, {}], strict=True)]
        outcomes = {name: [*each.outcomes(run)] for name, each in deadlines.items()}
        failures = {violation_name(name): [one for one in found if not one.held] for name, found in outcomes.items()}
        claims = {name: _claim(outcomes[name], outcomes[name], rng, len(rows)) for name in outcomes}
        claims |= {
            violation_name(name): _claim(failures[violation_name(name)], outcomes[name], rng, len(rows))
            for name in outcomes
        }
        with mock.patch.dict(os.environ, {NO_NATIVE: "1"}):
            claimed = {name: step for name, (step, _) in claims.items()}
            played = replay(subject, Stimulus("drawn", inputs, {}, claimed, (), None, False))
        said = {goal.goal: goal for goal in played.goals}
        for name, each in deadlines.items():
            violated = violation_name(name)
            wrong = [*_differences(outcomes[name], said[name], claims[name][1])]
            wrong += _differences(failures[violated], said[violated], claims[violated][1], judged=False)
            if wrong:
                return Row(DIFFER, f"{each.text}: {'; '.join(wrong)}; inputs {rows}")
            decided += len(outcomes[name])
    return Row(AGREE, steps=decided)


def _claim(of: Sequence[Outcome], every: Sequence[Outcome], rng: random.Random, length: int) -> tuple[int, bool]:
    """A step, and whether one ``of`` the outcomes is told there.

    It is where an occurrence is decided for which none of ``every`` waits when it begins, as that may be told for
    several at once else; and it is not where none is decided.
    """
    alone = [one.after for place, one in enumerate(every) if all(o.ended <= one.begun for o in every[:place])]
    told = sorted({one.after for one in of} & {*alone})
    if told and rng.random() < 0.4:
        return rng.choice(told), True
    none = sorted({*range(length + 1)} - {one.after for one in of})
    return (rng.choice(none), False) if none else (told[0], True)


def _differences(outcomes: Sequence[Outcome], goal: JudgedGoal, told: bool, judged: bool = True) -> Iterator[str]:
    """Where what a replay says of a deadline, or of its violation, is not what its ``outcomes`` say.

    ``told``: whether one is told at the step that was claimed. A violation is not ``judged``.
    """
    place = goal.claimed if told else min((one.after for one in outcomes), default=None)
    held = None if place is None else all(one.held for one in outcomes if one.after == place)
    failed = min((one.after for one in outcomes if not one.held), default=None)
    for what, expected, found in (
        (f"told at step {goal.claimed}", told, goal.claim_holds),
        ("the step", place, goal.step),
        ("held there", held if judged else None, goal.consequent_held),
        ("failed first", failed if judged else None, goal.failed_at),
    ):
        if expected != found:
            yield f"{goal.goal}: {what}: {found}, not {expected}"


DEADLINE = Kind("deadline", _draw, _judge, keeps="deadlines")

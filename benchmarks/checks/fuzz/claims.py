"""Certificates with facts changed: what ``verify`` accepts is true, as a model checker of others decides.

Each changed file that is accepted has a rule that allows it: nothing but informative fields differ, or all that it says
of runs is true, the bounds that follow from prices, orders and jumps of counters included. ABC decides that.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from benchmarks.checks.foreign import abc
from benchmarks.checks.fuzz.documents import DOCUMENTS, made
from benchmarks.checks.fuzz.examine import ACCEPTED, AGREE, DIFFER, Input, Kind, Row
from benchmarks.checks.fuzz.mutations import GONE, Place, Tree, gentle, path_of, places, several, value_at
from benchmarks.checks.fuzz.results import below, differing, other_values, text_of
from bmc.ending import ExitCode
from bmc.errors import ChainCoverError
from bmc.native.build import NO_NATIVE
from chaincover.certificate import Certificate
from chaincover.claims import (
    CONFLICT,
    EDGE,
    EXCLUDES,
    LENGTH,
    MOST,
    NEVER,
    NO_WAY_TO_END,
    SHORTEST,
    SUB_PATH,
    UNREACHED,
)
from chaincover.exporters.aiger import Aiger
from chaincover.exporters.claims import INVARIANT, claims
from chaincover.exporters.protocol import Question, Statement
from chaincover.exporters.questions import chain_question
from chaincover.formats.document import Document
from chaincover.problem import Problem
from chaincover.verification.acceleration import JUMPS
from chaincover.verification.fields import INFORMATIVE
from chaincover.verification.invariants import CHECK as INVARIANTS
from chaincover.verification.orders import CHECK as ORDER
from chaincover.verification.prices import PRICES
from chaincover.verification.report import HOLDS, NOTE, OPEN, Verification
from chaincover.verification.requirements import NEVER as NEVER_VIOLATED
from chaincover.verification.values import BOUND
from chaincover.verification.verdicts import EDGES, LENGTHS, PATHS, UNCOVERED

KINDS = tuple(name for name in DOCUMENTS if name != "undecided")
"""The files whose facts are changed: all that claim something."""
FACTS = ("certificate", "requirements.certificate", "bounds", "goals.verdict", "goals.step")
CHECKS = {
    **{
        LENGTH: BOUND,
        EDGE: EDGES[0],
        SUB_PATH: PATHS[0],
        INVARIANT: INVARIANTS,
        NEVER: NEVER_VIOLATED,
        SHORTEST: NEVER_VIOLATED,
    },
    **dict.fromkeys((UNREACHED, NO_WAY_TO_END, CONFLICT, MOST, EXCLUDES), UNCOVERED[0]),
    **{ORDER: ORDER, PRICES: PRICES, JUMPS: JUMPS},
}
"""For each kind of claim the check of ``verify`` that says whether it holds."""
SECONDS = 20.0
"""Seconds of the processor for each question to ABC."""


def near(random: random.Random, document: Tree, known: list[Place], place: Place) -> Tree:
    """What may be put at ``place``: near values, those of fields of the same name, entries moved, left out, doubled."""
    value = value_at(document, place)
    if isinstance(value, int) and not isinstance(value, bool) and random.random() < 0.6:
        return max(0, value + random.choice((-3, -2, -1, 1, 2, 3, 10)))
    if isinstance(value, str) and random.random() < 0.5:
        alike = [value_at(document, other) for other in known if other[-1] == place[-1] or isinstance(place[-1], int)]
        names = [goal.get("name") or goal["goal"] for goal in document.get("goals") or document["verdicts"]]
        texts = [*names, *(each for each in alike if isinstance(each, str))]
        return random.choice(texts) if random.random() < 0.6 else several(random, value, gentle)
    if isinstance(value, list) and value and random.random() < 0.7:
        at = random.randrange(len(value))
        rest = [*value[:at], *value[at + 1 :]]
        return random.choice([rest, [*value, value[at]], [value[at], *rest], value[::-1]])
    return random.choice(other_values(value))


def _draw(random: random.Random) -> Input:
    name = random.choice(KINDS)
    document = made(name)[1]
    known = [place for place in places(document) if below(path_of(place), FACTS)]
    deep = [place for place in known if len(place) > 2]
    changes = []
    for _ in range(random.choice((1, 1, 2, 2, 3, 5))):
        place = random.choice(deep if deep and random.random() < 0.8 else known)
        changes.append((place, near(random, document, known, place)))
    return {
        "document": name,
        "changes": [[list(place), value] for place, value in changes if value is not GONE],
        "gone": [list(place) for place, value in changes if value is GONE],
    }


def _judge(data: Input) -> Row:
    """Refused, or true; DIFFER names what is accepted and is not."""
    if abc.place() is None:
        raise ChainCoverError("there is no ABC", hint=abc.HOW)
    with mock.patch.dict(os.environ, {NO_NATIVE: "1"}):
        return judge(data["document"], text_of(data))


def judge(kind: str, text: str) -> Row:
    """What becomes of the file in ``text``, a changed one of this ``kind``: refused, or what is accepted of it is true.

    DIFFER names what is accepted and is not.
    """
    kept, document = made(kind)
    try:
        said = kept.verify_text(text)
    except ChainCoverError:
        return Row(AGREE, "refused")
    if said.exit_code == ExitCode.DISPROVED:
        return Row(AGREE, "wrong")
    paths = sorted({path for path, _, _ in differing(document, json.loads(text))})
    if all(below(path, INFORMATIVE) for path in paths):
        return Row(ACCEPTED, "informative fields differ" if paths else "nothing differs")
    with kept.read(text) as (problem, read):
        return _true(problem, read, said, [path for path in paths if not below(path, INFORMATIVE)])


def _true(problem: Problem, document: Document, said: Verification, paths: list[str]) -> Row:
    """Whether all is true that ``document`` claims of runs and that ``verify`` says to hold, and the bounds that follow
    from its other facts."""
    verdicts: dict[str, set[str]] = {}
    for line in said.lines:
        verdicts.setdefault(line.check, set()).add(line.verdict)
    asked = 0
    for question in _questions(problem, document):
        statement = question.statement
        check = CHECKS[statement.kind]
        if statement.kind == LENGTH and statement.title != f"below-{document.bounds.lower}":
            check = LENGTHS[0]
        if verdicts.get(check) != {HOLDS}:
            continue
        answer = _reached(Aiger().write(question), question.frames)
        asked += 1
        if answer is None:
            return Row(ACCEPTED, f"not decided by ABC: {statement.kind}")
        if answer:
            return Row(DIFFER, f"accepted and untrue: {statement.text} ({', '.join(paths)})")
    fields = dict.fromkeys(".".join(path.split(".")[: 2 + path.startswith("requirements")]) for path in paths)
    left_open = sorted(check for check, found in verdicts.items() if found & {OPEN, NOTE})
    more = f"; left open: {', '.join(left_open)}" if left_open else ""
    return Row(ACCEPTED, f"what holds is true, with other {', '.join(fields)}{more}", asked)


def _questions(problem: Problem, document: Document) -> Iterator[Question]:
    yield from (claim for claim in claims(problem, document) if isinstance(claim, Question))
    proof = document.certificate
    bounds = {} if proof is None else _bounds(proof)
    for name, bound in bounds.items():
        statement = Statement(name, str(bound), f"no chain is shorter than {bound} steps, by {name}")
        if bound > 0 and proof is not None and {*proof.goals} <= {*problem.names}:
            yield chain_question(problem.of(proof.goals), statement, bound)


def _bounds(proof: Certificate) -> dict[str, int]:
    """The bounds on chains that follow from facts which are no claims about runs."""
    priced = 0 if proof.prices is None else proof.prices.bound
    jumps = 0 if proof.acceleration is None else proof.acceleration.bound
    return {ORDER: proof.order_bound, PRICES: priced, JUMPS: jumps}


@functools.cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp())


_answers: dict[tuple[str, int | None], bool | None] = {}


def _reached(content: bytes, frames: int | None) -> bool | None:
    """Whether a bad state is reached; what was asked before is not asked again."""
    key = hashlib.sha256(content).hexdigest(), frames
    if key not in _answers:
        file = _folder() / "question.aig"
        file.write_bytes(content)
        _answers[key] = abc.decide(file, frames, SECONDS).reached
    return _answers[key]


CLAIMS = Kind("claims", _draw, _judge)

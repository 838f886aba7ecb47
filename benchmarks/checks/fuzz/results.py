"""Result files with fields changed: ``verify`` finds out all of them but those that are informative."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterable, Iterator, Sequence
from math import nan
from unittest import mock

from benchmarks.checks.fuzz.commands import judged, run
from benchmarks.checks.fuzz.documents import DOCUMENTS, SUMMARIES, Kept, made
from benchmarks.checks.fuzz.examine import AGREE, DIFFER, Input, Kind, Row
from benchmarks.checks.fuzz.mutations import (
    GONE,
    Place,
    Tree,
    changed,
    gentle,
    other_bytes,
    path_of,
    places,
    several,
    value_at,
    wild,
)
from benchmarks.checks.fuzz.programs import write_files
from bmc.ending import ExitCode
from bmc.errors import ChainCoverError
from bmc.native.build import NO_NATIVE
from chaincover.verification.claims import SOURCES
from chaincover.verification.fields import INFORMATIVE, INFORMATIVE_OF_ALL
from chaincover.verification.report import NOTE, OPEN
from chaincover.verification.requirements import CAN_FAIL_LINE

TRUE_TOO = {
    "certificate": "fewer facts, or weaker ones, may prove the same bound",
    "chain.steps.inputs": "an input may make no difference",
    "library.closed": "what is claimed is proved again either way",
    "library.values": "values that nothing needs may be left out",
    "library.version": "another library may have the same values",
    "goals.test": "another run may cover the goal, and there need be none",
    "goals.long_test.parts.inputs": "an input may make no difference",
    "verdicts.test": "another run may cover the goal, and there need be none",
    "requirements.certificate": "what is claimed may be proved by fewer facts",
    "requirements.rulings.test.chosen": "a start value may make no difference",
    "requirements.rulings.test.inputs": "an input may make no difference",
}
"""Fields of which another value may be right too, which then is checked as the one before it was."""
NOT_NEEDED = ("goals.long_test", "number_minimal", "conflicts")
"""Fields of which less may be said: less is claimed then. That goals exclude each other in all runs is proved again."""


def below(path: str, names: Iterable[str]) -> bool:
    """Whether ``path`` is one of ``names`` or within it."""
    return any(path == name or path.startswith(f"{name}.") for name in names)


def may_be_right(path: str, old: Tree, new: Tree, informative: Sequence[str] = INFORMATIVE) -> bool:
    """Whether a document that has ``new`` in the place of ``old`` may be as right as before."""
    too = below(path, TRUE_TOO) and (new is GONE or new is None or type(new) is type(old))
    return too or below(path, informative) or (below(path, NOT_NEEDED) and _says_less(path, old, new))


def _says_less(path: str, old: Tree, new: Tree) -> bool:
    if path == "number_minimal":
        return new is False
    if path == "conflicts.at_all":  # more is proved again; less is enough where the number rests on prices
        return isinstance(new, bool)
    shorter = path == "conflicts" and isinstance(old, list) and isinstance(new, list) and new == old[: len(new)]
    return shorter or (new is GONE and path in NOT_NEEDED)


def other_values(value: Tree) -> list[Tree]:
    """Values in the place of ``value``: of its type, of another one, nothing, and none at all."""
    return [other for other in _values(value) if type(other) is not type(value) or other != value]


def _values(value: Tree) -> list[Tree]:
    if isinstance(value, bool):
        return [not value, int(value), None, GONE]
    if isinstance(value, int):
        return [value + 1, value - 1, float(value), str(value), None, GONE]
    if isinstance(value, float):
        return [value + 0.25, nan, str(value), None, GONE]
    if isinstance(value, str):
        return [value + "x", "", [value], None, GONE]
    if value is None:
        return [1, "x", [], {}, GONE]
    if isinstance(value, list):
        return [value[:-1], [*value, *value[-1:]], [*value, 1], {}, None, GONE] if value else [[1], {}, None, GONE]
    fewer: list[Tree] = [{name: one for name, one in value.items() if name != left} for left in list(value)[:1]]
    return [*fewer, {**value, "unknown": 1}, [], None, GONE]


def found_out(kept: Kept, text: str, whole: bool) -> bool:
    """Whether the document in ``text`` is refused, or said to be wrong, or its sources to be others, or it to be one
    from before the end of the search, which says nothing of requirements.

    ``whole``: it is a summary of several chains.
    """
    try:
        said = kept.verify_chains_text(text) if whole else kept.verify_text(text)
    except ChainCoverError:
        return True
    if said.exit_code == ExitCode.DISPROVED:
        return True
    return any((line.check, line.verdict) in ((SOURCES, NOTE), (CAN_FAIL_LINE, OPEN)) for line in said.lines)


ODD: tuple[Tree, ...] = (
    *(
        0,
        1,
        -1,
        2,
        10**30,
        -(2**63),
        2**64,
        1e308,
        -0.0,
        0.5,
        True,
        False,
        None,
        "",
        "x",
        "x" * 3_000,
        "\ud800",
        "\u2028",
    ),
    *([], {}, [[]], [0], [None], {"a": {}}, "nan", "init", "end", "none", "G(", "G(1 -> 0)", "cover(n == 1)", "../x"),
    *("covered", "unreachable", "undecided", "/dev/zero", "%s", "{}", "A=1", "allow", "chaincover/chain/6", "1e400"),
    *("9" * 1_200, "0x10", " 1", "1.0", "inf", json.loads("[" * 110 + "]" * 110)),
)


def _change(random: random.Random, document: Tree) -> tuple[Place, Tree]:
    """A place, and what is put there; GONE for nothing."""
    known = list(places(document))
    place = random.choice(known)
    value = value_at(document, place)
    kind = random.randrange(6)
    if kind == 0:
        return place, random.choice(ODD)
    if kind == 1:
        same = [other for other in known if other[-1] == place[-1]]
        return place, value_at(document, random.choice(same))
    if isinstance(value, str) and random.random() < 0.3:
        return place, several(random, value, random.choice((wild, gentle)))
    if kind == 2 and isinstance(value, list) and value:
        at = random.randrange(len(value))
        rows = [[*value, value[at]], value[::-1], value[at:], value[:at], [*value[:at], *value[at + 1 :]]]
        return place, random.choice(rows)
    if kind == 3 and isinstance(value, dict):
        return (*place, random.choice(("unknown", "name", "goal", "", "hold"))), random.choice(ODD)
    return place, random.choice(other_values(value))


def _draw(random: random.Random) -> Input:
    name = random.choice([*DOCUMENTS, *(kind for kind in DOCUMENTS if kind not in ("chosen", "open")), *SUMMARIES])
    document = made(name)[1]
    command = random.choice(("replay", "verify")) if random.random() < 0.15 else ""
    if random.random() < 0.1:
        text = json.dumps(document, indent=1)
        change = random.choice((wild, other_bytes))
        return {"document": name, "text": several(random, text, change), "command": command}
    changes = [_change(random, document) for _ in range(random.choice((1, 1, 1, 2, 3, 5)))]
    put = [[list(place), value] for place, value in changes if value is not GONE]
    return {
        "document": name,
        "changes": put,
        "gone": [list(place) for place, value in changes if value is GONE],
        "command": command,
    }


def text_of(data: Input) -> str:
    """The document of an input as text."""
    if "text" in data:
        return str(data["text"])
    changes = [(tuple(place), value) for place, value in data["changes"]]
    changes += [(tuple(place), GONE) for place in data["gone"]]
    return json.dumps(changed(made(data["document"])[1], *changes))


def differing(old: Tree, new: Tree, place: Place = ()) -> Iterator[tuple[str, Tree, Tree]]:
    """Where two documents differ: the path of each field, and its values."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in {**old, **new}:
            yield from differing(old.get(key, GONE), new.get(key, GONE), (*place, key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, pair in enumerate(zip(old, new, strict=True)):
            yield from differing(*pair, (*place, number))
    elif type(old) is not type(new) or old != new:
        yield path_of(place), old, new


def _judge(data: Input) -> Row:
    """What differs in a field that is not informative is found out; and no change ends in an internal error."""
    with mock.patch.dict(os.environ, {NO_NATIVE: "1"}):
        kept, document = made(data["document"])
        text, whole = text_of(data), data["document"] in SUMMARIES
        if data["command"]:
            file = "chains.json" if whole else "chain.json"
            write_files(kept.folder, {"files": {file: text}})
            words = [
                data["command"],
                kept.project,
                file if data["command"] == "verify" or not whole else "chain-1.json",
            ]
            row = judged(run([*words, "--json"], kept.folder), True)
        else:
            row = Row(AGREE)
        found = found_out(kept, text, whole)
    try:
        other = json.loads(text)
    except (ValueError, RecursionError):
        return row
    informative = INFORMATIVE_OF_ALL if whole else INFORMATIVE
    wrong = [path for path, old, new in differing(document, other) if not may_be_right(path, old, new, informative)]
    if not whole and document["chain"] is None:  # a goal of which nothing is said may be any
        wrong = [path for path in wrong if path != "goals.property"]
    if wrong and not found:
        return Row(DIFFER, f"verified with other {', '.join(sorted(set(wrong)))}")
    return row


RESULTS = Kind("json", _draw, _judge)

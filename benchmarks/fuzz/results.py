"""Result files with fields changed: ``verify`` finds out all of them but those that are informative."""

from __future__ import annotations

import functools
import json
import os
import random
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from math import nan
from pathlib import Path
from unittest import mock

from pysmt.environment import Environment, get_env, pop_env, push_env
from pysmt.fnode import FNode

from benchmarks.fuzz.commands import judged, run
from benchmarks.fuzz.examine import AGREE, DIFFER, Input, Kind, Row
from benchmarks.fuzz.mutations import (
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
from benchmarks.fuzz.programs import MODELS, write_files
from bmc.errors import ChainCoverError
from bmc.native.build import NO_NATIVE
from bmc.system.transition import TransitionSystem
from chaincover.formats.document import Document, load_for, read_document
from chaincover.problem import Problem
from chaincover.project.load import Controller, Request
from chaincover.verify import several as verify_several
from chaincover.verify import verification
from chaincover.verify.claims import SOURCES
from chaincover.verify.fields import INFORMATIVE
from chaincover.verify.limits import Clock, Limits
from chaincover.verify.report import NOTE, OPEN, SOME_WRONG, Verification
from chaincover.verify.requirements import CAN_FAIL_LINE
from chaincover.verify.several import INFORMATIVE_OF_ALL
from chaincover.verify.states import Table, tabulate
from chaincover.verify.verification import verify

LIMITS = Limits(explored=100_000)

TRUE_TOO = {
    "certificate": "fewer facts, or weaker ones, may prove the same bound",
    "chain.steps.inputs": "an input may make no difference",
    "goals.test": "another run may cover the goal, and there need be none",
    "goals.long_test.parts.inputs": "an input may make no difference",
    "verdicts.test": "another run may cover the goal, and there need be none",
    "requirements.certificate": "what is claimed may be proved by fewer facts",
    "requirements.rulings.test.chosen": "a start value may make no difference",
    "requirements.rulings.test.inputs": "an input may make no difference",
}
"""Fields of which another value may be right too, which then is checked as the one before it was."""
NOT_NEEDED = ("goals.long_test",)
"""Fields without which less is claimed."""


def below(path: str, names: Iterable[str]) -> bool:
    """Whether ``path`` is one of ``names`` or within it."""
    return any(path == name or path.startswith(f"{name}.") for name in names)


def may_be_right(path: str, old: Tree, new: Tree, informative: Sequence[str] = INFORMATIVE) -> bool:
    """Whether a document that has ``new`` in the place of ``old`` may be as right as before."""
    too = below(path, TRUE_TOO) and (new is GONE or new is None or type(new) is type(old))
    return too or below(path, informative) or (new is GONE and path in NOT_NEEDED)


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


class Kept:
    """Verifies documents of one program: it is read once for each choice of goals, and its states are listed once.

    The names of its variables are its own, whatever else is read meanwhile.
    """

    def __init__(self, project: Path, folder: Path) -> None:
        self.project, self.folder = str(project), folder
        self._names = Environment()
        self._controllers: dict[str, Controller] = {}
        self._tables: dict[object, tuple[TransitionSystem, Table | None]] = {}

    def verify(self, document: Tree, limits: Limits = LIMITS) -> Verification:
        """What is said of ``document``. ChainCoverError where it cannot be read."""
        return self.verify_text(json.dumps(document), limits)

    def verify_text(self, text: str, limits: Limits = LIMITS) -> Verification:
        """What is said of the document in ``text``. ChainCoverError where it cannot be read."""
        place = self.folder / "chain.json"
        write_files(self.folder, {"files": {"chain.json": text}})
        with self._kept():
            read = read_document(place)
            return verify(self._load(read, Request(self.project)), read, limits)

    @contextmanager
    def read(self, text: str) -> Iterator[tuple[Problem, Document]]:
        """The document in ``text``, and the problem that it is about, under the names of the program."""
        write_files(self.folder, {"files": {"chain.json": text}})
        with self._kept():
            document = read_document(self.folder / "chain.json")
            yield self._load(document, Request(self.project)).problem, document

    def verify_chains(self, summary: Tree, limits: Limits = LIMITS) -> Verification:
        """What is said of ``summary`` and of the chains in the folder. ChainCoverError where they cannot be read."""
        return self.verify_chains_text(json.dumps(summary), limits)

    def verify_chains_text(self, text: str, limits: Limits = LIMITS) -> Verification:
        """What is said of the summary in ``text`` and of the chains in the folder."""
        write_files(self.folder, {"files": {"chains.json": text}})
        with self._kept():
            return verify_several.verify_chains(self.folder / "chains.json", Request(self.project), limits)

    @contextmanager
    def _kept(self) -> Iterator[None]:
        push_env(self._names)
        get_env().enable_infix_notation = True
        try:
            with (
                mock.patch.object(verification, "tabulate", self._table),
                mock.patch.object(verify_several, "load_for", self._load),
            ):
                yield
        finally:
            pop_env()

    def _load(self, document: Document, request: Request) -> Controller:
        asked = [(goal.name, goal.property, goal.generated) for goal in document.goals]
        key = repr((document.settings, asked))
        if key not in self._controllers:
            self._controllers[key] = load_for(document, request)
        return self._controllers[key]

    def _table(self, system: TransitionSystem, formulas: Sequence[FNode], clock: Clock) -> Table | None:
        key = id(system), tuple(formulas), clock.limits.explored
        if key not in self._tables:
            self._tables[key] = system, tabulate(system, formulas, clock)
        return self._tables[key][1]


def found_out(kept: Kept, text: str, whole: bool) -> bool:
    """Whether the document in ``text`` is refused, or said to be wrong, or its sources to be others, or it to be one
    from before the end of the search, which says nothing of requirements.

    ``whole``: it is a summary of several chains.
    """
    try:
        said = kept.verify_chains_text(text) if whole else kept.verify_text(text)
    except ChainCoverError:
        return True
    if said.exit_code == SOME_WRONG:
        return True
    return any((line.check, line.verdict) in ((SOURCES, NOTE), (CAN_FAIL_LINE, OPEN)) for line in said.lines)


# the documents that are changed

HEAD = """\
#include <assert.h>
void __CPROVER_assume(int condition);
typedef struct { int a; _Bool b; } t_in;
typedef struct { int n; int m; } t_st;
"""
INIT = "void init(t_st *s) { s->n = 0; s->m = 0; }\n"
BRANCHES = {
    "p/c.c": HEAD + INIT + "\nvoid compute(t_in *i, t_st *s) {\n  if (s->n == 0) s->n = i->a;\n}\n",
    "p/chaincover.toml": "[sources]\nfiles = ['c.c']\n[ranges]\na = '0..2'\n",
}
APART = (
    *("--property", "one: cover(n == 1)"),
    *("--property", "two: cover(n == 2)"),
    *("--property", "far: cover(n == 7)"),
)
CHOSEN = {
    "p/c.c": """\
#include <assert.h>
void __CPROVER_assume(int condition);
typedef struct { _Bool on; float by; } In;
typedef struct { unsigned char mode, spare; float level; } St;
void init(St *s) { s->level = 0.0f; }
void assumption(In *i, St *s) { __CPROVER_assume(i->by == 0.5f || i->by == -0.25f); }
void compute(In *i, St *s) {
  assert(s->mode != 2 || !i->on);
  if (i->on && s->level < 1.0f) s->level += i->by;
  s->spare = s->mode;
}
void p_high(In *i, St *s) { __CPROVER_assume(s->level >= 1.0f && s->mode == 2 && i->on); compute(i, s); assert(i->on); }
void p_low(In *i, St *s) { __CPROVER_assume(s->level < 0.0f); compute(i, s); assert(s->level > 5.0f); }
""",
    "p/chaincover.toml": "[sources]\nfiles = ['c.c']\n[interface]\nchosen = ['s->mode']\n",
}
OPENED = {
    "p/c.c": HEAD
    + "void init(t_st *s) { s->n = 0; }\nvoid compute(t_in *i, t_st *s) { s->n = i->a; if (i->b) s->m = s->n; }\n",
    "p/chaincover.toml": "[sources]\nfiles = ['c.c']\n[ranges]\na = '0..2'\n",
}
WIDE = {
    "p/c.c": """\
typedef struct { unsigned a; _Bool b; } t_in;
typedef struct { unsigned n, m; unsigned char k; } t_st;
void init(t_st *s) { s->n = 0; s->m = 0; s->k = 0; }
void compute(t_in *i, t_st *s) {
  if (s->k == 0) { s->n = i->a; s->k = i->b; }
  else if (s->k == 1) { s->m = s->n ^ i->a; s->k = 2; }
  else if (i->b) s->n += i->a;
}
""",
    "p/chaincover.toml": "[sources]\nfiles = ['c.c']\n",
}
ASKED = (
    *("--property", "near: cover(n == 7)"),
    *("--property", "far: cover(m == 9 && k == 2)"),
    *("--property", "never: cover(k == 5)"),
    *("--property", "factors: cover(n * m == 2147483647u && n < 65536u && m < 65536u)"),
    *("--engine", "sat", "--effort", "0.1"),
)
BROKEN = {
    "p/c.c": HEAD.replace("int m;", "int m, last;")
    + """\
void init(t_st *s) { s->n = 0; s->m = 0; s->last = 0; }
void compute(t_in *i, t_st *s) {
  assert(s->n < 2 || !i->b);
  if (i->b) s->m = s->m < 3 ? s->m + 1 : 0;
  if (s->n == 2) s->last = 1;
  s->n = i->a;
}
""",
    "p/chaincover.toml": """\
[sources]
files = ['c.c']
[ranges]
a = '0..2'
[constraints]
assume = ['abs(X(a) - a) <= 1']
initial = ['a <= 1']
dwell = { b = 2 }
[[property]]
id = 'near'
requirement = 'R1'
description = 'm moves on'
text = 'G(n == 1 && b -> X(m <= 2))'
[[property]]
id = 'latched'
requirement = 'R2'
text = 'G(n == 2 && b -> last == 1)'
[[property]]
id = 'held'
text = 'cover((last == 1) since (m == 2))'
[[property]]
id = 'soon'
text = 'G(rise(n == 2) -> F[0,3](last == 1))'
""",
}
"""Inputs as the world gives them, requirements and an assertion that fail, a property that looks back, a deadline."""
ROOMS = {
    "p/c.c": HEAD
    + INIT
    + """
void compute(t_in *i, t_st *s) {
  switch (s->n) {
  case 0: s->n = i->a; break;
  case 1: s->n = 5; break;
  case 2: s->n = 6; break;
  case 3: case 7: s->n = 4; break;
  case 4: s->n = 0; break;
  case 5: s->n = 7; break;
  case 6: s->n = 3; break;
  }
}
""",
    "p/chaincover.toml": "[sources]\nfiles = ['c.c']\n[ranges]\na = [0, 1, 2, 4]\n",
}
"""From 0 to 4 at once, or in four steps through the door 1 or 3: the one is near to 0, the other to 4, none to both."""
FAR = {
    "p/c.c": """\
typedef struct { _Bool go; } t_in;
typedef struct { unsigned total; unsigned char mode; } t_st;
void init(t_st *s) { s->total = 0; s->mode = 0; }
void compute(t_in *i, t_st *s) {
  s->total++;
  if (s->mode < 2 && i->go) s->mode++;
  if (s->total > 4000000000u) s->mode = 0;
}
""",
    "p/chaincover.toml": "[sources]\nfiles = ['c.c']\n",
}
"""The mode comes back to 0 after more steps than are stored."""
CLOCK = {
    "p/c.c": """\
typedef struct { _Bool go; } t_in;
typedef struct { unsigned now, end; unsigned char mode; } t_st;
void init(t_st *s) { s->now = 0; s->end = 0; s->mode = 0; }
void compute(t_in *i, t_st *s) {
  s->now += 10;
  if (s->mode == 0) { if (i->go) { s->mode = 1; s->end = s->now + 30; } }
  else if (s->now >= s->end) s->mode = 0;
}
""",
    "p/chaincover.toml": "[sources]\nfiles = ['c.c']\n",
}
"""Only the difference of two times matters, until the clock wraps."""
DOCUMENTS: dict[str, tuple[dict[str, str] | None, tuple[str, ...]]] = {
    "failure": (None, ()),
    "short": (None, ("--max-length", "3", "--effort", "0.001")),
    "apart": (BRANCHES, (*APART, "--most")),
    "held": (BRANCHES, (*APART[:4], "--hold", "2", "--overlap", "forbid", "--cover", "branches()")),
    "open": (OPENED, ("--property", "one: cover(n == 1)")),
    "undecided": (BRANCHES, (*APART[:4], "--effort", "1e-9")),
    "chosen": (CHOSEN, ("--effort", "0.001")),
    "given up": (WIDE, ASKED),
    "late": (BRANCHES, ("--property", "late: G(n == 0 && a == 1 -> F[0,2](n == 2))", "--final", "none")),
    "broken": (BROKEN, ()),
    "paths": (
        ROOMS,
        ("--property", "door: cover(n == 1 || n == 3)", "--property", "room: cover(n == 4)", "--engine", "sat"),
    ),
    "far": (FAR, ("--property", "on: cover(mode == 1)", "--property", "back: cover(mode == 2 && X(mode == 0))")),
    "clock": (
        CLOCK,
        ("--property", "over: cover(mode == 1 && X(mode == 0))", "--property", "r: G(mode == 1 -> mode <= 1)"),
    ),
}
"""Kinds of documents: the program (None: the bundled latch) and the options of ``generate``.

Of *given up* the states are too many to be listed: what is said is proved by a solver, or was given up by it.
"""
SEVERAL, SEVERAL_RULED = "several", "several with requirements"
SUMMARIES: dict[str, tuple[dict[str, str], tuple[str, ...]]] = {
    SEVERAL: (BRANCHES, APART),
    SEVERAL_RULED: (
        BRANCHES,
        (
            *("--property", "one: G(n == 1 && b -> X(n == 1))", "--property", "two: G(n == 2 -> !b)"),
            *("--property", "late: G(rise(n == 1) -> F[0,2](n == 2))"),
            *("--property", "far: cover(n == 2 && X(n == 2) && X(X(n == 2)))", "--max-length", "3", "--hold", "2"),
        ),
    ),
}
"""Kinds of summaries of several chains."""


@functools.cache
def made(name: str) -> tuple[Kept, Tree]:
    """A document of this kind, or a summary of several chains, and who verifies changed ones."""
    files, options = DOCUMENTS.get(name) or SUMMARIES[name]
    options = (*options, "--several") if name in SUMMARIES else options
    folder = Path(tempfile.mkdtemp())
    place = MODELS / "latch"
    if files is not None:
        place = folder / "p"
        place.mkdir()
        write_files(folder, {"files": files})
    told = run(["generate", str(place), "-o", ".", "--no-replay", "-q", *options], folder)
    assert told.code in (0, 1, 4, 5), told
    file = folder / ("chains.json" if name in SUMMARIES else "chain.json")
    return Kept(place, folder), json.loads(file.read_text(encoding="utf-8"))


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
    *("covered", "unreachable", "undecided", "/dev/zero", "%s", "{}", "A=1", "allow", "chaincover/chain/3", "1e400"),
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

"""Result files of many kinds, of small programs, and who verifies changed ones."""

from __future__ import annotations

import functools
import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from pysmt.environment import Environment, get_env, pop_env, push_env
from pysmt.fnode import FNode

from benchmarks.checks.fuzz.commands import run
from benchmarks.checks.fuzz.mutations import Tree
from benchmarks.checks.fuzz.programs import MODELS, write_files
from benchmarks.checks.short_runs import short_runs
from bmc.system.transition import TransitionSystem
from chaincover.formats.document import Document, read_document
from chaincover.formats.recorded_subject import load_for
from chaincover.problem import Problem
from chaincover.project.bounds import UseOfBounds
from chaincover.project.load import Request
from chaincover.subject import Subject
from chaincover.verification import checks
from chaincover.verification import several as verify_several
from chaincover.verification.limits import Clock, Limits
from chaincover.verification.report import Verification
from chaincover.verification.states import Table, tabulate
from chaincover.verification.verification import verify

LIMITS = Limits(explored=100_000)


class Kept:
    """Verifies documents of one program: it is read once for each choice of goals, and its states are listed once.

    The names of its variables are its own, whatever else is read meanwhile.
    """

    def __init__(self, project: Path, folder: Path) -> None:
        self.project, self.folder = str(project), folder
        self._names = Environment()
        self._subjects: dict[str, Subject] = {}
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
                mock.patch.object(checks, "tabulate", self._table),
                mock.patch.object(verify_several, "load_for", self._load),
            ):
                yield
        finally:
            pop_env()

    def _load(self, document: Document, request: Request, bounds: UseOfBounds = UseOfBounds.SEARCHED) -> Subject:
        asked = [(goal.name, goal.property, goal.generated) for goal in document.goals]
        key = repr((document.settings, asked, bounds))
        if key not in self._subjects:
            self._subjects[key] = load_for(document, request, bounds)
        return self._subjects[key]

    def _table(self, system: TransitionSystem, formulas: Sequence[FNode], clock: Clock) -> Table | None:
        key = id(system), tuple(formulas), clock.limits.explored
        if key not in self._tables:
            self._tables[key] = system, tabulate(system, formulas, clock)
        return self._tables[key][1]


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
typedef enum { CALM, LOUD } Horn;
typedef struct { _Bool on; float by; Horn key; } In;
typedef struct { unsigned char mode, spare; float level; Horn was, horn; } St;
void init(St *s) { s->level = 0.0f; s->was = s->horn = CALM; }
void assumption(In *i, St *s) { __CPROVER_assume(i->by == 0.5f || i->by == -0.25f); }
void compute(In *i, St *s) {
  assert(s->mode != 2 || !i->on);
  if (i->on && s->level < 1.0f) s->level += i->by;
  s->spare = s->mode;
  s->horn = s->was;
  s->was = i->key;
}
void p_high(In *i, St *s) { __CPROVER_assume(s->level >= 1.0f && s->mode == 2 && i->on); compute(i, s); assert(i->on); }
void p_low(In *i, St *s) { __CPROVER_assume(s->level < 0.0f); compute(i, s); assert(s->level > 5.0f); }
""",
    "p/chaincover.toml": "[sources]\nfiles = ['c.c']\n[interface]\nchosen = ['s->mode']\n"
    "output = ['s->horn']\n[target]\nreset_seconds = 60\n",
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
    *("--engine", "sat", "--effort", "0.02"),
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
typedef struct { unsigned n; unsigned char k; } t_st;
void init(t_st *s) { s->n = 0; s->k = 0; }
void compute(t_in *i, t_st *s) {
  s->n++;
  if (s->k < 2 && i->go) s->k++;
  if (s->n > 4000000000u) s->k = 0;
}
""",
    "p/chaincover.toml": "[sources]\nfiles = ['c.c']\n",
}
"""The mode comes back to 0 after more steps than are stored."""
CLOCK = {
    "p/c.c": """\
typedef struct { _Bool go; } t_in;
typedef struct { unsigned n, m; unsigned char k; } t_st;
void init(t_st *s) { s->n = 0; s->m = 0; s->k = 0; }
void compute(t_in *i, t_st *s) {
  s->n += 10;
  if (s->k == 0) { if (i->go) { s->k = 1; s->m = s->n + 30; } }
  else if (s->n >= s->m) s->k = 0;
}
""",
    "p/chaincover.toml": "[sources]\nfiles = ['c.c']\n",
}
"""Only the difference of two times matters, until the clock wraps."""
LIBRARY = {
    "p/c.c": """\
#include <math.h>
typedef struct { int up; } t_in;
static int n, mode;
void init(void) { n = 0; mode = 0; }
void step(t_in *i) {
  n = i->up ? (n + 1) % 5 : 0;
  double x = sin(n * 0.5);
  if (x > 0.9) mode = 1;
  if (x > 1.5) mode = 2;
}
""",
    "p/chaincover.toml": """\
[sources]
files = ["c.c"]
[functions]
init = "init"
step = "step"
bounds = { sin = "-1.0..1.0" }
[ranges]
"i->up" = "0..1"
""",
}
"""A goal depends on a function of the C library with bounds."""
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
    "far": (FAR, ("--property", "on: cover(k == 1)", "--property", "back: cover(k == 2 && X(k == 0))")),
    "clock": (
        CLOCK,
        ("--property", "over: cover(k == 1 && X(k == 0))", "--property", "r: G(k == 1 -> k <= 1)"),
    ),
    "library": (LIBRARY, ("--property", "high: cover(mode == 1)", "--property", "higher: cover(mode == 2)")),
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


def program_of(kind: str, folder: Path) -> Path:
    """The program that documents of this ``kind`` are about: a bundled one, or one that is written into ``folder``."""
    files = (DOCUMENTS.get(kind) or SUMMARIES[kind])[0]
    if files is None:
        return MODELS / "latch"
    (folder / "p").mkdir(exist_ok=True)
    write_files(folder, {"files": files})
    return folder / "p"


@functools.cache
def made(name: str) -> tuple[Kept, Tree]:
    """A document of this kind, or a summary of several chains, and who verifies changed ones."""
    options = (DOCUMENTS.get(name) or SUMMARIES[name])[1]
    options = (*options, "--several") if name in SUMMARIES else options
    folder = Path(tempfile.mkdtemp())
    place = program_of(name, folder)
    with short_runs():
        told = run(["generate", str(place), "-o", ".", "--no-replay", "-q", *options], folder)
    assert told.code in (0, 1, 4, 5), told
    file = folder / ("chains.json" if name in SUMMARIES else "chain.json")
    return Kept(place, folder), json.loads(file.read_text(encoding="utf-8"))

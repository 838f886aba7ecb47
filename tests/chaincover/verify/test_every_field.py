"""Every field of ``chain.json``: a change is found out, but where the field is informative (docs/verify.md)."""

from __future__ import annotations

import functools
import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from unittest import mock

import pytest
from command_line import MODELS, ROOT, chaincover, fresh_names, write_files
from forging import GONE, Kept, Place, Tree, changed, other_values, path_of, places, value_at
from hypothesis import given, settings
from hypothesis import strategies as st
from small_programs import HEAD, program, project

from bmc.errors import ChainCoverError
from chaincover.verify.claims import SOURCES
from chaincover.verify.fields import INFORMATIVE
from chaincover.verify.report import NOTE, SOME_WRONG

BRANCHES = {
    "p/c.c": program("if (s->n == 0) s->n = i->a;", head=HEAD),
    "p/chaincover.toml": project("[ranges]\na = '0..2'"),
}
APART = (
    "--property",
    "one: cover(n == 1)",
    "--property",
    "two: cover(n == 2)",
    "--property",
    "far: cover(n == 7)",
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
OPEN = {
    "p/c.c": program("s->n = i->a; if (i->b) s->m = s->n;").replace("s->m = 0;", ""),
    "p/chaincover.toml": project("[ranges]\na = '0..2'"),
}
KINDS = {
    "failure": (None, ()),
    "short": (None, ("--max-length", "3", "--effort", "0.001")),
    "apart": (BRANCHES, (*APART, "--most")),
    "held": (BRANCHES, (*APART[:2], "--hold", "2", "--overlap", "forbid", "--cover", "branches()")),
    "open": (OPEN, ("--property", "one: cover(n == 1)")),
    "undecided": (BRANCHES, (*APART[:2], "--effort", "1e-9")),
    "chosen": (CHOSEN, ("--effort", "0.001")),
}
"""Kinds of documents: the program (None: the bundled latch) and the options of ``generate``."""


@functools.cache
def made(kind: str) -> tuple[Kept, Tree]:
    """A document of this kind, and who verifies changed ones."""
    files, options = KINDS[kind]
    folder = Path(tempfile.mkdtemp())
    place = MODELS / "latch"
    if files is not None:
        write_files(folder, files)
        place = folder / "p"
    outcome = chaincover("generate", place, "-o", folder, "--no-replay", "-q", *options)
    assert outcome.code in (0, 1, 4, 5), outcome.err
    return Kept(place, folder), json.loads((folder / "chain.json").read_text())


@pytest.fixture(scope="module", autouse=True)
def _on_the_model() -> Iterator[None]:
    """Nothing is compiled, and what is kept of one program serves all tests."""
    with fresh_names(), mock.patch.dict(os.environ, CHAINCOVER_NO_NATIVE="1"):
        yield


def found_out(kept: Kept, document: Tree) -> bool:
    """Whether ``document`` is refused, or said to be wrong, or its sources to be others."""
    try:
        said = kept.verify(document)
    except ChainCoverError:
        return True
    if said.exit_code == SOME_WRONG:
        return True
    return next(line.verdict for line in said.lines if line.check == SOURCES) == NOTE


def below(path: str, names: Iterable[str]) -> bool:
    """Whether ``path`` is one of ``names`` or within it."""
    return any(path == name or path.startswith(f"{name}.") for name in names)


def fields_of(kinds: Iterable[str]) -> Iterator[tuple[str, Place]]:
    """A place for each path and type of value that there is in documents of these kinds, with the first such kind."""
    seen = set()
    for kind in kinds:
        document = made(kind)[1]
        for place in places(document):
            what = path_of(place), type(value_at(document, place))
            if what not in seen:
                seen.add(what)
                yield kind, place


TRUE_TOO = {
    "certificate": "fewer facts, or weaker ones, may prove the same bound",
    "chain.steps.inputs": "an input may make no difference",
    "goals.test": "another run may cover the goal, and there need be none",
}
"""Fields of which another value may be right too, which then is checked as the one before it was."""


@pytest.mark.parametrize("kinds", [["failure"], pytest.param([*KINDS], marks=pytest.mark.slow)], ids=len)
def test_a_change_of_any_field_is_found_out(kinds: list[str]) -> None:
    passed = []
    for kind, place in fields_of(kinds):
        kept, document = made(kind)
        path, value = path_of(place), value_at(document, place)
        for other in [] if below(path, INFORMATIVE) else other_values(value):
            right_too = below(path, TRUE_TOO) and (other is GONE or other is None or type(other) is type(value))
            if not right_too and not found_out(kept, changed(document, (place, other))):
                passed.append(f"{kind}: {path} {place}: {value!r} -> {other!r}")
    assert passed == []


def test_what_is_informative_makes_no_difference() -> None:
    kept, document = made("failure")
    said = kept.verify(document).exit_code
    for path in INFORMATIVE:
        place = next((place for place in places(document) if path_of(place) == path), None)
        if place is not None and isinstance(value_at(document, place), str | int | float):
            other = other_values(value_at(document, place))[0]
            assert kept.verify(changed(document, (place, other))).exit_code == said, path


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_several_changes_at_once_are_found_out(data: st.DataObject) -> None:
    kept, document = made(data.draw(st.sampled_from([kind for kind in KINDS if kind != "chosen"])))
    known = [place for place in places(document) if not below(path_of(place), [*INFORMATIVE, *TRUE_TOO])]
    chosen = data.draw(st.lists(st.sampled_from(known), min_size=2, max_size=4, unique=True))
    changes = [(place, data.draw(st.sampled_from(other_values(value_at(document, place))))) for place in chosen]
    other = changed(document, *changes)
    assert other == document or found_out(kept, other)


def test_what_is_informative_is_in_the_documentation() -> None:
    text = (ROOT / "docs" / "verify.md").read_text()
    rows = text.partition("## What is informative")[2].partition("\n## ")[0]
    named = [name for row in rows.splitlines() if row.startswith("| `") for name in row.split("|")[1].split("`")[1::2]]
    assert named == list(INFORMATIVE)

"""Every field of ``chain.json`` and ``chains.json``: a change is found out, but where the field is informative.

And claims that limits leave open are told as that.
"""

from __future__ import annotations

import functools
import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest
from command_line import MODELS, ROOT, chaincover, fresh_names, write_files
from forging import GONE, LIMITS, Kept, Place, Tree, changed, other_values, path_of, places, value_at
from hypothesis import given, settings
from hypothesis import strategies as st
from small_programs import HEAD, program, project

from bmc.errors import ChainCoverError
from chaincover.chain import UNDECIDED
from chaincover.verify.claims import SOURCES
from chaincover.verify.fields import INFORMATIVE, PROJECT
from chaincover.verify.report import HOLDS, NOTE, OPEN, SOME_WRONG, UNCLAIMED, WRONG, Verification
from chaincover.verify.several import CONFLICTS, FEWEST, INFORMATIVE_OF_ALL
from chaincover.verify.verdicts import UNCOVERED

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
OPENED = {
    "p/c.c": program("s->n = i->a; if (i->b) s->m = s->n;").replace("s->m = 0;", ""),
    "p/chaincover.toml": project("[ranges]\na = '0..2'"),
}
KINDS = {
    "failure": (None, ()),
    "short": (None, ("--max-length", "3", "--effort", "0.001")),
    "apart": (BRANCHES, (*APART, "--most")),
    "held": (BRANCHES, (*APART[:2], "--hold", "2", "--overlap", "forbid", "--cover", "branches()")),
    "open": (OPENED, ("--property", "one: cover(n == 1)")),
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


@functools.cache
def made_several() -> tuple[Kept, Tree]:
    """A summary of two chains, and who verifies changed ones."""
    folder = Path(tempfile.mkdtemp())
    write_files(folder, BRANCHES)
    outcome = chaincover("generate", folder / "p", "-o", folder, "--no-replay", "-q", "--several", *APART)
    assert outcome.code == 4, outcome.err
    return Kept(folder / "p", folder), json.loads((folder / "chains.json").read_text())


@pytest.fixture(scope="module", autouse=True)
def _on_the_model() -> Iterator[None]:
    """Nothing is compiled, and what is kept of one program serves all tests."""
    with fresh_names(), mock.patch.dict(os.environ, CHAINCOVER_NO_NATIVE="1"):
        yield


def found_out(kept: Kept, document: Tree) -> bool:
    """Whether ``document`` is refused, or said to be wrong, or its sources to be others."""
    try:
        said = kept.verify_chains(document) if "chains" in document else kept.verify(document)
    except ChainCoverError:
        return True
    if said.exit_code == SOME_WRONG:
        return True
    return any(line.verdict == NOTE for line in said.lines if line.check == SOURCES)


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


@pytest.mark.slow
def test_a_change_of_any_field_is_found_out() -> None:
    passed = []
    for kind, place in fields_of(KINDS):
        kept, document = made(kind)
        path, value = path_of(place), value_at(document, place)
        for other in [] if below(path, INFORMATIVE) else other_values(value):
            right_too = below(path, TRUE_TOO) and (other is GONE or other is None or type(other) is type(value))
            if not right_too and not found_out(kept, changed(document, (place, other))):
                passed.append(f"{kind}: {path} {place}: {value!r} -> {other!r}")
    assert passed == []


@pytest.mark.slow
def test_a_change_of_any_field_of_a_summary_is_found_out() -> None:
    kept, summary = made_several()
    assert not found_out(kept, summary)
    passed = []
    for place in places(summary):
        path, value = path_of(place), value_at(summary, place)
        for other in [] if below(path, INFORMATIVE_OF_ALL) else other_values(value):
            if not found_out(kept, changed(summary, (place, other))):
                passed.append(f"{path} {place}: {value!r} -> {other!r}")
    assert passed == ["number_minimal ('number_minimal',): True -> False"], "this alone claims less"


def test_a_chain_is_named_once() -> None:
    kept, summary = made_several()
    twice = changed(summary, (("chains", 1), summary["chains"][0]))
    assert found_out(kept, twice)
    more = changed(summary, (("chains",), [*summary["chains"], summary["chains"][0]]))
    assert found_out(kept, changed(more, (("length",), summary["length"] + summary["chains"][0]["length"])))


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
    of_one, of_all = text.partition("## What is informative")[2].partition("\n## ")[0].split("In `chains.json`")
    for part, names in ((of_one, INFORMATIVE), (of_all, INFORMATIVE_OF_ALL)):
        cells = [row.split("|")[1] for row in part.splitlines() if row.startswith("| `")]
        assert [name for cell in cells for name in cell.split("`")[1::2]] == list(names)


# what the project says otherwise


@pytest.mark.parametrize("several", [(), ("--several",)])
def test_other_settings_of_the_project_are_noted(several: tuple[str, ...], tmp_path: Path) -> None:
    options = ("--exclude", "worn", "--final", "none", "-K", "5", "--overlap", "forbid", "--hold", "2")
    chaincover("generate", MODELS / "latch", "-o", tmp_path, "--no-replay", "-q", *options, *several)
    found = chaincover("verify", MODELS / "latch", tmp_path, "--json").json["checks"]
    note = next(line for line in found if line["check"] == PROJECT)
    assert note["verdict"] == NOTE
    assert note["details"] == [
        "final: none in the file, q == 0 in the project",
        "overlap: forbid in the file, allow in the project",
        "bound: 5 in the file, None in the project",
        "hold: 2 in the file, 1 in the project",
        "goals left out: worn",
    ]


def test_the_same_settings_are_not_noted() -> None:
    kept, document = made("failure")
    assert PROJECT not in [line.check for line in kept.verify(document).lines]


# what limits leave open

SEARCHED_LITTLE = replace(LIMITS, nodes=0)
"""The states are listed, and no search over all runs comes to its end."""


def said_of(found: Verification, check: str) -> str:
    return next(line.verdict for line in found.lines if line.check == check)


def test_the_number_of_chains_is_not_proved_by_searches_that_were_given_up() -> None:
    kept, summary = made_several()
    found = kept.verify_chains(summary, SEARCHED_LITTLE)
    assert said_of(found, CONFLICTS) == said_of(found, FEWEST) == OPEN


def test_the_number_of_chains_is_not_minimal_while_a_goal_is_left_open() -> None:
    kept, summary = made_several()
    place = next(n for n, verdict in enumerate(summary["verdicts"]) if verdict["goal"] == "far")
    found = kept.verify_chains(changed(summary, (("verdicts", place, "verdict"), UNDECIDED)))
    assert said_of(found, FEWEST) == WRONG


def test_the_number_of_chains_needs_conflicts_of_all_runs() -> None:
    kept, summary = made_several()
    found = kept.verify_chains(changed(summary, (("conflicts", 0, "at_all"), False)))
    assert said_of(found, FEWEST) == WRONG
    assert said_of(found, CONFLICTS) == UNCLAIMED


def test_the_most_goals_are_not_proved_by_a_search_that_was_given_up() -> None:
    kept, document = made("apart")
    assert document["certificate"]["most"] is not None
    assert said_of(kept.verify(document), UNCOVERED) == HOLDS
    assert said_of(kept.verify(document, SEARCHED_LITTLE), UNCOVERED) == OPEN
